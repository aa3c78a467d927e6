// SPDX-License-Identifier: GPL-2.0-only

/*
 * CPU time of a message of a federation, compared with a packet of ns-3's own applications.
 *
 *   sender ------ 1 Gb/s ------ receiver
 *
 * Two runs in turns: a FusionCenter sends its model to a FederatedDevice in every round and
 * receives an update of floats; a UdpClient sends as many packets of the same size to a PacketSink.
 * Both include one event, one packet, UDP, IP, queue disc and link. Ours also carries real bytes
 * with a checksum, assembles fragments and fuses updates. Training and quantization are not
 * counted. Then the same with messages that are protected by a key, compared with ours without.
 *
 *   packet-bench
 */

#include "compare-turns.h"

#include "ns3/address.h"
#include "ns3/federated-device.h"
#include "ns3/federated-port.h"
#include "ns3/fusion-center.h"
#include "ns3/identity-quantizer.h"
#include "ns3/inet-socket-address.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-address-helper.h"
#include "ns3/logistic-model.h"
#include "ns3/message-crypto.h"
#include "ns3/node-container.h"
#include "ns3/packet-sink-helper.h"
#include "ns3/point-to-point-helper.h"
#include "ns3/pointer.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/udp-client-server-helper.h"
#include "ns3/uinteger.h"

#include <cstdio>
#include <utility>
#include <vector>

using namespace ns3;

namespace
{

constexpr uint32_t SIZE = 1400; // bytes of a message
constexpr uint32_t ROUNDS = 20;
constexpr int TURNS = 21;
constexpr uint32_t CLASSES = 250; // 785 kB of model
constexpr const char* KEY = "of the federation";
constexpr uint16_t PORT = FederatedPort::CENTER;

uint64_t g_packets = 0; // sent in the current run

void
CountPacket(Ptr<const Packet>)
{
    ++g_packets;
}

NodeContainer
MakeNodes(Ipv4Address& address)
{
    NodeContainer nodes;
    nodes.Create(2);
    InternetStackHelper().Install(nodes);
    PointToPointHelper p2p;
    p2p.SetDeviceAttribute("DataRate", StringValue("1Gbps"));
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.252");
    address = addresses.Assign(p2p.Install(nodes)).GetAddress(0);
    return nodes;
}

/** @return CPU seconds of our applications without training. */
double
RunOurs(const FederatedData& data, bool count, const char* key = "")
{
    Ipv4Address address;
    const NodeContainer nodes = MakeNodes(address);
    auto task = CreateObject<LearningTask>();
    task->SetData(data);
    task->SetModel(CreateObject<LogisticModel>());
    task->SetGroups({1});
    task->SetAttribute("Threads", UintegerValue(1));
    auto quantizer = CreateObject<IdentityQuantizer>();
    auto center = CreateObject<FusionCenter>();
    center->SetAttribute("Task", PointerValue(task));
    center->SetAttribute("Quantizer", PointerValue(quantizer));
    center->SetAttribute("GroupBits", StringValue("1"));
    center->SetAttribute("Participants", UintegerValue(1));
    center->SetAttribute("ExpectedDevices", UintegerValue(1));
    center->SetAttribute("Rounds", UintegerValue(ROUNDS));
    center->SetAttribute("EvaluationInterval", UintegerValue(0));
    center->SetAttribute("DownlinkRate", StringValue("100Mbps"));
    center->SetAttribute("UplinkRate", StringValue("100Mbps"));
    center->SetAttribute("FragmentSize", UintegerValue(SIZE));
    center->SetAttribute("EncryptionKey", StringValue(key));
    if (count)
    {
        center->TraceConnectWithoutContext("Tx", MakeCallback(&CountPacket));
    }
    nodes.Get(0)->AddApplication(center);
    auto device = CreateObject<FederatedDevice>();
    device->SetAttribute("Task", PointerValue(task));
    device->SetAttribute("Bits", UintegerValue(1));
    device->SetAttribute("DeviceKey", StringValue(center->GetDeviceKey(0)));
    device->SetAttribute("Quantizer", PointerValue(quantizer));
    device->SetAttribute("Steps", UintegerValue(1));
    device->SetAttribute("BatchSize", UintegerValue(1));
    device->SetAttribute("Remote", AddressValue(InetSocketAddress(address, PORT)));
    if (count)
    {
        device->TraceConnectWithoutContext("Tx", MakeCallback(&CountPacket));
    }
    nodes.Get(1)->AddApplication(device);
    std::vector<float> model; // made here, because that is not to be measured
    task->Initialize(model);
    center->SetModel(std::move(model));
    const double cost = RunSimulator() - task->GetTrainingSeconds();
    Simulator::Destroy();
    return cost;
}

/** @return CPU seconds of ns-3's own applications for as many packets. */
double
RunTheirs(uint64_t packets)
{
    Ipv4Address address;
    const NodeContainer nodes = MakeNodes(address);
    PacketSinkHelper sink("ns3::UdpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), PORT));
    sink.Install(nodes.Get(0));
    UdpClientHelper client(InetSocketAddress(address, PORT));
    client.SetAttribute("MaxPackets", UintegerValue(packets));
    client.SetAttribute("Interval", TimeValue(MicroSeconds(112)));
    client.SetAttribute("PacketSize", UintegerValue(SIZE));
    client.Install(nodes.Get(1));
    const double cost = RunSimulator();
    Simulator::Destroy();
    return cost;
}

} // namespace

int
main()
{
    const FederatedData data = FederatedData::MakeSynthetic(1, 500, 10, 28, 28, CLASSES);
    RunOurs(data, true); // counts the messages, and warms up
    const auto packets = static_cast<double>(g_packets);
    const Comparison least = CompareTurns(
        TURNS, [&data]() { return RunOurs(data, false); }, []() { return RunTheirs(g_packets); });
    std::printf("%.0f messages, %d turns: ours %.0f ns a message, UdpClient and PacketSink %.0f ns "
                "(least of the turns)\n",
                packets,
                TURNS,
                least.ours / packets * 1e9,
                least.theirs / packets * 1e9);
    least.PrintRatios();
    if (!federated::MessageCrypto::Make())
    {
        std::printf("protected: this build has no library that protects messages\n");
        return 0;
    }
    g_packets = 0;
    RunOurs(data, true, KEY); // a few more messages, because each carries less
    const auto packetsWithKey = static_cast<double>(g_packets);
    Comparison both = CompareTurns(
        TURNS,
        [&data, packetsWithKey]() { return RunOurs(data, false, KEY) / packetsWithKey; },
        [&data, packets]() { return RunOurs(data, false) / packets; });
    std::printf("protected: %.0f messages, %.0f ns a message, plain %.0f ns (least of the turns)\n",
                packetsWithKey,
                both.ours * 1e9,
                both.theirs * 1e9);
    both.PrintRatios(1.3);
    return 0;
}
