// SPDX-License-Identifier: GPL-2.0-only

#include "fusion-center.h"

#include "ns3/abort.h"
#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/enum.h"
#include "ns3/federated-number.h"
#include "ns3/federated-port.h"
#include "ns3/federated-random.h"
#include "ns3/inet-socket-address.h"
#include "ns3/little-endian.h"
#include "ns3/log.h"
#include "ns3/message-bodies.h"
#include "ns3/pointer.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/tcp-socket-factory.h"
#include "ns3/udp-socket-factory.h"
#include "ns3/uinteger.h"
#include "ns3/update-clipping.h"

#include <boost/random/normal_distribution.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>
#include <utility>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("FusionCenter");

NS_OBJECT_ENSURE_REGISTERED(FusionCenter);

namespace
{

constexpr uint32_t MAX_STRANGERS = 16; // connections of one address that did not join yet

/** @return the sequence number a comes after b, also where the counter has wrapped. */
bool
IsNewer(uint32_t a, uint32_t b)
{
    return static_cast<int32_t>(a - b) > 0;
}

} // namespace

TypeId
FusionCenter::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::FusionCenter")
            .SetParent<Application>()
            .SetGroupName("Federated")
            .AddConstructor<FusionCenter>()
            .AddAttribute("Local",
                          "Address and port to listen on. A center with several addresses should "
                          "name the one that devices know: they take messages from no other.",
                          AddressValue(InetSocketAddress(FederatedPort::CENTER)),
                          MakeAddressAccessor(&FusionCenter::m_local),
                          MakeAddressChecker())
            .AddAttribute("Protocol",
                          "ns3::UdpSocketFactory or ns3::TcpSocketFactory.",
                          TypeIdValue(UdpSocketFactory::GetTypeId()),
                          MakeTypeIdAccessor(&FusionCenter::m_protocol),
                          MakeTypeIdChecker())
            .AddAttribute("FragmentSize",
                          "Bytes of a message including our header: the payload of UDP.",
                          UintegerValue(1400),
                          MakeUintegerAccessor(&FusionCenter::m_fragmentSize),
                          MakeUintegerChecker<uint32_t>(100, MessageStream::MAX_MESSAGE))
            .AddAttribute("EncryptionKey",
                          "Key of up to 32 bytes under which messages are encrypted, the same for "
                          "center and devices; empty: they are not.",
                          StringValue(""),
                          MakeStringAccessor(&FusionCenter::m_encryptionKey),
                          MakeStringChecker())
            .AddAttribute("Task",
                          "What is learned; one object for the center and all devices.",
                          PointerValue(),
                          MakePointerAccessor(&FusionCenter::m_task),
                          MakePointerChecker<LearningTask>())
            .AddAttribute("Quantizer",
                          "The quantizer that the devices use, which is public.",
                          StringValue("ns3::DpStochasticQuantizer"),
                          MakePointerAccessor(&FusionCenter::m_quantizer),
                          MakePointerChecker<Quantizer>())
            .AddAttribute("IntervalRule",
                          "The interval rule that the devices use. If its interval is public, an "
                          "update on another one is dropped, so that no device can reach further "
                          "than agreed on. Null: devices say what they use.",
                          PointerValue(),
                          MakePointerAccessor(&FusionCenter::m_interval),
                          MakePointerChecker<IntervalRule>())
            .AddAttribute("FusionRule",
                          "Gives the weights of the updates.",
                          StringValue("ns3::EffectiveSnrFusion"),
                          MakePointerAccessor(&FusionCenter::m_fusionRule),
                          MakePointerChecker<FusionRule>())
            .AddAttribute("ClusterSizePolicy",
                          "Decides how many devices of each group take part in a round.",
                          StringValue("ns3::OptimalClusterSizes"),
                          MakePointerAccessor(&FusionCenter::m_policy),
                          MakePointerChecker<ClusterSizePolicy>())
            .AddAttribute("BitBudget",
                          "B, bits a coordinate that the devices of a round may send together.",
                          StringValue("ns3::FixedBitBudget"),
                          MakePointerAccessor(&FusionCenter::m_budget),
                          MakePointerChecker<BitBudget>())
            .AddAttribute("LinkNoise",
                          "Noise that the links add to the coordinates of an update.",
                          StringValue("ns3::NoLinkNoise"),
                          MakePointerAccessor(&FusionCenter::m_noise),
                          MakePointerChecker<LinkNoise>())
            .AddAttribute("Probe",
                          "What the receiving radio measured about each link; may be null.",
                          PointerValue(),
                          MakePointerAccessor(&FusionCenter::m_probe),
                          MakePointerChecker<LinkProbe>())
            .AddAttribute(
                "LossPolicy",
                "What becomes of coordinates that did not come: those that delivered "
                "them share the weight, they count as zero, or the device is dropped.",
                EnumValue(LOSS_RENORMALIZE),
                compat::MakeEnumAccessor<LossPolicy>(&FusionCenter::m_lossPolicy),
                MakeEnumChecker(
                    LOSS_RENORMALIZE, "renormalize", LOSS_ZERO, "zero", LOSS_DROP, "drop"))
            .AddAttribute("GroupBits",
                          "Resolution b of each group, in order, with commas between.",
                          StringValue("2,4"),
                          MakeStringAccessor(&FusionCenter::m_groupBits),
                          MakeStringChecker())
            .AddAttribute("Participants",
                          "N, devices that take part in a round; fewer where the bit budget or the "
                          "number of joined devices does not allow as many.",
                          UintegerValue(10),
                          MakeUintegerAccessor(&FusionCenter::m_participants),
                          MakeUintegerChecker<uint32_t>(1))
            .AddAttribute("Rounds",
                          "T, number of rounds.",
                          UintegerValue(20),
                          MakeUintegerAccessor(&FusionCenter::m_rounds),
                          MakeUintegerChecker<uint32_t>(1))
            .AddAttribute("Deadline",
                          "Time from the start of a round at which it ends at the latest.",
                          TimeValue(Seconds(10)),
                          MakeTimeAccessor(&FusionCenter::m_deadline),
                          MakeTimeChecker(MicroSeconds(1)))
            .AddAttribute("MinUpdates",
                          "Updates that must have come, at least in part; with fewer the model "
                          "stays and the round is recorded as skipped.",
                          UintegerValue(1),
                          MakeUintegerAccessor(&FusionCenter::m_minUpdates),
                          MakeUintegerChecker<uint32_t>(1))
            .AddAttribute(
                "Downlink",
                "How the model reaches the selected devices; group: all messages go to "
                "MulticastGroup, also grants and acknowledgments.",
                EnumValue(UNICAST),
                compat::MakeEnumAccessor<DownlinkMode>(&FusionCenter::m_downlink),
                MakeEnumChecker(UNICAST, "unicast", MULTICAST, "multicast", GROUP, "group"))
            .AddAttribute("MulticastGroup",
                          "Address and port to which models are sent by multicast; a broadcast "
                          "address will do for group.",
                          AddressValue(),
                          MakeAddressAccessor(&FusionCenter::m_multicast),
                          MakeAddressChecker())
            .AddAttribute("DownlinkRate",
                          "Pace at which the model is sent (UDP), counting the payload of UDP.",
                          DataRateValue(DataRate("10Mbps")),
                          MakeDataRateAccessor(&FusionCenter::m_downlinkRate),
                          MakeDataRateChecker())
            .AddAttribute("UplinkRate",
                          "Rate with which slots are planned; a device spreads its update over its "
                          "slot.",
                          DataRateValue(DataRate("10Mbps")),
                          MakeDataRateAccessor(&FusionCenter::m_uplinkRate),
                          MakeDataRateChecker())
            .AddAttribute("GrantSpacing",
                          "Time from one grant to the next, and from the last one to the model: on "
                          "a shared radio, acknowledgments of grants then do not collide with what "
                          "follows (UDP).",
                          TimeValue(Time(0)),
                          MakeTimeAccessor(&FusionCenter::m_grantSpacing),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("RepairTime",
                          "Time before the first slot that is planned for repairs of the model.",
                          TimeValue(Time(0)),
                          MakeTimeAccessor(&FusionCenter::m_repairTime),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("MeasuredSlots",
                          "Whether slots are as long as devices were measured to need, and devices "
                          "begin at UplinkRate, which their radios slow down; if not, slots are "
                          "planned with UplinkRate.",
                          BooleanValue(false),
                          MakeBooleanAccessor(&FusionCenter::m_measuredSlots),
                          MakeBooleanChecker())
            .AddAttribute("Efficiency",
                          "What a device is thought to deliver before it was measured, against the "
                          "rate of its radio as the probe knows it, else against UplinkRate (with "
                          "MeasuredSlots).",
                          DoubleValue(0.5),
                          MakeDoubleAccessor(&FusionCenter::m_efficiency),
                          MakeDoubleChecker<double>(0.001, 1))
            .AddAttribute("RateSmoothing",
                          "Weight of the last round in the moving averages of measured rates.",
                          DoubleValue(0.5),
                          MakeDoubleAccessor(&FusionCenter::m_rateSmoothing),
                          MakeDoubleChecker<double>(0.001, 1))
            .AddAttribute("Guard",
                          "Time between two slots; devices also stop sending so much earlier than "
                          "the deadline.",
                          TimeValue(MilliSeconds(5)),
                          MakeTimeAccessor(&FusionCenter::m_guard),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("ExpectedDevices",
                          "The first round begins as soon as so many devices have joined; 0: after "
                          "JoinTimeout.",
                          UintegerValue(0),
                          MakeUintegerAccessor(&FusionCenter::m_expected),
                          MakeUintegerChecker<uint32_t>())
            .AddAttribute("MaxDevices",
                          "A device whose identifier is not below is turned away.",
                          UintegerValue(65536),
                          MakeUintegerAccessor(&FusionCenter::m_maxDevices),
                          MakeUintegerChecker<uint32_t>(1))
            .AddAttribute("JoinTimeout",
                          "Time after which the first round begins, however many have joined.",
                          TimeValue(Seconds(2)),
                          MakeTimeAccessor(&FusionCenter::m_joinTimeout),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("ControlTimeout",
                          "Time after which a grant is repeated (UDP).",
                          TimeValue(MilliSeconds(100)),
                          MakeTimeAccessor(&FusionCenter::m_controlTimeout),
                          MakeTimeChecker(MicroSeconds(1)))
            .AddAttribute("ControlRetries",
                          "How often a grant is repeated before the device counts as unreachable.",
                          UintegerValue(10),
                          MakeUintegerAccessor(&FusionCenter::m_controlRetries),
                          MakeUintegerChecker<uint32_t>())
            .AddAttribute("EvaluationInterval",
                          "Rounds from one evaluation to the next; the last round is always "
                          "evaluated. 0: never.",
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
                            "A round begins.",
                            MakeTraceSourceAccessor(&FusionCenter::m_roundStartTrace),
                            "ns3::FusionCenter::RoundStartTracedCallback")
            .AddTraceSource("UpdateReceived",
                            "All that will come of an update has come, or the round ends.",
                            MakeTraceSourceAccessor(&FusionCenter::m_updateReceivedTrace),
                            "ns3::FusionCenter::UpdateReceivedTracedCallback")
            .AddTraceSource("RoundEnd",
                            "A round has ended, after fusion and evaluation.",
                            MakeTraceSourceAccessor(&FusionCenter::m_roundEndTrace),
                            "ns3::RoundRecord::TracedCallback")
            .AddTraceSource("Finished",
                            "The last round has ended.",
                            MakeTraceSourceAccessor(&FusionCenter::m_finishedTrace),
                            "ns3::FusionCenter::FinishedTracedCallback")
            .AddTraceSource("MembersChanged",
                            "A device joined or left.",
                            MakeTraceSourceAccessor(&FusionCenter::m_memberTrace),
                            "ns3::FusionCenter::MemberTracedCallback")
            .AddTraceSource("Tx",
                            "A message was sent.",
                            MakeTraceSourceAccessor(&FusionCenter::m_txTrace),
                            "ns3::Packet::TracedCallback")
            .AddTraceSource("Drop",
                            "A message that came was not used.",
                            MakeTraceSourceAccessor(&FusionCenter::m_dropTrace),
                            "ns3::DropTracedCallback");
    return tid;
}

FusionCenter::FusionCenter()
{
    NS_LOG_FUNCTION(this);
}

FusionCenter::~FusionCenter()
{
    NS_LOG_FUNCTION(this);
}

void
FusionCenter::BindDevice(uint32_t device, const Address& ip)
{
    Member& member = m_members[device];
    member.reserved = true;
    member.ip = ip;
}

void
FusionCenter::Enroll(uint32_t device, const Address& address, uint32_t group, const Time& training)
{
    NS_ABORT_MSG_IF(m_running, "FusionCenter: Enroll comes too late, the center is running");
    const SocketAddress place(address);
    NS_ABORT_MSG_IF(!place.IsValid(), "FusionCenter: Enroll needs an IP address and a port");
    Member& member = m_members[device];
    member.enrolled = true;
    member.reserved = true;
    member.ip = place.ip;
    member.address = place;
    member.destination = place.Get();
    member.group = group;
    member.training = training;
}

const std::vector<float>&
FusionCenter::GetModel() const
{
    return m_model;
}

void
FusionCenter::SetModel(std::vector<float> model)
{
    NS_ABORT_MSG_IF(m_running, "FusionCenter: SetModel comes too late, the center is running");
    m_model = std::move(model);
}

uint32_t
FusionCenter::GetRound() const
{
    return m_round;
}

uint32_t
FusionCenter::GetJoined() const
{
    return m_joined;
}

uint64_t
FusionCenter::GetDropped(DropReason reason) const
{
    return m_drops.at(reason);
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
    for (auto& [stream, device] : m_streams)
    {
        stream->Abandon(); // IP may be disposed of already
    }
    StopApplication();
    m_members.clear();
    m_task = nullptr;
    m_quantizer = nullptr;
    m_interval = nullptr;
    m_fusionRule = nullptr;
    m_policy = nullptr;
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
    NS_ABORT_MSG_IF(!m_policy, "FusionCenter: ClusterSizePolicy is not set");
    NS_ABORT_MSG_IF(!m_budget, "FusionCenter: BitBudget is not set");
    NS_ABORT_MSG_IF(!m_noise, "FusionCenter: LinkNoise is not set");
    if (m_interval)
    {
        m_intervalContext = m_interval->GetPrivacyContext(CLIP_NONE, 0, 1);
    }
    m_bits.clear();
    std::istringstream list(m_groupBits);
    std::string item;
    while (std::getline(list, item, ','))
    {
        uint64_t bits = 0;
        NS_ABORT_MSG_IF(
            !FederatedNumber::ReadCount(item, bits) || bits < 1 || bits > Quantizer::MAX_BITS,
            "FusionCenter: GroupBits is '" << m_groupBits << "', not a list of numbers from 1 to "
                                           << Quantizer::MAX_BITS);
        m_bits.push_back(static_cast<unsigned>(bits));
    }
    NS_ABORT_MSG_IF(m_bits.empty(), "FusionCenter: GroupBits is empty");
    NS_ABORT_MSG_IF(m_participants < m_bits.size(),
                    "FusionCenter: Participants is "
                        << m_participants << ", but each of the " << m_bits.size()
                        << " groups of GroupBits sends at least one device");
    NS_ABORT_MSG_IF(
        m_downlink != UNICAST &&
            (!SocketAddress(m_multicast).IsValid() || m_protocol == TcpSocketFactory::GetTypeId()),
        "FusionCenter: Downlink is multicast or group, which needs a MulticastGroup and "
        "UDP");
    NS_ABORT_MSG_IF(m_downlinkRate.GetBitRate() == 0, "FusionCenter: DownlinkRate is 0");
    NS_ABORT_MSG_IF(m_uplinkRate.GetBitRate() == 0, "FusionCenter: UplinkRate is 0");
    // Without a deadline (Time::Max) the sums with it must not overflow.
    m_deadline = std::min(m_deadline, Time::Max() / 4);
    if (m_model.empty())
    {
        m_task->Initialize(m_model);
    }
    NS_ABORT_MSG_IF(m_model.size() != m_task->GetDimension(),
                    "FusionCenter: the given model has " << m_model.size()
                                                         << " coordinates, the task has "
                                                         << m_task->GetDimension());
}

void
FusionCenter::StartApplication()
{
    NS_LOG_FUNCTION(this);
    CheckAttributes();
    m_running = true;
    m_sequence = static_cast<uint32_t>(Simulator::Now().GetMilliSeconds());
    m_cipher.Start(m_encryptionKey, FederatedHeader::ALL_DEVICES);
    m_modelPlan = PlanFragments(m_task->GetDimension(), Quantizer::FLOAT_BITS, {}, GetRoom());
    Open();
    for (auto& [device, member] : m_members)
    {
        if (member.enrolled)
        {
            NS_ABORT_MSG_IF(member.group >= m_bits.size(),
                            "FusionCenter: device " << device << " is enrolled in group "
                                                    << member.group
                                                    << ", which is not in GroupBits");
            member.joined = true;
            member.training = std::min(member.training, m_deadline);
            ++m_joined;
            m_memberTrace(device, true);
        }
    }
    const bool isComplete = m_joined > 0 && m_joined == m_expected;
    m_joinEvent =
        Simulator::Schedule(isComplete ? Time(0) : m_joinTimeout, &FusionCenter::StartRound, this);
}

void
FusionCenter::StopApplication()
{
    NS_LOG_FUNCTION(this);
    m_running = false;
    m_collecting = false;
    m_joinEvent.Cancel();
    m_roundEvent.Cancel();
    m_sendEvent.Cancel();
    for (auto& [device, participant] : m_participantsOfRound)
    {
        participant->repeat.Cancel();
    }
    m_participantsOfRound.clear();
    m_sending.clear();
    m_repairing.clear();
    std::vector<Ptr<MessageStream>> streams;
    for (auto& [stream, device] : m_streams)
    {
        streams.push_back(stream);
    }
    // Not in the order of their places in memory, which differs from run to run.
    std::sort(streams.begin(),
              streams.end(),
              [](const auto& a, const auto& b)
              {
                  const SocketAddress& left = a->GetPeer();
                  const SocketAddress& right = b->GetPeer();
                  return left.ip == right.ip ? left.port < right.port : left.ip < right.ip;
              });
    for (auto& stream : streams)
    {
        stream->Close();
    }
    m_streams.clear();
    m_strangers.clear();
    for (auto& [device, member] : m_members)
    {
        member.stream = nullptr;
        member.joined = false;
    }
    m_joined = 0;
    if (m_socket)
    {
        m_socket->SetRecvCallback(MakeNullCallback<void, Ptr<Socket>>());
        m_socket->Close();
        m_socket = nullptr;
    }
}

void
FusionCenter::Open()
{
    const bool tcp = m_protocol == TcpSocketFactory::GetTypeId();
    m_socket = Socket::CreateSocket(GetNode(), m_protocol);
    if (tcp)
    {
        MessageStream::SetUp(m_socket);
    }
    NS_ABORT_MSG_IF(!SocketAddress(m_local).IsValid() || m_socket->Bind(m_local) != 0,
                    "FusionCenter: could not bind a socket to Local");
    if (tcp)
    {
        m_socket->Listen();
        m_socket->SetAcceptCallback(MakeCallback(&FusionCenter::HandleConnectionRequest, this),
                                    MakeCallback(&FusionCenter::HandleAccept, this));
    }
    else
    {
        m_socket->SetAllowBroadcast(m_downlink == GROUP);
        m_socket->SetRecvCallback(MakeCallback(&FusionCenter::HandleDatagrams, this));
    }
}

bool
FusionCenter::HandleConnectionRequest(Ptr<Socket>, const Address& from)
{
    const auto found = m_strangers.find(SocketAddress(from).ip);
    if (found != m_strangers.end() && found->second >= MAX_STRANGERS)
    {
        Drop(DROP_UNKNOWN, from, 0);
        return false;
    }
    return true;
}

void
FusionCenter::HandleAccept(Ptr<Socket> socket, const Address& from)
{
    const SocketAddress peer(from);
    auto stream = Create<MessageStream>(socket, peer);
    m_streams[stream] = FederatedHeader::ALL_DEVICES;
    ++m_strangers[peer.ip];
    stream->Start(MakeCallback(&FusionCenter::HandleStreamMessage, this),
                  MakeCallback(&FusionCenter::HandleGarbage, this),
                  MakeCallback(&FusionCenter::HandleClosed, this));
}

uint32_t
FusionCenter::RemoveStream(const Ptr<MessageStream>& stream)
{
    const auto found = m_streams.find(stream);
    if (found == m_streams.end())
    {
        return FederatedHeader::ALL_DEVICES;
    }
    const uint32_t device = found->second;
    m_streams.erase(found);
    if (device == FederatedHeader::ALL_DEVICES)
    {
        const auto strangers = m_strangers.find(stream->GetPeer().ip);
        if (--strangers->second == 0)
        {
            m_strangers.erase(strangers);
        }
    }
    return device;
}

void
FusionCenter::HandleClosed(Ptr<MessageStream> stream)
{
    const uint32_t device = RemoveStream(stream);
    if (device != FederatedHeader::ALL_DEVICES)
    {
        RemoveMember(device);
    }
}

void
FusionCenter::HandleGarbage(Ptr<MessageStream> stream)
{
    Drop(DROP_MALFORMED, stream->GetPeer().Get(), 0);
    HandleClosed(stream);
}

void
FusionCenter::HandleDatagrams(Ptr<Socket> socket)
{
    Address from;
    while (Ptr<Packet> packet = socket->RecvFrom(from))
    {
        uint8_t message[MessageStream::MAX_MESSAGE];
        // One that is larger still (over IPv6) is cut, and found to be malformed.
        const uint32_t copied = packet->CopyData(message, sizeof(message));
        m_receivedPacket = packet->GetUid();
        HandleMessage(message, copied, from, nullptr);
        if (!m_running)
        {
            return;
        }
    }
}

void
FusionCenter::HandleStreamMessage(Ptr<MessageStream> stream, const uint8_t* message, uint32_t size)
{
    m_receivedPacket = 0;
    HandleMessage(message, size, stream->GetPeer().Get(), stream);
}

void
FusionCenter::HandleMessage(const uint8_t* message,
                            uint32_t size,
                            const Address& from,
                            const Ptr<MessageStream>& stream)
{
    if (m_cipher.IsOn() && !m_cipher.Decrypt(message, size))
    {
        Drop(DROP_MALFORMED, from, size);
        return;
    }
    DropReason reason = GetDropReason(m_received.Read(message, size));
    if (reason == DROP_REASONS)
    {
        reason = Dispatch(m_received, message + m_received.GetSize(), from, stream);
    }
    if (reason != DROP_REASONS)
    {
        Drop(reason, from, size);
    }
}

void
FusionCenter::Drop(DropReason reason, const Address& from, uint32_t size)
{
    NS_LOG_INFO("Center drops a message of " << size << " bytes: " << GetDropReasonName(reason));
    ++m_drops.at(reason);
    m_dropTrace(reason, from, size);
}

DropReason
FusionCenter::Dispatch(const FederatedHeader& header,
                       const uint8_t* payload,
                       const Address& from,
                       const Ptr<MessageStream>& stream)
{
    if (header.type == FederatedHeader::JOIN)
    {
        return HandleJoin(header, payload, SocketAddress(from), stream);
    }
    if (header.type == FederatedHeader::GRANT || header.type == FederatedHeader::MODEL)
    {
        return DROP_UNEXPECTED;
    }
    const auto found = m_members.find(header.device);
    if (found == m_members.end())
    {
        return DROP_UNKNOWN;
    }
    Member& member = found->second;
    // The comparison of whole addresses is quick, but they may differ in what is no address.
    if ((member.destination != from && member.address != SocketAddress(from)) ||
        member.stream != stream)
    {
        return DROP_FOREIGN;
    }
    if (header.type == FederatedHeader::LEAVE)
    {
        return HandleLeave(header, member);
    }
    if (!member.joined)
    {
        return DROP_UNKNOWN;
    }
    if (header.type == FederatedHeader::DONE)
    {
        Acknowledge(header, member);
    }
    if (header.round != m_round || !m_collecting)
    {
        // The DONE behind a complete update usually finds that the round has gone on.
        if (header.type == FederatedHeader::DONE && header.round <= m_round)
        {
            return DROP_REASONS;
        }
        return header.round < m_round    ? DROP_OLD
               : header.round == m_round ? DROP_LATE
                                         : DROP_INVALID;
    }
    const auto selected = m_participantsOfRound.find(header.device);
    if (selected == m_participantsOfRound.end())
    {
        return DROP_UNSELECTED;
    }
    Participant& participant = *selected->second;
    if (header.type == FederatedHeader::ACK && header.sequence != participant.grant.sequence)
    {
        return DROP_OLD;
    }
    // Whatever it says about this round, it has its grant.
    const bool repeated = participant.acknowledged;
    if (!repeated)
    {
        participant.acknowledged = true;
        participant.repeat.Cancel();
    }
    switch (header.type)
    {
    case FederatedHeader::UPDATE:
        return HandleUpdate(header, payload, participant);
    case FederatedHeader::REPAIR:
        return HandleRepair(header, payload, participant);
    case FederatedHeader::DONE:
        return HandleDone(header, payload, participant);
    default:
        return repeated ? DROP_DUPLICATE : DROP_REASONS;
    }
}

DropReason
FusionCenter::HandleJoin(const FederatedHeader& header,
                         const uint8_t* payload,
                         const SocketAddress& from,
                         const Ptr<MessageStream>& stream)
{
    JoinBody body;
    if (!JoinBody::Read(payload, header.payloadLength, body))
    {
        return DROP_MALFORMED;
    }
    if (header.device >= m_maxDevices)
    {
        return DROP_UNKNOWN;
    }
    if (body.group >= m_bits.size() || header.bits != m_bits[body.group])
    {
        return DROP_INVALID;
    }
    const auto found = m_members.find(header.device);
    if (found != m_members.end())
    {
        const Member& known = found->second;
        if (!known.ip.IsInvalid() && known.ip != from.ip)
        {
            return DROP_FOREIGN;
        }
        if (known.heard && header.sequence == known.sequence && known.joined)
        {
            Acknowledge(header, known); // it did not hear the first acknowledgment
            return DROP_DUPLICATE;
        }
        if (known.heard && !IsNewer(header.sequence, known.sequence))
        {
            return DROP_OLD;
        }
    }
    if (stream && m_streams.at(stream) != FederatedHeader::ALL_DEVICES)
    {
        return m_streams.at(stream) == header.device ? DROP_DUPLICATE : DROP_FOREIGN;
    }
    // Whoever joins again has lost what it was doing.
    RemoveMember(header.device);
    if (stream)
    {
        RemoveStream(stream);
        m_streams[stream] = header.device;
    }
    Member& member = m_members[header.device];
    member.joined = true;
    member.heard = true;
    member.ip = from.ip;
    member.address = from;
    member.destination = from.Get();
    member.stream = stream;
    member.group = body.group;
    member.samples = body.samples;
    member.training = std::min(NanoSeconds(body.trainingNs), m_deadline); // it may say anything
    member.sequence = header.sequence;
    ++m_joined;
    NS_LOG_INFO("Device " << header.device << " of group " << body.group << " joined with "
                          << body.samples << " samples");
    Acknowledge(header, member);
    m_memberTrace(header.device, true);
    if (m_round == 0 && m_joined == m_expected)
    {
        m_joinEvent.Cancel();
        m_joinEvent = Simulator::ScheduleNow(&FusionCenter::StartRound, this);
    }
    return DROP_REASONS;
}

DropReason
FusionCenter::HandleLeave(const FederatedHeader& header, Member& member)
{
    if (!IsNewer(header.sequence, member.sequence))
    {
        if (header.sequence != member.sequence)
        {
            return DROP_OLD;
        }
        Acknowledge(header, member);
        return DROP_DUPLICATE;
    }
    member.sequence = header.sequence;
    Acknowledge(header, member);
    NS_LOG_INFO("Device " << header.device << " leaves");
    RemoveMember(header.device);
    return DROP_REASONS;
}

void
FusionCenter::RemoveMember(uint32_t device)
{
    const auto found = m_members.find(device);
    if (found == m_members.end() || !found->second.joined)
    {
        return;
    }
    Member& member = found->second;
    member.joined = false;
    --m_joined;
    if (!member.reserved)
    {
        member.ip = Address();
    }
    if (member.stream)
    {
        m_streams.erase(member.stream);
        member.stream->Close();
        member.stream = nullptr;
    }
    m_memberTrace(device, false);
    const auto selected = m_participantsOfRound.find(device);
    if (selected != m_participantsOfRound.end() && !selected->second->answered)
    {
        selected->second->record.state = PARTICIPANT_LEFT;
        selected->second->repeat.Cancel();
        SetAnswered(*selected->second);
    }
}

void
FusionCenter::Acknowledge(const FederatedHeader& header, const Member& member)
{
    FederatedHeader ack;
    ack.type = FederatedHeader::ACK;
    ack.sequence = header.sequence;
    ack.round = header.round;
    ack.device = header.device;
    uint8_t body[AckBody::SIZE];
    AckBody{header.type}.Write(body);
    SendTo(member, MakeMessage(ack, body, sizeof(body)));
}

Ptr<Packet>
FusionCenter::MakeMessage(FederatedHeader& header, const uint8_t* payload, std::size_t size)
{
    header.Seal(payload, size);
    Ptr<Packet> packet = Create<Packet>(payload, static_cast<uint32_t>(size));
    packet->AddHeader(header);
    return m_cipher.IsOn() ? m_cipher.Encrypt(packet) : packet;
}

void
FusionCenter::SendTo(const Member& member, const Ptr<Packet>& message)
{
    m_txTrace(message);
    if (member.stream)
    {
        member.stream->Send(message);
    }
    else if (m_socket)
    {
        m_socket->SendTo(message, 0, m_downlink == GROUP ? m_multicast : member.destination);
    }
}

LinkQuality
FusionCenter::GetLinkQuality(uint32_t device) const
{
    return m_probe ? m_probe->GetQuality(device) : LinkQuality();
}

Time
FusionCenter::GetModelTime() const
{
    const std::size_t bytes = GetSentSize(m_modelPlan, Quantizer::FLOAT_BITS);
    return Seconds(8 * static_cast<double>(bytes) /
                   static_cast<double>(m_downlinkRate.GetBitRate()));
}

double
FusionCenter::GetGoodput(uint32_t device, const Member& member) const
{
    if (member.goodput > 0)
    {
        return member.goodput;
    }
    const double rate = GetLinkQuality(device).rate;
    const auto planned = static_cast<double>(m_uplinkRate.GetBitRate());
    return m_measuredSlots ? std::min((rate > 0 ? rate : planned) * m_efficiency, planned)
                           : planned;
}

BitBudgetContext
FusionCenter::GetBudgetContext(uint32_t participants) const
{
    BitBudgetContext context;
    context.round = m_round;
    context.dimension = m_model.size();
    const int64_t devices = std::min(participants, m_joined);
    const int64_t models = m_downlink == UNICAST ? devices : 1;
    const Time before = m_grantSpacing * devices + GetModelTime() * models + m_repairTime + m_guard;
    Time training; // of the slowest that can be in time: others must not take everybody's time
    double secondsPerBit = 0;
    for (const auto& [device, member] : m_members)
    {
        if (member.joined)
        {
            if (before + member.training < m_deadline)
            {
                training = std::max(training, member.training);
            }
            secondsPerBit += 1 / GetGoodput(device, member);
        }
    }
    context.uplinkSeconds =
        std::max(m_deadline - before - training - m_lateness, Time(0)).GetSeconds();
    context.rate = m_joined > 0 ? m_joined / secondsPerBit : 0;
    return context;
}

uint32_t
FusionCenter::FitBudget(const std::vector<ClusterGroup>& clusters)
{
    uint32_t available = 0;
    for (const ClusterGroup& cluster : clusters)
    {
        available += cluster.devices;
    }
    // The fewer models are sent one after the other, the more time there is for updates: the
    // largest N for which B, with N models, carries N updates.
    uint32_t participants = m_participants;
    while (true)
    {
        m_roundContext = GetBudgetContext(participants);
        m_roundBudget = m_budget->GetBudget(m_roundContext);
        const uint32_t feasible =
            ClusterSizePolicy::LargestFeasible(clusters, participants, m_roundBudget);
        if (feasible >= std::min(participants, available) || participants == 1 ||
            m_downlink != UNICAST)
        {
            return feasible;
        }
        --participants;
    }
}

std::vector<uint32_t>
FusionCenter::Select()
{
    struct Group
    {
        std::vector<uint32_t> devices;
        double sigma2 = 0; // sum over the devices of which it is known
        uint32_t known = 0;
    };

    std::vector<Group> groups(m_bits.size());
    for (const auto& [device, member] : m_members)
    {
        if (!member.joined)
        {
            continue;
        }
        Group& group = groups[member.group];
        const double sigma2 = m_noise->GetVariance(
            device, member.group, GetLinkQuality(device).snr, member.meanSquare);
        if (std::isinf(sigma2))
        {
            continue; // behind infinite noise there is nothing to receive
        }
        group.devices.push_back(device);
        if (!std::isnan(sigma2))
        {
            group.sigma2 += sigma2;
            ++group.known;
        }
    }
    std::vector<ClusterGroup> clusters;
    std::vector<uint32_t> numbers;
    for (uint32_t m = 0; m < groups.size(); ++m)
    {
        const auto count = static_cast<uint32_t>(groups[m].devices.size());
        if (count > 0)
        {
            const unsigned wireBits =
                m_budget->CountsWireBits() ? m_quantizer->GetWireBits(m_bits[m]) : m_bits[m];
            // Those of which nothing is known are taken for like the others of their group.
            const double sigma2 = groups[m].known > 0 ? groups[m].sigma2 / groups[m].known : 0;
            clusters.push_back({count, m_bits[m], wireBits, sigma2});
            numbers.push_back(m);
        }
    }
    uint32_t participants = FitBudget(clusters);
    while (participants == 0 && clusters.size() > 1)
    {
        // B does not even carry a device of each group: do without the most expensive one.
        const auto most = std::max_element(clusters.begin(),
                                           clusters.end(),
                                           [](const ClusterGroup& x, const ClusterGroup& y)
                                           { return x.wireBits < y.wireBits; });
        numbers.erase(numbers.begin() + (most - clusters.begin()));
        clusters.erase(most);
        participants = FitBudget(clusters);
    }
    double budget = m_roundBudget;
    if (participants == 0 && m_budget->CountsWireBits() && m_roundContext.uplinkSeconds > 0 &&
        !clusters.empty())
    {
        participants = 1; // else nothing would be measured again, and nobody ever take part
        budget = clusters[0].wireBits;
    }
    std::vector<uint32_t> selected;
    if (participants == 0)
    {
        NS_LOG_WARN("Nobody can take part in round " << m_round << ": " << m_joined
                                                     << " devices have joined, B is "
                                                     << m_roundBudget);
        return selected;
    }
    const ClusterSizes sizes = m_policy->Choose(clusters, participants, budget);
    NS_ABORT_MSG_IF(!sizes.feasible, "FusionCenter: " << sizes.reason);
    for (std::size_t i = 0; i < numbers.size(); ++i)
    {
        auto& devices = groups[numbers[i]].devices;
        FederatedRandom random(m_task->GetSeed(), FederatedRandom::SELECTION, numbers[i], m_round);
        random.Shuffle(devices);
        selected.insert(selected.end(), devices.begin(), devices.begin() + sizes.sizes[i]);
    }
    std::sort(selected.begin(), selected.end());
    return selected;
}

void
FusionCenter::StartRound()
{
    ++m_round;
    m_roundStart = Simulator::Now();
    m_collecting = true;
    if (m_probe)
    {
        m_probe->BeginRound(m_round);
    }
    const std::vector<uint32_t> selected = Select();
    NS_LOG_INFO("Round " << m_round << " begins with " << selected.size() << " of " << m_joined
                         << " devices");
    m_roundStartTrace(m_round, selected);
    m_roundEvent = Simulator::Schedule(m_deadline, &FusionCenter::EndRound, this);
    if (selected.empty())
    {
        return; // until the deadline somebody may join for the next round
    }
    PlanSlots(selected);
    m_unanswered = static_cast<uint32_t>(selected.size());
    if (m_grantSpacing.IsZero())
    {
        for (uint32_t device : selected)
        {
            SendGrant(device);
        }
        SendModel();
        return;
    }
    Time wait;
    for (uint32_t device : selected)
    {
        m_participantsOfRound.at(device)->repeat =
            Simulator::Schedule(wait, &FusionCenter::SendGrant, this, device);
        wait += m_grantSpacing;
    }
    m_sendEvent = Simulator::Schedule(wait, &FusionCenter::SendModel, this);
}

void
FusionCenter::PlanSlots(const std::vector<uint32_t>& selected)
{
    const std::size_t dimension = m_model.size();
    const Time modelTime = GetModelTime();
    std::map<unsigned, Time> slotLengths; // by bits on the wire
    struct Slot
    {
        Time ready;      // when the device will have trained
        uint32_t device; // the device
        Time modelEnd;   // when its model will have been sent
    };

    std::vector<Slot> slots;
    const Time modelStart = m_roundStart + m_grantSpacing * static_cast<int64_t>(selected.size());
    Time modelEnd = modelStart;
    for (uint32_t device : selected)
    {
        Member& member = m_members.at(device);
        const unsigned bits = m_bits[member.group];
        const unsigned wireBits = m_quantizer->GetWireBits(bits);
        auto participant = std::make_unique<Participant>(dimension, wireBits);
        participant->member = &member;
        participant->record.device = device;
        participant->record.group = member.group;
        participant->record.bits = bits;
        participant->wireBits = wireBits;
        m_participantsOfRound[device] = std::move(participant);
        if (slotLengths.count(wireBits) == 0)
        {
            const std::vector<IntervalRange> interval{{0, dimension, 0, 0}};
            const auto plan = PlanFragments(dimension, wireBits, interval, GetRoom());
            slotLengths[wireBits] = m_uplinkRate.CalculateBytesTxTime(
                static_cast<uint32_t>(GetSentSize(plan, wireBits)));
        }
        if (m_downlink == UNICAST || modelEnd == modelStart)
        {
            modelEnd += modelTime;
        }
        slots.push_back({modelEnd + m_repairTime + member.training + m_guard, device, modelEnd});
    }
    std::stable_sort(
        slots.begin(), slots.end(), [](const Slot& a, const Slot& b) { return a.ready < b.ready; });
    Time free = m_roundStart;
    for (const Slot& slot : slots)
    {
        Participant& participant = *m_participantsOfRound.at(slot.device);
        const Time start = std::max(free, slot.ready);
        const Time length = slotLengths.at(participant.wireBits);
        // What the radio cannot send at once waits in its queue, for which others leave time.
        const double payload = participant.wireBits * static_cast<double>(dimension);
        const double rate = participant.member->airRate > 0
                                ? participant.member->airRate
                                : GetGoodput(slot.device, *participant.member);
        const Time measured = Seconds(std::min(payload / rate, m_deadline.GetSeconds()));
        const Time needed = m_measuredSlots ? std::max(length, measured) : length;
        participant.slotStart = start;
        free = start + needed + m_guard;
        if (free > m_roundStart + m_deadline)
        {
            NS_LOG_WARN("The slot of device " << slot.device << " in round " << m_round
                                              << " ends behind the deadline");
        }
        GrantBody body;
        body.modelEndNs = static_cast<uint64_t>(slot.modelEnd.GetNanoSeconds());
        body.slotStartNs = static_cast<uint64_t>(start.GetNanoSeconds());
        body.slotLengthNs = static_cast<uint64_t>(length.GetNanoSeconds());
        body.deadlineNs = static_cast<uint64_t>(
            (m_roundStart + std::max(m_deadline - m_guard, Time(0))).GetNanoSeconds());
        participant.body.resize(GrantBody::SIZE);
        body.Write(participant.body.data());
        FederatedHeader& grant = participant.grant;
        grant.type = FederatedHeader::GRANT;
        grant.sequence = ++m_sequence;
        grant.round = m_round;
        grant.device = slot.device;
        grant.bits = static_cast<uint8_t>(participant.record.bits);
        grant.fragments = static_cast<uint32_t>(m_modelPlan.size());
        grant.coordinates = static_cast<uint32_t>(dimension);
    }
}

void
FusionCenter::SendGrant(uint32_t device)
{
    Participant& participant = *m_participantsOfRound.at(device);
    if (participant.tries > m_controlRetries)
    {
        NS_LOG_INFO("Device " << device << " takes no grant in round " << m_round);
        SetAnswered(participant);
        return;
    }
    ++participant.tries;
    SendTo(*participant.member,
           MakeMessage(participant.grant, participant.body.data(), participant.body.size()));
    if (!participant.member->stream)
    {
        participant.repeat =
            Simulator::Schedule(m_controlTimeout, &FusionCenter::SendGrant, this, device);
    }
}

Ptr<Packet>
FusionCenter::MakeModelMessage(std::size_t index)
{
    const Fragment& fragment = m_modelPlan[index];
    m_sent.type = FederatedHeader::MODEL;
    m_sent.sequence = m_modelSequence + static_cast<uint32_t>(index);
    m_sent.round = m_round;
    m_sent.device = FederatedHeader::ALL_DEVICES;
    FillFragment(fragment, index, m_modelPlan.size(), Quantizer::FLOAT_BITS, {}, m_sent);
    const float* values = &m_model[fragment.begin];
    const std::size_t size = fragment.GetPayloadSize(Quantizer::FLOAT_BITS);
    if (LITTLE_ENDIAN_HOST)
    {
        return MakeMessage(m_sent, reinterpret_cast<const uint8_t*>(values), size);
    }
    std::vector<uint8_t> swapped(size);
    for (std::size_t i = 0; i < fragment.end - fragment.begin; ++i)
    {
        WriteLittleEndianFloat(values[i], &swapped[4 * i]);
    }
    return MakeMessage(m_sent, swapped.data(), size);
}

void
FusionCenter::SendModel()
{
    // The same fragment is the same message for everyone, however often it is sent.
    m_modelSequence = m_sequence + 1;
    m_sequence += static_cast<uint32_t>(m_modelPlan.size());
    m_sending.clear();
    m_repairing.clear();
    m_multicastNext = m_modelPlan.size();
    if (m_protocol == TcpSocketFactory::GetTypeId())
    {
        // Paced by the connections, whose queues share the messages.
        for (std::size_t i = 0; i < m_modelPlan.size(); ++i)
        {
            const Ptr<Packet> message = MakeModelMessage(i);
            for (const auto& [device, participant] : m_participantsOfRound)
            {
                if (participant->member->joined)
                {
                    SendTo(*participant->member, message);
                }
            }
        }
        return;
    }
    if (m_downlink != UNICAST)
    {
        m_multicastNext = 0;
    }
    else
    {
        for (auto& [device, participant] : m_participantsOfRound)
        {
            participant->pending.assign(1, {0, static_cast<uint32_t>(m_modelPlan.size())});
            m_sending.push_back(participant.get());
        }
    }
    SendModelFragment();
}

uint32_t
FusionCenter::SendPending(std::deque<Participant*>& queue, bool inTurns)
{
    while (!queue.empty())
    {
        Participant& participant = *queue.front();
        if (participant.pending.empty() || participant.answered || !participant.member->joined)
        {
            queue.pop_front();
            continue;
        }
        auto& [first, count] = participant.pending.front();
        const Ptr<Packet> message = MakeModelMessage(first);
        ++first;
        if (--count == 0)
        {
            participant.pending.pop_front();
        }
        if (inTurns)
        {
            queue.pop_front();
            queue.push_back(&participant);
        }
        SendTo(*participant.member, message);
        return message->GetSize();
    }
    return 0;
}

void
FusionCenter::SendModelFragment()
{
    // Repairs get every other message: they are not to wait for all models, nor to delay them much.
    uint32_t size = 0;
    m_repairsTurn = !m_repairsTurn;
    if (m_repairsTurn)
    {
        size = SendPending(m_repairing, true);
    }
    if (size == 0 && m_multicastNext < m_modelPlan.size())
    {
        const Ptr<Packet> message = MakeModelMessage(m_multicastNext++);
        size = message->GetSize();
        m_txTrace(message);
        m_socket->SendTo(message, 0, m_multicast);
    }
    if (size == 0)
    {
        size = SendPending(m_sending, false);
    }
    if (size == 0)
    {
        size = SendPending(m_repairing, true);
    }
    if (size > 0)
    {
        if (size != m_pacedSize) // nearly all have the same size, and the division is slow
        {
            m_pacedSize = size;
            m_pacedTime = m_downlinkRate.CalculateBytesTxTime(size);
        }
        m_sendEvent = Simulator::Schedule(m_pacedTime, &FusionCenter::SendModelFragment, this);
    }
}

DropReason
FusionCenter::HandleRepair(const FederatedHeader& header,
                           const uint8_t* payload,
                           Participant& participant)
{
    RepairBody body;
    if (!RepairBody::Read(payload, header.payloadLength, body))
    {
        return DROP_MALFORMED;
    }
    // Ascending ranges ask for no fragment twice: nobody can keep the sender busy for long.
    uint32_t next = 0;
    for (const auto& [first, count] : body.ranges)
    {
        if (first < next || first >= m_modelPlan.size() || count > m_modelPlan.size() - first)
        {
            return DROP_INVALID;
        }
        next = first + count;
    }
    if (participant.answered)
    {
        return DROP_INVALID;
    }
    if (!participant.pending.empty())
    {
        return DROP_DUPLICATE; // what it misses is still being sent
    }
    participant.pending.assign(body.ranges.begin(), body.ranges.end());
    m_repairing.push_back(&participant);
    if (m_sendEvent.IsExpired())
    {
        m_sendEvent = Simulator::ScheduleNow(&FusionCenter::SendModelFragment, this);
    }
    return DROP_REASONS;
}

bool
FusionCenter::HasAgreedInterval(const FederatedHeader& header) const
{
    const auto low = static_cast<float>(m_intervalContext.low);
    const auto high = static_cast<float>(m_intervalContext.high);
    return !m_intervalContext.intervalIsPublic ||
           std::all_of(header.intervals.begin(),
                       header.intervals.end(),
                       [low, high](const IntervalRange& interval)
                       { return interval.low == low && interval.high == high; });
}

DropReason
FusionCenter::HandleUpdate(const FederatedHeader& header,
                           const uint8_t* payload,
                           Participant& participant)
{
    LinkRecord& record = participant.record;
    if ((record.sentKnown && record.receivedFragments == record.sentFragments) ||
        !HasAgreedInterval(header))
    {
        return DROP_INVALID; // more than it said that it sent, or on an interval of its own
    }
    const DropReason reason = GetDropReason(participant.update.Accept(header, payload));
    if (reason != DROP_REASONS)
    {
        return reason;
    }
    record.lastReceived = Simulator::Now();
    participant.lastEnd = header.first + header.coordinates;
    if (++record.receivedFragments == 1)
    {
        record.firstReceived = record.lastReceived;
        participant.firstEnd = participant.lastEnd;
    }
    if (!record.sentKnown)
    {
        record.sentFragments = header.fragments; // unless its DONE says that it sent fewer
    }
    if (m_noise->DependsOnSnr())
    {
        const std::size_t begin = header.first;
        participant.fragments.push_back({begin, begin + header.coordinates, m_receivedPacket});
    }
    if (participant.update.IsComplete())
    {
        SetAnswered(participant);
    }
    return DROP_REASONS;
}

DropReason
FusionCenter::HandleDone(const FederatedHeader& header,
                         const uint8_t* payload,
                         Participant& participant)
{
    DoneBody body;
    if (!DoneBody::Read(payload, header.payloadLength, body))
    {
        return DROP_MALFORMED;
    }
    LinkRecord& record = participant.record;
    const uint32_t planned = participant.update.GetFragments();
    if (header.fragments < record.receivedFragments ||
        header.fragments > (planned > 0 ? planned : m_model.size()))
    {
        return DROP_INVALID;
    }
    if (record.sentKnown)
    {
        return DROP_DUPLICATE;
    }
    record.sentKnown = true;
    record.sentFragments = header.fragments;
    switch (body.outcome)
    {
    case OUTCOME_MODEL_INCOMPLETE:
        record.state = PARTICIPANT_NO_MODEL;
        break;
    case OUTCOME_NOT_FINITE:
        record.state = PARTICIPANT_NOT_FINITE;
        break;
    case OUTCOME_NO_TIME:
        record.state = PARTICIPANT_NO_TIME;
        break;
    case OUTCOME_BUDGET_SPENT:
        record.state = PARTICIPANT_DECLINED;
        break;
    default:
        record.state = PARTICIPANT_LOST;
    }
    SetAnswered(participant);
    return DROP_REASONS;
}

void
FusionCenter::ReportUpdate(Participant& participant)
{
    const LinkRecord& record = participant.record;
    if (!participant.reported && record.receivedFragments > 0)
    {
        participant.reported = true;
        m_updateReceivedTrace({m_round,
                               record.device,
                               record.bits,
                               record.receivedFragments,
                               participant.update.IsComplete(),
                               record.lastReceived});
    }
}

void
FusionCenter::SetAnswered(Participant& participant)
{
    if (participant.answered)
    {
        return;
    }
    participant.answered = true;
    ReportUpdate(participant);
    if (--m_unanswered == 0)
    {
        m_roundEvent.Cancel();
        m_roundEvent = Simulator::ScheduleNow(&FusionCenter::EndRound, this);
    }
}

void
FusionCenter::EndRound()
{
    m_collecting = false;
    m_sendEvent.Cancel();
    for (auto& [device, participant] : m_participantsOfRound)
    {
        participant->repeat.Cancel();
        ReportUpdate(*participant);
        if (const Member& member = m_members.at(device); member.stream)
        {
            member.stream->Discard(); // the rest of the model, which would delay the next grant
        }
    }
    RoundRecord record;
    record.round = m_round;
    record.start = m_roundStart;
    record.end = Simulator::Now();
    record.joined = m_joined;
    record.bitBudget = m_roundBudget;
    record.uplinkSeconds = m_roundContext.uplinkSeconds;
    record.meanRate = m_roundContext.rate > 0 ? m_roundContext.rate : std::nan("");
    Fuse(record);
    Summarize(record);
    if (m_evaluationInterval > 0 && (m_round % m_evaluationInterval == 0 || m_round == m_rounds))
    {
        const std::size_t all = std::numeric_limits<std::size_t>::max();
        record.testAccuracy =
            m_task->EvaluateTest(m_model.data(), m_testSamples ? m_testSamples : all).accuracy;
        record.trainLoss =
            m_task->EvaluateTrain(m_model.data(), m_trainSamples ? m_trainSamples : all).loss;
    }
    m_participantsOfRound.clear();
    m_sending.clear();
    m_repairing.clear();
    NS_LOG_INFO("Round " << m_round << " ends with " << record.received << " updates"
                         << (record.skipped ? ", skipped" : ""));
    m_roundEndTrace(record);
    if (m_round < m_rounds)
    {
        m_roundEvent = Simulator::ScheduleNow(&FusionCenter::StartRound, this);
    }
    else
    {
        m_finishedTrace(m_round);
    }
}

void
FusionCenter::Fuse(RoundRecord& record)
{
    std::vector<DeliveredUpdate> updates;
    std::vector<Participant*> contributors;
    for (auto& [device, participant] : m_participantsOfRound)
    {
        LinkRecord& link = participant->record;
        const LinkQuality quality = GetLinkQuality(device);
        link.snr = quality.roundSnr;
        link.rate = quality.framesOk > 0 ? quality.rate : std::nan("");
        link.framesOk = quality.framesOk;
        link.framesFailed = quality.framesFailed;
        MeasureRate(*participant);
        DeliveredUpdate update;
        if (link.receivedFragments == 0 ||
            !participant->update.FillDelivered(*m_quantizer, link.bits, update))
        {
            continue;
        }
        update.device = device;
        SetNoise(*participant, quality.snr, update);
        updates.push_back(std::move(update));
        contributors.push_back(participant.get());
    }
    FillUnknownNoise(updates);
    record.skipped = updates.size() < m_minUpdates;
    if (record.skipped)
    {
        record.untouchedFraction = 1;
        return;
    }
    m_before = m_model;
    const FusionResult result =
        FuseUpdates(*m_fusionRule, m_lossPolicy, updates, m_model.data(), m_model.size());
    AddLinkNoise(result.segments);
    record.untouchedFraction =
        static_cast<double>(result.untouched) / static_cast<double>(m_model.size());
    if (!IsFiniteUpdate(m_model.data(), m_model.size()))
    {
        NS_LOG_WARN("The updates of round " << m_round << " overflow the model; it stays");
        m_model = m_before;
        record.skipped = true;
        record.untouchedFraction = 1;
        return;
    }
    for (std::size_t i = 0; i < contributors.size(); ++i)
    {
        contributors[i]->record.weight = result.meanWeights[i];
    }
}

void
FusionCenter::MeasureRate(Participant& participant) const
{
    const LinkRecord& record = participant.record;
    if (record.receivedFragments == 0)
    {
        return;
    }
    // Fragments are sent in order, so that between the first and the last one that came all
    // coordinates between their ends were sent, whether these came or not. When the first one was
    // sent is not known here.
    const bool isOne = record.receivedFragments == 1;
    const Time begin = isOne ? participant.slotStart : record.firstReceived;
    const double sentCoordinates = isOne ? static_cast<double>(participant.lastEnd)
                                         : static_cast<double>(participant.lastEnd) -
                                               static_cast<double>(participant.firstEnd);
    const double seconds = (record.lastReceived - begin).GetSeconds();
    if (seconds <= 0 || sentCoordinates <= 0)
    {
        return;
    }
    const double rate = participant.wireBits * sentCoordinates / seconds;
    const auto average = [this](double& mean, double value)
    { mean = mean > 0 ? mean + m_rateSmoothing * (value - mean) : value; };
    average(participant.member->airRate, rate);
    // Nobody else sends in the guard time behind the slot.
    const auto dimension = static_cast<double>(m_model.size());
    const double update = participant.wireBits * dimension;
    double delivered = 0; // coordinates
    for (const auto& range : participant.update.GetRanges())
    {
        delivered += static_cast<double>(range.end - range.begin);
    }
    // What the deadline cut off was not lost on the way.
    const Time sending = Simulator::Now() - record.firstReceived;
    double sent = static_cast<double>(participant.firstEnd) +
                  sending.GetSeconds() * rate / participant.wireBits;
    if (record.sentKnown)
    {
        sent = dimension * record.sentFragments / participant.update.GetFragments();
    }
    sent = std::min(std::max(sent, delivered), dimension);
    average(participant.member->goodput,
            update * (delivered / sent) / (update / rate + m_guard.GetSeconds()));
}

void
FusionCenter::SetNoise(Participant& participant, double snr, DeliveredUpdate& update) const
{
    LinkRecord& link = participant.record;
    if (m_noise->DependsOnSnr())
    {
        std::vector<DeliveredRange> pieces;
        auto& fragments = participant.fragments;
        std::sort(fragments.begin(),
                  fragments.end(),
                  [](const auto& a, const auto& b) { return a.begin < b.begin; });
        auto range = update.ranges.begin();
        double squares = 0;
        double coordinates = 0;
        double sigma2 = 0; // sum over coordinates of which it is known
        double known = 0;
        for (const ReceivedFragment& fragment : fragments)
        {
            while (range->end < fragment.end)
            {
                ++range; // ranges are unions of fragments
            }
            DeliveredRange piece = *range;
            piece.begin = fragment.begin;
            piece.end = fragment.end;
            piece.first += fragment.begin - range->begin;
            const double measured = m_probe ? m_probe->GetPacketSnr(fragment.packet) : std::nan("");
            const double meanSquare = GetMeanSquare(update, piece);
            piece.sigma2 = m_noise->GetVariance(
                link.device, link.group, std::isnan(measured) ? snr : measured, meanSquare);
            pieces.push_back(piece);
            const auto count = static_cast<double>(piece.end - piece.begin);
            squares += meanSquare * count;
            coordinates += count;
            if (!std::isnan(piece.sigma2))
            {
                sigma2 += piece.sigma2 * count;
                known += count;
            }
        }
        update.ranges = std::move(pieces);
        participant.member->meanSquare = squares / coordinates;
        link.sigma = known > 0 ? std::sqrt(sigma2 / known) : std::nan("");
        return;
    }
    const double sigma2 = m_noise->GetVariance(link.device, link.group, snr, std::nan(""));
    link.sigma = std::sqrt(sigma2);
    for (DeliveredRange& range : update.ranges)
    {
        range.sigma2 = sigma2;
    }
}

void
FusionCenter::FillUnknownNoise(std::vector<DeliveredUpdate>& updates) const
{
    struct Known
    {
        double sum = 0;   // of sigma^2
        double count = 0; // coordinates
    };

    std::vector<Known> groups(m_bits.size());
    bool isMissing = false;
    for (const DeliveredUpdate& update : updates)
    {
        Known& group = groups[m_members.at(update.device).group];
        for (const DeliveredRange& range : update.ranges)
        {
            if (std::isnan(range.sigma2))
            {
                isMissing = true;
                continue;
            }
            const auto count = static_cast<double>(range.end - range.begin);
            group.sum += range.sigma2 * count;
            group.count += count;
        }
    }
    if (!isMissing)
    {
        return;
    }
    for (DeliveredUpdate& update : updates)
    {
        const Known& group = groups[m_members.at(update.device).group];
        for (DeliveredRange& range : update.ranges)
        {
            if (std::isnan(range.sigma2))
            {
                range.sigma2 = group.count > 0 ? group.sum / group.count : 0;
            }
        }
    }
}

void
FusionCenter::AddLinkNoise(const std::vector<FusionSegment>& segments)
{
    FederatedRandom random(m_task->GetSeed(), FederatedRandom::LINK_NOISE, 0, m_round);
    for (const FusionSegment& segment : segments)
    {
        if (segment.noiseVariance > 0)
        {
            // The sum of omega n over the devices, whose n are independent.
            boost::random::normal_distribution<float> noise(
                0, static_cast<float>(std::sqrt(segment.noiseVariance)));
            for (std::size_t i = segment.begin; i < segment.end; ++i)
            {
                m_model[i] += noise(random);
            }
        }
    }
}

double
FusionCenter::GetCoordinateEpsilon() const
{
    PrivacyContext context;
    context.bits = *std::min_element(m_bits.begin(), m_bits.end());
    // Whatever the real interval is: the epsilon is that of the coin.
    context.intervalIsPublic = true;
    context.low = -1;
    context.high = 1;
    const PrivacyClaim claim = m_quantizer->GetPrivacyClaim(context);
    return claim.kind != PrivacyClaim::NONE && claim.scope == PrivacyClaim::COORDINATE
               ? claim.epsilon
               : std::numeric_limits<double>::quiet_NaN();
}

void
FusionCenter::Summarize(RoundRecord& record)
{
    Time lateness;
    const auto dimension = static_cast<double>(m_model.size());
    double snrSum = 0;
    double sigmaSum = 0;
    uint32_t snrCount = 0;
    uint32_t sigmaCount = 0;
    for (auto& [device, participant] : m_participantsOfRound)
    {
        LinkRecord& link = participant->record;
        ++record.selected;
        record.grantedBits += participant->wireBits;
        record.sentFragments += link.sentFragments;
        record.receivedFragments += link.receivedFragments;
        if (link.receivedFragments > 0)
        {
            ++record.received;
            link.state =
                participant->update.IsComplete() ? PARTICIPANT_COMPLETE : PARTICIPANT_PARTIAL;
            std::size_t coordinates = 0;
            for (const auto& range : participant->update.GetRanges())
            {
                coordinates += range.end - range.begin;
            }
            record.deliveredBits +=
                participant->wireBits * static_cast<double>(coordinates) / dimension;
            // Who begins late was ready later than planned by as much.
            lateness = std::max(lateness, link.firstReceived - participant->slotStart - m_guard);
            if (std::isfinite(link.snr))
            {
                snrSum += link.snr;
                ++snrCount;
            }
            if (std::isfinite(link.sigma))
            {
                sigmaSum += link.sigma;
                ++sigmaCount;
            }
        }
        else if (link.state == PARTICIPANT_SILENT && !participant->acknowledged)
        {
            link.state = PARTICIPANT_UNREACHABLE;
        }
        record.declined += link.state == PARTICIPANT_DECLINED;
        if (link.sentFragments > 0) // what was sent may have been heard by others
        {
            m_mostAnswered = std::max(m_mostAnswered, ++participant->member->answered);
        }
        record.links.push_back(link);
    }
    if (snrCount > 0)
    {
        record.meanSnr = snrSum / snrCount;
    }
    if (sigmaCount > 0)
    {
        record.meanSigma = sigmaSum / sigmaCount;
    }
    m_lateness = lateness; // 0 if nobody answered
    record.sameCellEpsilon = m_mostAnswered * dimension * GetCoordinateEpsilon();
    for (std::size_t reason = 0; reason < DROP_REASONS; ++reason)
    {
        record.drops[reason] = m_drops[reason] - m_dropsBefore[reason];
    }
    m_dropsBefore = m_drops;
}

} // namespace ns3
