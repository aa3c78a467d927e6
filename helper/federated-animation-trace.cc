// SPDX-License-Identifier: GPL-2.0-only

#include "federated-network-trace.h"

#include "ns3/animation-interface.h"

namespace ns3
{

namespace
{

/** An animation for NetAnim. */
class AnimationTrace : public FederatedNetworkTrace
{
  public:
    /** @param path Path of the file. */
    explicit AnimationTrace(const std::string& path)
        : m_path(path),
          m_animation(std::make_unique<AnimationInterface>(path))
    {
    }

    void Finish(FederatedTraceFiles& files) override
    {
        m_animation.reset(); // writes the last lines
        files.AddXml(m_path, "anim");
    }

  private:
    std::string m_path;                              //!< Path of the file.
    std::unique_ptr<AnimationInterface> m_animation; //!< Writes the file.
};

const bool g_registered = FederatedNetworkTrace::Register(
    "anim",
    [](const std::string& path) -> std::unique_ptr<FederatedNetworkTrace>
    { return std::make_unique<AnimationTrace>(path); });

} // namespace

} // namespace ns3
