// SPDX-License-Identifier: GPL-2.0-only

/**
 * @file
 * Protected messages of a center and three devices, delivered to anybody, in any order, as often as
 * the input says, exact or changed. Only what was sealed opens, at the receiver that it is for,
 * once each, with the bytes that were sealed. The replay window alone: any counters, against a set.
 */

#include "fuzz-message.h"

#include "ns3/message-protection.h"
#include "ns3/simulator.h"

#include <map>
#include <set>
#include <tuple>

using namespace ns3;
using namespace ns3::federated;
using namespace ns3::fuzz;

namespace
{

constexpr uint32_t DEVICES = 3;
constexpr uint32_t ALL = FederatedHeader::ALL_DEVICES; // the group; as a party, the center
constexpr uint64_t WINDOW = 1024;                      // counters, the highest one included

/** A set of counters that is too simple to be wrong. */
struct NaiveWindow
{
    bool IsNew(uint64_t counter) const
    {
        const uint64_t highest = seen.empty() ? 0 : *seen.rbegin();
        return counter > 0 && seen.count(counter) == 0 &&
               (counter > highest || highest - counter <= WINDOW - 1);
    }

    std::set<uint64_t> seen;
};

void
CheckWindow(FuzzInput& input)
{
    ReplayWindow window;
    NaiveWindow naive;
    while (!input.IsEmpty())
    {
        const uint64_t highest = naive.seen.empty() ? 0 : *naive.seen.rbegin();
        const uint8_t how = input.Byte();
        const uint64_t step =
            input.Pick<uint64_t>({0, 1, 2, 63, 64, WINDOW - 1, WINDOW, WINDOW + 1, 2 * WINDOW});
        const uint64_t counter = how < 100   ? highest - step
                                 : how < 180 ? highest + step
                                 : how < 240 ? highest - input.Word() % (2 * WINDOW)
                                             : input.Word64();
        const bool isNew = window.IsNew(counter);
        Require(isNew == naive.IsNew(counter), "the window knows which counters are new");
        if (isNew)
        {
            window.Mark(counter);
            naive.seen.insert(counter);
        }
    }
}

/** A message that was sealed. */
struct Sealed
{
    Bytes bytes;
    Bytes plain;        // with a checksum of 0
    uint32_t sender;    // a device, or the center
    uint32_t recipient; // a device, the group, or from a device the center
    uint64_t counter;
};

class Parties
{
  public:
    Parties()
        : m_center(MessageProtection::MakeForCenter("a key", 1))
    {
        for (uint32_t device = 0; device < DEVICES; ++device)
        {
            m_devices.push_back(MessageProtection::MakeForDevice(
                MessageProtection::DeriveDeviceKey("a key", 1, device), device));
        }
        // Another federation, whose messages nobody here may open.
        m_stranger = MessageProtection::MakeForCenter("a key", 2);
    }

    void Seal(FuzzInput& input)
    {
        const uint32_t sender = input.Pick<uint32_t>({ALL, 0, 1, 2});
        const uint32_t recipient = sender == ALL ? input.Pick<uint32_t>({0, 1, 2, ALL}) : ALL;
        const bool isStranger = input.Byte() >= 240;
        MessageProtection& from = sender != ALL ? *m_devices[sender]
                                  : isStranger  ? *m_stranger
                                                : *m_center;
        // Many that get lost on the way, to move the window.
        const uint32_t lost =
            input.Byte() < 200 ? 0 : input.Pick<uint32_t>({1, 62, 1022, 1023, 1024});
        const Bytes payload = input.Take(input.Below(40));
        FederatedHeader header;
        header.type = FederatedHeader::DONE;
        header.device = sender == ALL ? recipient : sender;
        header.round = input.Byte();
        header.payloadLength = static_cast<uint16_t>(payload.size());
        for (uint32_t i = 0; i < (recipient == ALL && sender == ALL ? lost % 64 : lost); ++i)
        {
            from.Seal(header, payload.data(), recipient);
        }
        const auto packet = from.Seal(header, payload.data(), recipient);
        Sealed one;
        one.sender = sender;
        one.recipient = recipient;
        one.bytes.resize(packet->GetSize());
        packet->CopyData(one.bytes.data(), packet->GetSize());
        header.checksum = 0;
        one.plain.resize(header.GetSize());
        header.Write(one.plain.data());
        one.plain.insert(one.plain.end(), payload.begin(), payload.end());
        one.counter = 0;
        for (std::size_t i = 8; i < 16; ++i)
        {
            one.counter = one.counter << 8 | one.bytes[i];
        }
        (isStranger && sender == ALL ? m_foreign : m_sealed).push_back(std::move(one));
    }

    void Deliver(FuzzInput& input)
    {
        const bool isForeign = input.Byte() >= 230 && !m_foreign.empty();
        const auto& all = isForeign ? m_foreign : m_sealed;
        if (all.empty())
        {
            return;
        }
        const Sealed& one = all[input.Below(static_cast<uint32_t>(all.size()))];
        Bytes bytes = one.bytes;
        const uint8_t how = input.Byte();
        if (how >= 248)
        {
            bytes = input.Take(input.Below(120)); // anything
        }
        else if (how >= 128)
        {
            Change(input, bytes);
        }
        const uint32_t receiver = input.Byte() < 160 && one.recipient != ALL ? one.recipient
                                  : input.Byte() < 160 && one.sender != ALL
                                      ? ALL
                                      : input.Pick<uint32_t>({0, 1, 2, ALL});
        const bool isExact =
            !isForeign && std::any_of(m_sealed.begin(),
                                      m_sealed.end(),
                                      [&](const Sealed& s) { return s.bytes == bytes; });
        Check(one, bytes, receiver, isExact && bytes == one.bytes);
    }

  private:
    static void Change(FuzzInput& input, Bytes& bytes)
    {
        for (uint32_t left = 1 + input.Below(3); left > 0 && !bytes.empty(); --left)
        {
            const auto size = static_cast<uint32_t>(bytes.size());
            const uint8_t how = input.Byte();
            if (how < 200)
            {
                bytes[input.Below(size)] ^= static_cast<uint8_t>(1U << how % 8);
            }
            else if (how < 230)
            {
                bytes.resize(input.Below(size));
            }
            else
            {
                bytes.push_back(input.Byte());
            }
        }
    }

    /** Deliver bytes, and check what becomes of them. */
    void Check(const Sealed& one, const Bytes& bytes, uint32_t receiver, bool isExact)
    {
        using Result = MessageProtection::Result;
        const ExactCopy copy(bytes);
        const uint8_t* message = copy.Get();
        auto size = static_cast<uint32_t>(copy.GetSize());
        MessageProtection& to = receiver == ALL ? *m_center : *m_devices[receiver];
        const Result result = to.Open(message, size);
        const bool isMeant = one.sender != ALL      ? receiver == ALL
                             : one.recipient == ALL ? receiver != ALL
                                                    : receiver == one.recipient;
        if (!isExact || !isMeant)
        {
            Require(result != Result::OPENED, "only what was sealed for a receiver opens there");
            return;
        }
        // One window for each key: of a device upwards, of a device downwards, of the group.
        NaiveWindow& window = m_windows[{receiver, one.sender, one.recipient}];
        Require((result == Result::OPENED) == window.IsNew(one.counter),
                "a sealed message opens once, unless it is too old");
        Require(result == Result::OPENED || result == Result::REPLAYED,
                "a sealed message that does not open was replayed");
        if (result == Result::OPENED)
        {
            Require(Bytes(message, message + size) == one.plain,
                    "a message opens as it was sealed");
            window.seen.insert(one.counter);
        }
    }

    std::unique_ptr<MessageProtection> m_center;
    std::unique_ptr<MessageProtection> m_stranger;
    std::vector<std::unique_ptr<MessageProtection>> m_devices;
    std::vector<Sealed> m_sealed;
    std::vector<Sealed> m_foreign;
    std::map<std::tuple<uint32_t, uint32_t, uint32_t>, NaiveWindow> m_windows;
};

} // namespace

extern "C" int
LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size)
{
    FuzzInput input(data, size);
    if (input.Byte() < 64)
    {
        CheckWindow(input);
        return 0;
    }
    Require(MessageProtection::FindObstacle(1400, true).empty(),
            "the harness is built with the library that protects messages");
    {
        Parties parties;
        for (int left = 60; left > 0 && !input.IsEmpty(); --left)
        {
            input.Byte() < 100 ? parties.Seal(input) : parties.Deliver(input);
        }
    }
    Simulator::Destroy();
    return 0;
}
