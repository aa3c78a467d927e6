// SPDX-License-Identifier: GPL-2.0-only

/*
 * What one hostile member can do: logistic regression on pooled images, in which --insiders of the
 * devices attack the federation from within. They have joined, they have keys (--encrypt), and
 * everything that they send is well formed or as broken as the attack wants.
 *
 *                +--- hub ---+--- device 0 (insider)   all links: 10 Mb/s, 5 ms;
 *    center  ----+           +--- device 1 ...         four devices share a hub, and with it the
 *                +--- hub ---+--- device 4 ...         way to the center
 *
 * --attack is a name of ns3::InsiderAttack, or none. An attack needs a federation that it can hurt;
 * --setting=auto chooses it, and none runs with any of them:
 *   levels      unbiased quantization to --bits on the fixed interval [-A, A] (--interval)
 *   floats      float32, l2 clip at --clip
 *   distortion  as levels, but each update on the interval of its largest coordinate; weights by
 *               the distortion that devices report
 *   interval    as levels, but each update on the interval of its largest coordinate; l2 clip
 *   time        as levels, with a measured bit budget and measured slots
 * The same --RngRun has the same split, first model and batches with every attack, so that
 * differences to --attack=none with the same setting are paired.
 *
 * PREFIX-rounds.csv has a row a round (see federated-paper). The result line adds what was chosen,
 * finite (whether the model is), honest_updates and honest_coordinates (received of honest devices,
 * as fractions of all that they could have sent in all rounds), insider_weight (mean weight of an
 * insider's update in rounds that were not skipped), least_budget (bits a coordinate), and dropped,
 * received messages that the center did not use.
 *
 *    federated-insider --attack=extreme-floats
 */

#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/federated-command-line.h"
#include "ns3/federated-helper.h"
#include "ns3/federated-learning-options.h"
#include "ns3/federated-quantizers.h"
#include "ns3/federated-scenario-options.h"
#include "ns3/federated-star-helper.h"
#include "ns3/fixed-interval.h"
#include "ns3/insider-attack.h"
#include "ns3/max-abs-interval.h"
#include "ns3/object-factory.h"
#include "ns3/pointer.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace ns3;

namespace
{

/** A federation that some attacks can hurt. */
struct Setting
{
    const char* name;      //!< Its name.
    const char* quantizer; //!< Short name of the quantizer.
    bool isFixed;          //!< Whether the interval is fixed; if not, that of each update.
    const char* clipNorm;  //!< Norm that is clipped.
    const char* fusion;    //!< Fusion rule.
    const char* budget;    //!< Bit budget.
};

const std::vector<Setting> SETTINGS{
    {"levels", "sq", true, "none", "ns3::UniformFusion", "ns3::FixedBitBudget[Bits=1000000]"},
    {"floats", "none", true, "l2", "ns3::UniformFusion", "ns3::FixedBitBudget[Bits=1000000]"},
    {"distortion",
     "sq",
     false,
     "l2",
     "ns3::EffectiveSnrFusion[Distortion=exact]",
     "ns3::FixedBitBudget[Bits=1000000]"},
    {"interval", "sq", false, "l2", "ns3::UniformFusion", "ns3::FixedBitBudget[Bits=1000000]"},
    {"time", "sq", true, "none", "ns3::UniformFusion", "ns3::MeasuredBitBudget"},
};

/** An attack that needs another setting than levels. */
struct Need
{
    const char* attack;  //!< The attack.
    const char* setting; //!< What it needs.
    bool flip;           //!< Whether it makes its update count more, which alone does no harm.
};

const std::vector<Need> NEEDS{
    {"extreme-floats", "floats", false},
    {"nan-floats", "floats", false},
    {"distortion-zero", "distortion", true},
    {"distortion-missing", "distortion", true},
    {"distortion-denormal", "distortion", true},
    {"wide-interval", "interval", true},
    {"silence", "time", false},
    {"no-ack", "time", false},
    {"slowness", "time", false},
    {"lateness", "time", false},
    {"long-training", "time", false},
    {"repair-flood", "time", false},
    {"done-flood", "time", false},
    {"join-flapping", "time", false},
};

/** What the result line says about all rounds. */
class Outcome
{
  public:
    Outcome(uint32_t devices, uint32_t insiders, std::size_t dimension)
        : m_devices(devices),
          m_insiders(insiders),
          m_dimension(static_cast<double>(dimension))
    {
    }

    /** A round has ended. */
    void Add(const RoundRecord& record)
    {
        ++m_rounds;
        m_leastBudget = std::min(m_leastBudget, record.bitBudget);
        for (uint64_t count : record.drops)
        {
            m_dropped += count;
        }
        for (const LinkRecord& link : record.links)
        {
            if (link.device >= m_insiders)
            {
                m_updates += link.receivedFragments > 0 ? 1 : 0;
                m_coordinates += static_cast<double>(link.coordinates);
            }
            else if (!record.skipped)
            {
                m_weight += link.weight;
            }
        }
        m_used += record.skipped ? 0 : 1;
    }

    /** Add the keys to a result line. */
    void Print(FederatedResultLine& result) const
    {
        const double all = static_cast<double>(m_devices - m_insiders) * m_rounds;
        result.AddReal("honest_updates", m_updates / all);
        result.AddReal("honest_coordinates", m_coordinates / (all * m_dimension));
        result.AddReal("insider_weight", m_weight / (static_cast<double>(m_insiders) * m_used));
        result.AddReal("least_budget", m_leastBudget);
        result.AddCount("dropped", m_dropped);
    }

  private:
    uint32_t m_devices;       // all
    uint32_t m_insiders;      // the first ones of them
    double m_dimension;       // d
    uint32_t m_rounds = 0;    // so far
    uint32_t m_used = 0;      // that were not skipped
    double m_updates = 0;     // of honest devices
    double m_coordinates = 0; // of honest devices
    double m_weight = 0;      // of insiders
    double m_leastBudget = std::numeric_limits<double>::infinity();
    uint64_t m_dropped = 0; // messages
};

} // namespace

int
main(int argc, char* argv[])
{
    std::string attack = "flip";
    std::string settingName = "auto";
    std::string flip = "auto";
    double magnitude = 1e38;
    uint32_t messages = 1000;
    uint32_t devices = 10;
    uint32_t insiders = 1;
    uint32_t rounds = 20;
    uint32_t bits = 4;
    double interval = 0.3;
    double clip = 2;
    uint32_t pool = 4;
    Time deadline = Seconds(1);
    uint32_t silentRounds = 0;
    std::string transport = "udp";
    uint32_t fragmentSize = 300;
    FederatedLearningOptions learning;
    learning.model = "logistic";
    learning.learningRate = 2;
    uint32_t threads = 1;
    bool encrypt = false;
    std::string data = "data/mnist";
    std::string output;
    std::vector<std::string> attacks = InsiderAttack::GetNames();
    attacks.emplace_back("none");
    std::vector<std::string> settings{"auto"};
    for (const Setting& one : SETTINGS)
    {
        settings.emplace_back(one.name);
    }
    FederatedCommandLine cmd(__FILE__, "What one hostile member of a federation can do.");
    cmd.AddChoice("attack", "What the insiders do", attack, attacks);
    cmd.AddChoice(
        "setting", "Federation, auto: one that the attack can hurt", settingName, settings);
    cmd.AddChoice(
        "flip",
        "Whether insiders also mirror their updates, auto: if the attack makes them count more",
        flip,
        {"auto", "yes", "no"});
    cmd.AddReal("magnitude", "Of extreme floats and wide intervals", magnitude, 0, 1.7e38);
    cmd.AddCount("messages", "Messages of a flood in a round", messages, 1, 1000000);
    cmd.AddCount("devices", "Number of devices", devices, 1, 1000);
    cmd.AddCount("insiders", "How many of them are insiders", insiders, 1, 1000);
    cmd.AddCount("rounds", "Number of rounds", rounds, 1, 1000000);
    cmd.AddCount("bits", "Resolution of levels", bits, 1, 16);
    cmd.AddReal("interval", "A: coordinates are clamped to [-A, A]", interval, 1e-9, 1e6);
    cmd.AddReal("clip", "Largest l2 norm of an update", clip, 1e-9, 1e9);
    cmd.AddCount("pool", "Side of the squares of pixels that are averaged", pool, 1, 28);
    cmd.AddTime("deadline", "Longest round", deadline, MilliSeconds(100), Hours(1));
    cmd.AddCount("silent-rounds",
                 "Rounds without an answer after which a device is asked less often, 0: never",
                 silentRounds,
                 0,
                 1000000);
    cmd.AddChoice("transport", "Protocol below the messages", transport, {"udp", "tcp"});
    cmd.AddCount("fragment-size", "Bytes of a message", fragmentSize, 100, 1472);
    learning.Add(cmd);
    cmd.AddCount("threads", "Threads that train and evaluate, 0 for all cores", threads, 0, 1024);
    FederatedScenarioOptions::AddEncryption(cmd, encrypt);
    cmd.AddData(data);
    cmd.AddOutput(output);
    cmd.ParseOrExit(argc, argv);
    cmd.Require(insiders < devices,
                "Option --insiders is " + std::to_string(insiders) +
                    ", which leaves no honest device.");
    const auto need = std::find_if(
        NEEDS.begin(), NEEDS.end(), [&attack](const Need& one) { return one.attack == attack; });
    if (settingName == "auto")
    {
        settingName = need == NEEDS.end() ? "levels" : need->setting;
    }
    const bool isFlipped = flip == "auto" ? need != NEEDS.end() && need->flip : flip == "yes";
    const Setting& setting =
        *std::find_if(SETTINGS.begin(),
                      SETTINGS.end(),
                      [&settingName](const Setting& one) { return one.name == settingName; });
    std::string error;
    const FederatedData sets = FederatedScenarioOptions::LoadPooled(cmd, data, pool);

    // The federation, as all of its members know it.
    FederatedHelper federation;
    federation.SetProtocol(transport);
    federation.SetCommand(cmd.GetCommand()); // for PREFIX-run.json
    federation.SetAlgorithm("alg1");         // all devices take part, whatever their number of bits
    federation.SetQuantizer(
        ObjectFactory(FederatedQuantizers::GetTypeIdName(setting.quantizer)).Create<Quantizer>());
    FederatedScenarioOptions::SetEncryption(federation, encrypt);
    learning.SetUp(federation);
    const auto model = FederatedLearningOptions::MakeModel(learning.model, error);
    if (learning.model == "logistic")
    {
        model->SetAttribute("L2", DoubleValue(0));
    }
    federation.SetTaskAttribute("Model", PointerValue(model));
    federation.SetTaskAttribute("Threads", UintegerValue(threads));
    federation.SetData(sets);
    NodeContainer nodes(devices);
    federation.AddGroup(nodes, bits);
    Ptr<IntervalRule> rule = CreateObject<MaxAbsInterval>();
    if (setting.isFixed)
    {
        rule = CreateObject<FixedInterval>();
        rule->SetAttribute("Low", DoubleValue(-interval));
        rule->SetAttribute("High", DoubleValue(interval));
    }
    federation.SetDeviceAttribute("IntervalRule", PointerValue(rule));
    federation.SetDeviceAttribute("ClipNorm", StringValue(setting.clipNorm));
    federation.SetDeviceAttribute("ClipBound", DoubleValue(clip));
    federation.SetDeviceAttribute("ReportDistortion", BooleanValue(settingName == "distortion"));
    federation.SetDeviceAttribute("FragmentSize", UintegerValue(fragmentSize));
    federation.SetCenterAttribute("FragmentSize", UintegerValue(fragmentSize));
    federation.SetCenterAttribute("FusionRule", StringValue(setting.fusion));
    federation.SetCenterAttribute("BitBudget", StringValue(setting.budget));
    federation.SetCenterAttribute("MeasuredSlots", BooleanValue(settingName == "time"));
    federation.SetCenterAttribute("Participants", UintegerValue(devices));
    federation.SetCenterAttribute("Rounds", UintegerValue(rounds));
    federation.SetCenterAttribute("Deadline", TimeValue(deadline));
    federation.SetCenterAttribute("SilentRounds", UintegerValue(silentRounds));
    cmd.Require(federation.Check(error), error);

    // Trunks as slow as the links of devices: an insider that floods also takes the way of others.
    NodeContainer center(1);
    FederatedStarHelper star;
    star.SetDeviceLink(DataRate("10Mbps"), MilliSeconds(5));
    star.SetTrunkLink(DataRate("10Mbps"), MilliSeconds(5));
    star.Install(federation, center.Get(0));
    cmd.Require(federation.EnableOutput(output, error, false), error);

    // The first devices are insiders: what they send passes through the attack. An attack of your
    // own is a child of MessageTampering.
    for (uint32_t i = 0; i < insiders && attack != "none"; ++i)
    {
        auto tampering = CreateObject<InsiderAttack>();
        tampering->SetAttribute("Attack", StringValue(attack));
        tampering->SetAttribute("Flip", BooleanValue(isFlipped));
        tampering->SetAttribute("Magnitude", DoubleValue(magnitude));
        tampering->SetAttribute("Messages", UintegerValue(messages));
        // As late as it can be: the way to the center takes 10 ms.
        tampering->SetAttribute("Margin", TimeValue(MilliSeconds(20)));
        tampering->SetAttribute("TrainingTime", TimeValue(deadline * 9 / 10));
        federation.GetDevices()[i]->SetAttribute("Tampering", PointerValue(tampering));
    }
    Outcome outcome(devices, insiders, federation.GetTask()->GetDimension());
    federation.GetCenter()->TraceConnectWithoutContext("RoundEnd",
                                                       MakeCallback(&Outcome::Add, &outcome));

    Simulator::Run();
    const auto traces = federation.GetTraceWriter();
    const std::vector<float>& last = federation.GetCenter()->GetModel();
    FederatedResultLine result = traces->GetResult();
    result.AddText("attack", attack);
    result.AddText("setting", settingName);
    result.AddCount("flip", isFlipped ? 1 : 0);
    result.AddCount(
        "finite",
        std::all_of(last.begin(), last.end(), [](float value) { return std::isfinite(value); })
            ? 1
            : 0);
    outcome.Print(result);
    return federation.Finish(result);
}
