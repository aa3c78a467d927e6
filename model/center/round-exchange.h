// SPDX-License-Identifier: GPL-2.0-only

#ifndef ROUND_EXCHANGE_H
#define ROUND_EXCHANGE_H

#include "device-roster.h"
#include "grant-sender.h"
#include "model-sender.h"
#include "page-sender.h"
#include "round-planner.h"
#include "update-collector.h"

#include "ns3/control-retry.h"
#include "ns3/message-endpoint.h"
#include "ns3/nstime.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace ns3::federated
{

/**
 * @brief The messages between center and participants in a round: the page, grants, the model and
 * its repairs, updates, and DONE.
 */
class RoundExchange
{
  public:
    /** Rules of a round. */
    struct Rules
    {
        UpdateCollector::Rules collector; //!< What is collected.
        ControlRetry::Schedule grants;    //!< When a grant is sent again.
        Time grantSpacing;                //!< From one grant to the next, and to the model.
        Time deadline;                    //!< When updates must have been sent.
    };

    /**
     * @param endpoint Sends the messages.
     * @param roster Addresses of the devices.
     * @param answered Called when a participant has answered, with the number of those that have
     * not.
     * @param started Called with a participant whose first fragment was received.
     * @param received Called once for each update of which a fragment was received.
     */
    RoundExchange(MessageEndpoint& endpoint,
                  const DeviceRoster& roster,
                  std::function<void(uint32_t unanswered)> answered,
                  UpdateCollector::DeviceHandler started,
                  UpdateCollector::ReceivedHandler received);

    /** @return the sender of the model, to be set up. */
    ModelSender& GetModelSender()
    {
        return m_sender;
    }

    /** @return the sender of the page, to be set up. */
    PageSender& GetPageSender()
    {
        return m_pages;
    }

    /** @return the collected updates. */
    const UpdateCollector& GetCollector() const
    {
        return m_collector;
    }

    /** @param sequence The sequence number before the first one that is used. */
    void SetSequence(uint32_t sequence);

    /**
     * Name the devices of a round to all devices, before Start().
     * @param round The round.
     * @param selected Its devices, ascending.
     * @param until When the round ends at the latest.
     * @param wait Time until the page is sent, and from then until it is sent again.
     */
    void Page(uint32_t round,
              const std::vector<uint32_t>& selected,
              const Time& until,
              const Time& wait);

    /**
     * Begin a round.
     * @param plan The selected devices and their slots; may be empty.
     * @param model w, which must not change until Finish().
     * @param rules Rules of the round.
     */
    void Start(const RoundPlan& plan, const std::vector<float>& model, const Rules& rules);

    /**
     * Process a message about a round.
     * @param message The message, from a device that has joined.
     * @param now The time.
     * @return why it is dropped, if it is.
     */
    std::optional<DropReason> Handle(const ReceivedMessage& message, const Time& now);

    /**
     * A device left.
     * @param device The device, selected or not.
     */
    void Leave(uint32_t device);

    /** The round ends: nothing more is sent or accepted; collected updates stay until Clear(). */
    void Finish();

    /** Forget the round. */
    void Clear();

  private:
    /**
     * A participant has answered.
     * @param device The device.
     */
    void HandleAnswered(uint32_t device);

    MessageEndpoint& m_endpoint;              //!< Sends the messages.
    const DeviceRoster& m_roster;             //!< Addresses of the devices.
    std::function<void(uint32_t)> m_answered; //!< Called when a participant has answered.
    uint32_t m_sequence = 0;                  //!< Last sequence number used.
    UpdateCollector m_collector;              //!< Collects the updates.
    PageSender m_pages;                       //!< Sends the page.
    GrantSender m_grants;                     //!< Sends the grants.
    ModelSender m_sender;                     //!< Sends the model.
};

} // namespace ns3::federated

#endif // ROUND_EXCHANGE_H
