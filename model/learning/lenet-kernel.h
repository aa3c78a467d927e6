// SPDX-License-Identifier: GPL-2.0-only

#ifndef LENET_KERNEL_H
#define LENET_KERNEL_H

#include "mixed-derivative-kernel.h"
#include "sample-shape.h"

#include <array>
#include <cstddef>
#include <vector>

namespace ns3::federated
{

/**
 * @ingroup federated
 * @brief The LeNet of "Deep Leakage from Gradients" (Zhu, Liu, Han, 2019).
 *
 * Three convolutions 5x5 with padding 2, 12 channels each, strides 2, 2, 1, each followed by a
 * sigmoid; then one fully connected layer and softmax cross-entropy. Layout: convolution weights
 * [out][in][5][5], then biases [out]; the last layer weights [in][out], in =
 * [channel][row][column], then biases. Samples are taken one by one, so the scratch memory does not
 * depend on the batch (except for the scores).
 */
template <typename Scalar>
class LeNetKernel : public MixedDerivativeKernel<Scalar>
{
  public:
    /**
     * @param shape Size of an image and number of classes.
     * @param initialRange Half width of the starting range, 0 for 1/sqrt(fan-in).
     */
    LeNetKernel(const SampleShape& shape, double initialRange);

  private:
    static constexpr std::size_t CONVOLUTIONS = 3; //!< Number of convolutions.

    /** One convolution: its place among the parameters, and what the last sample did in it. */
    struct Convolution
    {
        std::size_t channels;   //!< Input channels.
        std::size_t rows;       //!< Input height.
        std::size_t columns;    //!< Input width.
        std::size_t stride;     //!< Step of the window.
        std::size_t outRows;    //!< Output height.
        std::size_t outColumns; //!< Output width.
        std::size_t phase;      //!< Columns of the padded input, over the stride, rounded up.
        std::size_t weights;    //!< First coordinate of the weights.
        std::size_t biases;     //!< First coordinate of the biases.

        std::vector<Scalar> padded;   //!< Scratch: an input with its padding.
        std::vector<Scalar> sums;     //!< Scratch: what comes back for it.
        std::vector<Scalar> patches;  //!< What each window sees: [channel, 5, 5][out position].
        std::vector<Scalar> outputs;  //!< After the sigmoid.
        std::vector<Scalar> byOutput; //!< Derivative of the loss by them.
        std::vector<Scalar> delta;    //!< The same before the sigmoid, then its tangent.

        // Derivatives of these by r at w + r u.
        std::vector<Scalar> patchesTangent;  //!< Of the patches; empty below the first.
        std::vector<Scalar> outputsTangent;  //!< Of the outputs.
        std::vector<Scalar> byOutputTangent; //!< Of byOutput.
    };

    Scalar DoAddGradient(const SampleBatch<Scalar>& batch,
                         const Scalar* w,
                         Scalar factor,
                         Scalar* target) override;
    const Scalar* DoComputeLogits(const SampleBatch<Scalar>& batch, const Scalar* w) override;
    void DoForward(const Scalar* input, const Scalar* w, Scalar* logits) override;
    void DoBackward(const Scalar* delta, const Scalar* w, Scalar* gradient) override;
    void DoForwardTangent(const Scalar* w, const Scalar* u, Scalar* tangent) override;
    void DoBackwardTangent(const Scalar* delta,
                           const Scalar* tangent,
                           const Scalar* w,
                           const Scalar* u,
                           Scalar* byInput) override;

    /**
     * Add the gradient of the sample that went forward last.
     * @param delta Derivative of the loss by the scores.
     * @param w Parameters.
     * @param [in,out] target d values.
     */
    void AddBackward(const Scalar* delta, const Scalar* w, Scalar* target);

    std::array<Convolution, CONVOLUTIONS> m_convolutions; //!< The convolutions.
    std::size_t m_classes;                                //!< Number of classes.
    std::size_t m_features;                               //!< Inputs of the last layer.
    std::size_t m_weights;                                //!< First weight of the last layer.
    std::size_t m_biases;                                 //!< First bias of the last layer.

    // Scratch memory.
    std::vector<Scalar> m_logits;   //!< Scores of a batch.
    std::vector<Scalar> m_gradient; //!< Gradient of a batch, d.
    std::vector<Scalar> m_byPatch;  //!< Derivative by the patches, of the loss or its tangent.
    std::vector<Scalar> m_stacked;  //!< Directions above weights of a convolution.
};

} // namespace ns3::federated

#endif // LENET_KERNEL_H
