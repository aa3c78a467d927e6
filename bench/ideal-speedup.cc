// SPDX-License-Identifier: GPL-2.0-only

/*
 * How much faster federated-multicell can be on several ranks: federated-multicell in one process,
 * with a scheduler that counts the events of cloud and cells in the time windows that ns-3's MPI
 * engine would have.
 *
 * A window begins with the first event after the one before, and is as long as the delay of the
 * backhaul (Lookahead). All ranks wait at its end: it takes as long as the rank with most events.
 * The ideal speed-up is the sum over the windows of the events of all ranks, divided by that of the
 * events of the rank with most. Cell c is on rank c mod R, the cloud and events without a node are
 * on rank 0.
 *
 * Events do not cost the same: an evaluation or a training is one event. `by_cpu` weighs each event
 * with the processor time that it took, which differs from run to run. Both leave out what it costs
 * to set up the nodes, to wait for each other, and to send packets from rank to rank.
 *
 *    ideal-speedup --SchedulerType=ns3::WindowScheduler --cells=8 --devices=50 --threads=1 ...
 *
 * Attributes (--ns3::WindowScheduler::Cells=...) tell the scheduler of other numbers of cells and
 * devices, and of another --backhaul-delay.
 */

#include "ns3/event-impl.h"
#include "ns3/map-scheduler.h"
#include "ns3/nstime.h"
#include "ns3/simulator.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <vector>

namespace ns3
{

/** @brief Counts the events that are executed, by window and cell. */
class WindowScheduler : public MapScheduler
{
  public:
    /**
     * @brief Get the type ID.
     * @return the object TypeId
     */
    static TypeId GetTypeId();

    Event RemoveNext() override;

  private:
    static constexpr std::array<uint32_t, 3> RANKS = {2, 4, 8}; //!< Numbers of ranks.

    /** Events and what they took. */
    struct Load
    {
        double events = 0;  //!< Their number.
        double seconds = 0; //!< Processor time.
    };

    /** @return the part of a node: 0 of the cloud, 1 + c of cell c. */
    uint32_t GetPart(uint32_t node) const;

    /** Add the processor time since the last call to the event that was executed. */
    void EndEvent();

    /** Add the window to the sums. */
    void EndWindow();

    /** Print the speed-ups. */
    void Print();

    // Attributes
    Time m_lookahead;   //!< Length of a window.
    uint32_t m_cells;   //!< Cells.
    uint32_t m_devices; //!< Devices of a cell.

    // State
    std::vector<Load> m_parts;             //!< In this window, by part; empty: nothing ran.
    uint32_t m_part = 0;                   //!< That of the last event.
    double m_since = 0;                    //!< When that began.
    uint64_t m_end = 0;                    //!< Of the window.
    uint64_t m_windows = 0;                //!< How many have ended.
    Load m_all;                            //!< Of all ranks.
    std::array<Load, RANKS.size()> m_most; //!< Of the rank with most in each window.
};

NS_OBJECT_ENSURE_REGISTERED(WindowScheduler);

TypeId
WindowScheduler::GetTypeId()
{
    static TypeId tid = TypeId("ns3::WindowScheduler")
                            .SetParent<MapScheduler>()
                            .SetGroupName("Federated")
                            .AddConstructor<WindowScheduler>()
                            .AddAttribute("Lookahead",
                                          "Length of a window: the delay of the backhaul.",
                                          TimeValue(MilliSeconds(5)),
                                          MakeTimeAccessor(&WindowScheduler::m_lookahead),
                                          MakeTimeChecker(Time(0)))
                            .AddAttribute("Cells",
                                          "Number of cells.",
                                          UintegerValue(8),
                                          MakeUintegerAccessor(&WindowScheduler::m_cells),
                                          MakeUintegerChecker<uint32_t>(1))
                            .AddAttribute("Devices",
                                          "Devices of a cell.",
                                          UintegerValue(50),
                                          MakeUintegerAccessor(&WindowScheduler::m_devices),
                                          MakeUintegerChecker<uint32_t>(1));
    return tid;
}

Scheduler::Event
WindowScheduler::RemoveNext()
{
    EndEvent();
    const Event event = MapScheduler::RemoveNext();
    const auto lookahead = static_cast<uint64_t>(m_lookahead.GetTimeStep());
    if (m_parts.empty())
    {
        m_parts.resize(1 + m_cells);
        m_end = event.key.m_ts + lookahead;
        Simulator::ScheduleDestroy(&WindowScheduler::Print, this); // before the rest is removed
    }
    if (event.impl->IsCancelled())
    {
        return event;
    }
    if (event.key.m_ts > m_end)
    {
        EndWindow();
        m_end = event.key.m_ts + lookahead;
    }
    m_part = GetPart(event.key.m_context);
    m_parts[m_part].events += 1;
    return event;
}

uint32_t
WindowScheduler::GetPart(uint32_t node) const
{
    // Nodes are made in this order: the cloud, the edges, the devices of each cell.
    const uint32_t cell = node <= m_cells ? node - 1 : (node - 1 - m_cells) / m_devices;
    return node == 0 || cell >= m_cells ? 0 : 1 + cell;
}

void
WindowScheduler::EndEvent()
{
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    const double seconds =
        static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
    if (!m_parts.empty())
    {
        m_parts[m_part].seconds += seconds - m_since;
    }
    m_since = seconds;
}

void
WindowScheduler::EndWindow()
{
    ++m_windows;
    for (const Load& part : m_parts)
    {
        m_all.events += part.events;
        m_all.seconds += part.seconds;
    }
    for (std::size_t i = 0; i < RANKS.size(); ++i)
    {
        std::vector<Load> ranks(RANKS[i]);
        Load most;
        for (uint32_t part = 0; part < m_parts.size(); ++part)
        {
            Load& rank = ranks[part == 0 ? 0 : (part - 1) % RANKS[i]];
            rank.events += m_parts[part].events;
            rank.seconds += m_parts[part].seconds;
            most.events = std::max(most.events, rank.events);
            most.seconds = std::max(most.seconds, rank.seconds);
        }
        m_most[i].events += most.events;
        m_most[i].seconds += most.seconds;
    }
    std::fill(m_parts.begin(), m_parts.end(), Load());
}

void
WindowScheduler::Print()
{
    EndEvent();
    EndWindow();
    for (std::size_t i = 0; i < RANKS.size(); ++i)
    {
        std::printf("ideal ranks=%u by_events=%.2f by_cpu=%.2f windows=%llu events=%.0f\n",
                    RANKS[i],
                    m_all.events / m_most[i].events,
                    m_all.seconds / m_most[i].seconds,
                    static_cast<unsigned long long>(m_windows),
                    m_all.events);
    }
}

} // namespace ns3
