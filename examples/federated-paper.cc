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
 * average (B = 30). The profile says how the paper is read; "fitted" is a fit to its figures, found
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

#include "ns3/double.h"
#include "ns3/federated-command-line.h"
#include "ns3/federated-helper.h"
#include "ns3/federated-port.h"
#include "ns3/federated-star-helper.h"
#include "ns3/inet-socket-address.h"
#include "ns3/pointer.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <ctime>
#include <iostream>
#include <sstream>

using namespace ns3;

int
main(int argc, char* argv[])
{
    std::string profile = "sound";
    std::string algorithm = "fwo-cso";
    double epsilon = 1e-6;
    double sigma1 = 6.25e-4;
    double sigma2 = 0.125;
    uint32_t rounds = 20;
    uint32_t devices = 100;
    uint32_t participants = 10;
    uint32_t threads = 0;
    std::string data = "data/mnist";
    std::string output;
    FederatedCommandLine cmd(__FILE__, "The paper's learning experiment, over ideal links.");
    cmd.AddChoice("profile", "How the paper is read", profile, FederatedHelper::GetProfiles());
    cmd.AddChoice("algorithm", "What is run", algorithm, FederatedHelper::GetAlgorithms());
    cmd.AddReal("epsilon", "Same-cell epsilon of a coordinate", epsilon, 1e-12, 100);
    cmd.AddReal("sigma1", "Standard deviation of the noise, 2-bit devices", sigma1, 0, 1e6);
    cmd.AddReal("sigma2", "Standard deviation of the noise, 4-bit devices", sigma2, 0, 1e6);
    cmd.AddCount("rounds", "Number of rounds", rounds, 1, 1000000);
    cmd.AddCount("devices", "Number of devices, half of them with 2 bits", devices, 2, 1000);
    cmd.AddCount("participants", "Devices that take part in a round", participants, 2, 1000);
    cmd.AddCount("threads", "Threads that train and evaluate, 0 for all cores", threads, 0, 1024);
    cmd.AddData(data);
    cmd.AddOutput(output);
    cmd.ParseOrExit(argc, argv);

    std::string error;
    const FederatedData sets = FederatedData::LoadDirectory(data, error);
    if (!sets.train)
    {
        cmd.Fail(error);
    }
    NodeContainer coarse(devices / 2);
    NodeContainer fine(devices - devices / 2);
    FederatedHelper federation;
    federation.SetProfile(profile);
    federation.SetAlgorithm(algorithm);
    federation.SetEpsilon(epsilon);
    federation.AddGroup(coarse, 2);
    federation.AddGroup(fine, 4);
    federation.SetData(sets);
    federation.SetTaskAttribute("Threads", UintegerValue(threads));
    std::ostringstream sigmas;
    sigmas.precision(17);
    sigmas << sigma1 << ',' << sigma2;
    federation.SetCenterAttribute("LinkNoise",
                                  StringValue("ns3::FixedLinkNoise[Sigmas=" + sigmas.str() + "]"));
    federation.SetCenterAttribute(
        "BitBudget",
        StringValue("ns3::FixedBitBudget[Bits=" + std::to_string(3 * participants) + "]"));
    federation.SetCenterAttribute("Participants", UintegerValue(participants));
    federation.SetCenterAttribute("Rounds", UintegerValue(rounds));
    federation.SetCenterAttribute("Deadline", StringValue("1h"));
    federation.SetCenterAttribute("DownlinkRate", StringValue("100Mbps"));
    federation.SetCenterAttribute("UplinkRate", StringValue("100Mbps"));
    if (!federation.Check(error))
    {
        cmd.Fail(error);
    }
    const uint32_t mtu = 9000;
    const uint32_t fragmentSize = mtu - 20 - 8; // behind the headers of IPv4 and UDP
    federation.SetCenterAttribute("FragmentSize", UintegerValue(fragmentSize));
    federation.SetDeviceAttribute("FragmentSize", UintegerValue(fragmentSize));

    FederatedStarHelper star;
    star.SetMtu(mtu);
    star.Install(NodeContainer(coarse, fine), 0);
    federation.Install(star.GetCenter(),
                       InetSocketAddress(star.GetCenterAddress(), FederatedPort::CENTER));
    federation.EnableProgress();
    federation.StopWhenFinished();
    if (!output.empty() && !federation.EnableTraces(output, error, false))
    {
        cmd.Fail(error);
    }

    Simulator::Run();
    const auto traces = federation.GetTraceWriter();
    if (!traces->IsComplete(error))
    {
        cmd.Fail(error);
    }
    FederatedResultLine result = traces->GetResult();
    result.AddText("profile", profile);
    result.AddText("algorithm", algorithm);
    result.AddReal("same_cell_epsilon", traces->GetLastRound().sameCellEpsilon);
    std::cerr << "processor time: training " << federation.GetTask()->GetTrainingSeconds()
              << " s, evaluation " << federation.GetTask()->GetEvaluationSeconds() << " s, all "
              << static_cast<double>(std::clock()) / CLOCKS_PER_SEC << " s\n";
    federation.PrintPrivacy(std::cerr);
    Simulator::Destroy();
    result.Print(std::cout);
    return 0;
}
