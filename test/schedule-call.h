// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCHEDULE_CALL_H
#define SCHEDULE_CALL_H

#include "ns3/event-id.h"
#include "ns3/nstime.h"
#include "ns3/simulator.h"

#include <functional>

namespace ns3
{

/** @param function What is called. */
inline void
CallScheduled(const std::function<void()>& function)
{
    function();
}

/** Schedule a lambda, which Simulator::Schedule does not take up to ns-3.35. */
inline EventId
ScheduleCall(const Time& delay, const std::function<void()>& function)
{
    return Simulator::Schedule(delay, &CallScheduled, function);
}

} // namespace ns3

#endif // SCHEDULE_CALL_H
