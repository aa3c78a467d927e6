// SPDX-License-Identifier: GPL-2.0-only

#include "uplink-meter.h"

#include "left-out.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace ns3::federated
{

void
UplinkMeter::SetRules(const Rules& rules)
{
    m_rules = rules;
}

void
UplinkMeter::Measure(const std::vector<UplinkObservation>& observations, const Time& end)
{
    std::vector<Time> delays;
    for (const UplinkObservation& seen : observations)
    {
        MeasureDelivery(seen);
        if (seen.receivedFragments > 0)
        {
            // A device that begins to send late was ready later than planned, by the same time.
            delays.push_back(seen.firstReceived - seen.slotStart - m_rules.guard);
            MeasureRates(seen, end);
        }
    }
    m_lateness = Time(0);
    if (!delays.empty())
    {
        const std::size_t last = delays.size() - 1 - CountLeftOut(m_rules.leftOut, delays.size());
        const auto latest = delays.begin() + static_cast<std::ptrdiff_t>(last);
        std::nth_element(delays.begin(), latest, delays.end());
        m_lateness = std::max(m_lateness, *latest);
    }
}

void
UplinkMeter::MeasureDelivery(const UplinkObservation& seen)
{
    const uint32_t sent = seen.sentKnown ? seen.sentFragments : seen.fragments;
    if (sent == 0)
    {
        return;
    }
    const double fraction = static_cast<double>(seen.receivedFragments) / sent;
    double& mean = m_measured[seen.device].delivered;
    mean = std::isnan(mean) ? fraction : mean + m_rules.smoothing * (fraction - mean);
}

void
UplinkMeter::MeasureRates(const UplinkObservation& seen, const Time& end)
{
    // Fragments are sent in order: between the first and the last one received, all coordinates
    // between their ends were sent, whether they were received or not. When the first one was sent
    // is not known here; if it is the only one, the start of the slot is used.
    const bool isOne = seen.receivedFragments == 1;
    const Time begin = isOne ? seen.slotStart : seen.firstReceived;
    const double sentCoordinates =
        static_cast<double>(seen.lastEnd) - (isOne ? 0 : static_cast<double>(seen.firstEnd));
    if (seen.lastReceived <= begin || sentCoordinates <= 0)
    {
        return; // a device may also send before its slot
    }
    const double seconds = (seen.lastReceived - begin).GetSeconds();
    const double rate = seen.wireBits * sentCoordinates / seconds;
    const auto average = [this](double& mean, double value)
    { mean = mean > 0 ? mean + m_rules.smoothing * (value - mean) : value; };
    UplinkMeasurement& rates = m_measured[seen.device];
    average(rates.air, rate);
    // Fragments that were never sent, because of the deadline, do not count as lost.
    const auto dimension = static_cast<double>(seen.dimension);
    const Time sending = end - seen.firstReceived;
    double sent = static_cast<double>(seen.firstEnd) + sending.GetSeconds() * rate / seen.wireBits;
    if (seen.sentKnown)
    {
        sent = dimension * seen.sentFragments / seen.fragments;
    }
    sent = std::min(std::max(sent, seen.delivered), dimension);
    // No other device sends in the guard time after the slot.
    const double update = seen.wireBits * dimension;
    average(rates.goodput,
            update * (seen.delivered / sent) / (update / rate + m_rules.guard.GetSeconds()));
}

UplinkMeasurement
UplinkMeter::Find(uint32_t device) const
{
    const auto found = m_measured.find(device);
    return found == m_measured.end() ? UplinkMeasurement() : found->second;
}

double
UplinkMeter::GetGoodput(const UplinkMeasurement& measured, double radioRate) const
{
    if (measured.goodput > 0)
    {
        return measured.goodput;
    }
    const double planned = m_rules.plannedRate;
    return m_rules.measuredSlots
               ? std::min((radioRate > 0 ? radioRate : planned) * m_rules.efficiency, planned)
               : planned;
}

double
UplinkMeter::GetAirRate(const UplinkMeasurement& measured, double radioRate) const
{
    return measured.air > 0 ? measured.air : GetGoodput(measured, radioRate);
}

void
UplinkMeter::SetMeanSquare(uint32_t device, double meanSquare)
{
    m_measured[device].meanSquare = meanSquare;
}

} // namespace ns3::federated
