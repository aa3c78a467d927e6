// SPDX-License-Identifier: GPL-2.0-only

#include "delayed-messages.h"

#include "ns3/remove-event.h"
#include "ns3/simulator.h"

#include <utility>

namespace ns3::federated
{

DelayedMessages::DelayedMessages(Sender send)
    : m_send(std::move(send))
{
}

void
DelayedMessages::Add(OutgoingMessage message)
{
    const Time time = Simulator::Now() + message.delay;
    const auto added = m_waiting.emplace(time, std::move(message));
    if (added == m_waiting.begin())
    {
        Schedule();
    }
}

void
DelayedMessages::Clear()
{
    RemoveEvent(m_event);
    m_waiting.clear();
}

void
DelayedMessages::SendDue()
{
    while (!m_waiting.empty() && m_waiting.begin()->first <= Simulator::Now())
    {
        const auto next = m_waiting.extract(m_waiting.begin()); // sending may clear the others
        m_send(next.mapped());
    }
    if (!m_waiting.empty())
    {
        Schedule();
    }
}

void
DelayedMessages::Schedule()
{
    RemoveEvent(m_event);
    m_event = Simulator::Schedule(
        m_waiting.begin()->first - Simulator::Now(), &DelayedMessages::SendDue, this);
}

} // namespace ns3::federated
