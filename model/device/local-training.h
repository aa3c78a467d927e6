// SPDX-License-Identifier: GPL-2.0-only

#ifndef LOCAL_TRAINING_H
#define LOCAL_TRAINING_H

#include "device-training.h"

#include "ns3/event-id.h"
#include "ns3/learning-task.h"
#include "ns3/ptr.h"

namespace ns3::federated
{

/**
 * @brief Trains on the samples of the device: on a thread of the LearningTask; the simulator waits
 * for it at the simulated end.
 */
class LocalTraining : public DeviceTraining
{
  public:
    /** @param task What is learned. */
    explicit LocalTraining(Ptr<LearningTask> task);
    ~LocalTraining() override;

    void Begin(std::shared_ptr<LocalUpdate> update, const Time& duration, Done done) override;
    void Cancel() override;

  private:
    /** The simulated end of training. */
    void Finish();

    Ptr<LearningTask> m_task;        //!< What is learned.
    bool m_isBusy = false;           //!< Whether an update is being computed.
    WorkerPool::Ticket m_ticket = 0; //!< Of the work.
    Done m_done;                     //!< Called when it is ready.
    EventId m_event;                 //!< The simulated end.
};

} // namespace ns3::federated

#endif // LOCAL_TRAINING_H
