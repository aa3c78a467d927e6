// SPDX-License-Identifier: GPL-2.0-only

#include "preparation-fixture.h"

#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/federated-random.h"
#include "ns3/fixed-interval.h"
#include "ns3/max-abs-interval.h"
#include "ns3/min-max-interval.h"

#include <boost/multiprecision/cpp_int.hpp>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
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

using boost::multiprecision::cpp_int;

/** @return a number in units of 2^-1200, exactly, if it is at least that. */
cpp_int
ToInteger(double value)
{
    int exponent;
    const double fraction = std::frexp(value, &exponent);
    return cpp_int(static_cast<int64_t>(std::ldexp(fraction, 53))) << (exponent - 53 + 1200);
}

/** @return -1, 0 or 1: whether a norm is below, at or above a bound, in exact arithmetic. */
int
CompareNorm(ClipNorm norm, const std::vector<float>& values, double bound)
{
    cpp_int sum = 0;
    for (const float value : values)
    {
        const cpp_int magnitude = ToInteger(std::abs(value));
        sum += norm == CLIP_L2 ? cpp_int(magnitude * magnitude) : magnitude;
    }
    const cpp_int limit = ToInteger(bound);
    return sum.compare(norm == CLIP_L2 ? cpp_int(limit * limit) : limit);
}

/** Clip, and expect a norm that is not above the bound, and not far below it. */
void
ExpectClipped(ClipNorm norm, std::vector<float> values, double bound)
{
    const auto before = values;
    const bool isLonger = CompareNorm(norm, values, bound) > 0;
    const double size = GetUpdateNorm(norm, values.data(), values.size());
    const double factor = ClipUpdate(norm, bound, values.data(), values.size());
    ASSERT_LE(CompareNorm(norm, values, bound), 0);
    if (!isLonger)
    {
        ASSERT_EQ(factor, 1);
        ASSERT_EQ(values, before);
        return;
    }
    ASSERT_LT(factor, 1);
    // GetUpdateNorm() is exact to 2e-7.
    ASSERT_NEAR(factor / (bound / size), 1, 1e-6);
    for (std::size_t i = 0; i < values.size(); ++i)
    {
        const double least = std::numeric_limits<float>::denorm_min();
        const double exact = before[i] * factor;
        ASSERT_NEAR(values[i], exact, 1.3e-7 * std::abs(exact) + least);
    }
}

/** Clip at bounds far below a norm, and as close to it as doubles are. */
void
ExpectClippedAtAllBounds(ClipNorm norm, const std::vector<float>& values)
{
    const double size = GetUpdateNorm(norm, values.data(), values.size());
    for (const double relative : {1e-8,
                                  0.1,
                                  1 - 1e-6,
                                  1 - 3e-7,
                                  1 - 1e-7,
                                  1 - 1e-13,
                                  1 - 0x1p-53,
                                  1.0,
                                  1 + 0x1p-52,
                                  1 + 1e-13,
                                  1 + 1e-7,
                                  1 + 3e-7,
                                  2.0})
    {
        SCOPED_TRACE(relative);
        ExpectClipped(norm, values, size * relative);
    }
}

} // namespace

TEST(UpdateClipping, NeverEndsAboveTheBoundInExactArithmetic)
{
    FederatedRandom random(17);
    for (const ClipNorm norm : {CLIP_L1, CLIP_L2})
    {
        for (const std::size_t count : {1U, 2U, 63U, 255U, 256U, 257U, 1000U, 5000U})
        {
            SCOPED_TRACE(count);
            for (int trial = 0; trial < 6; ++trial)
            {
                // From equal exponents to all that floats have.
                const double spread = std::vector<double>{0, 1, 4, 20, 70, 126}[trial];
                std::vector<float> values(count);
                for (float& value : values)
                {
                    const double magnitude =
                        (1 + random.Uniform()) * std::exp2(spread * (2 * random.Uniform() - 1));
                    value = static_cast<float>(random() % 2 == 0 ? magnitude : -magnitude);
                }
                ExpectClippedAtAllBounds(norm, values);
            }
            ExpectClippedAtAllBounds(norm, std::vector<float>(count, 0.1F));
            ExpectClippedAtAllBounds(norm, std::vector<float>(count, 1.9999999F));
            std::vector<float> values(count, 1e-3F);
            values[count / 2] = -3e7F; // one that is huge
            ExpectClippedAtAllBounds(norm, values);
        }
    }
}

TEST(UpdateClipping, NeverEndsAboveTheBoundWithManyCoordinates)
{
    FederatedRandom random(18);
    std::vector<float> values(200000);
    for (float& value : values)
    {
        value = static_cast<float>(2e-3 * (random.Uniform() - 0.5));
    }
    for (const ClipNorm norm : {CLIP_L1, CLIP_L2})
    {
        const double size = GetUpdateNorm(norm, values.data(), values.size());
        for (const double relative : {1e-3, 1 - 1e-7, 1.0, 1 + 1e-12})
        {
            ExpectClipped(norm, values, size * relative);
            ExpectClipped(norm, std::vector<float>(values.size(), 0.7F), 14e4 * relative);
        }
    }
}

TEST(UpdateClipping, NeverEndsAboveTheTiniestBound)
{
    FederatedRandom random(19);
    std::vector<float> values(3000);
    for (float& value : values)
    {
        value = static_cast<float>(random.Uniform() - 0.5);
    }
    const float least = std::numeric_limits<float>::denorm_min();
    for (const ClipNorm norm : {CLIP_L1, CLIP_L2})
    {
        for (const double bound : {1e-30, 1e-33, 1e-36, 1e-38, 1e-40, 1e-42, 3e-45, 1e-60, 1e-250})
        {
            SCOPED_TRACE(bound);
            ExpectClipped(norm, values, bound);
            ExpectClipped(norm, std::vector<float>(3000, least), bound);
            ExpectClipped(norm, std::vector<float>(1, 1e38F), bound);
            ExpectClipped(norm, std::vector<float>(3000, 1e38F), bound);
        }
        ExpectClippedAtAllBounds(norm, std::vector<float>(777, least));
        ExpectClippedAtAllBounds(norm, std::vector<float>(777, 1e-39F));
        ExpectClippedAtAllBounds(norm, std::vector<float>(777, std::numeric_limits<float>::max()));
    }
}

TEST(UpdateClipping, LeavesAnUpdateAtTheBoundAsItIs)
{
    // The sums round in floats and in doubles: 2^24 + 1 + 1, and 2^60 + 1 where both fit.
    const std::vector<float> small{0x1p24F, 1, 1};
    ExpectClipped(CLIP_L1, small, 0x1p24 + 2);
    std::vector<float> large(513, 1);
    large[0] = 0x1p60F;
    EXPECT_LT(CompareNorm(CLIP_L1, large, 0x1p60 + 1024), 0);
    ExpectClipped(CLIP_L1, large, 0x1p60 + 1024);
    EXPECT_EQ(CompareNorm(CLIP_L1, std::vector<float>(1000, 3), 3000), 0);
    ExpectClipped(CLIP_L1, std::vector<float>(1000, 3), 3000);
    ExpectClipped(CLIP_L2, {3, -4}, 5);
    ExpectClipped(CLIP_L2, {3, -4, 0x1p-60F}, 5);
    ExpectClipped(CLIP_L2, std::vector<float>(1 << 16, 1), 256);
}

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
        EXPECT_NEAR(factor, 0.25, 0.25e-6);
        EXPECT_LE(factor, 0.25);
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

TEST(Intervals, WithoutALowerEndBelowTheUpperOneAreFoundBeforeTheyAreUsed)
{
    const auto fixed = CreateObject<FixedInterval>();
    std::string error;
    EXPECT_TRUE(fixed->Check(error));
    EXPECT_TRUE(CreateObject<MaxAbsInterval>()->Check(error));
    for (const double high : {-0.5, -2.0})
    {
        fixed->SetAttribute("Low", DoubleValue(-0.5));
        fixed->SetAttribute("High", DoubleValue(high));
        EXPECT_FALSE(fixed->Check(error));
    }
    EXPECT_EQ(error, "FixedInterval: Low is -0.5, not below High, -2.");
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

namespace
{

const float FLOAT_MAX = std::numeric_limits<float>::max();

/** @return whether two lists of intervals are the same. */
bool
AreEqual(const std::vector<IntervalRange>& a, const std::vector<IntervalRange>& b)
{
    return std::equal(a.begin(),
                      a.end(),
                      b.begin(),
                      b.end(),
                      [](const IntervalRange& one, const IntervalRange& other)
                      {
                          return one.begin == other.begin && one.end == other.end &&
                                 one.low == other.low && one.high == other.high;
                      });
}

using UpdatePreparationTest = PreparationFixture;

} // namespace

TEST_F(UpdatePreparationTest, CountsWhatTheIntervalClamps)
{
    const std::vector<std::size_t> layerEnds{400, 1001};
    for (const std::string& name : GetQuantizers())
    {
        SCOPED_TRACE(name);
        UpdateSettings settings = Make(name, "FixedInterval", CLIP_NONE);
        m_rule->SetAttribute("Low", DoubleValue(-0.25));
        m_rule->SetAttribute("High", DoubleValue(0.125));
        auto values = MakeValues(1001);
        values[7] = -0.25F; // the ends are inside
        values[1000] = 0.125F;
        values[8] = -0.125F;
        const auto countOutside = [&values](float low)
        {
            return std::count_if(
                values.begin(), values.end(), [low](float v) { return v < low || v > 0.125F; });
        };
        const auto outside = countOutside(-0.25F);
        const auto outsideSymmetric = countOutside(-0.125F);
        ASSERT_GT(outside, 100);
        ASSERT_GT(outsideSymmetric, outside);
        FederatedRandom coins(7);
        PreparedUpdate result;
        PrepareUpdate(settings, layerEnds, coins, values, result);
        ASSERT_TRUE(result.valid);
        if (name == "GaussianQuantizer" || name == "IdentityQuantizer")
        {
            EXPECT_TRUE(std::isnan(result.clampedFraction)) << "it does not clamp";
            continue;
        }
        EXPECT_EQ(result.clampedFraction, static_cast<double>(outside) / 1001);
        m_rule->SetAttribute("Low", DoubleValue(-0.125));
        PrepareUpdate(settings, layerEnds, coins, values, result);
        EXPECT_EQ(result.clampedFraction, static_cast<double>(outsideSymmetric) / 1001);
        settings = Make(name, "MinMaxInterval", CLIP_L1);
        m_rule->SetAttribute("PerLayer", BooleanValue(true));
        PrepareUpdate(settings, layerEnds, coins, values, result);
        EXPECT_EQ(result.clampedFraction, 0);
    }
}

TEST_F(UpdatePreparationTest, IsClipPlaceAndEncodeInThisOrder)
{
    const std::vector<std::size_t> layerEnds{400, 1001};
    for (const std::string& name : GetQuantizers())
    {
        for (bool perLayer : {false, true})
        {
            for (ClipNorm norm : {CLIP_NONE, CLIP_L1, CLIP_L2})
            {
                SCOPED_TRACE(name + " with norm " + std::to_string(norm));
                UpdateSettings settings = Make(name, "MinMaxInterval", norm);
                m_rule->SetAttribute("PerLayer", BooleanValue(perLayer));
                settings.reportDistortion = perLayer;
                auto values = MakeValues(1001);
                FederatedRandom coins(7);
                PreparedUpdate result;
                PrepareUpdate(settings, layerEnds, coins, values, result);

                auto expected = MakeValues(1001);
                EXPECT_EQ(result.clipFactor, ClipUpdate(norm, 2, expected.data(), 1001));
                EXPECT_EQ(values, expected);
                const auto intervals = m_rule->GetIntervals(expected.data(), layerEnds);
                EXPECT_TRUE(AreEqual(result.intervals, intervals));
                EXPECT_EQ(result.wireBits, m_quantizer->GetWireBits(m_bits));
                std::vector<uint8_t> payload(m_quantizer->GetPayloadSize(1001, m_bits));
                FederatedRandom same(7);
                ASSERT_TRUE(
                    m_quantizer->Encode(expected.data(), intervals, m_bits, same, payload.data()));
                EXPECT_EQ(result.payload, payload);
                EXPECT_EQ(coins(), same()) << "not the same number of random words";
                EXPECT_TRUE(result.valid);
                if (perLayer)
                {
                    EXPECT_EQ(result.distortion,
                              m_quantizer->GetDistortion(expected.data(), intervals, m_bits) /
                                  1001);
                }
                else
                {
                    EXPECT_TRUE(std::isnan(result.distortion));
                }
            }
        }
    }
}

TEST_F(UpdatePreparationTest, EncodesOneUpdateManyTimes)
{
    for (const std::string& name : GetQuantizers())
    {
        SCOPED_TRACE(name);
        UpdateSettings settings = Make(name, "MaxAbsInterval");
        settings.reportDistortion = true;
        auto values = MakeValues(100);
        PreparedUpdate placed;
        ClipAndPlace(settings, {100}, values, placed);
        ASSERT_TRUE(placed.valid);
        EXPECT_TRUE(placed.payload.empty());
        for (uint32_t seed : {1, 2, 3})
        {
            FederatedRandom coins(seed);
            EncodePrepared(settings, coins, values, placed);
            auto again = MakeValues(100);
            FederatedRandom same(seed);
            PreparedUpdate whole;
            PrepareUpdate(settings, {100}, same, again, whole);
            EXPECT_EQ(placed.payload, whole.payload);
            EXPECT_TRUE(AreEqual(placed.intervals, whole.intervals));
            EXPECT_EQ(placed.distortion, whole.distortion);
        }
    }
}

TEST_F(UpdatePreparationTest, DecodesWhatItEncoded)
{
    const UpdateSettings exact = Make("IdentityQuantizer", "MinMaxInterval");
    auto values = MakeValues(50);
    FederatedRandom coins(1);
    PreparedUpdate prepared;
    PrepareUpdate(exact, {20, 50}, coins, values, prepared);
    std::vector<float> decoded(50);
    DecodePrepared(exact, prepared, decoded.data());
    EXPECT_EQ(decoded, values);

    const UpdateSettings levels = Make("UnbiasedStochasticQuantizer", "MinMaxInterval");
    m_rule->SetAttribute("PerLayer", BooleanValue(true));
    PrepareUpdate(levels, {20, 50}, coins, values, prepared);
    DecodePrepared(levels, prepared, decoded.data());
    for (std::size_t i = 0; i < 50; ++i)
    {
        const IntervalRange& range = prepared.intervals[i < 20 ? 0 : 1];
        EXPECT_NEAR(decoded[i], values[i], (range.high - range.low) / 7 * 1.0001) << i;
    }
}

TEST_F(UpdatePreparationTest, RejectsWhatCannotBeSent)
{
    const struct
    {
        const char* what;
        const char* quantizer;
        ClipNorm norm;
        std::vector<float> values;
        double clipFactor;
    } cases[] = {
        {"infinite", "DpStochasticQuantizer", CLIP_L1, {1, INFINITY, 0}, 0},
        {"not a number, not clipped", "IdentityQuantizer", CLIP_NONE, {NAN, 1}, 0},
        {"an interval of infinite width", "DpStochasticQuantizer", CLIP_NONE, {FLOAT_MAX, -1}, 1},
        {"noise beyond all floats", "GaussianQuantizer", CLIP_NONE, {1, 2}, 1},
    };
    for (const auto& one : cases)
    {
        SCOPED_TRACE(one.what);
        UpdateSettings settings = Make(one.quantizer, "MaxAbsInterval", one.norm);
        if (settings.quantizer->GetInstanceTypeId().GetName() == "ns3::GaussianQuantizer")
        {
            m_quantizer->SetAttribute("Sigma", DoubleValue(1e300));
        }
        settings.reportDistortion = true;
        PreparedUpdate result; // as another update left it
        result.payload = {1, 2, 3};
        result.intervals = {{0, 1, -1, 1}};
        result.distortion = 4;
        result.wireBits = 3;
        result.valid = true;
        auto values = one.values;
        FederatedRandom coins(1);
        PrepareUpdate(settings, {values.size()}, coins, values, result);
        EXPECT_FALSE(result.valid);
        EXPECT_TRUE(result.payload.empty());
        EXPECT_TRUE(result.intervals.empty());
        EXPECT_TRUE(std::isnan(result.distortion));
        EXPECT_EQ(result.clipFactor, one.clipFactor);
    }
}

TEST_F(UpdatePreparationTest, OnlyExactFloatsNeedNoIntervals)
{
    for (const std::string& name : GetQuantizers())
    {
        EXPECT_EQ(SendsIntervals(Make(name, "MinMaxInterval")), name != "IdentityQuantizer")
            << name;
    }
}

TEST_F(UpdatePreparationTest, ClaimsNothingThatAnIntervalOrADistortionGivesAway)
{
    const std::string distortion = "The distortion that is sent along depends on the data.";
    const std::string interval =
        "The interval depends on the data, so nothing holds for two data sets.";
    const struct
    {
        const char* quantizer;
        const char* interval;
        bool reportDistortion;
        PrivacyClaim::Kind kind;
        std::string reason; // empty: the quantizer's own
    } cases[] = {
        {"LaplaceQuantizer", "FixedInterval", false, PrivacyClaim::TRUE_EPSILON, ""},
        {"LaplaceQuantizer", "FixedInterval", true, PrivacyClaim::NONE, distortion},
        {"LaplaceQuantizer", "MaxAbsInterval", false, PrivacyClaim::NONE, interval},
        {"LaplaceQuantizer", "MaxAbsInterval", true, PrivacyClaim::NONE, interval},
        {"DpStochasticQuantizer", "FixedInterval", false, PrivacyClaim::SAME_CELL, ""},
        {"DpStochasticQuantizer", "FixedInterval", true, PrivacyClaim::NONE, distortion},
        {"IdentityQuantizer", "FixedInterval", true, PrivacyClaim::NONE, ""},
    };
    for (const auto& one : cases)
    {
        SCOPED_TRACE(std::string(one.quantizer) + " on " + one.interval);
        UpdateSettings settings = Make(one.quantizer, one.interval);
        settings.reportDistortion = one.reportDistortion;
        const PrivacyClaim claim = GetPrivacyClaim(settings, 4);
        const PrivacyClaim own =
            m_quantizer->GetPrivacyClaim(m_rule->GetPrivacyContext(CLIP_L1, 2, m_bits));
        EXPECT_EQ(claim.kind, one.kind);
        EXPECT_EQ(claim.reason, one.reason.empty() ? own.reason : one.reason);
        EXPECT_EQ(claim.epsilon, one.kind == PrivacyClaim::NONE ? 0 : own.epsilon);
    }
}
