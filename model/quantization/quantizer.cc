// SPDX-License-Identifier: GPL-2.0-only

#include "quantizer.h"

#include "ns3/abort.h"
#include "ns3/bit-packer.h"
#include "ns3/little-endian.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(Quantizer);

TypeId
Quantizer::GetTypeId()
{
    static TypeId tid = TypeId("ns3::Quantizer").SetParent<Object>().SetGroupName("Federated");
    return tid;
}

bool
Quantizer::Supports(unsigned bits) const
{
    return bits >= 1 && bits <= MAX_BITS && DoSupports(bits);
}

bool
Quantizer::DoSupports(unsigned) const
{
    return true;
}

bool
Quantizer::Check(unsigned bits, std::string& error) const
{
    if (Supports(bits))
    {
        return DoCheck(error);
    }
    std::string supported;
    for (unsigned other = 1; other <= MAX_BITS; ++other)
    {
        if (Supports(other))
        {
            supported += (supported.empty() ? "" : ", ") + std::to_string(other);
        }
    }
    error = GetInstanceTypeId().GetName() + " has no resolution of " + std::to_string(bits) +
            " bits, only of " + supported + ".";
    return false;
}

bool
Quantizer::DoCheck(std::string&) const
{
    return true;
}

unsigned
Quantizer::GetWireBits(unsigned bits) const
{
    if (!Supports(bits))
    {
        std::string error;
        NS_ABORT_MSG_IF(!Check(bits, error), error);
    }
    return DoGetWireBits(bits);
}

bool
Quantizer::Clamps() const
{
    return DoClamps();
}

bool
Quantizer::DoClamps() const
{
    return true;
}

std::size_t
Quantizer::GetPayloadSize(std::size_t count, unsigned bits) const
{
    return BitPacker::GetSize(count, GetWireBits(bits));
}

bool
Quantizer::AreUsable(const std::vector<IntervalRange>& intervals)
{
    return std::all_of(intervals.begin(),
                       intervals.end(),
                       [](const IntervalRange& range) {
                           return range.low <= range.high && std::isfinite(range.high - range.low);
                       });
}

bool
Quantizer::Encode(const float* values,
                  const std::vector<IntervalRange>& intervals,
                  unsigned bits,
                  FederatedRandom& random,
                  uint8_t* payload) const
{
    const std::size_t size = intervals.empty() ? 0 : GetPayloadSize(intervals.back().end, bits);
    if (size > 0)
    {
        payload[size - 1] = 0; // packing does not change the bits after the last level
    }
    return AreUsable(intervals) &&
           (size == 0 || DoEncodeUpdate(values, intervals, bits, random, payload));
}

bool
Quantizer::DoEncodeUpdate(const float* values,
                          const std::vector<IntervalRange>& intervals,
                          unsigned bits,
                          FederatedRandom& random,
                          uint8_t* payload) const
{
    for (const auto& range : intervals)
    {
        const LevelGrid grid(range.low, range.high, bits, intervals.back().end);
        for (std::size_t first = range.begin; first < range.end; first += BLOCK)
        {
            const std::size_t count = std::min(range.end - first, BLOCK);
            if (!IsFiniteUpdate(values + first, count) ||
                !DoEncode(values + first, count, grid, random, payload, first))
            {
                return false;
            }
        }
    }
    return true;
}

bool
Quantizer::DoEncode(const float*,
                    std::size_t,
                    const LevelGrid&,
                    FederatedRandom&,
                    uint8_t*,
                    std::size_t) const
{
    return false;
}

void
Quantizer::Decode(const uint8_t* payload,
                  std::size_t first,
                  std::size_t count,
                  const LevelGrid& grid,
                  float* values) const
{
    const unsigned bits = GetWireBits(grid.GetBits());
    if (bits == FLOAT_BITS)
    {
        for (std::size_t i = 0; i < count; ++i)
        {
            values[i] = federated::ReadLittleEndianFloat(payload + 4 * (first + i));
        }
        return;
    }
    const LevelGrid decoder = DoGetDecoderGrid(grid);
    const std::vector<float> positions = DoGetLevelPositions(grid.GetBits());
    const double width = double{decoder.high} - double{decoder.low};
    uint16_t levels[256];
    for (std::size_t done = 0; done < count;)
    {
        const std::size_t part = std::min(count - done, std::size(levels));
        BitPacker::Unpack(payload, first + done, part, bits, levels);
        for (std::size_t i = 0; i < part; ++i)
        {
            values[done + i] =
                static_cast<float>(positions.empty() ? decoder.GetValue(levels[i])
                                                     : decoder.low + width * positions[levels[i]]);
        }
        done += part;
    }
}

LevelGrid
Quantizer::GetDecoderGrid(const LevelGrid& grid) const
{
    return DoGetDecoderGrid(grid);
}

LevelGrid
Quantizer::DoGetDecoderGrid(const LevelGrid& grid) const
{
    return grid;
}

std::vector<float>
Quantizer::GetLevelPositions(unsigned bits) const
{
    GetWireBits(bits); // checks the resolution
    return DoGetLevelPositions(bits);
}

std::vector<float>
Quantizer::DoGetLevelPositions(unsigned) const
{
    return {};
}

double
Quantizer::GetDistortion(const float* values,
                         const std::vector<IntervalRange>& intervals,
                         unsigned bits) const
{
    GetWireBits(bits); // checks the resolution
    double distortion = 0;
    for (const auto& range : intervals)
    {
        const LevelGrid grid(range.low, range.high, bits, intervals.back().end);
        distortion += DoGetDistortion(values + range.begin, range.end - range.begin, grid);
    }
    return std::max(distortion, 0.0); // of values on levels, rounding may leave a little less
}

double
Quantizer::GetCellDistortion(float low, float high, unsigned bits, std::size_t dimension) const
{
    GetWireBits(bits); // checks the resolution
    return DoGetCellDistortion(LevelGrid(low, high, bits, dimension));
}

std::vector<double>
Quantizer::GetProbabilities(float value, const LevelGrid& grid) const
{
    GetWireBits(grid.GetBits()); // checks the resolution
    return DoGetProbabilities(value, grid);
}

std::vector<double>
Quantizer::DoGetProbabilities(float, const LevelGrid&) const
{
    return {};
}

double
Quantizer::GetPrivacyLoss(const float* update,
                          const float* other,
                          const std::vector<IntervalRange>& intervals,
                          unsigned bits) const
{
    GetWireBits(bits); // checks the resolution
    std::vector<double> losses;
    for (const auto& range : intervals)
    {
        const LevelGrid grid(range.low, range.high, bits, intervals.back().end);
        for (std::size_t i = range.begin; i < range.end; ++i)
        {
            losses.push_back(update[i] == other[i] ? 0
                                                   : DoGetPrivacyLoss(update[i], other[i], grid));
        }
    }
    return DoCombineLosses(losses);
}

double
Quantizer::DoGetPrivacyLoss(float value, float other, const LevelGrid& grid) const
{
    const std::vector<double> of = DoGetProbabilities(value, grid);
    const std::vector<double> against = DoGetProbabilities(other, grid);
    if (of.empty() || against.empty())
    {
        return std::numeric_limits<double>::quiet_NaN();
    }
    double loss = 0;
    for (std::size_t level = 0; level < of.size(); ++level)
    {
        if (of[level] > 0) // and ln(p / 0) is infinite
        {
            loss = std::max(loss, std::log(of[level] / against[level]));
        }
    }
    return loss;
}

double
Quantizer::DoCombineLosses(std::vector<double>& losses) const
{
    return std::accumulate(losses.begin(), losses.end(), 0.0);
}

bool
Quantizer::CanSend(float value, const LevelGrid& grid, float sent) const
{
    GetWireBits(grid.GetBits()); // checks the resolution
    return DoCanSend(value, grid, sent);
}

bool
Quantizer::DoCanSend(float, const LevelGrid&, float) const
{
    return true;
}

double
Quantizer::GetReach(double largest, const LevelGrid& grid) const
{
    GetWireBits(grid.GetBits()); // checks the resolution
    return DoGetReach(largest, grid);
}

double
Quantizer::DoGetReach(double, const LevelGrid&) const
{
    return std::numeric_limits<double>::infinity();
}

double
Quantizer::GetLeastDistortion(const LevelGrid& grid) const
{
    GetWireBits(grid.GetBits()); // checks the resolution
    return DoGetLeastDistortion(grid);
}

double
Quantizer::DoGetLeastDistortion(const LevelGrid&) const
{
    return 0;
}

bool
Quantizer::CanHaveSent(const uint8_t* payload,
                       std::size_t count,
                       unsigned bits,
                       std::size_t& answers) const
{
    GetWireBits(bits); // checks the resolution
    return DoCanHaveSent(payload, count, bits, answers);
}

bool
Quantizer::DoCanHaveSent(const uint8_t*, std::size_t, unsigned, std::size_t&) const
{
    return true;
}

PrivacyClaim
Quantizer::GetPrivacyClaim(const PrivacyContext& context) const
{
    GetWireBits(context.bits); // checks the resolution
    if (!context.intervalIsPublic)
    {
        return PrivacyClaim::None(
            "The interval depends on the data, so nothing holds for two data sets.");
    }
    if (!std::isfinite(context.high - context.low) || !(context.low < context.high))
    {
        return PrivacyClaim::None("The public interval has no lower end below its upper one.");
    }
    if (context.clipNorm != CLIP_NONE && !(context.clipBound > 0))
    {
        return PrivacyClaim::None("The bound of the clip is not above 0.");
    }
    PrivacyClaim claim = DoGetPrivacyClaim(context);
    if (!std::isfinite(claim.epsilon) || !std::isfinite(claim.rho))
    {
        claim.kind = PrivacyClaim::NONE;
        claim.reason = "The privacy loss has no finite bound.";
    }
    return claim;
}

double
Quantizer::GetCoordinateEpsilon(unsigned bits) const
{
    PrivacyContext context;
    context.bits = bits;
    context.intervalIsPublic = true;
    context.low = -1;
    context.high = 1;
    const PrivacyClaim claim = GetPrivacyClaim(context);
    return claim.kind != PrivacyClaim::NONE && claim.scope == PrivacyClaim::COORDINATE
               ? claim.epsilon
               : std::numeric_limits<double>::quiet_NaN();
}

} // namespace ns3
