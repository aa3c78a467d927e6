// SPDX-License-Identifier: GPL-2.0-only

#include "ns3/federated-diagnosis.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

using namespace ns3;

namespace
{

/** @return the facts of a run in which all went well. */
RunFacts
MakeGoodRun()
{
    RunFacts facts;
    facts.devices = 10;
    facts.participants = 4;
    facts.joined = 10;
    facts.center = "10.0.0.1 port 5";
    facts.rounds = 5;
    facts.ended = 5;
    facts.finished = true;
    facts.stopped = Seconds(20);
    facts.deadline = Seconds(4);
    facts.selected = 20;
    facts.received = 20;
    facts.states[PARTICIPANT_COMPLETE] = 20;
    return facts;
}

/** @return the facts of a run in which no round was fused, for one reason. */
RunFacts
MakeLostRun(ParticipantState state)
{
    RunFacts facts = MakeGoodRun();
    facts.skipped = 5;
    facts.received = 0;
    facts.states.fill(0);
    facts.states[state] = 20;
    return facts;
}

/** Expect one warning that contains a text. */
void
ExpectOne(const RunFacts& facts, const std::string& text, bool isMistake)
{
    const auto warnings = FindWarnings(facts);
    ASSERT_EQ(warnings.size(), 1U) << text;
    EXPECT_NE(warnings.front().find(text), std::string::npos) << warnings.front();
    EXPECT_EQ(IsMistake(facts), isMistake) << text;
}

} // namespace

TEST(FederatedDiagnosis, SaysNothingOfAGoodRun)
{
    EXPECT_TRUE(FindWarnings(MakeGoodRun()).empty());
    EXPECT_FALSE(IsMistake(MakeGoodRun()));
}

TEST(FederatedDiagnosis, NamesTheAddressThatNobodyReached)
{
    RunFacts facts = MakeGoodRun();
    facts.joined = 0;
    facts.skipped = 5;
    facts.selected = facts.received = 0;
    facts.states.fill(0);
    ExpectOne(facts, "None of 10 devices joined: is 10.0.0.1 port 5 an address", true);
    facts.drops[DROP_UNKNOWN] = 3;
    facts.drops[DROP_OLD] = 1;
    ExpectOne(facts, "the center dropped 4 messages, 3 of them as 'unknown'", true);
}

TEST(FederatedDiagnosis, NamesTheMissingRouteIfItIsKnown)
{
    RunFacts facts = MakeGoodRun();
    facts.obstacle = "node 3 has no route to 10.0.0.1 (device 2)";
    facts.joined = 9;
    ExpectOne(facts, "Only 9 of 10 devices joined: node 3 has no route to 10.0.0.1", false);
    facts.joined = 0;
    facts.skipped = 5;
    facts.selected = facts.received = 0;
    facts.states.fill(0);
    ExpectOne(facts, "None of 10 devices joined: node 3 has no route to 10.0.0.1", true);
    facts = MakeLostRun(PARTICIPANT_UNREACHABLE);
    facts.obstacle = "node 0 has no route to 10.0.1.1 (the center to device 0)";
    ExpectOne(facts, "not acknowledged: node 0 has no route to 10.0.1.1", true);
}

TEST(FederatedDiagnosis, SaysThatTheSimulationDidNotRun)
{
    RunFacts facts;
    facts.devices = 10;
    facts.rounds = 5;
    ExpectOne(facts, "The simulation did not run: does Simulator::Run come before", true);
}

TEST(FederatedDiagnosis, SaysThatTheIntervalClampsMuch)
{
    RunFacts facts = MakeGoodRun();
    facts.interval = "[-0.01, 0.01]";
    for (const double fraction : {std::nan(""), 0.0, 0.002, 0.25})
    {
        facts.clampedFraction = fraction;
        EXPECT_TRUE(FindWarnings(facts).empty()) << fraction;
    }
    facts.clampedFraction = 0.4;
    ExpectOne(facts,
              "40 % of the coordinates of updates lay outside the interval [-0.01, 0.01] and were "
              "clamped to its ends: does this model need a wider one (SetInterval",
              false);
    facts.isPrivate = true;
    EXPECT_TRUE(FindWarnings(facts).empty()) << "less noise may be worth it";
    facts.clampedFraction = 0.6;
    ExpectOne(facts, "60 % of the coordinates", false);
}

TEST(FederatedDiagnosis, SaysThatTheModelHasNoFiniteLoss)
{
    RunFacts facts = MakeGoodRun();
    facts.isFinite = false;
    ExpectOne(facts, "The model has no finite loss: is LearningRate too large", true);
}

TEST(FederatedDiagnosis, CountsDevicesThatDidNotJoin)
{
    RunFacts facts = MakeGoodRun();
    facts.joined = 7;
    ExpectOne(facts, "Only 7 of 10 devices joined", false);
}

TEST(FederatedDiagnosis, SaysThatTheSimulationStoppedTooEarly)
{
    RunFacts facts = MakeGoodRun();
    facts.finished = false;
    facts.ended = 3;
    facts.hasRound = true;
    ExpectOne(facts, "stopped at +20s after 3 of 5 rounds, in the middle of one", false);
    facts.ended = 0;
    EXPECT_TRUE(IsMistake(facts));
}

TEST(FederatedDiagnosis, SaysThatThereAreFewerDevicesThanParticipants)
{
    RunFacts facts = MakeGoodRun();
    facts.participants = 11;
    ExpectOne(facts, "Participants is 11, but the federation has only 10 devices", false);
}

TEST(FederatedDiagnosis, ExplainsRoundsThatWereSkipped)
{
    const struct
    {
        ParticipantState state;
        const char* text;
        bool isMistake; // what the channel did is a result
    } rows[] = {
        {PARTICIPANT_NO_TIME, "is the Deadline of +4s shorter than TimePerSample", true},
        {PARTICIPANT_SILENT, "is the Deadline of +4s shorter than TimePerSample", true},
        {PARTICIPANT_NOT_FINITE, "is LearningRate too large", true},
        {PARTICIPANT_DECLINED, "PrivacyBudget is spent", true},
        {PARTICIPANT_EMPTY, "are there devices in their cells", true},
        {PARTICIPANT_LEFT, "they left", true},
        {PARTICIPANT_UNREACHABLE,
         "are they in range and have they power, is there a route from",
         false},
        {PARTICIPANT_UNREACHABLE, "or is the Deadline of +4s too short", false},
        {PARTICIPANT_NO_MODEL, "is DownlinkRate above what the link carries", false},
        {PARTICIPANT_LOST, "no fragment was received", false},
    };
    for (const auto& row : rows)
    {
        ExpectOne(MakeLostRun(row.state), row.text, row.isMistake);
        ExpectOne(MakeLostRun(row.state), "5 of 5 rounds left the model as it was", row.isMistake);
    }
    RunFacts facts = MakeLostRun(PARTICIPANT_LOST);
    facts.selected = 0;
    facts.states.fill(0);
    ExpectOne(facts, "No device was selected: does the bit budget carry one update?", true);
    facts = MakeGoodRun();
    facts.skipped = 1;
    facts.empty = 1;
    ExpectOne(facts, "No device was selected for them: had one joined when they began", false);
}

TEST(FederatedDiagnosis, SaysWhatACellAndWhatACloudMayHaveTooLittleTimeFor)
{
    for (const ParticipantState state : {PARTICIPANT_NO_TIME, PARTICIPANT_SILENT})
    {
        RunFacts facts = MakeLostRun(state);
        facts.onRequest = true;
        ExpectOne(facts, "is the Deadline of +4s, or what the edge's own deadline leaves,", true);
        facts = MakeLostRun(state);
        facts.hasEdges = true;
        ExpectOne(facts, "the rounds of their cells had not ended and been sent before", true);
    }
}

TEST(FederatedDiagnosis, KnowsNoLastRoundOfACellWhoseEdgeAsksForRounds)
{
    RunFacts facts = MakeGoodRun();
    facts.onRequest = true;
    facts.finished = false;
    facts.hasRound = true; // the cloud has ended in the middle of it
    EXPECT_TRUE(FindWarnings(facts).empty());
    facts.ended = 0;
    ExpectOne(facts, "No round ended: did the edge receive a model", true);
}

TEST(FederatedDiagnosis, OneLinkThatLostMessagesMakesSilenceAResult)
{
    RunFacts facts = MakeLostRun(PARTICIPANT_SILENT);
    facts.states[PARTICIPANT_UNREACHABLE] = 1;
    EXPECT_FALSE(IsMistake(facts));
}

TEST(FederatedDiagnosis, TellsUpdatesThatWereDroppedFromThoseThatWereLost)
{
    RunFacts facts = MakeLostRun(PARTICIPANT_LOST);
    facts.drops[DROP_INVALID] = 60;
    ExpectOne(facts,
              "the center dropped 60 messages, 60 of them as 'invalid': do Quantizer, IntervalRule",
              true);
}

TEST(FederatedDiagnosis, ARunThatLearnedIsNoMistake)
{
    RunFacts facts = MakeGoodRun();
    facts.skipped = 4;
    facts.received = 4;
    facts.states[PARTICIPANT_COMPLETE] = 4;
    facts.states[PARTICIPANT_NO_TIME] = 16;
    ExpectOne(facts, "4 of 5 rounds left the model as it was", false);
}
