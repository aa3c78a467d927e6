// SPDX-License-Identifier: GPL-2.0-only

#include "sample-fusion.h"

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(SampleFusion);

TypeId
SampleFusion::GetTypeId()
{
    static TypeId tid = TypeId("ns3::SampleFusion")
                            .SetParent<FusionRule>()
                            .SetGroupName("Federated")
                            .AddConstructor<SampleFusion>();
    return tid;
}

double
SampleFusion::DoGetScore(const UpdateQuality& update) const
{
    return IsWeightedBySamples() ? 1 : update.samples;
}

} // namespace ns3
