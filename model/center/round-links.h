// SPDX-License-Identifier: GPL-2.0-only

#ifndef ROUND_LINKS_H
#define ROUND_LINKS_H

#include "device-roster.h"
#include "round-planner.h"
#include "round-record.h"
#include "update-collector.h"
#include "uplink-meter.h"

#include "ns3/link-noise.h"
#include "ns3/link-probe.h"
#include "ns3/update-fuser.h"

#include <vector>

namespace ns3::federated
{

/**
 * @param round The round that begins.
 * @param roster The devices.
 * @param meter Measurements of their uplinks.
 * @param probe Measurements of their links; may be null.
 * @param noise sigma^2.
 * @return the devices that have joined, as the planner sees them.
 */
std::vector<PlannerDevice> ListDevices(uint32_t round,
                                       const DeviceRoster& roster,
                                       const UplinkMeter& meter,
                                       const LinkProbe* probe,
                                       const LinkNoise& noise);

/**
 * Fuse the collected updates of a round, and record its links.
 * @param collector The collected updates.
 * @param roster The devices, with their samples.
 * @param probe Measurements of the links; may be null.
 * @param fuser Fuses.
 * @param model w.
 * @param [in,out] record The round: links, skipped and untouchedFraction are set.
 * @return the outcome of the fusion.
 */
FusedModel FuseRound(const UpdateCollector& collector,
                     const DeviceRoster& roster,
                     const LinkProbe* probe,
                     const UpdateFuser& fuser,
                     const std::vector<float>& model,
                     RoundRecord& record);

/**
 * Remember what a round has shown about its devices: answers, silence, batteries, and the mean
 * square of their updates.
 * @param fused The outcome of the fusion.
 * @param record The round.
 * @param [in,out] roster The devices.
 * @param [in,out] meter Measurements of their uplinks.
 */
void RecordOutcomes(const FusedModel& fused,
                    const RoundRecord& record,
                    DeviceRoster& roster,
                    UplinkMeter& meter);

} // namespace ns3::federated

#endif // ROUND_LINKS_H
