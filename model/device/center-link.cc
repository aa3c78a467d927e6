// SPDX-License-Identifier: GPL-2.0-only

#include "center-link.h"

#include "ns3/abort.h"
#include "ns3/log.h"
#include "ns3/simulator.h"

#include <utility>

namespace ns3::federated
{

NS_LOG_COMPONENT_DEFINE("CenterLink");

namespace
{

constexpr uint32_t JOIN_DOUBLINGS = 5; // of the time-out while joining

/** @return whether the sequence number a comes after b, also where the counter has wrapped. */
bool
IsAfter(uint32_t a, uint32_t b)
{
    return static_cast<int32_t>(a - b) > 0;
}

} // namespace

CenterLink::CenterLink(const MessageEndpoint::TxTrace& tx, const MessageEndpoint::DropTrace& drop)
    : m_endpoint(tx, drop)
{
}

void
CenterLink::Start(const Settings& settings, const Handlers& handlers)
{
    m_settings = settings;
    m_handlers = handlers;
    m_running = true;
    m_leaving = false;
    // Above the earlier numbers of a restarted device, which sends fewer than one a millisecond.
    m_sequence = static_cast<uint32_t>(Simulator::Now().GetMilliSeconds());
    m_fragmentSequence = m_sequence;
    MessageEndpoint::Handlers events;
    events.message = [this](const ReceivedMessage& message) { return HandleMessage(message); };
    events.screen = m_handlers.screen;
    events.connected = [this](ConnectionId connection) { HandleConnected(connection); };
    events.closed = [this](ConnectionId) { HandleClosed(); };
    m_endpoint.SetUp(
        settings.node, settings.protocol, settings.key, settings.device, std::move(events));
    Open();
}

void
CenterLink::Stop()
{
    m_running = false;
    m_joined = false;
    Close();
}

void
CenterLink::Abandon()
{
    m_endpoint.Abandon();
    m_settings.node = nullptr;
}

void
CenterLink::Open()
{
    const bool bound =
        m_endpoint.Connect(m_settings.center, m_settings.local, m_settings.uplinkGroup);
    NS_ABORT_MSG_IF(!bound,
                    "FederatedDevice: could not bind a socket of device " << m_settings.device);
    if (m_endpoint.IsTcp())
    {
        return;
    }
    NS_ABORT_MSG_IF(m_settings.multicast.IsValid() && !m_endpoint.JoinGroup(m_settings.multicast),
                    "FederatedDevice: could not bind a socket of device "
                        << m_settings.device << " to its MulticastGroup");
    if (m_settings.enrolled)
    {
        SetJoined();
        return;
    }
    Join();
}

void
CenterLink::Close()
{
    m_retry.Stop();
    m_openEvent.Cancel();
    m_connection = 0;
    m_endpoint.Close();
}

void
CenterLink::End()
{
    Stop();
    m_handlers.disconnected();
}

void
CenterLink::SetJoined()
{
    m_joined = true;
    m_handlers.joined();
}

void
CenterLink::Leave()
{
    if (!m_running || m_leaving)
    {
        return;
    }
    m_leaving = true;
    if (m_endpoint.IsTcp() && m_connection == 0)
    {
        End(); // there is no connection over which LEAVE could be sent
        return;
    }
    FederatedHeader header;
    header.type = FederatedHeader::LEAVE;
    SendControl(header, nullptr, 0);
}

void
CenterLink::HandleConnected(ConnectionId connection)
{
    m_connection = connection;
    m_granted = false; // a grant on a new connection cannot be a retransmission
    Join();
}

void
CenterLink::HandleClosed()
{
    m_joined = false;
    m_handlers.disconnected();
    Close();
    if (m_running && !m_leaving)
    {
        m_openEvent = Simulator::Schedule(m_settings.timeout, &CenterLink::Open, this);
    }
}

std::optional<DropReason>
CenterLink::HandleMessage(const ReceivedMessage& message)
{
    const FederatedHeader& header = message.header;
    if (header.type == FederatedHeader::MODEL)
    {
        return m_handlers.model(header, message.payload);
    }
    if (header.device != m_settings.device)
    {
        // All devices receive the messages to a group.
        return m_settings.uplinkGroup.IsValid() ? std::nullopt : std::make_optional(DROP_UNKNOWN);
    }
    if (header.type == FederatedHeader::GRANT)
    {
        return HandleGrant(header, message.payload);
    }
    return header.type == FederatedHeader::ACK ? HandleAck(header, message.payload)
                                               : DROP_UNEXPECTED;
}

std::optional<DropReason>
CenterLink::HandleAck(const FederatedHeader& header, const uint8_t* payload)
{
    AckBody body;
    if (!AckBody::Read(payload, header.payloadLength, body))
    {
        return DROP_MALFORMED;
    }
    if (!m_retry.IsActive() || header.sequence != m_control.sequence || body.type != m_control.type)
    {
        // A grant may be received before the acknowledgment of the previous DONE.
        return IsAfter(header.sequence, m_sequence) ? std::make_optional(DROP_UNEXPECTED)
                                                    : std::nullopt;
    }
    m_retry.Stop();
    if (body.type == FederatedHeader::JOIN)
    {
        NS_LOG_INFO("Device " << m_settings.device << " joined");
        SetJoined();
    }
    else if (body.type == FederatedHeader::LEAVE)
    {
        NS_LOG_INFO("Device " << m_settings.device << " left");
        End();
    }
    return std::nullopt;
}

std::optional<DropReason>
CenterLink::HandleGrant(const FederatedHeader& header, const uint8_t* payload)
{
    GrantBody body;
    if (!GrantBody::Read(payload, header.payloadLength, body))
    {
        return DROP_MALFORMED;
    }
    if (m_leaving)
    {
        return DROP_UNEXPECTED;
    }
    if (const auto reason = m_handlers.checkGrant(header))
    {
        return reason;
    }
    const bool repeated = m_granted && header.sequence == m_lastGrant;
    if (m_granted && !repeated &&
        (!IsAfter(header.sequence, m_lastGrant) || header.round <= m_lastRound))
    {
        return DROP_OLD;
    }
    if (!repeated)
    {
        m_handlers.beforeGrant(); // first: over TCP it discards waiting messages
    }
    FederatedHeader ack;
    ack.type = FederatedHeader::ACK;
    ack.sequence = header.sequence;
    ack.round = header.round;
    uint8_t ackBody[AckBody::SIZE];
    AckBody{FederatedHeader::GRANT}.Write(ackBody);
    Send(ack, ackBody, sizeof(ackBody));
    if (repeated)
    {
        return DROP_DUPLICATE;
    }
    m_granted = true;
    m_lastGrant = header.sequence;
    m_lastRound = header.round;
    // A center that sends a grant knows the device, and a DONE of an earlier round is obsolete.
    m_retry.Stop();
    if (!m_joined)
    {
        SetJoined();
    }
    m_handlers.grant(header, body);
    return std::nullopt;
}

void
CenterLink::Join()
{
    JoinBody body{};
    body.group = m_settings.group;
    body.samples = m_settings.samples;
    body.trainingNs = static_cast<uint64_t>(m_handlers.drawTraining().GetNanoSeconds());
    uint8_t bytes[JoinBody::SIZE];
    body.Write(bytes);
    FederatedHeader header;
    header.type = FederatedHeader::JOIN;
    header.bits = static_cast<uint8_t>(m_settings.bits);
    SendControl(header, bytes, sizeof(bytes));
}

void
CenterLink::SendDone(uint32_t round, unsigned wireBits, uint32_t fragments, RoundOutcome outcome)
{
    FederatedHeader header;
    header.type = FederatedHeader::DONE;
    header.round = round;
    header.bits = static_cast<uint8_t>(wireBits);
    header.fragments = fragments;
    uint8_t body[DoneBody::SIZE];
    DoneBody{static_cast<uint8_t>(outcome)}.Write(body);
    SendControl(header, body, sizeof(body));
}

void
CenterLink::SendRepair(uint32_t round, const RepairBody& body)
{
    FederatedHeader header;
    header.type = FederatedHeader::REPAIR;
    header.sequence = ++m_sequence;
    header.round = round;
    std::vector<uint8_t> bytes(body.GetSize());
    body.Write(bytes.data());
    Send(header, bytes.data(), bytes.size());
}

uint32_t
CenterLink::SendFragment(FederatedHeader& header, const uint8_t* payload, std::size_t size)
{
    header.sequence = ++m_fragmentSequence;
    return Send(header, payload, size);
}

void
CenterLink::SendControl(FederatedHeader header, const uint8_t* body, std::size_t size)
{
    const bool isJoin = header.type == FederatedHeader::JOIN;
    m_control = std::move(header);
    m_control.sequence = ++m_sequence;
    m_controlBody.assign(body, body + size);
    ControlRetry::Schedule schedule;
    schedule.timeout = m_settings.timeout;
    schedule.retries = isJoin ? ControlRetry::FOREVER : m_settings.retries;
    schedule.doublings = isJoin ? JOIN_DOUBLINGS : 0;
    schedule.jitter = m_settings.jitter;
    schedule.repeats = !m_endpoint.IsTcp();
    const auto send = [this]()
    {
        Send(m_control, m_controlBody.data(), m_controlBody.size());
        return Time(0);
    };
    const auto giveUp = [this]()
    {
        NS_LOG_INFO("Device " << m_settings.device << " gets no answer to its "
                              << FederatedHeader::GetTypeName(m_control.type));
        if (m_leaving)
        {
            End();
        }
    };
    m_retry.Start(schedule, send, giveUp);
}

uint32_t
CenterLink::Send(FederatedHeader& header, const uint8_t* payload, std::size_t size)
{
    header.device = m_settings.device;
    const Ptr<Packet> message = m_endpoint.Make(header, payload, size);
    const uint32_t bytes = message->GetSize();
    m_endpoint.Send({Address(), m_connection}, message);
    return bytes;
}

void
CenterLink::SetDrained(std::function<void()> drained)
{
    m_endpoint.SetDrained(m_connection, std::move(drained));
}

std::size_t
CenterLink::Discard()
{
    const std::size_t waiting = m_endpoint.GetWaiting(m_connection);
    m_endpoint.Discard(m_connection);
    return waiting;
}

} // namespace ns3::federated
