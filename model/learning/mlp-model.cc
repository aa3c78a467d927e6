// SPDX-License-Identifier: GPL-2.0-only

#include "mlp-model.h"

#include "dense-kernel.h"

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

bool
MlpModel::SetHiddenLayers(const std::string& sizes)
{
    constexpr std::size_t LIMIT = 65535;
    std::vector<std::size_t> widths;
    std::size_t width = 0;
    for (char c : sizes.empty() ? sizes : sizes + ',')
    {
        if (c == ',' && width > 0)
        {
            widths.push_back(width);
            width = 0;
        }
        else if (c >= '0' && c <= '9')
        {
            width = 10 * width + (c - '0');
        }
        else
        {
            return false;
        }
        if (width > LIMIT)
        {
            return false;
        }
    }
    m_hiddenLayers = sizes;
    m_hiddenWidths = widths;
    return true;
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
    return std::make_unique<DenseKernel<float>>(GetWidths(shape), 0);
}

std::unique_ptr<ModelKernel<double>>
MlpModel::DoCreateDoubleKernel(const SampleShape& shape) const
{
    return std::make_unique<DenseKernel<double>>(GetWidths(shape), 0);
}

} // namespace ns3
