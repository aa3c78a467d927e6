// SPDX-License-Identifier: GPL-2.0-only

#ifndef FIXED_INTERVAL_H
#define FIXED_INTERVAL_H

#include "interval-rule.h"

namespace ns3
{

/**
 * @ingroup federated
 * @brief One public interval for all updates; values outside are clamped by the quantizer.
 */
class FixedInterval : public IntervalRule
{
  public:
    /** @return the TypeId. */
    static TypeId GetTypeId();

  private:
    bool DoCheck(std::string& error) const override;
    bool DoGetPublicInterval(double& low, double& high) const override;
    std::pair<float, float> DoGetInterval(const float* values, std::size_t count) const override;

    // Attributes
    double m_low;  //!< Lower end.
    double m_high; //!< Upper end.
};

} // namespace ns3

#endif // FIXED_INTERVAL_H
