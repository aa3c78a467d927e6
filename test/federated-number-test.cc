// SPDX-License-Identifier: GPL-2.0-only

#include "ns3/federated-number.h"

#include <gtest/gtest.h>

using namespace ns3;

TEST(FederatedNumber, CountsAreDigitsAndMaybeZerosAfterAPoint)
{
    uint64_t value = 7;
    for (const char* text : {"",
                             "-1",
                             "+1",
                             " 1",
                             "1 ",
                             "5x",
                             "1.",
                             ".0",
                             "1.5",
                             "1.0.0",
                             "1.0x",
                             "1.00000000000000000001",
                             "1e3",
                             "0x10",
                             "18446744073709551616",
                             "one"})
    {
        EXPECT_FALSE(FederatedNumber::ReadCount(text, value)) << text;
    }
    EXPECT_EQ(value, 7U);
    EXPECT_TRUE(FederatedNumber::ReadCount("18446744073709551615", value));
    EXPECT_EQ(value, 18446744073709551615U);
    EXPECT_TRUE(FederatedNumber::ReadCount("007", value));
    EXPECT_EQ(value, 7U);
    EXPECT_TRUE(FederatedNumber::ReadCount("40.0", value));
    EXPECT_EQ(value, 40U);
    EXPECT_TRUE(FederatedNumber::ReadCount("18446744073709551615.00", value));
    EXPECT_EQ(value, 18446744073709551615U);
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

TEST(FederatedNumber, AListIsWhatIsBetweenCommas)
{
    using Items = std::vector<std::string>;
    EXPECT_EQ(FederatedNumber::Split(""), Items{});
    EXPECT_EQ(FederatedNumber::Split("a"), Items{"a"});
    EXPECT_EQ(FederatedNumber::Split("a, b"), (Items{"a", " b"}));
    EXPECT_EQ(FederatedNumber::Split(","), (Items{"", ""}));
    EXPECT_EQ(FederatedNumber::Split("a,,b,"), (Items{"a", "", "b", ""}));
}

TEST(FederatedNumber, ListsOfNumbersAreReadAsAWholeOrNotAtAll)
{
    std::vector<uint32_t> counts{7};
    for (const char* list : {",", "2,", ",2", "2,,4", "2, 4", "2,x", "2,17", "0,2", "4294967298"})
    {
        EXPECT_FALSE(FederatedNumber::ReadCounts(list, 1U, 16U, counts)) << list;
    }
    EXPECT_EQ(counts, std::vector<uint32_t>{7});
    EXPECT_TRUE(FederatedNumber::ReadCounts("2,16,1", 1U, 16U, counts));
    EXPECT_EQ(counts, (std::vector<uint32_t>{2, 16, 1}));
    EXPECT_TRUE(FederatedNumber::ReadCounts("", 1U, 16U, counts));
    EXPECT_TRUE(counts.empty());

    std::vector<double> reals{7};
    for (const char* list : {",", "0.5,", "0.5;1", "0.5,nan", "0.5,-1e-9", "0.5,1.5"})
    {
        EXPECT_FALSE(FederatedNumber::ReadReals(list, 0, 1, reals)) << list;
    }
    EXPECT_EQ(reals, std::vector<double>{7});
    EXPECT_TRUE(FederatedNumber::ReadReals("6.25e-4,0,1", 0, 1, reals));
    EXPECT_EQ(reals, (std::vector<double>{6.25e-4, 0, 1}));
    EXPECT_TRUE(FederatedNumber::ReadReals("", 0, 1, reals));
    EXPECT_TRUE(reals.empty());
}
