// SPDX-License-Identifier: GPL-2.0-only

#ifndef UPDATE_LIMITS_H
#define UPDATE_LIMITS_H

#include "privacy-claim.h"
#include "quantizer.h"

#include "ns3/coordinate-range.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace ns3::federated
{

/** A part of an update that was received, before it is used. */
struct ReceivedPart
{
    const std::vector<IntervalRange>& intervals; //!< Of its coordinates.
    float distortion;       //!< Of a coordinate of the whole update, as reported; NaN: not.
    const uint8_t* payload; //!< Its coordinates, packed.
    std::size_t count;      //!< How many.
    float largest;          //!< Largest magnitude of its floats, finite; 0 for levels.
};

/**
 * What the accepted parts of an update have used up of its limits; only UpdateLimits changes it.
 */
struct UpdateTally
{
    /** The limits that follow from an interval. */
    struct Bounds
    {
        float low;    //!< Lower end of the interval.
        float high;   //!< Its upper end.
        double reach; //!< Largest magnitude of a float on it.
        double least; //!< Least distortion of a coordinate on it.
    };

    std::size_t answers = 0;         //!< Coordinates that were answered.
    double leastDistortion = 0;      //!< Least distortion of the parts, divided by all of d.
    double norm = 0;                 //!< Sum of magnitudes (l1) or of squares (l2) of exact floats.
    std::optional<float> distortion; //!< As the first part reported it.
    std::optional<Bounds> lastBounds; //!< Those of the last interval.
};

/**
 * @brief Limits what a device says about its update by public numbers: what no device that follows
 * the protocol can have sent is not used, whoever sent it.
 *
 * The limits are the public interval, or for intervals that depend on the data the bound of the
 * clip; what the quantizer can make of values within it (Quantizer::GetReach, GetLeastDistortion,
 * CanHaveSent); and, for exact floats, the clipped norm. Honest updates are always allowed, but for
 * a noise with a probability of less than 2^-64 a coordinate.
 */
class UpdateLimits
{
  public:
    /** The public numbers. */
    struct Terms
    {
        const Quantizer* quantizer = nullptr; //!< Of the devices; null: it sets no limits.
        PrivacyContext context;               //!< Interval, clip, resolution and size of an update.
        double maxCoordinate =
            std::numeric_limits<double>::infinity(); //!< Largest magnitude of an encoded coordinate
                                                     //!< if updates are not clipped.
        bool hasOneInterval = false;  //!< Whether an update has the same interval everywhere.
        bool needsDistortion = false; //!< Whether updates must report their distortion.
    };

    /** @param terms The public numbers; the quantizer must outlive this object. */
    explicit UpdateLimits(const Terms& terms);

    /**
     * @param part A part of an update, of which a quantizer that sends floats has floats.
     * @param [in,out] tally The parts that were accepted before; this one is added if it is
     * allowed.
     * @return whether it can be a part of an honest update together with them.
     */
    bool Allows(const ReceivedPart& part, UpdateTally& tally) const;

  private:
    /**
     * @param interval An interval of a part.
     * @param first The first one of the part.
     * @param tally The parts so far.
     * @return whether it is the public one or, if there is none, within the limit.
     */
    bool AllowsInterval(const IntervalRange& interval,
                        const IntervalRange& first,
                        const UpdateTally& tally) const;

    /**
     * Limit floats and distortion by the intervals.
     * @param part A part of an update.
     * @param [in,out] tally The parts so far.
     * @return whether both are within their limits.
     */
    bool AllowsValues(const ReceivedPart& part, UpdateTally& tally) const;

    /**
     * @param distortion As reported.
     * @param least What the quantizer can reach at best.
     * @param [in,out] tally The parts so far.
     * @return whether an honest device may have reported it.
     */
    bool AllowsDistortion(float distortion, double least, UpdateTally& tally) const;

    /**
     * @param part A part of exact floats.
     * @param [in,out] tally The parts so far.
     * @return whether their norm is within the clip.
     */
    bool AllowsNorm(const ReceivedPart& part, UpdateTally& tally) const;

    /**
     * @param low Lower end of an interval.
     * @param high Its upper end.
     * @param [in,out] tally Gets the limits, unless it has them.
     * @return the limits that follow from it.
     */
    const UpdateTally::Bounds& GetBounds(float low, float high, UpdateTally& tally) const;

    Terms m_terms;    //!< The public numbers.
    double m_largest; //!< Largest magnitude of an encoded coordinate.
    bool m_isExact;   //!< Whether floats are sent as they are, without intervals.
    bool m_isFloat;   //!< Whether floats are sent.
};

} // namespace ns3::federated

#endif // UPDATE_LIMITS_H
