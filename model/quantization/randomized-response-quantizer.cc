// SPDX-License-Identifier: GPL-2.0-only

#include "randomized-response-quantizer.h"

#include "lane-fold.h"

#include "ns3/double.h"
#include "ns3/string.h"

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(RandomizedResponseQuantizer);

TypeId
RandomizedResponseQuantizer::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::RandomizedResponseQuantizer")
            .SetParent<LevelQuantizer>()
            .SetGroupName("Federated")
            .AddConstructor<RandomizedResponseQuantizer>()
            .AddAttribute("Epsilon",
                          "The privacy loss of a coordinate on a public interval.",
                          DoubleValue(1),
                          MakeDoubleAccessor(&RandomizedResponseQuantizer::SetEpsilon,
                                             &RandomizedResponseQuantizer::GetEpsilon),
                          MakeDoubleChecker<double>(0))
            .AddAttribute("Decoder",
                          "What the receiver takes a bit for: bayes, unbiased, or gain:x.",
                          StringValue("bayes"),
                          MakeStringAccessor(&RandomizedResponseQuantizer::SetDecoder,
                                             &RandomizedResponseQuantizer::GetDecoder),
                          MakeStringChecker());
    return tid;
}

RandomizedResponseQuantizer::RandomizedResponseQuantizer()
    : m_epsilon(0)
{
}

void
RandomizedResponseQuantizer::SetEpsilon(double epsilon)
{
    m_epsilon = epsilon;
    m_response.SetEpsilon(epsilon);
}

double
RandomizedResponseQuantizer::GetEpsilon() const
{
    return m_epsilon;
}

void
RandomizedResponseQuantizer::SetDecoder(const std::string& decoder)
{
    m_response.SetDecoder("RandomizedResponseQuantizer", decoder);
}

std::string
RandomizedResponseQuantizer::GetDecoder() const
{
    return m_response.GetDecoder();
}

LevelGrid
RandomizedResponseQuantizer::DoGetDecoderGrid(const LevelGrid& grid) const
{
    const double middle = (double{grid.low} + double{grid.high}) / 2;
    const double gap = grid.step / 2 * m_response.GetGain();
    return LevelGrid(static_cast<float>(middle - gap), static_cast<float>(middle + gap), 1);
}

bool
RandomizedResponseQuantizer::DoSupports(unsigned bits) const
{
    return bits == 1;
}

bool
RandomizedResponseQuantizer::DoCheck(std::string& error) const
{
    return m_response.Check("RandomizedResponseQuantizer", error);
}

void
RandomizedResponseQuantizer::DoChooseLevels(const float* values,
                                            std::size_t count,
                                            const LevelGrid& grid,
                                            FederatedRandom& random,
                                            uint16_t* levels) const
{
    uint32_t words[BLOCK];
    random.Fill(words, count);
    for (std::size_t i = 0; i < count; ++i)
    {
        const double position = federated::BinaryResponse::GetPosition(values[i], grid);
        levels[i] = words[i] < m_response.GetThreshold(position);
    }
}

double
RandomizedResponseQuantizer::DoGetDistortion(const float* values,
                                             std::size_t count,
                                             const LevelGrid& grid) const
{
    const double contrast = m_response.GetContrast();
    const LevelGrid decoder = DoGetDecoderGrid(grid);
    return federated::SumOver(values,
                              count,
                              [grid, decoder, contrast](float value)
                              {
                                  const double position =
                                      federated::BinaryResponse::GetPosition(value, grid);
                                  const double upperProbability = (1 + contrast * position) / 2;
                                  const double toLower = value - decoder.GetValue(0);
                                  const double toUpper = value - decoder.GetValue(1);
                                  return (1 - upperProbability) * toLower * toLower +
                                         upperProbability * toUpper * toUpper;
                              });
}

double
RandomizedResponseQuantizer::DoGetCellDistortion(const LevelGrid& grid) const
{
    // E[(a - G s)^2] with E[a^2] = A^2/3 and E[a s] = tau A/3, in units of A^2.
    const double half = grid.step / 2;
    const double gain = m_response.GetGain();
    return half * half * (1.0 / 3 + gain * gain - 2 * gain * m_response.GetContrast() / 3);
}

double
RandomizedResponseQuantizer::DoGetLeastDistortion(const LevelGrid& grid) const
{
    // The variance of a bit that is 1 with probability (1 + tau x)/2, |x| <= 1.
    const double contrast = m_response.GetContrast();
    const double gap = DoGetDecoderGrid(grid).step;
    return gap * gap * (1 - contrast * contrast) / 4;
}

std::vector<double>
RandomizedResponseQuantizer::DoGetProbabilities(float value, const LevelGrid& grid) const
{
    const uint32_t threshold =
        m_response.GetThreshold(federated::BinaryResponse::GetPosition(value, grid));
    const double upper = threshold * 0x1p-32;
    return {1 - upper, upper};
}

PrivacyClaim
RandomizedResponseQuantizer::DoGetPrivacyClaim(const PrivacyContext& context) const
{
    PrivacyClaim claim = PrivacyClaim::TrueEpsilon(
        PrivacyClaim::COORDINATE, m_epsilon, "Randomized response on a public interval.");
    if (context.clipNorm == CLIP_L2 && context.low == -context.high)
    {
        const auto rho =
            m_response.GetUpdateRho(context.clipBound, context.high, context.dimension);
        claim.updateRho = rho.proven;
        claim.tightRho = rho.tight;
        claim.reason = "Randomized response on a public interval, rho by the l2 clip.";
    }
    return claim;
}

} // namespace ns3
