// SPDX-License-Identifier: GPL-2.0-only

#ifndef BEST_SNR_SELECTION_H
#define BEST_SNR_SELECTION_H

#include "selection-policy.h"

namespace ns3
{

/**
 * @ingroup federated
 * @brief The devices of the highest SNR are selected; among devices of equal or unknown SNR a
 * random draw decides.
 *
 * This is not fair, on purpose: in a cell without mobility the nearest devices are asked in every
 * round and the data of the others are never learned. The SNR of a device that does not send is
 * not measured again.
 *
 * Where the SNR is known only of devices that were selected (devices that are enrolled do not send
 * before), the first devices drawn would stay selected for ever. Therefore devices that were never
 * asked and whose SNR is not known come first, each once (attribute Explore); those that were asked
 * and whose SNR is still not known come last. Where no SNR is measured at all, every device is
 * asked once, and then the choice is random.
 */
class BestSnrSelection : public SelectionPolicy
{
  public:
    /**
     * Get the type ID.
     * @return the object TypeId
     */
    static TypeId GetTypeId();

  private:
    std::vector<uint32_t> DoSelect(const SelectionContext& context,
                                   const std::vector<SelectionCandidate>& candidates) override;

    // Attributes
    bool m_explore = true; //!< Whether devices of unknown SNR that were never asked come first.
};

} // namespace ns3

#endif // BEST_SNR_SELECTION_H
