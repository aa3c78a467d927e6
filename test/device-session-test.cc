// SPDX-License-Identifier: GPL-2.0-only

#include "ns3/device-session.h"
#include "ns3/dp-stochastic-quantizer.h"
#include "ns3/identity-quantizer.h"
#include "ns3/little-endian.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace ns3;
using namespace ns3::federated;

namespace
{

using Phase = DeviceSession::Phase;
using Drop = std::optional<DropReason>;
using Ranges = std::vector<std::pair<uint32_t, uint32_t>>;

constexpr std::size_t DIMENSION = 40;
constexpr std::size_t MODEL_ROOM = 44 + 40; // of a header and ten floats

/** @return a slot from 5 to 6 s and a deadline at 10 s, for a device that trains 2 s. */
DeviceSession::Terms
MakeTerms()
{
    DeviceSession::Terms terms;
    terms.round = 3;
    terms.device = 6;
    terms.dimension = DIMENSION;
    terms.bits = 4;
    terms.wireBits = 4;
    terms.modelFragments = 4;
    terms.modelEnd = Seconds(1);
    terms.slotStart = Seconds(5);
    terms.slotLength = Seconds(1);
    terms.deadline = Seconds(10);
    terms.trainingTime = Seconds(2);
    return terms;
}

/** @return the coordinates 100, 101, ... of the model. */
std::vector<float>
MakeModel()
{
    std::vector<float> model(DIMENSION);
    for (std::size_t i = 0; i < DIMENSION; ++i)
    {
        model[i] = 100 + static_cast<float>(i);
    }
    return model;
}

/** A session and the center that sends it the model in four fragments. */
struct Session
{
    explicit Session(const DeviceSession::Terms& terms = MakeTerms())
        : session(terms),
          fragments(PlanFragments(DIMENSION, 32, {}, MODEL_ROOM))
    {
        const std::vector<float> model = MakeModel();
        for (std::size_t i = 0; i < DIMENSION; ++i)
        {
            WriteLittleEndianFloat(model[i], payload.data() + 4 * i);
        }
        header.type = FederatedHeader::MODEL;
        header.round = 3;
        header.device = FederatedHeader::ALL_DEVICES;
    }

    const uint8_t* Make(std::size_t index)
    {
        FillFragment(fragments.at(index), index, fragments.size(), 32, {}, header);
        const uint8_t* part = payload.data() + fragments[index].GetPayloadOffset(32);
        header.Seal(part, fragments[index].GetPayloadSize(32));
        return part;
    }

    Drop Send(std::size_t index, const Time& now = Seconds(1))
    {
        const uint8_t* part = Make(index);
        return session.TakeModel(header, part, now);
    }

    /** Train on nothing, and give an update as training would. */
    LocalUpdate& Train(unsigned wireBits = 4)
    {
        const std::vector<float> previous(DIMENSION);
        session.StartTraining(std::make_shared<LocalUpdate>(), &previous);
        LocalUpdate& update = session.GetUpdate();
        quantizer = wireBits == 32 ? Ptr<Quantizer>(CreateObject<IdentityQuantizer>())
                                   : Ptr<Quantizer>(CreateObject<DpStochasticQuantizer>());
        update.settings.quantizer = PeekPointer(quantizer);
        update.settings.bits = 4;
        update.payload.resize(DIMENSION * wireBits / 8);
        for (std::size_t i = 0; i < update.payload.size(); ++i)
        {
            update.payload[i] = static_cast<uint8_t>(i);
        }
        update.intervals = {{0, 12, -1, 1}, {12, DIMENSION, -2, 2}};
        update.wireBits = wireBits;
        update.valid = true;
        return update;
    }

    DeviceSession session;
    std::vector<Fragment> fragments; // of the model
    std::vector<uint8_t> payload = std::vector<uint8_t>(4 * DIMENSION);
    FederatedHeader header;
    Ptr<Quantizer> quantizer;
};

void
ExpectDropped(const Drop& drop, DropReason reason)
{
    ASSERT_TRUE(drop.has_value());
    EXPECT_STREQ(GetDropReasonName(*drop), GetDropReasonName(reason));
}

} // namespace

TEST(DeviceSession, LimitsTimesThatSumsWouldOverflow)
{
    EXPECT_EQ(DeviceSession::LimitTime(0), Time(0));
    EXPECT_EQ(DeviceSession::LimitTime(1'000'000'000), Seconds(1));
    const Time longest = DeviceSession::LimitTime(std::numeric_limits<int64_t>::max());
    EXPECT_EQ(longest, Time::Max() / 2);
    DeviceSession::Terms terms{};
    terms.dimension = 10;
    terms.deadline = longest;
    terms.slotLength = longest;
    terms.trainingTime = Time::Max() / 4;
    EXPECT_LT(DeviceSession(terms).GetLatestStart(false, Seconds(1), Seconds(1)), Seconds(1));
}

TEST(DeviceSession, GoesFromReceivingToSending)
{
    Session test;
    EXPECT_EQ(test.session.GetPhase(), Phase::RECEIVING);
    EXPECT_EQ(test.session.GetTerms().slotStart, Seconds(5));
    for (std::size_t i = 0; i < 4; ++i)
    {
        EXPECT_FALSE(test.session.HasModel());
        EXPECT_EQ(test.Send(i), std::nullopt);
        EXPECT_EQ(test.session.GetPhase(), Phase::RECEIVING);
    }
    EXPECT_TRUE(test.session.HasModel());
    test.Train();
    EXPECT_EQ(test.session.GetPhase(), Phase::TRAINING);
    EXPECT_FALSE(test.session.HasFragment());
    test.session.StartWaiting(1400, Seconds(5));
    EXPECT_EQ(test.session.GetPhase(), Phase::WAITING);
    EXPECT_TRUE(test.session.HasFragment());
    test.session.StartSending(Seconds(5));
    EXPECT_EQ(test.session.GetPhase(), Phase::SENDING);
}

TEST(DeviceSession, KnowsWhenTrainingHasToBeginAtTheLatest)
{
    struct Case
    {
        std::string name;
        bool usesPrevious;
        Time now;
        Time latest;
    };

    // Slot at 5 s, deadline 10 s; training takes 2 s, sending 1 s, repairs get 50 ms.
    const std::vector<Case> cases{
        {"by the deadline", false, Seconds(0), Seconds(7)},
        {"by the deadline, granted late", false, Seconds(8), Seconds(7)},
        {"in time for the slot", true, Seconds(0), Seconds(3)},
        {"just in time for the slot", true, Seconds(3) - NanoSeconds(1), Seconds(3)},
        {"too late for the slot", true, Seconds(3), MilliSeconds(3050)},
        {"much too late for the slot", true, Seconds(6), MilliSeconds(6050)},
        {"hardly before the deadline", true, MilliSeconds(6980), Seconds(7)},
        {"too late for the deadline", true, Seconds(8), Seconds(7)},
    };
    for (const Case& one : cases)
    {
        const Session test;
        EXPECT_EQ(test.session.GetLatestStart(one.usesPrevious, one.now, MilliSeconds(50)),
                  one.latest)
            << one.name;
    }
    // A slot that ends behind the deadline does not make the latest start later.
    DeviceSession::Terms terms = MakeTerms();
    terms.slotStart = MilliSeconds(9500);
    EXPECT_EQ(Session(terms).session.GetLatestStart(true, Time(0), MilliSeconds(50)), Seconds(7));
    // No time at all: before now.
    terms.trainingTime = Seconds(20);
    EXPECT_LT(Session(terms).session.GetLatestStart(false, Time(0), MilliSeconds(50)), Time(0));
    EXPECT_LT(Session(terms).session.GetLatestStart(true, Time(0), MilliSeconds(50)), Time(0));
}

TEST(DeviceSession, DropsFragmentsOfTheModelThatDoNotBelongToIt)
{
    struct Case
    {
        std::string name;
        void (*change)(FederatedHeader&);
        Drop dropped;
    };

    const std::vector<Case> cases{
        {"unchanged", [](FederatedHeader&) {}, std::nullopt},
        {"earlier round", [](FederatedHeader& header) { header.round = 2; }, DROP_OLD},
        {"later round", [](FederatedHeader& header) { header.round = 4; }, DROP_OLD},
        {"other fragments", [](FederatedHeader& header) { header.fragments = 5; }, DROP_INVALID},
        {"for one device", [](FederatedHeader& header) { header.device = 6; }, DROP_INVALID},
        {"other bits", [](FederatedHeader& header) { header.bits = 16; }, DROP_INVALID},
        {"beyond the model", [](FederatedHeader& header) { header.first = 35; }, DROP_INVALID},
    };
    for (const Case& one : cases)
    {
        SCOPED_TRACE(one.name);
        Session test;
        const uint8_t* part = test.Make(1);
        one.change(test.header);
        EXPECT_EQ(test.session.TakeModel(test.header, part, Seconds(1)), one.dropped);
        EXPECT_EQ(test.session.GetSilence(Seconds(1)), one.dropped ? Time::Max() : Time(0));
    }
    Session test;
    EXPECT_EQ(test.Send(1), std::nullopt);
    ExpectDropped(test.Send(1), DROP_DUPLICATE);
    WriteLittleEndianFloat(NAN, test.payload.data());
    ExpectDropped(test.Send(0), DROP_NOT_FINITE);
}

TEST(DeviceSession, MeasuresSilenceFromTheLastFragmentThatWasTaken)
{
    Session test;
    EXPECT_EQ(test.session.GetSilence(Seconds(1)), Time::Max()) << "nothing was received";
    test.Send(0, Seconds(1));
    EXPECT_EQ(test.session.GetSilence(MilliSeconds(1250)), MilliSeconds(250));
    test.Send(0, Seconds(2)); // a duplicate
    EXPECT_EQ(test.session.GetSilence(Seconds(2)), Seconds(1));
    test.Send(3, Seconds(2));
    EXPECT_EQ(test.session.GetSilence(Seconds(2)), Time(0));
}

TEST(DeviceSession, ListsMissingFragmentsOfTheModel)
{
    Session test;
    EXPECT_EQ(test.session.GetMissing(10), (Ranges{{0, 4}})) << "as many as the grant says";
    test.Send(1);
    EXPECT_EQ(test.session.GetMissing(10), (Ranges{{0, 1}, {2, 2}}));
    EXPECT_EQ(test.session.GetMissing(1), (Ranges{{0, 1}})) << "as many ranges as there is room";
    test.Send(0);
    test.Send(3);
    EXPECT_EQ(test.session.GetMissing(10), (Ranges{{2, 1}}));
    test.Send(2);
    EXPECT_TRUE(test.session.GetMissing(10).empty());
}

TEST(DeviceSession, TrainsOnWhatItReceivedAndThePreviousModelForTheRest)
{
    struct Case
    {
        std::vector<std::size_t> received;
        std::vector<bool> isNew; // by fragment
    };

    const std::vector<Case> cases{
        {{}, {false, false, false, false}},
        {{1}, {false, true, false, false}},
        {{3, 0}, {true, false, false, true}},
        {{2, 1, 0}, {true, true, true, false}},
        {{0, 1, 2, 3}, {true, true, true, true}},
    };
    const std::vector<float> previous(DIMENSION, -7);
    for (const Case& one : cases)
    {
        SCOPED_TRACE(testing::Message() << one.received.size() << " fragments");
        Session test;
        for (const std::size_t index : one.received)
        {
            ASSERT_EQ(test.Send(index), std::nullopt);
        }
        test.session.StartTraining(std::make_shared<LocalUpdate>(), &previous);
        const std::vector<float>& model = test.session.GetUpdate().model;
        ASSERT_EQ(model.size(), DIMENSION);
        for (std::size_t i = 0; i < DIMENSION; ++i)
        {
            EXPECT_EQ(model[i], one.isNew[i / 10] ? 100 + static_cast<float>(i) : -7) << i;
        }
    }
}

TEST(DeviceSession, NeedsNoPreviousModelIfItHasAll)
{
    Session test;
    for (std::size_t i = 0; i < 4; ++i)
    {
        test.Send(i);
    }
    test.session.StartTraining(std::make_shared<LocalUpdate>(), nullptr);
    EXPECT_EQ(test.session.GetUpdate().model, MakeModel());
}

TEST(DeviceSession, CutsTheUpdateIntoFragments)
{
    Session test;
    const LocalUpdate& update = test.Train();
    // 10 coordinates of 4 bits and one interval in a message; the second interval begins at 12.
    test.session.StartWaiting(44 + 12 + 5, Seconds(5));
    EXPECT_EQ(test.session.GetSent().planned, 5U); // 10 + 2 + 10 + 10 + 8
    test.session.StartSending(Seconds(5));
    std::vector<uint8_t> payload;
    std::size_t covered = 0;
    uint32_t index = 0;
    FederatedHeader header;
    while (test.session.HasFragment())
    {
        const DeviceSession::Piece piece = test.session.NextFragment(header);
        EXPECT_EQ(header.type, FederatedHeader::UPDATE);
        EXPECT_EQ(header.round, 3U);
        EXPECT_EQ(header.fragment, index++);
        EXPECT_EQ(header.fragments, test.session.GetSent().planned);
        EXPECT_EQ(header.first, covered);
        EXPECT_EQ(header.bits, 4U);
        EXPECT_TRUE(std::isnan(header.distortion)) << "not reported";
        EXPECT_EQ(piece.size, header.coordinates / 2);
        header.Seal(piece.payload, piece.size);
        EXPECT_TRUE(header.IsValid());
        EXPECT_LE(header.GetSize() + piece.size, 44U + 12 + 5);
        for (const IntervalRange& interval : header.intervals)
        {
            EXPECT_EQ(interval.high, interval.end <= 12 ? 1 : 2);
        }
        payload.insert(payload.end(), piece.payload, piece.payload + piece.size);
        covered += header.coordinates;
    }
    EXPECT_EQ(covered, DIMENSION);
    EXPECT_EQ(payload, update.payload);
    EXPECT_EQ(index, test.session.GetSent().planned);
}

TEST(DeviceSession, SendsFloatsWithoutIntervals)
{
    DeviceSession::Terms terms = MakeTerms();
    terms.wireBits = 32;
    Session test(terms);
    test.Train(32);
    test.session.StartWaiting(44 + 80, Seconds(5)); // twenty floats
    EXPECT_EQ(test.session.GetSent().planned, 2U);
    test.session.StartSending(Seconds(5));
    FederatedHeader header;
    EXPECT_EQ(test.session.NextFragment(header).size, 80U);
    EXPECT_TRUE(header.intervals.empty());
}

TEST(DeviceSession, SendsAllCoordinatesOfARotatedUpdate)
{
    DeviceSession::Terms terms = MakeTerms();
    terms.wireBits = 32;
    Session test(terms);
    LocalUpdate& update = test.Train(32);
    update.settings.rotation = PublicRotation(1, 3);
    update.payload.resize(4 * std::size_t{64});     // 40 coordinates rotated to 64
    test.session.StartWaiting(44 + 80, Seconds(5)); // twenty floats
    EXPECT_EQ(test.session.GetSent().planned, 4U);
    test.session.StartSending(Seconds(5));
    std::size_t covered = 0;
    while (test.session.HasFragment())
    {
        FederatedHeader header;
        const DeviceSession::Piece piece = test.session.NextFragment(header);
        EXPECT_TRUE(header.rotated);
        header.Seal(piece.payload, piece.size);
        EXPECT_TRUE(header.IsValid());
        covered += header.coordinates;
    }
    EXPECT_EQ(covered, 64U);
}

TEST(DeviceSession, ReportsTheDistortionIfItIsToldTo)
{
    Session test;
    LocalUpdate& update = test.Train();
    update.settings.reportDistortion = true;
    update.distortion = 0.125;
    test.session.StartWaiting(1400, Seconds(5));
    test.session.StartSending(Seconds(5));
    FederatedHeader header;
    test.session.NextFragment(header);
    EXPECT_EQ(header.distortion, 0.125F);
}

TEST(DeviceSession, SpreadsFragmentsEvenlyOverTheSlot)
{
    DeviceSession::Terms terms = MakeTerms();
    terms.slotLength = NanoSeconds(1000); // not a multiple of the fragments
    Session test(terms);
    test.Train().intervals = {{0, DIMENSION, -1, 1}};
    test.session.StartWaiting(44 + 12 + 3, Seconds(5)); // 6 coordinates: 7 fragments
    ASSERT_EQ(test.session.GetSent().planned, 7U);
    const Time start = Seconds(5) + MilliSeconds(300); // later than planned
    test.session.StartSending(start);
    // 1000/7 = 142.86: rounding does not add up.
    const int64_t offsets[] = {0, 142, 285, 428, 571, 714, 857};
    FederatedHeader header;
    for (const int64_t offset : offsets)
    {
        ASSERT_TRUE(test.session.HasFragment());
        EXPECT_EQ(test.session.GetNextTime(), start + NanoSeconds(offset));
        test.session.NextFragment(header);
    }
    EXPECT_FALSE(test.session.HasFragment());
}

TEST(DeviceSession, RecordsWhatWasSent)
{
    Session test;
    test.Train();
    test.session.StartWaiting(44 + 24 + 5, Seconds(5));
    SentRecord sent = test.session.GetSent();
    EXPECT_EQ(sent.round, 3U);
    EXPECT_EQ(sent.device, 6U);
    EXPECT_EQ(sent.bits, 4U);
    EXPECT_EQ(sent.wireBits, 4U);
    EXPECT_EQ(sent.fragments, 0U);
    EXPECT_EQ(sent.planned, 2U); // 12 coordinates, then 28: each with an interval of its own
    EXPECT_EQ(sent.bytes, 0U);
    EXPECT_EQ(sent.firstSent, Seconds(5));
    EXPECT_EQ(sent.lastSent, Seconds(5));
    test.session.StartSending(Seconds(5));
    test.session.CountSent(100, Seconds(5));
    test.session.CountSent(70, MilliSeconds(5250));
    sent = test.session.GetSent();
    EXPECT_EQ(sent.fragments, 2U);
    EXPECT_EQ(sent.bytes, 170U);
    EXPECT_EQ(sent.firstSent, Seconds(5));
    EXPECT_EQ(sent.lastSent, MilliSeconds(5250));
    test.session.SetLastSent(Seconds(7)); // it waited in the buffer of TCP
    sent = test.session.GetSent();
    EXPECT_EQ(sent.lastSent, Seconds(7));
    EXPECT_EQ(sent.fragments, 2U);
}

TEST(DeviceSession, HoldsMemoryOnlyForWhatItHas)
{
    Session test;
    EXPECT_EQ(test.session.GetBufferedBytes(), 0U) << "a grant takes no memory";
    test.Send(2);
    EXPECT_EQ(test.session.GetBufferedBytes(), 4 * DIMENSION);
    test.Send(3);
    EXPECT_EQ(test.session.GetBufferedBytes(), 4 * DIMENSION);
    LocalUpdate& update = test.Train();
    EXPECT_EQ(test.session.GetBufferedBytes(), 4 * DIMENSION + DIMENSION / 2);
    update.model = std::vector<float>();
    EXPECT_EQ(test.session.GetBufferedBytes(), DIMENSION / 2);
}
