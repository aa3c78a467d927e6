// SPDX-License-Identifier: GPL-2.0-only

#ifndef CENTER_LINK_H
#define CENTER_LINK_H

#include "delayed-messages.h"
#include "message-tampering.h"
#include "sent-record.h"

#include "ns3/control-retry.h"
#include "ns3/drop-reason.h"
#include "ns3/event-id.h"
#include "ns3/federated-header.h"
#include "ns3/message-bodies.h"
#include "ns3/message-endpoint.h"
#include "ns3/node.h"
#include "ns3/nstime.h"
#include "ns3/random-variable-stream.h"
#include "ns3/socket-address.h"
#include "ns3/type-id.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace ns3::federated
{

/**
 * @brief The control messages between a device and its center: JOIN, LEAVE and DONE, sent until
 * they are acknowledged, and grants, each of which is processed once. Over TCP a broken connection
 * is opened again, and the device joins again.
 *
 * A device that is told to join again (REJOIN) does so, but keeps what it does in the round: if the
 * message was forged, the center knows the device and nothing changes. Grants are numbered; if the
 * center insists on one that seems to be older than the last one, a number was forged, and the
 * device joins again to accept any.
 */
class CenterLink
{
  public:
    /** Device, center and protocol. */
    struct Settings
    {
        uint32_t device = 0;               //!< Device identifier.
        uint32_t group = 0;                //!< Its group.
        unsigned bits = 0;                 //!< Its resolution, b.
        uint32_t samples = 0;              //!< Samples that it has.
        Ptr<Node> node;                    //!< Its node.
        SocketAddress center;              //!< The center.
        SocketAddress local;               //!< Where to receive; any free port if it is not valid.
        SocketAddress uplinkGroup;         //!< Destination instead of the center, if valid.
        SocketAddress multicast;           //!< Multicast group of the models, if valid.
        bool enrolled = false;             //!< Whether it need not join.
        TypeId protocol;                   //!< Socket factory of UDP or TCP.
        std::string key;                   //!< Keys of the device; empty: none.
        uint32_t fragmentSize = 0;         //!< Bytes of the largest message.
        std::size_t dimension = 0;         //!< d, coordinates of the largest update.
        Time timeout;                      //!< Time before a control message is sent again.
        Time silence;                      //!< It joins again if nothing was received for so long;
                                           //!< 0: never.
        uint32_t retries = 0;              //!< How often a DONE or LEAVE is sent again.
        Ptr<UniformRandomVariable> jitter; //!< Spreads the retries.
        Ptr<MessageTampering> tampering;   //!< Changes the messages; null: an honest device.
    };

    /** Callbacks of the owner. */
    struct Handlers
    {
        /** Check the type of a message before it is read. @return why it is dropped, if it is. */
        std::function<std::optional<DropReason>(uint8_t type)> screen;
        /** A fragment of a model was received. @return why it is dropped, if it is. */
        std::function<std::optional<DropReason>(const FederatedHeader&, const uint8_t*)> model;
        /** Check whether a grant is valid for the device. @return why it is dropped, if it is. */
        std::function<std::optional<DropReason>(const FederatedHeader&)> checkGrant;
        /** A new grant was received; the current round of the device ends now. */
        std::function<void()> beforeGrant;
        /** A new grant was received and acknowledged. */
        std::function<void(const FederatedHeader&, const GrantBody&)> grant;
        /** A page of a round that is not over names the device, or does not. */
        std::function<void(const FederatedHeader&, const Time& until, bool isNamed)> page;
        /** The device has joined. */
        std::function<void()> joined;
        /** The connection is closed, or the device has left. */
        std::function<void()> disconnected;
        /** A control message begins to wait for its acknowledgment, or does not any more. */
        std::function<void()> waiting;
        /** @return how long training takes. */
        std::function<Time()> drawTraining;
        /** @return the level of the battery, 0 to 1; NaN if it is unknown. */
        std::function<double()> getBattery;
        /** @return whether the device takes part in a round. */
        std::function<bool()> isBusy;
    };

    /**
     * @param tx Fires for each message that is sent.
     * @param drop Fires for each message that is dropped.
     */
    CenterLink(const MessageEndpoint::TxTrace& tx, const MessageEndpoint::DropTrace& drop);

    /**
     * Open sockets and join.
     * @param settings Device, center and protocol.
     * @param handlers Callbacks of the owner.
     */
    void Start(const Settings& settings, const Handlers& handlers);

    /** Close the sockets without a message to the center. */
    void Stop();

    /** Release the connection without sending: the layers below are being disposed of. */
    void Abandon();

    /** Send LEAVE to the center until it is acknowledged; then close the sockets. */
    void Leave();

    /**
     * Send DONE to the center: the device sends nothing more in this round.
     * @param round The round.
     * @param wireBits Bits of a coordinate of the update.
     * @param sent What was sent.
     * @param outcome Outcome of the round.
     */
    void SendDone(uint32_t round, unsigned wireBits, const SentRecord& sent, RoundOutcome outcome);

    /**
     * Request fragments of the model.
     * @param round The round.
     * @param body Which ones.
     */
    void SendRepair(uint32_t round, const RepairBody& body);

    /**
     * Send a fragment of an update.
     * @param header Its header; the sequence number is set here.
     * @param payload Its coordinates.
     * @param size Size of the payload.
     * @return the size of the message.
     */
    uint32_t SendFragment(FederatedHeader& header, const uint8_t* payload, std::size_t size);

    /**
     * Tell the center how many samples the device has, if it knows another number.
     * @param samples The number.
     */
    void TellSamples(uint32_t samples);

    /** @return whether the center has acknowledged that the device joined. */
    bool HasJoined() const
    {
        return m_joined;
    }

    /** @return whether the device is between Start() and Stop(), and has not left. */
    bool IsRunning() const
    {
        return m_running;
    }

    /** @return whether the device has not joined, or a message waits for its acknowledgment. */
    bool IsWaiting() const
    {
        return m_running && (!m_joined || m_join.retry.IsActive() || m_control.retry.IsActive());
    }

    /** @return whether the protocol is TCP. */
    bool IsTcp() const
    {
        return m_endpoint.IsTcp();
    }

    /**
     * @param fragmentSize Bytes of the largest message as it is sent.
     * @return the bytes that it has before it is protected.
     */
    uint32_t GetRoom(uint32_t fragmentSize) const
    {
        return m_endpoint.GetRoom(fragmentSize);
    }

    /** @return the numbers of dropped messages. */
    const DropCounters& GetDrops() const
    {
        return m_endpoint.GetDrops();
    }

    /**
     * @param drained Called once, when the socket has accepted all messages that wait now (TCP).
     */
    void SetDrained(std::function<void()> drained);

    /**
     * Drop the messages that the socket has not accepted yet (TCP).
     * @return how many messages that were.
     */
    std::size_t Discard();

  private:
    /** Open the socket (UDP), or connect (TCP). */
    void Open();

    /** Close the sockets. */
    void Close();

    /** The device has left. */
    void End();

    /** The device has joined. */
    void SetJoined();

    /**
     * The connection is established.
     * @param connection The connection.
     */
    void HandleConnected(ConnectionId connection);

    /** The connection ended, or could not be established. */
    void HandleClosed();

    /**
     * A message was received from the center.
     * @param message The message.
     * @return why it is dropped, if it is.
     */
    std::optional<DropReason> HandleMessage(const ReceivedMessage& message);

    /**
     * @param header Header of an acknowledgment.
     * @param payload Its body.
     * @return why it is dropped, if it is.
     */
    std::optional<DropReason> HandleAck(const FederatedHeader& header, const uint8_t* payload);

    /**
     * @param header Header of a grant.
     * @param payload Its body.
     * @return why it is dropped, if it is.
     */
    std::optional<DropReason> HandleGrant(const FederatedHeader& header, const uint8_t* payload);

    /**
     * @param body Body of a grant whose number is less than that of the last one.
     * @return whether it is an earlier one, and not of a center that restarted. If the center
     * insists on it, the device joins again.
     */
    bool IsOld(const GrantBody& body);

    /**
     * @param header Header of a page.
     * @param payload Its body.
     * @return why it is dropped, if it is.
     */
    std::optional<DropReason> HandlePage(const FederatedHeader& header, const uint8_t* payload);

    /**
     * @param header Header of a REJOIN.
     * @return why it is dropped, if it is.
     */
    std::optional<DropReason> HandleRejoin(const FederatedHeader& header);

    /**
     * Send a JOIN until it is acknowledged.
     * @param retries How often it is sent again.
     */
    void Join(uint32_t retries);

    /**
     * Join again, if the last JOIN was not sent just now.
     * @param atOnce Also if it was.
     * @return whether the device does so.
     */
    bool Rejoin(bool atOnce = false);

    /** The center knows the device: wait for its next message. */
    void HearCenter();

    /** Nothing was received for a long time. */
    void HandleSilence();

    /** Send a LEAVE until it is acknowledged. */
    void SendLeave();

    /** A control message that is sent until it is acknowledged. */
    struct Control
    {
        FederatedHeader header;    //!< Its header.
        std::vector<uint8_t> body; //!< Its body.
        ControlRetry retry;        //!< Sends it.
    };

    /**
     * Send a control message until it is acknowledged; it replaces an earlier one.
     * @param control The message; its sequence number is set here.
     * @param retries How often it is sent again.
     */
    void SendControl(Control& control, uint32_t retries);

    /**
     * Send a message to the center.
     * @param header Its header, whose length and checksum are set here.
     * @param payload The payload.
     * @param size Size of the payload.
     * @return the size of the message.
     */
    uint32_t Send(FederatedHeader& header, const uint8_t* payload, std::size_t size);

    /**
     * Send a message to the center as it is.
     * @param header Its header, whose length and checksum are set here.
     * @param payload The payload.
     * @param size Size of the payload.
     * @return the size of the message.
     */
    uint32_t SendPlain(FederatedHeader& header, const uint8_t* payload, std::size_t size);

    /**
     * Send what an insider sends instead of a message.
     * @param header Header of the message.
     * @param payload Its payload.
     * @param size Size of the payload.
     * @return the size of the messages that are sent at once.
     */
    uint32_t SendTampered(const FederatedHeader& header, const uint8_t* payload, std::size_t size);

    MessageEndpoint m_endpoint;      //!< Sockets.
    Settings m_settings;             //!< Device, center and protocol.
    Handlers m_handlers;             //!< Callbacks of the owner.
    bool m_running = false;          //!< Between start and end.
    bool m_joined = false;           //!< The center knows the device.
    bool m_leaving = false;          //!< The device leaves.
    ConnectionId m_connection = 0;   //!< TCP.
    uint32_t m_sequence = 0;         //!< Last sequence number of a control message.
    uint32_t m_fragmentSequence = 0; //!< Last sequence number of a fragment.
    uint32_t m_life = 0;             //!< Number of this life.
    bool m_granted = false;          //!< Whether a grant was received over this connection.
    bool m_anyGrant = false;         //!< Whether the next one may have any number.
    uint32_t m_lastGrant = 0;        //!< Sequence number of the last grant.
    Time m_lastDeadline;             //!< When its round ends.
    uint32_t m_oldGrants = 0;        //!< Grants that were dropped as old since the last one.
    bool m_wasJoined = false;        //!< Whether a JOIN was ever acknowledged in this life.
    std::optional<uint32_t> m_told;  //!< Sequence number that the last REJOIN told.
    uint32_t m_opens = 0;            //!< Connections since the last acknowledged JOIN (TCP).
    Control m_join;                  //!< JOIN.
    Time m_joinTime;                 //!< When it was first sent.
    Control m_control;               //!< DONE or LEAVE.
    Time m_leaveTime;                //!< When a LEAVE was first sent.
    EventId m_openEvent;             //!< Opens or connects again, or ends a LEAVE.
    uint32_t m_knownSamples = 0;     //!< Samples in the last JOIN that was acknowledged.
    uint32_t m_bindTries = 0;        //!< How often the sockets could not be bound.
    EventId m_silenceEvent;          //!< Nothing was received for a long time.
    DelayedMessages m_delayed;       //!< Messages that an insider holds back.
};

} // namespace ns3::federated

#endif // CENTER_LINK_H
