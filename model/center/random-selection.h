// SPDX-License-Identifier: GPL-2.0-only

#ifndef RANDOM_SELECTION_H
#define RANDOM_SELECTION_H

#include "selection-policy.h"

namespace ns3
{

/**
 * @ingroup federated
 * @brief Every device of a group is selected with the same probability, as in the paper.
 */
class RandomSelection : public SelectionPolicy
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
};

} // namespace ns3

#endif // RANDOM_SELECTION_H
