// SPDX-License-Identifier: GPL-2.0-only

#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/federated-random.h"
#include "ns3/fixed-interval.h"
#include "ns3/max-abs-interval.h"
#include "ns3/min-max-interval.h"
#include "ns3/object-factory.h"
#include "ns3/update-clipping.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

using namespace ns3;

namespace
{

std::vector<float>
MakeValues(std::size_t count)
{
    FederatedRandom random(31);
    std::vector<float> values(count);
    for (float& value : values)
    {
        value = static_cast<float>(random.Uniform() - 0.3);
    }
    return values;
}

} // namespace

TEST(UpdateClipping, ScalesDownToTheBoundAndNoFurther)
{
    for (ClipNorm norm : {CLIP_L1, CLIP_L2})
    {
        const auto before = MakeValues(1001);
        auto values = before;
        const double size = GetUpdateNorm(norm, values.data(), values.size());
        EXPECT_EQ(ClipUpdate(norm, size * 1.01, values.data(), values.size()), 1);
        EXPECT_EQ(values, before);
        const double factor = ClipUpdate(norm, size / 4, values.data(), values.size());
        EXPECT_NEAR(factor, 0.25, 1e-12);
        EXPECT_NEAR(GetUpdateNorm(norm, values.data(), values.size()), size / 4, size * 1e-6);
        EXPECT_NEAR(values[500], before[500] / 4, 1e-7);
    }
}

TEST(UpdateClipping, NormsAreTheTextbookOnes)
{
    const std::vector<float> values{3, -4, 0};
    EXPECT_EQ(GetUpdateNorm(CLIP_L1, values.data(), 3), 7);
    EXPECT_EQ(GetUpdateNorm(CLIP_L2, values.data(), 3), 5);
    auto same = values;
    EXPECT_EQ(ClipUpdate(CLIP_NONE, 0, same.data(), 3), 1);
    EXPECT_EQ(same, values);
    std::vector<float> zeros(5);
    EXPECT_EQ(ClipUpdate(CLIP_L1, 1, zeros.data(), 5), 1);
}

TEST(UpdateClipping, RefusesWhatIsNotFiniteAndChangesNothing)
{
    for (float bad : {std::numeric_limits<float>::infinity(),
                      -std::numeric_limits<float>::infinity(),
                      std::numeric_limits<float>::quiet_NaN()})
    {
        for (std::size_t place : {0, 70, 128})
        {
            auto values = MakeValues(129);
            values[place] = bad;
            EXPECT_FALSE(IsFiniteUpdate(values.data(), values.size()));
            for (ClipNorm norm : {CLIP_NONE, CLIP_L1, CLIP_L2})
            {
                const float neighbor = values[1];
                EXPECT_EQ(ClipUpdate(norm, 1e-3, values.data(), values.size()), 0);
                EXPECT_EQ(values[1], neighbor);
            }
        }
    }
    // The largest floats are finite, and so is the sum of their magnitudes and squares.
    std::vector<float> large(1000, std::numeric_limits<float>::max());
    EXPECT_TRUE(IsFiniteUpdate(large.data(), large.size()));
    EXPECT_GT(ClipUpdate(CLIP_L2, 1, large.data(), large.size()), 0);
    EXPECT_NEAR(GetUpdateNorm(CLIP_L2, large.data(), large.size()), 1, 1e-5);
}

TEST(Intervals, MaxAbsAndMinMaxCoverTheUpdateTightly)
{
    for (std::size_t count : {1U, 3U, 63U, 64U, 65U, 1000U})
    {
        auto values = MakeValues(count);
        values[count / 2] = -5;
        const auto symmetric = CreateObject<MaxAbsInterval>()->GetIntervals(values.data(), {count});
        ASSERT_EQ(symmetric.size(), 1U);
        EXPECT_EQ(symmetric[0].begin, 0U);
        EXPECT_EQ(symmetric[0].end, count);
        EXPECT_EQ(symmetric[0].low, -5);
        EXPECT_EQ(symmetric[0].high, 5);
        const auto tight = CreateObject<MinMaxInterval>()->GetIntervals(values.data(), {count});
        EXPECT_EQ(tight[0].low, -5);
        EXPECT_EQ(tight[0].high, *std::max_element(values.begin(), values.end()));
    }
}

TEST(Intervals, EachLayerCanHaveItsOwn)
{
    const std::vector<float> values{1, -2, 30, 10, -0.5F};
    const auto rule = CreateObjectWithAttributes<MinMaxInterval>("PerLayer", BooleanValue(true));
    const auto ranges = rule->GetIntervals(values.data(), {2, 4, 5});
    ASSERT_EQ(ranges.size(), 3U);
    EXPECT_EQ(ranges[0].low, -2);
    EXPECT_EQ(ranges[0].high, 1);
    EXPECT_EQ(ranges[1].begin, 2U);
    EXPECT_EQ(ranges[1].end, 4U);
    EXPECT_EQ(ranges[1].low, 10);
    EXPECT_EQ(ranges[1].high, 30);
    EXPECT_EQ(ranges[2].low, -0.5F);
    EXPECT_EQ(ranges[2].high, -0.5F);
}

TEST(Intervals, OnlyTheFixedOneIsPublic)
{
    const auto fixed =
        CreateObjectWithAttributes<FixedInterval>("Low", DoubleValue(-10), "High", DoubleValue(10));
    const std::vector<float> values{100, -100};
    const auto ranges = fixed->GetIntervals(values.data(), {1, 2});
    ASSERT_EQ(ranges.size(), 1U);
    EXPECT_EQ(ranges[0].low, -10);
    EXPECT_EQ(ranges[0].high, 10);
    EXPECT_FALSE(fixed->IsDataDependent());
    EXPECT_TRUE(CreateObject<MaxAbsInterval>()->IsDataDependent());
    EXPECT_TRUE(CreateObject<MinMaxInterval>()->IsDataDependent());
}

TEST(Intervals, GiveThePrivacyContextOfTheirDevice)
{
    const auto fixed =
        CreateObjectWithAttributes<FixedInterval>("Low", DoubleValue(-3), "High", DoubleValue(5));
    const PrivacyContext open = fixed->GetPrivacyContext(CLIP_L1, 100, 4);
    EXPECT_EQ(open.bits, 4U);
    EXPECT_TRUE(open.intervalIsPublic);
    EXPECT_EQ(open.low, -3);
    EXPECT_EQ(open.high, 5);
    EXPECT_EQ(open.clipNorm, CLIP_L1);
    EXPECT_EQ(open.clipBound, 100);
    EXPECT_FALSE(CreateObject<MaxAbsInterval>()->GetPrivacyContext(CLIP_L2, 1, 2).intervalIsPublic);
    EXPECT_FALSE(
        CreateObject<MinMaxInterval>()->GetPrivacyContext(CLIP_NONE, 0, 2).intervalIsPublic);
}
