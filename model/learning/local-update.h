// SPDX-License-Identifier: GPL-2.0-only

#ifndef LOCAL_UPDATE_H
#define LOCAL_UPDATE_H

#include "local-trainer.h"

#include "ns3/interval-rule.h"
#include "ns3/quantizer.h"
#include "ns3/update-clipping.h"

#include <cstdint>
#include <limits>
#include <vector>

namespace ns3
{

/**
 * @ingroup federated
 * @brief The work of one device in one round, from the model that it received to the payload that
 * it sends.
 *
 * Plain memory, which belongs to a worker from LearningTask::Begin() until LearningTask::Wait() or
 * Cancel() has returned. Until then the quantizer and the interval rule must live, unchanged.
 */
struct LocalUpdate
{
    // Inputs
    TrainingPlan training;                      //!< Steps, batch size and learning rate.
    ClipNorm clipNorm = CLIP_NONE;              //!< Which norm of the update is clipped.
    double clipBound = 0;                       //!< C, if a norm is clipped.
    const IntervalRule* intervalRule = nullptr; //!< Chooses the intervals.
    const Quantizer* quantizer = nullptr;       //!< Makes the payload.
    unsigned bits = 0;                          //!< Resolution of the device, b.
    bool wantDistortion = false;                //!< Compute the distortion, which costs a pass.
    uint32_t device = 0;                        //!< Device, numbered as in the split.
    uint32_t round = 0;                         //!< Round; names the random streams.
    std::vector<float> model;                   //!< w^t, d coordinates; left unchanged.

    // Outputs
    std::vector<uint8_t> payload;         //!< The quantized update; empty if it is not valid.
    std::vector<IntervalRange> intervals; //!< The intervals of the payload; empty if not valid.
    double loss = 0;                      //!< Mean of the batches' losses.
    double clipFactor = 0;                //!< What the clip multiplied the update by; 0: not valid.
    /** D/d: the expected squared error of a coordinate, against the clipped update; NaN unless it
       is wanted. */
    double distortion = std::numeric_limits<double>::quiet_NaN();
    /** False until the work is done, and if a coordinate is infinite or NaN: nothing must be sent.
     */
    bool valid = false;
};

} // namespace ns3

#endif // LOCAL_UPDATE_H
