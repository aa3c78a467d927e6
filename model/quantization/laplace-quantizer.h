// SPDX-License-Identifier: GPL-2.0-only

#ifndef LAPLACE_QUANTIZER_H
#define LAPLACE_QUANTIZER_H

#include "float-quantizer.h"
#include "noise-lattice.h"

namespace ns3
{

/**
 * @ingroup federated
 * @brief LaplaceSQ, the paper's benchmark: the unbiased stochastic quantizer at the device's own
 *        resolution and interval, plus Laplace noise of scale lambda = rho/epsilon.
 *
 * The noise makes it a float: 32 bits a coordinate are sent, whatever the resolution. A value
 * that is uniform in its cell has the distortion Delta^2/6 + 2 lambda^2.
 *
 * Noise in floating point has gaps that tell levels apart with certainty (I. Mironov, 2012). Here
 * the noise is an integer k of the discrete Laplace distribution, on a lattice that divides each
 * cell into m steps h = Delta/m, m a power of two: low + h (m level + k) is sent as a float. The
 * lattice is the same for all values. Its scale t h, t an integer of 2^16 or more, is lambda or
 * larger by less than 2^-16 of it.
 *
 * With l1 clipping at C and a public interval it is differentially private; the source proves the
 * claim.
 */
class LaplaceQuantizer : public FloatQuantizer
{
  public:
    /** @return the TypeId. */
    static TypeId GetTypeId();

  private:
    /** The noise on the levels of an interval. */
    struct Noise
    {
        federated::NoiseLattice lattice; //!< Its points; level 0 is z = 0.
        int64_t pointsPerStep;           //!< m.
        uint64_t scale;                  //!< t; 0 if so large a scale is not to be had.
    };

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
    double DoGetPrivacyLoss(float value, float other, const LevelGrid& grid) const override;
    bool DoCanSend(float value, const LevelGrid& grid, float sent) const override;
    PrivacyClaim DoGetPrivacyClaim(const PrivacyContext& context) const override;

    /**
     * @param grid Levels of an interval.
     * @return the scale lambda = rho/epsilon that is asked for.
     */
    double GetScale(const LevelGrid& grid) const;

    /**
     * @param grid Levels of an interval.
     * @return the noise on them.
     */
    Noise GetNoise(const LevelGrid& grid) const;

    /**
     * @param grid Levels of an interval.
     * @return the variance of the noise.
     */
    double GetNoiseVariance(const LevelGrid& grid) const;

    // Attributes
    double m_epsilon; //!< Privacy parameter of the noise; the paper's experiments take d*epsilon_1.
    double m_sensitivity; //!< rho; 0: the step of the grid.
};

} // namespace ns3

#endif // LAPLACE_QUANTIZER_H
