// SPDX-License-Identifier: GPL-2.0-only

#ifndef INSIDER_ATTACK_H
#define INSIDER_ATTACK_H

#include "message-tampering.h"

#include "ns3/nstime.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace ns3
{

/**
 * @ingroup federated
 * @brief The attacks of one device that joined, to measure what a federation withstands.
 *
 * @code
    federation.GetDevices()[0]->SetAttribute(
        "Tampering", StringValue("ns3::InsiderAttack[Attack=silence]"));
   @endcode
 *
 * Attacks on updates keep the messages of the protocol and change what they say; the others send
 * too much, too little or too late. All are deterministic.
 */
class InsiderAttack : public MessageTampering
{
  public:
    /** What the insider does. */
    enum Attack
    {
        FLIP,                //!< Coordinates are mirrored at the middle of their interval (floats:
                             //!< their signs change).
        EXTREME_LEVELS,      //!< Levels become that end of the interval that is farther away.
        EXTREME_FLOATS,      //!< Floats become Magnitude with the opposite sign.
        NOT_A_NUMBER,        //!< Floats become NaN.
        DISTORTION_ZERO,     //!< Updates claim to have no distortion.
        DISTORTION_MISSING,  //!< Updates do not report their distortion.
        DISTORTION_DENORMAL, //!< Updates claim to have the smallest distortion that a float can
                             //!< have.
        WIDE_INTERVAL,       //!< Levels are on the interval [-Magnitude, Magnitude].
        WRONG_BITS,          //!< Updates have another resolution than the granted one.
        OVERLAP,             //!< Each fragment of an update comes twice, the second time mirrored
                             //!< and under another index.
        REPLAY,              //!< Updates and DONE of earlier rounds come again in each round.
        STALE,               //!< Each update is that of the first round.
        SILENCE,             //!< Grants are acknowledged, and nothing follows.
        NO_ACK,              //!< After the JOIN nothing is sent.
        SLOWNESS,            //!< The first fragment of an update is sent in time, the others and
                             //!< DONE shortly before the deadline.
        LATENESS,            //!< The whole update and DONE are sent shortly before the deadline.
        LONG_TRAINING,       //!< JOIN announces that training takes TrainingTime.
        REPAIR_FLOOD,        //!< Each round the model is requested again, many times.
        DONE_FLOOD,          //!< Each round begins with many DONE.
        JOIN_FLAPPING,       //!< Each round the device leaves and joins, many times.
        IMPERSONATION,       //!< Each round the device leaves, and sends an update and DONE, in the
                             //!< name of another one (its identifier with the last bit changed).
    };

    /** @return the TypeId. */
    static TypeId GetTypeId();

    /** @return the names of all attacks, as the attribute Attack takes them. */
    static std::vector<std::string> GetNames();

  private:
    std::vector<OutgoingMessage> DoTamper(const OutgoingMessage& message,
                                          const TamperingContext& context) override;

    /**
     * Attacks on a JOIN, which is remembered.
     * @param message The JOIN.
     * @return what is sent instead.
     */
    OutgoingMessage TamperWithJoin(const OutgoingMessage& message);

    /**
     * Attacks on a fragment of an update.
     * @param message The fragment.
     * @return what is sent instead.
     */
    std::vector<OutgoingMessage> TamperWithUpdate(const OutgoingMessage& message);

    /**
     * Attacks by messages that the honest device does not send. They begin when a grant is
     * acknowledged.
     * @param ack The acknowledgment.
     * @param now The time.
     * @return what is sent after it, one message every Spacing.
     */
    std::vector<OutgoingMessage> MakeExtra(const OutgoingMessage& ack, const Time& now);

    /**
     * @param ack The acknowledgment of a grant.
     * @return LEAVE and JOIN in turns, each JOIN in another life.
     */
    std::vector<OutgoingMessage> MakeFlapping(const OutgoingMessage& ack) const;

    /**
     * @param context The time and the deadline.
     * @return how long a message is held back that is sent shortly before the deadline.
     */
    Time GetDelay(const TamperingContext& context) const;

    // Attributes
    Attack m_attack;     //!< What the insider does.
    bool m_flip;         //!< Whether it mirrors its updates, too.
    double m_magnitude;  //!< Of extreme floats and wide intervals.
    uint32_t m_messages; //!< Messages of a flood in a round.
    Time m_spacing;      //!< From one of these to the next.
    Time m_margin;       //!< From messages that are held back to the deadline.
    Time m_training;     //!< Announced training time.

    // State
    OutgoingMessage m_join;                                 //!< The last honest JOIN.
    uint32_t m_sequence = 0;                                //!< Last number of a control message.
    std::vector<OutgoingMessage> m_earlier;                 //!< Messages to be replayed.
    uint32_t m_firstRound = 0;                              //!< Round of the first update.
    std::map<uint32_t, std::vector<uint8_t>> m_firstUpdate; //!< Its fragments, by index.
};

} // namespace ns3

#endif // INSIDER_ATTACK_H
