// SPDX-License-Identifier: GPL-2.0-only

#include "privacy-conversion.h"

#include <boost/math/special_functions/beta.hpp>
#include <boost/math/tools/minima.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace ns3
{

namespace
{

constexpr double INFINITE = std::numeric_limits<double>::infinity();

/** @return the largest x in [low, high] for which a falling function is not below a value. */
template <typename Function>
double
Bisect(Function falling, double value, double low, double high)
{
    for (int i = 0; i < 200 && low < high; ++i)
    {
        const double middle = low + (high - low) / 2;
        if (middle <= low || middle >= high)
        {
            break;
        }
        (falling(middle) >= value ? low : high) = middle;
    }
    return low;
}

/** @return the probability that a standard normal variable is below x. */
double
GetNormalCdf(double x)
{
    return std::erfc(-x / std::sqrt(2.0)) / 2;
}

/** @return the probability that of so many independent trials at least k succeed. */
double
GetTail(double trials, double k, double probability)
{
    return k <= 0 ? 1 : k > trials ? 0 : boost::math::ibeta(k, trials - k + 1, probability);
}

} // namespace

double
PrivacyConversion::RenyiToEpsilon(const Curve& curve, double rho, double delta)
{
    const double length = -std::log(delta);
    const auto atLogOfOrder = [&curve, length](double logarithm)
    {
        const double above = std::exp(logarithm); // alpha - 1
        return curve(1 + above) - std::log1p(1 / above) + (length - std::log1p(above)) / above;
    };
    const double start = std::log(length / rho) / 2; // the best order of rho + 2 sqrt(rho l)
    constexpr double REACH = 12;                     // orders beyond it do not matter
    constexpr int BITS = 30;
    const auto best =
        boost::math::tools::brent_find_minima(atLogOfOrder, start - REACH, start + REACH, BITS);
    return std::max(0.0, std::min(best.second, atLogOfOrder(start)));
}

double
PrivacyConversion::ZcdpToEpsilon(double rho, double delta)
{
    if (!(rho > 0) || std::isinf(rho))
    {
        return rho > 0 ? INFINITE : 0;
    }
    return RenyiToEpsilon([rho](double alpha) { return rho * alpha; }, rho, delta);
}

double
PrivacyConversion::EpsilonToZcdp(double epsilon, double delta)
{
    if (!(epsilon > 0) || std::isinf(epsilon))
    {
        return epsilon > 0 ? INFINITE : 0;
    }
    // Logarithms, because rho may be very small. It is below epsilon unless delta is large.
    const double logarithm =
        Bisect([epsilon, delta](double x) { return epsilon - ZcdpToEpsilon(std::exp(x), delta); },
               0,
               std::log(epsilon) - 700,
               std::log(epsilon + 100));
    return std::exp(logarithm);
}

double
PrivacyConversion::GaussianToEpsilon(double rho, double delta)
{
    const double mu = std::sqrt(2 * rho);
    if (!(mu > 0) || std::isinf(mu))
    {
        return mu > 0 ? INFINITE : 0;
    }
    const auto getDelta = [mu](double epsilon)
    {
        const double second = GetNormalCdf(-mu / 2 - epsilon / mu);
        return GetNormalCdf(mu / 2 - epsilon / mu) -
               (second > 0 ? std::exp(epsilon + std::log(second)) : 0);
    };
    return getDelta(0) <= delta ? 0 : Bisect(getDelta, delta, 0, ZcdpToEpsilon(rho, delta));
}

double
PrivacyConversion::ResponseToRenyi(double epsilon, double alpha)
{
    // cosh x / cosh y - 1 = 2 sinh((x+y)/2) sinh((x-y)/2) / cosh y, without cancellation.
    const double above = alpha - 1;
    constexpr double LARGE = 700; // e^709 is about the largest double
    if ((alpha - 0.5) * epsilon < LARGE)
    {
        return std::log1p(2 * std::sinh(alpha * epsilon / 2) * std::sinh(above * epsilon / 2) /
                          std::cosh(epsilon / 2)) /
               above;
    }
    // ln cosh x = x + ln((1 + e^{-2x})/2)
    return ((alpha - 1) * epsilon + std::log1p(std::exp(-(2 * alpha - 1) * epsilon)) -
            std::log1p(std::exp(-epsilon))) /
           above;
}

double
PrivacyConversion::EpsilonToRho(double epsilon)
{
    return epsilon * std::tanh(epsilon / 2);
}

double
PrivacyConversion::ResponsesToEpsilon(double count, double epsilon, double delta)
{
    const double all = count * epsilon;
    if (!(all > 0) || std::isinf(all))
    {
        return all > 0 ? INFINITE : 0;
    }
    // With k truthful answers of n the loss is (2k-n) epsilon_0. For an epsilon in
    // [(2k-2-n) epsilon_0, (2k-n) epsilon_0) exactly k and more truthful answers exceed it, and
    // delta(epsilon) = P[Bin(n,p) >= k] - e^epsilon P[Bin(n,q) >= k], which falls with epsilon.
    const double wanted = delta * (1 - 1e-9); // results are never below the exact ones
    const double truth = 1 / (1 + std::exp(-epsilon));
    const double lie = 1 / (1 + std::exp(epsilon));
    constexpr double TINY = 1e-290; // about the smallest normal double
    const auto getDelta = [&](double k, double at)
    {
        const double other = GetTail(count, k, lie);
        // Without its second term delta is larger, and so is epsilon.
        return GetTail(count, k, truth) - (other > TINY ? std::exp(at + std::log(other)) : 0);
    };
    // The last k whose part of the curve begins at delta or above it.
    double low = std::floor(count / 2) + 1; // its part begins at 0 or below
    double high = count + 1;                // its part begins at n epsilon_0, where delta is 0
    if (getDelta(low, 0) <= wanted)
    {
        return 0;
    }
    while (high - low > 1)
    {
        const double middle = std::floor((low + high) / 2);
        (getDelta(middle, (2 * middle - 2 - count) * epsilon) >= wanted ? low : high) = middle;
    }
    const double end = std::min(all, (2 * low - count) * epsilon);
    const double other = GetTail(count, low, lie);
    const double excess = GetTail(count, low, truth) - wanted;
    if (!(other > TINY) || !(excess > 0))
    {
        return end;
    }
    constexpr double ROUNDING = 1e-11; // of the tails
    return std::clamp(std::log(excess) - std::log(other) + ROUNDING, 0.0, end);
}

} // namespace ns3
