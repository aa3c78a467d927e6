// SPDX-License-Identifier: GPL-2.0-only

#include "link-budget.h"

#include "ns3/arp-cache.h"
#include "ns3/constant-position-mobility-model.h"
#include "ns3/federated-helper.h"
#include "ns3/federated-port.h"
#include "ns3/federated-wifi-helper.h"
#include "ns3/goodput-probe.h"
#include "ns3/inet-socket-address.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-address-helper.h"
#include "ns3/ipv4-interface.h"
#include "ns3/ipv4-l3-protocol.h"
#include "ns3/pointer.h"
#include "ns3/queue-disc.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/simple-net-device-helper.h"
#include "ns3/simulator.h"
#include "ns3/ssid.h"
#include "ns3/string.h"
#include "ns3/traffic-control-layer.h"
#include "ns3/uinteger.h"
#include "ns3/wifi-helper.h"
#include "ns3/wifi-mac-helper.h"
#include "ns3/wifi-mac-queue.h"
#include "ns3/wifi-mac.h"
#include "ns3/wifi-net-device.h"
#include "ns3/wifi-phy.h"
#include "ns3/yans-wifi-helper.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

using namespace ns3;

/** @ingroup federated-tests A wifi network that was made with ns-3's helpers only. */
class ForeignWifi : public testing::Test
{
  protected:
    void TearDown() override
    {
        Clear();
    }

    /** Forget everything. */
    void Clear()
    {
        m_records.clear();
        m_federation.reset();
        m_channel = nullptr;
        Simulator::Destroy();
        RngSeedManager::SetSeed(1);
        RngSeedManager::SetRun(1);
    }

    /** Give nodes radios on the one channel. */
    NetDeviceContainer AddRadios(const NodeContainer& nodes, const std::string& mac)
    {
        m_channel = m_channel ? m_channel : YansWifiChannelHelper::Default().Create();
        YansWifiPhyHelper phy;
        phy.SetChannel(m_channel);
        WifiHelper wifi;
        wifi.SetStandard(m_standard);
        wifi.SetRemoteStationManager("ns3::IdealWifiManager");
        WifiMacHelper macs;
        macs.SetType(mac, "Ssid", SsidValue(Ssid("foreign")));
        return wifi.Install(phy, macs, nodes);
    }

    /** Make an access point, or an ad hoc center, and devices on a line. */
    void Build(const std::vector<double>& distances, bool isAdhoc = false)
    {
        Clear();
        m_nodes = NodeContainer(static_cast<uint32_t>(distances.size()));
        m_center = NodeContainer(1);
        m_center.Get(0)->AggregateObject(CreateObject<ConstantPositionMobilityModel>());
        for (uint32_t i = 0; i < m_nodes.GetN(); ++i)
        {
            const auto place = CreateObject<ConstantPositionMobilityModel>();
            place->SetPosition(Vector(distances[i], 0, 0));
            m_nodes.Get(i)->AggregateObject(place);
        }
        m_receiver = AddRadios(m_center, isAdhoc ? "ns3::AdhocWifiMac" : "ns3::ApWifiMac");
        m_radios = AddRadios(m_nodes, isAdhoc ? "ns3::AdhocWifiMac" : "ns3::StaWifiMac");
        m_all = NetDeviceContainer(m_receiver, m_radios);
    }

    /** Give all radios addresses: 10.1.0.1 is the center. */
    void AddAddresses()
    {
        InternetStackHelper().Install(NodeContainer(m_center, m_nodes));
        Ipv4AddressHelper("10.1.0.0", "255.255.0.0").Assign(m_all);
    }

    /** Make a federation of three rounds that is not installed. */
    void Federate()
    {
        m_federation = std::make_unique<FederatedHelper>();
        m_federation->AddGroup(m_nodes, 4);
        m_federation->SetData(FederatedData::MakeSynthetic(1, 200, 50, 28, 28, 10));
        m_federation->SetTaskAttribute("Model", StringValue("ns3::LogisticModel"));
        m_federation->SetTaskAttribute("Threads", UintegerValue(1));
        m_federation->SetCenterAttribute("BitBudget", StringValue("ns3::FixedBitBudget[Bits=99]"));
        m_federation->SetCenterAttribute("Participants", UintegerValue(m_nodes.GetN()));
        m_federation->SetCenterAttribute("Rounds", UintegerValue(3));
        m_federation->SetCenterAttribute("Deadline", StringValue("1s"));
        m_federation->SetCenterAttribute("DownlinkRate", StringValue("2Mbps"));
        m_federation->SetCenterAttribute("UplinkRate", StringValue("2Mbps"));
    }

    /** Install the federation and run it. */
    void Run()
    {
        m_federation->Install(m_center.Get(0),
                              InetSocketAddress("10.1.0.1", FederatedPort::CENTER));
        m_federation->GetCenter()->TraceConnectWithoutContext(
            "RoundEnd", MakeCallback(&ForeignWifi::AddRecord, this));
        m_federation->StopWhenFinished();
        Simulator::Run();
    }

    void AddRecord(const RoundRecord& record)
    {
        m_records.push_back(record);
    }

    /** @return updates that were received in all rounds. */
    uint32_t CountReceived() const
    {
        uint32_t received = 0;
        for (const RoundRecord& record : m_records)
        {
            received += record.received;
        }
        return received;
    }

    /** @return the MAC of a radio. */
    static Ptr<WifiMac> GetMac(const Ptr<NetDevice>& radio)
    {
        return DynamicCast<WifiNetDevice>(radio)->GetMac();
    }

    /** @return an attribute as a text. */
    static std::string GetText(const Ptr<Object>& object, const std::string& name)
    {
        StringValue text;
        object->GetAttribute(name, text);
        return text.Get();
    }

    /** @return an attribute that is a time. */
    static Time GetTime(const Ptr<Object>& object, const std::string& name)
    {
        TimeValue time;
        object->GetAttribute(name, time);
        return time.Get();
    }

    /** @return an attribute that is an object. */
    static Ptr<Object> GetPart(const Ptr<Object>& object, const std::string& name)
    {
        PointerValue part;
        object->GetAttribute(name, part);
        return part.GetObject();
    }

    /** @return whether the ARP cache of a radio has a permanent entry for another one. */
    static bool Knows(const Ptr<NetDevice>& radio, const Ptr<NetDevice>& other)
    {
        const auto ipv4 = radio->GetNode()->GetObject<Ipv4L3Protocol>();
        const auto there = other->GetNode()->GetObject<Ipv4L3Protocol>();
        const auto cache =
            ipv4->GetInterface(static_cast<uint32_t>(ipv4->GetInterfaceForDevice(radio)))
                ->GetArpCache();
        const auto interface = static_cast<uint32_t>(there->GetInterfaceForDevice(other));
        auto* entry = cache->Lookup(there->GetAddress(interface, 0).GetLocal());
        return entry && entry->IsPermanent() && entry->GetMacAddress() == other->GetAddress();
    }

    /** @return whether a radio has a queue disc. */
    static bool HasQueueDisc(const Ptr<NetDevice>& radio)
    {
        const auto control = radio->GetNode()->GetObject<TrafficControlLayer>();
        return control->GetRootQueueDiscOnDevice(radio) != nullptr;
    }

    WifiStandard m_standard = WIFI_STANDARD_80211ac; //!< Of all radios.
    Ptr<YansWifiChannel> m_channel;                  //!< Of all radios.
    NodeContainer m_center;                          //!< Access point, or ad hoc center.
    NodeContainer m_nodes;                           //!< Devices.
    NetDeviceContainer m_receiver;                   //!< Radio of the center.
    NetDeviceContainer m_radios;                     //!< Radios of the devices.
    NetDeviceContainer m_all;                        //!< All of them.
    std::unique_ptr<FederatedHelper> m_federation;   //!< Of the devices.
    std::vector<RoundRecord> m_records;              //!< Its rounds.
};

TEST_F(ForeignWifi, FarStationsTakePartOnceTheyAreTuned)
{
    // 5 dB and more, but below the -82 dBm at which ns-3 detects a preamble.
    for (const WifiStandard standard : {WIFI_STANDARD_80211a, WIFI_STANDARD_80211ac})
    {
        for (const bool isTuned : {false, true})
        {
            m_standard = standard;
            Build({54, 55, 56});
            AddAddresses();
            if (isTuned)
            {
                FederatedWifiHelper().Tune(m_all);
            }
            Federate();
            Run();
            ASSERT_EQ(m_records.size(), 3U);
            EXPECT_EQ(m_records.back().joined, isTuned ? 3U : 0U) << standard;
            EXPECT_EQ(CountReceived(), isTuned ? 9U : 0U) << standard;
        }
    }
}

TEST_F(ForeignWifi, TuningChangesWhatItsHelpLists)
{
    Build({10, 11, 12});
    AddAddresses();
    ASSERT_TRUE(HasQueueDisc(m_radios.Get(0))) << "of Ipv4AddressHelper";
    FederatedWifiHelper().Tune(m_all);
    for (uint32_t i = 0; i < m_all.GetN(); ++i)
    {
        const bool isStation = i > 0;
        const auto mac = GetMac(m_all.Get(i));
        const auto txop = GetPart(mac, "BE_Txop");
        EXPECT_EQ(GetText(GetPart(txop, "Queue"), "MaxSize"), "5000p");
        EXPECT_EQ(DynamicCast<WifiMacQueue>(GetPart(txop, "Queue"))->GetMaxDelay(), Seconds(10));
        EXPECT_EQ(GetTime(txop, "AddBaResponseTimeout"), MilliSeconds(500));
        EXPECT_EQ(GetText(txop, "UseExplicitBarAfterMissedBlockAck"), isStation ? "true" : "false");
        const auto phy = DynamicCast<WifiNetDevice>(m_all.Get(i))->GetPhy();
        const auto detection = GetPart(phy, "PreambleDetectionModel");
        EXPECT_EQ(GetText(detection, "MinimumRssi"), "-110");
        EXPECT_EQ(GetText(detection, "Threshold"), "-5");
        EXPECT_FALSE(HasQueueDisc(m_all.Get(i)));
        if (isStation)
        {
            EXPECT_EQ(GetTime(mac, "WaitBeaconTimeout"), MilliSeconds(110 + 10 * i))
                << "one after the other";
            EXPECT_EQ(GetText(mac, "MaxMissedBeacons"), "1000000");
        }
    }
}

TEST_F(ForeignWifi, TuningTakesWhatItsSettersSet)
{
    Build({10});
    AddAddresses();
    FederatedWifiHelper wifi;
    wifi.SetQueue(77, Seconds(2));
    wifi.SetAddBaTimeout(MilliSeconds(3));
    wifi.DisablePreambleDetection();
    wifi.SetStaticArp(false);
    wifi.Tune(m_all);
    const auto txop = GetPart(GetMac(m_radios.Get(0)), "BE_Txop");
    EXPECT_EQ(GetText(GetPart(txop, "Queue"), "MaxSize"), "77p");
    EXPECT_EQ(DynamicCast<WifiMacQueue>(GetPart(txop, "Queue"))->GetMaxDelay(), Seconds(2));
    EXPECT_EQ(GetTime(txop, "AddBaResponseTimeout"), MilliSeconds(3));
    const auto phy = DynamicCast<WifiNetDevice>(m_radios.Get(0))->GetPhy();
    EXPECT_EQ(GetPart(phy, "PreambleDetectionModel"), nullptr);
    EXPECT_FALSE(Knows(m_radios.Get(0), m_receiver.Get(0)));
}

TEST_F(ForeignWifi, WithSeveralAccessPointsStationsMayRoam)
{
    Build({10});
    const NodeContainer second(1);
    second.Get(0)->AggregateObject(CreateObject<ConstantPositionMobilityModel>());
    m_all.Add(AddRadios(second, "ns3::ApWifiMac"));
    FederatedWifiHelper wifi;
    wifi.SetStaticArp(false);
    wifi.Tune(m_all);
    EXPECT_EQ(GetText(GetMac(m_radios.Get(0)), "MaxMissedBeacons"), "10");
}

TEST_F(ForeignWifi, AccessPointAndStationsKnowEachOtherAlsoOnceTheyAreAssociated)
{
    Build({10, 11});
    AddAddresses();
    FederatedWifiHelper().Tune(m_all);
    for (const double seconds : {0, 1})
    {
        Simulator::Stop(Seconds(seconds)); // associating flushes the caches
        Simulator::Run();
        for (uint32_t i = 0; i < 2; ++i)
        {
            EXPECT_TRUE(Knows(m_radios.Get(i), m_receiver.Get(0))) << seconds;
            EXPECT_TRUE(Knows(m_receiver.Get(0), m_radios.Get(i))) << seconds;
            EXPECT_FALSE(Knows(m_radios.Get(i), m_radios.Get(1 - i))) << seconds;
        }
    }
}

TEST_F(ForeignWifi, AdhocRadiosOfOneNetworkKnowEachOther)
{
    Build({10, 11, 12}, true);
    InternetStackHelper().Install(NodeContainer(m_center, m_nodes));
    NetDeviceContainer network(m_receiver);
    network.Add(m_radios.Get(0));
    network.Add(m_radios.Get(1));
    Ipv4AddressHelper("10.1.0.0", "255.255.0.0").Assign(network);
    Ipv4AddressHelper("10.2.0.0", "255.255.0.0").Assign(m_radios.Get(2));
    FederatedWifiHelper().Tune(m_all);
    EXPECT_TRUE(Knows(m_receiver.Get(0), m_radios.Get(0)));
    EXPECT_TRUE(Knows(m_radios.Get(0), m_radios.Get(1)));
    EXPECT_TRUE(Knows(m_radios.Get(1), m_receiver.Get(0)));
    EXPECT_FALSE(Knows(m_radios.Get(0), m_radios.Get(2)));
    EXPECT_FALSE(Knows(m_radios.Get(2), m_receiver.Get(0)));
}

TEST_F(ForeignWifi, TheProbeMeasuresTheUplinksInAnyOrderOfRadios)
{
    const std::vector<double> distances{5, 10, 20};
    m_standard = WIFI_STANDARD_80211a; // 20 MHz
    Build(distances);
    AddAddresses();
    FederatedWifiHelper().Tune(m_all);
    Federate();
    NetDeviceContainer others;
    for (const uint32_t i : {2, 0, 1})
    {
        others.Add(m_radios.Get(i));
    }
    others.Add(m_receiver); // is no device
    const auto probe = FederatedWifiHelper::Probe(*m_federation, m_receiver.Get(0), others);
    Run();
    EXPECT_EQ(GetPart(m_federation->GetCenter(), "Probe"), probe);
    ASSERT_EQ(CountReceived(), 9U);
    for (const LinkRecord& link : m_records.back().links)
    {
        const double budget =
            16.0206 - 46.6777 - 30 * std::log10(distances[link.device]) - GetNoise(20e6, 7);
        EXPECT_NEAR(ToDb(link.snr), budget, 0.5) << link.device;
    }
}

TEST_F(ForeignWifi, AProbeOfTheScriptWins)
{
    for (const bool isFirst : {false, true})
    {
        Build({10});
        AddAddresses();
        Federate();
        const auto own = CreateObject<GoodputProbe>();
        if (isFirst)
        {
            m_federation->SetProbe(own);
        }
        FederatedWifiHelper::Probe(*m_federation, m_receiver.Get(0), m_radios);
        if (!isFirst)
        {
            m_federation->SetProbe(own);
        }
        m_federation->Install(m_center.Get(0),
                              InetSocketAddress("10.1.0.1", FederatedPort::CENTER));
        EXPECT_EQ(GetPart(m_federation->GetCenter(), "Probe"), own) << isFirst;
    }
}

TEST_F(ForeignWifi, ScriptsThatForgetSomethingGetASentence)
{
    Build({10, 11});
    const FederatedWifiHelper wifi;
    const std::string node = std::to_string(m_center.Get(0)->GetId());
    EXPECT_DEATH(wifi.Tune(m_all), "the radio of node " + node + " has no IPv4 address");
    AddAddresses();
    wifi.Tune(m_all);
    const auto wires = SimpleNetDeviceHelper().Install(m_nodes);
    EXPECT_DEATH(wifi.Tune(wires), "net device . of node . is no WifiNetDevice with a MAC");
    Federate();
    EXPECT_DEATH(FederatedWifiHelper::Probe(*m_federation, m_receiver.Get(0), m_radios.Get(0)),
                 "the radio of device 1, on node .*, is not among those that Probe was given");
    EXPECT_DEATH(FederatedWifiHelper::Probe(*m_federation, m_receiver.Get(0), wires),
                 "the radio of device 0");
    EXPECT_DEATH(FederatedWifiHelper::Probe(*m_federation, wires.Get(0), m_radios),
                 "the receiver is not a WifiNetDevice");
    m_federation->Install(m_center.Get(0), InetSocketAddress("10.1.0.1", FederatedPort::CENTER));
    EXPECT_DEATH(FederatedWifiHelper::Probe(*m_federation, m_receiver.Get(0), m_radios),
                 "SetLinkDefaults comes too late, after Install");
}
