// SPDX-License-Identifier: GPL-2.0-only

#include "optimal-dp-quantizer.h"

#include "lane-fold.h"

#include "ns3/bit-packer.h"
#include "ns3/double.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(OptimalDpQuantizer);

namespace
{

/** The error of a set of levels, [numerator] / [denominator] of the class comment. */
class PathCosts
{
  public:
    /**
     * @param epsilon Privacy loss.
     * @param bits Resolution.
     */
    PathCosts(double epsilon, unsigned bits)
        : m_top((1U << bits) - 1),
          m_boost(std::exp(epsilon))
    {
    }

    /** @return the number of levels. */
    std::size_t GetLevels() const
    {
        return m_top + 1;
    }

    /** @return e^epsilon. */
    double GetBoost() const
    {
        return m_boost;
    }

    /** @return x_j, -1..1. */
    double GetPosition(std::size_t level) const
    {
        return 2.0 * static_cast<double>(level) / m_top - 1;
    }

    /** @return the cost of a level in use, independent of its neighbors. */
    double GetNodeCost(std::size_t level) const
    {
        const double x = GetPosition(level);
        return x * x + 1.0 / 3;
    }

    /** @return the cost of the values between two neighboring levels in use. */
    double GetStepCost(std::size_t from, std::size_t to) const
    {
        const double step = 2.0 * static_cast<double>(to - from) / m_top;
        return (m_boost - 1) / 2 * (step * step * step) / 12;
    }

    /** @return the cost of the values below the lowest level in use (above the highest). */
    double GetEndCost(std::size_t distance) const
    {
        const double width = 2.0 * static_cast<double>(distance) / m_top;
        return (m_boost - 1) / 2 * (width * width * width) / 3;
    }

    /** @return the mean squared error of randomized response over these levels. */
    double GetError(const std::vector<uint16_t>& levels) const
    {
        double cost = GetEndCost(levels.front()) + GetEndCost(m_top - levels.back());
        for (std::size_t i = 0; i < levels.size(); ++i)
        {
            cost += GetNodeCost(levels[i]);
            cost += i > 0 ? GetStepCost(levels[i - 1], levels[i]) : 0;
        }
        return cost / (static_cast<double>(levels.size()) - 1 + m_boost);
    }

  private:
    uint32_t m_top; //!< 2^b - 1.
    double m_boost; //!< e^epsilon.
};

/**
 * @param costs Costs of levels and steps.
 * @param reward What each level in use earns.
 * @return the levels of the cheapest path from the lower to the upper end.
 *
 * The step costs are convex in the length of the step. Hence of two predecessors the later one,
 * once it is the better one, stays the better one: those that are still of use stand in a queue
 * with the first level for which each is the best, which a bisection finds.
 */
std::vector<uint16_t>
FindCheapestPath(const PathCosts& costs, double reward)
{
    const std::size_t count = costs.GetLevels();
    constexpr std::size_t NONE = ~std::size_t{0};
    std::vector<double> best(count);          // cheapest path that ends at a level
    std::vector<std::size_t> previous(count); // the level before it, NONE if it is the first
    struct Candidate
    {
        std::size_t level; // the predecessor
        std::size_t from;  // first level for which it is the best
    };
    std::vector<Candidate> queue;
    std::size_t head = 0;
    const auto through = [&](std::size_t level, std::size_t to)
    { return best[level] + costs.GetStepCost(level, to); };

    for (std::size_t j = 0; j < count; ++j)
    {
        while (head + 1 < queue.size() && queue[head + 1].from <= j)
        {
            ++head;
        }
        best[j] = costs.GetEndCost(j);
        previous[j] = NONE;
        if (head < queue.size() && through(queue[head].level, j) < best[j])
        {
            best[j] = through(queue[head].level, j);
            previous[j] = queue[head].level;
        }
        best[j] += costs.GetNodeCost(j) - reward;

        // Let j be a predecessor of the levels after it.
        std::size_t from = j + 1;
        while (queue.size() > head)
        {
            const Candidate& last = queue.back();
            const std::size_t start = std::max(last.from, j + 1);
            if (start < count && through(j, start) < through(last.level, start))
            {
                queue.pop_back();
                from = start;
                continue;
            }
            // The last candidate is better at its start; find where j becomes better.
            std::size_t low = start;
            std::size_t high = count;
            while (low + 1 < high)
            {
                const std::size_t middle = low + (high - low) / 2;
                (through(j, middle) < through(last.level, middle) ? high : low) = middle;
            }
            from = high;
            break;
        }
        if (from < count)
        {
            queue.push_back({j, from});
        }
    }

    const auto total = [&](std::size_t j) { return best[j] + costs.GetEndCost(count - 1 - j); };
    std::size_t last = 0;
    for (std::size_t j = 1; j < count; ++j)
    {
        last = total(j) < total(last) ? j : last;
    }
    std::vector<uint16_t> levels;
    for (std::size_t j = last; j != NONE; j = previous[j])
    {
        levels.push_back(static_cast<uint16_t>(j));
    }
    std::reverse(levels.begin(), levels.end());
    return levels;
}

/** @return the levels of the least error. */
std::vector<uint16_t>
FindBestLevels(const PathCosts& costs)
{
    // Two levels about the middle; as good as one level, so that one alone is never needed.
    const auto middle = static_cast<uint16_t>(costs.GetLevels() / 2);
    std::vector<uint16_t> levels{static_cast<uint16_t>(middle - 1), middle};
    for (double error = costs.GetError(levels);;)
    {
        const std::vector<uint16_t> next = FindCheapestPath(costs, error);
        const double nextError = costs.GetError(next);
        if (!(nextError < error * (1 - 1e-14)) || next.size() < 2)
        {
            return levels;
        }
        levels = next;
        error = nextError;
    }
}

/** @return ln(own / other) of randomized response, without cancellation where they are close. */
double
GetResponseLoss(std::size_t levels, uint32_t lie)
{
    const double truths = 0x1p32 - static_cast<double>(levels) * lie;
    return std::log1p(truths / lie);
}

} // namespace

TypeId
OptimalDpQuantizer::GetTypeId()
{
    static TypeId tid = TypeId("ns3::OptimalDpQuantizer")
                            .SetParent<LevelQuantizer>()
                            .SetGroupName("Federated")
                            .AddConstructor<OptimalDpQuantizer>()
                            .AddAttribute("Epsilon",
                                          "The privacy loss of a coordinate on a public interval.",
                                          DoubleValue(1),
                                          MakeDoubleAccessor(&OptimalDpQuantizer::SetEpsilon,
                                                             &OptimalDpQuantizer::GetEpsilon),
                                          MakeDoubleChecker<double>(0));
    return tid;
}

OptimalDpQuantizer::OptimalDpQuantizer()
    : m_epsilon(0),
      m_designs(std::make_unique<Designs>())
{
}

OptimalDpQuantizer::~OptimalDpQuantizer() = default;

void
OptimalDpQuantizer::SetEpsilon(double epsilon)
{
    m_epsilon = epsilon;
    m_designs = std::make_unique<Designs>();
}

double
OptimalDpQuantizer::GetEpsilon() const
{
    return m_epsilon;
}

const std::vector<uint16_t>&
OptimalDpQuantizer::GetLevelsInUse(unsigned bits) const
{
    return GetDesign(bits).levels;
}

double
OptimalDpQuantizer::GetRealizedEpsilon(unsigned bits) const
{
    const Design& design = GetDesign(bits);
    return GetResponseLoss(design.levels.size(), design.lie);
}

const OptimalDpQuantizer::Design&
OptimalDpQuantizer::GetDesign(unsigned bits) const
{
    Design& design = m_designs->designs.at(bits);
    const auto make = [this, bits, &design]
    {
        // A word of 32 bits has no smaller probability than 2^-32, however large epsilon is.
        const PathCosts costs(std::min(m_epsilon, 32 * std::log(2.0)), bits);
        design.levels = FindBestLevels(costs);
        const std::size_t count = design.levels.size();
        const double exact = 0x1p32 / (static_cast<double>(count) - 1 + costs.GetBoost());
        design.lie = static_cast<uint32_t>(std::ceil(exact));
        while (GetResponseLoss(count, design.lie) > m_epsilon)
        {
            ++design.lie; // take back what rounding may have added
        }
        design.sum = 0;
        design.sumOfSquares = 0;
        design.nearestError = 0;
        std::size_t half = 0;
        design.cells.resize(2 * (costs.GetLevels() - 1));
        for (std::size_t i = 0; i < count; ++i)
        {
            const double x = costs.GetPosition(design.levels[i]);
            design.sum += x;
            design.sumOfSquares += x * x;
            const bool isLast = i + 1 == count;
            const std::size_t end =
                isLast ? design.cells.size() : design.levels[i] + design.levels[i + 1];
            const auto third = [](double edge) { return std::pow(edge, 3) / 3; };
            const double width = 2.0 / static_cast<double>(design.cells.size());
            design.nearestError += third(-1 + static_cast<double>(end) * width - x) -
                                   third(-1 + static_cast<double>(half) * width - x);
            std::fill(design.cells.begin() + static_cast<std::ptrdiff_t>(half),
                      design.cells.begin() + static_cast<std::ptrdiff_t>(end),
                      static_cast<uint16_t>(i));
            half = end;
        }
        design.nearestError /= 2; // the density of a value that is uniform in [-1, 1]
    };
    std::call_once(m_designs->made.at(bits), make);
    return design;
}

unsigned
OptimalDpQuantizer::DoGetWireBits(unsigned bits) const
{
    unsigned wireBits = 1;
    while (std::size_t{1} << wireBits < GetDesign(bits).levels.size())
    {
        ++wireBits;
    }
    return wireBits;
}

std::vector<float>
OptimalDpQuantizer::DoGetLevelPositions(unsigned bits) const
{
    const Design& design = GetDesign(bits);
    const auto top = static_cast<double>((1U << bits) - 1);
    // A correct device never sends the unused indices; they count as the highest level.
    std::vector<float> positions(std::size_t{1} << DoGetWireBits(bits),
                                 static_cast<float>(design.levels.back() / top));
    std::transform(design.levels.begin(),
                   design.levels.end(),
                   positions.begin(),
                   [top](uint16_t level) { return static_cast<float>(level / top); });
    return positions;
}

void
OptimalDpQuantizer::DoChooseLevels(const float* values,
                                   std::size_t count,
                                   const LevelGrid& grid,
                                   FederatedRandom& random,
                                   uint16_t* levels) const
{
    const Design& design = GetDesign(grid.GetBits());
    const LevelGrid local = grid; // in registers: what is written may not alias it
    int32_t places[BLOCK];
    for (std::size_t i = 0; i < count; ++i)
    {
        float fraction;
        const int32_t cell = local.Locate(values[i], fraction);
        places[i] = 2 * cell + (fraction > 0.5F);
    }
    for (std::size_t i = 0; i < count; ++i)
    {
        places[i] = design.cells[places[i]];
    }
    uint32_t words[BLOCK];
    random.Fill(words, count);
    const auto answers = static_cast<int32_t>(design.levels.size());
    const double most = answers;
    const double inverse = 1.0 / design.lie;
    for (std::size_t i = 0; i < count; ++i)
    {
        // Words of the first n * lie make any answer, `lie` words each; the others the true one.
        // Half a word is further from a whole number of answers than the product's rounding. (The
        // word is converted as a signed number, which processors do side by side.)
        const double word = static_cast<int32_t>(words[i] ^ 0x80000000U) + 0x1p31;
        const auto any = static_cast<int32_t>(std::min((word + 0.5) * inverse, most));
        levels[i] = static_cast<uint16_t>(any < answers ? any : places[i]);
    }
}

double
OptimalDpQuantizer::DoGetDistortion(const float* values,
                                    std::size_t count,
                                    const LevelGrid& grid) const
{
    const Design& design = GetDesign(grid.GetBits());
    const auto answers = static_cast<double>(design.levels.size());
    const double lie = design.lie * 0x1p-32;
    const double truth = 1 - answers * lie;
    const double half = grid.step * grid.top / 2;
    const double middle = (double{grid.low} + double{grid.high}) / 2;
    return federated::SumOver(values,
                              count,
                              [&](float value)
                              {
                                  double fraction;
                                  const int32_t cell = grid.Locate(value, fraction);
                                  const uint16_t own = design.cells[2 * cell + (fraction > 0.5)];
                                  const double toOwn = value - grid.GetValue(design.levels[own]);
                                  const double offset = value - middle;
                                  const double toAll = answers * offset * offset -
                                                       2 * offset * half * design.sum +
                                                       half * half * design.sumOfSquares;
                                  return truth * toOwn * toOwn + lie * toAll;
                              });
}

double
OptimalDpQuantizer::DoGetCellDistortion(const LevelGrid& grid) const
{
    const Design& design = GetDesign(grid.GetBits());
    const auto answers = static_cast<double>(design.levels.size());
    const double lie = design.lie * 0x1p-32;
    const double half = grid.step * grid.top / 2;
    return half * half *
           ((1 - answers * lie) * design.nearestError + lie * (answers / 3 + design.sumOfSquares));
}

double
OptimalDpQuantizer::DoGetLeastDistortion(const LevelGrid& grid) const
{
    // Each of n levels is sent with probability `lie` at least, whatever the value is: no value has
    // a smaller mean squared distance from them than their mean has.
    const Design& design = GetDesign(grid.GetBits());
    const auto answers = static_cast<double>(design.levels.size());
    const double half = grid.step * grid.top / 2;
    const double spread = design.sumOfSquares - design.sum * design.sum / answers;
    return half * half * design.lie * 0x1p-32 * std::max(spread, 0.0);
}

bool
OptimalDpQuantizer::DoCanHaveSent(const uint8_t* payload,
                                  std::size_t count,
                                  unsigned bits,
                                  std::size_t&) const
{
    const unsigned wireBits = DoGetWireBits(bits);
    const std::size_t answers = GetDesign(bits).levels.size();
    if (answers == std::size_t{1} << wireBits)
    {
        return true;
    }
    uint16_t levels[256];
    for (std::size_t done = 0; done < count;)
    {
        const std::size_t part = std::min(count - done, std::size(levels));
        BitPacker::Unpack(payload, done, part, wireBits, levels);
        if (*std::max_element(levels, levels + part) >= answers)
        {
            return false;
        }
        done += part;
    }
    return true;
}

std::vector<double>
OptimalDpQuantizer::DoGetProbabilities(float value, const LevelGrid& grid) const
{
    const Design& design = GetDesign(grid.GetBits());
    float fraction; // as DoChooseLevels locates it
    const int32_t cell = grid.Locate(value, fraction);
    const uint16_t own = design.cells[2 * cell + (fraction > 0.5F)];
    const double lie = design.lie * 0x1p-32;
    std::vector<double> probabilities(design.levels.size(), lie);
    probabilities[own] = 1 - static_cast<double>(design.levels.size() - 1) * lie;
    return probabilities;
}

PrivacyClaim
OptimalDpQuantizer::DoGetPrivacyClaim(const PrivacyContext&) const
{
    return PrivacyClaim::TrueEpsilon(PrivacyClaim::COORDINATE,
                                     m_epsilon,
                                     "Randomized response over cells of a public interval.");
}

} // namespace ns3
