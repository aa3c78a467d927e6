// SPDX-License-Identifier: GPL-2.0-only

#ifndef FEDERATED_PRIVACY_TOTALS_H
#define FEDERATED_PRIVACY_TOTALS_H

#include "federated-cell-sentences.h"

#include "ns3/learning-task.h"
#include "ns3/privacy-ledger.h"
#include "ns3/ptr.h"

#include <cstdint>
#include <limits>
#include <map>
#include <ostream>
#include <string>
#include <utility>

namespace ns3
{

class FederatedTraceWriter;

/**
 * @ingroup federated
 * @brief What is said of privacy, over federations, cells and ranks: claims, the largest losses of
 * a device, side information, and devices that declined.
 */
class FederatedPrivacyTotals
{
  public:
    /** @param traces Of a federation, whose devices are counted too. */
    void Add(const Ptr<FederatedTraceWriter>& traces);

    /**
     * Count a device; one that visits other cells is counted once.
     * @param task What it learns.
     * @param share Its part of the data.
     * @param delta Of its EPSILON_ZCDP.
     * @param declined How many grants it declined in a federation.
     */
    void AddDevice(const Ptr<LearningTask>& task, uint32_t share, double delta, uint32_t declined);

    /** @param claim A sentence about updates. @param cell Number of a cell of which it is true. */
    void AddClaim(const std::string& claim, uint32_t cell);

    /** @param information What is sent without protection. @param cell Number of a cell. */
    void AddSideInformation(const std::string& information, uint32_t cell);

    /** Count the devices of all ranks, and what is said of their cells. By all ranks or none. */
    void AddOtherRanks();

    /** @return the largest number of updates that a device sent. */
    uint64_t GetMostAnswers() const;

    /**
     * @param which Which epsilon.
     * @return the largest of a device; NaN if no device sent an update, or one of them does not
     * have it.
     */
    double GetLargestEpsilon(PrivacyEpsilon which) const;

    /**
     * Print the privacy summary. What is not true of all cells names those of which it is true.
     * @param stream Where to.
     */
    void Print(std::ostream& stream) const;

  private:
    /** How many devices declined. */
    struct Declined
    {
        uint64_t all = 0;     //!< Devices that were counted.
        uint64_t devices = 0; //!< Those that declined.
        uint64_t grants = 0;  //!< What they declined.
    };

    /** @return how many devices of all federations declined. */
    Declined CountDeclined() const;

    /** @return what other ranks have to know, as a text. */
    std::string Write() const;

    /** @param text What Write() gave on a rank; it is added. */
    void Read(const std::string& text);

    static constexpr PrivacyEpsilon KINDS[] = {EPSILON_BASIC,
                                               EPSILON_ZCDP,
                                               EPSILON_SAMPLED,
                                               EPSILON_SAME_CELL}; //!< All.

    double m_answers = 0;                        //!< The most of a device.
    double m_delta = 0;                          //!< The largest of a device.
    std::map<PrivacyEpsilon, double> m_epsilons; //!< Largest; infinite where a device has none.
    std::map<std::pair<Ptr<LearningTask>, uint32_t>, uint64_t>
        m_devices;                          //!< Grants that they declined, by task and share.
    Declined m_ofRanks;                     //!< Once the ranks were counted.
    federated::CellSentences m_claims;      //!< Sentences about updates.
    federated::CellSentences m_information; //!< What is sent without protection.
};

} // namespace ns3

#endif // FEDERATED_PRIVACY_TOTALS_H
