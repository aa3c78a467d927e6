// SPDX-License-Identifier: GPL-2.0-only

#ifndef PACKED_UPDATE_H
#define PACKED_UPDATE_H

#include "coordinate-range.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace ns3
{

/**
 * @ingroup federated
 * @brief The received part of an update, as it was sent: plain values, passed from the wire to
 * fusion.
 */
struct PackedUpdate
{
    std::size_t dimension = 0;            //!< d, coordinates of the whole update.
    unsigned wireBits = 0;                //!< Bits of a coordinate: 1 to 16, or 32 for floats.
    const uint8_t* payload = nullptr;     //!< Of the whole update; zero where nothing was
                                          //!< received.
    std::vector<CoordinateRange> ranges;  //!< Coordinates that were received: ascending, neither
                                          //!< overlapping nor touching.
    std::vector<IntervalRange> intervals; //!< Of what was received, ascending, as the sender had
                                          //!< them.
    float distortion = std::numeric_limits<float>::quiet_NaN(); //!< Of a coordinate, as reported;
                                                                //!< NaN: not reported.
};

} // namespace ns3

#endif // PACKED_UPDATE_H
