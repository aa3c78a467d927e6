// SPDX-License-Identifier: GPL-2.0-only

#ifndef BIG_ENDIAN_H
#define BIG_ENDIAN_H

#include "little-endian.h"

#include <cstdint>
#include <cstring>

namespace ns3::federated
{

/**
 * @ingroup federated
 * @param bytes Four bytes in network order, the most significant first.
 * @return their value.
 */
inline uint32_t
ReadBigEndian32(const uint8_t* bytes)
{
    uint32_t word;
    std::memcpy(&word, bytes, sizeof(word));
    return LITTLE_ENDIAN_HOST ? __builtin_bswap32(word) : word;
}

/**
 * @ingroup federated
 * @param word A number.
 * @param [out] bytes Its four bytes in network order.
 */
inline void
WriteBigEndian32(uint32_t word, uint8_t* bytes)
{
    word = LITTLE_ENDIAN_HOST ? __builtin_bswap32(word) : word;
    std::memcpy(bytes, &word, sizeof(word));
}

/**
 * @ingroup federated
 * @param bytes Eight bytes in network order, the most significant first.
 * @return their value.
 */
inline uint64_t
ReadBigEndian64(const uint8_t* bytes)
{
    return uint64_t{ReadBigEndian32(bytes)} << 32 | ReadBigEndian32(bytes + 4);
}

/**
 * @ingroup federated
 * @param word A number.
 * @param [out] bytes Its eight bytes in network order.
 */
inline void
WriteBigEndian64(uint64_t word, uint8_t* bytes)
{
    WriteBigEndian32(static_cast<uint32_t>(word >> 32), bytes);
    WriteBigEndian32(static_cast<uint32_t>(word), bytes + 4);
}

/**
 * @ingroup federated
 * @param bytes Four bytes of an IEEE float in network order.
 * @return the float, which may be anything, NaN included.
 */
inline float
ReadBigEndianFloat(const uint8_t* bytes)
{
    const uint32_t word = ReadBigEndian32(bytes);
    float value;
    std::memcpy(&value, &word, sizeof(value));
    return value;
}

/**
 * @ingroup federated
 * @param value A float.
 * @param [out] bytes Its four bytes in network order.
 */
inline void
WriteBigEndianFloat(float value, uint8_t* bytes)
{
    uint32_t word;
    std::memcpy(&word, &value, sizeof(word));
    WriteBigEndian32(word, bytes);
}

} // namespace ns3::federated

#endif // BIG_ENDIAN_H
