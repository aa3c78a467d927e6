// SPDX-License-Identifier: GPL-2.0-only

#include "identity-quantizer.h"

#include <limits>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(IdentityQuantizer);

TypeId
IdentityQuantizer::GetTypeId()
{
    static TypeId tid = TypeId("ns3::IdentityQuantizer")
                            .SetParent<FloatQuantizer>()
                            .SetGroupName("Federated")
                            .AddConstructor<IdentityQuantizer>();
    return tid;
}

bool
IdentityQuantizer::DoClamps() const
{
    return false; // floats of any size are sent
}

const float*
IdentityQuantizer::DoMakeFloats(const float* values,
                                std::size_t,
                                const LevelGrid&,
                                FederatedRandom&,
                                float*) const
{
    return values;
}

double
IdentityQuantizer::DoGetDistortion(const float*, std::size_t, const LevelGrid&) const
{
    return 0;
}

double
IdentityQuantizer::DoGetCellDistortion(const LevelGrid&) const
{
    return 0;
}

double
IdentityQuantizer::DoGetReach(double largest, const LevelGrid&) const
{
    return largest;
}

double
IdentityQuantizer::DoGetPrivacyLoss(float, float, const LevelGrid&) const
{
    return std::numeric_limits<double>::infinity();
}

PrivacyClaim
IdentityQuantizer::DoGetPrivacyClaim(const PrivacyContext&) const
{
    return PrivacyClaim::None("Updates are sent as they are.");
}

} // namespace ns3
