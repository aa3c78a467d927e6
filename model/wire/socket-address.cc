// SPDX-License-Identifier: GPL-2.0-only

#include "socket-address.h"

#include "ns3/inet-socket-address.h"
#include "ns3/inet6-socket-address.h"

namespace ns3::federated
{

SocketAddress::SocketAddress(const Address& address)
{
    if (InetSocketAddress::IsMatchingType(address))
    {
        const auto inet = InetSocketAddress::ConvertFrom(address);
        ip = inet.GetIpv4();
        port = inet.GetPort();
    }
    else if (Inet6SocketAddress::IsMatchingType(address))
    {
        const auto inet6 = Inet6SocketAddress::ConvertFrom(address);
        ip = inet6.GetIpv6();
        port = inet6.GetPort();
    }
}

Address
SocketAddress::Get() const
{
    if (Ipv4Address::IsMatchingType(ip))
    {
        return InetSocketAddress(Ipv4Address::ConvertFrom(ip), port);
    }
    if (Ipv6Address::IsMatchingType(ip))
    {
        return Inet6SocketAddress(Ipv6Address::ConvertFrom(ip), port);
    }
    return {};
}

std::ostream&
operator<<(std::ostream& os, const SocketAddress& address)
{
    if (Ipv4Address::IsMatchingType(address.ip))
    {
        return os << Ipv4Address::ConvertFrom(address.ip) << ":" << address.port;
    }
    if (Ipv6Address::IsMatchingType(address.ip))
    {
        return os << "[" << Ipv6Address::ConvertFrom(address.ip) << "]:" << address.port;
    }
    return os << "no address";
}

} // namespace ns3::federated
