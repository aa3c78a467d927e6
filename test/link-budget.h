// SPDX-License-Identifier: GPL-2.0-only

#ifndef LINK_BUDGET_H
#define LINK_BUDGET_H

#include <cmath>

namespace ns3
{

/** @return a ratio of powers in dB. */
inline double
ToDb(double ratio)
{
    return 10 * std::log10(ratio);
}

/** @return the power of thermal noise at 290 K in dBm. */
inline double
GetNoise(double hertz, double noiseFigure)
{
    return ToDb(1.380649e-23 * 290 * hertz / 1e-3) + noiseFigure;
}

} // namespace ns3

#endif // LINK_BUDGET_H
