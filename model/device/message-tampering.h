// SPDX-License-Identifier: GPL-2.0-only

#ifndef MESSAGE_TAMPERING_H
#define MESSAGE_TAMPERING_H

#include "ns3/federated-header.h"
#include "ns3/nstime.h"
#include "ns3/object.h"

#include <cstdint>
#include <vector>

namespace ns3
{

/**
 * @ingroup federated
 * @brief A message of a device before it is sealed and protected.
 */
struct OutgoingMessage
{
    FederatedHeader header;       //!< Its header; length and checksum are set when it is sent.
    std::vector<uint8_t> payload; //!< Coordinates, or a body of message-bodies.h.
    Time delay{0};                //!< How long it is held back.
};

/**
 * @ingroup federated
 * @brief What a device that tampers with its messages knows besides the message.
 */
struct TamperingContext
{
    Time now;      //!< The time.
    Time deadline; //!< When the round of the last accepted grant ends; 0 if there was none.
};

/**
 * @ingroup federated
 * @brief Makes a device an insider: a member of the federation that follows the protocol, but for
 * the messages that it sends.
 *
 * Attribute Tampering of FederatedDevice. Each message that the honest device would send is passed
 * to Tamper() before checksum and protection are added, so that whatever is sent instead carries
 * the checksum and the keys of the device. The trace sources and counters of the device describe
 * what the honest device would have sent; Tx fires for what is sent really.
 *
 * An ACK of a grant is the first message of each round, also without repairs and updates: what an
 * insider sends unasked can be sent along with it.
 */
class MessageTampering : public Object
{
  public:
    /** @return the TypeId. */
    static TypeId GetTypeId();

    /**
     * @param message What the honest device sends now, without delay. Control messages that are
     * not acknowledged come again, with the same sequence number.
     * @param context What is known besides.
     * @return what is sent instead, in this order; the same message if nothing is changed.
     */
    std::vector<OutgoingMessage> Tamper(const OutgoingMessage& message,
                                        const TamperingContext& context);

  private:
    /**
     * Does the work of Tamper().
     * @param message What the honest device sends now.
     * @param context What is known besides.
     * @return what is sent instead. A message has at most FederatedHeader::MAX_INTERVALS intervals
     * and MAX_PAYLOAD bytes, and its delay is not negative.
     */
    virtual std::vector<OutgoingMessage> DoTamper(const OutgoingMessage& message,
                                                  const TamperingContext& context) = 0;
};

} // namespace ns3

#endif // MESSAGE_TAMPERING_H
