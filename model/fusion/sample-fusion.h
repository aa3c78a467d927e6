// SPDX-License-Identifier: GPL-2.0-only

#ifndef SAMPLE_FUSION_H
#define SAMPLE_FUSION_H

#include "fusion-rule.h"

namespace ns3
{

/**
 * @ingroup federated
 * @brief Weights proportional to the training samples of the devices, n_k/n: federated averaging
 * (McMahan et al. 2017). WeightBySamples changes nothing here.
 *
 * The numbers of samples are reports of the devices, trusted up to FusionCenter::MaxSamples.
 */
class SampleFusion : public FusionRule
{
  public:
    /** @return the TypeId. */
    static TypeId GetTypeId();

  private:
    double DoGetScore(const UpdateQuality& update) const override;
};

} // namespace ns3

#endif // SAMPLE_FUSION_H
