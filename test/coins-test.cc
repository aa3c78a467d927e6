// SPDX-License-Identifier: GPL-2.0-only

// No two updates of a simulation share coins: not those of two rounds, of two lives of a device, of
// two centers, or of two federations with equal seeds.

#include "federation.h"
#include "schedule-call.h"

#include "ns3/coin-audit.h"
#include "ns3/device-registry.h"
#include "ns3/double.h"
#include "ns3/federated-header.h"
#include "ns3/federated-random.h"
#include "ns3/fixed-interval.h"
#include "ns3/privacy-ledger.h"
#include "ns3/randomized-response-quantizer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

using namespace ns3;
using namespace ns3::federated;

namespace
{

constexpr double EPSILON = 0.001; // a coin so fair that the data does not matter

/** A device that can be started a second time. */
class RestartedDevice : public FederatedDevice
{
  public:
    void StartAgain()
    {
        StartApplication();
    }
};

/** @ingroup federated-tests A federation whose devices send one fair bit a coordinate. */
class CoinFederation : public Federation
{
  public:
    void BuildCoins(uint32_t devices, const char* protocol = "ns3::UdpSocketFactory")
    {
        payloads.clear();
        Build(devices);
        SetUpCenter(center, devices);
        for (const auto& device : apps)
        {
            SetUpDevice(device);
        }
        SetForAll("Protocol", TypeIdValue(TypeId::LookupByName(protocol)));
        protocolName = protocol;
    }

    void SetUpCenter(const Ptr<FusionCenter>& one, uint32_t devices) const
    {
        one->SetAttribute("GroupBits", StringValue(devices > 1 ? "1,1" : "1"));
        one->SetAttribute("Quantizer", PointerValue(MakeQuantizer()));
        one->SetAttribute("Rounds", UintegerValue(4));
    }

    void SetUpDevice(const Ptr<FederatedDevice>& device)
    {
        device->SetAttribute("Bits", UintegerValue(1));
        device->SetAttribute("Quantizer", PointerValue(MakeQuantizer()));
        device->SetAttribute("IntervalRule", PointerValue(CreateObject<FixedInterval>()));
        device->TraceConnectWithoutContext("Tx", MakeCallback(&CoinFederation::OnTx, this));
    }

    static Ptr<Quantizer> MakeQuantizer()
    {
        auto quantizer = CreateObject<RandomizedResponseQuantizer>();
        quantizer->SetAttribute("Epsilon", DoubleValue(EPSILON));
        return quantizer;
    }

    /** A second application in the place of a device. */
    template <typename Device>
    Ptr<Device> AddLife(uint32_t id)
    {
        auto device = CreateObject<Device>();
        device->SetAttribute("DeviceId", UintegerValue(id));
        device->SetAttribute("Group", UintegerValue(id % 2));
        device->SetAttribute("Remote", AddressValue(remotes[id]));
        device->SetAttribute("Task", PointerValue(task));
        device->SetAttribute("ClipNorm", StringValue("none"));
        device->SetAttribute("Protocol", TypeIdValue(TypeId::LookupByName(protocolName)));
        SetUpDevice(device);
        nodes.Get(id + 1)->AddApplication(device);
        return device;
    }

    /** A second center on the node of the first. */
    Ptr<FusionCenter> AddCenter(const Ptr<LearningTask>& with, uint16_t port, uint32_t devices)
    {
        auto second = CreateObject<FusionCenter>();
        second->SetAttribute("Task", PointerValue(with));
        second->SetAttribute("FusionRule", PointerValue(CreateObject<UniformFusion>()));
        second->SetAttribute("BitBudget", StringValue("ns3::FixedBitBudget[Bits=1000]"));
        second->SetAttribute("Participants", UintegerValue(devices));
        second->SetAttribute("ExpectedDevices", UintegerValue(devices));
        second->SetAttribute("JoinTimeout", TimeValue(Minutes(1))); // they join again in their time
        second->SetAttribute("Protocol", TypeIdValue(TypeId::LookupByName(protocolName)));
        second->SetAttribute("Local", AddressValue(InetSocketAddress(Ipv4Address::GetAny(), port)));
        SetUpCenter(second, devices);
        nodes.Get(0)->AddApplication(second);
        return second;
    }

    void OnTx(Ptr<const Packet> packet)
    {
        auto copy = packet->Copy();
        FederatedHeader header;
        copy->RemoveHeader(header);
        if (header.type == FederatedHeader::UPDATE)
        {
            EXPECT_EQ(header.fragments, 1U);
            std::vector<uint8_t> payload(copy->GetSize());
            copy->CopyData(payload.data(), copy->GetSize());
            payloads[header.device].push_back(payload);
        }
    }

    /**
     * Compare all updates that were sent, and the ledgers with their number. Some hundred pairs of
     * independent coins are beyond 4 standard errors with a probability below 0.02 (fixed seed).
     */
    void ExpectIndependentCoins(std::size_t updates) const
    {
        CoinAudit audit(task->GetDimension());
        for (const auto& [device, sentByIt] : payloads)
        {
            for (const auto& payload : sentByIt)
            {
                audit.Add(payload);
            }
        }
        ASSERT_EQ(audit.GetUpdates(), updates);
        EXPECT_LT(std::abs(audit.GetWorst().standardErrors), 4);
        EXPECT_FALSE(audit.FindsSharedCoins(1e-3));
    }

    /** The ledger of a device has as many answers as the capture of what it sent. */
    void ExpectLedger(const FederatedDevice& device, uint32_t id) const
    {
        const auto answers = static_cast<uint32_t>(payloads.at(id).size());
        const auto dimension = static_cast<double>(task->GetDimension());
        EXPECT_EQ(device.GetPrivacyLedger().GetAnswers(), answers);
        EXPECT_NEAR(device.GetPrivacyLedger().GetEpsilon(EPSILON_BASIC),
                    answers * dimension * EPSILON,
                    1e-9);
    }

    std::map<uint32_t, std::vector<std::vector<uint8_t>>> payloads; // sent, by device
    std::string protocolName;
};

} // namespace

TEST_F(CoinFederation, RoundsAndDevicesHaveCoinsOfTheirOwn)
{
    BuildCoins(3);
    Run();
    ExpectIndependentCoins(12);
    for (uint32_t i = 0; i < 3; ++i)
    {
        ExpectLedger(*apps[i], i);
    }
}

TEST_F(CoinFederation, ASecondLifeOfADeviceTossesNewCoinsAndItsLossesAddUp)
{
    BuildCoins(2);
    // The new application meets a new center, whose rounds begin with 1 and the same first model.
    center->SetStopTime(Seconds(2));
    apps[0]->SetStopTime(Seconds(3));
    const auto life = AddLife<FederatedDevice>(0);
    life->SetStartTime(Seconds(5));
    const auto second = AddCenter(task, PORT, 2);
    second->SetStartTime(Seconds(4));
    Run();
    ExpectIndependentCoins(16);
    ASSERT_EQ(payloads[0].size(), 8U);
    ExpectLedger(*life, 0);
    ExpectLedger(*apps[0], 0); // one identity, one ledger
    ExpectLedger(*apps[1], 1);
}

TEST_F(CoinFederation, ARestartedDeviceTossesNewCoins)
{
    BuildCoins(1);
    apps[0]->SetStartTime(Hours(1)); // it takes no part
    apps[0]->SetStopTime(Hours(1));
    const auto again = AddLife<RestartedDevice>(0);
    again->SetStopTime(Seconds(3));
    ScheduleCall(Seconds(5), [&]() { again->StartAgain(); });
    center->SetStopTime(Seconds(2));
    const auto second = AddCenter(task, PORT, 1);
    second->SetStartTime(Seconds(4));
    Simulator::Stop(Seconds(30));
    Run();
    ExpectIndependentCoins(8);
    ExpectLedger(*again, 0);
}

TEST_F(CoinFederation, ASecondCenterGetsNewCoins)
{
    for (const char* protocol : {"ns3::UdpSocketFactory", "ns3::TcpSocketFactory"})
    {
        SCOPED_TRACE(protocol);
        BuildCoins(2, protocol);
        center->SetStopTime(Seconds(2));
        const auto second = AddCenter(task, PORT, 2);
        second->SetStartTime(Seconds(2.05));
        Run();
        ExpectIndependentCoins(16);
        ExpectLedger(*apps[0], 0);
        ExpectLedger(*apps[1], 1);
    }
}

TEST_F(CoinFederation, ADeviceThatJoinsAgainAfterABrokenConnectionTossesNewCoins)
{
    // The connection breaks while updates are being sent, and the round goes on without the device.
    BuildCoins(1, "ns3::TcpSocketFactory");
    center->SetAttribute("Rounds", UintegerValue(6));
    center->SetAttribute("Deadline", TimeValue(Seconds(5)));
    auto ipv4 = nodes.Get(1)->GetObject<Ipv4>();
    for (const double start : {0.02, 1.0, 20.0})
    {
        Simulator::Schedule(Seconds(start), &Ipv4::SetDown, ipv4, 1);
        Simulator::Schedule(Seconds(start + 8), &Ipv4::SetUp, ipv4, 1);
    }
    Simulator::Stop(Seconds(200));
    Run();
    ASSERT_GE(payloads[0].size(), 3U);
    ExpectIndependentCoins(payloads[0].size());
    ExpectLedger(*apps[0], 0);
}

TEST_F(CoinFederation, ASecondFederationWithTheSameSeedHasCoinsAndLedgersOfItsOwn)
{
    BuildCoins(2);
    auto other = CreateObject<LearningTask>();
    other->SetData(FederatedData::MakeSynthetic(7, 80, 200, side, side, classes));
    other->SetModel(CreateObject<LogisticModel>());
    other->SetGroups({2});
    other->AssignStreams(100);
    ASSERT_EQ(other->GetSeed(), task->GetSeed());
    AddCenter(other, PORT + 1, 2);
    std::vector<Ptr<FederatedDevice>> others;
    for (uint32_t i = 0; i < 2; ++i)
    {
        const auto device = AddLife<FederatedDevice>(i);
        const auto remote = InetSocketAddress::ConvertFrom(remotes[i]);
        device->SetAttribute("Remote", AddressValue(InetSocketAddress(remote.GetIpv4(), PORT + 1)));
        device->SetAttribute("Task", PointerValue(other));
        others.push_back(device);
    }
    Run();
    ExpectIndependentCoins(16);
    EXPECT_EQ(apps[0]->GetPrivacyLedger().GetAnswers(), 4U);
    EXPECT_EQ(others[0]->GetPrivacyLedger().GetAnswers(), 4U);
}

TEST_F(CoinFederation, TheNextSimulationHasTheSameCoinsAgain)
{
    BuildCoins(2);
    Run();
    const auto first = payloads;
    BuildCoins(2); // after Simulator::Destroy()
    Run();
    EXPECT_EQ(payloads, first);
    EXPECT_EQ(apps[0]->GetPrivacyLedger().GetAnswers(), 4U) << "ledgers begin anew";
}

TEST_F(CoinFederation, AConfigurationThatChangesAfterEncodingDoesNotChangeTheEntry)
{
    // Between the end of training and the slot a script sets another quantizer and another clip.
    BuildCoins(1);
    center->SetAttribute("Rounds", UintegerValue(1));
    struct Change
    {
        Ptr<FederatedDevice> device;

        void Do(const FederatedDevice::TrainingRecord&) const
        {
            auto coarse = CreateObject<RandomizedResponseQuantizer>();
            coarse->SetAttribute("Epsilon", DoubleValue(7));
            device->SetAttribute("Quantizer", PointerValue(coarse));
            device->SetAttribute("PrivacyDelta", DoubleValue(1e-6));
        }
    };

    Change change{apps[0]};
    apps[0]->TraceConnectWithoutContext("TrainingDone", MakeCallback(&Change::Do, &change));
    Run();
    ExpectLedger(*apps[0], 0);
}

TEST(CoinAudits, FindCoinsThatAreTossedOnceForTwoUpdates)
{
    auto quantizer = CreateObject<RandomizedResponseQuantizer>();
    quantizer->SetAttribute("Epsilon", DoubleValue(0.01));
    const std::size_t count = 260;
    const std::vector<IntervalRange> intervals{{0, count, -1.0F, 1.0F}};
    const auto encode = [&](float value, uint64_t serial, uint32_t federation)
    {
        FederatedRandom coins(1, FederatedRandom::QUANTIZE, 3, serial, federation);
        std::vector<uint8_t> payload(quantizer->GetPayloadSize(count, 1));
        const std::vector<float> values(count, value);
        EXPECT_TRUE(quantizer->Encode(values.data(), intervals, 1, coins, payload.data()));
        return payload;
    };
    CoinAudit audit(count);
    audit.Add(encode(1, 1, 0));
    audit.Add(encode(-1, 2, 0));
    audit.Add(encode(1, uint64_t{1} << 32 | 1, 0));
    audit.Add(encode(1, 1, 1));
    EXPECT_FALSE(audit.FindsSharedCoins(1e-3));
    audit.Add(encode(-1, 2, 1));
    EXPECT_FALSE(audit.FindsSharedCoins(1e-3));
    audit.Add(encode(-1, 1, 0)); // as the first
    EXPECT_TRUE(audit.FindsSharedCoins(1e-9));
    const auto worst = audit.GetWorst();
    EXPECT_EQ(worst.first, 0U);
    EXPECT_EQ(worst.second, 5U);
    EXPECT_GT(worst.agreement, 0.98) << "all but the bits that the data decides";
    EXPECT_GT(worst.standardErrors, 15);
}

TEST(CoinAudits, RaiseNoFalseAlarm)
{
    // Probability 1e-3 for each of 200 audits: more than 4 alarms with probability 2e-6.
    int alarms = 0;
    for (uint64_t seed = 0; seed < 200; ++seed)
    {
        CoinAudit audit(100);
        FederatedRandom random(seed);
        for (int update = 0; update < 20; ++update)
        {
            std::vector<uint8_t> payload(13);
            for (std::size_t i = 0; i < 100; ++i)
            {
                payload[i / 8] |= (random() & 1) << i % 8;
            }
            audit.Add(payload);
        }
        alarms += audit.FindsSharedCoins(1e-3);
    }
    EXPECT_LE(alarms, 4);
}

TEST(DeviceAccounts, NumberUpdatesByRoundAndNeverTwice)
{
    DeviceAccount account;
    EXPECT_EQ(account.TakeSerial(1), 1U);
    EXPECT_EQ(account.TakeSerial(2), 2U);
    EXPECT_EQ(account.TakeSerial(2), 3U) << "the round begins again";
    EXPECT_EQ(account.TakeSerial(1), 4U) << "a new center begins with round 1";
    EXPECT_EQ(account.TakeSerial(9), 9U) << "batches are those of the round";
    EXPECT_EQ(account.TakeSerial(0xffffffff), 0xffffffffU);
    EXPECT_EQ(account.TakeSerial(0xffffffff), uint64_t{1} << 32) << "numbers never run out";
}
