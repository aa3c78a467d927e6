// SPDX-License-Identifier: GPL-2.0-only

#include "federation.h"

#include "ns3/federated-random.h"
#include "ns3/message-cipher.h"
#include "ns3/random-variable-stream.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

using namespace ns3;
using namespace ns3::federated;

namespace
{

using Bytes = std::vector<uint8_t>;

Bytes
GetBytes(const Ptr<const Packet>& packet)
{
    Bytes bytes(packet->GetSize());
    packet->CopyData(bytes.data(), packet->GetSize());
    return bytes;
}

Ptr<Packet>
MakePacket(const Bytes& bytes)
{
    return Create<Packet>(bytes.data(), static_cast<uint32_t>(bytes.size()));
}

/** @return bytes that begin as a message does. */
Bytes
MakeMessage(std::size_t size)
{
    Bytes message(size);
    for (std::size_t i = 0; i < size; ++i)
    {
        message[i] = static_cast<uint8_t>(i * i);
    }
    message[0] = 'F';
    message[1] = 'L';
    message[2] = FederatedHeader::VERSION;
    return message;
}

/** @return what a cipher makes of an encrypted message; empty if it is none. */
Bytes
Decrypt(MessageCipher& cipher, const Bytes& encrypted)
{
    const uint8_t* message = encrypted.data();
    auto size = static_cast<uint32_t>(encrypted.size());
    return cipher.Decrypt(message, size) ? Bytes(message, message + size) : Bytes();
}

} // namespace

TEST(MessageCipher, UsesChaCha8WithANonce)
{
    // Test vector TC3 (key of zeros, first bit of the IV set, 8 rounds) of
    // draft-strombergson-chacha-test-vectors: first bytes 2b8f4bb3 798306ca 5130d47c 4f8d4ed1 ...
    FederatedRandom random({0, 0, 0, 0, 0, 0, 0, 0}, {0, 1, 0});
    std::array<uint32_t, 128> words{};
    random.Fill(words.data(), words.size());
    const std::array<uint32_t, 4> expected{0xb34b8f2b, 0xca068379, 0x7cd43051, 0xd14e8d4f};
    for (std::size_t w = 0; w < expected.size(); ++w)
    {
        EXPECT_EQ(words[8 * w], expected[w]) << "word " << w << " of block 0";
    }
    // The first word of the nonce is the upper half of the counter of blocks.
    FederatedRandom other({0, 0, 0, 0, 0, 0, 0, 0}, {1, 1, 0});
    EXPECT_NE(other(), words[0]);
}

TEST(MessageCipher, GivesBackWhatItWasGivenUnderTheSameKeyOnly)
{
    MessageCipher sender;
    MessageCipher receiver;
    MessageCipher stranger;
    sender.Start("a key", 7);
    receiver.Start("a key", 8);
    stranger.Start("a kez", 8);
    for (std::size_t size : {44, 45, 100, 511, 512, 513, 1400, 60000})
    {
        const Bytes plain = MakeMessage(size);
        const Bytes encrypted = GetBytes(sender.Encrypt(MakePacket(plain)));
        ASSERT_EQ(encrypted.size(), size + MessageCipher::OVERHEAD);
        EXPECT_TRUE(MessageCipher::IsEncrypted(encrypted.data(), encrypted.size()));
        EXPECT_EQ(Decrypt(receiver, encrypted), plain);
        const Bytes other = Decrypt(stranger, encrypted);
        EXPECT_EQ(other.size(), size);
        EXPECT_NE(other, plain);
        EXPECT_FALSE(std::equal(plain.begin() + 3, plain.end(), encrypted.begin() + 16));
        EXPECT_NE(GetBytes(sender.Encrypt(MakePacket(plain))), encrypted)
            << "nobody can tell that it is the same once more";
    }
}

TEST(MessageCipher, EveryByteOfTheKeyTheSenderAndTheNumberMatters)
{
    const Bytes plain = MakeMessage(64);
    std::set<Bytes> seen;
    MessageCipher first;
    first.Start(std::string(32, 'k'), 1);
    Bytes encrypted = GetBytes(first.Encrypt(MakePacket(plain)));
    for (std::size_t i = 4; i < MessageCipher::CLEAR_SIZE; ++i)
    {
        encrypted[i] ^= 1;
        EXPECT_TRUE(seen.insert(Decrypt(first, encrypted)).second) << "byte " << i;
        encrypted[i] ^= 1;
    }
    for (std::size_t i = 0; i < MessageCipher::MAX_KEY; ++i)
    {
        std::string key(32, 'k');
        key[i] = 'l';
        MessageCipher other;
        other.Start(key, 1);
        EXPECT_TRUE(seen.insert(Decrypt(other, encrypted)).second) << "byte " << i << " of the key";
    }
    EXPECT_TRUE(seen.insert(plain).second);
}

TEST(MessageCipher, TakesAnyBytes)
{
    MessageCipher cipher;
    cipher.Start("k", 0);
    const auto random = CreateObject<UniformRandomVariable>();
    random->SetStream(1);
    for (int i = 0; i < 2000; ++i)
    {
        Bytes bytes(random->GetInteger(0, 60));
        for (auto& byte : bytes)
        {
            byte = static_cast<uint8_t>(random->GetInteger(0, 255));
        }
        const Bytes start{'F', 'L', FederatedHeader::VERSION, FederatedHeader::ENCRYPTED};
        std::copy_n(start.begin(), std::min<std::size_t>(4, bytes.size()), bytes.begin());
        const bool isLong = bytes.size() >= MessageCipher::CLEAR_SIZE;
        EXPECT_EQ(Decrypt(cipher, bytes).size(),
                  isLong ? bytes.size() - MessageCipher::OVERHEAD : 0);
        EXPECT_EQ(MessageCipher::IsEncrypted(bytes.data(), bytes.size()), isLong);
    }
}

/** @ingroup federated-tests A federation whose messages are observed as they are sent. */
class EncryptedFederation : public Federation
{
  public:
    /** Observe all messages of an application. */
    template <typename T>
    void Observe(const Ptr<T>& application)
    {
        application->TraceConnectWithoutContext("Tx",
                                                MakeCallback(&EncryptedFederation::OnTx, this));
    }

    void ObserveAll()
    {
        nonces.clear();
        messages = 0;
        reused = 0;
        plain = 0;
        Observe(center);
        for (const auto& device : apps)
        {
            Observe(device);
        }
    }

    void OnTx(Ptr<const Packet> packet)
    {
        ++messages;
        const Bytes bytes = GetBytes(packet);
        if (!MessageCipher::IsEncrypted(bytes.data(), bytes.size()))
        {
            ++plain;
            return;
        }
        const Bytes nonce(bytes.begin() + 4, bytes.begin() + MessageCipher::CLEAR_SIZE);
        const auto [known, isNew] = nonces.emplace(nonce, bytes);
        reused += !isNew && known->second != bytes;
    }

    /** @return the losses of all rounds and the last model. */
    std::vector<double> GetOutcome() const
    {
        std::vector<double> outcome(center->GetModel().begin(), center->GetModel().end());
        for (const RoundRecord& record : rounds)
        {
            outcome.push_back(record.trainLoss);
            outcome.push_back(record.received);
        }
        return outcome;
    }

    std::map<Bytes, Bytes> nonces;
    uint32_t messages = 0;
    uint32_t reused = 0; // a nonce for two different messages
    uint32_t plain = 0;
};

TEST_F(EncryptedFederation, LearnsWhatItLearnsInTheClearOverUdpAndTcp)
{
    for (const char* protocol : {"ns3::UdpSocketFactory", "ns3::TcpSocketFactory"})
    {
        std::vector<double> outcomes[2];
        for (int i : {0, 1})
        {
            Build(4);
            SetForAll("Protocol", TypeIdValue(TypeId::LookupByName(protocol)));
            SetForAll("EncryptionKey", StringValue(i == 0 ? "" : "a secret of us all"));
            ObserveAll();
            Run();
            ASSERT_EQ(rounds.size(), 3U);
            EXPECT_EQ(rounds.back().received, 4U);
            EXPECT_EQ(plain, i == 0 ? messages : 0U);
            EXPECT_EQ(reused, 0U);
            outcomes[i] = GetOutcome();
        }
        EXPECT_EQ(outcomes[0], outcomes[1]) << protocol;
    }
}

TEST_F(EncryptedFederation, UnderLossRoundsEndWhenTheyEndInTheClear)
{
    double ends[2];
    for (int i : {0, 1})
    {
        Build(6);
        SetForAll("EncryptionKey", StringValue(i == 0 ? "" : "k"));
        center->SetAttribute("Rounds", UintegerValue(20));
        center->SetAttribute("Deadline", TimeValue(Seconds(8)));
        for (uint32_t device = 0; device < 6; ++device)
        {
            auto loss = CreateObject<RateErrorModel>();
            loss->SetAttribute("ErrorUnit", StringValue("ERROR_UNIT_PACKET"));
            loss->SetAttribute("ErrorRate", StringValue("0.1"));
            loss->AssignStreams(5000 + device);
            SetLoss(GetCenterEnd(device), loss);
        }
        Run();
        ASSERT_EQ(rounds.size(), 20U);
        ends[i] = rounds.back().end.GetSeconds();
        EXPECT_EQ(center->GetDropped(DROP_MALFORMED), 0U) << "every DONE was read";
    }
    EXPECT_NEAR(ends[1] / ends[0], 1, 0.05);
}

TEST_F(EncryptedFederation, NoNonceServesTwoMessagesThroughLossRepairsAndSecondLives)
{
    for (const char* protocol : {"ns3::UdpSocketFactory", "ns3::TcpSocketFactory"})
    {
        side = 28;
        Build(4);
        SetForAll("Protocol", TypeIdValue(TypeId::LookupByName(protocol)));
        SetForAll("EncryptionKey", StringValue("k"));
        SetForAll("FragmentSize", UintegerValue(150)); // many messages
        center->SetAttribute("Rounds", UintegerValue(20));
        center->SetAttribute("Deadline", TimeValue(MilliSeconds(500)));
        for (uint32_t i = 0; i < 4; ++i)
        {
            for (const auto& end : {GetCenterEnd(i), GetDeviceEnd(i)})
            {
                auto loss = CreateObject<RateErrorModel>();
                loss->SetAttribute("ErrorUnit", StringValue("ERROR_UNIT_PACKET"));
                loss->SetAttribute("ErrorRate", StringValue("0.05"));
                loss->AssignStreams(5000 + 2 * i + (end == GetCenterEnd(i)));
                SetLoss(end, loss);
            }
        }
        // Device 0 gives way to another one under its identifier, and the center to another one.
        const auto copy = [](const auto& from, const auto& to)
        {
            const TypeId tid = from->GetInstanceTypeId();
            for (std::size_t i = 0; i < tid.GetAttributeN(); ++i)
            {
                const auto attribute = tid.GetAttribute(i);
                const auto value = attribute.checker->Create();
                from->GetAttribute(attribute.name, *value);
                to->SetAttributeFailSafe(attribute.name, *value); // null pointers fail
            }
        };
        apps.push_back(CreateObject<FederatedDevice>());
        copy(apps[0], apps.back());
        apps[0]->SetStopTime(MilliSeconds(700));
        apps.back()->SetStartTime(MilliSeconds(701));
        nodes.Get(1)->AddApplication(apps.back());
        const auto first = center;
        center = CreateObject<FusionCenter>();
        copy(first, center);
        first->SetStopTime(Seconds(2));
        center->SetStartTime(Seconds(2.1));
        center->TraceConnectWithoutContext("RoundEnd", MakeCallback(&Federation::OnRound, this));
        nodes.Get(0)->AddApplication(center);
        ObserveAll();
        Observe(first);
        Simulator::Stop(Seconds(60));
        Run();
        EXPECT_GT(rounds.size(), 20U) << protocol;
        EXPECT_GT(messages, 5000U) << protocol;
        EXPECT_EQ(plain, 0U);
        EXPECT_EQ(reused, 0U);
    }
}

TEST_F(EncryptedFederation, WhoHasAnotherKeyOrNoneIsNotUnderstoodAndCounted)
{
    Build(4);
    SetForAll("EncryptionKey", StringValue("k"));
    apps[1]->SetAttribute("EncryptionKey", StringValue("l"));
    apps[2]->SetAttribute("EncryptionKey", StringValue(""));
    center->SetAttribute("JoinTimeout", TimeValue(MilliSeconds(500)));
    center->SetAttribute("Downlink", StringValue("unicast"));
    Simulator::Stop(Seconds(5));
    Run();
    ASSERT_EQ(rounds.size(), 3U);
    EXPECT_EQ(rounds.back().joined, 2U);
    EXPECT_EQ(rounds.back().received, 2U);
    EXPECT_GT(center->GetDropped(DROP_CHECKSUM), 0U) << "another key";
    EXPECT_GT(center->GetDropped(DROP_MALFORMED), 0U) << "no key";
}

TEST_F(EncryptedFederation, AMessageUnderAnotherKeyFailsByItsChecksum)
{
    FederatedHeader header;
    header.type = FederatedHeader::LEAVE;
    header.Seal(nullptr, 0);
    Bytes message(header.GetSize());
    header.Write(message.data());
    MessageCipher sender;
    MessageCipher receiver;
    sender.Start("one", 3);
    receiver.Start("two", FederatedHeader::ALL_DEVICES);
    const Bytes encrypted = GetBytes(sender.Encrypt(MakePacket(message)));
    EXPECT_EQ(header.Read(encrypted.data(), encrypted.size()), FederatedHeader::READ_CHECKSUM);
    const Bytes wrong = Decrypt(receiver, encrypted);
    EXPECT_EQ(header.Read(wrong.data(), wrong.size()), FederatedHeader::READ_CHECKSUM);
}

using EncryptedFederationDeathTest = EncryptedFederation;

TEST_F(EncryptedFederationDeathTest, AKeyThatIsTooLongStopsTheScriptWithASentence)
{
    Build(2);
    SetForAll("EncryptionKey", StringValue(std::string(33, 'k')));
    EXPECT_DEATH(Run(), "EncryptionKey of 33 bytes");
}
