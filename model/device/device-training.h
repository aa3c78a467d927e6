// SPDX-License-Identifier: GPL-2.0-only

#ifndef DEVICE_TRAINING_H
#define DEVICE_TRAINING_H

#include "ns3/local-update.h"
#include "ns3/nstime.h"

#include <functional>
#include <memory>

namespace ns3::federated
{

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
     * @param duration Simulated time that training on local data takes.
     * @param done Called when the update is ready, in a later event.
     */
    virtual void Begin(std::shared_ptr<LocalUpdate> update, const Time& duration, Done done) = 0;

    /** Cancel the computation; `done` is not called. */
    virtual void Cancel() = 0;
};

} // namespace ns3::federated

#endif // DEVICE_TRAINING_H
