// SPDX-License-Identifier: GPL-2.0-only

/**
 * @file
 * A whole FederatedDevice whose center is hostile: it sends what the input says, when it says.
 * Whatever it does, the device sends only messages that a center can read, never with more bits
 * than it offers, no fragment before its ledger has the update, not without end, and its memory is
 * limited.
 */

#include "fuzz-network.h"

#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/enum.h"
#include "ns3/federated-device.h"
#include "ns3/identity-quantizer.h"
#include "ns3/optimal-dp-quantizer.h"
#include "ns3/pointer.h"
#include "ns3/uinteger.h"
#include "ns3/unbiased-stochastic-quantizer.h"

#include <cmath>

using namespace ns3;
using namespace ns3::fuzz;

namespace
{

constexpr uint32_t BITS = 4;
const Time END = Seconds(20);

/** One simulation. */
class Cell
{
  public:
    explicit Cell(FuzzInput input)
        : m_input(input),
          m_network(1)
    {
        const uint8_t flags = m_input.Byte();
        m_isTcp = (flags & 2) != 0;
        m_isFloats = (flags & 12) == 0;
        const bool isRotated = (flags & 16) != 0;
        m_device = CreateObject<FederatedDevice>();
        m_device->SetAttribute("Bits", UintegerValue(BITS));
        m_device->SetAttribute("Remote", AddressValue(m_network.centers[0]));
        m_device->SetAttribute("Task", PointerValue(m_network.task));
        m_device->SetAttribute(
            "Quantizer",
            PointerValue(m_isFloats ? Ptr<Quantizer>(CreateObject<IdentityQuantizer>())
                         : (flags & 4) != 0
                             ? Ptr<Quantizer>(CreateObject<OptimalDpQuantizer>())
                             : Ptr<Quantizer>(CreateObject<UnbiasedStochasticQuantizer>())));
        m_device->SetAttribute("ClipBound", DoubleValue(1));
        m_device->SetAttribute("Rotation", BooleanValue(isRotated));
        m_device->SetAttribute("Interleave", BooleanValue((flags & 128) != 0));
        m_device->SetAttribute("IncompleteModel",
                               StringValue((flags & 32) != 0 ? "use-previous" : "sit-out"));
        m_device->SetAttribute(
            "Protocol",
            TypeIdValue(m_isTcp ? TcpSocketFactory::GetTypeId() : UdpSocketFactory::GetTypeId()));
        m_device->SetAttribute("FragmentSize", UintegerValue(100));
        m_device->SetAttribute("ReportDistortion", BooleanValue((flags & 64) != 0));
        m_device->AssignStreams(50);
        m_network.nodes.Get(1)->AddApplication(m_device);
        m_device->TraceConnectWithoutContext("Tx", MakeCallback(&Cell::OnSent, this));
        m_device->TraceConnectWithoutContext("TrainingStarted",
                                             MakeCallback(&Cell::OnTraining, this));
        m_device->TraceConnectWithoutContext("PrivacySpent", MakeCallback(&Cell::OnSpent, this));
        m_center = std::make_unique<Puppet>(m_network.nodes.Get(0), m_isTcp);
    }

    /** @return a number that depends on everything that was sent. */
    uint64_t Run()
    {
        Simulator::Schedule(Time(0), &Puppet::Listen, m_center.get());
        Simulator::Schedule(MilliSeconds(10), &Cell::Attack, this);
        Simulator::Stop(END);
        Simulator::Run();
        // Fragments, acknowledgments, JOIN and DONE with their repetitions, a REPAIR every 50 ms.
        Require(m_sent < 500 + 60 * m_attacks, "a device does not send without end");
        return m_digest;
    }

  private:
    void Attack()
    {
        if (m_input.IsEmpty() || ++m_attacks > 60)
        {
            return;
        }
        MessageHints hints;
        hints.round = m_round;
        hints.bits = BITS;
        hints.dimension = TinyNetwork::DIMENSION;
        hints.fragments = 2;
        hints.nowNs = static_cast<uint64_t>(Simulator::Now().GetNanoSeconds());
        hints.deadlineNs = hints.nowNs + 2000000000;
        const uint8_t what = m_input.Byte();
        if (what < 8)
        {
            m_center->Send(m_input.Take(m_input.Below(80)));
        }
        else if (what < 12 && m_isTcp)
        {
            m_center->Close();
        }
        else if (what < 100)
        {
            // A round as it should be: a grant, then the model in two fragments.
            hints.sequence = ++m_sequence;
            hints.round = ++m_round;
            m_center->Send(MakeMessage(m_input, FederatedHeader::GRANT, hints));
            for (int left = 2; left > 0; --left)
            {
                hints.device = FederatedHeader::ALL_DEVICES;
                m_center->Send(MakeMessage(m_input, FederatedHeader::MODEL, hints));
            }
        }
        else
        {
            const auto type = static_cast<uint8_t>(m_input.Pick<int>({FederatedHeader::ACK,
                                                                      FederatedHeader::MODEL,
                                                                      FederatedHeader::MODEL,
                                                                      FederatedHeader::GRANT,
                                                                      FederatedHeader::PAGE,
                                                                      FederatedHeader::REJOIN,
                                                                      FederatedHeader::UPDATE,
                                                                      FederatedHeader::JOIN,
                                                                      FederatedHeader::DONE,
                                                                      FederatedHeader::REPAIR,
                                                                      FederatedHeader::LEAVE}));
            hints.sequence = type == FederatedHeader::GRANT ? ++m_sequence : m_center->sequence;
            m_center->Send(MakeMessage(m_input, type, hints));
        }
        const uint8_t pause = m_input.Byte();
        Simulator::Schedule(pause < 128   ? MicroSeconds(pause)
                            : pause < 240 ? MilliSeconds(pause - 128)
                                          : MilliSeconds(200 * (pause - 239)),
                            &Cell::Attack,
                            this);
    }

    void OnTraining(const FederatedDevice::TrainingPlan& plan)
    {
        Require(plan.duration >= Time(0), "training does not end before it begins");
        m_isSpent = false;
    }

    void OnSpent(uint32_t, const PrivacyLedger&)
    {
        Require(!m_isSpent, "an update is entered into the ledger once");
        m_isSpent = true;
    }

    void OnSent(Ptr<const Packet> packet)
    {
        ++m_sent;
        Bytes message(packet->GetSize());
        packet->CopyData(message.data(), packet->GetSize());
        FederatedHeader header;
        Require(header.Read(message.data(), message.size()) == FederatedHeader::READ_OK,
                "a device sends messages that can be read");
        Require(message.size() <= 100, "no message is larger than FragmentSize");
        for (uint8_t byte : message)
        {
            m_digest = (m_digest ^ byte) * 1099511628211ULL;
        }
        if (header.type == FederatedHeader::UPDATE)
        {
            Require(m_isSpent, "no fragment is sent before the ledger has the update");
            Require(m_isFloats ? header.bits == 32 : header.bits <= BITS,
                    "a device sends no more bits than it offers");
        }
        Require(m_device->GetBufferedBytes() <= 100 * TinyNetwork::DIMENSION + 4096,
                "the memory of a device follows from its task");
    }

    FuzzInput m_input;
    TinyNetwork m_network;
    bool m_isTcp = false;
    bool m_isFloats = false;
    Ptr<FederatedDevice> m_device;
    std::unique_ptr<Puppet> m_center;
    uint32_t m_sequence = 0;
    uint32_t m_round = 0;
    uint32_t m_attacks = 0;
    uint32_t m_sent = 0;
    bool m_isSpent = false;
    uint64_t m_digest = 0;
};

uint64_t
Simulate(const FuzzInput& input)
{
    return Cell(input).Run();
}

} // namespace

extern "C" int
LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size)
{
    const FuzzInput input(data, size);
    const uint64_t digest = Simulate(input);
    if (size > 0 && (data[0] & 1) != 0)
    {
        Require(Simulate(input) == digest, "the same input gives the same messages");
    }
    return 0;
}
