// SPDX-License-Identifier: GPL-2.0-only

#ifndef PUBLIC_INTERLEAVING_H
#define PUBLIC_INTERLEAVING_H

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace ns3
{

/**
 * @ingroup federated
 * @brief The order in which the coordinates of all updates of a round are sent, which is public:
 * the k-th one that is sent is coordinate (s + k g) mod d.
 *
 * The stride g is prime to d, near the golden section of d, and such that g/d is far from all
 * fractions of small numbers (the partial quotients of its continued fraction are small). So any
 * run of coordinates that are sent one after the other, as those of a burst of lost fragments,
 * comes from all over the update: of a layer with the share q of all coordinates the run has q of
 * its length, give or take a few. The first one, s, is drawn for each round, so that what is sent
 * last is not always the same. Neither depends on the data: the order reveals nothing about them,
 * and it needs no table.
 *
 * Plain memory: worker threads may use it.
 */
class PublicInterleaving
{
  public:
    /**
     * @param seed Public, equal for all devices (LearningTask::GetRotationSeed).
     * @param round The round.
     */
    PublicInterleaving(uint64_t seed, uint32_t round);

    /**
     * @param dimension How many coordinates, d, at least 1.
     * @return g.
     */
    static std::size_t GetStride(std::size_t dimension);

    /**
     * Put coordinates into the order in which they are sent.
     * @param [in,out] values Any number of them.
     */
    template <typename T>
    void Interleave(std::vector<T>& values) const
    {
        std::vector<T> sent(values.size());
        Visit(values.size(), [&](std::size_t k, std::size_t i) { sent[k] = values[i]; });
        values = std::move(sent);
    }

    /**
     * Put coordinates back into their own order.
     * @param [in,out] values What Interleave() made.
     */
    template <typename T>
    void Restore(std::vector<T>& values) const
    {
        std::vector<T> own(values.size());
        Visit(values.size(), [&](std::size_t k, std::size_t i) { own[i] = values[k]; });
        values = std::move(own);
    }

  private:
    /**
     * @param dimension How many coordinates, at least 1.
     * @return s.
     */
    std::size_t GetFirst(std::size_t dimension) const;

    /**
     * @param dimension How many coordinates.
     * @param visit Called for each one with its place in what is sent, and its own.
     */
    template <typename Visitor>
    void Visit(std::size_t dimension, Visitor visit) const
    {
        const std::size_t stride = dimension > 0 ? GetStride(dimension) : 0;
        std::size_t own = dimension > 0 ? GetFirst(dimension) : 0;
        for (std::size_t sent = 0; sent < dimension; ++sent)
        {
            visit(sent, own);
            own += stride;
            own -= own < dimension ? 0 : dimension;
        }
    }

    uint64_t m_seed;  //!< Public seed.
    uint32_t m_round; //!< The round.
};

} // namespace ns3

#endif // PUBLIC_INTERLEAVING_H
