// SPDX-License-Identifier: GPL-2.0-only

#include "round-links.h"

#include "ns3/log.h"

#include <cmath>
#include <map>
#include <utility>

namespace ns3::federated
{

NS_LOG_COMPONENT_DEFINE("RoundLinks");

namespace
{

LinkQuality
GetQuality(const LinkProbe* probe, uint32_t device)
{
    return probe ? probe->GetQuality(device) : LinkQuality();
}

/** @return the input of fusion for a participant of whose update a fragment was received. */
FuserInput
MakeInput(const Participant& participant, const LinkQuality& quality, const LinkProbe* probe)
{
    FuserInput input;
    input.device = participant.record.device;
    input.group = participant.record.group;
    input.bits = participant.record.bits;
    input.snr = quality.snr;
    input.packed = participant.update.GetPacked();
    for (const CollectedFragment& fragment : participant.fragments)
    {
        const double snr = probe ? probe->GetPacketSnr(fragment.packet) : std::nan("");
        input.fragments.push_back({fragment.begin, fragment.end, snr});
    }
    return input;
}

} // namespace

std::vector<PlannerDevice>
ListDevices(uint32_t round,
            const DeviceRoster& roster,
            const UplinkMeter& meter,
            const LinkProbe* probe,
            const LinkNoise& noise)
{
    std::vector<PlannerDevice> devices;
    devices.reserve(roster.GetJoined());
    // Both are in ascending order: a search for each of many devices would take most of the time.
    auto next = meter.GetMeasurements().begin();
    const auto end = meter.GetMeasurements().end();
    for (const auto& [device, entry] : roster.GetEntries())
    {
        while (next != end && next->first < device)
        {
            ++next;
        }
        if (entry.joined)
        {
            const bool isMeasured = next != end && next->first == device;
            const UplinkMeasurement measured = isMeasured ? next->second : UplinkMeasurement();
            const LinkQuality quality = GetQuality(probe, device);
            PlannerDevice planned;
            planned.device = device;
            planned.samples = entry.samples;
            planned.snr = quality.snr;
            planned.goodput = meter.GetGoodput(measured, quality.rate);
            planned.deliveredFraction = measured.delivered;
            planned.roundsSinceAsked =
                entry.lastAsked > 0 ? round - entry.lastAsked : SelectionCandidate::NEVER;
            planned.battery = entry.battery;
            planned.group = entry.group;
            planned.training = entry.training;
            planned.airRate = meter.GetAirRate(measured, quality.rate);
            planned.silentRounds = entry.silentRounds;
            planned.sigma2 =
                noise.GetVariance(device, entry.group, quality.snr, measured.meanSquare);
            devices.push_back(planned);
        }
    }
    return devices;
}

FusedModel
FuseRound(const UpdateCollector& collector,
          const DeviceRoster& roster,
          const LinkProbe* probe,
          const UpdateFuser& fuser,
          const std::vector<float>& model,
          RoundRecord& record)
{
    std::vector<FuserInput> inputs;
    std::map<uint32_t, std::size_t> places; // of devices in record.links
    for (const auto& [device, participant] : collector.GetParticipants())
    {
        const LinkQuality quality = GetQuality(probe, device);
        places[device] = record.links.size();
        LinkRecord link = participant->record;
        link.snr = quality.roundSnr;
        link.rate = quality.framesOk > 0 ? quality.rate : std::nan("");
        link.framesOk = quality.framesOk;
        link.framesFailed = quality.framesFailed;
        record.links.push_back(link);
        if (link.receivedFragments > 0)
        {
            const RosterEntry* entry = roster.Find(device); // also of a device that has left
            inputs.push_back(MakeInput(*participant, quality, probe));
            inputs.back().samples = entry ? entry->samples : 0;
        }
    }
    FusedModel fused = fuser.Fuse(model, inputs, record.round);
    for (const FusedDevice& device : fused.devices)
    {
        LinkRecord& link = record.links[places.at(device.device)];
        link.sigma = device.sigma;
        link.weight = device.weight;
    }
    if (fused.overflowed)
    {
        NS_LOG_WARN("The updates of round " << record.round
                                            << " overflow the model, which stays unchanged");
    }
    record.skipped = fused.skipped;
    record.untouchedFraction = fused.untouchedFraction;
    record.fusedError = fused.error;
    return fused;
}

void
RecordOutcomes(const FusedModel& fused,
               const RoundRecord& record,
               DeviceRoster& roster,
               UplinkMeter& meter)
{
    for (const FusedDevice& device : fused.devices)
    {
        meter.SetMeanSquare(device.device, device.meanSquare);
    }
    for (const LinkRecord& link : record.links)
    {
        if (link.sentFragments > 0) // sent fragments cost privacy even if they were lost
        {
            roster.CountAnswer(link.device);
        }
        if (!std::isnan(link.battery))
        {
            roster.SetBattery(link.device, link.battery);
        }
        roster.CountSilence(
            link.device, link.state == PARTICIPANT_SILENT || link.state == PARTICIPANT_UNREACHABLE);
    }
}

} // namespace ns3::federated
