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
 * Over UDP the update then lacks its coordinates; over TCP it is retransmitted. Half of the devices
 * have 2 bits, the others 4.
 *
 * PREFIX-rounds.csv has a row a round (see federated-paper); with --pcap, PREFIX-*-N.pcap holds
 * what the center sent and received over its trunk N. The result line adds sent_fragments and
 * received_fragments of all updates, and update_drops, update messages that the error model
 * dropped, counted at the net devices (UDP, without --encrypt).
 *
 *    federated-star --devices=1000 --loss=0.05
 */

#include "ns3/error-model.h"
#include "ns3/federated-command-line.h"
#include "ns3/federated-helper.h"
#include "ns3/federated-scenario-options.h"
#include "ns3/federated-star-helper.h"
#include "ns3/federated-streams.h"
#include "ns3/point-to-point-helper.h"
#include "ns3/pointer.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

using namespace ns3;

int
main(int argc, char* argv[])
{
    FederatedScenarioOptions options;
    options.devices = 1000;
    options.rounds = 20;
    options.deadline = Hours(1);
    options.measuresSnr = false;
    double loss = 0;
    std::string transport = "udp";
    uint32_t fragmentSize = 1400;
    bool pcap = false;
    FederatedCommandLine cmd(__FILE__, "A wired star of thousands of devices.");
    cmd.AddCount("devices", "Number of devices", options.devices, 2, 60000);
    cmd.AddCount("participants", "Devices selected in a round", options.participants, 2, 60000);
    options.AddSelection(cmd);
    cmd.AddCount("rounds", "Number of rounds", options.rounds, 1, 1000000);
    cmd.AddChoice("algorithm",
                  "Quantizer, fusion rule and cluster sizes",
                  options.algorithm,
                  FederatedHelper::GetAlgorithms());
    options.AddWeights(cmd);
    cmd.AddReal("loss", "Probability that a packet of a device is lost", loss, 0, 0.99);
    cmd.AddChoice("transport", "Protocol below the messages", transport, {"udp", "tcp"});
    cmd.AddTime("deadline", "Longest round", options.deadline, MilliSeconds(1), Hours(1000));
    cmd.AddCount("fragment-size", "Bytes of a message", fragmentSize, 100, 1472);
    options.learning.Add(cmd);
    cmd.AddCount(
        "threads", "Threads that train and evaluate, 0 for all cores", options.threads, 0, 1024);
    cmd.AddFlag("pcap", "Write what the center sends and receives", pcap);
    FederatedScenarioOptions::AddEncryption(cmd, options.encrypt);
    options.AddPreparation(cmd);
    cmd.AddData(options.data);
    cmd.AddOutput(options.output);
    cmd.ParseOrExit(argc, argv);
    // Three bits a coordinate for each participant, as in the paper.
    options.budget = std::to_string(3 * options.participants);
    options.ReadOrExit(cmd);
    const std::string& output = options.output;
    cmd.Require(!pcap || !output.empty(), "Option --pcap needs --output=PREFIX.");

    // What is learned, by whom and how.
    FederatedHelper federation;
    federation.SetProtocol(transport);
    options.SetUp(federation, cmd); // reads the data, makes the nodes of the devices
    // Time for thousands to join; the first round begins as soon as all have.
    federation.SetCenterAttribute("JoinTimeout", StringValue("10min"));
    // Small messages lose less at a time, large ones have less overhead; both sides need the same.
    federation.SetCenterAttribute("FragmentSize", UintegerValue(fragmentSize));
    federation.SetDeviceAttribute("FragmentSize", UintegerValue(fragmentSize));

    // Links, hubs, addresses and applications. The model and updates are sent at 80 % of the rate
    // of a device's link, unless DownlinkRate or UplinkRate is set above.
    NodeContainer center(1);
    FederatedStarHelper star;
    star.SetDeviceLink(DataRate("100Mbps"), MilliSeconds(1));
    star.SetTrunkLink(DataRate("10Gbps"), MilliSeconds(1));
    star.Install(federation, center.Get(0));
    std::string error;
    cmd.Require(federation.EnableOutput(output, error, false), error);

    // A wire loses nothing by itself: an error model at the net devices that receive from devices
    // does. The model arrives whole; an error model at the devices would change that.
    const uint32_t headers = 2 + 20 + 8; // PPP, IPv4, UDP
    uint64_t updateDrops = 0;            // update messages that the error model dropped
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
            ports.Get(i)->TraceConnectWithoutContext(
                "PhyRxDrop",
                MakeBoundCallback(&FederatedHelper::CountUpdate, &updateDrops, headers));
        }
    }
    if (pcap)
    {
        PointToPointHelper().EnablePcap(output, star.GetCenterPorts());
        cmd.GetTraceFiles().AddCaptures(output, star.GetCenterPorts());
    }

    Simulator::Run();
    const auto traces = federation.GetTraceWriter();
    FederatedResultLine result = traces->GetResult();
    result.AddText("transport", transport);
    result.AddCount("sent_fragments", traces->GetSentFragments());
    result.AddCount("received_fragments", traces->GetReceivedFragments());
    if (transport == "udp" && !options.encrypt) // encrypted messages do not show their type
    {
        result.AddCount("update_drops", updateDrops);
    }
    return federation.Finish(result);
}
