// SPDX-License-Identifier: GPL-2.0-only

#include "federated-wifi-sleep.h"

#include "ns3/abort.h"
#include "ns3/log.h"
#include "ns3/pointer.h"
#include "ns3/simulator.h"
#include "ns3/uinteger.h"
#include "ns3/wifi-mac.h"
#include "ns3/wifi-net-device.h"

#include <algorithm>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("FederatedWifiSleep");
NS_OBJECT_ENSURE_REGISTERED(FederatedWifiSleep);

namespace
{

// A radio is idle during SIFS (16 us), before it acknowledges a frame.
const Time SETTLING = MicroSeconds(30);
const Time SENDING = MilliSeconds(1); // until frames that wait are looked for again

/** @return all queues of the MAC of a radio. */
std::vector<Ptr<WifiMacQueue>>
FindQueues(const Ptr<WifiNetDevice>& radio)
{
    std::vector<Ptr<WifiMacQueue>> queues;
    for (const char* name : {"Txop", "VO_Txop", "VI_Txop", "BE_Txop", "BK_Txop"})
    {
        PointerValue value;
        if (radio->GetMac()->GetAttributeFailSafe(name, value) && value.Get<Object>())
        {
            value.Get<Object>()->GetAttribute("Queue", value);
            queues.push_back(value.Get<WifiMacQueue>());
        }
    }
    return queues;
}

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
                          "the acknowledgment of its DONE, and one that is to sleep while its MAC "
                          "has frames to send.",
                          TimeValue(MilliSeconds(50)),
                          MakeTimeAccessor(&FederatedWifiSleep::m_linger),
                          MakeTimeChecker(Time(0)))
            .AddAttribute(
                "MaxSleepers",
                "Radios that sleep and are on the channel, at most: each costs about a "
                "microsecond for every frame. Beyond it all others move to a new channel, "
                "of which ns-3 keeps about 500 bytes. Without fading results do not "
                "depend on it.",
                UintegerValue(32),
                MakeUintegerAccessor(&FederatedWifiSleep::m_maxSleepers),
                MakeUintegerChecker<uint32_t>())
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
    m_channel = channel;
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
        m_attached.insert(i);
        m_radios[i].phy = DynamicCast<YansWifiPhy>(radio->GetPhy());
        m_radios[i].queues = FindQueues(radio);
        NS_ABORT_MSG_IF(!m_radios[i].phy,
                        "FederatedWifiSleep: the radio of device " << i << " has no YansWifiPhy");
        devices[i]->TraceConnectWithoutContext("LinkNeeded",
                                               MakeCallback(&FederatedWifiSleep::HandleNeed, self));
    }
    center->TraceConnectWithoutContext("RoundStart",
                                       MakeCallback(&FederatedWifiSleep::HandleRoundStart, self));
    center->TraceConnectWithoutContext("RoundEnd",
                                       MakeCallback(&FederatedWifiSleep::HandleRoundEnd, self));
    center->TraceConnectWithoutContext("Running",
                                       MakeCallback(&FederatedWifiSleep::HandleRunning, self));
    center->TraceConnectWithoutContext("Finished",
                                       MakeCallback(&FederatedWifiSleep::HandleFinished, self));
    m_beginEvent = Simulator::ScheduleNow(&FederatedWifiSleep::Begin, this);
}

void
FederatedWifiSleep::DoDispose()
{
    m_beginEvent.Cancel();
    m_pageEvent.Cancel();
    m_tidyEvent.Cancel();
    for (Radio& radio : m_radios)
    {
        radio.event.Cancel();
    }
    m_radios.clear();
    m_selected.clear();
    m_center = nullptr;
    m_up.clear();
    m_others.clear();
    m_sender = nullptr;
    m_first = nullptr;
    m_channel = nullptr;
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
    TimeValue interval;
    TimeValue listening;
    m_center->GetAttribute("PageInterval", interval);
    m_center->GetAttribute("WakeTime", listening);
    m_pageInterval = interval.Get();
    m_pageTime = listening.Get();
    if (m_pageInterval.IsStrictlyPositive())
    {
        for (Radio& radio : m_radios)
        {
            radio.listens = true; // devices that have not started yet will have until then
        }
        m_pageEvent = Simulator::Schedule(
            GetNextPage() + m_pageTime - Simulator::Now(), &FederatedWifiSleep::EndListening, this);
    }
    for (uint32_t i = 0; i < m_radios.size(); ++i)
    {
        Update(i);
    }
}

Time
FederatedWifiSleep::GetNextPage() const
{
    const int64_t interval = m_pageInterval.GetTimeStep();
    return m_pageInterval * ((Simulator::Now().GetTimeStep() + interval - 1) / interval);
}

void
FederatedWifiSleep::Listen()
{
    for (uint32_t i = 0; i < m_radios.size(); ++i)
    {
        m_radios[i].listens = m_radios[i].device->IsRunning(); // its battery may be empty
        Update(i);
    }
    m_pageEvent = Simulator::Schedule(
        GetNextPage() + m_pageTime - Simulator::Now(), &FederatedWifiSleep::EndListening, this);
}

void
FederatedWifiSleep::StopListening()
{
    for (uint32_t i = 0; i < m_radios.size(); ++i)
    {
        m_radios[i].listens = false;
        Update(i);
    }
}

void
FederatedWifiSleep::EndListening()
{
    StopListening();
    if (m_hasCenterRun && !m_center->IsRunning())
    {
        return; // until it starts again: a simulation without Stop() ends
    }
    m_hasCenterRun = m_center->IsRunning();
    AwaitPage();
}

void
FederatedWifiSleep::AwaitPage()
{
    const Time wait = GetNextPage() - m_lead - Simulator::Now();
    m_pageEvent = Simulator::Schedule(std::max(wait, Time(0)), &FederatedWifiSleep::Listen, this);
}

void
FederatedWifiSleep::HandleFinished(uint32_t)
{
    if (m_pageInterval.IsStrictlyPositive())
    {
        m_pageEvent.Cancel(); // likewise
        StopListening();
    }
}

void
FederatedWifiSleep::HandleRunning(bool running)
{
    if (!running)
    {
        EndSelection(); // no round goes on
    }
    else if (m_pageInterval.IsStrictlyPositive() && m_pageEvent.IsExpired())
    {
        AwaitPage(); // it had stopped, and starts again
    }
}

void
FederatedWifiSleep::HandleRoundStart(uint32_t, const std::vector<uint32_t>& selected)
{
    if (m_pageInterval.IsStrictlyPositive())
    {
        return; // a device knows of it by the page
    }
    m_roundStart = Simulator::Now();
    for (uint32_t device : selected)
    {
        if (device >= m_radios.size())
        {
            continue; // it joined by itself, and its radio is not one of the cell's
        }
        m_selected.push_back(device);
        // A device that has stopped stays asleep: its battery may be empty.
        m_radios.at(device).selected = m_radios.at(device).device->IsRunning();
        Update(device);
    }
}

void
FederatedWifiSleep::HandleRoundEnd(const RoundRecord& record)
{
    std::vector<uint32_t> waiting;
    for (uint32_t device : m_selected)
    {
        if (m_radios.at(device).needed)
        {
            waiting.push_back(device);
        }
    }
    EndSelection();
    if (!waiting.empty())
    {
        Simulator::Schedule(m_linger,
                            &FederatedWifiSleep::EndLinger,
                            Ptr<FederatedWifiSleep>(this),
                            record.end,
                            waiting);
    }
}

void
FederatedWifiSleep::EndSelection()
{
    const auto selected = std::move(m_selected); // a trace sink may stop the center
    m_selected.clear();
    for (uint32_t device : selected)
    {
        m_radios.at(device).selected = false;
        Update(device);
    }
}

void
FederatedWifiSleep::EndLinger(const Time& end, const std::vector<uint32_t>& devices)
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
            radio.device->GetLastGrantTime() <= end)
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
    // device was selected again, also by a center that has started again and counts anew.)
    if (!needed && radio.device->GetLastRound() == m_center->GetRound() &&
        radio.device->GetLastGrantTime() >= m_roundStart)
    {
        radio.selected = false;
    }
    Update(device);
}

void
FederatedWifiSleep::Update(uint32_t index)
{
    Radio& radio = m_radios.at(index);
    const bool isUp = radio.selected || radio.needed || radio.listens;
    if (isUp && radio.state == ASLEEP)
    {
        SetState(radio, WAKING);
        radio.event = Simulator::Schedule(m_lead, &FederatedWifiSleep::Wake, this, index);
    }
    else if (isUp && radio.state == DROWSY)
    {
        radio.event.Cancel();
        SetState(radio, AWAKE);
    }
    else if (!isUp && radio.state == AWAKE)
    {
        radio.drowsy = Simulator::Now();
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
    if (state == ASLEEP)
    {
        m_up.erase(index);
    }
    else
    {
        m_up.insert(index);
    }
    if (m_tidyEvent.IsExpired())
    {
        m_tidyEvent = Simulator::ScheduleNow(&FederatedWifiSleep::TidyChannel, this);
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
    const bool isOut = phy->IsStateOff() || phy->IsStateSleep();
    const Ptr<YansWifiPhy> busy = phy->IsStateIdle() ? FindSender() : phy;
    if (!isOut && busy)
    {
        const Time wait = busy->GetDelayUntilIdle() + SETTLING;
        radio.event = Simulator::Schedule(wait, &FederatedWifiSleep::TrySleep, this, index);
        return;
    }
    if (!isOut && HasFrames(radio))
    {
        radio.event = Simulator::Schedule(SENDING, &FederatedWifiSleep::TrySleep, this, index);
        return;
    }
    if (!isOut)
    {
        phy->SetSleepMode();
    }
    SetState(radio, ASLEEP);
}

bool
FederatedWifiSleep::HasFrames(const Radio& radio) const
{
    return Simulator::Now() < radio.drowsy + m_linger &&
           std::any_of(radio.queues.begin(),
                       radio.queues.end(),
                       [](const auto& queue) { return !queue->IsEmpty(); });
}

Ptr<YansWifiPhy>
FederatedWifiSleep::FindSender()
{
    // What begins to send now has not reached any radio yet.
    if (m_looked != Simulator::Now() || (m_sender && !m_sender->IsStateTx()))
    {
        m_looked = Simulator::Now();
        m_sender = LookForSender();
    }
    return m_sender;
}

Ptr<YansWifiPhy>
FederatedWifiSleep::LookForSender()
{
    FindOthers();
    for (const Ptr<YansWifiPhy>& phy : m_others)
    {
        if (phy->IsStateTx())
        {
            return phy;
        }
    }
    for (uint32_t device : m_up)
    {
        if (m_radios[device].phy->IsStateTx())
        {
            return m_radios[device].phy;
        }
    }
    return nullptr;
}

bool
FederatedWifiSleep::FindOthers()
{
    if (m_scanned == m_first->GetNDevices())
    {
        return false;
    }
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
    return true;
}

void
FederatedWifiSleep::TidyChannel()
{
    const bool hasNew = FindOthers();
    for (uint32_t device : m_up)
    {
        Attach(device);
    }
    // Those that are attached and not in m_up sleep.
    if (m_attached.size() - m_up.size() <= m_maxSleepers && !(hasNew && m_channel != m_first))
    {
        return;
    }
    m_channel = CreateObject<YansWifiChannel>();
    m_channel->SetPropagationLossModel(m_loss);
    m_channel->SetPropagationDelayModel(m_delay);
    m_attached.clear();
    for (const Ptr<YansWifiPhy>& phy : m_others)
    {
        phy->SetChannel(m_channel);
    }
    for (uint32_t device : m_up)
    {
        Attach(device);
    }
}

void
FederatedWifiSleep::Attach(uint32_t index)
{
    if (m_attached.insert(index).second)
    {
        m_radios[index].phy->SetChannel(m_channel);
    }
}

} // namespace ns3
