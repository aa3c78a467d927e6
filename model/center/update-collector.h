// SPDX-License-Identifier: GPL-2.0-only

#ifndef UPDATE_COLLECTOR_H
#define UPDATE_COLLECTOR_H

#include "round-record.h"
#include "uplink-meter.h"

#include "ns3/drop-reason.h"
#include "ns3/federated-header.h"
#include "ns3/fragment-assembler.h"
#include "ns3/message-bodies.h"
#include "ns3/nstime.h"
#include "ns3/update-limits.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace ns3::federated
{

/** A fragment of an update that was received. */
struct CollectedFragment
{
    std::size_t begin; //!< First coordinate.
    std::size_t end;   //!< One past the last coordinate.
    uint64_t packet;   //!< Packet::GetUid() of the packet that carried it; 0: unknown.
};

/**
 * @brief A device that takes part in a round; only UpdateCollector changes it.
 *
 * @verbatim
              heard                 complete, DONE, left
   OFFERED ----------> ACCEPTED ------------------------> ANSWERED
      |                                                      ^
      |  left, or no answer to its grants          heard     |
      +----------------------------------> UNHEARD ----------+
   @endverbatim
 */
struct Participant
{
    /** State of a participant. */
    enum class Phase
    {
        OFFERED,  //!< It was sent a grant; no message was received since.
        ACCEPTED, //!< A message was received: it has its grant.
        UNHEARD,  //!< No message was received, and none is expected.
        ANSWERED, //!< No further message is expected.
    };

    /**
     * @param dimension Coordinates of its update as it is encoded.
     * @param bits Bits of a coordinate as sent.
     * @param terms Public numbers that limit it.
     */
    Participant(std::size_t dimension, unsigned bits, const UpdateLimits::Terms& terms)
        : update(dimension, bits),
          limits(terms)
    {
        record.wireBits = bits;
    }

    /** @return whether no further message is expected. */
    bool HasAnswered() const
    {
        return phase == Phase::ANSWERED || phase == Phase::UNHEARD;
    }

    Phase phase = Phase::OFFERED; //!< Its state.
    LinkRecord record;            //!< Its record.
    FragmentAssembler update;     //!< The received part of its update.
    UpdateLimits limits;          //!< What it may contain.
    UpdateTally tally;            //!< What the received part has used up of them.
    Time slotStart;               //!< When its slot begins.
    std::size_t firstEnd = 0;     //!< One past the last coordinate of the fragment received first.
    std::size_t lastEnd = 0;      //!< Likewise of the one received last.
    bool reported = false;        //!< Whether m_received was called.
    std::vector<CollectedFragment> fragments; //!< Received fragments, if kept.
};

/**
 * @brief Collects the updates of a round: the received part of each, and which devices have
 * answered. It uses no socket and no clock.
 *
 * A device has answered when its whole update was received, when it sent DONE, when it left, or
 * when its grant timed out.
 */
class UpdateCollector
{
  public:
    /** What is collected. */
    struct Rules
    {
        uint32_t round = 0;             //!< The round.
        Time start;                     //!< When it began.
        std::size_t dimension = 0;      //!< Coordinates of an update as it is encoded.
        bool isRotated = false;         //!< Whether they are rotated; updates of the other kind are
                                        //!< dropped.
        bool isInterleaved = false;     //!< Whether they are interleaved; likewise.
        bool rememberFragments = false; //!< Whether to keep the packet of each fragment.
        UpdateLimits::Terms limits;     //!< What updates may contain; bits and size are filled in.
    };

    /** Called with a participant that has answered, or whose first fragment was received. */
    using DeviceHandler = std::function<void(uint32_t device)>;
    /**
     * Called once for each update of which a fragment was received: when the device has answered,
     * or at the end of the round.
     */
    using ReceivedHandler = std::function<void(const UpdateRecord&)>;

    /**
     * @param answered Called with a participant that has answered.
     * @param started Called with a participant whose first fragment was received.
     * @param received Called once for each update of which a fragment was received.
     */
    UpdateCollector(DeviceHandler answered, DeviceHandler started, ReceivedHandler received);

    /**
     * Begin a round.
     * @param rules What is collected.
     */
    void Begin(const Rules& rules);

    /**
     * Add a participant.
     * @param device The device.
     * @param group Its group.
     * @param bits Its resolution, b.
     * @param wireBits Bits of a coordinate as sent.
     * @param slotStart When its slot begins.
     */
    void Add(uint32_t device,
             uint32_t group,
             unsigned bits,
             unsigned wireBits,
             const Time& slotStart);

    /**
     * @param header Header of a message about a round.
     * @return whether that is the current round.
     */
    bool IsCurrent(const FederatedHeader& header) const
    {
        return m_isOpen && header.round == m_rules.round;
    }

    /**
     * @param header Header of a message that is not about the current round.
     * @return why it is dropped, if it is: the DONE after a complete update is usually received in
     * the next round, and is not dropped.
     */
    std::optional<DropReason> GetStaleReason(const FederatedHeader& header) const;

    /**
     * @param device A device.
     * @return the participant, null if the device is not selected.
     */
    const Participant* Find(uint32_t device) const;

    /** @return the participants, by device. */
    const std::map<uint32_t, std::unique_ptr<Participant>>& GetParticipants() const
    {
        return m_participants;
    }

    /** @return how many have not answered. */
    uint32_t GetUnanswered() const
    {
        return m_unanswered;
    }

    /**
     * A message about this round was received from a device: it has its grant.
     * @param device A participant.
     * @return whether it is the first one.
     */
    bool Hear(uint32_t device);

    /**
     * Add a fragment of an update.
     * @param device A participant.
     * @param header Its header.
     * @param payload Its coordinates.
     * @param packet Packet that carried it; 0: unknown.
     * @param now The time.
     * @return why it is dropped, if it is.
     */
    std::optional<DropReason> TakeUpdate(uint32_t device,
                                         const FederatedHeader& header,
                                         const uint8_t* payload,
                                         uint64_t packet,
                                         const Time& now);

    /**
     * Process a DONE.
     * @param device A participant.
     * @param header Its header.
     * @param payload Its body.
     * @param now The time.
     * @return why it is dropped, if it is.
     */
    std::optional<DropReason> TakeDone(uint32_t device,
                                       const FederatedHeader& header,
                                       const uint8_t* payload,
                                       const Time& now);

    /**
     * A device left.
     * @param device A device, selected or not.
     */
    void Leave(uint32_t device);

    /**
     * The grant of a device timed out.
     * @param device A participant.
     */
    void GiveUp(uint32_t device);

    /** The round ends: report the remaining updates, and set the outcome of each participant. */
    void Finish();

    /** Forget the round. */
    void Clear();

    /** @return the input of UplinkMeter. */
    std::vector<UplinkObservation> GetObservations() const;

  private:
    /** What may happen to a participant. */
    enum class Event
    {
        HEARD,
        ANSWERED,
    };

    /**
     * Change the state of a participant; the only function that does so.
     * @param participant The participant.
     * @param event What happened.
     * @return whether its phase changed.
     */
    static bool Advance(Participant& participant, Event event);

    /**
     * A participant has answered.
     * @param participant The participant.
     */
    void SetAnswered(Participant& participant);

    /**
     * Call m_received for an update, once.
     * @param participant The participant.
     */
    void Report(Participant& participant);

    DeviceHandler m_answered;   //!< Called with a participant that has answered.
    DeviceHandler m_started;    //!< Called with a participant whose first fragment was received.
    ReceivedHandler m_received; //!< Called once for each update of which a fragment was received.
    Rules m_rules;              //!< What is collected.
    bool m_isOpen = false;      //!< Whether there is a current round.
    uint32_t m_unanswered = 0;  //!< Participants that have not answered.
    std::map<uint32_t, std::unique_ptr<Participant>> m_participants; //!< By device.
};

} // namespace ns3::federated

#endif // UPDATE_COLLECTOR_H
