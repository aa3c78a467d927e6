// SPDX-License-Identifier: GPL-2.0-only

#include "ns3/boolean.h"
#include "ns3/device-registry.h"
#include "ns3/double.h"
#include "ns3/edge-training.h"
#include "ns3/enum.h"
#include "ns3/error-model.h"
#include "ns3/federated-header.h"
#include "ns3/federated-helper.h"
#include "ns3/federated-port.h"
#include "ns3/federated-ranks.h"
#include "ns3/federated-streams.h"
#include "ns3/inet-socket-address.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-address-helper.h"
#include "ns3/ipv4.h"
#include "ns3/pointer.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/simple-net-device-helper.h"
#include "ns3/simple-net-device.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include "schedule-call.h"
#include "two-ranks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

using namespace ns3;

namespace
{

/** Keep a record. */
void
Keep(std::vector<RoundRecord>* records, const RoundRecord& record)
{
    records->push_back(record);
}

/** Keep the devices that a round begins with. */
void
KeepSelected(std::vector<std::vector<uint32_t>>* all,
             uint32_t /* round */,
             const std::vector<uint32_t>& selected)
{
    all->push_back(selected);
}

/** Keep the round of a message, if it is a part of an update. */
void
CountUpdates(std::set<uint32_t>* rounds, Ptr<const Packet> packet)
{
    FederatedHeader header;
    packet->PeekHeader(header);
    if (header.type == FederatedHeader::UPDATE)
    {
        rounds->insert(header.round);
    }
}

} // namespace

/** @ingroup federated-tests Cells of devices, their edges, and a cloud, on ideal links. */
class Hierarchy : public testing::Test
{
  protected:
    /** A cell. */
    struct Cell
    {
        std::unique_ptr<FederatedHelper> helper = std::make_unique<FederatedHelper>();
        FederatedHelper& federation = *helper;                            // of edge and devices
        std::vector<RoundRecord> rounds;                                  // that ended
        std::vector<std::vector<uint32_t>> selected;                      // in each round
        std::vector<std::pair<Ptr<Node>, Ptr<FederatedDevice>>> visitors; // with their nodes
    };

    void SetUp() override
    {
        Renew();
    }

    void TearDown() override
    {
        Simulator::Destroy();
    }

    /** Begin again, with the same random numbers. */
    void Renew()
    {
        m_cells.clear();
        m_cloud.reset();
        m_cloudRounds.clear();
        Simulator::Destroy();
        RngSeedManager::SetSeed(1);
        RngSeedManager::SetRun(1);
    }

    /** What cloud, cells and a flat federation have in common. */
    void SetUpLearning(FederatedHelper& federation, uint32_t participants) const
    {
        federation.SetAlgorithm(m_algorithm);
        federation.SetWeights(m_weights);
        federation.SetData(FederatedData::MakeSynthetic(1, 480, 120, 6, 6, 4));
        federation.SetTaskAttribute("Model", StringValue("ns3::LogisticModel"));
        federation.SetTaskAttribute("Threads", UintegerValue(1));
        federation.SetCenterAttribute("Participants", UintegerValue(participants));
        federation.SetCenterAttribute("Rounds", UintegerValue(m_rounds));
        federation.SetCenterAttribute("BitBudget", StringValue("ns3::FixedBitBudget[Bits=1e9]"));
    }

    /** Connect a center and its devices; addresses are those of the network. */
    NetDeviceContainer Connect(const Ptr<Node>& center,
                               const NodeContainer& devices,
                               const std::string& network) const
    {
        NodeContainer nodes(center);
        nodes.Add(devices);
        SimpleNetDeviceHelper links;
        links.SetChannel("ns3::SimpleChannel", "Delay", TimeValue(MicroSeconds(10)));
        NetDeviceContainer ends = links.Install(nodes);
        for (auto node = nodes.Begin(); node != nodes.End(); ++node)
        {
            if (!(*node)->GetObject<Ipv4>())
            {
                InternetStackHelper().Install(*node);
            }
        }
        Ipv4AddressHelper(network.c_str(), "255.255.255.0").Assign(ends);
        return ends;
    }

    /** Make cloud, edges and cells. */
    void MakeHierarchy(uint32_t cells, uint32_t devices, uint32_t participants)
    {
        const auto cloudNode = CreateObject<Node>(m_cloudRank);
        NodeContainer edges(cells);
        m_backhaul = Connect(cloudNode, edges, "10.9.0.0");
        const auto task = CreateObject<LearningTask>();
        const uint32_t all = cells * devices + m_moreDevices * (cells * (cells - 1) / 2);
        task->SetGroups({all + m_visitors});
        task->AssignStreams(FederatedStreams::FEDERATION);
        MakeCloud(cloudNode, edges);
        uint32_t first = 0;
        for (uint32_t c = 0; c < cells; ++c)
        {
            const uint32_t ofCell = devices + c * m_moreDevices;
            MakeCell(edges.Get(c), task, first, ofCell, participants);
            AddVisitors(ofCell, all);
            first += ofCell;
        }
        for (uint32_t i = 0; i < cells; ++i)
        {
            const uint32_t c = m_isReversed ? cells - 1 - i : i;
            if (m_elsewhere.count(c) > 0)
            {
                m_cloud->SetEdge(c);
                continue;
            }
            m_cloud->SetEdge(c, m_cells[c]->federation, m_edgeRounds);
        }
    }

    /** Make the federation of the edges. */
    void MakeCloud(const Ptr<Node>& node, const NodeContainer& edges)
    {
        m_cloud = std::make_unique<FederatedHelper>();
        SetUpLearning(*m_cloud, edges.GetN());
        m_cloud->SetAlgorithm("fedavg");
        m_cloud->SetWeights("samples");
        m_cloud->SetProtocol(m_cloudProtocol);
        if (!m_cloudRule.empty())
        {
            m_cloud->SetCenterAttribute("FusionRule", StringValue(m_cloudRule));
            m_cloud->SetDeviceAttribute("ReportDistortion", BooleanValue(true));
        }
        if (m_isEnrolled)
        {
            m_cloud->SetGroupAddress(Ipv4Address("10.9.0.255"), 6000);
            m_cloud->SetEnrolled(true);
        }
        m_cloud->AddGroup(edges, 1);
        m_cloud->SetCenterAttribute("Deadline", TimeValue(m_cloudDeadline));
        m_cloud->SetCenterAttribute("JoinTimeout", TimeValue(Seconds(1)));
        m_cloud->SetDeviceAttribute("ClipNorm", EnumValue(CLIP_NONE));
        m_cloud->Install(node, InetSocketAddress(Ipv4Address("10.9.0.1"), FederatedPort::CENTER));
        m_cloud->GetCenter()->TraceConnectWithoutContext("RoundEnd",
                                                         MakeBoundCallback(&Keep, &m_cloudRounds));
        m_cloud->StopWhenFinished();
    }

    /** Make the next cell. */
    void MakeCell(const Ptr<Node>& edge,
                  const Ptr<LearningTask>& task,
                  uint32_t first,
                  uint32_t devices,
                  uint32_t participants)
    {
        const auto c = static_cast<uint32_t>(m_cells.size());
        m_cells.push_back(std::make_unique<Cell>());
        FederatedHelper& cell = m_cells.back()->federation;
        const NodeContainer nodes(devices);
        const NodeContainer others(m_visitors);
        const std::string network = "10.1." + std::to_string(c) + ".";
        Connect(edge, NodeContainer(nodes, others), network + "0");
        SetUpLearning(cell, participants);
        cell.AddGroup(nodes, m_bits + c * m_moreBits);
        if (m_isShared)
        {
            cell.ShareTask(task, first, m_firstCell + c);
        }
        cell.SetCenterAttribute("OnRequest", BooleanValue(true));
        cell.SetCenterAttribute("Deadline", TimeValue(m_cellDeadline));
        cell.SetDeviceAttribute("TimePerSample",
                                StringValue("ns3::ConstantRandomVariable[Constant=" +
                                            std::to_string(m_timePerSample) + "]"));
        if (m_setUpCell)
        {
            m_setUpCell(cell, c);
        }
        cell.Install(
            edge,
            InetSocketAddress(Ipv4Address((network + "1").c_str()), FederatedPort::CENTER + 1));
        cell.GetCenter()->TraceConnectWithoutContext(
            "RoundEnd", MakeBoundCallback(&Keep, &m_cells.back()->rounds));
        cell.GetCenter()->TraceConnectWithoutContext(
            "RoundStart", MakeBoundCallback(&KeepSelected, &m_cells.back()->selected));
        for (uint32_t i = 0; i < m_visitors; ++i)
        {
            m_cells.back()->visitors.emplace_back(others.Get(i), nullptr);
        }
    }

    /** Make the applications of the visitors of the last cell, whose shares follow all others. */
    void AddVisitors(uint32_t devices, uint32_t firstShare)
    {
        const std::string network = "10.1." + std::to_string(m_cells.size() - 1) + ".";
        for (uint32_t i = 0; i < m_visitors; ++i)
        {
            const std::string address = network + std::to_string(2 + devices + i);
            auto& [node, application] = m_cells.back()->visitors[i];
            application = m_cells.back()->federation.AddVisitor(
                node, Ipv4Address(address.c_str()), 0, firstShare + i);
        }
    }

    /** @return what the end of the script prints on standard error. */
    std::string Finish() const
    {
        testing::internal::CaptureStderr();
        testing::internal::CaptureStdout();
        EXPECT_EQ(m_cloud->Finish(), 0);
        testing::internal::GetCapturedStdout();
        return testing::internal::GetCapturedStderr();
    }

    /** @return how often a text has another one. */
    static uint32_t Count(const std::string& text, const std::string& part)
    {
        uint32_t count = 0;
        for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
        {
            ++count;
        }
        return count;
    }

    /** @return the model of a flat federation of the same devices after all rounds. */
    std::vector<float> RunFlat(uint32_t devices)
    {
        FederatedHelper flat;
        const auto center = CreateObject<Node>();
        NodeContainer nodes(devices);
        Connect(center, nodes, "10.1.0.0");
        SetUpLearning(flat, devices);
        flat.AddGroup(nodes, m_bits);
        flat.Install(center, InetSocketAddress(Ipv4Address("10.1.0.1"), FederatedPort::CENTER));
        flat.StopWhenFinished();
        Simulator::Run();
        return flat.GetCenter()->GetModel();
    }

    /** @return the lines that the end of a script prints. @param isMistake Its verdict. */
    std::vector<std::string> ListWarnings(bool isMistake) const
    {
        std::stringstream text;
        EXPECT_EQ(m_cloud->PrintWarnings(text), isMistake);
        std::vector<std::string> lines;
        for (std::string line; std::getline(text, line);)
        {
            lines.push_back(line);
        }
        return lines;
    }

    /** @return the outcome of an edge in a round of the cloud. */
    ParticipantState GetState(uint32_t round, uint32_t edge) const
    {
        for (const LinkRecord& link : m_cloudRounds.at(round - 1).links)
        {
            if (link.device == edge)
            {
                return link.state;
            }
        }
        ADD_FAILURE() << "edge " << edge << " was not selected in round " << round;
        return PARTICIPANT_SILENT;
    }

    std::string m_algorithm = "fedavg"; //!< Of the cells.
    std::string m_weights = "samples";  //!< Likewise.
    uint32_t m_rounds = 4;              //!< Of the cloud.
    uint32_t m_edgeRounds = 1;          //!< kappa.
    uint32_t m_bits = 4;                //!< Of the devices.
    uint32_t m_moreBits = 0;            //!< Of those of each further cell.
    uint32_t m_cloudRank = 0;           //!< Which process simulates the cloud; this is 0.
    uint32_t m_visitors = 0;            //!< Devices that may come to each cell.
    uint32_t m_moreDevices = 0;         //!< That each further cell has.
    uint32_t m_firstCell = 0;           //!< Number of the first cell.
    bool m_isShared = true;             //!< Whether cells share a task, and have numbers.
    bool m_isReversed = false;          //!< Whether the last cell gets its edge first.
    std::set<uint32_t> m_elsewhere;     //!< Cells that another rank simulates.
    bool m_isEnrolled = false;          //!< Whether edges need not join.
    std::function<void(FederatedHelper&, uint32_t)> m_setUpCell; //!< Before Install(); or empty.
    std::string m_cloudProtocol = "udp";                         //!< Of the cloud.
    std::string m_cloudRule;            //!< Fusion rule of the cloud; empty: by samples.
    double m_timePerSample = 1e-5;      //!< Of the devices.
    Time m_cloudDeadline = Seconds(10); //!< Of the cloud.
    Time m_cellDeadline = Seconds(2);   //!< Of the cells.

    std::unique_ptr<FederatedHelper> m_cloud;   //!< The federation of the edges.
    std::vector<std::unique_ptr<Cell>> m_cells; //!< The cells.
    std::vector<RoundRecord> m_cloudRounds;     //!< Rounds of the cloud that ended.
    NetDeviceContainer m_backhaul;              //!< Of the cloud, then of the edges.
};

TEST_F(Hierarchy, WithARoundOfEachCellAndFloatsItEqualsOneFlatFederation)
{
    const std::vector<float> flat = RunFlat(12);
    Renew();
    MakeHierarchy(3, 4, 4);
    Simulator::Run();
    ASSERT_EQ(m_cloudRounds.size(), 4U);
    const std::vector<float>& model = m_cloud->GetCenter()->GetModel();
    ASSERT_EQ(model.size(), flat.size());
    std::vector<float> first;
    m_cloud->GetTask()->Initialize(first);
    double most = 0;
    double moved = 0;
    for (std::size_t i = 0; i < model.size(); ++i)
    {
        most = std::max(most, std::abs(double{model[i]} - flat[i]));
        moved = std::max(moved, std::abs(double{model[i]} - first[i]));
    }
    EXPECT_LT(most, 1e-6); // an edge rounds its model and its difference to floats
    EXPECT_GT(moved, 1e-3);
}

TEST_F(Hierarchy, AnEdgeRunsItsRoundsAndSendsOneUpdate)
{
    m_edgeRounds = 3;
    MakeHierarchy(2, 5, 3);
    Simulator::Run();
    ASSERT_EQ(m_cloudRounds.size(), 4U);
    for (uint32_t c = 0; c < 2; ++c)
    {
        const Cell& cell = *m_cells[c];
        ASSERT_EQ(cell.rounds.size(), 12U);
        for (uint32_t i = 0; i < 12; ++i)
        {
            EXPECT_EQ(cell.rounds[i].round, i + 1);
            EXPECT_EQ(cell.rounds[i].received, 3U);
            EXPECT_FALSE(cell.rounds[i].skipped);
            // They lie inside the round of the cloud that they belong to.
            EXPECT_GT(cell.rounds[i].start, m_cloudRounds[i / 3].start);
            EXPECT_LT(cell.rounds[i].end, m_cloudRounds[i / 3].end);
        }
    }
    for (uint32_t round = 1; round <= 4; ++round)
    {
        if (round > 1)
        {
            EXPECT_LT(m_cloudRounds[round - 1].trainLoss, m_cloudRounds[round - 2].trainLoss);
        }
        EXPECT_EQ(m_cloudRounds[round - 1].received, 2U);
        EXPECT_EQ(GetState(round, 0), PARTICIPANT_COMPLETE);
    }
}

TEST_F(Hierarchy, CellsDrawDifferentDevices)
{
    m_rounds = 8;
    MakeHierarchy(2, 10, 3);
    Simulator::Run();
    ASSERT_EQ(m_cells[0]->selected.size(), 8U);
    // Equal choices of 3 of 10 in all rounds: probability 120^-8.
    EXPECT_NE(m_cells[0]->selected, m_cells[1]->selected);
}

TEST_F(Hierarchy, TheLedgerOfADeviceCountsItsAnswersOverAllRoundsOfItsCell)
{
    m_algorithm = "alg1";
    m_weights = "default";
    m_edgeRounds = 2;
    MakeHierarchy(2, 3, 3);
    std::map<uint32_t, std::set<uint32_t>> sent; // rounds of UPDATE messages, by share
    for (const auto& cell : m_cells)
    {
        for (const auto& device : cell->federation.GetDevices())
        {
            device->TraceConnectWithoutContext(
                "Tx", MakeBoundCallback(&CountUpdates, &sent[device->GetShare()]));
        }
    }
    Simulator::Run();
    ASSERT_EQ(sent.size(), 6U);
    for (const auto& [share, rounds] : sent)
    {
        EXPECT_EQ(rounds.size(), 8U) << share; // 2 rounds of the cell in each of 4 of the cloud
    }
    federated::DeviceRegistry::Visit(
        m_cells[0]->federation.GetTask(),
        [&sent](uint32_t share, const auto& account)
        { EXPECT_EQ(account.accountant.GetLedger().GetAnswers(), sent[share].size()); });
    EXPECT_EQ(m_cells[0]->federation.GetTraceWriter()->GetMostAnswers(), 8U);
    EXPECT_EQ(m_cells[1]->federation.GetTraceWriter()->GetMostAnswers(), 8U);
}

TEST_F(Hierarchy, AnEdgeWithoutDevicesSaysSoAndTheOthersGoOn)
{
    MakeHierarchy(3, 4, 4);
    for (const auto& device : m_cells[1]->federation.GetDevices())
    {
        device->SetStartTime(Seconds(1e6));
    }
    Simulator::Run();
    ASSERT_EQ(m_cloudRounds.size(), 4U);
    for (uint32_t round = 1; round <= 4; ++round)
    {
        EXPECT_EQ(GetState(round, 0), PARTICIPANT_COMPLETE);
        EXPECT_EQ(GetState(round, 1), PARTICIPANT_EMPTY);
        EXPECT_EQ(m_cloudRounds[round - 1].received, 2U);
        EXPECT_FALSE(m_cloudRounds[round - 1].skipped);
        // It answers after its own JoinTimeout, once, and later at once.
        EXPECT_LT(m_cloudRounds[round - 1].end - m_cloudRounds[round - 1].start, Seconds(4));
    }
    EXPECT_TRUE(m_cells[1]->rounds.empty());
}

TEST_F(Hierarchy, AnEdgeThatLosesItsBackhaulMidRoundComesBack)
{
    m_timePerSample = 1e-3; // 100 samples: .1 s
    m_cloudDeadline = Seconds(3);
    MakeHierarchy(2, 4, 4);
    const Ptr<Node> edge = m_backhaul.Get(2)->GetNode();
    const auto ipv4 = edge->GetObject<Ipv4>();
    std::pair<Ptr<Ipv4>, uint32_t> link(
        ipv4, static_cast<uint32_t>(ipv4->GetInterfaceForDevice(m_backhaul.Get(2))));
    m_cloud->GetCenter()->TraceConnectWithoutContext(
        "RoundStart",
        MakeBoundCallback(
            +[](std::pair<Ptr<Ipv4>, uint32_t>* link, uint32_t round, const std::vector<uint32_t>&)
            {
                if (round == 2) // the edge has its model and trains
                {
                    ScheduleCall(MilliSeconds(50),
                                 [link]() { link->first->SetDown(link->second); });
                    ScheduleCall(Seconds(4), [link]() { link->first->SetUp(link->second); });
                }
            },
            &link));
    Simulator::Run();
    ASSERT_EQ(m_cloudRounds.size(), 4U);
    EXPECT_EQ(GetState(1, 1), PARTICIPANT_COMPLETE);
    EXPECT_EQ(GetState(2, 1), PARTICIPANT_SILENT);
    EXPECT_EQ(GetState(2, 0), PARTICIPANT_COMPLETE);
    EXPECT_EQ(m_cloudRounds[1].received, 1U);
    EXPECT_EQ(GetState(4, 1), PARTICIPANT_COMPLETE);
}

TEST_F(Hierarchy, RoundsOfACellEndInTimeForTheDeadlineOfTheCloud)
{
    m_edgeRounds = 5;
    m_timePerSample = 4e-3; // 100 samples: .4 s
    m_cloudDeadline = Seconds(1);
    MakeHierarchy(2, 3, 3);
    Simulator::Run();
    ASSERT_EQ(m_cloudRounds.size(), 4U);
    for (uint32_t round = 1; round <= 4; ++round)
    {
        EXPECT_EQ(GetState(round, 0), PARTICIPANT_COMPLETE);
        EXPECT_LE(m_cloudRounds[round - 1].end - m_cloudRounds[round - 1].start, Seconds(1));
    }
    // Two of five fit; in a third one no device has the time; the numbers go on with the cloud's.
    const auto& rounds = m_cells[0]->rounds;
    ASSERT_EQ(rounds.size(), 12U);
    EXPECT_EQ(rounds[2].round, 3U);
    EXPECT_EQ(rounds[2].received, 0U);
    EXPECT_EQ(rounds[3].round, 6U);
    EXPECT_EQ(rounds[3].received, 3U);
}

TEST_F(Hierarchy, AnEdgeWhoseCellHasNoTimeForARoundIsLateAndNotEmpty)
{
    m_timePerSample = 20e-3; // 100 samples: 2 s
    m_cloudDeadline = Seconds(1);
    MakeHierarchy(2, 3, 3);
    Simulator::Run();
    ASSERT_EQ(m_cloudRounds.size(), 4U);
    for (uint32_t round = 1; round <= 4; ++round)
    {
        EXPECT_EQ(GetState(round, 0), PARTICIPANT_NO_TIME);
        EXPECT_EQ(GetState(round, 1), PARTICIPANT_NO_TIME);
        EXPECT_TRUE(m_cloudRounds[round - 1].skipped);
    }
}

TEST_F(Hierarchy, TheOthersGoOnWithoutAnEdgeOfWhichBothApplicationsCrash)
{
    m_timePerSample = 4e-3; // .4 s
    m_edgeRounds = 2;
    m_cloudDeadline = Seconds(2);
    MakeHierarchy(2, 3, 3);
    m_cloud->GetDevices()[1]->SetAttribute("LeaveOnStop", BooleanValue(false));
    m_cloud->GetDevices()[1]->SetStopTime(Seconds(1.2)); // in its second round
    m_cells[1]->federation.GetCenter()->SetStopTime(Seconds(1.2));
    Simulator::Run();
    ASSERT_EQ(m_cloudRounds.size(), 4U);
    EXPECT_EQ(GetState(1, 1), PARTICIPANT_COMPLETE);
    EXPECT_EQ(GetState(2, 1), PARTICIPANT_SILENT);
    EXPECT_EQ(GetState(3, 1), PARTICIPANT_UNREACHABLE);
    for (uint32_t round = 1; round <= 4; ++round)
    {
        EXPECT_EQ(GetState(round, 0), PARTICIPANT_COMPLETE);
    }
    EXPECT_EQ(m_cells[1]->rounds.size(), 2U) << "the third was not finished";
    EXPECT_EQ(m_cells[0]->rounds.size(), 8U);
}

TEST_F(Hierarchy, GoesOnThroughALossyBackhaul)
{
    m_rounds = 6;
    MakeHierarchy(2, 4, 4);
    for (uint32_t i = 0; i < m_backhaul.GetN(); ++i)
    {
        const auto errors = CreateObject<RateErrorModel>();
        errors->SetAttribute("ErrorRate", DoubleValue(0.2));
        errors->SetAttribute("ErrorUnit", StringValue("ERROR_UNIT_PACKET"));
        errors->AssignStreams(FederatedStreams::ERROR_MODEL + i);
        m_backhaul.Get(i)->SetAttribute("ReceiveErrorModel", PointerValue(errors));
    }
    Simulator::Run();
    ASSERT_EQ(m_cloudRounds.size(), 6U);
    uint32_t received = 0;
    for (const RoundRecord& round : m_cloudRounds)
    {
        received += round.received;
    }
    EXPECT_GE(received, 8U); // of 12; an update is one fragment here
    EXPECT_EQ(m_cells[0]->rounds.size(), 6U);
}

TEST_F(Hierarchy, AnEdgeThatLeavesEndsTheRoundOfItsCellAndMayComeBack)
{
    m_timePerSample = 4e-3; // .4 s
    m_edgeRounds = 2;
    MakeHierarchy(2, 3, 3);
    ScheduleCall(Seconds(1.2), [this]() { m_cloud->GetDevices()[1]->Leave(); });
    ScheduleCall(Seconds(2), [this]() { m_cloud->GetDevices()[1]->Join(); });
    Simulator::Run();
    ASSERT_EQ(m_cloudRounds.size(), 4U); // of .8 s
    EXPECT_EQ(GetState(2, 1), PARTICIPANT_LEFT);
    EXPECT_EQ(m_cloudRounds[2].joined, 1U);
    EXPECT_EQ(GetState(4, 1), PARTICIPANT_COMPLETE);
    const auto& rounds = m_cells[1]->rounds;
    ASSERT_EQ(rounds.size(), 5U);
    EXPECT_NEAR(rounds[2].end.GetSeconds(), 1.2, 1e-3); // cut short
    EXPECT_EQ(rounds[2].round, 3U);
    EXPECT_EQ(rounds[3].round, 7U); // of the fourth round of the cloud
    EXPECT_EQ(m_cells[0]->rounds.size(), 8U);
}

TEST_F(Hierarchy, AnEdgeReportsTheErrorsOfItsCell)
{
    for (const uint32_t moreBits : {0, 2}) // in the second cell
    {
        Renew();
        m_algorithm = "alg1";
        m_weights = "default";
        m_cloudRule = "ns3::EffectiveSnrFusion[Distortion=exact]";
        m_edgeRounds = 2;
        m_moreBits = moreBits;
        MakeHierarchy(2, 4, 4);
        Simulator::Run();
        ASSERT_EQ(m_cloudRounds.size(), 4U);
        double errors[2] = {};
        for (uint32_t c = 0; c < 2; ++c)
        {
            ASSERT_EQ(m_cells[c]->rounds.size(), 8U);
            for (uint32_t i = 0; i < 2; ++i)
            {
                EXPECT_GT(m_cells[c]->rounds[i].fusedError, 0);
                errors[c] += m_cells[c]->rounds[i].fusedError;
            }
        }
        // Floats of an edge have no error of their own: weights go with those of the cells, up to
        // a limit, as the cloud cannot check them.
        const double ratio = std::min(errors[0] / errors[1], 4.0);
        EXPECT_EQ(errors[0] > 10 * errors[1], moreBits > 0) << "it has four times as many levels";
        const std::vector<LinkRecord>& links = m_cloudRounds[0].links;
        EXPECT_NEAR(links[0].weight, 1 / (1 + ratio), 1e-6);
        EXPECT_NEAR(links[1].weight, ratio / (1 + ratio), 1e-6);
    }
}

TEST_F(Hierarchy, AnEdgeCountsTheSamplesOfTheDevicesThatAreInItsCell)
{
    for (const char* protocol : {"udp", "tcp"})
    {
        Renew();
        m_cloudProtocol = protocol;
        m_visitors = 2;
        m_rounds = 6;
        m_timePerSample = 4e-3;    // .4 s
        MakeHierarchy(2, 5, 7);    // 12 parts of 40 samples
        ScheduleCall(Seconds(0.6), // in the second round
                     [this]()
                     {
                         for (const auto& [node, application] : m_cells[1]->visitors)
                         {
                             node->AddApplication(application);
                         }
                     });
        ScheduleCall(Seconds(1.4), // in the fourth
                     [this]()
                     {
                         m_cells[1]->visitors[0].second->Leave();
                         m_cells[0]->federation.GetDevices()[2]->Leave();
                         m_cells[0]->federation.GetDevices()[4]->Leave();
                     });
        Simulator::Run();
        ASSERT_EQ(m_cloudRounds.size(), 6U);
        const double samples[][2] = {{200, 200}, {200, 280}, {200, 280}, {120, 240}, {120, 240}};
        for (uint32_t i = 0; i < 5; ++i)
        {
            const auto& links = m_cloudRounds[i].links;
            ASSERT_EQ(links.size(), 2U);
            const double all = samples[i][0] + samples[i][1];
            EXPECT_NEAR(links[0].weight, samples[i][0] / all, 1e-6) << protocol << ' ' << i;
            EXPECT_NEAR(links[1].weight, samples[i][1] / all, 1e-6) << protocol << ' ' << i;
        }
    }
}

TEST_F(Hierarchy, HowManySamplesAnEdgeHasIsNotKnownBeforeItSaysSo)
{
    MakeHierarchy(2, 3, 3);
    std::string error;
    const std::string prefix = testing::TempDir() + "federated-hierarchy";
    ASSERT_TRUE(m_cloud->EnableTraces(prefix, error)) << error;
    ASSERT_TRUE(m_cells[0]->federation.EnableTraces(prefix + "-cell-0", error)) << error;
    const auto read = [&prefix](const std::string& table)
    {
        std::ifstream file(prefix + table);
        return std::string{std::istreambuf_iterator<char>(file), {}};
    };
    EXPECT_EQ(read("-devices.csv"),
              "device,group,bits,samples,x_m,y_m,z_m\ncenter,,,,,,\n0,0,1,,,,\n1,0,1,,,,\n");
    EXPECT_NE(read("-cell-0-devices.csv").find("\n2,0,4,80,,,\n"), std::string::npos);
    for (const char* cell : {"", "-cell-0"})
    {
        for (const char* table : {"-devices.csv", "-links.csv", "-rounds.csv", "-run.json"})
        {
            std::remove((prefix + cell + table).c_str());
        }
    }
}

TEST_F(Hierarchy, TheEndNamesTheCellsInWhichSomethingWentWrong)
{
    MakeHierarchy(4, 4, 4);
    for (const auto& device : m_cells[1]->federation.GetDevices())
    {
        device->SetStartTime(Seconds(1e6));
    }
    for (const auto& device : m_cells[2]->federation.GetDevices())
    {
        device->SetAttribute("LeaveOnStop", BooleanValue(false));
        device->SetStopTime(MilliSeconds(500)); // after the first round
    }
    Simulator::Run();
    const auto lines = ListWarnings(false);
    ASSERT_EQ(lines.size(), 2U);
    EXPECT_EQ(lines[0].find("warning: Cell 1: None of 4 devices joined: is 10.1.1.1"), 0U)
        << lines[0];
    EXPECT_EQ(lines[1].find("warning: Cell 2: 3 of 4 rounds left the model as it was. Of most "
                            "participants nothing was used: their grants were not acknowledged"),
              0U)
        << lines[1];
    EXPECT_EQ(m_cloud->Finish(), 0) << "the others have learned something";
}

TEST_F(Hierarchy, WhereNoCellHasDevicesTheExitCodeSaysSo)
{
    MakeHierarchy(2, 4, 4);
    for (const auto& cell : m_cells)
    {
        for (const auto& device : cell->federation.GetDevices())
        {
            device->SetStartTime(Seconds(1e6));
        }
    }
    Simulator::Run();
    const auto lines = ListWarnings(true);
    ASSERT_EQ(lines.size(), 3U);
    EXPECT_NE(lines[0].find("nothing to learn from: are there devices in their cells?"),
              std::string::npos);
    EXPECT_NE(lines[1].find("Cell 0: None of 4 devices joined: is 10.1.0.1"), std::string::npos);
    EXPECT_NE(lines[2].find("Cell 1: None of 4 devices joined: is 10.1.1.1"), std::string::npos);
    EXPECT_EQ(m_cloud->Finish(), 1);
}

TEST_F(Hierarchy, TheSameSentenceForSeveralCellsIsPrintedOnce)
{
    MakeHierarchy(4, 3, 5);
    m_cells[2]->federation.GetCenter()->SetAttribute("Participants", UintegerValue(3));
    EXPECT_EQ(ListWarnings(true).size(), 1U) << "the simulation did not run";
    Simulator::Run();
    EXPECT_EQ(ListWarnings(false),
              (std::vector<std::string>{"warning: Cells 0 to 1, 3: Participants is 5, but the "
                                        "federation has only 3 devices: every round asks all of "
                                        "them."}));
}

TEST_F(Hierarchy, ACellWithoutAnEdgeIsWarnedAbout)
{
    MakeHierarchy(2, 3, 3);
    FederatedHelper forgotten;
    const auto center = CreateObject<Node>();
    const NodeContainer nodes(2);
    Connect(center, nodes, "10.2.0.0");
    SetUpLearning(forgotten, 2);
    forgotten.AddGroup(nodes, 4);
    forgotten.SetCenterAttribute("OnRequest", BooleanValue(true));
    forgotten.Install(center, InetSocketAddress(Ipv4Address("10.2.0.1"), FederatedPort::CENTER));
    Simulator::Run();
    EXPECT_EQ(ListWarnings(false),
              (std::vector<std::string>{"warning: The centers of 1 federations have OnRequest, but "
                                        "nobody asked for rounds: is SetEdge missing?"}));
    Renew();
    MakeHierarchy(2, 3, 3);
    Simulator::Run();
    EXPECT_TRUE(ListWarnings(false).empty()) << "the next simulation begins anew";
}

TEST_F(Hierarchy, WhereAnotherRankHasTheCloudThisOneWarnsAboutItsCells)
{
    m_cloudRank = 7;
    MakeHierarchy(2, 3, 3);
    Simulator::Stop(Seconds(3)); // which that rank would say
    Simulator::Run();
    EXPECT_EQ(ListWarnings(false),
              (std::vector<std::string>{"warning: Cells 0 to 1: No round ended: did the edge "
                                        "receive a model, and had it the time?"}));
}

TEST_F(Hierarchy, HelpersOfCellsMayGoOutOfScope)
{
    MakeHierarchy(2, 3, 3);
    for (const auto& device : m_cells[1]->federation.GetDevices())
    {
        device->SetStartTime(Seconds(1e6));
    }
    for (const auto& cell : m_cells)
    {
        cell->helper.reset();
    }
    Simulator::Run();
    const std::string text = Finish();
    EXPECT_EQ(Count(text, "privacy of the devices of all cells:\n"), 1U) << text;
    EXPECT_EQ(Count(text, "most answers of a device: 4\n"), 2U) << "cells and edges: " << text;
    EXPECT_EQ(Count(text, "warning: Cell 1: None of 3 devices joined"), 1U) << text;
}

TEST_F(Hierarchy, ThePrivacyOfAllCellsIsSaidOnceWhateverTheirNumbersAndOrder)
{
    for (const uint32_t variant : {0, 1, 2, 3})
    {
        Renew();
        m_firstCell = variant == 1 ? 3 : 0;
        m_isReversed = variant == 2;
        m_isShared = variant != 3;
        MakeHierarchy(2, 3, 3);
        for (const auto& device : m_cells[1]->federation.GetDevices())
        {
            device->SetStartTime(Seconds(1e6));
        }
        Simulator::Run();
        const std::string text = Finish();
        EXPECT_EQ(Count(text, "privacy of the devices of all cells:\n"), 1U) << text;
        EXPECT_EQ(Count(text, "privacy of the edges:\n"), 1U) << text;
        EXPECT_EQ(Count(text, "are sent as they are. (32 bits)\n"), 2U) << "floats: " << text;
        // Without numbers of their own, cells have those of their edges.
        const std::string cell = variant == 1 ? "Cell 4" : "Cell 1";
        EXPECT_EQ(Count(text, "warning: " + cell + ": None of 3 devices joined"), 1U) << text;
    }
}

TEST_F(Hierarchy, AClaimThatDoesNotHoldForAllCellsNamesThem)
{
    m_algorithm = "alg1";
    m_weights = "default";
    m_setUpCell = [](FederatedHelper& cell, uint32_t number)
    {
        if (number == 1)
        {
            cell.SetAlgorithm("fedavg");
        }
        else
        {
            cell.SetQuantizer("ns3::OptimalDpQuantizer[Epsilon=0.01]");
        }
        if (number == 2)
        {
            cell.SetDeviceAttribute("ReportDistortion", BooleanValue(true));
        }
    };
    MakeHierarchy(4, 3, 3);
    Simulator::Run();
    const std::string text = Finish();
    const std::string cells = text.substr(0, text.find("privacy of the edges:"));
    EXPECT_EQ(Count(cells, "privacy: Cells 0, 3: differential privacy, epsilon 0.01 a"), 1U)
        << text;
    EXPECT_EQ(Count(cells, "privacy: Cell 1: no claim: "), 1U) << text;
    EXPECT_EQ(Count(cells, "privacy: Cell 2: no claim: "), 1U) << text;
    EXPECT_EQ(Count(cells, "claim"), 2U) << text;
    EXPECT_EQ(Count(cells, "privacy: Cell 2: sent without protection: the distortion"), 1U) << text;
}

TEST_F(Hierarchy, OneRankSaysWhatIsPrivateInTheCellsOfAllRanks)
{
    if (FederatedRanks::HasMpi())
    {
        GTEST_SKIP() << "this build has MPI, whose engine cannot be given back";
    }
    const auto texts = RunOnTwoRanks(
        [this]()
        {
            m_cloudRank = 7; // none of both
            m_elsewhere =
                FederatedRanks::GetRank() == 0 ? std::set<uint32_t>{0, 2} : std::set<uint32_t>{1};
            m_setUpCell = [](FederatedHelper& cell, uint32_t number)
            { cell.SetAlgorithm(number == 2 ? "sq" : "fedavg"); };
            MakeHierarchy(3, 3, 3);
            Simulator::Run();
            testing::internal::CaptureStderr();
            (void)m_cloud->Finish();
            return testing::internal::GetCapturedStderr();
        });
    const std::string title = "privacy of the devices of all cells:\n";
    EXPECT_EQ(Count(texts[0], title), 0U) << texts[0];
    EXPECT_EQ(Count(texts[1], title), 1U) << texts[1];
    EXPECT_EQ(Count(texts[1], "privacy: Cells 0 to 1: no claim: "), 1U) << texts[1];
    EXPECT_EQ(Count(texts[1], "privacy: Cell 2: no claim: "), 1U) << texts[1];
}

TEST_F(Hierarchy, DevicesOfAllCellsThatDeclinedAreCounted)
{
    m_algorithm = "alg1";
    m_weights = "default";
    m_setUpCell = [](FederatedHelper& cell, uint32_t number)
    {
        cell.SetQuantizer("ns3::OptimalDpQuantizer[Epsilon=0.01]");
        if (number == 1)
        {
            const double update = 0.01 * static_cast<double>(148); // its coordinates
            cell.SetDeviceAttribute("PrivacyBudget", DoubleValue(2.5 * update));
        }
    };
    MakeHierarchy(2, 3, 3);
    Simulator::Run();
    const std::string text = Finish();
    EXPECT_EQ(Count(text,
                    "privacy: 3 of 6 devices declined 6 grants, their "
                    "budget being spent\n"),
              1U)
        << text;
}

TEST_F(Hierarchy, AnEnrolledEdgeHasTheSamplesOfItsCell)
{
    m_isEnrolled = true;
    m_moreDevices = 4;
    MakeHierarchy(2, 2, 6);
    m_cloud->AssignStreams(1000); // which enrolls all edges again
    Simulator::Run();
    ASSERT_EQ(m_cloudRounds.size(), 4U);
    for (const RoundRecord& round : m_cloudRounds)
    {
        ASSERT_EQ(round.links.size(), 2U);
        EXPECT_NEAR(round.links[0].weight, 0.25, 1e-6);
        EXPECT_NEAR(round.links[1].weight, 0.75, 1e-6);
    }
}

using HierarchyDeathTest = Hierarchy;

TEST_F(HierarchyDeathTest, AnEnrolledEdgeNeedsItsCellInTheSameProcess)
{
    EXPECT_DEATH(
        {
            m_isEnrolled = true;
            MakeHierarchy(2, 2, 2);
            m_cloud->SetEdge(1);
        },
        "device 1 is enrolled.*SetEnrolled\\(false\\)");
}

TEST_F(HierarchyDeathTest, ACellIsNotWaitedForBecauseItNeverFinishesByItself)
{
    const std::string sentence = "OnRequest.*never finishes by itself.*federation of the edges";
    EXPECT_DEATH(
        {
            MakeHierarchy(1, 2, 2);
            m_cells[0]->federation.StopWhenFinished();
        },
        sentence);
    EXPECT_DEATH(
        {
            MakeHierarchy(1, 2, 2);
            std::string error;
            (void)m_cells[0]->federation.EnableOutput("", error);
        },
        sentence);
    EXPECT_DEATH(
        {
            MakeHierarchy(1, 2, 2);
            const auto center = m_cells[0]->federation.GetCenter();
            center->SetAttribute("OnRequest", BooleanValue(false));
            m_cells[0]->federation.StopWhenFinished();
            center->SetAttribute("OnRequest", BooleanValue(true));
            Simulator::Stop(Seconds(5));
            Simulator::Run();
        },
        sentence);
}

TEST_F(HierarchyDeathTest, ACellThatBeginsRoundsByItselfIsNoCellOfAnEdge)
{
    EXPECT_DEATH(
        {
            MakeHierarchy(1, 2, 2);
            m_cells[0]->federation.GetCenter()->SetAttribute("OnRequest", BooleanValue(false));
            m_cloud->SetEdge(0, m_cells[0]->federation, 1);
        },
        "begins rounds by itself: set its attribute OnRequest");
    EXPECT_DEATH(
        {
            MakeHierarchy(1, 2, 2);
            m_cells[0]->federation.GetCenter()->SetAttribute("OnRequest", BooleanValue(false));
            (void)m_cells[0]->federation.GetCenter()->RunRounds({});
        },
        "RunRounds needs OnRequest");
    EXPECT_DEATH(
        {
            MakeHierarchy(2, 2, 2);
            m_cloud->SetEdge(0, m_cells[1]->federation, 1);
        },
        "on another node than the edge");
}
