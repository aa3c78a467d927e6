// SPDX-License-Identifier: GPL-2.0-only

#ifndef LABEL_PARTITION_H
#define LABEL_PARTITION_H

#include "federated-partition.h"

namespace ns3
{

/**
 * @ingroup federated
 * @brief Each group of devices has its own equal range of classes; i.i.d. inside a group.
 */
class LabelPartition : public FederatedPartition
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

#endif // LABEL_PARTITION_H
