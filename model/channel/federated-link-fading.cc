// SPDX-License-Identifier: GPL-2.0-only

#include "federated-link-fading.h"

#include "ns3/abort.h"
#include "ns3/double.h"
#include "ns3/federated-random.h"
#include "ns3/mobility-model.h"
#include "ns3/node.h"
#include "ns3/simulator.h"

#include <cmath>
#include <cstdint>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(FederatedLinkFading);

namespace
{

constexpr double LIGHT_SPEED = 299792458; // m/s

/** @return the identifier of the node of a mobility model. */
uint32_t
GetNodeId(const Ptr<MobilityModel>& mobility)
{
    const auto node = mobility->GetObject<Node>();
    NS_ABORT_MSG_IF(!node, "FederatedLinkFading: a mobility model without a node has no links");
    return node->GetId();
}

} // namespace

TypeId
FederatedLinkFading::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::FederatedLinkFading")
            .SetParent<PropagationLossModel>()
            .SetGroupName("Federated")
            .AddAttribute("Doppler",
                          "Doppler frequency of all links in Hz; 0: that of the relative speed of "
                          "the two nodes.",
                          DoubleValue(0),
                          MakeDoubleAccessor(&FederatedLinkFading::m_doppler),
                          MakeDoubleChecker<double>(0, 1e6))
            .AddAttribute("Frequency",
                          "Of the carrier in Hz, for the Doppler frequency of a speed.",
                          DoubleValue(5.18e9),
                          MakeDoubleAccessor(&FederatedLinkFading::m_frequency),
                          MakeDoubleChecker<double>(1));
    return tid;
}

FederatedLinkFading::FederatedLinkFading()
    : m_random(CreateObject<UniformRandomVariable>()),
      m_seed(FederatedRandom::DrawSeed(*m_random))
{
}

double
FederatedLinkFading::GetDoppler(const Ptr<MobilityModel>& a, const Ptr<MobilityModel>& b) const
{
    return m_doppler > 0 ? m_doppler : a->GetRelativeSpeed(b) * m_frequency / LIGHT_SPEED;
}

double
FederatedLinkFading::GetGain(const Ptr<MobilityModel>& a,
                             const Ptr<MobilityModel>& b,
                             const Time& time) const
{
    const bool isOrdered = GetNodeId(a) <= GetNodeId(b);
    const Ptr<MobilityModel>& low = isOrdered ? a : b;
    const Ptr<MobilityModel>& high = isOrdered ? b : a;
    const double doppler = GetDoppler(a, b);
    const uint64_t place = doppler > 0 ? 0 : GetPlace(low->GetPosition(), high->GetPosition());
    return DoGetGain({m_seed, GetNodeId(low), GetNodeId(high), doppler, place, time.GetSeconds()});
}

uint64_t
FederatedLinkFading::GetPlace(const Vector& from, const Vector& to) const
{
    const auto count = [this](double distance)
    {
        const double steps = distance * 2 * m_frequency / LIGHT_SPEED;
        return static_cast<uint32_t>(static_cast<int64_t>(std::floor(steps)));
    };
    const uint64_t yz = uint64_t{count(to.y - from.y)} << 32 | count(to.z - from.z);
    FederatedRandom random(m_seed, FederatedRandom::PLACE, count(to.x - from.x), yz);
    return uint64_t{1} << 63 | random();
}

double
FederatedLinkFading::DoCalcRxPower(double power, Ptr<MobilityModel> a, Ptr<MobilityModel> b) const
{
    return power + 10 * std::log10(GetGain(a, b, Simulator::Now()));
}

int64_t
FederatedLinkFading::DoAssignStreams(int64_t stream)
{
    m_random->SetStream(stream);
    m_seed = FederatedRandom::DrawSeed(*m_random);
    return 1;
}

} // namespace ns3
