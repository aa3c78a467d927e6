// SPDX-License-Identifier: GPL-2.0-only

/*
 * How many frames get lost in the ad hoc cell of FederatedWifiHelper, by distance and MCS.
 *
 *   device )))  1400 bytes to the group  ((( center      distance: 10 m, 20 m, ...
 *
 * Devices at all distances send in turns, so that nothing collides. On standard output a row for
 * each distance and MCS: rate of the physical layer; SNR by the link budget, and as the probe saw
 * it on average, failed frames included; the share of frames that got lost, and its standard error.
 *
 *   wifi-loss-table --fading=rayleigh --frames=1000 > table.csv
 */

#include "ns3/command-line.h"
#include "ns3/constant-position-mobility-model.h"
#include "ns3/federated-wifi-helper.h"
#include "ns3/mac48-address.h"
#include "ns3/net-device.h"
#include "ns3/node-container.h"
#include "ns3/packet.h"
#include "ns3/simulator.h"
#include "ns3/wifi-link-probe.h"

#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

using namespace ns3;

namespace
{

const std::vector<double> DISTANCES{10, 20, 30, 40, 60, 80, 100, 120, 150};
constexpr double TX_POWER = 16; // dBm
constexpr double EXPONENT = 3;
constexpr uint32_t BYTES = 1400 + 8 + 20; // a message in UDP in IPv4
const Time TURN = MilliSeconds(3);

void
Measure(uint32_t mcs, const ObjectFactory& fading, uint32_t frames)
{
    NodeContainer devices;
    devices.Create(DISTANCES.size());
    NodeContainer center;
    center.Create(1);
    center.Get(0)->AggregateObject(CreateObject<ConstantPositionMobilityModel>());
    for (uint32_t i = 0; i < devices.GetN(); ++i)
    {
        const auto position = CreateObject<ConstantPositionMobilityModel>();
        position->SetPosition(Vector(DISTANCES[i], 0, 0));
        devices.Get(i)->AggregateObject(position);
    }
    FederatedWifiHelper wifi;
    wifi.SetMode("adhoc");
    wifi.SetMcs(mcs);
    wifi.SetTxPower(TX_POWER);
    wifi.SetExponent(EXPONENT);
    wifi.SetFading(fading);
    wifi.DisablePreambleDetection();
    wifi.Install(devices, center.Get(0));
    wifi.AssignStreams(1);

    const auto probe = CreateObject<WifiLinkProbe>();
    probe->Attach(wifi.GetReceiver());
    for (uint32_t i = 0; i < devices.GetN(); ++i)
    {
        const auto device = wifi.GetDevices().Get(i);
        probe->AddDevice(i, Mac48Address::ConvertFrom(device->GetAddress()));
        for (uint32_t frame = 0; frame < frames; ++frame)
        {
            Simulator::Schedule(TURN * (1 + int64_t{frame} * devices.GetN() + i),
                                &NetDevice::Send,
                                device,
                                Create<Packet>(BYTES),
                                device->GetBroadcast(),
                                uint16_t(0x88b5)); // an EtherType for experiments
        }
    }
    Simulator::Run();

    const double noise = 10 * std::log10(1.380649e-23 * 290 * 20e6 / 1e-3) + 7; // dBm
    for (uint32_t i = 0; i < devices.GetN(); ++i)
    {
        const auto quality = probe->GetQuality(i);
        const double budget = TX_POWER - 46.6777 - 10 * EXPONENT * std::log10(DISTANCES[i]) - noise;
        // Some may fail unseen, below the sensitivity of the receiver.
        const double loss = 1 - (quality.framesOk > 0 ? quality.framesOk : 0) / frames;
        std::printf("%g,%u,%g,%.1f,%.1f,%.3f,%.3f\n",
                    DISTANCES[i],
                    mcs,
                    probe->GetQuality(0).rate / 1e6, // the nearest is heard
                    budget,
                    10 * std::log10(quality.roundSnr),
                    loss,
                    std::sqrt(loss * (1 - loss) / frames));
    }
    Simulator::Destroy();
}

} // namespace

int
main(int argc, char* argv[])
{
    std::string fading = "rayleigh";
    uint32_t frames = 1000;
    CommandLine cmd(__FILE__);
    cmd.AddValue("fading", FederatedWifiHelper::FADINGS, fading);
    cmd.AddValue("frames", "Frames of each device", frames);
    cmd.Parse(argc, argv);
    ObjectFactory lossModel;
    if (!FederatedWifiHelper::ReadFading(fading, lossModel) || frames == 0)
    {
        std::fprintf(stderr,
                     "wifi-loss-table: fading is %s; frames is 1 or more\n",
                     FederatedWifiHelper::FADINGS);
        return 1;
    }
    std::printf("distance_m,mcs,rate_mbps,budget_db,snr_db,loss,standard_error\n");
    for (uint32_t mcs = 0; mcs <= 7; ++mcs)
    {
        Measure(mcs, lossModel, frames);
    }
    return 0;
}
