// SPDX-License-Identifier: GPL-2.0-only

#ifndef SOCKET_CHECK_H
#define SOCKET_CHECK_H

#include "ns3/address.h"
#include "ns3/node.h"
#include "ns3/type-id.h"

#include <string>
#include <vector>

namespace ns3::federated
{

/**
 * @param node A node.
 * @param v6 Whether to look for IPv6 addresses.
 * @return its addresses that other nodes can use.
 */
std::vector<Address> ListAddresses(const Ptr<Node>& node, bool v6);

/**
 * Check what sockets need, because ns-3 crashes if a node lacks it.
 * @param node The node of the sockets.
 * @param protocol The socket factory, UDP or TCP.
 * @param addresses Addresses that the sockets will use; those that are not set do not matter.
 * @return what is wrong, without a period; empty if nothing is.
 */
std::string FindSocketMistake(const Ptr<Node>& node,
                              const TypeId& protocol,
                              const std::vector<Address>& addresses);

/**
 * Check where a socket listens, because ns-3 binds it to any address.
 * @param node The node of the socket.
 * @param address Address and port to listen on.
 * @return what is wrong, without a period; empty if nothing is, or the node has no addresses yet.
 */
std::string FindAddressMistake(const Ptr<Node>& node, const Address& address);

/**
 * Find out why packets do not even leave a node.
 * @param node The node.
 * @param destination An IPv4 or IPv6 address without port, unicast.
 * @return what is wrong, without a period; empty if it has a route, or its routing protocol looks
 * for one on demand.
 */
std::string FindRouteMistake(const Ptr<Node>& node, const Address& destination);

} // namespace ns3::federated

#endif // SOCKET_CHECK_H
