// SPDX-License-Identifier: GPL-2.0-only

#include "label-partition.h"

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(LabelPartition);

TypeId
LabelPartition::GetTypeId()
{
    static TypeId tid = TypeId("ns3::LabelPartition")
                            .SetParent<FederatedPartition>()
                            .SetGroupName("Federated")
                            .AddConstructor<LabelPartition>();
    return tid;
}

bool
LabelPartition::DoSplit(const PartitionProblem& problem,
                        FederatedRandom& random,
                        Parts& parts,
                        std::string& error) const
{
    const auto byLabel = ListByLabel(problem);
    const auto& groups = problem.groups;
    uint32_t device = 0;
    for (std::size_t group = 0; group < groups.size(); ++group)
    {
        Indices members;
        for (std::size_t label = group * byLabel.size() / groups.size();
             label < (group + 1) * byLabel.size() / groups.size();
             ++label)
        {
            members.insert(members.end(), byLabel[label].begin(), byLabel[label].end());
        }
        const auto size = static_cast<uint32_t>(members.size());
        if (groups[group] == 0 || size < groups[group])
        {
            error = "Group " + std::to_string(group) + " has " + std::to_string(groups[group]) +
                    " devices for the " + std::to_string(size) + " samples of its labels.";
            return false;
        }
        random.Shuffle(members);
        HandOut(members, GetEqualSizes(size, groups[group]), parts, device);
        device += groups[group];
    }
    return true;
}

} // namespace ns3
