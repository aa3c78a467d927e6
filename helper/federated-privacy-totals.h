// SPDX-License-Identifier: GPL-2.0-only

#ifndef FEDERATED_PRIVACY_TOTALS_H
#define FEDERATED_PRIVACY_TOTALS_H

#include "ns3/privacy-ledger.h"

#include <cstdint>
#include <limits>
#include <map>

namespace ns3
{

class FederatedTraceWriter;

/**
 * @ingroup federated
 * @brief The largest privacy losses of a device, over federations, cells and ranks.
 */
class FederatedPrivacyTotals
{
  public:
    /** @param traces Of a federation, whose devices are counted too. */
    void Add(const FederatedTraceWriter& traces);

    /** Count the devices of all ranks. By all ranks or none. */
    void AddOtherRanks();

    /** @return the largest number of updates that a device sent. */
    uint64_t GetMostAnswers() const;

    /**
     * @param which Which epsilon.
     * @return the largest of a device; NaN if no device sent an update, or one of them does not
     * have it.
     */
    double GetLargestEpsilon(PrivacyEpsilon which) const;

  private:
    static constexpr PrivacyEpsilon KINDS[] = {EPSILON_BASIC,
                                               EPSILON_ZCDP,
                                               EPSILON_SAMPLED,
                                               EPSILON_SAME_CELL}; //!< All.

    double m_answers = 0;                        //!< The most of a device.
    std::map<PrivacyEpsilon, double> m_epsilons; //!< Largest; infinite where a device has none.
};

} // namespace ns3

#endif // FEDERATED_PRIVACY_TOTALS_H
