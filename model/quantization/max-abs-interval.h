// SPDX-License-Identifier: GPL-2.0-only

#ifndef MAX_ABS_INTERVAL_H
#define MAX_ABS_INTERVAL_H

#include "interval-rule.h"

namespace ns3
{

/**
 * @ingroup federated
 * @brief [-m, m] with the largest magnitude m of the update, or of each layer.
 *
 * It depends on the data: no quantizer can claim privacy on it.
 */
class MaxAbsInterval : public IntervalRule
{
  public:
    /** @return the TypeId. */
    static TypeId GetTypeId();

  private:
    std::pair<float, float> DoGetInterval(const float* values, std::size_t count) const override;
};

} // namespace ns3

#endif // MAX_ABS_INTERVAL_H
