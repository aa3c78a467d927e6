// SPDX-License-Identifier: GPL-2.0-only

#include "federated-shadowing.h"

#include "ns3/double.h"
#include "ns3/federated-random.h"
#include "ns3/mobility-model.h"

#include <boost/random/normal_distribution.hpp>

#include <cmath>
#include <map>
#include <tuple>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(FederatedShadowing);

namespace
{

constexpr double CELLS = 0.9; // of the grid in Distance, so that R(Distance) = 1/e

} // namespace

TypeId
FederatedShadowing::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::FederatedShadowing")
            .SetParent<PropagationLossModel>()
            .SetGroupName("Federated")
            .AddConstructor<FederatedShadowing>()
            .AddAttribute("Sigma",
                          "Standard deviation of the loss in dB.",
                          DoubleValue(4),
                          MakeDoubleAccessor(&FederatedShadowing::m_sigma),
                          MakeDoubleChecker<double>(0, 100))
            .AddAttribute("Distance",
                          "Meters that one end of a link moves until the correlation is 1/e.",
                          DoubleValue(20),
                          MakeDoubleAccessor(&FederatedShadowing::m_distance),
                          MakeDoubleChecker<double>(1e-3, 1e6));
    return tid;
}

FederatedShadowing::FederatedShadowing()
    : m_random(CreateObject<UniformRandomVariable>())
{
    DrawSeed();
}

void
FederatedShadowing::DrawSeed()
{
    m_seed = FederatedRandom::DrawSeed(*m_random);
    FederatedRandom random(m_seed); // not one of a pair of corners, which are for SHADOWING
    m_column = random.Uniform();
    m_row = random.Uniform();
}

std::array<FederatedShadowing::Corner, 4>
FederatedShadowing::GetCorners(const Vector& position) const
{
    const double x = position.x * CELLS / m_distance + m_column;
    const double y = position.y * CELLS / m_distance + m_row;
    const double right = x - std::floor(x); // of the cell, 0 to 1
    const double upper = y - std::floor(y);
    const auto column = static_cast<uint32_t>(static_cast<int64_t>(std::floor(x)));
    const auto row = static_cast<uint32_t>(static_cast<int64_t>(std::floor(y)));
    return {{{column, row, (1 - right) * (1 - upper)},
             {column + 1, row, right * (1 - upper)},
             {column, row + 1, (1 - right) * upper},
             {column + 1, row + 1, right * upper}}};
}

double
FederatedShadowing::GetLoss(const Vector& a, const Vector& b) const
{
    // In a fixed order, so that both directions have the same rounding errors. Where both ends are
    // in the same part of the grid, a pair of corners can occur twice.
    const bool isSwapped = std::tie(b.x, b.y) < std::tie(a.x, a.y);
    std::map<std::array<uint32_t, 4>, double> pairs;
    for (const Corner& first : GetCorners(isSwapped ? b : a))
    {
        for (const Corner& second : GetCorners(isSwapped ? a : b))
        {
            const bool isOrdered = std::tie(first.x, first.y) < std::tie(second.x, second.y);
            const Corner& low = isOrdered ? first : second;
            const Corner& high = isOrdered ? second : first;
            pairs[{low.x, low.y, high.x, high.y}] += first.weight * second.weight;
        }
    }
    double sum = 0;
    double variance = 0;
    for (const auto& [pair, weight] : pairs)
    {
        const uint64_t middle = uint64_t{pair[1]} << 32 | pair[2];
        FederatedRandom random(m_seed, FederatedRandom::SHADOWING, pair[0], middle, pair[3]);
        sum += weight * boost::random::normal_distribution<double>()(random);
        variance += weight * weight;
    }
    return m_sigma * sum / std::sqrt(variance);
}

double
FederatedShadowing::DoCalcRxPower(double power, Ptr<MobilityModel> a, Ptr<MobilityModel> b) const
{
    return power - GetLoss(a->GetPosition(), b->GetPosition());
}

int64_t
FederatedShadowing::DoAssignStreams(int64_t stream)
{
    m_random->SetStream(stream);
    DrawSeed();
    return 1;
}

} // namespace ns3
