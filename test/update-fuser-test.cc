// SPDX-License-Identifier: GPL-2.0-only

#include "recording-fusion.h"

#include "ns3/double.h"
#include "ns3/dp-stochastic-quantizer.h"
#include "ns3/effective-snr-fusion.h"
#include "ns3/enum.h"
#include "ns3/federated-random.h"
#include "ns3/fixed-link-noise.h"
#include "ns3/identity-quantizer.h"
#include "ns3/little-endian.h"
#include "ns3/no-link-noise.h"
#include "ns3/object-factory.h"
#include "ns3/optimal-dp-quantizer.h"
#include "ns3/randomized-response-quantizer.h"
#include "ns3/sample-fusion.h"
#include "ns3/snr-link-noise.h"
#include "ns3/string.h"
#include "ns3/unbiased-stochastic-quantizer.h"
#include "ns3/uniform-fusion.h"
#include "ns3/update-fuser.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <list>
#include <numeric>
#include <string>
#include <vector>

using namespace ns3;
using namespace ns3::federated;

namespace
{

const double UNKNOWN = std::numeric_limits<double>::quiet_NaN();
constexpr float LEVEL_STEP = 2.0F / 15; // of 4 bits on [-1, 1]

/** A round of devices that send floats. */
struct Fusion
{
    Fusion()
    {
        SetNoise(CreateObject<NoLinkNoise>());
        SetRule(CreateObject<EffectiveSnrFusion>());
        SetQuantizer(CreateObject<IdentityQuantizer>());
        rules.groups = 2;
    }

    void SetNoise(Ptr<LinkNoise> other)
    {
        noise = other;
        rules.noise = PeekPointer(noise);
    }

    void SetRule(Ptr<FusionRule> other)
    {
        rule = other;
        rules.fusionRule = PeekPointer(rule);
    }

    void SetQuantizer(Ptr<Quantizer> other)
    {
        quantizer = other;
        rules.quantizer = PeekPointer(quantizer);
    }

    /** Add a device that delivered all of its floats. */
    FuserInput& Add(uint32_t group, const std::vector<float>& values, double snr = UNKNOWN)
    {
        std::vector<uint8_t>& payload = payloads.emplace_back(4 * values.size());
        for (std::size_t i = 0; i < values.size(); ++i)
        {
            WriteLittleEndianFloat(values[i], payload.data() + 4 * i);
        }
        FuserInput input;
        input.device = static_cast<uint32_t>(10 + inputs.size());
        input.group = group;
        input.bits = 4;
        input.snr = snr;
        input.packed.dimension = values.size();
        input.packed.wireBits = 32;
        input.packed.payload = payload.data();
        input.packed.ranges = {{0, values.size()}};
        input.fragments = {{0, values.size(), UNKNOWN}};
        inputs.push_back(input);
        return inputs.back();
    }

    FusedModel Fuse(uint32_t round = 1) const
    {
        return UpdateFuser(rules).Fuse(model, inputs, round);
    }

    UpdateFuser::Rules rules;
    std::vector<float> model;
    std::vector<FuserInput> inputs;
    std::list<std::vector<uint8_t>> payloads; // which do not move
    Ptr<LinkNoise> noise;
    Ptr<FusionRule> rule;
    Ptr<Quantizer> quantizer;
};

/** @return a fusion of n devices that send 4-bit levels on [-1, 1], weighed by their errors. */
Fusion
MakeLevels(std::size_t n, EffectiveSnrFusion::DistortionSource source)
{
    Fusion fusion;
    fusion.SetQuantizer(CreateObject<UnbiasedStochasticQuantizer>());
    fusion.SetRule(CreateObjectWithAttributes<EffectiveSnrFusion>("Distortion", EnumValue(source)));
    fusion.model.assign(2, 0);
    for (std::size_t i = 0; i < n; ++i)
    {
        FuserInput& input = fusion.Add(0, {0});
        input.packed.dimension = 2; // 4 bits each
        input.packed.wireBits = 4;
        input.packed.ranges = {{0, 2}};
        input.packed.intervals = {{0, 2, -1, 1}};
        input.packed.distortion = LEVEL_STEP * LEVEL_STEP / 4; // of values between two levels
    }
    return fusion;
}

Ptr<LinkNoise>
MakeFixed(const std::string& sigmas)
{
    return CreateObjectWithAttributes<FixedLinkNoise>("Sigmas", StringValue(sigmas));
}

/** A fusion with noise, of two devices that send zeros: what is fused is noise alone. */
Fusion
MakeNoisy(std::size_t dimension)
{
    Fusion fusion;
    fusion.SetNoise(MakeFixed("0.5,1"));
    fusion.model.assign(dimension, 0);
    fusion.Add(0, std::vector<float>(dimension));
    fusion.Add(1, std::vector<float>(dimension));
    return fusion;
}

} // namespace

TEST(UpdateFuser, AReportOfNoErrorDoesNotBuyAllTheWeight)
{
    for (const float lie : {0.0F, std::numeric_limits<float>::denorm_min(), 1e-9F})
    {
        Fusion fusion = MakeLevels(10, EffectiveSnrFusion::EXACT);
        fusion.inputs[3].packed.distortion = lie;
        const FusedModel fused = fusion.Fuse();
        ASSERT_EQ(fused.devices.size(), 10U);
        // 0.7 of step^2 / 6, which the interval makes expect, against step^2 / 4.
        const double advantage = 6 / 0.7 / 4;
        EXPECT_NEAR(fused.devices[3].weight, advantage / (advantage + 9), 1e-6) << lie;
        EXPECT_NEAR(fused.devices[4].weight, 1 / (advantage + 9), 1e-6) << lie;
    }
}

TEST(UpdateFuser, NorDoesOneOfFloatsWhichHaveNoErrorOfTheirOwn)
{
    for (const float lie : {0.0F, std::numeric_limits<float>::denorm_min(), 1e-9F})
    {
        Fusion fusion;
        fusion.SetRule(CreateObjectWithAttributes<EffectiveSnrFusion>(
            "Distortion", EnumValue(EffectiveSnrFusion::EXACT)));
        fusion.model.assign(2, 0);
        const float unknown = std::numeric_limits<float>::quiet_NaN();
        for (const float report : {0.8F, lie, 1.0F, 1.2F, unknown, 0.9F}) // of edges, say
        {
            fusion.Add(0, {0, 0}).packed.distortion = report;
        }
        const FusedModel fused = fusion.Fuse();
        ASSERT_EQ(fused.devices.size(), 6U);
        // A quarter of the median of those that were reported, 0.9.
        const double others = 1 / 0.8 + 1 + 1 / 1.2 + 1 / 0.9;
        EXPECT_NEAR(fused.devices[1].weight, (4 / 0.9) / (4 / 0.9 + others), 1e-6) << lie;
        EXPECT_NEAR(fused.devices[2].weight, 1 / (4 / 0.9 + others), 1e-6) << lie;
        EXPECT_EQ(fused.devices[4].weight, 0);
    }
}

TEST(UpdateFuser, ANarrowIntervalDoesNotBuyAllTheWeight)
{
    for (const float width : {0.0F, 1e-9F, 0.1F})
    {
        Fusion fusion = MakeLevels(10, EffectiveSnrFusion::CELL);
        fusion.inputs[3].packed.intervals = {{0, 2, -width, width}};
        const FusedModel fused = fusion.Fuse();
        ASSERT_EQ(fused.devices.size(), 10U);
        EXPECT_NEAR(fused.devices[3].weight, 4.0 / 13, 1e-6) << width;
    }
}

TEST(UpdateFuser, HonestErrorsDecideAsTheyAre)
{
    Fusion fusion = MakeLevels(3, EffectiveSnrFusion::CELL);
    fusion.inputs[0].packed.intervals = {{0, 2, -0.6F, 0.6F}};
    fusion.inputs[2].packed.intervals = {{0, 2, -3, 3}};
    const FusedModel fused = fusion.Fuse();
    const double scores[] = {1 / 0.36, 1, 1.0 / 9};
    for (std::size_t i = 0; i < 3; ++i)
    {
        EXPECT_NEAR(fused.devices[i].weight, scores[i] / (scores[0] + scores[1] + scores[2]), 1e-6);
    }
    fusion = MakeLevels(3, EffectiveSnrFusion::EXACT);
    fusion.inputs[0].packed.distortion = LEVEL_STEP * LEVEL_STEP / 8;
    EXPECT_NEAR(fusion.Fuse().devices[0].weight, 2.0 / 4, 1e-6);
    fusion.inputs[0].packed.distortion = std::numeric_limits<float>::quiet_NaN();
    EXPECT_EQ(fusion.Fuse().devices[0].weight, 0);
}

TEST(UpdateFuser, AddsWeightedUpdatesToACopyOfTheModel)
{
    Fusion fusion;
    fusion.model = {10, 20, 30};
    fusion.Add(0, {1, 2, 3});
    fusion.Add(1, {3, 6, -3});
    const FusedModel fused = fusion.Fuse();
    EXPECT_FALSE(fused.skipped);
    EXPECT_FALSE(fused.overflowed);
    EXPECT_EQ(fused.model, (std::vector<float>{12, 24, 30})); // both are exact: half of each
    EXPECT_EQ(fusion.model, (std::vector<float>{10, 20, 30}));
    EXPECT_EQ(fused.untouchedFraction, 0);
    ASSERT_EQ(fused.devices.size(), 2U);
    EXPECT_EQ(fused.devices[0].device, 10U);
    EXPECT_EQ(fused.devices[1].device, 11U);
    for (const FusedDevice& device : fused.devices)
    {
        EXPECT_DOUBLE_EQ(device.weight, 0.5);
        EXPECT_EQ(device.sigma, 0);
        EXPECT_TRUE(std::isnan(device.meanSquare)) << "nobody needed it";
    }
}

TEST(UpdateFuser, WeighsGroupsByTheirFixedNoise)
{
    Fusion fusion;
    fusion.SetNoise(MakeFixed("0.5,1"));
    fusion.model = {0, 0};
    fusion.Add(0, {1, 1}, 1e-6); // the SNR does not matter
    fusion.Add(1, {1, 1}, 1e6);
    const FusedModel fused = fusion.Fuse();
    ASSERT_EQ(fused.devices.size(), 2U);
    EXPECT_NEAR(fused.devices[0].weight, 0.8, 1e-12); // 1/0.25 against 1/1
    EXPECT_NEAR(fused.devices[1].weight, 0.2, 1e-12);
    EXPECT_EQ(fused.devices[0].sigma, 0.5);
    EXPECT_EQ(fused.devices[1].sigma, 1);
    EXPECT_TRUE(std::isnan(fused.devices[0].meanSquare));
}

TEST(UpdateFuser, AddsNoiseOfTheVarianceThatTheLinksHave)
{
    constexpr std::size_t DIMENSION = 40000;
    const Fusion fusion = MakeNoisy(DIMENSION);
    const FusedModel fused = fusion.Fuse();
    ASSERT_EQ(fused.model.size(), DIMENSION);
    double sum = 0;
    double squares = 0;
    for (const float value : fused.model)
    {
        sum += value;
        squares += double{value} * value;
    }
    // Weights 0.8 and 0.2 of variances 0.25 and 1. A mean of normal values deviates by
    // sigma / sqrt(d), their mean square by sigma^2 sqrt(2/d); 5 of these happen once in 10^6.
    const double variance = 0.64 * 0.25 + 0.04 * 1;
    EXPECT_NEAR(sum / DIMENSION, 0, 5 * std::sqrt(variance / DIMENSION));
    EXPECT_NEAR(squares / DIMENSION, variance, 5 * variance * std::sqrt(2.0 / DIMENSION));
}

TEST(UpdateFuser, DrawsTheSameNoiseForTheSameSeedAndRoundOnly)
{
    Fusion fusion = MakeNoisy(100);
    fusion.rules.seed = 3;
    const std::vector<float> noise = fusion.Fuse(1).model;
    EXPECT_EQ(fusion.Fuse(1).model, noise);
    EXPECT_NE(fusion.Fuse(2).model, noise);
    fusion.rules.seed = 4;
    EXPECT_NE(fusion.Fuse(1).model, noise);
}

TEST(UpdateFuser, DerivesNoiseFromSnrAndSignal)
{
    Fusion fusion;
    fusion.SetNoise(CreateObject<SnrLinkNoise>());
    fusion.model = {0, 0, 0, 0};
    fusion.Add(0, {2, -2, 2, -2}, 16);   // mean square 4: sigma^2 = 0.25
    fusion.Add(1, {3, 0, 0, 3}, 4.5);    // 4.5: sigma^2 = 1
    fusion.Add(0, {0, 0, 0, 0}, 1e-300); // nothing is sent: no noise, and all the weight
    FusedModel fused = fusion.Fuse();
    ASSERT_EQ(fused.devices.size(), 3U);
    EXPECT_DOUBLE_EQ(fused.devices[0].sigma, 0.5);
    EXPECT_DOUBLE_EQ(fused.devices[0].meanSquare, 4);
    EXPECT_DOUBLE_EQ(fused.devices[1].sigma, 1);
    EXPECT_DOUBLE_EQ(fused.devices[1].meanSquare, 4.5);
    EXPECT_EQ(fused.devices[2].sigma, 0);
    EXPECT_EQ(fused.devices[2].meanSquare, 0);
    EXPECT_EQ(fused.devices[2].weight, 1);
    EXPECT_EQ(fused.model, fusion.model) << "nothing was sent by the only one that counts";
    fusion.inputs.pop_back();
    fused = fusion.Fuse();
    EXPECT_NEAR(fused.devices[0].weight, 0.8, 1e-12);
    EXPECT_NEAR(fused.devices[1].weight, 0.2, 1e-12);
}

TEST(UpdateFuser, TakesTheSnrOfEachFragmentElseThatOfTheLink)
{
    for (const bool inOrder : {true, false})
    {
        Fusion fusion;
        fusion.SetNoise(CreateObject<SnrLinkNoise>());
        fusion.model = {0, 0, 0, 0};
        FuserInput& first = fusion.Add(0, {1, 1, 1, 1}, 5);
        first.fragments = {{0, 1, 10}, {1, 4, UNKNOWN}}; // sigma^2 0.1 on one, 0.2 on three
        if (!inOrder)
        {
            std::swap(first.fragments[0], first.fragments[1]);
        }
        fusion.Add(1, {1, 1, 1, 1}, 10); // 0.1 everywhere
        const FusedModel fused = fusion.Fuse();
        ASSERT_EQ(fused.devices.size(), 2U);
        EXPECT_NEAR(fused.devices[0].sigma, std::sqrt((0.1 + 3 * 0.2) / 4), 1e-12);
        EXPECT_NEAR(fused.devices[1].sigma, std::sqrt(0.1), 1e-12);
        EXPECT_NEAR(fused.devices[0].meanSquare, 1, 1e-12);
        // Halves on the first coordinate, a third and two thirds on the others.
        EXPECT_NEAR(fused.devices[0].weight, (0.5 + 3 * 1.0 / 3) / 4, 1e-12);
        EXPECT_NEAR(fused.devices[1].weight, (0.5 + 3 * 2.0 / 3) / 4, 1e-12);
    }
}

TEST(UpdateFuser, MeasuresTheSignalOfEachFragment)
{
    Fusion fusion;
    fusion.SetNoise(CreateObject<SnrLinkNoise>());
    fusion.model = {0, 0, 0, 0, 0, 0};
    // Two received ranges, the second one in two fragments.
    FuserInput& input = fusion.Add(0, {1, 1, 99, 99, 2, 3}, 2);
    input.packed.ranges = {{0, 2}, {4, 6}};
    input.fragments = {{0, 2, UNKNOWN}, {4, 5, UNKNOWN}, {5, 6, UNKNOWN}};
    const FusedModel fused = fusion.Fuse();
    ASSERT_EQ(fused.devices.size(), 1U);
    EXPECT_NEAR(fused.devices[0].meanSquare, (1 + 1 + 4 + 9) / 4.0, 1e-12);
    EXPECT_NEAR(fused.devices[0].sigma, std::sqrt((1 + 1 + 4 + 9) / 2.0 / 4), 1e-12);
    EXPECT_NEAR(fused.untouchedFraction, 1.0 / 3, 1e-12);
    EXPECT_NEAR(fused.devices[0].weight, 2.0 / 3, 1e-12);
}

TEST(UpdateFuser, GivesLinksOfUnknownSnrTheMeanNoiseOfTheirGroup)
{
    Fusion fusion;
    fusion.SetNoise(CreateObject<SnrLinkNoise>());
    fusion.model = {0, 0};
    fusion.Add(0, {1, 1}, UNKNOWN);
    fusion.Add(0, {1, 1}, 10);       // 0.1
    fusion.Add(0, {1, 1}, 10 / 3.0); // 0.3
    fusion.Add(1, {1, 1}, 1 / 0.4);  // 0.4
    FusedModel fused = fusion.Fuse();
    ASSERT_EQ(fused.devices.size(), 4U);
    EXPECT_TRUE(std::isnan(fused.devices[0].sigma)) << "what is taken for it was not measured";
    EXPECT_DOUBLE_EQ(fused.devices[0].meanSquare, 1);
    const double scores[] = {1 / 0.2, 1 / 0.1, 1 / 0.3, 1 / 0.4};
    const double sum = std::accumulate(std::begin(scores), std::end(scores), 0.0);
    for (std::size_t i = 0; i < 4; ++i)
    {
        EXPECT_NEAR(fused.devices[i].weight, scores[i] / sum, 1e-12) << i;
    }
    // Of a group of which nothing is known, no noise is assumed.
    fusion.inputs[3].snr = UNKNOWN;
    fused = fusion.Fuse();
    EXPECT_EQ(fused.devices[3].weight, 1);
}

TEST(UpdateFuser, OneDeadLinkDoesNotSilenceLinksOfUnknownSnr)
{
    Fusion fusion;
    fusion.SetNoise(CreateObject<SnrLinkNoise>());
    fusion.model = {0, 0};
    fusion.Add(0, {1, 1}, UNKNOWN);
    fusion.Add(0, {1, 1}, 0);  // infinite noise
    fusion.Add(0, {1, 1}, 10); // 0.1
    FusedModel fused = fusion.Fuse();
    EXPECT_NEAR(fused.devices[0].weight, 0.5, 1e-12) << "the mean of its group is 0.1";
    EXPECT_EQ(fused.devices[1].weight, 0);
    EXPECT_NEAR(fused.devices[2].weight, 0.5, 1e-12);
    // Only dead links are known in the group: no noise is assumed.
    fusion.inputs.pop_back();
    fused = fusion.Fuse();
    EXPECT_EQ(fused.devices[0].weight, 1);
}

TEST(UpdateFuser, WeighsTheMeanOfAGroupByCoordinates)
{
    Fusion fusion;
    fusion.SetNoise(CreateObject<SnrLinkNoise>());
    fusion.model = {0, 0, 0, 0};
    fusion.Add(0, {1, 1, 1, 1}, UNKNOWN);
    FuserInput& part = fusion.Add(0, {1, 1, 1, 1}, UNKNOWN);
    part.fragments = {{0, 1, 1 / 0.5}, {1, 4, 1 / 0.1}};
    const FusedModel fused = fusion.Fuse();
    const double mean = (0.5 + 3 * 0.1) / 4;
    const double weight = (0.5 / (0.5 + mean) + 3 * 0.1 / (0.1 + mean)) / 4;
    EXPECT_NEAR(fused.devices[0].weight, weight, 1e-12);
    EXPECT_NEAR(fused.devices[1].weight, 1 - weight, 1e-12);
}

TEST(UpdateFuser, SkipsTheRoundIfThereAreTooFewUpdates)
{
    for (const uint32_t minUpdates : {1U, 2U, 3U})
    {
        for (uint32_t count = 0; count < 4; ++count)
        {
            SCOPED_TRACE(testing::Message() << count << " of " << minUpdates);
            Fusion fusion;
            fusion.rules.minUpdates = minUpdates;
            fusion.model = {1, 1};
            for (uint32_t i = 0; i < count; ++i)
            {
                fusion.Add(0, {2, 2});
            }
            const FusedModel fused = fusion.Fuse();
            const bool isSkipped = count < minUpdates;
            EXPECT_EQ(fused.skipped, isSkipped);
            EXPECT_FALSE(fused.overflowed);
            EXPECT_EQ(fused.model, isSkipped ? std::vector<float>() : std::vector<float>({3, 3}));
            EXPECT_EQ(fused.untouchedFraction, isSkipped ? 1 : 0);
            EXPECT_EQ(fusion.model, (std::vector<float>{1, 1}));
            ASSERT_EQ(fused.devices.size(), count);
            for (const FusedDevice& device : fused.devices)
            {
                EXPECT_NEAR(device.weight, isSkipped ? 0 : 1.0 / count, 1e-12);
                EXPECT_EQ(device.sigma, 0) << "known whether or not it was fused";
            }
        }
    }
}

TEST(UpdateFuser, DoesNotCountUpdatesThatCannotBeDecoded)
{
    Fusion fusion;
    const auto quantizer = CreateObject<RandomizedResponseQuantizer>();
    quantizer->SetAttribute("Decoder", StringValue("gain:1000"));
    fusion.SetQuantizer(quantizer);
    fusion.model = {0, 0, 0, 0, 0, 0, 0, 0};
    const uint8_t payload = 0;
    for (const float end : {1e38F, 1.0F})
    {
        FuserInput input;
        input.device = static_cast<uint32_t>(fusion.inputs.size());
        input.bits = 1;
        input.packed = {8, 1, &payload, {{0, 8}}, {{0, 8, -end, end}}};
        fusion.inputs.push_back(input);
    }
    FuserInput nothing = fusion.inputs[1];
    nothing.device = 2;
    nothing.packed.ranges.clear();
    fusion.inputs.push_back(nothing);
    FusedModel fused = fusion.Fuse();
    EXPECT_FALSE(fused.skipped);
    ASSERT_EQ(fused.devices.size(), 1U);
    EXPECT_EQ(fused.devices[0].device, 1U);
    EXPECT_EQ(fused.devices[0].weight, 1);
    fusion.rules.minUpdates = 2;
    fused = fusion.Fuse();
    EXPECT_TRUE(fused.skipped);
    EXPECT_FALSE(fused.overflowed);
}

TEST(UpdateFuser, DoesNotCountLevelsThatTheQuantizerDoesNotHaveOrThatHaveNoInterval)
{
    Fusion fusion;
    fusion.SetQuantizer(CreateObject<RandomizedResponseQuantizer>());
    fusion.model = std::vector<float>(8);
    const std::vector<uint8_t> payload(16);
    FuserInput good;
    good.bits = 1;
    good.packed = {8, 1, payload.data(), {{0, 8}}, {{0, 8, -1, 1}}};
    for (const unsigned bits : {0U, 2U, 16U, 17U})
    {
        FuserInput input = good;
        input.bits = bits;
        fusion.inputs.push_back(input);
    }
    FuserInput finer = good; // more bits on the wire than its resolution has
    finer.packed.wireBits = 2;
    fusion.inputs.push_back(finer);
    FuserInput nowhere = good;
    nowhere.packed.intervals.clear();
    fusion.inputs.push_back(nowhere);
    good.device = 99;
    fusion.inputs.push_back(good);
    const FusedModel fused = fusion.Fuse();
    EXPECT_FALSE(fused.skipped);
    ASSERT_EQ(fused.devices.size(), 1U);
    EXPECT_EQ(fused.devices[0].device, 99U);
}

TEST(UpdateFuser, GivesDevicesOfUnknownSamplesTheMeanOfTheOthers)
{
    Fusion fusion;
    const auto rule = CreateObject<RecordingFusion>();
    fusion.SetRule(rule);
    fusion.model = {0, 0, 0, 0};
    fusion.Add(0, {1, 1, 1, 1}).samples = 10;
    fusion.Add(1, {1, 1, 1, 1}).samples = 0; // unknown
    FuserInput& part = fusion.Add(1, {1, 1, 1, 1});
    part.samples = 50;
    part.packed.ranges = {{1, 2}};
    fusion.Fuse();
    ASSERT_EQ(rule->seen.size(), 3U);
    EXPECT_EQ(rule->seen[10].samples, 10);
    EXPECT_EQ(rule->seen[11].samples, 30);
    EXPECT_EQ(rule->seen[12].samples, 50);
    EXPECT_EQ(rule->seen[11].deliveredFraction, 1);
    EXPECT_EQ(rule->seen[12].deliveredFraction, 0.25);
    fusion.SetRule(CreateObject<SampleFusion>());
    EXPECT_NEAR(fusion.Fuse().devices[1].weight, (3 * 0.75 + 30.0 / 90) / 4, 1e-12);

    // None is known: federated averaging with equal numbers.
    for (FuserInput& input : fusion.inputs)
    {
        input.samples = 0;
    }
    EXPECT_NEAR(fusion.Fuse().devices[0].weight, (3 * 0.5 + 1.0 / 3) / 4, 1e-12);
}

TEST(UpdateFuser, SkipsTheRoundIfTheModelOverflows)
{
    struct Case
    {
        float model;
        float update;
        bool overflows;
    };

    const float most = std::numeric_limits<float>::max();
    const std::vector<Case> cases{
        {3e38F, 3e38F, true},
        {-3e38F, -3e38F, true},
        {3e38F, -3e38F, false},
        {most, 0, false},
        {0, most, false},
        {most, most, true},
    };
    for (const Case& one : cases)
    {
        SCOPED_TRACE(testing::Message() << one.model << " and " << one.update);
        Fusion fusion;
        fusion.model = {0, one.model};
        fusion.Add(0, {0, one.update});
        const FusedModel fused = fusion.Fuse();
        EXPECT_EQ(fused.overflowed, one.overflows);
        EXPECT_EQ(fused.skipped, one.overflows);
        EXPECT_EQ(fused.model.empty(), one.overflows);
        EXPECT_EQ(fused.untouchedFraction, one.overflows ? 1 : 0);
        ASSERT_EQ(fused.devices.size(), 1U);
        EXPECT_EQ(fused.devices[0].weight, one.overflows ? 0 : 1);
    }
}

TEST(UpdateFuser, TreatsMissingCoordinatesByTheLossPolicy)
{
    struct Case
    {
        LossPolicy policy;
        std::vector<float> model;
        double first; // weights
        double second;
        double untouched;
    };

    // The first device delivers coordinates 0 to 3, all 8; the second 0 and 1, all 4; none 4.
    const std::vector<Case> cases{
        {LOSS_RENORMALIZE, {6, 6, 8, 8, 0}, (2 * 0.5 + 2 * 1) / 5, 2 * 0.5 / 5, 0.2},
        {LOSS_ZERO, {6, 6, 4, 4, 0}, 4 * 0.5 / 5, 2 * 0.5 / 5, 0.2},
        {LOSS_DROP, {0, 0, 0, 0, 0}, 0, 0, 1}, // none delivered everything
    };
    for (const Case& one : cases)
    {
        SCOPED_TRACE(one.policy);
        Fusion fusion;
        fusion.SetRule(CreateObject<UniformFusion>());
        fusion.rules.lossPolicy = one.policy;
        fusion.model = {0, 0, 0, 0, 0};
        fusion.Add(0, {8, 8, 8, 8, 99}).packed.ranges = {{0, 4}};
        fusion.Add(0, {4, 4, 99, 99, 99}).packed.ranges = {{0, 2}};
        const FusedModel fused = fusion.Fuse();
        EXPECT_FALSE(fused.skipped);
        EXPECT_EQ(fused.model, one.model);
        EXPECT_NEAR(fused.devices[0].weight, one.first, 1e-12);
        EXPECT_NEAR(fused.devices[1].weight, one.second, 1e-12);
        EXPECT_NEAR(fused.untouchedFraction, one.untouched, 1e-12);
    }
}

TEST(UpdateFuser, AddsNoNoiseWhereNothingWasDelivered)
{
    Fusion fusion;
    fusion.SetNoise(MakeFixed("1"));
    fusion.model = {7, 7, 7, 7};
    fusion.Add(0, {0, 0, 0, 0}).packed.ranges = {{0, 2}};
    const FusedModel fused = fusion.Fuse();
    ASSERT_EQ(fused.model.size(), 4U);
    EXPECT_NE(fused.model[0], 7);
    EXPECT_NE(fused.model[1], 7);
    EXPECT_EQ(fused.model[2], 7);
    EXPECT_EQ(fused.model[3], 7);
}

TEST(UpdateFuser, AddsTheNoiseOfTheLinksToRotatedCoordinates)
{
    constexpr std::size_t DIMENSION = 40000;
    Fusion fusion;
    fusion.SetNoise(MakeFixed("0.5"));
    fusion.rules.rotation = PublicRotation(1, 1);
    fusion.model.assign(DIMENSION, 7);
    fusion.Add(0, std::vector<float>(PublicRotation::GetRotatedSize(DIMENSION)));
    const FusedModel fused = fusion.Fuse();
    ASSERT_EQ(fused.model.size(), DIMENSION);
    double squares = 0;
    for (const float value : fused.model)
    {
        squares += (double{value} - 7) * (double{value} - 7);
    }
    // Rotation keeps the variance. 5 standard errors happen once in 10^6.
    EXPECT_NEAR(squares / DIMENSION, 0.25, 5 * 0.25 * std::sqrt(2.0 / DIMENSION));
}

TEST(UpdateFuser, SkipsTheRoundIfRotatedUpdatesOverflowTheModelOrAreTooFew)
{
    const float most = std::numeric_limits<float>::max();
    for (const float update : {most / 4, most})
    {
        Fusion fusion;
        fusion.rules.rotation = PublicRotation(1, 1);
        fusion.model = {most / 2, 0, 0}; // rotated to four
        fusion.Add(0, {update, update, update, update});
        const FusedModel fused = fusion.Fuse();
        EXPECT_EQ(fused.overflowed, update == most) << update;
        EXPECT_EQ(fused.skipped, update == most);
        EXPECT_EQ(fused.model.size(), update == most ? 0U : 3U);
        fusion.rules.minUpdates = 2;
        EXPECT_TRUE(fusion.Fuse().skipped);
        EXPECT_FALSE(fusion.Fuse().overflowed);
    }
}

TEST(UpdateFuser, DecodesReceivedRangesAsTheQuantizerDoesAndNoOthers)
{
    constexpr std::size_t DIMENSION = 3000; // more than a block
    const std::vector<IntervalRange> intervals{{0, 1000, -1, 2}, {1000, DIMENSION, -0.5F, 0.25F}};
    const std::vector<CoordinateRange> ranges{{0, 80}, {960, 2000}, {2960, DIMENSION}};

    struct Case
    {
        Ptr<Quantizer> quantizer;
        unsigned bits;
    };

    const std::vector<Case> cases{
        {CreateObject<DpStochasticQuantizer>(), 1},
        {CreateObject<DpStochasticQuantizer>(), 3},
        {CreateObject<DpStochasticQuantizer>(), 16},
        {CreateObjectWithAttributes<OptimalDpQuantizer>("Epsilon", DoubleValue(4)), 6},
        {CreateObjectWithAttributes<RandomizedResponseQuantizer>("Decoder", StringValue("gain:2")),
         1},
        {CreateObject<IdentityQuantizer>(), 4},
    };
    for (const Case& one : cases)
    {
        SCOPED_TRACE(testing::Message() << one.quantizer->GetInstanceTypeId() << one.bits);
        FederatedRandom random(9);
        std::vector<float> values(DIMENSION);
        for (float& value : values)
        {
            value = static_cast<float>(random.Uniform() - 0.5);
        }
        std::vector<uint8_t> payload(one.quantizer->GetPayloadSize(DIMENSION, one.bits));
        ASSERT_TRUE(
            one.quantizer->Encode(values.data(), intervals, one.bits, random, payload.data()));
        const float untouched = 99;
        std::vector<float> expected(DIMENSION, untouched);
        PackedUpdate packed;
        packed.dimension = DIMENSION;
        packed.wireBits = one.quantizer->GetWireBits(one.bits);
        packed.payload = payload.data();
        packed.ranges = ranges;
        for (const CoordinateRange& range : ranges)
        {
            for (const IntervalRange& interval : intervals)
            {
                const std::size_t begin = std::max(range.begin, interval.begin);
                const std::size_t end = std::min(range.end, interval.end);
                if (begin < end)
                {
                    packed.intervals.push_back({begin, end, interval.low, interval.high});
                    one.quantizer->Decode(
                        payload.data(),
                        begin,
                        end - begin,
                        LevelGrid(interval.low, interval.high, one.bits, DIMENSION),
                        expected.data() + begin);
                }
            }
        }
        DeliveredUpdate update;
        ASSERT_TRUE(DescribeUpdate(packed, *one.quantizer, one.bits, update));
        std::vector<float> decoded(DIMENSION, untouched);
        DecodeUpdate(update, decoded.data());
        for (std::size_t i = 0; i < DIMENSION; ++i)
        {
            ASSERT_NEAR(decoded[i], expected[i], 1e-5) << i;
        }
        EXPECT_EQ(decoded[80], untouched);
        EXPECT_EQ(decoded[959], untouched);
        EXPECT_EQ(decoded[2000], untouched);
        EXPECT_NE(decoded[79], untouched);
        EXPECT_NE(decoded[DIMENSION - 1], untouched);
    }
}
