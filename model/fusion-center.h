// SPDX-License-Identifier: GPL-2.0-only

#ifndef FUSION_CENTER_H
#define FUSION_CENTER_H

#include "ns3/application.h"
#include "ns3/bit-budget.h"
#include "ns3/cluster-size-policy.h"
#include "ns3/data-rate.h"
#include "ns3/drop-reason.h"
#include "ns3/event-id.h"
#include "ns3/federated-compat.h"
#include "ns3/federated-header.h"
#include "ns3/fusion-rule.h"
#include "ns3/interval-rule.h"
#include "ns3/learning-task.h"
#include "ns3/link-noise.h"
#include "ns3/link-probe.h"
#include "ns3/public-rotation.h"
#include "ns3/quantizer.h"
#include "ns3/round-record.h"
#include "ns3/selection-policy.h"
#include "ns3/traced-callback.h"
#include "ns3/update-aggregator.h"
#include "ns3/update-fusion.h"
#include "ns3/update-limits.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ns3
{

namespace federated
{
class DeviceRegistrar;
class DeviceRoster;
class MessageEndpoint;
class RoundExchange;
class UplinkMeter;
struct PlannedSlot;
struct ReceivedMessage;
struct RoundPlan;
} // namespace federated

/**
 * @ingroup federated
 * @brief The center of a federation: selects devices, sends them the model, collects their updates,
 * fuses the received coordinates and evaluates the result (Algorithm 1).
 *
 * @verbatim
             all expected devices joined, or JoinTimeout
   JOINING ------------------------------------------------> START OF A ROUND <-------------+
   (devices may also join and leave at any later time)         | cluster sizes, selection   |
                                                               | no device: skipped when    |
                                                               | one joins, or at deadline -+
                                                               v                            |
        +------------------------------------------------ COLLECTING                        |
        |  GRANT to each selected, repeated until          | all answered, or deadline      |
        |  acknowledged; MODEL, paced; REPAIR              v                                |
        +------------------------------------------->   FUSION (too few updates: skipped)   |
                                                           | evaluation, RoundEnd           |
                                                           +--------------------------------+
                                                           | after the last round
                                                           v
                                          FINISHED; with OnRequest: until RunRounds() asks for more
   @endverbatim
 *
 * The application keeps the order of a round; its parts do the work: MessageEndpoint (sockets),
 * DeviceRoster (joined devices), PlanRound (budget, devices, slots), RoundExchange (grants, model,
 * updates), UpdateFuser and UplinkMeter. No received message can make the center abort:
 * a message that cannot be used is dropped, counted by reason and traced.
 */
class FusionCenter : public Application
{
  public:
    /** How the model is sent to the selected devices. */
    enum DownlinkMode
    {
        UNICAST,   //!< To each selected device, one after the other.
        MULTICAST, //!< Once, to a multicast group (UDP).
        GROUP,     //!< Like all messages, to a group or broadcast address (UDP).
    };

    using UpdateRecord = ns3::UpdateRecord; //!< The received part of an update.

    /** What rounds on request have come to. */
    struct RoundsOutcome
    {
        uint32_t rounds = 0; //!< Rounds that ended.
        uint32_t fused = 0;  //!< Those that changed the model.
        bool noTime = false; //!< Whether there was no time for more of them.
        double error = 0;    //!< Expected squared error of a coordinate of the model, by
                             //!< quantization and links, summed over them.
    };

    /** Rounds that are asked for (OnRequest). */
    struct RoundsRequest
    {
        std::vector<float> model; //!< w to begin with, d coordinates.
        /** Number of the round before the first. Rounds of requests in a row follow each other; a
         * request whose rounds end before that of an earlier one begins anew. */
        uint32_t before = 0;
        uint32_t rounds = 1; //!< How many, at the most.
        Time latest;         //!< When the last one ends at the latest.
        /** Called once, in a later event, unless CancelRounds() is called or the center stops. */
        std::function<void(const RoundsOutcome&)> done;
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
     * @param record The received part of the update.
     */
    using UpdateReceivedTracedCallback = void (*)(const UpdateRecord& record);

    /**
     * TracedCallback signature of MembersChanged.
     * @param device The device.
     * @param joined Whether it joined or left.
     */
    using MemberTracedCallback = void (*)(uint32_t device, bool joined);

    /**
     * TracedCallback signature of UpdateStarted.
     * @param round The round.
     * @param device The device.
     */
    using UpdateStartedTracedCallback = void (*)(uint32_t round, uint32_t device);

    /**
     * TracedCallback signature of Running.
     * @param running Whether the center has started, or has stopped.
     */
    using RunningTracedCallback = void (*)(bool running);

    /**
     * TracedCallback signature of Finished.
     * @param rounds How many rounds the run had.
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
     * Reserve an identifier for the IP address from which a device will join; a JOIN from another
     * address is dropped.
     * @param device The device.
     * @param ip Its IPv4 or IPv6 address, without port.
     * @param isVisitor Whether it may go away without a word: then it counts as left after
     * VisitorTimeout.
     */
    void BindDevice(uint32_t device, const Address& ip, bool isVisitor = false);

    /**
     * Enroll a device, which then need not join (UDP). Set its attribute Enrolled, too.
     * @param device The device.
     * @param address Its address and port.
     * @param group Its group.
     * @param training How long it trains.
     * @param samples How many training samples it has; 0: unknown.
     */
    void Enroll(uint32_t device,
                const Address& address,
                uint32_t group,
                const Time& training,
                uint32_t samples = 0);

    /**
     * Derive what a device needs to know to take part in a federation whose messages are protected.
     * @param device The device.
     * @return the value of its attribute DeviceKey; empty without EncryptionKey. EncryptionKey and
     * Federation must have been set before.
     */
    std::string GetDeviceKey(uint32_t device) const;

    /** @return the model w, d coordinates. */
    const std::vector<float>& GetModel() const
    {
        return m_model;
    }

    /**
     * Begin with a given model instead of a random one.
     *
     * Draws depend on the round: a run that continues another one counts its rounds on, else it
     * would draw the same devices, batches and coins again. Policies that take turns or draw one
     * after the other are asked for the plans of the earlier rounds, too, as if the devices that
     * have joined now had been there.
     * @param model d coordinates.
     * @param before Rounds that it has behind it; the first round is the next one.
     */
    void SetModel(std::vector<float> model, uint32_t before = 0);

    /**
     * Run rounds from a given model, and then pause (OnRequest). They begin when the devices have
     * joined, and end early if no device is left or no time. A request takes the place of an
     * earlier one.
     * @param request The rounds.
     * @return whether the center is running; if not, nothing happens.
     */
    [[nodiscard]] bool RunRounds(RoundsRequest request);

    /** Cancel what RunRounds() asked for: the round that has begun ends at once. */
    void CancelRounds();

    /**
     * @return whether the center begins with a given model: what devices spent for it is unknown.
     */
    bool IsContinued() const
    {
        return !m_firstModel.empty();
    }

    /** @return the rounds that the given model has behind it; 0: none, or not known. */
    uint32_t GetRoundsBefore() const
    {
        return m_before;
    }

    /** @return the current or last round; before the first GetRoundsBefore(). */
    uint32_t GetRound() const
    {
        return m_round;
    }

    /** @return how many devices have joined and not left. */
    uint32_t GetJoined() const;

    /** @return how many samples these devices have together, as they say. */
    uint32_t GetSamples() const;

    /** @return whether the application has started, and has not stopped. */
    bool IsRunning() const;

    /**
     * @param reason A reason.
     * @return how many messages were dropped for this reason.
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
    // A child may stop the application and start it again, as a model of churn does.
    void StartApplication() override;
    void StopApplication() override;

  private:
    /** Stop everything, without a message. */
    void Halt();

    /** Abort with a sentence if attributes are invalid. */
    void CheckAttributes();

    /** Configure the parts from the attributes, and open the socket. */
    void SetUpParts();

    /**
     * A message was received.
     * @param message The message.
     * @return why it is dropped, if it is.
     */
    std::optional<DropReason> HandleMessage(const federated::ReceivedMessage& message);

    /**
     * A device has joined.
     * @param device The device.
     */
    void HandleJoined(uint32_t device);

    /**
     * A device has left, or its connection broke.
     * @param device The device.
     */
    void HandleLeft(uint32_t device);

    /** A device has joined in a round that began without any: the next one begins soon. */
    void EndEmptyRound();

    /** The devices have joined, or the wait for them is over. */
    void EndJoining();

    /**
     * Set when a round starts or ends, instead of what was scheduled.
     * @param wait The time until then.
     * @param step What happens then.
     */
    void ScheduleRound(const Time& wait, void (FusionCenter::*step)());

    /** Begin the next round, if there is one. */
    void Continue();

    /** @return when a round may begin, not before now. */
    Time GetNextStart() const;

    /** @return whether another round is to begin. */
    bool HasNextRound() const;

    /** Tell who asked for rounds that they are over. */
    void AnswerRequest();

    /** @return the seed of the center's own draws. */
    uint64_t GetSeed() const;

    /** Bring policies to where they would be after the rounds of the run that is continued. */
    void RepeatPlans();

    /** Begin a round: select the devices, page them, and give their radios time to wake. */
    void StartRound();

    /** Send grants and the model to the selected devices. */
    void StartExchange();

    /** @return how many coordinates of an update are encoded and sent: d, or P if it is rotated. */
    std::size_t GetEncodedSize() const;

    /** @return the public numbers that limit updates. */
    federated::UpdateLimits::Terms GetUpdateTerms() const;

    /** @return the plan of the round that begins now. */
    federated::RoundPlan PlanNextRound();

    /**
     * @param slots The slots of the round that begins now, in their order.
     * @return when the last one ends that is waited for under Patience.
     */
    Time GetPlanEnd(const std::vector<federated::PlannedSlot>& slots) const;

    /**
     * A participant has answered. If all have, the round ends; if all but a few, soon.
     * @param unanswered How many have not.
     */
    void HandleAnswered(uint32_t unanswered);

    /** End the round: fuse, evaluate, record. */
    void EndRound();

    /** Fuse the received updates, and record the links. */
    void Fuse();

    /** Evaluate the model, if EvaluationInterval asks for it. */
    void Evaluate();

    // Attributes
    Address m_local;                    //!< Where to listen.
    TypeId m_protocol;                  //!< UDP or TCP.
    uint32_t m_fragmentSize;            //!< Bytes of a message with our header.
    std::string m_encryptionKey;        //!< Key of the federation; empty: none.
    uint32_t m_federation;              //!< Its number among those with the same key.
    uint32_t m_cell;                    //!< Its number among those that share the task.
    Ptr<LearningTask> m_task;           //!< What is learned.
    Ptr<Quantizer> m_quantizer;         //!< Quantizer of the devices.
    Ptr<IntervalRule> m_interval;       //!< Interval rule of the devices; may be null.
    ClipNorm m_clipNorm;                //!< Norm that the devices clip.
    double m_clipBound;                 //!< C, if they do.
    double m_maxCoordinate;             //!< Largest magnitude of a coordinate, if they do not.
    bool m_rotation;                    //!< Whether the devices rotate their updates.
    bool m_interleave;                  //!< Whether the devices interleave their updates.
    Ptr<FusionRule> m_fusionRule;       //!< Computes the weights.
    Ptr<UpdateAggregator> m_aggregator; //!< Combines the updates.
    Ptr<ClusterSizePolicy> m_policy;    //!< Chooses the cluster sizes.
    Ptr<SelectionPolicy> m_selector;    //!< Chooses the devices of each group.
    Ptr<BitBudget> m_budget;            //!< B.
    Ptr<LinkNoise> m_noise;             //!< sigma^2.
    Ptr<LinkProbe> m_probe;             //!< Measures links at the radios; may be null.
    LossPolicy m_lossPolicy;            //!< How missing coordinates count.
    std::string m_groupBits;            //!< Resolution of each group.
    uint32_t m_participants;            //!< N.
    uint32_t m_rounds;                  //!< T.
    bool m_onRequest;                   //!< Whether rounds begin only if they are asked for.
    Time m_deadline;                    //!< Longest round.
    uint32_t m_minUpdates;              //!< Fewest updates that are fused.
    DownlinkMode m_downlink;            //!< How the model is sent.
    Address m_multicast;                //!< Multicast group.
    DataRate m_downlinkRate;            //!< Pace of the model (UDP).
    DataRate m_uplinkRate;              //!< Rate that slots are planned with.
    Time m_grantSpacing;                //!< From one grant to the next, and to the model.
    Time m_repairTime;                  //!< Planned for repairs of the model.
    bool m_measuredSlots;               //!< Whether slots are as long as devices need.
    double m_efficiency;                //!< Payload against the rate of the radio, at first.
    double m_rateSmoothing;             //!< Weight of a round in the moving averages of rates.
    double m_slowestShare;              //!< Of the devices, which cannot slow down the others.
    double m_longestSlot;               //!< Limit of a slot, against that of the median rate.
    double m_patience;                  //!< Limit of a round, against the time most devices took.
    uint32_t m_maxRepairs;              //!< Models that are sent again to a device in a round.
    uint32_t m_maxReplies;              //!< Answers to control messages of a device in a round.
    Time m_wakeTime;                    //!< From the selection to the first grant.
    Time m_pageInterval;                //!< Rounds begin at its multiples; 0: at any time.
    Time m_guard;                       //!< Between slots, and before the deadline.
    uint32_t m_expected;                //!< Devices to wait for before the first round.
    uint32_t m_maxDevices;              //!< Identifiers must be less.
    uint32_t m_maxPerAddress;           //!< Identifiers of one address that are not reserved.
    uint32_t m_maxSamples;              //!< Limit of the samples of a device; 0: all of the task.
    Time m_joinTimeout;                 //!< Longest wait for them.
    Time m_controlTimeout;              //!< Time before a grant is repeated.
    uint32_t m_controlRetries;          //!< How often.
    uint32_t m_silentRounds;            //!< After so many a silent device pauses; 0: never.
    uint32_t m_silentPause;             //!< Rounds that it pauses.
    Time m_visitorTimeout;              //!< After such a silence a visitor has left; 0: never.
    double m_target;                    //!< Test accuracy that ends the run; 0: none.
    uint32_t m_evaluationInterval;      //!< Rounds from one evaluation to the next; 0: never.
    uint32_t m_testSamples;             //!< Test samples to evaluate; 0: all.
    uint32_t m_trainSamples;            //!< Training samples to evaluate; 0: all.

    // State
    bool m_running = false;                                  //!< Between start and stop.
    bool m_hasGathered = false;                              //!< Whether it has waited for devices.
    bool m_isInRound = false;                                //!< Whether a round has begun.
    std::unique_ptr<RoundsRequest> m_request;                //!< Rounds asked for; may be null.
    bool m_hasRequestBegun = false;                          //!< Whether one of them has begun.
    bool m_isTimeUp = false;                                 //!< Whether no more of them fit.
    RoundsOutcome m_outcome;                                 //!< What they have come to so far.
    Time m_longest;                                          //!< Limit of the current round.
    std::vector<unsigned> m_bits;                            //!< Resolution of each group.
    std::vector<float> m_firstModel;                         //!< w to begin with; empty: random.
    uint32_t m_before = 0;                                   //!< Rounds that it has behind it.
    std::vector<float> m_model;                              //!< w.
    uint32_t m_round = 0;                                    //!< Current round.
    RoundRecord m_record;                                    //!< The current round, so far.
    std::unique_ptr<federated::RoundPlan> m_plan;            //!< Of the current round.
    Time m_planEnd;                                          //!< Until when Patience waits.
    EventId m_joinEvent;                                     //!< Ends the wait for devices.
    EventId m_roundEvent;                                    //!< Starts or ends a round.
    EventId m_exchangeEvent;                                 //!< Sends the first grant.
    std::unique_ptr<federated::MessageEndpoint> m_endpoint;  //!< Sockets.
    std::unique_ptr<federated::DeviceRoster> m_roster;       //!< The devices.
    std::unique_ptr<federated::DeviceRegistrar> m_registrar; //!< Lets devices join and leave.
    std::unique_ptr<federated::UplinkMeter> m_meter;         //!< Measures the uplink.
    std::unique_ptr<federated::RoundExchange> m_exchange;    //!< The current round.

    // Trace sources
    TracedCallback<uint32_t, const std::vector<uint32_t>&> m_roundStartTrace; //!< RoundStart.
    TracedCallback<uint32_t, uint32_t> m_updateStartedTrace;                  //!< UpdateStarted.
    TracedCallback<const UpdateRecord&> m_updateReceivedTrace;                //!< UpdateReceived.
    TracedCallback<const RoundRecord&> m_roundEndTrace;                       //!< RoundEnd.
    TracedCallback<uint32_t> m_finishedTrace;                                 //!< Finished.
    TracedCallback<bool> m_runningTrace;                                      //!< Running.
    TracedCallback<uint32_t, bool> m_memberTrace;                             //!< MembersChanged.
    TracedCallback<DropReason, const Address&, uint32_t> m_dropTrace;         //!< Drop.
    TracedCallback<Ptr<const Packet>> m_txTrace;                              //!< Tx.
};

} // namespace ns3

#endif // FUSION_CENTER_H
