// SPDX-License-Identifier: GPL-2.0-only

#include "dirichlet-sizes.h"

#include <boost/random/gamma_distribution.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace ns3::federated
{

std::vector<uint32_t>
DirichletSizes::Draw(uint32_t items, uint32_t parts, double alpha, FederatedRandom& random)
{
    boost::random::gamma_distribution<double> gamma(alpha);
    std::vector<double> shares(parts);
    for (double& share : shares)
    {
        share = gamma(random);
    }
    double total = std::accumulate(shares.begin(), shares.end(), 0.0);
    if (total < std::numeric_limits<double>::min())
    {
        // Every share underflowed: the limit for small alpha gives everything to one part.
        shares[random.Below(parts)] = 1;
        total = std::accumulate(shares.begin(), shares.end(), 0.0);
    }
    std::vector<uint32_t> sizes(parts);
    double sum = 0;
    uint32_t before = 0;
    for (uint32_t i = 0; i < parts; ++i)
    {
        sum += shares[i];
        const uint32_t end =
            i + 1 == parts ? items : static_cast<uint32_t>(std::llround(items * (sum / total)));
        sizes[i] = end - before;
        before = end;
    }
    return sizes;
}

void
DirichletSizes::FillEmpty(FederatedPartition::Parts& parts)
{
    for (auto& part : parts)
    {
        if (part.empty())
        {
            auto& largest =
                *std::max_element(parts.begin(),
                                  parts.end(),
                                  [](const auto& a, const auto& b) { return a.size() < b.size(); });
            part.push_back(largest.back());
            largest.pop_back();
        }
    }
}

} // namespace ns3::federated
