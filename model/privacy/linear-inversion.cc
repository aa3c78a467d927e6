// SPDX-License-Identifier: GPL-2.0-only

#include "linear-inversion.h"

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(LinearInversion);

TypeId
LinearInversion::GetTypeId()
{
    static TypeId tid = TypeId("ns3::LinearInversion")
                            .SetParent<GradientInversion>()
                            .SetGroupName("Federated")
                            .AddConstructor<LinearInversion>();
    return tid;
}

std::string
LinearInversion::DoFindLack(const ModelKernel<double>& kernel) const
{
    const ModelLayer& layer = kernel.GetLayers().front();
    return layer.isDense && layer.fanIn == kernel.GetFeatures()
               ? FindLackForLabel(kernel)
               : "whose first layer is fully connected";
}

InversionResult
LinearInversion::DoReconstruct(const Target& target,
                               ModelKernel<double>& kernel,
                               const SampleShape& /* shape */,
                               FederatedRandom& /* random */,
                               const Watcher& /* watcher */) const
{
    const ModelLayer& layer = kernel.GetLayers().front();
    const std::size_t units = layer.GetUnits();
    const double* biases = target.gradient.data() + layer.begin + layer.fanIn * units;
    InversionResult result;
    result.label = InferLabel(target, kernel);
    result.image.resize(layer.fanIn);
    for (std::size_t i = 0; i < layer.fanIn; ++i)
    {
        const double* weights = target.gradient.data() + layer.begin + i * units;
        const double* known = target.known.data() + layer.begin + i * units;
        double product = 0;
        double square = 0;
        for (std::size_t k = 0; k < units; ++k) // what is not known is 0
        {
            product += biases[k] * weights[k];
            square += known[k] * biases[k] * biases[k];
        }
        result.image[i] = square > 0 ? product / square : 0;
    }
    return result;
}

} // namespace ns3
