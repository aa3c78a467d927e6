// SPDX-License-Identifier: GPL-2.0-only

#include "update-preparation.h"

#include "lane-fold.h"

#include "ns3/assert.h"

#include <cmath>

namespace ns3
{

namespace
{

/** Leave nothing of an update that cannot be sent but its clip factor. */
void
Reject(PreparedUpdate& update)
{
    const double clipFactor = update.clipFactor;
    update = PreparedUpdate();
    update.clipFactor = clipFactor;
}

/** @return whether a rule chooses one interval for the whole update; if not, with a sentence. */
bool
CheckOneInterval(const IntervalRule* rule, const std::string& update, std::string& error)
{
    if (rule && rule->IsPerLayer())
    {
        error = rule->GetInstanceTypeId().GetName() + ": PerLayer is set, but " + update +
                " has no layers.";
        return false;
    }
    return true;
}

/**
 * @param values Coordinates.
 * @param count How many.
 * @param isOutside Function of a coordinate.
 * @return how many of them are outside.
 */
template <typename IsOutside>
uint32_t
CountIf(const float* values, std::size_t count, IsOutside isOutside)
{
    return federated::FoldOver(
        values,
        count,
        uint32_t{0},
        [isOutside](uint32_t sum, float value) { return sum + isOutside(value); },
        [](uint32_t a, uint32_t b) { return a + b; });
}

/**
 * @param values Encoded coordinates.
 * @param intervals Ranges that cover them, each with its interval.
 * @return the fraction of them that lie outside.
 */
double
GetOutsideFraction(const std::vector<float>& values, const std::vector<IntervalRange>& intervals)
{
    uint64_t outside = 0;
    for (const IntervalRange& range : intervals)
    {
        const float* first = values.data() + range.begin;
        const std::size_t count = range.end - range.begin;
        const float low = range.low;
        const float high = range.high;
        outside += low == -high // then one comparison is enough
                       ? CountIf(first, count, [=](float a) { return std::abs(a) > high; })
                       : CountIf(first, count, [=](float a) { return (a < low) | (a > high); });
    }
    return static_cast<double>(outside) / static_cast<double>(values.size());
}

} // namespace

std::size_t
GetEncodedSize(const UpdateSettings& settings, std::size_t dimension)
{
    return GetEncodedSize(settings.rotation.has_value(), dimension);
}

bool
CheckUpdateSettings(const UpdateSettings& settings, std::size_t dimension, std::string& error)
{
    return settings.intervalRule->Check(error) && settings.quantizer->Check(settings.bits, error) &&
           (!settings.rotation || CheckRotation(settings.intervalRule, dimension, error)) &&
           (!settings.interleaving || CheckInterleaving(settings.intervalRule, error));
}

bool
CheckRotation(const IntervalRule* rule, std::size_t dimension, std::string& error)
{
    if (!CheckOneInterval(rule, "a rotated update", error))
    {
        return false;
    }
    if (dimension > PublicRotation::MAX_DIMENSION)
    {
        error = "Rotation: the model has " + std::to_string(dimension) +
                " parameters, but at most 2^31 can be rotated.";
        return false;
    }
    return true;
}

bool
CheckInterleaving(const IntervalRule* rule, std::string& error)
{
    return CheckOneInterval(rule, "an interleaved update", error);
}

void
PrepareUpdate(const UpdateSettings& settings,
              const std::vector<std::size_t>& layerEnds,
              FederatedRandom& coins,
              std::vector<float>& values,
              PreparedUpdate& result)
{
    ClipAndPlace(settings, layerEnds, values, result);
    if (result.valid)
    {
        EncodePrepared(settings, coins, values, result);
    }
}

void
ClipAndPlace(const UpdateSettings& settings,
             const std::vector<std::size_t>& layerEnds,
             std::vector<float>& values,
             PreparedUpdate& result)
{
    NS_ASSERT_MSG(!layerEnds.empty() && layerEnds.back() == values.size(),
                  "ClipAndPlace: the layers do not cover the update");
    if (settings.rotation)
    {
        settings.rotation->Rotate(values);
    }
    if (settings.interleaving)
    {
        settings.interleaving->Interleave(values);
    }
    const std::size_t d = values.size(); // as encoded
    result.clipFactor = ClipUpdate(settings.clipNorm, settings.clipBound, values.data(), d);
    if (result.clipFactor == 0)
    {
        Reject(result);
        return;
    }
    const bool hasLayers = !settings.rotation && !settings.interleaving;
    result.intervals = hasLayers ? settings.intervalRule->GetIntervals(values.data(), layerEnds)
                                 : settings.intervalRule->GetIntervals(values.data(), {d});
    if (!Quantizer::AreUsable(result.intervals))
    {
        Reject(result);
        return;
    }
    result.wireBits = settings.quantizer->GetWireBits(settings.bits);
    result.clampedFraction = settings.quantizer->Clamps()
                                 ? GetOutsideFraction(values, result.intervals)
                                 : std::numeric_limits<double>::quiet_NaN();
    result.distortion = std::numeric_limits<double>::quiet_NaN();
    if (settings.reportDistortion)
    {
        result.distortion =
            settings.quantizer->GetDistortion(values.data(), result.intervals, settings.bits) /
            static_cast<double>(d);
    }
    result.valid = true;
}

void
EncodePrepared(const UpdateSettings& settings,
               FederatedRandom& coins,
               const std::vector<float>& values,
               PreparedUpdate& result)
{
    NS_ASSERT_MSG(result.valid, "EncodePrepared: the update cannot be sent");
    result.payload.resize(settings.quantizer->GetPayloadSize(values.size(), settings.bits));
    if (!settings.quantizer->Encode(
            values.data(), result.intervals, settings.bits, coins, result.payload.data()))
    {
        Reject(result);
    }
}

void
DecodePrepared(const UpdateSettings& settings, const PreparedUpdate& update, float* values)
{
    for (const IntervalRange& range : update.intervals)
    {
        settings.quantizer->Decode(
            update.payload.data(),
            range.begin,
            range.end - range.begin,
            LevelGrid(range.low, range.high, settings.bits, update.intervals.back().end),
            values + range.begin);
    }
}

std::vector<float>
RecoverUpdate(const UpdateSettings& settings, const PreparedUpdate& update, std::size_t dimension)
{
    std::vector<float> values(GetEncodedSize(settings, dimension));
    DecodePrepared(settings, update, values.data());
    if (settings.interleaving)
    {
        settings.interleaving->Restore(values);
    }
    if (settings.rotation)
    {
        settings.rotation->RotateBack(values, dimension);
    }
    return values;
}

bool
SendsIntervals(const UpdateSettings& settings)
{
    return SendsIntervals(*settings.quantizer, settings.bits);
}

bool
SendsIntervals(const Quantizer& quantizer, unsigned bits)
{
    return quantizer.GetWireBits(bits) != Quantizer::FLOAT_BITS ||
           quantizer.GetCellDistortion(-1, 1, bits) > 0;
}

PrivacyClaim
GetPrivacyClaim(const UpdateSettings& settings, std::size_t dimension)
{
    PrivacyClaim claim = settings.quantizer->GetPrivacyClaim(
        settings.intervalRule->GetPrivacyContext(settings.clipNorm,
                                                 settings.clipBound,
                                                 settings.bits,
                                                 GetEncodedSize(settings, dimension)));
    if (settings.reportDistortion && claim.kind != PrivacyClaim::NONE)
    {
        return PrivacyClaim::None("The distortion that is sent along depends on the data.");
    }
    return claim;
}

std::vector<std::string>
GetSideInformation(const UpdateSettings& settings)
{
    std::vector<std::string> information;
    if (settings.intervalRule->IsDataDependent())
    {
        information.emplace_back("intervals that depend on the update");
    }
    if (settings.reportDistortion)
    {
        information.emplace_back("the distortion of the update");
    }
    return information;
}

} // namespace ns3
