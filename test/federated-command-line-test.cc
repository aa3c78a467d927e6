// SPDX-License-Identifier: GPL-2.0-only

#include "ns3/federated-command-line.h"

#include "federated-test-folder.h"

#include "ns3/config.h"
#include "ns3/double.h"
#include "ns3/federated-scenario-options.h"
#include "ns3/random-variable-stream.h"
#include "ns3/rng-seed-manager.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <sys/stat.h>
#include <unistd.h>

using namespace ns3;

namespace
{

/**
 * @ingroup federated-tests
 * @brief A command line with one option of every kind.
 */
class FederatedCommandLines : public FederatedTestFolder
{
  protected:
    FederatedCommandLines()
        : m_data(GetFolder()),
          m_commandLine("/somewhere/federated-test-example.cc", "Does nothing.")
    {
        m_commandLine.AddCount("rounds", "Number of rounds", m_rounds, 1, 1000);
        m_commandLine.AddReal("epsilon", "Same-cell epsilon", m_epsilon, 0, 100);
        m_commandLine.AddTime("deadline", "Deadline", m_deadline, MilliSeconds(1), Hours(1));
        m_commandLine.AddChoice("mode", "Mode", m_mode, {"adhoc", "infrastructure"});
        m_commandLine.AddText("budget",
                              "Bit budget",
                              m_budget,
                              [](const std::string& text)
                              { return text == "measured" ? "" : "is not measured"; });
        m_commandLine.AddText("note", "Any text", m_note);
        m_commandLine.AddFlag("pcap", "Write captures", m_pcap);
        m_commandLine.AddData(m_data);
        m_commandLine.AddOutput(m_output);
    }

    void SetUp() override
    {
        m_run = RngSeedManager::GetRun();
        m_seed = RngSeedManager::GetSeed();
    }

    void TearDown() override
    {
        RngSeedManager::SetRun(m_run);
        RngSeedManager::SetSeed(m_seed);
    }

    /**
     * @param words The words after the program.
     * @return the error, empty if there is none.
     */
    std::string Parse(std::vector<std::string> words)
    {
        words.insert(words.begin(), "program");
        std::vector<char*> argv;
        for (std::string& word : words)
        {
            argv.push_back(word.data());
        }
        std::string error;
        const bool ok = m_commandLine.Parse(static_cast<int>(argv.size()), argv.data(), error);
        EXPECT_EQ(ok, error.empty());
        EXPECT_TRUE(ok || error.back() == '.') << error;
        EXPECT_EQ(error.find('\n'), std::string::npos);
        return error;
    }

    uint32_t m_rounds = 20;             //!< A count.
    double m_epsilon = 1e-6;            //!< A real number.
    Time m_deadline = Seconds(4);       //!< A time.
    std::string m_mode = "adhoc";       //!< A choice.
    std::string m_budget = "measured";  //!< A checked text.
    std::string m_note = "none";        //!< A text.
    bool m_pcap = false;                //!< A switch.
    std::string m_data;                 //!< The data folder.
    std::string m_output;               //!< The output prefix.
    FederatedCommandLine m_commandLine; //!< The command line.

  private:
    uint64_t m_run;  //!< Run number before the test.
    uint32_t m_seed; //!< Seed before the test.
};

/**
 * Let exit() end this (forked) process at once. ns-3's test-runner does not expect its objects to
 * be destroyed while a test runs.
 */
void
LeaveAtOnce()
{
#ifdef __GLIBC__
    on_exit(
        [](int status, void*)
        {
            std::cout.flush();
            std::_Exit(status);
        },
        nullptr);
#endif
}

} // namespace

TEST_F(FederatedCommandLines, DefaultsStayWithoutOptions)
{
    EXPECT_EQ(Parse({}), "");
    EXPECT_EQ(m_rounds, 20U);
    EXPECT_EQ(m_deadline, Seconds(4));
    EXPECT_FALSE(m_pcap);
    EXPECT_EQ(m_output, "");
}

TEST_F(FederatedCommandLines, ReadsEveryKindOfOption)
{
    EXPECT_EQ(Parse({"--rounds=1000",
                     "-epsilon=1.5e-3",
                     "--deadline=500ms",
                     "--mode=infrastructure",
                     "--budget=measured",
                     "--note=a=b c",
                     "--pcap",
                     "--data=" + GetFolder(),
                     "--output=" + GetFolder() + "/run"}),
              "");
    EXPECT_EQ(m_rounds, 1000U);
    EXPECT_EQ(m_epsilon, 1.5e-3);
    EXPECT_EQ(m_deadline, MilliSeconds(500));
    EXPECT_EQ(m_mode, "infrastructure");
    EXPECT_EQ(m_note, "a=b c");
    EXPECT_TRUE(m_pcap);
    EXPECT_EQ(m_output, GetFolder() + "/run");
    EXPECT_EQ(CountFiles(), 0) << "reading options writes nothing";
    EXPECT_EQ(Parse({"--pcap=false"}), "");
    EXPECT_FALSE(m_pcap);
}

TEST_F(FederatedCommandLines, ReadsFlagsAndCountsAsCampaignToolsWriteThem)
{
    for (const char* value : {"true", "True", "TRUE", "1"})
    {
        m_pcap = false;
        EXPECT_EQ(Parse({std::string("--pcap=") + value}), "");
        EXPECT_TRUE(m_pcap) << value;
    }
    for (const char* value : {"false", "False", "FALSE", "0"})
    {
        m_pcap = true;
        EXPECT_EQ(Parse({std::string("--pcap=") + value}), "");
        EXPECT_FALSE(m_pcap) << value;
    }
    EXPECT_EQ(Parse({"--rounds=40.0"}), "");
    EXPECT_EQ(m_rounds, 40U);
}

TEST_F(FederatedCommandLines, ReadsOtherSpellingsAsTheWordsThatTheyStandFor)
{
    std::string color = "gray";
    m_commandLine.AddChoice("color", "Color", color, {"gray", "red"}, {{"grey", "gray"}});
    EXPECT_EQ(Parse({"--color=red"}), "");
    EXPECT_EQ(color, "red");
    EXPECT_EQ(Parse({"--color=grey"}), "");
    EXPECT_EQ(color, "gray");
    EXPECT_EQ(Parse({"--color=Grey"}), "The value of --color=Grey is not one of gray, red.");
}

TEST_F(FederatedCommandLines, ReadsWholeNumbersAmongWhichOneChoosesAsAllOthers)
{
    std::string width = "20";
    m_commandLine.AddChoice("width", "Width", width, {"20", "40"});
    EXPECT_EQ(Parse({"--width=40.0"}), "");
    EXPECT_EQ(width, "40");
    EXPECT_NE(Parse({"--width=40.5"}), "");
}

TEST_F(FederatedCommandLines, ReadsTheLossPolicyInBothSpellings)
{
    FederatedScenarioOptions options;
    FederatedCommandLine cmd("/somewhere/federated-test-example.cc", "Does nothing.");
    options.data = GetFolder();
    options.AddFederation(cmd);
    EXPECT_EQ(options.lossPolicy, "renormalize");
    for (std::string word : {"--loss-policy=renormalise", "--loss-policy=renormalize"})
    {
        options.lossPolicy = "zero";
        std::string program = "program";
        std::vector<char*> argv{program.data(), word.data()};
        std::string error;
        EXPECT_TRUE(cmd.Parse(2, argv.data(), error)) << error;
        EXPECT_EQ(options.lossPolicy, "renormalize");
    }
}

TEST_F(FederatedCommandLines, RefusesUnknownOptionsAndStrayWords)
{
    EXPECT_EQ(Parse({"--round=5"}), "There is no option --round (--PrintHelp lists them).");
    EXPECT_NE(Parse({"--Rounds=5"}), "");
    EXPECT_NE(Parse({"--ns3::NoSuchClass::X=1"}), "");
    EXPECT_NE(Parse({"--ns3::UniformRandomVariable::NoSuch=1"}), "");
    EXPECT_EQ(Parse({"5"}), "The word '5' is no option: options are written --name=value.");
    for (const char* word : {"", "-", "--", "--=", "--=5", "rounds=5", "-5", "---rounds=5"})
    {
        EXPECT_NE(Parse({word}), "") << word;
    }
    EXPECT_EQ(Parse({"--rounds=5", "--rounds=5"}), "The option --rounds was given twice.");
    EXPECT_NE(Parse({"--new\nline\x1b[0m=1"}), "");
}

TEST_F(FederatedCommandLines, RefusesWrongCounts)
{
    EXPECT_EQ(Parse({"--rounds=5x"}),
              "The value of --rounds=5x is not a whole number from 1 to 1000.");
    for (const char* value : {"0",
                              "1001",
                              "-1",
                              "+5",
                              "5.5",
                              "1e2",
                              " 5",
                              "5 ",
                              "0x5",
                              "4294967297",
                              "nan",
                              "99999999999999999999"})
    {
        EXPECT_NE(Parse({std::string("--rounds=") + value}), "") << value;
    }
    EXPECT_EQ(Parse({"--rounds="}), "The option --rounds needs a value, as in --rounds=VALUE.");
    EXPECT_NE(Parse({"--rounds"}), "");
    EXPECT_NE(Parse({"--rounds", "5"}), "");
    EXPECT_EQ(m_rounds, 20U);
}

TEST_F(FederatedCommandLines, RefusesWrongReals)
{
    EXPECT_EQ(Parse({"--epsilon=nan"}),
              "The value of --epsilon=nan is not a number from 0 to 100.");
    for (const char* value : {"-1e-9", "100.1", "inf", "-inf", "1e999", "1,5", "5x", "0.1.2", ""})
    {
        EXPECT_NE(Parse({std::string("--epsilon=") + value}), "") << value;
    }
}

TEST_F(FederatedCommandLines, RefusesWrongTimes)
{
    EXPECT_EQ(Parse({"--deadline=2seconds"}),
              "The value of --deadline=2seconds is not a time with its unit from 0.001s to 3600s.");
    for (const char* value : {"4",
                              "s",
                              "-4s",
                              "0s",
                              "2h",
                              "4 s",
                              "4S",
                              "1es",
                              "--4s",
                              "nans",
                              "infs",
                              "1e300s",
                              "4sx",
                              "4s ",
                              "1:2s"})
    {
        EXPECT_NE(Parse({std::string("--deadline=") + value}), "") << value;
    }
    EXPECT_EQ(m_deadline, Seconds(4));
    for (const char* value : {"1.5s", "1500ms", "1.5e6us", "1500000000ns", "0.025min"})
    {
        EXPECT_EQ(Parse({std::string("--deadline=") + value}), "") << value;
        EXPECT_NEAR(m_deadline.GetSeconds(), 1.5, 2e-9) << value;
    }
}

TEST_F(FederatedCommandLines, RefusesWrongWords)
{
    EXPECT_EQ(Parse({"--mode=mesh"}),
              "The value of --mode=mesh is not one of adhoc, infrastructure.");
    EXPECT_NE(Parse({"--mode=adho"}), "");
    EXPECT_NE(Parse({"--mode=adhoc "}), "");
    EXPECT_EQ(Parse({"--budget=3"}), "The value of --budget=3 is not measured.");
    EXPECT_EQ(m_budget, "measured");
    EXPECT_NE(Parse({"--note="}), "");
    for (const char* value : {"", "2", "01", "yes", "1.0", "truex"})
    {
        EXPECT_NE(Parse({std::string("--pcap=") + value}), "") << value;
    }
}

TEST_F(FederatedCommandLines, RefusesFoldersThatAreMissing)
{
    const std::string file = Write("file", "");
    EXPECT_EQ(Parse({"--output=" + GetFolder() + "/none/run"}),
              "The value of --output=" + GetFolder() +
                  "/none/run is in a folder that does not exist.");
    EXPECT_NE(Parse({"--output=" + GetFolder() + "/"}), "");
    EXPECT_NE(Parse({"--output=" + file + "/run"}), "");
    EXPECT_NE(Parse({"--output="}), "");
    EXPECT_NE(Parse({"--data=" + GetFolder() + "/none"}).find("make data"), std::string::npos);
    EXPECT_NE(Parse({"--data=" + file}), "");
    EXPECT_EQ(Parse({"--output=run"}), "") << "the current folder";
    if (geteuid() != 0)
    {
        chmod(GetFolder().c_str(), 0500);
        EXPECT_NE(Parse({"--output=" + GetFolder() + "/run"}).find("cannot be written"),
                  std::string::npos);
    }
}

TEST_F(FederatedCommandLines, ChecksTheDefaultFoldersToo)
{
    std::string data = GetFolder() + "/none";
    FederatedCommandLine commandLine("x.cc", "");
    commandLine.AddData(data);
    std::string program = "x";
    char* argv[] = {program.data(), nullptr};
    std::string error;
    EXPECT_FALSE(commandLine.Parse(1, argv, error));
    EXPECT_EQ(error,
              "The default --data=" + data +
                  " is not a folder ('make data' gets MNIST into data/mnist).");

    std::string output = GetFolder() + "/none/run";
    FederatedCommandLine second("x.cc", "");
    second.AddOutput(output);
    EXPECT_FALSE(second.Parse(1, argv, error));
    EXPECT_NE(error.find("does not exist"), std::string::npos);
}

TEST_F(FederatedCommandLines, SetsGlobalValuesAndAttributes)
{
    EXPECT_EQ(Parse({"--RngRun=18446744073709551615", "--RngSeed=4294944442"}), "");
    EXPECT_EQ(RngSeedManager::GetRun(), 18446744073709551615U);
    EXPECT_EQ(RngSeedManager::GetSeed(), 4294944442U);

    EXPECT_EQ(Parse({"--ns3::ConstantRandomVariable::Constant=2.5"}), "");
    EXPECT_EQ(CreateObject<ConstantRandomVariable>()->GetValue(), 2.5);
    Config::SetDefault("ns3::ConstantRandomVariable::Constant", DoubleValue(0));
}

TEST_F(FederatedCommandLines, TellsHowTheProgramWasCalled)
{
    ASSERT_EQ(Parse({"--rounds=40.0", "--deadline=500ms", "--pcap", "--RngRun=3"}), "");
    const FederatedCommand command = m_commandLine.GetCommand();
    EXPECT_EQ(command.program, "federated-test-example");
    const std::vector<std::string> words{
        "program", "--rounds=40.0", "--deadline=500ms", "--pcap", "--RngRun=3"};
    EXPECT_EQ(command.words, words);
    const FederatedCommand::Values settings{{"RngRun", "3"}};
    EXPECT_EQ(command.settings, settings);
    const std::map<std::string, std::string> options(command.options.begin(),
                                                     command.options.end());
    EXPECT_EQ(options.size(), 9U);
    EXPECT_EQ(options.at("rounds"), "40");
    EXPECT_EQ(options.at("deadline"), "0.5s");
    EXPECT_EQ(options.at("pcap"), "true");
    EXPECT_EQ(options.at("mode"), m_mode);
    EXPECT_EQ(options.at("note"), m_note);
}

TEST_F(FederatedCommandLines, RefusesWhatNs3WouldMisreadOrAbortOn)
{
    for (const char* word : {"--RngRun=-1",
                             "--RngRun=5x",
                             "--RngRun=",
                             "--RngRun",
                             "--RngSeed=0",
                             "--RngSeed=4294944443",
                             "--RngSeed=4294967296",
                             "--SchedulerType=ns3::NoSuchScheduler",
                             "--ns3::ConstantRandomVariable::Constant=5x",
                             "--ns3::ConstantRandomVariable::Constant=nan",
                             "--ns3::UniformRandomVariable::Antithetic=maybe",
                             "--PrintAttributes=ns3::NoSuchClass",
                             "--PrintAttributes"})
    {
        EXPECT_NE(Parse({word}), "") << word;
    }
    EXPECT_EQ(Parse({"--RngRun=-1"}), "The value of --RngRun=-1 is not a whole number.");
    EXPECT_EQ(Parse({"--ns3::ConstantRandomVariable::Constant=5x"}),
              "The value of --ns3::ConstantRandomVariable::Constant=5x is not one that ns-3 takes "
              "here.");
    EXPECT_EQ(RngSeedManager::GetRun(), 1U);
}

TEST_F(FederatedCommandLines, HelpShowsOptionsAndDefaultsAndEndsWell)
{
    // What ends the process prints on standard output, which a death test does not see.
    const auto help = [this]()
    {
        dup2(STDERR_FILENO, STDOUT_FILENO);
        LeaveAtOnce();
        Parse({"--rounds=5", "--PrintHelp"});
    };
    EXPECT_EXIT(help(), testing::ExitedWithCode(0), "federated-test-example \\[Program Options\\]");
    EXPECT_EXIT(
        help(), testing::ExitedWithCode(0), "--rounds: +Number of rounds, 1 to 1000 \\[20\\]");
    EXPECT_EXIT(help(), testing::ExitedWithCode(0), "--epsilon: .* \\[1e-06\\]");
    EXPECT_EXIT(help(), testing::ExitedWithCode(0), "--deadline: .* \\[4s\\]");
    EXPECT_EXIT(help(), testing::ExitedWithCode(0), "--pcap: .* \\[false\\]");
    for (const char* option : {"--help", "--PrintAttributes=ns3::UniformRandomVariable"})
    {
        EXPECT_EXIT((LeaveAtOnce(), Parse({option})), testing::ExitedWithCode(0), "");
    }
}

TEST_F(FederatedCommandLines, WhatIsRequiredEndsTheProcessUnlessItHolds)
{
    m_commandLine.Require(true, "Not this.");
    EXPECT_EXIT((LeaveAtOnce(), m_commandLine.Require(false, "That is wrong.")),
                testing::ExitedWithCode(1),
                "^federated-test-example: That is wrong\\.\n$");
}

TEST_F(FederatedCommandLines, AWrongOptionEndsTheProcessWithOneSentence)
{
    std::string program = "x";
    std::string option = "--rounds=5x";
    char* argv[] = {program.data(), option.data(), nullptr};
    EXPECT_EXIT((LeaveAtOnce(), m_commandLine.ParseOrExit(2, argv)),
                testing::ExitedWithCode(1),
                "^federated-test-example: The value of --rounds=5x is not a whole number from 1 to "
                "1000\\.\n$");
}

TEST_F(FederatedCommandLines, EndsWithAnErrorIfTheOutputIsNotComplete)
{
    const auto end = [this](const char* content, bool printed)
    {
        LeaveAtOnce();
        {
            FederatedCommandLine example("/somewhere/example.cc", "");
            example.GetTraceFiles().AddLines(Write("run.tr", content));
            std::cout.setstate(printed ? std::ios::goodbit : std::ios::badbit);
        }
        std::exit(0);
    };
    EXPECT_EXIT(end("a line\n", true), testing::ExitedWithCode(0), "^$");
    EXPECT_EXIT(end("half a li", true),
                testing::ExitedWithCode(1),
                "^example: The file '.*run.tr' is not complete: the disk is full or failed.\n$");
    EXPECT_EXIT(end("a line\n", false),
                testing::ExitedWithCode(1),
                "^example: Cannot write the result to standard output.\n$");
}

TEST(FederatedScenarioOptions, ReadsGroups)
{
    std::vector<FederatedScenarioOptions::Group> groups;
    ASSERT_TRUE(FederatedScenarioOptions::ReadGroups("50x2,49x4,1x16", groups));
    ASSERT_EQ(groups.size(), 3U);
    EXPECT_EQ(groups[0].devices, 50U);
    EXPECT_EQ(groups[0].bits, 2U);
    EXPECT_EQ(groups[1].devices, 49U);
    EXPECT_EQ(groups[1].bits, 4U);
    EXPECT_EQ(groups[2].devices, 1U);
    EXPECT_EQ(groups[2].bits, 16U);
    EXPECT_TRUE(FederatedScenarioOptions::ReadGroups("10000x1", groups));
    ASSERT_EQ(groups.size(), 1U) << "instead of those from before";
    for (const char* text : {"",
                             "50",
                             "x2",
                             "50x",
                             "50x2,",
                             ",50x2",
                             "50x2,,50x4",
                             "50x2;50x4",
                             "0x2",
                             "50x0",
                             "50x99",
                             "-1x2",
                             "50x-2",
                             "50x2.5",
                             "5e1x2",
                             "50X2",
                             "50x2x3",
                             " 50x2",
                             "50x2 ",
                             "10001x2",
                             "9999x2,2x4",
                             "4294967297x2",
                             "18446744073709551617x2"})
    {
        EXPECT_FALSE(FederatedScenarioOptions::ReadGroups(text, groups)) << text;
    }
}

TEST(FederatedScenarioOptions, RefuseToSelectByAnSnrThatIsNotMeasured)
{
    for (const bool measuresSnr : {true, false})
    {
        for (std::string option : {"--selection=random",
                                   "--selection=round-robin",
                                   "--selection=best-snr",
                                   "--selection=worst-snr"})
        {
            SCOPED_TRACE(option);
            FederatedScenarioOptions options;
            options.measuresSnr = measuresSnr;
            FederatedCommandLine cmd("/somewhere/federated-test-example.cc", "Does nothing.");
            options.AddSelection(cmd);
            std::string program = "program";
            char* argv[] = {program.data(), option.data()};
            std::string error;
            const bool isKnown = option != "--selection=worst-snr";
            EXPECT_EQ(cmd.Parse(2, argv, error), isKnown);
            if (!isKnown)
            {
                EXPECT_NE(error.find("random, best-snr, round-robin"), std::string::npos) << error;
            }
            else if (measuresSnr || option != "--selection=best-snr")
            {
                options.ReadOrExit(cmd); // which ends the process if something is wrong
            }
            else
            {
                EXPECT_EXIT((LeaveAtOnce(), options.ReadOrExit(cmd)),
                            testing::ExitedWithCode(1),
                            "^federated-test-example: Option --selection=best-snr needs the SNR of "
                            "the links, which is not measured here\\.\n$");
            }
        }
    }
}
