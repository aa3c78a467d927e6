// SPDX-License-Identifier: GPL-2.0-only

#ifndef NORM_BOUND_AGGREGATOR_H
#define NORM_BOUND_AGGREGATOR_H

#include "update-aggregator.h"

namespace ns3
{

/**
 * @ingroup federated
 * @brief The weighted mean of updates that are first scaled to an L2 norm of at most C.
 *
 * The norm is that of the received values, link noise included. If only a fraction f of an update
 * was delivered, the bound of that part is C sqrt(f): the root of the mean square norm of a random
 * part of an update of norm C. Loss then neither raises nor lowers what a delivered coordinate
 * counts. What scaled updates lose is not passed on to the others.
 */
class NormBoundAggregator : public UpdateAggregator
{
  public:
    /** @return the TypeId. */
    static TypeId GetTypeId();

  private:
    void DoAggregate(const AggregationBlock& block,
                     float* aggregate,
                     double* shares) const override;
    bool DoNeedsNorms() const override;

    // Attributes
    double m_bound; //!< C.
};

} // namespace ns3

#endif // NORM_BOUND_AGGREGATOR_H
