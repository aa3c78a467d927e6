// SPDX-License-Identifier: GPL-2.0-only

#include "selection-policy.h"

#include "ns3/abort.h"

#include <algorithm>
#include <string>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(SelectionPolicy);

TypeId
SelectionPolicy::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::SelectionPolicy").SetParent<Object>().SetGroupName("Federated");
    return tid;
}

std::vector<uint32_t>
SelectionPolicy::Select(const SelectionContext& context,
                        const std::vector<SelectionCandidate>& candidates)
{
    const std::string name = GetInstanceTypeId().GetName();
    NS_ABORT_MSG_IF(context.count > candidates.size(),
                    name << " is to select " << context.count << " of " << candidates.size()
                         << " devices");
    std::vector<uint32_t> selected;
    if (context.count == candidates.size())
    {
        for (const SelectionCandidate& candidate : candidates)
        {
            selected.push_back(candidate.device);
        }
        return selected;
    }
    selected = DoSelect(context, candidates);
    NS_ABORT_MSG_IF(selected.size() != context.count,
                    name << " selected " << selected.size() << " devices of group " << context.group
                         << " in round " << context.round << ", not " << context.count);
    std::sort(selected.begin(), selected.end());
    auto candidate = candidates.begin();
    for (const uint32_t device : selected)
    {
        candidate = std::find_if(candidate,
                                 candidates.end(),
                                 [device](const SelectionCandidate& other)
                                 { return other.device >= device; });
        NS_ABORT_MSG_IF(candidate == candidates.end() || candidate->device != device,
                        name << " selected device " << device << " of group " << context.group
                             << " in round " << context.round
                             << ", which is not a candidate or was selected twice");
        ++candidate;
    }
    return selected;
}

} // namespace ns3
