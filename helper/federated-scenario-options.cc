// SPDX-License-Identifier: GPL-2.0-only

#include "federated-scenario-options.h"

#include "ns3/double.h"
#include "ns3/federated-number.h"
#include "ns3/federated-streams.h"
#include "ns3/mobility-helper.h"
#include "ns3/pointer.h"
#include "ns3/position-allocator.h"
#include "ns3/quantizer.h"
#include "ns3/random-variable-stream.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <sstream>

namespace ns3
{

namespace
{

constexpr uint32_t MAX_DEVICES = 10000;

} // namespace

void
FederatedScenarioOptions::AddFederation(FederatedCommandLine& cmd)
{
    cmd.AddCount("devices", "Number of devices, half of them with 2 bits", devices, 2, MAX_DEVICES);
    cmd.AddText("groups", "Devices and their bits, as 50x2,50x4, instead of --devices", groups);
    cmd.AddCount("participants", "Devices selected in a round", participants, 1, MAX_DEVICES);
    AddSelection(cmd);
    cmd.AddCount("rounds", "Number of rounds", rounds, 1, 1000000);
    cmd.AddTime("deadline", "Longest round", deadline, MilliSeconds(1), Hours(1000));
    cmd.AddTime("time-per-sample", "Training time of a sample", timePerSample, Time(0), Hours(1));
    cmd.AddChoice("profile", "Reading of the paper", profile, FederatedHelper::GetProfiles());
    cmd.AddChoice("algorithm",
                  "Quantizer, fusion rule and cluster sizes",
                  algorithm,
                  FederatedHelper::GetAlgorithms());
    AddWeights(cmd);
    cmd.AddReal("epsilon", "Epsilon of one coordinate of one update", epsilon, 1e-300, 1e300);
    cmd.AddChoice(
        "noise",
        "Noise on received updates: none (digital links), snr (as if sent uncoded) or fixed",
        noise,
        {"none", "snr", "fixed"});
    cmd.AddReal("sigma1", "Fixed noise of the first group, standard deviation", sigma1, 0, 1e6);
    cmd.AddReal("sigma2", "Fixed noise of the other groups", sigma2, 0, 1e6);
    cmd.AddText("budget", "B, bits a coordinate in a round: measured, or a number", budget);
    cmd.AddChoice("loss-policy",
                  "How lost coordinates are handled",
                  lossPolicy,
                  {"renormalize", "zero", "drop"},
                  {{"renormalise", "renormalize"}});
    learning.Add(cmd);
    cmd.AddCount("threads", "Threads that train and evaluate, 0 for all cores", threads, 0, 1024);
    AddEncryption(cmd, encrypt);
    AddPreparation(cmd);
    cmd.AddData(data);
    cmd.AddOutput(output);
}

void
FederatedScenarioOptions::AddWeights(FederatedCommandLine& cmd)
{
    cmd.AddChoice("weights",
                  "Weights of the updates, where the algorithm leaves them open",
                  weights,
                  FederatedHelper::GetWeights());
}

void
FederatedScenarioOptions::AddPreparation(FederatedCommandLine& cmd)
{
    cmd.AddReal("clip", "Largest norm of an update, 0: of the profile", clip, 0, 1e9);
    cmd.AddReal("interval",
                "A: coordinates are clamped to [-A, A], 0: interval of the profile",
                interval,
                0,
                1e6);
    AddRotation(cmd, rotation);
    AddInterleave(cmd, interleave);
}

void
FederatedScenarioOptions::AddPlaces(FederatedCommandLine& cmd)
{
    cmd.AddReal("radius", "Radius of the disc with the devices, in m", radius, 0.1, 100000);
    cmd.AddReal("speed", "Speed of the devices, in m/s", speed, 0, 1000);
    cmd.AddReal("exponent", "Exponent of the path loss", exponent, 1, 10);
}

void
FederatedScenarioOptions::AddEncryption(FederatedCommandLine& cmd, bool& encrypt)
{
    cmd.AddFlag("encrypt", "Encrypt all messages", encrypt);
}

void
FederatedScenarioOptions::SetEncryption(FederatedHelper& federation, bool encrypt)
{
    if (encrypt)
    {
        federation.SetEncryptionKey("known to the federation only");
    }
}

FederatedData
FederatedScenarioOptions::LoadPooled(const FederatedCommandLine& cmd,
                                     const std::string& folder,
                                     uint32_t pool)
{
    std::string error;
    const FederatedData sets = FederatedData::LoadDirectory(folder, error);
    cmd.Require(sets.train != nullptr, error);
    const uint32_t rows = sets.train->GetRows();
    const uint32_t columns = sets.train->GetColumns();
    cmd.Require(rows % pool == 0 && columns % pool == 0,
                "Option --pool is " + std::to_string(pool) + ", which does not divide images of " +
                    std::to_string(rows) + " x " + std::to_string(columns) + " pixels.");
    return sets.Pool(pool);
}

void
FederatedScenarioOptions::AddRotation(FederatedCommandLine& cmd, bool& rotation)
{
    cmd.AddFlag(
        "rotation",
        "Rotate updates at random: lost fragments take a little of every coordinate (profile "
        "sound then needs another --clip and --interval)",
        rotation);
}

void
FederatedScenarioOptions::AddInterleave(FederatedCommandLine& cmd, bool& interleave)
{
    cmd.AddFlag("interleave",
                "Spread the coordinates of each layer over all fragments: a burst of lost "
                "fragments takes a share of every layer",
                interleave);
}

void
FederatedScenarioOptions::AddSelection(FederatedCommandLine& cmd)
{
    cmd.AddChoice("selection",
                  "Which devices of a group are selected",
                  selection,
                  {"random", "best-snr", "round-robin"});
}

bool
FederatedScenarioOptions::ReadGroups(const std::string& text, std::vector<Group>& groups)
{
    groups.clear();
    uint64_t devices = 0;
    for (const std::string& item : FederatedNumber::Split(text))
    {
        const std::size_t cross = item.find('x');
        uint64_t count = 0;
        uint64_t bits = 0;
        if (cross == std::string::npos ||
            !FederatedNumber::ReadCount(item.substr(0, cross), count) ||
            !FederatedNumber::ReadCount(item.substr(cross + 1), bits) || count < 1 ||
            count > MAX_DEVICES || bits < 1 || bits > Quantizer::MAX_BITS)
        {
            return false;
        }
        groups.push_back({static_cast<uint32_t>(count), static_cast<unsigned>(bits)});
        devices += count;
    }
    return devices > 0 && devices <= MAX_DEVICES;
}

void
FederatedScenarioOptions::RequireWake(const FederatedCommandLine& cmd,
                                      const std::string& sleep,
                                      const Time& wake) const
{
    std::ostringstream text;
    text << "Option --deadline is " << deadline.GetSeconds() << "s, but radios need "
         << wake.GetSeconds() << "s to wake; --sleep is " << sleep << '.';
    cmd.Require(deadline > wake, text.str());
}

void
FederatedScenarioOptions::ReadOrExit(const FederatedCommandLine& cmd)
{
    m_groups = {{devices / 2, 2}, {devices - devices / 2, 4}};
    cmd.Require(groups.empty() || ReadGroups(groups, m_groups),
                "Option --groups is '" + groups + "', not groups such as 50x2,50x4 with 1 to " +
                    std::to_string(Quantizer::MAX_BITS) + " bits and at most " +
                    std::to_string(MAX_DEVICES) + " devices.");
    cmd.Require(participants >= m_groups.size(),
                "Option --participants is " + std::to_string(participants) + ", but each of the " +
                    std::to_string(m_groups.size()) + " groups sends at least one device.");
    std::string error;
    cmd.Require(FederatedHelper::CheckWeights(algorithm, weights, error), error);
    cmd.Require(measuresSnr || selection != "best-snr",
                "Option --selection=best-snr needs the SNR of the links, which is not measured "
                "here.");
    m_budget = "ns3::MeasuredBitBudget";
    if (budget != "measured")
    {
        double bits = 0;
        cmd.Require(FederatedNumber::ReadReal(budget, bits) && bits >= 0,
                    "Option --budget is '" + budget +
                        "', neither measured nor a number that is not negative.");
        m_budget = "ns3::FixedBitBudget[Bits=" + budget + "]";
    }
}

uint32_t
FederatedScenarioOptions::CountDevices() const
{
    uint32_t count = 0;
    for (const Group& group : m_groups)
    {
        count += group.devices;
    }
    return count;
}

uint32_t
FederatedScenarioOptions::CountGroups() const
{
    return static_cast<uint32_t>(m_groups.size());
}

FederatedData
FederatedScenarioOptions::LoadOrExit(const FederatedCommandLine& cmd) const
{
    std::string error;
    FederatedData sets = FederatedData::LoadDirectory(data, error);
    cmd.Require(sets.train != nullptr, error);
    return sets;
}

void
FederatedScenarioOptions::SetUp(FederatedHelper& federation, const FederatedCommandLine& cmd) const
{
    SetUp(federation, cmd, LoadOrExit(cmd), 0);
}

void
FederatedScenarioOptions::SetUp(FederatedHelper& federation,
                                const FederatedCommandLine& cmd,
                                const FederatedData& sets,
                                uint32_t rank) const
{
    std::string error;
    federation.SetCommand(cmd.GetCommand());
    federation.SetProfile(profile);
    federation.SetAlgorithm(algorithm);
    federation.SetWeights(weights);
    federation.SetEpsilon(epsilon);
    federation.SetData(sets);
    for (const Group& group : m_groups)
    {
        federation.AddGroup(NodeContainer(group.devices, rank), group.bits);
    }
    std::string noiseModel = noise == "snr" ? "ns3::SnrLinkNoise" : "ns3::NoLinkNoise";
    if (noise == "fixed")
    {
        std::ostringstream text;
        text.precision(17);
        text << "ns3::FixedLinkNoise[Sigmas=" << sigma1 << ',' << sigma2 << ']';
        noiseModel = text.str();
    }
    SetEncryption(federation, encrypt);
    if (clip > 0)
    {
        federation.SetClipBound(clip);
    }
    if (interval > 0)
    {
        federation.SetInterval(interval);
    }
    if (rotation)
    {
        federation.SetRotation(true);
    }
    if (interleave)
    {
        federation.SetInterleave(true);
    }
    learning.SetUp(federation);
    federation.SetTaskAttribute("Threads", UintegerValue(threads));
    federation.SetCenterAttribute("LinkNoise", StringValue(noiseModel));
    federation.SetCenterAttribute("BitBudget", StringValue(m_budget));
    federation.SetCenterAttribute("LossPolicy", StringValue(lossPolicy));
    federation.SetCenterAttribute("Participants", UintegerValue(participants));
    federation.SetCenterAttribute("SelectionPolicy",
                                  StringValue(selection == "best-snr" ? "ns3::BestSnrSelection"
                                              : selection == "round-robin"
                                                  ? "ns3::RoundRobinSelection"
                                                  : "ns3::RandomSelection"));
    federation.SetCenterAttribute("Rounds", UintegerValue(rounds));
    federation.SetCenterAttribute("Deadline", TimeValue(deadline));
    auto training = CreateObject<ConstantRandomVariable>();
    training->SetAttribute("Constant", DoubleValue(timePerSample.GetSeconds()));
    federation.SetDeviceAttribute("TimePerSample", PointerValue(training));
    cmd.Require(federation.Check(error), error);
}

void
FederatedScenarioOptions::Place(const NodeContainer& devices, const Ptr<Node>& reference) const
{
    Place(devices, reference, Vector(0, 0, 0), FederatedStreams::POSITIONS);
}

void
FederatedScenarioOptions::Place(const NodeContainer& devices,
                                const Ptr<Node>& reference,
                                const Vector& center,
                                int64_t stream) const
{
    MobilityHelper still;
    auto origin = CreateObject<ListPositionAllocator>();
    origin->Add(center);
    still.SetPositionAllocator(origin);
    still.Install(reference);

    auto disc = CreateObject<UniformDiscPositionAllocator>();
    disc->SetRho(radius);
    disc->SetX(center.x);
    disc->SetY(center.y);
    disc->AssignStreams(stream);
    MobilityHelper mobility;
    mobility.SetPositionAllocator(disc);
    if (speed > 0)
    {
        auto next = CreateObject<UniformDiscPositionAllocator>(); // for the walks
        next->SetRho(radius);
        next->SetX(center.x);
        next->SetY(center.y);
        std::ostringstream text;
        text << "ns3::ConstantRandomVariable[Constant=" << speed << ']';
        mobility.SetMobilityModel("ns3::RandomWaypointMobilityModel",
                                  "Speed",
                                  StringValue(text.str()),
                                  "Pause",
                                  StringValue("ns3::ConstantRandomVariable[Constant=0]"),
                                  "PositionAllocator",
                                  PointerValue(next));
    }
    mobility.Install(devices);
    mobility.AssignStreams(devices, stream + FederatedStreams::WALKS - FederatedStreams::POSITIONS);
}

void
FederatedScenarioOptions::PlaceOthers(const NodeContainer& others) const
{
    auto disc = CreateObject<UniformDiscPositionAllocator>();
    disc->SetRho(radius);
    disc->AssignStreams(FederatedStreams::POSITIONS + 5);
    MobilityHelper mobility;
    mobility.SetPositionAllocator(disc);
    mobility.Install(others);
}

} // namespace ns3
