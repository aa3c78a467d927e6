// SPDX-License-Identifier: GPL-2.0-only

#include "model-kernel.h"

#include "softmax.h"

#include "ns3/abort.h"
#include "ns3/assert.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace ns3
{

template <typename Scalar>
ModelKernel<Scalar>::ModelKernel(std::vector<ModelLayer> layers,
                                 std::size_t features,
                                 std::size_t classes,
                                 double initialRange)
    : m_layers(std::move(layers)),
      m_features(features),
      m_classes(classes),
      m_initialRange(initialRange)
{
    std::size_t end = 0;
    for (const ModelLayer& layer : m_layers)
    {
        NS_ABORT_MSG_IF(layer.begin != end || layer.size == 0,
                        "ModelKernel: layer " << layer.name << " has " << layer.size
                                              << " parameters from " << layer.begin
                                              << " on; it must have some, from " << end << " on");
        NS_ABORT_MSG_IF(layer.fanIn == 0 && initialRange == 0,
                        "ModelKernel: layer " << layer.name
                                              << " has no fan-in, which its start depends on");
        end += layer.size;
    }
    NS_ABORT_MSG_IF(end == 0, "ModelKernel: the model has no parameters");
}

template <typename Scalar>
ModelKernel<Scalar>::ModelKernel(std::size_t dimension, const SampleShape& shape)
    : ModelKernel({{"all", 0, dimension, shape.rows * shape.columns}},
                  shape.rows * shape.columns,
                  shape.classes)
{
}

template <typename Scalar>
std::size_t
ModelKernel<Scalar>::GetDimension() const
{
    return m_layers.back().begin + m_layers.back().size;
}

template <typename Scalar>
const std::vector<ModelLayer>&
ModelKernel<Scalar>::GetLayers() const
{
    return m_layers;
}

template <typename Scalar>
void
ModelKernel<Scalar>::Initialize(FederatedRandom& random, Scalar* w) const
{
    for (const ModelLayer& layer : m_layers)
    {
        const double range = m_initialRange > 0 ? m_initialRange : 1 / std::sqrt(layer.fanIn);
        for (std::size_t j = layer.begin; j < layer.begin + layer.size; ++j)
        {
            w[j] = static_cast<Scalar>(range * (2 * random.Uniform() - 1));
        }
    }
}

template <typename Scalar>
Scalar
ModelKernel<Scalar>::AddGradient(const SampleBatch<Scalar>& batch,
                                 const Scalar* w,
                                 Scalar factor,
                                 Scalar* target)
{
    NS_ASSERT_MSG(batch.count > 0, "The gradient of an empty batch is not defined");
    CheckInputs(batch);
    CheckLabels(batch);
    return DoAddGradient(batch, w, factor, target);
}

template <typename Scalar>
void
ModelKernel<Scalar>::Evaluate(const SampleBatch<Scalar>& batch,
                              const Scalar* w,
                              double& lossSum,
                              std::size_t& correct)
{
    CheckInputs(batch);
    CheckLabels(batch);
    const Scalar* logits = DoComputeLogits(batch, w);
    lossSum = static_cast<double>(batch.count) * GetPenalty(w);
    correct = 0;
    for (std::size_t s = 0; s < batch.count; ++s, logits += m_classes)
    {
        const std::size_t label = batch.labels[s];
        lossSum += federated::SoftmaxLoss(logits, m_classes, label);
        correct += std::max_element(logits, logits + m_classes) == logits + label;
    }
}

template <typename Scalar>
void
ModelKernel<Scalar>::Predict(const SampleBatch<Scalar>& batch, const Scalar* w, uint8_t* classes)
{
    CheckInputs(batch);
    const Scalar* logits = DoComputeLogits(batch, w);
    for (std::size_t s = 0; s < batch.count; ++s, logits += m_classes)
    {
        const Scalar* best = std::max_element(logits, logits + m_classes);
        classes[s] = static_cast<uint8_t>(best - logits);
    }
}

template <typename Scalar>
std::size_t
ModelKernel<Scalar>::GetFeatures() const
{
    return m_features;
}

template <typename Scalar>
std::size_t
ModelKernel<Scalar>::GetClasses() const
{
    return m_classes;
}

template <typename Scalar>
void
ModelKernel<Scalar>::CheckInputs(const SampleBatch<Scalar>& batch) const
{
    NS_ABORT_MSG_IF(batch.features != m_features,
                    "ModelKernel: samples have " << batch.features << " inputs, the model "
                                                 << m_features);
}

template <typename Scalar>
void
ModelKernel<Scalar>::CheckLabels(const SampleBatch<Scalar>& batch) const
{
    for (std::size_t s = 0; s < batch.count; ++s)
    {
        NS_ABORT_MSG_IF(batch.labels[s] >= m_classes,
                        "ModelKernel: a sample has the label "
                            << +batch.labels[s] << ", but the model has " << m_classes
                            << " classes");
    }
}

template <typename Scalar>
double
ModelKernel<Scalar>::GetPenalty(const Scalar* w) const
{
    return DoGetPenalty(w);
}

template <typename Scalar>
double
ModelKernel<Scalar>::DoGetPenalty(const Scalar* /* w */) const
{
    return 0;
}

template class ModelKernel<float>;
template class ModelKernel<double>;

} // namespace ns3
