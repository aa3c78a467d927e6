// SPDX-License-Identifier: GPL-2.0-only

#ifndef LINEAR_INVERSION_H
#define LINEAR_INVERSION_H

#include "gradient-inversion.h"

namespace ns3
{

/**
 * @ingroup federated
 * @brief Inversion of a fully connected first layer with biases, in closed form.
 *
 * For one sample the gradient of unit k's weights is its bias's gradient times the input: dW_ik =
 * x_i db_k. So x_i is the slope of the line through 0 that fits the points (db_k, dW_ik) of all
 * units best: sum_k db_k dW_ik / sum_k db_k^2, exact without noise, and with noise the
 * least-squares estimate, in which units of large gradient weigh most. (After several samples it is
 * a weighted mean of them.) An input none of whose weights was captured with its bias is 0.
 */
class LinearInversion : public GradientInversion
{
  public:
    /** @return the TypeId. */
    static TypeId GetTypeId();

  private:
    std::string DoFindLack(const ModelKernel<double>& kernel) const override;
    InversionResult DoReconstruct(const Target& target,
                                  ModelKernel<double>& kernel,
                                  const SampleShape& shape,
                                  FederatedRandom& random,
                                  const Watcher& watcher) const override;
};

} // namespace ns3

#endif // LINEAR_INVERSION_H
