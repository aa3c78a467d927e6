// SPDX-License-Identifier: GPL-2.0-only

#include "ns3/best-snr-selection.h"
#include "ns3/boolean.h"
#include "ns3/object-factory.h"
#include "ns3/random-selection.h"
#include "ns3/round-robin-selection.h"
#include "ns3/selection-policy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>

using namespace ns3;

namespace
{

constexpr double UNKNOWN = std::numeric_limits<double>::quiet_NaN();
constexpr uint32_t NEVER = SelectionCandidate::NEVER;

using Devices = std::vector<uint32_t>;

/** @return devices 0 to count-1, of which nothing is known. */
std::vector<SelectionCandidate>
MakeCandidates(uint32_t count)
{
    std::vector<SelectionCandidate> candidates(count);
    for (uint32_t i = 0; i < count; ++i)
    {
        candidates[i].device = i;
    }
    return candidates;
}

/** Answers what a test tells it. */
class GivenSelection : public SelectionPolicy
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("ns3::GivenSelection").SetParent<SelectionPolicy>();
        return tid;
    }

    Devices answer;

  private:
    Devices DoSelect(const SelectionContext&, const std::vector<SelectionCandidate>&) override
    {
        return answer;
    }
};

/** A group whose devices join and leave, and are asked. */
class Members
{
  public:
    /** Select devices in the next round. @return them. */
    Devices Ask(SelectionPolicy& policy, uint32_t count)
    {
        ++m_round;
        std::vector<SelectionCandidate> candidates;
        for (const uint32_t device : joined)
        {
            SelectionCandidate candidate;
            candidate.device = device;
            const auto asked = m_asked.find(device);
            candidate.roundsSinceAsked = asked == m_asked.end() ? NEVER : m_round - asked->second;
            candidates.push_back(candidate);
        }
        Devices selected = policy.Select({m_round, 0, count, 1}, candidates);
        for (const uint32_t device : selected)
        {
            m_asked[device] = m_round;
        }
        return selected;
    }

    std::set<uint32_t> joined;

  private:
    uint32_t m_round = 0;
    std::map<uint32_t, uint32_t> m_asked; // last round of each device
};

} // namespace

TEST(RandomSelection, DrawsTheFirstOfAShuffleThatSeedGroupAndRoundDetermine)
{
    auto policy = CreateObject<RandomSelection>();
    std::vector<SelectionCandidate> candidates = MakeCandidates(30);
    candidates.erase(candidates.begin() + 4); // identifiers may have gaps
    for (const uint64_t seed : {uint64_t{1}, uint64_t{1} << 40})
    {
        for (const uint32_t group : {0U, 3U})
        {
            for (const uint32_t round : {1U, 2U, 1000U})
            {
                Devices expected;
                for (const SelectionCandidate& candidate : candidates)
                {
                    expected.push_back(candidate.device);
                }
                FederatedRandom(seed, FederatedRandom::SELECTION, group, round).Shuffle(expected);
                expected.resize(7);
                std::sort(expected.begin(), expected.end());
                EXPECT_EQ(policy->Select({round, group, 7, seed}, candidates), expected);
            }
        }
    }
}

TEST(RandomSelection, LooksAtNothingButIdentifiers)
{
    auto policy = CreateObject<RandomSelection>();
    const SelectionContext context{5, 1, 4, 9};
    std::vector<SelectionCandidate> candidates = MakeCandidates(12);
    const Devices selected = policy->Select(context, candidates);
    for (SelectionCandidate& candidate : candidates)
    {
        candidate.snr = 100.0 - candidate.device;
        candidate.samples = candidate.device;
        candidate.roundsSinceAsked = 12 - candidate.device;
        candidate.battery = 0.5;
    }
    EXPECT_EQ(policy->Select(context, candidates), selected);
}

TEST(BestSnrSelection, SelectsTheHighestSnr)
{
    struct Case
    {
        std::string name;
        bool explore;
        std::vector<double> snrs;
        std::vector<uint32_t> roundsSinceAsked;
        uint32_t count;
        Devices selected;
    };

    const double infinite = std::numeric_limits<double>::infinity();
    const std::vector<Case> cases{
        {"all known", true, {1, 5, 3, 4}, {1, 1, 1, 1}, 2, {1, 3}},
        {"known before they were asked", true, {1, 5, 3, 4}, {NEVER, NEVER, NEVER, NEVER}, 1, {1}},
        {"all", true, {1, UNKNOWN, 3}, {1, NEVER, 7}, 3, {0, 1, 2}},
        {"none", true, {1, UNKNOWN, 3}, {1, NEVER, 7}, 0, {}},
        {"no signal and no noise", true, {0, infinite, 1e9}, {1, 1, 1}, 1, {1}},
        {"never asked first", true, {9, UNKNOWN, 8}, {1, NEVER, 1}, 2, {0, 1}},
        {"never asked after known ones", false, {9, UNKNOWN, 8}, {1, NEVER, 1}, 2, {0, 2}},
        {"asked and not heard last", true, {9, UNKNOWN, 0.001}, {1, 1, 1}, 2, {0, 2}},
        {"in this order", true, {UNKNOWN, 0.1, UNKNOWN}, {1, 1, NEVER}, 2, {1, 2}},
    };
    for (const Case& one : cases)
    {
        SCOPED_TRACE(one.name);
        auto policy =
            CreateObjectWithAttributes<BestSnrSelection>("Explore", BooleanValue(one.explore));
        auto candidates = MakeCandidates(static_cast<uint32_t>(one.snrs.size()));
        for (std::size_t i = 0; i < candidates.size(); ++i)
        {
            candidates[i].snr = one.snrs[i];
            candidates[i].roundsSinceAsked = one.roundsSinceAsked[i];
        }
        for (uint32_t round = 1; round < 20; ++round) // whatever is drawn
        {
            EXPECT_EQ(policy->Select({round, 0, one.count, 3}, candidates), one.selected);
        }
    }
}

TEST(BestSnrSelection, DrawsAmongEqualsReproduciblyAndFairly)
{
    constexpr uint32_t ROUNDS = 1000;
    for (const double snr : {UNKNOWN, 2.0})
    {
        auto policy = CreateObject<BestSnrSelection>();
        auto candidates = MakeCandidates(11);
        for (SelectionCandidate& candidate : candidates)
        {
            candidate.snr = snr;
            candidate.roundsSinceAsked = 1;
        }
        candidates[4].snr = 3; // in every round, beside three of the other ten
        std::vector<double> counts(11);
        for (uint32_t round = 1; round <= ROUNDS; ++round)
        {
            const Devices selected = policy->Select({round, 0, 4, 7}, candidates);
            EXPECT_EQ(policy->Select({round, 0, 4, 7}, candidates), selected);
            for (const uint32_t device : selected)
            {
                ++counts[device];
            }
        }
        EXPECT_EQ(counts[4], ROUNDS);
        counts.erase(counts.begin() + 4);
        // Binomial with probability 0.3; 6 standard deviations: one of ten fails with 2e-8.
        const double deviation = std::sqrt(ROUNDS * 0.3 * 0.7);
        for (const double count : counts)
        {
            EXPECT_NEAR(count, 0.3 * ROUNDS, 6 * deviation);
        }
    }
}

TEST(RoundRobinSelection, AsksInTheOrderOfIdentifiersAndBeginsAnew)
{
    auto policy = CreateObject<RoundRobinSelection>();
    Members members;
    members.joined = {2, 3, 5, 7, 11};
    EXPECT_EQ(members.Ask(*policy, 2), (Devices{2, 3}));
    EXPECT_EQ(members.Ask(*policy, 2), (Devices{5, 7}));
    EXPECT_EQ(members.Ask(*policy, 2), (Devices{2, 11}));
    EXPECT_EQ(members.Ask(*policy, 5), (Devices{2, 3, 5, 7, 11}));
    EXPECT_EQ(members.Ask(*policy, 1), (Devices{2}));
}

TEST(RoundRobinSelection, AsksWhoJoinsBeforeAnybodyElseAgain)
{
    auto policy = CreateObject<RoundRobinSelection>();
    Members members;
    members.joined = {2, 3, 5, 7};
    EXPECT_EQ(members.Ask(*policy, 3), (Devices{2, 3, 5}));
    members.joined = {1, 2, 3, 5, 7};
    EXPECT_EQ(members.Ask(*policy, 3), (Devices{1, 2, 7}));
    members.joined.erase(3); // it leaves, and joins again in the next round
    EXPECT_EQ(members.Ask(*policy, 1), (Devices{5}));
    members.joined.insert(3);
    EXPECT_EQ(members.Ask(*policy, 2), (Devices{1, 3})) << "3 keeps its turn, before 2 and 7";
}

TEST(RoundRobinSelection, AsksEveryMemberOnceBeforeAnyIsAskedAgain)
{
    auto policy = CreateObject<RoundRobinSelection>();
    FederatedRandom random(11);
    Members members;
    std::map<uint32_t, uint32_t> asked; // the last round of each member, counted from 1; 0: never
    members.joined = {0, 1};
    for (uint32_t round = 0; round < 2000; ++round)
    {
        const uint32_t device = random.Below(40);
        if (random.Below(2) == 0)
        {
            members.joined.insert(device);
        }
        else if (members.joined.size() > 1)
        {
            members.joined.erase(device);
        }
        const auto size = static_cast<uint32_t>(members.joined.size());
        const Devices selected = members.Ask(*policy, 1 + random.Below(size));
        // Those who are selected have waited at least as long as those who are not.
        uint32_t latest = 0;
        for (const uint32_t member : selected)
        {
            latest = std::max(latest, asked[member]);
            asked[member] = round + 1;
        }
        for (const uint32_t member : members.joined)
        {
            EXPECT_GE(asked[member], latest) << member << " in round " << round;
        }
    }
}

TEST(SelectionPolicy, IsNotAskedWhereAllCandidatesAreWanted)
{
    auto policy = CreateObject<GivenSelection>();
    policy->answer = {77};
    EXPECT_EQ(policy->Select({1, 0, 3, 0}, MakeCandidates(3)), (Devices{0, 1, 2}));
    EXPECT_EQ(policy->Select({1, 0, 0, 0}, {}), Devices{});
}

using SelectionPolicyDeathTest = testing::Test;

TEST_F(SelectionPolicyDeathTest, AWrongAnswerIsASentenceThatNamesThePolicy)
{
    auto policy = CreateObject<GivenSelection>();
    auto candidates = MakeCandidates(5);
    candidates.erase(candidates.begin() + 1);
    const SelectionContext context{7, 2, 2, 0};
    policy->answer = {4, 0};
    EXPECT_EQ(policy->Select(context, candidates), (Devices{0, 4}));
    policy->answer = {4};
    EXPECT_DEATH(policy->Select(context, candidates),
                 "ns3::GivenSelection selected 1 devices of group 2 in round 7, not 2");
    policy->answer = {4, 0, 2};
    EXPECT_DEATH(policy->Select(context, candidates), "selected 3 devices");
    policy->answer = {4, 4};
    EXPECT_DEATH(policy->Select(context, candidates),
                 "ns3::GivenSelection selected device 4 of group 2 in round 7, which is not a "
                 "candidate or was selected twice");
    policy->answer = {0, 1};
    EXPECT_DEATH(policy->Select(context, candidates), "selected device 1 of group 2");
    policy->answer = {0, 5};
    EXPECT_DEATH(policy->Select(context, candidates), "selected device 5 of group 2");
    EXPECT_DEATH(policy->Select({7, 2, 5, 0}, candidates),
                 "ns3::GivenSelection is to select 5 of 4 devices");
}
