// SPDX-License-Identifier: GPL-2.0-only

#ifndef UPDATE_CLIPPING_H
#define UPDATE_CLIPPING_H

#include <cstddef>

namespace ns3
{

/**
 * @ingroup federated
 * @brief The norm that clipping bounds. (Not a scoped enumeration: an ns-3 attribute holds it.)
 */
enum ClipNorm
{
    CLIP_NONE, //!< Updates are not clipped.
    CLIP_L1,   //!< The sum of magnitudes, as in the paper.
    CLIP_L2,   //!< The Euclidean norm.
};

/**
 * @ingroup federated
 * @param norm Which norm; CLIP_NONE takes the l1 norm.
 * @param values The update, d coordinates.
 * @param count d.
 * @return the norm, which rounding changes by some parts in ten millions at most; infinite or NaN
 *         if and only if a coordinate is.
 */
double GetUpdateNorm(ClipNorm norm, const float* values, std::size_t count);

/**
 * @ingroup federated
 * @param values The update, d coordinates.
 * @param count d.
 * @return whether no coordinate is infinite or NaN.
 */
bool IsFiniteUpdate(const float* values, std::size_t count);

/**
 * @ingroup federated
 * Clip an update in place: v <- min(1, C / ||v||) v (step 11 of Algorithm 1).
 *
 * The norm of the floats that result is not above C, in exact arithmetic: privacy claims rest on
 * it. For that the factor is smaller than C / ||v||, by less than 1e-6 of it. An update whose norm
 * is not above C is not changed.
 * @param norm Which norm.
 * @param bound C, above 0.
 * @param [in,out] values The update, d coordinates.
 * @param count d.
 * @return the factor applied, in (0, 1]; 0 if a coordinate is infinite or NaN, and then nothing is
 *         changed: such an update must not be sent.
 */
double ClipUpdate(ClipNorm norm, double bound, float* values, std::size_t count);

} // namespace ns3

#endif // UPDATE_CLIPPING_H
