// SPDX-License-Identifier: GPL-2.0-only

#include "federation.h"
#include "schedule-call.h"

#include "ns3/big-endian.h"
#include "ns3/boolean.h"
#include "ns3/config.h"
#include "ns3/crc32c.h"
#include "ns3/double.h"
#include "ns3/message-bodies.h"
#include "ns3/message-stream.h"
#include "ns3/socket-address.h"
#include "ns3/udp-socket-factory.h"

#include <cmath>
#include <map>
#include <memory>
#include <vector>

using namespace ns3;
using namespace ns3::federated;

namespace
{

/** A center that can be started a second time. */
class RestartedCenter : public FusionCenter
{
  public:
    /** Start again, as Application lets it start once. */
    void StartAgain()
    {
        StartApplication();
    }
};

/** In the place of a center: acknowledges JOIN and DONE, and sends what a test wants. */
class FakeCenter
{
  public:
    FakeCenter(const Ptr<Node>& node, uint16_t port)
        : m_socket(Socket::CreateSocket(node, UdpSocketFactory::GetTypeId()))
    {
        m_socket->Bind(InetSocketAddress(Ipv4Address::GetAny(), port));
        m_socket->SetRecvCallback(MakeCallback(&FakeCenter::Receive, this));
    }

    /** Send a message to the device. */
    void Send(FederatedHeader header, const std::vector<uint8_t>& body)
    {
        header.Seal(body.data(), body.size());
        Ptr<Packet> packet = Create<Packet>(body.data(), static_cast<uint32_t>(body.size()));
        packet->AddHeader(header);
        m_socket->SendTo(packet, 0, m_device);
    }

    void Rejoin(uint32_t sequence)
    {
        FederatedHeader header;
        header.type = FederatedHeader::REJOIN;
        header.sequence = sequence;
        Send(header, {});
    }

    /** Grant a slot of a round that lasts until the given time. */
    void Grant(uint32_t sequence, uint32_t round, const Time& deadline, uint8_t bits = 2)
    {
        FederatedHeader header;
        header.type = FederatedHeader::GRANT;
        header.sequence = sequence;
        header.round = round;
        header.bits = bits;
        header.fragments = 1;
        header.coordinates = 260;
        std::vector<uint8_t> body(GrantBody::SIZE);
        const auto end = static_cast<uint64_t>(deadline.GetNanoSeconds());
        GrantBody{0, 0, 1000000, end}.Write(body.data());
        Send(header, body);
    }

    /** Send the model of a round, all zeros. */
    void Model(uint32_t round)
    {
        FederatedHeader header;
        header.type = FederatedHeader::MODEL;
        header.round = round;
        header.device = FederatedHeader::ALL_DEVICES;
        header.bits = 32;
        header.fragments = 1;
        header.coordinates = 260;
        Send(header, std::vector<uint8_t>(std::size_t{4} * 260));
    }

    /** Name a device in a page of a round that lasts until the given time. */
    void Page(uint32_t sequence, uint32_t round, const Time& until, uint32_t device)
    {
        FederatedHeader header;
        header.type = FederatedHeader::PAGE;
        header.sequence = sequence;
        header.round = round;
        header.device = FederatedHeader::ALL_DEVICES;
        PageBody page;
        page.untilNs = static_cast<uint64_t>(until.GetNanoSeconds());
        page.first = device;
        page.Name(device);
        std::vector<uint8_t> body(page.GetSize());
        page.Write(body.data());
        Send(header, body);
    }

    /** @param device Address of a device that was not heard yet. */
    void SetDevice(const Address& device)
    {
        m_device = device;
    }

    /** @return how many messages of a type were received. */
    uint32_t Count(FederatedHeader::Type type) const
    {
        const auto found = received.find(type);
        return found == received.end() ? 0 : static_cast<uint32_t>(found->second.size());
    }

    std::map<uint8_t, std::vector<FederatedHeader>> received; // by type
    bool acknowledges = true;

  private:
    void Receive(Ptr<Socket> socket)
    {
        while (Ptr<Packet> packet = socket->RecvFrom(m_device))
        {
            FederatedHeader header;
            packet->RemoveHeader(header);
            received[header.type].push_back(header);
            if (acknowledges &&
                (header.type == FederatedHeader::JOIN || header.type == FederatedHeader::DONE))
            {
                FederatedHeader ack;
                ack.type = FederatedHeader::ACK;
                ack.sequence = header.sequence;
                ack.round = header.round;
                Send(ack, {header.type});
            }
        }
    }

    Ptr<Socket> m_socket;
    Address m_device;
};

void
CountChange(uint32_t* changes, uint32_t, bool)
{
    ++*changes;
}

/** Counts sent messages of a type. */
class TypeCounter
{
  public:
    void Count(Ptr<const Packet> packet)
    {
        uint8_t bytes[FederatedHeader::FIXED_SIZE];
        ++counts[FederatedHeader::PeekType(bytes, packet->CopyData(bytes, sizeof(bytes)))];
    }

    std::map<uint8_t, uint32_t> counts;
};

} // namespace

/** @ingroup federated-tests Centers and devices that stop, start again, or are impersonated. */
class SecondLives : public Federation
{
  public:
    /** Make a second center with the attributes of the first. */
    void AddSecondCenter(const Time& start)
    {
        second = CreateObject<FusionCenter>();
        const TypeId tid = FusionCenter::GetTypeId();
        for (std::size_t i = 0; i < tid.GetAttributeN(); ++i)
        {
            const auto attribute = tid.GetAttribute(i);
            const auto value = attribute.checker->Create();
            center->GetAttribute(attribute.name, *value);
            second->SetAttributeFailSafe(attribute.name, *value); // null pointers fail
        }
        second->SetStartTime(start);
        second->TraceConnectWithoutContext("RoundEnd",
                                           MakeCallback(&SecondLives::OnSecondRound, this));
        nodes.Get(0)->AddApplication(second);
    }

    void OnSecondRound(const RoundRecord& record)
    {
        secondRounds.push_back(record);
    }

    /** Build one device and a test's own center. */
    void BuildWithFakeCenter()
    {
        Build(1);
        center->SetStartTime(Hours(10));
        fake = std::make_unique<FakeCenter>(nodes.Get(0), PORT);
    }

    void TearDown() override
    {
        fake.reset();
        second = nullptr;
        secondRounds.clear();
        Federation::TearDown();
    }

    Ptr<FusionCenter> second;
    std::vector<RoundRecord> secondRounds;
    std::unique_ptr<FakeCenter> fake;
};

TEST_F(SecondLives, ANewCenterGathersTheDevicesOfAnEarlierOne)
{
    struct Case
    {
        const char* protocol;
        double stop;          // of the first center, in s
        const char* training; // seconds for a sample
    };

    const std::vector<Case> cases{
        {"ns3::UdpSocketFactory", 5, "0.00001"}, // when it is idle
        {"ns3::UdpSocketFactory", 0.1, "0.001"}, // in the middle of a round
        {"ns3::TcpSocketFactory", 5, "0.00001"},
        {"ns3::TcpSocketFactory", 0.1, "0.001"},
    };
    for (const Case& one : cases)
    {
        SCOPED_TRACE(testing::Message() << one.protocol << ", stopped at " << one.stop);
        Build(3);
        secondRounds.clear();
        SetForAll("Protocol", TypeIdValue(TypeId::LookupByName(one.protocol)));
        SetForDevices(
            "TimePerSample",
            StringValue(std::string("ns3::ConstantRandomVariable[Constant=") + one.training + "]"));
        center->SetStopTime(Seconds(one.stop));
        AddSecondCenter(Seconds(one.stop + 0.05));
        Run();
        ASSERT_EQ(secondRounds.size(), 3U);
        EXPECT_EQ(secondRounds[0].round, 1U);
        for (const RoundRecord& round : secondRounds)
        {
            EXPECT_EQ(round.received, 3U);
        }
        EXPECT_EQ(second->GetJoined(), 3U);
    }
}

TEST_F(SecondLives, ANewCenterListensOnTheAddressOfConnectionsThatHaveNotEndedYet)
{
    for (const bool v6 : {false, true})
    {
        Build(1, v6);
        secondRounds.clear();
        SetForAll("Protocol", TypeIdValue(TcpSocketFactory::GetTypeId()));
        center->SetAttribute("Local", AddressValue(remotes[0]));
        center->SetStopTime(Seconds(1));
        AddSecondCenter(Seconds(1.05));
        Run();
        ASSERT_EQ(secondRounds.size(), 3U);
        EXPECT_EQ(secondRounds.back().received, 1U);
    }
}

using SecondLivesDeathTest = SecondLives;

TEST_F(SecondLivesDeathTest, TwoCentersOnOnePortAreAMistake)
{
    for (const char* protocol : {"ns3::UdpSocketFactory", "ns3::TcpSocketFactory"})
    {
        Build(1);
        SetForAll("Protocol", TypeIdValue(TypeId::LookupByName(protocol)));
        center->SetAttribute("Local", AddressValue(remotes[0]));
        AddSecondCenter(Seconds(1));
        EXPECT_DEATH(Run(), "could not bind a socket to Local, 10.1.0.1:4242");
    }
}

TEST_F(SecondLivesDeathTest, ABufferBelowAFragmentIsAMistake)
{
    Build(1);
    SetForAll("Protocol", TypeIdValue(TcpSocketFactory::GetTypeId()));
    EXPECT_DEATH(
        {
            Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(1403));
            Run();
        },
        "SndBufSize of a TCP socket is 1403 bytes, but a message of FragmentSize 1400 needs 1404");
}

TEST_F(SecondLives, ACenterThatStartsAgainBeginsAnew)
{
    Build(2);
    auto again = CreateObject<RestartedCenter>();
    for (const char* name : {"Task", "Quantizer", "FusionRule"})
    {
        PointerValue value;
        center->GetAttribute(name, value);
        again->SetAttribute(name, value);
    }
    again->SetAttribute("Rounds", UintegerValue(2));
    again->SetAttribute("GroupBits", StringValue("2,4"));
    again->SetAttribute("Participants", UintegerValue(2));
    again->SetAttribute("ExpectedDevices", UintegerValue(2));
    again->SetAttribute("BitBudget", StringValue("ns3::FixedBitBudget[Bits=1000]"));
    again->SetStopTime(Seconds(5));
    again->TraceConnectWithoutContext("RoundEnd", MakeCallback(&Federation::OnRound, this));
    center->SetStartTime(Hours(1)); // it takes no part
    nodes.Get(0)->AddApplication(again);
    std::vector<float> models[2];
    ScheduleCall(Seconds(4), [&]() { models[0] = again->GetModel(); });
    ScheduleCall(Seconds(6), [&]() { again->StartAgain(); });
    ScheduleCall(Seconds(9), [&]() { models[1] = again->GetModel(); });
    Simulator::Stop(Seconds(10));
    Run();
    ASSERT_EQ(rounds.size(), 4U);
    for (std::size_t i = 0; i < 4; ++i)
    {
        EXPECT_EQ(rounds[i].round, 1 + i % 2);
        EXPECT_EQ(rounds[i].received, 2U);
        EXPECT_EQ(rounds[i].joined, 2U);
    }
    EXPECT_EQ(rounds[0].trainLoss == rounds[1].trainLoss, false);
    // It begins with the first model again; the batches are new ones.
    EXPECT_NEAR(rounds[2].trainLoss, rounds[0].trainLoss, 0.1);
    ASSERT_EQ(models[0].size(), models[1].size());
    EXPECT_NE(models[0], models[1]);
}

TEST_F(SecondLives, AStrangerIsToldToJoinAgainButNotAsOftenAsItLikes)
{
    Build(2);
    center->SetAttribute("MaxDevices", UintegerValue(100));
    apps[1]->SetStartTime(Hours(1));
    apps[1]->SetStopTime(Hours(1));
    center->SetAttribute("JoinTimeout", TimeValue(Seconds(20)));
    TypeCounter counter;
    center->TraceConnectWithoutContext("Tx", MakeCallback(&TypeCounter::Count, &counter));
    const auto socket = Socket::CreateSocket(nodes.Get(2), UdpSocketFactory::GetTypeId());
    socket->Bind();
    socket->Connect(remotes[1]);
    ScheduleCall(MilliSeconds(100),
                 [&]()
                 {
                     for (uint32_t device = 1; device <= 50; ++device)
                     {
                         FederatedHeader header;
                         header.type = FederatedHeader::DONE;
                         header.round = 1;
                         header.device = device;
                         header.Seal(nullptr, 0);
                         Ptr<Packet> packet = Create<Packet>();
                         packet->AddHeader(header);
                         socket->Send(packet);
                     }
                 });
    Simulator::Stop(Seconds(1));
    Run();
    EXPECT_EQ(center->GetDropped(DROP_UNKNOWN), 50U);
    EXPECT_EQ(counter.counts[FederatedHeader::REJOIN], 8U);
}

TEST_F(SecondLives, AForgedRejoinMakesADeviceJoinAgainAndChangesNothingElse)
{
    BuildWithFakeCenter();
    apps[0]->SetAttribute("TimePerSample",
                          StringValue("ns3::ConstantRandomVariable[Constant=0.001]"));
    ScheduleCall(MilliSeconds(50), [&]() { fake->Grant(1, 1, Seconds(5)); });
    ScheduleCall(MilliSeconds(55), [&]() { fake->Model(1); });
    for (int i = 0; i < 100; ++i) // while it trains, sends its update and repeats its DONE
    {
        ScheduleCall(MilliSeconds(60 + 2 * i), [&, i]() { fake->Rejoin(0x40000000U * i); });
    }
    Simulator::Stop(Seconds(2));
    Run();
    // At most one JOIN in each time-out of 100 ms, besides the first.
    EXPECT_GE(fake->Count(FederatedHeader::JOIN), 3U);
    EXPECT_LE(fake->Count(FederatedHeader::JOIN), 4U);
    EXPECT_EQ(sent.size(), 1U) << "the update was sent";
    EXPECT_GE(fake->Count(FederatedHeader::UPDATE), 1U);
    EXPECT_EQ(fake->Count(FederatedHeader::DONE), 1U);
    EXPECT_TRUE(apps[0]->HasJoined());
    EXPECT_GT(apps[0]->GetDropped(DROP_DUPLICATE), 90U);
}

TEST_F(SecondLives, ADeviceThatIsToldToJoinAgainKeepsItsPlaceInTheRound)
{
    Build(2);
    center->SetAttribute("Rounds", UintegerValue(1));
    SetForDevices("TimePerSample", StringValue("ns3::ConstantRandomVariable[Constant=0.003]"));
    uint32_t changes = 0;
    center->TraceConnectWithoutContext("MembersChanged", MakeBoundCallback(&CountChange, &changes));
    TypeCounter counter;
    apps[0]->TraceConnectWithoutContext("Tx", MakeCallback(&TypeCounter::Count, &counter));
    // While it trains, from 10 to 310 ms, somebody sends a REJOIN under the address and port of the
    // center.
    ScheduleCall(MilliSeconds(200),
                 [&]()
                 {
                     FederatedHeader header;
                     header.type = FederatedHeader::REJOIN;
                     header.sequence = 5;
                     header.Seal(nullptr, 0);
                     Ptr<Packet> packet = Create<Packet>();
                     packet->AddHeader(header);
                     const auto socket =
                         Socket::CreateSocket(nodes.Get(0), UdpSocketFactory::GetTypeId());
                     ASSERT_EQ(socket->Bind(remotes[0]), 0);
                     const auto ipv4 = nodes.Get(1)->GetObject<Ipv4>();
                     // The device's socket has the first ephemeral port.
                     const InetSocketAddress device(ipv4->GetAddress(1, 0).GetLocal(), 49153);
                     EXPECT_GT(socket->SendTo(packet, 0, device), 0);
                     socket->Close();
                 });
    Run();
    EXPECT_GE(counter.counts[FederatedHeader::JOIN], 2U) << "it joined again";
    ASSERT_EQ(rounds.size(), 1U);
    EXPECT_EQ(rounds[0].received, 2U) << "and its update counts";
    EXPECT_EQ(changes, 2U) << "who joins again in the same life has not left";
}

TEST_F(SecondLives, AnIdleDeviceThatJoinsAgainHasNotLeft)
{
    Build(2);
    uint32_t changes = 0;
    center->TraceConnectWithoutContext("MembersChanged", MakeBoundCallback(&CountChange, &changes));
    TypeCounter counter;
    apps[0]->TraceConnectWithoutContext("Tx", MakeCallback(&TypeCounter::Count, &counter));
    apps[0]->SetAttribute("CenterTimeout", TimeValue(Seconds(2)));
    Simulator::Stop(Seconds(30));
    Run();
    EXPECT_GE(counter.counts[FederatedHeader::JOIN], 5U);
    EXPECT_EQ(changes, 2U);
}

TEST_F(SecondLives, AGrantOfTheLastRoundDoesNotSilenceADevice)
{
    BuildWithFakeCenter();
    ScheduleCall(MilliSeconds(50), [&]() { fake->Grant(1, 0xffffffff, Seconds(5)); });
    ScheduleCall(MilliSeconds(100), [&]() { fake->Grant(2, 1, Seconds(6)); });
    ScheduleCall(MilliSeconds(105), [&]() { fake->Model(1); });
    ScheduleCall(MilliSeconds(500), [&]() { fake->Grant(3, 2, Seconds(6)); });
    ScheduleCall(MilliSeconds(505), [&]() { fake->Model(2); });
    Simulator::Stop(Seconds(2));
    Run();
    EXPECT_EQ(apps[0]->GetDropped(DROP_INVALID), 1U);
    ASSERT_EQ(sent.size(), 2U);
    EXPECT_EQ(sent[1].round, 2U);
}

TEST_F(SecondLives, AGrantWithAForgedNumberSilencesADeviceOnlyUntilTheCenterInsists)
{
    BuildWithFakeCenter();
    ScheduleCall(MilliSeconds(50), [&]() { fake->Grant(0x7ffffff0, 1, Seconds(100)); });
    for (int i = 0; i < 4; ++i) // the center repeats its grant
    {
        ScheduleCall(MilliSeconds(300 + 100 * i), [&]() { fake->Grant(2, 5, Seconds(6)); });
    }
    ScheduleCall(MilliSeconds(700), [&]() { fake->Model(5); });
    Simulator::Stop(Seconds(2));
    Run();
    EXPECT_EQ(apps[0]->GetDropped(DROP_OLD), 2U);
    EXPECT_EQ(fake->Count(FederatedHeader::JOIN), 2U);
    ASSERT_EQ(sent.size(), 1U);
    EXPECT_EQ(sent[0].round, 5U);
}

TEST_F(SecondLives, AnEnrolledDeviceIsNotSilencedEither)
{
    BuildWithFakeCenter();
    apps[0]->SetAttribute("Enrolled", BooleanValue(true));
    apps[0]->SetAttribute("Local",
                          AddressValue(InetSocketAddress(Ipv4Address::GetAny(), PORT + 1)));
    const auto ipv4 = nodes.Get(1)->GetObject<Ipv4>();
    fake->SetDevice(InetSocketAddress(ipv4->GetAddress(1, 0).GetLocal(), PORT + 1));
    ScheduleCall(MilliSeconds(50), [&]() { fake->Grant(0x7ffffff0, 1, Seconds(100)); });
    for (int i = 0; i < 3; ++i) // the center repeats its grant
    {
        ScheduleCall(MilliSeconds(300 + 100 * i), [&]() { fake->Grant(2, 5, Seconds(6)); });
    }
    ScheduleCall(MilliSeconds(700), [&]() { fake->Model(5); });
    Simulator::Stop(Seconds(2));
    Run();
    EXPECT_EQ(apps[0]->GetDropped(DROP_OLD), 1U);
    ASSERT_EQ(sent.size(), 1U);
    EXPECT_EQ(sent[0].round, 5U);
    EXPECT_EQ(fake->Count(FederatedHeader::JOIN), 0U);
}

TEST_F(SecondLives, ADeviceTakesItsIdentifierBackFromWhoStoleIt)
{
    Build(2);
    center->SetAttribute("Rounds", UintegerValue(200));
    SetForDevices("TimePerSample", StringValue("ns3::ConstantRandomVariable[Constant=0.0001]"));
    // A JOIN from the address of device 1, but from another port and with a newer number.
    const auto socket = Socket::CreateSocket(nodes.Get(2), UdpSocketFactory::GetTypeId());
    socket->Bind();
    socket->Connect(remotes[1]);
    ScheduleCall(MilliSeconds(300),
                 [&]()
                 {
                     FederatedHeader header;
                     header.type = FederatedHeader::JOIN;
                     header.sequence = 0x0fffffff;
                     header.device = 1;
                     header.bits = 4;
                     uint8_t body[JoinBody::SIZE];
                     JoinBody{1, 40, 0, 77}.Write(body);
                     header.Seal(body, sizeof(body));
                     Ptr<Packet> packet = Create<Packet>(body, sizeof(body));
                     packet->AddHeader(header);
                     socket->Send(packet);
                 });
    Run();
    ASSERT_EQ(rounds.size(), 200U);
    EXPECT_GT(rounds.back().end, Seconds(2));
    EXPECT_EQ(rounds.back().received, 2U);
}

namespace
{

/** Let a device leave as soon as something happens to it. */
template <typename... Arguments>
void
LeaveNow(FederatedDevice* device, Arguments...)
{
    device->Leave();
}

} // namespace

TEST_F(SecondLives, ADeviceMayLeaveInAnyOfItsTraces)
{
    using Device = FederatedDevice;
    for (const std::string name : {"Joined",
                                   "ModelReceived",
                                   "TrainingStarted",
                                   "TrainingDone",
                                   "PrivacySpent",
                                   "UpdateSent"})
    {
        SCOPED_TRACE(name);
        Build(3);
        center->SetAttribute("Deadline", TimeValue(Seconds(5)));
        Device* device = PeekPointer(apps[1]);
        const auto connect = [&](const CallbackBase& sink)
        { ASSERT_TRUE(device->TraceConnectWithoutContext(name, sink)); };
        if (name == "Joined")
        {
            connect(MakeBoundCallback(&LeaveNow<uint32_t>, device));
        }
        else if (name == "ModelReceived")
        {
            connect(MakeBoundCallback(&LeaveNow<uint32_t, uint32_t, bool>, device));
        }
        else if (name == "TrainingStarted")
        {
            connect(MakeBoundCallback(&LeaveNow<const Device::TrainingPlan&>, device));
        }
        else if (name == "TrainingDone")
        {
            connect(MakeBoundCallback(&LeaveNow<const Device::TrainingRecord&>, device));
        }
        else if (name == "PrivacySpent")
        {
            connect(MakeBoundCallback(&LeaveNow<uint32_t, const PrivacyLedger&>, device));
        }
        else
        {
            connect(MakeBoundCallback(&LeaveNow<const Device::SentRecord&>, device));
        }
        Run();
        ASSERT_EQ(rounds.size(), 3U);
        EXPECT_EQ(rounds.back().received, 2U);
        EXPECT_EQ(center->GetJoined(), 2U);
        EXPECT_FALSE(device->HasJoined());
    }
}

TEST_F(SecondLives, AnOverheardGrantIsOldWhenItsRoundIsOver)
{
    BuildWithFakeCenter();
    ScheduleCall(MilliSeconds(50), [&]() { fake->Grant(1, 1, MilliSeconds(400)); });
    ScheduleCall(MilliSeconds(500), [&]() { fake->Grant(5, 2, MilliSeconds(900)); });
    ScheduleCall(MilliSeconds(600), [&]() { fake->Grant(1, 1, MilliSeconds(400)); });
    ScheduleCall(Seconds(1), [&]() { fake->Grant(1, 1, MilliSeconds(400)); });
    Simulator::Stop(Seconds(2));
    Run();
    EXPECT_EQ(apps[0]->GetDropped(DROP_OLD), 2U);
    EXPECT_EQ(fake->Count(FederatedHeader::JOIN), 1U);
}

TEST_F(SecondLives, ADeviceThatHearsNothingForLongJoinsAgain)
{
    BuildWithFakeCenter();
    apps[0]->SetAttribute("CenterTimeout", TimeValue(Seconds(10)));
    Simulator::Stop(Seconds(35));
    Run();
    EXPECT_GE(fake->Count(FederatedHeader::JOIN), 3U); // after 10 to 15 s each
    EXPECT_LE(fake->Count(FederatedHeader::JOIN), 4U);
    for (const FederatedHeader& header : fake->received[FederatedHeader::JOIN])
    {
        EXPECT_EQ(header.payloadLength, JoinBody::SIZE);
    }
}

TEST_F(SecondLives, NoCenterGetsUpdatesThatRevealMoreThanTheDeviceClaims)
{
    // With 4 bits an epsilon of 4.13 a coordinate, with 2 bits 4.64, by other levels.
    const std::string noisy = "ns3::LaplaceQuantizer[Epsilon=4|Sensitivity=2]";
    for (const std::string& quantizer : {noisy, std::string("ns3::DpStochasticQuantizer")})
    {
        BuildWithFakeCenter();
        apps[0]->SetAttribute("Quantizer", StringValue(quantizer));
        apps[0]->SetAttribute("IntervalRule", StringValue("ns3::FixedInterval[Low=-1|High=1]"));
        apps[0]->SetAttribute("ClipNorm", StringValue("l1"));
        apps[0]->SetAttribute("ClipBound", DoubleValue(1));
        apps[0]->SetAttribute("Bits", UintegerValue(2));
        const double withFewer = apps[0]->GetPrivacyClaim().epsilon;
        apps[0]->SetAttribute("Bits", UintegerValue(4));
        const bool isWeaker = withFewer > apps[0]->GetPrivacyClaim().epsilon;
        EXPECT_EQ(isWeaker, quantizer == noisy) << withFewer;
        ScheduleCall(MilliSeconds(50), [this]() { fake->Grant(1, 1, Seconds(5), 2); });
        ScheduleCall(MilliSeconds(55), [this]() { fake->Model(1); });
        ScheduleCall(MilliSeconds(200), [this]() { fake->Grant(2, 2, Seconds(5), 4); });
        ScheduleCall(MilliSeconds(205), [this]() { fake->Model(2); });
        Simulator::Stop(Seconds(2));
        Run();
        EXPECT_EQ(apps[0]->GetDropped(DROP_INVALID), isWeaker ? 1U : 0U);
        EXPECT_EQ(sent.size(), isWeaker ? 1U : 2U);
    }
}

TEST_F(SecondLives, AnIdentityIsThatOfTheLedgerAsLongAsTheDeviceRuns)
{
    Build(2);
    center->SetAttribute("Rounds", UintegerValue(4));
    std::vector<uint32_t> shares;
    ScheduleCall(MilliSeconds(1),
                 [this, &shares]()
                 {
                     apps[0]->SetAttribute("Share", UintegerValue(1));
                     shares.push_back(apps[0]->GetShare());
                 });
    Run();
    EXPECT_EQ(rounds.size(), 4U);
    EXPECT_EQ(shares, std::vector<uint32_t>{0}) << "else its updates would be those of device 1";
    EXPECT_EQ(apps[0]->GetShare(), 0U);
    EXPECT_EQ(apps[0]->GetPrivacyLedger().GetAnswers(), 4U);
    EXPECT_EQ(apps[1]->GetPrivacyLedger().GetAnswers(), 4U) << "its own";
    apps[0]->Leave();
    Run();
    EXPECT_EQ(apps[0]->GetShare(), 1U) << "from its next life on";
}

TEST_F(SecondLives, APageForOthersDoesNotSayThatTheCenterKnowsADevice)
{
    for (const uint32_t named : {0, 7})
    {
        BuildWithFakeCenter();
        apps[0]->SetAttribute("CenterTimeout", TimeValue(Seconds(10)));
        for (uint32_t i = 1; i < 35; ++i) // it may have restarted, and have forgotten the device
        {
            ScheduleCall(Seconds(i),
                         [this, i, named]() { fake->Page(i, i, Seconds(i + 1), named); });
        }
        // An old one:
        ScheduleCall(Seconds(35), [this, named]() { fake->Page(1, 1, Seconds(2), named); });
        Simulator::Stop(Seconds(36));
        Run();
        EXPECT_GE(fake->Count(FederatedHeader::JOIN), named == 0 ? 1U : 3U);
        EXPECT_LE(fake->Count(FederatedHeader::JOIN), named == 0 ? 1U : 4U);
        EXPECT_EQ(apps[0]->GetDropped(DROP_OLD), 1U);
    }
}

TEST_F(SecondLives, DevicesStopTryingIfTheirCenterDoesNotReturn)
{
    for (const char* protocol : {"ns3::UdpSocketFactory", "ns3::TcpSocketFactory"})
    {
        Build(2);
        SetForAll("Protocol", TypeIdValue(TypeId::LookupByName(protocol)));
        center->SetStopTime(Seconds(5));
        Run(); // ends: JOINs and connections after the center's farewell are limited
        EXPECT_EQ(rounds.size(), 3U);
        EXPECT_FALSE(apps[0]->HasJoined());
        EXPECT_GT(Simulator::Now(), Seconds(60));
    }
}

TEST_F(SecondLives, AStoppedDeviceLeavesAndCostsNoLaterRoundItsRetries)
{
    Build(3);
    center->SetAttribute("Deadline", TimeValue(Seconds(20)));
    SetForDevices("TimePerSample", StringValue("ns3::ConstantRandomVariable[Constant=0.001]"));
    apps[2]->SetStopTime(MilliSeconds(60)); // it trains until 100 ms
    // Its first two LEAVEs are lost.
    auto loss = CreateObject<ReceiveListErrorModel>();
    loss->SetList({3, 4}); // after JOIN, the ACK of its grant
    SetLoss(GetCenterEnd(2), loss);
    Run();
    ASSERT_EQ(rounds.size(), 3U);
    EXPECT_EQ(rounds[0].links[2].state, PARTICIPANT_LEFT);
    EXPECT_EQ(rounds[1].selected, 2U);
    EXPECT_LT(rounds[2].end, Seconds(2)) << "no round waits for it";
    EXPECT_EQ(center->GetJoined(), 2U);
    EXPECT_FALSE(apps[2]->HasJoined());
}

TEST_F(SecondLives, ARoundWithoutDevicesEndsWhenSomeJoin)
{
    Build(2);
    center->SetAttribute("Deadline", TimeValue(Seconds(100)));
    center->SetAttribute("JoinTimeout", TimeValue(MilliSeconds(100)));
    apps[0]->SetStartTime(Seconds(3));
    apps[1]->SetStartTime(Seconds(3.01));
    Run();
    ASSERT_EQ(rounds.size(), 3U);
    EXPECT_TRUE(rounds[0].skipped);
    EXPECT_EQ(rounds[0].joined, 0U) << "when it began";
    EXPECT_LT(rounds[0].end, Seconds(3.1));
    EXPECT_EQ(rounds[1].joined, 2U);
    EXPECT_EQ(rounds[1].received, 2U) << "those that join together take part together";
    EXPECT_LT(rounds[2].end, Seconds(10));
}

TEST_F(SecondLives, MessagesOfOtherRevisionsAreDroppedAndCounted)
{
    for (const char* key : {"", "a key"})
    {
        if (*key && !HasProtection())
        {
            continue;
        }
        Build(1);
        SetKey(key);
        const auto socket = Socket::CreateSocket(nodes.Get(1), UdpSocketFactory::GetTypeId());
        socket->Bind();
        socket->Connect(remotes[0]);
        const auto send = [&](uint8_t version, uint8_t type)
        {
            FederatedHeader header;
            header.type = static_cast<FederatedHeader::Type>(type);
            std::vector<uint8_t> bytes(FederatedHeader::FIXED_SIZE);
            header.Write(bytes.data());
            bytes[2] = version;
            WriteBigEndian32(Crc32c(bytes.data(), bytes.size()), bytes.data() + 40);
            socket->Send(Create<Packet>(bytes.data(), static_cast<uint32_t>(bytes.size())));
        };
        ScheduleCall(MilliSeconds(50), [&]() { send(1, FederatedHeader::JOIN); });
        ScheduleCall(MilliSeconds(50), [&]() { send(FederatedHeader::VERSION, 100); });
        Run();
        EXPECT_EQ(center->GetDropped(DROP_VERSION), 1U);
        EXPECT_EQ(center->GetDropped(*key ? DROP_UNAUTHENTIC : DROP_UNEXPECTED), 1U);
        EXPECT_EQ(rounds.back().received, 1U);
    }
}

TEST_F(SecondLives, BatteryLevelsReachTheCenter)
{
    Build(2);
    apps[0]->SetBattery([]() { return 0.75; });
    Run();
    uint32_t known = 0;
    for (const RoundRecord& round : rounds)
    {
        // The DONE of the device that answers last may be received after the end of the round.
        known += round.links[0].sentKnown;
        EXPECT_TRUE(round.links[0].battery == 0.75 || !round.links[0].sentKnown);
        EXPECT_TRUE(std::isnan(round.links[1].battery));
    }
    EXPECT_GT(known, 0U);
}

namespace
{

/** Keep a socket that was accepted, and read nothing. */
void
Keep(Ptr<Socket>* kept, Ptr<Socket> socket, const Address&)
{
    *kept = socket;
}

} // namespace

TEST_F(SecondLives, MessagesToAPeerThatDoesNotReadWaitOnlyUpToALimit)
{
    Build(1);
    center->SetStartTime(Hours(1));
    apps[0]->SetStartTime(Hours(1));
    Ptr<Socket> kept;
    const auto server = Socket::CreateSocket(nodes.Get(0), TcpSocketFactory::GetTypeId());
    server->Bind(InetSocketAddress(Ipv4Address::GetAny(), 77));
    server->Listen();
    server->SetAcceptCallback(MakeNullCallback<bool, Ptr<Socket>, const Address&>(),
                              MakeBoundCallback(&Keep, &kept));
    const auto client = Socket::CreateSocket(nodes.Get(1), TcpSocketFactory::GetTypeId());
    client->Bind();
    SocketAddress place(remotes[0]);
    place.port = 77;
    ScheduleCall(MilliSeconds(1), [&]() { client->Connect(place.Get()); });
    Ptr<MessageStream> stream;
    std::size_t most = 0;
    ScheduleCall(Seconds(1),
                 [&]()
                 {
                     stream = Create<MessageStream>(client, place);
                     stream->SetLimit(100'000);
                     const auto nobody = MakeNullCallback<void, Ptr<MessageStream>>();
                     stream->Start(
                         MakeNullCallback<void, Ptr<MessageStream>, const uint8_t*, uint32_t>(),
                         nobody,
                         nobody);
                     const auto message = Create<Packet>(1000);
                     for (int i = 0; i < 10'000; ++i)
                     {
                         stream->Send(message);
                         most = std::max(most, stream->GetWaiting());
                     }
                 });
    Simulator::Stop(Seconds(30));
    Run();
    EXPECT_EQ(most, 100U);
    stream->Close();
}

TEST_F(SecondLives, ConnectionsThatNeverJoinAreFewAndEnd)
{
    Build(2);
    SetForAll("Protocol", TypeIdValue(TcpSocketFactory::GetTypeId()));
    center->SetAttribute("Deadline", TimeValue(Seconds(2)));
    center->SetAttribute("JoinTimeout", TimeValue(MilliSeconds(500)));
    apps[1]->SetStartTime(Seconds(40)); // behind the address of the strangers
    center->SetAttribute("Rounds", UintegerValue(300));
    SetForDevices("TimePerSample", StringValue("ns3::ConstantRandomVariable[Constant=0.002]"));
    std::vector<Ptr<Socket>> strangers;
    ScheduleCall(MilliSeconds(1),
                 [&]()
                 {
                     for (int i = 0; i < 100; ++i) // at the same instant
                     {
                         strangers.push_back(
                             Socket::CreateSocket(nodes.Get(2), TcpSocketFactory::GetTypeId()));
                         strangers.back()->Bind();
                         strangers.back()->Connect(remotes[1]);
                     }
                 });
    uint64_t refused = 0;
    uint64_t ended = 0;
    ScheduleCall(Seconds(20), [&]() { refused = center->GetDropped(DROP_UNKNOWN); });
    ScheduleCall(Seconds(39), [&]() { ended = center->GetDropped(DROP_UNKNOWN) - refused; });
    Simulator::Stop(Seconds(50));
    Run();
    EXPECT_GE(refused, 84U);
    EXPECT_GE(ended, 16U) << "those that were accepted end after 30 s";
    EXPECT_TRUE(apps[1]->HasJoined()) << "a device can join from there later";
}
