// SPDX-License-Identifier: GPL-2.0-only

#include "ns3/federated-random.h"
#include "ns3/federated-streams.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numeric>
#include <set>
#include <vector>

using namespace ns3;

TEST(FederatedRandom, IsTheChaCha8KeyStream)
{
    // Test vector TC1 (256-bit key of zeros, IV of zeros, 8 rounds) of
    // draft-strombergson-chacha-test-vectors: first bytes 3e00ef2f 895f40d6 7f5bb8e8 1f09a5a1 ...
    const std::array<uint32_t, 16> expected{0x2fef003e,
                                            0xd6405f89,
                                            0xe8b85b7f,
                                            0xa1a5091f,
                                            0xc30e842c,
                                            0x3b7f9ace,
                                            0x88e11b18,
                                            0x1e1a71ef,
                                            0x72e14c98,
                                            0x416f21b9,
                                            0x6753449f,
                                            0x19566d45,
                                            0xa3424a31,
                                            0x01b086da,
                                            0xb8fd7b38,
                                            0x42fe0c0e};
    FederatedRandom random(0);
    std::array<uint32_t, 128> words{};
    random.Fill(words.data(), words.size());
    for (std::size_t w = 0; w < expected.size(); ++w)
    {
        EXPECT_EQ(words[8 * w], expected[w]) << "word " << w << " of block 0";
    }
}

TEST(FederatedRandom, FillAndSingleWordsGiveTheSameStream)
{
    FederatedRandom one(7, FederatedRandom::QUANTIZE, 3, 5);
    FederatedRandom bulk(7, FederatedRandom::QUANTIZE, 3, 5);
    std::vector<uint32_t> words(1000);
    bulk.Fill(words.data(), 1);
    bulk.Fill(words.data() + 1, 300);
    bulk.Fill(words.data() + 301, 699);
    for (uint32_t word : words)
    {
        EXPECT_EQ(word, one());
    }
}

TEST(FederatedRandom, EveryPartOfTheKeyMatters)
{
    std::set<uint32_t> first;
    first.insert(FederatedRandom(1)());
    first.insert(FederatedRandom(uint64_t{1} << 32)());
    first.insert(FederatedRandom(1, FederatedRandom::BATCHES)());
    first.insert(FederatedRandom(1, FederatedRandom::GENERAL, 1)());
    first.insert(FederatedRandom(1, FederatedRandom::GENERAL, 0, 1)());
    EXPECT_EQ(first.size(), 5U);
}

TEST(FederatedRandom, BelowIsUniform)
{
    // Chi-square with 6 degrees of freedom; 27.86 is exceeded with probability 1e-4.
    FederatedRandom random(42);
    std::array<double, 7> counts{};
    const int draws = 70000;
    for (int i = 0; i < draws; ++i)
    {
        ++counts.at(random.Below(7));
    }
    double chi = 0;
    for (double count : counts)
    {
        chi += std::pow(count - draws / 7.0, 2) / (draws / 7.0);
    }
    EXPECT_LT(chi, 27.86);
}

TEST(FederatedRandom, UniformHasTheMeanAndVarianceOfTheUnitInterval)
{
    FederatedRandom random(9);
    const int draws = 100000;
    double sum = 0;
    double squares = 0;
    for (int i = 0; i < draws; ++i)
    {
        const double u = random.Uniform();
        ASSERT_GE(u, 0.0);
        ASSERT_LT(u, 1.0);
        sum += u;
        squares += u * u;
    }
    // Four standard errors: exceeded with probability 6e-5 each.
    EXPECT_NEAR(sum / draws, 0.5, 4 * std::sqrt(1.0 / 12 / draws));
    EXPECT_NEAR(squares / draws, 1.0 / 3, 4 * std::sqrt(4.0 / 45 / draws));
}

TEST(FederatedRandom, ShuffleIsAPermutation)
{
    FederatedRandom random(5);
    std::vector<uint32_t> items(1000);
    std::iota(items.begin(), items.end(), 0);
    const auto before = items;
    random.Shuffle(items);
    EXPECT_NE(items, before);
    EXPECT_EQ(std::set<uint32_t>(items.begin(), items.end()).size(), items.size());
}

TEST(FederatedStreams, OfDifferentPartsDoNotOverlap)
{
    struct Part
    {
        int64_t first;
        int64_t streams; // of the largest scenario
    };

    using Streams = FederatedStreams;
    const int64_t devices = 60000;
    const std::vector<Part> parts{
        {Streams::TOOL, 1},
        {Streams::ERROR_MODEL, 1},
        {Streams::POSITIONS, Streams::WALKS - Streams::POSITIONS},
        {Streams::WALKS, 2000}, // 1000 devices
        {Streams::WIFI_CELL, 100 * devices},
        {Streams::FEDERATION, 1 + Streams::CENTER + Streams::DEVICE * devices},
        {Streams::LISTENERS, Streams::LISTENER * devices},
        {Streams::LTE_CELL, 100 * devices},
    };
    for (std::size_t i = 0; i + 1 < parts.size(); ++i)
    {
        EXPECT_LE(parts[i].first + parts[i].streams, parts[i + 1].first) << "part " << i;
    }
}
