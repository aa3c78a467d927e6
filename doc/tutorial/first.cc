// SPDX-License-Identifier: GPL-2.0-only

// The first script of doc/tutorial.rst: eight devices and a center on one Ethernet segment.

#include "ns3/core-module.h"
#include "ns3/csma-module.h"
#include "ns3/federated-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"

using namespace ns3;

int
main(int argc, char* argv[])
{
    uint32_t rounds = 10;
    std::string output;
    FederatedCommandLine cmd(__FILE__, "Eight devices and a center on one Ethernet segment.");
    cmd.AddCount("rounds", "Number of rounds", rounds, 1, 1000);
    cmd.AddOutput(output);
    cmd.ParseOrExit(argc, argv);

    // A network, as any script of ns-3 makes it.
    NodeContainer center(1);
    NodeContainer coarse(4);
    NodeContainer fine(4);
    NodeContainer all(center, coarse, fine);
    CsmaHelper csma;
    csma.SetChannelAttribute("DataRate", StringValue("100Mbps"));
    NetDeviceContainer ports = csma.Install(all);
    InternetStackHelper internet;
    internet.Install(all);
    Ipv4AddressHelper addresses("10.1.1.0", "255.255.255.0");
    Ipv4InterfaceContainer interfaces = addresses.Assign(ports);

    // The federation: who takes part, what is learned, and how.
    FederatedHelper federation;
    federation.AddGroup(coarse, 2); // these devices send 2 bits a coordinate
    federation.AddGroup(fine, 4);   // and these 4
    federation.SetData(FederatedData::MakeSynthetic(1, 2000, 500));
    federation.SetAlgorithm("fwo");
    federation.SetCenterAttribute("Rounds", UintegerValue(rounds));
    federation.SetCenterAttribute("Participants", UintegerValue(6));
    federation.Install(center.Get(0),
                       InetSocketAddress(interfaces.GetAddress(0), FederatedPort::CENTER));

    std::string error;
    cmd.Require(federation.EnableOutput(output, error), error);
    Simulator::Run();
    return federation.Finish();
}
