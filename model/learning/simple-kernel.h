// SPDX-License-Identifier: GPL-2.0-only

#ifndef SIMPLE_KERNEL_H
#define SIMPLE_KERNEL_H

#include "model-kernel.h"
#include "simple-model.h"

#include <cstddef>
#include <vector>

namespace ns3::federated
{

/**
 * @ingroup federated
 * @brief The kernel of a SimpleModel: softmax cross-entropy around its scores.
 *
 * A raw pointer to the model, because a worker must not touch its reference count: the model
 * outlives its kernels.
 */
class SimpleKernel : public ModelKernel<float>
{
  public:
    /**
     * @param model The model.
     * @param shape Size of an image and number of classes.
     */
    SimpleKernel(const SimpleModel* model, const SampleShape& shape);

  private:
    float DoAddGradient(const SampleBatch<float>& batch,
                        const float* w,
                        float factor,
                        float* target) override;
    const float* DoComputeLogits(const SampleBatch<float>& batch, const float* w) override;

    /**
     * @param batch Samples.
     * @param index One of them.
     * @return that one.
     */
    SimpleModel::Sample GetSample(const SampleBatch<float>& batch, std::size_t index) const;

    const SimpleModel* m_model;    //!< The model.
    const SampleShape m_shape;     //!< Size of an image and number of classes.
    std::vector<float> m_logits;   //!< Scores of a batch, then what the loss changes with them.
    std::vector<float> m_gradient; //!< Of a batch, d: the target may be the parameters.
};

} // namespace ns3::federated

#endif // SIMPLE_KERNEL_H
