// SPDX-License-Identifier: GPL-2.0-only

#include "update-fusion.h"

#include "ns3/assert.h"
#include "ns3/bit-packer.h"
#include "ns3/little-endian.h"

#include <algorithm>
#include <numeric>

namespace ns3
{

namespace
{

constexpr std::size_t BLOCK = 1024; // coordinates whose sums stay in the first-level cache

/** Walks through the ranges and intervals of one update as the segments go by. */
struct Cursor
{
    const DeliveredUpdate* update; //!< The update.
    std::size_t index;             //!< Its place among the updates given.
    std::size_t range = 0;         //!< First range that ends behind the current coordinate.
    std::size_t interval = 0;      //!< Likewise the interval.

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

/** One update's share in a segment: coordinate = offset + scale * level, or scale * float. */
struct Share
{
    const uint8_t* payload; //!< Packed coordinates.
    std::size_t first;      //!< Position of the segment's first coordinate.
    unsigned wireBits;      //!< Bits of a coordinate; 32 are floats.
    float scale;            //!< omega * step, or omega.
};

void
AddBlock(const Share& share, std::size_t begin, std::size_t count, float* sums)
{
    if (share.wireBits == 32)
    {
        const uint8_t* bytes = share.payload + 4 * (share.first + begin);
        for (std::size_t i = 0; i < count; ++i)
        {
            sums[i] += share.scale * ReadLittleEndianFloat(bytes + 4 * i);
        }
        return;
    }
    uint16_t levels[BLOCK];
    BitPacker::Unpack(share.payload, share.first + begin, count, share.wireBits, levels);
    for (std::size_t i = 0; i < count; ++i)
    {
        sums[i] += share.scale * static_cast<float>(levels[i]);
    }
}

/** @return all coordinates at which the set of deliverers, their noise or an interval may change.
 */
std::vector<std::size_t>
GetCuts(const std::vector<Cursor>& cursors, std::size_t dimension)
{
    std::vector<std::size_t> cuts{0, dimension};
    for (const auto& cursor : cursors)
    {
        for (const auto& range : cursor.update->ranges)
        {
            NS_ASSERT_MSG(range.begin < range.end && range.end <= dimension,
                          "FuseUpdates: a range outside the model");
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

bool
IsComplete(const DeliveredUpdate& update, std::size_t dimension)
{
    const std::size_t delivered =
        std::accumulate(update.ranges.begin(),
                        update.ranges.end(),
                        std::size_t{0},
                        [](std::size_t sum, const auto& r) { return sum + r.end - r.begin; });
    return delivered == dimension;
}

/** @return the mean noise variance of what was delivered: what is taken for the missing part. */
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

} // namespace

FusionResult
FuseUpdates(const FusionRule& rule,
            LossPolicy policy,
            const std::vector<DeliveredUpdate>& updates,
            float* model,
            std::size_t dimension)
{
    std::vector<Cursor> cursors;
    for (std::size_t index = 0; index < updates.size(); ++index)
    {
        if (policy != LOSS_DROP || IsComplete(updates[index], dimension))
        {
            cursors.push_back({&updates[index], index});
        }
    }
    std::sort(cursors.begin(),
              cursors.end(),
              [](const Cursor& a, const Cursor& b) { return a.update->device < b.update->device; });

    FusionResult result;
    result.meanWeights.assign(updates.size(), 0);
    std::vector<UpdateQuality> qualities;
    std::vector<double> weights;
    std::vector<const DeliveredRange*> delivered(cursors.size());
    std::vector<Share> shares;
    const std::vector<std::size_t> cuts = GetCuts(cursors, dimension);
    for (std::size_t cut = 0; cut + 1 < cuts.size(); ++cut)
    {
        const std::size_t begin = cuts[cut];
        const std::size_t end = cuts[cut + 1];
        qualities.clear();
        for (std::size_t i = 0; i < cursors.size(); ++i)
        {
            const DeliveredUpdate& update = *cursors[i].update;
            delivered[i] = cursors[i].Advance(begin);
            if (delivered[i] || policy == LOSS_ZERO)
            {
                qualities.push_back({update.bits,
                                     update.exactDistortion,
                                     update.cellDistortion,
                                     delivered[i] ? delivered[i]->sigma2 : GetMeanSigma2(update)});
            }
        }
        FusionSegment segment{begin, end, 0, 0};
        shares.clear();
        float offset = 0; // sum of omega * low
        rule.GetWeights(qualities, weights);
        std::size_t next = 0;
        for (std::size_t i = 0; i < cursors.size(); ++i)
        {
            if (!delivered[i] && policy != LOSS_ZERO)
            {
                continue;
            }
            const double weight = weights[next++];
            if (!delivered[i] || weight == 0)
            {
                continue;
            }
            const DeliveredUpdate& update = *cursors[i].update;
            const std::size_t first = delivered[i]->first + begin - delivered[i]->begin;
            auto scale = static_cast<float>(weight);
            if (update.wireBits != 32)
            {
                const IntervalRange& interval = update.intervals[cursors[i].interval];
                const LevelGrid grid(interval.low, interval.high, update.wireBits);
                scale = static_cast<float>(weight * grid.step);
                offset += static_cast<float>(weight * grid.low);
            }
            shares.push_back({delivered[i]->payload, first, update.wireBits, scale});
            ++segment.contributors;
            segment.noiseVariance += weight * weight * delivered[i]->sigma2;
            result.meanWeights[cursors[i].index] +=
                weight * static_cast<double>(end - begin) / static_cast<double>(dimension);
        }
        for (std::size_t done = begin; done < end && !shares.empty();)
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
        result.untouched += shares.empty() ? end - begin : 0;
        result.segments.push_back(segment);
    }
    return result;
}

} // namespace ns3
