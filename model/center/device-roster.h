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
    bool enrolled = false;       //!< It has joined from the start.
    bool reserved = false;       //!< Its address was named in advance.
    Address ip;                  //!< What its identifier is bound to; invalid if it is not.
    SocketAddress address;       //!< Where it is.
    Address destination;         //!< The same, as sockets take it.
    ConnectionId connection = 0; //!< Its connection (TCP).
    uint32_t group = 0;          //!< Its group.
    uint32_t samples = 0;        //!< Samples that it has.
    Time training;               //!< How long it trains, as it says.
    bool heard = false;          //!< Whether it ever sent a control message.
    uint32_t sequence = 0;       //!< Sequence number of its last JOIN or LEAVE.
    uint32_t answers = 0;        //!< R_u, rounds in which it sent something.

    /** @return where messages to it go. */
    MessagePeer GetPeer() const
    {
        return {destination, connection};
    }
};

/** What a JOIN says. */
struct JoinRequest
{
    uint32_t device = 0;         //!< Who wants to join.
    SocketAddress from;          //!< From where.
    ConnectionId connection = 0; //!< Over which connection (TCP).
    uint32_t sequence = 0;       //!< Sequence number of the JOIN.
    uint32_t group = 0;          //!< Group of the device.
    unsigned bits = 0;           //!< Its resolution.
    uint32_t samples = 0;        //!< Samples that it has.
    Time training;               //!< How long it trains, as it says.
};

/** What becomes of a JOIN or LEAVE. */
struct RosterVerdict
{
    std::optional<DropReason> dropped; //!< Why it is dropped, if it is.
    bool acknowledge = true;           //!< Whether it is acknowledged all the same: the first
                                       //!< acknowledgment was lost.
};

/**
 * @brief Who belongs to a federation: identifiers, addresses, sequence numbers, who has joined. It
 * knows no socket and no clock.
 *
 * An identifier belongs to the address that it joined from (or that was reserved for it) until the
 * device leaves.
 */
class DeviceRoster
{
  public:
    /** Who may join. */
    struct Rules
    {
        uint32_t maxDevices = 0;    //!< Identifiers must be below.
        std::vector<unsigned> bits; //!< Resolution of each group.
        Time longestTraining;       //!< What a device says about its training is cut to this.
    };

    /** @param rules Who may join. */
    void SetRules(const Rules& rules);

    /**
     * Say in advance from which IP address a device will join.
     * @param device The device.
     * @param ip Its address.
     */
    void Reserve(uint32_t device, const Address& ip);

    /**
     * Name a device that has joined from the start; Admit() lets it in.
     * @param device The device.
     * @param place Its address and port.
     * @param group Its group.
     * @param training How long it trains.
     */
    void Enroll(uint32_t device, const SocketAddress& place, uint32_t group, const Time& training);

    /**
     * Let all enrolled devices in.
     * @return their identifiers, ascending.
     */
    std::vector<uint32_t> Admit();

    /**
     * @param request A JOIN.
     * @return what becomes of it. Nothing is changed.
     */
    RosterVerdict CheckJoin(const JoinRequest& request) const;

    /**
     * Let a device in, whose JOIN was checked and which is not in.
     * @param request The JOIN.
     */
    void Join(const JoinRequest& request);

    /**
     * @param device A device.
     * @param sequence Sequence number of its LEAVE, which is remembered.
     * @return what becomes of the LEAVE.
     */
    RosterVerdict CheckLeave(uint32_t device, uint32_t sequence);

    /**
     * A device leaves, or its connection broke.
     * @param device The device.
     * @return whether it was in.
     */
    bool Leave(uint32_t device);

    /** All leave: the center stops. */
    void Clear();

    /**
     * @param device Who a message says it is from.
     * @param from Where it came from.
     * @param connection Over which connection.
     * @return why it is dropped, if it is: unknown, or not from there.
     */
    std::optional<DropReason> CheckSender(uint32_t device,
                                          const Address& from,
                                          ConnectionId connection) const;

    /**
     * @param device A device.
     * @return what is known of it, null if nothing is.
     */
    const RosterEntry* Find(uint32_t device) const;

    /**
     * @param connection A connection.
     * @return who joined over it, if somebody did.
     */
    std::optional<uint32_t> FindByConnection(ConnectionId connection) const;

    /** @return all entries, by identifier. */
    const std::map<uint32_t, RosterEntry>& GetEntries() const
    {
        return m_entries;
    }

    /**
     * A device sent something in a round.
     * @param device The device.
     */
    void CountAnswer(uint32_t device);

    /** @return the largest R_u. */
    uint32_t GetMostAnswers() const
    {
        return m_mostAnswers;
    }

    /** @return how many devices are in. */
    uint32_t GetJoined() const
    {
        return m_joined;
    }

  private:
    Rules m_rules;                                  //!< Who may join.
    std::map<uint32_t, RosterEntry> m_entries;      //!< By identifier.
    std::map<ConnectionId, uint32_t> m_connections; //!< Who joined over which connection.
    uint32_t m_joined = 0;                          //!< Devices that are in.
    uint32_t m_mostAnswers = 0;                     //!< Largest R_u.
};

} // namespace ns3::federated

#endif // DEVICE_ROSTER_H
