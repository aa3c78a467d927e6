// SPDX-License-Identifier: GPL-2.0-only

#ifndef FEDERATION_H
#define FEDERATION_H

#include "ns3/error-model.h"
#include "ns3/federated-device.h"
#include "ns3/federated-port.h"
#include "ns3/fusion-center.h"
#include "ns3/identity-quantizer.h"
#include "ns3/inet-socket-address.h"
#include "ns3/inet6-socket-address.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-address-helper.h"
#include "ns3/ipv4-static-routing-helper.h"
#include "ns3/ipv4.h"
#include "ns3/ipv6-address-helper.h"
#include "ns3/ipv6-static-routing-helper.h"
#include "ns3/logistic-model.h"
#include "ns3/message-crypto.h"
#include "ns3/node-container.h"
#include "ns3/pointer.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/simple-net-device-helper.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/tcp-socket-factory.h"
#include "ns3/uinteger.h"
#include "ns3/uniform-fusion.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

namespace ns3
{

/**
 * A small federation for tests: a center with a wire to each device, tiny synthetic
 * images, and a linear model. Device i belongs to group i mod 2.
 */
class Federation : public testing::Test
{
  public:
    static constexpr uint16_t PORT = FederatedPort::CENTER; // of the center

    void SetUp() override
    {
        RngSeedManager::SetSeed(1);
        RngSeedManager::SetRun(1);
    }

    void TearDown() override
    {
        Simulator::Destroy();
    }

    /** Make nodes, links and applications, instead of those that were there. */
    void Build(uint32_t devices, bool v6 = false)
    {
        Simulator::Destroy();
        SetUp();
        nodes = NodeContainer();
        links = NetDeviceContainer();
        remotes.clear();
        apps.clear();
        rounds.clear();
        sent.clear();
        task = CreateObject<LearningTask>();
        task->SetData(FederatedData::MakeSynthetic(7, 40 * devices, 200, side, side, classes));
        task->SetModel(CreateObject<LogisticModel>());
        task->SetGroups({devices});
        task->AssignStreams(100);
        nodes.Create(devices + 1);
        InternetStackHelper stack;
        stack.SetIpv4StackInstall(!v6);
        stack.SetIpv6StackInstall(v6);
        stack.Install(nodes);
        stack.AssignStreams(nodes, 1000); // else they depend on the tests before this one
        SimpleNetDeviceHelper wires;
        wires.SetNetDevicePointToPointMode(true);
        wires.SetDeviceAttribute("DataRate", StringValue("1Gbps"));
        wires.SetChannelAttribute("Delay", StringValue("1ms"));
        wires.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("10000p"));
        Ipv4AddressHelper addresses("10.1.0.0", "255.255.255.252");
        Ipv6AddressHelper addresses6(Ipv6Address("2001:1::"), Ipv6Prefix(64));
        for (uint32_t i = 0; i < devices; ++i)
        {
            const NetDeviceContainer link =
                wires.Install(NodeContainer(nodes.Get(0), nodes.Get(i + 1)));
            links.Add(link);
            if (v6)
            {
                const auto interfaces = addresses6.Assign(link);
                remotes.push_back(Inet6SocketAddress(interfaces.GetAddress(0, 1), PORT));
                addresses6.NewNetwork();
            }
            else
            {
                const auto interfaces = addresses.Assign(link);
                remotes.push_back(InetSocketAddress(interfaces.GetAddress(0), PORT));
                addresses.NewNetwork();
            }
        }
        center = CreateObject<FusionCenter>();
        center->SetAttribute("Task", PointerValue(task));
        center->SetAttribute("Quantizer", PointerValue(CreateObject<IdentityQuantizer>()));
        center->SetAttribute("FusionRule", PointerValue(CreateObject<UniformFusion>()));
        center->SetAttribute("Participants", UintegerValue(devices));
        center->SetAttribute("BitBudget", StringValue("ns3::FixedBitBudget[Bits=1000]"));
        center->SetAttribute("Rounds", UintegerValue(3));
        center->SetAttribute("GroupBits", StringValue(devices > 1 ? "2,4" : "2"));
        center->SetAttribute("ExpectedDevices", UintegerValue(devices));
        center->SetAttribute("MaxDevices", UintegerValue(devices));
        center->SetAttribute("DownlinkRate", StringValue("50Mbps"));
        center->SetAttribute("UplinkRate", StringValue("50Mbps"));
        if (v6)
        {
            center->SetAttribute("Local",
                                 AddressValue(Inet6SocketAddress(Ipv6Address::GetAny(), PORT)));
        }
        nodes.Get(0)->AddApplication(center);
        center->TraceConnectWithoutContext("RoundEnd", MakeCallback(&Federation::OnRound, this));
        for (uint32_t i = 0; i < devices; ++i)
        {
            auto device = CreateObject<FederatedDevice>();
            device->SetAttribute("DeviceId", UintegerValue(i));
            device->SetAttribute("Group", UintegerValue(i % 2));
            device->SetAttribute("Bits", UintegerValue(i % 2 == 0 ? 2 : 4));
            device->SetAttribute("Remote", AddressValue(remotes[i]));
            device->SetAttribute("Task", PointerValue(task));
            device->SetAttribute("Quantizer", PointerValue(CreateObject<IdentityQuantizer>()));
            device->SetAttribute("ClipNorm", StringValue("none"));
            device->TraceConnectWithoutContext("UpdateSent",
                                               MakeCallback(&Federation::OnSent, this));
            device->TraceConnectWithoutContext("ModelReceived",
                                               MakeCallback(&Federation::OnModel, this));
            nodes.Get(i + 1)->AddApplication(device);
            apps.push_back(device);
        }
    }

    /** Set an attribute of the center and all devices. */
    void SetForAll(const std::string& name, const AttributeValue& value)
    {
        center->SetAttribute(name, value);
        SetForDevices(name, value);
    }

    /** Set an attribute of all devices. */
    void SetForDevices(const std::string& name, const AttributeValue& value)
    {
        for (auto& device : apps)
        {
            device->SetAttribute(name, value);
        }
    }

    /** Protect all messages by a key; none if it is empty. */
    void SetKey(const std::string& key)
    {
        center->SetAttribute("EncryptionKey", StringValue(key));
        for (auto& device : apps)
        {
            UintegerValue id;
            device->GetAttribute("DeviceId", id);
            device->SetAttribute(
                "DeviceKey", StringValue(center->GetDeviceKey(static_cast<uint32_t>(id.Get()))));
        }
    }

    /** @return whether this build can protect messages. */
    static bool HasProtection()
    {
        return federated::MessageCrypto::Make() != nullptr;
    }

    /** The net device at the center's end of a link, which receives the device's uplink. */
    Ptr<NetDevice> GetCenterEnd(uint32_t device) const
    {
        return links.Get(2 * device);
    }

    /** The net device at the device's end of a link. */
    Ptr<NetDevice> GetDeviceEnd(uint32_t device) const
    {
        return links.Get(2 * device + 1);
    }

    /** Let packets get lost before they reach a net device. */
    void SetLoss(Ptr<NetDevice> device, Ptr<ErrorModel> loss)
    {
        device->SetAttribute("ReceiveErrorModel", PointerValue(loss));
    }

    /** Run until nothing is left to happen: if somebody waits for ever, the test does not end. */
    void Run()
    {
        Simulator::Run();
    }

    void OnRound(const RoundRecord& record)
    {
        rounds.push_back(record);
    }

    void OnSent(const FederatedDevice::SentRecord& record)
    {
        sent.push_back(record);
    }

    void OnModel(uint32_t, uint32_t device, bool complete)
    {
        ++(complete ? completeModels : incompleteModels);
        modelOrder.push_back(device);
    }

    uint32_t side = 8;    // of an image
    uint32_t classes = 4; // of images
    Ptr<LearningTask> task;
    NodeContainer nodes; // the center, then the devices
    NetDeviceContainer links;
    std::vector<Address> remotes; // the center, as each device knows it
    Ptr<FusionCenter> center;
    std::vector<Ptr<FederatedDevice>> apps;
    std::vector<RoundRecord> rounds;
    std::vector<FederatedDevice::SentRecord> sent;
    std::vector<uint32_t> modelOrder; // devices, as they got their models
    uint32_t completeModels = 0;
    uint32_t incompleteModels = 0;
};

} // namespace ns3

#endif // FEDERATION_H
