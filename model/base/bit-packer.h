// SPDX-License-Identifier: GPL-2.0-only

#ifndef BIT_PACKER_H
#define BIT_PACKER_H

#include <cstddef>
#include <cstdint>

namespace ns3
{

/**
 * @ingroup federated
 * @brief Packs quantization levels of 1 to 16 bits into bytes, and back.
 *
 * The bytes are one string of bits, bit i being bit i mod 8 (counted from the least significant) of
 * byte i div 8. Level k of b bits is in bits k*b .. k*b + b - 1, least significant bit first:
 *
 * @verbatim
   b = 3   byte 0            byte 1            byte 2
           7 6 5 4 3 2 1 0   7 6 5 4 3 2 1 0   7 6 5 4 3 2 1 0
           2 2 1 1 1 0 0 0   5 4 4 4 3 3 3 2   7 7 7 6 6 6 5 5     (the level each bit belongs to)
   @endverbatim
 *
 * Every function can start at any level: a fragment of an update starts at any coordinate.
 */
class BitPacker
{
  public:
    static constexpr unsigned MAX_BITS = 16; //!< The widest level.
    static constexpr unsigned FLOAT_BITS =
        32; //!< Bits of a coordinate that is a float, not a level.

    /**
     * @param count Number of levels.
     * @param bits Bits of a level.
     * @return how many bytes the levels take.
     */
    static constexpr std::size_t GetSize(std::size_t count, unsigned bits)
    {
        return (count * bits + 7) / 8;
    }

    /**
     * Pack levels. Bits that belong to other levels keep their value.
     * @param levels The levels, each below 2^bits.
     * @param count Number of levels.
     * @param bits Bits of a level, 1 to 16.
     * @param [in,out] bytes At least GetSize(first + count, bits) bytes.
     * @param first Position of the first level in the string.
     */
    static void Pack(const uint16_t* levels,
                     std::size_t count,
                     unsigned bits,
                     uint8_t* bytes,
                     std::size_t first = 0);

    /**
     * Unpack levels: the inverse of Pack.
     * @param bytes At least GetSize(first + count, bits) bytes; none beyond them is read.
     * @param first Position of the first level in the string.
     * @param count Number of levels.
     * @param bits Bits of a level, 1 to 16.
     * @param [out] levels The levels.
     */
    static void Unpack(const uint8_t* bytes,
                       std::size_t first,
                       std::size_t count,
                       unsigned bits,
                       uint16_t* levels);
};

} // namespace ns3

#endif // BIT_PACKER_H
