// SPDX-License-Identifier: GPL-2.0-only

#include "fixed-link-noise.h"

#include "ns3/abort.h"
#include "ns3/federated-number.h"
#include "ns3/string.h"

#include <algorithm>
#include <limits>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(FixedLinkNoise);

TypeId
FixedLinkNoise::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::FixedLinkNoise")
            .SetParent<LinkNoise>()
            .SetGroupName("Federated")
            .AddConstructor<FixedLinkNoise>()
            .AddAttribute(
                "Sigmas",
                "Standard deviation of the noise on a coordinate, for each group, "
                "separated by commas; the last one also holds for all further groups.",
                StringValue("6.25e-4,0.125"),
                MakeStringAccessor(&FixedLinkNoise::SetSigmas, &FixedLinkNoise::GetSigmas),
                MakeStringChecker());
    return tid;
}

void
FixedLinkNoise::SetSigmas(const std::string& sigmas)
{
    std::vector<double> numbers;
    const bool isList =
        FederatedNumber::ReadReals(sigmas, 0, std::numeric_limits<double>::max(), numbers);
    NS_ABORT_MSG_IF(!isList || numbers.empty(),
                    "FixedLinkNoise: Sigmas is '"
                        << sigmas << "', not a list such as 6.25e-4,0.125 of numbers from 0 on");
    m_text = sigmas;
    m_sigmas = numbers;
}

std::string
FixedLinkNoise::GetSigmas() const
{
    return m_text;
}

double
FixedLinkNoise::DoGetVariance(uint32_t, uint32_t group, double, double) const
{
    const double sigma = m_sigmas[std::min<std::size_t>(group, m_sigmas.size() - 1)];
    return sigma * sigma;
}

} // namespace ns3
