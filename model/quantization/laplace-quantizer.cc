// SPDX-License-Identifier: GPL-2.0-only

#include "laplace-quantizer.h"

#include "discrete-noise.h"
#include "unbiased-stochastic-quantizer.h"

#include "ns3/double.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ns3
{

namespace
{

/** The finest lattice has this share of the noise's scale as its step, or a smaller one. */
constexpr double MIN_SCALE = 0x1p16;

/** A larger scale could move z beyond what is sent, with a probability of more than e^-128. */
constexpr double MAX_SCALE = 0x1p54;

/**
 * More points than this in a step belong to noise of less than Delta/2^14: e^{2^14} is no double.
 */
constexpr int64_t MAX_POINTS = int64_t{1} << 30;

/**
 * @brief Unbiased stochastic rounding to levels, by integers.
 *
 * A value has a position in units of 2^-32 cells, and position + word >> 32 is its level. Positions
 * are rounded towards that of zero (or of the end of the interval next to zero), so that rounding
 * never makes a value larger: a position is as far from that of zero as some value of the same or a
 * smaller magnitude is in exact arithmetic. Claims in terms of magnitudes hold without a margin.
 */
class LevelRounding
{
  public:
    /** @param grid Levels of an interval. */
    explicit LevelRounding(const LevelGrid& grid)
        : m_grid(grid),
          m_reference(grid.Clamp(0)),
          // Smaller by 2^-50, because four roundings may have made products larger.
          m_unitsPerValue(0x1p32 * grid.inverseStep * (1 - 0x1p-50)),
          m_start(std::llround(0x1p32 * grid.inverseStep * (m_reference - double{grid.low}))),
          m_end(int64_t{grid.top} << 32)
    {
    }

    /**
     * @param value Any number; it is clamped.
     * @return its position, 0 to (2^b - 1) 2^32.
     */
    int64_t GetPosition(float value) const
    {
        const double distance = double{m_grid.Clamp(value)} - m_reference;
        const auto units = static_cast<int64_t>(distance * m_unitsPerValue); // towards zero
        return std::clamp(m_start + units, int64_t{0}, m_end);
    }

  private:
    LevelGrid m_grid;       //!< The levels.
    double m_reference;     //!< The value of the interval next to zero.
    double m_unitsPerValue; //!< 2^32 / Delta, or a little less.
    int64_t m_start;        //!< Position of the reference.
    int64_t m_end;          //!< Position of the highest level.
};

/**
 * The claim for an interval [-A, A], C/Delta (S_inc + S_dec); DoGetPrivacyClaim() has its proof.
 * @param radius C/Delta.
 * @param x e^{Delta/lambda} - 1.
 * @return the epsilon of an update.
 */
double
GetSymmetricEpsilon(double radius, double x)
{
    // ln(2E/(E+1)), and the ratio whose largest value is wanted.
    const double base = std::log1p(x / (2 + x));
    const auto ratio = [x, base](double f) { return (base + std::log1p(f * x)) / (0.5 + f); };
    double increase = 2 * x / (2 + x);
    if (radius >= 0.5)
    {
        // A concave function over an affine one has one peak: search it by thirds.
        double low = 0;
        double high = std::min(1.0, radius - 0.5);
        for (int i = 0; i < 100; ++i)
        {
            const double left = low + (high - low) / 3;
            const double right = high - (high - low) / 3;
            const bool isRight = ratio(left) < ratio(right);
            low = isRight ? left : low;
            high = isRight ? high : right;
        }
        increase = std::max({increase, ratio(low), ratio(high)});
    }
    const double decrease = 2 * std::log1p(x / 2);
    return radius * (increase + decrease);
}

} // namespace

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

LaplaceQuantizer::Noise
LaplaceQuantizer::GetNoise(const LevelGrid& grid) const
{
    const double scale = GetScale(grid);
    if (grid.inverseStep == 0) // all values become the lower end
    {
        return {{grid.low, scale / MIN_SCALE}, 1, static_cast<uint64_t>(MIN_SCALE)};
    }
    int64_t points = 1;
    while (points < MAX_POINTS && scale / grid.step * static_cast<double>(points) < MIN_SCALE)
    {
        points *= 2;
    }
    const double step = grid.step / static_cast<double>(points);
    const double wanted = std::max(1.0, std::ceil(scale / step));
    return {{grid.low, step}, points, wanted <= MAX_SCALE ? static_cast<uint64_t>(wanted) : 0};
}

double
LaplaceQuantizer::GetNoiseVariance(const LevelGrid& grid) const
{
    const Noise noise = GetNoise(grid);
    if (noise.scale == 0)
    {
        const double scale = GetScale(grid);
        return 2 * scale * scale;
    }
    return noise.lattice.step * noise.lattice.step *
           federated::DiscreteLaplace(noise.scale).GetVariance();
}

const float*
LaplaceQuantizer::DoMakeFloats(const float* values,
                               std::size_t count,
                               const LevelGrid& grid,
                               FederatedRandom& random,
                               float* buffer) const
{
    const Noise noise = GetNoise(grid);
    if (noise.scale == 0)
    {
        std::fill_n(buffer, count, std::numeric_limits<float>::infinity()); // cannot be sent
        return buffer;
    }
    const LevelRounding rounding(grid);
    const federated::DiscreteLaplace law(noise.scale);
    uint32_t words[BLOCK];
    random.Fill(words, count);
    for (std::size_t i = 0; i < count; ++i)
    {
        const int64_t level = (rounding.GetPosition(values[i]) + words[i]) >> 32;
        buffer[i] = noise.lattice.GetFloat(level * noise.pointsPerStep + law.Draw(random));
    }
    return buffer;
}

double
LaplaceQuantizer::DoGetDistortion(const float* values,
                                  std::size_t count,
                                  const LevelGrid& grid) const
{
    return UnbiasedStochasticQuantizer::GetSumOfErrors(values, count, grid) +
           static_cast<double>(count) * GetNoiseVariance(grid);
}

double
LaplaceQuantizer::DoGetCellDistortion(const LevelGrid& grid) const
{
    return grid.step * grid.step / 6 + GetNoiseVariance(grid);
}

double
LaplaceQuantizer::DoGetLeastDistortion(const LevelGrid& grid) const
{
    return GetNoiseVariance(grid);
}

double
LaplaceQuantizer::DoGetReach(double, const LevelGrid& grid) const
{
    const Noise noise = GetNoise(grid);
    // P(|k| >= x t) <= 2 e^-x.
    const double tail = -std::log(NEGLIGIBLE / 2) * static_cast<double>(noise.scale);
    return AddRounding(std::max(std::abs(grid.low), std::abs(grid.high)) +
                       noise.lattice.step * tail);
}

double
LaplaceQuantizer::DoGetPrivacyLoss(float value, float other, const LevelGrid& grid) const
{
    // The probability of a point is a mixture of two Laplace ones. Between the levels of both
    // values each mixture is A e^{z/t} + B e^{-z/t}, the ratio of two such is monotone, and beyond
    // them it is constant: it is largest at one of the levels, which are points of the lattice.
    const Noise noise = GetNoise(grid);
    if (noise.scale == 0)
    {
        return 0; // nothing is sent
    }
    // Delta over the scale of the noise.
    const double decay =
        static_cast<double>(noise.pointsPerStep) / static_cast<double>(noise.scale);
    struct Mixture
    {
        int64_t lower; // the level below the value
        double weight; // of the next one
    };
    const LevelRounding rounding(grid);
    const auto locate = [&rounding](float x)
    {
        const int64_t position = rounding.GetPosition(x);
        return Mixture{position >> 32, static_cast<double>(position & 0xffffffff) * 0x1p-32};
    };
    const auto logProbability = [decay](const Mixture& mixture, int64_t level)
    {
        const auto distance = static_cast<double>(std::abs(level - mixture.lower));
        const auto upperDistance = static_cast<double>(std::abs(level - mixture.lower - 1));
        const double lower = std::log1p(-mixture.weight) - distance * decay;
        const double upper = std::log(mixture.weight) - upperDistance * decay;
        const double larger = std::max(lower, upper);
        return larger + std::log1p(std::exp(std::min(lower, upper) - larger));
    };
    const Mixture of = locate(value);
    const Mixture against = locate(other);
    double loss = 0;
    for (int64_t level : {of.lower, of.lower + 1, against.lower, against.lower + 1})
    {
        loss = std::max(loss, logProbability(of, level) - logProbability(against, level));
    }
    return loss;
}

bool
LaplaceQuantizer::DoCanSend(float, const LevelGrid& grid, float sent) const
{
    const Noise noise = GetNoise(grid);
    return noise.scale > 0 && noise.lattice.Holds(sent);
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
    const Noise noise = GetNoise(grid);
    if (noise.scale == 0)
    {
        return PrivacyClaim::None("So much noise cannot be sent.", PrivacyClaim::UPDATE);
    }
    // Let G_x(z) be the probability of the lattice point z for a coordinate at x, in cells (x is
    // its distance from zero in units of Delta), and E = e^{Delta/lambda} = e^{m/t}. What is sent
    // is a function of z. In a cell G_x(z) is affine in x, between the values at the levels, whose
    // ratio is within [1/E, E].
    //
    // Any interval: |d ln G_x / dx| <= E - 1, hence two updates, which are at most 2C apart in the
    // l1 norm, have the loss (2C/Delta)(E - 1).
    //
    // [-A, A], where zero is in the middle of a cell and the levels are at +-1/2, +-3/2, ...: the
    // loss of a against b is [ln G_a - ln G_0] + [ln G_0 - ln G_b]. If these are at most S_inc |a|
    // and S_dec |b|, the update has C/Delta (S_inc + S_dec). Let x > 0 be in the cell that begins
    // at n - 1/2, at the fraction f of it, x = n - 1/2 + f.
    //   G_x/G_0 grows with z, and is constant from the upper level of x on:
    //   2 E^n (1 + f(E-1))/(E+1). For n = 0 its logarithm is concave in x and 0 at x = 0: its slope
    //   there, 2(E-1)/(E+1), is the largest ratio to x. For n = 1 the ratio to x = 1/2 + f is
    //   searched for its peak. Each further cell adds ln E to the logarithm and 1 to x; as the
    //   ratio for n = 1, f = 1/2 is ln E itself, no later one is above the peak.
    //   G_0/G_x falls with z, and is constant up to the level -1/2: E^n (E+1)/(2(E - f(E-1))). Its
    //   logarithm is convex in x inside a cell, thus its ratio to x is largest at an end: n ln E +
    //   ln((1+E)/2) at x = n + 1/2. For n = 0 the ratio is 2 ln((1+E)/2), and ln E, which each
    //   further cell adds, is not above that, because 4E <= (1+E)^2.
    //
    // Probabilities are exact (discrete-noise.h); positions are rounded towards that of zero
    // (LevelRounding); the clipped norm is not above C (update-clipping.h). The factor is for the
    // rounding of this formula.
    const double x =
        std::expm1(static_cast<double>(noise.pointsPerStep) / static_cast<double>(noise.scale));
    const double radius = context.clipBound / grid.step;
    double epsilon = 2 * radius * x;
    if (grid.low == -grid.high && std::isfinite(x))
    {
        epsilon = std::min(epsilon, GetSymmetricEpsilon(radius, x));
    }
    return PrivacyClaim::TrueEpsilon(
        PrivacyClaim::UPDATE,
        epsilon * (1 + 1e-12),
        "Laplace noise on an l1-clipped update with a public interval.");
}

} // namespace ns3
