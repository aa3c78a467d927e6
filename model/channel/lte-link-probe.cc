// SPDX-License-Identifier: GPL-2.0-only

#include "lte-link-probe.h"

#include "ns3/abort.h"
#include "ns3/lte-enb-net-device.h"
#include "ns3/lte-enb-phy.h"
#include "ns3/lte-enb-rrc.h"
#include "ns3/lte-spectrum-phy.h"

#include <limits>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(LteLinkProbe);

TypeId
LteLinkProbe::GetTypeId()
{
    static TypeId tid = TypeId("ns3::LteLinkProbe")
                            .SetParent<LinkProbe>()
                            .SetGroupName("Federated")
                            .AddConstructor<LteLinkProbe>();
    return tid;
}

LteLinkProbe::LteLinkProbe()
    : LinkProbe(true),
      m_amc(CreateObject<LteAmc>())
{
}

void
LteLinkProbe::Attach(const Ptr<NetDevice>& enb)
{
    const auto device = DynamicCast<LteEnbNetDevice>(enb);
    NS_ABORT_MSG_IF(!device, "LteLinkProbe: the net device is not that of an eNB");
    const auto cell = Create<Cell>();
    cell->probe = this;
    cell->rrc = device->GetRrc();
    cell->resourceBlocks = device->GetUlBandwidth();
    const auto phy = device->GetPhy();
    phy->TraceConnectWithoutContext("ReportUeSinr",
                                    MakeBoundCallback(&LteLinkProbe::HandleSinr, cell));
    phy->GetUplinkSpectrumPhy()->TraceConnectWithoutContext(
        "UlPhyReception", MakeBoundCallback(&LteLinkProbe::HandleBlock, cell));
}

void
LteLinkProbe::AddDevice(uint32_t device, uint64_t imsi)
{
    m_devices[imsi] = device;
}

bool
LteLinkProbe::FindDevice(LteEnbRrc& rrc, uint16_t rnti, uint32_t& device) const
{
    if (!rrc.HasUeManager(rnti))
    {
        return false;
    }
    const auto found = m_devices.find(rrc.GetUeManager(rnti)->GetImsi());
    if (found == m_devices.end())
    {
        return false;
    }
    device = found->second;
    return true;
}

void
LteLinkProbe::HandleSinr(Ptr<Cell> cell, uint16_t, uint16_t rnti, double sinr, uint8_t)
{
    LinkSample sample;
    // Without any signal there is no measurement; the largest value marks an unused resource block.
    if (sinr > 0 && sinr < std::numeric_limits<double>::max() &&
        cell->probe->FindDevice(*cell->rrc, rnti, sample.device))
    {
        sample.frame = false;
        sample.snr = sinr;
        cell->probe->AddSample(sample);
    }
}

void
LteLinkProbe::HandleBlock(Ptr<Cell> cell, PhyReceptionStatParameters block)
{
    LinkSample sample;
    if (cell->probe->FindDevice(*cell->rrc, block.m_rnti, sample.device))
    {
        sample.ok = block.m_correctness != 0;
        sample.bytes = block.m_size;
        // A block takes one subframe, 1 ms.
        sample.rate =
            1000.0 * cell->probe->m_amc->GetUlTbSizeFromMcs(block.m_mcs, cell->resourceBlocks);
        cell->probe->AddSample(sample);
    }
}

} // namespace ns3
