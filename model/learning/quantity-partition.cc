// SPDX-License-Identifier: GPL-2.0-only

#include "quantity-partition.h"

#include "dirichlet-sizes.h"

#include "ns3/double.h"

namespace ns3
{

using federated::DirichletSizes;

NS_OBJECT_ENSURE_REGISTERED(QuantityPartition);

TypeId
QuantityPartition::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::QuantityPartition")
            .SetParent<FederatedPartition>()
            .SetGroupName("Federated")
            .AddConstructor<QuantityPartition>()
            .AddAttribute(
                "Alpha",
                "Parameter of the Dirichlet distribution of the numbers of samples: small "
                "is skewed, large approaches equal numbers.",
                DoubleValue(0.5),
                MakeDoubleAccessor(&QuantityPartition::m_alpha),
                MakeDoubleChecker<double>(DirichletSizes::MIN_ALPHA, DirichletSizes::MAX_ALPHA));
    return tid;
}

bool
QuantityPartition::DoSplit(const PartitionProblem& problem,
                           FederatedRandom& random,
                           Parts& parts,
                           std::string& /* error */) const
{
    const auto samples = static_cast<uint32_t>(problem.order.size());
    HandOut(problem.order, DirichletSizes::Draw(samples, problem.devices, m_alpha, random), parts);
    DirichletSizes::FillEmpty(parts);
    return true;
}

} // namespace ns3
