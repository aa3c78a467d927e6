// SPDX-License-Identifier: GPL-2.0-only

#include "dense-kernel.h"

#include "dot-product.h"
#include "eigen-without-heap.h"
#include "softmax.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <type_traits>

namespace ns3::federated
{

namespace
{

template <typename Scalar>
using Matrix = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <typename Scalar>
using RowVector = Eigen::Matrix<Scalar, 1, Eigen::Dynamic>;

constexpr std::size_t ALIGNMENT = 64; // bytes of a cache line
constexpr std::size_t PACK = 64;      // samples from which copying the weights pays off

/**
 * @param widths Inputs, hidden units of each layer, classes.
 * @return the layers as users see them.
 */
std::vector<ModelLayer>
MakeLayers(const std::vector<std::size_t>& widths)
{
    std::vector<ModelLayer> layers;
    std::size_t begin = 0;
    for (std::size_t l = 0; l + 1 < widths.size(); ++l)
    {
        const std::size_t size = (widths[l] + 1) * widths[l + 1];
        layers.push_back({"dense" + std::to_string(l + 1), begin, size, widths[l], true});
        begin += size;
    }
    return layers;
}

/**
 * Add the sum of a matrix's rows. (In Eigen's sums the rounding depends on addresses; here equal
 * numbers give equal results wherever they are. So products are all that Eigen does here.)
 * @param matrix rows x columns, row-major.
 * @param rows Number of rows.
 * @param columns Number of columns.
 * @param [in,out] target The sums, columns.
 */
template <typename Scalar>
void
AddColumnSums(const Scalar* matrix, std::size_t rows, std::size_t columns, Scalar* target)
{
    for (std::size_t r = 0; r < rows; ++r, matrix += columns)
    {
        for (std::size_t c = 0; c < columns; ++c)
        {
            target[c] += matrix[c];
        }
    }
}

constexpr std::size_t GROUP = 8; // inputs that are skipped together if all are blank

/**
 * @param value A number.
 * @return its bits.
 */
template <typename Scalar>
auto
GetBits(Scalar value)
{
    std::conditional_t<sizeof(Scalar) == sizeof(uint32_t), uint32_t, uint64_t> bits;
    std::memcpy(&bits, &value, sizeof(bits));
    return bits;
}

/**
 * @param inputs GROUP inputs.
 * @param blank The bits of a blank input.
 * @return whether all are blank.
 */
template <typename Scalar, typename Bits>
bool
IsBlank(const Scalar* inputs, Bits blank)
{
    Bits different = 0;
    for (std::size_t i = 0; i < GROUP; ++i)
    {
        different |= GetBits(inputs[i]) ^ blank;
    }
    return different == 0;
}

} // namespace

template <typename Scalar>
DenseKernel<Scalar>::DenseKernel(const std::vector<std::size_t>& widths, double l2)
    : MixedDerivativeKernel<Scalar>(MakeLayers(widths), widths.front(), widths.back()),
      m_l2(static_cast<Scalar>(l2))
{
    const std::vector<ModelLayer>& layers = this->GetLayers();
    for (std::size_t l = 0; l < layers.size(); ++l)
    {
        Layer layer;
        layer.in = widths[l];
        layer.out = widths[l + 1];
        layer.weights = layers[l].begin;
        layer.biases = layer.weights + layer.in * layer.out;
        layer.inputs.reserve(layer.in);
        layer.delta.resize(layer.out);
        layer.tangent.resize(layer.out);
        m_layers.push_back(std::move(layer));
    }
    const Layer& first = m_layers.front();
    m_columnEnds.resize(first.in);
    m_base.resize(first.out);
    for (uint32_t i = 0; i < first.in; ++i)
    {
        m_blank.push_back({i, 0});
    }
    const std::size_t strip = WeightedRows<Scalar>::GetStripWidth(first.out);
    m_strip.resize(first.in * strip + ALIGNMENT / sizeof(Scalar));
}

template <typename Scalar>
void
DenseKernel<Scalar>::Reserve(std::size_t count)
{
    if (count <= m_capacity)
    {
        return;
    }
    m_capacity = count;
    std::size_t widest = 0;
    for (Layer& layer : m_layers)
    {
        layer.outputs.resize((count + 1) * layer.out);
        widest = std::max(widest, layer.out);
    }
    m_entries.resize(count * m_layers.front().in);
    m_ends.resize(count);
    m_columns.resize((count + 1) * m_layers.front().in);
    m_product.resize(count * widest);
}

template <typename Scalar>
void
DenseKernel<Scalar>::ListInputs(const SampleBatch<Scalar>& batch)
{
    // Blank is what has the bits of the background: integers compare faster, and an input that has
    // the same value in other bits (-0) does no harm.
    const auto blank = GetBits(batch.background);
    WeightedIndex<Scalar>* entry = m_entries.data();
    for (std::size_t s = 0; s < batch.count; ++s)
    {
        const Scalar* inputs = batch.inputs + s * batch.features;
        for (std::size_t begin = 0; begin < batch.features; begin += GROUP)
        {
            const std::size_t end = std::min(begin + GROUP, batch.features);
            if (end - begin == GROUP && IsBlank(inputs + begin, blank))
            {
                continue;
            }
            for (std::size_t i = begin; i < end; ++i)
            {
                // Written always, kept if different: no branch to mispredict.
                *entry = {static_cast<uint32_t>(i), inputs[i] - batch.background};
                entry += GetBits(inputs[i]) != blank;
            }
        }
        m_ends[s] = entry - m_entries.data();
    }
}

template <typename Scalar>
void
DenseKernel<Scalar>::ForwardFirst(const SampleBatch<Scalar>& batch, const Scalar* w)
{
    Layer& layer = m_layers.front();
    const Scalar* weights = w + layer.weights;
    std::copy_n(w + layer.biases, layer.out, m_base.begin());
    if (batch.background != 0)
    {
        for (WeightedIndex<Scalar>& input : m_blank)
        {
            input.value = batch.background;
        }
        WeightedRows<Scalar>::Add(
            m_blank.data(), m_blank.size(), weights, layer.out, m_base.data(), layer.out);
    }
    // Strip by strip, so that the strip's weights stay in the cache while the samples pass by.
    const std::size_t strip = WeightedRows<Scalar>::GetStripWidth(layer.out);
    for (std::size_t begin = 0; begin < layer.out; begin += strip)
    {
        const std::size_t width = std::min(strip, layer.out - begin);
        const Scalar* rows = weights + begin;
        std::size_t stride = layer.out;
        if (batch.count >= PACK)
        {
            void* memory = m_strip.data();
            std::size_t space = m_strip.size() * sizeof(Scalar);
            auto* packed = static_cast<Scalar*>(std::align(ALIGNMENT, 1, memory, space));
            for (std::size_t i = 0; i < layer.in; ++i)
            {
                std::copy_n(rows + i * stride, width, packed + i * width);
            }
            rows = packed;
            stride = width;
        }
        std::size_t first = 0;
        for (std::size_t s = 0; s < batch.count; ++s)
        {
            Scalar* output = layer.outputs.data() + s * layer.out + begin;
            std::copy_n(m_base.data() + begin, width, output);
            WeightedRows<Scalar>::Add(
                m_entries.data() + first, m_ends[s] - first, rows, stride, output, width);
            first = m_ends[s];
        }
    }
}

template <typename Scalar>
const Scalar*
DenseKernel<Scalar>::DoComputeLogits(const SampleBatch<Scalar>& batch, const Scalar* w)
{
    Reserve(batch.count);
    ListInputs(batch);
    ForwardFirst(batch, w);
    for (std::size_t l = 1; l < m_layers.size(); ++l)
    {
        Layer& below = m_layers[l - 1];
        for (Scalar* x = below.outputs.data(); x < below.outputs.data() + batch.count * below.out;
             ++x)
        {
            *x = *x < 0 ? 0 : *x; // ReLU; keeps NaN
        }
        Layer& layer = m_layers[l];
        Eigen::Map<const Matrix<Scalar>> inputs(below.outputs.data(), batch.count, layer.in);
        Eigen::Map<const Matrix<Scalar>> weights(w + layer.weights, layer.in, layer.out);
        Eigen::Map<const RowVector<Scalar>> biases(w + layer.biases, layer.out);
        Eigen::Map<Matrix<Scalar>> outputs(layer.outputs.data(), batch.count, layer.out);
        outputs.rowwise() = biases;
        outputs.noalias() += inputs * weights;
    }
    return m_layers.back().outputs.data();
}

template <typename Scalar>
Scalar
DenseKernel<Scalar>::DoAddGradient(const SampleBatch<Scalar>& batch,
                                   const Scalar* w,
                                   Scalar factor,
                                   Scalar* target)
{
    DoComputeLogits(batch, w);
    Scalar loss = 0;
    Layer& top = m_layers.back();
    for (std::size_t s = 0; s < batch.count; ++s)
    {
        loss += SoftmaxGradient(
            top.outputs.data() + s * top.out, top.out, batch.labels[s], factor / batch.count);
    }
    loss = loss / batch.count + static_cast<Scalar>(DoGetPenalty(w));

    for (std::size_t l = m_layers.size() - 1; l > 0; --l)
    {
        Layer& layer = m_layers[l];
        Layer& below = m_layers[l - 1];
        Eigen::Map<const Matrix<Scalar>> delta(layer.outputs.data(), batch.count, layer.out);
        Eigen::Map<const Matrix<Scalar>> weights(w + layer.weights, layer.in, layer.out);
        Eigen::Map<Matrix<Scalar>> inputs(below.outputs.data(), batch.count, layer.in);
        // First what needs the old weights, since target may be w.
        Eigen::Map<Matrix<Scalar>> product(m_product.data(), batch.count, layer.in);
        product.noalias() = delta * weights.transpose();
        AddPenaltyGradient(layer, w, factor, target);
        Eigen::Map<Matrix<Scalar>>(target + layer.weights, layer.in, layer.out).noalias() +=
            inputs.transpose() * delta;
        AddColumnSums(layer.outputs.data(), batch.count, layer.out, target + layer.biases);
        inputs = (inputs.array() > 0).select(product, Scalar{0});
    }
    AddPenaltyGradient(m_layers.front(), w, factor, target);
    AddFirstGradient(batch, target);
    return loss;
}

template <typename Scalar>
void
DenseKernel<Scalar>::AddPenaltyGradient(const Layer& layer,
                                        const Scalar* w,
                                        Scalar factor,
                                        Scalar* target) const
{
    if (m_l2 != 0)
    {
        for (std::size_t j = layer.weights; j < layer.biases + layer.out; ++j)
        {
            target[j] += factor * m_l2 * w[j];
        }
    }
}

template <typename Scalar>
void
DenseKernel<Scalar>::AddFirstGradient(const SampleBatch<Scalar>& batch, Scalar* target)
{
    Layer& layer = m_layers.front();
    const std::size_t count = batch.count;

    // One row more than samples: the sum of delta over the batch.
    Scalar* sum = layer.outputs.data() + count * layer.out;
    std::fill_n(sum, layer.out, Scalar{0});
    AddColumnSums(layer.outputs.data(), count, layer.out, sum);
    AddColumnSums(sum, 1, layer.out, target + layer.biases);

    if (count == 1 && batch.background == 0 && layer.out % WeightedRows<Scalar>::LANES == 0)
    {
        // One entry a row: nothing to order, and no sums to keep in registers. Only for whole
        // vectors, so that each number is rounded as WeightedRows rounds it.
        const Scalar* delta = layer.outputs.data();
        for (std::size_t e = 0; e < m_ends[0]; ++e)
        {
            Scalar* row = target + layer.weights + m_entries[e].index * layer.out;
            const Scalar value = m_entries[e].value;
            for (std::size_t k = 0; k < layer.out; ++k)
            {
                row[k] += value * delta[k];
            }
        }
        return;
    }

    // Order the entries by input (counting sort), with the background times the sum in front.
    std::fill(m_columnEnds.begin(), m_columnEnds.end(), batch.background != 0 ? 1 : 0);
    for (std::size_t e = 0; e < m_ends[count - 1]; ++e)
    {
        ++m_columnEnds[m_entries[e].index];
    }
    std::size_t begin = 0;
    for (std::size_t& end : m_columnEnds)
    {
        const std::size_t size = end;
        end = begin;
        begin += size;
        if (batch.background != 0)
        {
            m_columns[end++] = {static_cast<uint32_t>(count), batch.background};
        }
    }
    std::size_t e = 0;
    for (std::size_t s = 0; s < count; ++s)
    {
        for (; e < m_ends[s]; ++e)
        {
            m_columns[m_columnEnds[m_entries[e].index]++] = {static_cast<uint32_t>(s),
                                                             m_entries[e].value};
        }
    }

    std::size_t first = 0;
    for (std::size_t i = 0; i < layer.in; ++i)
    {
        WeightedRows<Scalar>::Add(m_columns.data() + first,
                                  m_columnEnds[i] - first,
                                  layer.outputs.data(),
                                  layer.out,
                                  target + layer.weights + i * layer.out,
                                  layer.out);
        first = m_columnEnds[i];
    }
}

template <typename Scalar>
void
DenseKernel<Scalar>::DoForward(const Scalar* input, const Scalar* w, Scalar* logits)
{
    for (std::size_t l = 0; l < m_layers.size(); ++l)
    {
        Layer& layer = m_layers[l];
        layer.inputs.clear();
        for (std::size_t i = 0; i < layer.in; ++i)
        {
            // Behind a ReLU an input of 0 has no part in derivatives either.
            if (l == 0 || !(input[i] <= 0))
            {
                layer.inputs.push_back({static_cast<uint32_t>(i), input[i]});
            }
        }
        Scalar* outputs = l + 1 < m_layers.size() ? layer.delta.data() : logits;
        std::copy_n(w + layer.biases, layer.out, outputs);
        WeightedRows<Scalar>::Add(layer.inputs.data(),
                                  layer.inputs.size(),
                                  w + layer.weights,
                                  layer.out,
                                  outputs,
                                  layer.out);
        input = outputs;
    }
}

template <typename Scalar>
void
DenseKernel<Scalar>::DoBackward(const Scalar* delta, const Scalar* w, Scalar* gradient)
{
    std::copy_n(delta, m_layers.back().out, m_layers.back().delta.begin());
    for (std::size_t l = m_layers.size(); l-- > 0;)
    {
        const Layer& layer = m_layers[l];
        Scalar* target = gradient + layer.weights;
        std::size_t next = 0; // the first input without its row
        for (const WeightedIndex<Scalar>& input : layer.inputs)
        {
            std::fill(target + next * layer.out, target + input.index * layer.out, Scalar{0});
            Scalar* row = target + input.index * layer.out;
            for (std::size_t k = 0; k < layer.out; ++k)
            {
                row[k] = input.value * layer.delta[k];
            }
            next = input.index + 1;
        }
        std::fill(target + next * layer.out, target + layer.in * layer.out, Scalar{0});
        std::copy(layer.delta.begin(), layer.delta.end(), gradient + layer.biases);
        AddPenaltyGradient(layer, w, 1, gradient);
        if (l > 0)
        {
            std::vector<Scalar>& below = m_layers[l - 1].delta;
            std::fill(below.begin(), below.end(), Scalar{0});
            for (const WeightedIndex<Scalar>& input : layer.inputs)
            {
                const Scalar* weights = w + layer.weights + input.index * layer.out;
                below[input.index] = DotProduct(weights, layer.delta.data(), layer.out);
            }
        }
    }
}

template <typename Scalar>
void
DenseKernel<Scalar>::DoForwardTangent(const Scalar* w, const Scalar* u, Scalar* tangent)
{
    for (std::size_t l = 0; l < m_layers.size(); ++l)
    {
        Layer& layer = m_layers[l];
        std::copy_n(u + layer.biases, layer.out, layer.tangent.begin());
        WeightedRows<Scalar>::Add(layer.inputs.data(),
                                  layer.inputs.size(),
                                  u + layer.weights,
                                  layer.out,
                                  layer.tangent.data(),
                                  layer.out);
        if (l > 0) // the sample itself does not depend on r
        {
            const std::vector<Scalar>& below = m_layers[l - 1].tangent;
            for (const WeightedIndex<Scalar>& input : layer.inputs)
            {
                const WeightedIndex<Scalar> entry{input.index, below[input.index]};
                WeightedRows<Scalar>::Add(
                    &entry, 1, w + layer.weights, layer.out, layer.tangent.data(), layer.out);
            }
        }
    }
    std::copy(m_layers.back().tangent.begin(), m_layers.back().tangent.end(), tangent);
}

template <typename Scalar>
void
DenseKernel<Scalar>::DoBackwardTangent(const Scalar* /* delta */,
                                       const Scalar* tangent,
                                       const Scalar* w,
                                       const Scalar* u,
                                       Scalar* byInput)
{
    std::copy_n(tangent, m_layers.back().out, m_layers.back().tangent.begin());
    for (std::size_t l = m_layers.size(); l-- > 0;)
    {
        const Layer& layer = m_layers[l];
        Scalar* below = byInput;
        if (l > 0)
        {
            below = m_layers[l - 1].tangent.data();
            std::fill_n(below, layer.in, Scalar{0});
        }
        for (const WeightedIndex<Scalar>& input : layer.inputs)
        {
            const std::size_t row = layer.weights + input.index * layer.out;
            below[input.index] = DotProduct(u + row, layer.delta.data(), layer.out) +
                                 DotProduct(w + row, layer.tangent.data(), layer.out);
        }
    }
}

template <typename Scalar>
double
DenseKernel<Scalar>::DoGetPenalty(const Scalar* w) const
{
    if (m_l2 == 0)
    {
        return 0;
    }
    double squares = 0;
    for (std::size_t j = 0; j < this->GetDimension(); ++j)
    {
        squares += static_cast<double>(w[j]) * w[j];
    }
    return m_l2 / 2 * squares;
}

template class DenseKernel<float>;
template class DenseKernel<double>;

} // namespace ns3::federated
