// SPDX-License-Identifier: GPL-2.0-only

#ifndef DIRICHLET_SIZES_H
#define DIRICHLET_SIZES_H

#include "federated-partition.h"

#include "ns3/federated-random.h"

#include <cstdint>
#include <vector>

namespace ns3::federated
{

/**
 * @ingroup federated
 * @brief Random sizes whose shares follow a symmetric Dirichlet distribution.
 */
class DirichletSizes
{
  public:
    static constexpr double MIN_ALPHA = 1e-300; //!< Smallest parameter: everything to one part.
    static constexpr double MAX_ALPHA = 1e6;    //!< Largest parameter: shares are equal.

    /**
     * @param items How many items there are.
     * @param parts Into how many parts they are cut.
     * @param alpha Parameter of the distribution.
     * @param random The random stream.
     * @return sizes proportional to the shares, up to rounding.
     */
    static std::vector<uint32_t> Draw(uint32_t items,
                                      uint32_t parts,
                                      double alpha,
                                      FederatedRandom& random);

    /**
     * Give every device that holds nothing one sample of the device that then holds most.
     * @param [in,out] parts What the devices hold.
     */
    static void FillEmpty(FederatedPartition::Parts& parts);
};

} // namespace ns3::federated

#endif // DIRICHLET_SIZES_H
