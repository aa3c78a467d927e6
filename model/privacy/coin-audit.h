// SPDX-License-Identifier: GPL-2.0-only

#ifndef COIN_AUDIT_H
#define COIN_AUDIT_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ns3
{

/**
 * @ingroup federated
 * @brief Tries to find two updates that were made with the same coins.
 *
 * A claim holds for one update. Of two answers to the same coins an observer subtracts the coins:
 * together they have no epsilon. The audit compares updates that were sent with one bit a
 * coordinate and an epsilon so small that every bit is a fair coin, whatever the data is: of n
 * bits n/2 agree, with a standard error of sqrt(n)/2, unless coins are shared.
 */
class CoinAudit
{
  public:
    /** How much two updates agree. */
    struct Comparison
    {
        std::size_t first = 0;     //!< Index of an update.
        std::size_t second = 0;    //!< Index of another one.
        double agreement = 0;      //!< Share of equal bits.
        double standardErrors = 0; //!< Distance from that of independent fair coins.
    };

    /** @param bits Coordinates of an update, at least 1. */
    explicit CoinAudit(std::size_t bits);

    /**
     * Add an update.
     * @param payload As it was sent, one bit a coordinate.
     */
    void Add(const std::vector<uint8_t>& payload);

    /** @return how many updates were added. */
    std::size_t GetUpdates() const;

    /**
     * @return the two updates that are furthest from independent coins; at least two are needed.
     */
    Comparison GetWorst() const;

    /**
     * @param alpha Probability of a false alarm, for all pairs together.
     * @return whether some pair agrees more, or less, than independent coins do.
     */
    bool FindsSharedCoins(double alpha) const;

  private:
    /**
     * @param first Index of an update.
     * @param second Index of another one.
     * @return how many of their bits are equal.
     */
    std::size_t CountEqual(std::size_t first, std::size_t second) const;

    std::size_t m_bits;                           //!< Coordinates of an update.
    std::vector<std::vector<uint8_t>> m_payloads; //!< The updates.
};

} // namespace ns3

#endif // COIN_AUDIT_H
