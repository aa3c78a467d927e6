// SPDX-License-Identifier: GPL-2.0-only

#ifndef RECEIVED_VALUES_H
#define RECEIVED_VALUES_H

#include "update-share.h"

#include "ns3/federated-random.h"

#include <cstddef>
#include <cstdint>

namespace ns3::federated
{

/**
 * @brief The values of one update as they were received: what was sent, plus the noise of the link,
 * drawn for this update alone.
 *
 * The noise of a coordinate depends on seed, round, device and coordinate, not on which other
 * coordinates or updates were delivered. Coordinates are read in ascending order.
 */
class ReceivedValues
{
  public:
    /**
     * @param draws Seed and round of the noise.
     * @param device The device.
     */
    ReceivedValues(const LinkNoiseDraws& draws, uint32_t device);

    /**
     * Read coordinates that were delivered.
     * @param share The update in their segment, with weight 1.
     * @param segment First coordinate of the segment.
     * @param begin First coordinate, not below the end of what was read before.
     * @param count How many, up to UpdateShare::BLOCK.
     * @param [out] values The values.
     */
    void Read(const UpdateShare& share,
              std::size_t segment,
              std::size_t begin,
              std::size_t count,
              float* values);

  private:
    FederatedRandom m_random;   //!< Noise of unit variance for each coordinate, in order.
    std::size_t m_position = 0; //!< First coordinate whose noise is not drawn.
};

/**
 * @param draws Seed and round of the noise.
 * @param update An update.
 * @param dimension d.
 * @return its L2 norm, estimated from what was received with finite noise: the squares of a part
 * count for the whole in proportion to coordinates.
 */
double EstimateNorm(const LinkNoiseDraws& draws,
                    const DeliveredUpdate& update,
                    std::size_t dimension);

} // namespace ns3::federated

#endif // RECEIVED_VALUES_H
