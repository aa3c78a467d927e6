// SPDX-License-Identifier: GPL-2.0-only

// The learning kernels on MNIST (or on synthetic images where data/mnist is absent), one thread.
// bench/torch-bench.py does the same work in PyTorch.

#include "ns3/dot-product.h"
#include "ns3/federated-dataset.h"
#include "ns3/lenet-model.h"
#include "ns3/local-trainer.h"
#include "ns3/mixed-derivative-kernel.h"
#include "ns3/mlp-model.h"
#include "ns3/model-evaluator.h"

#include <Eigen/Core>
#include <benchmark/benchmark.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <string>
#include <type_traits>
#include <vector>

using namespace ns3;

namespace
{

constexpr SampleShape SHAPE{28, 28, 10}; //!< MNIST.
constexpr std::size_t BLOCK = 1024;      //!< Coordinates that stay in the nearest cache.

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
    // Where malloc puts the model decides how many loads of its rows cross a cache line, 10 % of
    // the time; it changes with every allocation of the library before.
    const std::vector<float> start = MakeParameters(*kernel);
    std::vector<float, Eigen::aligned_allocator<float>> w(start.begin(), start.end());
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

/** Loss on 60,000 and accuracy on 10,000 samples. */
void
Evaluate70000(benchmark::State& state)
{
    federated::WorkerPool pool(1);
    const auto model = CreateObject<MlpModel>();
    const std::vector<float> w = MakeParameters(*model->CreateKernel(SHAPE));
    ModelEvaluator evaluator(*model, SHAPE, PixelScale::Unit(), pool);
    for (auto _ : state)
    {
        benchmark::DoNotOptimize(evaluator.Evaluate(*GetData().train, w.data()).loss);
        benchmark::DoNotOptimize(evaluator.Evaluate(*GetData().test, w.data()).accuracy);
    }
}

/**
 * A model and one sample that has no blank pixels, as attacks search one.
 * @tparam Model The model.
 * @tparam Scalar Its precision.
 */
template <typename Model, typename Scalar>
struct Victim
{
    Victim()
    {
        const auto model = CreateObject<Model>();
        if constexpr (std::is_same_v<Scalar, float>)
        {
            kernel = model->CreateKernel(SHAPE);
        }
        else
        {
            kernel = model->CreateDoubleKernel(SHAPE);
        }
        w.resize(kernel->GetDimension());
        FederatedRandom random(1, FederatedRandom::INITIAL_MODEL);
        kernel->Initialize(random, w.data());
        gradient.resize(w.size());
        input.resize(kernel->GetFeatures());
        std::generate(input.begin(), input.end(), [&random]() { return random.Uniform(); });
    }

    std::unique_ptr<ModelKernel<Scalar>> kernel; //!< The model.
    std::vector<Scalar> w;                       //!< Parameters.
    std::vector<Scalar> gradient;                //!< Room for a gradient.
    std::vector<Scalar> input;                   //!< The sample.
};

/** Loss and gradient of one sample. */
template <typename Model, typename Scalar>
void
Gradient(benchmark::State& state)
{
    Victim<Model, Scalar> v;
    const uint8_t label = 3;
    const SampleBatch<Scalar> batch{v.input.data(), &label, 1, v.input.size(), 0};
    for (auto _ : state)
    {
        std::fill(v.gradient.begin(), v.gradient.end(), Scalar{0});
        benchmark::DoNotOptimize(v.kernel->AddGradient(batch, v.w.data(), 1, v.gradient.data()));
    }
}

/**
 * One evaluation of what DLG minimizes, |G - g|^2, with its gradient by image and label; the steps
 * of DlgInversion, in any precision.
 */
template <typename Model, typename Scalar>
void
Inversion(benchmark::State& state)
{
    Victim<Model, Scalar> v;
    auto& kernel = dynamic_cast<MixedDerivativeKernel<Scalar>&>(*v.kernel);
    const std::vector<Scalar> observed(v.w.size(), Scalar(0.01));
    const std::vector<Scalar> known(v.w.size(), Scalar(1));
    const std::vector<Scalar> label(SHAPE.classes, Scalar(0.1));
    std::vector<Scalar> byInput(v.input.size());
    std::vector<Scalar> byLabel(SHAPE.classes);
    for (auto _ : state)
    {
        kernel.ComputeSoftGradient(v.input.data(), label.data(), v.w.data(), v.gradient.data());
        Scalar distance = 0;
        for (std::size_t begin = 0; begin < observed.size(); begin += BLOCK)
        {
            const std::size_t end = std::min(begin + BLOCK, observed.size());
            for (std::size_t j = begin; j < end; ++j)
            {
                v.gradient[j] = known[j] * (v.gradient[j] - observed[j]);
            }
            distance += federated::DotProduct(&v.gradient[begin], &v.gradient[begin], end - begin);
        }
        benchmark::DoNotOptimize(distance);
        kernel.ComputeMixedDerivative(
            v.gradient.data(), v.w.data(), byInput.data(), byLabel.data());
        benchmark::DoNotOptimize(byInput.data());
        benchmark::ClobberMemory();
    }
}

/**
 * Register a benchmark.
 * @param name Its name, which torch-bench.py uses too.
 * @param run What it runs.
 */
template <typename Function>
void
Register(const std::string& name, Function run)
{
    benchmark::RegisterBenchmark(name.c_str(), run)->Unit(benchmark::kMillisecond);
}

/** Register the gradients and inversions of a model, in both precisions. */
template <typename Model>
void
RegisterModel(const std::string& name)
{
    Register(name + "Gradient", &Gradient<Model, float>);
    Register(name + "Inversion", &Inversion<Model, float>);
    Register(name + "GradientDouble", &Gradient<Model, double>);
    Register(name + "InversionDouble", &Inversion<Model, double>);
}

[[maybe_unused]] const bool REGISTERED = []()
{
    Register("DeviceRound", [](benchmark::State& s) { TrainDevice(s, PixelScale::Unit()); });
    Register("DeviceRoundStandardized",
             [](benchmark::State& s) { TrainDevice(s, PixelScale::Standard()); });
    Register("Evaluate70000", &Evaluate70000);
    RegisterModel<LeNetModel>("LeNet");
    RegisterModel<MlpModel>("Mlp");
    return true;
}();

} // namespace
