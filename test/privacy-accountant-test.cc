// SPDX-License-Identifier: GPL-2.0-only

#include "ns3/privacy-accountant.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

using namespace ns3;
using namespace ns3::federated;

namespace
{

constexpr double UNBOUNDED = std::numeric_limits<double>::infinity();

/** @return what an update of 1000 coordinates spends, with an epsilon for each of them. */
PrivacyExpense
MakeExpense(double epsilon, PrivacyClaim::Kind kind = PrivacyClaim::TRUE_EPSILON)
{
    PrivacyExpense expense;
    expense.claim.kind = kind;
    expense.claim.scope = PrivacyClaim::COORDINATE;
    expense.claim.epsilon = epsilon;
    expense.dimension = 1000;
    return expense;
}

/** @return what an update spends that claims a rho as a whole. */
PrivacyExpense
MakeZcdp(double rho)
{
    PrivacyExpense expense;
    expense.claim.kind = PrivacyClaim::ZCDP;
    expense.claim.scope = PrivacyClaim::UPDATE;
    expense.claim.rho = rho;
    expense.dimension = 1000;
    return expense;
}

/** @return how many updates a budget lasts for, at most 1000. */
uint32_t
CountAffordable(const PrivacyExpense& expense, const PrivacyLimit& limit)
{
    PrivacyAccountant accountant;
    uint32_t count = 0;
    while (count < 1000 && accountant.CanAfford(expense, limit))
    {
        accountant.Spend(expense);
        ++count;
    }
    EXPECT_EQ(accountant.GetLedger().GetAnswers(), count);
    return count;
}

} // namespace

TEST(PrivacyAccountant, AllowsUpdatesAsLongAsTheBudgetLasts)
{
    struct Case
    {
        std::string name;
        double epsilon; // of a coordinate, of which an update has 1000
        double budget;
        uint32_t updates;
    };

    const std::vector<Case> cases{
        {"none", 0.001, 0.999, 0},
        {"exactly one", 0.001, 1, 1},
        {"not quite two", 0.001, 1.999, 1},
        {"exactly ten, though sums are rounded", 0.0001, 1, 10},
        {"exactly 100", 0.0007, 70, 100},
        {"exactly 300", 0.0011, 330, 300},
        {"rounding allows no more", 0.001, 10 * (1 - 1e-8), 9},
        {"an update that costs nothing", 0, 1, 1000},
    };
    for (const Case& one : cases)
    {
        EXPECT_EQ(CountAffordable(MakeExpense(one.epsilon), {one.budget, EPSILON_BASIC}),
                  one.updates)
            << one.name;
    }
}

TEST(PrivacyClaims, FollowFromThoseThatSayAsMuch)
{
    const auto none = PrivacyClaim::None("");
    const auto strict = PrivacyClaim::TrueEpsilon(PrivacyClaim::COORDINATE, 1, "");
    const auto loose = PrivacyClaim::TrueEpsilon(PrivacyClaim::COORDINATE, 2, "");
    const auto update = PrivacyClaim::TrueEpsilon(PrivacyClaim::UPDATE, 1, "");
    PrivacyClaim cell = loose;
    cell.kind = PrivacyClaim::SAME_CELL;
    PrivacyClaim zcdp = none;
    zcdp.kind = PrivacyClaim::ZCDP;
    zcdp.rho = 1;
    PrivacyClaim lower = zcdp;
    lower.rho = 0.5;
    PrivacyClaim both = strict;
    both.updateRho = 3;
    struct Case
    {
        PrivacyClaim claim;
        PrivacyClaim from;
        bool follows;
    };

    const std::vector<Case> cases{
        {none, loose, true},
        {loose, none, false},
        {loose, loose, true},
        {loose, strict, true},
        {strict, loose, false},
        {strict, update, false},
        {cell, strict, true},
        {cell, none, false},
        {loose, cell, false},
        {zcdp, zcdp, true},
        {zcdp, lower, true},
        {lower, zcdp, false},
        {zcdp, strict, false},
        {strict, both, true},
        {both, strict, false},
        {both, both, true},
    };
    for (std::size_t i = 0; i < cases.size(); ++i)
    {
        EXPECT_EQ(cases[i].claim.FollowsFrom(cases[i].from), cases[i].follows) << i;
    }
}

TEST(PrivacyAccountant, HasNoLimitWithoutABudget)
{
    for (const double budget : {0.0, UNBOUNDED})
    {
        EXPECT_EQ(CountAffordable(MakeExpense(1e9), {budget, EPSILON_BASIC}), 1000U);
        // Also where the update has no epsilon at all.
        EXPECT_EQ(CountAffordable(PrivacyExpense(), {budget, EPSILON_BASIC}), 1000U);
        EXPECT_EQ(CountAffordable(PrivacyExpense(), {budget, EPSILON_ZCDP}), 1000U);
    }
}

TEST(PrivacyAccountant, NeverAllowsAnUpdateWithoutTheEpsilonThatIsLimited)
{
    struct Case
    {
        PrivacyExpense expense;
        PrivacyEpsilon of;
        bool canAfford;
    };

    const PrivacyExpense none;
    const PrivacyExpense sameCell = MakeExpense(1e-9, PrivacyClaim::SAME_CELL);
    const PrivacyExpense isTrue = MakeExpense(1e-9);
    const PrivacyExpense zcdp = MakeZcdp(1e-9);
    const std::vector<Case> cases{
        {none, EPSILON_BASIC, false},
        {none, EPSILON_ZCDP, false},
        {none, EPSILON_SAME_CELL, false},
        {none, EPSILON_SAMPLED, false},
        {sameCell, EPSILON_BASIC, false},
        {sameCell, EPSILON_ZCDP, false},
        {sameCell, EPSILON_SAME_CELL, true},
        {sameCell, EPSILON_SAMPLED, false},
        {isTrue, EPSILON_BASIC, true},
        {isTrue, EPSILON_ZCDP, true},
        {isTrue, EPSILON_SAME_CELL, true}, // what holds for all values holds for those of a cell
        {isTrue, EPSILON_SAMPLED, true},
        {zcdp, EPSILON_BASIC, false},
        {zcdp, EPSILON_ZCDP, true},
        {zcdp, EPSILON_SAME_CELL, false},
        {zcdp, EPSILON_SAMPLED, false},
    };
    const PrivacyAccountant accountant;
    for (const Case& one : cases)
    {
        const PrivacyLimit limit{1000, one.of};
        SCOPED_TRACE(testing::Message()
                     << "kind " << one.expense.claim.kind << ", " << GetPrivacyEpsilonName(one.of));
        EXPECT_EQ(accountant.CanAfford(one.expense, limit), one.canAfford);
        // A user hears of it before the simulation begins.
        std::string error;
        EXPECT_EQ(PrivacyAccountant::CheckLimit(one.expense.claim, 3, limit, error), one.canAfford);
        EXPECT_EQ(error.empty(), one.canAfford);
    }
}

TEST(PrivacyAccountant, LimitsTheEpsilonByZcdpWithItsDelta)
{
    // By the best of 13,000 orders, with ln(1/delta) = 4: a rho of 1 has 4.005437, of 2 6.463231.
    struct Case
    {
        double budget;
        bool one;
        bool two;
    };

    const std::vector<Case> cases{
        {4.0054, false, false},
        {4.0055, true, false},
        {6.4632, true, false},
        {6.4633, true, true},
    };
    for (const Case& limited : cases)
    {
        SCOPED_TRACE(limited.budget);
        PrivacyAccountant accountant;
        accountant.SetDelta(std::exp(-4));
        const PrivacyLimit limit{limited.budget, EPSILON_ZCDP};
        EXPECT_EQ(accountant.CanAfford(MakeZcdp(1), limit), limited.one);
        accountant.Spend(MakeZcdp(1));
        EXPECT_EQ(accountant.CanAfford(MakeZcdp(1), limit), limited.two);
    }
    // A smaller delta has a larger epsilon.
    PrivacyAccountant strict;
    strict.SetDelta(std::exp(-9));
    EXPECT_EQ(strict.GetLedger().GetDelta(), std::exp(-9));
    EXPECT_FALSE(strict.CanAfford(MakeZcdp(1), {6.2317, EPSILON_ZCDP}));
    EXPECT_TRUE(strict.CanAfford(MakeZcdp(1), {6.2318, EPSILON_ZCDP}));
}

TEST(PrivacyAccountant, LimitsTheEpsilonOfASampleByItsShare)
{
    // q = 1/2 and e^epsilon = 3: ln(1 + (3 - 1)/2) = ln 2.
    PrivacyExpense expense = MakeExpense(std::log(3) / 1000);
    expense.samplingRate = 0.5;
    const PrivacyAccountant accountant;
    EXPECT_TRUE(accountant.CanAfford(expense, {std::log(2) + 1e-6, EPSILON_SAMPLED}));
    EXPECT_FALSE(accountant.CanAfford(expense, {std::log(2) - 1e-6, EPSILON_SAMPLED}));
    EXPECT_FALSE(accountant.CanAfford(expense, {std::log(2) + 1e-6, EPSILON_BASIC}));
}

TEST(PrivacyAccountant, SpendsOnlyWhatItIsTold)
{
    PrivacyAccountant accountant;
    EXPECT_TRUE(accountant.CanAfford(MakeExpense(0.001), {1, EPSILON_BASIC}));
    EXPECT_EQ(accountant.GetLedger().GetAnswers(), 0U) << "asking costs nothing";
    EXPECT_EQ(accountant.GetLedger().GetEpsilon(EPSILON_BASIC), 0);
    accountant.Spend(MakeExpense(0.002)); // what was sent is spent, budget or not
    EXPECT_EQ(accountant.GetLedger().GetAnswers(), 1U);
    EXPECT_DOUBLE_EQ(accountant.GetLedger().GetEpsilon(EPSILON_BASIC), 2);
    EXPECT_FALSE(accountant.CanAfford(MakeExpense(0.001), {2.999, EPSILON_BASIC}));
    EXPECT_TRUE(accountant.CanAfford(MakeExpense(0.001), {3, EPSILON_BASIC}));
}

TEST(PrivacyAccountant, AllowsNothingAfterAnUpdateWithoutAClaim)
{
    PrivacyAccountant accountant;
    accountant.Spend(PrivacyExpense());
    EXPECT_FALSE(accountant.CanAfford(MakeExpense(1e-9), {1e9, EPSILON_BASIC}));
    EXPECT_TRUE(accountant.CanAfford(MakeExpense(1e-9), {0, EPSILON_BASIC}));
}

TEST(PrivacyAccountant, SaysWhichEpsilonIsMissingAndWhy)
{
    std::string error;
    PrivacyClaim claim;
    claim.reason = "Updates are sent as they are.";
    EXPECT_FALSE(PrivacyAccountant::CheckLimit(claim, 3, {1, EPSILON_BASIC}, error));
    EXPECT_EQ(error,
              "PrivacyBudget limits the basic epsilon, which an update of 3 bits does not have: "
              "updates are sent as they are.");
    EXPECT_FALSE(
        PrivacyAccountant::CheckLimit(MakeZcdp(1).claim, 16, {1, EPSILON_SAME_CELL}, error));
    EXPECT_EQ(error,
              "PrivacyBudget limits the same-cell epsilon, which an update of 16 bits does not "
              "have: it has a rho of zCDP.");
    claim.reason.clear();
    EXPECT_FALSE(PrivacyAccountant::CheckLimit(claim, 1, {1, EPSILON_ZCDP}, error));
    EXPECT_NE(error.find("limits the zcdp epsilon"), std::string::npos);
}

TEST(PrivacyAccountant, AcceptsAnyUpdateWithoutALimit)
{
    std::string error;
    for (const double budget : {0.0, UNBOUNDED})
    {
        EXPECT_TRUE(
            PrivacyAccountant::CheckLimit(PrivacyClaim(), 3, {budget, EPSILON_BASIC}, error));
    }
    EXPECT_TRUE(error.empty());
}
