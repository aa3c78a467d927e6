// SPDX-License-Identifier: GPL-2.0-only

#include "round-robin-selection.h"

#include <algorithm>
#include <utility>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(RoundRobinSelection);

TypeId
RoundRobinSelection::GetTypeId()
{
    static TypeId tid = TypeId("ns3::RoundRobinSelection")
                            .SetParent<SelectionPolicy>()
                            .SetGroupName("Federated")
                            .AddConstructor<RoundRobinSelection>();
    return tid;
}

std::vector<uint32_t>
RoundRobinSelection::DoSelect(const SelectionContext& context,
                              const std::vector<SelectionCandidate>& candidates)
{
    std::vector<std::pair<uint32_t, uint32_t>> turns; // place in the queue, device
    turns.reserve(candidates.size());
    for (const SelectionCandidate& candidate : candidates)
    {
        turns.emplace_back(SelectionCandidate::NEVER - candidate.roundsSinceAsked,
                           candidate.device);
    }
    std::nth_element(turns.begin(), turns.begin() + context.count, turns.end());
    std::vector<uint32_t> devices;
    for (uint32_t i = 0; i < context.count; ++i)
    {
        devices.push_back(turns[i].second);
    }
    return devices;
}

} // namespace ns3
