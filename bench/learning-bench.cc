// SPDX-License-Identifier: GPL-2.0-only

// The learning kernels on MNIST (or on synthetic images where data/mnist is absent), one thread.
// bench/torch-bench.py does the same work in PyTorch.

#include "ns3/federated-dataset.h"
#include "ns3/lenet-model.h"
#include "ns3/local-trainer.h"
#include "ns3/mlp-model.h"
#include "ns3/model-evaluator.h"

#include <benchmark/benchmark.h>

#include <numeric>

using namespace ns3;

namespace
{

constexpr SampleShape SHAPE{28, 28, 10}; //!< MNIST.

/** @return 60,000 training and 10,000 test samples. */
const FederatedData&
GetData()
{
    static const FederatedData data = []()
    {
        std::string error;
        FederatedData loaded =
            FederatedData::LoadDirectory(FEDERATED_SOURCE_DIR "/data/mnist", error);
        return loaded.train ? loaded : FederatedData::MakeSynthetic(1, 60000, 10000);
    }();
    return data;
}

/**
 * @param kernel A model.
 * @return its starting parameters.
 */
std::vector<float>
MakeParameters(const ModelKernel<float>& kernel)
{
    std::vector<float> w(kernel.GetDimension());
    FederatedRandom random(1, FederatedRandom::INITIAL_MODEL);
    kernel.Initialize(random, w.data());
    return w;
}

/**
 * Ten steps of ten samples on the 600 samples of a device, gathering included.
 * @param state The benchmark.
 * @param scale What a pixel value means.
 */
void
TrainDevice(benchmark::State& state, PixelScale scale)
{
    const FederatedDataset& train = *GetData().train;
    auto kernel = CreateObject<MlpModel>()->CreateKernel(SHAPE);
    std::vector<float> w = MakeParameters(*kernel);
    LocalTrainer<float> trainer(std::move(kernel), scale);
    std::vector<uint32_t> samples(train.GetSize());
    std::iota(samples.begin(), samples.end(), 0);
    uint32_t round = 0;
    for (auto _ : state)
    {
        FederatedRandom random(1, FederatedRandom::BATCHES, 0, round);
        const uint32_t* device = samples.data() + std::size_t{600} * (round++ % 100);
        benchmark::DoNotOptimize(
            trainer.Train(train, device, 600, TrainingPlan(), random, w.data()));
    }
}

void
DeviceRound(benchmark::State& state)
{
    TrainDevice(state, PixelScale::Unit());
}

void
DeviceRoundStandardized(benchmark::State& state)
{
    TrainDevice(state, PixelScale::Standard());
}

/** Loss on 60,000 and accuracy on 10,000 samples. */
void
Evaluate70000(benchmark::State& state)
{
    WorkerPool pool(1);
    const auto model = CreateObject<MlpModel>();
    const std::vector<float> w = MakeParameters(*model->CreateKernel(SHAPE));
    ModelEvaluator evaluator(*model, SHAPE, PixelScale::Unit(), pool);
    for (auto _ : state)
    {
        benchmark::DoNotOptimize(evaluator.Evaluate(*GetData().train, w.data()).loss);
        benchmark::DoNotOptimize(evaluator.Evaluate(*GetData().test, w.data()).accuracy);
    }
}

/** Loss and gradient of one sample, as a gradient-inversion attack needs it again and again. */
void
LeNetGradient(benchmark::State& state)
{
    auto kernel = CreateObject<LeNetModel>()->CreateKernel(SHAPE);
    const std::vector<float> w = MakeParameters(*kernel);
    std::vector<float> gradient(w.size());
    SampleGatherer<float> gatherer(PixelScale::Unit());
    const auto batch = gatherer.Gather(*GetData().train, 1, [](std::size_t) { return 0U; });
    for (auto _ : state)
    {
        benchmark::DoNotOptimize(kernel->AddGradient(batch, w.data(), 1, gradient.data()));
    }
}

BENCHMARK(DeviceRound)->Unit(benchmark::kMillisecond);
BENCHMARK(DeviceRoundStandardized)->Unit(benchmark::kMillisecond);
BENCHMARK(Evaluate70000)->Unit(benchmark::kMillisecond);
BENCHMARK(LeNetGradient)->Unit(benchmark::kMillisecond);

} // namespace
