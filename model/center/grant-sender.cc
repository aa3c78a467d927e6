// SPDX-License-Identifier: GPL-2.0-only

#include "grant-sender.h"

#include "ns3/log.h"

#include <optional>
#include <utility>

namespace ns3::federated
{

NS_LOG_COMPONENT_DEFINE("GrantSender");

namespace
{

uint64_t
ToNanoSeconds(const Time& time)
{
    return static_cast<uint64_t>(time.GetNanoSeconds());
}

} // namespace

GrantSender::GrantSender(MessageEndpoint& endpoint, std::function<void(uint32_t)> giveUp)
    : m_endpoint(endpoint),
      m_giveUp(std::move(giveUp))
{
}

void
GrantSender::Add(const Terms& terms,
                 const PlannedSlot& slot,
                 const MessagePeer& peer,
                 uint32_t sequence)
{
    if (slot.isLate)
    {
        NS_LOG_WARN("The slot of device " << slot.device << " in round " << terms.round
                                          << " ends after the deadline");
    }
    GrantBody body;
    body.modelEndNs = ToNanoSeconds(slot.modelEnd);
    body.slotStartNs = ToNanoSeconds(slot.start);
    body.slotLengthNs = ToNanoSeconds(slot.length);
    body.deadlineNs = ToNanoSeconds(terms.deadline);
    Grant& grant = m_grants[slot.device];
    body.Write(grant.body);
    grant.peer = peer;
    grant.header.type = FederatedHeader::GRANT;
    grant.header.sequence = sequence;
    grant.header.round = terms.round;
    grant.header.device = slot.device;
    grant.header.bits = static_cast<uint8_t>(slot.bits);
    grant.header.fragments = terms.modelFragments;
    grant.header.coordinates = static_cast<uint32_t>(terms.coordinates);
}

void
GrantSender::Start(const ControlRetry::Schedule& schedule, const Time& spacing)
{
    Time wait;
    for (auto& entry : m_grants)
    {
        const uint32_t device = entry.first;
        Grant& grant = entry.second;
        const auto send = [this, &grant]()
        {
            m_endpoint.Send(grant.peer, m_endpoint.Make(grant.header, grant.body, GrantBody::SIZE));
            return Time(0);
        };
        const auto giveUp = [this, device]()
        {
            NS_LOG_INFO("Device " << device << " does not acknowledge its grant");
            m_giveUp(device);
        };
        grant.retry.Start(
            schedule, send, giveUp, spacing.IsZero() ? std::nullopt : std::optional(wait));
        wait += spacing;
    }
}

std::vector<ModelSender::Recipient>
GrantSender::GetRecipients() const
{
    std::vector<ModelSender::Recipient> recipients;
    for (const auto& [device, grant] : m_grants)
    {
        recipients.push_back({device, grant.peer});
    }
    return recipients;
}

bool
GrantSender::IsSequence(uint32_t device, uint32_t sequence) const
{
    return m_grants.at(device).header.sequence == sequence;
}

const MessagePeer&
GrantSender::GetPeer(uint32_t device) const
{
    return m_grants.at(device).peer;
}

void
GrantSender::Stop(uint32_t device)
{
    m_grants.at(device).retry.Stop();
}

void
GrantSender::Clear()
{
    m_grants.clear();
}

} // namespace ns3::federated
