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
 * @brief Trains on the samples of a device: on a thread of the LearningTask; the simulator waits
 * for it at the simulated end.
 */
class LocalTraining : public DeviceTraining
{
  public:
    /**
     * @param task What is learned.
     * @param share The part of its data that is trained on.
     */
    LocalTraining(Ptr<LearningTask> task, uint32_t share);
    ~LocalTraining() override;

    void Begin(std::shared_ptr<LocalUpdate> update, const TrainingTerms& terms, Done done) override;
    void Cancel() override;
    uint32_t GetSamples() const override;

  private:
    /** The simulated end of training. */
    void Finish();

    Ptr<LearningTask> m_task;        //!< What is learned.
    uint32_t m_share;                //!< The part of its data.
    bool m_isBusy = false;           //!< Whether an update is being computed.
    WorkerPool::Ticket m_ticket = 0; //!< Of the work.
    Done m_done;                     //!< Called when it is ready.
    EventId m_event;                 //!< The simulated end.
};

} // namespace ns3::federated

#endif // LOCAL_TRAINING_H
