// SPDX-License-Identifier: GPL-2.0-only

#include "update-fusion.h"

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

namespace
{

constexpr std::size_t BLOCK = 1024; // coordinates whose sums stay in the first-level cache

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

/** One update's share in a segment: omega * coordinate = offset + scale * (level, its position, or
    float). */
struct Share
{
    std::size_t index;      //!< Place of the update among those given.
    double weight;          //!< omega.
    double sigma2;          //!< Variance of its link noise.
    const uint8_t* payload; //!< Packed coordinates.
    std::size_t first;      //!< Position of the segment's first coordinate.
    unsigned wireBits;      //!< Bits of a coordinate; 32 are floats.
    float scale;            //!< omega * step, omega * width, or omega.
    float offset;           //!< omega * low, or 0.
    const float* positions; //!< Of the levels in the interval; nullptr where they are even.
};

void
AddBlock(const Share& share, std::size_t begin, std::size_t count, float* sums)
{
    if (share.wireBits == Quantizer::FLOAT_BITS)
    {
        const uint8_t* bytes = share.payload + 4 * (share.first + begin);
        for (std::size_t i = 0; i < count; ++i)
        {
            sums[i] += share.scale * federated::ReadLittleEndianFloat(bytes + 4 * i);
        }
        return;
    }
    uint16_t levels[BLOCK];
    BitPacker::Unpack(share.payload, share.first + begin, count, share.wireBits, levels);
    if (share.positions)
    {
        for (std::size_t i = 0; i < count; ++i)
        {
            sums[i] += share.scale * share.positions[levels[i]];
        }
        return;
    }
    for (std::size_t i = 0; i < count; ++i)
    {
        sums[i] += share.scale * static_cast<float>(levels[i]);
    }
}

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

/** @return all coordinates at which the set of deliverers, their noise or an interval may change.
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

/**
 * @param cursor An update, advanced to a segment.
 * @param range The range that delivered the segment.
 * @param begin First coordinate of the segment.
 * @param weight omega.
 * @return what the update adds to the segment.
 */
Share
MakeShare(const Cursor& cursor, const DeliveredRange& range, std::size_t begin, double weight)
{
    const DeliveredUpdate& update = *cursor.update;
    auto scale = static_cast<float>(weight);
    float offset = 0;
    if (update.wireBits != Quantizer::FLOAT_BITS)
    {
        const IntervalRange& interval = update.intervals[cursor.interval];
        const LevelGrid grid(interval.low, interval.high, update.wireBits);
        const double width = double{grid.high} - double{grid.low};
        scale = static_cast<float>(weight * (update.positions.empty() ? grid.step : width));
        offset = static_cast<float>(weight * grid.low);
    }
    return {cursor.index,
            weight,
            range.sigma2,
            range.payload,
            range.first + begin - range.begin,
            update.wireBits,
            scale,
            offset,
            update.positions.empty() ? nullptr : update.positions.data()};
}

/**
 * @param cursors The updates; they are advanced to the segment.
 * @param begin First coordinate of the segment.
 * @return what each update that delivered the segment adds to it.
 */
std::vector<Share>
GetShares(const FusionRule& rule,
          LossPolicy policy,
          std::vector<Cursor>& cursors,
          std::size_t begin)
{
    std::vector<UpdateQuality> qualities;
    std::vector<std::pair<const Cursor*, const DeliveredRange*>> weighted;
    for (Cursor& cursor : cursors)
    {
        const DeliveredUpdate& update = *cursor.update;
        const DeliveredRange* range = cursor.Advance(begin);
        if (range || policy == LOSS_ZERO)
        {
            weighted.emplace_back(&cursor, range);
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

    std::vector<Share> shares;
    for (std::size_t i = 0; i < weighted.size(); ++i)
    {
        const auto& [cursor, range] = weighted[i];
        if (!range || weights[i] == 0)
        {
            continue;
        }
        shares.push_back(MakeShare(*cursor, *range, begin, weights[i]));
    }
    return shares;
}

/** Add the shares of a segment to the model, block by block. */
void
AddShares(const std::vector<Share>& shares, std::size_t begin, std::size_t end, float* model)
{
    float offset = 0;
    for (const Share& share : shares)
    {
        offset += share.offset;
    }
    for (std::size_t done = begin; done < end;)
    {
        const std::size_t count = std::min(end - done, BLOCK);
        float sums[BLOCK];
        std::fill_n(sums, count, offset);
        for (const Share& share : shares)
        {
            AddBlock(share, done - begin, count, sums);
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
            AddShares({MakeShare(cursor, range, begin, 1)}, begin, end, values);
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
        const std::vector<Share> shares = GetShares(rule, policy, cursors, begin);
        FusionSegment segment{begin, end, static_cast<uint32_t>(shares.size()), 0};
        for (const Share& share : shares)
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

} // namespace ns3
