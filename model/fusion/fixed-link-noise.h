// SPDX-License-Identifier: GPL-2.0-only

#ifndef FIXED_LINK_NOISE_H
#define FIXED_LINK_NOISE_H

#include "link-noise.h"

#include <string>
#include <vector>

namespace ns3
{

/**
 * @ingroup federated
 * @brief A standard deviation for each group, as in the paper, independent of the real links.
 */
class FixedLinkNoise : public LinkNoise
{
  public:
    /** @return the TypeId. */
    static TypeId GetTypeId();

    /**
     * @param sigmas The standard deviation of each group, separated by commas; the last one also
     * holds for all further groups. Aborts if that is no list of numbers that are not negative.
     */
    void SetSigmas(const std::string& sigmas);

    /** @return the standard deviations as they were set. */
    std::string GetSigmas() const;

  private:
    double DoGetVariance(uint32_t device,
                         uint32_t group,
                         double snr,
                         double meanSquare) const override;

    // Attributes
    std::string m_text;           //!< As set.
    std::vector<double> m_sigmas; //!< As numbers, at least one.
};

} // namespace ns3

#endif // FIXED_LINK_NOISE_H
