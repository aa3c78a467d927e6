// SPDX-License-Identifier: GPL-2.0-only

#ifndef BIT_BUDGET_H
#define BIT_BUDGET_H

#include "ns3/object.h"

#include <cstddef>
#include <cstdint>
#include <limits>

namespace ns3
{

/**
 * @ingroup federated
 * @brief State of the uplink when a round begins, as known to the fusion center; unknown values are
 * NaN.
 */
struct BitBudgetContext
{
    uint32_t round = 0;        //!< The round.
    std::size_t dimension = 0; //!< Coordinates of an update as it is encoded.
    double uplinkSeconds =
        std::numeric_limits<double>::quiet_NaN();           //!< tau, the time left for the uplink.
    double rate = std::numeric_limits<double>::quiet_NaN(); //!< Mean rate of the devices, bit/s.
};

/**
 * @ingroup federated
 * @brief How many bits the updates of a round may have: B of the paper, in bits per coordinate
 * summed over the selected devices.
 */
class BitBudget : public Object
{
  public:
    /** @return the TypeId. */
    static TypeId GetTypeId();

    /**
     * @param context What is known when the round begins.
     * @return B, not negative; infinite: no limit.
     */
    double GetBudget(const BitBudgetContext& context) const;

    /**
     * @return whether B limits the bits on the wire (32 if floats are sent), and not the nominal
     * resolution b of the groups.
     */
    bool CountsWireBits() const;

  private:
    /** @copydoc GetBudget */
    virtual double DoGetBudget(const BitBudgetContext& context) const = 0;

    /** @copydoc CountsWireBits */
    virtual bool DoCountsWireBits() const = 0;
};

} // namespace ns3

#endif // BIT_BUDGET_H
