// SPDX-License-Identifier: GPL-2.0-only

#ifndef FLOAT_QUANTIZER_H
#define FLOAT_QUANTIZER_H

#include "quantizer.h"

namespace ns3
{

/**
 * @ingroup federated
 * @brief A quantizer that sends a 32-bit float a coordinate, whatever the resolution.
 */
class FloatQuantizer : public Quantizer
{
  public:
    /** @return the TypeId. */
    static TypeId GetTypeId();

  protected:
    static constexpr double NEGLIGIBLE = 0x1p-64; //!< Probability with which noise may be larger
                                                  //!< than GetReach() says.

    /**
     * @param reach A magnitude.
     * @return it with room for the rounding of a float and of some doubles.
     */
    static double AddRounding(double reach)
    {
        return reach * (1 + 0x1p-23);
    }

  private:
    unsigned DoGetWireBits(unsigned bits) const override;
    bool DoEncode(const float* values,
                  std::size_t count,
                  const LevelGrid& grid,
                  FederatedRandom& random,
                  uint8_t* payload,
                  std::size_t first) const override;

    /**
     * Give the float that is sent for each coordinate.
     * @param values The coordinates, finite.
     * @param count How many, at most BLOCK.
     * @param grid Levels of the interval.
     * @param random Stream for the noise.
     * @param [out] buffer Memory for `count` floats.
     * @return the floats: `buffer`, which is checked to be finite, or `values` where they are sent
     * as they are.
     */
    virtual const float* DoMakeFloats(const float* values,
                                      std::size_t count,
                                      const LevelGrid& grid,
                                      FederatedRandom& random,
                                      float* buffer) const = 0;
};

} // namespace ns3

#endif // FLOAT_QUANTIZER_H
