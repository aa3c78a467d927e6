// SPDX-License-Identifier: GPL-2.0-only

#ifndef DENSE_KERNEL_H
#define DENSE_KERNEL_H

#include "mixed-derivative-kernel.h"
#include "weighted-rows.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ns3::federated
{

/**
 * @ingroup federated
 * @brief Fully connected layers with ReLU between them, softmax cross-entropy, optional l2 term.
 *
 * Layout of a layer: weights [in][out], so that what one input adds to all units is contiguous,
 * then biases [out]. In the first layer, inputs that equal the batch's background (blank pixels)
 * are skipped: with x = background + s, s sparse, x W = background * (column sums of W) + s W, and
 * the gradient of row i is background * sum_b(delta_b) + sum_b(s_bi delta_b), where the first part
 * vanishes if the background is 0: then a step touches only the rows of inputs in use.
 */
template <typename Scalar>
class DenseKernel : public MixedDerivativeKernel<Scalar>
{
  public:
    /**
     * @param widths Inputs, hidden units of each layer, classes: at least two numbers.
     * @param l2 Weight lambda of the term lambda/2 |w|^2 over all parameters.
     */
    DenseKernel(const std::vector<std::size_t>& widths, double l2);

  private:
    /** One layer: its place among the parameters, and what the last batch did in it. */
    struct Layer
    {
        std::size_t in;      //!< Number of inputs.
        std::size_t out;     //!< Number of outputs.
        std::size_t weights; //!< First coordinate of the weights.
        std::size_t biases;  //!< First coordinate of the biases.
        /** Outputs [sample][out], after ReLU in hidden layers; on the way back their delta. */
        std::vector<Scalar> outputs;

        // What the last sample with a soft label did here.
        std::vector<WeightedIndex<Scalar>> inputs; //!< Its inputs; zeros are left out.
        std::vector<Scalar> delta;                 //!< Derivative of the loss by the outputs.
        std::vector<Scalar> tangent; //!< Derivative by r of outputs, on the way back of delta.
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
    double DoGetPenalty(const Scalar* w) const override;

    /**
     * Make room for a batch.
     * @param count Its number of samples.
     */
    void Reserve(std::size_t count);

    /**
     * List the inputs that differ from the background.
     * @param batch The samples.
     */
    void ListInputs(const SampleBatch<Scalar>& batch);

    /**
     * Outputs of the first layer from the listed inputs.
     * @param batch The samples.
     * @param w Parameters, d.
     */
    void ForwardFirst(const SampleBatch<Scalar>& batch, const Scalar* w);

    /**
     * Add the first layer's part of the gradient; its outputs are delta.
     * @param batch The samples.
     * @param [in,out] target d values.
     */
    void AddFirstGradient(const SampleBatch<Scalar>& batch, Scalar* target);

    /**
     * Add a layer's part of the l2 term's gradient, while w is still unchanged there.
     * @param layer The layer.
     * @param w Parameters, d.
     * @param factor Scale of the gradient.
     * @param [in,out] target d values.
     */
    void AddPenaltyGradient(const Layer& layer,
                            const Scalar* w,
                            Scalar factor,
                            Scalar* target) const;

    Scalar m_l2;                 //!< Weight of the l2 term.
    std::vector<Layer> m_layers; //!< The layers.
    std::size_t m_capacity = 0;  //!< Largest batch so far.

    // Scratch memory.
    std::vector<WeightedIndex<Scalar>> m_entries; //!< (input, s), sample by sample.
    std::vector<std::size_t> m_ends;              //!< Where the entries of each sample end.
    std::vector<WeightedIndex<Scalar>> m_columns; //!< (sample, s), input by input.
    std::vector<std::size_t> m_columnEnds;        //!< Where the entries of each input end.
    std::vector<WeightedIndex<Scalar>> m_blank;   //!< A blank sample as entries.
    std::vector<Scalar> m_base;                   //!< Outputs of a blank sample.
    std::vector<Scalar> m_strip;                  //!< A strip of the first layer's weights.
    std::vector<Scalar> m_product;                //!< delta times transposed weights.
};

} // namespace ns3::federated

#endif // DENSE_KERNEL_H
