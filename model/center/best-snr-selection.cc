// SPDX-License-Identifier: GPL-2.0-only

#include "best-snr-selection.h"

#include "ns3/boolean.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(BestSnrSelection);

TypeId
BestSnrSelection::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::BestSnrSelection")
            .SetParent<SelectionPolicy>()
            .SetGroupName("Federated")
            .AddConstructor<BestSnrSelection>()
            .AddAttribute("Explore",
                          "Whether devices that were never asked and whose SNR is not known are "
                          "selected first, each once, so that their SNR is measured; if not, they "
                          "are selected after all devices of known SNR.",
                          BooleanValue(true),
                          MakeBooleanAccessor(&BestSnrSelection::m_explore),
                          MakeBooleanChecker());
    return tid;
}

std::vector<uint32_t>
BestSnrSelection::DoSelect(const SelectionContext& context,
                           const std::vector<SelectionCandidate>& candidates)
{
    // Smaller is better: unknown and never asked, known, unknown; then by SNR; then by lot.
    std::vector<std::tuple<int, double, uint32_t, uint32_t>> ranks; // the last is the device
    ranks.reserve(candidates.size());
    FederatedRandom random = context.MakeRandom();
    for (const SelectionCandidate& candidate : candidates)
    {
        const bool isKnown = !std::isnan(candidate.snr);
        const bool isNew = candidate.roundsSinceAsked == SelectionCandidate::NEVER;
        const int rank = isKnown ? 1 : m_explore && isNew ? 0 : 2;
        ranks.emplace_back(rank, isKnown ? -candidate.snr : 0, random(), candidate.device);
    }
    std::nth_element(ranks.begin(), ranks.begin() + context.count, ranks.end());
    std::vector<uint32_t> devices;
    for (uint32_t i = 0; i < context.count; ++i)
    {
        devices.push_back(std::get<3>(ranks[i]));
    }
    return devices;
}

} // namespace ns3
