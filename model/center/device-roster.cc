// SPDX-License-Identifier: GPL-2.0-only

#include "device-roster.h"

#include "ns3/abort.h"

#include <algorithm>

namespace ns3::federated
{

namespace
{

/** @return the sequence number a comes after b, also where the counter has wrapped. */
bool
IsNewer(uint32_t a, uint32_t b)
{
    return static_cast<int32_t>(a - b) > 0;
}

} // namespace

void
DeviceRoster::SetRules(const Rules& rules)
{
    m_rules = rules;
}

void
DeviceRoster::Reserve(uint32_t device, const Address& ip)
{
    RosterEntry& entry = m_entries[device];
    entry.reserved = true;
    entry.ip = ip;
}

void
DeviceRoster::Enroll(uint32_t device,
                     const SocketAddress& place,
                     uint32_t group,
                     const Time& training)
{
    Reserve(device, place.ip);
    RosterEntry& entry = m_entries[device];
    entry.enrolled = true;
    entry.address = place;
    entry.destination = place.Get();
    entry.group = group;
    entry.training = training;
}

std::vector<uint32_t>
DeviceRoster::Admit()
{
    std::vector<uint32_t> admitted;
    for (auto& [device, entry] : m_entries)
    {
        if (entry.enrolled)
        {
            NS_ABORT_MSG_IF(entry.group >= m_rules.bits.size(),
                            "FusionCenter: device " << device << " is enrolled in group "
                                                    << entry.group
                                                    << ", which is not in GroupBits");
            entry.joined = true;
            entry.training = std::min(entry.training, m_rules.longestTraining);
            ++m_joined;
            admitted.push_back(device);
        }
    }
    return admitted;
}

RosterVerdict
DeviceRoster::CheckJoin(const JoinRequest& request) const
{
    if (request.device >= m_rules.maxDevices)
    {
        return {DROP_UNKNOWN, false};
    }
    if (request.group >= m_rules.bits.size() || request.bits != m_rules.bits[request.group])
    {
        return {DROP_INVALID, false};
    }
    if (const RosterEntry* known = Find(request.device))
    {
        if (!known->ip.IsInvalid() && known->ip != request.from.ip)
        {
            return {DROP_FOREIGN, false};
        }
        if (known->heard && request.sequence == known->sequence && known->joined)
        {
            return {DROP_DUPLICATE, true};
        }
        if (known->heard && !IsNewer(request.sequence, known->sequence))
        {
            return {DROP_OLD, false};
        }
    }
    if (const auto owner = FindByConnection(request.connection))
    {
        return {*owner == request.device ? DROP_DUPLICATE : DROP_FOREIGN, false};
    }
    return {};
}

void
DeviceRoster::Join(const JoinRequest& request)
{
    RosterEntry& entry = m_entries[request.device];
    entry.joined = true;
    entry.heard = true;
    entry.ip = request.from.ip;
    entry.address = request.from;
    entry.destination = request.from.Get();
    entry.connection = request.connection;
    entry.group = request.group;
    entry.samples = request.samples;
    entry.training = std::min(request.training, m_rules.longestTraining);
    entry.sequence = request.sequence;
    ++m_joined;
    if (request.connection != 0)
    {
        m_connections[request.connection] = request.device;
    }
}

RosterVerdict
DeviceRoster::CheckLeave(uint32_t device, uint32_t sequence)
{
    RosterEntry& entry = m_entries.at(device);
    if (!IsNewer(sequence, entry.sequence))
    {
        const bool isSame = sequence == entry.sequence;
        return {isSame ? DROP_DUPLICATE : DROP_OLD, isSame};
    }
    entry.sequence = sequence;
    return {};
}

bool
DeviceRoster::Leave(uint32_t device)
{
    const auto found = m_entries.find(device);
    if (found == m_entries.end() || !found->second.joined)
    {
        return false;
    }
    RosterEntry& entry = found->second;
    entry.joined = false;
    --m_joined;
    if (!entry.reserved)
    {
        entry.ip = Address();
    }
    m_connections.erase(entry.connection);
    entry.connection = 0;
    return true;
}

void
DeviceRoster::Clear()
{
    for (auto& [device, entry] : m_entries)
    {
        entry.joined = false;
        entry.connection = 0;
    }
    m_connections.clear();
    m_joined = 0;
}

std::optional<DropReason>
DeviceRoster::CheckSender(uint32_t device, const Address& from, ConnectionId connection) const
{
    const RosterEntry* entry = Find(device);
    if (!entry)
    {
        return DROP_UNKNOWN;
    }
    // Raw addresses of one endpoint may differ in ToS; then IP and port are compared.
    if ((entry->destination != from && entry->address != SocketAddress(from)) ||
        entry->connection != connection)
    {
        return DROP_FOREIGN;
    }
    return std::nullopt;
}

const RosterEntry*
DeviceRoster::Find(uint32_t device) const
{
    const auto found = m_entries.find(device);
    return found == m_entries.end() ? nullptr : &found->second;
}

void
DeviceRoster::CountAnswer(uint32_t device)
{
    m_mostAnswers = std::max(m_mostAnswers, ++m_entries.at(device).answers);
}

std::optional<uint32_t>
DeviceRoster::FindByConnection(ConnectionId connection) const
{
    const auto found = m_connections.find(connection);
    return found == m_connections.end() ? std::nullopt : std::make_optional(found->second);
}

} // namespace ns3::federated
