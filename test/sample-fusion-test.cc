// SPDX-License-Identifier: GPL-2.0-only

#include "federation.h"
#include "recording-fusion.h"

#include "ns3/double.h"
#include "ns3/error-model.h"
#include "ns3/little-endian.h"
#include "ns3/sample-fusion.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

namespace ns3
{

// What a script needs for a fusion rule of its own.

/** Weights by the root of the samples, of devices of which at least MinFraction was delivered. */
class RootFusion : public FusionRule
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("ns3::RootFusion")
                                .SetParent<FusionRule>()
                                .AddConstructor<RootFusion>()
                                .AddAttribute("MinFraction",
                                              "Least delivered fraction of an update.",
                                              DoubleValue(0),
                                              MakeDoubleAccessor(&RootFusion::m_minFraction),
                                              MakeDoubleChecker<double>(0, 1));
        return tid;
    }

  private:
    double DoGetScore(const UpdateQuality& update) const override
    {
        return update.deliveredFraction < m_minFraction ? 0 : std::sqrt(update.samples);
    }

    double m_minFraction;
};

NS_OBJECT_ENSURE_REGISTERED(RootFusion);

} // namespace ns3

using namespace ns3;

namespace
{

/** @ingroup federated-tests A federation whose devices have different numbers of samples. */
class SampleFederation : public Federation
{
  public:
    /** As Federation::Build, for one round of devices on a split of skewed quantity. */
    void BuildSkewed(uint32_t devices)
    {
        Build(devices);
        updates.clear();
        task->SetAttribute("Partition", StringValue("ns3::QuantityPartition[Alpha=0.7]"));
        SetForAll("FragmentSize", UintegerValue(300)); // 1040 bytes of floats take four messages
        center->SetAttribute("Rounds", UintegerValue(1));
        for (auto& device : apps)
        {
            device->TraceConnectWithoutContext("Tx", MakeCallback(&SampleFederation::OnTx, this));
        }
        task->Initialize(start);
    }

    /** Keep the floats of an update as they are sent. */
    void OnTx(Ptr<const Packet> packet)
    {
        const Ptr<Packet> message = packet->Copy();
        FederatedHeader header;
        message->RemoveHeader(header);
        if (header.type != FederatedHeader::UPDATE)
        {
            return;
        }
        std::vector<uint8_t> payload(message->GetSize());
        message->CopyData(payload.data(), message->GetSize());
        std::vector<double>& update = updates[header.device];
        update.resize(start.size(), std::nan(""));
        for (std::size_t i = 0; i < header.coordinates; ++i)
        {
            update[header.first + i] = federated::ReadLittleEndianFloat(payload.data() + 4 * i);
        }
    }

    /** Compare the model with the first one plus sum_k n_k/n update_k, in double precision. */
    void ExpectModel(const std::map<uint32_t, double>& counts)
    {
        double all = 0;
        for (const auto& [device, count] : counts)
        {
            all += count;
        }
        const std::vector<float>& model = center->GetModel();
        ASSERT_EQ(model.size(), start.size());
        for (std::size_t i = 0; i < model.size(); ++i)
        {
            double expected = start[i];
            double size = std::abs(double{start[i]});
            for (const auto& [device, count] : counts)
            {
                const double share = count / all * updates.at(device).at(i);
                expected += share;
                size += std::abs(share);
            }
            // Floats: a weight, a product and a sum for each device, then the model; each rounds
            // what it has by a factor of at most 1 +- 2^-24.
            const double tolerance = (2.0 + 2.0 * counts.size()) * 0x1p-24 * size;
            ASSERT_NEAR(model[i], expected, tolerance) << "coordinate " << i;
        }
    }

    /** @return the samples of each device, from the split. */
    std::map<uint32_t, double> CountSamples() const
    {
        std::map<uint32_t, double> counts;
        for (uint32_t device = 0; device < task->GetDevices(); ++device)
        {
            counts[device] = task->GetSamples(device);
        }
        return counts;
    }

    std::vector<float> start;                        // the first model
    std::map<uint32_t, std::vector<double>> updates; // by device, NaN where nothing was sent
};

} // namespace

TEST_F(SampleFederation, IsFederatedAveragingByTheSamplesOfTheDevices)
{
    BuildSkewed(5);
    const auto counts = CountSamples();
    uint32_t least = std::numeric_limits<uint32_t>::max();
    uint32_t most = 0;
    for (const auto& [device, count] : counts)
    {
        least = std::min(least, static_cast<uint32_t>(count));
        most = std::max(most, static_cast<uint32_t>(count));
    }
    ASSERT_GE(most, 3 * least) << "else the test shows little";
    center->SetAttribute("FusionRule", StringValue("ns3::SampleFusion"));
    Run();
    ASSERT_EQ(rounds.size(), 1U);
    ASSERT_EQ(rounds[0].received, 5U);
    ExpectModel(counts);
    for (const LinkRecord& link : rounds[0].links)
    {
        EXPECT_NEAR(link.weight, counts.at(link.device) / 200, 1e-12);
    }
    const std::vector<float> fused = center->GetModel();

    // Equal weights are another model, and multiplied by the samples the same one.
    BuildSkewed(5);
    Run();
    EXPECT_NE(center->GetModel(), fused);
    ExpectModel({{0, 1}, {1, 1}, {2, 1}, {3, 1}, {4, 1}});
    BuildSkewed(5);
    center->SetAttribute("FusionRule", StringValue("ns3::UniformFusion[WeightBySamples=true]"));
    Run();
    ExpectModel(counts);
}

TEST_F(SampleFederation, AScriptsOwnRuleWorksByItsName)
{
    BuildSkewed(4);
    center->SetAttribute("FusionRule", StringValue("ns3::RootFusion[MinFraction=0.5]"));
    center->SetAttribute("Deadline", TimeValue(Seconds(2)));
    // Nothing of device 0 is received after its JOIN and its first message of the round.
    auto loss = CreateObject<ReceiveListErrorModel>();
    loss->SetList({3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20});
    SetLoss(GetCenterEnd(0), loss);
    auto counts = CountSamples();
    Run();
    ASSERT_EQ(rounds.size(), 1U);
    ASSERT_EQ(rounds[0].links[0].state, PARTICIPANT_PARTIAL);
    EXPECT_EQ(rounds[0].links[0].weight, 0) << "less than half of it was delivered";
    counts.erase(0);
    for (auto& [device, count] : counts)
    {
        count = std::sqrt(count);
    }
    ExpectModel(counts);
}

TEST_F(SampleFederation, RulesLearnDeviceSamplesAndDeliveredFraction)
{
    for (const uint32_t limit : {0U, 20U})
    {
        BuildSkewed(4);
        center->SetAttribute("MaxSamples", UintegerValue(limit));
        const auto rule = CreateObject<RecordingFusion>();
        center->SetAttribute("FusionRule", PointerValue(rule));
        center->SetAttribute("Deadline", TimeValue(Seconds(2)));
        auto loss = CreateObject<ReceiveListErrorModel>();
        loss->SetList({3}); // of device 2: after JOIN, ACK of the grant and a fragment
        SetLoss(GetCenterEnd(2), loss);
        Run();
        ASSERT_EQ(rounds.size(), 1U);
        ASSERT_EQ(rule->seen.size(), 4U);
        bool isCut = false;
        for (const LinkRecord& link : rounds[0].links)
        {
            SCOPED_TRACE(link.device);
            const UpdateQuality& seen = rule->seen.at(link.device);
            const uint32_t samples = task->GetSamples(link.device);
            isCut = isCut || samples > 20;
            EXPECT_EQ(seen.device, link.device);
            EXPECT_EQ(seen.bits, link.bits);
            EXPECT_EQ(seen.samples, limit > 0 ? std::min(samples, limit) : samples);
            EXPECT_EQ(seen.deliveredFraction,
                      static_cast<double>(link.coordinates) / static_cast<double>(start.size()));
            EXPECT_EQ(seen.deliveredFraction < 1, link.device == 2);
        }
        EXPECT_TRUE(isCut) << "else the limit does not matter";
    }
}
