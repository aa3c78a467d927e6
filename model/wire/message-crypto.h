// SPDX-License-Identifier: GPL-2.0-only

#ifndef MESSAGE_CRYPTO_H
#define MESSAGE_CRYPTO_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace ns3::federated
{

/** A key of any kind: AES-256, a secret that keys are derived from, or a half of Ed25519. */
using CryptoKey = std::array<uint8_t, 32>;

/**
 * @brief The cryptography that protects messages, as a maintained library does it. The module
 * builds without the library; then there is none, and keys are refused.
 *
 * An object has the contexts of one center or device, and remembers the keys that it used last.
 */
class MessageCrypto
{
  public:
    static constexpr std::size_t TAG_SIZE = 16;       //!< Bytes of a tag of AES-256-GCM.
    static constexpr std::size_t SIGNATURE_SIZE = 64; //!< Bytes of a signature of Ed25519.

    using Maker = std::unique_ptr<MessageCrypto> (*)(); //!< Makes an object.

    /**
     * The part of the module that has the library calls this before main().
     * @param maker Makes objects of its class.
     * @return true, to initialize a static variable with.
     */
    static bool Register(Maker maker);

    /** @return a new object; null if the module was built without the library. */
    static std::unique_ptr<MessageCrypto> Make();

    virtual ~MessageCrypto() = default;

    /**
     * HKDF with SHA-256 (RFC 5869), extract and expand.
     * @param secret What is derived from, at least a byte.
     * @param size Its bytes.
     * @param salt Salt.
     * @param info What the derived key is for.
     * @return the key.
     */
    virtual CryptoKey Derive(const uint8_t* secret,
                             std::size_t size,
                             const std::string& salt,
                             const std::string& info) = 0;

    /** The parts of a message that AES-256-GCM treats differently. */
    struct Parts
    {
        const uint8_t* clear;  //!< What is authenticated only.
        std::size_t clearSize; //!< Its bytes.
        const uint8_t* input;  //!< What is encrypted or decrypted.
        std::size_t size;      //!< Its bytes.
        uint8_t* output;       //!< As many bytes; may be the input.
    };

    /**
     * Encrypt with AES-256-GCM.
     * @param key The key.
     * @param counter The last 8 of the 12 bytes of the nonce; the first 4 are zero. Never twice
     * with one key.
     * @param parts What is encrypted.
     * @param [out] tag TAG_SIZE bytes.
     */
    virtual void Seal(const CryptoKey& key, uint64_t counter, const Parts& parts, uint8_t* tag) = 0;

    /**
     * Decrypt, and check the tag.
     * @param key The key.
     * @param counter The counter that it was encrypted with.
     * @param parts What is decrypted.
     * @param tag TAG_SIZE bytes.
     * @return whether the tag is right; if not, the output must not be used.
     */
    [[nodiscard]] virtual bool Open(const CryptoKey& key,
                                    uint64_t counter,
                                    const Parts& parts,
                                    const uint8_t* tag) = 0;

    /**
     * @param seed The private key of Ed25519 (RFC 8032) that Sign() uses from now on.
     * @return the public key.
     */
    virtual CryptoKey SetSigningKey(const CryptoKey& seed) = 0;

    /**
     * @param bytes What is signed.
     * @param size How many.
     * @param [out] signature SIGNATURE_SIZE bytes.
     */
    virtual void Sign(const uint8_t* bytes, std::size_t size, uint8_t* signature) = 0;

    /**
     * @param key The public key.
     * @param bytes What was signed.
     * @param size How many.
     * @param signature SIGNATURE_SIZE bytes.
     * @return whether the signature is right.
     */
    [[nodiscard]] virtual bool Verify(const CryptoKey& key,
                                      const uint8_t* bytes,
                                      std::size_t size,
                                      const uint8_t* signature) = 0;
};

} // namespace ns3::federated

#endif // MESSAGE_CRYPTO_H
