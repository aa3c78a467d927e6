// SPDX-License-Identifier: GPL-2.0-only

#include "link-noise.h"

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
LinkNoise::GetVariance(uint32_t device, uint32_t group, double snr, double meanSquare) const
{
    return DoGetVariance(device, group, snr, meanSquare);
}

bool
LinkNoise::DependsOnSnr() const
{
    return DoDependsOnSnr();
}

bool
LinkNoise::DoDependsOnSnr() const
{
    return false;
}

} // namespace ns3
