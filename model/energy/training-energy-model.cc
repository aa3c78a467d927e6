// SPDX-License-Identifier: GPL-2.0-only

#include "training-energy-model.h"

#include "ns3/double.h"
#include "ns3/log.h"
#include "ns3/simulator.h"

#include <algorithm>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("TrainingEnergyModel");

NS_OBJECT_ENSURE_REGISTERED(TrainingEnergyModel);

TypeId
TrainingEnergyModel::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::TrainingEnergyModel")
            .SetParent<compat::DeviceEnergyModel>()
            .SetGroupName("Federated")
            .AddConstructor<TrainingEnergyModel>()
            .AddAttribute("JoulesPerSample",
                          "Energy that training takes for one sample of one step, in joules.",
                          DoubleValue(0.001),
                          MakeDoubleAccessor(&TrainingEnergyModel::m_joulesPerSample),
                          MakeDoubleChecker<double>(0))
            .AddAttribute(
                "ShortestDuration",
                "Time over which the energy of a training is drawn if its simulated time is less.",
                TimeValue(MilliSeconds(1)),
                MakeTimeAccessor(&TrainingEnergyModel::m_shortest),
                MakeTimeChecker(NanoSeconds(1)));
    return tid;
}

TrainingEnergyModel::TrainingEnergyModel()
{
    NS_LOG_FUNCTION(this);
}

TrainingEnergyModel::~TrainingEnergyModel()
{
    NS_LOG_FUNCTION(this);
}

void
TrainingEnergyModel::Attach(const Ptr<FederatedDevice>& device)
{
    const Ptr<TrainingEnergyModel> self(this);
    device->TraceConnectWithoutContext("TrainingStarted",
                                       MakeCallback(&TrainingEnergyModel::Start, self));
    device->TraceConnectWithoutContext("TrainingCanceled",
                                       MakeCallback(&TrainingEnergyModel::Cancel, self));
}

void
TrainingEnergyModel::SetDepletionCallback(const DepletionCallback& callback)
{
    m_depleted = callback;
}

void
TrainingEnergyModel::SetEnergySource(Ptr<compat::EnergySource> source)
{
    m_source = source;
}

double
TrainingEnergyModel::GetTotalEnergyConsumption() const
{
    return m_before + GetDrawn();
}

void
TrainingEnergyModel::ChangeState(int)
{
}

void
TrainingEnergyModel::HandleEnergyDepletion()
{
    NS_LOG_FUNCTION(this);
    if (!m_depleted.IsNull())
    {
        m_depleted();
    }
}

void
TrainingEnergyModel::HandleEnergyRecharged()
{
}

void
TrainingEnergyModel::HandleEnergyChanged()
{
}

void
TrainingEnergyModel::DoDispose()
{
    NS_LOG_FUNCTION(this);
    m_finishEvent.Cancel();
    m_tellEvent.Cancel();
    m_source = nullptr;
    m_depleted = DepletionCallback();
    compat::DeviceEnergyModel::DoDispose();
}

double
TrainingEnergyModel::DoGetCurrentA() const
{
    return m_joules > 0 ? m_joules / m_duration.GetSeconds() / m_source->GetSupplyVoltage() : 0;
}

double
TrainingEnergyModel::GetDrawn() const
{
    const Time elapsed = Simulator::Now() - m_start;
    return m_joules > 0 ? m_joules * (elapsed.GetSeconds() / m_duration.GetSeconds()) : 0;
}

void
TrainingEnergyModel::Start(const FederatedDevice::TrainingPlan& plan)
{
    NS_LOG_FUNCTION(this << plan.round << plan.samples);
    if (!m_source)
    {
        return;
    }
    // Update the source before the current changes: until now the old current was drawn.
    m_source->UpdateEnergySource();
    const double drawn = GetDrawn();
    const double left = m_joules - drawn; // of a training shorter than ShortestDuration
    m_before += drawn;
    m_joules = left + m_joulesPerSample * plan.samples;
    m_start = Simulator::Now();
    m_duration = std::max(plan.duration, m_shortest);
    m_finishEvent.Cancel();
    m_finishEvent = Simulator::Schedule(m_duration, &TrainingEnergyModel::Finish, this);
    m_tellEvent.Cancel();
    Tell();
}

void
TrainingEnergyModel::Tell()
{
    m_source->UpdateEnergySource();
    if (m_joules <= 0)
    {
        return;
    }
    // Update so often that depletion is noticed within a hundredth of the battery.
    const double share = 0.01 * m_source->GetInitialEnergy() / m_joules;
    if (share < 1)
    {
        const Time step = std::max(Seconds(share * m_duration.GetSeconds()), NanoSeconds(1));
        m_tellEvent = Simulator::Schedule(step, &TrainingEnergyModel::Tell, this);
    }
}

void
TrainingEnergyModel::Finish()
{
    m_tellEvent.Cancel();
    m_source->UpdateEnergySource();
    m_before += m_joules;
    m_joules = 0;
}

void
TrainingEnergyModel::Cancel(uint32_t, uint32_t)
{
    NS_LOG_FUNCTION(this);
    if (!m_source)
    {
        return; // the device is disposed of after its battery
    }
    m_finishEvent.Cancel();
    m_tellEvent.Cancel();
    m_source->UpdateEnergySource();
    m_before += GetDrawn();
    m_joules = 0;
}

} // namespace ns3
