// SPDX-License-Identifier: GPL-2.0-only

#ifndef DEVICE_REGISTRY_H
#define DEVICE_REGISTRY_H

#include "privacy-accountant.h"

#include "ns3/learning-task.h"
#include "ns3/ptr.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

namespace ns3::federated
{

/**
 * @brief What outlives a device application: the ledger of its identity, and the numbers of the
 * random streams that its updates have used.
 */
struct DeviceAccount
{
    /**
     * Take the number of the next update, which no earlier update of the identity had.
     * @param round The round that it is for.
     * @return the round itself, unless it or a later one was used already: equal RngRun gives equal
     * batches in equal rounds.
     */
    uint64_t TakeSerial(uint32_t round);

    PrivacyAccountant accountant; //!< Keeps the ledger.
    uint32_t device = 0;          //!< Its number in the task.
    uint32_t federation = 0;      //!< Number of the federation in this simulation.
    uint64_t lastSerial = 0;      //!< The last number taken.
};

/**
 * @brief The accounts of all devices of a simulation.
 *
 * An identity is a device number of a LearningTask, in which it names the data of the device. All
 * applications with this identity, one after the other or at the same time, have one account: their
 * privacy losses add up, and no two of their updates share coins. Federations are numbered in the
 * order in which they are entered, at the latest when their first device starts, so that two
 * federations with equal seeds toss different coins.
 *
 * Simulator::Destroy() clears the registry: the next simulation has the same numbers again, and is
 * repeatable by RngRun. An account lives as long as somebody holds it.
 */
class DeviceRegistry
{
  public:
    /** Function of a device and its account. */
    using Visitor = std::function<void(uint32_t device, const DeviceAccount& account)>;

    /**
     * Give a federation its number, so that it does not depend on which device starts first.
     * @param task What is learned.
     */
    static void Enter(const Ptr<LearningTask>& task);

    /**
     * @param task What is learned.
     * @param device A device of its split.
     * @return the account of the identity.
     */
    static std::shared_ptr<DeviceAccount> Find(const Ptr<LearningTask>& task, uint32_t device);

    /**
     * Visit the accounts of a federation, in ascending order of the devices.
     * @param task What is learned.
     * @param visitor Called with each of them.
     */
    static void Visit(const Ptr<LearningTask>& task, const Visitor& visitor);

  private:
    /** The devices of a federation. */
    struct Federation
    {
        Ptr<LearningTask> task; //!< Held, so that no other task gets its address.
        std::map<uint32_t, std::shared_ptr<DeviceAccount>> accounts; //!< By device.
    };

    /**
     * @param task What is learned.
     * @return the number of its federation, which is entered if it is new.
     */
    static std::size_t FindNumber(const Ptr<LearningTask>& task);

    /** @return the federations of this simulation, in the order of their numbers. */
    static std::vector<Federation>& GetFederations();

    /** Forget all, at the end of a simulation. */
    static void Clear();
};

} // namespace ns3::federated

#endif // DEVICE_REGISTRY_H
