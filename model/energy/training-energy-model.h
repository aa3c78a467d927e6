// SPDX-License-Identifier: GPL-2.0-only

#ifndef TRAINING_ENERGY_MODEL_H
#define TRAINING_ENERGY_MODEL_H

#include "ns3/callback.h"
#include "ns3/device-energy-model.h"
#include "ns3/energy-source.h"
#include "ns3/event-id.h"
#include "ns3/federated-compat.h"
#include "ns3/federated-device.h"
#include "ns3/nstime.h"

namespace ns3
{

/**
 * @ingroup federated
 * @brief The energy that a device draws from its energy source in order to train.
 *
 * The energy of a training is JoulesPerSample times the samples of all its steps, drawn evenly over
 * its simulated time. A training that is canceled has drawn its share until then.
 */
class TrainingEnergyModel : public compat::DeviceEnergyModel
{
  public:
    /** Called when the source is depleted. */
    using DepletionCallback = Callback<void>;

    /** @return the TypeId. */
    static TypeId GetTypeId();

    TrainingEnergyModel();
    ~TrainingEnergyModel() override;

    /**
     * Draw energy when a device trains; the device keeps the model alive.
     * @param device The device.
     */
    void Attach(const Ptr<FederatedDevice>& device);

    /**
     * @param callback Called during an update of the source: it should only schedule events.
     */
    void SetDepletionCallback(const DepletionCallback& callback);

    void SetEnergySource(Ptr<compat::EnergySource> source) override;
    double GetTotalEnergyConsumption() const override;

    /** Training is the only state. */
    void ChangeState(int) override;

    void HandleEnergyDepletion() override;
    void HandleEnergyRecharged() override;
    void HandleEnergyChanged() override;

  protected:
    void DoDispose() override;

  private:
    double DoGetCurrentA() const override;

    /** @param plan A training that begins. */
    void Start(const FederatedDevice::TrainingPlan& plan);

    /** Training has ended as planned. */
    void Finish();

    /**
     * Training ends early.
     * @param round Its round.
     * @param device The device.
     */
    void Cancel(uint32_t round, uint32_t device);

    /**
     * Update the energy source repeatedly until the training ends, so that depletion is noticed.
     */
    void Tell();

    /** @return joules of this training that have been drawn. */
    double GetDrawn() const;

    // Attributes
    double m_joulesPerSample; //!< Energy to train with one sample.
    Time m_shortest;          //!< Time over which a training without duration is spread.

    // State
    Ptr<compat::EnergySource> m_source; //!< The energy source.
    DepletionCallback m_depleted;       //!< May be null.
    double m_before = 0;                //!< Joules of earlier trainings.
    double m_joules = 0;                //!< Of this training; 0 between trainings.
    Time m_start;                       //!< When it began.
    Time m_duration;                    //!< How long it takes.
    EventId m_finishEvent;              //!< Its end.
    EventId m_tellEvent;                //!< Updates the source.
};

} // namespace ns3

#endif // TRAINING_ENERGY_MODEL_H
