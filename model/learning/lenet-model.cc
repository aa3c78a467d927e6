// SPDX-License-Identifier: GPL-2.0-only

#include "lenet-model.h"

#include "lenet-kernel.h"

#include "ns3/double.h"

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(LeNetModel);

TypeId
LeNetModel::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::LeNetModel")
            .SetParent<LearningModel>()
            .SetGroupName("Federated")
            .AddConstructor<LeNetModel>()
            .AddAttribute("InitialRange",
                          "Parameters start uniform in plus or minus this; 0 means one over the "
                          "square root of the fan-in of their layer. The attack's authors use 0.5.",
                          DoubleValue(0),
                          MakeDoubleAccessor(&LeNetModel::m_initialRange),
                          MakeDoubleChecker<double>(0, 1000));
    return tid;
}

std::unique_ptr<ModelKernel<float>>
LeNetModel::DoCreateKernel(const SampleShape& shape) const
{
    return std::make_unique<federated::LeNetKernel<float>>(shape, m_initialRange);
}

std::unique_ptr<ModelKernel<double>>
LeNetModel::DoCreateDoubleKernel(const SampleShape& shape) const
{
    return std::make_unique<federated::LeNetKernel<double>>(shape, m_initialRange);
}

} // namespace ns3
