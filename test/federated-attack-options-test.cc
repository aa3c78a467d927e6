// SPDX-License-Identifier: GPL-2.0-only

#include "parse-words.h"

#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/federated-attack-options.h"
#include "ns3/federated-quantizers.h"
#include "ns3/uinteger.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

using namespace ns3;

namespace
{

/** @return the error of a command line; empty if there is none. */
std::string
Parse(const std::vector<std::string>& words, FederatedAttackOptions& options)
{
    FederatedCommandLine cmd("federated-test.cc", "A test.");
    options.Add(cmd);
    std::string error = ParseWords(words, cmd);
    if (error.empty())
    {
        options.ReadOrExit(cmd);
    }
    return error;
}

template <typename Value>
auto
Get(const Ptr<Object>& object, const std::string& name)
{
    Value value;
    object->GetAttribute(name, value);
    return value.Get();
}

} // namespace

TEST(FederatedAttackOptions, MakesWhatIsAskedFor)
{
    FederatedAttackOptions options;
    ASSERT_EQ(Parse({}, options), "");
    EXPECT_EQ(options.MakeQuantizer(100)->GetInstanceTypeId().GetName(),
              "ns3::DpStochasticQuantizer");
    EXPECT_DOUBLE_EQ(Get<DoubleValue>(options.MakeQuantizer(100), "Epsilon"), 1e-6);
    EXPECT_EQ(options.MakeInterval()->GetInstanceTypeId().GetName(), "ns3::MinMaxInterval");
    EXPECT_FALSE(Get<BooleanValue>(options.MakeInterval(), "PerLayer"));
    EXPECT_EQ(options.MakeAttack()->GetInstanceTypeId().GetName(), "ns3::DlgInversion");
    EXPECT_FALSE(Get<BooleanValue>(options.MakeAttack(), "InferLabel"));

    ASSERT_EQ(Parse({"--quantizer=laplace",
                     "--interval=fixed:0.5",
                     "--epsilon=2",
                     "--clip=3",
                     "--attack=idlg",
                     "--iterations=7"},
                    options),
              "");
    EXPECT_DOUBLE_EQ(Get<DoubleValue>(options.MakeQuantizer(100), "Epsilon"), 200);
    EXPECT_DOUBLE_EQ(Get<DoubleValue>(options.MakeQuantizer(100), "Sensitivity"), 6);
    EXPECT_DOUBLE_EQ(Get<DoubleValue>(options.MakeInterval(), "Low"), -0.5);
    EXPECT_DOUBLE_EQ(Get<DoubleValue>(options.MakeInterval(), "High"), 0.5);
    EXPECT_TRUE(Get<BooleanValue>(options.MakeAttack(), "InferLabel"));
    EXPECT_EQ(Get<UintegerValue>(options.MakeAttack(), "Iterations"), 7U);

    FederatedAttackOptions others;
    ASSERT_EQ(Parse({"--quantizer=none", "--interval=layer-min-max", "--attack=linear"}, others),
              "");
    EXPECT_EQ(others.MakeQuantizer(9)->GetInstanceTypeId().GetName(), "ns3::IdentityQuantizer");
    EXPECT_TRUE(Get<BooleanValue>(others.MakeInterval(), "PerLayer"));
    EXPECT_EQ(others.MakeAttack()->GetInstanceTypeId().GetName(), "ns3::LinearInversion");
    ASSERT_EQ(Parse({"--quantizer=rr", "--interval=max-abs", "--attack=cosine"}, others), "");
    EXPECT_EQ(others.bits, 1U);
    EXPECT_EQ(others.MakeInterval()->GetInstanceTypeId().GetName(), "ns3::MaxAbsInterval");
    EXPECT_EQ(others.MakeAttack()->GetInstanceTypeId().GetName(), "ns3::CosineInversion");
}

TEST(FederatedAttackOptions, RefusesWhatMakesNoSense)
{
    for (const char* word : {"--quantizer=best",
                             "--interval=",
                             "--interval=minmax",
                             "--interval=fixed",
                             "--interval=fixed:",
                             "--interval=fixed:0",
                             "--interval=fixed:-1",
                             "--interval=fixed:1x",
                             "--interval=fixed:nan",
                             "--bits=0",
                             "--bits=17",
                             "--epsilon=0",
                             "--clip=0",
                             "--attack=none"})
    {
        FederatedAttackOptions options;
        EXPECT_NE(Parse({word}, options), "") << word;
    }
}

TEST(FederatedQuantizers, EveryNameIsThatOfAQuantizer)
{
    const auto names = FederatedQuantizers::GetCoordinateWise();
    EXPECT_EQ(names, (std::vector<std::string>{"none", "sq", "dp", "laplace", "rr", "optimal"}));
    auto all = names;
    all.insert(all.end(), {"coordinates", "gaussian", "identity", "paper", "random-coordinates"});
    for (const std::string& name : all)
    {
        TypeId type;
        ASSERT_TRUE(TypeId::LookupByNameFailSafe(FederatedQuantizers::GetTypeIdName(name), &type));
        EXPECT_TRUE(type.IsChildOf(Quantizer::GetTypeId())) << name;
    }
}

TEST(FederatedQuantizersDeathTest, AnUnknownNameStopsTheScript)
{
    EXPECT_DEATH(FederatedQuantizers::GetTypeIdName("DP"), "there is no quantizer DP");
}
