// SPDX-License-Identifier: GPL-2.0-only

/*
 * One wifi cell: SNR, loss and the bit budget come from the channel.
 *
 *    --mode=adhoc                              --mode=infrastructure
 *
 *       device   device                           device   device
 *          \       /                                 \       /
 *       (( center at the origin ))          (( access point at the origin )) --- center
 *          /       \                                 /       \            (--center=wire)
 *       device   device                           device   device
 *
 * Devices are uniform in a disc. In ad hoc mode all frames are group-addressed and never
 * acknowledged, and devices send with --mcs, so that a low SNR causes loss. In infrastructure mode
 * frames are acknowledged and rates adapt, so that a bad link is slow and its update late. With
 * --background four other stations in the disc send to each other in the same channel.
 *
 * PREFIX-rounds.csv has a row a round: simulated time, train loss, test accuracy, B, granted and
 * delivered bits, lost fraction, mean SNR, ... PREFIX-links.csv has a row for each selected device
 * and round: SNR at the receiving radio, sent and received fragments, weight, distance, energy, ...
 * With --pcap, PREFIX-*.pcap holds what the receiving radio and the first two devices received
 * and sent; --ascii, --flowmon and --anim write PREFIX-*.tr, PREFIX-flowmon.xml (flows with unicast
 * packets) and PREFIX-anim.xml (for NetAnim).
 *
 *    federated-wifi --radius=40 --fading=rayleigh --output=cell
 */

#include "ns3/double.h"
#include "ns3/federated-command-line.h"
#include "ns3/federated-helper.h"
#include "ns3/federated-network-trace.h"
#include "ns3/federated-scenario-options.h"
#include "ns3/federated-wifi-energy-helper.h"
#include "ns3/federated-wifi-helper.h"
#include "ns3/simulator.h"

#include <cmath>
#include <memory>
#include <utility>
#include <vector>

using namespace ns3;

int
main(int argc, char* argv[])
{
    FederatedScenarioOptions options;
    std::string mode = "adhoc";
    std::string center = "ap";
    std::string width = "20";
    uint32_t mcs = 3;
    std::string fading = "none";
    std::string shadowing = "none";
    double background = 0;
    double power = 16;
    uint32_t downlinkMcs = 0;
    double centerPower = 26;
    double energy = 0;
    double joulesPerSample = 1e-3;
    std::string sleep = "wake";
    bool pcap = false;
    bool ascii = false;
    bool flowmon = false;
    bool anim = false;
    FederatedCommandLine cmd(__FILE__, "One wifi cell; SNR, loss and the bit budget emerge.");
    options.AddFederation(cmd);
    options.AddPlaces(cmd);
    cmd.AddChoice("mode", "Kind of cell", mode, {"adhoc", "infrastructure"});
    cmd.AddChoice("center", "Center in the access point or on a wire", center, {"ap", "wire"});
    cmd.AddChoice("width", "Channel width in MHz", width, {"20", "40", "80", "160"});
    cmd.AddCount("mcs", "MCS of the frames of devices, ad hoc", mcs, 0, 8);
    cmd.AddCount("downlink-mcs", "MCS of group-addressed frames of the center", downlinkMcs, 0, 8);
    cmd.AddText(
        "fading",
        "Fading: none, rayleigh or nakagami:m of each frame, or block:m,fd or jakes:fd that "
        "lasts (fd: Doppler frequency in Hz, 0: of the speed)",
        fading);
    cmd.AddText("shadowing",
                "none, or SIGMA,DISTANCE: decibels, and meters until the correlation is 1/e",
                shadowing);
    cmd.AddReal("background", "What other stations send, in bit/s", background, 0, 1e9);
    cmd.AddReal("power", "Transmission power of devices in dBm", power, -50, 50);
    cmd.AddReal("center-power", "Transmission power of the center in dBm", centerPower, -50, 50);
    cmd.AddReal("energy", "Joules in the battery of each device, 0: no batteries", energy, 0, 1e9);
    cmd.AddReal("joules-per-sample", "Energy of training a sample", joulesPerSample, 0, 1e6);
    cmd.AddChoice("sleep",
                  "Radios of devices that do not take part sleep: wake, with an ideal wake-up "
                  "radio; page, all listen once a second for who is selected",
                  sleep,
                  {"none", "wake", "page"});
    cmd.AddFlag("pcap", "Write what radios send and receive", pcap);
    cmd.AddFlag("ascii", "Write an ASCII trace of the receiving radio", ascii);
    cmd.AddFlag("flowmon", "Write the flows as XML", flowmon);
    cmd.AddFlag("anim", "Write an animation as XML", anim);
    cmd.ParseOrExit(argc, argv);
    options.ReadOrExit(cmd);
    ObjectFactory lossModel;
    cmd.Require(FederatedWifiHelper::ReadFading(fading, lossModel),
                "Option --fading is '" + fading + "', not " + FederatedWifiHelper::FADINGS + '.');
    double sigma = 0;
    double distance = 0;
    cmd.Require(FederatedWifiHelper::ReadShadowing(shadowing, sigma, distance),
                "Option --shadowing is '" + shadowing +
                    "', not none or SIGMA,DISTANCE with 0 to 100 dB and 0.001 to 1e6 m.");
    cmd.Require(mode != "adhoc" || center != "wire",
                "Option --center=wire needs --mode=infrastructure.");
    cmd.Require(mode != "adhoc" || !flowmon,
                "Option --flowmon needs --mode=infrastructure: ad hoc there are no unicast flows.");
    cmd.Require(mode == "adhoc" || options.CountDevices() <= FederatedWifiHelper::MAX_STATIONS,
                "An access point takes " + std::to_string(FederatedWifiHelper::MAX_STATIONS) +
                    " stations: --mode=infrastructure takes no more devices.");
    options.RequireWake(cmd, sleep, FederatedWifiHelper::GetWakeTime(sleep));
    const std::string& output = options.output;
    cmd.Require(!flowmon || FederatedNetworkTrace::Has("flowmon"),
                "Option --flowmon needs ns-3's module flow-monitor, which this build has not.");
    cmd.Require(!anim || FederatedNetworkTrace::Has("anim"),
                "Option --anim needs ns-3's module netanim, which this build has not.");
    cmd.Require(!(pcap || ascii || flowmon || anim) || !output.empty(),
                "Options --pcap, --ascii, --flowmon and --anim need --output=PREFIX.");

    // What is learned, by whom and how: federated-minimal sets this up by hand.
    FederatedHelper federation;
    options.SetUp(federation, cmd); // reads the data, makes the nodes of the devices

    // Places before radios: any mobility model will do.
    NodeContainer accessPoint(1);
    options.Place(federation.GetNodes(), accessPoint.Get(0));

    // Physics. Ad hoc a low SNR causes loss, with an access point it costs time. A cell of another
    // standard or shape is made with ns-3's own helpers: see federated-wifi-custom.
    FederatedWifiHelper wifi;
    wifi.SetMode(mode);
    wifi.SetCenterOnWire(center == "wire");
    wifi.SetWidth(static_cast<uint16_t>(std::stoul(width)));
    wifi.SetMcs(mcs);
    wifi.SetExponent(options.exponent);
    wifi.SetShadowing(sigma, distance);
    wifi.SetFading(lossModel);
    wifi.SetTxPower(power);
    wifi.SetDownlinkMcs(downlinkMcs);
    wifi.SetCenterTxPower(centerPower);
    wifi.SetSleep(sleep);
    // Radios, addresses and applications. What is set on the federation before this line wins over
    // what the cell sets: SetCenterAttribute("DownlinkRate", ...) would send the model faster.
    wifi.Install(federation, accessPoint.Get(0));
    if (background > 0)
    {
        const NodeContainer others(4); // in the same channel, but not in the federation
        options.PlaceOthers(others);
        wifi.AddBackground(others, DataRate(static_cast<uint64_t>(std::ceil(background))));
    }

    // Batteries are put in afterwards: they need radios and applications.
    std::unique_ptr<FederatedWifiEnergyHelper> batteries;
    if (energy > 0)
    {
        batteries = std::make_unique<FederatedWifiEnergyHelper>(energy);
        batteries->SetTrainingAttribute("JoulesPerSample", DoubleValue(joulesPerSample));
        batteries->Install(federation, wifi.GetDevices());
    }

    // Tables, progress, and the end after the last round; then what ns-3 itself can write.
    std::string error;
    cmd.Require(federation.EnableOutput(output, error), error);
    if (pcap)
    {
        cmd.GetTraceFiles().AddCaptures(output, wifi.EnablePcap(output, 2));
    }
    if (ascii)
    {
        cmd.GetTraceFiles().AddLines(wifi.EnableAscii(output));
    }
    std::vector<std::unique_ptr<FederatedNetworkTrace>> networkTraces;
    for (const auto& [isWanted, kind] : {std::pair(flowmon, "flowmon"), std::pair(anim, "anim")})
    {
        if (isWanted)
        {
            const std::string path = output + "-" + kind + ".xml";
            networkTraces.push_back(FederatedNetworkTrace::Make(kind, path));
        }
    }

    Simulator::Run();
    for (const auto& trace : networkTraces)
    {
        trace->Finish(cmd.GetTraceFiles());
    }
    const auto traces = federation.GetTraceWriter();
    const RoundRecord& last = traces->GetLastRound();
    FederatedResultLine result = traces->GetResult();
    result.AddText("mode", mode);
    result.AddText("algorithm", options.algorithm);
    result.AddReal("mean_snr_db", 10 * std::log10(last.meanSnr));
    result.AddReal("bit_budget", last.bitBudget);
    result.AddReal("same_cell_epsilon", last.sameCellEpsilon);
    return federation.Finish(result);
}
