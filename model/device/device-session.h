// SPDX-License-Identifier: GPL-2.0-only

#ifndef DEVICE_SESSION_H
#define DEVICE_SESSION_H

#include "sent-record.h"

#include "ns3/drop-reason.h"
#include "ns3/federated-header.h"
#include "ns3/fragment-assembler.h"
#include "ns3/fragmentation.h"
#include "ns3/local-update.h"
#include "ns3/nstime.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace ns3::federated
{

/**
 * @brief One round of a device. All memory of the size of a model is here. It uses no socket and no
 * clock.
 *
 * @verbatim
   RECEIVING --StartTraining--> TRAINING --StartWaiting--> WAITING --StartSending--> SENDING
   @endverbatim
 */
class DeviceSession
{
  public:
    /** State of a session. */
    enum class Phase
    {
        RECEIVING, //!< The model is being received.
        TRAINING,  //!< The device trains.
        WAITING,   //!< The update waits for its slot.
        SENDING,   //!< The update is being sent.
    };

    /** What was granted. */
    struct Terms
    {
        uint32_t round = 0;          //!< The round.
        uint32_t device = 0;         //!< The device.
        std::size_t dimension = 0;   //!< d, of the model.
        unsigned bits = 0;           //!< Granted resolution, b.
        unsigned wireBits = 0;       //!< Bits of a coordinate as sent.
        uint32_t modelFragments = 0; //!< Fragments of the model.
        Time modelEnd;               //!< When the center will have sent the model.
        Time slotStart;              //!< When the slot begins.
        Time slotLength;             //!< How long it is.
        Time deadline;               //!< When updates must have been sent.
        Time trainingTime;           //!< How long training takes, drawn for this round.
    };

    /** A piece of the update's payload. */
    struct Piece
    {
        const uint8_t* payload; //!< Its bytes.
        std::size_t size;       //!< How many.
    };

    /** @param terms What was granted. */
    explicit DeviceSession(const Terms& terms);

    /**
     * @param nanoseconds A time from the network.
     * @return the same, limited so that sums with it do not overflow.
     */
    static Time LimitTime(uint64_t nanoseconds);

    /** @return the state of the session. */
    Phase GetPhase() const
    {
        return m_phase;
    }

    /** @return what was granted. */
    const Terms& GetTerms() const
    {
        return m_terms;
    }

    /**
     * @param usesPrevious Whether the device may train with an incomplete model.
     * @param now The time.
     * @param repairDelay The least time to wait for the model in that case.
     * @return when training has to begin at the latest; if that is not after `now`, it is too late.
     */
    Time GetLatestStart(bool usesPrevious, const Time& now, const Time& repairDelay) const;

    /**
     * Add a fragment of the model.
     * @param header Its header.
     * @param payload Its coordinates.
     * @param now The time.
     * @return why it is dropped, if it is.
     */
    std::optional<DropReason> TakeModel(const FederatedHeader& header,
                                        const uint8_t* payload,
                                        const Time& now);

    /** @return whether the model is complete. */
    bool HasModel() const
    {
        return m_model.IsComplete();
    }

    /**
     * @param now The time.
     * @return how long no fragment of the model was received; the longest time if none was.
     */
    Time GetSilence(const Time& now) const;

    /**
     * @param room How many ranges are wanted at most.
     * @return the fragments of the model that are missing: first index and how many.
     */
    std::vector<std::pair<uint32_t, uint32_t>> GetMissing(std::size_t room) const;

    /**
     * Begin to train.
     * @param update What to do; gets the model.
     * @param previous Values for missing coordinates of the model; null only if none is missing.
     */
    void StartTraining(std::shared_ptr<LocalUpdate> update, const std::vector<float>* previous);

    /** @return the update, once training has begun. */
    LocalUpdate& GetUpdate()
    {
        return *m_update;
    }

    /**
     * Training has ended: plan the fragments of the update, which is valid.
     * @param room Bytes of the largest message before encryption.
     * @param start When it will be sent.
     */
    void StartWaiting(std::size_t room, const Time& start);

    /**
     * The slot begins.
     * @param now The time.
     */
    void StartSending(const Time& now);

    /** @return whether a fragment is left to send. */
    bool HasFragment() const
    {
        return m_next < m_fragments.size();
    }

    /**
     * Take the next fragment to send.
     * @param [in,out] header Its header; sequence number and device are set elsewhere.
     * @return its payload.
     */
    Piece NextFragment(FederatedHeader& header);

    /**
     * A fragment was sent.
     * @param bytes Size of its message.
     * @param now The time.
     */
    void CountSent(uint32_t bytes, const Time& now);

    /** @return when the next fragment is to be sent: they are spread over the slot. */
    Time GetNextTime() const;

    /**
     * The socket has accepted the last fragment only now (TCP).
     * @param now The time.
     */
    void SetLastSent(const Time& now);

    /** @return what was sent. */
    const SentRecord& GetSent() const
    {
        return m_sent;
    }

    /** @return how much memory model and update take, in bytes. */
    std::size_t GetBufferedBytes() const;

  private:
    Terms m_terms;                         //!< What was granted.
    Phase m_phase = Phase::RECEIVING;      //!< Its state.
    FragmentAssembler m_model;             //!< The received part of the model.
    Time m_lastModelFragment;              //!< When the last fragment was received.
    std::shared_ptr<LocalUpdate> m_update; //!< The update.
    std::vector<Fragment> m_fragments;     //!< Of the update.
    std::size_t m_next = 0;                //!< Next fragment to send.
    Time m_sendStart;                      //!< When sending began.
    SentRecord m_sent{};                   //!< What was sent.
};

} // namespace ns3::federated

#endif // DEVICE_SESSION_H
