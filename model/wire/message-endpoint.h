// SPDX-License-Identifier: GPL-2.0-only

#ifndef MESSAGE_ENDPOINT_H
#define MESSAGE_ENDPOINT_H

#include "drop-reason.h"
#include "federated-header.h"
#include "fragmentation.h"
#include "message-cipher.h"
#include "message-peer.h"
#include "message-stream.h"
#include "socket-address.h"

#include "ns3/address.h"
#include "ns3/node.h"
#include "ns3/packet.h"
#include "ns3/socket.h"
#include "ns3/traced-callback.h"
#include "ns3/type-id.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ns3::federated
{

/** A message that was received: its checksum is right and its fields make sense together. */
struct ReceivedMessage
{
    const FederatedHeader& header; //!< Its header.
    const uint8_t* payload;        //!< header.payloadLength bytes.
    const Address& from;           //!< Its sender.
    ConnectionId connection;       //!< The connection that it was received over; 0 over UDP.
    uint64_t packet;               //!< Packet::GetUid() of what carried it; 0 over TCP.
};

/**
 * @brief The sockets of a center or a device: messages go out and come in over UDP, over a group
 * address, or over TCP connections, sealed and encrypted; what cannot be used is dropped, counted
 * and traced.
 *
 * A center listens (Listen), a device speaks to one center (Connect). Over TCP a message goes over
 * the connection that its peer names. A connection belongs to a stranger until the owner claims it
 * for a device that joined; the strangers of one address are limited in number.
 */
class MessageEndpoint
{
  public:
    /** What the owner is told. */
    struct Handlers
    {
        /** A message was received. @return why it is dropped, if it is. */
        std::function<std::optional<DropReason>(const ReceivedMessage&)> message;
        /** Look at the type of a message before it is read; may be empty. @return why it is
            dropped, if it is. */
        std::function<std::optional<DropReason>(uint8_t type)> screen;
        /** The connection to the center is there. */
        std::function<void(ConnectionId)> connected;
        /** A connection ended, or could not be made (0). */
        std::function<void(ConnectionId)> closed;
    };

    using TxTrace = TracedCallback<Ptr<const Packet>>;                      //!< Trace source Tx.
    using DropTrace = TracedCallback<DropReason, const Address&, uint32_t>; //!< Trace source Drop.

    /**
     * @param tx Fires for each message that is sent.
     * @param drop Fires for each message that is dropped.
     */
    MessageEndpoint(const TxTrace& tx, const DropTrace& drop);

    /**
     * Set what all messages share; before Listen() or Connect().
     * @param node The node of the sockets.
     * @param protocol Socket factory of UDP or TCP.
     * @param key Encryption key; empty: none.
     * @param sender Identifier of the sender.
     * @param handlers What the owner is told.
     */
    void SetUp(const Ptr<Node>& node,
               TypeId protocol,
               const std::string& key,
               uint32_t sender,
               Handlers handlers);

    /**
     * Receive on an address, and over TCP accept connections.
     * @param local Address and port.
     * @param group All messages go there (UDP), if it is valid; a broadcast address will do.
     * @return whether the address could be bound.
     */
    [[nodiscard]] bool Listen(const Address& local, const Address& group);

    /**
     * Speak to one center, from which alone messages are taken.
     * @param center Its address and port.
     * @param local Where to receive; any free port if it is not valid.
     * @param group All messages go there instead (UDP), if it is valid.
     * @return whether the address could be bound. Over TCP, Handlers::connected or closed follows.
     */
    [[nodiscard]] bool Connect(const SocketAddress& center,
                               const SocketAddress& local,
                               const SocketAddress& group);

    /**
     * Receive the messages to a multicast group, too (UDP).
     * @param group Address and port of the group.
     * @return whether the address could be bound.
     */
    [[nodiscard]] bool JoinGroup(const SocketAddress& group);

    /** Close all sockets and connections; the owner is not told. */
    void Close();

    /** Let go of all connections without a word: the layers below are being disposed of. */
    void Abandon();

    /** @return whether the protocol is TCP. */
    bool IsTcp() const
    {
        return m_isTcp;
    }

    /**
     * Make a message.
     * @param header Its header, which is sealed here.
     * @param payload What follows.
     * @param size Size of the payload.
     * @return the message, encrypted if there is a key.
     */
    Ptr<Packet> Make(FederatedHeader& header, const uint8_t* payload, std::size_t size);

    /**
     * Send a message.
     * @param peer Where to; a device has one peer and need not name it.
     * @param message The message.
     */
    void Send(const MessagePeer& peer, const Ptr<Packet>& message);

    /**
     * Send a message to an address over UDP, whatever the group address is.
     * @param address Address and port.
     * @param message The message.
     */
    void SendToAddress(const Address& address, const Ptr<Packet>& message);

    /**
     * @param fragmentSize Bytes of the largest message as it is sent.
     * @return the bytes that it has before encryption.
     */
    uint32_t GetRoom(uint32_t fragmentSize) const
    {
        return fragmentSize - m_cipher.GetOverhead();
    }

    /** @return by how many bytes encryption makes a message longer. */
    uint32_t GetOverhead() const
    {
        return m_cipher.GetOverhead();
    }

    /**
     * A device joined over a connection, which is no longer a stranger's.
     * @param connection The connection.
     */
    void Claim(ConnectionId connection);

    /**
     * End a connection; the owner is not told.
     * @param connection The connection, 0 or one that has ended.
     */
    void Disconnect(ConnectionId connection);

    /**
     * @param connection A connection.
     * @return messages that wait for the socket.
     */
    std::size_t GetWaiting(ConnectionId connection) const;

    /**
     * Drop the messages that wait for the socket.
     * @param connection The connection, 0 or one that has ended.
     */
    void Discard(ConnectionId connection);

    /**
     * @param connection A connection.
     * @param drained Called once, when the socket has taken all that waits now.
     */
    void SetDrained(ConnectionId connection, std::function<void()> drained);

    /**
     * Count and trace a message that is not used.
     * @param reason Why.
     * @param from Its sender.
     * @param size Its size.
     */
    void Drop(DropReason reason, const Address& from, uint32_t size);

    /** @return what was dropped since the endpoint was made. */
    const DropCounters& GetDrops() const
    {
        return m_drops;
    }

    /** @return what was dropped since the last call. */
    DropCounters TakeDrops();

  private:
    /** A TCP connection. */
    struct Connection
    {
        Ptr<MessageStream> stream;     //!< Its messages.
        bool claimed = false;          //!< Whether a device joined over it.
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
     * Whether to accept a TCP connection.
     * @param socket The listening socket.
     * @param from The other end.
     * @return whether its address does not have too many that nobody joined over.
     */
    bool HandleRequest(Ptr<Socket> socket, const Address& from);

    /**
     * A TCP connection was accepted.
     * @param socket The connection.
     * @param from The other end.
     */
    void HandleAccept(Ptr<Socket> socket, const Address& from);

    /**
     * The TCP connection to the center is there.
     * @param socket The socket.
     */
    void HandleConnected(Ptr<Socket> socket);

    /**
     * The TCP connection to the center could not be made.
     * @param socket The socket.
     */
    void HandleNotConnected(Ptr<Socket> socket);

    /**
     * A TCP connection ended.
     * @param stream Its messages.
     */
    void HandleClosed(Ptr<MessageStream> stream);

    /**
     * What was received over TCP were no messages.
     * @param stream The stream.
     */
    void HandleGarbage(Ptr<MessageStream> stream);

    /**
     * The socket has taken all that waited.
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
     * Decrypt, read and hand on a message.
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
    Ptr<Node> m_node;          //!< The node of the sockets.
    TypeId m_protocol;         //!< Socket factory.
    bool m_isTcp = false;      //!< Whether it is that of TCP.
    Handlers m_handlers;       //!< What the owner is told.
    uint32_t m_sender = 0;     //!< Identifier of the sender.
    MessageCipher m_cipher;    //!< Encrypts, if there is a key.
    bool m_listens = false;    //!< A center; else a device.
    SocketAddress m_center;    //!< The center, for a device.
    Address m_centerAddress;   //!< The same, as sockets give it: the quick comparison.
    Address m_group;           //!< Where a center sends everything (UDP); none if invalid.
    Ptr<Socket> m_socket;      //!< UDP; over TCP, listens or is being connected.
    Ptr<Socket> m_groupSocket; //!< UDP, for what is sent to a multicast group.
    std::map<ConnectionId, Connection> m_connections; //!< TCP.
    ConnectionId m_lastConnection = 0;                //!< Number of the newest connection.
    std::map<Address, uint32_t> m_strangers; //!< Connections of an IP address that nobody joined
                                             //!< over.
    FederatedHeader m_received;              //!< Header of the message that is being read.
    DropCounters m_drops{};                  //!< What was dropped.
    DropCounters m_taken{};                  //!< What TakeDrops() has told.
};

} // namespace ns3::federated

#endif // MESSAGE_ENDPOINT_H
