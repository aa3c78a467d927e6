// SPDX-License-Identifier: GPL-2.0-only

#ifndef SENT_RECORD_H
#define SENT_RECORD_H

#include "ns3/nstime.h"

#include <cstdint>
#include <limits>

namespace ns3
{

/**
 * @ingroup federated
 * @brief The sent part of an update.
 */
struct SentRecord
{
    uint32_t round;     //!< The round.
    uint32_t device;    //!< The device.
    unsigned bits;      //!< Resolution, b.
    unsigned wireBits;  //!< Bits of a coordinate as sent.
    uint32_t fragments; //!< Fragments sent.
    uint32_t planned;   //!< Fragments of the whole update.
    uint64_t bytes;     //!< Bytes of the messages sent, with our header.
    Time firstSent;     //!< When the first one was sent.
    Time lastSent;      //!< When the last one was sent.
    double clampedFraction = std::numeric_limits<double>::quiet_NaN(); //!< Of its coordinates, how
                                                                       //!< many the interval
                                                                       //!< clamped; NaN: unknown.
};

} // namespace ns3

#endif // SENT_RECORD_H
