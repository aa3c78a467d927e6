// SPDX-License-Identifier: GPL-2.0-only

#include "ns3/local-trainer.h"

#include "ns3/learning-rate-schedule.h"
#include "ns3/logistic-model.h"
#include "ns3/mlp-model.h"
#include "ns3/model-evaluator.h"

#include "allocation-counter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

using namespace ns3;
using namespace ns3::federated;

namespace
{

constexpr SampleShape MNIST{28, 28, 10}; //!< The shape of MNIST.

/** A kernel that only records which samples it is shown, by their first input. */
class RecordingKernel : public ModelKernel<double>
{
  public:
    /**
     * @param batches Where to record.
     * @param features Inputs of a sample.
     */
    RecordingKernel(std::vector<std::vector<double>>& batches, std::size_t features)
        : ModelKernel<double>({{"all", 0, 1, 1}}, features, 256),
          m_batches(batches)
    {
    }

  private:
    double DoAddGradient(const SampleBatch<double>& batch,
                         const double* /* w */,
                         double factor,
                         double* target) override
    {
        std::vector<double> firsts;
        for (std::size_t s = 0; s < batch.count; ++s)
        {
            firsts.push_back(batch.inputs[s * batch.features]);
        }
        m_batches.push_back(firsts);
        target[0] += factor;
        return static_cast<double>(m_batches.size());
    }

    const double* DoComputeLogits(const SampleBatch<double>& /* batch */, const double* w) override
    {
        return w;
    }

    std::vector<std::vector<double>>& m_batches; //!< First inputs of each batch.
};

/** Trains on 100 samples of two pixels, the first of which is the sample's number. */
class LocalTrainerBatches : public testing::Test
{
  protected:
    /**
     * @param count How many samples the device has: 0..count-1.
     * @param plan Steps and batch size.
     * @param round Round number.
     * @return the mean loss.
     */
    double Train(std::size_t count, const TrainingPlan& plan, uint32_t round = 0)
    {
        std::vector<uint8_t> pixels(200, 9);
        std::vector<uint32_t> indices(count);
        for (std::size_t sample = 0; sample < 100; ++sample)
        {
            pixels[2 * sample] = static_cast<uint8_t>(sample);
        }
        std::iota(indices.begin(), indices.end(), 0);
        const FederatedDataset dataset(1, 2, 2, pixels, std::vector<uint8_t>(100, 1));
        LocalTrainer<double> trainer(std::make_unique<RecordingKernel>(m_batches, 2), {1, 0});
        FederatedRandom random(5, FederatedRandom::BATCHES, 1, round);
        return trainer.Train(dataset, indices.data(), count, plan, random, &m_w);
    }

    std::vector<std::vector<double>> m_batches; //!< Sample numbers of each batch.
    double m_w = 1;                             //!< The one parameter.
};

/**
 * @param train Samples.
 * @return all their indices.
 */
std::vector<uint32_t>
GetAll(const FederatedDataset& train)
{
    std::vector<uint32_t> indices(train.GetSize());
    std::iota(indices.begin(), indices.end(), 0);
    return indices;
}

} // namespace

TEST_F(LocalTrainerBatches, AreConsecutivePartsOfAPermutation)
{
    const double loss = Train(100, {5, 20, 0.25});
    std::set<double> seen;
    ASSERT_EQ(m_batches.size(), 5U);
    for (const auto& batch : m_batches)
    {
        EXPECT_EQ(batch.size(), 20U);
        seen.insert(batch.begin(), batch.end());
    }
    EXPECT_EQ(seen.size(), 100U) << "every sample once";
    EXPECT_EQ(loss, 3) << "mean of the losses 1..5 that the kernel reports";
    EXPECT_DOUBLE_EQ(m_w, 1 - 5 * 0.25) << "five steps against the gradient 1";
}

TEST_F(LocalTrainerBatches, AreDrawnAnewEveryRoundAndEqualForEqualSeeds)
{
    Train(100, {1, 100, 0.1}, 0);
    Train(100, {1, 100, 0.1}, 0);
    Train(100, {1, 100, 0.1}, 1);
    EXPECT_EQ(m_batches[0], m_batches[1]);
    EXPECT_NE(m_batches[0], m_batches[2]);
    EXPECT_FALSE(std::is_sorted(m_batches[0].begin(), m_batches[0].end()));
}

TEST_F(LocalTrainerBatches, FirstSampleIsUniform)
{
    // Chi-square over 5 samples, 4 degrees of freedom: 23.5 is exceeded with probability 1e-4.
    std::vector<double> counts(5, 0);
    for (uint32_t round = 0; round < 5000; ++round)
    {
        m_batches.clear();
        Train(5, {1, 1, 0.1}, round);
        ++counts.at(static_cast<std::size_t>(m_batches[0][0]));
    }
    double chi = 0;
    for (double count : counts)
    {
        chi += (count - 1000) * (count - 1000) / 1000;
    }
    EXPECT_LT(chi, 23.5);
}

TEST_F(LocalTrainerBatches, RepeatThePermutationIfSamplesAreFew)
{
    Train(3, {2, 4, 0.1});
    std::vector<double> all = m_batches[0];
    all.insert(all.end(), m_batches[1].begin(), m_batches[1].end());
    ASSERT_EQ(all.size(), 8U);
    EXPECT_EQ(std::set<double>(all.begin(), all.begin() + 3).size(), 3U);
    for (std::size_t k = 3; k < all.size(); ++k)
    {
        EXPECT_EQ(all[k], all[k - 3]);
    }
}

TEST_F(LocalTrainerBatches, NothingHappensWithoutSamplesOrSteps)
{
    EXPECT_EQ(Train(0, {5, 20, 0.1}), 0);
    EXPECT_EQ(Train(100, {0, 20, 0.1}), 0);
    EXPECT_EQ(Train(100, {5, 0, 0.1}), 0);
    EXPECT_EQ(m_w, 1);
    EXPECT_TRUE(m_batches.empty());
}

TEST(LocalTrainer, AllocatesNothingAfterItsFirstRound)
{
    const FederatedData data = FederatedData::MakeSynthetic(1, 600, 1);
    const std::vector<uint32_t> indices = GetAll(*data.train);
    for (PixelScale scale : {PixelScale::Unit(), PixelScale::Standard()})
    {
        auto kernel = CreateObject<MlpModel>()->CreateKernel(MNIST);
        std::vector<float> w(kernel->GetDimension());
        FederatedRandom random(1);
        kernel->Initialize(random, w.data());
        LocalTrainer<float> trainer(std::move(kernel), scale);
        const TrainingPlan plan;
        trainer.Train(*data.train, indices.data(), 600, plan, random, w.data());
        const std::size_t before = GetAllocations();
        trainer.Train(*data.train, indices.data(), 600, plan, random, w.data());
        EXPECT_EQ(GetAllocations(), before);
    }
}

TEST(LocalTrainer, IsDeterministicAndLearns)
{
    const FederatedData data = FederatedData::MakeSynthetic(1, 600, 1);
    const std::vector<uint32_t> indices = GetAll(*data.train);
    std::vector<float> results[2];
    for (std::vector<float>& w : results)
    {
        auto kernel = CreateObject<MlpModel>()->CreateKernel(MNIST);
        w.resize(kernel->GetDimension());
        FederatedRandom start(1, FederatedRandom::INITIAL_MODEL);
        kernel->Initialize(start, w.data());
        LocalTrainer<float> trainer(std::move(kernel), PixelScale::Unit());
        double first = 0;
        double last = 0;
        for (uint32_t round = 0; round < 5; ++round)
        {
            FederatedRandom random(1, FederatedRandom::BATCHES, 3, round);
            last = trainer.Train(*data.train, indices.data(), 600, {}, random, w.data());
            first = round == 0 ? last : first;
        }
        EXPECT_LT(last, 0.5 * first);
    }
    EXPECT_EQ(results[0], results[1]);
}

TEST(LocalTrainer, FloatAndDoubleTakeTheSameWay)
{
    const FederatedData data = FederatedData::MakeSynthetic(2, 600, 1);
    const std::vector<uint32_t> indices = GetAll(*data.train);
    const auto model = CreateObject<LogisticModel>();
    auto kernel = model->CreateKernel(MNIST);
    std::vector<float> w(kernel->GetDimension());
    FederatedRandom start(1);
    kernel->Initialize(start, w.data());
    std::vector<double> exact(w.begin(), w.end());
    FederatedRandom random(2);
    FederatedRandom same(2);
    const TrainingPlan plan{10, 10, 0.01};
    LocalTrainer<float> trainer(std::move(kernel), PixelScale::Standard());
    trainer.Train(*data.train, indices.data(), 600, plan, random, w.data());
    LocalTrainer<double> exactTrainer(model->CreateDoubleKernel(MNIST), PixelScale::Standard());
    exactTrainer.Train(*data.train, indices.data(), 600, plan, same, exact.data());
    for (std::size_t j = 0; j < w.size(); ++j)
    {
        ASSERT_NEAR(w[j], exact[j], 1e-5);
    }
}

TEST(LocalTrainer, TakesThePerceptronTo97PercentOnMnistInFiveEpochs)
{
    std::string error;
    const FederatedData data =
        FederatedData::LoadDirectory(FEDERATED_SOURCE_DIR "/data/mnist", error);
    if (!data.train)
    {
        GTEST_SKIP() << error << " `make data` gets MNIST.";
    }
    const auto model = CreateObject<MlpModel>();
    auto kernel = model->CreateKernel(MNIST);
    std::vector<float> w(kernel->GetDimension());
    FederatedRandom start(1, FederatedRandom::INITIAL_MODEL);
    kernel->Initialize(start, w.data());
    LocalTrainer<float> trainer(std::move(kernel), PixelScale::Unit());
    const std::vector<uint32_t> indices = GetAll(*data.train);
    WorkerPool pool;
    ModelEvaluator evaluator(*model, MNIST, PixelScale::Unit(), pool);
    double accuracy = 0;
    for (uint32_t epoch = 0; epoch < 5 && accuracy < 0.97; ++epoch)
    {
        FederatedRandom random(1, FederatedRandom::BATCHES, 0, epoch);
        trainer.Train(*data.train, indices.data(), 60000, {6000, 10, 0.1}, random, w.data());
        accuracy = evaluator.Evaluate(*data.test, w.data()).accuracy;
    }
    EXPECT_GE(accuracy, 0.97);
}

TEST(LearningRateSchedule, FollowsItsFormulas)
{
    EXPECT_DOUBLE_EQ(LearningRateSchedule::Decaying(0.1).At(1000), 0.1);
    EXPECT_DOUBLE_EQ(LearningRateSchedule::Decaying(0.1, 0.2).At(0), 0.1);
    EXPECT_DOUBLE_EQ(LearningRateSchedule::Decaying(0.1, 0.2).At(10), 0.1 / 3);
    EXPECT_DOUBLE_EQ(LearningRateSchedule::Theorem(5, 0.5).At(125), 8 / (5 * 0.5 * 125));
}
