// SPDX-License-Identifier: GPL-2.0-only

#include "federation.h"

#include "ns3/boolean.h"
#include "ns3/delayed-messages.h"
#include "ns3/double.h"
#include "ns3/insider-attack.h"
#include "ns3/little-endian.h"
#include "ns3/message-bodies.h"

#include <cmath>
#include <set>

using namespace ns3;
using namespace ns3::federated;

namespace
{

/** A fragment of an update of 4 bits with 5 coordinates, of 8 in two fragments. */
OutgoingMessage
MakeLevels()
{
    OutgoingMessage update;
    update.header.type = FederatedHeader::UPDATE;
    update.header.round = 3;
    update.header.device = 6;
    update.header.sequence = 9;
    update.header.fragments = 2;
    update.header.coordinates = 5;
    update.header.bits = 4;
    update.header.distortion = 0.5F;
    update.header.intervals = {{0, 5, -0.25F, 0.25F}};
    update.payload = {0x10, 0xe7, 0x08}; // levels 0, 1, 7, 14, 8, and 4 bits that belong to none
    return update;
}

/** The same with floats. */
OutgoingMessage
MakeFloats(const std::vector<float>& values)
{
    OutgoingMessage update = MakeLevels();
    update.header.bits = 32;
    update.header.coordinates = static_cast<uint32_t>(values.size());
    update.header.intervals.clear();
    update.payload.resize(4 * values.size());
    for (std::size_t i = 0; i < values.size(); ++i)
    {
        WriteLittleEndianFloat(values[i], update.payload.data() + 4 * i);
    }
    return update;
}

std::vector<float>
ReadFloats(const OutgoingMessage& update)
{
    std::vector<float> values(update.payload.size() / 4);
    for (std::size_t i = 0; i < values.size(); ++i)
    {
        values[i] = ReadLittleEndianFloat(update.payload.data() + 4 * i);
    }
    return values;
}

/** A message without coordinates. */
OutgoingMessage
MakeControl(FederatedHeader::Type type, uint32_t round, uint32_t sequence)
{
    OutgoingMessage message;
    message.header.type = type;
    message.header.round = round;
    message.header.device = 6;
    message.header.sequence = sequence;
    return message;
}

/** An attack whose messages are looked at. */
class Attack
{
  public:
    explicit Attack(const std::string& name)
        : m_attack(CreateObject<InsiderAttack>())
    {
        m_attack->SetAttribute("Attack", StringValue(name));
        m_attack->SetAttribute("Messages", UintegerValue(4));
    }

    Attack& Set(const std::string& name, const AttributeValue& value)
    {
        m_attack->SetAttribute(name, value);
        return *this;
    }

    /** @return what is sent two seconds before the deadline. */
    std::vector<OutgoingMessage> Send(const OutgoingMessage& message)
    {
        return m_attack->Tamper(message, {Seconds(5), Seconds(7)});
    }

    /** @return the one message that is sent. */
    OutgoingMessage SendOne(const OutgoingMessage& message)
    {
        const auto sent = Send(message);
        EXPECT_EQ(sent.size(), 1U);
        return sent.empty() ? OutgoingMessage() : sent.front();
    }

  private:
    Ptr<InsiderAttack> m_attack;
};

} // namespace

TEST(InsiderAttack, MirrorsLevelsAndFloats)
{
    Attack flip("flip");
    const OutgoingMessage levels = flip.SendOne(MakeLevels());
    EXPECT_EQ(levels.payload, (std::vector<uint8_t>{0xef, 0x18, 0x07})); // padding as it was
    EXPECT_EQ(flip.SendOne(levels).payload, MakeLevels().payload);
    EXPECT_EQ(ReadFloats(flip.SendOne(MakeFloats({1.5F, -2, 0}))),
              (std::vector<float>{-1.5F, 2, 0}));
}

TEST(InsiderAttack, ChoosesTheEndOfTheIntervalThatIsFartherAway)
{
    EXPECT_EQ(Attack("extreme-levels").SendOne(MakeLevels()).payload,
              (std::vector<uint8_t>{0xff, 0x0f, 0x00}));
    const auto floats = Attack("extreme-floats").Set("Magnitude", DoubleValue(8));
    EXPECT_EQ(ReadFloats(Attack(floats).SendOne(MakeFloats({1, -2}))), (std::vector<float>{-8, 8}));
    for (float value : ReadFloats(Attack("nan-floats").SendOne(MakeFloats({1, 2}))))
    {
        EXPECT_TRUE(std::isnan(value));
    }
}

TEST(InsiderAttack, LiesAboutItsDistortion)
{
    EXPECT_EQ(Attack("distortion-zero").SendOne(MakeLevels()).header.distortion, 0);
    EXPECT_TRUE(std::isnan(Attack("distortion-missing").SendOne(MakeLevels()).header.distortion));
    const float least = Attack("distortion-denormal").SendOne(MakeLevels()).header.distortion;
    EXPECT_EQ(std::fpclassify(least), FP_SUBNORMAL);
    const auto flipped = Attack("distortion-zero").Set("Flip", BooleanValue(true));
    EXPECT_EQ(Attack(flipped).SendOne(MakeLevels()).payload,
              Attack("flip").SendOne(MakeLevels()).payload);
}

TEST(InsiderAttack, SendsWellFormedMessagesWhereFieldsAreChanged)
{
    for (const char* name : {"flip", "extreme-levels", "wide-interval", "wrong-bits", "overlap"})
    {
        for (const OutgoingMessage& original : {MakeLevels(), MakeFloats({1, 2, 3})})
        {
            for (OutgoingMessage message : Attack(name).Send(original))
            {
                message.header.Seal(message.payload.data(), message.payload.size());
                EXPECT_TRUE(message.header.IsValid()) << name;
            }
        }
    }
    const auto wide = Attack("wide-interval").SendOne(MakeLevels()).header.intervals;
    EXPECT_EQ(wide.front().high, 1e38F);
    EXPECT_EQ(Attack("wrong-bits").SendOne(MakeLevels()).header.bits, 32);
    const auto overlap = Attack("overlap").Send(MakeLevels());
    ASSERT_EQ(overlap.size(), 2U);
    EXPECT_EQ(overlap[0].header.fragments, 3U);
    EXPECT_EQ(overlap[1].header.fragment, 2U);
    EXPECT_EQ(overlap[1].header.first, overlap[0].header.first);
}

TEST(InsiderAttack, IsSilentOrSendsShortlyBeforeTheDeadline)
{
    const OutgoingMessage ack = MakeControl(FederatedHeader::ACK, 3, 1);
    const OutgoingMessage done = MakeControl(FederatedHeader::DONE, 3, 2);
    OutgoingMessage second = MakeLevels();
    second.header.fragment = 1;
    EXPECT_EQ(Attack("silence").Send(ack).size(), 1U);
    EXPECT_EQ(Attack("silence").Send(MakeLevels()).size(), 0U);
    EXPECT_EQ(Attack("silence").Send(done).size(), 0U);
    EXPECT_EQ(Attack("no-ack").Send(ack).size(), 0U);
    const Time late = Seconds(2) - MilliSeconds(50);
    EXPECT_EQ(Attack("lateness").SendOne(ack).delay, Time(0));
    EXPECT_EQ(Attack("lateness").SendOne(MakeLevels()).delay, late);
    EXPECT_EQ(Attack("lateness").SendOne(done).delay, late);
    EXPECT_EQ(Attack("slowness").SendOne(MakeLevels()).delay, Time(0));
    EXPECT_EQ(Attack("slowness").SendOne(second).delay, late);
    EXPECT_EQ(Attack("slowness").SendOne(done).delay, late);
    const auto patient = Attack("lateness").Set("Margin", TimeValue(Seconds(10)));
    EXPECT_EQ(Attack(patient).SendOne(done).delay, Time(0)); // the deadline is too near
}

TEST(InsiderAttack, RepeatsEarlierMessagesInLaterRounds)
{
    Attack replay("replay");
    EXPECT_EQ(replay.Send(MakeControl(FederatedHeader::ACK, 3, 1)).size(), 1U);
    replay.Send(MakeLevels());
    replay.Send(MakeControl(FederatedHeader::DONE, 3, 2));
    const auto sent = replay.Send(MakeControl(FederatedHeader::ACK, 4, 3));
    ASSERT_EQ(sent.size(), 3U);
    EXPECT_EQ(sent[1].header.type, FederatedHeader::UPDATE);
    EXPECT_EQ(sent[1].header.round, 3U);
    EXPECT_EQ(sent[1].header.sequence, 9U);
    EXPECT_GT(sent[2].delay, sent[1].delay);

    Attack stale("stale");
    OutgoingMessage later = MakeLevels();
    later.header.round = 4;
    later.payload = {1, 2, 3};
    EXPECT_EQ(stale.SendOne(MakeLevels()).payload, MakeLevels().payload);
    EXPECT_EQ(stale.SendOne(later).payload, MakeLevels().payload);
    EXPECT_EQ(stale.SendOne(later).header.round, 4U);
}

TEST(InsiderAttack, SendsWhatNobodyAskedForWhenARoundBegins)
{
    const OutgoingMessage ack = MakeControl(FederatedHeader::ACK, 3, 1);
    for (const char* name : {"repair-flood", "done-flood"})
    {
        Attack attack(name);
        attack.Send(MakeControl(FederatedHeader::JOIN, 0, 7));
        const auto sent = attack.Send(ack);
        ASSERT_EQ(sent.size(), 5U) << name;
        EXPECT_EQ(sent[0].header.type, FederatedHeader::ACK);
        EXPECT_EQ(sent[1].header.round, 3U);
        EXPECT_EQ(sent[1].header.sequence, 8U);
        EXPECT_EQ(sent[4].header.sequence, 11U);
        EXPECT_EQ(sent[4].delay, MicroSeconds(400));
        EXPECT_EQ(attack.Send(MakeLevels()).size(), 1U);
    }
    Attack attack("join-flapping");
    OutgoingMessage join = MakeControl(FederatedHeader::JOIN, 0, 7);
    join.payload.resize(JoinBody::SIZE);
    EXPECT_EQ(attack.SendOne(join).header.sequence, 7U);
    const auto sent = attack.Send(ack);
    ASSERT_EQ(sent.size(), 5U);
    std::set<uint32_t> lives;
    for (std::size_t i = 1; i < sent.size(); ++i)
    {
        EXPECT_EQ(sent[i].header.type, i % 2 == 1 ? FederatedHeader::LEAVE : FederatedHeader::JOIN);
        EXPECT_EQ(sent[i].header.sequence, 7 + i);
        JoinBody body;
        if (JoinBody::Read(sent[i].payload.data(), sent[i].payload.size(), body))
        {
            lives.insert(body.life);
        }
    }
    EXPECT_EQ(lives.size(), 2U);
}

TEST(InsiderAttack, AnnouncesALongTraining)
{
    OutgoingMessage join = MakeControl(FederatedHeader::JOIN, 0, 7);
    join.payload.resize(JoinBody::SIZE);
    const auto sent = Attack("long-training").SendOne(join);
    JoinBody body;
    ASSERT_TRUE(JoinBody::Read(sent.payload.data(), sent.payload.size(), body));
    EXPECT_EQ(body.trainingNs, 1000000000U);
}

TEST(InsiderAttack, SpeaksInTheNameOfItsNeighbor)
{
    Attack attack("impersonation");
    const auto leave = attack.Send(MakeControl(FederatedHeader::ACK, 3, 1));
    ASSERT_EQ(leave.size(), 2U);
    EXPECT_EQ(leave[1].header.type, FederatedHeader::LEAVE);
    EXPECT_EQ(leave[1].header.device, 7U);
    const auto update = attack.Send(MakeLevels());
    ASSERT_EQ(update.size(), 2U);
    EXPECT_EQ(update[0].header.device, 6U);
    EXPECT_EQ(update[1].header.device, 7U);
    EXPECT_EQ(attack.Send(MakeControl(FederatedHeader::DONE, 3, 2))[1].header.device, 7U);
}

namespace
{

/** Sends every fragment of an update twice, the second time later. */
class Echo : public MessageTampering
{
  public:
    std::vector<OutgoingMessage> DoTamper(const OutgoingMessage& message,
                                          const TamperingContext& context) override
    {
        deadlines.insert(context.deadline);
        if (message.header.type != FederatedHeader::UPDATE)
        {
            return {message};
        }
        ++updates;
        OutgoingMessage echo = message;
        echo.delay = delay;
        return {message, echo};
    }

    Time delay = MilliSeconds(1);
    uint32_t updates = 0;
    std::set<Time> deadlines;
};

void
CountUpdates(uint32_t* updates, Ptr<const Packet> packet)
{
    FederatedHeader header;
    packet->PeekHeader(header);
    *updates += header.type == FederatedHeader::UPDATE ? 1 : 0;
}

/** Makes messages that cannot be sent. */
class Nonsense : public MessageTampering
{
  public:
    std::vector<OutgoingMessage> DoTamper(const OutgoingMessage&, const TamperingContext&) override
    {
        return {wrong};
    }

    OutgoingMessage wrong;
};

/** A federation whose first device has a tampering of its user. */
class TamperingFederation : public Federation
{
  public:
    void BuildWithEcho(const std::string& protocol)
    {
        Build(2);
        SetForAll("Protocol", StringValue(protocol));
        echo = CreateObject<Echo>();
        apps[0]->SetAttribute("Tampering", PointerValue(echo));
        apps[0]->TraceConnectWithoutContext("Tx", MakeBoundCallback(&CountUpdates, &updates));
    }

    Ptr<Echo> echo;
    uint32_t updates = 0; // messages of the first device
};

} // namespace

TEST_F(TamperingFederation, WhatIsToldIsSentOverUdp)
{
    BuildWithEcho("ns3::UdpSocketFactory");
    center->SetAttribute("MinUpdates", UintegerValue(2));
    apps[1]->SetAttribute("TimePerSample", // the round ends after the echo
                          StringValue("ns3::ConstantRandomVariable[Constant=0.001]"));
    Run();
    ASSERT_EQ(rounds.size(), 3U);
    EXPECT_GE(echo->updates, 3U);
    EXPECT_EQ(updates, 2 * echo->updates);
    EXPECT_EQ(center->GetDropped(DROP_INVALID), echo->updates); // more than DONE reports
    EXPECT_EQ(echo->deadlines.size(), 4U);                      // none, then one a round
    EXPECT_GT(*echo->deadlines.rbegin(), rounds[2].end);
}

TEST_F(TamperingFederation, WhatIsToldIsSentOverTcp)
{
    BuildWithEcho("ns3::TcpSocketFactory");
    apps[1]->SetAttribute("TimePerSample",
                          StringValue("ns3::ConstantRandomVariable[Constant=0.001]"));
    Run();
    ASSERT_EQ(rounds.size(), 3U);
    EXPECT_EQ(updates, 2 * echo->updates);
    EXPECT_EQ(center->GetDropped(DROP_INVALID), echo->updates); // more than DONE reports
}

TEST_F(TamperingFederation, HeldBackMessagesAreDiscardedWhenTheDeviceStops)
{
    BuildWithEcho("ns3::UdpSocketFactory");
    echo->delay = Seconds(3);
    apps[0]->SetStopTime(Seconds(2));
    center->SetAttribute("Rounds", UintegerValue(1));
    Run();
    EXPECT_GE(echo->updates, 1U);
    EXPECT_EQ(updates, echo->updates);
    EXPECT_LT(Simulator::Now(), Seconds(3));
}

TEST(DelayedMessages, AreSentByTimeAndThenInTheOrderInWhichTheyWereAdded)
{
    std::vector<std::pair<uint32_t, Time>> sent;
    DelayedMessages messages([&sent](OutgoingMessage& message)
                             { sent.emplace_back(message.header.sequence, Simulator::Now()); });
    const int64_t delays[] = {30, 10, 30, 20};
    for (uint32_t i = 0; i < 4; ++i)
    {
        OutgoingMessage message;
        message.header.sequence = i;
        message.delay = MilliSeconds(delays[i]);
        messages.Add(message);
    }
    Simulator::Run();
    const std::vector<std::pair<uint32_t, Time>> expected{
        {1, MilliSeconds(10)}, {3, MilliSeconds(20)}, {0, MilliSeconds(30)}, {2, MilliSeconds(30)}};
    EXPECT_EQ(sent, expected);
    Simulator::Destroy();
}

TEST(DelayedMessages, MayBeClearedWhileOneIsSent)
{
    uint32_t sent = 0;
    DelayedMessages* all = nullptr;
    DelayedMessages messages(
        [&sent, &all](OutgoingMessage&)
        {
            ++sent;
            all->Clear();
        });
    all = &messages;
    for (int i = 0; i < 3; ++i)
    {
        OutgoingMessage message;
        message.delay = MilliSeconds(5);
        messages.Add(message);
    }
    Simulator::Run();
    EXPECT_EQ(sent, 1U);
    Simulator::Destroy();
}

TEST(MessageTamperingDeathTest, AMessageThatCannotBeSentIsASentence)
{
    const auto nonsense = CreateObject<Nonsense>();
    nonsense->wrong.payload.resize(70000);
    EXPECT_DEATH(nonsense->Tamper({}, {}), "a message has 70000 bytes, 0 intervals");
    nonsense->wrong.payload.clear();
    nonsense->wrong.header.intervals.resize(300);
    EXPECT_DEATH(nonsense->Tamper({}, {}), "300 intervals");
    nonsense->wrong.header.intervals.clear();
    nonsense->wrong.delay = Seconds(-1);
    EXPECT_DEATH(nonsense->Tamper({}, {}), "a delay of -1");
    EXPECT_DEATH(CreateObject<InsiderAttack>()->SetAttribute("Attack", StringValue("flippp")),
                 "Attack|flippp");
}
