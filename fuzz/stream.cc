// SPDX-License-Identifier: GPL-2.0-only

/**
 * @file
 * MessageStream over a socket that hands out bytes in pieces of any size. However the bytes are
 * chopped, the same messages are delivered as a naive reader of the whole finds, and a length that
 * no message has ends the stream. In the other direction, messages leave whole, in order, and never
 * more bytes wait than the limit.
 */

#include "fuzz-input.h"

#include "ns3/federated-header.h"
#include "ns3/message-stream.h"
#include "ns3/node.h"

#include <deque>

using namespace ns3;
using namespace ns3::federated;
using namespace ns3::fuzz;

namespace
{

/** A connection whose ends are vectors. */
class FakeSocket : public Socket
{
  public:
    std::deque<Bytes> arriving; // pieces that were received and not read
    Bytes sent;                 // all bytes that were sent
    uint32_t room = 0;          // of the send buffer
    bool isClosed = false;
    bool refuses = false; // whether Send fails

    /** Tell the stream that there is data. */
    void Arrive(const Bytes& piece)
    {
        arriving.push_back(piece);
        NotifyDataRecv();
    }

    /** Tell the stream that there is room. */
    void MakeRoom(uint32_t bytes)
    {
        room = bytes;
        NotifySend(room);
    }

    /** The other end closes. */
    void CloseByPeer()
    {
        NotifyNormalClose();
    }

    SocketErrno GetErrno() const override
    {
        return ERROR_NOTERROR;
    }

    SocketType GetSocketType() const override
    {
        return NS3_SOCK_STREAM;
    }

    Ptr<Node> GetNode() const override
    {
        return nullptr;
    }

    int Bind(const Address&) override
    {
        return 0;
    }

    int Bind() override
    {
        return 0;
    }

    int Bind6() override
    {
        return 0;
    }

    int Close() override
    {
        isClosed = true;
        return 0;
    }

    int ShutdownSend() override
    {
        return 0;
    }

    int ShutdownRecv() override
    {
        return 0;
    }

    int Connect(const Address&) override
    {
        return 0;
    }

    int Listen() override
    {
        return 0;
    }

    uint32_t GetTxAvailable() const override
    {
        return room;
    }

    int Send(Ptr<Packet> packet, uint32_t) override
    {
        Require(packet->GetSize() <= room, "a message is sent only if there is room for all of it");
        if (refuses)
        {
            return -1;
        }
        const std::size_t before = sent.size();
        sent.resize(before + packet->GetSize());
        packet->CopyData(sent.data() + before, packet->GetSize());
        room -= packet->GetSize();
        return static_cast<int>(packet->GetSize());
    }

    int SendTo(Ptr<Packet>, uint32_t, const Address&) override
    {
        return -1;
    }

    uint32_t GetRxAvailable() const override
    {
        return arriving.empty() ? 0 : static_cast<uint32_t>(arriving.front().size());
    }

    Ptr<Packet> Recv(uint32_t, uint32_t) override
    {
        if (arriving.empty())
        {
            return nullptr;
        }
        const auto packet =
            Create<Packet>(arriving.front().data(), static_cast<uint32_t>(arriving.front().size()));
        arriving.pop_front();
        return packet;
    }

    Ptr<Packet> RecvFrom(uint32_t size, uint32_t flags, Address&) override
    {
        return Recv(size, flags);
    }

    int GetSockName(Address&) const override
    {
        return 0;
    }

    int GetPeerName(Address&) const override
    {
        return 0;
    }

    bool SetAllowBroadcast(bool) override
    {
        return false;
    }

    bool GetAllowBroadcast() const override
    {
        return false;
    }
};

/** What a stream told its owner. */
struct Delivered
{
    std::vector<Bytes> messages;
    uint32_t malformed = 0;
    uint32_t closed = 0;
    std::size_t closeAfter = SIZE_MAX; // the owner closes the stream in this message

    void OnMessage(Ptr<MessageStream> stream, const uint8_t* message, uint32_t size)
    {
        messages.emplace_back(message, message + size);
        if (messages.size() == closeAfter)
        {
            stream->Close();
        }
    }

    void OnMalformed(Ptr<MessageStream>)
    {
        ++malformed;
    }

    void OnClosed(Ptr<MessageStream>)
    {
        ++closed;
    }
};

Ptr<MessageStream>
Start(const Ptr<FakeSocket>& socket, Delivered& delivered)
{
    auto stream = Create<MessageStream>(socket, SocketAddress(), 7);
    stream->Start(MakeCallback(&Delivered::OnMessage, &delivered),
                  MakeCallback(&Delivered::OnMalformed, &delivered),
                  MakeCallback(&Delivered::OnClosed, &delivered));
    return stream;
}

/** Bytes of a connection: messages with their lengths, and others. */
Bytes
MakeBytes(FuzzInput& input)
{
    Bytes bytes;
    const auto add = [&bytes](uint32_t length, const Bytes& content)
    {
        for (int shift : {24, 16, 8, 0})
        {
            bytes.push_back(static_cast<uint8_t>(length >> shift));
        }
        bytes.insert(bytes.end(), content.begin(), content.end());
    };
    for (uint32_t left = input.Below(12); left > 0; --left)
    {
        const uint8_t kind = input.Byte();
        if (kind < 160)
        {
            const uint32_t length = FederatedHeader::FIXED_SIZE + kind % 40;
            add(length, input.Take(length));
        }
        else if (kind < 180) // as long as it may be, or one more
        {
            const uint32_t length = MessageStream::MAX_MESSAGE - 1 + kind % 3;
            add(length, Bytes(length, kind));
        }
        else if (kind < 200) // as short as it may be, or one less
        {
            const uint32_t length = FederatedHeader::FIXED_SIZE - 1 + kind % 3;
            add(length, input.Take(length));
        }
        else if (kind < 220)
        {
            add(input.Word(), input.Take(kind % 16));
        }
        else
        {
            const Bytes any = input.Take(kind % 16);
            bytes.insert(bytes.end(), any.begin(), any.end());
        }
    }
    return bytes;
}

/** A naive reader of the whole. */
Delivered
ReadAtOnce(const Bytes& bytes, std::size_t closeAfter)
{
    Delivered result;
    std::size_t at = 0;
    while (bytes.size() - at >= 4 && result.messages.size() != closeAfter)
    {
        const uint64_t length = uint64_t{bytes[at]} * 16777216 + uint64_t{bytes[at + 1]} * 65536 +
                                uint64_t{bytes[at + 2]} * 256 + bytes[at + 3];
        if (length < 44 || length > 65507)
        {
            result.malformed = 1;
            break;
        }
        if (bytes.size() - at - 4 < length)
        {
            break;
        }
        const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(at) + 4;
        result.messages.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(length));
        at += 4 + length;
    }
    return result;
}

void
CheckReceiving(FuzzInput& input)
{
    const std::size_t closeAfter = input.Byte() < 200 ? SIZE_MAX : 1 + input.Below(4);
    const bool peerCloses = input.Byte() >= 200;
    const Bytes bytes = MakeBytes(input);
    const Delivered expected = ReadAtOnce(bytes, closeAfter);
    const bool ends = expected.malformed > 0 || expected.messages.size() == closeAfter;

    for (bool inOnePiece : {true, false})
    {
        Delivered delivered;
        delivered.closeAfter = closeAfter;
        const auto socket = CreateObject<FakeSocket>();
        const auto stream = Start(socket, delivered);
        for (std::size_t at = 0; at < bytes.size();)
        {
            const uint8_t how = inOnePiece ? 0 : input.Byte();
            const std::size_t size = std::min<std::size_t>(
                bytes.size() - at,
                how == 0    ? bytes.size() // also after the last byte of the input
                : how < 128 ? how
                            : std::size_t{1} << std::min(how - 128, 17));
            const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(at);
            socket->Arrive(Bytes(begin, begin + static_cast<std::ptrdiff_t>(size)));
            at += size;
        }
        if (peerCloses)
        {
            socket->CloseByPeer();
        }
        Require(delivered.messages == expected.messages,
                "chopped bytes give the messages that the whole has");
        Require(delivered.malformed == expected.malformed,
                "a length that no message has is reported once, and no other is");
        Require(socket->isClosed == (ends || peerCloses),
                "the connection is closed if the bytes are malformed or an end wants it");
        Require(delivered.closed == (peerCloses && !ends ? 1 : 0),
                "the owner hears once that the other end closed, unless it closed itself");
    }
}

void
CheckSending(FuzzInput& input)
{
    Delivered delivered;
    const auto socket = CreateObject<FakeSocket>();
    const auto stream = Start(socket, delivered);
    const uint32_t limit = input.Pick<uint32_t>({0, 100, 1000, 70000});
    stream->SetLimit(limit);
    Bytes expected;             // what the other end gets, in the end
    std::deque<uint32_t> waits; // sizes of what waits
    std::size_t waiting = 0;
    uint32_t room = 0;
    const auto drain = [&]
    {
        while (!waits.empty() && room >= waits.front() + 4)
        {
            room -= waits.front() + 4;
            waiting -= waits.front();
            waits.pop_front();
        }
    };
    for (uint32_t left = input.Below(24); left > 0; --left)
    {
        const uint8_t what = input.Byte();
        if (what < 160)
        {
            const uint32_t size = input.Pick<uint32_t>({44, 45, 99, 100, 101, 999, 1400, 65507});
            const Bytes message(size, what);
            stream->Send(Create<Packet>(message.data(), size));
            if (limit == 0 || waiting + size <= limit)
            {
                for (int shift : {24, 16, 8, 0})
                {
                    expected.push_back(static_cast<uint8_t>(size >> shift));
                }
                expected.insert(expected.end(), message.begin(), message.end());
                waits.push_back(size);
                waiting += size;
            }
        }
        else if (what < 240)
        {
            room = input.Pick<uint32_t>({0, 47, 48, 103, 104, 1500, 131072});
            socket->MakeRoom(room);
        }
        else
        {
            // Only what already left stays.
            std::size_t kept = 0;
            for (const uint32_t size : waits)
            {
                kept += size + 4;
            }
            expected.resize(expected.size() - kept);
            stream->Discard();
            waits.clear();
            waiting = 0;
        }
        drain();
        Require(stream->GetWaiting() == waits.size(),
                "messages wait exactly as long as there is no room");
        Require(limit == 0 || waiting <= limit, "no more bytes wait than the limit");
    }
    socket->MakeRoom(0x7fffffff);
    Require(socket->sent == expected, "messages are sent whole, in order, each after its length");
    stream->Close();
    Require(socket->isClosed, "a stream closes its connection");
}

} // namespace

extern "C" int
LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size)
{
    FuzzInput input(data, size);
    if (input.Flag())
    {
        CheckSending(input);
    }
    else
    {
        CheckReceiving(input);
    }
    return 0;
}
