// SPDX-License-Identifier: GPL-2.0-only

/*
 * A wifi cell, step by step: ten devices around an access point learn together. A script to copy.
 *
 *          device   device
 *             \       /
 *    device -- (( access point )) -- device     802.11ac at 5 GHz, 20 MHz; the center is in the
 *             /       \                         access point, the devices are uniform in a disc
 *          device   device
 *
 * It prints a line a round on standard error and the result on standard output: rounds, simulated
 * time, accuracy on the test set, loss on the training set, and the lost fraction of the updates.
 * With --output, PREFIX-rounds.csv has a row a round and PREFIX-links.csv one for each selected
 * device and round: SNR, sent and received fragments, weight, distance, ... (see federated-wifi).
 *
 *    federated-wifi-simple --radius=60 --output=cell
 */

#include "ns3/federated-command-line.h"
#include "ns3/federated-helper.h"
#include "ns3/federated-wifi-helper.h"
#include "ns3/mobility-helper.h"
#include "ns3/position-allocator.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

using namespace ns3;

int
main(int argc, char* argv[])
{
    uint32_t rounds = 10;
    double radius = 30;
    std::string output;
    FederatedCommandLine cmd(__FILE__, "A wifi cell of ten devices, synthetic data.");
    cmd.AddCount("rounds", "Number of rounds", rounds, 1, 1000);
    cmd.AddReal("radius", "Radius of the disc with the devices, in m", radius, 0.1, 1000);
    cmd.AddOutput(output);
    cmd.ParseOrExit(argc, argv);

    // 1. Nodes. Devices of one group quantize with the same number of bits: here half of them are
    //    coarse, 2 bits a coordinate, and half fine, 4 bits.
    NodeContainer accessPoint(1);
    NodeContainer coarse(5);
    NodeContainer fine(5);

    // 2. Places: any mobility model will do, also one that moves. Without an allocator a node is
    //    at the origin.
    MobilityHelper mobility;
    mobility.Install(accessPoint);
    auto disc = CreateObject<UniformDiscPositionAllocator>();
    disc->SetRho(radius);
    mobility.SetPositionAllocator(disc);
    mobility.Install(NodeContainer(coarse, fine));

    // 3. What is learned, by whom and how. Images of your own: FederatedData::LoadDirectory.
    FederatedHelper federation;
    federation.SetCommand(cmd.GetCommand()); // for PREFIX-run.json
    federation.AddGroup(coarse, 2);
    federation.AddGroup(fine, 4);
    federation.SetData(FederatedData::MakeSynthetic(1, 2000, 500));
    federation.SetCenterAttribute("Rounds", UintegerValue(rounds));
    federation.SetCenterAttribute("Participants", UintegerValue(6)); // selected in a round
    federation.SetCenterAttribute("Deadline", StringValue("2s"));    // longest round
    // How many bits all updates of a round may have is measured on the links. Without this line it
    // is 30 bits a coordinate, as in the paper.
    federation.SetCenterAttribute("BitBudget", StringValue("ns3::MeasuredBitBudget"));

    // 4. Physics. In infrastructure mode frames are acknowledged and a bad link is slow; in ad hoc
    //    mode they are not, and a bad link loses coordinates of updates.
    FederatedWifiHelper cell;
    cell.SetMode("infrastructure");
    cell.SetExponent(3);       // of the path loss
    cell.SetFading(1);         // Rayleigh; 0: none
    cell.SetTxPower(16);       // of devices, in dBm
    cell.SetCenterTxPower(26); // of the access point

    // 5. Radios, addresses, applications, and the probe that measures the links.
    cell.Install(federation, accessPoint.Get(0));

    // 6. Progress, tables (if there is a prefix), and the end after the last round.
    std::string error;
    cmd.Require(federation.EnableOutput(output, error), error);

    Simulator::Run();
    return federation.Finish();
}
