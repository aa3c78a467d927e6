// SPDX-License-Identifier: GPL-2.0-only

#include "center-link.h"

#include "ns3/abort.h"
#include "ns3/log.h"
#include "ns3/message-sequence.h"
#include "ns3/remove-event.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <utility>

namespace ns3::federated
{

NS_LOG_COMPONENT_DEFINE("CenterLink");

namespace
{

constexpr uint32_t JOIN_DOUBLINGS = 5; // of the time-out while joining
// How often a JOIN is sent again after a REJOIN. A center that was stopped may not return; without
// a limit the devices would keep the simulation alive for ever.
constexpr uint32_t REJOIN_RETRIES = 60;

} // namespace

CenterLink::CenterLink(const MessageEndpoint::TxTrace& tx, const MessageEndpoint::DropTrace& drop)
    : m_endpoint(tx, drop),
      m_delayed([this](OutgoingMessage& message)
                { SendPlain(message.header, message.payload.data(), message.payload.size()); })
{
}

void
CenterLink::Start(const Settings& settings, const Handlers& handlers)
{
    Close(); // an earlier life may still be leaving
    m_settings = settings;
    m_handlers = handlers;
    m_running = true;
    m_leaving = false;
    // Above the earlier numbers of a restarted device that sent fewer than one a millisecond; else
    // the center says which number it knows.
    m_sequence = static_cast<uint32_t>(Simulator::Now().GetMilliSeconds());
    m_fragmentSequence = m_sequence;
    m_life = m_sequence;
    m_granted = false;
    m_wasJoined = false;
    m_knownSamples = 0;
    m_told.reset();
    m_opens = 0;
    MessageEndpoint::Handlers events;
    events.message = [this](const ReceivedMessage& message) { return HandleMessage(message); };
    events.screen = m_handlers.screen;
    events.connected = [this](ConnectionId connection) { HandleConnected(connection); };
    events.closed = [this](ConnectionId) { HandleClosed(); };
    m_endpoint.SetUp({settings.node,
                      settings.protocol,
                      settings.key.empty()
                          ? nullptr
                          : MessageProtection::MakeForDevice(settings.key, settings.device),
                      settings.device,
                      settings.fragmentSize,
                      settings.dimension},
                     std::move(events));
    m_bindTries = 0;
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
    if (!m_endpoint.Connect(m_settings.center, m_settings.local, m_settings.uplinkGroup))
    {
        // An earlier life of the device has the port until its LEAVE is acknowledged.
        NS_ABORT_MSG_IF(m_bindTries++ > m_settings.retries + 1,
                        "FederatedDevice: could not bind a socket of device "
                            << m_settings.device << " to " << m_settings.local);
        m_endpoint.Close();
        m_openEvent = Simulator::Schedule(m_settings.timeout, &CenterLink::Open, this);
        return;
    }
    m_bindTries = 0;
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
    Join(ControlRetry::FOREVER);
}

void
CenterLink::Close()
{
    m_join.retry.Stop();
    m_control.retry.Stop();
    m_openEvent.Cancel();
    RemoveEvent(m_silenceEvent);
    m_delayed.Clear();
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
    HearCenter();
    m_handlers.joined();
}

void
CenterLink::HearCenter()
{
    if (m_settings.silence.IsStrictlyPositive() && !m_settings.enrolled)
    {
        RemoveEvent(m_silenceEvent);
        m_silenceEvent =
            Simulator::Schedule(ControlRetry::Spread(m_settings.silence, m_settings.jitter),
                                &CenterLink::HandleSilence,
                                this);
    }
}

void
CenterLink::HandleSilence()
{
    if (!m_handlers.isBusy())
    {
        NS_LOG_INFO("Device " << m_settings.device << " has not heard its center for "
                              << m_settings.silence.As(Time::S));
        Rejoin();
    }
    HearCenter();
}

void
CenterLink::Leave()
{
    if (!m_running || m_leaving)
    {
        return;
    }
    m_leaving = true;
    m_join.retry.Stop();
    if (m_endpoint.IsTcp() && m_connection == 0)
    {
        End(); // there is no connection over which LEAVE could be sent
        return;
    }
    SendLeave();
}

void
CenterLink::SendLeave()
{
    m_control.header = FederatedHeader();
    m_control.header.type = FederatedHeader::LEAVE;
    m_control.body.clear();
    m_leaveTime = Simulator::Now();
    SendControl(m_control, m_settings.retries);
    if (m_endpoint.IsTcp() && m_settings.retries != ControlRetry::FOREVER)
    {
        // TCP repeats it for minutes; the device waits as long as it would over UDP.
        m_openEvent.Cancel();
        m_openEvent = Simulator::Schedule(
            m_settings.timeout * (int64_t{m_settings.retries} + 1), &CenterLink::End, this);
    }
}

void
CenterLink::HandleConnected(ConnectionId connection)
{
    m_connection = connection;
    m_granted = false; // a grant on a new connection cannot be a retransmission
    Join(ControlRetry::FOREVER);
}

void
CenterLink::HandleClosed()
{
    m_joined = false;
    m_handlers.disconnected();
    Close();
    // A center that was stopped may not return: try at growing intervals, and not for ever.
    if (m_running && !m_leaving && (!m_wasJoined || m_opens < REJOIN_RETRIES))
    {
        const int64_t factor = int64_t{1} << std::min(m_opens++, JOIN_DOUBLINGS);
        m_openEvent = Simulator::Schedule(m_settings.timeout * factor, &CenterLink::Open, this);
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
    const bool isForAll =
        header.device == FederatedHeader::ALL_DEVICES &&
        (header.type == FederatedHeader::REJOIN || header.type == FederatedHeader::PAGE);
    if (header.device != m_settings.device && !isForAll)
    {
        // All devices receive the messages to a group.
        return m_settings.uplinkGroup.IsValid() ? std::nullopt : std::make_optional(DROP_UNKNOWN);
    }
    if (header.type == FederatedHeader::GRANT)
    {
        return HandleGrant(header, message.payload);
    }
    if (header.type == FederatedHeader::REJOIN)
    {
        return HandleRejoin(header);
    }
    if (header.type == FederatedHeader::PAGE)
    {
        return HandlePage(header, message.payload);
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
    Control& control = body.type == FederatedHeader::JOIN ? m_join : m_control;
    if (!control.retry.IsActive() || header.sequence != control.header.sequence ||
        body.type != control.header.type)
    {
        // A grant may be received before the acknowledgment of the previous DONE.
        if (!IsNewer(header.sequence, m_sequence))
        {
            return std::nullopt;
        }
        if (body.type != FederatedHeader::DONE && !m_leaving && !m_settings.enrolled)
        {
            Rejoin(); // somebody else joined or left under this identifier
        }
        return DROP_UNEXPECTED;
    }
    control.retry.Stop();
    HearCenter();
    if (body.type == FederatedHeader::JOIN)
    {
        NS_LOG_INFO("Device " << m_settings.device << " joined");
        JoinBody said;
        m_knownSamples =
            JoinBody::Read(m_join.body.data(), m_join.body.size(), said) ? said.samples : 0;
        m_anyGrant = true; // of a center that may be a new one
        m_wasJoined = true;
        m_opens = 0;
        if (!m_joined)
        {
            SetJoined();
        }
    }
    else if (body.type == FederatedHeader::LEAVE)
    {
        NS_LOG_INFO("Device " << m_settings.device << " left");
        End();
        return std::nullopt;
    }
    m_handlers.waiting();
    return std::nullopt;
}

std::optional<DropReason>
CenterLink::HandlePage(const FederatedHeader& header, const uint8_t* payload)
{
    PageBody body;
    if (!PageBody::Read(payload, header.payloadLength, body))
    {
        return DROP_MALFORMED;
    }
    const Time until = NanoSeconds(body.untilNs);
    if (until <= Simulator::Now())
    {
        return DROP_OLD;
    }
    const bool isNamed = body.Names(m_settings.device);
    if (isNamed)
    {
        HearCenter(); // a center that names only others may have forgotten this one
    }
    if (!m_leaving)
    {
        m_handlers.page(header, until, isNamed);
    }
    return std::nullopt;
}

std::optional<DropReason>
CenterLink::HandleRejoin(const FederatedHeader& header)
{
    if (m_leaving)
    {
        if (header.sequence == m_control.header.sequence)
        {
            End(); // the center does not know the device, which has nothing to leave
            return std::nullopt;
        }
        if (Simulator::Now() < m_leaveTime + m_settings.timeout)
        {
            return DROP_DUPLICATE;
        }
        m_sequence = header.sequence;
        SendLeave();
        return std::nullopt;
    }
    if (m_settings.enrolled)
    {
        return DROP_UNEXPECTED; // only a center that has enrolled the device can use it
    }
    const uint32_t before = m_sequence;
    if (header.device != FederatedHeader::ALL_DEVICES)
    {
        m_sequence = header.sequence;
    }
    // Over TCP a JOIN is not repeated: go on at once, if the number is a new one.
    const bool isAnswer =
        m_endpoint.IsTcp() && m_join.retry.IsActive() && m_told != header.sequence;
    if (!Rejoin(isAnswer))
    {
        m_sequence = before;
        return DROP_DUPLICATE;
    }
    m_told = header.sequence;
    m_joined = false;
    return std::nullopt;
}

bool
CenterLink::Rejoin(bool atOnce)
{
    const Time now = Simulator::Now();
    if (m_endpoint.IsTcp() && m_connection == 0)
    {
        return false;
    }
    if (!atOnce && m_join.header.type == FederatedHeader::JOIN &&
        now < m_joinTime + m_settings.timeout)
    {
        return false;
    }
    Join(m_wasJoined ? REJOIN_RETRIES : ControlRetry::FOREVER);
    return true;
}

bool
CenterLink::IsOld(const GrantBody& body)
{
    const Time now = Simulator::Now();
    if (NanoSeconds(body.deadlineNs) <= now)
    {
        return true; // its round is over
    }
    if (m_anyGrant || m_lastDeadline <= now)
    {
        return false; // the center restarted, and counts anew
    }
    if (++m_oldGrants < 2)
    {
        return true;
    }
    if (m_settings.enrolled)
    {
        return false; // the center insists: the last number may have been forged
    }
    Rejoin(); // likewise
    return true;
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
    if (m_granted && !repeated && !IsNewer(header.sequence, m_lastGrant) && IsOld(body))
    {
        return DROP_OLD;
    }
    if (!repeated)
    {
        m_handlers.beforeGrant(); // first: over TCP it discards waiting messages
    }
    if (m_leaving)
    {
        return DROP_UNEXPECTED; // a trace sink let the device leave
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
    m_anyGrant = false;
    m_lastGrant = header.sequence;
    m_lastDeadline = NanoSeconds(body.deadlineNs);
    m_oldGrants = 0;
    // A center that sends a grant knows the device, and a DONE of an earlier round is obsolete.
    m_join.retry.Stop();
    m_control.retry.Stop();
    HearCenter();
    if (!m_joined)
    {
        SetJoined();
    }
    if (m_leaving)
    {
        return DROP_UNEXPECTED; // likewise
    }
    m_handlers.grant(header, body);
    return std::nullopt;
}

void
CenterLink::Join(uint32_t retries)
{
    JoinBody body{};
    body.group = m_settings.group;
    body.samples = m_settings.samples;
    body.trainingNs = static_cast<uint64_t>(m_handlers.drawTraining().GetNanoSeconds());
    body.life = m_life;
    body.battery = static_cast<float>(m_handlers.getBattery());
    m_join.body.resize(JoinBody::SIZE);
    body.Write(m_join.body.data());
    m_join.header = FederatedHeader();
    m_join.header.type = FederatedHeader::JOIN;
    m_join.header.bits = static_cast<uint8_t>(m_settings.bits);
    m_joinTime = Simulator::Now();
    SendControl(m_join, retries);
}

void
CenterLink::TellSamples(uint32_t samples)
{
    m_settings.samples = samples;
    if (samples != m_knownSamples && m_joined && !m_leaving && !m_settings.enrolled)
    {
        Join(REJOIN_RETRIES);
    }
}

void
CenterLink::SendDone(uint32_t round,
                     unsigned wireBits,
                     const SentRecord& sent,
                     RoundOutcome outcome)
{
    if (m_leaving)
    {
        return; // it would replace the LEAVE
    }
    DoneBody body{};
    body.outcome = outcome;
    if (sent.fragments > 0)
    {
        body.firstSentNs = static_cast<uint64_t>(sent.firstSent.GetNanoSeconds());
        body.lastSentNs = static_cast<uint64_t>(sent.lastSent.GetNanoSeconds());
    }
    body.battery = static_cast<float>(m_handlers.getBattery());
    m_control.body.resize(DoneBody::SIZE);
    body.Write(m_control.body.data());
    m_control.header = FederatedHeader();
    m_control.header.type = FederatedHeader::DONE;
    m_control.header.round = round;
    m_control.header.bits = static_cast<uint8_t>(wireBits);
    m_control.header.fragments = sent.fragments;
    SendControl(m_control, m_settings.retries);
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
CenterLink::SendControl(Control& control, uint32_t retries)
{
    const bool isJoin = control.header.type == FederatedHeader::JOIN;
    control.header.sequence = ++m_sequence;
    ControlRetry::Schedule schedule;
    schedule.timeout = m_settings.timeout;
    schedule.retries = retries;
    schedule.doublings = isJoin ? JOIN_DOUBLINGS : 0;
    schedule.jitter = m_settings.jitter;
    schedule.repeats = !m_endpoint.IsTcp();
    const auto send = [this, &control]()
    {
        Send(control.header, control.body.data(), control.body.size());
        return Time(0);
    };
    const auto giveUp = [this, &control]()
    {
        NS_LOG_INFO("Device " << m_settings.device << " gets no answer to its "
                              << FederatedHeader::GetTypeName(control.header.type));
        if (m_leaving)
        {
            End();
            return;
        }
        m_handlers.waiting();
    };
    control.retry.Start(schedule, send, giveUp);
    m_handlers.waiting();
}

uint32_t
CenterLink::Send(FederatedHeader& header, const uint8_t* payload, std::size_t size)
{
    header.device = m_settings.device;
    return m_settings.tampering ? SendTampered(header, payload, size)
                                : SendPlain(header, payload, size);
}

uint32_t
CenterLink::SendPlain(FederatedHeader& header, const uint8_t* payload, std::size_t size)
{
    const Ptr<Packet> message = m_endpoint.Make(header, payload, size);
    const uint32_t bytes = message->GetSize();
    m_endpoint.Send({Address(), m_connection}, message);
    return bytes;
}

uint32_t
CenterLink::SendTampered(const FederatedHeader& header, const uint8_t* payload, std::size_t size)
{
    const OutgoingMessage honest{header, {payload, payload + size}};
    uint32_t bytes = 0;
    for (OutgoingMessage& message :
         m_settings.tampering->Tamper(honest, {Simulator::Now(), m_lastDeadline}))
    {
        if (message.delay.IsZero())
        {
            bytes += SendPlain(message.header, message.payload.data(), message.payload.size());
        }
        else
        {
            m_delayed.Add(std::move(message));
        }
    }
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
