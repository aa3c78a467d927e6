// SPDX-License-Identifier: GPL-2.0-only

#include "federated-device.h"

#include "ns3/abort.h"
#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/enum.h"
#include "ns3/learning-rate-schedule.h"
#include "ns3/log.h"
#include "ns3/pointer.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/tcp-socket-factory.h"
#include "ns3/udp-socket-factory.h"
#include "ns3/udp-socket.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstring>
#include <limits>
#include <sstream>
#include <utility>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("FederatedDevice");

NS_OBJECT_ENSURE_REGISTERED(FederatedDevice);

TypeId
FederatedDevice::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::FederatedDevice")
            .SetParent<Application>()
            .SetGroupName("Federated")
            .AddConstructor<FederatedDevice>()
            .AddAttribute("DeviceId",
                          "Identifier of the device, from 0 on; the split of the data numbers the "
                          "devices in the same way.",
                          UintegerValue(0),
                          MakeUintegerAccessor(&FederatedDevice::m_id),
                          MakeUintegerChecker<uint32_t>(0, FederatedHeader::ALL_DEVICES - 1))
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
                          "Address and port of the fusion center; messages are taken from nobody "
                          "else.",
                          AddressValue(),
                          MakeAddressAccessor(&FederatedDevice::m_remote),
                          MakeAddressChecker())
            .AddAttribute("Local",
                          "Address and port to receive on (UDP); any free port if not set. Models, "
                          "grants and acknowledgments to a group reach a device on a port that the "
                          "center knows.",
                          AddressValue(),
                          MakeAddressAccessor(&FederatedDevice::m_local),
                          MakeAddressChecker())
            .AddAttribute("UplinkGroup",
                          "Group or broadcast address and port to which everything is sent (UDP), "
                          "so that a radio sends it without acknowledgments; if not set, all goes "
                          "to Remote.",
                          AddressValue(),
                          MakeAddressAccessor(&FederatedDevice::m_uplinkGroup),
                          MakeAddressChecker())
            .AddAttribute("Enrolled",
                          "Whether the center knows the device (FusionCenter::Enroll), which then "
                          "does not join (UDP, with Local).",
                          BooleanValue(false),
                          MakeBooleanAccessor(&FederatedDevice::m_enrolled),
                          MakeBooleanChecker())
            .AddAttribute("MulticastGroup",
                          "Address and port on which models come by multicast; none if not set. "
                          "Only one device of a node can have it.",
                          AddressValue(),
                          MakeAddressAccessor(&FederatedDevice::m_multicast),
                          MakeAddressChecker())
            .AddAttribute("Protocol",
                          "ns3::UdpSocketFactory or ns3::TcpSocketFactory.",
                          TypeIdValue(UdpSocketFactory::GetTypeId()),
                          MakeTypeIdAccessor(&FederatedDevice::m_protocol),
                          MakeTypeIdChecker())
            .AddAttribute("FragmentSize",
                          "Bytes of a message including our header: the payload of UDP.",
                          UintegerValue(1400),
                          MakeUintegerAccessor(&FederatedDevice::m_fragmentSize),
                          MakeUintegerChecker<uint32_t>(100, MessageStream::MAX_MESSAGE))
            .AddAttribute("EncryptionKey",
                          "Key of up to 32 bytes under which messages are encrypted, the same for "
                          "center and devices; empty: they are not.",
                          StringValue(""),
                          MakeStringAccessor(&FederatedDevice::m_encryptionKey),
                          MakeStringChecker())
            .AddAttribute("Task",
                          "What is learned; one object for the center and all devices.",
                          PointerValue(),
                          MakePointerAccessor(&FederatedDevice::m_task),
                          MakePointerChecker<LearningTask>())
            .AddAttribute("Quantizer",
                          "Makes the payload of an update.",
                          StringValue("ns3::DpStochasticQuantizer"),
                          MakePointerAccessor(&FederatedDevice::m_quantizer),
                          MakePointerChecker<Quantizer>())
            .AddAttribute("IntervalRule",
                          "Chooses the interval or intervals of the quantizer.",
                          StringValue("ns3::FixedInterval"),
                          MakePointerAccessor(&FederatedDevice::m_interval),
                          MakePointerChecker<IntervalRule>())
            .AddAttribute("ClipNorm",
                          "The norm of an update that is clipped.",
                          EnumValue(CLIP_L1),
                          compat::MakeEnumAccessor<ClipNorm>(&FederatedDevice::m_clipNorm),
                          MakeEnumChecker(CLIP_NONE, "none", CLIP_L1, "l1", CLIP_L2, "l2"))
            .AddAttribute("ClipBound",
                          "C, the largest norm of an update.",
                          DoubleValue(100),
                          MakeDoubleAccessor(&FederatedDevice::m_clipBound),
                          MakeDoubleChecker<double>(1e-30))
            .AddAttribute("Steps",
                          "L, steps of stochastic gradient descent in a round.",
                          UintegerValue(10),
                          MakeUintegerAccessor(&FederatedDevice::m_steps),
                          MakeUintegerChecker<uint32_t>(1))
            .AddAttribute("BatchSize",
                          "Samples of a step.",
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
                          "Send the exact distortion of the update along. It depends on the data "
                          "and is not protected.",
                          BooleanValue(false),
                          MakeBooleanAccessor(&FederatedDevice::m_reportDistortion),
                          MakeBooleanChecker())
            .AddAttribute(
                "IncompleteModel",
                "What to do when the model is not complete in time: sit the round out (repairs may "
                "come until the deadline), or take the previous values for what is missing when "
                "the "
                "slot comes (the device then keeps a model for ever).",
                EnumValue(SIT_OUT),
                compat::MakeEnumAccessor<IncompletePolicy>(&FederatedDevice::m_incomplete),
                MakeEnumChecker(SIT_OUT, "sit-out", USE_PREVIOUS, "use-previous"))
            .AddAttribute("PrivacyBudget",
                          "The largest epsilon that the device gives away, all rounds together: it "
                          "declines a grant if answering would exceed it. 0 or infinity: no limit.",
                          DoubleValue(0),
                          MakeDoubleAccessor(&FederatedDevice::m_budget),
                          MakeDoubleChecker<double>(0, std::numeric_limits<double>::infinity()))
            .AddAttribute(
                "PrivacyBudgetOf",
                "The epsilon that PrivacyBudget limits: basic composition, zcdp (with "
                "PrivacyDelta), or same-cell, which is no differential privacy. The "
                "device must have it.",
                EnumValue(EPSILON_BASIC),
                compat::MakeEnumAccessor<PrivacyEpsilon>(&FederatedDevice::m_budgetOf),
                MakeEnumChecker(
                    EPSILON_BASIC, "basic", EPSILON_ZCDP, "zcdp", EPSILON_SAME_CELL, "same-cell"))
            .AddAttribute("PrivacyDelta",
                          "delta of the epsilon by zCDP.",
                          DoubleValue(1e-5),
                          MakeDoubleAccessor(&FederatedDevice::SetPrivacyDelta,
                                             &FederatedDevice::GetPrivacyDelta),
                          MakeDoubleChecker<double>(1e-300, 0.5))
            .AddAttribute("TimePerSample",
                          "Seconds of simulated time that training takes for one sample of one "
                          "step, drawn once a round.",
                          StringValue("ns3::ConstantRandomVariable[Constant=0.0001]"),
                          MakePointerAccessor(&FederatedDevice::m_timePerSample),
                          MakePointerChecker<RandomVariableStream>())
            .AddAttribute("RepairDelay",
                          "Silence of the center after which missing fragments of the model are "
                          "asked for (UDP).",
                          TimeValue(MilliSeconds(50)),
                          MakeTimeAccessor(&FederatedDevice::m_repairDelay),
                          MakeTimeChecker(MicroSeconds(1)))
            .AddAttribute("ControlTimeout",
                          "Time after which a control message is repeated (UDP), or a connection "
                          "tried again (TCP). It doubles up to 32 times while joining.",
                          TimeValue(MilliSeconds(100)),
                          MakeTimeAccessor(&FederatedDevice::m_controlTimeout),
                          MakeTimeChecker(MicroSeconds(1)))
            .AddAttribute("ControlRetries",
                          "How often a DONE or a LEAVE is repeated. A JOIN is repeated for ever.",
                          UintegerValue(10),
                          MakeUintegerAccessor(&FederatedDevice::m_controlRetries),
                          MakeUintegerChecker<uint32_t>())
            .AddTraceSource("Joined",
                            "The center has acknowledged that the device joined.",
                            MakeTraceSourceAccessor(&FederatedDevice::m_joinedTrace),
                            "ns3::FederatedDevice::JoinedTracedCallback")
            .AddTraceSource("ModelReceived",
                            "The model is complete, or training begins without all of it.",
                            MakeTraceSourceAccessor(&FederatedDevice::m_modelReceivedTrace),
                            "ns3::FederatedDevice::ModelReceivedTracedCallback")
            .AddTraceSource("TrainingStarted",
                            "Training has begun.",
                            MakeTraceSourceAccessor(&FederatedDevice::m_trainingStartedTrace),
                            "ns3::FederatedDevice::TrainingStartedTracedCallback")
            .AddTraceSource("TrainingCanceled",
                            "Training ends before its time: the device leaves or stops, or a new "
                            "round began.",
                            MakeTraceSourceAccessor(&FederatedDevice::m_trainingCanceledTrace),
                            "ns3::FederatedDevice::TrainingCanceledTracedCallback")
            .AddTraceSource("TrainingDone",
                            "Training has ended.",
                            MakeTraceSourceAccessor(&FederatedDevice::m_trainingDoneTrace),
                            "ns3::FederatedDevice::TrainingDoneTracedCallback")
            .AddTraceSource("UpdateSent",
                            "The last fragment of an update was sent, or something ended it: the "
                            "deadline, a broken connection, the end of the device.",
                            MakeTraceSourceAccessor(&FederatedDevice::m_updateSentTrace),
                            "ns3::FederatedDevice::UpdateSentTracedCallback")
            .AddTraceSource("PrivacySpent",
                            "The first fragment of an update is about to be sent: the ledger has "
                            "a new entry.",
                            MakeTraceSourceAccessor(&FederatedDevice::m_spentTrace),
                            "ns3::FederatedDevice::PrivacySpentTracedCallback")
            .AddTraceSource("Declined",
                            "A grant was declined, because the privacy budget is spent.",
                            MakeTraceSourceAccessor(&FederatedDevice::m_declinedTrace),
                            "ns3::FederatedDevice::DeclinedTracedCallback")
            .AddTraceSource("Tx",
                            "A message was sent.",
                            MakeTraceSourceAccessor(&FederatedDevice::m_txTrace),
                            "ns3::Packet::TracedCallback")
            .AddTraceSource("Drop",
                            "A message that came was not used.",
                            MakeTraceSourceAccessor(&FederatedDevice::m_dropTrace),
                            "ns3::DropTracedCallback");
    return tid;
}

FederatedDevice::FederatedDevice()
    : m_jitter(CreateObject<UniformRandomVariable>())
{
    NS_LOG_FUNCTION(this);
}

FederatedDevice::~FederatedDevice()
{
    NS_LOG_FUNCTION(this);
}

bool
FederatedDevice::HasJoined() const
{
    return m_joined;
}

uint64_t
FederatedDevice::GetDropped(DropReason reason) const
{
    return m_drops.at(reason);
}

std::size_t
FederatedDevice::GetBufferedBytes() const
{
    std::size_t bytes = m_previous.capacity() * sizeof(float);
    if (m_session)
    {
        bytes += m_session->model.GetBufferedBytes();
        if (m_session->update)
        {
            bytes += m_session->update->model.capacity() * sizeof(float) +
                     m_session->update->payload.capacity();
        }
    }
    return bytes;
}

PrivacyClaim
FederatedDevice::GetPrivacyClaim() const
{
    return GetPrivacyClaim(m_bits);
}

PrivacyClaim
FederatedDevice::GetPrivacyClaim(unsigned bits) const
{
    PrivacyClaim claim =
        m_quantizer->GetPrivacyClaim(m_interval->GetPrivacyContext(m_clipNorm, m_clipBound, bits));
    if (m_reportDistortion && claim.kind != PrivacyClaim::NONE)
    {
        claim = PrivacyClaim();
        claim.reason = "The distortion that is sent along depends on the data.";
    }
    return claim;
}

std::vector<std::string>
FederatedDevice::GetSideInformation() const
{
    std::vector<std::string> information;
    if (m_interval->IsDataDependent())
    {
        information.emplace_back("intervals that depend on the update");
    }
    if (m_reportDistortion)
    {
        information.emplace_back("the distortion of the update");
    }
    return information;
}

const PrivacyLedger&
FederatedDevice::GetPrivacyLedger() const
{
    return m_ledger;
}

void
FederatedDevice::SetPrivacyDelta(double delta)
{
    m_ledger.SetDelta(delta);
}

double
FederatedDevice::GetPrivacyDelta() const
{
    return m_ledger.GetDelta();
}

void
FederatedDevice::Enter(unsigned bits, PrivacyLedger& ledger) const
{
    // Batches are drawn without replacement from the samples of the device.
    const double drawn = static_cast<double>(m_steps) * m_batchSize;
    ledger.Enter(GetPrivacyClaim(bits), m_task->GetDimension(), drawn / m_task->GetSamples(m_id));
}

bool
FederatedDevice::CanAfford(unsigned bits) const
{
    if (m_budget == 0)
    {
        return true;
    }
    // A budget for n rounds is to last for n rounds, whatever rounding does.
    constexpr double ROUNDING = 1e-9;
    PrivacyLedger ledger = m_ledger;
    Enter(bits, ledger);
    return ledger.GetEpsilon(m_budgetOf) <= m_budget * (1 + ROUNDING);
}

bool
FederatedDevice::CheckPrivacyBudget(std::string& error) const
{
    if (m_budget == 0 || std::isinf(m_budget))
    {
        return true;
    }
    const PrivacyClaim claim = GetPrivacyClaim();
    PrivacyLedger one;
    one.Enter(claim, 1, 1);
    if (std::isfinite(one.GetEpsilon(m_budgetOf)))
    {
        return true;
    }
    std::string reason = claim.kind == PrivacyClaim::ZCDP ? "it has a rho of zCDP." : claim.reason;
    reason[0] = static_cast<char>(std::tolower(reason[0]));
    std::ostringstream text;
    text << "PrivacyBudget limits the " << GetPrivacyEpsilonName(m_budgetOf)
         << " epsilon, which an update of " << m_bits << " bits does not have: " << reason;
    error = text.str();
    return false;
}

Time
FederatedDevice::DrawTrainingTime()
{
    return Seconds(std::max(0.0, m_timePerSample->GetValue()) * m_steps * m_batchSize);
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
    // IP may be disposed of already: no connection says goodbye any more.
    if (m_stream)
    {
        m_stream->Abandon();
    }
    if (m_socket && m_protocol == TcpSocketFactory::GetTypeId())
    {
        m_socket->SetConnectCallback(MakeNullCallback<void, Ptr<Socket>>(),
                                     MakeNullCallback<void, Ptr<Socket>>());
        m_socket = nullptr;
    }
    StopApplication();
    m_previous = std::vector<float>();
    m_task = nullptr;
    m_quantizer = nullptr;
    m_interval = nullptr;
    m_timePerSample = nullptr;
    Application::DoDispose();
}

void
FederatedDevice::StartApplication()
{
    NS_LOG_FUNCTION(this);
    m_center = SocketAddress(m_remote);
    m_centerAddress = m_center.Get();
    NS_ABORT_MSG_IF(!m_center.IsValid(),
                    "FederatedDevice: Remote of device " << m_id
                                                         << " is not the address of a center");
    NS_ABORT_MSG_IF(!m_task, "FederatedDevice: Task of device " << m_id << " is not set");
    NS_ABORT_MSG_IF(!m_quantizer, "FederatedDevice: Quantizer of device " << m_id << " is not set");
    NS_ABORT_MSG_IF(!m_interval,
                    "FederatedDevice: IntervalRule of device " << m_id << " is not set");
    std::string error;
    NS_ABORT_MSG_IF(!CheckPrivacyBudget(error), "FederatedDevice: " << error);
    m_running = true;
    m_leaving = false;
    // A device that comes back must not repeat the numbers of its former life.
    m_sequence = static_cast<uint32_t>(Simulator::Now().GetMilliSeconds());
    m_fragmentSequence = m_sequence;
    m_cipher.Start(m_encryptionKey, m_id);
    Open();
}

void
FederatedDevice::StopApplication()
{
    NS_LOG_FUNCTION(this);
    m_running = false;
    m_joined = false;
    EndSession();
    Close();
}

void
FederatedDevice::Leave()
{
    NS_LOG_FUNCTION(this);
    if (!m_running || m_leaving)
    {
        return;
    }
    m_leaving = true;
    EndSession();
    if (!m_stream && m_protocol == TcpSocketFactory::GetTypeId())
    {
        m_running = false; // the center knows of a device by its connection, and there is none
        Close();
        return;
    }
    FederatedHeader header;
    header.type = FederatedHeader::LEAVE;
    SendControl(header, nullptr, 0);
}

void
FederatedDevice::Open()
{
    const bool v6 = Ipv6Address::IsMatchingType(m_center.ip);
    m_socket = Socket::CreateSocket(GetNode(), m_protocol);
    if (m_protocol == TcpSocketFactory::GetTypeId())
    {
        MessageStream::SetUp(m_socket);
    }
    const SocketAddress local(m_local);
    const int bound = local.IsValid() ? m_socket->Bind(local.Get())
                      : v6            ? m_socket->Bind6()
                                      : m_socket->Bind();
    NS_ABORT_MSG_IF(bound != 0, "FederatedDevice: could not bind a socket of device " << m_id);
    if (m_protocol == TcpSocketFactory::GetTypeId())
    {
        m_socket->SetConnectCallback(MakeCallback(&FederatedDevice::HandleConnected, this),
                                     MakeCallback(&FederatedDevice::HandleNotConnected, this));
        if (m_socket->Connect(m_centerAddress) != 0)
        {
            HandleNotConnected(m_socket);
        }
        return;
    }
    const SocketAddress uplinkGroup(m_uplinkGroup);
    if (uplinkGroup.IsValid())
    {
        m_socket->SetAllowBroadcast(true);
    }
    m_socket->Connect(uplinkGroup.IsValid() ? uplinkGroup.Get() : m_centerAddress);
    m_socket->SetRecvCallback(MakeCallback(&FederatedDevice::HandleDatagrams, this));
    const SocketAddress group(m_multicast);
    if (group.IsValid())
    {
        m_multicastSocket = Socket::CreateSocket(GetNode(), m_protocol);
        NS_ABORT_MSG_IF(m_multicastSocket->Bind(group.Get()) != 0,
                        "FederatedDevice: could not bind a socket of device "
                            << m_id << " to its MulticastGroup");
        DynamicCast<UdpSocket>(m_multicastSocket)->MulticastJoinGroup(0, group.ip);
        m_multicastSocket->SetRecvCallback(MakeCallback(&FederatedDevice::HandleDatagrams, this));
    }
    if (m_enrolled)
    {
        m_joined = true;
        m_joinedTrace(m_id);
        return;
    }
    Join();
}

void
FederatedDevice::Close()
{
    m_controlEvent.Cancel();
    m_openEvent.Cancel();
    m_controlTries = 0;
    if (m_stream)
    {
        m_stream->Close();
        m_stream = nullptr;
    }
    for (Ptr<Socket>* socket : {&m_socket, &m_multicastSocket})
    {
        if (*socket)
        {
            (*socket)->SetRecvCallback(MakeNullCallback<void, Ptr<Socket>>());
            (*socket)->SetConnectCallback(MakeNullCallback<void, Ptr<Socket>>(),
                                          MakeNullCallback<void, Ptr<Socket>>());
            (*socket)->Close();
            *socket = nullptr;
        }
    }
}

void
FederatedDevice::HandleConnected(Ptr<Socket> socket)
{
    NS_LOG_FUNCTION(this);
    m_stream = Create<MessageStream>(socket, m_center);
    m_socket = nullptr;
    m_granted = false; // nothing on a new connection repeats an earlier grant
    m_stream->Start(MakeCallback(&FederatedDevice::HandleStreamMessage, this),
                    MakeCallback(&FederatedDevice::HandleGarbage, this),
                    MakeCallback(&FederatedDevice::HandleClosed, this));
    Join();
}

void
FederatedDevice::HandleNotConnected(Ptr<Socket>)
{
    NS_LOG_FUNCTION(this);
    Close();
    if (m_running)
    {
        m_openEvent = Simulator::Schedule(m_controlTimeout, &FederatedDevice::Open, this);
    }
}

void
FederatedDevice::HandleClosed(Ptr<MessageStream>)
{
    NS_LOG_FUNCTION(this);
    m_joined = false;
    EndSession();
    Close();
    if (m_running && !m_leaving)
    {
        m_openEvent = Simulator::Schedule(m_controlTimeout, &FederatedDevice::Open, this);
    }
}

void
FederatedDevice::HandleGarbage(Ptr<MessageStream> stream)
{
    Drop(DROP_MALFORMED, stream->GetPeer().Get(), 0);
    HandleClosed(stream);
}

void
FederatedDevice::HandleDatagrams(Ptr<Socket> socket)
{
    Address from;
    while (Ptr<Packet> packet = socket->RecvFrom(from))
    {
        const uint32_t size = packet->GetSize();
        if (from != m_centerAddress && SocketAddress(from) != m_center)
        {
            Drop(DROP_FOREIGN, from, size);
            continue;
        }
        uint8_t message[MessageStream::MAX_MESSAGE];
        // One that is larger still (over IPv6) is cut, and found to be malformed.
        const uint32_t copied = packet->CopyData(message, sizeof(message));
        HandleMessage(message, copied, from);
        if (!m_running)
        {
            return;
        }
    }
}

void
FederatedDevice::HandleStreamMessage(Ptr<MessageStream> stream,
                                     const uint8_t* message,
                                     uint32_t size)
{
    HandleMessage(message, size, stream->GetPeer().Get());
}

void
FederatedDevice::HandleMessage(const uint8_t* message, uint32_t size, const Address& from)
{
    if (m_cipher.IsOn() && !m_cipher.Decrypt(message, size))
    {
        Drop(DROP_MALFORMED, from, size);
        return;
    }
    // Models by multicast reach everyone: who does not take part reads no further than the type.
    const bool wantsModel = m_session && m_session->phase == RECEIVING;
    if (!wantsModel && FederatedHeader::PeekType(message, size) == FederatedHeader::MODEL)
    {
        Drop(m_session ? DROP_DUPLICATE : DROP_UNSELECTED, from, size);
        return;
    }
    DropReason reason = GetDropReason(m_received.Read(message, size));
    if (reason == DROP_REASONS)
    {
        const uint8_t* payload = message + m_received.GetSize();
        if (m_received.type == FederatedHeader::MODEL)
        {
            reason = HandleModel(m_received, payload);
        }
        else if (m_received.device != m_id)
        {
            if (SocketAddress(m_uplinkGroup).IsValid())
            {
                return; // all devices hear what is sent to a group
            }
            reason = DROP_UNKNOWN;
        }
        else if (m_received.type == FederatedHeader::GRANT)
        {
            reason = HandleGrant(m_received, payload);
        }
        else if (m_received.type == FederatedHeader::ACK)
        {
            reason = HandleAck(m_received, payload);
        }
        else
        {
            reason = DROP_UNEXPECTED;
        }
    }
    if (reason != DROP_REASONS)
    {
        Drop(reason, from, size);
    }
}

void
FederatedDevice::Drop(DropReason reason, const Address& from, uint32_t size)
{
    NS_LOG_INFO("Device " << m_id << " drops a message of " << size
                          << " bytes: " << GetDropReasonName(reason));
    ++m_drops.at(reason);
    m_dropTrace(reason, from, size);
}

DropReason
FederatedDevice::HandleAck(const FederatedHeader& header, const uint8_t* payload)
{
    AckBody body;
    if (!AckBody::Read(payload, header.payloadLength, body))
    {
        return DROP_MALFORMED;
    }
    if (m_controlTries == 0 || header.sequence != m_control.sequence || body.type != m_control.type)
    {
        // A grant may overtake the acknowledgment of the DONE before it.
        return static_cast<int32_t>(header.sequence - m_sequence) <= 0 ? DROP_REASONS
                                                                       : DROP_UNEXPECTED;
    }
    m_controlTries = 0;
    m_controlEvent.Cancel();
    if (body.type == FederatedHeader::JOIN)
    {
        NS_LOG_INFO("Device " << m_id << " joined");
        m_joined = true;
        m_joinedTrace(m_id);
    }
    else if (body.type == FederatedHeader::LEAVE)
    {
        NS_LOG_INFO("Device " << m_id << " left");
        m_joined = false;
        m_running = false;
        Close();
    }
    return DROP_REASONS;
}

DropReason
FederatedDevice::HandleGrant(const FederatedHeader& header, const uint8_t* payload)
{
    GrantBody body;
    if (!GrantBody::Read(payload, header.payloadLength, body))
    {
        return DROP_MALFORMED;
    }
    if (m_leaving)
    {
        return DROP_UNEXPECTED;
    }
    const std::size_t dimension = m_task->GetDimension();
    if (header.coordinates != dimension || header.bits < 1 || header.bits > m_bits ||
        header.fragments < 1 || header.fragments > dimension)
    {
        return DROP_INVALID;
    }
    if (m_lastStream == std::numeric_limits<uint32_t>::max())
    {
        return DROP_INVALID; // no coins are left for another update
    }
    const bool repeated = m_granted && header.sequence == m_lastGrant;
    if (m_granted && !repeated &&
        (static_cast<int32_t>(header.sequence - m_lastGrant) < 0 || header.round <= m_lastRound))
    {
        return DROP_OLD;
    }
    if (!repeated)
    {
        EndSession(); // first: over TCP it discards what waits to be sent
    }
    FederatedHeader ack;
    ack.type = FederatedHeader::ACK;
    ack.sequence = header.sequence;
    ack.round = header.round;
    uint8_t ackBody[AckBody::SIZE];
    AckBody{FederatedHeader::GRANT}.Write(ackBody);
    Send(ack, ackBody, sizeof(ackBody));
    if (repeated)
    {
        return DROP_DUPLICATE;
    }

    m_granted = true;
    m_lastGrant = header.sequence;
    m_lastRound = header.round;
    // Whoever grants knows the device; and a DONE of an earlier round has become pointless.
    m_controlTries = 0;
    m_controlEvent.Cancel();
    if (!m_joined)
    {
        m_joined = true;
        m_joinedTrace(m_id);
    }

    m_session = std::make_unique<Session>(dimension);
    Session& session = *m_session;
    session.round = header.round;
    session.bits = header.bits;
    session.wireBits = m_quantizer->GetWireBits(header.bits);
    session.modelFragments = header.fragments;
    session.modelEnd = NanoSeconds(body.modelEndNs);
    session.slotStart = NanoSeconds(body.slotStartNs);
    session.slotLength = NanoSeconds(body.slotLengthNs);
    session.deadline = NanoSeconds(body.deadlineNs);
    session.trainingTime = DrawTrainingTime();
    NS_LOG_INFO("Device " << m_id << " is granted " << session.bits << " bits in round "
                          << session.round << ", slot at " << session.slotStart.As(Time::S));
    if (!CanAfford(session.bits))
    {
        NS_LOG_INFO("Device " << m_id << " has spent its privacy budget");
        m_declinedTrace(session.round, m_id);
        Report(OUTCOME_BUDGET_SPENT);
        return DROP_REASONS;
    }
    const Time now = Simulator::Now();
    Time latest = session.deadline - session.slotLength - session.trainingTime;
    if (m_incomplete == USE_PREVIOUS)
    {
        // To be in time for the slot, if the grant came in time for that.
        const Time inTime = session.slotStart - session.trainingTime;
        latest = std::min(latest, inTime > now ? inTime : now + m_repairDelay);
    }
    if (latest <= now)
    {
        Report(OUTCOME_NO_TIME);
        return DROP_REASONS;
    }
    m_giveUpEvent = Simulator::Schedule(latest - now, &FederatedDevice::GiveUpOnModel, this);
    if (!m_stream)
    {
        const Time wait = std::max(session.modelEnd - now, Time(0)) + Spread(m_repairDelay);
        m_repairEvent = Simulator::Schedule(wait, &FederatedDevice::Repair, this);
    }
    return DROP_REASONS;
}

DropReason
FederatedDevice::HandleModel(const FederatedHeader& header, const uint8_t* payload)
{
    Session& session = *m_session;
    if (header.round != session.round)
    {
        return DROP_OLD;
    }
    if (header.fragments != session.modelFragments || header.device != FederatedHeader::ALL_DEVICES)
    {
        return DROP_INVALID;
    }
    const DropReason reason = GetDropReason(session.model.Accept(header, payload));
    if (reason != DROP_REASONS)
    {
        return reason;
    }
    session.lastModelFragment = Simulator::Now();
    if (session.model.IsComplete())
    {
        m_modelReceivedTrace(session.round, m_id, true);
        Train();
    }
    return DROP_REASONS;
}

void
FederatedDevice::Repair()
{
    Session& session = *m_session;
    const Time quiet = Simulator::Now() - session.lastModelFragment;
    if (session.model.GetReceived() > 0 && quiet < m_repairDelay)
    {
        m_repairEvent =
            Simulator::Schedule(Spread(m_repairDelay) - quiet, &FederatedDevice::Repair, this);
        return;
    }
    const std::size_t room = (GetRoom() - FederatedHeader::FIXED_SIZE) / RepairBody::RANGE_SIZE;
    RepairBody body;
    body.ranges = session.model.GetMissing(room, session.modelFragments);
    NS_LOG_INFO("Device " << m_id << " misses fragments of the model in round " << session.round);
    std::vector<uint8_t> bytes(body.GetSize());
    body.Write(bytes.data());
    FederatedHeader header;
    header.type = FederatedHeader::REPAIR;
    header.sequence = ++m_sequence;
    header.round = session.round;
    Send(header, bytes.data(), bytes.size());
    m_repairEvent = Simulator::Schedule(Spread(m_repairDelay), &FederatedDevice::Repair, this);
}

void
FederatedDevice::GiveUpOnModel()
{
    Session& session = *m_session;
    NS_LOG_INFO("Device " << m_id << " has no complete model in round " << session.round);
    m_modelReceivedTrace(session.round, m_id, false);
    if (m_incomplete == SIT_OUT)
    {
        Report(OUTCOME_MODEL_INCOMPLETE);
        return;
    }
    if (m_previous.empty())
    {
        m_task->Initialize(m_previous); // the first model, which is public
    }
    Train();
}

void
FederatedDevice::Train()
{
    Session& session = *m_session;
    m_giveUpEvent.Cancel();
    m_repairEvent.Cancel();
    session.phase = TRAINING;

    auto update = std::make_shared<LocalUpdate>();
    if (session.model.IsComplete())
    {
        update->model = session.model.TakeModel();
    }
    else
    {
        update->model = m_previous;
        if (session.model.GetReceived() > 0)
        {
            const auto ranges = session.model.GetRanges();
            const std::vector<float> received = session.model.TakeModel();
            for (const auto& range : ranges)
            {
                std::copy(received.begin() + static_cast<std::ptrdiff_t>(range.begin),
                          received.begin() + static_cast<std::ptrdiff_t>(range.end),
                          update->model.begin() + static_cast<std::ptrdiff_t>(range.begin));
            }
        }
    }
    const auto schedule = LearningRateSchedule::Decaying(m_learningRate, m_learningRateDecay);
    update->training = {m_steps, m_batchSize, schedule.At(session.round - 1.0)};
    update->settings = {m_clipNorm,
                        m_clipBound,
                        PeekPointer(m_interval),
                        PeekPointer(m_quantizer),
                        session.bits,
                        m_reportDistortion};
    update->device = m_id;
    // A center that begins again at round 1 must not meet the coins of an earlier update.
    m_lastStream = std::max(session.round, m_lastStream + 1);
    update->round = m_lastStream;
    session.update = update;
    session.ticket = m_task->Begin(update);
    m_sessionEvent =
        Simulator::Schedule(session.trainingTime, &FederatedDevice::FinishTraining, this);
    m_trainingStartedTrace({session.round, m_id, m_steps * m_batchSize, session.trainingTime});
}

void
FederatedDevice::FinishTraining()
{
    Session& session = *m_session;
    m_task->Wait(session.ticket);
    LocalUpdate& update = *session.update;
    m_trainingDoneTrace(
        {session.round, m_id, update.loss, update.clipFactor, session.trainingTime});
    if (m_incomplete == USE_PREVIOUS)
    {
        m_previous = std::move(update.model);
    }
    update.model = std::vector<float>();
    if (!update.valid)
    {
        NS_LOG_WARN("Device " << m_id << " diverged in round " << session.round);
        Report(OUTCOME_NOT_FINITE);
        return;
    }
    const Time now = Simulator::Now();
    const Time start = std::max(session.slotStart, now);
    if (start >= session.deadline)
    {
        Report(OUTCOME_NO_TIME);
        return;
    }
    session.phase = WAITING;
    if (session.wireBits == Quantizer::FLOAT_BITS &&
        m_quantizer->GetCellDistortion(-1, 1, session.bits) == 0)
    {
        update.intervals.clear(); // they would tell nothing about floats that are exact
    }
    session.fragments =
        PlanFragments(m_task->GetDimension(), session.wireBits, update.intervals, GetRoom());
    session.sent = {session.round,
                    m_id,
                    session.bits,
                    session.wireBits,
                    0,
                    static_cast<uint32_t>(session.fragments.size()),
                    0,
                    start,
                    start};
    m_sessionEvent = Simulator::Schedule(start - now, &FederatedDevice::SendUpdate, this);
    m_giveUpEvent = Simulator::Schedule(session.deadline - now, &FederatedDevice::EndUpdate, this);
}

void
FederatedDevice::SendUpdate()
{
    Session& session = *m_session;
    const Time now = Simulator::Now();
    if (session.phase == WAITING)
    {
        session.phase = SENDING;
        session.sendStart = now;
        Enter(session.bits, m_ledger);
        m_spentTrace(m_id, m_ledger);
        if (m_stream)
        {
            // Not through a local variable: a connection may break while it is written to.
            for (std::size_t i = 0; m_session && i < m_session->fragments.size(); ++i)
            {
                SendFragment(i);
            }
            if (m_session && m_stream)
            {
                m_stream->SetDrainedCallback(MakeCallback(&FederatedDevice::HandleDrained, this));
            }
            return;
        }
    }
    SendFragment(session.next++);
    if (session.next == session.fragments.size())
    {
        EndUpdate();
        return;
    }
    // The fragments are spread over the slot; from its start, so that rounding does not add up.
    const auto count = static_cast<int64_t>(session.fragments.size());
    const Time next =
        session.sendStart + session.slotLength * static_cast<int64_t>(session.next) / count;
    m_sessionEvent =
        Simulator::Schedule(std::max(next - now, Time(0)), &FederatedDevice::SendUpdate, this);
}

void
FederatedDevice::SendFragment(std::size_t index)
{
    Session& session = *m_session;
    const LocalUpdate& update = *session.update;
    const Fragment& fragment = session.fragments[index];
    FederatedHeader& header = m_fragmentHeader;
    header.type = FederatedHeader::UPDATE;
    header.sequence = ++m_fragmentSequence;
    header.round = session.round;
    if (m_reportDistortion)
    {
        header.distortion = static_cast<float>(update.distortion);
    }
    FillFragment(fragment,
                 static_cast<uint32_t>(index),
                 static_cast<uint32_t>(session.fragments.size()),
                 session.wireBits,
                 update.intervals,
                 header);
    session.sent.bytes += Send(header,
                               update.payload.data() + fragment.GetPayloadOffset(session.wireBits),
                               fragment.GetPayloadSize(session.wireBits));
    ++session.sent.fragments;
    session.sent.lastSent = Simulator::Now();
}

void
FederatedDevice::HandleDrained(Ptr<MessageStream>)
{
    m_session->sent.lastSent = Simulator::Now();
    EndUpdate();
}

void
FederatedDevice::EndUpdate()
{
    Report(m_session->phase == WAITING ? OUTCOME_NO_TIME : OUTCOME_SENT);
}

void
FederatedDevice::Report(RoundOutcome outcome)
{
    FederatedHeader header;
    header.type = FederatedHeader::DONE;
    header.round = m_session->round;
    header.bits = static_cast<uint8_t>(m_session->wireBits);
    uint8_t body[DoneBody::SIZE];
    DoneBody{static_cast<uint8_t>(outcome)}.Write(body);
    header.fragments = EndSession();
    SendControl(header, body, sizeof(body));
}

uint32_t
FederatedDevice::EndSession()
{
    m_sessionEvent.Cancel();
    m_repairEvent.Cancel();
    m_giveUpEvent.Cancel();
    if (!m_session)
    {
        return 0;
    }
    if (m_session->phase == TRAINING)
    {
        m_task->Cancel(m_session->ticket);
        m_trainingCanceledTrace(m_session->round, m_id);
    }
    SentRecord sent = m_session->sent;
    const bool sending = m_session->phase == SENDING;
    if (m_stream)
    {
        // What the socket has not taken yet is not sent any more.
        sent.fragments -=
            static_cast<uint32_t>(std::min<std::size_t>(m_stream->GetWaiting(), sent.fragments));
        m_stream->Discard();
    }
    m_session.reset();
    if (sending)
    {
        NS_LOG_INFO("Device " << m_id << " sent " << sent.fragments << " of " << sent.planned
                              << " fragments in round " << sent.round);
        m_updateSentTrace(sent);
    }
    return sent.fragments;
}

void
FederatedDevice::Join()
{
    JoinBody body{};
    body.group = m_group;
    body.samples = m_task->GetSamples(m_id);
    body.trainingNs = static_cast<uint64_t>(DrawTrainingTime().GetNanoSeconds());
    uint8_t bytes[JoinBody::SIZE];
    body.Write(bytes);
    FederatedHeader header;
    header.type = FederatedHeader::JOIN;
    header.bits = static_cast<uint8_t>(m_bits);
    SendControl(header, bytes, sizeof(bytes));
}

Time
FederatedDevice::Spread(const Time& delay)
{
    return delay +
           Time::FromDouble(delay.GetDouble() * m_jitter->GetValue(0, 0.5), Time::GetResolution());
}

void
FederatedDevice::SendControl(FederatedHeader header, const uint8_t* body, std::size_t size)
{
    m_control = std::move(header);
    m_control.sequence = ++m_sequence;
    m_controlBody.assign(body, body + size);
    m_controlTries = 0;
    m_controlEvent.Cancel();
    RepeatControl();
}

void
FederatedDevice::RepeatControl()
{
    const bool joining = m_control.type == FederatedHeader::JOIN;
    if (!joining && m_controlTries > m_controlRetries)
    {
        NS_LOG_INFO("Device " << m_id << " gets no answer to its "
                              << FederatedHeader::GetTypeName(m_control.type));
        m_controlTries = 0;
        if (m_leaving)
        {
            m_joined = false;
            m_running = false;
            Close();
        }
        return;
    }
    ++m_controlTries;
    Send(m_control, m_controlBody.data(), m_controlBody.size());
    if (m_socket && !m_stream) // over TCP nothing gets lost
    {
        const int64_t factor = joining ? int64_t{1} << std::min(m_controlTries - 1, 5U) : 1;
        m_controlEvent = Simulator::Schedule(
            Spread(m_controlTimeout * factor), &FederatedDevice::RepeatControl, this);
    }
}

uint32_t
FederatedDevice::Send(FederatedHeader& header, const uint8_t* payload, std::size_t size)
{
    header.device = m_id;
    header.Seal(payload, size);
    Ptr<Packet> packet = Create<Packet>(payload, static_cast<uint32_t>(size));
    packet->AddHeader(header);
    if (m_cipher.IsOn())
    {
        packet = m_cipher.Encrypt(packet);
    }
    const uint32_t total = packet->GetSize();
    m_txTrace(packet);
    if (m_stream)
    {
        m_stream->Send(packet);
    }
    else if (m_socket)
    {
        m_socket->Send(packet);
    }
    return total;
}

} // namespace ns3
