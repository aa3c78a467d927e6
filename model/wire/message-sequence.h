// SPDX-License-Identifier: GPL-2.0-only

#ifndef MESSAGE_SEQUENCE_H
#define MESSAGE_SEQUENCE_H

#include <cstdint>

namespace ns3::federated
{

/**
 * @param a A sequence number.
 * @param b Another one.
 * @return whether a comes after b, also where the counter has wrapped.
 */
inline bool
IsNewer(uint32_t a, uint32_t b)
{
    return static_cast<int32_t>(a - b) > 0;
}

/**
 * The largest step from one sequence number to the next one that is believed. A sender that
 * restarts begins with the time in milliseconds: this is three days.
 */
constexpr uint32_t MAX_SEQUENCE_STEP = uint32_t{1} << 28;

/** The largest step from one round of a device to the next that is believed. */
constexpr uint32_t MAX_ROUND_STEP = uint32_t{1} << 20;

} // namespace ns3::federated

#endif // MESSAGE_SEQUENCE_H
