// SPDX-License-Identifier: GPL-2.0-only

#ifndef FEDERATED_WIFI_ENERGY_HELPER_H
#define FEDERATED_WIFI_ENERGY_HELPER_H

#include "federated-energy-helper.h"

#include "ns3/wifi-radio-energy-model-helper.h"

#include <memory>
#include <string>

namespace ns3
{

/**
 * @ingroup federated
 * @brief FederatedEnergyHelper for devices with a WifiNetDevice, whose radio draws as ns-3's
 * WifiRadioEnergyModel says.
 */
class FederatedWifiEnergyHelper : public FederatedEnergyHelper
{
  public:
    /** @param joules What each battery holds at first. */
    explicit FederatedWifiEnergyHelper(double joules);

    /**
     * @param name Name of an attribute of WifiRadioEnergyModel.
     * @param value Its value.
     */
    void SetRadioAttribute(const std::string& name, const AttributeValue& value);

  private:
    std::shared_ptr<WifiRadioEnergyModelHelper> m_wifi; //!< Makes the models of radios.
};

} // namespace ns3

#endif // FEDERATED_WIFI_ENERGY_HELPER_H
