// SPDX-License-Identifier: GPL-2.0-only

/*
 * Tries to falsify the privacy claim of every quantizer, with a public and with data-dependent
 * intervals; then looks for updates that share their coins.
 *
 *   two updates -> clip -> interval -> quantizer -> header and payload
 *   -> how well are they told apart?
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
 *   clip             norm and bound of the clip
 *   rho_claimed      what is claimed of any two updates, by zCDP; empty: nothing
 *   rho_exact        from the probabilities as they are drawn; empty: not known
 *   rho_lower        lower confidence bound from samples
 *
 * Then two federations with equal seeds run on one network, and a device of the first has two
 * lives. PREFIX-coins.csv compares the bits of their updates:
 *   updates_of       rounds (of one device), lives (of one device), federations
 *   updates, bits    how many were compared, and bits of each
 *   agreement        share of equal bits of the two updates that are furthest from independent
 *                    coins
 *   standard_errors  their distance from 1/2
 *   verdict          shared, independent
 *
 *   federated-audit --epsilon=1 --output=results/audit
 */

#include "ns3/coin-audit.h"
#include "ns3/double.h"
#include "ns3/federated-command-line.h"
#include "ns3/federated-header.h"
#include "ns3/federated-helper.h"
#include "ns3/federated-output-file.h"
#include "ns3/federated-port.h"
#include "ns3/federated-quantizers.h"
#include "ns3/federated-result-line.h"
#include "ns3/federated-streams.h"
#include "ns3/fixed-interval.h"
#include "ns3/inet-socket-address.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-address-helper.h"
#include "ns3/max-abs-interval.h"
#include "ns3/min-max-interval.h"
#include "ns3/node-container.h"
#include "ns3/object-factory.h"
#include "ns3/pointer.h"
#include "ns3/privacy-audit.h"
#include "ns3/random-variable-stream.h"
#include "ns3/randomized-response-quantizer.h"
#include "ns3/simple-net-device-helper.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
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
    ClipNorm clipNorm;
    double clipBound;
};

/** A quantizer. */
struct Known
{
    std::string name;
    std::vector<unsigned> bits;
    ClipNorm clipNorm;
    std::string typeId;
};

/** @return the quantizers, those with short names first. */
std::vector<Known>
GetQuantizers()
{
    std::vector<Known> quantizers{
        {"dp", {1, 2, 4, 6}, CLIP_L1, ""},
        {"sq", {1, 2, 4, 6}, CLIP_L1, ""},
        {"laplace", {1, 2, 4, 6}, CLIP_L1, ""},
        {"identity", {2}, CLIP_L1, ""}, // the resolution means nothing to it
        {"rr", {1}, CLIP_L1, ""},
        {"rr", {1}, CLIP_L2, ""}, // a rho of whole updates, too
        {"optimal", {1, 2, 4, 6}, CLIP_L1, ""},
        {"random-coordinates", {2}, CLIP_L1, ""},
        {"gaussian", {2}, CLIP_L2, ""}, // the resolution means nothing to it
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
            quantizers.push_back({typeId.substr(5), {2}, CLIP_L1, typeId});
        }
    }
    return quantizers;
}

/**
 * @param name Name of a quantizer.
 * @param norm The norm that is clipped.
 * @param dimension Size of an update.
 * @return C: large enough to leave every update in [-1, 1] unchanged; for LaplaceSQ the largest
 * value of one coordinate, so that a change of one coordinate uses all of its sensitivity.
 */
double
GetClipBound(const std::string& name, ClipNorm norm, uint32_t dimension)
{
    return name == "laplace" ? 1 : norm == CLIP_L2 ? std::sqrt(dimension) : dimension;
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
    if (typeId == "ns3::GaussianQuantizer")
    {
        factory.Set("Sigma", DoubleValue(2 * clipBound / epsilon)); // rho is epsilon^2/2
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
 * @param claim What is claimed.
 * @return updates in [-1, 1] that differ in one coordinate, which costs one epsilon of a claim for
 * a coordinate; and for a claim that covers an update also two that differ in all.
 */
std::vector<PrivacyAudit::Input>
MakeInputs(std::size_t dimension, const PrivacyClaim& claim)
{
    std::vector<PrivacyAudit::Input> inputs;
    PrivacyAudit::Input input(dimension);
    for (float first : {-1.0F, 1.0F, 0.1F, -0.3F})
    {
        input[0] = first;
        inputs.push_back(input);
    }
    if (claim.scope == PrivacyClaim::UPDATE || claim.updateRho > 0)
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

/** Keeps the bits of the updates that devices send, each in one message. */
class UpdateRecorder
{
  public:
    /** @param device A device that has not started. */
    void Watch(const Ptr<FederatedDevice>& device)
    {
        device->TraceConnectWithoutContext("Tx", MakeCallback(&UpdateRecorder::HandleTx, this));
    }

    /** @return the updates, in the order in which they were sent. */
    const std::vector<std::vector<uint8_t>>& GetPayloads() const
    {
        return m_payloads;
    }

  private:
    /** @param packet A message that a device sends. */
    void HandleTx(Ptr<const Packet> packet)
    {
        const Ptr<Packet> copy = packet->Copy();
        FederatedHeader header;
        copy->RemoveHeader(header);
        if (header.type == FederatedHeader::UPDATE)
        {
            m_payloads.emplace_back(copy->GetSize());
            copy->CopyData(m_payloads.back().data(), copy->GetSize());
        }
    }

    std::vector<std::vector<uint8_t>> m_payloads; //!< What was sent.
};

/** What devices of one simulation sent. */
struct CoinRuns
{
    UpdateRecorder rounds; //!< Device 1 of the first federation.
    UpdateRecorder lives;  //!< Device 0 of the first federation, in two lives.
    UpdateRecorder others; //!< The devices of the second federation.
    std::size_t bits = 0;  //!< Coordinates of an update.
};

/**
 * Install a federation whose updates are fair coins, one bit a coordinate.
 * @param federation The federation.
 * @param devices Nodes of the devices.
 * @param center Node and address of the center.
 */
void
InstallCoins(FederatedHelper& federation,
             const NodeContainer& devices,
             const Ptr<Node>& center,
             const Address& address)
{
    auto quantizer = CreateObject<RandomizedResponseQuantizer>();
    quantizer->SetEpsilon(1e-3); // the data hardly matters
    federation.AddGroup(devices, 1);
    federation.SetAlgorithm("alg1");
    federation.SetQuantizer(quantizer);
    federation.SetData(FederatedData::MakeSynthetic(1, 400, 100, 16, 16, 10));
    federation.SetTaskAttribute("Model", StringValue("ns3::LogisticModel"));
    federation.SetTaskAttribute("Threads", UintegerValue(1));
    federation.SetCenterAttribute("Rounds", UintegerValue(8));
    federation.SetCenterAttribute("Participants", UintegerValue(devices.GetN()));
    federation.SetCenterAttribute("EvaluationInterval", UintegerValue(0));
    // Half a second of training, so that a device has two lives in eight rounds.
    federation.SetDeviceAttribute("TimePerSample",
                                  StringValue("ns3::ConstantRandomVariable[Constant=0.005]"));
    federation.Install(center, address);
}

/**
 * Run two federations with equal seeds.
 * @param [out] runs What was sent.
 */
void
RunCoins(CoinRuns& runs)
{
    NodeContainer nodes(3); // the center, then two devices
    SimpleNetDeviceHelper wires;
    InternetStackHelper().Install(nodes);
    Ipv4AddressHelper addresses("10.1.0.0", "255.255.255.0");
    const Ipv4Address center = addresses.Assign(wires.Install(nodes)).GetAddress(0);
    const NodeContainer devices(nodes.Get(1), nodes.Get(2));
    FederatedHelper first;
    FederatedHelper second;
    const InetSocketAddress address(center, FederatedPort::CENTER);
    InstallCoins(first, devices, nodes.Get(0), address);
    InstallCoins(
        second, devices, nodes.Get(0), InetSocketAddress(center, FederatedPort::CENTER + 1));
    runs.bits = first.GetTask()->GetDimension();
    runs.lives.Watch(first.GetDevices()[0]);
    runs.rounds.Watch(first.GetDevices()[1]);
    runs.others.Watch(second.GetDevices()[0]);
    runs.others.Watch(second.GetDevices()[1]);

    // The second life: another application with the same task and number.
    first.GetDevices()[0]->SetStopTime(Seconds(2));
    auto life = CreateObject<FederatedDevice>();
    for (const char* name : {"Task", "Quantizer", "IntervalRule", "TimePerSample"})
    {
        PointerValue value;
        first.GetDevices()[0]->GetAttribute(name, value);
        life->SetAttribute(name, value);
    }
    life->SetAttribute("Remote", AddressValue(address));
    life->SetAttribute("Bits", UintegerValue(1));
    life->SetStartTime(Seconds(2.5));
    devices.Get(0)->AddApplication(life);
    runs.lives.Watch(life);
    Simulator::Stop(Seconds(60));
    Simulator::Run();
    Simulator::Destroy();
}

/**
 * Compare the updates, print a table and write it.
 * @param cmd Ends the program if the file cannot be written.
 * @param path The file.
 * @param alpha Probability of a false alarm in a row.
 * @return how many rows have updates with shared coins.
 */
uint32_t
AuditCoins(FederatedCommandLine& cmd, const std::string& path, double alpha)
{
    CoinRuns runs;
    RunCoins(runs);
    const auto& rounds = runs.rounds.GetPayloads();
    const auto& lives = runs.lives.GetPayloads();
    auto federations = runs.others.GetPayloads();
    federations.insert(federations.end(), rounds.begin(), rounds.end());
    federations.insert(federations.end(), lives.begin(), lives.end());
    const std::vector<std::pair<std::string, std::vector<std::vector<uint8_t>>>> rows{
        {"rounds", rounds}, {"lives", lives}, {"federations", federations}};
    FederatedOutputFile file(path);
    file.GetStream() << "updates_of,updates,bits,agreement,standard_errors,verdict\n";
    std::cout << std::setw(20) << "coins of" << std::setw(10) << "updates" << std::setw(12)
              << "agreement" << std::setw(18) << "standard errors"
              << "verdict\n";
    uint32_t shared = 0;
    for (const auto& [name, payloads] : rows)
    {
        CoinAudit audit(runs.bits);
        for (const auto& payload : payloads)
        {
            audit.Add(payload);
        }
        const auto worst = audit.GetWorst();
        const bool isShared = audit.FindsSharedCoins(alpha);
        const std::string verdict = isShared ? "shared" : "independent";
        shared += isShared;
        file.GetStream() << name << ',' << payloads.size() << ',' << runs.bits << ','
                         << worst.agreement << ',' << worst.standardErrors << ',' << verdict
                         << '\n';
        std::cout << std::setw(20) << name << std::setw(10) << payloads.size() << std::setw(12)
                  << worst.agreement << std::setw(18) << worst.standardErrors << verdict
                  << std::endl;
    }
    std::string error;
    cmd.Require(file.Flush(error) && file.Commit(error), error);
    return shared;
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

    // A claim holds for a public interval. The others depend on the update, and are sent with it.
    const std::vector<std::pair<std::string, Ptr<IntervalRule>>> intervals{
        {"fixed",
         CreateObjectWithAttributes<FixedInterval>("Low", DoubleValue(-1), "High", DoubleValue(1))},
        {"max-abs", CreateObject<MaxAbsInterval>()},
        {"min-max", CreateObject<MinMaxInterval>()}};
    // Every quantizer of the module is tried; one of your own as soon as it is registered.
    std::vector<Case> cases;
    for (const auto& [name, resolutions, norm, typeId] : GetQuantizers())
    {
        const double bound = GetClipBound(name, norm, dimension);
        const auto quantizer = MakeQuantizer(typeId, epsilon, bound);
        for (const auto& [intervalName, interval] : intervals)
        {
            for (unsigned bits : resolutions)
            {
                cases.push_back({name, quantizer, bits, intervalName, interval, norm, bound});
            }
        }
    }
    auto stream = CreateObject<UniformRandomVariable>();
    stream->SetStream(FederatedStreams::TOOL);

    FederatedOutputFile file(output + ".csv");
    file.GetStream()
        << "quantizer,bits,interval,epsilon_claimed,epsilon_exact,epsilon_lower,verdict,clip,"
           "rho_claimed,rho_exact,rho_lower\n";
    std::string error;
    cmd.Require(file.Flush(error), error);
    std::cout << std::left << std::setw(20) << "quantizer" << std::setw(6) << "bits"
              << std::setw(10) << "interval" << std::setw(12) << "claimed" << std::setw(12)
              << "exact" << std::setw(12) << "at least" << std::setw(15) << "verdict"
              << std::setw(10) << "rho" << std::setw(10) << "exact"
              << "at least\n";
    uint32_t verdicts[3] = {0, 0, 0};
    uint32_t aboveExact = 0;
    for (const auto& one : cases)
    {
        PrivacyAudit::Device device;
        device.quantizer = one.quantizer;
        device.intervalRule = one.interval;
        device.clipNorm = one.clipNorm;
        device.clipBound = one.clipBound;
        device.bits = one.bits;
        device.reportDistortion = reportDistortion;
        const PrivacyAudit audit(device);
        const PrivacyClaim claim = audit.GetClaim(MakeInputs(dimension, PrivacyClaim())[0]);
        FederatedRandom random(stream->GetInteger(0, FederatedRandom::max()));
        const auto result = audit.Run(MakeInputs(dimension, claim),
                                      samples,
                                      1e-3 / static_cast<double>(cases.size()),
                                      random);
        const char* verdict = PrivacyAuditResult::GetName(result.verdict);
        ++verdicts[result.verdict];
        aboveExact += result.lower > result.exact;
        file.GetStream() << one.quantizerName << ',' << one.bits << ',' << one.intervalName << ','
                         << Format(result.claimed) << ',' << Format(result.exact) << ','
                         << Format(result.lower) << ',' << verdict << ','
                         << (one.clipNorm == CLIP_L2 ? "l2:" : "l1:") << one.clipBound << ','
                         << Format(result.claimedRho) << ',' << Format(result.exactRho) << ','
                         << Format(result.lowerRho) << '\n';
        cmd.Require(file.Flush(error), error);
        std::cout << std::setw(20) << one.quantizerName << std::setw(6) << one.bits << std::setw(10)
                  << one.intervalName << std::setw(12) << Format(result.claimed) << std::setw(12)
                  << Format(result.exact) << std::setw(12) << Format(result.lower) << std::setw(15)
                  << verdict << std::setw(10) << Format(result.claimedRho) << std::setw(10)
                  << Format(result.exactRho) << Format(result.lowerRho) << std::endl;
    }
    cmd.Require(file.Commit(error), error);
    const uint32_t shared = AuditCoins(cmd, output + "-coins.csv", 1e-4);
    FederatedResultLine result;
    result.AddCount("rows", cases.size());
    result.AddCount("falsified", verdicts[PrivacyAuditResult::FALSIFIED]);
    result.AddCount("not_falsified", verdicts[PrivacyAuditResult::NOT_FALSIFIED]);
    result.AddCount("no_claim", verdicts[PrivacyAuditResult::NO_CLAIM]);
    result.AddCount("above_exact", aboveExact); // bounds that are wrong, if there are any
    result.AddCount("shared_coins", shared);
    return cmd.Finish(result);
}
