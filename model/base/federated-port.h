// SPDX-License-Identifier: GPL-2.0-only

#ifndef FEDERATED_PORT_H
#define FEDERATED_PORT_H

#include <cstdint>

namespace ns3
{

/**
 * @ingroup federated
 * @brief The default ports of a federation.
 */
struct FederatedPort
{
    static constexpr uint16_t CENTER = 4242; //!< Of the center.
    static constexpr uint16_t DEVICE = 4243; //!< Of devices, if messages are sent to a group.
};

} // namespace ns3

#endif // FEDERATED_PORT_H
