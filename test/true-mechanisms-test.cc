// SPDX-License-Identifier: GPL-2.0-only

#include "ns3/bit-packer.h"
#include "ns3/double.h"
#include "ns3/object-factory.h"
#include "ns3/optimal-dp-quantizer.h"
#include "ns3/random-coordinates-quantizer.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"
#include "ns3/uniform-fusion.h"
#include "ns3/update-fusion.h"

#include <boost/math/distributions/chi_squared.hpp>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

using namespace ns3;

namespace
{

Ptr<OptimalDpQuantizer>
MakeOptimal(double epsilon)
{
    return CreateObjectWithAttributes<OptimalDpQuantizer>("Epsilon", DoubleValue(epsilon));
}

Ptr<RandomCoordinatesQuantizer>
MakeRandomCoordinates(double epsilon, uint32_t coordinates, const std::string& decoder)
{
    return CreateObjectWithAttributes<RandomCoordinatesQuantizer>("Epsilon",
                                                                  DoubleValue(epsilon),
                                                                  "Coordinates",
                                                                  UintegerValue(coordinates),
                                                                  "Decoder",
                                                                  StringValue(decoder));
}

/** Values of which about one in ten lies outside [-1, 1]. */
std::vector<float>
MakeValues(std::size_t count, uint64_t seed)
{
    FederatedRandom random(seed);
    std::vector<float> values(count);
    for (float& value : values)
    {
        value = static_cast<float>(2.2 * random.Uniform() - 1.1);
    }
    return values;
}

/** Quantize on one interval. */
std::vector<uint8_t>
Encode(const Quantizer& quantizer,
       const std::vector<float>& values,
       float low,
       float high,
       unsigned bits,
       FederatedRandom& random)
{
    std::vector<uint8_t> payload(quantizer.GetPayloadSize(values.size(), bits));
    EXPECT_TRUE(quantizer.Encode(
        values.data(), {{0, values.size(), low, high}}, bits, random, payload.data()));
    return payload;
}

/** The levels of a payload. */
std::vector<uint16_t>
Unpack(const std::vector<uint8_t>& payload, std::size_t count, unsigned wireBits)
{
    std::vector<uint16_t> levels(count);
    BitPacker::Unpack(payload.data(), 0, count, wireBits, levels.data());
    return levels;
}

/** What the receiver takes a payload for. */
std::vector<float>
Decode(const Quantizer& quantizer,
       const std::vector<uint8_t>& payload,
       std::size_t count,
       float low,
       float high,
       unsigned bits)
{
    std::vector<float> values(count);
    quantizer.Decode(payload.data(), 0, count, LevelGrid(low, high, bits, count), values.data());
    return values;
}

/** The error of randomized response over some levels of [-10, 10], by numerical integration. */
double
IntegrateError(const std::vector<double>& levels, double epsilon)
{
    const std::size_t points = 20000;
    const double boost = std::exp(epsilon);
    double sum = 0;
    for (std::size_t p = 0; p < points; ++p)
    {
        const double a = -10 + 20 * (static_cast<double>(p) + 0.5) / points;
        double all = 0;
        double least = 1e300;
        for (double level : levels)
        {
            const double error = (level - a) * (level - a);
            all += error;
            least = std::min(least, error);
        }
        sum += all + (boost - 1) * least;
    }
    return sum / points / (static_cast<double>(levels.size()) - 1 + boost);
}

/** The same in closed form, and the least over all sets of levels. */
double
SearchAllSets(unsigned bits, double epsilon)
{
    const double top = (1U << bits) - 1;
    const double boost = std::exp(epsilon);
    double best = 1e300;
    for (uint32_t set = 1; set < 1ULL << (1U << bits); ++set)
    {
        double cost = 0;
        double count = 0;
        double previous = 0;
        for (uint32_t j = 0; j <= top; ++j)
        {
            if ((set >> j & 1) != 0)
            {
                const double x = -10 + 20 * j / top;
                cost += x * x + 100.0 / 3;
                cost += (boost - 1) / 20 *
                        (count == 0 ? std::pow(x + 10, 3) / 3 : std::pow(x - previous, 3) / 12);
                previous = x;
                ++count;
            }
        }
        cost += (boost - 1) / 20 * std::pow(10 - previous, 3) / 3;
        best = std::min(best, cost / (count - 1 + boost));
    }
    return best;
}

} // namespace

TEST(OptimalDpQuantizer, HasTheLeastDistortionOfATrueEpsilon)
{
    struct Case
    {
        double epsilon;
        unsigned bits;
        double distortion;
        double tolerance;
    };
    // Computed apart from this code, for a uniform in [-10, 10].
    const std::vector<Case> cases{{0.1, 2, 42.7792, 1e-5},
                                  {0.1, 4, 33.4447, 1e-5},
                                  {0.1, 6, 33.2792, 1e-5},
                                  {1, 2, 29.0405, 1e-5},
                                  {1, 4, 28.0910, 1e-5},
                                  {1, 6, 27.9995, 1e-5},
                                  {4, 2, 9.620, 1e-4},
                                  {4, 4, 6.334, 1e-4},
                                  // A linear program over all channels from 120 to 140 values.
                                  {3, 3, 12.129041, 1e-6},
                                  {3, 4, 11.264684, 1e-6},
                                  {4, 3, 6.418172, 1e-6},
                                  {5, 3, 3.448814, 1e-6}};
    for (const auto& [epsilon, bits, distortion, tolerance] : cases)
    {
        EXPECT_NEAR(
            MakeOptimal(epsilon)->GetCellDistortion(-10, 10, bits) / distortion, 1, tolerance)
            << "epsilon " << epsilon << ", " << bits << " bits";
    }
    // Two levels +-q_j, A^2/3 + q_j^2 - A q_j tanh(epsilon/2), are nearly the best up to epsilon 2:
    // a pair that is not symmetric may be some parts in ten thousand better.
    for (double epsilon : {0.01, 0.1, 0.5, 1.0, 1.5, 2.0})
    {
        for (unsigned bits = 1; bits <= 10; ++bits)
        {
            const LevelGrid grid(-10, 10, bits);
            double best = 1e300;
            for (uint32_t j = 0; j <= grid.top; ++j)
            {
                const double q = grid.GetValue(static_cast<int32_t>(j));
                best = std::min(best, 100.0 / 3 + q * q - 10 * q * std::tanh(epsilon / 2));
            }
            const auto quantizer = MakeOptimal(epsilon);
            EXPECT_EQ(quantizer->GetLevelsInUse(bits).size(), 2U);
            EXPECT_EQ(quantizer->GetWireBits(bits), 1U);
            const double distortion = quantizer->GetCellDistortion(-10, 10, bits);
            EXPECT_LE(distortion, best * (1 + 1e-7));
            EXPECT_NEAR(distortion / best, 1, 1e-3);
        }
    }
}

TEST(OptimalDpQuantizer, NoSetOfLevelsIsBetter)
{
    for (double epsilon : {0.0, 0.3, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0})
    {
        for (unsigned bits : {1U, 2U, 3U, 4U})
        {
            const auto quantizer = MakeOptimal(epsilon);
            const double distortion = quantizer->GetCellDistortion(-10, 10, bits);
            // 1e-6: the coin is an integer.
            EXPECT_NEAR(distortion / SearchAllSets(bits, epsilon), 1, 1e-6)
                << "epsilon " << epsilon << ", " << bits << " bits";
            std::vector<double> levels;
            for (uint16_t level : quantizer->GetLevelsInUse(bits))
            {
                levels.push_back(LevelGrid(-10, 10, bits).GetValue(level));
            }
            EXPECT_NEAR(distortion / IntegrateError(levels, epsilon), 1, 1e-5);
        }
    }
}

TEST(OptimalDpQuantizer, NoNeighborOfItsLevelsIsBetterAtHighResolution)
{
    // The error is convex in the levels: no single level that moves, comes or goes helps.
    for (double epsilon : {3.0, 8.0, 12.0})
    {
        const auto quantizer = MakeOptimal(epsilon);
        const auto& levels = quantizer->GetLevelsInUse(10);
        const auto error = [&](const std::vector<uint16_t>& some)
        {
            const double boost = std::exp(epsilon);
            const auto x = [](uint16_t level) { return -1 + 2.0 * level / 1023; };
            double cost = (std::pow(x(some.front()) + 1, 3) + std::pow(1 - x(some.back()), 3)) / 3;
            double nodes = 0;
            for (std::size_t i = 0; i < some.size(); ++i)
            {
                nodes += x(some[i]) * x(some[i]) + 1.0 / 3;
                cost += i > 0 ? std::pow(x(some[i]) - x(some[i - 1]), 3) / 12 : 0;
            }
            return ((boost - 1) / 2 * cost + nodes) /
                   (static_cast<double>(some.size()) - 1 + boost);
        };
        const double best = error(levels);
        EXPECT_NEAR(quantizer->GetCellDistortion(-1, 1, 10) / best, 1, 1e-4);
        for (std::size_t i = 0; i < levels.size(); ++i)
        {
            for (int move : {-1, 1})
            {
                auto moved = levels;
                moved[i] = static_cast<uint16_t>(moved[i] + move);
                if (moved[i] <= 1023 &&
                    std::adjacent_find(moved.begin(), moved.end()) == moved.end())
                {
                    EXPECT_GE(error(moved), best * (1 - 1e-12));
                }
            }
            auto fewer = levels;
            fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
            EXPECT_GE(error(fewer), best * (1 - 1e-12));
        }
        for (uint16_t level = 0; level <= 1023; ++level)
        {
            auto more = levels;
            const auto place = std::lower_bound(more.begin(), more.end(), level);
            if (place == more.end() || *place != level)
            {
                more.insert(place, level);
                EXPECT_GE(error(more), best * (1 - 1e-12));
            }
        }
    }
}

TEST(OptimalDpQuantizer, NeverExceedsTheEpsilonAskedForAndComesClose)
{
    FederatedRandom random(3);
    for (int i = 0; i < 2000; ++i)
    {
        const double epsilon = std::pow(10.0, 9 * random.Uniform() - 6);
        const auto quantizer = MakeOptimal(epsilon);
        for (unsigned bits : {1U, 3U, 8U})
        {
            ASSERT_LE(quantizer->GetRealizedEpsilon(bits), epsilon);
            if (epsilon < 10)
            {
                ASSERT_NEAR(quantizer->GetRealizedEpsilon(bits), epsilon, 1e-4);
            }
        }
    }
    EXPECT_EQ(MakeOptimal(0)->GetRealizedEpsilon(4), 0);
    EXPECT_TRUE(std::isfinite(MakeOptimal(1e308)->GetRealizedEpsilon(16)));
    EXPECT_EQ(MakeOptimal(1e308)->GetWireBits(8), 8U);
}

TEST(OptimalDpQuantizer, AnswersAsOftenAsItsChannelSays)
{
    // Chi-square tests, together wrong with probability 1e-3.
    struct Case
    {
        double epsilon;
        unsigned bits;
    };
    const std::vector<Case> cases{{0.5, 4}, {3, 4}, {4, 2}, {5, 6}, {8, 8}};
    const std::vector<float> values{-5, -1, -0.37F, 0.01F, 0.21F, 0.8F, 1, 3};
    const std::size_t draws = 200000;
    FederatedRandom random(7);
    for (const auto& [epsilon, bits] : cases)
    {
        const auto quantizer = MakeOptimal(epsilon);
        const auto& levels = quantizer->GetLevelsInUse(bits);
        const LevelGrid grid(-1, 1, bits);
        const double other = 1 / (static_cast<double>(levels.size()) - 1 + std::exp(epsilon));
        for (float value : values)
        {
            // The nearest level in use, searched.
            std::size_t own = 0;
            for (std::size_t i = 0; i < levels.size(); ++i)
            {
                const double clamped = grid.Clamp(value);
                own = std::abs(grid.GetValue(levels[i]) - clamped) <
                              std::abs(grid.GetValue(levels[own]) - clamped)
                          ? i
                          : own;
            }
            const auto payload =
                Encode(*quantizer, std::vector<float>(draws, value), -1, 1, bits, random);
            std::vector<double> counts(levels.size());
            for (uint16_t level : Unpack(payload, draws, quantizer->GetWireBits(bits)))
            {
                counts.at(level) += 1;
            }
            double chi = 0;
            for (std::size_t i = 0; i < counts.size(); ++i)
            {
                const double probability = i == own ? std::exp(epsilon) * other : other;
                chi += std::pow(counts[i] - probability * draws, 2) / (probability * draws);
            }
            const boost::math::chi_squared law(static_cast<double>(counts.size()) - 1);
            EXPECT_LT(chi, boost::math::quantile(complement(law, 1e-3 / (5 * 8))))
                << "epsilon " << epsilon << ", " << bits << " bits, value " << value;
        }
    }
}

TEST(OptimalDpQuantizer, TheMeasuredErrorIsTheClosedFormClampingIncluded)
{
    const std::vector<float> values = MakeValues(400000, 77);
    FederatedRandom random(5);
    for (double epsilon : {0.0, 1.0, 3.0, 5.0, 9.0})
    {
        for (unsigned bits : {1U, 2U, 4U, 7U, 16U})
        {
            const auto quantizer = MakeOptimal(epsilon);
            const auto payload = Encode(*quantizer, values, -1, 1, bits, random);
            const auto decoded = Decode(*quantizer, payload, values.size(), -1, 1, bits);
            double error = 0;
            for (std::size_t i = 0; i < values.size(); ++i)
            {
                error += std::pow(double{decoded[i]} - values[i], 2);
            }
            const double expected =
                quantizer->GetDistortion(values.data(), {{0, values.size(), -1, 1}}, bits);
            // The standard error is below 0.4 %.
            EXPECT_NEAR(error / expected, 1, 0.02) << epsilon << ", " << bits << " bits";
        }
    }
}

TEST(OptimalDpQuantizer, FusionDecodesLevelsThatAreNotSpreadEvenly)
{
    const std::size_t dimension = 3000;
    const auto values = MakeValues(dimension, 4);
    const auto quantizer = MakeOptimal(4);
    const unsigned bits = 4;
    ASSERT_EQ(quantizer->GetWireBits(bits), 2U);
    ASSERT_EQ(quantizer->GetLevelPositions(bits).size(), 4U);
    FederatedRandom random(6);
    const auto payload = Encode(*quantizer, values, -1, 3, bits, random);
    const auto decoded = Decode(*quantizer, payload, dimension, -1, 3, bits);
    const LevelGrid grid(-1, 3, bits);
    const auto levels = Unpack(payload, dimension, 2);
    DeliveredUpdate update;
    update.bits = bits;
    update.wireBits = 2;
    update.intervals = {{0, dimension, -1, 3}};
    update.positions = quantizer->GetLevelPositions(bits);
    update.ranges = {{0, dimension, payload.data()}};
    std::vector<float> model(dimension, 0.5F);
    FuseUpdates(
        *CreateObject<UniformFusion>(), LOSS_RENORMALIZE, {update}, model.data(), dimension);
    double sum = 0;
    for (std::size_t i = 0; i < dimension; ++i)
    {
        const double value = grid.GetValue(quantizer->GetLevelsInUse(bits)[levels[i]]);
        ASSERT_NEAR(decoded[i], value, 1e-6);
        ASSERT_NEAR(model[i], 0.5 + value, 1e-6);
        sum += value * value;
    }
    EXPECT_NEAR(GetMeanSquare(update, update.ranges[0]), sum / dimension, 1e-6);
}

TEST(OptimalDpQuantizer, ClaimsATrueEpsilonOnAPublicIntervalOnly)
{
    const auto quantizer = MakeOptimal(1.5);
    PrivacyContext context;
    context.bits = 4;
    context.intervalIsPublic = true;
    context.low = -1;
    context.high = 1;
    const PrivacyClaim claim = quantizer->GetPrivacyClaim(context);
    EXPECT_EQ(claim.kind, PrivacyClaim::TRUE_EPSILON);
    EXPECT_EQ(claim.scope, PrivacyClaim::COORDINATE);
    EXPECT_EQ(claim.epsilon, 1.5);
    context.intervalIsPublic = false;
    EXPECT_EQ(quantizer->GetPrivacyClaim(context).kind, PrivacyClaim::NONE);
}

TEST(RandomCoordinatesQuantizer, ChoosesExactlyKWhateverTheValues)
{
    // Each pair of 9 coordinates is equally likely; a chi-square test, wrong with probability 1e-3.
    const auto quantizer = MakeRandomCoordinates(1, 2, "unbiased");
    FederatedRandom random(11);
    const std::size_t draws = 36000;
    for (const float scale : {0.0F, 1.0F})
    {
        std::vector<float> values = MakeValues(9, 2);
        std::transform(
            values.begin(), values.end(), values.begin(), [&](float v) { return v * scale; });
        std::vector<std::size_t> counts(81);
        for (std::size_t draw = 0; draw < draws; ++draw)
        {
            const auto levels = Unpack(Encode(*quantizer, values, -1, 1, 2, random), 9, 2);
            std::vector<std::size_t> chosen;
            for (std::size_t i = 0; i < 9; ++i)
            {
                if (levels[i] != 1)
                {
                    ASSERT_NE(levels[i], 3);
                    chosen.push_back(i);
                }
            }
            ASSERT_EQ(chosen.size(), 2U);
            ++counts[9 * chosen[0] + chosen[1]];
        }
        double chi = 0;
        for (std::size_t i = 0; i < 9; ++i)
        {
            for (std::size_t j = i + 1; j < 9; ++j)
            {
                chi += std::pow(static_cast<double>(counts[9 * i + j]) - 1000, 2) / 1000;
            }
        }
        EXPECT_LT(chi, boost::math::quantile(complement(boost::math::chi_squared(35), 1e-3 / 2)));
    }
    for (std::size_t dimension : {1U, 2U, 3U, 4U, 5U, 1000U})
    {
        const auto values = MakeValues(dimension, 3);
        auto payload = std::vector<uint8_t>(quantizer->GetPayloadSize(dimension, 2), 0xff);
        ASSERT_TRUE(
            quantizer->Encode(values.data(), {{0, dimension, -1, 1}}, 2, random, payload.data()));
        const auto levels = Unpack(payload, dimension, 2);
        EXPECT_EQ(static_cast<std::size_t>(std::count(levels.begin(), levels.end(), 1)),
                  dimension - std::min<std::size_t>(dimension, 2));
        const std::size_t rest = dimension % 4;
        EXPECT_EQ(rest == 0 ? 0 : payload.back() >> 2 * rest, 0) << "padding is not clean";
    }
}

TEST(RandomCoordinatesQuantizer, AChosenCoordinateAnswersWithItsShareOfEpsilon)
{
    const double epsilon = 6;
    const auto quantizer = MakeRandomCoordinates(epsilon, 3, "unbiased");
    FederatedRandom random(12);
    const std::vector<float> values{-2, -1, -0.3F, 0, 0.8F, 1, 5};
    const std::size_t draws = 100000;
    std::vector<double> lower(values.size());
    std::vector<double> upper(values.size());
    for (std::size_t draw = 0; draw < draws; ++draw)
    {
        const auto levels = Unpack(Encode(*quantizer, values, -1, 1, 2, random), values.size(), 2);
        for (std::size_t i = 0; i < values.size(); ++i)
        {
            lower[i] += levels[i] == 0;
            upper[i] += levels[i] == 2;
        }
    }
    for (std::size_t i = 0; i < values.size(); ++i)
    {
        const double position = std::max(-1.0F, std::min(1.0F, values[i]));
        const double probability = (1 + std::tanh(epsilon / 3 / 2) * position) / 2;
        const double chosen = lower[i] + upper[i];
        // 5 standard errors: exceeded with probability 6e-7.
        EXPECT_NEAR(chosen / draws, 3.0 / 7, 5 * std::sqrt(3.0 / 7 * 4 / 7 / draws));
        EXPECT_NEAR(upper[i] / chosen,
                    probability,
                    5 * std::sqrt(probability * (1 - probability) / chosen));
    }
}

TEST(RandomCoordinatesQuantizer, HasItsClosedFormErrorAndAnUnbiasedDecoder)
{
    FederatedRandom random(13);
    const std::size_t dimension = 400;
    const auto values = MakeValues(dimension, 5);
    for (const char* decoder : {"unbiased", "bayes", "gain:2.5"})
    {
        const auto quantizer = MakeRandomCoordinates(20, 40, decoder);
        const std::size_t draws = 4000;
        std::vector<double> mean(dimension);
        double error = 0;
        for (std::size_t draw = 0; draw < draws; ++draw)
        {
            const auto payload = Encode(*quantizer, values, -1, 1, 2, random);
            const auto decoded = Decode(*quantizer, payload, dimension, -1, 1, 2);
            for (std::size_t i = 0; i < dimension; ++i)
            {
                mean[i] += decoded[i] / draws;
                error += std::pow(double{decoded[i]} - values[i], 2) / draws;
            }
        }
        const double expected = quantizer->GetDistortion(values.data(), {{0, dimension, -1, 1}}, 2);
        EXPECT_NEAR(error / expected, 1, 0.01) << decoder;
        if (std::string(decoder) == "unbiased")
        {
            const double gain = dimension / 40.0 / std::tanh(0.25);
            EXPECT_NEAR(quantizer->GetDecoderGrid(LevelGrid(-1, 1, 2, dimension)).low, -gain, 1e-4);
            for (std::size_t i = 0; i < dimension; ++i)
            {
                const double clamped = std::max(-1.0F, std::min(1.0F, values[i]));
                // The standard error is gain sqrt(k/d / draws).
                EXPECT_NEAR(mean[i], clamped, 5 * gain * std::sqrt(0.1 / draws));
            }
        }
    }
    // The mean of the exact error over the interval is the cell distortion.
    std::vector<float> even(100000);
    for (std::size_t i = 0; i < even.size(); ++i)
    {
        even[i] = static_cast<float>(-1 + 2 * (static_cast<double>(i) + 0.5) / 100000);
    }
    const auto quantizer = MakeRandomCoordinates(100, 500, "bayes");
    EXPECT_NEAR(quantizer->GetDistortion(even.data(), {{0, even.size(), -1, 1}}, 2) / 100000 /
                    quantizer->GetCellDistortion(-1, 1, 2, even.size()),
                1,
                1e-6);
}

TEST(RandomCoordinatesQuantizer, EachRangeHasItsOwnInterval)
{
    // All coordinates are chosen and epsilon is huge: the ends are answered truthfully.
    const auto quantizer = MakeRandomCoordinates(1e9, 6, "gain:1");
    const std::vector<float> values{-1, 1, 10, 20, 20, 10};
    FederatedRandom random(1);
    std::vector<uint8_t> payload(quantizer->GetPayloadSize(6, 2));
    ASSERT_TRUE(quantizer->Encode(
        values.data(), {{0, 2, -1, 1}, {2, 6, 10, 20}}, 2, random, payload.data()));
    EXPECT_EQ(Unpack(payload, 6, 2), (std::vector<uint16_t>{0, 2, 0, 2, 2, 0}));
    std::vector<float> part(4);
    quantizer->Decode(payload.data(), 2, 4, LevelGrid(10, 20, 2, 6), part.data());
    EXPECT_EQ(part, (std::vector<float>{10, 20, 20, 10}));
    const std::vector<float> broken{0, 0, 0, 0, 0, std::nanf("")};
    EXPECT_FALSE(quantizer->Encode(broken.data(), {{0, 6, -1, 1}}, 2, random, payload.data()));
}

TEST(RandomCoordinatesQuantizer, ClaimsATrueEpsilonForTheWholeUpdate)
{
    const auto quantizer = MakeRandomCoordinates(8, 8, "unbiased");
    PrivacyContext context;
    context.bits = 2;
    context.intervalIsPublic = true;
    context.low = -1;
    context.high = 1;
    const PrivacyClaim claim = quantizer->GetPrivacyClaim(context);
    EXPECT_EQ(claim.kind, PrivacyClaim::TRUE_EPSILON);
    EXPECT_EQ(claim.scope, PrivacyClaim::UPDATE);
    EXPECT_LE(claim.epsilon, 8);
    EXPECT_NEAR(claim.epsilon, 8, 1e-6);
    EXPECT_NEAR(claim.rho, 8 * std::tanh(0.5), 1e-6) << "8 answers with rho of 1 each";
    context.intervalIsPublic = false;
    EXPECT_EQ(quantizer->GetPrivacyClaim(context).kind, PrivacyClaim::NONE);
}
