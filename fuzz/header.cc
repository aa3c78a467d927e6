// SPDX-License-Identifier: GPL-2.0-only

/**
 * @file
 * Header and bodies of messages: any bytes, against a second reader that was written from the field
 * diagrams alone. Both must agree on what is a message, why not, and on every field; what was read
 * is written again as the same bytes.
 *
 * Input: a byte of flags (1: right checksum, 2: right magic and version, 4: right length), then the
 * message.
 */

#include "fuzz-message.h"

#include "ns3/packet.h"

#include <cmath>
#include <optional>
#include <sstream>

using namespace ns3;
using namespace ns3::fuzz;

namespace
{

// Types from here on mark messages whose header is another one.
constexpr uint8_t FIRST_PROTECTED = 253;

/** A number of 1 to 8 bytes, the most significant first. */
uint64_t
Number(const uint8_t* bytes, int count)
{
    uint64_t number = 0;
    for (int i = 0; i < count; ++i)
    {
        number = number << 8 | bytes[i];
    }
    return number;
}

float
Real(const uint8_t* bytes)
{
    const auto word = static_cast<uint32_t>(Number(bytes, 4));
    float value;
    std::memcpy(&value, &word, sizeof(value));
    return value;
}

uint32_t
Bits(float value)
{
    uint32_t word;
    std::memcpy(&word, &value, sizeof(word));
    return word;
}

/** @return whether the fields of a message of a known type fit together; its length is right. */
bool
FitTogether(const Bytes& m)
{
    const uint8_t type = m[3];
    const uint64_t fragment = Number(&m[16], 4);
    const uint64_t fragments = Number(&m[20], 4);
    const uint64_t first = Number(&m[24], 4);
    const uint64_t coordinates = Number(&m[28], 4);
    const bool isUpdate = type == 6;
    const unsigned bits = isUpdate ? m[32] % 64 : m[32];
    const unsigned intervals = m[33];
    const uint64_t length = Number(&m[34], 2);
    const float distortion = Real(&m[36]);
    if (fragments != 0 && fragment >= fragments)
    {
        return false;
    }
    if (std::isinf(distortion) || distortion < 0)
    {
        return false;
    }
    uint64_t begin = first;
    for (unsigned i = 0; i < intervals; ++i)
    {
        const uint8_t* at = &m[44 + 12 * i];
        const uint64_t end = Number(at, 4);
        const double low = Real(at + 4);
        const double high = Real(at + 8);
        if (end <= begin || std::isnan(low) || std::isnan(high) || low > high ||
            std::isinf(static_cast<float>(high - low)) || std::isinf(low) || std::isinf(high))
        {
            return false;
        }
        begin = end;
    }
    if (intervals > 0 && begin != first + coordinates)
    {
        return false;
    }
    if (type != 5 && !isUpdate)
    {
        return true;
    }
    const bool isLevels = bits >= 1 && bits <= 16;
    return fragments > 0 && coordinates > 0 && (isLevels || bits == 32) &&
           length == coordinates * bits / 8 + (coordinates * bits % 8 > 0 ? 1 : 0) &&
           (!isUpdate || !isLevels || intervals > 0);
}

FederatedHeader::ReadResult
ReadByDiagram(const Bytes& m)
{
    if (m.size() < 44 || m[0] != 'F' || m[1] != 'L')
    {
        return FederatedHeader::READ_MALFORMED;
    }
    if (m[2] != FederatedHeader::VERSION)
    {
        return FederatedHeader::READ_VERSION;
    }
    if (Number(&m[40], 4) != GetReferenceChecksum(m))
    {
        return FederatedHeader::READ_CHECKSUM;
    }
    const uint8_t type = m[3];
    const bool isRight = m.size() == 44U + 12U * m[33] + Number(&m[34], 2) && type != 0 &&
                         type < FIRST_PROTECTED && (type > 10 || FitTogether(m));
    return isRight ? FederatedHeader::READ_OK : FederatedHeader::READ_MALFORMED;
}

/** Compare all fields of an accepted message with its bytes. */
void
CheckFields(const FederatedHeader& header, const Bytes& m)
{
    const bool isUpdate = m[3] == 6;
    Require(header.type == m[3] && header.sequence == Number(&m[4], 4) &&
                header.round == Number(&m[8], 4) && header.device == Number(&m[12], 4) &&
                header.fragment == Number(&m[16], 4) && header.fragments == Number(&m[20], 4) &&
                header.first == Number(&m[24], 4) && header.coordinates == Number(&m[28], 4) &&
                header.bits == (isUpdate ? m[32] % 64 : m[32]) &&
                header.rotated == (isUpdate && m[32] >= 128) &&
                header.interleaved == (isUpdate && m[32] / 64 % 2 == 1) &&
                header.intervals.size() == m[33] && header.payloadLength == Number(&m[34], 2) &&
                Bits(header.distortion) == Number(&m[36], 4) &&
                header.checksum == Number(&m[40], 4),
            "the fields of a header are what the diagram says");
    uint64_t begin = header.first;
    for (std::size_t i = 0; i < header.intervals.size(); ++i)
    {
        const uint8_t* at = &m[44 + 12 * i];
        const IntervalRange& interval = header.intervals[i];
        Require(interval.begin == begin && interval.end == Number(at, 4) &&
                    Bits(interval.low) == Number(at + 4, 4) &&
                    Bits(interval.high) == Number(at + 8, 4),
                "the intervals of a header are what the diagram says");
        begin = interval.end;
    }
}

bool
IsTime(uint64_t nanoseconds)
{
    return nanoseconds >> 63 == 0;
}

bool
IsLevel(float level)
{
    return std::isnan(level) || (level >= 0 && level <= 1);
}

/**
 * Read a body of a fixed size with both readers, and write it again.
 * @param bytes Any bytes.
 * @param isRight What the second reader says about them if they are long enough.
 * @param name Name of the body.
 */
template <typename Body, typename Check>
void
CheckBody(const Bytes& bytes, const Check& isRight, const std::string& name)
{
    const ExactCopy copy(bytes);
    Body body;
    const bool accepted = Body::Read(copy.Get(), copy.GetSize(), body);
    const bool expected = bytes.size() >= Body::SIZE && isRight(copy.Get());
    Require(accepted == expected, "both readers agree on what is a body of " + name);
    if (accepted)
    {
        Bytes again(Body::SIZE);
        body.Write(again.data());
        Require(std::equal(again.begin(), again.end(), bytes.begin()),
                "a body of " + name + " is written as it was read");
    }
}

void
CheckRepair(const Bytes& bytes)
{
    const ExactCopy copy(bytes);
    RepairBody body;
    const bool accepted = RepairBody::Read(copy.Get(), copy.GetSize(), body);
    const uint64_t count = bytes.size() >= 4 ? Number(copy.Get(), 4) : 0;
    bool expected = count > 0 && 4 + 8 * count <= bytes.size();
    for (uint64_t i = 0; expected && i < count; ++i)
    {
        const uint64_t first = Number(copy.Get() + 4 + 8 * i, 4);
        const uint64_t many = Number(copy.Get() + 8 + 8 * i, 4);
        expected = many > 0 && first + many <= 0xffffffff;
    }
    Require(accepted == expected, "both readers agree on what is a body of REPAIR");
    if (accepted)
    {
        Require(body.ranges.size() == count, "a REPAIR has as many ranges as it says");
        Bytes again(body.GetSize());
        body.Write(again.data());
        Require(std::equal(again.begin(), again.end(), bytes.begin()),
                "a body of REPAIR is written as it was read");
    }
}

void
CheckPage(const Bytes& bytes)
{
    const ExactCopy copy(bytes);
    PageBody body;
    const bool accepted = PageBody::Read(copy.Get(), copy.GetSize(), body);
    const uint64_t first = bytes.size() >= 16 ? Number(copy.Get() + 8, 4) : 0;
    const uint64_t devices = bytes.size() >= 16 ? Number(copy.Get() + 12, 4) : 0;
    const uint64_t size = 16 + (devices + 7) / 8;
    const bool expected = devices > 0 && size <= bytes.size() && IsTime(Number(copy.Get(), 8)) &&
                          first + devices <= 0x100000000;
    Require(accepted == expected, "both readers agree on what is a body of PAGE");
    if (accepted)
    {
        for (uint64_t i = 0; i < devices; ++i)
        {
            Require(body.Names(static_cast<uint32_t>(first + i)) ==
                        (bytes[16 + i / 8] / (1U << i % 8) % 2 == 1),
                    "a PAGE names the devices whose bits are set");
        }
        Require(first + devices > 0xffffffff || !body.Names(static_cast<uint32_t>(first + devices)),
                "a PAGE names nobody beyond its range");
        Require(body.GetSize() == size, "a PAGE has as many bytes as its range needs");
        Bytes again(size);
        body.Write(again.data());
        Require(std::equal(again.begin(), again.end(), bytes.begin()),
                "a body of PAGE is written as it was read");
    }
}

void
CheckBodies(const Bytes& bytes)
{
    CheckBody<JoinBody>(
        bytes,
        [](const uint8_t* b) { return IsTime(Number(b + 8, 8)) && IsLevel(Real(b + 20)); },
        "JOIN");
    CheckBody<GrantBody>(
        bytes,
        [](const uint8_t* b)
        {
            return IsTime(Number(b, 8)) && IsTime(Number(b + 8, 8)) && IsTime(Number(b + 16, 8)) &&
                   IsTime(Number(b + 24, 8));
        },
        "GRANT");
    CheckBody<AckBody>(
        bytes, [](const uint8_t*) { return true; }, "ACK");
    CheckBody<DoneBody>(
        bytes,
        [](const uint8_t* b)
        {
            return b[0] <= 5 && IsTime(Number(b + 9, 8)) && Number(b + 1, 8) <= Number(b + 9, 8) &&
                   IsLevel(Real(b + 17));
        },
        "DONE");
    CheckRepair(bytes);
    CheckPage(bytes);
}

/** Read a header as ns-3 does; it need not be valid. */
void
CheckDeserialize(const Bytes& message, bool isMessage)
{
    const ExactCopy copy(message);
    const auto packet = Create<Packet>(copy.Get(), static_cast<uint32_t>(copy.GetSize()));
    FederatedHeader header;
    const uint32_t size = packet->PeekHeader(header);
    Require(size == 0 || size == header.GetSize(), "Deserialize returns the bytes that it read");
    Require(size > 0 || !header.IsValid(), "a header that was not read is not valid");
    Require(size > 0 || !isMessage, "Deserialize reads every message");
    if (isMessage)
    {
        CheckFields(header, message);
        std::ostringstream text;
        header.Print(text);
        Require(!text.str().empty(), "a header can be printed");
        packet->RemoveHeader(header);
        packet->AddHeader(header);
        Bytes again(packet->GetSize());
        packet->CopyData(again.data(), packet->GetSize());
        Require(again == message, "Serialize writes what Deserialize read");
    }
}

} // namespace

extern "C" int
LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size)
{
    FuzzInput input(data, size);
    const uint8_t flags = input.Byte();
    Bytes message = input.TakeRest();
    CheckBodies(message);
    if (message.size() >= 44 && (flags & 2) != 0)
    {
        message[0] = 'F';
        message[1] = 'L';
        message[2] = FederatedHeader::VERSION;
    }
    if (message.size() >= 44 && (flags & 4) != 0)
    {
        const std::size_t intervals =
            std::min<std::size_t>(message[33], (message.size() - 44) / 12);
        const std::size_t length = message.size() - 44 - 12 * intervals;
        message[33] = static_cast<uint8_t>(intervals);
        message[34] = static_cast<uint8_t>(length >> 8);
        message[35] = static_cast<uint8_t>(length);
    }
    if ((flags & 1) != 0)
    {
        FixChecksum(message);
    }

    const ExactCopy copy(message);
    FederatedHeader header;
    const auto result = header.Read(copy.Get(), copy.GetSize());
    Require(result == ReadByDiagram(message), "both readers agree on what is a message");
    Require(FederatedHeader::PeekType(copy.Get(), copy.GetSize()) ==
                (message.size() < 44 ? 0 : message[3]),
            "PeekType gives the type");
    CheckDeserialize(message, result == FederatedHeader::READ_OK);
    if (result != FederatedHeader::READ_OK)
    {
        return 0;
    }
    CheckFields(header, message);
    const uint8_t* payload = copy.Get() + header.GetSize();
    Require(header.GetSize() + header.payloadLength == message.size(),
            "the payload ends with the message");
    Bytes again(header.GetSize());
    header.Write(again.data());
    Require(std::equal(again.begin(), again.end(), message.begin()),
            "a header is written as it was read");
    const uint32_t checksum = header.checksum;
    header.Seal(payload, header.payloadLength);
    Require(header.checksum == checksum, "Seal gives the checksum that was accepted");
    CheckBodies(Bytes(payload, payload + header.payloadLength));
    return 0;
}
