// SPDX-License-Identifier: GPL-2.0-only

#include "ns3/big-endian.h"
#include "ns3/federated-random.h"
#include "ns3/message-protection.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/simulator.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

using namespace ns3;
using namespace ns3::federated;

namespace
{

using Bytes = std::vector<uint8_t>;
using Result = MessageProtection::Result;

constexpr uint32_t ALL = FederatedHeader::ALL_DEVICES;
const std::string KEY = "known to the center only";
constexpr uint32_t FEDERATION = 3;
constexpr uint32_t DEVICE = 7;

// Computed with other programs: HKDF with Python's hmac, AES-256-GCM with libsodium, Ed25519 with
// PyNaCl. RngSeed 1, RngRun 5; an ACK of a GRANT, an ACK of a JOIN, a REJOIN of all devices.
const std::string DEVICE_KEY = "20c99f984fe12154dcfa700eccab12d6d305c2996da8cc7a72b7b5b23e3ddac1"
                               "6869a0ee2d3476658c271efb78bd89f8b346564ff435120742f0d52595c903b5"
                               "4b53b12a413eade53a80710a42a35c9c36bd5bb7d3ca384d1152411b6df05db4";
const std::string UP = "464c02fd000000070000000000000001519db069d7adb3b5d63ec57d3fe7eb46"
                       "5e8c4d1ebaa9c07d91a824a94fd1279b40e35164e3da19469e90d00aa36e5143"
                       "952920a4bdfc790d9db9abddf8";
const std::string DOWN = "464c02fe000000070000000000000001199598394e6c37402d7537f1f482167f"
                         "8a55c237e657539dee9281525c9f60b65749f6a655a215b3b2da087ec46f8be1"
                         "789e34e1f20488e867c0669ee1";
const std::string GROUP = "464c02ffffffffff00000000000000015627a1bad2ee52764477dc6633942cba"
                          "ab10e01e5b320dd81147b977a93210771056624498d51610e54882dd6f27af0a"
                          "5a93e1cfa267e0dc8eced712797a0127b67d362d09eb2f382adede4a5b03f6e1"
                          "fac297a4dbf25e474479975d729ccc11263b9a87913c4b96ecbfac17b7e0af0d"
                          "3271468cf064d9a3fb161209";

std::string
ToHex(const Bytes& bytes)
{
    std::string text;
    for (const uint8_t byte : bytes)
    {
        text += "0123456789abcdef"[byte >> 4];
        text += "0123456789abcdef"[byte & 15];
    }
    return text;
}

Bytes
FromHex(const std::string& text)
{
    Bytes bytes;
    for (std::size_t i = 0; i < text.size(); i += 2)
    {
        bytes.push_back(static_cast<uint8_t>(std::stoul(text.substr(i, 2), nullptr, 16)));
    }
    return bytes;
}

/** @return a message as it is sent. */
Bytes
Seal(MessageProtection& protection,
     FederatedHeader::Type type,
     uint32_t device,
     const Bytes& payload = {},
     uint32_t recipient = ALL)
{
    FederatedHeader header;
    header.type = type;
    header.sequence = 9;
    header.round = 2;
    header.device = device;
    header.payloadLength = static_cast<uint16_t>(payload.size());
    const auto packet = protection.Seal(header, payload.data(), recipient);
    Bytes bytes(packet->GetSize());
    packet->CopyData(bytes.data(), packet->GetSize());
    return bytes;
}

/** @return what becomes of a message; the message inside replaces it. */
Result
Open(MessageProtection& protection, Bytes& bytes)
{
    const uint8_t* message = bytes.data();
    auto size = static_cast<uint32_t>(bytes.size());
    const Result result = protection.Open(message, size);
    if (result == Result::OPENED)
    {
        bytes = Bytes(message, message + size);
    }
    return result;
}

Result
Try(MessageProtection& protection, Bytes bytes)
{
    return Open(protection, bytes);
}

std::unique_ptr<MessageProtection>
MakeDevice(uint32_t device, const std::string& key = KEY, uint32_t federation = FEDERATION)
{
    return MessageProtection::MakeForDevice(
        MessageProtection::DeriveDeviceKey(key, federation, device), device);
}

} // namespace

/** @ingroup federated-tests Center, device 7 and device 8 of a federation. */
class Protection : public testing::Test
{
  public:
    void SetUp() override
    {
        Simulator::Destroy();
        RngSeedManager::SetSeed(1);
        RngSeedManager::SetRun(5);
        center = MessageProtection::MakeForCenter(KEY, FEDERATION);
        device = MakeDevice(DEVICE);
        other = MakeDevice(DEVICE + 1);
    }

    void TearDown() override
    {
        Simulator::Destroy();
    }

    Bytes SealUp(const Bytes& payload = {3})
    {
        return Seal(*device, FederatedHeader::ACK, DEVICE, payload);
    }

    Bytes SealDown(const Bytes& payload = {1})
    {
        return Seal(*center, FederatedHeader::ACK, DEVICE, payload, DEVICE);
    }

    Bytes SealGroup()
    {
        return Seal(*center, FederatedHeader::REJOIN, ALL);
    }

    std::unique_ptr<MessageProtection> center;
    std::unique_ptr<MessageProtection> device;
    std::unique_ptr<MessageProtection> other;
};

TEST_F(Protection, IsWhatOtherProgramsCompute)
{
    EXPECT_EQ(MessageProtection::DeriveDeviceKey(KEY, FEDERATION, DEVICE), DEVICE_KEY);
    EXPECT_TRUE(MessageProtection::IsDeviceKey(DEVICE_KEY));
    EXPECT_FALSE(MessageProtection::IsDeviceKey(KEY));
    EXPECT_FALSE(MessageProtection::IsDeviceKey(DEVICE_KEY.substr(1)));
    EXPECT_FALSE(MessageProtection::IsDeviceKey("g" + DEVICE_KEY.substr(1)));
    EXPECT_EQ(ToHex(SealUp()), UP);
    EXPECT_EQ(ToHex(SealDown()), DOWN);
    EXPECT_EQ(ToHex(SealGroup()), GROUP);
    EXPECT_EQ(Try(*center, FromHex(UP)), Result::OPENED);
    EXPECT_EQ(Try(*device, FromHex(DOWN)), Result::OPENED);
    EXPECT_EQ(Try(*device, FromHex(GROUP)), Result::OPENED);
    EXPECT_EQ(Try(*other, FromHex(GROUP)), Result::OPENED) << "all devices read it";
}

TEST_F(Protection, GivesBackWhatWasSealed)
{
    for (std::size_t size : {0, 1, 15, 16, 17, 511, 1400, 60000})
    {
        Bytes payload(size);
        for (std::size_t i = 0; i < size; ++i)
        {
            payload[i] = static_cast<uint8_t>(i * i);
        }
        Bytes message = SealUp(payload);
        EXPECT_EQ(message.size(), 44 + size + MessageProtection::OVERHEAD);
        ASSERT_EQ(Open(*center, message), Result::OPENED) << size;
        FederatedHeader header;
        EXPECT_EQ(header.Read(message.data(), message.size()), FederatedHeader::READ_CHECKSUM);
        ASSERT_EQ(header.Read(message.data(), message.size(), true), FederatedHeader::READ_OK);
        EXPECT_EQ(header.device, DEVICE);
        EXPECT_EQ(Bytes(message.begin() + 44, message.end()), payload);
        EXPECT_NE(SealUp(payload), SealUp(payload)) << "never the same bytes twice";
    }
    EXPECT_EQ(SealGroup().size(), 44 + MessageProtection::GROUP_OVERHEAD);
}

TEST_F(Protection, NoBitCanBeChangedAndNoByteBeMissingOrAdded)
{
    const Bytes up = SealUp();
    const Bytes down = SealDown();
    const Bytes group = SealGroup();
    const std::vector<std::pair<MessageProtection*, Bytes>> cases{
        {center.get(), up}, {device.get(), down}, {device.get(), group}};
    for (const auto& [receiver, message] : cases)
    {
        for (std::size_t bit = 0; bit < 8 * message.size(); ++bit)
        {
            Bytes changed = message;
            changed[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
            // Then it is marked as a message to another device.
            const bool isAddress =
                (message == down && bit / 8 >= 4 && bit / 8 < 8) || (message == group && bit == 24);
            EXPECT_EQ(Try(*receiver, changed),
                      isAddress ? Result::FOR_ANOTHER : Result::UNAUTHENTIC)
                << "bit " << bit << " of " << ToHex(message);
        }
        for (std::size_t size = 0; size < message.size(); ++size)
        {
            EXPECT_EQ(Try(*receiver, Bytes(message.begin(), message.begin() + size)),
                      Result::UNAUTHENTIC)
                << size;
        }
        Bytes longer = message;
        longer.push_back(0);
        EXPECT_EQ(Try(*receiver, longer), Result::UNAUTHENTIC);
        EXPECT_EQ(Try(*receiver, message), Result::OPENED) << "no forgery used up its counter";
        EXPECT_EQ(Try(*receiver, message), Result::REPLAYED);
    }
    EXPECT_EQ(center->GetKnownDevices(), 1U) << "forged identifiers take no memory";
}

TEST_F(Protection, IsForOneDirectionDeviceFederationKeyAndRun)
{
    EXPECT_EQ(Try(*device, SealUp()), Result::UNAUTHENTIC) << "sent back to its sender";
    EXPECT_EQ(Try(*center, SealDown()), Result::UNAUTHENTIC);
    EXPECT_EQ(Try(*center, SealGroup()), Result::UNAUTHENTIC);
    EXPECT_EQ(Try(*other, SealUp()), Result::UNAUTHENTIC);
    EXPECT_EQ(Try(*other, SealDown()), Result::FOR_ANOTHER);
    for (const bool isDown : {false, true})
    {
        Bytes message = isDown ? SealDown() : SealUp();
        message[3] = isDown ? FederatedHeader::PROTECTED_UP : FederatedHeader::PROTECTED_DOWN;
        EXPECT_EQ(Try(isDown ? *center : *device, message), Result::UNAUTHENTIC) << isDown;
    }
    const auto foreign = MessageProtection::MakeForCenter(KEY, FEDERATION + 1);
    EXPECT_EQ(Try(*foreign, SealUp()), Result::UNAUTHENTIC) << "another federation";
    EXPECT_EQ(Try(*device, Seal(*foreign, FederatedHeader::REJOIN, ALL)), Result::UNAUTHENTIC);
    const auto wrong = MessageProtection::MakeForCenter(KEY + ".", FEDERATION);
    EXPECT_EQ(Try(*wrong, SealUp()), Result::UNAUTHENTIC) << "another key";
    EXPECT_EQ(Try(*device, Seal(*wrong, FederatedHeader::ACK, DEVICE, {1}, DEVICE)),
              Result::UNAUTHENTIC);
    for (const bool seed : {false, true})
    {
        RngSeedManager::SetSeed(seed ? 2 : 1);
        RngSeedManager::SetRun(seed ? 5 : 6);
        const auto later = MessageProtection::MakeForCenter(KEY, FEDERATION);
        EXPECT_EQ(Try(*later, SealUp()), Result::UNAUTHENTIC) << "another run";
        EXPECT_EQ(Try(*device, Seal(*later, FederatedHeader::REJOIN, ALL)), Result::UNAUTHENTIC);
    }
}

TEST_F(Protection, AnInsiderSpeaksNeitherForAnotherDeviceNorForTheCenter)
{
    // Device 8 has the key of its own messages: the header inside names device 7.
    EXPECT_EQ(Try(*center, Seal(*other, FederatedHeader::LEAVE, DEVICE)), Result::UNAUTHENTIC);
    EXPECT_EQ(Try(*center, Seal(*other, FederatedHeader::LEAVE, DEVICE + 1)), Result::OPENED);
    // Device 8 has the group's key, but cannot sign: what it decrypts, it encrypts anew.
    const auto crypto = MessageCrypto::Make();
    const Bytes secrets = FromHex(MessageProtection::DeriveDeviceKey(KEY, FEDERATION, DEVICE + 1));
    const Bytes salt = FromHex("000000010000000000000005");
    const CryptoKey key =
        crypto->Derive(secrets.data() + 32, 32, {salt.begin(), salt.end()}, "group");
    Bytes message = SealGroup();
    const std::size_t covered = message.size() - MessageCrypto::SIGNATURE_SIZE;
    const std::size_t size = covered - MessageProtection::OVERHEAD;
    uint8_t* const inner = message.data() + MessageProtection::CLEAR_SIZE;
    ASSERT_TRUE(crypto->Open(key, 1, {message.data(), 16, inner, size, inner}, inner + size));
    WriteBigEndian64(2, message.data() + 8);
    crypto->Seal(key, 2, {message.data(), 16, inner, size, inner}, inner + size);
    EXPECT_EQ(Try(*device, message), Result::UNAUTHENTIC) << "the signature of another message";
    crypto->SetSigningKey(key);
    crypto->Sign(message.data(), covered, message.data() + covered);
    EXPECT_EQ(Try(*device, message), Result::UNAUTHENTIC) << "its own signature";
    crypto->SetSigningKey(crypto->Derive(reinterpret_cast<const uint8_t*>(KEY.data()),
                                         KEY.size(),
                                         "ns-3 federated",
                                         std::string("sign\0\0\0\3", 8)));
    crypto->Sign(message.data(), covered, message.data() + covered);
    EXPECT_EQ(Try(*device, message), Result::OPENED) << "only the center has this key";
}

TEST_F(Protection, AVerifiedSignatureIsNotTakenForThatOfAnotherMessageOrKey)
{
    const Bytes message = SealGroup();
    ASSERT_EQ(Try(*device, message), Result::OPENED);
    const auto crypto = MessageCrypto::Make();
    const Bytes parts = FromHex(DEVICE_KEY);
    CryptoKey key;
    std::copy(parts.begin() + 64, parts.end(), key.begin());
    const std::size_t covered = message.size() - MessageCrypto::SIGNATURE_SIZE;
    const auto verify = [&](const Bytes& bytes)
    { return crypto->Verify(key, bytes.data(), covered, bytes.data() + covered); };
    EXPECT_TRUE(verify(message));
    for (std::size_t i = 0; i < message.size(); ++i)
    {
        Bytes changed = message;
        changed[i] ^= 0x20;
        EXPECT_FALSE(verify(changed)) << i;
    }
    EXPECT_FALSE(crypto->Verify(key, message.data(), covered - 1, message.data() + covered));
    key = crypto->SetSigningKey(key);
    EXPECT_FALSE(verify(message)) << "another key";
}

TEST_F(Protection, CountersAndWindowsOutliveTheirOwnersUntilTheSimulationIsDestroyed)
{
    const Bytes first = SealUp();
    const Bytes group = SealGroup();
    ASSERT_EQ(Try(*center, first), Result::OPENED);
    ASSERT_EQ(Try(*device, group), Result::OPENED);
    center = MessageProtection::MakeForCenter(KEY, FEDERATION);
    device = MakeDevice(DEVICE);
    EXPECT_EQ(Try(*center, first), Result::REPLAYED) << "a recorded JOIN of an earlier life";
    EXPECT_EQ(Try(*device, group), Result::REPLAYED);
    const auto twin = MakeDevice(DEVICE); // at the same time
    std::set<uint64_t> counters{ReadBigEndian64(first.data() + 8)};
    for (int i = 0; i < 10; ++i)
    {
        for (MessageProtection* sender : {device.get(), twin.get()})
        {
            const Bytes next = Seal(*sender, FederatedHeader::LEAVE, DEVICE);
            EXPECT_TRUE(counters.insert(ReadBigEndian64(next.data() + 8)).second);
            EXPECT_EQ(Try(*center, next), Result::OPENED);
        }
    }
    SetUp();
    EXPECT_EQ(SealUp(), first) << "a simulation can be repeated";
    EXPECT_EQ(Try(*center, first), Result::OPENED);
}

TEST_F(Protection, AcceptsReorderedMessagesInsideTheWindowOnce)
{
    std::vector<Bytes> messages;
    for (std::size_t i = 0; i < ReplayWindow::SIZE + 1; ++i)
    {
        messages.push_back(SealUp());
    }
    EXPECT_EQ(Try(*center, messages.back()), Result::OPENED);
    EXPECT_EQ(Try(*center, messages.front()), Result::REPLAYED) << "too old to say";
    for (std::size_t i = messages.size() - 2; i > 0; --i)
    {
        EXPECT_EQ(Try(*center, messages[i]), Result::OPENED) << i;
    }
    for (const Bytes& message : messages)
    {
        EXPECT_EQ(Try(*center, message), Result::REPLAYED);
    }
}

TEST_F(Protection, TakesAnyBytes)
{
    FederatedRandom random(17);
    for (int i = 0; i < 20000; ++i)
    {
        Bytes bytes(random.Below(200));
        for (auto& byte : bytes)
        {
            byte = static_cast<uint8_t>(random());
        }
        if (bytes.size() >= 4 && i % 4 > 0)
        {
            bytes[0] = 'F';
            bytes[1] = 'L';
            bytes[2] = FederatedHeader::VERSION;
            bytes[3] = static_cast<uint8_t>(252 + i % 4);
        }
        EXPECT_EQ(Try(*center, bytes), Result::UNAUTHENTIC);
        const Result result = Try(*device, bytes);
        EXPECT_TRUE(result == Result::UNAUTHENTIC || result == Result::FOR_ANOTHER);
    }
    EXPECT_EQ(center->GetKnownDevices(), 0U);
}

TEST(ReplayWindow, KnowsItsLastCounters)
{
    constexpr uint64_t SIZE = ReplayWindow::SIZE;
    constexpr uint64_t LAST = std::numeric_limits<uint64_t>::max();
    ReplayWindow window;
    EXPECT_FALSE(window.IsNew(0)) << "no message has it";
    EXPECT_TRUE(window.IsNew(1));
    EXPECT_TRUE(window.IsNew(LAST));
    window.Mark(1);
    EXPECT_FALSE(window.IsNew(1));
    EXPECT_FALSE(window.IsNew(0));
    window.Mark(SIZE); // the first one is at the edge of the window
    EXPECT_FALSE(window.IsNew(1));
    EXPECT_TRUE(window.IsNew(2));
    window.Mark(SIZE + 1); // now it is outside
    EXPECT_FALSE(window.IsNew(1));
    EXPECT_TRUE(window.IsNew(2));
    window.Mark(SIZE + 3);
    EXPECT_TRUE(window.IsNew(SIZE + 2)) << "what was skipped may still come";
    EXPECT_FALSE(window.IsNew(2)) << "too old";
    EXPECT_FALSE(window.IsNew(3));
    EXPECT_TRUE(window.IsNew(4));
    for (const uint64_t step : {SIZE - 1, SIZE, SIZE + 1, 10 * SIZE})
    {
        ReplayWindow jump;
        jump.Mark(5);
        jump.Mark(5 + step);
        EXPECT_FALSE(jump.IsNew(5)) << step;
        EXPECT_FALSE(jump.IsNew(5 + step)) << step;
        for (uint64_t counter = std::max<uint64_t>(6, 6 + step - SIZE); counter < 5 + step;
             ++counter)
        {
            EXPECT_TRUE(jump.IsNew(counter)) << step << ", " << counter;
        }
        EXPECT_EQ(jump.IsNew(5 + step - SIZE), false) << step;
        EXPECT_TRUE(jump.IsNew(6 + step)) << step;
    }
    window.Mark(LAST);
    EXPECT_FALSE(window.IsNew(LAST));
    EXPECT_TRUE(window.IsNew(LAST - 1));
    EXPECT_TRUE(window.IsNew(LAST - SIZE + 1));
    EXPECT_FALSE(window.IsNew(LAST - SIZE));
}

TEST(ReplayWindow, AgreesWithASetOfAllCountersEver)
{
    FederatedRandom random(3);
    ReplayWindow window;
    std::set<uint64_t> all;
    uint64_t highest = 0;
    for (int i = 0; i < 100000; ++i)
    {
        const uint64_t middle = std::max<uint64_t>(highest, 1500);
        const uint64_t counter = middle - 1500 + random.Below(1520);
        const bool isNew = counter > 0 && all.count(counter) == 0 &&
                           (counter > highest || highest - counter < ReplayWindow::SIZE);
        ASSERT_EQ(window.IsNew(counter), isNew) << counter << " of " << highest;
        if (isNew)
        {
            window.Mark(counter);
            all.insert(counter);
            highest = std::max(highest, counter);
        }
    }
    EXPECT_GT(all.size(), 1000U);
}
