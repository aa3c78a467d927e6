// SPDX-License-Identifier: GPL-2.0-only

#include "level-quantizer.h"

#include "ns3/bit-packer.h"

#include <algorithm>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(LevelQuantizer);

TypeId
LevelQuantizer::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::LevelQuantizer").SetParent<Quantizer>().SetGroupName("Federated");
    return tid;
}

unsigned
LevelQuantizer::DoGetWireBits(unsigned bits) const
{
    return bits;
}

void
LevelQuantizer::DoEncode(const float* values,
                         std::size_t count,
                         const LevelGrid& grid,
                         FederatedRandom& random,
                         uint8_t* payload,
                         std::size_t first) const
{
    // In blocks that stay in the first-level cache.
    constexpr std::size_t BLOCK = 1024;
    uint32_t words[BLOCK];
    uint16_t levels[BLOCK];
    const unsigned bits = grid.GetBits();
    for (std::size_t done = 0; done < count;)
    {
        const std::size_t part = std::min(count - done, BLOCK);
        random.Fill(words, part);
        DoChooseLevels(values + done, words, part, grid, levels);
        BitPacker::Pack(levels, part, bits, payload, first + done);
        done += part;
    }
}

} // namespace ns3
