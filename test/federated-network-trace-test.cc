// SPDX-License-Identifier: GPL-2.0-only

#include "ns3/federated-network-trace.h"

#include "federated-test-folder.h"

#include "ns3/inet-socket-address.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-address-helper.h"
#include "ns3/mobility-helper.h"
#include "ns3/node-container.h"
#include "ns3/packet.h"
#include "ns3/simple-net-device-helper.h"
#include "ns3/simulator.h"
#include "ns3/socket.h"
#include "ns3/udp-socket-factory.h"

#include <gtest/gtest.h>

#include <string>

using namespace ns3;

namespace
{

/** Send a packet. */
void
SendPacket(Ptr<Socket> socket)
{
    socket->Send(Create<Packet>(100));
}

} // namespace

/** @ingroup federated-tests Two nodes, and traces of other modules in a folder. */
class FederatedNetworkTraceTest : public FederatedTestFolder
{
  protected:
    void TearDown() override
    {
        Simulator::Destroy();
    }

    /** Run two nodes that write a trace. @return its content. */
    std::string Run(const std::string& kind)
    {
        const NodeContainer nodes(2);
        MobilityHelper().Install(nodes);
        InternetStackHelper().Install(nodes);
        Ipv4AddressHelper addresses("10.1.0.0", "255.255.255.0");
        const auto ports = addresses.Assign(SimpleNetDeviceHelper().Install(nodes));
        const auto receiver = Socket::CreateSocket(nodes.Get(1), UdpSocketFactory::GetTypeId());
        receiver->Bind(InetSocketAddress(Ipv4Address::GetAny(), 9));
        const auto sender = Socket::CreateSocket(nodes.Get(0), UdpSocketFactory::GetTypeId());
        sender->Connect(InetSocketAddress(ports.GetAddress(1), 9));
        const auto trace = FederatedNetworkTrace::Make(kind, GetFolder() + "/trace.xml");
        Simulator::Schedule(Seconds(1), &SendPacket, sender);
        Simulator::Stop(Seconds(2));
        Simulator::Run();
        FederatedTraceFiles files;
        trace->Finish(files);
        std::string error;
        EXPECT_TRUE(files.AreComplete(error)) << error;
        return Read("trace.xml");
    }
};

TEST_F(FederatedNetworkTraceTest, FlowsAreWrittenWhereTheModuleIsThere)
{
    if (!FederatedNetworkTrace::Has("flowmon"))
    {
        GTEST_SKIP() << "this build has no flow-monitor";
    }
    const std::string text = Run("flowmon");
    EXPECT_NE(text.find("destinationAddress=\"10.1.0.2\""), std::string::npos) << text;
    EXPECT_NE(text.find("rxPackets=\"1\""), std::string::npos) << text;
}

TEST_F(FederatedNetworkTraceTest, AnAnimationIsWrittenWhereTheModuleIsThere)
{
    if (!FederatedNetworkTrace::Has("anim"))
    {
        GTEST_SKIP() << "this build has no netanim";
    }
    const std::string text = Run("anim");
    EXPECT_NE(text.find("<node id=\"1\""), std::string::npos) << text;
    EXPECT_NE(text.find("</anim>"), std::string::npos) << text;
}

TEST_F(FederatedNetworkTraceTest, AKindThatTheBuildHasNotIsRefusedWithASentence)
{
    EXPECT_FALSE(FederatedNetworkTrace::Has("hologram"));
    EXPECT_DEATH(FederatedNetworkTrace::Make("hologram", GetFolder() + "/trace.xml"),
                 "this build has no trace of the kind 'hologram'");
}
