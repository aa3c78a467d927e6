// SPDX-License-Identifier: GPL-2.0-only

#include "federated-wifi-tuning.h"

#include "federated-neighbors.h"

#include "ns3/ap-wifi-mac.h"
#include "ns3/block-ack-manager.h"
#include "ns3/boolean.h"
#include "ns3/ipv4.h"
#include "ns3/node.h"
#include "ns3/pointer.h"
#include "ns3/qos-txop.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"
#include "ns3/wifi-mac.h"
#include "ns3/wifi-net-device.h"
#include "ns3/wifi-psdu.h"

#include <map>
#include <string>

namespace ns3::federated
{

namespace
{

constexpr uint8_t BEST_EFFORT = 0; // the traffic of a federation

/**
 * @return whether a receiver keeps an agreement when it is asked for a new one: not from ns-3.37
 * on, which also knows links.
 */
template <typename Mac>
auto
KeepsOldAgreements(const Mac& mac, int) -> decltype(mac.GetNLinks(), bool())
{
    return false;
}

/** In earlier releases. */
template <typename Mac>
bool
KeepsOldAgreements(const Mac&, long)
{
    return true;
}

/**
 * End an agreement of a radio on block acknowledgments, also one that was only asked for. What was
 * sent and is not acknowledged is then sent again, and nothing waits for the agreement any more.
 * @tparam Manager ns3::BlockAckManager, whose functions depend on the release.
 * @tparam Group From ns-3.44 on, an agreement may be for a group.
 */
template <typename Manager, typename... Group>
void
EndAgreement(Manager& manager,
             Mac48Address recipient,
             void (Manager::*end)(const Mac48Address&, uint8_t, Group...))
{
    constexpr uint8_t ONLY_LINK = 0;
    if (manager.GetAgreementAsOriginator(recipient, BEST_EFFORT))
    {
        manager.NotifyMissedBlockAck(ONLY_LINK, recipient, BEST_EFFORT);
        manager.NotifyOriginatorAgreementNoReply(recipient, BEST_EFFORT, Group()...);
        (manager.*end)(recipient, BEST_EFFORT, Group()...);
    }
}

/** From ns-3.38 on. */
template <typename Manager>
auto
EndAgreement(Manager& manager, Mac48Address recipient, int)
    -> decltype(&Manager::DestroyOriginatorAgreement, void())
{
    EndAgreement(manager, recipient, &Manager::DestroyOriginatorAgreement);
}

/** In earlier releases. */
template <typename Manager>
auto
EndAgreement(Manager& manager, Mac48Address recipient, long)
    -> decltype(manager.DestroyAgreement(recipient, BEST_EFFORT))
{
    if (manager.ExistsAgreement(recipient, BEST_EFFORT))
    {
        manager.NotifyMissedBlockAck(recipient, BEST_EFFORT);
        manager.NotifyAgreementNoReply(recipient, BEST_EFFORT);
        manager.DestroyAgreement(recipient, BEST_EFFORT);
    }
}

/** Whom a radio asked for acknowledgments in vain. */
struct UnansweredRequests : public SimpleRefCount<UnansweredRequests>
{
    /** Requests to somebody. */
    struct Requests
    {
        uint32_t count = 0; //!< In a row.
        Time last;          //!< The last of them.
    };

    BlockAckManager* manager;                  //!< Keeps the agreements of the radio.
    uint32_t limit;                            //!< How many are enough.
    std::map<Mac48Address, Requests> requests; //!< By who was asked.
};

/**
 * Count a request that was not answered in time. Signature of WifiMac's trace PsduResponseTimeout,
 * which data fire too.
 */
void
CountUnanswered(Ptr<UnansweredRequests> unanswered,
                uint8_t,
                Ptr<const WifiPsdu> frames,
                const WifiTxVector&)
{
    if (!frames->GetHeader(0).IsBlockAckReq())
    {
        return;
    }
    const Time now = Simulator::Now();
    auto& [count, last] = unanswered->requests[frames->GetAddr1()];
    count = now - last < MilliSeconds(100) ? count + 1 : 1;
    last = now;
    if (count >= unanswered->limit)
    {
        count = 0;
        EndAgreement(*unanswered->manager, frames->GetAddr1(), 0);
    }
}

/**
 * Let block acknowledgments work where stations come and go.
 * @param mac Of a radio.
 * @param txop Its queue.
 * @param limit Requests for an acknowledgment that are not answered, until an agreement ends; 0:
 * any number.
 */
void
TuneAgreements(const Ptr<WifiMac>& mac, const Ptr<QosTxop>& txop, uint32_t limit)
{
    if (DynamicCast<ApWifiMac>(mac))
    {
        // Data of which nothing is acknowledged are sent again and given up after some tries, as
        // single frames are. Else the access point asks somebody who walked away for
        // acknowledgments until the data are too old, and lets no others through. (A station has
        // nobody else to talk to, and goes on.)
        txop->SetAttribute("UseExplicitBarAfterMissedBlockAck", BooleanValue(false));
        mac->GetWifiRemoteStationManager()->SetAttributeFailSafe(
            "IncrementRetryCountUnderBa", BooleanValue(true)); // since ns-3.44
    }
    if (KeepsOldAgreements(*mac, 0))
    {
        // It would wait for what was given up under the old one, unless that ends by itself.
        mac->SetAttribute("BE_BlockAckInactivityTimeout", UintegerValue(500)); // times 1024 us
    }
    // Nor is anybody to be asked without end.
    if (limit > 0)
    {
        const auto unanswered = Create<UnansweredRequests>();
        unanswered->manager = PeekPointer(txop->GetBaManager());
        unanswered->limit = limit;
        mac->TraceConnectWithoutContext("PsduResponseTimeout",
                                        MakeBoundCallback(&CountUnanswered, unanswered));
    }
}

/**
 * Fill an entry of an ARP cache. Signature of a bound callback of a net device.
 * @param device Whose cache; it may own the callback that calls this.
 * @param address The address.
 * @param hardware What it stands for.
 */
void
AddArpEntry(NetDevice* device, Ipv4Address address, Address hardware)
{
    FederatedNeighbors::Add(device, address, hardware);
}

/**
 * Fill an entry of an ARP cache, and again whenever the device associates.
 * @param at Whose cache.
 * @param other The radio to know, with an address.
 */
void
Introduce(const Ptr<NetDevice>& at, const Ptr<NetDevice>& other)
{
    const auto ipv4 = other->GetNode()->GetObject<Ipv4>();
    const Ipv4Address address = ipv4->GetAddress(ipv4->GetInterfaceForDevice(other), 0).GetLocal();
    AddArpEntry(PeekPointer(at), address, other->GetAddress());
    // A cache is flushed when its device associates, by a callback that was added before.
    at->AddLinkChangeCallback(
        MakeBoundCallback(&AddArpEntry, PeekPointer(at), address, other->GetAddress()));
}

} // namespace

void
TuneRadio(const Ptr<NetDevice>& device, const WifiTuning& tuning)
{
    const auto mac = DynamicCast<WifiNetDevice>(device)->GetMac();
    for (const char* name : {"Txop", "BE_Txop"})
    {
        PointerValue pointer;
        mac->GetAttribute(name, pointer);
        const auto txop = pointer.Get<Object>();
        if (!txop)
        {
            continue; // a radio with quality of service has no other
        }
        txop->SetAttributeFailSafe("AddBaResponseTimeout", TimeValue(tuning.addBaTimeout));
        if (const auto qosTxop = DynamicCast<QosTxop>(txop))
        {
            TuneAgreements(mac, qosTxop, tuning.blockAckLimit);
        }
        txop->GetAttribute("Queue", pointer);
        const auto queue = pointer.Get<Object>();
        queue->SetAttribute("MaxSize", StringValue(std::to_string(tuning.queuePackets) + "p"));
        queue->SetAttribute("MaxDelay", TimeValue(tuning.queueDelay));
    }
}

void
TuneAssociation(const NetDeviceContainer& stations)
{
    for (uint32_t i = 0; i < stations.GetN(); ++i)
    {
        // Each waits somewhat longer for beacons before it associates.
        const auto station = DynamicCast<WifiNetDevice>(stations.Get(i))->GetMac();
        const Time wait = MilliSeconds(120 + 10 * static_cast<int64_t>(i));
        station->SetAttribute("WaitBeaconTimeout", TimeValue(wait));
        // It stays associated for a day without beacons. There is no other access point to
        // look for; and ns-3.37 aborts where beacons cease while a station asks to associate.
        station->SetAttribute("MaxMissedBeacons", UintegerValue(1000000));
    }
}

void
FillArpCaches(const Ptr<NetDevice>& accessPoint, const NetDeviceContainer& stations)
{
    for (uint32_t i = 0; i < stations.GetN(); ++i)
    {
        Introduce(stations.Get(i), accessPoint);
        Introduce(accessPoint, stations.Get(i));
    }
}

} // namespace ns3::federated
