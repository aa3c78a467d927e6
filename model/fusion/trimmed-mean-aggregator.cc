// SPDX-License-Identifier: GPL-2.0-only

#include "trimmed-mean-aggregator.h"

#include "trimmed-average.h"

#include "ns3/boolean.h"
#include "ns3/double.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(TrimmedMeanAggregator);

TypeId
TrimmedMeanAggregator::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::TrimmedMeanAggregator")
            .SetParent<UpdateAggregator>()
            .SetGroupName("Federated")
            .AddConstructor<TrimmedMeanAggregator>()
            .AddAttribute("Fraction",
                          "F: of n values floor(F n) are left out at each end, but the one or two "
                          "in the middle never.",
                          DoubleValue(0.1),
                          MakeDoubleAccessor(&TrimmedMeanAggregator::m_fraction),
                          MakeDoubleChecker<double>(0, 0.5))
            .AddAttribute("Weighted",
                          "Whether the others count with the weights of the fusion rule; false: "
                          "all the same, because weights may follow from what devices report.",
                          BooleanValue(false),
                          MakeBooleanAccessor(&TrimmedMeanAggregator::m_weighted),
                          MakeBooleanChecker());
    return tid;
}

void
TrimmedMeanAggregator::DoAggregate(const AggregationBlock& block,
                                   float* aggregate,
                                   double* shares) const
{
    const std::size_t updates = block.rows.size();
    const double cut = m_fraction * static_cast<double>(updates);
    const auto trim = static_cast<std::size_t>(cut + 1e-9); // 0.29 * 100 is below 29
    federated::AverageTrimmed(
        block, std::min(trim, (updates - 1) / 2), GetVotes(block.rows), aggregate, shares);
}

std::vector<float>
TrimmedMeanAggregator::GetVotes(const std::vector<AggregationRow>& rows) const
{
    std::vector<double> votes(rows.size(), 1);
    if (m_weighted)
    {
        double most = 0;
        for (const AggregationRow& row : rows)
        {
            most = std::max(most, row.weight);
        }
        // One that claims to have no error at all leaves no weight to the others, which count where
        // it is left out.
        const double least = most > 0 ? 1e-9 * most : 1;
        std::transform(rows.begin(),
                       rows.end(),
                       votes.begin(),
                       [least](const AggregationRow& row) { return std::max(row.weight, least); });
    }
    const double sum = std::accumulate(votes.begin(), votes.end(), 0.0);
    std::vector<float> normalized(rows.size());
    std::transform(votes.begin(),
                   votes.end(),
                   normalized.begin(),
                   [sum](double vote) { return static_cast<float>(vote / sum); });
    return normalized;
}

} // namespace ns3
