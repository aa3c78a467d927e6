// SPDX-License-Identifier: GPL-2.0-only

#include "update-share.h"

#include "ns3/bit-packer.h"
#include "ns3/little-endian.h"
#include "ns3/quantizer.h"

namespace ns3::federated
{

void
UpdateShare::AddTo(std::size_t begin, std::size_t count, float* sums) const
{
    const float factor = scale; // for all the compiler knows, `sums` overlaps the member
    if (wireBits == Quantizer::FLOAT_BITS)
    {
        const uint8_t* bytes = payload + 4 * (first + begin);
        for (std::size_t i = 0; i < count; ++i)
        {
            sums[i] += factor * ReadLittleEndianFloat(bytes + 4 * i);
        }
        return;
    }
    uint16_t levels[BLOCK];
    BitPacker::Unpack(payload, first + begin, count, wireBits, levels);
    if (const float* const places = positions)
    {
        for (std::size_t i = 0; i < count; ++i)
        {
            sums[i] += factor * places[levels[i]];
        }
        return;
    }
    for (std::size_t i = 0; i < count; ++i)
    {
        sums[i] += factor * static_cast<float>(levels[i]);
    }
}

UpdateShare
MakeShare(const DeliveredUpdate& update,
          std::size_t index,
          std::size_t interval,
          const DeliveredRange& range,
          std::size_t begin,
          double weight)
{
    auto scale = static_cast<float>(weight);
    float offset = 0;
    if (update.wireBits != Quantizer::FLOAT_BITS)
    {
        const IntervalRange& here = update.intervals[interval];
        const LevelGrid grid(here.low, here.high, update.wireBits);
        const double width = double{grid.high} - double{grid.low};
        scale = static_cast<float>(weight * (update.positions.empty() ? grid.step : width));
        offset = static_cast<float>(weight * grid.low);
    }
    return {index,
            weight,
            range.sigma2,
            range.payload,
            range.first + begin - range.begin,
            update.wireBits,
            scale,
            offset,
            update.positions.empty() ? nullptr : update.positions.data()};
}

} // namespace ns3::federated
