// SPDX-License-Identifier: GPL-2.0-only

#include "federated-partition.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(FederatedPartition);

TypeId
FederatedPartition::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::FederatedPartition").SetParent<Object>().SetGroupName("Federated");
    return tid;
}

bool
FederatedPartition::Split(const std::vector<uint8_t>& labels,
                          const std::vector<uint32_t>& groups,
                          uint64_t seed,
                          Parts& parts,
                          std::string& error) const
{
    parts.clear();
    const uint64_t devices = std::accumulate(groups.begin(), groups.end(), uint64_t{0});
    if (devices == 0)
    {
        error = "The samples cannot be split among 0 devices.";
        return false;
    }
    if (devices > labels.size())
    {
        error = std::to_string(labels.size()) + " samples cannot be split among " +
                std::to_string(devices) + " devices: each needs at least one.";
        return false;
    }
    PartitionProblem problem{labels, groups, static_cast<uint32_t>(devices), {}};
    problem.order.resize(labels.size());
    std::iota(problem.order.begin(), problem.order.end(), 0);
    FederatedRandom random(seed, FederatedRandom::PARTITION);
    random.Shuffle(problem.order);
    Parts result(devices);
    if (!DoSplit(problem, random, result, error))
    {
        return false;
    }
    const std::string mistake = FindMistake(result, labels.size(), problem.devices);
    if (!mistake.empty())
    {
        error = mistake;
        return false;
    }
    parts = std::move(result);
    return true;
}

std::string
FederatedPartition::FindMistake(const Parts& parts, std::size_t samples, uint32_t devices) const
{
    const std::string name = GetInstanceTypeId().GetName();
    if (parts.size() != devices)
    {
        return name + " made " + std::to_string(parts.size()) + " parts for " +
               std::to_string(devices) + " devices.";
    }
    std::vector<bool> isTaken(samples);
    for (uint32_t device = 0; device < devices; ++device)
    {
        const auto tell = [&name, device](const std::string& what)
        { return name + " gave device " + std::to_string(device) + " " + what + "."; };
        if (parts[device].empty())
        {
            return tell("no sample");
        }
        for (uint32_t sample : parts[device])
        {
            if (sample >= samples)
            {
                return tell("sample " + std::to_string(sample) + " of " + std::to_string(samples));
            }
            if (isTaken[sample])
            {
                return tell("sample " + std::to_string(sample) + ", which is already taken");
            }
            isTaken[sample] = true;
        }
    }
    return "";
}

FederatedPartition::Indices
FederatedPartition::GetEqualSizes(uint32_t items, uint32_t parts)
{
    Indices sizes(parts, items / parts);
    std::fill_n(sizes.begin(), items % parts, items / parts + 1);
    return sizes;
}

std::vector<FederatedPartition::Indices>
FederatedPartition::ListByLabel(const PartitionProblem& problem)
{
    const auto& labels = problem.labels;
    std::vector<Indices> byLabel(1 + *std::max_element(labels.begin(), labels.end()));
    for (uint32_t sample : problem.order)
    {
        byLabel[labels[sample]].push_back(sample);
    }
    return byLabel;
}

void
FederatedPartition::HandOut(const Indices& items,
                            const Indices& sizes,
                            Parts& parts,
                            uint32_t firstDevice)
{
    auto next = items.begin();
    for (std::size_t i = 0; i < sizes.size(); ++i)
    {
        auto& part = parts[firstDevice + i];
        part.insert(part.end(), next, next + sizes[i]);
        next += sizes[i];
    }
}

} // namespace ns3
