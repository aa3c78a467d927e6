// SPDX-License-Identifier: GPL-2.0-only

/*
 * How much error a quantizer adds to one coordinate (Fig. 2a of the paper).
 *
 *   a ~ U[-10, 10]  ->  quantizer on 2^b levels of [-10, 10], epsilon  ->  E|Q(a) - a|^2
 *
 * For b = 4, 5, 6 and epsilon = 0.1, 0.2 ... 1.5 it writes PREFIX.csv with the columns
 *   bits, epsilon   the case
 *   dp              DpStochasticQuantizer, closed form
 *   dp_mc           the same, measured on --samples random values (Monte Carlo)
 *   sq              UnbiasedStochasticQuantizer, closed form (it has no epsilon)
 *   laplace         LaplaceQuantizer with the sensitivity of the interval, 20, closed form
 *   optimal_dp      OptimalDpQuantizer, closed form: the least that a true epsilon costs on the
 *                   same levels
 *
 *   federated-distortion --output=results/distortion
 */

#include "ns3/double.h"
#include "ns3/dp-stochastic-quantizer.h"
#include "ns3/federated-command-line.h"
#include "ns3/federated-output-file.h"
#include "ns3/federated-result-line.h"
#include "ns3/federated-streams.h"
#include "ns3/laplace-quantizer.h"
#include "ns3/optimal-dp-quantizer.h"
#include "ns3/random-variable-stream.h"
#include "ns3/unbiased-stochastic-quantizer.h"

#include <algorithm>
#include <cmath>
#include <iostream>
#include <vector>

using namespace ns3;

namespace
{

const float LOW = -10; // the interval of the paper
const float HIGH = 10;

/** The mean squared error of values that are uniform in the interval. */
double
MeasureDistortion(const Quantizer& quantizer,
                  unsigned bits,
                  std::size_t samples,
                  FederatedRandom& random)
{
    std::vector<float> values(samples);
    for (float& value : values)
    {
        value = static_cast<float>(LOW + (HIGH - LOW) * random.Uniform());
    }
    std::vector<uint8_t> payload(quantizer.GetPayloadSize(samples, bits));
    quantizer.Encode(values.data(), {{0, samples, LOW, HIGH}}, bits, random, payload.data());
    std::vector<float> decoded(samples);
    quantizer.Decode(payload.data(), 0, samples, LevelGrid(LOW, HIGH, bits), decoded.data());
    double sum = 0;
    for (std::size_t i = 0; i < samples; ++i)
    {
        const double error = double{decoded[i]} - values[i];
        sum += error * error;
    }
    return sum / static_cast<double>(samples);
}

} // namespace

int
main(int argc, char* argv[])
{
    uint32_t samples = 1000000;
    std::string output = "federated-distortion";
    FederatedCommandLine cmd(__FILE__, "Expected distortion of the quantizers (Fig. 2a).");
    cmd.AddCount("samples", "Random values for each measured row", samples, 1000, 100000000);
    cmd.AddOutput(output);
    cmd.ParseOrExit(argc, argv);

    // A quantizer of your own: a child of LevelQuantizer has a closed form (GetCellDistortion), and
    // MeasureDistortion checks it.
    auto dp = CreateObject<DpStochasticQuantizer>();
    auto sq = CreateObject<UnbiasedStochasticQuantizer>();
    auto laplace = CreateObject<LaplaceQuantizer>();
    laplace->SetAttribute("Sensitivity", DoubleValue(HIGH - LOW));
    auto optimal = CreateObject<OptimalDpQuantizer>();
    auto stream = CreateObject<UniformRandomVariable>();
    stream->SetStream(FederatedStreams::TOOL);

    FederatedOutputFile file(output + ".csv");
    file.GetStream() << "bits,epsilon,dp,dp_mc,sq,laplace,optimal_dp\n";
    std::string error;
    cmd.Require(file.Flush(error), error);
    uint32_t rows = 0;
    double largestError = 0;
    for (unsigned bits = 4; bits <= 6; ++bits)
    {
        for (unsigned tenths = 1; tenths <= 15; ++tenths)
        {
            const double epsilon = tenths / 10.0;
            dp->SetEpsilon(epsilon);
            laplace->SetAttribute("Epsilon", DoubleValue(epsilon));
            optimal->SetEpsilon(epsilon);
            FederatedRandom random(stream->GetInteger(0, FederatedRandom::max()));
            const double closed = dp->GetCellDistortion(LOW, HIGH, bits);
            const double measured = MeasureDistortion(*dp, bits, samples, random);
            largestError = std::max(largestError, std::abs(measured / closed - 1));
            file.GetStream() << bits << ',' << epsilon << ',' << closed << ',' << measured << ','
                             << sq->GetCellDistortion(LOW, HIGH, bits) << ','
                             << laplace->GetCellDistortion(LOW, HIGH, bits) << ','
                             << optimal->GetCellDistortion(LOW, HIGH, bits) << '\n';
            cmd.Require(file.Flush(error), error);
            ++rows;
        }
        std::cerr << "b = " << bits << " done\n";
    }
    cmd.Require(file.Commit(error), error);
    FederatedResultLine result;
    result.AddCount("rows", rows);
    result.AddReal("largest_mc_error", largestError);
    return cmd.Finish(result);
}
