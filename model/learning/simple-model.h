// SPDX-License-Identifier: GPL-2.0-only

#ifndef SIMPLE_MODEL_H
#define SIMPLE_MODEL_H

#include "learning-model.h"
#include "sample-shape.h"

#include <cstddef>
#include <memory>

namespace ns3
{

/**
 * @ingroup federated
 * @brief The shortest way to a model of one's own: its dimension, its scores and their gradient, in
 * float. Softmax cross-entropy, threads and the rest are done here.
 *
 * The functions are const and keep no state: several worker threads call them at the same time.
 * They touch no reference count. A model that shall be faster, or that attacks shall work on, makes
 * kernels of its own instead (LearningModel).
 */
class SimpleModel : public LearningModel
{
  public:
    /** One sample. */
    struct Sample
    {
        const float* input;   //!< Its inputs, row by row.
        std::size_t features; //!< How many there are: rows x columns.
        SampleShape shape;    //!< Size of the image and number of classes.
    };

    /**
     * @brief Get the type ID.
     * @return the object TypeId
     */
    static TypeId GetTypeId();

    /**
     * @param shape Size of an image and number of classes.
     * @return d, the number of parameters.
     */
    std::size_t GetDimension(const SampleShape& shape) const;

    /**
     * @param sample A sample.
     * @param w Parameters, d.
     * @param [out] logits The scores before the softmax, one per class.
     */
    void ComputeLogits(const Sample& sample, const float* w, float* logits) const;

    /**
     * Add sum_k delta_k * (derivative of score k by the parameters).
     * @param sample A sample.
     * @param w Parameters, d.
     * @param delta Derivative of the loss by the scores, one per class.
     * @param [in,out] gradient d values, which overlap nothing else.
     */
    void AddGradient(const Sample& sample,
                     const float* w,
                     const float* delta,
                     float* gradient) const;

  private:
    std::unique_ptr<ModelKernel<float>> DoCreateKernel(const SampleShape& shape) const override;

    /** @copydoc GetDimension */
    virtual std::size_t DoGetDimension(const SampleShape& shape) const = 0;

    /** @copydoc ComputeLogits */
    virtual void DoComputeLogits(const Sample& sample, const float* w, float* logits) const = 0;

    /** @copydoc AddGradient */
    virtual void DoAddGradient(const Sample& sample,
                               const float* w,
                               const float* delta,
                               float* gradient) const = 0;
};

} // namespace ns3

#endif // SIMPLE_MODEL_H
