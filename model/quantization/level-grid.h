// SPDX-License-Identifier: GPL-2.0-only

#ifndef LEVEL_GRID_H
#define LEVEL_GRID_H

#include "ns3/coordinate-range.h"

#include <cmath>
#include <cstddef>
#include <cstdint>

namespace ns3
{

/**
 * @ingroup federated
 * @brief The levels q_j = low + j*step, j = 0..2^b-1, that divide an interval evenly.
 */
struct LevelGrid
{
    /**
     * @param lower Lower end of the interval.
     * @param upper Upper end of the interval, not below the lower one.
     * @param bits Bits of a level, b, 1 to 16.
     * @param coordinates Size of the whole update, d, for quantizers that choose among its
     *        coordinates; 0 where it is not known.
     */
    LevelGrid(float lower, float upper, unsigned bits, std::size_t coordinates = 0)
        : low(lower),
          high(upper),
          top((1U << bits) - 1),
          step((double{upper} - double{lower}) / top),
          dimension(coordinates)
    {
        inverseStep = std::isfinite(static_cast<float>(1 / step)) ? 1 / step : 0;
    }

    /** @return b. */
    unsigned GetBits() const
    {
        return __builtin_popcount(top);
    }

    /**
     * @param level Index j of a level.
     * @return the level's value q_j.
     */
    double GetValue(int32_t level) const
    {
        return low + level * step;
    }

    /**
     * @param value Any number.
     * @return the number moved into the interval; NaN becomes the lower end.
     */
    float Clamp(float value) const
    {
        const float raised = value > low ? value : low;
        return raised < high ? raised : high;
    }

    /**
     * Locate a value on the grid.
     * @tparam Real float where speed counts, double for exact distortions.
     * @param value Any number; it is clamped.
     * @param [out] fraction Where in its cell the value lies, 0 at the lower and 1 at the upper
     * level.
     * @return the index of the level at the lower end of the value's cell, 0..2^b-2.
     */
    template <typename Real>
    int32_t Locate(float value, Real& fraction) const
    {
        const Real scaled = (Real{Clamp(value)} - Real{low}) * static_cast<Real>(inverseStep);
        const auto truncated = static_cast<int32_t>(scaled);
        const auto last = static_cast<int32_t>(top) - 1; // the last cell is closed
        const int32_t cell = truncated < last ? truncated : last;
        fraction = scaled - static_cast<Real>(cell);
        return cell;
    }

    float low;             //!< Lower end of the interval, q_0.
    float high;            //!< Upper end of the interval, the highest level.
    uint32_t top;          //!< Index of the highest level, 2^b - 1.
    double step;           //!< Distance of two levels, Delta in the paper.
    double inverseStep;    //!< 1 / step; 0 where that is no finite float: all become `low`.
    std::size_t dimension; //!< Size of the whole update, 0 where it is not known.
};

} // namespace ns3

#endif // LEVEL_GRID_H
