// SPDX-License-Identifier: GPL-2.0-only

#include "random-selection.h"

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(RandomSelection);

TypeId
RandomSelection::GetTypeId()
{
    static TypeId tid = TypeId("ns3::RandomSelection")
                            .SetParent<SelectionPolicy>()
                            .SetGroupName("Federated")
                            .AddConstructor<RandomSelection>();
    return tid;
}

std::vector<uint32_t>
RandomSelection::DoSelect(const SelectionContext& context,
                          const std::vector<SelectionCandidate>& candidates)
{
    std::vector<uint32_t> devices;
    devices.reserve(candidates.size());
    for (const SelectionCandidate& candidate : candidates)
    {
        devices.push_back(candidate.device);
    }
    context.MakeRandom().Shuffle(devices);
    devices.resize(context.count);
    return devices;
}

} // namespace ns3
