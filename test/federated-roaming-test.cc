// SPDX-License-Identifier: GPL-2.0-only

#include "ns3/federated-roaming.h"

#include "schedule-call.h"

#include "ns3/boolean.h"
#include "ns3/constant-position-mobility-model.h"
#include "ns3/device-registry.h"
#include "ns3/double.h"
#include "ns3/federated-helper.h"
#include "ns3/federated-port.h"
#include "ns3/federated-streams.h"
#include "ns3/inet-socket-address.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-address-helper.h"
#include "ns3/ipv4.h"
#include "ns3/local-training.h"
#include "ns3/message-crypto.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/simple-net-device-helper.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

using namespace ns3;

namespace
{

const uint32_t DEVICES = 3;         // of a cell, without the walker
const uint32_t WALKER = DEVICES;    // its number in each cell
const uint32_t SHARE = 2 * DEVICES; // its part of the data
const double APART = 100;           // meters from one access point to the other

/** Trains, and notes the numbers that keep the coins of updates apart. */
class NotingTraining : public federated::LocalTraining
{
  public:
    /** @param task What is learned. @param serials Gets the numbers. */
    NotingTraining(const Ptr<LearningTask>& task, std::vector<uint64_t>& serials)
        : LocalTraining(task, SHARE),
          m_serials(serials)
    {
    }

    void Begin(std::shared_ptr<LocalUpdate> update,
               const federated::TrainingTerms& terms,
               Done done) override
    {
        EXPECT_EQ(update->device, SHARE);
        m_serials.push_back(update->serial);
        LocalTraining::Begin(update, terms, std::move(done));
    }

  private:
    std::vector<uint64_t>& m_serials;
};

} // namespace

/** @ingroup federated-tests Two cells on ideal links, and a device that walks between them. */
class Roaming : public testing::Test
{
  protected:
    /** A cell. */
    struct Cell
    {
        FederatedHelper federation;       // of its devices
        Ptr<Node> center;                 // at the access point
        std::vector<RoundRecord> records; // of rounds that ended
    };

    void SetUp() override
    {
        Simulator::Destroy();
        RngSeedManager::SetSeed(1);
        RngSeedManager::SetRun(1);
    }

    void TearDown() override
    {
        m_applications.clear();
        m_roaming = nullptr;
        m_cells.clear();
        Simulator::Destroy();
    }

    /** Put a node somewhere. */
    static void Place(const Ptr<Node>& node, double x)
    {
        auto place = node->GetObject<ConstantPositionMobilityModel>();
        if (!place)
        {
            place = CreateObject<ConstantPositionMobilityModel>();
            node->AggregateObject(place);
        }
        place->SetPosition(Vector(x, 0, 0));
    }

    /** Let the walker be somewhere later. */
    void Walk(const Time& when, double x)
    {
        const Ptr<Node> walker = m_walker;
        ScheduleCall(when, [walker, x]() { Place(walker, x); });
    }

    /** Let the walker be in reach of an access point, or not, later. */
    void SetReach(const Time& when, uint32_t cell, bool isInReach)
    {
        const auto ipv4 = m_walker->GetObject<Ipv4>();
        ScheduleCall(when,
                     [ipv4, cell, isInReach]()
                     {
                         const uint32_t interface = 1 + cell; // after the loopback
                         isInReach ? ipv4->SetUp(interface) : ipv4->SetDown(interface);
                     });
    }

    /** Make two cells, and the applications of a walker, which is at 10 m. */
    void Make()
    {
        m_task = CreateObject<LearningTask>();
        m_task->SetGroups({2 * DEVICES + 1});
        m_task->AssignStreams(FederatedStreams::FEDERATION);
        m_walker = CreateObject<Node>();
        Place(m_walker, 10);
        InternetStackHelper().Install(m_walker);
        m_roaming = CreateObject<FederatedRoaming>();
        m_roaming->TraceConnectWithoutContext("Moved", MakeCallback(&Roaming::NoteMove, this));
        for (uint32_t c = 0; c < 2; ++c)
        {
            MakeCell(c);
        }
    }

    /** Make a cell. */
    void MakeCell(uint32_t number)
    {
        m_cells.push_back(std::make_unique<Cell>());
        Cell& cell = *m_cells.back();
        cell.center = CreateObject<Node>();
        Place(cell.center, APART * number);
        const NodeContainer devices(DEVICES);
        InternetStackHelper().Install(NodeContainer(cell.center, devices));
        SimpleNetDeviceHelper links;
        links.SetChannel("ns3::SimpleChannel", "Delay", TimeValue(MicroSeconds(10)));
        const std::string network = "10." + std::to_string(number + 1) + ".0.0";
        const auto ports = Ipv4AddressHelper(network.c_str(), "255.255.255.0")
                               .Assign(links.Install(
                                   NodeContainer(NodeContainer(cell.center, devices), m_walker)));

        FederatedHelper& federation = cell.federation;
        federation.ShareTask(m_task, number * DEVICES, number);
        federation.AddGroup(devices, 2);
        federation.SetData(FederatedData::MakeSynthetic(1, 420, 50, 4, 4, 4));
        federation.SetTaskAttribute("Model", StringValue("ns3::LogisticModel"));
        federation.SetTaskAttribute("Threads", UintegerValue(1));
        federation.SetProtocol(m_protocol);
        federation.SetEncryptionKey(m_key);
        federation.SetCenterAttribute("Participants", UintegerValue(m_participants));
        federation.SetCenterAttribute("Rounds", UintegerValue(100000));
        federation.SetCenterAttribute("EvaluationInterval", UintegerValue(0));
        federation.SetCenterAttribute("Deadline", StringValue("1s"));
        federation.SetCenterAttribute("VisitorTimeout", TimeValue(m_visitorTimeout));
        if (m_mostDevices[number] > 0)
        {
            federation.SetCenterAttribute("MaxDevices", UintegerValue(m_mostDevices[number]));
        }
        federation.SetDeviceAttribute("TimePerSample",
                                      StringValue("ns3::ConstantRandomVariable[Constant=" +
                                                  std::to_string(m_timePerSample) + "]"));
        federation.Install(cell.center,
                           InetSocketAddress(ports.GetAddress(0), FederatedPort::CENTER));
        federation.GetCenter()->TraceConnectWithoutContext(
            "RoundEnd", MakeBoundCallback(&Roaming::Keep, &cell.records));
        m_applications.push_back(
            federation.AddVisitor(m_walker, ports.GetAddress(DEVICES + 1), 0, SHARE));
        m_roaming->AddCell(cell.center);
    }

    /** Keep a record. */
    static void Keep(std::vector<RoundRecord>* records, const RoundRecord& record)
    {
        records->push_back(record);
    }

    /** Trace sink of Moved. */
    void NoteMove(uint32_t walker, uint32_t from, uint32_t to)
    {
        EXPECT_EQ(walker, 0U);
        EXPECT_EQ(m_roaming->GetCell(walker), to);
        m_moves.emplace_back(from, to);
    }

    /** Trace sink that counts. */
    static void CountRounds(uint32_t* count, uint32_t /* round */, uint32_t /* device */)
    {
        ++*count;
    }

    /** Run for a while. */
    void Run(const Time& until)
    {
        m_roaming->AddWalker(m_walker, m_applications);
        Simulator::Stop(until);
        Simulator::Run();
    }

    /** @return the outcomes of the walker in the rounds of a cell within a time, that it was in. */
    std::vector<ParticipantState> GetStates(uint32_t cell, double from, double to) const
    {
        std::vector<ParticipantState> states;
        for (const RoundRecord& record : m_cells[cell]->records)
        {
            for (const LinkRecord& link : record.links)
            {
                if (link.device == WALKER && record.start >= Seconds(from) &&
                    record.end <= Seconds(to))
                {
                    states.push_back(link.state);
                }
            }
        }
        return states;
    }

    /** @return in how many rounds of a cell within a time the walker had that outcome. */
    std::ptrdiff_t Count(ParticipantState state, uint32_t cell, double from = 0, double to = 1e6)
    {
        const auto states = GetStates(cell, from, to);
        return std::count(states.begin(), states.end(), state);
    }

    std::string m_protocol = "udp";
    std::string m_key;
    uint32_t m_participants = DEVICES + 1;
    Time m_visitorTimeout = Seconds(10);
    double m_timePerSample = 1e-3;      // a round takes .1 s
    uint32_t m_mostDevices[2] = {0, 0}; // MaxDevices; 0: as the helper sets it
    Ptr<LearningTask> m_task;
    Ptr<Node> m_walker;
    Ptr<FederatedRoaming> m_roaming;
    std::vector<std::unique_ptr<Cell>> m_cells;
    std::vector<Ptr<FederatedDevice>> m_applications;
    std::vector<std::pair<uint32_t, uint32_t>> m_moves;
};

TEST_F(Roaming, AWalkerTakesPartWhereItIsAndHasOneLedger)
{
    const std::string keys[] = {"", "", federated::MessageCrypto::Make() ? "a key" : ""};
    const std::string protocols[] = {"udp", "tcp", "udp"};
    for (uint32_t variant = 0; variant < 3; ++variant)
    {
        TearDown();
        m_moves.clear();
        m_protocol = protocols[variant];
        m_key = keys[variant];
        Make();
        Walk(Seconds(3.1), 90);
        Walk(Seconds(6.1), 20);
        Run(Seconds(9.2));
        EXPECT_EQ(m_moves, (std::vector<std::pair<uint32_t, uint32_t>>{{0, 1}, {1, 0}}));
        EXPECT_EQ(m_roaming->GetMoves(), 2U);
        // In each cell all the time that it was there, and never while it was not.
        for (const auto& [cell, from, to, elsewhere] : {std::tuple(0U, 0.5, 3.0, false),
                                                        std::tuple(0U, 4.2, 6.4, true),
                                                        std::tuple(0U, 7.2, 9.0, false),
                                                        std::tuple(1U, 0.0, 3.4, true),
                                                        std::tuple(1U, 4.2, 6.4, false),
                                                        std::tuple(1U, 7.2, 9.0, true)})
        {
            const auto states = GetStates(cell, from, to);
            EXPECT_EQ(states.empty(), elsewhere) << variant << ' ' << cell << ' ' << from;
            EXPECT_EQ(std::count(states.begin(), states.end(), PARTICIPANT_COMPLETE),
                      static_cast<std::ptrdiff_t>(states.size()))
                << variant << ' ' << cell << ' ' << from;
        }
        // One ledger for the answers in both. The last one may have been sent in a round that did
        // not end, and one in each round that it left.
        const auto answers = m_applications[0]->GetPrivacyLedger().GetAnswers();
        EXPECT_EQ(m_applications[1]->GetPrivacyLedger().GetAnswers(), answers);
        const auto complete = Count(PARTICIPANT_COMPLETE, 0) + Count(PARTICIPANT_COMPLETE, 1);
        EXPECT_GT(Count(PARTICIPANT_COMPLETE, 0), 10);
        EXPECT_GT(Count(PARTICIPANT_COMPLETE, 1), 5);
        EXPECT_GE(answers, complete);
        EXPECT_LE(answers, complete + 3);
        for (const auto& cell : m_cells)
        {
            EXPECT_EQ(cell->federation.GetCenter()->GetDropped(DROP_FOREIGN), 0U) << variant;
            EXPECT_EQ(cell->federation.GetCenter()->GetDropped(DROP_INVALID), 0U) << variant;
            EXPECT_GE(cell->federation.GetTraceWriter()->GetMostAnswers(), 10U);
        }
    }
}

TEST_F(Roaming, TheSummaryOfACellCountsAllAnswersOfItsWalkers)
{
    Make();
    m_cells[0]->federation.GetCenter()->SetAttribute("Rounds", UintegerValue(5));
    Walk(Seconds(1.1), 90);
    Run(Seconds(6));
    const uint32_t answers = m_applications[0]->GetPrivacyLedger().GetAnswers();
    EXPECT_GT(answers, 15U);
    for (const auto& cell : m_cells)
    {
        std::ostringstream text;
        cell->federation.PrintPrivacy(text);
        // The devices of the second cell took part all the time.
        const auto most = std::max(answers, cell->federation.GetTraceWriter()->GetMostAnswers());
        EXPECT_NE(text.str().find("most answers of a device: " + std::to_string(most)),
                  std::string::npos)
            << answers << ": " << text.str();
    }
}

TEST_F(Roaming, NoUpdateOfAWalkerSharesCoinsWithAnother)
{
    // The second cell begins later: the walker comes to rounds whose numbers it has used.
    Make();
    m_cells[1]->federation.GetCenter()->SetStartTime(Seconds(1.2));
    std::vector<uint64_t> serials;
    for (const auto& application : m_applications)
    {
        application->SetTraining(std::make_unique<NotingTraining>(m_task, serials));
    }
    for (uint32_t i = 0; i < 8; ++i)
    {
        Walk(Seconds(1.3 * (i + 1)), i % 2 == 0 ? 90 : 10);
    }
    Run(Seconds(12));
    EXPECT_EQ(m_roaming->GetMoves(), 8U);
    EXPECT_GT(serials.size(), 40U);
    EXPECT_EQ(std::set<uint64_t>(serials.begin(), serials.end()).size(), serials.size());
    std::set<uint32_t> rounds[2];
    for (uint32_t c = 0; c < 2; ++c)
    {
        for (const RoundRecord& record : m_cells[c]->records)
        {
            for (const LinkRecord& link : record.links)
            {
                if (link.device == WALKER)
                {
                    rounds[c].insert(record.round);
                }
            }
        }
    }
    std::set<uint32_t> both;
    std::set_intersection(rounds[0].begin(),
                          rounds[0].end(),
                          rounds[1].begin(),
                          rounds[1].end(),
                          std::inserter(both, both.begin()));
    EXPECT_GT(both.size(), 3U);
}

TEST_F(Roaming, ARoundThatAWalkerLeavesRecordsThatItLeft)
{
    m_timePerSample = 7e-3; // a round takes .7 s
    Make();
    uint32_t canceled = 0;
    m_applications[0]->TraceConnectWithoutContext(
        "TrainingCanceled", MakeBoundCallback(&Roaming::CountRounds, &canceled));
    Walk(Seconds(2.1), 90); // it looks at 2.5 s
    Run(Seconds(5));
    EXPECT_EQ(canceled, 1U);
    EXPECT_EQ(Count(PARTICIPANT_LEFT, 0), 1);
    EXPECT_GE(Count(PARTICIPANT_COMPLETE, 0), 2);
    EXPECT_GE(Count(PARTICIPANT_COMPLETE, 1), 1);
    EXPECT_EQ(m_applications[0]->GetPrivacyLedger().GetAnswers(),
              Count(PARTICIPANT_COMPLETE, 0) + Count(PARTICIPANT_COMPLETE, 1));
    for (const RoundRecord& record : m_cells[0]->records)
    {
        EXPECT_GE(record.received, DEVICES); // of the others
    }
}

TEST_F(Roaming, WhereACellIsFullAWalkerTakesNoPartUntilItWalksBack)
{
    m_mostDevices[1] = DEVICES;
    Make();
    Walk(Seconds(2.1), 90);
    Walk(Seconds(5.1), 10);
    ScheduleCall(Seconds(5), [this]() { EXPECT_FALSE(m_applications[1]->HasJoined()); });
    Run(Seconds(10));
    EXPECT_EQ(m_moves, (std::vector<std::pair<uint32_t, uint32_t>>{{0, 1}, {1, 0}}));
    EXPECT_TRUE(GetStates(1, 0, 10).empty());
    EXPECT_EQ(m_cells[1]->federation.GetCenter()->GetJoined(), DEVICES);
    EXPECT_GT(m_cells[1]->federation.GetCenter()->GetDropped(DROP_UNKNOWN), 3U);
    EXPECT_TRUE(m_applications[0]->HasJoined());
    EXPECT_GT(Count(PARTICIPANT_COMPLETE, 0, 7.5, 10), 5);
}

TEST_F(Roaming, WhereACenterIsAwayAWalkerAsksUntilItComesBackOrAnotherIsNearer)
{
    Make();
    m_cells[1]->federation.GetCenter()->SetStopTime(Seconds(1));
    Walk(Seconds(2.1), 90);
    Walk(Seconds(5.1), 10);
    ScheduleCall(Seconds(5), [this]() { EXPECT_FALSE(m_applications[1]->HasJoined()); });
    Run(Seconds(10));
    EXPECT_EQ(m_roaming->GetMoves(), 2U);
    EXPECT_TRUE(m_applications[0]->HasJoined());
    EXPECT_GT(Count(PARTICIPANT_COMPLETE, 0, 7.5, 10), 5);
    for (const RoundRecord& record : m_cells[0]->records)
    {
        EXPECT_GE(record.received, DEVICES); // the others go on
    }
}

TEST_F(Roaming, AWalkerThatGetsNoAnswerToItsGoodbyeGoesOnWithoutIt)
{
    Make();
    m_cells[0]->federation.GetCenter()->SetStopTime(Seconds(1));
    Walk(Seconds(2.1), 90);
    ScheduleCall(Seconds(2.6),
                 [this]() { EXPECT_EQ(m_roaming->GetCell(0), FederatedRoaming::NOWHERE); });
    Run(Seconds(8));
    EXPECT_EQ(m_moves, (std::vector<std::pair<uint32_t, uint32_t>>{{0, 1}}));
    EXPECT_GT(Count(PARTICIPANT_COMPLETE, 1, 5, 8), 5);
}

TEST_F(Roaming, ACellForgetsAWalkerThatGotOutOfReachAndTheNextOneHasItSoon)
{
    for (const char* protocol : {"udp", "tcp"})
    {
        TearDown();
        m_moves.clear();
        m_protocol = protocol;
        Make();
        SetReach(Seconds(3.1), 0, false);
        Walk(Seconds(3.1), 90); // it looks at 3.5 s
        Run(Seconds(18));
        EXPECT_EQ(m_moves, (std::vector<std::pair<uint32_t, uint32_t>>{{0, 1}})) << protocol;
        EXPECT_GT(Count(PARTICIPANT_COMPLETE, 1, 3.5, 6), 5) << protocol;
        // VisitorTimeout is 10 s; a round may begin before that.
        const auto away = GetStates(0, 3.1, 14.2);
        EXPECT_GT(away.size(), 5U) << protocol;
        EXPECT_EQ(std::count(away.begin(), away.end(), PARTICIPANT_COMPLETE), 0) << protocol;
        EXPECT_TRUE(GetStates(0, 13.2, 18).empty()) << protocol;
        for (const RoundRecord& record : m_cells[0]->records)
        {
            EXPECT_GE(record.received, DEVICES) << protocol; // the others go on
            if (record.start > Seconds(1))                   // when all have joined
            {
                EXPECT_EQ(record.joined, record.start < Seconds(13.1) ? DEVICES + 1 : DEVICES)
                    << protocol << ' ' << record.start.As(Time::S);
            }
        }
    }
}

TEST_F(Roaming, AWalkerThatWasOutOfReachForLongTakesPartAgainWhenItIsBack)
{
    Make();
    SetReach(Seconds(3.1), 0, false);
    SetReach(Seconds(20.1), 0, true);
    Run(Seconds(30));
    EXPECT_TRUE(m_moves.empty());
    EXPECT_TRUE(GetStates(0, 14.2, 20).empty());
    EXPECT_GT(Count(PARTICIPANT_COMPLETE, 0, 25, 30), 5);
    EXPECT_EQ(m_cells[0]->records.back().joined, DEVICES + 1);
}

TEST_F(Roaming, AWalkerThatIsSeldomSelectedIsNotForgotten)
{
    for (const char* protocol : {"udp", "tcp"})
    {
        TearDown();
        m_protocol = protocol;
        m_participants = 1;     // of four
        m_timePerSample = 7e-3; // a round takes .7 s
        m_visitorTimeout = Seconds(1);
        Make();
        Run(Seconds(20));
        Time last; // when it was selected
        Time longest;
        for (const RoundRecord& record : m_cells[0]->records)
        {
            EXPECT_TRUE(record.start < Seconds(1) || record.joined == DEVICES + 1) << protocol;
            if (record.links.front().device == WALKER)
            {
                longest = std::max(longest, record.start - last);
                last = record.end;
            }
        }
        EXPECT_GT(longest, Seconds(2)) << protocol;
        EXPECT_GT(last, Seconds(10)) << protocol;
    }
}

TEST_F(Roaming, AWalkerThatTurnsBackWhileItLeavesJoinsTheSameCellAgain)
{
    Make();
    m_cells[0]->federation.GetCenter()->SetStopTime(Seconds(1)); // so that leaving takes long
    Walk(Seconds(2.1), 90);
    Walk(Seconds(2.8), 10);
    Run(Seconds(8));
    EXPECT_TRUE(m_moves.empty());
    EXPECT_EQ(m_roaming->GetCell(0), 0U);
    EXPECT_TRUE(m_applications[0]->IsRunning());
    EXPECT_FALSE(m_applications[1]->GetNode());
}

TEST_F(Roaming, AWalkerOnTheBorderStaysWhereItIs)
{
    Make();
    m_roaming->SetAttribute("Hysteresis", DoubleValue(10));
    for (uint32_t i = 0; i < 10; ++i)
    {
        Walk(Seconds(1 + i), i % 2 == 0 ? 54 : 46); // 8 m nearer to one or the other
    }
    Walk(Seconds(11), 56); // 12 m
    Run(Seconds(12.2));
    EXPECT_EQ(m_roaming->GetMoves(), 1U);
    EXPECT_EQ(m_roaming->GetCell(0), 1U);
}

TEST_F(Roaming, ItLooksAsOftenAsItIsTold)
{
    Make();
    m_roaming->SetAttribute("Interval", TimeValue(Seconds(4)));
    Walk(Seconds(1), 90);
    ScheduleCall(Seconds(3.9), [this]() { EXPECT_EQ(m_roaming->GetCell(0), 0U); });
    Run(Seconds(4.5));
    EXPECT_EQ(m_roaming->GetCell(0), 1U);
}

TEST_F(Roaming, AWalkerThatStoppedByItselfIsNotRevived)
{
    Make();
    ScheduleCall(Seconds(2), [this]() { m_applications[0]->Leave(); });
    Walk(Seconds(3), 90);
    Run(Seconds(5));
    EXPECT_EQ(m_roaming->GetMoves(), 0U);
    EXPECT_FALSE(m_applications[0]->IsRunning());
    EXPECT_FALSE(m_applications[1]->GetNode());
}

TEST_F(Roaming, AWalkerThatWaitsForTheAnswerToItsOwnLeaveIsNotRevivedEither)
{
    Make();
    SetReach(Seconds(2.3), 0, false);
    ScheduleCall(Seconds(2.4), [this]() { m_applications[0]->Leave(); });
    Walk(Seconds(2.4), 90); // it looks at 2.5 s
    ScheduleCall(Seconds(2.6),
                 [this]()
                 {
                     EXPECT_TRUE(m_applications[0]->IsLeaving());
                     EXPECT_EQ(m_roaming->GetCell(0), 0U);
                 });
    Run(Seconds(6));
    EXPECT_EQ(m_roaming->GetMoves(), 0U);
    EXPECT_FALSE(m_applications[0]->IsLeaving());
    EXPECT_FALSE(m_applications[0]->IsRunning());
    EXPECT_FALSE(m_applications[1]->GetNode());
}

TEST_F(Roaming, AWalkerMayHaveCellsThatItDoesNotVisit)
{
    Make();
    m_applications[1] = nullptr;
    Walk(Seconds(1), 90);
    Run(Seconds(3));
    EXPECT_EQ(m_roaming->GetCell(0), 0U);
    EXPECT_EQ(m_roaming->GetMoves(), 0U);
    EXPECT_GT(Count(PARTICIPANT_COMPLETE, 0, 1, 3), 5);
}

TEST_F(Roaming, WalkersAreInTheTablesOfTheCellsAfterItsDevices)
{
    Make();
    std::string error;
    const std::string prefix = testing::TempDir() + "federated-roaming";
    ASSERT_TRUE(m_cells[0]->federation.EnableTraces(prefix, error)) << error;
    Walk(Seconds(1), 90);
    Run(Seconds(2.5));
    std::ifstream devices(prefix + "-devices.csv");
    std::string text{std::istreambuf_iterator<char>(devices), {}};
    EXPECT_NE(text.find("\n3,0,2,60,10,0,0\n"), std::string::npos) << text;
    std::ifstream links(prefix + "-links.csv");
    text.assign(std::istreambuf_iterator<char>(links), {});
    EXPECT_NE(text.find(",3,0,2,,"), std::string::npos) << text; // in the round after it joined
    for (const char* table : {"devices.csv", "links.csv", "rounds.csv", "run.json"})
    {
        std::remove((prefix + "-" + table).c_str());
    }
}

TEST_F(Roaming, MistakesOfAScriptGetASentence)
{
    Make();
    const auto roaming = CreateObject<FederatedRoaming>();
    EXPECT_DEATH(roaming->AddCell(CreateObject<Node>()), "has no mobility model");
    EXPECT_DEATH(roaming->AddWalker(CreateObject<Node>(), {}), "has no mobility model");
    EXPECT_DEATH(roaming->AddWalker(m_walker, {}), "a walker visits no cell");
    EXPECT_DEATH(m_roaming->AddWalker(m_walker, {m_applications[0]}),
                 "a walker has 1 applications, but there are 2 cells");
    EXPECT_DEATH(m_roaming->AddWalker(m_walker, {m_applications[0], m_applications[0]}),
                 "the application for cell 0 is also that of another cell or walker");
    const auto& devices = m_cells[0]->federation.GetDevices();
    EXPECT_DEATH(m_roaming->AddWalker(m_walker, {devices[0], nullptr}), "is on node . already");
    m_applications[1]->SetAttribute("Share", UintegerValue(1));
    EXPECT_DEATH(m_roaming->AddWalker(m_walker, m_applications), "not the same Task and Share");
    m_applications[1]->SetAttribute("Share", UintegerValue(SHARE));
    m_applications[1]->SetAttribute("Enrolled", BooleanValue(true));
    EXPECT_DEATH(m_roaming->AddWalker(m_walker, m_applications), "enrolled in cell 1");
    m_applications[1]->SetAttribute("Enrolled", BooleanValue(false));
    FederatedHelper& federation = m_cells[0]->federation;
    EXPECT_DEATH(federation.AddVisitor(m_walker, Ipv4Address("10.1.0.9"), 1, SHARE),
                 "a visitor is of group 1, but there are only 1");
    EXPECT_DEATH(federation.AddVisitor(m_walker, Ipv4Address("10.1.0.9"), 0, SHARE + 1),
                 "the part 7 of the data, which is split among 7 devices");
    // A node of another process.
    const auto far = CreateObject<Node>(7);
    Place(far, 0);
    EXPECT_DEATH(m_roaming->AddWalker(far, m_applications), "devices walk only between cells of");
    m_roaming->AddWalker(m_walker, m_applications);
    const auto second = CreateObject<Node>();
    Place(second, 10);
    EXPECT_DEATH(m_roaming->AddWalker(second, {nullptr, m_applications[1]}),
                 "the application for cell 1 is also that of another cell or walker");
    EXPECT_DEATH(m_roaming->AddCell(m_walker), "AddCell comes after AddWalker");
}
