// SPDX-License-Identifier: GPL-2.0-only

#include "federated-wifi-radios.h"

#include "ns3/double.h"
#include "ns3/propagation-delay-model.h"
#include "ns3/ssid.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"
#include "ns3/wifi-helper.h"
#include "ns3/wifi-mac-helper.h"

#include <utility>
#include <vector>

namespace ns3::federated
{

WifiRadios::WifiRadios(const WifiRadioSettings& settings)
    : m_settings(settings),
      m_channel(CreateObject<YansWifiChannel>()),
      m_loss(CreateObjectWithAttributes<LogDistancePropagationLossModel>(
          "Exponent",
          DoubleValue(settings.exponent))),
      m_steady(m_loss),
      m_fading(MakeFading()),
      m_delay(CreateObject<ConstantSpeedPropagationDelayModel>())
{
    m_channel->SetPropagationDelayModel(m_delay);
    m_channel->SetPropagationLossModel(m_loss);
    if (settings.shadowing.IsTypeIdSet())
    {
        const auto shadowing = settings.shadowing.Create<PropagationLossModel>();
        m_steady->SetNext(shadowing);
        m_steady = shadowing;
    }
    if (m_fading)
    {
        m_steady->SetNext(m_fading);
    }
    SetUpPhy();
}

Ptr<PropagationLossModel>
WifiRadios::MakeFading() const
{
    return m_settings.fading.IsTypeIdSet() ? m_settings.fading.Create<PropagationLossModel>()
                                           : nullptr;
}

void
WifiRadios::SetUpPhy()
{
    m_phy.SetChannel(m_channel);
    m_phy.SetPcapDataLinkType(WifiPhyHelper::DLT_IEEE802_11_RADIO);
    m_phy.Set("RxSensitivity", DoubleValue(-130)); // weaker frames are not traced at all
    const uint32_t number = GetChannelNumber(m_settings.width, m_settings.cell);
    TypeId::AttributeInformation information;
    if (TypeId::LookupByName("ns3::WifiPhy")
            .LookupAttributeByName("ChannelSettings", &information)) // since ns-3.36
    {
        m_phy.Set("ChannelSettings",
                  StringValue("{" + std::to_string(number) + ", " +
                              std::to_string(m_settings.width) + ", BAND_5GHZ, 0}"));
    }
    else
    {
        m_phy.Set("ChannelNumber", UintegerValue(number));
        m_phy.Set("ChannelWidth", UintegerValue(m_settings.width));
    }
}

NetDeviceContainer
WifiRadios::Install(const NodeContainer& nodes, const std::string& mac, uint32_t mcs, double power)
{
    WifiHelper wifi;
    wifi.SetStandard(WIFI_STANDARD_80211ac);
    const StringValue mode("VhtMcs" + std::to_string(mcs));
    if (m_settings.isAdhoc)
    {
        wifi.SetRemoteStationManager(
            "ns3::ConstantRateWifiManager", "DataMode", mode, "NonUnicastMode", mode);
    }
    else
    {
        wifi.SetRemoteStationManager(m_settings.manager, "NonUnicastMode", mode);
    }
    m_phy.Set("TxPowerStart", DoubleValue(power));
    m_phy.Set("TxPowerEnd", DoubleValue(power));
    WifiMacHelper macs;
    macs.SetType(
        m_settings.isAdhoc ? "ns3::AdhocWifiMac" : mac, "Ssid", SsidValue(Ssid("federated")));
    return wifi.Install(m_phy, macs, nodes);
}

Ptr<PropagationLossModel>
WifiRadios::GetFading() const
{
    return m_fading;
}

void
WifiRadios::ReplaceFading(const Ptr<PropagationLossModel>& fading)
{
    m_steady->SetNext(fading);
}

uint32_t
WifiRadios::GetCell() const
{
    return m_settings.cell;
}

Ptr<YansWifiChannel>
WifiRadios::GetChannel() const
{
    return m_channel;
}

Ptr<PropagationLossModel>
WifiRadios::GetLoss() const
{
    return m_loss;
}

Ptr<PropagationDelayModel>
WifiRadios::GetDelay() const
{
    return m_delay;
}

YansWifiPhyHelper&
WifiRadios::GetPhy()
{
    return m_phy;
}

uint32_t
WifiRadios::GetChannelNumber(uint16_t width, uint32_t cell)
{
    std::vector<uint32_t> numbers;
    const uint32_t step = width / 5; // numbers count 5 MHz
    for (const auto& [first, last] :
         {std::pair{36U, 64U}, std::pair{100U, 144U}, std::pair{149U, 165U}})
    {
        // A channel has the number in the middle of the channels of 20 MHz that it is made of.
        for (uint32_t number = first; number + step - 4 <= last; number += step)
        {
            numbers.push_back(number + step / 2 - 2);
        }
    }
    return numbers[cell % numbers.size()];
}

double
WifiRadios::GetPhyRate(uint16_t width, uint32_t mcs)
{
    // Data subcarriers and bits on each (modulation times code rate); a symbol takes 4 us.
    const double subcarriers = width == 20 ? 52 : width == 40 ? 108 : width == 80 ? 234 : 468;
    const double bits[] = {0.5, 1, 1.5, 2, 3, 4, 4.5, 5, 6};
    return subcarriers * bits[mcs] / 4e-6;
}

double
WifiRadios::GetGroupRate(uint16_t width, uint32_t mcs, uint32_t bytes)
{
    const double message = 8.0 * bytes;
    const double headers = 8 * (20 + 8 + 8 + 30);    // IPv4, UDP, LLC, MAC
    const double overhead = 40e-6 + 43e-6 + 67.5e-6; // preamble, AIFS, mean backoff
    return message / ((message + headers) / GetPhyRate(width, mcs) + overhead);
}

} // namespace ns3::federated
