// SPDX-License-Identifier: GPL-2.0-only

#include "ns3/big-endian.h"
#include "ns3/message-bodies.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

using namespace ns3;
using namespace ns3::federated;

namespace
{

constexpr uint32_t MAX_32 = std::numeric_limits<uint32_t>::max();
constexpr uint64_t MAX_TIME = std::numeric_limits<int64_t>::max();

/** Write a body, check that only its own size is taken for one, and read it back. */
template <typename Body>
Body
RoundTrip(const Body& body)
{
    std::vector<uint8_t> bytes(Body::SIZE + 1);
    body.Write(bytes.data());
    Body back;
    for (std::size_t size = 0; size <= Body::SIZE + 1; ++size)
    {
        EXPECT_EQ(Body::Read(bytes.data(), size, back), size == Body::SIZE) << size;
    }
    EXPECT_TRUE(Body::Read(bytes.data(), Body::SIZE, back));
    return back;
}

} // namespace

TEST(MessageBodies, AJoinRoundTrips)
{
    for (const auto& body : {JoinBody{}, JoinBody{MAX_32, MAX_32, MAX_TIME}, JoinBody{1, 2, 3}})
    {
        const JoinBody back = RoundTrip(body);
        EXPECT_EQ(back.group, body.group);
        EXPECT_EQ(back.samples, body.samples);
        EXPECT_EQ(back.trainingNs, body.trainingNs);
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
}

TEST(MessageBodies, AnAckNamesAMessage)
{
    AckBody body;
    for (unsigned type = 0; type < 256; ++type)
    {
        const auto byte = static_cast<uint8_t>(type);
        EXPECT_EQ(AckBody::Read(&byte, 1, body), type >= 1 && type <= 8);
        EXPECT_EQ(body.type, type);
    }
    EXPECT_EQ(RoundTrip(AckBody{3}).type, 3);
}

TEST(MessageBodies, ADoneHasAKnownOutcome)
{
    DoneBody body;
    for (unsigned outcome = 0; outcome < 256; ++outcome)
    {
        const auto byte = static_cast<uint8_t>(outcome);
        EXPECT_EQ(DoneBody::Read(&byte, 1, body), outcome <= OUTCOME_BUDGET_SPENT);
    }
    EXPECT_EQ(RoundTrip(DoneBody{OUTCOME_NOT_FINITE}).outcome, OUTCOME_NOT_FINITE);
}

TEST(MessageBodies, ARepairIsAListOfRanges)
{
    RepairBody body;
    body.ranges = {{0, 1}, {5, 10}, {MAX_32 - 1, 1}, {0, MAX_32}};
    std::vector<uint8_t> bytes(body.GetSize());
    body.Write(bytes.data());
    RepairBody back;
    for (std::size_t size = 0; size < bytes.size(); ++size)
    {
        EXPECT_EQ(RepairBody::Read(bytes.data(), size, back), size > 0 && size % 8 == 0) << size;
    }
    EXPECT_TRUE(RepairBody::Read(bytes.data(), bytes.size(), back));
    EXPECT_EQ(back.ranges, body.ranges);

    for (const auto& bad : {std::make_pair(0U, 0U), {MAX_32, 0U}, {MAX_32, 1U}, {2U, MAX_32 - 1}})
    {
        body.ranges = {{0, 1}, bad};
        bytes.resize(body.GetSize());
        body.Write(bytes.data());
        EXPECT_FALSE(RepairBody::Read(bytes.data(), bytes.size(), back));
    }
}
