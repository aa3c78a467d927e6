// SPDX-License-Identifier: GPL-2.0-only

#include "federated-energy-helper.h"

#include "ns3/abort.h"
#include "ns3/double.h"
#include "ns3/simple-ref-count.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace ns3
{

/** Handles an empty battery of one device. */
class FederatedEnergyHelper::Exit : public SimpleRefCount<FederatedEnergyHelper::Exit>
{
  public:
    /** The battery is empty. */
    void HandleDepletion()
    {
        // In a later event: a radio may be in the middle of a change of state.
        Simulator::ScheduleNow(&FederatedDevice::Leave, device);
        Simulator::Schedule(lastWords, &Exit::SwitchOff, Ptr<Exit>(this));
    }

    /** Switch the radios off. */
    void SwitchOff()
    {
        for (uint32_t i = 0; i < radios.GetN(); ++i)
        {
            switchOff(radios.Get(i));
        }
    }

    Ptr<FederatedDevice> device;                        //!< The device.
    NetDeviceContainer radios;                          //!< Its radios.
    FederatedEnergyHelper::SwitchOffCallback switchOff; //!< Switches one off.
    Time lastWords;                                     //!< Until that is done.
};

/**
 * The energy sources and their energy models. They hold no pointer to a device, because devices
 * refer to the trace writer, which reads them.
 */
class FederatedEnergyHelper::Meters : public SimpleRefCount<FederatedEnergyHelper::Meters>
{
  public:
    /**
     * @param device A device.
     * @return the joules that it has used.
     */
    double GetUsed(uint32_t device)
    {
        // Summed over the models: the source rounds every step to nanojoules.
        double joules = 0;
        for (uint32_t i = 0; i < models.at(device).GetN(); ++i)
        {
            joules += models[device].Get(i)->GetTotalEnergyConsumption();
        }
        return joules;
    }

    /**
     * @param device A device.
     * @return the level of its battery, 0 to 1. (Not asked of the source, which would draw energy
     * at this instant.)
     */
    double GetLevel(uint32_t device)
    {
        const double initial = sources.at(device)->GetInitialEnergy();
        return std::clamp(1 - GetUsed(device) / initial, 0.0, 1.0);
    }

    std::vector<Ptr<compat::EnergySource>> sources;         //!< By device.
    std::vector<compat::DeviceEnergyModelContainer> models; //!< By device.
};

FederatedEnergyHelper::FederatedEnergyHelper(double joules)
    : m_training("ns3::TrainingEnergyModel"),
      m_lastWords(MilliSeconds(500)),
      m_meters(Create<Meters>())
{
    NS_ABORT_MSG_IF(!(joules > 0 && std::isfinite(joules)),
                    "FederatedEnergyHelper: a battery has " << joules << " J, not more than 0");
    m_sources.Set("BasicEnergySourceInitialEnergyJ", DoubleValue(joules));
    // A radio of 1 W uses 5 % of its battery meanwhile, at most: ns-3 asserts that no more is drawn
    // than is left, and a battery counts as empty at 10 %.
    const Time interval = std::min(MilliSeconds(10), Seconds(0.05 * joules));
    m_sources.Set("PeriodicEnergyUpdateInterval", TimeValue(std::max(interval, MicroSeconds(10))));
}

FederatedEnergyHelper::~FederatedEnergyHelper() = default;

void
FederatedEnergyHelper::SetSourceAttribute(const std::string& name, const AttributeValue& value)
{
    m_sources.Set(name, value);
}

void
FederatedEnergyHelper::SetTrainingAttribute(const std::string& name, const AttributeValue& value)
{
    m_training.Set(name, value);
}

void
FederatedEnergyHelper::SetLastWords(const Time& time)
{
    m_lastWords = time;
}

void
FederatedEnergyHelper::SetRadio(const std::shared_ptr<const DeviceEnergyModelHelper>& model,
                                const SwitchOffCallback& switchOff)
{
    m_radio = model;
    m_switchOff = switchOff;
}

void
FederatedEnergyHelper::Install(const FederatedHelper& federation, const NetDeviceContainer& radios)
{
    NS_ABORT_MSG_IF(!m_meters->sources.empty(),
                    "FederatedEnergyHelper: batteries are installed once");
    NS_ABORT_MSG_IF(!federation.GetTraceWriter(),
                    "FederatedEnergyHelper: Install comes before that of the federation");
    uint32_t installed = 0;
    for (const auto& device : federation.GetDevices())
    {
        const auto source = m_sources.Install(device->GetNode()).Get(0);
        const auto exit = Create<Exit>();
        exit->device = device;
        exit->switchOff = m_switchOff;
        exit->lastWords = m_lastWords;
        compat::DeviceEnergyModelContainer models;
        for (uint32_t i = 0; m_radio && i < radios.GetN(); ++i)
        {
            if (radios.Get(i)->GetNode() == device->GetNode())
            {
                models.Add(m_radio->Install(radios.Get(i), source));
                exit->radios.Add(radios.Get(i));
                ++installed;
            }
        }
        const auto training = m_training.Create<TrainingEnergyModel>();
        training->SetEnergySource(source);
        training->SetDepletionCallback(MakeCallback(&Exit::HandleDepletion, exit));
        training->Attach(device);
        source->AppendDeviceEnergyModel(training);
        models.Add(training);
        m_meters->sources.push_back(source);
        m_meters->models.push_back(models);
        const auto id = static_cast<uint32_t>(m_meters->sources.size() - 1);
        device->SetBattery([meters = m_meters, id]() { return meters->GetLevel(id); });
    }
    NS_ABORT_MSG_IF(m_radio && installed != radios.GetN(),
                    "FederatedEnergyHelper: a radio is on no node of the federation's devices");
    federation.GetTraceWriter()->SetEnergyCallback(MakeCallback(&Meters::GetUsed, m_meters));
}

Ptr<compat::EnergySource>
FederatedEnergyHelper::GetSource(uint32_t device) const
{
    return m_meters->sources.at(device);
}

double
FederatedEnergyHelper::GetUsed(uint32_t device) const
{
    return m_meters->GetUsed(device);
}

} // namespace ns3
