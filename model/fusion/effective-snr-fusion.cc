// SPDX-License-Identifier: GPL-2.0-only

#include "effective-snr-fusion.h"

#include "ns3/enum.h"
#include "ns3/federated-compat.h"

#include <cmath>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(EffectiveSnrFusion);

TypeId
EffectiveSnrFusion::GetTypeId()
{
    static TypeId tid = TypeId("ns3::EffectiveSnrFusion")
                            .SetParent<FusionRule>()
                            .SetGroupName("Federated")
                            .AddConstructor<EffectiveSnrFusion>()
                            .AddAttribute("Distortion",
                                          "Source of the quantization error of an update: reported "
                                          "by the device, or computed from public numbers.",
                                          EnumValue(CELL),
                                          compat::MakeEnumAccessor<DistortionSource>(
                                              &EffectiveSnrFusion::m_distortion),
                                          MakeEnumChecker(EXACT, "exact", CELL, "cell"));
    return tid;
}

double
EffectiveSnrFusion::DoGetScore(const UpdateQuality& update) const
{
    if (m_distortion == CELL)
    {
        return 1 / (update.cellDistortion + update.sigma2);
    }
    const bool isReported = std::isfinite(update.exactDistortion) && update.exactDistortion >= 0;
    return isReported ? 1 / (update.exactDistortion + update.sigma2) : 0;
}

bool
EffectiveSnrFusion::DoNeedsReportedDistortion() const
{
    return m_distortion == EXACT;
}

} // namespace ns3
