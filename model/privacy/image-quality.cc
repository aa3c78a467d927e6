// SPDX-License-Identifier: GPL-2.0-only

#include "image-quality.h"

#include "ns3/assert.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace ns3
{

namespace
{

constexpr std::size_t WINDOW = 11; // height and width
constexpr double DEVIATION = 1.5;  // of the Gaussian
constexpr double C1 = 0.01 * 0.01; // (K1 times the dynamic range)^2
constexpr double C2 = 0.03 * 0.03;

/** @return weights of one row or column of a window, of sum 1. */
std::array<double, WINDOW>
MakeWeights()
{
    std::array<double, WINDOW> weights{};
    double sum = 0;
    for (std::size_t i = 0; i < WINDOW; ++i)
    {
        const double distance = static_cast<double>(i) - static_cast<double>(WINDOW - 1) / 2;
        weights[i] = std::exp(-distance * distance / (2 * DEVIATION * DEVIATION));
        sum += weights[i];
    }
    for (double& weight : weights)
    {
        weight /= sum;
    }
    return weights;
}

/**
 * @param a An image in [0, 1].
 * @param b Another.
 * @param rows Height.
 * @param columns Width.
 * @return their mean structural similarity.
 */
double
GetSsim(const std::vector<double>& a,
        const std::vector<double>& b,
        std::size_t rows,
        std::size_t columns)
{
    if (rows < WINDOW || columns < WINDOW)
    {
        return std::numeric_limits<double>::quiet_NaN();
    }
    const std::array<double, WINDOW> weights = MakeWeights();
    double sum = 0;
    for (std::size_t row = 0; row + WINDOW <= rows; ++row)
    {
        for (std::size_t column = 0; column + WINDOW <= columns; ++column)
        {
            double meanA = 0;
            double meanB = 0;
            double squareA = 0;
            double squareB = 0;
            double product = 0;
            for (std::size_t y = 0; y < WINDOW; ++y)
            {
                for (std::size_t x = 0; x < WINDOW; ++x)
                {
                    const double weight = weights[y] * weights[x];
                    const std::size_t i = (row + y) * columns + column + x;
                    meanA += weight * a[i];
                    meanB += weight * b[i];
                    squareA += weight * a[i] * a[i];
                    squareB += weight * b[i] * b[i];
                    product += weight * a[i] * b[i];
                }
            }
            const double varianceA = squareA - meanA * meanA;
            const double varianceB = squareB - meanB * meanB;
            const double covariance = product - meanA * meanB;
            sum += (2 * meanA * meanB + C1) * (2 * covariance + C2) /
                   ((meanA * meanA + meanB * meanB + C1) * (varianceA + varianceB + C2));
        }
    }
    return sum / static_cast<double>((rows - WINDOW + 1) * (columns - WINDOW + 1));
}

} // namespace

ImageQuality
ImageQuality::Compare(const std::vector<double>& original,
                      const std::vector<double>& image,
                      std::size_t rows,
                      std::size_t columns)
{
    NS_ASSERT_MSG(original.size() == rows * columns && image.size() == rows * columns,
                  "Images of other sizes cannot be compared");
    const auto clip = [](std::vector<double> values)
    {
        for (double& value : values)
        {
            value = std::clamp(value, 0.0, 1.0);
        }
        return values;
    };
    const std::vector<double> a = clip(original);
    const std::vector<double> b = clip(image);
    ImageQuality quality;
    for (std::size_t i = 0; i < a.size(); ++i)
    {
        quality.mse += (a[i] - b[i]) * (a[i] - b[i]) / static_cast<double>(a.size());
    }
    quality.psnr = -10 * std::log10(quality.mse);
    quality.ssim = GetSsim(a, b, rows, columns);
    return quality;
}

} // namespace ns3
