// SPDX-License-Identifier: GPL-2.0-only

/*
 * Guests, and two federations in one network: devices come late, leave and come back, and some of
 * them learn a second task at the same time.
 *
 *    center    resident 0 ... 3     guest 4          guest 5
 *       |          |        |          |                |
 *    ===+==========+========+==========+================+===   100 Mb/s, 5 us
 *                                comes at --arrival,  leaves at --departure,
 *                                                     comes back --absence later
 *
 * All six devices learn pictures; the residents also learn a smaller task, of other data and with
 * another algorithm, from another center on the same node. The simulation ends when both are done.
 *
 * It prints on standard error a line a round of the first federation, and who joins and leaves. The
 * result line adds late_updates and returning_updates, what was received of guests 4 and 5, and
 * second_rounds and second_accuracy, those of the second federation.
 *
 *    federated-guests --arrival=1s
 */

#include "ns3/csma-helper.h"
#include "ns3/double.h"
#include "ns3/federated-command-line.h"
#include "ns3/federated-helper.h"
#include "ns3/federated-port.h"
#include "ns3/federated-streams.h"
#include "ns3/inet-socket-address.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-address-helper.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <iostream>
#include <map>

using namespace ns3;

namespace
{

const uint32_t LATE = 4;      // the guest that comes late
const uint32_t RETURNING = 5; // the guest that leaves and comes back

std::map<uint32_t, uint64_t> g_updates; // received in all rounds, by device

/** Count the updates of a round. */
void
CountUpdates(const RoundRecord& record)
{
    for (const LinkRecord& link : record.links)
    {
        g_updates[link.device] += link.receivedFragments > 0 ? 1 : 0;
    }
}

/** Say who joins and leaves. */
void
PrintMember(uint32_t device, bool joined)
{
    std::cerr << Simulator::Now().GetSeconds() << " s: device " << device
              << (joined ? " joins\n" : " leaves\n");
}

} // namespace

int
main(int argc, char* argv[])
{
    uint32_t rounds = 10;
    Time arrival = Seconds(1);
    Time departure = Seconds(1);
    Time absence = Seconds(1);
    FederatedCommandLine cmd(__FILE__, "Guests, and two federations in one network.");
    cmd.AddCount("rounds", "Number of rounds of each federation", rounds, 1, 1000);
    cmd.AddTime("arrival", "When guest 4 comes", arrival, Time(0), Hours(1));
    cmd.AddTime("departure", "When guest 5 leaves", departure, Time(0), Hours(1));
    cmd.AddTime("absence", "Time after which it comes back", absence, Time(0), Hours(1));
    cmd.ParseOrExit(argc, argv);

    // The network: one segment. Anything that carries IP will do.
    NodeContainer center(1);
    NodeContainer residents(4);
    NodeContainer guests(2);
    const NodeContainer all(center, residents, guests);
    CsmaHelper csma;
    csma.SetChannelAttribute("DataRate", StringValue("100Mbps"));
    csma.SetChannelAttribute("Delay", StringValue("5us"));
    InternetStackHelper().Install(all);
    const Ipv4Address address =
        Ipv4AddressHelper("10.1.0.0", "255.255.255.0").Assign(csma.Install(all)).GetAddress(0);

    // The first federation: residents with 4 bits are devices 0 to 3, guests with 2 bits 4 and 5.
    FederatedHelper pictures;
    pictures.AddGroup(residents, 4);
    pictures.AddGroup(guests, 2);
    pictures.SetData(FederatedData::MakeSynthetic(1, 2000, 500));
    pictures.SetCenterAttribute("Rounds", UintegerValue(rounds));
    pictures.SetCenterAttribute("Participants", UintegerValue(6));
    pictures.SetCenterAttribute("DownlinkRate", StringValue("40Mbps"));
    pictures.SetCenterAttribute("UplinkRate", StringValue("40Mbps"));
    // The first round begins with five devices. Otherwise it would wait for all, up to JoinTimeout.
    pictures.SetCenterAttribute("ExpectedDevices", UintegerValue(5));
    pictures.Install(center.Get(0), InetSocketAddress(address, FederatedPort::CENTER));

    // Guests. An application that starts late joins late; it takes part from the next round on.
    const auto& devices = pictures.GetDevices();
    devices[LATE]->SetStartTime(arrival);
    // Leave() tells the center, which then selects others. A device that disappears without a word
    // (LeaveOnStop=false and a stop time) is selected again and again; see SilentRounds.
    Simulator::Schedule(departure, &FederatedDevice::Leave, devices[RETURNING]);
    Simulator::Schedule(departure + absence, &FederatedDevice::Join, devices[RETURNING]);

    // The second federation: another port, another task, and random streams behind those of the
    // first. Without AssignStreams both would draw the same splits and batches.
    FederatedHelper sensors;
    sensors.AddGroup(residents, 8);
    sensors.SetAlgorithm("fedavg");
    sensors.SetData(FederatedData::MakeSynthetic(2, 800, 200, 8, 8, 4));
    sensors.SetTaskAttribute("Model", StringValue("ns3::LogisticModel"));
    sensors.SetDeviceAttribute("LearningRate", DoubleValue(1));
    sensors.SetCenterAttribute("Rounds", UintegerValue(rounds));
    sensors.SetCenterAttribute("Participants", UintegerValue(4));
    sensors.SetCenterAttribute("BitBudget", StringValue("ns3::FixedBitBudget[Bits=128]"));
    sensors.AssignStreams(FederatedStreams::FEDERATION +
                          pictures.AssignStreams(FederatedStreams::FEDERATION));
    sensors.Install(center.Get(0), InetSocketAddress(address, FederatedPort::CENTER + 10));

    // The simulation stops when the last federation that called StopWhenFinished is done.
    pictures.GetCenter()->TraceConnectWithoutContext("RoundEnd", MakeCallback(&CountUpdates));
    pictures.GetCenter()->TraceConnectWithoutContext("MembersChanged", MakeCallback(&PrintMember));
    pictures.EnableProgress();
    pictures.StopWhenFinished();
    sensors.StopWhenFinished();

    Simulator::Run();
    const RoundRecord& second = sensors.GetTraceWriter()->GetLastRound();
    FederatedResultLine result = pictures.GetTraceWriter()->GetResult();
    result.AddCount("late_updates", g_updates[LATE]);
    result.AddCount("returning_updates", g_updates[RETURNING]);
    result.AddCount("second_rounds", second.round);
    result.AddReal("second_accuracy", second.testAccuracy);
    const bool hasFailed = sensors.PrintWarnings(std::cerr); // Finish prints those of the first one
    return std::max(pictures.Finish(result), hasFailed ? 1 : 0);
}
