// SPDX-License-Identifier: GPL-2.0-only

#include "dp-stochastic-quantizer.h"

#include "lane-fold.h"

#include "ns3/double.h"

#include <algorithm>
#include <limits>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(DpStochasticQuantizer);

TypeId
DpStochasticQuantizer::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::DpStochasticQuantizer")
            .SetParent<LevelQuantizer>()
            .SetGroupName("Federated")
            .AddConstructor<DpStochasticQuantizer>()
            .AddAttribute("Epsilon",
                          "The same-cell epsilon of a coordinate: not differential privacy, unless "
                          "one public cell holds all values.",
                          DoubleValue(1e-6),
                          MakeDoubleAccessor(&DpStochasticQuantizer::SetEpsilon,
                                             &DpStochasticQuantizer::GetEpsilon),
                          MakeDoubleChecker<double>(0));
    return tid;
}

DpStochasticQuantizer::DpStochasticQuantizer()
    : m_epsilon(0),
      m_coin(0)
{
}

void
DpStochasticQuantizer::SetEpsilon(double epsilon)
{
    m_epsilon = epsilon;
    m_coin = federated::PrivacyCoin(epsilon);
}

double
DpStochasticQuantizer::GetEpsilon() const
{
    return m_epsilon;
}

const federated::PrivacyCoin&
DpStochasticQuantizer::GetCoin() const
{
    return m_coin;
}

void
DpStochasticQuantizer::DoChooseLevels(const float* values,
                                      std::size_t count,
                                      const LevelGrid& grid,
                                      FederatedRandom& random,
                                      uint16_t* levels) const
{
    const LevelGrid local = grid; // in registers: the levels written may not alias it
    int8_t nearer[BLOCK];
    m_coin.Toss(random, count, nearer);
    for (std::size_t i = 0; i < count; ++i)
    {
        // Truth values are -1 and 0, as vector comparisons give them.
        float fraction;
        const int32_t cell = local.Locate(values[i], fraction);
        const int32_t upperIsNearer = -static_cast<int32_t>(fraction > 0.5F);
        levels[i] = static_cast<uint16_t>(cell + 1 + (upperIsNearer ^ nearer[i]));
    }
}

double
DpStochasticQuantizer::DoGetDistortion(const float* values,
                                       std::size_t count,
                                       const LevelGrid& grid) const
{
    const double nearer = m_coin.GetProbability();
    const double farther = 1 - nearer;
    return federated::SumOver(values,
                              count,
                              [grid, nearer, farther](float value)
                              {
                                  double fraction;
                                  const int32_t cell = grid.Locate(value, fraction);
                                  const double upper = fraction > 0.5 ? nearer : farther;
                                  const double lower = fraction > 0.5 ? farther : nearer;
                                  const double toLower = value - grid.GetValue(cell);
                                  const double toUpper = toLower - grid.step;
                                  return lower * toLower * toLower + upper * toUpper * toUpper;
                              });
}

double
DpStochasticQuantizer::DoGetCellDistortion(const LevelGrid& grid) const
{
    // E[near^2] = Delta^2/12 and E[far^2] = 7 Delta^2/12.
    const double nearer = m_coin.GetProbability();
    return grid.step * grid.step / 12 * (nearer + 7 * (1 - nearer));
}

double
DpStochasticQuantizer::DoGetLeastDistortion(const LevelGrid& grid) const
{
    // A coin with probabilities p and 1-p chooses between two levels that are Delta apart: the mean
    // squared distance of any value from them is at least their variance.
    const double nearer = m_coin.GetProbability();
    return grid.step * grid.step * nearer * (1 - nearer);
}

std::vector<double>
DpStochasticQuantizer::DoGetProbabilities(float value, const LevelGrid& grid) const
{
    float fraction; // as DoChooseLevels locates it
    const int32_t cell = grid.Locate(value, fraction);
    const double nearer = m_coin.GetProbability();
    const double upper = fraction > 0.5F ? nearer : 1 - nearer;
    std::vector<double> probabilities(grid.top + 1);
    probabilities[cell] = 1 - upper;
    probabilities[cell + 1] = upper;
    return probabilities;
}

PrivacyClaim
DpStochasticQuantizer::DoGetPrivacyClaim(const PrivacyContext& context) const
{
    PrivacyClaim claim;
    claim.epsilon = m_epsilon;
    claim.kind = PrivacyClaim::SAME_CELL;
    const LevelGrid grid(
        static_cast<float>(context.low), static_cast<float>(context.high), context.bits);
    // No float has a magnitude above this bound, if none is above C.
    const double reach =
        context.clipNorm == CLIP_NONE ? std::numeric_limits<double>::infinity() : context.clipBound;
    const auto bound = static_cast<float>(std::min(reach, 1e38));
    float fraction;
    const int32_t lowestCell = grid.Locate(-bound, fraction);
    const int32_t highestCell = grid.Locate(bound, fraction);
    if (lowestCell == highestCell)
    {
        claim.kind = PrivacyClaim::TRUE_EPSILON;
        claim.reason = context.bits == 1 ? "One bit on a public interval has a single cell."
                                         : "The clip keeps every value inside one public cell.";
        return claim;
    }
    claim.reason = "Values of different cells can be told apart: no differential privacy.";
    return claim;
}

} // namespace ns3
