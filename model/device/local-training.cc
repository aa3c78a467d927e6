// SPDX-License-Identifier: GPL-2.0-only

#include "local-training.h"

#include "ns3/remove-event.h"
#include "ns3/simulator.h"

#include <utility>

namespace ns3::federated
{

LocalTraining::LocalTraining(Ptr<LearningTask> task, uint32_t share)
    : m_task(task),
      m_share(share)
{
}

LocalTraining::~LocalTraining()
{
    LocalTraining::Cancel();
}

void
LocalTraining::Begin(std::shared_ptr<LocalUpdate> update, const TrainingTerms& terms, Done done)
{
    Cancel();
    m_isBusy = true;
    m_done = std::move(done);
    m_ticket = m_task->Begin(std::move(update));
    m_event = Simulator::Schedule(terms.duration, &LocalTraining::Finish, this);
}

void
LocalTraining::Finish()
{
    m_task->Wait(m_ticket);
    m_isBusy = false;
    const Done done = std::exchange(m_done, nullptr);
    done();
}

uint32_t
LocalTraining::GetSamples() const
{
    return m_task->GetSamples(m_share);
}

void
LocalTraining::Cancel()
{
    RemoveEvent(m_event);
    if (m_isBusy)
    {
        m_task->Cancel(m_ticket);
        m_isBusy = false;
    }
}

} // namespace ns3::federated
