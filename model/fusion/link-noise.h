// SPDX-License-Identifier: GPL-2.0-only

#ifndef LINK_NOISE_H
#define LINK_NOISE_H

#include "ns3/object.h"

#include <cstdint>

namespace ns3
{

/**
 * @ingroup federated
 * @brief Variance of the noise that the link adds to the values of an update, n ~ N(0, sigma^2 I)
 * in Algorithm 1.
 */
class LinkNoise : public Object
{
  public:
    /** @return the TypeId. */
    static TypeId GetTypeId();

    /**
     * @param device A device.
     * @param group Its group.
     * @param snr Linear SNR of its uplink; NaN if it is unknown.
     * @param meanSquare Mean square of the values that were sent; NaN if it is unknown.
     * @return sigma^2, the variance of the noise on a received coordinate; may be infinite; NaN if
     * it depends on something unknown.
     */
    double GetVariance(uint32_t device, uint32_t group, double snr, double meanSquare) const;

    /** @return whether the variance depends on the SNR and on the sent values. */
    bool DependsOnSnr() const;

  private:
    /** @copydoc GetVariance */
    virtual double DoGetVariance(uint32_t device,
                                 uint32_t group,
                                 double snr,
                                 double meanSquare) const = 0;

    /** @copydoc DependsOnSnr */
    virtual bool DoDependsOnSnr() const;
};

} // namespace ns3

#endif // LINK_NOISE_H
