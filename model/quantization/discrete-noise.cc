// SPDX-License-Identifier: GPL-2.0-only

#include "discrete-noise.h"

#include "ns3/abort.h"

#include <algorithm>
#include <cmath>

namespace ns3::federated
{

namespace
{

/**
 * Von Neumann's comparison. Uniform variables of [0, 1) are drawn as long as each is below the one
 * before it: after a first one at x, n or more of them follow with probability x^n/n!, so that an
 * even number does with probability 1 - x + x^2/2 - ... = e^{-x}.
 *
 * Only the leading digit of a variable is drawn. Where m variables in a row share theirs, all
 * orders of their other digits are equally likely: another one that shares it is below all of them
 * with probability 1/(m+1), whatever these digits are.
 * @param digit Leading digit of the first variable.
 * @param draw Function that draws the leading digit of another one.
 * @param random Stream for ties.
 * @return whether the number of variables that follow is even.
 */
template <typename Draw>
bool
IsRunEven(uint64_t digit, Draw draw, FederatedRandom& random)
{
    uint32_t equal = 1;
    for (bool even = true;; even = !even)
    {
        const uint64_t next = draw();
        if (next > digit)
        {
            return even;
        }
        equal = next < digit ? 1 : equal + 1;
        if (equal > 1 && random.Below(equal) != 0)
        {
            return even;
        }
        digit = next;
    }
}

/** @return true with probability 1/e: the number of variables after x = 1 is even. */
bool
DrawInverseE(FederatedRandom& random)
{
    return !IsRunEven(
        random(), [&random] { return random(); }, random);
}

/**
 * @param numerator A number below 2^bits.
 * @param bits Up to 64.
 * @param random Stream for the random words.
 * @return true with probability e^{-x}, x = numerator / 2^bits.
 */
bool
DrawExponential(uint64_t numerator, int bits, FederatedRandom& random)
{
    const auto draw = [bits, &random]() -> uint64_t
    {
        const uint64_t high = random();
        return bits <= 32 ? high >> (32 - bits) : (high << 32 | random()) >> (64 - bits);
    };
    // The first variable is compared with x itself, which has no digits after these.
    const uint64_t first = draw();
    return first >= numerator || !IsRunEven(first, draw, random);
}

} // namespace

DiscreteLaplace::DiscreteLaplace(uint64_t scale)
    : m_scale(scale),
      m_mask(0)
{
    NS_ABORT_MSG_IF(scale < 1 || scale > MAX_SCALE,
                    "DiscreteLaplace: the scale is " << scale << ", not 1 to 2^62");
    while (m_mask < scale - 1)
    {
        m_mask = 2 * m_mask + 1;
    }
}

uint64_t
DiscreteLaplace::DrawBelowScale(FederatedRandom& random) const
{
    if (m_scale == 1)
    {
        return 0;
    }
    if (m_scale <= FederatedRandom::max())
    {
        return random.Below(static_cast<uint32_t>(m_scale));
    }
    for (;;)
    {
        const uint64_t high = random();
        const uint64_t number = (high << 32 | random()) & m_mask;
        if (number < m_scale)
        {
            return number;
        }
    }
}

int64_t
DiscreteLaplace::Draw(FederatedRandom& random) const
{
    // A uniform variable U is accepted with probability e^{-U} (see IsRunEven), otherwise another
    // one is drawn: a draw is rejected with probability 1 - (1 - 1/e) = 1/e, so that X = U + the
    // number V of rejected ones has the density e^{-X}. As t is an integer, floor(t X) = t V +
    // floor(t U) needs only the leading digit of U in base t, and is at least k if X >= k/t, which
    // has probability e^{-k/t}: it is geometric. A random sign makes it two-sided; that zero is
    // not counted twice, "-0" is drawn again.
    for (;;)
    {
        const auto draw = [this, &random] { return DrawBelowScale(random); };
        uint64_t rejected = 0;
        uint64_t digit = draw();
        while (!IsRunEven(digit, draw, random))
        {
            ++rejected;
            digit = draw();
        }
        const auto limit = static_cast<uint64_t>(NOISE_LIMIT);
        const auto magnitude = static_cast<int64_t>(
            rejected > limit / m_scale ? limit : std::min(rejected * m_scale + digit, limit));
        const bool negative = random() >> 31 != 0;
        if (magnitude != 0 || !negative)
        {
            return negative ? -magnitude : magnitude;
        }
    }
}

double
DiscreteLaplace::GetVariance() const
{
    const double root = std::sinh(0.5 / static_cast<double>(m_scale)); // (1 - r) / (2 sqrt(r))
    return 0.5 / (root * root);
}

DiscreteGaussian::DiscreteGaussian(int exponent)
    : m_exponent(exponent),
      m_candidate(uint64_t{1} << std::clamp(exponent, 0, MAX_EXPONENT))
{
    NS_ABORT_MSG_IF(exponent < MIN_EXPONENT || exponent > MAX_EXPONENT,
                    "DiscreteGaussian: the exponent is " << exponent << ", not -8 to 24");
}

bool
DiscreteGaussian::Accept(uint64_t magnitude, FederatedRandom& random) const
{
    // e^{-|y|/t} e^{-(|y| - s^2/t)^2/(2 s^2)} = e^{-y^2/(2 s^2)} times a constant. The exponent is
    // a fraction with the denominator 2^bits: with t = s it is (|y| - s)^2 / (2 s^2); with t = 1
    // and s^2 = 2^-n it is (2^n |y| - 1)^2 / 2^{n+1}.
    const int n = std::max(0, -2 * m_exponent);
    const int bits = std::max(n, 2 * m_exponent) + 1;
    // A square of more than 64 bits is cut: it belongs to a candidate of 2^8 t or more, and at
    // least 2^15 coins must be true to accept it.
    const uint64_t most = 0xffffffff;
    const uint64_t scaled = std::min(magnitude, most >> n) << n;
    const uint64_t center = uint64_t{1} << std::max(0, m_exponent);
    const uint64_t distance = scaled > center ? scaled - center : center - scaled;
    const uint64_t numerator = distance * distance;
    // e^{-x} of an integer is that many coins of 1/e, all true.
    for (uint64_t ones = numerator >> bits; ones > 0; --ones)
    {
        if (!DrawInverseE(random))
        {
            return false;
        }
    }
    return DrawExponential(numerator & ((uint64_t{1} << bits) - 1), bits, random);
}

int64_t
DiscreteGaussian::Draw(FederatedRandom& random) const
{
    for (;;)
    {
        const int64_t candidate = m_candidate.Draw(random);
        if (Accept(static_cast<uint64_t>(std::abs(candidate)), random))
        {
            return candidate;
        }
    }
}

double
DiscreteGaussian::GetVariance() const
{
    if (m_exponent > 0)
    {
        // By Poisson's summation the difference is below 1e-30 of it.
        return std::ldexp(1.0, 2 * m_exponent);
    }
    double mass = 1;
    double squares = 0;
    for (int k = 1; k <= 40; ++k) // e^{-40^2/2} is 0 in doubles
    {
        const double weight = 2 * std::exp(-std::ldexp(k * k, -2 * m_exponent - 1));
        mass += weight;
        squares += weight * k * k;
    }
    return squares / mass;
}

} // namespace ns3::federated
