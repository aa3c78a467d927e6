// SPDX-License-Identifier: GPL-2.0-only

#include "link-probe.h"

#include "ns3/double.h"
#include "ns3/simulator.h"
#include "ns3/trace-source-accessor.h"

#include <cmath>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(LinkProbe);

TypeId
LinkProbe::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::LinkProbe")
            .SetParent<Object>()
            .SetGroupName("Federated")
            .AddAttribute("Smoothing",
                          "Weight of the newest frame in the moving average of the SNR.",
                          DoubleValue(0.1),
                          MakeDoubleAccessor(&LinkProbe::m_smoothing),
                          MakeDoubleChecker<double>(1e-6, 1))
            .AddTraceSource(
                "Sample",
                "A frame of a device was decoded or failed, or its SNR was measured: a LinkSample.",
                MakeTraceSourceAccessor(&LinkProbe::m_sampleTrace),
                "ns3::LinkSample::TracedCallback");
    return tid;
}

LinkProbe::LinkProbe(bool seesFailures)
    : m_seesFailures(seesFailures),
      m_smoothing(0)
{
}

void
LinkProbe::BeginRound(uint32_t)
{
    for (auto& [device, books] : m_books)
    {
        Books kept;
        kept.snr = books.snr;
        kept.rate = books.rate;
        kept.lastSeen = books.lastSeen;
        books = kept;
    }
    m_packets.clear();
}

LinkQuality
LinkProbe::GetQuality(uint32_t device) const
{
    LinkQuality quality;
    const auto found = m_books.find(device);
    if (found == m_books.end())
    {
        return quality;
    }
    const Books& books = found->second;
    quality.snr = books.snr;
    quality.rate = books.rate;
    quality.framesOk = static_cast<double>(books.ok);
    if (books.snrCount > 0)
    {
        quality.roundSnr = books.snrSum / static_cast<double>(books.snrCount);
    }
    if (m_seesFailures)
    {
        quality.framesFailed = static_cast<double>(books.failed);
    }
    if (books.lastSeen != Time::Min())
    {
        quality.lastSeen = books.lastSeen.GetSeconds();
    }
    if (books.ok > 1 && books.lastSeen > books.first)
    {
        // The bytes of the first frame were sent before the measured time.
        quality.goodput = static_cast<double>(8 * (books.bytes - books.firstBytes)) /
                          (books.lastSeen - books.first).GetSeconds();
    }
    return quality;
}

double
LinkProbe::GetPacketSnr(uint64_t packet) const
{
    const auto found = m_packets.find(packet);
    return found == m_packets.end() ? std::numeric_limits<double>::quiet_NaN() : found->second;
}

void
LinkProbe::AddSample(const LinkSample& sample)
{
    Books& books = m_books[sample.device];
    if (std::isfinite(sample.snr))
    {
        books.snrSum += sample.snr;
        ++books.snrCount;
        books.snr = std::isfinite(books.snr) ? books.snr + m_smoothing * (sample.snr - books.snr)
                                             : sample.snr;
        if (sample.ok && sample.packet != 0)
        {
            m_packets[sample.packet] = sample.snr;
        }
    }
    if (sample.frame && sample.ok)
    {
        books.lastSeen = Simulator::Now();
        books.rate = std::isfinite(sample.rate) ? sample.rate : books.rate;
        books.bytes += sample.bytes;
        if (++books.ok == 1)
        {
            books.first = books.lastSeen;
            books.firstBytes = sample.bytes;
        }
    }
    else if (sample.frame)
    {
        ++books.failed;
    }
    m_sampleTrace(sample);
}

} // namespace ns3
