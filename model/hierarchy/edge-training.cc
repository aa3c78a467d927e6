// SPDX-License-Identifier: GPL-2.0-only

#include "edge-training.h"

#include "ns3/remove-event.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

namespace ns3::federated
{

EdgeTraining::EdgeTraining(Ptr<FusionCenter> center,
                           Ptr<LearningTask> task,
                           uint32_t rounds,
                           uint32_t samples)
    : m_center(center),
      m_task(task),
      m_rounds(rounds),
      m_samples(samples)
{
}

EdgeTraining::~EdgeTraining()
{
    EdgeTraining::Cancel();
}

uint32_t
EdgeTraining::GetSamples() const
{
    return m_samples;
}

void
EdgeTraining::Begin(std::shared_ptr<LocalUpdate> update, const TrainingTerms& terms, Done done)
{
    Cancel();
    const uint64_t before = uint64_t{m_rounds} * (std::max(terms.round, 1U) - 1);
    FusionCenter::RoundsRequest request;
    request.model = update->model;
    request.before = static_cast<uint32_t>(
        std::min<uint64_t>(before, std::numeric_limits<uint32_t>::max() - m_rounds));
    request.rounds = m_rounds;
    request.latest = terms.latest;
    request.done = [this](const FusionCenter::RoundsOutcome& outcome) { Finish(outcome); };
    m_update = std::move(update);
    m_done = std::move(done);
    Time wait(0);
    if (m_center->RunRounds(std::move(request)))
    {
        // The rounds end at the latest then; what the center says first counts.
        wait = std::max(terms.latest - Simulator::Now(), Time(0)) + NanoSeconds(1);
    }
    m_event = Simulator::Schedule(wait, &EdgeTraining::GiveUp, this);
}

void
EdgeTraining::GiveUp()
{
    m_center->CancelRounds();
    FusionCenter::RoundsOutcome outcome;
    outcome.noTime = m_center->GetJoined() > 0;
    Finish(outcome);
}

void
EdgeTraining::Finish(const FusionCenter::RoundsOutcome& outcome)
{
    RemoveEvent(m_event);
    const auto update = std::move(m_update);
    update->isEmpty = outcome.fused == 0 && !outcome.noTime;
    update->isLate = outcome.fused == 0 && outcome.noTime;
    update->valid = false;
    update->loss = std::numeric_limits<double>::quiet_NaN(); // of the devices, which do not say
    if (outcome.fused > 0)
    {
        m_samples = m_center->GetSamples();
        std::vector<float> difference = m_center->GetModel();
        std::transform(difference.begin(),
                       difference.end(),
                       update->model.begin(),
                       difference.begin(),
                       std::minus<>());
        m_task->Encode(*update, difference);
        update->distortion += outcome.error; // NaN, not reported, stays what it is
    }
    const Done done = std::exchange(m_done, nullptr);
    done();
}

void
EdgeTraining::Cancel()
{
    RemoveEvent(m_event);
    if (m_update)
    {
        m_update.reset();
        m_done = nullptr;
        m_center->CancelRounds();
    }
}

} // namespace ns3::federated
