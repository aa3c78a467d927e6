// SPDX-License-Identifier: GPL-2.0-only

#ifndef FEDERATED_STAR_HELPER_H
#define FEDERATED_STAR_HELPER_H

#include "federated-helper.h"

#include "ns3/application-container.h"
#include "ns3/data-rate.h"
#include "ns3/ipv4-address.h"
#include "ns3/net-device-container.h"
#include "ns3/node-container.h"
#include "ns3/nstime.h"

#include <cstdint>
#include <optional>

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
 * Routes are static. Tiers of hubs keep routing tables short: a router of ns-3 searches its routes,
 * and sometimes its interfaces, linearly for every packet. All links of a node share its one
 * address, as unnumbered links do. There are no queue discs, only the queues of the net devices.
 *
 * @code
    FederatedStarHelper star;
    star.SetDeviceLink(DataRate("100Mbps"), MilliSeconds(1));
    star.Install(federation, center);
   @endcode
 */
class FederatedStarHelper
{
  public:
    static constexpr uint32_t MAX_DEVICES = 1U << 22; //!< Number of addresses.

    FederatedStarHelper();

    /**
     * @param rate Rate of the links of devices.
     * @param delay Their delay.
     */
    void SetDeviceLink(const DataRate& rate, const Time& delay);

    /**
     * @param rate Rate of the links of hubs towards the center.
     * @param delay Their delay.
     */
    void SetTrunkLink(const DataRate& rate, const Time& delay);

    /**
     * @param bytes Largest IP packet on any link; 1500 if this is not called. Messages then have
     * that size, unless FragmentSize of center or devices is set.
     */
    void SetMtu(uint16_t bytes);

    /**
     * @param tiers Hubs on the way from the center to a device; 0: devices have links to the
     * center. GetTiers() if this is not called.
     */
    void SetTiers(uint32_t tiers);

    /**
     * Make hubs and links, install the internet stack, and install a federation. Once.
     *
     * The federation gets defaults, which its own settings override: model and updates are sent
     * at 80 % of the rate of the links of devices.
     * @param federation The federation; its nodes have no internet stack.
     * @param center The node of the center, likewise.
     * @return the center, then the devices in the order of their numbers.
     */
    ApplicationContainer Install(FederatedHelper& federation, const Ptr<Node>& center);

    /**
     * @param devices Number of devices.
     * @return the number of tiers of hubs with the least cost per packet.
     */
    static uint32_t GetTiers(uint32_t devices);

    /** @return the node of the center. */
    Ptr<Node> GetCenter() const;

    /** @return address and port of the center. */
    Address GetCenterAddress() const;

    /** @return the net devices of the center. */
    const NetDeviceContainer& GetCenterPorts() const;

    /** @return the net devices that receive from devices, in the order of the devices. */
    const NetDeviceContainer& GetUplinkPorts() const;

  private:
    /** A node that others are attached to, or that is attached. */
    struct Hub
    {
        Ptr<Node> node;      //!< The node.
        Ipv4Address address; //!< Its address.
    };

    /** @param nodes Nodes that get an internet stack. */
    static void InstallInternet(const NodeContainer& nodes);

    /**
     * Make a link, and the route towards the center.
     * @param parent The end at the center's side.
     * @param child The other end.
     * @param isTrunk Whether the other end is a hub.
     * @return the interface of the link at the center's side.
     */
    uint32_t Connect(const Hub& parent, const Hub& child, bool isTrunk);

    /**
     * Attach devices to a node, directly or through hubs.
     * @param parent The node.
     * @param devices All devices.
     * @param begin The first one to attach.
     * @param end One past the last one.
     * @param tiers Hubs on the way to a device.
     */
    void Attach(const Hub& parent,
                const NodeContainer& devices,
                uint32_t begin,
                uint32_t end,
                uint32_t tiers);

    /** @return settings of a federation that suit the links. */
    FederatedHelper::LinkDefaults GetLinkDefaults() const;

    // Attributes
    DataRate m_deviceRate;           //!< Of the links of devices.
    Time m_deviceDelay;              //!< Of the links of devices.
    DataRate m_trunkRate;            //!< Of the links of the center.
    Time m_trunkDelay;               //!< Of the links of the center.
    std::optional<uint16_t> m_mtu;   //!< Of all links, if it is set.
    std::optional<uint32_t> m_tiers; //!< Of hubs, if it is set.

    // State
    Ptr<Node> m_center;               //!< The center.
    uint32_t m_tierBits = 0;          //!< A hub has 2^this children.
    uint32_t m_hubs = 0;              //!< Hubs made so far.
    NetDeviceContainer m_centerPorts; //!< Of the center.
    NetDeviceContainer m_uplinkPorts; //!< The far ends of the links of devices.
};

} // namespace ns3

#endif // FEDERATED_STAR_HELPER_H
