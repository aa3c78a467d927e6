// SPDX-License-Identifier: GPL-2.0-only

/*
 * A federation in a wifi network of one's own, made with ns-3's helpers only: 802.11ax, devices
 * that walk, and neighbors who use the same channel.
 *
 *       device ~>     <~ device
 *             \       /
 *    device ~> (( access point, with the center )) <~ device          neighbor )))  ((( neighbor
 *             /       \                                                at the edge, UDP on and off
 *       device ~>     <~ device
 *
 * Devices walk from one random point of a disc to the next. FederatedWifiHelper makes nothing here:
 * it tunes the radios, because some defaults of ns-3 do not work for a federation (--tune=false
 * shows what happens with them), and attaches the probe that measures the links.
 *
 * It prints a line a round on standard error and the result on standard output. With --output,
 * PREFIX-rounds.csv has a row a round and PREFIX-links.csv one for each selected device and round
 * (see federated-wifi). The result line adds selected_updates and received_updates of all rounds,
 * contributors, the devices of which an update was received, and background_bytes, what the
 * neighbors received.
 *
 *    federated-wifi-custom --radius=80 --tune=false
 */

#include "ns3/boolean.h"
#include "ns3/federated-command-line.h"
#include "ns3/federated-helper.h"
#include "ns3/federated-port.h"
#include "ns3/federated-wifi-helper.h"
#include "ns3/inet-socket-address.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-address-helper.h"
#include "ns3/mobility-helper.h"
#include "ns3/on-off-helper.h"
#include "ns3/packet-sink-helper.h"
#include "ns3/packet-sink.h"
#include "ns3/pointer.h"
#include "ns3/position-allocator.h"
#include "ns3/simulator.h"
#include "ns3/ssid.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"
#include "ns3/wifi-helper.h"
#include "ns3/wifi-mac-helper.h"
#include "ns3/yans-wifi-helper.h"

#include <set>
#include <sstream>

using namespace ns3;

namespace
{

/** @return WIFI_STANDARD_80211ax, which has another name in ns-3.35: one for each band. */
WifiStandard
GetAxStandard()
{
    for (const auto& [standard, details] : wifiStandards)
    {
        std::ostringstream name;
        name << standard;
        if (name.str() == "802.11ax" || name.str() == "802.11ax-5GHz")
        {
            return standard;
        }
    }
    NS_ABORT_MSG("This ns-3 has no 802.11ax");
}

/** Updates of all rounds. */
struct Updates
{
    uint64_t selected = 0;
    uint64_t received = 0;
    std::set<uint32_t> contributors; // devices of which an update was received
};

/** Count the updates of a round. */
void
CountUpdates(Updates* updates, const RoundRecord& record)
{
    updates->selected += record.selected;
    updates->received += record.received;
    for (const LinkRecord& link : record.links)
    {
        if (link.receivedFragments > 0)
        {
            updates->contributors.insert(link.device);
        }
    }
}

} // namespace

int
main(int argc, char* argv[])
{
    uint32_t devices = 20;
    uint32_t rounds = 10;
    double radius = 30;
    double background = 10;
    bool tune = true;
    std::string output;
    FederatedCommandLine cmd(__FILE__, "A wifi network of one's own: 802.11ax, walks, neighbors.");
    cmd.AddCount("devices", "Number of devices, half of them with 2 bits", devices, 4, 200);
    cmd.AddCount("rounds", "Number of rounds", rounds, 1, 1000);
    cmd.AddReal("radius", "Radius of the disc in which devices walk, in m", radius, 1, 1000);
    cmd.AddReal("background", "Rate of the neighbors while they send, in Mb/s", background, 0, 100);
    cmd.AddFlag("tune", "Change what does not work for a federation", tune);
    cmd.AddOutput(output);
    cmd.ParseOrExit(argc, argv);

    // 1. Nodes and places. The federation counts its devices group by group.
    NodeContainer accessPoint(1);
    NodeContainer coarse(devices / 2);
    NodeContainer fine(devices - devices / 2);
    NodeContainer stations(coarse, fine);
    NodeContainer neighbors(2);
    auto places = CreateObject<ListPositionAllocator>();
    places->Add(Vector(0, 0, 0));
    places->Add(Vector(radius, 0, 0));
    places->Add(Vector(radius, 5, 0));
    MobilityHelper still;
    still.SetPositionAllocator(places);
    still.Install(NodeContainer(accessPoint, neighbors));
    auto disc = CreateObject<UniformDiscPositionAllocator>();
    disc->SetRho(radius);
    MobilityHelper walk;
    walk.SetPositionAllocator(disc);
    walk.SetMobilityModel("ns3::RandomWaypointMobilityModel",
                          "Speed",
                          StringValue("ns3::UniformRandomVariable[Min=1|Max=3]"),
                          "Pause",
                          StringValue("ns3::ConstantRandomVariable[Constant=0]"),
                          "PositionAllocator",
                          PointerValue(disc));
    walk.Install(stations);

    // 2. Radios, as any script of ns-3 makes them: 80 MHz at 5 GHz, 16 dBm. Another standard,
    //    another rate manager or a SpectrumWifiPhy need no other change.
    WifiHelper wifi;
    wifi.SetStandard(GetAxStandard());
    wifi.SetRemoteStationManager("ns3::IdealWifiManager");
    YansWifiPhyHelper phy;
    phy.SetChannel(YansWifiChannelHelper::Default().Create()); // log-distance, exponent 3
    WifiMacHelper mac;
    const SsidValue ssid(Ssid("custom"));
    mac.SetType("ns3::ApWifiMac", "Ssid", ssid);
    const NetDeviceContainer receiver = wifi.Install(phy, mac, accessPoint);
    mac.SetType("ns3::StaWifiMac", "Ssid", ssid, "ActiveProbing", BooleanValue(false));
    const NetDeviceContainer radios = wifi.Install(phy, mac, stations);
    mac.SetType("ns3::AdhocWifiMac");
    const NetDeviceContainer others = wifi.Install(phy, mac, neighbors);

    // 3. Addresses. IPv6 works as well, but then ARP is not what has to be filled.
    InternetStackHelper internet;
    internet.Install(NodeContainer(accessPoint, stations, neighbors));
    Ipv4AddressHelper addresses("10.1.0.0", "255.255.0.0");
    const Ipv4Address center = addresses.Assign(receiver).GetAddress(0);
    addresses.Assign(radios);
    const Ipv4Address neighbor =
        Ipv4AddressHelper("10.2.0.0", "255.255.0.0").Assign(others).GetAddress(1);

    // 4. What does not work for a federation: queues, block acks, preamble detection, association,
    //    ARP. FederatedWifiHelper::Tune lists it all. It comes after addresses, for ARP.
    if (tune)
    {
        FederatedWifiHelper().Tune(NetDeviceContainer(receiver, radios));
    }

    // 5. The neighbors: half of the time one sends to the other. They do not hear all devices.
    const uint16_t port = 9;
    OnOffHelper source("ns3::UdpSocketFactory", InetSocketAddress(neighbor, port));
    source.SetConstantRate(DataRate(static_cast<uint64_t>(1e6 * background)), 1400);
    source.SetAttribute("OnTime", StringValue("ns3::ExponentialRandomVariable[Mean=0.2]"));
    source.SetAttribute("OffTime", StringValue("ns3::ExponentialRandomVariable[Mean=0.2]"));
    if (background > 0)
    {
        source.Install(neighbors.Get(0));
    }
    const auto sink = DynamicCast<PacketSink>(
        PacketSinkHelper("ns3::UdpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), port))
            .Install(neighbors.Get(1))
            .Get(0));

    // 6. The federation. Nobody has told it about the links; the helpers of cells would.
    FederatedHelper federation;
    federation.SetCommand(cmd.GetCommand()); // for PREFIX-run.json
    federation.AddGroup(coarse, 2);
    federation.AddGroup(fine, 4);
    federation.SetData(FederatedData::MakeSynthetic(1, 100 * devices, 500));
    // A small model, 25,450 coordinates: frames of 802.11ax take long to simulate.
    federation.SetTaskAttribute("Model", StringValue("ns3::MlpModel[HiddenLayers=32]"));
    // Seconds of training for each of 100 samples: half a second a round, in which devices walk on.
    federation.SetDeviceAttribute("TimePerSample",
                                  StringValue("ns3::ConstantRandomVariable[Constant=0.005]"));
    federation.SetCenterAttribute("Rounds", UintegerValue(rounds));
    federation.SetCenterAttribute("Participants", UintegerValue(devices / 2));
    federation.SetCenterAttribute("Deadline", StringValue("4s"));
    // The model is sent to one device after the other; in a cell without other traffic multicast is
    // faster (Downlink, MulticastGroup, and a route for it: see federated-csma).
    federation.SetCenterAttribute("DownlinkRate", StringValue("40Mbps"));
    // An upper bound: the lengths of slots follow from the rates that the probe measures.
    federation.SetCenterAttribute("UplinkRate", StringValue("100Mbps"));
    federation.SetCenterAttribute("MeasuredSlots", BooleanValue(true));
    // Stations associate first. Then all would join at the same instant.
    federation.SetCenterAttribute("JoinTimeout", StringValue("5s"));
    federation.SetJoinSpacing(MilliSeconds(15));

    // 7. The probe at the radio that receives updates, and the applications.
    FederatedWifiHelper::Probe(federation, receiver.Get(0), radios);
    federation.Install(accessPoint.Get(0), InetSocketAddress(center, FederatedPort::CENTER));
    Updates updates;
    federation.GetCenter()->TraceConnectWithoutContext("RoundEnd",
                                                       MakeBoundCallback(&CountUpdates, &updates));
    std::string error;
    cmd.Require(federation.EnableOutput(output, error), error);

    Simulator::Run();
    FederatedResultLine result = federation.GetTraceWriter()->GetResult();
    result.AddCount("selected_updates", updates.selected);
    result.AddCount("received_updates", updates.received);
    result.AddCount("contributors", updates.contributors.size());
    result.AddCount("background_bytes", sink->GetTotalRx());
    return federation.Finish(result);
}
