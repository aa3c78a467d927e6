// SPDX-License-Identifier: GPL-2.0-only

#include "federated-network-trace.h"

#include "ns3/abort.h"

#include <map>

namespace ns3
{

namespace
{

std::map<std::string, FederatedNetworkTrace::Maker>&
GetMakers()
{
    // Here, so that it exists before Register().
    static std::map<std::string, FederatedNetworkTrace::Maker> makers;
    return makers;
}

} // namespace

bool
FederatedNetworkTrace::Register(const std::string& kind, Maker maker)
{
    GetMakers()[kind] = maker;
    return true;
}

bool
FederatedNetworkTrace::Has(const std::string& kind)
{
    return GetMakers().count(kind) > 0;
}

std::unique_ptr<FederatedNetworkTrace>
FederatedNetworkTrace::Make(const std::string& kind, const std::string& path)
{
    NS_ABORT_MSG_IF(!Has(kind),
                    "FederatedNetworkTrace: this build has no trace of the kind '" << kind << "'");
    return GetMakers().at(kind)(path);
}

} // namespace ns3
