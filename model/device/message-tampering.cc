// SPDX-License-Identifier: GPL-2.0-only

#include "message-tampering.h"

#include "ns3/abort.h"

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(MessageTampering);

TypeId
MessageTampering::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::MessageTampering").SetParent<Object>().SetGroupName("Federated");
    return tid;
}

std::vector<OutgoingMessage>
MessageTampering::Tamper(const OutgoingMessage& message, const TamperingContext& context)
{
    std::vector<OutgoingMessage> sent = DoTamper(message, context);
    for (const OutgoingMessage& one : sent)
    {
        NS_ABORT_MSG_IF(one.payload.size() > FederatedHeader::MAX_PAYLOAD ||
                            one.header.intervals.size() > FederatedHeader::MAX_INTERVALS ||
                            one.delay.IsStrictlyNegative(),
                        GetInstanceTypeId().GetName()
                            << ": a message has " << one.payload.size() << " bytes, "
                            << one.header.intervals.size() << " intervals and a delay of "
                            << one.delay.As(Time::S) << ", which cannot be sent");
    }
    return sent;
}

} // namespace ns3
