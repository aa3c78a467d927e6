// SPDX-License-Identifier: GPL-2.0-only

#ifndef LOCAL_UPDATE_H
#define LOCAL_UPDATE_H

#include "local-trainer.h"

#include "ns3/update-preparation.h"

#include <cstdint>
#include <vector>

namespace ns3
{

/**
 * @ingroup federated
 * @brief The work of one device in one round, from the model that it received to the payload that
 * it sends. What it has made of its update is the PreparedUpdate.
 *
 * Plain memory, which belongs to a worker from LearningTask::Begin() until LearningTask::Wait() or
 * Cancel() has returned. Until then the quantizer and the interval rule must live, unchanged.
 */
struct LocalUpdate : PreparedUpdate
{
    // Inputs
    TrainingPlan training;    //!< Steps, batch size and learning rate.
    UpdateSettings settings;  //!< How the update becomes a payload.
    uint32_t device = 0;      //!< Device, numbered as in the split.
    uint64_t serial = 0;      //!< Number of the update; names the random streams of the device.
    uint32_t federation = 0;  //!< Number of the federation. No two updates of a simulation have the
                              //!< same federation, device and serial: they would share coins.
    std::vector<float> model; //!< w^t, d coordinates; left unchanged.

    // Output
    double loss = 0;      //!< Mean of the batches' losses.
    bool isEmpty = false; //!< It is not valid, because there was nothing to learn from.
    bool isLate = false;  //!< It is not valid, because there was no time to learn.
};

} // namespace ns3

#endif // LOCAL_UPDATE_H
