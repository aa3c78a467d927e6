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
 * It minimizes an upper bound on the fusion error that considers neither the bias of the quantizer
 * nor the data: it can be less accurate than equal weights, for instance if the coarse and the fine
 * devices hold different labels. With `exact`, an update without a reported error has no weight;
 * the center drops it, and reports below what the quantizer can reach (federated::UpdateLimits).
 * UpdateFuser limits what a device gains by a small report or a narrow interval.
 */
class EffectiveSnrFusion : public FusionRule
{
  public:
    /** Source of D. */
    enum DistortionSource
    {
        EXACT, //!< Reported by the device for its update: side information without protection.
        CELL,  //!< For values uniform in their cell, from public numbers.
    };

    /** @return the TypeId. */
    static TypeId GetTypeId();

  private:
    double DoGetScore(const UpdateQuality& update) const override;
    bool DoNeedsReportedDistortion() const override;

    // Attributes
    DistortionSource m_distortion; //!< Source of D.
};

} // namespace ns3

#endif // EFFECTIVE_SNR_FUSION_H
