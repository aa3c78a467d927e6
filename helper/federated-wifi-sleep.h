// SPDX-License-Identifier: GPL-2.0-only

#ifndef FEDERATED_WIFI_SLEEP_H
#define FEDERATED_WIFI_SLEEP_H

#include "ns3/event-id.h"
#include "ns3/federated-device.h"
#include "ns3/fusion-center.h"
#include "ns3/net-device-container.h"
#include "ns3/nstime.h"
#include "ns3/object.h"
#include "ns3/propagation-delay-model.h"
#include "ns3/propagation-loss-model.h"
#include "ns3/round-record.h"
#include "ns3/traced-callback.h"
#include "ns3/wifi-mac-queue.h"
#include "ns3/yans-wifi-channel.h"
#include "ns3/yans-wifi-phy.h"

#include <cstdint>
#include <set>
#include <vector>

namespace ns3
{

/**
 * @ingroup federated
 * @brief Lets the radios of devices sleep that do not take part in a round.
 *
 * The radio of a device is awake if the device is selected and has not answered yet, or if it needs
 * its link by itself (FederatedDevice's trace source LinkNeeded: it joins, leaves, or waits for an
 * acknowledgment). An ideal wake-up radio, which is not simulated, tells a device that it is
 * selected; its radio can receive after the attribute Lead, and FusionCenter's attribute WakeTime
 * lets the center wait for that.
 *
 * Where the center pages its devices (FusionCenter's attribute PageInterval) there is no wake-up
 * radio, and nothing is known to a device but the time and what it has received: all radios listen
 * for WakeTime at each multiple of PageInterval, and then that of a device stays awake which needs
 * its link, as a page has named it. Who misses the page sleeps on.
 *
 * @verbatim
        selected, listens, or needs its link         Lead
   ASLEEP --------------------------------> WAKING --------> AWAKE <---+
     ^                                        |                |       |
     +----------------------------------------+                |       | again
     |             neither any more                            v       |
     +------------------------------------------------------- DROWSY --+
        it is idle, has nothing to send, and nobody sends
   @endverbatim
 *
 * ns-3 computes the reception of every frame at every radio of a channel, also at those that sleep.
 * So radios that sleep are taken off: when they are too many, all others move to a new channel with
 * the same models of loss and delay. Frames in flight still arrive. A radio that was taken off does
 * not know of the frames on the air: it is on the channel for Lead, which is longer than any frame,
 * before it may send.
 */
class FederatedWifiSleep : public Object
{
  public:
    /** What a radio does. */
    enum State
    {
        AWAKE,  //!< It sends and receives.
        DROWSY, //!< It will sleep as soon as it is idle.
        ASLEEP, //!< It sleeps.
        WAKING, //!< It sleeps still, and is on the channel.
    };

    /**
     * TracedCallback signature of Sleeping.
     * @param device The device.
     * @param sleeping Whether its radio falls asleep or wakes.
     */
    using SleepingTracedCallback = void (*)(uint32_t device, bool sleeping);

    /**
     * @brief Get the type ID.
     * @return the object TypeId
     */
    static TypeId GetTypeId();

    /**
     * Begin, once, before the simulation.
     * @param center The center.
     * @param devices The devices.
     * @param radios Their radios, in the same order.
     * @param channel The channel of the cell. What else is on it stays awake.
     * @param loss The first model of its loss.
     * @param delay Its delay.
     */
    void Start(const Ptr<FusionCenter>& center,
               const std::vector<Ptr<FederatedDevice>>& devices,
               const NetDeviceContainer& radios,
               const Ptr<YansWifiChannel>& channel,
               const Ptr<PropagationLossModel>& loss,
               const Ptr<PropagationDelayModel>& delay);

    /**
     * @param device A device.
     * @return what its radio does.
     */
    State GetState(uint32_t device) const;

    /** @return how long radios have been awake so far, in seconds, the mean of all devices. */
    double GetAwakeSeconds() const;

  protected:
    void DoDispose() override;

  private:
    /** The radio of a device. */
    struct Radio
    {
        Ptr<FederatedDevice> device;           //!< The device.
        Ptr<YansWifiPhy> phy;                  //!< Its radio.
        std::vector<Ptr<WifiMacQueue>> queues; //!< Those of its MAC.
        State state = AWAKE;                   //!< What the radio does.
        bool selected = false; //!< Whether the device was selected, and has not answered.
        bool needed = false;   //!< Whether it needs its link by itself.
        bool listens = false;  //!< Whether it listens for a page.
        Time drowsy;           //!< When it was to fall asleep.
        EventId event;         //!< Wakes it, or lets it sleep.
    };

    /** Trace sink of RoundStart. */
    void HandleRoundStart(uint32_t round, const std::vector<uint32_t>& selected);
    /** Trace sink of RoundEnd. */
    void HandleRoundEnd(const RoundRecord& record);
    /** Trace sink of LinkNeeded. */
    void HandleNeed(uint32_t device, bool needed);

    /** Trace sink of Running. */
    void HandleRunning(bool running);

    /** Trace sink of Finished. */
    void HandleFinished(uint32_t rounds);

    /** The simulation begins: radios that nobody needs fall asleep. */
    void Begin();

    /** @return the next multiple of PageInterval. */
    Time GetNextPage() const;

    /** Radios of devices that run wake, or stay awake, for the next page. */
    void Listen();

    /** No page is expected any more until the next one is due, while the center runs. */
    void EndListening();

    /** Radios will listen when the next page is due. */
    void AwaitPage();

    /** Radios that listen and are not needed fall asleep. */
    void StopListening();

    /** No device is selected any more. */
    void EndSelection();

    /**
     * A round is over: a device that waits for the acknowledgment of its DONE waits no longer.
     * @param end When the round ended.
     * @param devices Devices that were selected.
     */
    void EndLinger(const Time& end, const std::vector<uint32_t>& devices);

    /**
     * Let a radio wake or fall asleep, as its device needs it now.
     * @param index The device.
     */
    void Update(uint32_t index);

    /**
     * Change what a radio does.
     * @param radio The radio.
     * @param state What it does from now on.
     */
    void SetState(Radio& radio, State state);

    /**
     * Lead is over.
     * @param index The device.
     */
    void Wake(uint32_t index);

    /**
     * Let a radio sleep if it is idle, or look again later.
     * @param index The device.
     */
    void TrySleep(uint32_t index);

    /**
     * @param radio A radio that is to fall asleep.
     * @return whether its MAC has frames to send; no longer than Linger.
     */
    bool HasFrames(const Radio& radio) const;

    /** @return a radio that is sending, of those that do not sleep; null: none. */
    Ptr<YansWifiPhy> FindSender();

    /** Look for it among all of them. */
    Ptr<YansWifiPhy> LookForSender();

    /**
     * Find the radios on the channel of the cell that are of no device.
     * @return whether there are new ones.
     */
    bool FindOthers();

    /** Put radios on the channel that do not sleep; use a new one if too many of it sleep. */
    void TidyChannel();

    /**
     * Put a radio on the channel, if it is not.
     * @param index The device.
     */
    void Attach(uint32_t index);

    // Attributes
    Time m_lead;                //!< From waking to receiving.
    Time m_linger;              //!< How long an acknowledgment is waited for after a round.
    uint32_t m_maxSleepers = 0; //!< Radios that sleep and are on the channel.

    // State
    Time m_pageInterval;                    //!< Of the center.
    Time m_pageTime;                        //!< How long radios listen then.
    EventId m_pageEvent;                    //!< Begins or ends that.
    bool m_hasCenterRun = false;            //!< Whether the center was seen to run.
    Ptr<FusionCenter> m_center;             //!< The center.
    Ptr<YansWifiChannel> m_first;           //!< The channel of the cell.
    Ptr<PropagationLossModel> m_loss;       //!< Of all channels.
    Ptr<PropagationDelayModel> m_delay;     //!< Of all channels.
    std::vector<Radio> m_radios;            //!< By device.
    std::vector<uint32_t> m_selected;       //!< Devices of the round; with pages none.
    Time m_roundStart;                      //!< When they were selected.
    Ptr<YansWifiChannel> m_channel;         //!< That which is used now.
    std::set<uint32_t> m_up;                //!< Devices whose radio is not ASLEEP.
    std::set<uint32_t> m_attached;          //!< Devices whose radio is on m_channel.
    std::vector<Ptr<YansWifiPhy>> m_others; //!< The receiver, and listeners.
    std::size_t m_scanned = 0;              //!< Radios of m_first that were looked at.
    Time m_looked = Time::Min();            //!< When a sender was looked for.
    Ptr<YansWifiPhy> m_sender;              //!< It; null: there was none.
    EventId m_beginEvent;                   //!< Calls Begin().
    EventId m_tidyEvent;                    //!< Calls TidyChannel().
    uint32_t m_awake = 0;                   //!< Radios that are not asleep.
    double m_awakeSeconds = 0;              //!< Mean until m_counted.
    Time m_counted;                         //!< Until when it was counted.

    // Trace sources
    TracedCallback<uint32_t, bool> m_sleepingTrace; //!< Sleeping.
};

} // namespace ns3

#endif // FEDERATED_WIFI_SLEEP_H
