// SPDX-License-Identifier: GPL-2.0-only

#ifndef UPDATE_SHARE_H
#define UPDATE_SHARE_H

#include "update-fusion.h"

#include <cstddef>
#include <cstdint>

namespace ns3::federated
{

/**
 * One update's share in a segment: omega * coordinate = offset + scale * (level, its position, or
 * float).
 */
struct UpdateShare
{
    std::size_t index;      //!< Place of the update among those given.
    double weight;          //!< omega.
    double sigma2;          //!< Variance of its link noise.
    const uint8_t* payload; //!< Packed coordinates.
    std::size_t first;      //!< Position of the segment's first coordinate.
    unsigned wireBits;      //!< Bits of a coordinate; 32 are floats.
    float scale;            //!< omega * step, omega * width, or omega.
    float offset;           //!< omega * low, or 0.
    const float* positions; //!< Of the levels in the interval; nullptr where they are even.

    static constexpr std::size_t BLOCK = 1024; //!< Most coordinates that are added at once: their
                                               //!< sums stay in the first-level cache.

    /**
     * Add scale * coordinate to sums; the offset is not added.
     * @param begin First coordinate, counted from the start of the segment.
     * @param count How many, up to BLOCK.
     * @param [in,out] sums The sums.
     */
    void AddTo(std::size_t begin, std::size_t count, float* sums) const;
};

/**
 * @param update An update.
 * @param index Its place among those given.
 * @param interval Place of the interval that holds the segment; of no account for floats.
 * @param range The range that delivered the segment.
 * @param begin First coordinate of the segment.
 * @param weight omega.
 * @return what the update adds to the segment.
 */
UpdateShare MakeShare(const DeliveredUpdate& update,
                      std::size_t index,
                      std::size_t interval,
                      const DeliveredRange& range,
                      std::size_t begin,
                      double weight);

} // namespace ns3::federated

#endif // UPDATE_SHARE_H
