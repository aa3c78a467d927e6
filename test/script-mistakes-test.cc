// SPDX-License-Identifier: GPL-2.0-only

#include "federated-test-folder.h"

#include "ns3/federated-helper.h"
#include "ns3/federated-neighbors.h"
#include "ns3/federated-number.h"
#include "ns3/federated-port.h"
#include "ns3/inet-socket-address.h"
#include "ns3/inet6-socket-address.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-address-helper.h"
#include "ns3/pointer.h"
#include "ns3/simple-net-device-helper.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <regex>
#include <sstream>
#include <string>

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
        const std::string sentence =
            "Protocol is " + protocol + ", neither ns3::UdpSocketFactory nor ns3::TcpSocketFactory";
        EXPECT_DEATH((m_helper->SetCenterAttribute("Protocol", StringValue(protocol)), Run()),
                     "FusionCenter: " + sentence);
        EXPECT_DEATH((m_helper->SetDeviceAttribute("Protocol", StringValue(protocol)), Run()),
                     "FederatedDevice: device 0: " + sentence);
    }
    EXPECT_DEATH((m_helper->SetDeviceAttribute("Protocol", StringValue("ns3::NoSuch")), Run()),
                 "Protocol could not be set");
}

TEST_F(ScriptMistakes, UnknownNames)
{
    InstallInternet(true, false, m_nodes);
    const UintegerValue one(1);
    EXPECT_DEATH((m_helper->SetCenterAttribute("NoSuch", one), Run()),
                 "NoSuch does not exist.*ns3::FusionCenter");
    EXPECT_DEATH((m_helper->SetDeviceAttribute("NoSuch", one), Run()),
                 "NoSuch does not exist.*ns3::FederatedDevice");
    EXPECT_DEATH((m_helper->SetTaskAttribute("NoSuch", one), Run()),
                 "NoSuch does not exist.*ns3::LearningTask");
    const StringValue unknown("ns3::NoSuchClass");
    EXPECT_DEATH(
        (m_helper->SetCenterAttribute("FusionRule", unknown), Run()),
        "'ns3::NoSuchClass' cannot be used as ns3::FusionRule: there is no class of that name");
    EXPECT_DEATH((m_helper->SetDeviceAttribute("Quantizer", unknown), Run()),
                 "'ns3::NoSuchClass' cannot be used as ns3::Quantizer");
    EXPECT_DEATH((m_helper->SetTaskAttribute("Model", unknown), Run()),
                 "'ns3::NoSuchClass' cannot be used as ns3::LearningModel");
}

TEST_F(ScriptMistakes, AnAddressThatIsNotTheCenters)
{
    InstallInternet(true, false, m_nodes);
    Run(InetSocketAddress("10.0.0.9", FederatedPort::CENTER));
    ExpectWarning("None of 2 devices joined: is 10.0.0.9", true);
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
    ExpectWarning("None of 2 devices joined: is 10.0.0.1.*is there a route to it", true);
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
    EXPECT_DEATH(m_helper->SetCenterAttribute("Rounds", UintegerValue(3)),
                 "SetCenterAttribute comes too late, after Install");
    EXPECT_DEATH(m_helper->SetQuantizer(nullptr), "SetQuantizer comes too late");
    EXPECT_DEATH(m_helper->AddGroup(m_nodes, 2), "AddGroup comes too late");
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
    EXPECT_DEATH(m_helper->Install(nullptr, address), "the node of the center is null");
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
