// SPDX-License-Identifier: GPL-2.0-only

#include "ns3/privacy-ledger.h"

#include "federation.h"

#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/dp-stochastic-quantizer.h"
#include "ns3/enum.h"
#include "ns3/fixed-interval.h"
#include "ns3/gaussian-quantizer.h"
#include "ns3/max-abs-interval.h"
#include "ns3/privacy-conversion.h"
#include "ns3/randomized-response-quantizer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

using namespace ns3;

namespace
{

constexpr double UNBOUNDED = std::numeric_limits<double>::infinity();

PrivacyClaim
MakeClaim(PrivacyClaim::Kind kind, PrivacyClaim::Scope scope, double value)
{
    PrivacyClaim claim;
    claim.kind = kind;
    claim.scope = scope;
    (kind == PrivacyClaim::ZCDP ? claim.rho : claim.epsilon) = value;
    return claim;
}

PrivacyClaim
MakeTrue(double epsilon)
{
    return MakeClaim(PrivacyClaim::TRUE_EPSILON, PrivacyClaim::COORDINATE, epsilon);
}

} // namespace

TEST(PrivacyLedgers, AreEmptyAtFirst)
{
    const PrivacyLedger ledger;
    EXPECT_EQ(ledger.GetAnswers(), 0U);
    for (const auto which : {EPSILON_BASIC, EPSILON_ZCDP, EPSILON_SAME_CELL, EPSILON_SAMPLED})
    {
        EXPECT_EQ(ledger.GetEpsilon(which), 0) << GetPrivacyEpsilonName(which);
    }
}

TEST(PrivacyLedgers, AddUpTrueEpsilonsOfCoordinates)
{
    PrivacyLedger ledger;
    for (int round = 0; round < 5; ++round)
    {
        ledger.Enter(MakeTrue(0.01), 500, 0.25);
    }
    EXPECT_EQ(ledger.GetAnswers(), 5U);
    EXPECT_NEAR(ledger.GetEpsilon(EPSILON_BASIC), 25, 1e-12);
    EXPECT_NEAR(ledger.GetRho(), 25 * std::tanh(0.005), 1e-15);
    // The exact composition of 2500 answers with 0.01 each, from 60-digit arithmetic
    EXPECT_NEAR(ledger.GetEpsilon(EPSILON_ZCDP), 1.9921146585223958, 1e-8);
    EXPECT_NEAR(ledger.GetEpsilon(EPSILON_SAME_CELL), 25, 1e-12)
        << "what holds for all values holds for those of one cell";
    // 5 ln(1 + (e^5 - 1)/4)
    EXPECT_NEAR(ledger.GetEpsilon(EPSILON_SAMPLED), 18.168589461198682, 1e-12);
}

TEST(PrivacyLedgers, CountAnUpdateAsOneCoordinate)
{
    PrivacyLedger ledger;
    ledger.Enter(MakeClaim(PrivacyClaim::TRUE_EPSILON, PrivacyClaim::UPDATE, 3), 500, 1);
    EXPECT_EQ(ledger.GetEpsilon(EPSILON_BASIC), 3);
    EXPECT_EQ(ledger.GetEpsilon(EPSILON_SAMPLED), 3) << "all samples are used";
    EXPECT_DOUBLE_EQ(ledger.GetRho(), 3 * std::tanh(1.5));
    EXPECT_LT(ledger.GetEpsilon(EPSILON_ZCDP), 3) << "delta helps a little";
    EXPECT_GT(ledger.GetEpsilon(EPSILON_ZCDP), 2.999);
    // k parts with epsilon/k each have a smaller rho, if the claim says so.
    PrivacyClaim claim = MakeClaim(PrivacyClaim::TRUE_EPSILON, PrivacyClaim::UPDATE, 3);
    claim.rho = 3 * (1.0 / 2);
    ledger.Enter(claim, 500, 1);
    EXPECT_EQ(ledger.GetEpsilon(EPSILON_BASIC), 6);
    EXPECT_DOUBLE_EQ(ledger.GetRho(), 3 * std::tanh(1.5) + 1.5);
}

TEST(PrivacyLedgers, ChargeTheRhoOfAClippedUpdateIfItIsLess)
{
    PrivacyClaim claim = MakeTrue(0.2);
    claim.updateRho = 0.5;
    claim.tightRho = 0.4; // is never charged
    PrivacyLedger ledger;
    ledger.Enter(claim, 500, 1);
    EXPECT_EQ(ledger.GetRho(), 0.5) << "its coordinates would be charged 9.97";
    EXPECT_DOUBLE_EQ(ledger.GetEpsilon(EPSILON_BASIC), 100);
    EXPECT_NEAR(ledger.GetEpsilon(EPSILON_ZCDP), 4.728387, 1e-6) << "as rho of zCDP";
    ledger.Enter(claim, 2, 1);
    EXPECT_DOUBLE_EQ(ledger.GetRho(), 0.5 + 0.4 * std::tanh(0.1));
}

TEST(PrivacyLedgers, TellTheLeastOfAllValidAccounts)
{
    // 176 holds by basic composition where rho = epsilon^2/2 gives 881; the pure one stays pure.
    PrivacyLedger few;
    for (int i = 0; i < 22; ++i)
    {
        few.Enter(MakeClaim(PrivacyClaim::TRUE_EPSILON, PrivacyClaim::UPDATE, 8), 4, 1);
    }
    EXPECT_DOUBLE_EQ(few.GetEpsilon(EPSILON_BASIC), 176);
    EXPECT_LE(few.GetEpsilon(EPSILON_ZCDP), 176);
    EXPECT_GT(PrivacyConversion::ZcdpToEpsilon(22 * 32.0, 1e-5), 880);
    // Different losses are no binomial; their Renyi divergences are added up order by order.
    PrivacyLedger mixed;
    mixed.Enter(MakeTrue(0.1), 100, 1);
    mixed.Enter(MakeTrue(0.05), 100, 1);
    const double zcdp = PrivacyConversion::ZcdpToEpsilon(mixed.GetRho(), 1e-5);
    EXPECT_LT(mixed.GetEpsilon(EPSILON_ZCDP), zcdp);
    EXPECT_GT(mixed.GetEpsilon(EPSILON_ZCDP),
              PrivacyConversion::ResponsesToEpsilon(100, 0.1, 1e-5));
    EXPECT_LT(mixed.GetEpsilon(EPSILON_ZCDP),
              PrivacyConversion::RenyiToEpsilon(
                  [](double alpha) { return 200 * PrivacyConversion::ResponseToRenyi(0.1, alpha); },
                  1,
                  1e-5));
    // A smaller delta takes effect at once.
    mixed.SetDelta(1e-9);
    EXPECT_GT(mixed.GetEpsilon(EPSILON_ZCDP), zcdp);
}

TEST(PrivacyLedgers, StayValidWithMoreCostsThanTheyKeepApart)
{
    PrivacyLedger ledger;
    double rho = 0;
    for (int i = 1; i <= 100; ++i)
    {
        ledger.Enter(MakeTrue(0.001 * i), 10, 1);
        rho += 10 * PrivacyConversion::EpsilonToRho(0.001 * i);
    }
    EXPECT_NEAR(ledger.GetRho(), rho, 1e-12);
    EXPECT_LE(ledger.GetEpsilon(EPSILON_ZCDP), PrivacyConversion::ZcdpToEpsilon(rho, 1e-5));
    EXPECT_GT(ledger.GetEpsilon(EPSILON_ZCDP), PrivacyConversion::ZcdpToEpsilon(rho, 1e-5) * 0.98);
}

TEST(PrivacyLedgers, AddUpDifferentClaimsOfADevice)
{
    PrivacyLedger ledger;
    ledger.Enter(MakeTrue(0.5), 4, 1);
    ledger.Enter(MakeClaim(PrivacyClaim::TRUE_EPSILON, PrivacyClaim::UPDATE, 3), 4, 1);
    EXPECT_EQ(ledger.GetEpsilon(EPSILON_BASIC), 5);
    const double pure = 2 * std::tanh(0.25) + 3 * std::tanh(1.5);
    EXPECT_DOUBLE_EQ(ledger.GetRho(), pure);
    // Gaussian noise has a rho, but no epsilon without delta.
    ledger.Enter(MakeClaim(PrivacyClaim::ZCDP, PrivacyClaim::UPDATE, 2), 4, 1);
    EXPECT_DOUBLE_EQ(ledger.GetRho(), pure + 2);
    EXPECT_TRUE(std::isfinite(ledger.GetEpsilon(EPSILON_ZCDP)));
    EXPECT_EQ(ledger.GetEpsilon(EPSILON_BASIC), UNBOUNDED);
    EXPECT_EQ(ledger.GetEpsilon(EPSILON_SAMPLED), UNBOUNDED);
    EXPECT_EQ(ledger.GetEpsilon(EPSILON_SAME_CELL), UNBOUNDED);
    EXPECT_EQ(ledger.GetAnswers(), 3U);
}

TEST(PrivacyLedgers, NeverTakeASameCellEpsilonForATrueOne)
{
    PrivacyLedger ledger;
    ledger.Enter(MakeClaim(PrivacyClaim::SAME_CELL, PrivacyClaim::COORDINATE, 1e-6), 1000, 0.1);
    EXPECT_DOUBLE_EQ(ledger.GetEpsilon(EPSILON_SAME_CELL), 1e-3);
    EXPECT_EQ(ledger.GetEpsilon(EPSILON_BASIC), UNBOUNDED);
    EXPECT_EQ(ledger.GetEpsilon(EPSILON_ZCDP), UNBOUNDED);
    EXPECT_EQ(ledger.GetEpsilon(EPSILON_SAMPLED), UNBOUNDED);
    // No later update makes good for one without a claim.
    ledger.Enter(PrivacyClaim(), 1000, 0.1);
    ledger.Enter(MakeTrue(1e-6), 1000, 0.1);
    for (const auto which : {EPSILON_BASIC, EPSILON_ZCDP, EPSILON_SAME_CELL, EPSILON_SAMPLED})
    {
        EXPECT_EQ(ledger.GetEpsilon(which), UNBOUNDED) << GetPrivacyEpsilonName(which);
    }
}

TEST(PrivacyLedgers, AmplifyWithoutOverflowOrCancellation)
{
    // ln(1 + q(e^eps - 1)): q eps for small eps, eps + ln q for large ones.
    EXPECT_NEAR(PrivacyLedger::Amplify(1e-6, 0.2) / 2.00000080000016e-7, 1, 1e-14);
    EXPECT_NEAR(PrivacyLedger::Amplify(1e-15, 1e-9) / 1e-24, 1, 1e-12);
    EXPECT_NEAR(PrivacyLedger::Amplify(1, 0.5), 0.62011450695827752, 1e-15);
    EXPECT_NEAR(PrivacyLedger::Amplify(1000, 0.1), 1000 + std::log(0.1), 1e-12);
    EXPECT_NEAR(PrivacyLedger::Amplify(700, 0.1), PrivacyLedger::Amplify(700 + 1e-9, 0.1), 2e-9)
        << "where the formula changes";
    EXPECT_NEAR(PrivacyLedger::Amplify(5, 1e-12) / (1e-12 * std::expm1(5)), 1, 1e-9);
    EXPECT_EQ(PrivacyLedger::Amplify(3, 1), 3);
    EXPECT_EQ(PrivacyLedger::Amplify(3, 17), 3) << "batches repeat where samples are few";
    EXPECT_EQ(PrivacyLedger::Amplify(0, 0.1), 0);
    EXPECT_EQ(PrivacyLedger::Amplify(1e5, 0), 0);
    double before = 0;
    for (double epsilon = 1e-6; epsilon < 1e4; epsilon *= 1.1)
    {
        const double amplified = PrivacyLedger::Amplify(epsilon, 1.0 / 6);
        EXPECT_GT(amplified, before);
        EXPECT_LT(amplified, epsilon);
        before = amplified;
    }
}

TEST(PrivacyLedgers, HoldEveryEpsilonThatMakesSense)
{
    for (double epsilon = 1e-6; epsilon <= 1e3; epsilon *= 10)
    {
        PrivacyLedger ledger;
        const uint32_t rounds = 1000;
        for (uint32_t round = 0; round < rounds; ++round)
        {
            ledger.Enter(MakeTrue(epsilon), 159010, 1.0 / 6);
        }
        const double basic = rounds * 159010.0 * epsilon;
        EXPECT_NEAR(ledger.GetEpsilon(EPSILON_BASIC) / basic, 1, 1e-12);
        EXPECT_NEAR(ledger.GetRho() / (basic * std::tanh(epsilon / 2)), 1, 1e-12);
        EXPECT_LE(ledger.GetEpsilon(EPSILON_ZCDP), basic);
        EXPECT_GT(ledger.GetEpsilon(EPSILON_ZCDP), 0);
        EXPECT_LT(ledger.GetEpsilon(EPSILON_SAMPLED), basic);
    }
}

TEST(PrivacyLedgersDeathTest, RefuseADeltaThatIsNoProbability)
{
    EXPECT_DEATH(PrivacyLedger(0), "delta is 0, not between 0 and 1");
    EXPECT_DEATH(PrivacyLedger(1), "delta is 1, not between 0 and 1");
}

namespace
{

/** Gaussian noise on a grid. */
Ptr<GaussianQuantizer>
MakeGaussian(double sigma, double step = 0)
{
    return CreateObjectWithAttributes<GaussianQuantizer>(
        "Sigma", DoubleValue(sigma), "Step", DoubleValue(step));
}

/** @return what is sent for many coordinates of the same value. */
std::vector<float>
SendMany(const Quantizer& quantizer, float value, std::size_t count)
{
    const std::vector<float> values(count, value);
    std::vector<uint8_t> payload(quantizer.GetPayloadSize(count, 4));
    EXPECT_EQ(payload.size(), 4 * count);
    FederatedRandom random(1, FederatedRandom::QUANTIZE);
    EXPECT_TRUE(
        quantizer.Encode(values.data(), {{0, count, -0.01F, 0.01F}}, 4, random, payload.data()));
    std::vector<float> noisy(count);
    quantizer.Decode(payload.data(), 0, count, LevelGrid(-0.01F, 0.01F, 4), noisy.data());
    return noisy;
}

/** What is known of a device with an l2 clip. */
PrivacyContext
MakeL2Context(double clipBound, std::size_t dimension)
{
    PrivacyContext context;
    context.intervalIsPublic = true;
    context.low = -1;
    context.high = 1;
    context.clipNorm = CLIP_L2;
    context.clipBound = clipBound;
    context.dimension = dimension;
    return context;
}

} // namespace

TEST(GaussianQuantizers, AddNoiseWithTheRightDistribution)
{
    // Chi-square over 20 equally likely cells; wrong with probability 1e-6 (fixed seed).
    auto quantizer = MakeGaussian(0.5);
    const std::size_t count = 100000;
    const boost::math::normal_distribution<> expected(0.25, 0.5);
    std::vector<double> cells(20);
    double squares = 0;
    for (const float value : SendMany(*quantizer, 0.25F, count))
    {
        cells[std::min(19, static_cast<int>(20 * boost::math::cdf(expected, value)))] += 1;
        squares += (value - 0.25) * (value - 0.25);
    }
    double chiSquare = 0;
    for (const double cell : cells)
    {
        const double mean = static_cast<double>(count) / 20;
        chiSquare += (cell - mean) * (cell - mean) / mean;
    }
    const boost::math::chi_squared_distribution<> distribution(19);
    EXPECT_LT(chiSquare, boost::math::quantile(boost::math::complement(distribution, 1e-6)));
    std::vector<float> values(count, 0.25F);
    const std::vector<IntervalRange> intervals = {{0, count, -0.01F, 0.01F}};
    EXPECT_NEAR(squares / quantizer->GetDistortion(values.data(), intervals, 4), 1, 0.03);
    EXPECT_DOUBLE_EQ(quantizer->GetCellDistortion(-1, 1, 4), 0.25);
    values[7] = UNBOUNDED;
    FederatedRandom random(1);
    std::vector<uint8_t> payload(quantizer->GetPayloadSize(count, 4));
    EXPECT_FALSE(quantizer->Encode(values.data(), intervals, 4, random, payload.data()));
}

TEST(GaussianQuantizers, SendMultiplesOfTheStepWithTheirExactProbabilities)
{
    // 0.7 is 1.4 steps of 1/2, s = 1: sums of 1 (with 0.6) or 2 and discrete Gaussian noise.
    const auto quantizer = MakeGaussian(0.5, 0.6);
    const std::size_t count = 200000;
    std::vector<double> counts(9); // -3 and below, ..., 5 and above
    double squares = 0;
    for (const float sent : SendMany(*quantizer, 0.7F, count))
    {
        const double point = 2 * sent;
        ASSERT_EQ(point, std::round(point));
        ASSERT_TRUE(quantizer->CanSend(-0.01F, LevelGrid(-0.01F, 0.01F, 4), sent));
        ++counts[static_cast<std::size_t>(std::min(std::max(point, -3.0), 5.0) + 3)];
        squares += std::pow(sent - 0.7, 2);
    }
    std::vector<double> expected(9);
    double mass = 0;
    for (int k = -30; k <= 30; ++k)
    {
        const double weight = std::exp(-k * k / 2.0);
        mass += weight;
        expected[std::min(std::max(k + 1, -3), 5) + 3] += 0.6 * weight;
        expected[std::min(std::max(k + 2, -3), 5) + 3] += 0.4 * weight;
    }
    double chiSquare = 0;
    for (std::size_t i = 0; i < expected.size(); ++i)
    {
        const double mean = static_cast<double>(count) * expected[i] / mass;
        chiSquare += (counts[i] - mean) * (counts[i] - mean) / mean;
    }
    const boost::math::chi_squared_distribution<> distribution(8); // wrong with probability 1e-6
    EXPECT_LT(chiSquare, boost::math::quantile(boost::math::complement(distribution, 1e-6)));
    // g^2 (Var + f(1-f)); its relative standard error is 0.0032.
    const std::vector<float> values(count, 0.7F);
    const double distortion =
        quantizer->GetDistortion(values.data(), {{0, count, -1, 1}}, 4) / count;
    EXPECT_NEAR(distortion, 0.25 * (0.9999998 + 0.24), 1e-6);
    EXPECT_NEAR(squares / count / distortion, 1, 5 * 0.0032);
    EXPECT_NEAR(quantizer->GetCellDistortion(-1, 1, 4), 0.25 * (0.9999998 + 1.0 / 6), 1e-6);
    EXPECT_FALSE(quantizer->CanSend(0, LevelGrid(-1, 1, 4), 0.3F));
    EXPECT_FALSE(quantizer->CanSend(0, LevelGrid(-1, 1, 4), INFINITY));
}

TEST(GaussianQuantizers, HaveTheLargestStepBelowTheOneAskedFor)
{
    const LevelGrid grid(-1, 1, 4);
    const struct
    {
        double asked;
        float step;
    } cases[] = {{1, 1}, {0.99, 0.5}, {3.9, 2}, {1e9, 256}, {0x1p-23, 0x1p-23F}, {0, 0x1p-24F}};
    for (const auto& [asked, step] : cases)
    {
        SCOPED_TRACE(asked);
        const auto quantizer = MakeGaussian(1, asked);
        std::string error;
        EXPECT_TRUE(quantizer->Check(4, error)) << error;
        EXPECT_TRUE(quantizer->CanSend(0, grid, 3 * step));
        EXPECT_FALSE(quantizer->CanSend(0, grid, 2.5F * step));
    }
    std::string error;
    EXPECT_FALSE(MakeGaussian(1, 1e-8)->Check(4, error));
    EXPECT_EQ(error, "GaussianQuantizer: Step is 1e-08, below Sigma/2^24, 5.96046e-08.");
}

TEST(GaussianQuantizers, RefuseCoordinatesOfTooManySteps)
{
    const auto quantizer = MakeGaussian(1);
    FederatedRandom random(1);
    std::vector<uint8_t> payload(8);
    for (const float value : {0x1p28F, 0x1.1p28F, -0x1.1p28F, 1e30F})
    {
        const std::vector<float> values{0, value};
        EXPECT_EQ(quantizer->Encode(values.data(), {{0, 2, -1, 1}}, 4, random, payload.data()),
                  value == 0x1p28F);
    }
}

TEST(GaussianQuantizers, ClaimRhoForClippedUpdatesOnly)
{
    const auto quantizer = MakeGaussian(4);
    PrivacyContext context = MakeL2Context(3, 10000);
    PrivacyClaim claim = quantizer->GetPrivacyClaim(context);
    EXPECT_EQ(claim.kind, PrivacyClaim::ZCDP);
    EXPECT_EQ(claim.scope, PrivacyClaim::UPDATE);
    const double step = 4 * 0x1p-24;
    EXPECT_NEAR(claim.rho, std::pow(6 + step * 100, 2) / 32, 3e-12);
    EXPECT_GT(claim.rho, 36.0 / 32);
    context.dimension = 0;
    claim = quantizer->GetPrivacyClaim(context);
    EXPECT_EQ(claim.kind, PrivacyClaim::NONE);
    EXPECT_EQ(claim.reason, "The size of the update is not known.");
    context.dimension = 10000;
    for (const ClipNorm norm : {CLIP_NONE, CLIP_L1})
    {
        context.clipNorm = norm;
        claim = quantizer->GetPrivacyClaim(context);
        EXPECT_EQ(claim.kind, PrivacyClaim::NONE);
        EXPECT_EQ(claim.reason, "Without l2 clipping the l2 sensitivity has no bound.");
    }
    context.clipNorm = CLIP_L2;
    context.intervalIsPublic = false;
    EXPECT_EQ(quantizer->GetPrivacyClaim(context).kind, PrivacyClaim::NONE);
    context.intervalIsPublic = true;
    context.clipBound = 1e200;
    claim = quantizer->GetPrivacyClaim(context);
    EXPECT_EQ(claim.kind, PrivacyClaim::NONE) << "some updates are refused, others sent";
    EXPECT_EQ(claim.reason, "Some clipped updates are too large for the step of the grid.");
    // On a coarse grid the rounding counts.
    EXPECT_NEAR(MakeGaussian(4, 4)->GetPrivacyClaim(MakeL2Context(3, 9)).rho,
                std::pow(6 + 12, 2) / 32,
                1e-9);
}

TEST(GaussianQuantizers, ClaimARhoThatCoversStochasticRounding)
{
    // The exact Renyi divergence of one coordinate, s = 2 and a step of 1: a value's probability of
    // z is a mixture of two discrete Gaussian ones.
    const auto divergence = [](double x, double other, double alpha)
    {
        const auto logWeight = [](double value, int z)
        {
            const double lower = std::floor(value);
            const double f = value - lower;
            return -std::pow(z - lower, 2) / 8 +
                   std::log(1 - f + f * std::exp((2 * (z - lower) - 1) / 8));
        };
        std::vector<double> terms;
        double mass = 0;
        for (int z = -600; z <= 600; ++z) // the terms are largest below 64 * 6
        {
            mass += std::exp(logWeight(0, z));
            terms.push_back(alpha * logWeight(x, z) + (1 - alpha) * logWeight(other, z));
        }
        const double largest = *std::max_element(terms.begin(), terms.end());
        double sum = 0;
        for (const double term : terms)
        {
            sum += std::exp(term - largest);
        }
        return (largest + std::log(sum / mass)) / (alpha - 1);
    };
    // A shift by 0.001 steps: plain (x - x')^2/(2 s^2) would claim 1.25e-7.
    EXPECT_NEAR(divergence(0.001, 0, 64) / 64, 1.5e-2, 0.1e-2);
    EXPECT_GT(divergence(0.001, 0, 64) / 64, 1e5 * 1.25e-7);
    const auto quantizer = MakeGaussian(2, 1);
    for (const double clip : {0.0005, 0.1, 0.5, 0.7, 1.0, 2.5})
    {
        const double rho = quantizer->GetPrivacyClaim(MakeL2Context(clip, 1)).rho;
        EXPECT_NEAR(rho, std::pow(2 * clip + 1, 2) / 8, 1e-9);
        for (const double alpha : {1.01, 1.5, 2.0, 8.0, 64.0})
        {
            for (double x = -1; x <= 1; x += 0.1)
            {
                EXPECT_LE(divergence(clip * x, -clip, alpha), rho * alpha);
                EXPECT_LE(divergence(clip, clip * x, alpha), rho * alpha);
                EXPECT_LE(divergence(0, clip * x, alpha), rho * alpha);
            }
        }
    }
}

/** @ingroup federated-tests A federation of two devices with one bit and a true epsilon. */
class PrivateFederation : public Federation
{
  public:
    static constexpr double EPSILON = 0.01; // of a coordinate

    /** Build it, with a budget of device 1. */
    void BuildPrivate(double budget, const std::string& budgetOf = "basic")
    {
        Build(2);
        center->SetAttribute("GroupBits", StringValue("1,1"));
        center->SetAttribute("Rounds", UintegerValue(8));
        SetForDevices("Bits", UintegerValue(1));
        auto quantizer = CreateObject<RandomizedResponseQuantizer>();
        quantizer->SetAttribute("Epsilon", DoubleValue(EPSILON));
        SetForAll("Quantizer", PointerValue(quantizer));
        SetForAll("IntervalRule", PointerValue(CreateObject<FixedInterval>()));
        apps[1]->SetAttribute("PrivacyBudget", DoubleValue(budget));
        apps[1]->SetAttribute("PrivacyBudgetOf", StringValue(budgetOf));
        dimension = static_cast<double>(task->GetDimension());
        ledgers.clear();
        declined.clear();
        for (const auto& device : apps)
        {
            device->TraceConnectWithoutContext("PrivacySpent",
                                               MakeCallback(&PrivateFederation::OnSpent, this));
            device->TraceConnectWithoutContext("Declined",
                                               MakeCallback(&PrivateFederation::OnDeclined, this));
        }
    }

    /** Count the rounds in which device 1 had a state, and check that they are the last ones. */
    uint32_t CountLast(ParticipantState state) const
    {
        uint32_t count = 0;
        for (const auto& record : rounds)
        {
            for (const auto& link : record.links)
            {
                count += link.device == 1 && link.state == state;
                EXPECT_EQ(link.device == 1 && link.state == state, link.device == 1 && count > 0);
            }
        }
        return count;
    }

    void OnSpent(uint32_t device, const PrivacyLedger& ledger)
    {
        ledgers.emplace_back(device, ledger);
    }

    void OnDeclined(uint32_t round, uint32_t device)
    {
        EXPECT_EQ(device, 1U);
        declined.push_back(round);
    }

    void OnTx(Ptr<const Packet> packet)
    {
        auto copy = packet->Copy();
        FederatedHeader header;
        copy->RemoveHeader(header);
        if (header.type == FederatedHeader::UPDATE)
        {
            payloads.emplace_back(copy->GetSize());
            copy->CopyData(payloads.back().data(), copy->GetSize());
        }
    }

    double dimension = 0;
    std::vector<std::vector<uint8_t>> payloads;              // of the updates of device 0
    std::vector<std::pair<uint32_t, PrivacyLedger>> ledgers; // after each answer
    std::vector<uint32_t> declined;                          // rounds that device 1 declined
};

TEST_F(PrivateFederation, ABudgetForFiveRoundsIsSpentInFiveThenTheDeviceDeclinesAndTheRunGoesOn)
{
    Build(2);
    const double update = static_cast<double>(task->GetDimension()) * EPSILON;
    const double zcdp = PrivacyConversion::ResponsesToEpsilon(5 * update / EPSILON, EPSILON, 1e-5);
    for (const auto& [budgetOf, five] : {std::pair<const char*, double>{"basic", 5 * update},
                                         {"zcdp", zcdp},
                                         {"same-cell", 5 * update}})
    {
        // Exactly five rounds, as five numbers add up or as a user writes them down; nearly six.
        for (const double budget :
             {five, update + update + update + update + update, five * (1 + 1e-12)})
        {
            SCOPED_TRACE(budgetOf);
            BuildPrivate(budgetOf == std::string("zcdp") ? five : budget, budgetOf);
            Run();
            ASSERT_EQ(rounds.size(), 8U);
            EXPECT_EQ(sent.size(), 8U + 5U);
            EXPECT_EQ(apps[1]->GetPrivacyLedger().GetAnswers(), 5U);
            EXPECT_EQ(apps[0]->GetPrivacyLedger().GetAnswers(), 8U);
            EXPECT_EQ(declined, (std::vector<uint32_t>{6, 7, 8}));
            EXPECT_EQ(CountLast(PARTICIPANT_DECLINED), 3U);
            for (const auto& record : rounds)
            {
                EXPECT_FALSE(record.skipped);
                EXPECT_EQ(record.selected, 2U);
                EXPECT_EQ(record.received, record.round <= 5 ? 2U : 1U);
                EXPECT_EQ(record.declined, record.round <= 5 ? 0U : 1U);
                EXPECT_LT(record.end - record.start, Seconds(1)) << "nobody waits for who declined";
            }
        }
    }
}

TEST_F(PrivateFederation, ABudgetThatIsATraceTooSmallForFiveRoundsLastsForFour)
{
    Build(2);
    const double update = static_cast<double>(task->GetDimension()) * EPSILON;
    BuildPrivate(5 * update * (1 - 1e-6));
    Run();
    EXPECT_EQ(apps[1]->GetPrivacyLedger().GetAnswers(), 4U);
    EXPECT_EQ(CountLast(PARTICIPANT_DECLINED), 4U);
    BuildPrivate(update / 2);
    Run();
    EXPECT_EQ(apps[1]->GetPrivacyLedger().GetAnswers(), 0U);
    EXPECT_EQ(CountLast(PARTICIPANT_DECLINED), 8U);
    BuildPrivate(std::numeric_limits<double>::infinity());
    Run();
    EXPECT_EQ(apps[1]->GetPrivacyLedger().GetAnswers(), 8U) << "no limit";
}

TEST_F(PrivateFederation, TheLedgerTellsWhatEachAnswerCosts)
{
    BuildPrivate(0);
    apps[0]->SetAttribute("Steps", UintegerValue(1)); // 10 of 40 samples
    Run();
    ASSERT_EQ(ledgers.size(), 16U);
    for (const auto& [device, ledger] : ledgers)
    {
        const double epsilon = dimension * EPSILON;
        const uint32_t answers = ledger.GetAnswers();
        EXPECT_NEAR(ledger.GetEpsilon(EPSILON_BASIC), answers * epsilon, 1e-9);
        EXPECT_NEAR(ledger.GetRho(), answers * epsilon * std::tanh(EPSILON / 2), 1e-12);
        EXPECT_NEAR(ledger.GetEpsilon(EPSILON_SAMPLED),
                    answers * (device == 0 ? PrivacyLedger::Amplify(epsilon, 0.25) : epsilon),
                    1e-9)
            << "device 1 uses all of its samples";
    }
    EXPECT_EQ(apps[0]->GetPrivacyLedger().GetAnswers(), 8U);
}

TEST_F(PrivateFederation, WhatIsSentIsSpentWhetherItArrivesOrNot)
{
    // Grants and models may be lost and repeated too; nothing of that costs more than an answer.
    Build(2);
    BuildPrivate(5 * static_cast<double>(task->GetDimension()) * EPSILON);
    center->SetAttribute("Rounds", UintegerValue(20));
    center->SetAttribute("Deadline", TimeValue(Seconds(2)));
    SetForDevices("FragmentSize", UintegerValue(100));
    for (const auto& end : {GetCenterEnd(1), GetDeviceEnd(1)})
    {
        auto loss = CreateObject<RateErrorModel>();
        loss->SetUnit(RateErrorModel::ERROR_UNIT_PACKET);
        loss->SetRate(0.4);
        loss->AssignStreams(end == GetCenterEnd(1) ? 7 : 8);
        SetLoss(end, loss);
    }
    Run();
    ASSERT_EQ(rounds.size(), 20U);
    uint32_t answers = 0;
    for (const auto& record : sent)
    {
        answers += record.device == 1 && record.fragments > 0;
    }
    EXPECT_EQ(answers, 5U);
    EXPECT_EQ(apps[1]->GetPrivacyLedger().GetAnswers(), 5U);
    EXPECT_GT(declined.size(), 0U);
}

TEST_F(PrivateFederation, TcpSpendsAsMuch)
{
    Build(2);
    BuildPrivate(5 * static_cast<double>(task->GetDimension()) * EPSILON);
    SetForAll("Protocol", TypeIdValue(TcpSocketFactory::GetTypeId()));
    Run();
    ASSERT_EQ(rounds.size(), 8U);
    EXPECT_EQ(apps[1]->GetPrivacyLedger().GetAnswers(), 5U);
    EXPECT_EQ(CountLast(PARTICIPANT_DECLINED), 3U);
}

TEST_F(PrivateFederation, AnotherCenterFindsTheSameLedgerAndOtherCoins)
{
    // A center that begins again at round 1, with the same first model and the same batches.
    Build(2);
    BuildPrivate(5 * static_cast<double>(task->GetDimension()) * EPSILON);
    SetForAll("Protocol", TypeIdValue(TcpSocketFactory::GetTypeId()));
    center->SetAttribute("Rounds", UintegerValue(3));
    center->SetStopTime(Seconds(1));
    auto second = CreateObject<FusionCenter>();
    for (const char* name : {"Task", "Quantizer", "FusionRule", "BitBudget"})
    {
        PointerValue pointer;
        center->GetAttribute(name, pointer);
        second->SetAttribute(name, pointer);
    }
    second->SetAttribute("Protocol", TypeIdValue(TcpSocketFactory::GetTypeId()));
    second->SetAttribute("GroupBits", StringValue("1,1"));
    second->SetAttribute("Participants", UintegerValue(2));
    second->SetAttribute("ExpectedDevices", UintegerValue(2));
    second->SetAttribute("Rounds", UintegerValue(3));
    second->SetStartTime(Seconds(1.05));
    second->TraceConnectWithoutContext("RoundEnd", MakeCallback(&Federation::OnRound, this));
    nodes.Get(0)->AddApplication(second);
    apps[0]->TraceConnectWithoutContext("Tx", MakeCallback(&PrivateFederation::OnTx, this));
    Run();
    ASSERT_EQ(rounds.size(), 6U);
    EXPECT_EQ(rounds[3].round, 1U);
    EXPECT_EQ(apps[1]->GetPrivacyLedger().GetAnswers(), 5U);
    EXPECT_EQ(declined, std::vector<uint32_t>{3});
    EXPECT_EQ(CountLast(PARTICIPANT_DECLINED), 1U);
    ASSERT_EQ(payloads.size(), 6U);
    EXPECT_NE(payloads[0], payloads[3]) << "equal coins for two updates have no epsilon";
}

TEST_F(PrivateFederation, ABudgetOfAnEpsilonThatTheDeviceDoesNotHaveIsAnError)
{
    BuildPrivate(0);
    auto device = apps[1];
    const auto check = [&]()
    {
        std::string error;
        return device->CheckPrivacyBudget(error) ? "" : error;
    };
    auto paper = CreateObject<DpStochasticQuantizer>();
    device->SetAttribute("Bits", UintegerValue(2));
    device->SetAttribute("Quantizer", PointerValue(paper));
    EXPECT_EQ(check(), "") << "no budget";
    device->SetAttribute("PrivacyBudget", DoubleValue(1));
    EXPECT_EQ(check(),
              "PrivacyBudget limits the basic epsilon, which an update of 2 bits does not have: "
              "values of different cells can be told apart: no differential privacy.");
    device->SetAttribute("PrivacyBudgetOf", StringValue("same-cell"));
    EXPECT_EQ(check(), "");
    device->SetAttribute("ReportDistortion", BooleanValue(true));
    EXPECT_EQ(check(),
              "PrivacyBudget limits the same-cell epsilon, which an update of 2 bits does not "
              "have: the distortion that is sent along depends on the data.");
    device->SetAttribute("ReportDistortion", BooleanValue(false));
    device->SetAttribute("IntervalRule", PointerValue(CreateObject<MaxAbsInterval>()));
    EXPECT_NE(check(), "");
    EXPECT_EQ(device->GetSideInformation(),
              (std::vector<std::string>{"intervals that depend on the update"}));
    device->SetAttribute("IntervalRule", PointerValue(CreateObject<FixedInterval>()));
    device->SetAttribute("Quantizer", PointerValue(CreateObject<GaussianQuantizer>()));
    device->SetAttribute("ClipNorm", EnumValue(CLIP_L2));
    device->SetAttribute("PrivacyBudgetOf", StringValue("zcdp"));
    EXPECT_EQ(check(), "");
    device->SetAttribute("PrivacyBudgetOf", StringValue("basic"));
    EXPECT_EQ(check(),
              "PrivacyBudget limits the basic epsilon, which an update of 2 bits does not have: it "
              "has a rho of zCDP.");
    EXPECT_DEATH(Run(), "PrivacyBudget limits the basic epsilon");
}

TEST_F(PrivateFederation, AfterReportDistortionIsSetToFalseNothingOldIsSentAlong)
{
    // It is true for the first update, and set to false before the slot of the second begins.
    struct Switch
    {
        Ptr<FederatedDevice> device;
        std::vector<float> distortions; // that were sent

        void OnTrained(const FederatedDevice::TrainingRecord& record) const
        {
            if (record.round == 2)
            {
                device->SetAttribute("ReportDistortion", BooleanValue(false));
            }
        }

        void OnTx(Ptr<const Packet> packet)
        {
            FederatedHeader header;
            packet->PeekHeader(header);
            if (header.type == FederatedHeader::UPDATE)
            {
                distortions.push_back(header.distortion);
            }
        }
    };

    BuildPrivate(0);
    center->SetAttribute("Rounds", UintegerValue(4));
    apps[0]->SetAttribute("ReportDistortion", BooleanValue(true));
    Switch watched{apps[0], {}};
    apps[0]->TraceConnectWithoutContext("TrainingDone", MakeCallback(&Switch::OnTrained, &watched));
    apps[0]->TraceConnectWithoutContext("Tx", MakeCallback(&Switch::OnTx, &watched));
    Run();
    ASSERT_EQ(watched.distortions.size(), 4U);
    EXPECT_TRUE(std::isfinite(watched.distortions[0]));
    for (std::size_t i = 1; i < 4; ++i)
    {
        EXPECT_TRUE(std::isnan(watched.distortions[i])) << "update " << i;
    }
    // Only the first update has no claim.
    std::vector<double> spent;
    for (const auto& [device, ledger] : ledgers)
    {
        if (device == 0)
        {
            spent.push_back(ledger.GetEpsilon(EPSILON_BASIC));
        }
    }
    EXPECT_EQ(spent, std::vector<double>(4, UNBOUNDED)) << "it counts for ever";
}

TEST_F(PrivateFederation, ReportedDistortionsEndEveryClaim)
{
    BuildPrivate(0);
    EXPECT_EQ(apps[0]->GetPrivacyClaim().kind, PrivacyClaim::TRUE_EPSILON);
    EXPECT_TRUE(apps[0]->GetSideInformation().empty());
    apps[0]->SetAttribute("ReportDistortion", BooleanValue(true));
    EXPECT_EQ(apps[0]->GetPrivacyClaim().kind, PrivacyClaim::NONE);
    EXPECT_EQ(apps[0]->GetSideInformation(),
              (std::vector<std::string>{"the distortion of the update"}));
    Run();
    EXPECT_EQ(apps[0]->GetPrivacyLedger().GetEpsilon(EPSILON_BASIC), UNBOUNDED);
    EXPECT_TRUE(std::isfinite(apps[1]->GetPrivacyLedger().GetEpsilon(EPSILON_BASIC)));
}
