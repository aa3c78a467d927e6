// SPDX-License-Identifier: GPL-2.0-only

#include "dlg-inversion.h"

#include "lbfgs.h"

#include "ns3/boolean.h"
#include "ns3/dot-product.h"
#include "ns3/double.h"
#include "ns3/mixed-derivative-kernel.h"
#include "ns3/softmax.h"
#include "ns3/uinteger.h"

#include <boost/random/normal_distribution.hpp>

#include <algorithm>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(DlgInversion);

namespace
{

constexpr std::size_t BLOCK = 1024; // coordinates that stay in the nearest cache

} // namespace

TypeId
DlgInversion::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::DlgInversion")
            .SetParent<GradientInversion>()
            .SetGroupName("Federated")
            .AddConstructor<DlgInversion>()
            .AddAttribute("Iterations",
                          "Outer iterations: calls of the optimizer.",
                          UintegerValue(100),
                          MakeUintegerAccessor(&DlgInversion::m_iterations),
                          MakeUintegerChecker<uint32_t>(1, 1000000))
            .AddAttribute("InnerIterations",
                          "Steps of the optimizer in each outer iteration.",
                          UintegerValue(20),
                          MakeUintegerAccessor(&DlgInversion::m_innerIterations),
                          MakeUintegerChecker<uint32_t>(1, 1000))
            .AddAttribute("History",
                          "Steps that L-BFGS remembers.",
                          UintegerValue(100),
                          MakeUintegerAccessor(&DlgInversion::m_history),
                          MakeUintegerChecker<uint32_t>(1, 10000))
            .AddAttribute("Step",
                          "Length of a step, in units of the quasi-Newton step.",
                          DoubleValue(1),
                          MakeDoubleAccessor(&DlgInversion::m_step),
                          MakeDoubleChecker<double>(1e-6, 10))
            .AddAttribute("InferLabel",
                          "Whether the label is inferred from the last layer's gradient (iDLG) "
                          "instead of being searched.",
                          BooleanValue(false),
                          MakeBooleanAccessor(&DlgInversion::m_inferLabel),
                          MakeBooleanChecker());
    return tid;
}

std::string
DlgInversion::DoFindLack(const ModelKernel<double>& kernel) const
{
    const std::string lack = FindLackForDerivatives(kernel);
    return lack.empty() && m_inferLabel ? FindLackForLabel(kernel) : lack;
}

InversionResult
DlgInversion::DoReconstruct(const Target& target,
                            ModelKernel<double>& kernel,
                            const SampleShape& shape,
                            FederatedRandom& random,
                            const Watcher& watcher) const
{
    auto& derivatives = dynamic_cast<MixedDerivativeKernel<double>&>(kernel);
    const std::size_t d = kernel.GetDimension();
    const std::size_t pixels = kernel.GetFeatures();
    const std::size_t scores = m_inferLabel ? 0 : shape.classes;
    InversionResult result;
    std::vector<double> label(shape.classes);
    if (m_inferLabel)
    {
        result.label = InferLabel(target, kernel);
        label[result.label] = 1;
    }

    std::vector<double> residual(d);
    std::vector<double> byLabel(shape.classes);
    const auto evaluate = [&](const std::vector<double>& point, std::vector<double>& gradient)
    {
        if (scores > 0)
        {
            federated::Softmax(point.data() + pixels, scores, label.data());
        }
        derivatives.ComputeSoftGradient(
            point.data(), label.data(), target.model.data(), residual.data());
        double objective = 0;
        for (std::size_t begin = 0; begin < d; begin += BLOCK)
        {
            const std::size_t end = std::min(begin + BLOCK, d);
            for (std::size_t j = begin; j < end; ++j)
            {
                residual[j] = target.known[j] * (residual[j] - target.gradient[j]);
            }
            objective += federated::DotProduct(&residual[begin], &residual[begin], end - begin);
        }
        // Half of dphi/dG, so what follows is half of the derivative.
        derivatives.ComputeMixedDerivative(
            residual.data(), target.model.data(), gradient.data(), byLabel.data());
        const double mean = federated::DotProduct(label.data(), byLabel.data(), scores);
        for (std::size_t k = 0; k < scores; ++k)
        {
            gradient[pixels + k] = label[k] * (byLabel[k] - mean);
        }
        for (double& value : gradient)
        {
            value *= 2;
        }
        return objective;
    };

    boost::random::normal_distribution<double> normal;
    std::vector<double> point(pixels + scores);
    std::generate(point.begin(), point.end(), [&]() { return normal(random); });
    const auto getImage = [&]()
    { return std::vector<double>(point.begin(), point.begin() + pixels); };
    if (watcher)
    {
        watcher(0, getImage());
    }
    federated::Lbfgs optimizer(point.size(), m_history, m_step);
    while (result.outerIterations < m_iterations && !result.diverged)
    {
        ++result.outerIterations;
        result.diverged = !optimizer.Run(evaluate, m_innerIterations, point);
        if (watcher)
        {
            watcher(result.outerIterations, getImage());
        }
    }
    result.innerIterations = optimizer.GetSteps();
    result.evaluations = optimizer.GetEvaluations();
    result.objective = optimizer.GetObjective();
    result.image = getImage();
    if (scores > 0)
    {
        result.label = static_cast<uint8_t>(std::max_element(point.begin() + pixels, point.end()) -
                                            point.begin() - pixels);
    }
    return result;
}

} // namespace ns3
