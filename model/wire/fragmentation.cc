// SPDX-License-Identifier: GPL-2.0-only

#include "fragmentation.h"

#include "ns3/abort.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace ns3::federated
{

namespace
{

/**
 * Choose the end of a fragment.
 * @param unit Coordinates after which a byte ends.
 * @param [in,out] fragment Its begin and firstInterval are set; the rest is set here, end to begin
 * if nothing fits.
 */
void
Extend(std::size_t dimension,
       unsigned bits,
       std::size_t unit,
       const std::vector<IntervalRange>& intervals,
       std::size_t fragmentSize,
       Fragment& fragment)
{
    const auto cut = [&](std::size_t end)
    { return end >= dimension ? dimension : end / unit * unit; };
    const std::size_t most =
        std::min(intervals.size() - fragment.firstInterval, FederatedHeader::MAX_INTERVALS);
    fragment.end = fragment.begin;
    // Each further interval takes room from the coordinates, so the first number of intervals
    // whose coordinates end inside them is the last that is worth trying.
    for (std::size_t touched = intervals.empty() ? 0 : 1; touched <= most; ++touched)
    {
        const std::size_t header =
            FederatedHeader::FIXED_SIZE + touched * FederatedHeader::INTERVAL_SIZE;
        if (header >= fragmentSize)
        {
            break;
        }
        const std::size_t room = std::min(fragmentSize - header, FederatedHeader::MAX_PAYLOAD);
        const std::size_t reach = fragment.begin + room * 8 / bits;
        const std::size_t limit =
            touched == 0 ? dimension : intervals[fragment.firstInterval + touched - 1].end;
        fragment.end = std::max(fragment.end, cut(std::min(reach, limit)));
        if (reach <= limit)
        {
            break;
        }
    }
    fragment.lastInterval = fragment.firstInterval;
    while (fragment.lastInterval < intervals.size() &&
           intervals[fragment.lastInterval].begin < fragment.end)
    {
        ++fragment.lastInterval;
    }
}

} // namespace

std::vector<Fragment>
PlanFragments(std::size_t dimension,
              unsigned bits,
              const std::vector<IntervalRange>& intervals,
              std::size_t fragmentSize)
{
    NS_ABORT_MSG_IF(dimension > std::numeric_limits<uint32_t>::max(),
                    "PlanFragments: " << dimension << " coordinates, more than a header can count");
    const std::size_t unit = 8 / std::gcd(bits, 8U);
    std::vector<Fragment> fragments;
    Fragment next{0, 0, 0, 0};
    while (next.begin < dimension)
    {
        Extend(dimension, bits, unit, intervals, fragmentSize, next);
        NS_ABORT_MSG_IF(next.end <= next.begin,
                        "FragmentSize is "
                            << fragmentSize << " bytes: too small for the header, the intervals of "
                            << unit << " coordinates and their " << bits << " bits each");
        fragments.push_back(next);
        next.begin = next.end;
        next.firstInterval = next.lastInterval;
        if (next.firstInterval > 0 && intervals[next.firstInterval - 1].end > next.begin)
        {
            --next.firstInterval; // the cut is inside that interval
        }
    }
    return fragments;
}

std::size_t
GetMessagesSize(const std::vector<Fragment>& fragments, unsigned bits)
{
    return std::accumulate(fragments.begin(),
                           fragments.end(),
                           std::size_t{0},
                           [bits](std::size_t sum, const Fragment& fragment)
                           { return sum + fragment.GetMessageSize(bits); });
}

void
FillFragment(const Fragment& fragment,
             std::size_t index,
             std::size_t count,
             unsigned bits,
             const std::vector<IntervalRange>& intervals,
             FederatedHeader& header)
{
    header.fragment = static_cast<uint32_t>(index);
    header.fragments = static_cast<uint32_t>(count);
    header.first = static_cast<uint32_t>(fragment.begin);
    header.coordinates = static_cast<uint32_t>(fragment.end - fragment.begin);
    header.bits = static_cast<uint8_t>(bits);
    header.intervals.clear();
    for (std::size_t i = fragment.firstInterval; i < fragment.lastInterval; ++i)
    {
        const IntervalRange& interval = intervals[i];
        header.intervals.push_back({std::max(interval.begin, fragment.begin),
                                    std::min(interval.end, fragment.end),
                                    interval.low,
                                    interval.high});
    }
}

} // namespace ns3::federated
