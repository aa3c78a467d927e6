// SPDX-License-Identifier: GPL-2.0-only

#ifndef FEDERATED_NEIGHBORS_H
#define FEDERATED_NEIGHBORS_H

#include "ns3/address.h"
#include "ns3/ipv4-address.h"
#include "ns3/ipv6-address.h"
#include "ns3/net-device.h"
#include "ns3/ptr.h"

namespace ns3
{

/**
 * @ingroup federated
 * @brief Fills the caches of ARP and NDISC in advance, so that no request can be lost.
 */
class FederatedNeighbors
{
  public:
    /**
     * Add a permanent entry to the ARP cache of a net device, or change the one that is there.
     * @param at The net device, with an IPv4 interface.
     * @param address Address of a neighbor.
     * @param hardware Its hardware address.
     */
    static void Add(const Ptr<NetDevice>& at, const Ipv4Address& address, const Address& hardware);

    /**
     * Add a permanent entry to the NDISC cache of a net device, or change the one that is there.
     * @param at The net device, with an IPv6 interface.
     * @param address Address of a neighbor.
     * @param hardware Its hardware address.
     */
    static void Add(const Ptr<NetDevice>& at, const Ipv6Address& address, const Address& hardware);
};

} // namespace ns3

#endif // FEDERATED_NEIGHBORS_H
