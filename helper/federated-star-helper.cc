// SPDX-License-Identifier: GPL-2.0-only

#include "federated-star-helper.h"

#include "ns3/abort.h"
#include "ns3/boolean.h"
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

const Ipv4Address CENTER_ADDRESS("10.255.255.254");

/**
 * @param hub Number of a hub.
 * @return the network of its devices, 16 bits wide.
 */
Ipv4Address
GetNetwork(uint32_t hub)
{
    return Ipv4Address((10U << 24) | (hub << 16));
}

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
    // Without a network no route comes with the address.
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
    return DynamicCast<Ipv4StaticRouting>(node->GetObject<Ipv4>()->GetRoutingProtocol());
}

} // namespace

FederatedStarHelper::FederatedStarHelper()
    : m_deviceRate("1Gbps"),
      m_deviceDelay(MicroSeconds(100)),
      m_trunkRate("10Gbps"),
      m_trunkDelay(MicroSeconds(100)),
      m_mtu(1500)
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
    m_mtu = bytes;
}

void
FederatedStarHelper::Install(const NodeContainer& devices, uint32_t hubs)
{
    NS_ABORT_MSG_IF(m_center, "FederatedStarHelper: a star is installed once");
    NS_ABORT_MSG_IF(hubs > MAX_HUBS, "FederatedStarHelper: " << hubs << " hubs are too many");
    const uint32_t branches = std::max(hubs, 1U);
    const uint32_t perBranch = (devices.GetN() + branches - 1) / branches;
    NS_ABORT_MSG_IF(perBranch > 0xfffe,
                    "FederatedStarHelper: " << perBranch << " devices a hub are too many");

    NodeContainer centers(1);
    NodeContainer routers(hubs);
    m_center = centers.Get(0);
    InternetStackHelper internet;
    internet.SetRoutingHelper(Ipv4StaticRoutingHelper());
    internet.SetIpv6StackInstall(false);
    const NodeContainer all(centers, routers, devices);
    internet.Install(all);
    for (uint32_t i = 0; i < all.GetN(); ++i)
    {
        // All interfaces of a node have the same address, so that a router need not look through
        // the others for the destination of every packet that passes. (A new name since 3.41.)
        const auto ipv4 = all.Get(i)->GetObject<Ipv4>();
        if (!ipv4->SetAttributeFailSafe("StrongEndSystemModel", BooleanValue(true)))
        {
            ipv4->SetAttributeFailSafe("WeakEsModel", BooleanValue(false));
        }
    }

    PointToPointHelper trunk;
    trunk.SetDeviceAttribute("DataRate", DataRateValue(m_trunkRate));
    trunk.SetDeviceAttribute("Mtu", UintegerValue(m_mtu));
    trunk.SetChannelAttribute("Delay", TimeValue(m_trunkDelay));
    for (uint32_t h = 0; h < hubs; ++h)
    {
        const auto link = trunk.Install(m_center, routers.Get(h));
        m_centerPorts.Add(link.Get(0));
        const uint32_t down = AddInterface(link.Get(0), CENTER_ADDRESS);
        GetRoutes(m_center)->AddNetworkRouteTo(GetNetwork(h), Ipv4Mask("255.255.0.0"), down);
        const uint32_t up = AddInterface(link.Get(1), GetNetwork(h));
        GetRoutes(routers.Get(h))->SetDefaultRoute(CENTER_ADDRESS, up);
    }
    PointToPointHelper leaf;
    leaf.SetDeviceAttribute("DataRate", DataRateValue(m_deviceRate));
    leaf.SetDeviceAttribute("Mtu", UintegerValue(m_mtu));
    leaf.SetChannelAttribute("Delay", TimeValue(m_deviceDelay));
    for (uint32_t i = 0; i < devices.GetN(); ++i)
    {
        const uint32_t h = i / perBranch;
        const Ptr<Node> parent = hubs == 0 ? m_center : routers.Get(h);
        const Ipv4Address parentAddress = hubs == 0 ? CENTER_ADDRESS : GetNetwork(h);
        const Ipv4Address address(GetNetwork(h).Get() + i % perBranch + 1);
        const auto link = leaf.Install(parent, devices.Get(i));
        m_uplinkPorts.Add(link.Get(0));
        if (hubs == 0)
        {
            m_centerPorts.Add(link.Get(0));
        }
        GetRoutes(parent)->AddHostRouteTo(address, AddInterface(link.Get(0), parentAddress));
        const uint32_t up = AddInterface(link.Get(1), address);
        GetRoutes(devices.Get(i))->SetDefaultRoute(parentAddress, up);
    }
}

Ptr<Node>
FederatedStarHelper::GetCenter() const
{
    return m_center;
}

Ipv4Address
FederatedStarHelper::GetCenterAddress() const
{
    return CENTER_ADDRESS;
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
