// SPDX-License-Identifier: GPL-2.0-only

#ifndef IDENTITY_QUANTIZER_H
#define IDENTITY_QUANTIZER_H

#include "float-quantizer.h"

namespace ns3
{

/**
 * @ingroup federated
 * @brief Sends each coordinate as it is, a 32-bit float: plain federated averaging.
 *
 * The payload depends neither on the interval nor on the resolution. It claims no privacy.
 */
class IdentityQuantizer : public FloatQuantizer
{
  public:
    /** @return the TypeId. */
    static TypeId GetTypeId();

  private:
    bool DoClamps() const override;
    const float* DoMakeFloats(const float* values,
                              std::size_t count,
                              const LevelGrid& grid,
                              FederatedRandom& random,
                              float* buffer) const override;
    double DoGetDistortion(const float* values,
                           std::size_t count,
                           const LevelGrid& grid) const override;
    double DoGetCellDistortion(const LevelGrid& grid) const override;
    double DoGetReach(double largest, const LevelGrid& grid) const override;
    double DoGetPrivacyLoss(float value, float other, const LevelGrid& grid) const override;
    PrivacyClaim DoGetPrivacyClaim(const PrivacyContext& context) const override;
};

} // namespace ns3

#endif // IDENTITY_QUANTIZER_H
