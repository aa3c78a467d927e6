// SPDX-License-Identifier: GPL-2.0-only

#include "trimmed-average.h"

#include "ns3/assert.h"
#include "ns3/lane-fold.h"

#include <algorithm>
#include <utility>

namespace ns3::federated
{

namespace
{

constexpr std::size_t TILE = 256; // coordinates that are sorted in the first-level cache

/** Puts the smaller value of two rows into the first of them. */
using Exchange = std::pair<std::size_t, std::size_t>;

/**
 * @param count How many rows there are.
 * @param low A rank.
 * @param high Another rank.
 * @return exchanges after which the rows of these ranks have the values of these ranks: Batcher's
 * merge exchange (Knuth, The Art of Computer Programming, 5.2.2, algorithm M) without those that no
 * longer matter. The same exchanges do for all coordinates, side by side and without branches.
 */
std::vector<Exchange>
GetExchanges(std::size_t count, std::size_t low, std::size_t high)
{
    std::size_t top = 1; // the largest power of two below count
    while (2 * top < count)
    {
        top *= 2;
    }
    std::vector<Exchange> all;
    all.reserve(4 * count);
    for (std::size_t p = top; p > 0; p /= 2)
    {
        std::size_t distance = p;
        std::size_t bit = 0;
        for (std::size_t q = top;; q /= 2)
        {
            for (std::size_t i = 0; i + distance < count; ++i)
            {
                if ((i & p) == bit)
                {
                    all.emplace_back(i, i + distance);
                }
            }
            if (q == p)
            {
                break;
            }
            distance = q - p;
            bit = p;
        }
    }
    std::vector<char> matters(count, 0);
    matters[low] = 1;
    matters[high] = 1;
    std::vector<Exchange> needed;
    needed.reserve(all.size());
    for (auto exchange = all.rbegin(); exchange != all.rend(); ++exchange)
    {
        const auto [first, second] = *exchange;
        if (matters[first] || matters[second])
        {
            matters[first] = 1;
            matters[second] = 1;
            needed.push_back(*exchange);
        }
    }
    std::reverse(needed.begin(), needed.end());
    return needed;
}

/** Exchange the values of two rows where the first is larger. */
void
SortRows(float* first, float* second)
{
    for (std::size_t i = 0; i < TILE; ++i)
    {
        const float a = first[i];
        const float b = second[i];
        first[i] = b < a ? b : a;
        second[i] = b < a ? a : b;
    }
}

/** Some coordinates of a block: their values, and what is kept of them. */
struct Tile
{
    std::size_t begin;       //!< First coordinate, counted from the start of the block.
    std::size_t count;       //!< How many.
    float low[TILE] = {};    //!< Smallest value that is kept.
    float high[TILE] = {};   //!< Largest value that is kept.
    float atLow[TILE] = {};  //!< Of the values that equal the smallest one, the share that is kept.
    float atHigh[TILE] = {}; //!< Likewise of the largest one.
};

/** Find the smallest and the largest kept values, by sorting a copy of the rows. */
void
FindBorders(const AggregationBlock& block,
            const std::vector<Exchange>& exchanges,
            std::size_t trim,
            std::vector<float>& buffer,
            Tile& tile)
{
    const std::size_t rows = block.rows.size();
    for (std::size_t row = 0; row < rows; ++row)
    {
        std::copy_n(block.rows[row].values + tile.begin, tile.count, &buffer[row * TILE]);
    }
    for (const auto& [first, second] : exchanges)
    {
        SortRows(&buffer[first * TILE], &buffer[second * TILE]);
    }
    std::copy_n(&buffer[trim * TILE], TILE, tile.low);
    std::copy_n(&buffer[(rows - 1 - trim) * TILE], TILE, tile.high);
}

/** Find how much is kept of the values at the borders. */
void
FindShares(const AggregationBlock& block, std::size_t trim, Tile& tile)
{
    float below[TILE] = {};
    float atLow[TILE] = {};
    float atHigh[TILE] = {};
    float above[TILE] = {};
    for (const AggregationRow& row : block.rows)
    {
        const float* values = row.values + tile.begin;
        for (std::size_t i = 0; i < tile.count; ++i)
        {
            below[i] += values[i] < tile.low[i] ? 1.0F : 0.0F;
            atLow[i] += values[i] == tile.low[i] ? 1.0F : 0.0F;
            atHigh[i] += values[i] == tile.high[i] ? 1.0F : 0.0F;
            above[i] += values[i] > tile.high[i] ? 1.0F : 0.0F;
        }
    }
    const auto cut = static_cast<float>(trim);
    const auto left = static_cast<float>(block.rows.size() - 2 * trim);
    for (std::size_t i = 0; i < tile.count; ++i)
    {
        const bool isOne = tile.low[i] == tile.high[i]; // all that is kept
        tile.atLow[i] = (isOne ? left : atLow[i] + below[i] - cut) / atLow[i];
        tile.atHigh[i] = (isOne ? left : atHigh[i] + above[i] - cut) / atHigh[i];
    }
}

/**
 * Average what is kept.
 * @param [out] weights What each row counts at each coordinate.
 * @param [out] aggregate The averages.
 */
void
Average(const AggregationBlock& block,
        const Tile& tile,
        const std::vector<float>& votes,
        std::vector<float>& weights,
        float* aggregate)
{
    float sums[TILE] = {};
    float all[TILE] = {};
    for (std::size_t row = 0; row < votes.size(); ++row)
    {
        const float* values = block.rows[row].values + tile.begin;
        const float vote = votes[row];
        float* rowWeights = &weights[row * TILE];
        for (std::size_t i = 0; i < tile.count; ++i)
        {
            const float low = tile.low[i];
            const float high = tile.high[i];
            float value = values[i];
            float share = value == low ? tile.atLow[i] : value == high ? tile.atHigh[i] : 1;
            share = value < low || value > high ? 0 : share;
            value = value < low ? low : value; // may be infinite where it is left out
            value = value > high ? high : value;
            rowWeights[i] = share * vote;
            all[i] += rowWeights[i];
            sums[i] += rowWeights[i] * value;
        }
    }
    for (std::size_t i = 0; i < tile.count; ++i)
    {
        all[i] = 1 / all[i];
        const float mean = sums[i] * all[i];
        aggregate[tile.begin + i] = std::min(std::max(mean, tile.low[i]), tile.high[i]);
    }
    for (std::size_t row = 0; row < votes.size(); ++row)
    {
        float* rowWeights = &weights[row * TILE];
        for (std::size_t i = 0; i < tile.count; ++i)
        {
            rowWeights[i] *= all[i];
        }
    }
}

/**
 * Average the one or two values in the middle.
 * @param [in,out] weights For each row and coordinate, its share is added.
 * @param [out] aggregate The averages.
 */
void
TakeMiddle(const AggregationBlock& block,
           const Tile& tile,
           std::vector<float>& weights,
           float* aggregate)
{
    float atLow[TILE] = {};
    float atHigh[TILE] = {};
    for (const AggregationRow& row : block.rows)
    {
        const float* values = row.values + tile.begin;
        for (std::size_t i = 0; i < tile.count; ++i)
        {
            atLow[i] += values[i] == tile.low[i] ? 1.0F : 0.0F;
            atHigh[i] += values[i] == tile.high[i] ? 1.0F : 0.0F;
        }
    }
    for (std::size_t i = 0; i < tile.count; ++i)
    {
        aggregate[tile.begin + i] = 0.5F * tile.low[i] + 0.5F * tile.high[i];
        atLow[i] = (tile.low[i] == tile.high[i] ? 1.0F : 0.5F) / atLow[i];
        atHigh[i] = 0.5F / atHigh[i];
    }
    for (std::size_t row = 0; row < block.rows.size(); ++row)
    {
        const float* values = block.rows[row].values + tile.begin;
        float* rowWeights = &weights[row * TILE];
        for (std::size_t i = 0; i < tile.count; ++i)
        {
            const float high = values[i] == tile.high[i] ? atHigh[i] : 0.0F;
            rowWeights[i] += values[i] == tile.low[i] ? atLow[i] : high;
        }
    }
}

/** Add up the weights of each row. */
void
SumWeights(const std::vector<float>& weights, std::size_t rows, double* shares)
{
    const std::size_t width = weights.size() / rows;
    for (std::size_t row = 0; row < rows; ++row)
    {
        shares[row] = SumOver(&weights[row * width], width, [](float sum) { return double{sum}; });
    }
}

} // namespace

void
TakeMedian(const AggregationBlock& block, float* aggregate, double* shares)
{
    const std::size_t rows = block.rows.size();
    const std::size_t trim = (rows - 1) / 2;
    const std::vector<Exchange> exchanges = GetExchanges(rows, trim, rows - 1 - trim);
    std::vector<float> buffer(rows * TILE);
    std::vector<float> sums(rows * TILE); // of the weights of all tiles
    for (std::size_t begin = 0; begin < block.count; begin += TILE)
    {
        Tile tile{begin, std::min(TILE, block.count - begin)};
        FindBorders(block, exchanges, trim, buffer, tile);
        TakeMiddle(block, tile, sums, aggregate);
    }
    SumWeights(sums, rows, shares);
}

void
AverageTrimmed(const AggregationBlock& block,
               std::size_t trim,
               const std::vector<float>& votes,
               float* aggregate,
               double* shares)
{
    const std::size_t rows = block.rows.size();
    NS_ASSERT_MSG(2 * trim < rows, "nothing remains of " << rows << " updates");
    const std::vector<Exchange> exchanges = GetExchanges(rows, trim, rows - 1 - trim);
    std::vector<float> buffer(rows * TILE);
    std::vector<float> sums(rows * TILE); // of the weights of all tiles
    for (std::size_t begin = 0; begin < block.count; begin += TILE)
    {
        Tile tile{begin, std::min(TILE, block.count - begin)};
        FindBorders(block, exchanges, trim, buffer, tile);
        FindShares(block, trim, tile);
        Average(block, tile, votes, buffer, aggregate);
        for (std::size_t row = 0; row < rows; ++row)
        {
            for (std::size_t i = 0; i < tile.count; ++i)
            {
                sums[row * TILE + i] += buffer[row * TILE + i];
            }
        }
    }
    SumWeights(sums, rows, shares);
}

} // namespace ns3::federated
