// SPDX-License-Identifier: GPL-2.0-only

#include "uniform-fusion.h"

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(UniformFusion);

TypeId
UniformFusion::GetTypeId()
{
    static TypeId tid = TypeId("ns3::UniformFusion")
                            .SetParent<FusionRule>()
                            .SetGroupName("Federated")
                            .AddConstructor<UniformFusion>();
    return tid;
}

double
UniformFusion::DoGetScore(const UpdateQuality&) const
{
    return 1;
}

} // namespace ns3
