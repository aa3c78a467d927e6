// SPDX-License-Identifier: GPL-2.0-only

#include "federated-quantizers.h"

#include "ns3/abort.h"

#include <algorithm>

namespace ns3
{

namespace
{

/** A name of a quantizer. */
struct Name
{
    const char* name;      //!< The short one.
    const char* typeId;    //!< The name of its TypeId.
    bool isCoordinateWise; //!< Whether bits and an epsilon of a coordinate describe it.
};

const std::vector<Name> NAMES{
    {"none", "ns3::IdentityQuantizer", true},
    {"sq", "ns3::UnbiasedStochasticQuantizer", true},
    {"dp", "ns3::DpStochasticQuantizer", true},
    {"laplace", "ns3::LaplaceQuantizer", true},
    {"rr", "ns3::RandomizedResponseQuantizer", true},
    {"optimal", "ns3::OptimalDpQuantizer", true},
    {"coordinates", "ns3::RandomCoordinatesQuantizer", false},
    {"gaussian", "ns3::GaussianQuantizer", false},
    // Further names for some of these.
    {"identity", "ns3::IdentityQuantizer", false},
    {"paper", "ns3::DpStochasticQuantizer", false},
    {"random-coordinates", "ns3::RandomCoordinatesQuantizer", false},
};

} // namespace

std::string
FederatedQuantizers::GetTypeIdName(const std::string& name)
{
    const auto row = std::find_if(
        NAMES.begin(), NAMES.end(), [&name](const Name& entry) { return entry.name == name; });
    NS_ABORT_MSG_IF(row == NAMES.end(), "FederatedQuantizers: there is no quantizer " << name);
    return row->typeId;
}

std::vector<std::string>
FederatedQuantizers::GetCoordinateWise()
{
    std::vector<std::string> names;
    for (const Name& entry : NAMES)
    {
        if (entry.isCoordinateWise)
        {
            names.emplace_back(entry.name);
        }
    }
    return names;
}

} // namespace ns3
