// SPDX-License-Identifier: GPL-2.0-only

#ifndef FUZZ_MESSAGE_H
#define FUZZ_MESSAGE_H

#include "fuzz-input.h"

#include "ns3/federated-header.h"
#include "ns3/message-bodies.h"

namespace ns3::fuzz
{

/**
 * The checksum of a message, bit by bit, as the field diagram of FederatedHeader says: CRC-32C
 * (Castagnoli), the checksum field taken as 0.
 * @param message At least FIXED_SIZE bytes.
 * @return the checksum.
 */
inline uint32_t
GetReferenceChecksum(const Bytes& message)
{
    uint32_t crc = 0xffffffff;
    for (std::size_t i = 0; i < message.size(); ++i)
    {
        crc ^= i >= 40 && i < 44 ? 0 : message[i];
        for (int bit = 0; bit < 8; ++bit)
        {
            crc = crc >> 1 ^ ((crc & 1) != 0 ? 0x82f63b78 : 0);
        }
    }
    return ~crc;
}

/**
 * Write the right checksum into a message, so that what is behind the check is tested.
 * @param [in,out] message Any bytes; unchanged if they are too few.
 */
inline void
FixChecksum(Bytes& message)
{
    if (message.size() >= FederatedHeader::FIXED_SIZE)
    {
        const uint32_t crc = GetReferenceChecksum(message);
        for (int i = 0; i < 4; ++i)
        {
            message[40 + i] = static_cast<uint8_t>(crc >> (24 - 8 * i));
        }
    }
}

/** What a sender who wants to be believed knows. */
struct MessageHints
{
    uint32_t round = 1;         //!< The current round.
    uint32_t device = 0;        //!< A device that exists.
    uint32_t sequence = 1;      //!< A sequence number that is expected.
    uint32_t dimension = 1;     //!< Coordinates of model and update.
    uint32_t fragments = 1;     //!< Of the model or update.
    uint8_t bits = 2;           //!< Resolution of the device.
    uint8_t wireBits = 32;      //!< Bits of a coordinate of an update.
    uint64_t nowNs = 0;         //!< The time.
    uint64_t deadlineNs = 0;    //!< When the round ends.
    uint32_t group = 0;         //!< Group of the device.
    bool isRotated = false;     //!< Whether updates are rotated.
    bool isInterleaved = false; //!< Whether they are interleaved.
    float low = -1;             //!< Interval of updates.
    float high = 1;             //!< Likewise.
};

/** @return a time near one that makes sense, in nanoseconds. */
inline uint64_t
NearTime(FuzzInput& input, uint64_t expected)
{
    const uint8_t how = input.Byte();
    return how < 128   ? expected
           : how < 224 ? expected + (uint64_t{how} - 128) * 10000000
           : how < 240 ? 0
                       : input.Word64();
}

/** @return the body of a control message, mostly what fits its type. */
inline Bytes
MakeBody(FuzzInput& input, uint8_t type, const MessageHints& hints)
{
    Bytes body;
    switch (type)
    {
    case FederatedHeader::JOIN:
        body.resize(JoinBody::SIZE);
        JoinBody{input.Near(hints.group),
                 input.Near(40),
                 NearTime(input, 1000000),
                 input.Near(1),
                 input.Float()}
            .Write(body.data());
        break;
    case FederatedHeader::GRANT:
        body.resize(GrantBody::SIZE);
        GrantBody{NearTime(input, hints.nowNs),
                  NearTime(input, hints.nowNs),
                  NearTime(input, 1000000),
                  NearTime(input, hints.deadlineNs)}
            .Write(body.data());
        break;
    case FederatedHeader::ACK:
        body.assign(1, static_cast<uint8_t>(input.Near(FederatedHeader::GRANT)));
        break;
    case FederatedHeader::REPAIR:
    {
        RepairBody repair;
        for (uint32_t left = input.Below(6); left > 0; --left)
        {
            const uint32_t first = input.Near(0);
            repair.ranges.emplace_back(first, input.Near(1));
        }
        body.resize(repair.GetSize());
        repair.Write(body.data());
        break;
    }
    case FederatedHeader::DONE:
        body.resize(DoneBody::SIZE);
        DoneBody{static_cast<uint8_t>(input.Near(0)),
                 NearTime(input, hints.nowNs),
                 NearTime(input, hints.nowNs),
                 input.Float()}
            .Write(body.data());
        break;
    default:
        body = input.Take(input.Below(8));
        break;
    }
    return body;
}

/**
 * Fill in a fragment of a model or update.
 * @param input The decisions.
 * @param hints What makes sense.
 * @param [in,out] header Its type is set.
 * @return the payload.
 */
inline Bytes
MakeFragment(FuzzInput& input, const MessageHints& hints, FederatedHeader& header)
{
    const bool isModel = header.type == FederatedHeader::MODEL;
    header.bits = static_cast<uint8_t>(input.Near(isModel ? 32 : hints.wireBits));
    header.fragments = input.Near(hints.fragments);
    header.fragment = input.Near(input.Below(std::max(1U, hints.fragments)));
    // As a sender of equal fragments cuts, whole bytes each.
    const uint32_t each = (hints.dimension / std::max(1U, hints.fragments) + 7) / 8 * 8;
    const uint32_t begin = std::min(header.fragment, hints.fragments) * each;
    header.first = input.Near(begin);
    header.coordinates = input.Near(
        begin < hints.dimension ? std::min(each, hints.dimension - begin) : hints.dimension);
    header.distortion = input.Float();
    const uint8_t flags = input.Byte();
    header.rotated = hints.isRotated != (flags > 240);
    header.interleaved = hints.isInterleaved != (flags > 225 && flags % 2 == 1);
    if (!isModel)
    {
        // One interval, or several that cover the fragment unless the input says otherwise.
        const uint32_t count = input.Byte() < 200 ? 1 : input.Below(5);
        std::size_t at = header.first;
        const std::size_t end = std::size_t{header.first} + header.coordinates;
        for (uint32_t i = 0; i < count; ++i)
        {
            const auto width = i + 1 == count
                                   ? end - at
                                   : input.Below(1 + static_cast<uint32_t>(
                                                         std::min<std::size_t>(end - at, 65535)));
            const bool isPlain = input.Byte() < 128;
            header.intervals.push_back({at,
                                        at + width,
                                        isPlain ? hints.low : input.Float(),
                                        isPlain ? hints.high : input.Float()});
            at += width;
        }
    }
    const uint64_t size = (uint64_t{header.coordinates} * header.bits + 7) / 8;
    Bytes payload = input.Take(std::min<uint64_t>(size, 1200));
    if (header.bits == 32 && input.Byte() < 200)
    {
        // Small floats instead of any bits, of which one in 256 is infinite or NaN.
        for (std::size_t i = 3; i < payload.size(); i += 4)
        {
            payload[i] = static_cast<uint8_t>(0x3c + (payload[i] & 0x83));
        }
    }
    return payload;
}

/**
 * Make a message as a clever enemy would: a header whose fields mostly fit, a right checksum
 * mostly, a body mostly of its type.
 * @param input The decisions.
 * @param type Mostly its type.
 * @param hints What makes sense.
 * @return the message.
 */
inline Bytes
MakeMessage(FuzzInput& input, uint8_t type, const MessageHints& hints)
{
    FederatedHeader header;
    header.type = static_cast<FederatedHeader::Type>(type);
    header.sequence = input.Near(hints.sequence);
    header.round = input.Near(hints.round);
    header.device = input.Near(hints.device);
    Bytes payload;
    if (type == FederatedHeader::MODEL || type == FederatedHeader::UPDATE)
    {
        payload = MakeFragment(input, hints, header);
    }
    else
    {
        header.bits = static_cast<uint8_t>(input.Near(hints.bits));
        header.fragments = input.Near(hints.fragments);
        header.coordinates = input.Near(hints.dimension);
        payload = MakeBody(input, type, hints);
    }
    header.Seal(payload.data(), payload.size());
    Bytes message(header.GetSize());
    header.Write(message.data());
    message.insert(message.end(), payload.begin(), payload.end());

    const uint8_t damage = input.Byte();
    if (damage >= 200)
    {
        for (uint32_t left = damage - 199U; left > 0 && !input.IsEmpty(); left /= 2)
        {
            const auto size = static_cast<uint32_t>(message.size());
            const uint8_t how = input.Byte();
            if (how < 200)
            {
                message[input.Below(size)] = input.Byte();
            }
            else if (how < 230)
            {
                message.resize(1 + input.Below(size));
            }
            else
            {
                const Bytes more = input.Take(input.Below(16));
                message.insert(message.end(), more.begin(), more.end());
            }
        }
        if (input.Byte() < 240)
        {
            FixChecksum(message);
        }
    }
    return message;
}

} // namespace ns3::fuzz

#endif // FUZZ_MESSAGE_H
