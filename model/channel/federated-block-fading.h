// SPDX-License-Identifier: GPL-2.0-only

#ifndef FEDERATED_BLOCK_FADING_H
#define FEDERATED_BLOCK_FADING_H

#include "federated-link-fading.h"

namespace ns3
{

/**
 * @ingroup federated
 * @brief Rayleigh or Nakagami fading that lasts: the gain of a link is constant for a coherence
 * time and then drawn anew, so that a lost frame is followed by lost frames.
 *
 * The gain in power has the gamma distribution of Nakagami-m fading with mean 1; m = 1 is Rayleigh.
 * With the Doppler frequency f the coherence time is T = 0.423/f (T. S. Rappaport, Wireless
 * Communications, 2nd ed., 5.4.3). Each link has blocks that begin at a time of its own, at random:
 * the correlation of the gains at two times is 1 - tau/T for a distance tau below T, else 0.
 */
class FederatedBlockFading : public FederatedLinkFading
{
  public:
    /** @return the TypeId. */
    static TypeId GetTypeId();

  private:
    double DoGetGain(const Link& link) const override;

    // Attributes
    double m_shape = 1; //!< m.
};

} // namespace ns3

#endif // FEDERATED_BLOCK_FADING_H
