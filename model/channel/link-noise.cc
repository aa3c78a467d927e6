// SPDX-License-Identifier: GPL-2.0-only

#include "link-noise.h"

#include <limits>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(LinkNoise);

TypeId
LinkNoise::GetTypeId()
{
    static TypeId tid = TypeId("ns3::LinkNoise").SetParent<Object>().SetGroupName("Federated");
    return tid;
}

double
LinkNoise::GetVariance(uint32_t device,
                       uint32_t group,
                       const LinkQuality& quality,
                       double meanSquare) const
{
    return DoGetVariance(device, group, quality, meanSquare);
}

double
LinkNoise::GetExpectedVariance(uint32_t device, uint32_t group, const LinkQuality& quality) const
{
    return DoGetExpectedVariance(device, group, quality);
}

double
LinkNoise::DoGetExpectedVariance(uint32_t device, uint32_t group, const LinkQuality& quality) const
{
    return DoGetVariance(device, group, quality, std::numeric_limits<double>::quiet_NaN());
}

} // namespace ns3
