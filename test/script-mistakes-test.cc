// SPDX-License-Identifier: GPL-2.0-only

#include "federated-test-folder.h"

#include "ns3/best-snr-selection.h"
#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/federated-helper.h"
#include "ns3/federated-neighbors.h"
#include "ns3/federated-number.h"
#include "ns3/federated-port.h"
#include "ns3/federated-random.h"
#include "ns3/iid-partition.h"
#include "ns3/inet-socket-address.h"
#include "ns3/inet6-socket-address.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-address-helper.h"
#include "ns3/ipv4-static-routing-helper.h"
#include "ns3/ipv4.h"
#include "ns3/pointer.h"
#include "ns3/saved-model.h"
#include "ns3/simple-net-device-helper.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <regex>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

using namespace ns3;

/** @ingroup federated-tests Scripts that forget something: a sentence instead of a crash. */
class ScriptMistakes : public FederatedTestFolder
{
  protected:
    ScriptMistakes()
        : m_helper(std::make_unique<FederatedHelper>()),
          m_nodes(3)
    {
        m_helper->AddGroup(m_nodes.Get(1), 2);
        m_helper->AddGroup(m_nodes.Get(2), 4);
        m_helper->SetData(FederatedData::MakeSynthetic(1, 120, 60, 6, 6, 4));
        m_helper->SetTaskAttribute("Model", StringValue("ns3::LogisticModel"));
        m_helper->SetTaskAttribute("Threads", UintegerValue(1));
        m_helper->SetCenterAttribute("Participants", UintegerValue(2));
        m_helper->SetCenterAttribute("Rounds", UintegerValue(1));
        m_ports = SimpleNetDeviceHelper().Install(m_nodes);
    }

    void TearDown() override
    {
        m_helper.reset();
        Simulator::Destroy();
    }

    /** Install internet stacks, and addresses if they are of IPv4. */
    void InstallInternet(bool v4, bool v6, const NodeContainer& nodes)
    {
        InternetStackHelper internet;
        internet.SetIpv4StackInstall(v4);
        internet.SetIpv6StackInstall(v6);
        internet.Install(nodes);
        if (v4 && nodes.GetN() == m_nodes.GetN())
        {
            Ipv4AddressHelper("10.0.0.0", "255.255.255.0").Assign(m_ports);
        }
    }

    /** Install the applications and run. */
    void Run(const Address& address = InetSocketAddress("10.0.0.1", FederatedPort::CENTER))
    {
        m_helper->Install(m_nodes.Get(0), address);
        m_helper->StopWhenFinished();
        Simulator::Run();
    }

    /** Expect a warning that matches, and what Finish would return. */
    void ExpectWarning(const std::string& pattern, bool isMistake)
    {
        std::ostringstream warnings;
        EXPECT_EQ(m_helper->PrintWarnings(warnings), isMistake) << warnings.str();
        EXPECT_TRUE(std::regex_search(warnings.str(), std::regex("warning: .*" + pattern)))
            << warnings.str();
    }

    /** @return the sentence about a node, with its number. */
    std::string Say(uint32_t node, const std::string& text) const
    {
        return "node " + std::to_string(m_nodes.Get(node)->GetId()) + " " + text;
    }

    std::unique_ptr<FederatedHelper> m_helper; //!< Two devices.
    NodeContainer m_nodes;                     //!< The center, then the devices.
    NetDeviceContainer m_ports;                //!< Their net devices.
};

TEST_F(ScriptMistakes, NothingIsWrong)
{
    InstallInternet(true, false, m_nodes);
    Run();
    EXPECT_EQ(m_helper->GetTraceWriter()->GetLastRound().received, 2U);
}

TEST_F(ScriptMistakes, NoInternetStack)
{
    const std::string center = "FusionCenter: " + Say(0, "has no internet stack");
    EXPECT_DEATH(Run(), center);
    m_helper->SetProtocol("tcp");
    EXPECT_DEATH(Run(), center);
    InstallInternet(true, false, m_nodes.Get(0));
    const std::string device = "FederatedDevice: device 0: " + Say(1, "has no internet stack");
    EXPECT_DEATH(Run(), device);
    m_helper->SetProtocol("udp");
    EXPECT_DEATH(Run(), device);
}

TEST_F(ScriptMistakes, AnInternetStackOfTheOtherFamily)
{
    InstallInternet(false, true, m_nodes);
    const std::string sentence = Say(0, "has no IPv4 stack, but an IPv4 address is set");
    EXPECT_DEATH(Run(), sentence);
    m_helper->SetProtocol("tcp");
    EXPECT_DEATH(Run(), sentence);
}

TEST_F(ScriptMistakes, AddressesOfTheOtherFamily)
{
    InstallInternet(true, false, m_nodes);
    const Inet6SocketAddress address("2001:1::1", FederatedPort::CENTER);
    const std::string center = Say(0, "has no IPv6 stack, but an IPv6 address is set");
    EXPECT_DEATH(Run(address), center);
    EXPECT_DEATH((m_helper->SetProtocol("tcp"), Run(address)), center);
    const AddressValue group(Inet6SocketAddress("ff02::5", FederatedPort::DEVICE));
    const std::string device = Say(1, "has no IPv6 stack, but an IPv6 address is set");
    EXPECT_DEATH((m_helper->SetDeviceAttribute("MulticastGroup", group), Run()), device);
    EXPECT_DEATH((m_helper->SetDeviceAttribute("UplinkGroup", group), Run()), device);
    m_helper->SetCenterAttribute("Downlink", StringValue("multicast"));
    m_helper->SetCenterAttribute("MulticastGroup", group);
    EXPECT_DEATH(Run(), center);
}

TEST_F(ScriptMistakes, AProtocolThatIsNotOneOfTwo)
{
    InstallInternet(true, true, m_nodes);
    for (const std::string protocol : {"ns3::Ipv4L3Protocol",
                                       "ns3::FusionCenter",
                                       "ns3::PacketSocketFactory",
                                       "ns3::Ipv4RawSocketFactory"})
    {
        const StringValue value(protocol);
        EXPECT_DEATH((m_helper->SetCenterAttribute("Protocol", value),
                      m_helper->SetDeviceAttribute("Protocol", value),
                      Run()),
                     "FusionCenter: Protocol is " + protocol +
                         ", neither ns3::UdpSocketFactory nor ns3::TcpSocketFactory");
        EXPECT_DEATH((m_helper->SetDeviceAttribute("Protocol", value), Run()),
                     "Protocol of the center is ns3::UdpSocketFactory, and that of the devices " +
                         protocol + "; SetProtocol sets both");
    }
    EXPECT_DEATH((m_helper->SetDeviceAttribute("Protocol", StringValue("ns3::NoSuch")), Run()),
                 "Protocol of ns3::FederatedDevice cannot be 'ns3::NoSuch'");
}

TEST_F(ScriptMistakes, UnknownNames)
{
    InstallInternet(true, false, m_nodes);
    const UintegerValue one(1);
    EXPECT_DEATH((m_helper->SetCenterAttribute("NoSuch", one), Run()),
                 "There is no attribute NoSuch of ns3::FusionCenter");
    EXPECT_DEATH((m_helper->SetDeviceAttribute("NoSuch", one), Run()),
                 "There is no attribute NoSuch of ns3::FederatedDevice");
    EXPECT_DEATH((m_helper->SetTaskAttribute("NoSuch", one), Run()),
                 "There is no attribute NoSuch of ns3::LearningTask");
    const StringValue unknown("ns3::NoSuchClass");
    EXPECT_DEATH((m_helper->SetCenterAttribute("FusionRule", unknown), Run()),
                 "FusionRule of ns3::FusionCenter: 'ns3::NoSuchClass' cannot be used as "
                 "ns3::FusionRule: there is no class of that name");
    EXPECT_DEATH((m_helper->SetDeviceAttribute("Quantizer", unknown), Run()),
                 "Quantizer of ns3::FederatedDevice: 'ns3::NoSuchClass' cannot be used");
    EXPECT_DEATH((m_helper->SetTaskAttribute("Model", unknown), Run()),
                 "Model of ns3::LearningTask: 'ns3::NoSuchClass' cannot be used");
    EXPECT_DEATH(m_helper->SetQuantizer("ns3::NoSuchClass"),
                 "'ns3::NoSuchClass' cannot be used as ns3::Quantizer");
    EXPECT_DEATH(m_helper->SetQuantizer("ns3::DpStochasticQuantizer[Epsylon=1]"),
                 "ns3::DpStochasticQuantizer has no attribute 'Epsylon'");
}

TEST_F(ScriptMistakes, CheckFindsWrongValuesBeforeAnythingIsInstalled)
{
    const struct
    {
        void (FederatedHelper::*set)(const std::string&, const AttributeValue&);
        const char* name;
        StringValue value;
        std::string sentence;
    } rows[] = {
        {&FederatedHelper::SetCenterAttribute,
         "Rounds",
         StringValue("0"),
         "Rounds of ns3::FusionCenter cannot be '0', only uint32_t 1:4294967295."},
        {&FederatedHelper::SetCenterAttribute,
         "FusionRule",
         StringValue("ns3::MlpModel"),
         "FusionRule of ns3::FusionCenter: 'ns3::MlpModel' cannot be used as ns3::FusionRule: that "
         "class is of another kind."},
        {&FederatedHelper::SetDeviceAttribute,
         "Bits",
         StringValue("3"),
         "Bits of ns3::FederatedDevice follows from AddGroup and cannot be set."},
        {&FederatedHelper::SetCenterAttribute,
         "GroupBits",
         StringValue("3"),
         "GroupBits of ns3::FusionCenter follows from AddGroup and cannot be set."},
    };
    for (const auto& row : rows)
    {
        FederatedHelper federation;
        federation.AddGroup(m_nodes.Get(1), 2);
        federation.SetData(FederatedData::MakeSynthetic(1, 120, 60, 6, 6, 4));
        std::string error;
        ASSERT_TRUE(federation.Check(error)) << error;
        (federation.*row.set)(row.name, row.value);
        EXPECT_FALSE(federation.Check(error)) << row.name;
        EXPECT_EQ(error, row.sentence);
    }
}

TEST_F(ScriptMistakes, AnAddressThatIsNotTheCenters)
{
    InstallInternet(true, false, m_nodes);
    const std::string sentence = "10.0.0.9 is no address of node " +
                                 std::to_string(m_nodes.Get(0)->GetId()) + ", which has 10.0.0.1";
    const InetSocketAddress wrong("10.0.0.9", FederatedPort::CENTER);
    EXPECT_DEATH(Run(wrong), "The center's address is wrong: " + sentence);
    std::string error;
    EXPECT_FALSE(m_helper->Check(m_nodes.Get(0), wrong, error));
    EXPECT_EQ(error, "The center's address is wrong: " + sentence + ".");
    for (const char* ip : {"127.0.0.1", "0.0.0.0"})
    {
        EXPECT_FALSE(
            m_helper->Check(m_nodes.Get(0), InetSocketAddress(ip, FederatedPort::CENTER), error));
        EXPECT_EQ(error,
                  "The center's address is " + std::string(ip) + ":" +
                      std::to_string(FederatedPort::CENTER) +
                      ", which is one of every node: devices on other nodes do not reach it.");
    }
    EXPECT_TRUE(m_helper->Check(
        m_nodes.Get(0), InetSocketAddress("10.0.0.1", FederatedPort::CENTER), error))
        << error;
}

TEST_F(ScriptMistakes, ALocalAddressThatIsNotTheCenters)
{
    // Without the helper, or with an address that the node got after Install.
    m_helper->Install(m_nodes.Get(0), InetSocketAddress("10.0.0.9", FederatedPort::CENTER));
    InstallInternet(true, false, m_nodes);
    EXPECT_DEATH(Simulator::Run(), "FusionCenter: Local is wrong: 10.0.0.9 is no address of node");
}

TEST_F(ScriptMistakes, DevicesThatTryAnotherAddress)
{
    InstallInternet(true, false, m_nodes);
    const InetSocketAddress wrong("10.0.0.9", FederatedPort::CENTER);
    m_helper->SetDeviceAttribute("Remote", AddressValue(wrong));
    Run();
    ExpectWarning("None of 2 devices joined", true);
}

TEST_F(ScriptMistakes, NoRouteToTheCenter)
{
    InternetStackHelper().Install(m_nodes);
    Ipv4AddressHelper("10.0.0.0", "255.255.255.0").Assign(m_ports.Get(0));
    Ipv4AddressHelper devices("10.0.1.0", "255.255.255.0");
    devices.Assign(m_ports.Get(1));
    devices.Assign(m_ports.Get(2));
    Run();
    ExpectWarning("None of 2 devices joined: " + Say(1, "has no route to 10.0.0.1 .device 0.\\."),
                  true);
}

TEST_F(ScriptMistakes, NoRouteBackToTheDevices)
{
    InternetStackHelper().Install(m_nodes);
    Ipv4AddressHelper("10.0.0.0", "255.255.255.0").Assign(m_ports.Get(0));
    Ipv4AddressHelper addresses("10.0.1.0", "255.255.255.0");
    addresses.Assign(NetDeviceContainer(m_ports.Get(1), m_ports.Get(2)));
    Ipv4StaticRoutingHelper routing;
    for (uint32_t i = 1; i < m_nodes.GetN(); ++i)
    {
        routing.GetStaticRouting(m_nodes.Get(i)->GetObject<Ipv4>())
            ->AddNetworkRouteTo(Ipv4Address("10.0.0.0"), Ipv4Mask("255.255.255.0"), 1);
    }
    Run();
    ExpectWarning(Say(0, "has no route to 10.0.1.1 .the center to device 0.\\."), true);
}

TEST_F(ScriptMistakes, ADeviceWithoutAnAddress)
{
    InternetStackHelper().Install(m_nodes);
    Ipv4AddressHelper("10.0.0.0", "255.255.255.0")
        .Assign(NetDeviceContainer(m_ports.Get(0), m_ports.Get(1)));
    Run();
    ExpectWarning("Only 1 of 2 devices joined: " + Say(2, "has no IP address .device 1."), false);
}

TEST_F(ScriptMistakes, AQuantizerOnOneSideOnly)
{
    InstallInternet(true, false, m_nodes);
    const StringValue floats("ns3::IdentityQuantizer");
    EXPECT_DEATH((m_helper->SetDeviceAttribute("Quantizer", floats), Run()),
                 "Quantizer of the center is ns3::DpStochasticQuantizer.*, and that of the devices "
                 "ns3::IdentityQuantizer.*SetQuantizer sets both");
    EXPECT_DEATH((m_helper->SetCenterAttribute("Quantizer", floats), Run()),
                 "Quantizer of the center is ns3::IdentityQuantizer");
    const StringValue other("ns3::DpStochasticQuantizer[Epsilon=0.5]");
    EXPECT_DEATH((m_helper->SetDeviceAttribute("Quantizer", other), Run()), "Epsilon=0.5");
}

TEST_F(ScriptMistakes, OneCallSetsTheQuantizerOfBothSides)
{
    InstallInternet(true, false, m_nodes);
    m_helper->SetQuantizer("ns3::UnbiasedStochasticQuantizer");
    m_helper->SetQuantizer("ns3::DpStochasticQuantizer[Epsilon=0.5]");
    Run();
    PointerValue center;
    PointerValue device;
    m_helper->GetCenter()->GetAttribute("Quantizer", center);
    m_helper->GetDevices().back()->GetAttribute("Quantizer", device);
    EXPECT_EQ(center.GetObject(), device.GetObject());
    DoubleValue epsilon;
    center.GetObject()->GetAttribute("Epsilon", epsilon);
    EXPECT_EQ(epsilon.Get(), 0.5);
    EXPECT_EQ(m_helper->GetTraceWriter()->GetLastRound().received, 2U);
}

TEST_F(ScriptMistakes, OtherSettingsOnOneSideOnly)
{
    InstallInternet(true, false, m_nodes);
    const std::string told = "; set only that of the devices, which the center is told";
    EXPECT_DEATH((m_helper->SetDeviceAttribute("Rotation", BooleanValue(true)), Run()),
                 "Rotation of the center is false, and that of the devices true; SetRotation");
    EXPECT_DEATH((m_helper->SetCenterAttribute("Rotation", BooleanValue(true)), Run()),
                 "Rotation of the center is true, and that of the devices false");
    EXPECT_DEATH((m_helper->SetCenterAttribute("ClipBound", DoubleValue(7)), Run()),
                 "ClipBound of the center is 7, and that of the devices 100" + told);
    EXPECT_DEATH((m_helper->SetCenterAttribute("ClipNorm", StringValue("l2")), Run()),
                 "ClipNorm of the center is l2, and that of the devices l1" + told);
    const StringValue wide("ns3::FixedInterval[Low=-2|High=2]");
    EXPECT_DEATH((m_helper->SetCenterAttribute("IntervalRule", wide), Run()),
                 "IntervalRule of the center is ns3::FixedInterval.*High=2.*, and that of the "
                 "devices ns3::FixedInterval.*High=0.01.*" +
                     told);
    m_helper->SetCenterAttribute("IntervalRule", wide);
    m_helper->SetDeviceAttribute("IntervalRule", wide);
    std::string error;
    EXPECT_TRUE(m_helper->Check(error)) << error;
    m_helper->SetCenterAttribute("IntervalRule", PointerValue());
    m_helper->SetCenterAttribute("ClipNorm", StringValue("none"));
    EXPECT_TRUE(m_helper->Check(error)) << error << "; the center need not know them";
}

TEST_F(ScriptMistakes, TrainingThatTakesLongerThanARound)
{
    InstallInternet(true, false, m_nodes);
    m_helper->SetDeviceAttribute("TimePerSample",
                                 StringValue("ns3::ConstantRandomVariable[Constant=10]"));
    Run();
    ExpectWarning("is the Deadline of .*s shorter than TimePerSample", true);
}

TEST_F(ScriptMistakes, ASimulationThatStopsTooEarly)
{
    InstallInternet(true, false, m_nodes);
    Simulator::Stop(MilliSeconds(1));
    Run();
    ExpectWarning("stopped at .* after 0 of 1 rounds.*does Simulator::Stop come too early", true);
}

TEST_F(ScriptMistakes, MoreParticipantsThanDevices)
{
    InstallInternet(true, false, m_nodes);
    m_helper->SetCenterAttribute("Participants", UintegerValue(3));
    Run();
    ExpectWarning("Participants is 3, but the federation has only 2 devices", false);
}

TEST_F(ScriptMistakes, SettersAfterInstall)
{
    InstallInternet(true, false, m_nodes);
    m_helper->Install(m_nodes.Get(0), InetSocketAddress("10.0.0.1", FederatedPort::CENTER));
    FederatedHelper& helper = *m_helper;
    const UintegerValue three(3);
    const std::pair<const char*, std::function<void()>> setters[] = {
        {"SetProfile", [&]() { helper.SetProfile("sound"); }},
        {"SetAlgorithm", [&]() { helper.SetAlgorithm("sq"); }},
        {"SetWeights", [&]() { helper.SetWeights("uniform"); }},
        {"SetEpsilon", [&]() { helper.SetEpsilon(1); }},
        {"SetInterval", [&]() { helper.SetInterval(1); }},
        {"SetClipBound", [&]() { helper.SetClipBound(1); }},
        {"SetQuantizer", [&]() { helper.SetQuantizer("ns3::IdentityQuantizer"); }},
        {"AddGroup", [&]() { helper.AddGroup(m_nodes, 2); }},
        {"SetData", [&]() { helper.SetData({}); }},
        {"SetStart", [&]() { helper.SetStart({}); }},
        {"SetSave", [&]() { helper.SetSave(true); }},
        {"SetTaskAttribute", [&]() { helper.SetPartition(CreateObject<IidPartition>()); }},
        {"SetProtocol", [&]() { helper.SetProtocol("tcp"); }},
        {"SetCenterAttribute", [&]() { helper.SetEncryptionKey("key"); }},
        {"SetCenterAttribute", [&]() { helper.SetRotation(true); }},
        {"SetGroupAddress", [&]() { helper.SetGroupAddress(Ipv4Address("10.0.0.255"), 9); }},
        {"SetEnrolled", [&]() { helper.SetEnrolled(true); }},
        {"SetDistanceReference", [&]() { helper.SetDistanceReference(m_nodes.Get(0)); }},
        {"SetJoinSpacing", [&]() { helper.SetJoinSpacing(Seconds(1)); }},
        {"SetCenterAttribute", [&]() { helper.SetCenterAttribute("Rounds", three); }},
        {"SetDeviceAttribute", [&]() { helper.SetDeviceAttribute("Steps", three); }},
        {"SetTaskAttribute", [&]() { helper.SetTaskAttribute("Threads", three); }},
    };
    for (const auto& [name, set] : setters)
    {
        EXPECT_DEATH(set(), std::string(name) + " comes too late, after Install");
    }
    std::string error;
    ASSERT_TRUE(helper.EnableTraces(GetFolder() + "/run", error)) << error;
    EXPECT_DEATH(helper.SetCommand({}), "SetCommand comes too late, after EnableTraces");
}

TEST_F(ScriptMistakes, CallsInAWrongOrder)
{
    InstallInternet(true, false, m_nodes);
    std::string error;
    const auto open = [&]() { EXPECT_TRUE(m_helper->EnableTraces(GetFolder() + "/a", error)); };
    EXPECT_DEATH(open(), "EnableTraces comes before Install");
    EXPECT_DEATH(m_helper->EnableProgress(), "EnableProgress comes before Install");
    EXPECT_DEATH(m_helper->StopWhenFinished(), "StopWhenFinished comes before Install");
    EXPECT_DEATH(EXPECT_EQ(m_helper->Finish(), 0), "Finish comes before Install");
    EXPECT_DEATH(EXPECT_TRUE(m_helper->SaveModel("a", error)), "SaveModel comes before Install");
    const InetSocketAddress address("10.0.0.1", FederatedPort::CENTER);
    m_helper->Install(m_nodes.Get(0), address);
    EXPECT_DEATH(m_helper->Install(m_nodes.Get(0), address), "a federation is installed once");
    EXPECT_FALSE(m_helper->EnableTraces(GetFolder() + "/none/run", error));
    EXPECT_NE(error.find(GetFolder() + "/none/run-"), std::string::npos) << error;
    EXPECT_EQ(CountFiles(), 0);
}

TEST_F(ScriptMistakes, ADeadlineInWhichNoRadioWakes)
{
    InstallInternet(true, false, m_nodes);
    m_helper->SetCenterAttribute("Deadline", TimeValue(MilliSeconds(5)));
    m_helper->SetCenterAttribute("WakeTime", TimeValue(MilliSeconds(7)));
    EXPECT_DEATH(Run(), "Deadline is \\+5ms, but radios that sleep need \\+7ms to wake");
    m_helper->SetCenterAttribute("Deadline", TimeValue(MilliSeconds(8)));
    Run();
}

TEST_F(ScriptMistakes, AnSnrThatNobodyMeasures)
{
    InstallInternet(true, false, m_nodes);
    m_helper->SetCenterAttribute("LinkNoise", StringValue("ns3::SnrLinkNoise"));
    EXPECT_DEATH(Run(), "ns3::SnrLinkNoise needs radios whose SNR a probe measures");
    m_helper->SetCenterAttribute("LinkNoise", StringValue("ns3::NoLinkNoise"));
    const auto best = CreateObject<BestSnrSelection>();
    m_helper->SetCenterAttribute("SelectionPolicy", PointerValue(best));
    EXPECT_DEATH(Run(), "ns3::BestSnrSelection needs radios whose SNR a probe measures");
    m_helper->SetCenterAttribute("SelectionPolicy", StringValue("ns3::RoundRobinSelection"));
    Run();
}

TEST_F(ScriptMistakes, ValuesThatMakeNoSense)
{
    EXPECT_DEATH(m_helper->SetJoinSpacing(Seconds(-1)), "SetJoinSpacing is negative, -1s");
    EXPECT_DEATH(m_helper->SetStart(SavedModel()), "the model of SetStart is empty: was it read");
    for (const char* layers : {"a", "0", "300;100", "65536"})
    {
        const std::string model = std::string("ns3::MlpModel[HiddenLayers=") + layers + "]";
        EXPECT_DEATH(m_helper->SetTaskAttribute("Model", StringValue(model));
                     Run(), std::string("HiddenLayers is '") + layers + "', not a list such as");
    }
}

TEST_F(ScriptMistakes, TheEndBeforeTheRun)
{
    InstallInternet(true, false, m_nodes);
    m_helper->Install(m_nodes.Get(0), InetSocketAddress("10.0.0.1", FederatedPort::CENTER));
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    EXPECT_EQ(m_helper->Finish(), 1);
    testing::internal::GetCapturedStdout();
    const std::string messages = testing::internal::GetCapturedStderr();
    EXPECT_NE(messages.find("warning: The simulation did not run: does Simulator::Run"),
              std::string::npos)
        << messages;
}

TEST_F(ScriptMistakes, TheEndTwiceOrAfterTheSimulationWasDestroyed)
{
    const std::string sentence = "Finish comes once, and before Simulator::Destroy";
    InstallInternet(true, false, m_nodes);
    Run();
    const auto finish = [&]() { return m_helper->Finish(); };
    EXPECT_DEATH((Simulator::Destroy(), finish()), sentence);
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    EXPECT_EQ(finish(), 0);
    testing::internal::GetCapturedStdout();
    testing::internal::GetCapturedStderr();
    EXPECT_DEATH(finish(), sentence);
}

TEST_F(ScriptMistakes, APortThatIsInUse)
{
    InstallInternet(true, false, m_nodes);
    FederatedHelper second;
    second.AddGroup(m_nodes.Get(1), 4);
    second.SetData(FederatedData::MakeSynthetic(1, 120, 60, 6, 6, 4));
    second.Install(m_nodes.Get(0), InetSocketAddress("10.0.0.1", FederatedPort::CENTER));
    EXPECT_DEATH(Run(), "could not bind a socket to Local.*another application uses its port");
}

TEST_F(ScriptMistakes, WhatCannotBeInstalled)
{
    InstallInternet(true, false, m_nodes);
    EXPECT_DEATH((m_helper->SetData({}), Run()), "The learning task has no data set");
    EXPECT_DEATH((m_helper->AddGroup(NodeContainer(), 2), Run()), "Group 2 has no devices");
    EXPECT_DEATH(
        (m_helper->SetQuantizer("ns3::RandomizedResponseQuantizer"), Run()),
        "Group 0: ns3::RandomizedResponseQuantizer has no resolution of 2 bits, only of 1");
    EXPECT_DEATH((m_helper->SetCenterAttribute("Participants", UintegerValue(1)), Run()),
                 "FusionCenter: .*[Pp]articipants");
    SavedModel model;
    model.values = {1, 2, 3};
    EXPECT_DEATH((m_helper->SetStart(model), Run()),
                 "The model to begin with has 3 parameters, but the task has 148");
    model.path = "my.npy";
    m_helper->SetStart(model);
    std::string error;
    EXPECT_FALSE(m_helper->Check(error));
    EXPECT_EQ(error, "The model 'my.npy' has 3 parameters, but the task has 148.");
}

/** @ingroup federated-tests Points in the plane, in three clouds. */
class PlanePoints : public ScriptMistakes
{
  protected:
    PlanePoints()
    {
        m_helper->SetData({MakePoints(600, 1), MakePoints(300, 2)});
        m_helper->SetCenterAttribute("Rounds", UintegerValue(20));
        m_helper->SetDeviceAttribute("LearningRate", DoubleValue(1));
        InstallInternet(true, false, m_nodes);
    }

    /** @return points with two coordinates and one of three labels each. */
    static std::shared_ptr<const FederatedDataset> MakePoints(uint32_t count, uint64_t seed)
    {
        const int centers[3][2] = {{60, 60}, {190, 80}, {110, 200}};
        FederatedRandom random(seed);
        std::vector<uint8_t> pixels;
        std::vector<uint8_t> labels;
        for (uint32_t i = 0; i < count; ++i)
        {
            const uint32_t label = i % 3;
            labels.push_back(static_cast<uint8_t>(label));
            for (const int center : centers[label])
            {
                const auto offset = static_cast<int>(random.Below(61)) - 30;
                pixels.push_back(static_cast<uint8_t>(center + offset));
            }
        }
        return std::make_shared<FederatedDataset>(1, 2, 3, pixels, labels);
    }
};

TEST_F(PlanePoints, AnIntervalThatIsFarTooNarrow)
{
    Run();
    EXPECT_LT(m_helper->GetTraceWriter()->GetLastRound().testAccuracy, 0.9);
    ExpectWarning("of the coordinates of updates lay outside the interval .-0.01, 0.01. and were "
                  "clamped.*SetInterval",
                  false);
}

TEST_F(PlanePoints, AnIntervalThatIsWideEnough)
{
    m_helper->SetInterval(0.5);
    Run();
    EXPECT_GT(m_helper->GetTraceWriter()->GetLastRound().testAccuracy, 0.95);
    std::ostringstream warnings;
    EXPECT_FALSE(m_helper->PrintWarnings(warnings));
    EXPECT_EQ(warnings.str(), "");
}

TEST_F(ScriptMistakes, OneFederationDoesNotCutAnother)
{
    InstallInternet(true, false, m_nodes);
    FederatedHelper longer;
    longer.AddGroup(m_nodes.Get(1), 4);
    longer.SetData(FederatedData::MakeSynthetic(1, 120, 60, 6, 6, 4));
    longer.SetTaskAttribute("Model", StringValue("ns3::LogisticModel"));
    longer.SetTaskAttribute("Threads", UintegerValue(1));
    longer.SetCenterAttribute("Participants", UintegerValue(1));
    longer.SetCenterAttribute("Rounds", UintegerValue(4));
    longer.Install(m_nodes.Get(0), InetSocketAddress("10.0.0.1", FederatedPort::CENTER + 10));
    longer.StopWhenFinished();
    Run();
    EXPECT_EQ(m_helper->GetTraceWriter()->GetLastRound().round, 1U);
    EXPECT_EQ(longer.GetTraceWriter()->GetLastRound().round, 4U);
    EXPECT_LT(Simulator::Now(), Seconds(100));
}

TEST_F(ScriptMistakes, WhatIsMissing)
{
    const InetSocketAddress address("10.0.0.1", FederatedPort::CENTER);
    EXPECT_DEATH(m_helper->Install(nullptr, address), "The node of the center is null");
    m_nodes.Get(0)->AddApplication(CreateObject<FusionCenter>());
    EXPECT_DEATH(Simulator::Run(), "FusionCenter: Task is not set");
}

TEST_F(ScriptMistakes, ADeviceWithoutATask)
{
    const auto device = CreateObject<FederatedDevice>();
    m_nodes.Get(0)->AddApplication(device);
    EXPECT_DEATH(Simulator::Run(), "Remote of device 0 is not the address of a center");
    device->SetAttribute("Remote", AddressValue(InetSocketAddress("10.0.0.1", 1)));
    EXPECT_DEATH(Simulator::Run(), "Task of device 0 is not set");
    device->SetAttribute("Task", PointerValue(CreateObject<LearningTask>()));
    EXPECT_DEATH(Simulator::Run(), "has no internet stack");
    InstallInternet(true, false, m_nodes);
    EXPECT_DEATH(Simulator::Run(), "The learning task has no data set");
}

TEST_F(ScriptMistakes, NeighborsWithoutAnInterface)
{
    const Address hardware = m_ports.Get(1)->GetAddress();
    const std::string sentence =
        "FederatedNeighbors: net device 0 of " + Say(0, "has no IP address of that family");
    EXPECT_DEATH(FederatedNeighbors::Add(m_ports.Get(0), Ipv4Address("10.0.0.2"), hardware),
                 sentence);
    InternetStackHelper().Install(m_nodes);
    EXPECT_DEATH(FederatedNeighbors::Add(m_ports.Get(0), Ipv4Address("10.0.0.2"), hardware),
                 sentence);
    EXPECT_DEATH(FederatedNeighbors::Add(m_ports.Get(0), Ipv6Address("2001:1::2"), hardware),
                 sentence);
}

TEST_F(ScriptMistakes, WithoutPositionsDistancesAreUnknown)
{
    InstallInternet(true, false, m_nodes);
    m_helper->SetDistanceReference(m_nodes.Get(2));
    std::string error;
    m_helper->Install(m_nodes.Get(0), InetSocketAddress("10.0.0.1", FederatedPort::CENTER));
    ASSERT_TRUE(m_helper->EnableTraces(GetFolder() + "/run", error)) << error;
    m_helper->StopWhenFinished();
    Simulator::Run();
    EXPECT_TRUE(m_helper->GetTraceWriter()->IsComplete(error)) << error;
    std::istringstream table(Read("run-links.csv"));
    std::string row;
    ASSERT_TRUE(std::getline(table, row));
    const auto names = FederatedNumber::Split(row);
    const auto column = std::find(names.begin(), names.end(), "distance_m") - names.begin();
    ASSERT_TRUE(std::getline(table, row));
    EXPECT_EQ(FederatedNumber::Split(row).at(static_cast<std::size_t>(column)), "");
}
