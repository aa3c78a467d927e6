// SPDX-License-Identifier: GPL-2.0-only

#ifndef KOLMOGOROV_SMIRNOV_H
#define KOLMOGOROV_SMIRNOV_H

#include <algorithm>
#include <cmath>
#include <vector>

namespace ns3
{

/** Samples of the distribution exceed it with a probability of 10^-6: 2 exp(-2 x^2). */
constexpr double KOLMOGOROV_SMIRNOV_LIMIT = 2.694;

/**
 * @param samples Independent samples.
 * @param distribution A continuous distribution function.
 * @return the largest distance of the empirical distribution from it, times the square root of the
 * number of samples.
 */
template <typename Distribution>
double
GetKolmogorovSmirnov(std::vector<double> samples, Distribution distribution)
{
    std::sort(samples.begin(), samples.end());
    const auto count = static_cast<double>(samples.size());
    double largest = 0;
    for (std::size_t i = 0; i < samples.size(); ++i)
    {
        const double expected = distribution(samples[i]);
        const auto below = static_cast<double>(i);
        largest = std::max({largest, (below + 1) / count - expected, expected - below / count});
    }
    return largest * std::sqrt(count);
}

} // namespace ns3

#endif // KOLMOGOROV_SMIRNOV_H
