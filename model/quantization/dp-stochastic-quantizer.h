// SPDX-License-Identifier: GPL-2.0-only

#ifndef DP_STOCHASTIC_QUANTIZER_H
#define DP_STOCHASTIC_QUANTIZER_H

#include "level-quantizer.h"
#include "privacy-coin.h"

namespace ns3
{

/**
 * @ingroup federated
 * @brief The paper's quantizer Q_{b,epsilon_1} (Lemma 3): the nearer level of a value's cell with
 *        probability e^epsilon/(1+e^epsilon), else the other one.
 *
 * In the middle of a cell the lower level counts as the nearer one. Values outside the interval are
 * clamped. A value that is uniform in its cell has the distortion
 * Delta^2/12 (e^epsilon+7)/(e^epsilon+1).
 *
 * Epsilon bounds the ratio of probabilities for two values of the *same cell* only: values of
 * adjacent cells have an infinite privacy loss, and values further apart share no output at all. It
 * is differential privacy if and only if the interval is public and one cell holds every value that
 * can occur: with b = 1, or if the clip keeps all values inside one cell.
 */
class DpStochasticQuantizer : public LevelQuantizer
{
  public:
    /** @return the TypeId. */
    static TypeId GetTypeId();

    DpStochasticQuantizer();

    /** @param epsilon The same-cell epsilon, at least 0. */
    void SetEpsilon(double epsilon);

    /** @return the configured same-cell epsilon. */
    double GetEpsilon() const;

    /** @return the coin that is tossed for each coordinate. */
    const federated::PrivacyCoin& GetCoin() const;

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
    double DoGetLeastDistortion(const LevelGrid& grid) const override;
    std::vector<double> DoGetProbabilities(float value, const LevelGrid& grid) const override;
    PrivacyClaim DoGetPrivacyClaim(const PrivacyContext& context) const override;

    // Attributes
    double m_epsilon; //!< The same-cell epsilon, epsilon_1 in the paper.

    // State
    federated::PrivacyCoin m_coin; //!< Tossed for each coordinate.
};

} // namespace ns3

#endif // DP_STOCHASTIC_QUANTIZER_H
