// SPDX-License-Identifier: GPL-2.0-only

#ifndef MESSAGE_PROTECTION_H
#define MESSAGE_PROTECTION_H

#include "federated-header.h"
#include "message-crypto.h"
#include "replay-window.h"

#include "ns3/packet.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace ns3::federated
{

/** What the sender or a receiver of messages under a key remembers about it. */
struct ProtectionState
{
    uint64_t sent = 0;   //!< Counter of the last message that was sent.
    ReplayWindow window; //!< Counters that were received.
};

/**
 * @ingroup federated
 * @brief Protects the messages of a center or a device: encrypts and authenticates whole messages,
 * and refuses replayed ones. doc/trust.rst has the layout for other programs.
 *
 * @verbatim
    0                   1                   2                   3
    0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
   +---------------+---------------+---------------+---------------+
   |      'F'      |      'L'      |    version    |     type      |
   |                 device (2^32 - 1: the group)                  |
   |                   counter (64 bits), from 1 on                |
   |                                                               |
   +---------------------------------------------------------------+
   |    the message, encrypted with AES-256-GCM ...
   |    tag (128 bits) of all before it
   |    type PROTECTED_GROUP only: Ed25519 signature (512 bits) of all before it
   @endverbatim
 *
 * There is a key for each device and direction and one for the group, all derived from the
 * federation's key, which only the center has. A device cannot compute the keys of another one.
 * All devices have the group's key; the signature shows that the center has sent the message.
 *
 * Counters and replay windows belong to the keys: they outlive the application, as if they were in
 * non-volatile memory, until Simulator::Destroy(). RngSeed and RngRun are a public salt of the
 * keys.
 */
class MessageProtection
{
  public:
    static constexpr std::size_t CLEAR_SIZE = 16; //!< Bytes in the clear.
    static constexpr std::size_t OVERHEAD =
        CLEAR_SIZE + MessageCrypto::TAG_SIZE; //!< Bytes that are added to a message to or from one
                                              //!< device.
    static constexpr std::size_t GROUP_OVERHEAD =
        OVERHEAD + MessageCrypto::SIGNATURE_SIZE; //!< Likewise to the group.

    /** Result of Open. */
    enum class Result
    {
        OPENED,      //!< A message of the sender that the outer header names.
        FOR_ANOTHER, //!< A message to another device, whose key is not known here.
        UNAUTHENTIC, //!< Not protected, not with the right key, changed, or not from that sender.
        REPLAYED,    //!< It was received before, or is too old to say.
    };

    /**
     * @param message Any bytes.
     * @param size How many.
     * @return whether it is marked as protected.
     */
    static bool IsProtected(const uint8_t* message, std::size_t size)
    {
        return size >= CLEAR_SIZE && message[0] == 'F' && message[1] == 'L' &&
               message[2] == FederatedHeader::VERSION &&
               FederatedHeader::IsProtectedType(message[3]);
    }

    /**
     * @param fragmentSize Bytes of the largest message as it is sent.
     * @param isForAll Whether messages are sent to all devices, too.
     * @return why messages cannot be protected, the end of a sentence; empty if they can.
     */
    static std::string FindObstacle(uint32_t fragmentSize, bool isForAll);

    /**
     * @param key The federation's key: a text of at least one byte.
     * @param federation Number of the federation among those that have the same key.
     * @param device A device.
     * @return what the device needs to know, 192 hexadecimal digits: its own secret, that of the
     * group, and the key that verifies the center's signatures. There must be no obstacle.
     */
    static std::string DeriveDeviceKey(const std::string& key,
                                       uint32_t federation,
                                       uint32_t device);

    /**
     * @param text A text.
     * @return whether it has the form of DeriveDeviceKey's answer.
     */
    static bool IsDeviceKey(const std::string& text);

    /**
     * @param key The federation's key, not empty.
     * @param federation Number of the federation among those that have the same key.
     * @return the protection of the center. There must be no obstacle.
     */
    static std::unique_ptr<MessageProtection> MakeForCenter(const std::string& key,
                                                            uint32_t federation);

    /**
     * @param deviceKey DeriveDeviceKey's answer.
     * @param device The device.
     * @return its protection. There must be no obstacle.
     */
    static std::unique_ptr<MessageProtection> MakeForDevice(const std::string& deviceKey,
                                                            uint32_t device);

    /**
     * Protect a message.
     * @param header Its header, complete but for the checksum, which the tag replaces.
     * @param payload header.payloadLength bytes.
     * @param recipient At the center, the device or ALL_DEVICES for the group; a device has one
     * recipient.
     * @return the protected message.
     */
    Ptr<Packet> Seal(const FederatedHeader& header, const uint8_t* payload, uint32_t recipient);

    /**
     * Check and decrypt a message.
     * @param [in,out] message Any bytes; if they are opened, the message, whose checksum is 0. It
     * stays until the next call of this function.
     * @param [in,out] size How many.
     * @return what became of it.
     */
    [[nodiscard]] Result Open(const uint8_t*& message, uint32_t& size);

    /**
     * @return how many devices it keeps keys of: at the center those that sent an authentic
     * message, or to which one was sent.
     */
    std::size_t GetKnownDevices() const
    {
        return m_devices.size();
    }

  private:
    /** A key, and what is remembered about it. */
    struct KeyState
    {
        CryptoKey key{};                         //!< The key.
        std::shared_ptr<ProtectionState> memory; //!< Shared by all lives of its owner.
    };

    /** The keys of a device. */
    struct DeviceState
    {
        KeyState up;   //!< To the center.
        KeyState down; //!< From the center.
    };

    /**
     * @param crypto The library.
     * @param self The device, or ALL_DEVICES: the center.
     */
    MessageProtection(std::unique_ptr<MessageCrypto> crypto, uint32_t self);

    /**
     * @param secret A secret of a device or the group.
     * @param purpose What the key is for.
     * @return the key for this simulation.
     */
    CryptoKey DeriveForRun(const CryptoKey& secret, const std::string& purpose) const;

    /**
     * @param key A key.
     * @return the key with what this device or center remembers about it in this simulation.
     */
    KeyState Remember(const CryptoKey& key) const;

    /**
     * @param device A device.
     * @return its keys at the center; they are remembered from now on.
     */
    DeviceState& FindDevice(uint32_t device);

    /**
     * @param secret The secret of a device.
     * @return its keys.
     */
    DeviceState MakeDevice(const CryptoKey& secret) const;

    /**
     * Decrypt a message into m_opened.
     * @param key The key.
     * @param counter Its counter.
     * @param message The message.
     * @param size Its bytes, without a signature.
     * @return whether it is authentic.
     */
    bool Decrypt(const CryptoKey& key, uint64_t counter, const uint8_t* message, std::size_t size);

    std::unique_ptr<MessageCrypto> m_crypto; //!< The library.
    uint32_t m_self;                         //!< The device, or ALL_DEVICES: the center.
    std::string m_salt;                      //!< RngSeed and RngRun.
    std::string m_federationKey;             //!< At the center.
    uint32_t m_federation = 0;               //!< At the center.
    CryptoKey m_verificationKey{};           //!< Of the center's signatures.
    KeyState m_group;                        //!< From the center to all.
    std::unordered_map<uint32_t, DeviceState> m_devices; //!< At the center those that were
                                                         //!< authentic; at a device itself.
    std::vector<uint8_t> m_sealed;                       //!< The message that is being sealed.
    std::vector<uint8_t> m_opened; //!< The last one that was opened: an answer may be sent while it
                                   //!< is being read.
};

} // namespace ns3::federated

#endif // MESSAGE_PROTECTION_H
