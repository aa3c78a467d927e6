// SPDX-License-Identifier: GPL-2.0-only

#ifndef RANDOMIZED_RESPONSE_QUANTIZER_H
#define RANDOMIZED_RESPONSE_QUANTIZER_H

#include "binary-response.h"
#include "level-quantizer.h"

#include <string>

namespace ns3
{

/**
 * @ingroup federated
 * @brief One bit a coordinate with a true epsilon: round to an end of the interval without bias,
 * then answer truthfully with probability e^epsilon/(1+e^epsilon).
 *
 * For the interval [m-A, m+A] the upper end is sent with probability (1 + tau (a-m)/A)/2,
 * tau = tanh(epsilon/2); on a public interval any two values have a privacy loss of at most
 * epsilon. On an interval [-A, A], a whole update under an l2 clip has a rho of zero-concentrated
 * differential privacy that does not grow with its dimension (BinaryResponse::GetUpdateRho).
 *
 * What the receiver takes the bit for is the decoder's choice: m +- G, where G is
 * - `bayes`: tau A/3, the mean of a value that is uniform in the interval, given the bit: the least
 *   distortion for such values, a shrunken update;
 * - `unbiased`: A/tau, right on average, with a variance that grows as epsilon falls;
 * - `gain:x`: x A.
 */
class RandomizedResponseQuantizer : public LevelQuantizer
{
  public:
    /** @return the TypeId. */
    static TypeId GetTypeId();

    RandomizedResponseQuantizer();

    /** @param epsilon The privacy loss of a coordinate, at least 0. */
    void SetEpsilon(double epsilon);

    /** @return the privacy loss of a coordinate that was asked for. */
    double GetEpsilon() const;

    /** @param decoder `bayes`, `unbiased` or `gain:x` with a number x above 0. */
    void SetDecoder(const std::string& decoder);

    /** @return the decoder. */
    std::string GetDecoder() const;

  private:
    LevelGrid DoGetDecoderGrid(const LevelGrid& grid) const override;
    bool DoSupports(unsigned bits) const override;
    bool DoCheck(std::string& error) const override;
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
    double m_epsilon; //!< Privacy loss of a coordinate.

    // State
    federated::BinaryResponse m_response; //!< The bit of a coordinate, and its decoder.
};

} // namespace ns3

#endif // RANDOMIZED_RESPONSE_QUANTIZER_H
