// SPDX-License-Identifier: GPL-2.0-only

#include "max-abs-interval.h"

#include "lane-fold.h"

#include "ns3/boolean.h"

#include <cmath>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(MaxAbsInterval);

TypeId
MaxAbsInterval::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::MaxAbsInterval")
            .SetParent<IntervalRule>()
            .SetGroupName("Federated")
            .AddConstructor<MaxAbsInterval>()
            .AddAttribute("PerLayer",
                          "Whether each layer of the model has an interval of its own.",
                          BooleanValue(false),
                          MakeBooleanAccessor(&MaxAbsInterval::m_perLayer),
                          MakeBooleanChecker());
    return tid;
}

std::pair<float, float>
MaxAbsInterval::DoGetInterval(const float* values, std::size_t count) const
{
    const float largest = federated::FoldOver(
        values,
        count,
        0.0F,
        [](float most, float value) { return federated::Larger(most, std::abs(value)); },
        federated::Larger);
    return {-largest, largest};
}

} // namespace ns3
