// SPDX-License-Identifier: GPL-2.0-only

#include "ns3/federated-partition.h"

#include "ns3/double.h"
#include "ns3/learning-task.h"
#include "ns3/object-factory.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

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
 * @param text A partition, as a script writes an attribute.
 * @return the partition.
 */
Ptr<FederatedPartition>
Make(const std::string& text)
{
    const auto task = CreateObject<LearningTask>();
    task->SetAttribute("Partition", StringValue(text));
    return task->GetPartition();
}

/**
 * Split, and check what holds for every split.
 * @param partition The split, as Make() reads it.
 * @param labels The labels.
 * @param groups Devices in each group.
 * @param seed The seed.
 * @return the parts.
 */
Parts
SplitAndCheck(const std::string& partition,
              const std::vector<uint8_t>& labels,
              const std::vector<uint32_t>& groups,
              uint64_t seed)
{
    Parts parts;
    std::string error;
    EXPECT_TRUE(Make(partition)->Split(labels, groups, seed, parts, error)) << error;
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
 * @param partition A split that must be refused, as Make() reads it.
 * @param labels The labels.
 * @param groups Devices in each group.
 * @return the error.
 */
std::string
ErrorOf(const std::string& partition,
        const std::vector<uint8_t>& labels,
        const std::vector<uint32_t>& groups)
{
    Parts parts;
    std::string error;
    EXPECT_FALSE(Make(partition)->Split(labels, groups, 1, parts, error));
    EXPECT_TRUE(parts.empty());
    return error;
}

/**
 * @param parts What the devices hold.
 * @return a number that depends on each of them and their order.
 */
uint64_t
GetDigest(const Parts& parts)
{
    uint64_t digest = 0;
    const auto add = [&digest](uint64_t value)
    { digest = (digest + value + 1) * 6364136223846793005U; };
    for (const auto& part : parts)
    {
        add(part.size());
        for (uint32_t sample : part)
        {
            add(sample);
        }
    }
    return digest;
}

/** A partition as a script may write it, which gives devices what it is told to give. */
class GivenPartition : public FederatedPartition
{
  public:
    Parts given;       //!< What devices get.
    std::string error; //!< Why not, if there is a reason.

  private:
    bool DoSplit(const PartitionProblem& problem,
                 FederatedRandom& /* random */,
                 Parts& parts,
                 std::string& reason) const override
    {
        EXPECT_EQ(parts.size(), problem.devices);
        EXPECT_EQ(problem.order.size(), problem.labels.size());
        parts = given;
        reason = error;
        return error.empty();
    }
};

} // namespace

TEST(FederatedPartition, EveryKindIsDisjointCompleteSeededAndWithoutEmptyDevices)
{
    const auto labels = MakeLabels(6007);
    for (const char* partition : {"ns3::IidPartition",
                                  "ns3::DirichletPartition[Alpha=0.01]",
                                  "ns3::DirichletPartition[Alpha=1e-5]",
                                  "ns3::DirichletPartition[Alpha=1e6]",
                                  "ns3::ShardPartition[Shards=2]",
                                  "ns3::LabelPartition",
                                  "ns3::QuantityPartition[Alpha=0.01]",
                                  "ns3::QuantityPartition[Alpha=1e-5]"})
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
    for (const char* partition : {"ns3::IidPartition",
                                  "ns3::DirichletPartition[Alpha=0.1]",
                                  "ns3::ShardPartition[Shards=1]",
                                  "ns3::LabelPartition",
                                  "ns3::QuantityPartition[Alpha=0.1]"})
    {
        EXPECT_EQ(LargestSize(SplitAndCheck(partition, labels, {20, 20}, 3)), 1U);
    }
}

TEST(FederatedPartition, IidGivesThePaper100Times600)
{
    const auto labels = MakeLabels(60000);
    const auto parts = SplitAndCheck("ns3::IidPartition", labels, {50, 50}, 1);
    for (const auto& part : parts)
    {
        EXPECT_EQ(part.size(), 600U);
    }
    EXPECT_EQ(MeanClasses(parts, labels), 10);
}

TEST(FederatedPartition, IidGivesTheFirstDevicesOneMore)
{
    const auto parts = SplitAndCheck("ns3::IidPartition", MakeLabels(11), {4}, 1);
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
        ASSERT_TRUE(Make("ns3::IidPartition")->Split(labels, {4}, seed, parts, error));
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
        const auto parts = SplitAndCheck(
            "ns3::DirichletPartition[Alpha=" + std::to_string(alpha) + "]", labels, {20}, 7);
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
        ASSERT_TRUE(
            Make("ns3::DirichletPartition[Alpha=0.5]")->Split(labels, {5}, seed, parts, error));
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
    const auto parts = SplitAndCheck("ns3::ShardPartition[Shards=2]", labels, {100}, 1);
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
    const auto parts = SplitAndCheck("ns3::LabelPartition", labels, {10, 5, 5}, 1);
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
    const auto skewed = SplitAndCheck("ns3::QuantityPartition[Alpha=0.1]", labels, {20}, 5);
    const auto even = SplitAndCheck("ns3::QuantityPartition[Alpha=1000]", labels, {20}, 5);
    EXPECT_GT(LargestSize(skewed), 3 * LargestSize(even));
    EXPECT_LT(LargestSize(even), 3600U);
    EXPECT_EQ(MeanClasses(even, labels), 10);
}

TEST(FederatedPartition, ImpossibleRequestsAreNamed)
{
    const auto labels = MakeLabels(100);
    EXPECT_EQ(ErrorOf("ns3::IidPartition", labels, {}),
              "The samples cannot be split among 0 devices.");
    EXPECT_NE(ErrorOf("ns3::IidPartition", labels, {0, 0}), "");
    EXPECT_EQ(ErrorOf("ns3::IidPartition", labels, {100, 1}),
              "100 samples cannot be split among 101 devices: each needs at least one.");
    EXPECT_NE(ErrorOf("ns3::IidPartition", labels, {4294967295U, 4294967295U}), "");
    EXPECT_NE(ErrorOf("ns3::IidPartition", {}, {1}), "");
    EXPECT_EQ(ErrorOf("ns3::ShardPartition[Shards=21]", labels, {5}),
              "100 samples cannot be cut into 105 shards: 21 for each of 5 devices.");
    EXPECT_NE(ErrorOf("ns3::ShardPartition[Shards=1000000]", labels, {100}), "");
    EXPECT_EQ(ErrorOf("ns3::LabelPartition", labels, {60, 40}),
              "Group 0 has 60 devices for the 50 samples of its labels.");
    EXPECT_NE(ErrorOf("ns3::LabelPartition", labels, std::vector<uint32_t>(11, 1)), "");
}

TEST(FederatedPartition, SplitsAreThoseOfTheFirstImplementation)
{
    // Computed by the code that these classes replaced.
    const std::vector<std::pair<const char*, uint64_t>> golden{
        {"ns3::IidPartition", 0xec9035c0a7ca76ddU},
        {"ns3::DirichletPartition[Alpha=0.3]", 0xa0a56f7c3739eef5U},
        {"ns3::DirichletPartition[Alpha=1e-5]", 0xc767814623f55375U},
        {"ns3::ShardPartition[Shards=3]", 0x2100785dc971e611U},
        {"ns3::LabelPartition", 0x79ba69809b5830c9U},
        {"ns3::QuantityPartition[Alpha=0.5]", 0xd9ab1d5e371284f5U},
        {"ns3::QuantityPartition[Alpha=1e-5]", 0x598e048f92dbf381U},
    };
    for (const auto& [partition, digest] : golden)
    {
        const auto parts = SplitAndCheck(partition, MakeLabels(6007), {30, 20}, 12345678901234U);
        EXPECT_EQ(GetDigest(parts), digest) << partition;
    }
}

TEST(FederatedPartition, AttributesHaveRanges)
{
    const double nan = std::numeric_limits<double>::quiet_NaN();
    for (const char* name : {"ns3::DirichletPartition", "ns3::QuantityPartition"})
    {
        const auto partition = ObjectFactory(name).Create();
        for (double wrong : {0.0, -1.0, 1.1e6, nan, std::numeric_limits<double>::infinity()})
        {
            EXPECT_FALSE(partition->SetAttributeFailSafe("Alpha", DoubleValue(wrong))) << wrong;
        }
        for (const char* right : {"1e-300", "1e6"})
        {
            SplitAndCheck(std::string(name) + "[Alpha=" + right + "]", MakeLabels(100), {10}, 1);
        }
    }
    const auto shards = ObjectFactory("ns3::ShardPartition").Create();
    for (uint64_t wrong : {uint64_t{0}, uint64_t{1000001}, uint64_t{1} << 32})
    {
        EXPECT_FALSE(shards->SetAttributeFailSafe("Shards", UintegerValue(wrong))) << wrong;
    }
    EXPECT_TRUE(shards->SetAttributeFailSafe("Shards", UintegerValue(1000000)));
}

TEST(FederatedPartition, MistakesOfACustomOneAreSentences)
{
    const auto partition = CreateObject<GivenPartition>();
    const auto labels = MakeLabels(5);
    Parts parts{{7}};
    std::string error;
    const auto split = [&](const Parts& given)
    {
        partition->given = given;
        error.clear();
        const bool possible = partition->Split(labels, {1, 1}, 1, parts, error);
        EXPECT_EQ(parts, possible ? given : Parts()) << "nothing is left of a wrong split";
        EXPECT_EQ(possible, error.empty());
        const std::string name = partition->GetInstanceTypeId().GetName();
        return error.compare(0, name.size(), name) == 0 ? error.substr(name.size()) : error;
    };
    EXPECT_EQ(split({{0, 1}, {4}}), "") << "samples may be left out";
    EXPECT_EQ(split({{0, 1}}), " made 1 parts for 2 devices.");
    EXPECT_EQ(split({{0, 1}, {}}), " gave device 1 no sample.");
    EXPECT_EQ(split({{0, 5}, {1}}), " gave device 0 sample 5 of 5.");
    EXPECT_EQ(split({{0, 1}, {2, 0}}), " gave device 1 sample 0, which is already taken.");
    partition->error = "There is no such split.";
    EXPECT_EQ(split({}), "There is no such split.");
}
