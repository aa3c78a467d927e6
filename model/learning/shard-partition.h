// SPDX-License-Identifier: GPL-2.0-only

#ifndef SHARD_PARTITION_H
#define SHARD_PARTITION_H

#include "federated-partition.h"

namespace ns3
{

/**
 * @ingroup federated
 * @brief The samples, sorted by class, are cut into equal shards that are dealt at random (McMahan
 * et al. 2017).
 */
class ShardPartition : public FederatedPartition
{
  public:
    /**
     * @brief Get the type ID.
     * @return the object TypeId
     */
    static TypeId GetTypeId();

  private:
    bool DoSplit(const PartitionProblem& problem,
                 FederatedRandom& random,
                 Parts& parts,
                 std::string& error) const override;

    // Attributes
    uint32_t m_shards; //!< Shards that each device gets.
};

} // namespace ns3

#endif // SHARD_PARTITION_H
