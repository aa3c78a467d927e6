// SPDX-License-Identifier: GPL-2.0-only

#ifndef FEDERATED_WIFI_ENERGY_HELPER_H
#define FEDERATED_WIFI_ENERGY_HELPER_H

#include "federated-energy-helper.h"

#include <memory>
#include <string>

namespace ns3
{

/**
 * @ingroup federated
 * @brief FederatedEnergyHelper for devices with a WifiNetDevice, whose radio draws energy according
 * to ns-3's WifiRadioEnergyModel (but is not off before its battery is empty).
 */
class FederatedWifiEnergyHelper : public FederatedEnergyHelper
{
  public:
    /** @param joules Initial energy of each battery. */
    explicit FederatedWifiEnergyHelper(double joules);

    /**
     * @param name Name of an attribute of WifiRadioEnergyModel.
     * @param value Its value.
     */
    void SetRadioAttribute(const std::string& name, const AttributeValue& value);

  private:
    class RadioHelper;

    std::shared_ptr<RadioHelper> m_wifi; //!< Makes the models of radios.
};

} // namespace ns3

#endif // FEDERATED_WIFI_ENERGY_HELPER_H
