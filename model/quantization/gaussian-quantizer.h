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
 * The noise depends neither on the interval nor on the resolution. But both are in the header: the
 * interval must be public. With l2 clipping at C, two updates are at most 2C apart, and what is
 * sent has rho = (2C)^2/(2 sigma^2) of zero-concentrated differential privacy (M. Bun and T.
 * Steinke, 2016) for ideal real numbers. Noise in floating point reveals more (I. Mironov, 2012),
 * which this simulation does not correct.
 */
class GaussianQuantizer : public FloatQuantizer
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
    PrivacyClaim DoGetPrivacyClaim(const PrivacyContext& context) const override;

    // Attributes
    double m_sigma; //!< Standard deviation of the noise.
};

} // namespace ns3

#endif // GAUSSIAN_QUANTIZER_H
