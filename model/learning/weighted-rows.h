// SPDX-License-Identifier: GPL-2.0-only

#ifndef WEIGHTED_ROWS_H
#define WEIGHTED_ROWS_H

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace ns3::federated
{

/**
 * @ingroup federated
 * @brief One entry of a sparse vector.
 */
template <typename Scalar>
struct WeightedIndex
{
    uint32_t index; //!< Which row.
    Scalar value;   //!< Its weight.
};

/**
 * @ingroup federated
 * @brief The one inner loop of dense layers: a sparse vector times a matrix.
 *
 * Columns are taken in blocks that stay in vector registers while the entries pass by; GCC and
 * Clang map the vectors to what the processor has.
 */
template <typename Scalar>
class WeightedRows
{
  public:
#ifdef __AVX__
    static constexpr std::size_t BYTES = 32; //!< Size of a vector register.
#else
    static constexpr std::size_t BYTES = 16; //!< Size of a vector register.
#endif
    static constexpr std::size_t LANES = BYTES / sizeof(Scalar); //!< Values in a vector.

    /**
     * @param width Number of columns.
     * @return a good width for strips: of about equal size, each kept in registers at once.
     */
    static std::size_t GetStripWidth(std::size_t width)
    {
        const std::size_t vectors = width / LANES;
        if (vectors == 0)
        {
            return width;
        }
        const std::size_t strips = (vectors + MAX_VECTORS - 1) / MAX_VECTORS;
        return (vectors + strips - 1) / strips * LANES;
    }

    /**
     * target[0..width) += sum over entries e of e.value * rows[e.index * stride + 0..width).
     * @param entries The sparse vector.
     * @param count Number of entries.
     * @param rows First row of the matrix.
     * @param stride Distance of its rows.
     * @param [in,out] target width values, not part of the rows.
     * @param width Number of columns.
     */
    static void Add(const WeightedIndex<Scalar>* entries,
                    std::size_t count,
                    const Scalar* rows,
                    std::size_t stride,
                    Scalar* target,
                    std::size_t width)
    {
        if (count == 0)
        {
            return;
        }
        const std::size_t strip = GetStripWidth(width);
        while (width >= LANES)
        {
            const std::size_t vectors = (width < strip ? width : strip) / LANES;
            AddVectors<MAX_VECTORS>(vectors, entries, count, rows, stride, target);
            rows += vectors * LANES;
            target += vectors * LANES;
            width -= vectors * LANES;
        }
        if (width > 0)
        {
            for (const auto* e = entries; e < entries + count; ++e)
            {
                const Scalar* row = rows + e->index * stride;
                for (std::size_t j = 0; j < width; ++j)
                {
                    target[j] += e->value * row[j];
                }
            }
        }
    }

  private:
    static constexpr std::size_t MAX_VECTORS = 12; //!< Sums that fit in 16 registers with the rest.

    typedef Scalar Vector __attribute__((vector_size(BYTES))); //!< Values of one register.

    /**
     * Find the function for a number of vectors.
     * @param vectors The number, 1..N.
     * @param entries As in Add, like what follows.
     * @param count Number of entries, at least 1.
     * @param rows First row.
     * @param stride Distance of the rows.
     * @param [in,out] target The sums.
     */
    template <std::size_t N>
    static void AddVectors(std::size_t vectors,
                           const WeightedIndex<Scalar>* entries,
                           std::size_t count,
                           const Scalar* rows,
                           std::size_t stride,
                           Scalar* target)
    {
        if constexpr (N > 1)
        {
            if (vectors < N)
            {
                AddVectors<N - 1>(vectors, entries, count, rows, stride, target);
                return;
            }
        }
        Vector sums[N];
#pragma GCC unroll 12
        for (std::size_t n = 0; n < N; ++n)
        {
            std::memcpy(&sums[n], target + n * LANES, BYTES);
        }
        const WeightedIndex<Scalar>* end = entries + count;
        do
        {
            const Scalar* row = rows + entries->index * stride;
#pragma GCC unroll 12
            for (std::size_t n = 0; n < N; ++n)
            {
                Vector values;
                std::memcpy(&values, row + n * LANES, BYTES);
                sums[n] += entries->value * values;
            }
        } while (++entries < end);
#pragma GCC unroll 12
        for (std::size_t n = 0; n < N; ++n)
        {
            std::memcpy(target + n * LANES, &sums[n], BYTES);
        }
    }
};

} // namespace ns3::federated

#endif // WEIGHTED_ROWS_H
