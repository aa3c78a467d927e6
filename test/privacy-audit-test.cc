// SPDX-License-Identifier: GPL-2.0-only

#include "float-laplace-quantizer.h"

#include "ns3/bit-packer.h"
#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/dp-stochastic-quantizer.h"
#include "ns3/fixed-interval.h"
#include "ns3/gaussian-quantizer.h"
#include "ns3/identity-quantizer.h"
#include "ns3/laplace-quantizer.h"
#include "ns3/max-abs-interval.h"
#include "ns3/min-max-interval.h"
#include "ns3/object-factory.h"
#include "ns3/optimal-dp-quantizer.h"
#include "ns3/privacy-audit.h"
#include "ns3/random-coordinates-quantizer.h"
#include "ns3/randomized-response-quantizer.h"
#include "ns3/uinteger.h"
#include "ns3/unbiased-stochastic-quantizer.h"

#include <boost/math/distributions/chi_squared.hpp>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

using namespace ns3;
using namespace ns3::federated;

namespace
{

const double INFINITE = std::numeric_limits<double>::infinity();

template <typename T>
Ptr<T>
MakeQuantizer(double epsilon)
{
    return CreateObjectWithAttributes<T>("Epsilon", DoubleValue(epsilon));
}

/** LaplaceSQ for an l1 clip at C = 1. */
Ptr<LaplaceQuantizer>
MakeLaplace(double epsilon)
{
    return CreateObjectWithAttributes<LaplaceQuantizer>(
        "Epsilon", DoubleValue(epsilon), "Sensitivity", DoubleValue(2));
}

Ptr<RandomCoordinatesQuantizer>
MakeRandomCoordinates(double epsilon)
{
    return CreateObjectWithAttributes<RandomCoordinatesQuantizer>(
        "Epsilon", DoubleValue(epsilon), "Coordinates", UintegerValue(2));
}

Ptr<FixedInterval>
MakeFixedInterval()
{
    return CreateObjectWithAttributes<FixedInterval>(
        "Low", DoubleValue(-1), "High", DoubleValue(1));
}

/** A quantizer, a resolution that suits it, and C of the l1 clip. */
struct Mechanism
{
    Ptr<Quantizer> quantizer;
    unsigned bits;
    double clipBound;
};

/** Mechanisms whose epsilon is true on a public interval. */
std::vector<Mechanism>
MakeTrueMechanisms(double epsilon)
{
    return {{MakeQuantizer<DpStochasticQuantizer>(epsilon), 1, 3},
            {MakeQuantizer<DpStochasticQuantizer>(epsilon), 2, 0.33}, // the middle cell
            {MakeQuantizer<RandomizedResponseQuantizer>(epsilon), 1, 3},
            {MakeQuantizer<OptimalDpQuantizer>(epsilon), 1, 3},
            {MakeQuantizer<OptimalDpQuantizer>(epsilon), 2, 3},
            {MakeQuantizer<OptimalDpQuantizer>(epsilon), 5, 3},
            {MakeRandomCoordinates(epsilon), 2, 3},
            {MakeLaplace(epsilon), 1, 1},
            {MakeLaplace(epsilon), 4, 1}};
}

PrivacyAudit
MakeAudit(const Mechanism& mechanism, const Ptr<IntervalRule>& interval)
{
    PrivacyAudit::Device device;
    device.quantizer = mechanism.quantizer;
    device.intervalRule = interval;
    device.clipNorm = CLIP_L1;
    device.clipBound = mechanism.clipBound;
    device.bits = mechanism.bits;
    return PrivacyAudit(device);
}

/** Updates that differ in the first coordinate, and for claims about whole updates two corners. */
std::vector<PrivacyAudit::Input>
MakeInputs(const PrivacyAudit& audit)
{
    std::vector<PrivacyAudit::Input> inputs{{-1, 0, 0}, {1, 0, 0}, {0.1F, 0, 0}, {-0.3F, 0, 0}};
    if (audit.GetClaim(inputs[0]).scope == PrivacyClaim::UPDATE)
    {
        inputs.push_back({1, 1, 1});
        inputs.push_back({-1, -1, -1});
    }
    return inputs;
}

/** Randomized response that claims less than it spends, and does not tell its probabilities. */
class Liar : public LevelQuantizer
{
  public:
    /** @param spent The epsilon of the coin. */
    explicit Liar(double spent)
        : m_coin(spent)
    {
    }

  private:
    void DoChooseLevels(const float* values,
                        std::size_t count,
                        const LevelGrid&,
                        FederatedRandom& random,
                        uint16_t* levels) const override
    {
        for (std::size_t i = 0; i < count; ++i)
        {
            const bool heads = random() < m_coin.GetThreshold();
            levels[i] = (values[i] > 0) == heads;
        }
    }

    double DoGetDistortion(const float*, std::size_t, const LevelGrid&) const override
    {
        return 1;
    }

    double DoGetCellDistortion(const LevelGrid&) const override
    {
        return 1;
    }

    PrivacyClaim DoGetPrivacyClaim(const PrivacyContext&) const override
    {
        PrivacyClaim claim;
        claim.kind = PrivacyClaim::TRUE_EPSILON;
        claim.epsilon = 1;
        return claim;
    }

    PrivacyCoin m_coin;
};

} // namespace

TEST(PrivacyAudit, BoundsAreThoseOfClopperAndPearson)
{
    // From the quantiles of beta distributions of another library.
    EXPECT_NEAR(PrivacyAudit::GetLowerBound(700, 300, 1000, 1e-3), 0.6208865250585679, 1e-9);
    EXPECT_NEAR(PrivacyAudit::GetLowerBound(1000, 0, 1000, 1e-3), 4.875685435595968, 1e-9);
    EXPECT_NEAR(PrivacyAudit::GetLowerBound(37, 5, 10000, 1e-5), 0, 1e-9);
    EXPECT_NEAR(PrivacyAudit::GetLowerBound(5000, 4000, 10000, 0.05), 0.17933837728538635, 1e-9);
    EXPECT_NEAR(PrivacyAudit::GetLowerBound(90000, 10, 100000, 1e-6), 7.83614522118327, 1e-9);
    EXPECT_EQ(PrivacyAudit::GetLowerBound(0, 0, 1000, 1e-3), 0);
    EXPECT_EQ(PrivacyAudit::GetLowerBound(1000, 1000, 1000, 1e-3), 0);
    EXPECT_EQ(PrivacyAudit::GetLowerBound(10, 900, 1000, 1e-3), 0);
}

TEST(PrivacyAudit, BoundsAreRarelyAboveTheTruth)
{
    // At alpha = 0.1, of 2000 bounds more than 250 are wrong with probability below 1e-3 even if
    // the bound had no slack.
    FederatedRandom random(1);
    const PrivacyCoin coin(1);
    int wrong = 0;
    for (int trial = 0; trial < 2000; ++trial)
    {
        uint64_t hits = 0;
        uint64_t otherHits = 0;
        for (int i = 0; i < 300; ++i)
        {
            hits += random() < coin.GetThreshold();
            otherHits += random() >= coin.GetThreshold();
        }
        wrong += PrivacyAudit::GetLowerBound(hits, otherHits, 300, 0.1) > 1;
    }
    EXPECT_LT(wrong, 250);
    EXPECT_GT(wrong, 0) << "a bound that is never wrong is too weak";
}

TEST(PrivacyAudit, FalsifiesThePapersQuantizerFromTwoBitsOn)
{
    FederatedRandom random(2);
    for (double epsilon : {1e-6, 1.0, 3.0})
    {
        for (unsigned bits : {1U, 2U, 3U, 4U, 6U, 8U, 16U})
        {
            const auto audit = MakeAudit({MakeQuantizer<DpStochasticQuantizer>(epsilon), bits, 3},
                                         MakeFixedInterval());
            const auto result = audit.Run(MakeInputs(audit), 4000, 1e-6, random);
            EXPECT_EQ(result.claimed, epsilon);
            if (bits == 1)
            {
                EXPECT_EQ(result.verdict, PrivacyAuditResult::NOT_FALSIFIED);
                EXPECT_LE(result.exact, epsilon);
                EXPECT_NEAR(result.exact, epsilon, 1e-8);
                EXPECT_LE(result.lower, epsilon);
            }
            else
            {
                EXPECT_EQ(result.verdict, PrivacyAuditResult::FALSIFIED);
                EXPECT_EQ(result.exact, INFINITE);
                EXPECT_GT(result.lower, epsilon) << "samples alone must do it";
                EXPECT_TRUE(std::isfinite(result.lower));
            }
        }
    }
}

TEST(PrivacyAudit, FalsifiesEveryEpsilonWithADataDependentInterval)
{
    FederatedRandom random(3);
    const auto perLayer = CreateObject<MaxAbsInterval>();
    perLayer->SetAttribute("PerLayer", BooleanValue(true));
    const std::vector<Ptr<IntervalRule>> intervals{
        CreateObject<MaxAbsInterval>(), CreateObject<MinMaxInterval>(), perLayer};
    for (const auto& mechanism : MakeTrueMechanisms(1))
    {
        for (const auto& interval : intervals)
        {
            const auto audit = MakeAudit(mechanism, interval);
            const auto result = audit.Run(MakeInputs(audit), 2000, 1e-6, random);
            const std::string name = mechanism.quantizer->GetInstanceTypeId().GetName();
            EXPECT_EQ(result.verdict, PrivacyAuditResult::FALSIFIED) << name;
            EXPECT_EQ(result.exact, INFINITE) << name;
            EXPECT_GT(result.lower, result.claimed) << name << ": samples alone must do it";
        }
    }
}

TEST(PrivacyAudit, LeavesTrueMechanismsAloneAndComesCloseToTheirEpsilon)
{
    // 20 suites, each wrong with probability 1e-3 at most.
    const auto interval = MakeFixedInterval();
    for (uint64_t seed = 0; seed < 20; ++seed)
    {
        FederatedRandom random(seed);
        const auto mechanisms = MakeTrueMechanisms(1);
        for (const auto& mechanism : mechanisms)
        {
            const auto audit = MakeAudit(mechanism, interval);
            const auto result = audit.Run(
                MakeInputs(audit), 10000, 1e-3 / static_cast<double>(mechanisms.size()), random);
            const std::string name = mechanism.quantizer->GetInstanceTypeId().GetName();
            EXPECT_EQ(result.verdict, PrivacyAuditResult::NOT_FALSIFIED) << name;
            EXPECT_LE(result.exact, result.claimed * (1 + 1e-12)) << name;
            EXPECT_GT(result.exact, 0.99) << name;
            EXPECT_LE(result.lower, result.exact) << name;
            EXPECT_GT(result.lower, 0.55) << name << ": the audit has no power";
        }
    }
}

TEST(PrivacyAudit, FindsALiarBySamplesAlone)
{
    FederatedRandom random(4);
    const auto interval = MakeFixedInterval();
    for (double spent : {1.0, 1.3})
    {
        PrivacyAudit::Device device;
        device.quantizer = CreateObject<Liar>(spent);
        device.intervalRule = interval;
        device.bits = 1;
        const PrivacyAudit audit(device);
        const auto result = audit.Run(MakeInputs(audit), 20000, 1e-3, random);
        EXPECT_TRUE(std::isnan(result.exact));
        EXPECT_EQ(result.verdict,
                  spent > 1 ? PrivacyAuditResult::FALSIFIED : PrivacyAuditResult::NOT_FALSIFIED);
    }
}

TEST(PrivacyAudit, AReportedDistortionGivesTheUpdateAway)
{
    FederatedRandom random(5);
    const auto interval = MakeFixedInterval();
    const auto quantizer = MakeQuantizer<RandomizedResponseQuantizer>(1);
    PrivacyAudit::Device device;
    device.quantizer = quantizer;
    device.intervalRule = interval;
    device.bits = 1;
    device.reportDistortion = true;
    const PrivacyAudit audit(device);
    const auto result = audit.Run(MakeInputs(audit), 2000, 1e-3, random);
    EXPECT_EQ(result.verdict, PrivacyAuditResult::FALSIFIED);
    EXPECT_EQ(result.exact, INFINITE);
    EXPECT_GT(result.lower, 1);
}

TEST(PrivacyAudit, WhoClaimsNothingIsMeasuredAllTheSame)
{
    FederatedRandom random(6);
    const std::vector<Ptr<Quantizer>> quantizers{CreateObject<UnbiasedStochasticQuantizer>(),
                                                 CreateObject<IdentityQuantizer>()};
    for (const auto& quantizer : quantizers)
    {
        const auto audit = MakeAudit({quantizer, 2, 3}, MakeFixedInterval());
        const auto result = audit.Run(MakeInputs(audit), 2000, 1e-3, random);
        EXPECT_EQ(result.verdict, PrivacyAuditResult::NO_CLAIM);
        EXPECT_TRUE(std::isnan(result.claimed));
        EXPECT_EQ(result.exact, INFINITE);
        EXPECT_GT(result.lower, 4);
    }
}

TEST(PrivacyAudit, AClaimOfACoordinateCountsForEachThatDiffers)
{
    FederatedRandom random(7);
    const auto audit =
        MakeAudit({MakeQuantizer<RandomizedResponseQuantizer>(0.5), 1, 3}, MakeFixedInterval());
    const auto result = audit.Run({{1, 1, 0}, {-1, -1, 0}}, 20000, 1e-3, random);
    EXPECT_EQ(result.claimed, 1);
    EXPECT_NEAR(result.exact, 1, 1e-6);
    EXPECT_EQ(result.verdict, PrivacyAuditResult::NOT_FALSIFIED);
    EXPECT_GT(result.lower, 0.8);
}

namespace
{

/** A device with an l2 clip. */
PrivacyAudit
MakeL2Audit(const Ptr<Quantizer>& quantizer, unsigned bits, double bound, double halfWidth)
{
    PrivacyAudit::Device device;
    device.quantizer = quantizer;
    device.intervalRule = CreateObjectWithAttributes<FixedInterval>(
        "Low", DoubleValue(-halfWidth), "High", DoubleValue(halfWidth));
    device.clipNorm = CLIP_L2;
    device.clipBound = bound;
    device.bits = bits;
    return PrivacyAudit(device);
}

/** Opposite corners, and updates with all of their norm in one coordinate. */
std::vector<PrivacyAudit::Input>
MakeL2Inputs(double halfWidth)
{
    const auto a = static_cast<float>(halfWidth);
    return {{a, a, a, a}, {-a, -a, -a, -a}, {9, 0, 0, 0}, {-9, 0, 0, 0}, {0.5F * a, 0, 0.1F, a}};
}

/** Randomized response whose rho under an l2 clip is too small by half. */
class RhoLiar : public RandomizedResponseQuantizer
{
  private:
    PrivacyClaim DoGetPrivacyClaim(const PrivacyContext& context) const override
    {
        PrivacyClaim claim =
            MakeQuantizer<RandomizedResponseQuantizer>(GetEpsilon())->GetPrivacyClaim(context);
        claim.updateRho /= 2;
        return claim;
    }
};

} // namespace

TEST(PrivacyAudit, OneBitUnderAnL2ClipHasTheRhoThatIsClaimedAndNotMuchLess)
{
    // A, C and epsilon; the exact rho of opposite corners is the tight form, where that holds.
    struct Case
    {
        double halfWidth, bound, epsilon;
    };
    for (const Case& one : {Case{0.5, 1, 0.6}, Case{1, 2, 1}, Case{1, 0.7, 1.5}, Case{0.5, 1, 3}})
    {
        SCOPED_TRACE(one.epsilon);
        const auto quantizer = MakeQuantizer<RandomizedResponseQuantizer>(one.epsilon);
        const auto audit = MakeL2Audit(quantizer, 1, one.bound, one.halfWidth);
        const auto inputs = MakeL2Inputs(one.halfWidth);
        const PrivacyClaim claim = audit.GetClaim(inputs[0]);
        FederatedRandom random(1);
        const auto result = audit.Run(inputs, 20000, 1e-6, random);
        EXPECT_EQ(result.verdict, PrivacyAuditResult::NOT_FALSIFIED);
        EXPECT_EQ(result.claimedRho, claim.updateRho);
        EXPECT_LE(result.exactRho, claim.updateRho);
        EXPECT_LE(result.lowerRho, result.exactRho);
        EXPECT_GT(result.lowerRho, 0.3 * result.exactRho);
        if (claim.tightRho > 0)
        {
            EXPECT_NEAR(result.exactRho / claim.tightRho, 1, 1e-3);
        }
    }
}

TEST(PrivacyAudit, FalsifiesARhoThatIsTooSmall)
{
    auto liar = CreateObject<RhoLiar>();
    liar->SetEpsilon(1);
    FederatedRandom random(1);
    const auto result = MakeL2Audit(liar, 1, 2, 1).Run(MakeL2Inputs(1), 20000, 1e-6, random);
    EXPECT_EQ(result.verdict, PrivacyAuditResult::FALSIFIED);
    EXPECT_GT(result.exactRho, result.claimedRho);
    EXPECT_GT(result.lowerRho, result.claimedRho) << "by samples alone, too";
    EXPECT_EQ(result.claimed, 1) << "the epsilon of a coordinate is true";
}

TEST(PrivacyAudit, BoundsOfRhoAreRarelyAboveTheTruth)
{
    // p = 0.6 against q = 0.4: rho is the relative entropy, 0.2 ln 1.5. 1 % of the bounds may be
    // wrong; 40 or more of 1000 are with probability below 1e-11.
    FederatedRandom random(3);
    int wrong = 0;
    for (int i = 0; i < 1000; ++i)
    {
        uint64_t hits = 0;
        uint64_t otherHits = 0;
        for (int k = 0; k < 400; ++k)
        {
            hits += random.Uniform() < 0.6;
            otherHits += random.Uniform() < 0.4;
        }
        wrong += PrivacyAudit::GetLowerRho(hits, otherHits, 400, 0.01) > 0.2 * std::log(1.5);
    }
    EXPECT_LT(wrong, 40);
    EXPECT_NEAR(
        PrivacyAudit::GetLowerRho(600000, 400000, 1000000, 0.01), 0.2 * std::log(1.5), 3e-3);
    EXPECT_EQ(PrivacyAudit::GetLowerRho(4, 6, 10, 0.01), 0);
    EXPECT_EQ(PrivacyAudit::GetLowerRho(0, 0, 10, 0.01), 0);
}

TEST(PrivacyAudit, IntegerNoiseStandsInAHundredAudits)
{
    // 1e-5 for each of 200 audits: a false alarm with probability 0.002 (fixed seeds).
    const auto laplace = MakeLaplace(1);
    auto gaussian = CreateObject<GaussianQuantizer>();
    gaussian->SetAttribute("Sigma", DoubleValue(2));
    auto coarse = CreateObject<GaussianQuantizer>();
    coarse->SetAttribute("Sigma", DoubleValue(2));
    coarse->SetAttribute("Step", DoubleValue(0.5));
    for (uint64_t seed = 1; seed <= 100; ++seed)
    {
        FederatedRandom random(seed);
        const auto first = MakeAudit({laplace, 1, 1}, MakeFixedInterval())
                               .Run({{-1, 0, 0}, {1, 0, 0}}, 4000, 1e-5, random);
        EXPECT_EQ(first.verdict, PrivacyAuditResult::NOT_FALSIFIED);
        EXPECT_LT(first.exact, first.claimed);
        const auto second = MakeL2Audit(seed % 2 == 0 ? gaussian : coarse, 2, 1, 1)
                                .Run({{9, 0, 0}, {-9, 0, 0}}, 4000, 1e-5, random);
        EXPECT_EQ(second.verdict, PrivacyAuditResult::NOT_FALSIFIED);
        EXPECT_TRUE(std::isnan(second.exactRho)) << "no float is impossible for another input";
        EXPECT_LT(second.lowerRho, second.claimedRho);
    }
}

TEST(PrivacyAudit, NoiseInFloatingPointFalls)
{
    // What is claimed holds for real numbers. Some floats are possible for one level only.
    const auto noise = CreateObject<FloatLaplaceQuantizer>(2.0);
    FederatedRandom random(1);
    const auto audit = MakeAudit({noise, 1, 1}, MakeFixedInterval());
    const auto result = audit.Run({{-1, 0, 0}, {1, 0, 0}}, 40000, 1e-6, random);
    EXPECT_EQ(result.verdict, PrivacyAuditResult::FALSIFIED);
    EXPECT_EQ(result.exact, std::numeric_limits<double>::infinity());
}

TEST(PrivacyLoss, ProbabilitiesAreThoseOfWhatIsDrawn)
{
    // Chi-square tests, together wrong with probability 1e-3.
    const std::vector<Mechanism> mechanisms{{MakeQuantizer<DpStochasticQuantizer>(1), 3, 0},
                                            {CreateObject<UnbiasedStochasticQuantizer>(), 3, 0},
                                            {MakeQuantizer<RandomizedResponseQuantizer>(1), 1, 0},
                                            {MakeQuantizer<OptimalDpQuantizer>(4), 3, 0},
                                            {MakeRandomCoordinates(2), 2, 0}};
    const std::vector<float> values{-2, -0.9F, 0.05F, 0.3F, 1};
    const std::size_t draws = 20000;
    FederatedRandom random(8);
    for (const auto& [quantizer, bits, bound] : mechanisms)
    {
        const LevelGrid grid(-1, 1, bits, 3);
        for (float value : values)
        {
            const auto probabilities = quantizer->GetProbabilities(value, grid);
            std::vector<double> counts(std::size_t{1} << quantizer->GetWireBits(bits));
            const std::vector<float> update(3, value);
            for (std::size_t i = 0; i < draws; ++i)
            {
                std::vector<uint8_t> payload(quantizer->GetPayloadSize(3, bits));
                ASSERT_TRUE(quantizer->Encode(
                    update.data(), {{0, 3, -1, 1}}, bits, random, payload.data()));
                uint16_t level;
                BitPacker::Unpack(payload.data(), 1, 1, quantizer->GetWireBits(bits), &level);
                ++counts[level];
            }
            double sum = 0;
            double chi = 0;
            double kinds = 0;
            for (std::size_t level = 0; level < counts.size(); ++level)
            {
                const double probability = level < probabilities.size() ? probabilities[level] : 0;
                sum += probability;
                if (probability > 0)
                {
                    const double expected = probability * draws;
                    chi += std::pow(counts[level] - expected, 2) / expected;
                    ++kinds;
                }
                else
                {
                    EXPECT_EQ(counts[level], 0);
                }
            }
            EXPECT_NEAR(sum, 1, 1e-12);
            if (kinds > 1)
            {
                const boost::math::chi_squared law(kinds - 1);
                EXPECT_LT(chi, boost::math::quantile(complement(law, 1e-3 / 25)))
                    << quantizer->GetInstanceTypeId().GetName() << ", value " << value;
            }
        }
    }
}

TEST(PrivacyLoss, OfTrueMechanismsIsNeverAboveEpsilonForAnyTwoValues)
{
    std::vector<float> values;
    FederatedRandom random(9);
    for (int i = 0; i < 60; ++i)
    {
        values.push_back(static_cast<float>(-1.1 + 2.2 * i / 59));
        values.push_back(static_cast<float>(2.2 * random.Uniform() - 1.1));
    }
    for (double epsilon : {0.0, 1e-6, 0.1, 1.0, 2.5, 4.0, 7.0, 12.0, 30.0})
    {
        const std::vector<Mechanism> mechanisms{
            {MakeQuantizer<RandomizedResponseQuantizer>(epsilon), 1, 0},
            {MakeQuantizer<DpStochasticQuantizer>(epsilon), 1, 0},
            {MakeQuantizer<OptimalDpQuantizer>(epsilon), 1, 0},
            {MakeQuantizer<OptimalDpQuantizer>(epsilon), 2, 0},
            {MakeQuantizer<OptimalDpQuantizer>(epsilon), 4, 0},
            {MakeQuantizer<OptimalDpQuantizer>(epsilon), 7, 0}};
        for (const auto& [quantizer, bits, bound] : mechanisms)
        {
            double largest = 0;
            for (float a : values)
            {
                for (float b : values)
                {
                    largest =
                        std::max(largest, quantizer->GetPrivacyLoss(&a, &b, {{0, 1, -1, 1}}, bits));
                }
            }
            // Two logarithms of doubles may differ in their last digit.
            EXPECT_LE(largest, epsilon * (1 + 1e-15) + 2e-16);
            EXPECT_GE(largest, std::min(epsilon, 21.0) * 0.99);
        }
    }
}

TEST(PrivacyLoss, OfLaplaceIsTheLargestRatioOfDensitiesAndBelowTheClaim)
{
    FederatedRandom random(10);
    for (int trial = 0; trial < 200; ++trial)
    {
        const double epsilon = std::pow(10, 2 * random.Uniform() - 1);
        const auto laplace = MakeLaplace(epsilon);
        const unsigned bits = 1 + random.Below(5);
        const LevelGrid grid(-1, 1, bits);
        // The scale in use is the next multiple of Delta/m, of which 2/epsilon has 2^16 or more.
        double unit = grid.step;
        while (2 / epsilon / unit < 65536)
        {
            unit /= 2;
        }
        const double scale = unit * std::ceil(2 / epsilon / unit);
        const auto a = static_cast<float>(2 * random.Uniform() - 1);
        const auto b = static_cast<float>(2 * random.Uniform() - 1);
        const auto density = [&](float value, double x)
        {
            double fraction;
            const int32_t cell = grid.Locate(value, fraction);
            return (1 - fraction) * std::exp(-std::abs(x - grid.GetValue(cell)) / scale) +
                   fraction * std::exp(-std::abs(x - grid.GetValue(cell + 1)) / scale);
        };
        double largest = 0;
        for (int i = 0; i <= 3000; ++i)
        {
            const double x = -1.5 + 3.0 * i / 3000;
            largest = std::max(largest, std::log(density(a, x) / density(b, x)));
        }
        const double loss = laplace->GetPrivacyLoss(&a, &b, {{0, 1, -1, 1}}, bits);
        EXPECT_NEAR(loss, largest, 1e-3 * epsilon + 1e-6);
        EXPECT_GE(loss, largest - 1e-6);
        PrivacyContext context;
        context.bits = bits;
        context.intervalIsPublic = true;
        context.low = -1;
        context.high = 1;
        context.clipNorm = CLIP_L1;
        context.clipBound = 1;
        EXPECT_LE(loss, laplace->GetPrivacyClaim(context).epsilon * (1 + 1e-9));
    }
}

TEST(PrivacyLoss, OfRandomCoordinatesIsThatOfTheWorstK)
{
    const auto quantizer = MakeRandomCoordinates(2); // k = 2, epsilon 1 each
    const std::vector<float> a{1, 1, 1};
    const std::vector<float> b{-1, 0, 0.9F};
    const double tau = std::tanh(0.5);
    const auto one = [tau](double x, double y) { return std::log((1 + tau * x) / (1 + tau * y)); };
    EXPECT_NEAR(quantizer->GetPrivacyLoss(a.data(), b.data(), {{0, 3, -1, 1}}, 2),
                one(1, -1) + one(1, 0),
                1e-6);
    EXPECT_EQ(quantizer->GetPrivacyLoss(a.data(), a.data(), {{0, 3, -1, 1}}, 2), 0);
}
