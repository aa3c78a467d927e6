// SPDX-License-Identifier: GPL-2.0-only

/*
 * Gradient inversion: rebuilds the image that an update was computed from.
 *
 *   image, label -> gradient g at w -> v = -0.1 g -> l1 clip -> interval -> quantizer -> decoder
 *   -> the attack knows w, the decoded v, the learning rate and the clip factor -> image', label'
 *
 * Each of --nets random models gives an update for each of --images training images of its own. (No
 * image is used twice: how well an attack works depends more on the image than on the model.) LeNet
 * starts uniform in plus or minus 0.5, as in the paper of the attack. Equal RngRun gives equal
 * nets, images and starts for every quantizer, interval and attack, for any number of threads.
 *
 * PREFIX.csv has a row an attack:
 *   net, image, sample    the attack, and the index of the image in the training set
 *   label, found_label    the class, and the one that the attack found
 *   ssim, psnr_db, mse    the found image against the true one, both clipped to [0, 1]
 *   update_snr_db         |v|^2 / |decoded v - v|^2 after clipping
 *   clip_factor           factor by which clipping scaled the update
 *   objective, outer_iterations, inner_iterations, diverged     how the search ended
 *   ssim_N                of what was found after N iterations, a column for each of --record;
 *                         after a search has diverged, of its last image
 * PREFIX.png shows the images, for each net the true ones above those after the recorded iterations
 * and the found ones.
 *
 *   federated-attack --quantizer=dp --interval=min-max --attack=dlg --output=results/attack
 */

#include "ns3/contact-sheet.h"
#include "ns3/double.h"
#include "ns3/federated-attack-options.h"
#include "ns3/federated-command-line.h"
#include "ns3/federated-dataset.h"
#include "ns3/federated-learning-options.h"
#include "ns3/federated-number.h"
#include "ns3/federated-output-file.h"
#include "ns3/federated-result-line.h"
#include "ns3/federated-streams.h"
#include "ns3/gradient-inversion.h"
#include "ns3/image-quality.h"
#include "ns3/interval-rule.h"
#include "ns3/learning-model.h"
#include "ns3/quantizer.h"
#include "ns3/random-variable-stream.h"
#include "ns3/sample-gatherer.h"
#include "ns3/uinteger.h"
#include "ns3/update-preparation.h"
#include "ns3/worker-pool.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <iostream>
#include <limits>
#include <vector>

using namespace ns3;

namespace
{

const double LEARNING_RATE = 0.1;

/** What the attacks share; worker threads only read it. */
struct Setting
{
    const LearningModel* model;      //!< The model.
    const Quantizer* quantizer;      //!< The quantizer of the update.
    const IntervalRule* interval;    //!< Where its levels are.
    const GradientInversion* attack; //!< The attack.
    const FederatedDataset* data;    //!< Training images.
    SampleShape shape;               //!< Their size and classes.
    uint32_t bits;                   //!< Resolution.
    double clip;                     //!< Bound of the l1 norm.
    double capture;                  //!< Probability that a coordinate is captured.
    uint64_t seed;                   //!< For every draw.
    std::vector<uint32_t> record;    //!< Iterations to record, ascending.
};

/** One attack. */
struct Attack
{
    uint32_t net;                         //!< Which random model.
    uint32_t image;                       //!< Which image.
    uint32_t sample;                      //!< Its index in the training set.
    double clipFactor;                    //!< Factor by which clipping scaled the update.
    double snrDb;                         //!< Of the update.
    std::vector<double> truth;            //!< The true image.
    InversionResult found;                //!< What was found.
    ImageQuality quality;                 //!< How close that is.
    std::vector<std::vector<double>> way; //!< The images after the iterations to record.
};

/** @return how close an image is to the true one of an attack. */
ImageQuality
Compare(const Setting& setting, const Attack& attack, const std::vector<double>& image)
{
    return ImageQuality::Compare(attack.truth, image, setting.shape.rows, setting.shape.columns);
}

/** Compute, clip, quantize and decode an update, then attack it. */
void
Run(const Setting& setting, Attack& attack)
{
    // The device computes in float, as in training.
    const auto device = setting.model->CreateKernel(setting.shape);
    const std::size_t d = device->GetDimension();
    GradientObservation observation;
    observation.learningRate = LEARNING_RATE;
    observation.model.resize(d);
    FederatedRandom start(setting.seed, FederatedRandom::INITIAL_MODEL, 0, attack.net);
    device->Initialize(start, observation.model.data());
    SampleGatherer<float> gatherer(PixelScale::Unit());
    const auto batch =
        gatherer.Gather(*setting.data, 1, [&attack](std::size_t) { return attack.sample; });
    attack.truth.assign(batch.inputs, batch.inputs + batch.features);
    std::vector<float> update(d, 0);
    device->AddGradient(batch, observation.model.data(), -LEARNING_RATE, update.data());
    std::vector<std::size_t> layerEnds;
    for (const ModelLayer& layer : device->GetLayers())
    {
        layerEnds.push_back(layer.begin + layer.size);
    }
    const UpdateSettings settings{
        CLIP_L1, setting.clip, setting.interval, setting.quantizer, setting.bits, false};
    FederatedRandom coins(setting.seed, FederatedRandom::QUANTIZE, attack.image, attack.net);
    PreparedUpdate prepared;
    PrepareUpdate(settings, layerEnds, coins, update, prepared);
    attack.clipFactor = prepared.clipFactor;
    observation.clipFactor = prepared.clipFactor;
    if (prepared.valid)
    {
        observation.update = RecoverUpdate(settings, prepared, d);
    }
    else
    {
        observation.update.resize(d);
        observation.captured.assign(d, false); // an update that is not valid is not sent
    }
    double signal = 0;
    double noise = 0;
    for (std::size_t j = 0; j < d; ++j)
    {
        signal += double{update[j]} * update[j];
        noise += std::pow(double{observation.update[j]} - update[j], 2);
    }
    attack.snrDb = 10 * std::log10(signal / noise);
    FederatedRandom erasures(setting.seed, FederatedRandom::LINK_NOISE, attack.image, attack.net);
    while (setting.capture < 1 && observation.captured.size() < d)
    {
        observation.captured.push_back(erasures.Uniform() < setting.capture);
    }

    const auto kernel = setting.model->CreateDoubleKernel(setting.shape);
    FederatedRandom random(setting.seed, FederatedRandom::GENERAL, attack.image, attack.net);
    const auto record = [&](uint32_t iteration, const std::vector<double>& image)
    {
        const std::size_t next = attack.way.size();
        if (next < setting.record.size() && setting.record[next] == iteration)
        {
            attack.way.push_back(image);
        }
    };
    attack.found = setting.attack->Reconstruct(observation, *kernel, setting.shape, random, record);
    attack.way.resize(setting.record.size(), attack.found.image); // a search that diverged
    attack.quality = Compare(setting, attack, attack.found.image);
}

/** @return what is wrong with a list of iterations to record, or nothing. */
std::string
ReadRecord(const std::string& text, std::vector<uint32_t>& record)
{
    const bool isList = FederatedNumber::ReadCounts<uint32_t>(text, 0, 1000000, record);
    return isList && std::adjacent_find(record.begin(), record.end(), std::greater_equal<>()) ==
                         record.end()
               ? ""
               : "is not a list of ascending iterations such as 0,20,40";
}

/** The value below which a fraction of the values lies, interpolated between neighbors. */
double
GetQuantile(std::vector<double> values, double fraction)
{
    std::sort(values.begin(), values.end());
    const double place = fraction * static_cast<double>(values.size() - 1);
    const auto below = static_cast<std::size_t>(place);
    const std::size_t above = std::min(below + 1, values.size() - 1);
    return values[below] + (place - static_cast<double>(below)) * (values[above] - values[below]);
}

} // namespace

int
main(int argc, char* argv[])
{
    std::string data = "data/mnist";
    FederatedAttackOptions options;
    double capture = 1;
    std::string modelName = "auto";
    uint32_t nets = 3;
    uint32_t images = 8;
    uint32_t threads = 0;
    std::string recordText;
    std::vector<uint32_t> record;
    std::string output = "federated-attack";

    FederatedCommandLine cmd(__FILE__, "Gradient inversion against quantized updates.");
    cmd.AddData(data);
    options.Add(cmd);
    cmd.AddReal("capture", "Probability that a coordinate is captured", capture, 0, 1);
    cmd.AddText("model",
                "Model: auto (mlp for the linear attack, lenet for the others), lenet, logistic, "
                "mlp or mlp:H with hidden layers such as 200",
                modelName,
                [](const std::string& text)
                {
                    const std::string error = FederatedLearningOptions::CheckModel(text);
                    return text == "auto" || error.empty() ? "" : "is not auto and " + error;
                });
    cmd.AddCount("nets", "Random models", nets, 1, 1000);
    cmd.AddCount("images", "Training images of each of them", images, 1, 1000);
    cmd.AddText("record",
                "Iterations after which the image is recorded, as 0,20,40",
                recordText,
                [&record](const std::string& text) { return ReadRecord(text, record); });
    cmd.AddCount("threads", "Worker threads; 0 is one a core", threads, 0, 256);
    cmd.AddOutput(output);
    cmd.ParseOrExit(argc, argv);

    options.ReadOrExit(cmd);
    if (modelName == "auto")
    {
        modelName = options.attack == "linear" ? "mlp" : "lenet";
    }
    std::string error;
    const FederatedData loaded = FederatedData::LoadDirectory(data, error);
    cmd.Require(loaded.train != nullptr, error);
    const FederatedDataset& train = *loaded.train;
    const SampleShape shape{train.GetRows(), train.GetColumns(), train.GetClasses()};

    // What is attacked: a model at its random start, where gradients tell most of the image.
    const auto model = FederatedLearningOptions::MakeModel(modelName, error);
    if (modelName == "lenet")
    {
        model->SetAttribute("InitialRange", DoubleValue(0.5));
    }
    const auto quantizer = options.MakeQuantizer(model->CreateKernel(shape)->GetDimension());
    const auto interval = options.MakeInterval();
    const auto attack = options.MakeAttack();
    const bool isApplicable = attack->IsApplicable(*model, shape, error);
    cmd.Require(isApplicable,
                "--attack=" + options.attack + " does not work on --model=" + modelName + ": " +
                    error);
    UintegerValue iterations;
    cmd.Require(record.empty() || (attack->GetAttributeFailSafe("Iterations", iterations) &&
                                   record.back() <= iterations.Get()),
                "--record=" + recordText + " has more iterations than --attack=" + options.attack +
                    ".");
    cmd.Require(std::size_t{nets} * images <= train.GetSize(),
                "--nets=" + std::to_string(nets) + " times --images=" + std::to_string(images) +
                    " is more than the data has.");

    // One seed from an ns-3 stream, so that --RngRun selects models, images and starts. Everything
    // else is drawn from it by purpose, which does not depend on the number of threads.
    auto stream = CreateObject<UniformRandomVariable>();
    stream->SetStream(FederatedStreams::TOOL);
    const uint64_t seed = stream->GetInteger(0, FederatedRandom::max());
    std::vector<uint32_t> samples(train.GetSize());
    for (uint32_t i = 0; i < samples.size(); ++i)
    {
        samples[i] = i;
    }
    FederatedRandom selection(seed, FederatedRandom::SELECTION);
    selection.Shuffle(samples);

    const Setting setting{PeekPointer(model),
                          PeekPointer(quantizer),
                          PeekPointer(interval),
                          PeekPointer(attack),
                          &train,
                          shape,
                          options.bits,
                          options.clip,
                          capture,
                          seed,
                          record};
    FederatedOutputFile table(output + ".csv");
    FederatedOutputFile picture(output + ".png");
    table.GetStream() << "net,image,sample,label,found_label,ssim,psnr_db,mse,update_snr_db,"
                         "clip_factor,objective,outer_iterations,inner_iterations,diverged";
    for (uint32_t iteration : record)
    {
        table.GetStream() << ",ssim_" << iteration;
    }
    table.GetStream() << '\n';
    cmd.Require(table.Flush(error) && picture.Flush(error), error);
    std::vector<Attack> attacks(std::size_t{nets} * images);
    std::atomic<std::size_t> done{0};
    federated::WorkerPool pool(threads);
    pool.ParallelFor(attacks.size(),
                     [&](std::size_t index, std::size_t)
                     {
                         Attack& one = attacks[index];
                         one.net = static_cast<uint32_t>(index / images);
                         one.image = static_cast<uint32_t>(index % images);
                         one.sample = samples[index];
                         Run(setting, one);
                         std::cerr << std::to_string(++done) + " of " +
                                          std::to_string(attacks.size()) + " attacks: net " +
                                          std::to_string(one.net) + ", image " +
                                          std::to_string(one.image) + ", SSIM " +
                                          std::to_string(one.quality.ssim) + "\n";
                     });

    ContactSheet sheet(shape.rows, shape.columns, (2 + record.size()) * nets, images);
    std::vector<double> similarities;
    std::vector<std::vector<double>> recorded(record.size());
    double labels = 0;
    double above = 0;
    double snr = 0;
    double diverged = 0;
    for (const Attack& one : attacks)
    {
        const uint32_t label = train.GetLabel(one.sample);
        table.GetStream() << one.net << ',' << one.image << ',' << one.sample << ',' << label << ','
                          << +one.found.label << ',' << one.quality.ssim << ',' << one.quality.psnr
                          << ',' << one.quality.mse << ',' << one.snrDb << ',' << one.clipFactor
                          << ',' << one.found.objective << ',' << one.found.outerIterations << ','
                          << one.found.innerIterations << ',' << one.found.diverged;
        const std::size_t row = (2 + record.size()) * one.net;
        sheet.SetImage(row, one.image, one.truth);
        for (std::size_t i = 0; i < record.size(); ++i)
        {
            recorded[i].push_back(Compare(setting, one, one.way[i]).ssim);
            table.GetStream() << ',' << recorded[i].back();
            sheet.SetImage(row + 1 + i, one.image, one.way[i]);
        }
        table.GetStream() << '\n';
        sheet.SetImage(row + 1 + record.size(), one.image, one.found.image);
        similarities.push_back(one.quality.ssim);
        labels += label == one.found.label;
        above += one.quality.ssim > 0.5;
        snr += one.snrDb;
        diverged += one.found.diverged;
    }
    sheet.WritePng(picture.GetStream());
    cmd.Require(picture.Flush(error) && table.Commit(error) && picture.Commit(error), error);
    const auto count = static_cast<double>(attacks.size());
    FederatedResultLine result;
    result.AddCount("attacks", attacks.size());
    result.AddReal("median_ssim", GetQuantile(similarities, 0.5));
    result.AddReal("lower_quartile_ssim", GetQuantile(similarities, 0.25));
    result.AddReal("upper_quartile_ssim", GetQuantile(similarities, 0.75));
    result.AddReal("fraction_above_half", above / count);
    result.AddReal("label_accuracy", labels / count);
    result.AddReal("update_snr_db", snr / count);
    result.AddReal("diverged", diverged / count);
    for (std::size_t i = 0; i < record.size(); ++i)
    {
        result.AddReal("median_ssim_" + std::to_string(record[i]), GetQuantile(recorded[i], 0.5));
    }
    return cmd.Finish(result);
}
