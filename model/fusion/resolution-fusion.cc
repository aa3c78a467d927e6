// SPDX-License-Identifier: GPL-2.0-only

#include "resolution-fusion.h"

#include <cmath>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(ResolutionFusion);

TypeId
ResolutionFusion::GetTypeId()
{
    static TypeId tid = TypeId("ns3::ResolutionFusion")
                            .SetParent<FusionRule>()
                            .SetGroupName("Federated")
                            .AddConstructor<ResolutionFusion>();
    return tid;
}

double
ResolutionFusion::DoGetScore(const UpdateQuality& update) const
{
    return std::exp2(update.bits) - 1;
}

} // namespace ns3
