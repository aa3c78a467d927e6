// SPDX-License-Identifier: GPL-2.0-only

#ifndef CONTROL_RETRY_H
#define CONTROL_RETRY_H

#include "ns3/event-id.h"
#include "ns3/nstime.h"
#include "ns3/random-variable-stream.h"

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>

namespace ns3::federated
{

/**
 * @brief Sends a message until its owner says that it was acknowledged, or gives up.
 *
 * @verbatim
   Start --(first)--> send --(timeout, doubled, spread)--> send --> ... --> after `retries`: give up
                        |                                                      |
                        +------------------- Stop (acknowledged) --------------+--> idle
   @endverbatim
 */
class ControlRetry
{
  public:
    static constexpr uint32_t FOREVER = std::numeric_limits<uint32_t>::max(); //!< Never give up.

    /** When to send again. */
    struct Schedule
    {
        Time timeout;                      //!< From one message to the next.
        uint32_t retries = FOREVER;        //!< How often it is sent again before giving up.
        uint32_t doublings = 0;            //!< How often the time-out doubles.
        Ptr<UniformRandomVariable> jitter; //!< Makes each wait up to half longer, so that senders
                                           //!< that lost the same frame do not collide again; null:
                                           //!< waits are exact.
        bool repeats = true;               //!< False over a reliable protocol (TCP): sent once.
    };

    /**
     * Send the message.
     * @return how much of the next wait has passed already; not 0 only if nothing had to be sent.
     */
    using Send = std::function<Time()>;

    ControlRetry() = default;
    ControlRetry(const ControlRetry&) = delete; // its events know where it is
    ControlRetry& operator=(const ControlRetry&) = delete;
    ~ControlRetry();

    /**
     * Begin; an earlier message is abandoned, without a call of its giveUp.
     * @param schedule When to send again.
     * @param send Sends the message.
     * @param giveUp Called when all retries are used; may be empty.
     * @param first Time until it is first sent; 0: it is sent before this function returns.
     */
    void Start(const Schedule& schedule,
               Send send,
               std::function<void()> giveUp,
               const std::optional<Time>& first = std::nullopt);

    /** End: the message was acknowledged, or is no longer needed. */
    void Stop();

    /** @return whether a message waits for its acknowledgment, or to be sent. */
    bool IsActive() const
    {
        return m_active;
    }

    /**
     * @param delay A time.
     * @param jitter Random numbers; null: none.
     * @return the time plus a random part of up to half of it.
     */
    static Time Spread(const Time& delay, const Ptr<UniformRandomVariable>& jitter);

  private:
    /** Send once more, or give up. */
    void Try();

    Schedule m_schedule;            //!< When to send again.
    Send m_send;                    //!< Sends the message.
    std::function<void()> m_giveUp; //!< Called when all retries are used.
    bool m_active = false;          //!< Whether a message waits.
    uint32_t m_tries = 0;           //!< How often it was sent.
    uint32_t m_starts = 0;          //!< Counts Start(), which m_send may call.
    EventId m_event;                //!< Sends it again.
};

} // namespace ns3::federated

#endif // CONTROL_RETRY_H
