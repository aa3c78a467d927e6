// SPDX-License-Identifier: GPL-2.0-only

#include "federated-test-folder.h"

#include "ns3/big-endian.h"
#include "ns3/federated-header.h"
#include "ns3/inet-socket-address.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-address-helper.h"
#include "ns3/message-bodies.h"
#include "ns3/message-protection.h"
#include "ns3/node-container.h"
#include "ns3/packet.h"
#include "ns3/point-to-point-helper.h"
#include "ns3/simulator.h"
#include "ns3/socket.h"
#include "ns3/string.h"
#include "ns3/tcp-socket-factory.h"
#include "ns3/udp-socket-factory.h"
#include "ns3/uinteger.h"

#include <cstdlib>
#include <vector>

using namespace ns3;
using namespace ns3::federated;

namespace
{

using Bytes = std::vector<uint8_t>;

/**
 * @param [in,out] text Gets a line as tools/wireshark/test prints it.
 * @return a message of a type, with the payload given or, for coordinates, one of 100 bytes.
 */
Bytes
MakeMessage(FederatedHeader::Type type,
            Bytes payload,
            std::string& text,
            bool rotated = false,
            bool interleaved = false)
{
    FederatedHeader header;
    header.type = type;
    header.sequence = 5;
    header.round = 3;
    header.device = 7;
    header.bits = 4;
    if (type == FederatedHeader::MODEL)
    {
        header.device = FederatedHeader::ALL_DEVICES;
        header.bits = 32;
        header.fragment = 0;
        header.fragments = 2;
        header.coordinates = 25;
        payload.resize(100);
    }
    if (type == FederatedHeader::UPDATE)
    {
        header.fragment = 1;
        header.fragments = 57;
        header.first = 400;
        header.coordinates = 200;
        header.distortion = 0.25F;
        header.rotated = rotated;
        header.interleaved = interleaved;
        header.intervals = {{400, 500, -1, 1}, {500, 600, 0, 0.5F}};
        payload.resize(100);
    }
    header.Seal(payload.data(), payload.size());
    Bytes message(header.GetSize());
    header.Write(message.data());
    message.insert(message.end(), payload.begin(), payload.end());
    FederatedHeader back;
    EXPECT_EQ(back.Read(message.data(), message.size()), FederatedHeader::READ_OK);
    text += std::to_string(type) + " 3 " + std::to_string(header.device) + " " +
            std::to_string(header.bits) + " " + std::to_string(header.fragment) + " " +
            std::to_string(header.fragments) + " 1\n";
    return message;
}

template <typename Body>
Bytes
MakeBody(const Body& body)
{
    Bytes bytes(Body::SIZE);
    body.Write(bytes.data());
    return bytes;
}

/** @return a message of every type, and one with a wrong bit. */
std::vector<Bytes>
MakeMessages(std::string& text)
{
    using Header = FederatedHeader;
    RepairBody repair;
    repair.ranges = {{1, 2}, {5, 1}};
    Bytes repairBytes(repair.GetSize());
    repair.Write(repairBytes.data());
    PageBody page;
    page.Name(0);
    page.Name(9);
    Bytes pageBytes(page.GetSize());
    page.Write(pageBytes.data());
    std::vector<Bytes> messages{
        MakeMessage(Header::JOIN, MakeBody(JoinBody{1, 600, 1000000}), text),
        MakeMessage(Header::LEAVE, {}, text),
        MakeMessage(Header::GRANT, MakeBody(GrantBody{1, 2, 3, 4}), text),
        MakeMessage(Header::ACK, MakeBody(AckBody{Header::GRANT}), text),
        MakeMessage(Header::MODEL, {}, text),
        MakeMessage(Header::UPDATE, {}, text),
        MakeMessage(Header::UPDATE, {}, text, true),
        MakeMessage(Header::UPDATE, {}, text, false, true),
        MakeMessage(Header::UPDATE, {}, text, true, true),
        MakeMessage(Header::REPAIR, repairBytes, text),
        MakeMessage(Header::DONE, MakeBody(DoneBody{OUTCOME_SENT}), text),
        MakeMessage(Header::REJOIN, {}, text),
        MakeMessage(Header::PAGE, pageBytes, text),
        MakeMessage(Header::PAGE, {1, 2, 3}, text),                  // too short a body
        MakeMessage(static_cast<Header::Type>(11), {1, 2, 3}, text), // of a later revision
        MakeMessage(Header::UPDATE, {}, text),
    };
    messages.back().back() ^= 0x10;
    text[text.size() - 2] = '0';
    return messages;
}

/**
 * @param [in,out] text Gets a line for each.
 * @return a protected message of a device, of the center to a device, and to all.
 */
std::vector<Bytes>
MakeProtected(std::string& text)
{
    const auto center = MessageProtection::MakeForCenter("a secret", 0);
    const auto device =
        MessageProtection::MakeForDevice(MessageProtection::DeriveDeviceKey("a secret", 0, 7), 7);
    std::vector<Bytes> messages;
    for (const auto& [sender, recipient] :
         {std::pair{device.get(), 7U}, {center.get(), 7U}, {center.get(), 0xffffffffU}})
    {
        FederatedHeader header;
        header.type = FederatedHeader::REJOIN;
        header.device = recipient;
        const auto packet = sender->Seal(header, nullptr, recipient);
        messages.emplace_back(packet->GetSize());
        packet->CopyData(messages.back().data(), packet->GetSize());
    }
    text += "253 7\n254 7\n255 4294967295\n"; // type and device: all that is known
    return messages;
}

void
SendDatagrams(Ptr<Socket> socket, const std::vector<Bytes>& messages)
{
    for (const Bytes& message : messages)
    {
        socket->Send(Create<Packet>(message.data(), static_cast<uint32_t>(message.size())));
    }
}

void
Connect(Ptr<Socket> socket, InetSocketAddress remote)
{
    socket->Connect(remote);
}

void
SendStream(const std::vector<Bytes>* messages, Ptr<Socket> socket)
{
    for (const Bytes& message : *messages)
    {
        Bytes framed(4);
        WriteBigEndian32(static_cast<uint32_t>(message.size()), framed.data());
        framed.insert(framed.end(), message.begin(), message.end());
        socket->Send(Create<Packet>(framed.data(), static_cast<uint32_t>(framed.size())));
    }
}

} // namespace

/** @ingroup federated-tests A folder for captures. */
class Wireshark : public FederatedTestFolder
{
  protected:
    /** Send messages over a link of their own and capture them. */
    std::string Capture(const std::vector<Bytes>& messages, bool stream, uint32_t segmentSize)
    {
        std::string path = GetFolder() + "/capture.pcap";
        NodeContainer nodes(2);
        PointToPointHelper link;
        link.SetDeviceAttribute("DataRate", StringValue("1Mbps"));
        const auto devices = link.Install(nodes);
        InternetStackHelper().Install(nodes);
        Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
        const auto interfaces = addresses.Assign(devices);
        link.EnablePcap(path, devices.Get(0), false, true);

        const auto factory = stream ? TcpSocketFactory::GetTypeId() : UdpSocketFactory::GetTypeId();
        const auto receiver = Socket::CreateSocket(nodes.Get(1), factory);
        const auto sender = Socket::CreateSocket(nodes.Get(0), factory);
        receiver->Bind(InetSocketAddress(Ipv4Address::GetAny(), 50000));
        const InetSocketAddress remote(interfaces.GetAddress(1), 50000);
        Simulator::Schedule(Seconds(0), &Connect, sender, remote);
        if (stream)
        {
            sender->SetAttribute("SegmentSize", UintegerValue(segmentSize));
            receiver->Listen();
            sender->SetConnectCallback(MakeBoundCallback(&SendStream, &messages),
                                       MakeNullCallback<void, Ptr<Socket>>());
        }
        else
        {
            Simulator::Schedule(Seconds(1), &SendDatagrams, sender, messages);
        }
        Simulator::Stop(Seconds(10));
        Simulator::Run();
        Simulator::Destroy();
        return path;
    }

    /** Run tshark with our dissector and compare the messages that it shows. */
    static int Check(const std::string& capture, const std::string& expected)
    {
        const std::string program = FEDERATED_SOURCE_DIR "/tools/wireshark/test";
        return std::system((program + " '" + capture + "' '" + expected + "'").c_str());
    }

    void SetUp() override
    {
        if (std::system("command -v tshark >/dev/null") != 0)
        {
            GTEST_SKIP() << "tshark is not installed";
        }
    }
};

TEST_F(Wireshark, ShowsEveryTypeOfMessageInDatagrams)
{
    std::string text;
    const auto messages = MakeMessages(text);
    EXPECT_EQ(Check(Capture(messages, false, 0), Write("expected", text)), 0);
}

TEST_F(Wireshark, ShowsWhyARoundEndedForADevice)
{
    std::string text;
    std::vector<Bytes> messages;
    for (uint8_t outcome = OUTCOME_SENT; outcome <= OUTCOME_NOTHING_LEARNED; ++outcome)
    {
        messages.push_back(MakeMessage(FederatedHeader::DONE, MakeBody(DoneBody{outcome}), text));
    }
    const std::string capture = Capture(messages, false, 0);
    EXPECT_EQ(Check(capture, Write("expected", text)), 0);
    const std::string shown = Write("shown", "");
    ASSERT_EQ(std::system(("tshark -X lua_script:" FEDERATED_SOURCE_DIR
                           "/tools/wireshark/federated.lua -Y federated -r '" +
                           capture + "' 2>/dev/null >'" + shown + "'")
                              .c_str()),
              0);
    const std::string lines = Read("shown");
    std::size_t last = 0;
    for (const char* outcome :
         {"sent", "model incomplete", "not finite", "no time", "budget spent", "nothing learned"})
    {
        const std::size_t found = lines.find(outcome, last);
        ASSERT_NE(found, std::string::npos) << outcome << " in\n" << lines;
        last = found;
    }
}

TEST_F(Wireshark, ShowsEveryFieldOfTheBodies)
{
    std::string text;
    RepairBody repair;
    repair.ranges = {{1, 2}, {5, 1}};
    Bytes repairBytes(repair.GetSize());
    repair.Write(repairBytes.data());
    Bytes longer = MakeBody(DoneBody{OUTCOME_NO_TIME, 21, 22, 0.5F});
    longer.insert(longer.end(), {0xab, 0xcd}); // of a later revision
    const std::vector<Bytes> messages{
        MakeMessage(FederatedHeader::JOIN, MakeBody(JoinBody{11, 12, 13, 14, 0.25F}), text),
        MakeMessage(FederatedHeader::REPAIR, repairBytes, text),
        MakeMessage(FederatedHeader::DONE, longer, text),
    };
    const std::string capture = Capture(messages, false, 0);
    const std::string shown = Write("shown", "");
    std::string command = "tshark -X lua_script:" FEDERATED_SOURCE_DIR
                          "/tools/wireshark/federated.lua -Y federated -T fields -E separator=/s";
    for (const char* field : {"join.group",
                              "join.samples",
                              "join.training_ns",
                              "join.life",
                              "battery",
                              "repair.ranges",
                              "repair.first",
                              "repair.count",
                              "done.outcome",
                              "done.first_sent_ns",
                              "done.last_sent_ns",
                              "tail"})
    {
        command += std::string(" -e federated.") + field;
    }
    command += " -r '" + capture + "' 2>/dev/null >'" + shown + "'";
    ASSERT_EQ(std::system(command.c_str()), 0);
    EXPECT_EQ(Read("shown"),
              "11 12 13 14 0.25       \n"
              "     2 1,5 2,1    \n"
              "    0.5    3 21 22 abcd\n");
}

TEST_F(Wireshark, ShowsMessagesThatBeginAndEndAnywhereInAStream)
{
    for (const uint32_t segmentSize : {53U, 536U})
    {
        std::string text;
        const auto messages = MakeMessages(text);
        const std::string capture = Capture(messages, true, segmentSize);
        EXPECT_EQ(Check(capture, Write("expected", text)), 0);
    }
}

TEST_F(Wireshark, ShowsWhoProtectedAMessageForWhom)
{
    if (!MessageCrypto::Make())
    {
        GTEST_SKIP() << "this build cannot protect messages";
    }
    std::string text;
    const auto messages = MakeProtected(text);
    const std::string expected = Write("expected", text);
    EXPECT_EQ(Check(Capture(messages, true, 536), expected), 0);
    const std::string capture = Capture(messages, false, 0);
    EXPECT_EQ(Check(capture, expected), 0);
    const std::string shown = Write("shown", "");
    ASSERT_EQ(std::system(("tshark -X lua_script:" FEDERATED_SOURCE_DIR
                           "/tools/wireshark/federated.lua -Y federated -T fields"
                           " -e _ws.col.Info -e federated.counter -e federated.protected.size"
                           " -e federated.tag -e federated.signature -r '" +
                           capture + "' 2>/dev/null >'" + shown + "'")
                              .c_str()),
              0);
    const auto toHex = [](const Bytes& bytes, std::size_t begin, std::size_t end)
    {
        std::string digits;
        for (std::size_t i = begin; i < end; ++i)
        {
            digits += "0123456789abcdef"[bytes[i] >> 4];
            digits += "0123456789abcdef"[bytes[i] & 15];
        }
        return digits;
    };
    EXPECT_EQ(Read("shown"),
              "protected, device 7 to the center, counter 1, 76 bytes\t1\t44\t" +
                  toHex(messages[0], 60, 76) + "\t\n" +
                  "protected, center to device 7, counter 1, 76 bytes\t1\t44\t" +
                  toHex(messages[1], 60, 76) + "\t\n" +
                  "protected, center to all, signed, counter 1, 140 bytes\t1\t44\t" +
                  toHex(messages[2], 60, 76) + "\t" + toHex(messages[2], 76, 140) + "\n");
}
