// SPDX-License-Identifier: GPL-2.0-only

#include "ns3/federated-ranks.h"

#include "ns3/federated-command-line.h"
#include "ns3/federated-privacy-totals.h"
#include "ns3/learning-task.h"
#include "ns3/simulator.h"

#include "schedule-call.h"
#include "two-ranks.h"

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

using namespace ns3;

namespace
{

/** Two ranks, of which the other one says what it was told to. */
class TwoRanks : public FederatedRanks::Engine
{
  public:
    void Begin(int& /* argc */, char**& /* argv */) override
    {
        hasBegun = true;
    }

    uint32_t GetRank() const override
    {
        return rank;
    }

    uint32_t GetSize() const override
    {
        return 2;
    }

    void AlignWindows() override
    {
        ++aligned;
    }

    double GetMax(double value) override
    {
        ++asked;
        return std::max(value, other);
    }

    std::vector<std::string> GetAll(const std::string& text) override
    {
        return {"", text};
    }

    void End() override
    {
        hasBegun = false;
    }

    uint32_t rank = 1;                                       //!< This rank.
    double other = -std::numeric_limits<double>::infinity(); //!< What the other rank says.
    uint32_t asked = 0;                                      //!< Times that ranks met.
    uint32_t aligned = 0;                                    //!< Calls of AlignWindows().
    bool hasBegun = false;                                   //!< Between Begin() and End().
};

} // namespace

/** @ingroup federated-tests What ranks tell each other, without MPI. */
class FederatedRanksTest : public testing::Test
{
  protected:
    void SetUp() override
    {
        Simulator::Destroy();
        if (FederatedRanks::HasMpi())
        {
            GTEST_SKIP() << "this build has MPI, whose engine cannot be given back";
        }
    }

    void TearDown() override
    {
        Simulator::Destroy();
        if (m_isRegistered)
        {
            FederatedRanks::Register(nullptr);
        }
    }

    /** Simulate two ranks. */
    void Register()
    {
        FederatedRanks::Register(&m_engine);
        m_isRegistered = true;
    }

    /**
     * Run two processes as mpirun does: one that fails takes the other one with it.
     * @param main What a rank does; it waits for messages afterwards.
     * @return what they print on standard error.
     */
    std::string RunBoth(const std::function<void(uint32_t rank)>& main)
    {
        int ends[2];
        if (pipe(ends) != 0)
        {
            ADD_FAILURE() << "no pipe";
            return "";
        }
        Register();
        pid_t ranks[2];
        for (uint32_t rank = 0; rank < 2; ++rank)
        {
            ranks[rank] = fork();
            if (ranks[rank] == 0)
            {
                dup2(ends[1], STDERR_FILENO);
#ifdef __GLIBC__
                // Without destructors of static objects: that of ns-3.35's tests asserts that none
                // runs, as this one does in a forked process.
                on_exit([](int exitCode, void*) { _exit(exitCode); }, nullptr);
#endif
                m_engine.rank = rank;
                main(rank);
                pause();
            }
        }
        close(ends[1]);
        int status = 0;
        const pid_t first = waitpid(-1, &status, 0);
        EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 1);
        const pid_t other = first == ranks[0] ? ranks[1] : ranks[0];
        kill(other, SIGTERM);
        waitpid(other, &status, 0);
        std::string text;
        char letter = 0;
        while (read(ends[0], &letter, 1) == 1)
        {
            text += letter;
        }
        close(ends[0]);
        return text;
    }

    TwoRanks m_engine;           //!< The ranks.
    bool m_isRegistered = false; //!< Whether they are simulated.
};

TEST_F(FederatedRanksTest, WithoutMpiThereIsOne)
{
    EXPECT_EQ(FederatedRanks::GetSize(), 1U);
    EXPECT_EQ(FederatedRanks::GetRank(), 0U);
    EXPECT_EQ(FederatedRanks::GetMax(3), 3);
    EXPECT_TRUE(std::isnan(FederatedRanks::GetMax(std::nan(""))));
    int argc = 0;
    char** argv = nullptr;
    FederatedRanks::Begin(argc, argv);
    EXPECT_EQ(FederatedRanks::End(7), 7);
}

TEST_F(FederatedRanksTest, TheLargestKnownValueOfAllRanksCounts)
{
    Register();
    int argc = 0;
    char** argv = nullptr;
    FederatedRanks::Begin(argc, argv);
    EXPECT_TRUE(m_engine.hasBegun);
    EXPECT_EQ(FederatedRanks::GetSize(), 2U);
    EXPECT_EQ(FederatedRanks::GetRank(), 1U);
    EXPECT_TRUE(std::isnan(FederatedRanks::GetMax(std::nan("")))) << "no rank knows it";
    EXPECT_EQ(FederatedRanks::GetMax(-5), -5) << "the other does not know it";
    m_engine.other = 2;
    EXPECT_EQ(FederatedRanks::GetMax(std::nan("")), 2) << "only the other knows it";
    EXPECT_EQ(FederatedRanks::GetMax(1), 2);
    EXPECT_EQ(FederatedRanks::End(1), 2) << "the worst exit code";
    EXPECT_FALSE(m_engine.hasBegun);
}

TEST_F(FederatedRanksTest, TextsOfAllRanksAreKnownToEach)
{
    EXPECT_EQ(FederatedRanks::GetAll("alone"), std::vector<std::string>{"alone"});
    const auto texts = RunOnTwoRanks(
        []()
        {
            const auto all =
                FederatedRanks::GetAll(FederatedRanks::GetRank() == 0 ? "" : "\xff, \x01");
            return std::to_string(all.size()) + ": <" + all[0] + "> <" + all[1] + ">";
        });
    EXPECT_EQ(texts[0], "2: <> <\xff, \x01>");
    EXPECT_EQ(texts[1], texts[0]);
}

TEST_F(FederatedRanksTest, PrivacyIsAddedUp)
{
    const auto texts = RunOnTwoRanks(
        []()
        {
            const auto task = CreateObject<LearningTask>();
            const uint32_t rank = FederatedRanks::GetRank();
            FederatedPrivacyTotals totals;
            totals.AddClaim("no claim: Why not. (4 bits)", 3 + rank);
            totals.AddClaim("no claim: Why not. (4 bits)", 5 + rank);
            if (rank == 1)
            {
                totals.AddClaim("differential privacy (2 bits)", 2);
                totals.AddSideInformation("the distortion", 4);
            }
            for (uint32_t share = 0; share < 4; ++share)
            {
                totals.AddDevice(task, 4 * rank + share, 1e-5, share < 1 + rank ? 5 : 0);
            }
            totals.AddDevice(task, 4 * rank, 1e-5, 2); // it visits another cell
            totals.AddOtherRanks();
            std::ostringstream text;
            totals.Print(text);
            return text.str();
        });
    EXPECT_EQ(texts[0],
              "privacy: Cell 2: differential privacy (2 bits)\n"
              "privacy: Cells 3 to 6: no claim: Why not. (4 bits)\n"
              "privacy: most answers of a device: 0\n"
              "privacy: Cell 4: sent without protection: the distortion\n"
              "privacy: 3 of 8 devices declined 19 grants, their budget being spent\n");
    EXPECT_EQ(texts[1], texts[0]);
}

TEST_F(FederatedRanksTest, AllStopAtTheSameMultipleOfThePeriodOnceTheLastHasFinished)
{
    for (const bool isSplit : {false, true})
    {
        if (isSplit)
        {
            Register();
            m_engine.other = 1; // has not finished
            ScheduleCall(Seconds(0.52), [this]() { m_engine.other = 0; });
        }
        bool hasFinished = false;
        EXPECT_FALSE(FederatedRanks::IsStoppingTogether());
        FederatedRanks::StopTogether([&hasFinished]() { return hasFinished; });
        FederatedRanks::StopTogether([&hasFinished]() { return hasFinished; });
        EXPECT_TRUE(FederatedRanks::IsStoppingTogether());
        ScheduleCall(Seconds(0.23), [&hasFinished]() { hasFinished = true; });
        ScheduleCall(Seconds(100), []() {});
        Simulator::Run();
        EXPECT_NEAR(Simulator::Now().GetSeconds(), isSplit ? 0.6 : 0.3, 1e-9);
        EXPECT_EQ(m_engine.aligned, isSplit ? 1U : 0U);
        EXPECT_EQ(m_engine.asked, isSplit ? 6U : 0U);
        Simulator::Destroy();
        EXPECT_FALSE(FederatedRanks::IsStoppingTogether()) << "the next simulation begins anew";
    }
}

TEST_F(FederatedRanksTest, AMistakeOfAllRanksIsSaidOnceAndThatOfOneIsSaidToo)
{
    const FederatedCommandLine cmd("program", "");
    const std::string sentence = "program: The value is wrong.\n";
    EXPECT_EQ(RunBoth([&cmd](uint32_t) { cmd.Fail("The value is wrong."); }), sentence);
    for (const uint32_t wrong : {0, 1})
    {
        EXPECT_EQ(RunBoth([&cmd, wrong](uint32_t rank)
                          { cmd.Require(rank != wrong, "The value is wrong."); }),
                  sentence)
            << wrong;
    }
}
