// SPDX-License-Identifier: GPL-2.0-only

#include "snr-link-noise.h"

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(SnrLinkNoise);

TypeId
SnrLinkNoise::GetTypeId()
{
    static TypeId tid = TypeId("ns3::SnrLinkNoise")
                            .SetParent<LinkNoise>()
                            .SetGroupName("Federated")
                            .AddConstructor<SnrLinkNoise>();
    return tid;
}

double
SnrLinkNoise::DoGetVariance(uint32_t, uint32_t, double snr, double meanSquare) const
{
    return meanSquare == 0 ? 0 : meanSquare / snr; // all values are 0: no noise at any SNR
}

bool
SnrLinkNoise::DoDependsOnSnr() const
{
    return true;
}

} // namespace ns3
