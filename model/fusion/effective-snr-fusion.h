// SPDX-License-Identifier: GPL-2.0-only

#ifndef EFFECTIVE_SNR_FUSION_H
#define EFFECTIVE_SNR_FUSION_H

#include "fusion-rule.h"

namespace ns3
{

/**
 * @ingroup federated
 * @brief Fusion weight optimization (FWO): weights proportional to theta = 1/(D + d sigma^2), D
 * being the expected squared quantization error of the update.
 *
 * It minimizes an upper bound on the fusion error that knows neither the bias of the quantizer nor
 * the data: it can lose accuracy against equal weights, for instance where the coarse and the fine
 * devices hold different labels. Reports are believed: an update that reports no error and came
 * over a link without noise takes the whole weight.
 */
class EffectiveSnrFusion : public FusionRule
{
  public:
    /** Where D comes from. */
    enum DistortionSource
    {
        EXACT, //!< Reported by the device for its update: side information without protection.
        CELL,  //!< For values uniform in their cell, from public numbers.
    };

    /** @return the TypeId. */
    static TypeId GetTypeId();

  private:
    double DoGetScore(const UpdateQuality& update) const override;

    // Attributes
    DistortionSource m_distortion; //!< Where D comes from.
};

} // namespace ns3

#endif // EFFECTIVE_SNR_FUSION_H
