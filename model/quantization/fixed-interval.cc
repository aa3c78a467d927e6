// SPDX-License-Identifier: GPL-2.0-only

#include "fixed-interval.h"

#include "ns3/abort.h"
#include "ns3/double.h"

#include <limits>
#include <sstream>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(FixedInterval);

TypeId
FixedInterval::GetTypeId()
{
    constexpr double LIMIT =
        std::numeric_limits<float>::max() / 2; // the width stays a finite float
    static TypeId tid =
        TypeId("ns3::FixedInterval")
            .SetParent<IntervalRule>()
            .SetGroupName("Federated")
            .AddConstructor<FixedInterval>()
            .AddAttribute(
                "Low",
                "Lower end of the interval, which is public; values below are clamped to it.",
                DoubleValue(-0.01),
                MakeDoubleAccessor(&FixedInterval::m_low),
                MakeDoubleChecker<double>(-LIMIT, LIMIT))
            .AddAttribute(
                "High",
                "Upper end of the interval, which is public; values above are clamped to it.",
                DoubleValue(0.01),
                MakeDoubleAccessor(&FixedInterval::m_high),
                MakeDoubleChecker<double>(-LIMIT, LIMIT));
    return tid;
}

bool
FixedInterval::DoCheck(std::string& error) const
{
    if (m_low < m_high)
    {
        return true;
    }
    std::ostringstream text;
    text << "FixedInterval: Low is " << m_low << ", not below High, " << m_high << ".";
    error = text.str();
    return false;
}

bool
FixedInterval::DoGetPublicInterval(double& low, double& high) const
{
    low = m_low;
    high = m_high;
    return true;
}

std::pair<float, float>
FixedInterval::DoGetInterval(const float*, std::size_t) const
{
    std::string error;
    NS_ABORT_MSG_IF(!DoCheck(error), error);
    return {static_cast<float>(m_low), static_cast<float>(m_high)};
}

} // namespace ns3
