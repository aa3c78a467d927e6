// SPDX-License-Identifier: GPL-2.0-only

#include "fusion-center.h"

#include "ns3/abort.h"
#include "ns3/boolean.h"
#include "ns3/device-registrar.h"
#include "ns3/device-roster.h"
#include "ns3/double.h"
#include "ns3/enum.h"
#include "ns3/federated-port.h"
#include "ns3/federated-random.h"
#include "ns3/inet-socket-address.h"
#include "ns3/left-out.h"
#include "ns3/log.h"
#include "ns3/message-endpoint.h"
#include "ns3/pointer.h"
#include "ns3/remove-event.h"
#include "ns3/round-exchange.h"
#include "ns3/round-links.h"
#include "ns3/round-planner.h"
#include "ns3/saved-model.h"
#include "ns3/simulator.h"
#include "ns3/socket-check.h"
#include "ns3/strategy-checker.h"
#include "ns3/string.h"
#include "ns3/tcp-socket-factory.h"
#include "ns3/udp-socket-factory.h"
#include "ns3/uinteger.h"
#include "ns3/update-preparation.h"
#include "ns3/uplink-meter.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("FusionCenter");

NS_OBJECT_ENSURE_REGISTERED(FusionCenter);

using namespace federated;

TypeId
FusionCenter::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::FusionCenter")
            .SetParent<Application>()
            .SetGroupName("Federated")
            .AddConstructor<FusionCenter>()
            .AddAttribute(
                "Local",
                "Address and port to listen on; at a node with several addresses, the one that "
                "devices have as Remote.",
                AddressValue(InetSocketAddress(Ipv4Address::GetAny(), FederatedPort::CENTER)),
                MakeAddressAccessor(&FusionCenter::m_local),
                MakeAddressChecker())
            .AddAttribute("Protocol",
                          "ns3::UdpSocketFactory or ns3::TcpSocketFactory.",
                          TypeIdValue(UdpSocketFactory::GetTypeId()),
                          MakeTypeIdAccessor(&FusionCenter::m_protocol),
                          MakeTypeIdChecker())
            .AddAttribute("FragmentSize",
                          "Size of the largest message in bytes, our header included: the payload "
                          "of a UDP datagram.",
                          UintegerValue(1400),
                          MakeUintegerAccessor(&FusionCenter::m_fragmentSize),
                          MakeUintegerChecker<uint32_t>(MessageStream::MIN_FRAGMENT,
                                                        MessageStream::MAX_MESSAGE))
            .AddAttribute("EncryptionKey",
                          "Key of the federation that protects all messages, any text; the keys of "
                          "devices are derived from it (GetDeviceKey). Empty: none.",
                          StringValue(""),
                          MakeStringAccessor(&FusionCenter::m_encryptionKey),
                          MakeStringChecker())
            .AddAttribute("Federation",
                          "Number of the federation among those of a simulation that have the same "
                          "EncryptionKey, so that their keys differ.",
                          UintegerValue(0),
                          MakeUintegerAccessor(&FusionCenter::m_federation),
                          MakeUintegerChecker<uint32_t>())
            .AddAttribute("Cell",
                          "Number of the center among those that share a Task, as the edges of a "
                          "hierarchy do, so that they draw different devices and link noise; 0 for "
                          "one alone.",
                          UintegerValue(0),
                          MakeUintegerAccessor(&FusionCenter::m_cell),
                          MakeUintegerChecker<uint32_t>())
            .AddAttribute("Task",
                          "What is learned; one object for the center and all devices.",
                          PointerValue(),
                          MakePointerAccessor(&FusionCenter::m_task),
                          MakeStrategyChecker<LearningTask>())
            .AddAttribute("Quantizer",
                          "The quantizer that the devices use, which is public.",
                          StringValue("ns3::DpStochasticQuantizer"),
                          MakePointerAccessor(&FusionCenter::m_quantizer),
                          MakeStrategyChecker<Quantizer>())
            .AddAttribute("IntervalRule",
                          "The interval rule of the devices; updates with another interval than a "
                          "public one are dropped. Null: not known. Intervals that are not public "
                          "are limited by ClipBound, else by MaxCoordinate.",
                          PointerValue(),
                          MakePointerAccessor(&FusionCenter::m_interval),
                          MakeStrategyChecker<IntervalRule>())
            .AddAttribute("ClipNorm",
                          "The norm that the devices clip; updates that cannot have been clipped "
                          "are dropped. none: not known.",
                          EnumValue(CLIP_NONE),
                          compat::MakeEnumAccessor<ClipNorm>(&FusionCenter::m_clipNorm),
                          MakeEnumChecker(CLIP_NONE, "none", CLIP_L1, "l1", CLIP_L2, "l2"))
            .AddAttribute("ClipBound",
                          "C, the largest norm of an update, if the devices clip it.",
                          DoubleValue(100),
                          MakeDoubleAccessor(&FusionCenter::m_clipBound),
                          MakeDoubleChecker<double>(1e-30))
            .AddAttribute("MaxCoordinate",
                          "The largest magnitude of a coordinate before noise, and of the ends of "
                          "an interval, if no clip is known; updates beyond it are dropped.",
                          DoubleValue(1e6),
                          MakeDoubleAccessor(&FusionCenter::m_maxCoordinate),
                          MakeDoubleChecker<double>(0, std::numeric_limits<double>::infinity()))
            .AddAttribute("Rotation",
                          "Whether the devices rotate their updates, as Rotation of the devices "
                          "says; updates of the other kind are dropped.",
                          BooleanValue(false),
                          MakeBooleanAccessor(&FusionCenter::m_rotation),
                          MakeBooleanChecker())
            .AddAttribute("Interleave",
                          "Whether the devices interleave their updates, as Interleave of the "
                          "devices says; updates of the other kind are dropped.",
                          BooleanValue(false),
                          MakeBooleanAccessor(&FusionCenter::m_interleave),
                          MakeBooleanChecker())
            .AddAttribute("FusionRule",
                          "Computes the weights of the updates.",
                          StringValue("ns3::EffectiveSnrFusion"),
                          MakePointerAccessor(&FusionCenter::m_fusionRule),
                          MakeStrategyChecker<FusionRule>())
            .AddAttribute("Aggregator",
                          "Combines the values that the updates have for a coordinate.",
                          StringValue("ns3::MeanAggregator"),
                          MakePointerAccessor(&FusionCenter::m_aggregator),
                          MakeStrategyChecker<UpdateAggregator>())
            .AddAttribute("ClusterSizePolicy",
                          "Decides how many devices of each group are selected in a round.",
                          StringValue("ns3::OptimalClusterSizes"),
                          MakePointerAccessor(&FusionCenter::m_policy),
                          MakeStrategyChecker<ClusterSizePolicy>())
            .AddAttribute("SelectionPolicy",
                          "Decides which devices of each group are selected in a round.",
                          StringValue("ns3::RandomSelection"),
                          MakePointerAccessor(&FusionCenter::m_selector),
                          MakeStrategyChecker<SelectionPolicy>())
            .AddAttribute("BitBudget",
                          "B, bits an encoded coordinate that the devices of a round may send "
                          "together.",
                          StringValue("ns3::FixedBitBudget"),
                          MakePointerAccessor(&FusionCenter::m_budget),
                          MakeStrategyChecker<BitBudget>())
            .AddAttribute(
                "LinkNoise",
                "Gives the variance of the noise that a link adds to the coordinates of an update.",
                StringValue("ns3::NoLinkNoise"),
                MakePointerAccessor(&FusionCenter::m_noise),
                MakeStrategyChecker<LinkNoise>())
            .AddAttribute("Probe",
                          "Measures each link at the receiving radio; may be null.",
                          PointerValue(),
                          MakePointerAccessor(&FusionCenter::m_probe),
                          MakeStrategyChecker<LinkProbe>())
            .AddAttribute("LossPolicy",
                          "What happens to coordinates of an update that were not received: the "
                          "devices that delivered them share the weight (renormalize), they count "
                          "as zero, or the whole update is dropped.",
                          EnumValue(LOSS_RENORMALIZE),
                          compat::MakeEnumAccessor<LossPolicy>(&FusionCenter::m_lossPolicy),
                          MakeEnumChecker(LOSS_RENORMALIZE,
                                          "renormalize",
                                          LOSS_ZERO,
                                          "zero",
                                          LOSS_DROP,
                                          "drop",
                                          LOSS_RENORMALIZE,
                                          "renormalise"))
            .AddAttribute("GroupBits",
                          "Resolution b of each group, in order, separated by commas.",
                          StringValue("2,4"),
                          MakeStringAccessor(&FusionCenter::m_groupBits),
                          MakeStringChecker())
            .AddAttribute("Participants",
                          "N, devices that are selected in a round; fewer if the bit budget or the "
                          "number of joined devices is too small.",
                          UintegerValue(10),
                          MakeUintegerAccessor(&FusionCenter::m_participants),
                          MakeUintegerChecker<uint32_t>(1))
            .AddAttribute("Rounds",
                          "T, number of rounds. A run that begins with a model of an earlier one "
                          "(SetModel) has so many more.",
                          UintegerValue(20),
                          MakeUintegerAccessor(&FusionCenter::m_rounds),
                          MakeUintegerChecker<uint32_t>(1))
            .AddAttribute("OnRequest",
                          "Whether rounds begin only when RunRounds asks for them, as on an edge; "
                          "Rounds is not used then.",
                          BooleanValue(false),
                          MakeBooleanAccessor(&FusionCenter::m_onRequest),
                          MakeBooleanChecker())
            .AddAttribute("Deadline",
                          "Time from the start of a round at which it ends at the latest.",
                          TimeValue(Seconds(10)),
                          MakeTimeAccessor(&FusionCenter::m_deadline),
                          MakeTimeChecker(MicroSeconds(1)))
            .AddAttribute("MinUpdates",
                          "Updates that must have been received, at least in part; with fewer the "
                          "model stays unchanged and the round is recorded as skipped.",
                          UintegerValue(1),
                          MakeUintegerAccessor(&FusionCenter::m_minUpdates),
                          MakeUintegerChecker<uint32_t>(1))
            .AddAttribute(
                "Downlink",
                "How the model is sent to the selected devices; group: all messages are sent to "
                "MulticastGroup.",
                EnumValue(UNICAST),
                compat::MakeEnumAccessor<DownlinkMode>(&FusionCenter::m_downlink),
                MakeEnumChecker(UNICAST, "unicast", MULTICAST, "multicast", GROUP, "group"))
            .AddAttribute("MulticastGroup",
                          "Address and port that models (Downlink=multicast) or all messages "
                          "(group) are sent to; group may be a broadcast address.",
                          AddressValue(),
                          MakeAddressAccessor(&FusionCenter::m_multicast),
                          MakeAddressChecker())
            .AddAttribute("DownlinkRate",
                          "Pace at which the fragments of the model are sent (UDP), counting the "
                          "payload of UDP; keep it below what the link carries.",
                          DataRateValue(DataRate("10Mbps")),
                          MakeDataRateAccessor(&FusionCenter::m_downlinkRate),
                          MakeDataRateChecker())
            .AddAttribute("UplinkRate",
                          "Rate at which a device sends its update in its slot, and from which the "
                          "length of slots follows unless they are measured.",
                          DataRateValue(DataRate("10Mbps")),
                          MakeDataRateAccessor(&FusionCenter::m_uplinkRate),
                          MakeDataRateChecker())
            .AddAttribute("GrantSpacing",
                          "Time from one grant to the next, and from the last grant to the model, "
                          "which leaves room for acknowledgments.",
                          TimeValue(Time(0)),
                          MakeTimeAccessor(&FusionCenter::m_grantSpacing),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("RepairTime",
                          "Time that is planned between the end of the model and the first slot, "
                          "for repairs of the model.",
                          TimeValue(Time(0)),
                          MakeTimeAccessor(&FusionCenter::m_repairTime),
                          MakeTimeChecker(Time(0)))
            .AddAttribute(
                "MeasuredSlots",
                "Whether the length of slots follows from measured rates; if not, from UplinkRate.",
                BooleanValue(false),
                MakeBooleanAccessor(&FusionCenter::m_measuredSlots),
                MakeBooleanChecker())
            .AddAttribute(
                "Efficiency",
                "Goodput that is assumed for a device before it was measured (MeasuredSlots), as a "
                "fraction of the rate of its radio, else of UplinkRate.",
                DoubleValue(0.5),
                MakeDoubleAccessor(&FusionCenter::m_efficiency),
                MakeDoubleChecker<double>(0.001, 1))
            .AddAttribute("RateSmoothing",
                          "Weight of the last round in the moving averages of measured rates.",
                          DoubleValue(0.5),
                          MakeDoubleAccessor(&FusionCenter::m_rateSmoothing),
                          MakeDoubleChecker<double>(0.001, 1))
            .AddAttribute("SlowestShare",
                          "Share of the devices that cannot slow down the others: the slowest of "
                          "all that joined are left out of the mean rate and the training time "
                          "that a round is planned with, the latest of a round out of lateness. "
                          "Rounded up, but never more than half; 0: none.",
                          DoubleValue(0.1),
                          MakeDoubleAccessor(&FusionCenter::m_slowestShare),
                          MakeDoubleChecker<double>(0, 0.5))
            .AddAttribute("LongestSlot",
                          "Limit of what is planned for a slow device, as a multiple of the slot "
                          "of a device with the median rate. A slower one delivers a part.",
                          DoubleValue(3),
                          MakeDoubleAccessor(&FusionCenter::m_longestSlot),
                          MakeDoubleChecker<double>(1, std::numeric_limits<double>::infinity()))
            .AddAttribute("Patience",
                          "When all but SlowestShare of the participants have answered, the round "
                          "ends at so many times the time that this took, but not before the end "
                          "of the last slot (without those of the slowest, if they begin after a "
                          "pause); 0: at the deadline.",
                          DoubleValue(0),
                          MakeDoubleAccessor(&FusionCenter::m_patience),
                          MakeDoubleChecker<double>(0))
            .AddAttribute("MaxRepairs",
                          "How many models may be sent again to a device in a round, as repairs "
                          "(UDP); what it requests beyond is dropped.",
                          UintegerValue(10),
                          MakeUintegerAccessor(&FusionCenter::m_maxRepairs),
                          MakeUintegerChecker<uint32_t>())
            .AddAttribute("MaxReplies",
                          "How many JOIN, LEAVE and DONE of a device are answered in a round. "
                          "Further JOIN and LEAVE are dropped.",
                          UintegerValue(64),
                          MakeUintegerAccessor(&FusionCenter::m_maxReplies),
                          MakeUintegerChecker<uint32_t>(1))
            .AddAttribute("WakeTime",
                          "Time from the selection of the devices, when RoundStart fires, to the "
                          "first grant: radios that sleep need it to wake, or listen for the page "
                          "(PageInterval).",
                          TimeValue(Time(0)),
                          MakeTimeAccessor(&FusionCenter::m_wakeTime),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("PageInterval",
                          "Rounds begin at multiples of it, and with a PAGE to all devices, which "
                          "names those that are selected: it is sent after a quarter and again "
                          "after half of WakeTime. 0: rounds begin at any time, without a PAGE.",
                          TimeValue(Time(0)),
                          MakeTimeAccessor(&FusionCenter::m_pageInterval),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("Guard",
                          "Time between slots, and from the end of sending to the deadline.",
                          TimeValue(MilliSeconds(5)),
                          MakeTimeAccessor(&FusionCenter::m_guard),
                          MakeTimeChecker(Time(0)))
            .AddAttribute(
                "ExpectedDevices",
                "Number of joined devices with which the first round begins; 0: after JoinTimeout.",
                UintegerValue(0),
                MakeUintegerAccessor(&FusionCenter::m_expected),
                MakeUintegerChecker<uint32_t>())
            .AddAttribute(
                "MaxDevices",
                "Identifiers of devices are below this number; a JOIN with another one is dropped.",
                UintegerValue(65536),
                MakeUintegerAccessor(&FusionCenter::m_maxDevices),
                MakeUintegerChecker<uint32_t>(1))
            .AddAttribute("MaxDevicesPerAddress",
                          "Identifiers that devices of one IP address can take, besides those "
                          "that BindDevice reserved; a JOIN with one more is dropped.",
                          UintegerValue(16),
                          MakeUintegerAccessor(&FusionCenter::m_maxPerAddress),
                          MakeUintegerChecker<uint32_t>(1))
            .AddAttribute("MaxSamples",
                          "Largest number of samples that a device is believed to have; 0: that of "
                          "the whole training set.",
                          UintegerValue(0),
                          MakeUintegerAccessor(&FusionCenter::m_maxSamples),
                          MakeUintegerChecker<uint32_t>())
            .AddAttribute("JoinTimeout",
                          "Time after which the first round begins, even if devices are missing.",
                          TimeValue(Seconds(2)),
                          MakeTimeAccessor(&FusionCenter::m_joinTimeout),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("ControlTimeout",
                          "Time after which a grant is retransmitted (UDP).",
                          TimeValue(MilliSeconds(100)),
                          MakeTimeAccessor(&FusionCenter::m_controlTimeout),
                          MakeTimeChecker(MicroSeconds(1)))
            .AddAttribute("ControlRetries",
                          "Retransmissions of a grant before the device counts as unreachable.",
                          UintegerValue(10),
                          MakeUintegerAccessor(&FusionCenter::m_controlRetries),
                          MakeUintegerChecker<uint32_t>())
            .AddAttribute("SilentRounds",
                          "A device that did not answer in so many rounds in a row then pauses for "
                          "SilentPause rounds each time, until a message of it is received; 0: it "
                          "is selected like the others.",
                          UintegerValue(0),
                          MakeUintegerAccessor(&FusionCenter::m_silentRounds),
                          MakeUintegerChecker<uint32_t>())
            .AddAttribute("SilentPause",
                          "Rounds in which a silent device (SilentRounds) is not selected, unless "
                          "no other device is left.",
                          UintegerValue(10),
                          MakeUintegerAccessor(&FusionCenter::m_silentPause),
                          MakeUintegerChecker<uint32_t>())
            .AddAttribute(
                "VisitorTimeout",
                "A visitor (BindDevice), which may go out of reach without a word, counts "
                "as left if nothing was received from it for so long when a round begins; "
                "0: never. Its CenterTimeout has to be shorter.",
                TimeValue(Seconds(10)),
                MakeTimeAccessor(&FusionCenter::m_visitorTimeout),
                MakeTimeChecker(Time(0)))
            .AddAttribute("TargetAccuracy",
                          "The run ends after the first evaluated round whose test accuracy, 0 to "
                          "1, is not below this; 0: after the last round only.",
                          DoubleValue(0),
                          MakeDoubleAccessor(&FusionCenter::m_target),
                          MakeDoubleChecker<double>(0, 1))
            .AddAttribute("EvaluationInterval",
                          "Rounds from one evaluation to the next, and at the end; 0: never.",
                          UintegerValue(1),
                          MakeUintegerAccessor(&FusionCenter::m_evaluationInterval),
                          MakeUintegerChecker<uint32_t>())
            .AddAttribute("TestSamples",
                          "Test samples to evaluate, the first ones; 0: all.",
                          UintegerValue(0),
                          MakeUintegerAccessor(&FusionCenter::m_testSamples),
                          MakeUintegerChecker<uint32_t>())
            .AddAttribute("TrainSamples",
                          "Training samples to evaluate, the first ones; 0: all.",
                          UintegerValue(10000),
                          MakeUintegerAccessor(&FusionCenter::m_trainSamples),
                          MakeUintegerChecker<uint32_t>())
            .AddTraceSource("RoundStart",
                            "A round begins: its number, and the selected devices.",
                            MakeTraceSourceAccessor(&FusionCenter::m_roundStartTrace),
                            "ns3::FusionCenter::RoundStartTracedCallback")
            .AddTraceSource("UpdateStarted",
                            "The first fragment of an update was received: round and device.",
                            MakeTraceSourceAccessor(&FusionCenter::m_updateStartedTrace),
                            "ns3::FusionCenter::UpdateStartedTracedCallback")
            .AddTraceSource("UpdateReceived",
                            "An update is complete, its device sent DONE or left, or time is over: "
                            "an UpdateRecord.",
                            MakeTraceSourceAccessor(&FusionCenter::m_updateReceivedTrace),
                            "ns3::FusionCenter::UpdateReceivedTracedCallback")
            .AddTraceSource("RoundEnd",
                            "A round has ended, after fusion and evaluation: a RoundRecord, with a "
                            "LinkRecord for each selected device.",
                            MakeTraceSourceAccessor(&FusionCenter::m_roundEndTrace),
                            "ns3::RoundRecord::TracedCallback")
            .AddTraceSource("Finished",
                            "The last round has ended, or TargetAccuracy is reached: the number of "
                            "rounds.",
                            MakeTraceSourceAccessor(&FusionCenter::m_finishedTrace),
                            "ns3::FusionCenter::FinishedTracedCallback")
            .AddTraceSource("Running",
                            "The center starts or stops: whether it runs.",
                            MakeTraceSourceAccessor(&FusionCenter::m_runningTrace),
                            "ns3::FusionCenter::RunningTracedCallback")
            .AddTraceSource("MembersChanged",
                            "A device joined or left: the device, and whether it joined.",
                            MakeTraceSourceAccessor(&FusionCenter::m_memberTrace),
                            "ns3::FusionCenter::MemberTracedCallback")
            .AddTraceSource("Tx",
                            "A message was sent: the packet that the socket was given.",
                            MakeTraceSourceAccessor(&FusionCenter::m_txTrace),
                            "ns3::Packet::TracedCallback")
            .AddTraceSource("Drop",
                            "A received message was dropped: reason, sender and size.",
                            MakeTraceSourceAccessor(&FusionCenter::m_dropTrace),
                            "ns3::DropTracedCallback");
    return tid;
}

FusionCenter::FusionCenter()
    : m_endpoint(std::make_unique<MessageEndpoint>(m_txTrace, m_dropTrace)),
      m_roster(std::make_unique<DeviceRoster>()),
      m_registrar(std::make_unique<DeviceRegistrar>(
          *m_endpoint,
          *m_roster,
          [this](uint32_t device) { HandleJoined(device); },
          [this](uint32_t device) { HandleLeft(device); })),
      m_meter(std::make_unique<UplinkMeter>()),
      m_exchange(std::make_unique<RoundExchange>(
          *m_endpoint,
          *m_roster,
          [this](uint32_t unanswered) { HandleAnswered(unanswered); },
          [this](uint32_t device) { m_updateStartedTrace(m_round, device); },
          [this](const UpdateRecord& record) { m_updateReceivedTrace(record); }))
{
    NS_LOG_FUNCTION(this);
}

FusionCenter::~FusionCenter() = default; // here, where its parts are known

void
FusionCenter::BindDevice(uint32_t device, const Address& ip, bool isVisitor)
{
    m_roster->Reserve(device, ip, isVisitor);
}

void
FusionCenter::Enroll(uint32_t device,
                     const Address& address,
                     uint32_t group,
                     const Time& training,
                     uint32_t samples)
{
    NS_ABORT_MSG_IF(m_running, "FusionCenter: Enroll comes too late, the center is running");
    const SocketAddress place(address);
    NS_ABORT_MSG_IF(!place.IsValid(), "FusionCenter: Enroll needs an IP address and a port");
    m_roster->Enroll(device, place, group, training, samples);
}

std::string
FusionCenter::GetDeviceKey(uint32_t device) const
{
    if (m_encryptionKey.empty())
    {
        return "";
    }
    const std::string obstacle = MessageProtection::FindObstacle(m_fragmentSize, false);
    NS_ABORT_MSG_IF(!obstacle.empty(), "FusionCenter: EncryptionKey is set, but " << obstacle);
    return MessageProtection::DeriveDeviceKey(m_encryptionKey, m_federation, device);
}

void
FusionCenter::SetModel(std::vector<float> model, uint32_t before)
{
    NS_ABORT_MSG_IF(m_running, "FusionCenter: SetModel comes too late, the center is running");
    NS_ABORT_MSG_IF(before > 0 && model.empty(), "FusionCenter: SetModel needs a model");
    NS_ABORT_MSG_IF(before > SavedModel::MAX_ROUND,
                    "FusionCenter: the model has " << before << " rounds behind it, more than "
                                                   << SavedModel::MAX_ROUND);
    m_before = before;
    m_round = before;
    m_model = model;
    m_firstModel = std::move(model);
}

uint32_t
FusionCenter::GetJoined() const
{
    return m_roster->GetJoined();
}

uint32_t
FusionCenter::GetSamples() const
{
    return m_roster->GetSamples();
}

bool
FusionCenter::IsRunning() const
{
    return m_running;
}

uint64_t
FusionCenter::GetDropped(DropReason reason) const
{
    return m_endpoint->GetDrops().at(reason);
}

int64_t
FusionCenter::AssignStreams(int64_t stream)
{
    return m_policy->AssignStreams(stream);
}

void
FusionCenter::DoDispose()
{
    NS_LOG_FUNCTION(this);
    m_endpoint->Abandon(); // the IP stack may be disposed of already
    Halt();
    m_task = nullptr;
    m_quantizer = nullptr;
    m_interval = nullptr;
    m_fusionRule = nullptr;
    m_aggregator = nullptr;
    m_policy = nullptr;
    m_selector = nullptr;
    m_budget = nullptr;
    m_noise = nullptr;
    m_probe = nullptr;
    Application::DoDispose();
}

void
FusionCenter::CheckAttributes()
{
    NS_ABORT_MSG_IF(!m_task, "FusionCenter: Task is not set");
    NS_ABORT_MSG_IF(!m_quantizer, "FusionCenter: Quantizer is not set");
    NS_ABORT_MSG_IF(!m_fusionRule, "FusionCenter: FusionRule is not set");
    NS_ABORT_MSG_IF(!m_aggregator, "FusionCenter: Aggregator is not set");
    NS_ABORT_MSG_IF(!m_policy, "FusionCenter: ClusterSizePolicy is not set");
    NS_ABORT_MSG_IF(!m_selector, "FusionCenter: SelectionPolicy is not set");
    NS_ABORT_MSG_IF(!m_budget, "FusionCenter: BitBudget is not set");
    NS_ABORT_MSG_IF(!m_noise, "FusionCenter: LinkNoise is not set");
    std::string error = ReadGroupBits(m_groupBits, *m_quantizer, m_participants, m_bits);
    NS_ABORT_MSG_IF(!error.empty(), "FusionCenter: " << error);
    NS_ABORT_MSG_IF(m_interval && !m_interval->Check(error), "FusionCenter: " << error);
    NS_ABORT_MSG_IF(
        m_downlink != UNICAST &&
            (!SocketAddress(m_multicast).IsValid() || m_protocol == TcpSocketFactory::GetTypeId()),
        "FusionCenter: Downlink is multicast or group, which needs MulticastGroup and UDP");
    const Address group = m_downlink == UNICAST ? Address() : m_multicast;
    error = FindSocketMistake(GetNode(), m_protocol, {m_local, group});
    NS_ABORT_MSG_IF(!error.empty(), "FusionCenter: " << error);
    error = FindAddressMistake(GetNode(), m_local);
    NS_ABORT_MSG_IF(!error.empty(), "FusionCenter: Local is wrong: " << error);
    NS_ABORT_MSG_IF(m_target > 0 && m_evaluationInterval == 0,
                    "FusionCenter: TargetAccuracy is " << m_target
                                                       << ", but EvaluationInterval is 0: never");
    if (!m_encryptionKey.empty())
    {
        error = MessageProtection::FindObstacle(m_fragmentSize, m_downlink != UNICAST);
        NS_ABORT_MSG_IF(!error.empty(), "FusionCenter: EncryptionKey is set, but " << error);
    }
    NS_ABORT_MSG_IF(m_downlinkRate.GetBitRate() == 0, "FusionCenter: DownlinkRate is 0");
    NS_ABORT_MSG_IF(m_uplinkRate.GetBitRate() == 0, "FusionCenter: UplinkRate is 0");
    // Without an end (Time::Max) sums with it must not overflow.
    m_deadline = std::min(m_deadline, Time::Max() / 4);
    m_joinTimeout = std::min(m_joinTimeout, Time::Max() / 4);
    NS_ABORT_MSG_IF(m_wakeTime >= m_deadline,
                    "FusionCenter: WakeTime, " << m_wakeTime.As(Time::MS)
                                               << ", is not below Deadline, "
                                               << m_deadline.As(Time::MS));
    NS_ABORT_MSG_IF(
        m_pageInterval.IsStrictlyPositive() &&
            (m_downlink == UNICAST || m_wakeTime.IsZero() || m_wakeTime >= m_pageInterval),
        "FusionCenter: PageInterval needs a Downlink to a group, and a WakeTime below "
        "it in which devices listen");
    if (!m_firstModel.empty())
    {
        m_task->SetFirstModel(m_firstModel);
    }
    m_task->Initialize(m_model);
    NS_ABORT_MSG_IF(m_rotation && !CheckRotation(PeekPointer(m_interval), m_model.size(), error),
                    "FusionCenter: " << error);
    NS_ABORT_MSG_IF(m_interleave && !CheckInterleaving(PeekPointer(m_interval), error),
                    "FusionCenter: " << error);
}

void
FusionCenter::SetUpParts()
{
    MessageEndpoint::Handlers handlers;
    handlers.message = [this](const ReceivedMessage& message) { return HandleMessage(message); };
    handlers.closed = [this](ConnectionId connection) { m_registrar->HandleClosed(connection); };
    m_endpoint->SetUp({GetNode(),
                       m_protocol,
                       m_encryptionKey.empty()
                           ? nullptr
                           : MessageProtection::MakeForCenter(m_encryptionKey, m_federation),
                       FederatedHeader::ALL_DEVICES,
                       m_fragmentSize,
                       m_model.size()},
                      std::move(handlers));
    m_exchange->GetModelSender().SetUp(m_model.size(),
                                       m_fragmentSize,
                                       m_downlinkRate,
                                       m_downlink == UNICAST ? Address() : m_multicast,
                                       m_maxRepairs);
    m_exchange->GetPageSender().SetUp(m_fragmentSize, m_multicast);
    // Above the numbers of an earlier center on this node, if it sent fewer than one a millisecond.
    m_exchange->SetSequence(static_cast<uint32_t>(Simulator::Now().GetMilliSeconds()));
    const uint32_t maxSamples = m_maxSamples > 0 ? m_maxSamples : m_task->GetAllSamples();
    m_roster->SetRules({m_maxDevices,
                        m_bits,
                        m_deadline,
                        maxSamples,
                        m_maxPerAddress,
                        m_maxReplies,
                        !m_encryptionKey.empty()});
    m_registrar->SetPeriod(m_controlTimeout);
    const auto planned = static_cast<double>(m_uplinkRate.GetBitRate());
    m_meter->SetRules(
        {m_rateSmoothing, m_guard, planned, m_measuredSlots, m_efficiency, m_slowestShare});
    const bool bound = m_endpoint->Listen(m_local, m_downlink == GROUP ? m_multicast : Address());
    NS_ABORT_MSG_IF(!bound,
                    "FusionCenter: could not bind a socket to Local, "
                        << SocketAddress(m_local) << "; it is no address of node "
                        << GetNode()->GetId() << ", or another application uses its port");
}

void
FusionCenter::StartApplication()
{
    NS_LOG_FUNCTION(this);
    CheckAttributes();
    m_running = true;
    m_hasGathered = false;
    m_round = m_onRequest ? m_round : m_before; // a center that starts anew begins anew
    *m_meter = UplinkMeter();
    SetUpParts();
    for (uint32_t device : m_roster->Admit())
    {
        m_memberTrace(device, true);
    }
    const bool isComplete = m_roster->GetJoined() > 0 && m_roster->GetJoined() == m_expected;
    m_joinEvent =
        Simulator::Schedule(isComplete ? Time(0) : m_joinTimeout, &FusionCenter::EndJoining, this);
    m_runningTrace(true);
}

void
FusionCenter::EndJoining()
{
    m_hasGathered = true;
    RepeatPlans();
    Continue();
}

bool
FusionCenter::RunRounds(RoundsRequest request)
{
    NS_ABORT_MSG_IF(!m_onRequest, "FusionCenter: RunRounds needs OnRequest");
    if (!m_running)
    {
        return false;
    }
    NS_ABORT_MSG_IF(!request.done, "FusionCenter: RunRounds got no function to call at the end");
    NS_ABORT_MSG_IF(request.rounds > std::numeric_limits<uint32_t>::max() - request.before,
                    "FusionCenter: RunRounds got more rounds than can be counted, "
                        << request.rounds << " after " << request.before);
    NS_ABORT_MSG_IF(request.model.size() != m_task->GetDimension(),
                    "FusionCenter: RunRounds got a model of " << request.model.size()
                                                              << " coordinates, the task has "
                                                              << m_task->GetDimension());
    CancelRounds();
    m_request = std::make_unique<RoundsRequest>(std::move(request));
    m_hasRequestBegun = false;
    m_isTimeUp = false;
    m_outcome = RoundsOutcome();
    if (m_hasGathered && !m_isInRound) // else they begin after that
    {
        ScheduleRound(Time(0), &FusionCenter::Continue);
    }
    return true;
}

void
FusionCenter::CancelRounds()
{
    m_request.reset();
    if (m_running && m_onRequest)
    {
        RemoveEvent(m_roundEvent);
        if (m_isInRound)
        {
            ScheduleRound(Time(0), &FusionCenter::EndRound);
        }
    }
}

void
FusionCenter::ScheduleRound(const Time& wait, void (FusionCenter::*step)())
{
    RemoveEvent(m_roundEvent); // a trace sink may have scheduled another step
    m_roundEvent = Simulator::Schedule(wait, step, this);
}

bool
FusionCenter::HasNextRound() const
{
    if (!m_onRequest)
    {
        return m_round - m_before < m_rounds && !m_record.HasReachedTarget();
    }
    return m_request && m_outcome.rounds < m_request->rounds && !m_isTimeUp && GetJoined() > 0 &&
           m_request->latest - GetNextStart() > m_wakeTime + m_guard;
}

void
FusionCenter::Continue()
{
    if (m_visitorTimeout.IsStrictlyPositive())
    {
        m_registrar->RemoveSilentVisitors(Simulator::Now() - m_visitorTimeout);
    }
    if (!HasNextRound())
    {
        if (m_onRequest)
        {
            AnswerRequest();
        }
        return;
    }
    const Time wait = GetNextStart() - Simulator::Now();
    if (wait.IsZero())
    {
        StartRound();
        return;
    }
    ScheduleRound(wait, &FusionCenter::StartRound);
}

Time
FusionCenter::GetNextStart() const
{
    if (m_pageInterval.IsZero())
    {
        return Simulator::Now();
    }
    const int64_t now = Simulator::Now().GetTimeStep();
    const int64_t interval = m_pageInterval.GetTimeStep();
    return m_pageInterval * ((now + interval - 1) / interval);
}

void
FusionCenter::AnswerRequest()
{
    const auto request = std::move(m_request);
    if (request)
    {
        m_outcome.noTime = m_isTimeUp || (m_outcome.rounds < request->rounds && GetJoined() > 0);
        request->done(m_outcome); // who asked may ask again
    }
}

uint64_t
FusionCenter::GetSeed() const
{
    if (m_cell == 0)
    {
        return m_task->GetSeed();
    }
    FederatedRandom random(m_task->GetSeed(), FederatedRandom::CELL, m_cell);
    const uint64_t high = random();
    return high << 32 | random();
}

void
FusionCenter::StopApplication()
{
    NS_LOG_FUNCTION(this);
    if (m_running)
    {
        m_registrar->Dismiss();
        Halt();
        m_runningTrace(false);
    }
}

void
FusionCenter::Halt()
{
    m_running = false;
    m_isInRound = false;
    m_request.reset();
    RemoveEvent(m_joinEvent);
    RemoveEvent(m_roundEvent);
    RemoveEvent(m_exchangeEvent);
    m_exchange->Clear();
    m_roster->Clear();
    m_endpoint->Close();
}

std::optional<DropReason>
FusionCenter::HandleMessage(const ReceivedMessage& message)
{
    const FederatedHeader& header = message.header;
    const Time now = Simulator::Now();
    const bool isJoin = header.type == FederatedHeader::JOIN;
    const auto reason =
        isJoin ? m_registrar->HandleJoin(message, now) : m_registrar->CheckSender(message, now);
    if (!m_roster->CheckSender(header.device, message.from, message.connection))
    {
        m_roster->SetLastHeard(header.device, now);
    }
    if (isJoin || reason)
    {
        return reason;
    }
    if (!m_exchange->GetCollector().Find(header.device)) // else the outcome of the round decides
    {
        m_roster->Hear(header.device);
    }
    if (header.type == FederatedHeader::LEAVE)
    {
        return m_registrar->HandleLeave(message, now);
    }
    // Beyond MaxReplies it is not answered, but counts: else the round would wait for the device.
    if (header.type == FederatedHeader::DONE && m_roster->CountReply(header.device))
    {
        m_registrar->Acknowledge(header);
    }
    return m_exchange->Handle(message, now);
}

void
FusionCenter::HandleJoined(uint32_t device)
{
    m_memberTrace(device, true);
    if (!m_hasGathered && GetJoined() == m_expected)
    {
        RemoveEvent(m_joinEvent);
        m_joinEvent = Simulator::ScheduleNow(&FusionCenter::EndJoining, this);
    }
    else if (m_isInRound && m_record.joined == 0)
    {
        EndEmptyRound();
    }
}

void
FusionCenter::EndEmptyRound()
{
    // Devices that join one after the other take part in the same next round.
    const bool isComplete = m_expected > 0 && GetJoined() >= m_expected;
    const Time wait = isComplete ? Time(0) : m_controlTimeout;
    if (Simulator::GetDelayLeft(m_roundEvent) > wait)
    {
        ScheduleRound(wait, &FusionCenter::EndRound);
    }
}

void
FusionCenter::HandleLeft(uint32_t device)
{
    m_memberTrace(device, false);
    m_exchange->Leave(device);
}

std::size_t
FusionCenter::GetEncodedSize() const
{
    return ns3::GetEncodedSize(m_rotation, m_model.size());
}

RoundPlan
FusionCenter::PlanNextRound()
{
    RoundRules rules;
    rules.dimension = GetEncodedSize();
    rules.groupBits = m_bits;
    rules.participants = m_participants;
    rules.deadline = m_longest - m_wakeTime;
    rules.modelForEach = m_downlink == UNICAST;
    rules.modelTime = m_exchange->GetModelSender().GetModelTime();
    rules.grantSpacing = m_grantSpacing;
    rules.repairTime = m_repairTime;
    rules.guard = m_guard;
    rules.lateness = m_meter->GetLateness();
    rules.measuredSlots = m_measuredSlots;
    rules.leftOut = m_slowestShare;
    rules.longestSlot = m_longestSlot;
    rules.uplinkRate = m_uplinkRate;
    rules.room = m_endpoint->GetRoom(m_fragmentSize);
    rules.overhead = m_endpoint->GetOverhead();
    rules.seed = GetSeed();
    rules.silentRounds = m_silentRounds;
    rules.silentPause = m_silentPause;
    rules.quantizer = PeekPointer(m_quantizer);
    rules.budget = PeekPointer(m_budget);
    return PlanRound(m_round,
                     ListDevices(m_round, *m_roster, *m_meter, PeekPointer(m_probe), *m_noise),
                     rules,
                     *m_policy,
                     *m_selector,
                     m_record.start + m_wakeTime);
}

UpdateLimits::Terms
FusionCenter::GetUpdateTerms() const
{
    UpdateLimits::Terms terms;
    terms.quantizer = PeekPointer(m_quantizer);
    if (m_interval)
    {
        terms.context = m_interval->GetPrivacyContext(m_clipNorm, m_clipBound, m_bits.front());
        terms.hasOneInterval = !m_interval->IsPerLayer();
    }
    terms.context.clipNorm = m_clipNorm;
    terms.context.clipBound = m_clipBound;
    terms.maxCoordinate = m_maxCoordinate;
    terms.needsDistortion = m_fusionRule->NeedsReportedDistortion();
    return terms;
}

Time
FusionCenter::GetPlanEnd(const std::vector<PlannedSlot>& slots) const
{
    const std::size_t waited = slots.size() - CountLeftOut(m_slowestShare, slots.size());
    Time end = m_record.start;
    for (std::size_t i = 0; i < slots.size(); ++i)
    {
        if (i >= waited && slots[i].start > end)
        {
            break; // a pause: these devices say that they train longer than all others
        }
        end = std::max(end, slots[i].end + m_guard + m_meter->GetLateness());
    }
    return end;
}

void
FusionCenter::RepeatPlans()
{
    if (m_round != m_before)
    {
        return; // it has rounds of its own behind it
    }
    m_record = RoundRecord();
    m_record.start = Simulator::Now();
    m_longest = m_deadline;
    for (m_round = 1; m_round <= m_before; ++m_round)
    {
        m_roster->SetAsked(PlanNextRound().selected, m_round);
    }
    m_round = m_before;
}

void
FusionCenter::StartRound()
{
    m_record = RoundRecord();
    m_record.start = Simulator::Now();
    m_isInRound = true;
    m_longest = m_deadline;
    m_record.planned = m_rounds;
    if (m_request)
    {
        if (!m_hasRequestBegun)
        {
            m_hasRequestBegun = true;
            m_model = std::move(m_request->model);
            // The round before may have ended late, after it was canceled. Rounds that go back
            // further follow a center of the edges that began anew, or a forged number.
            const uint32_t before = m_request->before;
            m_round = m_round > before + m_request->rounds ? before : std::max(m_round, before);
        }
        m_longest = std::min(m_deadline, m_request->latest - m_record.start);
        m_record.planned = m_round + m_request->rounds - m_outcome.rounds;
    }
    ++m_round;
    m_record.round = m_round;
    m_record.before = m_before;
    m_record.target = m_target;
    m_record.joined = GetJoined();
    if (m_probe)
    {
        m_probe->BeginRound(m_round);
    }
    m_plan = std::make_unique<RoundPlan>(PlanNextRound());
    const RoundPlan& plan = *m_plan;
    m_record.bitBudget = plan.budget;
    m_record.uplinkSeconds = plan.context.uplinkSeconds;
    m_record.meanRate = plan.context.rate > 0 ? plan.context.rate : std::nan("");
    NS_LOG_INFO("Round " << m_round << " begins with " << plan.selected.size() << " of "
                         << GetJoined() << " devices");
    m_roster->BeginRound();
    m_roster->SetAsked(plan.selected, m_round);
    m_planEnd = GetPlanEnd(plan.slots);
    ScheduleRound(m_longest, &FusionCenter::EndRound);
    m_roundStartTrace(m_round, plan.selected);
    if (!m_isInRound || (m_onRequest && !(m_request && m_hasRequestBegun)))
    {
        return; // a trace sink has stopped the center, or canceled the round
    }
    if (m_wakeTime.IsZero() || plan.selected.empty())
    {
        StartExchange();
        return;
    }
    if (m_pageInterval.IsStrictlyPositive())
    {
        m_exchange->Page(m_round, plan.selected, m_record.start + m_longest, m_wakeTime / 4);
    }
    m_exchangeEvent = Simulator::Schedule(m_wakeTime, &FusionCenter::StartExchange, this);
}

void
FusionCenter::StartExchange()
{
    RoundExchange::Rules rules;
    rules.collector.round = m_round;
    rules.collector.start = m_record.start;
    rules.collector.dimension = GetEncodedSize();
    rules.collector.isRotated = m_rotation;
    rules.collector.isInterleaved = m_interleave;
    rules.collector.rememberFragments = m_noise->DependsOnSnr();
    rules.collector.limits = GetUpdateTerms();
    rules.grants.timeout = m_controlTimeout;
    rules.grants.retries = m_controlRetries;
    rules.grants.repeats = !m_endpoint->IsTcp();
    rules.grantSpacing = m_grantSpacing;
    rules.deadline = m_record.start + std::max(m_longest - m_guard, Time(0));
    m_exchange->Start(*m_plan, m_model, rules);
    for (uint32_t device : m_plan->selected)
    {
        if (!m_roster->Find(device)->joined) // it left during WakeTime
        {
            m_exchange->Leave(device);
        }
    }
}

void
FusionCenter::HandleAnswered(uint32_t unanswered)
{
    const Time now = Simulator::Now();
    Time end = now;
    if (unanswered > 0)
    {
        const std::size_t selected = m_exchange->GetCollector().GetParticipants().size();
        if (m_patience == 0 || unanswered > CountLeftOut(m_slowestShare, selected))
        {
            return;
        }
        const double seconds = m_patience * (now - m_record.start).GetSeconds();
        const Time wait = Seconds(std::min(seconds, m_longest.GetSeconds()));
        end = std::max({now, m_planEnd, m_record.start + wait});
    }
    if (m_roundEvent.IsExpired() || Simulator::GetDelayLeft(m_roundEvent) >= end - now)
    {
        ScheduleRound(end - now, &FusionCenter::EndRound);
    }
}

void
FusionCenter::EndRound()
{
    m_isInRound = false;
    RemoveEvent(m_exchangeEvent);
    m_exchange->Finish();
    m_record.end = Simulator::Now();
    Fuse();
    m_meter->Measure(m_exchange->GetCollector().GetObservations(), m_record.end);
    m_exchange->Clear();
    m_record.Summarize(GetEncodedSize());
    m_record.sameCellEpsilon =
        m_roster->GetMostAnswers() * static_cast<double>(GetEncodedSize()) *
        m_quantizer->GetCoordinateEpsilon(*std::min_element(m_bits.begin(), m_bits.end()));
    m_record.repairTime = m_exchange->GetModelSender().GetRepairTime();
    m_record.drops = m_endpoint->TakeDrops();
    Evaluate();
    NS_LOG_INFO("Round " << m_round << " ends with " << m_record.received << " updates"
                         << (m_record.skipped ? ", skipped" : ""));
    if (m_request && m_hasRequestBegun) // else the round belongs to one that was canceled
    {
        ++m_outcome.rounds;
        m_outcome.fused += m_record.skipped ? 0 : 1;
        m_outcome.error += m_record.skipped ? 0 : m_record.fusedError;
        // No device had the time for this round, and none will have it for a shorter one.
        m_isTimeUp = m_record.skipped && m_longest < m_deadline;
    }
    m_roundEndTrace(m_record);
    if (!m_running)
    {
        return; // a trace sink has stopped the center
    }
    if (m_onRequest || HasNextRound())
    {
        ScheduleRound(Time(0), &FusionCenter::Continue);
    }
    else
    {
        m_finishedTrace(m_round - m_before);
    }
}

void
FusionCenter::Fuse()
{
    UpdateFuser::Rules rules;
    rules.quantizer = PeekPointer(m_quantizer);
    rules.fusionRule = PeekPointer(m_fusionRule);
    rules.aggregator = PeekPointer(m_aggregator);
    rules.noise = PeekPointer(m_noise);
    rules.lossPolicy = m_lossPolicy;
    rules.groups = m_bits.size();
    rules.minUpdates = m_minUpdates;
    rules.seed = GetSeed();
    if (m_rotation)
    {
        rules.rotation = PublicRotation(m_task->GetRotationSeed(), m_round);
    }
    if (m_interleave)
    {
        rules.interleaving = PublicInterleaving(m_task->GetRotationSeed(), m_round);
    }
    FusedModel fused = FuseRound(m_exchange->GetCollector(),
                                 *m_roster,
                                 PeekPointer(m_probe),
                                 UpdateFuser(rules),
                                 m_model,
                                 m_record);
    RecordOutcomes(fused, m_record, *m_roster, *m_meter);
    if (!fused.skipped)
    {
        m_model = std::move(fused.model);
    }
}

void
FusionCenter::Evaluate()
{
    const bool isLast = m_onRequest ? m_request && m_outcome.rounds + 1 >= m_request->rounds
                                    : m_round - m_before >= m_rounds;
    if (m_evaluationInterval > 0 && (m_round % m_evaluationInterval == 0 || isLast))
    {
        const std::size_t all = std::numeric_limits<std::size_t>::max();
        m_record.testAccuracy =
            m_task->EvaluateTest(m_model.data(), m_testSamples ? m_testSamples : all).accuracy;
        m_record.trainLoss =
            m_task->EvaluateTrain(m_model.data(), m_trainSamples ? m_trainSamples : all).loss;
    }
}

} // namespace ns3
