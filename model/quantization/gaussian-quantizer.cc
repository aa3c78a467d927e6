// SPDX-License-Identifier: GPL-2.0-only

#include "gaussian-quantizer.h"

#include "discrete-noise.h"
#include "lane-fold.h"
#include "noise-lattice.h"

#include "ns3/double.h"

#include <cmath>
#include <limits>
#include <sstream>

namespace ns3
{

namespace
{

/** Coordinates of more steps than this are not sent: their integers would leave no fraction. */
constexpr double MAX_STEPS = 0x1p52;

} // namespace

NS_OBJECT_ENSURE_REGISTERED(GaussianQuantizer);

TypeId
GaussianQuantizer::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::GaussianQuantizer")
            .SetParent<FloatQuantizer>()
            .SetGroupName("Federated")
            .AddConstructor<GaussianQuantizer>()
            .AddAttribute("Sigma",
                          "Standard deviation of the noise on a coordinate.",
                          DoubleValue(1),
                          MakeDoubleAccessor(&GaussianQuantizer::m_sigma),
                          MakeDoubleChecker<double>(1e-30))
            .AddAttribute("Step",
                          "The largest step of the grid that coordinates are rounded to. The step "
                          "in use is Sigma/2^k, k from -8 to 24. 0: Sigma/2^24.",
                          DoubleValue(0),
                          MakeDoubleAccessor(&GaussianQuantizer::m_largestStep),
                          MakeDoubleChecker<double>(0));
    return tid;
}

int
GaussianQuantizer::GetExponent() const
{
    int exponent = federated::DiscreteGaussian::MIN_EXPONENT;
    while (exponent < federated::DiscreteGaussian::MAX_EXPONENT &&
           std::ldexp(m_sigma, -exponent) > m_largestStep)
    {
        ++exponent;
    }
    return exponent;
}

double
GaussianQuantizer::GetStep() const
{
    return std::ldexp(m_sigma, -GetExponent());
}

bool
GaussianQuantizer::DoCheck(std::string& error) const
{
    if (m_largestStep > 0 && GetStep() > m_largestStep)
    {
        std::ostringstream text;
        text << "GaussianQuantizer: Step is " << m_largestStep << ", below Sigma/2^24, "
             << GetStep() << ".";
        error = text.str();
        return false;
    }
    return true;
}

bool
GaussianQuantizer::DoClamps() const
{
    return false; // floats of any size are sent
}

const float*
GaussianQuantizer::DoMakeFloats(const float* values,
                                std::size_t count,
                                const LevelGrid&,
                                FederatedRandom& random,
                                float* buffer) const
{
    const federated::DiscreteGaussian law(GetExponent());
    const federated::NoiseLattice lattice{0, GetStep()};
    const double stepsPerValue = 1 / lattice.step;
    uint32_t words[BLOCK];
    random.Fill(words, count);
    for (std::size_t i = 0; i < count; ++i)
    {
        const double position = values[i] * stepsPerValue;
        if (std::abs(position) > MAX_STEPS)
        {
            buffer[i] = std::numeric_limits<float>::infinity(); // cannot be sent
            continue;
        }
        const double lower = std::floor(position);
        const bool isUpper = words[i] < 0x1p32 * (position - lower);
        buffer[i] =
            lattice.GetFloat(static_cast<int64_t>(lower) + (isUpper ? 1 : 0) + law.Draw(random));
    }
    return buffer;
}

double
GaussianQuantizer::DoGetDistortion(const float* values, std::size_t count, const LevelGrid&) const
{
    const double step = GetStep();
    const double stepsPerValue = 1 / step;
    const double rounding = federated::SumOver(values,
                                               count,
                                               [stepsPerValue](float value)
                                               {
                                                   const double position = value * stepsPerValue;
                                                   const double f = position - std::floor(position);
                                                   return f * (1 - f);
                                               });
    return step * step *
           (static_cast<double>(count) * federated::DiscreteGaussian(GetExponent()).GetVariance() +
            rounding);
}

double
GaussianQuantizer::DoGetCellDistortion(const LevelGrid&) const
{
    const double step = GetStep();
    return step * step * (federated::DiscreteGaussian(GetExponent()).GetVariance() + 1.0 / 6);
}

double
GaussianQuantizer::DoGetLeastDistortion(const LevelGrid&) const
{
    const double step = GetStep();
    return step * step * federated::DiscreteGaussian(GetExponent()).GetVariance();
}

double
GaussianQuantizer::DoGetReach(double largest, const LevelGrid&) const
{
    // The discrete Gaussian distribution is sub-Gaussian: P(|k| >= x s) <= 2 e^{-x^2/2} (C.
    // Canonne, G. Kamath and T. Steinke, 2020). Rounding to the grid adds a step at most.
    const double tail = std::sqrt(-2 * std::log(NEGLIGIBLE / 2)) * m_sigma;
    return AddRounding(std::min(largest, MAX_STEPS * GetStep()) + GetStep() + tail);
}

bool
GaussianQuantizer::DoCanSend(float, const LevelGrid&, float sent) const
{
    return federated::NoiseLattice{0, GetStep()}.Holds(sent);
}

PrivacyClaim
GaussianQuantizer::DoGetPrivacyClaim(const PrivacyContext& context) const
{
    if (context.clipNorm != CLIP_L2)
    {
        return PrivacyClaim::None("Without l2 clipping the l2 sensitivity has no bound.",
                                  PrivacyClaim::UPDATE);
    }
    if (context.dimension == 0)
    {
        return PrivacyClaim::None("The size of the update is not known.", PrivacyClaim::UPDATE);
    }
    const double step = GetStep();
    if (context.clipBound / step > MAX_STEPS)
    {
        // Whether an update is sent would depend on the data.
        return PrivacyClaim::None("Some clipped updates are too large for the step of the grid.",
                                  PrivacyClaim::UPDATE);
    }
    // Let x = v/g, and theta the uniform word over 2^32. The rounded coordinate is u = floor(x) +
    // [theta < x - floor(x)] = ceil(x - theta). Round a neighbor x' with the same words: then
    // |u - u'| <= ceil(|x - x'|) < |x - x'| + 1, so that ||u - u'|| <= ||x - x'|| + sqrt(d) <=
    // 2C/g + sqrt(d) for any two clipped updates, for all words. For integers u and u' the sums
    // with discrete Gaussian noise have the Renyi divergence alpha ||u - u'||^2 / (2 s^2) at most
    // (C. Canonne, G. Kamath and T. Steinke, 2020); the mixtures over the words, which have the
    // same distribution for both, have no larger one than the worst words, because the divergence
    // is jointly quasi-convex. With s = Sigma/g this is alpha (2C + g sqrt(d))^2 / (2 Sigma^2).
    //
    // The plain 2C/g would be false: x = 0 is never rounded up, and x' = 0.001 is. The factor is
    // for the rounding of x = v/g, at most 2^-51 of it, and of this formula. What is sent is a
    // function of the integer sum.
    const double ratio =
        (2 * context.clipBound + step * std::sqrt(static_cast<double>(context.dimension))) /
        m_sigma;
    PrivacyClaim claim;
    claim.kind = PrivacyClaim::ZCDP;
    claim.scope = PrivacyClaim::UPDATE;
    claim.rho = ratio * ratio / 2 * (1 + 1e-12);
    claim.reason = "Gaussian noise on an l2-clipped update with a public interval.";
    return claim;
}

} // namespace ns3
