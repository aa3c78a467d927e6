// SPDX-License-Identifier: GPL-2.0-only

#include "socket-check.h"

#include "socket-address.h"

#include "ns3/ipv4.h"
#include "ns3/ipv6.h"
#include "ns3/tcp-socket-factory.h"
#include "ns3/udp-socket-factory.h"

namespace ns3::federated
{

std::string
FindSocketMistake(const Ptr<Node>& node,
                  const TypeId& protocol,
                  const std::vector<Address>& addresses)
{
    const TypeId udp = UdpSocketFactory::GetTypeId();
    const TypeId tcp = TcpSocketFactory::GetTypeId();
    if (protocol != udp && protocol != tcp)
    {
        return "Protocol is " + protocol.GetName() + ", neither " + udp.GetName() + " nor " +
               tcp.GetName();
    }
    const std::string name = "node " + std::to_string(node->GetId());
    if (!node->GetObject<SocketFactory>(protocol))
    {
        return name + " has no internet stack";
    }
    for (const Address& address : addresses)
    {
        const SocketAddress place(address);
        if (Ipv4Address::IsMatchingType(place.ip) && !node->GetObject<Ipv4>())
        {
            return name + " has no IPv4 stack, but an IPv4 address is set";
        }
        if (Ipv6Address::IsMatchingType(place.ip) && !node->GetObject<Ipv6>())
        {
            return name + " has no IPv6 stack, but an IPv6 address is set";
        }
    }
    return "";
}

} // namespace ns3::federated
