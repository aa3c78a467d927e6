// SPDX-License-Identifier: GPL-2.0-only

#include "interval-rule.h"

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(IntervalRule);

TypeId
IntervalRule::GetTypeId()
{
    static TypeId tid = TypeId("ns3::IntervalRule").SetParent<Object>().SetGroupName("Federated");
    return tid;
}

std::vector<IntervalRange>
IntervalRule::GetIntervals(const float* values, const std::vector<std::size_t>& layerEnds) const
{
    std::vector<IntervalRange> ranges;
    const auto add = [&](std::size_t begin, std::size_t end)
    {
        if (begin < end)
        {
            const auto [low, high] = DoGetInterval(values + begin, end - begin);
            ranges.push_back({begin, end, low, high});
        }
    };
    if (!m_perLayer)
    {
        add(0, layerEnds.empty() ? 0 : layerEnds.back());
        return ranges;
    }
    std::size_t begin = 0;
    for (std::size_t end : layerEnds)
    {
        add(begin, end);
        begin = end;
    }
    return ranges;
}

bool
IntervalRule::Check(std::string& error) const
{
    return DoCheck(error);
}

bool
IntervalRule::DoCheck(std::string&) const
{
    return true;
}

bool
IntervalRule::IsDataDependent() const
{
    double low;
    double high;
    return !DoGetPublicInterval(low, high);
}

PrivacyContext
IntervalRule::GetPrivacyContext(ClipNorm norm,
                                double bound,
                                unsigned bits,
                                std::size_t dimension) const
{
    PrivacyContext context;
    context.bits = bits;
    context.intervalIsPublic = DoGetPublicInterval(context.low, context.high);
    context.clipNorm = norm;
    context.clipBound = bound;
    context.dimension = dimension;
    return context;
}

bool
IntervalRule::DoGetPublicInterval(double&, double&) const
{
    return false;
}

} // namespace ns3
