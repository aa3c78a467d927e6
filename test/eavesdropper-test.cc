// SPDX-License-Identifier: GPL-2.0-only

#include "federated-test-folder.h"

#include "ns3/big-endian.h"
#include "ns3/constant-position-mobility-model.h"
#include "ns3/cosine-inversion.h"
#include "ns3/crc32c.h"
#include "ns3/double.h"
#include "ns3/eavesdropper.h"
#include "ns3/federated-helper.h"
#include "ns3/federated-wifi-helper.h"
#include "ns3/identity-quantizer.h"
#include "ns3/image-quality.h"
#include "ns3/lenet-model.h"
#include "ns3/little-endian.h"
#include "ns3/message-bodies.h"
#include "ns3/message-crypto.h"
#include "ns3/object-factory.h"
#include "ns3/pointer.h"
#include "ns3/public-interleaving.h"
#include "ns3/public-rotation.h"
#include "ns3/random-variable-stream.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"
#include "ns3/unbiased-stochastic-quantizer.h"
#include "ns3/uniform-fusion.h"
#include "ns3/wifi-link-probe.h"
#include "ns3/wifi-net-device.h"
#include "ns3/wifi-phy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <memory>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

using namespace ns3;
using namespace ns3::federated;

namespace
{

using Bytes = std::vector<uint8_t>;
using Record = Eavesdropper::CaptureRecord;

const uint32_t DIMENSION = 7850; // of logistic regression on 28 x 28 images

std::size_t
Count(const std::vector<bool>& marks)
{
    return static_cast<std::size_t>(std::count(marks.begin(), marks.end(), true));
}

/**
 * Let an eavesdropper hear one of the two fragments of an update of device 0 in round 3, as floats.
 * @param listener The eavesdropper.
 * @param header What is known of the update.
 * @param fragment 0 or 1.
 * @param sent All that is sent.
 */
void
HearHalf(Eavesdropper& listener,
         FederatedHeader header,
         uint32_t fragment,
         const std::vector<float>& sent)
{
    const auto half = static_cast<uint32_t>(sent.size() / 2);
    header.type = FederatedHeader::UPDATE;
    header.round = 3;
    header.fragment = fragment;
    header.fragments = 2;
    header.first = half * fragment;
    header.coordinates = half;
    header.bits = 32;
    Bytes payload(4 * std::size_t{half});
    for (std::size_t i = 0; i < half; ++i)
    {
        WriteLittleEndianFloat(sent[header.first + i], &payload[4 * i]);
    }
    header.Seal(payload.data(), payload.size());
    Bytes message(header.GetSize());
    header.Write(message.data());
    message.insert(message.end(), payload.begin(), payload.end());
    listener.HearMessage(message.data(), message.size(), 1);
}

} // namespace

/** @ingroup federated-tests A wifi cell, devices side by side, and somebody who listens. */
class EavesdropperCell : public FederatedTestFolder
{
  public:
    /** Make a cell with devices at one place, the center at a distance from there. */
    void Build(uint32_t devices, double centerDistance, const std::string& mode = "adhoc")
    {
        Clear();
        m_nodes = NodeContainer(devices);
        for (uint32_t i = 0; i < devices; ++i)
        {
            Place(m_nodes.Get(i), 0);
        }
        m_accessPoint = CreateObject<Node>();
        Place(m_accessPoint, -centerDistance);
        m_wifi = std::make_unique<FederatedWifiHelper>();
        m_wifi->SetMode(mode);
        m_federation = std::make_unique<FederatedHelper>();
        m_federation->AddGroup(m_nodes, 4);
        m_federation->SetData(FederatedData::MakeSynthetic(1, 40 * devices, 50, 28, 28, 10));
        m_federation->SetTaskAttribute("Model", StringValue("ns3::LogisticModel"));
        m_federation->SetTaskAttribute("Threads", UintegerValue(1));
        m_federation->SetCenterAttribute("BitBudget", StringValue("ns3::FixedBitBudget[Bits=999]"));
        m_federation->SetCenterAttribute("FusionRule", PointerValue(CreateObject<UniformFusion>()));
        m_federation->SetCenterAttribute("Participants", UintegerValue(devices));
        m_federation->SetCenterAttribute("Rounds", UintegerValue(1));
        m_federation->SetCenterAttribute("Deadline", StringValue("2s"));
    }

    void Clear()
    {
        m_records.clear();
        m_rounds.clear();
        m_sent = 0;
        m_federation.reset();
        m_wifi.reset();
        m_nodes = NodeContainer();
        m_accessPoint = nullptr;
        Simulator::Destroy();
        RngSeedManager::SetSeed(1);
        RngSeedManager::SetRun(m_run);
    }

    void TearDown() override
    {
        m_run = 1;
        Clear();
    }

    static void Place(const Ptr<Node>& node, double x)
    {
        const auto place = CreateObject<ConstantPositionMobilityModel>();
        place->SetPosition(Vector(x, 0, 0));
        node->AggregateObject(place);
    }

    void Install()
    {
        m_wifi->Install(*m_federation, m_accessPoint);
        m_federation->GetCenter()->TraceConnectWithoutContext(
            "RoundEnd", MakeCallback(&EavesdropperCell::OnRound, this));
        // Behind the last round: what comes in an A-MPDU, a radio tells only when all of it came.
        Simulator::Stop(Seconds(8));
        for (const auto& device : m_federation->GetDevices())
        {
            device->TraceConnectWithoutContext("UpdateSent",
                                               MakeCallback(&EavesdropperCell::OnSent, this));
        }
    }

    Ptr<Eavesdropper> Listen(double distance)
    {
        const auto eavesdropper = m_wifi->AddEavesdropper(Vector(distance, 0, 0), *m_federation);
        eavesdropper->TraceConnectWithoutContext("RoundOverheard",
                                                 MakeCallback(&EavesdropperCell::OnRecord, this));
        return eavesdropper;
    }

    static Ptr<WifiPhy> GetPhy(const Ptr<Eavesdropper>& eavesdropper)
    {
        return DynamicCast<WifiNetDevice>(eavesdropper->GetNode()->GetDevice(0))->GetPhy();
    }

    /** @return a probe that counts the frames of devices at a radio. */
    Ptr<WifiLinkProbe> AddProbe(const Ptr<NetDevice>& radio) const
    {
        const auto probe = CreateObject<WifiLinkProbe>();
        probe->Attach(radio);
        for (uint32_t i = 0; i < m_nodes.GetN(); ++i)
        {
            probe->AddDevice(i,
                             Mac48Address::ConvertFrom(m_wifi->GetDevices().Get(i)->GetAddress()));
        }
        return probe;
    }

    void OnRecord(const Record& record)
    {
        m_records.push_back(record);
    }

    void OnRound(const RoundRecord& record)
    {
        m_rounds.push_back(record);
    }

    void OnSent(const FederatedDevice::SentRecord& record)
    {
        m_sent += record.fragments;
    }

    void OnTx(Ptr<const Packet>, double)
    {
        ++m_transmissions;
    }

    uint64_t m_run = 1;
    uint32_t m_sent = 0; // fragments of updates
    uint32_t m_transmissions = 0;
    std::unique_ptr<FederatedWifiHelper> m_wifi;
    std::unique_ptr<FederatedHelper> m_federation;
    NodeContainer m_nodes;
    Ptr<Node> m_accessPoint;
    std::vector<Record> m_records;
    std::vector<RoundRecord> m_rounds;
};

TEST_F(EavesdropperCell, RotatesRotatedUpdatesBack)
{
    Build(1, 10);
    m_federation->SetRotation(true);
    m_federation->SetCenterAttribute("Rounds", UintegerValue(2));
    Install();
    const auto eavesdropper = Listen(1);
    Simulator::Run();
    eavesdropper->EndRound();
    ASSERT_EQ(m_records.size(), 2U);
    EXPECT_EQ(m_records[1].updateFraction, 1);
    EXPECT_EQ(m_records[1].modelFraction, 1);
    EXPECT_EQ(m_records[1].fragments, m_records[1].planned);
    std::vector<float> model;
    std::vector<float> update;
    std::vector<bool> marks;
    ASSERT_TRUE(eavesdropper->GetModel(model, marks));
    ASSERT_TRUE(eavesdropper->GetUpdate(0, update, marks));
    ASSERT_EQ(update.size(), DIMENSION);
    EXPECT_EQ(Count(marks), DIMENSION);
    // One device, whose weight is 1: the next model is the sum.
    const std::vector<float>& next = m_federation->GetCenter()->GetModel();
    double largest = 0;
    for (std::size_t i = 0; i < DIMENSION; ++i)
    {
        largest = std::max(largest, std::abs(double{next[i]} - model[i] - update[i]));
    }
    EXPECT_LT(largest, 1e-7);
    EXPECT_GT(*std::max_element(update.begin(), update.end()), 1e-3);
}

TEST_F(EavesdropperCell, CountsWhatItCapturedOfARotatedUpdateAmongTheEncodedCoordinates)
{
    const auto listener = CreateObject<Eavesdropper>();
    listener->SetAttribute("Dimension", UintegerValue(100));
    listener->SetAttribute("Quantizer", PointerValue(CreateObject<IdentityQuantizer>()));
    listener->SetAttribute("RotationSeed", UintegerValue(5));
    std::vector<float> sent(100, 0);
    sent[7] = 1;
    PublicRotation(5, 3).Rotate(sent); // 128 coordinates in two fragments
    const auto hear = [&](uint32_t fragment, bool isRotated)
    {
        FederatedHeader header;
        header.rotated = isRotated;
        HearHalf(*listener, header, fragment, sent);
    };
    std::vector<float> update;
    std::vector<bool> marks;
    hear(1, true);
    EXPECT_EQ(listener->GetRecord(0).updateFraction, 0.5);
    ASSERT_TRUE(listener->GetUpdate(0, update, marks));
    EXPECT_EQ(Count(marks), 100U);
    EXPECT_NEAR(update[7], 0.5, 1e-6) << "half of its coordinates, zeros for the others";
    hear(0, false); // cannot belong to the same update
    EXPECT_EQ(listener->GetDropped(DROP_INVALID), 1U);
    hear(0, true);
    EXPECT_EQ(listener->GetRecord(0).updateFraction, 1);
    ASSERT_TRUE(listener->GetUpdate(0, update, marks));
    ASSERT_EQ(update.size(), 100U);
    for (std::size_t i = 0; i < 100; ++i)
    {
        EXPECT_NEAR(update[i], i == 7 ? 1 : 0, 1e-6) << i;
    }
    listener->Dispose();
}

TEST_F(EavesdropperCell, PutsWhatItCapturedOfAnInterleavedUpdateBackIntoItsOrder)
{
    const auto listener = CreateObject<Eavesdropper>();
    listener->SetAttribute("Dimension", UintegerValue(100));
    listener->SetAttribute("Quantizer", PointerValue(CreateObject<IdentityQuantizer>()));
    listener->SetAttribute("RotationSeed", UintegerValue(5));
    std::vector<float> own(100);
    std::iota(own.begin(), own.end(), 1.0F);
    std::vector<float> sent = own;
    PublicInterleaving(5, 3).Interleave(sent);
    const auto hear = [&](uint32_t fragment, bool isInterleaved)
    {
        FederatedHeader header;
        header.interleaved = isInterleaved;
        HearHalf(*listener, header, fragment, sent);
    };
    std::vector<float> update;
    std::vector<bool> marks;
    hear(1, true);
    ASSERT_TRUE(listener->GetUpdate(0, update, marks));
    EXPECT_EQ(Count(marks), 50U);
    for (std::size_t i = 0; i < 100; ++i)
    {
        EXPECT_EQ(update[i], marks[i] ? own[i] : 0) << i;
    }
    hear(0, false); // cannot belong to the same update
    EXPECT_EQ(listener->GetDropped(DROP_INVALID), 1U);
    hear(0, true);
    ASSERT_TRUE(listener->GetUpdate(0, update, marks));
    EXPECT_EQ(update, own);
    EXPECT_EQ(Count(marks), 100U);
    listener->Dispose();
}

TEST_F(EavesdropperCell, AtOneMeterItHasTheModelAndTheUpdatesAsTheCenterDecodesThem)
{
    // A group-addressed frame each, then acknowledged ones in A-MPDUs.
    for (const char* mode : {"adhoc", "infrastructure"})
    {
        Build(1, 10, mode);
        m_federation->SetCenterAttribute("Rounds", UintegerValue(2));
        Install();
        const auto eavesdropper = Listen(1);
        Simulator::Run();
        eavesdropper->EndRound();
        ASSERT_EQ(m_records.size(), 2U) << mode;
        for (const Record& record : m_records)
        {
            EXPECT_EQ(record.device, 0U);
            EXPECT_GT(record.updateFraction, 0.99) << mode;
            EXPECT_GT(record.modelFraction, 0.99) << mode;
            EXPECT_EQ(record.wireBits, 4U);
            EXPECT_EQ(record.fragments, record.planned);
            EXPECT_GE(record.frames, record.fragments);
            // 16 dBm over 46.68 dB at 1 m, noise figure 7 dB, 20 MHz.
            EXPECT_NEAR(10 * std::log10(record.snr), 63.3, 0.2);
        }
        EXPECT_EQ(m_records[0].round, 1U);
        EXPECT_EQ(m_records[1].round, 2U);
        std::vector<float> model;
        std::vector<float> update;
        std::vector<bool> marks;
        ASSERT_TRUE(eavesdropper->GetModel(model, marks));
        EXPECT_EQ(Count(marks), DIMENSION);
        ASSERT_TRUE(eavesdropper->GetUpdate(0, update, marks));
        EXPECT_EQ(Count(marks), DIMENSION);
        // One device, whose weight is 1: the next model is the sum.
        const std::vector<float>& next = m_federation->GetCenter()->GetModel();
        double largest = 0;
        for (std::size_t i = 0; i < DIMENSION; ++i)
        {
            largest = std::max(largest, std::abs(double{next[i]} - model[i] - update[i]));
        }
        EXPECT_LT(largest, 1e-7) << mode;
        EXPECT_GT(*std::max_element(update.begin(), update.end()), 1e-3);
    }
}

TEST_F(EavesdropperCell, DoesNotDisturbTheRun)
{
    for (const char* mode : {"adhoc", "infrastructure"})
    {
        for (double fading : {0, 1})
        {
            std::string texts[2];
            std::string models[2];
            for (int listens : {0, 1})
            {
                Build(4, 25, mode);
                m_wifi->SetFading(fading);
                m_federation->SetCenterAttribute("Rounds", UintegerValue(3));
                Install();
                const std::string prefix = GetFolder() + "/run" + std::to_string(listens);
                std::string error;
                ASSERT_TRUE(m_federation->EnableTraces(prefix, error)) << error;
                Ptr<Eavesdropper> eavesdropper;
                if (listens)
                {
                    eavesdropper = Listen(20);
                    GetPhy(eavesdropper)
                        ->TraceConnectWithoutContext("PhyTxBegin",
                                                     MakeCallback(&EavesdropperCell::OnTx, this));
                    Listen(3);
                }
                Simulator::Run();
                if (listens)
                {
                    EXPECT_GT(eavesdropper->GetFrames(), 100U);
                }
                ASSERT_TRUE(m_federation->GetTraceWriter()->IsComplete(error)) << error;
                for (const char* file : {"-rounds.csv", "-links.csv"})
                {
                    std::ifstream stream(prefix + file);
                    std::ostringstream text;
                    text << stream.rdbuf();
                    texts[listens] += text.str();
                }
            }
            EXPECT_GT(texts[0].size(), 500U);
            EXPECT_EQ(texts[0], texts[1]) << mode << ", fading " << fading;
            EXPECT_EQ(m_transmissions, 0U) << mode;
        }
    }
}

TEST_F(EavesdropperCell, CaptureFallsWithDistanceLikeTheLossOfTheSameLink)
{
    // The center is as far from the devices as the listener, on the other side: two links of equal
    // statistics, whose errors and fading are drawn independently.
    double last = 1.1;
    for (double distance : {1, 20, 40, 60, 90, 150})
    {
        double captured = 0;  // mean fraction of coordinates
        double overheard = 0; // fragments
        double received = 0;
        double sent = 0;
        for (m_run = 1; m_run <= 3; ++m_run)
        {
            Build(4, distance);
            m_wifi->SetFading(1);
            m_wifi->SetCenterTxPower(40); // the far devices hear their grants
            m_federation->SetDeviceAttribute("FragmentSize", UintegerValue(200));
            Install();
            const auto eavesdropper = Listen(distance);
            eavesdropper->SetAttribute("Devices", StringValue("0,1,2,3"));
            const auto probe = AddProbe(eavesdropper->GetNode()->GetDevice(0));
            Simulator::Run();
            eavesdropper->EndRound();
            ASSERT_EQ(m_records.size(), 4U) << distance;
            for (const Record& record : m_records)
            {
                captured += record.updateFraction / 12;
                overheard += record.fragments;
                // 27 fragments of equal length, and a last one that is not longer.
                EXPECT_GE(record.updateFraction, (record.fragments - 1.0) / 27 - 1e-9) << distance;
                EXPECT_LE(record.updateFraction, record.fragments / 27.0 + 1e-9) << distance;
                received += m_rounds.at(0).links.at(record.device).receivedFragments;
                // All that its radio decoded but acknowledgments and last words.
                const double decoded = probe->GetQuality(record.device).framesOk;
                EXPECT_LE(record.frames, decoded) << distance;
                EXPECT_GE(record.frames + 30, decoded) << distance;
            }
            sent += m_sent;
        }
        ASSERT_EQ(sent, 3 * 4 * 28) << distance;
        // The last of the 28 fragments of an update is shorter than the others. How often it is
        // among those of the 12 updates deviates by more than 3.9 standard errors in 1e-4 of all
        // cases.
        const double error = 3.9 * 0.5 / std::sqrt(12.0) / 28;
        EXPECT_NEAR(captured, overheard / sent, error) << distance;
        // Two samples of one binomial distribution differ by more in 1e-4 of all cases.
        const double loss = 1 - (overheard + received) / (2 * sent);
        const double deviation = std::sqrt(2 * loss * (1 - loss) / sent);
        EXPECT_NEAR(overheard / sent, received / sent, 3.9 * deviation + 1e-9) << distance;
        EXPECT_LT(captured, last) << distance;
        last = captured;
        if (distance == 1)
        {
            EXPECT_GT(captured, 0.99);
        }
    }
    EXPECT_LT(last, 0.2);
}

TEST_F(EavesdropperCell, TwoWhoShareNotesHaveWhatEitherHas)
{
    Build(3, 10);
    m_wifi->SetFading(1);
    m_federation->SetDeviceAttribute("FragmentSize", UintegerValue(200));
    m_federation->SetCenterAttribute("FragmentSize", UintegerValue(200));
    Install();
    const auto first = Listen(45);
    const auto second = Listen(-55);
    const auto third = Listen(50); // learns from the first, and tells it
    const auto notebook = CreateObject<Eavesdropper>();
    notebook->SetAttribute("Dimension", UintegerValue(DIMENSION));
    PointerValue quantizer;
    first->GetAttribute("Quantizer", quantizer);
    notebook->SetAttribute("Quantizer", quantizer);
    const auto alone = Listen(50);
    first->ShareWith(notebook);
    second->ShareWith(notebook);
    third->ShareWith(first);
    first->ShareWith(third);
    Simulator::Run();
    double together = 0;
    double apart = 0;
    for (uint32_t device = 0; device < 3; ++device)
    {
        std::vector<float> values[3];
        std::vector<bool> marks[3];
        first->GetUpdate(device, values[0], marks[0]);
        second->GetUpdate(device, values[1], marks[1]);
        notebook->GetUpdate(device, values[2], marks[2]);
        EXPECT_GT(Count(marks[1]), 0U);
        EXPECT_LT(Count(marks[1]), DIMENSION);
        EXPECT_GE(Count(marks[2]), Count(marks[1]));
        std::size_t gained = 0;
        for (std::size_t i = 0; i < DIMENSION; ++i)
        {
            if (marks[1][i])
            {
                EXPECT_TRUE(marks[2][i]);
                EXPECT_EQ(values[2][i], values[1][i]);
            }
            gained += marks[2][i] && !marks[1][i];
        }
        EXPECT_GT(gained, 0U);
        // The first was told what the third heard, and the third what the first did.
        EXPECT_EQ(first->GetRecord(device).updateFraction, third->GetRecord(device).updateFraction);
        together += third->GetRecord(device).updateFraction;
        apart += alone->GetRecord(device).updateFraction;
        EXPECT_GE(notebook->GetRecord(device).frames, second->GetRecord(device).frames);
        EXPECT_GE(notebook->GetRecord(device).modelFraction,
                  second->GetRecord(device).modelFraction);
    }
    // Of 84 fragments one receives about 0.72 and one of two 0.92, each with its own fading: a
    // difference of 3.5 standard errors, which is not positive in one of 4000 seeds.
    EXPECT_GT(together, apart);
    EXPECT_EQ(notebook->GetFrames(), 0U) << "it has no radio";
}

TEST_F(EavesdropperCell, OfAnEncryptedFederationItHasSizesAndTimesOnly)
{
    if (!federated::MessageCrypto::Make())
    {
        GTEST_SKIP() << "this build cannot protect messages";
    }
    std::string texts[2];
    for (int encrypted : {0, 1})
    {
        Build(2, 10);
        if (encrypted)
        {
            m_federation->SetEncryptionKey("a secret");
        }
        Install();
        const auto eavesdropper = Listen(1);
        Simulator::Run();
        ASSERT_EQ(m_rounds.size(), 1U);
        EXPECT_EQ(m_rounds[0].received, 2U);
        std::ostringstream text;
        for (float value : m_federation->GetCenter()->GetModel())
        {
            text << value << ' ';
        }
        texts[encrypted] = text.str();
        std::vector<float> values;
        std::vector<bool> marks;
        EXPECT_EQ(eavesdropper->GetUpdate(0, values, marks), !encrypted);
        EXPECT_EQ(eavesdropper->GetModel(values, marks), !encrypted);
        EXPECT_EQ(eavesdropper->GetUnread(Eavesdropper::UNREAD_ENCRYPTED) > 30,
                  bool{encrypted != 0});
        EXPECT_EQ(eavesdropper->GetRound(), encrypted ? 0U : 1U);
        EXPECT_EQ(eavesdropper->GetDevices().size(), encrypted ? 0U : 2U);
        for (const auto& device : m_federation->GetDevices())
        {
            // All messages go to a group: those to the other device are ignored, not counted.
            EXPECT_EQ(device->GetDropped(DROP_UNAUTHENTIC) + device->GetDropped(DROP_UNKNOWN), 0U);
        }
    }
    EXPECT_EQ(texts[0], texts[1]);
}

TEST_F(EavesdropperCell, NearbyItSeesTheTrainingImagesAndFarAwayItDoesNot)
{
    const uint32_t devices = 3;
    const auto attack =
        CreateObjectWithAttributes<CosineInversion>("Iterations", UintegerValue(200));
    std::vector<double> similarities;
    std::vector<double> captured;
    for (double distance : {1, 60, 90})
    {
        Build(devices, 10);
        m_wifi->SetFading(1);
        const FederatedData data = FederatedData::MakeSynthetic(1, devices, 50, 28, 28, 10);
        const auto model = CreateObjectWithAttributes<LeNetModel>("InitialRange", DoubleValue(0.5));
        m_federation->SetData(data); // one image each
        m_federation->SetTaskAttribute("Model", PointerValue(model));
        m_federation->SetQuantizer(CreateObject<IdentityQuantizer>());
        m_federation->SetDeviceAttribute("Steps", UintegerValue(1));
        m_federation->SetDeviceAttribute("BatchSize", UintegerValue(1));
        m_federation->SetDeviceAttribute("ClipNorm", StringValue("none"));
        Install();
        const auto eavesdropper = Listen(distance);
        Simulator::Run();
        FederatedPartition::Parts parts;
        std::string error;
        const auto task = m_federation->GetTask();
        const uint64_t seed = task->GetSeed();
        ASSERT_TRUE(
            task->GetPartition()->Split(data.train->GetLabels(), {devices}, seed, parts, error));
        const SampleShape shape{28, 28, 10};
        const auto kernel = model->CreateDoubleKernel(shape);
        similarities.push_back(0);
        captured.push_back(0);
        for (uint32_t device = 0; device < devices; ++device)
        {
            GradientObservation observation;
            std::vector<bool> known;
            captured.back() += eavesdropper->GetRecord(device).updateFraction / devices;
            if (!eavesdropper->GetUpdate(device, observation.update, observation.captured) ||
                !eavesdropper->GetModel(observation.model, known))
            {
                continue;
            }
            FederatedRandom random(seed);
            const auto found = attack->Reconstruct(observation, *kernel, shape, random);
            const uint8_t* pixels = data.train->GetPixels(parts[device][0]);
            std::vector<double> truth(pixels, pixels + std::ptrdiff_t{28} * 28);
            for (double& value : truth)
            {
                value /= 255;
            }
            similarities.back() += ImageQuality::Compare(truth, found.image, 28, 28).ssim / devices;
            if (distance == 1)
            {
                EXPECT_EQ(found.label, data.train->GetLabel(parts[device][0]));
            }
        }
    }
    EXPECT_GT(captured[0], 0.99);
    EXPECT_LT(captured[1], 0.8);
    EXPECT_LT(captured[2], 0.3);
    EXPECT_GT(similarities[0], 0.5);
    EXPECT_LT(similarities[1], similarities[0]);
    EXPECT_LT(similarities[2], similarities[1]);
    EXPECT_LT(similarities[2], 0.3);
}

/** @ingroup federated-tests One without a radio, who is told what he hears. */
class Listener : public testing::Test
{
  public:
    void SetUp() override
    {
        m_quantizer = CreateObject<UnbiasedStochasticQuantizer>();
        m_listener = Make();
        m_random = CreateObject<UniformRandomVariable>();
        m_random->SetStream(1);
    }

    Ptr<Eavesdropper> Make() const
    {
        ObjectFactory factory("ns3::Eavesdropper");
        factory.Set("Dimension", UintegerValue(D));
        factory.Set("Quantizer", PointerValue(m_quantizer));
        return factory.Create<Eavesdropper>();
    }

    /** @return a message with coordinates: of a device, or of the model. */
    static Bytes MakeMessage(uint32_t round, uint32_t device, uint32_t fragment, float value = 0)
    {
        FederatedHeader header;
        const bool isModel = device == FederatedHeader::ALL_DEVICES;
        header.type = isModel ? FederatedHeader::MODEL : FederatedHeader::UPDATE;
        header.round = round;
        header.device = device;
        header.fragment = fragment;
        header.fragments = 4;
        header.first = fragment * D / 4;
        header.coordinates = D / 4;
        header.bits = isModel ? 32 : 8;
        Bytes payload(D / 4 * header.bits / 8, 255); // the highest level
        if (isModel)
        {
            for (std::size_t i = 0; i < D / 4; ++i)
            {
                std::memcpy(&payload[4 * i], &value, 4); // on a little-endian machine
            }
        }
        else
        {
            header.intervals = {{header.first, header.first + D / 4, -value, value}};
        }
        return MakeMessage(header, payload);
    }

    static Bytes MakeMessage(FederatedHeader header, const Bytes& payload)
    {
        header.Seal(payload.data(), payload.size());
        Bytes message(header.GetSize());
        header.Write(message.data());
        message.insert(message.end(), payload.begin(), payload.end());
        return message;
    }

    static Bytes MakePacket(const Bytes& message)
    {
        Bytes bytes{0xaa, 0xaa, 3, 0, 0, 0, 8, 0}; // LLC/SNAP
        const std::size_t total = 28 + message.size();
        const auto add = [&bytes](std::initializer_list<std::size_t> more)
        {
            for (std::size_t byte : more)
            {
                bytes.push_back(static_cast<uint8_t>(byte));
            }
        };
        add({0x45, 0, total >> 8, total, 0, 0, 0, 0, 64, 17, 0, 0});  // IPv4
        add({10, 0, 0, 1, 10, 0, 0, 2});                              // addresses
        add({16, 146, 16, 146, (total - 20) >> 8, total - 20, 0, 0}); // UDP
        bytes.insert(bytes.end(), message.begin(), message.end());
        return bytes;
    }

    /** @return a QoS data frame, with its check sequence. */
    static Bytes MakeFrame(const Bytes& packet, bool amsdu = false)
    {
        Bytes frame(26 + packet.size() + 4);
        frame[0] = 0x88;
        frame[24] = amsdu ? 0x80 : 0;
        std::copy(packet.begin(), packet.end(), frame.begin() + 26);
        return frame;
    }

    void Hear(const Bytes& frame)
    {
        // At the end of a page of its own, so to say: sanitizers see what is read behind it.
        const auto exact = std::make_unique<uint8_t[]>(frame.size());
        std::copy(frame.begin(), frame.end(), exact.get());
        m_listener->HearFrame(exact.get(), frame.size(), 100);
    }

    uint64_t GetUnread() const
    {
        uint64_t sum = 0;
        for (uint8_t reason = 0; reason < Eavesdropper::UNREAD_REASONS; ++reason)
        {
            sum += m_listener->GetUnread(static_cast<Eavesdropper::Unread>(reason));
        }
        return sum;
    }

    uint64_t GetDropped() const
    {
        uint64_t sum = 0;
        for (uint8_t reason = 0; reason < DROP_REASONS; ++reason)
        {
            sum += m_listener->GetDropped(static_cast<DropReason>(reason));
        }
        return sum;
    }

    static constexpr uint32_t D = 400;
    Ptr<Quantizer> m_quantizer;
    Ptr<Eavesdropper> m_listener;
    Ptr<UniformRandomVariable> m_random;
};

TEST_F(Listener, ReadsFramesAloneAndInAmsdus)
{
    Hear(MakeFrame(MakePacket(MakeMessage(1, 5, 0, 2))));
    EXPECT_EQ(m_listener->GetRecord(5).updateFraction, 0.25);
    Bytes packets;
    for (uint32_t fragment : {1, 2, 3})
    {
        const Bytes packet = MakePacket(MakeMessage(1, 5, fragment, 2));
        Bytes header(14);
        header[12] = static_cast<uint8_t>(packet.size() >> 8);
        header[13] = static_cast<uint8_t>(packet.size());
        packets.resize((packets.size() + 3) / 4 * 4);
        packets.insert(packets.end(), header.begin(), header.end());
        packets.insert(packets.end(), packet.begin(), packet.end());
    }
    Hear(MakeFrame(packets, true));
    const Record record = m_listener->GetRecord(5);
    EXPECT_EQ(record.updateFraction, 1);
    EXPECT_EQ(record.frames, 4U);
    EXPECT_DOUBLE_EQ(record.snr, 100);
    EXPECT_EQ(GetUnread(), 0U);
    EXPECT_EQ(GetDropped(), 0U);
    std::vector<float> update;
    std::vector<bool> marks;
    ASSERT_TRUE(m_listener->GetUpdate(5, update, marks));
    EXPECT_EQ(Count(marks), D);
    for (float value : update)
    {
        EXPECT_NEAR(value, 2, 1e-6);
    }
    EXPECT_FALSE(m_listener->GetUpdate(6, update, marks));
    EXPECT_EQ(Count(marks), 0U);
    EXPECT_EQ(update.size(), D);
}

TEST_F(Listener, SaysWhyItDoesNotReadAFrame)
{
    const Bytes good = MakeFrame(MakePacket(MakeMessage(1, 5, 0, 2)));
    const auto hear = [&](std::size_t at, uint8_t value, Eavesdropper::Unread reason)
    {
        Bytes frame = good;
        frame.at(at) = value;
        const uint64_t before = m_listener->GetUnread(reason);
        const uint64_t all = GetUnread() + GetDropped();
        Hear(frame);
        EXPECT_EQ(m_listener->GetUnread(reason), before + 1) << at;
        EXPECT_EQ(GetUnread() + GetDropped(), all + 1) << at;
        EXPECT_STRNE(Eavesdropper::GetUnreadName(reason), "none");
    };
    hear(0, 0x80, Eavesdropper::UNREAD_NOT_DATA);   // a beacon
    hear(0, 0xd4, Eavesdropper::UNREAD_NOT_DATA);   // an acknowledgment
    hear(0, 0xc8, Eavesdropper::UNREAD_NOT_DATA);   // no data
    hear(1, 0x40, Eavesdropper::UNREAD_PROTECTED);  // by 802.11
    hear(1, 0x04, Eavesdropper::UNREAD_FRAGMENTED); // by 802.11
    hear(22, 0x01, Eavesdropper::UNREAD_FRAGMENTED);
    hear(33, 0x06, Eavesdropper::UNREAD_NOT_IPV4);       // ARP
    hear(34, 0x65, Eavesdropper::UNREAD_NOT_IPV4);       // version 6
    hear(34, 0x44, Eavesdropper::UNREAD_TRUNCATED);      // header of 16 bytes
    hear(36, 0xff, Eavesdropper::UNREAD_TRUNCATED);      // longer than the frame
    hear(40, 0x20, Eavesdropper::UNREAD_FRAGMENTED);     // by IP
    hear(43, 6, Eavesdropper::UNREAD_NOT_UDP);           // TCP
    hear(34 + 24, 0xff, Eavesdropper::UNREAD_TRUNCATED); // UDP
    hear(62, 'G', Eavesdropper::UNREAD_FOREIGN);
    hear(65, FederatedHeader::PROTECTED_GROUP, Eavesdropper::UNREAD_ENCRYPTED);
    EXPECT_EQ(m_listener->GetRound(), 0U);
    Bytes damaged = good;
    damaged[150] ^= 1;
    Hear(damaged);
    EXPECT_EQ(m_listener->GetDropped(DROP_CHECKSUM), 1U);
    Hear(good);
    EXPECT_EQ(m_listener->GetRecord(5).updateFraction, 0.25);
}

TEST_F(Listener, TakesAnyBytes)
{
    const Bytes good = MakeFrame(MakePacket(MakeMessage(1, 5, 0, 2)));
    uint64_t told = 0;
    for (std::size_t size = 0; size + 5 < good.size(); ++size)
    {
        Hear(Bytes(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size)));
        EXPECT_EQ(GetUnread() + GetDropped(), ++told) << size;
    }
    EXPECT_EQ(m_listener->GetRound(), 0U);
    for (int i = 0; i < 20000; ++i)
    {
        Bytes frame = good;
        for (uint32_t flips = m_random->GetInteger(1, 8); flips > 0; --flips)
        {
            frame[m_random->GetInteger(0, 120)] =
                static_cast<uint8_t>(m_random->GetInteger(0, 255));
        }
        frame.resize(m_random->GetInteger(0, static_cast<uint32_t>(frame.size())));
        Hear(frame);
    }
    for (int i = 0; i < 20000; ++i) // whose checksum is right
    {
        Bytes message =
            MakeMessage(1, m_random->GetInteger(0, 1) ? 5 : FederatedHeader::ALL_DEVICES, 0, 2);
        for (uint32_t flips = m_random->GetInteger(1, 4); flips > 0; --flips)
        {
            message[m_random->GetInteger(3, 70)] =
                static_cast<uint8_t>(m_random->GetInteger(0, 255));
        }
        const uint32_t zero = 0;
        std::memcpy(&message[40], &zero, 4);
        const uint32_t crc = Crc32c(message.data(), message.size());
        WriteBigEndian32(crc, &message[40]);
        Hear(MakeFrame(MakePacket(message)));
    }
    EXPECT_GT(m_listener->GetDropped(DROP_INVALID) + m_listener->GetDropped(DROP_MALFORMED), 5000U);
    std::vector<float> update;
    std::vector<bool> marks;
    for (uint32_t device : m_listener->GetDevices())
    {
        m_listener->GetUpdate(device, update, marks);
    }
    // At most a model and what MaxDevices devices sent, whatever headers claimed.
    EXPECT_LE(m_listener->GetDevices().size(), 1000U);
    EXPECT_LE(m_listener->GetBufferedBytes(), 4 * D * 1002U);
}

TEST_F(Listener, DropsAGrantOfBitsThatTheQuantizerDoesNotHave)
{
    m_quantizer = ObjectFactory("ns3::RandomCoordinatesQuantizer").Create<Quantizer>();
    for (const uint8_t bits : {0, 1, 2, 3, 200})
    {
        SCOPED_TRACE(unsigned{bits});
        m_listener = Make();
        FederatedHeader header;
        header.type = FederatedHeader::UPDATE;
        header.round = 1;
        header.device = 5;
        header.fragments = 1;
        header.coordinates = D;
        header.bits = 2;
        header.intervals = {{0, D, -1, 1}};
        Hear(MakeFrame(MakePacket(MakeMessage(header, Bytes(D / 4)))));
        header.type = FederatedHeader::GRANT;
        header.bits = bits;
        header.intervals.clear();
        Hear(MakeFrame(MakePacket(MakeMessage(header, Bytes(GrantBody::SIZE)))));
        EXPECT_EQ(GetDropped(), bits == 2 ? 0U : 1U);
        std::vector<float> update;
        std::vector<bool> captured;
        EXPECT_TRUE(m_listener->GetUpdate(5, update, captured)) << "with the bits on the wire";
        EXPECT_EQ(Count(captured), D);
        // A setting of the user that the quantizer does not have.
        m_listener = Make();
        m_listener->SetAttribute("Bits", UintegerValue(4));
        header.type = FederatedHeader::UPDATE;
        header.bits = 2;
        header.intervals = {{0, D, -1, 1}};
        Hear(MakeFrame(MakePacket(MakeMessage(header, Bytes(D / 4)))));
        EXPECT_FALSE(m_listener->GetUpdate(5, update, captured));
    }
}

TEST_F(Listener, KeepsOneRoundAndTheModel)
{
    std::vector<float> model;
    std::vector<bool> known;
    EXPECT_FALSE(m_listener->GetModel(model, known));
    Hear(MakeFrame(MakePacket(MakeMessage(1, FederatedHeader::ALL_DEVICES, 0, 10))));
    Hear(MakeFrame(MakePacket(MakeMessage(1, FederatedHeader::ALL_DEVICES, 1, 11))));
    Hear(MakeFrame(MakePacket(MakeMessage(1, 5, 0, 2))));
    Hear(MakeFrame(MakePacket(MakeMessage(3, FederatedHeader::ALL_DEVICES, 1, 31))));
    EXPECT_EQ(m_listener->GetRound(), 3U);
    EXPECT_TRUE(m_listener->GetDevices().empty()) << "of the round before";
    ASSERT_TRUE(m_listener->GetModel(model, known));
    EXPECT_EQ(model[0], 10); // the last that is known
    EXPECT_EQ(model[D / 4], 31);
    EXPECT_EQ(model[D / 2], 0);
    EXPECT_EQ(Count(known), D / 2);
    EXPECT_EQ(m_listener->GetRecord(5).modelFraction, 0.25) << "in this round";
    Hear(MakeFrame(MakePacket(MakeMessage(2, 5, 1, 2))));
    EXPECT_EQ(m_listener->GetDropped(DROP_OLD), 1U);
    EXPECT_FALSE(m_listener->GetUpdate(5, model, known));
    m_listener->EndRound();
    Hear(MakeFrame(MakePacket(MakeMessage(3, 5, 1, 2))));
    EXPECT_EQ(m_listener->GetDropped(DROP_OLD), 2U) << "behind its end";
    m_listener = Make();
    m_listener->SetModel(std::vector<float>(D, 7));
    Hear(MakeFrame(MakePacket(MakeMessage(1, FederatedHeader::ALL_DEVICES, 3, 10))));
    ASSERT_TRUE(m_listener->GetModel(model, known));
    EXPECT_EQ(model[0], 7);
    EXPECT_EQ(model[D - 1], 10);
    EXPECT_EQ(Count(known), D);
    EXPECT_EQ(m_listener->GetRecord(5).modelFraction, 0.25);
}

TEST_F(Listener, WatchesWhomItIsToldAndNoMoreThanItMay)
{
    m_listener->SetAttribute("Devices", StringValue("5,7"));
    for (uint32_t device = 0; device < 10; ++device)
    {
        Hear(MakeFrame(MakePacket(MakeMessage(1, device, 0, 2))));
    }
    EXPECT_EQ(m_listener->GetDevices(), (std::vector<uint32_t>{5, 7}));
    EXPECT_EQ(m_listener->GetDropped(DROP_UNSELECTED), 8U);
    EXPECT_EQ(m_listener->GetRecord(7).updateFraction, 0.25);
    m_listener->SetAttribute("Devices", StringValue(""));
    m_listener->SetAttribute("MaxDevices", UintegerValue(3));
    for (uint32_t device = 0; device < 10; ++device)
    {
        Hear(MakeFrame(MakePacket(MakeMessage(2, device, 0, 2))));
    }
    EXPECT_EQ(m_listener->GetDevices(), (std::vector<uint32_t>{0, 1, 2}));
}

using ListenerDeathTest = Listener;

TEST_F(ListenerDeathTest, MisuseStopsTheScriptWithASentence)
{
    for (const char* wrong : {"1,x", "1,", "1,,2", "4294967295"})
    {
        EXPECT_DEATH(m_listener->SetAttribute("Devices", StringValue(wrong)),
                     "not a list of devices");
    }
    EXPECT_DEATH(m_listener->SetModel(std::vector<float>(3)), "a model of 3 coordinates");
    {
        const auto other = ObjectFactory("ns3::RandomizedResponseQuantizer").Create<Quantizer>();
        const auto listener = Make();
        listener->SetAttribute("Quantizer", PointerValue(other));
        listener->SetAttribute("Bits", UintegerValue(3));
        CreateObject<Node>()->AddApplication(listener);
        EXPECT_DEATH(Simulator::Run(), "Bits is 3: ns3::RandomizedResponseQuantizer has no");
        Simulator::Destroy();
    }
    EXPECT_DEATH(m_listener->ShareWith(m_listener), "shares with itself");
    const auto node = CreateObject<Node>();
    node->AddApplication(m_listener);
    EXPECT_DEATH(Simulator::Run(), "has no wifi radio");
    Simulator::Destroy();
}
