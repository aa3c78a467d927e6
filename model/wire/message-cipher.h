// SPDX-License-Identifier: GPL-2.0-only

#ifndef MESSAGE_CIPHER_H
#define MESSAGE_CIPHER_H

#include "federated-header.h"

#include "ns3/packet.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace ns3::federated
{

/**
 * @ingroup federated
 * @brief Encrypts whole messages, header and payload, under a key that a center shares with all its
 * devices.
 *
 * It models the confidentiality of a real protocol in a simulation, but is not secure: ChaCha has 8
 rounds instead of 20, keys are not exchanged, every device can read the messages of every other
 one, and nothing is authenticated (the checksum inside only detects wrong keys and damage). One key
 is for one federation in one run.
 *
 * @verbatim
    0                   1                   2                   3
    0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
   +---------------+---------------+---------------+---------------+
   |      'F'      |      'L'      |    version    |      255      |
   +---------------+---------------+---------------+---------------+
   |           sender (a device, or 2^32 - 1: the center)          |
   |                   number of the message (64 bits)             |
   |                                                               |
   +---------------------------------------------------------------+
   |    the message from its type on, xor key stream ...
   @endverbatim
 *
 * (The three bytes that all messages begin with are not sent twice.)
 * The nonce (sender and number), which determines the key stream, is sent in the clear. A sender
 never uses a number twice, not even for a retransmission: numbers ascend and are not below the time
 in nanoseconds. A restarted sender with the same identifier therefore begins above its earlier
 numbers, unless it sent more messages before it stopped than nanoseconds passed until the restart.
 */
class MessageCipher
{
  public:
    static constexpr std::size_t CLEAR_SIZE = 16; //!< Bytes in the clear.
    static constexpr std::size_t BEGIN_SIZE = 3;  //!< Bytes that every message begins with.
    static constexpr std::size_t OVERHEAD = CLEAR_SIZE - BEGIN_SIZE; //!< Bytes that are added.
    static constexpr std::size_t MAX_KEY = 32;                       //!< Bytes of a key.

    /**
     * @param message Any bytes.
     * @param size How many.
     * @return whether it is marked as encrypted.
     */
    static bool IsEncrypted(const uint8_t* message, std::size_t size)
    {
        return size >= CLEAR_SIZE && message[0] == 'F' && message[1] == 'L' &&
               message[2] == FederatedHeader::VERSION && message[3] == FederatedHeader::ENCRYPTED;
    }

    /**
     * @param key The key, at most MAX_KEY bytes, used as they are; empty: nothing is encrypted.
     * @param sender Identifier of the sender.
     */
    void Start(const std::string& key, uint32_t sender);

    /** @return whether there is a key. */
    bool IsOn() const
    {
        return m_isOn;
    }

    /** @return by how many bytes messages grow. */
    uint32_t GetOverhead() const
    {
        return m_isOn ? OVERHEAD : 0;
    }

    /**
     * @param message A message with its header, at most MessageStream::MAX_MESSAGE - OVERHEAD
     * bytes.
     * @return the same, encrypted with a new number.
     */
    Ptr<Packet> Encrypt(const Ptr<const Packet>& message);

    /**
     * @param [in,out] message Any bytes; on success the message, which stays until the next call
     * of this function.
     * @param [in,out] size How many.
     * @return whether it was marked as encrypted; a wrong key is detected only by the checksum
     * inside.
     */
    bool Decrypt(const uint8_t*& message, uint32_t& size);

  private:
    /**
     * @param nonce Sender and number, in the byte order of the message.
     * @param bytes What is encrypted or decrypted.
     * @param size How many.
     */
    void Apply(const uint8_t* nonce, uint8_t* bytes, std::size_t size);

    bool m_isOn = false;               //!< Whether there is a key.
    std::array<uint32_t, 8> m_key{};   //!< The key.
    uint32_t m_sender = 0;             //!< Identifier of the sender.
    uint64_t m_number = 0;             //!< Of the last message.
    std::vector<uint8_t> m_sent;       //!< The message that is being encrypted.
    std::vector<uint8_t> m_received;   //!< The last one that was decrypted: an answer may be sent
                                       //!< while it is being read.
    std::vector<uint32_t> m_keyStream; //!< Of the message at hand.
};

} // namespace ns3::federated

#endif // MESSAGE_CIPHER_H
