// SPDX-License-Identifier: GPL-2.0-only

#ifndef FEDERATED_DEVICE_H
#define FEDERATED_DEVICE_H

#include "ns3/application.h"
#include "ns3/data-rate.h"
#include "ns3/drop-reason.h"
#include "ns3/event-id.h"
#include "ns3/federated-compat.h"
#include "ns3/federated-header.h"
#include "ns3/fragment-assembler.h"
#include "ns3/fragmentation.h"
#include "ns3/interval-rule.h"
#include "ns3/learning-task.h"
#include "ns3/message-bodies.h"
#include "ns3/message-cipher.h"
#include "ns3/message-stream.h"
#include "ns3/privacy-ledger.h"
#include "ns3/quantizer.h"
#include "ns3/random-variable-stream.h"
#include "ns3/socket-address.h"
#include "ns3/socket.h"
#include "ns3/traced-callback.h"

#include <memory>
#include <string>
#include <vector>

namespace ns3
{

/**
 * @ingroup federated
 * @brief A device that learns: receives the model, trains on its own samples, and sends a clipped,
 * quantized update in the slot that it was granted.
 *
 * @verbatim
             JOIN until acknowledged              LEAVE
   (start) ---------------------------> IDLE ------------> (gone)
                                         | ^
                 GRANT, acknowledged     | | DONE, repeated until acknowledged
          (budget spent: DONE at once)   v |
     +------------------------------> RECEIVING --- incomplete in time ---+
     |  REPAIR for missing fragments     | model complete                 |  DONE (no model)
     +-----------------------------------+                                |
                                         v                                |
                                      TRAINING ---- not finite ---------->+  DONE (not finite)
                                         | simulated end of training      |
                                         v                                |
                                      WAITING ----- deadline over ------->+  DONE (no time)
                                         | slot begins                    |
                                         v                                v
                                      SENDING --------------------------> IDLE
                                         UPDATE fragments, then DONE (sent)
   @endverbatim
 *
 * Over UDP a lost UPDATE fragment is lost; JOIN, LEAVE and DONE are repeated until acknowledged.
 * Over TCP the messages of both directions share one connection; a broken one is opened again, and
 * the device joins anew. Messages from anyone but the center are dropped.
 *
 * Training runs on a thread of the LearningTask from the moment at which the model is complete, and
 * is waited for at its simulated end. An idle device holds no buffer of the size of the model,
 * unless it was told to keep the previous one.
 */
class FederatedDevice : public Application
{
  public:
    /** What a device does whose model is not complete when it would have to train. */
    enum IncompletePolicy
    {
        SIT_OUT,      //!< It sends nothing in this round.
        USE_PREVIOUS, //!< Missing coordinates keep the values of the last model that it had.
    };

    /** What the training of a round will take. */
    struct TrainingPlan
    {
        uint32_t round;   //!< The round.
        uint32_t device;  //!< The device.
        uint32_t samples; //!< Samples of all steps together.
        Time duration;    //!< Simulated time that it will take.
    };

    /** What happened in the training of a round. */
    struct TrainingRecord
    {
        uint32_t round;    //!< The round.
        uint32_t device;   //!< The device.
        double loss;       //!< Mean loss of the batches, each before its step.
        double clipFactor; //!< What the update was multiplied with; 0 if it is not finite.
        Time duration;     //!< Simulated time that it took.
    };

    /** What was sent of an update. */
    struct SentRecord
    {
        uint32_t round;     //!< The round.
        uint32_t device;    //!< The device.
        unsigned bits;      //!< Resolution, b.
        unsigned wireBits;  //!< Bits of a coordinate as sent.
        uint32_t fragments; //!< Fragments sent.
        uint32_t planned;   //!< Fragments of the whole update.
        uint64_t bytes;     //!< Bytes of the messages sent, with our header.
        Time firstSent;     //!< When the first one was sent.
        Time lastSent;      //!< When the last one was sent.
    };

    /**
     * TracedCallback signature of ModelReceived.
     * @param round The round.
     * @param device The device.
     * @param complete Whether no fragment is missing.
     */
    using ModelReceivedTracedCallback = void (*)(uint32_t round, uint32_t device, bool complete);

    /**
     * TracedCallback signature of TrainingStarted.
     * @param plan What it will take.
     */
    using TrainingStartedTracedCallback = void (*)(const TrainingPlan& plan);

    /**
     * TracedCallback signature of TrainingCanceled.
     * @param round The round.
     * @param device The device.
     */
    using TrainingCanceledTracedCallback = void (*)(uint32_t round, uint32_t device);

    /**
     * TracedCallback signature of TrainingDone.
     * @param record What happened.
     */
    using TrainingDoneTracedCallback = void (*)(const TrainingRecord& record);

    /**
     * TracedCallback signature of UpdateSent.
     * @param record What was sent.
     */
    using UpdateSentTracedCallback = void (*)(const SentRecord& record);

    /**
     * TracedCallback signature of Joined.
     * @param device The device.
     */
    using JoinedTracedCallback = void (*)(uint32_t device);

    /**
     * TracedCallback signature of PrivacySpent.
     * @param device The device.
     * @param ledger What it has spent.
     */
    using PrivacySpentTracedCallback = void (*)(uint32_t device, const PrivacyLedger& ledger);

    /**
     * TracedCallback signature of Declined.
     * @param round The round.
     * @param device The device.
     */
    using DeclinedTracedCallback = void (*)(uint32_t round, uint32_t device);

    /**
     * @brief Get the type ID.
     * @return the object TypeId
     */
    static TypeId GetTypeId();

    FederatedDevice();
    ~FederatedDevice() override;

    /** Tell the center that this device takes no further part, and end what it was doing. */
    void Leave();

    /** @return whether the center has acknowledged that the device joined. */
    bool HasJoined() const;

    /**
     * @param reason A reason.
     * @return how many messages were dropped for it.
     */
    uint64_t GetDropped(DropReason reason) const;

    /** @return how long training takes in one round, drawn anew. */
    Time DrawTrainingTime();

    /**
     * @return what is claimed about the privacy of an update at the resolution Bits, by the
     * quantizer and all that is sent along.
     */
    PrivacyClaim GetPrivacyClaim() const;

    /** @return what in its messages depends on the data and is not protected; may be empty. */
    std::vector<std::string> GetSideInformation() const;

    /** @return what the device has spent so far. */
    const PrivacyLedger& GetPrivacyLedger() const;

    /**
     * @param [out] error On failure, one sentence that says what is wrong.
     * @return whether there is no budget, or it limits an epsilon that the device has.
     */
    bool CheckPrivacyBudget(std::string& error) const;

    /** @return how much memory the device holds for models and updates now, in bytes. */
    std::size_t GetBufferedBytes() const;

    /**
     * Fix the random streams in use.
     * @param stream First stream number.
     * @return how many streams were used.
     */
    int64_t AssignStreams(int64_t stream) FEDERATED_OVERRIDES_SINCE_3_42;

  protected:
    void DoDispose() override;

  private:
    /** Where a session stands. */
    enum Phase
    {
        RECEIVING,
        TRAINING,
        WAITING,
        SENDING,
    };

    /** The part of a device in one round: all memory of the size of a model is here. */
    struct Session
    {
        /**
         * @param dimension d.
         */
        explicit Session(std::size_t dimension)
            : model(dimension, Quantizer::FLOAT_BITS)
        {
        }

        Phase phase = RECEIVING;             //!< Where it stands.
        uint32_t round = 0;                  //!< The round.
        unsigned bits = 0;                   //!< Granted resolution, b.
        unsigned wireBits = 0;               //!< Bits of a coordinate as sent.
        uint32_t modelFragments = 0;         //!< Fragments of the model.
        Time modelEnd;                       //!< When the center will have sent the model.
        Time slotStart;                      //!< When the slot begins.
        Time slotLength;                     //!< How long it is.
        Time deadline;                       //!< When it is too late.
        Time trainingTime;                   //!< How long training takes, drawn for this round.
        FragmentAssembler model;             //!< What came of the model.
        Time lastModelFragment;              //!< When the last fragment came.
        std::shared_ptr<LocalUpdate> update; //!< Training, and what it made.
        WorkerPool::Ticket ticket = 0;       //!< Of the training.
        std::vector<Fragment> fragments;     //!< Of the update.
        std::size_t next = 0;                //!< Next fragment to send.
        Time sendStart;                      //!< When sending began.
        SentRecord sent{};                   //!< What was sent.
    };

    void StartApplication() override;
    void StopApplication() override;

    /** Open the socket (UDP), or connect (TCP). */
    void Open();

    /** Close the sockets. */
    void Close();

    /**
     * The TCP connection is there.
     * @param socket The socket.
     */
    void HandleConnected(Ptr<Socket> socket);

    /**
     * The TCP connection could not be made.
     * @param socket The socket.
     */
    void HandleNotConnected(Ptr<Socket> socket);

    /**
     * The TCP connection ended.
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
     * A message came from the center.
     * @param message The message.
     * @param size Its size.
     * @param from Its sender.
     */
    void HandleMessage(const uint8_t* message, uint32_t size, const Address& from);

    /**
     * @param header Header of a grant.
     * @param payload Its body.
     * @return why it is dropped, DROP_REASONS if it is not.
     */
    DropReason HandleGrant(const FederatedHeader& header, const uint8_t* payload);

    /**
     * @param header Header of a part of the model.
     * @param payload Its coordinates.
     * @return why it is dropped, DROP_REASONS if it is not.
     */
    DropReason HandleModel(const FederatedHeader& header, const uint8_t* payload);

    /**
     * @param header Header of an acknowledgment.
     * @param payload Its body.
     * @return why it is dropped, DROP_REASONS if it is not.
     */
    DropReason HandleAck(const FederatedHeader& header, const uint8_t* payload);

    /**
     * Count and trace a message that is not used.
     * @param reason Why.
     * @param from Its sender.
     * @param size Its size.
     */
    void Drop(DropReason reason, const Address& from, uint32_t size);

    /**
     * Make a delay longer by a random part of it: devices that lost the same frame would else ask
     * for it at the same time, again and again.
     * @param delay The delay.
     * @return up to one and a half times as much.
     */
    Time Spread(const Time& delay);

    /**
     * Send a control message until it is acknowledged; it takes the place of an earlier one.
     * @param header Its header; the sequence number is set here.
     * @param body Its body.
     * @param size Size of the body.
     */
    void SendControl(FederatedHeader header, const uint8_t* body, std::size_t size);

    /** Send the control message that waits for its acknowledgment, once more. */
    void RepeatControl();

    /** Send a JOIN. */
    void Join();

    /** @return the bytes of the largest message, before it is encrypted. */
    uint32_t GetRoom() const
    {
        return m_fragmentSize - m_cipher.GetOverhead();
    }

    /**
     * Send a message to the center.
     * @param header Its header, which is sealed here.
     * @param payload What follows.
     * @param size Size of the payload.
     * @return the size of the message.
     */
    uint32_t Send(FederatedHeader& header, const uint8_t* payload, std::size_t size);

    /**
     * @param bits Resolution of an update, b.
     * @return what is claimed about its privacy.
     */
    PrivacyClaim GetPrivacyClaim(unsigned bits) const;

    /** @param delta Of the ledger. */
    void SetPrivacyDelta(double delta);

    /** @return delta of the ledger. */
    double GetPrivacyDelta() const;

    /**
     * Enter an update into a ledger.
     * @param bits Its resolution, b.
     * @param [in,out] ledger The ledger.
     */
    void Enter(unsigned bits, PrivacyLedger& ledger) const;

    /**
     * @param bits Resolution of an update, b.
     * @return whether the budget allows it.
     */
    bool CanAfford(unsigned bits) const;

    /** Ask for missing fragments of the model, now and then. */
    void Repair();

    /** The model is not complete, and training would have to begin now. */
    void GiveUpOnModel();

    /** Begin to train. */
    void Train();

    /** Training has ended. */
    void FinishTraining();

    /** Send the next fragment, or all of them over TCP. */
    void SendUpdate();

    /**
     * Send a fragment of the update.
     * @param index Its index.
     */
    void SendFragment(std::size_t index);

    /** Over TCP the socket has taken all fragments, or time is over. */
    void EndUpdate();

    /**
     * EndUpdate, as a stream calls it.
     * @param stream The connection.
     */
    void HandleDrained(Ptr<MessageStream> stream);

    /**
     * Tell the center that nothing more comes in this round.
     * @param outcome Why.
     */
    void Report(RoundOutcome outcome);

    /**
     * End the session: training is waited for, buffers are released, and UpdateSent tells what was
     * sent.
     * @return how many fragments of the update were sent.
     */
    uint32_t EndSession();

    // Attributes
    uint32_t m_id;                 //!< Device identifier.
    uint32_t m_group;              //!< Group of devices with the same resolution.
    uint32_t m_bits;               //!< Resolution that it asks for, b.
    Address m_remote;              //!< The center.
    Address m_local;               //!< Where to receive (UDP); any port if it is not set.
    bool m_enrolled;               //!< Whether it need not join.
    Address m_uplinkGroup;         //!< Where to send instead of to the center; may be invalid.
    Address m_multicast;           //!< Where models come in by multicast; none if invalid.
    TypeId m_protocol;             //!< UDP or TCP.
    uint32_t m_fragmentSize;       //!< Bytes of a message with our header.
    std::string m_encryptionKey;   //!< Of all messages; empty: none.
    Ptr<LearningTask> m_task;      //!< What is learned.
    Ptr<Quantizer> m_quantizer;    //!< Makes the payload.
    Ptr<IntervalRule> m_interval;  //!< Its interval or intervals.
    ClipNorm m_clipNorm;           //!< The norm that is clipped.
    double m_clipBound;            //!< C.
    uint32_t m_steps;              //!< L.
    uint32_t m_batchSize;          //!< Samples of a step.
    double m_learningRate;         //!< eta_0.
    double m_learningRateDecay;    //!< How fast it falls.
    bool m_reportDistortion;       //!< Whether the exact distortion is sent along.
    IncompletePolicy m_incomplete; //!< What to do without a complete model.
    double m_budget;               //!< Largest epsilon; 0: any.
    PrivacyEpsilon m_budgetOf;     //!< Which epsilon that is.
    Ptr<RandomVariableStream> m_timePerSample; //!< Seconds of training for one sample.
    Time m_repairDelay;                        //!< Silence before missing fragments are asked for.
    Time m_controlTimeout;                     //!< Time before a control message is repeated.
    uint32_t m_controlRetries;                 //!< How often a DONE or LEAVE is repeated.

    // State
    Ptr<UniformRandomVariable> m_jitter; //!< Spreads delays.
    bool m_running = false;              //!< Between start and stop.
    bool m_joined = false;               //!< The center knows the device.
    bool m_leaving = false;              //!< The device left.
    SocketAddress m_center;              //!< The center.
    Address m_centerAddress;             //!< The same, as sockets give it: the quick comparison.
    Ptr<Socket> m_socket;                //!< UDP, or TCP while it connects.
    Ptr<Socket> m_multicastSocket;       //!< UDP, for models.
    Ptr<MessageStream> m_stream;         //!< TCP.
    MessageCipher m_cipher;              //!< Encrypts, if there is a key.
    uint32_t m_sequence = 0;             //!< Last sequence number of a control message: fewer than
                                         //!< one a millisecond, so that the next life begins above.
    uint32_t m_fragmentSequence = 0;     //!< Last sequence number of a fragment.
    bool m_granted = false;              //!< Whether a grant ever came.
    uint32_t m_lastGrant = 0;            //!< Its sequence number.
    uint32_t m_lastRound = 0;            //!< Its round.
    std::unique_ptr<Session> m_session;  //!< The current round, if the device takes part.
    std::vector<float> m_previous;       //!< The last model, if it is to be kept.
    uint32_t m_lastStream = 0;           //!< Number of the random streams of the last update.
    PrivacyLedger m_ledger;              //!< What was spent, in all lives of the device.
    FederatedHeader m_fragmentHeader;    //!< Header of the fragment that is being sent.
    FederatedHeader m_received;          //!< Header of the message that is being read.
    FederatedHeader m_control;           //!< The control message that waits for its
                                         //!< acknowledgment.
    std::vector<uint8_t> m_controlBody;  //!< Its body.
    uint32_t m_controlTries = 0;         //!< How often it was sent; 0 if none waits.
    EventId m_controlEvent;              //!< Sends it again.
    EventId m_openEvent;                 //!< Connects again.
    EventId m_sessionEvent;              //!< The next step of the session.
    EventId m_repairEvent;               //!< Asks for missing fragments.
    EventId m_giveUpEvent;               //!< Gives up on the model, or ends sending.
    DropCounters m_drops{};              //!< What was dropped.

    // Trace sources
    TracedCallback<uint32_t> m_joinedTrace;                           //!< Joined.
    TracedCallback<uint32_t, uint32_t, bool> m_modelReceivedTrace;    //!< ModelReceived.
    TracedCallback<const TrainingPlan&> m_trainingStartedTrace;       //!< TrainingStarted.
    TracedCallback<uint32_t, uint32_t> m_trainingCanceledTrace;       //!< TrainingCanceled.
    TracedCallback<const TrainingRecord&> m_trainingDoneTrace;        //!< TrainingDone.
    TracedCallback<const SentRecord&> m_updateSentTrace;              //!< UpdateSent.
    TracedCallback<uint32_t, const PrivacyLedger&> m_spentTrace;      //!< PrivacySpent.
    TracedCallback<uint32_t, uint32_t> m_declinedTrace;               //!< Declined.
    TracedCallback<DropReason, const Address&, uint32_t> m_dropTrace; //!< Drop.
    TracedCallback<Ptr<const Packet>> m_txTrace;                      //!< Tx.
};

} // namespace ns3

#endif // FEDERATED_DEVICE_H
