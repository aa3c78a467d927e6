// SPDX-License-Identifier: GPL-2.0-only

#include "parse-words.h"

#include "ns3/federated-learning-options.h"
#include "ns3/federated-port.h"
#include "ns3/inet-socket-address.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/node-container.h"
#include "ns3/pointer.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

using namespace ns3;

namespace
{

/** @return the error of a command line; empty if there is none. */
std::string
Parse(const std::vector<std::string>& words, FederatedLearningOptions& options)
{
    FederatedCommandLine cmd("federated-test.cc", "A test.");
    options.Add(cmd);
    return ParseWords(words, cmd);
}

/** @return the class of an object, and one of its attributes; the error if there is no object. */
std::string
Describe(const Ptr<const Object>& object, const std::string& error, const std::string& attribute)
{
    if (!object)
    {
        return error;
    }
    StringValue value;
    if (!attribute.empty())
    {
        object->GetAttribute(attribute, value);
    }
    return object->GetInstanceTypeId().GetName() + " " + value.Get();
}

/** @return what a text makes. */
std::string
ReadPartition(const std::string& text, const std::string& attribute = "")
{
    std::string error;
    const auto partition = FederatedLearningOptions::MakePartition(text, error);
    EXPECT_EQ(!partition, !error.empty()) << text;
    return Describe(partition, error, attribute);
}

/** @return what a text makes. */
std::string
ReadModel(const std::string& text, const std::string& attribute = "")
{
    std::string error;
    const auto model = FederatedLearningOptions::MakeModel(text, error);
    EXPECT_EQ(!model, !error.empty()) << text;
    EXPECT_EQ(FederatedLearningOptions::CheckModel(text), error);
    return Describe(model, error, attribute);
}

/** @return what a text makes. */
std::string
ReadAggregator(const std::string& text, const std::string& attribute = "")
{
    std::string error;
    const auto aggregator = FederatedLearningOptions::MakeAggregator(text, error);
    EXPECT_EQ(!aggregator, !error.empty()) << text;
    return Describe(aggregator, error, attribute);
}

} // namespace

TEST(FederatedLearningOptions, ReadPartitions)
{
    EXPECT_EQ(ReadPartition("iid"), "ns3::IidPartition ");
    EXPECT_EQ(ReadPartition("dirichlet:0.5", "Alpha"), "ns3::DirichletPartition 0.5");
    EXPECT_EQ(ReadPartition("dirichlet:1e6", "Alpha"), "ns3::DirichletPartition 1e+06");
    EXPECT_EQ(ReadPartition("shards:2", "Shards"), "ns3::ShardPartition 2");
    EXPECT_EQ(ReadPartition("shards:1000000", "Shards"), "ns3::ShardPartition 1000000");
    EXPECT_EQ(ReadPartition("labels"), "ns3::LabelPartition ");
    EXPECT_EQ(ReadPartition("quantity:1e-1", "Alpha"), "ns3::QuantityPartition 0.1");
}

TEST(FederatedLearningOptions, ReadModels)
{
    EXPECT_EQ(ReadModel("mlp:200", "HiddenLayers"), "ns3::MlpModel 200");
    EXPECT_EQ(ReadModel("mlp", "HiddenLayers"), "ns3::MlpModel 200");
    EXPECT_EQ(ReadModel("mlp:300,100", "HiddenLayers"), "ns3::MlpModel 300,100");
    EXPECT_EQ(ReadModel("mlp:65535", "HiddenLayers"), "ns3::MlpModel 65535");
    EXPECT_EQ(ReadModel("logistic"), "ns3::LogisticModel ");
    EXPECT_EQ(ReadModel("lenet"), "ns3::LeNetModel ");
}

TEST(FederatedLearningOptions, ReadAggregators)
{
    EXPECT_EQ(ReadAggregator("mean"), "ns3::MeanAggregator ");
    EXPECT_EQ(ReadAggregator("median"), "ns3::MedianAggregator ");
    EXPECT_EQ(ReadAggregator("trimmed:0.2", "Fraction"), "ns3::TrimmedMeanAggregator 0.2");
    EXPECT_EQ(ReadAggregator("trimmed:0", "Fraction"), "ns3::TrimmedMeanAggregator 0");
    EXPECT_EQ(ReadAggregator("trimmed:0.5", "Fraction"), "ns3::TrimmedMeanAggregator 0.5");
    EXPECT_EQ(ReadAggregator("norm:1e-3", "Bound"), "ns3::NormBoundAggregator 0.001");
}

TEST(FederatedLearningOptions, SayWhatIsWrong)
{
    for (const char* text : {"", "Mean", "mean:1", "median:", "krum", "trim:0.1"})
    {
        EXPECT_EQ(ReadAggregator(text), "is not one of mean, median, trimmed:F, norm:C") << text;
    }
    for (const char* value : {"", ":", ":0.51", ":-0.1", ":nan", ":0.1x", ":0,1", ":10%"})
    {
        EXPECT_EQ(ReadAggregator("trimmed" + std::string(value)),
                  "needs a number from 0 to 0.5 after 'trimmed:'")
            << value;
    }
    for (const char* value : {"", ":", ":0", ":-1", ":inf", ":1x", ":1e10"})
    {
        EXPECT_EQ(ReadAggregator("norm" + std::string(value)),
                  "needs a number from 1e-9 to 1e9 after 'norm:'")
            << value;
    }

    for (const char* text : {"", "IID", "iid:", "iid:1", "iid ", " iid", "labels:2", "random:1"})
    {
        EXPECT_EQ(ReadPartition(text),
                  "is not one of iid, dirichlet:A, shards:S, labels, quantity:A")
            << text;
    }
    for (const char* value : {"", "0", "-1", "nan", "inf", "1x", "0.5 ", "1e7", "0,5", "0.5:1"})
    {
        EXPECT_EQ(ReadPartition("dirichlet:" + std::string(value)),
                  "needs a number above 0 and up to 1e6 after 'dirichlet:'")
            << value;
    }
    EXPECT_EQ(ReadPartition("dirichlet"),
              "needs a number above 0 and up to 1e6 after 'dirichlet:'");
    EXPECT_EQ(ReadPartition("quantity"), "needs a number above 0 and up to 1e6 after 'quantity:'");
    for (const char* value : {"", "0", "-1", "2.5", "2x", "1000001", "18446744073709551617"})
    {
        EXPECT_EQ(ReadPartition("shards:" + std::string(value)),
                  "needs a whole number from 1 to 1000000 after 'shards:'")
            << value;
    }
    for (const char* text :
         {"", "MLP:200", "mlp200", "logistic:1", "lenet:", "cnn", "ns3::MlpModel"})
    {
        EXPECT_EQ(ReadModel(text), "is not one of mlp:H, mlp, logistic, lenet") << text;
    }
    for (const char* value : {"", "0", "-5", "200x", "65536", "200,", ",", "1,,2", "2.5", "a"})
    {
        EXPECT_EQ(ReadModel("mlp:" + std::string(value)),
                  "needs whole numbers from 1 to 65535 with commas between after 'mlp:'")
            << value;
    }
}

TEST(FederatedLearningOptions, RefuseBadCommandLines)
{
    FederatedLearningOptions options;
    EXPECT_EQ(Parse({"--partition=dirichlet:0"}, options),
              "The value of --partition=dirichlet:0 needs a number above 0 and up to 1e6 after "
              "'dirichlet:'.");
    EXPECT_EQ(Parse({"--model=cnn"}, options),
              "The value of --model=cnn is not one of mlp:H, mlp, logistic, lenet.");
    EXPECT_EQ(Parse({"--aggregator=trimmed:0.6"}, options),
              "The value of --aggregator=trimmed:0.6 needs a number from 0 to 0.5 after "
              "'trimmed:'.");
    for (const char* word : {"--steps=0",
                             "--steps=5x",
                             "--steps=-1",
                             "--steps=1000001",
                             "--batch=0",
                             "--batch=1.5",
                             "--batch=",
                             "--learning-rate=-0.1",
                             "--learning-rate=fast",
                             "--learning-rate=nan",
                             "--learning-rate=1e7",
                             "--partition",
                             "--partition=",
                             "--model",
                             "--aggregator",
                             "--aggregator="})
    {
        EXPECT_NE(Parse({word}, options), "") << word;
    }
    const FederatedLearningOptions defaults;
    EXPECT_EQ(options.partition, defaults.partition) << "a wrong option changes nothing";
    EXPECT_EQ(options.model, defaults.model);
    EXPECT_EQ(options.steps, defaults.steps);
    EXPECT_EQ(options.batch, defaults.batch);
    EXPECT_EQ(options.learningRate, defaults.learningRate);
    EXPECT_EQ(options.aggregator, defaults.aggregator);
}

TEST(FederatedLearningOptions, HaveTheDefaultsOfTheAttributes)
{
    // Values at their default are not set: they must be what the attributes are without them.
    const FederatedLearningOptions defaults;
    const auto device = CreateObject<FederatedDevice>();
    UintegerValue value;
    device->GetAttribute("Steps", value);
    EXPECT_EQ(value.Get(), defaults.steps);
    device->GetAttribute("BatchSize", value);
    EXPECT_EQ(value.Get(), defaults.batch);
    const auto task = CreateObject<LearningTask>();
    EXPECT_EQ(Describe(task->GetPartition(), "", ""), ReadPartition(defaults.partition));
    EXPECT_EQ(Describe(task->GetModel(), "", "HiddenLayers"),
              ReadModel(defaults.model, "HiddenLayers"));
    PointerValue aggregator;
    CreateObject<FusionCenter>()->GetAttribute("Aggregator", aggregator);
    EXPECT_EQ(Describe(aggregator.Get<UpdateAggregator>(), "", ""),
              ReadAggregator(defaults.aggregator));
}

TEST(FederatedLearningOptions, SetTheAggregatorOfTheCenter)
{
    FederatedLearningOptions options;
    ASSERT_EQ(Parse({"--aggregator=trimmed:0.2"}, options), "");
    FederatedHelper federation;
    NodeContainer nodes(3);
    InternetStackHelper().Install(nodes);
    federation.SetData(FederatedData::MakeSynthetic(1, 60, 10, 6, 6, 4));
    federation.AddGroup(NodeContainer(nodes.Get(1), nodes.Get(2)), 4);
    federation.SetCenterAttribute("Participants", UintegerValue(2));
    options.SetUp(federation);
    federation.Install(nodes.Get(0), InetSocketAddress("10.0.0.1", FederatedPort::CENTER));
    PointerValue aggregator;
    federation.GetCenter()->GetAttribute("Aggregator", aggregator);
    EXPECT_EQ(Describe(aggregator.Get<UpdateAggregator>(), "", "Fraction"),
              "ns3::TrimmedMeanAggregator 0.2");
    Simulator::Destroy();
}

TEST(FederatedLearningOptions, AreAppliedToTheTask)
{
    FederatedLearningOptions options;
    ASSERT_EQ(Parse({"--partition=shards:3", "--model=mlp:7"}, options), "");
    FederatedHelper federation;
    federation.SetData(FederatedData::MakeSynthetic(1, 60, 10, 6, 6, 4));
    federation.AddGroup(NodeContainer(5), 4);
    options.SetUp(federation);
    std::string error;
    ASSERT_TRUE(federation.Check(error)) << error;
    const auto task = federation.GetTask();
    EXPECT_EQ(Describe(task->GetPartition(), "", "Shards"), "ns3::ShardPartition 3");
    EXPECT_EQ(Describe(task->GetModel(), "", "HiddenLayers"), "ns3::MlpModel 7");
    EXPECT_EQ(task->GetDimension(), 37U * 7 + 8 * 4);

    options.partition = "shards:13";
    options.SetUp(federation);
    EXPECT_FALSE(federation.Check(error));
    EXPECT_EQ(error, "60 samples cannot be cut into 65 shards: 13 for each of 5 devices.");
    Simulator::Destroy();
}

TEST(FederatedLearningOptions, TakeLeNetForImagesOfAnySize)
{
    std::string error;
    const auto model = FederatedLearningOptions::MakeModel("lenet", error);
    EXPECT_EQ(model->CreateKernel({28, 28, 10})->GetDimension(), 13426U);
    EXPECT_EQ(model->CreateKernel({1, 1, 2})->GetClasses(), 2U);
    EXPECT_EQ(model->CreateKernel({7, 9, 3})->GetFeatures(), 63U);
}
