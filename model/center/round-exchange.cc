// SPDX-License-Identifier: GPL-2.0-only

#include "round-exchange.h"

#include "ns3/log.h"

#include <utility>

namespace ns3::federated
{

NS_LOG_COMPONENT_DEFINE("RoundExchange");

RoundExchange::RoundExchange(MessageEndpoint& endpoint,
                             const DeviceRoster& roster,
                             std::function<void(uint32_t)> answered,
                             UpdateCollector::DeviceHandler started,
                             UpdateCollector::ReceivedHandler received)
    : m_endpoint(endpoint),
      m_roster(roster),
      m_answered(std::move(answered)),
      m_collector([this](uint32_t device) { HandleAnswered(device); },
                  std::move(started),
                  std::move(received)),
      m_pages(endpoint),
      m_grants(endpoint, [this](uint32_t device) { m_collector.GiveUp(device); }),
      m_sender(endpoint)
{
}

void
RoundExchange::SetSequence(uint32_t sequence)
{
    m_sequence = sequence;
}

void
RoundExchange::Page(uint32_t round,
                    const std::vector<uint32_t>& selected,
                    const Time& until,
                    const Time& wait)
{
    m_pages.Start(round, selected, until, wait, m_sequence);
}

void
RoundExchange::Start(const RoundPlan& plan, const std::vector<float>& model, const Rules& rules)
{
    m_collector.Begin(rules.collector);
    const GrantSender::Terms terms{
        rules.collector.round, model.size(), m_sender.GetFragments(), rules.deadline};
    for (const PlannedSlot& slot : plan.slots)
    {
        m_collector.Add(slot.device, slot.group, slot.bits, slot.wireBits, slot.start);
        m_grants.Add(terms, slot, m_roster.Find(slot.device)->GetPeer(), ++m_sequence);
    }
    if (plan.slots.empty()) // devices may join for the next round
    {
        NS_LOG_WARN("No device can be selected in round " << terms.round << ", B is "
                                                          << plan.budget);
    }
    else
    {
        m_grants.Start(rules.grants, rules.grantSpacing);
        m_sender.Start(terms.round,
                       model,
                       m_grants.GetRecipients(),
                       rules.grantSpacing * static_cast<int64_t>(plan.slots.size()),
                       m_sequence);
    }
}

std::optional<DropReason>
RoundExchange::Handle(const ReceivedMessage& message, const Time& now)
{
    const FederatedHeader& header = message.header;
    const uint32_t device = header.device;
    if (!m_collector.IsCurrent(header))
    {
        return m_collector.GetStaleReason(header);
    }
    const Participant* participant = m_collector.Find(device);
    if (!participant)
    {
        return DROP_UNSELECTED;
    }
    if (header.type == FederatedHeader::ACK && !m_grants.IsSequence(device, header.sequence))
    {
        return DROP_OLD;
    }
    // Any message about this round shows that the device has its grant.
    const bool isNews = m_collector.Hear(device);
    m_grants.Stop(device);
    switch (header.type)
    {
    case FederatedHeader::UPDATE:
        return m_collector.TakeUpdate(device, header, message.payload, message.packet, now);
    case FederatedHeader::REPAIR:
        return participant->HasAnswered()
                   ? DROP_INVALID
                   : m_sender.Repair({device, m_grants.GetPeer(device)}, header, message.payload);
    case FederatedHeader::DONE:
        return m_collector.TakeDone(device, header, message.payload, now);
    default:
        return isNews ? std::nullopt : std::make_optional(DROP_DUPLICATE);
    }
}

void
RoundExchange::HandleAnswered(uint32_t device)
{
    m_sender.Forget(device);
    m_grants.Stop(device);
    m_answered(m_collector.GetUnanswered());
}

void
RoundExchange::Leave(uint32_t device)
{
    m_collector.Leave(device);
}

void
RoundExchange::Finish()
{
    m_pages.Stop();
    m_sender.Stop();
    m_collector.Finish();
    for (const auto& [device, peer] : m_grants.GetRecipients())
    {
        // Discard the rest of the model, which would delay the next grant.
        m_endpoint.Discard(m_roster.Find(device)->connection);
    }
    m_grants.Clear();
}

void
RoundExchange::Clear()
{
    m_pages.Stop();
    m_sender.Stop();
    m_grants.Clear();
    m_collector.Clear();
}

} // namespace ns3::federated
