// SPDX-License-Identifier: GPL-2.0-only

#include "federated-device.h"

#include "ns3/abort.h"
#include "ns3/boolean.h"
#include "ns3/center-link.h"
#include "ns3/control-retry.h"
#include "ns3/device-registry.h"
#include "ns3/device-session.h"
#include "ns3/double.h"
#include "ns3/enum.h"
#include "ns3/learning-rate-schedule.h"
#include "ns3/local-training.h"
#include "ns3/log.h"
#include "ns3/message-protection.h"
#include "ns3/message-sequence.h"
#include "ns3/pointer.h"
#include "ns3/remove-event.h"
#include "ns3/simulator.h"
#include "ns3/socket-check.h"
#include "ns3/strategy-checker.h"
#include "ns3/string.h"
#include "ns3/tcp-socket-factory.h"
#include "ns3/udp-socket-factory.h"
#include "ns3/uinteger.h"
#include "ns3/update-sender.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("FederatedDevice");

NS_OBJECT_ENSURE_REGISTERED(FederatedDevice);

using namespace federated;

namespace
{

constexpr uint32_t NO_SHARE = std::numeric_limits<uint32_t>::max(); // of its own number

} // namespace

struct FederatedDevice::Encoding
{
    Ptr<Quantizer> quantizer;         // lives as long as a worker uses it
    Ptr<IntervalRule> interval;       // likewise
    PrivacyExpense expense;           // of the update as it was encoded
    PrivacyExpense withoutDistortion; // if its distortion is not sent along
};

TypeId
FederatedDevice::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::FederatedDevice")
            .SetParent<Application>()
            .SetGroupName("Federated")
            .AddConstructor<FederatedDevice>()
            .AddAttribute("DeviceId",
                          "Identifier of the device in its federation, from 0 on.",
                          UintegerValue(0),
                          MakeUintegerAccessor(&FederatedDevice::m_id),
                          MakeUintegerChecker<uint32_t>(0, FederatedHeader::ALL_DEVICES - 1))
            .AddAttribute("Share",
                          "Number of the part of the data of the Task that is the device's own; "
                          "4294967295: DeviceId. The privacy ledger is kept for it: applications "
                          "that are one device, in cells that share a Task, have the same.",
                          UintegerValue(NO_SHARE),
                          MakeUintegerAccessor(&FederatedDevice::m_share),
                          MakeUintegerChecker<uint32_t>())
            .AddAttribute("Group",
                          "Group of devices that share a resolution, from 0 on.",
                          UintegerValue(0),
                          MakeUintegerAccessor(&FederatedDevice::m_group),
                          MakeUintegerChecker<uint32_t>())
            .AddAttribute("Bits",
                          "Resolution b of the device; a grant may ask for less, never for more.",
                          UintegerValue(4),
                          MakeUintegerAccessor(&FederatedDevice::m_bits),
                          MakeUintegerChecker<uint32_t>(1, Quantizer::MAX_BITS))
            .AddAttribute("Remote",
                          "Address and port of the center; messages of other senders are dropped.",
                          AddressValue(),
                          MakeAddressAccessor(&FederatedDevice::m_remote),
                          MakeAddressChecker())
            .AddAttribute("Local",
                          "Address and port to receive on (UDP), as for a group; not set: any.",
                          AddressValue(),
                          MakeAddressAccessor(&FederatedDevice::m_local),
                          MakeAddressChecker())
            .AddAttribute("UplinkGroup",
                          "Group or broadcast address and port to which all messages are sent "
                          "(UDP), so that the radio sends them without acknowledgments; if not "
                          "set, they are sent to Remote.",
                          AddressValue(),
                          MakeAddressAccessor(&FederatedDevice::m_uplinkGroup),
                          MakeAddressChecker())
            .AddAttribute("Enrolled",
                          "Whether the device was enrolled at the center in advance "
                          "(FusionCenter::Enroll) and does not join (UDP, with Local).",
                          BooleanValue(false),
                          MakeBooleanAccessor(&FederatedDevice::m_enrolled),
                          MakeBooleanChecker())
            .AddAttribute("MulticastGroup",
                          "Address and port on which models are received by multicast; none if not "
                          "set. Only one device of a node can have it.",
                          AddressValue(),
                          MakeAddressAccessor(&FederatedDevice::m_multicast),
                          MakeAddressChecker())
            .AddAttribute("Protocol",
                          "ns3::UdpSocketFactory or ns3::TcpSocketFactory.",
                          TypeIdValue(UdpSocketFactory::GetTypeId()),
                          MakeTypeIdAccessor(&FederatedDevice::m_protocol),
                          MakeTypeIdChecker())
            .AddAttribute("FragmentSize",
                          "Size of the largest message in bytes, our header included: the payload "
                          "of a UDP datagram.",
                          UintegerValue(1400),
                          MakeUintegerAccessor(&FederatedDevice::m_fragmentSize),
                          MakeUintegerChecker<uint32_t>(MessageStream::MIN_FRAGMENT,
                                                        MessageStream::MAX_MESSAGE))
            .AddAttribute("DeviceKey",
                          "Keys of the device that protect all messages, as "
                          "FusionCenter::GetDeviceKey derives them; empty: none.",
                          StringValue(""),
                          MakeStringAccessor(&FederatedDevice::m_deviceKey),
                          MakeStringChecker())
            .AddAttribute("Task",
                          "What is learned; one object for the center and all devices.",
                          PointerValue(),
                          MakePointerAccessor(&FederatedDevice::m_task),
                          MakeStrategyChecker<LearningTask>())
            .AddAttribute(
                "Quantizer",
                "Encodes the coordinates of an update; the center must have the same one.",
                StringValue("ns3::DpStochasticQuantizer"),
                MakePointerAccessor(&FederatedDevice::m_quantizer),
                MakeStrategyChecker<Quantizer>())
            .AddAttribute("IntervalRule",
                          "Chooses the interval that an update is quantized on; values outside are "
                          "clamped to it.",
                          StringValue("ns3::FixedInterval"),
                          MakePointerAccessor(&FederatedDevice::m_interval),
                          MakeStrategyChecker<IntervalRule>())
            .AddAttribute("ClipNorm",
                          "The norm that is limited to ClipBound, by scaling the whole update.",
                          EnumValue(CLIP_L1),
                          compat::MakeEnumAccessor<ClipNorm>(&FederatedDevice::m_clipNorm),
                          MakeEnumChecker(CLIP_NONE, "none", CLIP_L1, "l1", CLIP_L2, "l2"))
            .AddAttribute("ClipBound",
                          "C, the largest norm of an update; a longer one is scaled to it.",
                          DoubleValue(100),
                          MakeDoubleAccessor(&FederatedDevice::m_clipBound),
                          MakeDoubleChecker<double>(1e-30))
            .AddAttribute("Steps",
                          "L, steps of stochastic gradient descent in a round.",
                          UintegerValue(10),
                          MakeUintegerAccessor(&FederatedDevice::m_steps),
                          MakeUintegerChecker<uint32_t>(1))
            .AddAttribute("BatchSize",
                          "Samples of a step, drawn without replacement from those of the device.",
                          UintegerValue(10),
                          MakeUintegerAccessor(&FederatedDevice::m_batchSize),
                          MakeUintegerChecker<uint32_t>(1))
            .AddAttribute("LearningRate",
                          "Learning rate of the first round.",
                          DoubleValue(0.1),
                          MakeDoubleAccessor(&FederatedDevice::m_learningRate),
                          MakeDoubleChecker<double>(0))
            .AddAttribute("LearningRateDecay",
                          "c in the learning rate LearningRate / (1 + c t), t = 0, 1, ...",
                          DoubleValue(0),
                          MakeDoubleAccessor(&FederatedDevice::m_learningRateDecay),
                          MakeDoubleChecker<double>(0))
            .AddAttribute("ReportDistortion",
                          "Report the exact distortion to the center; it depends on the data, "
                          "without protection.",
                          BooleanValue(false),
                          MakeBooleanAccessor(&FederatedDevice::m_reportDistortion),
                          MakeBooleanChecker())
            .AddAttribute("Rotation",
                          "Whether updates are rotated at random before they are clipped, so that "
                          "lost fragments take a little of every coordinate. The rotation is "
                          "public; Rotation of the center must be the same.",
                          BooleanValue(false),
                          MakeBooleanAccessor(&FederatedDevice::m_rotation),
                          MakeBooleanChecker())
            .AddAttribute("Interleave",
                          "Whether the coordinates of updates are sent in a public order that "
                          "spreads each layer over all fragments, so that a burst of lost "
                          "fragments takes a share of every layer. Interleave of the center must "
                          "be the same.",
                          BooleanValue(false),
                          MakeBooleanAccessor(&FederatedDevice::m_interleave),
                          MakeBooleanChecker())
            .AddAttribute(
                "IncompleteModel",
                "What to do without a complete model: skip the round, or use previous values of "
                "missing coordinates when the slot begins (then the last model is always kept).",
                EnumValue(SIT_OUT),
                compat::MakeEnumAccessor<IncompletePolicy>(&FederatedDevice::m_incomplete),
                MakeEnumChecker(SIT_OUT, "sit-out", USE_PREVIOUS, "use-previous"))
            .AddAttribute("PrivacyBudget",
                          "The largest epsilon of all updates together: the device declines a "
                          "grant if answering would exceed it. 0 or infinity: no limit.",
                          DoubleValue(0),
                          MakeDoubleAccessor(&FederatedDevice::m_budget),
                          MakeDoubleChecker<double>(0, std::numeric_limits<double>::infinity()))
            .AddAttribute(
                "PrivacyBudgetOf",
                "The epsilon that PrivacyBudget limits: basic composition, zcdp (the least of "
                "all accounts with PrivacyDelta), or same-cell, which is not differential privacy.",
                EnumValue(EPSILON_BASIC),
                compat::MakeEnumAccessor<PrivacyEpsilon>(&FederatedDevice::m_budgetOf),
                MakeEnumChecker(
                    EPSILON_BASIC, "basic", EPSILON_ZCDP, "zcdp", EPSILON_SAME_CELL, "same-cell"))
            .AddAttribute("PrivacyDelta",
                          "delta of the epsilon by zero-concentrated differential privacy.",
                          DoubleValue(1e-5),
                          MakeDoubleAccessor(&FederatedDevice::SetPrivacyDelta,
                                             &FederatedDevice::GetPrivacyDelta),
                          MakeDoubleChecker<double>(1e-300, 0.5))
            .AddAttribute("TimePerSample",
                          "Simulated seconds of training for one sample, drawn once a round. "
                          "Negative values count as 0; a training takes 73 years at most.",
                          StringValue("ns3::ConstantRandomVariable[Constant=0.0001]"),
                          MakePointerAccessor(&FederatedDevice::m_timePerSample),
                          MakeStrategyChecker<RandomVariableStream>())
            .AddAttribute("RepairDelay",
                          "Time after which missing fragments of the model are requested (UDP).",
                          TimeValue(MilliSeconds(50)),
                          MakeTimeAccessor(&FederatedDevice::m_repairDelay),
                          MakeTimeChecker(MicroSeconds(1)))
            .AddAttribute(
                "ControlTimeout",
                "Time before a control message is repeated, or a connection opened again.",
                TimeValue(MilliSeconds(100)),
                MakeTimeAccessor(&FederatedDevice::m_controlTimeout),
                MakeTimeChecker(MicroSeconds(1)))
            .AddAttribute(
                "ControlRetries",
                "Retransmissions of a DONE or a LEAVE. A JOIN is retransmitted without limit.",
                UintegerValue(10),
                MakeUintegerAccessor(&FederatedDevice::m_controlRetries),
                MakeUintegerChecker<uint32_t>())
            .AddAttribute(
                "CenterTimeout",
                "An idle device joins again after so long without a message (UDP); 0: never.",
                TimeValue(Seconds(0)),
                MakeTimeAccessor(&FederatedDevice::m_centerTimeout),
                MakeTimeChecker(Seconds(0)))
            .AddAttribute(
                "LeaveOnStop",
                "Whether a stopped device sends LEAVE (UDP); false: as if it had crashed.",
                BooleanValue(true),
                MakeBooleanAccessor(&FederatedDevice::m_leaveOnStop),
                MakeBooleanChecker())
            .AddAttribute("Tampering",
                          "Changes the messages of the device, as an insider does, when it starts; "
                          "null: an honest device.",
                          PointerValue(),
                          MakePointerAccessor(&FederatedDevice::m_tampering),
                          MakeStrategyChecker<MessageTampering>())
            .AddTraceSource("Joined",
                            "The center has acknowledged that the device joined: the device.",
                            MakeTraceSourceAccessor(&FederatedDevice::m_joinedTrace),
                            "ns3::FederatedDevice::JoinedTracedCallback")
            .AddTraceSource("LinkNeeded",
                            "The device begins to need its link, or does not need it any more: it "
                            "takes part in a round, has not joined, waits for the "
                            "acknowledgment of JOIN, DONE or LEAVE, or for the grant that a PAGE "
                            "announced. Without a PAGE it cannot know that a grant is about to be "
                            "sent to it.",
                            MakeTraceSourceAccessor(&FederatedDevice::m_linkNeededTrace),
                            "ns3::FederatedDevice::LinkNeededTracedCallback")
            .AddTraceSource("ModelReceived",
                            "The model is complete, or training begins with an incomplete one: "
                            "round, device, and whether it is complete.",
                            MakeTraceSourceAccessor(&FederatedDevice::m_modelReceivedTrace),
                            "ns3::FederatedDevice::ModelReceivedTracedCallback")
            .AddTraceSource("TrainingStarted",
                            "Training has begun: a TrainingPlan.",
                            MakeTraceSourceAccessor(&FederatedDevice::m_trainingStartedTrace),
                            "ns3::FederatedDevice::TrainingStartedTracedCallback")
            .AddTraceSource("TrainingCanceled",
                            "Training was canceled, because the device leaves or stops, or a new "
                            "round began: round and device.",
                            MakeTraceSourceAccessor(&FederatedDevice::m_trainingCanceledTrace),
                            "ns3::FederatedDevice::TrainingCanceledTracedCallback")
            .AddTraceSource("TrainingDone",
                            "Training has ended: a TrainingRecord.",
                            MakeTraceSourceAccessor(&FederatedDevice::m_trainingDoneTrace),
                            "ns3::FederatedDevice::TrainingDoneTracedCallback")
            .AddTraceSource("UpdateSent",
                            "The last fragment of an update was sent, or sending ended early "
                            "(deadline, broken connection, device stopped): a SentRecord.",
                            MakeTraceSourceAccessor(&FederatedDevice::m_updateSentTrace),
                            "ns3::FederatedDevice::UpdateSentTracedCallback")
            .AddTraceSource("PrivacySpent",
                            "The first fragment of an update is about to be sent, and the ledger "
                            "has a new entry: device and ledger.",
                            MakeTraceSourceAccessor(&FederatedDevice::m_spentTrace),
                            "ns3::FederatedDevice::PrivacySpentTracedCallback")
            .AddTraceSource(
                "Declined",
                "A grant was declined, because the privacy budget is spent: round and device.",
                MakeTraceSourceAccessor(&FederatedDevice::m_declinedTrace),
                "ns3::FederatedDevice::DeclinedTracedCallback")
            .AddTraceSource("Tx",
                            "A message was sent: the packet that the socket was given.",
                            MakeTraceSourceAccessor(&FederatedDevice::m_txTrace),
                            "ns3::Packet::TracedCallback")
            .AddTraceSource("Drop",
                            "A received message was dropped: reason, sender and size.",
                            MakeTraceSourceAccessor(&FederatedDevice::m_dropTrace),
                            "ns3::DropTracedCallback");
    return tid;
}

FederatedDevice::FederatedDevice()
    : m_jitter(CreateObject<UniformRandomVariable>()),
      m_link(std::make_unique<CenterLink>(m_txTrace, m_dropTrace)),
      m_repair(std::make_unique<ControlRetry>()),
      m_sender(std::make_unique<UpdateSender>(*m_link)),
      m_account(std::make_shared<DeviceAccount>())
{
    NS_LOG_FUNCTION(this);
}

FederatedDevice::~FederatedDevice() = default; // here, where its parts are known

bool
FederatedDevice::HasJoined() const
{
    return m_link->HasJoined();
}

bool
FederatedDevice::IsRunning() const
{
    return m_link->IsRunning();
}

bool
FederatedDevice::IsLeaving() const
{
    return m_left && m_link->IsRunning();
}

uint32_t
FederatedDevice::GetLastRound() const
{
    return m_lastRound;
}

Time
FederatedDevice::GetLastGrantTime() const
{
    return m_lastGrant;
}

void
FederatedDevice::UpdateNeed()
{
    const bool needs =
        m_link->IsRunning() && (m_session || m_link->IsWaiting() || !m_pageEvent.IsExpired());
    if (needs != m_needsLink)
    {
        m_needsLink = needs;
        m_linkNeededTrace(m_id, needs);
    }
}

uint64_t
FederatedDevice::GetDropped(DropReason reason) const
{
    return m_link->GetDrops().at(reason);
}

std::size_t
FederatedDevice::GetBufferedBytes() const
{
    return (m_previous ? m_previous->size() * sizeof(float) : 0) +
           (m_session ? m_session->GetBufferedBytes() : 0);
}

UpdateSettings
FederatedDevice::GetSettings(unsigned bits, uint32_t round) const
{
    UpdateSettings settings{m_clipNorm,
                            m_clipBound,
                            PeekPointer(m_interval),
                            PeekPointer(m_quantizer),
                            bits,
                            m_reportDistortion};
    if (m_rotation)
    {
        settings.rotation = PublicRotation(m_task ? m_task->GetRotationSeed() : 0, round);
    }
    if (m_interleave)
    {
        settings.interleaving = PublicInterleaving(m_task ? m_task->GetRotationSeed() : 0, round);
    }
    return settings;
}

PrivacyClaim
FederatedDevice::GetPrivacyClaim() const
{
    return ns3::GetPrivacyClaim(GetSettings(m_bits), m_task ? m_task->GetDimension() : 0);
}

std::vector<std::string>
FederatedDevice::GetSideInformation() const
{
    return ns3::GetSideInformation(GetSettings(m_bits));
}

const PrivacyLedger&
FederatedDevice::GetPrivacyLedger() const
{
    return m_account->accountant.GetLedger();
}

void
FederatedDevice::SetPrivacyDelta(double delta)
{
    m_delta = delta;
    m_account->accountant.SetDelta(delta);
}

double
FederatedDevice::GetPrivacyDelta() const
{
    return m_delta;
}

PrivacyExpense
FederatedDevice::GetExpense(const UpdateSettings& settings) const
{
    // Batches are drawn without replacement from the samples of the device.
    const double drawn = static_cast<double>(m_steps) * m_batchSize;
    const std::size_t dimension = m_task->GetDimension();
    return {ns3::GetPrivacyClaim(settings, dimension),
            GetEncodedSize(settings, dimension),
            m_isTrainingLocal ? drawn / m_task->GetSamples(GetShare()) : 1};
}

PrivacyLimit
FederatedDevice::GetLimit() const
{
    return {m_budget, m_budgetOf};
}

bool
FederatedDevice::CheckPrivacyBudget(std::string& error) const
{
    return PrivacyAccountant::CheckLimit(GetPrivacyClaim(), m_bits, GetLimit(), error);
}

uint32_t
FederatedDevice::GetShare() const
{
    // While it runs, the identity remains that whose ledger it keeps, whatever is set since then.
    const uint32_t share = m_share == NO_SHARE ? m_id : m_share;
    return m_link->IsRunning() ? m_account->device : share;
}

Time
FederatedDevice::DrawTrainingTime()
{
    const double seconds = m_timePerSample->GetValue() * m_steps * m_batchSize;
    NS_ABORT_MSG_IF(std::isnan(seconds),
                    "FederatedDevice: TimePerSample of device " << m_id << " is not a number");
    const Time longest = Time::Max() / 4; // sums with it do not overflow
    return seconds < longest.GetSeconds() ? Seconds(std::max(0.0, seconds)) : longest;
}

void
FederatedDevice::SetTraining(std::unique_ptr<DeviceTraining> training)
{
    NS_ABORT_MSG_IF(m_link->IsRunning(),
                    "FederatedDevice: SetTraining comes too late, device " << m_id
                                                                           << " is running");
    m_training = std::move(training);
    m_isTrainingLocal = false;
}

void
FederatedDevice::SetBattery(std::function<double()> level)
{
    m_battery = std::move(level);
}

int64_t
FederatedDevice::AssignStreams(int64_t stream)
{
    m_timePerSample->SetStream(stream);
    m_jitter->SetStream(stream + 1);
    return 2;
}

void
FederatedDevice::DoDispose()
{
    NS_LOG_FUNCTION(this);
    m_link->Abandon(); // the IP stack may be disposed of already
    EndSession();
    RemoveEvent(m_pageEvent);
    m_link->Stop();
    m_battery = nullptr;
    m_previous.reset();
    m_training.reset();
    m_task = nullptr;
    m_quantizer = nullptr;
    m_interval = nullptr;
    m_timePerSample = nullptr;
    m_tampering = nullptr;
    Application::DoDispose();
}

void
FederatedDevice::StartApplication()
{
    NS_LOG_FUNCTION(this);
    NS_ABORT_MSG_IF(!SocketAddress(m_remote).IsValid(),
                    "FederatedDevice: Remote of device " << m_id
                                                         << " is not the address of a center");
    NS_ABORT_MSG_IF(!m_task, "FederatedDevice: Task of device " << m_id << " is not set");
    NS_ABORT_MSG_IF(!m_quantizer, "FederatedDevice: Quantizer of device " << m_id << " is not set");
    NS_ABORT_MSG_IF(!m_interval,
                    "FederatedDevice: IntervalRule of device " << m_id << " is not set");
    std::string error =
        FindSocketMistake(GetNode(), m_protocol, {m_remote, m_local, m_uplinkGroup, m_multicast});
    NS_ABORT_MSG_IF(!error.empty(), "FederatedDevice: device " << m_id << ": " << error);
    NS_ABORT_MSG_IF(!CheckUpdateSettings(GetSettings(m_bits), m_task->GetDimension(), error),
                    "FederatedDevice: device " << m_id << ": " << error);
    NS_ABORT_MSG_IF(!CheckPrivacyBudget(error), "FederatedDevice: " << error);
    CheckDeviceKey();
    if (m_isTrainingLocal)
    {
        m_training = std::make_unique<LocalTraining>(m_task, GetShare());
    }
    m_account = DeviceRegistry::Find(m_task, GetShare());
    m_account->accountant.SetDelta(m_delta);
    CenterLink::Settings settings;
    settings.device = m_id;
    settings.group = m_group;
    settings.bits = m_bits;
    settings.samples = m_training->GetSamples();
    settings.node = GetNode();
    settings.center = SocketAddress(m_remote);
    settings.local = SocketAddress(m_local);
    settings.uplinkGroup = SocketAddress(m_uplinkGroup);
    settings.multicast = SocketAddress(m_multicast);
    settings.enrolled = m_enrolled;
    settings.protocol = m_protocol;
    settings.key = m_deviceKey;
    settings.fragmentSize = m_fragmentSize;
    settings.dimension = GetEncodedSize(GetSettings(m_bits), m_task->GetDimension());
    settings.timeout = m_controlTimeout;
    settings.silence = std::min(m_centerTimeout, Time::Max() / 4);
    settings.retries = m_controlRetries;
    settings.jitter = m_jitter;
    settings.tampering = m_tampering;
    CenterLink::Handlers handlers;
    handlers.screen = [this](uint8_t type) { return Screen(type); };
    handlers.model = [this](const FederatedHeader& header, const uint8_t* payload)
    { return HandleModel(header, payload); };
    handlers.checkGrant = [this](const FederatedHeader& header) { return CheckGrant(header); };
    handlers.beforeGrant = [this]() { EndSession(); };
    handlers.grant = [this](const FederatedHeader& header, const GrantBody& body)
    { StartSession(header, body); };
    handlers.page = [this](const FederatedHeader& header, const Time& until, bool isNamed)
    { HandlePage(header, until, isNamed); };
    handlers.joined = [this]() { m_joinedTrace(m_id); };
    handlers.disconnected = [this]()
    {
        EndSession();
        UpdateNeed();
    };
    handlers.waiting = [this]() { UpdateNeed(); };
    handlers.drawTraining = [this]() { return DrawTrainingTime(); };
    handlers.getBattery = [this]() { return m_battery ? m_battery() : std::nan(""); };
    handlers.isBusy = [this]() { return m_session != nullptr; };
    m_left = false;
    m_lastPage.reset();
    RemoveEvent(m_pageEvent);
    m_link->Start(settings, handlers);
    UpdateNeed();
}

void
FederatedDevice::CheckDeviceKey() const
{
    if (m_deviceKey.empty())
    {
        return;
    }
    const std::string obstacle = MessageProtection::FindObstacle(m_fragmentSize, false);
    NS_ABORT_MSG_IF(!obstacle.empty(),
                    "FederatedDevice: DeviceKey of device " << m_id << " is set, but " << obstacle);
    NS_ABORT_MSG_IF(!MessageProtection::IsDeviceKey(m_deviceKey),
                    "FederatedDevice: DeviceKey of device "
                        << m_id << " is not what FusionCenter::GetDeviceKey returns");
}

void
FederatedDevice::StopApplication()
{
    NS_LOG_FUNCTION(this);
    if (m_leaveOnStop && !m_enrolled && !m_link->IsTcp()) // an enrolled one could not join again
    {
        Leave(); // it stays until the center has acknowledged that, or does not answer
        return;
    }
    EndSession();
    m_link->Stop();
    UpdateNeed();
}

void
FederatedDevice::Leave()
{
    NS_LOG_FUNCTION(this);
    if (m_link->IsRunning())
    {
        m_left = true;
        const bool needsLink = m_needsLink;
        EndSession();
        m_link->Leave();
        UpdateNeed();
        if (needsLink && m_needsLink)
        {
            // Who watches may have ended the wait for what it needed its link for before.
            m_linkNeededTrace(m_id, true);
        }
    }
}

void
FederatedDevice::Join()
{
    NS_LOG_FUNCTION(this);
    NS_ABORT_MSG_IF(m_enrolled,
                    "FederatedDevice: device " << m_id << " is enrolled, and cannot join again");
    if (m_left)
    {
        StartApplication();
    }
}

std::optional<DropReason>
FederatedDevice::Screen(uint8_t type) const
{
    // All devices receive a multicast model: one that is not selected reads only the type.
    const bool wantsModel = m_session && m_session->GetPhase() == DeviceSession::Phase::RECEIVING;
    if (type == FederatedHeader::MODEL && !wantsModel)
    {
        return m_session ? DROP_DUPLICATE : DROP_UNSELECTED;
    }
    return std::nullopt;
}

std::optional<DropReason>
FederatedDevice::CheckGrant(const FederatedHeader& header) const
{
    const std::size_t dimension = m_task->GetDimension();
    const bool isCredible = header.round <= m_account->lastSerial + MAX_ROUND_STEP;
    if (header.coordinates != dimension || header.bits > m_bits ||
        !m_quantizer->Supports(header.bits) || header.fragments < 1 ||
        header.fragments > dimension || !isCredible)
    {
        return DROP_INVALID;
    }
    // With noise, fewer bits may reveal more: what the device claims holds for all its updates.
    const bool isClaimed =
        header.bits == m_bits ||
        GetPrivacyClaim().FollowsFrom(ns3::GetPrivacyClaim(GetSettings(header.bits), dimension));
    return isClaimed ? std::nullopt : std::make_optional(DROP_INVALID);
}

void
FederatedDevice::HandlePage(const FederatedHeader& header, const Time& until, bool isNamed)
{
    const bool isSeen = m_lastPage == header.sequence;       // it is sent twice
    const bool isOfSameRound = header.round == m_pagedRound; // which may have several pages
    if (isNamed ? isSeen : isOfSameRound)
    {
        return;
    }
    RemoveEvent(m_pageEvent);
    if (isNamed)
    {
        NS_LOG_INFO("Device " << m_id << " is paged for round " << header.round);
        m_lastPage = header.sequence;
        m_pagedRound = header.round;
        m_pageEvent =
            Simulator::Schedule(until - Simulator::Now(), &FederatedDevice::UpdateNeed, this);
    }
    UpdateNeed();
}

void
FederatedDevice::StartSession(const FederatedHeader& header, const GrantBody& body)
{
    DeviceSession::Terms terms;
    terms.round = header.round;
    terms.device = m_id;
    terms.dimension = header.coordinates;
    terms.bits = header.bits;
    terms.wireBits = m_quantizer->GetWireBits(header.bits);
    terms.modelFragments = header.fragments;
    terms.modelEnd = DeviceSession::LimitTime(body.modelEndNs);
    terms.slotStart = DeviceSession::LimitTime(body.slotStartNs);
    terms.slotLength = DeviceSession::LimitTime(body.slotLengthNs);
    terms.deadline = DeviceSession::LimitTime(body.deadlineNs);
    terms.trainingTime = DrawTrainingTime();
    m_session = std::make_unique<DeviceSession>(terms);
    RemoveEvent(m_pageEvent); // from now on the session needs the link
    m_lastRound = terms.round;
    m_lastGrant = Simulator::Now();
    UpdateNeed();
    if (!m_session)
    {
        return; // a trace sink let the device leave
    }
    NS_LOG_INFO("Device " << m_id << " is granted " << terms.bits << " bits, round "
                          << terms.round);
    if (!m_account->accountant.CanAfford(GetExpense(GetSettings(terms.bits)), GetLimit()))
    {
        Decline();
        return;
    }
    const Time now = Simulator::Now();
    const Time latest = m_session->GetLatestStart(m_incomplete == USE_PREVIOUS, now, m_repairDelay);
    if (latest <= now)
    {
        Report(OUTCOME_NO_TIME);
        return;
    }
    m_giveUpEvent = Simulator::Schedule(latest - now, &FederatedDevice::GiveUpOnModel, this);
    if (!m_link->IsTcp())
    {
        ControlRetry::Schedule schedule;
        schedule.timeout = m_repairDelay;
        schedule.jitter = m_jitter;
        const Time wait =
            std::max(terms.modelEnd - now, Time(0)) + ControlRetry::Spread(m_repairDelay, m_jitter);
        m_repair->Start(
            schedule, [this]() { return AskForRepair(); }, nullptr, wait);
    }
}

void
FederatedDevice::Decline()
{
    NS_LOG_INFO("Device " << m_id << " has spent its privacy budget");
    m_declinedTrace(m_session->GetTerms().round, m_id);
    Report(OUTCOME_BUDGET_SPENT);
}

std::optional<DropReason>
FederatedDevice::HandleModel(const FederatedHeader& header, const uint8_t* payload)
{
    const auto reason = m_session->TakeModel(header, payload, Simulator::Now());
    if (!reason && m_session->HasModel())
    {
        m_modelReceivedTrace(header.round, m_id, true);
        Train();
    }
    return reason;
}

Time
FederatedDevice::AskForRepair()
{
    Time silence = m_session->GetSilence(Simulator::Now());
    if (silence < m_repairDelay)
    {
        return silence; // the model is still being received
    }
    const std::size_t room = m_link->GetRoom(m_fragmentSize) - FederatedHeader::FIXED_SIZE;
    RepairBody body;
    body.ranges = m_session->GetMissing(RepairBody::GetRoom(room));
    const uint32_t round = m_session->GetTerms().round;
    NS_LOG_INFO("Device " << m_id << " lacks fragments of the model in round " << round);
    m_link->SendRepair(round, body);
    return Time(0);
}

void
FederatedDevice::GiveUpOnModel()
{
    const uint32_t round = m_session->GetTerms().round;
    NS_LOG_INFO("Device " << m_id << " has no complete model in round " << round);
    m_modelReceivedTrace(round, m_id, false);
    if (m_incomplete == SIT_OUT)
    {
        Report(OUTCOME_MODEL_INCOMPLETE);
        return;
    }
    if (!m_previous)
    {
        std::vector<float> first; // it is public
        m_task->Initialize(first);
        m_previous = m_task->Share(std::move(first));
    }
    Train();
}

void
FederatedDevice::Train()
{
    if (!m_session)
    {
        return; // a trace sink let the device leave
    }
    RemoveEvent(m_giveUpEvent);
    m_repair->Stop();
    const DeviceSession::Terms& terms = m_session->GetTerms();
    const auto schedule = LearningRateSchedule::Decaying(m_learningRate, m_learningRateDecay);
    auto update = std::make_shared<LocalUpdate>();
    update->training = {m_steps, m_batchSize, schedule.At(terms.round - 1.0)};
    update->settings = GetSettings(terms.bits, terms.round);
    update->device = GetShare();
    update->serial = m_account->TakeSerial(terms.round);
    update->federation = m_account->federation;
    UpdateSettings plain = update->settings;
    plain.reportDistortion = false;
    m_encoding = std::make_unique<Encoding>(
        Encoding{m_quantizer, m_interval, GetExpense(update->settings), GetExpense(plain)});
    m_session->StartTraining(update, m_previous.get());
    m_training->Begin(update,
                      {terms.round, terms.trainingTime, terms.deadline - terms.slotLength},
                      [this]() { FinishTraining(); });
    const uint32_t samples = m_isTrainingLocal ? m_steps * m_batchSize : 0;
    m_trainingStartedTrace({terms.round, m_id, samples, terms.trainingTime});
}

void
FederatedDevice::FinishTraining()
{
    const DeviceSession* session = m_session.get();
    const DeviceSession::Terms terms = session->GetTerms();
    LocalUpdate& update = m_session->GetUpdate();
    m_trainingDoneTrace({terms.round, m_id, update.loss, update.clipFactor, terms.trainingTime});
    if (m_session.get() != session)
    {
        return; // a trace sink let the device leave
    }
    if (m_incomplete == USE_PREVIOUS)
    {
        m_previous = m_task->Share(std::move(update.model));
    }
    update.model = std::vector<float>();
    const Time start = std::max(terms.slotStart, Simulator::Now());
    if (!update.valid || start >= terms.deadline)
    {
        const bool isLate = update.valid || update.isLate;
        NS_LOG_INFO("Device " << m_id << " sends no update in round " << terms.round << ": "
                              << (isLate           ? "no time is left"
                                  : update.isEmpty ? "nothing was learned"
                                                   : "it is not finite"));
        Report(isLate           ? OUTCOME_NO_TIME
               : update.isEmpty ? OUTCOME_NOTHING_LEARNED
                                : OUTCOME_NOT_FINITE);
        return;
    }
    if (!m_isTrainingLocal)
    {
        m_link->TellSamples(m_training->GetSamples());
        if (m_session.get() != session)
        {
            return; // likewise
        }
    }
    m_session->StartWaiting(m_link->GetRoom(m_fragmentSize), start);
    m_sender->Start(
        *m_session,
        start,
        [this]() { SpendPrivacy(); },
        [this](RoundOutcome outcome) { Report(outcome); });
}

void
FederatedDevice::SpendPrivacy()
{
    // What the claim covers was fixed when the update was encoded, whatever was set since then;
    // only the distortion can still be left out.
    UpdateSettings& settings = m_session->GetUpdate().settings;
    settings.reportDistortion = settings.reportDistortion && m_reportDistortion;
    const PrivacyExpense& expense =
        settings.reportDistortion ? m_encoding->expense : m_encoding->withoutDistortion;
    if (!m_account->accountant.CanAfford(expense, GetLimit()))
    {
        Decline(); // the claim is another one than when the grant was accepted
        return;
    }
    m_account->accountant.Spend(expense);
    m_spentTrace(m_id, m_account->accountant.GetLedger());
}

void
FederatedDevice::Report(RoundOutcome outcome)
{
    if (m_session) // else a trace sink let the device leave
    {
        const DeviceSession::Terms terms = m_session->GetTerms();
        const SentRecord sent = EndSession();
        m_link->SendDone(terms.round, terms.wireBits, sent, outcome);
        UpdateNeed();
    }
}

SentRecord
FederatedDevice::EndSession()
{
    m_sender->Stop();
    RemoveEvent(m_giveUpEvent);
    m_repair->Stop();
    const auto session = std::move(m_session); // a trace sink may end it again
    if (!session)
    {
        return {};
    }
    const DeviceSession::Phase phase = session->GetPhase();
    if (phase == DeviceSession::Phase::TRAINING)
    {
        m_training->Cancel();
        m_trainingCanceledTrace(session->GetTerms().round, m_id);
    }
    m_encoding.reset(); // no worker uses it any more
    SentRecord sent = session->GetSent();
    // Messages that the socket has not accepted yet are discarded.
    sent.fragments -=
        static_cast<uint32_t>(std::min<std::size_t>(m_link->Discard(), sent.fragments));
    if (phase == DeviceSession::Phase::SENDING)
    {
        NS_LOG_INFO("Device " << m_id << " sent " << sent.fragments << " of " << sent.planned
                              << " fragments in round " << sent.round);
        m_updateSentTrace(sent);
    }
    return sent;
}

} // namespace ns3
