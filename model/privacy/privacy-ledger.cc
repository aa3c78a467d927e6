// SPDX-License-Identifier: GPL-2.0-only

#include "privacy-ledger.h"

#include "privacy-conversion.h"

#include "ns3/abort.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ns3
{

namespace
{

constexpr double UNBOUNDED = std::numeric_limits<double>::infinity();

} // namespace

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
    m_approximate = ComputeApproximate();
}

double
PrivacyLedger::GetDelta() const
{
    return m_delta;
}

void
PrivacyLedger::Enter(const PrivacyClaim& claim, std::size_t dimension, double samplingRate)
{
    const double count =
        claim.scope == PrivacyClaim::COORDINATE ? static_cast<double>(dimension) : 1;
    const bool isTrue = claim.kind == PrivacyClaim::TRUE_EPSILON;
    const double epsilon = count * claim.epsilon;
    ++m_answers;
    m_basic += isTrue ? epsilon : UNBOUNDED;
    m_sampled += isTrue ? Amplify(epsilon, samplingRate) : UNBOUNDED;
    m_sameCell += isTrue || claim.kind == PrivacyClaim::SAME_CELL ? epsilon : UNBOUNDED;
    double rho = claim.kind == PrivacyClaim::ZCDP ? count * claim.rho : UNBOUNDED;
    if (isTrue)
    {
        rho = count * (claim.rho > 0 ? claim.rho : PrivacyConversion::EpsilonToRho(claim.epsilon));
        rho = claim.updateRho > 0 ? std::min(rho, claim.updateRho) : rho;
    }
    m_rho += rho;
    AddCost({isTrue ? claim.epsilon : UNBOUNDED, count, rho, 1});
    m_approximate = ComputeApproximate();
}

void
PrivacyLedger::AddCost(const Cost& cost)
{
    constexpr std::size_t ROOM = 16; // updates of a device hardly ever have so many costs
    const auto same = std::find_if(m_costs.begin(),
                                   m_costs.end(),
                                   [&cost](const Cost& other) {
                                       return other.epsilon == cost.epsilon &&
                                              other.steps == cost.steps && other.rho == cost.rho;
                                   });
    if (same != m_costs.end())
    {
        same->updates += cost.updates;
    }
    else if (m_costs.size() < ROOM)
    {
        m_costs.push_back(cost);
    }
    else
    {
        m_otherRho += cost.rho * cost.updates;
    }
}

double
PrivacyLedger::ComputeApproximate() const
{
    if (std::isinf(m_rho) || !(m_rho > 0))
    {
        return std::min(m_basic, m_rho);
    }
    const auto curve = [this](double alpha)
    {
        double divergence = m_otherRho * alpha;
        for (const Cost& cost : m_costs)
        {
            // Both bound the divergence of an update.
            double least = cost.rho * alpha;
            if (std::isfinite(cost.epsilon))
            {
                least = std::min(
                    least, cost.steps * PrivacyConversion::ResponseToRenyi(cost.epsilon, alpha));
            }
            divergence += cost.updates * least;
        }
        return divergence;
    };
    double epsilon = std::min(m_basic, PrivacyConversion::RenyiToEpsilon(curve, m_rho, m_delta));
    double steps = 0;
    bool isHomogeneous = std::isfinite(m_basic) && m_otherRho == 0;
    for (const Cost& cost : m_costs)
    {
        isHomogeneous = isHomogeneous && cost.epsilon == m_costs[0].epsilon;
        steps += cost.steps * cost.updates;
    }
    if (isHomogeneous)
    {
        epsilon = std::min(
            epsilon, PrivacyConversion::ResponsesToEpsilon(steps, m_costs[0].epsilon, m_delta));
    }
    return epsilon;
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
        return m_approximate;
    case EPSILON_SAME_CELL:
        return m_sameCell;
    case EPSILON_SAMPLED:
        return m_sampled;
    }
    return UNBOUNDED;
}

double
PrivacyLedger::GetRho() const
{
    return m_rho;
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
