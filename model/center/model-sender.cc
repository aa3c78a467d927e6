// SPDX-License-Identifier: GPL-2.0-only

#include "model-sender.h"

#include "ns3/bit-packer.h"
#include "ns3/little-endian.h"
#include "ns3/message-bodies.h"
#include "ns3/simulator.h"

#include <utility>

namespace ns3::federated
{

namespace
{

constexpr unsigned BITS = BitPacker::FLOAT_BITS; // of a coordinate of a model

} // namespace

ModelSender::ModelSender(MessageEndpoint& endpoint)
    : m_endpoint(endpoint)
{
}

ModelSender::~ModelSender()
{
    Stop();
}

void
ModelSender::SetUp(std::size_t dimension,
                   uint32_t fragmentSize,
                   const DataRate& rate,
                   const Address& group,
                   uint32_t maxRepairs)
{
    m_rate = rate;
    m_group = group;
    m_maxRepairs = maxRepairs;
    m_plan =
        PlanFragments(dimension, BITS, {}, m_endpoint.GetRoom(fragmentSize, !m_group.IsInvalid()));
    m_pacedSize = 0;
}

Time
ModelSender::GetModelTime() const
{
    const std::size_t bytes = GetMessagesSize(m_plan, BITS) +
                              m_plan.size() * m_endpoint.GetOverhead(!m_group.IsInvalid());
    return Seconds(8 * static_cast<double>(bytes) / static_cast<double>(m_rate.GetBitRate()));
}

Ptr<Packet>
ModelSender::MakeMessage(std::size_t index, uint32_t recipient)
{
    const Fragment& fragment = m_plan[index];
    m_header.type = FederatedHeader::MODEL;
    m_header.sequence = m_sequence + static_cast<uint32_t>(index);
    m_header.round = m_round;
    m_header.device = FederatedHeader::ALL_DEVICES;
    FillFragment(fragment, index, m_plan.size(), BITS, {}, m_header);
    const float* values = m_model->data() + fragment.begin;
    const std::size_t size = fragment.GetPayloadSize(BITS);
    if (LITTLE_ENDIAN_HOST)
    {
        return m_endpoint.Make(m_header, reinterpret_cast<const uint8_t*>(values), size, recipient);
    }
    std::vector<uint8_t> swapped(size);
    for (std::size_t i = 0; i < fragment.end - fragment.begin; ++i)
    {
        WriteLittleEndianFloat(values[i], &swapped[4 * i]);
    }
    return m_endpoint.Make(m_header, swapped.data(), size, recipient);
}

void
ModelSender::Start(uint32_t round,
                   const std::vector<float>& model,
                   const std::vector<Recipient>& recipients,
                   const Time& delay,
                   uint32_t& sequence)
{
    Stop();
    m_round = round;
    m_model = &model;
    for (const Recipient& recipient : recipients)
    {
        m_waiting.emplace_hint(m_waiting.end(), recipient.device, recipient.peer);
    }
    m_sequence = sequence + 1;
    sequence += GetFragments();
    m_groupNext = m_plan.size();
    m_repairTime = Time(0);
    if (delay.IsZero())
    {
        Begin();
    }
    else
    {
        m_event = Simulator::Schedule(delay, &ModelSender::Begin, this);
    }
}

void
ModelSender::Begin()
{
    m_pending.clear();
    m_repairing.clear();
    m_patient.clear();
    // A connection may break while it is written to, and Forget() be called.
    const auto recipients = std::exchange(m_waiting, {});
    if (m_endpoint.IsTcp())
    {
        // Paced by the connections, whose queues share the messages.
        for (std::size_t i = 0; i < m_plan.size(); ++i)
        {
            Ptr<Packet> message;
            for (const auto& [device, peer] : recipients)
            {
                if (!message || m_endpoint.IsProtected()) // then by the key of each device
                {
                    message = MakeMessage(i, device);
                }
                m_endpoint.Send(peer, message);
            }
        }
        return;
    }
    if (!m_group.IsInvalid())
    {
        m_groupNext = 0;
    }
    else
    {
        for (const auto& [device, peer] : recipients)
        {
            m_pending[device] = {peer, {{0, GetFragments()}}};
            m_sending.push_back(device);
        }
    }
    SendNext();
}

uint32_t
ModelSender::SendPending(std::deque<uint32_t>& queue, bool inTurns)
{
    while (!queue.empty())
    {
        const uint32_t device = queue.front();
        const auto found = m_pending.find(device);
        if (found == m_pending.end() || found->second.ranges.empty())
        {
            queue.pop_front();
            continue;
        }
        auto& [first, count] = found->second.ranges.front();
        const Ptr<Packet> message =
            MakeMessage(first, m_endpoint.HasGroup() ? FederatedHeader::ALL_DEVICES : device);
        ++first;
        if (--count == 0)
        {
            found->second.ranges.pop_front();
        }
        if (inTurns || found->second.ranges.empty())
        {
            queue.pop_front();
        }
        if (inTurns && !found->second.ranges.empty())
        {
            queue.push_back(device); // once: a device that requests often has no more turns
        }
        m_endpoint.Send(found->second.peer, message);
        return message->GetSize();
    }
    return 0;
}

void
ModelSender::SendNext()
{
    // Every other message is a repair: repairs neither wait for all models nor delay them much.
    uint32_t size = 0;
    m_repairsTurn = !m_repairsTurn;
    if (m_repairsTurn)
    {
        size = SendPending(m_repairing, true);
    }
    bool isRepair = size > 0;
    if (size == 0 && m_groupNext < m_plan.size())
    {
        const Ptr<Packet> message = MakeMessage(m_groupNext++, FederatedHeader::ALL_DEVICES);
        size = message->GetSize();
        m_endpoint.SendToAddress(m_group, message);
    }
    if (size == 0)
    {
        size = SendPending(m_sending, false);
    }
    for (auto* queue : {&m_repairing, &m_patient})
    {
        if (size == 0)
        {
            size = SendPending(*queue, true);
            isRepair = size > 0;
        }
    }
    if (size > 0)
    {
        if (size != m_pacedSize) // nearly all have the same size, and the division is slow
        {
            m_pacedSize = size;
            m_pacedTime = m_rate.CalculateBytesTxTime(size);
        }
        m_repairTime += isRepair ? m_pacedTime : Time(0);
        m_event = Simulator::Schedule(m_pacedTime, &ModelSender::SendNext, this);
    }
}

std::optional<DropReason>
ModelSender::Repair(const Recipient& recipient,
                    const FederatedHeader& header,
                    const uint8_t* payload)
{
    RepairBody body;
    if (!RepairBody::Read(payload, header.payloadLength, body))
    {
        return DROP_MALFORMED;
    }
    // Ascending ranges request no fragment twice, which limits the work that a REPAIR can cause.
    uint32_t next = 0;
    uint64_t requested = 0;
    for (const auto& [first, count] : body.ranges)
    {
        if (first < next || first >= m_plan.size() || count > m_plan.size() - first)
        {
            return DROP_INVALID;
        }
        next = first + count;
        requested += count;
    }
    Pending& pending = m_pending[recipient.device];
    if (!pending.ranges.empty())
    {
        return DROP_DUPLICATE; // the fragments that it lacks are still being sent
    }
    if (pending.repairs + requested > uint64_t{m_maxRepairs} * m_plan.size())
    {
        return DROP_UNEXPECTED; // it has had its share of the downlink
    }
    pending.peer = recipient.peer;
    pending.ranges.assign(body.ranges.begin(), body.ranges.end());
    pending.repairs += requested;
    (pending.repairs <= m_plan.size() ? m_repairing : m_patient).push_back(recipient.device);
    if (m_event.IsExpired())
    {
        m_event = Simulator::ScheduleNow(&ModelSender::SendNext, this);
    }
    return std::nullopt;
}

void
ModelSender::Forget(uint32_t device)
{
    m_pending.erase(device);
    m_waiting.erase(device);
}

void
ModelSender::Stop()
{
    m_event.Cancel();
    m_waiting.clear();
    m_pending.clear();
    m_sending.clear();
    m_repairing.clear();
    m_patient.clear();
}

} // namespace ns3::federated
