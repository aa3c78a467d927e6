// SPDX-License-Identifier: GPL-2.0-only

#include "ns3/boolean.h"
#include "ns3/config.h"
#include "ns3/federated-helper.h"

#include "parse-words.h"
#include "recording-fusion.h"

#include "ns3/arp-cache.h"
#include "ns3/double.h"
#include "ns3/federated-header.h"
#include "ns3/federated-learning-options.h"
#include "ns3/federated-neighbors.h"
#include "ns3/federated-port.h"
#include "ns3/federated-scenario-options.h"
#include "ns3/federated-star-helper.h"
#include "ns3/inet-socket-address.h"
#include "ns3/inet6-socket-address.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-address-helper.h"
#include "ns3/ipv4-interface.h"
#include "ns3/ipv4-l3-protocol.h"
#include "ns3/ipv6-address-helper.h"
#include "ns3/ipv6-interface.h"
#include "ns3/ipv6-l3-protocol.h"
#include "ns3/ipv6-static-routing-helper.h"
#include "ns3/ipv6.h"
#include "ns3/mac48-address.h"
#include "ns3/message-crypto.h"
#include "ns3/ndisc-cache.h"
#include "ns3/node-list.h"
#include "ns3/point-to-point-helper.h"
#include "ns3/pointer.h"
#include "ns3/quantity-partition.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/simple-net-device-helper.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"
#include "ns3/unbiased-stochastic-quantizer.h"

#include <gtest/gtest.h>

#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

using namespace ns3;

namespace
{

/** @return an attribute of an object, as text. */
std::string
GetText(const Ptr<const Object>& object, const std::string& name)
{
    StringValue text;
    object->GetAttribute(name, text);
    return text.Get();
}

/** @return an attribute of an object that is a number. */
double
GetNumber(const Ptr<const Object>& object, const std::string& name)
{
    DoubleValue number;
    object->GetAttribute(name, number);
    return number.Get();
}

/** @return an attribute of an object that is an object. */
Ptr<Object>
GetObjectOf(const Ptr<const Object>& object, const std::string& name)
{
    PointerValue pointer;
    object->GetAttribute(name, pointer);
    return pointer.GetObject();
}

/** @return the class of an attribute of an object that is an object. */
std::string
GetClassOf(const Ptr<const Object>& object, const std::string& name)
{
    return GetObjectOf(object, name)->GetInstanceTypeId().GetName();
}

/** Note when a round began, and with how many devices. */
void
NoteJoined(std::vector<std::pair<Time, uint32_t>>* joined, const RoundRecord& record)
{
    joined->emplace_back(record.start, record.joined);
}

} // namespace

/** @ingroup federated-tests A helper for three devices of two groups, with tiny images. */
class FederatedHelpers : public testing::Test
{
  protected:
    void SetUp() override
    {
        RngSeedManager::SetSeed(1);
        RngSeedManager::SetRun(1);
        Renew();
    }

    void TearDown() override
    {
        Simulator::Destroy();
    }

    /** Begin again. */
    void Renew()
    {
        Simulator::Destroy();
        m_helper = std::make_unique<FederatedHelper>();
        m_coarse = NodeContainer(2);
        m_fine = NodeContainer(1);
        m_helper->AddGroup(m_coarse, 2);
        m_helper->AddGroup(m_fine, 4);
        m_helper->SetData(FederatedData::MakeSynthetic(1, 120, 60, 6, 6, 4));
        m_helper->SetTaskAttribute("Model", StringValue("ns3::LogisticModel"));
        m_helper->SetTaskAttribute("Threads", UintegerValue(1));
        m_helper->SetCenterAttribute("Participants", UintegerValue(3));
        m_helper->SetCenterAttribute("Rounds", UintegerValue(3));
    }

    /** Put the devices into a star of IPv4 and install the applications. */
    ApplicationContainer InstallInStar(uint32_t tiers = 0)
    {
        FederatedStarHelper star;
        star.SetTiers(tiers);
        return star.Install(*m_helper, CreateObject<Node>());
    }

    /** @return what a run says at its end. */
    std::string Run()
    {
        m_helper->StopWhenFinished();
        Simulator::Run();
        std::ostringstream text;
        m_helper->GetTraceWriter()->GetResult().Print(text);
        return text.str();
    }

    /** @return what Check() says. */
    std::string Check()
    {
        std::string error;
        return m_helper->Check(error) ? "" : error;
    }

    std::unique_ptr<FederatedHelper> m_helper; //!< The helper.
    NodeContainer m_coarse;                    //!< Devices with 2 bits.
    NodeContainer m_fine;                      //!< Devices with 4 bits.
};

TEST_F(FederatedHelpers, ListTheNames)
{
    EXPECT_EQ(FederatedHelper::GetProfiles(),
              (std::vector<std::string>{"literal", "fitted", "sound"}));
    EXPECT_EQ(FederatedHelper::GetAlgorithms(),
              (std::vector<std::string>{"alg1", "fwo", "fwo-cso", "laplacesq", "sq", "fedavg"}));
}

TEST_F(FederatedHelpers, InstallTheProfiles)
{
    struct Expected
    {
        const char* name;
        const char* pixels;
        double decay;
        const char* clip;
        double clipBound;
        double high; // of the interval, 0: max-abs
        const char* distortion;
        const char* report;
        double constant;
    };

    for (const Expected& expected :
         {Expected{"literal", "unit", 0, "l1", 10, 10, "exact", "true", 10},
          Expected{"fitted", "standard", 0.2, "none", 10, 0, "exact", "true", 10},
          Expected{"sound", "unit", 0, "l1", 100, 0.01, "cell", "false", 100}})
    {
        SCOPED_TRACE(expected.name);
        Renew();
        m_helper->SetProfile(expected.name);
        m_helper->SetAlgorithm("fwo-cso");
        m_helper->SetEpsilon(3e-5);
        const auto applications = InstallInStar();
        const Ptr<Object> center = applications.Get(0);
        const Ptr<Object> device = applications.Get(3);
        EXPECT_EQ(GetText(m_helper->GetTask(), "Pixels"), expected.pixels);
        EXPECT_EQ(GetNumber(device, "LearningRate"), 0.1);
        EXPECT_EQ(GetNumber(device, "LearningRateDecay"), expected.decay);
        EXPECT_EQ(GetText(device, "ClipNorm"), expected.clip);
        EXPECT_EQ(GetNumber(device, "ClipBound"), expected.clipBound);
        EXPECT_EQ(GetText(center, "ClipNorm"), expected.clip);
        EXPECT_EQ(GetNumber(center, "ClipBound"), expected.clipBound);
        EXPECT_EQ(GetText(device, "ReportDistortion"), expected.report);
        if (expected.high > 0)
        {
            EXPECT_EQ(GetClassOf(device, "IntervalRule"), "ns3::FixedInterval");
            EXPECT_EQ(GetNumber(GetObjectOf(device, "IntervalRule"), "Low"), -expected.high);
            EXPECT_EQ(GetNumber(GetObjectOf(device, "IntervalRule"), "High"), expected.high);
        }
        else
        {
            EXPECT_EQ(GetClassOf(device, "IntervalRule"), "ns3::MaxAbsInterval");
        }
        EXPECT_EQ(GetText(GetObjectOf(center, "FusionRule"), "Distortion"), expected.distortion);
        EXPECT_EQ(GetNumber(GetObjectOf(center, "ClusterSizePolicy"), "ClippingConstant"),
                  expected.constant);
        EXPECT_EQ(GetNumber(GetObjectOf(device, "Quantizer"), "Epsilon"), 3e-5);
        EXPECT_EQ(GetObjectOf(device, "Quantizer"), GetObjectOf(center, "Quantizer"));
        EXPECT_EQ(GetObjectOf(device, "Task"), GetObjectOf(center, "Task"));
    }
}

TEST_F(FederatedHelpers, InstallTheAlgorithms)
{
    const std::vector<std::vector<std::string>> expected = {
        {"alg1", "ns3::DpStochasticQuantizer", "ns3::UniformFusion", "ns3::RandomClusterSizes"},
        {"fwo", "ns3::DpStochasticQuantizer", "ns3::EffectiveSnrFusion", "ns3::RandomClusterSizes"},
        {"fwo-cso",
         "ns3::DpStochasticQuantizer",
         "ns3::EffectiveSnrFusion",
         "ns3::OptimalClusterSizes"},
        {"laplacesq", "ns3::LaplaceQuantizer", "ns3::ResolutionFusion", "ns3::RandomClusterSizes"},
        {"sq", "ns3::UnbiasedStochasticQuantizer", "ns3::UniformFusion", "ns3::RandomClusterSizes"},
        {"fedavg", "ns3::IdentityQuantizer", "ns3::UniformFusion", "ns3::RandomClusterSizes"}};
    for (const auto& row : expected)
    {
        SCOPED_TRACE(row[0]);
        Renew();
        m_helper->SetAlgorithm(row[0]);
        const auto applications = InstallInStar();
        EXPECT_EQ(GetClassOf(applications.Get(1), "Quantizer"), row[1]);
        EXPECT_EQ(GetClassOf(applications.Get(0), "FusionRule"), row[2]);
        EXPECT_EQ(GetClassOf(applications.Get(0), "ClusterSizePolicy"), row[3]);
        EXPECT_EQ(GetText(applications.Get(1), "ReportDistortion"), "false");
    }
}

TEST_F(FederatedHelpers, GiveLaplaceTheEpsilonOfTheWholeUpdate)
{
    const double dimension = 37 * 4;
    for (const auto& [profile, sensitivity] :
         {std::pair<const char*, double>{"literal", 20}, {"fitted", 0}, {"sound", 200}})
    {
        Renew();
        m_helper->SetProfile(profile);
        m_helper->SetAlgorithm("laplacesq");
        m_helper->SetEpsilon(1e-3);
        const auto quantizer = GetObjectOf(InstallInStar().Get(1), "Quantizer");
        EXPECT_DOUBLE_EQ(GetNumber(quantizer, "Epsilon"), dimension * 1e-3);
        EXPECT_EQ(GetNumber(quantizer, "Sensitivity"), sensitivity);
    }
}

TEST_F(FederatedHelpers, NumberTheDevicesGroupByGroup)
{
    const auto applications = InstallInStar();
    ASSERT_EQ(applications.GetN(), 4U);
    EXPECT_EQ(GetText(applications.Get(0), "GroupBits"), "2,4");
    EXPECT_EQ(GetText(applications.Get(0), "ExpectedDevices"), "3");
    EXPECT_EQ(GetText(applications.Get(0), "MaxDevices"), "3");
    const std::vector<std::vector<std::string>> expected = {
        {"0", "0", "2"}, {"1", "0", "2"}, {"2", "1", "4"}};
    for (uint32_t i = 0; i < 3; ++i)
    {
        const Ptr<Object> device = applications.Get(i + 1);
        EXPECT_EQ(GetText(device, "DeviceId"), expected[i][0]);
        EXPECT_EQ(GetText(device, "Group"), expected[i][1]);
        EXPECT_EQ(GetText(device, "Bits"), expected[i][2]);
    }
    EXPECT_EQ(applications.Get(3)->GetNode(), m_fine.Get(0));
}

TEST_F(FederatedHelpers, LetAttributesWinOverTheProfile)
{
    m_helper->SetDeviceAttribute("LearningRate", DoubleValue(0.5));
    m_helper->SetCenterAttribute("FusionRule", StringValue("ns3::UniformFusion"));
    auto quantizer = CreateObject<UnbiasedStochasticQuantizer>();
    m_helper->SetQuantizer(quantizer);
    const auto applications = InstallInStar();
    EXPECT_EQ(GetNumber(applications.Get(2), "LearningRate"), 0.5);
    EXPECT_EQ(GetClassOf(applications.Get(0), "FusionRule"), "ns3::UniformFusion");
    EXPECT_EQ(GetObjectOf(applications.Get(0), "Quantizer"), quantizer);
    EXPECT_EQ(GetObjectOf(applications.Get(2), "Quantizer"), quantizer);
}

TEST_F(FederatedHelpers, TakeTheOptionsOfLocalTraining)
{
    FederatedLearningOptions options;
    options.model = "logistic";
    options.SetUp(*m_helper);
    InstallInStar();
    const auto profiled = m_helper->GetDevices().front();
    EXPECT_EQ(GetText(profiled, "Steps"), "10");
    EXPECT_EQ(GetNumber(profiled, "LearningRate"), 0.1) << "of the profile";

    Renew();
    options.steps = 4;
    options.batch = 6;
    options.learningRate = 0.25;
    options.SetUp(*m_helper);
    InstallInStar();
    for (const auto& device : m_helper->GetDevices())
    {
        EXPECT_EQ(GetText(device, "Steps"), "4");
        EXPECT_EQ(GetText(device, "BatchSize"), "6");
        EXPECT_EQ(GetNumber(device, "LearningRate"), 0.25);
    }
}

TEST_F(FederatedHelpers, SayWhatDoesNotFit)
{
    EXPECT_EQ(Check(), "");
    m_helper->SetProfile("sounder");
    EXPECT_EQ(Check(), "There is no profile 'sounder', only literal, fitted, sound.");
    m_helper->SetProfile("sound");
    m_helper->SetAlgorithm("alg2");
    EXPECT_EQ(Check(),
              "There is no algorithm 'alg2', only alg1, fwo, fwo-cso, laplacesq, sq, fedavg.");
    m_helper->SetAlgorithm("fwo");
    m_helper->SetEpsilon(0);
    EXPECT_EQ(Check(), "Epsilon is 0, not a number above 0.");
    m_helper->SetEpsilon(1);
    m_helper->SetProtocol("sctp");
    EXPECT_EQ(Check(), "There is no protocol 'sctp', only udp, tcp.");
    m_helper->SetProtocol("tcp");
    EXPECT_EQ(Check(), "");
    m_helper->SetData({});
    EXPECT_EQ(Check(), "The learning task has no data set.");
    m_helper->SetData(FederatedData::MakeSynthetic(1, 2, 2, 6, 6, 2));
    EXPECT_NE(Check(), "") << "three devices cannot share two samples";

    Renew();
    m_helper->AddGroup(NodeContainer(), 2);
    EXPECT_EQ(Check(), "Group 2 has no devices.");
    Renew();
    m_helper->AddGroup(NodeContainer(1), 17);
    EXPECT_EQ(Check(), "Group 2 has 17 bits, not 1 to 16.");
    m_helper = std::make_unique<FederatedHelper>();
    EXPECT_EQ(Check(), "The federation has no group of devices.");
}

TEST_F(FederatedHelpers, SayWhichStrategiesOfDevicesCannotBeUsed)
{
    const auto make = [](const std::string& name)
    { return ObjectFactory(name).Create<Quantizer>(); };
    m_helper->SetQuantizer(make("ns3::RandomCoordinatesQuantizer"));
    EXPECT_EQ(Check(),
              "Group 1: ns3::RandomCoordinatesQuantizer has no resolution of 4 bits, only of 2.");
    m_helper->SetDeviceAttribute("Quantizer", StringValue("ns3::UnbiasedStochasticQuantizer"));
    EXPECT_EQ(Check(),
              "Quantizer of the center is "
              "ns3::RandomCoordinatesQuantizer[Epsilon=8|Coordinates=8|Decoder=unbiased], and that "
              "of the devices ns3::UnbiasedStochasticQuantizer[]; SetQuantizer sets both.");
    m_helper->SetDeviceAttribute("Quantizer",
                                 PointerValue(make("ns3::RandomizedResponseQuantizer")));
    EXPECT_EQ(Check(),
              "Group 0: ns3::RandomizedResponseQuantizer has no resolution of 2 bits, only of 1.");

    Renew();
    m_helper->SetDeviceAttribute("IntervalRule", StringValue("ns3::FixedInterval[Low=2|High=1]"));
    EXPECT_EQ(Check(), "Group 0: FixedInterval: Low is 2, not below High, 1.");
    m_helper->SetDeviceAttribute("IntervalRule", StringValue("ns3::MaxAbsInterval"));
    EXPECT_EQ(Check(), "");

    m_helper = std::make_unique<FederatedHelper>();
    m_helper->AddGroup(m_fine, 1);
    m_helper->SetData(FederatedData::MakeSynthetic(1, 120, 60, 6, 6, 4));
    const auto quantizer = make("ns3::RandomizedResponseQuantizer");
    quantizer->SetAttribute("Epsilon", DoubleValue(1e-12));
    m_helper->SetQuantizer(quantizer);
    EXPECT_EQ(Check(), "");
    quantizer->SetAttribute("Decoder", StringValue("unbiased"));
    EXPECT_EQ(Check(),
              "Group 0: RandomizedResponseQuantizer: Epsilon is so small that the coin is fair, "
              "which no decoder makes unbiased; choose a larger one, or Decoder=bayes.");
}

TEST_F(FederatedHelpers, LetUsersChooseTheWeightsThatTheAlgorithmLeavesOpen)
{
    EXPECT_EQ(
        FederatedHelper::GetWeights(),
        (std::vector<std::string>{"default", "uniform", "resolution", "effective-snr", "samples"}));
    const std::vector<std::pair<std::string, std::string>> rules{
        {"default", "ns3::ResolutionFusion"},
        {"uniform", "ns3::UniformFusion"},
        {"resolution", "ns3::ResolutionFusion"},
        {"effective-snr", "ns3::EffectiveSnrFusion"},
        {"samples", "ns3::SampleFusion"}};
    for (const auto& [weights, rule] : rules)
    {
        SCOPED_TRACE(weights);
        Renew();
        m_helper->SetProfile("literal"); // whose effective SNR needs reports
        m_helper->SetAlgorithm("laplacesq");
        m_helper->SetWeights(weights);
        const auto applications = InstallInStar();
        EXPECT_EQ(GetClassOf(applications.Get(0), "FusionRule"), rule);
        EXPECT_EQ(GetText(applications.Get(1), "ReportDistortion"),
                  weights == "effective-snr" ? "true" : "false");
        EXPECT_EQ(GetClassOf(applications.Get(0), "ClusterSizePolicy"), "ns3::RandomClusterSizes");
    }

    Renew();
    m_helper->SetWeights("sample");
    EXPECT_EQ(Check(),
              "There are no weights 'sample', only default, uniform, resolution, effective-snr, "
              "samples.");
    m_helper->SetWeights("samples");
    for (const std::string& algorithm : FederatedHelper::GetAlgorithms())
    {
        m_helper->SetAlgorithm(algorithm);
        EXPECT_EQ(Check(),
                  algorithm.compare(0, 3, "fwo") != 0
                      ? ""
                      : "Algorithm " + algorithm +
                            " defines its weights, which cannot be 'samples'; those of alg1, "
                            "laplacesq, sq, fedavg can be chosen.");
    }
    m_helper->SetAlgorithm("fwo");
    m_helper->SetWeights("default");
    EXPECT_EQ(Check(), "");
}

TEST_F(FederatedHelpers, EnrollDevicesWithTheirSamples)
{
    for (const bool reassign : {false, true})
    {
        Renew();
        m_helper->SetPartition(CreateObject<QuantityPartition>());
        m_helper->SetGroupAddress(Ipv4Address("10.0.0.255"), FederatedPort::DEVICE);
        m_helper->SetEnrolled(true);
        m_helper->SetCenterAttribute("Rounds", UintegerValue(1));
        const auto rule = CreateObject<RecordingFusion>();
        m_helper->SetCenterAttribute("FusionRule", PointerValue(rule));
        NodeContainer nodes(NodeContainer(1), m_coarse, m_fine);
        InternetStackHelper().Install(nodes);
        const NetDeviceContainer ports = SimpleNetDeviceHelper().Install(nodes);
        Ipv4AddressHelper("10.0.0.0", "255.255.255.0").Assign(ports);
        m_helper->Install(nodes.Get(0), InetSocketAddress("10.0.0.1", FederatedPort::CENTER));
        const uint32_t before = m_helper->GetTask()->GetSamples(0);
        if (reassign)
        {
            m_helper->AssignStreams(77);
            EXPECT_NE(m_helper->GetTask()->GetSamples(0), before) << "else the test shows little";
        }
        Run();
        ASSERT_EQ(rule->seen.size(), 3U);
        for (const auto& [device, seen] : rule->seen)
        {
            EXPECT_EQ(seen.samples, m_helper->GetTask()->GetSamples(device));
        }
    }
}

TEST_F(FederatedHelpers, RefuseABudgetOfAnEpsilonThatNobodyHas)
{
    EXPECT_EQ(Check(), "");
    m_helper->SetDeviceAttribute("PrivacyBudget", DoubleValue(3));
    EXPECT_EQ(Check(),
              "PrivacyBudget limits the basic epsilon, which an update of 2 bits does not have: "
              "values of different cells can be told apart: no differential privacy.");
    m_helper->SetDeviceAttribute("PrivacyBudgetOf", StringValue("same-cell"));
    EXPECT_EQ(Check(), "");
    m_helper->SetDeviceAttribute("IntervalRule", StringValue("ns3::MaxAbsInterval"));
    EXPECT_EQ(Check(),
              "PrivacyBudget limits the same-cell epsilon, which an update of 2 bits does not "
              "have: the interval depends on the data, so nothing holds for two data sets.");

    Renew();
    m_helper->SetAlgorithm("laplacesq");
    m_helper->SetDeviceAttribute("PrivacyBudget", DoubleValue(3));
    EXPECT_EQ(Check(), "");
    m_helper->SetDeviceAttribute("ClipNorm", StringValue("none"));
    EXPECT_NE(Check(), "");

    // One that was set for all devices of a program.
    Renew();
    Config::SetDefault("ns3::FederatedDevice::PrivacyBudget", DoubleValue(3));
    EXPECT_NE(Check(), "");
    Config::SetDefault("ns3::FederatedDevice::PrivacyBudget", DoubleValue(0));
    EXPECT_EQ(Check(), "");
}

TEST_F(FederatedHelpers, TellTheCenterTheClipOfTheDevicesUnlessItIsToldAnother)
{
    m_helper->SetDeviceAttribute("ClipNorm", StringValue("l2"));
    m_helper->SetDeviceAttribute("ClipBound", DoubleValue(7));
    EXPECT_EQ(GetText(InstallInStar().Get(0), "ClipNorm"), "l2");
    EXPECT_EQ(GetNumber(m_helper->GetCenter(), "ClipBound"), 7);
    Renew();
    m_helper->SetDeviceAttribute("ClipNorm", StringValue("l2"));
    m_helper->SetCenterAttribute("ClipNorm", StringValue("none"));
    EXPECT_EQ(GetText(InstallInStar().Get(0), "ClipNorm"), "none");
}

TEST_F(FederatedHelpers, SayAtTheEndWhatIsPrivate)
{
    const auto print = [this]()
    {
        std::ostringstream text;
        m_helper->PrintPrivacy(text);
        return text.str();
    };
    m_helper->SetProfile("literal");
    InstallInStar();
    Run();
    EXPECT_EQ(
        print(),
        "privacy: no claim: The distortion that is sent along depends on the data. (2, 4 bits)\n"
        "privacy: most answers of a device: 3\n"
        "privacy: sent without protection: the distortion of the update\n");
    // A single device that is configured otherwise is not overlooked.
    Renew();
    InstallInStar();
    m_helper->GetDevices()[1]->SetAttribute("ReportDistortion", BooleanValue(true));
    Run();
    const std::string mixed = print();
    EXPECT_NE(mixed.find("told apart: no differential privacy. (2, 4 bits, 2 of 3 devices)\n"),
              std::string::npos)
        << mixed;
    EXPECT_NE(mixed.find("depends on the data. (2 bits, 1 of 2 devices)\n"), std::string::npos)
        << mixed;
    Renew();
    m_helper->SetAlgorithm("laplacesq");
    m_helper->SetEpsilon(1e-3);
    m_helper->SetDeviceAttribute("PrivacyBudget", DoubleValue(0.3));
    InstallInStar();
    Run();
    const std::string text = print();
    EXPECT_NE(text.find("privacy: differential privacy, epsilon 0.148"), std::string::npos) << text;
    EXPECT_NE(text.find("an update: Laplace noise"), std::string::npos) << text;
    EXPECT_NE(text.find("privacy: most answers of a device: 2, epsilon "), std::string::npos)
        << text;
    EXPECT_NE(text.find("privacy: 3 of 3 devices declined 3 grants, their budget being spent\n"),
              std::string::npos)
        << text;
    Renew();
    InstallInStar();
    Run();
    EXPECT_NE(print().find("same-cell epsilon 0.000444, no differential privacy"),
              std::string::npos)
        << print();
}

TEST_F(FederatedHelpers, RunOverHubsAndOverTcpWithTheSameResult)
{
    InstallInStar();
    const std::string direct = Run();
    EXPECT_NE(direct.find(" rounds=3 "), std::string::npos) << direct;
    EXPECT_NE(direct.find(" lost_fraction=0\n"), std::string::npos) << direct;
    const std::vector<float> model = m_helper->GetCenter()->GetModel();
    Renew();
    InstallInStar(2);
    Run();
    EXPECT_EQ(m_helper->GetCenter()->GetModel(), model);
    Renew();
    m_helper->SetProtocol("tcp");
    InstallInStar(2);
    Run();
    EXPECT_EQ(m_helper->GetCenter()->GetModel(), model);
}

TEST_F(FederatedHelpers, EncryptIfTheOptionSaysSo)
{
    for (const bool encrypt : {false, true})
    {
        Renew();
        bool value = false;
        FederatedCommandLine cmd("example.cc", "");
        FederatedScenarioOptions::AddEncryption(cmd, value);
        std::string program = "example";
        std::string option = "--encrypt";
        char* argv[] = {program.data(), option.data(), nullptr};
        std::string error;
        ASSERT_TRUE(cmd.Parse(encrypt ? 2 : 1, argv, error)) << error;
        FederatedScenarioOptions::SetEncryption(*m_helper, value);
        if (encrypt && !federated::MessageCrypto::Make())
        {
            EXPECT_NE(Check().find("(EncryptionKey, --encrypt), but this build cannot protect"),
                      std::string::npos);
            continue;
        }
        const auto applications = InstallInStar();
        EXPECT_EQ(GetText(applications.Get(0), "EncryptionKey").empty(), !encrypt);
        EXPECT_EQ(GetText(applications.Get(3), "DeviceKey").empty(), !encrypt);
        EXPECT_EQ(GetText(applications.Get(1), "DeviceKey") ==
                      GetText(applications.Get(3), "DeviceKey"),
                  !encrypt);
        const std::string result = Run();
        EXPECT_NE(result.find(" rounds=3 "), std::string::npos) << result;
        EXPECT_NE(result.find(" lost_fraction=0\n"), std::string::npos) << result;
    }
}

TEST_F(FederatedHelpers, NumberTheFederationsOfASimulation)
{
    for (int simulation : {0, 1})
    {
        Renew(); // destroys the simulation before it
        EXPECT_EQ(GetText(InstallInStar().Get(0), "Federation"), "0") << simulation;
        FederatedHelper second;
        const NodeContainer nodes(2);
        second.AddGroup(nodes, 2);
        second.SetData(FederatedData::MakeSynthetic(1, 120, 60, 6, 6, 4));
        const auto applications = FederatedStarHelper().Install(second, CreateObject<Node>());
        EXPECT_EQ(GetText(applications.Get(0), "Federation"), "1");
    }
}

TEST_F(FederatedHelpers, AreInstalledInAStarWithOneCall)
{
    FederatedStarHelper star;
    star.SetDeviceLink(DataRate("10Mbps"), MilliSeconds(1));
    const auto center = CreateObject<Node>();
    EXPECT_DEATH(star.Install(*m_helper, nullptr), "the node of the center is null");
    const auto applications = star.Install(*m_helper, center);
    ASSERT_EQ(applications.GetN(), 4U);
    EXPECT_EQ(applications.Get(0)->GetNode(), center);
    EXPECT_EQ(applications.Get(3)->GetNode(), m_fine.Get(0));
    // A default of the star, and one of the center.
    EXPECT_EQ(GetText(applications.Get(0), "DownlinkRate"), "8000000bps");
    EXPECT_EQ(GetText(applications.Get(0), "UplinkRate"), "8000000bps");
    EXPECT_EQ(GetText(applications.Get(0), "FragmentSize"), "1400");
    EXPECT_DEATH(star.Install(*m_helper, center), "a star is installed once");
    EXPECT_DEATH(star.SetMtu(28), "an MTU of 28 bytes carries nothing beside 28 bytes of headers");
    EXPECT_NE(Run().find(" rounds=3 "), std::string::npos);

    // What the user sets for all centers wins over what the star would set.
    Renew();
    Config::SetDefault("ns3::FusionCenter::DownlinkRate", StringValue("1Mbps"));
    FederatedStarHelper slow;
    const auto changed = slow.Install(*m_helper, CreateObject<Node>());
    Config::Reset();
    EXPECT_EQ(GetText(changed.Get(0), "DownlinkRate"), "1000000bps");
    EXPECT_EQ(GetText(changed.Get(0), "UplinkRate"), "800000000bps");

    Renew();
    m_helper->SetCenterAttribute("UplinkRate", StringValue("3Mbps"));
    m_helper->SetDeviceAttribute("FragmentSize", UintegerValue(500));
    FederatedStarHelper large;
    large.SetMtu(9000);
    const auto others = large.Install(*m_helper, CreateObject<Node>());
    EXPECT_EQ(GetText(others.Get(0), "DownlinkRate"), "800000000bps");
    EXPECT_EQ(GetText(others.Get(0), "UplinkRate"), "3000000bps") << "as the script says";
    EXPECT_EQ(GetText(others.Get(0), "FragmentSize"), "8972");
    EXPECT_EQ(GetText(others.Get(1), "FragmentSize"), "500") << "as the script says";
    EXPECT_NE(Run().find(" rounds=3 "), std::string::npos);
}

TEST_F(FederatedHelpers, PreferWhatTheScriptSetsBeforeOrAfterTheDefaultsOfLinks)
{
    FederatedHelper::LinkDefaults defaults;
    const auto rate = StringValue("3Mbps").Copy();
    defaults.center = {
        {"DownlinkRate", rate}, {"UplinkRate", rate}, {"FragmentSize", UintegerValue(300).Copy()}};
    defaults.devices = {{"Steps", UintegerValue(3).Copy()}, {"BatchSize", UintegerValue(3).Copy()}};
    defaults.joinSpacing = MilliSeconds(30);
    m_helper->SetCenterAttribute("UplinkRate", StringValue("7Mbps"));
    m_helper->SetLinkDefaults(defaults);
    m_helper->SetCenterAttribute("FragmentSize", UintegerValue(700));
    m_helper->SetDeviceAttribute("BatchSize", UintegerValue(7));
    EXPECT_EQ(m_helper->GetFragmentSize(), 700U);
    const auto applications = InstallInStar();
    EXPECT_EQ(GetText(applications.Get(0), "DownlinkRate"), "3000000bps") << "the first default";
    EXPECT_EQ(GetText(applications.Get(0), "UplinkRate"), "7000000bps");
    EXPECT_EQ(GetText(applications.Get(1), "Steps"), "3");
    EXPECT_EQ(GetText(applications.Get(1), "BatchSize"), "7");
    TimeValue start;
    applications.Get(2)->GetAttribute("StartTime", start);
    EXPECT_EQ(start.Get(), MilliSeconds(30));
    EXPECT_DEATH(m_helper->SetLinkDefaults(defaults), "SetLinkDefaults comes too late");
}

TEST_F(FederatedHelpers, LetDevicesComeLateLeaveAndComeBack)
{
    m_helper->SetCenterAttribute("Rounds", UintegerValue(30));
    m_helper->SetCenterAttribute("ExpectedDevices", UintegerValue(2));
    m_helper->SetDeviceAttribute("TimePerSample",
                                 StringValue("ns3::ConstantRandomVariable[Constant=0.001]"));
    InstallInStar();
    const auto& devices = m_helper->GetDevices();
    devices[1]->SetStartTime(Seconds(1));
    Simulator::Schedule(Seconds(1.5), &FederatedDevice::Leave, devices[2]);
    Simulator::Schedule(Seconds(2), &FederatedDevice::Join, devices[2]);
    std::vector<std::pair<Time, uint32_t>> joined; // when a round began, and with how many
    m_helper->GetCenter()->TraceConnectWithoutContext("RoundEnd",
                                                      MakeBoundCallback(&NoteJoined, &joined));
    Run();
    ASSERT_EQ(joined.size(), 30U);
    for (const auto& [start, devicesThen] : joined)
    {
        const bool isGone = start > Seconds(1.6) && start < Seconds(2);
        const bool isEarly = start < Seconds(1);
        const bool isClear = isGone || isEarly || start > Seconds(2.1) ||
                             (start > Seconds(1.1) && start < Seconds(1.5));
        if (isClear)
        {
            EXPECT_EQ(devicesThen, isGone || isEarly ? 2U : 3U) << start.GetSeconds();
        }
    }
    EXPECT_EQ(m_helper->GetTraceWriter()->GetLastRound().received, 3U);
}

TEST_F(FederatedHelpers, TakeAnotherIntervalAndBoundThanThoseOfTheProfile)
{
    m_helper->SetInterval(0.002);
    m_helper->SetClipBound(250);
    const auto applications = InstallInStar();
    const auto rule = GetObjectOf(applications.Get(1), "IntervalRule");
    EXPECT_EQ(GetNumber(rule, "Low"), -0.002);
    EXPECT_EQ(GetNumber(rule, "High"), 0.002);
    EXPECT_EQ(GetObjectOf(applications.Get(0), "IntervalRule"), rule);
    EXPECT_EQ(GetNumber(applications.Get(1), "ClipBound"), 250);
    EXPECT_EQ(GetNumber(GetObjectOf(applications.Get(0), "ClusterSizePolicy"), "ClippingConstant"),
              250);
    Renew();
    m_helper->SetAlgorithm("laplacesq");
    m_helper->SetClipBound(250);
    EXPECT_EQ(GetNumber(GetObjectOf(InstallInStar().Get(1), "Quantizer"), "Sensitivity"), 500);

    // A public interval instead of one for each update; but there is no bound.
    Renew();
    m_helper->SetProfile("fitted");
    m_helper->SetInterval(0.1);
    EXPECT_EQ(Check(), "");
    m_helper->SetClipBound(250);
    EXPECT_EQ(Check(), "Profile fitted does not clip updates: there is no bound to set.");
    EXPECT_DEATH(m_helper->SetClipBound(0), "the clip bound is 0, not a number above 0");
    EXPECT_DEATH(m_helper->SetInterval(-1), "a half width of -1, not a number above 0");
}

TEST_F(FederatedHelpers, RotateOnBothSidesIfTheOptionSaysSo)
{
    for (const char* option : {"--rotation=false", "--rotation", "--rotation=true"})
    {
        Renew();
        FederatedScenarioOptions options;
        FederatedCommandLine cmd("example.cc", "");
        FederatedScenarioOptions::AddRotation(cmd, options.rotation);
        ASSERT_EQ(ParseWords({option}, cmd), "");
        const bool rotates = std::string(option) != "--rotation=false";
        EXPECT_EQ(options.rotation, rotates);
        m_helper->SetRotation(options.rotation);
        const auto applications = InstallInStar();
        for (uint32_t i = 0; i < applications.GetN(); ++i)
        {
            EXPECT_EQ(GetText(applications.Get(i), "Rotation"), rotates ? "true" : "false");
        }
        const std::string result = Run();
        EXPECT_NE(result.find(" rounds=3 "), std::string::npos) << result;
        EXPECT_NE(result.find(" lost_fraction=0\n"), std::string::npos) << result;
        // 36 pixels and 4 classes: d is 148, P is 256.
        const RoundRecord& last = m_helper->GetTraceWriter()->GetLastRound();
        EXPECT_EQ(last.links.at(0).coordinates, rotates ? 256U : 148U);
        EXPECT_EQ(last.deliveredBits, 2 + 2 + 4);
        EXPECT_DOUBLE_EQ(last.sameCellEpsilon, 3 * (rotates ? 256 : 148) * 1e-6);
    }
}

TEST_F(FederatedHelpers, RefuseIntervalsOfLayersIfUpdatesAreRotated)
{
    m_helper->SetDeviceAttribute("IntervalRule", StringValue("ns3::MaxAbsInterval[PerLayer=true]"));
    EXPECT_EQ(Check(), "");
    m_helper->SetRotation(true);
    EXPECT_EQ(Check(),
              "Group 0: ns3::MaxAbsInterval: PerLayer is set, but a rotated update has no layers.");
    m_helper->SetRotation(false);
    EXPECT_EQ(Check(), "");
}

TEST_F(FederatedHelpers, InterleaveOnBothSidesIfTheOptionSaysSo)
{
    for (const char* option : {"--interleave=false", "--interleave", "--interleave=true"})
    {
        Renew();
        bool interleave = false;
        FederatedCommandLine cmd("example.cc", "");
        FederatedScenarioOptions::AddInterleave(cmd, interleave);
        ASSERT_EQ(ParseWords({option}, cmd), "");
        EXPECT_EQ(interleave, std::string(option) != "--interleave=false");
        m_helper->SetInterleave(interleave);
        const auto applications = InstallInStar();
        for (uint32_t i = 0; i < applications.GetN(); ++i)
        {
            EXPECT_EQ(GetText(applications.Get(i), "Interleave"), interleave ? "true" : "false");
        }
        const std::string result = Run();
        EXPECT_NE(result.find(" lost_fraction=0\n"), std::string::npos) << result;
        EXPECT_EQ(m_helper->GetTraceWriter()->GetLastRound().links.at(0).coordinates, 148U);
    }
    Renew();
    m_helper->SetDeviceAttribute("IntervalRule", StringValue("ns3::MaxAbsInterval[PerLayer=true]"));
    m_helper->SetInterleave(true);
    EXPECT_EQ(Check(),
              "Group 0: ns3::MaxAbsInterval: PerLayer is set, but an interleaved update has no "
              "layers.");
}

TEST_F(FederatedHelpers, GiveEqualRunsEqualSeedsWhateverTheAlgorithmIs)
{
    InstallInStar();
    const uint64_t seed = m_helper->GetTask()->GetSeed();
    Renew();
    const auto other = CreateObject<UniformRandomVariable>(); // takes an automatic stream
    m_helper->SetAlgorithm("fedavg");
    InstallInStar();
    EXPECT_EQ(m_helper->GetTask()->GetSeed(), seed);
    Renew();
    RngSeedManager::SetRun(2);
    InstallInStar();
    EXPECT_NE(m_helper->GetTask()->GetSeed(), seed);
}

TEST_F(FederatedHelpers, AssignStreamsBeforeAndAfterInstallation)
{
    EXPECT_EQ(m_helper->AssignStreams(5), 1 + 8 + 2 * 3);
    InstallInStar();
    const uint64_t seed = m_helper->GetTask()->GetSeed();
    Renew();
    InstallInStar();
    EXPECT_NE(m_helper->GetTask()->GetSeed(), seed);
    EXPECT_EQ(m_helper->AssignStreams(5), 1 + 8 + 2 * 3);
    EXPECT_EQ(m_helper->GetTask()->GetSeed(), seed);
}

TEST_F(FederatedHelpers, BindDevicesToTheirAddresses)
{
    m_helper->SetCenterAttribute("JoinTimeout", TimeValue(Seconds(1)));
    const auto applications = InstallInStar();
    // Device 1 pretends to be device 0: it has another address.
    applications.Get(2)->SetAttribute("DeviceId", UintegerValue(0));
    Run();
    EXPECT_EQ(m_helper->GetCenter()->GetJoined(), 2U);
    EXPECT_GT(m_helper->GetCenter()->GetDropped(DROP_FOREIGN), 0U);
}

TEST_F(FederatedHelpers, WorkOverIpv6)
{
    const NodeContainer devices(m_coarse, m_fine);
    NodeContainer center(1);
    InternetStackHelper internet;
    internet.SetIpv4StackInstall(false);
    internet.Install(NodeContainer(center, devices));
    // The center has one address for all of its links; not the default since ns-3.41.
    center.Get(0)->GetObject<Ipv6>()->SetAttributeFailSafe("StrongEndSystemModel",
                                                           BooleanValue(false));
    PointToPointHelper links;
    links.SetDeviceAttribute("DataRate", StringValue("100Mbps"));
    // Not from 2001:db8::/32: packets with addresses for documentation are dropped.
    Ipv6AddressHelper addresses(Ipv6Address("2001:1::"), Ipv6Prefix(64));
    Ipv6Address centerAddress;
    for (uint32_t i = 0; i < devices.GetN(); ++i)
    {
        auto interfaces = addresses.Assign(links.Install(center.Get(0), devices.Get(i)));
        addresses.NewNetwork();
        interfaces.SetForwarding(0, true);
        interfaces.SetDefaultRouteInAllNodes(0);
        if (i == 0)
        {
            centerAddress = interfaces.GetAddress(0, 1);
        }
    }
    m_helper->SetCenterAttribute("JoinTimeout", TimeValue(Seconds(1)));
    ApplicationContainer applications =
        m_helper->Install(center.Get(0), Inet6SocketAddress(centerAddress, FederatedPort::CENTER));
    // Before an address is known to be unique (DAD), nothing can be sent from it.
    applications.Start(Seconds(3));
    // Device 1 pretends to be device 2, whose address is bound.
    applications.Get(2)->SetAttribute("DeviceId", UintegerValue(2));
    m_helper->StopWhenFinished();
    Simulator::Run();
    EXPECT_EQ(m_helper->GetCenter()->GetRound(), 3U);
    EXPECT_EQ(m_helper->GetTraceWriter()->GetLostFraction(), 0);
    EXPECT_EQ(m_helper->GetCenter()->GetJoined(), 2U);
    EXPECT_GT(m_helper->GetCenter()->GetDropped(DROP_FOREIGN), 0U);
}

TEST_F(FederatedHelpers, PrintProgressPrivacyAndOneResultLine)
{
    InstallInStar();
    std::string error;
    EXPECT_FALSE(m_helper->EnableOutput("/no-such-folder/run", error));
    EXPECT_NE(error, "");
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    EXPECT_TRUE(m_helper->EnableOutput("", error));
    Simulator::Run();
    EXPECT_EQ(m_helper->Finish(m_helper->GetTraceWriter()->GetResult()), 0);
    const std::string output = testing::internal::GetCapturedStdout();
    const std::string messages = testing::internal::GetCapturedStderr();
    EXPECT_EQ(output.rfind("result version=", 0), 0U) << output;
    EXPECT_EQ(output.find('\n'), output.size() - 1) << output;
    EXPECT_NE(messages.find("round 3/3"), std::string::npos) << messages;
    EXPECT_NE(messages.find("privacy: "), std::string::npos) << messages;
    EXPECT_EQ(NodeList::GetNNodes(), 0U) << "the simulation is destroyed";
}

TEST_F(FederatedHelpers, CountUpdatesBehindOtherHeaders)
{
    const uint32_t headers = 30;
    uint64_t count = 0;
    for (const auto type : {FederatedHeader::MODEL, FederatedHeader::UPDATE})
    {
        FederatedHeader header;
        header.type = type;
        const auto message = Create<Packet>();
        message->AddHeader(header);
        const auto packet = Create<Packet>(headers);
        FederatedHelper::CountUpdate(&count, headers, packet);
        EXPECT_EQ(count, 0U) << "nothing behind the headers";
        packet->AddAtEnd(message);
        FederatedHelper::CountUpdate(&count, headers, packet);
        EXPECT_EQ(count, type == FederatedHeader::UPDATE ? 1U : 0U);
    }
}

TEST_F(FederatedHelpers, FillTheCachesOfNeighbors)
{
    NodeContainer nodes(2);
    InternetStackHelper().Install(nodes);
    const NetDeviceContainer ports = SimpleNetDeviceHelper().Install(nodes);
    Ipv4AddressHelper("10.0.0.0", "255.255.255.0").Assign(ports);
    Ipv6AddressHelper(Ipv6Address("2001:1::"), Ipv6Prefix(64)).Assign(ports);
    const Ipv4Address v4("10.0.0.9");
    const Ipv6Address v6("2001:1::9");
    for (const char* hardware : {"00:00:00:00:00:07", "00:00:00:00:00:08"}) // the last one stays
    {
        FederatedNeighbors::Add(ports.Get(0), v4, Mac48Address(hardware));
        FederatedNeighbors::Add(ports.Get(0), v6, Mac48Address(hardware));
        const auto ipv4 = nodes.Get(0)->GetObject<Ipv4L3Protocol>();
        auto* arp = ipv4->GetInterface(1)->GetArpCache()->Lookup(v4);
        ASSERT_NE(arp, nullptr);
        EXPECT_TRUE(arp->IsPermanent());
        EXPECT_EQ(arp->GetMacAddress(), Address(Mac48Address(hardware)));
        const auto ipv6 = nodes.Get(0)->GetObject<Ipv6L3Protocol>();
        auto* ndisc = ipv6->GetInterface(1)->GetNdiscCache()->Lookup(v6);
        ASSERT_NE(ndisc, nullptr);
        EXPECT_TRUE(ndisc->IsPermanent());
        EXPECT_EQ(ndisc->GetMacAddress(), Address(Mac48Address(hardware)));
    }
}

TEST_F(FederatedHelpers, AbortWhereScriptsMisuseThem)
{
    EXPECT_DEATH(m_helper->EnableProgress(), "EnableProgress comes before Install");
    EXPECT_DEATH(m_helper->Install(m_fine.Get(0), Address()), "no IP address with a port");
    EXPECT_DEATH(m_helper->Install(m_fine.Get(0), InetSocketAddress("10.0.0.1", 0)),
                 "no IP address with a port");
    m_helper->SetData({});
    EXPECT_DEATH(m_helper->Install(m_fine.Get(0), InetSocketAddress("10.0.0.1", 1)),
                 "The learning task has no data set.");
}
