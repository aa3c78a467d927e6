// SPDX-License-Identifier: GPL-2.0-only

#include "allocation-counter.h"

#include "ns3/double.h"
#include "ns3/dp-stochastic-quantizer.h"
#include "ns3/fixed-bit-budget.h"
#include "ns3/identity-quantizer.h"
#include "ns3/measured-bit-budget.h"
#include "ns3/object-factory.h"
#include "ns3/random-selection.h"
#include "ns3/round-planner.h"
#include "ns3/simulator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <string>
#include <vector>

using namespace ns3;
using namespace ns3::federated;

namespace
{

const double UNKNOWN = std::numeric_limits<double>::quiet_NaN();
const double INFINITE = std::numeric_limits<double>::infinity();

/** One device of each group, then those of the fewest bits; remembers what it was asked. */
class CheapestSizes : public ClusterSizePolicy
{
  public:
    uint32_t calls = 0;
    std::vector<ClusterGroup> groups;

  private:
    std::vector<uint32_t> DoChoose(const std::vector<ClusterGroup>& given,
                                   uint32_t participants,
                                   uint64_t) override
    {
        ++calls;
        groups = given;
        std::vector<uint32_t> sizes(given.size(), 1);
        std::vector<std::size_t> order(given.size());
        std::iota(order.begin(), order.end(), 0);
        std::sort(order.begin(),
                  order.end(),
                  [&](std::size_t a, std::size_t b)
                  { return given[a].wireBits < given[b].wireBits; });
        auto left = static_cast<uint32_t>(participants - given.size());
        for (const std::size_t m : order)
        {
            const uint32_t more = std::min(left, given[m].devices - 1);
            sizes[m] += more;
            left -= more;
        }
        return sizes;
    }
};

/** Rounds of 10 s for updates of 1000 coordinates, without any limit. */
struct Planner
{
    Planner()
    {
        SetFixed(INFINITE);
        SetQuantizer(CreateObject<DpStochasticQuantizer>());
        rules.dimension = 1000;
        rules.groupBits = {2, 4};
        rules.participants = 100;
        rules.deadline = Seconds(10);
        rules.uplinkRate = DataRate("8Mbps"); // a byte a microsecond
        rules.room = 156; // 44 bytes of header, 12 of an interval, 100 of coordinates
        rules.seed = 7;
    }

    void SetFixed(double bits)
    {
        budget = CreateObjectWithAttributes<FixedBitBudget>("Bits", DoubleValue(bits));
        rules.budget = PeekPointer(budget);
    }

    void SetMeasured()
    {
        budget = CreateObject<MeasuredBitBudget>();
        rules.budget = PeekPointer(budget);
    }

    void SetQuantizer(Ptr<Quantizer> other)
    {
        quantizer = other;
        rules.quantizer = PeekPointer(quantizer);
    }

    /** Add a device, numbered from 0 on. */
    PlannerDevice& Add(uint32_t group, const Time& training = Time(0), double goodput = 1e6)
    {
        PlannerDevice device;
        device.device = static_cast<uint32_t>(devices.size());
        device.group = group;
        device.training = training;
        device.goodput = goodput;
        device.airRate = goodput;
        devices.push_back(device);
        return devices.back();
    }

    void AddMany(uint32_t count, uint32_t group, double goodput = 1e6)
    {
        for (uint32_t i = 0; i < count; ++i)
        {
            Add(group, Time(0), goodput);
        }
    }

    RoundPlan Plan(const Time& now = Time(0), uint32_t round = 1)
    {
        return PlanRound(round, devices, rules, *policy, *selection, now);
    }

    /** @return how many devices of each group a plan selects. */
    std::vector<uint32_t> CountByGroup(const RoundPlan& plan) const
    {
        std::vector<uint32_t> sizes(rules.groupBits.size());
        for (const uint32_t device : plan.selected)
        {
            ++sizes[devices[device].group];
        }
        return sizes;
    }

    RoundRules rules;
    std::vector<PlannerDevice> devices;
    Ptr<Quantizer> quantizer;
    Ptr<BitBudget> budget;
    Ptr<CheapestSizes> policy = CreateObject<CheapestSizes>();
    Ptr<SelectionPolicy> selection = CreateObject<RandomSelection>();
};

using Sizes = std::vector<uint32_t>;

/** A budget that rises and falls with the time that is left. */
class WavyBudget : public BitBudget
{
  public:
    double scale = 1;
    bool countsWireBits = false;

  private:
    double DoGetBudget(const BitBudgetContext& context) const override
    {
        return scale * (1 + std::sin(50 * context.uplinkSeconds));
    }

    bool DoCountsWireBits() const override
    {
        return countsWireBits;
    }
};

/** Remembers what it was asked, and selects the last candidates. */
class LastSelection : public SelectionPolicy
{
  public:
    std::vector<SelectionContext> contexts;
    std::vector<std::vector<SelectionCandidate>> candidates;

  private:
    std::vector<uint32_t> DoSelect(const SelectionContext& context,
                                   const std::vector<SelectionCandidate>& given) override
    {
        contexts.push_back(context);
        candidates.push_back(given);
        std::vector<uint32_t> selected;
        for (auto candidate = given.end() - context.count; candidate != given.end(); ++candidate)
        {
            selected.push_back(candidate->device);
        }
        return selected;
    }
};

/** What is planned before devices are chosen. */
struct Fit
{
    uint32_t participants;
    double budget;
    double uplinkSeconds;
};

/**
 * @return how many devices fit into a budget, at least one of each group; 0 if not even these do.
 */
uint32_t
CountFeasible(const std::vector<std::vector<unsigned>>& bits, uint32_t participants, double budget)
{
    std::vector<unsigned> others; // beside one of each group
    double left = budget;
    for (const auto& group : bits)
    {
        left -= group[0];
        others.insert(others.end(), group.begin() + 1, group.end());
    }
    if (bits.empty() || participants < bits.size() || left < 0)
    {
        return 0;
    }
    std::sort(others.begin(), others.end());
    auto count = static_cast<uint32_t>(bits.size());
    for (std::size_t i = 0; i < others.size() && count < participants && left >= others[i]; ++i)
    {
        left -= others[i];
        ++count;
    }
    return count;
}

/**
 * N, B and tau by their definition: N is counted down until B, after N models, carries N updates.
 */
Fit
FitByDefinition(const Planner& planner)
{
    const RoundRules& rules = planner.rules;
    std::vector<std::vector<unsigned>> bits(rules.groupBits.size()); // of the devices of groups
    double secondsPerBit = 0;
    for (const PlannerDevice& device : planner.devices)
    {
        const unsigned b = rules.groupBits[device.group];
        bits[device.group].push_back(
            rules.budget->CountsWireBits() ? rules.quantizer->GetWireBits(b) : b);
        secondsPerBit += 1 / device.goodput;
    }
    bits.erase(
        std::remove_if(bits.begin(), bits.end(), [](const auto& group) { return group.empty(); }),
        bits.end());
    const auto joined = static_cast<uint32_t>(planner.devices.size());
    Fit fit{};
    while (true)
    {
        uint32_t available = 0;
        for (const auto& group : bits)
        {
            available += static_cast<uint32_t>(group.size());
        }
        for (uint32_t n = std::min(rules.participants, joined); n >= 1; --n)
        {
            const int64_t models = rules.modelForEach ? n : 1;
            const Time before = rules.grantSpacing * static_cast<int64_t>(n) +
                                rules.modelTime * models + rules.repairTime + rules.guard;
            Time slowest(0);
            for (const PlannerDevice& device : planner.devices)
            {
                if (device.training < rules.deadline - before)
                {
                    slowest = std::max(slowest, device.training);
                }
            }
            BitBudgetContext context;
            context.dimension = rules.dimension;
            context.uplinkSeconds =
                std::max(rules.deadline - before - slowest - rules.lateness, Time(0)).GetSeconds();
            context.rate = joined / secondsPerBit;
            fit.uplinkSeconds = context.uplinkSeconds;
            fit.budget = rules.budget->GetBudget(context);
            fit.participants = CountFeasible(bits, n, fit.budget);
            if (fit.participants >= std::min(n, available) || !rules.modelForEach)
            {
                break;
            }
        }
        if (fit.participants > 0 || bits.size() <= 1)
        {
            break;
        }
        bits.erase(std::max_element(
            bits.begin(), bits.end(), [](const auto& x, const auto& y) { return x[0] < y[0]; }));
    }
    if (fit.participants == 0 && rules.budget->CountsWireBits() && fit.uplinkSeconds > 0)
    {
        fit.participants = 1;
    }
    return fit;
}

} // namespace

TEST(RoundPlanner, GivesTheBudgetTheTimeThatIsLeftAndTheMeanRate)
{
    struct Case
    {
        std::string name;
        bool modelForEach;
        uint32_t participants;
        std::vector<int> trainingMs;
        double uplinkSeconds;
    };

    // Of 1000 ms, each grant takes 1, a model 100, repairs 20, a guard time 5, lateness 10.
    const std::vector<Case> cases{
        {"a model each", true, 2, {50, 80}, 1 - 0.002 - 0.2 - 0.025 - 0.08 - 0.01},
        {"one model for all", false, 2, {50, 80}, 1 - 0.002 - 0.1 - 0.025 - 0.08 - 0.01},
        {"more are wanted than there are", true, 9, {50, 80}, 1 - 0.002 - 0.2 - 0.025 - 0.09},
        {"fewer are wanted", true, 1, {50, 80}, 1 - 0.001 - 0.1 - 0.025 - 0.08 - 0.01},
        {"one is too slow to count", true, 2, {50, 900}, 1 - 0.002 - 0.2 - 0.025 - 0.05 - 0.01},
        {"one is just too slow", true, 2, {50, 773}, 1 - 0.002 - 0.2 - 0.025 - 0.05 - 0.01},
        {"one is just in time", true, 2, {50, 763}, 0},
        {"time is never negative", true, 2, {50, 772}, 0},
        {"all are too slow", true, 2, {900, 900}, 1 - 0.002 - 0.2 - 0.025 - 0.01},
        {"models take almost all",
         true,
         9,
         std::vector<int>(9, 50),
         1 - 0.009 - 0.9 - 0.025 - 0.06},
        {"models take more than all", true, 10, std::vector<int>(10, 50), 0},
    };
    for (const Case& one : cases)
    {
        SCOPED_TRACE(one.name);
        Planner planner;
        planner.rules.deadline = Seconds(1);
        planner.rules.modelForEach = one.modelForEach;
        planner.rules.participants = one.participants;
        planner.rules.grantSpacing = MilliSeconds(1);
        planner.rules.modelTime = MilliSeconds(100);
        planner.rules.repairTime = MilliSeconds(20);
        planner.rules.guard = MilliSeconds(5);
        planner.rules.lateness = MilliSeconds(10);
        for (const int training : one.trainingMs)
        {
            planner.Add(0, MilliSeconds(training), 1e9);
        }
        const RoundPlan plan = planner.Plan(Seconds(3), 17);
        EXPECT_EQ(plan.context.round, 17U);
        EXPECT_EQ(plan.context.dimension, 1000U);
        EXPECT_NEAR(plan.context.uplinkSeconds, one.uplinkSeconds, 1e-9);
        EXPECT_NEAR(plan.context.rate, 1e9, 1);
    }
}

TEST(RoundPlanner, TakesTheHarmonicMeanOfAllRates)
{
    Planner planner;
    planner.SetMeasured();
    planner.Add(0, Time(0), 1e6);
    planner.Add(0, Time(0), 3e6);
    const RoundPlan plan = planner.Plan();
    EXPECT_NEAR(plan.context.rate, 1.5e6, 1e-6); // 2 / (1 + 1/3)
    EXPECT_NEAR(plan.budget, 10 * 1.5e6 / 1000, 1e-6);
}

TEST(RoundPlanner, DoesNotLetOneSlowDeviceTakeTheBudgetOfAll)
{
    struct Case
    {
        std::string name;
        uint32_t devices; // at 1 Mbit/s, and one more
        double rate;      // of that one
        double leftOut;
        double longestSlot;
        double mean;
    };

    const std::vector<Case> cases{
        {"today's liar", 9, 30, 0, INFINITE, 10 / (9e-6 + 1 / 30.0)},
        {"left out", 9, 30, 0.1, INFINITE, 1e6},
        {"two are left out", 10, 30, 0.1, INFINITE, 1e6},
        {"limited by the median", 9, 30, 0, 3, 10e6 / 12},
        {"both", 9, 30, 0.1, 3, 1e6},
        {"of two", 1, 30, 0.1, INFINITE, 1e6},
        {"of two, limited", 1, 30, 0, 3, 2e6 / 4},
        {"alone", 0, 30, 0.1, 3, 30},
        {"slow, but not too slow", 9, 0.5e6, 0, 3, 10e6 / 11},
        {"fast", 9, 1e300, 0.1, 3, 10e6 / 9},
        {"no rate at all", 9, 0, 0.1, 3, 1e6},
        {"no rate at all, limited", 9, 0, 0, 3, 10e6 / 12},
    };
    for (const Case& one : cases)
    {
        SCOPED_TRACE(one.name);
        Planner planner;
        planner.SetMeasured();
        planner.rules.leftOut = one.leftOut;
        planner.rules.longestSlot = one.longestSlot;
        planner.AddMany(one.devices, 0);
        planner.Add(0, Time(0), one.rate);
        EXPECT_NEAR(planner.Plan().context.rate, one.mean, one.mean * 1e-9);
    }
}

TEST(RoundPlanner, LeavesOutTheSlowestAndNoneThatIsAsFastAsTheOthers)
{
    Planner planner;
    planner.SetMeasured();
    planner.rules.leftOut = 0.25;
    planner.AddMany(8, 0);
    EXPECT_NEAR(planner.Plan().context.rate, 1e6, 1e-6) << "all are alike";
    planner.devices[5].goodput = 1000;
    planner.devices[2].goodput = 10;
    EXPECT_NEAR(planner.Plan().context.rate, 1e6, 1e-6) << "two of eight";
    planner.devices[7].goodput = 1e5;
    EXPECT_NEAR(planner.Plan().context.rate, 6e6 / 15, 1e-6) << "a third one counts";
}

TEST(RoundPlanner, DoesNotLetAnAnnouncedTrainingTakeTheTimeOfAll)
{
    struct Case
    {
        std::string name;
        double leftOut;
        std::vector<int> trainingMs;
        double uplinkSeconds;
    };

    const std::vector<Case> cases{
        {"today's liar", 0, {50, 50, 50, 999}, 0.001},
        {"left out", 0.1, {50, 50, 50, 999}, 0.95},
        {"left out, too slow", 0.1, {50, 50, 50, 2000}, 0.95},
        {"of two", 0.1, {50, 999}, 0.95},
        {"of two, in any order", 0.1, {999, 50}, 0.95},
        {"alone", 0.1, {999}, 0.001},
        {"one of two slow ones counts", 0.25, {50, 900, 50, 999}, 0.1},
        {"two liars of ten", 0.2, {999, 50, 50, 50, 50, 998, 50, 50, 50, 50}, 0.95},
    };
    for (const Case& one : cases)
    {
        SCOPED_TRACE(one.name);
        Planner planner;
        planner.SetMeasured();
        planner.rules.deadline = Seconds(1);
        planner.rules.leftOut = one.leftOut;
        for (const int training : one.trainingMs)
        {
            planner.Add(0, MilliSeconds(training), 1e9);
        }
        EXPECT_NEAR(planner.Plan().context.uplinkSeconds, one.uplinkSeconds, 1e-9);
    }
}

TEST(RoundPlanner, ShrinksNUntilTheBudgetCarriesIt)
{
    struct Case
    {
        bool modelForEach;
        uint32_t wanted;
        uint32_t selected;
        double budget;
    };

    // With N models of 0.1 s, B = (1.2 - 0.1 N) 41; N devices of 8 bits need 8 N. If all ten were
    // sent a model, B = 8.2 would carry one.
    const std::vector<Case> cases{
        {true, 10, 4, 32.8},
        {true, 5, 4, 32.8},
        {true, 4, 4, 32.8},
        {true, 3, 3, 36.9},
        {true, 1, 1, 45.1},
        {true, 100, 4, 32.8},
        {true, std::numeric_limits<uint32_t>::max(), 4, 32.8}, // one at a time would take an hour
        {false, 10, 5, 45.1},                                  // one model for all: 45.1 / 8
        {false, 3, 3, 45.1},
    };
    for (const Case& one : cases)
    {
        SCOPED_TRACE(testing::Message() << one.wanted << " wanted");
        Planner planner;
        planner.SetMeasured();
        planner.rules.groupBits = {8};
        planner.rules.deadline = MilliSeconds(1200);
        planner.rules.modelTime = MilliSeconds(100);
        planner.rules.modelForEach = one.modelForEach;
        planner.rules.participants = one.wanted;
        planner.AddMany(10, 0, 41000);
        const RoundPlan plan = planner.Plan();
        EXPECT_EQ(plan.selected.size(), one.selected);
        EXPECT_EQ(plan.slots.size(), one.selected);
        EXPECT_NEAR(plan.budget, one.budget, 1e-9);
    }
}

TEST(RoundPlanner, FindsTheLargestNThatItsBudgetCarriesWhateverTheBudgetIs)
{
    FederatedRandom random(5);
    const auto draw = [&random](int64_t most)
    { return MilliSeconds(random.Below(static_cast<uint32_t>(most + 1))); };
    uint32_t reduced = 0;
    for (int i = 0; i < 3000; ++i)
    {
        Planner planner;
        RoundRules& rules = planner.rules;
        rules.groupBits.clear();
        for (uint32_t groups = 1 + random.Below(4); groups > 0; --groups)
        {
            rules.groupBits.push_back(1 + random.Below(8));
        }
        rules.deadline = MilliSeconds(1 + random.Below(2000));
        rules.modelForEach = random.Below(4) > 0;
        rules.modelTime = draw(100);
        rules.grantSpacing = draw(3);
        rules.repairTime = draw(100);
        rules.guard = draw(10);
        rules.lateness = draw(100);
        rules.participants = 1 + random.Below(50);
        for (uint32_t devices = 1 + random.Below(40); devices > 0; --devices)
        {
            planner.Add(random.Below(static_cast<uint32_t>(rules.groupBits.size())),
                        draw(random.Below(2) == 0 ? 0 : 1500),
                        1000.0 * (1 + random.Below(200)));
        }
        auto wavy = CreateObject<WavyBudget>();
        wavy->scale = random.Below(100);
        wavy->countsWireBits = random.Below(2) == 0;
        switch (random.Below(3))
        {
        case 0:
            planner.SetMeasured();
            break;
        case 1:
            planner.SetFixed(random.Below(200) / 2.0);
            break;
        default:
            planner.budget = wavy;
            rules.budget = PeekPointer(wavy);
        }
        SCOPED_TRACE(i);
        const Fit fit = FitByDefinition(planner);
        const RoundPlan plan = planner.Plan();
        EXPECT_EQ(plan.selected.size(), fit.participants);
        EXPECT_EQ(plan.budget, fit.budget);
        EXPECT_EQ(plan.context.uplinkSeconds, fit.uplinkSeconds);
        reduced += plan.selected.size() <
                   std::min<std::size_t>(rules.participants, planner.devices.size());
    }
    EXPECT_GT(reduced, 1000U) << "else little was tried";
}

TEST(RoundPlanner, TriesManyNumbersOfParticipantsWithoutMemoryForEach)
{
    Simulator::Run(); // before the first run ns-3 lists all times, to change their unit
    Simulator::Destroy();
    constexpr uint32_t MEMBERS = 4000;
    Planner planner;
    planner.SetMeasured();
    planner.rules.groupBits = {2, 4, 6, 8};
    planner.rules.participants = MEMBERS;
    planner.rules.modelTime = MicroSeconds(1);
    for (uint32_t i = 0; i < MEMBERS; ++i)
    {
        planner.Add(i % 4, MilliSeconds(i % 100), 1e4);
    }
    const std::size_t before = GetAllocations();
    const RoundPlan plan = planner.Plan(); // B, about 100, carries some fifty of them
    const std::size_t allocations = GetAllocations() - before;
    EXPECT_LT(plan.selected.size(), 100U) << "nearly all numbers from 4000 on are tried";
    EXPECT_LT(allocations, MEMBERS / 10);
}

TEST(RoundPlanner, AsksTheSelectionPolicyForDevicesOfEachGroup)
{
    Planner planner;
    auto last = CreateObject<LastSelection>();
    planner.selection = last;
    planner.rules.groupBits = {2, 4, 6};
    planner.rules.participants = 4;
    planner.AddMany(4, 0);
    planner.AddMany(4, 2); // nobody is in group 1
    PlannerDevice& known = planner.devices[6];
    known.samples = 40;
    known.snr = 7;
    known.goodput = 1234;
    known.deliveredFraction = 0.75;
    known.roundsSinceAsked = 3;
    known.battery = 0.5;
    planner.devices[5].sigma2 = INFINITE;
    EXPECT_EQ(planner.Plan(Time(0), 9).selected, (std::vector<uint32_t>{1, 2, 3, 7}));
    ASSERT_EQ(last->contexts.size(), 2U);
    EXPECT_EQ(last->contexts[0].round, 9U);
    EXPECT_EQ(last->contexts[0].seed, 7U);
    EXPECT_EQ(last->contexts[0].group, 0U);
    EXPECT_EQ(last->contexts[0].count, 3U);
    EXPECT_EQ(last->contexts[1].group, 2U);
    EXPECT_EQ(last->contexts[1].count, 1U);
    ASSERT_EQ(last->candidates[1].size(), 3U) << "infinite noise: not a candidate";
    const SelectionCandidate& candidate = last->candidates[1][1];
    EXPECT_EQ(candidate.device, 6U);
    EXPECT_EQ(candidate.samples, 40U);
    EXPECT_EQ(candidate.snr, 7);
    EXPECT_EQ(candidate.goodput, 1234);
    EXPECT_EQ(candidate.deliveredFraction, 0.75);
    EXPECT_EQ(candidate.roundsSinceAsked, 3U);
    EXPECT_EQ(candidate.battery, 0.5);
    EXPECT_TRUE(std::isnan(last->candidates[1][0].snr));
    EXPECT_EQ(last->candidates[1][0].roundsSinceAsked, SelectionCandidate::NEVER);
}

TEST(RoundPlanner, LeavesSilentDevicesOutForSomeRounds)
{
    struct Case
    {
        std::string name;
        uint32_t after; // silent rounds
        uint32_t pause;
        uint32_t silentRounds;
        uint32_t roundsSinceAsked;
        bool isSelected;
    };

    const std::vector<Case> cases{
        {"off", 0, 5, 100, 1, true},
        {"heard", 2, 5, 0, 1, true},
        {"never asked", 2, 5, 0, SelectionCandidate::NEVER, true},
        {"silent, but not often enough", 2, 5, 1, 1, true},
        {"silent often enough", 2, 5, 2, 1, false},
        {"silent more often", 2, 5, 3, 1, false},
        {"the last round of its pause", 2, 5, 2, 5, false},
        {"after its pause", 2, 5, 2, 6, true},
        {"long after its pause", 2, 5, 2, 100, true},
        {"no pause", 1, 0, 9, 1, true},
        {"at once", 1, 1, 1, 1, false},
    };
    for (const Case& one : cases)
    {
        SCOPED_TRACE(one.name);
        Planner planner;
        planner.rules.silentRounds = one.after;
        planner.rules.silentPause = one.pause;
        planner.AddMany(2, 0);
        planner.AddMany(2, 1);
        planner.devices[1].silentRounds = one.silentRounds;
        planner.devices[1].roundsSinceAsked = one.roundsSinceAsked;
        EXPECT_EQ(planner.CountByGroup(planner.Plan()), (Sizes{one.isSelected ? 2U : 1U, 2}));
        // The whole group pauses.
        planner.devices[0] = planner.devices[1];
        planner.devices[0].device = 0;
        EXPECT_EQ(planner.CountByGroup(planner.Plan()), (Sizes{one.isSelected ? 2U : 0U, 2}));
        // If nobody is left, all are asked.
        planner.devices.resize(2);
        EXPECT_EQ(planner.CountByGroup(planner.Plan()), (Sizes{2, 0}));
    }
}

TEST(RoundPlanner, CountsResolutionsInAFixedBudgetAndBitsOnTheWireInAMeasuredOne)
{
    Planner planner;
    planner.SetQuantizer(CreateObject<IdentityQuantizer>());
    planner.rules.groupBits = {2};
    planner.AddMany(5, 0, 10000); // 10 s at 10 kbit/s for 1000 coordinates: B = 100
    planner.SetFixed(7);
    EXPECT_EQ(planner.Plan().selected.size(), 3U); // of 2 bits each
    EXPECT_EQ(planner.policy->groups[0].wireBits, 2U);
    planner.SetMeasured();
    EXPECT_EQ(planner.Plan().selected.size(), 3U); // of 32
    EXPECT_EQ(planner.policy->groups[0].bits, 2U);
    EXPECT_EQ(planner.policy->groups[0].wireBits, 32U);
}

TEST(RoundPlanner, LeavesTheMostExpensiveGroupsOutIfTheBudgetDoesNotCarryOneDeviceOfEach)
{
    struct Case
    {
        std::vector<unsigned> bits;
        double budget;
        Sizes sizes; // with three devices in each group, of which four are wanted
    };

    const std::vector<Case> cases{
        {{2, 4}, INFINITE, {3, 1}},
        {{2, 4}, 10, {3, 1}},
        {{2, 4}, 9.9, {2, 1}},
        {{2, 4}, 6, {1, 1}},
        {{2, 4}, 5.9, {2, 0}},
        {{4, 2}, 5.9, {0, 2}}, // the most expensive one, not the last one
        {{2, 4}, 2, {1, 0}},
        {{2, 4}, 1.9, {0, 0}},
        {{2, 4}, 0, {0, 0}},
        {{8, 2, 4}, 14, {1, 1, 1}},
        {{8, 2, 4}, 13.9, {0, 3, 1}},
        {{8, 2, 4}, 5.9, {0, 2, 0}},
        {{8, 2, 4}, 1, {0, 0, 0}},
    };
    for (const Case& one : cases)
    {
        SCOPED_TRACE(testing::Message() << one.bits.size() << " groups, budget " << one.budget);
        Planner planner;
        planner.rules.groupBits = one.bits;
        planner.rules.participants = 4;
        planner.SetFixed(one.budget);
        for (uint32_t i = 0; i < 3 * one.bits.size(); ++i)
        {
            planner.Add(i % static_cast<uint32_t>(one.bits.size()));
        }
        const RoundPlan plan = planner.Plan();
        EXPECT_EQ(planner.CountByGroup(plan), one.sizes);
        EXPECT_EQ(plan.budget, one.budget);
        EXPECT_EQ(plan.slots.size(), plan.selected.size());
    }
}

TEST(RoundPlanner, SendsOneDeviceThoughAMeasuredBudgetCarriesNone)
{
    struct Case
    {
        std::string name;
        bool measured;
        Time deadline;
        Sizes sizes;
    };

    // At 100 bit/s, 10 s carry one bit of each of 1000 coordinates.
    const std::vector<Case> cases{
        {"measured", true, Seconds(10), {0, 1}},
        {"fixed", false, Seconds(10), {0, 0}},
        {"measured, but no time at all", true, Time(0), {0, 0}},
    };
    for (const Case& one : cases)
    {
        SCOPED_TRACE(one.name);
        Planner planner;
        planner.rules.groupBits = {4, 2};
        planner.rules.deadline = one.deadline;
        planner.AddMany(2, 0, 100);
        planner.AddMany(3, 1, 100);
        if (one.measured)
        {
            planner.SetMeasured();
        }
        else
        {
            planner.SetFixed(1);
        }
        const RoundPlan plan = planner.Plan();
        EXPECT_EQ(planner.CountByGroup(plan), one.sizes) << "of the cheapest group";
        EXPECT_NEAR(plan.budget, one.deadline.IsZero() ? 0 : 1, 1e-9) << "what it really is";
    }
}

TEST(RoundPlanner, DoesNotSelectDevicesBehindInfiniteNoise)
{
    Planner planner;
    planner.AddMany(3, 0);
    planner.AddMany(2, 1);
    planner.devices[1].sigma2 = INFINITE;
    EXPECT_EQ(planner.Plan().selected, (std::vector<uint32_t>{0, 2, 3, 4}));
    planner.devices[3].sigma2 = planner.devices[4].sigma2 = INFINITE;
    EXPECT_EQ(planner.Plan().selected, (std::vector<uint32_t>{0, 2})) << "no group 1 any more";
    ASSERT_EQ(planner.policy->groups.size(), 1U);
    EXPECT_EQ(planner.policy->groups[0].bits, 2U);
    planner.devices[0].sigma2 = planner.devices[2].sigma2 = INFINITE;
    const uint32_t calls = planner.policy->calls;
    for (const bool measured : {false, true})
    {
        if (measured)
        {
            planner.SetMeasured();
        }
        const RoundPlan plan = planner.Plan();
        EXPECT_TRUE(plan.selected.empty());
        EXPECT_TRUE(plan.slots.empty());
    }
    EXPECT_EQ(planner.policy->calls, calls);
}

TEST(RoundPlanner, GivesDevicesOfUnknownNoiseTheMeanOfTheirGroup)
{
    Planner planner;
    planner.rules.groupBits = {2, 4, 6};
    planner.AddMany(4, 0);
    planner.AddMany(2, 1);
    planner.Add(2).sigma2 = 0.7;
    planner.devices[0].sigma2 = 0.1;
    planner.devices[1].sigma2 = UNKNOWN;
    planner.devices[2].sigma2 = 0.3;
    planner.devices[3].sigma2 = INFINITE; // takes no part, not in the mean either
    planner.Plan();
    const std::vector<ClusterGroup>& groups = planner.policy->groups;
    ASSERT_EQ(groups.size(), 3U);
    EXPECT_EQ(groups[0].devices, 3U);
    EXPECT_NEAR(groups[0].sigma2, 0.2, 1e-12);
    EXPECT_EQ(groups[1].devices, 2U);
    EXPECT_EQ(groups[1].sigma2, 0) << "nothing is known of the whole group";
    EXPECT_EQ(groups[2].sigma2, 0.7);
}

TEST(RoundPlanner, SelectsFromGroupsWithoutNeighbors)
{
    Planner planner;
    planner.rules.groupBits = {2, 4, 6};
    planner.Add(2);
    planner.Add(0);
    const RoundPlan plan = planner.Plan();
    EXPECT_EQ(plan.selected, (std::vector<uint32_t>{0, 1}));
    ASSERT_EQ(plan.slots.size(), 2U);
    for (const PlannedSlot& slot : plan.slots)
    {
        EXPECT_EQ(slot.group, slot.device == 0 ? 2U : 0U);
        EXPECT_EQ(slot.bits, slot.device == 0 ? 6U : 2U);
        EXPECT_EQ(slot.wireBits, slot.bits);
    }
}

TEST(RoundPlanner, PlansNothingIfNobodyJoined)
{
    for (const bool measured : {false, true})
    {
        Planner planner;
        planner.rules.repairTime = Seconds(1);
        planner.rules.modelTime = Seconds(2);
        planner.rules.grantSpacing = Seconds(2);
        if (measured)
        {
            planner.SetMeasured();
        }
        const RoundPlan plan = planner.Plan();
        EXPECT_TRUE(plan.selected.empty());
        EXPECT_TRUE(plan.slots.empty());
        EXPECT_EQ(plan.context.rate, 0);
        EXPECT_NEAR(plan.context.uplinkSeconds, 9, 1e-9) << "there is nobody to send a model";
        EXPECT_EQ(plan.budget, measured ? 0 : INFINITE);
        EXPECT_EQ(planner.policy->calls, 0U);
    }
}

TEST(RoundPlanner, OrdersSlotsByWhenDevicesWillHaveTrained)
{
    Planner planner;
    planner.rules.groupBits = {2};
    planner.rules.grantSpacing = MilliSeconds(1);
    planner.rules.modelTime = MilliSeconds(100);
    planner.rules.repairTime = MilliSeconds(20);
    planner.rules.guard = MilliSeconds(5);
    planner.Add(0, MilliSeconds(300));
    planner.Add(0, MilliSeconds(100));
    planner.Add(0, MilliSeconds(200));
    const Time now = Seconds(2);
    const RoundPlan plan = planner.Plan(now);
    ASSERT_EQ(plan.slots.size(), 3U);
    // After 3 grants, models of devices 0, 1, 2 are sent at 103, 203 and 303 ms; then 20 ms of
    // repairs, training, and 5 ms of guard.
    const uint32_t order[] = {1, 0, 2};
    const int starts[] = {203 + 20 + 100 + 5, 103 + 20 + 300 + 5, 303 + 20 + 200 + 5};
    const int models[] = {203, 103, 303};
    for (std::size_t i = 0; i < 3; ++i)
    {
        EXPECT_EQ(plan.slots[i].device, order[i]);
        EXPECT_EQ(plan.slots[i].start, now + MilliSeconds(starts[i]));
        EXPECT_EQ(plan.slots[i].modelEnd, now + MilliSeconds(models[i]));
        EXPECT_EQ(plan.slots[i].length, MicroSeconds(3 * 56 + 250));
        EXPECT_FALSE(plan.slots[i].isLate);
    }
}

TEST(RoundPlanner, PutsAGuardTimeBetweenSlots)
{
    Planner planner;
    planner.rules.groupBits = {2, 4};
    planner.rules.guard = MilliSeconds(5);
    planner.AddMany(2, 0);
    planner.AddMany(1, 1);
    planner.devices[2].training = MilliSeconds(1);
    const RoundPlan plan = planner.Plan();
    ASSERT_EQ(plan.slots.size(), 3U);
    // 2 bits: 400 coordinates fit a message, three messages; 4 bits: 200, five messages.
    const Time two = MicroSeconds(3 * 56 + 250);
    const Time four = MicroSeconds(5 * 56 + 500);
    const Time guard = MilliSeconds(5);
    EXPECT_EQ(plan.slots[0].device, 0U) << "devices that are ready at once keep their order";
    EXPECT_EQ(plan.slots[1].device, 1U);
    EXPECT_EQ(plan.slots[2].device, 2U);
    EXPECT_EQ(plan.slots[0].start, guard);
    EXPECT_EQ(plan.slots[1].start, guard + two + guard);
    EXPECT_EQ(plan.slots[2].start, guard + two + guard + two + guard) << "later than it is ready";
    EXPECT_EQ(plan.slots[2].length, four);
}

TEST(RoundPlanner, MakesSlotsAsLongAsAllMessagesOfAnUpdateTake)
{
    struct Case
    {
        std::string name;
        bool floats;
        unsigned bits;
        std::size_t room;
        std::size_t overhead;
        uint64_t bytes;
    };

    const std::vector<Case> cases{
        {"400 + 400 + 200 coordinates", false, 2, 156, 0, 3 * 56 + 250},
        {"encrypted", false, 2, 156, 28, 3 * (56 + 28) + 250},
        {"five times 200", false, 4, 156, 0, 5 * 56 + 500},
        {"all in one", false, 2, 1400, 0, 56 + 250},
        {"just all in one", false, 2, 306, 0, 56 + 250},
        {"996 + 4", false, 2, 305, 0, 2 * 56 + 250},
        // 266 would fit, but fragments of 3 bits end at multiples of 8 coordinates.
        {"three times 264, and 208", false, 3, 156, 0, 4 * 56 + 3 * 99 + 78},
        {"40 times 25 floats", true, 2, 156, 0, 40 * 56 + 4000},
    };
    for (const Case& one : cases)
    {
        SCOPED_TRACE(one.name);
        Planner planner;
        if (one.floats)
        {
            planner.SetQuantizer(CreateObject<IdentityQuantizer>());
        }
        planner.rules.groupBits = {one.bits};
        planner.rules.room = one.room;
        planner.rules.overhead = one.overhead;
        planner.Add(0);
        RoundPlan plan = planner.Plan();
        ASSERT_EQ(plan.slots.size(), 1U);
        EXPECT_EQ(plan.slots[0].bits, one.bits);
        EXPECT_EQ(plan.slots[0].wireBits, one.floats ? 32 : one.bits);
        EXPECT_EQ(plan.slots[0].length, MicroSeconds(one.bytes));
        planner.rules.uplinkRate = DataRate("8kbps");
        plan = planner.Plan();
        EXPECT_EQ(plan.slots[0].length, MilliSeconds(one.bytes));
    }
}

TEST(RoundPlanner, MakesSlotsLongEnoughForUpdatesOfMoreThan512MiB)
{
    constexpr std::size_t FLOATS = 10000; // in a message
    Planner planner;
    planner.SetQuantizer(CreateObject<IdentityQuantizer>());
    planner.rules.dimension = 140'000'000;
    planner.rules.room = 56 + 4 * FLOATS;
    planner.Add(0);
    const RoundPlan plan = planner.Plan();
    ASSERT_EQ(plan.slots.size(), 1U);
    const uint64_t bytes = 14000 * (56 + 4 * FLOATS); // 8 times as many bits: more than 2^32
    EXPECT_EQ(plan.slots[0].length, MicroSeconds(bytes));
}

TEST(RoundPlanner, LeavesSlowDevicesMoreTimeIfSlotsAreMeasured)
{
    struct Case
    {
        std::string name;
        bool measured;
        double airRate;
        Time needed;
    };

    const Time length = MicroSeconds(3 * 56 + 250);
    const std::vector<Case> cases{
        {"slow, not measured", false, 10e3, length},
        {"slow", true, 10e3, MilliSeconds(200)}, // 2000 bits
        {"fast", true, 1e9, length},
        {"no longer than a round", true, 1, Seconds(10)},
        {"nothing at all", true, 0, Seconds(10)},
    };
    for (const Case& one : cases)
    {
        SCOPED_TRACE(one.name);
        Planner planner;
        planner.rules.guard = MilliSeconds(5);
        planner.rules.measuredSlots = one.measured;
        planner.AddMany(2, 0);
        planner.devices[0].airRate = one.airRate;
        const RoundPlan plan = planner.Plan();
        ASSERT_EQ(plan.slots.size(), 2U);
        EXPECT_EQ(plan.slots[0].length, length) << "over which it spreads what it sends";
        EXPECT_EQ(plan.slots[1].start, MilliSeconds(5) + one.needed + MilliSeconds(5));
    }
}

TEST(RoundPlanner, GivesNoDeviceASlotMuchLongerThanTheMedian)
{
    struct Case
    {
        std::string name;
        double airRate;
        Time needed;
    };

    // At the median rate, 10 kbit/s, 2000 bits take 200 ms.
    const std::vector<Case> cases{
        {"twice as slow", 5e3, MilliSeconds(400)},
        {"three times as slow", 10e3 / 3, MilliSeconds(600)},
        {"ten times as slow", 1e3, MilliSeconds(600)},
        {"nothing at all", 0, MilliSeconds(600)},
    };
    for (const Case& one : cases)
    {
        SCOPED_TRACE(one.name);
        Planner planner;
        planner.rules.measuredSlots = true;
        planner.rules.longestSlot = 3;
        planner.AddMany(3, 0, 10e3);
        planner.devices[0].airRate = one.airRate;
        const RoundPlan plan = planner.Plan();
        ASSERT_EQ(plan.slots.size(), 3U);
        EXPECT_EQ(plan.slots[0].end, one.needed);
        EXPECT_EQ(plan.slots[1].start, one.needed);
        EXPECT_EQ(plan.slots[2].start, one.needed + MilliSeconds(200));
        EXPECT_EQ(plan.slots[2].end, one.needed + MilliSeconds(400));
    }
}

TEST(RoundPlanner, SaysWhichSlotsEndAfterTheDeadline)
{
    const Time length = MicroSeconds(3 * 56 + 250);
    const Time guard = MilliSeconds(5);
    const Time both = guard + length + guard + length + guard;

    struct Case
    {
        Time deadline;
        bool isFirstLate;
        bool isSecondLate;
    };

    const std::vector<Case> cases{
        {both, false, false},
        {both - NanoSeconds(1), false, true},
        {guard + length + guard, false, true},
        {guard + length + guard - NanoSeconds(1), true, true},
    };
    for (const Case& one : cases)
    {
        Planner planner;
        planner.rules.guard = guard;
        planner.rules.deadline = one.deadline;
        planner.AddMany(2, 0);
        const RoundPlan plan = planner.Plan(Seconds(7));
        ASSERT_EQ(plan.slots.size(), 2U);
        EXPECT_EQ(plan.slots[0].isLate, one.isFirstLate) << one.deadline;
        EXPECT_EQ(plan.slots[1].isLate, one.isSecondLate) << one.deadline;
    }
}

TEST(RoundPlanner, MovesSlotsBehindGrantsAndModels)
{
    struct Case
    {
        std::string name;
        bool modelForEach;
        int spacingMs;
        int modelMs;
        std::vector<int> modelEndsMs;
    };

    const std::vector<Case> cases{
        {"at once", true, 0, 0, {0, 0, 0}},
        {"spaced grants", true, 2, 0, {6, 6, 6}},
        {"a model each", true, 0, 10, {10, 20, 30}},
        {"both", true, 2, 10, {16, 26, 36}},
        {"one model for all", false, 0, 10, {10, 10, 10}},
        {"one model for all after spaced grants", false, 2, 10, {16, 16, 16}},
        {"one model for all, in no time", false, 2, 0, {6, 6, 6}},
    };
    for (const Case& one : cases)
    {
        SCOPED_TRACE(one.name);
        Planner planner;
        planner.rules.modelForEach = one.modelForEach;
        planner.rules.grantSpacing = MilliSeconds(one.spacingMs);
        planner.rules.modelTime = MilliSeconds(one.modelMs);
        planner.AddMany(3, 0);
        const RoundPlan plan = planner.Plan(Seconds(1));
        ASSERT_EQ(plan.slots.size(), 3U);
        const Time length = MicroSeconds(3 * 56 + 250); // less than a model
        Time free = Seconds(1);
        for (std::size_t i = 0; i < 3; ++i)
        {
            const Time modelEnd = Seconds(1) + MilliSeconds(one.modelEndsMs[i]);
            EXPECT_EQ(plan.slots[i].device, i);
            EXPECT_EQ(plan.slots[i].modelEnd, modelEnd);
            EXPECT_EQ(plan.slots[i].start, std::max(free, modelEnd));
            free = plan.slots[i].start + length;
        }
    }
}

TEST(RoundPlanner, DrawsTheSameDevicesForTheSameSeedAndRoundOnly)
{
    Planner planner;
    planner.rules.groupBits = {2};
    planner.rules.participants = 10;
    planner.AddMany(40, 0); // two draws are equal with probability 1e-9
    const std::vector<uint32_t> selected = planner.Plan(Time(0), 1).selected;
    ASSERT_EQ(selected.size(), 10U);
    EXPECT_TRUE(std::is_sorted(selected.begin(), selected.end()));
    EXPECT_EQ(std::set<uint32_t>(selected.begin(), selected.end()).size(), 10U);
    EXPECT_EQ(planner.Plan(Seconds(5), 1).selected, selected);
    EXPECT_NE(planner.Plan(Time(0), 2).selected, selected);
    planner.rules.seed = 8;
    EXPECT_NE(planner.Plan(Time(0), 1).selected, selected);
}

TEST(RoundPlanner, DrawsEveryDeviceEquallyOften)
{
    Planner planner;
    planner.rules.groupBits = {2};
    planner.rules.participants = 3;
    planner.AddMany(10, 0);
    constexpr uint32_t ROUNDS = 1000;
    std::vector<double> counts(10);
    for (uint32_t round = 1; round <= ROUNDS; ++round)
    {
        for (const uint32_t device : planner.Plan(Time(0), round).selected)
        {
            ++counts[device];
        }
    }
    // Binomial with probability 0.3; 6 standard deviations: one of ten fails with 2e-8.
    const double deviation = std::sqrt(ROUNDS * 0.3 * 0.7);
    for (const double count : counts)
    {
        EXPECT_NEAR(count, 0.3 * ROUNDS, 6 * deviation);
    }
}
