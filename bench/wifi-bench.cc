// SPDX-License-Identifier: GPL-2.0-only

/*
 * CPU time of rounds of a federation in a wifi cell, compared with the same traffic of ns-3's own
 * applications.
 *
 *   50 devices )))  ((( center        ad hoc, group-addressed frames, 10 devices a round
 *
 * Sender, time and size of every message of a first run are recorded. Then two runs in turns: the
 * federation with its probe, and a cell in which UdpClients send packets of these sizes at these
 * times to PacketSinks. Training and quantization are not counted.
 *
 *   wifi-bench
 */

#include "compare-turns.h"

#include "ns3/federated-helper.h"
#include "ns3/federated-scenario-options.h"
#include "ns3/federated-wifi-helper.h"
#include "ns3/inet-socket-address.h"
#include "ns3/packet-sink-helper.h"
#include "ns3/simulator.h"
#include "ns3/udp-client-server-helper.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <vector>

using namespace ns3;

namespace
{

constexpr uint32_t DEVICES = 50;
constexpr uint32_t ROUNDS = 2;
constexpr int TURNS = 7;

/** Messages of one size that one node sent one after the other. */
struct Burst
{
    uint32_t size;    //!< Bytes of each.
    uint32_t packets; //!< How many.
    Time first;       //!< When the first one was sent.
    Time last;        //!< When the last one was.
};

std::map<uint32_t, std::vector<Burst>> g_bursts; // by sender: 0 is the center, then the devices

void
NoteMessage(uint32_t sender, Ptr<const Packet> packet)
{
    auto& bursts = g_bursts[sender];
    const Time now = Simulator::Now();
    const Time gap = MilliSeconds(5);
    if (!bursts.empty() && bursts.back().size == packet->GetSize() &&
        now < bursts.back().last + gap)
    {
        ++bursts.back().packets;
        bursts.back().last = now;
        return;
    }
    bursts.push_back({packet->GetSize(), 1, now, now});
}

FederatedScenarioOptions
GetOptions()
{
    FederatedScenarioOptions options;
    options.radius = 25;
    return options;
}

/** @return CPU seconds of a federation without training and quantization. */
double
RunOurs(const FederatedData& data, bool note)
{
    FederatedHelper federation;
    federation.AddGroup(NodeContainer(DEVICES / 2), 2);
    federation.AddGroup(NodeContainer(DEVICES / 2), 4);
    federation.SetData(data);
    federation.SetTaskAttribute("Threads", UintegerValue(1));
    federation.SetCenterAttribute("Rounds", UintegerValue(ROUNDS));
    federation.SetCenterAttribute("EvaluationInterval", UintegerValue(0));
    NodeContainer center(1);
    GetOptions().Place(federation.GetNodes(), center.Get(0));
    FederatedWifiHelper wifi;
    wifi.Install(federation, center.Get(0));
    federation.StopWhenFinished();
    if (note)
    {
        federation.GetCenter()->TraceConnectWithoutContext("Tx",
                                                           MakeBoundCallback(&NoteMessage, 0U));
        for (uint32_t i = 0; i < DEVICES; ++i)
        {
            federation.GetDevices()[i]->TraceConnectWithoutContext(
                "Tx", MakeBoundCallback(&NoteMessage, i + 1));
        }
    }
    const double cost = RunSimulator() - federation.GetTask()->GetTrainingSeconds();
    Simulator::Destroy();
    return cost;
}

/** @return CPU seconds of ns-3's own applications for the same packets. */
double
RunTheirs()
{
    NodeContainer devices(DEVICES);
    NodeContainer center(1);
    GetOptions().Place(devices, center.Get(0));
    FederatedWifiHelper wifi;
    wifi.Install(devices, center.Get(0));
    const uint16_t up = FederatedWifiHelper::CENTER_PORT;
    const uint16_t down = FederatedWifiHelper::DEVICE_PORT;
    const Ipv4Address everyone("10.1.255.255");
    const auto install = [](const NodeContainer& nodes, uint16_t port)
    {
        PacketSinkHelper("ns3::UdpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), port))
            .Install(nodes);
    };
    install(center, up);
    install(devices, down);
    for (const auto& [sender, bursts] : g_bursts)
    {
        const Ptr<Node> node = sender == 0 ? center.Get(0) : devices.Get(sender - 1);
        for (const Burst& burst : bursts)
        {
            UdpClientHelper client(InetSocketAddress(everyone, sender == 0 ? down : up));
            const int64_t gaps = std::max<int64_t>(burst.packets - 1, 1);
            client.SetAttribute("MaxPackets", UintegerValue(burst.packets));
            client.SetAttribute("Interval", TimeValue((burst.last - burst.first) / gaps));
            client.SetAttribute("PacketSize", UintegerValue(burst.size));
            client.Install(node).Start(burst.first);
        }
    }
    const double cost = RunSimulator();
    Simulator::Destroy();
    return cost;
}

} // namespace

int
main()
{
    const FederatedData data = FederatedData::MakeSynthetic(1, 60 * DEVICES, 10);
    RunOurs(data, true);
    uint64_t packets = 0;
    for (const auto& [sender, bursts] : g_bursts)
    {
        for (const Burst& burst : bursts)
        {
            packets += burst.packets;
        }
    }
    const Comparison least = CompareTurns(
        TURNS, [&data]() { return RunOurs(data, false); }, &RunTheirs);
    std::printf("%d rounds, %llu messages, %d turns: ours %.2f s of CPU, UdpClient and PacketSink "
                "%.2f s (least of the turns)\n",
                static_cast<int>(ROUNDS),
                static_cast<unsigned long long>(packets),
                TURNS,
                least.ours,
                least.theirs);
    least.PrintRatios();
    return 0;
}
