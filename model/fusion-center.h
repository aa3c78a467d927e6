// SPDX-License-Identifier: GPL-2.0-only

#ifndef FUSION_CENTER_H
#define FUSION_CENTER_H

#include "ns3/application.h"
#include "ns3/bit-budget.h"
#include "ns3/cluster-size-policy.h"
#include "ns3/data-rate.h"
#include "ns3/event-id.h"
#include "ns3/federated-compat.h"
#include "ns3/federated-header.h"
#include "ns3/fragment-assembler.h"
#include "ns3/fragmentation.h"
#include "ns3/fusion-rule.h"
#include "ns3/interval-rule.h"
#include "ns3/learning-task.h"
#include "ns3/link-noise.h"
#include "ns3/link-probe.h"
#include "ns3/message-cipher.h"
#include "ns3/message-stream.h"
#include "ns3/quantizer.h"
#include "ns3/round-record.h"
#include "ns3/socket-address.h"
#include "ns3/socket.h"
#include "ns3/traced-callback.h"
#include "ns3/update-fusion.h"

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace ns3
{

/**
 * @ingroup federated
 * @brief The center of a federation: selects devices, sends them the model, collects what arrives
 * of their updates, fuses it and evaluates the result (Algorithm 1).
 *
 * @verbatim
             all expected devices joined, or JoinTimeout
   JOINING ------------------------------------------------> START OF A ROUND <-------------+
   (devices may also join and leave at any later time)         | cluster sizes, selection   |
                                                               | nobody to select: skipped, |
                                                               | wait for the deadline -----+
                                                               v                            |
        +------------------------------------------------ COLLECTING                        |
        |  GRANT to each selected, repeated until          | all answered, or deadline      |
        |  acknowledged; MODEL, paced; REPAIR              v                                |
        +------------------------------------------->   FUSION (too few updates: skipped)   |
                                                           | evaluation, RoundEnd           |
                                                           +--------------------------------+
                                                           | after the last round
                                                           v
                                                       FINISHED
   @endverbatim
 *
 * A selected device has answered when its whole update came, when it said that no more will come
 * (DONE), when it left, or when it takes no grant. Nothing that arrives can make the center abort:
 * a message that cannot be used is counted by reason and traced. A device identifier belongs to the
 * address that it joined from (or that BindDevice named) until it leaves.
 */
class FusionCenter : public Application
{
  public:
    /** How the model reaches the selected devices. */
    enum DownlinkMode
    {
        UNICAST,   //!< To each selected device, one after the other.
        MULTICAST, //!< Once, to a multicast group (UDP).
        GROUP,     //!< As all other messages to a group or broadcast address, which no radio
                   //!< acknowledges (UDP).
    };

    /** What came of an update. */
    struct UpdateRecord
    {
        uint32_t round;     //!< The round.
        uint32_t device;    //!< The device.
        unsigned bits;      //!< Its resolution, b.
        uint32_t fragments; //!< Fragments that came.
        bool complete;      //!< Whether nothing is missing.
        Time time;          //!< When the last one came.
    };

    /**
     * TracedCallback signature of RoundStart.
     * @param round The round.
     * @param selected Identifiers of the selected devices, ascending.
     */
    using RoundStartTracedCallback = void (*)(uint32_t round,
                                              const std::vector<uint32_t>& selected);

    /**
     * TracedCallback signature of UpdateReceived.
     * @param record What came.
     */
    using UpdateReceivedTracedCallback = void (*)(const UpdateRecord& record);

    /**
     * TracedCallback signature of MembersChanged.
     * @param device The device.
     * @param joined Whether it joined or left.
     */
    using MemberTracedCallback = void (*)(uint32_t device, bool joined);

    /**
     * TracedCallback signature of Finished.
     * @param rounds How many rounds there were.
     */
    using FinishedTracedCallback = void (*)(uint32_t rounds);

    /**
     * @brief Get the type ID.
     * @return the object TypeId
     */
    static TypeId GetTypeId();

    FusionCenter();
    ~FusionCenter() override;

    /**
     * Say in advance from which IP address a device will join; a join from elsewhere is dropped.
     * @param device The device.
     * @param ip Its IPv4 or IPv6 address, without port.
     */
    void BindDevice(uint32_t device, const Address& ip);

    /**
     * Take a device for joined from the start, as one that was registered before (UDP). It is told
     * so by its attribute Enrolled.
     * @param device The device.
     * @param address Its address and port.
     * @param group Its group.
     * @param training How long it trains.
     */
    void Enroll(uint32_t device, const Address& address, uint32_t group, const Time& training);

    /** @return the model w, d coordinates. */
    const std::vector<float>& GetModel() const;

    /**
     * Begin with a given model instead of a random one.
     * @param model d coordinates.
     */
    void SetModel(std::vector<float> model);

    /** @return the round that is going on, or was the last; 0 before the first. */
    uint32_t GetRound() const;

    /** @return how many devices have joined and not left. */
    uint32_t GetJoined() const;

    /**
     * @param reason A reason.
     * @return how many messages were dropped for it.
     */
    uint64_t GetDropped(DropReason reason) const;

    /**
     * Fix the random streams in use.
     * @param stream First stream number.
     * @return how many streams were used.
     */
    int64_t AssignStreams(int64_t stream) FEDERATED_OVERRIDES_SINCE_3_42;

  protected:
    void DoDispose() override;

  private:
    /** A device that has joined, or is expected. */
    struct Member
    {
        bool joined = false;       //!< It joined and has not left.
        bool enrolled = false;     //!< It has joined from the start.
        bool reserved = false;     //!< Its address was named in advance.
        Address ip;                //!< What it is bound to; invalid if it is not.
        SocketAddress address;     //!< Where it is.
        Address destination;       //!< The same, as sockets take it.
        Ptr<MessageStream> stream; //!< Its connection (TCP).
        uint32_t group = 0;        //!< Its group.
        uint32_t samples = 0;      //!< Samples that it has.
        Time training;             //!< How long it trains, as it says.
        bool heard = false;        //!< Whether it ever sent a control message.
        uint32_t sequence = 0;     //!< Sequence number of its last JOIN or LEAVE.
        uint32_t answered = 0;     //!< R_u, rounds that it answered.
        double goodput = 0; //!< Payload that it delivers per time of its slot, moving average
                            //!< in bit/s; 0: unknown.
        double airRate = 0; //!< Payload that it sends per time of its slot, whether that comes
                            //!< or not, moving average in bit/s; 0: unknown.
        double meanSquare = std::numeric_limits<double>::quiet_NaN(); //!< Of its last update.
    };

    /** A fragment of an update that came. */
    struct ReceivedFragment
    {
        std::size_t begin; //!< First coordinate.
        std::size_t end;   //!< One past the last coordinate.
        uint64_t packet;   //!< Packet::GetUid() of the packet that brought it; 0: unknown.
    };

    /** A device that takes part in the current round. */
    struct Participant
    {
        /**
         * @param dimension d.
         * @param wireBits Bits of a coordinate as sent.
         */
        Participant(std::size_t dimension, unsigned wireBits)
            : update(dimension, wireBits)
        {
        }

        Member* member = nullptr;  //!< Who it is.
        LinkRecord record;         //!< What is known of it.
        unsigned wireBits = 0;     //!< Bits of a coordinate as sent.
        FragmentAssembler update;  //!< What came of its update.
        bool answered = false;     //!< Whether there is nothing to wait for.
        bool reported = false;     //!< Whether UpdateReceived has fired.
        bool acknowledged = false; //!< Whether it took its grant.
        FederatedHeader grant;     //!< The grant.
        std::vector<uint8_t> body; //!< Its body.
        uint32_t tries = 0;        //!< How often it was sent.
        Time slotStart;            //!< When its slot begins.
        std::size_t firstEnd = 0; //!< One past the last coordinate of the fragment that came first.
        std::size_t lastEnd = 0;  //!< Likewise of the one that came last.
        std::vector<ReceivedFragment> fragments;           //!< What came, if the noise is to know.
        EventId repeat;                                    //!< Sends it again.
        std::deque<std::pair<uint32_t, uint32_t>> pending; //!< Model fragments to send: first and
                                                           //!< how many.
    };

    void StartApplication() override;
    void StopApplication() override;

    /** Abort with a sentence if the attributes make no sense. */
    void CheckAttributes();

    /** Open the socket. */
    void Open();

    /**
     * A TCP connection was accepted.
     * @param socket The connection.
     * @param from The other end.
     */
    void HandleAccept(Ptr<Socket> socket, const Address& from);

    /**
     * Whether to accept a TCP connection.
     * @param socket The listening socket.
     * @param from The other end.
     * @return whether there are not too many that have not joined.
     */
    bool HandleConnectionRequest(Ptr<Socket> socket, const Address& from);

    /**
     * A TCP connection ended.
     * @param stream The connection.
     */
    void HandleClosed(Ptr<MessageStream> stream);

    /**
     * What came over TCP were no messages.
     * @param stream The connection.
     */
    void HandleGarbage(Ptr<MessageStream> stream);

    /**
     * Messages came over UDP.
     * @param socket The socket.
     */
    void HandleDatagrams(Ptr<Socket> socket);

    /**
     * A message came over TCP.
     * @param stream The connection.
     * @param message The message.
     * @param size Its size.
     */
    void HandleStreamMessage(Ptr<MessageStream> stream, const uint8_t* message, uint32_t size);

    /**
     * A message came.
     * @param message The message.
     * @param size Its size.
     * @param from Its sender.
     * @param stream The connection, null over UDP.
     */
    void HandleMessage(const uint8_t* message,
                       uint32_t size,
                       const Address& from,
                       const Ptr<MessageStream>& stream);

    /**
     * @param header Header of a message with a right checksum.
     * @param payload What follows.
     * @param from Its sender.
     * @param stream The connection, null over UDP.
     * @return why it is dropped, DROP_REASONS if it is not.
     */
    DropReason Dispatch(const FederatedHeader& header,
                        const uint8_t* payload,
                        const Address& from,
                        const Ptr<MessageStream>& stream);

    /**
     * @param header Header of a JOIN.
     * @param payload Its body.
     * @param from Its sender.
     * @param stream The connection, null over UDP.
     * @return why it is dropped, DROP_REASONS if it is not.
     */
    DropReason HandleJoin(const FederatedHeader& header,
                          const uint8_t* payload,
                          const SocketAddress& from,
                          const Ptr<MessageStream>& stream);

    /**
     * @param header Header of a LEAVE.
     * @param member Its sender.
     * @return why it is dropped, DROP_REASONS if it is not.
     */
    DropReason HandleLeave(const FederatedHeader& header, Member& member);

    /**
     * @param header Header of a part of an update.
     * @return whether it was quantized on the interval that was agreed on, if there is one.
     */
    bool HasAgreedInterval(const FederatedHeader& header) const;

    /**
     * @param header Header of a part of an update.
     * @param payload Its coordinates.
     * @param participant Its sender.
     * @return why it is dropped, DROP_REASONS if it is not.
     */
    DropReason HandleUpdate(const FederatedHeader& header,
                            const uint8_t* payload,
                            Participant& participant);

    /**
     * @param header Header of a repair request.
     * @param payload Its body.
     * @param participant Its sender.
     * @return why it is dropped, DROP_REASONS if it is not.
     */
    DropReason HandleRepair(const FederatedHeader& header,
                            const uint8_t* payload,
                            Participant& participant);

    /**
     * @param header Header of a DONE.
     * @param payload Its body.
     * @param participant Its sender.
     * @return why it is dropped, DROP_REASONS if it is not.
     */
    DropReason HandleDone(const FederatedHeader& header,
                          const uint8_t* payload,
                          Participant& participant);

    /**
     * Count and trace a message that is not used.
     * @param reason Why.
     * @param from Its sender.
     * @param size Its size.
     */
    void Drop(DropReason reason, const Address& from, uint32_t size);

    /**
     * @param header Header of a control message that came.
     * @param member Its sender.
     */
    void Acknowledge(const FederatedHeader& header, const Member& member);

    /**
     * @param header A header, which is sealed here.
     * @param payload What follows.
     * @param size Size of the payload.
     * @return the message.
     */
    Ptr<Packet> MakeMessage(FederatedHeader& header, const uint8_t* payload, std::size_t size);

    /** @return the bytes of the largest message, before it is encrypted. */
    uint32_t GetRoom() const
    {
        return m_fragmentSize - m_cipher.GetOverhead();
    }

    /**
     * @param plan The fragments of a model or update.
     * @param bits Bits of a coordinate.
     * @return the size of their messages as they are sent, in bytes.
     */
    std::size_t GetSentSize(const std::vector<Fragment>& plan, unsigned bits) const
    {
        return GetMessagesSize(plan, bits) + plan.size() * m_cipher.GetOverhead();
    }

    /**
     * @param member Where to.
     * @param message The message.
     */
    void SendTo(const Member& member, const Ptr<Packet>& message);

    /**
     * A member left, or its connection broke.
     * @param device The device.
     */
    void RemoveMember(uint32_t device);

    /**
     * Forget a connection.
     * @param stream The connection.
     * @return whose it was, ALL_DEVICES if nobody joined over it.
     */
    uint32_t RemoveStream(const Ptr<MessageStream>& stream);

    /** Begin a round. */
    void StartRound();

    /** @return the devices of a new round, ascending; empty if nobody can take part. */
    std::vector<uint32_t> Select();

    /**
     * Make the participants with their grants.
     * @param selected The devices.
     */
    void PlanSlots(const std::vector<uint32_t>& selected);

    /**
     * Send a grant, and again until it is acknowledged.
     * @param device The device.
     */
    void SendGrant(uint32_t device);

    /**
     * @param index Index of a fragment of the model.
     * @return its message.
     */
    Ptr<Packet> MakeModelMessage(std::size_t index);

    /** Begin to send the model. */
    void SendModel();

    /**
     * Send the next pending fragment of the model.
     * @param queue Participants with pending fragments.
     * @param inTurns Whether the participants take turns, or one follows the other.
     * @return the size of the message, 0 if nothing is pending.
     */
    uint32_t SendPending(std::deque<Participant*>& queue, bool inTurns);

    /** Send the next fragment of the model (UDP). */
    void SendModelFragment();

    /**
     * A participant has answered; the round may end with it.
     * @param participant The participant.
     */
    void SetAnswered(Participant& participant);

    /**
     * Fire UpdateReceived, once.
     * @param participant A participant of whose update something came.
     */
    void ReportUpdate(Participant& participant);

    /** End the round: fuse, evaluate, record. */
    void EndRound();

    /**
     * Fuse what came.
     * @param [in,out] record The round.
     */
    void Fuse(RoundRecord& record);

    /**
     * Say how strong the noise of a link is: on each fragment at the SNR of the frame that brought
     * it, if the noise depends on that.
     * @param [in,out] participant A participant of whose update something came.
     * @param snr Moving average of the SNR of its link; NaN if it is unknown.
     * @param [in,out] update Its update, whose ranges are filled; NaN where the noise is unknown.
     */
    void SetNoise(Participant& participant, double snr, DeliveredUpdate& update) const;

    /**
     * Where the noise of a link is unknown, take the mean of its group, else none.
     * @param [in,out] updates The updates.
     */
    void FillUnknownNoise(std::vector<DeliveredUpdate>& updates) const;

    /**
     * Measure how fast a device sends and delivers.
     * @param participant A participant.
     */
    void MeasureRate(Participant& participant) const;

    /**
     * @param device A device.
     * @param member The same.
     * @return the payload that it delivers per time of its slot, in bit/s: measured, else what its
     * radio sends times Efficiency (with MeasuredSlots), else UplinkRate.
     */
    double GetGoodput(uint32_t device, const Member& member) const;

    /**
     * @param participants How many devices are to take part.
     * @return what is known about the uplink when a round begins.
     */
    BitBudgetContext GetBudgetContext(uint32_t participants) const;

    /**
     * Find B, and how many devices it carries.
     * @param clusters The groups.
     * @return N, or as many as B allows.
     */
    uint32_t FitBudget(const std::vector<ClusterGroup>& clusters);

    /** @return the time that it takes to send the model once. */
    Time GetModelTime() const;

    /**
     * Add the noise of the links to the fused model.
     * @param segments Where how much.
     */
    void AddLinkNoise(const std::vector<FusionSegment>& segments);

    /**
     * Fill what follows from the participants.
     * @param [in,out] record The round.
     */
    void Summarize(RoundRecord& record);

    /** @return the epsilon of one coordinate of one update; NaN if there is none. */
    double GetCoordinateEpsilon() const;

    /**
     * @param device A device.
     * @return what the probe knows about its link.
     */
    LinkQuality GetLinkQuality(uint32_t device) const;

    // Attributes
    Address m_local;                 //!< Where to listen.
    TypeId m_protocol;               //!< UDP or TCP.
    uint32_t m_fragmentSize;         //!< Bytes of a message with our header.
    std::string m_encryptionKey;     //!< Of all messages; empty: none.
    Ptr<LearningTask> m_task;        //!< What is learned.
    Ptr<Quantizer> m_quantizer;      //!< What the devices use.
    Ptr<IntervalRule> m_interval;    //!< What the devices use; null: whatever they say.
    Ptr<FusionRule> m_fusionRule;    //!< Gives the weights.
    Ptr<ClusterSizePolicy> m_policy; //!< Gives the cluster sizes.
    Ptr<BitBudget> m_budget;         //!< B.
    Ptr<LinkNoise> m_noise;          //!< sigma^2.
    Ptr<LinkProbe> m_probe;          //!< What is measured at the radios; may be null.
    LossPolicy m_lossPolicy;         //!< What becomes of missing coordinates.
    std::string m_groupBits;         //!< Resolution of each group.
    uint32_t m_participants;         //!< N.
    uint32_t m_rounds;               //!< T.
    Time m_deadline;                 //!< Longest round.
    uint32_t m_minUpdates;           //!< Fewest updates that are fused.
    DownlinkMode m_downlink;         //!< How the model is sent.
    Address m_multicast;             //!< Where to, by multicast.
    DataRate m_downlinkRate;         //!< Pace of the model (UDP).
    DataRate m_uplinkRate;           //!< What slots are planned with.
    Time m_grantSpacing;             //!< From one grant to the next, and to the model.
    Time m_repairTime;               //!< Planned for repairs of the model.
    bool m_measuredSlots;            //!< Whether slots are as long as devices need.
    double m_efficiency;             //!< Payload against the rate of the radio, at first.
    double m_rateSmoothing;          //!< Weight of a round in the moving averages of rates.
    Time m_guard;                    //!< Between slots, and before the deadline.
    uint32_t m_expected;             //!< Devices to wait for before the first round.
    uint32_t m_maxDevices;           //!< Identifiers must be below.
    Time m_joinTimeout;              //!< Longest wait for them.
    Time m_controlTimeout;           //!< Time before a grant is repeated.
    uint32_t m_controlRetries;       //!< How often.
    uint32_t m_evaluationInterval;   //!< Rounds from one evaluation to the next; 0: never.
    uint32_t m_testSamples;          //!< Test samples to evaluate; 0: all.
    uint32_t m_trainSamples;         //!< Training samples to evaluate; 0: all.

    // State
    bool m_running = false;           //!< Between start and stop.
    std::vector<unsigned> m_bits;     //!< Resolution of each group.
    PrivacyContext m_intervalContext; //!< Whether the interval is public, and its ends.
    Ptr<Socket> m_socket;             //!< Receives, or listens.
    std::map<Ptr<MessageStream>, uint32_t> m_streams; //!< Connections, and whose they are.
    std::map<Address, uint32_t> m_strangers; //!< Connections of an address that did not join.
    std::map<uint32_t, Member> m_members;    //!< By identifier.
    uint32_t m_joined = 0;                   //!< Members that joined.
    MessageCipher m_cipher;                  //!< Encrypts, if there is a key.
    uint32_t m_sequence = 0;                 //!< Last sequence number used.
    std::vector<float> m_model;              //!< w.
    std::vector<float> m_before;             //!< w before the last fusion, should that overflow.
    uint32_t m_round = 0;                    //!< Current round.
    bool m_collecting = false;               //!< Whether a round is going on.
    Time m_roundStart;                       //!< When it began.
    BitBudgetContext m_roundContext;         //!< What was known of the uplink when it began.
    double m_roundBudget = 0;                //!< Its B.
    Time m_lateness;                         //!< How much later than planned somebody had trained
                                             //!< in the last round.
    std::map<uint32_t, std::unique_ptr<Participant>> m_participantsOfRound; //!< By identifier.
    uint32_t m_unanswered = 0;            //!< Participants that have not answered.
    std::vector<Fragment> m_modelPlan;    //!< How the model is cut.
    uint32_t m_modelSequence = 0;         //!< Sequence number of its first message.
    std::size_t m_multicastNext = 0;      //!< Next message to multicast.
    std::deque<Participant*> m_sending;   //!< Participants whose model is being sent.
    std::deque<Participant*> m_repairing; //!< Participants that asked for fragments.
    bool m_repairsTurn = false;           //!< Whether the last message was for a repair.
    EventId m_joinEvent;                  //!< Ends the wait for devices.
    EventId m_roundEvent;                 //!< Starts or ends a round.
    EventId m_sendEvent;                  //!< Sends the next fragment.
    uint32_t m_pacedSize = 0;             //!< Size of the last message that was paced.
    Time m_pacedTime;                     //!< How long it takes at DownlinkRate.
    FederatedHeader m_sent;               //!< Header of the fragment that is being sent.
    FederatedHeader m_received;           //!< Header of the message that is being read.
    uint64_t m_receivedPacket = 0;        //!< Packet that brought it; 0 over TCP.
    DropCounters m_drops{};               //!< What was dropped.
    DropCounters m_dropsBefore{};         //!< What was, until the end of the last round.
    uint32_t m_mostAnswered = 0;          //!< Largest R_u.

    // Trace sources
    TracedCallback<uint32_t, const std::vector<uint32_t>&> m_roundStartTrace; //!< RoundStart.
    TracedCallback<const UpdateRecord&> m_updateReceivedTrace;                //!< UpdateReceived.
    TracedCallback<const RoundRecord&> m_roundEndTrace;                       //!< RoundEnd.
    TracedCallback<uint32_t> m_finishedTrace;                                 //!< Finished.
    TracedCallback<uint32_t, bool> m_memberTrace;                             //!< MembersChanged.
    TracedCallback<DropReason, const Address&, uint32_t> m_dropTrace;         //!< Drop.
    TracedCallback<Ptr<const Packet>> m_txTrace;                              //!< Tx.
};

} // namespace ns3

#endif // FUSION_CENTER_H
