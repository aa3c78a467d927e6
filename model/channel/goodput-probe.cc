// SPDX-License-Identifier: GPL-2.0-only

#include "goodput-probe.h"

#include "ns3/abort.h"
#include "ns3/ipv4-l3-protocol.h"
#include "ns3/ipv6-l3-protocol.h"

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(GoodputProbe);

TypeId
GoodputProbe::GetTypeId()
{
    static TypeId tid = TypeId("ns3::GoodputProbe")
                            .SetParent<LinkProbe>()
                            .SetGroupName("Federated")
                            .AddConstructor<GoodputProbe>();
    return tid;
}

GoodputProbe::GoodputProbe()
    : LinkProbe(false)
{
}

void
GoodputProbe::Attach(const Ptr<Node>& node)
{
    const Ptr<GoodputProbe> self(this);
    const auto ipv4 = node->GetObject<Ipv4L3Protocol>();
    const auto ipv6 = node->GetObject<Ipv6L3Protocol>();
    NS_ABORT_MSG_IF(!ipv4 && !ipv6, "GoodputProbe: the node has no internet stack");
    if (ipv4)
    {
        ipv4->TraceConnectWithoutContext("LocalDeliver",
                                         MakeCallback(&GoodputProbe::Receive4, self));
    }
    if (ipv6)
    {
        ipv6->TraceConnectWithoutContext("LocalDeliver",
                                         MakeCallback(&GoodputProbe::Receive6, self));
    }
}

void
GoodputProbe::AddDevice(uint32_t device, const Address& ip)
{
    m_devices[ip] = device;
}

void
GoodputProbe::Receive4(const Ipv4Header& header, Ptr<const Packet> packet, uint32_t)
{
    Count(header.GetSource(), packet, header.GetSerializedSize());
}

void
GoodputProbe::Receive6(const Ipv6Header& header, Ptr<const Packet> packet, uint32_t)
{
    Count(header.GetSource(), packet, header.GetSerializedSize());
}

void
GoodputProbe::Count(const Address& source, const Ptr<const Packet>& packet, uint32_t headerSize)
{
    const auto found = m_devices.find(source);
    if (found != m_devices.end())
    {
        LinkSample sample;
        sample.device = found->second;
        sample.bytes = packet->GetSize() + headerSize;
        sample.packet = packet->GetUid();
        AddSample(sample);
    }
}

} // namespace ns3
