// SPDX-License-Identifier: GPL-2.0-only

#include "federated-diagnosis.h"

#include "ns3/boolean.h"
#include "ns3/simulator.h"
#include "ns3/socket-address.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <sstream>

namespace ns3
{

namespace
{

// Parts of clamped coordinates above which a run is warned. Under the profile sound an MLP has 0.2
// % and a logistic model 6 to 25 % on MNIST, which costs no accuracy; 40 % costs 15 points. The
// noise of a private quantizer grows with the interval, so that a narrow one may be the best there.
constexpr double MUCH_CLAMPED = 0.25;
constexpr double MUCH_CLAMPED_IF_PRIVATE = 0.5;

/** @return the index of the largest number; that of the first one if there are several. */
template <typename Numbers>
std::size_t
FindMost(const Numbers& numbers)
{
    return static_cast<std::size_t>(std::max_element(numbers.begin(), numbers.end()) -
                                    numbers.begin());
}

/** @return why participants with this outcome were of no use, and what to look at. */
std::string
ExplainState(ParticipantState state, const RunFacts& facts)
{
    const Time& deadline = facts.deadline;
    std::ostringstream text;
    switch (state)
    {
    case PARTICIPANT_UNREACHABLE:
        text << "their grants were not acknowledged: ";
        if (facts.obstacle.empty())
        {
            text << "are they in range and have they power, is there a route from the center to "
                    "them, or is the Deadline of "
                 << deadline.As(Time::S) << " too short?";
        }
        else
        {
            text << facts.obstacle << '.';
        }
        break;
    case PARTICIPANT_NO_MODEL:
        text << "the model did not reach them in time: is DownlinkRate above what the link carries "
                "or below what the model needs, or the Deadline of "
             << deadline.As(Time::S) << " too short?";
        break;
    case PARTICIPANT_NO_TIME:
    case PARTICIPANT_SILENT:
        if (facts.hasEdges)
        {
            text << "the rounds of their cells had not ended and been sent before: is the Deadline "
                    "of "
                 << deadline.As(Time::S) << " too short, or a Deadline of the cells?";
            break;
        }
        text << "they had not trained and sent before the round ended: is the Deadline of "
             << deadline.As(Time::S)
             << (facts.onRequest ? ", or what the edge's own deadline leaves," : "")
             << " shorter than TimePerSample x Steps x BatchSize?";
        break;
    case PARTICIPANT_NOT_FINITE:
        text << "their training diverged: is LearningRate too large?";
        break;
    case PARTICIPANT_DECLINED:
        text << "their PrivacyBudget is spent.";
        break;
    case PARTICIPANT_EMPTY:
        text << "no round of their cells succeeded, so that they had nothing to learn from: are "
                "there devices in their cells?";
        break;
    case PARTICIPANT_LEFT:
        text << "they left, or their connections broke.";
        break;
    case PARTICIPANT_LOST:
        text << "they sent updates of which no fragment was received.";
        break;
    default:
        text << "their updates were received, but fewer than MinUpdates or not usable.";
        break;
    }
    return text.str();
}

/** @return the reason for which the center dropped most messages, empty if it dropped none. */
std::string
DescribeDrops(const DropCounters& drops)
{
    const std::size_t most = FindMost(drops);
    if (drops[most] == 0)
    {
        return "";
    }
    const uint64_t all = std::accumulate(drops.begin(), drops.end(), uint64_t{0});
    return "the center dropped " + std::to_string(all) + " messages, " +
           std::to_string(drops[most]) + " of them as '" +
           GetDropReasonName(static_cast<DropReason>(most)) + "'";
}

/** @return the most common outcome among those of which nothing was received. */
ParticipantState
FindCommonFailure(const RunFacts& facts)
{
    auto states = facts.states;
    states[PARTICIPANT_PARTIAL] = 0;
    states[PARTICIPANT_COMPLETE] = 0;
    const std::size_t most = FindMost(states);
    return states[most] > 0 ? static_cast<ParticipantState>(most) : PARTICIPANT_COMPLETE;
}

/** @return whether center and devices disagree about what updates look like. */
bool
DropsUpdates(const RunFacts& facts)
{
    return facts.drops[DROP_INVALID] > 0 || facts.drops[DROP_NOT_FINITE] > 0;
}

} // namespace

std::vector<std::string>
FindWarnings(const RunFacts& facts)
{
    std::vector<std::string> warnings;
    const std::string drops = DescribeDrops(facts.drops);
    if (facts.stopped.IsZero() && facts.joined == 0)
    {
        return {"The simulation did not run: does Simulator::Run come before the end?"};
    }
    if (facts.joined == 0)
    {
        warnings.push_back("None of " + std::to_string(facts.devices) + " devices joined: " +
                           (facts.obstacle.empty()
                                ? "is " + facts.center +
                                      " an address of the center's node, and is there a route to "
                                      "it?"
                                : facts.obstacle + ".") +
                           (drops.empty() ? "" : " (" + drops + ".)"));
    }
    else if (facts.joined < facts.devices)
    {
        warnings.push_back("Only " + std::to_string(facts.joined) + " of " +
                           std::to_string(facts.devices) + " devices joined: " +
                           (facts.obstacle.empty() ? "the others did not reach the center."
                                                   : facts.obstacle + "."));
    }
    if (facts.participants > facts.devices)
    {
        warnings.push_back("Participants is " + std::to_string(facts.participants) +
                           ", but the federation has only " + std::to_string(facts.devices) +
                           " devices: every round asks all of them.");
    }
    if (facts.onRequest && facts.joined > 0 && facts.ended == 0)
    {
        warnings.emplace_back("No round ended: did the edge receive a model, and had it the time?");
    }
    if (!facts.finished && !facts.onRequest)
    {
        std::ostringstream text;
        text << "The simulation stopped at " << facts.stopped.As(Time::S) << " after "
             << facts.ended << " of " << facts.rounds << " rounds"
             << (facts.hasRound ? ", in the middle of one" : "")
             << ": does Simulator::Stop come too early?";
        warnings.push_back(text.str());
    }
    if (facts.joined > 0 && facts.skipped > 0)
    {
        const bool isDropped = facts.received == 0 && DropsUpdates(facts);
        warnings.push_back(
            std::to_string(facts.skipped) + " of " + std::to_string(facts.ended) +
            " rounds left the model as it was. " +
            (facts.selected == 0 ? "No device was selected: does the bit budget carry one update? "
                                   "(A measured one is 0 if the Deadline leaves no time for it.)"
             : facts.empty == facts.skipped
                 ? "No device was selected for them: had one joined when they began (JoinTimeout), "
                   "and did the bit budget carry one update?"
             : isDropped
                 ? "Updates arrived, but " + drops +
                       ": do Quantizer, IntervalRule, Rotation, Interleave and ClipBound of the "
                       "center and of the devices agree?"
                 : "Of most participants nothing was used: " +
                       ExplainState(FindCommonFailure(facts), facts)));
    }
    if (facts.clampedFraction > (facts.isPrivate ? MUCH_CLAMPED_IF_PRIVATE : MUCH_CLAMPED))
    {
        std::ostringstream text;
        text << "In the last round " << std::lround(100 * facts.clampedFraction)
             << " % of the coordinates of updates lay outside the interval " << facts.interval
             << " and were clamped to its ends: does this model need a wider one (SetInterval, "
                "--interval)?";
        warnings.push_back(text.str());
    }
    if (!facts.isFinite)
    {
        warnings.emplace_back("The model has no finite loss: is LearningRate too large, or does a "
                              "model of your own compute scores that are not finite?");
    }
    return warnings;
}

bool
IsMistake(const RunFacts& facts)
{
    const bool hasLearned = facts.ended > facts.skipped;
    // One message that a link lost is enough: what else a participant did not answer (its state is
    // silent then) may have been lost as well.
    const bool isLost = facts.joined > 0 && facts.received == 0 && !DropsUpdates(facts) &&
                        facts.obstacle.empty() &&
                        facts.states[PARTICIPANT_LOST] + facts.states[PARTICIPANT_UNREACHABLE] +
                                facts.states[PARTICIPANT_NO_MODEL] >
                            0;
    return (!hasLearned && !isLost) || !facts.isFinite;
}

FederatedDiagnosis::FederatedDiagnosis(const Ptr<FusionCenter>& center,
                                       uint32_t devices,
                                       const Address& address)
{
    m_facts.devices = devices;
    std::ostringstream place;
    place << federated::SocketAddress(address);
    m_facts.center = place.str();
    const Ptr<FederatedDiagnosis> self(this);
    center->TraceConnectWithoutContext("MembersChanged",
                                       MakeCallback(&FederatedDiagnosis::HandleMember, self));
    center->TraceConnectWithoutContext("RoundStart",
                                       MakeCallback(&FederatedDiagnosis::HandleRoundStart, self));
    center->TraceConnectWithoutContext("RoundEnd",
                                       MakeCallback(&FederatedDiagnosis::HandleRoundEnd, self));
    center->TraceConnectWithoutContext("Finished",
                                       MakeCallback(&FederatedDiagnosis::HandleFinished, self));
}

RunFacts
FederatedDiagnosis::GetFacts(const Ptr<FusionCenter>& center) const
{
    RunFacts facts = m_facts;
    UintegerValue rounds;
    center->GetAttribute("Rounds", rounds);
    facts.rounds = static_cast<uint32_t>(rounds.Get());
    BooleanValue onRequest;
    center->GetAttribute("OnRequest", onRequest);
    facts.onRequest = onRequest.Get();
    UintegerValue participants;
    center->GetAttribute("Participants", participants);
    facts.participants = static_cast<uint32_t>(participants.Get());
    TimeValue deadline;
    center->GetAttribute("Deadline", deadline);
    facts.deadline = deadline.Get();
    facts.stopped = Simulator::Now();
    for (std::size_t i = 0; i < facts.drops.size(); ++i)
    {
        facts.drops[i] = center->GetDropped(static_cast<DropReason>(i));
    }
    return facts;
}

void
FederatedDiagnosis::HandleMember(uint32_t device, bool joined)
{
    if (device >= m_facts.devices)
    {
        return; // a visitor
    }
    m_members += joined ? 1 : 0;
    m_members -= !joined && m_members > 0 ? 1 : 0;
    m_facts.joined = std::max(m_facts.joined, m_members);
}

void
FederatedDiagnosis::HandleRoundStart(uint32_t /* round */,
                                     const std::vector<uint32_t>& /* selected */)
{
    m_facts.hasRound = true;
}

void
FederatedDiagnosis::HandleRoundEnd(const RoundRecord& record)
{
    m_facts.hasRound = false;
    ++m_facts.ended;
    m_facts.skipped += record.skipped ? 1 : 0;
    m_facts.empty += record.selected == 0 ? 1 : 0;
    m_facts.selected += record.selected;
    m_facts.received += record.received;
    if (!std::isnan(record.testAccuracy)) // it was evaluated
    {
        m_facts.isFinite = std::isfinite(record.trainLoss);
    }
    for (const LinkRecord& link : record.links)
    {
        ++m_facts.states.at(link.state);
    }
}

void
FederatedDiagnosis::HandleFinished(uint32_t /* rounds */)
{
    m_facts.finished = true;
}

} // namespace ns3
