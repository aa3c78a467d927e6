// SPDX-License-Identifier: GPL-2.0-only

#include "update-collector.h"

#include <algorithm>
#include <utility>

namespace ns3::federated
{

namespace
{

/** @return the state of a device of which nothing was received, from what its DONE says. */
ParticipantState
GetState(uint8_t outcome)
{
    switch (outcome)
    {
    case OUTCOME_MODEL_INCOMPLETE:
        return PARTICIPANT_NO_MODEL;
    case OUTCOME_NOT_FINITE:
        return PARTICIPANT_NOT_FINITE;
    case OUTCOME_NO_TIME:
        return PARTICIPANT_NO_TIME;
    case OUTCOME_BUDGET_SPENT:
        return PARTICIPANT_DECLINED;
    case OUTCOME_NOTHING_LEARNED:
        return PARTICIPANT_EMPTY;
    default:
        return PARTICIPANT_LOST;
    }
}

/** @return the runs of fragments that a device sent and that were not received. */
uint32_t
CountLostBursts(const Participant& participant)
{
    const uint32_t sent = participant.record.sentFragments;
    const auto missing = participant.update.GetMissing(sent, sent);
    return static_cast<uint32_t>(std::count_if(missing.begin(),
                                               missing.end(),
                                               [sent](const auto& run)
                                               { return run.first < sent; })); // not cut off
}

} // namespace

UpdateCollector::UpdateCollector(DeviceHandler answered,
                                 DeviceHandler started,
                                 ReceivedHandler received)
    : m_answered(std::move(answered)),
      m_started(std::move(started)),
      m_received(std::move(received))
{
}

void
UpdateCollector::Begin(const Rules& rules)
{
    Clear();
    m_rules = rules;
    m_isOpen = true;
}

std::optional<DropReason>
UpdateCollector::GetStaleReason(const FederatedHeader& header) const
{
    if (header.round > m_rules.round)
    {
        return DROP_INVALID;
    }
    if (header.type == FederatedHeader::DONE)
    {
        return std::nullopt;
    }
    return header.round < m_rules.round ? DROP_OLD : DROP_LATE;
}

void
UpdateCollector::Add(uint32_t device,
                     uint32_t group,
                     unsigned bits,
                     unsigned wireBits,
                     const Time& slotStart)
{
    UpdateLimits::Terms terms = m_rules.limits;
    terms.context.bits = bits;
    terms.context.dimension = m_rules.dimension;
    auto participant = std::make_unique<Participant>(m_rules.dimension, wireBits, terms);
    participant->record.device = device;
    participant->record.group = group;
    participant->record.bits = bits;
    participant->slotStart = slotStart;
    m_participants[device] = std::move(participant);
    ++m_unanswered;
}

const Participant*
UpdateCollector::Find(uint32_t device) const
{
    const auto found = m_participants.find(device);
    return found == m_participants.end() ? nullptr : found->second.get();
}

bool
UpdateCollector::Advance(Participant& participant, Event event)
{
    using Phase = Participant::Phase;
    const Phase before = participant.phase;
    if (event == Event::HEARD)
    {
        participant.phase = before == Phase::OFFERED   ? Phase::ACCEPTED
                            : before == Phase::UNHEARD ? Phase::ANSWERED
                                                       : before;
    }
    else
    {
        participant.phase = before == Phase::OFFERED    ? Phase::UNHEARD
                            : before == Phase::ACCEPTED ? Phase::ANSWERED
                                                        : before;
    }
    return participant.phase != before;
}

bool
UpdateCollector::Hear(uint32_t device)
{
    return Advance(*m_participants.at(device), Event::HEARD);
}

void
UpdateCollector::SetAnswered(Participant& participant)
{
    if (Advance(participant, Event::ANSWERED))
    {
        --m_unanswered;
        Report(participant);
        m_answered(participant.record.device);
    }
}

void
UpdateCollector::Report(Participant& participant)
{
    const LinkRecord& record = participant.record;
    if (!participant.reported && record.receivedFragments > 0)
    {
        participant.reported = true;
        m_received({m_rules.round,
                    record.device,
                    record.bits,
                    record.receivedFragments,
                    participant.update.IsComplete(),
                    record.lastReceived});
    }
}

std::optional<DropReason>
UpdateCollector::TakeUpdate(uint32_t device,
                            const FederatedHeader& header,
                            const uint8_t* payload,
                            uint64_t packet,
                            const Time& now)
{
    Participant& participant = *m_participants.at(device);
    LinkRecord& record = participant.record;
    if ((record.sentKnown && record.receivedFragments == record.sentFragments) ||
        header.rotated != m_rules.isRotated || header.interleaved != m_rules.isInterleaved)
    {
        return DROP_INVALID; // more than its DONE reports, or not encoded as the others
    }
    const auto screen =
        [&participant](const FederatedHeader& h, const uint8_t* coordinates, float largest)
    {
        return participant.limits.Allows(
            {h.intervals, h.distortion, coordinates, h.coordinates, largest}, participant.tally);
    };
    if (const auto reason = GetDropReason(participant.update.Accept(header, payload, screen)))
    {
        return reason;
    }
    const std::size_t begin = header.first;
    record.lastReceived = now;
    record.coordinates += header.coordinates;
    participant.lastEnd = begin + header.coordinates;
    if (++record.receivedFragments == 1)
    {
        record.firstReceived = now;
        participant.firstEnd = participant.lastEnd;
        m_started(device);
    }
    if (!record.sentKnown)
    {
        record.sentFragments = header.fragments; // unless its DONE reports fewer
    }
    if (m_rules.rememberFragments)
    {
        participant.fragments.push_back({begin, participant.lastEnd, packet});
    }
    if (participant.update.IsComplete())
    {
        SetAnswered(participant);
    }
    return std::nullopt;
}

std::optional<DropReason>
UpdateCollector::TakeDone(uint32_t device,
                          const FederatedHeader& header,
                          const uint8_t* payload,
                          const Time& now)
{
    DoneBody body;
    if (!DoneBody::Read(payload, header.payloadLength, body))
    {
        return DROP_MALFORMED;
    }
    Participant& participant = *m_participants.at(device);
    LinkRecord& record = participant.record;
    const uint32_t planned = participant.update.GetFragments();
    const Time firstSent = NanoSeconds(body.firstSentNs);
    const Time lastSent = NanoSeconds(body.lastSentNs);
    const bool hasSent = header.fragments > 0;
    if (header.fragments < record.receivedFragments ||
        header.fragments > (planned > 0 ? planned : m_rules.dimension) ||
        (hasSent && (firstSent < m_rules.start || lastSent > now)))
    {
        return DROP_INVALID;
    }
    if (record.sentKnown)
    {
        return DROP_DUPLICATE;
    }
    record.sentKnown = true;
    record.sentFragments = header.fragments;
    record.firstSent = firstSent;
    record.lastSent = lastSent;
    record.battery = body.battery;
    record.state = GetState(body.outcome);
    SetAnswered(participant);
    return std::nullopt;
}

void
UpdateCollector::Leave(uint32_t device)
{
    const auto found = m_participants.find(device);
    if (found != m_participants.end() && !found->second->HasAnswered())
    {
        found->second->record.state = PARTICIPANT_LEFT;
        SetAnswered(*found->second);
    }
}

void
UpdateCollector::GiveUp(uint32_t device)
{
    SetAnswered(*m_participants.at(device));
}

void
UpdateCollector::Finish()
{
    using Phase = Participant::Phase;
    m_isOpen = false;
    for (auto& [device, participant] : m_participants)
    {
        Report(*participant);
        LinkRecord& record = participant->record;
        record.lostBursts = CountLostBursts(*participant);
        const bool wasHeard =
            participant->phase == Phase::ACCEPTED || participant->phase == Phase::ANSWERED;
        if (record.receivedFragments > 0)
        {
            record.state =
                participant->update.IsComplete() ? PARTICIPANT_COMPLETE : PARTICIPANT_PARTIAL;
        }
        else if (record.state == PARTICIPANT_SILENT && !wasHeard)
        {
            record.state = PARTICIPANT_UNREACHABLE;
        }
    }
}

void
UpdateCollector::Clear()
{
    m_isOpen = false;
    m_participants.clear();
    m_unanswered = 0;
}

std::vector<UplinkObservation>
UpdateCollector::GetObservations() const
{
    std::vector<UplinkObservation> observations;
    for (const auto& [device, participant] : m_participants)
    {
        const LinkRecord& record = participant->record;
        UplinkObservation seen;
        seen.device = device;
        seen.wireBits = record.wireBits;
        seen.dimension = m_rules.dimension;
        seen.slotStart = participant->slotStart;
        seen.receivedFragments = record.receivedFragments;
        seen.firstReceived = record.firstReceived;
        seen.lastReceived = record.lastReceived;
        seen.firstEnd = participant->firstEnd;
        seen.lastEnd = participant->lastEnd;
        seen.delivered = static_cast<double>(record.coordinates);
        seen.fragments = participant->update.GetFragments();
        seen.sentKnown = record.sentKnown;
        seen.sentFragments = record.sentFragments;
        observations.push_back(seen);
    }
    return observations;
}

} // namespace ns3::federated
