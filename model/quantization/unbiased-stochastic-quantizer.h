// SPDX-License-Identifier: GPL-2.0-only

#ifndef UNBIASED_STOCHASTIC_QUANTIZER_H
#define UNBIASED_STOCHASTIC_QUANTIZER_H

#include "level-quantizer.h"

namespace ns3
{

/**
 * @ingroup federated
 * @brief The unbiased stochastic quantizer Q_b (SQ; Alistarh et al., 2017) on the paper's levels:
 * the upper level of a value's cell with probability (a - q_i)/Delta, else the lower one.
 *
 * A value that is uniform in its cell has the distortion Delta^2/6. It claims no privacy.
 */
class UnbiasedStochasticQuantizer : public LevelQuantizer
{
  public:
    /** @return the TypeId. */
    static TypeId GetTypeId();

    /**
     * Choose levels.
     * @param values The coordinates, finite.
     * @param words A random word for each.
     * @param count How many.
     * @param grid Levels of the interval.
     * @param [out] levels Indices of the levels chosen.
     */
    static void ChooseLevels(const float* values,
                             const uint32_t* words,
                             std::size_t count,
                             const LevelGrid& grid,
                             uint16_t* levels);

    /**
     * @param values Coordinates of one interval.
     * @param count How many.
     * @param grid Levels of the interval.
     * @return the sum of their expected squared errors.
     */
    static double GetSumOfErrors(const float* values, std::size_t count, const LevelGrid& grid);

    /**
     * @param fraction Where in its cell a value lies, 0..1.
     * @return how likely ChooseLevels is to choose the upper level: a multiple of 2^-24.
     */
    static double GetUpperProbability(float fraction);

  private:
    void DoChooseLevels(const float* values,
                        std::size_t count,
                        const LevelGrid& grid,
                        FederatedRandom& random,
                        uint16_t* levels) const override;
    double DoGetDistortion(const float* values,
                           std::size_t count,
                           const LevelGrid& grid) const override;
    double DoGetCellDistortion(const LevelGrid& grid) const override;
    std::vector<double> DoGetProbabilities(float value, const LevelGrid& grid) const override;
    PrivacyClaim DoGetPrivacyClaim(const PrivacyContext& context) const override;
};

} // namespace ns3

#endif // UNBIASED_STOCHASTIC_QUANTIZER_H
