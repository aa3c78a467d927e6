// SPDX-License-Identifier: GPL-2.0-only

#include "message-bodies.h"

#include "federated-header.h"

#include "ns3/big-endian.h"

#include <algorithm>
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

} // namespace

void
JoinBody::Write(uint8_t* bytes) const
{
    federated::WriteBigEndian32(group, bytes);
    federated::WriteBigEndian32(samples, bytes + 4);
    federated::WriteBigEndian64(trainingNs, bytes + 8);
}

bool
JoinBody::Read(const uint8_t* bytes, std::size_t size, JoinBody& body)
{
    if (size != SIZE)
    {
        return false;
    }
    body = {federated::ReadBigEndian32(bytes),
            federated::ReadBigEndian32(bytes + 4),
            federated::ReadBigEndian64(bytes + 8)};
    return IsTime(body.trainingNs);
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
    if (size != SIZE)
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
AckBody::Write(uint8_t* bytes) const
{
    *bytes = type;
}

bool
AckBody::Read(const uint8_t* bytes, std::size_t size, AckBody& body)
{
    if (size != SIZE)
    {
        return false;
    }
    body.type = *bytes;
    return body.type >= FederatedHeader::JOIN && body.type <= FederatedHeader::DONE;
}

void
RepairBody::Write(uint8_t* bytes) const
{
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
    if (size == 0 || size % RANGE_SIZE != 0)
    {
        return false;
    }
    for (const uint8_t* end = bytes + size; bytes != end; bytes += RANGE_SIZE)
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
}

bool
DoneBody::Read(const uint8_t* bytes, std::size_t size, DoneBody& body)
{
    if (size != SIZE)
    {
        return false;
    }
    body.outcome = *bytes;
    return body.outcome <= OUTCOME_BUDGET_SPENT;
}

} // namespace ns3
