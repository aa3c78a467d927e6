// SPDX-License-Identifier: GPL-2.0-only

#ifndef FEDERATED_STAR_HELPER_H
#define FEDERATED_STAR_HELPER_H

#include "ns3/data-rate.h"
#include "ns3/ipv4-address.h"
#include "ns3/net-device-container.h"
#include "ns3/node-container.h"
#include "ns3/nstime.h"

#include <cstdint>

namespace ns3
{

/**
 * @ingroup federated
 * @brief A wired star of IPv4 nodes over point-to-point links, for thousands of devices.
 *
 * @verbatim
              +-- hub --+-- device                       +-- device
              |         +-- device                       +-- device
    center ---+                         or      center --+
              +-- hub --+-- device                       +-- device
                        +-- device                       +-- device
   @endverbatim
 *
 * Routes are static. Hubs keep routing tables short: a router of ns-3 looks through all of its
 * routes for every packet, so that about sqrt(K) hubs are best for K devices. All links of a node
 * share its one address, as unnumbered links do. There are no queue discs, only the queues of the
 * net devices.
 */
class FederatedStarHelper
{
  public:
    static constexpr uint32_t MAX_HUBS = 254; //!< Their numbers are a byte of addresses.

    FederatedStarHelper();

    /**
     * @param rate Rate of the links of devices.
     * @param delay Their delay.
     */
    void SetDeviceLink(const DataRate& rate, const Time& delay);

    /**
     * @param rate Rate of the links between hubs and center.
     * @param delay Their delay.
     */
    void SetTrunkLink(const DataRate& rate, const Time& delay);

    /** @param bytes Largest IP packet on any link; 1500 if this is not called. */
    void SetMtu(uint16_t bytes);

    /**
     * Make center, hubs and links, and install the internet stack, once.
     * @param devices The devices, nodes without internet stack.
     * @param hubs Number of hubs, at most MAX_HUBS; 0: devices have links to the center.
     */
    void Install(const NodeContainer& devices, uint32_t hubs);

    /** @return the center. */
    Ptr<Node> GetCenter() const;

    /** @return the address of the center. */
    Ipv4Address GetCenterAddress() const;

    /** @return the net devices of the center. */
    const NetDeviceContainer& GetCenterPorts() const;

    /** @return the net devices that receive what devices send, in the order of the devices. */
    const NetDeviceContainer& GetUplinkPorts() const;

  private:
    DataRate m_deviceRate;            //!< Of the links of devices.
    Time m_deviceDelay;               //!< Of the links of devices.
    DataRate m_trunkRate;             //!< Of the links of the center.
    Time m_trunkDelay;                //!< Of the links of the center.
    uint16_t m_mtu;                   //!< Of all links.
    Ptr<Node> m_center;               //!< The center.
    NetDeviceContainer m_centerPorts; //!< Of the center.
    NetDeviceContainer m_uplinkPorts; //!< The far ends of the links of devices.
};

} // namespace ns3

#endif // FEDERATED_STAR_HELPER_H
