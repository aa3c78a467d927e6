// SPDX-License-Identifier: GPL-2.0-only

/*
 * An eavesdropper in a wifi cell rebuilds training images from the frames that its radio decoded.
 *
 *     center  <--- radius --->  devices  <--- distance --->  eavesdropper
 *        )))    w, MCS 0          (((   v, MCS 3    )))
 *
 * All devices are at one place, at the same distance from an eavesdropper. Several eavesdroppers
 * are on a circle around the devices and share what they captured. The cell is ad hoc: frames are
 * group-addressed and never retransmitted by a radio, so that loss grows with distance. The model
 * is LeNet with weights uniform in plus or minus 0.5. One round is run twice: each device trains
 * one step on one image, or ten steps on ten images each. The attack knows what was captured, w and
 * the update with gaps, and also the learning rate and the clip factor. It rotates updates of
 * --rotation back, with zeros in the gaps. Equal RngRun gives equal weights, images and starts for
 * every quantizer and distance.
 *
 * PREFIX.csv has a row for each distance and each of both:
 *   distance_m, quantizer, bits, interval, epsilon, attack, encrypted    as given
 *   steps, batch        local training
 *   sniffers, attacks   number of eavesdroppers, and of attacked updates
 *   captured            fraction of the coordinates of updates that all eavesdroppers captured
 *                       together
 *   captured_one        the same, of the eavesdropper that captured most
 *   captured_model      the same, of the model
 *   frame_loss, snr_db  of the frames of devices at the first eavesdropper, decoded or not
 *   messages_unread     encrypted messages, of which only size and time are known
 *   ssim_q1, ssim_median, ssim_q3    of the found image and the most similar training image of the
 *                       device; 0 if nothing was captured
 *   label_accuracy      of the label of that image
 *   claim, epsilon_update, epsilon_zcdp    the claim of the privacy ledger, for any eavesdropper:
 *                       none, same-cell, true or zcdp; the epsilon of an update, all its
 *                       coordinates added up; and its epsilon at delta = 1e-5
 *
 *   federated-eavesdropper --distance=1,30,60 --quantizer=dp --output=results/eavesdropper
 */

#include "ns3/constant-position-mobility-model.h"
#include "ns3/double.h"
#include "ns3/eavesdropper.h"
#include "ns3/federated-attack-options.h"
#include "ns3/federated-command-line.h"
#include "ns3/federated-helper.h"
#include "ns3/federated-number.h"
#include "ns3/federated-output-file.h"
#include "ns3/federated-result-line.h"
#include "ns3/federated-scenario-options.h"
#include "ns3/federated-wifi-helper.h"
#include "ns3/image-quality.h"
#include "ns3/lenet-model.h"
#include "ns3/pointer.h"
#include "ns3/privacy-ledger.h"
#include "ns3/public-rotation.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"
#include "ns3/wifi-link-probe.h"
#include "ns3/worker-pool.h"

#include <algorithm>
#include <cmath>
#include <iostream>
#include <limits>
#include <vector>

using namespace ns3;

namespace
{

const double LEARNING_RATE = 0.1; // of the profile literal
const double PI = 3.14159265358979323846;

/** The options, and what follows from them. */
struct Setting
{
    FederatedAttackOptions options;
    uint32_t devices = 4;
    uint32_t nets = 1;
    uint32_t sniffers = 1;
    double radius = 10;
    ObjectFactory fading;
    uint32_t mcs = 3;
    bool encrypt = false;
    bool rotation = false;
    bool interleave = false;
    FederatedData data;
    Ptr<LearningModel> model;
    SampleShape shape;
    std::size_t dimension = 0;
};

/** An update that was attacked. */
struct Victim
{
    GradientObservation observation;
    std::vector<uint32_t> samples; // that it trained on
    bool isHeard = false;
    uint32_t device = 0;
    uint64_t seed = 0;
    double ssim = 0;
    bool isLabelRight = false;
};

/** A row of the table. */
struct Row
{
    double distance = 0;
    uint32_t steps = 1;
    uint32_t batch = 1;
    double captured = 0;
    double capturedOne = 0;
    double capturedModel = 0;
    double framesOk = 0;
    double framesFailed = 0;
    double snrSum = 0;
    uint32_t snrCount = 0;
    uint64_t unread = 0;
    std::vector<Victim> victims;
    std::vector<double> ssims; // ascending
    double labels = 0;
    PrivacyClaim claim;
    PrivacyLedger ledger; // of one device

    double GetQuantile(double fraction) const
    {
        const double place = fraction * static_cast<double>(ssims.size() - 1);
        const auto below = static_cast<std::size_t>(place);
        const std::size_t above = std::min(below + 1, ssims.size() - 1);
        return ssims[below] + (place - static_cast<double>(below)) * (ssims[above] - ssims[below]);
    }
};

/** @return random samples, different ones in every run. */
FederatedData
TakeSamples(const FederatedData& data, uint32_t count)
{
    const FederatedDataset& all = *data.train;
    std::vector<uint32_t> order(all.GetSize());
    for (uint32_t i = 0; i < order.size(); ++i)
    {
        order[i] = i;
    }
    FederatedRandom(RngSeedManager::GetRun(), FederatedRandom::SELECTION).Shuffle(order);
    std::vector<uint8_t> pixels;
    std::vector<uint8_t> labels;
    for (uint32_t i = 0; i < count; ++i)
    {
        const uint8_t* image = all.GetPixels(order[i]);
        pixels.insert(pixels.end(), image, image + all.GetFeatures());
        labels.push_back(all.GetLabel(order[i]));
    }
    return {std::make_shared<FederatedDataset>(
                all.GetRows(), all.GetColumns(), all.GetClasses(), pixels, labels),
            data.test};
}

void
Place(const Ptr<Node>& node, double x, double y)
{
    const auto place = CreateObject<ConstantPositionMobilityModel>();
    place->SetPosition(Vector(x, y, 0));
    node->AggregateObject(place);
}

void
KeepClipFactor(std::vector<double>* factors, const FederatedDevice::TrainingRecord& record)
{
    factors->at(record.device) = record.clipFactor;
}

/** Stop later than the last message: a radio traces an A-MPDU only once all of it is received. */
void
StopSoon(uint32_t)
{
    Simulator::Stop(MilliSeconds(10));
}

/** Run a round and keep what was captured. */
void
Listen(const Setting& setting, const FederatedData& data, Row& row)
{
    const FederatedAttackOptions& options = setting.options;
    // All devices at one place: the distance to an eavesdropper is the only difference.
    const NodeContainer nodes(setting.devices);
    for (uint32_t i = 0; i < nodes.GetN(); ++i)
    {
        Place(nodes.Get(i), 0, 0);
    }
    const auto center = CreateObject<Node>();
    Place(center, -setting.radius, 0);

    // One round in which every device answers, with the quantizer that is attacked.
    FederatedHelper federation;
    federation.SetProfile("literal");
    federation.SetAlgorithm("alg1"); // which does not send the distortion
    federation.AddGroup(nodes, options.bits);
    federation.SetData(data);
    federation.SetTaskAttribute("Model", PointerValue(setting.model));
    federation.SetTaskAttribute("Threads", UintegerValue(1));
    federation.SetRotation(setting.rotation);
    federation.SetInterleave(setting.interleave);
    federation.SetQuantizer(
        options.MakeQuantizer(GetEncodedSize(setting.rotation, setting.dimension)));
    federation.SetDeviceAttribute("IntervalRule", PointerValue(options.MakeInterval()));
    federation.SetDeviceAttribute("ClipBound", DoubleValue(options.clip));
    federation.SetDeviceAttribute("Steps", UintegerValue(row.steps));
    federation.SetDeviceAttribute("BatchSize", UintegerValue(row.batch));
    federation.SetCenterAttribute("BitBudget", StringValue("ns3::FixedBitBudget[Bits=1000000]"));
    federation.SetCenterAttribute("Participants", UintegerValue(setting.devices));
    federation.SetCenterAttribute("Rounds", UintegerValue(1));
    federation.SetCenterAttribute("EvaluationInterval", UintegerValue(0));
    FederatedScenarioOptions::SetEncryption(federation, setting.encrypt);

    // An ad hoc cell, the default: nothing is retransmitted, so that what an eavesdropper misses is
    // lost to it. In infrastructure mode it hears retransmissions, too.
    FederatedWifiHelper wifi;
    wifi.SetMcs(setting.mcs);
    wifi.SetFading(setting.fading);
    wifi.Install(federation, center);
    federation.GetCenter()->TraceConnectWithoutContext("Finished", MakeCallback(&StopSoon));
    std::vector<double> clipFactors(setting.devices, 1);
    for (const auto& device : federation.GetDevices())
    {
        device->TraceConnectWithoutContext("TrainingDone",
                                           MakeBoundCallback(&KeepClipFactor, &clipFactors));
    }

    // Listeners come after the federation, whose dimension and quantizer they know. Their random
    // streams are their own: the federation has the same results without them.
    std::vector<Ptr<Eavesdropper>> sniffers;
    for (uint32_t i = 0; i < setting.sniffers; ++i)
    {
        const double angle = 2 * PI * i / setting.sniffers;
        const Vector place(row.distance * std::cos(angle), row.distance * std::sin(angle), 0);
        sniffers.push_back(wifi.AddEavesdropper(place, federation));
        sniffers.back()->SetAttribute("Bits", UintegerValue(options.bits));
    }
    const auto notebook = CreateObject<Eavesdropper>();
    for (const char* name : {"Dimension", "Bits", "RotationSeed"})
    {
        UintegerValue value;
        sniffers[0]->GetAttribute(name, value);
        notebook->SetAttribute(name, value);
    }
    PointerValue quantizer;
    sniffers[0]->GetAttribute("Quantizer", quantizer);
    notebook->SetAttribute("Quantizer", quantizer);
    for (const auto& sniffer : sniffers)
    {
        sniffer->ShareWith(notebook);
    }
    const auto probe = CreateObject<WifiLinkProbe>();
    probe->Attach(sniffers[0]->GetNode()->GetDevice(0));
    for (uint32_t i = 0; i < setting.devices; ++i)
    {
        probe->AddDevice(i, Mac48Address::ConvertFrom(wifi.GetDevices().Get(i)->GetAddress()));
    }
    Simulator::Run();

    FederatedPartition::Parts parts;
    std::string error;
    const auto task = federation.GetTask();
    task->GetPartition()->Split(
        data.train->GetLabels(), {setting.devices}, task->GetSeed(), parts, error);
    row.claim = federation.GetDevices()[0]->GetPrivacyClaim();
    row.ledger = federation.GetDevices()[0]->GetPrivacyLedger();
    const double share = 1.0 / (setting.devices * setting.nets);
    double most = 0;
    for (const auto& sniffer : sniffers)
    {
        double sum = 0;
        for (uint32_t device = 0; device < setting.devices; ++device)
        {
            sum += sniffer->GetRecord(device).updateFraction;
        }
        most = std::max(most, sum);
    }
    row.capturedOne += share * most;
    row.unread += notebook->GetUnread(Eavesdropper::UNREAD_ENCRYPTED);
    for (uint32_t device = 0; device < setting.devices; ++device)
    {
        const Eavesdropper::CaptureRecord record = notebook->GetRecord(device);
        row.captured += share * record.updateFraction;
        row.capturedModel += share * record.modelFraction;
        const LinkQuality quality = probe->GetQuality(device);
        row.framesOk += quality.framesOk;
        row.framesFailed += quality.framesFailed;
        if (std::isfinite(quality.roundSnr))
        {
            row.snrSum += quality.roundSnr;
            ++row.snrCount;
        }
        Victim victim;
        victim.device = device;
        victim.seed = federation.GetTask()->GetSeed();
        victim.samples = parts[device];
        GradientObservation& observation = victim.observation;
        std::vector<bool> known;
        victim.isHeard = notebook->GetUpdate(device, observation.update, observation.captured) &&
                         notebook->GetModel(observation.model, known);
        observation.learningRate = LEARNING_RATE;
        observation.clipFactor = clipFactors[device];
        observation.steps = row.steps;
        row.victims.push_back(std::move(victim));
    }
    notebook->Dispose();
    Simulator::Destroy();
}

/** Attack an update; on a worker. */
void
Attack(const Setting& setting,
       const GradientInversion& attack,
       const FederatedDataset& data,
       Victim& victim)
{
    if (!victim.isHeard)
    {
        return;
    }
    const auto kernel = setting.model->CreateDoubleKernel(setting.shape);
    FederatedRandom random(victim.seed, FederatedRandom::GENERAL, victim.device);
    const InversionResult found =
        attack.Reconstruct(victim.observation, *kernel, setting.shape, random);
    victim.ssim = -1;
    for (uint32_t sample : victim.samples)
    {
        const uint8_t* pixels = data.GetPixels(sample);
        std::vector<double> truth(pixels, pixels + data.GetFeatures());
        for (double& value : truth)
        {
            value /= 255;
        }
        const double ssim =
            ImageQuality::Compare(truth, found.image, setting.shape.rows, setting.shape.columns)
                .ssim;
        if (ssim > victim.ssim)
        {
            victim.ssim = ssim;
            victim.isLabelRight = found.label == data.GetLabel(sample);
        }
    }
}

/** Read distances above 0, with commas between. */
std::string
ReadDistances(const std::string& text, std::vector<double>& distances)
{
    const double above0 = std::numeric_limits<double>::denorm_min();
    return FederatedNumber::ReadReals(text, above0, 100000, distances)
               ? ""
               : "is not a list of distances above 0, up to 100000, with commas between";
}

/** @return the name of a claim in the table. */
std::string
GetClaimName(PrivacyClaim::Kind kind)
{
    switch (kind)
    {
    case PrivacyClaim::NONE:
        return "none";
    case PrivacyClaim::SAME_CELL:
        return "same-cell";
    case PrivacyClaim::TRUE_EPSILON:
        return "true";
    case PrivacyClaim::ZCDP:
        return "zcdp";
    }
    return "";
}

} // namespace

int
main(int argc, char* argv[])
{
    Setting setting;
    FederatedAttackOptions& options = setting.options;
    options.attack = "cosine";
    std::string data = "data/mnist";
    std::string distanceText = "1,40,80";
    std::vector<double> distances;
    std::string fading = "rayleigh";
    std::string local = "both";
    uint32_t threads = 0;
    std::string output = "federated-eavesdropper";
    FederatedCommandLine cmd(__FILE__, "Leakage against the distance of an eavesdropper.");
    cmd.AddData(data);
    cmd.AddText("distance",
                "Meters from the devices to the eavesdroppers, one or more with commas between",
                distanceText,
                [&distances](const std::string& text) { return ReadDistances(text, distances); });
    options.Add(cmd);
    cmd.AddCount("sniffers",
                 "Eavesdroppers around the devices, which share what they captured",
                 setting.sniffers,
                 1,
                 100);
    FederatedScenarioOptions::AddEncryption(cmd, setting.encrypt);
    FederatedScenarioOptions::AddRotation(cmd, setting.rotation);
    FederatedScenarioOptions::AddInterleave(cmd, setting.interleave);
    cmd.AddCount("devices", "Devices, all attacked", setting.devices, 1, 100);
    cmd.AddCount("nets", "Runs with other weights, images and fading", setting.nets, 1, 1000);
    cmd.AddChoice("local",
                  "Local training: one step on one image, ten steps on ten, or both",
                  local,
                  {"one", "ten", "both"});
    cmd.AddReal("radius", "Meters from the devices to the center", setting.radius, 0.1, 100000);
    cmd.AddText(
        "fading",
        "Fading: none, rayleigh or nakagami:m of each frame, or block:m,fd or jakes:fd that "
        "lasts (fd: Doppler frequency in Hz, 0: of the speed)",
        fading);
    cmd.AddCount("mcs", "MCS of the frames of devices", setting.mcs, 0, 8);
    cmd.AddCount("threads", "Threads that attack, 0 for all cores", threads, 0, 1024);
    cmd.AddOutput(output);
    cmd.ParseOrExit(argc, argv);
    options.ReadOrExit(cmd);
    if (distances.empty())
    {
        ReadDistances(distanceText, distances);
    }
    cmd.Require(FederatedWifiHelper::ReadFading(fading, setting.fading),
                "Option --fading is '" + fading + "', not " + FederatedWifiHelper::FADINGS + '.');
    cmd.Require(!setting.rotation || !options.MakeInterval()->IsPerLayer(),
                "Option --interval is '" + options.interval +
                    "', but a rotated update has no layers.");
    cmd.Require(!setting.interleave || !options.MakeInterval()->IsPerLayer(),
                "Option --interval is '" + options.interval +
                    "', but an interleaved update has no layers.");
    std::string error;
    setting.data = FederatedData::LoadDirectory(data, error);
    cmd.Require(setting.data.train != nullptr, error);
    const FederatedDataset& train = *setting.data.train;
    setting.shape = {train.GetRows(), train.GetColumns(), train.GetClasses()};
    setting.model = CreateObjectWithAttributes<LeNetModel>("InitialRange", DoubleValue(0.5));
    setting.dimension = setting.model->CreateKernel(setting.shape)->GetDimension();
    const auto attack = options.MakeAttack();
    const bool isApplicable = attack->IsApplicable(*setting.model, setting.shape, error);
    cmd.Require(isApplicable,
                "Option --attack=" + options.attack + " does not work on a LeNet: " + error);
    const uint32_t largest = local == "one" ? 1 : 10;
    cmd.Require(setting.devices * largest * largest <= train.GetSize(),
                "Option --devices=" + std::to_string(setting.devices) +
                    " needs more images than the data has.");

    FederatedOutputFile table(output + ".csv");
    table.GetStream() << "distance_m,quantizer,bits,interval,epsilon,attack,encrypted,steps,batch,"
                         "sniffers,attacks,captured,captured_one,captured_model,frame_loss,snr_db,"
                         "messages_unread,ssim_q1,ssim_median,ssim_q3,label_accuracy,claim,"
                         "epsilon_update,epsilon_zcdp\n";
    cmd.Require(table.Flush(error), error);
    const uint64_t firstRun = RngSeedManager::GetRun();
    federated::WorkerPool pool(threads);
    std::vector<Row> rows;
    for (double distance : distances)
    {
        for (uint32_t size : {1, 10})
        {
            if ((local == "one" && size != 1) || (local == "ten" && size != 10))
            {
                continue;
            }
            Row row;
            row.distance = distance;
            row.steps = size;
            row.batch = size;
            for (uint32_t net = 0; net < setting.nets; ++net)
            {
                RngSeedManager::SetRun(firstRun + net);
                const FederatedData part = TakeSamples(setting.data, setting.devices * size * size);
                const std::size_t first = row.victims.size();
                Listen(setting, part, row);
                pool.ParallelFor(setting.devices,
                                 [&](std::size_t i, std::size_t) {
                                     Attack(setting, *attack, *part.train, row.victims[first + i]);
                                 });
            }
            for (const Victim& victim : row.victims)
            {
                row.ssims.push_back(victim.ssim);
                row.labels += victim.isLabelRight;
            }
            std::sort(row.ssims.begin(), row.ssims.end());
            row.victims.clear();
            const auto attacks = static_cast<double>(row.ssims.size());
            row.labels /= attacks;
            std::cerr << distance << " m, L = " << size << ": captured " << row.captured
                      << " of updates, " << row.capturedModel << " of the model, median SSIM "
                      << row.GetQuantile(0.5) << '\n';
            if (row.unread > 0)
            {
                std::cerr << row.unread << " messages are encrypted: sizes and times, no more\n";
            }
            const auto print = [&table](double value, const char* end = ",")
            {
                if (std::isfinite(value))
                {
                    table.GetStream() << value;
                }
                table.GetStream() << end;
            };
            table.GetStream() << distance << ',' << options.quantizer << ',' << options.bits << ','
                              << options.interval << ',' << options.epsilon << ',' << options.attack
                              << ',' << setting.encrypt << ',' << size << ',' << size << ','
                              << setting.sniffers << ',' << attacks << ',' << row.captured << ','
                              << row.capturedOne << ',' << row.capturedModel << ',';
            print(row.framesFailed / (row.framesOk + row.framesFailed));
            print(10 * std::log10(row.snrSum / row.snrCount));
            table.GetStream() << row.unread << ',' << row.GetQuantile(0.25) << ','
                              << row.GetQuantile(0.5) << ',' << row.GetQuantile(0.75) << ','
                              << row.labels << ',' << GetClaimName(row.claim.kind) << ',';
            print(row.ledger.GetEpsilon(
                row.claim.kind == PrivacyClaim::SAME_CELL ? EPSILON_SAME_CELL : EPSILON_BASIC));
            print(row.ledger.GetEpsilon(EPSILON_ZCDP), "\n");
            cmd.Require(table.Flush(error), error);
            rows.push_back(std::move(row));
        }
    }
    cmd.Require(table.Commit(error), error);
    std::cerr << "privacy, whoever listens: " << GetClaimName(rows[0].claim.kind) << ": "
              << rows[0].claim.reason << '\n';
    FederatedResultLine result; // of the first row
    result.AddCount("rows", rows.size());
    result.AddReal("distance_m", rows[0].distance);
    result.AddReal("captured", rows[0].captured);
    result.AddReal("captured_model", rows[0].capturedModel);
    result.AddReal("median_ssim", rows[0].GetQuantile(0.5));
    result.AddReal("label_accuracy", rows[0].labels);
    result.AddCount("messages_unread", rows[0].unread);
    result.AddText("claim", GetClaimName(rows[0].claim.kind));
    return cmd.Finish(result);
}
