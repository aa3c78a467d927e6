// SPDX-License-Identifier: GPL-2.0-only

#ifndef FEDERATED_JAKES_FADING_H
#define FEDERATED_JAKES_FADING_H

#include "federated-link-fading.h"

namespace ns3
{

/**
 * @ingroup federated
 * @brief Rayleigh fading whose gain changes gradually, with the Doppler spectrum of Clarke and
 * Jakes: a sum of sinusoids.
 *
 * M waves of equal power arrive from all directions at a receiver that moves:
 *
 *   h(t) = M^(-1/2) sum_n exp(j (2 pi f t cos a_n + phi_n)),  gain = |h(t)|^2
 *
 * with a_n uniform in the n-th of M equal sectors and phi_n uniform, drawn for each link. Over
 * links the autocorrelation of h is J_0(2 pi f tau) exactly, and that of the gain J_0^2 within 1/M.
 * The gain is exponential but for terms in 1/M: its variance is 1 - 1/M. Its mean over the time is
 * 1 for every link.
 */
class FederatedJakesFading : public FederatedLinkFading
{
  public:
    static constexpr unsigned WAVES = 32; //!< M.

    /** @return the TypeId. */
    static TypeId GetTypeId();

  private:
    double DoGetGain(const Link& link) const override;
};

} // namespace ns3

#endif // FEDERATED_JAKES_FADING_H
