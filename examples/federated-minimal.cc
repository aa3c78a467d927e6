// SPDX-License-Identifier: GPL-2.0-only

/*
 * The smallest federation: four devices learn together. A script to copy.
 *
 *    device 0 (2 bits) ----+
 *    device 1 (2 bits) ----+---- center
 *    device 2 (4 bits) ----+
 *    device 3 (4 bits) ----+     point-to-point links, 10 Mb/s
 *
 * It prints a line a round on standard error and the result on standard output: rounds, simulated
 * time, accuracy on the test set, loss on the training set, and the lost fraction of the updates.
 *
 *    federated-minimal
 */

#include "ns3/federated-command-line.h"
#include "ns3/federated-helper.h"
#include "ns3/federated-port.h"
#include "ns3/inet-socket-address.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-address-helper.h"
#include "ns3/ipv4-global-routing-helper.h"
#include "ns3/point-to-point-helper.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

using namespace ns3;

int
main(int argc, char* argv[])
{
    uint32_t rounds = 10;
    FederatedCommandLine cmd(__FILE__, "The smallest federation: four devices, synthetic data.");
    cmd.AddCount("rounds", "Number of rounds", rounds, 1, 1000);
    cmd.ParseOrExit(argc, argv);

    // The network: anything that carries IP between the devices and the center will do. For cells
    // and large stars there are helpers: see federated-wifi-simple, federated-lte, federated-star.
    NodeContainer center(1);
    NodeContainer coarse(2);
    NodeContainer fine(2);
    NodeContainer devices(coarse, fine);
    InternetStackHelper internet;
    internet.Install(NodeContainer(center, devices));
    PointToPointHelper links;
    links.SetDeviceAttribute("DataRate", StringValue("10Mbps"));
    links.SetChannelAttribute("Delay", StringValue("2ms"));
    Ipv4AddressHelper addresses("10.1.0.0", "255.255.255.0");
    Ipv4InterfaceContainer interfaces;
    for (uint32_t i = 0; i < devices.GetN(); ++i)
    {
        interfaces.Add(addresses.Assign(links.Install(center.Get(0), devices.Get(i))));
        addresses.NewNetwork();
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();

    // The federation: devices of a group quantize with the same number of bits a coordinate.
    FederatedHelper federation;
    federation.AddGroup(coarse, 2);
    federation.AddGroup(fine, 4);
    // Synthetic images; FederatedData::LoadDirectory("data/mnist", error) reads real ones.
    federation.SetData(FederatedData::MakeSynthetic(1, 2000, 500));
    federation.SetCenterAttribute("Rounds", UintegerValue(rounds));
    federation.SetCenterAttribute("Participants", UintegerValue(4)); // selected in a round
    // Below the rate of the links: a faster model or update would overflow the queues.
    federation.SetCenterAttribute("DownlinkRate", StringValue("8Mbps"));
    federation.SetCenterAttribute("UplinkRate", StringValue("8Mbps"));
    // The address by which the devices reach the center: any of its node, if there is a route.
    federation.Install(center.Get(0),
                       InetSocketAddress(interfaces.GetAddress(0), FederatedPort::CENTER));
    federation.EnableProgress();   // a line a round; EnableTraces writes tables
    federation.StopWhenFinished(); // else devices would wait for further rounds

    Simulator::Run();
    return federation.Finish(); // the result line, warnings, and the exit code
}
