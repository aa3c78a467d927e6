// SPDX-License-Identifier: GPL-2.0-only

#ifndef MESSAGE_STREAM_H
#define MESSAGE_STREAM_H

#include "socket-address.h"

#include "ns3/callback.h"
#include "ns3/packet.h"
#include "ns3/simple-ref-count.h"
#include "ns3/socket.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

namespace ns3::federated
{

/**
 * @ingroup federated
 * @brief Messages over one TCP connection, each preceded by its length (32 bits, network byte
 * order).
 *
 * Messages wait here, not in the socket, until the socket has room for a whole message: so a
 * message is never cut, and waiting messages can be discarded. Received data is delivered message
 * by message; a length that no message can have ends the connection, because the data after it
 * cannot be parsed.
 */
class MessageStream : public SimpleRefCount<MessageStream>
{
  public:
    static constexpr uint32_t MAX_MESSAGE = 65507; //!< As large as a message over UDP.
    static constexpr uint32_t MIN_FRAGMENT = 100;  //!< Least FragmentSize, before protection.

    /** A message was received; valid during the call. */
    using MessageCallback = Callback<void, Ptr<MessageStream>, const uint8_t*, uint32_t>;
    /** Something happened to the stream. */
    using EventCallback = Callback<void, Ptr<MessageStream>>;

    /**
     * Take over a connected socket. Call Start() next.
     * @param socket The socket.
     * @param peer The other end.
     * @param id An identifier chosen by the owner.
     */
    MessageStream(Ptr<Socket> socket, const SocketAddress& peer, uint32_t id = 0);

    /** @return the identifier chosen by the owner. */
    uint32_t GetId() const
    {
        return m_id;
    }

    /**
     * Begin to receive and send.
     * @param message Called for every message.
     * @param malformed Called once if the received data are not messages; the stream is closed
     * then.
     * @param closed Called once if the other end closes the connection, or it breaks.
     */
    void Start(const MessageCallback& message,
               const EventCallback& malformed,
               const EventCallback& closed);

    /** @return the other end. */
    const SocketAddress& GetPeer() const
    {
        return m_peer;
    }

    /** @param bytes Limit of the messages that wait; 0: none. */
    void SetLimit(std::size_t bytes)
    {
        m_limit = bytes;
    }

    /**
     * Send a message as soon as the socket has room. It is not sent if too many wait already: the
     * peer does not read.
     * @param message The message.
     */
    void Send(Ptr<const Packet> message);

    /**
     * @param drained Called once, when the socket has accepted all messages that wait now.
     */
    void SetDrainedCallback(const EventCallback& drained);

    /** @return messages that wait. */
    std::size_t GetWaiting() const
    {
        return m_waiting.size();
    }

    /** Drop the messages that wait, and the drained callback. */
    void Discard();

    /** End the connection; no callback is called afterwards. */
    void Close();

    /** Release the connection without sending: the layers below are being disposed of. */
    void Abandon();

    /**
     * Prepare a socket before it connects or listens: segments for an MTU of 1500 bytes. Aborts if
     * its buffer is too small for a message.
     * @param socket A TCP socket.
     * @param largest Bytes of the largest message.
     */
    static void SetUp(Ptr<Socket> socket, uint32_t largest);

  private:
    /** Pass messages to the socket while it has room. */
    void Write();

    /**
     * The socket has room.
     * @param socket The socket.
     * @param available How much, in bytes.
     */
    void HandleRoom(Ptr<Socket> socket, uint32_t available);

    /**
     * The socket has data.
     * @param socket The socket.
     */
    void HandleData(Ptr<Socket> socket);

    /**
     * The other end closed the connection, or it broke.
     * @param socket The socket.
     */
    void HandleClosed(Ptr<Socket> socket);

    Ptr<Socket> m_socket;                    //!< The connection; null when closed.
    SocketAddress m_peer;                    //!< The other end.
    uint32_t m_id;                           //!< Identifier chosen by the owner.
    std::deque<Ptr<const Packet>> m_waiting; //!< Messages that wait for room.
    std::size_t m_waitingBytes = 0;          //!< Their bytes.
    std::size_t m_limit = 0;                 //!< Limit of these bytes; 0: none.
    std::vector<uint8_t> m_received;         //!< The received part of an incomplete message.
    MessageCallback m_message;               //!< Called for every message.
    EventCallback m_malformed;               //!< Called if the received data are not messages.
    EventCallback m_closed;                  //!< Called when the connection ended.
    EventCallback m_drained;                 //!< Called when nothing waits any more.
};

} // namespace ns3::federated

#endif // MESSAGE_STREAM_H
