// SPDX-License-Identifier: GPL-2.0-only

#include "privacy-ledger.h"

#include "ns3/abort.h"

#include <cmath>
#include <limits>

namespace ns3
{

const char*
GetPrivacyEpsilonName(PrivacyEpsilon epsilon)
{
    switch (epsilon)
    {
    case EPSILON_BASIC:
        return "basic";
    case EPSILON_ZCDP:
        return "zcdp";
    case EPSILON_SAME_CELL:
        return "same-cell";
    case EPSILON_SAMPLED:
        return "sampled";
    }
    return "none";
}

PrivacyLedger::PrivacyLedger(double delta)
{
    SetDelta(delta);
}

void
PrivacyLedger::SetDelta(double delta)
{
    NS_ABORT_MSG_UNLESS(delta > 0 && delta < 1,
                        "PrivacyLedger: delta is " << delta << ", not between 0 and 1");
    m_delta = delta;
}

double
PrivacyLedger::GetDelta() const
{
    return m_delta;
}

void
PrivacyLedger::Enter(const PrivacyClaim& claim, std::size_t dimension, double samplingRate)
{
    constexpr double UNBOUNDED = std::numeric_limits<double>::infinity();
    const double count =
        claim.scope == PrivacyClaim::COORDINATE ? static_cast<double>(dimension) : 1;
    const bool isTrue = claim.kind == PrivacyClaim::TRUE_EPSILON;
    const double epsilon = count * claim.epsilon;
    ++m_answers;
    m_basic += isTrue ? epsilon : UNBOUNDED;
    m_sampled += isTrue ? Amplify(epsilon, samplingRate) : UNBOUNDED;
    const bool hasRho = claim.kind == PrivacyClaim::ZCDP || (isTrue && claim.rho > 0);
    m_rho += hasRho ? count * claim.rho : isTrue ? epsilon * claim.epsilon / 2 : UNBOUNDED;
    m_sameCell += isTrue || claim.kind == PrivacyClaim::SAME_CELL ? epsilon : UNBOUNDED;
}

uint32_t
PrivacyLedger::GetAnswers() const
{
    return m_answers;
}

double
PrivacyLedger::GetEpsilon(PrivacyEpsilon which) const
{
    switch (which)
    {
    case EPSILON_BASIC:
        return m_basic;
    case EPSILON_ZCDP:
        return ToEpsilon(m_rho, m_delta);
    case EPSILON_SAME_CELL:
        return m_sameCell;
    case EPSILON_SAMPLED:
        return m_sampled;
    }
    return std::numeric_limits<double>::infinity();
}

double
PrivacyLedger::GetRho() const
{
    return m_rho;
}

double
PrivacyLedger::ToEpsilon(double rho, double delta)
{
    // Two roots: their product may be beyond the largest double while rho is not.
    return rho + 2 * std::sqrt(rho) * std::sqrt(-std::log(delta));
}

double
PrivacyLedger::ToRho(double epsilon, double delta)
{
    // sqrt(rho) = sqrt(l + epsilon) - sqrt(l), l = ln(1/delta), written without a difference.
    const double length = -std::log(delta);
    const double root = epsilon / (std::sqrt(length + epsilon) + std::sqrt(length));
    return root * root;
}

double
PrivacyLedger::Amplify(double epsilon, double samplingRate)
{
    if (samplingRate >= 1 || !(epsilon > 0))
    {
        return epsilon;
    }
    if (!(samplingRate > 0))
    {
        return 0;
    }
    constexpr double LARGE = 700; // e^709 is about the largest double
    return epsilon <= LARGE ? std::log1p(samplingRate * std::expm1(epsilon))
                            : epsilon + std::log(samplingRate);
}

} // namespace ns3
