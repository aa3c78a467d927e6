// SPDX-License-Identifier: GPL-2.0-only

#include "message-endpoint.h"

#include "ns3/log.h"
#include "ns3/tcp-socket-factory.h"
#include "ns3/udp-socket.h"

#include <algorithm>
#include <utility>

namespace ns3::federated
{

NS_LOG_COMPONENT_DEFINE("MessageEndpoint");

namespace
{

constexpr uint32_t MAX_STRANGERS = 16; // connections of one address without a joined device

} // namespace

MessageEndpoint::MessageEndpoint(const TxTrace& tx, const DropTrace& drop)
    : m_tx(tx),
      m_drop(drop)
{
}

void
MessageEndpoint::SetUp(const Ptr<Node>& node,
                       const TypeId& protocol,
                       const std::string& key,
                       uint32_t sender,
                       Handlers handlers)
{
    m_node = node;
    m_protocol = protocol;
    m_isTcp = protocol == TcpSocketFactory::GetTypeId();
    m_handlers = std::move(handlers);
    m_sender = sender;
    m_cipher.Start(key, sender);
}

bool
MessageEndpoint::Listen(const Address& local, const Address& group)
{
    m_listens = true;
    m_group = group;
    m_socket = Socket::CreateSocket(m_node, m_protocol);
    if (m_isTcp)
    {
        MessageStream::SetUp(m_socket);
    }
    if (!SocketAddress(local).IsValid() || m_socket->Bind(local) != 0)
    {
        return false;
    }
    if (m_isTcp)
    {
        m_socket->Listen();
        m_socket->SetAcceptCallback(MakeCallback(&MessageEndpoint::HandleRequest, this),
                                    MakeCallback(&MessageEndpoint::HandleAccept, this));
    }
    else
    {
        m_socket->SetAllowBroadcast(SocketAddress(group).IsValid());
        m_socket->SetRecvCallback(MakeCallback(&MessageEndpoint::HandleDatagrams, this));
    }
    return true;
}

bool
MessageEndpoint::Connect(const SocketAddress& center,
                         const SocketAddress& local,
                         const SocketAddress& group)
{
    m_center = center;
    m_centerAddress = center.Get();
    m_socket = Socket::CreateSocket(m_node, m_protocol);
    if (m_isTcp)
    {
        MessageStream::SetUp(m_socket);
    }
    const bool v6 = Ipv6Address::IsMatchingType(center.ip);
    const int bound = local.IsValid() ? m_socket->Bind(local.Get())
                      : v6            ? m_socket->Bind6()
                                      : m_socket->Bind();
    if (bound != 0)
    {
        return false;
    }
    if (m_isTcp)
    {
        m_socket->SetConnectCallback(MakeCallback(&MessageEndpoint::HandleConnected, this),
                                     MakeCallback(&MessageEndpoint::HandleNotConnected, this));
        if (m_socket->Connect(m_centerAddress) != 0)
        {
            HandleNotConnected(m_socket);
        }
        return true;
    }
    if (group.IsValid())
    {
        m_socket->SetAllowBroadcast(true);
    }
    m_socket->Connect(group.IsValid() ? group.Get() : m_centerAddress);
    m_socket->SetRecvCallback(MakeCallback(&MessageEndpoint::HandleDatagrams, this));
    return true;
}

bool
MessageEndpoint::JoinGroup(const SocketAddress& group)
{
    m_groupSocket = Socket::CreateSocket(m_node, m_protocol);
    if (m_groupSocket->Bind(group.Get()) != 0)
    {
        return false;
    }
    DynamicCast<UdpSocket>(m_groupSocket)->MulticastJoinGroup(0, group.ip);
    m_groupSocket->SetRecvCallback(MakeCallback(&MessageEndpoint::HandleDatagrams, this));
    return true;
}

void
MessageEndpoint::Close()
{
    std::vector<Ptr<MessageStream>> streams;
    for (const auto& [id, connection] : m_connections)
    {
        streams.push_back(connection.stream);
    }
    // In the order of their addresses, which does not depend on the order of connecting.
    std::sort(streams.begin(),
              streams.end(),
              [](const auto& a, const auto& b)
              {
                  const SocketAddress& left = a->GetPeer();
                  const SocketAddress& right = b->GetPeer();
                  return left.ip == right.ip ? left.port < right.port : left.ip < right.ip;
              });
    m_connections.clear();
    m_strangers.clear();
    for (const auto& stream : streams)
    {
        stream->Close();
    }
    for (Ptr<Socket>* socket : {&m_socket, &m_groupSocket})
    {
        if (*socket)
        {
            (*socket)->SetRecvCallback(MakeNullCallback<void, Ptr<Socket>>());
            (*socket)->SetConnectCallback(MakeNullCallback<void, Ptr<Socket>>(),
                                          MakeNullCallback<void, Ptr<Socket>>());
            (*socket)->Close();
            *socket = nullptr;
        }
    }
}

void
MessageEndpoint::Abandon()
{
    for (auto& [id, connection] : m_connections)
    {
        connection.stream->Abandon();
    }
    if (m_socket && m_isTcp && !m_listens)
    {
        m_socket->SetConnectCallback(MakeNullCallback<void, Ptr<Socket>>(),
                                     MakeNullCallback<void, Ptr<Socket>>());
        m_socket = nullptr;
    }
    m_node = nullptr;
}

ConnectionId
MessageEndpoint::AddConnection(const Ptr<Socket>& socket, const SocketAddress& peer)
{
    const ConnectionId id = ++m_lastConnection;
    const auto stream = Create<MessageStream>(socket, peer, id);
    m_connections[id].stream = stream;
    stream->Start(MakeCallback(&MessageEndpoint::HandleStreamMessage, this),
                  MakeCallback(&MessageEndpoint::HandleGarbage, this),
                  MakeCallback(&MessageEndpoint::HandleClosed, this));
    return id;
}

bool
MessageEndpoint::HandleRequest(Ptr<Socket>, const Address& from)
{
    const auto found = m_strangers.find(SocketAddress(from).ip);
    if (found != m_strangers.end() && found->second >= MAX_STRANGERS)
    {
        Drop(DROP_UNKNOWN, from, 0);
        return false;
    }
    return true;
}

void
MessageEndpoint::HandleAccept(Ptr<Socket> socket, const Address& from)
{
    const SocketAddress peer(from);
    ++m_strangers[peer.ip];
    AddConnection(socket, peer);
}

void
MessageEndpoint::HandleConnected(Ptr<Socket> socket)
{
    m_socket = nullptr;
    m_handlers.connected(AddConnection(socket, m_center));
}

void
MessageEndpoint::HandleNotConnected(Ptr<Socket>)
{
    m_handlers.closed(0);
}

void
MessageEndpoint::Claim(ConnectionId connection)
{
    const auto found = m_connections.find(connection);
    if (found != m_connections.end() && !found->second.claimed)
    {
        found->second.claimed = true;
        const auto strangers = m_strangers.find(found->second.stream->GetPeer().ip);
        if (strangers != m_strangers.end() && --strangers->second == 0)
        {
            m_strangers.erase(strangers);
        }
    }
}

void
MessageEndpoint::RemoveConnection(ConnectionId connection)
{
    Claim(connection); // it no longer counts as a stranger's
    m_connections.erase(connection);
}

void
MessageEndpoint::Disconnect(ConnectionId connection)
{
    const auto found = m_connections.find(connection);
    if (found != m_connections.end())
    {
        const Ptr<MessageStream> stream = found->second.stream;
        RemoveConnection(connection);
        stream->Close();
    }
}

void
MessageEndpoint::HandleClosed(Ptr<MessageStream> stream)
{
    RemoveConnection(stream->GetId());
    m_handlers.closed(stream->GetId());
}

void
MessageEndpoint::HandleGarbage(Ptr<MessageStream> stream)
{
    Drop(DROP_MALFORMED, stream->GetPeer().Get(), 0);
    HandleClosed(stream);
}

void
MessageEndpoint::HandleDrained(Ptr<MessageStream> stream)
{
    const auto found = m_connections.find(stream->GetId());
    if (found != m_connections.end() && found->second.drained)
    {
        std::exchange(found->second.drained, nullptr)();
    }
}

std::size_t
MessageEndpoint::GetWaiting(ConnectionId connection) const
{
    const auto found = m_connections.find(connection);
    return found == m_connections.end() ? 0 : found->second.stream->GetWaiting();
}

void
MessageEndpoint::Discard(ConnectionId connection)
{
    const auto found = m_connections.find(connection);
    if (found != m_connections.end())
    {
        found->second.drained = nullptr;
        found->second.stream->Discard();
    }
}

void
MessageEndpoint::SetDrained(ConnectionId connection, std::function<void()> drained)
{
    const auto found = m_connections.find(connection);
    if (found != m_connections.end())
    {
        found->second.drained = std::move(drained);
        found->second.stream->SetDrainedCallback(
            MakeCallback(&MessageEndpoint::HandleDrained, this));
    }
}

void
MessageEndpoint::HandleDatagrams(Ptr<Socket> socket)
{
    Address from;
    while (Ptr<Packet> packet = socket->RecvFrom(from))
    {
        if (!m_listens && from != m_centerAddress && SocketAddress(from) != m_center)
        {
            Drop(DROP_FOREIGN, from, packet->GetSize());
            continue;
        }
        uint8_t message[MessageStream::MAX_MESSAGE];
        // A larger one (over IPv6) is truncated, and dropped as malformed.
        const uint32_t copied = packet->CopyData(message, sizeof(message));
        Receive(message, copied, from, 0, packet->GetUid());
        if (!m_socket)
        {
            return; // the owner closed the endpoint
        }
    }
}

void
MessageEndpoint::HandleStreamMessage(Ptr<MessageStream> stream,
                                     const uint8_t* message,
                                     uint32_t size)
{
    Receive(message, size, stream->GetPeer().Get(), stream->GetId(), 0);
}

void
MessageEndpoint::Receive(const uint8_t* message,
                         uint32_t size,
                         const Address& from,
                         ConnectionId connection,
                         uint64_t packet)
{
    if (m_cipher.IsOn() && !m_cipher.Decrypt(message, size))
    {
        Drop(DROP_MALFORMED, from, size);
        return;
    }
    std::optional<DropReason> reason;
    if (m_handlers.screen)
    {
        reason = m_handlers.screen(FederatedHeader::PeekType(message, size));
    }
    if (!reason)
    {
        reason = GetDropReason(m_received.Read(message, size));
    }
    if (!reason)
    {
        reason = m_handlers.message(
            {m_received, message + m_received.GetSize(), from, connection, packet});
    }
    if (reason)
    {
        Drop(*reason, from, size);
    }
}

void
MessageEndpoint::Drop(DropReason reason, const Address& from, uint32_t size)
{
    NS_LOG_INFO((m_listens ? "The center" : "Device " + std::to_string(m_sender))
                << " drops a message of " << size << " bytes: " << GetDropReasonName(reason));
    ++m_drops.at(reason);
    m_drop(reason, from, size);
}

DropCounters
MessageEndpoint::TakeDrops()
{
    DropCounters drops{};
    std::transform(m_drops.begin(), m_drops.end(), m_taken.begin(), drops.begin(), std::minus<>());
    m_taken = m_drops;
    return drops;
}

Ptr<Packet>
MessageEndpoint::Make(FederatedHeader& header, const uint8_t* payload, std::size_t size)
{
    header.Seal(payload, size);
    Ptr<Packet> packet = Create<Packet>(payload, static_cast<uint32_t>(size));
    packet->AddHeader(header);
    return m_cipher.IsOn() ? m_cipher.Encrypt(packet) : packet;
}

void
MessageEndpoint::Send(const MessagePeer& peer, const Ptr<Packet>& message)
{
    m_tx(message);
    if (m_isTcp)
    {
        const auto found = m_connections.find(peer.connection);
        if (found != m_connections.end())
        {
            const Ptr<MessageStream> stream = found->second.stream; // it may end meanwhile
            stream->Send(message);
        }
    }
    else if (m_socket && m_listens)
    {
        m_socket->SendTo(message, 0, m_group.IsInvalid() ? peer.address : m_group);
    }
    else if (m_socket)
    {
        m_socket->Send(message);
    }
}

void
MessageEndpoint::SendToAddress(const Address& address, const Ptr<Packet>& message)
{
    m_tx(message);
    m_socket->SendTo(message, 0, address);
}

} // namespace ns3::federated
