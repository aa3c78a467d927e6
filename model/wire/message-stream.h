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
 * @brief Messages over one TCP connection, each behind its length (32 bits, network byte order).
 *
 * What is sent waits here, not in the socket, until the socket has room for a whole message: so a
 * message is never cut, and what waits can be discarded. What is received is handed on message by
 * message; a length that no message can have ends the connection, because nothing behind it can be
 * understood.
 */
class MessageStream : public SimpleRefCount<MessageStream>
{
  public:
    static constexpr uint32_t MAX_MESSAGE = 65507; //!< As large as a message over UDP.

    /** A message came; valid during the call. */
    using MessageCallback = Callback<void, Ptr<MessageStream>, const uint8_t*, uint32_t>;
    /** Something happened to the stream. */
    using EventCallback = Callback<void, Ptr<MessageStream>>;

    /**
     * Take over a connected socket. Call Start() next.
     * @param socket The socket.
     * @param peer The other end.
     * @param id A number by which its owner knows it.
     */
    MessageStream(Ptr<Socket> socket, const SocketAddress& peer, uint32_t id = 0);

    /** @return the number by which its owner knows it. */
    uint32_t GetId() const
    {
        return m_id;
    }

    /**
     * Let the socket call this stream.
     * @param message Called for every message.
     * @param malformed Called once if the other end sends no messages; the stream is closed then.
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

    /**
     * Send a message as soon as the socket has room.
     * @param message The message.
     */
    void Send(Ptr<const Packet> message);

    /**
     * @param drained Called once, when the socket has taken all that waits now.
     */
    void SetDrainedCallback(const EventCallback& drained);

    /** @return messages that wait. */
    std::size_t GetWaiting() const
    {
        return m_waiting.size();
    }

    /** Drop the messages that wait, and the callback that was to tell when none does. */
    void Discard();

    /** End the connection; nothing is called any more. */
    void Close();

    /** Let go of the connection without a word: for when the layers below are being disposed of. */
    void Abandon();

    /**
     * Prepare a socket before it connects or listens: segments as large as a usual link carries.
     * @param socket A TCP socket.
     */
    static void SetUp(Ptr<Socket> socket);

  private:
    /** Give the socket what it has room for. */
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
    uint32_t m_id;                           //!< By which its owner knows it.
    std::deque<Ptr<const Packet>> m_waiting; //!< Messages that wait for room.
    std::vector<uint8_t> m_received;         //!< The beginning of a message that is not complete.
    MessageCallback m_message;               //!< Called for every message.
    EventCallback m_malformed;               //!< Called if the other end sends no messages.
    EventCallback m_closed;                  //!< Called when the connection ended.
    EventCallback m_drained;                 //!< Called when nothing waits any more.
};

} // namespace ns3::federated

#endif // MESSAGE_STREAM_H
