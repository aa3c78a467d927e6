// SPDX-License-Identifier: GPL-2.0-only

/*
 * A wired reference: the center and all devices on one CSMA segment.
 *
 *    center    device   device   device
 *       |         |        |        |
 *    ===+=========+========+========+===   100 Mb/s, 5 us
 *
 * Models go out by multicast, updates come back one by one. A frame that reaches the center is lost
 * with probability --loss, and with it the coordinates of the update that it carried; nothing else
 * is ever lost for good. A wire has no SNR: its columns stay empty. Half of the devices have 2
 * bits, the others 4.
 *
 * PREFIX-rounds.csv has a row a round, PREFIX-links.csv one for each selected device and round (see
 * federated-paper, federated-wifi); with --pcap, PREFIX-*.pcap holds what the center sent and
 * received, with --ascii PREFIX.tr the events of its net device. The result line adds
 * sent_fragments and received_fragments of all updates, and update_drops, messages of updates that
 * the error model took, counted at the net device.
 *
 *    federated-csma --devices=40 --loss=0.05 --output=csma
 */

#include "ns3/arp-cache.h"
#include "ns3/csma-helper.h"
#include "ns3/data-rate.h"
#include "ns3/error-model.h"
#include "ns3/federated-command-line.h"
#include "ns3/federated-header.h"
#include "ns3/federated-helper.h"
#include "ns3/federated-number.h"
#include "ns3/goodput-probe.h"
#include "ns3/inet-socket-address.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-address-helper.h"
#include "ns3/ipv4-interface.h"
#include "ns3/ipv4-l3-protocol.h"
#include "ns3/ipv4-static-routing-helper.h"
#include "ns3/pointer.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/trace-helper.h"
#include "ns3/uinteger.h"

#include <iostream>

using namespace ns3;

namespace
{

uint64_t g_updateDrops = 0; // messages of updates that the error model took

/** Count a frame that got lost, if it is a part of an update in UDP over IPv4 over Ethernet. */
void
CountDrop(Ptr<const Packet> packet)
{
    const uint32_t before = 14 + 20 + 8;
    uint8_t bytes[before + FederatedHeader::FIXED_SIZE];
    const uint32_t size = packet->CopyData(bytes, sizeof(bytes));
    if (size > before &&
        FederatedHeader::PeekType(bytes + before, size - before) == FederatedHeader::UPDATE)
    {
        ++g_updateDrops;
    }
}

/** Let a node know the hardware address of another for ever, so that no ARP gets lost. */
void
Introduce(const Ptr<NetDevice>& to, const Ptr<NetDevice>& who, const Ipv4Address& address)
{
    const auto ipv4 = to->GetNode()->GetObject<Ipv4L3Protocol>();
    const auto interface =
        ipv4->GetInterface(static_cast<uint32_t>(ipv4->GetInterfaceForDevice(to)));
    ArpCache::Entry* entry = interface->GetArpCache()->Add(address);
    entry->SetMacAddress(who->GetAddress());
    entry->MarkPermanent();
}

/** @return what is wrong with a bit budget, in words that follow it; empty if nothing. */
std::string
CheckBudget(const std::string& value)
{
    double bits = 0;
    const bool right = value == "measured" || (FederatedNumber::ReadReal(value, bits) && bits >= 0);
    return right ? "" : "is neither measured nor a number from 0 on";
}

} // namespace

int
main(int argc, char* argv[])
{
    uint32_t devices = 40;
    uint32_t participants = 10;
    uint32_t rounds = 20;
    double loss = 0;
    Time deadline = Seconds(4);
    std::string profile = "sound";
    std::string algorithm = "fwo-cso";
    double epsilon = 1e-6;
    std::string budget = "30";
    uint32_t threads = 0;
    bool pcap = false;
    bool ascii = false;
    std::string data = "data/mnist";
    std::string output;
    FederatedCommandLine cmd(__FILE__, "A federation on one CSMA segment, the wired reference.");
    cmd.AddCount("devices", "Number of devices, half of them with 2 bits", devices, 2, 1000);
    cmd.AddCount("participants", "Devices that take part in a round", participants, 2, 1000);
    cmd.AddCount("rounds", "Number of rounds", rounds, 1, 1000000);
    cmd.AddReal("loss", "Probability that a frame to the center is lost", loss, 0, 0.99);
    cmd.AddTime("deadline", "Longest round", deadline, MilliSeconds(1), Hours(1000));
    cmd.AddChoice("profile", "How the paper is read", profile, FederatedHelper::GetProfiles());
    cmd.AddChoice("algorithm", "What is run", algorithm, FederatedHelper::GetAlgorithms());
    cmd.AddReal("epsilon", "Same-cell epsilon of a coordinate", epsilon, 1e-12, 100);
    cmd.AddText("budget", "Bits a coordinate of a round, or measured", budget, CheckBudget);
    cmd.AddCount("threads", "Threads that train and evaluate, 0 for all cores", threads, 0, 1024);
    cmd.AddFlag("pcap", "Write what the center sends and receives", pcap);
    cmd.AddFlag("ascii", "Write the events of the center's net device", ascii);
    cmd.AddData(data);
    cmd.AddOutput(output);
    cmd.ParseOrExit(argc, argv);
    if ((pcap || ascii) && output.empty())
    {
        cmd.Fail("Options --pcap and --ascii need --output=PREFIX.");
    }

    std::string error;
    const FederatedData sets = FederatedData::LoadDirectory(data, error);
    if (!sets.train)
    {
        cmd.Fail(error);
    }
    NodeContainer center(1);
    NodeContainer coarse(devices / 2);
    NodeContainer fine(devices - devices / 2);
    const InetSocketAddress group(Ipv4Address("239.1.1.1"), 4243);
    FederatedHelper federation;
    federation.SetProfile(profile);
    federation.SetAlgorithm(algorithm);
    federation.SetEpsilon(epsilon);
    federation.AddGroup(coarse, 2);
    federation.AddGroup(fine, 4);
    federation.SetData(sets);
    federation.SetTaskAttribute("Threads", UintegerValue(threads));
    federation.SetCenterAttribute("BitBudget",
                                  StringValue(budget == "measured"
                                                  ? "ns3::MeasuredBitBudget"
                                                  : "ns3::FixedBitBudget[Bits=" + budget + "]"));
    federation.SetCenterAttribute("Participants", UintegerValue(participants));
    federation.SetCenterAttribute("Rounds", UintegerValue(rounds));
    federation.SetCenterAttribute("Deadline", TimeValue(deadline));
    federation.SetCenterAttribute("Downlink", StringValue("multicast"));
    federation.SetCenterAttribute("MulticastGroup", AddressValue(group));
    federation.SetDeviceAttribute("MulticastGroup", AddressValue(group));
    federation.SetCenterAttribute("DownlinkRate", StringValue("80Mbps"));
    federation.SetCenterAttribute("UplinkRate", StringValue("80Mbps"));
    federation.SetCenterAttribute("Guard", StringValue("500us"));
    if (!federation.Check(error))
    {
        cmd.Fail(error);
    }

    const NodeContainer nodes(center, coarse, fine);
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
    const auto probe = CreateObject<GoodputProbe>();
    probe->Attach(center.Get(0));
    for (uint32_t i = 0; i < devices; ++i)
    {
        probe->AddDevice(i, interfaces.GetAddress(i + 1));
        Introduce(ports.Get(0), ports.Get(i + 1), interfaces.GetAddress(i + 1));
        Introduce(ports.Get(i + 1), ports.Get(0), interfaces.GetAddress(0));
    }
    federation.SetProbe(probe);
    federation.Install(center.Get(0), InetSocketAddress(interfaces.GetAddress(0), 4242));
    federation.EnableProgress();
    federation.StopWhenFinished();
    if (loss > 0)
    {
        auto errors = CreateObject<RateErrorModel>();
        errors->SetUnit(RateErrorModel::ERROR_UNIT_PACKET);
        errors->SetRate(loss);
        errors->AssignStreams(1);
        ports.Get(0)->SetAttribute("ReceiveErrorModel", PointerValue(errors));
        ports.Get(0)->TraceConnectWithoutContext("PhyRxDrop", MakeCallback(&CountDrop));
    }
    if (!output.empty() && !federation.EnableTraces(output, error))
    {
        cmd.Fail(error);
    }
    if (pcap)
    {
        csma.EnablePcap(output, ports.Get(0), true);
    }
    if (ascii)
    {
        csma.EnableAscii(AsciiTraceHelper().CreateFileStream(output + ".tr"), ports.Get(0));
    }

    Simulator::Run();
    const auto traces = federation.GetTraceWriter();
    if (!traces->IsComplete(error))
    {
        cmd.Fail(error);
    }
    FederatedResultLine result = traces->GetResult();
    result.AddText("algorithm", algorithm);
    result.AddReal("bit_budget", traces->GetLastRound().bitBudget);
    result.AddCount("sent_fragments", traces->GetSentFragments());
    result.AddCount("received_fragments", traces->GetReceivedFragments());
    result.AddCount("update_drops", g_updateDrops);
    Simulator::Destroy();
    result.Print(std::cout);
    return 0;
}
