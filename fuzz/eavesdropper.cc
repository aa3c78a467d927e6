// SPDX-License-Identifier: GPL-2.0-only

/**
 * @file
 * The eavesdropper hears any frames: bytes that are not frames, frames and aggregates around
 * messages of any kind. Every frame is counted once, memory follows from the attributes, and what
 * was captured can always be asked for.
 */

#include "fuzz-message.h"

#include "ns3/dp-stochastic-quantizer.h"
#include "ns3/eavesdropper.h"
#include "ns3/identity-quantizer.h"
#include "ns3/optimal-dp-quantizer.h"
#include "ns3/pointer.h"
#include "ns3/random-coordinates-quantizer.h"
#include "ns3/randomized-response-quantizer.h"
#include "ns3/simulator.h"
#include "ns3/uinteger.h"
#include "ns3/unbiased-stochastic-quantizer.h"

using namespace ns3;
using namespace ns3::fuzz;

namespace
{

constexpr uint32_t DIMENSION = 200;
constexpr uint32_t MAX_DEVICES = 4;

void
Append16(Bytes& bytes, std::size_t number)
{
    bytes.push_back(static_cast<uint8_t>(number >> 8));
    bytes.push_back(static_cast<uint8_t>(number));
}

/** LLC/SNAP, IPv4 and UDP around a message. */
Bytes
MakePacket(const Bytes& message)
{
    Bytes packet{0xaa, 0xaa, 3, 0, 0, 0, 8, 0, 0x45, 0};
    Append16(packet, 28 + message.size());
    packet.insert(packet.end(), {0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2});
    Append16(packet, 9);
    Append16(packet, 9);
    Append16(packet, 8 + message.size());
    Append16(packet, 0);
    packet.insert(packet.end(), message.begin(), message.end());
    return packet;
}

/** A QoS data frame with packets: one, or an A-MSDU. */
Bytes
MakeFrame(FuzzInput& input, const std::vector<Bytes>& packets)
{
    Bytes frame(24);
    frame[0] = input.Byte() < 220 ? 0x88 : input.Byte();
    frame[1] = input.Byte() < 200 ? 0x01 : input.Byte();
    if ((frame[1] & 3) == 3)
    {
        frame.resize(30);
    }
    const bool isAggregate = packets.size() > 1 || input.Byte() >= 240;
    if ((frame[0] & 0x80) != 0)
    {
        frame.push_back(isAggregate ? 0x80 : 0);
        frame.push_back(0);
    }
    for (const Bytes& packet : packets)
    {
        if (isAggregate)
        {
            while ((frame.size() - 26) % 4 != 0 && frame.size() > 26)
            {
                frame.push_back(0);
            }
            frame.resize(frame.size() + 12);
            Append16(frame, input.Near(static_cast<uint32_t>(packet.size())));
        }
        frame.insert(frame.end(), packet.begin(), packet.end());
    }
    frame.resize(frame.size() + 4); // the frame check sequence
    for (uint32_t left = input.Byte() < 220 ? 0 : input.Below(4); left > 0; --left)
    {
        frame[input.Below(static_cast<uint32_t>(frame.size()))] = input.Byte();
    }
    if (input.Byte() >= 230)
    {
        frame.resize(input.Below(static_cast<uint32_t>(frame.size())));
    }
    return frame;
}

Bytes
HearOne(FuzzInput& input, MessageHints& hints)
{
    if (input.Byte() >= 240)
    {
        return input.Take(input.Below(64));
    }
    std::vector<Bytes> packets;
    for (uint32_t left = 1 + (input.Byte() < 200 ? 0 : input.Below(3)); left > 0; --left)
    {
        hints.round += input.Byte() >= 230 ? 1 : 0;
        hints.device = input.Below(MAX_DEVICES + 1);
        const auto type = static_cast<uint8_t>(input.Pick<int>({FederatedHeader::UPDATE,
                                                                FederatedHeader::UPDATE,
                                                                FederatedHeader::MODEL,
                                                                FederatedHeader::GRANT,
                                                                FederatedHeader::DONE,
                                                                FederatedHeader::JOIN,
                                                                255}));
        packets.push_back(MakePacket(MakeMessage(input, type, hints)));
    }
    return MakeFrame(input, packets);
}

void
CheckCapture(const Ptr<Eavesdropper>& listener)
{
    std::vector<float> values;
    std::vector<bool> known;
    Require(listener->GetDevices().size() <= MAX_DEVICES, "no more devices are kept than allowed");
    for (uint32_t device : listener->GetDevices())
    {
        const auto record = listener->GetRecord(device);
        Require(record.updateFraction >= 0 && record.updateFraction <= 1 &&
                    record.modelFraction >= 0 && record.modelFraction <= 1,
                "fractions are from 0 to 1");
        Require(record.fragments <= record.frames && record.fragments <= record.planned,
                "there are no more fragments than frames, or than an update has");
        const bool captured = listener->GetUpdate(device, values, known);
        Require(values.size() == DIMENSION && known.size() == DIMENSION,
                "an update has d coordinates");
        Require(!captured || record.frames > 0, "an update is in frames");
    }
    listener->GetModel(values, known);
    Require(values.size() == DIMENSION && known.size() == DIMENSION, "a model has d coordinates");
    // A rotated update has up to twice as many coordinates; floats, and what is known.
    Require(listener->GetBufferedBytes() <= 8 * DIMENSION * (MAX_DEVICES + 2) + 1024,
            "memory follows from the attributes");
}

} // namespace

extern "C" int
LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size)
{
    static const std::vector<Ptr<Quantizer>> quantizers{CreateObject<DpStochasticQuantizer>(),
                                                        CreateObject<UnbiasedStochasticQuantizer>(),
                                                        CreateObject<IdentityQuantizer>(),
                                                        CreateObject<RandomizedResponseQuantizer>(),
                                                        CreateObject<OptimalDpQuantizer>(),
                                                        CreateObject<RandomCoordinatesQuantizer>()};
    FuzzInput input(data, size);
    const auto listener = CreateObject<Eavesdropper>();
    listener->SetAttribute("Dimension", UintegerValue(DIMENSION));
    listener->SetAttribute("MaxDevices", UintegerValue(MAX_DEVICES));
    listener->SetAttribute("Quantizer", PointerValue(quantizers[input.Below(quantizers.size())]));
    MessageHints hints;
    hints.dimension = DIMENSION;
    hints.fragments = 1 + input.Below(4);
    hints.wireBits = input.Pick<uint8_t>({2, 4, 1, 8, 32, 3});
    hints.bits = hints.wireBits;
    const uint8_t flags = input.Byte();
    hints.isRotated = flags >= 200;
    hints.isInterleaved = flags % 4 == 3;
    hints.dimension = hints.isRotated ? 256 : DIMENSION;
    uint64_t frames = 0;
    while (!input.IsEmpty() && frames < 40)
    {
        const ExactCopy frame(HearOne(input, hints));
        listener->HearFrame(frame.Get(), frame.GetSize(), 10);
        Require(listener->GetFrames() == ++frames, "every frame is counted");
        if (input.Byte() >= 250)
        {
            listener->EndRound();
        }
    }
    CheckCapture(listener);
    listener->Dispose();
    Simulator::Destroy();
    return 0;
}
