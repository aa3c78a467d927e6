// SPDX-License-Identifier: GPL-2.0-only

// Models as scripts add them: in float only, and chosen by the name of their TypeId.

#include "ns3/cosine-inversion.h"
#include "ns3/dlg-inversion.h"
#include "ns3/double.h"
#include "ns3/federated-helper.h"
#include "ns3/federated-star-helper.h"
#include "ns3/linear-inversion.h"
#include "ns3/logistic-model.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/sample-gatherer.h"
#include "ns3/simple-model.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <numeric>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace ns3
{

// The whole model, as a script would have it: for each class k an image w_k; score k of x is x.w_k.
class TemplateModel : public SimpleModel
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId tid =
            TypeId("ns3::TemplateModel").SetParent<SimpleModel>().AddConstructor<TemplateModel>();
        return tid;
    }

  private:
    std::size_t DoGetDimension(const SampleShape& shape) const override
    {
        return shape.rows * shape.columns * shape.classes;
    }

    void DoComputeLogits(const Sample& x, const float* w, float* z) const override
    {
        for (std::size_t k = 0; k < x.shape.classes; ++k)
        {
            z[k] = std::inner_product(x.input, x.input + x.features, w + k * x.features, 0.0F);
        }
    }

    void DoAddGradient(const Sample& x, const float*, const float* delta, float* g) const override
    {
        for (std::size_t j = 0; j < x.features * x.shape.classes; ++j)
        {
            g[j] += delta[j / x.features] * x.input[j % x.features];
        }
    }
};

NS_OBJECT_ENSURE_REGISTERED(TemplateModel);

// A model with two mistakes: its scores are not numbers, and its gradient does not use them.
class NotANumberModel : public TemplateModel
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("ns3::NotANumberModel")
                                .SetParent<TemplateModel>()
                                .AddConstructor<NotANumberModel>();
        return tid;
    }

  private:
    void DoComputeLogits(const Sample& x, const float*, float* z) const override
    {
        std::fill_n(z, x.shape.classes, std::numeric_limits<float>::quiet_NaN());
    }

    void DoAddGradient(const Sample& x, const float*, const float*, float* g) const override
    {
        g[0] += x.input[0];
    }
};

NS_OBJECT_ENSURE_REGISTERED(NotANumberModel);

} // namespace ns3

using namespace ns3;

namespace
{

constexpr SampleShape SHAPE{6, 6, 4}; //!< Of the samples here.

/** A kernel in double without mixed derivatives. */
class PlainKernel : public ModelKernel<double>
{
  public:
    /** @param layers The layers. */
    explicit PlainKernel(std::vector<ModelLayer> layers)
        : ModelKernel<double>(std::move(layers), 36, 4)
    {
    }

  private:
    double DoAddGradient(const SampleBatch<double>&, const double*, double, double*) override
    {
        return 0;
    }

    const double* DoComputeLogits(const SampleBatch<double>&, const double* w) override
    {
        return w;
    }
};

/** A model that counts in double, but whose kernel has no mixed derivatives. */
class PlainModel : public TemplateModel
{
  private:
    std::unique_ptr<ModelKernel<double>> DoCreateDoubleKernel(const SampleShape&) const override
    {
        return std::make_unique<PlainKernel>(std::vector<ModelLayer>{{"all", 0, 148, 36, true}});
    }
};

/** A model that ignores the shape of the samples. */
class NarrowModel : public TemplateModel
{
  private:
    std::unique_ptr<ModelKernel<float>> DoCreateKernel(const SampleShape&) const override
    {
        return CreateObject<LogisticModel>()->CreateKernel({2, 2, 3});
    }
};

/** A federation of four devices with tiny images. */
class CustomModels : public testing::Test
{
  protected:
    void SetUp() override
    {
        RngSeedManager::SetSeed(1);
        RngSeedManager::SetRun(1);
    }

    void TearDown() override
    {
        Simulator::Destroy();
    }

    /**
     * Run 20 rounds.
     * @param model The model, as an attribute's text.
     * @param threads Threads that train.
     * @return the record of the last round.
     */
    RoundRecord Run(const std::string& model, uint32_t threads = 1)
    {
        Simulator::Destroy();
        const NodeContainer nodes(4);
        FederatedHelper federation;
        federation.SetAlgorithm("fedavg");
        federation.AddGroup(nodes, 4);
        federation.SetData(FederatedData::MakeSynthetic(1, 400, 200, 14, 14, 4));
        federation.SetTaskAttribute("Model", StringValue(model));
        federation.SetTaskAttribute("Threads", UintegerValue(threads));
        federation.SetCenterAttribute("Participants", UintegerValue(4));
        federation.SetDeviceAttribute("LearningRate", DoubleValue(1));
        federation.SetCenterAttribute("Rounds", UintegerValue(20));
        federation.SetCenterAttribute("BitBudget", StringValue("ns3::FixedBitBudget[Bits=1000]"));
        FederatedStarHelper star;
        star.SetTiers(0);
        star.Install(federation, CreateObject<Node>());
        federation.StopWhenFinished();
        Simulator::Run();
        std::ostringstream warnings;
        m_isMistake = federation.PrintWarnings(warnings);
        m_warnings = warnings.str();
        return federation.GetTraceWriter()->GetLastRound();
    }

    std::string m_warnings;   //!< Of the last run.
    bool m_isMistake = false; //!< Whether its exit code would be 1.
};

} // namespace

TEST_F(CustomModels, LearnInAFederationByTheNameOfTheirTypeId)
{
    const RoundRecord record = Run("ns3::TemplateModel");
    // Without its biases the module's own logistic regression is the same model: another start, the
    // same optimum. A gradient that were not used would leave the accuracy at a guess, 1/4.
    const RoundRecord reference = Run("ns3::LogisticModel[L2=0]");
    EXPECT_GT(record.testAccuracy, 0.8);
    EXPECT_NEAR(record.testAccuracy, reference.testAccuracy, 0.1);
    EXPECT_NEAR(record.trainLoss, reference.trainLoss, 0.2 * reference.trainLoss);
}

TEST_F(CustomModels, WithoutAFiniteLossEndWithASentence)
{
    EXPECT_GT(Run("ns3::TemplateModel").testAccuracy, 0);
    EXPECT_FALSE(m_isMistake) << m_warnings;
    EXPECT_EQ(m_warnings.find("finite"), std::string::npos) << m_warnings;
    EXPECT_EQ(Run("ns3::NotANumberModel").received, 4U);
    EXPECT_TRUE(m_isMistake);
    EXPECT_NE(m_warnings.find("The model has no finite loss"), std::string::npos) << m_warnings;
}

TEST_F(CustomModels, GiveTheSameResultOnAnyNumberOfThreads)
{
    const RoundRecord record = Run("ns3::TemplateModel");
    const RoundRecord again = Run("ns3::TemplateModel", 3);
    EXPECT_EQ(record.trainLoss, again.trainLoss);
    EXPECT_EQ(record.testAccuracy, again.testAccuracy);
}

TEST_F(CustomModels, HaveTheGradientOfTheirLoss)
{
    const auto data = FederatedData::MakeSynthetic(1, 5, 1, 6, 6, 4);
    const auto model = CreateObject<TemplateModel>();
    const auto kernel = model->CreateKernel(SHAPE);
    ASSERT_EQ(kernel->GetDimension(), 144U);
    SampleGatherer<float> gatherer(PixelScale::Unit());
    const auto batch = gatherer.Gather(
        *data.train, 5, [](std::size_t sample) { return static_cast<uint32_t>(sample); });
    std::vector<float> w(144);
    FederatedRandom random(1);
    kernel->Initialize(random, w.data());
    const auto loss = [&](const std::vector<float>& at)
    {
        double sum = 0;
        std::size_t correct = 0;
        kernel->Evaluate(batch, at.data(), sum, correct);
        return sum / 5;
    };
    std::vector<float> gradient(144, 0);
    EXPECT_NEAR(kernel->AddGradient(batch, w.data(), 2, gradient.data()), loss(w), 1e-5);
    for (std::size_t j = 0; j < w.size(); j += 7)
    {
        const float h = 0.01F;
        std::vector<float> left = w;
        std::vector<float> right = w;
        left[j] -= h;
        right[j] += h;
        EXPECT_NEAR((loss(right) - loss(left)) / (2 * h), gradient[j] / 2, 1e-3);
    }
    // In place, as training does it.
    std::vector<float> moved = w;
    kernel->AddGradient(batch, moved.data(), 2, moved.data());
    for (std::size_t j = 0; j < w.size(); ++j)
    {
        EXPECT_FLOAT_EQ(moved[j], w[j] + gradient[j]);
    }
}

TEST_F(CustomModels, AreRefusedByAttacksThatNeedMoreThanTheyHave)
{
    const auto floatOnly = CreateObject<TemplateModel>();
    const auto plain = CreateObject<PlainModel>();
    const auto dlg = CreateObject<DlgInversion>();
    const auto cosine = CreateObject<CosineInversion>();
    const auto linear = CreateObject<LinearInversion>();
    std::string error;
    EXPECT_FALSE(floatOnly->HasDoubleKernel(SHAPE));
    EXPECT_FALSE(dlg->IsApplicable(*floatOnly, SHAPE, error));
    EXPECT_EQ(error,
              "ns3::DlgInversion needs a model that counts in double, which ns3::TemplateModel is "
              "not.");
    EXPECT_FALSE(linear->IsApplicable(*floatOnly, SHAPE, error));

    EXPECT_TRUE(plain->HasDoubleKernel(SHAPE));
    EXPECT_FALSE(dlg->IsApplicable(*plain, SHAPE, error));
    EXPECT_EQ(error,
              "ns3::DlgInversion needs a model with mixed derivatives, which ns3::TemplateModel is "
              "not.");
    EXPECT_FALSE(cosine->IsApplicable(*plain, SHAPE, error));
    EXPECT_TRUE(linear->IsApplicable(*plain, SHAPE, error)) << "its one layer is fully connected";
}

TEST_F(CustomModels, MustFitTheSamples)
{
    const auto task = CreateObject<LearningTask>();
    task->SetData(FederatedData::MakeSynthetic(1, 20, 5, 6, 6, 4));
    task->SetGroups({2});
    task->SetModel(CreateObject<NarrowModel>());
    std::string error;
    EXPECT_FALSE(task->Prepare(error));
    EXPECT_EQ(
        error,
        "ns3::TemplateModel has 4 inputs and 3 classes, but the samples have 6 x 6 pixels and "
        "4 classes.");
    task->SetAttribute("Model", StringValue("ns3::TemplateModel"));
    EXPECT_TRUE(task->Prepare(error)) << error;
    EXPECT_EQ(task->GetDimension(), 144U);
}

using CustomModelsDeathTest = CustomModels;

TEST_F(CustomModelsDeathTest, StopAScriptWithASentence)
{
    EXPECT_DEATH(CreateObject<TemplateModel>()->CreateDoubleKernel(SHAPE),
                 "ns3::TemplateModel counts in float only");
    const auto attack = CreateObject<DlgInversion>();
    const auto kernel = CreateObject<PlainModel>()->CreateDoubleKernel(SHAPE);
    GradientObservation observation;
    observation.model.resize(kernel->GetDimension());
    observation.update.resize(kernel->GetDimension());
    FederatedRandom random(1);
    EXPECT_DEATH(attack->Reconstruct(observation, *kernel, SHAPE, random),
                 "ns3::DlgInversion needs a model with mixed derivatives");
    EXPECT_DEATH(PlainKernel({}), "the model has no parameters");
    EXPECT_DEATH(PlainKernel({{"first", 0, 4, 1}, {"second", 5, 4, 1}}),
                 "layer second has 4 parameters from 5 on; it must have some, from 4 on");
    EXPECT_DEATH(PlainKernel({{"first", 0, 4, 0}}), "layer first has no fan-in");
}
