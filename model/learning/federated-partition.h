// SPDX-License-Identifier: GPL-2.0-only

#ifndef FEDERATED_PARTITION_H
#define FEDERATED_PARTITION_H

#include <cstdint>
#include <string>
#include <vector>

namespace ns3
{

/**
 * @ingroup federated
 * @brief A way to split the samples of a dataset among devices.
 *
 * Every split is disjoint, complete and a function of the seed alone, and gives every device at
 * least one sample.
 */
class FederatedPartition
{
  public:
    /** The indices of the samples that each device holds. */
    using Parts = std::vector<std::vector<uint32_t>>;

    /** @return one random permutation, cut into equal blocks (the first ones one sample longer). */
    static FederatedPartition Iid();

    /**
     * The share of each class that a device gets is drawn from a symmetric Dirichlet distribution.
     * @param alpha Its parameter: small is skewed, large approaches equal shares.
     * @return the split.
     */
    static FederatedPartition Dirichlet(double alpha);

    /**
     * The samples, sorted by class, are cut into equal shards that are dealt at random (McMahan et
     * al. 2017).
     * @param shards Shards that each device gets.
     * @return the split.
     */
    static FederatedPartition Shards(uint32_t shards);

    /** @return each group of devices has its own equal range of classes; i.i.d. inside a group. */
    static FederatedPartition LabelByGroup();

    /**
     * Classes are i.i.d., but the numbers of samples are drawn from a symmetric Dirichlet
     * distribution.
     * @param alpha Its parameter: small is skewed, large approaches equal sizes.
     * @return the split.
     */
    static FederatedPartition QuantitySkew(double alpha);

    /**
     * Read a split as command lines write it: iid, dirichlet:ALPHA, shards:COUNT, label-by-group or
     * quantity:ALPHA.
     * @param text The text.
     * @param [out] partition The split, unchanged on failure.
     * @param [out] error On failure, one sentence that says what was wrong.
     * @return whether the text was understood.
     */
    static bool Parse(const std::string& text, FederatedPartition& partition, std::string& error);

    /**
     * @param labels The class of every sample.
     * @param groups The number of devices in each group; devices are numbered group by group.
     * @param seed Drawn from an ns-3 random stream.
     * @param [out] parts The indices that each device holds, empty on failure.
     * @param [out] error On failure, one sentence that says what is impossible.
     * @return whether the split exists.
     */
    bool Split(const std::vector<uint8_t>& labels,
               const std::vector<uint32_t>& groups,
               uint64_t seed,
               Parts& parts,
               std::string& error) const;

  private:
    /** The kinds of splits. */
    enum Kind
    {
        IID,
        DIRICHLET,
        SHARDS,
        LABEL_BY_GROUP,
        QUANTITY_SKEW,
    };

    /**
     * @param kind The kind.
     * @param alpha Parameter of the Dirichlet distribution.
     * @param shards Shards that each device gets.
     */
    explicit FederatedPartition(Kind kind, double alpha = 1, uint32_t shards = 1);

    Kind m_kind;       //!< The kind.
    double m_alpha;    //!< Parameter of the Dirichlet distribution.
    uint32_t m_shards; //!< Shards that each device gets.
};

} // namespace ns3

#endif // FEDERATED_PARTITION_H
