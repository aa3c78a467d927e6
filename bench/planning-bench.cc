// SPDX-License-Identifier: GPL-2.0-only

/*
 * CPU time of planning a round: listing the members, the bit budget, cluster sizes, devices, slots.
 *
 * Members are in two groups of 2 and 4 bits, were measured before, and get a model each. With
 * 60,000 members planning takes ten times the work of 6,000. A row is the least of several turns,
 * for both; the last column is their ratio (at most 12).
 *
 *   planning-bench
 */

#include "compare-turns.h"

#include "ns3/device-roster.h"
#include "ns3/double.h"
#include "ns3/dp-stochastic-quantizer.h"
#include "ns3/fixed-bit-budget.h"
#include "ns3/inet-socket-address.h"
#include "ns3/measured-bit-budget.h"
#include "ns3/no-link-noise.h"
#include "ns3/object-factory.h"
#include "ns3/round-links.h"
#include "ns3/round-planner.h"
#include "ns3/simulator.h"
#include "ns3/uplink-meter.h"

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

using namespace ns3;
using namespace ns3::federated;

namespace
{

constexpr int TURNS = 9;
constexpr std::size_t DIMENSION = 10000;

/** Replace what is in the caches. */
void
FillCaches()
{
    static std::vector<unsigned char> other(64U << 20);
    for (std::size_t i = 0; i < other.size(); i += 64)
    {
        ++other[i];
    }
}

/** The members of a federation, and how their rounds are planned. */
struct Members
{
    explicit Members(uint32_t count)
    {
        roster.SetRules({count, {2, 4}, Hours(1)});
        std::vector<UplinkObservation> observations;
        for (uint32_t device = 0; device < count; ++device)
        {
            JoinRequest request;
            request.device = device;
            request.from = SocketAddress(InetSocketAddress(Ipv4Address(0x0a000000 + device), 1000));
            request.group = device % 2;
            request.bits = device % 2 == 0 ? 2 : 4;
            request.training = MilliSeconds(100 + device * 7919 % 100);
            roster.Join(request);
            UplinkObservation seen;
            seen.device = device;
            seen.wireBits = request.bits;
            seen.dimension = DIMENSION;
            seen.receivedFragments = seen.fragments = 10;
            seen.firstReceived = MilliSeconds(1);
            seen.lastReceived = MilliSeconds(10 + device % 10);
            seen.firstEnd = DIMENSION / 10;
            seen.lastEnd = DIMENSION;
            seen.delivered = DIMENSION;
            observations.push_back(seen);
        }
        meter.Measure(observations, Seconds(1));
        rules.dimension = DIMENSION;
        rules.groupBits = {2, 4};
        rules.deadline = Seconds(10);
        rules.modelTime = MicroSeconds(10);
        rules.uplinkRate = DataRate("1Gbps");
        rules.room = 1400;
        rules.seed = 7;
        rules.quantizer = PeekPointer(quantizer);
    }

    /**
     * @param policy Chooses the cluster sizes.
     * @param selection Chooses the devices.
     * @return the median CPU seconds of planning a round.
     */
    double Measure(ClusterSizePolicy& policy, SelectionPolicy& selection)
    {
        std::vector<double> times;
        for (uint32_t turn = 1; turn <= TURNS; ++turn)
        {
            FillCaches();
            const double start = GetCpuSeconds();
            const auto devices = ListDevices(turn, roster, meter, nullptr, *noise);
            const RoundPlan plan = PlanRound(turn, devices, rules, policy, selection, Time(0));
            times.push_back(GetCpuSeconds() - start);
            selected = plan.selected.size();
        }
        std::sort(times.begin(), times.end());
        return times[TURNS / 2];
    }

    DeviceRoster roster;
    UplinkMeter meter;
    RoundRules rules;
    std::size_t selected = 0; // in the last plan
    Ptr<NoLinkNoise> noise = CreateObject<NoLinkNoise>();
    Ptr<DpStochasticQuantizer> quantizer = CreateObject<DpStochasticQuantizer>();
};

/** @return the policy of a name, of which a random stream does not depend on others. */
template <typename Policy>
Ptr<Policy>
Make(const std::string& name)
{
    return ObjectFactory("ns3::" + name).Create<Policy>();
}

} // namespace

int
main()
{
    Simulator::Run(); // before the first run ns-3 lists all times, to change their unit
    Members few(6000);
    Members many(60000);
    std::printf("%-8s %-20s %-20s %7s %9s %7s %9s %6s\n",
                "budget",
                "cluster sizes",
                "selection",
                "of 6000",
                "ms",
                "of 60k",
                "ms",
                "ratio");
    for (const std::string share : {"ten", "half", "all"})
    {
        for (const std::string budget : {"fixed", "measured", "tight"})
        {
            for (const std::string sizes : {"OptimalClusterSizes", "RandomClusterSizes"})
            {
                for (const std::string selection :
                     {"RandomSelection", "RoundRobinSelection", "BestSnrSelection"})
                {
                    double cpu[2];
                    Members* members[] = {&few, &many};
                    for (int i = 0; i < 2; ++i)
                    {
                        const uint32_t joined = members[i]->roster.GetJoined();
                        const uint32_t wanted = share == "ten"    ? 10
                                                : share == "half" ? joined / 2
                                                                  : joined;
                        Ptr<BitBudget> limit = CreateObject<MeasuredBitBudget>();
                        if (budget == "fixed")
                        {
                            limit = CreateObjectWithAttributes<FixedBitBudget>(
                                "Bits", DoubleValue(3.0 * wanted));
                        }
                        // Time for all members, or only for a few.
                        members[i]->rules.deadline =
                            budget == "tight" ? Seconds(1)
                                              : Seconds(100) * static_cast<int64_t>(joined / 1000);
                        members[i]->rules.participants = wanted;
                        members[i]->rules.budget = PeekPointer(limit);
                        cpu[i] = members[i]->Measure(*Make<ClusterSizePolicy>(sizes),
                                                     *Make<SelectionPolicy>(selection));
                    }
                    std::printf("%-8s %-20s %-20s %7zu %9.3f %7zu %9.3f %6.2f\n",
                                budget.c_str(),
                                sizes.c_str(),
                                selection.c_str(),
                                few.selected,
                                1e3 * cpu[0],
                                many.selected,
                                1e3 * cpu[1],
                                cpu[1] / cpu[0]);
                }
            }
        }
    }
    return 0;
}
