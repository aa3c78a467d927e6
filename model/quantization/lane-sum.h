// SPDX-License-Identifier: GPL-2.0-only

#ifndef LANE_SUM_H
#define LANE_SUM_H

#include <cstddef>

namespace ns3
{

/**
 * @ingroup federated
 * Sum a term over coordinates, in doubles and always in the same order. Sixteen sums run side by
 * side, so that the compiler may vectorize without being allowed to reorder.
 * @param values The coordinates.
 * @param count How many.
 * @param term Function from a coordinate (float) to its term (double).
 * @return the sum.
 */
template <typename Term>
double
SumOver(const float* values, std::size_t count, Term term)
{
    constexpr std::size_t LANES = 16;
    double lanes[LANES] = {};
    std::size_t i = 0;
    for (; i + LANES <= count; i += LANES)
    {
        for (std::size_t lane = 0; lane < LANES; ++lane)
        {
            lanes[lane] += term(values[i + lane]);
        }
    }
    double sum = 0;
    for (; i < count; ++i)
    {
        sum += term(values[i]);
    }
    for (double lane : lanes)
    {
        sum += lane;
    }
    return sum;
}

} // namespace ns3

#endif // LANE_SUM_H
