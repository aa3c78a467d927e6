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
    layers.push_back({"dense", begin, (features + 1) * shape.classes, features, true});
    return layers;
}

/**
 * Call function(patch value, input, count, stride) for every line of values that the windows of one
 * row of outputs see inside the image, one window after the other: count values, neighbors among
 * the patches, stride apart in the input; positions are offsets from the first patch value and the
 * first input.
 * @param c The convolution.
 * @param function What to call.
 */
template <typename Convolution, typename Function>
void
ForEachPatchLine(const Convolution& c, Function function)
{
    const std::size_t positions = c.outRows * c.outColumns;
    std::size_t patch = 0; // first of a row of patches: one place of the window
    for (std::size_t channel = 0; channel < c.channels; ++channel)
    {
        for (std::size_t y = 0; y < WINDOW; ++y)
        {
            for (std::size_t x = 0; x < WINDOW; ++x, patch += positions)
            {
                // The outputs whose window has this place inside the image; inputs are counted with
                // the padding.
                const std::size_t first = x < PADDING ? (PADDING - x + c.stride - 1) / c.stride : 0;
                const std::size_t reach = c.columns + PADDING - 1; // the last input
                if (x > reach)
                {
                    continue;
                }
                const std::size_t end = std::min(c.outColumns, (reach - x) / c.stride + 1);
                if (first >= end)
                {
                    continue;
                }
                for (std::size_t row = 0; row < c.outRows; ++row)
                {
                    const std::size_t inputRow = row * c.stride + y;
                    if (inputRow >= PADDING && inputRow < c.rows + PADDING)
                    {
                        function(patch + row * c.outColumns + first,
                                 (channel * c.rows + inputRow - PADDING) * c.columns +
                                     first * c.stride + x - PADDING,
                                 end - first,
                                 c.stride);
                    }
                }
            }
        }
    }
}

/**
 * @param c The convolution.
 * @param input Its input.
 * @param [out] patches What each window sees; what it sees of the padding is left alone.
 */
template <typename Convolution, typename Scalar>
void
Unfold(const Convolution& c, const Scalar* input, Scalar* patches)
{
    ForEachPatchLine(
        c,
        [input,
         patches](std::size_t patch, std::size_t position, std::size_t count, std::size_t stride)
        {
            for (std::size_t i = 0; i < count; ++i)
            {
                patches[patch + i] = input[position + i * stride];
            }
        });
}

/**
 * Add up for every input what all windows that see it say: the transpose of Unfold.
 * @param c The convolution.
 * @param patches What each window says.
 * @param [out] input The sums.
 */
template <typename Convolution, typename Scalar>
void
Fold(const Convolution& c, const Scalar* patches, Scalar* input)
{
    std::fill_n(input, c.channels * c.rows * c.columns, Scalar{0});
    ForEachPatchLine(
        c,
        [input,
         patches](std::size_t patch, std::size_t position, std::size_t count, std::size_t stride)
        {
            for (std::size_t i = 0; i < count; ++i)
            {
                input[position + i * stride] += patches[patch + i];
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
        const std::size_t outputs = OUT_CHANNELS * c.outRows * c.outColumns;
        c.patches.resize(layers[l].fanIn * c.outRows * c.outColumns); // padding stays 0
        c.patchesTangent.resize(l > 0 ? c.patches.size() : 0);        // there too
        for (auto* values :
             {&c.outputs, &c.byOutput, &c.delta, &c.outputsTangent, &c.byOutputTangent})
        {
            values->resize(outputs);
        }
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
}

template <typename Scalar>
void
LeNetKernel<Scalar>::DoForward(const Scalar* input, const Scalar* w, Scalar* logits)
{
    for (Convolution& c : m_convolutions)
    {
        Unfold(c, input, c.patches.data());
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
            Fold(c, m_byPatch.data(), m_convolutions[l - 1].byOutput.data());
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
            Unfold(c, m_convolutions[l - 1].outputsTangent.data(), c.patchesTangent.data());
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
        // delta = byOutput a (1 - a), and the tangent of a (1 - a) is (1 - 2 a) times that of a.
        std::vector<Scalar>& deltaTangent = c.outputsTangent;
        for (std::size_t i = 0; i < c.outputs.size(); ++i)
        {
            const Scalar value = c.outputs[i];
            deltaTangent[i] = c.byOutputTangent[i] * value * (1 - value) +
                              c.byOutput[i] * (1 - 2 * value) * c.outputsTangent[i];
        }
        const std::size_t window = c.channels * WINDOW * WINDOW;
        const std::size_t positions = c.outRows * c.outColumns;
        Eigen::Map<const Matrix<Scalar>> outputsDelta(c.delta.data(), OUT_CHANNELS, positions);
        Eigen::Map<const Matrix<Scalar>> outputsDeltaTangent(
            deltaTangent.data(), OUT_CHANNELS, positions);
        Eigen::Map<const Matrix<Scalar>> weights(w + c.weights, OUT_CHANNELS, window);
        Eigen::Map<const Matrix<Scalar>> directions(u + c.weights, OUT_CHANNELS, window);
        Eigen::Map<Matrix<Scalar>> byPatch(m_byPatch.data(), window, positions);
        byPatch.noalias() = directions.transpose() * outputsDelta;
        byPatch.noalias() += weights.transpose() * outputsDeltaTangent;
        Fold(c, m_byPatch.data(), l > 0 ? m_convolutions[l - 1].byOutputTangent.data() : byInput);
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

} // namespace ns3
