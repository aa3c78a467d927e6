// SPDX-License-Identifier: GPL-2.0-only

#ifndef FEDERATED_DIAGNOSIS_H
#define FEDERATED_DIAGNOSIS_H

#include "ns3/drop-reason.h"
#include "ns3/fusion-center.h"
#include "ns3/nstime.h"
#include "ns3/round-record.h"
#include "ns3/simple-ref-count.h"

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace ns3
{

/**
 * @ingroup federated
 * @brief What a run came to, in plain values.
 */
struct RunFacts
{
    uint32_t devices = 0;      //!< Devices of the federation.
    uint32_t participants = 0; //!< N, devices that a round asks for.
    uint32_t joined = 0;       //!< Most of them that had joined at one time.
    std::string center;        //!< Address and port of the center, as devices reach it.
    uint32_t rounds = 0;       //!< T.
    uint32_t ended = 0;        //!< Rounds that ended.
    uint32_t skipped = 0;      //!< Those that left the model as it was.
    uint32_t empty = 0;        //!< Rounds for which no device was selected.
    bool hasRound = false; //!< Whether a round had begun and not ended when the simulation stopped.
    bool finished = false; //!< Whether the last round ended.
    bool onRequest =
        false;             //!< Whether an edge asks for rounds, and nobody knows which is the last.
    bool hasEdges = false; //!< Whether its devices are edges.
    Time stopped;          //!< When the simulation stopped.
    Time deadline;         //!< Longest round.
    uint64_t selected = 0; //!< Sum over the rounds.
    uint64_t received = 0; //!< Updates of which a fragment was received, likewise.
    DropCounters drops{};  //!< Messages that the center dropped.
    std::string obstacle;  //!< Why nodes do not reach each other, without a period; may be empty.
    double clampedFraction = std::numeric_limits<double>::quiet_NaN(); //!< Of the coordinates of
                                                                       //!< the last round; NaN: no.
    std::string interval;   //!< That of the devices, in words.
    bool isPrivate = false; //!< Whether their quantizer adds noise for differential privacy.
    bool isFinite = true;   //!< Whether the loss was finite when the model was last evaluated.
    std::array<uint64_t, PARTICIPANT_STATES> states{}; //!< Outcomes of participants, over rounds.
};

/**
 * @ingroup federated
 * @param facts What a run came to.
 * @return what is wrong with it, each with its probable reason: a sentence each; none if all rounds
 * were fused.
 */
std::vector<std::string> FindWarnings(const RunFacts& facts);

/**
 * @ingroup federated
 * @param facts What a run came to.
 * @return whether it taught nothing, and not because of the channel: no round was fused although
 * updates arrived, none was ever sent, or the model came to have no finite loss. Messages that were
 * lost on their way are a result.
 */
bool IsMistake(const RunFacts& facts);

/**
 * @ingroup federated
 * @brief Watches a federation, and says at the end of a run what went wrong.
 */
class FederatedDiagnosis : public SimpleRefCount<FederatedDiagnosis>
{
  public:
    /**
     * Begin to watch.
     * @param center The center.
     * @param devices How many devices the federation has; visitors have higher numbers.
     * @param address Address and port of the center, as devices reach it.
     */
    FederatedDiagnosis(const Ptr<FusionCenter>& center, uint32_t devices, const Address& address);

    /**
     * @param center The center that is watched.
     * @return what the run came to so far.
     */
    RunFacts GetFacts(const Ptr<FusionCenter>& center) const;

  private:
    /** Trace sink of MembersChanged. */
    void HandleMember(uint32_t device, bool joined);
    /** Trace sink of RoundStart. */
    void HandleRoundStart(uint32_t round, const std::vector<uint32_t>& selected);
    /** Trace sink of RoundEnd. */
    void HandleRoundEnd(const RoundRecord& record);
    /** Trace sink of Finished. */
    void HandleFinished(uint32_t rounds);

    uint32_t m_members = 0; //!< Devices that have joined and not left.
    RunFacts m_facts;       //!< All but what the center is asked for at the end.
};

} // namespace ns3

#endif // FEDERATED_DIAGNOSIS_H
