// SPDX-License-Identifier: GPL-2.0-only

#ifndef SELECTION_POLICY_H
#define SELECTION_POLICY_H

#include "ns3/federated-random.h"
#include "ns3/object.h"

#include <cstdint>
#include <limits>
#include <vector>

namespace ns3
{

/**
 * @ingroup federated
 * @brief A device that can be selected, as a SelectionPolicy sees it. Unknown values are NaN.
 */
struct SelectionCandidate
{
    static constexpr uint32_t NEVER = std::numeric_limits<uint32_t>::max(); //!< It was never asked.

    uint32_t device = 0;  //!< Device identifier.
    uint32_t samples = 0; //!< Samples that it reported when it joined; 0: it reported none.
    double snr = std::numeric_limits<double>::quiet_NaN(); //!< Linear SNR of its uplink, moving
                                                           //!< average over frames.
    double goodput = 0; //!< Payload that it delivers per second of its slot, bit/s: as measured,
                        //!< else as planned.
    double deliveredFraction =
        std::numeric_limits<double>::quiet_NaN(); //!< Received fragments over sent ones, moving
                                                  //!< average over the rounds in which it sent.
    uint32_t roundsSinceAsked = NEVER; //!< Rounds since it was last selected; 1: in the last round.
    double battery = std::numeric_limits<double>::quiet_NaN(); //!< Level that it reported, 0 to 1.
};

/**
 * @ingroup federated
 * @brief What a SelectionPolicy is asked for.
 */
struct SelectionContext
{
    uint32_t round = 0; //!< The round, 1, 2, ...
    uint32_t group = 0; //!< The group of all candidates.
    uint32_t count = 0; //!< How many devices are to be selected, at most the candidates.
    uint64_t seed = 0;  //!< Of all draws of the federation.

    /**
     * @return random words that depend on seed, group and round only: draws from them leave the
     * split of the data, the first model and the batches as they are.
     */
    FederatedRandom MakeRandom() const
    {
        return FederatedRandom(seed, FederatedRandom::SELECTION, group, round);
    }
};

/**
 * @ingroup federated
 * @brief Decides which devices of a group are selected in a round. How many is decided before, by a
 * ClusterSizePolicy.
 */
class SelectionPolicy : public Object
{
  public:
    /**
     * Get the type ID.
     * @return the object TypeId
     */
    static TypeId GetTypeId();

    /**
     * Select devices. A policy is not asked where all candidates are wanted. Aborts with a sentence
     * that names the policy if its answer is not that many different candidates.
     * @param context What is asked for.
     * @param candidates The devices of the group that can be selected, in ascending order.
     * @return the selected devices, in ascending order.
     */
    std::vector<uint32_t> Select(const SelectionContext& context,
                                 const std::vector<SelectionCandidate>& candidates);

  private:
    /**
     * Select devices.
     * @param context What is asked for.
     * @param candidates The devices that can be selected, in ascending order.
     * @return context.count different ones of them, in any order.
     */
    virtual std::vector<uint32_t> DoSelect(const SelectionContext& context,
                                           const std::vector<SelectionCandidate>& candidates) = 0;
};

} // namespace ns3

#endif // SELECTION_POLICY_H
