// SPDX-License-Identifier: GPL-2.0-only

#include "message-crypto.h"

namespace ns3::federated
{

namespace
{

MessageCrypto::Maker&
GetMaker()
{
    static MessageCrypto::Maker maker = nullptr; // here, so that it exists before Register()
    return maker;
}

} // namespace

bool
MessageCrypto::Register(Maker maker)
{
    GetMaker() = maker;
    return true;
}

std::unique_ptr<MessageCrypto>
MessageCrypto::Make()
{
    return GetMaker() ? GetMaker()() : nullptr;
}

} // namespace ns3::federated
