// SPDX-License-Identifier: GPL-2.0-only

#include "link-budget.h"

#include "ns3/constant-position-mobility-model.h"
#include "ns3/double.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-address-helper.h"
#include "ns3/ipv4-global-routing-helper.h"
#include "ns3/mac48-address.h"
#include "ns3/multi-model-spectrum-channel.h"
#include "ns3/net-device-container.h"
#include "ns3/nist-error-rate-model.h"
#include "ns3/node-container.h"
#include "ns3/object-factory.h"
#include "ns3/packet.h"
#include "ns3/point-to-point-helper.h"
#include "ns3/propagation-delay-model.h"
#include "ns3/propagation-loss-model.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/simple-net-device.h"
#include "ns3/simulator.h"
#include "ns3/socket.h"
#include "ns3/spectrum-wifi-helper.h"
#include "ns3/ssid.h"
#include "ns3/string.h"
#include "ns3/udp-socket-factory.h"
#include "ns3/uinteger.h"
#include "ns3/wifi-link-probe.h"
#include "ns3/wifi-mac-helper.h"
#include "ns3/wifi-net-device.h"
#include "ns3/wifi-phy.h"
#include "ns3/wifi-psdu.h"
#include "ns3/yans-wifi-channel.h"
#include "ns3/yans-wifi-helper.h"

#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <string>
#include <vector>

using namespace ns3;

namespace
{

const double TX_POWER = 16;       // dBm
const double TX_GAIN = 1;         // dB
const double RX_GAIN = 2;         // dB
const double REFERENCE_LOSS = 50; // dB at 1 m
const double EXPONENT = 2.9;
const double DISTANCE = 53; // m, at which uploads lose many frames
const uint32_t DEVICE = 7;

/** @return the SNR in dB by hand, with 20 MHz. */
double
GetLinkBudget(double distance, double noiseFigure)
{
    return TX_POWER + TX_GAIN + RX_GAIN - REFERENCE_LOSS - EXPONENT * ToDb(distance) -
           GetNoise(20e6, noiseFigure);
}

/** Stations on a line, the receiver at its begin, with a probe. */
class WifiLinkProbeTest : public testing::Test
{
  protected:
    void SetUp() override
    {
        RngSeedManager::SetSeed(1);
        RngSeedManager::SetRun(1);
        m_probe = ObjectFactory("ns3::WifiLinkProbe").Create<WifiLinkProbe>();
        m_wifi.SetStandard(WIFI_STANDARD_80211ac);
        m_mac.SetType("ns3::AdhocWifiMac");
    }

    void TearDown() override
    {
        Simulator::Destroy();
    }

    void SetMode(const std::string& mode)
    {
        m_wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager",
                                       "DataMode",
                                       StringValue(mode),
                                       "ControlMode",
                                       StringValue("OfdmRate6Mbps"),
                                       "NonUnicastMode",
                                       StringValue(mode));
    }

    /** Set what both kinds of PHY share. */
    void Configure(WifiPhyHelper& phy) const
    {
        phy.Set("TxPowerStart", DoubleValue(TX_POWER));
        phy.Set("TxPowerEnd", DoubleValue(TX_POWER));
        phy.Set("TxGain", DoubleValue(TX_GAIN));
        phy.Set("RxGain", DoubleValue(RX_GAIN));
        phy.Set("RxNoiseFigure", DoubleValue(m_noiseFigure));
        TypeId::AttributeInformation info;
        if (WifiPhy::GetTypeId().LookupAttributeByName("ChannelSettings", &info))
        {
            phy.Set("ChannelSettings", StringValue("{36, 20, BAND_5GHZ, 0}"));
        }
        else
        {
            phy.Set("ChannelNumber", UintegerValue(36));
        }
        phy.SetErrorRateModel("ns3::NistErrorRateModel");
        if (!m_detection)
        {
            phy.DisablePreambleDetectionModel();
        }
    }

    Ptr<PropagationLossModel> MakeLoss() const
    {
        const auto loss = CreateObject<LogDistancePropagationLossModel>();
        loss->SetAttribute("Exponent", DoubleValue(EXPONENT));
        loss->SetAttribute("ReferenceLoss", DoubleValue(REFERENCE_LOSS));
        return loss;
    }

    /** @return the channel, made at the first call. */
    Ptr<YansWifiChannel> GetYansChannel()
    {
        if (!m_yans)
        {
            m_yans = CreateObject<YansWifiChannel>();
            m_yans->SetPropagationLossModel(MakeLoss());
            m_yans->SetPropagationDelayModel(CreateObject<ConstantSpeedPropagationDelayModel>());
        }
        return m_yans;
    }

    /** Give a node a wifi device, with the MAC that is set at that time. */
    Ptr<NetDevice> Install(const Ptr<Node>& node, double position)
    {
        const auto mobility = CreateObject<ConstantPositionMobilityModel>();
        mobility->SetPosition(Vector(position, 0, 0));
        node->AggregateObject(mobility);
        NetDeviceContainer devices;
        if (m_spectrum)
        {
            SpectrumWifiPhyHelper phy;
            Configure(phy);
            if (!m_spectrumChannel)
            {
                m_spectrumChannel = CreateObject<MultiModelSpectrumChannel>();
                m_spectrumChannel->AddPropagationLossModel(MakeLoss());
                m_spectrumChannel->SetPropagationDelayModel(
                    CreateObject<ConstantSpeedPropagationDelayModel>());
            }
            phy.SetChannel(m_spectrumChannel);
            devices = m_wifi.Install(phy, m_mac, node);
        }
        else
        {
            YansWifiPhyHelper phy;
            Configure(phy);
            phy.SetChannel(GetYansChannel());
            devices = m_wifi.Install(phy, m_mac, node);
        }
        m_streams += m_wifi.AssignStreams(devices, m_streams);
        return devices.Get(0);
    }

    /** Count what a device sends to an address. */
    void Watch(const Ptr<NetDevice>& device, Mac48Address receiver)
    {
        m_receiver = receiver;
        DynamicCast<WifiNetDevice>(device)->GetPhy()->TraceConnectWithoutContext(
            "PhyTxPsduBegin", MakeCallback(&WifiLinkProbeTest::Sent, this));
    }

    void Sent(WifiConstPsduMap psdus, WifiTxVector txVector, double)
    {
        for (const auto& [id, psdu] : psdus)
        {
            uint64_t frames = 0;
            for (const auto& mpdu : *PeekPointer(psdu))
            {
                const auto& header = mpdu->GetHeader();
                frames += header.IsData() && header.HasData() && header.GetAddr1() == m_receiver;
            }
            if (frames > 0)
            {
                m_sent += frames;
                m_aggregates += frames > 1;
                m_txVector.emplace(txVector);
                m_bytes = psdu->GetSize();
            }
        }
    }

    /** Have a device send frames, one every 2 ms from now on. */
    static void Send(const Ptr<NetDevice>& device, Mac48Address receiver, uint32_t frames)
    {
        for (uint32_t i = 0; i < frames; ++i)
        {
            Simulator::Schedule(MilliSeconds(1 + 2 * i),
                                &NetDevice::Send,
                                device,
                                Create<Packet>(1000),
                                Address(receiver),
                                uint16_t(0x88b5));
        }
    }

    /** Broadcast from a distance to the receiver. */
    LinkQuality Broadcast(double distance, uint32_t frames)
    {
        NodeContainer nodes(2);
        const auto receiver = Install(nodes.Get(0), 0);
        const auto sender = Install(nodes.Get(1), distance);
        m_probe->Attach(receiver);
        m_probe->AddDevice(DEVICE, Mac48Address::ConvertFrom(sender->GetAddress()));
        Watch(sender, Mac48Address::GetBroadcast());
        Send(sender, Mac48Address::GetBroadcast(), frames);
        Simulator::Run();
        return m_probe->GetQuality(DEVICE);
    }

    /** @return the share of frames like the last sent that get lost, by ns-3's error model. */
    double GetExpectedLoss(double snr) const
    {
        const auto model = CreateObject<NistErrorRateModel>();
        const auto& txVector = m_txVector.value();
        const WifiMode header("OfdmRate6Mbps");
        const auto mode = txVector.GetMode();
        const auto duration = WifiPhy::CalculateTxDuration(m_bytes, txVector, WIFI_PHY_BAND_5GHZ) -
                              WifiPhy::CalculatePhyPreambleAndHeaderDuration(txVector);
        const auto bits = static_cast<double>(mode.GetDataRate(txVector)) * duration.GetSeconds();
        // L-SIG has 24 bits, VHT-SIG-A has 48.
        return 1 - model->GetChunkSuccessRate(header, txVector, snr, 24) *
                       model->GetChunkSuccessRate(header, txVector, snr, 48) *
                       model->GetChunkSuccessRate(
                           mode, txVector, snr, static_cast<uint64_t>(std::round(bits)));
    }

    /** The SNR is the link budget's, and the loss is the error model's, at every distance. */
    void ExpectLinkBudget()
    {
        const uint32_t frames = 500;
        uint32_t lossy = 0;
        for (const double distance : {5, 20, 50, 80, 100, 104, 108, 112, 120, 150})
        {
            SCOPED_TRACE(distance);
            SetUp();
            SetMode("VhtMcs0");
            m_sent = 0;
            const auto quality = Broadcast(distance, frames);
            EXPECT_EQ(m_sent, frames);
            EXPECT_EQ(quality.framesOk + quality.framesFailed, frames);
            EXPECT_NEAR(ToDb(quality.roundSnr), GetLinkBudget(distance, m_noiseFigure), 0.5);
            const double expected = GetExpectedLoss(quality.roundSnr);
            const double error = std::sqrt(expected * (1 - expected) / frames);
            EXPECT_NEAR(quality.framesFailed / frames, expected, 3 * error + 1e-9);
            lossy += expected > 0.05 && expected < 0.95;
            m_yans = nullptr;
            m_spectrumChannel = nullptr;
            Simulator::Destroy();
        }
        EXPECT_GE(lossy, 2U) << "the distances span the slope of the loss";
    }

    /** What an application receives. */
    void Receive(Ptr<Socket> socket)
    {
        Address from;
        while (const auto packet = socket->RecvFrom(from))
        {
            m_received.push_back(packet->GetUid());
        }
    }

    void SendBurst(Ptr<Socket> socket, uint32_t packets)
    {
        for (uint32_t i = 0; i < packets; ++i)
        {
            socket->Send(Create<Packet>(1000));
        }
    }

    /** A station uploads to the access point, or to a node behind it. */
    void Upload(uint32_t maxAmpduSize, bool wire)
    {
        SetMode("VhtMcs3");
        NodeContainer nodes(3);
        m_mac.SetType("ns3::ApWifiMac", "Ssid", SsidValue(Ssid("cell")));
        const auto receiver = Install(nodes.Get(0), 0);
        m_mac.SetType("ns3::StaWifiMac",
                      "Ssid",
                      SsidValue(Ssid("cell")),
                      "BE_MaxAmpduSize",
                      UintegerValue(maxAmpduSize));
        const auto sender = Install(nodes.Get(1), DISTANCE);
        NetDeviceContainer cell(receiver);
        cell.Add(sender);
        PointToPointHelper wireHelper;
        wireHelper.SetDeviceAttribute("DataRate", StringValue("1Gbps"));
        const auto backhaul = wireHelper.Install(nodes.Get(0), nodes.Get(2));
        InternetStackHelper stack;
        stack.Install(nodes);
        stack.AssignStreams(nodes, 1000);
        Ipv4AddressHelper("10.0.0.0", "255.255.255.0").Assign(cell);
        Ipv4AddressHelper("10.0.1.0", "255.255.255.0").Assign(backhaul);
        Ipv4GlobalRoutingHelper::PopulateRoutingTables();
        m_probe->Attach(receiver);
        m_probe->AddDevice(DEVICE, Mac48Address::ConvertFrom(sender->GetAddress()));
        Watch(sender, Mac48Address::ConvertFrom(receiver->GetAddress()));

        const auto udp = UdpSocketFactory::GetTypeId();
        const auto sink = Socket::CreateSocket(nodes.Get(wire ? 2 : 0), udp);
        sink->Bind(InetSocketAddress(Ipv4Address::GetAny(), 9));
        sink->SetRecvCallback(MakeCallback(&WifiLinkProbeTest::Receive, this));
        const auto source = Socket::CreateSocket(nodes.Get(1), udp);
        source->Connect(InetSocketAddress(wire ? "10.0.1.2" : "10.0.0.1", 9));
        // The first packet resolves addresses.
        Simulator::Schedule(Seconds(1), &WifiLinkProbeTest::SendBurst, this, source, 1);
        Simulator::Schedule(Seconds(1.5), &WifiLinkProbeTest::SendBurst, this, source, 200);
        Simulator::Stop(Seconds(3));
        Simulator::Run();
    }

    /** After an upload. */
    void ExpectUpload() const
    {
        const auto quality = m_probe->GetQuality(DEVICE);
        EXPECT_GT(m_received.size(), 190U);
        for (const auto packet : m_received)
        {
            EXPECT_NEAR(ToDb(m_probe->GetPacketSnr(packet)), GetLinkBudget(DISTANCE, 7), 0.5)
                << packet;
        }
        EXPECT_GE(quality.framesOk, m_received.size());
        EXPECT_GT(quality.framesFailed, 20);
        EXPECT_EQ(quality.framesOk + quality.framesFailed, m_sent);
        EXPECT_NEAR(ToDb(quality.roundSnr), GetLinkBudget(DISTANCE, 7), 0.5);
        EXPECT_EQ(quality.rate, 26e6);
    }

    WifiHelper m_wifi;                                //!< Makes devices.
    WifiMacHelper m_mac;                              //!< Makes their MAC.
    Ptr<WifiLinkProbe> m_probe;                       //!< Under test.
    bool m_spectrum = false;                          //!< Kind of PHY.
    bool m_detection = false;                         //!< Whether a preamble can be missed.
    double m_noiseFigure = 7;                         //!< Of receivers, in dB.
    Ptr<YansWifiChannel> m_yans;                      //!< Where all are on.
    Ptr<MultiModelSpectrumChannel> m_spectrumChannel; //!< Where all are on.
    int64_t m_streams = 1;                            //!< Next random stream.
    Mac48Address m_receiver;                          //!< To whom frames are counted.
    uint64_t m_sent = 0;                              //!< Data frames sent.
    uint64_t m_aggregates = 0;                        //!< PPDUs with more than one of them.
    std::optional<WifiTxVector> m_txVector;           //!< How the last was sent.
    uint32_t m_bytes = 0;                             //!< Size of the last PSDU.
    std::vector<uint64_t> m_received;                 //!< Uids.
};

} // namespace

TEST_F(WifiLinkProbeTest, SnrIsTheLinkBudgetAndLossIsTheErrorModelsWithYansPhy)
{
    ExpectLinkBudget();
}

TEST_F(WifiLinkProbeTest, SnrIsTheLinkBudgetAndLossIsTheErrorModelsWithSpectrumPhy)
{
    m_spectrum = true;
    ExpectLinkBudget();
}

TEST_F(WifiLinkProbeTest, TheNoiseFigureOfAReceiverIsLearned)
{
    m_noiseFigure = 10;
    SetMode("VhtMcs0");
    NodeContainer nodes(3);
    const auto receiver = Install(nodes.Get(0), 0);
    const auto near = Install(nodes.Get(1), 5);
    const auto far = Install(nodes.Get(2), 150);
    m_probe->Attach(receiver);
    m_probe->AddDevice(1, Mac48Address::ConvertFrom(near->GetAddress()));
    m_probe->AddDevice(2, Mac48Address::ConvertFrom(far->GetAddress()));
    Send(near, Mac48Address::GetBroadcast(), 1);
    Simulator::Run();
    Send(far, Mac48Address::GetBroadcast(), 20);
    Simulator::Run();
    EXPECT_EQ(m_probe->GetQuality(1).framesOk, 1);
    EXPECT_EQ(m_probe->GetQuality(2).framesFailed, 20) << "by their PHY headers";
    EXPECT_NEAR(ToDb(m_probe->GetQuality(2).roundSnr), GetLinkBudget(150, 10), 0.5);
}

TEST_F(WifiLinkProbeTest, FramesWithoutPreambleFailWithUnknownSnr)
{
    m_detection = true;
    SetMode("VhtMcs0");
    const auto quality = Broadcast(150, 20);
    EXPECT_EQ(quality.framesOk, 0);
    EXPECT_EQ(quality.framesFailed, 20);
    EXPECT_TRUE(std::isnan(quality.roundSnr));
}

TEST_F(WifiLinkProbeTest, FramesThatCollideCountOnce)
{
    SetMode("VhtMcs0");
    NodeContainer nodes(3);
    const auto receiver = Install(nodes.Get(0), 0);
    const auto left = Install(nodes.Get(1), -30);
    const auto right = Install(nodes.Get(2), 40);
    m_probe->Attach(receiver);
    m_probe->AddDevice(1, Mac48Address::ConvertFrom(left->GetAddress()));
    m_probe->AddDevice(2, Mac48Address::ConvertFrom(right->GetAddress()));
    Send(left, Mac48Address::GetBroadcast(), 50);
    Send(right, Mac48Address::GetBroadcast(), 50);
    Simulator::Run();
    double failed = 0;
    for (const uint32_t device : {1, 2})
    {
        const auto quality = m_probe->GetQuality(device);
        EXPECT_EQ(quality.framesOk + quality.framesFailed, 50);
        failed += quality.framesFailed;
    }
    EXPECT_GE(failed, 20);
}

TEST_F(WifiLinkProbeTest, EveryFrameOfAnAmpduCountsOnce)
{
    Upload(65535, false);
    EXPECT_GT(m_aggregates, 3U);
    ExpectUpload();
}

TEST_F(WifiLinkProbeTest, PacketsAreKnownBehindTheAccessPoint)
{
    Upload(65535, true);
    EXPECT_GT(m_aggregates, 3U);
    ExpectUpload();
}

TEST_F(WifiLinkProbeTest, FramesCountWithoutAmpdu)
{
    Upload(0, true);
    EXPECT_EQ(m_aggregates, 0U);
    ExpectUpload();
}

TEST_F(WifiLinkProbeTest, OnlyDataFramesOfDevicesForTheReceiverCount)
{
    SetMode("VhtMcs0");
    NodeContainer nodes(4);
    const auto receiver = Install(nodes.Get(0), 0);
    const auto known = Install(nodes.Get(1), 5);
    const auto unknown = Install(nodes.Get(2), 10);
    const auto other = Install(nodes.Get(3), 15);
    m_probe->Attach(receiver);
    m_probe->AddDevice(DEVICE, Mac48Address::ConvertFrom(known->GetAddress()));
    const auto toReceiver = Mac48Address::ConvertFrom(receiver->GetAddress());

    Send(unknown, toReceiver, 3);
    Simulator::Run();
    Send(unknown, Mac48Address::GetBroadcast(), 3);
    Simulator::Run();
    Send(known, Mac48Address::ConvertFrom(other->GetAddress()), 3);
    Simulator::Run();
    EXPECT_TRUE(std::isnan(m_probe->GetQuality(DEVICE).framesOk)) << "nothing yet";

    Send(known, toReceiver, 3);
    Simulator::Run();
    Send(known, Mac48Address::GetBroadcast(), 2);
    Simulator::Run();
    EXPECT_EQ(m_probe->GetQuality(DEVICE).framesOk, 5);
    EXPECT_EQ(m_probe->GetQuality(DEVICE).framesFailed, 0);
}

TEST_F(WifiLinkProbeTest, ManagementFramesDoNotCount)
{
    SetMode("VhtMcs0");
    NodeContainer nodes(2);
    m_mac.SetType("ns3::ApWifiMac", "Ssid", SsidValue(Ssid("cell")));
    const auto point = Install(nodes.Get(0), 0);
    m_mac.SetType("ns3::StaWifiMac", "Ssid", SsidValue(Ssid("cell")));
    const auto station = Install(nodes.Get(1), 5);
    m_probe->Attach(point);
    m_probe->Attach(station);
    m_probe->AddDevice(1, Mac48Address::ConvertFrom(point->GetAddress()));
    m_probe->AddDevice(2, Mac48Address::ConvertFrom(station->GetAddress()));
    Simulator::Stop(Seconds(1));
    Simulator::Run();
    EXPECT_TRUE(std::isnan(m_probe->GetQuality(1).framesOk));
    EXPECT_TRUE(std::isnan(m_probe->GetQuality(2).framesOk));
}

TEST_F(WifiLinkProbeTest, AReceiverThatIsNotWifiIsAnError)
{
    const Ptr<NetDevice> device = CreateObject<SimpleNetDevice>();
    EXPECT_DEATH(m_probe->Attach(device), "not a WifiNetDevice");
}

TEST_F(WifiLinkProbeTest, NothingKeepsTheProbeAliveAfterTheSimulation)
{
    SetMode("VhtMcs0");
    Broadcast(5, 1);
    m_yans = nullptr;
    Simulator::Destroy();
    EXPECT_EQ(m_probe->GetReferenceCount(), 1U);
}
