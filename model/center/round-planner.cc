// SPDX-License-Identifier: GPL-2.0-only

#include "round-planner.h"

#include "cluster-capacity.h"
#include "left-out.h"

#include "ns3/abort.h"
#include "ns3/federated-number.h"
#include "ns3/fragmentation.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace ns3::federated
{

namespace
{

/** @return the element that would be at an index if the elements were sorted. */
template <typename T>
T
GetSorted(std::vector<T> values, std::size_t index)
{
    const auto place = values.begin() + static_cast<std::ptrdiff_t>(index);
    std::nth_element(values.begin(), place, values.end());
    return *place;
}

/**
 * @param devices The devices, at least one.
 * @param rate The rate of a device that is compared.
 * @param multiple How many times as long as a device with the median rate one may take.
 * @return the least rate that is planned with; 0 if there is no limit.
 */
double
GetLeastRate(const std::vector<PlannerDevice>& devices,
             double PlannerDevice::*rate,
             double multiple)
{
    if (!std::isfinite(multiple))
    {
        return 0;
    }
    std::vector<double> rates;
    rates.reserve(devices.size());
    for (const PlannerDevice& device : devices)
    {
        rates.push_back(device.*rate);
    }
    return GetSorted(std::move(rates), devices.size() / 2) / multiple; // the faster of two middles
}

/** The inputs of the bit budget, computed once for all numbers of participants up to N. */
class UplinkOutlook
{
  public:
    UplinkOutlook(uint32_t round,
                  const std::vector<PlannerDevice>& devices,
                  const RoundRules& rules)
        : m_round(round),
          m_rules(rules),
          m_joined(static_cast<uint32_t>(devices.size()))
    {
        // Most devices are in time, or late, whatever the number of participants is: only the
        // others are sorted.
        const Time least = GetTrainingLimit(rules.participants);
        const Time most = GetTrainingLimit(1);
        const Limits limits = GetLimits(devices);
        for (const PlannerDevice& device : devices)
        {
            if (device.goodput >= limits.slowestGoodput)
            {
                m_secondsPerBit += 1 / std::max(device.goodput, limits.leastGoodput);
                ++m_counted;
            }
            if (device.training > limits.longestTraining)
            {
                continue;
            }
            if (device.training < least)
            {
                m_slowest = std::max(m_slowest, device.training);
            }
            else if (device.training < most)
            {
                m_trainings.push_back(device.training);
            }
        }
        std::sort(m_trainings.begin(), m_trainings.end());
    }

    /** @return the state of the uplink with this number of participants, at least 1. */
    BitBudgetContext Get(uint32_t participants) const
    {
        const Time limit = GetTrainingLimit(participants);
        // The slowest device that can meet the deadline counts; slower ones must not reduce tau to
        // 0.
        const auto late = std::lower_bound(m_trainings.begin(), m_trainings.end(), limit);
        const Time training = late == m_trainings.begin() ? m_slowest : *std::prev(late);
        BitBudgetContext context;
        context.round = m_round;
        context.dimension = m_rules.dimension;
        context.uplinkSeconds = std::max(limit - training - m_rules.lateness, Time(0)).GetSeconds();
        context.rate = m_counted > 0 ? m_counted / m_secondsPerBit : 0;
        return context;
    }

    /** @return how many devices have joined. */
    uint32_t GetJoined() const
    {
        return m_joined;
    }

  private:
    /** What the devices are held to, so that none of them decides for all. */
    struct Limits
    {
        double slowestGoodput = 0; // slower ones are left out
        double leastGoodput = 0;   // slower ones count as this
        Time longestTraining = Time::Max();
    };

    Limits GetLimits(const std::vector<PlannerDevice>& devices) const
    {
        Limits limits;
        const std::size_t leftOut = CountLeftOut(m_rules.leftOut, devices.size());
        if (leftOut > 0)
        {
            std::vector<double> rates;
            std::vector<Time> trainings;
            rates.reserve(devices.size());
            trainings.reserve(devices.size());
            for (const PlannerDevice& device : devices)
            {
                rates.push_back(device.goodput);
                trainings.push_back(device.training);
            }
            limits.slowestGoodput = GetSorted(std::move(rates), leftOut);
            limits.longestTraining = GetSorted(std::move(trainings), devices.size() - 1 - leftOut);
        }
        if (!devices.empty())
        {
            limits.leastGoodput =
                GetLeastRate(devices, &PlannerDevice::goodput, m_rules.longestSlot);
        }
        return limits;
    }

    /** @return how long a device may train before the deadline. It falls with the participants. */
    Time GetTrainingLimit(uint32_t participants) const
    {
        const int64_t devices = std::min(participants, m_joined);
        const int64_t models = m_rules.modelForEach ? devices : 1;
        const Time before = m_rules.grantSpacing * devices + m_rules.modelTime * models +
                            m_rules.repairTime + m_rules.guard;
        return m_rules.deadline - before;
    }

    uint32_t m_round;
    const RoundRules& m_rules;
    uint32_t m_joined;
    Time m_slowest;                // of the devices that are in time with N participants
    std::vector<Time> m_trainings; // that are in time only with fewer participants, ascending
    double m_secondsPerBit = 0;    // sum over the devices that count
    uint32_t m_counted = 0;        // how many these are
};

/** The groups from which devices can be selected. */
struct Candidates
{
    std::vector<ClusterGroup> clusters;                   // groups with devices
    std::vector<uint32_t> groups;                         // their numbers
    std::vector<std::vector<SelectionCandidate>> devices; // of every group
};

/**
 * @return whether a device is not asked in this round because it did not answer in the last ones.
 */
bool
IsPaused(const PlannerDevice& device, const RoundRules& rules)
{
    return rules.silentRounds > 0 && device.silentRounds >= rules.silentRounds &&
           device.roundsSinceAsked <= rules.silentPause;
}

Candidates
FindCandidates(const std::vector<PlannerDevice>& devices, const RoundRules& rules, bool mayPause)
{
    struct Noise
    {
        double sum = 0; // of sigma^2, over devices whose noise is known
        uint32_t known = 0;
    };

    const std::size_t count = rules.groupBits.size();
    Candidates found;
    found.devices.resize(count);
    std::vector<Noise> noises(count);
    for (auto& members : found.devices)
    {
        members.reserve(devices.size() / count);
    }
    for (const PlannerDevice& device : devices)
    {
        // Infinite noise: the update would carry no information.
        if (std::isinf(device.sigma2) || (mayPause && IsPaused(device, rules)))
        {
            continue;
        }
        found.devices[device.group].push_back(device);
        if (!std::isnan(device.sigma2))
        {
            noises[device.group].sum += device.sigma2;
            ++noises[device.group].known;
        }
    }
    for (uint32_t m = 0; m < count; ++m)
    {
        if (!found.devices[m].empty())
        {
            const unsigned bits = rules.groupBits[m];
            const unsigned counted =
                rules.budget->CountsWireBits() ? rules.quantizer->GetWireBits(bits) : bits;
            // Devices without measurements get the mean of their group.
            const double sigma2 = noises[m].known > 0 ? noises[m].sum / noises[m].known : 0;
            const auto size = static_cast<uint32_t>(found.devices[m].size());
            found.clusters.push_back({size, bits, counted, sigma2});
            found.groups.push_back(m);
        }
    }
    return found;
}

/** Find B, and the number of devices that fit into it: N, or as many as B allows. */
uint32_t
FitBudget(const std::vector<ClusterGroup>& clusters,
          const UplinkOutlook& outlook,
          const RoundRules& rules,
          RoundPlan& plan)
{
    const ClusterCapacity capacity(clusters);
    const uint64_t available = capacity.GetDevices();
    // With fewer models to send there is more time for updates: find the largest N for which B,
    // after N models, is enough for N updates. All are tried in turn, because B may be any function
    // of the time that is left.
    uint32_t participants = std::min(rules.participants, std::max(outlook.GetJoined(), 1U));
    while (true)
    {
        plan.context = outlook.Get(participants);
        plan.budget = rules.budget->GetBudget(plan.context);
        const uint32_t feasible = capacity.GetLargest(participants, plan.budget);
        if (feasible >= std::min<uint64_t>(participants, available) || participants == 1 ||
            !rules.modelForEach)
        {
            return feasible;
        }
        // Fewer devices than groups never fit.
        participants = participants > clusters.size() ? participants - 1 : 1;
    }
}

/** Select devices: B, cluster sizes, then devices of each group. */
void
SelectDevices(uint32_t round,
              const std::vector<PlannerDevice>& devices,
              const RoundRules& rules,
              ClusterSizePolicy& policy,
              SelectionPolicy& selection,
              RoundPlan& plan)
{
    const UplinkOutlook outlook(round, devices, rules);
    Candidates found = FindCandidates(devices, rules, true);
    if (found.clusters.empty())
    {
        found = FindCandidates(devices, rules, false); // rather than an empty round
    }
    auto& [clusters, groups, candidates] = found;
    uint32_t participants = FitBudget(clusters, outlook, rules, plan);
    while (participants == 0 && clusters.size() > 1)
    {
        // B is too small for a device of each group: leave out the group with most bits.
        const auto most = std::max_element(clusters.begin(),
                                           clusters.end(),
                                           [](const ClusterGroup& x, const ClusterGroup& y)
                                           { return x.wireBits < y.wireBits; });
        groups.erase(groups.begin() + (most - clusters.begin()));
        clusters.erase(most);
        participants = FitBudget(clusters, outlook, rules, plan);
    }
    double budget = plan.budget;
    if (participants == 0 && rules.budget->CountsWireBits() && plan.context.uplinkSeconds > 0 &&
        !clusters.empty())
    {
        participants = 1; // else no rate would be measured again, and no device ever selected
        budget = clusters[0].wireBits;
    }
    if (participants == 0)
    {
        return;
    }
    const ClusterSizes sizes = policy.Choose(clusters, participants, budget);
    NS_ABORT_MSG_IF(!sizes.feasible, "FusionCenter: " << sizes.reason);
    for (std::size_t i = 0; i < groups.size(); ++i)
    {
        const SelectionContext context{round, groups[i], sizes.sizes[i], rules.seed};
        const auto selected = selection.Select(context, candidates[groups[i]]);
        const auto middle = static_cast<std::ptrdiff_t>(plan.selected.size());
        plan.selected.insert(plan.selected.end(), selected.begin(), selected.end());
        std::inplace_merge(
            plan.selected.begin(), plan.selected.begin() + middle, plan.selected.end());
    }
}

/** @return the time over which a device spreads an update. */
Time
GetSlotLength(unsigned wireBits, const RoundRules& rules)
{
    const std::vector<IntervalRange> interval{{0, rules.dimension, 0, 0}};
    const auto fragments = PlanFragments(rules.dimension, wireBits, interval, rules.room);
    const std::size_t bytes =
        GetMessagesSize(fragments, wireBits) + fragments.size() * rules.overhead;
    constexpr uint32_t PART = 1U << 28; // ns-3 counts the bits of one call in 32 bits
    const auto rest = static_cast<uint32_t>(bytes % PART);
    return rules.uplinkRate.CalculateBytesTxTime(PART) * static_cast<int64_t>(bytes / PART) +
           rules.uplinkRate.CalculateBytesTxTime(rest);
}

/** Plan the slots of the selected devices, in the order in which they will have trained. */
void
PlanSlots(const std::vector<PlannerDevice>& devices,
          const RoundRules& rules,
          const Time& now,
          RoundPlan& plan)
{
    struct Ready
    {
        Time time; // when the device will have trained
        Time modelEnd;
        uint32_t device;
        uint32_t group;
        double airRate;
    };

    std::vector<Ready> order;
    order.reserve(plan.selected.size());
    plan.slots.reserve(plan.selected.size());
    const Time modelStart = now + rules.grantSpacing * static_cast<int64_t>(plan.selected.size());
    Time modelEnd = modelStart;
    auto device = devices.begin();
    for (uint32_t id : plan.selected)
    {
        while (device->device != id)
        {
            ++device; // both are in ascending order
        }
        if (rules.modelForEach || modelEnd == modelStart)
        {
            modelEnd += rules.modelTime;
        }
        order.push_back({modelEnd + rules.repairTime + device->training + rules.guard,
                         modelEnd,
                         id,
                         device->group,
                         device->airRate});
    }
    std::stable_sort(
        order.begin(), order.end(), [](const Ready& a, const Ready& b) { return a.time < b.time; });
    const double leastRate =
        rules.measuredSlots ? GetLeastRate(devices, &PlannerDevice::airRate, rules.longestSlot) : 0;
    std::map<unsigned, Time> lengths; // by bits on the wire
    Time free = now;
    for (const Ready& ready : order)
    {
        PlannedSlot slot;
        slot.device = ready.device;
        slot.group = ready.group;
        slot.bits = rules.groupBits[slot.group];
        slot.wireBits = rules.quantizer->GetWireBits(slot.bits);
        auto length = lengths.find(slot.wireBits);
        if (length == lengths.end())
        {
            length = lengths.emplace(slot.wireBits, GetSlotLength(slot.wireBits, rules)).first;
        }
        slot.modelEnd = ready.modelEnd;
        slot.start = std::max(free, ready.time);
        slot.length = length->second;
        // Fragments that the radio cannot send at once wait in its queue; the next slot begins
        // later.
        Time needed = slot.length;
        if (rules.measuredSlots)
        {
            const double payload = slot.wireBits * static_cast<double>(rules.dimension);
            const double seconds = payload / std::max(ready.airRate, leastRate);
            needed = std::max(needed, Seconds(std::min(seconds, rules.deadline.GetSeconds())));
        }
        slot.end = slot.start + needed;
        free = slot.end + rules.guard;
        slot.isLate = free > now + rules.deadline;
        plan.slots.push_back(slot);
    }
}

} // namespace

std::string
ReadGroupBits(const std::string& text,
              const Quantizer& quantizer,
              uint32_t participants,
              std::vector<unsigned>& bits)
{
    const std::string name = "GroupBits is '" + text + "'";
    if (!FederatedNumber::ReadCounts(text, 1U, Quantizer::MAX_BITS, bits))
    {
        return name + ", not a list of numbers from 1 to " + std::to_string(Quantizer::MAX_BITS);
    }
    if (bits.empty())
    {
        return "GroupBits is empty";
    }
    std::string error;
    for (unsigned one : bits)
    {
        if (!quantizer.Check(one, error))
        {
            return name + ": " + error;
        }
    }
    if (participants < bits.size())
    {
        return "Participants is " + std::to_string(participants) + ", but each of the " +
               std::to_string(bits.size()) + " groups of GroupBits sends at least one device";
    }
    return "";
}

RoundPlan
PlanRound(uint32_t round,
          const std::vector<PlannerDevice>& devices,
          const RoundRules& rules,
          ClusterSizePolicy& policy,
          SelectionPolicy& selection,
          const Time& now)
{
    RoundPlan plan;
    SelectDevices(round, devices, rules, policy, selection, plan);
    if (!plan.selected.empty())
    {
        PlanSlots(devices, rules, now, plan);
    }
    return plan;
}

} // namespace ns3::federated
