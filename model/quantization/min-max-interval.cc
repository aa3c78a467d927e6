// SPDX-License-Identifier: GPL-2.0-only

#include "min-max-interval.h"

#include "ns3/boolean.h"

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(MinMaxInterval);

TypeId
MinMaxInterval::GetTypeId()
{
    static TypeId tid = TypeId("ns3::MinMaxInterval")
                            .SetParent<IntervalRule>()
                            .SetGroupName("Federated")
                            .AddConstructor<MinMaxInterval>()
                            .AddAttribute("PerLayer",
                                          "Each layer has an interval of its own.",
                                          BooleanValue(false),
                                          MakeBooleanAccessor(&MinMaxInterval::m_perLayer),
                                          MakeBooleanChecker());
    return tid;
}

bool
MinMaxInterval::DoIsDataDependent() const
{
    return true;
}

std::pair<float, float>
MinMaxInterval::DoGetInterval(const float* values, std::size_t count) const
{
    float least = values[0];
    float greatest = values[0];
    for (std::size_t i = 1; i < count; ++i)
    {
        least = values[i] < least ? values[i] : least;
        greatest = greatest < values[i] ? values[i] : greatest;
    }
    return {least, greatest};
}

} // namespace ns3
