// SPDX-License-Identifier: GPL-2.0-only

#include "page-sender.h"

#include "ns3/federated-header.h"
#include "ns3/message-bodies.h"
#include "ns3/simulator.h"

#include <cstddef>

namespace ns3::federated
{

PageSender::PageSender(MessageEndpoint& endpoint)
    : m_endpoint(endpoint)
{
}

PageSender::~PageSender()
{
    Stop();
}

void
PageSender::SetUp(uint32_t fragmentSize, const Address& group)
{
    m_fragmentSize = fragmentSize;
    m_group = group;
}

void
PageSender::Start(uint32_t round,
                  const std::vector<uint32_t>& selected,
                  const Time& until,
                  const Time& wait,
                  uint32_t& sequence)
{
    Stop();
    const std::size_t room =
        PageBody::GetRoom(m_endpoint.GetRoom(m_fragmentSize, true) - FederatedHeader::FIXED_SIZE);
    for (std::size_t next = 0; next < selected.size();)
    {
        PageBody body;
        body.untilNs = static_cast<uint64_t>(until.GetNanoSeconds());
        body.first = selected[next];
        for (; next < selected.size() && selected[next] - body.first < room; ++next)
        {
            body.Name(selected[next]);
        }
        std::vector<uint8_t> bytes(body.GetSize());
        body.Write(bytes.data());
        FederatedHeader header;
        header.type = FederatedHeader::PAGE;
        header.sequence = ++sequence;
        header.round = round;
        header.device = FederatedHeader::ALL_DEVICES;
        m_messages.push_back(m_endpoint.Make(header, bytes.data(), bytes.size()));
    }
    m_wait = wait;
    m_event = Simulator::Schedule(m_wait, &PageSender::Send, this, true);
}

void
PageSender::Stop()
{
    m_event.Cancel();
    m_messages.clear();
}

void
PageSender::Send(bool again)
{
    for (const Ptr<Packet>& message : m_messages)
    {
        m_endpoint.SendToAddress(m_group, message->Copy());
    }
    if (again)
    {
        m_event = Simulator::Schedule(m_wait, &PageSender::Send, this, false);
    }
}

} // namespace ns3::federated
