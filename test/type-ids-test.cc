// SPDX-License-Identifier: GPL-2.0-only

#include "ns3/object-base.h"
#include "ns3/object-factory.h"
#include "ns3/type-id.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>

using namespace ns3;

namespace
{

std::set<std::string>
GetNames()
{
    std::set<std::string> names;
    for (uint16_t i = 0; i < TypeId::GetRegisteredN(); ++i)
    {
        const TypeId tid = TypeId::GetRegistered(i);
        if (tid.GetGroupName() == "Federated")
        {
            names.insert(tid.GetName());
        }
    }
    return names;
}

} // namespace

TEST(TypeIds, EveryStrategyOfTheModuleIsThere)
{
    const auto names = GetNames();
    for (const char* name : {
             "ns3::DpStochasticQuantizer",
             "ns3::UnbiasedStochasticQuantizer",
             "ns3::LaplaceQuantizer",
             "ns3::IdentityQuantizer",
             "ns3::GaussianQuantizer",
             "ns3::RandomizedResponseQuantizer",
             "ns3::OptimalDpQuantizer",
             "ns3::RandomCoordinatesQuantizer",
             "ns3::FixedInterval",
             "ns3::MaxAbsInterval",
             "ns3::MinMaxInterval",
             "ns3::UniformFusion",
             "ns3::ResolutionFusion",
             "ns3::EffectiveSnrFusion",
             "ns3::SampleFusion",
             "ns3::RandomClusterSizes",
             "ns3::OptimalClusterSizes",
             "ns3::RandomSelection",
             "ns3::BestSnrSelection",
             "ns3::RoundRobinSelection",
             "ns3::MlpModel",
             "ns3::LeNetModel",
             "ns3::LogisticModel",
             "ns3::LearningTask",
             "ns3::IidPartition",
             "ns3::DirichletPartition",
             "ns3::ShardPartition",
             "ns3::LabelPartition",
             "ns3::QuantityPartition",
             "ns3::DlgInversion",
             "ns3::CosineInversion",
             "ns3::LinearInversion",
             "ns3::NoLinkNoise",
             "ns3::FixedLinkNoise",
             "ns3::SnrLinkNoise",
             "ns3::FixedBitBudget",
             "ns3::MeasuredBitBudget",
             "ns3::GoodputProbe",
             "ns3::InsiderAttack",
         })
    {
        EXPECT_EQ(names.count(name), 1U) << name;
        ObjectFactory factory(name);
        EXPECT_EQ(factory.Create()->GetInstanceTypeId().GetName(), name);
    }
}

TEST(TypeIds, TheHeaderIsThere)
{
    const TypeId tid = TypeId::LookupByName("ns3::FederatedHeader");
    EXPECT_EQ(GetNames().count("ns3::FederatedHeader"), 1U);
    ASSERT_TRUE(tid.HasConstructor());
    const std::unique_ptr<ObjectBase> header(tid.GetConstructor()());
    EXPECT_EQ(header->GetInstanceTypeId(), tid);
}

TEST(TypeIds, EveryAttributeHasHelpAndAnInitialValueThatItsCheckerAccepts)
{
    for (const auto& name : GetNames())
    {
        const TypeId tid = TypeId::LookupByName(name);
        EXPECT_TRUE(tid.HasParent()) << name;
        for (std::size_t i = 0; i < tid.GetAttributeN(); ++i)
        {
            const auto attribute = tid.GetAttribute(i);
            EXPECT_FALSE(attribute.help.empty()) << name << "::" << attribute.name;
            EXPECT_TRUE(attribute.checker->CreateValidValue(*attribute.initialValue))
                << name << "::" << attribute.name;
        }
    }
}
