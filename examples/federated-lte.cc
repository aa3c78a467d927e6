// SPDX-License-Identifier: GPL-2.0-only

/*
 * One LTE cell: SINR, lateness and the bit budget come from the channel.
 *
 *    device   device
 *        \     /
 *    (( eNB at the origin )) --- SGW --- PGW --- center
 *        /     \
 *    device   device
 *
 * Devices are uniform in a disc. The model is sent to one selected device after the other (unicast)
 * at --downlink-rate, and is queued at the eNB if the radio is slower. Updates are sent in granted
 * slots, whose length follows from the measured rate. HARQ retransmits lost blocks, so that a bad
 * link is slow and its update late. Beyond about 550 m (exponent 3, 100 resource blocks) the uplink
 * is too weak for ns-3's schedulers: such devices do not join, and slow down the others.
 *
 * PREFIX-rounds.csv has a row a round: simulated time, train loss, test accuracy, B, granted and
 * delivered bits, lost fraction, mean SINR, ... PREFIX-links.csv has a row for each selected device
 * and round: SINR of its sounding signals at the eNB, sent and received fragments, weight,
 * distance, transport blocks decoded and failed, ... With --pcap, PREFIX-*.pcap holds what the
 * center sent and received; --flowmon writes PREFIX-flowmon.xml.
 *
 *    federated-lte --radius=1000 --output=cell
 */

#include "ns3/data-rate.h"
#include "ns3/federated-command-line.h"
#include "ns3/federated-helper.h"
#include "ns3/federated-lte-helper.h"
#include "ns3/federated-scenario-options.h"
#include "ns3/flow-monitor-helper.h"
#include "ns3/point-to-point-helper.h"
#include "ns3/simulator.h"

#include <cmath>
#include <string>

using namespace ns3;

int
main(int argc, char* argv[])
{
    FederatedScenarioOptions options;
    options.devices = 20;
    options.rounds = 10;
    options.radius = 500;
    options.deadline = Seconds(10);
    std::string width = "100";
    double downlinkRate = 40;
    double uplinkRate = 50;
    bool pcap = false;
    bool flowmon = false;
    FederatedCommandLine cmd(__FILE__, "One LTE cell; SINR, lateness and the bit budget emerge.");
    options.AddFederation(cmd);
    options.AddPlaces(cmd);
    cmd.AddChoice(
        "width", "Resource blocks of the cell", width, {"6", "15", "25", "50", "75", "100"});
    cmd.AddReal("downlink-rate", "Sending rate of the model, in Mb/s", downlinkRate, 0.001, 1000);
    cmd.AddReal("uplink-rate",
                "Sending rate of updates if the radio is not slower, in Mb/s",
                uplinkRate,
                0.001,
                1000);
    cmd.AddFlag("pcap", "Write what the center sends and receives", pcap);
    cmd.AddFlag("flowmon", "Write the flows as XML", flowmon);
    cmd.ParseOrExit(argc, argv);
    options.ReadOrExit(cmd);
    const std::string& output = options.output;
    cmd.Require(!(pcap || flowmon) || !output.empty(),
                "Options --pcap and --flowmon need --output=PREFIX.");

    // What is learned, by whom and how. Rates that are set here win over those of the cell, which
    // follow from its width.
    FederatedHelper federation;
    options.SetUp(federation, cmd); // reads the data, makes the nodes of the devices
    const NodeContainer devices = federation.GetNodes();
    federation.SetCenterAttribute(
        "DownlinkRate", DataRateValue(DataRate(static_cast<uint64_t>(1e6 * downlinkRate))));
    federation.SetCenterAttribute("UplinkRate",
                                  DataRateValue(DataRate(static_cast<uint64_t>(1e6 * uplinkRate))));
    cmd.Require(devices.GetN() <= FederatedLteHelper::MAX_DEVICES,
                "An LTE cell has at most " + std::to_string(FederatedLteHelper::MAX_DEVICES) +
                    " devices, not " + std::to_string(devices.GetN()) + ".");

    // Physics. GetLteHelper() gives ns-3's own helper, for another path loss, fading or scheduler.
    FederatedLteHelper lte;
    lte.SetPathLossExponent(options.exponent);
    lte.SetResourceBlocks(static_cast<uint16_t>(std::stoul(width)));

    // Places before radios: any mobility model will do.
    NodeContainer enb(1);
    options.Place(devices, enb.Get(0));

    // Radios, core network, addresses and applications. The center is a node behind the PGW.
    lte.Install(federation, enb.Get(0));
    std::string error;
    cmd.Require(federation.EnableOutput(output, error), error);
    if (pcap)
    {
        PointToPointHelper().EnablePcap(output, NetDeviceContainer(lte.GetCenterPort()));
        cmd.GetTraceFiles().AddCaptures(output, lte.GetCenterPort());
    }
    FlowMonitorHelper flows;
    const Ptr<FlowMonitor> monitor =
        flowmon ? flows.Install(NodeContainer(NodeContainer(lte.GetCenter()), devices)) : nullptr;

    Simulator::Run();
    if (monitor)
    {
        monitor->SerializeToXmlFile(output + "-flowmon.xml", false, false);
        cmd.GetTraceFiles().AddXml(output + "-flowmon.xml", "FlowMonitor");
    }
    const auto traces = federation.GetTraceWriter();
    const RoundRecord& last = traces->GetLastRound();
    FederatedResultLine result = traces->GetResult();
    result.AddText("algorithm", options.algorithm);
    result.AddReal("mean_snr_db", 10 * std::log10(last.meanSnr));
    result.AddReal("bit_budget", last.bitBudget);
    result.AddReal("same_cell_epsilon", last.sameCellEpsilon);
    return federation.Finish(result);
}
