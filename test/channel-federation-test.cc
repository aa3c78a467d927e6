// SPDX-License-Identifier: GPL-2.0-only

#include "federation.h"
#include "recording-fusion.h"
#include "schedule-call.h"

#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/effective-snr-fusion.h"
#include "ns3/goodput-probe.h"
#include "ns3/link-probe.h"
#include "ns3/max-abs-interval.h"
#include "ns3/message-bodies.h"
#include "ns3/simple-channel.h"
#include "ns3/udp-socket-factory.h"
#include "ns3/unbiased-stochastic-quantizer.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

using namespace ns3;

namespace
{

const double NAN_VALUE = std::numeric_limits<double>::quiet_NaN();

/** A probe that is told what it sees. */
class ToldProbe : public LinkProbe
{
  public:
    ToldProbe()
        : LinkProbe(true)
    {
    }

    using LinkProbe::AddSample;
};

/** Selects everybody, and remembers what it was told about the groups. */
class RememberingSizes : public ClusterSizePolicy
{
  public:
    std::vector<std::vector<ClusterGroup>> asked; // one entry a round

  private:
    std::vector<uint32_t> DoChoose(const std::vector<ClusterGroup>& groups,
                                   uint32_t,
                                   uint64_t) override
    {
        asked.push_back(groups);
        std::vector<uint32_t> sizes;
        for (const auto& group : groups)
        {
            sizes.push_back(group.devices);
        }
        return sizes;
    }
};

/** Loses what is longer than control messages. */
class LoseLongPackets : public ErrorModel
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("ns3::TestLoseLongPackets").SetParent<ErrorModel>();
        return tid;
    }

    uint32_t lost = 0;

  private:
    bool DoCorrupt(Ptr<Packet> packet) override
    {
        const bool corrupt = packet->GetSize() > 200;
        lost += corrupt;
        return corrupt;
    }

    void DoReset() override
    {
    }
};

/** @return the mean square of the difference of two models on some coordinates. */
double
GetMeanSquareDifference(const std::vector<float>& a,
                        const std::vector<float>& b,
                        std::size_t begin,
                        std::size_t end)
{
    double sum = 0;
    for (std::size_t i = begin; i < end; ++i)
    {
        const double difference = static_cast<double>(a[i]) - b[i];
        sum += difference * difference;
    }
    return sum / static_cast<double>(end - begin);
}

} // namespace

/** @ingroup federated-tests A federation whose links have an SNR that the test says. */
class SnrFederation : public Federation
{
  public:
    /** What the probe is told about a fragment of an update. */
    struct Told
    {
        double snr = NAN_VALUE; // NaN: nothing
        bool known = true;      // whether with the packet that it brought
    };

    /** As Federation::Build, with quantized updates in large fragments and one round. */
    void BuildNoisy(uint32_t devices, bool noisy)
    {
        ranges.clear();
        Build(devices);
        SetForAll("Quantizer", PointerValue(CreateObject<UnbiasedStochasticQuantizer>()));
        SetForDevices("IntervalRule", PointerValue(CreateObject<MaxAbsInterval>()));
        SetForAll("FragmentSize", UintegerValue(30000));
        center->SetAttribute("Rounds", UintegerValue(1));
        center->SetAttribute("EvaluationInterval", UintegerValue(0));
        if (noisy)
        {
            probe = CreateObject<ToldProbe>();
            center->SetAttribute("Probe", PointerValue(probe));
            center->SetAttribute("LinkNoise", StringValue("ns3::SnrLinkNoise"));
        }
        else
        {
            probe = nullptr;
        }
        for (auto& device : apps)
        {
            device->TraceConnectWithoutContext("Tx", MakeCallback(&SnrFederation::Observe, this));
        }
    }

    /** Tell the probe about a fragment that is sent, which comes later. */
    void Observe(Ptr<const Packet> packet)
    {
        FederatedHeader header;
        packet->PeekHeader(header);
        if (header.type != FederatedHeader::UPDATE)
        {
            return;
        }
        ranges[header.device][header.fragment] = {header.first, header.first + header.coordinates};
        const Told word = tell ? tell(header) : Told();
        if (probe && !std::isnan(word.snr))
        {
            LinkSample sample;
            sample.device = header.device;
            sample.snr = word.snr;
            sample.packet = word.known ? packet->GetUid() : 0;
            probe->AddSample(sample);
        }
    }

    /** Run with and without noise; keep the first model and the two that follow. */
    void RunTwice(uint32_t devices)
    {
        BuildNoisy(devices, false);
        task->Initialize(first);
        Run();
        clean = center->GetModel();
        BuildNoisy(devices, true);
        Run();
        noisy = center->GetModel();
        ASSERT_EQ(rounds.size(), 1U);
        ASSERT_EQ(rounds[0].received, devices);
    }

    std::function<Told(const FederatedHeader&)> tell; // what the probe sees of a fragment
    Ptr<ToldProbe> probe;
    std::map<uint32_t, std::map<uint32_t, std::pair<std::size_t, std::size_t>>>
        ranges; // coordinates by device and fragment
    std::vector<float> first;
    std::vector<float> clean;
    std::vector<float> noisy;
};

TEST_F(SnrFederation, TheNoiseOnAFragmentIsItsMeanSquareOverTheSnrOfItsFrame)
{
    side = 43;
    classes = 250; // 462500 coordinates, 2 bits each: four fragments
    const std::vector<double> snrs{0.5, 500, 5, 50};
    tell = [&](const FederatedHeader& header) -> Told { return {snrs.at(header.fragment), true}; };
    RunTwice(1);
    ASSERT_EQ(ranges[0].size(), 4U);
    double sum = 0;
    for (const auto& [fragment, range] : ranges[0])
    {
        const auto [begin, end] = range;
        ASSERT_GT(end - begin, 100000U);
        const double meanSquare = GetMeanSquareDifference(clean, first, begin, end);
        const double variance = GetMeanSquareDifference(noisy, clean, begin, end);
        // The estimate of a variance has the relative standard deviation sqrt(2/n) < 0.45 %: a
        // right one fails with probability 1e-5.
        EXPECT_NEAR(variance * snrs[fragment] / meanSquare, 1, 0.02) << "fragment " << fragment;
        sum += meanSquare / snrs[fragment] * static_cast<double>(end - begin);
    }
    const LinkRecord& link = rounds[0].links[0];
    EXPECT_NEAR(link.sigma * link.sigma * static_cast<double>(first.size()) / sum, 1, 1e-5);
    EXPECT_EQ(rounds[0].meanSigma, link.sigma);
    EXPECT_NEAR(link.snr, (0.5 + 500 + 5 + 50) / 4, 1e-9);
}

TEST_F(SnrFederation, WhereTheFrameIsNotKnownTheMovingAverageStandsForIt)
{
    side = 43;
    classes = 250;
    const std::vector<double> snrs{10, 40, 90, 90};
    tell = [&](const FederatedHeader& header) -> Told {
        return {snrs.at(header.fragment), header.fragment != 1};
    };
    RunTwice(1);
    const double smoothing = 0.1; // the default
    double average = snrs[0];
    for (double snr : {snrs[1], snrs[2], snrs[3]})
    {
        average += smoothing * (snr - average);
    }
    const std::vector<double> expected{10, average, 90, 90};
    for (const auto& [fragment, range] : ranges[0])
    {
        const auto [begin, end] = range;
        const double meanSquare = GetMeanSquareDifference(clean, first, begin, end);
        const double variance = GetMeanSquareDifference(noisy, clean, begin, end);
        EXPECT_NEAR(variance * expected[fragment] / meanSquare, 1, 0.02) << "fragment " << fragment;
    }
}

TEST_F(SnrFederation, AnUnknownSnrIsThatOfTheGroupElseNoNoise)
{
    side = 28;
    classes = 150; // 117750 coordinates
    tell = [&](const FederatedHeader& header) -> Told {
        return {header.device == 0 ? 4 : NAN_VALUE, true};
    };
    RunTwice(4);
    const auto& links = rounds[0].links;
    ASSERT_GT(links[0].sigma, 0);
    const double sigma2 = links[0].sigma * links[0].sigma;
    // Each of four devices has the weight 1/4; device 2 is taken for like device 0, while of the
    // group of 1 and 3 nothing is known. The relative standard deviation is 0.41 %.
    const double variance = GetMeanSquareDifference(noisy, clean, 0, first.size());
    EXPECT_NEAR(variance / (2 * sigma2 / 16), 1, 0.02);
    EXPECT_EQ(links[0].snr, 4);
    for (uint32_t device : {1U, 2U, 3U})
    {
        EXPECT_TRUE(std::isnan(links[device].snr));
        EXPECT_TRUE(std::isnan(links[device].sigma)) << "unknown, whatever stands for it";
    }
    EXPECT_EQ(rounds[0].meanSigma, links[0].sigma);
    EXPECT_EQ(rounds[0].meanSnr, 4);
}

TEST_F(SnrFederation, WithoutAnySnrThereIsNoNoise)
{
    RunTwice(2);
    EXPECT_EQ(noisy, clean);
    EXPECT_TRUE(std::isnan(rounds[0].meanSigma));
    EXPECT_TRUE(std::isnan(rounds[0].meanSnr));
}

TEST_F(SnrFederation, FusionWeighsByTheNoiseOfTheUpdateAtHand)
{
    tell = [&](const FederatedHeader& header) -> Told {
        return {header.device == 0 ? 1.0 : 100.0, true};
    };
    BuildNoisy(2, true);
    SetForAll("Quantizer", PointerValue(CreateObject<IdentityQuantizer>())); // no distortion
    center->SetAttribute("FusionRule", PointerValue(CreateObject<EffectiveSnrFusion>()));
    Run();
    const auto& links = rounds.at(0).links;
    EXPECT_NEAR(links[0].weight + links[1].weight, 1, 1e-6);
    EXPECT_NEAR(links[1].weight / links[0].weight,
                std::pow(links[0].sigma / links[1].sigma, 2),
                1e-3 * links[1].weight / links[0].weight);
    EXPECT_GT(links[1].weight, links[0].weight);
}

TEST_F(SnrFederation, ClusterSizesKnowTheNoiseFromBeforeTheRound)
{
    // SNR 4, 16, 64 in rounds 1, 2, 3; device 2 has none, nor has the second group.
    tell = [&](const FederatedHeader& header) -> Told {
        return {header.device == 0 ? std::pow(4.0, header.round) : NAN_VALUE, true};
    };
    BuildNoisy(4, true);
    probe->SetAttribute("Smoothing", DoubleValue(1));
    center->SetAttribute("Rounds", UintegerValue(3));
    const auto sizes = CreateObject<RememberingSizes>();
    center->SetAttribute("ClusterSizePolicy", PointerValue(sizes));
    Run();
    ASSERT_EQ(rounds.size(), 3U);
    ASSERT_EQ(sizes->asked.size(), 3U);
    for (std::size_t round = 0; round < 3; ++round)
    {
        const auto& groups = sizes->asked[round];
        ASSERT_EQ(groups.size(), 2U);
        EXPECT_EQ(groups[0].devices, 2U);
        EXPECT_EQ(groups[1].sigma2, 0) << "nobody of it is known";
        if (round == 0)
        {
            EXPECT_EQ(groups[0].sigma2, 0) << "nothing is known yet";
        }
        else
        {
            const double before = rounds[round - 1].links[0].sigma;
            EXPECT_NEAR(groups[0].sigma2 / (before * before), 1, 1e-6);
        }
    }
    EXPECT_LT(rounds[2].links[0].sigma, rounds[0].links[0].sigma);
}

/** @ingroup federated-tests A federation with a measured bit budget. */
class BudgetFederation : public Federation
{
  public:
    /** As Federation::Build, with slow uplinks of which the center knows nothing. */
    void BuildMeasured(uint32_t devices, const std::string& rate, const Time& deadline)
    {
        Build(devices);
        center->SetAttribute("BitBudget", StringValue("ns3::MeasuredBitBudget"));
        center->SetAttribute("MeasuredSlots", BooleanValue(true));
        center->SetAttribute("Guard", TimeValue(MicroSeconds(500))); // as on a wire
        center->SetAttribute("Deadline", TimeValue(deadline));
        center->SetAttribute("Rounds", UintegerValue(6));
        center->SetAttribute("EvaluationInterval", UintegerValue(0));
        for (uint32_t i = 0; i < devices; ++i)
        {
            GetDeviceEnd(i)->SetAttribute("DataRate", StringValue(rate));
        }
    }
};

TEST_F(BudgetFederation, GrowsWithTheTimeThatIsLeftAndWithNothingElse)
{
    side = 28;
    classes = 10; // 251 kbit as floats
    std::vector<double> ratios;
    for (int64_t seconds : {2, 4, 8})
    {
        BuildMeasured(4, "2Mbps", Seconds(seconds));
        Run();
        ASSERT_EQ(rounds.size(), 6U);
        const RoundRecord& last = rounds.back();
        EXPECT_LT(last.uplinkSeconds, static_cast<double>(seconds));
        EXPECT_GT(last.uplinkSeconds, static_cast<double>(seconds) - 0.5);
        EXPECT_NEAR(last.bitBudget / (last.uplinkSeconds * last.meanRate / 7850), 1, 1e-9);
        ratios.push_back(last.bitBudget / last.uplinkSeconds);
        EXPECT_EQ(last.received, 4U);
    }
    EXPECT_NEAR(ratios[1] / ratios[0], 1, 0.1);
    EXPECT_NEAR(ratios[2] / ratios[0], 1, 0.1);
}

TEST_F(BudgetFederation, GrowsWithTheMeasuredRateOfTheLinks)
{
    side = 28;
    classes = 10;
    std::map<int, double> rates;
    for (int megabits : {1, 2, 4})
    {
        BuildMeasured(4, std::to_string(megabits) + "Mbps", Seconds(4));
        Run();
        ASSERT_EQ(rounds.size(), 6U);
        rates[megabits] = rounds.back().meanRate;
        // 1400 bytes of UDP make 1428 on the wire, 1360 of them are payload.
        EXPECT_NEAR(rates[megabits] / (megabits * 1e6), 0.95, 0.05);
    }
    EXPECT_NEAR(rates[2] / rates[1], 2, 0.1);
    EXPECT_NEAR(rates[4] / rates[1], 4, 0.2);
}

TEST_F(BudgetFederation, ThatIsTooSmallForAllTakesFewerAndDeliversWhatItGrants)
{
    side = 28;
    classes = 10;
    for (const char* downlink : {"slow", "fast"})
    {
        BuildMeasured(10, "1Mbps", Seconds(1.5)); // half of them need 1.3 s
        center->SetAttribute("Rounds", UintegerValue(12));
        center->SetAttribute("DownlinkRate",
                             StringValue(downlink == std::string("slow") ? "20Mbps" : "500Mbps"));
        Run();
        ASSERT_EQ(rounds.size(), 12U);
        double granted = 0;
        double delivered = 0;
        for (const RoundRecord& record : rounds)
        {
            EXPECT_LE(record.grantedBits, record.bitBudget);
            EXPECT_EQ(record.grantedBits, 32.0 * record.selected) << "floats";
            if (record.round > 1) // before, nothing was measured
            {
                EXPECT_LT(record.selected, 10U);
            }
            EXPECT_EQ(record.joined, 10U);
            EXPECT_FALSE(record.skipped);
            granted += record.grantedBits;
            delivered += record.deliveredBits;
        }
        EXPECT_GE(rounds.back().selected, 4U);
        EXPECT_GT(delivered, 0.9 * granted) << downlink;
        EXPECT_GT(rounds.back().deliveredBits, 0.9 * rounds.back().grantedBits) << downlink;
    }
}

TEST_F(BudgetFederation, IsPlannedAnewWhenALateDeviceLeftTimeForNobody)
{
    side = 28;
    classes = 10;
    for (const bool isLeftOut : {false, true})
    {
        BuildMeasured(2, "1Mbps", Seconds(1));
        center->SetAttribute("SlowestShare", DoubleValue(isLeftOut ? 0.1 : 0));
        // 10 ms, as it says when it joins; then a round of 900 ms, and others of 10 ms.
        const auto times = CreateObject<DeterministicRandomVariable>();
        std::vector<double> values(20, 0.0001);
        values[1] = 0.009;
        times->SetValueArray(values.data(), values.size());
        apps[0]->SetAttribute("TimePerSample", PointerValue(times));
        Run();
        ASSERT_EQ(rounds.size(), 6U);
        EXPECT_EQ(rounds[0].links[0].state, PARTICIPANT_PARTIAL);
        // The lateness of one device does not count, if it can be left out.
        EXPECT_EQ(rounds[1].uplinkSeconds < 0.2, !isLeftOut);
        EXPECT_EQ(rounds[1].selected, isLeftOut ? 2U : 1U);
        EXPECT_EQ(rounds[2].received, 2U);
        EXPECT_EQ(rounds.back().received, 2U);
    }
}

TEST_F(BudgetFederation, ThatCarriesNobodyIsTriedWithOneDevice)
{
    side = 28;
    classes = 10;
    BuildMeasured(2, "1Mbps", Seconds(1));
    center->SetAttribute("UplinkRate", StringValue("100kbps")); // nobody is measured to be faster
    Run();
    ASSERT_EQ(rounds.size(), 6U);
    for (const RoundRecord& record : rounds)
    {
        EXPECT_EQ(record.selected, 1U) << "else nothing would ever be measured";
        EXPECT_LT(record.bitBudget, 32);
        EXPECT_EQ(record.links[0].state, PARTICIPANT_NO_TIME);
    }
}

TEST_F(BudgetFederation, WithoutTimeForUpdatesSkipsRoundsAndTheRunGoesOn)
{
    side = 28;
    classes = 10;
    BuildMeasured(2, "1Mbps", MilliSeconds(1)); // the model takes longer
    Run();
    ASSERT_EQ(rounds.size(), 6U);
    for (const RoundRecord& record : rounds)
    {
        EXPECT_TRUE(record.skipped);
        EXPECT_EQ(record.selected, 0U);
        EXPECT_EQ(record.bitBudget, 0);
    }
}

/** A message of the center. */
struct CenterMessage
{
    Time time;                    //!< When it was sent.
    FederatedHeader header;       //!< Its header.
    std::vector<uint8_t> payload; //!< Its body.
};

void
KeepMessage(std::vector<CenterMessage>* messages, Ptr<const Packet> packet)
{
    const Ptr<Packet> copy = packet->Copy();
    CenterMessage message;
    message.time = Simulator::Now();
    copy->RemoveHeader(message.header);
    message.payload.resize(copy->GetSize());
    copy->CopyData(message.payload.data(), copy->GetSize());
    messages->push_back(message);
}

/** @ingroup federated-tests A federation in which all is sent to all, on one channel. */
class GroupFederation : public Federation
{
  public:
    static constexpr uint16_t DEVICE_PORT = FederatedPort::DEVICE;

    /** As Federation::Build, with a channel that all share, also with a stranger. */
    void BuildGroup(uint32_t devices, bool enrolled)
    {
        Build(devices);
        SetForAll("FragmentSize", UintegerValue(300));
        stranger = CreateObject<Node>();
        InternetStackHelper().Install(stranger);
        SimpleNetDeviceHelper simple;
        simple.SetDeviceAttribute("DataRate", StringValue("1Gbps"));
        simple.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("10000p"));
        shared = simple.Install(NodeContainer(nodes, NodeContainer(stranger)));
        Ipv4AddressHelper addresses("10.2.0.0", "255.255.255.0");
        const auto interfaces = addresses.Assign(shared);
        const Ipv4Address group("10.2.0.255");
        centerGroup = InetSocketAddress(group, PORT);
        deviceGroup = InetSocketAddress(group, DEVICE_PORT);
        center->SetAttribute("Downlink", StringValue("group"));
        center->SetAttribute("MulticastGroup", AddressValue(deviceGroup));
        SetForDevices("Remote", AddressValue(InetSocketAddress(interfaces.GetAddress(0), PORT)));
        SetForDevices("Local", AddressValue(InetSocketAddress(Ipv4Address::GetAny(), DEVICE_PORT)));
        SetForDevices("UplinkGroup", AddressValue(centerGroup));
        SetForDevices("Enrolled", BooleanValue(enrolled));
        for (uint32_t i = 0; enrolled && i < devices; ++i)
        {
            center->Enroll(i,
                           InetSocketAddress(interfaces.GetAddress(i + 1), DEVICE_PORT),
                           i % 2,
                           apps[i]->DrawTrainingTime());
        }
    }

    /** @return what a unicast federation learns. */
    std::vector<float> LearnByUnicast(uint32_t devices)
    {
        Build(devices);
        SetForAll("FragmentSize", UintegerValue(300));
        Run();
        return center->GetModel();
    }

    /** Let rounds begin every 100 ms with a page, and grants follow after 20 ms. */
    void SetPages()
    {
        center->SetAttribute("PageInterval", StringValue("100ms"));
        center->SetAttribute("WakeTime", StringValue("20ms"));
        center->TraceConnectWithoutContext("Tx", MakeBoundCallback(&KeepMessage, &sentDown));
    }

    /** Send a message to all devices from the address of the center, which has not started. */
    void SendPage(const PageBody& body, uint32_t round = 1)
    {
        if (!strangersSocket)
        {
            strangersSocket = Socket::CreateSocket(nodes.Get(0), UdpSocketFactory::GetTypeId());
            strangersSocket->Bind(InetSocketAddress(Ipv4Address::GetAny(), PORT));
            strangersSocket->SetAllowBroadcast(true);
        }
        FederatedHeader header;
        header.type = FederatedHeader::PAGE;
        header.sequence = round;
        header.round = round;
        header.device = FederatedHeader::ALL_DEVICES;
        std::vector<uint8_t> bytes(body.GetSize());
        body.Write(bytes.data());
        header.Seal(bytes.data(), bytes.size());
        const auto packet = Create<Packet>(bytes.data(), static_cast<uint32_t>(bytes.size()));
        packet->AddHeader(header);
        strangersSocket->SendTo(packet, 0, deviceGroup);
    }

    /** Note when devices need their links. */
    void NoteNeeds()
    {
        for (const auto& device : apps)
        {
            device->TraceConnectWithoutContext("LinkNeeded",
                                               MakeCallback(&GroupFederation::NoteNeed, this));
        }
    }

    /** Trace sink of LinkNeeded. */
    void NoteNeed(uint32_t device, bool needed)
    {
        needs[device].emplace_back(Simulator::Now(), needed);
    }

    /** @return whether a device began to need its link by the first page of a round. */
    bool IsPaged(uint32_t device, const RoundRecord& record)
    {
        const auto& changes = needs[device];
        return std::any_of(changes.begin(),
                           changes.end(),
                           [&](const auto& change)
                           {
                               const Time wait = change.first - record.start;
                               return change.second && wait >= MilliSeconds(5) &&
                                      wait < MilliSeconds(9);
                           });
    }

    /** @return messages that a device dropped. */
    static uint64_t GetDrops(const FederatedDevice& device)
    {
        uint64_t drops = 0;
        for (std::size_t reason = 0; reason < DROP_REASONS; ++reason)
        {
            drops += device.GetDropped(static_cast<DropReason>(reason));
        }
        return drops;
    }

    /** Let the stranger send the same message with another payload, before it is sent. */
    void Forge(Ptr<const Packet> packet)
    {
        const Ptr<Packet> copy = packet->Copy();
        FederatedHeader header;
        copy->RemoveHeader(header);
        std::vector<uint8_t> payload(copy->GetSize());
        copy->CopyData(payload.data(), copy->GetSize());
        const bool isFragment =
            header.type == FederatedHeader::UPDATE || header.type == FederatedHeader::MODEL;
        if (isFragment)
        {
            std::fill(payload.begin(), payload.end(), 0);
        }
        header.Seal(payload.data(), payload.size());
        const Ptr<Packet> forged =
            Create<Packet>(payload.data(), static_cast<uint32_t>(payload.size()));
        forged->AddHeader(header);
        const bool isDown =
            header.type == FederatedHeader::GRANT || header.type == FederatedHeader::MODEL;
        // Acknowledgments go in both directions: to both, then.
        for (const Address& group : {centerGroup, deviceGroup})
        {
            if (header.type == FederatedHeader::ACK || (group == deviceGroup) == isDown)
            {
                strangersSocket->SendTo(forged->Copy(), 0, group);
                ++(group == deviceGroup ? forgedDown : forgedUp);
            }
        }
    }

    /** Forge all messages. */
    void AddForger()
    {
        strangersSocket = Socket::CreateSocket(stranger, UdpSocketFactory::GetTypeId());
        strangersSocket->Bind(InetSocketAddress(Ipv4Address::GetAny(), DEVICE_PORT));
        strangersSocket->SetAllowBroadcast(true);
        center->TraceConnectWithoutContext("Tx", MakeCallback(&GroupFederation::Forge, this));
        for (auto& device : apps)
        {
            device->TraceConnectWithoutContext("Tx", MakeCallback(&GroupFederation::Forge, this));
        }
    }

    NetDeviceContainer shared; // of the center, the devices, the stranger
    Ptr<Node> stranger;
    Ptr<Socket> strangersSocket;
    std::vector<CenterMessage> sentDown;                          // by the center, with pages
    std::map<uint32_t, std::vector<std::pair<Time, bool>>> needs; // of links, by device
    Address centerGroup;
    Address deviceGroup;
    uint64_t forgedUp = 0;
    uint64_t forgedDown = 0;
};

TEST_F(GroupFederation, LearnsTheSameAsWithUnicast)
{
    const std::vector<float> expected = LearnByUnicast(4);
    for (bool enrolled : {false, true})
    {
        BuildGroup(4, enrolled);
        Run();
        ASSERT_EQ(rounds.size(), 3U);
        EXPECT_EQ(rounds.back().received, 4U);
        EXPECT_EQ(center->GetModel(), expected) << (enrolled ? "enrolled" : "joined");
        for (const auto& device : apps)
        {
            EXPECT_TRUE(device->HasJoined());
        }
    }
}

TEST_F(GroupFederation, PagesNameTheSelectedTwiceOnAGridBeforeTheirGrants)
{
    BuildGroup(4, true);
    center->SetAttribute("Participants", UintegerValue(2));
    SetPages();
    center->SetStartTime(MilliSeconds(130));
    NoteNeeds();
    Run();
    ASSERT_EQ(rounds.size(), 3U);
    for (const RoundRecord& record : rounds)
    {
        EXPECT_EQ(record.received, 2U);
        EXPECT_EQ(record.start.GetNanoSeconds() % 100000000, 0) << record.start;
        EXPECT_GE(record.start, MilliSeconds(200));
        std::set<uint32_t> selected;
        for (const LinkRecord& link : record.links)
        {
            selected.insert(link.device);
        }
        std::vector<Time> pages;
        for (const CenterMessage& message : sentDown)
        {
            const FederatedHeader& header = message.header;
            if (header.round != record.round || header.type == FederatedHeader::ACK)
            {
                continue;
            }
            const Time wait = message.time - record.start;
            if (header.type != FederatedHeader::PAGE)
            {
                EXPECT_GE(wait, MilliSeconds(20)) << FederatedHeader::GetTypeName(header.type);
                continue;
            }
            pages.push_back(wait);
            EXPECT_EQ(header.device, FederatedHeader::ALL_DEVICES);
            PageBody body;
            ASSERT_TRUE(PageBody::Read(message.payload.data(), message.payload.size(), body));
            EXPECT_GE(NanoSeconds(body.untilNs), record.end);
            for (uint32_t device = 0; device < 4; ++device)
            {
                EXPECT_EQ(body.Names(device), selected.count(device) == 1);
            }
        }
        EXPECT_EQ(pages, (std::vector<Time>{MilliSeconds(5), MilliSeconds(10)}));
        for (uint32_t device = 0; device < 4; ++device)
        {
            EXPECT_EQ(IsPaged(device, record), selected.count(device) == 1) << device;
        }
    }
    for (const auto& [device, changes] : needs)
    {
        EXPECT_FALSE(changes.back().second) << "it has answered: " << device;
    }
}

TEST_F(GroupFederation, DevicesThatAreFarApartArePagedInSeveralMessages)
{
    BuildGroup(4, false);
    center->SetAttribute("MaxDevices", UintegerValue(4000));
    const std::vector<uint32_t> ids = {0, 1, 3000, 3001}; // 300 bytes name 1920 devices
    for (uint32_t i = 0; i < ids.size(); ++i)
    {
        apps[i]->SetAttribute("Share", UintegerValue(i));
        apps[i]->SetAttribute("DeviceId", UintegerValue(ids[i]));
    }
    SetPages();
    Run();
    ASSERT_EQ(rounds.size(), 3U);
    EXPECT_EQ(rounds.back().received, 4U);
    std::map<uint32_t, uint32_t> pages; // by first device
    for (const CenterMessage& message : sentDown)
    {
        if (message.header.type == FederatedHeader::PAGE)
        {
            PageBody body;
            ASSERT_TRUE(PageBody::Read(message.payload.data(), message.payload.size(), body));
            EXPECT_TRUE(body.Names(body.first) && body.Names(body.first + 1));
            EXPECT_EQ(body.devices, 2U);
            ++pages[body.first];
        }
    }
    EXPECT_EQ(pages, (std::map<uint32_t, uint32_t>{{0, 6}, {3000, 6}})) << "twice in three rounds";
}

TEST_F(GroupFederation, WhoIsPagedAndGetsNoGrantWaitsUntilTheRoundIsOver)
{
    BuildGroup(2, true);
    center->SetStartTime(Seconds(10)); // until then the test speaks in its place
    NoteNeeds();
    PageBody body;
    body.first = 1;
    body.Name(1);
    const auto send = [&](const Time& until)
    {
        body.untilNs = static_cast<uint64_t>(until.GetNanoSeconds());
        SendPage(body);
    };
    ScheduleCall(Seconds(1), [&]() { send(Seconds(2)); });
    ScheduleCall(MilliSeconds(1005), [&]() { send(Seconds(2)); });
    ScheduleCall(Seconds(3), [&]() { send(Seconds(2)); }); // of a round that is over
    ScheduleCall(Seconds(4),
                 [&]()
                 {
                     body.devices = 0; // it contradicts itself
                     send(Seconds(5));
                 });
    Simulator::Stop(Seconds(6));
    Run();
    EXPECT_TRUE(needs[0].empty());
    ASSERT_EQ(needs[1].size(), 2U);
    EXPECT_NEAR(needs[1][0].first.GetSeconds(), 1, 0.001);
    EXPECT_TRUE(needs[1][0].second);
    EXPECT_EQ(needs[1][1].first, Seconds(2));
    EXPECT_FALSE(needs[1][1].second);
    EXPECT_EQ(apps[1]->GetDropped(DROP_OLD), 1U);
    EXPECT_EQ(apps[1]->GetDropped(DROP_MALFORMED), 1U);
}

TEST_F(GroupFederation, APageOfALaterRoundEndsTheWaitForAGrantOfAnEarlierOne)
{
    BuildGroup(2, true);
    center->SetStartTime(Seconds(10)); // until then the test speaks in its place
    NoteNeeds();
    const auto send = [this](uint32_t round, uint32_t device, const Time& until)
    {
        PageBody body;
        body.untilNs = static_cast<uint64_t>(until.GetNanoSeconds());
        body.first = device;
        body.Name(device);
        SendPage(body, round);
    };
    ScheduleCall(Seconds(1), [&]() { send(1, 0, Time::Max()); }); // as a forger may say
    ScheduleCall(Seconds(2), [&]() { send(1, 1, Time::Max()); }); // of devices far apart
    ScheduleCall(Seconds(3), [&]() { send(2, 1, Seconds(4)); });
    Simulator::Stop(Seconds(6));
    Run();
    for (uint32_t device = 0; device < 2; ++device)
    {
        ASSERT_EQ(needs[device].size(), 2U) << device;
        EXPECT_NEAR(needs[device][0].first.GetSeconds(), 1.0 + device, 0.001);
        EXPECT_NEAR(needs[device][1].first.GetSeconds(), 3.0 + device, 0.001);
        EXPECT_FALSE(needs[device][1].second);
    }
}

TEST_F(GroupFederation, DevicesArePagedForEachOfTheRoundsThatEndAtTheSameTimeAtTheLatest)
{
    BuildGroup(2, true);
    center->SetAttribute("OnRequest", BooleanValue(true));
    center->SetAttribute("Deadline", StringValue("10s"));
    SetPages();
    NoteNeeds();
    ScheduleCall(MilliSeconds(10),
                 [this]()
                 {
                     FusionCenter::RoundsRequest request;
                     request.model = std::vector<float>(task->GetDimension());
                     request.rounds = 3;
                     request.latest = Seconds(5); // the deadline of all of them
                     request.done = [](const FusionCenter::RoundsOutcome&) {};
                     EXPECT_TRUE(center->RunRounds(std::move(request)));
                 });
    Run();
    ASSERT_EQ(rounds.size(), 3U);
    for (const RoundRecord& record : rounds)
    {
        EXPECT_EQ(record.received, 2U);
        EXPECT_TRUE(IsPaged(0, record)) << record.round;
        EXPECT_TRUE(IsPaged(1, record)) << record.round;
    }
}

TEST_F(GroupFederation, APageThatIsProtectedAndSentTwiceIsNoReplay)
{
    if (!HasProtection())
    {
        GTEST_SKIP() << "this build cannot protect messages";
    }
    BuildGroup(2, true);
    SetKey("a secret");
    center->SetAttribute("PageInterval", StringValue("100ms"));
    center->SetAttribute("WakeTime", StringValue("20ms"));
    NoteNeeds();
    Run();
    ASSERT_EQ(rounds.size(), 3U);
    for (const RoundRecord& record : rounds)
    {
        EXPECT_EQ(record.received, 2U);
        EXPECT_TRUE(IsPaged(0, record) && IsPaged(1, record));
    }
    for (const auto& device : apps)
    {
        EXPECT_EQ(device->GetDropped(DROP_REPLAYED), 0U);
    }
}

TEST_F(GroupFederation, PagesNeedAGroupAndTimeToListen)
{
    const auto run = [this](const char* downlink, const char* wake)
    {
        BuildGroup(1, true);
        center->SetAttribute("Downlink", StringValue(downlink));
        center->SetAttribute("PageInterval", StringValue("100ms"));
        center->SetAttribute("WakeTime", StringValue(wake));
        Run();
    };
    const char* const SENTENCE = "PageInterval needs a Downlink to a group, and a WakeTime below";
    EXPECT_DEATH(run("unicast", "20ms"), SENTENCE);
    EXPECT_DEATH(run("group", "0ms"), SENTENCE);
    EXPECT_DEATH(run("group", "100ms"), SENTENCE);
}

TEST_F(GroupFederation, SamplesOfEnrolledDevicesAreThoseThatTheyWereEnrolledWith)
{
    BuildGroup(4, true);
    const auto rule = CreateObject<RecordingFusion>();
    center->SetAttribute("FusionRule", PointerValue(rule));
    center->SetAttribute("MaxSamples", UintegerValue(50));
    const Address place(InetSocketAddress(
        nodes.Get(3)->GetObject<Ipv4>()->GetAddress(2, 0).GetLocal(), DEVICE_PORT));
    center->Enroll(2, place, 0, Time(0), 70);
    Run();
    ASSERT_EQ(rule->seen.size(), 4U);
    EXPECT_EQ(rule->seen[2].samples, 50) << "bounded";
    EXPECT_EQ(rule->seen[0].samples, 50) << "unknown, so the mean of the others";
}

TEST_F(GroupFederation, WhatIsForAnotherDeviceIsNotCountedAsDropped)
{
    for (bool enrolled : {false, true})
    {
        BuildGroup(4, enrolled);
        Run();
        ASSERT_EQ(rounds.size(), 3U);
        for (const auto& device : apps)
        {
            EXPECT_EQ(GetDrops(*device), 0U);
        }
        for (const auto& record : rounds)
        {
            EXPECT_EQ(std::accumulate(record.drops.begin(), record.drops.end(), uint64_t{0}), 0U);
        }
    }
}

TEST_F(GroupFederation, MessagesOfImpostorsAreDropped)
{
    const std::vector<float> expected = LearnByUnicast(4);
    for (bool enrolled : {false, true})
    {
        BuildGroup(4, enrolled);
        forgedUp = 0;
        forgedDown = 0;
        AddForger();
        for (uint32_t i = 0; i < 4; ++i) // from where a device may join
        {
            center->BindDevice(i, nodes.Get(i + 1)->GetObject<Ipv4>()->GetAddress(2, 0).GetLocal());
        }
        Run();
        ASSERT_EQ(rounds.size(), 3U);
        EXPECT_EQ(center->GetModel(), expected);
        EXPECT_GT(forgedUp, 4 * 3 * 4U);
        EXPECT_EQ(center->GetDropped(DROP_FOREIGN), forgedUp);
        for (const auto& device : apps)
        {
            EXPECT_EQ(device->GetDropped(DROP_FOREIGN), forgedDown);
            EXPECT_EQ(GetDrops(*device), forgedDown);
        }
    }
}

TEST_F(GroupFederation, ADeviceWithAWrongIdentifierIsNotHeard)
{
    BuildGroup(4, true);
    center->SetAttribute("Deadline", TimeValue(Seconds(1)));
    apps[2]->SetAttribute("DeviceId", UintegerValue(0)); // it takes itself for another
    Run();
    ASSERT_EQ(rounds.size(), 3U);
    for (const auto& record : rounds)
    {
        EXPECT_EQ(record.received, 3U);
        EXPECT_EQ(record.links[0].state, PARTICIPANT_COMPLETE);
        EXPECT_EQ(record.links[2].state, PARTICIPANT_UNREACHABLE);
        EXPECT_GT(record.drops[DROP_FOREIGN], 0U);
    }
}

TEST_F(GroupFederation, WithoutAModelADeviceTrainsOnThePublicFirstOneInTimeForItsSlot)
{
    BuildGroup(2, true);
    center->SetAttribute("Rounds", UintegerValue(1));
    Run();
    const std::vector<float> expected = center->GetModel();
    std::map<uint32_t, Time> slots;
    for (const auto& record : sent)
    {
        slots[record.device] = record.firstSent;
    }
    for (bool enrolled : {false, true})
    {
        BuildGroup(2, enrolled);
        center->SetAttribute("Rounds", UintegerValue(1));
        SetForDevices("IncompleteModel", StringValue("use-previous"));
        const auto loss = CreateObject<LoseLongPackets>();
        SetLoss(shared.Get(1), loss); // of device 0
        incompleteModels = 0;
        Run();
        ASSERT_EQ(rounds.size(), 1U);
        EXPECT_GT(loss->lost, 0U);
        EXPECT_EQ(incompleteModels, 1U);
        EXPECT_EQ(rounds[0].received, 2U);
        EXPECT_EQ(rounds[0].links[0].state, PARTICIPANT_COMPLETE);
        EXPECT_EQ(center->GetModel(), expected) << "the first model is that of the first round";
        for (const auto& record : sent)
        {
            const Time shift = rounds[0].start; // enrolled, the first round begins at once
            EXPECT_EQ(record.firstSent - shift, slots.at(record.device));
        }
    }
}

/** @ingroup federated-tests A federation whose center counts what comes over IP. */
class GoodputFederation : public Federation
{
  public:
    /** Note what a device sends, at the size that it has as IP packet. */
    void Observe(Ptr<const Packet> packet)
    {
        FederatedHeader header;
        packet->PeekHeader(header);
        if (header.round == 1)
        {
            sizes.push_back(packet->GetSize() + overhead);
            times.push_back(Simulator::Now().GetSeconds());
        }
    }

    /** Keep what the probe knows of a round. */
    void Keep(const RoundRecord&)
    {
        qualities.push_back(probe->GetQuality(0));
    }

    Ptr<GoodputProbe> probe;
    uint32_t overhead = 0; // of UDP and IP
    std::vector<uint32_t> sizes;
    std::vector<double> times;
    std::vector<LinkQuality> qualities; // of device 0, by round
};

TEST_F(GoodputFederation, IsCountedOverIpv4AndIpv6)
{
    for (bool v6 : {false, true})
    {
        side = 28;
        Build(2, v6);
        center->SetAttribute("UplinkRate", StringValue("1Mbps"));
        overhead = v6 ? 48 : 28;
        sizes.clear();
        times.clear();
        qualities.clear();
        probe = CreateObject<GoodputProbe>();
        probe->Attach(nodes.Get(0));
        for (uint32_t i = 0; i < 2; ++i)
        {
            const Address ip =
                v6 ? Address(nodes.Get(i + 1)->GetObject<Ipv6>()->GetAddress(1, 1).GetAddress())
                   : Address(nodes.Get(i + 1)->GetObject<Ipv4>()->GetAddress(1, 0).GetLocal());
            probe->AddDevice(i, ip);
        }
        center->SetAttribute("Probe", PointerValue(probe));
        center->TraceConnectWithoutContext("RoundEnd",
                                           MakeCallback(&GoodputFederation::Keep, this));
        apps[0]->TraceConnectWithoutContext("Tx", MakeCallback(&GoodputFederation::Observe, this));
        Run();
        ASSERT_EQ(rounds.size(), 3U);
        const LinkRecord& link = rounds[0].links[0];
        EXPECT_TRUE(std::isnan(link.snr));
        EXPECT_TRUE(std::isnan(link.sigma) || link.sigma == 0);
        EXPECT_TRUE(std::isnan(link.framesFailed)) << "IP does not see them";
        ASSERT_GT(sizes.size(), 8U);
        EXPECT_EQ(link.framesOk, static_cast<double>(sizes.size()));
        const double bits = 8.0 * std::accumulate(sizes.begin() + 1, sizes.end(), 0U);
        EXPECT_NEAR(qualities[0].goodput / (bits / (times.back() - times.front())), 1, 0.01);
        EXPECT_NEAR(qualities[2].goodput / qualities[0].goodput, 1, 0.2);
    }
}
