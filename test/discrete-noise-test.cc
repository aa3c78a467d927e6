// SPDX-License-Identifier: GPL-2.0-only

#include "ns3/discrete-noise.h"

#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/normal.hpp>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

using namespace ns3;
using namespace ns3::federated;

namespace
{

/** P(noise <= k). */
using Law = std::function<double(int64_t)>;

/**
 * Compare draws with their law, in classes that the given integers end.
 * @param ends Largest integers of all classes but the last, ascending.
 * @return whether a chi-square test accepts them; wrong with probability 1e-6.
 */
template <typename Noise>
testing::AssertionResult
Follows(const Noise& noise, const Law& law, const std::vector<int64_t>& ends)
{
    const int draws = 200000;
    FederatedRandom random(20);
    std::vector<double> counts(ends.size() + 1);
    for (int i = 0; i < draws; ++i)
    {
        const auto place = std::lower_bound(ends.begin(), ends.end(), noise.Draw(random));
        ++counts[static_cast<std::size_t>(place - ends.begin())];
    }
    double chi = 0;
    double below = 0;
    for (std::size_t i = 0; i < counts.size(); ++i)
    {
        const double until = i < ends.size() ? law(ends[i]) : 1;
        const double expected = draws * (until - below);
        if (expected < 10)
        {
            return testing::AssertionFailure() << "class " << i << " is too small: " << expected;
        }
        chi += std::pow(counts[i] - expected, 2) / expected;
        below = until;
    }
    const boost::math::chi_squared distribution(static_cast<double>(ends.size()));
    const double limit = boost::math::quantile(complement(distribution, 1e-6));
    return (chi < limit ? testing::AssertionSuccess() : testing::AssertionFailure())
           << "chi-square is " << chi << ", the limit " << limit;
}

/** @return the integers from -most to most. */
std::vector<int64_t>
EndsUpTo(int64_t most)
{
    std::vector<int64_t> ends;
    for (int64_t k = -most; k <= most; ++k)
    {
        ends.push_back(k);
    }
    return ends;
}

/** @return integers that divide noise of this scale into about 25 classes. */
std::vector<int64_t>
EndsAt(double scale)
{
    std::vector<int64_t> ends;
    for (int i = -12; i <= 12; ++i)
    {
        ends.push_back(std::llround(i * scale / 4));
    }
    return ends;
}

/** @return the law of the discrete Laplace distribution. */
Law
GetLaplaceLaw(double t)
{
    return [t](int64_t k)
    {
        // P(K > k) = r^{k+1}/(1+r) for k >= 0, r = e^{-1/t}.
        const double tail =
            std::exp(-static_cast<double>(k < 0 ? -k : k + 1) / t) / (1 + std::exp(-1 / t));
        return k < 0 ? tail : 1 - tail;
    };
}

/** @return the law of the discrete Gaussian distribution. */
Law
GetGaussianLaw(double s)
{
    return [s](int64_t k)
    {
        if (s > 1000) // Euler and Maclaurin: the error is of order s^-2
        {
            return boost::math::cdf(boost::math::normal(0, s), static_cast<double>(k) + 0.5);
        }
        double mass = 0;
        double until = 0;
        const auto most = static_cast<int64_t>(40 * s + 10);
        for (int64_t j = -most; j <= most; ++j)
        {
            const double weight = std::exp(-static_cast<double>(j * j) / (2 * s * s));
            mass += weight;
            until += j <= k ? weight : 0;
        }
        return until / mass;
    };
}

/** @return how many random words a draw takes, on average over 20,000. */
template <typename Noise>
double
CountWords(const Noise& noise)
{
    const int draws = 20000;
    FederatedRandom random(5);
    for (int i = 0; i < draws; ++i)
    {
        noise.Draw(random);
    }
    // The next words of the stream, searched in an equal one.
    const std::vector<uint32_t> next{random(), random(), random()};
    FederatedRandom same(5);
    std::vector<uint32_t> words(std::size_t{200} * draws);
    same.Fill(words.data(), words.size());
    const auto place = std::search(words.begin(), words.end(), next.begin(), next.end());
    EXPECT_NE(place, words.end());
    return static_cast<double>(place - words.begin()) / draws;
}

} // namespace

TEST(DiscreteLaplace, FollowsItsLaw)
{
    EXPECT_TRUE(Follows(DiscreteLaplace(1), GetLaplaceLaw(1), EndsUpTo(7)));
    EXPECT_TRUE(Follows(DiscreteLaplace(2), GetLaplaceLaw(2), EndsUpTo(10)));
    EXPECT_TRUE(Follows(DiscreteLaplace(3), GetLaplaceLaw(3), EndsUpTo(15)));
    for (const uint64_t t : {uint64_t{1000},
                             uint64_t{65537},
                             (uint64_t{1} << 32) - 1,
                             uint64_t{1} << 32,
                             uint64_t{1} << 33,
                             (uint64_t{1} << 33) + 1,
                             uint64_t{3} << 55})
    {
        const auto scale = static_cast<double>(t);
        EXPECT_TRUE(Follows(DiscreteLaplace(t), GetLaplaceLaw(scale), EndsAt(scale))) << t;
    }
}

TEST(DiscreteLaplace, HasNoPatternInItsLowestBits)
{
    // The residues modulo 8 of noise of scale 1000 are equally likely to 1e-6.
    FederatedRandom random(6);
    const DiscreteLaplace noise(1000);
    std::vector<double> counts(8);
    for (int i = 0; i < 400000; ++i)
    {
        ++counts[noise.Draw(random) & 7];
    }
    double chi = 0;
    for (const double count : counts)
    {
        chi += std::pow(count - 50000, 2) / 50000;
    }
    EXPECT_LT(chi, boost::math::quantile(complement(boost::math::chi_squared(7), 1e-6)));
}

TEST(DiscreteLaplace, StopsAtTheLimit)
{
    // P(|k| >= 2^62) = 1/e, and the others stay below it.
    FederatedRandom random(7);
    const DiscreteLaplace noise(DiscreteLaplace::MAX_SCALE);
    int beyond = 0;
    const int draws = 10000;
    for (int i = 0; i < draws; ++i)
    {
        const int64_t k = noise.Draw(random);
        ASSERT_LE(std::abs(k), NOISE_LIMIT);
        beyond += std::abs(k) == NOISE_LIMIT;
    }
    EXPECT_NEAR(beyond / static_cast<double>(draws), std::exp(-1), 5 * std::sqrt(0.24 / draws));
}

TEST(DiscreteLaplace, HasTheVarianceOfItsLaw)
{
    // Sums of k^2 e^{-|k|/t} over the integers.
    for (const int t : {1, 3, 50})
    {
        double mass = 1;
        double squares = 0;
        for (int k = 1; k < 100 * t; ++k)
        {
            mass += 2 * std::exp(-static_cast<double>(k) / t);
            squares += 2 * std::exp(-static_cast<double>(k) / t) * k * k;
        }
        EXPECT_NEAR(DiscreteLaplace(t).GetVariance() / (squares / mass), 1, 1e-12) << t;
    }
    EXPECT_NEAR(DiscreteLaplace(uint64_t{1} << 40).GetVariance() / 0x1p81, 1, 1e-12);
}

TEST(DiscreteLaplace, TakesFewWords)
{
    const double large = 1 + std::exp(2) / (std::exp(1) - 1); // 5.3003
    EXPECT_NEAR(CountWords(DiscreteLaplace(100000)), large, 0.1);
    EXPECT_NEAR(CountWords(DiscreteLaplace(uint64_t{1} << 31)), large, 0.1);
    EXPECT_NEAR(CountWords(DiscreteLaplace(uint64_t{1} << 40)), 2 * large - 1, 0.2);
    for (const uint64_t t : {1, 2, 3, 10, 1000})
    {
        EXPECT_LT(CountWords(DiscreteLaplace(t)), 10) << t;
    }
    EXPECT_LT(CountWords(DiscreteLaplace((uint64_t{1} << 32) + 1)), 4 * large);
}

TEST(DiscreteLaplace, IsRepeatable)
{
    const DiscreteLaplace noise(3);
    FederatedRandom random(1);
    FederatedRandom same(1);
    FederatedRandom other(2);
    int equal = 0;
    for (int i = 0; i < 1000; ++i)
    {
        const int64_t k = noise.Draw(random);
        ASSERT_EQ(k, noise.Draw(same));
        equal += k == noise.Draw(other);
    }
    EXPECT_LT(equal, 500);
}

TEST(DiscreteLaplaceDeathTest, RefusesScalesThatItDoesNotHave)
{
    EXPECT_DEATH(DiscreteLaplace(0), "the scale is 0, not 1 to 2\\^62");
    EXPECT_DEATH(DiscreteLaplace((uint64_t{1} << 62) + 1), "not 1 to 2\\^62");
}

TEST(DiscreteGaussian, FollowsItsLaw)
{
    EXPECT_TRUE(Follows(DiscreteGaussian(-1), GetGaussianLaw(0.5), {-2, -1, 0, 1}));
    EXPECT_TRUE(Follows(DiscreteGaussian(0), GetGaussianLaw(1), EndsUpTo(3)));
    EXPECT_TRUE(Follows(DiscreteGaussian(1), GetGaussianLaw(2), EndsUpTo(7)));
    EXPECT_TRUE(Follows(DiscreteGaussian(3), GetGaussianLaw(8), EndsUpTo(25)));
    for (const int exponent : {15, 16, 20, 24})
    {
        const double s = std::ldexp(1.0, exponent);
        EXPECT_TRUE(Follows(DiscreteGaussian(exponent), GetGaussianLaw(s), EndsAt(s))) << exponent;
    }
    FederatedRandom random(3);
    const DiscreteGaussian narrow(-8); // P(1) = e^-32768
    for (int i = 0; i < 1000; ++i)
    {
        ASSERT_EQ(narrow.Draw(random), 0);
    }
}

TEST(DiscreteGaussian, HasTheProbabilityOfZeroAndTheVarianceOfAnotherProgram)
{
    const struct
    {
        int exponent;
        double zero;
        double variance;
    } golden[] = {{-1, 0.786571, 0.215013}, {0, 0.398942, 1}};
    for (const auto& [exponent, zero, variance] : golden)
    {
        const DiscreteGaussian noise(exponent);
        EXPECT_NEAR(noise.GetVariance(), variance, 1e-6);
        FederatedRandom random(11);
        const int draws = 400000;
        double zeros = 0;
        for (int i = 0; i < draws; ++i)
        {
            zeros += noise.Draw(random) == 0;
        }
        // 5 standard errors: exceeded with probability 6e-7.
        EXPECT_NEAR(zeros / draws, zero, 5 * std::sqrt(zero * (1 - zero) / draws));
    }
    for (const int exponent : {1, 2, 5})
    {
        const double s = std::ldexp(1.0, exponent);
        double mass = 1;
        double squares = 0;
        for (int k = 1; k < 40 * s; ++k)
        {
            mass += 2 * std::exp(-k * k / (2 * s * s));
            squares += 2 * std::exp(-k * k / (2 * s * s)) * k * k;
        }
        EXPECT_NEAR(DiscreteGaussian(exponent).GetVariance() / (squares / mass), 1, 1e-12);
    }
    EXPECT_EQ(DiscreteGaussian(24).GetVariance(), 0x1p48);
    EXPECT_EQ(DiscreteGaussian(-8).GetVariance(), 0);
}

TEST(DiscreteGaussian, TakesFewWords)
{
    for (int exponent = DiscreteGaussian::MIN_EXPONENT; exponent <= DiscreteGaussian::MAX_EXPONENT;
         ++exponent)
    {
        EXPECT_LT(CountWords(DiscreteGaussian(exponent)), 25) << exponent;
    }
}

TEST(DiscreteGaussian, IsRepeatable)
{
    const DiscreteGaussian noise(24);
    FederatedRandom random(1);
    FederatedRandom same(1);
    FederatedRandom other(2);
    for (int i = 0; i < 1000; ++i)
    {
        const int64_t k = noise.Draw(random);
        ASSERT_EQ(k, noise.Draw(same));
        ASSERT_NE(k, noise.Draw(other));
    }
}

TEST(DiscreteGaussianDeathTest, RefusesExponentsThatItDoesNotHave)
{
    EXPECT_DEATH(DiscreteGaussian(-9), "the exponent is -9, not -8 to 24");
    EXPECT_DEATH(DiscreteGaussian(25), "the exponent is 25, not -8 to 24");
}
