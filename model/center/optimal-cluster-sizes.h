// SPDX-License-Identifier: GPL-2.0-only

#ifndef OPTIMAL_CLUSTER_SIZES_H
#define OPTIMAL_CLUSTER_SIZES_H

#include "cluster-size-policy.h"

namespace ns3
{

/**
 * @ingroup federated
 * @brief Cluster sizes that minimize the deviation term of the convergence bound (the paper's CSO).
 *
 * Solves min sum_m c_m (8 C^2 / (2^b_m - 1)^2 + sigma2_m) under the constraints of
 * ClusterSizePolicy (problem op1), exactly: a depth-first search over the groups, where groups of
 * equal wire bits are treated as one. Branches are pruned by the Lagrangian bound of the remaining
 * groups (bits priced into the cost, at several prices), by the remaining budget modulo the
 * differences of bits, and if the same groups with as many devices and bits left were already tried
 * at no higher cost. M = 20, N = 1000 takes some hundred to some thousand nodes.
 *
 * Costs are whole multiples of 2^-s of the largest one, with an s for which no sum overflows 64
 * bits (45 for N = 1000 and 16 bits): sums and ties are exact. Costs that differ by less than 2^-s
 * of the largest count as equal.
 *
 * Among equally good vectors the one with the most devices in the first group wins, then in the
 * second, and so on, where groups are ordered by wire bits, then by cost, then as they are given.
 */
class OptimalClusterSizes : public ClusterSizePolicy
{
  public:
    /**
     * Get the type ID.
     * @return the object TypeId
     */
    static TypeId GetTypeId();

    OptimalClusterSizes();
    ~OptimalClusterSizes() override;

    /** @return how many nodes the last search visited. */
    uint64_t GetNodes() const;

  private:
    std::vector<uint32_t> DoChoose(const std::vector<ClusterGroup>& groups,
                                   uint32_t participants,
                                   uint64_t budget) override;

    // Attributes
    double m_constant = 0; //!< C.

    // State
    uint64_t m_nodes = 0; //!< Nodes that the last search visited.
};

} // namespace ns3

#endif // OPTIMAL_CLUSTER_SIZES_H
