// SPDX-License-Identifier: GPL-2.0-only

#include "identity-quantizer.h"

#include "ns3/little-endian.h"

#include <limits>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(IdentityQuantizer);

TypeId
IdentityQuantizer::GetTypeId()
{
    static TypeId tid = TypeId("ns3::IdentityQuantizer")
                            .SetParent<Quantizer>()
                            .SetGroupName("Federated")
                            .AddConstructor<IdentityQuantizer>();
    return tid;
}

unsigned
IdentityQuantizer::DoGetWireBits(unsigned) const
{
    return FLOAT_BITS;
}

bool
IdentityQuantizer::DoEncode(const float* values,
                            std::size_t count,
                            const LevelGrid&,
                            FederatedRandom&,
                            uint8_t* payload,
                            std::size_t first) const
{
    for (std::size_t i = 0; i < count; ++i)
    {
        WriteLittleEndianFloat(values[i], payload + 4 * (first + i));
    }
    return true;
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
IdentityQuantizer::DoGetPrivacyLoss(float, float, const LevelGrid&) const
{
    return std::numeric_limits<double>::infinity();
}

PrivacyClaim
IdentityQuantizer::DoGetPrivacyClaim(const PrivacyContext&) const
{
    PrivacyClaim claim;
    claim.reason = "Updates are sent as they are.";
    return claim;
}

} // namespace ns3
