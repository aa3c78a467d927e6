// SPDX-License-Identifier: GPL-2.0-only

#include "bit-packer.h"

#include "little-endian.h"

#include "ns3/assert.h"

#include <algorithm>
#include <cstring>

namespace ns3
{

namespace
{

/** Closes up the four 16-bit lanes of a word to 4b adjacent bits, and spreads them again. */
struct Quartet
{
    explicit Quartet(unsigned bits)
        : laneShift(16 - bits),
          pairShift(32 - 2 * bits),
          evenLanes(((uint64_t{1} << bits) - 1) * 0x100000001),
          oddLanes(evenLanes << bits),
          lowPair((uint64_t{1} << (2 * bits)) - 1),
          highPair(lowPair << (2 * bits))
    {
    }

    uint64_t Close(uint64_t word) const
    {
        word = (word & evenLanes) | (word >> laneShift & oddLanes);
        return (word & lowPair) | (word >> pairShift & highPair);
    }

    uint64_t Spread(uint64_t word) const
    {
        word = (word & lowPair) | (word & highPair) << pairShift;
        return (word & evenLanes) | (word & oddLanes) << laneShift;
    }

    unsigned laneShift; //!< From a lane of its own to the neighbor of the even lane.
    unsigned pairShift; //!< From a half of its own to the neighbor of the low pair.
    uint64_t evenLanes; //!< The first level of each pair.
    uint64_t oddLanes;  //!< The second level of each pair, closed up.
    uint64_t lowPair;   //!< The first two levels, closed up.
    uint64_t highPair;  //!< The last two levels, closed up.
};

uint64_t
ReadLanes(const uint16_t* levels)
{
    return levels[0] | uint64_t{levels[1]} << 16 | uint64_t{levels[2]} << 32 |
           uint64_t{levels[3]} << 48;
}

void
WriteLanes(uint64_t lanes, uint16_t* levels)
{
    levels[0] = static_cast<uint16_t>(lanes);
    levels[1] = static_cast<uint16_t>(lanes >> 16);
    levels[2] = static_cast<uint16_t>(lanes >> 32);
    levels[3] = static_cast<uint16_t>(lanes >> 48);
}

void
PackOne(uint16_t level, std::size_t position, unsigned bits, uint8_t* bytes)
{
    std::size_t bit = position * bits;
    for (unsigned done = 0; done < bits;)
    {
        const unsigned offset = bit % 8;
        const unsigned part = std::min(8 - offset, bits - done);
        const unsigned mask = ((1U << part) - 1) << offset;
        uint8_t& byte = bytes[bit / 8];
        byte = static_cast<uint8_t>((byte & ~mask) | (((level >> done) << offset) & mask));
        done += part;
        bit += part;
    }
}

uint16_t
UnpackOne(const uint8_t* bytes, std::size_t position, unsigned bits)
{
    std::size_t bit = position * bits;
    unsigned level = 0;
    for (unsigned done = 0; done < bits;)
    {
        const unsigned offset = bit % 8;
        const unsigned part = std::min(8 - offset, bits - done);
        level |= ((bytes[bit / 8] >> offset) & ((1U << part) - 1)) << done;
        done += part;
        bit += part;
    }
    return static_cast<uint16_t>(level);
}

/** Levels that are packed or unpacked together where a byte holds a whole number of them. */
constexpr std::size_t BLOCK = 512;

/** Join the `bits` used bits of neighboring bytes: the compiler vectorizes it. */
void
JoinNeighbors(const uint8_t* __restrict from,
              std::size_t pairs,
              unsigned bits,
              uint8_t* __restrict to)
{
    for (std::size_t i = 0; i < pairs; ++i)
    {
        uint16_t pair; // the first byte is the low one
        std::memcpy(&pair, from + 2 * i, sizeof(pair));
        to[i] = static_cast<uint8_t>(pair | pair >> (8 - bits));
    }
}

/** Split bytes into two neighbors of `bits` bits each: the inverse of JoinNeighbors. */
void
SplitNeighbors(const uint8_t* __restrict from,
               std::size_t pairs,
               unsigned bits,
               uint8_t* __restrict to)
{
    const unsigned mask = ((1U << bits) - 1) * 0x101;
    for (std::size_t i = 0; i < pairs; ++i)
    {
        const auto pair = static_cast<uint16_t>((from[i] | from[i] << (8 - bits)) & mask);
        std::memcpy(to + 2 * i, &pair, sizeof(pair));
    }
}

/**
 * Pack levels of 1, 2, 4 or 8 bits: narrow them to bytes, then join neighbors until a byte is full.
 * @param levels A multiple of eight levels, at most BLOCK.
 */
void
PackBlock(const uint16_t* levels, std::size_t count, unsigned bits, uint8_t* bytes)
{
    if (bits == 8)
    {
        std::copy_n(levels, count, bytes);
        return;
    }
    uint8_t buffers[2][BLOCK];
    std::copy_n(levels, count, buffers[0]);
    const uint8_t* from = buffers[0];
    uint8_t* to = buffers[1];
    for (; bits < 4; bits *= 2)
    {
        count /= 2;
        JoinNeighbors(from, count, bits, to);
        from = to;
        to = to == buffers[1] ? buffers[0] : buffers[1];
    }
    JoinNeighbors(from, count / 2, 4, bytes);
}

/** Unpack levels of 1, 2, 4 or 8 bits: the inverse of PackBlock. */
void
UnpackBlock(const uint8_t* bytes, std::size_t count, unsigned bits, uint16_t* levels)
{
    uint8_t buffers[2][BLOCK];
    const uint8_t* from = bytes;
    uint8_t* to = buffers[0];
    std::size_t have = count * bits / 8;
    for (unsigned width = 8; width > bits; have *= 2)
    {
        width /= 2;
        SplitNeighbors(from, have, width, to);
        from = to;
        to = to == buffers[1] ? buffers[0] : buffers[1];
    }
    std::copy_n(from, count, levels);
}

/** @return whether PackBlock and UnpackBlock apply: a byte holds a whole number of levels. */
bool
DividesByte(unsigned bits)
{
    return federated::LITTLE_ENDIAN_HOST && 8 % bits == 0;
}

/** @return the number of levels before the next one that starts a byte and a group of eight. */
std::size_t
GetHead(std::size_t first, std::size_t count)
{
    return std::min(count, (8 - first % 8) % 8);
}

} // namespace

void
BitPacker::Pack(const uint16_t* levels,
                std::size_t count,
                unsigned bits,
                uint8_t* bytes,
                std::size_t first)
{
    NS_ASSERT_MSG(bits >= 1 && bits <= MAX_BITS, "BitPacker: " << bits << " bits a level");
    std::size_t done = 0;
    for (const std::size_t head = GetHead(first, count); done < head; ++done)
    {
        PackOne(levels[done], first + done, bits, bytes);
    }
    // Eight levels are exactly `bits` bytes, four end at a half byte. Whole words are written as
    // long as later levels of this call overwrite what a word holds beyond its own.
    const Quartet quartet(bits);
    const std::size_t secondByte = 4 * bits / 8;
    const unsigned secondBit = 4 * bits % 8;
    uint8_t* group = bytes + (first + done) / 8 * bits;
    while (DividesByte(bits) && count - done >= 8)
    {
        const std::size_t part = std::min(BLOCK, (count - done) / 8 * 8);
        PackBlock(levels + done, part, bits, group);
        done += part;
        group += part / 8 * bits;
    }
    for (; (count - done) * bits / 8 >= secondByte + 8; done += 8, group += bits)
    {
        const uint64_t low = quartet.Close(ReadLanes(levels + done));
        const uint64_t high = quartet.Close(ReadLanes(levels + done + 4));
        const uint64_t shared = secondBit ? low >> (8 * secondByte) : 0;
        federated::WriteLittleEndianWord(low, group);
        federated::WriteLittleEndianWord(high << secondBit | shared, group + secondByte);
    }
    for (; done < count; ++done)
    {
        PackOne(levels[done], first + done, bits, bytes);
    }
}

void
BitPacker::Unpack(const uint8_t* bytes,
                  std::size_t first,
                  std::size_t count,
                  unsigned bits,
                  uint16_t* levels)
{
    NS_ASSERT_MSG(bits >= 1 && bits <= MAX_BITS, "BitPacker: " << bits << " bits a level");
    std::size_t done = 0;
    for (const std::size_t head = GetHead(first, count); done < head; ++done)
    {
        levels[done] = UnpackOne(bytes, first + done, bits);
    }
    const Quartet quartet(bits);
    const uint8_t* group = bytes + (first + done) / 8 * bits;
    while (DividesByte(bits) && count - done >= 8)
    {
        const std::size_t part = std::min(BLOCK, (count - done) / 8 * 8);
        UnpackBlock(group, part, bits, levels + done);
        done += part;
        group += part / 8 * bits;
    }
    const std::size_t secondByte = 4 * bits / 8;
    const unsigned secondBit = 4 * bits % 8;
    for (; (count - done) * bits / 8 >= secondByte + 8; done += 8, group += bits)
    {
        WriteLanes(quartet.Spread(federated::ReadLittleEndianWord(group)), levels + done);
        WriteLanes(quartet.Spread(federated::ReadLittleEndianWord(group + secondByte) >> secondBit),
                   levels + done + 4);
    }
    for (; done < count; ++done)
    {
        levels[done] = UnpackOne(bytes, first + done, bits);
    }
}

} // namespace ns3
