// SPDX-License-Identifier: GPL-2.0-only

#include "federated-block-fading.h"

#include "ns3/abort.h"
#include "ns3/double.h"
#include "ns3/federated-random.h"
#include "ns3/mobility-model.h"
#include "ns3/node.h"
#include "ns3/simulator.h"

#include <boost/random/gamma_distribution.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(FederatedBlockFading);

namespace
{

constexpr double COHERENCE = 0.423;       // coherence time times Doppler frequency
constexpr double LIGHT_SPEED = 299792458; // m/s
constexpr uint64_t OFFSET = std::numeric_limits<uint64_t>::max(); // no block has this number

/** @return the identifier of the node of a mobility model. */
uint32_t
GetNodeId(const Ptr<MobilityModel>& mobility)
{
    const auto node = mobility->GetObject<Node>();
    NS_ABORT_MSG_IF(!node, "FederatedBlockFading: a mobility model without a node has no links");
    return node->GetId();
}

} // namespace

TypeId
FederatedBlockFading::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::FederatedBlockFading")
            .SetParent<PropagationLossModel>()
            .SetGroupName("Federated")
            .AddConstructor<FederatedBlockFading>()
            .AddAttribute("Shape",
                          "m of Nakagami-m fading, at least 0.5; 1 is Rayleigh.",
                          DoubleValue(1),
                          MakeDoubleAccessor(&FederatedBlockFading::m_shape),
                          MakeDoubleChecker<double>(0.5, 1000))
            .AddAttribute("Doppler",
                          "Doppler frequency of all links in Hz; 0: that of the relative speed of "
                          "the two nodes.",
                          DoubleValue(0),
                          MakeDoubleAccessor(&FederatedBlockFading::m_doppler),
                          MakeDoubleChecker<double>(0, 1e6))
            .AddAttribute("Frequency",
                          "Of the carrier in Hz, for the Doppler frequency of a speed.",
                          DoubleValue(5.18e9),
                          MakeDoubleAccessor(&FederatedBlockFading::m_frequency),
                          MakeDoubleChecker<double>(1));
    return tid;
}

FederatedBlockFading::FederatedBlockFading()
    : m_random(CreateObject<UniformRandomVariable>()),
      m_seed(FederatedRandom::DrawSeed(*m_random))
{
}

double
FederatedBlockFading::GetDoppler(const Ptr<MobilityModel>& a, const Ptr<MobilityModel>& b) const
{
    return m_doppler > 0 ? m_doppler : a->GetRelativeSpeed(b) * m_frequency / LIGHT_SPEED;
}

double
FederatedBlockFading::GetGain(const Ptr<MobilityModel>& a,
                              const Ptr<MobilityModel>& b,
                              const Time& time) const
{
    const auto [low, high] = std::minmax({GetNodeId(a), GetNodeId(b)});
    uint64_t block = 0;
    const double doppler = GetDoppler(a, b);
    if (doppler > 0)
    {
        const double offset =
            FederatedRandom(m_seed, FederatedRandom::FADING, low, OFFSET, high).Uniform();
        block = static_cast<uint64_t>(time.GetSeconds() * doppler / COHERENCE + offset);
    }
    FederatedRandom random(m_seed, FederatedRandom::FADING, low, block, high);
    return boost::random::gamma_distribution<double>(m_shape, 1 / m_shape)(random);
}

double
FederatedBlockFading::DoCalcRxPower(double power, Ptr<MobilityModel> a, Ptr<MobilityModel> b) const
{
    return power + 10 * std::log10(GetGain(a, b, Simulator::Now()));
}

int64_t
FederatedBlockFading::DoAssignStreams(int64_t stream)
{
    m_random->SetStream(stream);
    m_seed = FederatedRandom::DrawSeed(*m_random);
    return 1;
}

} // namespace ns3
