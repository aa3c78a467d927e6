// SPDX-License-Identifier: GPL-2.0-only

#include "link-budget.h"

#include "ns3/boolean.h"
#include "ns3/config.h"
#include "ns3/constant-position-mobility-model.h"
#include "ns3/double.h"
#include "ns3/federated-block-fading.h"
#include "ns3/federated-header.h"
#include "ns3/federated-helper.h"
#include "ns3/federated-jakes-fading.h"
#include "ns3/federated-port.h"
#include "ns3/federated-scenario-options.h"
#include "ns3/federated-wifi-helper.h"
#include "ns3/identity-quantizer.h"
#include "ns3/inet-socket-address.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-address-helper.h"
#include "ns3/mobility-helper.h"
#include "ns3/object-factory.h"
#include "ns3/packet.h"
#include "ns3/pointer.h"
#include "ns3/propagation-loss-model.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"
#include "ns3/wifi-helper.h"
#include "ns3/wifi-mac-helper.h"
#include "ns3/yans-wifi-helper.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <vector>

using namespace ns3;

namespace
{

const double EXPONENT = 3;

/** @return the SNR in dB of a device by hand: 16 dBm, 46.68 dB at 1 m, noise figure 7 dB. */
double
GetLinkBudget(double distance, double width)
{
    return 16 - 46.6777 - EXPONENT * ToDb(distance) - GetNoise(width * 1e6, 7);
}

/** Keep when a packet is sent, in seconds. */
void
KeepTime(std::vector<double>* times, Ptr<const Packet> /* packet */, const Address& /* to */)
{
    times->push_back(Simulator::Now().GetSeconds());
}

/** Note when a part of the model was sent. */
void
NoteModel(Time* last, Ptr<const Packet> packet)
{
    FederatedHeader header;
    packet->PeekHeader(header);
    if (header.type == FederatedHeader::MODEL)
    {
        *last = Simulator::Now();
    }
}

/** Note how long after it was sent the model was received. */
void
NoteDelay(const Time* last, Time* longest, uint32_t, uint32_t, bool)
{
    *longest = std::max(*longest, Simulator::Now() - *last);
}

/** @return an attribute of an object as a text. */
std::string
GetText(const Ptr<const Object>& object, const std::string& name)
{
    StringValue text;
    object->GetAttribute(name, text);
    return text.Get();
}

/** @return a time as the text of an attribute. */
std::string
GetText(const Time& time)
{
    return TimeValue(time).SerializeToString(MakeTimeChecker());
}

} // namespace

/** @ingroup federated-tests A small cell with tiny images. */
class WifiCell : public testing::Test
{
  public:
    void SetUp() override
    {
        Reset(1);
    }

    void TearDown() override
    {
        Reset(1);
    }

    /** Forget everything. */
    void Reset(uint64_t run)
    {
        m_records.clear();
        m_places.clear();
        m_federation.reset();
        m_wifi.reset();
        Simulator::Destroy();
        RngSeedManager::SetSeed(1);
        RngSeedManager::SetRun(run);
    }

    /** Make nodes on a line, and a cell that is not installed. */
    void Begin(const std::vector<double>& distances, const std::string& mode, uint64_t run = 1)
    {
        Reset(run);
        m_wifi = std::make_unique<FederatedWifiHelper>();
        m_wifi->SetMode(mode);
        m_wifi->SetExponent(EXPONENT);
        m_federation = std::make_unique<FederatedHelper>();
        m_nodes = NodeContainer(static_cast<uint32_t>(distances.size()));
        m_accessPoint = CreateObject<Node>();
        m_accessPoint->AggregateObject(CreateObject<ConstantPositionMobilityModel>());
        for (uint32_t i = 0; i < m_nodes.GetN(); ++i)
        {
            m_places.push_back(CreateObject<ConstantPositionMobilityModel>());
            MoveTo(i, distances[i]);
        }
        m_federation->AddGroup(m_nodes, 4);
        m_federation->SetData(FederatedData::MakeSynthetic(1, 400, 50, 28, 28, 10));
        m_federation->SetTaskAttribute("Model", StringValue("ns3::LogisticModel"));
        m_federation->SetTaskAttribute("Threads", UintegerValue(1));
        m_federation->SetCenterAttribute("BitBudget", StringValue("ns3::FixedBitBudget[Bits=99]"));
        m_federation->SetCenterAttribute("Participants", UintegerValue(m_nodes.GetN()));
        m_federation->SetCenterAttribute("Rounds", UintegerValue(3));
        m_federation->SetCenterAttribute("Deadline", StringValue("1s"));
    }

    /** Let training take a while, so that there are fewer rounds. */
    void TrainLong()
    {
        m_federation->SetDeviceAttribute(
            "TimePerSample", StringValue("ns3::ConstantRandomVariable[Constant=0.003]"));
    }

    /** Install what Begin() made. */
    void Install()
    {
        for (uint32_t i = 0; i < m_nodes.GetN(); ++i)
        {
            if (!m_nodes.Get(i)->GetObject<MobilityModel>())
            {
                m_nodes.Get(i)->AggregateObject(m_places[i]);
            }
        }
        m_wifi->Install(*m_federation, m_accessPoint);
        m_federation->GetCenter()->TraceConnectWithoutContext(
            "RoundEnd", MakeCallback(&WifiCell::AddRecord, this));
        m_federation->StopWhenFinished();
    }

    /** Put a device somewhere. */
    void MoveTo(uint32_t device, double distance)
    {
        m_places[device]->SetPosition(Vector(distance, 0, 0));
    }

    /** @param record A round. */
    void AddRecord(const RoundRecord& record)
    {
        m_records.push_back(record);
    }

    /** Trace sink of Sleeping. */
    void NoteSleeping(uint32_t device, bool sleeping)
    {
        if (!sleeping)
        {
            m_lastWake[device] = Simulator::Now();
        }
    }

    /** @return the state of a device in the rounds that lie within a time. */
    std::vector<ParticipantState> GetStates(uint32_t device, const Time& from, const Time& to) const
    {
        std::vector<ParticipantState> states;
        for (const RoundRecord& record : m_records)
        {
            if (record.start >= from && record.end <= to)
            {
                states.push_back(record.links.at(device).state);
            }
        }
        return states;
    }

    /** @return all that a run made, as a text. */
    std::string Print() const
    {
        std::ostringstream text;
        text << std::hexfloat;
        for (const RoundRecord& record : m_records)
        {
            text << record.end.GetTimeStep() << ' ' << record.trainLoss << ' ' << record.bitBudget
                 << ' ' << record.meanRate << ' ' << record.deliveredBits << ' ' << record.meanSnr;
            for (const LinkRecord& link : record.links)
            {
                text << ' ' << link.device << ' ' << link.state << ' ' << link.snr << ' '
                     << link.framesOk << ' ' << link.framesFailed << ' ' << link.sigma << ' '
                     << link.weight << ' ' << link.lastReceived.GetTimeStep();
            }
            text << '\n';
        }
        for (float coordinate : m_federation->GetCenter()->GetModel())
        {
            text << coordinate << ' ';
        }
        return text.str();
    }

    std::unique_ptr<FederatedWifiHelper> m_wifi;
    std::unique_ptr<FederatedHelper> m_federation;
    NodeContainer m_nodes;
    Ptr<Node> m_accessPoint;
    std::vector<Ptr<ConstantPositionMobilityModel>> m_places;
    std::vector<RoundRecord> m_records;
    std::map<uint32_t, Time> m_lastWake;
};

TEST_F(WifiCell, RotatedUpdatesAreSentWhole)
{
    for (const char* mode : {"adhoc", "infrastructure"})
    {
        Begin({10, 12, 14}, mode);
        m_federation->SetRotation(true);
        m_federation->SetCenterAttribute("BitBudget", StringValue("ns3::MeasuredBitBudget"));
        Install();
        Simulator::Run();
        ASSERT_EQ(m_records.size(), 3U) << mode;
        for (const RoundRecord& record : m_records)
        {
            EXPECT_GE(record.received, 2U) << mode;
            EXPECT_FALSE(record.skipped);
            EXPECT_EQ(record.links.at(0).coordinates, 8192U) << mode; // of 7850
            EXPECT_GT(record.bitBudget, 8);
        }
        EXPECT_EQ(m_federation->GetCenter()->GetDropped(DROP_INVALID), 0U);
    }
}

TEST_F(WifiCell, WhoWalksOutOfRangeIsLostAndComesBackWhileTheOthersGoOn)
{
    for (const char* mode : {"adhoc", "infrastructure"})
    {
        // For less than a round, and for some of them.
        for (double away : {0.95, 4.0})
        {
            const Time leaves = Seconds(2.5);
            const Time returns = leaves + Seconds(away);
            Begin({10, 12, 14}, mode);
            TrainLong();
            m_federation->SetCenterAttribute("Rounds", UintegerValue(1000));
            m_federation->SetCenterAttribute("EvaluationInterval", UintegerValue(0));
            Install();
            Simulator::Schedule(leaves, &WifiCell::MoveTo, this, 1, 1e5);
            Simulator::Schedule(returns, &WifiCell::MoveTo, this, 1, 12);
            Simulator::Stop(returns + Seconds(5));
            Simulator::Run();
            const std::string what = std::string(mode) + " " + std::to_string(away);
            const auto before = GetStates(1, Time(0), leaves);
            EXPECT_EQ(std::count(before.begin(), before.end(), PARTICIPANT_COMPLETE),
                      static_cast<std::ptrdiff_t>(before.size()))
                << what;
            EXPECT_FALSE(before.empty());
            for (ParticipantState state : GetStates(1, leaves, returns))
            {
                EXPECT_EQ(state, PARTICIPANT_UNREACHABLE) << what;
            }
            // The round in which it left, or the next.
            const auto around =
                GetStates(1, leaves - Seconds(1), std::max(returns, leaves + Seconds(1)));
            EXPECT_GT(std::count_if(around.begin(),
                                    around.end(),
                                    [](ParticipantState state)
                                    {
                                        return state == PARTICIPANT_SILENT ||
                                               state == PARTICIPANT_LOST ||
                                               state == PARTICIPANT_UNREACHABLE;
                                    }),
                      0)
                << what;
            const auto after = GetStates(1, returns + Seconds(2), Simulator::Now());
            EXPECT_GE(after.size(), 3U);
            EXPECT_EQ(std::count(after.begin(), after.end(), PARTICIPANT_COMPLETE),
                      static_cast<std::ptrdiff_t>(after.size()))
                << what;
            for (const RoundRecord& record : m_records)
            {
                EXPECT_EQ(record.links[0].state, PARTICIPANT_COMPLETE) << what << record.start;
                EXPECT_EQ(record.links[2].state, PARTICIPANT_COMPLETE) << what << record.start;
            }
        }
    }
}

TEST_F(WifiCell, WhereStationsAreHardlyHeardTheRunGoesOn)
{
    // The access point has ten times the power of a station: far ones get data and cannot
    // acknowledge them.
    Begin({10, 12, 14, 16, 18, 20, 125, 130, 135, 140}, "infrastructure");
    TrainLong();
    m_federation->SetCenterAttribute("Rounds", UintegerValue(30));
    m_federation->SetCenterAttribute("EvaluationInterval", UintegerValue(0));
    Install();
    Simulator::Run();
    ASSERT_EQ(m_records.size(), 30U);
    uint32_t nearComplete = 0;
    uint32_t farComplete = 0;
    for (const RoundRecord& record : m_records)
    {
        for (const LinkRecord& link : record.links)
        {
            const bool isComplete = link.state == PARTICIPANT_COMPLETE;
            nearComplete += isComplete && link.device < 6;
            farComplete += isComplete && link.device >= 6;
        }
    }
    // Near ones wait while frames of and to the others are repeated, but the cell lives.
    EXPECT_GT(nearComplete, 30 / 2U);
    EXPECT_LT(farComplete, 4 * 30U);
}

TEST_F(WifiCell, LearnsWithTheCenterInTheAccessPointAndBehindIt)
{
    const std::vector<double> distances{5, 10, 20, 30};
    for (const char* mode : {"adhoc", "infrastructure", "wire"})
    {
        const bool isWired = mode == std::string("wire");
        Begin(distances, isWired ? "infrastructure" : mode);
        m_wifi->SetCenterOnWire(isWired);
        m_federation->SetCenterAttribute("Rounds", UintegerValue(5));
        Install();
        EXPECT_EQ(m_wifi->GetCenter() == m_accessPoint, !isWired);
        Simulator::Run();
        ASSERT_EQ(m_records.size(), 5U) << mode;
        EXPECT_LT(m_records.back().trainLoss, m_records.front().trainLoss) << mode;
        for (const RoundRecord& record : m_records)
        {
            EXPECT_EQ(record.received, 4U) << mode;
            for (const LinkRecord& link : record.links)
            {
                EXPECT_EQ(link.state, PARTICIPANT_COMPLETE) << mode;
                EXPECT_NEAR(ToDb(link.snr), GetLinkBudget(distances[link.device], 20), 0.5)
                    << mode << ", device " << link.device;
                EXPECT_GT(link.framesOk, 0);
                EXPECT_GT(link.rate, 0);
            }
        }
    }
}

TEST_F(WifiCell, TheMeasuredBudgetScalesWithTheRateOfTheChannel)
{
    const double dimension = 7850;
    for (const char* mode : {"adhoc", "infrastructure"})
    {
        std::vector<double> rates;
        for (uint16_t width : {20, 40})
        {
            Begin({10, 10, 10}, mode);
            m_wifi->SetWidth(width);
            // Slots in which what is sent counts, not the time between them.
            m_federation->SetQuantizer(CreateObject<IdentityQuantizer>());
            m_federation->SetCenterAttribute("Guard", StringValue("500us"));
            m_federation->SetCenterAttribute("BitBudget", StringValue("ns3::MeasuredBitBudget"));
            m_federation->SetCenterAttribute("Rounds", UintegerValue(6));
            Install();
            Simulator::Run();
            ASSERT_EQ(m_records.size(), 6U);
            const RoundRecord& last = m_records.back();
            EXPECT_GT(last.uplinkSeconds, 0.5);
            EXPECT_LT(last.uplinkSeconds, 1);
            EXPECT_NEAR(last.bitBudget * dimension / last.uplinkSeconds / last.meanRate, 1, 1e-6);
            EXPECT_EQ(last.received, 3U);
            for (const RoundRecord& record : m_records)
            {
                EXPECT_LE(record.deliveredBits, record.grantedBits);
                // Frames of an ad hoc cell are not repeated: the first one of a slot may collide
                // with the center's answer to the device before.
                const double lost = record.grantedBits - record.deliveredBits;
                EXPECT_LE(lost * dimension, mode == std::string("adhoc") ? 2 * 8 * 1400 : 0);
            }
            EXPECT_NEAR(ToDb(last.meanSnr), GetLinkBudget(10, width), 0.5);
            rates.push_back(last.meanRate);
        }
        EXPECT_GT(rates[1], 1.1 * rates[0]) << mode;
        EXPECT_LT(rates[1], 108.0 / 52 * rates[0]) << mode << ": more than the physical layer";
    }
}

TEST_F(WifiCell, WhereTheBudgetBindsWhatIsGrantedIsDelivered)
{
    for (const char* mode : {"adhoc", "infrastructure"})
    {
        Begin(std::vector<double>(14, 10), mode);
        m_federation->SetQuantizer(CreateObject<IdentityQuantizer>()); // 251 kbit each
        m_wifi->SetMcs(0);
        m_wifi->SetRateManager("ns3::ConstantRateWifiManager"); // with 6 Mbit/s
        m_federation->SetCenterAttribute("BitBudget", StringValue("ns3::MeasuredBitBudget"));
        m_federation->SetCenterAttribute("Deadline", StringValue("800ms"));
        m_federation->SetCenterAttribute("Rounds", UintegerValue(6));
        m_federation->SetCenterAttribute("EvaluationInterval", UintegerValue(0));
        Install();
        Simulator::Run();
        ASSERT_EQ(m_records.size(), 6U);
        double granted = 0;
        double delivered = 0;
        for (const RoundRecord& record : m_records)
        {
            EXPECT_EQ(record.joined, 14U);
            EXPECT_LT(record.selected, 14U) << mode;
            EXPECT_GT(record.selected, 3U) << mode;
            EXPECT_EQ(record.grantedBits, 32.0 * record.selected);
            EXPECT_LE(record.grantedBits, record.bitBudget);
            EXPECT_GT(record.grantedBits, record.bitBudget - 32) << "all slots are full";
            granted += record.grantedBits;
            delivered += record.deliveredBits;
        }
        EXPECT_GT(delivered, 0.9 * granted) << mode;
    }
}

TEST_F(WifiCell, EqualRunsAreEqualAndOthersAreNot)
{
    for (const char* mode : {"adhoc", "infrastructure"})
    {
        std::vector<std::string> texts;
        for (uint64_t run : {1, 1, 2})
        {
            Begin(std::vector<double>(4, 0), mode, run);
            m_wifi->SetFading(1);
            m_federation->SetCenterAttribute("LinkNoise", StringValue("ns3::SnrLinkNoise"));
            FederatedScenarioOptions options;
            options.radius = 30;
            options.speed = 20;
            m_accessPoint = CreateObject<Node>();
            options.Place(m_nodes, m_accessPoint);
            Install();
            Simulator::Run();
            ASSERT_EQ(m_records.size(), 3U);
            texts.push_back(Print());
        }
        EXPECT_TRUE(texts[0] == texts[1]) << mode;
        EXPECT_FALSE(texts[0] == texts[2]) << mode;
    }
}

TEST_F(WifiCell, TheCenterSendsTheModelNoFasterThanItsRadioWhateverTheSizeOfMessages)
{
    for (const uint32_t bytes : {300U, 1400U})
    {
        Begin({5, 10}, "adhoc");
        m_federation->SetCenterAttribute("FragmentSize", UintegerValue(bytes));
        m_federation->SetCenterAttribute("Rounds", UintegerValue(1));
        Install();
        Time last;                // when the center sent the last fragment
        const Time* sent = &last; // ns-3 wants the very types of the function
        Time longest;
        m_federation->GetCenter()->TraceConnectWithoutContext("Tx",
                                                              MakeBoundCallback(&NoteModel, &last));
        for (const auto& device : m_federation->GetDevices())
        {
            device->TraceConnectWithoutContext("ModelReceived",
                                               MakeBoundCallback(&NoteDelay, sent, &longest));
        }
        Simulator::Run();
        ASSERT_EQ(m_records.size(), 1U);
        EXPECT_GT(longest, Time(0));
        EXPECT_LT(longest, MilliSeconds(5)) << "the model does not wait in the queue of the radio";
    }
}

TEST_F(WifiCell, TheNoiseOfTheSnrIsLargerForFartherDevices)
{
    for (const char* mode : {"adhoc", "infrastructure"})
    {
        Begin({5, 10, 20, 30}, mode); // 5 dB or more from one to the next
        m_federation->SetCenterAttribute("LinkNoise", StringValue("ns3::SnrLinkNoise"));
        Install();
        Simulator::Run();
        ASSERT_EQ(m_records.size(), 3U);
        for (const RoundRecord& record : m_records)
        {
            for (std::size_t i = 0; i < 4; ++i)
            {
                EXPECT_TRUE(std::isfinite(record.links[i].sigma)) << mode;
                EXPECT_GT(record.links[i].sigma, i == 0 ? 0 : record.links[i - 1].sigma) << mode;
            }
        }
    }
}

TEST_F(WifiCell, OneCallInstallsRadiosAddressesAndApplications)
{
    for (const char* mode : {"adhoc", "infrastructure"})
    {
        Begin({10, 12}, mode);
        for (uint32_t i = 0; i < m_nodes.GetN(); ++i)
        {
            m_nodes.Get(i)->AggregateObject(m_places[i]);
        }
        const auto applications = m_wifi->Install(*m_federation, m_accessPoint);
        ASSERT_EQ(applications.GetN(), 3U);
        EXPECT_EQ(applications.Get(0), m_federation->GetCenter());
        EXPECT_EQ(applications.Get(0)->GetNode(), m_wifi->GetCenter());
        EXPECT_EQ(applications.Get(2)->GetNode(), m_nodes.Get(1));
        EXPECT_EQ(GetText(applications.Get(0), "MeasuredSlots"), "true");
        EXPECT_EQ(GetText(applications.Get(0), "Downlink"),
                  mode == std::string("adhoc") ? "group" : "multicast");
        EXPECT_EQ(GetText(applications.Get(1), "RepairDelay"), GetText(MilliSeconds(20)));
        PointerValue probe;
        applications.Get(0)->GetAttribute("Probe", probe);
        EXPECT_EQ(probe.GetObject(), m_wifi->GetProbe());
        EXPECT_DEATH(m_wifi->Install(*m_federation, m_accessPoint), "a cell is installed once");
    }
}

TEST_F(WifiCell, WhatTheScriptSetsWinsOverTheCell)
{
    for (const char* mode : {"adhoc", "infrastructure"})
    {
        Begin({10, 12}, mode);
        m_federation->SetCenterAttribute("DownlinkRate", StringValue("3Mbps"));
        m_federation->SetCenterAttribute("MeasuredSlots", BooleanValue(false));
        m_federation->SetCenterAttribute("JoinTimeout", TimeValue(Seconds(3)));
        m_federation->SetDeviceAttribute("RepairDelay", TimeValue(MilliSeconds(7)));
        m_federation->SetJoinSpacing(MilliSeconds(100));
        m_federation->SetEnrolled(false); // devices join over the air
        const auto probe = CreateObject<WifiLinkProbe>();
        m_federation->SetProbe(probe);
        Install();
        const Ptr<Object> center = m_federation->GetCenter();
        const Ptr<Object> device = m_federation->GetDevices()[1];
        EXPECT_EQ(GetText(center, "DownlinkRate"), "3000000bps") << mode;
        EXPECT_EQ(GetText(center, "MeasuredSlots"), "false") << mode;
        EXPECT_EQ(GetText(center, "JoinTimeout"), GetText(Seconds(3))) << mode;
        EXPECT_EQ(GetText(device, "RepairDelay"), GetText(MilliSeconds(7))) << mode;
        EXPECT_EQ(GetText(device, "StartTime"), GetText(MilliSeconds(100))) << mode;
        EXPECT_EQ(GetText(device, "Enrolled"), "false") << mode;
        PointerValue used;
        center->GetAttribute("Probe", used);
        EXPECT_EQ(used.GetObject(), probe) << mode;
        Simulator::Run();
        EXPECT_EQ(m_records.back().received, 2U) << mode;
    }
}

TEST_F(WifiCell, AGroupOfTheScriptWinsOverThatOfTheCell)
{
    for (const char* mode : {"adhoc", "infrastructure"})
    {
        Begin({10, 12}, mode);
        m_federation->SetGroupAddress(Ipv4Address("10.1.255.255"), 5555);
        Install();
        EXPECT_EQ(GetText(m_federation->GetCenter(), "Downlink"), "group") << mode;
        AddressValue group;
        m_federation->GetCenter()->GetAttribute("MulticastGroup", group);
        EXPECT_EQ(InetSocketAddress::ConvertFrom(group.Get()).GetPort(), 5555) << mode;
        Simulator::Run();
        EXPECT_EQ(m_records.back().received, 2U) << mode;
    }
}

TEST_F(WifiCell, RadiosThatSleepChangeNothingButTheTimeToWake)
{
    std::vector<float> model;
    Time awakeEnd;
    for (const char* sleep : {"none", "wake"})
    {
        Begin({10, 12, 14, 16, 18, 20, 22, 24}, "adhoc");
        m_wifi->SetSleep(sleep);
        m_federation->SetCenterAttribute("Participants", UintegerValue(2));
        Install();
        Simulator::Run();
        ASSERT_EQ(m_records.size(), 3U) << sleep;
        for (const RoundRecord& record : m_records)
        {
            EXPECT_EQ(record.received, 2U) << sleep;
        }
        if (!m_wifi->GetSleep())
        {
            model = m_federation->GetCenter()->GetModel();
            awakeEnd = m_records.back().end;
            continue;
        }
        EXPECT_EQ(m_federation->GetCenter()->GetModel(), model);
        // Three rounds with 7 ms from the selection to the first grant; waits for the air differ.
        EXPECT_NEAR((m_records.back().end - awakeEnd).GetSeconds(), 0.021, 0.004);
        // Two of eight are awake, and none during the time to wake.
        const double share = m_wifi->GetSleep()->GetAwakeSeconds() / Simulator::Now().GetSeconds();
        EXPECT_GT(share, 0.02);
        EXPECT_LT(share, 0.25);
    }
}

TEST_F(WifiCell, LeavingTheChannelAndMerelySleepingGiveEqualRounds)
{
    for (const char* mode : {"adhoc", "infrastructure"})
    {
        std::vector<std::string> results;
        for (const uint32_t sleepers : {0, 1000})
        {
            Config::SetDefault("ns3::FederatedWifiSleep::MaxSleepers", UintegerValue(sleepers));
            Begin({10, 12, 14, 16, 18, 20, 22, 24}, mode);
            m_wifi->SetSleep("wake");
            m_federation->SetCenterAttribute("Participants", UintegerValue(3));
            Install();
            Simulator::Run();
            ASSERT_EQ(m_records.size(), 3U) << mode;
            EXPECT_EQ(m_records.back().joined, 8U) << mode;
            EXPECT_EQ(m_records.back().received, 3U) << mode;
            results.push_back(Print());
        }
        Config::SetDefault("ns3::FederatedWifiSleep::MaxSleepers", UintegerValue(32));
        EXPECT_EQ(results[0], results[1]) << mode;
    }
}

TEST_F(WifiCell, RadiosSleepAndWakeAfterTheHelperIsGone)
{
    Begin({10, 12, 14, 16}, "adhoc");
    m_wifi->SetSleep("wake");
    m_federation->SetCenterAttribute("Participants", UintegerValue(2));
    Install();
    m_wifi.reset();
    Simulator::Run();
    ASSERT_EQ(m_records.size(), 3U);
    EXPECT_EQ(m_records.back().received, 2U);
}

TEST_F(WifiCell, ADeviceThatHasStoppedIsNotWoken)
{
    Begin({10, 12, 14}, "adhoc");
    m_wifi->SetSleep("wake");
    m_federation->SetCenterAttribute("Rounds", UintegerValue(6));
    TrainLong();
    Install();
    const Time stop = MilliSeconds(1500);
    m_federation->GetDevices()[1]->SetStopTime(stop);
    m_wifi->GetSleep()->TraceConnectWithoutContext("Sleeping",
                                                   MakeCallback(&WifiCell::NoteSleeping, this));
    Simulator::Run();
    ASSERT_EQ(m_records.size(), 6U);
    EXPECT_EQ(m_records.front().received, 3U);
    EXPECT_EQ(m_records.back().received, 2U);
    EXPECT_EQ(m_wifi->GetSleep()->GetState(1), FederatedWifiSleep::ASLEEP);
    EXPECT_LT(m_lastWake.at(1), stop);
    EXPECT_GT(m_lastWake.at(0), m_records.back().start);
}

TEST(FederatedWifiHelper, SaysHowLongRadiosNeedToWake)
{
    EXPECT_EQ(FederatedWifiHelper::GetWakeTime("none"), Time(0));
    EXPECT_EQ(FederatedWifiHelper::GetWakeTime("wake"), MilliSeconds(7));
    EXPECT_EQ(FederatedWifiHelper::GetWakeTime("page"), MilliSeconds(20));
}

TEST(FederatedWifiHelperDeathTest, ThereAreTwoWaysToSleep)
{
    EXPECT_DEATH(FederatedWifiHelper().SetSleep("deep"), "there is no sleep 'deep'");
}

TEST(FederatedWifiHelper, ReadsFading)
{
    ObjectFactory fading;
    EXPECT_TRUE(FederatedWifiHelper::ReadFading("none", fading));
    EXPECT_FALSE(fading.IsTypeIdSet());
    for (const auto& [text, shape] : std::map<std::string, double>{
             {"rayleigh", 1}, {"nakagami:0.5", 0.5}, {"nakagami:3", 3}, {"nakagami:1000", 1000}})
    {
        EXPECT_TRUE(FederatedWifiHelper::ReadFading(text, fading)) << text;
        EXPECT_EQ(fading.GetTypeId(), NakagamiPropagationLossModel::GetTypeId());
        DoubleValue m;
        fading.Create()->GetAttribute("m2", m);
        EXPECT_EQ(m.Get(), shape) << text;
    }
    for (const auto& [text, values] : std::map<std::string, std::pair<double, double>>{
             {"block:1,5", {1, 5}}, {"block:0.5,0", {0.5, 0}}, {"block:3,1e6", {3, 1e6}}})
    {
        EXPECT_TRUE(FederatedWifiHelper::ReadFading(text, fading)) << text;
        EXPECT_EQ(fading.GetTypeId(), FederatedBlockFading::GetTypeId());
        DoubleValue value;
        const auto model = fading.Create();
        model->GetAttribute("Shape", value);
        EXPECT_EQ(value.Get(), values.first) << text;
        model->GetAttribute("Doppler", value);
        EXPECT_EQ(value.Get(), values.second) << text;
    }
    EXPECT_TRUE(FederatedWifiHelper::ReadFading("jakes:5", fading));
    EXPECT_EQ(fading.GetTypeId(), FederatedJakesFading::GetTypeId());
    DoubleValue doppler;
    fading.Create()->GetAttribute("Doppler", doppler);
    EXPECT_EQ(doppler.Get(), 5);
    for (const char* text : {"",
                             "None",
                             "rayleigh ",
                             "nakagami",
                             "nakagami:",
                             "nakagami:0.4",
                             "nakagami:1001",
                             "nakagami:-1",
                             "nakagami:2x",
                             "nakagami: 2",
                             "nakagami:nan",
                             "nakagami:inf",
                             "nakagami:1,5",
                             "rice:2",
                             "block",
                             "block:",
                             "jakes",
                             "jakes:",
                             "jakes:1,5",
                             "jakes:-1",
                             "jakes:2e6",
                             "block:1",
                             "block:1,",
                             "block:1,5,",
                             "block:1,5,6",
                             "block:0.4,5",
                             "block:1001,5",
                             "block:1,-1",
                             "block:1,2e6",
                             "block:1,nan",
                             "block:1,5Hz",
                             "block: 1,5",
                             "Block:1,5"})
    {
        EXPECT_FALSE(FederatedWifiHelper::ReadFading(text, fading)) << text;
    }
}

TEST(FederatedWifiHelper, ReadsShadowing)
{
    double sigma = -1;
    double distance = -1;
    EXPECT_TRUE(FederatedWifiHelper::ReadShadowing("none", sigma, distance));
    EXPECT_EQ(sigma, 0);
    EXPECT_TRUE(FederatedWifiHelper::ReadShadowing("4,12.5", sigma, distance));
    EXPECT_EQ(sigma, 4);
    EXPECT_EQ(distance, 12.5);
    for (const char* text :
         {"", "4", "4,", ",4", "4,0", "-1,10", "101,10", "4,1e7", "4,nan", "4,10m", "4,10,2"})
    {
        EXPECT_FALSE(FederatedWifiHelper::ReadShadowing(text, sigma, distance)) << text;
    }
}

TEST_F(WifiCell, LosesBurstsOfFramesWhileAFadeLasts)
{
    // Six devices at 40 m send fragments of 250 bytes. A burst of independent losses of
    // probability p has 1/(1 - p) fragments on average.
    const auto run = [this](const std::string& text, double& lost)
    {
        Begin(std::vector<double>(6, 40), "adhoc");
        ObjectFactory fading;
        EXPECT_TRUE(FederatedWifiHelper::ReadFading(text, fading));
        m_wifi->SetFading(fading);
        m_federation->SetCenterAttribute("FragmentSize", UintegerValue(250));
        m_federation->SetDeviceAttribute("FragmentSize", UintegerValue(250));
        m_federation->SetCenterAttribute("Rounds", UintegerValue(20));
        Install();
        Simulator::Run();
        double sent = 0;
        double received = 0;
        double bursts = 0;
        for (const RoundRecord& record : m_records)
        {
            for (const LinkRecord& link : record.links)
            {
                sent += link.sentFragments;
                received += link.receivedFragments;
                bursts += link.lostBursts;
            }
        }
        lost = 1 - received / sent;
        EXPECT_GT(sent, 1500);
        return (sent - received) / bursts;
    };
    double anew = 0;
    double lasting = 0;
    const double shortBursts = run("rayleigh", anew);
    const double longBursts = run("block:1,5", lasting); // 85 ms
    EXPECT_GT(anew, 0.1);
    EXPECT_LT(anew, 0.5);
    EXPECT_NEAR(lasting, anew, 0.12) << "on average as many are lost";
    EXPECT_NEAR(shortBursts, 1 / (1 - anew), 0.2);
    // After a lost frame the next one is lost with probability 1 - 1/burst.
    EXPECT_GT(1 - 1 / longBursts, 2 * lasting);
}

TEST_F(WifiCell, LastingFadesAndShadowsDoNotDependOnWhoElseReceives)
{
    const auto run = [this](const std::string& text, bool hasOthers)
    {
        Begin({30, 40, 50}, "adhoc");
        ObjectFactory fading;
        EXPECT_TRUE(FederatedWifiHelper::ReadFading(text, fading));
        m_wifi->SetFading(fading);
        m_wifi->SetShadowing(4, 10);
        Install();
        const NodeContainer others(3);
        for (uint32_t i = 0; i < 3; ++i)
        {
            others.Get(i)->AggregateObject(CreateObject<ConstantPositionMobilityModel>());
        }
        if (hasOthers)
        {
            m_wifi->AddListener(others.Get(0));
            // They send nothing before the end.
            m_wifi->AddBackground(NodeContainer(others.Get(1), others.Get(2)), DataRate(1));
        }
        Simulator::Run();
        std::vector<double> outcome;
        for (const RoundRecord& record : m_records)
        {
            for (const LinkRecord& link : record.links)
            {
                outcome.push_back(link.snr);
                outcome.push_back(link.receivedFragments);
            }
        }
        EXPECT_EQ(outcome.size(), 18U);
        return outcome;
    };
    EXPECT_EQ(run("block:1,5", true), run("block:1,5", false));
    EXPECT_NE(run("rayleigh", true), run("rayleigh", false)) << "drawn for one after the other";
}

TEST_F(WifiCell, OtherStationsOfTheChannelCostTimeAndAreNotCounted)
{
    for (const char* mode : {"adhoc", "infrastructure"})
    {
        double frames[2];
        Time lengths[2];
        for (const bool isBusy : {false, true})
        {
            Begin({5, 8, 10}, mode);
            // Of 210 updates of such cells collisions cost 12 with radios that are always awake and
            // 15 with those that sleep (ad hoc, where nothing is sent again): here none.
            m_wifi->SetSleep("none");
            Install();
            const NodeContainer stations(2);
            for (uint32_t i = 0; i < 2; ++i)
            {
                const auto place = CreateObject<ConstantPositionMobilityModel>();
                place->SetPosition(Vector(3, 4.0 + i, 0));
                stations.Get(i)->AggregateObject(place);
            }
            if (isBusy)
            {
                m_wifi->AddBackground(stations, DataRate("50Mbps"));
            }
            Simulator::Run();
            ASSERT_EQ(m_records.size(), 3U) << mode;
            EXPECT_EQ(m_records.back().received, 3U) << mode;
            frames[isBusy] = 0;
            for (const RoundRecord& record : m_records)
            {
                for (const LinkRecord& link : record.links)
                {
                    frames[isBusy] += link.framesOk;
                }
            }
            lengths[isBusy] = m_records.back().end;
        }
        EXPECT_GT(lengths[1], lengths[0]) << mode;
        // Frames of devices only: those of the others would be thousands.
        EXPECT_LT(frames[1], 2 * frames[0]) << mode;
        EXPECT_GT(frames[1], 0.3 * frames[0]) << mode;
    }
}

TEST_F(WifiCell, OtherStationsSendAtTheirRateAndGroupsOfThemAreIndependent)
{
    Begin({5}, "adhoc");
    m_wifi->SetSleep("none");
    m_federation->SetCenterAttribute("Rounds", UintegerValue(1000000)); // longer than this
    m_federation->SetCenterAttribute("EvaluationInterval", UintegerValue(0));
    Install();
    std::vector<std::vector<double>> times(4); // of the packets of a station, in seconds
    for (uint32_t group = 0; group < 2; ++group)
    {
        const NodeContainer stations(2);
        for (uint32_t i = 0; i < 2; ++i)
        {
            const auto place = CreateObject<ConstantPositionMobilityModel>();
            place->SetPosition(Vector(3, 4.0 + i, group));
            stations.Get(i)->AggregateObject(place);
        }
        m_wifi->AddBackground(stations, DataRate("1Mbps"));
        for (uint32_t i = 0; i < 2; ++i)
        {
            stations.Get(i)->GetApplication(0)->TraceConnectWithoutContext(
                "Tx", MakeBoundCallback(&KeepTime, &times[2 * group + i]));
        }
    }
    Simulator::Stop(Seconds(10));
    Simulator::Run();
    std::set<double> first;
    for (const auto& station : times)
    {
        // 0.5 Mbit/s in packets of 1,000 bytes: one each 16 ms.
        ASSERT_NEAR(static_cast<double>(station.size()), 10 / 0.016, 1);
        EXPECT_NEAR(station.back() - station.front(), 0.016 * (station.size() - 1), 1e-6);
        EXPECT_LT(station.front(), 0.016);
        first.insert(station.front());
    }
    EXPECT_EQ(first.size(), 4U) << "stations that begin together would collide with each packet";
}

TEST_F(WifiCell, ScriptsThatForgetSomethingGetASentence)
{
    Begin({10}, "adhoc");
    EXPECT_DEATH(m_wifi->SetShadowing(-6, 20), "deviation of SetShadowing is -6 dB, not 0 or more");
    EXPECT_DEATH(m_wifi->SetShadowing(std::nan(""), 20), "SetShadowing is -?nan dB");
    EXPECT_DEATH(m_wifi->SetFading(ObjectFactory("ns3::ConstantPositionMobilityModel")),
                 "'ns3::ConstantPositionMobilityModel' of SetFading is no propagation loss model");
    Begin({10}, "infrastructure");
    EXPECT_DEATH(m_wifi->SetRateManager("ns3::NoSuchManager"),
                 "'ns3::NoSuchManager' is no rate manager");
    EXPECT_DEATH(m_wifi->SetRateManager("ns3::UniformFusion"),
                 "'ns3::UniformFusion' is no rate manager");
    EXPECT_DEATH(m_wifi->AssignStreams(1), "AssignStreams comes before Install");
    EXPECT_DEATH(m_wifi->AddBackground(m_nodes, DataRate(1)), "AddBackground comes before Install");
    EXPECT_DEATH(m_wifi->GetReceiver(), "GetReceiver comes before Install");
    EXPECT_DEATH(m_wifi->Install(m_nodes, nullptr), "the node of the access point is null");
    EXPECT_DEATH(m_wifi->Install(NodeContainer(2008), m_accessPoint),
                 "an access point takes 2007 stations, not 2008");
    m_nodes.Get(0)->AggregateObject(m_places[0]);
    const auto forgotten = CreateObject<Node>();
    const std::string sentence = "FederatedWifiHelper: node " + std::to_string(forgotten->GetId()) +
                                 " has no mobility model";
    EXPECT_DEATH(m_wifi->Install(m_nodes, forgotten), sentence);
    EXPECT_DEATH(m_wifi->Install(NodeContainer(m_nodes, NodeContainer(forgotten)), m_accessPoint),
                 sentence);
}

TEST_F(WifiCell, ARadioOfAnyTopologyNeedsAPlace)
{
    const NodeContainer nodes(3);
    WifiMacHelper mac;
    mac.SetType("ns3::AdhocWifiMac");
    YansWifiPhyHelper phy;
    phy.SetChannel(YansWifiChannelHelper::Default().Create());
    const NetDeviceContainer ports = WifiHelper().Install(phy, mac, nodes);
    InternetStackHelper().Install(nodes);
    Ipv4AddressHelper("10.9.0.0", "255.255.255.0").Assign(ports);
    FederatedHelper federation;
    federation.AddGroup(nodes.Get(1), 4);
    federation.SetData(FederatedData::MakeSynthetic(1, 120, 60, 6, 6, 4));
    federation.SetTaskAttribute("Model", StringValue("ns3::LogisticModel"));
    federation.SetCenterAttribute("Participants", UintegerValue(1));
    federation.SetCenterAttribute("Rounds", UintegerValue(1));
    federation.Install(nodes.Get(0), InetSocketAddress("10.9.0.1", FederatedPort::CENTER));
    federation.StopWhenFinished();
    MobilityHelper places; // it comes late, but before the simulation begins
    places.Install(NodeContainer(nodes.Get(0), nodes.Get(1)));
    EXPECT_DEATH(Simulator::Run(),
                 "FederatedHelper: node " + std::to_string(nodes.Get(2)->GetId()) +
                     " has a wifi radio, but no mobility model");
    places.Install(nodes.Get(2));
    Simulator::Run();
    EXPECT_EQ(federation.GetTraceWriter()->GetLastRound().received, 1U);
}
