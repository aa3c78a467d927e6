// SPDX-License-Identifier: GPL-2.0-only

#include "segment-aggregation.h"

#include <algorithm>

namespace ns3::federated
{

SegmentAggregation::SegmentAggregation(const UpdateAggregator& aggregator,
                                       const LinkNoiseDraws& draws,
                                       const std::vector<DeliveredUpdate>& updates,
                                       std::size_t dimension)
    : m_aggregator(aggregator),
      m_draws(draws),
      m_updates(updates),
      m_dimension(dimension),
      m_norms(updates.size())
{
    m_received.reserve(updates.size());
    for (const DeliveredUpdate& update : updates)
    {
        m_received.emplace_back(draws, update.device);
    }
}

void
SegmentAggregation::Aggregate(const std::vector<SegmentRow>& rows,
                              std::size_t begin,
                              std::size_t end,
                              float* model,
                              std::vector<double>& weights)
{
    constexpr std::size_t CAPACITY = AggregationBlock::CAPACITY;
    m_values.assign(rows.size() * CAPACITY, 0); // missing coordinates stay zero
    m_shares.resize(rows.size());
    m_block.rows.resize(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i)
    {
        AggregationRow& row = m_block.rows[i];
        row.device = m_updates[rows[i].index].device;
        row.weight = rows[i].weight;
        row.deliveredFraction = rows[i].deliveredFraction;
        row.isDelivered = rows[i].share.has_value();
        row.values = &m_values[i * CAPACITY];
        if (m_aggregator.NeedsNorms())
        {
            row.norm = GetNorm(rows[i].index);
        }
    }
    for (m_block.begin = begin; m_block.begin < end; m_block.begin += m_block.count)
    {
        m_block.count = std::min(end - m_block.begin, CAPACITY);
        for (std::size_t i = 0; i < rows.size(); ++i)
        {
            if (rows[i].share)
            {
                m_received[rows[i].index].Read(
                    *rows[i].share, begin, m_block.begin, m_block.count, &m_values[i * CAPACITY]);
            }
        }
        float aggregate[CAPACITY];
        m_aggregator.Aggregate(m_block, aggregate, m_shares.data());
        for (std::size_t i = 0; i < m_block.count; ++i)
        {
            model[m_block.begin + i] += aggregate[i];
        }
        for (std::size_t i = 0; i < rows.size(); ++i)
        {
            weights[rows[i].index] += rows[i].share ? m_shares[i] : 0;
        }
    }
}

double
SegmentAggregation::GetNorm(std::size_t index)
{
    if (!m_norms[index])
    {
        m_norms[index] = EstimateNorm(m_draws, m_updates[index], m_dimension);
    }
    return *m_norms[index];
}

} // namespace ns3::federated
