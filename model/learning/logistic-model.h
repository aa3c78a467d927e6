// SPDX-License-Identifier: GPL-2.0-only

#ifndef LOGISTIC_MODEL_H
#define LOGISTIC_MODEL_H

#include "learning-model.h"

namespace ns3
{

/**
 * @ingroup federated
 * @brief Multinomial logistic regression with the term L2/2 |w|^2 over all parameters, biases
 * included: for L2 > 0 strongly convex with constant L2, as the theory assumes.
 */
class LogisticModel : public LearningModel
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
    double m_l2; //!< Weight of the l2 term.
};

} // namespace ns3

#endif // LOGISTIC_MODEL_H
