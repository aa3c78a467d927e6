// SPDX-License-Identifier: GPL-2.0-only

#include "update-limits.h"

#include "lane-fold.h"
#include "update-preparation.h"

#include "ns3/little-endian.h"

#include <algorithm>
#include <cmath>

namespace ns3::federated
{

namespace
{

/** Of a computed norm and a computed distortion, for the rounding of either side. */
constexpr double MARGIN = 1e-6;

} // namespace

UpdateLimits::UpdateLimits(const Terms& terms)
    : m_terms(terms),
      m_largest(terms.context.clipNorm == CLIP_NONE ? terms.maxCoordinate
                                                    : terms.context.clipBound),
      m_isExact(terms.quantizer && !SendsIntervals(*terms.quantizer, terms.context.bits)),
      m_isFloat(terms.quantizer &&
                terms.quantizer->GetWireBits(terms.context.bits) == Quantizer::FLOAT_BITS)
{
}

bool
UpdateLimits::Allows(const ReceivedPart& part, UpdateTally& tally) const
{
    UpdateTally next = tally;
    for (const IntervalRange& interval : part.intervals)
    {
        if (!AllowsInterval(interval, part.intervals.front(), next))
        {
            return false;
        }
    }
    const Quantizer* quantizer = m_terms.quantizer;
    if (quantizer &&
        ((part.intervals.empty() && !m_isExact) || !AllowsValues(part, next) ||
         (m_isFloat ? m_isExact && !AllowsNorm(part, next)
                    : !quantizer->CanHaveSent(
                          part.payload, part.count, m_terms.context.bits, next.answers))))
    {
        return false;
    }
    tally = next;
    return true;
}

bool
UpdateLimits::AllowsInterval(const IntervalRange& interval,
                             const IntervalRange& first,
                             const UpdateTally& tally) const
{
    const auto isSame = [&interval](float low, float high)
    { return interval.low == low && interval.high == high; };
    const PrivacyContext& context = m_terms.context;
    if (context.intervalIsPublic)
    {
        return isSame(static_cast<float>(context.low), static_cast<float>(context.high));
    }
    if (m_terms.hasOneInterval &&
        (!isSame(first.low, first.high) ||
         (tally.lastBounds && !isSame(tally.lastBounds->low, tally.lastBounds->high))))
    {
        return false;
    }
    return -m_largest <= interval.low && interval.high <= m_largest;
}

bool
UpdateLimits::AllowsValues(const ReceivedPart& part, UpdateTally& tally) const
{
    const auto dimension = static_cast<double>(m_terms.context.dimension);
    double least = tally.leastDistortion;
    double reach = 0;
    for (const IntervalRange& interval : part.intervals)
    {
        const UpdateTally::Bounds& bounds = GetBounds(interval.low, interval.high, tally);
        reach = std::max(reach, bounds.reach);
        if (m_terms.hasOneInterval || m_terms.context.intervalIsPublic)
        {
            least = bounds.least;
        }
        else if (dimension > 0)
        {
            // Nothing is known about coordinates of intervals that were not received.
            const auto count = static_cast<double>(interval.end - interval.begin);
            least += count / dimension * bounds.least;
        }
    }
    if (m_isExact)
    {
        reach = m_largest; // intervals are not needed
    }
    tally.leastDistortion = least;
    return part.largest <= reach && AllowsDistortion(part.distortion, least, tally);
}

bool
UpdateLimits::AllowsDistortion(float distortion, double least, UpdateTally& tally) const
{
    if (!m_terms.needsDistortion)
    {
        return true;
    }
    const bool isFirst = !tally.distortion;
    tally.distortion = isFirst ? distortion : *tally.distortion;
    // The device has rounded its number to a float, too: an honest one may be denormal, or 0.
    return *tally.distortion == distortion &&
           distortion >= static_cast<float>(least * (1 - MARGIN));
}

bool
UpdateLimits::AllowsNorm(const ReceivedPart& part, UpdateTally& tally) const
{
    const ClipNorm norm = m_terms.context.clipNorm;
    if (norm == CLIP_NONE)
    {
        return true;
    }
    float values[256];
    for (std::size_t done = 0; done < part.count;)
    {
        const std::size_t count = std::min(part.count - done, std::size(values));
        for (std::size_t i = 0; i < count; ++i)
        {
            values[i] = ReadLittleEndianFloat(part.payload + 4 * (done + i));
        }
        tally.norm +=
            norm == CLIP_L2
                ? SumOver(values, count, [](float value) { return double{value} * value; })
                : SumOver(values, count, [](float value) { return double{std::abs(value)}; });
        done += count;
    }
    const double bound = m_terms.context.clipBound * (1 + MARGIN);
    return tally.norm <= (norm == CLIP_L2 ? bound * bound : bound);
}

const UpdateTally::Bounds&
UpdateLimits::GetBounds(float low, float high, UpdateTally& tally) const
{
    if (!tally.lastBounds || tally.lastBounds->low != low || tally.lastBounds->high != high)
    {
        const PrivacyContext& context = m_terms.context;
        const LevelGrid grid(low, high, context.bits, context.dimension);
        tally.lastBounds = UpdateTally::Bounds{
            low,
            high,
            m_isFloat ? m_terms.quantizer->GetReach(m_largest, grid) : 0,
            m_terms.needsDistortion ? m_terms.quantizer->GetLeastDistortion(grid) : 0};
    }
    return *tally.lastBounds;
}

} // namespace ns3::federated
