// SPDX-License-Identifier: GPL-2.0-only

#include "federated-header.h"

#include "crc32c.h"

#include "ns3/assert.h"
#include "ns3/big-endian.h"
#include "ns3/bit-packer.h"

#include <cmath>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(FederatedHeader);

namespace
{

// Offsets of the fields.
constexpr std::size_t AT_VERSION = 2;
constexpr std::size_t AT_TYPE = 3;
constexpr std::size_t AT_SEQUENCE = 4;
constexpr std::size_t AT_ROUND = 8;
constexpr std::size_t AT_DEVICE = 12;
constexpr std::size_t AT_FRAGMENT = 16;
constexpr std::size_t AT_FRAGMENTS = 20;
constexpr std::size_t AT_FIRST = 24;
constexpr std::size_t AT_COORDINATES = 28;
constexpr std::size_t AT_BITS = 32;
constexpr std::size_t AT_INTERVALS = 33;
constexpr std::size_t AT_LENGTH = 34;
constexpr std::size_t AT_DISTORTION = 36;
constexpr std::size_t AT_CHECKSUM = 40;
constexpr uint8_t ROTATED = 0x80; // flags in the byte of an update's bits
constexpr uint8_t INTERLEAVED = 0x40;
constexpr std::size_t MAX_SIZE =
    FederatedHeader::FIXED_SIZE + FederatedHeader::MAX_INTERVALS * FederatedHeader::INTERVAL_SIZE;

bool
HasMagic(const uint8_t* bytes)
{
    return bytes[0] == 'F' && bytes[1] == 'L';
}

/** @return the checksum of a message; its checksum field is ignored. */
uint32_t
GetChecksum(const uint8_t* message, std::size_t size)
{
    // As one string of bytes up to the field: most headers end with it or an interval later.
    const uint8_t zeros[4] = {};
    uint32_t crc = federated::Crc32c(message, AT_CHECKSUM);
    crc = federated::Crc32c(zeros, sizeof(zeros), crc);
    return federated::Crc32c(message + AT_CHECKSUM + 4, size - AT_CHECKSUM - 4, crc);
}

} // namespace

TypeId
FederatedHeader::GetTypeId()
{
    static TypeId tid = TypeId("ns3::FederatedHeader")
                            .SetParent<Header>()
                            .SetGroupName("Federated")
                            .AddConstructor<FederatedHeader>();
    return tid;
}

TypeId
FederatedHeader::GetInstanceTypeId() const
{
    return GetTypeId();
}

const char*
FederatedHeader::GetTypeName(uint8_t type)
{
    static constexpr const char* NAMES[] = {"unknown",
                                            "join",
                                            "leave",
                                            "grant",
                                            "ack",
                                            "model",
                                            "update",
                                            "repair",
                                            "done",
                                            "rejoin",
                                            "page"};
    return NAMES[type <= PAGE ? type : 0];
}

uint32_t
FederatedHeader::PeekDevice(const uint8_t* message)
{
    return federated::ReadBigEndian32(message + AT_DEVICE);
}

void
FederatedHeader::Seal(const uint8_t* payload, std::size_t length)
{
    NS_ASSERT_MSG(length <= MAX_PAYLOAD, "FederatedHeader: a payload of " << length << " bytes");
    payloadLength = static_cast<uint16_t>(length);
    checksum = 0;
    uint8_t bytes[MAX_SIZE];
    Write(bytes);
    checksum = federated::Crc32c(payload, length, federated::Crc32c(bytes, GetSize()));
}

void
FederatedHeader::Write(uint8_t* bytes) const
{
    NS_ASSERT_MSG(intervals.size() <= MAX_INTERVALS,
                  "FederatedHeader: " << intervals.size() << " intervals");
    bytes[0] = 'F';
    bytes[1] = 'L';
    bytes[AT_VERSION] = VERSION;
    bytes[AT_TYPE] = type;
    federated::WriteBigEndian32(sequence, bytes + AT_SEQUENCE);
    federated::WriteBigEndian32(round, bytes + AT_ROUND);
    federated::WriteBigEndian32(device, bytes + AT_DEVICE);
    federated::WriteBigEndian32(fragment, bytes + AT_FRAGMENT);
    federated::WriteBigEndian32(fragments, bytes + AT_FRAGMENTS);
    federated::WriteBigEndian32(first, bytes + AT_FIRST);
    federated::WriteBigEndian32(coordinates, bytes + AT_COORDINATES);
    bytes[AT_BITS] =
        static_cast<uint8_t>(bits | (rotated ? ROTATED : 0) | (interleaved ? INTERLEAVED : 0));
    bytes[AT_INTERVALS] = static_cast<uint8_t>(intervals.size());
    bytes[AT_LENGTH] = static_cast<uint8_t>(payloadLength >> 8);
    bytes[AT_LENGTH + 1] = static_cast<uint8_t>(payloadLength);
    federated::WriteBigEndianFloat(distortion, bytes + AT_DISTORTION);
    federated::WriteBigEndian32(checksum, bytes + AT_CHECKSUM);
    bytes += FIXED_SIZE;
    for (const auto& interval : intervals)
    {
        federated::WriteBigEndian32(static_cast<uint32_t>(interval.end), bytes);
        federated::WriteBigEndianFloat(interval.low, bytes + 4);
        federated::WriteBigEndianFloat(interval.high, bytes + 8);
        bytes += INTERVAL_SIZE;
    }
}

std::size_t
FederatedHeader::ReadFixed(const uint8_t* bytes)
{
    type = static_cast<Type>(bytes[AT_TYPE]);
    sequence = federated::ReadBigEndian32(bytes + AT_SEQUENCE);
    round = federated::ReadBigEndian32(bytes + AT_ROUND);
    device = federated::ReadBigEndian32(bytes + AT_DEVICE);
    fragment = federated::ReadBigEndian32(bytes + AT_FRAGMENT);
    fragments = federated::ReadBigEndian32(bytes + AT_FRAGMENTS);
    first = federated::ReadBigEndian32(bytes + AT_FIRST);
    coordinates = federated::ReadBigEndian32(bytes + AT_COORDINATES);
    const auto flags = static_cast<uint8_t>(type == UPDATE ? ROTATED | INTERLEAVED : 0);
    rotated = (bytes[AT_BITS] & flags & ROTATED) != 0;
    interleaved = (bytes[AT_BITS] & flags & INTERLEAVED) != 0;
    bits = static_cast<uint8_t>(bytes[AT_BITS] & ~flags);
    payloadLength = static_cast<uint16_t>(bytes[AT_LENGTH] << 8 | bytes[AT_LENGTH + 1]);
    distortion = federated::ReadBigEndianFloat(bytes + AT_DISTORTION);
    checksum = federated::ReadBigEndian32(bytes + AT_CHECKSUM);
    return bytes[AT_INTERVALS];
}

void
FederatedHeader::ReadIntervals(const uint8_t* bytes, std::size_t count)
{
    intervals.resize(count);
    std::size_t begin = first;
    for (auto& interval : intervals)
    {
        interval = {begin,
                    federated::ReadBigEndian32(bytes),
                    federated::ReadBigEndianFloat(bytes + 4),
                    federated::ReadBigEndianFloat(bytes + 8)};
        begin = interval.end;
        bytes += INTERVAL_SIZE;
    }
}

FederatedHeader::ReadResult
FederatedHeader::Read(const uint8_t* message, std::size_t size, bool isAuthentic)
{
    type = {};
    if (size < FIXED_SIZE || !HasMagic(message))
    {
        return READ_MALFORMED;
    }
    if (message[AT_VERSION] != VERSION)
    {
        return READ_VERSION;
    }
    if (!isAuthentic &&
        GetChecksum(message, size) != federated::ReadBigEndian32(message + AT_CHECKSUM))
    {
        return READ_CHECKSUM;
    }
    const std::size_t count = ReadFixed(message);
    if (FIXED_SIZE + count * INTERVAL_SIZE + payloadLength != size)
    {
        type = {};
        return READ_MALFORMED;
    }
    ReadIntervals(message + FIXED_SIZE, count);
    return IsValid() ? READ_OK : READ_MALFORMED;
}

bool
FederatedHeader::IsValid() const
{
    if (type < JOIN || IsProtectedType(type))
    {
        return false;
    }
    if (type > PAGE)
    {
        return true; // of a later revision: its fields may have another meaning
    }
    if ((fragments > 0 && fragment >= fragments) || ((rotated || interleaved) && type != UPDATE) ||
        !(std::isnan(distortion) || (std::isfinite(distortion) && distortion >= 0)))
    {
        return false;
    }
    std::size_t begin = first;
    for (const auto& interval : intervals)
    {
        if (interval.begin != begin || interval.end <= begin || !(interval.low <= interval.high) ||
            !std::isfinite(interval.high - interval.low))
        {
            return false;
        }
        begin = interval.end;
    }
    const uint64_t end = uint64_t{first} + coordinates;
    if (intervals.size() > MAX_INTERVALS || (!intervals.empty() && begin != end))
    {
        return false;
    }
    if (type != MODEL && type != UPDATE)
    {
        return true;
    }
    const bool levels = bits >= 1 && bits <= BitPacker::MAX_BITS;
    return fragments >= 1 && coordinates >= 1 && (levels || bits == BitPacker::FLOAT_BITS) &&
           (uint64_t{coordinates} * bits + 7) / 8 == payloadLength &&
           !(type == UPDATE && levels && intervals.empty());
}

uint32_t
FederatedHeader::GetSerializedSize() const
{
    return static_cast<uint32_t>(GetSize());
}

void
FederatedHeader::Serialize(Buffer::Iterator start) const
{
    uint8_t bytes[MAX_SIZE];
    Write(bytes);
    start.Write(bytes, GetSerializedSize());
}

uint32_t
FederatedHeader::Deserialize(Buffer::Iterator start)
{
    type = {};
    uint8_t bytes[MAX_SIZE];
    const std::size_t available = start.GetRemainingSize();
    if (available < FIXED_SIZE)
    {
        return 0;
    }
    start.Read(bytes, FIXED_SIZE);
    if (!HasMagic(bytes) || bytes[AT_VERSION] != VERSION ||
        available < FIXED_SIZE + bytes[AT_INTERVALS] * INTERVAL_SIZE)
    {
        return 0;
    }
    const std::size_t count = ReadFixed(bytes);
    start.Read(bytes + FIXED_SIZE, static_cast<uint32_t>(count * INTERVAL_SIZE));
    ReadIntervals(bytes + FIXED_SIZE, count);
    return GetSerializedSize();
}

void
FederatedHeader::Print(std::ostream& os) const
{
    os << "type=" << GetTypeName(type) << " sequence=" << sequence << " round=" << round
       << " device=" << device << " fragment=" << fragment << " fragments=" << fragments
       << " first=" << first << " coordinates=" << coordinates << " bits=" << unsigned{bits}
       << (rotated ? " rotated" : "") << (interleaved ? " interleaved" : "");
    for (const auto& interval : intervals)
    {
        os << " interval=" << interval.begin << ".." << interval.end << ":[" << interval.low << ", "
           << interval.high << "]";
    }
    os << " payloadLength=" << payloadLength << " distortion=" << distortion
       << " checksum=" << checksum;
}

} // namespace ns3
