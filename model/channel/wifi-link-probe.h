// SPDX-License-Identifier: GPL-2.0-only

#ifndef WIFI_LINK_PROBE_H
#define WIFI_LINK_PROBE_H

#include "link-probe.h"

#include "ns3/mac48-address.h"
#include "ns3/net-device.h"

#include <map>

namespace ns3
{

/**
 * @ingroup federated
 * @brief Observes the data frames (MPDUs) of devices at wifi receivers, decoded and failed, alone
 * and inside of A-MPDUs, with their SNR.
 *
 * A frame counts once at each receiver that it is addressed to, by unicast or group address;
 * retransmissions count again. All frames of an A-MPDU have the same SNR. A frame fails by its
 * payload, or because the receiver drops it: its PHY header failed, its preamble was not detected,
 * the receiver was busy with another frame. The SNR of such a frame is known if its preamble was
 * detected: the received power over the noise of the receiver, without interference. That noise is
 * the least of all earlier frames; before the first frame, it follows from the default of
 * WifiPhy::RxNoiseFigure (Config::SetDefault), since a PHY does not expose its own value.
 *
 * Packets inside of an A-MSDU cannot be distinguished: for them, GetPacketSnr() returns NaN.
 *
 * Not observed are frames below WifiPhy::RxSensitivity, which ns-3 drops without a trace, and those
 * on other links than the first of a multi-link device.
 */
class WifiLinkProbe : public LinkProbe
{
  public:
    /** @return the TypeId. */
    static TypeId GetTypeId();

    WifiLinkProbe();

    /**
     * Observe a receiver, which keeps the probe alive.
     * @param receiver A WifiNetDevice with its PHY and MAC.
     */
    void Attach(const Ptr<NetDevice>& receiver);

    /**
     * @param device A device.
     * @param address The MAC address that it sends from.
     */
    void AddDevice(uint32_t device, Mac48Address address);

  private:
    class Receiver;

    // State
    std::map<Mac48Address, uint32_t> m_devices; //!< By address.
};

} // namespace ns3

#endif // WIFI_LINK_PROBE_H
