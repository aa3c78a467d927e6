// SPDX-License-Identifier: GPL-2.0-only

#ifndef LENET_MODEL_H
#define LENET_MODEL_H

#include "learning-model.h"

namespace ns3
{

/**
 * @ingroup federated
 * @brief The LeNet that "Deep Leakage from Gradients" attacks: sigmoids, three
 * convolutions, one dense layer. For 28 x 28 images d = 13,426. See LeNetKernel for the layout.
 */
class LeNetModel : public LearningModel
{
  public:
    /**
     * @brief Get the type ID.
     * @return the object TypeId
     */
    static TypeId GetTypeId();

  private:
    std::unique_ptr<ModelKernel<float>> DoCreateKernel(const SampleShape& shape) const override;
    std::unique_ptr<ModelKernel<double>> DoCreateDoubleKernel(
        const SampleShape& shape) const override;

    // Attributes
    double m_initialRange; //!< Half width of the starting range, 0 for 1/sqrt(fan-in).
};

} // namespace ns3

#endif // LENET_MODEL_H
