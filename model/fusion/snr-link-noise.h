// SPDX-License-Identifier: GPL-2.0-only

#ifndef SNR_LINK_NOISE_H
#define SNR_LINK_NOISE_H

#include "link-noise.h"

namespace ns3
{

/**
 * @ingroup federated
 * @brief What if the same update had been sent uncoded, at the SNR that was measured?
 *
 * sigma^2 = mean square of the sent values / SNR. This is an overlay on links that are digital: a
 * bad channel then costs twice, by lost frames and by noise on those that came.
 */
class SnrLinkNoise : public LinkNoise
{
  public:
    /** @return the TypeId. */
    static TypeId GetTypeId();

  private:
    double DoGetVariance(uint32_t device,
                         uint32_t group,
                         double snr,
                         double meanSquare) const override;
    bool DoDependsOnSnr() const override;
};

} // namespace ns3

#endif // SNR_LINK_NOISE_H
