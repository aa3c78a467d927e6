// SPDX-License-Identifier: GPL-2.0-only

#ifndef MESSAGE_ENDPOINT_H
#define MESSAGE_ENDPOINT_H

#include "drop-reason.h"
#include "federated-header.h"
#include "fragmentation.h"
#include "message-peer.h"
#include "message-protection.h"
#include "message-stream.h"
#include "socket-address.h"

#include "ns3/address.h"
#include "ns3/event-id.h"
#include "ns3/node.h"
#include "ns3/nstime.h"
#include "ns3/packet.h"
#include "ns3/socket.h"
#include "ns3/traced-callback.h"
#include "ns3/type-id.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ns3::federated
{

/** A received message whose checksum is right and whose fields are consistent. */
struct ReceivedMessage
{
    const FederatedHeader& header; //!< Its header.
    const uint8_t* payload;        //!< header.payloadLength bytes.
    const Address& from;           //!< Its sender.
    ConnectionId connection;       //!< The connection that it was received over; 0 over UDP.
    uint64_t packet;               //!< Packet::GetUid() of what carried it; 0 over TCP.
};

/**
 * @brief The sockets of a center or a device. Messages are sent and received over UDP, over a group
 * address, or over TCP connections, with a checksum or protected by a key. Messages that cannot
 * be used are dropped, counted and traced.
 *
 * A center listens (Listen), a device has one center (Connect). Over TCP a message is sent over the
 * connection that its peer names. A connection belongs to a stranger until the owner claims it for
 * a device that joined; the number of strangers of one address is limited, and their time, too.
 * Messages to a peer that does not read wait only up to a limit; then they are not sent.
 */
class MessageEndpoint
{
  public:
    /** Callbacks of the owner. */
    struct Handlers
    {
        /** A message was received. @return why it is dropped, if it is. */
        std::function<std::optional<DropReason>(const ReceivedMessage&)> message;
        /**
         * Check the type of a message before it is read; may be empty. @return why it is
         * dropped, if it is.
         */
        std::function<std::optional<DropReason>(uint8_t type)> screen;
        /** The connection to the center is established. */
        std::function<void(ConnectionId)> connected;
        /** A connection ended, or could not be established (0). */
        std::function<void(ConnectionId)> closed;
    };

    using TxTrace = TracedCallback<Ptr<const Packet>>;                      //!< Trace source Tx.
    using DropTrace = TracedCallback<DropReason, const Address&, uint32_t>; //!< Trace source Drop.

    /**
     * @param tx Fires for each message that is sent.
     * @param drop Fires for each message that is dropped.
     */
    MessageEndpoint(const TxTrace& tx, const DropTrace& drop);

    /** What all messages share. */
    struct Settings
    {
        Ptr<Node> node;                                //!< The node of the sockets.
        TypeId protocol;                               //!< Socket factory of UDP or TCP.
        std::shared_ptr<MessageProtection> protection; //!< Of all messages; null: none.
        uint32_t sender = 0;                           //!< Identifier of the sender.
        uint32_t fragmentSize = 0; //!< Bytes of the largest message that is sent.
        std::size_t dimension = 0; //!< d: limits the messages that wait for a connection.
    };

    /**
     * Set what all messages share; before Listen() or Connect().
     * @param settings What they share.
     * @param handlers Callbacks of the owner.
     */
    void SetUp(const Settings& settings, Handlers handlers);

    /**
     * Receive on an address, and over TCP accept connections.
     * @param local Address and port.
     * @param group Destination of all messages (UDP), if it is valid; may be a broadcast address.
     * @return whether the address could be bound.
     */
    [[nodiscard]] bool Listen(const Address& local, const Address& group);

    /**
     * Connect to one center; messages of other senders are dropped.
     * @param center Its address and port.
     * @param local Where to receive; any free port if it is not valid.
     * @param group Destination of all messages instead (UDP), if it is valid.
     * @return whether the address could be bound. Over TCP, Handlers::connected or closed follows.
     */
    [[nodiscard]] bool Connect(const SocketAddress& center,
                               const SocketAddress& local,
                               const SocketAddress& group);

    /**
     * Also receive the messages to a multicast group (UDP).
     * @param group Address and port of the group.
     * @return whether the address could be bound.
     */
    [[nodiscard]] bool JoinGroup(const SocketAddress& group);

    /** Close all sockets and connections, without a callback. */
    void Close();

    /** Release all connections without sending: the layers below are being disposed of. */
    void Abandon();

    /** @return whether the protocol is TCP. */
    bool IsTcp() const
    {
        return m_isTcp;
    }

    /** @return whether all messages of this center are sent to a group. */
    bool HasGroup() const
    {
        return !m_group.IsInvalid();
    }

    /**
     * Make a message to the center, or to the device that its header names.
     * @param header Its header, whose length and checksum are set here.
     * @param payload The payload.
     * @param size Size of the payload.
     * @return the message, protected if there is a key.
     */
    Ptr<Packet> Make(FederatedHeader& header, const uint8_t* payload, std::size_t size);

    /**
     * Make a message of the center.
     * @param header Its header, whose length and checksum are set here.
     * @param payload The payload.
     * @param size Size of the payload.
     * @param recipient The only device that can read it, if it is protected; ALL_DEVICES: all can.
     * @return the message, protected if there is a key.
     */
    Ptr<Packet> Make(FederatedHeader& header,
                     const uint8_t* payload,
                     std::size_t size,
                     uint32_t recipient);

    /**
     * Send a message.
     * @param peer The destination; a device, which has one peer, may leave it empty.
     * @param message The message.
     */
    void Send(const MessagePeer& peer, const Ptr<Packet>& message);

    /**
     * Send a message to an address over UDP, even if there is a group address.
     * @param address Address and port.
     * @param message The message.
     */
    void SendToAddress(const Address& address, const Ptr<Packet>& message);

    /** @return whether messages are protected by a key. */
    bool IsProtected() const
    {
        return m_settings.protection != nullptr;
    }

    /**
     * @param isForAll Whether it is a message of the center to all devices.
     * @return the bytes that protection adds to a message.
     */
    uint32_t GetOverhead(bool isForAll = false) const;

    /**
     * @param fragmentSize Bytes of the largest message as it is sent.
     * @param isForAll Whether it is a message of the center to all devices.
     * @return the bytes that it has before it is protected.
     */
    uint32_t GetRoom(uint32_t fragmentSize, bool isForAll = false) const
    {
        return fragmentSize - GetOverhead(isForAll);
    }

    /**
     * A device joined over a connection, which is no longer a stranger's.
     * @param connection The connection.
     */
    void Claim(ConnectionId connection);

    /**
     * End a connection, without a callback.
     * @param connection The connection, 0 or one that has ended.
     */
    void Disconnect(ConnectionId connection);

    /**
     * @param connection A connection.
     * @return the number of messages that wait for the socket.
     */
    std::size_t GetWaiting(ConnectionId connection) const;

    /**
     * Drop the messages that wait for the socket.
     * @param connection The connection, 0 or one that has ended.
     */
    void Discard(ConnectionId connection);

    /**
     * @param connection A connection.
     * @param drained Called once, when the socket has accepted all messages that wait now.
     */
    void SetDrained(ConnectionId connection, std::function<void()> drained);

    /**
     * Count and trace a message that is not used.
     * @param reason Why.
     * @param from Its sender.
     * @param size Its size.
     */
    void Drop(DropReason reason, const Address& from, uint32_t size);

    /** @return the numbers of messages dropped since the endpoint was constructed. */
    const DropCounters& GetDrops() const
    {
        return m_drops;
    }

    /** @return the numbers of messages dropped since the last call. */
    DropCounters TakeDrops();

  private:
    /** A TCP connection. */
    struct Connection
    {
        Ptr<MessageStream> stream;     //!< Its messages.
        bool claimed = false;          //!< Whether a device joined over it.
        EventId timeout;               //!< Ends it if no device joins over it.
        std::function<void()> drained; //!< Called when nothing waits any more.
    };

    /**
     * Take over a TCP socket.
     * @param socket The socket.
     * @param peer The other end.
     * @return the new connection.
     */
    ConnectionId AddConnection(const Ptr<Socket>& socket, const SocketAddress& peer);

    /**
     * Forget a connection.
     * @param connection The connection.
     */
    void RemoveConnection(ConnectionId connection);

    /**
     * A socket of TCP, prepared to be bound.
     * @return the socket, or one of UDP.
     */
    Ptr<Socket> CreateSocket() const;

    /**
     * Bind the listening socket of TCP, even if connections of an earlier center on this address
     * have not ended yet (as with SO_REUSEADDR).
     * @param local Address and port.
     * @return whether it could be bound.
     */
    bool BindAgain(const SocketAddress& local);

    /**
     * One connection of an address less has no joined device.
     * @param ip The address.
     */
    void ForgetStranger(const Address& ip);

    /** Forget connections that were requested and never established. */
    void ExpireRequests();

    /**
     * No device joined over a connection.
     * @param connection The connection.
     */
    void HandleNotJoined(ConnectionId connection);

    /**
     * Whether to accept a TCP connection.
     * @param socket The listening socket.
     * @param from The other end.
     * @return whether its address does not have too many connections without a joined device.
     */
    bool HandleRequest(Ptr<Socket> socket, const Address& from);

    /**
     * A TCP connection was accepted.
     * @param socket The connection.
     * @param from The other end.
     */
    void HandleAccept(Ptr<Socket> socket, const Address& from);

    /**
     * The TCP connection to the center is established.
     * @param socket The socket.
     */
    void HandleConnected(Ptr<Socket> socket);

    /**
     * The TCP connection to the center could not be established.
     * @param socket The socket.
     */
    void HandleNotConnected(Ptr<Socket> socket);

    /**
     * A TCP connection ended.
     * @param stream Its messages.
     */
    void HandleClosed(Ptr<MessageStream> stream);

    /**
     * The data received over TCP were not messages.
     * @param stream The stream.
     */
    void HandleGarbage(Ptr<MessageStream> stream);

    /**
     * The socket has accepted all waiting messages.
     * @param stream The stream.
     */
    void HandleDrained(Ptr<MessageStream> stream);

    /**
     * Messages were received over UDP.
     * @param socket The socket.
     */
    void HandleDatagrams(Ptr<Socket> socket);

    /**
     * A message was received over TCP.
     * @param stream The stream.
     * @param message The message.
     * @param size Its size.
     */
    void HandleStreamMessage(Ptr<MessageStream> stream, const uint8_t* message, uint32_t size);

    /**
     * Open a protected message.
     * @param [in,out] message Any bytes; the message inside if there is nothing to drop.
     * @param [in,out] size How many.
     * @param [out] reason Why they are dropped, if they are.
     * @return whether there is a message to read. If not, and there is no reason, it is one for
     * another device of the group.
     */
    bool Open(const uint8_t*& message, uint32_t& size, std::optional<DropReason>& reason) const;

    /**
     * Open, read and deliver a message.
     * @param message Any bytes.
     * @param size How many.
     * @param from Their sender.
     * @param connection The connection; 0 over UDP.
     * @param packet Identifier of the packet; 0 over TCP.
     */
    void Receive(const uint8_t* message,
                 uint32_t size,
                 const Address& from,
                 ConnectionId connection,
                 uint64_t packet);

    const TxTrace& m_tx;       //!< Fires for each message that is sent.
    const DropTrace& m_drop;   //!< Fires for each message that is dropped.
    Settings m_settings;       //!< What all messages share.
    bool m_isTcp = false;      //!< Whether the protocol is TCP.
    Handlers m_handlers;       //!< Callbacks of the owner.
    bool m_listens = false;    //!< A center; else a device.
    bool m_isInGroup = false;  //!< A device that receives what is sent to others.
    SocketAddress m_center;    //!< The center, for a device.
    Address m_centerAddress;   //!< The same as a raw address, for a quick comparison.
    Address m_local;           //!< The IP address that connections must be made to; any if
                               //!< invalid.
    Address m_group;           //!< Destination of all messages (UDP); none if invalid.
    Ptr<Socket> m_socket;      //!< UDP; over TCP, listens or is being connected.
    Ptr<Socket> m_groupSocket; //!< UDP, receives messages to a multicast group.
    std::map<ConnectionId, Connection> m_connections; //!< TCP.
    ConnectionId m_lastConnection = 0;                //!< Number of the newest connection.
    std::map<Address, uint32_t> m_strangers;          //!< Unclaimed connections of an IP address,
                                                      //!< requested ones included.
    std::map<Address, Time> m_requests;               //!< When requests of addresses expire.
    std::deque<Address> m_requestOrder;               //!< The same addresses, oldest first.
    FederatedHeader m_received;                       //!< Header of the message that is being read.
    DropCounters m_drops{};                           //!< Dropped messages.
    DropCounters m_taken{};                           //!< Those that TakeDrops() has returned.
};

} // namespace ns3::federated

#endif // MESSAGE_ENDPOINT_H
