// SPDX-License-Identifier: GPL-2.0-only

#ifndef MEDIAN_AGGREGATOR_H
#define MEDIAN_AGGREGATOR_H

#include "update-aggregator.h"

namespace ns3
{

/**
 * @ingroup federated
 * @brief The median of each coordinate; of an even number of updates the mean of the two in the
 * middle.
 *
 * Every update has one vote, whatever its weight: weights follow from what devices report
 * (distortion, samples, interval), so a weighted median would sell votes. As long as fewer than
 * half of the updates are hostile, each coordinate stays in the range of the honest ones. The
 * median of skewed values is not their mean, and levels of coarse quantizers have a coarse median.
 */
class MedianAggregator : public UpdateAggregator
{
  public:
    /** @return the TypeId. */
    static TypeId GetTypeId();

  private:
    void DoAggregate(const AggregationBlock& block,
                     float* aggregate,
                     double* shares) const override;
};

} // namespace ns3

#endif // MEDIAN_AGGREGATOR_H
