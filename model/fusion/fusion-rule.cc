// SPDX-License-Identifier: GPL-2.0-only

#include "fusion-rule.h"

#include "ns3/boolean.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(FusionRule);

TypeId
FusionRule::GetTypeId()
{
    static TypeId tid = TypeId("ns3::FusionRule")
                            .SetParent<Object>()
                            .SetGroupName("Federated")
                            .AddAttribute("WeightBySamples",
                                          "Multiply the score of each update by the number of "
                                          "training samples of its device.",
                                          BooleanValue(false),
                                          MakeBooleanAccessor(&FusionRule::m_weightBySamples),
                                          MakeBooleanChecker());
    return tid;
}

bool
FusionRule::IsWeightedBySamples() const
{
    return m_weightBySamples;
}

bool
FusionRule::IsUsable(const UpdateQuality& update) const
{
    return GetScore(update) > 0;
}

double
FusionRule::GetScore(const UpdateQuality& update) const
{
    const double score =
        std::isfinite(update.sigma2) && update.sigma2 >= 0 ? DoGetScore(update) : 0;
    return score > 0 ? score : 0; // NaN too
}

bool
FusionRule::NeedsReportedDistortion() const
{
    return DoNeedsReportedDistortion();
}

bool
FusionRule::DoNeedsReportedDistortion() const
{
    return false;
}

bool
FusionRule::GetWeights(const std::vector<UpdateQuality>& updates,
                       std::vector<double>& weights) const
{
    weights.resize(updates.size());
    std::transform(updates.begin(),
                   updates.end(),
                   weights.begin(),
                   [this](const auto& update) { return GetScore(update); });
    double most = 0;
    for (double weight : weights)
    {
        most = std::max(most, weight);
    }
    if (most == 0)
    {
        return false;
    }
    for (std::size_t i = 0; i < weights.size(); ++i)
    {
        // Scores may be infinite, or so large that their sum is.
        double& weight = weights[i];
        weight = std::isinf(most) ? (std::isinf(weight) ? 1 : 0) : weight / most;
        weight *= m_weightBySamples ? std::max(updates[i].samples, 0.0) : 1;
    }
    const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
    for (double& weight : weights)
    {
        weight /= sum > 0 ? sum : 1;
    }
    return sum > 0;
}

} // namespace ns3
