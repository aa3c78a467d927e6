// SPDX-License-Identifier: GPL-2.0-only

#include "ns3/fragmentation.h"
#include "ns3/identity-quantizer.h"
#include "ns3/little-endian.h"
#include "ns3/random-coordinates-quantizer.h"
#include "ns3/update-collector.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <vector>

using namespace ns3;
using namespace ns3::federated;

namespace
{

using Phase = Participant::Phase;
using Drop = std::optional<DropReason>;

constexpr std::size_t DIMENSION = 40;
constexpr uint32_t ROUND = 5;

/** The update of a device: 40 coordinates in 4 fragments of 10. */
struct Sender
{
    explicit Sender(unsigned bits = 4, float low = -1, float high = 1)
        : wireBits(bits)
    {
        const std::size_t part = BitPacker::GetSize(10, bits);
        if (bits != BitPacker::FLOAT_BITS)
        {
            intervals = {{0, DIMENSION, low, high}};
        }
        payload.resize(4 * part);
        fragments = PlanFragments(DIMENSION,
                                  bits,
                                  intervals,
                                  FederatedHeader::FIXED_SIZE +
                                      FederatedHeader::INTERVAL_SIZE * intervals.size() + part);
    }

    /** @return the payload of a fragment, whose header is set. */
    const uint8_t* Make(std::size_t index)
    {
        const Fragment& fragment = fragments.at(index);
        header.type = FederatedHeader::UPDATE;
        header.round = ROUND;
        FillFragment(fragment, index, fragments.size(), wireBits, intervals, header);
        const uint8_t* part = payload.data() + fragment.GetPayloadOffset(wireBits);
        header.Seal(part, fragment.GetPayloadSize(wireBits));
        return part;
    }

    unsigned wireBits;
    std::vector<IntervalRange> intervals;
    std::vector<uint8_t> payload;
    std::vector<Fragment> fragments;
    FederatedHeader header;
};

/** A collector whose devices are all of group 1, with 4 bits. */
class Collection
{
  public:
    explicit Collection(const std::vector<uint32_t>& devices = {0}, bool rememberFragments = false)
        : collector(
              [this](uint32_t device) {
                  answered.push_back({device, GetUnanswered()});
              },
              [this](uint32_t device) { started.push_back(device); },
              [this](const UpdateRecord& record) { received.push_back(record); })
    {
        UpdateCollector::Rules rules;
        rules.round = ROUND;
        rules.start = MilliSeconds(50);
        rules.dimension = DIMENSION;
        rules.rememberFragments = rememberFragments;
        collector.Begin(rules);
        for (const uint32_t device : devices)
        {
            collector.Add(device, 1, 4, 4, MilliSeconds(100));
        }
    }

    Drop Send(std::size_t index, const Time& now = Seconds(1), uint32_t device = 0)
    {
        const uint8_t* part = sender.Make(index);
        return collector.TakeUpdate(device, sender.header, part, 1000 + index, now);
    }

    Drop SendDone(uint32_t fragments, uint8_t outcome = OUTCOME_SENT, uint32_t device = 0)
    {
        DoneBody body;
        body.outcome = outcome;
        body.firstSentNs = fragments > 0 ? 100'000'000 : 0;
        body.lastSentNs = fragments > 0 ? 900'000'000 : 0;
        return SendDone(fragments, body, device);
    }

    Drop SendDone(uint32_t fragments, const DoneBody& body, uint32_t device = 0)
    {
        FederatedHeader header;
        header.type = FederatedHeader::DONE;
        header.round = ROUND;
        header.device = device;
        header.fragments = fragments;
        uint8_t bytes[DoneBody::SIZE];
        body.Write(bytes);
        header.Seal(bytes, sizeof(bytes));
        return collector.TakeDone(device, header, bytes, Seconds(1));
    }

    /**
     * Let something happen to device 0: h is heard, g gives up, l leaves, 0 to 3 a fragment, d a
     * DONE after all fragments, n a DONE after none.
     */
    void Play(const std::string& events, uint8_t outcome = OUTCOME_SENT)
    {
        for (const char event : events)
        {
            switch (event)
            {
            case 'h':
                collector.Hear(0);
                break;
            case 'g':
                collector.GiveUp(0);
                break;
            case 'l':
                collector.Leave(0);
                break;
            case 'd':
                EXPECT_EQ(SendDone(4, outcome), std::nullopt);
                break;
            case 'n':
                EXPECT_EQ(SendDone(0, outcome), std::nullopt);
                break;
            default:
                EXPECT_EQ(Send(event - '0'), std::nullopt);
            }
        }
    }

    const Participant& Get(uint32_t device = 0) const
    {
        return *collector.Find(device);
    }

    uint32_t GetUnanswered() const
    {
        return collector.GetUnanswered();
    }

    /** What the handler was told, and how many had not answered then. */
    struct Answer
    {
        uint32_t device;
        uint32_t unanswered;
    };

    Sender sender;
    std::vector<Answer> answered;
    std::vector<uint32_t> started;
    std::vector<UpdateRecord> received;
    UpdateCollector collector;
};

void
ExpectDropped(const Drop& drop, DropReason reason)
{
    ASSERT_TRUE(drop.has_value());
    EXPECT_STREQ(GetDropReasonName(*drop), GetDropReasonName(reason));
}

} // namespace

TEST(UpdateCollector, MovesParticipantsFromPhaseToPhase)
{
    struct Case
    {
        std::string events;
        Phase phase;
        bool hasAnswered;
    };

    const std::vector<Case> cases{
        {"", Phase::OFFERED, false},        {"h", Phase::ACCEPTED, false},
        {"hh", Phase::ACCEPTED, false},     {"h0", Phase::ACCEPTED, false},
        {"h012", Phase::ACCEPTED, false},   {"h0123", Phase::ANSWERED, true}, // complete
        {"h0123d", Phase::ANSWERED, true},  {"h0d", Phase::ANSWERED, true},   // DONE
        {"hd123", Phase::ANSWERED, true},   {"hn", Phase::ANSWERED, true},
        {"hl", Phase::ANSWERED, true}, // left
        {"hll", Phase::ANSWERED, true},     {"l", Phase::UNHEARD, true},
        {"g", Phase::UNHEARD, true}, // no answer to its grants
        {"gg", Phase::UNHEARD, true},       {"gl", Phase::UNHEARD, true},
        {"gh", Phase::ANSWERED, true}, // heard after all
        {"gh0123d", Phase::ANSWERED, true}, {"hdh", Phase::ANSWERED, true},
    };
    for (const Case& one : cases)
    {
        SCOPED_TRACE(one.events);
        Collection collection;
        collection.Play(one.events);
        EXPECT_EQ(collection.Get().phase, one.phase);
        EXPECT_EQ(collection.Get().HasAnswered(), one.hasAnswered);
        EXPECT_EQ(collection.GetUnanswered(), one.hasAnswered ? 0U : 1U);
        EXPECT_EQ(collection.answered.size(), one.hasAnswered ? 1U : 0U) << "told once";
    }
}

TEST(UpdateCollector, SaysWhetherHearingADeviceIsNews)
{
    Collection collection({0, 1});
    EXPECT_TRUE(collection.collector.Hear(0));
    EXPECT_FALSE(collection.collector.Hear(0));
    collection.collector.GiveUp(1);
    EXPECT_TRUE(collection.collector.Hear(1)) << "after giving up";
    EXPECT_FALSE(collection.collector.Hear(1));
    EXPECT_EQ(collection.SendDone(0), std::nullopt);
    EXPECT_FALSE(collection.collector.Hear(0)) << "after its answer";
}

TEST(UpdateCollector, SettlesTheStateOfEachParticipantAtTheEnd)
{
    struct Case
    {
        std::string events;
        uint8_t outcome; // of its DONE, if it sends one
        ParticipantState state;
    };

    const std::vector<Case> cases{
        {"", 0, PARTICIPANT_UNREACHABLE},
        {"g", 0, PARTICIPANT_UNREACHABLE},
        {"h", 0, PARTICIPANT_SILENT},
        {"gh", 0, PARTICIPANT_SILENT},
        {"l", 0, PARTICIPANT_LEFT},
        {"hl", 0, PARTICIPANT_LEFT},
        {"hn", OUTCOME_MODEL_INCOMPLETE, PARTICIPANT_NO_MODEL},
        {"hn", OUTCOME_NOT_FINITE, PARTICIPANT_NOT_FINITE},
        {"hn", OUTCOME_NO_TIME, PARTICIPANT_NO_TIME},
        {"hn", OUTCOME_BUDGET_SPENT, PARTICIPANT_DECLINED},
        {"ghn", OUTCOME_BUDGET_SPENT, PARTICIPANT_DECLINED},
        {"ghn", OUTCOME_NOTHING_LEARNED, PARTICIPANT_EMPTY},
        {"hd", OUTCOME_SENT, PARTICIPANT_LOST},
        {"hdl", OUTCOME_SENT, PARTICIPANT_LOST},
        {"h2", 0, PARTICIPANT_PARTIAL},
        {"h2l", 0, PARTICIPANT_PARTIAL},
        {"h2d", OUTCOME_SENT, PARTICIPANT_PARTIAL},
        {"h2d", OUTCOME_NO_TIME, PARTICIPANT_PARTIAL},
        {"hd2", OUTCOME_SENT, PARTICIPANT_PARTIAL},
        {"gh2", 0, PARTICIPANT_PARTIAL},
        {"h3210", 0, PARTICIPANT_COMPLETE},
        {"h3210l", 0, PARTICIPANT_COMPLETE},
        {"hd0123", OUTCOME_SENT, PARTICIPANT_COMPLETE},
        {"gh0123", 0, PARTICIPANT_COMPLETE},
    };
    for (const Case& one : cases)
    {
        SCOPED_TRACE(one.events);
        Collection collection;
        collection.Play(one.events, one.outcome);
        collection.collector.Finish();
        EXPECT_STREQ(GetParticipantStateName(collection.Get().record.state),
                     GetParticipantStateName(one.state));
    }
}

TEST(UpdateCollector, TellsEachUpdateOnceWhenItIsAnsweredOrTheRoundEnds)
{
    struct Case
    {
        std::string events;
        std::size_t before; // how many times it was told before the round ended
        std::size_t after;
        uint32_t fragments; // what it was told
        bool complete;
    };

    const std::vector<Case> cases{
        {"h0123", 1, 1, 4, true},
        {"h0123dl", 1, 1, 4, true},
        {"h01d", 1, 1, 2, false},
        {"h01d23", 1, 1, 2, false}, // what follows the DONE is not told again
        {"h01l", 1, 1, 2, false},
        {"h01", 0, 1, 2, false},
        {"hd0123", 0, 1, 4, true}, // nothing had been received when it answered
        {"gh0123", 0, 1, 4, true},
        {"hd", 0, 0, 0, false},
        {"g", 0, 0, 0, false},
    };
    for (const Case& one : cases)
    {
        SCOPED_TRACE(one.events);
        Collection collection;
        collection.Play(one.events);
        EXPECT_EQ(collection.received.size(), one.before);
        collection.collector.Finish();
        ASSERT_EQ(collection.received.size(), one.after);
        if (one.after > 0)
        {
            const UpdateRecord& record = collection.received[0];
            EXPECT_EQ(record.round, ROUND);
            EXPECT_EQ(record.device, 0U);
            EXPECT_EQ(record.bits, 4U);
            EXPECT_EQ(record.fragments, one.fragments);
            EXPECT_EQ(record.complete, one.complete);
            EXPECT_EQ(record.time, Seconds(1));
        }
    }
}

TEST(UpdateCollector, HasCountedADeviceBeforeItTellsItsAnswer)
{
    Collection collection({0, 4, 7});
    EXPECT_EQ(collection.GetUnanswered(), 3U);
    collection.collector.GiveUp(7);
    collection.collector.Leave(0);
    collection.SendDone(0, OUTCOME_SENT, 4);
    ASSERT_EQ(collection.answered.size(), 3U);
    const uint32_t order[] = {7, 0, 4};
    for (std::size_t i = 0; i < 3; ++i)
    {
        EXPECT_EQ(collection.answered[i].device, order[i]);
        EXPECT_EQ(collection.answered[i].unanswered, 2 - i);
    }
}

TEST(UpdateCollector, TakesFragmentsThatFollowTheDone)
{
    Collection collection;
    collection.collector.Hear(0);
    EXPECT_EQ(collection.Send(0, MilliSeconds(110)), std::nullopt);
    EXPECT_EQ(collection.SendDone(3), std::nullopt);
    EXPECT_EQ(collection.Send(2, MilliSeconds(130)), std::nullopt);
    EXPECT_EQ(collection.Send(1, MilliSeconds(140)), std::nullopt);
    const LinkRecord& record = collection.Get().record;
    EXPECT_TRUE(record.sentKnown);
    EXPECT_EQ(record.sentFragments, 3U);
    EXPECT_EQ(record.receivedFragments, 3U);
    EXPECT_EQ(record.coordinates, 30U);
    EXPECT_EQ(record.firstReceived, MilliSeconds(110));
    EXPECT_EQ(record.lastReceived, MilliSeconds(140));
    ExpectDropped(collection.Send(3), DROP_INVALID); // more than it said that it sent
    EXPECT_EQ(record.receivedFragments, 3U);
    EXPECT_EQ(record.lastReceived, MilliSeconds(140));
}

TEST(UpdateCollector, TakesNoFragmentOfWhoSaidThatItSentNone)
{
    Collection collection;
    EXPECT_EQ(collection.SendDone(0, OUTCOME_BUDGET_SPENT), std::nullopt);
    ExpectDropped(collection.Send(0), DROP_INVALID);
    collection.collector.Finish();
    EXPECT_EQ(collection.Get().record.state, PARTICIPANT_DECLINED);
}

TEST(UpdateCollector, AssumesThatAllIsSentUntilTheDoneSaysLess)
{
    Collection collection;
    EXPECT_EQ(collection.Get().record.sentFragments, 0U);
    collection.Send(1);
    EXPECT_EQ(collection.Get().record.sentFragments, 4U);
    EXPECT_FALSE(collection.Get().record.sentKnown);
    collection.SendDone(2);
    EXPECT_EQ(collection.Get().record.sentFragments, 2U);
    collection.Send(0);
    EXPECT_EQ(collection.Get().record.sentFragments, 2U);
}

TEST(UpdateCollector, DropsADoneWithImpossibleCounts)
{
    struct Case
    {
        std::string events;
        uint32_t fragments;
        Drop dropped;
    };

    const std::vector<Case> cases{
        {"h01", 1, DROP_INVALID}, // fewer than were received
        {"h01", 2, std::nullopt},
        {"h01", 4, std::nullopt},
        {"h01", 5, DROP_INVALID}, // more than the update has
        {"h", 0, std::nullopt},
        {"h", DIMENSION, std::nullopt}, // an update may have a fragment for each coordinate
        {"h", DIMENSION + 1, DROP_INVALID},
        {"h", 0xffffffff, DROP_INVALID},
    };
    for (const Case& one : cases)
    {
        SCOPED_TRACE(testing::Message() << one.events << ", then " << one.fragments);
        Collection collection;
        collection.Play(one.events);
        EXPECT_EQ(collection.SendDone(one.fragments, OUTCOME_NO_TIME), one.dropped);
        const Participant& participant = collection.Get();
        EXPECT_EQ(participant.record.sentKnown, !one.dropped);
        EXPECT_EQ(participant.HasAnswered(), !one.dropped);
        EXPECT_EQ(participant.record.state, one.dropped ? PARTICIPANT_SILENT : PARTICIPANT_NO_TIME);
    }
}

TEST(UpdateCollector, BelievesTimesOfSendingInsideTheRound)
{
    struct Case
    {
        std::string name;
        uint32_t fragments;
        uint64_t first; // ms
        uint64_t last;
        bool isTaken;
    };

    const std::vector<Case> cases{
        {"inside", 2, 100, 900, true},
        {"from the first to the last instant", 2, 50, 1000, true},
        {"before the round", 2, 49, 900, false},
        {"after its own arrival", 2, 100, 1001, false},
        {"nothing sent, no times", 0, 0, 0, true},
    };
    for (const Case& one : cases)
    {
        SCOPED_TRACE(one.name);
        Collection collection;
        DoneBody body;
        body.firstSentNs = one.first * 1'000'000;
        body.lastSentNs = one.last * 1'000'000;
        body.battery = 0.5F;
        const Drop dropped = collection.SendDone(one.fragments, body);
        EXPECT_EQ(dropped, one.isTaken ? std::nullopt : std::make_optional(DROP_INVALID));
        const LinkRecord& record = collection.Get().record;
        EXPECT_EQ(record.sentKnown, one.isTaken);
        EXPECT_EQ(record.firstSent, one.isTaken ? MilliSeconds(one.first) : Time());
        EXPECT_EQ(record.lastSent, one.isTaken ? MilliSeconds(one.last) : Time());
        EXPECT_EQ(std::isnan(record.battery), !one.isTaken);
    }
}

TEST(UpdateCollector, SaysOnceThatAnUpdateBegins)
{
    Collection collection({0, 1});
    EXPECT_TRUE(collection.started.empty());
    collection.Send(1, Seconds(1), 1);
    collection.Send(0, Seconds(1), 0);
    collection.Send(2, Seconds(1), 1);
    EXPECT_EQ(collection.started, (std::vector<uint32_t>{1, 0}));
}

TEST(UpdateCollector, DropsADoneThatIsMalformedOrRepeated)
{
    Collection collection;
    const uint8_t body[DoneBody::SIZE] = {OUTCOME_SENT};
    FederatedHeader header;
    header.type = FederatedHeader::DONE;
    header.round = ROUND;
    for (const std::size_t size : {std::size_t{0}, DoneBody::SIZE - 1})
    {
        header.Seal(body, size);
        ExpectDropped(collection.collector.TakeDone(0, header, body, Seconds(1)), DROP_MALFORMED);
    }
    ExpectDropped(collection.SendDone(0, OUTCOME_NOTHING_LEARNED + 1), DROP_MALFORMED);
    EXPECT_EQ(collection.GetUnanswered(), 1U);
    EXPECT_EQ(collection.SendDone(0, OUTCOME_NO_TIME), std::nullopt);
    ExpectDropped(collection.SendDone(0, OUTCOME_BUDGET_SPENT), DROP_DUPLICATE);
    EXPECT_EQ(collection.Get().record.state, PARTICIPANT_NO_TIME);
    EXPECT_EQ(collection.answered.size(), 1U);
}

TEST(UpdateCollector, DropsFragmentsThatCannotBeUsed)
{
    Collection collection;
    EXPECT_EQ(collection.Send(1, MilliSeconds(110)), std::nullopt);
    ExpectDropped(collection.Send(1, MilliSeconds(120)), DROP_DUPLICATE);
    collection.sender = Sender(2);
    ExpectDropped(collection.Send(0), DROP_INVALID); // other bits than its own
    collection.sender = Sender(4);
    const uint8_t* part = collection.sender.Make(2);
    collection.sender.header.first = 0; // not where its interval begins
    ExpectDropped(collection.collector.TakeUpdate(0, collection.sender.header, part, 0, Time(0)),
                  DROP_INVALID);
    const LinkRecord& record = collection.Get().record;
    EXPECT_EQ(record.receivedFragments, 1U);
    EXPECT_EQ(record.coordinates, 10U);
    EXPECT_EQ(record.lastReceived, MilliSeconds(110));
}

TEST(UpdateCollector, DropsFloatsThatAreNotFinite)
{
    Collection collection(std::vector<uint32_t>{});
    collection.collector.Add(0, 1, 4, 32, Time(0));
    collection.sender = Sender(32);
    WriteLittleEndianFloat(INFINITY, &collection.sender.payload[60]);
    EXPECT_EQ(collection.Send(0), std::nullopt);
    ExpectDropped(collection.Send(1), DROP_NOT_FINITE);
    EXPECT_EQ(collection.Get().record.receivedFragments, 1U);
}

TEST(UpdateCollector, DropsUpdatesThatAreRotatedUnlikeTheOthers)
{
    for (const bool isRotated : {false, true})
    {
        for (const bool expected : {false, true})
        {
            SCOPED_TRACE(testing::Message() << isRotated << " instead of " << expected);
            Collection collection;
            UpdateCollector::Rules rules;
            rules.round = ROUND;
            rules.dimension = DIMENSION;
            rules.isRotated = expected;
            collection.collector.Begin(rules);
            collection.collector.Add(0, 1, 4, 4, Time(0));
            collection.sender.header.rotated = isRotated;
            EXPECT_EQ(collection.Send(0),
                      isRotated == expected ? std::nullopt : std::make_optional(DROP_INVALID));
            EXPECT_EQ(collection.Get().record.receivedFragments, isRotated == expected ? 1U : 0U);
        }
    }
}

TEST(UpdateCollector, DropsUpdatesThatAreInterleavedUnlikeTheOthers)
{
    for (const bool isInterleaved : {false, true})
    {
        for (const bool expected : {false, true})
        {
            Collection collection;
            UpdateCollector::Rules rules;
            rules.round = ROUND;
            rules.dimension = DIMENSION;
            rules.isInterleaved = expected;
            collection.collector.Begin(rules);
            collection.collector.Add(0, 1, 4, 4, Time(0));
            collection.sender.header.interleaved = isInterleaved;
            EXPECT_EQ(collection.Send(0),
                      isInterleaved == expected ? std::nullopt : std::make_optional(DROP_INVALID));
        }
    }
}

TEST(UpdateCollector, CountsRunsOfLostFragments)
{
    struct Case
    {
        std::string events; //!< As of Collection::Play().
        uint32_t bursts;
    };

    for (const Case& one : std::vector<Case>{{"h0123", 0}, // of four
                                             {"h012d", 1},
                                             {"h01d", 1},
                                             {"h02d", 2},
                                             {"h12d", 2},
                                             {"h1d", 2},
                                             {"h3", 1},
                                             {"hd", 1}, // all lost, as the DONE says
                                             {"hn", 0}, // nothing was sent
                                             {"h", 0}})
    {
        Collection collection;
        collection.Play(one.events);
        collection.collector.Finish();
        EXPECT_EQ(collection.Get().record.lostBursts, one.bursts) << one.events;
    }
    // Fragments that were cut off, and never sent, do not count as lost.
    for (const auto& [sent, bursts] : std::vector<std::pair<uint32_t, uint32_t>>{{1, 0}, {2, 1}})
    {
        Collection collection;
        collection.Play("h0");
        EXPECT_EQ(collection.SendDone(sent), std::nullopt);
        collection.collector.Finish();
        EXPECT_EQ(collection.Get().record.lostBursts, bursts) << sent;
    }
}

TEST(UpdateCollector, DropsUpdatesOnAnotherIntervalThanThePublicOne)
{
    struct Case
    {
        bool isPublic;
        float low;
        float high;
        Drop dropped;
    };

    // Ends of intervals are sent as floats: 0.1 in double precision is not one.
    const std::vector<Case> cases{
        {true, -0.1F, 0.1F, std::nullopt},
        {true, -0.1F, 0.2F, DROP_INVALID},
        {true, -0.2F, 0.1F, DROP_INVALID},
        {true, -0.1F, std::nextafter(0.1F, 1.0F), DROP_INVALID},
        {false, -0.1F, 0.2F, std::nullopt},
    };
    for (const Case& one : cases)
    {
        SCOPED_TRACE(testing::Message() << one.low << " to " << one.high);
        Collection collection;
        UpdateCollector::Rules rules;
        rules.round = ROUND;
        rules.dimension = DIMENSION;
        rules.limits.context.intervalIsPublic = one.isPublic;
        rules.limits.context.low = -0.1;
        rules.limits.context.high = 0.1;
        collection.collector.Begin(rules);
        collection.collector.Add(0, 1, 4, 4, Time(0));
        collection.sender = Sender(4, one.low, one.high);
        EXPECT_EQ(collection.Send(0), one.dropped);
        EXPECT_EQ(collection.Get().record.receivedFragments, one.dropped ? 0U : 1U);
    }
}

TEST(UpdateCollector, DropsFloatsThatNoDeviceCanHaveSent)
{
    struct Case
    {
        float value;
        Drop dropped;
    };

    const std::vector<Case> cases{
        {0, std::nullopt},
        {0.5F, std::nullopt},
        {-0.5F, std::nullopt},
        {std::nextafter(0.5F, 1.0F), DROP_INVALID},
        {-3e38F, DROP_INVALID},
        {std::numeric_limits<float>::infinity(), DROP_NOT_FINITE},
        {std::nanf(""), DROP_NOT_FINITE},
    };
    const auto quantizer = CreateObject<IdentityQuantizer>();
    for (const Case& one : cases)
    {
        SCOPED_TRACE(one.value);
        Collection collection;
        UpdateCollector::Rules rules;
        rules.round = ROUND;
        rules.dimension = DIMENSION;
        rules.limits.quantizer = PeekPointer(quantizer);
        rules.limits.maxCoordinate = 0.5;
        collection.collector.Begin(rules);
        collection.collector.Add(0, 1, 4, 32, Time(0));
        collection.sender = Sender(32);
        WriteLittleEndianFloat(one.value, &collection.sender.payload[4 * std::size_t{13}]);
        EXPECT_EQ(collection.Send(0), std::nullopt);
        EXPECT_EQ(collection.Send(1), one.dropped);
        EXPECT_EQ(collection.Send(2), std::nullopt);
        EXPECT_EQ(collection.Get().record.receivedFragments, one.dropped ? 2U : 3U);
        EXPECT_EQ(collection.Get().record.coordinates, one.dropped ? 20U : 30U);
    }
}

TEST(UpdateCollector, CountsAnswersOfFragmentsThatItHasNotReceivedBefore)
{
    auto quantizer = CreateObject<RandomCoordinatesQuantizer>();
    quantizer->SetCoordinates(20);
    Collection collection;
    UpdateCollector::Rules rules;
    rules.round = ROUND;
    rules.dimension = DIMENSION;
    rules.limits.quantizer = PeekPointer(quantizer);
    collection.collector.Begin(rules);
    collection.collector.Add(0, 1, 2, 2, Time(0));
    collection.sender = Sender(2); // all levels are 0: each fragment has 10 or 12 answers
    EXPECT_EQ(collection.Send(0), std::nullopt);
    EXPECT_EQ(collection.Send(0), DROP_DUPLICATE);
    EXPECT_EQ(collection.Send(0), DROP_DUPLICATE) << "though it would be too many";
    EXPECT_EQ(collection.Send(2), DROP_INVALID);
    EXPECT_EQ(collection.Get().record.receivedFragments, 1U);
}

TEST(UpdateCollector, IgnoresDevicesThatLeaveAfterTheirAnswerOrTakeNoPart)
{
    Collection collection({0, 1});
    collection.Play("h0123");
    collection.collector.Leave(0);
    collection.collector.Leave(9);
    EXPECT_EQ(collection.GetUnanswered(), 1U);
    EXPECT_EQ(collection.answered.size(), 1U);
    EXPECT_EQ(collection.received.size(), 1U);
    EXPECT_EQ(collection.collector.Find(9), nullptr);
    collection.collector.Finish();
    EXPECT_EQ(collection.Get(0).record.state, PARTICIPANT_COMPLETE);
    EXPECT_EQ(collection.Get(1).record.state, PARTICIPANT_UNREACHABLE);
}

TEST(UpdateCollector, SaysWhyMessagesOfOtherRoundsAreDropped)
{
    struct Case
    {
        std::string name;
        FederatedHeader::Type type;
        uint32_t round;
        bool isOver;
        bool isCurrent;
        Drop dropped;
    };

    const std::vector<Case> cases{
        {"update", FederatedHeader::UPDATE, ROUND, false, true, DROP_LATE},
        {"update after the end", FederatedHeader::UPDATE, ROUND, true, false, DROP_LATE},
        {"old update", FederatedHeader::UPDATE, ROUND - 1, false, false, DROP_OLD},
        {"old update after the end", FederatedHeader::UPDATE, ROUND - 1, true, false, DROP_OLD},
        {"future update", FederatedHeader::UPDATE, ROUND + 1, false, false, DROP_INVALID},
        {"old acknowledgment", FederatedHeader::ACK, ROUND - 1, false, false, DROP_OLD},
        {"late repair", FederatedHeader::REPAIR, ROUND, true, false, DROP_LATE},
        // The DONE behind a complete update usually finds that the next round has begun.
        {"old DONE", FederatedHeader::DONE, ROUND - 1, false, false, std::nullopt},
        {"DONE of long ago", FederatedHeader::DONE, 0, false, false, std::nullopt},
        {"DONE after the end", FederatedHeader::DONE, ROUND, true, false, std::nullopt},
        {"future DONE", FederatedHeader::DONE, ROUND + 1, false, false, DROP_INVALID},
        {"future DONE after the end", FederatedHeader::DONE, ROUND + 1, true, false, DROP_INVALID},
    };
    for (const Case& one : cases)
    {
        SCOPED_TRACE(one.name);
        Collection collection;
        if (one.isOver)
        {
            collection.collector.Finish();
        }
        FederatedHeader header;
        header.type = one.type;
        header.round = one.round;
        EXPECT_EQ(collection.collector.IsCurrent(header), one.isCurrent);
        if (!one.isCurrent)
        {
            EXPECT_EQ(collection.collector.GetStaleReason(header), one.dropped);
        }
    }
}

TEST(UpdateCollector, RemembersWhichPacketCarriedWhatOnlyIfAsked)
{
    for (const bool remember : {false, true})
    {
        Collection collection({0}, remember);
        collection.Send(2);
        collection.Send(0);
        collection.Send(0); // a duplicate is not remembered
        const std::vector<CollectedFragment>& fragments = collection.Get().fragments;
        if (!remember)
        {
            EXPECT_TRUE(fragments.empty());
            continue;
        }
        ASSERT_EQ(fragments.size(), 2U);
        EXPECT_EQ(fragments[0].begin, 20U);
        EXPECT_EQ(fragments[0].end, 30U);
        EXPECT_EQ(fragments[0].packet, 1002U);
        EXPECT_EQ(fragments[1].begin, 0U);
        EXPECT_EQ(fragments[1].end, 10U);
        EXPECT_EQ(fragments[1].packet, 1000U);
    }
}

TEST(UpdateCollector, ObservesWhatTheMeterNeeds)
{
    Collection collection({3, 0});
    collection.collector.Hear(0);
    collection.Send(1, MilliSeconds(110));
    collection.Send(3, MilliSeconds(130));
    collection.Send(2, MilliSeconds(150)); // out of order
    collection.SendDone(3);
    const auto observations = collection.collector.GetObservations();
    ASSERT_EQ(observations.size(), 2U);
    const UplinkObservation& seen = observations[0];
    EXPECT_EQ(seen.device, 0U);
    EXPECT_EQ(seen.wireBits, 4U);
    EXPECT_EQ(seen.dimension, DIMENSION);
    EXPECT_EQ(seen.slotStart, MilliSeconds(100));
    EXPECT_EQ(seen.receivedFragments, 3U);
    EXPECT_EQ(seen.firstReceived, MilliSeconds(110));
    EXPECT_EQ(seen.lastReceived, MilliSeconds(150));
    EXPECT_EQ(seen.firstEnd, 20U);
    EXPECT_EQ(seen.lastEnd, 30U) << "of the one received last, not of the last one";
    EXPECT_EQ(seen.delivered, 30);
    EXPECT_EQ(seen.fragments, 4U);
    EXPECT_TRUE(seen.sentKnown);
    EXPECT_EQ(seen.sentFragments, 3U);
    EXPECT_EQ(observations[1].device, 3U);
    EXPECT_EQ(observations[1].receivedFragments, 0U);
    EXPECT_FALSE(observations[1].sentKnown);
}

TEST(UpdateCollector, RecordsWhoTakesPart)
{
    Collection collection(std::vector<uint32_t>{});
    collection.collector.Add(6, 2, 5, 32, Seconds(3));
    const Participant& participant = collection.Get(6);
    EXPECT_EQ(participant.record.device, 6U);
    EXPECT_EQ(participant.record.group, 2U);
    EXPECT_EQ(participant.record.bits, 5U);
    EXPECT_EQ(participant.record.wireBits, 32U);
    EXPECT_EQ(participant.slotStart, Seconds(3));
    EXPECT_EQ(collection.collector.GetParticipants().size(), 1U);
}

TEST(UpdateCollector, ForgetsARoundWhenTheNextOneBegins)
{
    Collection collection({0, 1});
    collection.Play("h01");
    UpdateCollector::Rules rules;
    rules.round = ROUND + 1;
    rules.dimension = DIMENSION;
    collection.collector.Begin(rules);
    EXPECT_EQ(collection.GetUnanswered(), 0U);
    EXPECT_TRUE(collection.collector.GetParticipants().empty());
    EXPECT_TRUE(collection.collector.GetObservations().empty());
    FederatedHeader header;
    header.type = FederatedHeader::UPDATE;
    header.round = ROUND;
    EXPECT_FALSE(collection.collector.IsCurrent(header));
    header.round = ROUND + 1;
    EXPECT_TRUE(collection.collector.IsCurrent(header));
    collection.collector.Add(0, 1, 4, 4, Time(0));
    EXPECT_EQ(collection.Get().phase, Phase::OFFERED);
    EXPECT_EQ(collection.Get().record.receivedFragments, 0U);
    collection.collector.Clear();
    EXPECT_FALSE(collection.collector.IsCurrent(header));
    EXPECT_EQ(collection.collector.Find(0), nullptr);
    EXPECT_TRUE(collection.received.empty()) << "no round has ended";
}
