// SPDX-License-Identifier: GPL-2.0-only

#ifndef RANDOM_CLUSTER_SIZES_H
#define RANDOM_CLUSTER_SIZES_H

#include "cluster-size-policy.h"

#include "ns3/random-variable-stream.h"

namespace ns3
{

/**
 * @ingroup federated
 * @brief Cluster sizes drawn uniformly from all vectors that obey the constraints.
 *
 * The vectors are too many to list (M = 20, N = 1000: about 1e40), so they are drawn by rejection:
 * every c_m independently with a probability proportional to exp(t_m c_m), t_m = kappa - lambda
 * wireBits_m, except the one with the most even distribution, which must bring the sum to N. A
 * vector is kept with the probability that this last value has (relative to its largest) times
 * exp(-lambda (bits that it leaves unused)). Then every feasible vector is drawn with the same
 * probability, whatever kappa and lambda are; they are set so that the expected number of devices
 * is N and the expected bits do not exceed the budget, which makes rejections few.
 */
class RandomClusterSizes : public ClusterSizePolicy
{
  public:
    /**
     * Get the type ID.
     * @return the object TypeId
     */
    static TypeId GetTypeId();

    RandomClusterSizes();
    ~RandomClusterSizes() override;

    /** @return how many vectors were drawn since construction, rejected ones included. */
    uint64_t GetTrials() const;

  private:
    int64_t DoAssignStreams(int64_t stream) override;

    /** A geometric distribution cut to 1..limit: the probability of c is as exp(tilt * c). */
    struct Marginal
    {
        uint32_t limit;    //!< Largest value.
        uint32_t wireBits; //!< Bits a coordinate of one device.
        double tilt;       //!< t_m.
    };

    std::vector<uint32_t> DoChoose(const std::vector<ClusterGroup>& groups,
                                   uint32_t participants,
                                   uint64_t budget) override;

    /**
     * Prepare m_marginals and m_lambda for new constraints.
     * @param groups The groups.
     * @param participants N.
     * @param budget B in whole bits.
     */
    void Prepare(const std::vector<ClusterGroup>& groups, uint32_t participants, uint64_t budget);

    /**
     * Tilt the marginals by lambda, and find the kappa for which they expect N devices.
     * @param lambda Weight of a bit.
     * @return the expected bits.
     */
    double Tilt(double lambda);

    /**
     * @param marginal The distribution.
     * @return its mean.
     */
    static double Mean(const Marginal& marginal);

    /**
     * @param marginal The distribution.
     * @return a value drawn from it.
     */
    uint32_t Draw(const Marginal& marginal);

    // State
    Ptr<UniformRandomVariable> m_uniform; //!< Source of all draws.
    uint64_t m_trials = 0;                //!< Vectors drawn.
    std::vector<Marginal> m_marginals;    //!< One for each group.
    std::size_t m_last = 0;               //!< The group that brings the sum to N.
    uint32_t m_participants = 0;          //!< N that the marginals are prepared for.
    uint64_t m_budget = 0;                //!< B that the marginals are prepared for.
    uint64_t m_reach = 0;                 //!< No vector can need more bits within the budget.
    double m_lambda = 0;                  //!< Weight of an unused bit.
};

} // namespace ns3

#endif // RANDOM_CLUSTER_SIZES_H
