// SPDX-License-Identifier: GPL-2.0-only

#include "federation.h"

#include "ns3/boolean.h"
#include "ns3/federated-random.h"
#include "ns3/max-abs-interval.h"
#include "ns3/min-max-interval.h"
#include "ns3/no-link-noise.h"
#include "ns3/public-interleaving.h"
#include "ns3/unbiased-stochastic-quantizer.h"
#include "ns3/update-fuser.h"
#include "ns3/update-preparation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

using namespace ns3;
using namespace ns3::federated;

namespace
{

using Values = std::vector<float>;

/** @return which coordinate is sent at each place. */
std::vector<std::size_t>
GetOrder(const PublicInterleaving& interleaving, std::size_t dimension)
{
    std::vector<std::size_t> order(dimension);
    std::iota(order.begin(), order.end(), std::size_t{0});
    interleaving.Interleave(order);
    return order;
}

Values
MakeValues(std::size_t count, uint32_t seed = 1)
{
    FederatedRandom random(seed);
    Values values(count);
    for (float& value : values)
    {
        value = static_cast<float>(random.Uniform() - 0.5);
    }
    return values;
}

} // namespace

TEST(PublicInterleaving, IsAPermutationOfEveryDimension)
{
    const PublicInterleaving interleaving(5, 2);
    for (std::size_t d = 0; d <= 300; ++d)
    {
        auto order = GetOrder(interleaving, d);
        std::vector<std::size_t> own = order;
        interleaving.Restore(own);
        EXPECT_TRUE(std::is_sorted(own.begin(), own.end())) << d;
        std::sort(order.begin(), order.end());
        EXPECT_EQ(order, own) << d;
        std::vector<bool> marks(d);
        for (std::size_t i = 0; i < d; ++i)
        {
            marks[i] = i % 3 == 0;
        }
        const std::vector<bool> before = marks;
        interleaving.Interleave(marks);
        interleaving.Restore(marks);
        EXPECT_EQ(marks, before) << d;
    }
}

TEST(PublicInterleaving, BeginsElsewhereInEachRoundAndForEachSeed)
{
    const auto order = GetOrder(PublicInterleaving(5, 2), 159010);
    EXPECT_EQ(GetOrder(PublicInterleaving(5, 2), 159010), order) << "equal for all devices";
    EXPECT_NE(GetOrder(PublicInterleaving(5, 3), 159010)[0], order[0]);
    EXPECT_NE(GetOrder(PublicInterleaving(6, 2), 159010)[0], order[0]);
}

TEST(PublicInterleaving, HasAStrideThatIsNearNoFractionOfSmallNumbers)
{
    for (std::size_t d : {512, 1000, 7850, 8192, 61706, 159010, 262144, 3274634})
    {
        // |g/d - p/q| > 1/(8 q^2) for all q up to sqrt(d): no q steps lead back to nearby.
        const auto stride = static_cast<double>(PublicInterleaving::GetStride(d));
        const auto size = static_cast<double>(d);
        EXPECT_NEAR(stride / size, (std::sqrt(5) - 1) / 2, 17 / size);
        for (double q = 1; q * q <= size; ++q)
        {
            const double steps = q * stride / size;
            EXPECT_GT(std::abs(steps - std::round(steps)), 1 / (8 * q)) << d << ", " << q;
        }
    }
}

TEST(PublicInterleaving, LetsABurstTakeItsShareOfEveryLayer)
{
    // Of the MLP 784-200-10: weights and biases. Fragments of 4 and 2 bits, and ten of these.
    const std::vector<std::size_t> ends{156800, 157000, 159000, 159010};
    const auto order = GetOrder(PublicInterleaving(1, 1), ends.back());
    for (std::size_t length : {2700, 5400, 54000})
    {
        std::size_t begin = 0;
        for (std::size_t end : ends)
        {
            const auto isInside = [&](std::size_t k)
            {
                const std::size_t own = order[k % order.size()];
                return begin <= own && own < end;
            };
            const double share =
                static_cast<double>((end - begin) * length) / static_cast<double>(order.size());
            int count = 0;
            for (std::size_t k = 0; k < length; ++k)
            {
                count += isInside(k);
            }
            double largest = 0;
            for (std::size_t first = 0; first < order.size(); ++first) // bursts anywhere
            {
                largest = std::max(largest, std::abs(count - share));
                count += isInside(first + length);
                count -= isInside(first);
            }
            EXPECT_LT(largest, 4) << length << " of " << begin << " to " << end;
            begin = end;
        }
    }
}

TEST(PublicInterleaving, ChangesTheOrderAndNothingElse)
{
    const auto rule = CreateObject<MinMaxInterval>();
    const auto quantizer = CreateObject<IdentityQuantizer>();
    for (const bool isRotated : {false, true})
    {
        UpdateSettings settings{CLIP_L2, 2, PeekPointer(rule), PeekPointer(quantizer), 3, true};
        if (isRotated)
        {
            settings.rotation = PublicRotation(3, 4);
        }
        Values plain = MakeValues(1001);
        FederatedRandom coins(7);
        PreparedUpdate expected;
        PrepareUpdate(settings, {400, 1001}, coins, plain, expected);
        settings.interleaving = PublicInterleaving(3, 4);
        Values values = MakeValues(1001);
        PreparedUpdate result;
        PrepareUpdate(settings, {400, 1001}, coins, values, result);
        EXPECT_EQ(GetEncodedSize(settings, 1001), isRotated ? 1024U : 1001U);
        EXPECT_NEAR(result.clipFactor, expected.clipFactor, 1e-6) << "a norm, summed otherwise";
        ASSERT_EQ(result.intervals.size(), 1U);
        EXPECT_NEAR(result.intervals[0].low, expected.intervals[0].low, 1e-6);
        settings.interleaving->Restore(values);
        const Values recovered = RecoverUpdate(settings, result, 1001);
        settings.interleaving = std::nullopt;
        const Values own = RecoverUpdate(settings, expected, 1001);
        for (std::size_t i = 0; i < own.size(); ++i)
        {
            ASSERT_NEAR(values[i], plain[i], 1e-6);
            ASSERT_NEAR(recovered[i], own[i], 1e-6);
        }
    }
}

TEST(PublicInterleaving, RefusesIntervalsOfLayers)
{
    const auto rule = CreateObject<MaxAbsInterval>();
    const auto quantizer = CreateObject<UnbiasedStochasticQuantizer>();
    UpdateSettings settings{CLIP_L1, 2, PeekPointer(rule), PeekPointer(quantizer), 3, false};
    settings.interleaving = PublicInterleaving(1, 1);
    std::string error;
    EXPECT_TRUE(CheckUpdateSettings(settings, 10, error)) << error;
    rule->SetAttribute("PerLayer", BooleanValue(true));
    EXPECT_FALSE(CheckUpdateSettings(settings, 10, error));
    EXPECT_EQ(error,
              "ns3::MaxAbsInterval: PerLayer is set, but an interleaved update has no layers.");
    settings.interleaving = std::nullopt;
    EXPECT_TRUE(CheckUpdateSettings(settings, 10, error)) << error;
    EXPECT_TRUE(CheckInterleaving(nullptr, error)) << "a center may accept any interval";
}

TEST(PublicInterleaving, LostRangesOfAFusionAreLostCoordinatesOfAllLayers)
{
    constexpr std::size_t DIMENSION = 1000;
    const auto rule = CreateObject<MinMaxInterval>();
    const auto quantizer = CreateObject<IdentityQuantizer>();
    const auto fusionRule = CreateObject<UniformFusion>();
    const auto noise = CreateObject<NoLinkNoise>();
    const PublicInterleaving interleaving(8, 1);
    UpdateSettings settings{CLIP_NONE, 0, PeekPointer(rule), PeekPointer(quantizer), 4, false};
    settings.interleaving = interleaving;
    Values update = MakeValues(DIMENSION);
    FederatedRandom coins(1);
    PreparedUpdate prepared;
    PrepareUpdate(settings, {DIMENSION}, coins, update, prepared);
    FuserInput input;
    input.bits = 4;
    input.packed.dimension = DIMENSION;
    input.packed.wireBits = 32;
    input.packed.payload = prepared.payload.data();
    input.packed.intervals = prepared.intervals;
    input.packed.ranges = {{0, 300}, {500, DIMENSION}}; // a burst takes a fifth
    UpdateFuser::Rules rules;
    rules.quantizer = PeekPointer(quantizer);
    rules.fusionRule = PeekPointer(fusionRule);
    rules.noise = PeekPointer(noise);
    rules.interleaving = interleaving;
    const Values model = MakeValues(DIMENSION, 9);
    const FusedModel fused = UpdateFuser(rules).Fuse(model, {input}, 1);
    ASSERT_FALSE(fused.skipped);
    EXPECT_DOUBLE_EQ(fused.untouchedFraction, 0.2);
    std::vector<bool> isLost(DIMENSION);
    std::fill(isLost.begin() + 300, isLost.begin() + 500, true);
    interleaving.Restore(isLost);
    const Values sent = MakeValues(DIMENSION);
    for (std::size_t begin = 0; begin < DIMENSION; begin += 100)
    {
        const auto first = isLost.begin() + static_cast<std::ptrdiff_t>(begin);
        EXPECT_NEAR(static_cast<double>(std::count(first, first + 100, true)), 20, 3);
    }
    for (std::size_t i = 0; i < DIMENSION; ++i)
    {
        EXPECT_EQ(fused.model[i], isLost[i] ? model[i] : model[i] + sent[i]) << i;
    }
}

/** @ingroup federated-tests A federation whose updates are interleaved. */
class InterleavedFederation : public Federation
{
};

TEST_F(InterleavedFederation, LearnsExactlyTheSameFromFloatsIfNothingIsLost)
{
    Build(3);
    Run();
    const Values plain = center->GetModel();
    const uint32_t bytes = sent.at(0).bytes;
    for (const bool tcp : {false, true})
    {
        Build(3);
        SetForAll("Interleave", BooleanValue(true));
        if (tcp)
        {
            SetForAll("Protocol", TypeIdValue(TcpSocketFactory::GetTypeId()));
        }
        Run();
        EXPECT_EQ(center->GetModel(), plain);
        EXPECT_EQ(sent.at(0).bytes, bytes) << "it costs nothing on the wire";
        EXPECT_EQ(center->GetDropped(DROP_INVALID), 0U);
    }
}

TEST_F(InterleavedFederation, LearnsFromWhatWasReceivedIfFragmentsAreLost)
{
    for (const bool isRotated : {false, true})
    {
        Build(4);
        SetForAll("Interleave", BooleanValue(true));
        SetForAll("Rotation", BooleanValue(isRotated));
        SetForAll("FragmentSize", UintegerValue(200));
        for (uint32_t i = 0; i < 4; ++i)
        {
            const auto loss = CreateObject<RateErrorModel>();
            loss->SetUnit(RateErrorModel::ERROR_UNIT_PACKET);
            loss->SetRate(0.3);
            loss->AssignStreams(50 + i);
            SetLoss(GetCenterEnd(i), loss);
        }
        center->SetAttribute("Rounds", UintegerValue(10));
        Run();
        ASSERT_EQ(rounds.size(), 10U);
        EXPECT_GT(rounds.back().testAccuracy, rounds.front().testAccuracy);
        EXPECT_LT(rounds.back().receivedFragments, rounds.back().sentFragments);
        EXPECT_EQ(center->GetDropped(DROP_INVALID), 0U);
    }
}

TEST_F(InterleavedFederation, DropsAndCountsTheUpdatesOfDevicesThatDisagree)
{
    for (const bool expected : {false, true})
    {
        Build(2);
        center->SetAttribute("Interleave", BooleanValue(expected));
        apps[0]->SetAttribute("Interleave", BooleanValue(!expected));
        apps[1]->SetAttribute("Interleave", BooleanValue(expected));
        Run();
        ASSERT_EQ(rounds.size(), 3U);
        uint64_t fragments = 0;
        for (const auto& record : sent)
        {
            fragments += record.device == 0 ? record.fragments : 0;
        }
        EXPECT_GT(fragments, 0U);
        EXPECT_EQ(center->GetDropped(DROP_INVALID), fragments);
        for (const RoundRecord& record : rounds)
        {
            EXPECT_EQ(record.received, 1U);
            EXPECT_EQ(record.links.at(0).state, PARTICIPANT_LOST);
            EXPECT_EQ(record.links.at(1).state, PARTICIPANT_COMPLETE);
        }
    }
}

TEST_F(InterleavedFederation, RefusesIntervalsOfLayers)
{
    Build(2);
    SetForAll("Quantizer", PointerValue(CreateObject<UnbiasedStochasticQuantizer>()));
    SetForDevices("IntervalRule", StringValue("ns3::MaxAbsInterval[PerLayer=true]"));
    SetForAll("Interleave", BooleanValue(true));
    EXPECT_DEATH(Run(),
                 "device 0: ns3::MaxAbsInterval: PerLayer is set, but an interleaved update");
    center->SetAttribute("IntervalRule", StringValue("ns3::MaxAbsInterval[PerLayer=true]"));
    SetForDevices("IntervalRule", StringValue("ns3::MaxAbsInterval"));
    EXPECT_DEATH(Run(), "FusionCenter: ns3::MaxAbsInterval: PerLayer is set, but an interleaved");
}
