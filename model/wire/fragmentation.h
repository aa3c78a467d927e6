// SPDX-License-Identifier: GPL-2.0-only

#ifndef FRAGMENTATION_H
#define FRAGMENTATION_H

#include "federated-header.h"

#include "ns3/bit-packer.h"
#include "ns3/coordinate-range.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ns3::federated
{

/**
 * @ingroup federated
 * @brief The coordinates of a model or update that one message carries. The first of them starts a
 * byte of the whole payload, so that a fragment can be copied from it without shifting bits.
 */
struct Fragment
{
    std::size_t begin;         //!< First coordinate.
    std::size_t end;           //!< One past the last coordinate.
    std::size_t firstInterval; //!< First interval that it touches.
    std::size_t lastInterval;  //!< One past the last one.

    /**
     * @param bits Bits of a coordinate.
     * @return where the fragment's bytes begin in the whole payload.
     */
    std::size_t GetPayloadOffset(unsigned bits) const
    {
        return begin * bits / 8;
    }

    /**
     * @param bits Bits of a coordinate.
     * @return how many bytes of the whole payload are the fragment's.
     */
    std::size_t GetPayloadSize(unsigned bits) const
    {
        return BitPacker::GetSize(end - begin, bits);
    }

    /**
     * @param bits Bits of a coordinate.
     * @return the size of the message: header, intervals and payload.
     */
    std::size_t GetMessageSize(unsigned bits) const
    {
        return FederatedHeader::FIXED_SIZE +
               FederatedHeader::INTERVAL_SIZE * (lastInterval - firstInterval) +
               GetPayloadSize(bits);
    }
};

/**
 * @ingroup federated
 * Cut a model or update into messages, each filled as far as possible.
 *
 * With levels of a width that does not divide eight, a fragment must hold up to eight coordinates.
 * 100 bytes are enough for them if intervals have at least four coordinates each.
 * @param dimension Number of coordinates, d.
 * @param bits Bits of a coordinate: 1 to 16, or 32 for floats.
 * @param intervals Cover the coordinates in ascending order, none empty; or no intervals at all.
 * @param fragmentSize Largest message, in bytes, header included. It aborts if that is too small.
 * @return the fragments, in ascending order.
 */
std::vector<Fragment> PlanFragments(std::size_t dimension,
                                    unsigned bits,
                                    const std::vector<IntervalRange>& intervals,
                                    std::size_t fragmentSize);

/**
 * @ingroup federated
 * @param fragments The fragments of a model or update.
 * @param bits Bits of a coordinate.
 * @return the size of all their messages, in bytes.
 */
std::size_t GetMessagesSize(const std::vector<Fragment>& fragments, unsigned bits);

/**
 * @ingroup federated
 * Set the fields of a header that describe a fragment: fragment, fragments, first, coordinates,
 * bits and intervals.
 * @param fragment The fragment.
 * @param index Which one it is.
 * @param count Number of fragments.
 * @param bits Bits of a coordinate.
 * @param intervals The intervals that the fragments were planned with.
 * @param [in,out] header The header.
 */
void FillFragment(const Fragment& fragment,
                  std::size_t index,
                  std::size_t count,
                  unsigned bits,
                  const std::vector<IntervalRange>& intervals,
                  FederatedHeader& header);

} // namespace ns3::federated

#endif // FRAGMENTATION_H
