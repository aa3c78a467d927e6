// SPDX-License-Identifier: GPL-2.0-only

#include "ns3/bit-packer.h"
#include "ns3/double.h"
#include "ns3/dp-stochastic-quantizer.h"
#include "ns3/effective-snr-fusion.h"
#include "ns3/fixed-interval.h"
#include "ns3/gaussian-quantizer.h"
#include "ns3/laplace-quantizer.h"
#include "ns3/max-abs-interval.h"
#include "ns3/mean-aggregator.h"
#include "ns3/median-aggregator.h"
#include "ns3/norm-bound-aggregator.h"
#include "ns3/optimal-dp-quantizer.h"
#include "ns3/public-interleaving.h"
#include "ns3/public-rotation.h"
#include "ns3/trimmed-mean-aggregator.h"
#include "ns3/update-clipping.h"
#include "ns3/update-fusion.h"
#include "ns3/update-preparation.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstring>
#include <vector>

using namespace ns3;

namespace
{

const std::size_t DIMENSION = 159010; // the paper's MLP

std::vector<float>
MakeUpdate()
{
    FederatedRandom random(1);
    std::vector<float> values(DIMENSION);
    for (float& value : values)
    {
        value = static_cast<float>(2e-3 * (random.Uniform() - 0.5));
    }
    return values;
}

/** All that a device does to an update: clip, interval, quantize and pack at 4 bits. */
void
Quantize(benchmark::State& state)
{
    const auto update = MakeUpdate();
    const auto rule = CreateObject<MaxAbsInterval>();
    const auto quantizer = CreateObject<DpStochasticQuantizer>();
    std::vector<float> values(update);
    std::vector<uint8_t> payload(quantizer->GetPayloadSize(DIMENSION, 4));
    FederatedRandom random(1);
    double bound = GetUpdateNorm(CLIP_L1, values.data(), DIMENSION);
    for (auto _ : state)
    {
        bound *= 1 - 1e-6; // so that every round really scales
        ClipUpdate(CLIP_L1, bound, values.data(), DIMENSION);
        const auto intervals = rule->GetIntervals(values.data(), {DIMENSION});
        quantizer->Encode(values.data(), intervals, 4, random, payload.data());
        benchmark::DoNotOptimize(payload.data());
    }
}

/**
 * All that a device does to an update, what it says in its traces included.
 * @param rule Chooses the interval.
 */
void
PrepareWith(benchmark::State& state, const IntervalRule& rule)
{
    const auto update = MakeUpdate();
    const auto quantizer = CreateObject<DpStochasticQuantizer>();
    UpdateSettings settings;
    settings.clipNorm = CLIP_L1;
    settings.intervalRule = &rule;
    settings.quantizer = PeekPointer(quantizer);
    settings.bits = 4;
    std::vector<float> values(update);
    settings.clipBound = GetUpdateNorm(CLIP_L1, values.data(), DIMENSION);
    FederatedRandom random(1);
    PreparedUpdate prepared;
    for (auto _ : state)
    {
        settings.clipBound *= 1 - 1e-6; // so that every round really scales
        PrepareUpdate(settings, {DIMENSION}, random, values, prepared);
        benchmark::DoNotOptimize(prepared.payload.data());
    }
}

void
Prepare(benchmark::State& state)
{
    PrepareWith(state, *CreateObject<MaxAbsInterval>());
}

/** With an interval that some coordinates leave. */
void
PrepareClamped(benchmark::State& state)
{
    const auto rule = CreateObject<FixedInterval>();
    rule->SetAttribute("Low", DoubleValue(-9e-4));
    rule->SetAttribute("High", DoubleValue(9e-4));
    PrepareWith(state, *rule);
}

/** Rotate an update: 159,010 coordinates become 262,144. */
void
Rotate(benchmark::State& state)
{
    const auto update = MakeUpdate();
    std::vector<float> values;
    values.reserve(PublicRotation::GetRotatedSize(DIMENSION));
    uint32_t round = 0;
    for (auto _ : state)
    {
        values = update;
        PublicRotation(1, ++round).Rotate(values);
        benchmark::DoNotOptimize(values.data());
    }
}

/** Put an update into the order in which it is sent. */
void
Interleave(benchmark::State& state)
{
    std::vector<float> values = MakeUpdate();
    uint32_t round = 0;
    for (auto _ : state)
    {
        PublicInterleaving(1, ++round).Interleave(values);
        benchmark::DoNotOptimize(values.data());
    }
}

/** Quantize at 4 bits with a true epsilon of 4 a coordinate: four levels in use, 2 bits. */
void
QuantizeOptimally(benchmark::State& state)
{
    const auto values = MakeUpdate();
    const auto quantizer = CreateObject<OptimalDpQuantizer>();
    quantizer->SetEpsilon(4);
    std::vector<uint8_t> payload(quantizer->GetPayloadSize(DIMENSION, 4));
    FederatedRandom random(1);
    for (auto _ : state)
    {
        quantizer->Encode(
            values.data(), {{0, DIMENSION, -1e-3F, 1e-3F}}, 4, random, payload.data());
        benchmark::DoNotOptimize(payload.data());
    }
}

/** Exact integer noise on every coordinate, sent as floats. */
void
AddNoise(benchmark::State& state, const Quantizer& quantizer)
{
    const auto values = MakeUpdate();
    std::vector<uint8_t> payload(quantizer.GetPayloadSize(DIMENSION, 4));
    FederatedRandom random(1);
    for (auto _ : state)
    {
        quantizer.Encode(values.data(), {{0, DIMENSION, -1e-3F, 1e-3F}}, 4, random, payload.data());
        benchmark::DoNotOptimize(payload.data());
    }
}

void
QuantizeLaplace(benchmark::State& state)
{
    AddNoise(state, *CreateObject<LaplaceQuantizer>());
}

void
QuantizeGaussian(benchmark::State& state)
{
    AddNoise(state, *CreateObject<GaussianQuantizer>());
}

void
RandomWords(benchmark::State& state)
{
    std::vector<uint32_t> words(DIMENSION);
    FederatedRandom random(1);
    for (auto _ : state)
    {
        random.Fill(words.data(), words.size());
        benchmark::DoNotOptimize(words.data());
    }
    state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * words.size() * 4));
}

void
ExactDistortion(benchmark::State& state)
{
    const auto update = MakeUpdate();
    const auto quantizer = CreateObject<DpStochasticQuantizer>();
    for (auto _ : state)
    {
        benchmark::DoNotOptimize(
            quantizer->GetDistortion(update.data(), {{0, DIMENSION, -1e-3F, 1e-3F}}, 4));
    }
}

/**
 * Unpack and fuse ten 4-bit updates that came in fragments of 2700 coordinates.
 * @param aggregator Combines them.
 * @param sigma2 Variance of the noise of their links.
 */
void
FuseUpdatesWith(benchmark::State& state, const UpdateAggregator& aggregator, double sigma2 = 0)
{
    const std::size_t senders = 10;
    FederatedRandom random(2);
    std::vector<std::vector<uint8_t>> payloads(senders);
    for (std::vector<uint8_t>& payload : payloads)
    {
        payload.resize(BitPacker::GetSize(DIMENSION, 4));
        std::generate(
            payload.begin(), payload.end(), [&random] { return static_cast<uint8_t>(random()); });
    }
    std::vector<DeliveredUpdate> updates(senders);
    for (std::size_t i = 0; i < senders; ++i)
    {
        updates[i].device = static_cast<uint32_t>(i);
        updates[i].bits = 4;
        updates[i].wireBits = 4;
        updates[i].cellDistortion = 1;
        updates[i].intervals = {{0, DIMENSION, -1e-3F, 1e-3F}};
        for (std::size_t begin = 0; begin < DIMENSION; begin += 2700)
        {
            const std::size_t end = std::min(begin + 2700, DIMENSION);
            updates[i].ranges.push_back({begin, end, payloads[i].data(), begin, sigma2});
        }
    }
    const auto rule = CreateObject<EffectiveSnrFusion>();
    std::vector<float> model(DIMENSION);
    for (auto _ : state)
    {
        FuseUpdates(*rule, aggregator, LOSS_RENORMALIZE, updates, {1, 1}, model.data(), DIMENSION);
        benchmark::DoNotOptimize(model.data());
    }
    // The floats that come out of the packed levels.
    state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * senders * DIMENSION * 4));
}

void
FuseTenUpdates(benchmark::State& state)
{
    FuseUpdatesWith(state, *CreateObject<MeanAggregator>());
}

void
FuseTenByMedian(benchmark::State& state)
{
    FuseUpdatesWith(state, *CreateObject<MedianAggregator>());
}

void
FuseTenByTrimmedMean(benchmark::State& state)
{
    FuseUpdatesWith(state, *CreateObject<TrimmedMeanAggregator>());
}

void
FuseTenByNormBound(benchmark::State& state)
{
    FuseUpdatesWith(state, *CreateObject<NormBoundAggregator>());
}

/** With the noise of each link, which is drawn for each update. */
void
FuseTenByNoisyMedian(benchmark::State& state)
{
    FuseUpdatesWith(state, *CreateObject<MedianAggregator>(), 1e-6);
}

/** As many floats as FuseTenUpdates decodes, copied. */
void
CopyTenUpdates(benchmark::State& state)
{
    std::vector<float> from(10 * DIMENSION, 1);
    std::vector<float> to(from.size());
    for (auto _ : state)
    {
        std::memcpy(to.data(), from.data(), from.size() * sizeof(float));
        benchmark::DoNotOptimize(to.data());
    }
    state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * from.size() * 4));
}

BENCHMARK(Quantize)->Unit(benchmark::kMillisecond);
BENCHMARK(Prepare)->Unit(benchmark::kMillisecond);
BENCHMARK(PrepareClamped)->Unit(benchmark::kMillisecond);
BENCHMARK(Rotate)->Unit(benchmark::kMillisecond);
BENCHMARK(Interleave)->Unit(benchmark::kMillisecond);
BENCHMARK(QuantizeOptimally)->Unit(benchmark::kMillisecond);
BENCHMARK(QuantizeLaplace)->Unit(benchmark::kMillisecond);
BENCHMARK(QuantizeGaussian)->Unit(benchmark::kMillisecond);
BENCHMARK(RandomWords)->Unit(benchmark::kMillisecond);
BENCHMARK(ExactDistortion)->Unit(benchmark::kMillisecond);
BENCHMARK(FuseTenUpdates)->Unit(benchmark::kMillisecond);
BENCHMARK(FuseTenByMedian)->Unit(benchmark::kMillisecond);
BENCHMARK(FuseTenByTrimmedMean)->Unit(benchmark::kMillisecond);
BENCHMARK(FuseTenByNormBound)->Unit(benchmark::kMillisecond);
BENCHMARK(FuseTenByNoisyMedian)->Unit(benchmark::kMillisecond);
BENCHMARK(CopyTenUpdates)->Unit(benchmark::kMillisecond);

} // namespace
