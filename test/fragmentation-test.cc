// SPDX-License-Identifier: GPL-2.0-only

#include "ns3/federated-random.h"
#include "ns3/fragment-assembler.h"
#include "ns3/fragmentation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

using namespace ns3;
using namespace ns3::federated;

namespace
{

/** @return intervals of the given numbers of coordinates, all different. */
std::vector<IntervalRange>
MakeIntervals(const std::vector<std::size_t>& sizes)
{
    std::vector<IntervalRange> intervals;
    std::size_t begin = 0;
    for (const std::size_t size : sizes)
    {
        const auto number = static_cast<float>(intervals.size());
        intervals.push_back({begin, begin + size, -number, number + 1});
        begin += size;
    }
    return intervals;
}

/** Weights and biases of a small LeNet, layer by layer. */
std::vector<IntervalRange>
MakeLeNetIntervals()
{
    return MakeIntervals({150, 6, 2400, 16, 30720, 120, 10080, 84, 840, 10});
}

std::vector<unsigned>
GetAllBits()
{
    std::vector<unsigned> all{32};
    for (unsigned bits = 1; bits <= BitPacker::MAX_BITS; ++bits)
    {
        all.push_back(bits);
    }
    return all;
}

/** Check that fragments cover all coordinates, fit, are aligned and list the right intervals. */
void
ExpectGoodPlan(const std::vector<Fragment>& fragments,
               std::size_t dimension,
               unsigned bits,
               const std::vector<IntervalRange>& intervals,
               std::size_t fragmentSize)
{
    std::size_t at = 0;
    for (const Fragment& fragment : fragments)
    {
        ASSERT_EQ(fragment.begin, at);
        ASSERT_GT(fragment.end, at);
        ASSERT_EQ(fragment.begin * bits % 8, 0U);
        ASSERT_LE(fragment.GetMessageSize(bits), fragmentSize);
        ASSERT_LE(fragment.GetPayloadSize(bits), FederatedHeader::MAX_PAYLOAD);
        ASSERT_LE(fragment.lastInterval - fragment.firstInterval, FederatedHeader::MAX_INTERVALS);
        if (!intervals.empty())
        {
            ASSERT_LE(intervals[fragment.firstInterval].begin, fragment.begin);
            ASSERT_GT(intervals[fragment.firstInterval].end, fragment.begin);
            ASSERT_LT(intervals[fragment.lastInterval - 1].begin, fragment.end);
            ASSERT_GE(intervals[fragment.lastInterval - 1].end, fragment.end);
        }
        at = fragment.end;
    }
    ASSERT_EQ(at, dimension);
}

} // namespace

TEST(Fragmentation, CutsFloatsIntoFullMessages)
{
    // 1356 bytes for 339 floats behind the header.
    const auto fragments = PlanFragments(1000, 32, {}, 1400);
    ASSERT_EQ(fragments.size(), 3U);
    EXPECT_EQ(fragments[0].end, 339U);
    EXPECT_EQ(fragments[1].end, 678U);
    EXPECT_EQ(fragments[2].end, 1000U);
    EXPECT_EQ(fragments[0].GetMessageSize(32), 1400U);
    EXPECT_EQ(fragments[1].GetPayloadOffset(32), 1356U);
    EXPECT_EQ(GetMessagesSize(fragments, 32), 3 * 44 + 4000U);
    EXPECT_TRUE(PlanFragments(0, 32, {}, 1400).empty());
}

TEST(Fragmentation, CoversTheCoordinatesForEveryWidthSizeAndDimension)
{
    for (const unsigned bits : GetAllBits())
    {
        for (const std::size_t size : {100, 127, 576, 1400, 9000, 65507})
        {
            for (const std::size_t dimension : {1, 7, 8, 9, 100, 1001, 44426})
            {
                const auto one = MakeIntervals({dimension});
                ExpectGoodPlan(
                    PlanFragments(dimension, bits, one, size), dimension, bits, one, size);
                ExpectGoodPlan(PlanFragments(dimension, bits, {}, size), dimension, bits, {}, size);
            }
        }
    }
}

TEST(Fragmentation, OfAHundredBytesHoldLeNetsLayersAndTinyOnes)
{
    FederatedRandom random(41);
    for (const unsigned bits : GetAllBits())
    {
        const auto lenet = MakeLeNetIntervals();
        ExpectGoodPlan(PlanFragments(44426, bits, lenet, 100), 44426, bits, lenet, 100);
        for (int trial = 0; trial < 20; ++trial)
        {
            std::vector<std::size_t> sizes(1 + random.Below(300));
            std::generate(sizes.begin(), sizes.end(), [&] { return 4 + random.Below(9); });
            const auto tiny = MakeIntervals(sizes);
            const std::size_t dimension = tiny.back().end;
            for (const std::size_t size : {100, 200, 1400, 20000})
            {
                ExpectGoodPlan(
                    PlanFragments(dimension, bits, tiny, size), dimension, bits, tiny, size);
            }
        }
    }
}

TEST(Fragmentation, FillsEachFragmentAsFarAsItGoes)
{
    FederatedRandom random(42);
    for (const unsigned bits : {1U, 3U, 4U, 8U, 12U, 32U})
    {
        std::vector<std::size_t> sizes(50);
        std::generate(sizes.begin(), sizes.end(), [&] { return 4 + random.Below(60); });
        const auto intervals = MakeIntervals(sizes);
        const std::size_t dimension = intervals.back().end;
        const auto fragments = PlanFragments(dimension, bits, intervals, 150);
        for (const Fragment& fragment : fragments)
        {
            // No larger end at which a byte ends would fit.
            for (std::size_t end = fragment.end + 1; end <= dimension; ++end)
            {
                if (end * bits % 8 == 0 || end == dimension)
                {
                    Fragment larger = fragment;
                    larger.end = end;
                    larger.lastInterval =
                        std::count_if(intervals.begin(),
                                      intervals.end(),
                                      [end](const auto& i) { return i.begin < end; });
                    ASSERT_GT(larger.GetMessageSize(bits), 150U);
                }
            }
        }
    }
}

TEST(FragmentationDeathTest, ATooSmallFragmentSizeIsNamed)
{
    EXPECT_DEATH(PlanFragments(10, 32, {}, 47), "FragmentSize is 47 bytes");
    EXPECT_DEATH(PlanFragments(10, 4, MakeIntervals({10}), 56), "FragmentSize is 56 bytes");
    EXPECT_EQ(PlanFragments(10, 32, {}, 48).size(), 10U);
    EXPECT_EQ(PlanFragments(10, 4, MakeIntervals({10}), 57).size(), 5U);
}

TEST(Fragmentation, RoundTripsThroughMessagesForEveryWidth)
{
    FederatedRandom random(43);
    for (const unsigned bits : GetAllBits())
    {
        for (const std::size_t fragmentSize : {100, 1400})
        {
            const auto intervals = bits == 32 ? std::vector<IntervalRange>() : MakeLeNetIntervals();
            const std::size_t dimension = 44426;
            std::vector<uint8_t> payload(BitPacker::GetSize(dimension, bits));
            for (auto& byte : payload)
            {
                byte = static_cast<uint8_t>(random.Below(100)); // floats stay finite
            }
            const auto fragments = PlanFragments(dimension, bits, intervals, fragmentSize);
            FragmentAssembler assembler(dimension, bits);
            FederatedHeader header;
            header.type = bits == 32 ? FederatedHeader::MODEL : FederatedHeader::UPDATE;
            FederatedHeader back;
            for (std::size_t i = 0; i < fragments.size(); ++i)
            {
                const Fragment& fragment = fragments[i];
                FillFragment(fragment, i, fragments.size(), bits, intervals, header);
                const uint8_t* part = payload.data() + fragment.GetPayloadOffset(bits);
                const std::size_t length = fragment.GetPayloadSize(bits);
                header.Seal(part, length);
                std::vector<uint8_t> message(header.GetSize() + length);
                ASSERT_EQ(message.size(), fragment.GetMessageSize(bits));
                header.Write(message.data());
                std::copy_n(part, length, message.begin() + header.GetSize());
                ASSERT_EQ(back.Read(message.data(), message.size()), FederatedHeader::READ_OK);
                ASSERT_EQ(assembler.Accept(back, message.data() + back.GetSize()),
                          FragmentAssembler::ACCEPTED);
            }
            EXPECT_TRUE(assembler.IsComplete());
            EXPECT_EQ(std::memcmp(assembler.GetPayload(), payload.data(), payload.size()), 0)
                << bits << " bits";
            ASSERT_EQ(assembler.GetIntervals().size(), intervals.size());
            for (std::size_t i = 0; i < intervals.size(); ++i)
            {
                EXPECT_EQ(assembler.GetIntervals()[i].begin, intervals[i].begin);
                EXPECT_EQ(assembler.GetIntervals()[i].end, intervals[i].end);
                EXPECT_EQ(assembler.GetIntervals()[i].low, intervals[i].low);
                EXPECT_EQ(assembler.GetIntervals()[i].high, intervals[i].high);
            }
        }
    }
}
