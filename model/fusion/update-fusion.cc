// SPDX-License-Identifier: GPL-2.0-only

#include "update-fusion.h"

#include "segment-aggregation.h"
#include "update-aggregator.h"
#include "update-share.h"

#include "ns3/abort.h"
#include "ns3/bit-packer.h"
#include "ns3/little-endian.h"
#include "ns3/quantizer.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace ns3
{

using federated::SegmentAggregation;
using federated::SegmentRow;
using federated::UpdateShare;

namespace
{

constexpr std::size_t BLOCK = UpdateShare::BLOCK;

/** Iterates over the ranges and intervals of one update, segment by segment. */
struct Cursor
{
    const DeliveredUpdate* update; //!< The update.
    std::size_t index;             //!< Its place among the updates given.
    std::size_t range = 0;         //!< First range that ends after the current coordinate.
    std::size_t interval = 0;      //!< Likewise the interval.
    double meanSigma2 = 0;         //!< Mean noise variance of the delivered coordinates.
    double deliveredFraction = 1;  //!< Delivered coordinates, over d.

    /**
     * @param begin First coordinate of a segment.
     * @return the range that delivered the segment, or nullptr.
     */
    const DeliveredRange* Advance(std::size_t begin)
    {
        const auto& ranges = update->ranges;
        while (range < ranges.size() && ranges[range].end <= begin)
        {
            ++range;
        }
        const auto& intervals = update->intervals;
        while (interval + 1 < intervals.size() && intervals[interval].end <= begin)
        {
            ++interval;
        }
        return range < ranges.size() && ranges[range].begin <= begin ? &ranges[range] : nullptr;
    }
};

/** Abort if the levels of an update cannot be decoded. */
void
CheckLevels(const DeliveredUpdate& update)
{
    NS_ABORT_MSG_IF(update.intervals.empty() && update.wireBits != Quantizer::FLOAT_BITS,
                    "FuseUpdates: device " << update.device << " has levels without an interval");
    NS_ABORT_MSG_IF(
        !update.positions.empty() && update.positions.size() != std::size_t{1} << update.wireBits,
        "FuseUpdates: device " << update.device << " has " << update.positions.size()
                               << " positions of levels with " << update.wireBits << " bits");
}

/**
 * @return all coordinates at which the set of deliverers, their noise or an interval may change.
 */
std::vector<std::size_t>
GetCuts(const std::vector<Cursor>& cursors, std::size_t dimension)
{
    std::vector<std::size_t> cuts{0, dimension};
    for (const auto& cursor : cursors)
    {
        CheckLevels(*cursor.update);
        std::size_t last = 0;
        for (const auto& range : cursor.update->ranges)
        {
            NS_ABORT_MSG_IF(range.begin < last || range.begin >= range.end || range.end > dimension,
                            "FuseUpdates: coordinates " << range.begin << " to " << range.end
                                                        << " of device " << cursor.update->device
                                                        << " overlap others or leave the model");
            last = range.end;
            cuts.push_back(range.begin);
            cuts.push_back(range.end);
        }
        for (const auto& interval : cursor.update->intervals)
        {
            cuts.push_back(std::min(interval.end, dimension));
        }
    }
    std::sort(cuts.begin(), cuts.end());
    cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
    return cuts;
}

/** @return how many coordinates were delivered. */
std::size_t
CountDelivered(const DeliveredUpdate& update)
{
    return std::accumulate(update.ranges.begin(),
                           update.ranges.end(),
                           std::size_t{0},
                           [](std::size_t sum, const auto& r) { return sum + r.end - r.begin; });
}

/** @return the mean noise variance of the delivered part, also assumed for the missing part. */
double
GetMeanSigma2(const DeliveredUpdate& update)
{
    double sum = 0;
    double coordinates = 0;
    for (const auto& range : update.ranges)
    {
        const auto count = static_cast<double>(range.end - range.begin);
        sum += count * range.sigma2;
        coordinates += count;
    }
    return coordinates > 0 ? sum / coordinates : 0;
}

/** @return the updates that count under a policy, in ascending order of their devices. */
std::vector<Cursor>
GetCursors(LossPolicy policy, const std::vector<DeliveredUpdate>& updates, std::size_t dimension)
{
    std::vector<Cursor> cursors;
    for (std::size_t index = 0; index < updates.size(); ++index)
    {
        const DeliveredUpdate& update = updates[index];
        const std::size_t delivered = CountDelivered(update);
        if (policy == LOSS_DROP ? delivered == dimension : !update.ranges.empty())
        {
            const double fraction = static_cast<double>(delivered) / static_cast<double>(dimension);
            cursors.push_back({&update, index, 0, 0, GetMeanSigma2(update), fraction});
        }
    }
    std::sort(cursors.begin(),
              cursors.end(),
              [](const Cursor& a, const Cursor& b) { return a.update->device < b.update->device; });
    return cursors;
}

/** An update that counts in a segment, delivered or not. */
struct Candidate
{
    const Cursor* cursor;        //!< The update.
    const DeliveredRange* range; //!< The range that delivered the segment; nullptr: a missing one
                                 //!< that counts as zeros.
    bool isUsable;               //!< Whether the rule counts it.
    double weight;               //!< omega.
};

/**
 * @param cursors The updates; they are advanced to the segment.
 * @param begin First coordinate of the segment.
 * @return the updates that count in the segment.
 */
std::vector<Candidate>
GetCandidates(const FusionRule& rule,
              LossPolicy policy,
              std::vector<Cursor>& cursors,
              std::size_t begin)
{
    std::vector<UpdateQuality> qualities;
    std::vector<Candidate> candidates;
    for (Cursor& cursor : cursors)
    {
        const DeliveredUpdate& update = *cursor.update;
        const DeliveredRange* range = cursor.Advance(begin);
        if (range || policy == LOSS_ZERO)
        {
            candidates.push_back({&cursor, range, false, 0});
            qualities.push_back({update.bits,
                                 update.exactDistortion,
                                 update.cellDistortion,
                                 range ? range->sigma2 : cursor.meanSigma2,
                                 update.device,
                                 update.samples,
                                 cursor.deliveredFraction});
        }
    }
    std::vector<double> weights;
    rule.GetWeights(qualities, weights);
    for (std::size_t i = 0; i < candidates.size(); ++i)
    {
        candidates[i].isUsable = weights[i] > 0 || rule.IsUsable(qualities[i]);
        candidates[i].weight = weights[i];
    }
    return candidates;
}

/**
 * @param candidate An update that delivered a segment.
 * @param begin First coordinate of the segment.
 * @param weight omega.
 * @return what the update adds to the segment.
 */
UpdateShare
MakeShare(const Candidate& candidate, std::size_t begin, double weight)
{
    const Cursor& cursor = *candidate.cursor;
    return federated::MakeShare(
        *cursor.update, cursor.index, cursor.interval, *candidate.range, begin, weight);
}

/** @return what each update that delivered a segment and has a weight adds to it. */
std::vector<UpdateShare>
GetShares(const std::vector<Candidate>& candidates, std::size_t begin)
{
    std::vector<UpdateShare> shares;
    for (const Candidate& candidate : candidates)
    {
        if (candidate.range && candidate.weight > 0)
        {
            shares.push_back(MakeShare(candidate, begin, candidate.weight));
        }
    }
    return shares;
}

/** @return the updates of a segment for an aggregator; none if nobody delivered it. */
std::vector<SegmentRow>
GetRows(const std::vector<Candidate>& candidates, std::size_t begin)
{
    std::vector<SegmentRow> rows;
    bool isDelivered = false;
    for (const Candidate& candidate : candidates)
    {
        if (candidate.isUsable)
        {
            const Cursor& cursor = *candidate.cursor;
            rows.push_back(
                {cursor.index, candidate.weight, cursor.deliveredFraction, std::nullopt});
            if (candidate.range)
            {
                rows.back().share = MakeShare(candidate, begin, 1);
                isDelivered = true;
            }
        }
    }
    return isDelivered ? rows : std::vector<SegmentRow>();
}

/** Add the shares of a segment to the model, block by block. */
void
AddShares(const std::vector<UpdateShare>& shares, std::size_t begin, std::size_t end, float* model)
{
    float offset = 0;
    for (const UpdateShare& share : shares)
    {
        offset += share.offset;
    }
    for (std::size_t done = begin; done < end;)
    {
        const std::size_t count = std::min(end - done, BLOCK);
        float sums[BLOCK];
        std::fill_n(sums, count, offset);
        for (const UpdateShare& share : shares)
        {
            share.AddTo(done - begin, count, sums);
        }
        for (std::size_t i = 0; i < count; ++i)
        {
            model[done + i] += sums[i];
        }
        done += count;
    }
}

} // namespace

bool
DescribeUpdate(const PackedUpdate& packed,
               const Quantizer& quantizer,
               unsigned bits,
               DeliveredUpdate& update)
{
    const bool isFloats = packed.wireBits == Quantizer::FLOAT_BITS;
    if (!quantizer.Supports(bits) || quantizer.GetWireBits(bits) != packed.wireBits ||
        (packed.intervals.empty() && !isFloats))
    {
        return false;
    }
    update.bits = bits;
    update.wireBits = packed.wireBits;
    update.positions = quantizer.GetLevelPositions(bits);
    update.exactDistortion = packed.distortion;
    update.intervals.clear();
    update.ranges.clear();
    double cellSum = 0;
    std::size_t covered = 0;
    const IntervalRange* previous = nullptr;
    for (const IntervalRange& interval : packed.intervals)
    {
        const std::size_t count = interval.end - interval.begin;
        covered += count;
        cellSum += static_cast<double>(count) *
                   quantizer.GetCellDistortion(interval.low, interval.high, bits, packed.dimension);
        if (isFloats)
        {
            continue; // floats need no interval to be decoded
        }
        const bool isSame =
            previous && previous->low == interval.low && previous->high == interval.high;
        previous = &interval;
        if (isSame)
        {
            update.intervals.back().end = interval.end;
            continue;
        }
        const LevelGrid decoder = quantizer.GetDecoderGrid(
            LevelGrid(interval.low, interval.high, bits, packed.dimension));
        if (!std::isfinite(decoder.high - decoder.low))
        {
            return false;
        }
        // Coordinates that were not received belong to the interval after them.
        const std::size_t begin = update.intervals.empty() ? 0 : update.intervals.back().end;
        update.intervals.push_back({begin, interval.end, decoder.low, decoder.high});
    }
    if (!update.intervals.empty())
    {
        update.intervals.back().end = packed.dimension;
    }
    update.cellDistortion = covered > 0 ? cellSum / static_cast<double>(covered)
                                        : quantizer.GetCellDistortion(0, 0, bits, packed.dimension);
    for (const CoordinateRange& range : packed.ranges)
    {
        update.ranges.push_back({range.begin, range.end, packed.payload, range.begin, 0});
    }
    return !update.ranges.empty();
}

void
DecodeUpdate(const DeliveredUpdate& update, float* values)
{
    CheckLevels(update);
    Cursor cursor{&update, 0};
    for (const DeliveredRange& range : update.ranges)
    {
        std::fill(values + range.begin, values + range.end, 0.0F);
        std::size_t begin = range.begin;
        while (begin < range.end)
        {
            cursor.Advance(begin);
            const std::size_t end =
                update.intervals.empty()
                    ? range.end
                    : std::min(range.end, update.intervals[cursor.interval].end);
            AddShares({federated::MakeShare(update, 0, cursor.interval, range, begin, 1)},
                      begin,
                      end,
                      values);
            begin = end;
        }
    }
}

double
GetMeanSquare(const DeliveredUpdate& update, const DeliveredRange& range)
{
    CheckLevels(update);
    double sum = 0;
    const std::size_t count = range.end - range.begin;
    if (update.wireBits == Quantizer::FLOAT_BITS)
    {
        for (std::size_t i = 0; i < count; ++i)
        {
            const double value =
                federated::ReadLittleEndianFloat(range.payload + 4 * (range.first + i));
            sum += value * value;
        }
        return sum / static_cast<double>(count);
    }
    const auto steps = static_cast<double>((1U << update.wireBits) - 1);
    for (const IntervalRange& interval : update.intervals)
    {
        const std::size_t end = std::min(interval.end, range.end);
        const double low = interval.low;
        const double width = static_cast<double>(interval.high) - low;
        const double scale = update.positions.empty() ? width / steps : width;
        uint16_t levels[BLOCK];
        for (std::size_t i = std::max(interval.begin, range.begin); i < end; i += BLOCK)
        {
            const std::size_t part = std::min(BLOCK, end - i);
            BitPacker::Unpack(
                range.payload, range.first + i - range.begin, part, update.wireBits, levels);
            for (std::size_t k = 0; k < part; ++k)
            {
                const double place =
                    update.positions.empty() ? levels[k] : update.positions[levels[k]];
                const double value = low + scale * place;
                sum += value * value;
            }
        }
    }
    return sum / static_cast<double>(count);
}

FusionResult
FuseUpdates(const FusionRule& rule,
            LossPolicy policy,
            const std::vector<DeliveredUpdate>& updates,
            float* model,
            std::size_t dimension)
{
    FusionResult result;
    result.meanWeights.assign(updates.size(), 0);
    std::vector<Cursor> cursors = GetCursors(policy, updates, dimension);
    const std::vector<std::size_t> cuts = GetCuts(cursors, dimension);
    for (std::size_t cut = 0; cut + 1 < cuts.size(); ++cut)
    {
        const std::size_t begin = cuts[cut];
        const std::size_t end = cuts[cut + 1];
        const double part = static_cast<double>(end - begin) / static_cast<double>(dimension);
        const std::vector<UpdateShare> shares =
            GetShares(GetCandidates(rule, policy, cursors, begin), begin);
        FusionSegment segment{begin, end, static_cast<uint32_t>(shares.size()), 0};
        for (const UpdateShare& share : shares)
        {
            segment.noiseVariance += share.weight * share.weight * share.sigma2;
            result.meanWeights[share.index] += share.weight * part;
        }
        if (shares.empty())
        {
            result.untouched += end - begin;
        }
        else
        {
            AddShares(shares, begin, end, model);
        }
        result.segments.push_back(segment);
    }
    return result;
}

FusionResult
FuseUpdates(const FusionRule& rule,
            const UpdateAggregator& aggregator,
            LossPolicy policy,
            const std::vector<DeliveredUpdate>& updates,
            const LinkNoiseDraws& draws,
            float* model,
            std::size_t dimension)
{
    if (aggregator.IsWeightedMean())
    {
        return FuseUpdates(rule, policy, updates, model, dimension);
    }
    FusionResult result;
    result.meanWeights.assign(updates.size(), 0);
    std::vector<Cursor> cursors = GetCursors(policy, updates, dimension);
    const std::vector<std::size_t> cuts = GetCuts(cursors, dimension);
    SegmentAggregation aggregation(aggregator, draws, updates, dimension);
    for (std::size_t cut = 0; cut + 1 < cuts.size(); ++cut)
    {
        const std::size_t begin = cuts[cut];
        const std::size_t end = cuts[cut + 1];
        const std::vector<SegmentRow> rows =
            GetRows(GetCandidates(rule, policy, cursors, begin), begin);
        const auto contributors = std::count_if(
            rows.begin(), rows.end(), [](const auto& row) { return row.share.has_value(); });
        result.segments.push_back({begin, end, static_cast<uint32_t>(contributors), 0});
        if (rows.empty())
        {
            result.untouched += end - begin;
        }
        else
        {
            aggregation.Aggregate(rows, begin, end, model, result.meanWeights);
        }
    }
    for (double& weight : result.meanWeights)
    {
        weight /= static_cast<double>(dimension);
    }
    return result;
}

} // namespace ns3
