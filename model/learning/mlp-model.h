// SPDX-License-Identifier: GPL-2.0-only

#ifndef MLP_MODEL_H
#define MLP_MODEL_H

#include "learning-model.h"

#include <cstddef>
#include <string>
#include <vector>

namespace ns3
{

/**
 * @ingroup federated
 * @brief A multilayer perceptron: ReLU, softmax cross-entropy.
 *
 * The paper's 784-200-10 has d = 159,010. See DenseKernel for the layout.
 */
class MlpModel : public LearningModel
{
  public:
    static constexpr std::size_t MAX_WIDTH = 65535; //!< Units of a layer, at most.

    /**
     * @brief Get the type ID.
     * @return the object TypeId
     */
    static TypeId GetTypeId();

    /**
     * @param sizes Units of each hidden layer, 1 to MAX_WIDTH, separated by commas; empty for none.
     */
    void SetHiddenLayers(const std::string& sizes);

    /** @return the hidden layers as they were set. */
    std::string GetHiddenLayers() const;

  private:
    std::unique_ptr<ModelKernel<float>> DoCreateKernel(const SampleShape& shape) const override;
    std::unique_ptr<ModelKernel<double>> DoCreateDoubleKernel(
        const SampleShape& shape) const override;

    /**
     * @param shape Size of an image and number of classes.
     * @return inputs, hidden units of each layer, classes.
     */
    std::vector<std::size_t> GetWidths(const SampleShape& shape) const;

    // Attributes
    std::string m_hiddenLayers;              //!< As set.
    std::vector<std::size_t> m_hiddenWidths; //!< As numbers.
};

} // namespace ns3

#endif // MLP_MODEL_H
