// SPDX-License-Identifier: GPL-2.0-only

#include "random-cluster-sizes.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(RandomClusterSizes);

TypeId
RandomClusterSizes::GetTypeId()
{
    static TypeId tid = TypeId("ns3::RandomClusterSizes")
                            .SetParent<ClusterSizePolicy>()
                            .SetGroupName("Federated")
                            .AddConstructor<RandomClusterSizes>();
    return tid;
}

RandomClusterSizes::RandomClusterSizes()
    : m_uniform(CreateObject<UniformRandomVariable>())
{
}

RandomClusterSizes::~RandomClusterSizes() = default;

int64_t
RandomClusterSizes::DoAssignStreams(int64_t stream)
{
    m_uniform->SetStream(stream);
    return 1;
}

uint64_t
RandomClusterSizes::GetTrials() const
{
    return m_trials;
}

double
RandomClusterSizes::Mean(const Marginal& marginal)
{
    const double count = marginal.limit;
    const double slope = -std::fabs(marginal.tilt);
    // Distance from the likelier end of 1..limit.
    double distance;
    if (-slope * count < 1e-4)
    {
        distance = (count - 1) / 2 + slope * (count * count - 1) / 12;
    }
    else
    {
        distance = 1 / std::expm1(-slope) - count / std::expm1(-slope * count);
    }
    return marginal.tilt < 0 ? 1 + distance : count - distance;
}

uint32_t
RandomClusterSizes::Draw(const Marginal& marginal)
{
    const double slope = -std::fabs(marginal.tilt);
    const double u = m_uniform->GetValue(0, 1);
    double distance;
    if (-slope * marginal.limit < 1e-12)
    {
        distance = u * marginal.limit;
    }
    else
    {
        distance = std::log1p(u * std::expm1(slope * marginal.limit)) / slope;
    }
    const auto steps = std::min(static_cast<uint32_t>(distance), marginal.limit - 1);
    return marginal.tilt < 0 ? 1 + steps : marginal.limit - steps;
}

double
RandomClusterSizes::Tilt(double lambda)
{
    const auto [least, most] =
        std::minmax_element(m_marginals.begin(),
                            m_marginals.end(),
                            [](const auto& a, const auto& b) { return a.wireBits < b.wireBits; });
    // Beyond this margin the expected distance from the ends of all ranges is below one device.
    const double margin = std::log(2.0 * m_marginals.size()) + 1;
    double low = lambda * least->wireBits - margin;
    double high = lambda * most->wireBits + margin;
    double bits = 0;
    for (int step = 0; step < 50; ++step)
    {
        const double kappa = (low + high) / 2;
        double devices = 0;
        bits = 0;
        for (auto& marginal : m_marginals)
        {
            marginal.tilt = kappa - lambda * marginal.wireBits;
            const double mean = Mean(marginal);
            devices += mean;
            bits += mean * marginal.wireBits;
        }
        (devices < m_participants ? low : high) = kappa;
    }
    return bits;
}

void
RandomClusterSizes::Prepare(const std::vector<ClusterGroup>& groups,
                            uint32_t participants,
                            uint64_t budget)
{
    m_participants = participants;
    m_budget = budget;
    m_marginals.clear();
    const auto most = static_cast<uint32_t>(participants - groups.size() + 1);
    for (const auto& group : groups)
    {
        m_marginals.push_back({std::min(group.devices, most), group.wireBits, 0});
    }

    // The bits of all vectors with N devices are equal modulo the common divisor of the
    // differences.
    uint64_t divisor = 0;
    for (const auto& group : groups)
    {
        divisor = std::gcd(divisor,
                           std::max(group.wireBits, groups[0].wireBits) -
                               std::min(group.wireBits, groups[0].wireBits));
    }
    const uint64_t sum = uint64_t{participants} * groups[0].wireBits;
    m_reach =
        divisor == 0 ? sum : budget - ((budget % divisor) + divisor - sum % divisor) % divisor;

    m_lambda = 0;
    if (divisor > 0 && Tilt(0) > static_cast<double>(m_reach))
    {
        // Half a step above the budget: an attainable mean even if only one vector fits.
        const double target = static_cast<double>(m_reach) + 0.5 * static_cast<double>(divisor);
        double high = 1e-6;
        for (; high < 1e3 && Tilt(high) > target; high *= 2)
        {
            m_lambda = high;
        }
        for (int step = 0; step < 20; ++step)
        {
            const double middle = (m_lambda + high) / 2;
            (Tilt(middle) > target ? m_lambda : high) = middle;
        }
    }
    Tilt(m_lambda);

    // The other groups determine the last one: take the one whose largest probability is least.
    double smallest = 2;
    for (std::size_t m = 0; m < m_marginals.size(); ++m)
    {
        const double slope = -std::fabs(m_marginals[m].tilt);
        const double count = m_marginals[m].limit;
        const double mode =
            -slope * count < 1e-12 ? 1 / count : std::expm1(slope) / std::expm1(slope * count);
        if (mode < smallest)
        {
            smallest = mode;
            m_last = m;
        }
    }
}

std::vector<uint32_t>
RandomClusterSizes::DoChoose(const std::vector<ClusterGroup>& groups,
                             uint32_t participants,
                             uint64_t budget)
{
    const auto most = static_cast<uint32_t>(participants - groups.size() + 1);
    const bool prepared = participants == m_participants && budget == m_budget &&
                          std::equal(groups.begin(),
                                     groups.end(),
                                     m_marginals.begin(),
                                     m_marginals.end(),
                                     [most](const auto& group, const auto& marginal) {
                                         return std::min(group.devices, most) == marginal.limit &&
                                                group.wireBits == marginal.wireBits;
                                     });
    if (!prepared)
    {
        Prepare(groups, participants, budget);
    }

    std::vector<uint32_t> sizes(groups.size());
    const Marginal& last = m_marginals[m_last];
    while (true)
    {
        ++m_trials;
        uint64_t devices = 0;
        uint64_t bits = 0;
        for (std::size_t m = 0; m < sizes.size(); ++m)
        {
            if (m != m_last)
            {
                sizes[m] = Draw(m_marginals[m]);
                devices += sizes[m];
                bits += uint64_t{sizes[m]} * m_marginals[m].wireBits;
            }
        }
        if (devices >= participants || participants - devices > last.limit)
        {
            continue;
        }
        sizes[m_last] = static_cast<uint32_t>(participants - devices);
        bits += uint64_t{sizes[m_last]} * last.wireBits;
        if (bits > m_reach)
        {
            continue;
        }
        const double distance = last.tilt < 0 ? sizes[m_last] - 1.0 : last.limit - sizes[m_last];
        const double keep =
            std::fabs(last.tilt) * distance + m_lambda * static_cast<double>(m_reach - bits);
        if (m_uniform->GetValue(0, 1) < std::exp(-keep))
        {
            return sizes;
        }
    }
}

} // namespace ns3
