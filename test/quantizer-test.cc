// SPDX-License-Identifier: GPL-2.0-only

#include "float-laplace-quantizer.h"

#include "ns3/bit-packer.h"
#include "ns3/double.h"
#include "ns3/dp-stochastic-quantizer.h"
#include "ns3/identity-quantizer.h"
#include "ns3/laplace-quantizer.h"
#include "ns3/object-factory.h"
#include "ns3/privacy-coin.h"
#include "ns3/randomized-response-quantizer.h"
#include "ns3/string.h"
#include "ns3/unbiased-stochastic-quantizer.h"

#include <boost/math/distributions/chi_squared.hpp>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

using namespace ns3;
using namespace ns3::federated;

namespace
{

const float INFINITE = std::numeric_limits<float>::infinity();
const float NOT_A_NUMBER = std::numeric_limits<float>::quiet_NaN();

template <typename T>
Ptr<T>
MakeQuantizer(double epsilon)
{
    return CreateObjectWithAttributes<T>("Epsilon", DoubleValue(epsilon));
}

/** Quantize on one interval and return what the receiver decodes. */
std::vector<float>
RoundTrip(const Quantizer& quantizer,
          const std::vector<float>& values,
          float low,
          float high,
          unsigned bits,
          FederatedRandom& random)
{
    std::vector<uint8_t> payload(quantizer.GetPayloadSize(values.size(), bits));
    EXPECT_TRUE(quantizer.Encode(
        values.data(), {{0, values.size(), low, high}}, bits, random, payload.data()));
    std::vector<float> decoded(values.size());
    quantizer.Decode(payload.data(), 0, values.size(), LevelGrid(low, high, bits), decoded.data());
    return decoded;
}

/** Levels chosen for a value, on the grid 0, 1, ..., 2^b-1 whose levels are exact floats. */
std::vector<std::size_t>
CountLevels(const Quantizer& quantizer,
            float value,
            unsigned bits,
            std::size_t draws,
            FederatedRandom& random)
{
    const auto top = static_cast<float>((1U << bits) - 1);
    std::vector<std::size_t> counts(std::size_t{1} << bits);
    for (float level : RoundTrip(quantizer, std::vector<float>(draws, value), 0, top, bits, random))
    {
        ++counts.at(static_cast<std::size_t>(level));
    }
    return counts;
}

double
MeanSquaredError(const std::vector<float>& a, const std::vector<float>& b)
{
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
    {
        sum += (double{a[i]} - b[i]) * (double{a[i]} - b[i]);
    }
    return sum / static_cast<double>(a.size());
}

/** Values of which about one in ten lies outside [-1, 1]. */
std::vector<float>
MakeUpdate(std::size_t count)
{
    FederatedRandom random(77);
    std::vector<float> values(count);
    for (float& value : values)
    {
        value = static_cast<float>(2.2 * random.Uniform() - 1.1);
    }
    return values;
}

/** Compare the measured error of many coordinates with the closed form. */
void
ExpectDistortionAsMeasured(const Quantizer& quantizer, unsigned bits)
{
    const std::vector<float> values = MakeUpdate(1000000);
    FederatedRandom random(5);
    const auto decoded = RoundTrip(quantizer, values, -1, 1, bits, random);
    const double expected =
        quantizer.GetDistortion(values.data(), {{0, values.size(), -1, 1}}, bits) /
        static_cast<double>(values.size());
    // A million coordinates: the standard error of the mean is far below the 1 % allowed.
    EXPECT_NEAR(MeanSquaredError(values, decoded) / expected, 1, 0.01)
        << quantizer.GetInstanceTypeId().GetName() << ", " << bits << " bits";
}

} // namespace

TEST(PrivacyCoin, HasTheExactThreshold)
{
    // floor(2^32 e^x/(1+e^x)) in 60-digit arithmetic.
    const std::vector<std::pair<double, uint32_t>> expected{
        {0, 2147483648U},
        {1e-9, 2147483649U},
        {1e-6, 2147484721U},
        {0.1, 2254768441U},
        {1, 3139872686U},
        {10, 4294772313U},
        {100, 4294967295U},
    };
    for (const auto& [epsilon, threshold] : expected)
    {
        EXPECT_EQ(PrivacyCoin(epsilon).GetThreshold(), threshold) << "epsilon " << epsilon;
    }
}

TEST(PrivacyCoin, NeverExceedsTheEpsilonAskedFor)
{
    EXPECT_EQ(PrivacyCoin(0).GetRealizedEpsilon(), 0);
    FederatedRandom random(3);
    for (int i = 0; i < 100000; ++i)
    {
        const double epsilon = std::pow(10.0, 14 * random.Uniform() - 11);
        const PrivacyCoin coin(epsilon);
        ASSERT_LE(coin.GetRealizedEpsilon(), epsilon);
        ASSERT_GE(coin.GetProbability(), 0.5);
    }
    EXPECT_NEAR(PrivacyCoin(1e-6).GetRealizedEpsilon(), 1e-6, 1e-9);
    EXPECT_NEAR(PrivacyCoin(1).GetRealizedEpsilon(), 1, 1e-8);
    EXPECT_TRUE(std::isfinite(PrivacyCoin(1e308).GetRealizedEpsilon()));
}

TEST(DpStochasticQuantizer, ChoosesTheNearerLevelAsOftenAsTheCoinSays)
{
    // 4 x 6 x 9 chi-square tests with one degree of freedom, together wrong with probability 1e-3.
    const boost::math::chi_squared oneDegree(1);
    const double limit = boost::math::quantile(complement(oneDegree, 1e-3 / (4 * 6 * 9)));
    const std::size_t draws = 200000;
    FederatedRandom random(2024);
    for (double epsilon : {0.0, 0.1, 1.0, 10.0})
    {
        const auto quantizer = MakeQuantizer<DpStochasticQuantizer>(epsilon);
        const double probability = quantizer->GetCoin().GetProbability();
        for (unsigned bits : {1U, 2U, 4U, 6U, 8U, 16U})
        {
            const auto top = static_cast<float>((1U << bits) - 1);
            const float cell = std::floor(top / 2); // lower level of a middle cell
            struct Case
            {
                float value;
                float nearer;
                float other;
            };
            const std::vector<Case> cases{
                {cell, cell, cell + 1},         // a border belongs to the cell above it
                {cell + 0.25F, cell, cell + 1}, // below the middle
                {cell + 0.5F, cell, cell + 1},  // in the middle the lower level is nearer
                {cell + 0.75F, cell + 1, cell}, // above the middle
                {0, 0, 1},                      // the lower end
                {top, top, top - 1},            // the upper end: the last cell is closed
                {top - 0.25F, top, top - 1},    // inside the last cell
                {-3, 0, 1},                     // clamped from below
                {2 * top + 1, top, top - 1},    // clamped from above
            };
            for (const auto& [value, nearer, other] : cases)
            {
                const auto counts = CountLevels(*quantizer, value, bits, draws, random);
                const auto near = static_cast<double>(counts.at(static_cast<std::size_t>(nearer)));
                const auto far = static_cast<double>(counts.at(static_cast<std::size_t>(other)));
                ASSERT_EQ(near + far, draws) << "a level that does not bound the cell";
                const double expectedNear = probability * draws;
                const double expectedFar = draws - expectedNear;
                const double chi = std::pow(near - expectedNear, 2) / expectedNear +
                                   std::pow(far - expectedFar, 2) / expectedFar;
                EXPECT_LT(chi, limit)
                    << "epsilon " << epsilon << ", " << bits << " bits, value " << value
                    << ": nearer level " << near << " times, expected " << expectedNear;
            }
        }
    }
}

TEST(DpStochasticQuantizer, HasTheDistortionOfThePaper)
{
    // E|Q(a) - a|^2 for a uniform in [-10, 10] at b = 4, 5, 6 (Fig. 2a): the closed form
    // Delta^2/12 (e^x+7)/(e^x+1), computed apart from this code.
    const std::vector<std::pair<double, std::vector<double>>> expected{
        {0.1, {0.57038887, 0.13354578, 0.03233497}},
        {0.5, {0.48373985, 0.11325855, 0.02742289}},
        {1.0, {0.38720719, 0.09065725, 0.02195052}},
        {1.5, {0.31030417, 0.07265186, 0.01759094}},
    };
    for (const auto& [epsilon, distortions] : expected)
    {
        const auto quantizer = MakeQuantizer<DpStochasticQuantizer>(epsilon);
        for (unsigned bits = 4; bits <= 6; ++bits)
        {
            const double distortion = quantizer->GetCellDistortion(-10, 10, bits);
            EXPECT_NEAR(distortion, distortions.at(bits - 4), 2e-8)
                << "epsilon " << epsilon << ", " << bits << " bits";
        }
    }
    const double step = 20.0 / 15;
    EXPECT_NEAR(MakeQuantizer<DpStochasticQuantizer>(0)->GetCellDistortion(-10, 10, 4),
                step * step / 3,
                1e-6);
    EXPECT_NEAR(MakeQuantizer<DpStochasticQuantizer>(1e9)->GetCellDistortion(-10, 10, 4),
                step * step / 12,
                1e-6);
}

TEST(DpStochasticQuantizer, TheCellDistortionIsTheMeanOfTheExactOne)
{
    std::vector<float> grid(100000);
    for (std::size_t i = 0; i < grid.size(); ++i)
    {
        grid[i] = static_cast<float>(-1 + 2 * (static_cast<double>(i) + 0.5) / 100000);
    }
    for (unsigned bits : {1U, 2U, 4U, 6U})
    {
        const auto dp = MakeQuantizer<DpStochasticQuantizer>(0.5);
        const auto sq = CreateObject<UnbiasedStochasticQuantizer>();
        for (const Quantizer* quantizer : {static_cast<const Quantizer*>(PeekPointer(dp)),
                                           static_cast<const Quantizer*>(PeekPointer(sq))})
        {
            const double exact =
                quantizer->GetDistortion(grid.data(), {{0, grid.size(), -1, 1}}, bits) / 100000;
            EXPECT_NEAR(exact / quantizer->GetCellDistortion(-1, 1, bits), 1, 1e-3);
        }
    }
}

TEST(Quantizers, MeasuredErrorEqualsTheClosedFormClampingIncluded)
{
    for (unsigned bits : {1U, 2U, 4U, 6U, 8U, 16U})
    {
        for (double epsilon : {0.0, 1e-6, 0.1, 1.0, 10.0, 100.0})
        {
            ExpectDistortionAsMeasured(*MakeQuantizer<DpStochasticQuantizer>(epsilon), bits);
        }
        ExpectDistortionAsMeasured(*CreateObject<UnbiasedStochasticQuantizer>(), bits);
        const auto laplace = MakeQuantizer<LaplaceQuantizer>(2);
        for (double sensitivity : {0.0, 0.3, 2.0})
        {
            laplace->SetAttribute("Sensitivity", DoubleValue(sensitivity));
            ExpectDistortionAsMeasured(*laplace, bits);
        }
    }
    for (const char* decoder : {"bayes", "unbiased", "gain:0.7"})
    {
        const auto response = MakeQuantizer<RandomizedResponseQuantizer>(1);
        response->SetAttribute("Decoder", StringValue(decoder));
        ExpectDistortionAsMeasured(*response, 1);
    }
}

TEST(Quantizers, SayWhichResolutionsTheyHave)
{
    struct Case
    {
        const char* name;
        unsigned least;
        unsigned most;
    };

    for (const Case& one : {Case{"ns3::DpStochasticQuantizer", 1, 16},
                            Case{"ns3::UnbiasedStochasticQuantizer", 1, 16},
                            Case{"ns3::LaplaceQuantizer", 1, 16},
                            Case{"ns3::IdentityQuantizer", 1, 16},
                            Case{"ns3::OptimalDpQuantizer", 1, 16},
                            Case{"ns3::RandomizedResponseQuantizer", 1, 1},
                            Case{"ns3::RandomCoordinatesQuantizer", 2, 2}})
    {
        SCOPED_TRACE(one.name);
        const auto quantizer = ObjectFactory(one.name).Create<Quantizer>();
        for (const unsigned bits : {0U, 1U, 2U, 3U, 8U, 16U, 17U, 32U, 255U, 0xffffffffU})
        {
            std::string error;
            const bool isSupported = bits >= one.least && bits <= one.most;
            EXPECT_EQ(quantizer->Supports(bits), isSupported) << bits;
            EXPECT_EQ(quantizer->Check(bits, error), isSupported) << bits;
            EXPECT_EQ(error.empty(), isSupported);
        }
    }
    std::string error;
    const auto quantizer = ObjectFactory("ns3::RandomCoordinatesQuantizer").Create<Quantizer>();
    EXPECT_FALSE(quantizer->Check(1, error));
    EXPECT_EQ(error, "ns3::RandomCoordinatesQuantizer has no resolution of 1 bits, only of 2.");
}

TEST(Quantizers, SayThatAFairCoinHasNoUnbiasedDecoder)
{
    for (const std::string name : {"RandomizedResponseQuantizer", "RandomCoordinatesQuantizer"})
    {
        const auto quantizer = ObjectFactory("ns3::" + name).Create<Quantizer>();
        const unsigned bits = quantizer->Supports(1) ? 1 : 2;
        std::string error;
        for (const char* decoder : {"bayes", "unbiased", "gain:2"})
        {
            quantizer->SetAttribute("Decoder", StringValue(decoder));
            quantizer->SetAttribute("Epsilon", DoubleValue(1e-6));
            EXPECT_TRUE(quantizer->Check(bits, error)) << decoder;
            quantizer->SetAttribute("Epsilon", DoubleValue(1e-12));
            EXPECT_EQ(quantizer->Check(bits, error), std::string(decoder) != "unbiased");
        }
        EXPECT_EQ(error,
                  name + ": Epsilon is so small that the coin is fair, which no decoder makes "
                         "unbiased; choose a larger one, or Decoder=bayes.");
    }
}

/** A quantizer of a user that forgets the last value, or chooses a level that does not exist. */
class ForgetfulQuantizer : public LevelQuantizer
{
  public:
    std::size_t m_forgotten = 0; //!< How many of the last levels are not set.
    uint16_t m_level = 0;        //!< What the others are set to.

  private:
    void DoChooseLevels(const float* /* values */,
                        std::size_t count,
                        const LevelGrid& /* grid */,
                        FederatedRandom& /* random */,
                        uint16_t* levels) const override
    {
        std::fill_n(levels, count - m_forgotten, m_level);
    }

    double DoGetDistortion(const float* /* values */,
                           std::size_t /* count */,
                           const LevelGrid& /* grid */) const override
    {
        return 0;
    }

    double DoGetCellDistortion(const LevelGrid& /* grid */) const override
    {
        return 0;
    }

    PrivacyClaim DoGetPrivacyClaim(const PrivacyContext& /* context */) const override
    {
        return PrivacyClaim::None("");
    }
};

TEST(Quantizers, LevelsThatAScriptForgetsOrThatDoNotExistGetASentence)
{
    FederatedRandom random(1);
    const std::vector<float> values(1500, 0.5F);
    const std::vector<IntervalRange> whole{{0, 1500, -1, 1}};
    std::vector<uint8_t> payload(values.size());
    ForgetfulQuantizer quantizer;
    quantizer.m_level = 3;
    const auto encode = [&]()
    { return quantizer.Encode(values.data(), whole, 2, random, payload.data()); };
    EXPECT_TRUE(encode());
    quantizer.m_level = 4;
    EXPECT_DEATH(encode(), "DoChooseLevels must set each of the levels, to 0 to 3");
    quantizer.m_level = 3;
    quantizer.m_forgotten = 1;
    EXPECT_DEATH(encode(), "DoChooseLevels must set each of the levels, to 0 to 3");
}

TEST(Quantizers, RefuseInfinityAndNaN)
{
    FederatedRandom random(1);
    std::vector<float> values(100, 0.25F);
    std::vector<uint8_t> payload(400);
    const std::vector<Ptr<Quantizer>> quantizers{MakeQuantizer<DpStochasticQuantizer>(1),
                                                 CreateObject<UnbiasedStochasticQuantizer>(),
                                                 MakeQuantizer<LaplaceQuantizer>(1),
                                                 CreateObject<IdentityQuantizer>(),
                                                 MakeQuantizer<RandomizedResponseQuantizer>(1)};
    for (const auto& quantizer : quantizers)
    {
        const std::vector<IntervalRange> good{{0, 100, -1, 1}};
        EXPECT_TRUE(quantizer->Encode(values.data(), good, 1, random, payload.data()));
        for (float bad : {INFINITE, -INFINITE, NOT_A_NUMBER})
        {
            for (std::size_t place : {0U, 50U, 99U})
            {
                auto broken = values;
                broken[place] = bad;
                EXPECT_FALSE(quantizer->Encode(broken.data(), good, 1, random, payload.data()));
            }
            const std::vector<IntervalRange> broken{{0, 100, -1, bad}};
            EXPECT_FALSE(quantizer->Encode(values.data(), broken, 1, random, payload.data()));
        }
        const float most = std::numeric_limits<float>::max();
        const std::vector<IntervalRange> tooWide{{0, 100, -most, most}};
        EXPECT_FALSE(quantizer->Encode(values.data(), tooWide, 1, random, payload.data()));
    }
}

TEST(Quantizers, AnIntervalWithoutWidthGivesItsValueEverywhere)
{
    FederatedRandom random(1);
    const std::vector<float> values(1000, 0.125F);
    const auto quantizer = MakeQuantizer<DpStochasticQuantizer>(1);
    EXPECT_EQ(RoundTrip(*quantizer, values, 0.125F, 0.125F, 4, random), values);
    EXPECT_EQ(quantizer->GetDistortion(values.data(), {{0, 1000, 0.125F, 0.125F}}, 4), 0);
    // A width whose inverse is no finite float counts as none.
    const std::vector<float> zeros(1000);
    const float least = std::numeric_limits<float>::denorm_min();
    for (float value : RoundTrip(*quantizer, zeros, 0, least, 4, random))
    {
        EXPECT_LE(value, least);
    }
}

TEST(Quantizers, LeaveNothingOfAnEarlierUpdateInThePadding)
{
    const auto quantizer = MakeQuantizer<DpStochasticQuantizer>(1);
    const auto values = MakeUpdate(1001);
    std::vector<uint8_t> clean(quantizer->GetPayloadSize(values.size(), 2), 0);
    std::vector<uint8_t> used(clean.size(), 0xff);
    for (auto* payload : {&clean, &used})
    {
        FederatedRandom random(9);
        ASSERT_TRUE(
            quantizer->Encode(values.data(), {{0, 1001, -1, 1}}, 2, random, payload->data()));
    }
    EXPECT_EQ(clean, used);
}

TEST(Quantizers, EqualStreamsGiveEqualBytesAndOtherRoundsOthers)
{
    const auto quantizer = MakeQuantizer<DpStochasticQuantizer>(1);
    const auto values = MakeUpdate(10000);
    const auto encode = [&](uint32_t device, uint32_t round)
    {
        FederatedRandom random(9, FederatedRandom::QUANTIZE, device, round);
        std::vector<uint8_t> payload(quantizer->GetPayloadSize(values.size(), 4));
        quantizer->Encode(values.data(), {{0, values.size(), -1, 1}}, 4, random, payload.data());
        return payload;
    };
    EXPECT_EQ(encode(3, 4), encode(3, 4));
    EXPECT_NE(encode(3, 4), encode(3, 5));
    EXPECT_NE(encode(3, 4), encode(4, 4));
}

TEST(Quantizers, EachRangeHasItsOwnIntervalAndAnyPartCanBeDecoded)
{
    const auto quantizer = MakeQuantizer<DpStochasticQuantizer>(1e9);
    std::vector<float> values(101);
    for (std::size_t i = 0; i < values.size(); ++i)
    {
        values[i] = static_cast<float>(i < 37 ? i % 4 : 100 * (i % 4));
    }
    FederatedRandom random(1);
    std::vector<uint8_t> payload(quantizer->GetPayloadSize(values.size(), 2));
    ASSERT_TRUE(quantizer->Encode(
        values.data(), {{0, 37, 0, 3}, {37, 101, 0, 300}}, 2, random, payload.data()));
    std::vector<float> part(20);
    quantizer->Decode(payload.data(), 11, 20, LevelGrid(0, 3, 2), part.data());
    EXPECT_EQ(part, std::vector<float>(values.begin() + 11, values.begin() + 31));
    quantizer->Decode(payload.data(), 75, 20, LevelGrid(0, 300, 2), part.data());
    EXPECT_EQ(part, std::vector<float>(values.begin() + 75, values.begin() + 95));
}

TEST(UnbiasedStochasticQuantizer, IsRightOnAverage)
{
    const auto quantizer = CreateObject<UnbiasedStochasticQuantizer>();
    FederatedRandom random(8);
    for (unsigned bits : {1U, 2U, 4U, 8U, 16U})
    {
        const auto top = static_cast<double>((1U << bits) - 1);
        for (double position : {0.0, 0.2, 0.5, 0.97, 1.0})
        {
            const auto value = static_cast<float>(position * top);
            const std::size_t draws = 200000;
            const auto counts = CountLevels(*quantizer, value, bits, draws, random);
            double mean = 0;
            for (std::size_t level = 0; level < counts.size(); ++level)
            {
                mean += static_cast<double>(counts[level] * level) / draws;
            }
            // Standard deviation at most 1/2: 5 standard errors, exceeded with probability 6e-7.
            EXPECT_NEAR(mean, value, 5 * 0.5 / std::sqrt(draws));
        }
    }
    EXPECT_NEAR(quantizer->GetCellDistortion(-10, 10, 4), std::pow(20.0 / 15, 2) / 6, 1e-6);
}

TEST(LaplaceQuantizer, AddsLaplaceNoiseOfTheRightShape)
{
    const auto quantizer = MakeQuantizer<LaplaceQuantizer>(0.5);
    quantizer->SetAttribute("Sensitivity", DoubleValue(2));
    FederatedRandom random(4);
    const std::size_t draws = 400000;
    // The value is a level, so that only the noise, of scale 4, is random.
    const auto decoded = RoundTrip(*quantizer, std::vector<float>(draws, 3), 0, 3, 2, random);
    // Twenty classes of equal probability; 19 degrees of freedom, wrong with probability 1e-4.
    std::vector<double> counts(20);
    for (float value : decoded)
    {
        const double z = (value - 3) / 4;
        const double probability = z < 0 ? std::exp(z) / 2 : 1 - std::exp(-z) / 2;
        ++counts.at(std::min<std::size_t>(19, static_cast<std::size_t>(20 * probability)));
    }
    double chi = 0;
    for (double count : counts)
    {
        chi += std::pow(count - draws / 20.0, 2) / (draws / 20.0);
    }
    EXPECT_LT(chi, boost::math::quantile(complement(boost::math::chi_squared(19), 1e-4)));
    EXPECT_EQ(quantizer->GetWireBits(2), 32U);
    EXPECT_NEAR(quantizer->GetCellDistortion(-10, 10, 4), std::pow(20.0 / 15, 2) / 6 + 32, 1e-4);
}

TEST(LaplaceQuantizer, RefusesNoiseThatNoFloatHolds)
{
    const auto quantizer = MakeQuantizer<LaplaceQuantizer>(1e-40);
    const std::vector<float> values(100);
    std::vector<uint8_t> payload(400);
    FederatedRandom random(1);
    EXPECT_FALSE(quantizer->Encode(values.data(), {{0, 100, -1, 1}}, 2, random, payload.data()));
}

TEST(LaplaceQuantizer, HasTheDistortionOfThePaper)
{
    const std::vector<std::pair<double, double>> expected{
        {0.1, 80000}, {0.5, 3200}, {1, 800}, {1.5, 355.6}};
    for (const auto& [epsilon, distortion] : expected)
    {
        const auto quantizer = MakeQuantizer<LaplaceQuantizer>(epsilon);
        EXPECT_NEAR(quantizer->GetCellDistortion(-10, 10, 6) / distortion, 1, 1e-4);
    }
}

namespace
{

/** LaplaceSQ with noise of this scale. */
Ptr<LaplaceQuantizer>
MakeLaplace(double scale)
{
    const auto quantizer = MakeQuantizer<LaplaceQuantizer>(1);
    quantizer->SetAttribute("Sensitivity", DoubleValue(scale));
    return quantizer;
}

/** What is known of a device with an l1 clip and a public interval. */
PrivacyContext
MakeClippedContext(double low, double high, unsigned bits, double clipBound)
{
    PrivacyContext context;
    context.bits = bits;
    context.intervalIsPublic = true;
    context.low = low;
    context.high = high;
    context.clipNorm = CLIP_L1;
    context.clipBound = clipBound;
    return context;
}

} // namespace

TEST(LaplaceQuantizer, ClaimsWhatAnotherProgramComputed)
{
    struct Case
    {
        double clip; // in steps
        double scale;
        double symmetric;
        double onLevel;
    };

    // The step is 1, so that the lattice has the scale asked for exactly.
    for (const auto& [clip, scale, symmetric, onLevel] :
         {Case{10, 10, 2.024993, 2.103418}, Case{1, 1, 2.243707, 3.436564}})
    {
        const auto quantizer = MakeLaplace(scale);
        const auto middle = quantizer->GetPrivacyClaim(MakeClippedContext(-1.5, 1.5, 2, clip));
        EXPECT_NEAR(middle.epsilon, symmetric, 1e-6);
        const auto level = quantizer->GetPrivacyClaim(MakeClippedContext(-1, 2, 2, clip));
        EXPECT_NEAR(level.epsilon, onLevel, 1e-6);
    }
    const auto quantizer = MakeLaplace(0.5);
    EXPECT_NEAR(
        quantizer->GetPrivacyClaim(MakeClippedContext(-1, 1, 1, 1)).epsilon, 4.289030, 1e-6);
    EXPECT_NEAR(
        quantizer->GetPrivacyClaim(MakeClippedContext(0, 2, 1, 1)).epsilon, 53.598150, 1e-5);
}

TEST(LaplaceQuantizer, NoTwoClippedUpdatesLoseMoreThanTheClaim)
{
    FederatedRandom random(41);
    for (int trial = 0; trial < 3000; ++trial)
    {
        const unsigned bits = 1 + random.Below(6);
        const auto high = static_cast<float>(0.1 + 2 * random.Uniform());
        const float low = trial % 2 == 0 ? -high : -high * static_cast<float>(random.Uniform());
        const LevelGrid grid(low, high, bits);
        const double scale = grid.step * std::exp(6 * random.Uniform() - 2);
        const double clip = grid.step * std::exp(5 * random.Uniform() - 1);
        const auto quantizer = MakeLaplace(scale);
        const auto claim = quantizer->GetPrivacyClaim(MakeClippedContext(low, high, bits, clip));
        ASSERT_EQ(claim.kind, PrivacyClaim::TRUE_EPSILON);
        // Few large or many small coordinates, some of them at the worst places: half a step from
        // zero, and a little more than that.
        const std::size_t count = 1 + random.Below(40);
        std::vector<float> a(count);
        std::vector<float> b(count);
        for (auto* values : {&a, &b})
        {
            const double place = grid.step * (0.5 + (trial % 3 == 0 ? 0 : random.Uniform()));
            for (float& value : *values)
            {
                const double sign = static_cast<int>(random.Below(3)) - 1;
                value = static_cast<float>(trial % 5 == 0 ? random.Uniform() - 0.5 : place * sign);
            }
            ASSERT_GT(ClipUpdate(CLIP_L1, clip, values->data(), count), 0);
        }
        const std::vector<IntervalRange> intervals{{0, count, low, high}};
        ASSERT_LE(quantizer->GetPrivacyLoss(a.data(), b.data(), intervals, bits), claim.epsilon);
    }
}

TEST(LaplaceQuantizer, SomeUpdatesLoseAllThatIsClaimed)
{
    // E = e^4: coordinates of 0.5 steps in b, and of the worst fraction of a step more in a.
    const auto quantizer = MakeLaplace(0.25);
    double largest = 0;
    for (int places = 2; places <= 12; ++places)
    {
        std::vector<float> a(32);
        std::vector<float> b(32);
        for (int i = 0; i < places; ++i)
        {
            a[i] = 6.0F / static_cast<float>(places) * (1 - 1e-6F);
        }
        std::fill_n(b.begin() + 20, 12, 0.5F);
        largest = std::max(largest,
                           quantizer->GetPrivacyLoss(a.data(), b.data(), {{0, 32, -7.5, 7.5}}, 4));
    }
    const auto claim = quantizer->GetPrivacyClaim(MakeClippedContext(-7.5, 7.5, 4, 6));
    EXPECT_LE(largest, claim.epsilon);
    EXPECT_GT(largest, 0.99 * claim.epsilon);
}

TEST(LaplaceQuantizer, ClaimsNothingWhereTheLossHasNoBound)
{
    for (const double scale : {1e-3, 1e-30, 1e-300})
    {
        for (const double low : {-1.0, 0.0})
        {
            const auto claim =
                MakeLaplace(scale)->GetPrivacyClaim(MakeClippedContext(low, 1, 1, 1));
            EXPECT_EQ(claim.kind, PrivacyClaim::NONE);
            EXPECT_EQ(claim.reason, "The privacy loss has no finite bound.");
        }
    }
    const auto claim = MakeLaplace(1e30)->GetPrivacyClaim(MakeClippedContext(-1, 1, 1, 1));
    EXPECT_EQ(claim.kind, PrivacyClaim::NONE);
    EXPECT_EQ(claim.reason, "So much noise cannot be sent.");
}

TEST(LaplaceQuantizer, RoundsWithExactProbabilities)
{
    // Hardly any noise: what is sent is the level.
    FederatedRandom random(42);
    const auto quantizer = MakeLaplace(1e-9);
    const std::size_t draws = 400000;
    for (const float low : {-1.5F, 0.0F, 2.0F, -7.0F})
    {
        for (const float fraction : {0.0F, 0.25F, 0.9F, 1.0F})
        {
            const float value = low + 1 + fraction;
            const auto decoded =
                RoundTrip(*quantizer, std::vector<float>(draws, value), low, low + 3, 2, random);
            double upper = 0;
            for (const float level : decoded)
            {
                ASSERT_LT(std::min(std::abs(level - low - 1), std::abs(level - low - 2)), 1e-5F);
                upper += level > low + 1.5F;
            }
            const double deviation = std::sqrt(fraction * (1 - fraction) / draws);
            EXPECT_NEAR(upper / draws, fraction, 5 * deviation) << low;
        }
        for (const float outside : {-100.0F, 100.0F})
        {
            for (const float level :
                 RoundTrip(*quantizer, std::vector<float>(100, outside), low, low + 3, 2, random))
            {
                EXPECT_NEAR(level, outside < 0 ? low : low + 3, 1e-5);
            }
        }
    }
}

TEST(LaplaceQuantizer, KeepsItsNoiseWhereTheIntervalHasNoWidth)
{
    FederatedRandom random(43);
    const std::vector<float> values(100000, 0.125F);
    const auto quantizer = MakeLaplace(3);
    const auto noisy = RoundTrip(*quantizer, values, 0.125F, 0.125F, 4, random);
    // The standard error of the variance 18 is 0.127.
    EXPECT_NEAR(MeanSquaredError(values, noisy), 18, 5 * 0.127);
    EXPECT_NEAR(quantizer->GetCellDistortion(0.125F, 0.125F, 4), 18, 1e-6);
    // Without width, one step of the levels is no noise.
    const auto exact = MakeLaplace(0);
    EXPECT_EQ(RoundTrip(*exact, values, 0.125F, 0.125F, 4, random), values);
    EXPECT_TRUE(exact->CanSend(0.125F, LevelGrid(0.125F, 0.125F, 4), 0.125F));
    EXPECT_FALSE(exact->CanSend(0.125F, LevelGrid(0.125F, 0.125F, 4), 0.25F));
}

TEST(LaplaceQuantizer, SendsPointsThatAllValuesCanHave)
{
    FederatedRandom random(44);
    for (const double scale : {0.01, 0.3, 2.0, 1e3, 1e9})
    {
        for (const unsigned bits : {1U, 4U, 16U})
        {
            const auto quantizer = MakeLaplace(scale);
            const LevelGrid grid(-1, 1, bits);
            for (const float sent :
                 RoundTrip(*quantizer, std::vector<float>(20000, -1), -1, 1, bits, random))
            {
                ASSERT_TRUE(quantizer->CanSend(-1, grid, sent));
                ASSERT_TRUE(quantizer->CanSend(1, grid, sent));
                ASSERT_TRUE(quantizer->CanSend(0.3F, grid, sent));
            }
            EXPECT_FALSE(quantizer->CanSend(1, grid, INFINITE));
            EXPECT_FALSE(quantizer->CanSend(1, grid, NOT_A_NUMBER));
        }
    }
    // The points are 2^-17 apart: floats between them are never sent.
    const auto quantizer = MakeLaplace(0.5);
    const LevelGrid grid(-1, 1, 1);
    EXPECT_TRUE(quantizer->CanSend(-1, grid, 0.25F + 0x1p-17F));
    EXPECT_FALSE(quantizer->CanSend(-1, grid, 0.25F + 0x1p-18F));
}

TEST(FloatLaplaceQuantizer, SomeFloatsIdentifyTheLevel)
{
    // Noise in floating point, of the same scale: 3 to 4 of 1000 floats have one origin only.
    FederatedRandom random(45);
    const auto textbook = CreateObject<FloatLaplaceQuantizer>(2.0);
    const auto exact = MakeLaplace(2);
    const LevelGrid grid(-1, 1, 1);
    const std::size_t draws = 1000000;
    const std::vector<float> values(draws, -1);
    double identified = 0;
    for (const float sent : RoundTrip(*textbook, values, -1, 1, 1, random))
    {
        ASSERT_TRUE(textbook->CanSend(-1, grid, sent));
        identified += !textbook->CanSend(1, grid, sent);
    }
    EXPECT_GT(identified / draws, 3e-3);
    EXPECT_LT(identified / draws, 4e-3);
    for (const float sent : RoundTrip(*exact, values, -1, 1, 1, random))
    {
        ASSERT_TRUE(exact->CanSend(1, grid, sent));
    }
}

TEST(IdentityQuantizer, SendsEveryFloatExactly)
{
    const auto quantizer = CreateObject<IdentityQuantizer>();
    std::vector<float> values = MakeUpdate(1000);
    values[0] = 0;
    values[1] = -0.0F;
    values[2] = std::numeric_limits<float>::max();
    values[3] = std::numeric_limits<float>::denorm_min();
    FederatedRandom random(1);
    EXPECT_EQ(RoundTrip(*quantizer, values, -1, 1, 4, random), values);
    EXPECT_EQ(quantizer->GetPayloadSize(1000, 4), 4000U);
    EXPECT_EQ(quantizer->GetCellDistortion(-1, 1, 4), 0);
}

TEST(RandomizedResponseQuantizer, AnswersWithTheProbabilityOfItsEpsilon)
{
    const double epsilon = 1.3;
    const auto quantizer = MakeQuantizer<RandomizedResponseQuantizer>(epsilon);
    FederatedRandom random(21);
    const std::size_t draws = 400000;
    for (float value : {-2.0F, -1.0F, -0.3F, 0.0F, 0.8F, 1.0F, 5.0F})
    {
        const auto decoded =
            RoundTrip(*quantizer, std::vector<float>(draws, value), -1, 1, 1, random);
        std::size_t upper = 0;
        for (float x : decoded)
        {
            upper += x > 0;
        }
        const double position = std::max(-1.0F, std::min(1.0F, value));
        const double probability = (1 + std::tanh(epsilon / 2) * position) / 2;
        // 5 standard errors: exceeded with probability 6e-7.
        EXPECT_NEAR(static_cast<double>(upper) / draws,
                    probability,
                    5 * std::sqrt(probability * (1 - probability) / draws));
    }
}

TEST(RandomizedResponseQuantizer, TheUnbiasedDecoderIsRightOnAverageAndBayesHasLessError)
{
    const auto unbiased = MakeQuantizer<RandomizedResponseQuantizer>(1);
    unbiased->SetAttribute("Decoder", StringValue("unbiased"));
    FederatedRandom random(22);
    const std::size_t draws = 1000000;
    const auto decoded = RoundTrip(*unbiased, std::vector<float>(draws, 0.4F), -1, 1, 1, random);
    double mean = 0;
    for (float value : decoded)
    {
        mean += value / draws;
    }
    const double gain = 1 / std::tanh(0.5);
    EXPECT_NEAR(mean, 0.4, 5 * gain / std::sqrt(draws));

    const auto bayes = MakeQuantizer<RandomizedResponseQuantizer>(1);
    const auto shifted = MakeQuantizer<RandomizedResponseQuantizer>(1);
    EXPECT_LT(bayes->GetCellDistortion(-1, 1, 1), unbiased->GetCellDistortion(-1, 1, 1));
    for (const char* other : {"gain:0.1", "gain:0.2", "gain:0.5"})
    {
        shifted->SetAttribute("Decoder", StringValue(other));
        EXPECT_LT(bayes->GetCellDistortion(-1, 1, 1), shifted->GetCellDistortion(-1, 1, 1));
    }
}

TEST(PrivacyClaims, FollowFromTheConfiguration)
{
    const auto dp = MakeQuantizer<DpStochasticQuantizer>(0.25);
    PrivacyContext context;
    context.bits = 4;
    context.intervalIsPublic = true;
    context.low = -10;
    context.high = 10;
    context.clipNorm = CLIP_L1;
    context.clipBound = 10;
    EXPECT_EQ(dp->GetPrivacyClaim(context).kind, PrivacyClaim::SAME_CELL);
    EXPECT_EQ(dp->GetPrivacyClaim(context).epsilon, 0.25);

    context.clipBound = 20.0 / 15 / 2 * 0.99; // inside the middle cell
    EXPECT_EQ(dp->GetPrivacyClaim(context).kind, PrivacyClaim::TRUE_EPSILON);
    context.clipBound = 20.0 / 15 / 2 * 1.01;
    EXPECT_EQ(dp->GetPrivacyClaim(context).kind, PrivacyClaim::SAME_CELL);
    context.clipNorm = CLIP_NONE;
    EXPECT_EQ(dp->GetPrivacyClaim(context).kind, PrivacyClaim::SAME_CELL);

    context.bits = 1;
    EXPECT_EQ(dp->GetPrivacyClaim(context).kind, PrivacyClaim::TRUE_EPSILON);
    context.intervalIsPublic = false;
    EXPECT_EQ(dp->GetPrivacyClaim(context).kind, PrivacyClaim::NONE);

    const auto response = MakeQuantizer<RandomizedResponseQuantizer>(2);
    EXPECT_EQ(response->GetPrivacyClaim(context).kind, PrivacyClaim::NONE);
    context.intervalIsPublic = true;
    EXPECT_EQ(response->GetPrivacyClaim(context).kind, PrivacyClaim::TRUE_EPSILON);
    EXPECT_EQ(response->GetPrivacyClaim(context).epsilon, 2);

    EXPECT_EQ(CreateObject<UnbiasedStochasticQuantizer>()->GetPrivacyClaim(context).kind,
              PrivacyClaim::NONE);
    EXPECT_EQ(CreateObject<IdentityQuantizer>()->GetPrivacyClaim(context).kind, PrivacyClaim::NONE);
}

TEST(PrivacyClaims, NeedAConfigurationThatMakesSense)
{
    const auto dp = MakeQuantizer<DpStochasticQuantizer>(0.25);
    const auto laplace = MakeQuantizer<LaplaceQuantizer>(0.5);
    PrivacyContext context;
    context.intervalIsPublic = true;
    const auto expectNone = [&]
    {
        EXPECT_EQ(dp->GetPrivacyClaim(context).kind, PrivacyClaim::NONE);
        EXPECT_EQ(laplace->GetPrivacyClaim(context).kind, PrivacyClaim::NONE);
        EXPECT_FALSE(dp->GetPrivacyClaim(context).reason.empty());
    };
    expectNone(); // an interval without width
    context.low = 1;
    context.high = -1;
    expectNone();
    context.low = -1;
    context.high = 1;
    context.clipNorm = CLIP_L1;
    context.clipBound = 0;
    expectNone();
    context.clipBound = NOT_A_NUMBER;
    expectNone();
    // The middle cell ends at 1/3: the floats next to it are in that cell and beyond it.
    context.bits = 2;
    context.clipBound = 0.333333343;
    EXPECT_EQ(dp->GetPrivacyClaim(context).kind, PrivacyClaim::SAME_CELL);
    context.clipBound = 0.333333313;
    EXPECT_EQ(dp->GetPrivacyClaim(context).kind, PrivacyClaim::TRUE_EPSILON);
}

TEST(PrivacyClaims, LaplaceNeedsAnL1ClipAndAPublicInterval)
{
    const auto laplace = MakeQuantizer<LaplaceQuantizer>(0.5);
    PrivacyContext context;
    context.bits = 4;
    context.intervalIsPublic = true;
    context.low = -10;
    context.high = 10;
    EXPECT_EQ(laplace->GetPrivacyClaim(context).kind, PrivacyClaim::NONE);
    context.clipNorm = CLIP_L1;
    context.clipBound = 10;
    const auto claim = laplace->GetPrivacyClaim(context);
    EXPECT_EQ(claim.kind, PrivacyClaim::TRUE_EPSILON);
    EXPECT_EQ(claim.scope, PrivacyClaim::UPDATE);
    // Quantizing after clipping costs a little more than the epsilon of the noise, and less if
    // zero is in the middle of a cell.
    EXPECT_GT(claim.epsilon, 0.5);
    context.low = -10 + 20.0 / 15 / 2;
    context.high = 10 + 20.0 / 15 / 2;
    const LevelGrid grid(static_cast<float>(context.low), static_cast<float>(context.high), 4);
    const double onLevel = 20 / grid.step * std::expm1(grid.step / 40);
    EXPECT_LT(claim.epsilon, onLevel);
    // The scale is above 40, by less than 2^-16 of it.
    EXPECT_LE(laplace->GetPrivacyClaim(context).epsilon, onLevel * (1 + 1e-9));
    EXPECT_GE(laplace->GetPrivacyClaim(context).epsilon, onLevel * (1 - 2e-5));
    context.intervalIsPublic = false;
    EXPECT_EQ(laplace->GetPrivacyClaim(context).kind, PrivacyClaim::NONE);
}
