// SPDX-License-Identifier: GPL-2.0-only

#include "federated-test-folder.h"
#include "parse-words.h"

#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/federated-helper.h"
#include "ns3/federated-learning-options.h"
#include "ns3/federated-star-helper.h"
#include "ns3/node.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/saved-model.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <vector>

using namespace ns3;

/** @ingroup federated-tests Runs of six devices in a star, in which nothing is lost. */
class ContinuedRuns : public FederatedTestFolder
{
  protected:
    /** What a run came to. */
    struct Outcome
    {
        std::vector<float> model;        //!< The last one.
        std::vector<RoundRecord> rounds; //!< All of its rounds.
        std::string output;              //!< Its result line.
        std::string messages;            //!< What it said besides.
        int code = -1;                   //!< Its exit code.
    };

    /** Changes a federation before it is installed. */
    using Change = std::function<void(FederatedHelper&)>;

    void TearDown() override
    {
        Simulator::Destroy();
    }

    /** Prepare a run, in which devices take turns if the policy says so. */
    void Begin(uint32_t rounds, const Change& change)
    {
        Simulator::Destroy();
        RngSeedManager::SetSeed(1);
        RngSeedManager::SetRun(4);
        m_outcome = Outcome();
        m_helper = std::make_unique<FederatedHelper>();
        const NodeContainer coarse(4);
        const NodeContainer fine(3);
        m_helper->AddGroup(coarse, 2);
        m_helper->AddGroup(fine, 4);
        m_helper->SetData(FederatedData::MakeSynthetic(1, 350, 100, 6, 6, 4));
        m_helper->SetTaskAttribute("Model", StringValue("ns3::LogisticModel"));
        m_helper->SetTaskAttribute("Threads", UintegerValue(1));
        m_helper->SetCenterAttribute("Participants", UintegerValue(4));
        m_helper->SetCenterAttribute("BitBudget", StringValue("ns3::FixedBitBudget[Bits=1000]"));
        m_helper->SetCenterAttribute("Rounds", UintegerValue(rounds));
        m_helper->SetDeviceAttribute("LearningRate", DoubleValue(0.5));
        m_helper->SetInterval(0.2);
        if (change)
        {
            change(*m_helper);
        }
        FederatedStarHelper star;
        star.Install(*m_helper, CreateObject<Node>());
        m_helper->GetCenter()->TraceConnectWithoutContext(
            "RoundEnd", MakeCallback(&ContinuedRuns::HandleRound, this));
    }

    /** Run until the last round has ended, and end the script. */
    Outcome Finish(const std::string& prefix = "")
    {
        testing::internal::CaptureStdout();
        testing::internal::CaptureStderr();
        std::string error;
        EXPECT_TRUE(m_helper->EnableOutput(prefix, error)) << error;
        Simulator::Run();
        m_outcome.model = m_helper->GetCenter()->GetModel();
        m_outcome.code = m_helper->Finish();
        m_outcome.output = testing::internal::GetCapturedStdout();
        m_outcome.messages = testing::internal::GetCapturedStderr();
        return m_outcome;
    }

    /** @return the outcome of a run from the beginning. */
    Outcome RunWhole(uint32_t rounds, const Change& change = nullptr)
    {
        Begin(rounds, change);
        return Finish();
    }

    /**
     * @param first Rounds of the first run.
     * @param second Rounds of the run that begins with what the first one saved.
     * @return the outcome of the second run; the rounds are those of both.
     */
    Outcome RunInParts(uint32_t first, uint32_t second, const Change& change = nullptr)
    {
        const std::string prefix = GetFolder() + "/part";
        Begin(first,
              [&change](FederatedHelper& helper)
              {
                  change ? change(helper) : void();
                  helper.SetSave(true);
              });
        const Outcome before = Finish(prefix);
        EXPECT_EQ(before.code, 0) << before.messages;
        SavedModel model;
        EXPECT_EQ(model.Read(prefix + "-model.npy"), "");
        EXPECT_EQ(model.values, before.model);
        EXPECT_EQ(model.round, before.rounds.back().round);
        Begin(second,
              [&change, &model](FederatedHelper& helper)
              {
                  change ? change(helper) : void();
                  helper.SetStart(model);
              });
        m_outcome.rounds = before.rounds;
        return Finish();
    }

    /** Expect that both runs came to the same, byte by byte. */
    static void ExpectEqual(const Outcome& whole, const Outcome& parts)
    {
        EXPECT_EQ(parts.model, whole.model);
        ASSERT_EQ(parts.rounds.size(), whole.rounds.size());
        for (std::size_t i = 0; i < whole.rounds.size(); ++i)
        {
            SCOPED_TRACE(i + 1);
            const RoundRecord& a = whole.rounds[i];
            const RoundRecord& b = parts.rounds[i];
            EXPECT_EQ(a.round, i + 1);
            EXPECT_EQ(b.round, i + 1) << "a continued run counts on";
            EXPECT_EQ(a.testAccuracy, b.testAccuracy);
            EXPECT_EQ(a.trainLoss, b.trainLoss);
            ASSERT_EQ(a.links.size(), b.links.size());
            for (std::size_t j = 0; j < a.links.size(); ++j)
            {
                EXPECT_EQ(a.links[j].device, b.links[j].device);
                EXPECT_EQ(a.links[j].weight, b.links[j].weight);
            }
        }
    }

    /** Trace sink of RoundEnd. */
    void HandleRound(const RoundRecord& record)
    {
        m_outcome.rounds.push_back(record);
    }

    std::unique_ptr<FederatedHelper> m_helper; //!< Of the current run.
    Outcome m_outcome;                         //!< Of the current run, so far.
};

TEST_F(ContinuedRuns, SixAndFourRoundsAreTen)
{
    const std::vector<std::pair<std::string, Change>> changes{
        {"fwo-cso", nullptr},
        {"random cluster sizes", [](FederatedHelper& h) { h.SetAlgorithm("alg1"); }},
        {"fwo", [](FederatedHelper& h) { h.SetAlgorithm("fwo"); }},
        {"laplacesq", [](FederatedHelper& h) { h.SetAlgorithm("laplacesq"); }},
        {"sq", [](FederatedHelper& h) { h.SetAlgorithm("sq"); }},
        {"fedavg", [](FederatedHelper& h) { h.SetAlgorithm("fedavg"); }},
        {"intervals and rates of the profile", [](FederatedHelper& h) { h.SetProfile("fitted"); }},
        {"rotation", [](FederatedHelper& h) { h.SetRotation(true); }},
        {"turns",
         [](FederatedHelper& h)
         { h.SetCenterAttribute("SelectionPolicy", StringValue("ns3::RoundRobinSelection")); }},
        {"noise",
         [](FederatedHelper& h)
         { h.SetCenterAttribute("LinkNoise", StringValue("ns3::FixedLinkNoise[Sigmas=0.01]")); }},
        {"decay",
         [](FederatedHelper& h) { h.SetDeviceAttribute("LearningRateDecay", DoubleValue(0.5)); }},
        {"tcp", [](FederatedHelper& h) { h.SetProtocol("tcp"); }},
    };
    for (const auto& [name, change] : changes)
    {
        SCOPED_TRACE(name);
        const Outcome whole = RunWhole(10, change);
        ExpectEqual(whole, RunInParts(6, 4, change));
    }
}

TEST_F(ContinuedRuns, NineAndOneRoundsAreTenToo)
{
    const Outcome whole = RunWhole(10);
    ExpectEqual(whole, RunInParts(9, 1));
    ExpectEqual(whole, RunInParts(1, 9));
}

TEST_F(ContinuedRuns, WithoutTheRoundTheDrawsOfTheFirstRoundsAreRepeated)
{
    const Outcome whole = RunWhole(10);
    SavedModel model;
    model.values = RunWhole(6).model;
    Begin(4, [&model](FederatedHelper& helper) { helper.SetStart(model); });
    const Outcome rest = Finish();
    EXPECT_NE(rest.model, whole.model);
    ASSERT_EQ(rest.rounds.size(), 4U);
    EXPECT_EQ(rest.rounds[0].round, 1U);
    EXPECT_EQ(rest.rounds[0].links[0].device, whole.rounds[0].links[0].device);
    EXPECT_NE(rest.messages.find("of no known round: what devices spent for it is not counted "
                                 "here, and an earlier run with this RngRun tossed the same coins"),
              std::string::npos)
        << rest.messages;
}

TEST_F(ContinuedRuns, SayWhereTheyBeganAndEnded)
{
    const Outcome whole = RunWhole(3);
    EXPECT_EQ(whole.output.find("_round="), std::string::npos) << whole.output;
    EXPECT_EQ(whole.messages.find("given model"), std::string::npos) << whole.messages;

    const std::string prefix = GetFolder() + "/run";
    Begin(2, [](FederatedHelper& helper) { helper.SetSave(true); });
    const Outcome first = Finish(prefix);
    EXPECT_NE(first.output.find(" rounds=2 "), std::string::npos) << first.output;
    EXPECT_NE(first.output.find(" model_round=2\n"), std::string::npos) << first.output;
    EXPECT_NE(Read("run-run.json").find("\"model_round\": 2"), std::string::npos);
    EXPECT_NE(Read("run-run.json").find("\"start_round\": null"), std::string::npos);
    EXPECT_EQ(CountFiles(), 5) << "tables, description and model";

    SavedModel model;
    ASSERT_EQ(model.Read(prefix + "-model.npy"), "");
    Begin(3,
          [&model](FederatedHelper& helper)
          {
              helper.SetStart(model);
              helper.SetSave(true);
          });
    const Outcome second = Finish(prefix); // replaces the model that it began with
    EXPECT_NE(second.output.find(" rounds=3 "), std::string::npos) << second.output;
    EXPECT_NE(second.output.find(" start_round=2 model_round=5\n"), std::string::npos)
        << second.output;
    EXPECT_NE(second.messages.find("round 3/5 "), std::string::npos) << second.messages;
    EXPECT_NE(second.messages.find("round 5/5 "), std::string::npos) << second.messages;
    EXPECT_NE(second.messages.find("privacy: the run began with a given model of round 2: what "
                                   "devices spent for it is not counted here"),
              std::string::npos)
        << second.messages;
    const std::string run = Read("run-run.json");
    EXPECT_NE(run.find("\"start_round\": 2"), std::string::npos) << run;
    EXPECT_NE(run.find("privacy: the run began with a given model"), std::string::npos) << run;
    ASSERT_EQ(model.Read(prefix + "-model.npy"), "");
    EXPECT_EQ(model.round, 5U);
    EXPECT_NE(Read("run-rounds.csv").find("\n5,"), std::string::npos);
}

TEST_F(ContinuedRuns, SaveTheRoundWhoseCoinsWereTossedLast)
{
    Begin(5, nullptr);
    Simulator::Stop(MilliSeconds(1));
    Simulator::Run();
    std::string error;
    const std::string path = GetFolder() + "/model.npy";
    ASSERT_TRUE(m_helper->SaveModel(path, error)) << error;
    SavedModel model;
    ASSERT_EQ(model.Read(path), "");
    EXPECT_EQ(model.round, m_helper->GetCenter()->GetRound());
    while (m_helper->GetCenter()->GetRound() == 0)
    {
        Simulator::Stop(MilliSeconds(1));
        Simulator::Run();
    }
    EXPECT_TRUE(m_outcome.rounds.empty()) << "in the middle of the first round";
    ASSERT_TRUE(m_helper->SaveModel(path, error)) << error;
    ASSERT_EQ(model.Read(path), "");
    EXPECT_EQ(model.round, 1U);
    EXPECT_FALSE(m_helper->SaveModel(GetFolder() + "/none/model.npy", error));
    EXPECT_NE(error.find("/none/model.npy"), std::string::npos) << error;
}

TEST_F(ContinuedRuns, NeedAPlaceForTheModel)
{
    Begin(1, [](FederatedHelper& helper) { helper.SetSave(true); });
    std::string error;
    EXPECT_FALSE(m_helper->EnableOutput("", error));
    EXPECT_EQ(error, "The model cannot be saved without a prefix of files.");
    testing::internal::CaptureStderr();
    EXPECT_EQ(m_helper->Finish(), 1);
    EXPECT_NE(testing::internal::GetCapturedStderr().find(error), std::string::npos);

    Begin(1, [](FederatedHelper& helper) { helper.SetSave(true); });
    ASSERT_TRUE(m_helper->EnableTraces(GetFolder() + "/run", error)) << error;
    testing::internal::CaptureStderr();
    EXPECT_EQ(m_helper->Finish(), 1);
    EXPECT_NE(
        testing::internal::GetCapturedStderr().find("There is no model for '" + GetFolder() +
                                                    "/run-model.npy': the center has not started."),
        std::string::npos);
}

TEST_F(ContinuedRuns, AreRefusedByTheCenterIfTheyMakeNoSense)
{
    Begin(1, nullptr);
    EXPECT_DEATH(m_helper->GetCenter()->SetModel({}, 3), "SetModel needs a model");
    EXPECT_DEATH(m_helper->GetCenter()->SetModel({1}, 1000001), "1000001 rounds behind it");
    m_helper->GetCenter()->SetModel({1, 2}, 3);
    EXPECT_DEATH(Simulator::Run(), "the given model has 2 coordinates, the task has 148");
}

TEST_F(ContinuedRuns, BeginForDevicesToo)
{
    SavedModel model;
    model.values.assign(148, 0.25F);
    model.round = 3;
    Begin(1, [&model](FederatedHelper& helper) { helper.SetStart(model); });
    // What a device puts where it received nothing of its first model.
    std::vector<float> first;
    m_helper->GetTask()->Initialize(first);
    EXPECT_EQ(first, model.values);
}

TEST_F(ContinuedRuns, AreOptionsOfExamples)
{
    SavedModel model;
    model.values.assign(148, 0.25F);
    model.round = 3;
    const std::string path = Write("my.npy", model.ToNpy());
    FederatedLearningOptions options;
    std::string output;
    FederatedCommandLine cmd("example.cc", "An example.");
    options.Add(cmd);
    cmd.AddOutput(output);
    EXPECT_EQ(ParseWords({"--save"}, cmd), "The option --save needs --output=PREFIX.");
    EXPECT_EQ(ParseWords({"--start=" + path + "x"}, cmd),
              "The value of --start=" + path + "x does not exist.");
    EXPECT_EQ(ParseWords({"--start=" + Write("no.npy", "no")}, cmd),
              "The value of --start=" + GetFolder() + "/no.npy is not a file of NumPy (NPY 1.0).");
    EXPECT_NE(ParseWords({"--target=1.1"}, cmd), "");
    EXPECT_EQ(ParseWords({"--save=false", "--target=0.5"}, cmd), "");
    const std::string prefix = "--output=" + GetFolder() + "/run";
    EXPECT_EQ(ParseWords({"--save", prefix, "--start=" + path, "--target=0.9"}, cmd), "");
    Begin(1, [&options](FederatedHelper& helper) { options.SetUp(helper); });
    EXPECT_EQ(m_helper->GetCenter()->GetModel(), model.values);
    EXPECT_EQ(m_helper->GetCenter()->GetRoundsBefore(), 3U);
    DoubleValue target;
    m_helper->GetCenter()->GetAttribute("TargetAccuracy", target);
    EXPECT_EQ(target.Get(), 0.9);
    const Outcome outcome = Finish(output);
    EXPECT_EQ(outcome.rounds.back().round, 4U);
    EXPECT_NE(outcome.output.find(" target_s="), std::string::npos) << outcome.output;
    EXPECT_NE(Read("run-model.npy"), "");
}
