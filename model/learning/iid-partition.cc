// SPDX-License-Identifier: GPL-2.0-only

#include "iid-partition.h"

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(IidPartition);

TypeId
IidPartition::GetTypeId()
{
    static TypeId tid = TypeId("ns3::IidPartition")
                            .SetParent<FederatedPartition>()
                            .SetGroupName("Federated")
                            .AddConstructor<IidPartition>();
    return tid;
}

bool
IidPartition::DoSplit(const PartitionProblem& problem,
                      FederatedRandom& /* random */,
                      Parts& parts,
                      std::string& /* error */) const
{
    const auto samples = static_cast<uint32_t>(problem.order.size());
    HandOut(problem.order, GetEqualSizes(samples, problem.devices), parts);
    return true;
}

} // namespace ns3
