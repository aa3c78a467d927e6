// SPDX-License-Identifier: GPL-2.0-only

// Which devices of a federation are selected, from end to end.

#include "federation.h"
#include "schedule-call.h"

#include "ns3/double.h"
#include "ns3/link-probe.h"
#include "ns3/random-selection.h"
#include "ns3/selection-policy.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <utility>

namespace ns3
{

/** What a script has to write for a policy of its own: the devices with the highest identifiers. */
class LastDevicesSelection : public SelectionPolicy
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("ns3::LastDevicesSelection")
                                .SetParent<SelectionPolicy>()
                                .AddConstructor<LastDevicesSelection>();
        return tid;
    }

  private:
    std::vector<uint32_t> DoSelect(const SelectionContext& context,
                                   const std::vector<SelectionCandidate>& candidates) override
    {
        std::vector<uint32_t> devices;
        for (uint32_t i = 0; i < context.count; ++i)
        {
            devices.push_back(candidates[candidates.size() - 1 - i].device);
        }
        return devices;
    }
};

NS_OBJECT_ENSURE_REGISTERED(LastDevicesSelection);

} // namespace ns3

using namespace ns3;

namespace
{

/** Selects as RandomSelection does, and remembers the candidates of each round. */
class RecordingSelection : public SelectionPolicy
{
  public:
    std::map<std::pair<uint32_t, uint32_t>, SelectionCandidate> seen; // by round and device

  private:
    std::vector<uint32_t> DoSelect(const SelectionContext& context,
                                   const std::vector<SelectionCandidate>& candidates) override
    {
        for (const SelectionCandidate& candidate : candidates)
        {
            seen[{context.round, candidate.device}] = candidate;
        }
        return m_random->Select(context, candidates);
    }

    Ptr<SelectionPolicy> m_random = CreateObject<RandomSelection>();
};

/** A probe that has measured some devices. */
class GivenProbe : public LinkProbe
{
  public:
    GivenProbe()
        : LinkProbe(false)
    {
    }

    void Set(uint32_t device, double snr)
    {
        LinkSample sample;
        sample.device = device;
        sample.snr = snr;
        AddSample(sample);
    }
};

/** Knows who was selected, and may change things when a round starts. */
class SelectionFederation : public Federation
{
  public:
    /** @return the rounds in which a device was selected. */
    std::set<uint32_t> GetRounds(uint32_t device) const
    {
        std::set<uint32_t> selected;
        for (const RoundRecord& record : rounds)
        {
            for (const LinkRecord& link : record.links)
            {
                if (link.device == device)
                {
                    selected.insert(record.round);
                }
            }
        }
        return selected;
    }

    /** Switch the link of a device off or on. */
    void SetLink(uint32_t device, bool on)
    {
        const auto ipv4 = nodes.Get(device + 1)->GetObject<Ipv4>();
        on ? ipv4->SetUp(1) : ipv4->SetDown(1);
    }

    void OnTrained(const FederatedDevice::TrainingRecord& record)
    {
        losses[{record.round, record.device}] = record.loss;
    }

    /** Two devices and one that is unreachable from round 3 on; silent twice, it pauses. */
    void BuildSilent(uint32_t numberOfRounds)
    {
        Build(3);
        center->SetAttribute("GroupBits", StringValue("2"));
        SetForDevices("Group", UintegerValue(0));
        SetForDevices("Bits", UintegerValue(2));
        center->SetAttribute("Rounds", UintegerValue(numberOfRounds));
        center->SetAttribute("SilentRounds", UintegerValue(2));
        center->SetAttribute("SilentPause", UintegerValue(4));
        center->TraceConnectWithoutContext("RoundStart",
                                           MakeCallback(&SelectionFederation::OnStart, this));
        atStart[3] = [this]() { SetLink(1, false); };
    }

    void OnStart(uint32_t round, const std::vector<uint32_t>&)
    {
        const auto found = atStart.find(round);
        if (found != atStart.end())
        {
            found->second();
        }
    }

    std::map<std::pair<uint32_t, uint32_t>, double> losses; // of batches, by round and device
    std::map<uint32_t, std::function<void()>> atStart;      // what is done when a round starts
};

} // namespace

TEST_F(SelectionFederation, APolicyOfAScriptIsUsedByItsName)
{
    Build(8);
    center->SetAttribute("Participants", UintegerValue(4));
    center->SetAttribute("SelectionPolicy", StringValue("ns3::LastDevicesSelection"));
    Run();
    ASSERT_EQ(rounds.size(), 3U);
    for (const RoundRecord& record : rounds)
    {
        EXPECT_EQ(record.received, 4U);
        std::map<uint32_t, std::vector<uint32_t>> selected; // of each group, ascending
        for (const LinkRecord& link : record.links)
        {
            selected[link.group].push_back(link.device);
        }
        for (auto& [group, devices] : selected)
        {
            EXPECT_EQ(devices.back(), 6 + group);
            for (std::size_t i = 1; i < devices.size(); ++i)
            {
                EXPECT_EQ(devices[i], devices[i - 1] + 2);
            }
        }
    }
}

TEST_F(SelectionFederation, RoundRobinAsksEveryDeviceOfAGroupInTurns)
{
    Build(9);
    center->SetAttribute("GroupBits", StringValue("2"));
    SetForDevices("Group", UintegerValue(0));
    SetForDevices("Bits", UintegerValue(2));
    center->SetAttribute("Participants", UintegerValue(3));
    center->SetAttribute("Rounds", UintegerValue(9));
    center->SetAttribute("SelectionPolicy", StringValue("ns3::RoundRobinSelection"));
    Run();
    ASSERT_EQ(rounds.size(), 9U);
    for (uint32_t device = 0; device < 9; ++device)
    {
        const uint32_t first = 1 + device / 3;
        EXPECT_EQ(GetRounds(device), (std::set<uint32_t>{first, first + 3, first + 6}));
    }
}

TEST_F(SelectionFederation, PoliciesSeeWhatTheCenterKnowsOfADevice)
{
    Build(6);
    auto policy = CreateObject<RecordingSelection>();
    auto probe = CreateObject<GivenProbe>();
    probe->Set(2, 12.5);
    center->SetAttribute("SelectionPolicy", PointerValue(policy));
    center->SetAttribute("Probe", PointerValue(probe));
    center->SetAttribute("Participants", UintegerValue(3));
    center->SetAttribute("Rounds", UintegerValue(12));
    SetForAll("FragmentSize", UintegerValue(200));
    auto loss = CreateObject<RateErrorModel>();
    loss->SetUnit(RateErrorModel::ERROR_UNIT_PACKET);
    loss->SetRate(0.3);
    loss->AssignStreams(50);
    SetLoss(GetCenterEnd(1), loss);
    Run();
    ASSERT_EQ(rounds.size(), 12U);
    std::map<uint32_t, uint32_t> asked;   // last round of each device
    std::map<uint32_t, double> delivered; // moving average, half of it the last round
    bool hasLost = false;
    for (const RoundRecord& record : rounds)
    {
        for (uint32_t device = 0; device < 6; ++device)
        {
            SCOPED_TRACE(testing::Message() << "device " << device << " in round " << record.round);
            const auto found = policy->seen.find({record.round, device});
            ASSERT_NE(found, policy->seen.end());
            const SelectionCandidate& candidate = found->second;
            EXPECT_EQ(candidate.samples, 40U);
            EXPECT_GT(candidate.goodput, 0);
            EXPECT_TRUE(device == 2 ? candidate.snr == 12.5 : std::isnan(candidate.snr));
            EXPECT_TRUE(std::isnan(candidate.battery));
            EXPECT_EQ(candidate.roundsSinceAsked,
                      asked.count(device) > 0 ? record.round - asked[device]
                                              : SelectionCandidate::NEVER);
            if (delivered.count(device) > 0)
            {
                EXPECT_DOUBLE_EQ(candidate.deliveredFraction, delivered[device]);
            }
            else
            {
                EXPECT_TRUE(std::isnan(candidate.deliveredFraction));
            }
        }
        for (const LinkRecord& link : record.links)
        {
            asked[link.device] = record.round;
            if (link.sentFragments > 0)
            {
                const double fraction =
                    static_cast<double>(link.receivedFragments) / link.sentFragments;
                const auto before = delivered.find(link.device);
                delivered[link.device] =
                    before == delivered.end() ? fraction : (before->second + fraction) / 2;
                hasLost = hasLost || fraction < 1;
            }
        }
    }
    EXPECT_TRUE(hasLost);
}

TEST_F(SelectionFederation, EqualRunsArePairedWhateverThePolicyIs)
{
    std::vector<std::map<std::pair<uint32_t, uint32_t>, double>> all;
    std::vector<std::vector<float>> firstModels;
    for (const char* policy :
         {"ns3::RandomSelection", "ns3::RoundRobinSelection", "ns3::LastDevicesSelection"})
    {
        Build(10);
        losses.clear();
        center->SetAttribute("SelectionPolicy", StringValue(policy));
        center->SetAttribute("Participants", UintegerValue(4));
        center->SetAttribute("Rounds", UintegerValue(10));
        // The model hardly changes, so that losses tell batches apart, and nothing else does.
        SetForDevices("LearningRate", DoubleValue(1e-30));
        for (auto& device : apps)
        {
            device->TraceConnectWithoutContext("TrainingDone",
                                               MakeCallback(&SelectionFederation::OnTrained, this));
        }
        ScheduleCall(Time(0), [&]() { firstModels.push_back(center->GetModel()); });
        Run();
        ASSERT_EQ(rounds.size(), 10U);
        all.push_back(losses);
    }
    ASSERT_EQ(firstModels.size(), 3U);
    for (std::size_t i = 1; i < all.size(); ++i)
    {
        EXPECT_EQ(firstModels[i], firstModels[0]);
        uint32_t common = 0;
        for (const auto& [where, loss] : all[i])
        {
            const auto other = all[0].find(where);
            if (other != all[0].end())
            {
                EXPECT_EQ(loss, other->second)
                    << "round " << where.first << ", device " << where.second;
                ++common;
            }
        }
        EXPECT_GT(common, 3U);
        EXPECT_LT(common, all[0].size()) << "the policies select different devices";
    }
}

TEST_F(SelectionFederation, ASilentDeviceIsAskedNowAndThenUntilItAnswers)
{
    BuildSilent(24);
    atStart[15] = [this]() { SetLink(1, true); };
    Run();
    ASSERT_EQ(rounds.size(), 24U);
    EXPECT_EQ(GetRounds(0).size(), 24U) << "the others are asked in every round";
    // Silent in 3 and 4, then asked after pauses of four rounds; it answers in round 19.
    EXPECT_EQ(GetRounds(1), (std::set<uint32_t>{1, 2, 3, 4, 9, 14, 19, 20, 21, 22, 23, 24}));
    EXPECT_EQ(rounds[2].links[1].state, PARTICIPANT_UNREACHABLE);
    EXPECT_EQ(rounds[18].links[1].state, PARTICIPANT_COMPLETE);
}

TEST_F(SelectionFederation, ASilentDeviceThatJoinsAgainIsAskedLikeTheOthers)
{
    BuildSilent(10);
    atStart[6] = [this]()
    {
        SetLink(1, true);
        auto again = CreateObject<FederatedDevice>(); // the device was switched off and on
        for (const char* name : {"DeviceId", "Group", "Bits", "Remote", "Task", "Quantizer"})
        {
            const auto attribute = FederatedDevice::GetTypeId();
            TypeId::AttributeInformation information;
            ASSERT_TRUE(attribute.LookupAttributeByName(name, &information));
            const Ptr<AttributeValue> value = information.checker->Create();
            apps[1]->GetAttribute(name, *value);
            again->SetAttribute(name, *value);
        }
        nodes.Get(2)->AddApplication(again);
    };
    Run();
    ASSERT_EQ(rounds.size(), 10U);
    EXPECT_EQ(GetRounds(1), (std::set<uint32_t>{1, 2, 3, 4, 7, 8, 9, 10}));
    EXPECT_EQ(rounds.back().received, 3U);
}

TEST_F(SelectionFederation, SilentDevicesAreAskedLikeTheOthersUnlessTheCenterIsToldOtherwise)
{
    BuildSilent(8);
    center->SetAttribute("SilentRounds", UintegerValue(0));
    Run();
    EXPECT_EQ(GetRounds(1).size(), 8U);
}
