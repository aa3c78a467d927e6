// SPDX-License-Identifier: GPL-2.0-only

#include "crc32c.h"

#include "ns3/little-endian.h"

#include <boost/crc.hpp>

#include <algorithm>
#include <array>

#ifdef __x86_64__
#include <immintrin.h>
// Compiled for processors with these instructions, even if the other files are not.
#define HARDWARE __attribute__((target("sse4.2,pclmul")))
#endif

namespace ns3::federated
{

namespace
{

/** @return the bits in reverse order: Boost keeps a reflected checksum the other way round. */
uint32_t
Reverse(uint32_t word)
{
    uint32_t reversed = 0;
    for (int bit = 0; bit < 32; ++bit)
    {
        reversed = reversed << 1 | (word >> bit & 1);
    }
    return reversed;
}

#ifdef __x86_64__

constexpr std::size_t LANE = 64; // longest lane, in words of eight bytes

/**
 * The factors that move a checksum past words that follow: entry n is x^(64 n - 33) mod P, bits
 * reflected. A carry-less product of reflected words is one bit short and the crc32 instruction
 * multiplies by x^32, which is where 33 comes from.
 */
constexpr std::array<uint32_t, 2 * LANE + 1>
MakeShifts()
{
    std::array<uint32_t, 2 * LANE + 1> shifts{};
    uint32_t power = 1; // x^31
    for (std::size_t words = 1; words < shifts.size(); ++words)
    {
        shifts[words] = power;
        for (int bit = 0; bit < 64; ++bit)
        {
            power = power >> 1 ^ (power & 1 ? 0x82f63b78 : 0);
        }
    }
    return shifts;
}

constexpr auto SHIFTS = MakeShifts();

/** @return the product of a lane's checksum and the factor for the words after the lane. */
HARDWARE uint64_t
Shift(uint64_t crc, std::size_t words)
{
    const __m128i product = _mm_clmulepi64_si128(
        _mm_cvtsi64_si128(static_cast<int64_t>(crc)), _mm_cvtsi32_si128(SHIFTS[words]), 0);
    return static_cast<uint64_t>(_mm_cvtsi128_si64(product));
}

/** Crc32c with the processor's own instruction. */
HARDWARE uint32_t
GetByHardware(const uint8_t* bytes, std::size_t count, uint32_t crc)
{
    uint64_t state = ~crc;
    // The instruction takes three cycles but starts every cycle: three lanes side by side.
    while (count >= 96)
    {
        const std::size_t words = std::min(count / 24, LANE);
        const uint8_t* second = bytes + 8 * words;
        const uint8_t* third = second + 8 * words;
        uint64_t secondState = 0;
        uint64_t thirdState = 0;
        for (std::size_t i = 0; i < 8 * words; i += 8)
        {
            state = _mm_crc32_u64(state, ReadLittleEndianWord(bytes + i));
            secondState = _mm_crc32_u64(secondState, ReadLittleEndianWord(second + i));
            thirdState = _mm_crc32_u64(thirdState, ReadLittleEndianWord(third + i));
        }
        state = thirdState ^ _mm_crc32_u64(0, Shift(state, 2 * words) ^ Shift(secondState, words));
        bytes += 24 * words;
        count -= 24 * words;
    }
    for (; count >= 8; bytes += 8, count -= 8)
    {
        state = _mm_crc32_u64(state, ReadLittleEndianWord(bytes));
    }
    auto rest = static_cast<uint32_t>(state);
    for (; count > 0; ++bytes, --count)
    {
        rest = _mm_crc32_u8(rest, *bytes);
    }
    return ~rest;
}

#endif // __x86_64__

} // namespace

uint32_t
PortableCrc32c(const uint8_t* bytes, std::size_t count, uint32_t crc)
{
    boost::crc_optimal<32, 0x1edc6f41, 0, 0xffffffff, true, true> sum(Reverse(~crc));
    sum.process_bytes(bytes, count);
    return sum.checksum();
}

uint32_t
Crc32c(const uint8_t* bytes, std::size_t count, uint32_t crc)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("pclmul"))
    {
        return GetByHardware(bytes, count, crc);
    }
#endif
    return PortableCrc32c(bytes, count, crc);
}

} // namespace ns3::federated
