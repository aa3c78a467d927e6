// SPDX-License-Identifier: GPL-2.0-only

#ifndef BINARY_RESPONSE_H
#define BINARY_RESPONSE_H

#include "level-grid.h"
#include "privacy-coin.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

namespace ns3::federated
{

/**
 * @ingroup federated
 * @brief One bit about a value with a true epsilon, and its decoding by the receiver.
 *
 * For the interval [m-A, m+A] the bit of a value a is 1 with probability (1 + tau x)/2,
 * x = (a-m)/A, tau = tanh(epsilon/2): any two values have a privacy loss of at most epsilon. The
 * receiver decodes it as m +- G, where G is
 * - `bayes`: tau A/3, the mean of a value that is uniform in the interval, given the bit;
 * - `unbiased`: A/tau, right on average;
 * - `gain:x`: x A.
 */
class BinaryResponse
{
  public:
    /**
     * @param value Any number; it is clamped.
     * @param grid Levels of the interval.
     * @return where in the interval the value lies: x, -1 at the lower and 1 at the upper end.
     */
    static double GetPosition(float value, const LevelGrid& grid)
    {
        if (grid.low == -grid.high && grid.inverseStep > 0)
        {
            // Exact but for a relative rounding: GetUpdateRho() counts on it for values close to 0.
            return std::clamp(double{value} / double{grid.high}, -1.0, 1.0);
        }
        double fraction;
        const int32_t cell = grid.Locate(value, fraction);
        return std::clamp(2 * (cell + fraction) / grid.top - 1, -1.0, 1.0);
    }

    /** @param epsilon The privacy loss of a bit, at least 0. */
    void SetEpsilon(double epsilon);

    /**
     * @param owner Name of the quantizer, for the message of a wrong decoder.
     * @param decoder `bayes`, `unbiased` or `gain:x` with a number x above 0.
     */
    void SetDecoder(const char* owner, const std::string& decoder);

    /** @return the decoder as it was set. */
    const std::string& GetDecoder() const;

    /**
     * @param owner Name of the quantizer.
     * @param [out] error On failure, one sentence that says what is wrong.
     * @return whether the receiver can decode a bit: a fair coin has no unbiased decoder.
     */
    bool Check(const char* owner, std::string& error) const;

    /** @return the privacy loss of a bit as it is drawn. */
    double GetRealizedEpsilon() const;

    /** @return tau = 2p - 1 of the coin as implemented. */
    double GetContrast() const;

    /**
     * @param position Where a value lies, x.
     * @return the integer T such that its bit is 1 if a uniform 32-bit word is below T. It lies
     *         between those of the two ends, so that no two values have a larger ratio than they.
     */
    uint32_t GetThreshold(double position) const
    {
        return FAIR + static_cast<uint32_t>(static_cast<int32_t>(m_span * position));
    }

    /** rho of the bits of a whole update. */
    struct UpdateRho
    {
        double proven = 0; //!< Claimed.
        double tight = 0;  //!< Less, but one inequality of its proof was only checked on a grid; 0
                           //!< where it does not hold.
    };

    /**
     * One bit of each coordinate of an update, whose l2 norm is at most C, on the interval [-A, A].
     *
     * With A' = min(A, C), t = tau A'/A and e = 2 atanh t any two updates have
     * rho = min(d, (C/A')^2) e^2/2. Proof: a bit is 1 with probability (1+x)/2, |x| <= t, whose
     * logit is 2 atanh x. Renyi divergences of bits with logits apart by h are at most
     * alpha h^2/8, because the second derivative of ln(1+e^u) is at most 1/4. So two values have
     * D_alpha/alpha <= (atanh x - atanh y)^2/2 <= atanh^2 x + atanh^2 y <= (atanh t/t)^2 (x^2+y^2),
     * and the sum of x^2 over the coordinates is at most t^2 min(d, (C/A')^2). The same with
     * e tanh(e/2) instead of e^2/2 is attained, so that it is the least, for t <= 1/sqrt(2).
     * @param clipBound C, above 0.
     * @param halfWidth A, above 0.
     * @param dimension d; 0: unknown.
     * @return rho of an update, as the bits are drawn.
     */
    UpdateRho GetUpdateRho(double clipBound, double halfWidth, std::size_t dimension) const;

    /**
     * @param chance Probability that a bit is sent at all, for which the unbiased decoder
     * compensates.
     * @return G / A. Aborts if Check() fails.
     */
    double GetGain(double chance = 1) const;

  private:
    static constexpr uint32_t FAIR = 1U << 31; //!< Threshold of a fair coin.

    PrivacyCoin m_coin{0};           //!< Of a value at an end of the interval.
    double m_span = 0;               //!< Threshold of the coin above that of a fair one.
    std::string m_decoder = "bayes"; //!< The decoder as it was written.
    double m_gain = 0;               //!< x of `gain:x`, 0 for the other decoders.
};

} // namespace ns3::federated

#endif // BINARY_RESPONSE_H
