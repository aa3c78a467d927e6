// SPDX-License-Identifier: GPL-2.0-only

#ifndef LEARNING_MODEL_H
#define LEARNING_MODEL_H

#include "model-kernel.h"
#include "sample-shape.h"

#include "ns3/object.h"

#include <memory>

namespace ns3
{

/**
 * @ingroup federated
 * @brief Which model is learned: a description that users choose by TypeId and attributes, and that
 * makes the kernels which do the work.
 *
 * A child makes kernels in float. Kernels in double, and MixedDerivativeKernel, are for attacks,
 * tests and theory; a model may leave them out.
 */
class LearningModel : public Object
{
  public:
    /**
     * @brief Get the type ID.
     * @return the object TypeId
     */
    static TypeId GetTypeId();

    /**
     * @param shape Size of an image and number of classes.
     * @return a kernel that counts in float, for one thread.
     */
    std::unique_ptr<ModelKernel<float>> CreateKernel(const SampleShape& shape) const;

    /**
     * @param shape Size of an image and number of classes.
     * @return whether the model can count in double, too.
     */
    bool HasDoubleKernel(const SampleShape& shape) const;

    /**
     * @param shape Size of an image and number of classes.
     * @return a kernel that counts in double, for attacks, tests and theory. Aborts if the model
     * counts in float only.
     */
    std::unique_ptr<ModelKernel<double>> CreateDoubleKernel(const SampleShape& shape) const;

  private:
    /** @copydoc CreateKernel */
    virtual std::unique_ptr<ModelKernel<float>> DoCreateKernel(const SampleShape& shape) const = 0;

    /**
     * @param shape Size of an image and number of classes.
     * @return a kernel that counts in double; null, as here, if the model counts in float only.
     */
    virtual std::unique_ptr<ModelKernel<double>> DoCreateDoubleKernel(
        const SampleShape& shape) const;
};

} // namespace ns3

#endif // LEARNING_MODEL_H
