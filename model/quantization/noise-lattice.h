// SPDX-License-Identifier: GPL-2.0-only

#ifndef NOISE_LATTICE_H
#define NOISE_LATTICE_H

#include <cmath>
#include <cstdint>
#include <limits>

namespace ns3::federated
{

/**
 * @ingroup federated
 * @brief The public points origin + step*z that values with integer noise are sent as.
 *
 * What is sent is a function of the integer z alone, so that it has the privacy of z, whatever
 * floats round. All points can be sent for all values.
 */
struct NoiseLattice
{
    static constexpr int64_t LIMIT = int64_t{1} << 61; //!< No z from here on is sent.

    /**
     * @param point z.
     * @return the float that is sent; infinite if z is not sent.
     */
    float GetFloat(int64_t point) const
    {
        return std::abs(point) < LIMIT
                   ? static_cast<float>(origin + step * static_cast<double>(point))
                   : std::numeric_limits<float>::infinity();
    }

    /**
     * @param sent A float.
     * @return whether it is the float of a point.
     */
    bool Holds(float sent) const
    {
        const double nearest = step > 0 ? std::nearbyint((sent - origin) / step) : 0;
        if (!std::isfinite(sent) || !(std::abs(nearest) < static_cast<double>(LIMIT)))
        {
            return false;
        }
        // The division may round to a neighbor.
        const auto point = static_cast<int64_t>(nearest);
        return GetFloat(point) == sent || GetFloat(point - 1) == sent ||
               GetFloat(point + 1) == sent;
    }

    double origin; //!< The point z = 0.
    double step;   //!< Distance of two points.
};

} // namespace ns3::federated

#endif // NOISE_LATTICE_H
