// SPDX-License-Identifier: GPL-2.0-only

#ifndef DOT_PRODUCT_H
#define DOT_PRODUCT_H

#include <cstddef>
#include <cstring>

namespace ns3::federated
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
    // GCC and Clang map these vectors to what the processor has; left alone they add one by one.
    constexpr std::size_t BYTES = 32;
    constexpr std::size_t LANES = BYTES / sizeof(Scalar);
    constexpr std::size_t VECTORS = 4; // sums that do not wait for each other
    typedef Scalar Vector __attribute__((vector_size(BYTES)));
    Vector sums[VECTORS] = {};
    const auto add = [a, b, &sums](std::size_t i, std::size_t n)
    {
        Vector left;
        Vector right;
        std::memcpy(&left, a + i, BYTES);
        std::memcpy(&right, b + i, BYTES);
        sums[n] += left * right;
    };
    std::size_t i = 0;
    for (; i + VECTORS * LANES <= count; i += VECTORS * LANES)
    {
#pragma GCC unroll 4
        for (std::size_t n = 0; n < VECTORS; ++n)
        {
            add(i + n * LANES, n);
        }
    }
    for (; i + LANES <= count; i += LANES)
    {
        add(i, 0);
    }
    const Vector total = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    Scalar sum = 0;
    for (std::size_t lane = 0; lane < LANES; ++lane)
    {
        sum += total[lane];
    }
    for (; i < count; ++i)
    {
        sum += a[i] * b[i];
    }
    return sum;
}

} // namespace ns3::federated

#endif // DOT_PRODUCT_H
