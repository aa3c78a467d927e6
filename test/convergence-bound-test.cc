// SPDX-License-Identifier: GPL-2.0-only

#include "ns3/convergence-bound.h"
#include "ns3/federated-random.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

using namespace ns3;

namespace
{

/**
 * @return K = 10, N = 4, L = 5, mu = 1, gamma = 2, zeta = .5, Lambda = .1, d = 20, C = .5,
 *         b = (2, 4), g = (5, 5), c = (2, 2), sigma = (.01, .02), vartheta = 0.
 */
ConvergenceBound::Parameters
Example()
{
    return {{{5, 2, 2, 1e-4}, {5, 2, 4, 4e-4}}, 5, 1, 2, 0.5, 0.1, 20, 0.5, 0};
}

} // namespace

TEST(ConvergenceBound, EqualsIndependentlyComputedValues)
{
    ASSERT_EQ(ConvergenceBound::Check(Example()), "");
    const ConvergenceBound bound(Example());
    EXPECT_EQ(bound.GetFirstRound(), 125U);
    EXPECT_NEAR(bound.GetLearningRate(125), 0.0128, 1e-15);
    EXPECT_NEAR(bound.GetLemmaRateLimit(), 0.1, 1e-15);
    EXPECT_NEAR(bound.GetDelta(), 10.514444444444443, 1e-12);
    EXPECT_NEAR(bound.GetK1(), 1797.300370213789, 1e-9);
    EXPECT_NEAR(bound.GetK2(), 62350.86126846218, 1e-7);
    EXPECT_NEAR(bound.GetM1(130), 0.965618329998549, 1e-14);
    EXPECT_NEAR(bound.GetM2(130), 0.10656744202892579, 1e-14);
    EXPECT_NEAR(bound.BoundQuantization(0.01, 2), 9.277471627262727, 1e-12);
    EXPECT_NEAR(bound.BoundNoise(), 0.02, 1e-15);
    EXPECT_NEAR(bound.BoundDrift(0.01, 2), 3.2231570826569875, 1e-12);
    EXPECT_NEAR(bound.Recursion(1, 250), 380.513797906554, 1e-9);
    EXPECT_NEAR(bound.Theorem(1, 250), 2594.246525269309, 1e-9);
}

TEST(ConvergenceBound, TheRecursionIsTheSumOfTheLemmas)
{
    auto parameters = Example();
    parameters.bias = 0.3;
    const ConvergenceBound bound(parameters);
    for (double t : {125.0, 200.0, 1e4})
    {
        const double eta = bound.GetLearningRate(t);
        const double lemmas = bound.BoundQuantization(eta, 3) + bound.BoundNoise() +
                              bound.BoundDrift(eta, 3) + 2 * parameters.bias;
        EXPECT_NEAR(bound.GetM1(t) * 3 + bound.GetM2(t) + bound.GetDelta(), lemmas, 1e-12 * lemmas);
    }
}

TEST(ConvergenceBound, TheErrorAtTheFirstRoundIsTheGivenOne)
{
    const ConvergenceBound bound(Example());
    EXPECT_EQ(bound.Recursion(7, 125), 7);
    EXPECT_GE(bound.Theorem(7, 125), 7);
}

TEST(ConvergenceBound, TheRecursionStaysBelowTheTheorem)
{
    FederatedRandom random(11);
    const auto spread = [&random](double low, double high)
    { return low * std::pow(high / low, random.Uniform()); };
    for (int i = 0; i < 10000; ++i)
    {
        ConvergenceBound::Parameters p;
        p.groups.resize(1 + random.Below(4));
        const bool few = random.Below(4) == 0;
        for (auto& group : p.groups)
        {
            group.devices = few ? 1 : 1 + random.Below(50);
            group.selected = 1 + random.Below(group.devices);
            group.bits = 1 + random.Below(16);
            group.sigma2 = random.Below(4) == 0 ? 0 : spread(1e-8, 10);
        }
        p.localSteps = 1 + random.Below(20);
        p.mu = spread(1e-2, 100);
        p.gamma = p.mu * (random.Below(4) == 0 ? 1 : spread(1, 10));
        p.zeta = random.Below(8) == 0 ? 0 : spread(1e-4, 100);
        p.lambda = random.Below(4) == 0 ? 0 : spread(1e-4, 1);
        p.dimension = 1 + random.Below(1000);
        p.clip = spread(1e-3, 10);
        p.bias = random.Below(2) == 0 ? 0 : spread(1e-3, 10);
        ASSERT_EQ(ConvergenceBound::Check(p), "");
        const ConvergenceBound bound(p);
        const uint64_t first = bound.GetFirstRound();
        ASSERT_GT(first, 16U);
        ASSERT_LE(bound.GetLearningRate(static_cast<double>(first)), bound.GetLemmaRateLimit());
        const double start = random.Below(4) == 0 ? 0 : spread(1e-3, 1e3);
        double error = start;
        for (uint64_t t = first; t < first + 200; ++t)
        {
            const auto r = static_cast<double>(t);
            // The induction rests on this factor.
            ASSERT_LE(bound.GetM1(r), 1 - 4 / r + 1e-12);
            ASSERT_LE(error, bound.Theorem(start, t) * (1 + 1e-12)) << "set " << i << " t " << t;
            error = bound.GetM1(r) * error + bound.GetM2(r) + bound.GetDelta();
        }
        ASSERT_NEAR(error, bound.Recursion(start, first + 200), 1e-12 * error);
    }
}

TEST(ConvergenceBound, SaysWhyParametersAreInvalid)
{
    const double nan = std::nan("");
    const auto why = [](auto change)
    {
        auto parameters = Example();
        change(parameters);
        return ConvergenceBound::Check(parameters);
    };
    EXPECT_EQ(why([](auto& p) { p.groups.clear(); }), "There are no groups.");
    EXPECT_EQ(why([](auto& p) { p.groups[1].selected = 6; }),
              "c_m (selected devices of a group) is 6, but must be from 1 to the devices of the "
              "group.");
    EXPECT_EQ(why([](auto& p) { p.groups[0].devices = 0; }),
              "g_m (devices of a group) is 0, but must be at least 1.");
    EXPECT_EQ(why([](auto& p) { p.groups[0].bits = 0; }),
              "b_m (bits of a group) is 0, but must be at least 1.");
    EXPECT_EQ(why([](auto& p) { p.groups[0].sigma2 = -1; }),
              "sigma^2 (noise of a group) is -1, but must be finite and not negative.");
    EXPECT_EQ(why([](auto& p) { p.localSteps = 0; }),
              "L (local steps) is 0, but must be at least 1.");
    EXPECT_EQ(why([](auto& p) { p.mu = 0; }),
              "mu (strong convexity) is 0, but must be finite and positive.");
    EXPECT_EQ(why([](auto& p) { p.gamma = 0.5; }),
              "gamma (smoothness) is 0.5, but must be finite and at least mu.");
    EXPECT_EQ(why([nan](auto& p) { p.zeta = nan; }),
              "zeta (gradient variance) is nan, but must be finite and not negative.");
    EXPECT_EQ(why([](auto& p) { p.lambda = std::numeric_limits<double>::infinity(); }),
              "Lambda (clipping error) is inf, but must be finite and not negative.");
    EXPECT_EQ(why([](auto& p) { p.dimension = 0; }), "d (dimension) is 0, but must be at least 1.");
    EXPECT_EQ(why([](auto& p) { p.clip = 0; }),
              "C (clipping) is 0, but must be finite and positive.");
    EXPECT_EQ(why([](auto& p) { p.gamma = 1e15; }),
              "t_0 (first round of the theorem) is 2.56e+31, but must be below 2^53.");
    EXPECT_EQ(why([](auto& p) { p.bias = -1; }),
              "vartheta (bias) is -1, but must be finite and not negative.");
}
