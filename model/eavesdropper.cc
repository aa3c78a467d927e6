// SPDX-License-Identifier: GPL-2.0-only

#include "eavesdropper.h"

#include "ns3/abort.h"
#include "ns3/federated-number.h"
#include "ns3/log.h"
#include "ns3/message-protection.h"
#include "ns3/node.h"
#include "ns3/pointer.h"
#include "ns3/public-interleaving.h"
#include "ns3/public-rotation.h"
#include "ns3/strategy-checker.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"
#include "ns3/update-fusion.h"
#include "ns3/wifi-net-device.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("Eavesdropper");

NS_OBJECT_ENSURE_REGISTERED(Eavesdropper);

namespace
{

constexpr std::size_t DELIMITER_SIZE = 4; // before each frame of an A-MPDU
constexpr std::size_t SUBFRAME_SIZE = 14; // header of a packet in an A-MSDU
constexpr std::size_t LLC_SIZE = 8;
constexpr std::size_t UDP_SIZE = 8;
constexpr uint8_t UDP_PROTOCOL = 17;

std::size_t
Read16(const uint8_t* bytes)
{
    return std::size_t{bytes[0]} << 8 | bytes[1];
}

/** Mark ranges of coordinates. */
void
Mark(const std::vector<CoordinateRange>& ranges, std::vector<bool>& marks)
{
    for (const auto& range : ranges)
    {
        std::fill(marks.begin() + static_cast<std::ptrdiff_t>(range.begin),
                  marks.begin() + static_cast<std::ptrdiff_t>(range.end),
                  true);
    }
}

/** @return the fraction of coordinates that were received. */
double
GetFraction(const std::unique_ptr<federated::FragmentAssembler>& assembler, std::size_t dimension)
{
    std::size_t count = 0;
    if (assembler)
    {
        for (const auto& range : assembler->GetRanges())
        {
            count += range.end - range.begin;
        }
    }
    return count > 0 ? static_cast<double>(count) / static_cast<double>(dimension) : 0;
}

} // namespace

TypeId
Eavesdropper::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::Eavesdropper")
            .SetParent<Application>()
            .SetGroupName("Federated")
            .AddConstructor<Eavesdropper>()
            .AddAttribute("Dimension",
                          "d, the number of the model's coordinates, which is public.",
                          UintegerValue(0),
                          MakeUintegerAccessor(&Eavesdropper::m_dimension),
                          MakeUintegerChecker<uint32_t>())
            .AddAttribute("Quantizer",
                          "The quantizer that the devices use, which is public.",
                          PointerValue(),
                          MakePointerAccessor(&Eavesdropper::m_quantizer),
                          federated::MakeStrategyChecker<Quantizer>())
            .AddAttribute("Bits",
                          "Resolution b of devices whose grant was not received; 0: the bits of a "
                          "coordinate on the wire, which is right for most quantizers.",
                          UintegerValue(0),
                          MakeUintegerAccessor(&Eavesdropper::m_bits),
                          MakeUintegerChecker<uint32_t>(0, Quantizer::MAX_BITS))
            .AddAttribute("RotationSeed",
                          "Seed of the rotation and of the order of updates, which is public "
                          "(LearningTask::GetRotationSeed).",
                          UintegerValue(0),
                          MakeUintegerAccessor(&Eavesdropper::m_rotationSeed),
                          MakeUintegerChecker<uint64_t>())
            .AddAttribute("Devices",
                          "Devices to observe, separated by commas; empty: all.",
                          StringValue(""),
                          MakeStringAccessor(&Eavesdropper::SetWatched, &Eavesdropper::GetWatched),
                          MakeStringChecker())
            .AddAttribute("MaxDevices",
                          "Largest number of devices to observe in a round; the first ones count.",
                          UintegerValue(1000),
                          MakeUintegerAccessor(&Eavesdropper::m_maxDevices),
                          MakeUintegerChecker<uint32_t>(1))
            .AddTraceSource("RoundOverheard",
                            "A round is over: a CaptureRecord for each device that was observed.",
                            MakeTraceSourceAccessor(&Eavesdropper::m_roundTrace),
                            "ns3::Eavesdropper::RoundOverheardTracedCallback")
            .AddTraceSource(
                "Unread",
                "A frame was decoded by the radio, but could not be read: reason and size.",
                MakeTraceSourceAccessor(&Eavesdropper::m_unreadTrace),
                "ns3::Eavesdropper::UnreadTracedCallback")
            .AddTraceSource("Drop",
                            "A message was read, but not used: reason and size.",
                            MakeTraceSourceAccessor(&Eavesdropper::m_dropTrace),
                            "ns3::Eavesdropper::DropTracedCallback");
    return tid;
}

const char*
Eavesdropper::GetUnreadName(Unread reason)
{
    static const char* const names[] = {"not_data",
                                        "protected",
                                        "not_ipv4",
                                        "not_udp",
                                        "fragmented",
                                        "truncated",
                                        "foreign",
                                        "encrypted"};
    static_assert(sizeof(names) / sizeof(names[0]) == UNREAD_REASONS, "a name for every reason");
    return reason < UNREAD_REASONS ? names[reason] : "none";
}

Eavesdropper::Eavesdropper()
{
    NS_LOG_FUNCTION(this);
}

Eavesdropper::~Eavesdropper()
{
    NS_LOG_FUNCTION(this);
}

void
Eavesdropper::SetWatched(std::string list)
{
    NS_ABORT_MSG_IF(
        !FederatedNumber::ReadCounts(list, 0U, FederatedHeader::ALL_DEVICES - 1, m_watched),
        "Eavesdropper: Devices is '" << list << "', not a list of devices");
    m_watchedText = std::move(list);
}

std::string
Eavesdropper::GetWatched() const
{
    return m_watchedText;
}

void
Eavesdropper::DoDispose()
{
    NS_LOG_FUNCTION(this);
    m_others.clear();
    StopApplication();
    m_captures.clear();
    m_model.reset();
    m_quantizer = nullptr;
    Application::DoDispose();
}

void
Eavesdropper::StartApplication()
{
    NS_LOG_FUNCTION(this);
    NS_ABORT_MSG_IF(m_dimension == 0, "Eavesdropper: Dimension is not set");
    NS_ABORT_MSG_IF(!m_quantizer, "Eavesdropper: Quantizer is not set");
    std::string error;
    NS_ABORT_MSG_IF(m_bits > 0 && !m_quantizer->Check(m_bits, error),
                    "Eavesdropper: Bits is " << m_bits << ": " << error);
    for (uint32_t i = 0; i < GetNode()->GetNDevices() && !m_phy; ++i)
    {
        if (const auto device = DynamicCast<WifiNetDevice>(GetNode()->GetDevice(i)))
        {
            m_phy = device->GetPhy();
        }
    }
    NS_ABORT_MSG_IF(!m_phy, "Eavesdropper: its node has no wifi radio");
    m_phy->TraceConnectWithoutContext("MonitorSnifferRx", MakeCallback(&Eavesdropper::Sniff, this));
}

void
Eavesdropper::StopApplication()
{
    NS_LOG_FUNCTION(this);
    if (m_phy)
    {
        m_phy->TraceDisconnectWithoutContext("MonitorSnifferRx",
                                             MakeCallback(&Eavesdropper::Sniff, this));
        m_phy = nullptr;
    }
    EndRound();
}

void
Eavesdropper::ShareWith(const Ptr<Eavesdropper>& other)
{
    NS_ABORT_MSG_IF(other == this, "Eavesdropper: it shares with itself");
    m_others.push_back(other);
}

void
Eavesdropper::Sniff(Ptr<const Packet> packet,
                    uint16_t,
                    WifiTxVector,
                    MpduInfo info,
                    SignalNoiseDbm signalNoise,
                    uint16_t)
{
    m_bytes.resize(packet->GetSize());
    packet->CopyData(m_bytes.data(), packet->GetSize());
    const std::size_t skipped =
        info.type == NORMAL_MPDU ? 0 : std::min(DELIMITER_SIZE, m_bytes.size());
    HearFrame(m_bytes.data() + skipped,
              m_bytes.size() - skipped,
              std::pow(10, (signalNoise.signal - signalNoise.noise) / 10));
}

void
Eavesdropper::CountUnread(Unread reason, std::size_t size)
{
    ++m_unread.at(reason);
    m_unreadTrace(reason, static_cast<uint32_t>(size));
}

void
Eavesdropper::HearFrame(const uint8_t* frame, std::size_t size, double snr)
{
    ++m_frames;
    // IEEE 802.11-2016, 9.2.4.1 and 9.3.2: type and subtype, then flags.
    if (size < 2 || (frame[0] & 0x0c) != 0x08 || (frame[0] & 0x40) != 0)
    {
        CountUnread(size < 2 ? UNREAD_TRUNCATED : UNREAD_NOT_DATA, size);
        return;
    }
    const bool isQos = (frame[0] & 0x80) != 0;
    const uint8_t flags = frame[1];
    const std::size_t fixed = (flags & 0x03) == 0x03 ? 30 : 24; // with a fourth address
    const std::size_t header = fixed + (isQos ? 2 : 0) + (isQos && (flags & 0x80) != 0 ? 4 : 0);
    if (size < header)
    {
        CountUnread(UNREAD_TRUNCATED, size);
        return;
    }
    if ((flags & 0x40) != 0)
    {
        CountUnread(UNREAD_PROTECTED, size);
        return;
    }
    if ((flags & 0x04) != 0 || (frame[22] & 0x0f) != 0) // more fragments follow, or precede
    {
        CountUnread(UNREAD_FRAGMENTED, size);
        return;
    }
    Unread reason = UNREAD_REASONS;
    if (!isQos || (frame[fixed] & 0x80) == 0)
    {
        reason = HearPacket(frame + header, size - header, snr);
        if (reason != UNREAD_REASONS)
        {
            CountUnread(reason, size);
        }
        return;
    }
    // An A-MSDU: packets after addresses and a length, each padded to a multiple of four bytes.
    std::size_t at = header;
    while (size - at >= SUBFRAME_SIZE)
    {
        const std::size_t length = Read16(frame + at + 12);
        at += SUBFRAME_SIZE;
        reason = length > size - at ? UNREAD_TRUNCATED : HearPacket(frame + at, length, snr);
        if (reason != UNREAD_REASONS)
        {
            CountUnread(reason, length);
        }
        at += std::min(size - at, (length + SUBFRAME_SIZE + 3) / 4 * 4 - SUBFRAME_SIZE);
    }
}

Eavesdropper::Unread
Eavesdropper::HearPacket(const uint8_t* bytes, std::size_t size, double snr)
{
    if (size < LLC_SIZE)
    {
        return UNREAD_TRUNCATED;
    }
    if (Read16(bytes + 6) != 0x0800)
    {
        return UNREAD_NOT_IPV4;
    }
    const uint8_t* ip = bytes + LLC_SIZE;
    size -= LLC_SIZE;
    if (size < 20 || ip[0] >> 4 != 4)
    {
        return size < 20 ? UNREAD_TRUNCATED : UNREAD_NOT_IPV4;
    }
    const std::size_t header = std::size_t{4} * (ip[0] & 0x0fU);
    const std::size_t total = Read16(ip + 2); // the frame check sequence follows
    if (header < 20 || total < header || total > size)
    {
        return UNREAD_TRUNCATED;
    }
    if ((Read16(ip + 6) & 0x3fff) != 0)
    {
        return UNREAD_FRAGMENTED;
    }
    if (ip[9] != UDP_PROTOCOL)
    {
        return UNREAD_NOT_UDP;
    }
    const uint8_t* udp = ip + header;
    size = total - header;
    if (size < UDP_SIZE || Read16(udp + 4) < UDP_SIZE || Read16(udp + 4) > size)
    {
        return UNREAD_TRUNCATED;
    }
    const uint8_t* message = udp + UDP_SIZE;
    size = Read16(udp + 4) - UDP_SIZE;
    HearMessage(message, size, snr);
    for (const auto& other : m_others)
    {
        other->HearMessage(message, size, snr);
    }
    return UNREAD_REASONS;
}

void
Eavesdropper::HearMessage(const uint8_t* message, std::size_t size, double snr)
{
    if (size < 2 || message[0] != 'F' || message[1] != 'L')
    {
        CountUnread(UNREAD_FOREIGN, size);
        return;
    }
    if (federated::MessageProtection::IsProtected(message, size))
    {
        CountUnread(UNREAD_ENCRYPTED, size);
        return;
    }
    if (const auto reason = Use(message, size, snr))
    {
        NS_LOG_LOGIC("A message of " << size << " bytes: " << GetDropReasonName(*reason));
        ++m_drops.at(*reason);
        m_dropTrace(*reason, static_cast<uint32_t>(size));
    }
}

std::optional<DropReason>
Eavesdropper::Use(const uint8_t* message, std::size_t size, double snr)
{
    if (const auto unreadable = GetDropReason(m_header.Read(message, size)))
    {
        return unreadable;
    }
    if (m_header.round == 0)
    {
        return DROP_UNEXPECTED; // joins and leaves belong to no round
    }
    if (m_header.round > m_round)
    {
        BeginRound(m_header.round);
    }
    if (m_header.round < m_round || m_over)
    {
        return DROP_OLD;
    }
    const uint8_t* payload = message + m_header.GetSize();
    if (m_header.type == FederatedHeader::MODEL)
    {
        if (m_header.bits != Quantizer::FLOAT_BITS)
        {
            return DROP_INVALID;
        }
        if (!m_model)
        {
            m_model =
                std::make_unique<federated::FragmentAssembler>(m_dimension, Quantizer::FLOAT_BITS);
        }
        return GetDropReason(m_model->Accept(m_header, payload));
    }
    const bool isGrant = m_header.type == FederatedHeader::GRANT;
    if (isGrant && m_quantizer && !m_quantizer->Supports(m_header.bits))
    {
        return DROP_INVALID;
    }
    Capture* capture = FindCapture(m_header.device);
    if (!capture)
    {
        return DROP_UNSELECTED;
    }
    if (isGrant)
    {
        capture->bits = m_header.bits;
    }
    if (m_header.type != FederatedHeader::UPDATE)
    {
        return std::nullopt; // it shows that the device is selected
    }
    if (m_header.rotated && m_dimension > PublicRotation::MAX_DIMENSION)
    {
        return DROP_INVALID;
    }
    if (!capture->update)
    {
        capture->isRotated = m_header.rotated;
        capture->isInterleaved = m_header.interleaved;
        capture->size = GetEncodedSize(capture->isRotated, m_dimension);
        capture->update =
            std::make_unique<federated::FragmentAssembler>(capture->size, m_header.bits);
    }
    const bool isAlike =
        m_header.rotated == capture->isRotated && m_header.interleaved == capture->isInterleaved;
    const auto reason = isAlike ? GetDropReason(capture->update->Accept(m_header, payload))
                                : std::make_optional(DROP_INVALID);
    if (!reason || reason == DROP_DUPLICATE)
    {
        capture->wireBits = m_header.bits;
        ++capture->frames;
        capture->snrSum += snr;
    }
    else if (capture->frames == 0)
    {
        capture->update.reset(); // a rejected fragment must not fix the bits of the update
    }
    return reason;
}

Eavesdropper::Capture*
Eavesdropper::FindCapture(uint32_t device)
{
    const auto found = m_captures.find(device);
    if (found != m_captures.end())
    {
        return &found->second;
    }
    const bool isWatched = m_watched.empty() ||
                           std::find(m_watched.begin(), m_watched.end(), device) != m_watched.end();
    return isWatched && m_captures.size() < m_maxDevices ? &m_captures[device] : nullptr;
}

void
Eavesdropper::BeginRound(uint32_t round)
{
    EndRound();
    std::vector<float> model;
    std::vector<bool> known;
    if (GetModel(model, known))
    {
        m_lastModel = std::move(model);
        m_lastKnown = std::move(known);
    }
    m_model.reset();
    m_captures.clear();
    m_round = round;
    m_over = false;
}

void
Eavesdropper::EndRound()
{
    if (m_round == 0 || m_over)
    {
        return;
    }
    m_over = true;
    for (uint32_t device : GetDevices())
    {
        m_roundTrace(GetRecord(device));
    }
}

void
Eavesdropper::SetModel(std::vector<float> model)
{
    NS_ABORT_MSG_IF(model.size() != m_dimension,
                    "Eavesdropper: a model of " << model.size() << " coordinates, but Dimension is "
                                                << m_dimension);
    m_lastModel = std::move(model);
    m_lastKnown.assign(m_dimension, true);
}

uint32_t
Eavesdropper::GetRound() const
{
    return m_round;
}

std::vector<uint32_t>
Eavesdropper::GetDevices() const
{
    std::vector<uint32_t> devices(m_watched);
    for (const auto& [device, capture] : m_captures)
    {
        devices.push_back(device);
    }
    std::sort(devices.begin(), devices.end());
    devices.erase(std::unique(devices.begin(), devices.end()), devices.end());
    return devices;
}

Eavesdropper::CaptureRecord
Eavesdropper::GetRecord(uint32_t device) const
{
    CaptureRecord record;
    record.round = m_round;
    record.device = device;
    record.modelFraction = GetFraction(m_model, m_dimension);
    const auto found = m_captures.find(device);
    if (found != m_captures.end() && found->second.frames > 0)
    {
        const Capture& capture = found->second;
        record.wireBits = capture.wireBits;
        record.updateFraction = GetFraction(capture.update, capture.size);
        record.fragments = capture.update->GetReceived();
        record.planned = capture.update->GetFragments();
        record.frames = capture.frames;
        record.snr = capture.snrSum / capture.frames;
    }
    return record;
}

bool
Eavesdropper::GetUpdate(uint32_t device,
                        std::vector<float>& update,
                        std::vector<bool>& captured) const
{
    NS_ABORT_MSG_IF(!m_quantizer, "Eavesdropper: Quantizer is not set");
    update.assign(m_dimension, 0);
    captured.assign(m_dimension, false);
    const auto found = m_captures.find(device);
    if (found == m_captures.end() || found->second.frames == 0)
    {
        return false;
    }
    const Capture& capture = found->second;
    unsigned bits = std::min(capture.wireBits, unsigned{Quantizer::MAX_BITS});
    bits = capture.bits > 0 ? capture.bits : m_bits > 0 ? m_bits : bits;
    DeliveredUpdate delivered;
    if (!DescribeUpdate(capture.update->GetPacked(), *m_quantizer, bits, delivered))
    {
        return false;
    }
    update.resize(capture.size);
    DecodeUpdate(delivered, update.data());
    captured.resize(capture.size);
    Mark(capture.update->GetRanges(), captured);
    if (capture.isInterleaved)
    {
        const PublicInterleaving interleaving(m_rotationSeed, m_round);
        interleaving.Restore(update);
        interleaving.Restore(captured);
    }
    if (capture.isRotated)
    {
        PublicRotation(m_rotationSeed, m_round).RotateBack(update, m_dimension);
        captured.assign(m_dimension, true);
    }
    return true;
}

bool
Eavesdropper::GetModel(std::vector<float>& model, std::vector<bool>& known) const
{
    model = m_lastModel;
    model.resize(m_dimension);
    known = m_lastKnown;
    known.resize(m_dimension);
    if (m_model && m_model->GetReceived() > 0)
    {
        const std::vector<float> now = federated::FragmentAssembler(*m_model).TakeModel();
        for (const auto& range : m_model->GetRanges())
        {
            std::copy(now.begin() + static_cast<std::ptrdiff_t>(range.begin),
                      now.begin() + static_cast<std::ptrdiff_t>(range.end),
                      model.begin() + static_cast<std::ptrdiff_t>(range.begin));
        }
        Mark(m_model->GetRanges(), known);
    }
    return std::find(known.begin(), known.end(), true) != known.end();
}

uint64_t
Eavesdropper::GetUnread(Unread reason) const
{
    return m_unread.at(reason);
}

uint64_t
Eavesdropper::GetDropped(DropReason reason) const
{
    return m_drops.at(reason);
}

uint64_t
Eavesdropper::GetFrames() const
{
    return m_frames;
}

std::size_t
Eavesdropper::GetBufferedBytes() const
{
    std::size_t bytes = m_lastModel.capacity() * sizeof(float) + m_lastKnown.capacity() / 8;
    bytes += m_model ? m_model->GetBufferedBytes() : 0;
    for (const auto& [device, capture] : m_captures)
    {
        bytes += capture.update ? capture.update->GetBufferedBytes() : 0;
    }
    return bytes;
}

} // namespace ns3
