// SPDX-License-Identifier: GPL-2.0-only

#include "federated-energy-helper.h"

#include "ns3/abort.h"
#include "ns3/double.h"
#include "ns3/simple-ref-count.h"
#include "ns3/simulator.h"

namespace ns3
{

/** The battery of one device, and what draws from it. */
class FederatedEnergyHelper::Battery : public SimpleRefCount<FederatedEnergyHelper::Battery>
{
  public:
    /** It is empty. */
    void HandleDepletion()
    {
        // Not at once: a radio may be in the middle of a change of state.
        Simulator::ScheduleNow(&FederatedDevice::Leave, device);
        Simulator::Schedule(lastWords, &Battery::SwitchOff, Ptr<Battery>(this));
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
    Ptr<compat::EnergySource> source;                   //!< The energy source.
    compat::DeviceEnergyModelContainer models;          //!< What draws.
    NetDeviceContainer radios;                          //!< The radios among these.
    FederatedEnergyHelper::SwitchOffCallback switchOff; //!< Switches one off.
    Time lastWords;                                     //!< Until that is done.
};

FederatedEnergyHelper::FederatedEnergyHelper(double joules)
    : m_training("ns3::TrainingEnergyModel"),
      m_lastWords(MilliSeconds(50))
{
    m_sources.Set("BasicEnergySourceInitialEnergyJ", DoubleValue(joules));
    m_sources.Set("PeriodicEnergyUpdateInterval", TimeValue(MilliSeconds(10)));
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
    NS_ABORT_MSG_IF(!m_batteries.empty(), "FederatedEnergyHelper: batteries are installed once");
    NS_ABORT_MSG_IF(!federation.GetTraceWriter(),
                    "FederatedEnergyHelper: Install comes before that of the federation");
    uint32_t installed = 0;
    for (const auto& device : federation.GetDevices())
    {
        const auto battery = Create<Battery>();
        battery->device = device;
        battery->source = m_sources.Install(device->GetNode()).Get(0);
        battery->switchOff = m_switchOff;
        battery->lastWords = m_lastWords;
        for (uint32_t i = 0; m_radio && i < radios.GetN(); ++i)
        {
            if (radios.Get(i)->GetNode() == device->GetNode())
            {
                battery->models.Add(m_radio->Install(radios.Get(i), battery->source));
                battery->radios.Add(radios.Get(i));
                ++installed;
            }
        }
        const auto training = m_training.Create<TrainingEnergyModel>();
        training->SetEnergySource(battery->source);
        training->SetDepletionCallback(MakeCallback(&Battery::HandleDepletion, battery));
        training->Attach(device);
        battery->source->AppendDeviceEnergyModel(training);
        battery->models.Add(training);
        m_batteries.push_back(battery);
    }
    NS_ABORT_MSG_IF(m_radio && installed != radios.GetN(),
                    "FederatedEnergyHelper: a radio is on no node of the federation's devices");
    federation.GetTraceWriter()->SetEnergyCallback(MakeBoundCallback(&GetUsedOf, m_batteries));
}

Ptr<compat::EnergySource>
FederatedEnergyHelper::GetSource(uint32_t device) const
{
    return m_batteries.at(device)->source;
}

double
FederatedEnergyHelper::GetUsed(uint32_t device) const
{
    return GetUsedOf(m_batteries, device);
}

double
FederatedEnergyHelper::GetUsedOf(std::vector<Ptr<Battery>> batteries, uint32_t device)
{
    // As the models count: the source rounds every step to nanojoules.
    const auto& models = batteries.at(device)->models;
    double joules = 0;
    for (uint32_t i = 0; i < models.GetN(); ++i)
    {
        joules += models.Get(i)->GetTotalEnergyConsumption();
    }
    return joules;
}

} // namespace ns3
