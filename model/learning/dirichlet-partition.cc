// SPDX-License-Identifier: GPL-2.0-only

#include "dirichlet-partition.h"

#include "dirichlet-sizes.h"

#include "ns3/double.h"

namespace ns3
{

using federated::DirichletSizes;

NS_OBJECT_ENSURE_REGISTERED(DirichletPartition);

TypeId
DirichletPartition::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::DirichletPartition")
            .SetParent<FederatedPartition>()
            .SetGroupName("Federated")
            .AddConstructor<DirichletPartition>()
            .AddAttribute(
                "Alpha",
                "Parameter of the Dirichlet distribution of the shares of a class: small "
                "is skewed, large approaches equal shares.",
                DoubleValue(0.5),
                MakeDoubleAccessor(&DirichletPartition::m_alpha),
                MakeDoubleChecker<double>(DirichletSizes::MIN_ALPHA, DirichletSizes::MAX_ALPHA));
    return tid;
}

bool
DirichletPartition::DoSplit(const PartitionProblem& problem,
                            FederatedRandom& random,
                            Parts& parts,
                            std::string& /* error */) const
{
    for (const Indices& members : ListByLabel(problem))
    {
        const auto size = static_cast<uint32_t>(members.size());
        HandOut(members, DirichletSizes::Draw(size, problem.devices, m_alpha, random), parts);
    }
    DirichletSizes::FillEmpty(parts);
    return true;
}

} // namespace ns3
