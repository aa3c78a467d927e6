// SPDX-License-Identifier: GPL-2.0-only

#include "message-bodies.h"

#include "ns3/big-endian.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ns3
{

namespace
{

/** @return whether an ns-3 Time can hold the nanoseconds. */
bool
IsTime(uint64_t nanoseconds)
{
    return nanoseconds <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
}

/** @return whether a battery can have the level, or it is not reported. */
bool
IsLevel(float level)
{
    return std::isnan(level) || (level >= 0 && level <= 1);
}

} // namespace

void
JoinBody::Write(uint8_t* bytes) const
{
    federated::WriteBigEndian32(group, bytes);
    federated::WriteBigEndian32(samples, bytes + 4);
    federated::WriteBigEndian64(trainingNs, bytes + 8);
    federated::WriteBigEndian32(life, bytes + 16);
    federated::WriteBigEndianFloat(battery, bytes + 20);
}

bool
JoinBody::Read(const uint8_t* bytes, std::size_t size, JoinBody& body)
{
    if (size < SIZE)
    {
        return false;
    }
    body = {federated::ReadBigEndian32(bytes),
            federated::ReadBigEndian32(bytes + 4),
            federated::ReadBigEndian64(bytes + 8),
            federated::ReadBigEndian32(bytes + 16),
            federated::ReadBigEndianFloat(bytes + 20)};
    return IsTime(body.trainingNs) && IsLevel(body.battery);
}

void
GrantBody::Write(uint8_t* bytes) const
{
    federated::WriteBigEndian64(modelEndNs, bytes);
    federated::WriteBigEndian64(slotStartNs, bytes + 8);
    federated::WriteBigEndian64(slotLengthNs, bytes + 16);
    federated::WriteBigEndian64(deadlineNs, bytes + 24);
}

bool
GrantBody::Read(const uint8_t* bytes, std::size_t size, GrantBody& body)
{
    if (size < SIZE)
    {
        return false;
    }
    body = {federated::ReadBigEndian64(bytes),
            federated::ReadBigEndian64(bytes + 8),
            federated::ReadBigEndian64(bytes + 16),
            federated::ReadBigEndian64(bytes + 24)};
    return IsTime(body.modelEndNs) && IsTime(body.slotStartNs) && IsTime(body.slotLengthNs) &&
           IsTime(body.deadlineNs);
}

void
PageBody::Name(uint32_t device)
{
    const uint32_t index = device - first;
    devices = std::max(devices, index + 1);
    bits.resize((devices - 1) / 8 + 1);
    bits[index / 8] |= static_cast<uint8_t>(1U << index % 8);
}

bool
PageBody::Names(uint32_t device) const
{
    const uint32_t index = device - first;
    return device >= first && index < devices && (bits[index / 8] >> index % 8 & 1) != 0;
}

void
PageBody::Write(uint8_t* bytes) const
{
    federated::WriteBigEndian64(untilNs, bytes);
    federated::WriteBigEndian32(first, bytes + 8);
    federated::WriteBigEndian32(devices, bytes + 12);
    std::copy(bits.begin(), bits.end(), bytes + FIXED_SIZE);
}

bool
PageBody::Read(const uint8_t* bytes, std::size_t size, PageBody& body)
{
    if (size < FIXED_SIZE)
    {
        return false;
    }
    body.untilNs = federated::ReadBigEndian64(bytes);
    body.first = federated::ReadBigEndian32(bytes + 8);
    body.devices = federated::ReadBigEndian32(bytes + 12);
    if (!IsTime(body.untilNs) || body.devices == 0 || body.devices > GetRoom(size) ||
        body.devices - 1 > std::numeric_limits<uint32_t>::max() - body.first)
    {
        return false;
    }
    const uint8_t* begin = bytes + FIXED_SIZE;
    body.bits.assign(begin, begin + (body.devices - 1) / 8 + 1);
    return true;
}

void
AckBody::Write(uint8_t* bytes) const
{
    *bytes = type;
}

bool
AckBody::Read(const uint8_t* bytes, std::size_t size, AckBody& body)
{
    if (size < SIZE)
    {
        return false;
    }
    body.type = *bytes;
    return true;
}

void
RepairBody::Write(uint8_t* bytes) const
{
    federated::WriteBigEndian32(static_cast<uint32_t>(ranges.size()), bytes);
    bytes += COUNT_SIZE;
    for (const auto& [first, count] : ranges)
    {
        federated::WriteBigEndian32(first, bytes);
        federated::WriteBigEndian32(count, bytes + 4);
        bytes += RANGE_SIZE;
    }
}

bool
RepairBody::Read(const uint8_t* bytes, std::size_t size, RepairBody& body)
{
    body.ranges.clear();
    const uint32_t count = size < COUNT_SIZE ? 0 : federated::ReadBigEndian32(bytes);
    if (count == 0 || count > GetRoom(size))
    {
        return false;
    }
    bytes += COUNT_SIZE;
    for (const uint8_t* end = bytes + count * RANGE_SIZE; bytes != end; bytes += RANGE_SIZE)
    {
        body.ranges.emplace_back(federated::ReadBigEndian32(bytes),
                                 federated::ReadBigEndian32(bytes + 4));
    }
    return std::all_of(body.ranges.begin(),
                       body.ranges.end(),
                       [](const auto& range)
                       {
                           return range.second >= 1 &&
                                  range.second <=
                                      std::numeric_limits<uint32_t>::max() - range.first;
                       });
}

void
DoneBody::Write(uint8_t* bytes) const
{
    *bytes = outcome;
    federated::WriteBigEndian64(firstSentNs, bytes + 1);
    federated::WriteBigEndian64(lastSentNs, bytes + 9);
    federated::WriteBigEndianFloat(battery, bytes + 17);
}

bool
DoneBody::Read(const uint8_t* bytes, std::size_t size, DoneBody& body)
{
    if (size < SIZE)
    {
        return false;
    }
    body = {*bytes,
            federated::ReadBigEndian64(bytes + 1),
            federated::ReadBigEndian64(bytes + 9),
            federated::ReadBigEndianFloat(bytes + 17)};
    return body.outcome <= OUTCOME_NOTHING_LEARNED && IsTime(body.lastSentNs) &&
           body.firstSentNs <= body.lastSentNs && IsLevel(body.battery);
}

} // namespace ns3
