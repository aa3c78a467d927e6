// SPDX-License-Identifier: GPL-2.0-only

#ifndef DISCRETE_NOISE_H
#define DISCRETE_NOISE_H

#include "ns3/federated-random.h"

#include <cstdint>

namespace ns3::federated
{

/** Noise of this magnitude or more is drawn as plus or minus this number. */
constexpr int64_t NOISE_LIMIT = int64_t{1} << 62;

/**
 * @ingroup federated
 * @brief Integer noise with P(k) proportional to e^{-|k|/t}, drawn exactly: random words are
 * compared, and no probability is ever rounded.
 *
 * A draw takes 1 + e^2/(e-1) = 5.3 words on average for large t below 2^32, and at most four times
 * as many for any t.
 */
class DiscreteLaplace
{
  public:
    static constexpr uint64_t MAX_SCALE = uint64_t{1} << 62; //!< The largest t.

    /** @param scale t, 1 to MAX_SCALE. */
    explicit DiscreteLaplace(uint64_t scale);

    /**
     * @param random Stream for the random words.
     * @return the noise; its magnitude is at most NOISE_LIMIT.
     */
    int64_t Draw(FederatedRandom& random) const;

    /** @return the variance, 2r/(1-r)^2 with r = e^{-1/t}. */
    double GetVariance() const;

  private:
    /**
     * @param random Stream for the random words.
     * @return an integer uniform over 0..t-1.
     */
    uint64_t DrawBelowScale(FederatedRandom& random) const;

    uint64_t m_scale; //!< t.
    uint64_t m_mask;  //!< The least 2^n - 1 that is not below t - 1.
};

/**
 * @ingroup federated
 * @brief Integer noise with P(k) proportional to e^{-k^2/(2 s^2)}, s a power of two, drawn exactly
 * (C. Canonne, G. Kamath and T. Steinke, "The discrete Gaussian for differential privacy", 2020).
 */
class DiscreteGaussian
{
  public:
    static constexpr int MIN_EXPONENT = -8; //!< Of the smallest s.
    static constexpr int MAX_EXPONENT = 24; //!< Of the largest s.

    /** @param exponent Binary logarithm of s, MIN_EXPONENT to MAX_EXPONENT. */
    explicit DiscreteGaussian(int exponent);

    /**
     * @param random Stream for the random words.
     * @return the noise; its magnitude is at most NOISE_LIMIT.
     */
    int64_t Draw(FederatedRandom& random) const;

    /** @return the variance: s^2 from s = 2 on, a little less below. */
    double GetVariance() const;

  private:
    /**
     * Accept a candidate of the discrete Laplace distribution with its probability.
     * @param magnitude Magnitude of the candidate.
     * @param random Stream for the random words.
     * @return whether the candidate is the noise.
     */
    bool Accept(uint64_t magnitude, FederatedRandom& random) const;

    int m_exponent;              //!< Binary logarithm of s.
    DiscreteLaplace m_candidate; //!< t = max(1, s).
};

} // namespace ns3::federated

#endif // DISCRETE_NOISE_H
