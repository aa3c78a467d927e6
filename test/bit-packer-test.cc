// SPDX-License-Identifier: GPL-2.0-only

#include "ns3/bit-packer.h"
#include "ns3/federated-random.h"

#include <gtest/gtest.h>

#include <vector>

using namespace ns3;

namespace
{

std::vector<uint16_t>
RandomLevels(std::size_t count, unsigned bits, FederatedRandom& random)
{
    std::vector<uint16_t> levels(count);
    for (auto& level : levels)
    {
        level = static_cast<uint16_t>(random.Below(1U << bits));
    }
    return levels;
}

} // namespace

TEST(BitPacker, WritesTheDocumentedBitOrder)
{
    const std::vector<uint16_t> levels{1, 2, 3, 4, 5, 6, 7, 0};
    std::vector<uint8_t> bytes(3);
    BitPacker::Pack(levels.data(), levels.size(), 3, bytes.data());
    // 001 010 011 100 101 110 111 000, the first level in the lowest bits.
    EXPECT_EQ(bytes, (std::vector<uint8_t>{0xd1, 0x58, 0x1f}));

    std::vector<uint8_t> wide(4);
    const std::vector<uint16_t> two{0x1234, 0xabcd};
    BitPacker::Pack(two.data(), 2, 16, wide.data());
    EXPECT_EQ(wide, (std::vector<uint8_t>{0x34, 0x12, 0xcd, 0xab}));
}

TEST(BitPacker, UnpackInvertsPackForEveryWidthLengthAndStart)
{
    FederatedRandom random(11);
    for (unsigned bits = 1; bits <= BitPacker::MAX_BITS; ++bits)
    {
        for (std::size_t count : {0, 1, 2, 7, 8, 9, 15, 16, 17, 31, 33, 64, 100, 257})
        {
            for (std::size_t first : {0, 1, 3, 7, 8, 13, 24})
            {
                const auto levels = RandomLevels(count, bits, random);
                // Exactly as large as needed, so that a sanitizer sees every stray access.
                std::vector<uint8_t> bytes(BitPacker::GetSize(first + count, bits), 0xff);
                BitPacker::Pack(levels.data(), count, bits, bytes.data(), first);
                std::vector<uint16_t> back(count);
                BitPacker::Unpack(bytes.data(), first, count, bits, back.data());
                ASSERT_EQ(back, levels) << bits << " bits, " << count << " levels from " << first;
            }
        }
    }
}

TEST(BitPacker, LeavesTheNeighborsBitsAlone)
{
    FederatedRandom random(12);
    for (unsigned bits = 1; bits <= BitPacker::MAX_BITS; ++bits)
    {
        const std::size_t total = 200;
        const auto before = RandomLevels(total, bits, random);
        std::vector<uint8_t> bytes(BitPacker::GetSize(total, bits));
        BitPacker::Pack(before.data(), total, bits, bytes.data());
        auto expected = before;
        const std::size_t first = 37;
        const auto inner = RandomLevels(101, bits, random);
        std::copy(inner.begin(), inner.end(), expected.begin() + first);
        BitPacker::Pack(inner.data(), inner.size(), bits, bytes.data(), first);
        std::vector<uint16_t> back(total);
        BitPacker::Unpack(bytes.data(), 0, total, bits, back.data());
        ASSERT_EQ(back, expected) << bits << " bits";
    }
}

TEST(BitPacker, PackingInPiecesEqualsPackingAtOnce)
{
    FederatedRandom random(13);
    for (unsigned bits = 1; bits <= BitPacker::MAX_BITS; ++bits)
    {
        const std::size_t total = 1000;
        const auto levels = RandomLevels(total, bits, random);
        std::vector<uint8_t> whole(BitPacker::GetSize(total, bits));
        std::vector<uint8_t> pieces(whole.size());
        BitPacker::Pack(levels.data(), total, bits, whole.data());
        for (std::size_t begin = 0; begin < total;)
        {
            const std::size_t count = std::min<std::size_t>(1 + random.Below(90), total - begin);
            BitPacker::Pack(levels.data() + begin, count, bits, pieces.data(), begin);
            begin += count;
        }
        ASSERT_EQ(pieces, whole) << bits << " bits";
    }
}
