// SPDX-License-Identifier: GPL-2.0-only

#include "cosine-inversion.h"

#include "ns3/boolean.h"
#include "ns3/dot-product.h"
#include "ns3/double.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cmath>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(CosineInversion);

namespace
{

/**
 * @param value A number.
 * @return -1, 0 or 1.
 */
double
Sign(double value)
{
    return static_cast<double>((value > 0) - (value < 0));
}

/**
 * Total variation: the mean magnitude of the differences of vertical neighbors, plus that of
 * horizontal ones.
 * @param image The image, row by row.
 * @param shape Its size.
 * @param weight Factor on what is added to the gradient.
 * @param [in,out] gradient Gradient by the image.
 * @return the total variation.
 */
double
AddTotalVariation(const std::vector<double>& image,
                  const SampleShape& shape,
                  double weight,
                  std::vector<double>& gradient)
{
    double total = 0;
    const auto addNeighbors = [&](std::size_t rows, std::size_t columns, std::size_t distance)
    {
        const double share = 1 / static_cast<double>(rows * columns);
        for (std::size_t row = 0; row < rows; ++row)
        {
            for (std::size_t column = 0; column < columns; ++column)
            {
                const std::size_t i = row * shape.columns + column;
                const double difference = image[i + distance] - image[i];
                total += share * std::abs(difference);
                gradient[i + distance] += weight * share * Sign(difference);
                gradient[i] -= weight * share * Sign(difference);
            }
        }
    };
    if (shape.rows > 1)
    {
        addNeighbors(shape.rows - 1, shape.columns, shape.columns);
    }
    if (shape.columns > 1)
    {
        addNeighbors(shape.rows, shape.columns - 1, 1);
    }
    return total;
}

} // namespace

TypeId
CosineInversion::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::CosineInversion")
            .SetParent<GradientInversion>()
            .SetGroupName("Federated")
            .AddConstructor<CosineInversion>()
            .AddAttribute("Iterations",
                          "Steps of the optimizer.",
                          UintegerValue(600),
                          MakeUintegerAccessor(&CosineInversion::m_iterations),
                          MakeUintegerChecker<uint32_t>(1, 1000000))
            .AddAttribute("Step",
                          "Adam's step in the beginning.",
                          DoubleValue(0.1),
                          MakeDoubleAccessor(&CosineInversion::m_step),
                          MakeDoubleChecker<double>(1e-6, 10))
            .AddAttribute("TotalVariation",
                          "Weight of the total variation beside the cosine distance.",
                          DoubleValue(0.01),
                          MakeDoubleAccessor(&CosineInversion::m_totalVariation),
                          MakeDoubleChecker<double>(0, 1000))
            .AddAttribute("Signed",
                          "Whether the optimizer sees only the signs of the derivatives.",
                          BooleanValue(false),
                          MakeBooleanAccessor(&CosineInversion::m_signed),
                          MakeBooleanChecker());
    return tid;
}

InversionResult
CosineInversion::DoReconstruct(const Target& target,
                               ModelKernel<double>& kernel,
                               const SampleShape& shape,
                               FederatedRandom& random) const
{
    const std::size_t d = kernel.GetDimension();
    const std::size_t pixels = kernel.GetFeatures();
    InversionResult result;
    result.label = InferLabel(target, kernel);
    std::vector<double> label(shape.classes);
    label[result.label] = 1;
    std::vector<double> u(d);
    std::vector<double> byLabel(shape.classes);
    const double observed =
        std::sqrt(DotProduct(target.gradient.data(), target.gradient.data(), d));

    // u is the gradient G first, then the derivative of 1 - cos(G, g) by G.
    const auto evaluate = [&](const std::vector<double>& image, std::vector<double>& gradient)
    {
        kernel.ComputeSoftGradient(image.data(), label.data(), target.model.data(), u.data());
        for (std::size_t j = 0; j < d; ++j)
        {
            u[j] *= target.known[j];
        }
        const double square = DotProduct(u.data(), u.data(), d);
        const double norms = std::sqrt(square) * observed;
        double cosine = 0;
        if (norms == 0) // no direction to compare
        {
            std::fill(gradient.begin(), gradient.end(), 0.0);
        }
        else
        {
            cosine = DotProduct(u.data(), target.gradient.data(), d) / norms;
            for (std::size_t j = 0; j < d; ++j)
            {
                u[j] = u[j] * (cosine / square) - target.gradient[j] / norms;
            }
            kernel.ComputeMixedDerivative(
                u.data(), target.model.data(), gradient.data(), byLabel.data());
        }
        return 1 - cosine +
               m_totalVariation * AddTotalVariation(image, shape, m_totalVariation, gradient);
    };

    const double decay1 = 0.9; // Adam's, as everywhere
    const double decay2 = 0.999;
    double power1 = 1;
    double power2 = 1;
    std::vector<double> first(pixels);
    std::vector<double> second(pixels);
    std::vector<double> gradient(pixels);
    std::vector<double> image(pixels);
    std::generate(image.begin(), image.end(), [&random]() { return random.Uniform(); });
    result.image = image;
    for (uint64_t t = 0; t < m_iterations; ++t)
    {
        const double objective = evaluate(image, gradient);
        ++result.evaluations;
        if (!std::isfinite(objective) || !std::all_of(gradient.begin(),
                                                      gradient.end(),
                                                      [](double x) { return std::isfinite(x); }))
        {
            result.diverged = true;
            return result;
        }
        result.objective = objective;
        result.image = image;
        double step = m_step;
        for (uint64_t eighths : {3, 5, 7})
        {
            step *= t >= eighths * m_iterations / 8 ? 0.1 : 1;
        }
        power1 *= decay1;
        power2 *= decay2;
        for (std::size_t i = 0; i < pixels; ++i)
        {
            const double slope = m_signed ? Sign(gradient[i]) : gradient[i];
            first[i] = decay1 * first[i] + (1 - decay1) * slope;
            second[i] = decay2 * second[i] + (1 - decay2) * slope * slope;
            const double move =
                first[i] / (1 - power1) / (std::sqrt(second[i] / (1 - power2)) + 1e-8);
            image[i] = std::clamp(image[i] - step * move, 0.0, 1.0);
        }
        ++result.outerIterations;
        ++result.innerIterations;
    }
    result.image = image;
    return result;
}

} // namespace ns3
