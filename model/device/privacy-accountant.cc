// SPDX-License-Identifier: GPL-2.0-only

#include "privacy-accountant.h"

#include <cctype>
#include <cmath>
#include <sstream>

namespace ns3::federated
{

void
PrivacyAccountant::SetDelta(double delta)
{
    m_ledger.SetDelta(delta);
}

bool
PrivacyAccountant::CanAfford(const PrivacyExpense& expense, const PrivacyLimit& limit) const
{
    if (limit.epsilon == 0)
    {
        return true;
    }
    // A budget for n rounds must last for n rounds despite rounding.
    constexpr double ROUNDING = 1e-9;
    PrivacyLedger ledger = m_ledger;
    ledger.Enter(expense.claim, expense.dimension, expense.samplingRate);
    return ledger.GetEpsilon(limit.of) <= limit.epsilon * (1 + ROUNDING);
}

void
PrivacyAccountant::Spend(const PrivacyExpense& expense)
{
    m_ledger.Enter(expense.claim, expense.dimension, expense.samplingRate);
}

bool
PrivacyAccountant::CheckLimit(const PrivacyClaim& claim,
                              unsigned bits,
                              const PrivacyLimit& limit,
                              std::string& error)
{
    if (limit.epsilon == 0 || std::isinf(limit.epsilon))
    {
        return true;
    }
    PrivacyLedger one;
    one.Enter(claim, 1, 1);
    if (std::isfinite(one.GetEpsilon(limit.of)))
    {
        return true;
    }
    std::string reason = claim.kind == PrivacyClaim::ZCDP ? "it has a rho of zCDP." : claim.reason;
    reason[0] = static_cast<char>(std::tolower(reason[0]));
    std::ostringstream text;
    text << "PrivacyBudget limits the " << GetPrivacyEpsilonName(limit.of)
         << " epsilon, which an update of " << bits << " bits does not have: " << reason;
    error = text.str();
    return false;
}

} // namespace ns3::federated
