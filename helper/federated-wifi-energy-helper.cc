// SPDX-License-Identifier: GPL-2.0-only

#include "federated-wifi-energy-helper.h"

#include "ns3/wifi-net-device.h"
#include "ns3/wifi-phy.h"

namespace ns3
{

namespace
{

/** What a radio does by itself when its battery is empty or charged again. */
void
StayAsItIs()
{
}

/**
 * Switch a radio off.
 * @param device Its net device.
 */
void
SwitchOff(Ptr<NetDevice> device)
{
    const auto phy = DynamicCast<WifiNetDevice>(device)->GetPhy();
    if (!phy->IsStateOff() && !phy->IsStateSleep())
    {
        phy->SetOffMode();
    }
}

} // namespace

FederatedWifiEnergyHelper::FederatedWifiEnergyHelper(double joules)
    : FederatedEnergyHelper(joules),
      m_wifi(std::make_shared<WifiRadioEnergyModelHelper>())
{
    m_wifi->SetDepletionCallback(MakeCallback(&StayAsItIs));
    m_wifi->SetRechargedCallback(MakeCallback(&StayAsItIs));
    SetRadio(m_wifi, MakeCallback(&SwitchOff));
}

void
FederatedWifiEnergyHelper::SetRadioAttribute(const std::string& name, const AttributeValue& value)
{
    m_wifi->Set(name, value);
}

} // namespace ns3
