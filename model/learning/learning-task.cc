// SPDX-License-Identifier: GPL-2.0-only

#include "learning-task.h"

#include "ns3/abort.h"
#include "ns3/enum.h"
#include "ns3/federated-compat.h"
#include "ns3/pointer.h"
#include "ns3/strategy-checker.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>
#include <sstream>
#include <utility>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(LearningTask);

namespace
{

/**
 * @param dataset A set.
 * @return the shape of its samples.
 */
SampleShape
GetShape(const FederatedDataset& dataset)
{
    return {dataset.GetRows(), dataset.GetColumns(), dataset.GetClasses()};
}

/**
 * @param shape A shape.
 * @return it in words.
 */
std::string
Describe(const SampleShape& shape)
{
    std::ostringstream text;
    text << shape.rows << " x " << shape.columns << " pixels and " << shape.classes << " classes";
    return text.str();
}

/** @return whether two models have the same bytes: 0 and -0 are not the same. */
bool
HaveEqualBytes(const std::vector<float>& a, const std::vector<float>& b)
{
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

/**
 * @param kernel A kernel, which may be of a user.
 * @param model Its model.
 * @param shape The shape of the samples.
 * @param [out] error On failure, one sentence that says what does not fit.
 * @return whether the kernel fits the samples and its updates fit into messages.
 */
bool
CheckKernel(const ModelKernel<float>& kernel,
            const LearningModel& model,
            const SampleShape& shape,
            std::string& error)
{
    const std::size_t features = shape.rows * shape.columns;
    const std::string name = model.GetInstanceTypeId().GetName();
    if (kernel.GetFeatures() != features || kernel.GetClasses() != shape.classes)
    {
        error = name + " has " + std::to_string(kernel.GetFeatures()) + " inputs and " +
                std::to_string(kernel.GetClasses()) + " classes, but the samples have " +
                Describe(shape) + ".";
        return false;
    }
    if (kernel.GetDimension() > std::numeric_limits<uint32_t>::max())
    {
        error = name + " has " + std::to_string(kernel.GetDimension()) +
                " parameters, but messages number at most 2^32 - 1.";
        return false;
    }
    return true;
}

} // namespace

TypeId
LearningTask::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::LearningTask")
            .SetParent<Object>()
            .SetGroupName("Federated")
            .AddConstructor<LearningTask>()
            .AddAttribute("Model",
                          "The model that is learned.",
                          StringValue("ns3::MlpModel"),
                          MakePointerAccessor(&LearningTask::SetModel, &LearningTask::GetModel),
                          federated::MakeStrategyChecker<LearningModel>())
            .AddAttribute(
                "Partition",
                "How the training set is split among the devices.",
                StringValue("ns3::IidPartition"),
                MakePointerAccessor(&LearningTask::SetPartition, &LearningTask::GetPartition),
                federated::MakeStrategyChecker<FederatedPartition>())
            .AddAttribute("Pixels",
                          "What a pixel value x means, when the first update or evaluation begins: "
                          "x/255 (unit), or (x/255 - 0.1307) / 0.3081 (standard).",
                          EnumValue(PIXELS_UNIT),
                          compat::MakeEnumAccessor<Pixels>(&LearningTask::m_pixels),
                          MakeEnumChecker(PIXELS_UNIT, "unit", PIXELS_STANDARD, "standard"))
            .AddAttribute("Threads",
                          "Number of threads that train and evaluate, when the first update or "
                          "evaluation begins; 0 for one per core. It does not change any result.",
                          UintegerValue(0),
                          MakeUintegerAccessor(&LearningTask::m_threads),
                          MakeUintegerChecker<uint32_t>());
    return tid;
}

LearningTask::LearningTask()
    : m_uniform(CreateObject<UniformRandomVariable>())
{
}

LearningTask::~LearningTask() = default;

void
LearningTask::DoDispose()
{
    m_pool.reset(); // waits for the jobs, which use what follows
    m_evaluator.reset();
    m_workers.clear();
    m_prepared = false;
    m_kernel.reset();
    m_parts.clear();
    m_data = {};
    m_model = nullptr;
    m_partition = nullptr;
    m_uniform = nullptr;
    Object::DoDispose();
}

void
LearningTask::SetData(const FederatedData& data)
{
    Change();
    m_data = data;
}

void
LearningTask::SetPartition(Ptr<FederatedPartition> partition)
{
    Change();
    m_partition = partition;
}

Ptr<FederatedPartition>
LearningTask::GetPartition() const
{
    return m_partition;
}

void
LearningTask::SetGroups(const std::vector<uint32_t>& groups)
{
    Change();
    m_groups = groups;
}

void
LearningTask::SetModel(Ptr<LearningModel> model)
{
    Change();
    m_model = model;
}

Ptr<LearningModel>
LearningTask::GetModel() const
{
    return m_model;
}

int64_t
LearningTask::AssignStreams(int64_t stream)
{
    Change();
    m_uniform->SetStream(stream);
    m_hasSeed = false;
    return 1;
}

bool
LearningTask::Prepare(std::string& error)
{
    if (m_prepared)
    {
        return true;
    }
    if (!m_data.train || !m_data.test)
    {
        error = "The learning task has no data set.";
        return false;
    }
    const SampleShape shape = GetShape(*m_data.train);
    const SampleShape testShape = GetShape(*m_data.test);
    if (Describe(shape) != Describe(testShape))
    {
        error = "The training set has " + Describe(shape) + ", but the test set has " +
                Describe(testShape) + ".";
        return false;
    }
    if (!m_model)
    {
        error = "The learning task has no model.";
        return false;
    }
    if (!m_partition)
    {
        error = "The learning task has no partition.";
        return false;
    }
    if (!m_hasSeed)
    {
        m_seed = FederatedRandom::DrawSeed(*m_uniform);
        m_hasSeed = true;
    }
    if (!m_partition->Split(m_data.train->GetLabels(), m_groups, m_seed, m_parts, error))
    {
        return false;
    }
    m_kernel = m_model->CreateKernel(shape);
    if (!CheckKernel(*m_kernel, *m_model, shape, error))
    {
        return false;
    }
    m_layerEnds.clear();
    for (const ModelLayer& layer : m_kernel->GetLayers())
    {
        m_layerEnds.push_back(layer.begin + layer.size);
    }
    m_prepared = true;
    return true;
}

uint64_t
LearningTask::GetSeed()
{
    Require();
    return m_seed;
}

uint64_t
LearningTask::GetRotationSeed()
{
    // Not the seed itself, from which the words of quantizers follow.
    FederatedRandom random(GetSeed(), FederatedRandom::ROTATION);
    const uint64_t high = random();
    return high << 32 | random();
}

std::size_t
LearningTask::GetDimension()
{
    Require();
    return m_kernel->GetDimension();
}

const std::vector<std::size_t>&
LearningTask::GetLayerEnds()
{
    Require();
    return m_layerEnds;
}

uint32_t
LearningTask::GetDevices()
{
    Require();
    return static_cast<uint32_t>(m_parts.size());
}

uint32_t
LearningTask::GetSamples(uint32_t device)
{
    Require();
    NS_ABORT_MSG_IF(device >= m_parts.size(),
                    "LearningTask: there is no device " << device << ", the data is split among "
                                                        << m_parts.size());
    return static_cast<uint32_t>(m_parts[device].size());
}

uint32_t
LearningTask::GetAllSamples()
{
    Require();
    return std::accumulate(m_parts.begin(),
                           m_parts.end(),
                           0U,
                           [](uint32_t sum, const auto& part)
                           { return sum + static_cast<uint32_t>(part.size()); });
}

void
LearningTask::SetFirstModel(std::vector<float> w)
{
    m_first = std::move(w);
}

const std::vector<float>&
LearningTask::GetFirstModel() const
{
    return m_first;
}

void
LearningTask::Initialize(std::vector<float>& w)
{
    Require();
    if (!m_first.empty())
    {
        NS_ABORT_MSG_IF(m_first.size() != GetDimension(),
                        "LearningTask: the given model has "
                            << m_first.size() << " coordinates, the task has " << GetDimension());
        w = m_first;
        return;
    }
    w.resize(m_kernel->GetDimension());
    FederatedRandom random(m_seed, FederatedRandom::INITIAL_MODEL);
    m_kernel->Initialize(random, w.data());
}

std::shared_ptr<const std::vector<float>>
LearningTask::Share(std::vector<float>&& w)
{
    m_shared.erase(std::remove_if(m_shared.begin(),
                                  m_shared.end(),
                                  [](const auto& kept) { return kept.expired(); }),
                   m_shared.end());
    for (auto kept = m_shared.rbegin(); kept != m_shared.rend(); ++kept) // the newest first
    {
        auto model = kept->lock();
        if (HaveEqualBytes(*model, w))
        {
            return model;
        }
    }
    auto model = std::make_shared<const std::vector<float>>(std::move(w));
    m_shared.push_back(model);
    return model;
}

federated::WorkerPool::Ticket
LearningTask::Begin(std::shared_ptr<LocalUpdate> update)
{
    Start();
    GetSamples(update->device); // checks the device
    NS_ABORT_MSG_IF(update->model.size() != m_kernel->GetDimension(),
                    "LearningTask: device " << update->device << " has a model of "
                                            << update->model.size() << " parameters, not "
                                            << m_kernel->GetDimension());
    const UpdateSettings& settings = update->settings;
    NS_ABORT_MSG_IF(!settings.quantizer || !settings.intervalRule,
                    "LearningTask: device " << update->device
                                            << " has no quantizer or no interval rule");
    settings.quantizer->GetWireBits(settings.bits); // checks the resolution
    update->valid = false;
    return m_pool->Submit([this, update = std::move(update)](std::size_t worker)
                          { Compute(*update, m_workers[worker]); });
}

void
LearningTask::Encode(LocalUpdate& update, std::vector<float>& difference)
{
    Require();
    Quantize(update, difference);
}

void
LearningTask::Wait(federated::WorkerPool::Ticket ticket)
{
    if (m_pool)
    {
        m_pool->Wait(ticket);
    }
}

void
LearningTask::Cancel(federated::WorkerPool::Ticket ticket)
{
    if (m_pool)
    {
        m_pool->Cancel(ticket);
    }
}

ModelEvaluator::Result
LearningTask::EvaluateTest(const float* w, std::size_t limit)
{
    Start();
    return m_evaluator->Evaluate(*m_data.test, w, limit);
}

ModelEvaluator::Result
LearningTask::EvaluateTrain(const float* w, std::size_t limit)
{
    Start();
    return m_evaluator->Evaluate(*m_data.train, w, limit);
}

double
LearningTask::GetTrainingSeconds() const
{
    return m_trainingTime.GetSeconds();
}

double
LearningTask::GetEvaluationSeconds() const
{
    return m_evaluator ? m_evaluator->GetCpuSeconds() : 0;
}

void
LearningTask::Change()
{
    NS_ABORT_MSG_IF(m_pool,
                    "LearningTask: data, split, model and stream cannot be changed any more once "
                    "the first update or evaluation has begun");
    m_prepared = false;
}

void
LearningTask::Require()
{
    std::string error;
    const bool prepared = Prepare(error);
    NS_ABORT_MSG_UNLESS(prepared, error);
}

void
LearningTask::Start()
{
    Require();
    if (m_pool)
    {
        return;
    }
    const SampleShape shape = GetShape(*m_data.train);
    const PixelScale scale =
        m_pixels == PIXELS_STANDARD ? PixelScale::Standard() : PixelScale::Unit();
    m_pool = std::make_unique<federated::WorkerPool>(m_threads);
    m_evaluator = std::make_unique<ModelEvaluator>(*m_model, shape, scale, *m_pool);
    for (std::size_t worker = 0; worker < m_pool->GetWorkers(); ++worker)
    {
        auto kernel = m_model->CreateKernel(shape);
        NS_ABORT_MSG_IF(kernel->GetDimension() != m_kernel->GetDimension(),
                        "LearningTask: an attribute of the model was changed after Prepare()");
        m_workers.push_back({LocalTrainer<float>(std::move(kernel), scale), {}});
    }
}

void
LearningTask::Compute(LocalUpdate& update, Worker& worker)
{
    const federated::CpuTime::Span span(m_trainingTime);
    const std::vector<uint32_t>& samples = m_parts[update.device];
    FederatedRandom batches(m_seed, FederatedRandom::BATCHES, update.device, update.serial);

    worker.values = update.model;
    update.loss = worker.trainer.Train(*m_data.train,
                                       samples.data(),
                                       samples.size(),
                                       update.training,
                                       batches,
                                       worker.values.data());
    std::transform(worker.values.begin(),
                   worker.values.end(),
                   update.model.begin(),
                   worker.values.begin(),
                   std::minus<>());
    Quantize(update, worker.values);
}

void
LearningTask::Quantize(LocalUpdate& update, std::vector<float>& difference) const
{
    FederatedRandom coins(
        m_seed, FederatedRandom::QUANTIZE, update.device, update.serial, update.federation);
    PrepareUpdate(update.settings, m_layerEnds, coins, difference, update);
}

} // namespace ns3
