// SPDX-License-Identifier: GPL-2.0-only

#ifndef NO_LINK_NOISE_H
#define NO_LINK_NOISE_H

#include "link-noise.h"

namespace ns3
{

/**
 * @ingroup federated
 * @brief Digital links: received values are those that were sent; a bad channel causes loss and
 * delay.
 */
class NoLinkNoise : public LinkNoise
{
  public:
    /** @return the TypeId. */
    static TypeId GetTypeId();

  private:
    double DoGetVariance(uint32_t device,
                         uint32_t group,
                         double snr,
                         double meanSquare) const override;
};

} // namespace ns3

#endif // NO_LINK_NOISE_H
