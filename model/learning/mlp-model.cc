// SPDX-License-Identifier: GPL-2.0-only

#include "mlp-model.h"

#include "dense-kernel.h"

#include "ns3/abort.h"
#include "ns3/federated-number.h"
#include "ns3/string.h"

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(MlpModel);

TypeId
MlpModel::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::MlpModel")
            .SetParent<LearningModel>()
            .SetGroupName("Federated")
            .AddConstructor<MlpModel>()
            .AddAttribute(
                "HiddenLayers",
                "Units of each hidden layer, separated by commas, as in 300,100; empty "
                "for none.",
                StringValue("200"),
                MakeStringAccessor(&MlpModel::SetHiddenLayers, &MlpModel::GetHiddenLayers),
                MakeStringChecker());
    return tid;
}

void
MlpModel::SetHiddenLayers(const std::string& sizes)
{
    NS_ABORT_MSG_IF(!FederatedNumber::ReadCounts(sizes, std::size_t{1}, MAX_WIDTH, m_hiddenWidths),
                    "MlpModel: HiddenLayers is '"
                        << sizes << "', not a list such as 300,100 of whole numbers from 1 to "
                        << MAX_WIDTH);
    m_hiddenLayers = sizes;
}

std::string
MlpModel::GetHiddenLayers() const
{
    return m_hiddenLayers;
}

std::vector<std::size_t>
MlpModel::GetWidths(const SampleShape& shape) const
{
    std::vector<std::size_t> widths{shape.rows * shape.columns};
    widths.insert(widths.end(), m_hiddenWidths.begin(), m_hiddenWidths.end());
    widths.push_back(shape.classes);
    return widths;
}

std::unique_ptr<ModelKernel<float>>
MlpModel::DoCreateKernel(const SampleShape& shape) const
{
    return std::make_unique<federated::DenseKernel<float>>(GetWidths(shape), 0);
}

std::unique_ptr<ModelKernel<double>>
MlpModel::DoCreateDoubleKernel(const SampleShape& shape) const
{
    return std::make_unique<federated::DenseKernel<double>>(GetWidths(shape), 0);
}

} // namespace ns3
