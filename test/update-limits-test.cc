// SPDX-License-Identifier: GPL-2.0-only

#include "ns3/bit-packer.h"
#include "ns3/federated-random.h"
#include "ns3/fixed-interval.h"
#include "ns3/little-endian.h"
#include "ns3/max-abs-interval.h"
#include "ns3/min-max-interval.h"
#include "ns3/object-factory.h"
#include "ns3/optimal-dp-quantizer.h"
#include "ns3/update-limits.h"
#include "ns3/update-preparation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

using namespace ns3;
using namespace ns3::federated;

namespace
{

const double INFINITE = std::numeric_limits<double>::infinity();
const float UNKNOWN = std::numeric_limits<float>::quiet_NaN();
const float DENORMAL = std::numeric_limits<float>::denorm_min();

/**
 * @return an object from a text as attributes have it, as in "ns3::LaplaceQuantizer[Epsilon=1]".
 */
template <typename T>
Ptr<T>
Make(const std::string& text)
{
    std::istringstream stream(text);
    ObjectFactory factory;
    stream >> factory;
    return factory.Create<T>();
}

/** A federation as its center knows it. */
struct Public
{
    Public(const std::string& quantizerText, const std::string& rule, unsigned bits)
        : quantizer(Make<Quantizer>(quantizerText)),
          interval(rule.empty() ? nullptr : Make<IntervalRule>(rule))
    {
        terms.quantizer = PeekPointer(quantizer);
        if (interval)
        {
            terms.context = interval->GetPrivacyContext(CLIP_NONE, 0, bits);
            terms.hasOneInterval = !interval->IsPerLayer();
        }
        terms.context.bits = bits;
    }

    Public& Clip(ClipNorm norm, double bound)
    {
        terms.context.clipNorm = norm;
        terms.context.clipBound = bound;
        return *this;
    }

    Ptr<Quantizer> quantizer;
    Ptr<IntervalRule> interval;
    UpdateLimits::Terms terms;
};

/** A part that a test makes up. */
struct MadeUp
{
    static MadeUp Floats(const std::vector<float>& floats)
    {
        MadeUp part;
        part.count = floats.size();
        part.bytes.resize(4 * floats.size());
        for (std::size_t i = 0; i < floats.size(); ++i)
        {
            WriteLittleEndianFloat(floats[i], &part.bytes[4 * i]);
            part.largest = std::max(part.largest, std::abs(floats[i]));
        }
        return part;
    }

    static MadeUp Levels(const std::vector<uint16_t>& levels, unsigned wireBits)
    {
        MadeUp part;
        part.count = levels.size();
        part.bytes.resize(BitPacker::GetSize(levels.size(), wireBits));
        BitPacker::Pack(levels.data(), levels.size(), wireBits, part.bytes.data(), 0);
        return part;
    }

    MadeUp& On(float low, float high)
    {
        intervals.push_back({0, count, low, high});
        return *this;
    }

    MadeUp& Reports(float value)
    {
        distortion = value;
        return *this;
    }

    ReceivedPart Get() const
    {
        return {intervals, distortion, bytes.data(), count, largest};
    }

    std::vector<IntervalRange> intervals;
    float distortion = UNKNOWN;
    std::vector<uint8_t> bytes;
    std::size_t count = 0;
    float largest = 0;
};

bool
IsAllowed(const UpdateLimits::Terms& terms, const MadeUp& part)
{
    UpdateTally tally;
    return UpdateLimits(terms).Allows(part.Get(), tally);
}

/** All quantizers, each with a resolution that it has. */
struct Mechanism
{
    std::string quantizer;
    unsigned bits;
};

const std::vector<Mechanism> MECHANISMS{
    {"ns3::IdentityQuantizer", 4},
    {"ns3::UnbiasedStochasticQuantizer", 1},
    {"ns3::UnbiasedStochasticQuantizer", 16},
    {"ns3::DpStochasticQuantizer", 1},
    {"ns3::DpStochasticQuantizer[Epsilon=0.5]", 2},
    {"ns3::DpStochasticQuantizer[Epsilon=20]", 16},
    {"ns3::LaplaceQuantizer", 4},
    {"ns3::LaplaceQuantizer[Epsilon=100|Sensitivity=0.01]", 2},
    {"ns3::LaplaceQuantizer[Epsilon=3|Sensitivity=0]", 2},
    {"ns3::GaussianQuantizer[Sigma=0.1]", 4},
    {"ns3::GaussianQuantizer[Sigma=0.1|Step=0.5]", 4},
    {"ns3::RandomizedResponseQuantizer[Epsilon=1]", 1},
    {"ns3::RandomizedResponseQuantizer[Epsilon=8|Decoder=unbiased]", 1},
    {"ns3::RandomizedResponseQuantizer[Epsilon=3|Decoder=gain:2]", 1},
    {"ns3::RandomCoordinatesQuantizer[Epsilon=8|Coordinates=20]", 2},
    {"ns3::RandomCoordinatesQuantizer[Epsilon=8|Coordinates=20|Decoder=bayes]", 2},
    {"ns3::OptimalDpQuantizer[Epsilon=1]", 4},
    {"ns3::OptimalDpQuantizer[Epsilon=4]", 3},
};

constexpr std::size_t DIMENSION = 96;
const std::vector<std::size_t> LAYERS{40, 48, DIMENSION};

/** Values of very different sizes; sometimes all are the same, or exactly on levels. */
std::vector<float>
DrawUpdate(FederatedRandom& random)
{
    const double size = std::pow(10.0, random.Below(5) - 3.0);
    const uint32_t kind = random.Below(5);
    std::vector<float> values(DIMENSION);
    for (std::size_t i = 0; i < DIMENSION; ++i)
    {
        const double uniform = 2 * random.Uniform() - 1;
        values[i] = static_cast<float>(kind == 0   ? 0
                                       : kind == 1 ? size * (uniform > 0 ? 1 : -1)
                                       : kind == 2 ? size * uniform * (i < LAYERS[0] ? 1e-6 : 1)
                                       : kind == 3 ? 3 + size * uniform
                                                   : size * std::pow(uniform, 5));
    }
    return values;
}

/** Offer an update to the limits in parts of up to 32 coordinates, as fragments are cut. */
void
ExpectAllowed(const UpdateLimits::Terms& terms, const PreparedUpdate& update, bool sendsIntervals)
{
    const UpdateLimits limits(terms);
    UpdateTally tally;
    for (std::size_t begin = 0; begin < DIMENSION; begin += 32)
    {
        const std::size_t end = std::min(begin + 32, DIMENSION);
        std::vector<IntervalRange> intervals;
        for (const IntervalRange& range : update.intervals)
        {
            if (sendsIntervals && range.begin < end && range.end > begin)
            {
                intervals.push_back({std::max(range.begin, begin),
                                     std::min(range.end, end),
                                     range.low,
                                     range.high});
            }
        }
        float largest = 0;
        const uint8_t* payload = update.payload.data() + begin * update.wireBits / 8;
        for (std::size_t i = 0; update.wireBits == 32 && i < end - begin; ++i)
        {
            largest = std::max(largest, std::abs(ReadLittleEndianFloat(payload + 4 * i)));
        }
        EXPECT_TRUE(limits.Allows(
            {intervals, static_cast<float>(update.distortion), payload, end - begin, largest},
            tally))
            << "coordinates from " << begin << " on, distortion " << update.distortion;
    }
}

} // namespace

TEST(UpdateLimits, AllowHonestUpdatesOfEveryQuantizerIntervalAndClip)
{
    FederatedRandom random(3);
    uint32_t clipped = 0;
    for (const Mechanism& mechanism : MECHANISMS)
    {
        for (const std::string rule : {"ns3::FixedInterval[Low=-0.02|High=0.02]",
                                       "ns3::MaxAbsInterval",
                                       "ns3::MinMaxInterval",
                                       "ns3::MaxAbsInterval[PerLayer=true]",
                                       "ns3::MinMaxInterval[PerLayer=true]"})
        {
            for (const ClipNorm norm : {CLIP_NONE, CLIP_L1, CLIP_L2})
            {
                SCOPED_TRACE(mechanism.quantizer + " on " + rule + ", norm " +
                             std::to_string(norm));
                Public known(mechanism.quantizer, rule, mechanism.bits);
                known.Clip(norm, 0.7);
                known.terms.maxCoordinate = 14;
                known.terms.needsDistortion = true;
                known.terms.context.dimension = DIMENSION;
                UpdateSettings settings;
                settings.clipNorm = norm;
                settings.clipBound = 0.7;
                settings.intervalRule = PeekPointer(known.interval);
                settings.quantizer = PeekPointer(known.quantizer);
                settings.bits = mechanism.bits;
                settings.reportDistortion = true;
                for (int i = 0; i < 60; ++i)
                {
                    std::vector<float> values = DrawUpdate(random);
                    PreparedUpdate update;
                    PrepareUpdate(settings, LAYERS, random, values, update);
                    ASSERT_TRUE(update.valid);
                    clipped += update.clipFactor < 1;
                    ExpectAllowed(known.terms, update, SendsIntervals(settings));
                    // A center that was not told the interval rule limits less.
                    UpdateLimits::Terms unknown = known.terms;
                    unknown.context.intervalIsPublic = false;
                    unknown.hasOneInterval = false;
                    ExpectAllowed(unknown, update, SendsIntervals(settings));
                }
            }
        }
    }
    EXPECT_GT(clipped, 5000U) << "else the clip was not tried";
}

TEST(UpdateLimits, RejectFloatsThatClipIntervalAndNoiseCannotReach)
{
    struct Case
    {
        std::string name;
        std::string quantizer;
        ClipNorm norm;
        double most; // the largest magnitude that is allowed
    };

    // The clip is 10, the interval [-1, 1], coordinates without a clip are up to 50.
    const double laplace = 65 * std::log(2);
    const double gauss = std::sqrt(2 * laplace);
    const std::vector<Case> cases{
        {"exact", "ns3::IdentityQuantizer", CLIP_L1, 10},
        {"exact, l2", "ns3::IdentityQuantizer", CLIP_L2, 10},
        {"exact, no clip", "ns3::IdentityQuantizer", CLIP_NONE, 50},
        {"Laplace", "ns3::LaplaceQuantizer[Epsilon=1|Sensitivity=2]", CLIP_L1, 1 + 2 * laplace},
        {"Laplace, no clip",
         "ns3::LaplaceQuantizer[Epsilon=1|Sensitivity=2]",
         CLIP_NONE,
         1 + 2 * laplace},
        {"Laplace by the step",
         "ns3::LaplaceQuantizer[Epsilon=1|Sensitivity=0]",
         CLIP_L1,
         1 + 2.0 / 15 * laplace},
        {"Gauss", "ns3::GaussianQuantizer[Sigma=3]", CLIP_L2, 10 + 3 * gauss},
        {"Gauss, no clip", "ns3::GaussianQuantizer[Sigma=3]", CLIP_NONE, 50 + 3 * gauss},
        {"Gauss on a coarse grid",
         "ns3::GaussianQuantizer[Sigma=3|Step=6]",
         CLIP_L2,
         16 + 3 * gauss},
    };
    for (const Case& one : cases)
    {
        Public known(one.quantizer, "ns3::FixedInterval[Low=-1|High=1]", 4);
        known.Clip(one.norm, 10).terms.maxCoordinate = 50;
        for (const double sign : {1.0, -1.0})
        {
            const auto below = static_cast<float>(sign * one.most * (1 - 1e-6));
            const auto above = static_cast<float>(sign * one.most * (1 + 2e-4));
            const float huge = static_cast<float>(sign) * 3e38F;
            SCOPED_TRACE(one.name + ", " + std::to_string(below));
            EXPECT_TRUE(IsAllowed(known.terms, MadeUp::Floats({0, below, 0}).On(-1, 1)));
            EXPECT_FALSE(IsAllowed(known.terms, MadeUp::Floats({0, above, 0}).On(-1, 1)));
            EXPECT_FALSE(IsAllowed(known.terms, MadeUp::Floats({0, 0, huge}).On(-1, 1)));
        }
    }
}

TEST(UpdateLimits, RejectExactFloatsWhoseNormIsNotClipped)
{
    Public l1("ns3::IdentityQuantizer", "ns3::MaxAbsInterval", 4);
    l1.Clip(CLIP_L1, 1);
    Public l2("ns3::IdentityQuantizer", "ns3::MaxAbsInterval", 4);
    l2.Clip(CLIP_L2, 1);
    EXPECT_TRUE(IsAllowed(l1.terms, MadeUp::Floats({0.5F, -0.5F})));
    EXPECT_FALSE(IsAllowed(l1.terms, MadeUp::Floats({0.5F, -0.51F})));
    EXPECT_TRUE(IsAllowed(l2.terms, MadeUp::Floats({0.6F, -0.8F})));
    EXPECT_FALSE(IsAllowed(l2.terms, MadeUp::Floats({0.6F, -0.81F})));
    // All parts of an update together.
    UpdateTally tally;
    const UpdateLimits limits(l1.terms);
    EXPECT_TRUE(limits.Allows(MadeUp::Floats({0.4F}).Get(), tally));
    EXPECT_TRUE(limits.Allows(MadeUp::Floats({0.4F}).Get(), tally));
    EXPECT_FALSE(limits.Allows(MadeUp::Floats({0.4F}).Get(), tally));
    EXPECT_TRUE(limits.Allows(MadeUp::Floats({0.2F}).Get(), tally))
        << "what was rejected does not count";
}

TEST(UpdateLimits, RejectIntervalsThatAClippedUpdateCannotHave)
{
    struct Case
    {
        std::string name;
        std::string rule;
        ClipNorm norm;
        float low;
        float high;
        bool isAllowed;
    };

    const std::string fixed = "ns3::FixedInterval[Low=-20|High=20]";
    const std::string maxAbs = "ns3::MaxAbsInterval";
    const std::string layers = "ns3::MinMaxInterval[PerLayer=true]";
    const std::vector<Case> cases{
        {"as wide as the clip", maxAbs, CLIP_L1, -10, 10, true},
        {"narrow", maxAbs, CLIP_L1, -1e-9F, 1e-9F, true},
        {"nothing", maxAbs, CLIP_L1, 0, 0, true},
        {"wider at the upper end", maxAbs, CLIP_L1, -10, 10.0001F, false},
        {"wider at the lower end", maxAbs, CLIP_L2, -10.0001F, 10, false},
        {"far away", maxAbs, CLIP_L2, 11, 12, false},
        {"as wide as floats are", maxAbs, CLIP_L1, -1.7e38F, 1.7e38F, false},
        {"no clip", maxAbs, CLIP_NONE, -50, 50, true},
        {"no clip, beyond the limit", maxAbs, CLIP_NONE, -51, 50, false},
        {"a layer", layers, CLIP_L2, 9, 10, true},
        {"a layer beyond the clip", layers, CLIP_L2, 9, 10.0001F, false},
        {"rule not known", "", CLIP_L2, 9, 10.0001F, false},
        {"the public one", fixed, CLIP_L1, -20, 20, true},
        {"narrower than the public one", fixed, CLIP_L1, -1, 1, false},
        {"wider than the public one", fixed, CLIP_L1, -20, 21, false},
    };
    for (const std::string quantizer : {"ns3::DpStochasticQuantizer", "ns3::LaplaceQuantizer"})
    {
        for (const Case& one : cases)
        {
            Public known(quantizer, one.rule, 4);
            known.Clip(one.norm, 10).terms.maxCoordinate = 50;
            MadeUp part = quantizer == "ns3::LaplaceQuantizer" ? MadeUp::Floats({0, 0})
                                                               : MadeUp::Levels({1, 2}, 4);
            EXPECT_EQ(IsAllowed(known.terms, part.On(one.low, one.high)), one.isAllowed)
                << quantizer << ": " << one.name;
        }
    }
}

TEST(UpdateLimits, RejectASecondIntervalIfUpdatesHaveOne)
{
    for (const bool perLayer : {false, true})
    {
        const Public known("ns3::DpStochasticQuantizer",
                           perLayer ? "ns3::MaxAbsInterval[PerLayer=true]" : "ns3::MaxAbsInterval",
                           4);
        const UpdateLimits limits(known.terms);
        UpdateTally tally;
        EXPECT_TRUE(limits.Allows(MadeUp::Levels({1, 2}, 4).On(-1, 1).Get(), tally));
        EXPECT_TRUE(limits.Allows(MadeUp::Levels({1, 2}, 4).On(-1, 1).Get(), tally));
        EXPECT_EQ(limits.Allows(MadeUp::Levels({1, 2}, 4).On(-2, 2).Get(), tally), perLayer);
        UpdateTally other;
        EXPECT_EQ(limits.Allows(MadeUp::Levels({1, 2}, 4).On(-1, 1).On(-2, 2).Get(), other),
                  perLayer);
    }
}

TEST(UpdateLimits, RejectNoisyFloatsWithoutTheIntervalThatTheNoiseFollows)
{
    Public laplace("ns3::LaplaceQuantizer[Sensitivity=0]", "ns3::MaxAbsInterval", 4);
    EXPECT_FALSE(IsAllowed(laplace.terms, MadeUp::Floats({0, 0})));
    EXPECT_TRUE(IsAllowed(laplace.terms, MadeUp::Floats({0, 0}).On(-1, 1)));
    const Public exact("ns3::IdentityQuantizer", "ns3::MaxAbsInterval", 4);
    EXPECT_TRUE(IsAllowed(exact.terms, MadeUp::Floats({0, 0})));
}

TEST(UpdateLimits, RejectAMissingDistortionWhereWeightsFollowIt)
{
    Public known("ns3::DpStochasticQuantizer", "ns3::MaxAbsInterval", 1);
    const MadeUp part = MadeUp::Levels({0, 1}, 1).On(-1, 1);
    EXPECT_TRUE(IsAllowed(known.terms, part)) << "nobody asks for it";
    known.terms.needsDistortion = true;
    EXPECT_FALSE(IsAllowed(known.terms, part));
    MadeUp other = part;
    EXPECT_TRUE(IsAllowed(known.terms, other.Reports(4)));
}

TEST(UpdateLimits, RejectADistortionThatTheQuantizerCannotReach)
{
    struct Case
    {
        std::string quantizer;
        unsigned bits;
        double least; // on [-1, 1]
    };

    const double e = std::exp(1);
    const double tau = std::tanh(0.5);
    const std::vector<Case> cases{
        {"ns3::DpStochasticQuantizer[Epsilon=1]", 1, 4 * e / ((1 + e) * (1 + e))},
        {"ns3::DpStochasticQuantizer[Epsilon=1]", 2, 4.0 / 9 * e / ((1 + e) * (1 + e))},
        {"ns3::DpStochasticQuantizer[Epsilon=0]", 4, 1.0 / 225},
        {"ns3::LaplaceQuantizer[Epsilon=1|Sensitivity=2]", 4, 8},
        {"ns3::GaussianQuantizer[Sigma=3]", 4, 9},
        {"ns3::RandomizedResponseQuantizer[Epsilon=1|Decoder=gain:2]", 1, 4 * (1 - tau * tau)},
        {"ns3::RandomCoordinatesQuantizer[Epsilon=4|Coordinates=4|Decoder=gain:3]",
         2,
         9 * 0.5 * (1 - 0.5 * tau * tau)},
    };
    for (const Case& one : cases)
    {
        SCOPED_TRACE(one.quantizer + " " + std::to_string(one.bits));
        for (const std::string rule : {"ns3::FixedInterval[Low=-1|High=1]", "ns3::MaxAbsInterval"})
        {
            Public known(one.quantizer, rule, one.bits);
            known.terms.needsDistortion = true;
            known.terms.context.dimension = 8;
            const unsigned wireBits = known.quantizer->GetWireBits(one.bits);
            MadeUp part =
                wireBits == 32 ? MadeUp::Floats({0, 0}) : MadeUp::Levels({1, 1}, wireBits);
            part.On(-1, 1);
            const auto least = static_cast<float>(one.least);
            EXPECT_TRUE(IsAllowed(known.terms, part.Reports(least * 1.0001F)));
            EXPECT_FALSE(IsAllowed(known.terms, part.Reports(least * 0.999F)));
            EXPECT_FALSE(IsAllowed(known.terms, part.Reports(0)));
            EXPECT_FALSE(IsAllowed(known.terms, part.Reports(DENORMAL)));
        }
    }
}

TEST(UpdateLimits, AllowADistortionOfZeroOnlyWhereOneCanBeReported)
{
    struct Case
    {
        std::string name;
        std::string quantizer;
        float high;
        float distortion;
        bool isAllowed;
    };

    // The step on [-1e-22, 1e-22] is 2e-22, whose square is no float, not even a denormal one; the
    // least distortion on [-4e-22, 4e-22] is 2^-149 times 114.
    const std::string dp = "ns3::DpStochasticQuantizer[Epsilon=0]";
    const std::vector<Case> cases{
        {"exact floats", "ns3::IdentityQuantizer", 1, 0, true},
        {"values on levels", "ns3::UnbiasedStochasticQuantizer", 1, 0, true},
        {"no interval", dp, 0, 0, true},
        {"an interval without a distortion in floats", dp, 1e-23F, 0, true},
        {"a denormal distortion", dp, 4e-22F, 150 * DENORMAL, true},
        {"too small a denormal", dp, 4e-22F, DENORMAL, false},
        {"zero instead of a denormal", dp, 4e-22F, 0, false},
        {"zero", dp, 1, 0, false},
    };
    for (const Case& one : cases)
    {
        Public known(one.quantizer, "ns3::MaxAbsInterval", 1);
        known.terms.needsDistortion = true;
        MadeUp part = one.quantizer == "ns3::IdentityQuantizer" ? MadeUp::Floats({0, 0})
                                                                : MadeUp::Levels({1, 1}, 1);
        part.On(-one.high, one.high).Reports(one.distortion);
        EXPECT_EQ(IsAllowed(known.terms, part), one.isAllowed) << one.name;
    }
}

TEST(UpdateLimits, AddUpTheLeastDistortionOfLayers)
{
    // Two layers of 4 coordinates each, on [-1, 1] and [-3, 3]: 1 and 9, on average 5.
    Public known("ns3::DpStochasticQuantizer[Epsilon=0]", "ns3::MaxAbsInterval[PerLayer=true]", 1);
    known.terms.needsDistortion = true;
    known.terms.context.dimension = 8;
    const MadeUp narrow = MadeUp::Levels({1, 1, 0, 0}, 1).On(-1, 1);
    const MadeUp wide = MadeUp::Levels({1, 1, 0, 0}, 1).On(-3, 3);
    const auto both = [&](float distortion)
    {
        const UpdateLimits limits(known.terms);
        UpdateTally tally;
        MadeUp first = narrow;
        MadeUp second = wide;
        EXPECT_TRUE(limits.Allows(first.Reports(distortion).Get(), tally));
        return limits.Allows(second.Reports(distortion).Get(), tally);
    };
    EXPECT_TRUE(both(5));
    EXPECT_FALSE(both(4.99F));
    MadeUp first = narrow;
    EXPECT_FALSE(IsAllowed(known.terms, first.Reports(0.49F))) << "the other layer may be 0";
}

TEST(UpdateLimits, RejectAnotherDistortionThanTheFirstPartReported)
{
    Public known("ns3::IdentityQuantizer", "ns3::MaxAbsInterval", 4);
    known.terms.needsDistortion = true;
    const UpdateLimits limits(known.terms);
    UpdateTally tally;
    EXPECT_TRUE(limits.Allows(MadeUp::Floats({0}).Reports(1).Get(), tally));
    EXPECT_FALSE(limits.Allows(MadeUp::Floats({0}).Reports(0).Get(), tally));
    EXPECT_TRUE(limits.Allows(MadeUp::Floats({0}).Reports(1).Get(), tally));
}

TEST(UpdateLimits, RejectMoreAnswersThanTheQuantizerGives)
{
    const Public known(
        "ns3::RandomCoordinatesQuantizer[Epsilon=8|Coordinates=3]", "ns3::FixedInterval", 2);
    const float low = -0.01F;
    const UpdateLimits limits(known.terms);
    UpdateTally tally;
    const auto send = [&](const std::vector<uint16_t>& levels)
    { return limits.Allows(MadeUp::Levels(levels, 2).On(low, -low).Get(), tally); };
    EXPECT_FALSE(send({0, 0, 2, 2})) << "four at once";
    EXPECT_TRUE(send({0, 2, 1, 1}));
    EXPECT_FALSE(send({1, 0, 2, 1})) << "two more";
    EXPECT_TRUE(send({1, 1, 1, 2}));
    EXPECT_FALSE(send({1, 1, 1, 2}));
    EXPECT_TRUE(send({1, 1, 1, 1}));
}

TEST(UpdateLimits, RejectLevelsThatAreNeverSent)
{
    const Public coordinates(
        "ns3::RandomCoordinatesQuantizer[Coordinates=1000]", "ns3::MaxAbsInterval", 2);
    std::vector<uint16_t> levels(700, 1);
    EXPECT_TRUE(IsAllowed(coordinates.terms, MadeUp::Levels(levels, 2).On(-1, 1)));
    levels[650] = 3;
    EXPECT_FALSE(IsAllowed(coordinates.terms, MadeUp::Levels(levels, 2).On(-1, 1)));

    const Public optimal("ns3::OptimalDpQuantizer[Epsilon=4]", "ns3::MaxAbsInterval", 4);
    const auto quantizer = DynamicCast<OptimalDpQuantizer>(optimal.quantizer);
    for (double epsilon = 4; quantizer->GetLevelsInUse(4).size() < 5 && epsilon < 20; ++epsilon)
    {
        quantizer->SetEpsilon(epsilon);
    }
    const unsigned wireBits = quantizer->GetWireBits(4);
    const auto used = static_cast<uint16_t>(quantizer->GetLevelsInUse(4).size());
    ASSERT_LT(used, 1U << wireBits) << "else no index is unused";
    levels.assign(700, static_cast<uint16_t>(used - 1));
    EXPECT_TRUE(IsAllowed(optimal.terms, MadeUp::Levels(levels, wireBits).On(-1, 1)));
    levels[690] = used;
    EXPECT_FALSE(IsAllowed(optimal.terms, MadeUp::Levels(levels, wireBits).On(-1, 1)));
}

TEST(UpdateLimits, KnowWhatNoisyFloatsReachAtMost)
{
    // With a probability of 2^-20 instead of 2^-64 a coordinate the limit would be exceeded by 1 of
    // 10^6 draws: what is reached lies between that and the limit.
    FederatedRandom random(9);
    for (const std::string text : {"ns3::LaplaceQuantizer[Epsilon=1|Sensitivity=1]",
                                   "ns3::LaplaceQuantizer[Epsilon=1|Sensitivity=0]",
                                   "ns3::GaussianQuantizer[Sigma=1]",
                                   "ns3::GaussianQuantizer[Sigma=1|Step=4]"})
    {
        const auto quantizer = Make<Quantizer>(text);
        const std::vector<float> values(1000, 1.0F);
        const std::vector<IntervalRange> interval{{0, values.size(), -1, 1}};
        std::vector<uint8_t> payload(4 * values.size());
        float largest = 0;
        for (int i = 0; i < 1000; ++i)
        {
            ASSERT_TRUE(quantizer->Encode(values.data(), interval, 4, random, payload.data()));
            for (std::size_t k = 0; k < values.size(); ++k)
            {
                largest = std::max(largest, std::abs(ReadLittleEndianFloat(&payload[4 * k])));
            }
        }
        const double reach = quantizer->GetReach(1, LevelGrid(-1, 1, 4));
        EXPECT_LT(largest, reach) << text;
        EXPECT_GT(largest, reach / 6) << text;
    }
}

TEST(UpdateLimits, AreNoneForAQuantizerThatSaysNothing)
{
    const auto quantizer = Make<Quantizer>("ns3::UnbiasedStochasticQuantizer");
    EXPECT_EQ(quantizer->GetReach(1, LevelGrid(-1, 1, 4)), INFINITE);
    EXPECT_EQ(quantizer->GetLeastDistortion(LevelGrid(-1, 1, 4)), 0);
    std::size_t answers = 0;
    const uint8_t levels = 0xff;
    EXPECT_TRUE(quantizer->CanHaveSent(&levels, 2, 4, answers));
}
