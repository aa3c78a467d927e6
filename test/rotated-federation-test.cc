// SPDX-License-Identifier: GPL-2.0-only

#include "federation.h"

#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/dp-stochastic-quantizer.h"
#include "ns3/max-abs-interval.h"
#include "ns3/privacy-ledger.h"
#include "ns3/unbiased-stochastic-quantizer.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

using namespace ns3;

namespace
{

constexpr std::size_t DIMENSION = 260; // 64 pixels and a bias, 4 classes
constexpr std::size_t ROTATED = 512;   // coordinates of a rotated update

/** @return the largest difference of two models. */
double
GetDifference(const std::vector<float>& a, const std::vector<float>& b)
{
    double largest = a.size() == b.size() ? 0 : INFINITY;
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    {
        largest = std::max(largest, std::abs(double{a[i]} - double{b[i]}));
    }
    return largest;
}

} // namespace

/** @ingroup federated-tests A federation whose updates are rotated. */
class RotatedFederation : public Federation
{
  public:
    /** Let all devices quantize on one public interval. */
    void SetQuantizer(const Ptr<Quantizer>& quantizer)
    {
        SetForAll("Quantizer", PointerValue(quantizer));
        SetForAll("IntervalRule", StringValue("ns3::FixedInterval[Low=-0.05|High=0.05]"));
    }

    /** Let a share of the packets from a device get lost. */
    void LoseUplink(uint32_t device, double rate)
    {
        const auto loss = CreateObject<RateErrorModel>();
        loss->SetUnit(RateErrorModel::ERROR_UNIT_PACKET);
        loss->SetRate(rate);
        loss->AssignStreams(50 + device);
        SetLoss(GetCenterEnd(device), loss);
    }

    void SetRotation(bool rotation)
    {
        SetForAll("Rotation", BooleanValue(rotation));
    }
};

TEST_F(RotatedFederation, LearnsTheSameModelFromFloatsIfNothingIsLost)
{
    Build(3);
    Run();
    const std::vector<float> plain = center->GetModel();
    ASSERT_EQ(rounds.size(), 3U);
    EXPECT_EQ(rounds[0].links[0].coordinates, DIMENSION);
    const uint32_t bytes = sent.at(0).bytes;
    for (const bool v6 : {false, true})
    {
        Build(3, v6);
        SetRotation(true);
        Run();
        EXPECT_LT(GetDifference(center->GetModel(), plain), 1e-4);
        EXPECT_GT(GetDifference(center->GetModel(), plain), 0) << "it rounds otherwise";
        ASSERT_EQ(rounds.size(), 3U);
        for (const RoundRecord& record : rounds)
        {
            EXPECT_EQ(record.received, 3U);
            EXPECT_EQ(record.links[0].coordinates, ROTATED);
            EXPECT_EQ(record.grantedBits, 3 * 32);
            EXPECT_EQ(record.deliveredBits, 3 * 32) << "a coordinate of what is sent";
            EXPECT_EQ(record.receivedFragments, record.sentFragments);
            EXPECT_EQ(record.untouchedFraction, 0);
        }
        EXPECT_GE(sent.at(0).bytes, bytes + 4 * (ROTATED - DIMENSION));
        EXPECT_EQ(center->GetDropped(DROP_INVALID), 0U);
    }
}

TEST_F(RotatedFederation, LearnsOverTcpAndEncryptedAsInTheClear)
{
    const auto quantizer = CreateObject<UnbiasedStochasticQuantizer>();
    std::vector<float> clear;
    for (const bool tcp : {false, true})
    {
        for (const bool encrypted : {false, true})
        {
            if (encrypted && !HasProtection())
            {
                continue;
            }
            Build(4);
            SetQuantizer(quantizer);
            SetRotation(true);
            SetForAll("FragmentSize", UintegerValue(200));
            if (tcp)
            {
                SetForAll("Protocol", TypeIdValue(TcpSocketFactory::GetTypeId()));
            }
            if (encrypted)
            {
                SetKey("secret");
            }
            Run();
            ASSERT_EQ(rounds.size(), 3U);
            for (const RoundRecord& record : rounds)
            {
                EXPECT_EQ(record.received, 4U);
                // Two groups of different bits.
                EXPECT_EQ(record.deliveredBits, 2 + 4 + 2 + 4);
                EXPECT_EQ(record.receivedFragments, record.sentFragments);
            }
            if (clear.empty())
            {
                clear = center->GetModel();
            }
            EXPECT_EQ(center->GetModel(), clear) << "TCP " << tcp << ", encrypted " << encrypted;
        }
    }
}

TEST_F(RotatedFederation, UsesWhatWasReceivedIfFragmentsAreLost)
{
    Build(4);
    SetRotation(true);
    SetForAll("FragmentSize", UintegerValue(200));
    for (uint32_t i = 0; i < 4; ++i)
    {
        LoseUplink(i, 0.3);
    }
    center->SetAttribute("Rounds", UintegerValue(10));
    Run();
    ASSERT_EQ(rounds.size(), 10U);
    uint64_t all = 0;
    uint64_t received = 0;
    for (const RoundRecord& record : rounds)
    {
        all += record.sentFragments;
        received += record.receivedFragments;
        double bits = 0;
        for (const LinkRecord& link : record.links)
        {
            EXPECT_LE(link.coordinates, ROTATED);
            EXPECT_TRUE(link.sentFragments == 14 || link.sentFragments == 0);
            bits += 32.0 * static_cast<double>(link.coordinates) / ROTATED;
        }
        EXPECT_NEAR(record.deliveredBits, bits, 1e-9);
        EXPECT_LT(record.untouchedFraction, 0.5);
    }
    // 5 standard deviations happen once in 10^6.
    EXPECT_GE(all, 500U);
    const auto fragments = static_cast<double>(all);
    EXPECT_NEAR(static_cast<double>(received), 0.7 * fragments, 5 * std::sqrt(0.21 * fragments));
    EXPECT_GT(rounds.back().testAccuracy, rounds.front().testAccuracy);
    EXPECT_EQ(center->GetDropped(DROP_INVALID), 0U);
}

TEST_F(RotatedFederation, TrainsOnThePreviousModelWhereTheNewOneIsIncomplete)
{
    Build(2);
    SetRotation(true);
    SetForAll("FragmentSize", UintegerValue(200));
    SetForDevices("IncompleteModel", StringValue("use-previous"));
    SetForDevices("RepairDelay", StringValue("10s")); // no repairs
    center->SetAttribute("Rounds", UintegerValue(6));
    center->SetAttribute("RepairTime", StringValue("200ms"));
    const auto loss = CreateObject<RateErrorModel>();
    loss->SetUnit(RateErrorModel::ERROR_UNIT_PACKET);
    loss->SetRate(0.2);
    loss->AssignStreams(60);
    SetLoss(GetDeviceEnd(1), loss);
    Run();
    ASSERT_EQ(rounds.size(), 6U);
    EXPECT_GT(incompleteModels, 0U);
    EXPECT_GT(std::count_if(rounds.begin(),
                            rounds.end(),
                            [](const RoundRecord& record)
                            { return record.links.at(1).state == PARTICIPANT_COMPLETE; }),
              2);
    EXPECT_EQ(rounds.back().links.at(0).coordinates, ROTATED);
}

TEST_F(RotatedFederation, CountsPrivacyOfTheCoordinatesThatAreSent)
{
    for (const bool rotation : {false, true})
    {
        Build(2);
        const auto quantizer = CreateObject<DpStochasticQuantizer>();
        quantizer->SetAttribute("Epsilon", DoubleValue(1e-3));
        SetQuantizer(quantizer);
        SetRotation(rotation);
        Run();
        const double expected = 3 * 1e-3 * static_cast<double>(rotation ? ROTATED : DIMENSION);
        ASSERT_EQ(rounds.size(), 3U);
        EXPECT_NEAR(rounds.back().sameCellEpsilon, expected, 1e-6 * expected);
        EXPECT_NEAR(
            apps[0]->GetPrivacyLedger().GetEpsilon(EPSILON_SAME_CELL), expected, 1e-6 * expected);
    }
}

TEST_F(RotatedFederation, MeasuresItsBudgetInBitsOfAnEncodedCoordinate)
{
    double budgets[2];
    Time lengths[2];
    for (const bool rotation : {false, true})
    {
        Build(2);
        SetRotation(rotation);
        center->SetAttribute("BitBudget", StringValue("ns3::MeasuredBitBudget"));
        center->SetAttribute("Rounds", UintegerValue(1));
        Run();
        ASSERT_EQ(rounds.size(), 1U);
        ASSERT_EQ(rounds[0].received, 2U);
        budgets[rotation] = rounds[0].bitBudget;
        lengths[rotation] = sent.at(0).lastSent - sent.at(0).firstSent;
    }
    EXPECT_NEAR(budgets[1] * ROTATED, budgets[0] * DIMENSION, 1e-6 * budgets[0] * DIMENSION);
    EXPECT_GT(lengths[1], lengths[0]) << "slots are planned for what is sent";
}

TEST_F(RotatedFederation, DropsAndCountsTheUpdatesOfDevicesThatDisagree)
{
    // d = 260, and d = P = 8: only the flag tells then.
    for (const uint32_t pixels : {8U, 1U})
    {
        for (const bool center1 : {false, true})
        {
            for (const bool floats : {false, true})
            {
                SCOPED_TRACE(testing::Message()
                             << pixels << ", the center " << (center1 ? "rotates" : "does not"));
                side = pixels;
                Build(2);
                if (!floats)
                {
                    SetQuantizer(CreateObject<UnbiasedStochasticQuantizer>());
                }
                center->SetAttribute("Rotation", BooleanValue(center1));
                apps[0]->SetAttribute("Rotation", BooleanValue(!center1));
                apps[1]->SetAttribute("Rotation", BooleanValue(center1));
                Run();
                ASSERT_EQ(rounds.size(), 3U);
                uint64_t fragments = 0;
                for (const auto& record : sent)
                {
                    fragments += record.device == 0 ? record.fragments : 0;
                }
                EXPECT_GT(fragments, 0U);
                EXPECT_EQ(center->GetDropped(DROP_INVALID), fragments);
                for (const RoundRecord& record : rounds)
                {
                    EXPECT_EQ(record.received, 1U);
                    EXPECT_FALSE(record.skipped);
                    EXPECT_EQ(record.links.at(0).state, PARTICIPANT_LOST);
                    EXPECT_EQ(record.links.at(0).weight, 0);
                    EXPECT_EQ(record.links.at(1).state, PARTICIPANT_COMPLETE);
                }
            }
        }
    }
}

TEST_F(RotatedFederation, SkipsTheRoundIfAllDevicesDisagree)
{
    Build(2);
    SetForDevices("Rotation", BooleanValue(true));
    const auto start = [&]()
    {
        std::vector<float> model;
        task->Initialize(model);
        return model;
    }();
    Run();
    ASSERT_EQ(rounds.size(), 3U);
    for (const RoundRecord& record : rounds)
    {
        EXPECT_TRUE(record.skipped);
        EXPECT_EQ(record.received, 0U);
    }
    EXPECT_EQ(center->GetModel(), start);
}

TEST_F(RotatedFederation, RefusesIntervalsOfLayers)
{
    Build(2);
    SetForAll("Quantizer", PointerValue(CreateObject<UnbiasedStochasticQuantizer>()));
    SetForDevices("IntervalRule", StringValue("ns3::MaxAbsInterval[PerLayer=true]"));
    SetRotation(true);
    EXPECT_DEATH(Run(), "device 0: ns3::MaxAbsInterval: PerLayer is set, but a rotated update has");
    center->SetAttribute("IntervalRule", StringValue("ns3::MaxAbsInterval[PerLayer=true]"));
    SetForDevices("IntervalRule", StringValue("ns3::MaxAbsInterval"));
    EXPECT_DEATH(Run(), "FusionCenter: ns3::MaxAbsInterval: PerLayer is set, but a rotated update");
}
