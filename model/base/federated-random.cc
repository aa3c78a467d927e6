// SPDX-License-Identifier: GPL-2.0-only

#include "federated-random.h"

#include "ns3/random-variable-stream.h"

#include <algorithm>
#include <cstring>

namespace ns3
{

namespace
{

constexpr int LANES = 8; // blocks computed side by side

// One 32-bit word of each of the eight blocks. Compilers map it to what the processor has.
typedef uint32_t Lanes __attribute__((vector_size(4 * LANES)));

template <int BITS>
inline void
XorRotate(Lanes& target, const Lanes& operand)
{
    target ^= operand;
    target = (target << BITS) | (target >> (32 - BITS));
}

inline void
QuarterRound(Lanes& a, Lanes& b, Lanes& c, Lanes& d)
{
    a += b;
    XorRotate<16>(d, a);
    c += d;
    XorRotate<12>(b, c);
    a += b;
    XorRotate<8>(d, a);
    c += d;
    XorRotate<7>(b, c);
}

} // namespace

FederatedRandom::FederatedRandom(uint64_t seed,
                                 Purpose purpose,
                                 uint32_t device,
                                 uint64_t round,
                                 uint32_t federation)
    : m_key{static_cast<uint32_t>(seed),
            static_cast<uint32_t>(seed >> 32),
            purpose,
            device,
            static_cast<uint32_t>(round),
            static_cast<uint32_t>(round >> 32),
            federation,
            0}
{
}

FederatedRandom::FederatedRandom(const std::array<uint32_t, 8>& key,
                                 const std::array<uint32_t, 3>& nonce)
    : m_key(key),
      m_block(uint64_t{nonce[0]} << 32),
      m_nonce{nonce[1], nonce[2]}
{
}

void
FederatedRandom::ComputeBlocks(uint32_t* words)
{
    constexpr uint32_t CONSTANTS[4] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};
    Lanes start[16];
    for (int i = 0; i < 4; ++i)
    {
        start[i] = Lanes{} + CONSTANTS[i];
    }
    for (int i = 0; i < 8; ++i)
    {
        start[4 + i] = Lanes{} + m_key[i];
    }
    for (int lane = 0; lane < LANES; ++lane)
    {
        start[12][lane] = static_cast<uint32_t>(m_block + lane);
        start[13][lane] = static_cast<uint32_t>((m_block + lane) >> 32);
    }
    start[14] = Lanes{} + m_nonce[0];
    start[15] = Lanes{} + m_nonce[1];

    Lanes x[16];
    std::copy(std::begin(start), std::end(start), x);
    for (int doubleRound = 0; doubleRound < 4; ++doubleRound)
    {
        QuarterRound(x[0], x[4], x[8], x[12]);
        QuarterRound(x[1], x[5], x[9], x[13]);
        QuarterRound(x[2], x[6], x[10], x[14]);
        QuarterRound(x[3], x[7], x[11], x[15]);
        QuarterRound(x[0], x[5], x[10], x[15]);
        QuarterRound(x[1], x[6], x[11], x[12]);
        QuarterRound(x[2], x[7], x[8], x[13]);
        QuarterRound(x[3], x[4], x[9], x[14]);
    }
    for (int i = 0; i < 16; ++i)
    {
        x[i] += start[i];
    }
    std::memcpy(words, x, sizeof(x));
    m_block += LANES;
}

uint64_t
FederatedRandom::DrawSeed(UniformRandomVariable& variable)
{
    const uint64_t high = variable.GetInteger(0, max());
    return high << 32 | variable.GetInteger(0, max());
}

double
FederatedRandom::Uniform()
{
    const uint64_t high = (*this)();
    const uint64_t low = (*this)();
    return static_cast<double>((high << 32 | low) >> 11) * 0x1p-53;
}

uint32_t
FederatedRandom::Below(uint32_t count)
{
    // D. Lemire, "Fast random integer generation in an interval", 2019.
    uint64_t product = uint64_t{(*this)()} * count;
    if (static_cast<uint32_t>(product) < count)
    {
        const uint32_t threshold = (0U - count) % count;
        while (static_cast<uint32_t>(product) < threshold)
        {
            product = uint64_t{(*this)()} * count;
        }
    }
    return static_cast<uint32_t>(product >> 32);
}

void
FederatedRandom::Fill(uint32_t* words, std::size_t count)
{
    const std::size_t left = std::min(count, BUFFER - m_next);
    std::copy_n(m_words.data() + m_next, left, words);
    m_next += left;
    words += left;
    count -= left;
    for (; count >= BUFFER; count -= BUFFER, words += BUFFER)
    {
        ComputeBlocks(words);
    }
    if (count > 0)
    {
        ComputeBlocks(m_words.data());
        std::copy_n(m_words.data(), count, words);
        m_next = count;
    }
}

} // namespace ns3
