// SPDX-License-Identifier: GPL-2.0-only

#include "device-session.h"

#include "ns3/bit-packer.h"

#include <algorithm>
#include <limits>

namespace ns3::federated
{

DeviceSession::DeviceSession(const Terms& terms)
    : m_terms(terms),
      m_model(terms.dimension, BitPacker::FLOAT_BITS)
{
}

Time
DeviceSession::LimitTime(uint64_t nanoseconds)
{
    return std::min(NanoSeconds(nanoseconds), Time::Max() / 2);
}

Time
DeviceSession::GetLatestStart(bool usesPrevious, const Time& now, const Time& repairDelay) const
{
    Time latest = m_terms.deadline - m_terms.slotLength - m_terms.trainingTime;
    if (!usesPrevious)
    {
        return latest;
    }
    // Train before the slot begins, if the grant was received early enough.
    const Time inTime = m_terms.slotStart - m_terms.trainingTime;
    return std::min(latest, inTime > now ? inTime : now + repairDelay);
}

std::optional<DropReason>
DeviceSession::TakeModel(const FederatedHeader& header, const uint8_t* payload, const Time& now)
{
    if (header.round != m_terms.round)
    {
        return DROP_OLD;
    }
    if (header.fragments != m_terms.modelFragments || header.device != FederatedHeader::ALL_DEVICES)
    {
        return DROP_INVALID;
    }
    const auto reason = GetDropReason(m_model.Accept(header, payload));
    if (!reason)
    {
        m_lastModelFragment = now;
    }
    return reason;
}

Time
DeviceSession::GetSilence(const Time& now) const
{
    return m_model.GetReceived() > 0 ? now - m_lastModelFragment : Time::Max();
}

std::vector<std::pair<uint32_t, uint32_t>>
DeviceSession::GetMissing(std::size_t room) const
{
    return m_model.GetMissing(room, m_terms.modelFragments);
}

void
DeviceSession::StartTraining(std::shared_ptr<LocalUpdate> update,
                             const std::vector<float>* previous)
{
    m_phase = Phase::TRAINING;
    m_update = std::move(update);
    if (m_model.IsComplete())
    {
        m_update->model = m_model.TakeModel();
        return;
    }
    m_update->model = *previous;
    if (m_model.GetReceived() > 0)
    {
        const auto ranges = m_model.GetRanges();
        const std::vector<float> received = m_model.TakeModel();
        for (const CoordinateRange& range : ranges)
        {
            std::copy(received.data() + range.begin,
                      received.data() + range.end,
                      m_update->model.data() + range.begin);
        }
    }
}

void
DeviceSession::StartWaiting(std::size_t room, const Time& start)
{
    m_phase = Phase::WAITING;
    if (!SendsIntervals(m_update->settings))
    {
        m_update->intervals.clear();
    }
    m_terms.wireBits = m_update->wireBits; // the quantizer may be another one since the grant
    m_fragments = PlanFragments(GetEncodedSize(m_update->settings, m_terms.dimension),
                                m_terms.wireBits,
                                m_update->intervals,
                                room);
    m_sent = {m_terms.round,
              m_terms.device,
              m_terms.bits,
              m_terms.wireBits,
              0,
              static_cast<uint32_t>(m_fragments.size()),
              0,
              start,
              start,
              m_update->clampedFraction};
}

void
DeviceSession::StartSending(const Time& now)
{
    m_phase = Phase::SENDING;
    m_sendStart = now;
}

DeviceSession::Piece
DeviceSession::NextFragment(FederatedHeader& header)
{
    const Fragment& fragment = m_fragments[m_next];
    header.type = FederatedHeader::UPDATE;
    header.round = m_terms.round;
    header.rotated = m_update->settings.rotation.has_value();
    header.interleaved = m_update->settings.interleaving.has_value();
    // Set in any case: the header is used again, and must not repeat that of an earlier update.
    header.distortion = m_update->settings.reportDistortion
                            ? static_cast<float>(m_update->distortion)
                            : std::numeric_limits<float>::quiet_NaN();
    FillFragment(
        fragment, m_next, m_fragments.size(), m_terms.wireBits, m_update->intervals, header);
    ++m_next;
    return {m_update->payload.data() + fragment.GetPayloadOffset(m_terms.wireBits),
            fragment.GetPayloadSize(m_terms.wireBits)};
}

void
DeviceSession::CountSent(uint32_t bytes, const Time& now)
{
    m_sent.bytes += bytes;
    ++m_sent.fragments;
    m_sent.lastSent = now;
}

Time
DeviceSession::GetNextTime() const
{
    // From the start of the slot, so that rounding does not add up.
    const auto count = static_cast<int64_t>(m_fragments.size());
    const auto next = static_cast<int64_t>(m_next);
    const int64_t length = m_terms.slotLength.GetTimeStep();
    // In parts: the product of a long slot with a number of fragments would overflow.
    return m_sendStart + TimeStep(length / count * next + length % count * next / count);
}

void
DeviceSession::SetLastSent(const Time& now)
{
    m_sent.lastSent = now;
}

std::size_t
DeviceSession::GetBufferedBytes() const
{
    std::size_t bytes = m_model.GetBufferedBytes();
    if (m_update)
    {
        bytes += m_update->model.capacity() * sizeof(float) + m_update->payload.capacity();
    }
    return bytes;
}

} // namespace ns3::federated
