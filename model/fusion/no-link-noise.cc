// SPDX-License-Identifier: GPL-2.0-only

#include "no-link-noise.h"

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(NoLinkNoise);

TypeId
NoLinkNoise::GetTypeId()
{
    static TypeId tid = TypeId("ns3::NoLinkNoise")
                            .SetParent<LinkNoise>()
                            .SetGroupName("Federated")
                            .AddConstructor<NoLinkNoise>();
    return tid;
}

double
NoLinkNoise::DoGetVariance(uint32_t, uint32_t, double, double) const
{
    return 0;
}

} // namespace ns3
