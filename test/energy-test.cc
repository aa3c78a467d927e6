// SPDX-License-Identifier: GPL-2.0-only

#include "federated-test-folder.h"

#include "ns3/double.h"
#include "ns3/energy-model-helper.h"
#include "ns3/federated-compat.h"
#include "ns3/federated-energy-helper.h"
#include "ns3/federated-helper.h"
#include "ns3/federated-port.h"
#include "ns3/inet-socket-address.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-address-helper.h"
#include "ns3/object-factory.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/simple-device-energy-model.h"
#include "ns3/simple-net-device-helper.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/training-energy-model.h"
#include "ns3/uinteger.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

using namespace ns3;

namespace
{

constexpr double JOULES_PER_SAMPLE = 0.0007;
constexpr double JOULES_PER_TRAINING = JOULES_PER_SAMPLE * 100; // ten steps, ten samples each
constexpr double VOLTS = 3;                                     // ns-3's default

/** Makes models of radios that draw the same current all the time. */
class SteadyRadioHelper : public DeviceEnergyModelHelper
{
  public:
    explicit SteadyRadioHelper(double amperes)
        : m_amperes(amperes)
    {
    }

    void Set(std::string, const AttributeValue&) override
    {
    }

  private:
    Ptr<compat::DeviceEnergyModel> DoInstall(Ptr<NetDevice>,
                                             Ptr<compat::EnergySource> source) const override
    {
        auto model = CreateObject<compat::SimpleDeviceEnergyModel>();
        model->SetEnergySource(source);
        model->SetCurrentA(m_amperes);
        source->AppendDeviceEnergyModel(model);
        return model;
    }

    double m_amperes;
};

} // namespace

/** @ingroup federated-tests A federation of four devices on one wire, all selected. */
class Batteries : public FederatedTestFolder
{
  public:
    void SetUp() override
    {
        RngSeedManager::SetSeed(1);
        RngSeedManager::SetRun(1);
        m_center.Create(1);
        m_devices.Create(4);
        m_helper.AddGroup(m_devices, 2);
        m_helper.SetData(FederatedData::MakeSynthetic(1, 160, 40, 6, 6, 4));
        m_helper.SetTaskAttribute("Model", StringValue("ns3::LogisticModel"));
        m_helper.SetTaskAttribute("Threads", UintegerValue(1));
        m_helper.SetCenterAttribute("Participants", UintegerValue(4));
        m_helper.SetCenterAttribute("BitBudget", StringValue("ns3::FixedBitBudget[Bits=100]"));
        m_helper.SetCenterAttribute("Rounds", UintegerValue(5));
    }

    void TearDown() override
    {
        Simulator::Destroy();
    }

    /** Install the applications, and write tables. */
    void Install()
    {
        const NodeContainer nodes(m_center, m_devices);
        InternetStackHelper internet;
        internet.Install(nodes);
        SimpleNetDeviceHelper wire;
        wire.SetDeviceAttribute("DataRate", StringValue("100Mbps"));
        m_ports = wire.Install(nodes);
        const auto interfaces = Ipv4AddressHelper("10.1.0.0", "255.255.255.0").Assign(m_ports);
        m_helper.Install(m_center.Get(0),
                         InetSocketAddress(interfaces.GetAddress(0), FederatedPort::CENTER));
        m_helper.StopWhenFinished();
        std::string error;
        ASSERT_TRUE(m_helper.EnableTraces(GetFolder() + "/t", error)) << error;
        m_helper.GetCenter()->TraceConnectWithoutContext("RoundEnd",
                                                         MakeCallback(&Batteries::OnRound, this));
        for (const auto& device : m_helper.GetDevices())
        {
            device->TraceConnectWithoutContext("TrainingStarted",
                                               MakeCallback(&Batteries::OnStart, this));
            device->TraceConnectWithoutContext("TrainingDone",
                                               MakeCallback(&Batteries::OnDone, this));
            device->TraceConnectWithoutContext("TrainingCanceled",
                                               MakeCallback(&Batteries::OnCancel, this));
        }
    }

    /** Make batteries, which are not installed yet. */
    void MakeBatteries(double joules)
    {
        m_energy = std::make_unique<FederatedEnergyHelper>(joules);
        m_energy->SetTrainingAttribute("JoulesPerSample", DoubleValue(JOULES_PER_SAMPLE));
    }

    void OnRound(const RoundRecord& record)
    {
        m_rounds.push_back(record);
    }

    void OnStart(const FederatedDevice::TrainingPlan& plan)
    {
        EXPECT_EQ(plan.samples, 100U);
        m_started[plan.device] = Simulator::Now();
    }

    void OnDone(const FederatedDevice::TrainingRecord& record)
    {
        ++m_done[record.device];
    }

    void OnCancel(uint32_t, uint32_t device)
    {
        m_canceled[device] = Simulator::Now() - m_started.at(device);
    }

    void OnSwitchOff(Ptr<NetDevice> port)
    {
        const uint32_t device = port->GetNode()->GetId() - m_devices.Get(0)->GetId();
        m_off[device] = Simulator::Now();
        const auto models = m_energy->GetSource(device)->FindDeviceEnergyModels(
            compat::SimpleDeviceEnergyModel::GetTypeId());
        DynamicCast<compat::SimpleDeviceEnergyModel>(models.Get(0))->SetCurrentA(0);
    }

    /** @return the column energy_j, added up for each device. */
    std::map<uint32_t, double> ReadEnergies()
    {
        std::istringstream table(Read("t-links.csv"));
        std::map<uint32_t, double> joules;
        std::string row;
        std::getline(table, row);
        EXPECT_EQ(row.substr(row.rfind(',') + 1), "energy_j");
        while (std::getline(table, row))
        {
            const auto first = row.find(',');
            const auto device = static_cast<uint32_t>(std::stoul(row.substr(first + 1)));
            m_cells.push_back(row.substr(row.rfind(',') + 1));
            joules[device] += m_cells.back().empty() ? 0 : std::stod(m_cells.back());
        }
        return joules;
    }

    NodeContainer m_center;
    NodeContainer m_devices;
    NetDeviceContainer m_ports;
    FederatedHelper m_helper;
    std::unique_ptr<FederatedEnergyHelper> m_energy;
    std::vector<RoundRecord> m_rounds;
    std::map<uint32_t, uint32_t> m_done; // trainings of each device
    std::map<uint32_t, Time> m_started;  // when the last one began
    std::map<uint32_t, Time> m_canceled; // after how long it was canceled
    std::map<uint32_t, Time> m_off;      // when the radio of a device was switched off
    std::vector<std::string> m_cells;    // energies in the table
};

TEST_F(Batteries, TrainingTakesJoulesPerSampleTimesSamples)
{
    Install();
    MakeBatteries(1000);
    m_energy->Install(m_helper);
    Simulator::Run();
    ASSERT_EQ(m_rounds.size(), 5U);
    const auto table = ReadEnergies();
    for (uint32_t i = 0; i < 4; ++i)
    {
        const double expected = JOULES_PER_TRAINING * m_done[i];
        EXPECT_EQ(m_done[i], 5U);
        EXPECT_NEAR(m_energy->GetUsed(i), expected, 1e-9 * expected);
        EXPECT_NEAR(table.at(i), expected, 1e-5 * expected);
        // The source rounds every step to nanojoules.
        EXPECT_NEAR(1000 - m_energy->GetSource(i)->GetRemainingEnergy(), expected, 1e-6);
    }
}

TEST_F(Batteries, TrainingWithoutDurationTakesAsMuch)
{
    m_helper.SetDeviceAttribute("TimePerSample",
                                StringValue("ns3::ConstantRandomVariable[Constant=0]"));
    Install();
    MakeBatteries(0.7); // a hundredth is less than a training: the source looks more often
    m_energy->Install(m_helper);
    Simulator::Run();
    ASSERT_EQ(m_rounds.size(), 5U);
    for (uint32_t i = 0; i < 4; ++i)
    {
        const double expected = JOULES_PER_TRAINING * m_done[i];
        EXPECT_EQ(m_done[i], 5U);
        EXPECT_NEAR(m_energy->GetUsed(i), expected, 1e-9 * expected);
        EXPECT_NEAR(0.7 - m_energy->GetSource(i)->GetRemainingEnergy(), expected, 1e-6);
    }
}

TEST_F(Batteries, TheirLevelsAreReportedToTheCenter)
{
    Install();
    MakeBatteries(10 * JOULES_PER_TRAINING);
    m_energy->Install(m_helper);
    Simulator::Run();
    ASSERT_EQ(m_rounds.size(), 5U);
    uint32_t known = 0;
    for (const RoundRecord& round : m_rounds)
    {
        for (const LinkRecord& link : round.links)
        {
            // The DONE of the device that answers last is received after the end of the round.
            if (link.sentKnown)
            {
                EXPECT_NEAR(link.battery, 1 - 0.1 * round.round, 1e-3);
                ++known;
            }
        }
    }
    EXPECT_GE(known, 10U);
}

TEST_F(Batteries, ACanceledTrainingHasDrawnItsShare)
{
    m_helper.SetDeviceAttribute("TimePerSample",
                                StringValue("ns3::ConstantRandomVariable[Constant=0.01]"));
    Install();
    MakeBatteries(1000);
    m_energy->Install(m_helper);
    const auto device = m_helper.GetDevices()[1];
    Simulator::Schedule(MilliSeconds(300), &FederatedDevice::Leave, device); // of one second
    Simulator::Run();
    ASSERT_EQ(m_canceled.size(), 1U);
    const double share = m_canceled.at(1).GetSeconds();
    EXPECT_GT(share, 0.2);
    EXPECT_LT(share, 0.3);
    EXPECT_NEAR(m_energy->GetUsed(1), share * JOULES_PER_TRAINING, 1e-9);
    EXPECT_NEAR(m_energy->GetUsed(0), 5 * JOULES_PER_TRAINING, 1e-9);
}

TEST_F(Batteries, ADeviceWithAnEmptyBatteryLeavesAndTheOthersGoOn)
{
    m_helper.SetDeviceAttribute("TimePerSample",
                                StringValue("ns3::ConstantRandomVariable[Constant=0.001]"));
    Install();
    MakeBatteries(1000);
    const Time lastWords = MilliSeconds(50); // the federation of this test soon ends
    m_energy->SetLastWords(lastWords);
    const double watts = 0.5;
    m_energy->SetRadio(std::make_shared<SteadyRadioHelper>(watts / VOLTS),
                       MakeCallback(&Batteries::OnSwitchOff, this));
    NetDeviceContainer radios;
    for (uint32_t i = 4; i > 0; --i) // in another order than the devices
    {
        radios.Add(m_ports.Get(i));
    }
    m_energy->Install(m_helper, radios);
    // Enough for two trainings and a half of 0.1 s each, and for the radio until then.
    const double joules = (2.5 * JOULES_PER_TRAINING + 0.25 * watts) / 0.9;
    m_energy->GetSource(2)->SetAttribute("BasicEnergySourceInitialEnergyJ", DoubleValue(joules));
    Simulator::Run();
    ASSERT_EQ(m_rounds.size(), 5U);
    uint32_t left = 0;
    for (const auto& round : m_rounds)
    {
        EXPECT_FALSE(round.skipped);
        for (const auto& link : round.links)
        {
            left += link.state == PARTICIPANT_LEFT ? 1 : 0;
            EXPECT_EQ(link.state,
                      link.device == 2 && round.round == 3 ? PARTICIPANT_LEFT
                                                           : PARTICIPANT_COMPLETE)
                << "round " << round.round << " device " << link.device;
        }
    }
    EXPECT_EQ(left, 1U);
    EXPECT_EQ(m_rounds.back().links.size(), 3U);
    EXPECT_EQ(m_rounds.back().joined, 3U);
    EXPECT_FALSE(m_helper.GetDevices()[2]->HasJoined());
    EXPECT_EQ(m_done[2], 2U);
    const Time end = Simulator::Now();
    // It noticed within a hundredth of its battery, and left at once.
    ASSERT_EQ(m_canceled.count(2), 1U);
    const Time empty = m_started.at(2) + m_canceled.at(2);
    const double usedThen = (2 + m_canceled.at(2).GetSeconds() / 0.1) * JOULES_PER_TRAINING +
                            watts * empty.GetSeconds();
    EXPECT_NEAR(usedThen, 0.9 * joules, 0.02 * joules);
    ASSERT_EQ(m_off.size(), 1U);
    EXPECT_EQ(m_off.at(2), empty + lastWords);
    // Radio and training of the others, of which the table has what was used in rounds.
    const auto table = ReadEnergies();
    const double expected = 5 * JOULES_PER_TRAINING + watts * end.GetSeconds();
    EXPECT_NEAR(m_energy->GetUsed(0), expected, 1e-9 * expected);
    EXPECT_LE(table.at(0), expected);
    EXPECT_GT(table.at(0), 5 * JOULES_PER_TRAINING);
}

TEST_F(Batteries, EnergiesAreEmptyWithoutThem)
{
    Install();
    Simulator::Run();
    ReadEnergies();
    EXPECT_EQ(m_cells, std::vector<std::string>(20));
}

TEST_F(Batteries, RadiosMustBelongToDevices)
{
    Install();
    MakeBatteries(1);
    m_energy->SetRadio(std::make_shared<SteadyRadioHelper>(0.1),
                       MakeCallback(&Batteries::OnSwitchOff, this));
    EXPECT_DEATH(m_energy->Install(m_helper, m_ports), "a radio is on no node");
}

TEST_F(Batteries, HaveEnergy)
{
    for (const double joules : {0.0, -4.0, std::nan("")})
    {
        EXPECT_DEATH(FederatedEnergyHelper{joules}, "a battery has .* J, not more than 0");
    }
}

TEST_F(Batteries, ComeAfterTheFederation)
{
    MakeBatteries(1);
    EXPECT_DEATH(m_energy->Install(m_helper), "comes before that of the federation");
}

TEST(TrainingEnergyModels, AreMadeByName)
{
    ObjectFactory factory("ns3::TrainingEnergyModel");
    factory.Set("JoulesPerSample", DoubleValue(2));
    const auto model = factory.Create<TrainingEnergyModel>();
    EXPECT_EQ(model->GetInstanceTypeId().GetGroupName(), "Federated");
    EXPECT_EQ(model->GetTotalEnergyConsumption(), 0);
    EXPECT_EQ(model->GetCurrentA(), 0);
}
