// SPDX-License-Identifier: GPL-2.0-only

#ifndef DEVICE_TRAINING_H
#define DEVICE_TRAINING_H

#include "ns3/local-update.h"
#include "ns3/nstime.h"

#include <cstdint>
#include <functional>
#include <memory>

namespace ns3::federated
{

/** When a device trains. */
struct TrainingTerms
{
    uint32_t round = 0; //!< The round.
    Time duration;      //!< Simulated time that training on local data takes.
    Time latest;        //!< When the update has to be ready, so that it can still be sent.
};

/**
 * @brief Computes the update of a device in a round, from the received model to the payload that is
 * sent. The result is reported by a callback.
 */
class DeviceTraining
{
  public:
    /** Called once, when the update is ready. */
    using Done = std::function<void()>;

    virtual ~DeviceTraining() = default;

    /**
     * Begin; only one update at a time is computed.
     * @param update Input and result. Not to be touched until `done` is called or Cancel() has
     * returned.
     * @param terms When.
     * @param done Called when the update is ready, in a later event.
     */
    virtual void Begin(std::shared_ptr<LocalUpdate> update,
                       const TrainingTerms& terms,
                       Done done) = 0;

    /** Cancel the computation; `done` is not called. */
    virtual void Cancel() = 0;

    /**
     * @return how many samples its updates are learned from, which an update may change; 0: not
     * known.
     */
    virtual uint32_t GetSamples() const = 0;
};

} // namespace ns3::federated

#endif // DEVICE_TRAINING_H
