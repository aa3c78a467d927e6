// SPDX-License-Identifier: GPL-2.0-only

#ifndef COORDINATE_RANGE_H
#define COORDINATE_RANGE_H

#include <cstddef>

namespace ns3
{

/**
 * @ingroup federated
 * @brief The coordinates begin .. end - 1 of a model or update.
 */
struct CoordinateRange
{
    std::size_t begin; //!< First coordinate.
    std::size_t end;   //!< One past the last coordinate.
};

/**
 * @ingroup federated
 * @brief The part of an update that is quantized on one interval.
 */
struct IntervalRange
{
    std::size_t begin; //!< First coordinate.
    std::size_t end;   //!< One past the last coordinate.
    float low;         //!< Lower end of the interval.
    float high;        //!< Upper end of the interval.
};

} // namespace ns3

#endif // COORDINATE_RANGE_H
