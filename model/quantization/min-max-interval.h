// SPDX-License-Identifier: GPL-2.0-only

#ifndef MIN_MAX_INTERVAL_H
#define MIN_MAX_INTERVAL_H

#include "interval-rule.h"

namespace ns3
{

/**
 * @ingroup federated
 * @brief From the least to the greatest value of the update, or of each layer.
 *
 * It depends on the data: no quantizer can claim privacy on it.
 */
class MinMaxInterval : public IntervalRule
{
  public:
    /** @return the TypeId. */
    static TypeId GetTypeId();

  private:
    std::pair<float, float> DoGetInterval(const float* values, std::size_t count) const override;
};

} // namespace ns3

#endif // MIN_MAX_INTERVAL_H
