// SPDX-License-Identifier: GPL-2.0-only

#ifndef GAUSSIAN_QUANTIZER_H
#define GAUSSIAN_QUANTIZER_H

#include "float-quantizer.h"

namespace ns3
{

/**
 * @ingroup federated
 * @brief The local version of differentially private federated averaging: each coordinate plus
 * Gaussian noise, sent as a 32-bit float.
 *
 * Noise in floating point reveals more than real numbers do (I. Mironov, 2012). Here a coordinate v
 * is rounded stochastically to an integer of a grid of step g = Sigma/2^k, an integer of the
 * discrete Gaussian distribution with s = 2^k is added, and g times the sum is sent as a float. The
 * distortion is g^2 (Var + f(1-f)), f the fractional part of v/g: practically Sigma^2, unless
 * Step makes the grid coarse.
 *
 * The noise depends neither on the interval nor on the resolution. But both are in the header: the
 * interval must be public. With l2 clipping at C, what is sent has rho = (2C + g sqrt(d))^2 / (2
 * Sigma^2) of zero-concentrated differential privacy (M. Bun and T. Steinke, 2016); the source
 * proves it.
 */
class GaussianQuantizer : public FloatQuantizer
{
  public:
    /** @return the TypeId. */
    static TypeId GetTypeId();

  private:
    bool DoClamps() const override;
    bool DoCheck(std::string& error) const override;
    const float* DoMakeFloats(const float* values,
                              std::size_t count,
                              const LevelGrid& grid,
                              FederatedRandom& random,
                              float* buffer) const override;
    double DoGetDistortion(const float* values,
                           std::size_t count,
                           const LevelGrid& grid) const override;
    double DoGetCellDistortion(const LevelGrid& grid) const override;
    double DoGetLeastDistortion(const LevelGrid& grid) const override;
    double DoGetReach(double largest, const LevelGrid& grid) const override;
    bool DoCanSend(float value, const LevelGrid& grid, float sent) const override;
    PrivacyClaim DoGetPrivacyClaim(const PrivacyContext& context) const override;

    /** @return k, from -8 to 24. */
    int GetExponent() const;

    /** @return the step g of the grid. */
    double GetStep() const;

    // Attributes
    double m_sigma;       //!< Standard deviation of the noise.
    double m_largestStep; //!< The largest step of the grid; 0: the smallest there is.
};

} // namespace ns3

#endif // GAUSSIAN_QUANTIZER_H
