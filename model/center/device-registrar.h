// SPDX-License-Identifier: GPL-2.0-only

#ifndef DEVICE_REGISTRAR_H
#define DEVICE_REGISTRAR_H

#include "device-roster.h"

#include "ns3/address.h"
#include "ns3/message-endpoint.h"
#include "ns3/nstime.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>

namespace ns3::federated
{

/**
 * @brief Lets devices join and leave: answers their messages as the roster decides, and closes the
 * connections of devices that have left.
 *
 * A sender that the roster does not know, because the center restarted, is told to join again
 * (REJOIN). That cannot be used against a device: one that is known and joins again keeps its place
 * in the round, and the number of these answers is limited, in all and for each address.
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

    /** @param period Time in which the number of REJOIN messages is limited. */
    void SetPeriod(const Time& period);

    /**
     * @param message Any message but a JOIN.
     * @param now The time.
     * @return why it is dropped, if it is: its address is not that of the claimed device, the
     * device has not joined, or devices do not send such messages.
     */
    std::optional<DropReason> CheckSender(const ReceivedMessage& message, const Time& now);

    /**
     * @param message A JOIN.
     * @param now The time.
     * @return why it is dropped, if it is.
     */
    std::optional<DropReason> HandleJoin(const ReceivedMessage& message, const Time& now);

    /**
     * @param message A LEAVE, whose sender was checked.
     * @param now The time.
     * @return why it is dropped, if it is.
     */
    std::optional<DropReason> HandleLeave(const ReceivedMessage& message, const Time& now);

    /**
     * Visitors from which nothing was received count as devices that left.
     * @param since Since then.
     */
    void RemoveSilentVisitors(const Time& since);

    /**
     * The center stops: tell devices that have joined to join again (UDP; over TCP their
     * connections end).
     */
    void Dismiss();

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

    /**
     * Answer a JOIN or LEAVE.
     * @param answer The answer.
     * @param message The message.
     * @param now The time.
     */
    void Answer(RosterVerdict::Answer answer, const ReceivedMessage& message, const Time& now);

    /**
     * Tell the sender of a message to join again, unless too many were told so.
     * @param message The message.
     * @param sequence Sequence number that its next JOIN or LEAVE must exceed.
     * @param now The time.
     */
    void TellToRejoin(const ReceivedMessage& message, uint32_t sequence, const Time& now);

    /**
     * Count a REJOIN against the limits.
     * @param ip Address that caused it.
     * @param now The time.
     * @return whether it may be sent.
     */
    bool MayTell(const Address& ip, const Time& now);

    /**
     * Send a REJOIN.
     * @param device The device.
     * @param sequence Sequence number that its next JOIN or LEAVE must exceed.
     * @param peer Its address or connection.
     */
    void SendRejoin(uint32_t device, uint32_t sequence, const MessagePeer& peer);

    MessageEndpoint& m_endpoint;          //!< Sends the answers.
    DeviceRoster& m_roster;               //!< The devices of the federation.
    Handler m_joined;                     //!< Called when a device has joined.
    Handler m_left;                       //!< Called when one has left.
    Time m_period;                        //!< Time in which REJOIN messages are limited.
    Time m_periodEnd;                     //!< When the current period ends.
    uint32_t m_told = 0;                  //!< REJOIN messages in this period.
    std::map<Address, uint32_t> m_toldOf; //!< Those to each IP address.
};

} // namespace ns3::federated

#endif // DEVICE_REGISTRAR_H
