// SPDX-License-Identifier: GPL-2.0-only

#ifndef MESSAGE_PEER_H
#define MESSAGE_PEER_H

#include "ns3/address.h"

#include <cstdint>

namespace ns3::federated
{

/** Identifies a TCP connection of an endpoint; 0: none, as over UDP. */
using ConnectionId = uint32_t;

/** Destination of a message. */
struct MessagePeer
{
    Address address;             //!< Argument of Socket::SendTo; not used over a connection.
    ConnectionId connection = 0; //!< The connection, if there is one.
};

} // namespace ns3::federated

#endif // MESSAGE_PEER_H
