// SPDX-License-Identifier: GPL-2.0-only

#include "ns3/uplink-meter.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

using namespace ns3;
using namespace ns3::federated;

namespace
{

const double UNKNOWN = std::numeric_limits<double>::quiet_NaN();
const double PLANNED = 1e6; // bit/s

/**
 * An update of 1000 coordinates, 4 bits each, in 10 fragments, one every 10 ms from 10 ms after the
 * slot's start on: 100 coordinates in 10 ms are 40 kbit/s. All were received.
 */
UplinkObservation
MakeWhole(uint32_t device = 0)
{
    UplinkObservation seen;
    seen.device = device;
    seen.wireBits = 4;
    seen.dimension = 1000;
    seen.slotStart = Seconds(1);
    seen.receivedFragments = 10;
    seen.firstReceived = MilliSeconds(1010);
    seen.lastReceived = MilliSeconds(1100);
    seen.firstEnd = 100;
    seen.lastEnd = 1000;
    seen.delivered = 1000;
    seen.fragments = 10;
    seen.sentKnown = true;
    seen.sentFragments = 10;
    return seen;
}

UplinkMeter
MakeMeter(const Time& guard = Time(0))
{
    UplinkMeter meter;
    UplinkMeter::Rules rules;
    rules.guard = guard;
    rules.plannedRate = PLANNED;
    meter.SetRules(rules);
    return meter;
}

} // namespace

TEST(UplinkMeter, MeasuresTheRateFromTheFirstToTheLastFragment)
{
    UplinkMeter meter = MakeMeter();
    meter.Measure({MakeWhole()}, Seconds(2));
    EXPECT_NEAR(meter.GetAirRate(meter.Find(0), UNKNOWN), 4 * 900 / 0.09, 1e-6);
    EXPECT_NEAR(meter.GetGoodput(meter.Find(0), UNKNOWN), 40000, 1e-6);
}

TEST(UplinkMeter, MeasuresOneFragmentFromTheStartOfTheSlot)
{
    UplinkMeter meter = MakeMeter();
    UplinkObservation seen = MakeWhole();
    // The third of ten, 30 ms after the start: 300 coordinates were sent in that time.
    seen.receivedFragments = 1;
    seen.firstReceived = seen.lastReceived = MilliSeconds(1030);
    seen.firstEnd = seen.lastEnd = 300;
    seen.delivered = 100;
    meter.Measure({seen}, Seconds(2));
    EXPECT_NEAR(meter.GetAirRate(meter.Find(0), UNKNOWN), 4 * 300 / 0.03, 1e-6);
    EXPECT_NEAR(meter.GetGoodput(meter.Find(0), UNKNOWN), 4000, 1e-6); // one of ten was received
}

TEST(UplinkMeter, CountsTheGuardTimeBehindASlotInGoodputOnly)
{
    UplinkMeter meter = MakeMeter(MilliSeconds(300));
    meter.Measure({MakeWhole()}, Seconds(2));
    EXPECT_NEAR(meter.GetAirRate(meter.Find(0), UNKNOWN), 40000, 1e-6);
    // 4000 bits take 100 ms, and 300 ms of silence.
    EXPECT_NEAR(meter.GetGoodput(meter.Find(0), UNKNOWN), 4000 / 0.4, 1e-6);
}

TEST(UplinkMeter, CountsOnlyFragmentsThatWereSentAsLost)
{
    struct Case
    {
        std::string name;
        bool sentKnown;
        uint32_t sentFragments;
        Time end;
        double delivered;
        double goodput;
    };

    // Fragments are sent one every 10 ms; of those received, the first was at 1010 ms and the last
    // at 1050 ms, five positions.
    const std::vector<Case> cases{
        {"said to be all", true, 10, Seconds(2), 500, 20000},
        {"said to be five", true, 5, Seconds(2), 500, 40000},
        {"said to be eight", true, 8, Seconds(2), 500, 25000},
        {"three of five lost", true, 5, Seconds(2), 200, 16000},
        {"said to be fewer than were received", true, 2, Seconds(2), 500, 40000},
        {"the round ended with the last one", false, 10, MilliSeconds(1050), 500, 40000},
        {"the round ended after eight", false, 10, MilliSeconds(1080), 500, 25000},
        {"the round ended after all", false, 10, MilliSeconds(1100), 500, 20000},
        {"the round ended much later", false, 10, Seconds(20), 500, 20000},
        {"three of five lost before the end", false, 10, MilliSeconds(1050), 200, 16000},
    };
    for (const Case& one : cases)
    {
        SCOPED_TRACE(one.name);
        UplinkObservation seen = MakeWhole();
        seen.receivedFragments = static_cast<uint32_t>(one.delivered / 100);
        seen.lastReceived = MilliSeconds(1050);
        seen.lastEnd = 500;
        seen.delivered = one.delivered;
        seen.sentKnown = one.sentKnown;
        seen.sentFragments = one.sentFragments;
        UplinkMeter meter = MakeMeter();
        meter.Measure({seen}, one.end);
        EXPECT_NEAR(meter.GetGoodput(meter.Find(0), UNKNOWN), one.goodput, 1e-6);
        EXPECT_NEAR(
            meter.GetAirRate(meter.Find(0), UNKNOWN), 40000, 1e-6); // losses do not slow it down
    }
}

TEST(UplinkMeter, AveragesOverRounds)
{
    UplinkMeter meter;
    UplinkMeter::Rules rules;
    rules.smoothing = 0.25;
    rules.plannedRate = PLANNED;
    meter.SetRules(rules);
    meter.Measure({MakeWhole()}, Seconds(2));
    EXPECT_NEAR(
        meter.GetAirRate(meter.Find(0), UNKNOWN), 40000, 1e-6); // not mixed with what was assumed
    UplinkObservation fast = MakeWhole();
    fast.lastReceived = fast.firstReceived + MilliSeconds(45);
    fast.delivered = 500;
    meter.Measure({fast}, Seconds(2)); // air 80000, goodput 40000
    EXPECT_NEAR(meter.GetAirRate(meter.Find(0), UNKNOWN), 50000, 1e-6);
    EXPECT_NEAR(meter.GetGoodput(meter.Find(0), UNKNOWN), 40000, 1e-6);
    fast.delivered = 1000;
    meter.Measure({fast}, Seconds(2)); // both 80000
    EXPECT_NEAR(meter.GetAirRate(meter.Find(0), UNKNOWN), 57500, 1e-6);
    EXPECT_NEAR(meter.GetGoodput(meter.Find(0), UNKNOWN), 50000, 1e-6);
}

TEST(UplinkMeter, KeepsDevicesApart)
{
    UplinkMeter meter = MakeMeter();
    UplinkObservation fast = MakeWhole(7);
    fast.lastReceived = fast.firstReceived + MilliSeconds(9);
    meter.Measure({MakeWhole(3), fast}, Seconds(2));
    EXPECT_NEAR(meter.GetAirRate(meter.Find(3), UNKNOWN), 40000, 1e-6);
    EXPECT_NEAR(meter.GetAirRate(meter.Find(7), UNKNOWN), 400000, 1e-6);
    EXPECT_EQ(meter.GetAirRate(meter.Find(5), UNKNOWN), PLANNED);
}

TEST(UplinkMeter, MeasuresNothingWhereTimeOrOrderGiveNoRate)
{
    struct Case
    {
        std::string name;
        void (*change)(UplinkObservation&);
    };

    const std::vector<Case> cases{
        {"nothing was received", [](UplinkObservation& seen) { seen.receivedFragments = 0; }},
        {"all at once", [](UplinkObservation& seen) { seen.lastReceived = seen.firstReceived; }},
        {"the last before the first", [](UplinkObservation& seen) { seen.firstEnd = 1000; }},
        {"far before the first",
         [](UplinkObservation& seen)
         {
             seen.firstEnd = 1000;
             seen.lastEnd = 100;
         }},
        {"one, before its slot",
         [](UplinkObservation& seen)
         {
             seen.receivedFragments = 1;
             seen.firstReceived = seen.lastReceived = MilliSeconds(999);
         }},
    };
    for (const Case& one : cases)
    {
        UplinkMeter meter = MakeMeter();
        UplinkObservation seen = MakeWhole();
        one.change(seen);
        meter.Measure({seen}, Seconds(2));
        EXPECT_EQ(meter.GetAirRate(meter.Find(0), UNKNOWN), PLANNED) << one.name;
        EXPECT_EQ(meter.GetGoodput(meter.Find(0), UNKNOWN), PLANNED) << one.name;
    }
}

TEST(UplinkMeter, KeepsARateThatALaterRoundDoesNotMeasure)
{
    UplinkMeter meter = MakeMeter();
    meter.Measure({MakeWhole()}, Seconds(2));
    UplinkObservation silent = MakeWhole();
    silent.receivedFragments = 0;
    meter.Measure({silent}, Seconds(4));
    meter.Measure({}, Seconds(6));
    EXPECT_NEAR(meter.GetAirRate(meter.Find(0), UNKNOWN), 40000, 1e-6);
    EXPECT_NEAR(meter.GetGoodput(meter.Find(0), UNKNOWN), 40000, 1e-6);
}

TEST(UplinkMeter, TellsHowLateTheLastOfARoundBegan)
{
    UplinkMeter meter = MakeMeter(MilliSeconds(5));
    EXPECT_EQ(meter.GetLateness(), Time(0));
    UplinkObservation early = MakeWhole(0);
    early.firstReceived = MilliSeconds(900);
    UplinkObservation late = MakeWhole(1);
    late.firstReceived = MilliSeconds(1035);
    UplinkObservation later = MakeWhole(2);
    later.firstReceived = MilliSeconds(1075);
    UplinkObservation silent = MakeWhole(3);
    silent.receivedFragments = 0;
    silent.firstReceived = Seconds(9);
    // 75 ms after the start of its slot, of which the guard time is 5.
    meter.Measure({early, late, later, late, silent}, Seconds(2));
    EXPECT_EQ(meter.GetLateness(), MilliSeconds(70));
    meter.Measure({late, silent}, Seconds(4));
    EXPECT_EQ(meter.GetLateness(), MilliSeconds(30)) << "only the last round counts";
    meter.Measure({early}, Seconds(6));
    EXPECT_EQ(meter.GetLateness(), Time(0)) << "early is not negative";
    meter.Measure({later}, Seconds(8));
    meter.Measure({silent}, Seconds(10));
    EXPECT_EQ(meter.GetLateness(), Time(0)) << "nobody answered";
}

TEST(UplinkMeter, LeavesTheLatestOutOfTheLateness)
{
    struct Case
    {
        std::string name;
        double leftOut;
        std::vector<int> delaysMs;
        int latenessMs;
    };

    const std::vector<Case> cases{
        {"all count", 0, {10, 900, 20}, 900},
        {"one is left out", 0.1, {10, 900, 20}, 20},
        {"one of two", 0.1, {900, 10}, 10},
        {"alone", 0.1, {900}, 900},
        {"one of ten", 0.1, {900, 30, 1, 1, 1, 1, 1, 1, 1, 1}, 30},
        {"two of eleven", 0.1, {900, 30, 20, 1, 1, 1, 1, 1, 1, 1, 1}, 20},
        {"never more than half", 1, {900, 800, 30, 20}, 30},
        {"early is not negative", 0.1, {900, -5, -7}, 0},
    };
    for (const Case& one : cases)
    {
        UplinkMeter meter;
        UplinkMeter::Rules rules;
        rules.leftOut = one.leftOut;
        meter.SetRules(rules);
        std::vector<UplinkObservation> observations;
        for (const int delay : one.delaysMs)
        {
            observations.push_back(MakeWhole(static_cast<uint32_t>(observations.size())));
            observations.back().firstReceived = Seconds(1) + MilliSeconds(delay);
        }
        meter.Measure(observations, Seconds(5));
        EXPECT_EQ(meter.GetLateness(), MilliSeconds(one.latenessMs)) << one.name;
    }
}

TEST(UplinkMeter, AssumesARateBeforeItHasMeasuredOne)
{
    struct Case
    {
        std::string name;
        bool measuredSlots;
        double radioRate;
        double rate;
    };

    const std::vector<Case> cases{
        {"planned slots", false, UNKNOWN, 1e6},
        {"planned slots, slow radio", false, 1000, 1e6},
        {"unknown radio", true, UNKNOWN, 0.25e6},
        {"no radio rate", true, 0, 0.25e6},
        {"slow radio", true, 0.4e6, 0.1e6},
        {"radio as fast as planned", true, 1e6, 0.25e6},
        {"four times as fast", true, 4e6, 1e6},
        {"never faster than planned", true, 100e6, 1e6},
    };
    for (const Case& one : cases)
    {
        UplinkMeter meter;
        UplinkMeter::Rules rules;
        rules.plannedRate = PLANNED;
        rules.measuredSlots = one.measuredSlots;
        rules.efficiency = 0.25;
        meter.SetRules(rules);
        EXPECT_DOUBLE_EQ(meter.GetGoodput(meter.Find(0), one.radioRate), one.rate) << one.name;
        EXPECT_DOUBLE_EQ(meter.GetAirRate(meter.Find(0), one.radioRate), one.rate) << one.name;
        // A measurement counts more than the radio.
        meter.Measure({MakeWhole()}, Seconds(2));
        EXPECT_NEAR(meter.GetGoodput(meter.Find(0), one.radioRate), 40000, 1e-6) << one.name;
    }
}

TEST(UplinkMeter, RemembersTheMeanSquareOfTheLastUpdate)
{
    UplinkMeter meter = MakeMeter();
    EXPECT_TRUE(std::isnan(meter.Find(0).meanSquare));
    meter.SetMeanSquare(0, 0.5);
    meter.SetMeanSquare(0, 0.25); // not averaged
    EXPECT_EQ(meter.Find(0).meanSquare, 0.25);
    EXPECT_TRUE(std::isnan(meter.Find(1).meanSquare));
    EXPECT_EQ(meter.GetGoodput(meter.Find(0), UNKNOWN), PLANNED) << "it says nothing about rates";
    meter.Measure({MakeWhole(0), MakeWhole(1)}, Seconds(2));
    EXPECT_EQ(meter.Find(0).meanSquare, 0.25);
    EXPECT_TRUE(std::isnan(meter.Find(1).meanSquare)) << "nor rates about it";
}

TEST(UplinkMeter, AveragesTheDeliveredFractionOverRoundsInWhichADeviceSent)
{
    struct Case
    {
        std::string name;
        bool sentKnown;
        uint32_t sent;
        uint32_t fragments;
        uint32_t received;
        double average;
    };

    // One round after the other.
    const std::vector<Case> cases{
        {"unreachable", false, 0, 0, 0, UNKNOWN},
        {"it reports that it sent nothing", true, 0, 0, 0, UNKNOWN},
        {"half of it", true, 10, 10, 5, 0.5},
        {"nothing of it", true, 10, 0, 0, 0.25},
        {"silent", false, 0, 0, 0, 0.25},
        {"all that it sent", true, 4, 10, 4, 0.625},
        {"no report: of all of the update", false, 4, 10, 5, 0.5625},
    };
    UplinkMeter meter = MakeMeter();
    for (const Case& one : cases)
    {
        SCOPED_TRACE(one.name);
        UplinkObservation seen = MakeWhole(3);
        seen.sentKnown = one.sentKnown;
        seen.sentFragments = one.sent;
        seen.fragments = one.fragments;
        seen.receivedFragments = one.received;
        meter.Measure({seen}, Seconds(2));
        const double fraction = meter.Find(3).delivered;
        EXPECT_TRUE(std::isnan(one.average) ? std::isnan(fraction)
                                            : std::abs(fraction - one.average) < 1e-12)
            << fraction;
    }
    EXPECT_TRUE(std::isnan(meter.Find(0).delivered));
}
