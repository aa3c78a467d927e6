// SPDX-License-Identifier: GPL-2.0-only

#ifndef FRAGMENT_ASSEMBLER_H
#define FRAGMENT_ASSEMBLER_H

#include "federated-header.h"

#include "ns3/coordinate-range.h"
#include "ns3/packed-update.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

namespace ns3::federated
{

/**
 * @ingroup federated
 * @brief Reassembles the fragments of a model or of an update, and records which coordinates were
 * received.
 *
 * Fragments may be received in any order, twice, or never; in order, each takes constant time. The
 * allocated memory follows from the owner's dimension, never from a header, and nothing is
 * allocated before the first fragment was accepted.
 */
class FragmentAssembler
{
  public:
    /** Result of Accept(). */
    enum Result
    {
        ACCEPTED,   //!< Its coordinates were stored.
        DUPLICATE,  //!< It was received before.
        INVALID,    //!< It does not fit the dimension, the bits or earlier fragments, or the screen
                    //!< rejects it.
        NOT_FINITE, //!< It has a float that is infinite or NaN.
    };

    /**
     * @param dimension Number of coordinates, d.
     * @param bits Bits of a coordinate on the wire: 1 to 16, or 32 for floats.
     */
    FragmentAssembler(std::size_t dimension, unsigned bits);

    /**
     * A further check of a fragment that would be accepted.
     * @param header Its header.
     * @param payload Its coordinates.
     * @param largest The largest magnitude of its floats; 0 for levels.
     * @return whether it is valid. Then it is accepted.
     */
    using Screen =
        std::function<bool(const FederatedHeader& header, const uint8_t* payload, float largest)>;

    /**
     * Add a fragment. The caller has checked its round and device.
     * @param header Its header.
     * @param payload header.payloadLength bytes.
     * @param screen A further check; may be empty.
     * @return whether it was accepted, or why not.
     */
    Result Accept(const FederatedHeader& header, const uint8_t* payload, const Screen& screen = {});

    /** @return whether all coordinates were received. */
    bool IsComplete() const
    {
        return m_coordinates == m_dimension;
    }

    /** @return the number of fragments of the whole; 0 as long as none was accepted. */
    uint32_t GetFragments() const
    {
        return m_fragments;
    }

    /** @return how many fragments were accepted. */
    uint32_t GetReceived() const
    {
        return m_received;
    }

    /**
     * @param maxRanges How many ranges are wanted at most.
     * @param expected Number of fragments to assume as long as none was accepted.
     * @return the missing fragments in ascending order: first index and how many.
     */
    std::vector<std::pair<uint32_t, uint32_t>> GetMissing(std::size_t maxRanges,
                                                          uint32_t expected = 0) const;

    /** @return the bytes of the whole payload, zero where nothing was received. */
    const uint8_t* GetPayload() const
    {
        return reinterpret_cast<const uint8_t*>(m_words.data());
    }

    /** @return how much memory the payload takes, in bytes; none before the first fragment. */
    std::size_t GetBufferedBytes() const
    {
        return m_words.capacity() * sizeof(float);
    }

    /** @return the distortion that the first fragment with one reported; NaN if none did. */
    float GetDistortion() const
    {
        return m_distortion;
    }

    /** @return the received coordinates: ascending, neither overlapping nor adjacent. */
    const std::vector<CoordinateRange>& GetRanges() const
    {
        return m_ranges;
    }

    /** @return the intervals of the received coordinates: ascending; equal neighbors are merged. */
    const std::vector<IntervalRange>& GetIntervals() const
    {
        return m_intervals;
    }

    /** @return what was received; its payload points into this object, which must outlive it. */
    PackedUpdate GetPacked() const;

    /**
     * Move a model of floats out.
     * @return the coordinates, zero where nothing was received. This object is empty afterwards.
     */
    std::vector<float> TakeModel();

  private:
    /**
     * @param header Header of a fragment.
     * @return whether it can belong to what is assembled here.
     */
    bool Fits(const FederatedHeader& header) const;

    /**
     * @param header Header of a fragment, whose intervals are added.
     */
    void AddIntervals(const FederatedHeader& header);

    std::size_t m_dimension;       //!< d.
    unsigned m_bits;               //!< Bits of a coordinate.
    uint32_t m_fragments = 0;      //!< Number of fragments, once one was accepted.
    uint32_t m_received = 0;       //!< Fragments accepted.
    std::size_t m_coordinates = 0; //!< Coordinates received.
    std::vector<bool> m_has;       //!< Which fragments were accepted.
    std::vector<float> m_words;    //!< The bytes of the whole payload, in a place for floats.
    std::vector<CoordinateRange> m_ranges;                        //!< Coordinates received.
    std::vector<IntervalRange> m_intervals;                       //!< Their intervals.
    float m_distortion = std::numeric_limits<float>::quiet_NaN(); //!< As reported.
};

} // namespace ns3::federated

#endif // FRAGMENT_ASSEMBLER_H
