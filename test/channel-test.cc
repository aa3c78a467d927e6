// SPDX-License-Identifier: GPL-2.0-only

#include "ns3/double.h"
#include "ns3/fixed-bit-budget.h"
#include "ns3/fixed-link-noise.h"
#include "ns3/link-probe.h"
#include "ns3/measured-bit-budget.h"
#include "ns3/no-link-noise.h"
#include "ns3/object-factory.h"
#include "ns3/snr-link-noise.h"
#include "ns3/string.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

using namespace ns3;

namespace
{

/** A probe that is told what it sees. */
class ToldProbe : public LinkProbe
{
  public:
    ToldProbe()
        : LinkProbe(true)
    {
    }

    using LinkProbe::AddSample;
};

const double NAN_VALUE = std::numeric_limits<double>::quiet_NaN();

} // namespace

TEST(LinkProbe, WhatIsUnknownIsNan)
{
    const auto probe = CreateObject<ToldProbe>();
    probe->BeginRound(3);
    LinkSample sample;
    sample.device = 7;
    sample.rate = 1e6;
    probe->AddSample(sample);
    EXPECT_EQ(probe->GetQuality(7).rate, 1e6);
    EXPECT_EQ(probe->GetQuality(7).framesOk, 1);
    EXPECT_TRUE(std::isnan(probe->GetQuality(7).snr));
    EXPECT_TRUE(std::isnan(probe->GetQuality(7).goodput)) << "one frame has no duration";
    EXPECT_TRUE(std::isnan(probe->GetQuality(8).rate));
    EXPECT_TRUE(std::isnan(probe->GetQuality(8).lastSeen));
}

TEST(LinkProbe, FailedFramesCountInTheMeans)
{
    const auto probe = CreateObject<ToldProbe>();
    probe->SetAttribute("Smoothing", DoubleValue(0.5));
    LinkSample sample;
    sample.snr = 10;
    sample.packet = 5;
    probe->AddSample(sample);
    sample.ok = false;
    sample.snr = 2;
    sample.packet = 6;
    probe->AddSample(sample);
    sample.snr = NAN_VALUE; // its preamble was not even found
    probe->AddSample(sample);
    const LinkQuality quality = probe->GetQuality(0);
    EXPECT_EQ(quality.roundSnr, 6);
    EXPECT_EQ(quality.snr, 6);
    EXPECT_EQ(quality.framesOk, 1);
    EXPECT_EQ(quality.framesFailed, 2);
    EXPECT_EQ(probe->GetPacketSnr(5), 10);
    EXPECT_TRUE(std::isnan(probe->GetPacketSnr(6))) << "it did not come";
    probe->BeginRound(2);
    EXPECT_EQ(probe->GetQuality(0).snr, 6);
    EXPECT_TRUE(std::isnan(probe->GetQuality(0).roundSnr));
    EXPECT_EQ(probe->GetQuality(0).framesOk, 0);
    EXPECT_TRUE(std::isnan(probe->GetPacketSnr(5))) << "it came in another round";
}

TEST(LinkProbe, TheSnrCanBeMeasuredWithoutAFrame)
{
    const auto probe = CreateObject<ToldProbe>();
    LinkSample sample;
    sample.frame = false;
    sample.snr = 3;
    probe->AddSample(sample);
    const LinkQuality quality = probe->GetQuality(0);
    EXPECT_EQ(quality.snr, 3);
    EXPECT_EQ(quality.roundSnr, 3);
    EXPECT_EQ(quality.framesOk, 0);
    EXPECT_EQ(quality.framesFailed, 0);
    EXPECT_TRUE(std::isnan(quality.lastSeen)) << "nothing was decoded";
}

TEST(LinkNoise, OfTheSnrIsMeanSquareOverSnr)
{
    const auto noise = CreateObject<SnrLinkNoise>();
    EXPECT_TRUE(noise->DependsOnSnr());
    EXPECT_EQ(noise->GetVariance(0, 0, 100, 5), 0.05);
    EXPECT_EQ(noise->GetVariance(0, 0, 0, 5), std::numeric_limits<double>::infinity());
    EXPECT_EQ(noise->GetVariance(0, 0, 0, 0), 0);
    EXPECT_TRUE(std::isnan(noise->GetVariance(0, 0, NAN_VALUE, 5)));
    EXPECT_TRUE(std::isnan(noise->GetVariance(0, 0, 5, NAN_VALUE)));
}

TEST(BitBudget, MeasuredIsWhatTheUplinkCarriesInTheTimeLeft)
{
    const auto budget = CreateObject<MeasuredBitBudget>();
    EXPECT_TRUE(budget->CountsWireBits());
    EXPECT_DOUBLE_EQ(budget->GetBudget({1, 1000, 2.0, 50000.0}), 100);
    EXPECT_EQ(budget->GetBudget({1, 1000, -1.0, 50000.0}), 0);
}

TEST(LinkNoise, DigitalLinksHaveNone)
{
    const auto noise = CreateObject<NoLinkNoise>();
    EXPECT_EQ(noise->GetVariance(1, 2, NAN_VALUE, 3), 0);
}

TEST(LinkNoise, FixedNoiseBelongsToTheGroup)
{
    const auto noise = CreateObject<FixedLinkNoise>(); // the paper's
    for (double meanSquare : {0.0, 1e-4, std::numeric_limits<double>::quiet_NaN()})
    {
        EXPECT_DOUBLE_EQ(noise->GetVariance(90, 0, NAN_VALUE, meanSquare), 6.25e-4 * 6.25e-4);
        EXPECT_DOUBLE_EQ(noise->GetVariance(0, 1, NAN_VALUE, meanSquare), 0.125 * 0.125);
    }
    EXPECT_DOUBLE_EQ(noise->GetVariance(0, 2, NAN_VALUE, 1), 0.125 * 0.125)
        << "the last one repeats";
}

TEST(LinkNoise, FixedNoiseCanBeSetAsText)
{
    const auto noise = CreateObjectWithAttributes<FixedLinkNoise>("Sigmas", StringValue("2"));
    EXPECT_EQ(noise->GetVariance(0, 0, NAN_VALUE, 1), 4);
    EXPECT_EQ(noise->GetVariance(0, 5, NAN_VALUE, 1), 4);
    noise->SetAttribute("Sigmas", StringValue("0,1e-3,3"));
    EXPECT_EQ(noise->GetVariance(0, 0, NAN_VALUE, 1), 0);
    EXPECT_DOUBLE_EQ(noise->GetVariance(0, 1, NAN_VALUE, 1), 1e-6);
    EXPECT_EQ(noise->GetVariance(0, 2, NAN_VALUE, 1), 9);
    StringValue text;
    noise->GetAttribute("Sigmas", text);
    EXPECT_EQ(text.Get(), "0,1e-3,3");
}

TEST(LinkNoiseDeathTest, AWrongListStopsTheScriptWithItsNameAndValue)
{
    for (const char* wrong : {"", ",", "1,", ",1", "1,,2", "1x", "-1", "1, 2", "1;2", "nan", "inf"})
    {
        EXPECT_DEATH(CreateObjectWithAttributes<FixedLinkNoise>("Sigmas", StringValue(wrong)),
                     std::string("Sigmas is '") + wrong + "'");
    }
}

TEST(BitBudget, IsThePapersByDefault)
{
    const auto budget = CreateObject<FixedBitBudget>();
    const BitBudgetContext context;
    EXPECT_TRUE(std::isnan(context.uplinkSeconds));
    EXPECT_TRUE(std::isnan(context.rate));
    EXPECT_EQ(budget->GetBudget(context), 30);
    EXPECT_FALSE(budget->CountsWireBits());
}

TEST(BitBudget, CanBeNothingOrUnlimitedButNotNegative)
{
    constexpr double INFINITE = std::numeric_limits<double>::infinity();
    const auto budget = CreateObject<FixedBitBudget>();
    for (double bits : {0.0, 12.5, INFINITE})
    {
        EXPECT_TRUE(budget->SetAttributeFailSafe("Bits", DoubleValue(bits)));
        EXPECT_EQ(budget->GetBudget({}), bits);
    }
    for (double bits : {-1.0, -INFINITE, std::numeric_limits<double>::quiet_NaN()})
    {
        EXPECT_FALSE(budget->SetAttributeFailSafe("Bits", DoubleValue(bits)));
    }
    EXPECT_EQ(budget->GetBudget({}), INFINITE);
}
