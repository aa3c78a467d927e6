// SPDX-License-Identifier: GPL-2.0-only

#ifndef REMOVE_EVENT_H
#define REMOVE_EVENT_H

#include "ns3/event-id.h"
#include "ns3/simulator.h"

namespace ns3::federated
{

/**
 * Cancel an event and remove it from the queue of the simulator. An event that is only canceled
 * stays there until its time comes: a deadline of an hour in each of many short rounds would fill
 * the memory.
 * @param [in,out] event The event, which may be over; it is reset.
 */
inline void
RemoveEvent(EventId& event)
{
    Simulator::Remove(event);
    event = EventId();
}

} // namespace ns3::federated

#endif // REMOVE_EVENT_H
