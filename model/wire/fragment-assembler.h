// SPDX-License-Identifier: GPL-2.0-only

#ifndef FRAGMENT_ASSEMBLER_H
#define FRAGMENT_ASSEMBLER_H

#include "federated-header.h"

#include "ns3/coordinate-range.h"
#include "ns3/packed-update.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace ns3::federated
{

/**
 * @ingroup federated
 * @brief Puts the fragments of a model or of an update together, and knows which coordinates came.
 *
 * Fragments may come in any order, twice, or never; in order, each costs the same. What it
 * allocates follows from the dimension that its owner gave, never from a header, and nothing is
 * allocated before the first fragment was accepted.
 */
class FragmentAssembler
{
  public:
    /** What became of a fragment. */
    enum Result
    {
        ACCEPTED,   //!< Its coordinates are there now.
        DUPLICATE,  //!< It came before.
        INVALID,    //!< It does not fit the dimension, the bits or what came before.
        NOT_FINITE, //!< It has a float that is infinite or NaN.
    };

    /**
     * @param dimension Number of coordinates, d.
     * @param bits Bits of a coordinate on the wire: 1 to 16, or 32 for floats.
     */
    FragmentAssembler(std::size_t dimension, unsigned bits);

    /**
     * Take a fragment. Whether round and device are the right ones is the caller's question.
     * @param header Its header.
     * @param payload header.payloadLength bytes.
     * @return what became of it.
     */
    Result Accept(const FederatedHeader& header, const uint8_t* payload);

    /** @return whether all coordinates came. */
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

    /** @return the bytes of the whole payload, zero where nothing came. */
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

    /** @return the coordinates that came: ascending, neither overlapping nor touching. */
    const std::vector<CoordinateRange>& GetRanges() const
    {
        return m_ranges;
    }

    /** @return the intervals of what came: ascending; neighbors with equal ends are one. */
    const std::vector<IntervalRange>& GetIntervals() const
    {
        return m_intervals;
    }

    /** @return what was received; its payload points into this object, which must outlive it. */
    PackedUpdate GetPacked() const;

    /**
     * Take a model of floats out.
     * @return the coordinates, zero where nothing came. This object is as new afterwards.
     */
    std::vector<float> TakeModel();

  private:
    /**
     * @param header Header of a fragment.
     * @return whether it can belong to what is assembled here.
     */
    bool Fits(const FederatedHeader& header) const;

    /**
     * @param header Header of a fragment, whose intervals become part of what came.
     */
    void AddIntervals(const FederatedHeader& header);

    std::size_t m_dimension;       //!< d.
    unsigned m_bits;               //!< Bits of a coordinate.
    uint32_t m_fragments = 0;      //!< Number of fragments, once one was accepted.
    uint32_t m_received = 0;       //!< Fragments accepted.
    std::size_t m_coordinates = 0; //!< Coordinates that came.
    std::vector<bool> m_has;       //!< Which fragments were accepted.
    std::vector<float> m_words;    //!< The bytes of the whole payload, in a place for floats.
    std::vector<CoordinateRange> m_ranges;                        //!< Coordinates that came.
    std::vector<IntervalRange> m_intervals;                       //!< Intervals of what came.
    float m_distortion = std::numeric_limits<float>::quiet_NaN(); //!< As reported.
};

} // namespace ns3::federated

#endif // FRAGMENT_ASSEMBLER_H
