// SPDX-License-Identifier: GPL-2.0-only

/**
 * @file
 * The center without sockets: DeviceRoster, UpdateCollector, UplinkMeter and PlanRound, driven by a
 * sequence of operations that a registrar, hostile devices and a clock could cause. Counters agree
 * with what a naive count gives, participants take only the steps of the diagram of Participant,
 * and a plan keeps its promises: N, the bit budget, slots that do not overlap, the deadline.
 */

#include "fuzz-message.h"

#include "ns3/double.h"
#include "ns3/fixed-bit-budget.h"
#include "ns3/identity-quantizer.h"
#include "ns3/inet-socket-address.h"
#include "ns3/measured-bit-budget.h"
#include "ns3/no-link-noise.h"
#include "ns3/optimal-cluster-sizes.h"
#include "ns3/random-cluster-sizes.h"
#include "ns3/random-selection.h"
#include "ns3/round-links.h"
#include "ns3/round-robin-selection.h"
#include "ns3/unbiased-stochastic-quantizer.h"

#include <cmath>
#include <map>
#include <set>

using namespace ns3;
using namespace ns3::federated;
using namespace ns3::fuzz;

namespace
{

constexpr uint32_t MAX_DEVICES = 12;
constexpr uint32_t MAX_PER_ADDRESS = 3;

/** Strategies that all executions share; none of them keeps what an enemy could influence. */
struct Strategies
{
    Strategies()
    {
        random->AssignStreams(1);
        smallBudget->SetAttribute("Bits", DoubleValue(9));
    }

    Ptr<Quantizer> levels = CreateObject<UnbiasedStochasticQuantizer>();
    Ptr<Quantizer> floats = CreateObject<IdentityQuantizer>();
    Ptr<BitBudget> budget = CreateObject<FixedBitBudget>();
    Ptr<BitBudget> smallBudget = CreateObject<FixedBitBudget>();
    Ptr<BitBudget> measured = CreateObject<MeasuredBitBudget>();
    Ptr<LinkNoise> noise = CreateObject<NoLinkNoise>();
    Ptr<ClusterSizePolicy> optimal = CreateObject<OptimalClusterSizes>();
    Ptr<ClusterSizePolicy> random = CreateObject<RandomClusterSizes>();
    Ptr<SelectionPolicy> draws = CreateObject<RandomSelection>();
    Ptr<SelectionPolicy> turns = CreateObject<RoundRobinSelection>();
};

/** @return whether a participant may go from one phase to another. */
bool
IsStep(Participant::Phase from, Participant::Phase to)
{
    using Phase = Participant::Phase;
    return from == to || (from == Phase::OFFERED && to != Phase::OFFERED) ||
           (from == Phase::ACCEPTED && to == Phase::ANSWERED) ||
           (from == Phase::UNHEARD && to == Phase::ANSWERED);
}

class Center
{
  public:
    explicit Center(FuzzInput& input)
        : m_input(input),
          m_collector([this](uint32_t device) { ++m_answered[device]; },
                      [this](uint32_t device) { ++m_started[device]; },
                      [this](const UpdateRecord& record) { ++m_reported[record.device]; })
    {
        static Strategies strategies;
        const bool isFloats = input.Flag();
        m_rules.dimension = 1 + input.Below(300);
        m_rules.groupBits = input.Flag() ? std::vector<unsigned>{2, 4} : std::vector<unsigned>{3};
        m_rules.participants = 2 + input.Below(8);
        m_rules.deadline = input.Pick({Seconds(10), Seconds(1), MilliSeconds(20), Seconds(3600)});
        m_rules.modelForEach = input.Flag();
        m_rules.modelTime = MilliSeconds(input.Byte());
        m_rules.grantSpacing = MicroSeconds(input.Byte());
        m_rules.guard = MilliSeconds(input.Below(20));
        m_rules.measuredSlots = input.Flag();
        m_rules.uplinkRate = DataRate(input.Pick<uint64_t>({10000000, 1000, 1000000000}));
        m_rules.room = 200;
        m_rules.silentRounds = input.Below(3);
        m_rules.silentPause = 2;
        m_rules.quantizer = PeekPointer(isFloats ? strategies.floats : strategies.levels);
        m_rules.budget = PeekPointer(
            input.Pick({strategies.budget, strategies.smallBudget, strategies.measured}));
        m_policy = input.Flag() ? strategies.optimal : strategies.random;
        m_selection = input.Flag() ? strategies.draws : strategies.turns;
        m_noise = strategies.noise;

        DeviceRoster::Rules roster;
        roster.maxDevices = MAX_DEVICES;
        roster.bits = m_rules.groupBits;
        roster.longestTraining = m_rules.deadline;
        roster.maxSamples = 100;
        roster.maxPerAddress = MAX_PER_ADDRESS;
        m_roster.SetRules(roster);
        UplinkMeter::Rules meter;
        meter.guard = m_rules.guard;
        meter.plannedRate = static_cast<double>(m_rules.uplinkRate.GetBitRate());
        meter.measuredSlots = m_rules.measuredSlots;
        m_meter.SetRules(meter);
    }

    void Run()
    {
        for (int left = 120; left > 0 && !m_input.IsEmpty(); --left)
        {
            m_now += MicroSeconds(uint64_t{m_input.Byte()} * m_input.Byte() * 40);
            const uint8_t what = m_input.Byte();
            if (what < 80)
            {
                Join();
            }
            else if (what < 95)
            {
                Leave();
            }
            else if (what < 200)
            {
                Receive();
            }
            else if (what < 215)
            {
                GiveUp();
            }
            else
            {
                EndRound();
                BeginRound();
            }
            CheckRoster();
            CheckCollector();
        }
        EndRound();
    }

  private:
    void Join()
    {
        JoinRequest request;
        request.device = m_input.Near(m_input.Below(MAX_DEVICES));
        const uint32_t host = 0x0a000001 + m_input.Below(5);
        request.from = SocketAddress(InetSocketAddress(Ipv4Address(host), 49153));
        request.connection = m_input.Byte() < 200 ? 0 : m_input.Below(4);
        const RosterEntry* known = m_roster.Find(request.device);
        request.sequence = m_input.Near(known ? known->sequence + 1 : 1);
        request.life = m_input.Below(3);
        request.group =
            m_input.Near(m_input.Below(static_cast<uint32_t>(m_rules.groupBits.size())));
        request.bits = m_input.Near(m_rules.groupBits[request.group % m_rules.groupBits.size()]);
        request.samples = m_input.Near(40);
        request.training = NanoSeconds(NearTime(m_input, 1000000) >> 1);
        const RosterVerdict verdict = m_roster.CheckJoin(request);
        if (verdict.dropped)
        {
            return;
        }
        Require(request.device < MAX_DEVICES && request.group < m_rules.groupBits.size() &&
                    request.bits == m_rules.groupBits[request.group],
                "only a device that fits may join");
        Require(!known || known->ip.IsInvalid() || known->ip == request.from.ip,
                "nobody joins with the identifier of another address");
        if (!verdict.isSameLife)
        {
            Remove(request.device);
        }
        m_roster.Join(request);
        const RosterEntry* entry = m_roster.Find(request.device);
        Require(entry && entry->joined && entry->samples <= 100 &&
                    entry->training <= m_rules.deadline,
                "what a device says about itself is limited");
        Require(!m_roster.CheckSender(request.device, request.from.Get(), request.connection),
                "a device that joined may send");
        const InetSocketAddress other(Ipv4Address("10.9.9.9"), 49153);
        Require(m_roster.CheckSender(request.device, other, request.connection).has_value(),
                "nobody else may send in its name");
    }

    void Remove(uint32_t device)
    {
        if (m_roster.Leave(device))
        {
            m_collector.Leave(device);
        }
    }

    void Leave()
    {
        const uint32_t device = m_input.Below(MAX_DEVICES);
        const RosterEntry* entry = m_roster.Find(device);
        if (entry && entry->joined &&
            !m_roster.CheckLeave(device, m_input.Near(entry->sequence + 1)).dropped)
        {
            Remove(device);
            Require(!m_roster.Find(device)->joined, "a device that left is not there");
        }
    }

    /** @return a participant, if there is one. */
    const Participant* FindOne()
    {
        const auto& all = m_collector.GetParticipants();
        if (all.empty())
        {
            return nullptr;
        }
        return std::next(all.begin(), m_input.Below(static_cast<uint32_t>(all.size())))
            ->second.get();
    }

    void Receive()
    {
        const Participant* one = FindOne();
        if (!one || !m_isOpen)
        {
            return;
        }
        const uint32_t device = one->record.device;
        MessageHints hints;
        hints.round = m_round;
        hints.device = device;
        hints.dimension = static_cast<uint32_t>(m_rules.dimension);
        hints.fragments = std::max(1U, one->update.GetFragments());
        hints.wireBits = static_cast<uint8_t>(one->record.wireBits);
        hints.nowNs = static_cast<uint64_t>(m_now.GetNanoSeconds());
        const auto type = static_cast<uint8_t>(m_input.Byte() < 180 ? FederatedHeader::UPDATE
                                                                    : FederatedHeader::DONE);
        const ExactCopy message(MakeMessage(m_input, type, hints));
        FederatedHeader header;
        if (header.Read(message.Get(), message.GetSize()) != FederatedHeader::READ_OK ||
            !m_collector.IsCurrent(header))
        {
            return;
        }
        m_collector.Hear(device);
        const uint8_t* payload = message.Get() + header.GetSize();
        if (header.type == FederatedHeader::UPDATE)
        {
            m_collector.TakeUpdate(device, header, payload, 0, m_now);
        }
        else if (header.type == FederatedHeader::DONE)
        {
            m_collector.TakeDone(device, header, payload, m_now);
        }
    }

    void GiveUp()
    {
        if (const Participant* one = FindOne())
        {
            m_collector.GiveUp(one->record.device);
        }
    }

    void BeginRound()
    {
        ++m_round;
        m_rules.lateness = m_meter.GetLateness();
        const auto devices = ListDevices(m_round, m_roster, m_meter, nullptr, *m_noise);
        for (const PlannerDevice& device : devices)
        {
            Require(std::isfinite(device.goodput) && device.goodput > 0 &&
                        std::isfinite(device.airRate) && device.airRate > 0,
                    "measured rates are finite and above 0");
            Require(std::isnan(device.deliveredFraction) ||
                        (device.deliveredFraction >= 0 && device.deliveredFraction <= 1),
                    "a delivered fraction is from 0 to 1");
        }
        const RoundPlan plan = PlanRound(m_round, devices, m_rules, *m_policy, *m_selection, m_now);
        CheckPlan(plan);
        m_roster.SetAsked(plan.selected, m_round);
        UpdateCollector::Rules rules;
        rules.round = m_round;
        rules.start = m_now;
        rules.dimension = m_rules.dimension;
        m_collector.Begin(rules);
        m_answered.clear();
        m_started.clear();
        m_reported.clear();
        m_phases.clear();
        for (const PlannedSlot& slot : plan.slots)
        {
            m_collector.Add(slot.device, slot.group, slot.bits, slot.wireBits, slot.start);
        }
        m_isOpen = true;
    }

    void CheckPlan(const RoundPlan& plan)
    {
        Require(plan.selected.size() <= m_rules.participants, "at most N devices are selected");
        Require(plan.context.uplinkSeconds >= 0 &&
                    plan.context.uplinkSeconds <= m_rules.deadline.GetSeconds(),
                "the time for updates is within the deadline");
        Require(plan.budget >= 0, "a bit budget is not negative");
        Require(std::is_sorted(plan.selected.begin(), plan.selected.end()) &&
                    std::set<uint32_t>(plan.selected.begin(), plan.selected.end()).size() ==
                        plan.selected.size(),
                "each device is selected once");
        double bits = 0;
        for (uint32_t device : plan.selected)
        {
            const RosterEntry* entry = m_roster.Find(device);
            Require(entry && entry->joined, "only devices that joined are selected");
            const unsigned nominal = m_rules.groupBits[entry->group];
            bits += m_rules.budget->CountsWireBits() ? m_rules.quantizer->GetWireBits(nominal)
                                                     : nominal;
        }
        Require(bits <= plan.budget ||
                    (plan.selected.size() == 1 && m_rules.budget->CountsWireBits()),
                "the selected devices fit into the bit budget");
        Require(plan.slots.size() == plan.selected.size(), "each selected device has a slot");
        std::set<uint32_t> devices;
        Time free = m_now;
        for (const PlannedSlot& slot : plan.slots)
        {
            devices.insert(slot.device);
            Require(slot.start >= free, "slots do not overlap");
            Require(slot.modelEnd >= m_now && slot.start >= slot.modelEnd,
                    "a slot begins after its model");
            Require(slot.length > Time(0) && slot.length <= Seconds(1000000),
                    "a slot has a length");
            free = slot.start + slot.length + m_rules.guard;
            Require(slot.isLate || free <= m_now + m_rules.deadline,
                    "a slot ends before the deadline, or it is marked");
        }
        Require(devices == std::set<uint32_t>(plan.selected.begin(), plan.selected.end()),
                "slots are those of the selected devices");
    }

    void EndRound()
    {
        if (!m_isOpen)
        {
            return;
        }
        m_collector.Finish();
        for (const auto& [device, participant] : m_collector.GetParticipants())
        {
            const LinkRecord& record = participant->record;
            const bool received = record.receivedFragments > 0;
            Require(m_reported[device] == (received ? 1U : 0U),
                    "an update is reported once if something of it was received");
            Require((record.state == PARTICIPANT_COMPLETE) == participant->update.IsComplete() &&
                        (record.state == PARTICIPANT_COMPLETE ||
                         record.state == PARTICIPANT_PARTIAL) == received,
                    "the outcome is what was received");
            Require(record.receivedFragments <= record.sentFragments,
                    "no more fragments are received than were sent");
            m_roster.CountSilence(device, !received);
            if (received)
            {
                m_roster.CountAnswer(device);
            }
        }
        m_meter.Measure(m_collector.GetObservations(), m_now);
        Require(m_meter.GetLateness() >= Time(0) && m_meter.GetLateness() <= m_now,
                "lateness is a time that has passed");
        m_collector.Clear();
        m_isOpen = false;
    }

    void CheckRoster()
    {
        uint32_t joined = 0;
        std::map<Address, uint32_t> identifiers;
        std::set<ConnectionId> connections;
        for (const auto& [device, entry] : m_roster.GetEntries())
        {
            joined += entry.joined ? 1 : 0;
            if (entry.joined)
            {
                Require(++identifiers[entry.ip] <= MAX_PER_ADDRESS,
                        "an address has only so many identifiers");
                Require(entry.connection == 0 || connections.insert(entry.connection).second,
                        "a connection belongs to one device");
                Require(entry.connection == 0 ||
                            m_roster.FindByConnection(entry.connection) == device,
                        "a device is found by its connection");
            }
        }
        Require(m_roster.GetJoined() == joined, "devices that joined are counted");
    }

    void CheckCollector()
    {
        uint32_t unanswered = 0;
        for (const auto& [device, participant] : m_collector.GetParticipants())
        {
            unanswered += participant->HasAnswered() ? 0 : 1;
            Require(m_answered[device] == (participant->HasAnswered() ? 1U : 0U),
                    "a participant has answered once");
            Require(m_started[device] == (participant->record.receivedFragments > 0 ? 1U : 0U),
                    "a participant starts once");
            const auto before = m_phases.emplace(device, Participant::Phase::OFFERED).first;
            Require(IsStep(before->second, participant->phase),
                    "a participant takes only steps of the diagram");
            before->second = participant->phase;
        }
        Require(m_collector.GetUnanswered() == unanswered, "participants that wait are counted");
    }

    FuzzInput& m_input;
    RoundRules m_rules;
    Ptr<ClusterSizePolicy> m_policy;
    Ptr<SelectionPolicy> m_selection;
    Ptr<LinkNoise> m_noise;
    DeviceRoster m_roster;
    UplinkMeter m_meter;
    UpdateCollector m_collector;
    uint32_t m_round = 0;
    bool m_isOpen = false;
    Time m_now = Seconds(1);
    std::map<uint32_t, uint32_t> m_answered;
    std::map<uint32_t, uint32_t> m_started;
    std::map<uint32_t, uint32_t> m_reported;
    std::map<uint32_t, Participant::Phase> m_phases;
};

} // namespace

extern "C" int
LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size)
{
    FuzzInput input(data, size);
    Center(input).Run();
    return 0;
}
