// SPDX-License-Identifier: GPL-2.0-only

/**
 * @file
 * A whole FusionCenter in a small simulation: an honest device, and two insiders that joined and
 * then send what the input says, when it says. Whatever they do, all rounds end in time, the model
 * is finite, records are consistent, and the honest device takes part.
 *
 * The first byte has, besides the configuration, a bit that runs the input twice: both runs must
 * give the same bytes, whatever ran before in the process.
 */

#include "fuzz-network.h"

#include "ns3/dp-stochastic-quantizer.h"
#include "ns3/effective-snr-fusion.h"
#include "ns3/federated-device.h"
#include "ns3/fusion-center.h"
#include "ns3/identity-quantizer.h"
#include "ns3/pointer.h"
#include "ns3/uinteger.h"
#include "ns3/unbiased-stochastic-quantizer.h"
#include "ns3/uniform-fusion.h"

#include <array>
#include <cmath>

using namespace ns3;
using namespace ns3::fuzz;

namespace
{

constexpr uint32_t ROUNDS = 3;
constexpr uint32_t INSIDERS = 2;
const Time DEADLINE = Seconds(1);
const Time JOIN_TIMEOUT = MilliSeconds(200);

/** One simulation. */
class Federation
{
  public:
    explicit Federation(FuzzInput input)
        : m_input(input),
          m_network(1 + INSIDERS)
    {
        const uint8_t flags = m_input.Byte();
        m_isTcp = (flags & 2) != 0;
        m_isMeasured = (flags & 4) != 0;
        m_isFloats = (flags & 24) == 0;
        m_isRotated = (flags & 32) != 0;
        m_isInterleaved = (flags & 128) != 0;
        const auto quantizer = m_isFloats ? Ptr<Quantizer>(CreateObject<IdentityQuantizer>())
                               : (flags & 8) != 0
                                   ? Ptr<Quantizer>(CreateObject<UnbiasedStochasticQuantizer>())
                                   : Ptr<Quantizer>(CreateObject<DpStochasticQuantizer>());
        MakeCenter(quantizer, (flags & 64) != 0);
        MakeHonest(quantizer);
        for (uint32_t i = 0; i < INSIDERS; ++i)
        {
            m_insiders.push_back(std::make_unique<Puppet>(m_network.nodes.Get(2 + i), m_isTcp));
            // Not before the simulation runs: only then the nodes are ready for TCP.
            Simulator::Schedule(
                MilliSeconds(1), &Puppet::Connect, m_insiders[i].get(), m_network.centers[1 + i]);
        }
    }

    /** @return the model at the end. */
    std::vector<float> Run()
    {
        Simulator::Schedule(MilliSeconds(5), &Federation::JoinInsiders, this);
        Simulator::Schedule(MilliSeconds(20), &Federation::Attack, this);
        const Time end = JOIN_TIMEOUT + DEADLINE * int64_t{ROUNDS} + MilliSeconds(1);
        Simulator::Stop(end);
        Simulator::Run();
        Require(m_ended == ROUNDS, "all rounds end in time");
        Check();
        return m_center->GetModel();
    }

  private:
    void MakeCenter(const Ptr<Quantizer>& quantizer, bool isUniform)
    {
        m_center = CreateObject<FusionCenter>();
        m_center->SetAttribute("Task", PointerValue(m_network.task));
        m_center->SetAttribute("Quantizer", PointerValue(quantizer));
        m_center->SetAttribute(
            "FusionRule",
            PointerValue(isUniform ? Ptr<FusionRule>(CreateObject<UniformFusion>())
                                   : Ptr<FusionRule>(CreateObject<EffectiveSnrFusion>())));
        m_center->SetAttribute("Rotation", BooleanValue(m_isRotated));
        m_center->SetAttribute("Interleave", BooleanValue(m_isInterleaved));
        m_center->SetAttribute("BitBudget",
                               StringValue(m_isMeasured ? "ns3::MeasuredBitBudget"
                                                        : "ns3::FixedBitBudget[Bits=1000]"));
        m_center->SetAttribute("GroupBits", StringValue("2,4"));
        m_center->SetAttribute("Participants", UintegerValue(1 + INSIDERS));
        m_center->SetAttribute("ExpectedDevices", UintegerValue(1 + INSIDERS));
        m_center->SetAttribute("MaxDevices", UintegerValue(2 + INSIDERS));
        m_center->SetAttribute("Rounds", UintegerValue(ROUNDS));
        m_center->SetAttribute("Deadline", TimeValue(DEADLINE));
        m_center->SetAttribute("JoinTimeout", TimeValue(JOIN_TIMEOUT));
        m_center->SetAttribute("EvaluationInterval", UintegerValue(ROUNDS));
        m_center->SetAttribute("Protocol", TypeIdValue(GetProtocol()));
        m_center->SetAttribute("FragmentSize", UintegerValue(100));
        m_center->BindDevice(0, m_network.hosts[0]);
        m_network.nodes.Get(0)->AddApplication(m_center);
        m_center->TraceConnectWithoutContext("RoundEnd", MakeCallback(&Federation::OnRound, this));
        m_center->TraceConnectWithoutContext("RoundStart",
                                             MakeCallback(&Federation::OnStart, this));
    }

    void MakeHonest(const Ptr<Quantizer>& quantizer)
    {
        m_honest = CreateObject<FederatedDevice>();
        m_honest->SetAttribute("DeviceId", UintegerValue(0));
        m_honest->SetAttribute("Group", UintegerValue(0));
        m_honest->SetAttribute("Bits", UintegerValue(2));
        m_honest->SetAttribute("Remote", AddressValue(m_network.centers[0]));
        m_honest->SetAttribute("Task", PointerValue(m_network.task));
        m_honest->SetAttribute("Quantizer", PointerValue(quantizer));
        m_honest->SetAttribute("Rotation", BooleanValue(m_isRotated));
        m_honest->SetAttribute("Interleave", BooleanValue(m_isInterleaved));
        m_honest->SetAttribute("ClipBound", DoubleValue(1));
        m_honest->SetAttribute("Protocol", TypeIdValue(GetProtocol()));
        m_honest->SetAttribute("FragmentSize", UintegerValue(100));
        m_honest->AssignStreams(50);
        m_network.nodes.Get(1)->AddApplication(m_honest);
    }

    TypeId GetProtocol() const
    {
        return m_isTcp ? TcpSocketFactory::GetTypeId() : UdpSocketFactory::GetTypeId();
    }

    uint32_t GetEncoded() const
    {
        return m_isRotated ? 32 : TinyNetwork::DIMENSION;
    }

    MessageHints GetHints(uint32_t insider)
    {
        const Puppet& puppet = *m_insiders[insider];
        MessageHints hints;
        hints.round = m_round;
        hints.device = 1 + insider;
        hints.group = insider % 2;
        hints.bits = hints.group == 0 ? 2 : 4;
        hints.wireBits = m_isFloats ? 32 : hints.bits;
        hints.sequence = m_sequence[insider];
        hints.dimension = GetEncoded();
        hints.fragments = 1 + m_input.Below(3);
        hints.nowNs = static_cast<uint64_t>(Simulator::Now().GetNanoSeconds());
        hints.deadlineNs = puppet.grantBody.deadlineNs;
        hints.isRotated = m_isRotated;
        hints.isInterleaved = m_isInterleaved;
        return hints;
    }

    void JoinInsiders()
    {
        for (uint32_t i = 0; i < INSIDERS; ++i)
        {
            FederatedHeader header;
            header.type = FederatedHeader::JOIN;
            header.sequence = ++m_sequence[i];
            header.device = 1 + i;
            header.bits = i % 2 == 0 ? 2 : 4;
            Bytes body(JoinBody::SIZE);
            JoinBody{i % 2, 40, 1000000, 1, std::nanf("")}.Write(body.data());
            header.Seal(body.data(), body.size());
            Bytes message(header.GetSize());
            header.Write(message.data());
            message.insert(message.end(), body.begin(), body.end());
            m_insiders[i]->Send(message);
        }
    }

    /** One message of an insider, and the next one later. */
    void Attack()
    {
        if (m_input.IsEmpty() || ++m_attacks > 60)
        {
            return;
        }
        const uint32_t insider = m_input.Below(INSIDERS);
        Puppet& puppet = *m_insiders[insider];
        const uint8_t what = m_input.Byte();
        if (what < 8)
        {
            puppet.Send(m_input.Take(m_input.Below(80)));
        }
        else if (what < 12 && m_isTcp)
        {
            puppet.Close();
        }
        else
        {
            const auto type = static_cast<uint8_t>(m_input.Pick<int>({FederatedHeader::UPDATE,
                                                                      FederatedHeader::UPDATE,
                                                                      FederatedHeader::DONE,
                                                                      FederatedHeader::ACK,
                                                                      FederatedHeader::REPAIR,
                                                                      FederatedHeader::JOIN,
                                                                      FederatedHeader::LEAVE,
                                                                      FederatedHeader::GRANT,
                                                                      FederatedHeader::MODEL,
                                                                      FederatedHeader::PAGE,
                                                                      FederatedHeader::REJOIN}));
            MessageHints hints = GetHints(insider);
            if (type == FederatedHeader::ACK)
            {
                hints.sequence = puppet.grant.sequence;
            }
            else if (type != FederatedHeader::UPDATE)
            {
                hints.sequence = ++m_sequence[insider];
            }
            puppet.Send(MakeMessage(m_input, type, hints));
        }
        const uint8_t pause = m_input.Byte();
        Simulator::Schedule(pause < 128   ? MicroSeconds(pause)
                            : pause < 240 ? MilliSeconds(pause - 128)
                                          : MilliSeconds(uint64_t{100} * (pause - 239U)),
                            &Federation::Attack,
                            this);
    }

    void OnStart(uint32_t round, const std::vector<uint32_t>& selected)
    {
        m_round = round;
        Require(selected.size() <= 1 + INSIDERS, "at most N devices are selected");
    }

    void OnRound(const RoundRecord& record)
    {
        Require(record.round == ++m_ended, "rounds end in order");
        Require(record.end >= record.start && record.end <= record.start + DEADLINE,
                "a round ends at its deadline at the latest");
        Require(record.received <= record.selected && record.selected == record.links.size() &&
                    record.receivedFragments <= record.sentFragments &&
                    record.untouchedFraction >= 0 && record.untouchedFraction <= 1,
                "what was received was sent by those who were selected");
        double weights = 0;
        const LinkRecord* honest = nullptr;
        for (const LinkRecord& link : record.links)
        {
            Require(link.weight >= 0, "no weight is negative");
            weights += link.weight;
            honest = link.device == 0 ? &link : honest;
        }
        Require(weights <= 1 + 1e-9, "weights sum to at most 1");
        if (!m_isMeasured) // else the budget may be too small for all
        {
            Require(honest && honest->state == PARTICIPANT_COMPLETE,
                    "the update of the honest device is received in every round");
        }
    }

    void Check()
    {
        for (float value : m_center->GetModel())
        {
            Require(std::isfinite(value), "the model is finite");
        }
        Require(m_center->GetJoined() <= 2 + INSIDERS, "no more devices join than allowed");
    }

    FuzzInput m_input;
    TinyNetwork m_network;
    bool m_isTcp = false;
    bool m_isMeasured = false;
    bool m_isFloats = false;
    bool m_isRotated = false;
    bool m_isInterleaved = false;
    Ptr<FusionCenter> m_center;
    Ptr<FederatedDevice> m_honest;
    std::vector<std::unique_ptr<Puppet>> m_insiders;
    std::array<uint32_t, INSIDERS> m_sequence{};
    uint32_t m_round = 0;
    uint32_t m_ended = 0;
    uint32_t m_attacks = 0;
};

std::vector<float>
Simulate(const FuzzInput& input)
{
    return Federation(input).Run();
}

} // namespace

extern "C" int
LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size)
{
    const FuzzInput input(data, size);
    const std::vector<float> model = Simulate(input);
    if (size > 0 && (data[0] & 1) != 0)
    {
        Require(Simulate(input) == model, "the same input gives the same model");
    }
    return 0;
}
