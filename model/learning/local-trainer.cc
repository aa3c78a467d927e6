// SPDX-License-Identifier: GPL-2.0-only

#include "local-trainer.h"

#include <algorithm>
#include <utility>

namespace ns3
{

template <typename Scalar>
LocalTrainer<Scalar>::LocalTrainer(std::unique_ptr<ModelKernel<Scalar>> kernel, PixelScale scale)
    : m_kernel(std::move(kernel)),
      m_gatherer(scale)
{
}

template <typename Scalar>
double
LocalTrainer<Scalar>::Train(const FederatedDataset& dataset,
                            const uint32_t* indices,
                            std::size_t count,
                            const TrainingPlan& plan,
                            FederatedRandom& random,
                            Scalar* w)
{
    if (count == 0 || plan.steps == 0 || plan.batchSize == 0)
    {
        return 0;
    }
    // The start of a random permutation, as far as it is needed (Fisher-Yates).
    m_order.assign(indices, indices + count);
    const std::size_t needed = std::min(count, plan.steps * plan.batchSize);
    for (std::size_t k = 0; k < needed; ++k)
    {
        std::swap(m_order[k], m_order[k + random.Below(static_cast<uint32_t>(count - k))]);
    }

    const auto step = static_cast<Scalar>(-plan.learningRate);
    double loss = 0;
    std::size_t next = 0;
    for (std::size_t l = 0; l < plan.steps; ++l)
    {
        const auto batch = m_gatherer.Gather(dataset,
                                             plan.batchSize,
                                             [this, &next, count](auto)
                                             {
                                                 const uint32_t sample = m_order[next];
                                                 next = next + 1 < count ? next + 1 : 0;
                                                 return sample;
                                             });
        loss += m_kernel->AddGradient(batch, w, step, w);
    }
    return loss / static_cast<double>(plan.steps);
}

template class LocalTrainer<float>;
template class LocalTrainer<double>;

} // namespace ns3
