// SPDX-License-Identifier: GPL-2.0-only

#include "update-clipping.h"

#include "lane-fold.h"

#include "ns3/abort.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>

namespace ns3
{

double
GetUpdateNorm(ClipNorm norm, const float* values, std::size_t count)
{
    if (norm == CLIP_L2)
    {
        return std::sqrt(
            federated::SumOver(values, count, [](float value) { return double{value} * value; }));
    }
    // A block is added up in floats, which is faster and exact to 1e-5 at worst, or in doubles
    // where floats overflow; blocks are added in doubles.
    constexpr std::size_t BLOCK = 1024;
    double sum = 0;
    for (std::size_t begin = 0; begin < count; begin += BLOCK)
    {
        const std::size_t size = std::min(count - begin, BLOCK);
        const double part = federated::FoldOver(
            values + begin,
            size,
            0.0F,
            [](float partial, float value) { return partial + std::abs(value); },
            std::plus<float>());
        sum += std::isfinite(part)
                   ? part
                   : federated::SumOver(
                         values + begin, size, [](float value) { return double{std::abs(value)}; });
    }
    return sum;
}

bool
IsFiniteUpdate(const float* values, std::size_t count)
{
    uint32_t largest = 0; // exponent bits are all ones in infinities and NaNs only
    for (std::size_t i = 0; i < count; ++i)
    {
        uint32_t word;
        std::memcpy(&word, values + i, sizeof(word));
        largest = std::max(largest, word & 0x7f800000U);
    }
    return largest != 0x7f800000U;
}

double
ClipUpdate(ClipNorm norm, double bound, float* values, std::size_t count)
{
    NS_ABORT_MSG_IF(norm != CLIP_NONE && !(bound > 0),
                    "ClipUpdate: the bound is " << bound << ", not above 0");
    const double size = GetUpdateNorm(norm, values, count);
    if (!std::isfinite(size))
    {
        return 0;
    }
    if (norm == CLIP_NONE || size <= bound)
    {
        return 1;
    }
    const double factor = bound / size;
    const auto scale = static_cast<float>(factor);
    if (std::isnormal(scale))
    {
        std::transform(values, values + count, values, [scale](float v) { return v * scale; });
    }
    else // a float has too few digits for so small a factor
    {
        std::transform(values,
                       values + count,
                       values,
                       [factor](float v) { return static_cast<float>(v * factor); });
    }
    return factor;
}

} // namespace ns3
