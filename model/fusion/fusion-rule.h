// SPDX-License-Identifier: GPL-2.0-only

#ifndef FUSION_RULE_H
#define FUSION_RULE_H

#include "ns3/object.h"

#include <cstdint>
#include <vector>

namespace ns3
{

/**
 * @ingroup federated
 * @brief Quality of an update, or of a part of it, as known to the fusion center.
 */
struct UpdateQuality
{
    unsigned bits = 0;          //!< Resolution of the device, b.
    double exactDistortion = 0; //!< Expected squared error of a coordinate as the device reported
                                //!< it, D/d; NaN or negative if it reported none.
    double cellDistortion =
        0;               //!< The same from public numbers alone (Quantizer::GetCellDistortion).
    double sigma2 = 0;   //!< Variance of the link noise on a coordinate; may be infinite.
    uint32_t device = 0; //!< The device.
    double samples = 0;  //!< Training samples of the device, n_k, as it reports them, bounded by
                         //!< FusionCenter::MaxSamples; the mean of the others if it reports none.
    double deliveredFraction = 1; //!< Coordinates of its update that were delivered, over d.
};

/**
 * @ingroup federated
 * @brief Decides how much each delivered update counts, omega in the paper.
 *
 * A rule gives each update a score; weights are the scores divided by their sum, so that they are
 * not negative and sum to 1. With WeightBySamples a score is multiplied by the samples of the
 * device first.
 */
class FusionRule : public Object
{
  public:
    /** @return the TypeId. */
    static TypeId GetTypeId();

    /**
     * @param updates The updates that were delivered.
     * @param [out] weights A weight for each. An update whose link noise is infinite, NaN or
     * negative has weight 0 under every rule. Updates with an infinite score (no error at all)
     * share the whole weight.
     * @return false if no update is usable (none there, all with infinite noise, or all without a
     * score); all weights are 0 then.
     */
    bool GetWeights(const std::vector<UpdateQuality>& updates, std::vector<double>& weights) const;

    /**
     * @param update An update.
     * @return whether it counts at all: its link noise is finite, and its score is above 0. It may
     * still have no weight beside one with an infinite score.
     */
    bool IsUsable(const UpdateQuality& update) const;

    /**
     * @return whether the scores use the distortion that a device reports: updates without one
     * cannot be weighted.
     */
    bool NeedsReportedDistortion() const;

  protected:
    /** @return whether scores are multiplied by the samples. */
    bool IsWeightedBySamples() const;

  private:
    /**
     * @param update An update.
     * @return its score; 0 if it is not usable.
     */
    double GetScore(const UpdateQuality& update) const;

    /**
     * @param update An update whose link noise is finite.
     * @return its score, not negative, possibly infinite.
     */
    virtual double DoGetScore(const UpdateQuality& update) const = 0;

    /** @copydoc NeedsReportedDistortion */
    virtual bool DoNeedsReportedDistortion() const;

    // Attributes
    bool m_weightBySamples = false; //!< Whether scores are multiplied by the samples.
};

} // namespace ns3

#endif // FUSION_RULE_H
