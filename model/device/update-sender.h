// SPDX-License-Identifier: GPL-2.0-only

#ifndef UPDATE_SENDER_H
#define UPDATE_SENDER_H

#include "center-link.h"
#include "device-session.h"

#include "ns3/event-id.h"
#include "ns3/federated-header.h"
#include "ns3/message-bodies.h"
#include "ns3/nstime.h"

#include <functional>

namespace ns3::federated
{

/**
 * @brief Sends the update of a session in its slot: over UDP its fragments are spread over the
 * slot, over TCP the connection takes them as it can.
 */
class UpdateSender
{
  public:
    /** @param link Speaks to the center. */
    explicit UpdateSender(CenterLink& link);
    ~UpdateSender();

    /**
     * Wait for the slot, then send.
     * @param session The session, which waits for its slot; it must live until Stop().
     * @param start When to send the first fragment.
     * @param started Called before the first fragment is sent.
     * @param ended Called when all was sent, or at the deadline: how that went.
     */
    void Start(DeviceSession& session,
               const Time& start,
               std::function<void()> started,
               std::function<void(RoundOutcome)> ended);

    /** Give up; nothing is called any more. */
    void Stop();

  private:
    /** The slot begins. */
    void Begin();

    /** Send the next fragment and, over UDP, so on. */
    void SendNext();

    /**
     * Send one fragment.
     * @param session What is sent.
     */
    void SendFragment(DeviceSession& session);

    /** All was sent, or time is over. */
    void End();

    CenterLink& m_link;                        //!< Speaks to the center.
    DeviceSession* m_session = nullptr;        //!< What is sent; null: nothing.
    std::function<void()> m_started;           //!< Called before the first fragment is sent.
    std::function<void(RoundOutcome)> m_ended; //!< Called at the end.
    FederatedHeader m_header;                  //!< Header of the fragment that is being sent.
    EventId m_sendEvent;                       //!< Sends the next fragment.
    EventId m_endEvent;                        //!< The deadline.
};

} // namespace ns3::federated

#endif // UPDATE_SENDER_H
