// SPDX-License-Identifier: GPL-2.0-only

#include "federated-wifi-energy-helper.h"

#include "ns3/abort.h"
#include "ns3/wifi-net-device.h"
#include "ns3/wifi-phy.h"
#include "ns3/wifi-radio-energy-model.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace ns3
{

namespace
{

/**
 * A battery as LastingRadioEnergyModel sees it, which must not plan when it will be empty before it
 * nearly is.
 */
class RadioSupply : public compat::EnergySource
{
  public:
    /**
     * @param battery The real one. It forgets the models, which lead here, when it is disposed of.
     */
    explicit RadioSupply(const Ptr<compat::EnergySource>& battery)
        : m_battery(battery)
    {
    }

    /** @return whether the battery is nearly empty. */
    bool IsLow() const
    {
        return m_battery->GetEnergyFraction() < 0.01;
    }

    /**
     * @param isPlanning Whether the model is about to plan: a battery that is not low seems to be
     * empty then.
     * @return whether it was before.
     */
    bool SetPlanning(bool isPlanning)
    {
        return std::exchange(m_isPlanning, isPlanning);
    }

    double GetSupplyVoltage() const override
    {
        return m_battery->GetSupplyVoltage();
    }

    double GetInitialEnergy() const override
    {
        return m_battery->GetInitialEnergy();
    }

    double GetRemainingEnergy() override
    {
        if (m_isPlanning && !IsLow())
        {
            return 0;
        }
        // A little less than there is: times are rounded, and ns-3 asserts that no more is drawn.
        const double reserve = RESERVE * m_battery->GetInitialEnergy();
        return std::max(m_battery->GetRemainingEnergy() - reserve, 0.0);
    }

    double GetEnergyFraction() override
    {
        return m_battery->GetEnergyFraction();
    }

    void UpdateEnergySource() override
    {
        m_battery->UpdateEnergySource();
    }

  private:
    static constexpr double RESERVE = 1e-4; //!< Part of a battery that is not planned with.

    Ptr<compat::EnergySource> m_battery; //!< The real one.
    bool m_isPlanning = false;           //!< Whether the model is about to plan.
};

/**
 * A WifiRadioEnergyModel that does not switch off too early. ns-3's own (3.35 to 3.48) schedules
 * for every state, and every time that the battery has changed, when it would be empty. It does not
 * cancel some of these events when the state changes, and then draws no more energy: after a frame
 * was sent, as early as if the radio had been sending since then. The others are canceled, and ns-3
 * keeps them until their time has come, which may be hours: so that time is now until the battery
 * is low, and nothing comes of it. Up to ns-3.36 the model also draws as if it were awake when a
 * frame reaches a radio that sleeps.
 */
class LastingRadioEnergyModel : public WifiRadioEnergyModel
{
  public:
    /**
     * @param phy The radio.
     * @param supply What it draws from.
     */
    LastingRadioEnergyModel(const Ptr<WifiPhy>& phy, const Ptr<RadioSupply>& supply)
        : m_phy(PeekPointer(phy)),
          m_supply(supply)
    {
    }

    void ChangeState(int newState) override
    {
        const bool endsSleep = newState != static_cast<int>(WifiPhyState::SLEEP) &&
                               newState != static_cast<int>(WifiPhyState::OFF);
        if (m_phy->IsStateSleep() && endsSleep)
        {
            return; // it hears a frame
        }
        const bool plannedOff =
            newState == static_cast<int>(WifiPhyState::OFF) && !m_phy->IsStateOff();
        if (!plannedOff || m_supply->GetEnergyFraction() < 1e-3)
        {
            const bool before = m_supply->SetPlanning(true);
            WifiRadioEnergyModel::ChangeState(newState);
            m_supply->SetPlanning(before);
        }
    }

    void HandleEnergyChanged() override
    {
        if (m_supply->IsLow())
        {
            WifiRadioEnergyModel::HandleEnergyChanged();
        }
    }

  private:
    WifiPhy* m_phy;            //!< The radio, which refers to this model.
    Ptr<RadioSupply> m_supply; //!< What it draws from.
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
        const auto supply = CreateObject<RadioSupply>(source);
        const auto model = CreateObject<LastingRadioEnergyModel>(phy, supply);
        for (const auto& [name, value] : m_attributes)
        {
            model->SetAttribute(name, *value);
        }
        phy->SetWifiRadioEnergyModel(model);
        source->AppendDeviceEnergyModel(model);
        model->SetEnergySource(supply);
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
