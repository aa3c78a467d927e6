// SPDX-License-Identifier: GPL-2.0-only

#include "ns3/learning-task.h"

#include "ns3/dp-stochastic-quantizer.h"
#include "ns3/enum.h"
#include "ns3/fixed-interval.h"
#include "ns3/identity-quantizer.h"
#include "ns3/iid-partition.h"
#include "ns3/little-endian.h"
#include "ns3/logistic-model.h"
#include "ns3/max-abs-interval.h"
#include "ns3/mlp-model.h"
#include "ns3/object-factory.h"
#include "ns3/pointer.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include "allocation-counter.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

using namespace ns3;
using namespace ns3::federated;

namespace
{

/** A task with a small synthetic set, on two groups of 3 and 2 devices. */
class LearningTaskTest : public testing::Test
{
  protected:
    void SetUp() override
    {
        RngSeedManager::SetSeed(1);
        RngSeedManager::SetRun(1);
    }

    /**
     * @param threads Number of threads.
     * @param stream Where the seed comes from.
     * @return a task.
     */
    Ptr<LearningTask> MakeTask(uint32_t threads, int64_t stream = 7) const
    {
        const auto model = CreateObjectWithAttributes<MlpModel>("HiddenLayers", StringValue("20"));
        const auto task = CreateObjectWithAttributes<LearningTask>(
            "Threads", UintegerValue(threads), "Model", PointerValue(model));
        task->SetData(m_data);
        task->SetGroups({3, 2});
        EXPECT_EQ(task->AssignStreams(stream), 1);
        return task;
    }

    /**
     * @param task The task.
     * @param device The device.
     * @param round The round.
     * @return an update from the starting model.
     */
    std::shared_ptr<LocalUpdate> MakeUpdate(Ptr<LearningTask> task,
                                            uint32_t device = 0,
                                            uint32_t round = 0) const
    {
        auto update = std::make_shared<LocalUpdate>();
        update->settings.intervalRule = PeekPointer(m_rule);
        update->settings.quantizer = PeekPointer(m_quantizer);
        update->settings.bits = 4;
        update->device = device;
        update->serial = round;
        task->Initialize(update->model);
        return update;
    }

    const FederatedData m_data = FederatedData::MakeSynthetic(3, 200, 50, 8, 8, 10); //!< The sets.
    const Ptr<IntervalRule> m_rule = CreateObject<MaxAbsInterval>();          //!< Of all devices.
    const Ptr<Quantizer> m_quantizer = CreateObject<DpStochasticQuantizer>(); //!< Of all devices.
};

} // namespace

TEST_F(LearningTaskTest, TellsTheLayoutOfItsModel)
{
    const auto task = MakeTask(1);
    EXPECT_EQ(task->GetDimension(), 64U * 20 + 20 + 20 * 10 + 10);
    EXPECT_EQ(task->GetLayerEnds(), (std::vector<std::size_t>{64 * 20 + 20, 1510}));
    std::vector<float> w;
    task->Initialize(w);
    ASSERT_EQ(w.size(), task->GetDimension());
    auto again = w;
    task->Initialize(again);
    EXPECT_EQ(w, again);
}

TEST_F(LearningTaskTest, KeepsEqualModelsOnceAndWhatDiffersApart)
{
    const auto task = MakeTask(1);
    std::vector<float> w;
    task->Initialize(w);
    w.back() = 0;
    auto minus = w;
    minus.back() = -0.0F;
    const auto first = task->Share(std::vector<float>(w));
    EXPECT_EQ(*first, w);
    const auto other = task->Share(std::move(minus)); // equal as numbers, not as bytes
    EXPECT_NE(other, first);
    EXPECT_TRUE(std::signbit(other->back()));
    auto second = task->Share(std::vector<float>(w));
    EXPECT_EQ(second, first);
    const std::weak_ptr<const std::vector<float>> forgotten =
        task->Share(std::vector<float>(w.size(), 1));
    EXPECT_TRUE(forgotten.expired()) << "a model that nobody keeps takes no memory";
    w.pop_back();
    EXPECT_EQ(task->Share(std::vector<float>(w))->size(), w.size());
}

TEST_F(LearningTaskTest, LearnsThePapersModelByDefault)
{
    const auto task = CreateObject<LearningTask>();
    ASSERT_TRUE(task->GetModel());
    EXPECT_EQ(task->GetModel()->GetInstanceTypeId().GetName(), "ns3::MlpModel");
    EXPECT_NE(task->GetModel(), CreateObject<LearningTask>()->GetModel());
    task->SetData(FederatedData::MakeSynthetic(1, 10, 1));
    task->SetGroups({1});
    EXPECT_EQ(task->GetDimension(), 159010U);
    task->SetModel(CreateObject<LogisticModel>());
    EXPECT_EQ(task->GetDimension(), 7850U);
}

TEST_F(LearningTaskTest, SplitsTheSamples)
{
    const auto task = MakeTask(1);
    EXPECT_EQ(task->GetDevices(), 5U);
    for (uint32_t device = 0; device < 5; ++device)
    {
        EXPECT_EQ(task->GetSamples(device), 40U);
    }
}

TEST_F(LearningTaskTest, TheSeedComesFromTheStreamAndTheRun)
{
    const auto seed = MakeTask(1)->GetSeed();
    EXPECT_EQ(MakeTask(2)->GetSeed(), seed);
    EXPECT_NE(MakeTask(1, 8)->GetSeed(), seed);
    EXPECT_NE(seed >> 32, 0U);
    EXPECT_NE(seed & 0xffffffff, 0U);

    const auto task = MakeTask(1);
    EXPECT_EQ(task->GetSeed(), seed);
    EXPECT_EQ(task->GetSeed(), seed) << "drawn once";
    task->SetAttribute("Partition", StringValue("ns3::ShardPartition[Shards=2]"));
    task->SetGroups({4});
    EXPECT_EQ(task->GetSeed(), seed) << "drawn once, whatever else changes";
    EXPECT_EQ(task->GetDevices(), 4U);
    task->AssignStreams(8);
    EXPECT_NE(task->GetSeed(), seed);

    RngSeedManager::SetRun(2);
    EXPECT_NE(MakeTask(1)->GetSeed(), seed);
}

TEST_F(LearningTaskTest, SaysWhatIsMissing)
{
    const auto task = CreateObject<LearningTask>();
    std::string error;
    EXPECT_FALSE(task->Prepare(error));
    EXPECT_EQ(error, "The learning task has no data set.");

    task->SetData(m_data);
    EXPECT_FALSE(task->Prepare(error));
    EXPECT_EQ(error, "The samples cannot be split among 0 devices.");

    task->SetGroups({201});
    EXPECT_FALSE(task->Prepare(error));
    EXPECT_EQ(error, "200 samples cannot be split among 201 devices: each needs at least one.");

    task->SetGroups({2});
    task->SetData({m_data.train, FederatedData::MakeSynthetic(1, 1, 1, 8, 9, 10).test});
    EXPECT_FALSE(task->Prepare(error));
    EXPECT_EQ(error,
              "The training set has 8 x 8 pixels and 10 classes, but the test set has 8 x 9 "
              "pixels and 10 classes.");

    task->SetData(m_data);
    task->SetModel(nullptr);
    EXPECT_FALSE(task->Prepare(error));
    EXPECT_EQ(error, "The learning task has no model.");

    task->SetModel(CreateObject<LogisticModel>());
    task->SetPartition(nullptr);
    EXPECT_FALSE(task->Prepare(error));
    EXPECT_EQ(error, "The learning task has no partition.");

    task->SetPartition(CreateObject<IidPartition>());
    EXPECT_TRUE(task->Prepare(error)) << error;
    EXPECT_TRUE(task->Prepare(error)) << error;

    task->SetAttribute("Partition", StringValue("ns3::ShardPartition[Shards=101]"));
    EXPECT_FALSE(task->Prepare(error)) << "a change is noticed";
    EXPECT_EQ(error, "200 samples cannot be cut into 202 shards: 101 for each of 2 devices.");
}

TEST_F(LearningTaskTest, PartitionsAreChosenByTheirTypeIdAndArePaired)
{
    std::vector<float> start;
    MakeTask(1)->Initialize(start);
    for (const char* partition : {"ns3::IidPartition",
                                  "ns3::DirichletPartition[Alpha=0.3]",
                                  "ns3::ShardPartition[Shards=4]",
                                  "ns3::LabelPartition",
                                  "ns3::QuantityPartition[Alpha=1]"})
    {
        std::vector<uint32_t> samples;
        for (const char* model : {"ns3::MlpModel[HiddenLayers=20]", "ns3::LogisticModel"})
        {
            const auto task = MakeTask(1);
            task->SetAttribute("Partition", StringValue(partition));
            task->SetAttribute("Model", StringValue(model));
            EXPECT_EQ(task->GetSeed(), MakeTask(1)->GetSeed()) << partition;
            std::vector<float> w;
            task->Initialize(w);
            if (w.size() == start.size())
            {
                EXPECT_EQ(w, start) << "the start does not depend on the split: " << partition;
            }
            std::vector<uint32_t> counts;
            for (uint32_t device = 0; device < task->GetDevices(); ++device)
            {
                counts.push_back(task->GetSamples(device));
            }
            EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), 0U), 200U);
            EXPECT_TRUE(samples.empty() || samples == counts)
                << "the split does not depend on the model: " << partition;
            samples = counts;
        }
    }
}

TEST_F(LearningTaskTest, AnUpdateIsWhatItsPartsMakeOfIt)
{
    for (auto norm : {CLIP_NONE, CLIP_L1, CLIP_L2})
    {
        const auto task = MakeTask(2);
        task->SetAttribute("Pixels", EnumValue(LearningTask::PIXELS_STANDARD));
        auto update = MakeUpdate(task, 3, 5);
        update->training = {4, 6, 0.05};
        update->settings.clipNorm = norm;
        update->settings.clipBound = 0.02;
        update->settings.reportDistortion = true;
        const auto start = update->model;
        task->Wait(task->Begin(update));
        ASSERT_TRUE(update->valid);
        EXPECT_EQ(update->model, start);

        const std::size_t d = task->GetDimension();
        FederatedPartition::Parts parts;
        std::string error;
        ASSERT_TRUE(CreateObject<IidPartition>()->Split(
            m_data.train->GetLabels(), {3, 2}, task->GetSeed(), parts, error));
        LocalTrainer<float> trainer(task->GetModel()->CreateKernel({8, 8, 10}),
                                    PixelScale::Standard());
        FederatedRandom batches(task->GetSeed(), FederatedRandom::BATCHES, 3, 5);
        auto w = start;
        const double loss = trainer.Train(
            *m_data.train, parts[3].data(), parts[3].size(), {4, 6, 0.05}, batches, w.data());
        EXPECT_EQ(update->loss, loss);
        for (std::size_t i = 0; i < d; ++i)
        {
            w[i] -= start[i];
        }
        EXPECT_EQ(update->clipFactor, ClipUpdate(norm, 0.02, w.data(), d));
        if (norm != CLIP_NONE)
        {
            EXPECT_LT(update->clipFactor, 1);
        }
        const auto intervals = m_rule->GetIntervals(w.data(), task->GetLayerEnds());
        ASSERT_EQ(update->intervals.size(), 1U);
        EXPECT_EQ(update->intervals[0].end, d);
        EXPECT_EQ(update->intervals[0].low, intervals[0].low);
        EXPECT_EQ(update->intervals[0].high, intervals[0].high);
        std::vector<uint8_t> payload(m_quantizer->GetPayloadSize(d, 4));
        FederatedRandom coins(task->GetSeed(), FederatedRandom::QUANTIZE, 3, 5);
        ASSERT_TRUE(m_quantizer->Encode(w.data(), intervals, 4, coins, payload.data()));
        EXPECT_EQ(update->payload, payload);
        EXPECT_DOUBLE_EQ(update->distortion,
                         m_quantizer->GetDistortion(w.data(), intervals, 4) / d);
    }
}

TEST_F(LearningTaskTest, HasASeedForRotationsThatDoesNotRevealTheOther)
{
    const auto seed = MakeTask(1)->GetRotationSeed();
    EXPECT_EQ(MakeTask(2)->GetRotationSeed(), seed);
    EXPECT_NE(MakeTask(1, 8)->GetRotationSeed(), seed);
    EXPECT_NE(MakeTask(1)->GetSeed(), seed);
}

TEST_F(LearningTaskTest, ThreadsChangeNoByteOfARotatedUpdate)
{
    std::vector<std::vector<uint8_t>> expected;
    for (uint32_t threads : {1, 2, 4})
    {
        const auto task = MakeTask(threads);
        std::vector<std::shared_ptr<LocalUpdate>> updates;
        std::vector<WorkerPool::Ticket> tickets;
        for (uint32_t k = 0; k < 10; ++k)
        {
            updates.push_back(MakeUpdate(task, k % 5, 1 + k / 5));
            updates.back()->settings.rotation = PublicRotation(task->GetRotationSeed(), 1 + k / 5);
            tickets.push_back(task->Begin(updates.back()));
        }
        std::vector<std::vector<uint8_t>> payloads;
        for (uint32_t k = 0; k < 10; ++k)
        {
            task->Wait(tickets[k]);
            ASSERT_TRUE(updates[k]->valid);
            EXPECT_EQ(updates[k]->intervals.back().end, 2048U); // of 1510
            payloads.push_back(updates[k]->payload);
            EXPECT_EQ(payloads.back().size(), 1024U);
        }
        if (expected.empty())
        {
            expected = payloads;
        }
        EXPECT_EQ(payloads, expected) << threads << " threads";
    }
}

TEST_F(LearningTaskTest, ThreadsAndOrderChangeNoByte)
{
    std::vector<std::vector<uint8_t>> reference;
    for (uint32_t threads : {1, 2, 4})
    {
        const auto task = MakeTask(threads);
        std::vector<std::shared_ptr<LocalUpdate>> updates;
        std::vector<WorkerPool::Ticket> tickets;
        for (uint32_t k = 0; k < 20; ++k)
        {
            const uint32_t which = threads == 4 ? 19 - k : k;
            updates.push_back(MakeUpdate(task, which % 5, which / 5));
            tickets.push_back(task->Begin(updates.back()));
        }
        std::vector<std::vector<uint8_t>> payloads(20);
        for (uint32_t k = 0; k < 20; ++k)
        {
            task->Wait(tickets[k]);
            EXPECT_TRUE(std::isnan(updates[k]->distortion)) << "not wanted";
            payloads[5 * updates[k]->serial + updates[k]->device] = updates[k]->payload;
        }
        if (reference.empty())
        {
            reference = payloads;
        }
        EXPECT_EQ(payloads, reference);
        EXPECT_NE(payloads[0], payloads[1]) << "another device";
        EXPECT_NE(payloads[0], payloads[5]) << "another round";
    }
}

TEST_F(LearningTaskTest, AnUpdateThatIsNotFiniteIsNotValid)
{
    const auto task = MakeTask(1);
    for (float wrong :
         {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()})
    {
        auto update = MakeUpdate(task);
        update->settings.reportDistortion = true;
        task->Wait(task->Begin(update));
        EXPECT_TRUE(update->valid);
        update->model.back() = wrong;
        task->Wait(task->Begin(update)); // again, with the results of before in place
        EXPECT_FALSE(update->valid);
        EXPECT_TRUE(update->payload.empty());
        EXPECT_TRUE(update->intervals.empty());
        EXPECT_TRUE(std::isnan(update->distortion));
    }
}

TEST_F(LearningTaskTest, TrainingLearns)
{
    const auto task = MakeTask(2);
    const auto quantizer = CreateObject<IdentityQuantizer>();
    auto update = MakeUpdate(task);
    update->settings.quantizer = PeekPointer(quantizer);
    const auto before = task->EvaluateTrain(update->model.data());
    for (update->serial = 0; update->serial < 200; ++update->serial)
    {
        update->device = update->serial % 5;
        task->Wait(task->Begin(update));
        ASSERT_TRUE(update->valid);
        for (std::size_t i = 0; i < update->model.size(); ++i)
        {
            update->model[i] += ReadLittleEndianFloat(update->payload.data() + 4 * i);
        }
    }
    const auto after = task->EvaluateTrain(update->model.data());
    EXPECT_LT(after.loss, before.loss / 2);
    EXPECT_GT(after.accuracy, 0.8);
    EXPECT_GT(task->EvaluateTest(update->model.data()).accuracy, 0.5);
    EXPECT_NE(task->EvaluateTest(update->model.data(), 10).loss,
              task->EvaluateTest(update->model.data(), 11).loss);
    EXPECT_NE(task->EvaluateTrain(update->model.data(), 10).loss,
              task->EvaluateTest(update->model.data(), 10).loss);
}

TEST_F(LearningTaskTest, MeasuresProcessorTimeByKind)
{
    const auto task = MakeTask(2);
    EXPECT_EQ(task->GetTrainingSeconds(), 0);
    EXPECT_EQ(task->GetEvaluationSeconds(), 0);
    const auto update = MakeUpdate(task);
    task->Wait(task->Begin(update));
    EXPECT_GT(task->GetTrainingSeconds(), 0);
    EXPECT_LT(task->GetTrainingSeconds(), 10);
    EXPECT_EQ(task->GetEvaluationSeconds(), 0);
    const double training = task->GetTrainingSeconds();
    task->EvaluateTrain(update->model.data());
    EXPECT_GT(task->GetEvaluationSeconds(), 0);
    EXPECT_LT(task->GetEvaluationSeconds(), 10);
    EXPECT_EQ(task->GetTrainingSeconds(), training);
}

TEST_F(LearningTaskTest, ACancelledUpdateIsNotTouched)
{
    const auto task = MakeTask(2);
    for (int repeat = 0; repeat < 20; ++repeat)
    {
        std::vector<std::shared_ptr<LocalUpdate>> updates;
        std::vector<WorkerPool::Ticket> tickets;
        for (uint32_t device = 0; device < 5; ++device)
        {
            updates.push_back(MakeUpdate(task, device));
            tickets.push_back(task->Begin(updates.back()));
        }
        for (std::size_t k = updates.size(); k-- > 0;)
        {
            task->Cancel(tickets[k]);
            EXPECT_EQ(updates[k].use_count(), 1);
            EXPECT_EQ(updates[k]->valid, !updates[k]->payload.empty());
            task->Wait(tickets[k]);
        }
    }
}

TEST_F(LearningTaskTest, CanEndWhileUpdatesAreUnderWay)
{
    for (bool dispose : {false, true})
    {
        for (int repeat = 0; repeat < 20; ++repeat)
        {
            auto task = MakeTask(2);
            std::vector<std::shared_ptr<LocalUpdate>> updates;
            WorkerPool::Ticket last = 0;
            for (uint32_t k = 0; k < 10; ++k)
            {
                updates.push_back(MakeUpdate(task, k % 5, k));
                last = task->Begin(updates.back());
            }
            if (dispose)
            {
                task->Dispose();
                task->Wait(last); // at once
                task->Cancel(last);
            }
            task = nullptr;
            for (const auto& update : updates)
            {
                EXPECT_EQ(update.use_count(), 1);
                EXPECT_EQ(update->valid, !update->payload.empty());
            }
        }
    }
}

TEST_F(LearningTaskTest, RepeatedWorkHardlyAllocates)
{
    const auto task = MakeTask(1);
    const auto update = MakeUpdate(task);
    task->Wait(task->Begin(update));
    const std::size_t before = GetAllocations();
    task->Wait(task->Begin(update));
    EXPECT_LE(GetAllocations() - before, 2U) << "the job and the list of intervals";
}

using LearningTaskDeathTest = LearningTaskTest;

TEST_F(LearningTaskDeathTest, MisuseStopsTheScriptWithASentence)
{
    EXPECT_DEATH(CreateObject<LearningTask>()->GetDimension(),
                 "The learning task has no data set.");
    EXPECT_DEATH(MakeTask(1)->GetSamples(5), "there is no device 5, the data is split among 5");
    const auto task = MakeTask(1);
    auto update = MakeUpdate(task);
    task->Wait(task->Begin(update));
    EXPECT_DEATH(task->SetData(m_data), "cannot be changed any more");
    update->settings.bits = 17;
    EXPECT_DEATH(task->Begin(update), "17 bits");
    update->settings.bits = 4;
    update->settings.quantizer = nullptr;
    EXPECT_DEATH(task->Begin(update), "no quantizer");
    update->settings.quantizer = PeekPointer(m_quantizer);
    update->model.pop_back();
    EXPECT_DEATH(task->Begin(update), "a model of 1509 parameters, not 1510");
}
