// SPDX-License-Identifier: GPL-2.0-only

#include "learning-model.h"

#include "ns3/abort.h"

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(LearningModel);

namespace
{

/**
 * Stop a script that asks for a model of nothing.
 * @param shape Size of an image and number of classes.
 */
void
CheckShape(const SampleShape& shape)
{
    NS_ABORT_MSG_IF(shape.rows == 0 || shape.columns == 0,
                    "A model needs images of at least one pixel, not " << shape.rows << " x "
                                                                       << shape.columns);
    NS_ABORT_MSG_IF(shape.classes < 1 || shape.classes > 256,
                    "A model needs 1 to 256 classes, not " << shape.classes);
}

} // namespace

TypeId
LearningModel::GetTypeId()
{
    static TypeId tid = TypeId("ns3::LearningModel").SetParent<Object>().SetGroupName("Federated");
    return tid;
}

std::unique_ptr<ModelKernel<float>>
LearningModel::CreateKernel(const SampleShape& shape) const
{
    CheckShape(shape);
    auto kernel = DoCreateKernel(shape);
    NS_ABORT_MSG_IF(!kernel, GetInstanceTypeId().GetName() << " made no kernel");
    return kernel;
}

bool
LearningModel::HasDoubleKernel(const SampleShape& shape) const
{
    CheckShape(shape);
    return DoCreateDoubleKernel(shape) != nullptr;
}

std::unique_ptr<ModelKernel<double>>
LearningModel::CreateDoubleKernel(const SampleShape& shape) const
{
    CheckShape(shape);
    auto kernel = DoCreateDoubleKernel(shape);
    NS_ABORT_MSG_IF(!kernel,
                    GetInstanceTypeId().GetName()
                        << " counts in float only: it has no kernel in double, as attacks and "
                           "theory need it");
    return kernel;
}

std::unique_ptr<ModelKernel<double>>
LearningModel::DoCreateDoubleKernel(const SampleShape& /* shape */) const
{
    return nullptr;
}

} // namespace ns3
