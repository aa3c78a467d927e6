// SPDX-License-Identifier: GPL-2.0-only

#ifndef GOODPUT_PROBE_H
#define GOODPUT_PROBE_H

#include "link-probe.h"

#include "ns3/address.h"
#include "ns3/ipv4-header.h"
#include "ns3/ipv6-header.h"
#include "ns3/node.h"
#include "ns3/packet.h"

#include <map>

namespace ns3
{

/**
 * @ingroup federated
 * @brief Observes the IP packets that a node receives from devices, over links of any kind: how
 * many, how fast and when. SNR, rate of the physical layer and lost packets are unknown.
 */
class GoodputProbe : public LinkProbe
{
  public:
    /** @return the TypeId. */
    static TypeId GetTypeId();

    GoodputProbe();

    /**
     * Observe a node, which keeps the probe alive.
     * @param node The node of the fusion center, with its internet stack.
     */
    void Attach(const Ptr<Node>& node);

    /**
     * @param device A device.
     * @param ip Its IPv4 or IPv6 address, without port.
     */
    void AddDevice(uint32_t device, const Address& ip);

  private:
    /**
     * @param header Header of an IPv4 packet.
     * @param packet What it carries.
     * @param interface Interface that received it.
     */
    void Receive4(const Ipv4Header& header, Ptr<const Packet> packet, uint32_t interface);

    /**
     * @param header Header of an IPv6 packet.
     * @param packet What it carries.
     * @param interface Interface that received it.
     */
    void Receive6(const Ipv6Header& header, Ptr<const Packet> packet, uint32_t interface);

    /**
     * @param source Address of the sender.
     * @param packet The received packet.
     * @param headerSize Size of its IP header.
     */
    void Count(const Address& source, const Ptr<const Packet>& packet, uint32_t headerSize);

    // State
    std::map<Address, uint32_t> m_devices; //!< By address.
};

} // namespace ns3

#endif // GOODPUT_PROBE_H
