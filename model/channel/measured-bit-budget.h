// SPDX-License-Identifier: GPL-2.0-only

#ifndef MEASURED_BIT_BUDGET_H
#define MEASURED_BIT_BUDGET_H

#include "bit-budget.h"

namespace ns3
{

/**
 * @ingroup federated
 * @brief The bits that the uplink can deliver in the time left: B = tau R / d, in bits on the wire.
 */
class MeasuredBitBudget : public BitBudget
{
  public:
    /** @return the TypeId. */
    static TypeId GetTypeId();

  private:
    double DoGetBudget(const BitBudgetContext& context) const override;
    bool DoCountsWireBits() const override;
};

} // namespace ns3

#endif // MEASURED_BIT_BUDGET_H
