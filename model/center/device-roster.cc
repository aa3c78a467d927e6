// SPDX-License-Identifier: GPL-2.0-only

#include "device-roster.h"

#include "ns3/abort.h"
#include "ns3/message-sequence.h"

#include <algorithm>
#include <limits>

namespace ns3::federated
{

void
DeviceRoster::SetRules(const Rules& rules)
{
    m_rules = rules;
}

void
DeviceRoster::Reserve(uint32_t device, const Address& ip, bool isVisitor)
{
    RosterEntry& entry = m_entries[device];
    ReleaseIdentifier(entry);
    entry.reserved = true;
    entry.isVisitor = isVisitor;
    entry.ip = ip;
}

void
DeviceRoster::ReleaseIdentifier(const RosterEntry& entry)
{
    const auto found = m_identifiers.find(entry.ip);
    if (entry.joined && !entry.reserved && --found->second == 0)
    {
        m_identifiers.erase(found);
    }
}

void
DeviceRoster::Enroll(uint32_t device,
                     const SocketAddress& place,
                     uint32_t group,
                     const Time& training,
                     uint32_t samples)
{
    Reserve(device, place.ip);
    RosterEntry& entry = m_entries[device];
    entry.enrolled = true;
    entry.address = place;
    entry.destination = place.Get();
    entry.group = group;
    entry.training = training;
    entry.samples = samples;
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
            entry.samples = std::min(entry.samples, m_rules.maxSamples);
            ++m_joined;
            admitted.push_back(device);
        }
    }
    return admitted;
}

bool
DeviceRoster::HasIdentifierLeft(const JoinRequest& request) const
{
    const RosterEntry* known = Find(request.device);
    const auto found = m_identifiers.find(request.from.ip);
    return (known && (known->reserved || known->joined)) || found == m_identifiers.end() ||
           found->second < m_rules.maxPerAddress;
}

RosterVerdict
DeviceRoster::CheckJoin(const JoinRequest& request) const
{
    using Answer = RosterVerdict::Answer;
    if (request.device >= m_rules.maxDevices)
    {
        return {DROP_UNKNOWN, Answer::NONE};
    }
    if (request.group >= m_rules.bits.size() || request.bits != m_rules.bits[request.group])
    {
        return {DROP_INVALID, Answer::NONE};
    }
    bool isSameLife = false;
    if (const RosterEntry* known = Find(request.device))
    {
        const bool isBound = known->reserved || !m_rules.isProtected;
        if ((isBound && !known->ip.IsInvalid() && known->ip != request.from.ip) ||
            (known->enrolled && known->address != request.from))
        {
            return {DROP_FOREIGN, Answer::NONE};
        }
        // With a key, a JOIN that somebody else sent first is answered so that a newer one follows.
        const bool isThere = !m_rules.isProtected || known->address == request.from;
        if (known->heard && request.sequence == known->sequence && known->joined && isThere)
        {
            return {DROP_DUPLICATE, Answer::ACK};
        }
        if (known->heard && !IsNewer(request.sequence, known->sequence))
        {
            return {DROP_OLD, Answer::REJOIN};
        }
        if (known->heard && request.sequence - known->sequence > MAX_SEQUENCE_STEP)
        {
            return {DROP_INVALID, Answer::REJOIN};
        }
        isSameLife = known->joined && known->heard && known->life == request.life &&
                     known->address == request.from && known->connection == request.connection &&
                     known->group == request.group;
    }
    if (const auto owner = FindByConnection(request.connection))
    {
        // A connection is one device's; its state there cannot be outdated.
        return {*owner == request.device ? DROP_DUPLICATE : DROP_FOREIGN,
                isSameLife ? Answer::ACK : Answer::NONE,
                isSameLife};
    }
    if (!HasIdentifierLeft(request))
    {
        return {DROP_UNKNOWN, Answer::NONE};
    }
    return {std::nullopt, Answer::ACK, isSameLife};
}

void
DeviceRoster::Join(const JoinRequest& request)
{
    RosterEntry& entry = m_entries[request.device];
    if (!entry.joined)
    {
        ++m_joined;
        if (!entry.reserved)
        {
            ++m_identifiers[request.from.ip];
        }
    }
    entry.joined = true;
    entry.heard = true;
    entry.ip = request.from.ip;
    entry.address = request.from;
    entry.destination = request.from.Get();
    entry.connection = request.connection;
    entry.group = request.group;
    entry.samples = std::min(request.samples, m_rules.maxSamples);
    entry.training = std::min(request.training, m_rules.longestTraining);
    entry.battery = request.battery;
    entry.life = request.life;
    entry.sequence = request.sequence;
    entry.silentRounds = 0;
    if (request.connection != 0)
    {
        m_connections[request.connection] = request.device;
    }
}

void
DeviceRoster::SetBattery(uint32_t device, double level)
{
    m_entries.at(device).battery = level;
}

RosterVerdict
DeviceRoster::CheckLeave(uint32_t device, uint32_t sequence)
{
    using Answer = RosterVerdict::Answer;
    RosterEntry& entry = m_entries.at(device);
    if (entry.heard && sequence == entry.sequence)
    {
        return {DROP_DUPLICATE, Answer::ACK};
    }
    if (entry.heard && !IsNewer(sequence, entry.sequence))
    {
        return {DROP_OLD, Answer::REJOIN};
    }
    if (entry.heard && sequence - entry.sequence > MAX_SEQUENCE_STEP)
    {
        return {DROP_INVALID, Answer::REJOIN};
    }
    entry.heard = true; // an enrolled device that never joined may leave, too
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
    ReleaseIdentifier(entry);
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
        entry.lastAsked = 0;
        entry.silentRounds = 0;
        if (!entry.reserved)
        {
            entry.ip = Address();
        }
        if (!entry.enrolled)
        {
            entry.address = SocketAddress();
            entry.destination = Address();
        }
    }
    m_connections.clear();
    m_identifiers.clear();
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
    if ((entry->destination == from || entry->address == SocketAddress(from)) &&
        entry->connection == connection)
    {
        return std::nullopt;
    }
    const bool isBound = !entry->ip.IsInvalid() && entry->ip != SocketAddress(from).ip;
    return entry->joined || isBound ? DROP_FOREIGN : DROP_UNKNOWN;
}

const RosterEntry*
DeviceRoster::Find(uint32_t device) const
{
    const auto found = m_entries.find(device);
    return found == m_entries.end() ? nullptr : &found->second;
}

uint32_t
DeviceRoster::GetSamples() const
{
    uint64_t samples = 0;
    for (const auto& [device, entry] : m_entries)
    {
        samples += entry.joined ? entry.samples : 0;
    }
    const uint32_t most = std::numeric_limits<uint32_t>::max();
    return static_cast<uint32_t>(std::min<uint64_t>(samples, most));
}

void
DeviceRoster::BeginRound()
{
    for (auto& [device, entry] : m_entries)
    {
        entry.replies = 0;
    }
}

bool
DeviceRoster::CountReply(uint32_t device)
{
    const auto found = m_entries.find(device);
    if (found == m_entries.end())
    {
        return true;
    }
    uint32_t& replies = found->second.replies;
    const bool isLeft = replies < m_rules.maxReplies;
    replies += isLeft ? 1 : 0;
    return isLeft;
}

void
DeviceRoster::CountAnswer(uint32_t device)
{
    m_mostAnswers = std::max(m_mostAnswers, ++m_entries.at(device).answers);
}

void
DeviceRoster::SetAsked(const std::vector<uint32_t>& devices, uint32_t round)
{
    for (uint32_t device : devices)
    {
        m_entries.at(device).lastAsked = round;
    }
}

void
DeviceRoster::CountSilence(uint32_t device, bool isSilent)
{
    uint32_t& rounds = m_entries.at(device).silentRounds;
    rounds = isSilent ? rounds + 1 : 0;
}

void
DeviceRoster::Hear(uint32_t device)
{
    m_entries.at(device).silentRounds = 0;
}

void
DeviceRoster::SetLastHeard(uint32_t device, const Time& now)
{
    m_entries.at(device).lastHeard = now;
}

std::vector<uint32_t>
DeviceRoster::FindSilentVisitors(const Time& since) const
{
    std::vector<uint32_t> silent;
    for (const auto& [device, entry] : m_entries)
    {
        if (entry.isVisitor && entry.joined && entry.lastHeard < since)
        {
            silent.push_back(device);
        }
    }
    return silent;
}

std::optional<uint32_t>
DeviceRoster::FindByConnection(ConnectionId connection) const
{
    const auto found = m_connections.find(connection);
    return found == m_connections.end() ? std::nullopt : std::make_optional(found->second);
}

} // namespace ns3::federated
