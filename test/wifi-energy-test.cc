// SPDX-License-Identifier: GPL-2.0-only

#include "ns3/double.h"
#include "ns3/federated-helper.h"
#include "ns3/federated-port.h"
#include "ns3/federated-wifi-energy-helper.h"
#include "ns3/inet-socket-address.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-address-helper.h"
#include "ns3/mobility-helper.h"
#include "ns3/mobility-model.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"
#include "ns3/wifi-helper.h"
#include "ns3/wifi-mac-helper.h"
#include "ns3/wifi-net-device.h"
#include "ns3/wifi-phy-state-helper.h"
#include "ns3/wifi-phy.h"
#include "ns3/yans-wifi-helper.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

using namespace ns3;

namespace
{

// Far from each other, so that no state can be taken for another.
const std::map<WifiPhyState, double> AMPERES = {
    {WifiPhyState::IDLE, 0.1},
    {WifiPhyState::CCA_BUSY, 0.3},
    {WifiPhyState::RX, 0.7},
    {WifiPhyState::TX, 1.5},
};
constexpr double VOLTS = 3; // ns-3's default
constexpr uint32_t ROUNDS = 12;

/** A radio that was in one state for some time. */
struct Stay
{
    Time start;         //!< From then on.
    Time duration;      //!< So long.
    WifiPhyState state; //!< The state.
};

/** Keep a stay. */
void
KeepStay(std::vector<Stay>* stays, Time start, Time duration, WifiPhyState state)
{
    stays->push_back({std::move(start), std::move(duration), state});
}

} // namespace

/** @ingroup federated-tests A center and three devices with wifi in ad hoc mode. */
class WifiBatteries : public testing::Test
{
  public:
    void SetUp() override
    {
        RngSeedManager::SetSeed(1);
        RngSeedManager::SetRun(1);
        NodeContainer center(1);
        m_devices.Create(3);
        const NodeContainer nodes(center, m_devices);
        MobilityHelper mobility;
        mobility.Install(nodes);
        for (uint32_t i = 0; i < nodes.GetN(); ++i)
        {
            nodes.Get(i)->GetObject<MobilityModel>()->SetPosition(Vector(10.0 * i, 0, 0));
        }
        YansWifiPhyHelper phy;
        phy.SetChannel(YansWifiChannelHelper::Default().Create());
        WifiMacHelper mac;
        mac.SetType("ns3::AdhocWifiMac");
        WifiHelper wifi;
        wifi.SetStandard(WIFI_STANDARD_80211a);
        wifi.SetRemoteStationManager(
            "ns3::ConstantRateWifiManager", "DataMode", StringValue("OfdmRate6Mbps"));
        m_ports = wifi.Install(phy, mac, nodes);
        wifi.AssignStreams(m_ports, 1);
        InternetStackHelper internet;
        internet.Install(nodes);
        internet.AssignStreams(nodes, 1000);
        const auto interfaces = Ipv4AddressHelper("10.1.0.0", "255.255.255.0").Assign(m_ports);

        m_helper.AddGroup(m_devices, 4);
        m_helper.SetData(FederatedData::MakeSynthetic(1, 160, 40, 12, 12, 10));
        m_helper.SetTaskAttribute("Model", StringValue("ns3::LogisticModel"));
        m_helper.SetTaskAttribute("Threads", UintegerValue(1));
        m_helper.SetCenterAttribute("Participants", UintegerValue(3));
        m_helper.SetCenterAttribute("BitBudget", StringValue("ns3::FixedBitBudget[Bits=100]"));
        m_helper.SetCenterAttribute("Rounds", UintegerValue(ROUNDS));
        m_helper.SetCenterAttribute("DownlinkRate", StringValue("2Mbps"));
        m_helper.SetCenterAttribute("UplinkRate", StringValue("2Mbps"));
        m_helper.SetDeviceAttribute("TimePerSample",
                                    StringValue("ns3::ConstantRandomVariable[Constant=0.002]"));
        m_helper.SetJoinSpacing(MilliSeconds(5));
        m_helper.Install(center.Get(0),
                         InetSocketAddress(interfaces.GetAddress(0), FederatedPort::CENTER));
        m_helper.StopWhenFinished();
        m_helper.GetCenter()->TraceConnectWithoutContext(
            "RoundEnd", MakeCallback(&WifiBatteries::OnRound, this));
        m_energy.SetRadioAttribute("IdleCurrentA", DoubleValue(AMPERES.at(WifiPhyState::IDLE)));
        m_energy.SetRadioAttribute("CcaBusyCurrentA",
                                   DoubleValue(AMPERES.at(WifiPhyState::CCA_BUSY)));
        m_energy.SetRadioAttribute("RxCurrentA", DoubleValue(AMPERES.at(WifiPhyState::RX)));
        m_energy.SetRadioAttribute("TxCurrentA", DoubleValue(AMPERES.at(WifiPhyState::TX)));
        m_energy.SetTrainingAttribute("JoulesPerSample", DoubleValue(1e-4));
        NetDeviceContainer radios;
        for (uint32_t i = 1; i < m_ports.GetN(); ++i)
        {
            radios.Add(m_ports.Get(i));
        }
        m_energy.Install(m_helper, radios);
    }

    void TearDown() override
    {
        Simulator::Destroy();
    }

    void OnRound(const RoundRecord& record)
    {
        m_rounds.push_back(record);
    }

    /** @return the radio of a device. */
    Ptr<WifiPhy> GetPhy(uint32_t device) const
    {
        return DynamicCast<WifiNetDevice>(m_ports.Get(device + 1))->GetPhy();
    }

    NodeContainer m_devices;
    NetDeviceContainer m_ports;
    FederatedHelper m_helper;
    FederatedWifiEnergyHelper m_energy{1000};
    std::vector<RoundRecord> m_rounds;
};

TEST_F(WifiBatteries, RadioEnergyIsTheTimeInEachStateTimesItsPower)
{
    std::vector<std::vector<Stay>> stays(3);
    for (uint32_t i = 0; i < 3; ++i)
    {
        GetPhy(i)->GetState()->TraceConnectWithoutContext("State",
                                                          MakeBoundCallback(&KeepStay, &stays[i]));
    }
    Simulator::Run();
    ASSERT_EQ(m_rounds.size(), ROUNDS);
    const Time now = Simulator::Now();
    for (uint32_t i = 0; i < 3; ++i)
    {
        std::map<WifiPhyState, double> seconds;
        Time end;
        for (const auto& stay : stays[i])
        {
            // A transmission is traced when it begins.
            seconds[stay.state] +=
                (std::min(stay.start + stay.duration, now) - stay.start).GetSeconds();
            end = std::max(end, stay.start + stay.duration);
        }
        // The last state is traced when it ends.
        seconds[WifiPhyState::IDLE] += std::max(now - end, Time(0)).GetSeconds();
        double joules = ROUNDS * 100 * 1e-4; // training
        double total = 0;
        for (const auto& [state, amperes] : AMPERES)
        {
            joules += seconds[state] * amperes * VOLTS;
            total += seconds[state];
        }
        EXPECT_NEAR(total, now.GetSeconds(), 1e-6) << "no state was left out";
        EXPECT_GT(seconds[WifiPhyState::TX] * AMPERES.at(WifiPhyState::TX) * VOLTS, 0.02 * joules);
        EXPECT_GT(seconds[WifiPhyState::RX] * AMPERES.at(WifiPhyState::RX) * VOLTS, 0.02 * joules);
        EXPECT_NEAR(m_energy.GetUsed(i), joules, 0.01 * joules);
        EXPECT_NEAR(1000 - m_energy.GetSource(i)->GetRemainingEnergy(), joules, 0.01 * joules);
    }
}

TEST_F(WifiBatteries, AStationWithAnEmptyBatteryLeavesAndItsRadioIsOff)
{
    m_energy.GetSource(1)->SetAttribute("BasicEnergySourceInitialEnergyJ", DoubleValue(0.6));
    Simulator::Run();
    ASSERT_EQ(m_rounds.size(), ROUNDS);
    EXPECT_EQ(m_rounds.front().links.size(), 3U);
    EXPECT_EQ(m_rounds.back().links.size(), 2U);
    EXPECT_EQ(m_rounds.back().joined, 2U);
    EXPECT_EQ(m_rounds.back().received, 2U);
    EXPECT_FALSE(m_helper.GetDevices()[1]->HasJoined());
    EXPECT_TRUE(GetPhy(1)->IsStateOff());
    EXPECT_FALSE(GetPhy(0)->IsStateOff());
    EXPECT_GE(m_energy.GetUsed(1), 0.9 * 0.6);
    EXPECT_LE(m_energy.GetUsed(1), 0.6);
}
