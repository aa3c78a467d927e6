// SPDX-License-Identifier: GPL-2.0-only

#ifndef TRIMMED_MEAN_AGGREGATOR_H
#define TRIMMED_MEAN_AGGREGATOR_H

#include "update-aggregator.h"

#include <vector>

namespace ns3
{

/**
 * @ingroup federated
 * @brief The mean of each coordinate without its smallest and its largest values.
 *
 * Of n updates floor(F n) are left out at each end, by their values alone; the others are averaged,
 * all alike or with their weights (Weighted). As long as at most floor(F n) updates are hostile,
 * each coordinate stays in the range of the honest ones. Inside that range a hostile update counts
 * with its weight: use weights only where they do not follow from reports of the devices. With
 * fewer than 1/F updates nothing is left out.
 */
class TrimmedMeanAggregator : public UpdateAggregator
{
  public:
    /** @return the TypeId. */
    static TypeId GetTypeId();

  private:
    void DoAggregate(const AggregationBlock& block,
                     float* aggregate,
                     double* shares) const override;

    /**
     * @param rows The updates.
     * @return what each counts among those that are not left out, above 0, sum 1.
     */
    std::vector<float> GetVotes(const std::vector<AggregationRow>& rows) const;

    // Attributes
    double m_fraction; //!< F.
    bool m_weighted;   //!< Whether the weights of the fusion rule count.
};

} // namespace ns3

#endif // TRIMMED_MEAN_AGGREGATOR_H
