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
    const bool reported = m_distortion == EXACT && std::isfinite(update.exactDistortion) &&
                          update.exactDistortion >= 0;
    const double distortion = reported ? update.exactDistortion : update.cellDistortion;
    return 1 / (distortion + update.sigma2);
}

} // namespace ns3
