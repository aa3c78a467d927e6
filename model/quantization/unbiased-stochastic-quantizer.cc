// SPDX-License-Identifier: GPL-2.0-only

#include "unbiased-stochastic-quantizer.h"

#include "lane-fold.h"

#include <algorithm>
#include <cmath>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(UnbiasedStochasticQuantizer);

TypeId
UnbiasedStochasticQuantizer::GetTypeId()
{
    static TypeId tid = TypeId("ns3::UnbiasedStochasticQuantizer")
                            .SetParent<LevelQuantizer>()
                            .SetGroupName("Federated")
                            .AddConstructor<UnbiasedStochasticQuantizer>();
    return tid;
}

void
UnbiasedStochasticQuantizer::ChooseLevels(const float* values,
                                          const uint32_t* words,
                                          std::size_t count,
                                          const LevelGrid& grid,
                                          uint16_t* levels)
{
    const LevelGrid local = grid; // in registers: the levels written may not alias it
    for (std::size_t i = 0; i < count; ++i)
    {
        float fraction;
        const int32_t cell = local.Locate(values[i], fraction);
        // 24 random bits, as many as a float in [1/2, 1) has.
        const float uniform = static_cast<float>(static_cast<int32_t>(words[i] >> 8)) * 0x1p-24F;
        levels[i] = static_cast<uint16_t>(cell + (uniform < fraction));
    }
}

double
UnbiasedStochasticQuantizer::GetUpperProbability(float fraction)
{
    return std::clamp(std::ceil(fraction * 0x1p24) * 0x1p-24, 0.0, 1.0);
}

double
UnbiasedStochasticQuantizer::GetSumOfErrors(const float* values,
                                            std::size_t count,
                                            const LevelGrid& grid)
{
    return federated::SumOver(values,
                              count,
                              [grid](float value)
                              {
                                  double fraction;
                                  const int32_t cell = grid.Locate(value, fraction);
                                  const double toLower = value - grid.GetValue(cell);
                                  const double toUpper = toLower - grid.step;
                                  return (1 - fraction) * toLower * toLower +
                                         fraction * toUpper * toUpper;
                              });
}

void
UnbiasedStochasticQuantizer::DoChooseLevels(const float* values,
                                            std::size_t count,
                                            const LevelGrid& grid,
                                            FederatedRandom& random,
                                            uint16_t* levels) const
{
    uint32_t words[BLOCK];
    random.Fill(words, count);
    ChooseLevels(values, words, count, grid, levels);
}

double
UnbiasedStochasticQuantizer::DoGetDistortion(const float* values,
                                             std::size_t count,
                                             const LevelGrid& grid) const
{
    return GetSumOfErrors(values, count, grid);
}

double
UnbiasedStochasticQuantizer::DoGetCellDistortion(const LevelGrid& grid) const
{
    return grid.step * grid.step / 6;
}

std::vector<double>
UnbiasedStochasticQuantizer::DoGetProbabilities(float value, const LevelGrid& grid) const
{
    float fraction; // as ChooseLevels locates it
    const int32_t cell = grid.Locate(value, fraction);
    std::vector<double> probabilities(grid.top + 1);
    probabilities[cell + 1] = GetUpperProbability(fraction);
    probabilities[cell] = 1 - probabilities[cell + 1];
    return probabilities;
}

PrivacyClaim
UnbiasedStochasticQuantizer::DoGetPrivacyClaim(const PrivacyContext&) const
{
    return PrivacyClaim::None("A value that is a level is sent as it is.");
}

} // namespace ns3
