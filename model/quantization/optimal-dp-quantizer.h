// SPDX-License-Identifier: GPL-2.0-only

#ifndef OPTIMAL_DP_QUANTIZER_H
#define OPTIMAL_DP_QUANTIZER_H

#include "level-quantizer.h"

#include <array>
#include <memory>
#include <mutex>

namespace ns3
{

/**
 * @ingroup federated
 * @brief The truly epsilon-private channel from an interval to its 2^b levels that has the least
 * expected squared error for a value that is uniform in the interval.
 *
 * It is randomized response over a partition of the interval into n cells, each with one level: the
 * level of the value's own cell with probability e^epsilon/(n-1+e^epsilon), each other one with
 * probability 1/(n-1+e^epsilon). For small epsilon n is 2 and the levels are a pair +-q_j, for
 * large epsilon there are more and more of them, in general not spread evenly.
 *
 * Proof that this is the optimum. Let P(j|a) be any channel with P(j|a) <= e^epsilon P(j|a'), and
 * m_j the least P(j|a) over a.
 * -# With the m_j given, the best P(.|a) raises the levels from m_j to e^epsilon m_j in the order
 * of their distance to a until the probabilities sum to 1. As a moves away from q_j, more levels
 * are nearer to it than q_j, so P(j|a) falls: the a where level j is raised (by at least some
 * amount) are an interval S.
 * -# So the channel is a mixture of outputs (j, S) with weights theta, which have the probability
 *    theta e^epsilon for a in S and theta elsewhere. The probabilities sum to 1 for every a: each a
 *    is covered by the same weight of intervals. Intervals that cover a line evenly are a flow from
 *    its lower to its upper end, which is a sum of paths: of partitions of the line.
 * -# A partition into n cells needs the weight n-1+e^epsilon, and the error is linear: the error of
 *    the mixture is an average of the errors of its partitions, and one of them is not above it.
 *    Outputs that do not depend on a are never better than two levels about the middle.
 *
 * With levels x_1 < ... < x_n of the interval [-1, 1] and the cells of values nearest to them, the
 * error is a ratio,
 * [(e^epsilon-1)/2 ((1+x_1)^3/3 + sum (x_{i+1}-x_i)^3/12 + (1-x_n)^3/3) + sum (x_i^2+1/3)]
 * / (n-1+e^epsilon):
 * for a guess of its least value the levels are a shortest path, which gives a better guess until
 * it no longer changes (Dinkelbach). Lengths of steps are convex, so a path among 2^16 levels takes
 * some ten milliseconds; it is found once for a resolution.
 *
 * The payload has the index of the level among those in use, in as few bits as that takes.
 */
class OptimalDpQuantizer : public LevelQuantizer
{
  public:
    /** @return the TypeId. */
    static TypeId GetTypeId();

    OptimalDpQuantizer();
    ~OptimalDpQuantizer() override;

    /** @param epsilon The privacy loss of a coordinate, at least 0. */
    void SetEpsilon(double epsilon);

    /** @return the configured privacy loss of a coordinate. */
    double GetEpsilon() const;

    /**
     * @param bits Resolution of the device, b.
     * @return indices j of the levels in use, 0..2^b-1, ascending.
     */
    const std::vector<uint16_t>& GetLevelsInUse(unsigned bits) const;

    /**
     * @param bits Resolution of the device.
     * @return the privacy loss of a coordinate as implemented, never above the configured one.
     */
    double GetRealizedEpsilon(unsigned bits) const;

  private:
    /** The channel for one resolution. */
    struct Design
    {
        std::vector<uint16_t> levels; //!< Indices of the levels in use, x_1 < ... < x_n.
        std::vector<uint16_t> cells;  //!< For each half step of the interval the index of the level
                                      //!< in use that is nearest: the cell.
        uint32_t lie;                 //!< Number of the 2^32 words that select another given cell.
        double sum;                   //!< Sum of x_i, x in [-1, 1].
        double sumOfSquares;          //!< Sum of x_i^2.
        double nearestError;          //!< Mean squared distance of a value to the nearest x_i.
    };

    /** Designs of all resolutions, each made when it is first needed, by whatever thread. */
    struct Designs
    {
        std::array<std::once_flag, MAX_BITS + 1> made; //!< Whether it is made.
        std::array<Design, MAX_BITS + 1> designs;      //!< By resolution.
    };

    /**
     * @param bits Resolution of the device.
     * @return the channel.
     */
    const Design& GetDesign(unsigned bits) const;

    unsigned DoGetWireBits(unsigned bits) const override;
    std::vector<float> DoGetLevelPositions(unsigned bits) const override;
    void DoChooseLevels(const float* values,
                        std::size_t count,
                        const LevelGrid& grid,
                        FederatedRandom& random,
                        uint16_t* levels) const override;
    double DoGetDistortion(const float* values,
                           std::size_t count,
                           const LevelGrid& grid) const override;
    double DoGetCellDistortion(const LevelGrid& grid) const override;
    double DoGetLeastDistortion(const LevelGrid& grid) const override;
    bool DoCanHaveSent(const uint8_t* payload,
                       std::size_t count,
                       unsigned bits,
                       std::size_t& answers) const override;
    std::vector<double> DoGetProbabilities(float value, const LevelGrid& grid) const override;
    PrivacyClaim DoGetPrivacyClaim(const PrivacyContext& context) const override;

    // Attributes
    double m_epsilon; //!< Privacy loss of a coordinate.

    // State
    std::unique_ptr<Designs> m_designs; //!< For the epsilon at hand.
};

} // namespace ns3

#endif // OPTIMAL_DP_QUANTIZER_H
