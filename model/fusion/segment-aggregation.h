// SPDX-License-Identifier: GPL-2.0-only

#ifndef SEGMENT_AGGREGATION_H
#define SEGMENT_AGGREGATION_H

#include "received-values.h"
#include "update-aggregator.h"
#include "update-fusion.h"
#include "update-share.h"

#include <cstddef>
#include <optional>
#include <vector>

namespace ns3::federated
{

/** An update that counts in a segment. */
struct SegmentRow
{
    std::size_t index;                //!< Place of the update among those given.
    double weight;                    //!< omega.
    double deliveredFraction;         //!< Of the whole update.
    std::optional<UpdateShare> share; //!< Decodes it, with weight 1; none: it counts as zeros.
};

/**
 * @brief Decodes the updates of a segment and gives them to an aggregator, block by block.
 */
class SegmentAggregation
{
  public:
    /**
     * @param aggregator Combines the values of a coordinate; must outlive this object.
     * @param draws Seed and round of the link noise.
     * @param updates The updates; must outlive this object.
     * @param dimension d.
     */
    SegmentAggregation(const UpdateAggregator& aggregator,
                       const LinkNoiseDraws& draws,
                       const std::vector<DeliveredUpdate>& updates,
                       std::size_t dimension);

    /**
     * Aggregate a segment. Segments come in ascending order.
     * @param rows The updates that count in it, in ascending order of devices; at least one.
     * @param begin First coordinate.
     * @param end One past the last coordinate.
     * @param [in,out] model The model, to which the aggregate is added.
     * @param [in,out] weights For each update given, its weight in delivered coordinates, summed
     * over them.
     */
    void Aggregate(const std::vector<SegmentRow>& rows,
                   std::size_t begin,
                   std::size_t end,
                   float* model,
                   std::vector<double>& weights);

  private:
    /**
     * @param index Place of an update.
     * @return its norm, computed at the first call.
     */
    double GetNorm(std::size_t index);

    const UpdateAggregator& m_aggregator;          //!< Combines values.
    LinkNoiseDraws m_draws;                        //!< Seed and round of the link noise.
    const std::vector<DeliveredUpdate>& m_updates; //!< The updates.
    std::size_t m_dimension;                       //!< d.
    std::vector<ReceivedValues> m_received;        //!< Reads each update.
    std::vector<std::optional<double>> m_norms;    //!< Of each update, once it was needed.
    std::vector<float> m_values;                   //!< Of a block, row by row.
    std::vector<double> m_shares;                  //!< Of the rows of a block.
    AggregationBlock m_block;                      //!< What the aggregator sees.
};

} // namespace ns3::federated

#endif // SEGMENT_AGGREGATION_H
