// SPDX-License-Identifier: GPL-2.0-only

#include "federation.h"
#include "schedule-call.h"

#include "ns3/boolean.h"
#include "ns3/device-training.h"
#include "ns3/double.h"
#include "ns3/dp-stochastic-quantizer.h"
#include "ns3/error-model.h"
#include "ns3/little-endian.h"
#include "ns3/map-scheduler.h"
#include "ns3/max-abs-interval.h"
#include "ns3/simple-channel.h"
#include "ns3/simple-net-device-helper.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>

using namespace ns3;

namespace
{

/** A queue of the simulator that knows how many events are in it. */
class CountingScheduler : public MapScheduler
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("ns3::CountingScheduler")
                                .SetParent<MapScheduler>()
                                .AddConstructor<CountingScheduler>();
        return tid;
    }

    void Insert(const Event& event) override
    {
        ++g_queued;
        MapScheduler::Insert(event);
    }

    Event RemoveNext() override
    {
        --g_queued;
        return MapScheduler::RemoveNext();
    }

    void Remove(const Event& event) override
    {
        --g_queued;
        MapScheduler::Remove(event);
    }

    static int64_t g_queued; // events in the queue
};

int64_t CountingScheduler::g_queued = 0;

void
RecordQueue(std::vector<int64_t>* lengths, const RoundRecord&)
{
    lengths->push_back(CountingScheduler::g_queued);
}

/** One round of Algorithm 1 without any network: the same numbers, summed in the same order. */
std::vector<float>
RunByHand(LearningTask& task,
          const Quantizer& quantizer,
          const IntervalRule& interval,
          uint32_t devices,
          uint32_t rounds)
{
    std::vector<float> model;
    task.Initialize(model);
    auto rule = CreateObject<UniformFusion>();
    for (uint32_t round = 1; round <= rounds; ++round)
    {
        std::vector<std::shared_ptr<LocalUpdate>> updates;
        std::vector<DeliveredUpdate> delivered;
        for (uint32_t device = 0; device < devices; ++device)
        {
            auto update = std::make_shared<LocalUpdate>();
            update->training = {10, 10, 0.1};
            update->settings.intervalRule = &interval;
            update->settings.quantizer = &quantizer;
            update->settings.bits = device % 2 == 0 ? 2 : 4;
            update->device = device;
            update->serial = round;
            update->model = model;
            task.Wait(task.Begin(update));
            EXPECT_TRUE(update->valid);
            DeliveredUpdate one;
            one.device = device;
            one.bits = update->settings.bits;
            one.wireBits = quantizer.GetWireBits(update->settings.bits);
            one.intervals = update->intervals;
            one.ranges = {{0, model.size(), update->payload.data()}};
            delivered.push_back(one);
            updates.push_back(update);
        }
        FuseUpdates(*rule, LOSS_RENORMALIZE, delivered, model.data(), model.size());
    }
    return model;
}

double
GetLostFraction(const std::vector<RoundRecord>& rounds)
{
    uint64_t sent = 0;
    uint64_t received = 0;
    for (const auto& record : rounds)
    {
        sent += record.sentFragments;
        received += record.receivedFragments;
    }
    return 1 - static_cast<double>(received) / static_cast<double>(sent);
}

Ptr<ErrorModel>
MakeLoss(double rate, int64_t stream)
{
    auto model = CreateObject<RateErrorModel>();
    model->SetUnit(RateErrorModel::ERROR_UNIT_PACKET);
    model->SetRate(rate);
    model->AssignStreams(stream);
    return model;
}

/** @return a random variable that always has one value; any value, unlike ns-3's constant. */
Ptr<RandomVariableStream>
MakeConstant(double value)
{
    auto variable = CreateObject<EmpiricalRandomVariable>();
    variable->CDF(value, 1);
    return variable;
}

void
CountModels(uint32_t* models, Ptr<const Packet> packet)
{
    FederatedHeader header;
    packet->PeekHeader(header);
    *models += header.type == FederatedHeader::MODEL;
}

/** Loses packets until a time. */
class LoseUntil : public ErrorModel
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("ns3::TestLoseUntil").SetParent<ErrorModel>();
        return tid;
    }

    explicit LoseUntil(const Time& time)
        : m_time(time)
    {
    }

    uint32_t lost = 0;

  private:
    bool DoCorrupt(Ptr<Packet>) override
    {
        const bool corrupt = Simulator::Now() < m_time;
        lost += corrupt;
        return corrupt;
    }

    void DoReset() override
    {
    }

    Time m_time;
};

/** Does not train: the update is one value at all coordinates, as floats. */
class PreparedTraining : public federated::DeviceTraining
{
  public:
    /** What it was asked to do; lives longer than the device. */
    struct Log
    {
        uint32_t begun = 0;
        uint32_t done = 0;
        uint32_t canceled = 0;
        Time duration;
        std::vector<float> model; // that it was given
    };

    PreparedTraining(float value, Log& log)
        : m_value(value),
          m_log(log)
    {
    }

    ~PreparedTraining() override
    {
        m_event.Cancel();
    }

    void Begin(std::shared_ptr<LocalUpdate> update,
               const federated::TrainingTerms& terms,
               Done done) override
    {
        ++m_log.begun;
        m_log.duration = terms.duration;
        m_log.model = update->model;
        m_event = ScheduleCall(terms.duration,
                               [this, update, done]()
                               {
                                   ++m_log.done;
                                   Prepare(*update);
                                   done();
                               });
    }

    void Cancel() override
    {
        ++m_log.canceled;
        m_event.Cancel();
    }

    uint32_t GetSamples() const override
    {
        return 0; // not known
    }

  private:
    void Prepare(LocalUpdate& update) const
    {
        const std::size_t dimension = update.model.size();
        update.payload.resize(4 * dimension);
        for (std::size_t i = 0; i < dimension; ++i)
        {
            federated::WriteLittleEndianFloat(m_value, update.payload.data() + 4 * i);
        }
        update.intervals = {{0, dimension, -1, 1}};
        update.wireBits = Quantizer::FLOAT_BITS;
        update.clipFactor = 1;
        update.valid = true;
    }

    float m_value;
    Log& m_log;
    EventId m_event;
};

/** Keep what LinkNeeded says. */
void
KeepNeed(std::vector<bool>* needs, uint32_t /* device */, bool needed)
{
    needs->push_back(needed);
}

/** Let nothing reach a device that has sent its update, and let it leave soon after. */
void
CutAndLeave(Federation* federation, const FederatedDevice::SentRecord& /* record */)
{
    federation->SetLoss(federation->GetDeviceEnd(0), MakeLoss(1, 1));
    const auto device = federation->apps[0];
    ScheduleCall(MilliSeconds(10), [device]() { device->Leave(); });
}

} // namespace

TEST_F(Federation, LearnsTheSameModelAsAlgorithmOneWithoutANetwork)
{
    Build(4);
    Run();
    ASSERT_EQ(rounds.size(), 3U);
    EXPECT_EQ(rounds.back().received, 4U);
    auto quantizer = CreateObject<IdentityQuantizer>();
    auto interval = CreateObject<MaxAbsInterval>();
    EXPECT_EQ(center->GetModel(), RunByHand(*task, *quantizer, *interval, 4, 3));
    EXPECT_EQ(GetLostFraction(rounds), 0);
}

TEST_F(Federation, QuantizedUpdatesOfDifferentPrecisionFuseAsWithoutANetwork)
{
    Build(4);
    auto quantizer = CreateObject<DpStochasticQuantizer>();
    auto interval = CreateObject<MaxAbsInterval>();
    interval->SetAttribute("PerLayer", BooleanValue(true));
    SetForAll("Quantizer", PointerValue(quantizer));
    SetForDevices("IntervalRule", PointerValue(interval));
    SetForAll("FragmentSize", UintegerValue(100)); // as for IEEE 802.15.4
    Run();
    EXPECT_EQ(center->GetModel(), RunByHand(*task, *quantizer, *interval, 4, 3));
    EXPECT_EQ(rounds.back().grantedBits, 2 + 4 + 2 + 4);
    EXPECT_DOUBLE_EQ(rounds.back().deliveredBits, 12);
    EXPECT_GT(rounds.back().links[0].receivedFragments, 1U);
}

TEST_F(Federation, WorksOverIpv6)
{
    Build(3, true);
    Run();
    ASSERT_EQ(rounds.size(), 3U);
    EXPECT_EQ(rounds.back().received, 3U);
}

TEST_F(Federation, TcpCarriesTheSameModel)
{
    Build(4);
    SetForAll("Protocol", TypeIdValue(TcpSocketFactory::GetTypeId()));
    Run();
    ASSERT_EQ(rounds.size(), 3U);
    auto quantizer = CreateObject<IdentityQuantizer>();
    auto interval = CreateObject<MaxAbsInterval>();
    EXPECT_EQ(center->GetModel(), RunByHand(*task, *quantizer, *interval, 4, 3));
}

TEST_F(Federation, AnIdleDeviceHoldsNoBufferOfTheSizeOfTheModel)
{
    Build(4);
    center->SetAttribute("Participants", UintegerValue(2));
    Run();
    for (const auto& device : apps)
    {
        EXPECT_EQ(device->GetBufferedBytes(), 0U);
    }
}

TEST_F(Federation, ALostUpdateFragmentErasesCoordinatesAndTheRoundStillEnds)
{
    Build(4);
    SetForAll("FragmentSize", UintegerValue(100));
    center->SetAttribute("Rounds", UintegerValue(10));
    for (uint32_t i = 0; i < 4; ++i)
    {
        SetLoss(GetCenterEnd(i), MakeLoss(0.3, 10 + i));
    }
    Run();
    ASSERT_EQ(rounds.size(), 10U);
    // Each of about 1300 fragments is lost with probability .3: 6 standard deviations are .08.
    EXPECT_NEAR(GetLostFraction(rounds), 0.3, 0.08);
    EXPECT_LT(rounds.back().deliveredBits, rounds.back().grantedBits);
    EXPECT_LT(rounds.back().trainLoss, rounds.front().trainLoss);
    // The deadline is 10 s; nobody waited for it.
    EXPECT_LT(rounds.back().end, Seconds(30));
}

TEST_F(Federation, MissingFragmentsOfTheModelAreAskedForAndRepaired)
{
    Build(4);
    SetForAll("FragmentSize", UintegerValue(100));
    for (uint32_t i = 0; i < 4; ++i)
    {
        SetLoss(GetDeviceEnd(i), MakeLoss(0.3, 10 + i));
    }
    Run();
    EXPECT_EQ(completeModels, 12U);
    EXPECT_EQ(incompleteModels, 0U);
    EXPECT_EQ(rounds.back().received, 4U);
}

TEST_F(Federation, ARepairDoesNotWaitForTheModelsOfAllOthers)
{
    side = 28;
    Build(4);
    SetForAll("FragmentSize", UintegerValue(100));
    center->SetAttribute("DownlinkRate", StringValue("1Mbps")); // a model takes 180 ms
    center->SetAttribute("Rounds", UintegerValue(1));
    SetLoss(GetDeviceEnd(0), MakeLoss(0.1, 10));
    Run();
    EXPECT_EQ(modelOrder.size(), 4U);
    EXPECT_LT(std::find(modelOrder.begin(), modelOrder.end(), 0U) - modelOrder.begin(), 3);
}

TEST_F(Federation, ALostGrantDoesNotSilenceADevice)
{
    Build(2);
    auto loss = CreateObject<LoseUntil>(MilliSeconds(350));
    // It joins at 1 ms; everything behind that is lost for a while: the grant, and the model.
    Simulator::Schedule(MicroSeconds(2500), &Federation::SetLoss, this, GetDeviceEnd(0), loss);
    Run();
    EXPECT_GT(loss->lost, 0U);
    ASSERT_EQ(rounds.size(), 3U);
    EXPECT_EQ(rounds[0].received, 2U);
    EXPECT_EQ(rounds[0].links[0].state, PARTICIPANT_COMPLETE);
}

TEST_F(Federation, WithoutACompleteModelADeviceSitsTheRoundOutAndSaysSo)
{
    Build(2);
    center->SetAttribute("Deadline", TimeValue(Seconds(1)));
    SetForAll("FragmentSize", UintegerValue(100));
    center->SetAttribute("Rounds", UintegerValue(2));
    // Too few fragments come through to repair all within a second.
    SetLoss(GetDeviceEnd(0), MakeLoss(0.9, 10));
    Run();
    ASSERT_EQ(rounds.size(), 2U);
    EXPECT_EQ(rounds[1].received, 1U);
    EXPECT_GT(incompleteModels, 0U);
    EXPECT_FALSE(rounds[1].skipped);
    const auto state = rounds[1].links[0].state;
    EXPECT_TRUE(state == PARTICIPANT_NO_MODEL || state == PARTICIPANT_UNREACHABLE)
        << GetParticipantStateName(state);
}

TEST_F(Federation, ADeviceMayTrainOnPreviousValuesInstead)
{
    Build(2);
    center->SetAttribute("Deadline", TimeValue(Seconds(1)));
    center->SetAttribute("Rounds", UintegerValue(4));
    SetForAll("FragmentSize", UintegerValue(100));
    SetForDevices("IncompleteModel", StringValue("use-previous"));
    SetForDevices("RepairDelay", TimeValue(Seconds(2))); // too late
    SetForDevices("TimePerSample", StringValue("ns3::ConstantRandomVariable[Constant=0.001]"));
    // The first round, of more than 100 ms, goes well.
    Simulator::Schedule(
        MilliSeconds(100), &Federation::SetLoss, this, GetDeviceEnd(0), MakeLoss(0.3, 10));
    Run();
    EXPECT_GT(incompleteModels, 0U);
    ASSERT_EQ(rounds.size(), 4U);
    uint32_t received = 0;
    for (const auto& record : rounds)
    {
        received += record.received;
    }
    EXPECT_GE(received, 7U);
    EXPECT_EQ(apps[0]->GetBufferedBytes(), task->GetDimension() * sizeof(float));
}

TEST_F(Federation, WhoLeavesWhileItRepeatsDoneSaysAgainThatItNeedsItsLink)
{
    Build(1);
    center->SetAttribute("Rounds", UintegerValue(1));
    std::vector<bool> needs;
    apps[0]->TraceConnectWithoutContext("LinkNeeded", MakeBoundCallback(&KeepNeed, &needs));
    Federation* const federation = this; // the exact type: ns-3 does not convert what is bound
    apps[0]->TraceConnectWithoutContext("UpdateSent", MakeBoundCallback(&CutAndLeave, federation));
    Run();
    EXPECT_EQ(sent.size(), 1U);
    // To join; to take part; to leave, while DONE was not acknowledged; given up.
    EXPECT_EQ(needs, (std::vector<bool>{true, false, true, true, false}));
}

TEST_F(Federation, TcpLosesNothingButTime)
{
    std::vector<double> ends;
    for (double rate : {0.0, 0.01, 0.05})
    {
        Build(4);
        SetForAll("Protocol", TypeIdValue(TcpSocketFactory::GetTypeId()));
        center->SetAttribute("Rounds", UintegerValue(40));
        center->SetAttribute("Deadline", TimeValue(Hours(1)));
        center->SetAttribute("JoinTimeout", TimeValue(Hours(1)));
        for (uint32_t i = 0; i < 4; ++i)
        {
            SetLoss(GetCenterEnd(i), MakeLoss(rate, 10 + i));
        }
        Run();
        ASSERT_EQ(rounds.size(), 40U);
        EXPECT_EQ(GetLostFraction(rounds), 0);
        for (const auto& record : rounds)
        {
            EXPECT_EQ(record.received, 4U);
        }
        ends.push_back((rounds.back().end - rounds.front().start).GetSeconds());
    }
    EXPECT_LT(ends[0], ends[1]);
    EXPECT_LT(ends[1], ends[2]);
}

TEST_F(Federation, TheDeadlineEndsARoundAndSlowDevicesAreRecorded)
{
    Build(3);
    center->SetAttribute("Deadline", TimeValue(MilliSeconds(500)));
    apps[1]->SetAttribute("TimePerSample",
                          StringValue("ns3::ConstantRandomVariable[Constant=1]")); // 100 s
    Run();
    ASSERT_EQ(rounds.size(), 3U);
    for (const auto& record : rounds)
    {
        EXPECT_EQ(record.received, 2U);
        EXPECT_EQ(record.links[1].state, PARTICIPANT_NO_TIME);
        EXPECT_LE(record.end - record.start, MilliSeconds(500));
    }
}

TEST_F(Federation, TrainingWithoutEndMakesADeviceLate)
{
    for (const double seconds : {1e9, 1e300, std::numeric_limits<double>::infinity()})
    {
        Build(3);
        apps[1]->SetAttribute("TimePerSample", PointerValue(MakeConstant(seconds)));
        const Time drawn = apps[1]->DrawTrainingTime();
        EXPECT_EQ(drawn, Time::Max() / 4) << seconds;
        Run();
        ASSERT_EQ(rounds.size(), 3U);
        for (const RoundRecord& record : rounds)
        {
            EXPECT_EQ(record.received, 2U);
            EXPECT_EQ(record.links[1].state, PARTICIPANT_NO_TIME);
            EXPECT_LE(record.end - record.start, Seconds(10)) << "the deadline";
        }
    }
    apps[1]->SetAttribute("TimePerSample", PointerValue(MakeConstant(-1)));
    EXPECT_EQ(apps[1]->DrawTrainingTime(), Time(0));
    apps[1]->SetAttribute("TimePerSample", PointerValue(MakeConstant(1e7)));
    EXPECT_EQ(apps[1]->DrawTrainingTime(), Seconds(1e9)) << "ten steps of ten samples";
}

TEST_F(Federation, TheLossPolicyHasTwoSpellings)
{
    Build(1);
    for (const char* spelling : {"renormalize", "renormalise"})
    {
        center->SetAttribute("LossPolicy", StringValue("zero"));
        center->SetAttribute("LossPolicy", StringValue(spelling));
        StringValue text;
        center->GetAttribute("LossPolicy", text);
        EXPECT_EQ(text.Get(), "renormalize");
    }
}

TEST_F(Federation, WhoMissesItsSlotMaySendUntilTheDeadline)
{
    Build(2);
    center->SetAttribute("Deadline", TimeValue(MilliSeconds(500)));
    // 10 ms, as it says when it joins; then rounds of 100 ms, 20 s and 10 ms.
    auto times = CreateObject<DeterministicRandomVariable>();
    std::vector<double> values{0.0001, 0.001, 0.2, 0.0001};
    times->SetValueArray(values.data(), values.size());
    apps[0]->SetAttribute("TimePerSample", PointerValue(times));
    Run();
    ASSERT_EQ(rounds.size(), 3U);
    EXPECT_EQ(rounds[0].received, 2U);
    EXPECT_EQ(rounds[1].received, 1U);
    EXPECT_EQ(rounds[1].links[0].state, PARTICIPANT_NO_TIME);
    EXPECT_EQ(rounds[2].received, 2U);
}

TEST_F(Federation, OverTcpTheDeadlineDiscardsWhatTheSocketHasNotTaken)
{
    side = 28;
    classes = 250; // 785 kB
    Build(2);
    SetForAll("Protocol", TypeIdValue(TcpSocketFactory::GetTypeId()));
    center->SetAttribute("Deadline", TimeValue(Seconds(2)));
    center->SetAttribute("Rounds", UintegerValue(2));
    GetDeviceEnd(0)->SetAttribute("DataRate", StringValue("2Mbps"));
    Run();
    ASSERT_EQ(rounds.size(), 2U);
    EXPECT_EQ(rounds[0].links[0].state, PARTICIPANT_PARTIAL);
    EXPECT_EQ(rounds[0].links[1].state, PARTICIPANT_COMPLETE);
    ASSERT_FALSE(sent.empty());
    for (const auto& record : sent)
    {
        EXPECT_EQ(record.fragments < record.planned, record.device == 0);
    }
    // What the socket had taken still came, and was too late.
    EXPECT_GT(center->GetDropped(DROP_OLD), 0U);
}

TEST_F(Federation, WithTooFewUpdatesTheModelStaysAndTheRoundIsSkipped)
{
    Build(2);
    center->SetAttribute("MinUpdates", UintegerValue(2));
    apps[1]->SetAttribute("LeaveOnStop", BooleanValue(false));
    apps[1]->SetStopTime(MilliSeconds(30));
    Run();
    ASSERT_EQ(rounds.size(), 3U);
    for (std::size_t i = 1; i < 3; ++i)
    {
        EXPECT_TRUE(rounds[i].skipped);
        EXPECT_EQ(rounds[i].received, 1U);
        EXPECT_EQ(rounds[i].untouchedFraction, 1);
        EXPECT_EQ(rounds[i].trainLoss, rounds[0].trainLoss);
    }
    EXPECT_EQ(rounds[2].links[1].state, PARTICIPANT_UNREACHABLE);
}

TEST_F(Federation, ADeviceThatDiesMidRoundDoesNotStopTheOthers)
{
    Build(4);
    center->SetAttribute("Deadline", TimeValue(Seconds(2)));
    SetForDevices("TimePerSample", StringValue("ns3::ConstantRandomVariable[Constant=0.001]"));
    apps[2]->SetAttribute("LeaveOnStop", BooleanValue(false));
    apps[2]->SetStopTime(MilliSeconds(60)); // it trains until 100 ms
    Run();
    ASSERT_EQ(rounds.size(), 3U);
    EXPECT_EQ(rounds[0].received, 3U);
    EXPECT_EQ(rounds[0].links[2].state, PARTICIPANT_SILENT);
    EXPECT_EQ(rounds[1].links[2].state, PARTICIPANT_UNREACHABLE);
    EXPECT_EQ(rounds[2].received, 3U);
}

TEST_F(Federation, ALateDeviceJoinsTheNextRound)
{
    Build(3);
    center->SetAttribute("JoinTimeout", TimeValue(MilliSeconds(50)));
    center->SetAttribute("Rounds", UintegerValue(30));
    apps[1]->SetStartTime(MilliSeconds(200));
    Run();
    ASSERT_EQ(rounds.size(), 30U);
    EXPECT_EQ(rounds.front().joined, 2U);
    EXPECT_EQ(rounds.front().received, 2U);
    EXPECT_EQ(rounds.back().received, 3U);
}

TEST_F(Federation, ALinkThatIsDownForSomeRoundsComesBack)
{
    Build(3);
    center->SetAttribute("Rounds", UintegerValue(30));
    auto ipv4 = nodes.Get(2)->GetObject<Ipv4>();
    Simulator::Schedule(MilliSeconds(100), &Ipv4::SetDown, ipv4, 1);
    Simulator::Schedule(MilliSeconds(4000), &Ipv4::SetUp, ipv4, 1);
    Run();
    ASSERT_EQ(rounds.size(), 30U);
    EXPECT_EQ(rounds.front().received, 3U);
    EXPECT_EQ(rounds.back().received, 3U);
    const auto missing =
        std::count_if(rounds.begin(),
                      rounds.end(),
                      [](const RoundRecord& record) { return record.received == 2; });
    EXPECT_GT(missing, 0);
}

TEST_F(Federation, ADeviceThatLeavesIsNotSelectedAgain)
{
    Build(3);
    center->SetAttribute("Rounds", UintegerValue(20));
    Simulator::Schedule(MilliSeconds(60), &FederatedDevice::Leave, apps[1]);
    Run();
    ASSERT_EQ(rounds.size(), 20U);
    EXPECT_EQ(center->GetJoined(), 2U);
    EXPECT_EQ(rounds.back().selected, 2U);
    EXPECT_EQ(rounds.back().received, 2U);
    EXPECT_FALSE(apps[1]->HasJoined());
}

TEST_F(Federation, ADeviceThatLeftIsSelectedAgainOnceItJoinsAgain)
{
    for (const char* protocol : {"ns3::UdpSocketFactory", "ns3::TcpSocketFactory"})
    {
        Build(3);
        SetForAll("Protocol", TypeIdValue(TypeId::LookupByName(protocol)));
        SetForDevices("TimePerSample", StringValue("ns3::ConstantRandomVariable[Constant=0.001]"));
        center->SetAttribute("Rounds", UintegerValue(20));
        Simulator::Schedule(MilliSeconds(500), &FederatedDevice::Leave, apps[1]);
        Simulator::Schedule(Seconds(1), &FederatedDevice::Join, apps[1]);
        Simulator::Schedule(Seconds(1.5), &FederatedDevice::Join, apps[1]); // it has not left
        Run();
        ASSERT_EQ(rounds.size(), 20U);
        uint32_t without = 0;
        for (const RoundRecord& record : rounds)
        {
            const bool isGone = record.start > MilliSeconds(500) && record.start < Seconds(1);
            without += isGone;
            EXPECT_EQ(record.selected, isGone ? 2U : 3U) << record.start << protocol;
        }
        EXPECT_GT(without, 1U) << protocol;
        EXPECT_EQ(rounds.back().received, 3U) << protocol;
        EXPECT_TRUE(apps[1]->HasJoined());
    }
}

TEST_F(Federation, ADeviceMayJoinAgainBeforeItsLeaveIsAcknowledged)
{
    Build(3);
    center->SetAttribute("Rounds", UintegerValue(20));
    ScheduleCall(MilliSeconds(60),
                 [this]()
                 {
                     apps[1]->Leave();
                     apps[1]->Join();
                 });
    Run();
    ASSERT_EQ(rounds.size(), 20U);
    EXPECT_EQ(rounds.back().received, 3U);
    EXPECT_TRUE(apps[1]->HasJoined());
}

TEST_F(Federation, AnEnrolledDeviceCannotJoinAgain)
{
    Build(1);
    apps[0]->SetAttribute("Enrolled", BooleanValue(true));
    EXPECT_DEATH(apps[0]->Join(), "device 0 is enrolled, and cannot join again");
}

TEST_F(Federation, ADeviceUsesTheTrainingThatItWasGivenAndCancelsItWhenItLeaves)
{
    Build(2);
    center->SetAttribute("Rounds", UintegerValue(1));
    PreparedTraining::Log logs[2];
    apps[0]->SetTraining(std::make_unique<PreparedTraining>(0.5F, logs[0]));
    apps[1]->SetTraining(std::make_unique<PreparedTraining>(100.0F, logs[1]));
    // 10 steps of 10 samples: 200 ms, and 2 s, after half of which the device leaves.
    apps[0]->SetAttribute("TimePerSample",
                          StringValue("ns3::ConstantRandomVariable[Constant=0.002]"));
    apps[1]->SetAttribute("TimePerSample",
                          StringValue("ns3::ConstantRandomVariable[Constant=0.02]"));
    Simulator::Schedule(Seconds(1), &FederatedDevice::Leave, apps[1]);
    Run();
    std::vector<float> initial;
    task->Initialize(initial);
    ASSERT_EQ(rounds.size(), 1U);
    EXPECT_EQ(rounds[0].received, 1U);
    EXPECT_EQ(rounds[0].links[0].state, PARTICIPANT_COMPLETE);
    EXPECT_EQ(logs[0].begun, 1U);
    EXPECT_EQ(logs[0].done, 1U);
    EXPECT_EQ(logs[0].canceled, 0U);
    EXPECT_EQ(logs[0].duration, MilliSeconds(200));
    EXPECT_EQ(logs[0].model, initial);
    std::vector<float> expected = initial;
    for (float& value : expected)
    {
        value += 0.5F;
    }
    EXPECT_EQ(center->GetModel(), expected) << "what the training of device 0 gave, and no more";

    EXPECT_EQ(rounds[0].links[1].state, PARTICIPANT_LEFT);
    EXPECT_EQ(logs[1].begun, 1U);
    EXPECT_EQ(logs[1].done, 0U);
    EXPECT_EQ(logs[1].canceled, 1U);
    EXPECT_EQ(apps[1]->GetBufferedBytes(), 0U);
    EXPECT_LT(rounds[0].end, MilliSeconds(1100)) << "nobody waited for who left";
}

TEST_F(Federation, ABrokenTcpConnectionIsOpenedAgain)
{
    Build(3);
    SetForAll("Protocol", TypeIdValue(TcpSocketFactory::GetTypeId()));
    center->SetAttribute("Rounds", UintegerValue(30));
    center->SetAttribute("Deadline", TimeValue(Seconds(5)));
    auto ipv4 = nodes.Get(2)->GetObject<Ipv4>();
    Simulator::Schedule(MilliSeconds(100), &Ipv4::SetDown, ipv4, 1);
    Simulator::Schedule(Seconds(60), &Ipv4::SetUp, ipv4, 1);
    Run();
    ASSERT_EQ(rounds.size(), 30U);
    EXPECT_EQ(rounds.front().received, 3U);
    EXPECT_EQ(rounds.back().received, 3U);
}

TEST_F(Federation, NobodyToSelectMeansSkippedRoundsUntilSomebodyJoins)
{
    Build(2);
    center->SetAttribute("Deadline", TimeValue(Seconds(1)));
    center->SetAttribute("JoinTimeout", TimeValue(MilliSeconds(100)));
    for (auto& device : apps)
    {
        device->SetStartTime(Seconds(1.5));
    }
    Run();
    ASSERT_EQ(rounds.size(), 3U);
    EXPECT_TRUE(rounds[0].skipped);
    EXPECT_EQ(rounds[0].selected, 0U);
    EXPECT_EQ(rounds[2].received, 2U);
}

TEST_F(Federation, DivergedTrainingIsReportedInsteadOfSent)
{
    Build(2);
    apps[1]->SetAttribute("LearningRate", DoubleValue(1e38));
    Run();
    ASSERT_EQ(rounds.size(), 3U);
    EXPECT_EQ(rounds[0].received, 1U);
    EXPECT_EQ(rounds[0].links[1].state, PARTICIPANT_NOT_FINITE);
}

TEST_F(Federation, RoundsLeaveNoEventsInTheQueue)
{
    for (const double lossRate : {0.0, 0.1})
    {
        Build(4);
        ObjectFactory factory;
        factory.SetTypeId(CountingScheduler::GetTypeId());
        CountingScheduler::g_queued = 0;
        Simulator::SetScheduler(factory);
        center->SetAttribute("Rounds", UintegerValue(100));
        center->SetAttribute("Deadline", TimeValue(Hours(100))); // far behind the last round
        center->SetAttribute("EvaluationInterval", UintegerValue(0));
        SetLoss(GetCenterEnd(0), MakeLoss(lossRate, 10));
        SetLoss(GetDeviceEnd(1), MakeLoss(lossRate, 11));
        std::vector<int64_t> lengths;
        center->TraceConnectWithoutContext("RoundEnd", MakeBoundCallback(&RecordQueue, &lengths));
        Run();
        ASSERT_EQ(lengths.size(), 100U);
        const auto middle = lengths.begin() + 50;
        EXPECT_LE(*std::max_element(middle, lengths.end()),
                  *std::max_element(lengths.begin(), middle));
        EXPECT_LT(Simulator::Now(), Hours(1)) << "nothing is left to happen after the last round";
    }
}

TEST_F(Federation, StoppingTheSimulationWhileTrainingRunsIsSafe)
{
    Build(4);
    task->SetAttribute("Threads", UintegerValue(2));
    SetForDevices("Steps", UintegerValue(2000));
    Simulator::Stop(MilliSeconds(20)); // training takes 2 s of simulated time
    Simulator::Run();
    EXPECT_GT(completeModels, 0U);
    EXPECT_TRUE(rounds.empty());
}

TEST_F(Federation, ThreadsDoNotChangeTheResult)
{
    std::vector<std::vector<float>> models;
    for (uint32_t threads : {1U, 2U, 5U})
    {
        Build(4);
        task->SetAttribute("Threads", UintegerValue(threads));
        SetForAll("Quantizer", PointerValue(CreateObject<DpStochasticQuantizer>()));
        SetForDevices("IntervalRule", PointerValue(CreateObject<MaxAbsInterval>()));
        Run();
        models.push_back(center->GetModel());
    }
    EXPECT_EQ(models[0], models[1]);
    EXPECT_EQ(models[0], models[2]);
}

TEST_F(Federation, AMulticastModelIsSentOnceAndTheUnselectedDiscardIt)
{
    Build(5);
    // A second network that all share, beside the links.
    SimpleNetDeviceHelper simple;
    simple.SetDeviceAttribute("DataRate", StringValue("100Mbps"));
    simple.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("10000p"));
    const NetDeviceContainer shared = simple.Install(nodes);
    Ipv4AddressHelper addresses("10.2.0.0", "255.255.255.0");
    const Ipv4Address centerAddress = addresses.Assign(shared).GetAddress(0);
    Ipv4StaticRoutingHelper().SetDefaultMulticastRoute(nodes.Get(0), shared.Get(0));
    const InetSocketAddress group(Ipv4Address("239.1.2.3"), 5000);
    SetForAll("MulticastGroup", AddressValue(group));
    SetForDevices("Remote", AddressValue(InetSocketAddress(centerAddress, PORT)));
    center->SetAttribute("Local", AddressValue(InetSocketAddress(centerAddress, PORT)));
    center->SetAttribute("Downlink", StringValue("multicast"));
    center->SetAttribute("Participants", UintegerValue(2));
    SetForAll("FragmentSize", UintegerValue(100));
    // Some of them lose fragments, which are then repaired one by one.
    SetLoss(shared.Get(1), MakeLoss(0.2, 10));
    SetLoss(shared.Get(2), MakeLoss(0.2, 11));
    uint32_t models = 0;
    center->TraceConnectWithoutContext("Tx", MakeBoundCallback(&CountModels, &models));
    Run();
    ASSERT_EQ(rounds.size(), 3U);
    EXPECT_EQ(completeModels, 6U);
    EXPECT_EQ(rounds.back().received, 2U);
    const uint32_t fragments = 19; // 260 coordinates, 14 in each
    EXPECT_GE(models, 3 * fragments);
    EXPECT_LT(models, 2 * 3 * fragments);
    uint64_t discarded = 0;
    for (const auto& device : apps)
    {
        discarded += device->GetDropped(DROP_UNSELECTED);
    }
    EXPECT_GE(discarded, 3 * 2 * fragments); // two of the unselected lose nothing
}

TEST_F(Federation, ADeviceThatLeavesWhileItConnectsDoesNotJoin)
{
    for (const Time& when : {MicroSeconds(500), MilliSeconds(50), MilliSeconds(150)})
    {
        Build(2);
        SetForAll("Protocol", TypeIdValue(TcpSocketFactory::GetTypeId()));
        center->SetAttribute("JoinTimeout", TimeValue(Seconds(1)));
        // The first attempt at 0 fails at once, the next one is 100 ms later.
        auto ipv4 = nodes.Get(2)->GetObject<Ipv4>();
        if (when > MilliSeconds(1))
        {
            ipv4->SetDown(1);
            Simulator::Schedule(MilliSeconds(120), &Ipv4::SetUp, ipv4, 1);
        }
        Simulator::Schedule(when, &FederatedDevice::Leave, apps[1]);
        Run();
        ASSERT_EQ(rounds.size(), 3U);
        EXPECT_EQ(rounds.back().joined, 1U) << when;
        EXPECT_EQ(rounds.back().received, 1U);
        EXPECT_EQ(center->GetDropped(DROP_MALFORMED), 0U);
    }
}

TEST_F(Federation, WhoLeftComesBackUnderTheSameIdentifier)
{
    side = 16;
    Build(2);
    center->SetAttribute("Rounds", UintegerValue(60));
    SetForDevices("FragmentSize", UintegerValue(100)); // many fragments, in little time
    SetForDevices("TimePerSample", StringValue("ns3::ConstantRandomVariable[Constant=0.000001]"));
    Simulator::Schedule(MilliSeconds(200), &FederatedDevice::Leave, apps[1]);
    auto second = CreateObject<FederatedDevice>();
    second->SetAttribute("DeviceId", UintegerValue(1));
    second->SetAttribute("Group", UintegerValue(1));
    second->SetAttribute("Remote", AddressValue(remotes[1]));
    second->SetAttribute("Task", PointerValue(task));
    second->SetAttribute("Quantizer", PointerValue(CreateObject<IdentityQuantizer>()));
    second->SetStartTime(MilliSeconds(230));
    second->SetStopTime(Seconds(20));
    nodes.Get(2)->AddApplication(second);
    Run();
    ASSERT_EQ(rounds.size(), 60U);
    EXPECT_GT(sent.size() * sent[0].fragments, 400U); // more than one a millisecond
    EXPECT_EQ(rounds.back().received, 2U);
}

TEST_F(Federation, ANewCenterTakesOverTcpDevices)
{
    Build(2);
    SetForAll("Protocol", TypeIdValue(TcpSocketFactory::GetTypeId()));
    center->SetStopTime(Seconds(1));
    auto second = CreateObject<FusionCenter>();
    for (const char* name : {"Task",
                             "Protocol",
                             "Quantizer",
                             "FusionRule",
                             "Participants",
                             "BitBudget",
                             "GroupBits",
                             "ExpectedDevices",
                             "Rounds"})
    {
        StringValue text;
        PointerValue pointer;
        if (center->GetAttributeFailSafe(name, pointer))
        {
            second->SetAttribute(name, pointer);
        }
        else
        {
            center->GetAttribute(name, text);
            second->SetAttribute(name, text);
        }
    }
    second->SetStartTime(Seconds(1.05));
    second->TraceConnectWithoutContext("RoundEnd", MakeCallback(&Federation::OnRound, this));
    nodes.Get(0)->AddApplication(second);
    Run();
    ASSERT_EQ(rounds.size(), 6U);
    EXPECT_EQ(rounds[3].round, 1U);
    EXPECT_EQ(rounds[3].received, 2U);
}

TEST_F(Federation, WorksWithoutADeadlineAndWithAGuardBehindIt)
{
    Build(2);
    center->SetAttribute("Deadline", TimeValue(Time::Max()));
    Run();
    ASSERT_EQ(rounds.size(), 3U);
    EXPECT_EQ(rounds[2].received, 2U);
    Build(2);
    center->SetAttribute("Deadline", TimeValue(MilliSeconds(100)));
    center->SetAttribute("Guard", TimeValue(Seconds(1)));
    Run();
    ASSERT_EQ(rounds.size(), 3U);
    EXPECT_EQ(rounds[0].links[0].state, PARTICIPANT_NO_TIME);
}

TEST_F(Federation, TcpOverIpv6EndsWithOpenConnections)
{
    Build(3, true);
    SetForAll("Protocol", TypeIdValue(TcpSocketFactory::GetTypeId()));
    SetLoss(GetCenterEnd(2), MakeLoss(1, 10)); // its connection does not come about
    center->SetAttribute("JoinTimeout", TimeValue(MilliSeconds(100)));
    Simulator::Stop(Seconds(2));
    Run();
    ASSERT_EQ(rounds.size(), 3U);
    EXPECT_EQ(rounds[0].received, 2U);
    Simulator::Destroy(); // sends nothing, because nothing is there to send with
}

TEST_F(Federation, AMulticastModelReachesDevicesOverIpv6)
{
    Build(2, true);
    SimpleNetDeviceHelper simple;
    simple.SetDeviceAttribute("DataRate", StringValue("100Mbps"));
    const NetDeviceContainer shared = simple.Install(nodes);
    Ipv6AddressHelper addresses(Ipv6Address("2001:77::"), Ipv6Prefix(64));
    const auto interfaces = addresses.Assign(shared);
    const Ipv6Address centerAddress = interfaces.GetAddress(0, 1);
    Ipv6StaticRoutingHelper()
        .GetStaticRouting(nodes.Get(0)->GetObject<Ipv6>())
        ->SetDefaultMulticastRoute(interfaces.GetInterfaceIndex(0));
    const Inet6SocketAddress group(Ipv6Address("ff15::1"), 5000);
    SetForAll("MulticastGroup", AddressValue(group));
    center->SetAttribute("Downlink", StringValue("multicast"));
    center->SetAttribute("Local", AddressValue(Inet6SocketAddress(centerAddress, PORT)));
    SetForDevices("Remote", AddressValue(Inet6SocketAddress(centerAddress, PORT)));
    uint32_t models = 0;
    center->TraceConnectWithoutContext("Tx", MakeBoundCallback(&CountModels, &models));
    Run();
    ASSERT_EQ(rounds.size(), 3U);
    EXPECT_EQ(rounds[0].received, 2U);
    EXPECT_EQ(models, 3U); // one fragment a round
}

TEST_F(Federation, OverTcpTheRestOfAModelIsDiscardedAtTheEndOfItsRound)
{
    side = 28;
    classes = 250; // 785 kB, three seconds
    Build(2);
    SetForAll("Protocol", TypeIdValue(TcpSocketFactory::GetTypeId()));
    center->SetAttribute("Deadline", TimeValue(Seconds(2)));
    center->SetAttribute("Rounds", UintegerValue(5));
    GetCenterEnd(0)->SetAttribute("DataRate", StringValue("2Mbps"));
    Run();
    ASSERT_EQ(rounds.size(), 5U);
    for (const auto& record : rounds)
    {
        EXPECT_EQ(record.links[0].state, PARTICIPANT_NO_MODEL);
        EXPECT_EQ(record.links[1].state, PARTICIPANT_COMPLETE);
    }
    // Only what the socket had taken, 128 KiB, comes too late.
    EXPECT_LT(apps[0]->GetDropped(DROP_UNSELECTED), 5 * 100U);
}

using FederationDeathTest = Federation;

TEST_F(FederationDeathTest, FewerParticipantsThanGroupsStopTheScriptWithASentence)
{
    Build(4);
    center->SetAttribute("Participants", UintegerValue(1));
    EXPECT_DEATH(Run(), "Participants is 1, but each of the 2 groups");
}

TEST_F(FederationDeathTest, ATrainingTimeThatIsNotANumberStopsTheScriptWithASentence)
{
    Build(2);
    apps[1]->SetAttribute("TimePerSample", PointerValue(MakeConstant(std::nan(""))));
    EXPECT_DEATH(Run(), "TimePerSample of device 1 is not a number");
}
