// SPDX-License-Identifier: GPL-2.0-only

#ifndef TRIMMED_AVERAGE_H
#define TRIMMED_AVERAGE_H

#include "update-aggregator.h"

#include <cstddef>
#include <vector>

namespace ns3::federated
{

/**
 * Take the median of each coordinate, the mean of the two in the middle of an even number. Equal
 * values share the weight of the middle.
 * @param block The coordinates.
 * @param [out] aggregate The medians.
 * @param [out] shares For each row, its share in the medians, summed over the coordinates.
 */
void TakeMedian(const AggregationBlock& block, float* aggregate, double* shares);

/**
 * Average each coordinate without its `trim` smallest and its `trim` largest values. Equal values
 * at a border share what is left out, so that nothing depends on the order of the rows but
 * rounding. The result is in the range of what was kept, also after rounding.
 * @param block The coordinates.
 * @param trim How many values are left out at each end; at least one value must remain.
 * @param votes What each row counts, above 0, sum 1.
 * @param [out] aggregate The averages.
 * @param [out] shares For each row, its share in the averages, summed over the coordinates.
 */
void AverageTrimmed(const AggregationBlock& block,
                    std::size_t trim,
                    const std::vector<float>& votes,
                    float* aggregate,
                    double* shares);

} // namespace ns3::federated

#endif // TRIMMED_AVERAGE_H
