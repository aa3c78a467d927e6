// SPDX-License-Identifier: GPL-2.0-only

/*
 * Algorithm 1 of the paper and its baselines, over ideal links: nothing is lost, and the noise of
 * the channel has the standard deviation that is given.
 *
 *    50 devices, 2 bits, sigma1 ---+
 *                                  +--- center      one link each: 1 Gb/s, 0.1 ms,
 *    50 devices, 4 bits, sigma2 ---+                  frames of 9000 bytes
 *
 * Ten devices take part in a round (--participants), with three bits a coordinate for each on
 * average (B = 30). The profile is a reading of the paper; "fitted" is a fit to its figures, found
 * by a search. Equal RngRun gives equal splits, first models, cluster draws and batches for all
 * algorithms, so that runs can be paired.
 *
 * PREFIX-rounds.csv has a row a round: simulated end, loss on the first 10,000 training images,
 * accuracy on the test set, devices selected and received, bits a coordinate (budget, granted,
 * delivered), lost fraction, mean sigma, the largest same-cell epsilon so far (not differential
 * privacy). The result line repeats the last row. Standard error ends with the processor time of
 * training (with clipping and quantization), of evaluation, and of all.
 *
 *    federated-paper --algorithm=alg1 --output=results/alg1
 */

#include "ns3/federated-command-line.h"
#include "ns3/federated-helper.h"
#include "ns3/federated-scenario-options.h"
#include "ns3/federated-star-helper.h"
#include "ns3/simulator.h"
#include "ns3/string.h"

#include <ctime>
#include <iostream>

using namespace ns3;

int
main(int argc, char* argv[])
{
    FederatedScenarioOptions options;
    options.devices = 100;
    options.rounds = 20;
    options.deadline = Hours(1);
    options.noise = "fixed";
    options.measuresSnr = false;
    FederatedCommandLine cmd(__FILE__, "The paper's learning experiment, over ideal links.");
    cmd.AddChoice(
        "profile", "Reading of the paper", options.profile, FederatedHelper::GetProfiles());
    cmd.AddChoice("algorithm",
                  "Quantizer, fusion rule and cluster sizes",
                  options.algorithm,
                  FederatedHelper::GetAlgorithms());
    options.AddWeights(cmd);
    cmd.AddReal("epsilon", "Same-cell epsilon of a coordinate", options.epsilon, 1e-12, 100);
    cmd.AddReal("sigma1", "Standard deviation of the noise, 2-bit devices", options.sigma1, 0, 1e6);
    cmd.AddReal("sigma2", "Standard deviation of the noise, 4-bit devices", options.sigma2, 0, 1e6);
    cmd.AddCount("rounds", "Number of rounds", options.rounds, 1, 1000000);
    cmd.AddCount(
        "devices", "Number of devices, half of them with 2 bits", options.devices, 2, 1000);
    cmd.AddCount("participants", "Devices selected in a round", options.participants, 2, 1000);
    options.learning.Add(cmd);
    options.AddSelection(cmd);
    cmd.AddCount(
        "threads", "Threads that train and evaluate, 0 for all cores", options.threads, 0, 1024);
    FederatedScenarioOptions::AddEncryption(cmd, options.encrypt);
    options.AddPreparation(cmd);
    cmd.AddData(options.data);
    cmd.AddOutput(options.output);
    cmd.ParseOrExit(argc, argv);
    options.budget = std::to_string(3 * options.participants);
    options.ReadOrExit(cmd);

    // What is learned, by whom and how: the profile is a reading of the paper, the algorithm its
    // quantizer, weights and cluster sizes. A quantizer of your own is set with SetQuantizer.
    FederatedHelper federation;
    options.SetUp(federation, cmd); // reads the data, makes the nodes of the devices
    federation.SetCenterAttribute("DownlinkRate", StringValue("100Mbps"));
    federation.SetCenterAttribute("UplinkRate", StringValue("100Mbps"));

    // Ideal links: the noise of the channel is a setting (LinkNoise), not a matter of packets.
    // Hence large frames and no hubs; thousands of devices need hubs, which a star has by itself.
    NodeContainer center(1);
    FederatedStarHelper star;
    star.SetMtu(9000);
    star.SetTiers(0);
    star.Install(federation, center.Get(0));
    std::string error;
    cmd.Require(federation.EnableOutput(options.output, error, false), error);

    Simulator::Run();
    const auto traces = federation.GetTraceWriter();
    FederatedResultLine result = traces->GetResult();
    result.AddText("profile", options.profile);
    result.AddText("algorithm", options.algorithm);
    result.AddReal("same_cell_epsilon", traces->GetLastRound().sameCellEpsilon);
    std::cerr << "processor time: training " << federation.GetTask()->GetTrainingSeconds()
              << " s, evaluation " << federation.GetTask()->GetEvaluationSeconds() << " s, all "
              << static_cast<double>(std::clock()) / CLOCKS_PER_SEC << " s\n";
    return federation.Finish(result);
}
