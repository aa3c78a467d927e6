// SPDX-License-Identifier: GPL-2.0-only

#ifndef UPDATE_AGGREGATOR_H
#define UPDATE_AGGREGATOR_H

#include "ns3/object.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace ns3
{

/**
 * @ingroup federated
 * @brief One update in a block of coordinates, as an aggregator sees it.
 */
struct AggregationRow
{
    uint32_t device = 0;           //!< The device.
    double weight = 0;             //!< omega of the fusion rule; those of all rows sum to 1.
    double deliveredFraction = 1;  //!< Coordinates of its update that were delivered, over d.
    bool isDelivered = true;       //!< false: lost, and LossPolicy lets it count as zeros.
    const float* values = nullptr; //!< Received values of the block, link noise included.
    double norm = std::numeric_limits<double>::quiet_NaN(); //!< L2 norm of its update, estimated
                                                            //!< from the received part; NaN
                                                            //!< unless NeedsNorms().
};

/**
 * @ingroup federated
 * @brief Some neighboring coordinates of all updates that count there.
 */
struct AggregationBlock
{
    static constexpr std::size_t CAPACITY = 1024; //!< Most coordinates of a block.

    std::size_t begin = 0;            //!< First coordinate.
    std::size_t count = 0;            //!< How many, 1 to CAPACITY.
    std::vector<AggregationRow> rows; //!< The updates, in ascending order of devices; at least one.
};

/**
 * @ingroup federated
 * @brief Combines the values that several updates have for a coordinate.
 *
 * What it may know is an AggregationBlock. Which updates are in it is decided before: those that
 * delivered its coordinates, over a link of finite noise, and that the fusion rule counts. An
 * aggregator keeps no state between blocks, so that its result does not depend on their order.
 */
class UpdateAggregator : public Object
{
  public:
    /** @return the TypeId. */
    static TypeId GetTypeId();

    /**
     * @param block The coordinates.
     * @param [out] aggregate The change of the model at each of them.
     * @param [out] shares For each row, the weight that it had, summed over the coordinates.
     */
    void Aggregate(const AggregationBlock& block, float* aggregate, double* shares) const;

    /**
     * @return whether the aggregate is the sum of weight * value. Fusion then adds packed updates
     * without a block, and draws the noise of the sum instead of that of each update.
     */
    bool IsWeightedMean() const;

    /** @return whether it needs the norms of the updates, for which they are decoded twice. */
    bool NeedsNorms() const;

  protected:
    /**
     * Set the aggregate to the sum of factor * value.
     * @param block The coordinates.
     * @param factors A factor for each row.
     * @param [out] aggregate The sums.
     * @param [out] shares The factors, summed over the coordinates.
     */
    static void SumUp(const AggregationBlock& block,
                      const std::vector<double>& factors,
                      float* aggregate,
                      double* shares);

  private:
    /** @copydoc Aggregate */
    virtual void DoAggregate(const AggregationBlock& block,
                             float* aggregate,
                             double* shares) const = 0;

    /** @copydoc IsWeightedMean */
    virtual bool DoIsWeightedMean() const;

    /** @copydoc NeedsNorms */
    virtual bool DoNeedsNorms() const;
};

} // namespace ns3

#endif // UPDATE_AGGREGATOR_H
