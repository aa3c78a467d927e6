// SPDX-License-Identifier: GPL-2.0-only

#include "federated-wifi-energy-helper.h"

#include "ns3/abort.h"
#include "ns3/wifi-net-device.h"
#include "ns3/wifi-phy.h"
#include "ns3/wifi-radio-energy-model.h"

#include <utility>
#include <vector>

namespace ns3
{

namespace
{

/**
 * A WifiRadioEnergyModel that does not switch off too early. ns-3's own (3.35 to 3.48) schedules
 * for every state the time at which the battery would be empty, does not cancel some of these
 * events when the state changes, and then draws no more energy: after a frame was sent, as early as
 * if the radio had been sending since then.
 */
class LastingRadioEnergyModel : public WifiRadioEnergyModel
{
  public:
    /**
     * @param phy The radio.
     * @param source Its battery.
     */
    LastingRadioEnergyModel(const Ptr<WifiPhy>& phy, const Ptr<compat::EnergySource>& source)
        : m_phy(PeekPointer(phy)),
          m_battery(PeekPointer(source))
    {
    }

    void ChangeState(int newState) override
    {
        const bool plannedOff =
            newState == static_cast<int>(WifiPhyState::OFF) && !m_phy->IsStateOff();
        if (!plannedOff || m_battery->GetEnergyFraction() < 1e-3)
        {
            WifiRadioEnergyModel::ChangeState(newState);
        }
    }

  private:
    // Raw pointers: both refer to this model, and exist until the end of the simulation.
    WifiPhy* m_phy;                  //!< The radio.
    compat::EnergySource* m_battery; //!< Its battery.
};

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

/** Makes the energy models of radios. */
class FederatedWifiEnergyHelper::RadioHelper : public DeviceEnergyModelHelper
{
  public:
    void Set(std::string name, const AttributeValue& value) override
    {
        m_attributes.emplace_back(name, value.Copy());
    }

  private:
    Ptr<compat::DeviceEnergyModel> DoInstall(Ptr<NetDevice> device,
                                             Ptr<compat::EnergySource> source) const override
    {
        const auto wifi = DynamicCast<WifiNetDevice>(device);
        NS_ABORT_MSG_IF(!wifi, "FederatedWifiEnergyHelper: a net device is not of wifi");
        const auto phy = wifi->GetPhy();
        const auto model = CreateObject<LastingRadioEnergyModel>(phy, source);
        for (const auto& [name, value] : m_attributes)
        {
            model->SetAttribute(name, *value);
        }
        phy->SetWifiRadioEnergyModel(model);
        source->AppendDeviceEnergyModel(model);
        model->SetEnergySource(source);
        phy->RegisterListener(model->GetPhyListener());
        return model;
    }

    std::vector<std::pair<std::string, Ptr<AttributeValue>>> m_attributes; //!< Of the models.
};

FederatedWifiEnergyHelper::FederatedWifiEnergyHelper(double joules)
    : FederatedEnergyHelper(joules),
      m_wifi(std::make_shared<RadioHelper>())
{
    SetRadio(m_wifi, MakeCallback(&SwitchOff));
}

void
FederatedWifiEnergyHelper::SetRadioAttribute(const std::string& name, const AttributeValue& value)
{
    m_wifi->Set(name, value);
}

} // namespace ns3
