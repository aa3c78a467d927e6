// SPDX-License-Identifier: GPL-2.0-only

#include "laplace-quantizer.h"

#include "unbiased-stochastic-quantizer.h"

#include "ns3/double.h"

#include <algorithm>
#include <cmath>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(LaplaceQuantizer);

TypeId
LaplaceQuantizer::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::LaplaceQuantizer")
            .SetParent<FloatQuantizer>()
            .SetGroupName("Federated")
            .AddConstructor<LaplaceQuantizer>()
            .AddAttribute("Epsilon",
                          "The noise has the scale Sensitivity / Epsilon.",
                          DoubleValue(0.1),
                          MakeDoubleAccessor(&LaplaceQuantizer::m_epsilon),
                          MakeDoubleChecker<double>(1e-300))
            .AddAttribute("Sensitivity",
                          "The l1 sensitivity rho (2C after l1 clipping at C). 0: one step of the "
                          "levels in use, which is far less than an update can change.",
                          DoubleValue(20),
                          MakeDoubleAccessor(&LaplaceQuantizer::m_sensitivity),
                          MakeDoubleChecker<double>(0));
    return tid;
}

double
LaplaceQuantizer::GetScale(const LevelGrid& grid) const
{
    return (m_sensitivity > 0 ? m_sensitivity : grid.step) / m_epsilon;
}

const float*
LaplaceQuantizer::DoMakeFloats(const float* values,
                               std::size_t count,
                               const LevelGrid& grid,
                               FederatedRandom& random,
                               float* buffer) const
{
    uint32_t words[2 * BLOCK]; // a word for the level and one for the noise, a coordinate
    random.Fill(words, 2 * count);
    uint16_t levels[BLOCK];
    UnbiasedStochasticQuantizer::ChooseLevels(values, words, count, grid, levels);
    const double scale = GetScale(grid);
    for (std::size_t i = 0; i < count; ++i)
    {
        // The lowest bit is the sign, the others an exponential variable.
        const uint32_t word = words[count + i];
        const double magnitude = -scale * std::log(((word >> 1) + 0.5) * 0x1p-31);
        const double noise = (word & 1) != 0 ? magnitude : -magnitude;
        buffer[i] = static_cast<float>(grid.GetValue(levels[i]) + noise);
    }
    return buffer;
}

double
LaplaceQuantizer::DoGetDistortion(const float* values,
                                  std::size_t count,
                                  const LevelGrid& grid) const
{
    const double scale = GetScale(grid);
    return UnbiasedStochasticQuantizer::GetSumOfErrors(values, count, grid) +
           static_cast<double>(count) * 2 * scale * scale;
}

double
LaplaceQuantizer::DoGetCellDistortion(const LevelGrid& grid) const
{
    const double scale = GetScale(grid);
    return grid.step * grid.step / 6 + 2 * scale * scale;
}

double
LaplaceQuantizer::DoGetPrivacyLoss(float value, float other, const LevelGrid& grid) const
{
    // The density is a mixture of two Laplace ones. Between the levels of both values each mixture
    // is A e^{x/lambda} + B e^{-x/lambda}, the ratio of two such is monotone, and beyond them it is
    // constant: it is largest at one of the levels.
    const double scale = GetScale(grid);
    struct Mixture
    {
        double lower;  // the level below the value
        double upper;  // and the one above it
        double weight; // of the upper one
    };
    const auto locate = [&grid](float x)
    {
        float fraction;
        const int32_t cell = grid.Locate(x, fraction);
        return Mixture{grid.GetValue(cell),
                       grid.GetValue(cell + 1),
                       UnbiasedStochasticQuantizer::GetUpperProbability(fraction)};
    };
    const auto logDensity = [scale](const Mixture& mixture, double x)
    {
        const double lower = std::log1p(-mixture.weight) - std::abs(x - mixture.lower) / scale;
        const double upper = std::log(mixture.weight) - std::abs(x - mixture.upper) / scale;
        const double larger = std::max(lower, upper);
        return larger + std::log1p(std::exp(std::min(lower, upper) - larger));
    };
    const Mixture of = locate(value);
    const Mixture against = locate(other);
    double loss = 0;
    for (double x : {of.lower, of.upper, against.lower, against.upper})
    {
        loss = std::max(loss, logDensity(of, x) - logDensity(against, x));
    }
    return loss;
}

PrivacyClaim
LaplaceQuantizer::DoGetPrivacyClaim(const PrivacyContext& context) const
{
    if (context.clipNorm != CLIP_L1)
    {
        return PrivacyClaim::None("Without l1 clipping the l1 sensitivity has no bound.",
                                  PrivacyClaim::UPDATE);
    }
    const LevelGrid grid(
        static_cast<float>(context.low), static_cast<float>(context.high), context.bits);
    return PrivacyClaim::TrueEpsilon(
        PrivacyClaim::UPDATE,
        2 * context.clipBound / grid.step * std::expm1(grid.step / GetScale(grid)),
        "Laplace noise on an l1-clipped update with a public interval.");
}

} // namespace ns3
