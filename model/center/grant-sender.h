// SPDX-License-Identifier: GPL-2.0-only

#ifndef GRANT_SENDER_H
#define GRANT_SENDER_H

#include "model-sender.h"
#include "round-planner.h"

#include "ns3/control-retry.h"
#include "ns3/federated-header.h"
#include "ns3/message-bodies.h"
#include "ns3/message-endpoint.h"
#include "ns3/nstime.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <vector>

namespace ns3::federated
{

/** @brief Sends each selected device its grant, until a message of the device is received. */
class GrantSender
{
  public:
    /**
     * @param endpoint Sends the messages.
     * @param giveUp Called with a device that does not answer.
     */
    GrantSender(MessageEndpoint& endpoint, std::function<void(uint32_t device)> giveUp);

    /** Content of all grants of a round. */
    struct Terms
    {
        uint32_t round = 0;          //!< The round.
        std::size_t coordinates = 0; //!< d.
        uint32_t modelFragments = 0; //!< Fragments of the model.
        Time deadline;               //!< When updates must have been sent.
    };

    /**
     * Add a grant to those that Start() sends.
     * @param terms Content of all grants of the round.
     * @param slot What is granted.
     * @param peer Address or connection of the device.
     * @param sequence Sequence number of the grant.
     */
    void Add(const Terms& terms,
             const PlannedSlot& slot,
             const MessagePeer& peer,
             uint32_t sequence);

    /**
     * Send all grants.
     * @param schedule When to send one again.
     * @param spacing Time from one grant to the next; 0: all are sent before this function
     * returns.
     */
    void Start(const ControlRetry::Schedule& schedule, const Time& spacing);

    /** @return the devices with a grant, ascending, and their destinations. */
    std::vector<ModelSender::Recipient> GetRecipients() const;

    /**
     * @param device A device with a grant.
     * @param sequence A sequence number that it acknowledges.
     * @return whether it is that of its grant.
     */
    bool IsSequence(uint32_t device, uint32_t sequence) const;

    /**
     * @param device A device with a grant.
     * @return its destination.
     */
    const MessagePeer& GetPeer(uint32_t device) const;

    /**
     * A device has its grant, or no longer needs one.
     * @param device A device with a grant.
     */
    void Stop(uint32_t device);

    /** The round is over. */
    void Clear();

  private:
    /** A grant. */
    struct Grant
    {
        FederatedHeader header;        //!< Its header.
        uint8_t body[GrantBody::SIZE]; //!< Its body.
        MessagePeer peer;              //!< Its destination.
        ControlRetry retry;            //!< Sends it.
    };

    MessageEndpoint& m_endpoint;            //!< Sends the messages.
    std::function<void(uint32_t)> m_giveUp; //!< Called with a device that does not answer.
    std::map<uint32_t, Grant> m_grants;     //!< By device.
};

} // namespace ns3::federated

#endif // GRANT_SENDER_H
