// SPDX-License-Identifier: GPL-2.0-only

#include "message-stream.h"

#include "federated-header.h"

#include "ns3/abort.h"
#include "ns3/log.h"
#include "ns3/uinteger.h"

#include <utility>

namespace ns3::federated
{

NS_LOG_COMPONENT_DEFINE("MessageStream");

namespace
{

constexpr uint32_t LENGTH_SIZE = 4; // bytes of the length before a message
constexpr uint32_t SEGMENT_SIZE =
    1448; // 1500 bytes minus the headers of IPv4 and TCP with timestamps

} // namespace

MessageStream::MessageStream(Ptr<Socket> socket, const SocketAddress& peer, uint32_t id)
    : m_socket(socket),
      m_peer(peer),
      m_id(id)
{
}

void
MessageStream::SetUp(Ptr<Socket> socket, uint32_t largest)
{
    UintegerValue buffer;
    socket->GetAttribute("SndBufSize", buffer);
    NS_ABORT_MSG_IF(buffer.Get() < LENGTH_SIZE + largest,
                    "MessageStream: SndBufSize of a TCP socket is "
                        << buffer.Get() << " bytes, but a message of FragmentSize " << largest
                        << " needs " << LENGTH_SIZE + largest);
    // ns-3's default is 536 bytes, which triples the number of packets.
    socket->SetAttribute("SegmentSize", UintegerValue(SEGMENT_SIZE));
}

void
MessageStream::Start(const MessageCallback& message,
                     const EventCallback& malformed,
                     const EventCallback& closed)
{
    m_message = message;
    m_malformed = malformed;
    m_closed = closed;
    m_socket->SetRecvCallback(MakeCallback(&MessageStream::HandleData, this));
    m_socket->SetSendCallback(MakeCallback(&MessageStream::HandleRoom, this));
    m_socket->SetCloseCallbacks(MakeCallback(&MessageStream::HandleClosed, this),
                                MakeCallback(&MessageStream::HandleClosed, this));
}

void
MessageStream::Send(Ptr<const Packet> message)
{
    if (!m_socket)
    {
        return;
    }
    if (m_limit > 0 && m_waitingBytes + message->GetSize() > m_limit)
    {
        NS_LOG_WARN("A message to " << m_peer << " is not sent: " << m_waitingBytes
                                    << " bytes wait, the peer does not read");
        return;
    }
    m_waiting.push_back(message);
    m_waitingBytes += message->GetSize();
    Write();
}

void
MessageStream::SetDrainedCallback(const EventCallback& drained)
{
    m_drained = drained;
    Write();
}

void
MessageStream::Discard()
{
    m_waiting.clear();
    m_waitingBytes = 0;
    m_drained = EventCallback();
}

void
MessageStream::Close()
{
    Ptr<Socket> socket = m_socket;
    Abandon();
    if (socket)
    {
        socket->Close();
    }
}

void
MessageStream::Abandon()
{
    if (!m_socket)
    {
        return;
    }
    Discard();
    Ptr<Socket> socket = std::exchange(m_socket, nullptr);
    const auto nobody = MakeNullCallback<void, Ptr<Socket>>();
    socket->SetRecvCallback(nobody);
    socket->SetSendCallback(MakeNullCallback<void, Ptr<Socket>, uint32_t>());
    socket->SetCloseCallbacks(nobody, nobody);
}

void
MessageStream::Write()
{
    Ptr<MessageStream> self(this); // a callback may release this stream
    while (m_socket && !m_waiting.empty())
    {
        const uint32_t size = m_waiting.front()->GetSize();
        if (m_socket->GetTxAvailable() < LENGTH_SIZE + size)
        {
            return;
        }
        const uint8_t length[LENGTH_SIZE] = {static_cast<uint8_t>(size >> 24),
                                             static_cast<uint8_t>(size >> 16),
                                             static_cast<uint8_t>(size >> 8),
                                             static_cast<uint8_t>(size)};
        Ptr<Packet> frame = Create<Packet>(length, LENGTH_SIZE);
        frame->AddAtEnd(m_waiting.front());
        m_waiting.pop_front();
        m_waitingBytes -= size;
        if (m_socket->Send(frame) < 0)
        {
            NS_LOG_WARN("The socket accepts no more data");
            return;
        }
    }
    if (m_socket && !m_drained.IsNull())
    {
        std::exchange(m_drained, EventCallback())(self);
    }
}

void
MessageStream::HandleRoom(Ptr<Socket>, uint32_t)
{
    Write();
}

void
MessageStream::HandleData(Ptr<Socket>)
{
    Ptr<MessageStream> self(this);
    while (m_socket)
    {
        Ptr<Packet> packet = m_socket->Recv();
        if (!packet || packet->GetSize() == 0)
        {
            return;
        }
        const std::size_t kept = m_received.size();
        m_received.resize(kept + packet->GetSize());
        packet->CopyData(m_received.data() + kept, packet->GetSize());

        std::size_t done = 0;
        while (m_socket && m_received.size() - done >= LENGTH_SIZE)
        {
            const uint8_t* frame = m_received.data() + done;
            const uint32_t size =
                static_cast<uint32_t>(frame[0]) << 24 | frame[1] << 16 | frame[2] << 8 | frame[3];
            if (size < FederatedHeader::FIXED_SIZE || size > MAX_MESSAGE)
            {
                EventCallback malformed = m_malformed;
                Close();
                malformed(self);
                return;
            }
            if (m_received.size() - done < LENGTH_SIZE + size)
            {
                break;
            }
            done += LENGTH_SIZE + size;
            m_message(self, frame + LENGTH_SIZE, size);
        }
        m_received.erase(m_received.begin(),
                         m_received.begin() + static_cast<std::ptrdiff_t>(done));
    }
}

void
MessageStream::HandleClosed(Ptr<Socket>)
{
    Ptr<MessageStream> self(this);
    if (m_socket)
    {
        EventCallback closed = m_closed;
        Close();
        closed(self);
    }
}

} // namespace ns3::federated
