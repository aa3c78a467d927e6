// SPDX-License-Identifier: GPL-2.0-only

/**
 * @file
 * From fragments to a model: FragmentAssembler, UpdateCollector, DescribeUpdate, DecodeUpdate and
 * UpdateFuser, fed with fragments of up to three devices in any order. A second assembler that
 * knows each coordinate by itself says which fragments fit and what was received; a second fusion
 * adds coordinate by coordinate in double precision.
 */

#include "fuzz-message.h"

#include "ns3/fixed-link-noise.h"
#include "ns3/fragment-assembler.h"
#include "ns3/identity-quantizer.h"
#include "ns3/no-link-noise.h"
#include "ns3/string.h"
#include "ns3/unbiased-stochastic-quantizer.h"
#include "ns3/uniform-fusion.h"
#include "ns3/update-collector.h"
#include "ns3/update-fuser.h"

#include <cmath>
#include <map>
#include <optional>

using namespace ns3;
using namespace ns3::federated;
using namespace ns3::fuzz;

namespace
{

using Result = FragmentAssembler::Result;

/** An assembler that is too simple to be wrong. */
struct NaiveAssembler
{
    /** What is known of a coordinate. */
    struct Coordinate
    {
        bool has = false;
        uint32_t word = 0; // its bits, the least significant first
        bool hasInterval = false;
        float low = 0;
        float high = 0;
    };

    NaiveAssembler(std::size_t dimension, unsigned width)
        : bits(width),
          coordinates(dimension)
    {
    }

    Result Accept(const FederatedHeader& header, const uint8_t* payload)
    {
        const std::size_t d = coordinates.size();
        const std::size_t begin = header.first;
        const std::size_t end = begin + header.coordinates;
        if (!header.IsValid() || header.bits != bits || begin == end || end > d ||
            begin * bits % 8 != 0 || (end < d && end * bits % 8 != 0) || header.fragments == 0 ||
            header.fragments > d || (fragments > 0 && header.fragments != fragments) ||
            header.payloadLength != (header.coordinates * std::size_t{bits} + 7) / 8)
        {
            return FragmentAssembler::INVALID;
        }
        if (has.count(header.fragment) > 0)
        {
            return FragmentAssembler::DUPLICATE;
        }
        for (std::size_t i = begin; i < end; ++i)
        {
            if (coordinates[i].has)
            {
                return FragmentAssembler::INVALID;
            }
        }
        std::vector<uint32_t> words;
        for (std::size_t i = 0; i < end - begin; ++i)
        {
            uint32_t word = 0;
            for (unsigned bit = 0; bit < bits; ++bit)
            {
                const std::size_t at = i * bits + bit;
                word |= (payload[at / 8] >> at % 8 & 1U) << bit;
            }
            if (bits == 32 && (word >> 23 & 0xff) == 0xff)
            {
                return FragmentAssembler::NOT_FINITE;
            }
            words.push_back(word);
        }
        fragments = header.fragments;
        has[header.fragment] = true;
        for (std::size_t i = begin; i < end; ++i)
        {
            coordinates[i].has = true;
            coordinates[i].word = words[i - begin];
            for (const IntervalRange& interval : header.intervals)
            {
                if (interval.begin <= i && i < interval.end)
                {
                    coordinates[i].hasInterval = true;
                    coordinates[i].low = interval.low;
                    coordinates[i].high = interval.high;
                }
            }
        }
        return FragmentAssembler::ACCEPTED;
    }

    unsigned bits;
    std::vector<Coordinate> coordinates;
    uint32_t fragments = 0;
    std::map<uint32_t, bool> has;
};

/** Compare what both assemblers have. */
void
Compare(const FragmentAssembler& update, const NaiveAssembler& naive)
{
    const auto& coordinates = naive.coordinates;
    std::size_t next = 0; // coordinate
    std::size_t last = SIZE_MAX;
    const PackedUpdate packed = update.GetPacked();
    for (const CoordinateRange& range : packed.ranges)
    {
        Require(range.begin < range.end && range.end <= coordinates.size() &&
                    (last == SIZE_MAX || range.begin > last),
                "received ranges ascend and neither overlap nor touch");
        for (; next < range.begin; ++next)
        {
            Require(!coordinates[next].has, "a received coordinate is in a range");
        }
        for (; next < range.end; ++next)
        {
            Require(coordinates[next].has, "a range has only received coordinates");
            for (unsigned bit = 0; bit < naive.bits; ++bit)
            {
                const std::size_t at = next * naive.bits + bit;
                Require((packed.payload[at / 8] >> at % 8 & 1U) ==
                            (coordinates[next].word >> bit & 1U),
                        "a received coordinate has the bits that were sent");
            }
        }
        last = range.end;
    }
    for (; next < coordinates.size(); ++next)
    {
        Require(!coordinates[next].has, "a received coordinate is in a range");
    }
    next = 0;
    for (const IntervalRange& interval : packed.intervals)
    {
        Require(interval.begin >= next && interval.begin < interval.end &&
                    interval.end <= coordinates.size(),
                "received intervals ascend within the update");
        for (; next < interval.begin; ++next)
        {
            Require(!coordinates[next].hasInterval, "a received interval is kept");
        }
        for (; next < interval.end; ++next)
        {
            Require(coordinates[next].hasInterval && coordinates[next].low == interval.low &&
                        coordinates[next].high == interval.high,
                    "a coordinate has the interval that was sent with it");
        }
    }
    uint32_t missing = 0;
    for (const auto& [first, count] : update.GetMissing(SIZE_MAX))
    {
        for (uint32_t i = first; i < first + count; ++i)
        {
            Require(naive.has.count(i) == 0, "a received fragment is not missing");
        }
        missing += count;
    }
    Require(missing + naive.has.size() == naive.fragments, "all other fragments are missing");
    Require(update.GetReceived() == naive.has.size() && update.GetFragments() == naive.fragments,
            "fragments are counted");
    const bool isComplete = std::all_of(
        coordinates.begin(), coordinates.end(), [](const auto& one) { return one.has; });
    Require(update.IsComplete() == isComplete, "an update is complete if all is there");
}

/** @return a coordinate as the unbiased quantizer (or a float) decodes it. */
double
Decode(const NaiveAssembler::Coordinate& one, unsigned bits)
{
    if (bits == 32)
    {
        float value;
        std::memcpy(&value, &one.word, sizeof(value));
        return value;
    }
    const double steps = std::pow(2.0, bits) - 1;
    return double{one.low} + (double{one.high} - double{one.low}) * (one.word / steps);
}

/** @return the largest number that decoding a coordinate meets: rounding errors scale with it. */
double
GetScale(const NaiveAssembler::Coordinate& one, unsigned bits)
{
    return bits == 32 ? std::abs(Decode(one, bits))
                      : std::abs(double{one.low}) + std::abs(double{one.high});
}

/** What all executions share. */
struct World
{
    Ptr<Quantizer> levels = CreateObject<UnbiasedStochasticQuantizer>();
    Ptr<Quantizer> floats = CreateObject<IdentityQuantizer>();
    Ptr<FusionRule> rule = CreateObject<UniformFusion>();
    Ptr<LinkNoise> noise = CreateObject<NoLinkNoise>();
};

constexpr double EPSILON = 1e-5; // of float arithmetic with a few terms

/** Decode each update, then fuse all of them, and compare with sums in double precision. */
void
CheckFusion(World& world,
            const UpdateCollector& collector,
            const std::map<uint32_t, NaiveAssembler>& naive,
            unsigned bits,
            LossPolicy policy,
            const std::vector<float>& model)
{
    const Quantizer& quantizer = bits == 32 ? *world.floats : *world.levels;
    const unsigned resolution = bits == 32 ? 4 : bits;
    const std::size_t d = model.size();
    std::vector<FuserInput> inputs;
    std::vector<const NaiveAssembler*> usable;
    for (const auto& [device, participant] : collector.GetParticipants())
    {
        FuserInput one;
        one.device = device;
        one.bits = resolution;
        one.packed = participant->update.GetPacked();
        DeliveredUpdate delivered;
        const bool canBeUsed = DescribeUpdate(one.packed, quantizer, resolution, delivered);
        const NaiveAssembler& reference = naive.at(device);
        Require(canBeUsed == !reference.has.empty(), "an update is usable if a part was received");
        if (canBeUsed)
        {
            usable.push_back(&reference);
            std::vector<float> values(d, 77);
            DecodeUpdate(delivered, values.data());
            for (std::size_t i = 0; i < d; ++i)
            {
                const auto& coordinate = reference.coordinates[i];
                const double expected = coordinate.has ? Decode(coordinate, bits) : 77;
                Require(std::abs(values[i] - expected) <=
                            EPSILON * GetScale(coordinate, bits) + 1e-37,
                        "a coordinate is decoded as the quantizer says");
            }
        }
        inputs.push_back(std::move(one));
    }
    UpdateFuser::Rules rules;
    rules.quantizer = &quantizer;
    rules.fusionRule = PeekPointer(world.rule);
    rules.noise = PeekPointer(world.noise);
    rules.lossPolicy = policy;
    const FusedModel fused = UpdateFuser(rules).Fuse(model, inputs, 1);
    Require(fused.devices.size() == usable.size(), "each usable update is reported");
    if (fused.skipped)
    {
        Require(fused.overflowed || usable.empty(), "a round is skipped only for a reason");
        return;
    }
    Require(fused.model.size() == d, "a fused model has d coordinates");
    if (policy == LOSS_DROP)
    {
        usable.erase(std::remove_if(usable.begin(),
                                    usable.end(),
                                    [](const NaiveAssembler* one)
                                    {
                                        return !std::all_of(one->coordinates.begin(),
                                                            one->coordinates.end(),
                                                            [](const auto& c) { return c.has; });
                                    }),
                     usable.end());
    }
    std::size_t untouched = 0;
    for (std::size_t i = 0; i < d; ++i)
    {
        Require(std::isfinite(fused.model[i]), "a fused model is finite");
        double sum = 0;
        double scale = std::abs(model[i]);
        double count = 0;
        for (const NaiveAssembler* one : usable)
        {
            if (one->coordinates[i].has)
            {
                sum += Decode(one->coordinates[i], bits);
                scale += GetScale(one->coordinates[i], bits);
                ++count;
            }
        }
        untouched += count == 0 ? 1 : 0;
        const double shares = policy == LOSS_ZERO ? static_cast<double>(usable.size()) : count;
        const double expected = model[i] + (count > 0 ? sum / shares : 0);
        Require(std::abs(fused.model[i] - expected) <= EPSILON * scale + 1e-37,
                "a fused coordinate is the model plus the mean of what was delivered");
    }
    Require(std::abs(fused.untouchedFraction - double(untouched) / double(d)) < 1e-9,
            "coordinates that nobody delivered are counted");
    double weights = 0;
    for (const FusedDevice& device : fused.devices)
    {
        Require(device.weight >= 0, "no weight is negative");
        weights += device.weight;
    }
    Require(weights <= 1 + 1e-9, "weights sum to at most 1");
}

} // namespace

extern "C" int
LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size)
{
    static World world;
    FuzzInput input(data, size);
    MessageHints hints;
    hints.dimension = 1 + input.Below(250);
    hints.wireBits = input.Pick<uint8_t>({2, 4, 32, 1, 3, 8, 5, 7, 11, 16});
    hints.fragments = 1 + input.Below(8);
    hints.bits = hints.wireBits;
    const auto policy = input.Pick({LOSS_RENORMALIZE, LOSS_ZERO, LOSS_DROP});
    std::vector<float> model(hints.dimension);
    for (std::size_t i = 0; i < model.size(); ++i)
    {
        model[i] = 0.01F * static_cast<float>(i);
    }

    uint32_t answered = 0;
    uint32_t started = 0;
    uint32_t reported = 0;
    UpdateCollector collector([&answered](uint32_t) { ++answered; },
                              [&started](uint32_t) { ++started; },
                              [&reported](const UpdateRecord&) { ++reported; });
    UpdateCollector::Rules rules;
    rules.round = 1;
    rules.dimension = hints.dimension;
    collector.Begin(rules);
    std::map<uint32_t, NaiveAssembler> naive;
    const uint32_t devices = 1 + input.Below(3);
    for (uint32_t device = 0; device < devices; ++device)
    {
        collector.Add(device, 0, hints.bits, hints.wireBits, Seconds(1));
        naive.emplace(device, NaiveAssembler(hints.dimension, hints.wireBits));
    }
    for (int64_t now = 1; !input.IsEmpty() && now < 40; ++now)
    {
        const uint32_t device = input.Below(devices);
        const Bytes message = MakeMessage(input, FederatedHeader::UPDATE, hints);
        const ExactCopy copy(message);
        FederatedHeader header;
        if (header.Read(copy.Get(), copy.GetSize()) != FederatedHeader::READ_OK ||
            header.type != FederatedHeader::UPDATE || header.rotated || header.interleaved)
        {
            continue;
        }
        const uint8_t* payload = copy.Get() + header.GetSize();
        const auto reason = collector.TakeUpdate(device, header, payload, 0, Seconds(now));
        NaiveAssembler& reference = naive.at(device);
        Require(reason == GetDropReason(reference.Accept(header, payload)),
                "both assemblers agree on whether a fragment fits, and why not");
        Compare(collector.Find(device)->update, reference);
    }
    collector.Finish();
    const auto count = [&naive](const auto& holds)
    { return std::count_if(naive.begin(), naive.end(), holds); };
    const auto received = count([](const auto& one) { return !one.second.has.empty(); });
    Require(started == received && reported == received,
            "each update of which something was received is reported once");
    CheckFusion(world, collector, naive, hints.wireBits, policy, model);
    return 0;
}
