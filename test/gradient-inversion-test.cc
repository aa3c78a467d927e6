// SPDX-License-Identifier: GPL-2.0-only

#include "ns3/boolean.h"
#include "ns3/cosine-inversion.h"
#include "ns3/dlg-inversion.h"
#include "ns3/double.h"
#include "ns3/federated-dataset.h"
#include "ns3/image-quality.h"
#include "ns3/lbfgs.h"
#include "ns3/lenet-model.h"
#include "ns3/linear-inversion.h"
#include "ns3/logistic-model.h"
#include "ns3/mlp-model.h"
#include "ns3/object-factory.h"
#include "ns3/sample-gatherer.h"
#include "ns3/uinteger.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

using namespace ns3;
using namespace ns3::federated;

namespace
{

constexpr SampleShape MNIST{28, 28, 10}; //!< The shape of MNIST.

/** @return images that need no file. */
const FederatedDataset&
GetImages()
{
    static const FederatedData data = FederatedData::MakeSynthetic(1, 40, 1);
    return *data.train;
}

/** A device that made one step on one image, as an attacker sees it. */
struct Victim
{
    Ptr<LearningModel> model;                    //!< The model.
    std::unique_ptr<ModelKernel<double>> kernel; //!< Its kernel.
    GradientObservation observation;             //!< What the attacker knows.
    std::vector<double> image;                   //!< The image.
    uint8_t label;                               //!< Its class.

    /**
     * @param learningModel The model.
     * @param sample Which image.
     */
    Victim(const Ptr<LearningModel>& learningModel, uint32_t sample)
        : model(learningModel),
          kernel(model->CreateDoubleKernel(MNIST)),
          label(GetImages().GetLabel(sample))
    {
        SampleGatherer<float> gatherer(PixelScale::Unit());
        const auto batch =
            gatherer.Gather(GetImages(), 1, [sample](std::size_t) { return sample; });
        image.assign(batch.inputs, batch.inputs + batch.features);
        const auto device = model->CreateKernel(MNIST);
        observation.model.resize(device->GetDimension());
        observation.update.resize(device->GetDimension());
        FederatedRandom random(3, FederatedRandom::INITIAL_MODEL, 0, sample);
        device->Initialize(random, observation.model.data());
        device->AddGradient(batch, observation.model.data(), -0.1F, observation.update.data());
    }

    /**
     * @param attack An attack.
     * @param watcher Looks at its iterations.
     * @return what it finds.
     */
    InversionResult Attack(const GradientInversion& attack,
                           const GradientInversion::Watcher& watcher = nullptr)
    {
        FederatedRandom random(5, FederatedRandom::GENERAL, label);
        return attack.Reconstruct(observation, *kernel, MNIST, random, watcher);
    }

    /**
     * @param result What an attack found.
     * @return its similarity to the image.
     */
    double GetSsim(const InversionResult& result) const
    {
        return ImageQuality::Compare(image, result.image, MNIST.rows, MNIST.columns).ssim;
    }
};

/** @return LeNet as the attack's authors start it. */
Ptr<LearningModel>
MakeLeNet()
{
    return CreateObjectWithAttributes<LeNetModel>("InitialRange", DoubleValue(0.5));
}

/** @return whether every value is finite. */
bool
IsFinite(const std::vector<double>& values)
{
    return std::all_of(values.begin(), values.end(), [](double x) { return std::isfinite(x); });
}

/**
 * Attack with DLG, few iterations.
 * @param iterations Outer iterations.
 * @param inferLabel Whether it is iDLG.
 * @return the attack.
 */
Ptr<DlgInversion>
MakeDlg(uint32_t iterations, bool inferLabel = false)
{
    return CreateObjectWithAttributes<DlgInversion>(
        "Iterations", UintegerValue(iterations), "InferLabel", BooleanValue(inferLabel));
}

} // namespace

TEST(GradientInversion, DlgRecoversMostImagesAndLabelsFromExactUpdates)
{
    // Without a line search it may fail from an unlucky start: a fifth of its runs on MNIST do.
    int found = 0;
    for (uint32_t sample = 0; sample < 6; ++sample)
    {
        Victim victim(MakeLeNet(), sample);
        const InversionResult result = victim.Attack(*MakeDlg(60));
        found += victim.GetSsim(result) > 0.99 && result.label == victim.label;
        EXPECT_TRUE(IsFinite(result.image));
        EXPECT_GE(result.outerIterations, 1U);
        EXPECT_LE(result.outerIterations, 60U);
        EXPECT_LE(result.innerIterations, 20 * result.outerIterations);
        EXPECT_GE(result.evaluations, result.outerIterations);
    }
    EXPECT_GE(found, 4);
}

TEST(GradientInversion, LabelOfEveryClassIsInferredFromTheLastLayer)
{
    const auto cosine = CreateObjectWithAttributes<CosineInversion>("Iterations", UintegerValue(1));
    for (uint32_t sample = 0; sample < 10; ++sample)
    {
        for (const Ptr<LearningModel>& model :
             {MakeLeNet(), Ptr<LearningModel>(CreateObject<MlpModel>())})
        {
            Victim victim(model, sample);
            EXPECT_EQ(victim.Attack(*MakeDlg(1, true)).label, victim.label);
            EXPECT_EQ(victim.Attack(*cosine).label, victim.label);
        }
    }
}

TEST(GradientInversion, CosineRecoversAnImageInsideTheBox)
{
    for (bool signs : {false, true})
    {
        Victim victim(MakeLeNet(), 2);
        const auto attack =
            CreateObjectWithAttributes<CosineInversion>("Signed", BooleanValue(signs));
        const InversionResult result = victim.Attack(*attack);
        // The synthetic images are speckled, which their total variation speaks against.
        EXPECT_GT(victim.GetSsim(result), 0.6);
        EXPECT_EQ(result.label, victim.label);
        EXPECT_EQ(result.innerIterations, 600U);
        EXPECT_GE(*std::min_element(result.image.begin(), result.image.end()), 0);
        EXPECT_LE(*std::max_element(result.image.begin(), result.image.end()), 1);
    }
}

TEST(GradientInversion, AWatcherSeesTheStartAndTheImageAfterEachIteration)
{
    const auto cosine = CreateObjectWithAttributes<CosineInversion>("Iterations", UintegerValue(3));
    for (const Ptr<GradientInversion>& attack :
         {Ptr<GradientInversion>(MakeDlg(3)), Ptr<GradientInversion>(cosine)})
    {
        Victim victim(MakeLeNet(), 2);
        const InversionResult unwatched = victim.Attack(*attack);
        std::vector<uint32_t> iterations;
        std::vector<std::vector<double>> images;
        const auto watcher = [&](uint32_t iteration, const std::vector<double>& image)
        {
            iterations.push_back(iteration);
            images.push_back(image);
        };
        const InversionResult watched = victim.Attack(*attack, watcher);
        EXPECT_EQ(watched.image, unwatched.image);
        EXPECT_EQ(iterations, (std::vector<uint32_t>{0, 1, 2, 3}));
        EXPECT_EQ(images.back(), watched.image);
        EXPECT_NE(images[0], images[1]);
        EXPECT_EQ(images[0].size(), victim.image.size());
    }
}

TEST(GradientInversion, AnAttackInClosedFormHasNoIterationsToWatch)
{
    int calls = 0;
    Victim victim(CreateObject<MlpModel>(), 2);
    victim.Attack(*CreateObject<LinearInversion>(),
                  [&](uint32_t, const std::vector<double>&) { ++calls; });
    EXPECT_EQ(calls, 0);
}

TEST(GradientInversion, ScaleOfTheUpdateIsKnown)
{
    // Clipping, the learning rate and the number of steps scale the update by powers of two, so
    // that nothing is rounded: the attacks must find the very same image.
    Victim victim(MakeLeNet(), 1);
    const auto attack = MakeDlg(2);
    const InversionResult expected = victim.Attack(*attack);
    for (float& value : victim.observation.update)
    {
        value *= 0.25F * 2 * 4;
    }
    victim.observation.clipFactor = 0.25;
    victim.observation.learningRate *= 2;
    victim.observation.steps = 4;
    const InversionResult actual = victim.Attack(*attack);
    EXPECT_EQ(actual.image, expected.image);
    EXPECT_EQ(actual.label, expected.label);
}

TEST(GradientInversion, ErasedCoordinatesHaveNoInfluence)
{
    const auto cosine =
        CreateObjectWithAttributes<CosineInversion>("Iterations", UintegerValue(20));
    const auto linear = CreateObject<LinearInversion>();
    for (const Ptr<GradientInversion>& attack : {Ptr<GradientInversion>(MakeDlg(2)),
                                                 Ptr<GradientInversion>(MakeDlg(2, true)),
                                                 Ptr<GradientInversion>(cosine),
                                                 Ptr<GradientInversion>(linear)})
    {
        const bool dense = attack == linear;
        Victim victim(dense ? Ptr<LearningModel>(CreateObject<MlpModel>()) : MakeLeNet(), 3);
        auto& observation = victim.observation;
        const InversionResult whole = victim.Attack(*attack);
        FederatedRandom random(9);
        for (std::size_t j = 0; j < observation.update.size(); ++j)
        {
            observation.captured.push_back(random.Uniform() < 0.7);
        }
        const InversionResult expected = victim.Attack(*attack);
        if (!dense) // which is exact from any part
        {
            EXPECT_NE(expected.image, whole.image);
        }
        for (std::size_t j = 0; j < observation.update.size(); ++j)
        {
            if (!observation.captured[j])
            {
                observation.update[j] = 1e30F;
            }
        }
        EXPECT_EQ(victim.Attack(*attack).image, expected.image);
        // What is not a number was not captured.
        for (std::size_t j = 0; j < observation.update.size(); ++j)
        {
            if (!observation.captured[j])
            {
                observation.update[j] = j % 2 == 0 ? std::numeric_limits<float>::quiet_NaN()
                                                   : -std::numeric_limits<float>::infinity();
            }
        }
        observation.captured.clear();
        EXPECT_EQ(victim.Attack(*attack).image, expected.image);
    }
}

TEST(GradientInversion, HalfOfAnExactUpdateIsEnoughForAnImage)
{
    Victim victim(MakeLeNet(), 4);
    FederatedRandom random(9);
    for (std::size_t j = 0; j < victim.observation.update.size(); ++j)
    {
        victim.observation.captured.push_back(random.Uniform() < 0.5);
    }
    const auto attack = CreateObject<CosineInversion>();
    EXPECT_GT(victim.GetSsim(victim.Attack(*attack)), 0.6);
}

TEST(GradientInversion, NothingCapturedOrNotANumberStillGivesAFiniteImage)
{
    for (bool brokenModel : {false, true})
    {
        Victim victim(MakeLeNet(), 0);
        if (brokenModel)
        {
            victim.observation.model[100] = std::numeric_limits<float>::quiet_NaN();
        }
        else
        {
            victim.observation.captured.assign(victim.observation.update.size(), false);
        }
        const auto cosine =
            CreateObjectWithAttributes<CosineInversion>("Iterations", UintegerValue(5));
        for (const Ptr<GradientInversion>& attack :
             {Ptr<GradientInversion>(MakeDlg(3)), Ptr<GradientInversion>(cosine)})
        {
            const InversionResult result = victim.Attack(*attack);
            EXPECT_EQ(result.image.size(), 784U);
            EXPECT_TRUE(IsFinite(result.image));
            EXPECT_EQ(result.diverged, brokenModel);
        }
    }
}

TEST(GradientInversion, LinearAttackIsExactForOneSample)
{
    for (const Ptr<LearningModel>& model :
         {Ptr<LearningModel>(CreateObject<MlpModel>()),
          Ptr<LearningModel>(CreateObjectWithAttributes<LogisticModel>("L2", DoubleValue(0)))})
    {
        for (uint32_t sample = 0; sample < 10; ++sample)
        {
            Victim victim(model, sample);
            const InversionResult result = victim.Attack(*CreateObject<LinearInversion>());
            EXPECT_GT(victim.GetSsim(result), 0.999);
            EXPECT_EQ(result.label, victim.label);
            for (std::size_t i = 0; i < result.image.size(); ++i)
            {
                ASSERT_NEAR(result.image[i], victim.image[i], 1e-5);
            }
        }
    }
}

TEST(GradientInversion, LinearAttackToleratesNoise)
{
    Victim victim(CreateObject<MlpModel>(), 1);
    double square = 0;
    for (float value : victim.observation.update)
    {
        square += double{value} * value;
    }
    // Uniform noise at 20 dB below the update.
    const double width = std::sqrt(12 * square / victim.observation.update.size() / 100);
    FederatedRandom random(2);
    for (float& value : victim.observation.update)
    {
        value += static_cast<float>(width * (random.Uniform() - 0.5));
    }
    const InversionResult result = victim.Attack(*CreateObject<LinearInversion>());
    EXPECT_GT(victim.GetSsim(result), 0.8);
    EXPECT_EQ(result.label, victim.label);
}

TEST(GradientInversion, LinearAttackNeedsAFullyConnectedFirstLayer)
{
    const auto linear = CreateObject<LinearInversion>();
    std::string error;
    EXPECT_TRUE(linear->IsApplicable(*CreateObject<MlpModel>(), MNIST, error)) << error;
    EXPECT_FALSE(linear->IsApplicable(*MakeLeNet(), MNIST, error));
    EXPECT_EQ(error,
              "ns3::LinearInversion needs a model whose first layer is fully connected, which "
              "ns3::LeNetModel is not.");
    EXPECT_TRUE(MakeDlg(1)->IsApplicable(*MakeLeNet(), MNIST, error));
    // A convolution that happens to see a whole image of 5 x 5.
    EXPECT_FALSE(linear->IsApplicable(*MakeLeNet(), {5, 5, 3}, error));
}

TEST(GradientInversion, EqualStreamsGiveEqualResultsWhereverTheNumbersAre)
{
    Victim victim(MakeLeNet(), 5);
    const auto attack = MakeDlg(5);
    const InversionResult expected = victim.Attack(*attack);
    std::vector<std::vector<char>> inTheWay;
    for (std::size_t size = 1; size < 200; size += 24)
    {
        inTheWay.emplace_back(size); // moves what is allocated next
        Victim other(MakeLeNet(), 5);
        EXPECT_EQ(other.Attack(*attack).image, expected.image);
    }
}

TEST(Lbfgs, FollowsTheOptimizerThatTheAuthorsUsed)
{
    // Golden values: torch.optim.LBFGS(lr=0.5, history_size=3, max_iter=7), PyTorch 1.13, double.
    const auto objective = [](const std::vector<double>& x, std::vector<double>& gradient)
    {
        double value = std::sin(x[0] * x[1] * x[2]);
        for (std::size_t i = 0; i < x.size(); ++i)
        {
            const double c = static_cast<double>(i) + 1;
            value += c * std::pow(x[i] - 0.3, 2) + std::pow(x[i], 4);
            gradient[i] = 2 * c * (x[i] - 0.3) + 4 * std::pow(x[i], 3);
        }
        const double slope = std::cos(x[0] * x[1] * x[2]);
        gradient[0] += slope * x[1] * x[2];
        gradient[1] += slope * x[0] * x[2];
        gradient[2] += slope * x[0] * x[1];
        return value;
    };
    const std::vector<std::vector<double>> golden{
        {0.371648325967119,
         0.0170598305423987,
         0.452232466413605,
         0.28291119533565,
         0.27113695968587},
        {0.238626569484907,
         0.263936525403857,
         0.276852270987374,
         0.288013636191802,
         0.29024380443963},
        {0.236909998395378,
         0.265054820190746,
         0.275587318192187,
         0.28804962888577,
         0.290221365135899},
    };
    const std::vector<uint32_t> steps{7, 14, 21, 22, 23, 24}; // then its tolerances stop it
    std::vector<double> x{0.7, -1.2, 2.0, 0.1, -0.4};
    Lbfgs optimizer(x.size(), 3, 0.5);
    for (std::size_t run = 0; run < steps.size(); ++run)
    {
        EXPECT_TRUE(optimizer.Run(objective, 7, x));
        EXPECT_EQ(optimizer.GetSteps(), steps[run]);
        EXPECT_EQ(optimizer.GetEvaluations(), steps[run]);
        for (std::size_t i = 0; i < x.size(); ++i)
        {
            EXPECT_NEAR(x[i], golden[std::min<std::size_t>(run, 2)][i], 1e-11);
        }
    }
    EXPECT_NEAR(optimizer.GetObjective(), 0.0543972097562428, 1e-12);
}

TEST(Lbfgs, ReturnsToTheLastFinitePoint)
{
    int calls = 0;
    std::vector<double> last;
    const auto objective = [&](const std::vector<double>& x, std::vector<double>& gradient)
    {
        gradient[0] = 2 * x[0];
        if (++calls == 3)
        {
            return std::numeric_limits<double>::quiet_NaN();
        }
        last = x;
        return x[0] * x[0];
    };
    std::vector<double> x{10};
    Lbfgs optimizer(1, 10, 0.01);
    EXPECT_FALSE(optimizer.Run(objective, 20, x));
    EXPECT_EQ(calls, 3);
    EXPECT_EQ(x, last);
    EXPECT_EQ(optimizer.GetObjective(), x[0] * x[0]);
}

TEST(Lbfgs, StaysWhereTheGradientIsZero)
{
    const auto objective = [](const std::vector<double>&, std::vector<double>& gradient)
    {
        gradient.assign(2, 0.0);
        return 1.0;
    };
    std::vector<double> x{1, 2};
    Lbfgs optimizer(2, 10, 1);
    EXPECT_TRUE(optimizer.Run(objective, 20, x));
    EXPECT_EQ(x, (std::vector<double>{1, 2}));
    EXPECT_EQ(optimizer.GetSteps(), 0U);
}
