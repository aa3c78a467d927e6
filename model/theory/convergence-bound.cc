// SPDX-License-Identifier: GPL-2.0-only

#include "convergence-bound.h"

#include "ns3/abort.h"

#include <algorithm>
#include <cmath>
#include <sstream>

namespace ns3
{

namespace
{

const double EULER = std::exp(1.0); // the e of (1 + x) <= e^x

/**
 * @param p Parameters.
 * @return the largest learning rate for which the lemmas hold.
 */
double
GetLemmaRateLimit(const ConvergenceBound::Parameters& p)
{
    return std::min({1 / p.mu, 1 / (p.localSteps * p.gamma), p.mu / (p.gamma * p.gamma)});
}

/**
 * @param p Parameters.
 * @return the largest learning rate for which Theorem 1 holds.
 */
double
GetTheoremRateLimit(const ConvergenceBound::Parameters& p)
{
    double devices = 0;  // K
    double selected = 0; // N
    for (const auto& group : p.groups)
    {
        devices += group.devices;
        selected += group.selected;
    }
    const double lMu = p.localSteps * p.mu;
    const double lGamma = p.localSteps * p.gamma;
    return std::min(
        {GetLemmaRateLimit(p),
         1 / lMu,
         lMu / (2 * (lMu * lMu + devices + 4 * p.lambda * selected * lGamma * lGamma))});
}

} // namespace

std::string
ConvergenceBound::Check(const Parameters& p)
{
    std::ostringstream why;
    const auto require = [&why](bool holds, const char* name, double value, const char* rule)
    {
        if (!holds && why.tellp() == 0)
        {
            why << name << " is " << value << ", but must be " << rule << ".";
        }
    };
    const auto isFinite = [](double value) { return std::isfinite(value) && value >= 0; };
    if (p.groups.empty())
    {
        return "There are no groups.";
    }
    for (const auto& group : p.groups)
    {
        require(group.devices >= 1, "g_m (devices of a group)", group.devices, "at least 1");
        require(group.selected >= 1 && group.selected <= group.devices,
                "c_m (selected devices of a group)",
                group.selected,
                "from 1 to the devices of the group");
        require(group.bits >= 1, "b_m (bits of a group)", group.bits, "at least 1");
        require(isFinite(group.sigma2),
                "sigma^2 (noise of a group)",
                group.sigma2,
                "finite and not negative");
    }
    require(p.localSteps >= 1, "L (local steps)", p.localSteps, "at least 1");
    require(isFinite(p.mu) && p.mu > 0, "mu (strong convexity)", p.mu, "finite and positive");
    require(isFinite(p.gamma) && p.gamma >= p.mu,
            "gamma (smoothness)",
            p.gamma,
            "finite and at least mu");
    require(isFinite(p.zeta), "zeta (gradient variance)", p.zeta, "finite and not negative");
    require(isFinite(p.lambda), "Lambda (clipping error)", p.lambda, "finite and not negative");
    require(isFinite(p.dimension) && p.dimension >= 1, "d (dimension)", p.dimension, "at least 1");
    require(isFinite(p.clip) && p.clip > 0, "C (clipping)", p.clip, "finite and positive");
    require(isFinite(p.bias), "vartheta (bias)", p.bias, "finite and not negative");
    if (why.tellp() == 0)
    {
        const double first = 8 / (p.localSteps * p.mu * GetTheoremRateLimit(p));
        require(first < 0x1p53, "t_0 (first round of the theorem)", first, "below 2^53");
    }
    return why.str();
}

ConvergenceBound::ConvergenceBound(const Parameters& parameters)
    : m_parameters(parameters)
{
    NS_ABORT_MSG_IF(!Check(parameters).empty(), Check(parameters));
    for (const auto& group : parameters.groups)
    {
        m_devices += group.devices;
        m_selected += group.selected;
        const double step = parameters.clip / (std::ldexp(1, group.bits) - 1);
        m_distortion += 8 * parameters.dimension * group.selected * step * step;
    }
}

double
ConvergenceBound::GetLearningRate(double t) const
{
    return 8 / (m_parameters.localSteps * m_parameters.mu * t);
}

double
ConvergenceBound::GetLemmaRateLimit() const
{
    return ::ns3::GetLemmaRateLimit(m_parameters);
}

uint64_t
ConvergenceBound::GetFirstRound() const
{
    const double limit = GetTheoremRateLimit(m_parameters);
    const double first = std::ceil(8 / (m_parameters.localSteps * m_parameters.mu * limit));
    // The quotient may have been rounded to the wrong side of a whole number.
    if (GetLearningRate(first - 1) <= limit)
    {
        return static_cast<uint64_t>(first) - 1;
    }
    return static_cast<uint64_t>(first) + (GetLearningRate(first) <= limit ? 0 : 1);
}

double
ConvergenceBound::GetSpread(double eta) const
{
    const auto& p = m_parameters;
    return std::pow(p.localSteps, 3) * std::pow(p.gamma * eta, 2) * p.zeta * EULER;
}

double
ConvergenceBound::BoundQuantization(double eta, double error) const
{
    const auto& p = m_parameters;
    const double lEta = p.localSteps * eta;
    return 4 * p.lambda * m_selected * std::pow(lEta * p.gamma, 2) * error + m_distortion +
           4 * p.lambda * m_devices * eta * eta * (p.localSteps * p.zeta + GetSpread(eta));
}

double
ConvergenceBound::BoundNoise() const
{
    double sum = 0;
    for (const auto& group : m_parameters.groups)
    {
        sum += group.selected * group.sigma2;
    }
    return m_parameters.dimension * sum;
}

double
ConvergenceBound::BoundDrift(double eta, double error) const
{
    const auto& p = m_parameters;
    return (1 + m_devices * eta * eta) * std::pow(1 - p.mu * eta, p.localSteps) * error +
           (1 / m_devices + eta * eta) *
               (std::pow(p.localSteps, 2) * p.zeta + m_devices * GetSpread(eta));
}

double
ConvergenceBound::GetM1(double t) const
{
    const auto& p = m_parameters;
    const double eta = GetLearningRate(t);
    return (1 + m_devices * eta * eta) * std::pow(1 - p.mu * eta, p.localSteps) +
           4 * p.lambda * m_selected * std::pow(eta * p.localSteps * p.gamma, 2);
}

double
ConvergenceBound::GetM2(double t) const
{
    return GetK1() / (t * t) + GetK2() / (t * t * t * t);
}

double
ConvergenceBound::GetDelta() const
{
    const auto& p = m_parameters;
    return std::pow(p.localSteps, 2) * p.zeta / m_devices + m_distortion + BoundNoise() +
           2 * p.bias;
}

double
ConvergenceBound::GetK1() const
{
    const auto& p = m_parameters;
    const double steps = p.localSteps;
    return 64 / (p.mu * p.mu) * p.zeta *
           (1 + steps * p.gamma * p.gamma * EULER + 4 * p.lambda * m_devices / steps);
}

double
ConvergenceBound::GetK2() const
{
    const auto& p = m_parameters;
    return 4096 / (p.localSteps * std::pow(p.mu, 4)) * (1 + 4 * p.lambda) * m_devices * p.gamma *
           p.gamma * p.zeta * EULER;
}

double
ConvergenceBound::Recursion(double error, uint64_t t) const
{
    for (uint64_t round = GetFirstRound(); round < t; ++round)
    {
        const auto r = static_cast<double>(round);
        error = GetM1(r) * error + GetM2(r) + GetDelta();
    }
    return error;
}

double
ConvergenceBound::Theorem(double error, uint64_t t) const
{
    const auto r = static_cast<double>(t);
    return static_cast<double>(GetFirstRound()) / r * error + GetK1() / r + GetK2() / (r * r * r) +
           (r - 4) * GetDelta();
}

} // namespace ns3
