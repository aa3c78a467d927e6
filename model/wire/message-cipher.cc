// SPDX-License-Identifier: GPL-2.0-only

#include "message-cipher.h"

#include "ns3/abort.h"
#include "ns3/assert.h"
#include "ns3/big-endian.h"
#include "ns3/federated-random.h"
#include "ns3/simulator.h"

#include <algorithm>

namespace ns3::federated
{

namespace
{

constexpr std::size_t AT_SENDER = 4;
constexpr std::size_t AT_NUMBER = 8;

} // namespace

void
MessageCipher::Start(const std::string& key, uint32_t sender)
{
    NS_ABORT_MSG_IF(key.size() > MAX_KEY,
                    "MessageCipher: an EncryptionKey of " << key.size() << " bytes, more than "
                                                          << MAX_KEY);
    m_isOn = !key.empty();
    m_sender = sender;
    m_key.fill(0);
    for (std::size_t i = 0; i < key.size(); ++i)
    {
        m_key[i / 4] |= uint32_t{static_cast<uint8_t>(key[i])} << (8 * (i % 4));
    }
}

void
MessageCipher::Apply(const uint8_t* nonce, uint8_t* bytes, std::size_t size)
{
    FederatedRandom stream(
        m_key, {ReadBigEndian32(nonce), ReadBigEndian32(nonce + 4), ReadBigEndian32(nonce + 8)});
    m_keyStream.resize((size + 3) / 4);
    stream.Fill(m_keyStream.data(), m_keyStream.size());
    for (std::size_t i = 0; i < size; ++i)
    {
        bytes[i] ^= static_cast<uint8_t>(m_keyStream[i / 4] >> (8 * (i % 4)));
    }
}

Ptr<Packet>
MessageCipher::Encrypt(const Ptr<const Packet>& message)
{
    NS_ASSERT_MSG(message->GetSize() >= FederatedHeader::FIXED_SIZE,
                  "MessageCipher: a message of " << message->GetSize() << " bytes");
    m_sent.resize(OVERHEAD + message->GetSize());
    message->CopyData(&m_sent[OVERHEAD], message->GetSize());
    std::copy_n(&m_sent[OVERHEAD], BEGIN_SIZE, m_sent.begin());
    m_sent[BEGIN_SIZE] = FederatedHeader::ENCRYPTED;
    const auto now = static_cast<uint64_t>(Simulator::Now().GetNanoSeconds());
    m_number = std::max(m_number + 1, now);
    WriteBigEndian32(m_sender, &m_sent[AT_SENDER]);
    WriteBigEndian64(m_number, &m_sent[AT_NUMBER]);
    Apply(&m_sent[AT_SENDER], &m_sent[CLEAR_SIZE], m_sent.size() - CLEAR_SIZE);
    return Create<Packet>(m_sent.data(), static_cast<uint32_t>(m_sent.size()));
}

bool
MessageCipher::Decrypt(const uint8_t*& message, uint32_t& size)
{
    if (!IsEncrypted(message, size))
    {
        return false;
    }
    m_received.assign(message + OVERHEAD, message + size);
    std::copy_n(message, BEGIN_SIZE, m_received.begin());
    size -= OVERHEAD;
    Apply(message + AT_SENDER, m_received.data() + BEGIN_SIZE, size - BEGIN_SIZE);
    message = m_received.data();
    return true;
}

} // namespace ns3::federated
