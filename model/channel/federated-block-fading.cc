// SPDX-License-Identifier: GPL-2.0-only

#include "federated-block-fading.h"

#include "ns3/double.h"
#include "ns3/federated-random.h"

#include <boost/random/gamma_distribution.hpp>

#include <cstdint>
#include <limits>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(FederatedBlockFading);

namespace
{

constexpr double COHERENCE = 0.423; // coherence time times Doppler frequency
constexpr uint64_t OFFSET = std::numeric_limits<uint64_t>::max(); // no block has this number

} // namespace

TypeId
FederatedBlockFading::GetTypeId()
{
    static TypeId tid = TypeId("ns3::FederatedBlockFading")
                            .SetParent<FederatedLinkFading>()
                            .SetGroupName("Federated")
                            .AddConstructor<FederatedBlockFading>()
                            .AddAttribute("Shape",
                                          "m of Nakagami-m fading, at least 0.5; 1 is Rayleigh.",
                                          DoubleValue(1),
                                          MakeDoubleAccessor(&FederatedBlockFading::m_shape),
                                          MakeDoubleChecker<double>(0.5, 1000));
    return tid;
}

double
FederatedBlockFading::DoGetGain(const Link& link) const
{
    uint64_t block = link.place;
    if (link.doppler > 0)
    {
        const double offset =
            FederatedRandom(link.seed, FederatedRandom::FADING, link.low, OFFSET, link.high)
                .Uniform();
        block = static_cast<uint64_t>(link.seconds * link.doppler / COHERENCE + offset);
    }
    FederatedRandom random(link.seed, FederatedRandom::FADING, link.low, block, link.high);
    return boost::random::gamma_distribution<double>(m_shape, 1 / m_shape)(random);
}

} // namespace ns3
