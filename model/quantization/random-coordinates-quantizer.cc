// SPDX-License-Identifier: GPL-2.0-only

#include "random-coordinates-quantizer.h"

#include "lane-fold.h"

#include "ns3/abort.h"
#include "ns3/bit-packer.h"
#include "ns3/double.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <iterator>
#include <limits>
#include <numeric>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(RandomCoordinatesQuantizer);

TypeId
RandomCoordinatesQuantizer::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::RandomCoordinatesQuantizer")
            .SetParent<Quantizer>()
            .SetGroupName("Federated")
            .AddConstructor<RandomCoordinatesQuantizer>()
            .AddAttribute("Epsilon",
                          "The privacy loss of a whole update on a public interval.",
                          DoubleValue(8),
                          MakeDoubleAccessor(&RandomCoordinatesQuantizer::SetEpsilon,
                                             &RandomCoordinatesQuantizer::GetEpsilon),
                          MakeDoubleChecker<double>(0))
            .AddAttribute("Coordinates",
                          "How many random coordinates of an update are answered, k.",
                          UintegerValue(8),
                          MakeUintegerAccessor(&RandomCoordinatesQuantizer::SetCoordinates,
                                               &RandomCoordinatesQuantizer::GetCoordinates),
                          MakeUintegerChecker<uint32_t>(1))
            .AddAttribute("Decoder",
                          "What the receiver takes an answer for: bayes, unbiased, or gain:x.",
                          StringValue("unbiased"),
                          MakeStringAccessor(&RandomCoordinatesQuantizer::SetDecoder,
                                             &RandomCoordinatesQuantizer::GetDecoder),
                          MakeStringChecker());
    return tid;
}

RandomCoordinatesQuantizer::RandomCoordinatesQuantizer()
    : m_epsilon(0),
      m_coordinates(1)
{
}

void
RandomCoordinatesQuantizer::SetEpsilon(double epsilon)
{
    m_epsilon = epsilon;
    m_response.SetEpsilon(m_epsilon / m_coordinates);
}

double
RandomCoordinatesQuantizer::GetEpsilon() const
{
    return m_epsilon;
}

void
RandomCoordinatesQuantizer::SetCoordinates(uint32_t coordinates)
{
    NS_ABORT_MSG_IF(coordinates == 0, "RandomCoordinatesQuantizer: Coordinates is 0");
    m_coordinates = coordinates;
    m_response.SetEpsilon(m_epsilon / m_coordinates);
}

uint32_t
RandomCoordinatesQuantizer::GetCoordinates() const
{
    return m_coordinates;
}

void
RandomCoordinatesQuantizer::SetDecoder(const std::string& decoder)
{
    m_response.SetDecoder("RandomCoordinatesQuantizer", decoder);
}

std::string
RandomCoordinatesQuantizer::GetDecoder() const
{
    return m_response.GetDecoder();
}

double
RandomCoordinatesQuantizer::GetChance(const LevelGrid& grid) const
{
    NS_ABORT_MSG_IF(grid.dimension == 0,
                    "RandomCoordinatesQuantizer: the size of the update is not known; give it to "
                    "the LevelGrid or to GetCellDistortion()");
    return std::min(1.0, m_coordinates / static_cast<double>(grid.dimension));
}

bool
RandomCoordinatesQuantizer::DoSupports(unsigned bits) const
{
    return bits == 2;
}

bool
RandomCoordinatesQuantizer::DoCheck(std::string& error) const
{
    return m_response.Check("RandomCoordinatesQuantizer", error);
}

unsigned
RandomCoordinatesQuantizer::DoGetWireBits(unsigned bits) const
{
    return bits;
}

bool
RandomCoordinatesQuantizer::DoEncodeUpdate(const float* values,
                                           const std::vector<IntervalRange>& intervals,
                                           unsigned bits,
                                           FederatedRandom& random,
                                           uint8_t* payload) const
{
    const std::size_t dimension = intervals.back().end;
    if (!IsFiniteUpdate(values, dimension) || dimension > std::numeric_limits<uint32_t>::max())
    {
        return false;
    }
    static_assert(NOT_CHOSEN == 1, "four of them are the byte 01010101");
    std::memset(payload, 0x55, BitPacker::GetSize(dimension, bits));
    if (dimension % 4 != 0)
    {
        payload[dimension / 4] &= (1U << dimension % 4 * 2) - 1;
    }
    // R. W. Floyd's way to k of d, all sets with equal probability; what was chosen is in the
    // payload.
    const auto end = static_cast<uint32_t>(dimension);
    for (uint32_t last = end - std::min(end, m_coordinates); last < end; ++last)
    {
        uint32_t chosen = random.Below(last + 1);
        uint16_t answer;
        BitPacker::Unpack(payload, chosen, 1, bits, &answer);
        chosen = answer == NOT_CHOSEN ? chosen : last;
        const auto range =
            std::upper_bound(intervals.begin(),
                             intervals.end(),
                             chosen,
                             [](uint32_t i, const IntervalRange& r) { return i < r.end; });
        const LevelGrid grid(range->low, range->high, bits);
        const double position = federated::BinaryResponse::GetPosition(values[chosen], grid);
        answer = random() < m_response.GetThreshold(position) ? UPPER : LOWER;
        BitPacker::Pack(&answer, 1, bits, payload, chosen);
    }
    return true;
}

LevelGrid
RandomCoordinatesQuantizer::DoGetDecoderGrid(const LevelGrid& grid) const
{
    const double middle = (double{grid.low} + double{grid.high}) / 2;
    const double gap = grid.step * grid.top / 2 * m_response.GetGain(GetChance(grid));
    return LevelGrid(static_cast<float>(middle - gap),
                     static_cast<float>(middle + 2 * gap),
                     grid.GetBits(),
                     grid.dimension);
}

double
RandomCoordinatesQuantizer::DoGetDistortion(const float* values,
                                            std::size_t count,
                                            const LevelGrid& grid) const
{
    const double chance = GetChance(grid);
    const double contrast = m_response.GetContrast();
    const LevelGrid decoder = DoGetDecoderGrid(grid);
    return federated::SumOver(values,
                              count,
                              [grid, decoder, chance, contrast](float value)
                              {
                                  const double position =
                                      federated::BinaryResponse::GetPosition(value, grid);
                                  const double upper = (1 + contrast * position) / 2;
                                  const double toMiddle = value - decoder.GetValue(NOT_CHOSEN);
                                  const double toLower = value - decoder.GetValue(LOWER);
                                  const double toUpper = value - decoder.GetValue(UPPER);
                                  const double chosen =
                                      (1 - upper) * toLower * toLower + upper * toUpper * toUpper;
                                  return (1 - chance) * toMiddle * toMiddle + chance * chosen;
                              });
}

double
RandomCoordinatesQuantizer::DoGetCellDistortion(const LevelGrid& grid) const
{
    // E[(a - G s)^2] with E[a^2] = A^2/3, E[s^2] = k/d and E[a s] = k/d tau A/3, in units of A^2.
    const double half = grid.step * grid.top / 2;
    const double chance = GetChance(grid);
    const double gain = m_response.GetGain(chance);
    return half * half * (1.0 / 3 + chance * gain * (gain - 2.0 / 3 * m_response.GetContrast()));
}

double
RandomCoordinatesQuantizer::DoGetLeastDistortion(const LevelGrid& grid) const
{
    // The variance of what is decoded, which is m-G, m or m+G: the mean of its square is G^2 k/d,
    // and its mean at most G tau k/d.
    const double chance = GetChance(grid);
    const double contrast = m_response.GetContrast();
    const double gap = DoGetDecoderGrid(grid).step;
    return gap * gap * chance * (1 - chance * contrast * contrast);
}

bool
RandomCoordinatesQuantizer::DoCanHaveSent(const uint8_t* payload,
                                          std::size_t count,
                                          unsigned bits,
                                          std::size_t& answers) const
{
    uint16_t levels[256];
    for (std::size_t done = 0; done < count;)
    {
        const std::size_t part = std::min(count - done, std::size(levels));
        BitPacker::Unpack(payload, done, part, bits, levels);
        uint16_t largest = 0;
        std::size_t idle = 0;
        for (std::size_t i = 0; i < part; ++i)
        {
            largest = std::max(largest, levels[i]);
            idle += levels[i] == NOT_CHOSEN;
        }
        answers += part - idle;
        done += part;
        if (largest > UPPER || answers > m_coordinates)
        {
            return false;
        }
    }
    return true;
}

std::vector<double>
RandomCoordinatesQuantizer::DoGetProbabilities(float value, const LevelGrid& grid) const
{
    const double chance = GetChance(grid);
    const uint32_t threshold =
        m_response.GetThreshold(federated::BinaryResponse::GetPosition(value, grid));
    const double upper = threshold * 0x1p-32;
    return {chance * (1 - upper), 1 - chance, chance * upper};
}

double
RandomCoordinatesQuantizer::DoCombineLosses(std::vector<double>& losses) const
{
    // Which coordinates were chosen says nothing, but may be the worst k of them.
    const std::size_t count = std::min<std::size_t>(losses.size(), m_coordinates);
    std::partial_sort(losses.begin(),
                      losses.begin() + static_cast<std::ptrdiff_t>(count),
                      losses.end(),
                      std::greater<>());
    losses.resize(count);
    return std::accumulate(losses.begin(), losses.end(), 0.0);
}

PrivacyClaim
RandomCoordinatesQuantizer::DoGetPrivacyClaim(const PrivacyContext&) const
{
    PrivacyClaim claim = PrivacyClaim::TrueEpsilon(
        PrivacyClaim::UPDATE,
        m_coordinates * m_response.GetRealizedEpsilon(),
        "Randomized response on random coordinates of a public interval.");
    // k answers compose, each with rho = epsilon tanh(epsilon/2).
    claim.rho = claim.epsilon * std::tanh(m_response.GetRealizedEpsilon() / 2);
    return claim;
}

} // namespace ns3
