// SPDX-License-Identifier: GPL-2.0-only

#ifndef LEFT_OUT_H
#define LEFT_OUT_H

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace ns3::federated
{

/**
 * One device must not decide for all: the slowest ones are left out of what is planned for all.
 * @param share The share of the devices that are left out, 0 to 1; 0: none.
 * @param devices How many devices there are.
 * @return how many are left out: the share, rounded up, but never more than half.
 */
inline std::size_t
CountLeftOut(double share, std::size_t devices)
{
    const double count = std::ceil(share * static_cast<double>(devices));
    return std::min(static_cast<std::size_t>(std::max(count, 0.0)), devices / 2);
}

} // namespace ns3::federated

#endif // LEFT_OUT_H
