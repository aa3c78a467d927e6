// SPDX-License-Identifier: GPL-2.0-only

#ifndef DOT_PRODUCT_H
#define DOT_PRODUCT_H

#include <cstddef>

namespace ns3
{

/**
 * @ingroup federated
 * @brief The sum of products of two vectors' coordinates, in an order that depends on their length
 * alone. (In Eigen's sums the rounding depends on addresses.)
 * @param a Values.
 * @param b As many.
 * @param count How many.
 * @return the sum.
 */
template <typename Scalar>
Scalar
DotProduct(const Scalar* a, const Scalar* b, std::size_t count)
{
    constexpr std::size_t LANES = 16; // sums side by side, which compilers turn into vectors
    Scalar sums[LANES] = {};
    std::size_t i = 0;
    for (; i + LANES <= count; i += LANES)
    {
        for (std::size_t lane = 0; lane < LANES; ++lane)
        {
            sums[lane] += a[i + lane] * b[i + lane];
        }
    }
    Scalar sum = 0;
    for (; i < count; ++i)
    {
        sum += a[i] * b[i];
    }
    for (Scalar lane : sums)
    {
        sum += lane;
    }
    return sum;
}

} // namespace ns3

#endif // DOT_PRODUCT_H
