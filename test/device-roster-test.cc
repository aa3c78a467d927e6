// SPDX-License-Identifier: GPL-2.0-only

#include "ns3/device-roster.h"
#include "ns3/inet-socket-address.h"
#include "ns3/inet6-socket-address.h"

#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <string>
#include <vector>

using namespace ns3;
using namespace ns3::federated;

namespace
{

/** Mark an address with a type of service. @return whether it can have one: up to ns-3.41. */
template <typename SocketAddressWithTos>
auto
MarkTos(SocketAddressWithTos& address, int) -> decltype(address.SetTos(0xb8), bool())
{
    address.SetTos(0xb8);
    return true;
}

/** In later releases. */
template <typename SocketAddressWithoutTos>
bool
MarkTos(SocketAddressWithoutTos&, long)
{
    return false;
}

using Answer = RosterVerdict::Answer;

const Ipv4Address HOME("10.0.0.1");
const Ipv4Address ELSEWHERE("10.0.0.2");

SocketAddress
MakePlace(const Ipv4Address& ip, uint16_t port = 1000)
{
    return SocketAddress(InetSocketAddress(ip, port));
}

/** @return a roster for devices 0 to 9, in groups of 2 and 4 bits, that train a second at most. */
DeviceRoster
MakeRoster()
{
    DeviceRoster roster;
    roster.SetRules({10, {2, 4}, Seconds(1)});
    return roster;
}

/** @return a JOIN of a device of group 0 that makes sense. */
JoinRequest
MakeJoin(uint32_t device, uint32_t sequence = 100, const Ipv4Address& ip = HOME)
{
    JoinRequest request;
    request.device = device;
    request.from = MakePlace(ip);
    request.sequence = sequence;
    request.group = 0;
    request.bits = 2;
    request.samples = 40;
    request.training = MilliSeconds(300);
    return request;
}

JoinRequest
MakeTcpJoin(uint32_t device, uint32_t sequence, ConnectionId connection)
{
    JoinRequest request = MakeJoin(device, sequence);
    request.connection = connection;
    return request;
}

void
ExpectTaken(const RosterVerdict& verdict)
{
    EXPECT_EQ(verdict.dropped, std::nullopt);
    EXPECT_EQ(verdict.answer, Answer::ACK);
}

void
ExpectDropped(const RosterVerdict& verdict, DropReason reason, Answer answer = Answer::NONE)
{
    ASSERT_TRUE(verdict.dropped.has_value());
    EXPECT_STREQ(GetDropReasonName(*verdict.dropped), GetDropReasonName(reason));
    EXPECT_EQ(verdict.answer, answer);
}

} // namespace

TEST(DeviceRoster, LetsInWhoKeepsTheRules)
{
    struct Case
    {
        std::string name;
        uint32_t device;
        uint32_t group;
        unsigned bits;
        std::optional<DropReason> dropped;
    };

    const std::vector<Case> cases{
        {"smallest identifier", 0, 0, 2, std::nullopt},
        {"largest identifier", 9, 0, 2, std::nullopt},
        {"too large an identifier", 10, 0, 2, DROP_UNKNOWN},
        {"the identifier of all devices", 0xffffffff, 0, 2, DROP_UNKNOWN},
        {"second group", 3, 1, 4, std::nullopt},
        {"bits of another group", 3, 1, 2, DROP_INVALID},
        {"bits of no group", 3, 0, 3, DROP_INVALID},
        {"no bits", 3, 0, 0, DROP_INVALID},
        {"no such group", 3, 2, 2, DROP_INVALID},
        {"largest group number", 3, 0xffffffff, 2, DROP_INVALID},
    };
    for (const Case& one : cases)
    {
        SCOPED_TRACE(one.name);
        const DeviceRoster roster = MakeRoster();
        JoinRequest request = MakeJoin(one.device);
        request.group = one.group;
        request.bits = one.bits;
        const RosterVerdict verdict = roster.CheckJoin(request);
        if (one.dropped)
        {
            ExpectDropped(verdict, *one.dropped);
        }
        else
        {
            ExpectTaken(verdict);
        }
        EXPECT_TRUE(roster.GetEntries().empty()); // a check changes nothing
    }
}

TEST(DeviceRoster, WithAKeyANewerJoinMovesAnIdentifierThatWasNotReserved)
{
    for (const bool isProtected : {false, true})
    {
        for (const bool isReserved : {false, true})
        {
            SCOPED_TRACE(std::to_string(isProtected) + std::to_string(isReserved));
            DeviceRoster roster;
            DeviceRoster::Rules rules{10, {2, 4}, Seconds(1), 100, 1};
            rules.isProtected = isProtected;
            roster.SetRules(rules);
            if (isReserved)
            {
                roster.Reserve(3, ELSEWHERE);
            }
            roster.Join(MakeJoin(3, 100, ELSEWHERE)); // somebody sent the first JOIN from there
            if (!isProtected || isReserved)
            {
                ExpectDropped(roster.CheckJoin(MakeJoin(3, 100)), DROP_FOREIGN);
                ExpectDropped(roster.CheckJoin(MakeJoin(3, 101)), DROP_FOREIGN);
                continue;
            }
            // Its retransmission is not acknowledged to the wrong address; a newer one follows.
            ExpectDropped(roster.CheckJoin(MakeJoin(3, 100)), DROP_OLD, Answer::REJOIN);
            ExpectTaken(roster.CheckJoin(MakeJoin(3, 101)));
            EXPECT_FALSE(roster.CheckJoin(MakeJoin(3, 101)).isSameLife);
            roster.Leave(3);
            roster.Join(MakeJoin(3, 101));
            EXPECT_EQ(roster.Find(3)->address, MakePlace(HOME));
            EXPECT_EQ(roster.GetJoined(), 1U);
            ExpectDropped(roster.CheckJoin(MakeJoin(4)), DROP_UNKNOWN); // one of an address
            ExpectTaken(roster.CheckJoin(MakeJoin(4, 100, ELSEWHERE)));
        }
    }
}

TEST(DeviceRoster, RemembersWhatAJoinSays)
{
    DeviceRoster roster = MakeRoster();
    EXPECT_EQ(roster.Find(4), nullptr);
    JoinRequest request = MakeTcpJoin(4, 77, 6);
    request.group = 1;
    request.bits = 4;
    roster.Join(request);
    const RosterEntry* entry = roster.Find(4);
    ASSERT_NE(entry, nullptr);
    EXPECT_TRUE(entry->joined);
    EXPECT_FALSE(entry->enrolled);
    EXPECT_FALSE(entry->reserved);
    EXPECT_EQ(entry->address, MakePlace(HOME));
    EXPECT_EQ(entry->GetPeer().address, Address(InetSocketAddress(HOME, 1000)));
    EXPECT_EQ(entry->GetPeer().connection, 6U);
    EXPECT_EQ(entry->group, 1U);
    EXPECT_EQ(entry->samples, 40U);
    EXPECT_EQ(entry->training, MilliSeconds(300));
    EXPECT_EQ(entry->sequence, 77U);
    EXPECT_EQ(roster.GetJoined(), 1U);
}

TEST(DeviceRoster, CutsTheTrainingTimeThatADeviceSays)
{
    DeviceRoster roster = MakeRoster();
    JoinRequest request = MakeJoin(0);
    request.training = Seconds(1);
    roster.Join(request);
    EXPECT_EQ(roster.Find(0)->training, Seconds(1));
    request = MakeJoin(1);
    request.training = Time::Max();
    roster.Join(request);
    EXPECT_EQ(roster.Find(1)->training, Seconds(1));
    roster.Enroll(2, MakePlace(ELSEWHERE), 0, Seconds(5));
    roster.Admit();
    EXPECT_EQ(roster.Find(2)->training, Seconds(1));
}

TEST(DeviceRoster, CutsTheSamplesThatADeviceReports)
{
    DeviceRoster roster;
    roster.SetRules({10, {2, 4}, Seconds(1), 600});
    JoinRequest request = MakeJoin(0);
    request.samples = 600;
    roster.Join(request);
    EXPECT_EQ(roster.Find(0)->samples, 600U);
    request = MakeJoin(1);
    request.samples = 0xffffffff;
    roster.Join(request);
    EXPECT_EQ(roster.Find(1)->samples, 600U);
    roster.Enroll(2, MakePlace(ELSEWHERE), 0, Seconds(1), 70);
    roster.Enroll(3, MakePlace(ELSEWHERE, 2000), 0, Seconds(1), 1000);
    roster.Enroll(4, MakePlace(ELSEWHERE, 3000), 0, Seconds(1));
    roster.Admit();
    EXPECT_EQ(roster.Find(2)->samples, 70U);
    EXPECT_EQ(roster.Find(3)->samples, 600U);
    EXPECT_EQ(roster.Find(4)->samples, 0U) << "unknown";
    roster.Leave(2);
    EXPECT_EQ(roster.Find(2)->samples, 70U) << "its update may still be fused";
}

TEST(DeviceRoster, AcknowledgesARepeatedJoinAgain)
{
    DeviceRoster roster = MakeRoster();
    roster.Join(MakeJoin(0, 100));
    ExpectDropped(roster.CheckJoin(MakeJoin(0, 100)), DROP_DUPLICATE, Answer::ACK);
    EXPECT_EQ(roster.GetJoined(), 1U);
}

TEST(DeviceRoster, LetsADeviceJoinAnewButNotByAnOldMessage)
{
    DeviceRoster roster = MakeRoster();
    roster.Join(MakeJoin(0, 100));
    ExpectDropped(roster.CheckJoin(MakeJoin(0, 99)), DROP_OLD, Answer::REJOIN);
    ExpectTaken(roster.CheckJoin(MakeJoin(0, 101)));
    // After it has left, the JOIN from before does not bring it back.
    roster.Leave(0);
    ExpectDropped(roster.CheckJoin(MakeJoin(0, 100)), DROP_OLD, Answer::REJOIN);
    ExpectTaken(roster.CheckJoin(MakeJoin(0, 101)));
}

TEST(DeviceRoster, ComparesSequenceNumbersAcrossTheWrapAround)
{
    struct Case
    {
        uint32_t last;
        uint32_t next;
        bool isNewer;
    };

    const std::vector<Case> cases{
        {0xffffffff, 0, true},
        {0xfffffff0, 5, true},
        {0, 0xffffffff, false},
        {5, 0xfffffff0, false},
        {0, 0x80000000, false}, // half of the numbers are behind
        {0x80000000, 0, false},
        {0xf0000000, 0, true}, // the largest step that is believed
    };
    for (const Case& one : cases)
    {
        SCOPED_TRACE(testing::Message() << one.last << " then " << one.next);
        DeviceRoster roster = MakeRoster();
        roster.Join(MakeJoin(0, one.last));
        const RosterVerdict join = roster.CheckJoin(MakeJoin(0, one.next));
        const RosterVerdict leave = roster.CheckLeave(0, one.next);
        if (one.isNewer)
        {
            ExpectTaken(join);
            ExpectTaken(leave);
        }
        else
        {
            ExpectDropped(join, DROP_OLD, Answer::REJOIN);
            ExpectDropped(leave, DROP_OLD, Answer::REJOIN);
        }
    }
}

TEST(DeviceRoster, AForgedSequenceNumberDoesNotLockADeviceOut)
{
    DeviceRoster roster = MakeRoster();
    roster.Join(MakeJoin(0, 100));
    // A larger step is not believed; who sends it is told the last number.
    for (const uint32_t step : {0x10000001U, 0x7fffffffU})
    {
        ExpectDropped(roster.CheckJoin(MakeJoin(0, 100 + step)), DROP_INVALID, Answer::REJOIN);
        ExpectDropped(roster.CheckLeave(0, 100 + step), DROP_INVALID, Answer::REJOIN);
    }
    // After the largest step that is, the device is told where to go on.
    roster.Join(MakeJoin(0, 100 + 0x10000000));
    ExpectDropped(roster.CheckJoin(MakeJoin(0, 101)), DROP_OLD, Answer::REJOIN);
    ExpectTaken(roster.CheckJoin(MakeJoin(0, roster.Find(0)->sequence + 1)));
}

TEST(DeviceRoster, TellsADeviceThatKeptItsStateFromOneThatStartedAgain)
{
    struct Case
    {
        std::string name;
        uint32_t life;
        uint16_t port;
        ConnectionId connection;
        bool isSame;
    };

    const std::vector<Case> cases{
        {"the same life", 7, 1000, 0, true},
        {"another life", 8, 1000, 0, false},
        {"another port", 7, 1001, 0, false},
        {"a connection", 7, 1000, 6, false},
    };
    for (const Case& one : cases)
    {
        SCOPED_TRACE(one.name);
        DeviceRoster roster = MakeRoster();
        JoinRequest request = MakeJoin(0);
        request.life = 7;
        EXPECT_FALSE(roster.CheckJoin(request).isSameLife);
        roster.Join(request);
        request.sequence = 101;
        request.life = one.life;
        request.from = MakePlace(HOME, one.port);
        request.connection = one.connection;
        ExpectTaken(roster.CheckJoin(request));
        EXPECT_EQ(roster.CheckJoin(request).isSameLife, one.isSame);
        roster.Leave(0);
        EXPECT_FALSE(roster.CheckJoin(request).isSameLife) << "it has left";
    }
}

TEST(DeviceRoster, OneAddressHasOnlySoManyIdentifiers)
{
    DeviceRoster roster;
    roster.SetRules({10, {2, 4}, Seconds(1), 1000, 2});
    roster.Reserve(9, HOME);
    for (const uint32_t device : {9U, 0U, 1U})
    {
        ExpectTaken(roster.CheckJoin(MakeJoin(device)));
        roster.Join(MakeJoin(device));
    }
    ExpectDropped(roster.CheckJoin(MakeJoin(2)), DROP_UNKNOWN);
    ExpectTaken(roster.CheckJoin(MakeJoin(2, 100, ELSEWHERE)));
    ExpectTaken(roster.CheckJoin(MakeJoin(1, 101))); // one that it has
    roster.Leave(0);
    ExpectTaken(roster.CheckJoin(MakeJoin(2)));
    roster.Join(MakeJoin(2));
    ExpectDropped(roster.CheckJoin(MakeJoin(3)), DROP_UNKNOWN);
    roster.Reserve(2, HOME); // a reserved one no longer counts
    ExpectTaken(roster.CheckJoin(MakeJoin(3)));
    roster.Clear();
    roster.Join(MakeJoin(4));
    ExpectTaken(roster.CheckJoin(MakeJoin(5)));
}

TEST(DeviceRoster, RemembersTheBattery)
{
    DeviceRoster roster = MakeRoster();
    roster.Join(MakeJoin(0));
    EXPECT_TRUE(std::isnan(roster.Find(0)->battery));
    roster.SetBattery(0, 0.25);
    EXPECT_EQ(roster.Find(0)->battery, 0.25);
    JoinRequest request = MakeJoin(0, 101);
    request.battery = 0.5;
    roster.Join(request);
    EXPECT_EQ(roster.Find(0)->battery, 0.5);
}

TEST(DeviceRoster, BindsAnIdentifierToAnAddressUntilTheDeviceLeaves)
{
    DeviceRoster roster = MakeRoster();
    roster.Join(MakeJoin(0, 100, HOME));
    ExpectDropped(roster.CheckJoin(MakeJoin(0, 101, ELSEWHERE)), DROP_FOREIGN);
    // The address counts before the sequence number: nothing is acknowledged to a stranger.
    ExpectDropped(roster.CheckJoin(MakeJoin(0, 100, ELSEWHERE)), DROP_FOREIGN);
    EXPECT_TRUE(roster.Leave(0));
    EXPECT_EQ(roster.GetJoined(), 0U);
    ExpectTaken(roster.CheckJoin(MakeJoin(0, 101, ELSEWHERE)));
    // One address may have several devices.
    ExpectTaken(roster.CheckJoin(MakeJoin(1, 100, HOME)));
}

TEST(DeviceRoster, KeepsAReservedIdentifierForItsAddress)
{
    DeviceRoster roster = MakeRoster();
    roster.Reserve(0, HOME);
    ASSERT_NE(roster.Find(0), nullptr);
    EXPECT_TRUE(roster.Find(0)->reserved);
    EXPECT_FALSE(roster.Find(0)->joined);
    EXPECT_EQ(roster.GetJoined(), 0U);
    ExpectDropped(roster.CheckJoin(MakeJoin(0, 100, ELSEWHERE)), DROP_FOREIGN);
    ExpectTaken(roster.CheckJoin(MakeJoin(0, 100, HOME)));
    roster.Join(MakeJoin(0, 100, HOME));
    EXPECT_TRUE(roster.Leave(0));
    ExpectDropped(roster.CheckJoin(MakeJoin(0, 101, ELSEWHERE)), DROP_FOREIGN);
    ExpectTaken(roster.CheckJoin(MakeJoin(0, 101, HOME)));
}

TEST(DeviceRoster, AdmitsEnrolledDevicesInAscendingOrder)
{
    DeviceRoster roster = MakeRoster();
    roster.Enroll(7, MakePlace(HOME, 1007), 1, MilliSeconds(10));
    roster.Enroll(2, MakePlace(HOME, 1002), 0, MilliSeconds(20));
    roster.Reserve(4, ELSEWHERE);
    EXPECT_EQ(roster.GetJoined(), 0U);
    EXPECT_EQ(roster.Admit(), (std::vector<uint32_t>{2, 7}));
    EXPECT_EQ(roster.GetJoined(), 2U);
    EXPECT_FALSE(roster.Find(4)->joined);
    const RosterEntry& entry = *roster.Find(7);
    EXPECT_TRUE(entry.joined);
    EXPECT_TRUE(entry.enrolled);
    EXPECT_TRUE(entry.reserved);
    EXPECT_EQ(entry.group, 1U);
    EXPECT_EQ(entry.training, MilliSeconds(10));
    EXPECT_EQ(entry.GetPeer().address, Address(InetSocketAddress(HOME, 1007)));
    EXPECT_EQ(roster.CheckSender(7, InetSocketAddress(HOME, 1007), 0), std::nullopt);
    ExpectDropped(roster.CheckJoin(MakeJoin(2, 100, ELSEWHERE)), DROP_FOREIGN);
}

TEST(DeviceRosterDeathTest, AnEnrolledDeviceOfAnUnknownGroupStopsTheScript)
{
    DeviceRoster roster = MakeRoster();
    roster.Enroll(3, MakePlace(HOME), 2, Seconds(0));
    EXPECT_DEATH(roster.Admit(), "device 3 is enrolled in group 2, which is not in GroupBits");
}

TEST(DeviceRoster, HasOneDeviceForAConnection)
{
    DeviceRoster roster = MakeRoster();
    EXPECT_EQ(roster.FindByConnection(6), std::nullopt);
    roster.Join(MakeTcpJoin(0, 100, 6));
    EXPECT_EQ(roster.FindByConnection(6), std::make_optional(0U));
    // The same device must not join twice, nor another one.
    ExpectDropped(roster.CheckJoin(MakeTcpJoin(0, 101, 6)), DROP_DUPLICATE, Answer::ACK);
    JoinRequest reborn = MakeTcpJoin(0, 101, 6);
    reborn.life = 1;
    ExpectDropped(roster.CheckJoin(reborn), DROP_DUPLICATE);
    ExpectDropped(roster.CheckJoin(MakeTcpJoin(1, 100, 6)), DROP_FOREIGN);
    ExpectTaken(roster.CheckJoin(MakeTcpJoin(1, 100, 7)));
    ExpectTaken(roster.CheckJoin(MakeTcpJoin(0, 101, 7))); // it opened a new connection
}

TEST(DeviceRoster, ForgetsTheConnectionOfADeviceThatLeft)
{
    DeviceRoster roster = MakeRoster();
    roster.Join(MakeTcpJoin(0, 100, 6));
    EXPECT_TRUE(roster.Leave(0));
    EXPECT_EQ(roster.FindByConnection(6), std::nullopt);
    EXPECT_EQ(roster.Find(0)->connection, 0U);
    EXPECT_FALSE(roster.Leave(0)); // it was not in
    EXPECT_FALSE(roster.Leave(5)); // nobody
    EXPECT_EQ(roster.GetJoined(), 0U);
}

TEST(DeviceRoster, DoesNotTakeUdpForAConnectionThatAllShare)
{
    DeviceRoster roster = MakeRoster();
    roster.Join(MakeJoin(0));
    EXPECT_EQ(roster.FindByConnection(0), std::nullopt);
    ExpectTaken(roster.CheckJoin(MakeJoin(1)));
}

TEST(DeviceRoster, KnowsASenderByAddressPortAndConnection)
{
    DeviceRoster roster = MakeRoster();
    roster.Join(MakeJoin(0));
    roster.Join(MakeTcpJoin(1, 100, 6));
    InetSocketAddress marked(HOME, 1000);
    if (MarkTos(marked, 0))
    {
        ASSERT_NE(Address(marked), Address(InetSocketAddress(HOME, 1000))) << "ToS is in the bytes";
    }

    struct Case
    {
        std::string name;
        uint32_t device;
        Address from;
        ConnectionId connection;
        std::optional<DropReason> dropped;
    };

    const std::vector<Case> cases{
        {"the device", 0, InetSocketAddress(HOME, 1000), 0, std::nullopt},
        {"another ToS", 0, marked, 0, std::nullopt},
        {"another port", 0, InetSocketAddress(HOME, 1001), 0, DROP_FOREIGN},
        {"another address", 0, InetSocketAddress(ELSEWHERE, 1000), 0, DROP_FOREIGN},
        {"IPv6", 0, Inet6SocketAddress(Ipv6Address("::1"), 1000), 0, DROP_FOREIGN},
        {"no address", 0, Address(), 0, DROP_FOREIGN},
        {"over a connection", 0, InetSocketAddress(HOME, 1000), 6, DROP_FOREIGN},
        {"its connection", 1, InetSocketAddress(HOME, 1000), 6, std::nullopt},
        {"another connection", 1, InetSocketAddress(HOME, 1000), 7, DROP_FOREIGN},
        {"no connection", 1, InetSocketAddress(HOME, 1000), 0, DROP_FOREIGN},
        {"unknown", 2, InetSocketAddress(HOME, 1000), 0, DROP_UNKNOWN},
    };
    for (const Case& one : cases)
    {
        EXPECT_EQ(roster.CheckSender(one.device, one.from, one.connection), one.dropped)
            << one.name;
    }
}

TEST(DeviceRoster, KnowsAnIpv6Sender)
{
    DeviceRoster roster = MakeRoster();
    const Inet6SocketAddress place(Ipv6Address("2001:1::2"), 1000);
    JoinRequest request = MakeJoin(0);
    request.from = SocketAddress(place);
    roster.Join(request);
    EXPECT_EQ(roster.CheckSender(0, place, 0), std::nullopt);
    EXPECT_EQ(roster.CheckSender(0, Inet6SocketAddress(Ipv6Address("2001:1::3"), 1000), 0),
              std::make_optional(DROP_FOREIGN));
}

TEST(DeviceRoster, AcknowledgesARepeatedLeaveAgain)
{
    DeviceRoster roster = MakeRoster();
    roster.Join(MakeJoin(0, 100));
    ExpectDropped(roster.CheckLeave(0, 99), DROP_OLD, Answer::REJOIN);
    ExpectTaken(roster.CheckLeave(0, 101));
    roster.Leave(0);
    // Its acknowledgment was lost.
    EXPECT_EQ(roster.CheckSender(0, InetSocketAddress(HOME, 1000), 0), std::nullopt);
    ExpectDropped(roster.CheckLeave(0, 101), DROP_DUPLICATE, Answer::ACK);
    // The LEAVE is remembered: no earlier message brings the device back.
    ExpectDropped(roster.CheckJoin(MakeJoin(0, 101)), DROP_OLD, Answer::REJOIN);
    ExpectTaken(roster.CheckJoin(MakeJoin(0, 102)));
}

TEST(DeviceRoster, ClearsEverybodyOutAndAdmitsTheEnrolledAgain)
{
    DeviceRoster roster = MakeRoster();
    roster.Enroll(1, MakePlace(HOME, 1001), 0, Seconds(0));
    roster.Admit();
    roster.Join(MakeTcpJoin(0, 100, 6));
    roster.CountAnswer(0);
    roster.Clear();
    EXPECT_EQ(roster.GetJoined(), 0U);
    EXPECT_FALSE(roster.Find(0)->joined);
    EXPECT_FALSE(roster.Find(1)->joined);
    EXPECT_EQ(roster.FindByConnection(6), std::nullopt);
    EXPECT_EQ(roster.Find(0)->GetPeer().connection, 0U);
    EXPECT_FALSE(roster.Leave(0));
    EXPECT_TRUE(roster.Find(0)->ip.IsInvalid()) << "its identifier is free";
    EXPECT_EQ(roster.CheckSender(0, InetSocketAddress(HOME, 1000), 0),
              std::make_optional(DROP_UNKNOWN));
    // What was spent stays spent, and old messages stay old.
    EXPECT_EQ(roster.Find(0)->answers, 1U);
    ExpectDropped(roster.CheckJoin(MakeJoin(0, 100)), DROP_OLD, Answer::REJOIN);
    EXPECT_EQ(roster.Admit(), std::vector<uint32_t>{1});
    EXPECT_EQ(roster.GetJoined(), 1U);
}

TEST(DeviceRoster, CountsTheAnswersOfEachDevice)
{
    DeviceRoster roster = MakeRoster();
    roster.Join(MakeJoin(0));
    roster.Join(MakeJoin(1));
    EXPECT_EQ(roster.GetMostAnswers(), 0U);
    roster.CountAnswer(0);
    roster.CountAnswer(1);
    EXPECT_EQ(roster.GetMostAnswers(), 1U);
    roster.CountAnswer(1);
    EXPECT_EQ(roster.Find(0)->answers, 1U);
    EXPECT_EQ(roster.Find(1)->answers, 2U);
    EXPECT_EQ(roster.GetMostAnswers(), 2U);
    // A device that leaves and joins again does not get its privacy back.
    roster.Leave(1);
    roster.Join(MakeJoin(1, 101));
    roster.CountAnswer(1);
    EXPECT_EQ(roster.GetMostAnswers(), 3U);
}

TEST(DeviceRoster, RemembersWhenADeviceWasAskedAlsoWhenItJoinsAgain)
{
    DeviceRoster roster = MakeRoster();
    roster.Join(MakeJoin(0));
    EXPECT_EQ(roster.Find(0)->lastAsked, 0U);
    roster.SetAsked({0}, 3);
    roster.SetAsked({0}, 5);
    EXPECT_EQ(roster.Find(0)->lastAsked, 5U);
    roster.Leave(0);
    roster.Join(MakeJoin(0, 101));
    EXPECT_EQ(roster.Find(0)->lastAsked, 5U);
    roster.Clear(); // a center that starts anew begins with round 1
    EXPECT_EQ(roster.Find(0)->lastAsked, 0U);
}

TEST(DeviceRoster, CountsSilentRoundsUntilADeviceIsHeard)
{
    DeviceRoster roster = MakeRoster();
    roster.Join(MakeJoin(0));
    const auto beSilent = [&roster]()
    {
        roster.CountSilence(0, true);
        roster.CountSilence(0, true);
        EXPECT_EQ(roster.Find(0)->silentRounds, 2U);
    };
    beSilent();
    roster.CountSilence(0, false); // it answered
    EXPECT_EQ(roster.Find(0)->silentRounds, 0U);
    beSilent();
    roster.Hear(0);
    EXPECT_EQ(roster.Find(0)->silentRounds, 0U);
    beSilent();
    roster.Leave(0);
    roster.Join(MakeJoin(0, 101));
    EXPECT_EQ(roster.Find(0)->silentRounds, 0U);
    beSilent();
    roster.Clear();
    EXPECT_EQ(roster.Find(0)->silentRounds, 0U);
}

TEST(DeviceRoster, LimitsTheRepliesToADeviceInARound)
{
    DeviceRoster roster;
    roster.SetRules({10, {2, 4}, Seconds(1), 1000, 16, 3});
    EXPECT_TRUE(roster.CountReply(1)) << "it is not known, and takes nothing from anybody";
    for (const uint32_t device : {1U, 2U})
    {
        roster.Join(MakeJoin(device));
    }
    for (int i = 0; i < 3; ++i)
    {
        EXPECT_TRUE(roster.CountReply(1));
    }
    EXPECT_FALSE(roster.CountReply(1));
    EXPECT_FALSE(roster.CountReply(1));
    EXPECT_TRUE(roster.CountReply(2)) << "each device has its own";
    roster.Leave(1);
    roster.Join(MakeJoin(1, 101));
    EXPECT_FALSE(roster.CountReply(1)) << "joining again does not help";
    roster.BeginRound();
    EXPECT_TRUE(roster.CountReply(1));
}
