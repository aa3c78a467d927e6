// SPDX-License-Identifier: GPL-2.0-only

#include "mean-aggregator.h"

#include <algorithm>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(MeanAggregator);

TypeId
MeanAggregator::GetTypeId()
{
    static TypeId tid = TypeId("ns3::MeanAggregator")
                            .SetParent<UpdateAggregator>()
                            .SetGroupName("Federated")
                            .AddConstructor<MeanAggregator>();
    return tid;
}

void
MeanAggregator::DoAggregate(const AggregationBlock& block, float* aggregate, double* shares) const
{
    std::vector<double> factors(block.rows.size());
    std::transform(block.rows.begin(),
                   block.rows.end(),
                   factors.begin(),
                   [](const AggregationRow& row) { return row.weight; });
    SumUp(block, factors, aggregate, shares);
}

bool
MeanAggregator::DoIsWeightedMean() const
{
    return true;
}

} // namespace ns3
