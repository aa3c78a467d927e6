// SPDX-License-Identifier: GPL-2.0-only

#ifndef EDGE_TRAINING_H
#define EDGE_TRAINING_H

#include "ns3/device-training.h"
#include "ns3/event-id.h"
#include "ns3/fusion-center.h"
#include "ns3/learning-task.h"
#include "ns3/ptr.h"

#include <cstdint>
#include <memory>

namespace ns3::federated
{

/**
 * @brief The training of an edge: rounds of a cell, from the model of the cloud. An edge is a
 * device of the cloud's federation whose samples are those of the devices in its cell.
 *
 * @verbatim
     cloud    FusionCenter
                | w                                           ^ clipped, quantized difference
                v                                             |
     edge     FederatedDevice -> EdgeTraining -> FusionCenter -
                                   kappa rounds    | w        ^ updates
                                                   v          |
     cell                                       FederatedDevice ...
   @endverbatim
 *
 * Round t of the cloud is rounds (t - 1) kappa + 1 to t kappa of every cell, also where an edge did
 * not take part in earlier ones: the numbers select batches and learning rates. The rounds of the
 * cell end when the edge has to send, also if fewer than kappa were possible.
 *
 * Samples are those of the devices that could take part when the last rounds ended: visitors count,
 * devices that have left do not.
 */
class EdgeTraining : public DeviceTraining
{
  public:
    /**
     * @param center The center of the cell, with OnRequest.
     * @param task What the cloud learns; the model is that of the cell.
     * @param rounds kappa.
     * @param samples How many samples the devices of the cell have, until rounds have shown which
     * of them joined; 0: not known.
     */
    EdgeTraining(Ptr<FusionCenter> center,
                 Ptr<LearningTask> task,
                 uint32_t rounds,
                 uint32_t samples);
    ~EdgeTraining() override;

    void Begin(std::shared_ptr<LocalUpdate> update, const TrainingTerms& terms, Done done) override;
    void Cancel() override;
    uint32_t GetSamples() const override;

  private:
    /**
     * The rounds of the cell are over.
     * @param outcome What they have come to.
     */
    void Finish(const FusionCenter::RoundsOutcome& outcome);

    /** The center of the cell does not answer: it was stopped. */
    void GiveUp();

    Ptr<FusionCenter> m_center; //!< The center of the cell.
    Ptr<LearningTask> m_task;   //!< What the cloud learns.
    uint32_t m_rounds;          //!< kappa.
    uint32_t m_samples;         //!< Of the devices of the cell.

    std::shared_ptr<LocalUpdate> m_update; //!< That is being computed; null: none.
    Done m_done;                           //!< Called when it is ready.
    EventId m_event;                       //!< Ends the wait for the center.
};

} // namespace ns3::federated

#endif // EDGE_TRAINING_H
