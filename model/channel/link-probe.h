// SPDX-License-Identifier: GPL-2.0-only

#ifndef LINK_PROBE_H
#define LINK_PROBE_H

#include "ns3/object.h"

#include <cstdint>
#include <limits>

namespace ns3
{

/**
 * @ingroup federated
 * @brief What is known about the uplink of one device; NaN where it is unknown.
 */
struct LinkQuality
{
    double snr = std::numeric_limits<double>::quiet_NaN();  //!< Signal to noise ratio, linear.
    double rate = std::numeric_limits<double>::quiet_NaN(); //!< In bit/s.
    double loss = std::numeric_limits<double>::quiet_NaN(); //!< Fraction of frames lost, 0..1.
};

/**
 * @ingroup federated
 * @brief Observes the links from the devices to the fusion center.
 *
 * What can be observed depends on the technology of the links; a probe says of everything else that
 * it is unknown.
 */
class LinkProbe : public Object
{
  public:
    /** @return the TypeId. */
    static TypeId GetTypeId();

    /**
     * Tell the probe that a round begins, for probes that keep a record of each round.
     * @param round Its number.
     */
    void BeginRound(uint32_t round);

    /**
     * @param device A device.
     * @return the quality of its uplink, as far as it is known.
     */
    LinkQuality GetQuality(uint32_t device) const;

  private:
    /** @copydoc BeginRound */
    virtual void DoBeginRound(uint32_t round);

    /** @copydoc GetQuality */
    virtual LinkQuality DoGetQuality(uint32_t device) const = 0;
};

} // namespace ns3

#endif // LINK_PROBE_H
