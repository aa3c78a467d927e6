// SPDX-License-Identifier: GPL-2.0-only

#include "federated-privacy-totals.h"

#include "federated-ranks.h"
#include "federated-trace-writer.h"

#include <algorithm>
#include <cmath>

namespace ns3
{

void
FederatedPrivacyTotals::Add(const FederatedTraceWriter& traces)
{
    if (traces.GetMostAnswers() == 0)
    {
        return; // nobody lost anything
    }
    m_answers = std::max<double>(m_answers, traces.GetMostAnswers());
    for (PrivacyEpsilon which : KINDS)
    {
        const double epsilon = traces.GetLargestEpsilon(which);
        const double largest =
            std::isnan(epsilon) ? std::numeric_limits<double>::infinity() : epsilon;
        const auto known = m_epsilons.find(which);
        m_epsilons[which] = known == m_epsilons.end() ? largest : std::max(largest, known->second);
    }
}

void
FederatedPrivacyTotals::AddOtherRanks()
{
    m_answers = FederatedRanks::GetMax(m_answers);
    for (PrivacyEpsilon which : KINDS)
    {
        const auto known = m_epsilons.find(which);
        const double largest =
            FederatedRanks::GetMax(known == m_epsilons.end() ? std::nan("") : known->second);
        if (!std::isnan(largest))
        {
            m_epsilons[which] = largest;
        }
    }
}

uint64_t
FederatedPrivacyTotals::GetMostAnswers() const
{
    return static_cast<uint64_t>(m_answers);
}

double
FederatedPrivacyTotals::GetLargestEpsilon(PrivacyEpsilon which) const
{
    const auto known = m_epsilons.find(which);
    return known == m_epsilons.end() || std::isinf(known->second) ? std::nan("") : known->second;
}

} // namespace ns3
