// SPDX-License-Identifier: GPL-2.0-only

#ifndef FEDERATED_RANDOM_H
#define FEDERATED_RANDOM_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace ns3
{

class UniformRandomVariable;

/**
 * @ingroup federated
 * @brief A counter-based random stream for one purpose of one device in one round.
 *
 * The words are the key stream of ChaCha with 8 rounds (D. J. Bernstein, 2008) under the key
 * (seed, purpose, device, round, federation): two streams whose keys differ are independent for
 * every practical purpose, no state is shared, and a stream can be created anywhere (a worker
 * thread, another process) from its key. The seed is drawn from an ns-3 random stream, so that it
 * depends on RngSeedManager.
 *
 * Eight blocks are computed side by side; word w of block 8k+i is word 128k + 8w + i of the stream.
 * The class is a C++ UniformRandomBitGenerator, so Boost's distributions take it.
 */
class FederatedRandom
{
  public:
    /** What a stream is for: part of its key, so that purposes never share words. */
    enum Purpose : uint32_t
    {
        GENERAL,
        PARTITION,
        INITIAL_MODEL,
        BATCHES,
        QUANTIZE,
        LINK_NOISE,
        SYNTHETIC_DATA,
        SELECTION,
        ROTATION,
        UPDATE_NOISE,
        INTERLEAVING,
        FADING,
        SHADOWING,
        CELL,
        PLACE,
    };

    using result_type = uint32_t; //!< As the standard library names it.

    /**
     * @param seed Drawn from an ns-3 random stream.
     * @param purpose What the stream is for.
     * @param device Device identifier, 0 where there is none.
     * @param round Number of the round or of the update, 0 where there is none.
     * @param federation Number of the federation in the simulation, 0 where it does not matter.
     */
    explicit FederatedRandom(uint64_t seed,
                             Purpose purpose = GENERAL,
                             uint32_t device = 0,
                             uint64_t round = 0,
                             uint32_t federation = 0);

    /**
     * The key stream of RFC 8439 with 8 rounds instead of 20, for encryption. It counts blocks in
     * 32 bits: no more than 256 GiB may be taken.
     * @param key The ChaCha key.
     * @param nonce Its first word stands behind the counter of blocks.
     */
    FederatedRandom(const std::array<uint32_t, 8>& key, const std::array<uint32_t, 3>& nonce);

    /**
     * @param variable An ns-3 random variable; two numbers are drawn.
     * @return a seed of 64 random bits.
     */
    static uint64_t DrawSeed(UniformRandomVariable& variable);

    /** @return the smallest word. */
    static constexpr uint32_t min()
    {
        return 0;
    }

    /** @return the largest word. */
    static constexpr uint32_t max()
    {
        return std::numeric_limits<uint32_t>::max();
    }

    /** @return the next word of the stream, uniform over 0..2^32-1. */
    uint32_t operator()()
    {
        if (m_next == BUFFER)
        {
            ComputeBlocks(m_words.data());
            m_next = 0;
        }
        return m_words[m_next++];
    }

    /** @return a number uniform in [0, 1) with 53 random bits. */
    double Uniform();

    /**
     * @param count How many values there are, at least 1.
     * @return an integer uniform over 0..count-1, without bias.
     */
    uint32_t Below(uint32_t count);

    /**
     * Write the next words of the stream.
     * @param [out] words Where they go.
     * @param count How many.
     */
    void Fill(uint32_t* words, std::size_t count);

    /**
     * Put the items in a uniformly random order (Fisher-Yates).
     * @param items The items.
     */
    template <typename T>
    void Shuffle(std::vector<T>& items)
    {
        for (std::size_t left = items.size(); left > 1; --left)
        {
            std::swap(items[left - 1], items[Below(static_cast<uint32_t>(left))]);
        }
    }

  private:
    static constexpr std::size_t BUFFER = 128; //!< Eight blocks of sixteen words.

    /**
     * Compute the next eight blocks.
     * @param [out] words BUFFER words.
     */
    void ComputeBlocks(uint32_t* words);

    std::array<uint32_t, 8> m_key;          //!< The ChaCha key.
    uint64_t m_block = 0;                   //!< Number of the next block.
    std::array<uint32_t, 2> m_nonce{};      //!< The last two words of the input.
    std::array<uint32_t, BUFFER> m_words{}; //!< Words of the current eight blocks.
    std::size_t m_next = BUFFER;            //!< Index of the next unused word.
};

} // namespace ns3

#endif // FEDERATED_RANDOM_H
