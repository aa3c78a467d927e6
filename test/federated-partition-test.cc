// SPDX-License-Identifier: GPL-2.0-only

#include "ns3/federated-partition.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

using namespace ns3;

namespace
{

using Parts = FederatedPartition::Parts;

/**
 * @param count How many samples.
 * @return their labels: ten classes that take turns.
 */
std::vector<uint8_t>
MakeLabels(uint32_t count)
{
    std::vector<uint8_t> labels(count);
    for (uint32_t i = 0; i < count; ++i)
    {
        labels[i] = static_cast<uint8_t>(i % 10);
    }
    return labels;
}

/**
 * Split, and check what holds for every split.
 * @param partition The split.
 * @param labels The labels.
 * @param groups Devices in each group.
 * @param seed The seed.
 * @return the parts.
 */
Parts
SplitAndCheck(const FederatedPartition& partition,
              const std::vector<uint8_t>& labels,
              const std::vector<uint32_t>& groups,
              uint64_t seed)
{
    Parts parts;
    std::string error;
    EXPECT_TRUE(partition.Split(labels, groups, seed, parts, error)) << error;
    std::vector<uint32_t> all;
    for (const auto& part : parts)
    {
        EXPECT_FALSE(part.empty());
        all.insert(all.end(), part.begin(), part.end());
    }
    std::sort(all.begin(), all.end());
    EXPECT_EQ(all.size(), labels.size());
    for (uint32_t i = 0; i < all.size(); ++i)
    {
        EXPECT_EQ(all[i], i) << "each sample belongs to exactly one device";
        if (all[i] != i)
        {
            break;
        }
    }
    return parts;
}

/**
 * @param parts What the devices hold.
 * @param labels The labels.
 * @return the number of different classes that a device holds, averaged over devices.
 */
double
MeanClasses(const Parts& parts, const std::vector<uint8_t>& labels)
{
    double sum = 0;
    for (const auto& part : parts)
    {
        std::set<uint8_t> classes;
        for (uint32_t sample : part)
        {
            classes.insert(labels[sample]);
        }
        sum += static_cast<double>(classes.size());
    }
    return sum / static_cast<double>(parts.size());
}

/**
 * @param parts What the devices hold.
 * @return the largest number of samples of a device.
 */
std::size_t
LargestSize(const Parts& parts)
{
    std::size_t largest = 0;
    for (const auto& part : parts)
    {
        largest = std::max(largest, part.size());
    }
    return largest;
}

/**
 * @param partition A split that must be refused.
 * @param labels The labels.
 * @param groups Devices in each group.
 * @return the error.
 */
std::string
ErrorOf(const FederatedPartition& partition,
        const std::vector<uint8_t>& labels,
        const std::vector<uint32_t>& groups)
{
    Parts parts;
    std::string error;
    EXPECT_FALSE(partition.Split(labels, groups, 1, parts, error));
    EXPECT_TRUE(parts.empty());
    return error;
}

} // namespace

TEST(FederatedPartition, EveryKindIsDisjointCompleteSeededAndWithoutEmptyDevices)
{
    const auto labels = MakeLabels(6007);
    for (const auto& partition : {FederatedPartition::Iid(),
                                  FederatedPartition::Dirichlet(0.01),
                                  FederatedPartition::Dirichlet(1e-5),
                                  FederatedPartition::Dirichlet(1e6),
                                  FederatedPartition::Shards(2),
                                  FederatedPartition::LabelByGroup(),
                                  FederatedPartition::QuantitySkew(0.01),
                                  FederatedPartition::QuantitySkew(1e-5)})
    {
        const auto first = SplitAndCheck(partition, labels, {50, 50}, 1);
        EXPECT_EQ(first.size(), 100U);
        EXPECT_EQ(first, SplitAndCheck(partition, labels, {50, 50}, 1));
        EXPECT_NE(first, SplitAndCheck(partition, labels, {50, 50}, 2));
    }
}

TEST(FederatedPartition, OneDevicePerSampleIsPossible)
{
    const auto labels = MakeLabels(40);
    for (const auto& partition : {FederatedPartition::Iid(),
                                  FederatedPartition::Dirichlet(0.1),
                                  FederatedPartition::Shards(1),
                                  FederatedPartition::LabelByGroup(),
                                  FederatedPartition::QuantitySkew(0.1)})
    {
        EXPECT_EQ(LargestSize(SplitAndCheck(partition, labels, {20, 20}, 3)), 1U);
    }
}

TEST(FederatedPartition, IidGivesThePaper100Times600)
{
    const auto labels = MakeLabels(60000);
    const auto parts = SplitAndCheck(FederatedPartition::Iid(), labels, {50, 50}, 1);
    for (const auto& part : parts)
    {
        EXPECT_EQ(part.size(), 600U);
    }
    EXPECT_EQ(MeanClasses(parts, labels), 10);
}

TEST(FederatedPartition, IidGivesTheFirstDevicesOneMore)
{
    const auto parts = SplitAndCheck(FederatedPartition::Iid(), MakeLabels(11), {4}, 1);
    EXPECT_EQ(parts[0].size(), 3U);
    EXPECT_EQ(parts[2].size(), 3U);
    EXPECT_EQ(parts[3].size(), 2U);
}

TEST(FederatedPartition, IidPutsEverySampleAnywhereEquallyOften)
{
    // Device of sample 0 among 4, over 4000 seeds. Chi-square with 3 degrees of freedom; 21.1 is
    // exceeded with probability 1e-4.
    std::vector<double> counts(4);
    const auto labels = MakeLabels(12);
    Parts parts;
    std::string error;
    for (uint64_t seed = 0; seed < 4000; ++seed)
    {
        ASSERT_TRUE(FederatedPartition::Iid().Split(labels, {4}, seed, parts, error));
        for (std::size_t device = 0; device < 4; ++device)
        {
            counts[device] +=
                static_cast<double>(std::count(parts[device].begin(), parts[device].end(), 0U));
        }
    }
    double chi = 0;
    for (double count : counts)
    {
        chi += std::pow(count - 1000, 2) / 1000;
    }
    EXPECT_LT(chi, 21.1);
}

TEST(FederatedPartition, DirichletIsMoreSkewedForSmallerAlpha)
{
    const auto labels = MakeLabels(6000);
    double before = 0;
    for (double alpha : {0.01, 0.1, 1.0, 100.0})
    {
        const auto parts = SplitAndCheck(FederatedPartition::Dirichlet(alpha), labels, {20}, 7);
        const double classes = MeanClasses(parts, labels);
        EXPECT_GT(classes, before) << "alpha " << alpha;
        before = classes;
    }
    EXPECT_EQ(before, 10);
}

TEST(FederatedPartition, DirichletSharesHaveTheVarianceOfTheDistribution)
{
    // The share s of one of K devices: E s^2 = (alpha + 1) / (K (K alpha + 1)). The mean over 10
    // classes, 5 devices and 200 seeds has a relative standard error below 1.5 %.
    const auto labels = MakeLabels(10000);
    const double alpha = 0.5;
    const double devices = 5;
    double squares = 0;
    for (uint64_t seed = 0; seed < 200; ++seed)
    {
        Parts parts;
        std::string error;
        ASSERT_TRUE(FederatedPartition::Dirichlet(alpha).Split(labels, {5}, seed, parts, error));
        for (const auto& part : parts)
        {
            std::vector<double> counts(10);
            for (uint32_t sample : part)
            {
                ++counts[labels[sample]];
            }
            for (double count : counts)
            {
                squares += std::pow(count / 1000, 2);
            }
        }
    }
    const double expected = (alpha + 1) / (devices * (devices * alpha + 1));
    EXPECT_NEAR(squares / (200 * 10 * devices), expected, 0.06 * expected);
}

TEST(FederatedPartition, ShardsLimitTheClassesOfADevice)
{
    const auto labels = MakeLabels(6000);
    const auto parts = SplitAndCheck(FederatedPartition::Shards(2), labels, {100}, 1);
    for (const auto& part : parts)
    {
        EXPECT_EQ(part.size(), 60U);
        std::set<uint8_t> classes;
        for (uint32_t sample : part)
        {
            classes.insert(labels[sample]);
        }
        EXPECT_LE(classes.size(), 2U);
    }
}

TEST(FederatedPartition, LabelByGroupSeparatesTheGroups)
{
    const auto labels = MakeLabels(6000);
    const auto parts = SplitAndCheck(FederatedPartition::LabelByGroup(), labels, {10, 5, 5}, 1);
    for (std::size_t device = 0; device < parts.size(); ++device)
    {
        const int group = device < 10 ? 0 : device < 15 ? 1 : 2;
        for (uint32_t sample : parts[device])
        {
            // 10 classes over 3 groups: 0-2, 3-5, 6-9.
            EXPECT_EQ(std::min(labels[sample] / 3, 2), group);
        }
    }
    EXPECT_EQ(parts[0].size(), 180U);
    EXPECT_EQ(parts[10].size(), 360U);
    EXPECT_EQ(parts[15].size(), 480U);
    EXPECT_NEAR(MeanClasses(parts, labels), (15 * 3 + 5 * 4) / 20.0, 1e-12);
}

TEST(FederatedPartition, QuantitySkewChangesSizesNotClasses)
{
    const auto labels = MakeLabels(60000);
    const auto skewed = SplitAndCheck(FederatedPartition::QuantitySkew(0.1), labels, {20}, 5);
    const auto even = SplitAndCheck(FederatedPartition::QuantitySkew(1000), labels, {20}, 5);
    EXPECT_GT(LargestSize(skewed), 3 * LargestSize(even));
    EXPECT_LT(LargestSize(even), 3600U);
    EXPECT_EQ(MeanClasses(even, labels), 10);
}

TEST(FederatedPartition, ImpossibleRequestsAreNamed)
{
    const auto labels = MakeLabels(100);
    const double nan = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(ErrorOf(FederatedPartition::Iid(), labels, {}),
              "The samples cannot be split among 0 devices.");
    EXPECT_NE(ErrorOf(FederatedPartition::Iid(), labels, {0, 0}), "");
    EXPECT_EQ(ErrorOf(FederatedPartition::Iid(), labels, {100, 1}),
              "100 samples cannot be split among 101 devices: each needs at least one.");
    EXPECT_NE(ErrorOf(FederatedPartition::Iid(), labels, {4294967295U, 4294967295U}), "");
    EXPECT_NE(ErrorOf(FederatedPartition::Iid(), {}, {1}), "");
    EXPECT_NE(ErrorOf(FederatedPartition::Dirichlet(0), labels, {5}), "");
    EXPECT_NE(ErrorOf(FederatedPartition::Dirichlet(-1), labels, {5}), "");
    EXPECT_NE(ErrorOf(FederatedPartition::Dirichlet(nan), labels, {5}), "");
    EXPECT_NE(ErrorOf(FederatedPartition::QuantitySkew(nan), labels, {5}), "");
    EXPECT_NE(ErrorOf(FederatedPartition::Shards(0), labels, {5}), "");
    EXPECT_EQ(ErrorOf(FederatedPartition::Shards(21), labels, {5}),
              "100 samples cannot be cut into 105 shards: 21 for each of 5 devices.");
    EXPECT_NE(ErrorOf(FederatedPartition::Shards(4294967295U), labels, {100}), "");
    EXPECT_EQ(ErrorOf(FederatedPartition::LabelByGroup(), labels, {60, 40}),
              "Group 0 has 60 devices for the 50 samples of its labels.");
    EXPECT_NE(ErrorOf(FederatedPartition::LabelByGroup(), labels, std::vector<uint32_t>(11, 1)),
              "");
}

TEST(FederatedPartition, TextIsReadStrictly)
{
    const auto labels = MakeLabels(1000);
    const auto splitOf = [&labels](const std::string& text)
    {
        auto partition = FederatedPartition::Iid();
        std::string error;
        EXPECT_TRUE(FederatedPartition::Parse(text, partition, error)) << error;
        return SplitAndCheck(partition, labels, {10, 10}, 1);
    };
    const auto direct = [&labels](const FederatedPartition& partition) {
        return SplitAndCheck(partition, labels, {10, 10}, 1);
    };
    EXPECT_EQ(splitOf("iid"), direct(FederatedPartition::Iid()));
    EXPECT_EQ(splitOf("dirichlet:0.5"), direct(FederatedPartition::Dirichlet(0.5)));
    EXPECT_EQ(splitOf("shards:2"), direct(FederatedPartition::Shards(2)));
    EXPECT_EQ(splitOf("label-by-group"), direct(FederatedPartition::LabelByGroup()));
    EXPECT_EQ(splitOf("quantity:1e-1"), direct(FederatedPartition::QuantitySkew(0.1)));
    for (const char* text : {"",
                             "IID",
                             "iid:1",
                             "iid ",
                             "dirichlet",
                             "dirichlet:",
                             "dirichlet:0",
                             "dirichlet:-1",
                             "dirichlet:nan",
                             "dirichlet:inf",
                             "dirichlet:1x",
                             "shards",
                             "shards:0",
                             "shards:-1",
                             "shards:2.5",
                             "quantity",
                             "quantity:0",
                             "random:1"})
    {
        auto partition = FederatedPartition::Iid();
        std::string error;
        EXPECT_FALSE(FederatedPartition::Parse(text, partition, error)) << text;
        EXPECT_NE(error.find("'" + std::string(text) + "'"), std::string::npos) << error;
    }
}
