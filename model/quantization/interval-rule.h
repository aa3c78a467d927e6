// SPDX-License-Identifier: GPL-2.0-only

#ifndef INTERVAL_RULE_H
#define INTERVAL_RULE_H

#include "level-grid.h"
#include "privacy-claim.h"

#include "ns3/object.h"

#include <string>
#include <utility>
#include <vector>

namespace ns3
{

/**
 * @ingroup federated
 * @brief Chooses the interval(s) on which an update is quantized.
 *
 * Const and without state, so that worker threads may call it through a raw pointer.
 */
class IntervalRule : public Object
{
  public:
    /** @return the TypeId. */
    static TypeId GetTypeId();

    /**
     * @param values The update, d coordinates, finite.
     * @param layerEnds One past the last coordinate of each layer, ascending, the last one being d.
     * @return ranges that cover 0..d-1 in ascending order, each with its interval.
     */
    std::vector<IntervalRange> GetIntervals(const float* values,
                                            const std::vector<std::size_t>& layerEnds) const;

    /**
     * Check the attributes, before the simulation begins.
     * @param [out] error On failure, one sentence that says what is wrong.
     * @return whether the rule has an interval.
     */
    [[nodiscard]] bool Check(std::string& error) const;

    /** @return whether the intervals depend on the update: then they reveal something about it. */
    bool IsDataDependent() const;

    /** @return whether each layer has an interval of its own. */
    bool IsPerLayer() const
    {
        return m_perLayer;
    }

    /**
     * @param norm The norm that the device clips.
     * @param bound C, if a norm is clipped.
     * @param bits Resolution of the device.
     * @param dimension Coordinates of an update as it is encoded; 0: unknown.
     * @return the configuration of a device with this rule, for Quantizer::GetPrivacyClaim().
     */
    PrivacyContext GetPrivacyContext(ClipNorm norm,
                                     double bound,
                                     unsigned bits,
                                     std::size_t dimension = 0) const;

  protected:
    bool m_perLayer = false; //!< Each layer has an interval of its own.

  private:
    /**
     * @param [out] error On failure, one sentence that says what is wrong.
     * @return whether the attributes fit together. By default they do.
     */
    virtual bool DoCheck(std::string& error) const;

    /**
     * @param [out] low Lower end of the one interval of all updates, if there is one.
     * @param [out] high Its upper end.
     * @return whether there is one. By default not: intervals depend on the data.
     */
    virtual bool DoGetPublicInterval(double& low, double& high) const;

    /**
     * @param values Coordinates.
     * @param count How many, at least 1.
     * @return lower and upper end of their interval.
     */
    virtual std::pair<float, float> DoGetInterval(const float* values, std::size_t count) const = 0;
};

} // namespace ns3

#endif // INTERVAL_RULE_H
