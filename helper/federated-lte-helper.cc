// SPDX-License-Identifier: GPL-2.0-only

#include "federated-lte-helper.h"

#include "ns3/abort.h"
#include "ns3/boolean.h"
#include "ns3/config.h"
#include "ns3/double.h"
#include "ns3/federated-port.h"
#include "ns3/federated-streams.h"
#include "ns3/inet-socket-address.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-address-helper.h"
#include "ns3/ipv4-static-routing-helper.h"
#include "ns3/ipv4.h"
#include "ns3/lte-enb-net-device.h"
#include "ns3/lte-enb-rrc.h"
#include "ns3/lte-spectrum-value-helper.h"
#include "ns3/lte-ue-net-device.h"
#include "ns3/mobility-model.h"
#include "ns3/node.h"
#include "ns3/point-to-point-helper.h"
#include "ns3/propagation-loss-model.h"
#include "ns3/simulator.h"
#include "ns3/spectrum-channel.h"
#include "ns3/uinteger.h"

#include <cmath>

namespace ns3
{

namespace
{

constexpr double REFERENCE_LOSS = 38.9; // in dB, until the carriers are known

/**
 * Set the loss at 1 m to that of free space at a carrier, unless a user set another one.
 * @param model A path loss model; only that of a log-distance path loss is changed.
 * @param earfcn Number of the carrier.
 */
void
SetReferenceLoss(const Ptr<PropagationLossModel>& model, uint32_t earfcn)
{
    const auto logDistance = DynamicCast<LogDistancePropagationLossModel>(model);
    if (!logDistance)
    {
        return;
    }
    DoubleValue loss;
    logDistance->GetAttribute("ReferenceLoss", loss);
    if (loss.Get() == REFERENCE_LOSS)
    {
        constexpr double SPEED_OF_LIGHT = 299792458; // in m/s
        const double hertz = LteSpectrumValueHelper::GetCarrierFrequency(earfcn);
        logDistance->SetAttribute("ReferenceLoss",
                                  DoubleValue(20 * std::log10(4 * M_PI * hertz / SPEED_OF_LIGHT)));
    }
}

/**
 * @param type Name of a class.
 * @param attribute Name of one of its attributes.
 * @return whether a user changed its default; also true if there is no such attribute.
 */
bool
IsChanged(const std::string& type, const std::string& attribute)
{
    TypeId::AttributeInformation info;
    return !TypeId::LookupByName(type).LookupAttributeByName(attribute, &info) ||
           info.initialValue->SerializeToString(info.checker) !=
               info.originalInitialValue->SerializeToString(info.checker);
}

/**
 * Set a default that no user has changed.
 * @param type Name of a class.
 * @param attribute Name of one of its attributes; nothing happens if this release has none.
 * @param value Its value.
 */
void
SetDefault(const std::string& type, const std::string& attribute, const AttributeValue& value)
{
    if (!IsChanged(type, attribute))
    {
        Config::SetDefault(type + "::" + attribute, value);
    }
}

/** Keep the makers of a cell until the simulation is destroyed. */
void
Keep(Ptr<LteHelper> /* lte */, Ptr<PointToPointEpcHelper> /* epc */)
{
}

} // namespace

FederatedLteHelper::FederatedLteHelper()
    : m_resourceBlocks(100),
      m_wireRate("1Gbps"),
      m_wireDelay(MilliSeconds(1))
{
    SetDefault("ns3::LteRlcUm", "MaxTxBufferSize", UintegerValue(16 << 20));
    SetDefault("ns3::LteRlcUm", "EnablePdcpDiscarding", BooleanValue(false));
    SetDefault("ns3::LteEnbPhy", "TxPower", DoubleValue(43));
    SetDefault("ns3::LteUePhy", "DownlinkCqiPeriodicity", TimeValue(MilliSeconds(10)));
    m_lte = CreateObject<LteHelper>();
    m_epc = CreateObject<PointToPointEpcHelper>();
    m_lte->SetEpcHelper(m_epc);
    m_lte->SetPathlossModelType(TypeId::LookupByName("ns3::LogDistancePropagationLossModel"));
    m_lte->SetPathlossModelAttribute("ReferenceLoss", DoubleValue(REFERENCE_LOSS));
    SetPathLossExponent(3);
}

Ptr<LteHelper>
FederatedLteHelper::GetLteHelper() const
{
    return m_lte;
}

void
FederatedLteHelper::SetPathLossExponent(double exponent)
{
    m_lte->SetPathlossModelAttribute("Exponent", DoubleValue(exponent));
}

void
FederatedLteHelper::SetResourceBlocks(uint16_t blocks)
{
    m_resourceBlocks = blocks;
}

void
FederatedLteHelper::SetWire(const DataRate& rate, const Time& delay)
{
    m_wireRate = rate;
    m_wireDelay = delay;
}

ApplicationContainer
FederatedLteHelper::Install(FederatedHelper& federation, const Ptr<Node>& enb)
{
    const NodeContainer devices = federation.GetNodes();
    NS_ABORT_MSG_IF(m_enbDevice, "FederatedLteHelper: a cell is installed once");
    NS_ABORT_MSG_IF(!enb, "FederatedLteHelper: the node of the eNB is null");
    NS_ABORT_MSG_IF(devices.GetN() > MAX_DEVICES,
                    "FederatedLteHelper: " << devices.GetN() << " devices are too many for a cell");
    const NodeContainer nodes(devices, NodeContainer(enb));
    for (auto node = nodes.Begin(); node != nodes.End(); ++node)
    {
        NS_ABORT_MSG_IF(!(*node)->GetObject<MobilityModel>(),
                        "FederatedLteHelper: node " << (*node)->GetId()
                                                    << " has no mobility model");
    }
    MakeRadios(devices, enb);
    MakeNetwork(devices);
    MakeProbe();
    // Their nodes and channels are needed until the end, when this helper may be gone.
    Simulator::ScheduleDestroy(&Keep, m_lte, m_epc);
    AssignStreams(FederatedStreams::LTE_CELL);
    federation.SetLinkDefaults(GetLinkDefaults());
    return federation.Install(m_center, GetCenterAddress());
}

void
FederatedLteHelper::MakeRadios(const NodeContainer& devices, const Ptr<Node>& enb)
{
    m_lte->SetEnbDeviceAttribute("DlBandwidth", UintegerValue(m_resourceBlocks));
    m_lte->SetEnbDeviceAttribute("UlBandwidth", UintegerValue(m_resourceBlocks));
    m_enbDevice = m_lte->InstallEnbDevice(NodeContainer(enb)).Get(0);
    m_ueDevices = m_lte->InstallUeDevice(devices);
    const auto station = DynamicCast<LteEnbNetDevice>(m_enbDevice);
    SetReferenceLoss(m_lte->GetDownlinkSpectrumChannel()->GetPropagationLossModel(),
                     station->GetDlEarfcn());
    SetReferenceLoss(m_lte->GetUplinkSpectrumChannel()->GetPropagationLossModel(),
                     station->GetUlEarfcn());
    if (!IsChanged("ns3::LteEnbRrc", "SrsPeriodicity"))
    {
        // Each device needs its own offset; a device that reconnects may hold two for some time.
        uint32_t period = 320; // the longest in ns-3, in ms
        for (uint32_t legal : {160, 80, 40})
        {
            period = legal > 2 * devices.GetN() ? legal : period;
        }
        station->GetRrc()->SetAttribute("SrsPeriodicity", UintegerValue(period));
    }
}

void
FederatedLteHelper::MakeNetwork(const NodeContainer& devices)
{
    m_center = CreateObject<Node>();
    InternetStackHelper internet;
    internet.SetIpv6StackInstall(false);
    internet.Install(NodeContainer(NodeContainer(m_center), devices));
    PointToPointHelper wire;
    wire.SetDeviceAttribute("DataRate", DataRateValue(m_wireRate));
    wire.SetChannelAttribute("Delay", TimeValue(m_wireDelay));
    const NetDeviceContainer ends = wire.Install(m_epc->GetPgwNode(), m_center);
    m_centerPort = ends.Get(1);
    Ipv4AddressHelper addresses("1.0.0.0", "255.0.0.0");
    const Ipv4InterfaceContainer interfaces = addresses.Assign(ends);
    m_centerAddress = interfaces.GetAddress(1);

    // Addresses and routes of the devices, which ns-3 takes from 7.0.0.0/8
    Ipv4StaticRoutingHelper routing;
    routing.GetStaticRouting(m_center->GetObject<Ipv4>())
        ->AddNetworkRouteTo("7.0.0.0", "255.0.0.0", 1);
    m_epc->AssignUeIpv4Address(m_ueDevices);
    for (uint32_t i = 0; i < devices.GetN(); ++i)
    {
        const auto ipv4 = devices.Get(i)->GetObject<Ipv4>();
        routing.GetStaticRouting(ipv4)->SetDefaultRoute(
            m_epc->GetUeDefaultGatewayAddress(), ipv4->GetInterfaceForDevice(m_ueDevices.Get(i)));
        m_lte->Attach(m_ueDevices.Get(i), m_enbDevice);
    }
}

void
FederatedLteHelper::MakeProbe()
{
    m_probe = CreateObject<LteLinkProbe>();
    m_probe->Attach(m_enbDevice);
    for (uint32_t i = 0; i < m_ueDevices.GetN(); ++i)
    {
        m_probe->AddDevice(i, DynamicCast<LteUeNetDevice>(m_ueDevices.Get(i))->GetImsi());
    }
}

FederatedHelper::LinkDefaults
FederatedLteHelper::GetLinkDefaults() const
{
    const auto rate = [](uint64_t bits) { return DataRateValue(DataRate(bits)).Copy(); };
    FederatedHelper::LinkDefaults defaults;
    // The model waits at the eNB if the radio is slower; the rate of updates is measured.
    defaults.center = {{"DownlinkRate", rate(400000ULL * m_resourceBlocks)},
                       {"UplinkRate", rate(500000ULL * m_resourceBlocks)},
                       {"MeasuredSlots", BooleanValue(true).Copy()}};
    defaults.probe = m_probe;
    defaults.distanceReference = m_enbDevice->GetNode();
    return defaults;
}

Ptr<LteLinkProbe>
FederatedLteHelper::GetProbe() const
{
    return m_probe;
}

Ptr<Node>
FederatedLteHelper::GetCenter() const
{
    return m_center;
}

Address
FederatedLteHelper::GetCenterAddress() const
{
    return InetSocketAddress(m_centerAddress, FederatedPort::CENTER);
}

Ptr<NetDevice>
FederatedLteHelper::GetCenterPort() const
{
    return m_centerPort;
}

Ptr<NetDevice>
FederatedLteHelper::GetEnbDevice() const
{
    return m_enbDevice;
}

const NetDeviceContainer&
FederatedLteHelper::GetUeDevices() const
{
    return m_ueDevices;
}

int64_t
FederatedLteHelper::AssignStreams(int64_t stream)
{
    NetDeviceContainer all(m_enbDevice);
    all.Add(m_ueDevices);
    return m_lte->AssignStreams(all, stream);
}

} // namespace ns3
