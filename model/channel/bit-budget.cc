// SPDX-License-Identifier: GPL-2.0-only

#include "bit-budget.h"

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(BitBudget);

TypeId
BitBudget::GetTypeId()
{
    static TypeId tid = TypeId("ns3::BitBudget").SetParent<Object>().SetGroupName("Federated");
    return tid;
}

double
BitBudget::GetBudget(const BitBudgetContext& context) const
{
    return DoGetBudget(context);
}

bool
BitBudget::CountsWireBits() const
{
    return DoCountsWireBits();
}

} // namespace ns3
