// SPDX-License-Identifier: GPL-2.0-only

#include "message-endpoint.h"

#include "remove-event.h"

#include "ns3/inet-socket-address.h"
#include "ns3/inet6-socket-address.h"
#include "ns3/log.h"
#include "ns3/object-map.h"
#include "ns3/simulator.h"
#include "ns3/tcp-l4-protocol.h"
#include "ns3/tcp-socket-factory.h"
#include "ns3/udp-socket.h"

#include <algorithm>
#include <utility>

namespace ns3::federated
{

NS_LOG_COMPONENT_DEFINE("MessageEndpoint");

namespace
{

constexpr uint32_t MAX_STRANGERS = 16;        // connections of one address without a joined device
constexpr int64_t STRANGER_SECONDS = 30;      // in which a device has to join over its connection
constexpr std::size_t QUEUE_BYTES = 1U << 16; // of control messages that wait for a connection
constexpr std::size_t QUEUE_BYTES_PER_COORDINATE = 16;

} // namespace

MessageEndpoint::MessageEndpoint(const TxTrace& tx, const DropTrace& drop)
    : m_tx(tx),
      m_drop(drop)
{
}

void
MessageEndpoint::SetUp(const Settings& settings, Handlers handlers)
{
    m_settings = settings;
    m_isTcp = settings.protocol == TcpSocketFactory::GetTypeId();
    m_handlers = std::move(handlers);
}

Ptr<Socket>
MessageEndpoint::CreateSocket() const
{
    Ptr<Socket> socket = Socket::CreateSocket(m_settings.node, m_settings.protocol);
    if (m_isTcp)
    {
        MessageStream::SetUp(socket, m_settings.fragmentSize);
    }
    return socket;
}

bool
MessageEndpoint::Listen(const Address& local, const Address& group)
{
    m_listens = true;
    m_group = group;
    m_local = Address();
    m_socket = CreateSocket();
    const SocketAddress place(local);
    if (!place.IsValid() || (m_socket->Bind(local) != 0 && !(m_isTcp && BindAgain(place))))
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
MessageEndpoint::BindAgain(const SocketAddress& local)
{
    ObjectMapValue sockets;
    m_settings.node->GetObject<TcpL4Protocol>()->GetAttribute("SocketList", sockets);
    bool isUsed = false; // by connections
    for (auto next = sockets.Begin(); next != sockets.End(); ++next)
    {
        const auto socket = DynamicCast<Socket>(next->second);
        Address name;
        Address peer;
        if (socket->GetSockName(name) == 0 && SocketAddress(name) == local)
        {
            if (socket->GetPeerName(peer) != 0 || SocketAddress(peer).port == 0)
            {
                return false; // another server listens there
            }
            isUsed = true;
        }
    }
    // ns-3 has no SO_REUSEADDR. A socket that is bound to all addresses does not conflict with
    // connections; HandleAccept ends those to other addresses.
    m_local = local.ip;
    const bool v6 = Ipv6Address::IsMatchingType(local.ip);
    const SocketAddress any(v6 ? Address(Inet6SocketAddress(Ipv6Address::GetAny(), local.port))
                               : Address(InetSocketAddress(Ipv4Address::GetAny(), local.port)));
    return isUsed && m_socket->Bind(any.Get()) == 0;
}

bool
MessageEndpoint::Connect(const SocketAddress& center,
                         const SocketAddress& local,
                         const SocketAddress& group)
{
    m_center = center;
    m_isInGroup = group.IsValid();
    m_centerAddress = center.Get();
    m_socket = CreateSocket();
    const bool v6 = Ipv6Address::IsMatchingType(center.ip);
    // Over TCP a port of its own would stay in use after a restart (TIME_WAIT).
    const int bound = local.IsValid() && !m_isTcp ? m_socket->Bind(local.Get())
                      : v6                        ? m_socket->Bind6()
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
    m_groupSocket = CreateSocket();
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
    for (auto& [id, connection] : m_connections)
    {
        connection.timeout.Cancel();
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
    m_requests.clear();
    m_requestOrder.clear();
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
    m_settings.node = nullptr;
}

ConnectionId
MessageEndpoint::AddConnection(const Ptr<Socket>& socket, const SocketAddress& peer)
{
    const ConnectionId id = ++m_lastConnection;
    const auto stream = Create<MessageStream>(socket, peer, id);
    // Twice the largest model or update with its headers.
    stream->SetLimit(QUEUE_BYTES_PER_COORDINATE * m_settings.dimension + QUEUE_BYTES);
    m_connections[id].stream = stream;
    stream->Start(MakeCallback(&MessageEndpoint::HandleStreamMessage, this),
                  MakeCallback(&MessageEndpoint::HandleGarbage, this),
                  MakeCallback(&MessageEndpoint::HandleClosed, this));
    return id;
}

void
MessageEndpoint::ForgetStranger(const Address& ip)
{
    const auto found = m_strangers.find(ip);
    if (found != m_strangers.end() && --found->second == 0)
    {
        m_strangers.erase(found);
    }
}

void
MessageEndpoint::ExpireRequests()
{
    while (!m_requestOrder.empty())
    {
        const auto found = m_requests.find(m_requestOrder.front());
        if (found != m_requests.end())
        {
            if (found->second > Simulator::Now())
            {
                return;
            }
            m_requests.erase(found);
            ForgetStranger(SocketAddress(m_requestOrder.front()).ip);
        }
        m_requestOrder.pop_front();
    }
}

bool
MessageEndpoint::HandleRequest(Ptr<Socket>, const Address& from)
{
    ExpireRequests();
    const SocketAddress peer(from);
    const Address key = peer.Get();
    const auto strangers = m_strangers.find(peer.ip);
    if ((strangers != m_strangers.end() && strangers->second >= MAX_STRANGERS) ||
        m_requests.count(key) > 0)
    {
        Drop(DROP_UNKNOWN, from, 0);
        return false;
    }
    ++m_strangers[peer.ip];
    m_requests[key] = Simulator::Now() + Seconds(STRANGER_SECONDS);
    m_requestOrder.push_back(key);
    return true;
}

void
MessageEndpoint::HandleAccept(Ptr<Socket> socket, const Address& from)
{
    if (!m_socket) // ns-3 completes a handshake that began before Close()
    {
        socket->Close();
        return;
    }
    const SocketAddress peer(from);
    if (m_requests.erase(peer.Get()) == 0) // it took longer than that
    {
        ++m_strangers[peer.ip];
    }
    const ConnectionId id = AddConnection(socket, peer);
    m_connections.at(id).timeout =
        Simulator::Schedule(Seconds(STRANGER_SECONDS), &MessageEndpoint::HandleNotJoined, this, id);
    Address local;
    socket->GetSockName(local);
    if (!m_local.IsInvalid() && SocketAddress(local).ip != m_local)
    {
        Drop(DROP_UNKNOWN, from, 0);
        Disconnect(id);
    }
}

void
MessageEndpoint::HandleNotJoined(ConnectionId connection)
{
    Drop(DROP_UNKNOWN, m_connections.at(connection).stream->GetPeer().Get(), 0);
    Disconnect(connection);
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
        RemoveEvent(found->second.timeout);
        ForgetStranger(found->second.stream->GetPeer().ip);
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

bool
MessageEndpoint::Open(const uint8_t*& message,
                      uint32_t& size,
                      std::optional<DropReason>& reason) const
{
    using Result = MessageProtection::Result;
    if (!IsProtected())
    {
        if (MessageProtection::IsProtected(message, size))
        {
            reason = DROP_UNAUTHENTIC; // there is no key
        }
        return !reason;
    }
    if (size < MessageProtection::CLEAR_SIZE || message[0] != 'F' || message[1] != 'L')
    {
        reason = DROP_MALFORMED;
        return false;
    }
    if (FederatedHeader::HasOtherVersion(message, size))
    {
        reason = DROP_VERSION;
        return false;
    }
    switch (m_settings.protection->Open(message, size))
    {
    case Result::OPENED:
        return true;
    case Result::FOR_ANOTHER:
        // All devices receive the messages to a group.
        reason = m_isInGroup ? std::nullopt : std::make_optional(DROP_UNKNOWN);
        break;
    case Result::UNAUTHENTIC:
        reason = DROP_UNAUTHENTIC;
        break;
    case Result::REPLAYED:
        reason = DROP_REPLAYED;
        break;
    }
    return false;
}

void
MessageEndpoint::Receive(const uint8_t* message,
                         uint32_t size,
                         const Address& from,
                         ConnectionId connection,
                         uint64_t packet)
{
    std::optional<DropReason> reason;
    if (!Open(message, size, reason))
    {
        if (reason)
        {
            Drop(*reason, from, size);
            // No device of ours: it cannot join over this connection.
            const auto found = m_connections.find(connection);
            if (m_listens && IsProtected() && found != m_connections.end() &&
                !found->second.claimed)
            {
                Disconnect(connection);
            }
        }
        return;
    }
    if (m_handlers.screen)
    {
        reason = m_handlers.screen(FederatedHeader::PeekType(message, size));
    }
    if (!reason)
    {
        reason = GetDropReason(m_received.Read(message, size, IsProtected()));
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
    NS_LOG_INFO((m_listens ? "The center" : "Device " + std::to_string(m_settings.sender))
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
    return Make(header, payload, size, header.device);
}

Ptr<Packet>
MessageEndpoint::Make(FederatedHeader& header,
                      const uint8_t* payload,
                      std::size_t size,
                      uint32_t recipient)
{
    if (IsProtected())
    {
        header.payloadLength = static_cast<uint16_t>(size);
        header.checksum = 0; // the tag replaces it
        return m_settings.protection->Seal(header, payload, recipient);
    }
    header.Seal(payload, size);
    Ptr<Packet> packet = Create<Packet>(payload, static_cast<uint32_t>(size));
    packet->AddHeader(header);
    return packet;
}

uint32_t
MessageEndpoint::GetOverhead(bool isForAll) const
{
    return !IsProtected() ? 0
           : isForAll     ? MessageProtection::GROUP_OVERHEAD
                          : MessageProtection::OVERHEAD;
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
