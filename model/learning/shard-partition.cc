// SPDX-License-Identifier: GPL-2.0-only

#include "shard-partition.h"

#include "ns3/uinteger.h"

#include <algorithm>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(ShardPartition);

TypeId
ShardPartition::GetTypeId()
{
    static TypeId tid = TypeId("ns3::ShardPartition")
                            .SetParent<FederatedPartition>()
                            .SetGroupName("Federated")
                            .AddConstructor<ShardPartition>()
                            .AddAttribute("Shards",
                                          "Shards that each device gets; few are skewed.",
                                          UintegerValue(2),
                                          MakeUintegerAccessor(&ShardPartition::m_shards),
                                          MakeUintegerChecker<uint32_t>(1, 1000000));
    return tid;
}

bool
ShardPartition::DoSplit(const PartitionProblem& problem,
                        FederatedRandom& random,
                        Parts& parts,
                        std::string& error) const
{
    Indices order = problem.order;
    const uint64_t count = uint64_t{problem.devices} * m_shards;
    if (count > order.size())
    {
        error = std::to_string(order.size()) + " samples cannot be cut into " +
                std::to_string(count) + " shards: " + std::to_string(m_shards) + " for each of " +
                std::to_string(problem.devices) + " devices.";
        return false;
    }
    const auto& labels = problem.labels;
    std::stable_sort(order.begin(),
                     order.end(),
                     [&labels](uint32_t a, uint32_t b) { return labels[a] < labels[b]; });
    Parts shards(count);
    HandOut(order,
            GetEqualSizes(static_cast<uint32_t>(order.size()), static_cast<uint32_t>(count)),
            shards);
    random.Shuffle(shards);
    for (std::size_t i = 0; i < shards.size(); ++i)
    {
        auto& part = parts[i / m_shards];
        part.insert(part.end(), shards[i].begin(), shards[i].end());
    }
    return true;
}

} // namespace ns3
