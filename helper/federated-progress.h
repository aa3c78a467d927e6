// SPDX-License-Identifier: GPL-2.0-only

#ifndef FEDERATED_PROGRESS_H
#define FEDERATED_PROGRESS_H

#include "ns3/fusion-center.h"
#include "ns3/round-record.h"
#include "ns3/simple-ref-count.h"

#include <chrono>
#include <cstdint>

namespace ns3
{

/**
 * @ingroup federated
 * @brief Prints a line on standard error at the end of each round: round, accuracy, loss, updates
 * received of devices selected and joined, simulated time, real time, and an estimate of the real
 * time that is left.
 *
 * Only this class uses the clock of the machine; no result depends on it.
 */
class FederatedProgress : public SimpleRefCount<FederatedProgress>
{
  public:
    /**
     * Begin to print.
     * @param center The center.
     */
    static void Watch(const Ptr<FusionCenter>& center);

  private:
    FederatedProgress();

    /**
     * Print a line.
     * @param record The round that ended.
     */
    void HandleRoundEnd(const RoundRecord& record);

    uint32_t m_ended = 0;                          //!< Rounds that ended.
    std::chrono::steady_clock::time_point m_start; //!< When the watch began.
};

} // namespace ns3

#endif // FEDERATED_PROGRESS_H
