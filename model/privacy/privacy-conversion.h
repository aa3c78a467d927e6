// SPDX-License-Identifier: GPL-2.0-only

#ifndef PRIVACY_CONVERSION_H
#define PRIVACY_CONVERSION_H

#include <functional>

namespace ns3
{

/**
 * @ingroup federated
 * @brief From one measure of privacy to another. Every result is an upper bound of the exact one.
 *
 * The measures: epsilon; (epsilon, delta); the Renyi divergence D_alpha of order alpha > 1 (I.
 * Mironov, 2017); and rho of zero-concentrated differential privacy, which means D_alpha <= rho
 * alpha for all orders (M. Bun and T. Steinke, 2016).
 */
struct PrivacyConversion
{
    /** D_alpha as a function of the order alpha > 1. */
    using Curve = std::function<double(double alpha)>;

    /**
     * By the best order (B. Balle et al., 2020; C. Canonne, G. Kamath and T. Steinke, 2020): the
     * least D_alpha + ln(1 - 1/alpha) - ln(delta alpha)/(alpha - 1). Any order is valid.
     * @param curve D_alpha of all that was sent.
     * @param rho A rho that is about as large, to find the best order; above 0 and finite.
     * @param delta Above 0 and below 1.
     * @return epsilon of (epsilon, delta).
     */
    static double RenyiToEpsilon(const Curve& curve, double rho, double delta);

    /**
     * @param rho Of zCDP, at least 0.
     * @param delta Above 0 and below 1.
     * @return epsilon of (epsilon, delta), by the best order.
     */
    static double ZcdpToEpsilon(double rho, double delta);

    /**
     * @param epsilon Of (epsilon, delta), at least 0.
     * @param delta Above 0 and below 1.
     * @return the largest rho whose ZcdpToEpsilon() is not above epsilon.
     */
    static double EpsilonToZcdp(double epsilon, double delta);

    /**
     * For noise of a continuous normal distribution alone, of which it is the exact value (B. Balle
     * and Y.-X. Wang, 2018): to compare with. The ledger does not use it.
     * @param rho Of the noise, mu^2/2.
     * @param delta Above 0 and below 1.
     * @return epsilon of (epsilon, delta).
     */
    static double GaussianToEpsilon(double rho, double delta);

    /**
     * The Renyi divergence of randomized response, the largest one of all mechanisms with this
     * epsilon: each of them can be computed from its answer (P. Kairouz, S. Oh and P. Viswanath,
     * 2015).
     * @param epsilon The privacy loss, at least 0.
     * @param alpha The order, above 1.
     * @return D_alpha = ln(cosh((alpha - 1/2) epsilon) / cosh(epsilon/2)) / (alpha - 1).
     */
    static double ResponseToRenyi(double epsilon, double alpha);

    /**
     * @param epsilon The privacy loss of any mechanism, at least 0.
     * @return the least rho that all of them have: epsilon tanh(epsilon/2).
     */
    static double EpsilonToRho(double epsilon);

    /**
     * Composition of equal losses, exact for randomized response and an upper bound for all
     * mechanisms, also if each is chosen after the answers of those before (P. Kairouz, S. Oh and
     * P. Viswanath, 2015).
     * @param count How many, a whole number.
     * @param epsilon The privacy loss of each, at least 0.
     * @param delta Above 0 and below 1.
     * @return epsilon of (epsilon, delta) of all together.
     */
    static double ResponsesToEpsilon(double count, double epsilon, double delta);
};

} // namespace ns3

#endif // PRIVACY_CONVERSION_H
