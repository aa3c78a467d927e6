// SPDX-License-Identifier: GPL-2.0-only

#include "uplink-meter.h"

#include <algorithm>

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
    m_lateness = Time(0);
    for (const UplinkObservation& seen : observations)
    {
        if (seen.receivedFragments > 0)
        {
            // A device that begins to send late was ready later than planned, by the same time.
            m_lateness = std::max(m_lateness, seen.firstReceived - seen.slotStart - m_rules.guard);
            MeasureRates(seen, end);
        }
    }
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
    Measured& rates = m_measured[seen.device];
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

double
UplinkMeter::GetGoodput(uint32_t device, double radioRate) const
{
    const auto found = m_measured.find(device);
    if (found != m_measured.end() && found->second.goodput > 0)
    {
        return found->second.goodput;
    }
    const double planned = m_rules.plannedRate;
    return m_rules.measuredSlots
               ? std::min((radioRate > 0 ? radioRate : planned) * m_rules.efficiency, planned)
               : planned;
}

double
UplinkMeter::GetAirRate(uint32_t device, double radioRate) const
{
    const auto found = m_measured.find(device);
    return found != m_measured.end() && found->second.air > 0 ? found->second.air
                                                              : GetGoodput(device, radioRate);
}

void
UplinkMeter::SetMeanSquare(uint32_t device, double meanSquare)
{
    m_measured[device].meanSquare = meanSquare;
}

double
UplinkMeter::GetMeanSquare(uint32_t device) const
{
    const auto found = m_measured.find(device);
    return found == m_measured.end() ? std::numeric_limits<double>::quiet_NaN()
                                     : found->second.meanSquare;
}

} // namespace ns3::federated
