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
#include <limits>
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
    bool isVisitor = false;      //!< It may go away without a word.
    Time lastHeard;              //!< When a message of it was received last.
    Address ip;                  //!< IP address of its identifier; invalid: not bound.
    SocketAddress address;       //!< Its address and port.
    Address destination;         //!< The same for Socket::SendTo.
    ConnectionId connection = 0; //!< Its connection (TCP).
    uint32_t group = 0;          //!< Its group.
    uint32_t samples = 0;        //!< Samples that it has; 0: unknown.
    Time training;               //!< Training time that it reports.
    double battery = std::numeric_limits<double>::quiet_NaN(); //!< Level of its battery, 0 to 1;
                                                               //!< NaN: not reported.
    bool heard = false;                                        //!< Whether it ever sent a JOIN.
    uint32_t life = 0;                                         //!< Number of the life that joined.
    uint32_t sequence = 0;     //!< Sequence number of its last JOIN or LEAVE.
    uint32_t answers = 0;      //!< R_u, rounds in which it sent at least a fragment.
    uint32_t lastAsked = 0;    //!< Last round in which it was selected; 0: never.
    uint32_t silentRounds = 0; //!< Rounds in a row in which it was selected and did not answer.
    uint32_t replies = 0;      //!< Answers to its control messages in this round.

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
    uint32_t life = 0;           //!< Number of this life of the device.
    uint32_t group = 0;          //!< Group of the device.
    unsigned bits = 0;           //!< Its resolution.
    uint32_t samples = 0;        //!< Samples that it has.
    Time training;               //!< Training time that it reports.
    double battery = std::numeric_limits<double>::quiet_NaN(); //!< Level of its battery, 0 to 1.
};

/** How to answer a JOIN or LEAVE. */
struct RosterVerdict
{
    /** The answer. */
    enum class Answer
    {
        NONE,   //!< None.
        ACK,    //!< An acknowledgment; also if the message is dropped: the first one was lost.
        REJOIN, //!< The sequence number that the next message must exceed.
    };

    std::optional<DropReason> dropped; //!< Why it is dropped, if it is.
    Answer answer = Answer::ACK;       //!< The answer.
    bool isSameLife = false; //!< A JOIN of a device that has joined and kept its state. What it
                             //!< says of itself may be new, also if it is dropped (TCP).
};

/**
 * @brief The devices of a federation: identifiers, addresses, sequence numbers, whether they have
 * joined. It uses no socket and no clock.
 *
 * An identifier belongs to the address that it joined from (or that was reserved for it) until the
 * device leaves. One address can have only so many identifiers that were not reserved for it.
 *
 * A JOIN or LEAVE must have a newer sequence number than the last one, by a step that is believed.
 * Otherwise the device is told that last number, so that a forged number cannot lock it out.
 */
class DeviceRoster
{
  public:
    /** Which devices may join. */
    struct Rules
    {
        uint32_t maxDevices = 0;    //!< Identifiers must be less.
        std::vector<unsigned> bits; //!< Resolution of each group.
        Time longestTraining;       //!< Limit of the training time that a device reports.
        uint32_t maxSamples =
            std::numeric_limits<uint32_t>::max(); //!< Limit of the samples that it reports.
        uint32_t maxPerAddress = 16; //!< Identifiers of one address that were not reserved for it.
        uint32_t maxReplies = std::numeric_limits<uint32_t>::max(); //!< Answers to control messages
                                                                    //!< of a device in a round.
        bool isProtected = false; //!< Whether a key, not the address, shows who a sender is: then
                                  //!< a newer JOIN moves an identifier that was not reserved.
    };

    /** @param rules Which devices may join. */
    void SetRules(const Rules& rules);

    /**
     * Reserve an identifier for the IP address from which a device will join.
     * @param device The device.
     * @param ip Its address.
     * @param isVisitor Whether it may go away without a word.
     */
    void Reserve(uint32_t device, const Address& ip, bool isVisitor = false);

    /**
     * Enroll a device, which then need not join; Admit() adds it.
     * @param device The device.
     * @param place Its address and port.
     * @param group Its group.
     * @param training How long it trains.
     * @param samples How many samples it has; 0: unknown.
     */
    void Enroll(uint32_t device,
                const SocketAddress& place,
                uint32_t group,
                const Time& training,
                uint32_t samples = 0);

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
     * Add a device whose JOIN was checked and which has not joined, or update one of the same life.
     * @param request The JOIN.
     */
    void Join(const JoinRequest& request);

    /**
     * @param device A device that has joined.
     * @param level Level of its battery, 0 to 1; NaN: not reported.
     */
    void SetBattery(uint32_t device, double level);

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

    /** Nobody has joined any more: the center stops. Sequence numbers and answers are kept. */
    void Clear();

    /**
     * @param device Device that a message names as its sender.
     * @param from Address of the sender.
     * @param connection Connection that it was received over.
     * @return why it is dropped, if it is: the device has not joined from there (and not left), or
     * it has another address.
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

    /** A round begins: every device may get answers again. */
    void BeginRound();

    /**
     * Count an answer to a control message.
     * @param device Its sender, which may not be known.
     * @return whether the message may be answered; if not, it is to be dropped.
     */
    bool CountReply(uint32_t device);

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

    /**
     * Devices are selected.
     * @param devices The devices.
     * @param round The round.
     */
    void SetAsked(const std::vector<uint32_t>& devices, uint32_t round);

    /**
     * A round ends in which a device was selected.
     * @param device The device.
     * @param isSilent Whether it did not answer.
     */
    void CountSilence(uint32_t device, bool isSilent);

    /**
     * A message was received from a device that is not selected in this round: it is not silent
     * any more.
     * @param device The device.
     */
    void Hear(uint32_t device);

    /**
     * A message was received from where a device has joined.
     * @param device The device.
     * @param now The time.
     */
    void SetLastHeard(uint32_t device, const Time& now);

    /**
     * @param since A time.
     * @return the visitors that have joined and from which nothing was received since then.
     */
    std::vector<uint32_t> FindSilentVisitors(const Time& since) const;

    /** @return how many devices have joined. */
    uint32_t GetJoined() const
    {
        return m_joined;
    }

    /** @return how many samples they have together. */
    uint32_t GetSamples() const;

  private:
    /**
     * @param request A JOIN.
     * @return whether its address may have one more identifier, or needs none.
     */
    bool HasIdentifierLeft(const JoinRequest& request) const;

    /**
     * An identifier no longer counts among those of its address.
     * @param entry Its entry before that.
     */
    void ReleaseIdentifier(const RosterEntry& entry);

    Rules m_rules;                                  //!< Which devices may join.
    std::map<uint32_t, RosterEntry> m_entries;      //!< By identifier.
    std::map<Address, uint32_t> m_identifiers;      //!< Joined identifiers of an address that were
                                                    //!< not reserved.
    std::map<ConnectionId, uint32_t> m_connections; //!< Devices by connection.
    uint32_t m_joined = 0;                          //!< Devices that have joined.
    uint32_t m_mostAnswers = 0;                     //!< Largest R_u.
};

} // namespace ns3::federated

#endif // DEVICE_ROSTER_H
