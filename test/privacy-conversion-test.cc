// SPDX-License-Identifier: GPL-2.0-only

// Golden values are from an independent program; exact ones are computed here with 50 digits.

#include "ns3/privacy-conversion.h"

#include "ns3/federated-random.h"

#include <gtest/gtest.h>

#include <boost/multiprecision/cpp_bin_float.hpp>
#include <cmath>
#include <limits>
#include <vector>

using namespace ns3;

namespace
{

using Exact = boost::multiprecision::cpp_bin_float_50;

constexpr double DELTA = 1e-5;
constexpr double UNBOUNDED = std::numeric_limits<double>::infinity();

/**
 * The smallest epsilon whose delta, a sum over all outcomes of n answers, is not above the given
 * one.
 */
double
ComposeExactly(unsigned count, double epsilon, double delta)
{
    using boost::multiprecision::exp;
    const Exact loss = epsilon;
    const Exact truth = 1 / (1 + exp(-loss));
    std::vector<Exact> probabilities(count + 1); // of k truthful answers
    probabilities[0] = pow(1 - truth, count);
    for (unsigned k = 0; k < count; ++k)
    {
        probabilities[k + 1] = probabilities[k] * (count - k) / (k + 1) * exp(loss);
    }
    const auto getDelta = [&](const Exact& at)
    {
        Exact sum = 0;
        for (unsigned k = 0; k <= count; ++k)
        {
            const Exact excess = loss * (2.0 * k - count) - at;
            if (excess > 0)
            {
                sum += probabilities[k] * (1 - exp(-excess));
            }
        }
        return sum;
    };
    if (getDelta(0) <= delta)
    {
        return 0;
    }
    Exact low = 0;
    Exact high = loss * count;
    for (int i = 0; i < 60; ++i)
    {
        const Exact middle = (low + high) / 2;
        (getDelta(middle) > delta ? low : high) = middle;
    }
    return static_cast<double>(high);
}

} // namespace

TEST(PrivacyConversions, HaveTheGoldenValuesOfRho)
{
    const std::vector<std::vector<double>> rows{{0.005, 0.375261, 0.340669},
                                                {0.05, 1.308118, 1.199370},
                                                {0.5, 4.728387, 4.377178},
                                                {2, 10.724824, 9.997256},
                                                {4, 16.511405, 15.456156},
                                                {40, 81.059047, 77.330091}};
    for (const auto& row : rows)
    {
        EXPECT_NEAR(PrivacyConversion::ZcdpToEpsilon(row[0], DELTA), row[1], 1e-6);
        EXPECT_NEAR(PrivacyConversion::GaussianToEpsilon(row[0], DELTA), row[2], 1e-6);
        const double plain = row[0] + 2 * std::sqrt(row[0] * -std::log(DELTA));
        EXPECT_LT(PrivacyConversion::ZcdpToEpsilon(row[0], DELTA), plain);
    }
}

TEST(PrivacyConversions, HaveTheGoldenValuesOfEqualLosses)
{
    struct Row
    {
        double count, epsilon, exact, renyi, zcdp;
    };
    for (const Row& row : {Row{1, 1, 0.999986, 0.999986, 4.519440},
                           Row{100, 0.1, 4.306791, 4.615230, 4.726126},
                           Row{50000, 0.01, 11.479312, 12.298806, 12.299592},
                           Row{100, 1, 79.841322, 82.455177, 90.425252}})
    {
        const double rho = row.count * PrivacyConversion::EpsilonToRho(row.epsilon);
        const auto curve = [&row](double alpha)
        { return row.count * PrivacyConversion::ResponseToRenyi(row.epsilon, alpha); };
        EXPECT_NEAR(
            PrivacyConversion::ResponsesToEpsilon(row.count, row.epsilon, DELTA), row.exact, 1e-6);
        // The reference tried orders of a grid, which are not quite the best.
        EXPECT_NEAR(PrivacyConversion::RenyiToEpsilon(curve, rho, DELTA), row.renyi, 2e-6);
        EXPECT_LT(PrivacyConversion::RenyiToEpsilon(curve, rho, DELTA), row.renyi + 1e-6);
        EXPECT_NEAR(PrivacyConversion::ZcdpToEpsilon(rho, DELTA), row.zcdp, 1e-6);
    }
}

TEST(PrivacyConversions, HaveTheGoldenRhoOfAnEpsilon)
{
    const std::vector<std::pair<double, double>> rows{{0.1, 0.004996},
                                                      {0.5, 0.122459},
                                                      {1, 0.462117},
                                                      {2, 1.523188},
                                                      {4, 3.856110},
                                                      {8, 7.994634}};
    for (const auto& [epsilon, rho] : rows)
    {
        EXPECT_NEAR(PrivacyConversion::EpsilonToRho(epsilon), rho, 1e-6);
        // Renyi divergences over their order never exceed it, and reach it at order 1.
        for (double above = 1e-6; above < 1e6; above *= 1.5)
        {
            EXPECT_LE(PrivacyConversion::ResponseToRenyi(epsilon, 1 + above) / (1 + above),
                      PrivacyConversion::EpsilonToRho(epsilon) * (1 + 1e-12));
            EXPECT_LE(PrivacyConversion::ResponseToRenyi(epsilon, 1 + above),
                      epsilon * (1 + 1e-12));
        }
        EXPECT_NEAR(PrivacyConversion::ResponseToRenyi(epsilon, 1 + 1e-7) / rho, 1, 2e-4);
    }
}

TEST(PrivacyConversions, AreNeverBelowTheExactCompositionInAThousandRandomCases)
{
    FederatedRandom random(1);
    for (int i = 0; i < 1000; ++i)
    {
        const unsigned count = 1 + random.Below(i % 10 == 0 ? 1000 : 60);
        const double epsilon = std::exp(-6 + 8 * random.Uniform());
        const double delta = std::exp(-30 * random.Uniform() - 0.1);
        const double exact = ComposeExactly(count, epsilon, delta);
        const double rho = count * PrivacyConversion::EpsilonToRho(epsilon);
        const auto curve = [count, epsilon](double alpha)
        { return count * PrivacyConversion::ResponseToRenyi(epsilon, alpha); };
        const double composed = PrivacyConversion::ResponsesToEpsilon(count, epsilon, delta);
        SCOPED_TRACE(std::to_string(count) + " losses of " + std::to_string(epsilon) + ", delta " +
                     std::to_string(delta));
        EXPECT_GE(composed, exact * (1 - 1e-14));
        // Where a tail is no double any more the next loss above is taken.
        EXPECT_LE(composed, exact + (exact < 600 ? 1e-7 + 1e-7 * exact : 2 * epsilon));
        const double renyi = rho > 0 ? PrivacyConversion::RenyiToEpsilon(curve, rho, delta) : 0;
        EXPECT_GE(renyi, exact * (1 - 1e-12) - 1e-12);
        EXPECT_GE(PrivacyConversion::ZcdpToEpsilon(rho, delta), renyi * (1 - 1e-6) - 1e-9);
    }
}

TEST(PrivacyConversions, TurnEpsilonIntoRhoAndBack)
{
    for (const double delta : {1e-300, 1e-5, 0.5})
    {
        for (double epsilon = 1e-9; epsilon < 1e9; epsilon *= 7)
        {
            const double rho = PrivacyConversion::EpsilonToZcdp(epsilon, delta);
            const double back = PrivacyConversion::ZcdpToEpsilon(rho, delta);
            EXPECT_LE(back, epsilon);
            EXPECT_NEAR(back / epsilon, 1, 1e-4) << "delta " << delta;
        }
    }
    EXPECT_EQ(PrivacyConversion::ZcdpToEpsilon(0, DELTA), 0);
    EXPECT_EQ(PrivacyConversion::EpsilonToZcdp(0, DELTA), 0);
    EXPECT_EQ(PrivacyConversion::ZcdpToEpsilon(UNBOUNDED, DELTA), UNBOUNDED);
    EXPECT_EQ(PrivacyConversion::EpsilonToZcdp(UNBOUNDED, DELTA), UNBOUNDED);
}

TEST(PrivacyConversions, HoldWhereDoublesEnd)
{
    EXPECT_EQ(PrivacyConversion::ResponsesToEpsilon(0, 1, DELTA), 0);
    EXPECT_EQ(PrivacyConversion::ResponsesToEpsilon(5, 0, DELTA), 0);
    EXPECT_EQ(PrivacyConversion::ResponsesToEpsilon(5, UNBOUNDED, DELTA), UNBOUNDED);
    EXPECT_NEAR(PrivacyConversion::ResponseToRenyi(1000, 1e6), 1000, 1e-2);
    EXPECT_NEAR(PrivacyConversion::ResponseToRenyi(1e-9, 3), 3 * 1e-18 / 2, 1e-24);
    for (const double epsilon : {1e-6, 1e-3, 0.5, 5.0, 500.0})
    {
        const double count = 3180200; // 20 updates of the paper's model
        const double composed = PrivacyConversion::ResponsesToEpsilon(count, epsilon, DELTA);
        EXPECT_LE(composed, count * epsilon);
        EXPECT_GT(composed, 0);
        EXPECT_LE(composed,
                  PrivacyConversion::ZcdpToEpsilon(count * PrivacyConversion::EpsilonToRho(epsilon),
                                                   DELTA));
    }
}
