// SPDX-License-Identifier: GPL-2.0-only

#include "lenet-kernel.h"

#include "eigen-without-heap.h"
#include "softmax.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

namespace ns3
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
    layers.push_back({"dense", begin, (features + 1) * shape.classes, features});
    return layers;
}

/**
 * Call function(patch value, input) for every value that a window sees
 * inside the image; positions are offsets from the first patch value and the first input.
 * @param c The convolution.
 * @param function What to call.
 */
template <typename Convolution, typename Function>
void
ForEachPatchValue(const Convolution& c, Function function)
{
    const std::size_t positions = c.outRows * c.outColumns;
    std::size_t patch = 0; // first of a row of patches: one place of the window
    for (std::size_t channel = 0; channel < c.channels; ++channel)
    {
        for (std::size_t y = 0; y < WINDOW; ++y)
        {
            for (std::size_t x = 0; x < WINDOW; ++x, patch += positions)
            {
                for (std::size_t row = 0; row < c.outRows; ++row)
                {
                    const std::size_t inputRow = row * c.stride + y; // counted with the padding
                    if (inputRow < PADDING || inputRow >= c.rows + PADDING)
                    {
                        continue;
                    }
                    const std::size_t line = (channel * c.rows + inputRow - PADDING) * c.columns;
                    for (std::size_t column = 0; column < c.outColumns; ++column)
                    {
                        const std::size_t inputColumn = column * c.stride + x;
                        if (inputColumn >= PADDING && inputColumn < c.columns + PADDING)
                        {
                            function(patch + row * c.outColumns + column,
                                     line + inputColumn - PADDING);
                        }
                    }
                }
            }
        }
    }
}

template <typename Scalar>
using Matrix = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <typename Scalar>
using Vector = Eigen::Matrix<Scalar, Eigen::Dynamic, 1>;

} // namespace

template <typename Scalar>
LeNetKernel<Scalar>::LeNetKernel(const SampleShape& shape, double initialRange)
    : ModelKernel<Scalar>(MakeLayers(shape),
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
        c.patches.resize(layers[l].fanIn * c.outRows * c.outColumns); // padding stays 0
        c.outputs.resize(OUT_CHANNELS * c.outRows * c.outColumns);
        mostPatches = std::max(mostPatches, c.patches.size());
        channels = OUT_CHANNELS;
        rows = c.outRows;
        columns = c.outColumns;
    }
    m_features = layers.back().fanIn;
    m_weights = layers.back().begin;
    m_biases = m_weights + m_features * m_classes;
    m_logits.resize(m_classes);
    m_patchesDelta.resize(mostPatches);
    m_inputsDelta.resize(m_convolutions.front().outputs.size());
}

template <typename Scalar>
void
LeNetKernel<Scalar>::Forward(const Scalar* image, const Scalar* w, Scalar* logits)
{
    const Scalar* input = image;
    for (Convolution& c : m_convolutions)
    {
        ForEachPatchValue(c,
                          [&c, input](std::size_t patch, std::size_t position)
                          { c.patches[patch] = input[position]; });
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
LeNetKernel<Scalar>::Backward(const Scalar* delta, const Scalar* w)
{
    Scalar* features = m_convolutions.back().outputs.data();
    for (std::size_t i = 0; i < m_features; ++i)
    {
        const Scalar value = features[i];
        const Scalar* weights = w + m_weights + i * m_classes;
        Scalar* gradient = m_gradient.data() + m_weights + i * m_classes;
        Scalar sum = 0;
        for (std::size_t k = 0; k < m_classes; ++k)
        {
            gradient[k] += value * delta[k];
            sum += weights[k] * delta[k];
        }
        features[i] = sum * value * (1 - value);
    }
    for (std::size_t k = 0; k < m_classes; ++k)
    {
        m_gradient[m_biases + k] += delta[k];
    }
    for (std::size_t l = CONVOLUTIONS; l-- > 0;)
    {
        Convolution& c = m_convolutions[l]; // its outputs are delta before the sigmoid now
        const std::size_t window = c.channels * WINDOW * WINDOW;
        const std::size_t positions = c.outRows * c.outColumns;
        Eigen::Map<const Matrix<Scalar>> outputsDelta(c.outputs.data(), OUT_CHANNELS, positions);
        Eigen::Map<const Matrix<Scalar>> patches(c.patches.data(), window, positions);
        Eigen::Map<Matrix<Scalar>>(m_gradient.data() + c.weights, OUT_CHANNELS, window).noalias() +=
            outputsDelta * patches.transpose();
        for (std::size_t channel = 0; channel < OUT_CHANNELS; ++channel)
        {
            const Scalar* begin = c.outputs.data() + channel * positions;
            m_gradient[c.biases + channel] += std::accumulate(begin, begin + positions, Scalar{0});
        }
        if (l == 0)
        {
            break;
        }
        Eigen::Map<const Matrix<Scalar>> weights(w + c.weights, OUT_CHANNELS, window);
        Eigen::Map<Matrix<Scalar>> patchesDelta(m_patchesDelta.data(), window, positions);
        patchesDelta.noalias() = weights.transpose() * outputsDelta;
        // An input adds up what all windows that see it say.
        std::vector<Scalar>& below = m_convolutions[l - 1].outputs;
        std::fill_n(m_inputsDelta.begin(), below.size(), Scalar{0});
        ForEachPatchValue(c,
                          [this](std::size_t patch, std::size_t position)
                          { m_inputsDelta[position] += m_patchesDelta[patch]; });
        for (std::size_t i = 0; i < below.size(); ++i)
        {
            below[i] = m_inputsDelta[i] * below[i] * (1 - below[i]);
        }
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
        Forward(batch.inputs + s * batch.features, w, m_logits.data() + s * m_classes);
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
        Forward(batch.inputs + s * batch.features, w, m_logits.data());
        loss +=
            SoftmaxGradient(m_logits.data(), m_classes, batch.labels[s], Scalar{1} / batch.count);
        Backward(m_logits.data(), w);
    }
    for (std::size_t j = 0; j < m_gradient.size(); ++j)
    {
        target[j] += factor * m_gradient[j];
    }
    return loss / batch.count;
}

template class LeNetKernel<float>;
template class LeNetKernel<double>;

} // namespace ns3
