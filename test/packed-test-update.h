// SPDX-License-Identifier: GPL-2.0-only

#ifndef PACKED_TEST_UPDATE_H
#define PACKED_TEST_UPDATE_H

#include "ns3/bit-packer.h"
#include "ns3/federated-random.h"
#include "ns3/level-grid.h"
#include "ns3/little-endian.h"
#include "ns3/update-fusion.h"

#include <cstddef>
#include <cstdint>
#include <list>
#include <vector>

namespace ns3::federated
{

/**
 * @ingroup federated-tests An update of random levels (or floats), kept packed and, for the
 * reference, as plain numbers.
 */
struct TestUpdate
{
    TestUpdate(uint32_t device, unsigned bits, std::size_t dimension, FederatedRandom& random)
        : values(dimension)
    {
        update.device = device;
        update.bits = bits;
        update.wireBits = bits;
        update.exactDistortion = 0.1 * (1 + random.Below(9));
        update.cellDistortion = 0.1 * (1 + random.Below(9));
        payload.resize(BitPacker::GetSize(dimension, bits));
        const std::size_t middle = dimension / 3; // two layers with an interval each
        update.intervals = {{0, middle, -1, 2}, {middle, dimension, -0.5F, 0.25F}};
        if (bits == 32)
        {
            for (std::size_t i = 0; i < dimension; ++i)
            {
                values[i] = random.Uniform() - 0.5;
                WriteLittleEndianFloat(static_cast<float>(values[i]), payload.data() + 4 * i);
            }
            return;
        }
        std::vector<uint16_t> levels(dimension);
        for (std::size_t i = 0; i < dimension; ++i)
        {
            levels[i] = static_cast<uint16_t>(random.Below(1U << bits));
            const auto& interval = update.intervals[i < middle ? 0 : 1];
            values[i] = LevelGrid(interval.low, interval.high, bits).GetValue(levels[i]);
        }
        BitPacker::Pack(levels.data(), dimension, bits, payload.data());
    }

    void Deliver(std::size_t begin, std::size_t end, double sigma2)
    {
        update.ranges.push_back({begin, end, payload.data(), begin, sigma2});
    }

    DeliveredUpdate update;
    std::vector<uint8_t> payload;
    std::vector<double> values;
};

/** @return the updates, as they are fused. */
inline std::vector<DeliveredUpdate>
GetUpdates(const std::list<TestUpdate>& updates)
{
    std::vector<DeliveredUpdate> plain;
    for (const auto& update : updates)
    {
        plain.push_back(update.update);
    }
    return plain;
}

} // namespace ns3::federated

#endif // PACKED_TEST_UPDATE_H
