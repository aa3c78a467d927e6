// SPDX-License-Identifier: GPL-2.0-only

#include "wifi-link-probe.h"

#include "ns3/abort.h"
#include "ns3/ampdu-subframe-header.h"
#include "ns3/double.h"
#include "ns3/packet.h"
#include "ns3/simple-ref-count.h"
#include "ns3/simulator.h"
#include "ns3/wifi-mac-header.h"
#include "ns3/wifi-mac.h"
#include "ns3/wifi-net-device.h"
#include "ns3/wifi-phy-state-helper.h"
#include "ns3/wifi-phy.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(WifiLinkProbe);

/**
 * @ingroup federated
 * @brief State of the probe at one receiver.
 *
 * The PHY traces a reception in this order: PhyRxBegin (preamble detected) for every frame of the
 * PPDU; either PhyRxDrop for every one of them, or at the end PhyRxEnd for every one, then
 * MonitorSnifferRx for those that were decoded, then RxOk (any decoded) or RxError (none), once.
 * For frames whose preamble was not detected there is only PhyRxDrop.
 */
class WifiLinkProbe::Receiver : public SimpleRefCount<WifiLinkProbe::Receiver>
{
  public:
    /**
     * @param probe Counts the frames.
     * @param phy The PHY, which holds this object through its trace sources.
     * @param address Of the receiver.
     */
    Receiver(const Ptr<WifiLinkProbe>& probe, WifiPhy* phy, Mac48Address address);

    /**
     * PhyRxBegin.
     * @param mpdu A frame whose preamble was detected.
     * @param powers Its power, in W, in each band and in all together.
     */
    void Begin(Ptr<const Packet> mpdu, RxPowerWattPerChannelBand powers);

    /**
     * PhyRxDrop.
     * @param mpdu A frame that is dropped.
     * @param reason Why.
     */
    void Drop(Ptr<const Packet> mpdu, WifiPhyRxfailureReason reason);

    /**
     * PhyRxEnd.
     * @param mpdu A frame whose reception ended.
     */
    void End(Ptr<const Packet> mpdu);

    /**
     * MonitorSnifferRx.
     * @param packet A frame that was decoded; of an A-MPDU, with its delimiter.
     * @param frequency Of the channel, in MHz.
     * @param txVector How it was sent.
     * @param info Whether it is of an A-MPDU.
     * @param signalNoise In dBm.
     * @param staId To whom in a multi-user PPDU.
     */
    void Sniff(Ptr<const Packet> packet,
               uint16_t frequency,
               WifiTxVector txVector,
               MpduInfo info,
               SignalNoiseDbm signalNoise,
               uint16_t staId);

    /**
     * RxOk.
     * @param psdu All frames.
     * @param snr Linear.
     * @param mode How it was sent.
     * @param preamble Its kind.
     */
    void Ok(Ptr<const Packet> psdu, double snr, WifiMode mode, WifiPreamble preamble);

    /**
     * RxError.
     * @param psdu All frames.
     * @param snr Linear.
     */
    void Error(Ptr<const Packet> psdu, double snr);

  private:
    /** A data frame of a device for this receiver. */
    struct Frame
    {
        LinkSample sample;                                       //!< What is known of it.
        uint16_t sequence = 0;                                   //!< Sequence control.
        uint8_t tid = 0;                                         //!< Traffic identifier.
        double power = std::numeric_limits<double>::quiet_NaN(); //!< Received, in W.

        /**
         * @param other Another frame.
         * @return whether it is the same frame, of two that are on the air at the same time.
         */
        bool IsSame(const Frame& other) const
        {
            return sample.device == other.sample.device && sequence == other.sequence &&
                   tid == other.tid;
        }
    };

    /**
     * @param mpdu A frame of any kind, with its header.
     * @param[out] frame The frame; it counts as failed until it is decoded.
     * @return whether it is a data frame of a device for this receiver.
     */
    bool Read(const Ptr<const Packet>& mpdu, Frame& frame) const;

    /**
     * @param[in,out] frame A frame; gets its power if it began.
     */
    void TakeBegun(Frame& frame);

    /** @param snr Linear, of the frames that ended. */
    void Count(double snr);

    /** @return the noise of this receiver, in W. */
    double GetNoise() const;

    Ptr<WifiLinkProbe> m_probe; //!< Counts the frames.
    WifiPhy* m_phy;             //!< Alive whenever one of its traces fires.
    Mac48Address m_address;     //!< Of this receiver.

    // State
    Time m_beginTime;           //!< Of the last PPDU whose preamble was detected.
    std::vector<Frame> m_begun; //!< Its frames.
    std::vector<Frame> m_ended; //!< Frames of the PPDU that ends now.
    double m_noise = std::numeric_limits<double>::infinity(); //!< Least seen, in W.
};

WifiLinkProbe::Receiver::Receiver(const Ptr<WifiLinkProbe>& probe,
                                  WifiPhy* phy,
                                  Mac48Address address)
    : m_probe(probe),
      m_phy(phy),
      m_address(address)
{
}

bool
WifiLinkProbe::Receiver::Read(const Ptr<const Packet>& mpdu, Frame& frame) const
{
    WifiMacHeader header;
    mpdu->PeekHeader(header);
    if (!header.IsData() || !header.HasData() ||
        !(header.GetAddr1().IsGroup() || header.GetAddr1() == m_address))
    {
        return false;
    }
    const auto found = m_probe->m_devices.find(header.GetAddr2());
    if (found == m_probe->m_devices.end())
    {
        return false;
    }
    frame.sample.device = found->second;
    frame.sample.ok = false;
    frame.sample.bytes = mpdu->GetSize();
    // The receiver creates new packets for the content of an A-MSDU.
    frame.sample.packet = header.IsQosData() && header.IsQosAmsdu() ? 0 : mpdu->GetUid();
    frame.sequence = header.GetSequenceControl();
    frame.tid = header.IsQosData() ? header.GetQosTid() : 0;
    return true;
}

void
WifiLinkProbe::Receiver::TakeBegun(Frame& frame)
{
    const auto found = std::find_if(m_begun.begin(),
                                    m_begun.end(),
                                    [&frame](const Frame& begun) { return begun.IsSame(frame); });
    if (found != m_begun.end())
    {
        frame.power = found->power;
        m_begun.erase(found);
    }
}

double
WifiLinkProbe::Receiver::GetNoise() const
{
    if (std::isfinite(m_noise))
    {
        return m_noise;
    }
    TypeId::AttributeInformation info;
    m_phy->GetInstanceTypeId().LookupAttributeByName("RxNoiseFigure", &info);
    const auto figure = DynamicCast<const DoubleValue>(info.initialValue)->Get();
    constexpr double boltzmann = 1.380649e-23; // J/K
    const double width = 1e6 * static_cast<double>(m_phy->GetChannelWidth());
    return boltzmann * 290 * width * std::pow(10, figure / 10) / m_phy->GetNumberOfAntennas();
}

void
WifiLinkProbe::Receiver::Begin(Ptr<const Packet> mpdu, RxPowerWattPerChannelBand powers)
{
    if (Simulator::Now() != m_beginTime)
    {
        m_beginTime = Simulator::Now();
        m_begun.clear();
    }
    Frame frame;
    if (Read(mpdu, frame))
    {
        frame.power = 0;
        for (const auto& [band, power] : powers)
        {
            frame.power = std::max(frame.power, static_cast<double>(power));
        }
        m_begun.push_back(frame);
    }
}

void
WifiLinkProbe::Receiver::Drop(Ptr<const Packet> mpdu, WifiPhyRxfailureReason)
{
    Frame frame;
    if (Read(mpdu, frame))
    {
        TakeBegun(frame);
        frame.sample.snr = frame.power / GetNoise();
        m_probe->AddSample(frame.sample);
    }
}

void
WifiLinkProbe::Receiver::End(Ptr<const Packet> mpdu)
{
    Frame frame;
    if (Read(mpdu, frame))
    {
        TakeBegun(frame);
        m_ended.push_back(frame);
    }
}

void
WifiLinkProbe::Receiver::Sniff(Ptr<const Packet> packet,
                               uint16_t,
                               WifiTxVector txVector,
                               MpduInfo info,
                               SignalNoiseDbm,
                               uint16_t staId)
{
    if (m_ended.empty())
    {
        return;
    }
    auto mpdu = packet;
    if (info.type != NORMAL_MPDU)
    {
        const auto copy = packet->Copy();
        AmpduSubframeHeader delimiter;
        copy->RemoveHeader(delimiter);
        mpdu = copy;
    }
    Frame frame;
    if (!Read(mpdu, frame))
    {
        return;
    }
    for (auto& ended : m_ended)
    {
        if (ended.IsSame(frame))
        {
            ended.sample.ok = true;
            ended.sample.rate =
                static_cast<double>(txVector.GetMode(staId).GetDataRate(txVector, staId));
        }
    }
}

void
WifiLinkProbe::Receiver::Ok(Ptr<const Packet>, double snr, WifiMode, WifiPreamble)
{
    Count(snr);
}

void
WifiLinkProbe::Receiver::Error(Ptr<const Packet>, double snr)
{
    Count(snr);
}

void
WifiLinkProbe::Receiver::Count(double snr)
{
    for (auto& frame : m_ended)
    {
        m_noise = std::fmin(m_noise, frame.power / snr);
        frame.sample.snr = snr;
        m_probe->AddSample(frame.sample);
    }
    m_ended.clear();
}

TypeId
WifiLinkProbe::GetTypeId()
{
    static TypeId tid = TypeId("ns3::WifiLinkProbe")
                            .SetParent<LinkProbe>()
                            .SetGroupName("Federated")
                            .AddConstructor<WifiLinkProbe>();
    return tid;
}

WifiLinkProbe::WifiLinkProbe()
    : LinkProbe(true)
{
}

void
WifiLinkProbe::Attach(const Ptr<NetDevice>& receiver)
{
    const auto device = DynamicCast<WifiNetDevice>(receiver);
    NS_ABORT_MSG_IF(!device, "WifiLinkProbe: the receiver is not a WifiNetDevice");
    const auto phy = device->GetPhy();
    NS_ABORT_MSG_IF(!phy || !device->GetMac(), "WifiLinkProbe: the receiver has no PHY or no MAC");
    const auto hooks =
        Create<Receiver>(this, PeekPointer(phy), Mac48Address::ConvertFrom(device->GetAddress()));
    phy->TraceConnectWithoutContext("PhyRxBegin", MakeCallback(&Receiver::Begin, hooks));
    phy->TraceConnectWithoutContext("PhyRxDrop", MakeCallback(&Receiver::Drop, hooks));
    phy->TraceConnectWithoutContext("PhyRxEnd", MakeCallback(&Receiver::End, hooks));
    phy->TraceConnectWithoutContext("MonitorSnifferRx", MakeCallback(&Receiver::Sniff, hooks));
    phy->GetState()->TraceConnectWithoutContext("RxOk", MakeCallback(&Receiver::Ok, hooks));
    phy->GetState()->TraceConnectWithoutContext("RxError", MakeCallback(&Receiver::Error, hooks));
}

void
WifiLinkProbe::AddDevice(uint32_t device, Mac48Address address)
{
    m_devices[address] = device;
}

} // namespace ns3
