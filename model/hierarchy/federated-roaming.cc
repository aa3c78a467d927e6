// SPDX-License-Identifier: GPL-2.0-only

#include "federated-roaming.h"

#include "ns3/abort.h"
#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/log.h"
#include "ns3/mobility-model.h"
#include "ns3/pointer.h"
#include "ns3/simulator.h"

#include <algorithm>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("FederatedRoaming");
NS_OBJECT_ENSURE_REGISTERED(FederatedRoaming);

namespace
{

/** @return the task of a device. */
Ptr<Object>
GetTask(const Ptr<FederatedDevice>& device)
{
    PointerValue task;
    device->GetAttribute("Task", task);
    return task.GetObject();
}

} // namespace

TypeId
FederatedRoaming::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::FederatedRoaming")
            .SetParent<Object>()
            .SetGroupName("Federated")
            .AddConstructor<FederatedRoaming>()
            .AddAttribute("Interval",
                          "Time from one look at the positions of walkers to the next.",
                          TimeValue(MilliSeconds(500)),
                          MakeTimeAccessor(&FederatedRoaming::m_interval),
                          MakeTimeChecker(MicroSeconds(1)))
            .AddAttribute("Hysteresis",
                          "How much nearer another access point must be than that of the cell "
                          "before a walker moves there, in meters: one that walks along the border "
                          "would leave and join again and again.",
                          DoubleValue(5),
                          MakeDoubleAccessor(&FederatedRoaming::m_hysteresis),
                          MakeDoubleChecker<double>(0))
            .AddTraceSource("Moved",
                            "A walker has left a cell, and joins another one.",
                            MakeTraceSourceAccessor(&FederatedRoaming::m_movedTrace),
                            "ns3::FederatedRoaming::MovedTracedCallback");
    return tid;
}

uint32_t
FederatedRoaming::AddCell(const Ptr<Node>& accessPoint)
{
    NS_ABORT_MSG_IF(!accessPoint, "FederatedRoaming: the node of an access point is null");
    NS_ABORT_MSG_IF(!accessPoint->GetObject<MobilityModel>(),
                    "FederatedRoaming: the access point, node " << accessPoint->GetId()
                                                                << ", has no mobility model");
    NS_ABORT_MSG_IF(!m_walkers.empty(), "FederatedRoaming: AddCell comes after AddWalker");
    m_cells.push_back(accessPoint);
    return static_cast<uint32_t>(m_cells.size() - 1);
}

uint32_t
FederatedRoaming::AddWalker(const Ptr<Node>& node,
                            const std::vector<Ptr<FederatedDevice>>& applications)
{
    NS_ABORT_MSG_IF(!node || !node->GetObject<MobilityModel>(),
                    "FederatedRoaming: the node of a walker has no mobility model");
    NS_ABORT_MSG_IF(applications.size() != m_cells.size(),
                    "FederatedRoaming: a walker has "
                        << applications.size() << " applications, but there are " << m_cells.size()
                        << " cells");
    const Ptr<FederatedRoaming> self(this);
    const auto index = static_cast<uint32_t>(m_walkers.size());
    Walker walker;
    walker.node = node;
    walker.applications = applications;
    uint32_t visited = 0;
    for (uint32_t cell = 0; cell < applications.size(); ++cell)
    {
        if (applications[cell])
        {
            CheckApplication(walker, cell);
            applications[cell]->TraceConnectWithoutContext(
                "LinkNeeded", MakeBoundCallback(&FederatedRoaming::HandleNeed, this, index, cell));
            ++visited;
        }
    }
    NS_ABORT_MSG_IF(visited == 0, "FederatedRoaming: a walker visits no cell");
    m_walkers.push_back(walker);
    if (index == 0)
    {
        // The events keep the object, so that it outlives a script's, until the simulation ends.
        Simulator::ScheduleDestroy(&Object::Dispose, self);
        m_lookEvent = Simulator::ScheduleNow(&FederatedRoaming::Look, this);
    }
    return index;
}

void
FederatedRoaming::CheckApplication(const Walker& walker, uint32_t cell) const
{
    const Ptr<FederatedDevice>& application = walker.applications[cell];
    NS_ABORT_MSG_IF(walker.node->GetSystemId() != Simulator::GetSystemId() ||
                        m_cells[cell]->GetSystemId() != Simulator::GetSystemId(),
                    "FederatedRoaming: another process simulates cell "
                        << cell << " or a device that would walk there; devices walk only between "
                        << "cells of one process");
    NS_ABORT_MSG_IF(application->GetNode(),
                    "FederatedRoaming: an application of a walker is on node "
                        << application->GetNode()->GetId()
                        << " already, and would run in a cell where the walker is not");
    BooleanValue enrolled;
    application->GetAttribute("Enrolled", enrolled);
    NS_ABORT_MSG_IF(enrolled.Get(),
                    "FederatedRoaming: a walker is enrolled in cell "
                        << cell << ", and could not join it again (attribute Enrolled)");
    auto uses = std::count(walker.applications.begin(), walker.applications.end(), application);
    for (const Walker& other : m_walkers)
    {
        uses += std::count(other.applications.begin(), other.applications.end(), application);
    }
    NS_ABORT_MSG_IF(uses > 1,
                    "FederatedRoaming: the application for cell "
                        << cell << " is also that of another cell or walker; a walker needs one of "
                        << "its own for each cell");
    for (const auto& other : walker.applications)
    {
        NS_ABORT_MSG_IF(other && (GetTask(other) != GetTask(application) ||
                                  other->GetShare() != application->GetShare()),
                        "FederatedRoaming: the applications of a walker have not the same Task and "
                        "Share, so that they would be several devices");
    }
}

void
FederatedRoaming::DoDispose()
{
    m_lookEvent.Cancel();
    for (Walker& walker : m_walkers)
    {
        walker.event.Cancel();
    }
    m_walkers.clear();
    m_cells.clear();
    Object::DoDispose();
}

uint32_t
FederatedRoaming::GetCell(uint32_t walker) const
{
    const Walker& which = m_walkers.at(walker);
    return which.isLeaving ? NOWHERE : which.cell;
}

uint64_t
FederatedRoaming::GetMoves() const
{
    return m_moves;
}

double
FederatedRoaming::GetDistance(const Walker& walker, uint32_t cell) const
{
    return walker.node->GetObject<MobilityModel>()->GetDistanceFrom(
        m_cells[cell]->GetObject<MobilityModel>());
}

uint32_t
FederatedRoaming::FindNearest(const Walker& walker) const
{
    uint32_t nearest = NOWHERE;
    double distance = 0;
    for (uint32_t cell = 0; cell < m_cells.size(); ++cell)
    {
        const double there = walker.applications[cell] ? GetDistance(walker, cell) : 0;
        if (walker.applications[cell] && (nearest == NOWHERE || there < distance))
        {
            nearest = cell;
            distance = there;
        }
    }
    return nearest;
}

void
FederatedRoaming::Look()
{
    for (uint32_t index = 0; index < m_walkers.size(); ++index)
    {
        Walker& walker = m_walkers[index];
        if (walker.cell == NOWHERE)
        {
            Enter(index);
            continue;
        }
        const Ptr<FederatedDevice>& here = walker.applications[walker.cell];
        const uint32_t nearest = FindNearest(walker);
        // Who leaves without having been asked to stays away, also while LEAVE is not answered.
        const bool hasLeft = here->IsLeaving() || !here->IsRunning();
        if (walker.isLeaving || hasLeft || nearest == walker.cell ||
            GetDistance(walker, walker.cell) - GetDistance(walker, nearest) <= m_hysteresis)
        {
            continue;
        }
        NS_LOG_INFO("Walker " << index << " leaves cell " << walker.cell);
        walker.isLeaving = true;
        here->Leave();
        TryEnter(index); // over TCP without a connection it has left at once
    }
    m_lookEvent = Simulator::Schedule(m_interval, &FederatedRoaming::Look, this);
}

void
FederatedRoaming::HandleNeed(FederatedRoaming* roaming,
                             uint32_t index,
                             uint32_t cell,
                             uint32_t /* device */,
                             bool needed)
{
    if (!needed && index < roaming->m_walkers.size() && roaming->m_walkers[index].cell == cell)
    {
        roaming->TryEnter(index);
    }
}

void
FederatedRoaming::TryEnter(uint32_t index)
{
    Walker& walker = m_walkers[index];
    if (walker.isLeaving && !walker.applications[walker.cell]->IsRunning() &&
        walker.event.IsExpired())
    {
        // In an event of its own: the application is about to stop.
        walker.event = Simulator::ScheduleNow(&FederatedRoaming::Enter, this, index);
    }
}

void
FederatedRoaming::Enter(uint32_t index)
{
    Walker& walker = m_walkers[index];
    const uint32_t from = walker.cell;
    const uint32_t to = FindNearest(walker); // it has walked on meanwhile
    walker.cell = to;
    walker.isLeaving = false;
    NS_LOG_INFO("Walker " << index << " comes to cell " << to);
    const Ptr<FederatedDevice> application = walker.applications[to];
    if (application->GetNode())
    {
        application->Join(); // it has been here before
    }
    else
    {
        walker.node->AddApplication(application);
    }
    if (from != NOWHERE && from != to)
    {
        ++m_moves;
        m_movedTrace(index, from, to);
    }
}

} // namespace ns3
