// SPDX-License-Identifier: GPL-2.0-only

#ifndef LINK_NOISE_H
#define LINK_NOISE_H

#include "link-probe.h"

#include "ns3/object.h"

#include <cstdint>

namespace ns3
{

/**
 * @ingroup federated
 * @brief How strong the noise is that the link adds to the values of an update, n ~ N(0, sigma^2 I)
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
     * @param quality What is known about its uplink.
     * @param meanSquare Mean square of the values that were sent; NaN if it is unknown.
     * @return sigma^2, the variance of the noise on a coordinate that came; may be infinite.
     */
    double GetVariance(uint32_t device,
                       uint32_t group,
                       const LinkQuality& quality,
                       double meanSquare) const;

    /**
     * @param device A device.
     * @param group Its group.
     * @param quality What is known about its uplink.
     * @return the variance to expect before anything was sent, from which cluster sizes follow; may
     * be infinite.
     */
    double GetExpectedVariance(uint32_t device, uint32_t group, const LinkQuality& quality) const;

  private:
    /** @copydoc GetVariance */
    virtual double DoGetVariance(uint32_t device,
                                 uint32_t group,
                                 const LinkQuality& quality,
                                 double meanSquare) const = 0;

    /**
     * By default the variance for an unknown mean square.
     * @copydetails GetExpectedVariance
     */
    virtual double DoGetExpectedVariance(uint32_t device,
                                         uint32_t group,
                                         const LinkQuality& quality) const;
};

} // namespace ns3

#endif // LINK_NOISE_H
