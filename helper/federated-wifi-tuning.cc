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
 * @return whether a receiver keeps an old agreement when it receives a new ADDBA request: not from
 * ns-3.37 on, which is recognized by its multi-link functions.
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
 * End a block ack agreement of an originator, also a pending one. Frames that are not acknowledged
 * are then retransmitted, and no frame waits for the agreement.
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

/** The unanswered block ack requests of a radio. */
struct UnansweredRequests : public SimpleRefCount<UnansweredRequests>
{
    /** Requests to one recipient. */
    struct Requests
    {
        uint32_t count = 0; //!< In a row.
        Time last;          //!< The last of them.
    };

    BlockAckManager* manager;                  //!< Keeps the agreements of the radio.
    uint32_t limit;                            //!< Requests after which an agreement ends.
    std::map<Mac48Address, Requests> requests; //!< By recipient.
};

/**
 * Count an unanswered request. Sink of WifiMac's trace source PsduResponseTimeout, which fires for
 * data frames too.
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
 * Set up block acknowledgments for cells in which stations move out of range.
 * @param mac The MAC of a radio.
 * @param txop Its channel access function.
 * @param limit Number of unanswered requests after which an agreement ends; 0: never.
 */
void
TuneAgreements(const Ptr<WifiMac>& mac, const Ptr<QosTxop>& txop, uint32_t limit)
{
    if (DynamicCast<ApWifiMac>(mac))
    {
        // An A-MPDU without any acknowledgment is retransmitted, and dropped after some tries, as
        // single frames are. Otherwise the access point repeats block ack requests to a station
        // that left until the data expire, and sends nothing else. (A station sends to the access
        // point only, and keeps the default.)
        txop->SetAttribute("UseExplicitBarAfterMissedBlockAck", BooleanValue(false));
        mac->GetWifiRemoteStationManager()->SetAttributeFailSafe(
            "IncrementRetryCountUnderBa", BooleanValue(true)); // since ns-3.44
    }
    if (KeepsOldAgreements(*mac, 0))
    {
        // Let the old agreement expire: under it the receiver would wait for frames that were
        // dropped.
        mac->SetAttribute("BE_BlockAckInactivityTimeout", UintegerValue(500)); // times 1024 us
    }
    // Unanswered requests must end as well.
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
 * @param device The device of the cache; it may own the callback that calls this.
 * @param address The address.
 * @param hardware The hardware address.
 */
void
AddArpEntry(NetDevice* device, Ipv4Address address, Address hardware)
{
    FederatedNeighbors::Add(device, address, hardware);
}

/**
 * Fill an entry of an ARP cache, and again whenever the device associates.
 * @param at The device of the cache.
 * @param other The radio that the entry is for, with an address.
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
            continue; // a QoS radio has no Txop
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
        // Each station waits 10 ms longer for beacons than the one before it.
        const auto station = DynamicCast<WifiNetDevice>(stations.Get(i))->GetMac();
        const Time wait = MilliSeconds(120 + 10 * static_cast<int64_t>(i));
        station->SetAttribute("WaitBeaconTimeout", TimeValue(wait));
        // It stays associated for a day without beacons: there is no other access point, and
        // ns-3.37 aborts if beacons are lost while a station associates.
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
