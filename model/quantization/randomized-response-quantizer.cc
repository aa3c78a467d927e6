// SPDX-License-Identifier: GPL-2.0-only

#include "randomized-response-quantizer.h"

#include "lane-fold.h"

#include "ns3/abort.h"
#include "ns3/double.h"
#include "ns3/federated-number.h"
#include "ns3/string.h"

#include <algorithm>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(RandomizedResponseQuantizer);

namespace
{

/** @return where in the interval a value lies, -1 at the lower and 1 at the upper end. */
double
GetPosition(float value, const LevelGrid& grid)
{
    // The one cell of a 1-bit grid is the whole interval.
    double fraction;
    grid.Locate(value, fraction);
    return std::clamp(2 * fraction - 1, -1.0, 1.0);
}

} // namespace

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
    : m_epsilon(0),
      m_coin(0),
      m_gain(0)
{
}

void
RandomizedResponseQuantizer::SetEpsilon(double epsilon)
{
    m_epsilon = epsilon;
    m_coin = PrivacyCoin(epsilon);
}

double
RandomizedResponseQuantizer::GetEpsilon() const
{
    return m_epsilon;
}

void
RandomizedResponseQuantizer::SetDecoder(const std::string& decoder)
{
    const std::string prefix = "gain:";
    m_gain = 0;
    if (decoder.compare(0, prefix.size(), prefix) == 0)
    {
        const bool isNumber = FederatedNumber::ReadReal(decoder.substr(prefix.size()), m_gain);
        NS_ABORT_MSG_IF(!isNumber || !(m_gain > 0),
                        "RandomizedResponseQuantizer: Decoder is '"
                            << decoder << "', its gain is not a number above 0");
    }
    else
    {
        NS_ABORT_MSG_IF(decoder != "bayes" && decoder != "unbiased",
                        "RandomizedResponseQuantizer: Decoder is '"
                            << decoder << "', not bayes, unbiased or gain:x");
    }
    m_decoder = decoder;
}

std::string
RandomizedResponseQuantizer::GetDecoder() const
{
    return m_decoder;
}

double
RandomizedResponseQuantizer::GetContrast() const
{
    return 2 * m_coin.GetProbability() - 1;
}

double
RandomizedResponseQuantizer::GetGain() const
{
    if (m_gain > 0)
    {
        return m_gain;
    }
    if (m_decoder == "unbiased")
    {
        NS_ABORT_MSG_IF(GetContrast() <= 0,
                        "RandomizedResponseQuantizer: Epsilon is "
                            << m_epsilon << ", a fair coin, which no decoder makes unbiased");
        return 1 / GetContrast();
    }
    return GetContrast() / 3;
}

LevelGrid
RandomizedResponseQuantizer::DoGetDecoderGrid(const LevelGrid& grid) const
{
    const double middle = (double{grid.low} + double{grid.high}) / 2;
    const double gap = grid.step / 2 * GetGain();
    return LevelGrid(static_cast<float>(middle - gap), static_cast<float>(middle + gap), 1);
}

unsigned
RandomizedResponseQuantizer::DoGetWireBits(unsigned bits) const
{
    NS_ABORT_MSG_IF(bits != 1,
                    "RandomizedResponseQuantizer: the resolution is "
                        << bits << " bits, but one bit a coordinate is sent");
    return 1;
}

void
RandomizedResponseQuantizer::DoChooseLevels(const float* values,
                                            std::size_t count,
                                            const LevelGrid& grid,
                                            FederatedRandom& random,
                                            uint16_t* levels) const
{
    constexpr uint32_t FAIR = 1U << 31;
    const double span = m_coin.GetThreshold() - FAIR;
    uint32_t words[BLOCK];
    random.Fill(words, count);
    for (std::size_t i = 0; i < count; ++i)
    {
        // Between 2^32 - T and T, so that no two values have a larger ratio than the coin.
        const auto shift = static_cast<int32_t>(span * GetPosition(values[i], grid));
        levels[i] = words[i] < FAIR + static_cast<uint32_t>(shift);
    }
}

double
RandomizedResponseQuantizer::DoGetDistortion(const float* values,
                                             std::size_t count,
                                             const LevelGrid& grid) const
{
    const double contrast = GetContrast();
    const LevelGrid decoder = DoGetDecoderGrid(grid);
    return SumOver(values,
                   count,
                   [grid, decoder, contrast](float value)
                   {
                       const double upperProbability =
                           (1 + contrast * GetPosition(value, grid)) / 2;
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
    const double gain = GetGain();
    return half * half * (1.0 / 3 + gain * gain - 2 * gain * GetContrast() / 3);
}

PrivacyClaim
RandomizedResponseQuantizer::DoGetPrivacyClaim(const PrivacyContext&) const
{
    PrivacyClaim claim;
    claim.kind = PrivacyClaim::TRUE_EPSILON;
    claim.epsilon = m_epsilon;
    claim.reason = "Randomized response on a public interval.";
    return claim;
}

} // namespace ns3
