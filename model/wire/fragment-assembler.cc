// SPDX-License-Identifier: GPL-2.0-only

#include "fragment-assembler.h"

#include "ns3/assert.h"
#include "ns3/bit-packer.h"
#include "ns3/little-endian.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace ns3::federated
{

namespace
{

/**
 * @return the largest magnitude of the floats, infinite or NaN if one is. The compiler vectorizes
 * it.
 */
float
GetLargest(const uint8_t* bytes, std::size_t count)
{
    uint32_t largest = 0; // magnitudes are in the order of their words, infinity and NaN last
    for (std::size_t i = 0; i < count; ++i)
    {
        uint32_t word;
        std::memcpy(&word, bytes + 4 * i, sizeof(word));
        word = LITTLE_ENDIAN_HOST ? word : __builtin_bswap32(word);
        largest = std::max(largest, word & 0x7fffffff);
    }
    float magnitude;
    std::memcpy(&magnitude, &largest, sizeof(magnitude));
    return magnitude;
}

/** @return whether two intervals have the same ends. */
bool
HaveEqualEnds(const IntervalRange& a, const IntervalRange& b)
{
    return a.low == b.low && a.high == b.high;
}

} // namespace

FragmentAssembler::FragmentAssembler(std::size_t dimension, unsigned bits)
    : m_dimension(dimension),
      m_bits(bits)
{
}

bool
FragmentAssembler::Fits(const FederatedHeader& header) const
{
    const std::size_t begin = header.first;
    const std::size_t end = begin + header.coordinates;
    return header.IsValid() && header.bits == m_bits && header.coordinates > 0 &&
           end <= m_dimension && begin * m_bits % 8 == 0 &&
           (end == m_dimension || end * m_bits % 8 == 0) &&
           header.payloadLength == BitPacker::GetSize(header.coordinates, m_bits) &&
           header.fragments > 0 && header.fragments <= m_dimension &&
           (m_fragments == 0 || header.fragments == m_fragments);
}

FragmentAssembler::Result
FragmentAssembler::Accept(const FederatedHeader& header,
                          const uint8_t* payload,
                          const Screen& screen)
{
    if (!Fits(header))
    {
        return INVALID;
    }
    if (m_fragments > 0 && m_has[header.fragment])
    {
        return DUPLICATE;
    }
    const CoordinateRange range{header.first, std::size_t{header.first} + header.coordinates};
    // The range after this one; there is none if fragments are received in order.
    auto next = m_ranges.end();
    if (!m_ranges.empty() && m_ranges.back().end > range.begin)
    {
        next = std::upper_bound(m_ranges.begin(),
                                m_ranges.end(),
                                range.begin,
                                [](std::size_t begin, const CoordinateRange& r)
                                { return begin < r.begin; });
    }
    const bool hasPrevious = next != m_ranges.begin();
    if ((next != m_ranges.end() && next->begin < range.end) ||
        (hasPrevious && std::prev(next)->end > range.begin))
    {
        return INVALID;
    }
    const float largest =
        m_bits == BitPacker::FLOAT_BITS ? GetLargest(payload, header.coordinates) : 0;
    if (!std::isfinite(largest))
    {
        return NOT_FINITE;
    }
    if (screen && !screen(header, payload, largest))
    {
        return INVALID;
    }

    if (m_fragments == 0)
    {
        m_fragments = header.fragments;
        m_has.resize(m_fragments);
        m_words.resize((BitPacker::GetSize(m_dimension, m_bits) + 3) / 4);
    }
    m_has[header.fragment] = true;
    ++m_received;
    m_coordinates += header.coordinates;
    auto* bytes = reinterpret_cast<uint8_t*>(m_words.data());
    std::memcpy(bytes + range.begin * m_bits / 8, payload, header.payloadLength);
    if (std::isnan(m_distortion))
    {
        m_distortion = header.distortion;
    }
    AddIntervals(header);

    const bool joinsPrevious = hasPrevious && std::prev(next)->end == range.begin;
    const bool joinsNext = next != m_ranges.end() && next->begin == range.end;
    if (joinsPrevious)
    {
        std::prev(next)->end = joinsNext ? next->end : range.end;
        if (joinsNext)
        {
            m_ranges.erase(next);
        }
    }
    else if (joinsNext)
    {
        next->begin = range.begin;
    }
    else
    {
        m_ranges.insert(next, range);
    }
    return ACCEPTED;
}

void
FragmentAssembler::AddIntervals(const FederatedHeader& header)
{
    const auto& added = header.intervals;
    if (added.empty())
    {
        return;
    }
    std::size_t at = m_intervals.size();
    if (at > 0 && m_intervals.back().begin > header.first)
    {
        at = std::upper_bound(m_intervals.begin(),
                              m_intervals.end(),
                              std::size_t{header.first},
                              [](std::size_t begin, const IntervalRange& interval)
                              { return begin < interval.begin; }) -
             m_intervals.begin();
    }
    m_intervals.insert(m_intervals.begin() + at, added.begin(), added.end());
    // Join equal neighbors, from the one before the first added interval to the one after the last.
    const auto begin = m_intervals.begin() + (at > 0 ? at - 1 : 0);
    const auto end = m_intervals.begin() + std::min(at + added.size() + 1, m_intervals.size());
    auto last = begin;
    for (auto next = begin + 1; next < end; ++next)
    {
        if (last->end == next->begin && HaveEqualEnds(*last, *next))
        {
            last->end = next->end;
        }
        else
        {
            *++last = *next;
        }
    }
    m_intervals.erase(last + 1, end);
}

std::vector<std::pair<uint32_t, uint32_t>>
FragmentAssembler::GetMissing(std::size_t maxRanges, uint32_t expected) const
{
    std::vector<std::pair<uint32_t, uint32_t>> missing;
    if (m_fragments == 0)
    {
        if (expected > 0 && maxRanges > 0)
        {
            missing.emplace_back(0, expected);
        }
        return missing;
    }
    for (auto begin = std::find(m_has.begin(), m_has.end(), false);
         begin != m_has.end() && missing.size() < maxRanges;)
    {
        const auto end = std::find(begin, m_has.end(), true);
        missing.emplace_back(begin - m_has.begin(), end - begin);
        begin = std::find(end, m_has.end(), false);
    }
    return missing;
}

PackedUpdate
FragmentAssembler::GetPacked() const
{
    return {m_dimension, m_bits, GetPayload(), m_ranges, m_intervals, m_distortion};
}

std::vector<float>
FragmentAssembler::TakeModel()
{
    NS_ASSERT_MSG(m_bits == BitPacker::FLOAT_BITS,
                  "FragmentAssembler: only a model of floats can be taken");
    std::vector<float> model = std::move(m_words);
    model.resize(m_dimension);
    if (!LITTLE_ENDIAN_HOST)
    {
        for (float& value : model)
        {
            value = ReadLittleEndianFloat(reinterpret_cast<const uint8_t*>(&value));
        }
    }
    *this = FragmentAssembler(m_dimension, m_bits);
    return model;
}

} // namespace ns3::federated
