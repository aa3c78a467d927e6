// SPDX-License-Identifier: GPL-2.0-only

/*
 * Tries to falsify the privacy claim of every quantizer, with a public and with data-dependent
 * intervals.
 *
 *   two updates -> clip -> interval -> quantizer -> header and payload -> how well are they told
 * apart?
 *
 * It prints a table and writes it to PREFIX.csv, with the columns
 *   quantizer        dp (the paper's), sq, laplace, identity, rr (randomized response), optimal,
 *                    random-coordinates; others of the module by their name
 *   bits             resolution of the device
 *   interval         fixed (public), max-abs or min-max (of the update)
 *   epsilon_claimed  what the quantizer claims of the pair of updates, read as differential
 *                    privacy and as if the interval were public; empty: nothing
 *   epsilon_exact    from the probabilities as they are drawn; infinite: some message
 *                    identifies an update with certainty; empty: not known
 *   epsilon_lower    lower confidence bound from samples; all rows together are wrong with
 *                    probability 0.001
 *   verdict          falsified, not-falsified, no-claim
 *
 *   federated-audit --epsilon=1 --output=results/audit
 */

#include "ns3/double.h"
#include "ns3/federated-command-line.h"
#include "ns3/federated-output-file.h"
#include "ns3/federated-quantizers.h"
#include "ns3/federated-result-line.h"
#include "ns3/federated-streams.h"
#include "ns3/fixed-interval.h"
#include "ns3/max-abs-interval.h"
#include "ns3/min-max-interval.h"
#include "ns3/object-factory.h"
#include "ns3/privacy-audit.h"
#include "ns3/random-variable-stream.h"
#include "ns3/uinteger.h"

#include <cmath>
#include <iomanip>
#include <iostream>
#include <set>
#include <sstream>
#include <vector>

using namespace ns3;

namespace
{

/** A row of the table. */
struct Case
{
    std::string quantizerName;
    Ptr<Quantizer> quantizer;
    unsigned bits;
    std::string intervalName;
    Ptr<IntervalRule> interval;
};

/** A quantizer. */
struct Known
{
    std::string name;
    std::vector<unsigned> bits;
    std::string typeId;
};

/** @return the quantizers, those with short names first. */
std::vector<Known>
GetQuantizers()
{
    std::vector<Known> quantizers{
        {"dp", {1, 2, 4, 6}, ""},
        {"sq", {1, 2, 4, 6}, ""},
        {"laplace", {1, 2, 4, 6}, ""},
        {"identity", {2}, ""}, // the resolution means nothing to it
        {"rr", {1}, ""},
        {"optimal", {1, 2, 4, 6}, ""},
        {"random-coordinates", {2}, ""},
    };
    std::set<std::string> known;
    for (Known& one : quantizers)
    {
        one.typeId = FederatedQuantizers::GetTypeIdName(one.name);
        known.insert(one.typeId);
    }
    for (uint16_t i = 0; i < TypeId::GetRegisteredN(); ++i)
    {
        const TypeId tid = TypeId::GetRegistered(i);
        const std::string typeId = tid.GetName();
        if (known.count(typeId) == 0 && tid.IsChildOf(Quantizer::GetTypeId()) &&
            tid.HasConstructor())
        {
            quantizers.push_back({typeId.substr(5), {2}, typeId});
        }
    }
    return quantizers;
}

/**
 * @param name Name of a quantizer.
 * @param dimension Size of an update.
 * @return C of the l1 clip: large enough to leave every update in [-1, 1] unchanged; for LaplaceSQ
 * the largest value of one coordinate, so that a change of one coordinate uses all of its
 * sensitivity.
 */
double
GetClipBound(const std::string& name, uint32_t dimension)
{
    return name == "laplace" ? 1 : dimension;
}

/** @return a quantizer with this epsilon, if it has one. */
Ptr<Quantizer>
MakeQuantizer(const std::string& typeId, double epsilon, double clipBound)
{
    ObjectFactory factory(typeId);
    TypeId::AttributeInformation info;
    if (factory.GetTypeId().LookupAttributeByName("Epsilon", &info))
    {
        factory.Set("Epsilon", DoubleValue(epsilon));
    }
    if (typeId == "ns3::LaplaceQuantizer")
    {
        factory.Set("Sensitivity", DoubleValue(2 * clipBound));
    }
    if (typeId == "ns3::RandomCoordinatesQuantizer")
    {
        factory.Set("Coordinates", UintegerValue(2));
    }
    return factory.Create<Quantizer>();
}

/**
 * @param dimension Size of an update.
 * @param scope What the claim covers.
 * @return updates in [-1, 1] that differ in one coordinate, which costs one epsilon of a claim for
 * a coordinate; and for a claim that covers an update also two that differ in all.
 */
std::vector<PrivacyAudit::Input>
MakeInputs(std::size_t dimension, PrivacyClaim::Scope scope)
{
    std::vector<PrivacyAudit::Input> inputs;
    PrivacyAudit::Input input(dimension);
    for (float first : {-1.0F, 1.0F, 0.1F, -0.3F})
    {
        input[0] = first;
        inputs.push_back(input);
    }
    if (scope == PrivacyClaim::UPDATE)
    {
        inputs.emplace_back(dimension, -1.0F);
        inputs.emplace_back(dimension, 1.0F);
    }
    return inputs;
}

/** @return an epsilon as it stands in the table. */
std::string
Format(double epsilon)
{
    std::ostringstream text;
    text << std::setprecision(6);
    if (std::isinf(epsilon))
    {
        text << "infinite";
    }
    else if (!std::isnan(epsilon))
    {
        text << epsilon;
    }
    return text.str();
}

} // namespace

int
main(int argc, char* argv[])
{
    double epsilon = 1;
    uint32_t samples = 40000;
    uint32_t dimension = 4;
    bool reportDistortion = false;
    std::string output = "federated-audit";
    FederatedCommandLine cmd(__FILE__, "Tries to falsify the privacy claims of the quantizers.");
    cmd.AddReal("epsilon", "Attribute Epsilon of the quantizers that have one", epsilon, 1e-9, 20);
    cmd.AddCount("samples", "Messages drawn for each update", samples, 100, 100000000);
    cmd.AddCount("coordinates", "Size of an update", dimension, 2, 64);
    cmd.AddFlag("distortion",
                "Headers tell the exact distortion, as devices with ReportDistortion do",
                reportDistortion);
    cmd.AddOutput(output);
    cmd.ParseOrExit(argc, argv);

    const std::vector<std::pair<std::string, Ptr<IntervalRule>>> intervals{
        {"fixed",
         CreateObjectWithAttributes<FixedInterval>("Low", DoubleValue(-1), "High", DoubleValue(1))},
        {"max-abs", CreateObject<MaxAbsInterval>()},
        {"min-max", CreateObject<MinMaxInterval>()}};
    std::vector<Case> cases;
    for (const auto& [name, resolutions, typeId] : GetQuantizers())
    {
        const auto quantizer = MakeQuantizer(typeId, epsilon, GetClipBound(name, dimension));
        for (const auto& [intervalName, interval] : intervals)
        {
            for (unsigned bits : resolutions)
            {
                cases.push_back({name, quantizer, bits, intervalName, interval});
            }
        }
    }
    auto stream = CreateObject<UniformRandomVariable>();
    stream->SetStream(FederatedStreams::TOOL);

    FederatedOutputFile file(output + ".csv");
    file.GetStream()
        << "quantizer,bits,interval,epsilon_claimed,epsilon_exact,epsilon_lower,verdict\n";
    std::string error;
    cmd.Require(file.Flush(error), error);
    std::cout << std::left << std::setw(20) << "quantizer" << std::setw(6) << "bits"
              << std::setw(10) << "interval" << std::setw(12) << "claimed" << std::setw(12)
              << "exact" << std::setw(12) << "at least"
              << "verdict\n";
    uint32_t verdicts[3] = {0, 0, 0};
    uint32_t aboveExact = 0;
    for (const auto& one : cases)
    {
        PrivacyAudit::Device device;
        device.quantizer = one.quantizer;
        device.intervalRule = one.interval;
        device.clipNorm = CLIP_L1;
        device.clipBound = GetClipBound(one.quantizerName, dimension);
        device.bits = one.bits;
        device.reportDistortion = reportDistortion;
        const PrivacyAudit audit(device);
        const auto scope = audit.GetClaim(MakeInputs(dimension, PrivacyClaim::COORDINATE)[0]).scope;
        FederatedRandom random(stream->GetInteger(0, FederatedRandom::max()));
        const auto result = audit.Run(MakeInputs(dimension, scope),
                                      samples,
                                      1e-3 / static_cast<double>(cases.size()),
                                      random);
        const char* verdict = PrivacyAuditResult::GetName(result.verdict);
        ++verdicts[result.verdict];
        aboveExact += result.lower > result.exact;
        file.GetStream() << one.quantizerName << ',' << one.bits << ',' << one.intervalName << ','
                         << Format(result.claimed) << ',' << Format(result.exact) << ','
                         << Format(result.lower) << ',' << verdict << '\n';
        cmd.Require(file.Flush(error), error);
        std::cout << std::setw(20) << one.quantizerName << std::setw(6) << one.bits << std::setw(10)
                  << one.intervalName << std::setw(12) << Format(result.claimed) << std::setw(12)
                  << Format(result.exact) << std::setw(12) << Format(result.lower) << verdict
                  << std::endl;
    }
    cmd.Require(file.Commit(error), error);
    FederatedResultLine result;
    result.AddCount("rows", cases.size());
    result.AddCount("falsified", verdicts[PrivacyAuditResult::FALSIFIED]);
    result.AddCount("not_falsified", verdicts[PrivacyAuditResult::NOT_FALSIFIED]);
    result.AddCount("no_claim", verdicts[PrivacyAuditResult::NO_CLAIM]);
    result.AddCount("above_exact", aboveExact); // bounds that are wrong, if there are any
    result.Print(std::cout);
    return 0;
}
