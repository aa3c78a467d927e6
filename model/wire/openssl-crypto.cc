// SPDX-License-Identifier: GPL-2.0-only

// The functions of OpenSSL 1.1.1 and 3 that are the same in both.

#include "message-crypto.h"

#include "ns3/abort.h"

#include <algorithm>
#include <memory>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <vector>

namespace ns3::federated
{

namespace
{

constexpr std::size_t NONCE_SIZE = 12;

/** A failure inside the library: out of memory, or an algorithm that its configuration forbids. */
void
Require(bool done, const char* what)
{
    NS_ABORT_MSG_IF(!done, "MessageCrypto: OpenSSL failed to " << what);
}

struct Release
{
    void operator()(EVP_CIPHER_CTX* context) const
    {
        EVP_CIPHER_CTX_free(context);
    }

    void operator()(EVP_MD_CTX* context) const
    {
        EVP_MD_CTX_free(context);
    }

    void operator()(EVP_PKEY_CTX* context) const
    {
        EVP_PKEY_CTX_free(context);
    }

    void operator()(EVP_PKEY* key) const
    {
        EVP_PKEY_free(key);
    }
};

using Cipher = std::unique_ptr<EVP_CIPHER_CTX, Release>;
using Digest = std::unique_ptr<EVP_MD_CTX, Release>;
using Derivation = std::unique_ptr<EVP_PKEY_CTX, Release>;
using SigningKey = std::unique_ptr<EVP_PKEY, Release>;

const uint8_t*
AsBytes(const std::string& text)
{
    return reinterpret_cast<const uint8_t*>(text.data());
}

/** AES-256-GCM in one direction. The schedule of a key takes a third of the time of a message. */
class Gcm
{
  public:
    explicit Gcm(bool seals)
        : m_seals(seals)
    {
    }

    /** @return whether all bytes were processed; the tag is next. */
    bool Process(const CryptoKey& key, uint64_t counter, const MessageCrypto::Parts& parts)
    {
        if (!m_context)
        {
            m_context.reset(EVP_CIPHER_CTX_new());
            Require(m_context && EVP_CipherInit_ex(m_context.get(),
                                                   EVP_aes_256_gcm(),
                                                   nullptr,
                                                   key.data(),
                                                   nullptr,
                                                   m_seals ? 1 : 0) == 1,
                    "start AES-256-GCM");
            m_key = key;
        }
        uint8_t nonce[NONCE_SIZE] = {};
        for (std::size_t i = 0; i < sizeof(counter); ++i)
        {
            nonce[NONCE_SIZE - 1 - i] = static_cast<uint8_t>(counter >> (8 * i));
        }
        const bool isSame = key == m_key;
        m_key = key;
        int done = 0;
        return EVP_CipherInit_ex(
                   m_context.get(), nullptr, nullptr, isSame ? nullptr : key.data(), nonce, -1) ==
                   1 &&
               EVP_CipherUpdate(m_context.get(),
                                nullptr,
                                &done,
                                parts.clear,
                                static_cast<int>(parts.clearSize)) == 1 &&
               EVP_CipherUpdate(m_context.get(),
                                parts.output,
                                &done,
                                parts.input,
                                static_cast<int>(parts.size)) == 1;
    }

    EVP_CIPHER_CTX* Get() const
    {
        return m_context.get();
    }

  private:
    bool m_seals;
    Cipher m_context;
    CryptoKey m_key{};
};

/**
 * The last messages whose signatures were found right. All receivers of a group are in one process:
 * they ask the same question, whose answer is a function of exactly these bytes.
 */
class VerifiedMemo
{
  public:
    bool Has(const CryptoKey& key,
             const uint8_t* bytes,
             std::size_t size,
             const uint8_t* signature) const
    {
        const Entry& entry = m_entries[signature[0] % m_entries.size()];
        return entry.bytes.size() == size + MessageCrypto::SIGNATURE_SIZE && entry.key == key &&
               std::equal(bytes, bytes + size, entry.bytes.begin()) &&
               std::equal(signature,
                          signature + MessageCrypto::SIGNATURE_SIZE,
                          entry.bytes.end() - MessageCrypto::SIGNATURE_SIZE);
    }

    void Add(const CryptoKey& key, const uint8_t* bytes, std::size_t size, const uint8_t* signature)
    {
        Entry& entry = m_entries[signature[0] % m_entries.size()];
        entry.key = key;
        entry.bytes.assign(bytes, bytes + size);
        entry.bytes.insert(entry.bytes.end(), signature, signature + MessageCrypto::SIGNATURE_SIZE);
    }

  private:
    struct Entry
    {
        CryptoKey key{};
        std::vector<uint8_t> bytes;
    };

    std::array<Entry, 8> m_entries;
};

class OpenSslCrypto : public MessageCrypto
{
  public:
    CryptoKey Derive(const uint8_t* secret,
                     std::size_t size,
                     const std::string& salt,
                     const std::string& info) override
    {
        const Derivation context(EVP_PKEY_CTX_new_id(EVP_PKEY_HKDF, nullptr));
        CryptoKey key{};
        std::size_t length = key.size();
        // Macros with casts in OpenSSL 1.1.1.
        Require(
            context && EVP_PKEY_derive_init(context.get()) == 1 &&
                EVP_PKEY_CTX_set_hkdf_md(context.get(), EVP_sha256()) == 1 &&
                EVP_PKEY_CTX_set1_hkdf_salt(
                    context.get(), AsBytes(salt), static_cast<int>(salt.size())) == 1 &&
                EVP_PKEY_CTX_set1_hkdf_key(context.get(), secret, static_cast<int>(size)) == 1 &&
                EVP_PKEY_CTX_add1_hkdf_info(
                    context.get(), AsBytes(info), static_cast<int>(info.size())) == 1 &&
                EVP_PKEY_derive(context.get(), key.data(), &length) == 1 && length == key.size(),
            "derive a key with HKDF-SHA256");
        return key;
    }

    void Seal(const CryptoKey& key, uint64_t counter, const Parts& parts, uint8_t* tag) override
    {
        int done = 0;
        Require(m_seal.Process(key, counter, parts) &&
                    EVP_CipherFinal_ex(m_seal.Get(), tag, &done) == 1 &&
                    EVP_CIPHER_CTX_ctrl(m_seal.Get(), EVP_CTRL_AEAD_GET_TAG, TAG_SIZE, tag) == 1,
                "encrypt a message");
    }

    bool Open(const CryptoKey& key,
              uint64_t counter,
              const Parts& parts,
              const uint8_t* tag) override
    {
        uint8_t expected[TAG_SIZE]; // the library takes a pointer to bytes that it could change
        std::copy_n(tag, TAG_SIZE, expected);
        uint8_t nothing[TAG_SIZE];
        int done = 0;
        return m_open.Process(key, counter, parts) &&
               EVP_CIPHER_CTX_ctrl(m_open.Get(), EVP_CTRL_AEAD_SET_TAG, TAG_SIZE, expected) == 1 &&
               EVP_CipherFinal_ex(m_open.Get(), nothing, &done) == 1;
    }

    CryptoKey SetSigningKey(const CryptoKey& seed) override
    {
        m_signingKey.reset(
            EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr, seed.data(), seed.size()));
        CryptoKey key{};
        std::size_t length = key.size();
        Require(m_signingKey &&
                    EVP_PKEY_get_raw_public_key(m_signingKey.get(), key.data(), &length) == 1 &&
                    length == key.size(),
                "make a key pair of Ed25519");
        return key;
    }

    void Sign(const uint8_t* bytes, std::size_t size, uint8_t* signature) override
    {
        const Digest digest(EVP_MD_CTX_new());
        std::size_t length = SIGNATURE_SIZE;
        Require(digest &&
                    EVP_DigestSignInit(
                        digest.get(), nullptr, nullptr, nullptr, m_signingKey.get()) == 1 &&
                    EVP_DigestSign(digest.get(), signature, &length, bytes, size) == 1 &&
                    length == SIGNATURE_SIZE,
                "sign a message with Ed25519");
    }

    bool Verify(const CryptoKey& key,
                const uint8_t* bytes,
                std::size_t size,
                const uint8_t* signature) override
    {
        static auto& memo = *new VerifiedMemo; // as long as the process
        if (memo.Has(key, bytes, size, signature))
        {
            return true;
        }
        const SigningKey verification(
            EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, key.data(), key.size()));
        const Digest digest(EVP_MD_CTX_new());
        Require(verification && digest &&
                    EVP_DigestVerifyInit(
                        digest.get(), nullptr, nullptr, nullptr, verification.get()) == 1,
                "prepare to verify a signature of Ed25519");
        if (EVP_DigestVerify(digest.get(), signature, SIGNATURE_SIZE, bytes, size) != 1)
        {
            return false;
        }
        memo.Add(key, bytes, size, signature);
        return true;
    }

  private:
    Gcm m_seal{true};
    Gcm m_open{false};
    SigningKey m_signingKey;
};

const bool g_registered = MessageCrypto::Register([]() -> std::unique_ptr<MessageCrypto>
                                                  { return std::make_unique<OpenSslCrypto>(); });

} // namespace

} // namespace ns3::federated
