// SPDX-License-Identifier: GPL-2.0-only

#include "cluster-capacity.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace ns3::federated
{

ClusterCapacity::ClusterCapacity(const std::vector<ClusterGroup>& groups)
    : m_isValid(!groups.empty() && std::all_of(groups.begin(),
                                               groups.end(),
                                               [](const ClusterGroup& group)
                                               {
                                                   return group.devices > 0 && group.bits > 0 &&
                                                          group.wireBits > 0 && group.sigma2 >= 0 &&
                                                          !std::isinf(group.sigma2);
                                               })),
      m_corners{{groups.size(), 0, 0}}
{
    std::vector<const ClusterGroup*> order;
    for (const ClusterGroup& group : groups)
    {
        m_corners[0].bits += group.wireBits;
        order.push_back(&group);
    }
    std::sort(order.begin(),
              order.end(),
              [](const auto* a, const auto* b) { return a->wireBits < b->wireBits; });
    for (const ClusterGroup* group : order)
    {
        if (group->devices > 1)
        {
            Corner& last = m_corners.back();
            const uint64_t further = group->devices - 1;
            last.wireBits = group->wireBits;
            m_corners.push_back({last.devices + further, last.bits + further * group->wireBits, 0});
        }
    }
}

uint64_t
ClusterCapacity::GetDevices() const
{
    return m_corners.back().devices;
}

uint64_t
ClusterCapacity::GetWholeBudget(double budget) const
{
    const uint64_t all = m_corners.back().bits;
    return budget < static_cast<double>(all) ? static_cast<uint64_t>(budget) : all;
}

uint64_t
ClusterCapacity::GetLeastBits(uint64_t participants) const
{
    const auto next = std::upper_bound(m_corners.begin() + 1,
                                       m_corners.end(),
                                       participants,
                                       [](uint64_t devices, const Corner& corner)
                                       { return devices < corner.devices; });
    const Corner& corner = *std::prev(next);
    return corner.bits + (participants - corner.devices) * corner.wireBits;
}

uint32_t
ClusterCapacity::GetLargest(uint32_t participants, double budget) const
{
    if (!m_isValid || !(budget >= 0) || participants < m_corners[0].devices)
    {
        return 0;
    }
    const uint64_t bits = GetWholeBudget(budget);
    if (m_corners[0].bits > bits)
    {
        return 0;
    }
    const auto next =
        std::upper_bound(m_corners.begin(),
                         m_corners.end(),
                         bits,
                         [](uint64_t left, const Corner& corner) { return left < corner.bits; });
    const Corner& corner = *std::prev(next);
    const uint64_t more = corner.wireBits > 0 ? (bits - corner.bits) / corner.wireBits : 0;
    return static_cast<uint32_t>(std::min<uint64_t>(corner.devices + more, participants));
}

} // namespace ns3::federated
