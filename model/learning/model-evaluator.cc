// SPDX-License-Identifier: GPL-2.0-only

#include "model-evaluator.h"

#include <algorithm>

namespace ns3
{

namespace
{

constexpr std::size_t CHUNK =
    256; // samples: enough to share the cost of a chunk, few enough for the cache

} // namespace

ModelEvaluator::ModelEvaluator(const LearningModel& model,
                               const SampleShape& shape,
                               PixelScale scale,
                               federated::WorkerPool& pool)
    : m_pool(pool)
{
    for (std::size_t worker = 0; worker < pool.GetWorkers(); ++worker)
    {
        m_workers.push_back({model.CreateKernel(shape), SampleGatherer<float>(scale)});
    }
}

ModelEvaluator::Result
ModelEvaluator::Evaluate(const FederatedDataset& dataset, const float* w, std::size_t limit)
{
    const std::size_t samples = std::min<std::size_t>(limit, dataset.GetSize());
    if (samples == 0)
    {
        return {};
    }
    m_chunks.resize((samples + CHUNK - 1) / CHUNK);
    m_pool.ParallelFor(
        m_chunks.size(),
        [&](std::size_t chunk, std::size_t index)
        {
            const federated::CpuTime::Span span(m_cpuTime);
            const std::size_t first = chunk * CHUNK;
            Worker& worker = m_workers[index];
            const auto batch = worker.gatherer.Gather(dataset,
                                                      std::min(CHUNK, samples - first),
                                                      [first](std::size_t k)
                                                      { return static_cast<uint32_t>(first + k); });
            worker.kernel->Evaluate(batch, w, m_chunks[chunk].loss, m_chunks[chunk].correct);
        });
    Sums total;
    for (const Sums& sums : m_chunks)
    {
        total.loss += sums.loss;
        total.correct += sums.correct;
    }
    const auto count = static_cast<double>(samples);
    return {total.loss / count, static_cast<double>(total.correct) / count};
}

double
ModelEvaluator::GetCpuSeconds() const
{
    return m_cpuTime.GetSeconds();
}

} // namespace ns3
