// SPDX-License-Identifier: GPL-2.0-only

#ifndef LEVEL_QUANTIZER_H
#define LEVEL_QUANTIZER_H

#include "quantizer.h"

namespace ns3
{

/**
 * @ingroup federated
 * @brief A quantizer that sends one of 2^b levels a coordinate, or of fewer.
 */
class LevelQuantizer : public Quantizer
{
  public:
    /** @return the TypeId. */
    static TypeId GetTypeId();

  private:
    unsigned DoGetWireBits(unsigned bits) const override;
    bool DoEncode(const float* values,
                  std::size_t count,
                  const LevelGrid& grid,
                  FederatedRandom& random,
                  uint8_t* payload,
                  std::size_t first) const override;

    /**
     * Choose a level for each coordinate.
     * @param values The coordinates, finite.
     * @param count How many, at most BLOCK.
     * @param grid Levels of the interval.
     * @param random Stream for the random words.
     * @param [out] levels Indices of the levels chosen, in GetWireBits() bits.
     */
    virtual void DoChooseLevels(const float* values,
                                std::size_t count,
                                const LevelGrid& grid,
                                FederatedRandom& random,
                                uint16_t* levels) const = 0;
};

} // namespace ns3

#endif // LEVEL_QUANTIZER_H
