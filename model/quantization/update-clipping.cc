// SPDX-License-Identifier: GPL-2.0-only

#include "update-clipping.h"

#include "lane-fold.h"

#include "ns3/abort.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace ns3
{

namespace
{

/** @return the bits of a float. */
uint32_t
GetWord(float value)
{
    uint32_t word;
    std::memcpy(&word, &value, sizeof(word));
    return word;
}

/**
 * @param values The update.
 * @param count d.
 * @return the sum of magnitudes. Four of them are added in floats, which rounds three times and is
 *         faster, and these parts in doubles; all in doubles where floats overflow.
 */
double
SumMagnitudes(const float* values, std::size_t count)
{
    constexpr std::size_t LANES = 64;
    constexpr std::size_t DEPTH = 4;
    double lanes[LANES] = {};
    std::size_t begin = 0;
    for (; begin + DEPTH * LANES <= count; begin += DEPTH * LANES)
    {
        float parts[LANES] = {};
        for (std::size_t row = 0; row < DEPTH; ++row)
        {
            for (std::size_t lane = 0; lane < LANES; ++lane)
            {
                parts[lane] += std::abs(values[begin + row * LANES + lane]);
            }
        }
        for (std::size_t lane = 0; lane < LANES; ++lane)
        {
            lanes[lane] += parts[lane];
        }
    }
    const auto magnitude = [](float value) { return double{std::abs(value)}; };
    double sum = federated::SumOver(values + begin, count - begin, magnitude);
    for (const double lane : lanes)
    {
        sum += lane;
    }
    return std::isfinite(sum) ? sum : federated::SumOver(values, count, magnitude);
}

/**
 * @param norm Which norm.
 * @param count d.
 * @return the largest relative error of GetUpdateNorm(): three roundings in floats (l1 only), and
 *         in doubles one for each coordinate of a lane, to add up the lanes, and a few more.
 */
double
GetNormError(ClipNorm norm, std::size_t count)
{
    const double roundings = static_cast<double>(count) / 64 + 200;
    return roundings * 0x1p-53 + (norm == CLIP_L2 ? 0 : 3.01 * 0x1p-24);
}

/** A sum of numbers of up to 60 bits times powers of two from 2^-420 to 2^500, without rounding. */
class ExactSum
{
  public:
    /**
     * Add a number.
     * @param number A number.
     * @param exponent Its power of two.
     */
    void Add(int64_t number, int exponent)
    {
        const int position = exponent + LEAST;
        const int64_t sign = number < 0 ? -1 : 1;
        const auto magnitude = static_cast<uint64_t>(std::abs(number));
        int64_t* digit = m_digits + position / 32;
        const int shift = position % 32;
        const uint64_t upper = (magnitude >> 32) << shift;
        const uint64_t lower = (magnitude & MASK) << shift;
        digit[0] += sign * static_cast<int64_t>(lower & MASK);
        digit[1] += sign * static_cast<int64_t>((lower >> 32) + (upper & MASK));
        digit[2] += sign * static_cast<int64_t>(upper >> 32);
    }

    /** @return whether the sum is above 0. */
    bool IsPositive() const
    {
        int64_t carry = 0;
        bool isZero = true;
        for (const int64_t digit : m_digits)
        {
            const int64_t value = digit + carry;
            isZero = isZero && (value & MASK) == 0;
            carry = value >> 32; // rounded down
        }
        return carry > 0 || (carry == 0 && !isZero);
    }

  private:
    static constexpr int64_t MASK = 0xffffffff;
    static constexpr int LEAST = 420; //!< Minus the exponent of the lowest digit.
    int64_t m_digits[32] = {};        //!< Of base 2^32, with room for 2^29 numbers.
};

/**
 * Compare a norm with a bound that is close to it in exact arithmetic: slow and rarely needed.
 * @param norm CLIP_L1 or CLIP_L2.
 * @param bound C.
 * @param values The update, finite, not all zero.
 * @param count d.
 * @return whether the norm is above the bound.
 */
bool
IsAbove(ClipNorm norm, double bound, const float* values, std::size_t count)
{
    ExactSum sum;
    for (std::size_t i = 0; i < count; ++i)
    {
        int exponent;
        const auto integer =
            static_cast<int64_t>(std::ldexp(std::frexp(std::abs(values[i]), &exponent), 24));
        exponent -= 24;
        sum.Add(norm == CLIP_L2 ? integer * integer : integer,
                norm == CLIP_L2 ? 2 * exponent : exponent);
    }
    int exponent;
    const auto integer = static_cast<int64_t>(std::ldexp(std::frexp(bound, &exponent), 54));
    exponent -= 54;
    if (norm == CLIP_L1)
    {
        sum.Add(-integer, exponent);
        return sum.IsPositive();
    }
    const int64_t upper = integer >> 27;
    const int64_t lower = integer & 0x7ffffff;
    sum.Add(-upper * upper, 2 * (exponent + 27));
    sum.Add(-2 * upper * lower, 2 * exponent + 27);
    sum.Add(-lower * lower, 2 * exponent);
    return sum.IsPositive();
}

/** Multiply an update by a factor in doubles, and round towards zero. */
void
ScaleDown(double factor, float* values, std::size_t count)
{
    const double smaller = factor * (1 - 0x1p-50); // the product is rounded, too
    std::transform(values,
                   values + count,
                   values,
                   [smaller](float value)
                   {
                       const double product = value * smaller;
                       const auto rounded = static_cast<float>(product);
                       return std::abs(rounded) > std::abs(product) ? std::nextafter(rounded, 0.0F)
                                                                    : rounded;
                   });
}

} // namespace

double
GetUpdateNorm(ClipNorm norm, const float* values, std::size_t count)
{
    if (norm == CLIP_L2)
    {
        return std::sqrt(
            federated::SumOver(values, count, [](float value) { return double{value} * value; }));
    }
    return SumMagnitudes(values, count);
}

bool
IsFiniteUpdate(const float* values, std::size_t count)
{
    uint32_t largest = 0; // exponent bits are all ones in infinities and NaNs only
    for (std::size_t i = 0; i < count; ++i)
    {
        largest = std::max(largest, GetWord(values[i]) & 0x7f800000U);
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
    const double error = GetNormError(norm, count);
    const double most = size * (1 + error); // the norm is not above this
    if (norm == CLIP_NONE || most <= bound ||
        (size * (1 - error) <= bound && !IsAbove(norm, bound, values, count)))
    {
        return 1;
    }
    const double factor = bound / most;
    // A product in floats is too large by 2^-24 of it at most, or by 2^-150 where it is denormal:
    // make the factor smaller by 2^-23, for both.
    const double smaller = factor * (1 - 0x1p-23);
    auto scale = static_cast<float>(smaller);
    scale = scale > smaller ? std::nextafter(scale, 0.0F) : scale;
    if (std::isnormal(scale) && static_cast<double>(count) * 0x1p-125 <= bound)
    {
        std::transform(values, values + count, values, [scale](float v) { return v * scale; });
        return scale;
    }
    // A float has too few digits for so small a factor, or for so small products.
    ScaleDown(factor, values, count);
    return factor;
}

} // namespace ns3
