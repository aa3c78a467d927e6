// SPDX-License-Identifier: GPL-2.0-only

#ifndef DLG_INVERSION_H
#define DLG_INVERSION_H

#include "gradient-inversion.h"

namespace ns3
{

/**
 * @ingroup federated
 * @brief "Deep Leakage from Gradients" (Zhu, Liu, Han, 2019): search an image and a label whose
 * gradient is the observed one.
 *
 * L-BFGS minimizes |G(x, softmax(l)) - g|^2 over the image x and the scores l of the label, from a
 * normally distributed start, with the rules of torch.optim.LBFGS, which the authors used: no line
 * search, so it may diverge. An outer iteration is one call of that optimizer: a number of inner
 * iterations (steps), or fewer when one of its tolerances stops it. With InferLabel it is iDLG: the
 * label is read off the last layer's gradient and only the image is searched.
 */
class DlgInversion : public GradientInversion
{
  public:
    /** @return the TypeId. */
    static TypeId GetTypeId();

  private:
    std::string DoFindLack(const ModelKernel<double>& kernel) const override;
    InversionResult DoReconstruct(const Target& target,
                                  ModelKernel<double>& kernel,
                                  const SampleShape& shape,
                                  FederatedRandom& random,
                                  const Watcher& watcher) const override;

    // Attributes
    uint32_t m_iterations;      //!< Outer iterations.
    uint32_t m_innerIterations; //!< Inner iterations of each.
    uint32_t m_history;         //!< Steps that L-BFGS remembers.
    double m_step;              //!< Length of a step, in units of the quasi-Newton step.
    bool m_inferLabel;          //!< iDLG.
};

} // namespace ns3

#endif // DLG_INVERSION_H
