// SPDX-License-Identifier: GPL-2.0-only

#ifndef LANE_FOLD_H
#define LANE_FOLD_H

#include <cstddef>

namespace ns3::federated
{

/**
 * @ingroup federated
 * Fold coordinates into one number, always in the same order. Sixty-four partial results run side
 * by side, so that the compiler may vectorize without being allowed to reorder.
 * @param values The coordinates.
 * @param count How many.
 * @param start What each partial result starts from, the neutral element of `join`.
 * @param add Function of a partial result and a coordinate.
 * @param join Function of two partial results.
 * @return the result.
 */
template <typename Result, typename Add, typename Join>
Result
FoldOver(const float* values, std::size_t count, Result start, Add add, Join join)
{
    constexpr std::size_t LANES = 64;
    Result lanes[LANES];
    for (auto& lane : lanes)
    {
        lane = start;
    }
    std::size_t i = 0;
    for (; i + LANES <= count; i += LANES)
    {
        for (std::size_t lane = 0; lane < LANES; ++lane)
        {
            lanes[lane] = add(lanes[lane], values[i + lane]);
        }
    }
    Result result = start;
    for (; i < count; ++i)
    {
        result = add(result, values[i]);
    }
    for (Result lane : lanes)
    {
        result = join(result, lane);
    }
    return result;
}

/**
 * @ingroup federated
 * @param values The coordinates.
 * @param count How many.
 * @param term Function from a coordinate (float) to its term (double).
 * @return the sum of the terms, in doubles.
 */
template <typename Term>
double
SumOver(const float* values, std::size_t count, Term term)
{
    return FoldOver(
        values,
        count,
        0.0,
        [term](double sum, float value) { return sum + term(value); },
        [](double a, double b) { return a + b; });
}

/**
 * @ingroup federated
 * @param a A number.
 * @param b A number.
 * @return the larger one, as one instruction where std::max is a branch.
 */
inline float
Larger(float a, float b)
{
    return a < b ? b : a;
}

} // namespace ns3::federated

#endif // LANE_FOLD_H
