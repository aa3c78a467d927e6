// SPDX-License-Identifier: GPL-2.0-only

#include "median-aggregator.h"

#include "trimmed-average.h"

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(MedianAggregator);

TypeId
MedianAggregator::GetTypeId()
{
    static TypeId tid = TypeId("ns3::MedianAggregator")
                            .SetParent<UpdateAggregator>()
                            .SetGroupName("Federated")
                            .AddConstructor<MedianAggregator>();
    return tid;
}

void
MedianAggregator::DoAggregate(const AggregationBlock& block, float* aggregate, double* shares) const
{
    federated::TakeMedian(block, aggregate, shares);
}

} // namespace ns3
