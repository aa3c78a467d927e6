// SPDX-License-Identifier: GPL-2.0-only

#ifndef ROUND_PLANNER_H
#define ROUND_PLANNER_H

#include "cluster-size-policy.h"
#include "selection-policy.h"

#include "ns3/bit-budget.h"
#include "ns3/data-rate.h"
#include "ns3/nstime.h"
#include "ns3/quantizer.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace ns3::federated
{

/** A device that has joined, as the planner sees it. */
struct PlannerDevice : SelectionCandidate
{
    uint32_t group = 0;        //!< Its group.
    Time training;             //!< How long it trains.
    double airRate = 0;        //!< Payload that it sends per second of its slot, bit/s.
    uint32_t silentRounds = 0; //!< Rounds in a row in which it was selected and did not answer.
    double sigma2 = std::numeric_limits<double>::quiet_NaN(); //!< Noise of its link; NaN: unknown;
                                                              //!< infinite: its update would carry
                                                              //!< no information.
};

/** How rounds are planned. */
struct RoundRules
{
    std::size_t dimension = 0;       //!< Coordinates of an update as it is encoded.
    std::vector<unsigned> groupBits; //!< Resolution b of each group.
    uint32_t participants = 1;       //!< N, devices that are wanted.
    Time deadline;                   //!< Longest round.
    bool modelForEach = true;        //!< Whether each device is sent a model of its own.
    Time modelTime;                  //!< How long it takes to send a model.
    Time grantSpacing;               //!< From one grant to the next, and to the model.
    Time repairTime;                 //!< Planned for repairs of the model.
    Time guard;                      //!< Between slots.
    Time lateness;                   //!< How much later than planned devices of the last round
                                     //!< began to send.
    bool measuredSlots = false;      //!< Whether slots are as long as devices need.
    double leftOut = 0;              //!< Share of the devices, the slowest, that the mean rate and
                                     //!< the longest training leave out.
    double longestSlot =
        std::numeric_limits<double>::infinity(); //!< Limit of a device's slot, as a multiple of
                                                 //!< that of a device with the median rate.
    DataRate uplinkRate;       //!< Rate at which a device spreads its update over its slot.
    std::size_t room = 0;      //!< Bytes of the largest message before encryption.
    std::size_t overhead = 0;  //!< Bytes that encryption adds to a message.
    uint64_t seed = 0;         //!< Of the draws of devices.
    uint32_t silentRounds = 0; //!< After so many silent rounds in a row a device pauses; 0:
                               //!< never.
    uint32_t silentPause = 0;  //!< Rounds that it pauses.
    const Quantizer* quantizer = nullptr; //!< Quantizer of the devices.
    const BitBudget* budget = nullptr;    //!< B.
};

/** When a device sends its update. */
struct PlannedSlot
{
    uint32_t device = 0;   //!< The device.
    uint32_t group = 0;    //!< Its group.
    unsigned bits = 0;     //!< Its resolution, b.
    unsigned wireBits = 0; //!< Bits of a coordinate as sent.
    Time modelEnd;         //!< When its model will have been sent.
    Time start;            //!< When it may begin.
    Time length;           //!< Time over which it spreads its update.
    Time end;              //!< When the next device may begin, but for a guard time.
    bool isLate = false;   //!< Whether it ends after the deadline.
};

/** A round, before it begins. */
struct RoundPlan
{
    BitBudgetContext context;       //!< State of the uplink.
    double budget = 0;              //!< B, bits a coordinate.
    std::vector<uint32_t> selected; //!< The devices, ascending; may be empty.
    std::vector<PlannedSlot> slots; //!< Their slots, in the order in which these begin.
};

/**
 * Read the resolutions of the groups, and check that they can be used.
 * @param text Resolutions in the order of the groups, separated by commas.
 * @param quantizer The quantizer of the devices.
 * @param participants N.
 * @param [out] bits The resolutions.
 * @return what is wrong, a sentence; empty if nothing is.
 */
std::string ReadGroupBits(const std::string& text,
                          const Quantizer& quantizer,
                          uint32_t participants,
                          std::vector<unsigned>& bits);

/**
 * Plan a round from what is known when it begins: the bit budget, the number of devices of each
 * group, the devices, and their slots. It changes only the state of the policies, such as a random
 * stream, and uses no socket and no clock.
 * @param round The round, 1, 2, ...
 * @param devices The devices that have joined, in ascending order.
 * @param rules How rounds are planned.
 * @param policy Chooses the cluster sizes.
 * @param selection Chooses the devices of each group.
 * @param now When the round begins.
 * @return the plan.
 */
RoundPlan PlanRound(uint32_t round,
                    const std::vector<PlannerDevice>& devices,
                    const RoundRules& rules,
                    ClusterSizePolicy& policy,
                    SelectionPolicy& selection,
                    const Time& now);

} // namespace ns3::federated

#endif // ROUND_PLANNER_H
