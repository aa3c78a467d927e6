// SPDX-License-Identifier: GPL-2.0-only

#ifndef LEARNING_TASK_H
#define LEARNING_TASK_H

#include "cpu-time.h"
#include "federated-dataset.h"
#include "federated-partition.h"
#include "learning-model.h"
#include "local-update.h"
#include "model-evaluator.h"
#include "worker-pool.h"

#include "ns3/object.h"
#include "ns3/random-variable-stream.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace ns3
{

/**
 * @ingroup federated
 * @brief What is learned (data, split among devices, model), and the threads that do the work.
 *
 * One task is shared by the fusion center and all devices of a federation. Memory grows with the
 * number of threads and of updates under way, not with the number of devices.
 *
 * Every draw comes from FederatedRandom under one 64-bit seed, which is drawn once from an ns-3
 * stream: results do not depend on the number of threads or on the order of the calls.
 *
 * The functions that need a complete task prepare it, and abort with what Prepare() would have said
 * if that fails. Once the first update or evaluation has begun, the task cannot be changed any
 * more.
 */
class LearningTask : public Object
{
  public:
    /** What a pixel value means. */
    enum Pixels
    {
        PIXELS_UNIT,     //!< x/255, PixelScale::Unit().
        PIXELS_STANDARD, //!< Mean 0 and standard deviation 1 on MNIST, PixelScale::Standard().
    };

    /**
     * @brief Get the type ID.
     * @return the object TypeId
     */
    static TypeId GetTypeId();

    LearningTask();
    ~LearningTask() override;

    /** @param data Training and test set. */
    void SetData(const FederatedData& data);

    /** @param partition How the training set is split. */
    void SetPartition(Ptr<FederatedPartition> partition);

    /** @return how the training set is split. */
    Ptr<FederatedPartition> GetPartition() const;

    /**
     * @param groups The number of devices in each group; devices are numbered group by group.
     */
    void SetGroups(const std::vector<uint32_t>& groups);

    /** @param model The model. */
    void SetModel(Ptr<LearningModel> model);

    /** @return the model. */
    Ptr<LearningModel> GetModel() const;

    /**
     * Fix the random stream from which the seed is drawn.
     * @param stream Its number.
     * @return how many streams were used: 1.
     */
    int64_t AssignStreams(int64_t stream);

    /**
     * Draw the seed, split the data and lay out the model, if that has not been done.
     * @param [out] error On failure, one sentence that says what is missing or impossible.
     * @return whether the task is complete.
     */
    [[nodiscard]] bool Prepare(std::string& error);

    /** @return the seed of all draws. */
    uint64_t GetSeed();

    /**
     * @return the seed of PublicRotation and PublicInterleaving. It is public: the other draws do
     * not follow from it.
     */
    uint64_t GetRotationSeed();

    /** @return d, the number of the model's parameters. */
    std::size_t GetDimension();

    /** @return one past the last coordinate of each layer (its weights and biases), ascending. */
    const std::vector<std::size_t>& GetLayerEnds();

    /** @return the number of devices in the split. */
    uint32_t GetDevices();

    /**
     * @param device A device of the split.
     * @return how many training samples it has.
     */
    uint32_t GetSamples(uint32_t device);

    /** @return how many training samples all devices of the split have together. */
    uint32_t GetAllSamples();

    /**
     * Give the model that training starts from, as one of an earlier run.
     * @param w Parameters; none: it is drawn.
     */
    void SetFirstModel(std::vector<float> w);

    /** @return the model that was given; empty: it is drawn. */
    const std::vector<float>& GetFirstModel() const;

    /**
     * Get the model that training starts from, which is public. Aborts with a sentence if one was
     * given that has another dimension.
     * @param [out] w Parameters, resized to d.
     */
    void Initialize(std::vector<float>& w);

    /**
     * Keep a model, once for all who keep the same one: devices of a round receive equal models.
     * @param w Parameters.
     * @return the same bytes.
     */
    std::shared_ptr<const std::vector<float>> Share(std::vector<float>&& w);

    /**
     * Begin the work of a device in a round: train, take the difference, clip, quantize. It runs on
     * a worker thread; with one thread, it has ended when this function returns.
     * @param update What to do. Not to be used until Wait() or Cancel() has returned.
     * @return the ticket of the work.
     */
    federated::WorkerPool::Ticket Begin(std::shared_ptr<LocalUpdate> update);

    /**
     * Clip, quantize and pack the difference that a device learned in another way than by training
     * on its part of the data. Coins are those of the device and the serial of the update.
     * @param update What to do, and the result.
     * @param [in,out] difference d coordinates; overwritten.
     */
    void Encode(LocalUpdate& update, std::vector<float>& difference);

    /**
     * Wait until the work on an update has ended. Work that had not begun when the task was
     * disposed is never done: its update stays invalid.
     * @param ticket The ticket of the work.
     */
    void Wait(federated::WorkerPool::Ticket ticket);

    /**
     * Cancel the work on an update. Afterwards no worker uses it, nor its quantizer or interval
     * rule.
     * @param ticket The ticket of the work; no effect if it has ended.
     */
    void Cancel(federated::WorkerPool::Ticket ticket);

    /**
     * @param w Parameters, d.
     * @param limit Evaluate only the first samples, at most so many.
     * @return mean loss and accuracy on the test set.
     */
    ModelEvaluator::Result EvaluateTest(
        const float* w,
        std::size_t limit = std::numeric_limits<std::size_t>::max());

    /**
     * @param w Parameters, d.
     * @param limit Evaluate only the first samples, at most so many.
     * @return mean loss and accuracy on the training set.
     */
    ModelEvaluator::Result EvaluateTrain(
        const float* w,
        std::size_t limit = std::numeric_limits<std::size_t>::max());

    /**
     * @return the processor time of all updates so far (training, clipping and quantization),
     * summed over the threads, in seconds. For benchmarks only: nothing may depend on it.
     */
    double GetTrainingSeconds() const;

    /**
     * @return the processor time of all evaluations so far, summed over the threads, in seconds.
     * For benchmarks only: nothing may depend on it.
     */
    double GetEvaluationSeconds() const;

  protected:
    void DoDispose() override;

  private:
    /** What belongs to one worker. */
    struct Worker
    {
        LocalTrainer<float> trainer; //!< Trains.
        std::vector<float> values;   //!< The weights, then the update; d, empty before first use.
    };

    /** Forget what Prepare() made, because something changes; abort if work has begun. */
    void Change();

    /** Prepare, or abort. */
    void Require();

    /** Prepare, or abort; then make the threads and their memory, if there are none. */
    void Start();

    /**
     * Work on an update; on a worker.
     * @param update The update.
     * @param worker The memory of the worker.
     */
    void Compute(LocalUpdate& update, Worker& worker);

    /**
     * Clip, quantize and pack; also on a worker.
     * @param update What to do, and the result.
     * @param [in,out] difference d coordinates; overwritten.
     */
    void Quantize(LocalUpdate& update, std::vector<float>& difference) const;

    // Attributes
    Ptr<LearningModel> m_model;          //!< The model.
    Ptr<FederatedPartition> m_partition; //!< How the training set is split.
    Pixels m_pixels = PIXELS_UNIT;       //!< What a pixel value means.
    uint32_t m_threads = 0;              //!< Number of threads; 0 for one per core.

    // State
    FederatedData m_data;                         //!< Training and test set.
    std::vector<uint32_t> m_groups;               //!< Devices in each group.
    Ptr<UniformRandomVariable> m_uniform;         //!< Source of the seed.
    uint64_t m_seed = 0;                          //!< The seed, once drawn.
    bool m_hasSeed = false;                       //!< Whether the seed is drawn.
    bool m_prepared = false;                      //!< Whether what follows is valid.
    FederatedPartition::Parts m_parts;            //!< The samples of each device.
    std::unique_ptr<ModelKernel<float>> m_kernel; //!< Knows the layout.
    std::vector<std::size_t> m_layerEnds;         //!< One past the last coordinate of each layer.
    std::vector<float> m_first;                   //!< The model that was given; none: drawn.
    std::vector<std::weak_ptr<const std::vector<float>>> m_shared; //!< Models that are kept.
    federated::CpuTime m_trainingTime;                             //!< Spent on updates.
    std::vector<Worker> m_workers;                                 //!< Memory of the workers.
    std::unique_ptr<ModelEvaluator> m_evaluator;                   //!< Evaluates.
    std::unique_ptr<federated::WorkerPool> m_pool; //!< The threads; destroyed first.
};

} // namespace ns3

#endif // LEARNING_TASK_H
