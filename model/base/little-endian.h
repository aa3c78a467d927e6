// SPDX-License-Identifier: GPL-2.0-only

#ifndef LITTLE_ENDIAN_H
#define LITTLE_ENDIAN_H

#include <cstdint>
#include <cstring>

namespace ns3::federated
{

/** Whether this machine stores the least significant byte first, as payloads do. */
constexpr bool LITTLE_ENDIAN_HOST = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;

/**
 * @ingroup federated
 * @param bytes Eight bytes, the least significant first.
 * @return their value.
 */
inline uint64_t
ReadLittleEndianWord(const uint8_t* bytes)
{
    uint64_t word;
    std::memcpy(&word, bytes, sizeof(word));
    return LITTLE_ENDIAN_HOST ? word : __builtin_bswap64(word);
}

/**
 * @ingroup federated
 * @param word A number.
 * @param [out] bytes Its eight bytes, the least significant first.
 */
inline void
WriteLittleEndianWord(uint64_t word, uint8_t* bytes)
{
    word = LITTLE_ENDIAN_HOST ? word : __builtin_bswap64(word);
    std::memcpy(bytes, &word, sizeof(word));
}

/**
 * @ingroup federated
 * @param bytes Four bytes of an IEEE float, the least significant first.
 * @return the float, which may be anything, NaN included.
 */
inline float
ReadLittleEndianFloat(const uint8_t* bytes)
{
    uint32_t word;
    std::memcpy(&word, bytes, sizeof(word));
    word = LITTLE_ENDIAN_HOST ? word : __builtin_bswap32(word);
    float value;
    std::memcpy(&value, &word, sizeof(value));
    return value;
}

/**
 * @ingroup federated
 * @param value A float.
 * @param [out] bytes Its four bytes, the least significant first.
 */
inline void
WriteLittleEndianFloat(float value, uint8_t* bytes)
{
    uint32_t word;
    std::memcpy(&word, &value, sizeof(word));
    word = LITTLE_ENDIAN_HOST ? word : __builtin_bswap32(word);
    std::memcpy(bytes, &word, sizeof(word));
}

} // namespace ns3::federated

#endif // LITTLE_ENDIAN_H
