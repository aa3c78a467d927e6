// SPDX-License-Identifier: GPL-2.0-only

#include "ns3/big-endian.h"
#include "ns3/message-bodies.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

using namespace ns3;
using namespace ns3::federated;

namespace
{

constexpr uint32_t MAX_32 = std::numeric_limits<uint32_t>::max();
constexpr uint64_t MAX_TIME = std::numeric_limits<int64_t>::max();

/** Write a body, check that fewer bytes are not one and more may follow, and read it back. */
template <typename Body>
Body
RoundTrip(const Body& body)
{
    std::vector<uint8_t> bytes(Body::SIZE + 9, 0xff);
    body.Write(bytes.data());
    Body back;
    for (std::size_t size = 0; size <= bytes.size(); ++size)
    {
        EXPECT_EQ(Body::Read(bytes.data(), size, back), size >= Body::SIZE) << size;
    }
    return back; // read with what a later revision may append
}

} // namespace

TEST(MessageBodies, AJoinRoundTrips)
{
    for (const auto& body :
         {JoinBody{}, JoinBody{MAX_32, MAX_32, MAX_TIME, MAX_32, 1}, JoinBody{1, 2, 3, 4, 0.5F}})
    {
        const JoinBody back = RoundTrip(body);
        EXPECT_EQ(back.group, body.group);
        EXPECT_EQ(back.samples, body.samples);
        EXPECT_EQ(back.trainingNs, body.trainingNs);
        EXPECT_EQ(back.life, body.life);
        EXPECT_TRUE(back.battery == body.battery ||
                    (std::isnan(back.battery) && std::isnan(body.battery)));
    }
}

TEST(MessageBodies, AGrantRoundTrips)
{
    for (const auto& body :
         {GrantBody{}, GrantBody{MAX_TIME, MAX_TIME, MAX_TIME, MAX_TIME}, GrantBody{1, 2, 3, 4}})
    {
        const GrantBody back = RoundTrip(body);
        EXPECT_EQ(back.modelEndNs, body.modelEndNs);
        EXPECT_EQ(back.slotStartNs, body.slotStartNs);
        EXPECT_EQ(back.slotLengthNs, body.slotLengthNs);
        EXPECT_EQ(back.deadlineNs, body.deadlineNs);
    }
}

TEST(MessageBodies, TimesThatNs3CannotHoldAreRejected)
{
    uint8_t bytes[GrantBody::SIZE];
    GrantBody grant;
    for (std::size_t field = 0; field < 4; ++field)
    {
        GrantBody{}.Write(bytes);
        WriteBigEndian64(MAX_TIME + 1, bytes + 8 * field);
        EXPECT_FALSE(GrantBody::Read(bytes, GrantBody::SIZE, grant));
    }
    JoinBody join;
    JoinBody{0, 0, MAX_TIME + 1}.Write(bytes);
    EXPECT_FALSE(JoinBody::Read(bytes, JoinBody::SIZE, join));
    DoneBody done;
    DoneBody{OUTCOME_SENT, 0, MAX_TIME + 1}.Write(bytes);
    EXPECT_FALSE(DoneBody::Read(bytes, DoneBody::SIZE, done));
}

TEST(MessageBodies, ABatteryIsAFractionOrUnknown)
{
    constexpr float INFINITE = std::numeric_limits<float>::infinity();
    uint8_t bytes[JoinBody::SIZE];
    JoinBody join;
    DoneBody done;
    for (const float level : {-0.01F, 1.01F, INFINITE, -INFINITE})
    {
        JoinBody{0, 0, 0, 0, level}.Write(bytes);
        EXPECT_FALSE(JoinBody::Read(bytes, JoinBody::SIZE, join)) << level;
        DoneBody{OUTCOME_SENT, 0, 0, level}.Write(bytes);
        EXPECT_FALSE(DoneBody::Read(bytes, DoneBody::SIZE, done)) << level;
    }
}

TEST(MessageBodies, AnAckNamesAMessageOfAnyRevision)
{
    for (unsigned type = 0; type < 256; ++type)
    {
        EXPECT_EQ(RoundTrip(AckBody{static_cast<uint8_t>(type)}).type, type);
    }
}

TEST(MessageBodies, ADoneHasAKnownOutcome)
{
    uint8_t bytes[DoneBody::SIZE];
    DoneBody body;
    for (unsigned outcome = 0; outcome < 256; ++outcome)
    {
        DoneBody{static_cast<uint8_t>(outcome)}.Write(bytes);
        EXPECT_EQ(DoneBody::Read(bytes, DoneBody::SIZE, body), outcome <= OUTCOME_NOTHING_LEARNED);
    }
}

TEST(MessageBodies, ADoneRoundTrips)
{
    for (const auto& body :
         {DoneBody{OUTCOME_NOT_FINITE, 1, 2, 0.25F}, DoneBody{OUTCOME_SENT, MAX_TIME, MAX_TIME, 0}})
    {
        const DoneBody back = RoundTrip(body);
        EXPECT_EQ(back.outcome, body.outcome);
        EXPECT_EQ(back.firstSentNs, body.firstSentNs);
        EXPECT_EQ(back.lastSentNs, body.lastSentNs);
        EXPECT_EQ(back.battery, body.battery);
    }
    uint8_t bytes[DoneBody::SIZE];
    DoneBody{OUTCOME_SENT, 2, 1}.Write(bytes);
    DoneBody body;
    EXPECT_FALSE(DoneBody::Read(bytes, DoneBody::SIZE, body)) << "the last before the first";
}

TEST(MessageBodies, ARepairIsAListOfRanges)
{
    RepairBody body;
    body.ranges = {{0, 1}, {5, 10}, {MAX_32 - 1, 1}, {0, MAX_32}};
    std::vector<uint8_t> bytes(body.GetSize());
    body.Write(bytes.data());
    RepairBody back;
    const std::size_t whole = bytes.size();
    bytes.resize(whole + 20, 0xff); // a later revision may append fields
    for (std::size_t size = 0; size <= bytes.size(); ++size)
    {
        EXPECT_EQ(RepairBody::Read(bytes.data(), size, back), size >= whole) << size;
    }
    EXPECT_EQ(back.ranges, body.ranges);
    for (const uint32_t count : {0U, 7U, MAX_32}) // none, or more than there are bytes
    {
        WriteBigEndian32(count, bytes.data());
        EXPECT_FALSE(RepairBody::Read(bytes.data(), bytes.size(), back)) << count;
    }

    for (const auto& bad : {std::make_pair(0U, 0U), {MAX_32, 0U}, {MAX_32, 1U}, {2U, MAX_32 - 1}})
    {
        body.ranges = {{0, 1}, bad};
        bytes.resize(body.GetSize());
        body.Write(bytes.data());
        EXPECT_FALSE(RepairBody::Read(bytes.data(), bytes.size(), back));
    }
}

TEST(MessageBodies, APageNamesDevicesOfARange)
{
    PageBody body;
    body.untilNs = MAX_TIME;
    body.first = 7;
    const std::vector<uint32_t> named = {7, 8, 14, 15, 30};
    for (const uint32_t device : named)
    {
        body.Name(device);
    }
    EXPECT_EQ(body.devices, 24U);
    EXPECT_EQ(body.bits, (std::vector<uint8_t>{0x83, 0x01, 0x80})) << "the first bit is the least";
    std::vector<uint8_t> bytes(body.GetSize());
    body.Write(bytes.data());
    const std::size_t whole = bytes.size();
    bytes.resize(whole + 20, 0xff); // a later revision may append fields
    PageBody back;
    for (std::size_t size = 0; size <= bytes.size(); ++size)
    {
        EXPECT_EQ(PageBody::Read(bytes.data(), size, back), size >= whole) << size;
    }
    EXPECT_EQ(back.untilNs, MAX_TIME);
    EXPECT_EQ(back.GetSize(), whole);
    for (const uint32_t device : {0U, 6U, 7U, 8U, 9U, 14U, 15U, 30U, 31U, 38U, MAX_32})
    {
        const bool isNamed = std::find(named.begin(), named.end(), device) != named.end();
        EXPECT_EQ(back.Names(device), isNamed) << device;
    }
}

TEST(MessageBodies, APageThatContradictsItselfIsNone)
{
    PageBody body;
    body.first = MAX_32 - 1;
    body.Name(MAX_32);
    std::vector<uint8_t> bytes(body.GetSize());
    body.Write(bytes.data());
    EXPECT_TRUE(PageBody::Read(bytes.data(), bytes.size(), body));
    EXPECT_TRUE(body.Names(MAX_32));
    EXPECT_FALSE(body.Names(MAX_32 - 1));
    for (const uint32_t devices : {0U, 3U, 9U, MAX_32}) // none, beyond 2^32, more than bits
    {
        WriteBigEndian32(devices, &bytes[12]);
        EXPECT_FALSE(PageBody::Read(bytes.data(), bytes.size(), body)) << devices;
    }
    WriteBigEndian32(2, &bytes[12]);
    bytes[0] = 0x80; // a time that ns-3 cannot hold
    EXPECT_FALSE(PageBody::Read(bytes.data(), bytes.size(), body));
}
