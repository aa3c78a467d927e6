// SPDX-License-Identifier: GPL-2.0-only

#ifndef UNIFORM_FUSION_H
#define UNIFORM_FUSION_H

#include "fusion-rule.h"

namespace ns3
{

/**
 * @ingroup federated
 * @brief Every update counts the same, 1/N: Algorithm 1 without FWO.
 */
class UniformFusion : public FusionRule
{
  public:
    /** @return the TypeId. */
    static TypeId GetTypeId();

  private:
    double DoGetScore(const UpdateQuality& update) const override;
};

} // namespace ns3

#endif // UNIFORM_FUSION_H
