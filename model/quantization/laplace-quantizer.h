// SPDX-License-Identifier: GPL-2.0-only

#ifndef LAPLACE_QUANTIZER_H
#define LAPLACE_QUANTIZER_H

#include "float-quantizer.h"

namespace ns3
{

/**
 * @ingroup federated
 * @brief LaplaceSQ, the paper's benchmark: the unbiased stochastic quantizer at the device's own
 *        resolution and interval, plus Laplace noise of scale rho/epsilon.
 *
 * The noise makes it a float: 32 bits a coordinate are sent, whatever the resolution. A value
 * that is uniform in its cell has the distortion Delta^2/6 + 2 rho^2/epsilon^2.
 *
 * With l1 clipping at C and a public interval it is differentially private: the density of the
 * output is piecewise linear in each coordinate with a relative slope of at most
 * (e^{Delta/lambda}-1)/Delta, lambda = rho/epsilon, so two updates, at most 2C apart, have the
 * privacy loss (2C/Delta)(e^{Delta/lambda}-1) for ideal real numbers. Noise in floating
 * point reveals more (I. Mironov, 2012), which this simulation does not correct.
 */
class LaplaceQuantizer : public FloatQuantizer
{
  public:
    /** @return the TypeId. */
    static TypeId GetTypeId();

  private:
    const float* DoMakeFloats(const float* values,
                              std::size_t count,
                              const LevelGrid& grid,
                              FederatedRandom& random,
                              float* buffer) const override;
    double DoGetDistortion(const float* values,
                           std::size_t count,
                           const LevelGrid& grid) const override;
    double DoGetCellDistortion(const LevelGrid& grid) const override;
    double DoGetPrivacyLoss(float value, float other, const LevelGrid& grid) const override;
    PrivacyClaim DoGetPrivacyClaim(const PrivacyContext& context) const override;

    /**
     * @param grid Levels of an interval.
     * @return the scale lambda = rho/epsilon of the noise.
     */
    double GetScale(const LevelGrid& grid) const;

    // Attributes
    double m_epsilon; //!< Privacy parameter of the noise; the paper's experiments take d*epsilon_1.
    double m_sensitivity; //!< rho; 0: the step of the grid.
};

} // namespace ns3

#endif // LAPLACE_QUANTIZER_H
