// SPDX-License-Identifier: GPL-2.0-only

// A topology of one's own (doc/tutorial.rst): a wifi cell, with the center on a wire behind it.

#include "ns3/core-module.h"
#include "ns3/federated-module.h"
#include "ns3/mobility-module.h"
#include "ns3/network-module.h"

using namespace ns3;

int
main(int argc, char* argv[])
{
    uint32_t rounds = 5;
    double spacing = 10;
    bool pcap = false;
    std::string data = "data/mnist";
    std::string output;
    FederatedCommandLine cmd(__FILE__, "A wifi cell with a grid of devices.");
    cmd.AddCount("rounds", "Number of rounds", rounds, 1, 1000);
    cmd.AddReal("spacing", "Meters from one device to the next", spacing, 1, 1000);
    cmd.AddFlag("pcap", "Write what the access point sends and receives", pcap);
    cmd.AddData(data);
    cmd.AddOutput(output);
    cmd.ParseOrExit(argc, argv);

    // nodes: three rows of four devices, the access point in front of them
    NodeContainer devices(12);
    NodeContainer accessPoint(1);
    MobilityHelper mobility;
    mobility.SetPositionAllocator("ns3::GridPositionAllocator",
                                  "MinX",
                                  DoubleValue(spacing),
                                  "DeltaX",
                                  DoubleValue(spacing),
                                  "DeltaY",
                                  DoubleValue(spacing),
                                  "GridWidth",
                                  UintegerValue(4));
    mobility.Install(devices);
    accessPoint.Get(0)->AggregateObject(CreateObject<ConstantPositionMobilityModel>()); // origin

    // federation
    FederatedHelper federation;
    federation.AddGroup(devices, 4);
    std::string error;
    const FederatedData images = FederatedData::LoadDirectory(data, error);
    cmd.Require(error.empty(), error);
    federation.SetData(images);
    federation.SetAlgorithm("fwo");
    federation.SetTaskAttribute("Partition", StringValue("ns3::DirichletPartition[Alpha=0.5]"));
    federation.SetCenterAttribute("Rounds", UintegerValue(rounds));
    federation.SetCenterAttribute("Participants", UintegerValue(6));
    federation.SetCenterAttribute("Deadline", StringValue("4s"));

    // cell
    FederatedWifiHelper wifi;
    wifi.SetMode("infrastructure");
    wifi.SetCenterOnWire(true);
    wifi.SetFading(1); // Rayleigh
    wifi.Install(federation, accessPoint.Get(0));

    // output
    cmd.Require(federation.EnableOutput(output, error), error);
    cmd.Require(!pcap || !output.empty(), "Option --pcap needs --output=PREFIX.");
    if (pcap)
    {
        wifi.EnablePcap(output);
    }
    Simulator::Run();
    return federation.Finish();
}
