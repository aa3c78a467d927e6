// SPDX-License-Identifier: GPL-2.0-only

#include "gradient-inversion.h"

#include "ns3/abort.h"
#include "ns3/mixed-derivative-kernel.h"

#include <cmath>
#include <limits>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(GradientInversion);

TypeId
GradientInversion::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::GradientInversion").SetParent<Object>().SetGroupName("Federated");
    return tid;
}

bool
GradientInversion::IsApplicable(const LearningModel& model,
                                const SampleShape& shape,
                                std::string& error) const
{
    const std::string lack = model.HasDoubleKernel(shape)
                                 ? DoFindLack(*model.CreateDoubleKernel(shape))
                                 : "that counts in double";
    if (!lack.empty())
    {
        error = GetInstanceTypeId().GetName() + " needs a model " + lack + ", which " +
                model.GetInstanceTypeId().GetName() + " is not.";
    }
    return lack.empty();
}

InversionResult
GradientInversion::Reconstruct(const GradientObservation& observation,
                               ModelKernel<double>& kernel,
                               const SampleShape& shape,
                               FederatedRandom& random,
                               const Watcher& watcher) const
{
    const std::size_t d = kernel.GetDimension();
    NS_ABORT_MSG_IF(observation.model.size() != d || observation.update.size() != d ||
                        (!observation.captured.empty() && observation.captured.size() != d),
                    "GradientInversion: the model has " << d << " parameters, the observation not");
    NS_ABORT_MSG_IF(shape.rows * shape.columns != kernel.GetFeatures() ||
                        shape.classes != kernel.GetClasses(),
                    "GradientInversion: the shape is not that of the model");
    const std::string lack = DoFindLack(kernel);
    NS_ABORT_MSG_IF(!lack.empty(), GetInstanceTypeId().GetName() << " needs a model " << lack);
    const double scale =
        -1 / (observation.learningRate * observation.steps * observation.clipFactor);
    NS_ABORT_MSG_IF(!std::isfinite(scale),
                    "GradientInversion: learning rate, steps and clip factor must be above 0");

    Target target;
    target.model.assign(observation.model.begin(), observation.model.end());
    target.gradient.resize(d);
    target.known.resize(d);
    for (std::size_t j = 0; j < d; ++j)
    {
        const bool captured = observation.captured.empty() || observation.captured[j];
        if (captured && std::isfinite(observation.update[j]))
        {
            target.gradient[j] = scale * observation.update[j];
            target.known[j] = 1;
        }
    }
    return DoReconstruct(target, kernel, shape, random, watcher);
}

uint8_t
GradientInversion::InferLabel(const Target& target, const ModelKernel<double>& kernel)
{
    const ModelLayer& layer = kernel.GetLayers().back();
    const std::size_t classes = layer.GetUnits();
    uint8_t label = 0;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t k = 0; k < classes; ++k)
    {
        double sum = 0;
        double count = 0;
        for (std::size_t i = 0; i < layer.fanIn; ++i)
        {
            const std::size_t j = layer.begin + i * classes + k;
            sum += target.gradient[j];
            count += target.known[j];
        }
        if (count > 0 && sum / count < least)
        {
            least = sum / count;
            label = static_cast<uint8_t>(k);
        }
    }
    return label;
}

std::string
GradientInversion::FindLackForLabel(const ModelKernel<double>& kernel)
{
    const ModelLayer& layer = kernel.GetLayers().back();
    return layer.isDense && layer.GetUnits() == kernel.GetClasses()
               ? ""
               : "whose last layer is fully connected";
}

std::string
GradientInversion::FindLackForDerivatives(const ModelKernel<double>& kernel)
{
    const bool has = dynamic_cast<const MixedDerivativeKernel<double>*>(&kernel) != nullptr;
    return has ? "" : "with mixed derivatives";
}

} // namespace ns3
