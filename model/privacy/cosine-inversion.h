// SPDX-License-Identifier: GPL-2.0-only

#ifndef COSINE_INVERSION_H
#define COSINE_INVERSION_H

#include "gradient-inversion.h"

namespace ns3
{

/**
 * @ingroup federated
 * @brief "Inverting Gradients" (Geiping, Bauermeister, Droege, Moeller, 2020): search a smooth
 * image whose gradient has the direction of the observed one.
 *
 * Adam minimizes 1 - cos(G(x, y), g) + weight * TV(x), TV the mean magnitude of the differences of
 * vertical neighbors plus that of horizontal ones, over images in the box [0, 1], from a uniform
 * start. The label is read off the last layer's gradient. The step is reduced tenfold after 3/8,
 * 5/8 and 7/8 of the iterations.
 */
class CosineInversion : public GradientInversion
{
  public:
    /** @return the TypeId. */
    static TypeId GetTypeId();

  private:
    class Objective;

    std::string DoFindLack(const ModelKernel<double>& kernel) const override;
    InversionResult DoReconstruct(const Target& target,
                                  ModelKernel<double>& kernel,
                                  const SampleShape& shape,
                                  FederatedRandom& random,
                                  const Watcher& watcher) const override;

    // Attributes
    uint32_t m_iterations;   //!< Steps.
    double m_step;           //!< Adam's step in the beginning.
    double m_totalVariation; //!< Weight of TV.
    bool m_signed;           //!< Adam sees signs of the derivatives.
};

} // namespace ns3

#endif // COSINE_INVERSION_H
