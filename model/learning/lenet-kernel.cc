// SPDX-License-Identifier: GPL-2.0-only

#include "lenet-kernel.h"

#include "eigen-without-heap.h"
#include "softmax.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <type_traits>

namespace ns3::federated
{

namespace
{

constexpr std::size_t WINDOW = 5;                         // height and width of a window
constexpr std::size_t PADDING = 2;                        // zeros around the input
constexpr std::size_t OUT_CHANNELS = 12;                  // of every convolution
constexpr std::array<std::size_t, 3> STRIDES = {2, 2, 1}; // of the convolutions

/**
 * @param size Height or width of the input of a convolution.
 * @param stride Step of the window.
 * @return height or width of its output.
 */
std::size_t
OutputSize(std::size_t size, std::size_t stride)
{
    return (size + 2 * PADDING - WINDOW) / stride + 1;
}

/**
 * @param shape Size of an image and number of classes.
 * @return the layers as users see them.
 */
std::vector<ModelLayer>
MakeLayers(const SampleShape& shape)
{
    std::vector<ModelLayer> layers;
    std::size_t begin = 0;
    std::size_t channels = 1;
    std::size_t rows = shape.rows;
    std::size_t columns = shape.columns;
    for (std::size_t stride : STRIDES)
    {
        const std::size_t fanIn = channels * WINDOW * WINDOW;
        const std::size_t size = OUT_CHANNELS * (fanIn + 1);
        layers.push_back({"convolution" + std::to_string(layers.size() + 1), begin, size, fanIn});
        begin += size;
        channels = OUT_CHANNELS;
        rows = OutputSize(rows, stride);
        columns = OutputSize(columns, stride);
    }
    const std::size_t features = channels * rows * columns;
    layers.push_back({"dense", begin, (features + 1) * shape.classes, features, true});
    return layers;
}

/**
 * Call function(line of an image, line of the padded image, count) for every line of an image and
 * every phase: count values, stride apart in the image (the first at the position given), neighbors
 * in the padded one. The padded image keeps the columns of one phase, those whose windows have them
 * in the same place, side by side: [channel][row][phase][column / stride].
 * @param c The convolution.
 * @param function What to call.
 */
template <typename Convolution, typename Function>
void
ForEachPaddedLine(const Convolution& c, Function function)
{
    for (std::size_t channel = 0; channel < c.channels; ++channel)
    {
        for (std::size_t row = 0; row < c.rows; ++row)
        {
            const std::size_t line = (channel * c.rows + row) * c.columns;
            const std::size_t padded =
                (channel * (c.rows + 2 * PADDING) + row + PADDING) * c.stride * c.phase;
            for (std::size_t phase = 0; phase < c.stride; ++phase)
            {
                // The first column of the phase that is not padding.
                const std::size_t skip =
                    phase < PADDING ? (PADDING - phase + c.stride - 1) / c.stride : 0;
                const std::size_t column = skip * c.stride + phase - PADDING;
                if (column < c.columns)
                {
                    function(line + column,
                             padded + phase * c.phase + skip,
                             (c.columns - column - 1) / c.stride + 1);
                }
            }
        }
    }
}

/**
 * Call function(line of patches, line of the padded image) for every line of outputs and every
 * place of the window: outColumns values, neighbors in both.
 * @param c The convolution.
 * @param function What to call.
 */
template <typename Convolution, typename Function>
void
ForEachPatchLine(const Convolution& c, Function function)
{
    std::size_t patch = 0;
    for (std::size_t channel = 0; channel < c.channels; ++channel)
    {
        for (std::size_t y = 0; y < WINDOW; ++y)
        {
            for (std::size_t x = 0; x < WINDOW; ++x)
            {
                std::size_t padded = (channel * (c.rows + 2 * PADDING) + y) * c.stride * c.phase +
                                     x % c.stride * c.phase + x / c.stride;
                for (std::size_t row = 0; row < c.outRows; ++row)
                {
                    function(patch, padded);
                    patch += c.outColumns;
                    padded += c.stride * c.stride * c.phase;
                }
            }
        }
    }
}

/**
 * Call function(width) with a width that the compiler knows if it is one of MNIST's, which makes
 * copies of such short lines several times faster.
 * @param width The width.
 * @param function What to call.
 */
template <typename Function>
void
WithWidth(std::size_t width, Function function)
{
    switch (width)
    {
    case 7:
        function(std::integral_constant<std::size_t, 7>());
        break;
    case 14:
        function(std::integral_constant<std::size_t, 14>());
        break;
    default:
        function(width);
    }
}

/**
 * @param c The convolution.
 * @param input Its input.
 * @param [in,out] padded Room for the padded input; the padding is 0 and stays so.
 * @param [out] patches What each window sees.
 */
template <typename Convolution, typename Scalar>
void
Unfold(const Convolution& c, const Scalar* input, Scalar* padded, Scalar* patches)
{
    ForEachPaddedLine(c,
                      [&c, input, padded](std::size_t from, std::size_t to, std::size_t count)
                      {
                          for (std::size_t i = 0; i < count; ++i)
                          {
                              padded[to + i] = input[from + i * c.stride];
                          }
                      });
    WithWidth(c.outColumns,
              [&c, padded, patches](auto width)
              {
                  ForEachPatchLine(c,
                                   [padded, patches, width](std::size_t to, std::size_t from)
                                   {
                                       for (std::size_t i = 0; i < width; ++i)
                                       {
                                           patches[to + i] = padded[from + i];
                                       }
                                   });
              });
}

/**
 * Sum for every input the values of all windows that contain it: the transpose of Unfold.
 * @param c The convolution.
 * @param patches Values of each window.
 * @param [out] sums Scratch: the sums, padded.
 * @param [out] input The sums.
 */
template <typename Convolution, typename Scalar>
void
Fold(const Convolution& c, const Scalar* patches, std::vector<Scalar>& sums, Scalar* input)
{
    std::fill(sums.begin(), sums.end(), Scalar{0});
    Scalar* padded = sums.data();
    WithWidth(c.outColumns,
              [&c, patches, padded](auto width)
              {
                  ForEachPatchLine(c,
                                   [patches, padded, width](std::size_t from, std::size_t to)
                                   {
                                       for (std::size_t i = 0; i < width; ++i)
                                       {
                                           padded[to + i] += patches[from + i];
                                       }
                                   });
              });
    ForEachPaddedLine(c,
                      [&c, input, padded](std::size_t to, std::size_t from, std::size_t count)
                      {
                          for (std::size_t i = 0; i < count; ++i)
                          {
                              input[to + i * c.stride] = padded[from + i];
                          }
                      });
}

template <typename Scalar>
using Matrix = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <typename Scalar>
using Vector = Eigen::Matrix<Scalar, Eigen::Dynamic, 1>;

} // namespace

template <typename Scalar>
LeNetKernel<Scalar>::LeNetKernel(const SampleShape& shape, double initialRange)
    : MixedDerivativeKernel<Scalar>(MakeLayers(shape),
                                    shape.rows * shape.columns,
                                    shape.classes,
                                    initialRange),
      m_classes(shape.classes),
      m_gradient(this->GetDimension())
{
    const std::vector<ModelLayer>& layers = this->GetLayers();
    std::size_t channels = 1;
    std::size_t rows = shape.rows;
    std::size_t columns = shape.columns;
    std::size_t mostPatches = 0;
    for (std::size_t l = 0; l < CONVOLUTIONS; ++l)
    {
        Convolution& c = m_convolutions[l];
        c.channels = channels;
        c.rows = rows;
        c.columns = columns;
        c.stride = STRIDES[l];
        c.outRows = OutputSize(rows, c.stride);
        c.outColumns = OutputSize(columns, c.stride);
        c.weights = layers[l].begin;
        c.biases = c.weights + OUT_CHANNELS * layers[l].fanIn;
        const std::size_t outputs = OUT_CHANNELS * c.outRows * c.outColumns;
        c.phase = (columns + 2 * PADDING + c.stride - 1) / c.stride;
        c.padded.resize(channels * (rows + 2 * PADDING) * c.stride * c.phase);
        c.sums.resize(c.padded.size());
        c.patches.resize(layers[l].fanIn * c.outRows * c.outColumns);
        c.patchesTangent.resize(l > 0 ? c.patches.size() : 0);
        for (auto* values : {&c.outputs, &c.byOutput, &c.outputsTangent, &c.byOutputTangent})
        {
            values->resize(outputs);
        }
        c.delta.resize(2 * outputs);
        mostPatches = std::max(mostPatches, c.patches.size());
        channels = OUT_CHANNELS;
        rows = c.outRows;
        columns = c.outColumns;
    }
    m_features = layers.back().fanIn;
    m_weights = layers.back().begin;
    m_biases = m_weights + m_features * m_classes;
    m_logits.resize(m_classes);
    m_byPatch.resize(mostPatches);
    m_stacked.resize(2 * OUT_CHANNELS * OUT_CHANNELS * WINDOW * WINDOW);
}

template <typename Scalar>
void
LeNetKernel<Scalar>::DoForward(const Scalar* input, const Scalar* w, Scalar* logits)
{
    for (Convolution& c : m_convolutions)
    {
        Unfold(c, input, c.padded.data(), c.patches.data());
        const std::size_t window = c.channels * WINDOW * WINDOW;
        const std::size_t positions = c.outRows * c.outColumns;
        Eigen::Map<const Matrix<Scalar>> weights(w + c.weights, OUT_CHANNELS, window);
        Eigen::Map<const Vector<Scalar>> biases(w + c.biases, OUT_CHANNELS);
        Eigen::Map<const Matrix<Scalar>> patches(c.patches.data(), window, positions);
        Eigen::Map<Matrix<Scalar>> outputs(c.outputs.data(), OUT_CHANNELS, positions);
        outputs.colwise() = biases;
        outputs.noalias() += weights * patches;
        for (Scalar& value : c.outputs)
        {
            value = 1 / (1 + std::exp(-value));
        }
        input = c.outputs.data();
    }
    std::copy_n(w + m_biases, m_classes, logits);
    for (std::size_t i = 0; i < m_features; ++i)
    {
        const Scalar* weights = w + m_weights + i * m_classes;
        for (std::size_t k = 0; k < m_classes; ++k)
        {
            logits[k] += input[i] * weights[k];
        }
    }
}

template <typename Scalar>
void
LeNetKernel<Scalar>::AddBackward(const Scalar* delta, const Scalar* w, Scalar* target)
{
    Convolution& top = m_convolutions.back();
    for (std::size_t i = 0; i < m_features; ++i)
    {
        const Scalar value = top.outputs[i];
        const Scalar* weights = w + m_weights + i * m_classes;
        Scalar* gradient = target + m_weights + i * m_classes;
        Scalar sum = 0;
        for (std::size_t k = 0; k < m_classes; ++k)
        {
            gradient[k] += value * delta[k];
            sum += weights[k] * delta[k];
        }
        top.byOutput[i] = sum;
    }
    for (std::size_t k = 0; k < m_classes; ++k)
    {
        target[m_biases + k] += delta[k];
    }
    for (std::size_t l = CONVOLUTIONS; l-- > 0;)
    {
        Convolution& c = m_convolutions[l];
        for (std::size_t i = 0; i < c.outputs.size(); ++i)
        {
            c.delta[i] = c.byOutput[i] * c.outputs[i] * (1 - c.outputs[i]);
        }
        const std::size_t window = c.channels * WINDOW * WINDOW;
        const std::size_t positions = c.outRows * c.outColumns;
        Eigen::Map<const Matrix<Scalar>> outputsDelta(c.delta.data(), OUT_CHANNELS, positions);
        Eigen::Map<const Matrix<Scalar>> patches(c.patches.data(), window, positions);
        Eigen::Map<Matrix<Scalar>>(target + c.weights, OUT_CHANNELS, window).noalias() +=
            outputsDelta * patches.transpose();
        for (std::size_t channel = 0; channel < OUT_CHANNELS; ++channel)
        {
            const Scalar* begin = c.delta.data() + channel * positions;
            target[c.biases + channel] += std::accumulate(begin, begin + positions, Scalar{0});
        }
        if (l > 0)
        {
            Eigen::Map<const Matrix<Scalar>> weights(w + c.weights, OUT_CHANNELS, window);
            Eigen::Map<Matrix<Scalar>> byPatch(m_byPatch.data(), window, positions);
            byPatch.noalias() = weights.transpose() * outputsDelta;
            Fold(c, m_byPatch.data(), c.sums, m_convolutions[l - 1].byOutput.data());
        }
    }
}

template <typename Scalar>
void
LeNetKernel<Scalar>::DoBackward(const Scalar* delta, const Scalar* w, Scalar* gradient)
{
    std::fill_n(gradient, this->GetDimension(), Scalar{0});
    AddBackward(delta, w, gradient);
}

template <typename Scalar>
void
LeNetKernel<Scalar>::DoForwardTangent(const Scalar* w, const Scalar* u, Scalar* tangent)
{
    for (std::size_t l = 0; l < CONVOLUTIONS; ++l)
    {
        Convolution& c = m_convolutions[l];
        const std::size_t window = c.channels * WINDOW * WINDOW;
        const std::size_t positions = c.outRows * c.outColumns;
        Eigen::Map<const Matrix<Scalar>> directions(u + c.weights, OUT_CHANNELS, window);
        Eigen::Map<const Vector<Scalar>> biases(u + c.biases, OUT_CHANNELS);
        Eigen::Map<const Matrix<Scalar>> patches(c.patches.data(), window, positions);
        Eigen::Map<Matrix<Scalar>> outputs(c.outputsTangent.data(), OUT_CHANNELS, positions);
        outputs.colwise() = biases;
        outputs.noalias() += directions * patches;
        if (l > 0) // the image itself does not depend on r
        {
            Unfold(c,
                   m_convolutions[l - 1].outputsTangent.data(),
                   c.padded.data(),
                   c.patchesTangent.data());
            Eigen::Map<const Matrix<Scalar>> weights(w + c.weights, OUT_CHANNELS, window);
            Eigen::Map<const Matrix<Scalar>> patchesTangent(
                c.patchesTangent.data(), window, positions);
            outputs.noalias() += weights * patchesTangent;
        }
        for (std::size_t i = 0; i < c.outputs.size(); ++i)
        {
            c.outputsTangent[i] *= c.outputs[i] * (1 - c.outputs[i]);
        }
    }
    const Convolution& top = m_convolutions.back();
    std::copy_n(u + m_biases, m_classes, tangent);
    for (std::size_t i = 0; i < m_features; ++i)
    {
        const Scalar* weights = w + m_weights + i * m_classes;
        const Scalar* directions = u + m_weights + i * m_classes;
        for (std::size_t k = 0; k < m_classes; ++k)
        {
            tangent[k] += top.outputs[i] * directions[k] + top.outputsTangent[i] * weights[k];
        }
    }
}

template <typename Scalar>
void
LeNetKernel<Scalar>::DoBackwardTangent(const Scalar* delta,
                                       const Scalar* tangent,
                                       const Scalar* w,
                                       const Scalar* u,
                                       Scalar* byInput)
{
    for (std::size_t i = 0; i < m_features; ++i)
    {
        const Scalar* weights = w + m_weights + i * m_classes;
        const Scalar* directions = u + m_weights + i * m_classes;
        Scalar sum = 0;
        for (std::size_t k = 0; k < m_classes; ++k)
        {
            sum += directions[k] * delta[k] + weights[k] * tangent[k];
        }
        m_convolutions.back().byOutputTangent[i] = sum;
    }
    for (std::size_t l = CONVOLUTIONS; l-- > 0;)
    {
        Convolution& c = m_convolutions[l];
        const std::size_t window = c.channels * WINDOW * WINDOW;
        const std::size_t positions = c.outRows * c.outColumns;
        // delta = byOutput a (1 - a), and the tangent of a (1 - a) is (1 - 2 a) times that of a.
        for (std::size_t i = 0; i < c.outputs.size(); ++i)
        {
            const Scalar value = c.outputs[i];
            c.delta[c.outputs.size() + i] = c.byOutputTangent[i] * value * (1 - value) +
                                            c.byOutput[i] * (1 - 2 * value) * c.outputsTangent[i];
        }
        // u^T delta + w^T (tangent of delta), as one product.
        std::copy_n(u + c.weights, OUT_CHANNELS * window, m_stacked.begin());
        std::copy_n(
            w + c.weights, OUT_CHANNELS * window, m_stacked.begin() + OUT_CHANNELS * window);
        Eigen::Map<const Matrix<Scalar>> stacked(m_stacked.data(), 2 * OUT_CHANNELS, window);
        Eigen::Map<const Matrix<Scalar>> deltas(c.delta.data(), 2 * OUT_CHANNELS, positions);
        Eigen::Map<Matrix<Scalar>> byPatch(m_byPatch.data(), window, positions);
        byPatch.noalias() = stacked.transpose() * deltas;
        Fold(c,
             m_byPatch.data(),
             c.sums,
             l > 0 ? m_convolutions[l - 1].byOutputTangent.data() : byInput);
    }
}

template <typename Scalar>
const Scalar*
LeNetKernel<Scalar>::DoComputeLogits(const SampleBatch<Scalar>& batch, const Scalar* w)
{
    if (m_logits.size() < batch.count * m_classes)
    {
        m_logits.resize(batch.count * m_classes);
    }
    for (std::size_t s = 0; s < batch.count; ++s)
    {
        DoForward(batch.inputs + s * batch.features, w, m_logits.data() + s * m_classes);
    }
    return m_logits.data();
}

template <typename Scalar>
Scalar
LeNetKernel<Scalar>::DoAddGradient(const SampleBatch<Scalar>& batch,
                                   const Scalar* w,
                                   Scalar factor,
                                   Scalar* target)
{
    // Gathered apart from target, which may be the w that later samples need.
    std::fill(m_gradient.begin(), m_gradient.end(), Scalar{0});
    Scalar loss = 0;
    for (std::size_t s = 0; s < batch.count; ++s)
    {
        DoForward(batch.inputs + s * batch.features, w, m_logits.data());
        loss +=
            SoftmaxGradient(m_logits.data(), m_classes, batch.labels[s], Scalar{1} / batch.count);
        AddBackward(m_logits.data(), w, m_gradient.data());
    }
    for (std::size_t j = 0; j < m_gradient.size(); ++j)
    {
        target[j] += factor * m_gradient[j];
    }
    return loss / batch.count;
}

template class LeNetKernel<float>;
template class LeNetKernel<double>;

} // namespace ns3::federated
