// SPDX-License-Identifier: GPL-2.0-only

#include "federation.h"

#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/dp-stochastic-quantizer.h"
#include "ns3/federated-random.h"
#include "ns3/little-endian.h"
#include "ns3/message-bodies.h"
#include "ns3/socket-address.h"
#include "ns3/udp-socket-factory.h"

#include <limits>
#include <map>
#include <memory>
#include <numeric>

using namespace ns3;
using namespace ns3::federated;

namespace
{

/** A node on a link of its own that sends whatever may hurt, to the center and all devices. */
class Attacker
{
  public:
    Attacker(Ptr<Node> node, std::vector<Address> targets, const TypeId& protocol)
        : m_node(node),
          m_targets(std::move(targets)),
          m_protocol(protocol),
          m_random(99)
    {
    }

    /** Remember a real message, to replay or damage it later. */
    void Overhear(Ptr<const Packet> packet)
    {
        std::vector<uint8_t> bytes(packet->GetSize());
        packet->CopyData(bytes.data(), packet->GetSize());
        if (m_heard.size() < 500)
        {
            m_heard.push_back(std::move(bytes));
        }
        else
        {
            m_heard[m_random.Below(500)] = std::move(bytes);
        }
    }

    /** Send messages, one every interval. */
    void Attack(uint32_t left, const Time& interval)
    {
        const std::vector<uint8_t> message = MakeMessage();
        const Address& target = m_targets[m_random.Below(static_cast<uint32_t>(m_targets.size()))];
        if (m_protocol == UdpSocketFactory::GetTypeId())
        {
            if (!m_socket)
            {
                m_socket = Socket::CreateSocket(m_node, m_protocol);
                m_socket->Bind();
            }
            m_socket->SendTo(
                Create<Packet>(message.data(), static_cast<uint32_t>(message.size())), 0, target);
        }
        else
        {
            SendOverTcp(message, m_targets.front());
        }
        ++sent;
        if (left > 1)
        {
            Simulator::Schedule(interval, &Attacker::Attack, this, left - 1, interval);
        }
    }

    uint32_t sent = 0;

  private:
    /** Every twentieth message over a new connection, framed or not. */
    void SendOverTcp(const std::vector<uint8_t>& message, const Address& target)
    {
        if (sent % 20 == 0)
        {
            m_socket = Socket::CreateSocket(m_node, m_protocol);
            m_socket->Bind();
            m_socket->Connect(target);
        }
        std::vector<uint8_t> frame;
        if (m_random.Below(10) > 0)
        {
            const auto size = static_cast<uint32_t>(message.size());
            for (int shift : {24, 16, 8, 0})
            {
                frame.push_back(static_cast<uint8_t>(size >> shift));
            }
        }
        frame.insert(frame.end(), message.begin(), message.end());
        m_socket->Send(Create<Packet>(frame.data(), static_cast<uint32_t>(frame.size())));
    }

    std::vector<uint8_t> MakeMessage()
    {
        std::vector<uint8_t> message;
        const uint32_t kind = m_random.Below(5);
        if (kind == 0 || m_heard.empty()) // random bytes
        {
            message.resize(m_random.Below(300));
            for (auto& byte : message)
            {
                byte = static_cast<uint8_t>(m_random());
            }
            return message;
        }
        if (kind == 1) // well formed, with a stolen identity
        {
            return Forge();
        }
        message = m_heard[m_random.Below(static_cast<uint32_t>(m_heard.size()))];
        if (kind == 2) // a bit flipped
        {
            message[m_random.Below(static_cast<uint32_t>(message.size()))] ^=
                static_cast<uint8_t>(1U << m_random.Below(8));
        }
        else if (kind == 3) // truncated
        {
            message.resize(m_random.Below(static_cast<uint32_t>(message.size())));
        }
        return message; // or replayed
    }

    std::vector<uint8_t> Forge()
    {
        FederatedHeader header;
        header.type = static_cast<FederatedHeader::Type>(1 + m_random.Below(10));
        header.sequence = m_random();
        header.round = m_random.Below(20);
        header.device = m_random.Below(6);
        std::vector<uint8_t> body;
        switch (header.type)
        {
        case FederatedHeader::JOIN:
            header.bits = 2;
            body.resize(JoinBody::SIZE);
            JoinBody{m_random.Below(3), 1000000, 0}.Write(body.data());
            break;
        case FederatedHeader::GRANT:
            header.bits = 16;
            header.fragments = 1;
            header.coordinates = 260;
            body.resize(GrantBody::SIZE);
            GrantBody{0, 0, 0, 1000000000000}.Write(body.data());
            break;
        case FederatedHeader::ACK:
            body.resize(AckBody::SIZE);
            AckBody{FederatedHeader::GRANT}.Write(body.data());
            break;
        case FederatedHeader::MODEL:
        case FederatedHeader::UPDATE:
            header.fragments = 1;
            header.coordinates = 260;
            header.bits = 32;
            body.resize(std::size_t{4} * 260, 0x7f); // huge floats
            break;
        case FederatedHeader::REPAIR:
        {
            RepairBody repair;
            repair.ranges = {{0, 0xffffffff}};
            body.resize(repair.GetSize());
            repair.Write(body.data());
            break;
        }
        case FederatedHeader::DONE:
            body.resize(DoneBody::SIZE);
            DoneBody{}.Write(body.data());
            break;
        default:
            break;
        }
        header.Seal(body.data(), body.size());
        std::vector<uint8_t> message(header.GetSize());
        header.Write(message.data());
        message.insert(message.end(), body.begin(), body.end());
        return message;
    }

    Ptr<Node> m_node;
    std::vector<Address> m_targets;
    TypeId m_protocol;
    FederatedRandom m_random;
    Ptr<Socket> m_socket;
    std::vector<std::vector<uint8_t>> m_heard;
};

/** In the place of a center: answers every message with a grant. */
class GreedyCenter
{
  public:
    GreedyCenter(const Ptr<Node>& node, uint16_t port, uint8_t bits)
        : m_bits(bits)
    {
        m_socket = Socket::CreateSocket(node, UdpSocketFactory::GetTypeId());
        m_socket->Bind(InetSocketAddress(Ipv4Address::GetAny(), port));
        m_socket->SetRecvCallback(MakeCallback(&GreedyCenter::Grant, this));
    }

  private:
    void Grant(Ptr<Socket> socket)
    {
        Address from;
        while (socket->RecvFrom(from))
        {
            FederatedHeader header;
            header.type = FederatedHeader::GRANT;
            header.sequence = 1;
            header.round = 1;
            header.bits = m_bits;
            header.fragments = 1;
            header.coordinates = 260;
            uint8_t body[GrantBody::SIZE];
            GrantBody{0, 0, 1000000, 10000000000}.Write(body);
            header.Seal(body, sizeof(body));
            Ptr<Packet> packet = Create<Packet>(body, sizeof(body));
            packet->AddHeader(header);
            socket->SendTo(packet, 0, from);
        }
    }

    Ptr<Socket> m_socket;
    uint8_t m_bits;
};

class HostileFederation : public Federation
{
  public:
    /** @return the model that five devices learn, with or without an attacker. */
    std::vector<float> Learn(uint32_t attacks, const TypeId& protocol)
    {
        Build(5);
        SetForAll("Protocol", TypeIdValue(protocol));
        center->SetAttribute("Rounds", UintegerValue(20));
        center->SetAttribute("Deadline", TimeValue(Hours(1)));
        NodeContainer extra;
        extra.Create(1);
        InternetStackHelper().Install(extra);
        SimpleNetDeviceHelper wires;
        wires.SetNetDevicePointToPointMode(true);
        wires.SetDeviceAttribute("DataRate", StringValue("1Gbps"));
        Ipv4AddressHelper addresses("10.9.0.0", "255.255.255.252");
        addresses.Assign(wires.Install(NodeContainer(nodes.Get(0), extra.Get(0))));
        Ipv4StaticRoutingHelper routing;
        routing.GetStaticRouting(extra.Get(0)->GetObject<Ipv4>())
            ->SetDefaultRoute(Ipv4Address("10.9.0.1"), 1);
        std::vector<Address> targets{InetSocketAddress(Ipv4Address("10.9.0.1"), PORT)};
        for (uint32_t i = 0; i < 5; ++i)
        {
            auto ipv4 = nodes.Get(i + 1)->GetObject<Ipv4>();
            routing.GetStaticRouting(ipv4)->SetDefaultRoute(
                Ipv4Address::ConvertFrom(SocketAddress(remotes[i]).ip), 1);
            // The device's socket has the first ephemeral port.
            targets.emplace_back(InetSocketAddress(ipv4->GetAddress(1, 0).GetLocal(), 49153));
        }
        attacker = std::make_unique<Attacker>(extra.Get(0), targets, protocol);
        center->TraceConnectWithoutContext("Tx", MakeCallback(&Attacker::Overhear, attacker.get()));
        for (auto& device : apps)
        {
            device->TraceConnectWithoutContext("Tx",
                                               MakeCallback(&Attacker::Overhear, attacker.get()));
        }
        if (attacks > 0)
        {
            Simulator::Schedule(
                MilliSeconds(10), &Attacker::Attack, attacker.get(), attacks, MicroSeconds(80));
        }
        Run();
        EXPECT_EQ(rounds.size(), 20U);
        return center->GetModel();
    }

    /** @return what the center dropped, over all reasons. */
    uint64_t GetAllDropped() const
    {
        uint64_t sum = 0;
        for (uint8_t reason = 0; reason < DROP_REASONS; ++reason)
        {
            sum += center->GetDropped(static_cast<DropReason>(reason));
        }
        return sum;
    }

    std::unique_ptr<Attacker> attacker;
};

} // namespace

TEST_F(HostileFederation, TenThousandHostileMessagesDoNotChangeTheModel)
{
    const auto udp = UdpSocketFactory::GetTypeId();
    const std::vector<float> peaceful = Learn(0, udp);
    EXPECT_EQ(GetAllDropped(), 0U);
    EXPECT_EQ(Learn(10000, udp), peaceful);
    EXPECT_EQ(attacker->sent, 10000U);
    EXPECT_EQ(center->GetJoined(), 5U);
    // A sixth of the messages goes to the center, the rest to the devices.
    EXPECT_NEAR(static_cast<double>(GetAllDropped()), 10000.0 / 6, 250);
    for (DropReason reason :
         {DROP_MALFORMED, DROP_CHECKSUM, DROP_FOREIGN, DROP_UNKNOWN, DROP_UNEXPECTED})
    {
        EXPECT_GT(center->GetDropped(reason), 0U) << GetDropReasonName(reason);
    }
    for (const auto& device : apps)
    {
        EXPECT_NEAR(static_cast<double>(device->GetDropped(DROP_FOREIGN)), 10000.0 / 6, 250);
    }
    uint64_t recorded = 0;
    for (const auto& record : rounds)
    {
        recorded += std::accumulate(record.drops.begin(), record.drops.end(), uint64_t{0});
    }
    EXPECT_GT(recorded, 0U);
}

TEST_F(HostileFederation, NeitherDoTheyOverTcp)
{
    const auto tcp = TcpSocketFactory::GetTypeId();
    const std::vector<float> peaceful = Learn(0, tcp);
    EXPECT_EQ(GetAllDropped(), 0U);
    EXPECT_EQ(Learn(10000, tcp), peaceful);
    EXPECT_EQ(center->GetJoined(), 5U);
    EXPECT_GT(GetAllDropped(), 1000U);
    EXPECT_GT(center->GetDropped(DROP_MALFORMED), 0U);
    EXPECT_GT(center->GetDropped(DROP_FOREIGN), 0U);
}

TEST_F(HostileFederation, AnIdentityIsBoundToTheAddressThatWasNamedInAdvance)
{
    Build(2);
    center->SetAttribute("JoinTimeout", TimeValue(MilliSeconds(50)));
    center->BindDevice(0, Ipv4Address("192.168.7.7"));
    apps[0]->SetStopTime(Seconds(5)); // it would try for ever
    Run();
    EXPECT_GT(center->GetDropped(DROP_FOREIGN), 0U);
    EXPECT_EQ(rounds.back().joined, 1U);
    EXPECT_FALSE(apps[0]->HasJoined());
}

TEST_F(HostileFederation, ADeviceGivesNoMorePrecisionThanItHas)
{
    for (const bool greedy : {false, true})
    {
        Build(1); // the device has 2 bits
        center->SetStartTime(Hours(1));
        GreedyCenter impostor(nodes.Get(0), PORT, greedy ? 3 : 2);
        Simulator::Stop(Seconds(1));
        Simulator::Run();
        EXPECT_EQ(apps[0]->HasJoined(), !greedy); // a grant that is taken says so
        EXPECT_EQ(apps[0]->GetDropped(DROP_INVALID) > 0, greedy);
    }
}

TEST_F(HostileFederation, AGrantOfBitsThatTheQuantizerDoesNotHaveIsDropped)
{
    for (const uint8_t bits : {0, 1, 2})
    {
        Build(1); // the device has 2 bits
        SetForDevices("Quantizer", StringValue("ns3::RandomCoordinatesQuantizer"));
        center->SetStartTime(Hours(1));
        GreedyCenter impostor(nodes.Get(0), PORT, bits);
        Simulator::Stop(Seconds(1));
        Simulator::Run();
        EXPECT_EQ(apps[0]->HasJoined(), bits == 2);
        EXPECT_EQ(apps[0]->GetDropped(DROP_INVALID) > 0, bits != 2);
    }
}

using HostileFederationDeathTest = HostileFederation;

TEST_F(HostileFederationDeathTest, SettingsThatTheQuantizerDoesNotHaveStopTheScriptWithASentence)
{
    Build(2);
    SetForDevices("Quantizer", StringValue("ns3::RandomCoordinatesQuantizer"));
    EXPECT_DEATH(Run(), "device 1: ns3::RandomCoordinatesQuantizer has no resolution of 4 bits");
    Build(2);
    center->SetAttribute("Quantizer", StringValue("ns3::RandomizedResponseQuantizer"));
    EXPECT_DEATH(Run(), "GroupBits is '2,4': ns3::RandomizedResponseQuantizer has no resolution");
    Build(2);
    SetForDevices("IntervalRule", StringValue("ns3::FixedInterval[Low=1]"));
    EXPECT_DEATH(Run(), "device 0: FixedInterval: Low is 1, not below High, 0.01");
    Build(2);
    center->SetAttribute("IntervalRule", StringValue("ns3::FixedInterval[High=-1]"));
    EXPECT_DEATH(Run(), "FusionCenter: FixedInterval: Low is -0.01, not below High, -1");
}

TEST_F(HostileFederation, ADeviceOfAnotherPrecisionThanItsGroupIsTurnedAway)
{
    Build(2);
    apps[0]->SetAttribute("Bits", UintegerValue(1)); // its group has 2
    center->SetAttribute("JoinTimeout", TimeValue(MilliSeconds(50)));
    apps[0]->SetStopTime(Seconds(5)); // it would try for ever
    Run();
    EXPECT_GT(center->GetDropped(DROP_INVALID), 0U);
    EXPECT_FALSE(apps[0]->HasJoined());
    ASSERT_EQ(rounds.size(), 3U);
    EXPECT_EQ(rounds.back().joined, 1U);
}

namespace
{

/** A device that joined from its own address, and then sends what it likes (UDP). */
class Rogue
{
  public:
    Rogue(Ptr<Node> node, const Address& center, uint32_t device)
        : m_socket(Socket::CreateSocket(node, UdpSocketFactory::GetTypeId())),
          m_device(device)
    {
        m_socket->Bind();
        m_socket->Connect(center);
    }

    /** Send a message with the next sequence number. */
    void Send(FederatedHeader header, const std::vector<uint8_t>& body)
    {
        header.sequence = ++m_sequence;
        header.device = m_device;
        header.Seal(body.data(), body.size());
        Ptr<Packet> packet = Create<Packet>(body.data(), static_cast<uint32_t>(body.size()));
        packet->AddHeader(header);
        m_socket->Send(packet);
    }

    void Join(uint64_t trainingNs)
    {
        FederatedHeader header;
        header.type = FederatedHeader::JOIN;
        header.bits = 4;
        std::vector<uint8_t> body(JoinBody::SIZE);
        JoinBody{1, 40, trainingNs}.Write(body.data());
        Send(header, body);
    }

    /** Ask for the whole model as often as a message can. */
    void Repair(uint32_t fragments)
    {
        FederatedHeader header;
        header.type = FederatedHeader::REPAIR;
        header.round = 1;
        RepairBody repair;
        repair.ranges.assign(fragments, {0, fragments});
        std::vector<uint8_t> body(repair.GetSize());
        repair.Write(body.data());
        Send(header, body);
    }

    void Leave()
    {
        FederatedHeader header;
        header.type = FederatedHeader::LEAVE;
        Send(header, {});
    }

    /** Join and leave in turns. */
    void Flap(uint32_t left, const Time& interval)
    {
        Join(0);
        Leave();
        Join(0);
        if (left > 1)
        {
            Simulator::Schedule(interval, &Rogue::Flap, this, left - 1, interval);
        }
    }

    /** Ask for the whole model, again and again. */
    void Flood(uint32_t fragments, uint32_t left, const Time& interval)
    {
        FederatedHeader header;
        header.type = FederatedHeader::REPAIR;
        header.round = 1;
        RepairBody repair;
        repair.ranges = {{0, fragments}};
        std::vector<uint8_t> body(repair.GetSize());
        repair.Write(body.data());
        Send(header, body);
        if (left > 1)
        {
            Simulator::Schedule(interval, &Rogue::Flood, this, fragments, left - 1, interval);
        }
    }

    /** Send a whole update of one fragment, of equal floats. */
    void SendFloats(uint32_t dimension, float value)
    {
        FederatedHeader header;
        header.type = FederatedHeader::UPDATE;
        header.round = 1;
        header.bits = 32;
        header.fragments = 1;
        header.coordinates = dimension;
        std::vector<uint8_t> body(std::size_t{4} * dimension);
        for (std::size_t i = 0; i < dimension; ++i)
        {
            WriteLittleEndianFloat(value, &body[4 * i]);
        }
        Send(header, body);
    }

    /** Send a coordinate of a float update. */
    void Update(uint32_t fragment, uint32_t fragments)
    {
        FederatedHeader header;
        header.type = FederatedHeader::UPDATE;
        header.round = 1;
        header.bits = 32;
        header.fragment = fragment;
        header.fragments = fragments;
        header.first = fragment;
        header.coordinates = 1;
        Send(header, std::vector<uint8_t>(4));
    }

    /** Say that so many fragments were sent. */
    void Done(uint32_t fragments)
    {
        FederatedHeader header;
        header.type = FederatedHeader::DONE;
        header.round = 1;
        header.fragments = fragments;
        DoneBody done;
        done.firstSentNs = static_cast<uint64_t>(Simulator::Now().GetNanoSeconds());
        done.lastSentNs = done.firstSentNs;
        std::vector<uint8_t> body(DoneBody::SIZE);
        done.Write(body.data());
        Send(header, body);
    }

  private:
    Ptr<Socket> m_socket;
    uint32_t m_device;
    uint32_t m_sequence = 0;
};

/** A rogue over TCP, with one connection. */
class TcpRogue
{
  public:
    TcpRogue(Ptr<Node> node, const Address& center)
        : socket(Socket::CreateSocket(node, TcpSocketFactory::GetTypeId()))
    {
        socket->Bind();
        socket->Connect(center);
    }

    /** Join, with a message that comes in pieces. */
    void Join(uint32_t device, uint32_t sequence)
    {
        FederatedHeader header;
        header.type = FederatedHeader::JOIN;
        header.sequence = sequence;
        header.device = device;
        header.bits = 4;
        uint8_t body[JoinBody::SIZE];
        JoinBody{1, 40, 0}.Write(body);
        header.Seal(body, sizeof(body));
        std::vector<uint8_t> frame(4 + header.GetSize());
        frame[3] = static_cast<uint8_t>(header.GetSize() + sizeof(body));
        header.Write(frame.data() + 4);
        frame.insert(frame.end(), std::begin(body), std::end(body));
        for (uint8_t byte : frame)
        {
            socket->Send(Create<Packet>(&byte, 1));
        }
    }

    Ptr<Socket> socket;
};

void
CountMessages(uint32_t* messages, Ptr<const Packet>)
{
    ++*messages;
}

/** A federation whose device 1 is a rogue. */
class RogueFederation : public Federation
{
  public:
    void BuildWithRogue(uint64_t trainingNs)
    {
        Build(2);
        apps[1]->SetStartTime(Hours(1));
        apps[1]->SetStopTime(Hours(1));
        center->SetAttribute("Rounds", UintegerValue(1));
        center->SetAttribute("Deadline", TimeValue(Seconds(1)));
        rogue = std::make_unique<Rogue>(nodes.Get(2), remotes[1], 1);
        Simulator::Schedule(MilliSeconds(1), &Rogue::Join, rogue.get(), trainingNs);
    }

    void TearDown() override
    {
        rogue.reset();
        Federation::TearDown();
    }

    std::unique_ptr<Rogue> rogue;
};

} // namespace

TEST_F(RogueFederation, ARepairRequestForMoreThanTheModelIsInvalid)
{
    BuildWithRogue(0);
    SetForAll("FragmentSize", UintegerValue(100));
    uint32_t messages = 0;
    center->TraceConnectWithoutContext("Tx", MakeBoundCallback(&CountMessages, &messages));
    Simulator::Schedule(MilliSeconds(100), &Rogue::Repair, rogue.get(), 19);
    Run();
    ASSERT_EQ(rounds.size(), 1U);
    EXPECT_EQ(rounds[0].links[1].state, PARTICIPANT_SILENT);
    EXPECT_EQ(center->GetDropped(DROP_INVALID), 1U);
    EXPECT_LT(messages, 3 * 19U);
}

TEST_F(RogueFederation, ATrainingTimeWithoutEndDoesNotReachTheSlotsOfOthers)
{
    BuildWithRogue(std::numeric_limits<int64_t>::max());
    Run();
    ASSERT_EQ(rounds.size(), 1U);
    ASSERT_EQ(rounds[0].links.size(), 2U);
    EXPECT_EQ(rounds[0].links[0].state, PARTICIPANT_COMPLETE);
    EXPECT_EQ(rounds[0].links[1].state, PARTICIPANT_UNREACHABLE);
}

TEST_F(RogueFederation, FloatsThatNoHonestDeviceReachesDoNotReachTheModel)
{
    struct Case
    {
        std::string clip; // that the center knows, of bound 1
        float value;
        bool isAccepted;
    };

    for (const Case& one : std::vector<Case>{{"none", 3e38F, false},
                                             {"none", 2e6F, false},
                                             {"none", 10, true},
                                             {"l2", 10, false},
                                             {"l2", 0.5F, false}, // 260 of them
                                             {"l2", 0.05F, true},
                                             {"l1", 0.05F, false}})
    {
        SCOPED_TRACE(one.clip + " " + std::to_string(one.value));
        BuildWithRogue(0);
        center->SetAttribute("ClipNorm", StringValue(one.clip));
        center->SetAttribute("ClipBound", DoubleValue(1));
        SetForDevices("ClipNorm", StringValue(one.clip));
        SetForDevices("ClipBound", DoubleValue(1));
        SetForDevices("TimePerSample", StringValue("ns3::ConstantRandomVariable[Constant=0.001]"));
        Simulator::Schedule(MilliSeconds(50), &Rogue::SendFloats, rogue.get(), 260, one.value);
        Run();
        ASSERT_EQ(rounds.size(), 1U);
        EXPECT_FALSE(rounds[0].skipped);
        EXPECT_EQ(rounds[0].links[0].state, PARTICIPANT_COMPLETE);
        EXPECT_EQ(rounds[0].drops[DROP_INVALID], one.isAccepted ? 0U : 1U);
        EXPECT_EQ(rounds[0].links[1].weight, one.isAccepted ? 0.5 : 0);
    }
}

TEST_F(RogueFederation, AFloodOfRepairsIsLimitedAndDelaysNobodyMuch)
{
    for (const uint32_t limit : {0U, 2U, 5U})
    {
        BuildWithRogue(0);
        center->SetAttribute("MaxRepairs", UintegerValue(limit));
        SetForAll("FragmentSize", UintegerValue(100)); // 19 fragments
        uint32_t messages = 0;
        center->TraceConnectWithoutContext("Tx", MakeBoundCallback(&CountMessages, &messages));
        Simulator::Schedule(MilliSeconds(20), &Rogue::Flood, rogue.get(), 19, 500, MilliSeconds(1));
        Run();
        ASSERT_EQ(rounds.size(), 1U);
        EXPECT_EQ(rounds[0].links[0].state, PARTICIPANT_COMPLETE);
        EXPECT_GT(center->GetDropped(DROP_UNEXPECTED), 400U);
        EXPECT_LT(messages, (limit + 2) * 19 + 30) << limit;
        EXPECT_GE(messages, (limit + 2) * 19) << limit;
    }
}

TEST_F(RogueFederation, RepairsBeyondAModelWaitUntilTheOthersHaveTheirs)
{
    // The rogue, device 0, is sent its model first; then it requests it again and again.
    Time last;
    for (const bool floods : {false, true})
    {
        Build(3);
        SetForAll("FragmentSize", UintegerValue(100));                // 19 fragments
        center->SetAttribute("DownlinkRate", StringValue("100kbps")); // 8 ms each
        center->SetAttribute("Rounds", UintegerValue(1));
        center->SetAttribute("Deadline", TimeValue(Seconds(5)));
        apps[1]->SetStartTime(Hours(1));
        apps[1]->SetStopTime(Hours(1));
        rogue = std::make_unique<Rogue>(nodes.Get(2), remotes[1], 1);
        Simulator::Schedule(MilliSeconds(1), &Rogue::Join, rogue.get(), 0);
        if (floods)
        {
            Simulator::Schedule(
                MilliSeconds(100), &Rogue::Flood, rogue.get(), 19, 2000, MilliSeconds(1));
        }
        Run();
        ASSERT_EQ(rounds.size(), 1U);
        EXPECT_EQ(rounds[0].links[2].state, PARTICIPANT_COMPLETE);
        const Time received = rounds[0].links[2].lastReceived;
        const Time model = 19 * MicroSeconds(8000);
        EXPECT_LT(received, floods ? last + model + MilliSeconds(20) : 4 * model);
        last = received;
    }
}

TEST_F(RogueFederation, ControlMessagesBeyondANumberAreNotAnswered)
{
    BuildWithRogue(0);
    center->SetAttribute("MaxReplies", UintegerValue(8));
    uint32_t messages = 0;
    center->TraceConnectWithoutContext("Tx", MakeBoundCallback(&CountMessages, &messages));
    for (uint32_t i = 0; i < 300; ++i)
    {
        Simulator::Schedule(
            MilliSeconds(100) + MicroSeconds(uint64_t{10} * i), &Rogue::Done, rogue.get(), 0);
    }
    SetForDevices("TimePerSample", StringValue("ns3::ConstantRandomVariable[Constant=0.005]"));
    Run();
    ASSERT_EQ(rounds.size(), 1U);
    EXPECT_EQ(rounds[0].links[0].state, PARTICIPANT_COMPLETE);
    EXPECT_EQ(rounds[0].drops[DROP_DUPLICATE], 299U);
    EXPECT_LT(messages, 50U);
}

TEST_F(RogueFederation, ADeviceThatJoinsAndLeavesInTurnsDoesNotDisturbTheOthers)
{
    Time calm;
    for (const bool flaps : {false, true})
    {
        BuildWithRogue(0);
        center->SetAttribute("Rounds", UintegerValue(4));
        SetForDevices("TimePerSample", StringValue("ns3::ConstantRandomVariable[Constant=0.0005]"));
        if (flaps)
        {
            Simulator::Schedule(
                MilliSeconds(5), &Rogue::Flap, rogue.get(), 2000, MicroSeconds(500));
        }
        Run();
        ASSERT_EQ(rounds.size(), 4U);
        for (const RoundRecord& round : rounds)
        {
            EXPECT_FALSE(round.skipped);
            EXPECT_EQ(round.links[0].state, PARTICIPANT_COMPLETE);
        }
        EXPECT_TRUE(!flaps || rounds.back().end <= calm) << "silence costs more";
        EXPECT_EQ(center->GetDropped(DROP_UNEXPECTED) > 1000, flaps);
        calm = rounds.back().end;
    }
}

TEST_F(RogueFederation, ARoundDoesNotWaitLongForASilentDeviceIfItsPatienceEnds)
{
    struct Case
    {
        double patience;
        double longest; // s
    };

    Build(1);
    for (const Case& one : std::vector<Case>{{0, 1}, {3, 0.5}, {1, 0.2}})
    {
        BuildWithRogue(0);
        center->SetAttribute("Patience", DoubleValue(one.patience));
        center->SetAttribute("ControlRetries", UintegerValue(100)); // it never gives up
        Run();
        ASSERT_EQ(rounds.size(), 1U);
        EXPECT_EQ(rounds[0].links[0].state, PARTICIPANT_COMPLETE);
        const double seconds = (rounds[0].end - rounds[0].start).GetSeconds();
        EXPECT_LE(seconds, one.longest);
        EXPECT_EQ(seconds == 1, one.patience == 0) << "the deadline";
        const double took = (rounds[0].links[0].lastReceived - rounds[0].start).GetSeconds();
        EXPECT_GE(seconds, std::min(1.0, one.patience * took) - 1e-6);
    }
}

TEST_F(RogueFederation, MoreFragmentsThanWereSentAreNotCounted)
{
    BuildWithRogue(0);
    center->SetAttribute("MinUpdates", UintegerValue(1));
    SetForDevices("TimePerSample", StringValue("ns3::ConstantRandomVariable[Constant=0.005]"));
    Simulator::Schedule(MilliSeconds(100), &Rogue::Update, rogue.get(), 0, 100);
    Simulator::Schedule(MilliSeconds(110), &Rogue::Done, rogue.get(), 1);
    for (uint32_t i = 1; i < 50; ++i)
    {
        Simulator::Schedule(MilliSeconds(110 + i), &Rogue::Update, rogue.get(), i, 100);
    }
    Run();
    ASSERT_EQ(rounds.size(), 1U);
    EXPECT_EQ(rounds[0].links[1].sentFragments, 1U);
    EXPECT_EQ(rounds[0].links[1].receivedFragments, 1U);
}

TEST_F(RogueFederation, ADeviceCannotHaveSentMoreFragmentsThanItsUpdateHas)
{
    BuildWithRogue(0);
    Simulator::Schedule(MilliSeconds(100), &Rogue::Update, rogue.get(), 0, 100);
    Simulator::Schedule(MilliSeconds(110), &Rogue::Done, rogue.get(), 4000000000U);
    Run();
    ASSERT_EQ(rounds.size(), 1U);
    EXPECT_LE(rounds[0].sentFragments, 101U + 1);
    EXPECT_EQ(center->GetDropped(DROP_INVALID), 1U);
}

TEST_F(RogueFederation, JoiningTwiceOverAConnectionKeepsIt)
{
    Build(2);
    SetForAll("Protocol", TypeIdValue(TcpSocketFactory::GetTypeId()));
    apps[1]->SetStartTime(Hours(1));
    apps[1]->SetStopTime(Hours(1));
    center->SetAttribute("Deadline", TimeValue(Seconds(1)));
    Simulator::Stop(MilliSeconds(10)); // the center listens
    Run();
    TcpRogue tcp(nodes.Get(2), remotes[1]);
    Simulator::Schedule(MilliSeconds(12), &TcpRogue::Join, &tcp, 1, 5);
    Simulator::Schedule(MilliSeconds(13), &TcpRogue::Join, &tcp, 1, 6);
    Simulator::Schedule(MilliSeconds(14), &TcpRogue::Join, &tcp, 0, 7); // that of somebody else
    Simulator::Stop(Seconds(2.5));
    Run();
    ASSERT_EQ(rounds.size(), 2U);
    EXPECT_EQ(center->GetJoined(), 2U);
    EXPECT_EQ(center->GetDropped(DROP_DUPLICATE), 1U);
    EXPECT_EQ(center->GetDropped(DROP_FOREIGN), 1U);
    EXPECT_GT(tcp.socket->GetRxAvailable(), 1000U); // grants and models
    tcp.socket->Close();
    Simulator::Stop(Seconds(1));
    Run();
    EXPECT_EQ(center->GetJoined(), 1U);
    EXPECT_EQ(rounds.back().links[1].state, PARTICIPANT_LEFT);
}

TEST_F(HostileFederation, AnUpdateOnAnotherThanTheAgreedIntervalIsDropped)
{
    Build(2);
    auto quantizer = CreateObject<DpStochasticQuantizer>();
    SetForAll("Quantizer", PointerValue(quantizer));
    SetForAll("IntervalRule", StringValue("ns3::FixedInterval[Low=-0.1|High=0.1]"));
    apps[1]->SetAttribute("IntervalRule", StringValue("ns3::FixedInterval[Low=-100|High=100]"));
    Run();
    ASSERT_EQ(rounds.size(), 3U);
    for (const auto& record : rounds)
    {
        EXPECT_EQ(record.links[0].state, PARTICIPANT_COMPLETE);
        EXPECT_EQ(record.links[1].state, PARTICIPANT_LOST);
        EXPECT_EQ(record.drops[DROP_INVALID], 1U);
    }
}

TEST_F(HostileFederation, AnUpdateWithoutTheDistortionThatWeightsFollowIsDropped)
{
    Build(2);
    auto quantizer = CreateObject<DpStochasticQuantizer>();
    SetForAll("Quantizer", PointerValue(quantizer));
    SetForAll("IntervalRule", StringValue("ns3::FixedInterval[Low=-0.001|High=0.001]"));
    center->SetAttribute("FusionRule", StringValue("ns3::EffectiveSnrFusion[Distortion=exact]"));
    apps[0]->SetAttribute("ReportDistortion", BooleanValue(true));
    Run();
    ASSERT_EQ(rounds.size(), 3U);
    for (const auto& record : rounds)
    {
        // Many of its values are beyond the interval: its distortion is far above that of a cell,
        // which the other one had instead of a report.
        EXPECT_EQ(record.links[0].state, PARTICIPANT_COMPLETE);
        EXPECT_EQ(record.links[0].weight, 1);
        EXPECT_EQ(record.links[1].state, PARTICIPANT_LOST);
        EXPECT_EQ(record.drops[DROP_INVALID], 1U);
    }
}
