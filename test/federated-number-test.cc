// SPDX-License-Identifier: GPL-2.0-only

#include "ns3/federated-number.h"

#include <gtest/gtest.h>

using namespace ns3;

TEST(FederatedNumber, CountsAreDigitsOnly)
{
    uint64_t value = 7;
    for (const char* text :
         {"", "-1", "+1", " 1", "1 ", "5x", "1.0", "1e3", "0x10", "18446744073709551616", "one"})
    {
        EXPECT_FALSE(FederatedNumber::ReadCount(text, value)) << text;
    }
    EXPECT_EQ(value, 7U);
    EXPECT_TRUE(FederatedNumber::ReadCount("18446744073709551615", value));
    EXPECT_EQ(value, 18446744073709551615U);
    EXPECT_TRUE(FederatedNumber::ReadCount("007", value));
    EXPECT_EQ(value, 7U);
}

TEST(FederatedNumber, RealsAreFiniteAndNothingElse)
{
    double value = 7;
    for (const char* text :
         {"", "nan", "-nan", "inf", "-infinity", "1e999", " 1", "1 ", "1,5", "5x", "1e", ".", "-"})
    {
        EXPECT_FALSE(FederatedNumber::ReadReal(text, value)) << text;
    }
    EXPECT_EQ(value, 7);
    EXPECT_TRUE(FederatedNumber::ReadReal("-1.5e-6", value));
    EXPECT_EQ(value, -1.5e-6);
    EXPECT_TRUE(FederatedNumber::ReadReal(".5", value));
    EXPECT_EQ(value, 0.5);
    EXPECT_TRUE(FederatedNumber::ReadReal("3", value));
    EXPECT_EQ(value, 3);
}
