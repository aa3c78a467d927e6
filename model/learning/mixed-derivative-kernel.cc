// SPDX-License-Identifier: GPL-2.0-only

#include "mixed-derivative-kernel.h"

#include "softmax.h"

#include <utility>

namespace ns3
{

template <typename Scalar>
MixedDerivativeKernel<Scalar>::MixedDerivativeKernel(std::vector<ModelLayer> layers,
                                                     std::size_t features,
                                                     std::size_t classes,
                                                     double initialRange)
    : ModelKernel<Scalar>(std::move(layers), features, classes, initialRange),
      m_probabilities(classes),
      m_delta(classes),
      m_tangent(classes)
{
}

template <typename Scalar>
Scalar
MixedDerivativeKernel<Scalar>::ComputeSoftGradient(const Scalar* input,
                                                   const Scalar* label,
                                                   const Scalar* w,
                                                   Scalar* gradient)
{
    const std::size_t classes = this->GetClasses();
    DoForward(input, w, m_delta.data());
    // sum_k y_k (ln(sum_j e^z_j) - z_k), whose derivative by z_k is (sum of y) p_k - y_k.
    Scalar loss = static_cast<Scalar>(this->GetPenalty(w));
    m_labelSum = 0;
    for (std::size_t k = 0; k < classes; ++k)
    {
        loss -= label[k] * m_delta[k];
        m_labelSum += label[k];
    }
    loss += m_labelSum * federated::Softmax(m_delta.data(), classes, m_probabilities.data());
    for (std::size_t k = 0; k < classes; ++k)
    {
        m_delta[k] = m_labelSum * m_probabilities[k] - label[k];
    }
    DoBackward(m_delta.data(), w, gradient);
    return loss;
}

template <typename Scalar>
void
MixedDerivativeKernel<Scalar>::ComputeMixedDerivative(const Scalar* u,
                                                      const Scalar* w,
                                                      Scalar* byInput,
                                                      Scalar* byLabel)
{
    const std::size_t classes = this->GetClasses();
    DoForwardTangent(w, u, m_tangent.data());
    Scalar mean = 0;
    for (std::size_t k = 0; k < classes; ++k)
    {
        mean += m_probabilities[k] * m_tangent[k];
    }
    for (std::size_t k = 0; k < classes; ++k)
    {
        byLabel[k] = mean - m_tangent[k]; // of -ln p_k
        m_tangent[k] = m_labelSum * m_probabilities[k] * (m_tangent[k] - mean);
    }
    DoBackwardTangent(m_delta.data(), m_tangent.data(), w, u, byInput);
}

template class MixedDerivativeKernel<float>;
template class MixedDerivativeKernel<double>;

} // namespace ns3
