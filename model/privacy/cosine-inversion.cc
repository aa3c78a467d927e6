// SPDX-License-Identifier: GPL-2.0-only

#include "cosine-inversion.h"

#include "ns3/boolean.h"
#include "ns3/dot-product.h"
#include "ns3/double.h"
#include "ns3/mixed-derivative-kernel.h"
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

/** Adam (Kingma and Ba, 2015), with its usual constants. */
class Adam
{
  public:
    /** @param size How many numbers are optimized. */
    explicit Adam(std::size_t size)
        : m_first(size),
          m_second(size)
    {
    }

    /**
     * Take a step.
     * @param gradient The derivatives.
     * @param step Its length.
     * @param isSigned Whether only the signs of the derivatives are used.
     * @param [in,out] point Where the step starts and ends; kept in 0..1.
     */
    void Step(const std::vector<double>& gradient,
              double step,
              bool isSigned,
              std::vector<double>& point)
    {
        m_power1 *= DECAY1;
        m_power2 *= DECAY2;
        for (std::size_t i = 0; i < point.size(); ++i)
        {
            const double slope = isSigned ? Sign(gradient[i]) : gradient[i];
            m_first[i] = DECAY1 * m_first[i] + (1 - DECAY1) * slope;
            m_second[i] = DECAY2 * m_second[i] + (1 - DECAY2) * slope * slope;
            const double move =
                m_first[i] / (1 - m_power1) / (std::sqrt(m_second[i] / (1 - m_power2)) + 1e-8);
            point[i] = std::clamp(point[i] - step * move, 0.0, 1.0);
        }
    }

  private:
    static constexpr double DECAY1 = 0.9;   //!< beta_1.
    static constexpr double DECAY2 = 0.999; //!< beta_2.

    double m_power1 = 1;          //!< beta_1^t.
    double m_power2 = 1;          //!< beta_2^t.
    std::vector<double> m_first;  //!< First moments.
    std::vector<double> m_second; //!< Second moments.
};

} // namespace

/**
 * The distance 1 - cos(G, g) between the gradient G of an image and the observed one g, plus the
 * weighted total variation of the image.
 */
class CosineInversion::Objective
{
  public:
    /**
     * @param target What was observed.
     * @param kernel The model.
     * @param shape Size and classes of the image.
     * @param label The class of the image.
     * @param weight Weight of the total variation.
     */
    Objective(const Target& target,
              MixedDerivativeKernel<double>& kernel,
              const SampleShape& shape,
              std::size_t label,
              double weight)
        : m_target(target),
          m_kernel(kernel),
          m_shape(shape),
          m_weight(weight),
          m_observed(std::sqrt(federated::DotProduct(target.gradient.data(),
                                                     target.gradient.data(),
                                                     kernel.GetDimension()))),
          m_label(shape.classes),
          m_byLabel(shape.classes),
          m_u(kernel.GetDimension())
    {
        m_label[label] = 1;
    }

    /**
     * @param image An image.
     * @param [out] gradient Derivative of the objective by the image.
     * @return the objective.
     */
    double Evaluate(const std::vector<double>& image, std::vector<double>& gradient)
    {
        const std::size_t d = m_u.size();
        // m_u is the gradient G first, then the derivative of 1 - cos(G, g) by G.
        m_kernel.ComputeSoftGradient(
            image.data(), m_label.data(), m_target.model.data(), m_u.data());
        for (std::size_t j = 0; j < d; ++j)
        {
            m_u[j] *= m_target.known[j];
        }
        const double square = federated::DotProduct(m_u.data(), m_u.data(), d);
        const double norms = std::sqrt(square) * m_observed;
        double cosine = 0;
        if (norms == 0) // the cosine is not defined
        {
            std::fill(gradient.begin(), gradient.end(), 0.0);
        }
        else
        {
            cosine = federated::DotProduct(m_u.data(), m_target.gradient.data(), d) / norms;
            for (std::size_t j = 0; j < d; ++j)
            {
                m_u[j] = m_u[j] * (cosine / square) - m_target.gradient[j] / norms;
            }
            m_kernel.ComputeMixedDerivative(
                m_u.data(), m_target.model.data(), gradient.data(), m_byLabel.data());
        }
        return 1 - cosine + m_weight * AddTotalVariation(image, m_shape, m_weight, gradient);
    }

  private:
    const Target& m_target;                  //!< What was observed.
    MixedDerivativeKernel<double>& m_kernel; //!< The model.
    const SampleShape m_shape;               //!< Size and classes of the image.
    const double m_weight;                   //!< Weight of the total variation.
    const double m_observed;                 //!< Norm of the observed gradient.
    std::vector<double> m_label;             //!< Probability of each class: one is 1.
    std::vector<double> m_byLabel;           //!< Derivative by the label, which is not needed.
    std::vector<double> m_u;                 //!< d numbers.
};

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

std::string
CosineInversion::DoFindLack(const ModelKernel<double>& kernel) const
{
    const std::string lack = FindLackForDerivatives(kernel);
    return lack.empty() ? FindLackForLabel(kernel) : lack;
}

InversionResult
CosineInversion::DoReconstruct(const Target& target,
                               ModelKernel<double>& kernel,
                               const SampleShape& shape,
                               FederatedRandom& random,
                               const Watcher& watcher) const
{
    auto& derivatives = dynamic_cast<MixedDerivativeKernel<double>&>(kernel);
    const std::size_t pixels = kernel.GetFeatures();
    InversionResult result;
    result.label = InferLabel(target, kernel);
    Objective objective(target, derivatives, shape, result.label, m_totalVariation);
    Adam adam(pixels);
    std::vector<double> gradient(pixels);
    std::vector<double> image(pixels);
    std::generate(image.begin(), image.end(), [&random]() { return random.Uniform(); });
    result.image = image;
    if (watcher)
    {
        watcher(0, image);
    }
    for (uint64_t t = 0; t < m_iterations; ++t)
    {
        const double value = objective.Evaluate(image, gradient);
        ++result.evaluations;
        if (!std::isfinite(value) || !std::all_of(gradient.begin(),
                                                  gradient.end(),
                                                  [](double x) { return std::isfinite(x); }))
        {
            result.diverged = true;
            return result;
        }
        result.objective = value;
        result.image = image;
        double step = m_step;
        for (uint64_t eighths : {3, 5, 7})
        {
            step *= t >= eighths * m_iterations / 8 ? 0.1 : 1;
        }
        adam.Step(gradient, step, m_signed, image);
        ++result.outerIterations;
        ++result.innerIterations;
        if (watcher)
        {
            watcher(result.outerIterations, image);
        }
    }
    result.image = image;
    return result;
}

} // namespace ns3
