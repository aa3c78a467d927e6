// SPDX-License-Identifier: GPL-2.0-only

#ifndef PRIVACY_ACCOUNTANT_H
#define PRIVACY_ACCOUNTANT_H

#include "ns3/privacy-claim.h"
#include "ns3/privacy-ledger.h"

#include <cstddef>
#include <string>

namespace ns3::federated
{

/** Privacy cost of one update. */
struct PrivacyExpense
{
    PrivacyClaim claim;        //!< What is claimed about it.
    std::size_t dimension = 0; //!< Coordinates of the update as it is encoded.
    double samplingRate = 1;   //!< Share of the device's samples in its batches.
};

/** The largest epsilon that a device may spend, summed over all rounds. */
struct PrivacyLimit
{
    double epsilon = 0;                //!< 0 or infinite: no limit.
    PrivacyEpsilon of = EPSILON_BASIC; //!< Which epsilon.
};

/** @brief Keeps the ledger of a device, and checks whether its budget allows another update. */
class PrivacyAccountant
{
  public:
    /** @return the ledger. */
    const PrivacyLedger& GetLedger() const
    {
        return m_ledger;
    }

    /** @param delta delta of the ledger's epsilon by zCDP. */
    void SetDelta(double delta);

    /**
     * @param expense Cost of another update.
     * @param limit The budget.
     * @return whether the budget allows it.
     */
    bool CanAfford(const PrivacyExpense& expense, const PrivacyLimit& limit) const;

    /**
     * Enter an update into the ledger.
     * @param expense Its cost.
     */
    void Spend(const PrivacyExpense& expense);

    /**
     * @param claim What is claimed about an update.
     * @param bits Its resolution.
     * @param limit The budget.
     * @param [out] error On failure, one sentence that says what is wrong.
     * @return whether there is no budget, or it limits an epsilon that the update has.
     */
    static bool CheckLimit(const PrivacyClaim& claim,
                           unsigned bits,
                           const PrivacyLimit& limit,
                           std::string& error);

  private:
    PrivacyLedger m_ledger; //!< What was spent.
};

} // namespace ns3::federated

#endif // PRIVACY_ACCOUNTANT_H
