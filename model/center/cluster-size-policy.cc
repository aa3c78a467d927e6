// SPDX-License-Identifier: GPL-2.0-only

#include "cluster-size-policy.h"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <utility>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(ClusterSizePolicy);

namespace
{

/**
 * @param groups The groups.
 * @return the bits that all devices of all groups need together.
 */
uint64_t
BitsOfAll(const std::vector<ClusterGroup>& groups)
{
    uint64_t bits = 0;
    for (const auto& group : groups)
    {
        bits += uint64_t{group.devices} * group.wireBits;
    }
    return bits;
}

/**
 * @param groups The groups.
 * @return the bits that one device of each group needs.
 */
uint64_t
BitsOfOneEach(const std::vector<ClusterGroup>& groups)
{
    uint64_t bits = 0;
    for (const auto& group : groups)
    {
        bits += group.wireBits;
    }
    return bits;
}

/**
 * @param groups The groups.
 * @return one device of each group, then all others in ascending order of bits, as groups of
 * (devices, bits): any number of devices that is taken in this order needs the least bits.
 */
std::vector<std::pair<uint64_t, uint64_t>>
CheapestFirst(const std::vector<ClusterGroup>& groups)
{
    std::vector<std::pair<uint64_t, uint64_t>> order;
    for (const auto& group : groups)
    {
        order.emplace_back(group.devices - 1, group.wireBits);
    }
    std::sort(order.begin(),
              order.end(),
              [](const auto& a, const auto& b) { return a.second < b.second; });
    return order;
}

/**
 * @param groups The groups.
 * @param participants Devices, from the number of groups to the number of all devices.
 * @return the least bits that this number of devices needs.
 */
uint64_t
LeastBits(const std::vector<ClusterGroup>& groups, uint64_t participants)
{
    uint64_t left = participants - groups.size();
    uint64_t bits = BitsOfOneEach(groups);
    for (const auto& [devices, wireBits] : CheapestFirst(groups))
    {
        const uint64_t taken = std::min(left, devices);
        bits += taken * wireBits;
        left -= taken;
    }
    return bits;
}

/**
 * @param groups The groups.
 * @param budget Bits, not negative.
 * @return the budget in whole bits, at most what all devices need.
 */
uint64_t
WholeBudget(const std::vector<ClusterGroup>& groups, double budget)
{
    const uint64_t all = BitsOfAll(groups);
    return budget < static_cast<double>(all) ? static_cast<uint64_t>(budget) : all;
}

/**
 * @param groups The groups.
 * @param budget The budget.
 * @return whether all values make sense.
 */
bool
AreValid(const std::vector<ClusterGroup>& groups, double budget)
{
    return !groups.empty() && budget >= 0 &&
           std::all_of(groups.begin(),
                       groups.end(),
                       [](const ClusterGroup& group)
                       {
                           return group.devices > 0 && group.bits > 0 && group.wireBits > 0 &&
                                  group.sigma2 >= 0 && !std::isinf(group.sigma2);
                       });
}

/**
 * @param groups The groups.
 * @param budget The budget.
 * @return the error in the values themselves, empty if there is none.
 */
std::string
FindBadValue(const std::vector<ClusterGroup>& groups, double budget)
{
    std::ostringstream reason;
    if (groups.empty())
    {
        return "There are no groups to choose devices from.";
    }
    for (std::size_t m = 0; m < groups.size(); ++m)
    {
        const auto& group = groups[m];
        if (group.devices == 0)
        {
            reason << "Group " << m << " has no devices, but one device of each group must join.";
        }
        else if (group.bits == 0 || group.wireBits == 0)
        {
            reason << "Group " << m << " has " << group.bits << " bits and " << group.wireBits
                   << " wire bits a coordinate; both must be at least 1.";
        }
        else if (!(group.sigma2 >= 0) || std::isinf(group.sigma2))
        {
            reason << "Group " << m << " has the link noise variance " << group.sigma2
                   << ", which must be finite and not negative.";
        }
        else
        {
            continue;
        }
        return reason.str();
    }
    if (!(budget >= 0))
    {
        reason << "The bit budget is " << budget << ", which must be a number and not negative.";
    }
    return reason.str();
}

} // namespace

TypeId
ClusterSizePolicy::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::ClusterSizePolicy").SetParent<Object>().SetGroupName("Federated");
    return tid;
}

ClusterSizePolicy::~ClusterSizePolicy() = default;

ClusterSizes
ClusterSizePolicy::Choose(const std::vector<ClusterGroup>& groups,
                          uint32_t participants,
                          double budget)
{
    ClusterSizes answer;
    answer.reason = FindBadValue(groups, budget);
    if (!answer.reason.empty())
    {
        return answer;
    }
    uint64_t devices = 0;
    for (const auto& group : groups)
    {
        devices += group.devices;
    }
    std::ostringstream reason;
    if (participants < groups.size())
    {
        reason << groups.size() << " groups need at least one device each, but only "
               << participants << " devices take part: " << groups.size() - participants
               << " too few.";
    }
    else if (participants > devices)
    {
        reason << participants << " devices are to take part, but the groups have only " << devices
               << ": " << participants - devices << " too many.";
    }
    else if (const uint64_t least = LeastBits(groups, participants);
             least > WholeBudget(groups, budget))
    {
        reason << participants << " devices need at least " << least
               << " bits a coordinate, but the budget is " << budget << ": "
               << static_cast<double>(least) - budget << " bits too few.";
    }
    answer.reason = reason.str();
    if (answer.reason.empty())
    {
        answer.sizes = DoChoose(groups, participants, WholeBudget(groups, budget));
        answer.feasible = true;
    }
    return answer;
}

uint32_t
ClusterSizePolicy::LargestFeasible(const std::vector<ClusterGroup>& groups,
                                   uint32_t participants,
                                   double budget)
{
    // Called for many numbers of participants in turn: no text is made here.
    if (!AreValid(groups, budget) || participants < groups.size())
    {
        return 0;
    }
    uint64_t bitsLeft = WholeBudget(groups, budget);
    const uint64_t least = BitsOfOneEach(groups);
    if (least > bitsLeft)
    {
        return 0;
    }
    bitsLeft -= least;
    uint64_t largest = groups.size();
    for (const auto& [devices, wireBits] : CheapestFirst(groups))
    {
        const uint64_t taken = std::min({devices, bitsLeft / wireBits, participants - largest});
        largest += taken;
        bitsLeft -= taken * wireBits;
    }
    return static_cast<uint32_t>(largest);
}

int64_t
ClusterSizePolicy::AssignStreams(int64_t stream)
{
    return DoAssignStreams(stream);
}

int64_t
ClusterSizePolicy::DoAssignStreams(int64_t)
{
    return 0;
}

} // namespace ns3
