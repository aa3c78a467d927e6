// SPDX-License-Identifier: GPL-2.0-only

#ifndef SOCKET_ADDRESS_H
#define SOCKET_ADDRESS_H

#include "ns3/address.h"

#include <cstdint>
#include <ostream>

namespace ns3::federated
{

/**
 * @ingroup federated
 * @brief An IPv4 or IPv6 address with a port, which can be compared: raw ns-3 addresses of one
 * endpoint may differ in ToS, so only IP and port are compared.
 */
struct SocketAddress
{
    Address ip;        //!< The IP address alone; invalid if there is none.
    uint16_t port = 0; //!< The port.

    SocketAddress() = default;

    /**
     * @param address An InetSocketAddress or Inet6SocketAddress; anything else gives no address.
     */
    explicit SocketAddress(const Address& address);

    /** @return whether there is an address. */
    bool IsValid() const
    {
        return !ip.IsInvalid();
    }

    /** @return the address for the functions of Socket. */
    Address Get() const;

    /**
     * @param other Another one.
     * @return whether address and port are the same.
     */
    bool operator==(const SocketAddress& other) const
    {
        return ip == other.ip && port == other.port;
    }

    /**
     * @param other Another one.
     * @return whether address or port differ.
     */
    bool operator!=(const SocketAddress& other) const
    {
        return !(*this == other);
    }
};

/**
 * @param os Where to.
 * @param address What is printed: address and port, or "no address".
 * @return os.
 */
std::ostream& operator<<(std::ostream& os, const SocketAddress& address);

} // namespace ns3::federated

#endif // SOCKET_ADDRESS_H
