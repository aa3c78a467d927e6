// SPDX-License-Identifier: GPL-2.0-only

#include "norm-bound-aggregator.h"

#include "ns3/double.h"

#include <algorithm>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(NormBoundAggregator);

TypeId
NormBoundAggregator::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::NormBoundAggregator")
            .SetParent<UpdateAggregator>()
            .SetGroupName("Federated")
            .AddConstructor<NormBoundAggregator>()
            .AddAttribute("Bound",
                          "C, the largest L2 norm of an update; a longer one is scaled to it.",
                          DoubleValue(1),
                          MakeDoubleAccessor(&NormBoundAggregator::m_bound),
                          MakeDoubleChecker<double>(1e-9, 1e9));
    return tid;
}

void
NormBoundAggregator::DoAggregate(const AggregationBlock& block,
                                 float* aggregate,
                                 double* shares) const
{
    std::vector<double> factors(block.rows.size());
    std::transform(block.rows.begin(),
                   block.rows.end(),
                   factors.begin(),
                   [this](const AggregationRow& row)
                   { return row.norm > m_bound ? row.weight * m_bound / row.norm : row.weight; });
    SumUp(block, factors, aggregate, shares);
}

bool
NormBoundAggregator::DoNeedsNorms() const
{
    return true;
}

} // namespace ns3
