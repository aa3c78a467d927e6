// SPDX-License-Identifier: GPL-2.0-only

#include "schedule-call.h"

#include "ns3/control-retry.h"
#include "ns3/simulator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <vector>

using namespace ns3;
using namespace ns3::federated;

namespace
{

/** Counts what a ControlRetry does, and when. */
class ControlRetryTest : public testing::Test
{
  public:
    void TearDown() override
    {
        retry.reset();
        Simulator::Destroy();
    }

    static ControlRetry::Schedule MakeSchedule(uint32_t retries, uint32_t doublings = 0)
    {
        ControlRetry::Schedule schedule;
        schedule.timeout = MilliSeconds(100);
        schedule.retries = retries;
        schedule.doublings = doublings;
        return schedule;
    }

    void Start(const ControlRetry::Schedule& schedule,
               const std::optional<Time>& first = std::nullopt)
    {
        retry->Start(
            schedule,
            [this]()
            {
                sent.push_back(Simulator::Now());
                return credit;
            },
            [this]() { gaveUp.push_back(Simulator::Now()); },
            first);
    }

    static std::vector<Time> MakeTimes(const std::vector<int>& milliseconds)
    {
        std::vector<Time> times;
        for (const int time : milliseconds)
        {
            times.push_back(MilliSeconds(time));
        }
        return times;
    }

    std::unique_ptr<ControlRetry> retry = std::make_unique<ControlRetry>();
    Time credit; // what sending returns
    std::vector<Time> sent;
    std::vector<Time> gaveUp;
};

} // namespace

TEST_F(ControlRetryTest, SendsAtOnceUnlessItIsToldToWait)
{
    Start(MakeSchedule(0));
    EXPECT_EQ(sent, MakeTimes({0})) << "before Start returns";
    EXPECT_TRUE(retry->IsActive());
    sent.clear();
    Start(MakeSchedule(0), MilliSeconds(30));
    EXPECT_TRUE(sent.empty());
    EXPECT_TRUE(retry->IsActive());
    Simulator::Run();
    EXPECT_EQ(sent, MakeTimes({30}));
    sent.clear();
    Start(MakeSchedule(0), Time(0));
    EXPECT_TRUE(sent.empty()) << "in an event of its own";
    Simulator::Run();
    EXPECT_EQ(sent.size(), 1U);
}

TEST_F(ControlRetryTest, RepeatsAndGivesUp)
{
    struct Case
    {
        uint32_t retries;
        uint32_t doublings;
        std::vector<int> sent;
        int gaveUp;
    };

    const std::vector<Case> cases{
        {0, 0, {0}, 100},
        {1, 0, {0, 100}, 200},
        {4, 0, {0, 100, 200, 300, 400}, 500},
        {4, 1, {0, 100, 300, 500, 700}, 900},
        {4, 2, {0, 100, 300, 700, 1100}, 1500},
        {4, 5, {0, 100, 300, 700, 1500}, 3100},
    };
    for (const Case& one : cases)
    {
        SCOPED_TRACE(testing::Message() << one.retries << " retries, " << one.doublings);
        sent.clear();
        gaveUp.clear();
        Start(MakeSchedule(one.retries, one.doublings));
        Simulator::Run();
        EXPECT_EQ(sent, MakeTimes(one.sent));
        EXPECT_EQ(gaveUp, MakeTimes({one.gaveUp})) << "once, after a last wait";
        EXPECT_FALSE(retry->IsActive());
        Simulator::Destroy(); // time begins again
    }
}

TEST_F(ControlRetryTest, MayGiveUpWithoutAWord)
{
    retry->Start(
        MakeSchedule(1), []() { return Time(0); }, nullptr);
    Simulator::Run();
    EXPECT_EQ(Simulator::Now(), MilliSeconds(200));
    EXPECT_FALSE(retry->IsActive());
}

TEST_F(ControlRetryTest, NeverGivesUpIfItIsNotToldTo)
{
    Start(MakeSchedule(ControlRetry::FOREVER, 3));
    Simulator::Stop(Seconds(800));
    Simulator::Run();
    // At 0, 0.1, 0.3, 0.7, 1.5, 2.3 s, ...: every 0.8 s from 0.7 s on.
    EXPECT_EQ(sent.size(), 4U + 999);
    EXPECT_TRUE(gaveUp.empty());
    EXPECT_TRUE(retry->IsActive());
}

TEST_F(ControlRetryTest, StopsWhenItIsAcknowledged)
{
    Start(MakeSchedule(10));
    ScheduleCall(MilliSeconds(250), [this]() { retry->Stop(); });
    Simulator::Run();
    EXPECT_EQ(sent, MakeTimes({0, 100, 200}));
    EXPECT_TRUE(gaveUp.empty());
    EXPECT_FALSE(retry->IsActive());
    retry->Stop(); // again, when there is nothing to stop
    EXPECT_FALSE(retry->IsActive());
}

TEST_F(ControlRetryTest, StopsBeforeTheFirstMessage)
{
    Start(MakeSchedule(10), MilliSeconds(30));
    retry->Stop();
    Simulator::Run();
    EXPECT_TRUE(sent.empty());
    EXPECT_TRUE(gaveUp.empty());
}

TEST_F(ControlRetryTest, CanBeStoppedWhileItSends)
{
    uint32_t count = 0;
    retry->Start(
        MakeSchedule(10),
        [&]()
        {
            if (++count == 2)
            {
                retry->Stop();
            }
            return Time(0);
        },
        [this]() { gaveUp.push_back(Simulator::Now()); });
    Simulator::Run();
    EXPECT_EQ(count, 2U);
    EXPECT_TRUE(gaveUp.empty());
    EXPECT_FALSE(retry->IsActive());
}

TEST_F(ControlRetryTest, CanBeStartedWhileItSends)
{
    uint32_t first = 0;
    retry->Start(
        MakeSchedule(10),
        [&]()
        {
            ++first;
            Start(MakeSchedule(1)); // another message, which is sent at once
            return Time(0);
        },
        nullptr);
    Simulator::Run();
    EXPECT_EQ(first, 1U) << "the first message is given up without a word";
    EXPECT_EQ(sent, MakeTimes({0, 100}));
    EXPECT_EQ(gaveUp, MakeTimes({200}));
}

TEST_F(ControlRetryTest, CanBeStartedWhenItGivesUp)
{
    bool isActive = true;
    retry->Start(
        MakeSchedule(0),
        []() { return Time(0); },
        [&]()
        {
            isActive = retry->IsActive();
            Start(MakeSchedule(1));
        });
    Simulator::Run();
    EXPECT_FALSE(isActive) << "it had given up before it said so";
    EXPECT_EQ(sent, MakeTimes({100, 200}));
    EXPECT_EQ(gaveUp, MakeTimes({300}));
}

TEST_F(ControlRetryTest, StartsAnewWithAllRetriesAndTheShortestWait)
{
    Start(MakeSchedule(2, 1));
    ScheduleCall(MilliSeconds(350), [this]() { Start(MakeSchedule(2, 1)); });
    Simulator::Run();
    EXPECT_EQ(sent, MakeTimes({0, 100, 300, 350, 450, 650}));
    EXPECT_EQ(gaveUp, MakeTimes({850})) << "not for the message that was replaced";
}

TEST_F(ControlRetryTest, SendsOnceWhereNothingIsLost)
{
    ControlRetry::Schedule schedule = MakeSchedule(10);
    schedule.repeats = false;
    Start(schedule, MilliSeconds(30));
    Simulator::Run();
    EXPECT_EQ(sent, MakeTimes({30}));
    EXPECT_TRUE(gaveUp.empty());
    EXPECT_TRUE(retry->IsActive()) << "it waits for its acknowledgment";
    retry->Stop();
    EXPECT_FALSE(retry->IsActive());
}

TEST_F(ControlRetryTest, WaitsLessByWhatHasPassed)
{
    credit = MilliSeconds(30);
    Start(MakeSchedule(3, 1));
    Simulator::Run();
    // Waits of 100, 200, 200, 200 ms, each less 30.
    EXPECT_EQ(sent, MakeTimes({0, 70, 240, 410}));
    EXPECT_EQ(gaveUp, MakeTimes({580}));
}

TEST_F(ControlRetryTest, MakesWaitsUpToHalfLonger)
{
    ControlRetry::Schedule schedule = MakeSchedule(1000);
    schedule.jitter = CreateObject<UniformRandomVariable>();
    schedule.jitter->SetStream(5);
    Start(schedule);
    Simulator::Run();
    ASSERT_EQ(sent.size(), 1001U);
    Time least = Time::Max();
    Time most;
    for (std::size_t i = 1; i < sent.size(); ++i)
    {
        least = std::min(least, sent[i] - sent[i - 1]);
        most = std::max(most, sent[i] - sent[i - 1]);
    }
    EXPECT_GE(least, MilliSeconds(100));
    EXPECT_LE(most, MilliSeconds(150));
    // Uniform: none of 1000 is within the first or last 2 % with probability 4e-9.
    EXPECT_LT(least, MilliSeconds(101));
    EXPECT_GT(most, MilliSeconds(149));
    // The mean is 125 ms, its standard deviation 50 ms / sqrt(12 * 1000).
    EXPECT_NEAR(sent.back().GetSeconds() / 1000, 0.125, 6 * 0.05 / std::sqrt(12000.0));
}

TEST_F(ControlRetryTest, SpreadsOnlyWithRandomNumbers)
{
    EXPECT_EQ(ControlRetry::Spread(MilliSeconds(100), nullptr), MilliSeconds(100));
    const auto jitter = CreateObject<UniformRandomVariable>();
    EXPECT_EQ(ControlRetry::Spread(Time(0), jitter), Time(0));
    const Time hours = ControlRetry::Spread(Hours(1000), jitter);
    EXPECT_GE(hours, Hours(1000));
    EXPECT_LE(hours, Hours(1500));
}

TEST_F(ControlRetryTest, SendsNothingAfterItIsGone)
{
    Start(MakeSchedule(10));
    ScheduleCall(MilliSeconds(150), [this]() { retry.reset(); });
    Simulator::Run();
    EXPECT_EQ(sent, MakeTimes({0, 100}));
    EXPECT_TRUE(gaveUp.empty());
}
