// SPDX-License-Identifier: GPL-2.0-only

#include "federated-star-helper.h"

#include "ns3/abort.h"
#include "ns3/boolean.h"
#include "ns3/federated-port.h"
#include "ns3/inet-socket-address.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-static-routing-helper.h"
#include "ns3/ipv4-static-routing.h"
#include "ns3/ipv4.h"
#include "ns3/node.h"
#include "ns3/point-to-point-helper.h"
#include "ns3/uinteger.h"

#include <algorithm>

namespace ns3
{

namespace
{

constexpr uint16_t MESSAGE_HEADERS = 20 + 8; // IPv4, UDP

const Ipv4Address CENTER_ADDRESS("10.255.255.254");

const Ipv4Address FIRST_DEVICE("10.64.0.0"); // and the following ones
const Ipv4Address FIRST_HUB("10.128.0.0");   // likewise

/**
 * Make an interface by hand: Ipv4AddressHelper would install queue discs.
 * @param port The net device.
 * @param address The address of its node.
 * @return the number of the interface.
 */
uint32_t
AddInterface(const Ptr<NetDevice>& port, const Ipv4Address& address)
{
    const auto ipv4 = port->GetNode()->GetObject<Ipv4>();
    const uint32_t interface = ipv4->AddInterface(port);
    // With this mask ns-3 adds no route for the address.
    ipv4->AddAddress(interface, Ipv4InterfaceAddress(address, Ipv4Mask::GetOnes()));
    ipv4->SetUp(interface);
    return interface;
}

/**
 * @param node A node.
 * @return its routes.
 */
Ptr<Ipv4StaticRouting>
GetRoutes(const Ptr<Node>& node)
{
    const auto routes =
        DynamicCast<Ipv4StaticRouting>(node->GetObject<Ipv4>()->GetRoutingProtocol());
    NS_ABORT_MSG_IF(!routes,
                    "FederatedStarHelper: node " << node->GetId()
                                                 << " has an internet stack with other routing");
    return routes;
}

} // namespace

FederatedStarHelper::FederatedStarHelper()
    : m_deviceRate("1Gbps"),
      m_deviceDelay(MicroSeconds(100)),
      m_trunkRate("10Gbps"),
      m_trunkDelay(MicroSeconds(100))
{
}

void
FederatedStarHelper::SetDeviceLink(const DataRate& rate, const Time& delay)
{
    m_deviceRate = rate;
    m_deviceDelay = delay;
}

void
FederatedStarHelper::SetTrunkLink(const DataRate& rate, const Time& delay)
{
    m_trunkRate = rate;
    m_trunkDelay = delay;
}

void
FederatedStarHelper::SetMtu(uint16_t bytes)
{
    NS_ABORT_MSG_IF(bytes <= MESSAGE_HEADERS,
                    "FederatedStarHelper: an MTU of " << bytes << " bytes carries nothing beside "
                                                      << MESSAGE_HEADERS << " bytes of headers");
    m_mtu = bytes;
}

uint32_t
FederatedStarHelper::GetTiers(uint32_t devices)
{
    return devices > 2048 ? 2 : 1;
}

void
FederatedStarHelper::SetTiers(uint32_t tiers)
{
    m_tiers = tiers;
}

ApplicationContainer
FederatedStarHelper::Install(FederatedHelper& federation, const Ptr<Node>& center)
{
    const NodeContainer devices = federation.GetNodes();
    NS_ABORT_MSG_IF(m_center, "FederatedStarHelper: a star is installed once");
    NS_ABORT_MSG_IF(!center, "FederatedStarHelper: the node of the center is null");
    NS_ABORT_MSG_IF(devices.GetN() > MAX_DEVICES,
                    "FederatedStarHelper: " << devices.GetN() << " devices are too many");
    m_center = center;
    InstallInternet(NodeContainer(NodeContainer(m_center), devices));
    uint32_t bits = 1; // of a device's number
    while (bits < 32 && devices.GetN() > 1U << bits)
    {
        ++bits;
    }
    const uint32_t tiers = m_tiers.value_or(GetTiers(devices.GetN()));
    m_tierBits = tiers == 0 ? 0 : (bits + tiers) / (tiers + 1);
    Attach({m_center, CENTER_ADDRESS}, devices, 0, devices.GetN(), tiers);
    federation.SetLinkDefaults(GetLinkDefaults());
    return federation.Install(m_center, GetCenterAddress());
}

FederatedHelper::LinkDefaults
FederatedStarHelper::GetLinkDefaults() const
{
    FederatedHelper::LinkDefaults defaults;
    // Below the rate of the link, which also carries headers.
    const DataRateValue rate(DataRate(m_deviceRate.GetBitRate() / 10 * 8));
    defaults.center = {{"DownlinkRate", rate.Copy()}, {"UplinkRate", rate.Copy()}};
    if (m_mtu)
    {
        const auto size = UintegerValue(*m_mtu - MESSAGE_HEADERS).Copy();
        defaults.center.emplace_back("FragmentSize", size);
        defaults.devices.emplace_back("FragmentSize", size);
    }
    return defaults;
}

void
FederatedStarHelper::InstallInternet(const NodeContainer& nodes)
{
    InternetStackHelper internet;
    internet.SetRoutingHelper(Ipv4StaticRoutingHelper());
    internet.SetIpv6StackInstall(false);
    internet.Install(nodes);
    for (uint32_t i = 0; i < nodes.GetN(); ++i)
    {
        // All interfaces of a node have the same address, so that a router need not search all
        // interfaces for the destination of every packet that it forwards. (A new name since 3.41.)
        const auto ipv4 = nodes.Get(i)->GetObject<Ipv4>();
        if (!ipv4->SetAttributeFailSafe("StrongEndSystemModel", BooleanValue(true)))
        {
            ipv4->SetAttributeFailSafe("WeakEsModel", BooleanValue(false));
        }
    }
}

uint32_t
FederatedStarHelper::Connect(const Hub& parent, const Hub& child, bool isTrunk)
{
    PointToPointHelper helper;
    helper.SetDeviceAttribute("DataRate", DataRateValue(isTrunk ? m_trunkRate : m_deviceRate));
    helper.SetDeviceAttribute("Mtu", UintegerValue(m_mtu.value_or(1500)));
    helper.SetChannelAttribute("Delay", TimeValue(isTrunk ? m_trunkDelay : m_deviceDelay));
    const auto link = helper.Install(parent.node, child.node);
    if (parent.node == m_center)
    {
        m_centerPorts.Add(link.Get(0));
    }
    if (!isTrunk)
    {
        m_uplinkPorts.Add(link.Get(0));
    }
    const uint32_t down = AddInterface(link.Get(0), parent.address);
    const uint32_t up = AddInterface(link.Get(1), child.address);
    GetRoutes(child.node)->SetDefaultRoute(parent.address, up);
    return down;
}

void
FederatedStarHelper::Attach(const Hub& parent,
                            const NodeContainer& devices,
                            uint32_t begin,
                            uint32_t end,
                            uint32_t tiers)
{
    // Children have equal blocks of devices, whose addresses share a prefix.
    const uint32_t blockBits = m_tierBits * tiers;
    for (uint32_t first = begin; first < end; first += 1U << blockBits)
    {
        const Ipv4Address network(FIRST_DEVICE.Get() + first);
        if (tiers == 0)
        {
            const uint32_t down = Connect(parent, {devices.Get(first), network}, false);
            GetRoutes(parent.node)->AddHostRouteTo(network, down);
            continue;
        }
        const Hub hub{CreateObject<Node>(), Ipv4Address(FIRST_HUB.Get() + m_hubs++)};
        InstallInternet(NodeContainer(hub.node));
        const uint32_t down = Connect(parent, hub, true);
        GetRoutes(parent.node)->AddNetworkRouteTo(network, Ipv4Mask(~0U << blockBits), down);
        Attach(hub, devices, first, std::min(end, first + (1U << blockBits)), tiers - 1);
    }
}

Ptr<Node>
FederatedStarHelper::GetCenter() const
{
    return m_center;
}

Address
FederatedStarHelper::GetCenterAddress() const
{
    return InetSocketAddress(CENTER_ADDRESS, FederatedPort::CENTER);
}

const NetDeviceContainer&
FederatedStarHelper::GetCenterPorts() const
{
    return m_centerPorts;
}

const NetDeviceContainer&
FederatedStarHelper::GetUplinkPorts() const
{
    return m_uplinkPorts;
}

} // namespace ns3
