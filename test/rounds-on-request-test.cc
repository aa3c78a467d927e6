// SPDX-License-Identifier: GPL-2.0-only

#include "federation.h"
#include "schedule-call.h"

#include "ns3/boolean.h"
#include "ns3/string.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

using namespace ns3;

/** @ingroup federated-tests A center that runs rounds when it is asked, as that of an edge does. */
class RoundsOnRequest : public Federation
{
  public:
    /** Trace sink of RoundStart. */
    void OnStart(uint32_t round, const std::vector<uint32_t>&)
    {
        m_started.push_back(round);
        if (m_whenStarted)
        {
            std::exchange(m_whenStarted, nullptr)();
        }
    }

    /** Trace sink of RoundEnd. */
    void OnEnd(const RoundRecord&)
    {
        if (m_whenEnded)
        {
            std::exchange(m_whenEnded, nullptr)();
        }
    }

  protected:
    /** Build a center that runs rounds on request, and four devices. */
    void BuildOnRequest()
    {
        Build(4);
        center->SetAttribute("OnRequest", BooleanValue(true));
        center->SetAttribute("Deadline", StringValue("2s"));
        SetForDevices("TimePerSample", StringValue("ns3::ConstantRandomVariable[Constant=0.0005]"));
        center->TraceConnectWithoutContext("RoundStart",
                                           MakeCallback(&RoundsOnRequest::OnStart, this));
        center->TraceConnectWithoutContext("RoundEnd", MakeCallback(&RoundsOnRequest::OnEnd, this));
    }

    /** @return a request that is never out of time. */
    FusionCenter::RoundsRequest MakeRequest(uint32_t before, uint32_t count)
    {
        FusionCenter::RoundsRequest request;
        task->Initialize(request.model);
        request.before = before;
        request.rounds = count;
        request.latest = Seconds(1000);
        request.done = [this](const FusionCenter::RoundsOutcome& outcome)
        { m_outcomes.push_back(outcome); };
        return request;
    }

    /** Ask for rounds. */
    void Ask(uint32_t before, uint32_t count)
    {
        EXPECT_TRUE(center->RunRounds(MakeRequest(before, count)));
    }

    /** @return the numbers of the rounds that ended. */
    std::vector<uint32_t> GetEnded() const
    {
        std::vector<uint32_t> numbers;
        for (const RoundRecord& record : rounds)
        {
            numbers.push_back(record.round);
        }
        return numbers;
    }

    std::vector<uint32_t> m_started;                     //!< Rounds.
    std::vector<FusionCenter::RoundsOutcome> m_outcomes; //!< Of requests.
    std::function<void()> m_whenStarted;                 //!< Called once, when a round starts.
    std::function<void()> m_whenEnded;                   //!< Called once, when a round ends.
};

TEST_F(RoundsOnRequest, ARoundThatIsCanceledWhenItStartsCutsOffNoLaterOne)
{
    BuildOnRequest();
    m_whenStarted = [this]() { center->CancelRounds(); };
    ScheduleCall(Seconds(1), [this]() { Ask(0, 3); });
    ScheduleCall(Seconds(1.1), [this]() { Ask(3, 40); });
    Run();
    EXPECT_GT(rounds.back().end, Seconds(3)) << "when the canceled round would have ended";
    ASSERT_EQ(rounds.size(), 41U);
    EXPECT_EQ(rounds.front().received, 0U);
    EXPECT_EQ(rounds.front().end, rounds.front().start);
    for (std::size_t i = 1; i < rounds.size(); ++i)
    {
        EXPECT_EQ(rounds[i].received, 4U) << rounds[i].round;
    }
    ASSERT_EQ(m_outcomes.size(), 1U);
    EXPECT_EQ(m_outcomes.front().fused, 40U);
}

TEST_F(RoundsOnRequest, ARequestThatReplacesAnotherWhenARoundStartsIsServedAfterThatRound)
{
    BuildOnRequest();
    m_whenStarted = [this]() { Ask(3, 2); };
    ScheduleCall(Seconds(1), [this]() { Ask(0, 3); });
    Run();
    EXPECT_EQ(GetEnded(), (std::vector<uint32_t>{1, 4, 5}));
    EXPECT_EQ(rounds.front().received, 0U);
    ASSERT_EQ(m_outcomes.size(), 1U);
    EXPECT_EQ(m_outcomes.front().fused, 2U);
}

TEST_F(RoundsOnRequest, EachRoundRunsOnceIfMoreAreAskedForWhenARoundEnds)
{
    BuildOnRequest();
    m_whenEnded = [this]() { Ask(1, 3); };
    ScheduleCall(Seconds(1), [this]() { Ask(0, 1); });
    Run();
    EXPECT_EQ(GetEnded(), (std::vector<uint32_t>{1, 2, 3, 4}));
    EXPECT_EQ(m_started, GetEnded());
    for (const RoundRecord& record : rounds)
    {
        EXPECT_EQ(record.received, 4U) << record.round;
    }
}

TEST_F(RoundsOnRequest, RoundsGoOnAfterARequestThatWasCanceled)
{
    BuildOnRequest();
    ScheduleCall(Seconds(1), [this]() { Ask(0, 3); });
    m_whenEnded = [this]() { ScheduleCall(MilliSeconds(1), [this]() { Ask(0, 3); }); };
    Run();
    EXPECT_EQ(GetEnded(), (std::vector<uint32_t>{1, 2, 3, 4, 5})) << "no number twice";
    EXPECT_EQ(rounds[1].received, 0U) << "it was canceled";
}

TEST_F(RoundsOnRequest, RoundsBeginAnewAfterANumberThatNobodyBelieves)
{
    BuildOnRequest();
    ScheduleCall(Seconds(1), [this]() { Ask(1U << 21, 2); }); // devices drop its grants
    ScheduleCall(Seconds(10), [this]() { Ask(1, 2); });
    Run();
    EXPECT_EQ(GetEnded(), (std::vector<uint32_t>{(1U << 21) + 1, (1U << 21) + 2, 2, 3}));
    EXPECT_EQ(rounds[1].received, 0U);
    EXPECT_EQ(rounds[2].received, 4U);
    EXPECT_EQ(rounds[3].received, 4U);
}

TEST_F(RoundsOnRequest, ACenterThatDoesNotRunTakesNoRequest)
{
    BuildOnRequest();
    EXPECT_FALSE(center->RunRounds(MakeRequest(0, 1))) << "it has not started";
    Run();
    Simulator::Destroy();
    EXPECT_FALSE(center->RunRounds({})) << "it has no task any more";
    const auto other = CreateObject<FusionCenter>();
    other->SetAttribute("OnRequest", BooleanValue(true));
    EXPECT_FALSE(other->RunRounds({}));
}

using RoundsOnRequestDeathTest = RoundsOnRequest;

TEST_F(RoundsOnRequestDeathTest, ARequestThatCannotBeServedIsASentence)
{
    BuildOnRequest();
    ScheduleCall(Seconds(1),
                 [this]()
                 {
                     auto request = MakeRequest(0, 1);
                     request.done = nullptr;
                     EXPECT_DEATH((void)center->RunRounds(std::move(request)),
                                  "RunRounds got no function to call at the end");
                     const uint32_t most = std::numeric_limits<uint32_t>::max();
                     EXPECT_DEATH((void)center->RunRounds(MakeRequest(most, 1)),
                                  "RunRounds got more rounds than can be counted, 1 after " +
                                      std::to_string(most));
                 });
    Run();
}
