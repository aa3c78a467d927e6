// SPDX-License-Identifier: GPL-2.0-only

#ifndef PRIVACY_COIN_H
#define PRIVACY_COIN_H

#include "ns3/federated-random.h"

#include <cstddef>
#include <cstdint>

namespace ns3::federated
{

/**
 * @ingroup federated
 * @brief A coin that shows heads with probability e^epsilon / (1 + e^epsilon), as an integer
 * threshold.
 *
 * A uniform 32-bit word r shows heads if r < T, T = min(floor(2^32 p), 2^32 - 1). The probabilities
 * of the coin are therefore known exactly: it has the privacy loss ln(T / (2^32 - T)), which is
 * never above the configured epsilon.
 */
class PrivacyCoin
{
  public:
    /** @param epsilon The privacy loss, at least 0. */
    explicit PrivacyCoin(double epsilon);

    /**
     * Toss the coin. Of each word the first eight bits are drawn, and the others only in the one
     * case of 256 in which they matter; the outcome has exactly the probability T / 2^32.
     * @param random Source of the bits.
     * @param count How often, at most MAX_TOSSES.
     * @param [out] heads -1 (all bits set) for heads, 0 for tails.
     */
    void Toss(FederatedRandom& random, std::size_t count, int8_t* heads) const;

    static constexpr std::size_t MAX_TOSSES = 1024; //!< Most tosses in one call.

    /** @return the threshold T. */
    uint32_t GetThreshold() const;

    /** @return the probability of heads, T / 2^32. */
    double GetProbability() const;

    /** @return the privacy loss of the coin as implemented, ln(T / (2^32 - T)). */
    double GetRealizedEpsilon() const;

  private:
    uint32_t m_threshold; //!< T.
};

} // namespace ns3::federated

#endif // PRIVACY_COIN_H
