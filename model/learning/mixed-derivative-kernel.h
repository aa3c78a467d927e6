// SPDX-License-Identifier: GPL-2.0-only

#ifndef MIXED_DERIVATIVE_KERNEL_H
#define MIXED_DERIVATIVE_KERNEL_H

#include "model-kernel.h"

#include <cstddef>
#include <vector>

namespace ns3
{

/**
 * @ingroup federated
 * @brief A kernel that also differentiates its gradient by sample and label, as gradient inversion
 * needs it. Optional: training and evaluation need a ModelKernel only.
 *
 * @tparam Scalar double for the attacks.
 */
template <typename Scalar>
class MixedDerivativeKernel : public ModelKernel<Scalar>
{
  public:
    /**
     * Loss and gradient G of one sample whose label is soft, a weight y_k for every class k:
     * the loss is sum_k y_k * (-ln of the probability of class k), plus the model's penalty.
     * What the sample did in the model is kept for ComputeMixedDerivative.
     * @param input The sample, one value per feature.
     * @param label y, one value per class; a distribution, but nothing relies on that.
     * @param w Parameters, d.
     * @param [out] gradient G, d values, overlapping nothing else.
     * @return the loss.
     */
    Scalar ComputeSoftGradient(const Scalar* input,
                               const Scalar* label,
                               const Scalar* w,
                               Scalar* gradient);

    /**
     * The gradient of a function phi(G) of the gradient G(x, y) that ComputeSoftGradient computed
     * last, by input and label: with u = dphi/dG,
     *
     *   nabla_(x,y) phi = (dG/d(x,y))^T u = d/dr nabla_(x,y) loss(w + r u)  at r = 0,
     *
     * since mixed derivatives commute. The derivative by r is taken by a forward sweep through the
     * backward pass: exact, for less than the price of two gradients.
     * @param u dphi/dG, d values.
     * @param w Parameters, d, the same as before.
     * @param [out] byInput nabla_x phi, one value per feature.
     * @param [out] byLabel nabla_y phi, one value per class.
     */
    void ComputeMixedDerivative(const Scalar* u, const Scalar* w, Scalar* byInput, Scalar* byLabel);

  protected:
    /**
     * @param layers The layers, in order and without gaps.
     * @param features Inputs of a sample.
     * @param classes Number of classes.
     * @param initialRange Half width of the starting range, 0 for 1/sqrt(fan-in).
     */
    MixedDerivativeKernel(std::vector<ModelLayer> layers,
                          std::size_t features,
                          std::size_t classes,
                          double initialRange = 0);

  private:
    /**
     * Forward pass of one sample, which is kept for the three functions that follow.
     * @param input The sample.
     * @param w Parameters, d.
     * @param [out] logits The scores.
     */
    virtual void DoForward(const Scalar* input, const Scalar* w, Scalar* logits) = 0;

    /**
     * Backward pass, kept too.
     * @param delta Derivative of the loss by the scores.
     * @param w Parameters, d.
     * @param [out] gradient Derivative of the loss by the parameters, d, with the penalty's.
     */
    virtual void DoBackward(const Scalar* delta, const Scalar* w, Scalar* gradient) = 0;

    /**
     * Forward pass of derivatives by r at w + r u.
     * @param w Parameters, d.
     * @param u Their derivative, d.
     * @param [out] tangent Derivative of the scores.
     */
    virtual void DoForwardTangent(const Scalar* w, const Scalar* u, Scalar* tangent) = 0;

    /**
     * Backward pass of derivatives by r at w + r u.
     * @param delta Derivative of the loss by the scores, as in DoBackward.
     * @param tangent Derivative of delta by r.
     * @param w Parameters, d.
     * @param u Their derivative, d.
     * @param [out] byInput Derivative by r of the derivative of the loss by the input.
     */
    virtual void DoBackwardTangent(const Scalar* delta,
                                   const Scalar* tangent,
                                   const Scalar* w,
                                   const Scalar* u,
                                   Scalar* byInput) = 0;

    // What the last sample with a soft label did.
    Scalar m_labelSum = 0;               //!< Sum of its label.
    std::vector<Scalar> m_probabilities; //!< Of the classes.
    std::vector<Scalar> m_delta;         //!< Derivative of the loss by the scores.
    std::vector<Scalar> m_tangent;       //!< Scratch: derivative by r of scores, then of m_delta.
};

} // namespace ns3

#endif // MIXED_DERIVATIVE_KERNEL_H
