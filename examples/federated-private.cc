// SPDX-License-Identifier: GPL-2.0-only

/*
 * Training at honest privacy budgets: what an epsilon for each device and round costs in accuracy,
 * for mechanisms whose epsilon is true, and for the paper's quantizer, whose epsilon is not.
 *
 *    devices ---+--- hubs ---+--- center      wires: 1 Gb/s, 0.1 ms, frames of 9000 bytes;
 *    devices ---+            |                  nothing is lost, and there is no noise
 *    devices -------- hubs --+
 *
 * --epsilon is that of a whole update:
 *   rr           randomized response on all d coordinates with epsilon/d each (with --rotation all
 *                P rotated ones with epsilon/P each)
 *   onebit       the same with an l2 clip at --clip, by which a whole update has a rho that does
 *                not grow with d: the coin is such that the update has epsilon at delta = 1e-5;
 *                with --rotation coordinates are small and alike, so that a small --interval serves
 *                all
 *   coordinates  randomized response on k random coordinates with epsilon/k each; k is epsilon,
 *                rounded, unless --coordinates says otherwise
 *   laplace      LaplaceSQ; l1 clip at --clip, the noise such that the update has epsilon after
 *                quantization (--bits, --interval)
 *   gaussian     Gaussian noise; l2 clip at --clip, the noise such that the update has epsilon at
 *                delta = 1e-5 by zCDP
 *   paper        the paper's quantizer (--bits): epsilon/d is a same-cell epsilon, which is no
 *                differential privacy
 *   none         floats
 *
 * --rho gives the rho of an update instead of its epsilon (rr, onebit, gaussian), for comparisons
 * at equal privacy; rr then spends rho/d on each coordinate. update_bytes in the result line is the
 * size of an update's payload.
 *
 * All updates have the same weight. With --budget a device declines grants once its epsilon would
 * exceed the budget (--budget-of names the epsilon). PREFIX-rounds.csv has a row a round (see
 * federated-paper), with the largest epsilons of a device so far. The result line repeats the last
 * row.
 *
 *    federated-private --mechanism=coordinates --epsilon=8 --output=results/private
 */

#include "ns3/double.h"
#include "ns3/enum.h"
#include "ns3/federated-command-line.h"
#include "ns3/federated-helper.h"
#include "ns3/federated-learning-options.h"
#include "ns3/federated-number.h"
#include "ns3/federated-quantizers.h"
#include "ns3/federated-scenario-options.h"
#include "ns3/federated-star-helper.h"
#include "ns3/fixed-interval.h"
#include "ns3/object-factory.h"
#include "ns3/pointer.h"
#include "ns3/privacy-conversion.h"
#include "ns3/privacy-ledger.h"
#include "ns3/public-rotation.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cmath>
#include <functional>

using namespace ns3;

namespace
{

/**
 * Find the attribute Epsilon with which a quantizer claims what is wanted: the inverse of its
 * claim, which has no closed form.
 * @param quantizer The quantizer. Its Epsilon is set.
 * @param context What the claim depends on: interval, resolution, clip and dimension.
 * @param fits Whether a claim is not above what is wanted; claims grow with the attribute.
 * @return whether it was found.
 */
bool
SetEpsilon(const Ptr<Quantizer>& quantizer,
           const PrivacyContext& context,
           const std::function<bool(const PrivacyClaim&)>& fits)
{
    const auto tryOut = [&](double attribute)
    {
        quantizer->SetAttribute("Epsilon", DoubleValue(attribute));
        const PrivacyClaim claim = quantizer->GetPrivacyClaim(context);
        return claim.kind == PrivacyClaim::TRUE_EPSILON && fits(claim);
    };
    double low = 1e-12;
    double high = 2 * low;
    while (high < 1e9 && tryOut(high))
    {
        low = high;
        high *= 2;
    }
    for (int i = 0; i < 60; ++i)
    {
        const double middle = (low + high) / 2;
        (tryOut(middle) ? low : high) = middle;
    }
    return tryOut(low);
}

} // namespace

int
main(int argc, char* argv[])
{
    std::string mechanism = "coordinates";
    double epsilon = 8;
    double rho = 0;
    std::string decoder = "unbiased";
    uint32_t coordinates = 0;
    uint32_t bits = 4;
    double interval = 0.05;
    double clip = 1;
    FederatedLearningOptions learning;
    learning.model = "logistic";
    learning.learningRate = 1;
    uint32_t pool = 4;
    uint32_t devices = 1000;
    uint32_t participants = 0;
    uint32_t rounds = 100;
    double decay = 0;
    double budget = 0;
    std::string budgetOf = "basic";
    uint32_t evaluation = 1;
    uint32_t threads = 0;
    bool encrypt = false;
    bool rotation = false;
    std::string data = "data/mnist";
    std::string output;
    FederatedCommandLine cmd(__FILE__, "Training at honest privacy budgets, over ideal links.");
    cmd.AddChoice("mechanism",
                  "Privacy mechanism of updates",
                  mechanism,
                  {"rr", "onebit", "coordinates", "laplace", "gaussian", "paper", "none"});
    cmd.AddReal("epsilon", "Privacy loss of an update", epsilon, 1e-9, 1e6);
    cmd.AddReal("rho", "rho of an update instead (rr, onebit, gaussian), 0: none", rho, 0, 1e9);
    cmd.AddText("decoder", "Of rr, onebit and coordinates: bayes, unbiased or gain:x", decoder);
    cmd.AddCount("coordinates", "k, 0: epsilon, rounded", coordinates, 0, 1000000);
    cmd.AddCount("bits", "Resolution of laplace and paper", bits, 1, 16);
    cmd.AddReal("interval", "A: coordinates are clamped to [-A, A]", interval, 1e-9, 1e6);
    cmd.AddReal("clip", "Largest norm of an update: laplace, onebit, gaussian", clip, 1e-9, 1e9);
    cmd.AddCount("pool", "Side of the squares of pixels that are averaged", pool, 1, 28);
    cmd.AddCount("devices", "Number of devices", devices, 1, 10000);
    cmd.AddCount(
        "participants", "Devices selected in a round, 0: a tenth of all", participants, 0, 10000);
    cmd.AddCount("rounds", "Number of rounds", rounds, 1, 1000000);
    learning.Add(cmd);
    cmd.AddReal("decay", "c: round t = 0, 1, ... has the rate over 1 + c t", decay, 0, 1e6);
    cmd.AddReal("budget", "Largest epsilon of a device in all rounds, 0: any", budget, 0, 1e300);
    cmd.AddChoice("budget-of", "Which epsilon", budgetOf, {"basic", "zcdp", "same-cell"});
    cmd.AddCount("evaluation", "Rounds from one evaluation to the next", evaluation, 1, 1000000);
    cmd.AddCount("threads", "Threads that train and evaluate, 0 for all cores", threads, 0, 1024);
    FederatedScenarioOptions::AddEncryption(cmd, encrypt);
    FederatedScenarioOptions::AddRotation(cmd, rotation);
    cmd.AddData(data);
    cmd.AddOutput(output);
    cmd.ParseOrExit(argc, argv);
    double gain = 0;
    cmd.Require(decoder == "bayes" || decoder == "unbiased" ||
                    (decoder.compare(0, 5, "gain:") == 0 &&
                     FederatedNumber::ReadReal(decoder.substr(5), gain) && gain > 0),
                "Option --decoder is '" + decoder + "', not bayes, unbiased or gain:x with x > 0.");
    const bool givesRho = rho > 0;
    cmd.Require(!givesRho || mechanism == "rr" || mechanism == "onebit" || mechanism == "gaussian",
                "Option --rho is for rr, onebit and gaussian, not for " + mechanism + ".");
    if (!givesRho)
    {
        rho = PrivacyConversion::EpsilonToZcdp(epsilon, PrivacyLedger().GetDelta());
    }
    if (participants == 0)
    {
        participants = std::max(1U, devices / 10);
    }
    cmd.Require(participants <= devices,
                "Option --participants is " + std::to_string(participants) +
                    ", more than there are devices.");
    std::string error;
    const FederatedData sets = FederatedScenarioOptions::LoadPooled(cmd, data, pool);

    // The federation. SetAlgorithm names quantizer, weights and cluster sizes; the quantizer is
    // then replaced by the mechanism.
    FederatedHelper federation;
    federation.SetAlgorithm("alg1"); // uniform weights, random devices
    FederatedScenarioOptions::SetEncryption(federation, encrypt);
    if (rotation)
    {
        federation.SetRotation(true);
    }
    federation.SetCommand(cmd.GetCommand());
    learning.SetUp(federation);
    const auto model = FederatedLearningOptions::MakeModel(learning.model, error);
    if (learning.model == "logistic")
    {
        model->SetAttribute("L2", DoubleValue(0));
    }
    federation.SetTaskAttribute("Model", PointerValue(model));
    federation.SetTaskAttribute("Threads", UintegerValue(threads));
    federation.SetData(sets);
    const auto kernel = model->CreateKernel(
        {sets.train->GetRows(), sets.train->GetColumns(), sets.train->GetClasses()});
    const std::size_t encoded = GetEncodedSize(rotation, kernel->GetDimension());
    const auto dimension = static_cast<double>(encoded);

    // A public interval: one that depends on the update (max-abs) would reveal something of it.
    auto rule = CreateObject<FixedInterval>();
    rule->SetAttribute("Low", DoubleValue(-interval));
    rule->SetAttribute("High", DoubleValue(interval));
    ClipNorm norm = CLIP_NONE;
    const auto quantizer =
        ObjectFactory(FederatedQuantizers::GetTypeIdName(mechanism == "onebit" ? "rr" : mechanism))
            .Create<Quantizer>();
    if (mechanism == "rr")
    {
        bits = 1;
        // By rho: as if all coordinates could change, epsilon^2/2 each.
        quantizer->SetAttribute(
            "Epsilon",
            DoubleValue(givesRho ? std::sqrt(2 * rho / dimension) : epsilon / dimension));
        quantizer->SetAttribute("Decoder", StringValue(decoder));
    }
    else if (mechanism == "onebit")
    {
        bits = 1;
        norm = CLIP_L2;
        quantizer->SetAttribute("Decoder", StringValue(decoder));
        const auto context = rule->GetPrivacyContext(norm, clip, bits, encoded);
        const auto fits = [rho](const PrivacyClaim& claim) { return claim.updateRho <= rho; };
        cmd.Require(SetEpsilon(quantizer, context, fits),
                    "Option --epsilon or --rho is so small that no coin has it.");
    }
    else if (mechanism == "coordinates")
    {
        bits = 2;
        if (coordinates == 0)
        {
            coordinates = static_cast<uint32_t>(std::max(1.0, std::round(epsilon)));
        }
        quantizer->SetAttribute("Epsilon", DoubleValue(epsilon));
        quantizer->SetAttribute("Coordinates", UintegerValue(coordinates));
        quantizer->SetAttribute("Decoder", StringValue(decoder));
    }
    else if (mechanism == "laplace")
    {
        norm = CLIP_L1;
        quantizer->SetAttribute("Sensitivity", DoubleValue(2 * clip));
        const auto context = rule->GetPrivacyContext(norm, clip, bits, encoded);
        const auto fits = [epsilon](const PrivacyClaim& claim) { return claim.epsilon <= epsilon; };
        cmd.Require(SetEpsilon(quantizer, context, fits),
                    "Option --epsilon is " + std::to_string(epsilon) +
                        ", for which LaplaceSQ has no noise with this --clip and --interval.");
    }
    else if (mechanism == "gaussian")
    {
        norm = CLIP_L2;
        // The inverse of (2C + g sqrt(d))^2 / (2 Sigma^2), with the step g = Sigma/2^24.
        const double ratio = std::sqrt(2 * rho) - 0x1p-24 * std::sqrt(dimension);
        cmd.Require(ratio > 0,
                    "Option --epsilon or --rho is so small that no Gaussian noise has it.");
        quantizer->SetAttribute("Sigma", DoubleValue(2 * clip / ratio * (1 + 1e-9)));
    }
    else if (mechanism == "paper")
    {
        quantizer->SetAttribute("Epsilon", DoubleValue(epsilon / dimension));
    }
    federation.SetQuantizer(quantizer); // of the devices and the center, which must agree
    NodeContainer nodes(devices);
    federation.AddGroup(nodes, bits);
    federation.SetDeviceAttribute("IntervalRule", PointerValue(rule));
    federation.SetDeviceAttribute("ClipNorm", EnumValue(norm));
    federation.SetDeviceAttribute("ClipBound", DoubleValue(clip));
    federation.SetDeviceAttribute("LearningRateDecay", DoubleValue(decay));
    federation.SetDeviceAttribute("PrivacyBudget", DoubleValue(budget));
    federation.SetDeviceAttribute("PrivacyBudgetOf", StringValue(budgetOf));
    federation.SetCenterAttribute("BitBudget", StringValue("ns3::FixedBitBudget[Bits=1000000]"));
    federation.SetCenterAttribute("Participants", UintegerValue(participants));
    federation.SetCenterAttribute("Rounds", UintegerValue(rounds));
    federation.SetCenterAttribute("EvaluationInterval", UintegerValue(evaluation));
    federation.SetCenterAttribute("Deadline", StringValue("1h"));
    federation.SetCenterAttribute("JoinTimeout", StringValue("10min"));
    federation.SetCenterAttribute("DownlinkRate", StringValue("100Mbps"));
    federation.SetCenterAttribute("UplinkRate", StringValue("100Mbps"));
    cmd.Require(federation.Check(error), error);

    // Links that lose nothing, with large frames: what privacy costs is in the quantizer alone.
    NodeContainer center(1);
    FederatedStarHelper star;
    star.SetMtu(9000);
    star.Install(federation, center.Get(0));
    cmd.Require(federation.EnableOutput(output, error, false), error);

    Simulator::Run();
    const auto traces = federation.GetTraceWriter();
    FederatedResultLine result = traces->GetResult();
    result.AddText("mechanism", mechanism);
    result.AddCount("update_bytes", quantizer->GetPayloadSize(encoded, bits));
    result.AddReal("same_cell_epsilon", traces->GetLastRound().sameCellEpsilon);
    return federation.Finish(result);
}
