// SPDX-License-Identifier: GPL-2.0-only

#include "ns3/strategy-checker.h"

#include "ns3/config.h"
#include "ns3/federated-device.h"
#include "ns3/fusion-center.h"
#include "ns3/learning-task.h"
#include "ns3/optimal-cluster-sizes.h"
#include "ns3/string.h"

#include <gtest/gtest.h>

#include <string>

using namespace ns3;

namespace
{

/** @return the class of the policy of a center. */
std::string
GetPolicy(const Ptr<FusionCenter>& center)
{
    PointerValue policy;
    center->GetAttribute("ClusterSizePolicy", policy);
    return policy.GetObject()->GetInstanceTypeId().GetName();
}

} // namespace

TEST(StrategyChecker, AcceptsTextsAndObjects)
{
    const auto center = CreateObject<FusionCenter>();
    const auto policy = CreateObject<OptimalClusterSizes>();
    center->SetAttribute("ClusterSizePolicy", StringValue("ns3::RandomClusterSizes"));
    EXPECT_EQ(GetPolicy(center), "ns3::RandomClusterSizes");
    center->SetAttribute("ClusterSizePolicy", PointerValue(policy));
    EXPECT_EQ(GetPolicy(center), "ns3::OptimalClusterSizes");
    center->SetAttribute("ClusterSizePolicy", StringValue("ns3::RandomClusterSizes[]"));
    EXPECT_EQ(GetPolicy(center), "ns3::RandomClusterSizes");
    center->SetAttribute("LinkNoise", StringValue("ns3::FixedLinkNoise[Sigmas=0.5,1]"));
    CreateObject<FederatedDevice>()->SetAttribute(
        "TimePerSample", StringValue("ns3::UniformRandomVariable[Min=1|Max=2]"));
}

TEST(StrategyChecker, SaysWhyATextIsNoStrategy)
{
    const struct
    {
        const char* text;
        const char* mistake;
    } mistakes[] = {
        {"ns3::NoSuchSizes", "there is no class of that name"},
        {"OptimalClusterSizes", "there is no class of that name"},
        {"ns3::NoSuchSizes\\[A=1\\]", "there is no class of that name"},
        {"", "there is no class of that name"},
        {"0", "there is no class of that name"},
        {"ns3::UdpSocketFactory", "that class is of another kind"},
        {"ns3::UniformFusion", "that class is of another kind"},
        {"ns3::ClusterSizePolicy", "that class is abstract"},
        {"ns3::OptimalClusterSizes\\[ClippingConstant=1", "its brackets do not match"},
        {"ns3::OptimalClusterSizes\\[\\[ClippingConstant=1\\]", "its brackets do not match"},
        {"ns3::OptimalClusterSizes\\[ClippingConstant=1\\]x", "its brackets do not match"},
        {"ns3::OptimalClusterSizes\\[ClippingConstant= 1\\]", "there are spaces in it"},
        {"ns3::OptimalClusterSizes\\[NoSuch=1\\]",
         "ns3::OptimalClusterSizes has no attribute 'NoSuch'"},
        {"ns3::OptimalClusterSizes\\[ClippingConstant=1\\|NoSuch=1\\]",
         "ns3::OptimalClusterSizes has no attribute 'NoSuch'"},
        {"ns3::OptimalClusterSizes\\[ClippingConstant\\]",
         "the value in 'ClippingConstant' is missing or wrong"},
        {"ns3::OptimalClusterSizes\\[ClippingConstant=-1\\]",
         "the value in 'ClippingConstant=-1' is missing or wrong"}};
    const auto center = CreateObject<FusionCenter>();
    for (const auto& [pattern, mistake] : mistakes)
    {
        std::string text;
        for (const char* letter = pattern; *letter != 0; ++letter)
        {
            text += *letter == '\\' ? "" : std::string(1, *letter);
        }
        EXPECT_DEATH(center->SetAttribute("ClusterSizePolicy", StringValue(text)),
                     std::string("'") + pattern +
                         "' cannot be used as ns3::ClusterSizePolicy: " + mistake);
    }
    // ns-3 says this itself.
    EXPECT_DEATH(center->SetAttribute("ClusterSizePolicy",
                                      StringValue("ns3::OptimalClusterSizes[ClippingConstant=5x]")),
                 "5x");
    EXPECT_DEATH(center->SetAttribute("ClusterSizePolicy", PointerValue(center)),
                 "ClusterSizePolicy could not be set");
}

TEST(StrategyChecker, IsTheCheckerOfAllPointerAttributes)
{
    for (uint16_t i = 0; i < TypeId::GetRegisteredN(); ++i)
    {
        const TypeId type = TypeId::GetRegistered(i);
        for (std::size_t j = 0; type.GetGroupName() == "Federated" && j < type.GetAttributeN(); ++j)
        {
            const auto value = type.GetAttribute(j).checker->Create();
            EXPECT_TRUE(!DynamicCast<PointerValue>(value) ||
                        DynamicCast<federated::StrategyValue>(value))
                << type.GetAttributeFullName(j) << " needs MakeStrategyChecker";
        }
    }
}

TEST(StrategyChecker, ChecksTheStrategiesOfAllClasses)
{
    const char* const unknown = "ns3::NoSuchClass";
    const StringValue text(unknown);
    EXPECT_DEATH(CreateObject<FusionCenter>()->SetAttribute("Quantizer", text), unknown);
    EXPECT_DEATH(CreateObject<FederatedDevice>()->SetAttribute("IntervalRule", text), unknown);
    EXPECT_DEATH(CreateObject<FederatedDevice>()->SetAttribute("TimePerSample", text), unknown);
    EXPECT_DEATH(CreateObject<LearningTask>()->SetAttribute("Model", text), unknown);
    EXPECT_DEATH(Config::SetDefault("ns3::FusionCenter::BitBudget", text), unknown);
}
