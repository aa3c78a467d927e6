// SPDX-License-Identifier: GPL-2.0-only

/*
 * What a loss model costs for each receiver of each frame, beside the 14 us that a receiving radio
 * costs in all:
 *
 *   fading-bench
 */

#include "ns3/constant-velocity-mobility-model.h"
#include "ns3/double.h"
#include "ns3/federated-block-fading.h"
#include "ns3/federated-jakes-fading.h"
#include "ns3/federated-shadowing.h"
#include "ns3/node-container.h"
#include "ns3/object-factory.h"
#include "ns3/propagation-loss-model.h"

#include <benchmark/benchmark.h>

#include <vector>

using namespace ns3;

namespace
{

/** Measure a loss model: a sender and 40 receivers that walk. */
void
Measure(benchmark::State& state, const Ptr<PropagationLossModel>& model)
{
    const NodeContainer nodes(41);
    std::vector<Ptr<MobilityModel>> places;
    for (uint32_t i = 0; i < nodes.GetN(); ++i)
    {
        const auto mobility = CreateObject<ConstantVelocityMobilityModel>();
        mobility->SetPosition(Vector(i, 2.0 * i, 0));
        mobility->SetVelocity(Vector(i > 0 ? 1 : 0, 0, 0));
        nodes.Get(i)->AggregateObject(mobility);
        places.emplace_back(mobility);
    }
    std::size_t receiver = 0;
    for (auto _ : state)
    {
        receiver = receiver % 40 + 1;
        benchmark::DoNotOptimize(model->CalcRxPower(16, places[0], places[receiver]));
    }
}

void
Nakagami(benchmark::State& state)
{
    const DoubleValue m(static_cast<double>(state.range(0)));
    Measure(state,
            CreateObjectWithAttributes<NakagamiPropagationLossModel>("m0", m, "m1", m, "m2", m));
}

void
BlockFading(benchmark::State& state)
{
    Measure(state,
            CreateObjectWithAttributes<FederatedBlockFading>(
                "Shape",
                DoubleValue(static_cast<double>(state.range(0))),
                "Doppler",
                DoubleValue(static_cast<double>(state.range(1)))));
}

void
JakesFading(benchmark::State& state)
{
    Measure(state, CreateObject<FederatedJakesFading>());
}

void
LogDistance(benchmark::State& state)
{
    Measure(state, CreateObject<LogDistancePropagationLossModel>());
}

void
Shadowing(benchmark::State& state)
{
    Measure(state, CreateObject<FederatedShadowing>());
}

BENCHMARK(LogDistance);
BENCHMARK(Nakagami)->Arg(1)->Arg(3);
BENCHMARK(BlockFading)->ArgNames({"m", "Hz"})->Args({1, 5})->Args({1, 0})->Args({3, 5});
BENCHMARK(JakesFading);
BENCHMARK(Shadowing);

} // namespace
