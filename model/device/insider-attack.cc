// SPDX-License-Identifier: GPL-2.0-only

#include "insider-attack.h"

#include "ns3/bit-packer.h"
#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/enum.h"
#include "ns3/federated-compat.h"
#include "ns3/little-endian.h"
#include "ns3/message-bodies.h"
#include "ns3/message-sequence.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <sstream>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(InsiderAttack);

using namespace federated;

namespace
{

constexpr std::size_t MAX_EARLIER = 100; // messages that are replayed in a round

/** @return whether the coordinates of an update are floats. */
bool
HasFloats(const OutgoingMessage& update)
{
    return update.header.bits == BitPacker::FLOAT_BITS;
}

/** Change every float of an update. */
void
ChangeFloats(OutgoingMessage& update, const std::function<float(float)>& change)
{
    for (std::size_t i = 0; i + sizeof(float) <= update.payload.size(); i += sizeof(float))
    {
        uint8_t* bytes = update.payload.data() + i;
        WriteLittleEndianFloat(change(ReadLittleEndianFloat(bytes)), bytes);
    }
}

/** Change every level of an update; the largest one is given, too. */
void
ChangeLevels(OutgoingMessage& update, const std::function<uint16_t(uint16_t, uint16_t)>& change)
{
    const unsigned bits = update.header.bits;
    const auto largest = static_cast<uint16_t>((1U << bits) - 1);
    std::vector<uint16_t> levels(update.header.coordinates);
    BitPacker::Unpack(update.payload.data(), 0, levels.size(), bits, levels.data());
    for (uint16_t& level : levels)
    {
        level = change(level, largest);
    }
    BitPacker::Pack(levels.data(), levels.size(), bits, update.payload.data());
}

/** Mirror every coordinate of an update at the middle of its interval, floats at 0. */
void
Mirror(OutgoingMessage& update)
{
    if (HasFloats(update))
    {
        ChangeFloats(update, [](float value) { return -value; });
        return;
    }
    ChangeLevels(update,
                 [](uint16_t level, uint16_t largest)
                 { return static_cast<uint16_t>(largest - level); });
}

/** Give an update another resolution, and coordinates that are all 0. */
void
ChangeResolution(OutgoingMessage& update)
{
    update.header.bits = HasFloats(update) ? BitPacker::MAX_BITS : BitPacker::FLOAT_BITS;
    update.payload.assign(BitPacker::GetSize(update.header.coordinates, update.header.bits), 0);
    if (update.header.intervals.empty()) // which levels need
    {
        const std::size_t first = update.header.first;
        update.header.intervals.push_back({first, first + update.header.coordinates, -1, 1});
    }
}

/** @return a control message without a body about the same round as another message. */
OutgoingMessage
MakeControl(const OutgoingMessage& other, FederatedHeader::Type type)
{
    OutgoingMessage message;
    message.header.type = type;
    message.header.round = other.header.round;
    message.header.device = other.header.device;
    message.header.sequence = other.header.sequence;
    return message;
}

/** @return a DONE that reports no fragment. */
OutgoingMessage
MakeDone(const OutgoingMessage& other, const Time& now)
{
    OutgoingMessage message = MakeControl(other, FederatedHeader::DONE);
    DoneBody body;
    body.outcome = OUTCOME_NO_TIME;
    body.firstSentNs = static_cast<uint64_t>(now.GetNanoSeconds());
    body.lastSentNs = body.firstSentNs;
    message.payload.resize(DoneBody::SIZE);
    body.Write(message.payload.data());
    return message;
}

/** @return a message in the name of another device. */
OutgoingMessage
MakeForeign(OutgoingMessage message)
{
    message.header.device ^= 1;
    return message;
}

} // namespace

TypeId
InsiderAttack::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::InsiderAttack")
            .SetParent<MessageTampering>()
            .SetGroupName("Federated")
            .AddConstructor<InsiderAttack>()
            .AddAttribute("Attack",
                          "What the insider does; doc/trust.rst has a table of the attacks.",
                          EnumValue(FLIP),
                          compat::MakeEnumAccessor<Attack>(&InsiderAttack::m_attack),
                          MakeEnumChecker(FLIP,
                                          "flip",
                                          EXTREME_LEVELS,
                                          "extreme-levels",
                                          EXTREME_FLOATS,
                                          "extreme-floats",
                                          NOT_A_NUMBER,
                                          "nan-floats",
                                          DISTORTION_ZERO,
                                          "distortion-zero",
                                          DISTORTION_MISSING,
                                          "distortion-missing",
                                          DISTORTION_DENORMAL,
                                          "distortion-denormal",
                                          WIDE_INTERVAL,
                                          "wide-interval",
                                          WRONG_BITS,
                                          "wrong-bits",
                                          OVERLAP,
                                          "overlap",
                                          REPLAY,
                                          "replay",
                                          STALE,
                                          "stale",
                                          SILENCE,
                                          "silence",
                                          NO_ACK,
                                          "no-ack",
                                          SLOWNESS,
                                          "slowness",
                                          LATENESS,
                                          "lateness",
                                          LONG_TRAINING,
                                          "long-training",
                                          REPAIR_FLOOD,
                                          "repair-flood",
                                          DONE_FLOOD,
                                          "done-flood",
                                          JOIN_FLAPPING,
                                          "join-flapping",
                                          IMPERSONATION,
                                          "impersonation"))
            .AddAttribute("Flip",
                          "Whether updates are mirrored too, as flip does, whatever else is done: "
                          "what an attack that wins weight can do with it.",
                          BooleanValue(false),
                          MakeBooleanAccessor(&InsiderAttack::m_flip),
                          MakeBooleanChecker())
            .AddAttribute("Magnitude",
                          "Of extreme floats, and half the width of a wide interval.",
                          DoubleValue(1e38),
                          MakeDoubleAccessor(&InsiderAttack::m_magnitude),
                          MakeDoubleChecker<double>(0, 1.7e38))
            .AddAttribute("Messages",
                          "Messages of a flood in a round.",
                          UintegerValue(1000),
                          MakeUintegerAccessor(&InsiderAttack::m_messages),
                          MakeUintegerChecker<uint32_t>(1))
            .AddAttribute("Spacing",
                          "Time from one message of a flood to the next.",
                          TimeValue(MicroSeconds(100)),
                          MakeTimeAccessor(&InsiderAttack::m_spacing),
                          MakeTimeChecker(NanoSeconds(1)))
            .AddAttribute("Margin",
                          "Time from slow and late messages to the deadline of the round.",
                          TimeValue(MilliSeconds(50)),
                          MakeTimeAccessor(&InsiderAttack::m_margin),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("TrainingTime",
                          "Training time that long-training announces.",
                          TimeValue(Seconds(1)),
                          MakeTimeAccessor(&InsiderAttack::m_training),
                          MakeTimeChecker(Time(0)));
    return tid;
}

std::vector<std::string>
InsiderAttack::GetNames()
{
    TypeId::AttributeInformation attribute;
    GetTypeId().LookupAttributeByName("Attack", &attribute);
    std::istringstream list(attribute.checker->GetUnderlyingTypeInformation());
    std::vector<std::string> names;
    for (std::string name; std::getline(list, name, '|');)
    {
        names.push_back(name);
    }
    return names;
}

Time
InsiderAttack::GetDelay(const TamperingContext& context) const
{
    return std::max(context.deadline - m_margin - context.now, Time(0));
}

std::vector<OutgoingMessage>
InsiderAttack::DoTamper(const OutgoingMessage& message, const TamperingContext& context)
{
    const FederatedHeader::Type type = message.header.type;
    const bool isUpdate = type == FederatedHeader::UPDATE;
    if (!isUpdate && type != FederatedHeader::ACK && IsNewer(message.header.sequence, m_sequence))
    {
        m_sequence = message.header.sequence;
    }
    if (type == FederatedHeader::JOIN)
    {
        return {TamperWithJoin(message)};
    }
    std::vector<OutgoingMessage> sent =
        isUpdate ? TamperWithUpdate(message) : std::vector<OutgoingMessage>{message};
    if (type == FederatedHeader::ACK)
    {
        const std::vector<OutgoingMessage> extra = MakeExtra(message, context.now);
        sent.insert(sent.end(), extra.begin(), extra.end());
    }
    if (m_attack == NO_ACK || (m_attack == SILENCE && type != FederatedHeader::ACK))
    {
        sent.clear();
    }
    const bool isFirstOfMany =
        isUpdate && message.header.fragment == 0 && message.header.fragments > 1;
    if (type != FederatedHeader::ACK &&
        (m_attack == LATENESS || (m_attack == SLOWNESS && !isFirstOfMany)))
    {
        sent.front().delay = GetDelay(context);
    }
    if (m_attack == REPLAY && (isUpdate || type == FederatedHeader::DONE) &&
        m_earlier.size() < MAX_EARLIER)
    {
        m_earlier.push_back(message);
    }
    if (m_attack == IMPERSONATION && type == FederatedHeader::DONE)
    {
        sent.push_back(MakeForeign(MakeDone(message, context.now)));
    }
    return sent;
}

OutgoingMessage
InsiderAttack::TamperWithJoin(const OutgoingMessage& message)
{
    m_join = message;
    JoinBody body;
    if (m_attack == LONG_TRAINING &&
        JoinBody::Read(m_join.payload.data(), m_join.payload.size(), body))
    {
        body.trainingNs = static_cast<uint64_t>(m_training.GetNanoSeconds());
        body.Write(m_join.payload.data());
    }
    return m_join;
}

std::vector<OutgoingMessage>
InsiderAttack::TamperWithUpdate(const OutgoingMessage& message)
{
    OutgoingMessage update = message;
    FederatedHeader& header = update.header;
    const auto magnitude = static_cast<float>(m_magnitude);
    if (m_flip || m_attack == FLIP)
    {
        Mirror(update);
    }
    switch (m_attack)
    {
    case EXTREME_LEVELS:
        if (!HasFloats(update))
        {
            ChangeLevels(update,
                         [](uint16_t level, uint16_t largest)
                         { return level > largest / 2 ? uint16_t{0} : largest; });
        }
        break;
    case EXTREME_FLOATS:
        if (HasFloats(update))
        {
            ChangeFloats(update,
                         [magnitude](float value) { return std::copysign(magnitude, -value); });
        }
        break;
    case NOT_A_NUMBER:
        if (HasFloats(update))
        {
            ChangeFloats(update, [](float) { return std::numeric_limits<float>::quiet_NaN(); });
        }
        break;
    case DISTORTION_ZERO:
        header.distortion = 0;
        break;
    case DISTORTION_MISSING:
        header.distortion = std::numeric_limits<float>::quiet_NaN();
        break;
    case DISTORTION_DENORMAL:
        header.distortion = std::numeric_limits<float>::denorm_min();
        break;
    case WIDE_INTERVAL:
        for (IntervalRange& interval : header.intervals)
        {
            interval.low = -magnitude;
            interval.high = magnitude;
        }
        break;
    case WRONG_BITS:
        ChangeResolution(update);
        break;
    case OVERLAP:
    {
        ++header.fragments;
        OutgoingMessage second = update;
        second.header.fragment = header.fragments - 1;
        Mirror(second);
        return {update, second};
    }
    case STALE:
        if (m_firstUpdate.empty())
        {
            m_firstRound = header.round;
        }
        if (header.round == m_firstRound)
        {
            m_firstUpdate[header.fragment] = update.payload;
        }
        else if (m_firstUpdate[header.fragment].size() == update.payload.size())
        {
            update.payload = m_firstUpdate[header.fragment];
        }
        break;
    case IMPERSONATION:
    {
        OutgoingMessage foreign = MakeForeign(update);
        Mirror(foreign);
        return {update, foreign};
    }
    default:
        break;
    }
    return {update};
}

std::vector<OutgoingMessage>
InsiderAttack::MakeExtra(const OutgoingMessage& ack, const Time& now)
{
    std::vector<OutgoingMessage> extra;
    switch (m_attack)
    {
    case REPLAY:
        extra = m_earlier;
        break;
    case REPAIR_FLOOD:
    {
        OutgoingMessage repair = MakeControl(ack, FederatedHeader::REPAIR);
        RepairBody body;
        body.ranges = {{0, 1}};
        repair.payload.resize(body.GetSize());
        body.Write(repair.payload.data());
        extra.assign(m_messages, repair);
        break;
    }
    case DONE_FLOOD:
        extra.assign(m_messages, MakeDone(ack, now));
        break;
    case JOIN_FLAPPING:
        extra = MakeFlapping(ack);
        break;
    case IMPERSONATION:
        extra = {MakeForeign(MakeControl(ack, FederatedHeader::LEAVE))};
        break;
    default:
        break;
    }
    Time delay(0);
    for (OutgoingMessage& message : extra)
    {
        delay += m_spacing;
        message.delay = delay;
        if (m_attack != REPLAY)
        {
            message.header.sequence = ++m_sequence;
        }
    }
    return extra;
}

std::vector<OutgoingMessage>
InsiderAttack::MakeFlapping(const OutgoingMessage& ack) const
{
    std::vector<OutgoingMessage> messages;
    JoinBody body;
    if (!JoinBody::Read(m_join.payload.data(), m_join.payload.size(), body))
    {
        return messages; // it never joined: it is enrolled
    }
    OutgoingMessage join = m_join;
    for (uint32_t i = 0; i < m_messages; i += 2)
    {
        messages.push_back(MakeControl(ack, FederatedHeader::LEAVE));
        body.life = m_sequence + i; // always a new one
        body.Write(join.payload.data());
        messages.push_back(join);
    }
    return messages;
}

} // namespace ns3
