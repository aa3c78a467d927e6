// SPDX-License-Identifier: GPL-2.0-only

#include "federated-jakes-fading.h"

#include "ns3/federated-random.h"

#include <Eigen/Core>

#include <cmath>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(FederatedJakesFading);

TypeId
FederatedJakesFading::GetTypeId()
{
    static TypeId tid = TypeId("ns3::FederatedJakesFading")
                            .SetParent<FederatedLinkFading>()
                            .SetGroupName("Federated")
                            .AddConstructor<FederatedJakesFading>();
    return tid;
}

double
FederatedJakesFading::DoGetGain(const Link& link) const
{
    using Waves = Eigen::Array<float, WAVES, 1>;
    constexpr double TURN = 2 * M_PI;
    FederatedRandom random(link.seed, FederatedRandom::FADING, link.low, link.place, link.high);
    Waves directions;
    for (unsigned n = 0; n < WAVES; ++n)
    {
        directions[n] = static_cast<float>(TURN * (n + random.Uniform()) / WAVES);
    }
    // In turns and double: a simulation may last for many periods, of which only the last counts.
    const Eigen::Array<double, WAVES, 1> turns =
        directions.cos().cast<double>() * (link.doppler * link.seconds);
    Waves phases;
    for (unsigned n = 0; n < WAVES; ++n)
    {
        const double phase = turns[n] + random.Uniform();
        phases[n] = static_cast<float>(TURN * (phase - std::floor(phase)));
    }
    const float real = phases.cos().sum();
    const float imaginary = phases.sin().sum();
    return (double{real} * real + double{imaginary} * imaginary) / WAVES;
}

} // namespace ns3
