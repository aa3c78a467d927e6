// SPDX-License-Identifier: GPL-2.0-only

#ifndef ROUND_ROBIN_SELECTION_H
#define ROUND_ROBIN_SELECTION_H

#include "selection-policy.h"

namespace ns3
{

/**
 * @ingroup federated
 * @brief Devices are selected in turns: those that were not asked for the longest time, devices
 * that were never asked before all others, and in the order of their identifiers among equals.
 *
 * Every device of a group is asked once before any is asked again, also if devices join and leave:
 * a device that joins again keeps its turn.
 */
class RoundRobinSelection : public SelectionPolicy
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

#endif // ROUND_ROBIN_SELECTION_H
