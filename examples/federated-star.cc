// SPDX-License-Identifier: GPL-2.0-only

/*
 * A wired star for scale: thousands of devices, of which a few take part in a round.
 *
 *                +--- hub ---+--- device    one tier of hubs, two above 2048 devices
 *    center  ----+           +--- device    links of devices: 100 Mb/s, 1 ms
 *                +--- hub ---+--- device    trunks: 10 Gb/s, 1 ms
 *                            +--- device
 *
 * A packet that a device sends is lost with probability --loss, between the device and its hub.
 * Over UDP the coordinates in it are then missing in the update; over TCP it is sent again. Half of
 * the devices have 2 bits, the others 4.
 *
 * PREFIX-rounds.csv has a row a round (see federated-paper); with --pcap, PREFIX-*-N.pcap holds
 * what the center sent and received over its trunk N. The result line adds sent_fragments and
 * received_fragments of all updates, and update_drops, messages of updates that the error model
 * took, counted at the net devices (UDP).
 *
 *    federated-star --devices=1000 --loss=0.05
 */

#include "ns3/double.h"
#include "ns3/error-model.h"
#include "ns3/federated-command-line.h"
#include "ns3/federated-header.h"
#include "ns3/federated-helper.h"
#include "ns3/federated-port.h"
#include "ns3/federated-star-helper.h"
#include "ns3/federated-streams.h"
#include "ns3/inet-socket-address.h"
#include "ns3/point-to-point-helper.h"
#include "ns3/pointer.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <iostream>

using namespace ns3;

namespace
{

uint64_t g_updateDrops = 0; // messages of updates that the error model took

/** Count a packet that got lost, if it is a part of an update in UDP over IPv4 over PPP. */
void
CountDrop(Ptr<const Packet> packet)
{
    const uint32_t before = 2 + 20 + 8;
    uint8_t bytes[before + FederatedHeader::FIXED_SIZE];
    const uint32_t size = packet->CopyData(bytes, sizeof(bytes));
    if (size > before &&
        FederatedHeader::PeekType(bytes + before, size - before) == FederatedHeader::UPDATE)
    {
        ++g_updateDrops;
    }
}

} // namespace

int
main(int argc, char* argv[])
{
    uint32_t devices = 1000;
    uint32_t participants = 10;
    uint32_t rounds = 20;
    double loss = 0;
    std::string transport = "udp";
    Time deadline = Hours(1);
    uint32_t fragmentSize = 1400;
    uint32_t threads = 0;
    bool pcap = false;
    std::string data = "data/mnist";
    std::string output;
    FederatedCommandLine cmd(__FILE__, "A wired star of thousands of devices.");
    cmd.AddCount("devices", "Number of devices", devices, 2, 60000);
    cmd.AddCount("participants", "Devices that take part in a round", participants, 2, 60000);
    cmd.AddCount("rounds", "Number of rounds", rounds, 1, 1000000);
    cmd.AddReal("loss", "Probability that a packet of a device is lost", loss, 0, 0.99);
    cmd.AddChoice("transport", "Protocol below the messages", transport, {"udp", "tcp"});
    cmd.AddTime("deadline", "Longest round", deadline, MilliSeconds(1), Hours(1000));
    cmd.AddCount("fragment-size", "Bytes of a message", fragmentSize, 100, 1472);
    cmd.AddCount("threads", "Threads that train and evaluate, 0 for all cores", threads, 0, 1024);
    cmd.AddFlag("pcap", "Write what the center sends and receives", pcap);
    cmd.AddData(data);
    cmd.AddOutput(output);
    cmd.ParseOrExit(argc, argv);
    if (pcap && output.empty())
    {
        cmd.Fail("Option --pcap needs --output=PREFIX.");
    }

    std::string error;
    const FederatedData sets = FederatedData::LoadDirectory(data, error);
    if (!sets.train)
    {
        cmd.Fail(error);
    }
    NodeContainer coarse(devices / 2);
    NodeContainer fine(devices - devices / 2);
    FederatedHelper federation;
    federation.AddGroup(coarse, 2);
    federation.AddGroup(fine, 4);
    federation.SetData(sets);
    federation.SetProtocol(transport);
    federation.SetTaskAttribute("Threads", UintegerValue(threads));
    // Three bits a coordinate for each participant, as in the paper.
    federation.SetCenterAttribute(
        "BitBudget",
        StringValue("ns3::FixedBitBudget[Bits=" + std::to_string(3 * participants) + "]"));
    federation.SetCenterAttribute("Participants", UintegerValue(participants));
    federation.SetCenterAttribute("Rounds", UintegerValue(rounds));
    federation.SetCenterAttribute("Deadline", TimeValue(deadline));
    federation.SetCenterAttribute("JoinTimeout", StringValue("10min"));
    federation.SetCenterAttribute("DownlinkRate", StringValue("80Mbps"));
    federation.SetCenterAttribute("UplinkRate", StringValue("80Mbps"));
    federation.SetCenterAttribute("FragmentSize", UintegerValue(fragmentSize));
    federation.SetDeviceAttribute("FragmentSize", UintegerValue(fragmentSize));
    if (!federation.Check(error))
    {
        cmd.Fail(error);
    }

    FederatedStarHelper star;
    star.SetDeviceLink(DataRate("100Mbps"), MilliSeconds(1));
    star.SetTrunkLink(DataRate("10Gbps"), MilliSeconds(1));
    star.Install(NodeContainer(coarse, fine), FederatedStarHelper::GetTiers(devices));
    federation.Install(star.GetCenter(),
                       InetSocketAddress(star.GetCenterAddress(), FederatedPort::CENTER));
    federation.EnableProgress();
    federation.StopWhenFinished();
    if (loss > 0)
    {
        auto errors = CreateObject<RateErrorModel>();
        errors->SetUnit(RateErrorModel::ERROR_UNIT_PACKET);
        errors->SetRate(loss);
        errors->AssignStreams(FederatedStreams::ERROR_MODEL);
        const NetDeviceContainer& ports = star.GetUplinkPorts();
        for (uint32_t i = 0; i < ports.GetN(); ++i)
        {
            ports.Get(i)->SetAttribute("ReceiveErrorModel", PointerValue(errors));
            ports.Get(i)->TraceConnectWithoutContext("PhyRxDrop", MakeCallback(&CountDrop));
        }
    }
    if (!output.empty() && !federation.EnableTraces(output, error, false))
    {
        cmd.Fail(error);
    }
    if (pcap)
    {
        PointToPointHelper().EnablePcap(output, star.GetCenterPorts());
    }

    Simulator::Run();
    const auto traces = federation.GetTraceWriter();
    if (!traces->IsComplete(error))
    {
        cmd.Fail(error);
    }
    FederatedResultLine result = traces->GetResult();
    result.AddText("transport", transport);
    result.AddCount("sent_fragments", traces->GetSentFragments());
    result.AddCount("received_fragments", traces->GetReceivedFragments());
    if (transport == "udp")
    {
        result.AddCount("update_drops", g_updateDrops);
    }
    federation.PrintPrivacy(std::cerr);
    Simulator::Destroy();
    result.Print(std::cout);
    return 0;
}
