// SPDX-License-Identifier: GPL-2.0-only

#ifndef DEVICE_REGISTRAR_H
#define DEVICE_REGISTRAR_H

#include "device-roster.h"

#include "ns3/message-endpoint.h"

#include <cstdint>
#include <functional>
#include <optional>

namespace ns3::federated
{

/**
 * @brief Lets devices join and leave: answers their messages as the roster decides, and closes the
 * connections of devices that have left.
 */
class DeviceRegistrar
{
  public:
    /** Called about a device. */
    using Handler = std::function<void(uint32_t device)>;

    /**
     * @param endpoint Sends the answers.
     * @param roster The devices of the federation.
     * @param joined Called when a device has joined.
     * @param left Called when a device has left.
     */
    DeviceRegistrar(MessageEndpoint& endpoint, DeviceRoster& roster, Handler joined, Handler left);

    /**
     * @param message Any message but a JOIN.
     * @return why it is dropped, if it is: its address is not that of the claimed device, the
     * device has not joined, or devices do not send such messages.
     */
    std::optional<DropReason> CheckSender(const ReceivedMessage& message) const;

    /**
     * @param message A JOIN.
     * @return why it is dropped, if it is.
     */
    std::optional<DropReason> HandleJoin(const ReceivedMessage& message);

    /**
     * @param header Header of a LEAVE, whose sender was checked.
     * @return why it is dropped, if it is.
     */
    std::optional<DropReason> HandleLeave(const FederatedHeader& header);

    /**
     * A connection ended.
     * @param connection The connection.
     */
    void HandleClosed(ConnectionId connection);

    /**
     * Acknowledge a control message.
     * @param header Its header; its device is in the roster.
     */
    void Acknowledge(const FederatedHeader& header);

  private:
    /**
     * Remove a device.
     * @param device The device, which may not have joined.
     */
    void Remove(uint32_t device);

    MessageEndpoint& m_endpoint; //!< Sends the answers.
    DeviceRoster& m_roster;      //!< The devices of the federation.
    Handler m_joined;            //!< Called when a device has joined.
    Handler m_left;              //!< Called when one has left.
};

} // namespace ns3::federated

#endif // DEVICE_REGISTRAR_H
