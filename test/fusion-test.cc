// SPDX-License-Identifier: GPL-2.0-only

#include "packed-test-update.h"

#include "ns3/boolean.h"
#include "ns3/dp-stochastic-quantizer.h"
#include "ns3/effective-snr-fusion.h"
#include "ns3/enum.h"
#include "ns3/federated-random.h"
#include "ns3/identity-quantizer.h"
#include "ns3/object-factory.h"
#include "ns3/resolution-fusion.h"
#include "ns3/sample-fusion.h"
#include "ns3/string.h"
#include "ns3/uniform-fusion.h"
#include "ns3/update-fusion.h"

#include <boost/random/normal_distribution.hpp>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <list>
#include <numeric>
#include <string>

using namespace ns3;
using namespace ns3::federated;

namespace
{

const double INFINITE = std::numeric_limits<double>::infinity();

std::vector<Ptr<FusionRule>>
MakeRules()
{
    return {CreateObject<UniformFusion>(),
            CreateObject<ResolutionFusion>(),
            CreateObjectWithAttributes<EffectiveSnrFusion>("Distortion", StringValue("exact")),
            CreateObjectWithAttributes<EffectiveSnrFusion>("Distortion", StringValue("cell"))};
}

} // namespace

TEST(FusionRules, WeightsAreTheOnesOfThePaper)
{
    const std::vector<UpdateQuality> updates{{2, 0.3, 0.4, 0.1}, {4, 0.01, 0.02, 0.39}};
    std::vector<double> weights;
    EXPECT_TRUE(CreateObject<UniformFusion>()->GetWeights(updates, weights));
    EXPECT_EQ(weights, (std::vector<double>{0.5, 0.5}));
    EXPECT_TRUE(CreateObject<ResolutionFusion>()->GetWeights(updates, weights));
    EXPECT_NEAR(weights[1] / weights[0], 15.0 / 3, 1e-12);
    const auto rules = MakeRules();
    EXPECT_TRUE(rules[2]->GetWeights(updates, weights));
    EXPECT_NEAR(weights[0], 0.5, 1e-12); // 1/(.3+.1) against 1/(.01+.39)
    EXPECT_TRUE(rules[3]->GetWeights(updates, weights));
    EXPECT_NEAR(weights[0] / weights[1], 0.41 / 0.5, 1e-12);
}

TEST(FusionRules, WeightsSumToOneForAnyQuality)
{
    FederatedRandom random(3);
    for (const auto& rule : MakeRules())
    {
        for (int trial = 0; trial < 1000; ++trial)
        {
            std::vector<UpdateQuality> updates(1 + random.Below(20));
            for (auto& update : updates)
            {
                update.bits = 1 + random.Below(16);
                update.exactDistortion = std::pow(10.0, 600 * random.Uniform() - 300);
                update.cellDistortion = std::pow(10.0, 600 * random.Uniform() - 300);
                update.sigma2 = random.Below(4) == 0 ? 0 : std::pow(10, 40 * random.Uniform() - 20);
            }
            std::vector<double> weights;
            ASSERT_TRUE(rule->GetWeights(updates, weights));
            ASSERT_NEAR(std::accumulate(weights.begin(), weights.end(), 0.0), 1, 1e-12);
            ASSERT_GE(*std::min_element(weights.begin(), weights.end()), 0);
        }
    }
}

TEST(FusionRules, InfiniteNoiseHasNoWeightAndAllInfiniteIsReported)
{
    for (const auto& rule : MakeRules())
    {
        std::vector<double> weights;
        EXPECT_TRUE(rule->GetWeights({{2, 1, 1, INFINITE}, {2, 1, 1, 1}}, weights));
        EXPECT_EQ(weights, (std::vector<double>{0, 1}));
        EXPECT_FALSE(rule->GetWeights({{2, 1, 1, INFINITE}, {2, 1, 1, INFINITE}}, weights));
        EXPECT_EQ(weights, (std::vector<double>{0, 0}));
        EXPECT_TRUE(rule->GetWeights({{2, 1, 1, -1}, {2, 1, 1, NAN}, {2, 5, 1, 1}}, weights));
        EXPECT_EQ(weights, (std::vector<double>{0, 0, 1}));
        EXPECT_FALSE(rule->GetWeights({}, weights));
        EXPECT_TRUE(weights.empty());
    }
}

TEST(FusionRules, UpdatesWithoutAnyErrorShareTheWeight)
{
    std::vector<double> weights;
    EXPECT_TRUE(CreateObject<EffectiveSnrFusion>()->GetWeights(
        {{4, 0, 0, 0}, {4, 0, 0, 0}, {4, 1, 1, 0}}, weights));
    EXPECT_EQ(weights, (std::vector<double>{0.5, 0.5, 0}));
}

TEST(FusionRules, WithoutAReportTheExactRuleGivesNoWeight)
{
    EXPECT_FALSE(CreateObject<EffectiveSnrFusion>()->NeedsReportedDistortion());
    EXPECT_FALSE(CreateObject<UniformFusion>()->NeedsReportedDistortion());
    const auto rule =
        CreateObjectWithAttributes<EffectiveSnrFusion>("Distortion", StringValue("exact"));
    std::vector<double> weights;
    const double none = std::numeric_limits<double>::quiet_NaN();
    EXPECT_TRUE(rule->NeedsReportedDistortion());
    EXPECT_TRUE(rule->GetWeights({{2, none, 0.01, 0}, {2, 1, 9, 0}}, weights));
    EXPECT_EQ(weights, (std::vector<double>{0, 1}));
}

TEST(FusionRules, WeighBySamples)
{
    // bits, exact and cell distortion, sigma^2, device, samples
    const std::vector<UpdateQuality> updates{{2, 1, 1, 0, 7, 10}, {4, 3, 3, 0, 8, 30}};
    std::vector<double> weights;
    for (const bool twice : {false, true}) // which changes nothing
    {
        const auto rule = CreateObject<SampleFusion>();
        rule->SetAttribute("WeightBySamples", BooleanValue(twice));
        EXPECT_TRUE(rule->GetWeights(updates, weights));
        EXPECT_EQ(weights, (std::vector<double>{0.25, 0.75}));
    }
    const std::vector<double> ratios{3, 3 * 15.0 / 3, 3 * 1.0 / 3, 3 * 1.0 / 3};
    std::size_t i = 0;
    for (const auto& rule : MakeRules())
    {
        rule->SetAttribute("WeightBySamples", BooleanValue(true));
        EXPECT_TRUE(rule->GetWeights(updates, weights));
        EXPECT_NEAR(weights[1] / weights[0], ratios[i++], 1e-12);
        EXPECT_NEAR(weights[0] + weights[1], 1, 1e-12);
    }
}

TEST(FusionRules, UpdatesWithoutAnyErrorShareTheWeightBySamples)
{
    const auto rule = CreateObject<EffectiveSnrFusion>();
    rule->SetAttribute("WeightBySamples", BooleanValue(true));
    std::vector<double> weights;
    EXPECT_TRUE(
        rule->GetWeights({{4, 0, 0, 0, 0, 1}, {4, 0, 0, 0, 1, 3}, {4, 1, 1, 0, 2, 9}}, weights));
    EXPECT_EQ(weights, (std::vector<double>{0.25, 0.75, 0}));
}

TEST(FusionRules, WithoutAnySamplesThereAreNoWeightsBySamples)
{
    std::vector<double> weights;
    EXPECT_FALSE(CreateObject<SampleFusion>()->GetWeights({{4, 1, 1, 0}}, weights));
    EXPECT_EQ(weights, (std::vector<double>{0}));
    const auto rule = CreateObject<UniformFusion>();
    rule->SetAttribute("WeightBySamples", BooleanValue(true));
    EXPECT_FALSE(rule->GetWeights({{4, 1, 1, 0}, {4, 1, 1, 0}}, weights));
    EXPECT_EQ(weights, (std::vector<double>{0, 0}));
}

TEST(UpdateFusionDeathTest, LevelsWithoutAnIntervalStopTheScriptWithASentence)
{
    FederatedRandom random(3);
    TestUpdate one(5, 4, 100, random);
    one.Deliver(0, 100, 0);
    one.update.intervals.clear();
    std::vector<float> model(100);
    const auto rule = CreateObject<UniformFusion>();
    const std::string sentence = "device 5 has levels without an interval";
    EXPECT_DEATH(FuseUpdates(*rule, LOSS_RENORMALIZE, {one.update}, model.data(), 100), sentence);
    EXPECT_DEATH(DecodeUpdate(one.update, model.data()), sentence);
    EXPECT_DEATH(GetMeanSquare(one.update, one.update.ranges[0]), sentence);
}

TEST(UpdateFusion, EqualsTheSumCoordinateByCoordinateUnderAnyLoss)
{
    FederatedRandom random(17);
    for (int trial = 0; trial < 60; ++trial)
    {
        const std::size_t dimension = 1 + random.Below(5000);
        std::list<TestUpdate> updates;
        const std::size_t senders = random.Below(7);
        for (std::size_t i = 0; i < senders; ++i)
        {
            const unsigned bits = random.Below(5) == 0 ? 32 : 1 + random.Below(16);
            auto& added =
                updates.emplace_back(1000 - static_cast<uint32_t>(i), bits, dimension, random);
            const std::size_t fragment = 1 + random.Below(1500);
            const bool lossless = random.Below(3) == 0;
            for (std::size_t begin = 0; begin < dimension; begin += fragment)
            {
                if (lossless || random.Below(4) > 0)
                {
                    const double sigma2 = random.Below(8) == 0 ? INFINITE : random.Uniform();
                    added.Deliver(begin, std::min(begin + fragment, dimension), sigma2);
                }
            }
        }
        for (const auto& rule : MakeRules())
        {
            for (LossPolicy policy : {LOSS_RENORMALIZE, LOSS_ZERO, LOSS_DROP})
            {
                std::vector<float> model(dimension, 0.5F);
                const auto result =
                    FuseUpdates(*rule, policy, GetUpdates(updates), model.data(), dimension);

                std::size_t untouched = 0;
                for (std::size_t i = 0; i < dimension; ++i)
                {
                    std::vector<UpdateQuality> qualities;
                    std::vector<double> values;
                    for (const auto& [update, payload, plain] : updates)
                    {
                        std::size_t count = 0;
                        double total = 0;
                        const DeliveredRange* here = nullptr;
                        for (const auto& range : update.ranges)
                        {
                            count += range.end - range.begin;
                            total += range.sigma2 * static_cast<double>(range.end - range.begin);
                            here = range.begin <= i && i < range.end ? &range : here;
                        }
                        const bool dropped =
                            count == 0 || (policy == LOSS_DROP && count < dimension);
                        if (dropped || (!here && policy != LOSS_ZERO))
                        {
                            continue;
                        }
                        const double mean = total / static_cast<double>(count);
                        qualities.push_back({update.bits,
                                             update.exactDistortion,
                                             update.cellDistortion,
                                             here ? here->sigma2 : mean});
                        values.push_back(here ? plain[i] : NAN);
                    }
                    std::vector<double> weights;
                    rule->GetWeights(qualities, weights);
                    double sum = 0;
                    bool touched = false;
                    for (std::size_t k = 0; k < values.size(); ++k)
                    {
                        if (weights[k] > 0 && !std::isnan(values[k]))
                        {
                            sum += weights[k] * values[k];
                            touched = true;
                        }
                    }
                    untouched += !touched;
                    ASSERT_NEAR(model[i], 0.5 + sum, 3e-6) << "coordinate " << i;
                }
                EXPECT_EQ(result.untouched, untouched);
                ASSERT_FALSE(result.segments.empty());
                EXPECT_EQ(result.segments.front().begin, 0U);
                EXPECT_EQ(result.segments.back().end, dimension);
            }
        }
    }
}

TEST(UpdateFusion, DoesNotDependOnTheOrderOfArrival)
{
    FederatedRandom random(18);
    const std::size_t dimension = 4321;
    std::list<TestUpdate> updates;
    for (uint32_t device : {5U, 1U, 9U, 3U})
    {
        auto& added = updates.emplace_back(device, 3, dimension, random);
        added.Deliver(std::size_t{100} * device, dimension, 0.1 * device);
    }
    auto arrived = GetUpdates(updates);
    std::vector<float> first(dimension);
    FuseUpdates(*MakeRules()[2], LOSS_RENORMALIZE, arrived, first.data(), dimension);
    std::reverse(arrived.begin(), arrived.end());
    std::vector<float> second(dimension);
    FuseUpdates(*MakeRules()[2], LOSS_RENORMALIZE, arrived, second.data(), dimension);
    EXPECT_EQ(first, second);
}

TEST(UpdateFusion, ReportsWeightsNoiseAndWhatNobodyDelivered)
{
    FederatedRandom random(19);
    const std::size_t dimension = 1000;
    std::list<TestUpdate> updates;
    updates.emplace_back(1, 4, dimension, random).Deliver(0, 500, 0.25);
    updates.emplace_back(2, 4, dimension, random).Deliver(0, 750, 0.5);
    std::vector<float> model(dimension);
    const auto result = FuseUpdates(*CreateObject<UniformFusion>(),
                                    LOSS_RENORMALIZE,
                                    GetUpdates(updates),
                                    model.data(),
                                    dimension);
    EXPECT_EQ(result.untouched, 250U);
    EXPECT_NEAR(result.meanWeights[0], 0.25, 1e-12);        // half the weight of half of it
    EXPECT_NEAR(result.meanWeights[1], 0.25 + 0.25, 1e-12); // and a quarter alone
    EXPECT_NEAR(result.segments.front().noiseVariance, 0.25 * 0.25 + 0.25 * 0.5, 1e-12);
    EXPECT_EQ(result.segments.front().contributors, 2U);
    EXPECT_EQ(result.segments.back().contributors, 0U);
    EXPECT_EQ(model[999], 0);

    const auto nothing =
        FuseUpdates(*CreateObject<UniformFusion>(), LOSS_DROP, {}, model.data(), dimension);
    EXPECT_EQ(nothing.untouched, dimension);
}

TEST(UpdateFusion, TheNoiseItReportsIsThatOfTheWeightedSum)
{
    // E||sum omega n||^2 = d sum omega^2 sigma^2. With d Gaussian sums the relative standard error
    // is sqrt(2/d) = 0.32 %, so 2 % are exceeded with probability below 1e-9.
    const std::size_t dimension = 200000;
    const std::vector<double> sigmas{0.01, 0.125, 0.5, 2};
    FederatedRandom random(5, FederatedRandom::LINK_NOISE);
    std::list<TestUpdate> updates;
    for (double sigma : sigmas)
    {
        const auto device = static_cast<uint32_t>(updates.size());
        updates.emplace_back(device, 4, dimension, random).Deliver(0, dimension, sigma * sigma);
    }
    std::vector<float> model(dimension);
    const auto result = FuseUpdates(
        *MakeRules()[2], LOSS_RENORMALIZE, GetUpdates(updates), model.data(), dimension);

    boost::random::normal_distribution<double> normal;
    double measured = 0;
    for (std::size_t i = 0; i < dimension; ++i)
    {
        double fused = 0;
        for (std::size_t u = 0; u < sigmas.size(); ++u)
        {
            fused += result.meanWeights[u] * sigmas[u] * normal(random);
        }
        measured += fused * fused;
    }
    double reported = 0;
    for (const auto& segment : result.segments)
    {
        reported += segment.noiseVariance * static_cast<double>(segment.end - segment.begin);
    }
    EXPECT_NEAR(measured / reported, 1, 0.02);
}
