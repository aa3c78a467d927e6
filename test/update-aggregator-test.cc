// SPDX-License-Identifier: GPL-2.0-only

#include "federation.h"
#include "packed-test-update.h"

#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/effective-snr-fusion.h"
#include "ns3/mean-aggregator.h"
#include "ns3/median-aggregator.h"
#include "ns3/norm-bound-aggregator.h"
#include "ns3/object-factory.h"
#include "ns3/resolution-fusion.h"
#include "ns3/trimmed-mean-aggregator.h"
#include "ns3/update-aggregator.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <list>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace ns3
{

// What a script needs for an aggregator of its own.

/** The largest value of a coordinate, times Gain. */
class LargestAggregator : public UpdateAggregator
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("ns3::LargestAggregator")
                                .SetParent<UpdateAggregator>()
                                .AddConstructor<LargestAggregator>()
                                .AddAttribute("Gain",
                                              "Factor.",
                                              DoubleValue(1),
                                              MakeDoubleAccessor(&LargestAggregator::m_gain),
                                              MakeDoubleChecker<double>());
        return tid;
    }

  private:
    void DoAggregate(const AggregationBlock& block, float* aggregate, double* shares) const override
    {
        std::fill_n(shares, block.rows.size(), 0);
        for (std::size_t i = 0; i < block.count; ++i)
        {
            std::size_t best = 0;
            for (std::size_t row = 1; row < block.rows.size(); ++row)
            {
                best = block.rows[row].values[i] > block.rows[best].values[i] ? row : best;
            }
            aggregate[i] = static_cast<float>(m_gain) * block.rows[best].values[i];
            shares[best] += 1;
        }
    }

    double m_gain;
};

NS_OBJECT_ENSURE_REGISTERED(LargestAggregator);

/** The weighted mean by blocks, with norms if they are wanted; keeps what it was told last. */
class BlockwiseMean : public UpdateAggregator
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("ns3::TestBlockwiseMean").SetParent<UpdateAggregator>();
        return tid;
    }

    bool needsNorms = false;
    mutable AggregationBlock seen;

  private:
    void DoAggregate(const AggregationBlock& block, float* aggregate, double* shares) const override
    {
        seen = block;
        CreateObject<MeanAggregator>()->Aggregate(block, aggregate, shares);
    }

    bool DoNeedsNorms() const override
    {
        return needsNorms;
    }
};

} // namespace ns3

using namespace ns3;
using namespace ns3::federated;

namespace
{

const double INFINITE = std::numeric_limits<double>::infinity();

/** Updates of floats, each delivered as a whole. */
std::list<TestUpdate>
MakeFloats(const std::vector<std::vector<float>>& rows, double sigma2 = 0)
{
    FederatedRandom random(1);
    std::list<TestUpdate> updates;
    for (const std::vector<float>& row : rows)
    {
        auto& added =
            updates.emplace_back(static_cast<uint32_t>(updates.size()), 32, row.size(), random);
        added.update.exactDistortion = 1;
        added.update.cellDistortion = 1;
        for (std::size_t i = 0; i < row.size(); ++i)
        {
            WriteLittleEndianFloat(row[i], added.payload.data() + 4 * i);
            added.values[i] = row[i];
        }
        added.Deliver(0, row.size(), sigma2);
    }
    return updates;
}

/** What a fusion gives. */
struct Fused
{
    std::vector<float> model;
    FusionResult result;
};

Fused
Fuse(const UpdateAggregator& aggregator,
     const std::vector<DeliveredUpdate>& updates,
     std::size_t dimension,
     LossPolicy policy = LOSS_RENORMALIZE,
     const Ptr<FusionRule>& rule = CreateObject<UniformFusion>(),
     uint32_t round = 1)
{
    Fused fused{std::vector<float>(dimension), {}};
    fused.result =
        FuseUpdates(*rule, aggregator, policy, updates, {5, round}, fused.model.data(), dimension);
    return fused;
}

Ptr<UpdateAggregator>
MakeTrimmed(double fraction, bool weighted = true)
{
    return CreateObjectWithAttributes<TrimmedMeanAggregator>(
        "Fraction", DoubleValue(fraction), "Weighted", BooleanValue(weighted));
}

Ptr<UpdateAggregator>
MakeNormBound(double bound)
{
    return CreateObjectWithAttributes<NormBoundAggregator>("Bound", DoubleValue(bound));
}

/** A value and what it counts. */
using Vote = std::pair<double, double>;

/** The mean without `trim` values at each end, by sorting; equal values share what is cut. */
double
AverageBySorting(std::vector<Vote> votes, std::size_t trim)
{
    std::sort(votes.begin(), votes.end());
    double sum = 0;
    double weight = 0;
    for (std::size_t begin = 0; begin < votes.size();)
    {
        std::size_t end = begin;
        double group = 0;
        for (; end < votes.size() && votes[end].first == votes[begin].first; ++end)
        {
            group += votes[end].second;
        }
        const std::size_t from = std::max(begin, trim);
        const std::size_t to = std::min(end, votes.size() - trim);
        const double kept = from < to ? static_cast<double>(to - from) : 0;
        group *= kept / static_cast<double>(end - begin);
        sum += group * votes[begin].first;
        weight += group;
        begin = end;
    }
    return sum / weight;
}

/** What the reference below has to imitate. */
struct Case
{
    std::string name;
    Ptr<UpdateAggregator> aggregator;
    double fraction; // 0.5: median
    bool weighted;
};

/** Compare a fusion with one that sorts the values of each coordinate. */
void
ExpectSorted(const Case& one,
             const std::list<TestUpdate>& updates,
             std::size_t dimension,
             LossPolicy policy,
             const Ptr<FusionRule>& rule)
{
    const Fused fused = Fuse(*one.aggregator, GetUpdates(updates), dimension, policy, rule);
    // Values as they are decoded: levels of 2 and of 4 bits may be equal, or only nearly so.
    std::vector<std::vector<float>> decoded;
    for (const TestUpdate& each : updates)
    {
        DecodeUpdate(each.update, decoded.emplace_back(dimension).data());
    }
    std::size_t untouched = 0;
    for (std::size_t i = 0; i < dimension; ++i)
    {
        std::vector<UpdateQuality> qualities;
        std::vector<Vote> votes;
        std::size_t place = 0;
        bool touched = false;
        for (const TestUpdate& each : updates)
        {
            const float value = decoded[place++][i];
            std::size_t count = 0;
            bool isHere = false;
            for (const DeliveredRange& range : each.update.ranges)
            {
                count += range.end - range.begin;
                isHere = isHere || (range.begin <= i && i < range.end);
            }
            if (count == 0 || (policy == LOSS_DROP && count < dimension) ||
                (policy == LOSS_RENORMALIZE && !isHere))
            {
                continue;
            }
            touched = touched || isHere;
            qualities.push_back(
                {each.update.bits, each.update.exactDistortion, each.update.cellDistortion, 0});
            votes.emplace_back(isHere ? value : 0, 1);
        }
        if (!touched)
        {
            ++untouched;
            ASSERT_EQ(fused.model[i], 0) << i;
            continue;
        }
        std::vector<double> weights;
        rule->GetWeights(qualities, weights);
        for (std::size_t k = 0; one.weighted && k < votes.size(); ++k)
        {
            votes[k].second = weights[k];
        }
        const auto cut =
            static_cast<std::size_t>(std::floor(one.fraction * static_cast<double>(votes.size())));
        ASSERT_NEAR(
            fused.model[i], AverageBySorting(votes, std::min(cut, (votes.size() - 1) / 2)), 2e-6)
            << one.name << " of " << votes.size() << " at " << i;
    }
    EXPECT_EQ(fused.result.untouched, untouched);
}

} // namespace

TEST(UpdateAggregators, EqualAReferenceThatSortsUnderAnyLoss)
{
    const std::vector<Case> cases{
        {"median", CreateObject<MedianAggregator>(), 0.5, false},
        {"none trimmed", MakeTrimmed(0), 0, true},
        {"trimmed", MakeTrimmed(0.125), 0.125, true},
        {"trimmed, equal votes", MakeTrimmed(0.25, false), 0.25, false},
        {"trimmed to the middle", MakeTrimmed(0.5), 0.5, true},
    };
    const auto rule = CreateObject<ResolutionFusion>(); // 2 bits count a fifth of 4 bits
    FederatedRandom random(23);
    for (int trial = 0; trial < 24; ++trial)
    {
        const std::size_t dimension = 1 + random.Below(3000); // up to three blocks
        std::list<TestUpdate> updates;
        const std::size_t senders = 1 + random.Below(19);
        for (std::size_t i = 0; i < senders; ++i)
        {
            const unsigned bits[] = {2, 4, 32};
            auto& added = updates.emplace_back(
                static_cast<uint32_t>(i), bits[random.Below(3)], dimension, random);
            added.update.bits = added.update.wireBits == 32 ? 4 : added.update.wireBits;
            const std::size_t fragment = 1 + random.Below(900);
            const bool isLossless = random.Below(3) == 0;
            for (std::size_t begin = 0; begin < dimension; begin += fragment)
            {
                if (isLossless || random.Below(4) > 0)
                {
                    added.Deliver(begin, std::min(begin + fragment, dimension), 0);
                }
            }
        }
        for (const Case& one : cases)
        {
            for (const LossPolicy policy : {LOSS_RENORMALIZE, LOSS_ZERO, LOSS_DROP})
            {
                SCOPED_TRACE(testing::Message() << one.name << ", policy " << policy);
                ExpectSorted(one, updates, dimension, policy, rule);
            }
        }
    }
}

TEST(UpdateAggregators, TakeTheMiddleOfFewEvenAndEqualValues)
{
    struct Row
    {
        std::vector<float> values;
        float median;
        float trimmed; // by a quarter, equal votes
    };

    const float huge = std::numeric_limits<float>::max();
    const std::vector<Row> rows{
        {{7}, 7, 7},
        {{1, 2}, 1.5F, 1.5F},
        {{huge, huge}, huge, huge}, // whose sum is infinite
        {{3, 1, 2}, 2, 2},
        {{4, 1, 3, 2}, 2.5F, 2.5F},
        {{5, 5, 5, 5}, 5, 5},
        {{1, 1, 1, 9}, 1, 1},
        {{1, 1, 9, 9}, 5, 5},
        {{-0.0F, 0, 0}, 0, 0},
        {{huge, 1, -huge, 1}, 1, 1},
        {{1, 2, 3, 4, 5, 6, 7, 100}, 4.5F, 4.5F},
        {{-100, 2, 2, 2, 2, 6, 6, 100}, 2, 3},
    };
    for (const Row& row : rows)
    {
        SCOPED_TRACE(testing::PrintToString(row.values));
        std::vector<std::vector<float>> each;
        for (const float value : row.values)
        {
            each.push_back({value});
        }
        const auto updates = MakeFloats(each);
        EXPECT_EQ(Fuse(*CreateObject<MedianAggregator>(), GetUpdates(updates), 1).model[0],
                  row.median);
        EXPECT_FLOAT_EQ(Fuse(*MakeTrimmed(0.25, false), GetUpdates(updates), 1).model[0],
                        row.trimmed);
    }
}

TEST(UpdateAggregators, KeepOneExtremeUpdateInTheRangeOfTheOthers)
{
    constexpr std::size_t DIMENSION = 1500;
    for (const float extreme : {1e3F, -3e38F, 3e38F})
    {
        std::vector<std::vector<float>> rows(10, std::vector<float>(DIMENSION, extreme));
        std::vector<float> low(DIMENSION, 1);
        std::vector<float> high(DIMENSION, -1);
        FederatedRandom random(31);
        for (std::size_t row = 1; row < rows.size(); ++row)
        {
            for (std::size_t i = 0; i < DIMENSION; ++i)
            {
                rows[row][i] = static_cast<float>(random.Uniform() - 0.5);
                low[i] = std::min(low[i], rows[row][i]);
                high[i] = std::max(high[i], rows[row][i]);
            }
        }
        const auto updates = MakeFloats(rows);
        for (const auto& aggregator : std::vector<Ptr<UpdateAggregator>>{
                 CreateObject<MedianAggregator>(), MakeTrimmed(0.1), MakeTrimmed(0.1, false)})
        {
            const Fused fused = Fuse(*aggregator, GetUpdates(updates), DIMENSION);
            for (std::size_t i = 0; i < DIMENSION; ++i)
            {
                ASSERT_GE(fused.model[i], low[i]) << i;
                ASSERT_LE(fused.model[i], high[i]) << i;
            }
            EXPECT_EQ(fused.result.meanWeights[0], 0) << "it was never kept";
        }
        const Fused mean = Fuse(*CreateObject<MeanAggregator>(), GetUpdates(updates), DIMENSION);
        EXPECT_GT(std::abs(mean.model[0]), std::abs(extreme) / 20) << "which the mean follows";
        // Nine honest updates of norm sqrt(1500/12) = 11 are not scaled to 100; the other one is.
        const Fused bounded = Fuse(*MakeNormBound(100), GetUpdates(updates), DIMENSION);
        EXPECT_NEAR(bounded.result.meanWeights[1], 0.1, 1e-12);
        for (std::size_t i = 0; i < DIMENSION; ++i)
        {
            ASSERT_LE(std::abs(bounded.model[i]), 0.5 + 0.1 * 100 / std::sqrt(DIMENSION)) << i;
        }
    }
}

TEST(UpdateAggregators, OneThatClaimsToHaveNoErrorDoesNotDecideAlone)
{
    auto updates = MakeFloats({{99, 2}, {1, 1}, {2, 2}, {3, 3}});
    updates.front().update.exactDistortion = 0; // all the weight of the fusion rule
    const auto rule =
        CreateObjectWithAttributes<EffectiveSnrFusion>("Distortion", StringValue("exact"));
    const auto fuse = [&](const Ptr<UpdateAggregator>& aggregator)
    { return Fuse(*aggregator, GetUpdates(updates), 2, LOSS_RENORMALIZE, rule).model; };
    EXPECT_EQ(fuse(CreateObject<MeanAggregator>()), (std::vector<float>{99, 2}));
    EXPECT_EQ(fuse(CreateObject<MedianAggregator>()), (std::vector<float>{2.5F, 2}));
    const std::vector<float> trimmed = fuse(MakeTrimmed(0.25));
    EXPECT_FLOAT_EQ(trimmed[0], 2.5F) << "the others count where it is left out";
    EXPECT_NEAR(trimmed[1], 2, 1e-6);
    const std::vector<float> equal = fuse(MakeTrimmed(0.25, false));
    EXPECT_FLOAT_EQ(equal[0], 2.5F);
}

TEST(UpdateAggregators, LeaveOutUpdatesOfInfiniteNoise)
{
    auto updates = MakeFloats({{9}, {1}, {2}, {4}});
    updates.front().update.ranges[0].sigma2 = INFINITE;
    EXPECT_EQ(Fuse(*CreateObject<MedianAggregator>(), GetUpdates(updates), 1).model[0], 2);
    EXPECT_EQ(Fuse(*CreateObject<MedianAggregator>(), GetUpdates(updates), 1, LOSS_ZERO).model[0],
              2);
    for (TestUpdate& each : updates)
    {
        each.update.ranges[0].sigma2 = INFINITE;
    }
    for (const auto& aggregator : std::vector<Ptr<UpdateAggregator>>{
             CreateObject<MedianAggregator>(), MakeTrimmed(0.2), MakeNormBound(1)})
    {
        const Fused fused = Fuse(*aggregator, GetUpdates(updates), 1);
        EXPECT_EQ(fused.model[0], 0);
        EXPECT_EQ(fused.result.untouched, 1U);
    }
}

TEST(UpdateAggregators, CountMissingCoordinatesAsZeroVotesIfThePolicySaysSo)
{
    auto updates = MakeFloats({{8, 8}, {4, 4}, {6, 6}});
    updates.front().update.ranges[0].end = 1;
    updates.back().update.ranges[0].end = 1;
    const auto median = CreateObject<MedianAggregator>();
    EXPECT_EQ(Fuse(*median, GetUpdates(updates), 2).model, (std::vector<float>{6, 4}));
    const Fused zero = Fuse(*median, GetUpdates(updates), 2, LOSS_ZERO);
    EXPECT_EQ(zero.model, (std::vector<float>{6, 0}));
    EXPECT_EQ(zero.result.meanWeights, (std::vector<double>{0, 0, 0.5})) << "zeros are nobody's";
    EXPECT_EQ(zero.result.segments.back().contributors, 1U);
    EXPECT_EQ(Fuse(*median, GetUpdates(updates), 2, LOSS_DROP).model, (std::vector<float>{4, 4}));
}

TEST(UpdateAggregators, ReportTheShareOfEachUpdateInTheResult)
{
    const auto updates = MakeFloats({{1, 1, 1}, {2, 1, 5}, {3, 1, 5}, {4, 9, 9}});
    const Fused median = Fuse(*CreateObject<MedianAggregator>(), GetUpdates(updates), 3);
    EXPECT_EQ(median.model, (std::vector<float>{2.5F, 1, 5}));
    // Halves of the first, a third of the second, halves of the third coordinate.
    const std::vector<double> shares{1.0 / 3, 0.5 + 1.0 / 3 + 0.5, 0.5 + 1.0 / 3 + 0.5, 0};
    for (std::size_t i = 0; i < shares.size(); ++i)
    {
        EXPECT_NEAR(median.result.meanWeights[i], shares[i] / 3, 1e-6) << i;
    }
    const Fused trimmed = Fuse(*MakeTrimmed(0.25), GetUpdates(updates), 3);
    for (std::size_t i = 0; i < shares.size(); ++i)
    {
        EXPECT_NEAR(trimmed.result.meanWeights[i], shares[i] / 3, 1e-6) << i;
    }
}

TEST(UpdateAggregators, ScaleLongUpdatesToTheBoundWhateverPartOfThemWasDelivered)
{
    // Norms 10, 1 and 0.
    auto updates = MakeFloats({{5, 5, -5, 5}, {0.5F, 0.5F, 0.5F, 0.5F}, {0, 0, 0, 0}});
    Fused fused = Fuse(*MakeNormBound(2), GetUpdates(updates), 4);
    EXPECT_FLOAT_EQ(fused.model[0], (1 + 0.5F) / 3);
    EXPECT_FLOAT_EQ(fused.model[2], (-1 + 0.5F) / 3);
    EXPECT_NEAR(fused.result.meanWeights[0], 0.2 / 3, 1e-12);
    EXPECT_NEAR(fused.result.meanWeights[1], 1.0 / 3, 1e-12);
    EXPECT_NEAR(fused.result.meanWeights[2], 1.0 / 3, 1e-12);
    fused = Fuse(*MakeNormBound(10), GetUpdates(updates), 4);
    EXPECT_FLOAT_EQ(fused.model[0], 5.5F / 3) << "nothing is longer";

    // A quarter of the first one has the norm 5, which is bounded by 2 sqrt(1/4).
    updates.front().update.ranges[0].begin = 3;
    updates.front().update.ranges[0].first = 3;
    fused = Fuse(*MakeNormBound(2), GetUpdates(updates), 4);
    EXPECT_FLOAT_EQ(fused.model[0], 0.5F / 2);
    EXPECT_FLOAT_EQ(fused.model[3], (1 + 0.5F) / 3) << "as if all of it had been delivered";
}

TEST(UpdateAggregators, MeasureTheNormOfLevelsInTheirIntervals)
{
    FederatedRandom random(41);
    constexpr std::size_t DIMENSION = 4000;
    std::list<TestUpdate> updates;
    for (const unsigned bits : {2U, 4U, 32U})
    {
        auto& added = updates.emplace_back(bits, bits, DIMENSION, random);
        added.Deliver(0, 1000, 0);
        added.Deliver(1300, 3600, 0);
    }
    const auto aggregator = CreateObject<BlockwiseMean>();
    Fuse(*aggregator, GetUpdates(updates), DIMENSION);
    ASSERT_EQ(aggregator->seen.rows.size(), 3U);
    EXPECT_TRUE(std::isnan(aggregator->seen.rows[0].norm)) << "nobody needed it";
    aggregator->needsNorms = true;
    Fuse(*aggregator, GetUpdates(updates), DIMENSION);
    std::size_t row = 0;
    for (const TestUpdate& each : updates)
    {
        double squares = 0;
        for (std::size_t i = 0; i < 3600; ++i)
        {
            squares += i < 1000 || i >= 1300 ? each.values[i] * each.values[i] : 0;
        }
        const AggregationRow& seen = aggregator->seen.rows[row++];
        EXPECT_NEAR(seen.norm / std::sqrt(squares * 4000 / 3300), 1, 1e-6);
        EXPECT_EQ(seen.device, each.update.device);
        EXPECT_DOUBLE_EQ(seen.deliveredFraction, 3300.0 / 4000);
        EXPECT_TRUE(seen.isDelivered);
        EXPECT_NEAR(seen.weight, 1.0 / 3, 1e-12);
    }
}

TEST(UpdateAggregators, LeaveTheMeanAsItIsBitForBit)
{
    FederatedRandom random(43);
    constexpr std::size_t DIMENSION = 5000;
    std::list<TestUpdate> updates;
    for (uint32_t device = 0; device < 7; ++device)
    {
        const unsigned bits = device % 3 == 0 ? 2 : device % 3 == 1 ? 4 : 32;
        auto& added = updates.emplace_back(device, bits, DIMENSION, random);
        added.Deliver(std::size_t{100} * device, 2000, 0.1 * device);
        added.Deliver(2000, DIMENSION - std::size_t{50} * device, 0.2);
    }
    const auto rule = CreateObject<EffectiveSnrFusion>();
    for (const LossPolicy policy : {LOSS_RENORMALIZE, LOSS_ZERO, LOSS_DROP})
    {
        std::vector<float> plain(DIMENSION);
        const FusionResult result =
            FuseUpdates(*rule, policy, GetUpdates(updates), plain.data(), DIMENSION);
        const Fused fused =
            Fuse(*CreateObject<MeanAggregator>(), GetUpdates(updates), DIMENSION, policy, rule);
        EXPECT_EQ(fused.model, plain);
        EXPECT_EQ(fused.result.meanWeights, result.meanWeights);
        EXPECT_EQ(fused.result.untouched, result.untouched);
        ASSERT_EQ(fused.result.segments.size(), result.segments.size());
        for (std::size_t i = 0; i < result.segments.size(); ++i)
        {
            EXPECT_EQ(fused.result.segments[i].noiseVariance, result.segments[i].noiseVariance);
        }

        // By blocks it is the same up to rounding, without the noise.
        std::list<TestUpdate> silent = updates;
        for (TestUpdate& each : silent)
        {
            each.update.ranges.clear();
            each.Deliver(std::size_t{100} * each.update.device, DIMENSION, 0);
        }
        plain.assign(DIMENSION, 0);
        FuseUpdates(*rule, policy, GetUpdates(silent), plain.data(), DIMENSION);
        const Fused blocks =
            Fuse(*CreateObject<BlockwiseMean>(), GetUpdates(silent), DIMENSION, policy, rule);
        for (std::size_t i = 0; i < DIMENSION; ++i)
        {
            ASSERT_NEAR(blocks.model[i], plain[i], 2e-6) << i;
        }
    }
}

TEST(UpdateAggregators, DrawLinkNoiseForEachUpdate)
{
    // The median of three standard normal values has the variance 1 - sqrt(3)/pi, their mean 1/3,
    // that of the middle two of four is above 1/4. The mean square deviates by about
    // sqrt(2/d) of itself; 5 of these happen once in 10^6.
    constexpr std::size_t DIMENSION = 40000;
    const std::vector<float> zeros(DIMENSION);
    const auto updates = MakeFloats({zeros, zeros, zeros}, 4);
    const auto getMeanSquare = [&](const UpdateAggregator& aggregator)
    {
        double sum = 0;
        const Fused fused = Fuse(aggregator, GetUpdates(updates), DIMENSION);
        for (const float value : fused.model)
        {
            sum += double{value} * value;
        }
        for (const FusionSegment& segment : fused.result.segments)
        {
            EXPECT_EQ(segment.noiseVariance, 0) << "it must not be added again";
        }
        return sum / DIMENSION;
    };
    const double error = 5 * std::sqrt(2.0 / DIMENSION);
    const double median = 4 * (1 - std::sqrt(3.0) / std::acos(-1.0));
    EXPECT_NEAR(getMeanSquare(*CreateObject<MedianAggregator>()) / median, 1, error);
    EXPECT_NEAR(getMeanSquare(*MakeTrimmed(0.1)) / (4.0 / 3), 1, error);
    // Norms of about 2 sqrt(d) are scaled to a hundredth of that.
    const double bound = 0.02 * std::sqrt(DIMENSION);
    EXPECT_NEAR(getMeanSquare(*MakeNormBound(bound)) / (4e-4 / 3), 1, error);
}

TEST(UpdateAggregators, NoiseOfACoordinateDependsOnDeviceRoundAndCoordinateOnly)
{
    constexpr std::size_t DIMENSION = 3000;
    auto updates = MakeFloats({std::vector<float>(DIMENSION), std::vector<float>(DIMENSION)}, 1);
    const auto median = CreateObject<MedianAggregator>();
    const auto all = GetUpdates(updates);
    const std::vector<float> first = Fuse(*median, {all[0]}, DIMENSION).model;
    const std::vector<float> second = Fuse(*median, {all[1]}, DIMENSION).model;
    EXPECT_EQ(Fuse(*median, {all[0]}, DIMENSION).model, first);
    EXPECT_NE(second, first);
    EXPECT_NE(Fuse(*median, {all[0]}, DIMENSION, LOSS_RENORMALIZE, CreateObject<UniformFusion>(), 2)
                  .model,
              first);
    TestUpdate& part = updates.front();
    part.update.ranges.clear();
    part.Deliver(7, 1100, 1);
    part.Deliver(2000, 2500, 1);
    const std::vector<float> model = Fuse(*median, {part.update}, DIMENSION).model;
    for (std::size_t i = 0; i < DIMENSION; ++i)
    {
        const bool isDelivered = (i >= 7 && i < 1100) || (i >= 2000 && i < 2500);
        ASSERT_EQ(model[i], isDelivered ? first[i] : 0) << i;
    }
}

TEST(UpdateAggregators, DoNotDependOnTheOrderOfArrival)
{
    FederatedRandom random(47);
    constexpr std::size_t DIMENSION = 4321;
    std::list<TestUpdate> updates;
    for (const uint32_t device : {5U, 1U, 9U, 3U})
    {
        auto& added = updates.emplace_back(device, 3, DIMENSION, random);
        added.Deliver(std::size_t{100} * device, DIMENSION, 0.1 * device);
    }
    auto arrived = GetUpdates(updates);
    for (const auto& aggregator : std::vector<Ptr<UpdateAggregator>>{
             CreateObject<MedianAggregator>(), MakeTrimmed(0.3), MakeNormBound(1)})
    {
        const auto rule = CreateObject<EffectiveSnrFusion>();
        const Fused one = Fuse(*aggregator, arrived, DIMENSION, LOSS_RENORMALIZE, rule);
        std::reverse(arrived.begin(), arrived.end());
        Fused other = Fuse(*aggregator, arrived, DIMENSION, LOSS_RENORMALIZE, rule);
        EXPECT_EQ(one.model, other.model);
        std::reverse(other.result.meanWeights.begin(), other.result.meanWeights.end());
        EXPECT_EQ(one.result.meanWeights, other.result.meanWeights);
    }
}

TEST(UpdateAggregators, RefuseValuesOutOfRange)
{
    const auto trimmed = CreateObject<TrimmedMeanAggregator>();
    for (const double fraction : {-0.1, 0.51, 1.0})
    {
        EXPECT_FALSE(trimmed->SetAttributeFailSafe("Fraction", DoubleValue(fraction)));
    }
    const auto bound = CreateObject<NormBoundAggregator>();
    for (const double wrong : {-1.0, 0.0, 1e10})
    {
        EXPECT_FALSE(bound->SetAttributeFailSafe("Bound", DoubleValue(wrong)));
    }
}

using RobustFederation = Federation;

TEST_F(RobustFederation, LearnsTheSameBytesForAnyNumberOfThreads)
{
    for (const char* name : {"ns3::MedianAggregator",
                             "ns3::TrimmedMeanAggregator[Fraction=0.2]",
                             "ns3::NormBoundAggregator[Bound=0.01]"})
    {
        std::vector<std::vector<float>> models;
        for (const uint32_t threads : {1U, 1U, 3U})
        {
            Build(5);
            task->SetAttribute("Threads", UintegerValue(threads));
            center->SetAttribute("LinkNoise", StringValue("ns3::FixedLinkNoise[Sigmas=0.01]"));
            if (!models.empty()) // the first is the mean
            {
                center->SetAttribute("Aggregator", StringValue(name));
            }
            Run();
            ASSERT_EQ(rounds.size(), 3U);
            EXPECT_EQ(rounds.back().received, 5U);
            models.push_back(center->GetModel());
        }
        EXPECT_EQ(models[1], models[2]) << name;
        EXPECT_NE(models[0], models[1]) << name;
    }
}

TEST_F(RobustFederation, UsesAScriptsOwnAggregatorByItsName)
{
    Build(3);
    center->SetAttribute("Rounds", UintegerValue(1));
    center->SetAttribute("Aggregator", StringValue("ns3::LargestAggregator[Gain=0]"));
    Run();
    const std::vector<float> start = center->GetModel(); // nothing was added to it
    Build(3);
    center->SetAttribute("Rounds", UintegerValue(1));
    center->SetAttribute("Aggregator", StringValue("ns3::LargestAggregator"));
    Run();
    const std::vector<float> largest = center->GetModel();
    Build(3);
    center->SetAttribute("Rounds", UintegerValue(1));
    Run();
    const std::vector<float>& mean = center->GetModel();
    ASSERT_EQ(rounds.size(), 1U);
    double gain = 0;
    for (std::size_t i = 0; i < mean.size(); ++i)
    {
        ASSERT_GE(largest[i] - start[i], mean[i] - start[i] - 1e-6F) << i;
        gain += largest[i] - mean[i];
    }
    EXPECT_GT(gain, 0);
}

TEST_F(RobustFederation, RecordsTheSharesOfTheUpdatesAsWeights)
{
    Build(4);
    center->SetAttribute("Aggregator", StringValue("ns3::MedianAggregator"));
    Run();
    for (const RoundRecord& round : rounds)
    {
        double sum = 0;
        for (const LinkRecord& link : round.links)
        {
            EXPECT_GT(link.weight, 0);
            sum += link.weight;
        }
        EXPECT_NEAR(sum, 1, 1e-5);
    }
}

using RobustFederationDeathTest = Federation;

TEST_F(RobustFederationDeathTest, RefusesWhatIsNoAggregatorWithASentence)
{
    Build(2);
    EXPECT_DEATH(center->SetAttribute("Aggregator", StringValue("ns3::UniformFusion")),
                 "'ns3::UniformFusion' cannot be used as ns3::UpdateAggregator");
    EXPECT_DEATH(
        center->SetAttribute("Aggregator", StringValue("ns3::TrimmedMeanAggregator[Fraction=0.6]")),
        "'ns3::TrimmedMeanAggregator.Fraction=0.6.' cannot be used");
}
