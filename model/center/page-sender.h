// SPDX-License-Identifier: GPL-2.0-only

#ifndef PAGE_SENDER_H
#define PAGE_SENDER_H

#include "ns3/address.h"
#include "ns3/event-id.h"
#include "ns3/federated-header.h"
#include "ns3/message-endpoint.h"
#include "ns3/nstime.h"

#include <cstdint>
#include <vector>

namespace ns3::federated
{

/**
 * @brief Names the devices of a round to all devices, whose radios listen for it: a PAGE to the
 * group, sent twice, as a message to a group is not acknowledged.
 */
class PageSender
{
  public:
    /** @param endpoint Sends the messages. */
    explicit PageSender(MessageEndpoint& endpoint);
    ~PageSender();

    PageSender(const PageSender&) = delete; // its event knows where it is
    PageSender& operator=(const PageSender&) = delete;

    /**
     * @param fragmentSize Bytes of the largest message as it is sent.
     * @param group Address and port of the group.
     */
    void SetUp(uint32_t fragmentSize, const Address& group);

    /**
     * Begin. Devices that are too far apart for one message are named in several.
     * @param round The round.
     * @param selected Its devices, ascending.
     * @param until When the round ends at the latest.
     * @param wait Time until the page is sent, and from then until it is sent again.
     * @param [in,out] sequence Last sequence number used.
     */
    void Start(uint32_t round,
               const std::vector<uint32_t>& selected,
               const Time& until,
               const Time& wait,
               uint32_t& sequence);

    /** End. */
    void Stop();

  private:
    /** A message that is not sealed yet: protected ones are, each time that they are sent. */
    struct Message
    {
        FederatedHeader header;    //!< Its header.
        std::vector<uint8_t> body; //!< Its body.
    };

    /**
     * Send all messages.
     * @param again Whether to send them once more.
     */
    void Send(bool again);

    MessageEndpoint& m_endpoint;     //!< Sends the messages.
    uint32_t m_fragmentSize = 0;     //!< Bytes of the largest one.
    Address m_group;                 //!< Their destination.
    std::vector<Message> m_messages; //!< The page.
    Time m_wait;                     //!< Until it is sent again.
    EventId m_event;                 //!< Sends it.
};

} // namespace ns3::federated

#endif // PAGE_SENDER_H
