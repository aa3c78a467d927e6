// SPDX-License-Identifier: GPL-2.0-only

#ifndef QUANTITY_PARTITION_H
#define QUANTITY_PARTITION_H

#include "federated-partition.h"

namespace ns3
{

/**
 * @ingroup federated
 * @brief Classes are i.i.d., but the numbers of samples are drawn from a symmetric Dirichlet
 * distribution.
 *
 * A device that would get nothing gets one sample of the device that holds most.
 */
class QuantityPartition : public FederatedPartition
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
    double m_alpha; //!< Parameter of the distribution.
};

} // namespace ns3

#endif // QUANTITY_PARTITION_H
