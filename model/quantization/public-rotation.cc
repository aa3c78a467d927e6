// SPDX-License-Identifier: GPL-2.0-only

#include "public-rotation.h"

#include "ns3/assert.h"
#include "ns3/federated-random.h"

#include <algorithm>
#include <cmath>

namespace ns3
{

namespace
{

constexpr std::size_t GROUP = 64;   // coordinates whose sums stay in registers
constexpr std::size_t BLOCK = 4096; // coordinates that stay in the first-level cache

/** One step of the transform: sums and differences at a distance, a power of two. */
void
AddPairs(float* values, std::size_t size, std::size_t stride)
{
    for (std::size_t begin = 0; begin < size; begin += 2 * stride)
    {
        for (std::size_t i = begin; i < begin + stride; ++i)
        {
            const float a = values[i];
            const float b = values[i + stride];
            values[i] = a + b;
            values[i + stride] = a - b;
        }
    }
}

/** The steps at a distance of `stride` and twice that, in one pass over the memory. */
void
AddQuads(float* values, std::size_t size, std::size_t stride)
{
    for (std::size_t begin = 0; begin < size; begin += 4 * stride)
    {
        float* a = values + begin;
        float* b = a + stride;
        float* c = b + stride;
        float* d = c + stride;
        for (std::size_t i = 0; i < stride; ++i)
        {
            const float sum = a[i] + b[i];
            const float difference = a[i] - b[i];
            const float otherSum = c[i] + d[i];
            const float otherDifference = c[i] - d[i];
            a[i] = sum + otherSum;
            b[i] = difference + otherDifference;
            c[i] = sum - otherSum;
            d[i] = difference - otherDifference;
        }
    }
}

/** All steps at a distance from `stride` on. */
void
AddFrom(float* values, std::size_t size, std::size_t stride)
{
    for (; 4 * stride <= size; stride *= 4)
    {
        AddQuads(values, size, stride);
    }
    if (stride < size)
    {
        AddPairs(values, size, stride);
    }
}

/** The fast Walsh-Hadamard transform of GROUP coordinates, in registers. */
void
TransformGroup(float* values)
{
    float other[GROUP];
    // Each step puts sums into the lower and differences into the upper half, which the compiler
    // vectorizes: after log2(GROUP) steps all coordinates are at their places again.
    const auto step = [](const float* from, float* to)
    {
        for (std::size_t i = 0; i < GROUP / 2; ++i)
        {
            to[i] = from[2 * i] + from[2 * i + 1];
            to[i + GROUP / 2] = from[2 * i] - from[2 * i + 1];
        }
    };
    step(values, other);
    step(other, values);
    step(values, other);
    step(other, values);
    step(values, other);
    step(other, values);
}

/** The fast Walsh-Hadamard transform, not scaled; block by block as long as possible. */
void
Transform(float* values, std::size_t size)
{
    if (size < GROUP)
    {
        AddFrom(values, size, 1);
        return;
    }
    const std::size_t block = std::min(size, BLOCK);
    for (std::size_t begin = 0; begin < size; begin += block)
    {
        for (std::size_t group = begin; group < begin + block; group += GROUP)
        {
            TransformGroup(values + group);
        }
        AddFrom(values + begin, block, GROUP);
    }
    AddFrom(values, size, block);
}

} // namespace

PublicRotation::PublicRotation(uint64_t seed, uint32_t round)
    : m_seed(seed),
      m_round(round)
{
}

std::size_t
PublicRotation::GetRotatedSize(std::size_t dimension)
{
    NS_ASSERT_MSG(dimension <= MAX_DIMENSION, "PublicRotation: " << dimension << " coordinates");
    std::size_t size = dimension > 0 ? 1 : 0;
    while (size < dimension)
    {
        size *= 2;
    }
    return size;
}

void
PublicRotation::MultiplyBySigns(float factor, std::vector<float>& values) const
{
    constexpr std::size_t WORD = 32; // signs in a random word
    constexpr std::size_t WORDS = 128;
    FederatedRandom random(m_seed, FederatedRandom::ROTATION, 0, m_round);
    uint32_t words[WORDS];
    for (std::size_t begin = 0; begin < values.size(); begin += WORD * WORDS)
    {
        const std::size_t end = std::min(begin + WORD * WORDS, values.size());
        random.Fill(words, (end - begin + WORD - 1) / WORD);
        const uint32_t* word = words;
        std::size_t i = begin;
        for (; i + WORD <= end; i += WORD, ++word)
        {
            for (std::size_t bit = 0; bit < WORD; ++bit)
            {
                values[i + bit] *= (*word >> bit & 1U) != 0 ? -factor : factor;
            }
        }
        for (std::size_t bit = 0; i + bit < end; ++bit)
        {
            values[i + bit] *= (*word >> bit & 1U) != 0 ? -factor : factor;
        }
    }
}

void
PublicRotation::Rotate(std::vector<float>& values) const
{
    const std::size_t size = GetRotatedSize(values.size());
    // Scaled first, so that sums stay as small as the norm.
    MultiplyBySigns(static_cast<float>(1 / std::sqrt(static_cast<double>(size))), values);
    values.resize(size);
    Transform(values.data(), size);
}

void
PublicRotation::RotateBack(std::vector<float>& values, std::size_t dimension) const
{
    NS_ASSERT_MSG(values.size() == GetRotatedSize(dimension),
                  "PublicRotation: " << values.size() << " rotated coordinates of " << dimension);
    const auto scale = static_cast<float>(1 / std::sqrt(static_cast<double>(values.size())));
    std::transform(
        values.begin(), values.end(), values.begin(), [scale](float v) { return v * scale; });
    Transform(values.data(), values.size());
    values.resize(dimension);
    MultiplyBySigns(1, values);
}

std::size_t
GetEncodedSize(bool isRotated, std::size_t dimension)
{
    return isRotated ? PublicRotation::GetRotatedSize(dimension) : dimension;
}

} // namespace ns3
