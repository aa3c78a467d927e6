// SPDX-License-Identifier: GPL-2.0-only

#ifndef LOCAL_TRAINER_H
#define LOCAL_TRAINER_H

#include "federated-dataset.h"
#include "model-kernel.h"
#include "sample-gatherer.h"

#include "ns3/federated-random.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace ns3
{

/**
 * @ingroup federated
 * @brief How a device trains in one round.
 */
struct TrainingPlan
{
    std::size_t steps = 10;     //!< L, mini-batch steps.
    std::size_t batchSize = 10; //!< Samples per step.
    double learningRate = 0.1;  //!< eta_t.
};

/**
 * @ingroup federated
 * @brief L steps of mini-batch stochastic gradient descent on a device's samples.
 *
 * Plain memory and no ns-3 object: one trainer per thread. It allocates only when a round is larger
 * than every one before.
 */
template <typename Scalar>
class LocalTrainer
{
  public:
    /**
     * @param kernel The model.
     * @param scale What a pixel value means.
     */
    LocalTrainer(std::unique_ptr<ModelKernel<Scalar>> kernel, PixelScale scale);

    /**
     * Train: w <- w - eta * (mean gradient of a batch), L times, without momentum. The batches are
     * consecutive parts of a fresh random permutation of the device's samples. If these are fewer
     * than L * batch size, the permutation is repeated from its start. A device without samples
     * leaves w as it is.
     * @param dataset Where the samples are.
     * @param indices Indices of the device's samples in it.
     * @param count How many the device has.
     * @param plan Steps, batch size and learning rate.
     * @param random The stream of this device and round.
     * @param [in,out] w Parameters, d.
     * @return the mean of the batches' losses, each before its step; 0 without samples or steps.
     */
    double Train(const FederatedDataset& dataset,
                 const uint32_t* indices,
                 std::size_t count,
                 const TrainingPlan& plan,
                 FederatedRandom& random,
                 Scalar* w);

  private:
    std::unique_ptr<ModelKernel<Scalar>> m_kernel; //!< The model.
    SampleGatherer<Scalar> m_gatherer;             //!< Makes the batches.
    std::vector<uint32_t> m_order;                 //!< The device's samples, in random order.
};

} // namespace ns3

#endif // LOCAL_TRAINER_H
