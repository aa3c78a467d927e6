// SPDX-License-Identifier: GPL-2.0-only

#include "federated-wifi-sleep.h"

#include "ns3/abort.h"
#include "ns3/boolean.h"
#include "ns3/log.h"
#include "ns3/simulator.h"
#include "ns3/wifi-net-device.h"

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("FederatedWifiSleep");
NS_OBJECT_ENSURE_REGISTERED(FederatedWifiSleep);

namespace
{

// A frame that arrived just before a radio left the channel is seen by its PHY after 4 us, and the
// acknowledgment of a frame that it received is sent after 16 us (SIFS), during which it is idle.
const Time SETTLING = MicroSeconds(30);

} // namespace

TypeId
FederatedWifiSleep::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::FederatedWifiSleep")
            .SetParent<Object>()
            .SetGroupName("Federated")
            .AddConstructor<FederatedWifiSleep>()
            .AddAttribute("Lead",
                          "Time from the wake-up of a radio until it receives. It must not be "
                          "shorter than a frame: a radio that wakes during a frame that it did not "
                          "hear begin would send into it.",
                          TimeValue(MilliSeconds(6)),
                          MakeTimeAccessor(&FederatedWifiSleep::m_lead),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("Linger",
                          "How long after a round the radio of a device stays awake that waits for "
                          "the acknowledgment of its DONE.",
                          TimeValue(MilliSeconds(50)),
                          MakeTimeAccessor(&FederatedWifiSleep::m_linger),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("SwapChannel",
                          "Whether radios that sleep are taken off the channel. Without fading the "
                          "results are the same without it, at the cost of an event for every "
                          "frame and radio.",
                          BooleanValue(true),
                          MakeBooleanAccessor(&FederatedWifiSleep::m_swapsChannel),
                          MakeBooleanChecker())
            .AddTraceSource("Sleeping",
                            "A radio falls asleep, or wakes.",
                            MakeTraceSourceAccessor(&FederatedWifiSleep::m_sleepingTrace),
                            "ns3::FederatedWifiSleep::SleepingTracedCallback");
    return tid;
}

void
FederatedWifiSleep::Start(const Ptr<FusionCenter>& center,
                          const std::vector<Ptr<FederatedDevice>>& devices,
                          const NetDeviceContainer& radios,
                          const Ptr<YansWifiChannel>& channel,
                          const Ptr<PropagationLossModel>& loss,
                          const Ptr<PropagationDelayModel>& delay)
{
    NS_ABORT_MSG_IF(m_center, "FederatedWifiSleep: Start is called once");
    NS_ABORT_MSG_IF(devices.size() != radios.GetN(),
                    "FederatedWifiSleep: there are " << devices.size() << " devices and "
                                                     << radios.GetN() << " radios");
    // The traces keep it, so that it outlives the helpers of a script, until the simulation ends.
    const Ptr<FederatedWifiSleep> self(this);
    Simulator::ScheduleDestroy(&Object::Dispose, self);
    m_center = center;
    m_first = channel;
    m_loss = loss;
    m_delay = delay;
    m_awake = radios.GetN();
    m_radios.resize(devices.size());
    for (uint32_t i = 0; i < radios.GetN(); ++i)
    {
        const auto radio = DynamicCast<WifiNetDevice>(radios.Get(i));
        NS_ABORT_MSG_IF(!radio, "FederatedWifiSleep: the radio of device " << i << " is not wifi");
        m_radios[i].device = devices[i];
        m_up.insert(i);
        m_radios[i].phy = DynamicCast<YansWifiPhy>(radio->GetPhy());
        NS_ABORT_MSG_IF(!m_radios[i].phy,
                        "FederatedWifiSleep: the radio of device " << i << " has no YansWifiPhy");
        devices[i]->TraceConnectWithoutContext("LinkNeeded",
                                               MakeCallback(&FederatedWifiSleep::HandleNeed, self));
    }
    center->TraceConnectWithoutContext("RoundStart",
                                       MakeCallback(&FederatedWifiSleep::HandleRoundStart, self));
    center->TraceConnectWithoutContext("RoundEnd",
                                       MakeCallback(&FederatedWifiSleep::HandleRoundEnd, self));
    m_beginEvent = Simulator::ScheduleNow(&FederatedWifiSleep::Begin, this);
}

void
FederatedWifiSleep::DoDispose()
{
    m_beginEvent.Cancel();
    m_swapEvent.Cancel();
    for (Radio& radio : m_radios)
    {
        radio.event.Cancel();
    }
    m_radios.clear();
    m_center = nullptr;
    m_first = nullptr;
    m_loss = nullptr;
    m_delay = nullptr;
    Object::DoDispose();
}

FederatedWifiSleep::State
FederatedWifiSleep::GetState(uint32_t device) const
{
    return m_radios.at(device).state;
}

double
FederatedWifiSleep::GetAwakeSeconds() const
{
    const double seconds = (Simulator::Now() - m_counted).GetSeconds();
    return m_awakeSeconds + seconds * m_awake / static_cast<double>(m_radios.size());
}

void
FederatedWifiSleep::Begin()
{
    for (uint32_t i = 0; i < m_radios.size(); ++i)
    {
        Update(i);
    }
}

void
FederatedWifiSleep::HandleRoundStart(uint32_t, const std::vector<uint32_t>& selected)
{
    for (uint32_t device : selected)
    {
        if (device >= m_radios.size())
        {
            continue; // it joined by itself, and its radio is not one of the cell's
        }
        // A device that has stopped stays asleep: its battery may be empty.
        m_radios.at(device).selected = m_radios.at(device).device->IsRunning();
        Update(device);
    }
}

void
FederatedWifiSleep::HandleRoundEnd(const RoundRecord& record)
{
    std::vector<uint32_t> waiting;
    for (const LinkRecord& link : record.links)
    {
        if (link.device >= m_radios.size())
        {
            continue; // likewise
        }
        m_radios.at(link.device).selected = false;
        if (m_radios.at(link.device).needed)
        {
            waiting.push_back(link.device);
        }
        Update(link.device);
    }
    if (!waiting.empty())
    {
        Simulator::Schedule(m_linger,
                            &FederatedWifiSleep::EndLinger,
                            Ptr<FederatedWifiSleep>(this),
                            record.round,
                            waiting);
    }
}

void
FederatedWifiSleep::EndLinger(uint32_t round, const std::vector<uint32_t>& devices)
{
    for (uint32_t device : devices)
    {
        if (device >= m_radios.size())
        {
            return; // disposed of
        }
        Radio& radio = m_radios[device];
        // A device that joins or leaves goes on, and so does one with a newer grant.
        if (radio.device->HasJoined() && radio.device->IsRunning() &&
            radio.device->GetLastRound() <= round)
        {
            radio.needed = false;
            Update(device);
        }
    }
}

void
FederatedWifiSleep::HandleNeed(uint32_t device, bool needed)
{
    if (device >= m_radios.size())
    {
        return; // disposed of
    }
    Radio& radio = m_radios[device];
    radio.needed = needed;
    // It has answered this round. (The acknowledgment of an earlier DONE may arrive after the
    // device was selected again.)
    if (!needed && radio.device->GetLastRound() >= m_center->GetRound())
    {
        radio.selected = false;
    }
    Update(device);
}

void
FederatedWifiSleep::Update(uint32_t index)
{
    Radio& radio = m_radios.at(index);
    const bool isUp = radio.selected || radio.needed;
    if (isUp && radio.state == ASLEEP)
    {
        SetState(radio, WAKING);
        radio.event = Simulator::Schedule(m_lead, &FederatedWifiSleep::Wake, this, index);
    }
    // One that is needed again while it is DROWSY has missed frames: it sleeps, and wakes again.
    else if (!isUp && radio.state == AWAKE)
    {
        SetState(radio, DROWSY);
        radio.event = Simulator::Schedule(SETTLING, &FederatedWifiSleep::TrySleep, this, index);
    }
    else if (!isUp && radio.state == WAKING)
    {
        radio.event.Cancel();
        SetState(radio, ASLEEP);
    }
}

void
FederatedWifiSleep::SetState(Radio& radio, State state)
{
    NS_LOG_INFO("Radio of node " << radio.device->GetNode()->GetId() << ": " << radio.state
                                 << " -> " << state);
    const auto index = static_cast<uint32_t>(&radio - m_radios.data());
    const bool isUp = state == AWAKE || state == WAKING;
    if (isUp != (m_up.count(index) > 0))
    {
        if (isUp)
        {
            m_up.insert(index);
        }
        else
        {
            m_up.erase(index);
        }
        if (m_swapsChannel && m_swapEvent.IsExpired())
        {
            m_swapEvent = Simulator::ScheduleNow(&FederatedWifiSleep::Swap, this);
        }
    }
    const bool sleeps = state == ASLEEP || state == WAKING;
    if (sleeps != (radio.state == ASLEEP || radio.state == WAKING))
    {
        m_awakeSeconds = GetAwakeSeconds();
        m_counted = Simulator::Now();
        m_awake += sleeps ? -1 : 1;
        m_sleepingTrace(index, sleeps);
    }
    radio.state = state;
}

void
FederatedWifiSleep::Wake(uint32_t index)
{
    Radio& radio = m_radios.at(index);
    if (radio.phy->IsStateSleep()) // a radio that was switched off stays off
    {
        radio.phy->ResumeFromSleep();
    }
    SetState(radio, AWAKE);
}

void
FederatedWifiSleep::TrySleep(uint32_t index)
{
    Radio& radio = m_radios.at(index);
    const Ptr<YansWifiPhy> phy = radio.phy;
    if (!phy->IsStateIdle() && !phy->IsStateOff() && !phy->IsStateSleep())
    {
        const Time wait = phy->GetDelayUntilIdle() + SETTLING;
        radio.event = Simulator::Schedule(wait, &FederatedWifiSleep::TrySleep, this, index);
        return;
    }
    if (phy->IsStateIdle())
    {
        phy->SetSleepMode();
    }
    SetState(radio, ASLEEP);
    Update(index);
}

void
FederatedWifiSleep::FindOthers()
{
    std::set<const NetDevice*> ours;
    for (const Radio& radio : m_radios)
    {
        ours.insert(PeekPointer(radio.phy->GetDevice()));
    }
    for (; m_scanned < m_first->GetNDevices(); ++m_scanned)
    {
        const Ptr<NetDevice> device = m_first->GetDevice(m_scanned);
        if (ours.count(PeekPointer(device)) == 0)
        {
            m_others.push_back(
                DynamicCast<YansWifiPhy>(DynamicCast<WifiNetDevice>(device)->GetPhy()));
        }
    }
}

void
FederatedWifiSleep::Swap()
{
    if (m_scanned < m_first->GetNDevices()) // a listener may have been added since the last time
    {
        FindOthers();
    }
    const auto channel = CreateObject<YansWifiChannel>();
    channel->SetPropagationLossModel(m_loss);
    channel->SetPropagationDelayModel(m_delay);
    for (const Ptr<YansWifiPhy>& phy : m_others)
    {
        phy->SetChannel(channel);
    }
    for (uint32_t device : m_up)
    {
        m_radios[device].phy->SetChannel(channel);
    }
}

} // namespace ns3
