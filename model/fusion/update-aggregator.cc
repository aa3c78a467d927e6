// SPDX-License-Identifier: GPL-2.0-only

#include "update-aggregator.h"

#include "ns3/assert.h"

#include <algorithm>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(UpdateAggregator);

TypeId
UpdateAggregator::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::UpdateAggregator").SetParent<Object>().SetGroupName("Federated");
    return tid;
}

void
UpdateAggregator::Aggregate(const AggregationBlock& block, float* aggregate, double* shares) const
{
    NS_ASSERT_MSG(
        !block.rows.empty() && block.count > 0 && block.count <= AggregationBlock::CAPACITY,
        "a block of " << block.rows.size() << " updates and " << block.count << " coordinates");
    DoAggregate(block, aggregate, shares);
}

bool
UpdateAggregator::IsWeightedMean() const
{
    return DoIsWeightedMean();
}

bool
UpdateAggregator::NeedsNorms() const
{
    return DoNeedsNorms();
}

bool
UpdateAggregator::DoIsWeightedMean() const
{
    return false;
}

bool
UpdateAggregator::DoNeedsNorms() const
{
    return false;
}

void
UpdateAggregator::SumUp(const AggregationBlock& block,
                        const std::vector<double>& factors,
                        float* aggregate,
                        double* shares)
{
    std::fill_n(aggregate, block.count, 0.0F);
    for (std::size_t row = 0; row < block.rows.size(); ++row)
    {
        const float* values = block.rows[row].values;
        const auto factor = static_cast<float>(factors[row]);
        for (std::size_t i = 0; i < block.count; ++i)
        {
            aggregate[i] += factor * values[i];
        }
        shares[row] = factors[row] * static_cast<double>(block.count);
    }
}

} // namespace ns3
