// SPDX-License-Identifier: GPL-2.0-only

#include "measured-bit-budget.h"

#include <algorithm>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(MeasuredBitBudget);

TypeId
MeasuredBitBudget::GetTypeId()
{
    static TypeId tid = TypeId("ns3::MeasuredBitBudget")
                            .SetParent<BitBudget>()
                            .SetGroupName("Federated")
                            .AddConstructor<MeasuredBitBudget>();
    return tid;
}

double
MeasuredBitBudget::DoGetBudget(const BitBudgetContext& context) const
{
    return std::max(context.uplinkSeconds, 0.0) * context.rate /
           static_cast<double>(context.dimension);
}

bool
MeasuredBitBudget::DoCountsWireBits() const
{
    return true;
}

} // namespace ns3
