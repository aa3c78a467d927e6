// SPDX-License-Identifier: GPL-2.0-only

#include "simple-kernel.h"

#include "softmax.h"

namespace ns3::federated
{

SimpleKernel::SimpleKernel(const SimpleModel* model, const SampleShape& shape)
    : ModelKernel<float>(model->GetDimension(shape), shape),
      m_model(model),
      m_shape(shape)
{
}

SimpleModel::Sample
SimpleKernel::GetSample(const SampleBatch<float>& batch, std::size_t index) const
{
    return {batch.inputs + index * batch.features, batch.features, m_shape};
}

const float*
SimpleKernel::DoComputeLogits(const SampleBatch<float>& batch, const float* w)
{
    m_logits.resize(batch.count * m_shape.classes);
    for (std::size_t s = 0; s < batch.count; ++s)
    {
        m_model->ComputeLogits(GetSample(batch, s), w, m_logits.data() + s * m_shape.classes);
    }
    return m_logits.data();
}

float
SimpleKernel::DoAddGradient(const SampleBatch<float>& batch,
                            const float* w,
                            float factor,
                            float* target)
{
    DoComputeLogits(batch, w);
    const auto count = static_cast<float>(batch.count);
    m_gradient.assign(GetDimension(), 0);
    float loss = 0;
    for (std::size_t s = 0; s < batch.count; ++s)
    {
        float* delta = m_logits.data() + s * m_shape.classes;
        loss += SoftmaxGradient(delta, m_shape.classes, batch.labels[s], factor / count);
        m_model->AddGradient(GetSample(batch, s), w, delta, m_gradient.data());
    }
    for (std::size_t j = 0; j < m_gradient.size(); ++j)
    {
        target[j] += m_gradient[j];
    }
    return loss / count;
}

} // namespace ns3::federated
