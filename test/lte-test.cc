// SPDX-License-Identifier: GPL-2.0-only

#include "federated-test-folder.h"

#include "ns3/boolean.h"
#include "ns3/config.h"
#include "ns3/constant-velocity-mobility-model.h"
#include "ns3/double.h"
#include "ns3/federated-helper.h"
#include "ns3/federated-lte-helper.h"
#include "ns3/lte-enb-net-device.h"
#include "ns3/lte-enb-rrc.h"
#include "ns3/lte-link-probe.h"
#include "ns3/lte-rlc-um.h"
#include "ns3/lte-ue-net-device.h"
#include "ns3/lte-ue-rrc.h"
#include "ns3/propagation-loss-model.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/simulator.h"
#include "ns3/spectrum-channel.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

using namespace ns3;

namespace
{

/** Write the RNTI that a device has now. */
void
CopyRnti(Ptr<LteUeNetDevice> device, uint16_t* rnti)
{
    *rnti = device->GetRrc()->GetRnti();
}

} // namespace

/** @ingroup federated-tests A small cell with tiny images. */
class LteCell : public FederatedTestFolder
{
  protected:
    void SetUp() override
    {
        Reset();
    }

    void TearDown() override
    {
        Reset();
    }

    /** Forget everything. */
    void Reset()
    {
        m_records.clear();
        m_samples.clear();
        m_federation.reset();
        m_lte.reset();
        Simulator::Destroy();
        Config::Reset();
        RngSeedManager::SetSeed(1);
        RngSeedManager::SetRun(1);
    }

    /**
     * Make the cell.
     * @param distances Of the devices from the eNB, in m.
     * @param rounds T.
     * @param change Settings of the script.
     */
    void Install(const std::vector<double>& distances,
                 uint32_t rounds,
                 const std::function<void(FederatedHelper&)>& change = nullptr)
    {
        m_lte = std::make_unique<FederatedLteHelper>();
        m_lte->SetResourceBlocks(25);
        NodeContainer nodes(static_cast<uint32_t>(distances.size()));
        m_places.clear();
        for (uint32_t i = 0; i < nodes.GetN(); ++i)
        {
            m_places.push_back(CreateObject<ConstantVelocityMobilityModel>());
            m_places.back()->SetPosition(Vector(distances[i], 0, 0));
            nodes.Get(i)->AggregateObject(m_places.back());
        }
        m_federation = std::make_unique<FederatedHelper>();
        m_federation->AddGroup(nodes, 4);
        m_federation->SetData(FederatedData::MakeSynthetic(1, 200, 50, 28, 28, 10));
        m_federation->SetTaskAttribute("Model", StringValue("ns3::LogisticModel"));
        m_federation->SetTaskAttribute("Threads", UintegerValue(1));
        m_federation->SetCenterAttribute("BitBudget", StringValue("ns3::FixedBitBudget[Bits=99]"));
        m_federation->SetCenterAttribute("Participants", UintegerValue(nodes.GetN()));
        m_federation->SetCenterAttribute("Rounds", UintegerValue(rounds));
        m_federation->SetCenterAttribute("Deadline", StringValue("600ms"));
        m_federation->SetDeviceAttribute(
            "TimePerSample", StringValue("ns3::ConstantRandomVariable[Constant=0.002]"));
        m_federation->SetCenterAttribute("JoinTimeout", StringValue("500ms"));
        const auto enb = CreateObject<Node>();
        enb->AggregateObject(CreateObject<ConstantVelocityMobilityModel>());
        if (change)
        {
            change(*m_federation);
        }
        m_lte->Install(*m_federation, enb);
        m_lte->GetProbe()->TraceConnectWithoutContext("Sample",
                                                      MakeCallback(&LteCell::AddSample, this));
        m_federation->GetCenter()->TraceConnectWithoutContext(
            "RoundEnd", MakeCallback(&LteCell::AddRecord, this));
        m_federation->StopWhenFinished();
    }

    /** @param record A round. */
    void AddRecord(const RoundRecord& record)
    {
        m_records.push_back(record);
    }

    /** @param sample What the probe saw. */
    void AddSample(const LinkSample& sample)
    {
        m_samples.push_back(sample);
    }

    /**
     * @param name Name of a file that LteHelper wrote.
     * @return its rows.
     */
    std::vector<std::vector<double>> ReadTable(const std::string& name) const
    {
        std::vector<std::vector<double>> rows;
        std::istringstream lines(Read(name));
        std::string line;
        std::getline(lines, line); // names of the columns
        while (std::getline(lines, line))
        {
            std::istringstream words(line);
            std::vector<double> row;
            for (double number = 0; words >> number;)
            {
                row.push_back(number);
            }
            rows.push_back(row);
        }
        return rows;
    }

    /** @return the IMSI of a device. */
    uint64_t GetImsi(uint32_t device) const
    {
        return DynamicCast<LteUeNetDevice>(m_lte->GetUeDevices().Get(device))->GetImsi();
    }

    std::unique_ptr<FederatedLteHelper> m_lte;                //!< The cell.
    std::unique_ptr<FederatedHelper> m_federation;            //!< The federation.
    std::vector<Ptr<ConstantVelocityMobilityModel>> m_places; //!< Where devices are.
    std::vector<RoundRecord> m_records;                       //!< The rounds.
    std::vector<LinkSample> m_samples;                        //!< What the probe saw.
};

TEST_F(LteCell, LosesAtOneMeterWhatFreeSpaceLosesAtEachCarrierUnlessAUserSaysOtherwise)
{
    const auto getLoss = [](const Ptr<SpectrumChannel>& channel)
    {
        DoubleValue loss;
        channel->GetPropagationLossModel()->GetAttribute("ReferenceLoss", loss);
        return loss.Get();
    };
    Install({100}, 1);
    const auto lte = m_lte->GetLteHelper();
    EXPECT_NEAR(getLoss(lte->GetDownlinkSpectrumChannel()), 38.97, 0.01); // 2120 MHz
    EXPECT_NEAR(getLoss(lte->GetUplinkSpectrumChannel()), 38.16, 0.01);   // 1930 MHz

    Reset();
    Install({100},
            1,
            [this](FederatedHelper&) {
                m_lte->GetLteHelper()->SetPathlossModelAttribute("ReferenceLoss", DoubleValue(45));
            });
    EXPECT_EQ(getLoss(m_lte->GetLteHelper()->GetUplinkSpectrumChannel()), 45);
}

TEST_F(LteCell, GoesOnWhenItsHelperIsOutOfScope)
{
    Install({100, 300}, 2);
    m_lte.reset();
    Simulator::Run();
    ASSERT_EQ(m_records.size(), 2U);
    EXPECT_EQ(m_records.back().received, 2U);
}

TEST_F(LteCell, CarriesRotatedUpdates)
{
    Config::SetDefault("ns3::FederatedDevice::Rotation", BooleanValue(true));
    Config::SetDefault("ns3::FusionCenter::Rotation", BooleanValue(true));
    Install({100, 300}, 2);
    Simulator::Run();
    ASSERT_EQ(m_records.size(), 2U);
    for (const RoundRecord& record : m_records)
    {
        EXPECT_EQ(record.received, 2U);
        EXPECT_EQ(record.links.at(0).coordinates, 8192U); // of 7850
        EXPECT_EQ(record.deliveredBits, 8);
    }
}

TEST_F(LteCell, MeasuresTheSinrAndTheBlocksThatLteHelperTraces)
{
    Config::SetDefault("ns3::PhyStatsCalculator::UlSinrFilename",
                       StringValue(GetFolder() + "/sinr"));
    Config::SetDefault("ns3::PhyStatsCalculator::UlInterferenceFilename",
                       StringValue(GetFolder() + "/interference"));
    Config::SetDefault("ns3::PhyRxStatsCalculator::UlRxOutputFilename",
                       StringValue(GetFolder() + "/blocks"));
    const std::vector<double> distances = {100, 300, 719, 860};
    Install(distances, 3);
    m_places[1]->SetVelocity(Vector(100, 0, 0)); // its SINR changes within a round
    m_lte->GetLteHelper()->EnableUlPhyTraces();
    m_lte->GetLteHelper()->EnableUlRxPhyTraces();
    std::string error;
    ASSERT_TRUE(m_federation->EnableTraces(GetFolder() + "/cell", error)) << error;
    Simulator::Run();
    std::map<uint64_t, uint32_t> devices;
    for (uint32_t device = 0; device < distances.size(); ++device)
    {
        devices[GetImsi(device)] = device;
    }
    ASSERT_EQ(m_records.size(), 3U);

    std::istringstream csv(Read("cell-links.csv"));
    std::string line;
    std::getline(csv, line);
    const auto reports = ReadTable("sinr"); // time, cell, IMSI, RNTI, SINR, carrier
    for (const RoundRecord& record : m_records)
    {
        ASSERT_EQ(record.links.size(), 4U);
        for (const LinkRecord& link : record.links)
        {
            SCOPED_TRACE("device " + std::to_string(link.device));
            double sum = 0;
            int count = 0;
            for (const auto& report : reports)
            {
                if (devices.at(static_cast<uint64_t>(report[2])) == link.device &&
                    report[0] > record.start.GetSeconds() && report[0] < record.end.GetSeconds())
                {
                    sum += report[4];
                    ++count;
                }
            }
            ASSERT_GT(count, 1);
            EXPECT_NEAR(link.snr, sum / count, 1e-5 * link.snr);
            ASSERT_TRUE(std::getline(csv, line));
            std::istringstream row(line);
            std::string cell;
            for (int column = 0; column < 5; ++column)
            {
                std::getline(row, cell, ',');
            }
            EXPECT_NEAR(std::stod(cell), 10 * std::log10(sum / count), 1e-4);
            EXPECT_EQ(link.state, PARTICIPANT_COMPLETE);
        }
    }
    // By hand: 23 dBm, loss of free space at 1 m and 1930 MHz, exponent 3, noise of 25 blocks of
    // 180 kHz with a figure of 5 dB.
    EXPECT_NEAR(10 * std::log10(m_records[0].links[3].snr),
                23 - (38.16 + 30 * std::log10(860)) + 173.98 - 10 * std::log10(25 * 180e3) - 5,
                0.05);

    std::map<uint32_t, std::vector<int>> seen;
    for (const LinkSample& sample : m_samples)
    {
        seen[sample.device].resize(3);
        ++seen[sample.device][sample.frame ? (sample.ok ? 1 : 2) : 0];
    }
    std::map<uint32_t, std::vector<int>> expected;
    for (const auto& report : reports)
    {
        expected[devices.at(static_cast<uint64_t>(report[2]))].resize(3);
        ++expected[devices.at(static_cast<uint64_t>(report[2]))][0];
    }
    m_federation.reset();
    m_lte.reset();
    Simulator::Destroy(); // closes the file
    // time, cell, IMSI, RNTI, layer, MCS, size, version, new data, correct, carrier
    for (const auto& block : ReadTable("blocks"))
    {
        ++expected.at(devices.at(static_cast<uint64_t>(block[2])))[block[9] != 0 ? 1 : 2];
    }
    EXPECT_EQ(seen, expected);
    EXPECT_GT(expected[2][2] + expected[3][2], 0) << "some blocks fail at the edge";
}

TEST_F(LteCell, ADeviceThatGoesTooFarIsLostAndComesBackByAnotherRnti)
{
    Install({100, 200, 300}, 15);
    const Ptr<MobilityModel> place = m_places[2];
    const Time left = MilliSeconds(700);
    const Time back = MilliSeconds(5500);
    const auto device = DynamicCast<LteUeNetDevice>(m_lte->GetUeDevices().Get(2));
    uint16_t rnti = 0;
    Simulator::Schedule(left, &CopyRnti, device, &rnti);
    Simulator::Schedule(left, &MobilityModel::SetPosition, place, Vector(1e5, 0, 0));
    Simulator::Schedule(back, &MobilityModel::SetPosition, place, Vector(300, 0, 0));
    Simulator::Run();
    ASSERT_EQ(m_records.size(), 15U);
    uint32_t lost = 0;
    for (const RoundRecord& record : m_records)
    {
        SCOPED_TRACE("round from " + std::to_string(record.start.GetSeconds()) + " s");
        ASSERT_EQ(record.links.size(), 3U);
        EXPECT_EQ(record.links[0].state, PARTICIPANT_COMPLETE);
        EXPECT_EQ(record.links[1].state, PARTICIPANT_COMPLETE);
        const LinkRecord& link = record.links[2];
        if (record.end < left || record.start > back)
        {
            EXPECT_EQ(link.state, PARTICIPANT_COMPLETE);
            EXPECT_NEAR(link.snr, m_records[0].links[2].snr, 1e-6 * link.snr);
            EXPECT_GT(link.framesOk, 0);
        }
        else if (record.start > left && record.end < back)
        {
            EXPECT_EQ(link.state, PARTICIPANT_UNREACHABLE);
            EXPECT_FALSE(link.snr > 1e-3); // unknown once the connection is lost
            EXPECT_EQ(link.framesOk, 0);
            ++lost;
        }
    }
    EXPECT_GT(lost, 3U);
    EXPECT_NE(device->GetRrc()->GetRnti(), rnti);
}

TEST_F(LteCell, ADeviceOutOfReachNeverJoins)
{
    Install({100, 200, 5000}, 2);
    Simulator::Run();
    ASSERT_EQ(m_records.size(), 2U);
    EXPECT_EQ(m_records.back().joined, 2U);
    EXPECT_EQ(m_records.back().received, 2U);
    EXPECT_EQ(m_federation->GetTraceWriter()->GetLostFraction(), 0);
}

TEST_F(LteCell, EqualRunsGiveEqualBytes)
{
    std::vector<std::string> files;
    for (int i = 0; i < 2; ++i)
    {
        Reset();
        Install({100, 400, 719}, 3);
        std::string error;
        ASSERT_TRUE(m_federation->EnableTraces(GetFolder() + "/cell", error)) << error;
        Simulator::Run();
        files.push_back(Read("cell-rounds.csv") + Read("cell-links.csv"));
    }
    EXPECT_GT(files[0].size(), 500U);
    EXPECT_EQ(files[0], files[1]);
}

TEST_F(LteCell, LeavesWhatUsersHaveChanged)
{
    const auto buffer = []()
    {
        UintegerValue size;
        CreateObject<LteRlcUm>()->GetAttribute("MaxTxBufferSize", size);
        return size.Get();
    };
    const auto period = [this]()
    {
        UintegerValue value;
        DynamicCast<LteEnbNetDevice>(m_lte->GetEnbDevice())
            ->GetRrc()
            ->GetAttribute("SrsPeriodicity", value);
        return value.Get();
    };
    Install({100}, 1);
    EXPECT_EQ(buffer(), 16U << 20);
    EXPECT_EQ(period(), 40U);
    Reset();
    Install(std::vector<double>(50, 100), 1);
    EXPECT_EQ(period(), 160U);
    Reset();
    Config::SetDefault("ns3::LteRlcUm::MaxTxBufferSize", UintegerValue(12345));
    Config::SetDefault("ns3::LteEnbRrc::SrsPeriodicity", UintegerValue(80));
    Install({100}, 1);
    EXPECT_EQ(buffer(), 12345U);
    EXPECT_EQ(period(), 80U);
}

TEST_F(LteCell, WhatTheScriptSetsWinsOverTheCell)
{
    const auto get = [this](const char* name)
    {
        StringValue text;
        m_federation->GetCenter()->GetAttribute(name, text);
        return text.Get();
    };
    Install({100, 200}, 1);
    EXPECT_EQ(get("DownlinkRate"), "10000000bps"); // of 25 resource blocks
    EXPECT_EQ(get("UplinkRate"), "12500000bps");
    EXPECT_EQ(get("MeasuredSlots"), "true");
    EXPECT_EQ(m_federation->GetCenter()->GetNode(), m_lte->GetCenter());
    EXPECT_EQ(m_federation->GetDevices().size(), 2U);
    Reset();
    Install({100, 200},
            1,
            [](FederatedHelper& federation)
            {
                federation.SetCenterAttribute("UplinkRate", StringValue("3Mbps"));
                federation.SetCenterAttribute("MeasuredSlots", BooleanValue(false));
            });
    EXPECT_EQ(get("DownlinkRate"), "10000000bps");
    EXPECT_EQ(get("UplinkRate"), "3000000bps");
    EXPECT_EQ(get("MeasuredSlots"), "false");
    Simulator::Run();
    EXPECT_EQ(m_records.back().received, 2U);
}

TEST_F(LteCell, ScriptsThatForgetSomethingGetASentence)
{
    m_federation = std::make_unique<FederatedHelper>();
    m_federation->AddGroup(NodeContainer(1), 4);
    m_lte = std::make_unique<FederatedLteHelper>();
    const auto enb = CreateObject<Node>();
    EXPECT_DEATH(m_lte->Install(*m_federation, nullptr), "the node of the eNB is null");
    EXPECT_DEATH(m_lte->Install(*m_federation, enb),
                 "FederatedLteHelper: node .* has no mobility model");
    Reset();
    Install({100}, 1);
    EXPECT_DEATH(m_lte->Install(*m_federation, enb), "a cell is installed once");
}
