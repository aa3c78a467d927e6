// SPDX-License-Identifier: GPL-2.0-only

#include "federated-wifi-helper.h"

#include "federated-wifi-background.h"
#include "federated-wifi-listeners.h"
#include "federated-wifi-radios.h"
#include "federated-wifi-tuning.h"

#include "ns3/abort.h"
#include "ns3/boolean.h"
#include "ns3/data-rate.h"
#include "ns3/double.h"
#include "ns3/enum.h"
#include "ns3/federated-block-fading.h"
#include "ns3/federated-jakes-fading.h"
#include "ns3/federated-number.h"
#include "ns3/federated-shadowing.h"
#include "ns3/federated-streams.h"
#include "ns3/inet-socket-address.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-static-routing-helper.h"
#include "ns3/mobility-model.h"
#include "ns3/node.h"
#include "ns3/point-to-point-helper.h"
#include "ns3/string.h"
#include "ns3/trace-helper.h"
#include "ns3/uinteger.h"
#include "ns3/wifi-helper.h"
#include "ns3/wifi-mac.h"
#include "ns3/wifi-net-device.h"
#include "ns3/wifi-remote-station-manager.h"
#include "ns3/yans-wifi-helper.h"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

namespace ns3
{

namespace
{

const char* const FIRST_NETWORK = "10.1.0.0"; // of cell 0; 10.1.0.1 is its access point
constexpr uint32_t NEXT_NETWORK = 1U << 16;   // from there to that of the next cell
const char* const CELL_MASK = "255.255.0.0";
const char* const FIRST_WIRE = "172.16.0.0"; // likewise; no cell has such a network
constexpr uint32_t NEXT_WIRE = 1U << 8;
constexpr uint32_t MOST_DEVICES = NEXT_NETWORK - 3; // without access point and broadcast
constexpr uint32_t MOST_VISITORS =
    (FederatedStreams::PLACES - FederatedStreams::VISITORS) / FederatedStreams::VISITOR;
const char* const WIRE_MASK = "255.255.255.252";
constexpr uint64_t PAGE_INTERVAL = 1000; // ms, from one page to the next
constexpr uint64_t PAGE_TIME = 20;       // ms in which radios listen for it

/**
 * @param node A node.
 * @return its static routes; a sentence if it has none.
 */
Ptr<Ipv4StaticRouting>
GetRoutes(const Ptr<Node>& node)
{
    auto routes = Ipv4StaticRoutingHelper().GetStaticRouting(node->GetObject<Ipv4>());
    NS_ABORT_MSG_IF(!routes,
                    "FederatedWifiHelper: the internet stack of node "
                        << node->GetId() << " has no static routing, which the cell needs");
    return routes;
}

/** @return the number of the interface of a net device. */
uint32_t
GetInterface(const Ptr<NetDevice>& device)
{
    return static_cast<uint32_t>(
        device->GetNode()->GetObject<Ipv4>()->GetInterfaceForDevice(device));
}

/** @return what makes fading of each frame; m = 0: nothing. */
ObjectFactory
MakeNakagami(double m)
{
    ObjectFactory fading;
    if (m > 0)
    {
        fading.SetTypeId(NakagamiPropagationLossModel::GetTypeId());
        for (const char* name : {"m0", "m1", "m2"}) // near, further and far
        {
            fading.Set(name, DoubleValue(m));
        }
    }
    return fading;
}

/** Abort if the cell is there: what this setter says would come too late. */
void
CheckOpen(const Ptr<Node>& accessPoint, const char* setter)
{
    NS_ABORT_MSG_IF(accessPoint, "FederatedWifiHelper: " << setter << " comes after Install");
}

/** @return whether a text is so many finite numbers with commas between. */
bool
ReadReals(const std::string& text, std::size_t count, std::vector<double>& numbers)
{
    numbers.clear();
    for (const std::string& item : FederatedNumber::Split(text))
    {
        numbers.push_back(0);
        if (!FederatedNumber::ReadReal(item, numbers.back()))
        {
            return false;
        }
    }
    return numbers.size() == count;
}

} // namespace

FederatedWifiHelper::FederatedWifiHelper()
    : m_network(FIRST_NETWORK),
      m_manager("ns3::IdealWifiManager"),
      m_addBaTimeout(MilliSeconds(500)),
      m_blockAckLimit(7),
      m_queueDelay(Seconds(10))
{
}

FederatedWifiHelper::~FederatedWifiHelper() = default;

void
FederatedWifiHelper::SetCell(uint32_t number)
{
    CheckOpen(m_accessPoint, "SetCell");
    NS_ABORT_MSG_IF(number >= FederatedStreams::WIFI_CELLS,
                    "FederatedWifiHelper: the number of the cell is "
                        << number << ", not below " << FederatedStreams::WIFI_CELLS);
    m_cell = number;
    m_network = Ipv4Address(Ipv4Address(FIRST_NETWORK).Get() + NEXT_NETWORK * number);
}

void
FederatedWifiHelper::SetNetwork(Ipv4Address network)
{
    CheckOpen(m_accessPoint, "SetNetwork");
    NS_ABORT_MSG_IF(network.CombineMask(Ipv4Mask(CELL_MASK)) != network || network.IsMulticast(),
                    "FederatedWifiHelper: " << network << " is no network of 16 bits");
    m_network = network;
}

void
FederatedWifiHelper::SetMode(const std::string& mode)
{
    CheckOpen(m_accessPoint, "SetMode");
    NS_ABORT_MSG_IF(mode != "adhoc" && mode != "infrastructure",
                    "FederatedWifiHelper: there is no mode '" << mode << "'");
    m_adhoc = mode == "adhoc";
}

void
FederatedWifiHelper::SetCenterOnWire(bool isWired)
{
    CheckOpen(m_accessPoint, "SetCenterOnWire");
    m_wired = isWired;
}

void
FederatedWifiHelper::SetWidth(uint16_t width)
{
    CheckOpen(m_accessPoint, "SetWidth");
    NS_ABORT_MSG_IF(width != 20 && width != 40 && width != 80 && width != 160,
                    "FederatedWifiHelper: 802.11ac has no channels of " << width << " MHz");
    m_width = width;
}

void
FederatedWifiHelper::SetMcs(uint32_t mcs)
{
    CheckOpen(m_accessPoint, "SetMcs");
    NS_ABORT_MSG_IF(mcs > 8, "FederatedWifiHelper: MCS " << mcs << " is above 8");
    m_mcs = mcs;
}

void
FederatedWifiHelper::SetDownlinkMcs(uint32_t mcs)
{
    CheckOpen(m_accessPoint, "SetDownlinkMcs");
    NS_ABORT_MSG_IF(mcs > 8, "FederatedWifiHelper: MCS " << mcs << " is above 8");
    m_downlinkMcs = mcs;
}

void
FederatedWifiHelper::SetExponent(double exponent)
{
    CheckOpen(m_accessPoint, "SetExponent");
    NS_ABORT_MSG_IF(!(exponent >= 0),
                    "FederatedWifiHelper: the exponent of the path loss is " << exponent
                                                                             << ", below 0");
    m_exponent = exponent;
}

void
FederatedWifiHelper::SetFading(double m)
{
    CheckOpen(m_accessPoint, "SetFading");
    NS_ABORT_MSG_IF(!(m == 0 || m >= 0.5),
                    "FederatedWifiHelper: Nakagami's m is " << m << ", neither 0 nor from 0.5 on");
    m_fading = MakeNakagami(m);
}

void
FederatedWifiHelper::SetFading(const ObjectFactory& fading)
{
    CheckOpen(m_accessPoint, "SetFading");
    NS_ABORT_MSG_IF(fading.IsTypeIdSet() &&
                        !fading.GetTypeId().IsChildOf(PropagationLossModel::GetTypeId()),
                    "FederatedWifiHelper: '" << fading.GetTypeId().GetName()
                                             << "' of SetFading is no propagation loss model");
    m_fading = fading;
}

bool
FederatedWifiHelper::ReadFading(const std::string& text, ObjectFactory& fading)
{
    if (text == "none" || text == "rayleigh")
    {
        fading = MakeNakagami(text == "none" ? 0 : 1);
        return true;
    }
    const std::size_t colon = text.find(':');
    const std::string kind = text.substr(0, colon);
    const bool isBlock = kind == "block";
    const bool isJakes = kind == "jakes";
    std::vector<double> numbers;
    if (colon == std::string::npos || (kind != "nakagami" && !isBlock && !isJakes) ||
        !ReadReals(text.substr(colon + 1), isBlock ? 2 : 1, numbers))
    {
        return false;
    }
    const double shape = isJakes ? 1 : numbers[0];
    const double doppler = isBlock || isJakes ? numbers.back() : 0;
    if (shape < 0.5 || shape > 1000 || doppler < 0 || doppler > 1e6)
    {
        return false;
    }
    fading = MakeNakagami(shape);
    if (isBlock || isJakes)
    {
        fading = ObjectFactory();
        fading.SetTypeId(isBlock ? FederatedBlockFading::GetTypeId()
                                 : FederatedJakesFading::GetTypeId());
        fading.Set("Doppler", DoubleValue(doppler));
    }
    if (isBlock)
    {
        fading.Set("Shape", DoubleValue(shape));
    }
    return true;
}

void
FederatedWifiHelper::SetShadowing(double sigma, double distance)
{
    CheckOpen(m_accessPoint, "SetShadowing");
    NS_ABORT_MSG_IF(!(sigma >= 0), // nor NaN
                    "FederatedWifiHelper: the standard deviation of SetShadowing is "
                        << sigma << " dB, not 0 or more");
    m_shadowing = ObjectFactory();
    if (sigma > 0)
    {
        m_shadowing.SetTypeId(FederatedShadowing::GetTypeId());
        m_shadowing.Set("Sigma", DoubleValue(sigma));
        m_shadowing.Set("Distance", DoubleValue(distance));
    }
}

bool
FederatedWifiHelper::ReadShadowing(const std::string& text, double& sigma, double& distance)
{
    std::vector<double> numbers{0, 1};
    if (text != "none" && !ReadReals(text, 2, numbers))
    {
        return false;
    }
    sigma = numbers[0];
    distance = numbers[1];
    return sigma >= 0 && sigma <= 100 && distance >= 1e-3 && distance <= 1e6;
}

void
FederatedWifiHelper::SetTxPower(double dbm)
{
    CheckOpen(m_accessPoint, "SetTxPower");
    m_txPower = dbm;
}

void
FederatedWifiHelper::SetCenterTxPower(double dbm)
{
    CheckOpen(m_accessPoint, "SetCenterTxPower");
    m_centerTxPower = dbm;
}

void
FederatedWifiHelper::SetRateManager(const std::string& manager)
{
    CheckOpen(m_accessPoint, "SetRateManager");
    TypeId type;
    NS_ABORT_MSG_IF(!TypeId::LookupByNameFailSafe(manager, &type) ||
                        !type.IsChildOf(WifiRemoteStationManager::GetTypeId()),
                    "FederatedWifiHelper: '" << manager << "' is no rate manager");
    m_manager = manager;
}

void
FederatedWifiHelper::SetPreambleDetection(double minimumRssi, double threshold)
{
    CheckOpen(m_accessPoint, "SetPreambleDetection");
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
    CheckOpen(m_accessPoint, "SetAddBaTimeout");
    m_addBaTimeout = timeout;
}

void
FederatedWifiHelper::SetBlockAckLimit(uint32_t requests)
{
    CheckOpen(m_accessPoint, "SetBlockAckLimit");
    m_blockAckLimit = requests;
}

void
FederatedWifiHelper::SetQueue(uint32_t packets, const Time& delay)
{
    CheckOpen(m_accessPoint, "SetQueue");
    m_queuePackets = packets;
    m_queueDelay = delay;
}

void
FederatedWifiHelper::SetSleep(const std::string& mode)
{
    CheckOpen(m_accessPoint, "SetSleep");
    NS_ABORT_MSG_IF(mode != "none" && mode != "wake" && mode != "page",
                    "FederatedWifiHelper: there is no sleep '" << mode
                                                               << "', only none, wake and page");
    m_sleeps = mode != "none";
    m_pages = mode == "page";
}

Time
FederatedWifiHelper::GetWakeTime(const std::string& mode)
{
    if (mode != "wake")
    {
        return MilliSeconds(mode == "page" ? PAGE_TIME : 0);
    }
    TypeId::AttributeInformation lead;
    FederatedWifiSleep::GetTypeId().LookupAttributeByName("Lead", &lead);
    return DynamicCast<const TimeValue>(lead.initialValue)->Get() + MilliSeconds(1);
}

void
FederatedWifiHelper::SetStaticArp(bool isStatic)
{
    CheckOpen(m_accessPoint, "SetStaticArp");
    m_staticArp = isStatic;
}

double
FederatedWifiHelper::GetPhyRate(uint32_t mcs) const
{
    return federated::WifiRadios::GetPhyRate(m_width, mcs);
}

double
FederatedWifiHelper::GetGroupRate(uint32_t mcs, uint32_t bytes) const
{
    return federated::WifiRadios::GetGroupRate(m_width, mcs, bytes);
}

void
FederatedWifiHelper::AddAddress(const Ptr<NetDevice>& device, Ipv4Address address, Ipv4Mask mask)
{
    const auto ipv4 = device->GetNode()->GetObject<Ipv4>();
    const uint32_t interface = ipv4->AddInterface(device);
    ipv4->AddAddress(interface, Ipv4InterfaceAddress(address, mask));
    ipv4->SetUp(interface);
}

ApplicationContainer
FederatedWifiHelper::Install(FederatedHelper& federation, const Ptr<Node>& accessPoint)
{
    Install(federation.GetNodes(), accessPoint);
    m_probe = Probe(federation, GetReceiver(), m_devices);
    if (m_sleeps)
    {
        m_sleep = CreateObject<FederatedWifiSleep>();
    }
    federation.SetLinkDefaults(GetLinkDefaults(federation.GetFragmentSize()));
    ApplicationContainer applications = federation.Install(m_center, GetCenterAddress());
    if (m_sleep)
    {
        m_sleep->Start(federation.GetCenter(),
                       federation.GetDevices(),
                       m_devices,
                       m_radios->GetChannel(),
                       m_radios->GetLoss(),
                       m_radios->GetDelay());
        federation.GetTraceWriter()->SetAwakeCallback(
            MakeCallback(&FederatedWifiSleep::GetAwakeSeconds, m_sleep));
    }
    return applications;
}

void
FederatedWifiHelper::Install(const NodeContainer& devices, const Ptr<Node>& accessPoint)
{
    NS_ABORT_MSG_IF(m_accessPoint, "FederatedWifiHelper: a cell is installed once");
    NS_ABORT_MSG_IF(m_wired && m_adhoc, "FederatedWifiHelper: ad hoc, the center is in the cell");
    NS_ABORT_MSG_IF(!accessPoint, "FederatedWifiHelper: the node of the access point is null");
    NS_ABORT_MSG_IF(!m_adhoc && devices.GetN() > MAX_STATIONS,
                    "FederatedWifiHelper: an access point takes "
                        << MAX_STATIONS << " stations, not " << devices.GetN());
    const NodeContainer nodes(devices, NodeContainer(accessPoint));
    for (auto node = nodes.Begin(); node != nodes.End(); ++node)
    {
        NS_ABORT_MSG_IF(!(*node)->GetObject<MobilityModel>(),
                        "FederatedWifiHelper: node " << (*node)->GetId()
                                                     << " has no mobility model");
    }
    m_accessPoint = accessPoint;

    const federated::WifiRadioSettings settings{
        m_cell, m_adhoc, m_width, m_exponent, m_shadowing, m_fading, m_manager};
    m_radios = std::make_unique<federated::WifiRadios>(settings);
    m_listeners =
        std::make_unique<federated::WifiListeners>(*m_radios, GetTuning(), m_mcs, m_txPower);
    m_devices = m_radios->Install(devices, "ns3::StaWifiMac", m_mcs, m_txPower);
    m_receiver = m_radios->Install(m_accessPoint, "ns3::ApWifiMac", m_downlinkMcs, m_centerTxPower);
    AddAddresses(devices);
    // Ad hoc all frames are group-addressed, which needs no ARP.
    Tune(NetDeviceContainer(m_receiver, m_devices), m_staticArp && !m_adhoc);
    for (uint32_t i = 0; i < m_devices.GetN() && m_sleeps && !m_adhoc; ++i)
    {
        // Stations wake in turns: none has to wait for those before it.
        DynamicCast<WifiNetDevice>(m_devices.Get(i))
            ->GetMac()
            ->SetAttribute("WaitBeaconTimeout", TimeValue(MilliSeconds(120)));
    }
    const int64_t streams =
        AssignStreams(FederatedStreams::WIFI_CELL + FederatedStreams::NEXT_CELL * m_cell);
    NS_ABORT_MSG_IF(streams > FederatedStreams::VISITORS,
                    "FederatedWifiHelper: the cell uses too many streams");
}

void
FederatedWifiHelper::AddAddresses(const NodeContainer& devices)
{
    InternetStackHelper internet; // static routing alone would not deliver multicast locally
    internet.SetIpv6StackInstall(false);
    const NodeContainer nodes(devices, NodeContainer(m_accessPoint));
    std::set<uint32_t> others; // nodes that had a stack before
    for (auto node = nodes.Begin(); node != nodes.End(); ++node)
    {
        if ((*node)->GetObject<Ipv4>())
        {
            others.insert((*node)->GetId());
            continue;
        }
        internet.Install(*node);
    }
    const uint32_t first = m_network.Get() + 1;
    m_center = m_accessPoint;
    m_centerAddress = Ipv4Address(first);
    AddAddress(GetReceiver(), m_centerAddress, CELL_MASK);
    GetRoutes(m_accessPoint)->SetDefaultMulticastRoute(GetInterface(GetReceiver()));
    if (m_wired)
    {
        AddWire();
    }
    for (uint32_t i = 0; i < m_devices.GetN(); ++i)
    {
        const uint32_t node = m_devices.Get(i)->GetNode()->GetId();
        AddDeviceAddress(m_devices.Get(i), i, others.count(node) == 0);
    }
}

void
FederatedWifiHelper::AddDeviceAddress(const Ptr<NetDevice>& device, uint32_t index, bool isNew)
{
    const Ipv4Address accessPoint(m_network.Get() + 1);
    NS_ABORT_MSG_IF(index >= MOST_DEVICES,
                    "FederatedWifiHelper: there are only "
                        << MOST_DEVICES << " addresses for devices in " << m_network);
    AddAddress(device, Ipv4Address(m_network.Get() + 2 + index), CELL_MASK);
    const auto routes = GetRoutes(device->GetNode());
    if (isNew)
    {
        routes->SetDefaultRoute(accessPoint, GetInterface(device));
    }
    else if (m_wired)
    {
        routes->AddHostRouteTo(m_centerAddress, accessPoint, GetInterface(device));
    }
}

Ptr<FederatedDevice>
FederatedWifiHelper::AddVisitor(FederatedHelper& federation,
                                const Ptr<Node>& node,
                                uint32_t group,
                                uint32_t share)
{
    NS_ABORT_MSG_IF(!m_probe || !federation.GetCenter(),
                    "FederatedWifiHelper: AddVisitor comes before Install");
    NS_ABORT_MSG_IF(!node->GetObject<MobilityModel>(),
                    "FederatedWifiHelper: node " << node->GetId() << " has no mobility model");
    const uint32_t visitor = m_visitors.GetN();
    NS_ABORT_MSG_IF(visitor >= MOST_VISITORS,
                    "FederatedWifiHelper: a cell has at most " << MOST_VISITORS << " visitors");
    const uint32_t index = m_devices.GetN() + visitor;
    const bool isNew = !node->GetObject<Ipv4>();
    int64_t stream = FederatedStreams::WIFI_CELL + FederatedStreams::NEXT_CELL * m_cell +
                     FederatedStreams::VISITORS + FederatedStreams::VISITOR * visitor;
    if (isNew)
    {
        InternetStackHelper internet;
        internet.SetIpv6StackInstall(false);
        internet.Install(node);
        stream += internet.AssignStreams(node, stream);
    }
    const NetDeviceContainer radio = m_radios->Install(node, "ns3::StaWifiMac", m_mcs, m_txPower);
    WifiHelper().AssignStreams(radio, stream);
    m_visitors.Add(radio);
    const Ptr<NetDevice> device = radio.Get(0);
    AddDeviceAddress(device, index, isNew);
    federated::TuneRadio(device, GetTuning());
    if (!m_adhoc)
    {
        const NetDeviceContainer link(m_receiver, radio);
        federated::TuneAssociation(link);
        DynamicCast<WifiNetDevice>(device)->GetMac()->SetAttribute(
            "WaitBeaconTimeout", TimeValue(MilliSeconds(120 + 10 * int64_t{index})));
        if (m_staticArp)
        {
            federated::FillArpCaches(link);
        }
    }
    const auto application =
        federation.AddVisitor(node, Ipv4Address(m_network.Get() + 2 + index), group, share);
    UintegerValue id;
    application->GetAttribute("DeviceId", id);
    m_probe->AddDevice(static_cast<uint32_t>(id.Get()),
                       Mac48Address::ConvertFrom(device->GetAddress()));
    return application;
}

Ipv4Address
FederatedWifiHelper::GetMulticastGroup() const
{
    return Ipv4Address(0xefff'002aU | ((42 + m_cell) % 256) << 8); // 239.255.x.42
}

federated::WifiTuning
FederatedWifiHelper::GetTuning() const
{
    return {m_addBaTimeout,
            m_blockAckLimit,
            m_queuePackets,
            m_queueDelay,
            m_detection,
            m_minimumRssi,
            m_threshold};
}

void
FederatedWifiHelper::Tune(const NetDeviceContainer& devices) const
{
    Tune(devices, m_staticArp);
}

void
FederatedWifiHelper::Tune(const NetDeviceContainer& devices, bool fillsArp) const
{
    const federated::WifiTuning tuning = GetTuning();
    for (uint32_t i = 0; i < devices.GetN(); ++i)
    {
        federated::TuneRadio(devices.Get(i), tuning);
    }
    federated::TuneAssociation(devices);
    if (fillsArp)
    {
        federated::FillArpCaches(devices);
    }
}

void
FederatedWifiHelper::AddWire()
{
    m_center = CreateObject<Node>(m_accessPoint->GetSystemId());
    InternetStackHelper internet;
    internet.SetIpv6StackInstall(false);
    internet.Install(m_center);
    PointToPointHelper wire;
    wire.SetDeviceAttribute("DataRate", StringValue("1Gbps"));
    wire.SetChannelAttribute("Delay", StringValue("1ms"));
    wire.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("10000p"));
    const NetDeviceContainer ends = wire.Install(m_accessPoint, m_center);
    const uint32_t network = Ipv4Address(FIRST_WIRE).Get() + NEXT_WIRE * m_cell;
    const Ipv4Address here(network + 1);
    m_centerAddress = Ipv4Address(network + 2);
    AddAddress(ends.Get(0), here, WIRE_MASK);
    AddAddress(ends.Get(1), m_centerAddress, WIRE_MASK);
    GetRoutes(m_center)->SetDefaultRoute(here, GetInterface(ends.Get(1)));
    Ipv4StaticRoutingHelper routing;
    routing.SetDefaultMulticastRoute(m_center, ends.Get(1));
    routing.AddMulticastRoute(
        m_accessPoint, m_centerAddress, GetMulticastGroup(), ends.Get(0), m_receiver);
}

FederatedHelper::LinkDefaults
FederatedWifiHelper::GetLinkDefaults(uint32_t fragmentSize) const
{
    FederatedHelper::LinkDefaults defaults;
    const auto center = [&defaults](const char* name, const AttributeValue& value)
    { defaults.center.emplace_back(name, value.Copy()); };
    const auto device = [&defaults](const char* name, const AttributeValue& value)
    { defaults.devices.emplace_back(name, value.Copy()); };
    const auto rate = [](double bits)
    { return DataRateValue(DataRate(static_cast<uint64_t>(bits))); };
    const auto devices = static_cast<int64_t>(m_devices.GetN());
    const Time spacing = m_adhoc ? Time(0) : MilliSeconds(15); // for joins
    defaults.joinSpacing = spacing;
    center("JoinTimeout", TimeValue(Seconds(10) + spacing * devices));
    // Below the rate of the radio, so that slots are not planned too early.
    center("DownlinkRate", rate(0.9 * GetGroupRate(m_downlinkMcs, fragmentSize)));
    // An upper bound: the real rate is measured.
    center("UplinkRate", rate(m_adhoc ? GetPhyRate(m_mcs) : 200e6));
    center("MeasuredSlots", BooleanValue(true));
    center("GrantSpacing", TimeValue(MilliSeconds(2)));
    center("RepairTime", TimeValue(MilliSeconds(m_adhoc ? 200 : 50)));
    if (m_sleep)
    {
        center("WakeTime", TimeValue(GetWakeTime(m_pages ? "page" : "wake")));
        center("PageInterval", TimeValue(MilliSeconds(m_pages ? PAGE_INTERVAL : 0)));
    }
    device("RepairDelay", TimeValue(MilliSeconds(20)));
    if (m_adhoc)
    {
        defaults.group = Ipv4Address(m_network.Get() | 0xffff);
        defaults.groupPort = DEVICE_PORT;
        defaults.enrolled = true;
        device("IncompleteModel", EnumValue(FederatedDevice::USE_PREVIOUS));
        // Retransmit until the deadline: most messages of a far device are lost.
        center("ControlRetries", UintegerValue(1000000));
    }
    else
    {
        const AddressValue group(InetSocketAddress(GetMulticastGroup(), DEVICE_PORT));
        center("Downlink", EnumValue(FusionCenter::MULTICAST));
        center("MulticastGroup", group);
        device("MulticastGroup", group);
    }
    return defaults;
}

Ptr<WifiLinkProbe>
FederatedWifiHelper::Probe(FederatedHelper& federation,
                           const Ptr<NetDevice>& receiver,
                           const NetDeviceContainer& devices)
{
    const auto probe = CreateObject<WifiLinkProbe>();
    probe->Attach(receiver);
    std::map<Ptr<Node>, Ptr<NetDevice>> radios;
    for (uint32_t i = 0; i < devices.GetN(); ++i)
    {
        radios[devices.Get(i)->GetNode()] = devices.Get(i);
    }
    const NodeContainer nodes = federation.GetNodes();
    for (uint32_t device = 0; device < nodes.GetN(); ++device)
    {
        const auto found = radios.find(nodes.Get(device));
        NS_ABORT_MSG_IF(found == radios.end() || !DynamicCast<WifiNetDevice>(found->second),
                        "FederatedWifiHelper: the radio of device "
                            << device << ", on node " << nodes.Get(device)->GetId()
                            << ", is not among those that Probe was given");
        probe->AddDevice(device, Mac48Address::ConvertFrom(found->second->GetAddress()));
    }
    FederatedHelper::LinkDefaults defaults;
    defaults.probe = probe;
    defaults.distanceReference = receiver->GetNode();
    federation.SetLinkDefaults(defaults);
    return probe;
}

Ptr<NetDevice>
FederatedWifiHelper::AddListener(const Ptr<Node>& node)
{
    NS_ABORT_MSG_IF(!m_listeners, "FederatedWifiHelper: AddListener comes before Install");
    return m_listeners->Add(node);
}

void
FederatedWifiHelper::AddBackground(const NodeContainer& stations, const DataRate& rate)
{
    NS_ABORT_MSG_IF(!m_radios, "FederatedWifiHelper: AddBackground comes before Install");
    m_backgroundStreams = federated::AddBackground(
        stations, rate, *m_radios, GetTuning(), m_mcs, m_txPower, m_backgroundStreams);
}

Ptr<Eavesdropper>
FederatedWifiHelper::AddEavesdropper(const Vector& position, const FederatedHelper& federation)
{
    NS_ABORT_MSG_IF(!m_listeners || !federation.GetCenter(),
                    "FederatedWifiHelper: AddEavesdropper comes before Install");
    return m_listeners->AddEavesdropper(position, federation);
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
    NS_ABORT_MSG_IF(!m_accessPoint, "FederatedWifiHelper: GetReceiver comes before Install");
    return m_receiver.Get(0);
}

Ptr<WifiLinkProbe>
FederatedWifiHelper::GetProbe() const
{
    return m_probe;
}

Ptr<FederatedWifiSleep>
FederatedWifiHelper::GetSleep() const
{
    return m_sleep;
}

NetDeviceContainer
FederatedWifiHelper::EnablePcap(const std::string& prefix, uint32_t devices)
{
    NS_ABORT_MSG_IF(!m_radios, "FederatedWifiHelper: EnablePcap comes before Install");
    NetDeviceContainer radios(m_receiver);
    for (uint32_t i = 0; i < std::min(devices, m_devices.GetN()); ++i)
    {
        radios.Add(m_devices.Get(i));
    }
    m_radios->GetPhy().EnablePcap(prefix, radios);
    return radios;
}

std::string
FederatedWifiHelper::EnableAscii(const std::string& prefix)
{
    NS_ABORT_MSG_IF(!m_radios, "FederatedWifiHelper: EnableAscii comes before Install");
    m_radios->GetPhy().EnableAscii(prefix, m_receiver);
    return AsciiTraceHelper().GetFilenameFromDevice(prefix, GetReceiver());
}

int64_t
FederatedWifiHelper::AssignStreams(int64_t stream)
{
    NS_ABORT_MSG_IF(!m_accessPoint, "FederatedWifiHelper: AssignStreams comes before Install");
    int64_t next = stream;
    next += YansWifiChannelHelper().AssignStreams(m_radios->GetChannel(), next);
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
