// SPDX-License-Identifier: GPL-2.0-only

#include "federated-wifi-tuning.h"

#include "federated-neighbors.h"

#include "ns3/abort.h"
#include "ns3/adhoc-wifi-mac.h"
#include "ns3/ap-wifi-mac.h"
#include "ns3/block-ack-manager.h"
#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/ht-frame-exchange-manager.h"
#include "ns3/ipv4.h"
#include "ns3/node.h"
#include "ns3/pointer.h"
#include "ns3/qos-txop.h"
#include "ns3/queue-disc.h"
#include "ns3/simulator.h"
#include "ns3/sta-wifi-mac.h"
#include "ns3/string.h"
#include "ns3/threshold-preamble-detection-model.h"
#include "ns3/traffic-control-layer.h"
#include "ns3/uinteger.h"
#include "ns3/wifi-mac-header.h"
#include "ns3/wifi-mac.h"
#include "ns3/wifi-net-device.h"
#include "ns3/wifi-phy.h"
#include "ns3/wifi-psdu.h"

#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace ns3::federated
{

namespace
{

constexpr uint8_t BEST_EFFORT = 0; // the traffic of a federation

/**
 * End the agreement under which a station received frames, if the sender asks for a new one. Sink
 * of MonitorSnifferRx, which fires before the MAC gets the frame.
 * @tparam Mac A kind of MAC; in ns-3.35 the base class of all does not give what handles its
 * frames.
 * @param mac The receiver.
 * @param frame A frame that it received.
 * @param mpdu Whether it is of an A-MPDU.
 */
template <typename Mac>
void
EndOldAgreement(Mac* mac,
                Ptr<const Packet> frame,
                uint16_t,
                WifiTxVector,
                MpduInfo mpdu,
                SignalNoiseDbm,
                uint16_t)
{
    WifiMacHeader header;
    if (mpdu.type != NORMAL_MPDU || frame->PeekHeader(header) == 0 || !header.IsMgt() ||
        !header.IsAction() || header.GetAddr1() != mac->GetAddress())
    {
        return;
    }
    // The classes that read these octets are in other files in other releases.
    std::array<uint8_t, 4> octets{}; // category, action, dialog token, parameters
    const auto body = frame->CreateFragment(header.GetSerializedSize(),
                                            frame->GetSize() - header.GetSerializedSize());
    constexpr uint8_t BLOCK_ACK = 3;
    constexpr uint8_t ADDBA_REQUEST = 0;
    const auto manager = DynamicCast<HtFrameExchangeManager>(mac->GetFrameExchangeManager());
    if (manager && body->CopyData(octets.data(), octets.size()) == octets.size() &&
        octets[0] == BLOCK_ACK && octets[1] == ADDBA_REQUEST)
    {
        manager->DestroyBlockAckAgreement(header.GetAddr2(), (octets[3] >> 2) & 0xf);
    }
}

/**
 * Have a receiver replace an old block ack agreement when the sender asks for a new one. From
 * ns-3.37 on, which is recognized by its multi-link functions, it does so.
 */
template <typename Mac>
auto
ReplaceOldAgreements(Mac& mac, int) -> decltype(mac.GetNLinks(), void())
{
}

/**
 * In earlier releases it keeps the old one, and would wait for frames that were dropped.
 * (BE_BlockAckInactivityTimeout does not mend that: a receiver ends an agreement that long after it
 * began, also in the middle of a burst, and the sender then forgets what is on its way.)
 */
template <typename Mac>
void
ReplaceOldAgreements(Mac& mac, long)
{
    mac.GetWifiPhy()->TraceConnectWithoutContext("MonitorSnifferRx",
                                                 MakeBoundCallback(&EndOldAgreement<Mac>, &mac));
}

/**
 * Call ReplaceOldAgreements() for the right kind of MAC.
 * @tparam Macs Kinds of MACs.
 * @param mac A MAC.
 */
template <typename... Macs>
void
ReplaceOldAgreementsOf(const Ptr<WifiMac>& mac)
{
    const auto replace = [](const auto& kind)
    {
        if (kind)
        {
            ReplaceOldAgreements(*kind, 0);
        }
    };
    (replace(DynamicCast<Macs>(mac)), ...);
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
    ReplaceOldAgreementsOf<AdhocWifiMac, ApWifiMac, StaWifiMac>(mac);
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

/** Neighbors of a radio in its network: their addresses and hardware addresses. */
struct Neighbors : public SimpleRefCount<Neighbors>
{
    std::vector<std::pair<Ipv4Address, Address>> entries; //!< One for each.
};

/**
 * Fill the ARP cache of a radio. Signature of a bound callback of a net device.
 * @param device The radio; it may own the callback that calls this.
 * @param neighbors What the cache gets.
 */
void
AddNeighbors(NetDevice* device, Ptr<Neighbors> neighbors)
{
    for (const auto& [address, hardware] : neighbors->entries)
    {
        FederatedNeighbors::Add(device, address, hardware);
    }
}

/**
 * @param device A net device.
 * @return its first IPv4 address; a sentence if there is none.
 */
Ipv4InterfaceAddress
GetIpv4Address(const Ptr<NetDevice>& device)
{
    const auto ipv4 = device->GetNode()->GetObject<Ipv4>();
    const int32_t interface = ipv4 ? ipv4->GetInterfaceForDevice(device) : -1;
    NS_ABORT_MSG_IF(interface < 0 || ipv4->GetNAddresses(static_cast<uint32_t>(interface)) == 0,
                    "FederatedWifiHelper: the radio of node "
                        << device->GetNode()->GetId()
                        << " has no IPv4 address for the ARP caches; assign addresses before Tune, "
                           "or call SetStaticArp(false)");
    return ipv4->GetAddress(static_cast<uint32_t>(interface), 0);
}

/**
 * @tparam Mac A kind of MAC.
 * @param device A radio.
 * @return its MAC, if it is of that kind; else null.
 */
template <typename Mac>
Ptr<Mac>
GetMac(const Ptr<NetDevice>& device)
{
    const auto radio = DynamicCast<WifiNetDevice>(device);
    NS_ABORT_MSG_IF(!radio || !radio->GetMac(),
                    "FederatedWifiHelper: net device " << device->GetIfIndex() << " of node "
                                                       << device->GetNode()->GetId()
                                                       << " is no WifiNetDevice with a MAC");
    return DynamicCast<Mac>(radio->GetMac());
}

/**
 * @param devices Some radios.
 * @return the access points among them.
 */
NetDeviceContainer
GetAccessPoints(const NetDeviceContainer& devices)
{
    NetDeviceContainer accessPoints;
    for (uint32_t i = 0; i < devices.GetN(); ++i)
    {
        if (GetMac<ApWifiMac>(devices.Get(i)))
        {
            accessPoints.Add(devices.Get(i));
        }
    }
    return accessPoints;
}

/**
 * Remove the queue disc that Ipv4AddressHelper installs.
 * @param device A net device.
 */
void
RemoveQueueDisc(const Ptr<NetDevice>& device)
{
    const auto control = device->GetNode()->GetObject<TrafficControlLayer>();
    if (control && control->GetRootQueueDiscOnDevice(device))
    {
        control->DeleteRootQueueDiscOnDevice(device);
    }
}

} // namespace

void
TuneRadio(const Ptr<NetDevice>& device, const WifiTuning& tuning)
{
    const auto mac = GetMac<WifiMac>(device);
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
    Ptr<PreambleDetectionModel> detection;
    if (tuning.hasDetection)
    {
        detection = CreateObjectWithAttributes<ThresholdPreambleDetectionModel>(
            "MinimumRssi",
            DoubleValue(tuning.minimumRssi),
            "Threshold",
            DoubleValue(tuning.threshold));
    }
    DynamicCast<WifiNetDevice>(device)->GetPhy()->SetPreambleDetectionModel(detection);
    RemoveQueueDisc(device);
}

void
TuneAssociation(const NetDeviceContainer& devices)
{
    const bool staysAssociated = GetAccessPoints(devices).GetN() <= 1;
    Time wait = MilliSeconds(120); // for beacons, each station 10 ms longer than the one before it
    for (uint32_t i = 0; i < devices.GetN(); ++i)
    {
        const auto station = GetMac<StaWifiMac>(devices.Get(i));
        if (!station)
        {
            continue;
        }
        station->SetAttribute("WaitBeaconTimeout", TimeValue(wait));
        wait += MilliSeconds(10);
        if (staysAssociated)
        {
            // It stays associated for a day without beacons: there is no other access point, and
            // ns-3.37 aborts if beacons are lost while a station associates.
            station->SetAttribute("MaxMissedBeacons", UintegerValue(1000000));
        }
    }
}

void
FillArpCaches(const NetDeviceContainer& devices)
{
    const NetDeviceContainer accessPoints = GetAccessPoints(devices);
    for (uint32_t i = 0; i < devices.GetN(); ++i)
    {
        const Ptr<NetDevice> at = devices.Get(i);
        const Ipv4InterfaceAddress own = GetIpv4Address(at);
        const NetDeviceContainer& others =
            GetMac<StaWifiMac>(at) && accessPoints.GetN() > 0 ? accessPoints : devices;
        const auto neighbors = Create<Neighbors>();
        for (uint32_t j = 0; j < others.GetN(); ++j)
        {
            const Ipv4Address address = GetIpv4Address(others.Get(j)).GetLocal();
            if (others.Get(j) != at && own.GetMask().IsMatch(own.GetLocal(), address))
            {
                neighbors->entries.emplace_back(address, others.Get(j)->GetAddress());
            }
        }
        AddNeighbors(PeekPointer(at), neighbors);
        // A cache is flushed when its device associates, by a callback that was added before.
        at->AddLinkChangeCallback(MakeBoundCallback(&AddNeighbors, PeekPointer(at), neighbors));
    }
}

} // namespace ns3::federated
