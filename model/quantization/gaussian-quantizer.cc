// SPDX-License-Identifier: GPL-2.0-only

#include "gaussian-quantizer.h"

#include "ns3/double.h"

#include <boost/random/normal_distribution.hpp>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(GaussianQuantizer);

TypeId
GaussianQuantizer::GetTypeId()
{
    static TypeId tid = TypeId("ns3::GaussianQuantizer")
                            .SetParent<FloatQuantizer>()
                            .SetGroupName("Federated")
                            .AddConstructor<GaussianQuantizer>()
                            .AddAttribute("Sigma",
                                          "Standard deviation of the noise on a coordinate.",
                                          DoubleValue(1),
                                          MakeDoubleAccessor(&GaussianQuantizer::m_sigma),
                                          MakeDoubleChecker<double>(1e-30));
    return tid;
}

const float*
GaussianQuantizer::DoMakeFloats(const float* values,
                                std::size_t count,
                                const LevelGrid&,
                                FederatedRandom& random,
                                float* buffer) const
{
    boost::random::normal_distribution<double> noise(0, m_sigma);
    for (std::size_t i = 0; i < count; ++i)
    {
        buffer[i] = static_cast<float>(values[i] + noise(random));
    }
    return buffer;
}

double
GaussianQuantizer::DoGetDistortion(const float*, std::size_t count, const LevelGrid&) const
{
    return static_cast<double>(count) * m_sigma * m_sigma;
}

double
GaussianQuantizer::DoGetCellDistortion(const LevelGrid&) const
{
    return m_sigma * m_sigma;
}

PrivacyClaim
GaussianQuantizer::DoGetPrivacyClaim(const PrivacyContext& context) const
{
    if (context.clipNorm != CLIP_L2)
    {
        return PrivacyClaim::None("Without l2 clipping the l2 sensitivity has no bound.",
                                  PrivacyClaim::UPDATE);
    }
    const double ratio = 2 * context.clipBound / m_sigma;
    PrivacyClaim claim;
    claim.kind = PrivacyClaim::ZCDP;
    claim.scope = PrivacyClaim::UPDATE;
    claim.rho = ratio * ratio / 2;
    claim.reason = "Gaussian noise on an l2-clipped update with a public interval.";
    return claim;
}

} // namespace ns3
