// SPDX-License-Identifier: GPL-2.0-only

#include "allocation-counter.h"

#include "ns3/big-endian.h"
#include "ns3/buffer.h"
#include "ns3/crc32c.h"
#include "ns3/federated-header.h"
#include "ns3/federated-random.h"
#include "ns3/packet.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <sstream>
#include <vector>

using namespace ns3;
using namespace ns3::federated;

namespace
{

constexpr uint32_t MAX_32 = std::numeric_limits<uint32_t>::max();
constexpr float MAX_FLOAT = std::numeric_limits<float>::max();

/** An update of 4 bits a coordinate over two intervals. */
FederatedHeader
MakeUpdate()
{
    FederatedHeader header;
    header.type = FederatedHeader::UPDATE;
    header.sequence = 77;
    header.round = 3;
    header.device = 7;
    header.fragment = 1;
    header.fragments = 57;
    header.first = 2000;
    header.coordinates = 99;
    header.bits = 4;
    header.distortion = 0.25F;
    header.intervals = {{2000, 2020, -1.5F, 2.5F}, {2020, 2099, 0, 0}};
    return header;
}

std::vector<uint8_t>
MakeMessage(FederatedHeader& header, const std::vector<uint8_t>& payload)
{
    header.Seal(payload.data(), payload.size());
    std::vector<uint8_t> message(header.GetSize() + payload.size());
    header.Write(message.data());
    std::copy(payload.begin(), payload.end(), message.begin() + header.GetSize());
    return message;
}

std::vector<uint8_t>
MakeUpdateMessage(FederatedHeader& header)
{
    std::vector<uint8_t> payload(50);
    for (std::size_t i = 0; i < payload.size(); ++i)
    {
        payload[i] = static_cast<uint8_t>(11 * i);
    }
    return MakeMessage(header, payload);
}

/** Read a copy that is exactly as large as the message, so that a sanitizer sees stray accesses. */
FederatedHeader::ReadResult
Read(const std::vector<uint8_t>& message, FederatedHeader& header)
{
    return header.Read(message.data(), message.size());
}

void
ExpectEqual(const FederatedHeader& a, const FederatedHeader& b)
{
    EXPECT_EQ(a.type, b.type);
    EXPECT_EQ(a.sequence, b.sequence);
    EXPECT_EQ(a.round, b.round);
    EXPECT_EQ(a.device, b.device);
    EXPECT_EQ(a.fragment, b.fragment);
    EXPECT_EQ(a.fragments, b.fragments);
    EXPECT_EQ(a.first, b.first);
    EXPECT_EQ(a.coordinates, b.coordinates);
    EXPECT_EQ(a.bits, b.bits);
    EXPECT_EQ(a.rotated, b.rotated);
    EXPECT_EQ(a.interleaved, b.interleaved);
    EXPECT_EQ(a.payloadLength, b.payloadLength);
    EXPECT_EQ(a.checksum, b.checksum);
    EXPECT_TRUE(a.distortion == b.distortion ||
                (std::isnan(a.distortion) && std::isnan(b.distortion)));
    ASSERT_EQ(a.intervals.size(), b.intervals.size());
    for (std::size_t i = 0; i < a.intervals.size(); ++i)
    {
        EXPECT_EQ(a.intervals[i].begin, b.intervals[i].begin);
        EXPECT_EQ(a.intervals[i].end, b.intervals[i].end);
        EXPECT_EQ(a.intervals[i].low, b.intervals[i].low);
        EXPECT_EQ(a.intervals[i].high, b.intervals[i].high);
    }
}

/** What becomes of a sealed message whose header has been changed. */
FederatedHeader::ReadResult
ReadChanged(void (*change)(FederatedHeader&), std::size_t payload = 50)
{
    FederatedHeader header = MakeUpdate();
    change(header);
    FederatedHeader back;
    return Read(MakeMessage(header, std::vector<uint8_t>(payload)), back);
}

/**
 * Read a header from bytes. (Not by Packet::RemoveHeader(): where packets are described for
 * printing, as other tests in the same program may ask for, ns-3 must not be asked to take a header
 * from an empty packet.)
 * @param bytes The bytes.
 * @param size How many.
 * @param [out] header The header.
 * @return how many bytes it took.
 */
uint32_t
Deserialize(const uint8_t* bytes, std::size_t size, FederatedHeader& header)
{
    Buffer buffer;
    buffer.AddAtStart(static_cast<uint32_t>(size));
    buffer.Begin().Write(bytes, static_cast<uint32_t>(size));
    return header.Deserialize(buffer.Begin());
}

} // namespace

TEST(FederatedHeader, FlagsRotatedAndInterleavedUpdates)
{
    for (unsigned bits : {4, 16, 32})
    {
        for (unsigned flags : {0x40, 0x80, 0xc0})
        {
            FederatedHeader header = MakeUpdate();
            header.bits = static_cast<uint8_t>(bits);
            const std::vector<uint8_t> payload((99 * bits + 7) / 8);
            const auto plain = MakeMessage(header, payload);
            EXPECT_EQ(plain.at(32), bits);
            header.rotated = (flags & 0x80) != 0;
            header.interleaved = (flags & 0x40) != 0;
            const auto message = MakeMessage(header, payload);
            EXPECT_EQ(message.at(32), flags + bits);
            FederatedHeader back;
            ASSERT_EQ(Read(message, back), FederatedHeader::READ_OK);
            ExpectEqual(back, header);
            ASSERT_EQ(Read(plain, back), FederatedHeader::READ_OK);
            EXPECT_FALSE(back.rotated) << "also in a header that is used again";
            EXPECT_FALSE(back.interleaved);
        }
    }
    // Only updates are.
    for (const bool isRotated : {false, true})
    {
        FederatedHeader model = MakeUpdate();
        model.type = FederatedHeader::MODEL;
        model.bits = 32;
        model.rotated = isRotated;
        model.interleaved = !isRotated;
        EXPECT_FALSE(model.IsValid());
        FederatedHeader back;
        EXPECT_EQ(Read(MakeMessage(model, std::vector<uint8_t>(396)), back),
                  FederatedHeader::READ_MALFORMED);
    }
}

TEST(FederatedHeader, StandsOnTheWireAsDocumented)
{
    FederatedHeader header = MakeUpdate();
    const auto message = MakeUpdateMessage(header);
    ASSERT_EQ(message.size(), 44U + 2 * 12 + 50);
    const std::vector<uint8_t> expected{
        'F',  'L',  2,    6,    // magic, version, update
        0,    0,    0,    77,   // sequence
        0,    0,    0,    3,    // round
        0,    0,    0,    7,    // device
        0,    0,    0,    1,    // fragment
        0,    0,    0,    57,   // fragments
        0,    0,    0x07, 0xd0, // first
        0,    0,    0,    99,   // coordinates
        4,    2,    0,    50,   // bits, intervals, payload length
        0x3e, 0x80, 0,    0,    // distortion .25
    };
    EXPECT_EQ(std::vector<uint8_t>(message.begin(), message.begin() + 40), expected);
    const std::vector<uint8_t> intervals{
        0, 0, 0x07, 0xe4, 0xbf, 0xc0, 0, 0, 0x40, 0x20, 0, 0, // to 2020, -1.5, 2.5
        0, 0, 0x08, 0x33, 0,    0,    0, 0, 0,    0,    0, 0, // to 2099, 0, 0
    };
    EXPECT_EQ(std::vector<uint8_t>(message.begin() + 44, message.begin() + 68), intervals);

    auto zeroed = message;
    std::memset(zeroed.data() + 40, 0, 4);
    EXPECT_EQ(ReadBigEndian32(message.data() + 40), Crc32c(zeroed.data(), zeroed.size()));

    FederatedHeader back;
    ASSERT_EQ(Read(message, back), FederatedHeader::READ_OK);
    ExpectEqual(back, header);
}

TEST(FederatedHeader, EveryFieldRoundTripsAtZeroAndAtItsMaximum)
{
    for (uint8_t type = FederatedHeader::JOIN; type <= FederatedHeader::DONE; ++type)
    {
        FederatedHeader header;
        header.type = static_cast<FederatedHeader::Type>(type);
        if (type == FederatedHeader::MODEL || type == FederatedHeader::UPDATE)
        {
            header.fragments = 1;
            header.coordinates = 1;
            header.bits = 32;
        }
        const std::vector<uint8_t> payload(header.bits / 8);
        FederatedHeader back;
        ASSERT_EQ(Read(MakeMessage(header, payload), back), FederatedHeader::READ_OK);
        ExpectEqual(back, header);

        header.sequence = MAX_32;
        header.round = MAX_32;
        header.device = FederatedHeader::ALL_DEVICES;
        header.fragment = MAX_32 - 1;
        header.fragments = MAX_32;
        header.first = MAX_32;
        header.distortion = MAX_FLOAT;
        ASSERT_EQ(Read(MakeMessage(header, payload), back), FederatedHeader::READ_OK);
        ExpectEqual(back, header);
    }
    FederatedHeader header;
    header.type = FederatedHeader::REPAIR;
    header.fragment = MAX_32; // of an unknown number
    header.coordinates = MAX_32;
    header.bits = 0xff;
    header.distortion = 0;
    FederatedHeader back;
    ASSERT_EQ(Read(MakeMessage(header, std::vector<uint8_t>(0xffff, 0xff)), back),
              FederatedHeader::READ_OK);
    ExpectEqual(back, header);

    header = MakeUpdate();
    header.first = MAX_32 - 255;
    header.coordinates = 255;
    header.intervals.clear();
    for (std::size_t i = 0; i < FederatedHeader::MAX_INTERVALS; ++i)
    {
        header.intervals.push_back({header.first + i, header.first + i + 1, 0, MAX_FLOAT});
    }
    ASSERT_EQ(Read(MakeMessage(header, std::vector<uint8_t>(128)), back), FederatedHeader::READ_OK);
    ExpectEqual(back, header);
}

TEST(FederatedHeader, EveryFlippedBitIsNoticed)
{
    FederatedHeader header = MakeUpdate();
    auto message = MakeUpdateMessage(header);
    for (std::size_t bit = 0; bit < 8 * message.size(); ++bit)
    {
        message[bit / 8] ^= 1U << bit % 8;
        const auto expected = bit < 16   ? FederatedHeader::READ_MALFORMED
                              : bit < 24 ? FederatedHeader::READ_VERSION
                                         : FederatedHeader::READ_CHECKSUM;
        FederatedHeader back;
        ASSERT_EQ(Read(message, back), expected) << "bit " << bit;
        message[bit / 8] ^= 1U << bit % 8;
    }
    FederatedHeader back;
    EXPECT_EQ(Read(message, back), FederatedHeader::READ_OK);
}

TEST(FederatedHeader, ATruncatedOrLengthenedMessageIsRejected)
{
    FederatedHeader header = MakeUpdate();
    const auto message = MakeUpdateMessage(header);
    FederatedHeader back;
    for (std::size_t size = 0; size < message.size(); ++size)
    {
        EXPECT_EQ(Read(std::vector<uint8_t>(message.begin(), message.begin() + size), back),
                  size < 44 ? FederatedHeader::READ_MALFORMED : FederatedHeader::READ_CHECKSUM);
        EXPECT_FALSE(back.IsValid());
    }
    auto longer = message;
    longer.push_back(0);
    EXPECT_EQ(Read(longer, back), FederatedHeader::READ_CHECKSUM);

    // Even with a checksum that is right for the bytes that are there.
    for (std::size_t size = 44; size <= longer.size(); ++size)
    {
        std::vector<uint8_t> part(longer.begin(), longer.begin() + size);
        std::memset(part.data() + 40, 0, 4);
        WriteBigEndian32(Crc32c(part.data(), size), part.data() + 40);
        EXPECT_EQ(Read(part, back),
                  size == message.size() ? FederatedHeader::READ_OK
                                         : FederatedHeader::READ_MALFORMED);
    }
}

TEST(FederatedHeader, RandomBytesAreNeverAMessage)
{
    FederatedRandom random(31);
    FederatedHeader header;
    for (int trial = 0; trial < 100000; ++trial)
    {
        std::vector<uint8_t> bytes(random.Below(200));
        for (auto& byte : bytes)
        {
            byte = static_cast<uint8_t>(random());
        }
        if (trial % 2 == 0 && bytes.size() >= 3)
        {
            bytes[0] = 'F';
            bytes[1] = 'L';
            bytes[2] = FederatedHeader::VERSION;
        }
        ASSERT_NE(Read(bytes, header), FederatedHeader::READ_OK);
    }
}

TEST(FederatedHeader, RandomFieldsUnderARightChecksumNeverCrashAndAreCheckedAgain)
{
    FederatedRandom random(32);
    FederatedHeader header;
    int accepted = 0;
    for (int trial = 0; trial < 100000; ++trial)
    {
        std::vector<uint8_t> bytes(44 + random.Below(60));
        for (auto& byte : bytes)
        {
            byte = static_cast<uint8_t>(random());
        }
        bytes[0] = 'F';
        bytes[1] = 'L';
        bytes[2] = FederatedHeader::VERSION;
        bytes[3] %= 10;
        bytes[33] = static_cast<uint8_t>(random.Below(3));
        bytes[34] = 0;
        bytes[35] = static_cast<uint8_t>(bytes.size() - 44 - 12UL * bytes[33]);
        std::memset(bytes.data() + 40, 0, 4);
        WriteBigEndian32(Crc32c(bytes.data(), bytes.size()), bytes.data() + 40);
        const auto result = Read(bytes, header);
        ASSERT_TRUE(result == FederatedHeader::READ_OK ||
                    result == FederatedHeader::READ_MALFORMED);
        ASSERT_EQ(header.IsValid(), result == FederatedHeader::READ_OK);
        accepted += result == FederatedHeader::READ_OK;
    }
    EXPECT_GT(accepted, 0);     // control messages without intervals
    EXPECT_LT(accepted, 30000); // of which a third has none, half of those a wrong fragment
}

TEST(FederatedHeader, FieldsThatContradictEachOtherAreMalformed)
{
    using Header = FederatedHeader;
    const auto malformed = Header::READ_MALFORMED;
    EXPECT_EQ(ReadChanged([](Header&) {}), Header::READ_OK);
    EXPECT_EQ(ReadChanged([](Header& h) { h.type = {}; }), malformed);
    EXPECT_EQ(ReadChanged([](Header& h) { h.type = static_cast<Header::Type>(255); }), malformed);
    EXPECT_EQ(ReadChanged([](Header& h) { h.fragment = h.fragments; }), malformed);
    EXPECT_EQ(ReadChanged([](Header& h) { h.fragments = 0; }), malformed);
    EXPECT_EQ(ReadChanged([](Header& h) { h.bits = 0; }), malformed);
    EXPECT_EQ(ReadChanged([](Header& h) { h.bits = 17; }), malformed);
    EXPECT_EQ(ReadChanged([](Header& h) { h.bits = 5; }), malformed);
    EXPECT_EQ(ReadChanged([](Header&) {}, 49), malformed);
    EXPECT_EQ(ReadChanged([](Header&) {}, 51), malformed);
    EXPECT_EQ(ReadChanged([](Header& h) { h.intervals.clear(); }), malformed);
    EXPECT_EQ(ReadChanged([](Header& h) { h.intervals.pop_back(); }), malformed);
    EXPECT_EQ(ReadChanged([](Header& h) { h.intervals[0].end = 2000; }), malformed);
    EXPECT_EQ(ReadChanged([](Header& h) { h.intervals[0].end = 1000; }), malformed);
    EXPECT_EQ(ReadChanged([](Header& h) { h.intervals[0].end = 2099; }), malformed);
    EXPECT_EQ(ReadChanged([](Header& h) { h.intervals[1].end = 2100; }), malformed);
    EXPECT_EQ(ReadChanged([](Header& h) { h.intervals[0].low = 3; }), malformed);
    EXPECT_EQ(ReadChanged([](Header& h) { h.intervals[0].low = NAN; }), malformed);
    EXPECT_EQ(ReadChanged([](Header& h) { h.intervals[0].high = NAN; }), malformed);
    EXPECT_EQ(ReadChanged([](Header& h) { h.intervals[1].high = INFINITY; }), malformed);
    EXPECT_EQ(ReadChanged([](Header& h) { h.intervals[0].low = -INFINITY; }), malformed);
    EXPECT_EQ(ReadChanged(
                  [](Header& h)
                  {
                      h.intervals[0].low = -MAX_FLOAT;
                      h.intervals[0].high = MAX_FLOAT;
                  }),
              malformed);
    EXPECT_EQ(ReadChanged([](Header& h) { h.distortion = -1; }), malformed);
    EXPECT_EQ(ReadChanged([](Header& h) { h.distortion = INFINITY; }), malformed);
    EXPECT_EQ(ReadChanged([](Header& h) { h.distortion = NAN; }), Header::READ_OK);
    EXPECT_EQ(ReadChanged(
                  [](Header& h)
                  {
                      // The end of the coordinates does not fit into 32 bits, only its rest.
                      h.first = MAX_32;
                      h.intervals = {{MAX_32, 98, 0, 1}};
                  }),
              malformed);
    EXPECT_EQ(ReadChanged(
                  [](Header& h)
                  {
                      // 2^29 + 1 coordinates of 8 bits: 32-bit arithmetic would want one byte.
                      h.bits = 8;
                      h.first = 0;
                      h.coordinates = (1U << 29) + 1;
                      h.intervals = {{0, h.coordinates, 0, 1}};
                  },
                  1),
              malformed);
    EXPECT_EQ(ReadChanged(
                  [](Header& h)
                  {
                      h.coordinates = 0;
                      h.intervals.clear();
                  },
                  0),
              malformed);
}

TEST(FederatedHeader, IsAnNs3Header)
{
    FederatedHeader header = MakeUpdate();
    const auto message = MakeUpdateMessage(header);
    auto packet = Create<Packet>(message.data() + header.GetSize(), 50);
    packet->AddHeader(header);
    std::vector<uint8_t> bytes(packet->GetSize());
    packet->CopyData(bytes.data(), packet->GetSize());
    EXPECT_EQ(bytes, message);

    FederatedHeader back;
    EXPECT_FALSE(back.IsValid());
    EXPECT_EQ(packet->RemoveHeader(back), header.GetSize());
    EXPECT_TRUE(back.IsValid());
    ExpectEqual(back, header);
    EXPECT_EQ(packet->GetSize(), 50U);

    std::ostringstream text;
    back.Print(text);
    EXPECT_EQ(text.str().find("type=update sequence=77 round=3 device=7 fragment=1 fragments=57 "
                              "first=2000 coordinates=99 bits=4 interval=2000..2020:[-1.5, 2.5]"),
              0U)
        << text.str();
}

TEST(FederatedHeader, DeserializesAnyBytesWithoutHarm)
{
    FederatedHeader header = MakeUpdate();
    const auto message = MakeUpdateMessage(header);
    for (std::size_t size = 0; size <= message.size(); ++size)
    {
        FederatedHeader back = header;
        const uint32_t read = Deserialize(message.data(), size, back);
        EXPECT_EQ(read, size < header.GetSize() ? 0U : header.GetSize());
        EXPECT_EQ(back.IsValid(), read > 0);
    }
    FederatedRandom random(33);
    for (int trial = 0; trial < 2000; ++trial)
    {
        std::vector<uint8_t> bytes(random.Below(300));
        for (auto& byte : bytes)
        {
            byte = static_cast<uint8_t>(random());
        }
        if (bytes.size() > 3)
        {
            std::copy_n(message.begin(), 3, bytes.begin());
        }
        FederatedHeader back;
        EXPECT_LE(Deserialize(bytes.data(), bytes.size(), back), bytes.size());
        back.IsValid();
    }
}

TEST(FederatedHeader, ATypeOfALaterRevisionIsRead)
{
    // Its fields may have another meaning; only lengths and checksum are checked.
    EXPECT_EQ(ReadChanged(
                  [](FederatedHeader& h)
                  {
                      h.type = static_cast<FederatedHeader::Type>(FederatedHeader::PAGE + 1);
                      h.fragment = h.fragments + 1;
                      h.distortion = -1;
                  }),
              FederatedHeader::READ_OK);
}

TEST(FederatedHeader, NamesItsTypes)
{
    EXPECT_STREQ(FederatedHeader::GetTypeName(FederatedHeader::JOIN), "join");
    EXPECT_STREQ(FederatedHeader::GetTypeName(FederatedHeader::UPDATE), "update");
    EXPECT_STREQ(FederatedHeader::GetTypeName(FederatedHeader::DONE), "done");
    EXPECT_STREQ(FederatedHeader::GetTypeName(0), "unknown");
    EXPECT_STREQ(FederatedHeader::GetTypeName(FederatedHeader::REJOIN), "rejoin");
    EXPECT_STREQ(FederatedHeader::GetTypeName(FederatedHeader::PAGE), "page");
    EXPECT_STREQ(FederatedHeader::GetTypeName(11), "unknown");
    EXPECT_STREQ(FederatedHeader::GetTypeName(255), "unknown");
}

TEST(FederatedHeader, SealingWritingAndReadingDoNotAllocate)
{
    FederatedHeader header = MakeUpdate();
    auto message = MakeUpdateMessage(header);
    FederatedHeader back;
    ASSERT_EQ(Read(message, back), FederatedHeader::READ_OK);
    const std::size_t before = GetAllocations();
    for (uint32_t sequence = 0; sequence < 100; ++sequence)
    {
        header.sequence = sequence;
        header.Seal(message.data() + header.GetSize(), 50);
        header.Write(message.data());
        ASSERT_EQ(Read(message, back), FederatedHeader::READ_OK);
    }
    EXPECT_EQ(GetAllocations(), before);
}
