// SPDX-License-Identifier: GPL-2.0-only

#include "ns3/double.h"
#include "ns3/fixed-bit-budget.h"
#include "ns3/fixed-link-noise.h"
#include "ns3/link-probe.h"
#include "ns3/no-link-noise.h"
#include "ns3/object-factory.h"
#include "ns3/string.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

using namespace ns3;

namespace
{

/** A probe that knows the rate of device 7 only. */
class RateProbe : public LinkProbe
{
    LinkQuality DoGetQuality(uint32_t device) const override
    {
        LinkQuality quality;
        if (device == 7)
        {
            quality.rate = 1e6;
        }
        return quality;
    }
};

/** Noise that grows with the power that was sent. */
class RelativeNoise : public LinkNoise
{
    double DoGetVariance(uint32_t,
                         uint32_t,
                         const LinkQuality& quality,
                         double power) const override
    {
        return (std::isnan(power) ? 1 : power) / quality.snr;
    }
};

} // namespace

TEST(LinkProbe, WhatIsUnknownIsNan)
{
    RateProbe probe;
    probe.BeginRound(3); // nothing to do by default
    EXPECT_EQ(probe.GetQuality(7).rate, 1e6);
    EXPECT_TRUE(std::isnan(probe.GetQuality(7).snr));
    EXPECT_TRUE(std::isnan(probe.GetQuality(7).loss));
    EXPECT_TRUE(std::isnan(probe.GetQuality(8).rate));
}

TEST(LinkNoise, TheExpectedVarianceIsThatOfAnUnknownPower)
{
    LinkQuality quality;
    quality.snr = 100;
    const RelativeNoise noise;
    EXPECT_EQ(noise.GetVariance(0, 0, quality, 5), 0.05);
    EXPECT_EQ(noise.GetExpectedVariance(0, 0, quality), 0.01);
    quality.snr = 0;
    EXPECT_EQ(noise.GetVariance(0, 0, quality, 5), std::numeric_limits<double>::infinity());
}

TEST(LinkNoise, DigitalLinksHaveNone)
{
    const auto noise = CreateObject<NoLinkNoise>();
    EXPECT_EQ(noise->GetVariance(1, 2, {}, 3), 0);
    EXPECT_EQ(noise->GetExpectedVariance(1, 2, {}), 0);
}

TEST(LinkNoise, FixedNoiseBelongsToTheGroup)
{
    const auto noise = CreateObject<FixedLinkNoise>(); // the paper's
    for (double meanSquare : {0.0, 1e-4, std::numeric_limits<double>::quiet_NaN()})
    {
        EXPECT_DOUBLE_EQ(noise->GetVariance(90, 0, {}, meanSquare), 6.25e-4 * 6.25e-4);
        EXPECT_DOUBLE_EQ(noise->GetVariance(0, 1, {}, meanSquare), 0.125 * 0.125);
    }
    EXPECT_DOUBLE_EQ(noise->GetExpectedVariance(0, 0, {}), 6.25e-4 * 6.25e-4);
    EXPECT_DOUBLE_EQ(noise->GetVariance(0, 2, {}, 1), 0.125 * 0.125) << "the last one repeats";
}

TEST(LinkNoise, FixedNoiseCanBeSetAsText)
{
    const auto noise = CreateObjectWithAttributes<FixedLinkNoise>("Sigmas", StringValue("2"));
    EXPECT_EQ(noise->GetVariance(0, 0, {}, 1), 4);
    EXPECT_EQ(noise->GetVariance(0, 5, {}, 1), 4);
    noise->SetAttribute("Sigmas", StringValue("0,1e-3,3"));
    EXPECT_EQ(noise->GetVariance(0, 0, {}, 1), 0);
    EXPECT_DOUBLE_EQ(noise->GetVariance(0, 1, {}, 1), 1e-6);
    EXPECT_EQ(noise->GetVariance(0, 2, {}, 1), 9);
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
