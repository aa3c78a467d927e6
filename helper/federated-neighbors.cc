// SPDX-License-Identifier: GPL-2.0-only

#include "federated-neighbors.h"

#include "ns3/abort.h"
#include "ns3/arp-cache.h"
#include "ns3/ipv4-interface.h"
#include "ns3/ipv4-l3-protocol.h"
#include "ns3/ipv6-interface.h"
#include "ns3/ipv6-l3-protocol.h"
#include "ns3/ndisc-cache.h"
#include "ns3/node.h"

namespace ns3
{

namespace
{

/**
 * @tparam Protocol Ipv4L3Protocol or Ipv6L3Protocol.
 * @param device A net device.
 * @return its interface of that protocol.
 */
template <typename Protocol>
auto
GetInterface(const Ptr<NetDevice>& device)
{
    const auto ip = device->GetNode()->GetObject<Protocol>();
    const int32_t interface = ip ? ip->GetInterfaceForDevice(device) : -1;
    NS_ABORT_MSG_IF(interface < 0,
                    "FederatedNeighbors: net device " << device->GetIfIndex() << " of node "
                                                      << device->GetNode()->GetId()
                                                      << " has no IP address of that family");
    return ip->GetInterface(static_cast<uint32_t>(interface));
}

/**
 * @tparam Cache ArpCache or NdiscCache.
 * @tparam IpAddress Ipv4Address or Ipv6Address.
 * @param cache The cache.
 * @param address Address of a neighbor.
 * @param hardware Its hardware address.
 */
template <typename Cache, typename IpAddress>
void
AddEntry(const Ptr<Cache>& cache, const IpAddress& address, const Address& hardware)
{
    auto* entry = cache->Lookup(address);
    entry = entry ? entry : cache->Add(address);
    entry->SetMacAddress(hardware);
    entry->MarkPermanent();
}

} // namespace

void
FederatedNeighbors::Add(const Ptr<NetDevice>& at,
                        const Ipv4Address& address,
                        const Address& hardware)
{
    AddEntry(GetInterface<Ipv4L3Protocol>(at)->GetArpCache(), address, hardware);
}

void
FederatedNeighbors::Add(const Ptr<NetDevice>& at,
                        const Ipv6Address& address,
                        const Address& hardware)
{
    AddEntry(GetInterface<Ipv6L3Protocol>(at)->GetNdiscCache(), address, hardware);
}

} // namespace ns3
