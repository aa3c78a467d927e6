// SPDX-License-Identifier: GPL-2.0-only

#include "float-quantizer.h"

#include "ns3/little-endian.h"

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(FloatQuantizer);

TypeId
FloatQuantizer::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::FloatQuantizer").SetParent<Quantizer>().SetGroupName("Federated");
    return tid;
}

unsigned
FloatQuantizer::DoGetWireBits(unsigned) const
{
    return FLOAT_BITS;
}

bool
FloatQuantizer::DoEncode(const float* values,
                         std::size_t count,
                         const LevelGrid& grid,
                         FederatedRandom& random,
                         uint8_t* payload,
                         std::size_t first) const
{
    float buffer[BLOCK];
    const float* floats = DoMakeFloats(values, count, grid, random, buffer);
    for (std::size_t i = 0; i < count; ++i)
    {
        federated::WriteLittleEndianFloat(floats[i], payload + 4 * (first + i));
    }
    return floats == values || IsFiniteUpdate(floats, count);
}

} // namespace ns3
