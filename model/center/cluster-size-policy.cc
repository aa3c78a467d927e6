// SPDX-License-Identifier: GPL-2.0-only

#include "cluster-size-policy.h"

#include "cluster-capacity.h"

#include <cmath>
#include <sstream>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(ClusterSizePolicy);

namespace
{

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
    const federated::ClusterCapacity capacity(groups);
    const uint64_t devices = capacity.GetDevices();
    const uint64_t whole = capacity.GetWholeBudget(budget);
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
    else if (const uint64_t least = capacity.GetLeastBits(participants); least > whole)
    {
        reason << participants << " devices need at least " << least
               << " bits a coordinate, but the budget is " << budget << ": "
               << static_cast<double>(least) - budget << " bits too few.";
    }
    answer.reason = reason.str();
    if (answer.reason.empty())
    {
        answer.sizes = DoChoose(groups, participants, whole);
        answer.feasible = true;
    }
    return answer;
}

uint32_t
ClusterSizePolicy::LargestFeasible(const std::vector<ClusterGroup>& groups,
                                   uint32_t participants,
                                   double budget)
{
    return federated::ClusterCapacity(groups).GetLargest(participants, budget);
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
