// SPDX-License-Identifier: GPL-2.0-only

#ifndef MEAN_AGGREGATOR_H
#define MEAN_AGGREGATOR_H

#include "update-aggregator.h"

namespace ns3
{

/**
 * @ingroup federated
 * @brief The mean with the weights of the fusion rule, as in the paper. One update of extreme
 * values moves it anywhere.
 */
class MeanAggregator : public UpdateAggregator
{
  public:
    /** @return the TypeId. */
    static TypeId GetTypeId();

  private:
    void DoAggregate(const AggregationBlock& block,
                     float* aggregate,
                     double* shares) const override;
    bool DoIsWeightedMean() const override;
};

} // namespace ns3

#endif // MEAN_AGGREGATOR_H
