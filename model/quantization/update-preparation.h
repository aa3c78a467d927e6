// SPDX-License-Identifier: GPL-2.0-only

#ifndef UPDATE_PREPARATION_H
#define UPDATE_PREPARATION_H

#include "interval-rule.h"
#include "public-interleaving.h"
#include "public-rotation.h"
#include "quantizer.h"
#include "update-clipping.h"

#include "ns3/federated-random.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace ns3
{

/**
 * @ingroup federated
 * @brief How a device turns an update into a payload.
 *
 * Plain memory and raw pointers, so that worker threads may use it. The quantizer and the interval
 * rule must live, unchanged, while it is in use.
 */
struct UpdateSettings
{
    ClipNorm clipNorm = CLIP_NONE;              //!< The norm of the update that is clipped.
    double clipBound = 0;                       //!< C, if a norm is clipped.
    const IntervalRule* intervalRule = nullptr; //!< Chooses the intervals.
    const Quantizer* quantizer = nullptr;       //!< Makes the payload.
    unsigned bits = 0;                          //!< Resolution of the device, b.
    bool reportDistortion = false; //!< The exact distortion is sent along; costs a pass over d.
    /**
     * The update is rotated before it is clipped. Then the P rotated coordinates are what is
     * clipped, quantized and sent.
     */
    std::optional<PublicRotation> rotation = std::nullopt;
    /**
     * The coordinates, rotated or not, are sent in this order; they are clipped and quantized in
     * it.
     */
    std::optional<PublicInterleaving> interleaving = std::nullopt;
};

/**
 * @ingroup federated
 * @brief What a device has made of an update: the payload, and what describes it.
 */
struct PreparedUpdate
{
    std::vector<uint8_t> payload; //!< The quantized update; empty if it is not valid.
    /**
     * Ranges that cover the encoded coordinates, each with the interval that it is quantized on;
     * empty if not valid. They are sent along if SendsIntervals() says so.
     */
    std::vector<IntervalRange> intervals;
    unsigned wireBits = 0; //!< Bits of a coordinate in the payload.
    /**
     * D/d: the expected squared error of an encoded coordinate, against the clipped update; NaN
     * unless it is reported.
     */
    double distortion = std::numeric_limits<double>::quiet_NaN();
    /**
     * The fraction of the encoded coordinates that lie outside their interval, and are clamped to
     * its ends; NaN if the quantizer does not clamp. It is not sent.
     */
    double clampedFraction = std::numeric_limits<double>::quiet_NaN();
    double clipFactor = 0; //!< What the clip multiplied the update by; 0: it is not finite.
    /**
     * Whether the update can be sent. False until the work is done, if a coordinate is infinite or
     * NaN, and if an interval or the noise is too large for floats.
     */
    bool valid = false;
};

/**
 * @ingroup federated
 * @param settings How updates are prepared.
 * @param dimension Size of an update, d; 0: unknown.
 * @return how many coordinates are encoded and sent.
 */
std::size_t GetEncodedSize(const UpdateSettings& settings, std::size_t dimension);

/**
 * @ingroup federated
 * Check a configuration, before the simulation begins.
 * @param settings How updates are to be prepared.
 * @param dimension Size of an update, d.
 * @param [out] error On failure, one sentence that says what is wrong.
 * @return whether interval rule and quantizer can be used, at the resolution of the device, and the
 * update can be rotated and interleaved, if it is to be.
 */
[[nodiscard]] bool CheckUpdateSettings(const UpdateSettings& settings,
                                       std::size_t dimension,
                                       std::string& error);

/**
 * @ingroup federated
 * The part of CheckUpdateSettings() about rotation, for a center too.
 * @param rule Interval rule of the devices; may be null.
 * @param dimension Size of an update, d.
 * @param [out] error On failure, one sentence that says what is wrong.
 * @return whether updates can be rotated.
 */
[[nodiscard]] bool CheckRotation(const IntervalRule* rule,
                                 std::size_t dimension,
                                 std::string& error);

/**
 * @ingroup federated
 * The part of CheckUpdateSettings() about interleaving, for a center too.
 * @param rule Interval rule of the devices; may be null.
 * @param [out] error On failure, one sentence that says what is wrong.
 * @return whether updates can be interleaved.
 */
bool CheckInterleaving(const IntervalRule* rule, std::string& error);

/**
 * @ingroup federated
 * Turn an update into a payload, as steps 11 and 12 of Algorithm 1: rotate and interleave if that
 * is asked for, clip, choose the intervals, quantize, pack. The only way in which an update is
 * prepared: the training of a device, the privacy audit and the attacks call it, or the two
 * functions that it consists of.
 * @param settings How.
 * @param layerEnds One past the last coordinate of each layer, ascending, the last one being d.
 * @param coins Stream for the quantizer's random words.
 * @param [in,out] values The update, d coordinates; then what is encoded: rotated, interleaved,
 * clipped.
 * @param [out] result The payload and what describes it. Its memory is used again.
 */
void PrepareUpdate(const UpdateSettings& settings,
                   const std::vector<std::size_t>& layerEnds,
                   FederatedRandom& coins,
                   std::vector<float>& values,
                   PreparedUpdate& result);

/**
 * @ingroup federated
 * First half of PrepareUpdate(), which draws nothing: rotate, interleave, clip, choose the
 * intervals, and compute the distortion if it is reported. Clipping is the last step that changes
 * coordinates: the privacy claims need a bound on the norm of what is encoded.
 * @param settings How.
 * @param layerEnds One past the last coordinate of each layer, ascending, the last one being d.
 * @param [in,out] values The update, d coordinates; then what is encoded: rotated, interleaved,
 * clipped.
 * @param [out] result All but the payload. It is valid if EncodePrepared() may follow.
 */
void ClipAndPlace(const UpdateSettings& settings,
                  const std::vector<std::size_t>& layerEnds,
                  std::vector<float>& values,
                  PreparedUpdate& result);

/**
 * @ingroup federated
 * Second half of PrepareUpdate(): quantize and pack. It can be repeated, with other random words
 * each time.
 * @param settings How.
 * @param coins Stream for the quantizer's random words.
 * @param values The encoded coordinates, as ClipAndPlace() left them.
 * @param [in,out] result What ClipAndPlace() made of the update; gets the payload.
 */
void EncodePrepared(const UpdateSettings& settings,
                    FederatedRandom& coins,
                    const std::vector<float>& values,
                    PreparedUpdate& result);

/**
 * @ingroup federated
 * Decode a whole payload, as its receiver does.
 * @param settings How it was made.
 * @param update The prepared update, valid.
 * @param [out] values The encoded coordinates, GetEncodedSize() of them.
 */
void DecodePrepared(const UpdateSettings& settings, const PreparedUpdate& update, float* values);

/**
 * @ingroup federated
 * Decode a whole payload, and undo interleaving and rotation: the update itself, as its receiver
 * (or an attacker) sees it.
 * @param settings How it was made.
 * @param update The prepared update, valid.
 * @param dimension Size of the update, d.
 * @return d coordinates.
 */
std::vector<float> RecoverUpdate(const UpdateSettings& settings,
                                 const PreparedUpdate& update,
                                 std::size_t dimension);

/**
 * @ingroup federated
 * @param settings How updates are prepared.
 * @return whether the intervals are sent with the payload. Only exact floats are sent without them:
 * these are decoded without intervals, which would tell an observer about the update for nothing.
 */
bool SendsIntervals(const UpdateSettings& settings);

/**
 * @ingroup federated
 * The same for a center, which knows the quantizer of the devices.
 * @param quantizer The quantizer.
 * @param bits Resolution of the device.
 * @return whether the intervals are sent with the payload.
 */
bool SendsIntervals(const Quantizer& quantizer, unsigned bits);

/**
 * @ingroup federated
 * @param settings How updates are prepared.
 * @param dimension Size of an update, d; 0: unknown.
 * @return what is claimed about the privacy of all that is sent for an update: payload, intervals
 * and distortion. That of a coordinate is of an encoded one (GetEncodedSize).
 */
PrivacyClaim GetPrivacyClaim(const UpdateSettings& settings, std::size_t dimension);

/**
 * @ingroup federated
 * @param settings How updates are prepared.
 * @return what is sent along that depends on the data and is not protected; may be empty.
 */
std::vector<std::string> GetSideInformation(const UpdateSettings& settings);

} // namespace ns3

#endif // UPDATE_PREPARATION_H
