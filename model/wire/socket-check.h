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
 * Check what sockets need, because ns-3 crashes if a node lacks it.
 * @param node The node of the sockets.
 * @param protocol The socket factory, UDP or TCP.
 * @param addresses Addresses that the sockets will use; those that are not set do not matter.
 * @return what is wrong, without a period; empty if nothing is.
 */
std::string FindSocketMistake(const Ptr<Node>& node,
                              const TypeId& protocol,
                              const std::vector<Address>& addresses);

} // namespace ns3::federated

#endif // SOCKET_CHECK_H
