// SPDX-License-Identifier: GPL-2.0-only

#include "ns3/double.h"
#include "ns3/federated-random.h"
#include "ns3/optimal-cluster-sizes.h"
#include "ns3/random-cluster-sizes.h"

#include <boost/math/distributions/chi_squared.hpp>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <string>
#include <tuple>

using namespace ns3;

namespace
{

using Groups = std::vector<ClusterGroup>;
using Sizes = std::vector<uint32_t>;

// The groups of the paper: 50 devices of 2 bits, 50 of 4; sigma 6.25e-4 and 0.125.
const Groups PAPER{{50, 2, 2, 6.25e-4 * 6.25e-4}, {50, 4, 4, 0.125 * 0.125}};

constexpr double UNLIMITED = std::numeric_limits<double>::infinity();

/** @return whether the sizes obey every constraint. */
bool
IsValid(const Groups& groups, uint32_t participants, double budget, const Sizes& sizes)
{
    uint64_t devices = 0;
    uint64_t bits = 0;
    for (std::size_t m = 0; m < groups.size(); ++m)
    {
        if (sizes.at(m) < 1 || sizes[m] > groups[m].devices)
        {
            return false;
        }
        devices += sizes[m];
        bits += uint64_t{sizes[m]} * groups[m].wireBits;
    }
    return sizes.size() == groups.size() && devices == participants &&
           static_cast<double>(bits) <= budget;
}

/** Append all vectors that obey the constraints and start with the given prefix. */
void
List(const Groups& groups,
     uint32_t participants,
     double budget,
     Sizes& prefix,
     std::vector<Sizes>& all)
{
    if (prefix.size() == groups.size())
    {
        if (IsValid(groups, participants, budget, prefix))
        {
            all.push_back(prefix);
        }
        return;
    }
    const uint32_t used = std::accumulate(prefix.begin(), prefix.end(), 0U);
    for (uint32_t c = 1; c <= groups[prefix.size()].devices && used + c <= participants; ++c)
    {
        prefix.push_back(c);
        List(groups, participants, budget, prefix, all);
        prefix.pop_back();
    }
}

/** @return all vectors that obey the constraints. */
std::vector<Sizes>
ListAll(const Groups& groups, uint32_t participants, double budget)
{
    Sizes prefix;
    std::vector<Sizes> all;
    List(groups, participants, budget, prefix, all);
    return all;
}

/** @return the cost of one device. */
double
CostOf(const ClusterGroup& group, double constant)
{
    return 8 * std::pow(constant / (std::pow(2.0, group.bits) - 1), 2) + group.sigma2;
}

/** @return the objective of problem op1. */
double
CostOf(const Groups& groups, const Sizes& sizes, double constant)
{
    double cost = 0;
    for (std::size_t m = 0; m < groups.size(); ++m)
    {
        cost += sizes[m] * CostOf(groups[m], constant);
    }
    return cost;
}

/** @return the sizes in the order that decides ties: by wire bits, cost, index. */
Sizes
InOrderOfTies(const Groups& groups, const Sizes& sizes, double constant)
{
    std::vector<std::tuple<uint32_t, double, std::size_t>> order;
    for (std::size_t m = 0; m < groups.size(); ++m)
    {
        order.emplace_back(groups[m].wireBits, CostOf(groups[m], constant), m);
    }
    std::sort(order.begin(), order.end());
    Sizes ordered;
    for (const auto& entry : order)
    {
        ordered.push_back(sizes[std::get<2>(entry)]);
    }
    return ordered;
}

/** @return a policy with the given constant. */
Ptr<OptimalClusterSizes>
Optimal(double constant)
{
    auto policy = CreateObject<OptimalClusterSizes>();
    policy->SetAttribute("ClippingConstant", DoubleValue(constant));
    return policy;
}

/**
 * Draw often, and test that all vectors that obey the constraints are equally frequent.
 * @return the p-value of the chi-square test.
 */
double
UniformityOf(const Groups& groups, uint32_t participants, double budget, std::size_t vectors)
{
    std::map<Sizes, double> counts;
    for (const auto& sizes : ListAll(groups, participants, budget))
    {
        counts[sizes] = 0;
    }
    EXPECT_EQ(counts.size(), vectors);
    auto policy = CreateObject<RandomClusterSizes>();
    policy->AssignStreams(17);
    const double expected = 200;
    for (double i = 0; i < expected * counts.size(); ++i)
    {
        const auto found = counts.find(policy->Choose(groups, participants, budget).sizes);
        if (found == counts.end())
        {
            ADD_FAILURE() << "a vector that breaks a constraint";
            return 0;
        }
        ++found->second;
    }
    double chi = 0;
    for (const auto& [sizes, count] : counts)
    {
        chi += (count - expected) * (count - expected) / expected;
    }
    const boost::math::chi_squared distribution(counts.size() - 1.0);
    return boost::math::cdf(boost::math::complement(distribution, chi));
}

} // namespace

TEST(ClusterSizePolicy, SaysWhichConstraintFailsAndByHowMuch)
{
    const auto policy = Optimal(10);
    const auto reason = [&policy](const Groups& groups, uint32_t participants, double budget)
    {
        const auto answer = policy->Choose(groups, participants, budget);
        EXPECT_FALSE(answer.feasible);
        EXPECT_TRUE(answer.sizes.empty());
        return answer.reason;
    };
    EXPECT_EQ(reason({}, 10, 30), "There are no groups to choose devices from.");
    EXPECT_EQ(reason({{5, 2}, {0, 4}}, 3, 30),
              "Group 1 has no devices, but one device of each group must join.");
    EXPECT_EQ(reason({{5, 0}}, 3, 30),
              "Group 0 has 0 bits and 0 wire bits a coordinate; both must be at least 1.");
    EXPECT_EQ(reason({{5, 2, 2, -1.0}}, 3, 30),
              "Group 0 has the link noise variance -1, which must be finite and not negative.");
    EXPECT_EQ(reason({{5, 2, 2, UNLIMITED}}, 3, 30),
              "Group 0 has the link noise variance inf, which must be finite and not negative.");
    EXPECT_EQ(reason(PAPER, 1, 30),
              "2 groups need at least one device each, but only 1 devices take part: 1 too few.");
    EXPECT_EQ(reason(PAPER, 103, 1e9),
              "103 devices are to take part, but the groups have only 100: 3 too many.");
    EXPECT_EQ(reason(PAPER, 10, 21.5),
              "10 devices need at least 22 bits a coordinate, but the budget is 21.5: 0.5 bits too "
              "few.");
    EXPECT_EQ(reason(PAPER, 10, -1),
              "The bit budget is -1, which must be a number and not negative.");
    EXPECT_EQ(reason(PAPER, 10, std::nan("")),
              "The bit budget is nan, which must be a number and not negative.");
}

TEST(ClusterSizePolicy, AnInfiniteBudgetIsNoLimit)
{
    const auto answer = Optimal(10)->Choose(PAPER, 10, UNLIMITED);
    EXPECT_TRUE(answer.feasible) << answer.reason;
    EXPECT_EQ(answer.sizes, (Sizes{1, 9}));
    EXPECT_EQ(ClusterSizePolicy::LargestFeasible(PAPER, 1000, UNLIMITED), 100U);
}

TEST(ClusterSizePolicy, WireBitsCountAgainstTheBudget)
{
    EXPECT_EQ(ClusterGroup({50, 4}).wireBits, 4U);
    EXPECT_FALSE(Optimal(10)->Choose({{50, 2, 32, 0}, {50, 4, 32, 0}}, 10, 319).feasible);
    EXPECT_TRUE(Optimal(10)->Choose({{50, 2, 32, 0}, {50, 4, 32, 0}}, 10, 320).feasible);
}

TEST(ClusterSizePolicy, LargestFeasibleIsTheLargestThatChooseServes)
{
    const auto policy = Optimal(10);
    FederatedRandom random(3);
    for (int i = 0; i < 2000; ++i)
    {
        Groups groups(1 + random.Below(4));
        uint32_t devices = 0;
        for (auto& group : groups)
        {
            group = {1 + random.Below(6), 1 + random.Below(8)};
            devices += group.devices;
        }
        const uint32_t wanted = random.Below(devices + 3);
        const double budget = random.Below(80) + 0.5;
        uint32_t expected = 0;
        for (uint32_t n = 1; n <= wanted; ++n)
        {
            expected = policy->Choose(groups, n, budget).feasible ? n : expected;
        }
        ASSERT_EQ(ClusterSizePolicy::LargestFeasible(groups, wanted, budget), expected);
    }
    EXPECT_EQ(ClusterSizePolicy::LargestFeasible(PAPER, 10, std::nan("")), 0U);
    EXPECT_EQ(ClusterSizePolicy::LargestFeasible({}, 10, 30), 0U);
}

TEST(OptimalClusterSizes, SolvesThePapersInstance)
{
    EXPECT_EQ(CreateObject<OptimalClusterSizes>()->Choose(PAPER, 10, 30).sizes, (Sizes{5, 5}));
    EXPECT_EQ(Optimal(0.05)->Choose(PAPER, 10, 30).sizes, (Sizes{9, 1}));
}

TEST(OptimalClusterSizes, BreaksTiesAsDocumented)
{
    // Equal costs and bits: as many as possible in the group that is given first.
    EXPECT_EQ(Optimal(1)->Choose({{5, 4}, {5, 4}, {5, 4}}, 9, 100).sizes, (Sizes{5, 3, 1}));
    // Equal costs: fewest wire bits first, wherever the group was given.
    EXPECT_EQ(Optimal(1)->Choose({{5, 4, 8, 0}, {5, 4, 4, 0}}, 6, 100).sizes, (Sizes{1, 5}));
    EXPECT_EQ(Optimal(0)->Choose({{5, 4}, {5, 2}}, 6, 100).sizes, (Sizes{1, 5}));
}

TEST(OptimalClusterSizes, EqualsExhaustiveSearch)
{
    FederatedRandom random(1);
    int compared = 0;
    while (compared < 10000)
    {
        // Cases: any cost; few distinct whole costs (ties); equal bits; even bits (odd budgets).
        const uint32_t kind = random.Below(4);
        const double constant = kind == 1 ? 0 : std::exp(8 * random.Uniform() - 4);
        Groups groups(1 + random.Below(5));
        uint32_t devices = 0;
        uint32_t bits = 0;
        for (auto& group : groups)
        {
            group.devices = 1 + random.Below(7);
            group.bits = kind == 2   ? 4
                         : kind == 3 ? 2 + 2 * random.Below(4)
                                     : 1 + random.Below(random.Below(2) == 0 ? 6 : 32);
            group.wireBits = random.Below(8) == 0 ? 32 : group.bits;
            group.sigma2 = kind == 1 ? random.Below(3) : std::exp(10 * random.Uniform() - 9);
            devices += group.devices;
            bits += group.devices * group.wireBits;
        }
        const auto least = static_cast<uint32_t>(groups.size());
        const uint32_t participants = least - 1 + random.Below(devices - least + 2);
        const double share = static_cast<double>(participants) / devices;
        const double budget = bits * share * 1.2 * random.Uniform();
        const auto policy = Optimal(constant);
        const auto answer = policy->Choose(groups, participants, budget);
        const auto all = ListAll(groups, participants, budget);
        ASSERT_EQ(answer.feasible, !all.empty()) << answer.reason;
        if (all.empty())
        {
            continue;
        }
        ++compared;
        double best = std::numeric_limits<double>::infinity();
        Sizes first;
        for (const auto& sizes : all)
        {
            const double cost = CostOf(groups, sizes, constant);
            const auto ordered = InOrderOfTies(groups, sizes, constant);
            if (cost < best || (cost == best && ordered > first))
            {
                best = cost;
                first = ordered;
            }
        }
        ASSERT_TRUE(IsValid(groups, participants, budget, answer.sizes));
        ASSERT_NEAR(CostOf(groups, answer.sizes, constant), best, 1e-13 * best)
            << "instance " << compared;
        if (kind == 1)
        {
            // Whole numbers: sums are exact in double too, so ties are seen alike.
            ASSERT_EQ(InOrderOfTies(groups, answer.sizes, constant), first)
                << "instance " << compared;
        }
    }
}

TEST(OptimalClusterSizes, LargeInstancesNeedFewNodes)
{
    // M = 20, N = 1000, B about 1e4. A node takes some microseconds.
    FederatedRandom random(2);
    enum Kind : uint32_t
    {
        QUANTIZATION, // the paper's costs
        ANY,          // costs without a pattern
        NEAR_EQUAL,   // costs that differ by parts in a million
        LINE,         // cost nearly a line in bits: every exchange is nearly free
        PARITY,       // the same, even bits but for one group
        GAPS,         // the same, differences of 6, 9, 10, 15 ... bits
        DISTINCT,     // the same, no two groups of equal bits
        KINDS
    };
    for (uint32_t kind = QUANTIZATION; kind < KINDS; ++kind)
    {
        uint64_t mostNodes = 0;
        for (int i = 0; i < 30; ++i)
        {
            Groups groups(20);
            const uint32_t most = 51 + random.Below(950);
            for (std::size_t m = 0; m < groups.size(); ++m)
            {
                auto& group = groups[m];
                group.devices = 51 + random.Below(most - 50);
                group.bits = 1 + random.Below(16);
                if (kind == PARITY)
                {
                    group.bits = m == 7 ? 7 : 2 + 2 * random.Below(8);
                }
                else if (kind == GAPS)
                {
                    group.bits = std::array<uint32_t, 5>{1, 7, 11, 16, 31}[random.Below(5)];
                }
                else if (kind == DISTINCT)
                {
                    group.bits = static_cast<uint32_t>(1 + m * 31 / 20);
                }
                group.wireBits = group.bits;
                const double noise = random.Uniform();
                group.sigma2 = kind == QUANTIZATION ? 1e-4 * noise
                               : kind == ANY        ? 100 * noise
                               : kind == NEAR_EQUAL ? 1000 + 1e-3 * noise
                                                    : 1000 - 10.0 * group.bits + 1e-3 * noise;
            }
            const double budget = i % 2 == 0 ? 10000 : 5000 + random.Below(5000);
            const uint32_t participants = ClusterSizePolicy::LargestFeasible(groups, 1000, budget);
            const auto policy = Optimal(kind == QUANTIZATION ? 10 : 0);
            const auto answer = policy->Choose(groups, participants, budget);
            ASSERT_TRUE(answer.feasible) << answer.reason;
            ASSERT_TRUE(IsValid(groups, participants, budget, answer.sizes));
            mostNodes = std::max(mostNodes, policy->GetNodes());
        }
        EXPECT_LT(mostNodes, 20000U) << "kind " << kind;
        RecordProperty("MostNodesOfKind" + std::to_string(kind), std::to_string(mostNodes));
    }
}

TEST(RandomClusterSizes, IsUniformOnThePapersInstance)
{
    // (9,1) ... (5,5). A p-value below 1e-4 has probability 1e-4.
    EXPECT_GT(UniformityOf(PAPER, 10, 30, 5), 1e-4);
}

TEST(RandomClusterSizes, IsUniformUnderLooseAndTightBudgets)
{
    // Each p-value is below 1e-4 with probability 1e-4. The numbers of vectors were counted apart.
    const Groups groups{{9, 1}, {4, 2}, {7, 5}, {6, 8}};
    EXPECT_GT(UniformityOf(groups, 14, UNLIMITED, 144), 1e-4);
    EXPECT_GT(UniformityOf(groups, 14, 60, 94), 1e-4);
    EXPECT_GT(UniformityOf(groups, 14, 40, 20), 1e-4);
    EXPECT_GT(UniformityOf(groups, 14, 31, 3), 1e-4);
    EXPECT_GT(UniformityOf(groups, 24, 90, 4), 1e-4);
    EXPECT_GT(UniformityOf({{6, 32}, {6, 1}, {5, 16}, {4, 4}}, 12, 100, 7), 1e-4);
}

TEST(RandomClusterSizes, FindsTheOnlyVector)
{
    const auto policy = CreateObject<RandomClusterSizes>();
    const Groups groups{{9, 1}, {4, 2}, {7, 5}, {6, 8}};
    EXPECT_EQ(policy->Choose(groups, 14, 28).sizes, (Sizes{9, 3, 1, 1}));
    EXPECT_EQ(policy->Choose(groups, 4, 16).sizes, (Sizes{1, 1, 1, 1}));
    EXPECT_EQ(policy->Choose(groups, 26, UNLIMITED).sizes, (Sizes{9, 4, 7, 6}));
    EXPECT_EQ(policy->Choose({{70, 3}}, 50, 150).sizes, (Sizes{50}));
}

TEST(RandomClusterSizes, HasTheExactMarginalsWhereVectorsAreTooManyToList)
{
    // 20 equal groups without a limit: each size has the moments of uniform compositions.
    const double groupsCount = 20;
    const double spare = 1000 - groupsCount;
    const double mean = 1 + spare / groupsCount;
    const double variance = spare * (spare + groupsCount) * (groupsCount - 1) /
                            (groupsCount * groupsCount * (groupsCount + 1));
    Groups groups(20, ClusterGroup{1000, 8});
    auto policy = CreateObject<RandomClusterSizes>();
    policy->AssignStreams(5);
    const int draws = 4000;
    std::vector<double> sums(20, 0);
    for (int i = 0; i < draws; ++i)
    {
        const auto sizes = policy->Choose(groups, 1000, 1e4).sizes;
        ASSERT_TRUE(IsValid(groups, 1000, 1e4, sizes));
        for (std::size_t m = 0; m < sizes.size(); ++m)
        {
            sums[m] += sizes[m];
        }
    }
    for (double sum : sums)
    {
        // Five standard errors: exceeded with probability 6e-7 each.
        EXPECT_NEAR(sum / draws, mean, 5 * std::sqrt(variance / draws));
    }
}

TEST(RandomClusterSizes, HasTheExactMarginalsUnderABudget)
{
    // The number of vectors for each size of group 0, by dynamic programming over (devices, bits).
    const uint32_t participants = 60;
    const uint32_t budget = 240;
    Groups groups;
    for (uint32_t bits : {2, 1, 3, 4, 6, 7, 8})
    {
        groups.push_back({10 + 2 * bits, bits});
    }
    std::vector<std::vector<double>> ways(participants + 1, std::vector<double>(budget + 1, 0));
    ways[0][0] = 1;
    for (std::size_t m = 1; m < groups.size(); ++m)
    {
        auto next =
            std::vector<std::vector<double>>(participants + 1, std::vector<double>(budget + 1, 0));
        for (uint32_t n = 0; n <= participants; ++n)
        {
            for (uint32_t b = 0; b <= budget; ++b)
            {
                for (uint32_t c = 1; c <= groups[m].devices && n + c <= participants &&
                                     b + c * groups[m].wireBits <= budget;
                     ++c)
                {
                    next[n + c][b + c * groups[m].wireBits] += ways[n][b];
                }
            }
        }
        ways = next;
    }
    std::vector<double> expected(groups[0].devices + 1, 0);
    for (uint32_t c = 1; c <= groups[0].devices; ++c)
    {
        for (uint32_t b = 0; b + c * groups[0].wireBits <= budget; ++b)
        {
            expected[c] += ways[participants - c][b];
        }
    }
    const double all = std::accumulate(expected.begin(), expected.end(), 0.0);
    EXPECT_GT(all, 1e5);

    auto policy = CreateObject<RandomClusterSizes>();
    policy->AssignStreams(6);
    const int draws = 40000;
    std::vector<double> counts(expected.size(), 0);
    for (int i = 0; i < draws; ++i)
    {
        const auto sizes = policy->Choose(groups, participants, budget).sizes;
        ASSERT_TRUE(IsValid(groups, participants, budget, sizes));
        ++counts[sizes[0]];
    }
    double chi = 0;
    for (std::size_t c = 1; c < counts.size(); ++c)
    {
        const double mean = draws * expected[c] / all;
        ASSERT_GT(mean, 5);
        chi += (counts[c] - mean) * (counts[c] - mean) / mean;
    }
    // Fails with probability 1e-4.
    const boost::math::chi_squared distribution(counts.size() - 2.0);
    EXPECT_GT(boost::math::cdf(boost::math::complement(distribution, chi)), 1e-4);
}

TEST(RandomClusterSizes, RejectsFewVectorsWhateverTheConstraints)
{
    FederatedRandom random(4);
    auto policy = CreateObject<RandomClusterSizes>();
    policy->AssignStreams(7);
    double most = 0;
    for (int i = 0; i < 300; ++i)
    {
        Groups groups(1 + random.Below(20));
        uint32_t devices = 0;
        double bits = 0;
        for (auto& group : groups)
        {
            group = {1 + random.Below(i % 2 == 0 ? 10 : 1000), 1 + random.Below(32)};
            devices += group.devices;
            bits += group.devices * group.wireBits;
        }
        const double budget = bits * random.Uniform();
        const uint32_t fits = ClusterSizePolicy::LargestFeasible(groups, devices, budget);
        if (fits == 0)
        {
            continue;
        }
        const auto least = static_cast<uint32_t>(groups.size());
        const uint32_t participants = i % 3 == 0 ? fits : least + random.Below(fits - least + 1);
        const uint64_t before = policy->GetTrials();
        const int draws = 20;
        for (int k = 0; k < draws; ++k)
        {
            const auto sizes = policy->Choose(groups, participants, budget).sizes;
            ASSERT_TRUE(IsValid(groups, participants, budget, sizes));
        }
        most = std::max(most, static_cast<double>(policy->GetTrials() - before) / draws);
    }
    EXPECT_LT(most, 100);
    RecordProperty("MostTrialsADraw", std::to_string(most));
}

TEST(RandomClusterSizes, EqualStreamsGiveEqualDraws)
{
    auto first = CreateObject<RandomClusterSizes>();
    auto second = CreateObject<RandomClusterSizes>();
    auto other = CreateObject<RandomClusterSizes>();
    EXPECT_EQ(first->AssignStreams(3), 1);
    second->AssignStreams(3);
    other->AssignStreams(4);
    int differ = 0;
    for (int i = 0; i < 100; ++i)
    {
        const auto sizes = first->Choose(PAPER, 10, 30).sizes;
        EXPECT_EQ(sizes, second->Choose(PAPER, 10, 30).sizes);
        differ += sizes != other->Choose(PAPER, 10, 30).sizes ? 1 : 0;
    }
    EXPECT_GT(differ, 0);
}
