// SPDX-License-Identifier: GPL-2.0-only

#include "ns3/model-evaluator.h"

#include "ns3/mlp-model.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace ns3;
using namespace ns3::federated;

namespace
{

constexpr SampleShape SHAPE{28, 28, 10}; //!< Shape of the samples.

/** 1000 synthetic samples and a model that has seen none of them. */
class ModelEvaluatorTest : public testing::Test
{
  protected:
    void SetUp() override
    {
        auto kernel = m_model->CreateKernel(SHAPE);
        m_w.resize(kernel->GetDimension());
        FederatedRandom random(1);
        kernel->Initialize(random, m_w.data());
    }

    /**
     * @param threads Number of threads.
     * @param limit How many samples at most.
     * @return the evaluation.
     */
    ModelEvaluator::Result Evaluate(std::size_t threads, std::size_t limit = 1000000)
    {
        WorkerPool pool(threads);
        ModelEvaluator evaluator(*m_model, SHAPE, PixelScale::Standard(), pool);
        return evaluator.Evaluate(*m_data.train, m_w.data(), limit);
    }

    FederatedData m_data = FederatedData::MakeSynthetic(3, 1000, 1); //!< The samples.
    Ptr<MlpModel> m_model = CreateObject<MlpModel>();                //!< The model.
    std::vector<float> m_w;                                          //!< Its parameters.
};

} // namespace

TEST_F(ModelEvaluatorTest, SameToTheLastBitForAnyNumberOfThreads)
{
    const ModelEvaluator::Result one = Evaluate(1);
    for (std::size_t threads : {2, 3, 7})
    {
        const ModelEvaluator::Result many = Evaluate(threads);
        EXPECT_EQ(many.loss, one.loss);
        EXPECT_EQ(many.accuracy, one.accuracy);
    }
}

TEST_F(ModelEvaluatorTest, EqualsTheMeanOverSingleSamples)
{
    auto kernel = m_model->CreateKernel(SHAPE);
    SampleGatherer<float> gatherer(PixelScale::Standard());
    double loss = 0;
    double correct = 0;
    for (uint32_t sample = 0; sample < 300; ++sample)
    {
        const auto batch = gatherer.Gather(*m_data.train, 1, [sample](auto) { return sample; });
        double sampleLoss;
        std::size_t hit;
        kernel->Evaluate(batch, m_w.data(), sampleLoss, hit);
        loss += sampleLoss;
        correct += static_cast<double>(hit);
    }
    const ModelEvaluator::Result result = Evaluate(2, 300);
    EXPECT_NEAR(result.loss, loss / 300, 1e-5);
    EXPECT_NEAR(result.accuracy, correct / 300, 1.5 / 300) << "one near tie may differ";
}

TEST_F(ModelEvaluatorTest, NoSamplesGiveZero)
{
    const ModelEvaluator::Result none = Evaluate(2, 0);
    EXPECT_EQ(none.loss, 0);
    EXPECT_EQ(none.accuracy, 0);
}

TEST_F(ModelEvaluatorTest, ModelOfZerosKnowsNothing)
{
    m_w.assign(m_w.size(), 0);
    const ModelEvaluator::Result result = Evaluate(2);
    EXPECT_NEAR(result.loss, std::log(10.0), 1e-6);
    EXPECT_DOUBLE_EQ(result.accuracy, 0.1) << "all are class 0, and classes take turns";
}

TEST_F(ModelEvaluatorTest, CanBeUsedAgainForOtherSizes)
{
    WorkerPool pool(2);
    ModelEvaluator evaluator(*m_model, SHAPE, PixelScale::Standard(), pool);
    const auto all = evaluator.Evaluate(*m_data.train, m_w.data());
    const auto few = evaluator.Evaluate(*m_data.train, m_w.data(), 10);
    EXPECT_EQ(few.loss, Evaluate(1, 10).loss);
    EXPECT_EQ(evaluator.Evaluate(*m_data.train, m_w.data()).loss, all.loss);
}
