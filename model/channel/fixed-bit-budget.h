// SPDX-License-Identifier: GPL-2.0-only

#ifndef FIXED_BIT_BUDGET_H
#define FIXED_BIT_BUDGET_H

#include "bit-budget.h"

namespace ns3
{

/**
 * @ingroup federated
 * @brief The same budget every round, which counts the nominal resolution of the groups: the paper.
 */
class FixedBitBudget : public BitBudget
{
  public:
    /** @return the TypeId. */
    static TypeId GetTypeId();

  private:
    double DoGetBudget(const BitBudgetContext& context) const override;
    bool DoCountsWireBits() const override;

    // Attributes
    double m_bits; //!< B.
};

} // namespace ns3

#endif // FIXED_BIT_BUDGET_H
