// SPDX-License-Identifier: GPL-2.0-only

#include "ns3/boolean.h"
#include "ns3/federated-trace-writer.h"

#include "federated-test-folder.h"
#include "federation.h"
#include "file-size-limit.h"

#include "ns3/double.h"
#include "ns3/federated-number.h"
#include "ns3/privacy-conversion.h"
#include "ns3/randomized-response-quantizer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>
#include <string>
#include <vector>

using namespace ns3;

namespace
{

/** A table of a file: its rows by the names of the columns. */
using Row = std::map<std::string, std::string>;
using Table = std::vector<Row>;

/** @return the table of a text, with a check that all rows are whole. */
Table
ReadTable(const std::string& text)
{
    Table table;
    EXPECT_FALSE(text.empty());
    EXPECT_EQ(text.back(), '\n');
    std::istringstream stream(text);
    std::string row;
    std::getline(stream, row);
    const auto names = FederatedNumber::Split(row);
    while (std::getline(stream, row))
    {
        const auto cells = FederatedNumber::Split(row);
        EXPECT_EQ(cells.size(), names.size()) << row;
        table.emplace_back();
        for (std::size_t i = 0; i < std::min(cells.size(), names.size()); ++i)
        {
            table.back()[names[i]] = cells[i];
        }
    }
    return table;
}

/** Check some of the cells of a row. */
void
ExpectCells(const Row& row, const Row& expected)
{
    for (const auto& [name, cell] : expected)
    {
        EXPECT_EQ(row.at(name), cell) << name;
    }
}

/** @return a made-up distance. */
double
GetDistance(uint32_t device)
{
    return 10.5 + device;
}

} // namespace

/** @ingroup federated-tests A federation whose tables go to a folder of their own. */
class FederatedTraceWriters : public Federation
{
  public:
    /** The folder of a test. */
    class Folder : public FederatedTestFolder
    {
      public:
        using FederatedTestFolder::CountFiles;
        using FederatedTestFolder::GetFolder;
        using FederatedTestFolder::Read;
        using FederatedTestFolder::Write;

      private:
        void TestBody() override
        {
        }
    };

    /** Build a federation and watch it. */
    void BuildAndWatch(uint32_t devices)
    {
        Build(devices);
        center->SetAttribute("Rounds", UintegerValue(2));
        writer = Create<FederatedTraceWriter>();
        writer->Watch(center);
        for (const auto& device : apps)
        {
            writer->Watch(device);
        }
    }

    /** Write tables from now on. */
    void Open(bool writeLinks = true)
    {
        std::string error;
        ASSERT_TRUE(writer->Open(folder.GetFolder() + "/t", writeLinks, error)) << error;
    }

    /** Count the rows that others see when a round begins. */
    void LookAtTable(uint32_t round, const std::vector<uint32_t>&)
    {
        EXPECT_EQ(ReadTable(folder.Read("t-rounds.csv")).size(), round - 1);
        ++seen;
    }

    Folder folder;
    uint32_t seen = 0; // calls of LookAtTable
    Ptr<FederatedTraceWriter> writer;
};

TEST_F(FederatedTraceWriters, HaveTheColumnsOfTheContract)
{
    BuildAndWatch(2);
    Open();
    // The header rows are there before anything happens.
    EXPECT_EQ(folder.Read("t-rounds.csv"),
              "round,time_s,train_loss,test_accuracy,selected,received,bit_budget,granted_bits,"
              "delivered_bits,lost_fraction,mean_snr_db,mean_sigma,same_cell_epsilon,skipped,"
              "untouched_fraction,joined,dropped,uplink_budget_s,mean_rate_bps,"
              "true_epsilon,zcdp_epsilon,sampled_epsilon,declined,start_s,clamped_fraction,"
              "mean_burst,repair_s,awake_fraction\n");
    EXPECT_EQ(folder.Read("t-links.csv"),
              "round,device,group,bits,snr_db,sigma,sent_fragments,received_fragments,weight,"
              "distance_m,uplink_s,state,phy_rate_bps,frames_ok,frames_failed,energy_j\n");
    EXPECT_EQ(folder.CountFiles(), 2);
}

TEST_F(FederatedTraceWriters, WriteARowARoundAndARowALink)
{
    BuildAndWatch(2);
    center->SetAttribute("EvaluationInterval", UintegerValue(2));
    Open();
    Run();
    const Table table = ReadTable(folder.Read("t-rounds.csv"));
    ASSERT_EQ(table.size(), 2U);
    EXPECT_EQ(table[0].at("round"), "1");
    EXPECT_EQ(table[0].at("test_accuracy"), "") << "not evaluated";
    EXPECT_EQ(table[0].at("train_loss"), "");
    EXPECT_NE(table[1].at("test_accuracy"), "");
    ExpectCells(table[1],
                {{"selected", "2"},
                 {"received", "2"},
                 {"bit_budget", "1000"},
                 {"granted_bits", "64"},
                 {"delivered_bits", "64"},
                 {"lost_fraction", "0"},
                 {"mean_snr_db", ""}, // nobody measures it
                 {"mean_sigma", "0"},
                 {"same_cell_epsilon", ""}, // floats have none
                 {"true_epsilon", ""},
                 {"zcdp_epsilon", ""},
                 {"sampled_epsilon", ""},
                 {"declined", "0"},
                 {"mean_burst", ""}, // nothing was lost
                 {"repair_s", "0"},
                 {"skipped", "0"},
                 {"untouched_fraction", "0"},
                 {"joined", "2"}});
    EXPECT_NEAR(std::stod(table[1].at("time_s")), rounds[1].end.GetSeconds(), 1e-8);

    const Table linkTable = ReadTable(folder.Read("t-links.csv"));
    ASSERT_EQ(linkTable.size(), 4U);
    const auto& row = linkTable[3];
    ExpectCells(row,
                {{"round", "2"},
                 {"device", "1"},
                 {"group", "1"},
                 {"bits", "4"},
                 {"snr_db", ""},
                 {"sent_fragments", std::to_string(sent[3].fragments)},
                 {"received_fragments", row.at("sent_fragments")},
                 {"weight", "0.5"},
                 {"distance_m", ""},
                 {"state", "complete"}});
    const Time uplink = rounds[1].links[1].lastReceived - sent[3].firstSent;
    EXPECT_NEAR(std::stod(row.at("uplink_s")), uplink.GetSeconds(), 1e-8);
    EXPECT_GT(uplink, Time(0));
}

TEST_F(FederatedTraceWriters, SayHowMuchTheIntervalClamped)
{
    BuildAndWatch(2);
    Open();
    Run();
    for (const Row& row : ReadTable(folder.Read("t-rounds.csv")))
    {
        EXPECT_EQ(row.at("clamped_fraction"), "") << "floats are not clamped";
    }
    EXPECT_TRUE(std::isnan(writer->GetClampedFraction()));

    BuildAndWatch(2);
    SetForAll("Quantizer", StringValue("ns3::UnbiasedStochasticQuantizer"));
    // All coordinates of the first device are outside, and none of the second.
    apps[0]->SetAttribute("IntervalRule", StringValue("ns3::FixedInterval[Low=-1e-30|High=1e-30]"));
    apps[1]->SetAttribute("IntervalRule", StringValue("ns3::FixedInterval[Low=-9|High=9]"));
    Open();
    Run();
    ASSERT_EQ(sent.size(), 4U);
    EXPECT_GT(sent[0].clampedFraction, 0.9);
    EXPECT_EQ(sent[1].clampedFraction, 0);
    const Table table = ReadTable(folder.Read("t-rounds.csv"));
    ASSERT_EQ(table.size(), 2U);
    EXPECT_NEAR(std::stod(table[0].at("clamped_fraction")), sent[0].clampedFraction / 2, 1e-9);
    EXPECT_EQ(writer->GetClampedFraction(), sent[2].clampedFraction / 2);

    BuildAndWatch(2);
    SetForAll("Quantizer", StringValue("ns3::UnbiasedStochasticQuantizer"));
    SetForDevices("TimePerSample", StringValue("ns3::ConstantRandomVariable[Constant=10]"));
    Open();
    Run();
    for (const Row& row : ReadTable(folder.Read("t-rounds.csv")))
    {
        EXPECT_EQ(row.at("clamped_fraction"), "") << "nobody sent";
    }
}

TEST_F(FederatedTraceWriters, SayWhenTheTargetWasReached)
{
    const auto getResult = [this]()
    {
        std::ostringstream text;
        writer->GetResult().Print(text);
        return text.str();
    };
    BuildAndWatch(2);
    Run();
    EXPECT_EQ(getResult().find("target_s"), std::string::npos) << "there is none";

    BuildAndWatch(2);
    center->SetAttribute("Rounds", UintegerValue(50));
    center->SetAttribute("EvaluationInterval", UintegerValue(3));
    center->SetAttribute("TargetAccuracy", DoubleValue(0.5));
    Run();
    ASSERT_GE(rounds.size(), 3U);
    ASSERT_LT(rounds.size(), 50U);
    EXPECT_EQ(rounds.size() % 3, 0U) << "only evaluated rounds count";
    for (const RoundRecord& round : rounds)
    {
        EXPECT_EQ(round.testAccuracy >= 0.5, round.round == rounds.size());
    }
    std::ostringstream expected;
    expected.precision(10);
    expected << " target_s=" << rounds.back().end.GetSeconds() << "\n";
    EXPECT_NE(getResult().find(expected.str()), std::string::npos) << getResult();

    BuildAndWatch(2);
    center->SetAttribute("TargetAccuracy", DoubleValue(1));
    Run();
    EXPECT_EQ(rounds.size(), 2U);
    EXPECT_NE(getResult().find(" target_s=\n"), std::string::npos) << getResult();

    BuildAndWatch(2);
    center->SetAttribute("TargetAccuracy", DoubleValue(0.5));
    center->SetAttribute("EvaluationInterval", UintegerValue(0));
    EXPECT_DEATH(Run(), "TargetAccuracy is 0.5, but EvaluationInterval is 0");
}

TEST_F(FederatedTraceWriters, TellTheLargestEpsilonsAndWhoDeclined)
{
    BuildAndWatch(2);
    auto quantizer = CreateObject<RandomizedResponseQuantizer>();
    quantizer->SetAttribute("Epsilon", DoubleValue(0.01));
    SetForAll("Quantizer", PointerValue(quantizer));
    SetForDevices("Bits", UintegerValue(1));
    center->SetAttribute("GroupBits", StringValue("1,1"));
    const double update = 0.01 * static_cast<double>(task->GetDimension());
    apps[1]->SetAttribute("PrivacyBudget", DoubleValue(update));
    apps[0]->SetAttribute("Steps", UintegerValue(1)); // 10 of 40 samples
    Open();
    EXPECT_TRUE(std::isnan(writer->GetLargestEpsilon(EPSILON_BASIC))) << "nobody sent anything";
    Run();
    const Table table = ReadTable(folder.Read("t-rounds.csv"));
    ASSERT_EQ(table.size(), 2U);
    for (uint32_t round = 1; round <= 2; ++round)
    {
        const auto& row = table[round - 1];
        const double zcdp =
            PrivacyConversion::ResponsesToEpsilon(round * update / 0.01, 0.01, 1e-5);
        // Device 1 uses all of its samples, but declines in round 2.
        const double sampled = std::max(update, round * PrivacyLedger::Amplify(update, 0.25));
        EXPECT_NEAR(std::stod(row.at("true_epsilon")), round * update, 1e-8);
        EXPECT_NEAR(std::stod(row.at("zcdp_epsilon")), zcdp, 1e-8);
        EXPECT_NEAR(std::stod(row.at("sampled_epsilon")), sampled, 1e-8);
        EXPECT_EQ(row.at("declined"), round == 1 ? "0" : "1");
    }
    const Table linkTable = ReadTable(folder.Read("t-links.csv"));
    ASSERT_EQ(linkTable.size(), 4U);
    EXPECT_EQ(linkTable[3].at("state"), "declined");
    EXPECT_EQ(linkTable[3].at("received_fragments"), "0");
    EXPECT_EQ(writer->GetMostAnswers(), 2U);
    EXPECT_EQ(writer->GetDeclined(), (std::map<uint32_t, uint32_t>{{1, 1}}));
    std::ostringstream line;
    writer->GetResult().Print(line);
    EXPECT_NE(line.str().find(" true_epsilon="), std::string::npos) << line.str();
    EXPECT_NE(line.str().find(" zcdp_epsilon="), std::string::npos) << line.str();
    EXPECT_NE(line.str().find(" sampled_epsilon="), std::string::npos) << line.str();
    EXPECT_NE(line.str().find(" declined=1"), std::string::npos) << line.str();
}

TEST_F(FederatedTraceWriters, JoinWhatWasSentWithWhatCame)
{
    BuildAndWatch(2);
    center->SetAttribute("Rounds", UintegerValue(4));
    SetForAll("FragmentSize", UintegerValue(100));
    auto errors = CreateObject<RateErrorModel>();
    errors->SetUnit(RateErrorModel::ERROR_UNIT_PACKET);
    errors->SetRate(0.3);
    errors->AssignStreams(10);
    SetLoss(GetCenterEnd(0), errors);
    writer->SetDistanceCallback(MakeCallback(&GetDistance));
    Open();
    Run();
    uint64_t sentFragments = 0;
    for (const auto& record : sent)
    {
        sentFragments += record.fragments;
    }
    uint64_t received = 0;
    for (const auto& record : rounds)
    {
        received += record.receivedFragments;
    }
    EXPECT_LT(received, sentFragments);
    EXPECT_EQ(writer->GetSentFragments(), sentFragments);
    EXPECT_EQ(writer->GetReceivedFragments(), received);
    EXPECT_EQ(writer->GetLostFraction(),
              1 - static_cast<double>(received) / static_cast<double>(sentFragments));

    const Table table = ReadTable(folder.Read("t-rounds.csv"));
    const Table linkTable = ReadTable(folder.Read("t-links.csv"));
    ASSERT_EQ(linkTable.size(), 8U);
    for (std::size_t i = 0; i < 4; ++i)
    {
        const auto& lossy = linkTable[2 * i];
        const auto& clean = linkTable[2 * i + 1];
        EXPECT_EQ(clean.at("sent_fragments"), clean.at("received_fragments"));
        EXPECT_EQ(lossy.at("sent_fragments"), clean.at("sent_fragments"));
        const double all = 2 * std::stod(clean.at("sent_fragments"));
        const double came =
            std::stod(clean.at("received_fragments")) + std::stod(lossy.at("received_fragments"));
        EXPECT_NEAR(std::stod(table[i].at("lost_fraction")), 1 - came / all, 1e-9);
        ASSERT_GT(rounds[i].links[0].lostBursts, 0U);
        EXPECT_EQ(rounds[i].links[1].lostBursts, 0U);
        EXPECT_NEAR(std::stod(table[i].at("mean_burst")),
                    (all - came) / rounds[i].links[0].lostBursts,
                    1e-8);
        EXPECT_EQ(lossy.at("distance_m"), "10.5");
        EXPECT_EQ(clean.at("distance_m"), "11.5");
    }
}

TEST_F(FederatedTraceWriters, CountWhatADyingDeviceSentAndLeaveTheUnknownEmpty)
{
    BuildAndWatch(2);
    SetForAll("FragmentSize", UintegerValue(100));
    center->SetAttribute("Deadline", TimeValue(Seconds(2)));
    center->SetAttribute("UplinkRate", StringValue("20kbps"));
    // An update takes about half a second: device 0 dies while it sends the first.
    apps[0]->SetAttribute("LeaveOnStop", BooleanValue(false));
    apps[0]->SetStopTime(MilliSeconds(300));
    Open();
    Run();
    const Table linkTable = ReadTable(folder.Read("t-links.csv"));
    ASSERT_EQ(linkTable.size(), 4U);
    const auto& first = linkTable[0];
    EXPECT_EQ(first.at("state"), "partial");
    EXPECT_NE(first.at("sent_fragments"), "");
    EXPECT_GT(std::stoi(first.at("sent_fragments")), 0);
    EXPECT_LT(std::stoi(first.at("sent_fragments")), std::stoi(linkTable[1].at("sent_fragments")));
    const auto& second = linkTable[2];
    ExpectCells(second,
                {{"device", "0"},
                 {"sent_fragments", ""},
                 {"received_fragments", "0"},
                 {"uplink_s", ""},
                 {"sigma", ""},
                 {"state", "unreachable"}});
}

TEST_F(FederatedTraceWriters, ShowWholeRoundsWhileTheSimulationRuns)
{
    BuildAndWatch(2);
    Open(false);
    center->SetAttribute("Rounds", UintegerValue(3));
    center->TraceConnectWithoutContext("RoundStart",
                                       MakeCallback(&FederatedTraceWriters::LookAtTable, this));
    Run();
    EXPECT_EQ(seen, 3U);
    EXPECT_EQ(folder.CountFiles(), 1);
}

TEST_F(FederatedTraceWriters, KeepTotalsWithoutFiles)
{
    BuildAndWatch(2);
    EXPECT_EQ(writer->GetLastRound().round, 0U);
    EXPECT_TRUE(std::isnan(writer->GetLostFraction()));
    Run();
    EXPECT_EQ(writer->GetLastRound().round, 2U);
    EXPECT_EQ(writer->GetLostFraction(), 0);
    std::ostringstream line;
    writer->GetResult().Print(line);
    EXPECT_NE(line.str().find(" rounds=2 time_s="), std::string::npos) << line.str();
    EXPECT_EQ(folder.CountFiles(), 0);
}

TEST_F(FederatedTraceWriters, SayWhatCannotBeWritten)
{
    BuildAndWatch(2);
    std::string error;
    EXPECT_FALSE(writer->Open(folder.GetFolder() + "/none/t", true, error));
    EXPECT_EQ(error,
              "Cannot write '" + folder.GetFolder() +
                  "/none/t-rounds.csv': No such file or directory.");
    EXPECT_EQ(folder.CountFiles(), 0);

    BuildAndWatch(2);
    Open(false);
    EXPECT_TRUE(writer->IsComplete(error));
}

TEST_F(FederatedTraceWriters, StopTheSimulationAtTheRowThatCannotBeWritten)
{
    BuildAndWatch(2);
    center->SetAttribute("Rounds", UintegerValue(20));
    Open(false);
    const std::size_t header = folder.Read("t-rounds.csv").size();
    {
        const FileSizeLimit limit(header + 250);
        Run();
    }
    const Table table = ReadTable(folder.Read("t-rounds.csv"));
    EXPECT_GT(table.size(), 0U);
    EXPECT_EQ(rounds.size(), table.size() + 1) << "all of these could be written, then it stopped";
    EXPECT_LT(rounds.size(), 20U);
    std::string error;
    EXPECT_FALSE(writer->IsComplete(error));
    EXPECT_EQ(error, "Cannot write '" + folder.GetFolder() + "/t-rounds.csv': File too large.");
    EXPECT_EQ(folder.CountFiles(), 1);
}

TEST_F(FederatedTraceWriters, WriteTheLinksOfWholeRounds)
{
    BuildAndWatch(4);
    center->SetAttribute("Rounds", UintegerValue(20));
    Open();
    const std::size_t header = folder.Read("t-rounds.csv").size();
    {
        // The links of a round take more bytes than the round.
        const FileSizeLimit limit(header + 600);
        Run();
    }
    const Table linkTable = ReadTable(folder.Read("t-links.csv"));
    EXPECT_GT(linkTable.size(), 0U);
    EXPECT_EQ(linkTable.size() % 4, 0U);
    EXPECT_EQ(ReadTable(folder.Read("t-rounds.csv")).size(), rounds.size());
    EXPECT_EQ(linkTable.size() / 4, rounds.size() - 1);
    std::string error;
    EXPECT_FALSE(writer->IsComplete(error));
    EXPECT_NE(error.find("t-links.csv"), std::string::npos) << error;
}

TEST_F(FederatedTraceWriters, LeaveEarlierTablesIfOneIsBusy)
{
    BuildAndWatch(2);
    folder.Write("t-rounds.csv", "old rounds");
    std::string error;
    {
        FederatedOutputFile other(folder.GetFolder() + "/t-links.csv");
        EXPECT_FALSE(writer->Open(folder.GetFolder() + "/t", true, error));
        EXPECT_NE(error.find("t-links.csv': it is already being written"), std::string::npos)
            << error;
        EXPECT_EQ(folder.Read("t-rounds.csv"), "old rounds");
        EXPECT_EQ(folder.CountFiles(), 2) << "the old table, and that of the other";
        Run();
        EXPECT_EQ(rounds.size(), 2U) << "without tables";
        EXPECT_EQ(folder.Read("t-rounds.csv"), "old rounds");
    }
    Open();
    Open(); // again: the first tables are closed
}
