// SPDX-License-Identifier: GPL-2.0-only

#ifndef CLUSTER_CAPACITY_H
#define CLUSTER_CAPACITY_H

#include "cluster-size-policy.h"

#include <cstdint>
#include <vector>

namespace ns3::federated
{

/**
 * @brief How many devices of some groups fit into a bit budget, at least one of each group. The
 * groups are sorted once; each of many budgets then takes a binary search.
 */
class ClusterCapacity
{
  public:
    /** @param groups The groups. */
    explicit ClusterCapacity(const std::vector<ClusterGroup>& groups);

    /**
     * @param participants N, devices that are wanted.
     * @param budget B, bits a coordinate summed over the participants; infinite: no limit.
     * @return the largest number of devices, at most N, that fit; 0 if there is none.
     */
    uint32_t GetLargest(uint32_t participants, double budget) const;

    /**
     * @param participants Devices, from the number of groups to the number of all devices.
     * @return the least bits that this number of devices needs.
     */
    uint64_t GetLeastBits(uint64_t participants) const;

    /**
     * @param budget Bits, not negative.
     * @return the budget in whole bits, at most what all devices need.
     */
    uint64_t GetWholeBudget(double budget) const;

    /** @return how many devices there are. */
    uint64_t GetDevices() const;

  private:
    /** One device of each group and further ones, those of the fewest bits first. */
    struct Corner
    {
        uint64_t devices;  //!< How many.
        uint64_t bits;     //!< The bits that they need.
        uint64_t wireBits; //!< Bits of the next one.
    };

    bool m_isValid;                //!< Whether there are groups and all their values make sense.
    std::vector<Corner> m_corners; //!< Ascending; the last one has all devices.
};

} // namespace ns3::federated

#endif // CLUSTER_CAPACITY_H
