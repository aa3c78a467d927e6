// SPDX-License-Identifier: GPL-2.0-only

#include "socket-check.h"

#include "socket-address.h"

#include "ns3/ipv4-header.h"
#include "ns3/ipv4-route.h"
#include "ns3/ipv4-routing-protocol.h"
#include "ns3/ipv4.h"
#include "ns3/ipv6-header.h"
#include "ns3/ipv6-route.h"
#include "ns3/ipv6-routing-protocol.h"
#include "ns3/ipv6.h"
#include "ns3/packet.h"
#include "ns3/socket.h"
#include "ns3/tcp-socket-factory.h"
#include "ns3/udp-socket-factory.h"

#include <sstream>
#include <type_traits>

namespace ns3::federated
{

namespace
{

/** @return a text for a value that can be printed. */
template <typename T>
std::string
ToText(const T& value)
{
    std::ostringstream text;
    text << value;
    return text.str();
}

/** @return the name of a node in sentences. */
std::string
GetName(const Ptr<Node>& node)
{
    return "node " + std::to_string(node->GetId());
}

/**
 * @param node A node.
 * @param address Where it shall listen.
 * @return what is wrong, empty if nothing is.
 */
template <typename Ip, typename IpAddress>
std::string
FindForeignAddress(const Ptr<Node>& node, const IpAddress& address)
{
    const auto ip = node->GetObject<Ip>();
    if (!ip || address == IpAddress::GetAny() || address.IsMulticast() ||
        ip->GetInterfaceForAddress(address) >= 0)
    {
        return "";
    }
    const std::vector<Address> own = ListAddresses(node, std::is_same_v<Ip, Ipv6>);
    if (own.empty())
    {
        return "";
    }
    return ToText(address) + " is no address of " + GetName(node) + ", which has " +
           ToText(IpAddress::ConvertFrom(own.front())) +
           (own.size() > 1 ? " and " + std::to_string(own.size() - 1) + " more" : "");
}

/**
 * @param node A node.
 * @param header A header with the destination.
 * @return what is wrong, empty if nothing is.
 */
template <typename Ip, typename Header>
std::string
FindMissingRoute(const Ptr<Node>& node, const Header& header)
{
    const auto ip = node->GetObject<Ip>();
    if (ListAddresses(node, std::is_same_v<Ip, Ipv6>).empty())
    {
        return GetName(node) + " has no IP address";
    }
    Socket::SocketErrno error = Socket::ERROR_NOTERROR;
    const auto routing = ip->GetRoutingProtocol();
    if (!routing || !routing->RouteOutput(Create<Packet>(), header, nullptr, error))
    {
        return GetName(node) + " has no route to " + ToText(header.GetDestination());
    }
    return "";
}

} // namespace

std::vector<Address>
ListAddresses(const Ptr<Node>& node, bool v6)
{
    std::vector<Address> addresses;
    const auto ipv4 = node->GetObject<Ipv4>();
    const auto ipv6 = node->GetObject<Ipv6>();
    for (uint32_t i = 0; !v6 && ipv4 && i < ipv4->GetNInterfaces(); ++i)
    {
        for (uint32_t j = 0; j < ipv4->GetNAddresses(i); ++j)
        {
            const Ipv4Address address = ipv4->GetAddress(i, j).GetLocal();
            if (address != Ipv4Address::GetLoopback())
            {
                addresses.emplace_back(address);
            }
        }
    }
    for (uint32_t i = 0; v6 && ipv6 && i < ipv6->GetNInterfaces(); ++i)
    {
        for (uint32_t j = 0; j < ipv6->GetNAddresses(i); ++j)
        {
            const Ipv6InterfaceAddress address = ipv6->GetAddress(i, j);
            if (address.GetScope() == Ipv6InterfaceAddress::GLOBAL)
            {
                addresses.emplace_back(address.GetAddress());
            }
        }
    }
    return addresses;
}

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
    const std::string name = GetName(node);
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

std::string
FindAddressMistake(const Ptr<Node>& node, const Address& address)
{
    const SocketAddress place(address);
    if (Ipv4Address::IsMatchingType(place.ip))
    {
        return FindForeignAddress<Ipv4>(node, Ipv4Address::ConvertFrom(place.ip));
    }
    if (Ipv6Address::IsMatchingType(place.ip))
    {
        return FindForeignAddress<Ipv6>(node, Ipv6Address::ConvertFrom(place.ip));
    }
    return "";
}

std::string
FindRouteMistake(const Ptr<Node>& node, const Address& destination)
{
    if (Ipv4Address::IsMatchingType(destination))
    {
        Ipv4Header header;
        header.SetDestination(Ipv4Address::ConvertFrom(destination));
        return FindMissingRoute<Ipv4>(node, header);
    }
    Ipv6Header header;
    header.SetDestination(Ipv6Address::ConvertFrom(destination));
    return header.GetDestination().IsLinkLocal() ? "" : FindMissingRoute<Ipv6>(node, header);
}

} // namespace ns3::federated
