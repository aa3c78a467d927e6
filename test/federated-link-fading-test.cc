// SPDX-License-Identifier: GPL-2.0-only

#include "kolmogorov-smirnov.h"

#include "ns3/constant-position-mobility-model.h"
#include "ns3/constant-velocity-mobility-model.h"
#include "ns3/double.h"
#include "ns3/federated-block-fading.h"
#include "ns3/federated-jakes-fading.h"
#include "ns3/node-container.h"
#include "ns3/object-factory.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/simulator.h"

#include <boost/math/special_functions/bessel.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <set>
#include <vector>

using namespace ns3;

namespace
{

const double COHERENCE = 0.423; // coherence time times Doppler frequency

} // namespace

/** @ingroup federated-tests Nodes, and fading between them that lasts. */
class LinkFading : public testing::Test
{
  public:
    void SetUp() override
    {
        RngSeedManager::SetSeed(1);
        RngSeedManager::SetRun(1);
    }

    void TearDown() override
    {
        m_places.clear();
        Simulator::Destroy();
    }

    /** Make nodes that do not move. */
    void MakeNodes(uint32_t count)
    {
        const NodeContainer nodes(count);
        for (uint32_t i = 0; i < count; ++i)
        {
            m_places.emplace_back(CreateObject<ConstantPositionMobilityModel>());
            nodes.Get(i)->AggregateObject(m_places.back());
        }
    }

    /** @return a node with a speed along x. */
    static Ptr<MobilityModel> MakeMoving(double speed)
    {
        const auto mobility = CreateObject<ConstantVelocityMobilityModel>();
        mobility->SetVelocity(Vector(speed, 0, 0));
        CreateObject<Node>()->AggregateObject(mobility);
        return mobility;
    }

    static Ptr<FederatedBlockFading> Make(double shape, double doppler, int64_t stream = 1)
    {
        const auto fading = CreateObjectWithAttributes<FederatedBlockFading>(
            "Shape", DoubleValue(shape), "Doppler", DoubleValue(doppler));
        EXPECT_EQ(fading->AssignStreams(stream), 1);
        return fading;
    }

    static Ptr<FederatedJakesFading> MakeJakes(double doppler)
    {
        const auto fading =
            CreateObjectWithAttributes<FederatedJakesFading>("Doppler", DoubleValue(doppler));
        EXPECT_EQ(fading->AssignStreams(1), 1);
        return fading;
    }

    std::vector<Ptr<MobilityModel>> m_places; //!< Of the nodes.
};

using BlockFading = LinkFading;
using JakesFading = LinkFading;

TEST_F(BlockFading, HasTheGainsOfNakagamiFading)
{
    MakeNodes(2);
    for (double shape : {0.5, 1.0, 3.0})
    {
        const auto fading = Make(shape, 10);
        std::vector<double> gains;
        for (int block = 0; block < 20000; ++block)
        {
            gains.push_back(fading->GetGain(m_places[0], m_places[1], Seconds(block * COHERENCE)));
        }
        const auto distribution = [shape](double gain)
        { return boost::math::gamma_p(shape, shape * gain); };
        EXPECT_LT(GetKolmogorovSmirnov(gains, distribution), KOLMOGOROV_SMIRNOV_LIMIT) << shape;
        // And not those of another shape: the test can fail.
        const auto other = [shape](double gain)
        { return boost::math::gamma_p(1.2 * shape, 1.2 * shape * gain); };
        EXPECT_GT(GetKolmogorovSmirnov(gains, other), KOLMOGOROV_SMIRNOV_LIMIT) << shape;
    }
}

TEST_F(BlockFading, HasATriangularCorrelationOverTheCoherenceTime)
{
    constexpr uint32_t NODES = 400; // 79,800 links
    MakeNodes(NODES);
    const double doppler = 5;
    const double coherence = COHERENCE / doppler;
    for (double shape : {1.0, 3.0})
    {
        const auto fading = Make(shape, doppler);
        for (double lag : {0.0, 0.1, 0.5, 0.9, 1.0, 1.7})
        {
            double sum = 0;
            double squares = 0;
            double links = 0;
            for (uint32_t a = 0; a < NODES; ++a)
            {
                for (uint32_t b = 0; b < a; ++b)
                {
                    const double first = fading->GetGain(m_places[a], m_places[b], Seconds(2)) - 1;
                    const double second =
                        fading->GetGain(m_places[a], m_places[b], Seconds(2 + lag * coherence)) - 1;
                    sum += first * second * shape; // the variance of a gain is 1/m
                    squares += std::pow(first * second * shape, 2);
                    ++links;
                }
            }
            // A mean deviates by 5 standard errors once in 10^6.
            const double mean = sum / links;
            const double error = std::sqrt((squares / links - mean * mean) / links);
            EXPECT_NEAR(mean, std::max(0.0, 1 - lag), 5 * error) << shape << ' ' << lag;
            EXPECT_LT(error, 0.015) << "else it says nothing";
        }
    }
}

TEST_F(BlockFading, IsConstantInABlockAndAnotherOneInTheNext)
{
    MakeNodes(3);
    const double doppler = 2;
    const auto fading = Make(1, doppler);
    std::vector<double> changes; // times at which the gain changes
    double last = fading->GetGain(m_places[0], m_places[1], Time(0));
    for (int i = 1; i <= 10000; ++i)
    {
        const double gain = fading->GetGain(m_places[0], m_places[1], MilliSeconds(i));
        if (gain != last)
        {
            changes.push_back(i * 1e-3);
            last = gain;
        }
    }
    ASSERT_GE(changes.size(), 47U); // 10 s have 47.3 blocks of 211.5 ms
    ASSERT_LE(changes.size(), 48U);
    for (std::size_t i = 1; i < changes.size(); ++i)
    {
        EXPECT_NEAR(changes[i] - changes[i - 1], COHERENCE / doppler, 0.00101);
    }
    // Another link begins its blocks at other times.
    const Time time = Seconds(changes[0]);
    EXPECT_EQ(fading->GetGain(m_places[0], m_places[2], time),
              fading->GetGain(m_places[0], m_places[2], time - MilliSeconds(1)));
}

TEST_F(BlockFading, DependsOnTheTwoNodesAndTheTimeOnly)
{
    MakeNodes(30);
    const auto fading = Make(1, 20);
    std::vector<double> gains;
    for (int64_t i = 0; i < 100; ++i)
    {
        gains.push_back(fading->GetGain(m_places[3], m_places[8], MilliSeconds(10 * i)));
    }
    // In another order, in the other direction, with other links in between, from a second object.
    const auto same = Make(1, 20);
    for (int64_t i = 99; i >= 0; --i)
    {
        const Time time = MilliSeconds(10 * i);
        for (const auto& other : m_places)
        {
            fading->GetGain(m_places[3], other, time);
        }
        EXPECT_EQ(fading->GetGain(m_places[8], m_places[3], time), gains[i]);
        EXPECT_EQ(same->GetGain(m_places[3], m_places[8], time), gains[i]);
    }
    std::set<double> distinct;
    for (uint32_t a = 0; a < 30; ++a)
    {
        for (uint32_t b = 0; b < a; ++b)
        {
            distinct.insert(fading->GetGain(m_places[a], m_places[b], Time(0)));
        }
    }
    EXPECT_EQ(distinct.size(), 30U * 29 / 2) << "every link has a gain of its own";
}

TEST_F(BlockFading, IsAnotherOneForOtherStreamsAndRuns)
{
    MakeNodes(2);
    const auto get = [this](const Ptr<FederatedBlockFading>& fading)
    { return fading->GetGain(m_places[0], m_places[1], Seconds(1)); };
    const double gain = get(Make(1, 5, 7));
    EXPECT_EQ(get(Make(1, 5, 7)), gain);
    EXPECT_NE(get(Make(1, 5, 8)), gain);
    RngSeedManager::SetRun(2);
    EXPECT_NE(get(Make(1, 5, 7)), gain);
    // Two objects that nobody gave a stream do not fade alike.
    const auto first = CreateObject<FederatedBlockFading>();
    EXPECT_NE(get(first), get(CreateObject<FederatedBlockFading>()));
}

TEST_F(BlockFading, TakesTheDopplerFrequencyOfTheRelativeSpeed)
{
    MakeNodes(2);
    const auto fading = Make(1, 0);
    EXPECT_EQ(fading->GetDoppler(m_places[0], m_places[1]), 0);
    EXPECT_EQ(fading->GetGain(m_places[0], m_places[1], Time(0)),
              fading->GetGain(m_places[0], m_places[1], Hours(1000)))
        << "nothing moves: the fade lasts for ever";
    const auto walker = MakeMoving(1);
    const double frequency = 5.18e9 / 299792458; // at 1 m/s
    EXPECT_NEAR(fading->GetDoppler(walker, m_places[0]), frequency, 1e-9);
    EXPECT_NEAR(fading->GetDoppler(walker, MakeMoving(-2)), 3 * frequency, 1e-9);
    EXPECT_EQ(fading->GetDoppler(walker, MakeMoving(1)), 0);
    std::set<double> distinct;
    for (int i = 0; i < 1000; ++i)
    {
        distinct.insert(fading->GetGain(walker, m_places[0], MilliSeconds(i)));
    }
    EXPECT_NEAR(static_cast<double>(distinct.size()), frequency / COHERENCE, 1.5);
    fading->SetAttribute("Frequency", DoubleValue(2.4e9));
    EXPECT_NEAR(fading->GetDoppler(walker, m_places[0]), 2.4e9 / 299792458, 1e-9);
    fading->SetAttribute("Doppler", DoubleValue(3));
    EXPECT_EQ(fading->GetDoppler(m_places[0], m_places[1]), 3);
}

TEST_F(BlockFading, IsAnotherOneWhereverANodeRests)
{
    MakeNodes(2);
    const std::vector<Ptr<FederatedLinkFading>> models{Make(1, 0), MakeJakes(0)};
    for (const auto& fading : models)
    {
        std::vector<double> gains;
        for (int i = 0; i < 10000; ++i)
        {
            const int column = i % 100;
            const int row = i / 100;
            m_places[1]->SetPosition(Vector(0.5 * column, 0.5 * row, 2));
            gains.push_back(fading->GetGain(m_places[0], m_places[1], Time(0)));
            EXPECT_EQ(fading->GetGain(m_places[1], m_places[0], Seconds(9)), gains.back());
        }
        const auto exponential = [](double gain) { return 1 - std::exp(-gain); };
        EXPECT_LT(GetKolmogorovSmirnov(gains, exponential), KOLMOGOROV_SMIRNOV_LIMIT);
        // Who comes back finds the gain of before.
        m_places[1]->SetPosition(Vector(0.5 * 7, 0.5 * 31, 2));
        EXPECT_EQ(fading->GetGain(m_places[0], m_places[1], Hours(1)), gains[3107]);
        // Where both are elsewhere, but see each other as before, they do not move to each other.
        m_places[0]->SetPosition(Vector(64, 0, 0));
        m_places[1]->SetPosition(Vector(64 + 0.5 * 7, 0.5 * 31, 2));
        EXPECT_EQ(fading->GetGain(m_places[0], m_places[1], Hours(1)), gains[3107]);
        m_places[0]->SetPosition(Vector(0, 0, 0));
    }
}

TEST_F(BlockFading, AddsItsGainToThePower)
{
    MakeNodes(2);
    const auto fading = Make(1, 0);
    const double gain = fading->GetGain(m_places[0], m_places[1], Time(0));
    EXPECT_DOUBLE_EQ(fading->CalcRxPower(-50, m_places[0], m_places[1]),
                     -50 + 10 * std::log10(gain));
}

TEST_F(BlockFading, NeedsNodes)
{
    MakeNodes(1);
    const auto fading = Make(1, 5);
    EXPECT_DEATH(fading->CalcRxPower(0, m_places[0], CreateObject<ConstantPositionMobilityModel>()),
                 "FederatedLinkFading: a mobility model without a node has no links");
}

TEST_F(JakesFading, IsRayleighFading)
{
    constexpr uint32_t NODES = 200; // 19,900 links
    MakeNodes(NODES);
    const auto fading = MakeJakes(10);
    std::vector<double> gains;
    for (uint32_t a = 0; a < NODES; ++a)
    {
        for (uint32_t b = 0; b < a; ++b)
        {
            gains.push_back(fading->GetGain(m_places[a], m_places[b], Seconds(1000)));
        }
    }
    // Not exactly: M waves instead of infinitely many move the distribution by about 1/(10 M).
    const auto exponential = [](double gain) { return 1 - std::exp(-gain); };
    EXPECT_LT(GetKolmogorovSmirnov(gains, exponential), KOLMOGOROV_SMIRNOV_LIMIT);
    const auto other = [](double gain) { return boost::math::gamma_p(1.2, 1.2 * gain); };
    EXPECT_GT(GetKolmogorovSmirnov(gains, other), KOLMOGOROV_SMIRNOV_LIMIT);
}

TEST_F(JakesFading, HasTheCorrelationOfTheDopplerSpectrum)
{
    constexpr uint32_t NODES = 400; // 79,800 links
    constexpr double WAVES = FederatedJakesFading::WAVES;
    MakeNodes(NODES);
    const double doppler = 5;
    const auto fading = MakeJakes(doppler);
    // In periods of the Doppler frequency: J_0 has its first zero at 0.383, and is -0.40 at 0.61.
    for (double lag : {0.0, 0.05, 0.2, 0.383, 0.61, 1.5})
    {
        // The waves of different sectors are independent; over each sector, by midpoints:
        double squares = 0;
        std::complex<double> bessel;
        for (unsigned n = 0; n < WAVES; ++n)
        {
            std::complex<double> wave;
            for (unsigned i = 0; i < 100; ++i)
            {
                const double direction = 2 * M_PI * (n + (i + 0.5) / 100) / WAVES;
                wave += std::polar(0.01, 2 * M_PI * lag * std::cos(direction));
            }
            bessel += wave / WAVES;
            squares += std::norm(wave) / (WAVES * WAVES);
        }
        EXPECT_NEAR(bessel.real(), boost::math::cyl_bessel_j(0, 2 * M_PI * lag), 1e-4);
        double sum = 0;
        double errors = 0;
        double links = 0;
        for (uint32_t a = 0; a < NODES; ++a)
        {
            for (uint32_t b = 0; b < a; ++b)
            {
                const double product =
                    (fading->GetGain(m_places[a], m_places[b], Seconds(2)) - 1) *
                    (fading->GetGain(m_places[a], m_places[b], Seconds(2 + lag / doppler)) - 1);
                sum += product;
                errors += product * product;
                ++links;
            }
        }
        // A mean deviates by 5 standard errors once in 10^6.
        const double mean = sum / links;
        const double error = std::sqrt((errors / links - mean * mean) / links);
        EXPECT_NEAR(mean, std::norm(bessel) - squares, 5 * error) << lag;
        EXPECT_LT(error, 0.015) << "else it says nothing";
    }
}

TEST_F(JakesFading, ChangesGraduallyAndHasTheMeanOneOnEveryLink)
{
    MakeNodes(4);
    const double doppler = 20;
    const auto fading = MakeJakes(doppler);
    for (uint32_t b = 1; b < 4; ++b)
    {
        double sum = 0;
        double last = fading->GetGain(m_places[0], m_places[b], Time(0));
        constexpr int STEPS = 200000; // 4,000 periods
        for (int i = 1; i <= STEPS; ++i)
        {
            const double gain = fading->GetGain(m_places[b], m_places[0], MilliSeconds(i));
            // |d sqrt(gain)/dt| <= 2 pi f sqrt(M), reached if all waves add up.
            ASSERT_LT(std::abs(std::sqrt(gain) - std::sqrt(last)),
                      2 * M_PI * doppler * std::sqrt(1.0 * FederatedJakesFading::WAVES) * 1e-3);
            sum += gain;
            last = gain;
        }
        EXPECT_NEAR(sum / STEPS, 1, 0.1) << b;
    }
}

TEST_F(JakesFading, DependsOnTheTwoNodesAndTheTimeOnly)
{
    MakeNodes(30);
    const auto fading = MakeJakes(20);
    std::vector<double> gains;
    for (int64_t i = 0; i < 100; ++i)
    {
        gains.push_back(fading->GetGain(m_places[3], m_places[8], MilliSeconds(10 * i)));
    }
    const auto same = MakeJakes(20);
    for (int64_t i = 99; i >= 0; --i)
    {
        const Time time = MilliSeconds(10 * i);
        for (const auto& other : m_places)
        {
            fading->GetGain(m_places[3], other, time);
        }
        EXPECT_EQ(fading->GetGain(m_places[8], m_places[3], time), gains[i]);
        EXPECT_EQ(same->GetGain(m_places[3], m_places[8], time), gains[i]);
    }
    const auto still = MakeJakes(0);
    EXPECT_EQ(still->GetGain(m_places[0], m_places[1], Time(0)),
              still->GetGain(m_places[0], m_places[1], Hours(1000)))
        << "nothing moves: the fade lasts for ever";
}
