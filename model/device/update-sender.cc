// SPDX-License-Identifier: GPL-2.0-only

#include "update-sender.h"

#include "ns3/remove-event.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <utility>

namespace ns3::federated
{

UpdateSender::UpdateSender(CenterLink& link)
    : m_link(link)
{
}

UpdateSender::~UpdateSender()
{
    Stop();
}

void
UpdateSender::Start(DeviceSession& session,
                    const Time& start,
                    std::function<void()> started,
                    std::function<void(RoundOutcome)> ended)
{
    Stop();
    m_session = &session;
    m_started = std::move(started);
    m_ended = std::move(ended);
    const Time now = Simulator::Now();
    m_sendEvent = Simulator::Schedule(start - now, &UpdateSender::Begin, this);
    m_endEvent = Simulator::Schedule(session.GetTerms().deadline - now, &UpdateSender::End, this);
}

void
UpdateSender::Stop()
{
    m_session = nullptr;
    RemoveEvent(m_sendEvent);
    RemoveEvent(m_endEvent);
}

void
UpdateSender::Begin()
{
    DeviceSession& session = *m_session;
    session.StartSending(Simulator::Now());
    m_started();
    if (m_session == &session && !m_link.IsTcp())
    {
        SendNext();
        return;
    }
    // The connection may break, and the session end, while it is written to.
    while (m_session == &session && session.HasFragment())
    {
        SendFragment(session);
    }
    if (m_session == &session)
    {
        m_link.SetDrained(
            [this]()
            {
                m_session->SetLastSent(Simulator::Now());
                End();
            });
    }
}

void
UpdateSender::SendNext()
{
    SendFragment(*m_session);
    if (!m_session->HasFragment())
    {
        End();
        return;
    }
    const Time wait = std::max(m_session->GetNextTime() - Simulator::Now(), Time(0));
    m_sendEvent = Simulator::Schedule(wait, &UpdateSender::SendNext, this);
}

void
UpdateSender::SendFragment(DeviceSession& session)
{
    const DeviceSession::Piece piece = session.NextFragment(m_header);
    const uint32_t bytes = m_link.SendFragment(m_header, piece.payload, piece.size);
    if (m_session == &session) // else writing broke the connection and ended the session
    {
        session.CountSent(bytes, Simulator::Now());
    }
}

void
UpdateSender::End()
{
    const bool isWaiting = m_session->GetPhase() == DeviceSession::Phase::WAITING;
    const auto ended = m_ended; // it ends the session, and this with it
    ended(isWaiting ? OUTCOME_NO_TIME : OUTCOME_SENT);
}

} // namespace ns3::federated
