// SPDX-License-Identifier: GPL-2.0-only

#ifndef CLUSTER_SIZE_POLICY_H
#define CLUSTER_SIZE_POLICY_H

#include "ns3/object.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3
{

/**
 * @ingroup federated
 * @brief A group of devices that share a resolution, as a ClusterSizePolicy sees it.
 */
struct ClusterGroup
{
    uint32_t devices = 0;     //!< g_m, devices in the group.
    uint32_t bits = 0;        //!< b_m, nominal resolution: the b of 2^b - 1.
    uint32_t wireBits = bits; //!< Bits a coordinate that count against the budget.
    double sigma2 = 0;        //!< Mean over the group's devices of the link noise variance.
};

/**
 * @ingroup federated
 * @brief The answer of a ClusterSizePolicy.
 */
struct ClusterSizes
{
    bool feasible = false;       //!< Whether sizes that obey every constraint exist.
    std::vector<uint32_t> sizes; //!< c_m, one for each group; empty if not feasible.
    std::string reason;          //!< If not feasible: which constraint fails, and by how much.
};

/**
 * @ingroup federated
 * @brief Decides how many devices of each group are selected in a round.
 *
 * The sizes c_m are integers with 1 <= c_m <= g_m, sum c_m = N, and sum wireBits_m c_m <= B
 * (the constraints of the paper's problem op1).
 */
class ClusterSizePolicy : public Object
{
  public:
    /**
     * Get the type ID.
     * @return the object TypeId
     */
    static TypeId GetTypeId();

    ~ClusterSizePolicy() override;

    /**
     * Choose the cluster sizes of a round.
     * @param groups The groups; the answer's sizes are in the same order.
     * @param participants N, devices that take part.
     * @param budget B, bits a coordinate summed over the participants; infinite: no limit.
     * @return the sizes, or why there are none.
     */
    ClusterSizes Choose(const std::vector<ClusterGroup>& groups,
                        uint32_t participants,
                        double budget);

    /**
     * How many devices fit into a budget, for rounds whose budget is too small for N devices.
     * @param groups The groups.
     * @param participants N, devices that are wanted.
     * @param budget B, bits a coordinate summed over the participants; infinite: no limit.
     * @return the largest number of devices, at most N, for which Choose() is feasible; 0 if there
     * is none.
     */
    static uint32_t LargestFeasible(const std::vector<ClusterGroup>& groups,
                                    uint32_t participants,
                                    double budget);

    /**
     * Fix the random streams in use.
     * @param stream First stream number.
     * @return how many streams were used.
     */
    int64_t AssignStreams(int64_t stream);

  private:
    /** @copydoc AssignStreams */
    virtual int64_t DoAssignStreams(int64_t stream);

    /**
     * Choose, knowing that the constraints can be met.
     * @param groups The groups.
     * @param participants N.
     * @param budget B in whole bits, at most the bits of all devices.
     * @return the sizes.
     */
    virtual std::vector<uint32_t> DoChoose(const std::vector<ClusterGroup>& groups,
                                           uint32_t participants,
                                           uint64_t budget) = 0;
};

} // namespace ns3

#endif // CLUSTER_SIZE_POLICY_H
