// SPDX-License-Identifier: GPL-2.0-only

#include "fixed-bit-budget.h"

#include "ns3/double.h"

#include <limits>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(FixedBitBudget);

TypeId
FixedBitBudget::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::FixedBitBudget")
            .SetParent<BitBudget>()
            .SetGroupName("Federated")
            .AddConstructor<FixedBitBudget>()
            .AddAttribute("Bits",
                          "Bits per coordinate, summed over the devices of a round; infinite for "
                          "no limit.",
                          DoubleValue(30),
                          MakeDoubleAccessor(&FixedBitBudget::m_bits),
                          MakeDoubleChecker<double>(0, std::numeric_limits<double>::infinity()));
    return tid;
}

double
FixedBitBudget::DoGetBudget(const BitBudgetContext&) const
{
    return m_bits;
}

bool
FixedBitBudget::DoCountsWireBits() const
{
    return false;
}

} // namespace ns3
