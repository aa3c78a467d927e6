// SPDX-License-Identifier: GPL-2.0-only

#ifndef FEDERATED_ENERGY_HELPER_H
#define FEDERATED_ENERGY_HELPER_H

#include "federated-helper.h"

#include "ns3/basic-energy-source-helper.h"
#include "ns3/callback.h"
#include "ns3/energy-model-helper.h"
#include "ns3/energy-source.h"
#include "ns3/federated-compat.h"
#include "ns3/net-device-container.h"
#include "ns3/net-device.h"
#include "ns3/nstime.h"
#include "ns3/object-factory.h"
#include "ns3/training-energy-model.h"

#include <cstdint>
#include <memory>
#include <string>

namespace ns3
{

/**
 * @ingroup federated
 * @brief Gives the devices of a federation batteries, from which radio and training draw.
 *
 * Without a radio model, only training draws energy; FederatedWifiEnergyHelper adds that of wifi:
 *
 * @code
    FederatedWifiEnergyHelper energy(20); // joules
    energy.SetTrainingAttribute("JoulesPerSample", DoubleValue(1e-3));
    energy.Install(federation, stations); // after federation.Install(); any order of net devices
   @endcode
 *
 * The energy that a device used in a round is then in the column energy_j of PREFIX-links.csv.
 *
 * A battery counts as empty at its low-battery threshold, by default a tenth of its initial energy.
 * Its device then leaves the federation with the remaining energy; after a short time
 * (SetLastWords) its radio is switched off. The source updates its level at least every 10 ms and a
 * hundred times while training uses all of it; the energy at the threshold should be enough for the
 * radio until it is off.
 */
class FederatedEnergyHelper
{
  public:
    /** Switches the radio of a net device off. */
    using SwitchOffCallback = Callback<void, Ptr<NetDevice>>;

    /** @param joules Initial energy of each battery. */
    explicit FederatedEnergyHelper(double joules);

    virtual ~FederatedEnergyHelper();

    FederatedEnergyHelper(const FederatedEnergyHelper&) = delete;
    FederatedEnergyHelper& operator=(const FederatedEnergyHelper&) = delete;

    /**
     * @param name Name of an attribute of BasicEnergySource.
     * @param value Its value.
     */
    void SetSourceAttribute(const std::string& name, const AttributeValue& value);

    /**
     * @param name Name of an attribute of TrainingEnergyModel.
     * @param value Its value.
     */
    void SetTrainingAttribute(const std::string& name, const AttributeValue& value);

    /**
     * @param time From the moment at which a battery is empty until the radio is switched off, so
     * that the center receives the LEAVE of the device, even at the third transmission; 500 ms if
     * this is not called.
     */
    void SetLastWords(const Time& time);

    /**
     * Let radios draw energy.
     * @param model Makes their energy models, which must not switch anything off by themselves.
     * @param switchOff Switches a radio off.
     */
    void SetRadio(const std::shared_ptr<const DeviceEnergyModelHelper>& model,
                  const SwitchOffCallback& switchOff);

    /**
     * Install batteries on the nodes of all devices, once, after the federation was installed.
     * @param federation The federation.
     * @param radios Net devices of these nodes, in any order; their radios draw energy if
     * SetRadio() was called.
     */
    void Install(const FederatedHelper& federation,
                 const NetDeviceContainer& radios = NetDeviceContainer());

    /**
     * @param device A device.
     * @return its battery.
     */
    Ptr<compat::EnergySource> GetSource(uint32_t device) const;

    /**
     * @param device A device.
     * @return the joules that radio and training have used so far; not after Simulator::Destroy().
     */
    double GetUsed(uint32_t device) const;

  private:
    class Exit;
    class Meters;

    BasicEnergySourceHelper m_sources;                      //!< Makes the batteries.
    ObjectFactory m_training;                               //!< Makes the models of training.
    Time m_lastWords;                                       //!< Until the radio is switched off.
    std::shared_ptr<const DeviceEnergyModelHelper> m_radio; //!< May be null.
    SwitchOffCallback m_switchOff;                          //!< May be null.
    Ptr<Meters> m_meters;                                   //!< Of all devices.
};

} // namespace ns3

#endif // FEDERATED_ENERGY_HELPER_H
