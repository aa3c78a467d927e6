// SPDX-License-Identifier: GPL-2.0-only

#include "ns3/federated-random.h"
#include "ns3/public-rotation.h"
#include "ns3/update-clipping.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bitset>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

using namespace ns3;

namespace
{

using Values = std::vector<float>;

const std::vector<std::size_t> SIZES{1, 2, 3, 4, 5, 63, 64, 65, 128, 1000, 4096, 4097, 5000};

/** @return values in plus or minus a half. */
Values
MakeValues(std::size_t count, uint32_t seed = 1)
{
    FederatedRandom random(seed);
    Values values(count);
    for (float& value : values)
    {
        value = static_cast<float>(random.Uniform() - 0.5);
    }
    return values;
}

double
GetProduct(const Values& a, const Values& b)
{
    return std::inner_product(a.begin(),
                              a.end(),
                              b.begin(),
                              0.0,
                              std::plus<>(),
                              [](double x, double y) { return x * y; });
}

Values
Rotate(const PublicRotation& rotation, Values values)
{
    rotation.Rotate(values);
    return values;
}

} // namespace

TEST(PublicRotation, HasTheSizeOfTheNextPowerOfTwo)
{
    const std::size_t large = std::size_t{1} << 20;
    const std::vector<std::pair<std::size_t, std::size_t>> cases{
        {0, 0},
        {1, 1},
        {2, 2},
        {3, 4},
        {4, 4},
        {5, 8},
        {159010, 262144},
        {large, large},
        {large + 1, 2 * large},
        {PublicRotation::MAX_DIMENSION, PublicRotation::MAX_DIMENSION},
    };
    for (const auto& [dimension, size] : cases)
    {
        EXPECT_EQ(PublicRotation::GetRotatedSize(dimension), size) << dimension;
        EXPECT_EQ(GetEncodedSize(true, dimension), size) << dimension;
        EXPECT_EQ(GetEncodedSize(false, dimension), dimension);
    }
    EXPECT_LE(PublicRotation::MAX_DIMENSION, std::numeric_limits<uint32_t>::max());
}

TEST(PublicRotation, IsTheWalshHadamardMatrixTimesRandomSigns)
{
    for (std::size_t d : SIZES)
    {
        SCOPED_TRACE(d);
        const Values values = MakeValues(d);
        FederatedRandom random(9, FederatedRandom::ROTATION, 0, 4);
        std::vector<uint32_t> words((d + 31) / 32);
        random.Fill(words.data(), words.size());
        const Values rotated = Rotate(PublicRotation(9, 4), values);
        const std::size_t size = rotated.size();
        ASSERT_EQ(size, PublicRotation::GetRotatedSize(d));
        for (std::size_t i = 0; i < size; i += 1 + size / 97) // by definition, in doubles
        {
            double sum = 0;
            for (std::size_t j = 0; j < d; ++j)
            {
                const bool sign = (words[j / 32] >> j % 32 & 1U) != 0;
                const bool entry = std::bitset<64>(i & j).count() % 2 == 1;
                sum += sign == entry ? values[j] : -values[j];
            }
            ASSERT_NEAR(rotated[i], sum / std::sqrt(static_cast<double>(size)), 1e-6) << i;
        }
    }
}

TEST(PublicRotation, KeepsNormsAndInnerProducts)
{
    for (std::size_t d : SIZES)
    {
        const PublicRotation rotation(1, static_cast<uint32_t>(d));
        const Values a = MakeValues(d, 1);
        const Values b = MakeValues(d, 2);
        const double norms = std::sqrt(GetProduct(a, a) * GetProduct(b, b));
        const Values rotatedA = Rotate(rotation, a);
        const Values rotatedB = Rotate(rotation, b);
        EXPECT_NEAR(GetProduct(rotatedA, rotatedA), GetProduct(a, a), 1e-6 * GetProduct(a, a)) << d;
        EXPECT_NEAR(GetProduct(rotatedA, rotatedB), GetProduct(a, b), 1e-6 * norms) << d;
    }
}

TEST(PublicRotation, IsUndoneByRotatingBack)
{
    std::vector<std::size_t> sizes = SIZES;
    sizes.push_back(159010);
    for (std::size_t d : sizes)
    {
        const PublicRotation rotation(3, 7);
        const Values values = MakeValues(d);
        Values back = Rotate(rotation, values);
        rotation.RotateBack(back, d);
        ASSERT_EQ(back.size(), d);
        for (std::size_t i = 0; i < d; ++i)
        {
            ASSERT_NEAR(back[i], values[i], 1e-6) << i << " of " << d;
        }
    }
}

TEST(PublicRotation, IsEqualForAllDevicesOfARoundAndAnotherOneInOtherRounds)
{
    const std::size_t d = 10000;
    const Values ones(d, 1);
    const Values rotated = Rotate(PublicRotation(5, 1), ones);
    EXPECT_EQ(Rotate(PublicRotation(5, 1), ones), rotated);
    // The product is a sum of d independent signs: beyond 5 sqrt(d) once in 10^6.
    for (const PublicRotation& other :
         {PublicRotation(5, 2), PublicRotation(5, 0), PublicRotation(6, 1)})
    {
        EXPECT_LT(std::abs(GetProduct(Rotate(other, ones), rotated)), 5 * std::sqrt(d));
    }
}

TEST(PublicRotation, SpreadsLargeCoordinatesOverAll)
{
    Values spike(1000);
    spike[123] = 32;
    for (float value : Rotate(PublicRotation(1, 1), spike))
    {
        EXPECT_EQ(std::abs(value), 1); // 32 over sqrt(1024)
    }
    // Hoeffding: a coordinate exceeds t with probability 2 exp(-t^2 P / (2 ||v||^2)) at most; all
    // of 1024 stay below this limit but once in 10^6.
    Values values = MakeValues(1000);
    std::fill(values.begin() + 10, values.begin() + 900, 0.0F);
    values[3] = 40;
    values[950] = -30;
    const double limit =
        std::sqrt(2 * GetProduct(values, values) / 1024 * std::log(2 * 1024 * 1e6));
    for (float value : Rotate(PublicRotation(1, 2), values))
    {
        EXPECT_LT(std::abs(value), limit);
    }
}

TEST(PublicRotation, ShowsThatACoordinateIsNotFinite)
{
    const float most = std::numeric_limits<float>::max();
    for (float bad : {std::numeric_limits<float>::infinity(),
                      -std::numeric_limits<float>::infinity(),
                      std::numeric_limits<float>::quiet_NaN()})
    {
        for (std::size_t d : {1, 3, 100, 5000})
        {
            Values values = MakeValues(d);
            values[d / 2] = bad;
            values = Rotate(PublicRotation(1, 1), values);
            EXPECT_FALSE(IsFiniteUpdate(values.data(), values.size())) << bad << ' ' << d;
        }
    }
    Values largest(5000);
    largest[77] = most;
    const PublicRotation rotation(1, 1);
    largest = Rotate(rotation, largest);
    EXPECT_TRUE(IsFiniteUpdate(largest.data(), largest.size())) << "its norm is finite";
    rotation.RotateBack(largest, 5000);
    EXPECT_NEAR(largest[77] / most, 1, 1e-6);
    const Values all = Rotate(rotation, Values(5000, most));
    EXPECT_FALSE(IsFiniteUpdate(all.data(), all.size())) << "its norm is no float";
}
