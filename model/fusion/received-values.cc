// SPDX-License-Identifier: GPL-2.0-only

#include "received-values.h"

#include "ns3/lane-fold.h"

#include <boost/random/normal_distribution.hpp>

#include <algorithm>
#include <cmath>

namespace ns3::federated
{

ReceivedValues::ReceivedValues(const LinkNoiseDraws& draws, uint32_t device)
    : m_random(draws.seed, FederatedRandom::UPDATE_NOISE, device, draws.round)
{
}

void
ReceivedValues::Read(const UpdateShare& share,
                     std::size_t segment,
                     std::size_t begin,
                     std::size_t count,
                     float* values)
{
    std::fill_n(values, count, share.offset);
    share.AddTo(begin - segment, count, values);
    if (share.sigma2 > 0)
    {
        boost::random::normal_distribution<float> normal;
        for (; m_position < begin; ++m_position)
        {
            normal(m_random);
        }
        const auto sigma = static_cast<float>(std::sqrt(share.sigma2));
        for (std::size_t i = 0; i < count; ++i)
        {
            values[i] += sigma * normal(m_random);
        }
        m_position = begin + count;
    }
}

double
EstimateNorm(const LinkNoiseDraws& draws, const DeliveredUpdate& update, std::size_t dimension)
{
    ReceivedValues received(draws, update.device);
    double sum = 0;
    std::size_t coordinates = 0;
    std::size_t interval = 0;
    for (const DeliveredRange& range : update.ranges)
    {
        if (!std::isfinite(range.sigma2) || range.sigma2 < 0)
        {
            continue;
        }
        coordinates += range.end - range.begin;
        for (std::size_t begin = range.begin; begin < range.end;)
        {
            const auto& intervals = update.intervals;
            while (interval + 1 < intervals.size() && intervals[interval].end <= begin)
            {
                ++interval;
            }
            const std::size_t end = interval + 1 < intervals.size()
                                        ? std::min(range.end, intervals[interval].end)
                                        : range.end;
            const UpdateShare share = MakeShare(update, 0, interval, range, begin, 1);
            float values[UpdateShare::BLOCK];
            for (std::size_t i = begin; i < end; i += UpdateShare::BLOCK)
            {
                const std::size_t count = std::min(end - i, UpdateShare::BLOCK);
                received.Read(share, begin, i, count, values);
                sum += SumOver(values, count, [](float v) { return double{v} * double{v}; });
            }
            begin = end;
        }
    }
    return coordinates > 0
               ? std::sqrt(sum * static_cast<double>(dimension) / static_cast<double>(coordinates))
               : 0;
}

} // namespace ns3::federated
