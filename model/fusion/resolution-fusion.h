// SPDX-License-Identifier: GPL-2.0-only

#ifndef RESOLUTION_FUSION_H
#define RESOLUTION_FUSION_H

#include "fusion-rule.h"

namespace ns3
{

/**
 * @ingroup federated
 * @brief Weights proportional to 2^b - 1, so inversely to the step: the fusion of LaplaceSQ-FL.
 */
class ResolutionFusion : public FusionRule
{
  public:
    /** @return the TypeId. */
    static TypeId GetTypeId();

  private:
    double DoGetScore(const UpdateQuality& update) const override;
};

} // namespace ns3

#endif // RESOLUTION_FUSION_H
