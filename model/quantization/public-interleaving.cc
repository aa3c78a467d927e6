// SPDX-License-Identifier: GPL-2.0-only

#include "public-interleaving.h"

#include "ns3/federated-random.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace ns3
{

namespace
{

/**
 * @return the largest partial quotient of the continued fraction of a/b, a measure of how close a/b
 * is to a fraction of small numbers; 0 if a and b have a common divisor.
 */
std::size_t
GetLargestQuotient(std::size_t a, std::size_t b)
{
    std::size_t largest = 0;
    while (a > 0)
    {
        largest = std::max(largest, b / a);
        b = std::exchange(a, b % a);
    }
    return b == 1 ? largest : 0;
}

} // namespace

PublicInterleaving::PublicInterleaving(uint64_t seed, uint32_t round)
    : m_seed(seed),
      m_round(round)
{
}

std::size_t
PublicInterleaving::GetStride(std::size_t dimension)
{
    // The golden section itself is no whole number, and the next one can be bad: for d = 159,010 it
    // is 98,277, and 144 steps of it move by 2 coordinates.
    constexpr std::size_t REACH = 16;
    const double section = (std::sqrt(5.0) - 1) / 2 * static_cast<double>(dimension);
    const auto middle = static_cast<std::size_t>(section);
    std::size_t best = 1;
    std::size_t least = std::numeric_limits<std::size_t>::max();
    for (std::size_t stride = middle > REACH ? middle - REACH : 1;
         stride <= middle + REACH && stride < dimension;
         ++stride)
    {
        const std::size_t quotient = GetLargestQuotient(stride, dimension);
        if (quotient > 0 && quotient < least)
        {
            least = quotient;
            best = stride;
        }
    }
    return best;
}

std::size_t
PublicInterleaving::GetFirst(std::size_t dimension) const
{
    // Coordinates are numbered in 32 bits on the wire.
    return FederatedRandom(m_seed, FederatedRandom::INTERLEAVING, 0, m_round)
        .Below(static_cast<uint32_t>(dimension));
}

} // namespace ns3
