// SPDX-License-Identifier: GPL-2.0-only

#ifndef MODEL_EVALUATOR_H
#define MODEL_EVALUATOR_H

#include "cpu-time.h"
#include "federated-dataset.h"
#include "learning-model.h"
#include "sample-gatherer.h"
#include "worker-pool.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

namespace ns3
{

/**
 * @ingroup federated
 * @brief Mean loss and accuracy of a model over many samples, on several threads.
 *
 * Samples are taken in chunks of a fixed size whose sums are added in order: the result is the same
 * to the last bit for any number of threads.
 */
class ModelEvaluator
{
  public:
    /** What an evaluation found. */
    struct Result
    {
        double loss = 0;     //!< Mean loss; 0 without samples.
        double accuracy = 0; //!< Correctly classified fraction, 0..1; 0 without samples.
    };

    /**
     * @param model The model.
     * @param shape Size of an image and number of classes, of every set that is evaluated.
     * @param scale What a pixel value means.
     * @param pool The workers; it must outlive the evaluator.
     */
    ModelEvaluator(const LearningModel& model,
                   const SampleShape& shape,
                   PixelScale scale,
                   federated::WorkerPool& pool);

    /**
     * @param dataset The samples.
     * @param w Parameters, d.
     * @param limit Evaluate only the first samples, at most so many.
     * @return mean loss and accuracy.
     */
    Result Evaluate(const FederatedDataset& dataset,
                    const float* w,
                    std::size_t limit = std::numeric_limits<std::size_t>::max());

    /**
     * @return the processor time of all evaluations so far, summed over the threads, in seconds.
     */
    double GetCpuSeconds() const;

  private:
    /** What belongs to one worker. */
    struct Worker
    {
        std::unique_ptr<ModelKernel<float>> kernel; //!< The model.
        SampleGatherer<float> gatherer;             //!< Makes the batches.
    };

    /** What a chunk adds. */
    struct Sums
    {
        double loss = 0;         //!< Sum of the losses.
        std::size_t correct = 0; //!< Correctly classified samples.
    };

    federated::WorkerPool& m_pool; //!< The workers' threads.
    std::vector<Worker> m_workers; //!< The workers' memory.
    std::vector<Sums> m_chunks;    //!< The sums of each chunk.
    federated::CpuTime m_cpuTime;  //!< Spent so far.
};

} // namespace ns3

#endif // MODEL_EVALUATOR_H
