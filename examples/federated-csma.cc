// SPDX-License-Identifier: GPL-2.0-only

/*
 * A wired reference: the center and all devices on one CSMA segment.
 *
 *    center    device   device   device
 *       |         |        |        |
 *    ===+=========+========+========+===   100 Mb/s, 5 us
 *
 * The model is sent by multicast, updates are received one after the other. A frame is dropped at
 * the center with probability --loss, and with it the coordinates of the update that it carries.
 * Lost control messages are retransmitted. A wire has no SNR: its columns are empty. Half of the
 * devices have 2 bits, the others 4.
 *
 * PREFIX-rounds.csv has a row a round, PREFIX-links.csv one for each selected device and round (see
 * federated-paper, federated-wifi); with --pcap, PREFIX-*.pcap holds what the center sent and
 * received, with --ascii PREFIX.tr the events of its net device. The result line adds
 * sent_fragments and received_fragments of all updates, and update_drops, update messages that the
 * error model dropped, counted at the net device.
 *
 *    federated-csma --devices=40 --loss=0.05 --output=csma
 */

#include "ns3/csma-helper.h"
#include "ns3/data-rate.h"
#include "ns3/error-model.h"
#include "ns3/federated-command-line.h"
#include "ns3/federated-helper.h"
#include "ns3/federated-neighbors.h"
#include "ns3/federated-port.h"
#include "ns3/federated-scenario-options.h"
#include "ns3/federated-streams.h"
#include "ns3/goodput-probe.h"
#include "ns3/inet-socket-address.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-address-helper.h"
#include "ns3/ipv4-static-routing-helper.h"
#include "ns3/pointer.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/trace-helper.h"
#include "ns3/uinteger.h"

using namespace ns3;

int
main(int argc, char* argv[])
{
    FederatedScenarioOptions options;
    options.rounds = 20;
    options.measuresSnr = false;
    options.budget = "30";
    double loss = 0;
    bool pcap = false;
    bool ascii = false;
    FederatedCommandLine cmd(__FILE__, "A federation on one CSMA segment, the wired reference.");
    options.AddFederation(cmd);
    cmd.AddReal("loss", "Probability that a frame to the center is lost", loss, 0, 0.99);
    cmd.AddFlag("pcap", "Write what the center sends and receives", pcap);
    cmd.AddFlag("ascii", "Write the events of the center's net device", ascii);
    cmd.ParseOrExit(argc, argv);
    options.ReadOrExit(cmd);
    const std::string& output = options.output;
    cmd.Require(options.noise != "snr", "Option --noise=snr needs radios; a wire has no SNR.");
    cmd.Require(!(pcap || ascii) || !output.empty(),
                "Options --pcap and --ascii need --output=PREFIX.");

    // What is learned, by whom and how.
    FederatedHelper federation;
    options.SetUp(federation, cmd); // reads the data, makes the nodes of the devices
    // One transmission reaches all devices. Without multicast (Downlink=unicast, the default) the
    // model is sent to one device after the other, and no group is needed.
    const InetSocketAddress group(Ipv4Address("239.1.1.1"), FederatedPort::DEVICE);
    federation.SetCenterAttribute("Downlink", StringValue("multicast"));
    federation.SetCenterAttribute("MulticastGroup", AddressValue(group));
    federation.SetDeviceAttribute("MulticastGroup", AddressValue(group));
    // Below the rate of the segment: a faster model or update would overflow the queues.
    federation.SetCenterAttribute("DownlinkRate", StringValue("80Mbps"));
    federation.SetCenterAttribute("UplinkRate", StringValue("80Mbps"));
    federation.SetCenterAttribute("Guard", StringValue("500us"));

    // The network, made with ns-3's helpers: no helper of this module knows it. Its streams have
    // fixed numbers, because automatic ones depend on all that a script creates.
    NodeContainer center(1);
    const NodeContainer nodes(center, federation.GetNodes());
    CsmaHelper csma;
    csma.SetChannelAttribute("DataRate", StringValue("100Mbps"));
    csma.SetChannelAttribute("Delay", StringValue("5us"));
    const NetDeviceContainer ports = csma.Install(nodes);
    csma.AssignStreams(ports, 2000);
    InternetStackHelper internet;
    internet.SetIpv6StackInstall(false);
    internet.Install(nodes);
    internet.AssignStreams(nodes, 1000);
    const Ipv4InterfaceContainer interfaces =
        Ipv4AddressHelper("10.1.0.0", "255.255.0.0").Assign(ports);
    Ipv4StaticRoutingHelper().SetDefaultMulticastRoute(center.Get(0), ports.Get(0));
    // Measure the uplinks at the IP layer of the center, which works with any link, without SNR.
    const auto probe = CreateObject<GoodputProbe>();
    probe->Attach(center.Get(0));
    for (uint32_t i = 0; i + 1 < nodes.GetN(); ++i)
    {
        probe->AddDevice(i, interfaces.GetAddress(i + 1));
        // Static ARP entries: requests could be lost.
        const auto there = ports.Get(i + 1);
        FederatedNeighbors::Add(ports.Get(0), interfaces.GetAddress(i + 1), there->GetAddress());
        FederatedNeighbors::Add(there, interfaces.GetAddress(0), ports.Get(0)->GetAddress());
    }
    federation.SetProbe(probe);
    federation.Install(center.Get(0),
                       InetSocketAddress(interfaces.GetAddress(0), FederatedPort::CENTER));
    std::string error;
    cmd.Require(federation.EnableOutput(output, error), error);

    // A wire loses nothing by itself: an error model at the center's net device does.
    const uint32_t headers = 14 + 20 + 8; // Ethernet, IPv4, UDP
    uint64_t updateDrops = 0;             // update messages that the error model dropped
    if (loss > 0)
    {
        auto errors = CreateObject<RateErrorModel>();
        errors->SetUnit(RateErrorModel::ERROR_UNIT_PACKET);
        errors->SetRate(loss);
        errors->AssignStreams(FederatedStreams::ERROR_MODEL);
        ports.Get(0)->SetAttribute("ReceiveErrorModel", PointerValue(errors));
        ports.Get(0)->TraceConnectWithoutContext(
            "PhyRxDrop", MakeBoundCallback(&FederatedHelper::CountUpdate, &updateDrops, headers));
    }
    if (pcap)
    {
        csma.EnablePcap(output, ports.Get(0), true);
        cmd.GetTraceFiles().AddCaptures(output, ports.Get(0));
    }
    if (ascii)
    {
        csma.EnableAscii(AsciiTraceHelper().CreateFileStream(output + ".tr"), ports.Get(0));
        cmd.GetTraceFiles().AddLines(output + ".tr");
    }

    Simulator::Run();
    const auto traces = federation.GetTraceWriter();
    FederatedResultLine result = traces->GetResult();
    result.AddText("algorithm", options.algorithm);
    result.AddReal("bit_budget", traces->GetLastRound().bitBudget);
    result.AddCount("sent_fragments", traces->GetSentFragments());
    result.AddCount("received_fragments", traces->GetReceivedFragments());
    if (!options.encrypt) // encrypted messages do not show their type
    {
        result.AddCount("update_drops", updateDrops);
    }
    return federation.Finish(result);
}
