// SPDX-License-Identifier: GPL-2.0-only

#include "coin-audit.h"

#include "ns3/abort.h"

#include <boost/math/special_functions/beta.hpp>

#include <algorithm>
#include <bitset>
#include <cmath>

namespace ns3
{

CoinAudit::CoinAudit(std::size_t bits)
    : m_bits(bits)
{
    NS_ABORT_MSG_IF(bits == 0, "CoinAudit: an update has no bits");
}

void
CoinAudit::Add(const std::vector<uint8_t>& payload)
{
    NS_ABORT_MSG_IF(payload.size() != (m_bits + 7) / 8,
                    "CoinAudit: a payload has " << payload.size() << " bytes, not "
                                                << (m_bits + 7) / 8);
    m_payloads.push_back(payload);
}

std::size_t
CoinAudit::GetUpdates() const
{
    return m_payloads.size();
}

std::size_t
CoinAudit::CountEqual(std::size_t first, std::size_t second) const
{
    std::size_t different = 0;
    for (std::size_t i = 0; i < m_payloads[first].size(); ++i)
    {
        // The bits behind the last level are 0.
        different += std::bitset<8>(m_payloads[first][i] ^ m_payloads[second][i]).count();
    }
    return m_bits - different;
}

CoinAudit::Comparison
CoinAudit::GetWorst() const
{
    NS_ABORT_MSG_IF(m_payloads.size() < 2, "CoinAudit: there are no two updates to compare");
    Comparison worst;
    const auto count = static_cast<double>(m_bits);
    for (std::size_t second = 1; second < m_payloads.size(); ++second)
    {
        for (std::size_t first = 0; first < second; ++first)
        {
            const auto equal = static_cast<double>(CountEqual(first, second));
            const double errors = (2 * equal - count) / std::sqrt(count);
            if (second == 1 || std::abs(errors) > std::abs(worst.standardErrors))
            {
                worst = {first, second, equal / count, errors};
            }
        }
    }
    return worst;
}

bool
CoinAudit::FindsSharedCoins(double alpha) const
{
    const Comparison worst = GetWorst();
    const auto count = static_cast<double>(m_bits);
    const auto updates = static_cast<double>(m_payloads.size());
    // The chance that so many of n fair coins agree, or disagree; for any of the pairs.
    const double most = std::max(worst.agreement, 1 - worst.agreement) * count;
    const double chance = most > 0 ? 2 * boost::math::ibeta(most, count - most + 1, 0.5) : 1;
    return chance * updates * (updates - 1) / 2 < alpha;
}

} // namespace ns3
