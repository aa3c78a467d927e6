// SPDX-License-Identifier: GPL-2.0-only

#include "logistic-model.h"

#include "dense-kernel.h"

#include "ns3/double.h"

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(LogisticModel);

TypeId
LogisticModel::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::LogisticModel")
            .SetParent<LearningModel>()
            .SetGroupName("Federated")
            .AddConstructor<LogisticModel>()
            .AddAttribute("L2",
                          "Weight of the term L2/2 |w|^2 that the loss contains; it is the "
                          "constant of strong convexity.",
                          DoubleValue(0.01),
                          MakeDoubleAccessor(&LogisticModel::m_l2),
                          MakeDoubleChecker<double>(0, 1e6));
    return tid;
}

std::unique_ptr<ModelKernel<float>>
LogisticModel::DoCreateKernel(const SampleShape& shape) const
{
    const std::vector<std::size_t> widths{shape.rows * shape.columns, shape.classes};
    return std::make_unique<federated::DenseKernel<float>>(widths, m_l2);
}

std::unique_ptr<ModelKernel<double>>
LogisticModel::DoCreateDoubleKernel(const SampleShape& shape) const
{
    const std::vector<std::size_t> widths{shape.rows * shape.columns, shape.classes};
    return std::make_unique<federated::DenseKernel<double>>(widths, m_l2);
}

} // namespace ns3
