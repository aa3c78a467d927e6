// SPDX-License-Identifier: GPL-2.0-only

#ifndef SOFTMAX_H
#define SOFTMAX_H

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace ns3::federated
{

/**
 * @ingroup federated
 * @brief Cross-entropy of the softmax of one sample's scores.
 * @param logits The scores.
 * @param classes Number of scores.
 * @param label The true class.
 * @return -ln of the probability of the true class.
 */
template <typename Scalar>
Scalar
SoftmaxLoss(const Scalar* logits, std::size_t classes, std::size_t label)
{
    const Scalar top = *std::max_element(logits, logits + classes);
    Scalar sum = 0;
    for (std::size_t k = 0; k < classes; ++k)
    {
        sum += std::exp(logits[k] - top);
    }
    // cppcheck-suppress invalidFunctionArg ; the sum has the term exp(0)
    return std::log(sum) - (logits[label] - top);
}

/**
 * @ingroup federated
 * @brief Probabilities of the classes.
 * @param logits The scores.
 * @param classes Number of scores.
 * @param [out] probabilities e^score over the sum of all; the scores themselves are allowed.
 * @return ln of that sum.
 */
template <typename Scalar>
Scalar
Softmax(const Scalar* logits, std::size_t classes, Scalar* probabilities)
{
    const Scalar top = *std::max_element(logits, logits + classes);
    Scalar sum = 0;
    for (std::size_t k = 0; k < classes; ++k)
    {
        probabilities[k] = std::exp(logits[k] - top);
        sum += probabilities[k];
    }
    for (std::size_t k = 0; k < classes; ++k)
    {
        probabilities[k] /= sum;
    }
    // cppcheck-suppress invalidFunctionArg ; the sum has the term exp(0)
    return top + std::log(sum);
}

/**
 * @ingroup federated
 * @brief The cross-entropy of SoftmaxLoss, and its derivative: the probabilities, less 1 at the
 * true class.
 * @param [in,out] logits The scores; replaced by scale * derivative.
 * @param classes Number of scores.
 * @param label The true class.
 * @param scale Factor on the derivative.
 * @return -ln of the probability of the true class.
 */
template <typename Scalar>
Scalar
SoftmaxGradient(Scalar* logits, std::size_t classes, std::size_t label, Scalar scale)
{
    // Smaller probabilities count as 0: they are below rounding, but their products with weights
    // and inputs are denormal numbers, on which some processors are a hundred times slower.
    const Scalar negligible = std::sqrt(std::numeric_limits<Scalar>::min());
    const Scalar top = *std::max_element(logits, logits + classes);
    const Scalar score = logits[label] - top;
    Scalar sum = 0;
    for (std::size_t k = 0; k < classes; ++k)
    {
        logits[k] = std::exp(logits[k] - top);
        sum += logits[k];
    }
    for (std::size_t k = 0; k < classes; ++k)
    {
        const Scalar p = logits[k] / sum;
        logits[k] = p < negligible ? 0 : scale * p;
    }
    logits[label] -= scale;
    // cppcheck-suppress invalidFunctionArg ; the sum has the term exp(0)
    return std::log(sum) - score;
}

} // namespace ns3::federated

#endif // SOFTMAX_H
