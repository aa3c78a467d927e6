// SPDX-License-Identifier: GPL-2.0-only

#include "kolmogorov-smirnov.h"
#include "running-mean.h"

#include "ns3/constant-position-mobility-model.h"
#include "ns3/double.h"
#include "ns3/federated-shadowing.h"
#include "ns3/object-factory.h"
#include "ns3/rng-seed-manager.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

using namespace ns3;

namespace
{

const double SIGMA = 5;
const double DISTANCE = 20;

Ptr<FederatedShadowing>
Make(int64_t stream = 1)
{
    const auto shadowing = CreateObjectWithAttributes<FederatedShadowing>(
        "Sigma", DoubleValue(SIGMA), "Distance", DoubleValue(DISTANCE));
    EXPECT_EQ(shadowing->AssignStreams(stream), 1);
    return shadowing;
}

} // namespace

TEST(FederatedShadowing, IsGaussianInDecibels)
{
    const auto shadowing = Make();
    std::vector<double> losses;
    for (int x = 0; x < 100; ++x)
    {
        for (int y = 0; y < 100; ++y) // so far apart that they are independent
        {
            losses.push_back(shadowing->GetLoss(
                Vector(0, 0, 0), Vector(5.1 * DISTANCE * x, 5.3 * DISTANCE * (y + 1), 0)));
        }
    }
    const auto distribution = [](double loss)
    { return 0.5 * std::erfc(-loss / SIGMA / std::sqrt(2.0)); };
    EXPECT_LT(GetKolmogorovSmirnov(losses, distribution), KOLMOGOROV_SMIRNOV_LIMIT);
    const auto wider = [](double loss)
    { return 0.5 * std::erfc(-loss / (1.1 * SIGMA) / std::sqrt(2.0)); };
    EXPECT_GT(GetKolmogorovSmirnov(losses, wider), KOLMOGOROV_SMIRNOV_LIMIT) << "it can fail";
}

TEST(FederatedShadowing, HasItsVarianceAlsoWhereBothEndsAreNearEachOther)
{
    for (double length : {0.0, 1.0, 15.0, 30.0})
    {
        RunningMean squares;
        for (int64_t stream = 0; stream < 10000; ++stream)
        {
            const double loss = Make(stream)->GetLoss(Vector(3, 4, 0), Vector(3 + length, 4, 0));
            squares.Add(loss * loss / (SIGMA * SIGMA));
        }
        // A mean deviates by 5 standard errors once in 10^6.
        EXPECT_NEAR(squares.Get(), 1, 5 * squares.GetError()) << length;
        EXPECT_LT(squares.GetError(), 0.02) << "else it says nothing";
    }
}

TEST(FederatedShadowing, IsCorrelatedAsDocumented)
{
    struct Case
    {
        Vector moveA; //!< Of one end.
        Vector moveB; //!< Of the other one.
        double exponent;
    };

    const double d = DISTANCE;
    const std::vector<Case> cases{
        {Vector(0, 0, 0), Vector(0.25 * d, 0, 0), 0.0625},
        {Vector(0, 0, 0), Vector(0, 0.5 * d, 0), 0.25},
        {Vector(0, 0, 0), Vector(0.6 * d, -0.8 * d, 0), 1},
        {Vector(1.5 * d, 0, 0), Vector(0, 0, 0), 2.25},
        {Vector(0, 0.5 * d, 0), Vector(0.5 * d, 0, 0), 0.5}, // the product of both
        {Vector(0, 0, 0), Vector(0, 0, 7 * d), 0},           // heights do not matter
    };
    for (const Case& one : cases)
    {
        RunningMean product;
        for (int64_t stream = 0; stream < 20000; ++stream)
        {
            const auto shadowing = Make(stream);
            const Vector a(3, 4, 0);
            const Vector b(7 * d, 2 * d, 0);
            product.Add(shadowing->GetLoss(a, b) *
                        shadowing->GetLoss(a + one.moveA, b + one.moveB) / (SIGMA * SIGMA));
        }
        EXPECT_NEAR(product.Get(), std::exp(-one.exponent), 0.02 + 5 * product.GetError())
            << one.exponent;
        EXPECT_LT(product.GetError(), 0.011) << "else it says nothing";
    }
}

TEST(FederatedShadowing, IsCorrelatedAsDocumentedOnShortLinksToo)
{
    const double d = DISTANCE;
    const auto r = [d](const Vector& p, const Vector& q)
    { return std::exp(-std::pow(CalculateDistance(p, q) / d, 2)); };
    struct Case
    {
        Vector first;
        Vector second;
    };

    const Vector center(3, 4, 0);
    const std::vector<Case> cases{
        {Vector(-0.5 * d, 0, 0), Vector(0.5 * d, 0, 0)},
        {Vector(-0.8 * d, 0, 0), Vector(0.8 * d, 0, 0)},
        {Vector(0.4 * d, 0, 0), Vector(0, 0.4 * d, 0)},
        {Vector(0.01 * d, 0, 0), Vector(0.81 * d, 0, 0)},
        {Vector(d, 0, 0), Vector(-0.6 * d, 0.8 * d, 0)},
    };
    for (const Case& one : cases)
    {
        const Vector a = center + one.first;
        const Vector other = center + one.second;
        RunningMean product;
        for (int64_t stream = 0; stream < 20000; ++stream)
        {
            const auto shadowing = Make(stream);
            product.Add(shadowing->GetLoss(a, center) * shadowing->GetLoss(other, center) /
                        (SIGMA * SIGMA));
        }
        const double expected =
            (r(a, other) + r(a, center) * r(center, other)) /
            std::sqrt((1 + std::pow(r(a, center), 2)) * (1 + std::pow(r(other, center), 2)));
        // A mean deviates by 5 standard errors once in 10^6.
        EXPECT_NEAR(product.Get(), expected, 0.03 + 5 * product.GetError()) << one.first;
        EXPECT_LT(product.GetError(), 0.012) << "else it says nothing";
    }
}

TEST(FederatedShadowing, IsTheSameInBothDirectionsAndChangesGradually)
{
    const auto shadowing = Make();
    double last = shadowing->GetLoss(Vector(-50, 3, 0), Vector(0, 0, 0));
    for (int i = 1; i <= 10000; ++i) // past the other end
    {
        const Vector walker(-50 + 0.01 * i, 3, 0);
        const double loss = shadowing->GetLoss(walker, Vector(0, 0, 0));
        EXPECT_EQ(shadowing->GetLoss(Vector(0, 0, 0), walker), loss);
        EXPECT_LT(std::abs(loss - last), 0.02) << walker;
        last = loss;
    }
}

TEST(FederatedShadowing, IsAnotherOneForOtherStreamsAndRuns)
{
    RngSeedManager::SetRun(1);
    const Vector a(1, 2, 0);
    const Vector b(40, 30, 0);
    const double loss = Make(7)->GetLoss(a, b);
    EXPECT_EQ(Make(7)->GetLoss(a, b), loss);
    EXPECT_NE(Make(8)->GetLoss(a, b), loss);
    RngSeedManager::SetRun(2);
    EXPECT_NE(Make(7)->GetLoss(a, b), loss);
    RngSeedManager::SetRun(1);
    const auto mobilityA = CreateObject<ConstantPositionMobilityModel>();
    const auto mobilityB = CreateObject<ConstantPositionMobilityModel>();
    mobilityA->SetPosition(a);
    mobilityB->SetPosition(b);
    EXPECT_DOUBLE_EQ(Make(7)->CalcRxPower(-40, mobilityA, mobilityB), -40 - loss);
}
