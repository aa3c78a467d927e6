// SPDX-License-Identifier: GPL-2.0-only

#ifndef FEDERATED_NETWORK_TRACE_H
#define FEDERATED_NETWORK_TRACE_H

#include "federated-trace-files.h"

#include <memory>
#include <string>

namespace ns3
{

/**
 * @ingroup federated
 * @brief What a module of ns-3 writes about the whole network as XML: flows (flow-monitor) or an
 * animation (netanim). The library builds without these modules; then there is no such trace.
 *
 * @code
    const auto flows = FederatedNetworkTrace::Make("flowmon", "cell-flowmon.xml");
    Simulator::Run();
    flows->Finish(files); // before Simulator::Destroy
   @endcode
 */
class FederatedNetworkTrace
{
  public:
    /** Begins a trace in a file. */
    using Maker = std::unique_ptr<FederatedNetworkTrace> (*)(const std::string& path);

    /**
     * The part of the library that needs the module of ns-3 calls this before main().
     * @param kind Name of the kind of trace.
     * @param maker Begins such a trace.
     * @return true, to initialize a static variable with.
     */
    static bool Register(const std::string& kind, Maker maker);

    /**
     * @param kind flowmon or anim.
     * @return whether this build has such a trace.
     */
    [[nodiscard]] static bool Has(const std::string& kind);

    /**
     * Begin a trace of all nodes, once they have radios, addresses and places.
     * @param kind Name of a kind that this build has; else it aborts with a sentence.
     * @param path Path of its file.
     * @return the trace.
     */
    static std::unique_ptr<FederatedNetworkTrace> Make(const std::string& kind,
                                                       const std::string& path);

    virtual ~FederatedNetworkTrace() = default;

    /**
     * Write what is left, once, after the simulation.
     * @param files Gets the file, so that it is checked.
     */
    virtual void Finish(FederatedTraceFiles& files) = 0;
};

} // namespace ns3

#endif // FEDERATED_NETWORK_TRACE_H
