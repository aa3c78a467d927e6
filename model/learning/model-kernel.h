// SPDX-License-Identifier: GPL-2.0-only

#ifndef MODEL_KERNEL_H
#define MODEL_KERNEL_H

#include "sample-batch.h"
#include "sample-shape.h"

#include "ns3/federated-random.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace ns3
{

/**
 * @ingroup federated
 * @brief A named range of the flat parameter vector: the weights and biases of one layer.
 */
struct ModelLayer
{
    std::string name;      //!< For people and files, unique in its model.
    std::size_t begin = 0; //!< First coordinate.
    std::size_t size = 0;  //!< Number of coordinates.
    std::size_t fanIn = 0; //!< Inputs of one unit.
    bool isDense = false;  //!< Fully connected: weights [in][out], then biases [out].

    /** @return the number of units: outputs, or channels of a convolution. */
    std::size_t GetUnits() const
    {
        return size / (fanIn + 1);
    }
};

/**
 * @ingroup federated
 * @brief Loss, gradient and predictions of a model whose d parameters are one flat vector.
 *
 * A kernel owns scratch memory and no parameters: one kernel per thread. It allocates only when a
 * batch is larger than every one before. No ns-3 object is inside, so it may run on any thread.
 *
 * A child knows its number of parameters and computes gradient and scores. That is all that
 * training and evaluation need.
 *
 * @tparam Scalar float for speed, double for tests and theory.
 */
template <typename Scalar>
class ModelKernel
{
  public:
    virtual ~ModelKernel() = default;

    /** @return d, the number of parameters. */
    std::size_t GetDimension() const;

    /** @return the layers, in order; together they cover 0..d-1. */
    const std::vector<ModelLayer>& GetLayers() const;

    /**
     * Draw starting parameters: weights and biases uniform in [-r, r], r = 1/sqrt(fan-in) of their
     * layer unless the model has a range of its own. float and double kernels draw the same
     * numbers.
     * @param random Source of randomness.
     * @param [out] w Parameters, d.
     */
    void Initialize(FederatedRandom& random, Scalar* w) const;

    /**
     * target += factor * gradient of the batch's mean loss at w. A step of stochastic gradient
     * descent is AddGradient(batch, w, -eta, w).
     * @param batch At least one sample.
     * @param w Parameters, d.
     * @param factor Scale of the gradient.
     * @param [in,out] target d values; w itself is allowed, any other overlap is not.
     * @return the mean loss at w, before the step.
     */
    Scalar AddGradient(const SampleBatch<Scalar>& batch,
                       const Scalar* w,
                       Scalar factor,
                       Scalar* target);

    /**
     * @param batch Samples.
     * @param w Parameters, d.
     * @param [out] lossSum Sum of the samples' losses.
     * @param [out] correct How many samples are classified as their label says.
     */
    void Evaluate(const SampleBatch<Scalar>& batch,
                  const Scalar* w,
                  double& lossSum,
                  std::size_t& correct);

    /**
     * @param batch Samples; their labels are not read.
     * @param w Parameters, d.
     * @param [out] classes The most likely class of each sample, the lowest of equals.
     */
    void Predict(const SampleBatch<Scalar>& batch, const Scalar* w, uint8_t* classes);

    /** @return the number of inputs of a sample. */
    std::size_t GetFeatures() const;

    /** @return the number of classes. */
    std::size_t GetClasses() const;

  protected:
    /**
     * @param layers The layers, in order and without gaps.
     * @param features Inputs of a sample.
     * @param classes Number of classes.
     * @param initialRange Half width of the starting range, 0 for 1/sqrt(fan-in).
     */
    ModelKernel(std::vector<ModelLayer> layers,
                std::size_t features,
                std::size_t classes,
                double initialRange = 0);

    /**
     * A kernel whose parameters are one layer, with a fan-in of all inputs.
     * @param dimension d, the number of parameters.
     * @param shape Size of a sample and number of classes.
     */
    ModelKernel(std::size_t dimension, const SampleShape& shape);

    /**
     * @param w Parameters, d.
     * @return what the loss adds to every sample's cross-entropy.
     */
    double GetPenalty(const Scalar* w) const;

  private:
    /**
     * Abort if a batch does not fit the model: its scratch memory would overflow.
     * @param batch Samples.
     */
    void CheckInputs(const SampleBatch<Scalar>& batch) const;

    /**
     * Abort if a label is not one of the model's classes.
     * @param batch Samples.
     */
    void CheckLabels(const SampleBatch<Scalar>& batch) const;

    /**
     * @copydoc AddGradient
     */
    virtual Scalar DoAddGradient(const SampleBatch<Scalar>& batch,
                                 const Scalar* w,
                                 Scalar factor,
                                 Scalar* target) = 0;

    /**
     * @param batch Samples.
     * @param w Parameters, d.
     * @return the scores before the softmax, count x classes, row-major, valid until the next call.
     */
    virtual const Scalar* DoComputeLogits(const SampleBatch<Scalar>& batch, const Scalar* w) = 0;

    /** @copydoc GetPenalty */
    virtual double DoGetPenalty(const Scalar* w) const;

    std::vector<ModelLayer> m_layers; //!< The layers.
    std::size_t m_features;           //!< Inputs of a sample.
    std::size_t m_classes;            //!< Number of classes.
    double m_initialRange;            //!< Half width of the starting range, 0 for 1/sqrt(fan-in).
};

} // namespace ns3

#endif // MODEL_KERNEL_H
