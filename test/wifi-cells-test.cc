// SPDX-License-Identifier: GPL-2.0-only

#include "ns3/boolean.h"
#include "ns3/constant-position-mobility-model.h"
#include "ns3/federated-helper.h"
#include "ns3/federated-roaming.h"
#include "ns3/federated-streams.h"
#include "ns3/federated-wifi-helper.h"
#include "ns3/inet-socket-address.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-address-helper.h"
#include "ns3/ipv4-global-routing-helper.h"
#include "ns3/ipv4-static-routing-helper.h"
#include "ns3/ipv4.h"
#include "ns3/learning-task.h"
#include "ns3/mobility-model.h"
#include "ns3/point-to-point-helper.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"
#include "ns3/wifi-net-device.h"
#include "ns3/wifi-phy.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

using namespace ns3;

namespace
{

/** A cell with its federation. */
class Cell
{
  public:
    /**
     * @param number Number of the cell.
     * @param apart Distance from one access point to the next.
     */
    explicit Cell(uint32_t number, double apart = 1e5)
    {
        m_wifi.SetCell(number);
        m_wifi.SetFading(1);
        const uint32_t devices = 6;
        m_nodes = NodeContainer(devices);
        m_accessPoint = CreateObject<Node>();
        Place(m_accessPoint, apart * number);
        for (uint32_t i = 0; i < devices; ++i)
        {
            Place(m_nodes.Get(i), apart * number + 10 + 35.0 * i / devices);
        }
        m_federation.AddGroup(m_nodes, 8);
        m_federation.SetAlgorithm("fedavg"); // without coins, which depend on the federation
        m_federation.SetData(FederatedData::MakeSynthetic(1, 400, 50, 10, 10, 10));
        m_federation.SetTaskAttribute("Model", StringValue("ns3::LogisticModel"));
        m_federation.SetTaskAttribute("Threads", UintegerValue(1));
        m_federation.SetCenterAttribute("BitBudget", StringValue("ns3::FixedBitBudget[Bits=999]"));
        m_federation.SetCenterAttribute("Participants", UintegerValue(3));
        m_federation.SetCenterAttribute("Rounds", UintegerValue(3));
        m_federation.SetCenterAttribute("Deadline", StringValue("1s"));
    }

    /** Install what the constructor made. */
    void Install()
    {
        m_wifi.Install(m_federation, m_accessPoint);
        m_federation.GetCenter()->TraceConnectWithoutContext("RoundEnd",
                                                             MakeCallback(&Cell::AddRecord, this));
        m_federation.StopWhenFinished();
    }

    /** @param node A node. @param x Where it is. */
    static void Place(const Ptr<Node>& node, double x)
    {
        const auto place = CreateObject<ConstantPositionMobilityModel>();
        place->SetPosition(Vector(x, 0, 0));
        node->AggregateObject(place);
    }

    /** @param record A round. */
    void AddRecord(const RoundRecord& record)
    {
        m_records.push_back(record);
    }

    /** @return all that the run made, as a text. */
    std::string Print() const
    {
        std::ostringstream text;
        text << std::hexfloat;
        for (const RoundRecord& record : m_records)
        {
            text << record.end.GetTimeStep() << ' ' << record.trainLoss << ' ' << record.meanRate
                 << ' ' << record.deliveredBits << ' ' << record.meanSnr;
            for (const LinkRecord& link : record.links)
            {
                text << ' ' << link.device << ' ' << link.state << ' ' << link.snr << ' '
                     << link.framesOk << ' ' << link.framesFailed << ' ' << link.weight << ' '
                     << link.lastReceived.GetTimeStep();
            }
            text << '\n';
        }
        for (float coordinate : m_federation.GetCenter()->GetModel())
        {
            text << coordinate << ' ';
        }
        return text.str();
    }

    FederatedWifiHelper m_wifi;
    FederatedHelper m_federation;
    NodeContainer m_nodes;
    Ptr<Node> m_accessPoint;
    std::vector<RoundRecord> m_records;
};

/** @return the first address of a net device. */
Ipv4Address
GetAddress(const Ptr<NetDevice>& device)
{
    const auto ipv4 = device->GetNode()->GetObject<Ipv4>();
    const auto interface = static_cast<uint32_t>(ipv4->GetInterfaceForDevice(device));
    return ipv4->GetAddress(interface, 0).GetLocal();
}

/** @return the number of the channel of a radio. */
uint32_t
GetChannelNumber(const Ptr<NetDevice>& device)
{
    return DynamicCast<WifiNetDevice>(device)->GetPhy()->GetChannelNumber();
}

} // namespace

/** @ingroup federated-tests Several cells in one simulation. */
class WifiCells : public testing::Test
{
  public:
    void SetUp() override
    {
        Reset();
    }

    void TearDown() override
    {
        Reset();
    }

    /** Forget everything. */
    void Reset()
    {
        m_visitors.clear();
        m_roaming = nullptr;
        m_cells.clear();
        Simulator::Destroy();
        RngSeedManager::SetSeed(1);
        RngSeedManager::SetRun(1);
    }

    /** @return a further cell, of a number. */
    Cell& Add(uint32_t number, double apart = 1e5)
    {
        m_cells.push_back(std::make_unique<Cell>(number, apart));
        return *m_cells.back();
    }

    /**
     * Let a device walk between two cells of six devices, whose rounds have no end.
     * @param change Changes a cell, of this number, before it is installed.
     * @param jumps When the device comes to another place, and where; before, it is at 20 m.
     * @param end When the simulation ends, in seconds.
     */
    void Walk(const std::function<void(Cell&, uint32_t)>& change,
              const std::vector<std::pair<double, double>>& jumps,
              double end)
    {
        Reset();
        const auto task = CreateObject<LearningTask>();
        task->SetGroups({13});
        task->AssignStreams(FederatedStreams::FEDERATION);
        const auto walker = CreateObject<Node>();
        Cell::Place(walker, 20);
        m_roaming = CreateObject<FederatedRoaming>();
        for (uint32_t number : {0U, 1U})
        {
            Cell& cell = Add(number, 100);
            cell.m_wifi.SetFading(0);
            cell.m_federation.ShareTask(task, 6 * number, number);
            cell.m_federation.SetCenterAttribute("Rounds", UintegerValue(100000));
            cell.m_federation.SetCenterAttribute("Participants", UintegerValue(7));
            cell.m_federation.SetCenterAttribute("EvaluationInterval", UintegerValue(0));
            change(cell, number);
            cell.Install();
            m_visitors.push_back(cell.m_wifi.AddVisitor(cell.m_federation, walker, 0, 12));
            m_roaming->AddCell(cell.m_accessPoint);
        }
        m_roaming->AddWalker(walker, m_visitors);
        for (const auto& [time, x] : jumps)
        {
            Simulator::Schedule(Seconds(time),
                                &MobilityModel::SetPosition,
                                walker->GetObject<MobilityModel>(),
                                Vector(x, 0, 0));
        }
        Simulator::Stop(Seconds(end));
        Simulator::Run();
    }

    std::vector<std::unique_ptr<Cell>> m_cells;
    Ptr<FederatedRoaming> m_roaming;              //!< Of the device that walks.
    std::vector<Ptr<FederatedDevice>> m_visitors; //!< It, in each cell.
};

TEST_F(WifiCells, TwoInOneSimulationGiveWhatEachGivesAlone)
{
    for (const std::string mode : {"adhoc", "infrastructure"})
    {
        // The first alone, the second alone, both.
        std::vector<std::string> results;
        for (const std::vector<uint32_t>& numbers : {std::vector<uint32_t>{0}, {1}, {0, 1}})
        {
            Reset();
            for (uint32_t number : numbers)
            {
                Cell& cell = Add(number);
                cell.m_wifi.SetMode(mode);
                cell.m_wifi.SetSleep(number == 1 ? "wake" : "none");
                cell.Install();
            }
            Simulator::Run();
            for (const auto& cell : m_cells)
            {
                ASSERT_EQ(cell->m_records.size(), 3U) << mode;
                EXPECT_EQ(cell->m_records.back().joined, 6U) << mode;
                EXPECT_GE(cell->m_records.back().received, 2U) << mode;
                EXPECT_LT(cell->m_records.back().trainLoss, cell->m_records.front().trainLoss);
                results.push_back(cell->Print());
            }
        }
        ASSERT_EQ(results.size(), 4U);
        EXPECT_EQ(results[2], results[0]) << mode;
        EXPECT_EQ(results[3], results[1]) << mode;
        EXPECT_NE(results[0], results[1]) << mode << ": cells have random streams of their own";
    }
}

TEST_F(WifiCells, ListenersAndOtherStationsOfACellDoNotChangeTheOther)
{
    std::vector<std::string> results;
    for (const bool hasOthers : {false, true})
    {
        Reset();
        Add(3).Install();
        Add(4).Install();
        if (hasOthers)
        {
            Cell& other = *m_cells[1];
            const NodeContainer stations(2);
            Cell::Place(stations.Get(0), 4e5 + 5);
            Cell::Place(stations.Get(1), 4e5 + 9);
            other.m_wifi.AddBackground(stations, DataRate("1Mbps"));
            other.m_wifi.AddEavesdropper(Vector(4e5 + 3, 0, 0), other.m_federation);
        }
        Simulator::Run();
        ASSERT_EQ(m_cells[0]->m_records.size(), 3U);
        results.push_back(m_cells[0]->Print());
    }
    EXPECT_EQ(results[0], results[1]);
}

TEST_F(WifiCells, HaveNetworksAndChannelsOfTheirOwn)
{
    std::set<uint32_t> channels;
    for (uint32_t number : {0U, 1U, 2U, 24U, 254U})
    {
        Cell& cell = Add(number);
        cell.Install();
        const std::string network = "10." + std::to_string(number + 1) + ".0.";
        EXPECT_EQ(GetAddress(cell.m_wifi.GetReceiver()), Ipv4Address((network + "1").c_str()));
        EXPECT_EQ(GetAddress(cell.m_wifi.GetDevices().Get(5)),
                  Ipv4Address((network + "7").c_str()));
        EXPECT_EQ(InetSocketAddress::ConvertFrom(cell.m_wifi.GetCenterAddress()).GetIpv4(),
                  GetAddress(cell.m_wifi.GetReceiver()));
        const uint32_t channel = GetChannelNumber(cell.m_wifi.GetReceiver());
        EXPECT_EQ(GetChannelNumber(cell.m_wifi.GetDevices().Get(0)), channel);
        channels.insert(channel);
    }
    EXPECT_EQ(channels, (std::set<uint32_t>{36, 40, 44, 165, 52})); // 254 is 25 * 10 + 4
}

TEST_F(WifiCells, HaveChannelNumbersThatExistAtEveryWidth)
{
    for (uint32_t width : {20U, 40U, 80U, 160U})
    {
        std::set<uint32_t> channels;
        for (uint32_t number = 0; number < 26; ++number)
        {
            FederatedWifiHelper wifi;
            wifi.SetCell(number);
            wifi.SetWidth(static_cast<uint16_t>(width));
            const NodeContainer nodes(2);
            Cell::Place(nodes.Get(0), 0);
            Cell::Place(nodes.Get(1), 1);
            wifi.Install(nodes.Get(0), nodes.Get(1)); // ns-3 aborts if there is no such channel
            EXPECT_EQ(DynamicCast<WifiNetDevice>(wifi.GetReceiver())->GetPhy()->GetChannelWidth(),
                      width);
            channels.insert(GetChannelNumber(wifi.GetReceiver()));
        }
        const std::size_t count = width == 20 ? 25 : width == 40 ? 12 : width == 80 ? 6 : 2;
        EXPECT_EQ(channels.size(), count) << width;
    }
}

TEST_F(WifiCells, TakeTheNetworkThatAScriptGivesThem)
{
    Cell& cell = Add(1);
    cell.m_wifi.SetNetwork("192.168.0.0");
    cell.Install();
    EXPECT_EQ(GetAddress(cell.m_wifi.GetReceiver()), Ipv4Address("192.168.0.1"));
    Simulator::Run();
    ASSERT_EQ(cell.m_records.size(), 3U);
    EXPECT_GE(cell.m_records.back().received, 2U);
}

TEST_F(WifiCells, AccessPointsMayHaveABackhaulBeforeAndAfterTheyAreInstalled)
{
    // Net devices of the backhaul come first. Its addresses come before the first cell and after
    // the second.
    for (const std::string mode : {"adhoc", "infrastructure"})
    {
        Reset();
        const NodeContainer cloud(1);
        InternetStackHelper().Install(cloud);
        Ipv4AddressHelper addresses("172.31.0.0", "255.255.255.252");
        for (uint32_t number : {0U, 1U})
        {
            Cell& cell = Add(number);
            cell.m_wifi.SetMode(mode);
            const auto ends = PointToPointHelper().Install(cell.m_accessPoint, cloud.Get(0));
            ASSERT_EQ(cell.m_accessPoint->GetDevice(0), ends.Get(0));
            if (number == 0)
            {
                InternetStackHelper().Install(cell.m_accessPoint);
                addresses.Assign(ends);
                addresses.NewNetwork();
            }
            cell.Install();
            if (number == 1)
            {
                addresses.Assign(ends);
            }
            EXPECT_EQ(GetAddress(ends.Get(0)),
                      Ipv4Address(number == 0 ? "172.31.0.1" : "172.31.0.5"));
        }
        Simulator::Run();
        for (const auto& cell : m_cells)
        {
            ASSERT_EQ(cell->m_records.size(), 3U) << mode;
            EXPECT_EQ(cell->m_records.back().joined, 6U) << mode;
            EXPECT_GE(cell->m_records.back().received, 2U) << mode;
        }
    }
}

TEST_F(WifiCells, BackhaulsDoNotChangeACell)
{
    std::vector<std::string> results;
    for (const bool hasBackhaul : {false, true})
    {
        Reset();
        Cell& cell = Add(1);
        cell.m_wifi.SetMode("infrastructure");
        if (hasBackhaul)
        {
            const NodeContainer cloud(1);
            const auto ends = PointToPointHelper().Install(cell.m_accessPoint, cloud.Get(0));
            InternetStackHelper().Install(NodeContainer(cloud, cell.m_accessPoint));
            Ipv4AddressHelper("172.31.0.0", "255.255.255.252").Assign(ends);
        }
        cell.Install();
        Simulator::Run();
        results.push_back(cell.Print());
    }
    EXPECT_EQ(results[0], results[1]);
}

TEST_F(WifiCells, CentersBehindAccessPointsAreReachedFromNodesWithOtherNetworks)
{
    for (uint32_t number : {0U, 1U})
    {
        Cell& cell = Add(number);
        cell.m_wifi.SetMode("infrastructure");
        cell.m_wifi.SetCenterOnWire(true);
    }
    // A device of the second cell has another network, to which its default route leads.
    const Ptr<Node> device = m_cells[1]->m_nodes.Get(0);
    const NodeContainer other(1);
    const auto ends = PointToPointHelper().Install(device, other.Get(0));
    InternetStackHelper().Install(NodeContainer(device, other));
    Ipv4AddressHelper("172.31.0.0", "255.255.255.252").Assign(ends);
    Ipv4StaticRoutingHelper()
        .GetStaticRouting(device->GetObject<Ipv4>())
        ->SetDefaultRoute("172.31.0.2", 1);
    for (const auto& cell : m_cells)
    {
        cell->Install();
    }
    Simulator::Run();
    for (const auto& cell : m_cells)
    {
        ASSERT_EQ(cell->m_records.size(), 3U);
        EXPECT_EQ(cell->m_records.back().joined, 6U);
        EXPECT_GE(cell->m_records.back().received, 2U);
    }
    EXPECT_NE(m_cells[0]->m_wifi.GetCenterAddress(), m_cells[1]->m_wifi.GetCenterAddress());
}

TEST_F(WifiCells, ADeviceWalksFromOneToTheOtherAndBack)
{
    for (const std::string mode : {"adhoc", "infrastructure", "wire"})
    {
        Walk(
            [&mode](Cell& cell, uint32_t number)
            {
                cell.m_wifi.SetMode(mode == "adhoc" ? "adhoc" : "infrastructure");
                cell.m_wifi.SetCenterOnWire(mode == "wire");
                cell.m_wifi.SetSleep(number == 1 ? "wake" : "none");
                cell.m_federation.SetDeviceAttribute(
                    "TimePerSample", StringValue("ns3::ConstantRandomVariable[Constant=2e-3]"));
            },
            {{3, 60}, {6, 40}},
            9);
        EXPECT_EQ(m_roaming->GetMoves(), 2U) << mode;
        const auto count = [this](uint32_t number, double from, double to)
        {
            uint32_t rounds = 0;
            for (const RoundRecord& record : m_cells[number]->m_records)
            {
                for (const LinkRecord& link : record.links)
                {
                    if (link.device == 6 && record.start >= Seconds(from) &&
                        record.end <= Seconds(to) && link.receivedFragments > 0)
                    {
                        EXPECT_GT(link.snr, 10); // the probe knows the radio of the visitor
                        ++rounds;
                    }
                }
            }
            return rounds;
        };
        EXPECT_GE(count(0, 0, 3), 5U) << mode;
        EXPECT_GE(count(1, 3, 7), 5U) << mode;
        EXPECT_GE(count(0, 6, 9), 5U) << mode;
        EXPECT_EQ(count(0, 4, 6), 0U) << mode;
        EXPECT_EQ(count(1, 0, 3) + count(1, 7, 9), 0U) << mode;
        const uint32_t answers = m_visitors[0]->GetPrivacyLedger().GetAnswers();
        EXPECT_EQ(m_visitors[1]->GetPrivacyLedger().GetAnswers(), answers);
        EXPECT_GE(answers, count(0, 0, 9) + count(1, 0, 9));
        EXPECT_EQ(m_cells[0]->m_records.back().joined, 7U) << mode;
        EXPECT_EQ(m_cells[1]->m_records.back().joined, 6U) << mode;
    }
}

TEST_F(WifiCells, AWalkerThatJumpsOutOfReachIsForgottenAndJoinsWhereItComesTo)
{
    for (const std::string mode : {"adhoc", "infrastructure"})
    {
        Walk(
            [&mode](Cell& cell, uint32_t)
            {
                cell.m_wifi.SetMode(mode);
                cell.m_federation.SetCenterAttribute("VisitorTimeout", TimeValue(Seconds(4)));
            },
            {{3, 1e5}, {10, 90}},
            18);
        EXPECT_EQ(m_roaming->GetMoves(), 1U) << mode;
        for (const RoundRecord& record : m_cells[0]->m_records)
        {
            // A round lasts a second at the most; it notices after 4 s that nothing is received.
            EXPECT_TRUE(record.start < Seconds(8.1) || record.joined == 6) << mode;
            EXPECT_GE(record.received, 5U) << mode << ' ' << record.start.As(Time::S);
            for (const LinkRecord& link : record.links)
            {
                EXPECT_TRUE(link.device != 6 || record.start < Seconds(3) ||
                            link.state == PARTICIPANT_UNREACHABLE)
                    << mode << ' ' << record.start.As(Time::S) << ' ' << link.state;
            }
        }
        uint32_t complete = 0;
        for (const RoundRecord& record : m_cells[1]->m_records)
        {
            for (const LinkRecord& link : record.links)
            {
                EXPECT_TRUE(link.device != 6 || record.start > Seconds(10)) << mode;
                complete += link.device == 6 && link.state == PARTICIPANT_COMPLETE ? 1 : 0;
            }
        }
        EXPECT_GE(complete, 5U) << mode;
    }
}

TEST_F(WifiCells, VisitorsThatStayAwayDoNotChangeACell)
{
    for (const std::string mode : {"adhoc", "infrastructure"})
    {
        std::vector<std::string> results;
        for (const bool hasVisitor : {false, true})
        {
            Reset();
            Cell& cell = Add(1);
            cell.m_wifi.SetMode(mode);
            // Fading draws for each receiver, also for one that is far away.
            cell.m_wifi.SetFading(0);
            cell.Install();
            if (hasVisitor)
            {
                const auto node = CreateObject<Node>();
                Cell::Place(node, 9e5);
                cell.m_wifi.AddVisitor(cell.m_federation, node, 0, 0);
            }
            Simulator::Run();
            ASSERT_EQ(cell.m_records.size(), 3U) << mode;
            results.push_back(cell.Print());
        }
        EXPECT_EQ(results[0], results[1]) << mode;
    }
}

TEST_F(WifiCells, HaveRoomInTheMapOfStreams)
{
    using Map = FederatedStreams;
    EXPECT_LE(Map::WIFI_CELL + Map::WIFI_CELLS * Map::NEXT_CELL, Map::FEDERATION);
    EXPECT_LE(Map::LISTENERS + Map::WIFI_CELLS * Map::NEXT_LISTENERS, Map::BACKGROUND);
    EXPECT_LE(Map::BACKGROUND + Map::WIFI_CELLS * Map::NEXT_BACKGROUND, Map::LTE_CELL);
    // 10,000 devices need less than what a cell has.
    Cell& cell = Add(0);
    cell.m_wifi.SetMode("infrastructure");
    cell.Install();
    const int64_t ofSeven = cell.m_wifi.AssignStreams(Map::WIFI_CELL);
    EXPECT_LT(ofSeven * 10000 / 6, Map::VISITORS);
    EXPECT_LT(Map::VISITORS, Map::NEXT_CELL);
}

TEST_F(WifiCells, MistakesOfAScriptGetASentence)
{
    FederatedWifiHelper wifi;
    EXPECT_DEATH(wifi.SetCell(255), "the number of the cell is 255, not below 255");
    EXPECT_DEATH(wifi.SetNetwork("10.1.2.0"), "10.1.2.0 is no network of 16 bits");
    EXPECT_DEATH(wifi.SetNetwork("239.1.0.0"), "239.1.0.0 is no network of 16 bits");
    Cell& cell = Add(0);
    cell.Install();
    EXPECT_DEATH(cell.m_wifi.SetCell(1), "SetCell comes after Install");
    EXPECT_DEATH(cell.m_wifi.SetNetwork("10.7.0.0"), "SetNetwork comes after Install");
    EXPECT_DEATH(cell.m_wifi.SetMode("adhoc"), "SetMode comes after Install");
    EXPECT_DEATH(cell.m_wifi.SetFading(1), "SetFading comes after Install");
    EXPECT_DEATH(cell.m_wifi.SetTxPower(10), "SetTxPower comes after Install");
    EXPECT_DEATH(wifi.SetExponent(-1), "the exponent of the path loss is -1, below 0");
    EXPECT_DEATH(wifi.SetFading(-1), "Nakagami's m is -1, neither 0 nor from 0.5 on");
    // A stack that cannot have the routes of a cell.
    Cell& other = Add(1);
    InternetStackHelper stack;
    stack.SetRoutingHelper(Ipv4GlobalRoutingHelper());
    stack.Install(other.m_accessPoint);
    EXPECT_DEATH(other.Install(), "has no static routing, which the cell needs");
}
