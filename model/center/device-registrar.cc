// SPDX-License-Identifier: GPL-2.0-only

#include "device-registrar.h"

#include "ns3/log.h"
#include "ns3/message-bodies.h"

#include <utility>

namespace ns3::federated
{

NS_LOG_COMPONENT_DEFINE("DeviceRegistrar");

namespace
{

constexpr uint32_t MAX_REJOINS = 256;          // messages to unknown senders in a period
constexpr uint32_t MAX_REJOINS_OF_ADDRESS = 8; // likewise to one IP address

} // namespace

DeviceRegistrar::DeviceRegistrar(MessageEndpoint& endpoint,
                                 DeviceRoster& roster,
                                 Handler joined,
                                 Handler left)
    : m_endpoint(endpoint),
      m_roster(roster),
      m_joined(std::move(joined)),
      m_left(std::move(left))
{
}

void
DeviceRegistrar::SetPeriod(const Time& period)
{
    m_period = period;
    m_periodEnd = Time(0);
}

std::optional<DropReason>
DeviceRegistrar::CheckSender(const ReceivedMessage& message, const Time& now)
{
    const FederatedHeader& header = message.header;
    switch (header.type)
    {
    case FederatedHeader::LEAVE:
    case FederatedHeader::ACK:
    case FederatedHeader::UPDATE:
    case FederatedHeader::REPAIR:
    case FederatedHeader::DONE:
        break;
    default:
        return DROP_UNEXPECTED; // a message of the center, or of a later revision
    }
    auto reason = m_roster.CheckSender(header.device, message.from, message.connection);
    // A device that has left may not have received the acknowledgment of its LEAVE.
    if (!reason && header.type != FederatedHeader::LEAVE && !m_roster.Find(header.device)->joined)
    {
        reason = DROP_UNKNOWN;
    }
    if (reason == DROP_UNKNOWN)
    {
        TellToRejoin(message, header.sequence, now);
    }
    return reason;
}

std::optional<DropReason>
DeviceRegistrar::HandleJoin(const ReceivedMessage& message, const Time& now)
{
    const FederatedHeader& header = message.header;
    JoinBody body;
    if (!JoinBody::Read(message.payload, header.payloadLength, body))
    {
        return DROP_MALFORMED;
    }
    JoinRequest request;
    request.device = header.device;
    request.from = SocketAddress(message.from);
    request.connection = message.connection;
    request.sequence = header.sequence;
    request.life = body.life;
    request.group = body.group;
    request.bits = header.bits;
    request.samples = body.samples;
    request.training = NanoSeconds(body.trainingNs);
    request.battery = body.battery;
    const RosterVerdict verdict = m_roster.CheckJoin(request);
    if (verdict.answer != RosterVerdict::Answer::NONE && !m_roster.CountReply(header.device))
    {
        return DROP_UNEXPECTED; // more than a device may send in a round
    }
    if (verdict.isSameLife)
    {
        m_roster.Join(request);
        Acknowledge(header);
        return verdict.dropped;
    }
    if (verdict.dropped)
    {
        Answer(verdict.answer, message, now);
        return verdict.dropped;
    }
    const RosterEntry* known = m_roster.Find(header.device);
    if (known && known->joined && known->connection == 0 && known->address != request.from &&
        MayTell(request.from.ip, now))
    {
        // If somebody else took its identifier, the device joins again and takes it back.
        SendRejoin(header.device, header.sequence, known->GetPeer());
    }
    Remove(header.device); // a device that joins in another life has lost its state
    m_endpoint.Claim(message.connection);
    m_roster.Join(request);
    NS_LOG_INFO("Device " << header.device << " of group " << body.group << " joined with "
                          << body.samples << " samples");
    Acknowledge(header);
    m_joined(header.device);
    return std::nullopt;
}

std::optional<DropReason>
DeviceRegistrar::HandleLeave(const ReceivedMessage& message, const Time& now)
{
    const FederatedHeader& header = message.header;
    if (!m_roster.CountReply(header.device))
    {
        return DROP_UNEXPECTED;
    }
    const RosterVerdict verdict = m_roster.CheckLeave(header.device, header.sequence);
    Answer(verdict.answer, message, now);
    if (!verdict.dropped)
    {
        NS_LOG_INFO("Device " << header.device << " leaves");
        Remove(header.device);
    }
    return verdict.dropped;
}

void
DeviceRegistrar::Answer(RosterVerdict::Answer answer,
                        const ReceivedMessage& message,
                        const Time& now)
{
    if (answer == RosterVerdict::Answer::ACK)
    {
        Acknowledge(message.header);
    }
    else if (answer == RosterVerdict::Answer::REJOIN)
    {
        TellToRejoin(message, m_roster.Find(message.header.device)->sequence, now);
    }
}

void
DeviceRegistrar::TellToRejoin(const ReceivedMessage& message, uint32_t sequence, const Time& now)
{
    if (MayTell(SocketAddress(message.from).ip, now))
    {
        SendRejoin(message.header.device, sequence, {message.from, message.connection});
    }
}

bool
DeviceRegistrar::MayTell(const Address& ip, const Time& now)
{
    if (now >= m_periodEnd)
    {
        m_periodEnd = now + m_period;
        m_told = 0;
        m_toldOf.clear();
    }
    if (m_told == MAX_REJOINS)
    {
        return false;
    }
    uint32_t& told = m_toldOf[ip];
    if (told == MAX_REJOINS_OF_ADDRESS)
    {
        return false;
    }
    ++told;
    ++m_told;
    return true;
}

void
DeviceRegistrar::SendRejoin(uint32_t device, uint32_t sequence, const MessagePeer& peer)
{
    FederatedHeader header;
    header.type = FederatedHeader::REJOIN;
    header.sequence = sequence;
    header.device = device;
    m_endpoint.Send(peer, m_endpoint.Make(header, nullptr, 0));
}

void
DeviceRegistrar::RemoveSilentVisitors(const Time& since)
{
    for (uint32_t device : m_roster.FindSilentVisitors(since))
    {
        NS_LOG_INFO("Nothing was received from visitor " << device << ", which counts as left");
        Remove(device); // it is not told: it is out of reach, and else it joins again
    }
}

void
DeviceRegistrar::Dismiss()
{
    if (m_endpoint.IsTcp())
    {
        return;
    }
    if (m_endpoint.HasGroup() && m_roster.GetJoined() > 0)
    {
        SendRejoin(FederatedHeader::ALL_DEVICES, 0, {});
        return;
    }
    for (const auto& [device, entry] : m_roster.GetEntries())
    {
        if (entry.joined && !entry.enrolled)
        {
            SendRejoin(device, entry.sequence, entry.GetPeer());
        }
    }
}

void
DeviceRegistrar::HandleClosed(ConnectionId connection)
{
    if (const auto device = m_roster.FindByConnection(connection))
    {
        Remove(*device);
    }
}

void
DeviceRegistrar::Remove(uint32_t device)
{
    const RosterEntry* entry = m_roster.Find(device);
    const ConnectionId connection = entry ? entry->connection : 0;
    if (m_roster.Leave(device))
    {
        m_endpoint.Disconnect(connection);
        m_left(device);
    }
}

void
DeviceRegistrar::Acknowledge(const FederatedHeader& header)
{
    FederatedHeader ack;
    ack.type = FederatedHeader::ACK;
    ack.sequence = header.sequence;
    ack.round = header.round;
    ack.device = header.device;
    uint8_t body[AckBody::SIZE];
    AckBody{header.type}.Write(body);
    m_endpoint.Send(m_roster.Find(header.device)->GetPeer(),
                    m_endpoint.Make(ack, body, sizeof(body)));
}

} // namespace ns3::federated
