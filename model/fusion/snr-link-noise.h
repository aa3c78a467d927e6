// SPDX-License-Identifier: GPL-2.0-only

#ifndef SNR_LINK_NOISE_H
#define SNR_LINK_NOISE_H

#include "link-noise.h"

namespace ns3
{

/**
 * @ingroup federated
 * @brief Noise as if the same update had been sent uncoded, at the measured SNR.
 *
 * sigma^2 = mean square of the sent values / SNR. This is an overlay on digital links. A bad
 * channel then acts twice: frames are lost, and noise is added to the received ones.
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
