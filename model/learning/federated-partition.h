// SPDX-License-Identifier: GPL-2.0-only

#ifndef FEDERATED_PARTITION_H
#define FEDERATED_PARTITION_H

#include "ns3/federated-random.h"
#include "ns3/object.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3
{

/**
 * @ingroup federated
 * @brief What a partition may look at.
 */
struct PartitionProblem
{
    const std::vector<uint8_t>& labels;  //!< The class of every sample.
    const std::vector<uint32_t>& groups; //!< Devices in each group, numbered group by group.
    uint32_t devices;                    //!< Devices in all groups, at most as many as samples.
    std::vector<uint32_t> order;         //!< The indices of all samples, shuffled.
};

/**
 * @ingroup federated
 * @brief A way to split the samples of a dataset among devices.
 *
 * Every split is disjoint, a function of the seed alone, and gives every device at least one
 * sample. The splits of this module use every sample.
 */
class FederatedPartition : public Object
{
  public:
    /** The indices of the samples that each device holds. */
    using Parts = std::vector<std::vector<uint32_t>>;

    /**
     * @brief Get the type ID.
     * @return the object TypeId
     */
    static TypeId GetTypeId();

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

  protected:
    using Indices = std::vector<uint32_t>; //!< Indices of samples, or numbers of samples.

    /**
     * @param items How many items there are.
     * @param parts Into how many parts they are cut.
     * @return sizes that differ by at most one, the larger ones first.
     */
    static Indices GetEqualSizes(uint32_t items, uint32_t parts);

    /**
     * @param problem What is split.
     * @return the indices of each class, in the order of the problem.
     */
    static std::vector<Indices> ListByLabel(const PartitionProblem& problem);

    /**
     * Hand out items to devices in order.
     * @param items The items.
     * @param sizes How many of them each device gets; the sum is the number of items.
     * @param [in,out] parts What the devices hold.
     * @param firstDevice The device that the first size is for.
     */
    static void HandOut(const Indices& items,
                        const Indices& sizes,
                        Parts& parts,
                        uint32_t firstDevice = 0);

  private:
    /**
     * @param problem What is split.
     * @param random The random stream of the split, after the shuffle.
     * @param [in,out] parts Empty ones, a device each; they get the samples.
     * @param [out] error On failure, one sentence that says what is impossible.
     * @return whether the split exists.
     */
    virtual bool DoSplit(const PartitionProblem& problem,
                         FederatedRandom& random,
                         Parts& parts,
                         std::string& error) const = 0;

    /**
     * @param parts What the devices hold.
     * @param samples How many samples there are.
     * @param devices How many devices there are.
     * @return what is wrong with it, in one sentence; empty if nothing is.
     */
    std::string FindMistake(const Parts& parts, std::size_t samples, uint32_t devices) const;
};

} // namespace ns3

#endif // FEDERATED_PARTITION_H
