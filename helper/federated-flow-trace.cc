// SPDX-License-Identifier: GPL-2.0-only

#include "federated-network-trace.h"

#include "ns3/flow-monitor-helper.h"

namespace ns3
{

namespace
{

/** The flows with unicast packets. */
class FlowTrace : public FederatedNetworkTrace
{
  public:
    /** @param path Path of the file. */
    explicit FlowTrace(const std::string& path)
        : m_path(path),
          m_monitor(m_helper.InstallAll())
    {
    }

    void Finish(FederatedTraceFiles& files) override
    {
        m_monitor->SerializeToXmlFile(m_path, false, false);
        files.AddXml(m_path, "FlowMonitor");
    }

  private:
    std::string m_path;         //!< Path of the file.
    FlowMonitorHelper m_helper; //!< Keeps the probes.
    Ptr<FlowMonitor> m_monitor; //!< Counts packets.
};

const bool g_registered = FederatedNetworkTrace::Register(
    "flowmon",
    [](const std::string& path) -> std::unique_ptr<FederatedNetworkTrace>
    { return std::make_unique<FlowTrace>(path); });

} // namespace

} // namespace ns3
