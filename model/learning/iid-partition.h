// SPDX-License-Identifier: GPL-2.0-only

#ifndef IID_PARTITION_H
#define IID_PARTITION_H

#include "federated-partition.h"

namespace ns3
{

/**
 * @ingroup federated
 * @brief One random permutation, cut into equal blocks (the first ones one sample longer).
 */
class IidPartition : public FederatedPartition
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
};

} // namespace ns3

#endif // IID_PARTITION_H
