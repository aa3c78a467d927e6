// SPDX-License-Identifier: GPL-2.0-only

#ifndef UPDATE_FUSION_H
#define UPDATE_FUSION_H

#include "fusion-rule.h"

#include "ns3/coordinate-range.h"
#include "ns3/packed-update.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ns3
{

class Quantizer;
class UpdateAggregator;

/**
 * @ingroup federated
 * @brief Coordinates of an update that were delivered together, still packed.
 */
struct DeliveredRange
{
    std::size_t begin;      //!< First coordinate.
    std::size_t end;        //!< One past the last coordinate.
    const uint8_t* payload; //!< Packed levels or floats.
    std::size_t first = 0;  //!< Position of the first coordinate in the payload.
    double sigma2 = 0;      //!< Variance of the link noise on these coordinates.
};

/**
 * @ingroup federated
 * @brief The delivered part of one device's update.
 */
struct DeliveredUpdate
{
    uint32_t device = 0;                  //!< Sums run in ascending order of it.
    unsigned bits = 0;                    //!< Resolution of the device.
    unsigned wireBits = 0;                //!< Bits of a coordinate in the payload; 32 are floats.
    double exactDistortion = 0;           //!< See UpdateQuality.
    double cellDistortion = 0;            //!< See UpdateQuality.
    double samples = 0;                   //!< See UpdateQuality.
    std::vector<IntervalRange> intervals; //!< Cover all coordinates, ascending; ends are those of
                                          //!< the decoder's grid (Quantizer::GetDecoderGrid).
    std::vector<float> positions; //!< Of the levels, if they are not spread evenly: one for each
                                  //!< value of the wire bits (Quantizer::GetLevelPositions).
    std::vector<DeliveredRange> ranges; //!< The caller checks: ascending, disjoint, finite floats.
};

/**
 * @ingroup federated
 * @brief How coordinates that were not delivered count. (An ns-3 attribute holds it.)
 */
enum LossPolicy
{
    LOSS_RENORMALIZE, //!< The devices that delivered a coordinate share its whole weight.
    LOSS_ZERO,        //!< A missing coordinate counts as zero, with its weight.
    LOSS_DROP,        //!< A device counts only if it delivered everything.
};

/**
 * @ingroup federated
 * @brief Which random numbers the link noise of a round is drawn with.
 */
struct LinkNoiseDraws
{
    uint64_t seed = 0;  //!< Seed of the task.
    uint32_t round = 0; //!< The round.
};

/**
 * @ingroup federated
 * @brief Coordinates on which the same updates were delivered, with the same noise.
 */
struct FusionSegment
{
    std::size_t begin;     //!< First coordinate.
    std::size_t end;       //!< One past the last coordinate.
    uint32_t contributors; //!< How many updates count here.
    double noiseVariance;  //!< Sum of omega^2 sigma^2: the noise of the fused coordinate, which is
                           //!< not added yet; 0 where noise was drawn for each update.
};

/**
 * @ingroup federated
 * @brief Result of a fusion.
 */
struct FusionResult
{
    std::vector<FusionSegment> segments; //!< Cover all coordinates, ascending.
    std::size_t untouched = 0;           //!< Coordinates that no usable update delivered.
    std::vector<double> meanWeights; //!< Weight of each update given, averaged over coordinates.
};

/**
 * @ingroup federated
 * Describe how the received coordinates of an update are decoded. The device, its samples and the
 * noise of the ranges are not set.
 * @param packed The received coordinates; its payload must outlive the result.
 * @param quantizer Quantizer of the device.
 * @param bits Resolution of the device, any number (its bits on the wire may be 32).
 * @param [in,out] update All but device and samples is set.
 * @return false if the update cannot be used: nothing was received, the quantizer does not support
 * the resolution or sends other bits on the wire, levels have no interval, or the decoder stretches
 * an interval beyond what a float holds.
 */
[[nodiscard]] bool DescribeUpdate(const PackedUpdate& packed,
                                  const Quantizer& quantizer,
                                  unsigned bits,
                                  DeliveredUpdate& update);

/**
 * @ingroup federated
 * Decode one update.
 * @param update The update, as DescribeUpdate gives it.
 * @param [out] values d coordinates, of which those that were not delivered stay as they are.
 */
void DecodeUpdate(const DeliveredUpdate& update, float* values);

/**
 * @ingroup federated
 * @param update An update.
 * @param range Coordinates that it delivered.
 * @return the mean square of the values that were sent there.
 */
double GetMeanSquare(const DeliveredUpdate& update, const DeliveredRange& range);

/**
 * @ingroup federated
 * Fuse packed updates into a model: w <- w + sum of omega * update, coordinate by coordinate among
 * those that delivered it.
 *
 * Lost fragments erase different coordinates of different updates, so it works on the common
 * refinement of all delivered ranges. Levels are decoded and added block by block, without an
 * update ever being unpacked as a whole. The order of the sums does not depend on the order of
 * arrival.
 * @param rule Gives the weights on each segment.
 * @param policy How coordinates that were not delivered count.
 * @param updates The updates.
 * @param [in,out] model The model w, d coordinates.
 * @param dimension d.
 * @return what was done.
 */
FusionResult FuseUpdates(const FusionRule& rule,
                         LossPolicy policy,
                         const std::vector<DeliveredUpdate>& updates,
                         float* model,
                         std::size_t dimension);

/**
 * @ingroup federated
 * Fuse packed updates into a model with any aggregator. If that is no weighted mean, updates are
 * decoded block by block, and the noise of its link is added to each of them. Memory grows with the
 * number of updates, but not with their size.
 * @param rule Gives the weights on each segment, and says which updates count.
 * @param aggregator Combines the values of a coordinate.
 * @param policy How coordinates that were not delivered count.
 * @param updates The updates.
 * @param draws Seed and round of the link noise.
 * @param [in,out] model The model w, d coordinates.
 * @param dimension d.
 * @return what was done.
 */
FusionResult FuseUpdates(const FusionRule& rule,
                         const UpdateAggregator& aggregator,
                         LossPolicy policy,
                         const std::vector<DeliveredUpdate>& updates,
                         const LinkNoiseDraws& draws,
                         float* model,
                         std::size_t dimension);

} // namespace ns3

#endif // UPDATE_FUSION_H
