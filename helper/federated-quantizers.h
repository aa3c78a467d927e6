// SPDX-License-Identifier: GPL-2.0-only

#ifndef FEDERATED_QUANTIZERS_H
#define FEDERATED_QUANTIZERS_H

#include <string>
#include <vector>

namespace ns3
{

/**
 * @ingroup federated
 * @brief The short names of quantizers in options and tables.
 */
class FederatedQuantizers
{
  public:
    /**
     * @param name A short name such as dp; aborts if it is not one.
     * @return the TypeId name of the quantizer, which may not be part of this build.
     */
    static std::string GetTypeIdName(const std::string& name);

    /** @return the names of the quantizers that bits and an epsilon of a coordinate describe. */
    static std::vector<std::string> GetCoordinateWise();
};

} // namespace ns3

#endif // FEDERATED_QUANTIZERS_H
