// SPDX-License-Identifier: GPL-2.0-only

#include "allocation-counter.h"

#include "ns3/double.h"
#include "ns3/dp-stochastic-quantizer.h"
#include "ns3/federated-random.h"
#include "ns3/fragment-assembler.h"
#include "ns3/fragmentation.h"
#include "ns3/identity-quantizer.h"
#include "ns3/little-endian.h"
#include "ns3/object-factory.h"
#include "ns3/optimal-dp-quantizer.h"
#include "ns3/random-coordinates-quantizer.h"
#include "ns3/randomized-response-quantizer.h"
#include "ns3/string.h"
#include "ns3/uniform-fusion.h"
#include "ns3/update-fusion.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

using namespace ns3;
using namespace ns3::federated;

namespace
{

bool
HasPayload(const FragmentAssembler& assembler, const std::vector<uint8_t>& payload)
{
    return std::memcmp(assembler.GetPayload(), payload.data(), payload.size()) == 0;
}

using Ranges = std::vector<std::pair<uint32_t, uint32_t>>;

/** A payload cut into fragments, as a sender has it. */
struct Sender
{
    Sender(std::size_t d,
           unsigned b,
           std::vector<IntervalRange> i,
           std::size_t fragmentSize,
           FederatedRandom& random)
        : dimension(d),
          bits(b),
          intervals(std::move(i)),
          payload(BitPacker::GetSize(d, b)),
          fragments(PlanFragments(d, b, intervals, fragmentSize))
    {
        for (auto& byte : payload)
        {
            byte = static_cast<uint8_t>(random.Below(100)); // floats stay finite
        }
        if (bits < 8 && dimension * bits % 8 != 0)
        {
            payload.back() &= (1U << dimension * bits % 8) - 1;
        }
        header.type = FederatedHeader::UPDATE;
    }

    /** @return the payload of a fragment, whose header is set. */
    const uint8_t* Make(std::size_t index)
    {
        const Fragment& fragment = fragments[index];
        FillFragment(fragment, index, fragments.size(), bits, intervals, header);
        header.payloadLength = static_cast<uint16_t>(fragment.GetPayloadSize(bits));
        return payload.data() + fragment.GetPayloadOffset(bits);
    }

    FragmentAssembler::Result Send(std::size_t index, FragmentAssembler& assembler)
    {
        const uint8_t* part = Make(index);
        // Exactly as large as needed, so that a sanitizer sees every stray access.
        const std::vector<uint8_t> copy(part, part + header.payloadLength);
        return assembler.Accept(header, copy.data());
    }

    std::size_t dimension;
    unsigned bits;
    std::vector<IntervalRange> intervals;
    std::vector<uint8_t> payload;
    std::vector<Fragment> fragments;
    FederatedHeader header;
};

std::vector<IntervalRange>
MakeLayers()
{
    return {{0, 150, -1, 1}, {150, 156, 0, 0.5F}, {156, 2556, 0, 0.5F}, {2556, 3001, -3, 2}};
}

/** What becomes of a fragment of a 4-bit update whose header has been changed. */
FragmentAssembler::Result
AcceptChanged(void (*change)(FederatedHeader&), std::size_t index = 1)
{
    FederatedRandom random(51);
    Sender sender(3001, 4, MakeLayers(), 300, random);
    FragmentAssembler assembler(3001, 4);
    EXPECT_EQ(sender.Send(0, assembler), FragmentAssembler::ACCEPTED);
    const uint8_t* part = sender.Make(index);
    change(sender.header);
    const auto result = assembler.Accept(sender.header, part);
    EXPECT_EQ(assembler.GetReceived(), result == FragmentAssembler::ACCEPTED ? 2U : 1U);
    return result;
}

} // namespace

TEST(FragmentAssembler, TakesFragmentsInAnyOrderWithLossAndRepeats)
{
    FederatedRandom random(52);
    for (int trial = 0; trial < 300; ++trial)
    {
        const unsigned bits = trial % 17 == 16 ? 32 : trial % 17 + 1;
        Sender sender(3001,
                      bits,
                      bits == 32 ? std::vector<IntervalRange>() : MakeLayers(),
                      100 + random.Below(300),
                      random);
        std::vector<std::size_t> order(sender.fragments.size());
        std::iota(order.begin(), order.end(), 0);
        random.Shuffle(order);
        const double loss = random.Uniform();
        FragmentAssembler assembler(sender.dimension, bits);
        std::vector<bool> has(sender.fragments.size());
        std::vector<uint8_t> expected(sender.payload.size());
        std::vector<bool> coordinates(sender.dimension);
        for (const std::size_t index : order)
        {
            if (random.Uniform() < loss)
            {
                continue;
            }
            ASSERT_EQ(sender.Send(index, assembler), FragmentAssembler::ACCEPTED);
            ASSERT_EQ(sender.Send(index, assembler), FragmentAssembler::DUPLICATE);
            has[index] = true;
            const Fragment& fragment = sender.fragments[index];
            const std::size_t offset = fragment.GetPayloadOffset(bits);
            std::copy_n(sender.payload.begin() + offset,
                        fragment.GetPayloadSize(bits),
                        expected.begin() + offset);
            std::fill(
                coordinates.begin() + fragment.begin, coordinates.begin() + fragment.end, true);
        }
        const auto received = std::count(has.begin(), has.end(), true);
        ASSERT_EQ(assembler.GetReceived(), received);
        ASSERT_EQ(assembler.IsComplete(), received == std::ptrdiff_t(has.size()));
        ASSERT_EQ(assembler.GetFragments(), received > 0 ? has.size() : 0);
        ASSERT_EQ(assembler.GetBufferedBytes() > 0, received > 0);
        ASSERT_TRUE(received == 0 || HasPayload(assembler, expected));

        // Ranges and intervals say what came, and nothing else.
        std::vector<bool> fromRanges(sender.dimension);
        std::size_t last = 0;
        for (const auto& range : assembler.GetRanges())
        {
            ASSERT_LT(range.begin, range.end);
            ASSERT_TRUE(range.begin > last || last == 0);
            last = range.end;
            std::fill(fromRanges.begin() + range.begin, fromRanges.begin() + range.end, true);
        }
        ASSERT_EQ(fromRanges, coordinates);
        if (bits != 32)
        {
            std::vector<bool> fromIntervals(sender.dimension);
            const IntervalRange* previous = nullptr;
            for (const auto& interval : assembler.GetIntervals())
            {
                ASSERT_LT(interval.begin, interval.end);
                ASSERT_FALSE(previous && previous->end == interval.begin &&
                             previous->low == interval.low && previous->high == interval.high);
                previous = &interval;
                for (std::size_t i = interval.begin; i < interval.end; ++i)
                {
                    ASSERT_FALSE(fromIntervals[i]);
                    fromIntervals[i] = true;
                    const auto& layer =
                        *std::find_if(sender.intervals.begin(),
                                      sender.intervals.end(),
                                      [i](const auto& candidate) { return i < candidate.end; });
                    ASSERT_EQ(interval.low, layer.low);
                    ASSERT_EQ(interval.high, layer.high);
                }
            }
            ASSERT_EQ(fromIntervals, coordinates);
        }

        // What is missing, sent again, completes it.
        for (const auto& [first, count] :
             assembler.GetMissing(has.size(), static_cast<uint32_t>(has.size())))
        {
            for (uint32_t index = first; index < first + count; ++index)
            {
                ASSERT_FALSE(has[index]);
                ASSERT_EQ(sender.Send(index, assembler), FragmentAssembler::ACCEPTED);
            }
        }
        ASSERT_TRUE(assembler.IsComplete());
        ASSERT_TRUE(HasPayload(assembler, sender.payload));
        ASSERT_TRUE(assembler.GetMissing(has.size()).empty());
        ASSERT_EQ(assembler.GetRanges().size(), 1U);
    }
}

TEST(FragmentAssembler, ListsMissingFragmentsAsRanges)
{
    FederatedRandom random(53);
    Sender sender(1000, 32, {}, 144, random); // 40 fragments of 25
    FragmentAssembler assembler(1000, 32);
    EXPECT_TRUE(assembler.GetMissing(10).empty());
    EXPECT_EQ(assembler.GetMissing(10, 40), (Ranges{{0, 40}}));
    for (const std::size_t index : {0, 1, 5, 6, 20, 39})
    {
        EXPECT_EQ(sender.Send(index, assembler), FragmentAssembler::ACCEPTED);
    }
    EXPECT_EQ(assembler.GetMissing(10), (Ranges{{2, 3}, {7, 13}, {21, 18}}));
    EXPECT_EQ(assembler.GetMissing(2, 7), (Ranges{{2, 3}, {7, 13}}));
    EXPECT_TRUE(assembler.GetMissing(0).empty());
}

TEST(FragmentAssembler, RejectsFragmentsThatDoNotFit)
{
    using Header = FederatedHeader;
    const auto invalid = FragmentAssembler::INVALID;
    EXPECT_EQ(AcceptChanged([](Header&) {}), FragmentAssembler::ACCEPTED);
    EXPECT_EQ(AcceptChanged([](Header&) {}, 0), FragmentAssembler::DUPLICATE);
    EXPECT_EQ(AcceptChanged([](Header& h) { h.fragment = 0; }), FragmentAssembler::DUPLICATE);
    // A fragment that overlaps another under an index of its own.
    EXPECT_EQ(AcceptChanged([](Header& h) { h.fragment = 1; }, 0), invalid);
    EXPECT_EQ(AcceptChanged([](Header& h) { h.fragment = h.fragments; }), invalid);
    EXPECT_EQ(AcceptChanged([](Header& h) { h.fragments += 1; }), invalid);
    EXPECT_EQ(AcceptChanged([](Header& h) { h.fragments = 0; }), invalid);
    EXPECT_EQ(AcceptChanged([](Header& h) { h.bits = 2; }), invalid);
    EXPECT_EQ(AcceptChanged([](Header& h) { h.bits = 32; }), invalid);
    EXPECT_EQ(AcceptChanged([](Header& h) { h.payloadLength -= 1; }), invalid);
    EXPECT_EQ(AcceptChanged([](Header& h) { h.type = {}; }), invalid);
    EXPECT_EQ(AcceptChanged([](Header& h) { h.intervals.clear(); }), invalid);
    EXPECT_EQ(AcceptChanged([](Header& h) { h.intervals[0].high = INFINITY; }), invalid);
    EXPECT_EQ(AcceptChanged(
                  [](Header& h)
                  {
                      h.intervals[0].low = -3e38F;
                      h.intervals[0].high = 3e38F;
                  }),
              invalid);
    static const auto SHIFT = [](Header& h, uint32_t first, uint32_t coordinates)
    {
        h.first = first;
        h.coordinates = coordinates;
        h.payloadLength = static_cast<uint16_t>(BitPacker::GetSize(coordinates, h.bits));
        h.intervals = {{first, std::size_t{first} + coordinates, 0, 1}};
    };
    EXPECT_EQ(AcceptChanged([](Header& h) { SHIFT(h, 2001, 100); }), invalid); // starts mid-byte
    EXPECT_EQ(AcceptChanged([](Header& h) { SHIFT(h, 2000, 101); }), invalid); // ends mid-byte
    EXPECT_EQ(AcceptChanged([](Header& h) { SHIFT(h, 2000, 100); }), FragmentAssembler::ACCEPTED);
    EXPECT_EQ(AcceptChanged([](Header& h) { SHIFT(h, 2900, 101); }), FragmentAssembler::ACCEPTED);
    EXPECT_EQ(AcceptChanged([](Header& h) { SHIFT(h, 2900, 102); }), invalid); // beyond the end
    EXPECT_EQ(AcceptChanged([](Header& h) { SHIFT(h, 4000, 10); }), invalid);
    EXPECT_EQ(AcceptChanged([](Header& h) { SHIFT(h, 4294967290, 100); }), invalid);
    EXPECT_EQ(AcceptChanged([](Header& h) { SHIFT(h, 0, 3001); }), invalid); // over all
    EXPECT_EQ(AcceptChanged([](Header& h) { SHIFT(h, 2000, 0); }), invalid);
}

TEST(FragmentAssembler, AllocatesByItsOwnDimensionAlone)
{
    FragmentAssembler assembler(10, 32);
    FederatedHeader header;
    header.type = FederatedHeader::MODEL;
    header.bits = 32;
    header.coordinates = 1;
    header.payloadLength = 4;
    header.fragments = 4000000000;
    const uint8_t zeros[4] = {};
    EXPECT_EQ(assembler.Accept(header, zeros), FragmentAssembler::INVALID);
    EXPECT_EQ(assembler.GetBufferedBytes(), 0U);
    header.fragments = 10;
    EXPECT_EQ(assembler.Accept(header, zeros), FragmentAssembler::ACCEPTED);
    EXPECT_EQ(assembler.GetBufferedBytes(), 40U);
}

TEST(FragmentAssembler, TakesNoFloatThatIsNotFinite)
{
    FederatedRandom random(54);
    for (const float bad : {NAN, -NAN, INFINITY, -INFINITY})
    {
        for (std::size_t at = 0; at < 40; ++at)
        {
            Sender sender(40, 32, {}, 1400, random);
            WriteLittleEndianFloat(bad, sender.payload.data() + 4 * at);
            FragmentAssembler assembler(40, 32);
            EXPECT_EQ(sender.Send(0, assembler), FragmentAssembler::NOT_FINITE);
            EXPECT_EQ(assembler.GetReceived(), 0U);
            WriteLittleEndianFloat(-std::numeric_limits<float>::max(),
                                   sender.payload.data() + 4 * at);
            EXPECT_EQ(sender.Send(0, assembler), FragmentAssembler::ACCEPTED);
        }
    }
}

TEST(FragmentAssembler, GivesTheModelAwayAndCanBeginAnew)
{
    FederatedRandom random(55);
    Sender sender(1000, 32, {}, 1400, random);
    std::vector<float> model(1000);
    for (std::size_t i = 0; i < model.size(); ++i)
    {
        model[i] = static_cast<float>(random.Uniform() - 0.5);
        WriteLittleEndianFloat(model[i], sender.payload.data() + 4 * i);
    }
    FragmentAssembler assembler(1000, 32);
    for (int round = 0; round < 2; ++round)
    {
        for (std::size_t i = 0; i < sender.fragments.size(); ++i)
        {
            EXPECT_EQ(sender.Send(i, assembler), FragmentAssembler::ACCEPTED);
        }
        EXPECT_EQ(assembler.TakeModel(), model);
        EXPECT_FALSE(assembler.IsComplete());
        EXPECT_EQ(assembler.GetBufferedBytes(), 0U);
    }
}

TEST(FragmentAssembler, GivesAnIncompleteModelAwayWithZeros)
{
    FederatedRandom random(57);
    Sender sender(1000, 32, {}, 1400, random);
    for (std::size_t i = 0; i < 1000; ++i)
    {
        WriteLittleEndianFloat(1, sender.payload.data() + 4 * i);
    }
    FragmentAssembler assembler(1000, 32);
    sender.Send(1, assembler);
    const std::size_t begin = sender.fragments[1].begin;
    const std::size_t end = sender.fragments[1].end;
    const std::vector<float> model = assembler.TakeModel();
    ASSERT_EQ(model.size(), 1000U);
    for (std::size_t i = 0; i < model.size(); ++i)
    {
        EXPECT_EQ(model[i], i >= begin && i < end ? 1 : 0) << i;
    }
}

TEST(FragmentAssembler, KeepsTheFirstDistortionReported)
{
    FederatedRandom random(56);
    Sender sender(1000, 8, {{0, 1000, -1, 1}}, 300, random);
    FragmentAssembler assembler(1000, 8);
    sender.Send(0, assembler);
    EXPECT_TRUE(std::isnan(assembler.GetDistortion()));
    sender.header.distortion = 0.5F;
    sender.Send(1, assembler);
    sender.header.distortion = 0.25F;
    sender.Send(2, assembler);
    EXPECT_EQ(assembler.GetDistortion(), 0.5F);
}

TEST(FragmentAssembler, DescribesWhatCameToTheFusion)
{
    FederatedRandom random(57);
    const auto dp = CreateObject<DpStochasticQuantizer>();
    const auto optimal =
        CreateObjectWithAttributes<OptimalDpQuantizer>("Epsilon", DoubleValue(4)); // four levels
    const auto coordinates =
        CreateObjectWithAttributes<RandomCoordinatesQuantizer>("Decoder", StringValue("gain:0.5"));
    using Case = std::pair<Ptr<const Quantizer>, unsigned>;
    for (const auto& [quantizer, bits] :
         {Case(dp, 2), Case(dp, 4), Case(dp, 5), Case(optimal, 6), Case(coordinates, 2)})
    {
        const unsigned wireBits = quantizer->GetWireBits(bits);
        Sender sender(3001, wireBits, MakeLayers(), 150, random);
        sender.header.distortion = 0.125F;
        FragmentAssembler assembler(3001, wireBits);
        std::vector<DeliveredUpdate> updates(1);
        EXPECT_FALSE(DescribeUpdate(assembler.GetPacked(), *quantizer, bits, updates[0]));
        std::vector<float> expected(3001);
        double cells = 0;
        std::size_t came = 0;
        for (std::size_t i = 0; i < sender.fragments.size(); ++i)
        {
            if (i % 3 == 1 || i + 1 == sender.fragments.size()) // the end is missing, too
            {
                continue;
            }
            ASSERT_EQ(sender.Send(i, assembler), FragmentAssembler::ACCEPTED);
            for (const auto& interval : sender.header.intervals)
            {
                const std::size_t count = interval.end - interval.begin;
                const LevelGrid grid(interval.low, interval.high, bits, 3001);
                quantizer->Decode(sender.payload.data(),
                                  interval.begin,
                                  count,
                                  grid,
                                  expected.data() + interval.begin);
                cells +=
                    count * quantizer->GetCellDistortion(interval.low, interval.high, bits, 3001);
                came += count;
            }
        }
        ASSERT_TRUE(DescribeUpdate(assembler.GetPacked(), *quantizer, bits, updates[0]));
        EXPECT_EQ(updates[0].bits, bits);
        EXPECT_EQ(updates[0].wireBits, wireBits);
        EXPECT_EQ(updates[0].exactDistortion, 0.125);
        EXPECT_NEAR(updates[0].cellDistortion, cells / came, 1e-12);
        EXPECT_EQ(updates[0].intervals.front().begin, 0U);
        EXPECT_EQ(updates[0].intervals.back().end, 3001U);
        EXPECT_LE(updates[0].intervals.size(), 3U);

        std::vector<float> model(3001);
        const auto rule = CreateObject<UniformFusion>();
        const auto result = FuseUpdates(*rule, LOSS_RENORMALIZE, updates, model.data(), 3001);
        EXPECT_EQ(result.untouched, 3001 - came);
        for (std::size_t i = 0; i < model.size(); ++i)
        {
            ASSERT_NEAR(model[i], expected[i], 1e-5) << i;
        }
    }
}

TEST(FragmentAssembler, DescribesFloatsWithoutIntervals)
{
    FederatedRandom random(58);
    Sender sender(1000, 32, {}, 400, random);
    FragmentAssembler assembler(1000, 32);
    sender.Send(1, assembler);
    DeliveredUpdate update;
    ASSERT_TRUE(
        DescribeUpdate(assembler.GetPacked(), *CreateObject<IdentityQuantizer>(), 4, update));
    EXPECT_EQ(update.bits, 4U);
    EXPECT_EQ(update.wireBits, 32U);
    EXPECT_TRUE(update.intervals.empty());
    EXPECT_EQ(update.cellDistortion, 0);
    EXPECT_TRUE(std::isnan(update.exactDistortion));
    ASSERT_EQ(update.ranges.size(), 1U);
    EXPECT_EQ(update.ranges[0].begin, sender.fragments[1].begin);
    EXPECT_EQ(update.ranges[0].end, sender.fragments[1].end);
}

TEST(FragmentAssembler, RefusesIntervalsThatTheDecoderStretchesBeyondFloats)
{
    FederatedRandom random(59);
    Sender sender(1000, 1, {{0, 1000, -1e38F, 1e38F}}, 400, random);
    FragmentAssembler assembler(1000, 1);
    ASSERT_EQ(sender.Send(0, assembler), FragmentAssembler::ACCEPTED);
    DeliveredUpdate update;
    const auto quantizer = CreateObject<RandomizedResponseQuantizer>();
    quantizer->SetAttribute("Decoder", StringValue("gain:1000"));
    EXPECT_FALSE(DescribeUpdate(assembler.GetPacked(), *quantizer, 1, update));
}

TEST(FragmentAssembler, DoesNotAllocateForFragmentsThatComeInOrder)
{
    FederatedRandom random(60);
    for (const unsigned bits : {2U, 32U})
    {
        Sender sender(100000,
                      bits,
                      bits == 32 ? std::vector<IntervalRange>()
                                 : std::vector<IntervalRange>{{0, 100000, -1, 1}},
                      1400,
                      random);
        FragmentAssembler assembler(100000, bits);
        // The first fragments make room in header and assembler.
        for (std::size_t i = 0; i < 2; ++i)
        {
            const uint8_t* part = sender.Make(i);
            ASSERT_EQ(assembler.Accept(sender.header, part), FragmentAssembler::ACCEPTED);
        }
        const std::size_t before = GetAllocations();
        for (std::size_t i = 2; i < sender.fragments.size(); ++i)
        {
            const uint8_t* part = sender.Make(i);
            ASSERT_EQ(assembler.Accept(sender.header, part), FragmentAssembler::ACCEPTED);
        }
        EXPECT_EQ(GetAllocations(), before);
    }
}
