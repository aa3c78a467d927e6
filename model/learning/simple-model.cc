// SPDX-License-Identifier: GPL-2.0-only

#include "simple-model.h"

#include "simple-kernel.h"

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(SimpleModel);

TypeId
SimpleModel::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::SimpleModel").SetParent<LearningModel>().SetGroupName("Federated");
    return tid;
}

std::size_t
SimpleModel::GetDimension(const SampleShape& shape) const
{
    return DoGetDimension(shape);
}

void
SimpleModel::ComputeLogits(const Sample& sample, const float* w, float* logits) const
{
    DoComputeLogits(sample, w, logits);
}

void
SimpleModel::AddGradient(const Sample& sample,
                         const float* w,
                         const float* delta,
                         float* gradient) const
{
    DoAddGradient(sample, w, delta, gradient);
}

std::unique_ptr<ModelKernel<float>>
SimpleModel::DoCreateKernel(const SampleShape& shape) const
{
    return std::make_unique<federated::SimpleKernel>(this, shape);
}

} // namespace ns3
