// SPDX-License-Identifier: GPL-2.0-only

#include "level-quantizer.h"

#include "ns3/bit-packer.h"

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

bool
LevelQuantizer::DoEncode(const float* values,
                         std::size_t count,
                         const LevelGrid& grid,
                         FederatedRandom& random,
                         uint8_t* payload,
                         std::size_t first) const
{
    uint16_t levels[BLOCK];
    DoChooseLevels(values, count, grid, random, levels);
    BitPacker::Pack(levels, count, DoGetWireBits(grid.GetBits()), payload, first);
    return true;
}

} // namespace ns3
