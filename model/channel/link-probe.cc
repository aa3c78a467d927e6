// SPDX-License-Identifier: GPL-2.0-only

#include "link-probe.h"

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(LinkProbe);

TypeId
LinkProbe::GetTypeId()
{
    static TypeId tid = TypeId("ns3::LinkProbe").SetParent<Object>().SetGroupName("Federated");
    return tid;
}

void
LinkProbe::BeginRound(uint32_t round)
{
    DoBeginRound(round);
}

LinkQuality
LinkProbe::GetQuality(uint32_t device) const
{
    return DoGetQuality(device);
}

void
LinkProbe::DoBeginRound(uint32_t)
{
}

} // namespace ns3
