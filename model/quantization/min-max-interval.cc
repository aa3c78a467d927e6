// SPDX-License-Identifier: GPL-2.0-only

#include "min-max-interval.h"

#include "lane-fold.h"

#include "ns3/boolean.h"

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(MinMaxInterval);

TypeId
MinMaxInterval::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::MinMaxInterval")
            .SetParent<IntervalRule>()
            .SetGroupName("Federated")
            .AddConstructor<MinMaxInterval>()
            .AddAttribute("PerLayer",
                          "Whether each layer of the model has an interval of its own.",
                          BooleanValue(false),
                          MakeBooleanAccessor(&MinMaxInterval::m_perLayer),
                          MakeBooleanChecker());
    return tid;
}

std::pair<float, float>
MinMaxInterval::DoGetInterval(const float* values, std::size_t count) const
{
    const float greatest =
        federated::FoldOver(values, count, values[0], federated::Larger, federated::Larger);
    const float least = -federated::FoldOver(
        values,
        count,
        -values[0],
        [](float most, float value) { return federated::Larger(most, -value); },
        federated::Larger);
    return {least, greatest};
}

} // namespace ns3
