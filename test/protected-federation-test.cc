// SPDX-License-Identifier: GPL-2.0-only

#include "federation.h"
#include "schedule-call.h"

#include "ns3/big-endian.h"
#include "ns3/boolean.h"
#include "ns3/federated-random.h"
#include "ns3/ipv4-header.h"
#include "ns3/ipv4-l3-protocol.h"
#include "ns3/message-bodies.h"
#include "ns3/message-protection.h"
#include "ns3/object-map.h"
#include "ns3/tcp-l4-protocol.h"
#include "ns3/udp-header.h"
#include "ns3/udp-l4-protocol.h"
#include "ns3/udp-socket-factory.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

using namespace ns3;
using namespace ns3::federated;

namespace
{

using Bytes = std::vector<uint8_t>;

constexpr const char* PROTOCOLS[] = {"ns3::UdpSocketFactory", "ns3::TcpSocketFactory"};
constexpr const char* KEY = "a secret of the center";

Bytes
GetBytes(const Ptr<const Packet>& packet)
{
    Bytes bytes(packet->GetSize());
    packet->CopyData(bytes.data(), packet->GetSize());
    return bytes;
}

Ptr<Packet>
MakePacket(const Bytes& bytes)
{
    return Create<Packet>(bytes.data(), static_cast<uint32_t>(bytes.size()));
}

/** @return a message with a right checksum and no protection. */
Bytes
MakePlain(FederatedHeader header, const Bytes& payload)
{
    header.Seal(payload.data(), payload.size());
    Bytes message(header.GetSize());
    header.Write(message.data());
    message.insert(message.end(), payload.begin(), payload.end());
    return message;
}

/** @return a GRANT, a JOIN or a REJOIN that somebody without a key makes. */
Bytes
Forge(FederatedHeader::Type type, uint32_t device, uint32_t sequence)
{
    FederatedHeader header;
    header.type = type;
    header.device = device;
    header.sequence = sequence;
    Bytes payload;
    if (type == FederatedHeader::GRANT)
    {
        header.round = 2;
        header.bits = 2;
        header.fragments = 1;
        header.coordinates = 260;
        GrantBody body;
        body.slotStartNs = 1;
        body.slotLengthNs = 1000000000;
        body.deadlineNs = 900000000000;
        payload.resize(GrantBody::SIZE);
        body.Write(payload.data());
    }
    if (type == FederatedHeader::JOIN)
    {
        header.bits = device % 2 == 0 ? 2 : 4;
        payload.resize(JoinBody::SIZE);
        JoinBody{device % 2, 40, 1, 77}.Write(payload.data());
    }
    return MakePlain(header, payload);
}

/** Loses every packet when it comes for the first time. */
class LosesFirstCopy : public ErrorModel
{
  private:
    bool DoCorrupt(Ptr<Packet> packet) override
    {
        return m_seen.insert(packet->GetUid()).second;
    }

    void DoReset() override
    {
    }

    std::set<uint64_t> m_seen;
};

/** Copy all attributes of an application to another one. */
template <typename T>
void
CopyAttributes(const Ptr<T>& from, const Ptr<T>& to)
{
    const TypeId tid = from->GetInstanceTypeId();
    for (std::size_t i = 0; i < tid.GetAttributeN(); ++i)
    {
        const auto attribute = tid.GetAttribute(i);
        const auto value = attribute.checker->Create();
        from->GetAttribute(attribute.name, *value);
        to->SetAttributeFailSafe(attribute.name, *value); // null pointers fail
    }
}

/** Changes messages, or makes some. */
class Forger
{
  public:
    /** @return one of the attacks on a message that was overheard. */
    Bytes Attack(Bytes message)
    {
        switch (random.Below(6))
        {
        case 0: // as it was
            break;
        case 1: // a flipped bit
            message[random.Below(static_cast<uint32_t>(message.size()))] ^=
                static_cast<uint8_t>(1U << random.Below(8));
            break;
        case 2: // an end missing
            message.resize(44 + random.Below(static_cast<uint32_t>(message.size()) - 44));
            break;
        case 3: // another device, or another counter
            message[4 + random.Below(12)] = static_cast<uint8_t>(random());
            break;
        case 4: // the right outer header, other contents
            std::generate(message.begin() + 16,
                          message.end(),
                          [this]() { return static_cast<uint8_t>(random()); });
            break;
        default: // no protection at all
            const auto types = {
                FederatedHeader::GRANT, FederatedHeader::JOIN, FederatedHeader::REJOIN};
            const bool isForAll = random.Below(4) == 0;
            return Forge(*(types.begin() + random.Below(3)),
                         isForAll ? FederatedHeader::ALL_DEVICES : random.Below(4),
                         random.Below(100000));
        }
        return message;
    }

    FederatedRandom random{31};
};

} // namespace

/** @ingroup federated-tests A federation with a key, and those who have none. */
class ProtectedFederation : public Federation
{
  public:
    static constexpr uint32_t DEVICES = 4;

    void BuildProtected(const char* protocol, const std::string& key = KEY)
    {
        Build(DEVICES);
        SetForAll("Protocol", TypeIdValue(TypeId::LookupByName(protocol)));
        SetKey(key);
        overheard.clear();
        attacks = 0;
    }

    /** Observe all messages of an application. */
    template <typename T>
    void Observe(const Ptr<T>& application)
    {
        application->TraceConnectWithoutContext("Tx",
                                                MakeCallback(&ProtectedFederation::OnTx, this));
    }

    void ObserveAll()
    {
        nonces.clear();
        messages = 0;
        reused = 0;
        plain = 0;
        Observe(center);
        for (const auto& device : apps)
        {
            Observe(device);
        }
    }

    void OnTx(Ptr<const Packet> packet)
    {
        ++messages;
        const Bytes bytes = GetBytes(packet);
        if (!MessageProtection::IsProtected(bytes.data(), bytes.size()))
        {
            ++plain;
            return;
        }
        // Type and device stand for the key, and the counter is the nonce.
        const Bytes nonce(bytes.begin() + 3, bytes.begin() + MessageProtection::CLEAR_SIZE);
        reused += !nonces.insert(nonce).second;
    }

    /** @return the losses of all rounds and the last model. */
    std::vector<double> GetOutcome() const
    {
        std::vector<double> outcome(center->GetModel().begin(), center->GetModel().end());
        for (const RoundRecord& record : rounds)
        {
            outcome.push_back(record.trainLoss);
            outcome.push_back(record.received);
            outcome.push_back(record.joined);
        }
        return outcome;
    }

    /** Send a packet of IP over the wire, with any addresses. */
    static void Inject(const Ptr<NetDevice>& from, const Ptr<Packet>& packet)
    {
        from->Send(packet, from->GetBroadcast(), Ipv4L3Protocol::PROT_NUMBER);
    }

    /** Put a message into a packet of IP and UDP that looks as another one. */
    static Ptr<Packet> Wrap(const Bytes& message, Ipv4Header ip, const UdpHeader& udp)
    {
        Ptr<Packet> packet = MakePacket(message);
        packet->AddHeader(udp);
        ip.SetPayloadSize(packet->GetSize());
        packet->AddHeader(ip);
        return packet;
    }

    /** A node sends a packet: attack its receiver, and its sender. */
    void OnIp(Ptr<const Packet> sentPacket, Ptr<Ipv4> ipv4, uint32_t interface)
    {
        Ptr<Packet> packet = sentPacket->Copy();
        Ipv4Header ip;
        UdpHeader udp;
        packet->RemoveHeader(ip);
        if (ip.GetProtocol() != UdpL4Protocol::PROT_NUMBER)
        {
            return;
        }
        packet->RemoveHeader(udp);
        overheard.push_back(GetBytes(packet));
        const Ptr<NetDevice> here = ipv4->GetNetDevice(interface);
        const Ptr<NetDevice> there = here->GetChannel()->GetDevice(0) == here
                                         ? here->GetChannel()->GetDevice(1)
                                         : here->GetChannel()->GetDevice(0);
        for (uint32_t i = 0; i < attacksPerMessage; ++i)
        {
            // A message from the same sender, mostly this one: shuffled by random delays.
            const std::size_t recent =
                forger.random.Below(8) == 0
                    ? forger.random.Below(static_cast<uint32_t>(overheard.size()))
                    : overheard.size() - 1;
            const Bytes message = forger.Attack(overheard[recent]);
            const bool isReflected = forger.random.Below(8) == 0;
            Ipv4Header address = ip;
            UdpHeader ports = udp;
            if (isReflected)
            {
                address.SetSource(ip.GetDestination());
                address.SetDestination(ip.GetSource());
                ports.SetSourcePort(udp.GetDestinationPort());
                ports.SetDestinationPort(udp.GetSourcePort());
            }
            const Ptr<NetDevice> device = isReflected ? there : here;
            const Ptr<Packet> forged = Wrap(message, address, ports);
            // Not before the original: a copy that overtakes it would be the original.
            ScheduleCall(MicroSeconds(100 + forger.random.Below(5000)),
                         [device, forged]() { Inject(device, forged); });
            ++attacks;
        }
        if (reorders)
        {
            const Ptr<Packet> original = sentPacket->Copy();
            ScheduleCall(MicroSeconds(forger.random.Below(100)),
                         [here, original]() { Inject(here, original); });
        }
    }

    /** Attack all messages over UDP. */
    void AttackDatagrams(uint32_t perMessage)
    {
        attacksPerMessage = perMessage;
        for (uint32_t i = 0; i <= DEVICES; ++i)
        {
            nodes.Get(i)->GetObject<Ipv4L3Protocol>()->TraceConnectWithoutContext(
                "Tx", MakeCallback(&ProtectedFederation::OnIp, this));
        }
    }

    /** Somebody in the middle of all connections puts messages between the others. */
    void OnStream(Ptr<const Packet> packet)
    {
        const Bytes message = GetBytes(packet);
        for (uint32_t i = 0; i < attacksPerMessage; ++i)
        {
            // Not before the original: a copy that overtakes it would be the original.
            ScheduleCall(MilliSeconds(200 + forger.random.Below(800)),
                         [this, message]() { InjectIntoStream(message); });
        }
    }

    void InjectIntoStream(const Bytes& original)
    {
        ObjectMapValue sockets;
        const Ptr<Node> node = nodes.Get(forger.random.Below(DEVICES + 1));
        node->GetObject<TcpL4Protocol>()->GetAttribute("SocketList", sockets);
        std::vector<Ptr<Socket>> connections;
        for (auto next = sockets.Begin(); next != sockets.End(); ++next)
        {
            const auto socket = DynamicCast<Socket>(next->second);
            Address peer;
            if (socket->GetPeerName(peer) == 0 && InetSocketAddress::ConvertFrom(peer).GetPort())
            {
                connections.push_back(socket);
            }
        }
        if (connections.empty())
        {
            return;
        }
        const Bytes message = forger.Attack(original);
        Bytes frame(4);
        WriteBigEndian32(static_cast<uint32_t>(message.size()), frame.data());
        frame.insert(frame.end(), message.begin(), message.end());
        const Ptr<Socket> socket =
            connections[forger.random.Below(static_cast<uint32_t>(connections.size()))];
        if (socket->GetTxAvailable() > frame.size())
        {
            socket->Send(MakePacket(frame));
            ++attacks;
        }
    }

    /** Attack all connections. */
    void AttackStreams(uint32_t perMessage)
    {
        attacksPerMessage = perMessage;
        center->TraceConnectWithoutContext("Tx",
                                           MakeCallback(&ProtectedFederation::OnStream, this));
        for (const auto& device : apps)
        {
            device->TraceConnectWithoutContext("Tx",
                                               MakeCallback(&ProtectedFederation::OnStream, this));
        }
    }

    /** @return all drops of center and devices, for a reason. */
    uint64_t CountDrops(DropReason reason) const
    {
        uint64_t count = center->GetDropped(reason);
        for (const auto& device : apps)
        {
            count += device->GetDropped(reason);
        }
        return count;
    }

    /** Another application takes the place of device 0, and another one that of the center. */
    void Restart(const Time& deviceStop,
                 const Time& deviceStart,
                 const Time& centerStop,
                 const Time& centerStart)
    {
        apps.push_back(CreateObject<FederatedDevice>());
        CopyAttributes(apps[0], apps.back());
        apps[0]->SetStopTime(deviceStop);
        apps.back()->SetStartTime(deviceStart);
        nodes.Get(1)->AddApplication(apps.back());
        const auto first = center;
        center = CreateObject<FusionCenter>();
        CopyAttributes(first, center);
        first->SetStopTime(centerStop);
        center->SetStartTime(centerStart);
        center->TraceConnectWithoutContext("RoundEnd", MakeCallback(&Federation::OnRound, this));
        nodes.Get(0)->AddApplication(center);
    }

    /** Record what is sent over the wire of device 0, in both directions. */
    void OnRecord(Ptr<const Packet> packet, Ptr<Ipv4> ipv4, uint32_t interface)
    {
        const Ptr<NetDevice> here = ipv4->GetNetDevice(interface);
        const Time now = Simulator::Now();
        const bool isReceived = now < Seconds(1) || now >= Seconds(1.5); // both sides are there
        if (isReceived && (here == GetCenterEnd(0) || here == GetDeviceEnd(0)))
        {
            recorded.emplace_back(here, packet->Copy());
        }
    }

    /** Device 0 sends a packet. */
    void OnDevice0(Ptr<const Packet> packet, Ptr<Ipv4>, uint32_t)
    {
        learnPacket(packet);
    }

    void OnDrop(DropReason reason, const Address&, uint32_t)
    {
        onDrop(reason);
    }

    Forger forger;
    std::vector<std::pair<Ptr<NetDevice>, Ptr<Packet>>> recorded;
    std::function<void(Ptr<const Packet>)> learnPacket;
    std::function<void(DropReason)> onDrop;
    std::vector<Bytes> overheard;
    uint32_t attacksPerMessage = 0;
    bool reorders = false;
    uint32_t attacks = 0;
    std::set<Bytes> nonces;
    uint32_t messages = 0;
    uint32_t reused = 0; // a nonce for two messages
    uint32_t plain = 0;
};

TEST_F(ProtectedFederation, LearnsWhatItLearnsInTheClearOverUdpAndTcp)
{
    for (const char* protocol : PROTOCOLS)
    {
        std::vector<double> outcomes[2];
        Time ends[2];
        for (int i : {0, 1})
        {
            BuildProtected(protocol, i == 0 ? "" : KEY);
            ObserveAll();
            Run();
            ASSERT_EQ(rounds.size(), 3U);
            EXPECT_EQ(rounds.back().received, 4U);
            EXPECT_EQ(plain, i == 0 ? messages : 0U);
            EXPECT_EQ(reused, 0U);
            EXPECT_EQ(CountDrops(DROP_UNAUTHENTIC) + CountDrops(DROP_REPLAYED), 0U);
            outcomes[i] = GetOutcome();
            ends[i] = rounds.back().end;
        }
        EXPECT_EQ(outcomes[0], outcomes[1]) << protocol;
        EXPECT_NEAR(ends[1].GetSeconds() / ends[0].GetSeconds(), 1, 0.05) << protocol;
    }
}

TEST_F(ProtectedFederation, AHundredThousandForgeriesChangeNothingButCounters)
{
    for (const char* protocol : PROTOCOLS)
    {
        const bool isTcp = protocol == PROTOCOLS[1];
        std::vector<double> outcomes[2];
        for (int i : {0, 1})
        {
            side = 28;
            BuildProtected(protocol);
            SetForAll("FragmentSize", UintegerValue(400));
            center->SetAttribute("Rounds", UintegerValue(5));
            center->SetAttribute("Deadline", TimeValue(Seconds(60)));
            // Rounds last longer than it takes to attack them.
            SetForDevices("TimePerSample",
                          StringValue("ns3::ConstantRandomVariable[Constant=0.005]"));
            if (i == 1 && isTcp)
            {
                AttackStreams(130);
            }
            else if (i == 1)
            {
                AttackDatagrams(90);
            }
            Run();
            ASSERT_EQ(rounds.size(), 5U) << protocol;
            EXPECT_EQ(rounds.back().received, DEVICES) << protocol;
            outcomes[i] = GetOutcome();
        }
        EXPECT_EQ(outcomes[0], outcomes[1]) << protocol;
        EXPECT_GE(attacks, 100000U) << protocol;
        EXPECT_GT(CountDrops(DROP_UNAUTHENTIC), 50000U) << protocol;
        EXPECT_GT(CountDrops(DROP_REPLAYED), 5000U) << protocol;
        for (const DropReason reason : {DROP_CHECKSUM, DROP_NOT_FINITE, DROP_INVALID})
        {
            EXPECT_EQ(CountDrops(reason), 0U) << "no forgery was read: " << protocol;
        }
    }
}

TEST_F(ProtectedFederation, ReorderedGrantsAndModelsChangeNothing)
{
    std::vector<double> outcomes[2];
    for (int i : {0, 1})
    {
        side = 28;
        BuildProtected(PROTOCOLS[0]);
        center->SetAttribute("DownlinkRate", StringValue("500Mbps"));
        reorders = i == 1;
        if (reorders)
        {
            // Every packet is lost; its copy comes up to 100 microseconds later, after others.
            // (A DONE that overtakes fragments ends the round without them, also without a key.)
            nodes.Get(0)->GetObject<Ipv4L3Protocol>()->TraceConnectWithoutContext(
                "Tx", MakeCallback(&ProtectedFederation::OnIp, this));
            for (uint32_t device = 0; device < DEVICES; ++device)
            {
                SetLoss(GetDeviceEnd(device), CreateObject<LosesFirstCopy>());
            }
        }
        Run();
        ASSERT_EQ(rounds.size(), 3U);
        EXPECT_EQ(rounds.back().received, DEVICES);
        EXPECT_EQ(rounds.back().receivedFragments, rounds.back().sentFragments);
        EXPECT_EQ(CountDrops(DROP_UNAUTHENTIC) + CountDrops(DROP_REPLAYED), 0U);
        outcomes[i] = GetOutcome();
    }
    EXPECT_EQ(outcomes[0], outcomes[1]);
}

TEST_F(ProtectedFederation, ForgedControlMessagesAreUnauthenticWithAKeyOnly)
{
    for (const bool hasKey : {false, true})
    {
        for (const auto type :
             {FederatedHeader::GRANT, FederatedHeader::JOIN, FederatedHeader::REJOIN})
        {
            BuildProtected(PROTOCOLS[0], hasKey ? KEY : "");
            center->SetAttribute("Rounds", UintegerValue(2));
            Ipv4Header ip[2];
            UdpHeader udp[2]; // of the last packet of device 0, and of the answer
            learnPacket = [&](Ptr<const Packet> sentPacket)
            {
                const Ptr<Packet> packet = sentPacket->Copy();
                packet->RemoveHeader(ip[0]);
                packet->RemoveHeader(udp[0]);
            };
            nodes.Get(1)->GetObject<Ipv4L3Protocol>()->TraceConnectWithoutContext(
                "Tx", MakeCallback(&ProtectedFederation::OnDevice0, this));
            const bool isDown = type != FederatedHeader::JOIN;
            const Bytes forged = Forge(type, 0, 100000);
            // In the name of the other side, while the device waits for the second round.
            const auto attack = [&]()
            {
                if (isDown)
                {
                    ip[1] = ip[0];
                    ip[1].SetSource(ip[0].GetDestination());
                    ip[1].SetDestination(ip[0].GetSource());
                    udp[1].SetSourcePort(udp[0].GetDestinationPort());
                    udp[1].SetDestinationPort(udp[0].GetSourcePort());
                }
                Inject(isDown ? GetCenterEnd(0) : GetDeviceEnd(0),
                       Wrap(forged, ip[isDown], udp[isDown]));
            };
            ScheduleCall(MilliSeconds(8), attack);
            Run();
            const auto drops = isDown ? apps[0]->GetDropped(DROP_UNAUTHENTIC)
                                      : center->GetDropped(DROP_UNAUTHENTIC);
            EXPECT_EQ(drops, hasKey ? 1U : 0U) << FederatedHeader::GetTypeName(type);
            EXPECT_EQ(rounds.size(), 2U);
            if (hasKey)
            {
                EXPECT_EQ(rounds.back().received, DEVICES) << FederatedHeader::GetTypeName(type);
            }
        }
    }
}

TEST_F(ProtectedFederation, UnderLossRoundsEndWhenTheyEndInTheClear)
{
    double ends[2];
    for (int i : {0, 1})
    {
        Build(6);
        SetKey(i == 0 ? "" : KEY);
        center->SetAttribute("Rounds", UintegerValue(20));
        center->SetAttribute("Deadline", TimeValue(Seconds(8)));
        for (uint32_t device = 0; device < 6; ++device)
        {
            auto loss = CreateObject<RateErrorModel>();
            loss->SetAttribute("ErrorUnit", StringValue("ERROR_UNIT_PACKET"));
            loss->SetAttribute("ErrorRate", StringValue("0.1"));
            loss->AssignStreams(5000 + device);
            SetLoss(GetCenterEnd(device), loss);
        }
        Run();
        ASSERT_EQ(rounds.size(), 20U);
        ends[i] = rounds.back().end.GetSeconds();
        EXPECT_EQ(CountDrops(DROP_MALFORMED) + CountDrops(DROP_UNAUTHENTIC), 0U);
    }
    EXPECT_NEAR(ends[1] / ends[0], 1, 0.05);
}

TEST_F(ProtectedFederation, NoNonceServesTwoMessagesThroughLossRepairsAndSecondLives)
{
    for (const char* protocol : PROTOCOLS)
    {
        side = 28;
        BuildProtected(protocol);
        SetForAll("FragmentSize", UintegerValue(150)); // many messages
        center->SetAttribute("Rounds", UintegerValue(20));
        center->SetAttribute("Deadline", TimeValue(MilliSeconds(500)));
        for (uint32_t i = 0; i < DEVICES; ++i)
        {
            for (const auto& end : {GetCenterEnd(i), GetDeviceEnd(i)})
            {
                auto loss = CreateObject<RateErrorModel>();
                loss->SetAttribute("ErrorUnit", StringValue("ERROR_UNIT_PACKET"));
                loss->SetAttribute("ErrorRate", StringValue("0.05"));
                loss->AssignStreams(5000 + 2 * i + (end == GetCenterEnd(i)));
                SetLoss(end, loss);
            }
        }
        const auto first = center;
        Restart(MilliSeconds(700), MilliSeconds(701), Seconds(2), Seconds(2.1));
        ObserveAll();
        Observe(first);
        Simulator::Stop(Seconds(60));
        Run();
        EXPECT_GT(rounds.size(), 20U) << protocol;
        for (uint32_t i = 1; i <= DEVICES; ++i) // the first one has given way to the last one
        {
            EXPECT_TRUE(apps[i]->HasJoined()) << protocol << ", application " << i;
        }
        EXPECT_GT(rounds.back().received, 0U) << protocol;
        EXPECT_GT(messages, 5000U) << protocol;
        EXPECT_EQ(plain, 0U);
        EXPECT_EQ(reused, 0U);
        EXPECT_EQ(CountDrops(DROP_UNAUTHENTIC), 0U) << protocol;
    }
}

TEST_F(ProtectedFederation, WhatWasRecordedOfEarlierLivesIsRefusedInLaterOnes)
{
    BuildProtected(PROTOCOLS[0]);
    SetForDevices("Local", AddressValue(InetSocketAddress(Ipv4Address::GetAny(), 5000)));
    SetForDevices("LeaveOnStop", BooleanValue(false));
    for (const uint32_t node : {0, 1})
    {
        nodes.Get(node)->GetObject<Ipv4L3Protocol>()->TraceConnectWithoutContext(
            "Tx", MakeCallback(&ProtectedFederation::OnRecord, this));
    }
    Restart(Seconds(1), Seconds(1.5), Seconds(1), Seconds(1.4));
    std::size_t sentAgain = 0;
    ScheduleCall(Seconds(5),
                 [&]()
                 {
                     ASSERT_EQ(rounds.size(), 6U) << "three of each center";
                     EXPECT_EQ(rounds.back().received, DEVICES);
                     EXPECT_EQ(CountDrops(DROP_REPLAYED), 0U);
                     sentAgain = recorded.size();
                     for (const auto& [device, packet] : recorded)
                     {
                         Inject(device, packet->Copy());
                     }
                 });
    Simulator::Stop(Seconds(6));
    Run();
    EXPECT_GT(sentAgain, 30U);
    EXPECT_EQ(CountDrops(DROP_REPLAYED), sentAgain) << "of the first lives and of the second";
    EXPECT_EQ(rounds.size(), 6U);
    EXPECT_EQ(center->GetJoined(), DEVICES);
}

TEST_F(ProtectedFederation, WhoHasAnotherKeyOrNoneIsNotUnderstoodAndCounted)
{
    for (const char* protocol : PROTOCOLS)
    {
        BuildProtected(protocol);
        apps[1]->SetAttribute("DeviceKey",
                              StringValue(MessageProtection::DeriveDeviceKey("another", 0, 1)));
        apps[2]->SetAttribute("DeviceKey", StringValue(""));
        center->SetAttribute("JoinTimeout", TimeValue(MilliSeconds(500)));
        uint32_t others = 0;
        onDrop = [&](DropReason reason) { others += reason != DROP_UNAUTHENTIC; };
        center->TraceConnectWithoutContext("Drop",
                                           MakeCallback(&ProtectedFederation::OnDrop, this));
        Simulator::Stop(Seconds(5));
        Run();
        ASSERT_EQ(rounds.size(), 3U) << protocol;
        EXPECT_EQ(rounds.back().joined, 2U) << protocol;
        EXPECT_EQ(rounds.back().received, 2U) << protocol;
        EXPECT_GT(center->GetDropped(DROP_UNAUTHENTIC), 1U) << protocol;
        EXPECT_EQ(others, 0U) << "one clear reason over " << protocol;
    }
}

TEST_F(ProtectedFederation, ACenterWithoutAKeyDropsProtectedMessagesAsUnauthentic)
{
    BuildProtected(PROTOCOLS[0]);
    center->SetAttribute("EncryptionKey", StringValue(""));
    center->SetAttribute("JoinTimeout", TimeValue(MilliSeconds(500)));
    center->SetAttribute("Deadline", TimeValue(Seconds(1)));
    Simulator::Stop(Seconds(5));
    Run();
    EXPECT_EQ(center->GetJoined(), 0U);
    EXPECT_GT(center->GetDropped(DROP_UNAUTHENTIC), 0U);
    EXPECT_EQ(center->GetDropped(DROP_CHECKSUM), 0U);
}

TEST_F(ProtectedFederation, TheModelIsForEachDeviceOrSignedForAll)
{
    for (const char* downlink : {"unicast", "multicast"})
    {
        BuildProtected(PROTOCOLS[0]);
        const InetSocketAddress group("224.0.5.1", 4001);
        center->SetAttribute("Downlink", StringValue(downlink));
        if (std::string(downlink) == "multicast")
        {
            center->SetAttribute("MulticastGroup", AddressValue(group));
            SetForDevices("MulticastGroup", AddressValue(group));
            Ipv4StaticRoutingHelper routing;
            routing.GetStaticRouting(nodes.Get(0)->GetObject<Ipv4>())->SetDefaultMulticastRoute(1);
        }
        ObserveAll();
        Simulator::Stop(Seconds(30));
        Run();
        std::map<uint8_t, uint32_t> types;
        for (const Bytes& nonce : nonces)
        {
            ++types[nonce.front()];
        }
        EXPECT_GT(types[FederatedHeader::PROTECTED_UP], 0U);
        EXPECT_GT(types[FederatedHeader::PROTECTED_DOWN], 0U);
        EXPECT_EQ(types[FederatedHeader::PROTECTED_GROUP] > 0,
                  std::string(downlink) == "multicast");
        EXPECT_EQ(rounds.size(), 3U) << downlink;
        EXPECT_EQ(CountDrops(DROP_UNAUTHENTIC), 0U);
    }
}

using ProtectedFederationDeathTest = ProtectedFederation;

TEST_F(ProtectedFederationDeathTest, WrongSettingsStopTheScriptWithASentence)
{
    Build(2);
    SetKey(KEY);
    apps[0]->SetAttribute("DeviceKey", StringValue(KEY));
    EXPECT_DEATH(Run(), "DeviceKey of device 0 is not what FusionCenter::GetDeviceKey returns");
    Build(2);
    SetKey(KEY);
    SetForAll("FragmentSize", UintegerValue(159));
    center->SetAttribute("Downlink", StringValue("multicast"));
    center->SetAttribute("MulticastGroup", AddressValue(InetSocketAddress("224.0.5.1", 4001)));
    EXPECT_DEATH(Run(), "FragmentSize is 159 bytes, and protected messages need at least 160");
    for (const uint32_t size : {100, 160})
    {
        Build(2);
        SetKey(KEY);
        SetForAll("FragmentSize", UintegerValue(size));
        Run();
        EXPECT_EQ(rounds.size(), 3U) << size;
    }
}
