// SPDX-License-Identifier: GPL-2.0-only

#include "level-quantizer.h"

#include "ns3/abort.h"
#include "ns3/bit-packer.h"

#include <algorithm>
#include <cstdint>

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
    std::fill_n(levels, count, UINT16_MAX); // no level, if there are fewer than 2^16
    DoChooseLevels(values, count, grid, random, levels);
    const unsigned bits = DoGetWireBits(grid.GetBits());
    uint32_t all = 0;
    for (std::size_t i = 0; i < count; ++i)
    {
        all |= levels[i];
    }
    NS_ABORT_MSG_IF(all >> bits != 0,
                    GetInstanceTypeId().GetName()
                        << ": DoChooseLevels must set each of the levels, to 0 to "
                        << (uint32_t{1} << bits) - 1);
    BitPacker::Pack(levels, count, bits, payload, first);
    return true;
}

} // namespace ns3
