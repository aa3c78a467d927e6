// SPDX-License-Identifier: GPL-2.0-only

#ifndef FEDERATED_DEVICE_H
#define FEDERATED_DEVICE_H

#include "ns3/application.h"
#include "ns3/drop-reason.h"
#include "ns3/event-id.h"
#include "ns3/federated-compat.h"
#include "ns3/federated-header.h"
#include "ns3/interval-rule.h"
#include "ns3/learning-task.h"
#include "ns3/message-bodies.h"
#include "ns3/message-tampering.h"
#include "ns3/privacy-ledger.h"
#include "ns3/quantizer.h"
#include "ns3/random-variable-stream.h"
#include "ns3/sent-record.h"
#include "ns3/traced-callback.h"
#include "ns3/update-preparation.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ns3
{

namespace federated
{
class CenterLink;
class ControlRetry;
class DeviceSession;
class DeviceTraining;
class UpdateSender;
struct DeviceAccount;
struct PrivacyExpense;
struct PrivacyLimit;
} // namespace federated

/**
 * @ingroup federated
 * @brief A device that learns: receives the model, trains on its own samples, and sends a clipped,
 * quantized update in the slot that it was granted.
 *
 * @verbatim
             JOIN until acknowledged              LEAVE             Join()
   (start) ---------------------------> IDLE ------------> (gone) -----------> (start)
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
 * Over UDP UPDATE fragments are not retransmitted; JOIN, LEAVE and DONE are, until acknowledged.
 * Over TCP the messages of both directions share one connection; a broken one is opened again, and
 * the device joins again. Messages of other senders than the center are dropped.
 *
 * Training starts on a thread of the LearningTask when the model is complete; the simulator waits
 * for it at its simulated end. An idle device holds no buffer of the size of the model, unless
 * IncompleteModel makes it keep the previous one.
 */
class FederatedDevice : public Application
{
  public:
    /** What a device does if its model is not complete when it has to train. */
    enum IncompletePolicy
    {
        SIT_OUT,      //!< It sends nothing in this round.
        USE_PREVIOUS, //!< Missing coordinates keep the values of the last model that it had.
    };

    /** Planned training of a round. */
    struct TrainingPlan
    {
        uint32_t round;   //!< The round.
        uint32_t device;  //!< The device.
        uint32_t samples; //!< Samples of all steps together.
        Time duration;    //!< Simulated time that it will take.
    };

    /** Result of the training of a round. */
    struct TrainingRecord
    {
        uint32_t round;    //!< The round.
        uint32_t device;   //!< The device.
        double loss;       //!< Mean loss of the batches, each before its step.
        double clipFactor; //!< Factor of the update by clipping; 0 if it is not finite.
        Time duration;     //!< Simulated time that it took.
    };

    using SentRecord = ns3::SentRecord; //!< What was sent of an update.

    /**
     * TracedCallback signature of ModelReceived.
     * @param round The round.
     * @param device The device.
     * @param complete Whether no fragment is missing.
     */
    using ModelReceivedTracedCallback = void (*)(uint32_t round, uint32_t device, bool complete);

    /**
     * TracedCallback signature of TrainingStarted.
     * @param plan The planned training.
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
     * @param record The result.
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
     * TracedCallback signature of LinkNeeded.
     * @param device The device.
     * @param needed Whether it needs its link.
     */
    using LinkNeededTracedCallback = void (*)(uint32_t device, bool needed);

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

    /**
     * Leave the federation: tell the center, and end the current round. The center does not select
     * the device again until it joins again.
     */
    void Leave();

    /**
     * Join the federation again after Leave(): the center may select the device from the next round
     * on. Nothing happens if the device has not left. An enrolled device cannot join again.
     */
    void Join();

    /** @return whether the center has acknowledged that the device joined. */
    bool HasJoined() const;

    /** @return whether the application has started, and has neither stopped nor left. */
    bool IsRunning() const;

    /** @return whether it waits for the acknowledgment of its LEAVE. */
    bool IsLeaving() const;

    /** @return the round of the last grant that it accepted; 0 before the first. */
    uint32_t GetLastRound() const;

    /** @return when it accepted that grant; 0 before the first. */
    Time GetLastGrantTime() const;

    /**
     * @param reason A reason.
     * @return how many messages were dropped for this reason.
     */
    uint64_t GetDropped(DropReason reason) const;

    /** @return the number of the part of the data that is its own, in the split of the Task. */
    uint32_t GetShare() const;

    /** @return how long training takes in one round, drawn anew; at most Time::Max() / 4. */
    Time DrawTrainingTime();

    /**
     * Replace the training, before the device starts. By default it trains on its own samples. A
     * device that does not, such as an edge, has no Steps and BatchSize.
     * @param training Does the training.
     */
    void SetTraining(std::unique_ptr<federated::DeviceTraining> training);

    /**
     * Report the level of a battery to the center, in JOIN and DONE.
     * @param level Returns it, 0 to 1; NaN if it is unknown.
     */
    void SetBattery(std::function<double()> level);

    /**
     * @return the privacy claim of an update at the resolution Bits, side information included.
     */
    PrivacyClaim GetPrivacyClaim() const;

    /**
     * @return the parts of its messages that depend on the data without protection; may be empty.
     */
    std::vector<std::string> GetSideInformation() const;

    /**
     * @return the privacy that the device has spent so far. Once it has started, that includes what
     * other applications have spent with the same Task and DeviceId in this simulation.
     */
    const PrivacyLedger& GetPrivacyLedger() const;

    /**
     * @param [out] error On failure, one sentence that says what is wrong.
     * @return whether there is no budget, or it limits an epsilon that the device has.
     */
    [[nodiscard]] bool CheckPrivacyBudget(std::string& error) const;

    /**
     * @return how much memory the device holds for models and updates now, in bytes. A model that
     * it keeps (IncompleteModel) is shared with all devices that keep the same one.
     */
    std::size_t GetBufferedBytes() const;

    /**
     * Fix the random streams in use.
     * @param stream First stream number.
     * @return how many streams were used.
     */
    int64_t AssignStreams(int64_t stream) FEDERATED_OVERRIDES_SINCE_3_42;

  protected:
    void DoDispose() override;
    // A child may stop the application and start it again, as a model of churn does.
    void StartApplication() override;
    void StopApplication() override;

  private:
    /**
     * @param bits Resolution of an update, b.
     * @param round Its round, which selects rotation and order.
     * @return how it is prepared.
     */
    UpdateSettings GetSettings(unsigned bits, uint32_t round = 0) const;

    /** The configuration that an update is encoded with, and what is claimed about it then. */
    struct Encoding;

    /**
     * @param settings How an update is prepared.
     * @return its privacy cost.
     */
    federated::PrivacyExpense GetExpense(const UpdateSettings& settings) const;

    /** @return the largest epsilon that the device may spend. */
    federated::PrivacyLimit GetLimit() const;

    /** Abort if DeviceKey cannot be used. */
    void CheckDeviceKey() const;

    /** Decline the grant: answering it would exceed the privacy budget. */
    void Decline();

    /** The first fragment is about to be sent: enter the update into the ledger. */
    void SpendPrivacy();

    /** @param delta Of the ledger. */
    void SetPrivacyDelta(double delta);

    /** @return delta of the ledger. */
    double GetPrivacyDelta() const;

    /**
     * Check the type of a message before it is read.
     * @param type The type.
     * @return why it is dropped, if it is.
     */
    std::optional<DropReason> Screen(uint8_t type) const;

    /**
     * @param header Header of a grant.
     * @return why it is dropped, if it is.
     */
    std::optional<DropReason> CheckGrant(const FederatedHeader& header) const;

    /**
     * Begin a round.
     * @param header Header of its grant.
     * @param body Its body.
     */
    void StartSession(const FederatedHeader& header, const GrantBody& body);

    /**
     * @param header Header of a part of the model.
     * @param payload Its coordinates.
     * @return why it is dropped, if it is.
     */
    std::optional<DropReason> HandleModel(const FederatedHeader& header, const uint8_t* payload);

    /**
     * Request missing fragments of the model, if none was received for RepairDelay.
     * @return how much of the next wait has passed already.
     */
    Time AskForRepair();

    /**
     * If a page names the device, it needs its link until it has a grant, the round is over, or a
     * page of another round does not name it.
     * @param header The header of the page.
     * @param until When the round ends at the latest.
     * @param isNamed Whether the page names the device.
     */
    void HandlePage(const FederatedHeader& header, const Time& until, bool isNamed);

    /** The model is not complete, but training has to begin now. */
    void GiveUpOnModel();

    /** Begin to train. */
    void Train();

    /** Training has ended. */
    void FinishTraining();

    /** Fire LinkNeeded, if that has changed. */
    void UpdateNeed();

    /**
     * End the session, and send DONE to the center.
     * @param outcome Why.
     */
    void Report(RoundOutcome outcome);

    /**
     * End the session: training is canceled, buffers are released, and UpdateSent reports the sent
     * fragments.
     * @return what was sent of the update.
     */
    SentRecord EndSession();

    // Attributes
    uint32_t m_id;                 //!< Device identifier.
    uint32_t m_share;              //!< Which part of the data is its own; NO_SHARE: that of m_id.
    uint32_t m_group;              //!< Group of devices with the same resolution.
    uint32_t m_bits;               //!< Resolution that it asks for, b.
    Address m_remote;              //!< The center.
    Address m_local;               //!< Where to receive (UDP); any port if it is not set.
    bool m_enrolled;               //!< Whether it need not join.
    Address m_uplinkGroup;         //!< Destination instead of the center; may be invalid.
    Address m_multicast;           //!< Multicast group of the models; none if invalid.
    TypeId m_protocol;             //!< UDP or TCP.
    uint32_t m_fragmentSize;       //!< Bytes of a message with our header.
    std::string m_deviceKey;       //!< Keys that protect all messages; empty: none.
    Ptr<LearningTask> m_task;      //!< What is learned.
    Ptr<Quantizer> m_quantizer;    //!< Encodes the payload.
    Ptr<IntervalRule> m_interval;  //!< Its interval or intervals.
    ClipNorm m_clipNorm;           //!< The norm that is clipped.
    double m_clipBound;            //!< C.
    uint32_t m_steps;              //!< L.
    uint32_t m_batchSize;          //!< Samples of a step.
    double m_learningRate;         //!< eta_0.
    double m_learningRateDecay;    //!< How fast it falls.
    bool m_reportDistortion;       //!< Whether the exact distortion is reported.
    bool m_rotation;               //!< Whether updates are rotated.
    bool m_interleave;             //!< Whether updates are interleaved.
    IncompletePolicy m_incomplete; //!< What to do without a complete model.
    double m_budget;               //!< Largest epsilon; 0: any.
    PrivacyEpsilon m_budgetOf;     //!< Which epsilon that is.
    double m_delta;                //!< delta of the ledger.
    Ptr<RandomVariableStream> m_timePerSample; //!< Seconds of training for one sample.
    Time m_repairDelay;                        //!< Time before missing fragments are requested.
    Time m_controlTimeout;                     //!< Time before a control message is repeated.
    uint32_t m_controlRetries;                 //!< How often a DONE or LEAVE is repeated.
    Time m_centerTimeout;                      //!< Longest silence before it joins again; 0: any.
    bool m_leaveOnStop;                        //!< Whether it tells the center that it stops.
    Ptr<MessageTampering> m_tampering;         //!< Changes its messages; null: an honest device.

    // State
    Ptr<UniformRandomVariable> m_jitter;                  //!< Spreads delays.
    std::function<double()> m_battery;                    //!< Level of the battery; may be empty.
    uint32_t m_lastRound = 0;                             //!< Of the last accepted grant.
    Time m_lastGrant;                                     //!< When that was.
    bool m_needsLink = false;                             //!< What LinkNeeded said last.
    std::shared_ptr<const std::vector<float>> m_previous; //!< The last model, if it is to be kept.
    EventId m_pageEvent;                                  //!< Ends the wait for a grant that a page
                                                          //!< announced.
    uint32_t m_pagedRound = 0;                            //!< The round of that page.
    std::optional<uint32_t> m_lastPage;                   //!< Its sequence number.
    EventId m_giveUpEvent;                                //!< Gives up on the model.
    std::unique_ptr<federated::CenterLink> m_link;        //!< Speaks to the center.
    std::unique_ptr<federated::ControlRetry> m_repair;    //!< Asks for missing fragments.
    std::unique_ptr<federated::UpdateSender> m_sender;    //!< Sends the update.
    std::shared_ptr<federated::DeviceAccount> m_account;  //!< Ledger and streams of its identity.
    std::unique_ptr<Encoding> m_encoding;                 //!< Of the update of the session.
    bool m_left = false;           //!< Whether it left, and has not joined again.
    bool m_isTrainingLocal = true; //!< Whether the device trains on its own samples.
    std::unique_ptr<federated::DeviceTraining> m_training; //!< Does the training.
    std::unique_ptr<federated::DeviceSession> m_session;   //!< The current round, if the device
                                                           //!< takes part.

    // Trace sources
    TracedCallback<uint32_t> m_joinedTrace;                           //!< Joined.
    TracedCallback<uint32_t, bool> m_linkNeededTrace;                 //!< LinkNeeded.
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
