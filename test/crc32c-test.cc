// SPDX-License-Identifier: GPL-2.0-only

#include "ns3/crc32c.h"
#include "ns3/federated-random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

using namespace ns3;
using namespace ns3::federated;

namespace
{

std::vector<uint8_t>
RandomBytes(std::size_t count, FederatedRandom& random)
{
    std::vector<uint8_t> bytes(count);
    for (auto& byte : bytes)
    {
        byte = static_cast<uint8_t>(random());
    }
    return bytes;
}

} // namespace

TEST(Crc32c, GivesThePublishedValues)
{
    const std::string digits = "123456789";
    std::vector<uint8_t> ascending(32);
    std::iota(ascending.begin(), ascending.end(), 0);
    for (const auto crc : {Crc32c, PortableCrc32c})
    {
        EXPECT_EQ(crc(reinterpret_cast<const uint8_t*>(digits.data()), digits.size(), 0),
                  0xe3069283);
        // RFC 3720, appendix B.4.
        EXPECT_EQ(crc(std::vector<uint8_t>(32, 0).data(), 32, 0), 0x8a9136aa);
        EXPECT_EQ(crc(std::vector<uint8_t>(32, 0xff).data(), 32, 0), 0x62a8ab43);
        EXPECT_EQ(crc(ascending.data(), 32, 0), 0x46dd794e);
        EXPECT_EQ(crc(std::vector<uint8_t>(ascending.rbegin(), ascending.rend()).data(), 32, 0),
                  0x113fdb5c);
        EXPECT_EQ(crc(nullptr, 0, 0), 0U);
    }
}

TEST(Crc32c, IsTheSameWithAndWithoutTheProcessorsHelpForEveryLengthAndAlignment)
{
    FederatedRandom random(21);
    const auto bytes = RandomBytes(8192, random);
    for (std::size_t count = 0; count < 400; ++count)
    {
        for (std::size_t start = 0; start < 8; ++start)
        {
            ASSERT_EQ(Crc32c(bytes.data() + start, count),
                      PortableCrc32c(bytes.data() + start, count))
                << count << " bytes from " << start;
        }
    }
    for (int trial = 0; trial < 500; ++trial)
    {
        const std::size_t start = random.Below(64);
        const std::size_t count = random.Below(static_cast<uint32_t>(bytes.size() - start) + 1);
        ASSERT_EQ(Crc32c(bytes.data() + start, count), PortableCrc32c(bytes.data() + start, count))
            << count << " bytes from " << start;
    }
}

TEST(Crc32c, OfPiecesIsThatOfTheWhole)
{
    FederatedRandom random(22);
    const auto bytes = RandomBytes(3000, random);
    const uint32_t whole = Crc32c(bytes.data(), bytes.size());
    for (int trial = 0; trial < 200; ++trial)
    {
        uint32_t crc = 0;
        uint32_t portable = 0;
        for (std::size_t done = 0; done < bytes.size();)
        {
            const std::size_t count = std::min<std::size_t>(random.Below(900), bytes.size() - done);
            crc = Crc32c(bytes.data() + done, count, crc);
            portable = PortableCrc32c(bytes.data() + done, count, portable);
            done += count;
        }
        ASSERT_EQ(crc, whole);
        ASSERT_EQ(portable, whole);
    }
}
