// SPDX-License-Identifier: GPL-2.0-only

/*
 * The low-rate extreme: IEEE 802.15.4 at 250 kb/s, 6LoWPAN, IPv6 and messages of 100 bytes, with a
 * linear model of 7,850 coordinates.
 *
 *          device          The center is in the middle of a disc, the devices anywhere in it.
 *      device   center     Path loss by log-distance (exponent 3), errors by ns-3's model of the
 *         device  device   radio, acknowledgments and retries by its MAC.
 *
 * A model takes 561 messages to each selected device, one device after the other; an update takes
 * 45 (2 bits) or 90 (4 bits). Each message fits into one frame, because 6LoWPAN compresses the
 * addresses. Half of the devices have 2 bits, the others 4. The SNR of this radio is not measured:
 * its columns are empty.
 *
 * PREFIX-rounds.csv has a row a round, PREFIX-links.csv one for each selected device and round (see
 * federated-paper, federated-wifi); with --pcap, PREFIX-*.pcap holds the frames of the center. The
 * result line adds granted_updates, and complete_updates, those of which no fragment was lost.
 *
 *    federated-lrwpan --devices=6 --radius=20
 */

#include "ns3/boolean.h"
#include "ns3/config.h"
#include "ns3/double.h"
#include "ns3/federated-command-line.h"
#include "ns3/federated-helper.h"
#include "ns3/federated-neighbors.h"
#include "ns3/federated-port.h"
#include "ns3/federated-scenario-options.h"
#include "ns3/global-value.h"
#include "ns3/goodput-probe.h"
#include "ns3/inet6-socket-address.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv6-address-helper.h"
#include "ns3/lr-wpan-helper.h"
#include "ns3/propagation-delay-model.h"
#include "ns3/propagation-loss-model.h"
#include "ns3/simulator.h"
#include "ns3/single-model-spectrum-channel.h"
#include "ns3/sixlowpan-helper.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

using namespace ns3;

namespace
{

uint64_t g_granted = 0;  // updates
uint64_t g_complete = 0; // of these, updates of which no fragment was lost

/** Count updates at the end of a round. */
void
CountUpdates(const RoundRecord& record)
{
    for (const auto& link : record.links)
    {
        ++g_granted;
        g_complete += link.state == PARTICIPANT_COMPLETE ? 1 : 0;
    }
}

/** Give radios short addresses in one PAN, as ns-3.42 and later call it. */
template <typename Helper>
auto
MakePan(Helper& helper, const NetDeviceContainer& radios, int)
    -> decltype(helper.CreateAssociatedPan(radios, 1))
{
    helper.CreateAssociatedPan(radios, 1);
}

/** The same in earlier releases. */
template <typename Helper>
auto
MakePan(Helper& helper, const NetDeviceContainer& radios, long)
    -> decltype(helper.AssociateToPan(radios, 1))
{
    helper.AssociateToPan(radios, 1);
}

} // namespace

int
main(int argc, char* argv[])
{
    FederatedScenarioOptions options;
    options.devices = 6;
    options.participants = 4;
    options.rounds = 10;
    options.measuresSnr = false;
    options.radius = 20;
    options.deadline = Minutes(5);
    options.budget = "12"; // three bits a coordinate for each participant, as in the paper
    options.timePerSample = MilliSeconds(10); // a microcontroller
    bool pcap = false;
    FederatedCommandLine cmd(__FILE__, "A federation over IEEE 802.15.4 radios.");
    options.AddFederation(cmd);
    options.AddPlaces(cmd);
    cmd.AddFlag("pcap", "Write the frames of the center", pcap);
    cmd.ParseOrExit(argc, argv);
    options.ReadOrExit(cmd);
    const std::string& output = options.output;
    cmd.Require(options.noise != "snr",
                "Option --noise=snr needs the SNR of the links, which is not measured here.");
    cmd.Require(!pcap || !output.empty(), "Option --pcap needs --output=PREFIX.");

    // What is learned, by whom and how. A model of 159,010 coordinates would take minutes a device.
    FederatedHelper federation;
    federation.SetTaskAttribute("Model", StringValue("ns3::LogisticModel"));
    options.SetUp(federation, cmd); // reads the data, makes the nodes of the devices
    federation.SetCenterAttribute("JoinTimeout", StringValue("1min"));
    // With backoff and acknowledgments the radio carries 100 kb/s of messages. The center still
    // sends the model to other devices while a device sends its update.
    federation.SetCenterAttribute("DownlinkRate", StringValue("40kbps"));
    federation.SetCenterAttribute("UplinkRate", StringValue("40kbps"));
    federation.SetCenterAttribute("Guard", StringValue("100ms"));
    // Waits are in proportion to the rate: else messages are repeated while they are still queued.
    federation.SetDeviceAttribute("RepairDelay", StringValue("1s"));
    federation.SetCenterAttribute("ControlTimeout", StringValue("500ms"));
    federation.SetDeviceAttribute("ControlTimeout", StringValue("500ms"));
    // A message fits into a frame of 127 bytes: 6LoWPAN would lose all of a larger one with a part.
    federation.SetCenterAttribute("FragmentSize", UintegerValue(100));
    federation.SetDeviceAttribute("FragmentSize", UintegerValue(100));
    federation.SetJoinSpacing(MilliSeconds(200));

    // The network, made with ns-3's helpers: no helper of this module knows it.
    // Duplicate address detection of all nodes would start at the same time and collide.
    Config::SetDefault("ns3::Icmpv6L4Protocol::DAD", BooleanValue(false));
    NodeContainer center(1);
    const NodeContainer nodes(center, federation.GetNodes());
    options.Place(federation.GetNodes(), center.Get(0));
    auto loss = CreateObject<LogDistancePropagationLossModel>();
    loss->SetPathLossExponent(options.exponent);
    auto channel = CreateObject<SingleModelSpectrumChannel>();
    channel->AddPropagationLossModel(loss);
    channel->SetPropagationDelayModel(CreateObject<ConstantSpeedPropagationDelayModel>());
    LrWpanHelper lrWpan;
    lrWpan.SetChannel(channel);
    const NetDeviceContainer radios = lrWpan.Install(nodes);
    lrWpan.AssignStreams(radios, 1000);
    MakePan(lrWpan, radios, 0);
    InternetStackHelper internet;
    internet.SetIpv4StackInstall(false);
    internet.Install(nodes);
    internet.AssignStreams(nodes, 2000);
    SixLowPanHelper sixLowPan;
    const NetDeviceContainer ports = sixLowPan.Install(radios);
    sixLowPan.AssignStreams(ports, 3000);
    // With the prefix as a shared context, addresses are compressed and a message fits into a
    // frame.
    sixLowPan.AddContext(ports, 0, Ipv6Prefix("2001:db8::", 64), Hours(1000000));
    const Ipv6InterfaceContainer interfaces =
        Ipv6AddressHelper(Ipv6Address("2001:db8::"), Ipv6Prefix(64)).Assign(ports);

    const auto probe = CreateObject<GoodputProbe>();
    probe->Attach(center.Get(0));
    for (uint32_t i = 0; i + 1 < nodes.GetN(); ++i)
    {
        probe->AddDevice(i, interfaces.GetAddress(i + 1, 1));
        // Static NDISC entries: solicitations could be lost.
        const auto there = ports.Get(i + 1);
        FederatedNeighbors::Add(ports.Get(0), interfaces.GetAddress(i + 1, 1), there->GetAddress());
        FederatedNeighbors::Add(there, interfaces.GetAddress(0, 1), ports.Get(0)->GetAddress());
    }
    federation.SetProbe(probe);
    federation.Install(center.Get(0),
                       Inet6SocketAddress(interfaces.GetAddress(0, 1), FederatedPort::CENTER));
    federation.GetCenter()->TraceConnectWithoutContext("RoundEnd", MakeCallback(&CountUpdates));
    std::string error;
    cmd.Require(federation.EnableOutput(output, error), error);
    if (pcap)
    {
        GlobalValue::Bind("ChecksumEnabled",
                          BooleanValue(true)); // else captured frames have wrong checksums
        lrWpan.EnablePcap(output, radios.Get(0), true);
        cmd.GetTraceFiles().AddCaptures(output, radios.Get(0));
    }

    Simulator::Run();
    const auto traces = federation.GetTraceWriter();
    FederatedResultLine result = traces->GetResult();
    result.AddText("algorithm", options.algorithm);
    result.AddCount("granted_updates", g_granted);
    result.AddCount("complete_updates", g_complete);
    return federation.Finish(result);
}
