// SPDX-License-Identifier: GPL-2.0-only

#include "message-protection.h"

#include "ns3/abort.h"
#include "ns3/assert.h"
#include "ns3/big-endian.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <map>
#include <utility>

namespace ns3::federated
{

namespace
{

constexpr std::size_t AT_TYPE = 3;
constexpr std::size_t AT_DEVICE = 4;
constexpr std::size_t AT_COUNTER = 8;
constexpr std::size_t LEAST_ROOM = 64;      // for a header, an interval and two floats
constexpr std::size_t DEVICE_KEY_PARTS = 3; // of a device, of the group, of the signatures
const std::string SALT = "ns-3 federated";  // of what does not depend on the run

constexpr const char* NO_LIBRARY =
    "this build cannot protect messages: install OpenSSL 1.1.1 or later (Debian: libssl-dev and "
    "pkg-config), then configure and build again.";

/** What is remembered about keys, by key and who remembers it. */
using Memories = std::map<std::pair<CryptoKey, uint32_t>, std::shared_ptr<ProtectionState>>;

Memories&
GetMemories()
{
    // Never destroyed: applications may end after the statics of this file.
    static auto& memories = *new Memories;
    return memories;
}

void
ClearMemories()
{
    GetMemories().clear();
}

std::string
ToBytes(uint32_t number)
{
    uint8_t bytes[4];
    WriteBigEndian32(number, bytes);
    return {bytes, bytes + sizeof(bytes)};
}

/** @return a secret that does not depend on the run. */
CryptoKey
DeriveSecret(MessageCrypto& crypto, const std::string& key, const std::string& info)
{
    return crypto.Derive(reinterpret_cast<const uint8_t*>(key.data()), key.size(), SALT, info);
}

CryptoKey
DeriveDeviceSecret(MessageCrypto& crypto,
                   const std::string& key,
                   uint32_t federation,
                   uint32_t device)
{
    return DeriveSecret(crypto, key, "device" + ToBytes(federation) + ToBytes(device));
}

CryptoKey
DeriveGroupSecret(MessageCrypto& crypto, const std::string& key, uint32_t federation)
{
    return DeriveSecret(crypto, key, "group" + ToBytes(federation));
}

/** @return the public key of the center, which can sign from now on. */
CryptoKey
SetSigningKey(MessageCrypto& crypto, const std::string& key, uint32_t federation)
{
    return crypto.SetSigningKey(DeriveSecret(crypto, key, "sign" + ToBytes(federation)));
}

std::unique_ptr<MessageCrypto>
MakeCrypto()
{
    auto crypto = MessageCrypto::Make();
    NS_ABORT_MSG_IF(!crypto, "MessageProtection: " << NO_LIBRARY);
    return crypto;
}

} // namespace

std::string
MessageProtection::FindObstacle(uint32_t fragmentSize, bool isForAll)
{
    if (!MessageCrypto::Make())
    {
        return NO_LIBRARY;
    }
    const std::size_t least = LEAST_ROOM + (isForAll ? GROUP_OVERHEAD : OVERHEAD);
    return fragmentSize >= least
               ? ""
               : "FragmentSize is " + std::to_string(fragmentSize) +
                     " bytes, and protected messages need at least " + std::to_string(least) + ".";
}

std::string
MessageProtection::DeriveDeviceKey(const std::string& key, uint32_t federation, uint32_t device)
{
    const auto crypto = MakeCrypto();
    const CryptoKey parts[DEVICE_KEY_PARTS] = {DeriveDeviceSecret(*crypto, key, federation, device),
                                               DeriveGroupSecret(*crypto, key, federation),
                                               SetSigningKey(*crypto, key, federation)};
    std::string text;
    for (const CryptoKey& part : parts)
    {
        for (const uint8_t byte : part)
        {
            text += "0123456789abcdef"[byte >> 4];
            text += "0123456789abcdef"[byte & 15];
        }
    }
    return text;
}

bool
MessageProtection::IsDeviceKey(const std::string& text)
{
    return text.size() == 2 * DEVICE_KEY_PARTS * sizeof(CryptoKey) &&
           text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

MessageProtection::MessageProtection(std::unique_ptr<MessageCrypto> crypto, uint32_t self)
    : m_crypto(std::move(crypto)),
      m_self(self),
      m_salt(ToBytes(RngSeedManager::GetSeed()) +
             ToBytes(static_cast<uint32_t>(RngSeedManager::GetRun() >> 32)) +
             ToBytes(static_cast<uint32_t>(RngSeedManager::GetRun())))
{
}

std::unique_ptr<MessageProtection>
MessageProtection::MakeForCenter(const std::string& key, uint32_t federation)
{
    std::unique_ptr<MessageProtection> made(
        new MessageProtection(MakeCrypto(), FederatedHeader::ALL_DEVICES));
    MessageCrypto& crypto = *made->m_crypto;
    made->m_federationKey = key;
    made->m_federation = federation;
    made->m_verificationKey = SetSigningKey(crypto, key, federation);
    made->m_group =
        made->Remember(made->DeriveForRun(DeriveGroupSecret(crypto, key, federation), "group"));
    return made;
}

std::unique_ptr<MessageProtection>
MessageProtection::MakeForDevice(const std::string& deviceKey, uint32_t device)
{
    NS_ASSERT_MSG(IsDeviceKey(deviceKey), "MessageProtection: not the key of a device");
    CryptoKey parts[DEVICE_KEY_PARTS];
    for (std::size_t i = 0; i < DEVICE_KEY_PARTS * sizeof(CryptoKey); ++i)
    {
        parts[i / sizeof(CryptoKey)][i % sizeof(CryptoKey)] =
            static_cast<uint8_t>(std::stoul(deviceKey.substr(2 * i, 2), nullptr, 16));
    }
    std::unique_ptr<MessageProtection> made(new MessageProtection(MakeCrypto(), device));
    made->m_devices[device] = made->MakeDevice(parts[0]);
    made->m_group = made->Remember(made->DeriveForRun(parts[1], "group"));
    made->m_verificationKey = parts[2];
    return made;
}

CryptoKey
MessageProtection::DeriveForRun(const CryptoKey& secret, const std::string& purpose) const
{
    return m_crypto->Derive(secret.data(), secret.size(), m_salt, purpose);
}

MessageProtection::KeyState
MessageProtection::Remember(const CryptoKey& key) const
{
    Memories& memories = GetMemories();
    if (memories.empty())
    {
        Simulator::ScheduleDestroy(&ClearMemories);
    }
    auto& memory = memories[{key, m_self}];
    if (!memory)
    {
        memory = std::make_shared<ProtectionState>();
    }
    return {key, memory};
}

MessageProtection::DeviceState
MessageProtection::MakeDevice(const CryptoKey& secret) const
{
    return {Remember(DeriveForRun(secret, "up")), Remember(DeriveForRun(secret, "down"))};
}

MessageProtection::DeviceState&
MessageProtection::FindDevice(uint32_t device)
{
    auto found = m_devices.find(device);
    if (found == m_devices.end())
    {
        const CryptoKey secret =
            DeriveDeviceSecret(*m_crypto, m_federationKey, m_federation, device);
        found = m_devices.emplace(device, MakeDevice(secret)).first;
    }
    return found->second;
}

Ptr<Packet>
MessageProtection::Seal(const FederatedHeader& header, const uint8_t* payload, uint32_t recipient)
{
    const bool isCenter = m_self == FederatedHeader::ALL_DEVICES;
    const bool isSigned = isCenter && recipient == FederatedHeader::ALL_DEVICES;
    KeyState& state = isSigned   ? m_group
                      : isCenter ? FindDevice(recipient).down
                                 : FindDevice(m_self).up;
    const std::size_t size = header.GetSize() + header.payloadLength;
    const std::size_t covered = CLEAR_SIZE + size + MessageCrypto::TAG_SIZE;
    m_sealed.resize(covered + (isSigned ? MessageCrypto::SIGNATURE_SIZE : 0));
    uint8_t* const bytes = m_sealed.data();
    bytes[0] = 'F';
    bytes[1] = 'L';
    bytes[2] = FederatedHeader::VERSION;
    bytes[AT_TYPE] = isSigned   ? FederatedHeader::PROTECTED_GROUP
                     : isCenter ? FederatedHeader::PROTECTED_DOWN
                                : FederatedHeader::PROTECTED_UP;
    WriteBigEndian32(isCenter ? recipient : m_self, bytes + AT_DEVICE);
    const uint64_t counter = ++state.memory->sent;
    WriteBigEndian64(counter, bytes + AT_COUNTER);
    uint8_t* const inner = bytes + CLEAR_SIZE;
    header.Write(inner);
    std::copy_n(payload, header.payloadLength, inner + header.GetSize());
    m_crypto->Seal(state.key, counter, {bytes, CLEAR_SIZE, inner, size, inner}, inner + size);
    if (isSigned)
    {
        m_crypto->Sign(bytes, covered, bytes + covered);
    }
    return Create<Packet>(bytes, static_cast<uint32_t>(m_sealed.size()));
}

bool
MessageProtection::Decrypt(const CryptoKey& key,
                           uint64_t counter,
                           const uint8_t* message,
                           std::size_t size)
{
    m_opened.resize(size - OVERHEAD);
    return m_crypto->Open(
        key,
        counter,
        {message, CLEAR_SIZE, message + CLEAR_SIZE, m_opened.size(), m_opened.data()},
        message + size - MessageCrypto::TAG_SIZE);
}

MessageProtection::Result
MessageProtection::Open(const uint8_t*& message, uint32_t& size)
{
    if (!IsProtected(message, size))
    {
        return Result::UNAUTHENTIC;
    }
    const bool isCenter = m_self == FederatedHeader::ALL_DEVICES;
    const uint8_t type = message[AT_TYPE];
    const bool isSigned = type == FederatedHeader::PROTECTED_GROUP;
    const uint32_t device = ReadBigEndian32(message + AT_DEVICE);
    const uint64_t counter = ReadBigEndian64(message + AT_COUNTER);
    const std::size_t overhead = isSigned ? GROUP_OVERHEAD : OVERHEAD;
    if (isCenter != (type == FederatedHeader::PROTECTED_UP) ||
        size < overhead + FederatedHeader::FIXED_SIZE || counter == 0)
    {
        return Result::UNAUTHENTIC;
    }
    if (!isCenter && !isSigned && device != m_self)
    {
        return Result::FOR_ANOTHER;
    }
    const std::size_t covered = size - (isSigned ? MessageCrypto::SIGNATURE_SIZE : 0);
    const auto known = m_devices.find(device);
    KeyState* state = nullptr;
    CryptoKey key;
    if (isSigned || known != m_devices.end())
    {
        state = isSigned ? &m_group : isCenter ? &known->second.up : &known->second.down;
        key = state->key;
    }
    else
    {
        key = DeriveForRun(DeriveDeviceSecret(*m_crypto, m_federationKey, m_federation, device),
                           "up");
    }
    if (!Decrypt(key, counter, message, covered))
    {
        return Result::UNAUTHENTIC;
    }
    if (isCenter && FederatedHeader::PeekDevice(m_opened.data()) != device)
    {
        return Result::UNAUTHENTIC; // an insider who speaks for another device
    }
    if (!state)
    {
        state = &FindDevice(device).up; // an authentic message: its device exists
    }
    if (!state->memory->window.IsNew(counter))
    {
        return Result::REPLAYED;
    }
    // Last, because it takes a hundred times as long as the rest.
    if (isSigned && !m_crypto->Verify(m_verificationKey, message, covered, message + covered))
    {
        return Result::UNAUTHENTIC;
    }
    state->memory->window.Mark(counter);
    message = m_opened.data();
    size = static_cast<uint32_t>(m_opened.size());
    return Result::OPENED;
}

} // namespace ns3::federated
