// SPDX-License-Identifier: GPL-2.0-only

#ifndef DEVICE_ROSTER_H
#define DEVICE_ROSTER_H

#include "ns3/address.h"
#include "ns3/drop-reason.h"
#include "ns3/message-peer.h"
#include "ns3/nstime.h"
#include "ns3/socket-address.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace ns3::federated
{

/** A device that has joined, or is expected. */
struct RosterEntry
{
    bool joined = false;         //!< It joined and has not left.
    bool enrolled = false;       //!< It was enrolled: it need not join.
    bool reserved = false;       //!< Its address was reserved in advance.
    Address ip;                  //!< IP address of its identifier; invalid: not bound.
    SocketAddress address;       //!< Its address and port.
    Address destination;         //!< The same for Socket::SendTo.
    ConnectionId connection = 0; //!< Its connection (TCP).
    uint32_t group = 0;          //!< Its group.
    uint32_t samples = 0;        //!< Samples that it has.
    Time training;               //!< Training time that it reports.
    bool heard = false;          //!< Whether it ever sent a control message.
    uint32_t sequence = 0;       //!< Sequence number of its last JOIN or LEAVE.
    uint32_t answers = 0;        //!< R_u, rounds in which it sent at least a fragment.

    /** @return the destination of messages to it. */
    MessagePeer GetPeer() const
    {
        return {destination, connection};
    }
};

/** Content of a JOIN. */
struct JoinRequest
{
    uint32_t device = 0;         //!< Device that wants to join.
    SocketAddress from;          //!< Its address and port.
    ConnectionId connection = 0; //!< Its connection (TCP).
    uint32_t sequence = 0;       //!< Sequence number of the JOIN.
    uint32_t group = 0;          //!< Group of the device.
    unsigned bits = 0;           //!< Its resolution.
    uint32_t samples = 0;        //!< Samples that it has.
    Time training;               //!< Training time that it reports.
};

/** How to answer a JOIN or LEAVE. */
struct RosterVerdict
{
    std::optional<DropReason> dropped; //!< Why it is dropped, if it is.
    bool acknowledge = true;           //!< Also if dropped: the first ACK was lost.
};

/**
 * @brief The devices of a federation: identifiers, addresses, sequence numbers, whether they have
 * joined. It uses no socket and no clock.
 *
 * An identifier belongs to the address that it joined from (or that was reserved for it) until the
 * device leaves.
 */
class DeviceRoster
{
  public:
    /** Which devices may join. */ struct Rules
    {
        uint32_t maxDevices = 0;    //!< Identifiers must be less.
        std::vector<unsigned> bits; //!< Resolution of each group.
        Time longestTraining;       //!< Limit of the training time that a device reports.
    };

    /** @param rules Which devices may join. */
    void SetRules(const Rules& rules);

    /**
     * Reserve an identifier for the IP address from which a device will join.
     * @param device The device.
     * @param ip Its address.
     */
    void Reserve(uint32_t device, const Address& ip);

    /**
     * Enroll a device, which then need not join; Admit() adds it.
     * @param device The device.
     * @param place Its address and port.
     * @param group Its group.
     * @param training How long it trains.
     */
    void Enroll(uint32_t device, const SocketAddress& place, uint32_t group, const Time& training);

    /**
     * Add all enrolled devices.
     * @return their identifiers, ascending.
     */
    std::vector<uint32_t> Admit();

    /**
     * @param request A JOIN.
     * @return how to answer it. Nothing is changed.
     */
    RosterVerdict CheckJoin(const JoinRequest& request) const;

    /**
     * Add a device whose JOIN was checked and which has not joined.
     * @param request The JOIN.
     */
    void Join(const JoinRequest& request);

    /**
     * @param device A device.
     * @param sequence Sequence number of its LEAVE, which is stored.
     * @return how to answer the LEAVE.
     */
    RosterVerdict CheckLeave(uint32_t device, uint32_t sequence);

    /**
     * A device leaves, or its connection broke.
     * @param device The device.
     * @return whether it had joined.
     */
    bool Leave(uint32_t device);

    /** Remove all devices: the center stops. */
    void Clear();

    /**
     * @param device Device that a message names as its sender.
     * @param from Address of the sender.
     * @param connection Connection that it was received over.
     * @return why it is dropped, if it is: unknown device, or another address than the device's.
     */
    std::optional<DropReason> CheckSender(uint32_t device,
                                          const Address& from,
                                          ConnectionId connection) const;

    /**
     * @param device A device.
     * @return its entry, null if there is none.
     */
    const RosterEntry* Find(uint32_t device) const;

    /**
     * @param connection A connection.
     * @return the device that joined over it, if any.
     */
    std::optional<uint32_t> FindByConnection(ConnectionId connection) const;

    /** @return all entries, by identifier. */
    const std::map<uint32_t, RosterEntry>& GetEntries() const
    {
        return m_entries;
    }

    /**
     * A device sent at least a fragment in a round.
     * @param device The device.
     */
    void CountAnswer(uint32_t device);

    /** @return the largest R_u. */
    uint32_t GetMostAnswers() const
    {
        return m_mostAnswers;
    }

    /** @return how many devices have joined. */
    uint32_t GetJoined() const
    {
        return m_joined;
    }

  private:
    Rules m_rules;                                  //!< Which devices may join.
    std::map<uint32_t, RosterEntry> m_entries;      //!< By identifier.
    std::map<ConnectionId, uint32_t> m_connections; //!< Devices by connection.
    uint32_t m_joined = 0;                          //!< Devices that have joined.
    uint32_t m_mostAnswers = 0;                     //!< Largest R_u.
};

} // namespace ns3::federated

#endif // DEVICE_ROSTER_H
