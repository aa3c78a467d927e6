// SPDX-License-Identifier: GPL-2.0-only

#include "device-registrar.h"

#include "ns3/log.h"
#include "ns3/message-bodies.h"

#include <utility>

namespace ns3::federated
{

NS_LOG_COMPONENT_DEFINE("DeviceRegistrar");

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

std::optional<DropReason>
DeviceRegistrar::CheckSender(const ReceivedMessage& message) const
{
    const FederatedHeader& header = message.header;
    if (header.type == FederatedHeader::GRANT || header.type == FederatedHeader::MODEL)
    {
        return DROP_UNEXPECTED;
    }
    if (const auto reason = m_roster.CheckSender(header.device, message.from, message.connection))
    {
        return reason;
    }
    // A device that has left may not have received the acknowledgment of its LEAVE.
    const bool mayBeGone = header.type == FederatedHeader::LEAVE;
    return mayBeGone || m_roster.Find(header.device)->joined ? std::nullopt
                                                             : std::make_optional(DROP_UNKNOWN);
}

std::optional<DropReason>
DeviceRegistrar::HandleJoin(const ReceivedMessage& message)
{
    const FederatedHeader& header = message.header;
    JoinBody body;
    if (!JoinBody::Read(message.payload, header.payloadLength, body))
    {
        return DROP_MALFORMED;
    }
    const JoinRequest request{header.device,
                              SocketAddress(message.from),
                              message.connection,
                              header.sequence,
                              body.group,
                              header.bits,
                              body.samples,
                              NanoSeconds(body.trainingNs)};
    const RosterVerdict verdict = m_roster.CheckJoin(request);
    if (verdict.dropped)
    {
        if (verdict.acknowledge)
        {
            Acknowledge(header);
        }
        return verdict.dropped;
    }
    Remove(header.device); // a device that joins again has lost its state
    m_endpoint.Claim(message.connection);
    m_roster.Join(request);
    NS_LOG_INFO("Device " << header.device << " of group " << body.group << " joined with "
                          << body.samples << " samples");
    Acknowledge(header);
    m_joined(header.device);
    return std::nullopt;
}

std::optional<DropReason>
DeviceRegistrar::HandleLeave(const FederatedHeader& header)
{
    const RosterVerdict verdict = m_roster.CheckLeave(header.device, header.sequence);
    if (verdict.acknowledge)
    {
        Acknowledge(header);
    }
    if (!verdict.dropped)
    {
        NS_LOG_INFO("Device " << header.device << " leaves");
        Remove(header.device);
    }
    return verdict.dropped;
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
