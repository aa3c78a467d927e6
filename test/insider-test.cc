// SPDX-License-Identifier: GPL-2.0-only

#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/federated-helper.h"
#include "ns3/federated-star-helper.h"
#include "ns3/identity-quantizer.h"
#include "ns3/insider-attack.h"
#include "ns3/logistic-model.h"
#include "ns3/pointer.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"
#include "ns3/unbiased-stochastic-quantizer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <string>
#include <vector>

using namespace ns3;

namespace
{

constexpr uint32_t DEVICES = 6; // the first one is the insider
constexpr uint32_t ROUNDS = 6;
constexpr double CLIP = 1; // l2 norm of an update
constexpr double SHARE = 1.0 / DEVICES;
const Time DEADLINE = Seconds(1);

/** What devices and center agree on. */
enum class Setting
{
    LEVELS,     // 4 bits on a fixed interval
    FLOATS,     // clipped
    DISTORTION, // 4 bits on the interval of the update, weights by the reported distortion
    INTERVAL,   // 4 bits on the interval of the update, clipped
    TIME,       // as LEVELS, with a measured bit budget and measured slots
};

/** An attack, the rule that limits it, and what must hold. */
struct Row
{
    const char* name;                 // of the test
    const char* attack;               // of ns3::InsiderAttack
    Setting setting;                  // in which it can do harm
    const char* rule;                 // that limits it
    std::optional<DropReason> reason; // of messages that the center drops
    double weight;                    // of the insider in a round, at most
    double time;                      // of all rounds, at most, relative to honest ones; 0: all
                                      // rounds may last until their deadlines
    double loss;                      // of the model, at most, above that with honest devices
};

void
PrintTo(const Row& row, std::ostream* os)
{
    *os << row.attack << ": " << row.rule;
}

const Row ROWS[] = {
    {"Flip",
     "InsiderAttack[Attack=flip]",
     Setting::LEVELS,
     "one device has one share, on the agreed interval",
     std::nullopt,
     SHARE,
     1,
     0.1},
    {"ExtremeLevels",
     "InsiderAttack[Attack=extreme-levels]",
     Setting::LEVELS,
     "one device has one share, on the agreed interval",
     std::nullopt,
     SHARE,
     1,
     1},
    {"ExtremeFloats",
     "InsiderAttack[Attack=extreme-floats]",
     Setting::FLOATS,
     "floats beyond the clip are invalid",
     DROP_INVALID,
     0,
     1.2,
     0.1},
    {"FloatsOfTheSizeOfTheClip",
     "InsiderAttack[Attack=extreme-floats|Magnitude=1]",
     Setting::FLOATS,
     "the norm of all floats together is limited by the clip",
     DROP_INVALID,
     SHARE,
     1.2,
     0.1},
    {"NaN",
     "InsiderAttack[Attack=nan-floats]",
     Setting::FLOATS,
     "floats must be finite",
     DROP_NOT_FINITE,
     0,
     1.2,
     0.1},
    {"DistortionZero",
     "InsiderAttack[Attack=distortion-zero|Flip=1]",
     Setting::DISTORTION,
     "a report counts at least as 0.7 of what the interval makes expect",
     std::nullopt,
     3 * SHARE,
     1.2,
     0.2}, // a mirrored update of about two shares
    {"DistortionDenormal",
     "InsiderAttack[Attack=distortion-denormal|Flip=1]",
     Setting::DISTORTION,
     "a report counts at least as 0.7 of what the interval makes expect",
     std::nullopt,
     3 * SHARE,
     1.2,
     0.2}, // a mirrored update of about two shares
    {"DistortionMissing",
     "InsiderAttack[Attack=distortion-missing|Flip=1]",
     Setting::DISTORTION,
     "an update without its distortion is invalid",
     DROP_INVALID,
     0,
     1.2,
     0.1},
    {"WideInterval",
     "InsiderAttack[Attack=wide-interval|Flip=1]",
     Setting::INTERVAL,
     "an interval is limited by the clip",
     DROP_INVALID,
     0,
     1.2,
     0.1},
    {"WrongBits",
     "InsiderAttack[Attack=wrong-bits]",
     Setting::LEVELS,
     "an update has the granted resolution",
     DROP_INVALID,
     0,
     1.2,
     0.1},
    {"Overlap",
     "InsiderAttack[Attack=overlap]",
     Setting::LEVELS,
     "a coordinate is accepted once",
     DROP_INVALID,
     SHARE,
     1.2,
     0.1},
    {"Replay",
     "InsiderAttack[Attack=replay]",
     Setting::LEVELS,
     "messages belong to one round",
     DROP_OLD,
     SHARE,
     1.2,
     0},
    {"Stale",
     "InsiderAttack[Attack=stale]",
     Setting::LEVELS,
     "one device has one share, on the agreed interval",
     std::nullopt,
     SHARE,
     1,
     0.1},
    {"Impersonation",
     "InsiderAttack[Attack=impersonation]",
     Setting::LEVELS,
     "an identifier is bound to its address",
     DROP_FOREIGN,
     SHARE,
     1.2,
     0},
    {"Silence",
     "InsiderAttack[Attack=silence]",
     Setting::TIME,
     "a round ends at its deadline",
     std::nullopt,
     0,
     0,
     0.1},
    {"NoAck",
     "InsiderAttack[Attack=no-ack]",
     Setting::TIME,
     "a round ends at its deadline",
     std::nullopt,
     0,
     0,
     0.1},
    {"Slowness",
     "InsiderAttack[Attack=slowness|Margin=2ms]",
     Setting::TIME,
     "the slowest devices do not count in the measured rate",
     std::nullopt,
     SHARE,
     0,
     0.1},
    {"Lateness",
     "InsiderAttack[Attack=lateness|Margin=2ms]",
     Setting::TIME,
     "the latest devices do not count in the measured lateness",
     std::nullopt,
     SHARE,
     0,
     0.1},
    {"LongTraining",
     "InsiderAttack[Attack=long-training|TrainingTime=960ms]",
     Setting::TIME,
     "the slowest devices do not count in the time for updates",
     std::nullopt,
     SHARE,
     0,
     0.1},
    {"RepairFlood",
     "InsiderAttack[Attack=repair-flood]",
     Setting::TIME,
     "repairs of a device are limited in a round",
     std::nullopt,
     SHARE,
     0,
     0.1},
    {"DoneFlood",
     "InsiderAttack[Attack=done-flood]",
     Setting::TIME,
     "a device answers once in a round",
     DROP_DUPLICATE,
     SHARE,
     1.2,
     0.1},
    {"JoinFlapping",
     "InsiderAttack[Attack=join-flapping]",
     Setting::TIME,
     "a device that left is not waited for",
     std::nullopt,
     SHARE,
     0,
     0.1},
};

/** A federation of devices with one insider, on wires. */
class InsiderFederation : public testing::Test
{
  public:
    /** What a run has shown. */
    struct Outcome
    {
        std::vector<RoundRecord> rounds;
        std::vector<float> model;
        uint64_t sent = 0; // messages of the center
        uint64_t unused[DROP_REASONS] = {};

        double GetLoss() const
        {
            return rounds.back().trainLoss;
        }

        double GetTime() const
        {
            return rounds.back().end.GetSeconds();
        }
    };

    void TearDown() override
    {
        Simulator::Destroy();
    }

    /** Run a federation whose first device is an insider, unless its attack is empty. */
    Outcome Run(Setting setting,
                const std::string& tampering,
                const std::string& protocol = "udp",
                const std::string& key = "")
    {
        Simulator::Destroy();
        RngSeedManager::SetSeed(1);
        RngSeedManager::SetRun(1);
        NodeContainer nodes(DEVICES);
        FederatedHelper federation;
        SetUp(federation, setting);
        federation.SetProtocol(protocol);
        federation.SetEncryptionKey(key);
        if (patience > 0)
        {
            federation.SetCenterAttribute("Patience", DoubleValue(patience));
        }
        federation.AddGroup(nodes, 4);
        FederatedStarHelper star;
        star.SetDeviceLink(DataRate("10Mbps"), MilliSeconds(2));
        star.SetTiers(0);
        star.Install(federation, CreateObject<Node>());
        federation.StopWhenFinished();
        const Ptr<FusionCenter> center = federation.GetCenter();
        if (!tampering.empty())
        {
            federation.GetDevices()[0]->SetAttribute("Tampering", StringValue("ns3::" + tampering));
        }
        Outcome outcome;
        center->TraceConnectWithoutContext("RoundEnd", MakeBoundCallback(&OnRound, &outcome));
        center->TraceConnectWithoutContext("Tx", MakeBoundCallback(&OnSent, &outcome));
        Simulator::Run();
        outcome.model = center->GetModel();
        for (std::size_t i = 0; i < DROP_REASONS; ++i)
        {
            outcome.unused[i] = center->GetDropped(static_cast<DropReason>(i));
        }
        return outcome;
    }

    double patience = 0; // of the center

  private:
    static void SetUp(FederatedHelper& federation, Setting setting)
    {
        const bool isFixed = setting == Setting::LEVELS || setting == Setting::TIME;
        federation.SetAlgorithm("alg1");
        federation.SetData(FederatedData::MakeSynthetic(7, 40 * DEVICES, 200, 8, 8, 4));
        federation.SetTaskAttribute("Model", PointerValue(CreateObject<LogisticModel>()));
        federation.SetTaskAttribute("Threads", UintegerValue(1));
        Ptr<Quantizer> quantizer = CreateObject<UnbiasedStochasticQuantizer>();
        if (setting == Setting::FLOATS)
        {
            quantizer = CreateObject<IdentityQuantizer>();
        }
        federation.SetQuantizer(quantizer);
        federation.SetDeviceAttribute(
            "IntervalRule",
            StringValue(isFixed ? "ns3::FixedInterval[Low=-0.3|High=0.3]" : "ns3::MaxAbsInterval"));
        federation.SetDeviceAttribute("ClipNorm", StringValue("l2"));
        federation.SetDeviceAttribute("ClipBound", DoubleValue(CLIP));
        federation.SetDeviceAttribute("LearningRate", DoubleValue(0.1));
        federation.SetDeviceAttribute("ReportDistortion",
                                      BooleanValue(setting == Setting::DISTORTION));
        federation.SetDeviceAttribute("FragmentSize", UintegerValue(150));
        federation.SetCenterAttribute("FragmentSize", UintegerValue(150));
        federation.SetCenterAttribute("FusionRule",
                                      StringValue(setting == Setting::DISTORTION
                                                      ? "ns3::EffectiveSnrFusion[Distortion=exact]"
                                                      : "ns3::UniformFusion"));
        federation.SetCenterAttribute("BitBudget",
                                      StringValue(setting == Setting::TIME
                                                      ? "ns3::MeasuredBitBudget"
                                                      : "ns3::FixedBitBudget[Bits=1000]"));
        federation.SetCenterAttribute("MeasuredSlots", BooleanValue(setting == Setting::TIME));
        federation.SetCenterAttribute("Participants", UintegerValue(DEVICES));
        federation.SetCenterAttribute("Rounds", UintegerValue(ROUNDS));
        federation.SetCenterAttribute("Deadline", TimeValue(DEADLINE));
        federation.SetCenterAttribute("DownlinkRate", StringValue("8Mbps"));
        federation.SetCenterAttribute("UplinkRate", StringValue("8Mbps"));
    }

    static void OnRound(Outcome* outcome, const RoundRecord& record)
    {
        outcome->rounds.push_back(record);
    }

    static void OnSent(Outcome* outcome, Ptr<const Packet>)
    {
        ++outcome->sent;
    }
};

/** The rows of the table. */
class Insiders : public InsiderFederation, public testing::WithParamInterface<Row>
{
};

/** Check what holds after every attack: the others train on as if the insider were not there. */
void
ExpectUnharmed(const InsiderFederation::Outcome& outcome, double largestWeight)
{
    ASSERT_EQ(outcome.rounds.size(), ROUNDS);
    for (const RoundRecord& record : outcome.rounds)
    {
        EXPECT_FALSE(record.skipped) << "round " << record.round;
        EXPECT_LE(record.end - record.start, DEADLINE) << "round " << record.round;
        std::set<uint32_t> honest;
        for (const LinkRecord& link : record.links)
        {
            if (link.device == 0)
            {
                EXPECT_LE(link.weight, largestWeight * (1 + 1e-9)) << "round " << record.round;
            }
            else if (link.state == PARTICIPANT_COMPLETE && link.weight > 0)
            {
                honest.insert(link.device);
            }
        }
        EXPECT_EQ(honest.size(), DEVICES - 1) << "round " << record.round;
    }
    EXPECT_TRUE(std::all_of(outcome.model.begin(),
                            outcome.model.end(),
                            [](float value) { return std::isfinite(value); }));
}

std::string
GetName(const testing::TestParamInfo<Row>& row)
{
    return row.param.name;
}

} // namespace

TEST_P(Insiders, AreLimitedByPublicNumbers)
{
    const Row& row = GetParam();
    const Outcome honest = Run(row.setting, "");
    ExpectUnharmed(honest, 3 * SHARE); // the weights of honest devices differ, too
    const Outcome outcome = Run(row.setting, row.attack);
    ExpectUnharmed(outcome, row.weight);
    if (row.reason)
    {
        EXPECT_GT(outcome.unused[*row.reason], 0U) << GetDropReasonName(*row.reason);
    }
    if (row.time > 0) // else until the deadline, which is checked for each round
    {
        EXPECT_LE(outcome.GetTime(), honest.GetTime() * row.time);
    }
    EXPECT_LE(outcome.GetLoss(), honest.GetLoss() + row.loss);
}

INSTANTIATE_TEST_SUITE_P(Attacks, Insiders, testing::ValuesIn(ROWS), GetName);

namespace
{

/** @return all attacks by their names, in a setting in which most of them change something. */
std::vector<std::string>
ListAttacks()
{
    std::vector<std::string> attacks;
    for (const std::string& name : InsiderAttack::GetNames())
    {
        attacks.push_back("InsiderAttack[Attack=" + name + "|Messages=100]");
    }
    return attacks;
}

} // namespace

TEST_F(InsiderFederation, OverTcpEveryAttackLeavesTheOthersComplete)
{
    for (const std::string& attack : ListAttacks())
    {
        SCOPED_TRACE(attack);
        const Outcome outcome = Run(Setting::LEVELS, attack, "tcp");
        ExpectUnharmed(outcome, SHARE);
    }
}

TEST_F(InsiderFederation, HasKeysAndIsLimitedByTheSameRules)
{
    const std::string key = "the key of this federation";
    for (const std::string& attack : ListAttacks())
    {
        SCOPED_TRACE(attack);
        const Outcome outcome = Run(Setting::LEVELS, attack, "udp", key);
        ExpectUnharmed(outcome, SHARE);
        EXPECT_EQ(outcome.unused[DROP_CHECKSUM] + outcome.unused[DROP_MALFORMED], 0U);
    }
    const Outcome outcome = Run(Setting::LEVELS, "InsiderAttack[Attack=flip]", "udp", key);
    EXPECT_DOUBLE_EQ(outcome.rounds.back().links[0].weight, SHARE); // keys do not stop it
}

TEST_F(InsiderFederation, FloodsAreNotAnsweredWithAFlood)
{
    const uint64_t honest = Run(Setting::LEVELS, "").sent;
    for (const char* name : {"repair-flood", "done-flood", "join-flapping"})
    {
        const std::string attack = std::string("InsiderAttack[Attack=") + name + "]";
        EXPECT_LE(Run(Setting::LEVELS, attack).sent, 3 * honest) << name;
    }
}

TEST_F(InsiderFederation, HoldsUpNoRoundForLongIfTheCenterLosesPatience)
{
    TypeId::AttributeInformation attribute;
    ASSERT_TRUE(FusionCenter::GetTypeId().LookupAttributeByName("Patience", &attribute));
    patience = 1.1;
    const double honest = Run(Setting::TIME, "").GetTime();
    for (const char* name : {"silence",
                             "no-ack",
                             "slowness|Margin=2ms",
                             "lateness|Margin=2ms",
                             "long-training|TrainingTime=960ms",
                             "repair-flood",
                             "done-flood",
                             "join-flapping"})
    {
        SCOPED_TRACE(name);
        const Outcome outcome =
            Run(Setting::TIME, std::string("InsiderAttack[Attack=") + name + "]");
        ExpectUnharmed(outcome, SHARE);
        EXPECT_LE(outcome.GetTime(), 1.2 * honest);
    }
}
