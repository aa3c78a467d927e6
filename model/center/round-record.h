// SPDX-License-Identifier: GPL-2.0-only

#ifndef ROUND_RECORD_H
#define ROUND_RECORD_H

#include "ns3/drop-reason.h"
#include "ns3/nstime.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace ns3
{

/**
 * @ingroup federated
 * @brief The outcome of a round for a selected device, as known to the fusion center.
 */
enum ParticipantState
{
    PARTICIPANT_SILENT,      //!< It accepted the grant; no later message was received.
    PARTICIPANT_UNREACHABLE, //!< It never acknowledged the grant.
    PARTICIPANT_LEFT,        //!< It left, or its connection broke.
    PARTICIPANT_NO_MODEL,    //!< It skipped the round: its model was not complete in time.
    PARTICIPANT_NOT_FINITE,  //!< Its training diverged; there was nothing to send.
    PARTICIPANT_NO_TIME,     //!< It was ready only after the deadline.
    PARTICIPANT_DECLINED,    //!< It declined: its privacy budget is spent.
    PARTICIPANT_EMPTY,       //!< It had nothing to learn from, as an edge without devices.
    PARTICIPANT_LOST,        //!< It sent an update, of which nothing was received.
    PARTICIPANT_PARTIAL,     //!< A part of its update was received.
    PARTICIPANT_COMPLETE,    //!< Its whole update was received.
};

/**
 * @ingroup federated
 * How many states there are.
 */
constexpr std::size_t PARTICIPANT_STATES = PARTICIPANT_COMPLETE + 1;

/**
 * @ingroup federated
 * @param state A state.
 * @return its name, one word in lower case.
 */
const char* GetParticipantStateName(ParticipantState state);

/**
 * @ingroup federated
 * @brief One selected device in one round. Unknown values are NaN.
 */
struct LinkRecord
{
    uint32_t device = 0;                                    //!< Device identifier.
    uint32_t group = 0;                                     //!< Its group.
    unsigned bits = 0;                                      //!< Its resolution, b.
    unsigned wireBits = 0;                                  //!< Bits of a coordinate as sent.
    ParticipantState state = PARTICIPANT_SILENT;            //!< Its outcome.
    double snr = std::numeric_limits<double>::quiet_NaN();  //!< Linear SNR at the receiving radio,
                                                            //!< mean over the frames of the round.
    double rate = std::numeric_limits<double>::quiet_NaN(); //!< Of the physical layer, in bit/s.
    double framesOk = std::numeric_limits<double>::quiet_NaN();     //!< Frames decoded.
    double framesFailed = std::numeric_limits<double>::quiet_NaN(); //!< Frames that failed.
    double sigma = std::numeric_limits<double>::quiet_NaN(); //!< Link noise, standard deviation.
    bool sentKnown = false;                                  //!< Whether its DONE was received.
    uint32_t sentFragments = 0; //!< Fragments that it sent: as its DONE reports, else those of
                                //!< the whole update if one was received.
    Time firstSent;             //!< When it sent the first one, if sentKnown.
    Time lastSent;              //!< When it sent the last one, if sentKnown.
    double battery = std::numeric_limits<double>::quiet_NaN(); //!< Level of its battery, 0 to 1, as
                                                               //!< its DONE reports.
    uint32_t receivedFragments = 0; //!< Fragments that were received in time.
    std::size_t coordinates = 0;    //!< Coordinates in them.
    uint32_t lostBursts = 0;        //!< Runs of fragments that it sent and that were not received.
    double weight = 0;              //!< omega, averaged over all coordinates.
    Time firstReceived;             //!< When the first fragment was received, if any was.
    Time lastReceived;              //!< When the last fragment was received, if any was.
};

/**
 * @ingroup federated
 * @brief The received part of an update.
 */
struct UpdateRecord
{
    uint32_t round;     //!< The round.
    uint32_t device;    //!< The device.
    unsigned bits;      //!< Its resolution, b.
    uint32_t fragments; //!< Fragments that were received.
    bool complete;      //!< Whether all fragments were received.
    Time time;          //!< When the last one was received.
};

/**
 * @ingroup federated
 * @brief A round as known to the fusion center. Unknown values are NaN.
 */
struct RoundRecord
{
    uint32_t round = 0;   //!< 1, 2, ... T; a continued run counts on.
    uint32_t before = 0;  //!< Rounds of the run that this one continues; 0: none.
    uint32_t planned = 0; //!< T, rounds that this run has if it does not end early.
    Time start;           //!< When the round began.
    Time end;             //!< When it ended.
    bool skipped = false; //!< The model is unchanged: too few updates, or none that can be used.
    double trainLoss = std::numeric_limits<double>::quiet_NaN();    //!< NaN if not evaluated.
    double testAccuracy = std::numeric_limits<double>::quiet_NaN(); //!< 0..1; NaN if not evaluated.
    double target = 0;        //!< Test accuracy at which the run ends; 0: none.
    uint32_t joined = 0;      //!< Devices that had joined when it began.
    uint32_t selected = 0;    //!< Devices that were granted a slot.
    uint32_t received = 0;    //!< Devices with at least one fragment received.
    uint32_t declined = 0;    //!< Devices that declined because their privacy budget is spent.
    double bitBudget = 0;     //!< B, bits an encoded coordinate; may be infinite.
    double uplinkSeconds = 0; //!< tau, time left of the round when all have trained.
    Time repairTime;          //!< How long the repairs of the model took to send.
    double meanRate = std::numeric_limits<double>::quiet_NaN(); //!< R, harmonic mean of the rates
                                                                //!< of joined devices, bit/s.
    double grantedBits = 0;         //!< Bits a coordinate on the wire, summed over the selected.
    double deliveredBits = 0;       //!< Bits delivered a coordinate, summed over devices.
    uint64_t sentFragments = 0;     //!< Over devices that are known to have sent.
    uint64_t receivedFragments = 0; //!< Of these, how many were received in time.
    double untouchedFraction = 0;   //!< Encoded coordinates that no device delivered.
    double fusedError =
        std::numeric_limits<double>::quiet_NaN(); //!< Expected squared error of a fused coordinate,
                                                  //!< by quantization and links; NaN: no fusion.
    double meanSnr = std::numeric_limits<double>::quiet_NaN();   //!< Linear, over received updates.
    double meanSigma = std::numeric_limits<double>::quiet_NaN(); //!< Over received updates.
    double sameCellEpsilon =
        std::numeric_limits<double>::quiet_NaN(); //!< Largest R_u d epsilon so far, R_u being the
                                                  //!< rounds that a device answered and d the
                                                  //!< encoded coordinates; NaN where the quantizer
                                                  //!< has no epsilon for a coordinate.
    DropCounters drops{};                         //!< Messages dropped since the last round's end.
    std::vector<LinkRecord> links;                //!< The selected devices, in ascending order.

    /** @return whether the run ends after this round because the accuracy is what was wanted. */
    bool HasReachedTarget() const
    {
        return target > 0 && testAccuracy >= target; // not if it is unknown
    }

    /**
     * Set all sums and means over the devices from `links`.
     * @param dimension Coordinates of an update as it is encoded.
     */
    void Summarize(std::size_t dimension);

    /**
     * TracedCallback signature.
     * @param record The round.
     */
    using TracedCallback = void (*)(const RoundRecord& record);
};

} // namespace ns3

#endif // ROUND_RECORD_H
