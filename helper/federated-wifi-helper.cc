// SPDX-License-Identifier: GPL-2.0-only

#include "federated-wifi-helper.h"

#include "ns3/abort.h"
#include "ns3/ap-wifi-mac.h"
#include "ns3/arp-cache.h"
#include "ns3/block-ack-manager.h"
#include "ns3/boolean.h"
#include "ns3/constant-position-mobility-model.h"
#include "ns3/data-rate.h"
#include "ns3/double.h"
#include "ns3/enum.h"
#include "ns3/federated-number.h"
#include "ns3/federated-streams.h"
#include "ns3/inet-socket-address.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-interface.h"
#include "ns3/ipv4-l3-protocol.h"
#include "ns3/ipv4-static-routing-helper.h"
#include "ns3/node.h"
#include "ns3/point-to-point-helper.h"
#include "ns3/pointer.h"
#include "ns3/propagation-delay-model.h"
#include "ns3/qos-txop.h"
#include "ns3/simulator.h"
#include "ns3/ssid.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"
#include "ns3/wifi-helper.h"
#include "ns3/wifi-mac-helper.h"
#include "ns3/wifi-mac.h"
#include "ns3/wifi-net-device.h"
#include "ns3/wifi-phy.h"
#include "ns3/wifi-psdu.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>

namespace ns3
{

namespace
{

const char* const CELL = "10.1.0.0"; // 10.1.0.1 is the access point
const char* const CELL_MASK = "255.255.0.0";
const char* const CELL_BROADCAST = "10.1.255.255";
const char* const MULTICAST_GROUP = "239.255.42.42";

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
 * Fill an entry of an ARP cache, for ever.
 * @param device Whose cache; it may own the callback that calls this.
 * @param address The address.
 * @param mac What it stands for.
 */
void
AddArpEntry(NetDevice* device, Ipv4Address address, Address mac)
{
    const auto ipv4 = device->GetNode()->GetObject<Ipv4L3Protocol>();
    const auto interface = ipv4->GetInterface(ipv4->GetInterfaceForDevice(device));
    const auto cache = interface->GetArpCache();
    ArpCache::Entry* entry = cache->Lookup(address);
    entry = entry ? entry : cache->Add(address);
    entry->SetMacAddress(mac);
    entry->MarkPermanent();
}

} // namespace

/**
 * @ingroup federated
 * @brief Fading that draws for listeners from other streams than for everybody else: ns-3 draws for
 * each receiver in turn, so that one more would change what all others receive.
 */
class FederatedWifiHelper::ListenerFading : public PropagationLossModel
{
  public:
    /** @param others What everybody else experiences. */
    void SetOthers(const Ptr<PropagationLossModel>& others)
    {
        m_others = others;
    }

    /**
     * @param listener Who listens.
     * @param fading What it experiences.
     */
    void Add(const Ptr<MobilityModel>& listener, const Ptr<PropagationLossModel>& fading)
    {
        m_listeners[PeekPointer(listener)] = fading;
    }

  protected:
    void DoDispose() override
    {
        m_others = nullptr;
        m_listeners.clear();
        PropagationLossModel::DoDispose();
    }

  private:
    double DoCalcRxPower(double power, Ptr<MobilityModel> a, Ptr<MobilityModel> b) const override
    {
        const auto found = m_listeners.find(PeekPointer(b));
        return (found == m_listeners.end() ? m_others : found->second)->CalcRxPower(power, a, b);
    }

    int64_t DoAssignStreams(int64_t stream) override
    {
        return m_others->AssignStreams(stream);
    }

    Ptr<PropagationLossModel> m_others;                                    //!< Of everybody else.
    std::map<const MobilityModel*, Ptr<PropagationLossModel>> m_listeners; //!< By receiver.
};

FederatedWifiHelper::FederatedWifiHelper()
    : m_manager("ns3::IdealWifiManager"),
      m_addBaTimeout(MilliSeconds(500)),
      m_blockAckLimit(7),
      m_queueDelay(Seconds(10))
{
}

FederatedWifiHelper::~FederatedWifiHelper() = default;

void
FederatedWifiHelper::SetMode(const std::string& mode)
{
    NS_ABORT_MSG_IF(mode != "adhoc" && mode != "infrastructure",
                    "FederatedWifiHelper: there is no mode '" << mode << "'");
    m_adhoc = mode == "adhoc";
}

void
FederatedWifiHelper::SetCenterOnWire(bool isWired)
{
    m_wired = isWired;
}

void
FederatedWifiHelper::SetWidth(uint16_t width)
{
    NS_ABORT_MSG_IF(width != 20 && width != 40 && width != 80 && width != 160,
                    "FederatedWifiHelper: 802.11ac has no channels of " << width << " MHz");
    m_width = width;
}

void
FederatedWifiHelper::SetMcs(uint32_t mcs)
{
    NS_ABORT_MSG_IF(mcs > 8, "FederatedWifiHelper: MCS " << mcs << " is above 8");
    m_mcs = mcs;
}

void
FederatedWifiHelper::SetDownlinkMcs(uint32_t mcs)
{
    NS_ABORT_MSG_IF(mcs > 8, "FederatedWifiHelper: MCS " << mcs << " is above 8");
    m_downlinkMcs = mcs;
}

void
FederatedWifiHelper::SetExponent(double exponent)
{
    m_exponent = exponent;
}

void
FederatedWifiHelper::SetFading(double m)
{
    m_fading = m;
}

bool
FederatedWifiHelper::ReadFading(const std::string& text, double& m)
{
    const std::string nakagami = "nakagami:";
    if (text == "none" || text == "rayleigh")
    {
        m = text == "none" ? 0 : 1;
        return true;
    }
    return text.compare(0, nakagami.size(), nakagami) == 0 &&
           FederatedNumber::ReadReal(text.substr(nakagami.size()), m) && m >= 0.5 && m <= 1000;
}

void
FederatedWifiHelper::SetTxPower(double dbm)
{
    m_txPower = dbm;
}

void
FederatedWifiHelper::SetCenterTxPower(double dbm)
{
    m_centerTxPower = dbm;
}

void
FederatedWifiHelper::SetRateManager(const std::string& manager)
{
    m_manager = manager;
}

void
FederatedWifiHelper::SetPreambleDetection(double minimumRssi, double threshold)
{
    m_detection = true;
    m_minimumRssi = minimumRssi;
    m_threshold = threshold;
}

void
FederatedWifiHelper::DisablePreambleDetection()
{
    m_detection = false;
}

void
FederatedWifiHelper::SetAddBaTimeout(const Time& timeout)
{
    m_addBaTimeout = timeout;
}

void
FederatedWifiHelper::SetBlockAckLimit(uint32_t requests)
{
    m_blockAckLimit = requests;
}

void
FederatedWifiHelper::SetQueue(uint32_t packets, const Time& delay)
{
    m_queuePackets = packets;
    m_queueDelay = delay;
}

void
FederatedWifiHelper::SetStaticArp(bool isStatic)
{
    m_staticArp = isStatic;
}

double
FederatedWifiHelper::GetPhyRate(uint32_t mcs) const
{
    // Data subcarriers and bits on each (modulation times code rate); a symbol takes 4 us.
    const double subcarriers = m_width == 20 ? 52 : m_width == 40 ? 108 : m_width == 80 ? 234 : 468;
    const double bits[] = {0.5, 1, 1.5, 2, 3, 4, 4.5, 5, 6};
    return subcarriers * bits[mcs] / 4e-6;
}

double
FederatedWifiHelper::GetGroupRate(uint32_t mcs) const
{
    const double message = 8 * 1400;
    const double headers = 8 * (20 + 8 + 8 + 30);    // IPv4, UDP, LLC, MAC
    const double overhead = 40e-6 + 43e-6 + 67.5e-6; // preamble, AIFS, mean backoff
    return message / ((message + headers) / GetPhyRate(mcs) + overhead);
}

void
FederatedWifiHelper::AddAddress(const Ptr<NetDevice>& device, Ipv4Address address, Ipv4Mask mask)
{
    const auto ipv4 = device->GetNode()->GetObject<Ipv4>();
    const uint32_t interface = ipv4->AddInterface(device);
    ipv4->AddAddress(interface, Ipv4InterfaceAddress(address, mask));
    ipv4->SetUp(interface);
}

void
FederatedWifiHelper::Tune(const Ptr<NetDevice>& device) const
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
        txop->SetAttributeFailSafe("AddBaResponseTimeout", TimeValue(m_addBaTimeout));
        if (const auto qosTxop = DynamicCast<QosTxop>(txop))
        {
            TuneAgreements(mac, qosTxop, m_blockAckLimit);
        }
        txop->GetAttribute("Queue", pointer);
        const auto queue = pointer.Get<Object>();
        queue->SetAttribute("MaxSize", StringValue(std::to_string(m_queuePackets) + "p"));
        queue->SetAttribute("MaxDelay", TimeValue(m_queueDelay));
    }
}

Ptr<PropagationLossModel>
FederatedWifiHelper::MakeFading() const
{
    return CreateObjectWithAttributes<NakagamiPropagationLossModel>(
        "m0", DoubleValue(m_fading), "m1", DoubleValue(m_fading), "m2", DoubleValue(m_fading));
}

NetDeviceContainer
FederatedWifiHelper::InstallRadios(const NodeContainer& nodes,
                                   const std::string& mac,
                                   uint32_t mcs,
                                   double power)
{
    WifiHelper wifi;
    wifi.SetStandard(WIFI_STANDARD_80211ac);
    const StringValue mode("VhtMcs" + std::to_string(mcs));
    if (m_adhoc)
    {
        wifi.SetRemoteStationManager(
            "ns3::ConstantRateWifiManager", "DataMode", mode, "NonUnicastMode", mode);
    }
    else
    {
        wifi.SetRemoteStationManager(m_manager, "NonUnicastMode", mode);
    }
    m_phy.Set("TxPowerStart", DoubleValue(power));
    m_phy.Set("TxPowerEnd", DoubleValue(power));
    WifiMacHelper macs;
    macs.SetType(m_adhoc ? "ns3::AdhocWifiMac" : mac, "Ssid", SsidValue(Ssid("federated")));
    return wifi.Install(m_phy, macs, nodes);
}

void
FederatedWifiHelper::Install(const NodeContainer& devices, const Ptr<Node>& accessPoint)
{
    NS_ABORT_MSG_IF(m_accessPoint, "FederatedWifiHelper: a cell is installed once");
    NS_ABORT_MSG_IF(m_wired && m_adhoc, "FederatedWifiHelper: ad hoc, the center is in the cell");
    m_accessPoint = accessPoint;

    m_channel = CreateObject<YansWifiChannel>();
    m_channel->SetPropagationDelayModel(CreateObject<ConstantSpeedPropagationDelayModel>());
    m_pathLoss = CreateObjectWithAttributes<LogDistancePropagationLossModel>(
        "Exponent", DoubleValue(m_exponent));
    if (m_fading > 0)
    {
        m_fadingLoss = MakeFading();
        m_pathLoss->SetNext(m_fadingLoss);
    }
    m_channel->SetPropagationLossModel(m_pathLoss);
    m_phy.SetChannel(m_channel);
    m_phy.SetPcapDataLinkType(WifiPhyHelper::DLT_IEEE802_11_RADIO);
    m_phy.Set("RxSensitivity", DoubleValue(-130)); // what is weaker leaves no trace at all
    TypeId::AttributeInformation information;
    if (TypeId::LookupByName("ns3::WifiPhy")
            .LookupAttributeByName("ChannelSettings", &information)) // since ns-3.36
    {
        m_phy.Set("ChannelSettings",
                  StringValue("{0, " + std::to_string(m_width) + ", BAND_5GHZ, 0}"));
    }
    else
    {
        m_phy.Set("ChannelWidth", UintegerValue(m_width));
    }
    if (m_detection)
    {
        m_phy.SetPreambleDetectionModel("ns3::ThresholdPreambleDetectionModel",
                                        "MinimumRssi",
                                        DoubleValue(m_minimumRssi),
                                        "Threshold",
                                        DoubleValue(m_threshold));
    }
    else
    {
        m_phy.DisablePreambleDetectionModel();
    }

    m_devices = InstallRadios(devices, "ns3::StaWifiMac", m_mcs, m_txPower);
    m_receiver = InstallRadios(m_accessPoint, "ns3::ApWifiMac", m_downlinkMcs, m_centerTxPower);
    if (!m_adhoc)
    {
        for (uint32_t i = 0; i < m_devices.GetN(); ++i)
        {
            // Each waits somewhat longer for beacons before it associates.
            const auto station = DynamicCast<WifiNetDevice>(m_devices.Get(i))->GetMac();
            const Time wait = MilliSeconds(120 + 10 * static_cast<int64_t>(i));
            station->SetAttribute("WaitBeaconTimeout", TimeValue(wait));
            // It stays associated for a day without beacons. There is no other access point to
            // look for; and ns-3.37 aborts where beacons cease while a station asks to associate.
            station->SetAttribute("MaxMissedBeacons", UintegerValue(1000000));
        }
    }

    InternetStackHelper internet; // static routing alone would not deliver what came to a group
    internet.SetIpv6StackInstall(false);
    internet.Install(NodeContainer(devices, NodeContainer(m_accessPoint)));
    const uint32_t network = Ipv4Address(CELL).Get();
    AddAddress(GetReceiver(), Ipv4Address(network + 1), CELL_MASK);
    Tune(GetReceiver());
    m_center = m_accessPoint;
    m_centerAddress = Ipv4Address(network + 1);
    Ipv4StaticRoutingHelper routing;
    for (uint32_t i = 0; i < m_devices.GetN(); ++i)
    {
        AddAddress(m_devices.Get(i), Ipv4Address(network + 2 + i), CELL_MASK);
        Tune(m_devices.Get(i));
        const auto ipv4 = m_devices.Get(i)->GetNode()->GetObject<Ipv4>();
        routing.GetStaticRouting(ipv4)->SetDefaultRoute(Ipv4Address(network + 1), 1);
    }
    routing.SetDefaultMulticastRoute(m_accessPoint, GetReceiver());
    if (m_wired)
    {
        AddWire();
    }
    if (m_staticArp && !m_adhoc)
    {
        FillArpCaches();
    }
    AssignStreams(FederatedStreams::WIFI_CELL);
}

void
FederatedWifiHelper::AddWire()
{
    m_center = CreateObject<Node>();
    InternetStackHelper internet;
    internet.SetIpv6StackInstall(false);
    internet.Install(m_center);
    PointToPointHelper wire;
    wire.SetDeviceAttribute("DataRate", StringValue("1Gbps"));
    wire.SetChannelAttribute("Delay", StringValue("1ms"));
    wire.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("10000p"));
    const NetDeviceContainer ends = wire.Install(m_accessPoint, m_center);
    const Ipv4Mask mask("255.255.255.252");
    m_centerAddress = Ipv4Address("10.2.0.2");
    AddAddress(ends.Get(0), Ipv4Address("10.2.0.1"), mask);
    AddAddress(ends.Get(1), m_centerAddress, mask);
    Ipv4StaticRoutingHelper routing;
    routing.GetStaticRouting(m_center->GetObject<Ipv4>())
        ->SetDefaultRoute(Ipv4Address("10.2.0.1"), 1);
    routing.SetDefaultMulticastRoute(m_center, ends.Get(1));
    routing.AddMulticastRoute(
        m_accessPoint, m_centerAddress, Ipv4Address(MULTICAST_GROUP), ends.Get(0), m_receiver);
}

void
FederatedWifiHelper::FillArpCaches() const
{
    const auto add = [](const Ptr<NetDevice>& at, const Ptr<NetDevice>& other)
    {
        const auto others = other->GetNode()->GetObject<Ipv4>();
        const Ipv4Address address =
            others->GetAddress(others->GetInterfaceForDevice(other), 0).GetLocal();
        AddArpEntry(PeekPointer(at), address, other->GetAddress());
        // A cache is flushed when its device associates, by a callback that was added before.
        at->AddLinkChangeCallback(
            MakeBoundCallback(&AddArpEntry, PeekPointer(at), address, other->GetAddress()));
    };
    for (uint32_t i = 0; i < m_devices.GetN(); ++i)
    {
        add(m_devices.Get(i), GetReceiver());
        add(GetReceiver(), m_devices.Get(i));
    }
}

void
FederatedWifiHelper::SetUp(FederatedHelper& federation)
{
    NS_ABORT_MSG_IF(!m_accessPoint, "FederatedWifiHelper: SetUp comes before Install");
    const auto rate = [](double bits)
    { return DataRateValue(DataRate(static_cast<uint64_t>(bits))); };
    const auto devices = static_cast<int64_t>(m_devices.GetN());
    const Time spacing = m_adhoc ? Time(0) : MilliSeconds(15); // for joins
    federation.SetJoinSpacing(spacing);
    federation.SetCenterAttribute("JoinTimeout", TimeValue(Seconds(10) + spacing * devices));
    // Somewhat slower than the radio, so that the plan for slots is not too early.
    federation.SetCenterAttribute("DownlinkRate", rate(0.9 * GetGroupRate(m_downlinkMcs)));
    // As fast as the radio takes it: how fast it really is, is measured.
    federation.SetCenterAttribute("UplinkRate", rate(m_adhoc ? GetPhyRate(m_mcs) : 200e6));
    federation.SetCenterAttribute("MeasuredSlots", BooleanValue(true));
    federation.SetCenterAttribute("GrantSpacing", TimeValue(MilliSeconds(2)));
    federation.SetCenterAttribute("RepairTime", TimeValue(MilliSeconds(m_adhoc ? 200 : 50)));
    federation.SetDeviceAttribute("RepairDelay", TimeValue(MilliSeconds(20)));
    if (m_adhoc)
    {
        federation.SetGroupAddress(Ipv4Address(CELL_BROADCAST), DEVICE_PORT);
        federation.SetEnrolled(true);
        federation.SetDeviceAttribute("IncompleteModel", EnumValue(FederatedDevice::USE_PREVIOUS));
        // Until the deadline: a far device has a long way to be heard.
        federation.SetCenterAttribute("ControlRetries", UintegerValue(1000000));
    }
    else
    {
        const AddressValue group(InetSocketAddress(Ipv4Address(MULTICAST_GROUP), DEVICE_PORT));
        federation.SetCenterAttribute("Downlink", EnumValue(FusionCenter::MULTICAST));
        federation.SetCenterAttribute("MulticastGroup", group);
        federation.SetDeviceAttribute("MulticastGroup", group);
    }
    m_probe = CreateObject<WifiLinkProbe>();
    m_probe->Attach(GetReceiver());
    const NodeContainer nodes = federation.GetNodes();
    NS_ABORT_MSG_IF(nodes.GetN() != m_devices.GetN(),
                    "FederatedWifiHelper: the federation has "
                        << nodes.GetN() << " devices, the cell " << m_devices.GetN());
    for (uint32_t i = 0; i < m_devices.GetN(); ++i)
    {
        NS_ABORT_MSG_IF(nodes.Get(i) != m_devices.Get(i)->GetNode(),
                        "FederatedWifiHelper: the devices of the federation have another order");
        m_probe->AddDevice(i, Mac48Address::ConvertFrom(m_devices.Get(i)->GetAddress()));
    }
    federation.SetProbe(m_probe);
    federation.SetDistanceReference(m_accessPoint);
}

Ptr<NetDevice>
FederatedWifiHelper::AddListener(const Ptr<Node>& node)
{
    NS_ABORT_MSG_IF(!m_accessPoint, "FederatedWifiHelper: AddListener comes before Install");
    NS_ABORT_MSG_IF(node->GetObject<Ipv4>(),
                    "FederatedWifiHelper: a listener with IP would answer ARP");
    const auto mobility = node->GetObject<MobilityModel>();
    NS_ABORT_MSG_IF(!mobility, "FederatedWifiHelper: the node of a listener has no position");
    // Without access point a radio does not look for one; what it could send with, it never uses.
    const NetDeviceContainer radio = InstallRadios(node, "ns3::AdhocWifiMac", m_mcs, m_txPower);
    int64_t stream = FederatedStreams::LISTENERS + FederatedStreams::LISTENER * m_listeners++;
    stream += WifiHelper().AssignStreams(radio, stream);
    if (m_fadingLoss)
    {
        if (!m_listenerFading)
        {
            m_listenerFading = CreateObject<ListenerFading>();
            m_listenerFading->SetOthers(m_fadingLoss);
            m_pathLoss->SetNext(m_listenerFading);
        }
        const auto fading = MakeFading();
        fading->AssignStreams(stream);
        m_listenerFading->Add(mobility, fading);
    }
    return radio.Get(0);
}

Ptr<Eavesdropper>
FederatedWifiHelper::AddEavesdropper(const Vector& position, const FederatedHelper& federation)
{
    const auto center = federation.GetCenter();
    NS_ABORT_MSG_IF(!center, "FederatedWifiHelper: AddEavesdropper comes before Install");
    const auto node = CreateObject<Node>();
    const auto place = CreateObject<ConstantPositionMobilityModel>();
    place->SetPosition(position);
    node->AggregateObject(place);
    AddListener(node);
    PointerValue quantizer;
    center->GetAttribute("Quantizer", quantizer);
    const auto eavesdropper = CreateObject<Eavesdropper>();
    eavesdropper->SetAttribute("Dimension", UintegerValue(federation.GetTask()->GetDimension()));
    eavesdropper->SetAttribute("Quantizer", quantizer);
    node->AddApplication(eavesdropper);
    return eavesdropper;
}

Ptr<Node>
FederatedWifiHelper::GetCenter() const
{
    return m_center;
}

Address
FederatedWifiHelper::GetCenterAddress() const
{
    return InetSocketAddress(m_centerAddress, CENTER_PORT);
}

const NetDeviceContainer&
FederatedWifiHelper::GetDevices() const
{
    return m_devices;
}

Ptr<NetDevice>
FederatedWifiHelper::GetReceiver() const
{
    return m_receiver.Get(0);
}

Ptr<WifiLinkProbe>
FederatedWifiHelper::GetProbe() const
{
    return m_probe;
}

void
FederatedWifiHelper::EnablePcap(const std::string& prefix, uint32_t devices)
{
    m_phy.EnablePcap(prefix, m_receiver);
    for (uint32_t i = 0; i < std::min(devices, m_devices.GetN()); ++i)
    {
        m_phy.EnablePcap(prefix, m_devices.Get(i));
    }
}

void
FederatedWifiHelper::EnableAscii(const std::string& prefix)
{
    m_phy.EnableAscii(prefix, m_receiver);
}

int64_t
FederatedWifiHelper::AssignStreams(int64_t stream)
{
    int64_t next = stream;
    next += YansWifiChannelHelper().AssignStreams(m_channel, next);
    next += WifiHelper().AssignStreams(m_receiver, next);
    next += WifiHelper().AssignStreams(m_devices, next);
    NodeContainer nodes(m_accessPoint);
    for (uint32_t i = 0; i < m_devices.GetN(); ++i)
    {
        nodes.Add(m_devices.Get(i)->GetNode());
    }
    next += InternetStackHelper().AssignStreams(nodes, next);
    return next - stream;
}

} // namespace ns3
