// SPDX-License-Identifier: GPL-2.0-only

#include "update-fuser.h"

#include "ns3/federated-random.h"
#include "ns3/update-clipping.h"

#include <boost/random/normal_distribution.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <map>
#include <utility>

namespace ns3::federated
{

namespace
{

/** @return the median of the finite ones of some numbers; 0 if there is none. */
double
GetMedian(std::vector<double> values)
{
    values.erase(std::remove_if(values.begin(),
                                values.end(),
                                [](double value) { return !std::isfinite(value); }),
                 values.end());
    if (values.empty())
    {
        return 0;
    }
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

} // namespace

UpdateFuser::UpdateFuser(const Rules& rules)
    : m_rules(rules)
{
}

FusedModel
UpdateFuser::Fuse(const std::vector<float>& model,
                  const std::vector<FuserInput>& inputs,
                  uint32_t round) const
{
    FusedModel fused;
    std::vector<Usable> usable;
    for (const FuserInput& input : inputs)
    {
        Usable one{{}, input.group};
        if (DescribeUpdate(input.packed, *m_rules.quantizer, input.bits, one.update))
        {
            FusedDevice device;
            device.device = input.device;
            one.update.device = input.device;
            one.update.samples = input.samples;
            SetNoise(input, one.update, device);
            usable.push_back(std::move(one));
            fused.devices.push_back(device);
        }
    }
    if (usable.size() < m_rules.minUpdates)
    {
        return fused;
    }
    FillUnknownNoise(usable);
    LimitDistortions(usable);
    FillUnknownSamples(usable);
    std::vector<double> errors; // of a coordinate of each update
    std::transform(usable.begin(),
                   usable.end(),
                   std::back_inserter(errors),
                   [](const Usable& one) { return GetError(one.update); });
    std::vector<DeliveredUpdate> updates;
    updates.reserve(usable.size());
    for (Usable& one : usable)
    {
        updates.push_back(std::move(one.update));
    }
    // Rotated updates add up to a rotated difference from the model.
    const std::size_t encoded = GetEncodedSize(m_rules.rotation.has_value(), model.size());
    std::vector<float> next = m_rules.rotation ? std::vector<float>(encoded) : model;
    if (m_rules.interleaving)
    {
        m_rules.interleaving->Interleave(next);
    }
    const FusionResult result = FuseWithNoise(updates, round, next);
    if (m_rules.interleaving)
    {
        m_rules.interleaving->Restore(next);
    }
    if (m_rules.rotation)
    {
        m_rules.rotation->RotateBack(next, model.size());
        std::transform(model.begin(), model.end(), next.begin(), next.begin(), std::plus<>());
    }
    fused.overflowed = !IsFiniteUpdate(next.data(), next.size());
    if (fused.overflowed)
    {
        return fused;
    }
    fused.skipped = false;
    fused.model = std::move(next);
    fused.untouchedFraction = static_cast<double>(result.untouched) / static_cast<double>(encoded);
    fused.error = 0;
    for (std::size_t i = 0; i < fused.devices.size(); ++i)
    {
        const double weight = result.meanWeights[i];
        fused.devices[i].weight = weight;
        fused.error += weight > 0 ? weight * weight * errors[i] : 0;
    }
    return fused;
}

double
UpdateFuser::GetError(const DeliveredUpdate& update)
{
    double sigma2 = 0; // sum over the coordinates
    double coordinates = 0;
    for (const DeliveredRange& range : update.ranges)
    {
        const auto count = static_cast<double>(range.end - range.begin);
        sigma2 += range.sigma2 * count;
        coordinates += count;
    }
    const bool isReported = update.exactDistortion >= 0; // false for NaN
    return (isReported ? update.exactDistortion : update.cellDistortion) +
           (coordinates > 0 ? sigma2 / coordinates : 0);
}

void
UpdateFuser::SetNoise(const FuserInput& input, DeliveredUpdate& update, FusedDevice& fused) const
{
    if (m_rules.noise->DependsOnSnr())
    {
        SetNoiseBySnr(input, update, fused);
        return;
    }
    const double sigma2 =
        m_rules.noise->GetVariance(input.device, input.group, input.snr, std::nan(""));
    fused.sigma = std::sqrt(sigma2);
    for (DeliveredRange& range : update.ranges)
    {
        range.sigma2 = sigma2;
    }
}

void
UpdateFuser::SetNoiseBySnr(const FuserInput& input,
                           DeliveredUpdate& update,
                           FusedDevice& fused) const
{
    std::vector<FragmentQuality> fragments = input.fragments;
    std::sort(fragments.begin(),
              fragments.end(),
              [](const auto& a, const auto& b) { return a.begin < b.begin; });
    std::vector<DeliveredRange> pieces;
    auto range = update.ranges.begin();
    double squares = 0;
    double coordinates = 0;
    double sigma2 = 0; // sum over coordinates of known noise
    double known = 0;
    for (const FragmentQuality& fragment : fragments)
    {
        while (range->end < fragment.end)
        {
            ++range; // ranges are unions of fragments
        }
        DeliveredRange piece = *range;
        piece.begin = fragment.begin;
        piece.end = fragment.end;
        piece.first += fragment.begin - range->begin;
        const double meanSquare = GetMeanSquare(update, piece);
        const double snr = std::isnan(fragment.snr) ? input.snr : fragment.snr;
        piece.sigma2 = m_rules.noise->GetVariance(input.device, input.group, snr, meanSquare);
        pieces.push_back(piece);
        const auto count = static_cast<double>(piece.end - piece.begin);
        squares += meanSquare * count;
        coordinates += count;
        if (!std::isnan(piece.sigma2))
        {
            sigma2 += piece.sigma2 * count;
            known += count;
        }
    }
    update.ranges = std::move(pieces);
    fused.meanSquare = squares / coordinates;
    fused.sigma = known > 0 ? std::sqrt(sigma2 / known) : std::nan("");
}

void
UpdateFuser::FillUnknownNoise(std::vector<Usable>& usable) const
{
    struct Known
    {
        double sum = 0;   // of sigma^2
        double count = 0; // coordinates
    };

    std::vector<Known> groups(m_rules.groups);
    bool isMissing = false;
    for (const Usable& one : usable)
    {
        Known& group = groups[one.group];
        for (const DeliveredRange& range : one.update.ranges)
        {
            if (std::isnan(range.sigma2))
            {
                isMissing = true;
            }
            else if (std::isfinite(range.sigma2)) // one dead link says nothing about the others
            {
                const auto count = static_cast<double>(range.end - range.begin);
                group.sum += range.sigma2 * count;
                group.count += count;
            }
        }
    }
    if (!isMissing)
    {
        return;
    }
    for (Usable& one : usable)
    {
        const Known& group = groups[one.group];
        for (DeliveredRange& range : one.update.ranges)
        {
            if (std::isnan(range.sigma2))
            {
                range.sigma2 = group.count > 0 ? group.sum / group.count : 0;
            }
        }
    }
}

void
UpdateFuser::LimitDistortions(std::vector<Usable>& usable)
{
    std::map<unsigned, std::vector<double>> expected; // of the updates of a resolution
    std::map<unsigned, std::vector<double>> reported; // likewise
    for (const Usable& one : usable)
    {
        expected[one.update.bits].push_back(one.update.cellDistortion);
        reported[one.update.bits].push_back(one.update.exactDistortion);
    }
    for (const auto& [bits, values] : expected)
    {
        const double least = GetMedian(values) / MAX_ADVANTAGE;
        const double leastReport = GetMedian(reported[bits]) / MAX_ADVANTAGE;
        for (Usable& one : usable)
        {
            DeliveredUpdate& update = one.update;
            if (update.bits != bits)
            {
                continue;
            }
            update.cellDistortion = std::max(update.cellDistortion, least);
            // Floats have no levels, and what they lost before, as in the cell of an edge, is known
            // from reports alone.
            const double limit =
                update.cellDistortion > 0 ? LEAST_OF_CELL * update.cellDistortion : leastReport;
            // NaN, not reported, stays what it is.
            update.exactDistortion =
                update.exactDistortion < limit ? limit : update.exactDistortion;
        }
    }
}

void
UpdateFuser::FillUnknownSamples(std::vector<Usable>& usable)
{
    double sum = 0;
    double known = 0;
    for (const Usable& one : usable)
    {
        sum += one.update.samples;
        known += one.update.samples > 0 ? 1 : 0;
    }
    for (Usable& one : usable)
    {
        if (one.update.samples == 0)
        {
            one.update.samples = known > 0 ? sum / known : 1;
        }
    }
}

FusionResult
UpdateFuser::FuseWithNoise(const std::vector<DeliveredUpdate>& updates,
                           uint32_t round,
                           std::vector<float>& values) const
{
    const FusionRule& rule = *m_rules.fusionRule;
    const LossPolicy policy = m_rules.lossPolicy;
    float* data = values.data();
    const LinkNoiseDraws draws{m_rules.seed, round};
    FusionResult result =
        m_rules.aggregator
            ? FuseUpdates(rule, *m_rules.aggregator, policy, updates, draws, data, values.size())
            : FuseUpdates(rule, policy, updates, data, values.size());
    AddLinkNoise(result.segments, round, values);
    return result;
}

void
UpdateFuser::AddLinkNoise(const std::vector<FusionSegment>& segments,
                          uint32_t round,
                          std::vector<float>& values) const
{
    FederatedRandom random(m_rules.seed, FederatedRandom::LINK_NOISE, 0, round);
    for (const FusionSegment& segment : segments)
    {
        if (segment.noiseVariance > 0)
        {
            // The sum of omega n over the devices, whose n are independent.
            boost::random::normal_distribution<float> noise(
                0, static_cast<float>(std::sqrt(segment.noiseVariance)));
            for (std::size_t i = segment.begin; i < segment.end; ++i)
            {
                values[i] += noise(random);
            }
        }
    }
}

} // namespace ns3::federated
