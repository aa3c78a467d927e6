// SPDX-License-Identifier: GPL-2.0-only

#include "control-retry.h"

#include "remove-event.h"

#include "ns3/simulator.h"

#include <algorithm>
#include <utility>

namespace ns3::federated
{

ControlRetry::~ControlRetry()
{
    Stop();
}

Time
ControlRetry::Spread(const Time& delay, const Ptr<UniformRandomVariable>& jitter)
{
    return jitter ? delay + Time::FromDouble(delay.GetDouble() * jitter->GetValue(0, 0.5),
                                             Time::GetResolution())
                  : delay;
}

void
ControlRetry::Start(const Schedule& schedule,
                    Send send,
                    std::function<void()> giveUp,
                    const std::optional<Time>& first)
{
    Stop();
    m_schedule = schedule;
    m_send = std::move(send);
    m_giveUp = std::move(giveUp);
    m_active = true;
    m_tries = 0;
    ++m_starts;
    if (first)
    {
        m_event = Simulator::Schedule(*first, &ControlRetry::Try, this);
    }
    else
    {
        Try();
    }
}

void
ControlRetry::Stop()
{
    m_active = false;
    RemoveEvent(m_event);
}

void
ControlRetry::Try()
{
    if (m_schedule.retries != FOREVER && m_tries > m_schedule.retries)
    {
        m_active = false;
        const auto giveUp = m_giveUp; // a copy: it may call Start()
        if (giveUp)
        {
            giveUp();
        }
        return;
    }
    ++m_tries;
    const uint32_t starts = m_starts;
    const Send send = m_send; // a copy, likewise
    const Time passed = send();
    if (m_active && starts == m_starts && m_schedule.repeats)
    {
        const int64_t factor = int64_t{1} << std::min(m_tries - 1, m_schedule.doublings);
        const Time wait = Spread(m_schedule.timeout * factor, m_schedule.jitter);
        m_event = Simulator::Schedule(wait - passed, &ControlRetry::Try, this);
    }
}

} // namespace ns3::federated
