// SPDX-License-Identifier: GPL-2.0-only

#include "federated-wifi-background.h"

#include "ns3/abort.h"
#include "ns3/federated-streams.h"
#include "ns3/mobility-model.h"
#include "ns3/packet-socket-address.h"
#include "ns3/packet-socket-client.h"
#include "ns3/packet-socket-helper.h"
#include "ns3/random-variable-stream.h"
#include "ns3/uinteger.h"
#include "ns3/wifi-helper.h"

namespace ns3::federated
{

namespace
{

constexpr uint32_t PACKET_SIZE = 1000;  // bytes
constexpr uint16_t ETHER_TYPE = 0x88b5; // for experiments

} // namespace

int64_t
AddBackground(const NodeContainer& stations,
              const DataRate& rate,
              WifiRadios& radios,
              const WifiTuning& tuning,
              uint32_t mcs,
              double power,
              int64_t used)
{
    const uint32_t count = stations.GetN();
    NS_ABORT_MSG_IF(count < 2, "FederatedWifiHelper: background needs two stations or more");
    NS_ABORT_MSG_IF(rate.GetBitRate() == 0, "FederatedWifiHelper: the rate of background is 0");
    for (uint32_t i = 0; i < count; ++i)
    {
        NS_ABORT_MSG_IF(!stations.Get(i)->GetObject<MobilityModel>(),
                        "FederatedWifiHelper: node " << stations.Get(i)->GetId()
                                                     << " has no mobility model");
    }
    // In an infrastructure cell, too: they are not in its network.
    const NetDeviceContainer devices = radios.Install(stations, "ns3::AdhocWifiMac", mcs, power);
    for (uint32_t i = 0; i < count; ++i)
    {
        TuneRadio(devices.Get(i), tuning);
    }
    const int64_t first =
        FederatedStreams::BACKGROUND + FederatedStreams::NEXT_BACKGROUND * radios.GetCell();
    const auto start = CreateObject<UniformRandomVariable>();
    start->SetStream(first + used++);
    used += WifiHelper().AssignStreams(devices, first + used);
    NS_ABORT_MSG_IF(used > FederatedStreams::NEXT_BACKGROUND,
                    "FederatedWifiHelper: too many stations of background in a cell");
    PacketSocketHelper().Install(stations);
    const Time interval = rate.CalculateBytesTxTime(PACKET_SIZE) * static_cast<int64_t>(count);
    for (uint32_t i = 0; i < count; ++i)
    {
        PacketSocketAddress next;
        next.SetSingleDevice(devices.Get(i)->GetIfIndex());
        next.SetPhysicalAddress(devices.Get((i + 1) % count)->GetAddress());
        next.SetProtocol(ETHER_TYPE);
        const auto client = CreateObject<PacketSocketClient>();
        client->SetRemote(next);
        client->SetAttribute("PacketSize", UintegerValue(PACKET_SIZE));
        client->SetAttribute("MaxPackets", UintegerValue(0)); // without end
        client->SetAttribute("Interval", TimeValue(interval));
        client->SetStartTime(Seconds(start->GetValue(0, interval.GetSeconds())));
        stations.Get(i)->AddApplication(client);
    }
    return used;
}

} // namespace ns3::federated
