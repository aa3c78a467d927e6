// SPDX-License-Identifier: GPL-2.0-only

#ifndef DELAYED_MESSAGES_H
#define DELAYED_MESSAGES_H

#include "message-tampering.h"

#include "ns3/event-id.h"
#include "ns3/nstime.h"

#include <functional>
#include <map>

namespace ns3::federated
{

/**
 * @brief Messages that are sent later. One event is scheduled for all of them.
 */
class DelayedMessages
{
  public:
    using Sender = std::function<void(OutgoingMessage& message)>; //!< Sends a message.

    /** @param send Sends a message when its time comes; it may call Clear(). */
    explicit DelayedMessages(Sender send);

    /**
     * @param message A message that is sent after its delay; those of the same time are sent in
     * the order in which they were added.
     */
    void Add(OutgoingMessage message);

    /** Discard all messages. */
    void Clear();

  private:
    /** Send the messages whose time has come. */
    void SendDue();

    /** Schedule the event of the earliest message. */
    void Schedule();

    Sender m_send;                                  //!< Sends a message.
    std::multimap<Time, OutgoingMessage> m_waiting; //!< By the time when they are sent.
    EventId m_event;                                //!< Sends the earliest.
};

} // namespace ns3::federated

#endif // DELAYED_MESSAGES_H
