// SPDX-License-Identifier: GPL-2.0-only

#include "privacy-audit.h"

#include "ns3/abort.h"

#include <boost/math/special_functions/beta.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

namespace ns3
{

namespace
{

const double UNKNOWN = std::numeric_limits<double>::quiet_NaN();
const double INFINITE = std::numeric_limits<double>::infinity();

/** Append the bytes of a float. */
void
Append(std::string& bytes, float value)
{
    char word[sizeof(value)];
    std::memcpy(word, &value, sizeof(value));
    bytes.append(word, sizeof(word));
}

/** @return the larger one; not known if one of them is not, unless the other is infinite. */
double
Larger(double a, double b)
{
    return a == INFINITE || b == INFINITE   ? INFINITE
           : std::isnan(a) || std::isnan(b) ? UNKNOWN
                                            : std::max(a, b);
}

} // namespace

const char*
PrivacyAuditResult::GetName(Verdict verdict)
{
    return verdict == FALSIFIED ? "falsified" : verdict == NO_CLAIM ? "no-claim" : "not-falsified";
}

PrivacyAudit::PrivacyAudit(const Device& device)
    : m_device(device)
{
    NS_ABORT_MSG_IF(!device.quantizer || !device.intervalRule,
                    "PrivacyAudit: the device has no quantizer or no interval rule");
    m_device.quantizer->GetWireBits(m_device.bits); // checks the resolution
    m_settings = {m_device.clipNorm,
                  m_device.clipBound,
                  PeekPointer(m_device.intervalRule),
                  PeekPointer(m_device.quantizer),
                  m_device.bits,
                  m_device.reportDistortion};
}

double
PrivacyAudit::GetLowerBound(uint64_t hits, uint64_t otherHits, uint64_t trials, double alpha)
{
    if (hits == 0)
    {
        return 0;
    }
    // Clopper and Pearson (1934): quantiles of beta distributions, half of alpha each.
    const auto n = static_cast<double>(trials);
    const auto x = static_cast<double>(hits);
    const auto y = static_cast<double>(otherHits);
    const double low = boost::math::ibeta_inv(x, n - x + 1, alpha / 2);
    const double high = otherHits == trials ? 1 : boost::math::ibetac_inv(y + 1, n - y, alpha / 2);
    return std::max(0.0, std::log(low / high));
}

PrivacyAudit::Prepared
PrivacyAudit::Prepare(const Input& input) const
{
    auto layerEnds = m_device.layerEnds;
    if (layerEnds.empty())
    {
        layerEnds = {input.size()};
    }
    NS_ABORT_MSG_IF(layerEnds.back() != input.size(),
                    "PrivacyAudit: an input has " << input.size() << " coordinates, the layers "
                                                  << layerEnds.back());
    Prepared prepared;
    prepared.clipped = input;
    ClipAndPlace(m_settings, layerEnds, prepared.clipped, prepared.update);
    NS_ABORT_MSG_IF(prepared.update.clipFactor == 0, "PrivacyAudit: an input is not finite");
    NS_ABORT_MSG_IF(!prepared.update.valid, "PrivacyAudit: an input cannot be sent");
    if (SendsIntervals(m_settings))
    {
        for (const auto& range : prepared.update.intervals)
        {
            Append(prepared.header, range.low);
            Append(prepared.header, range.high);
        }
    }
    if (m_settings.reportDistortion)
    {
        Append(prepared.header, static_cast<float>(prepared.update.distortion));
    }
    return prepared;
}

PrivacyClaim
PrivacyAudit::GetClaim(const Input& input) const
{
    PrivacyContext context = m_device.intervalRule->GetPrivacyContext(
        m_device.clipNorm, m_device.clipBound, m_device.bits, input.size());
    if (!context.intervalIsPublic)
    {
        const IntervalRange range = Prepare(input).update.intervals.at(0);
        context.intervalIsPublic = true;
        context.low = range.low;
        context.high = range.high;
    }
    return m_device.quantizer->GetPrivacyClaim(context);
}

double
PrivacyAudit::GetClaimedEpsilon(const PrivacyClaim& claim, const Input& a, const Input& b)
{
    if (claim.kind != PrivacyClaim::TRUE_EPSILON && claim.kind != PrivacyClaim::SAME_CELL)
    {
        return UNKNOWN;
    }
    if (claim.scope == PrivacyClaim::UPDATE)
    {
        return claim.epsilon;
    }
    std::size_t different = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
    {
        different += a[i] != b[i];
    }
    return static_cast<double>(different) * claim.epsilon;
}

double
PrivacyAudit::GetExactLoss(const Input& input, const Input& other) const
{
    const Prepared a = Prepare(input);
    const Prepared b = Prepare(other);
    if (a.header != b.header)
    {
        return INFINITE;
    }
    const auto loss = [this, &a](const Prepared& of, const Prepared& against)
    {
        return m_device.quantizer->GetPrivacyLoss(
            of.clipped.data(), against.clipped.data(), a.update.intervals, m_device.bits);
    };
    return Larger(loss(a, b), loss(b, a));
}

bool
PrivacyAudit::SendsFloats() const
{
    return m_device.quantizer->GetWireBits(m_device.bits) == Quantizer::FLOAT_BITS;
}

PrivacyAudit::Samples
PrivacyAudit::Draw(const Prepared& input,
                   std::size_t count,
                   FederatedRandom& random,
                   Numbers& numbers) const
{
    const std::size_t dimension = input.clipped.size();
    Samples samples;
    samples.decoded.resize(count * dimension);
    PreparedUpdate update = input.update;
    std::string message = input.header;
    for (std::size_t i = 0; i < count; ++i)
    {
        EncodePrepared(m_settings, random, input.clipped, update);
        NS_ABORT_MSG_IF(!update.valid, "PrivacyAudit: an input cannot be sent");
        DecodePrepared(m_settings, update, &samples.decoded[i * dimension]);
        // Floats hardly ever repeat: half-spaces see them, and the header stands alone.
        message.resize(input.header.size());
        if (!SendsFloats())
        {
            message.append(update.payload.begin(), update.payload.end());
        }
        const auto next = static_cast<uint32_t>(numbers.size());
        samples.messages.push_back(numbers.emplace(message, next).first->second);
    }
    return samples;
}

double
PrivacyAudit::Samples::GetScore(std::size_t sample, const std::vector<double>& normal) const
{
    return std::inner_product(normal.begin(), normal.end(), &decoded[sample * normal.size()], 0.0);
}

double
PrivacyAudit::Pair::GetMargin(uint64_t hits, uint64_t otherHits) const
{
    return GetLowerBound(hits, otherHits, half, alpha) - claimed;
}

uint64_t
PrivacyAudit::Count(const Samples& samples,
                    const Choice& choice,
                    std::size_t begin,
                    std::size_t end)
{
    uint64_t hits = 0;
    for (std::size_t i = begin; i < end; ++i)
    {
        hits += choice.isHalfSpace ? samples.GetScore(i, choice.normal) >= choice.threshold
                                   : choice.messages[samples.messages[i]];
    }
    return hits;
}

void
PrivacyAudit::SearchMessages(const Pair& pair, std::size_t kinds, Choice& choice)
{
    // Messages that are likelier under the first input come first: an event is some of them from
    // the front. Only where the ratio changes can an event end.
    struct Message
    {
        uint32_t number;
        double hits;
        double otherHits;
        double ratio;
    };
    std::vector<Message> messages(kinds);
    for (uint32_t number = 0; number < kinds; ++number)
    {
        messages[number].number = number;
    }
    for (std::size_t i = 0; i < pair.half; ++i)
    {
        ++messages[pair.first.messages[i]].hits;
        ++messages[pair.second.messages[i]].otherHits;
    }
    for (auto& message : messages)
    {
        message.ratio = (message.hits + 0.5) / (message.otherHits + 0.5);
    }
    std::stable_sort(messages.begin(),
                     messages.end(),
                     [](const Message& a, const Message& b) { return a.ratio > b.ratio; });
    double hits = 0;
    double otherHits = 0;
    std::size_t best = 0;
    for (std::size_t i = 0; i < kinds; ++i)
    {
        hits += messages[i].hits;
        otherHits += messages[i].otherHits;
        if (i + 1 == kinds || messages[i + 1].ratio < messages[i].ratio)
        {
            const double margin =
                pair.GetMargin(static_cast<uint64_t>(hits), static_cast<uint64_t>(otherHits));
            if (margin > choice.margin)
            {
                choice.margin = margin;
                best = i + 1;
            }
        }
    }
    if (best > 0)
    {
        choice.isHalfSpace = false;
        choice.messages.assign(kinds, false);
        for (std::size_t i = 0; i < best; ++i)
        {
            choice.messages[messages[i].number] = true;
        }
    }
}

void
PrivacyAudit::SearchHalfSpaces(const Pair& pair, Choice& choice)
{
    constexpr std::size_t THRESHOLDS = 64;
    const auto getScores = [&pair, &choice](const Samples& samples)
    {
        std::vector<double> scores(pair.half);
        for (std::size_t i = 0; i < pair.half; ++i)
        {
            scores[i] = samples.GetScore(i, choice.normal);
        }
        std::sort(scores.begin(), scores.end());
        return scores;
    };
    const std::vector<double> scores[2] = {getScores(pair.first), getScores(pair.second)};
    for (const auto& some : scores)
    {
        for (std::size_t k = 0; k < THRESHOLDS; ++k)
        {
            const double threshold = some[k * pair.half / THRESHOLDS];
            const auto above = [threshold](const std::vector<double>& sorted)
            {
                return static_cast<uint64_t>(
                    sorted.end() - std::lower_bound(sorted.begin(), sorted.end(), threshold));
            };
            const double margin = pair.GetMargin(above(scores[0]), above(scores[1]));
            if (margin > choice.margin)
            {
                choice.margin = margin;
                choice.isHalfSpace = true;
                choice.threshold = threshold;
            }
        }
    }
}

PrivacyAudit::Choice
PrivacyAudit::Search(const PrivacyClaim& claim,
                     const std::vector<Prepared>& prepared,
                     const std::vector<Samples>& seen,
                     std::size_t kinds,
                     double alpha) const
{
    const std::size_t half = seen[0].messages.size() / 2;
    const std::size_t dimension = prepared[0].clipped.size();
    const bool tryHalfSpaces = SendsFloats() || kinds > half / 16;
    Choice choice;
    choice.margin = -INFINITE;
    for (std::size_t a = 0; a < prepared.size(); ++a)
    {
        for (std::size_t b = 0; b < prepared.size(); ++b)
        {
            const Input& one = prepared[a].clipped;
            const Input& other = prepared[b].clipped;
            if (a == b || one == other)
            {
                continue;
            }
            const double claimed = GetClaimedEpsilon(claim, one, other);
            const Pair pair{seen[a], seen[b], half, alpha, std::isnan(claimed) ? 0 : claimed};
            Choice next = choice;
            next.first = a;
            next.second = b;
            next.normal.resize(dimension);
            for (std::size_t i = 0; i < dimension; ++i)
            {
                const double coordinate = one[i];
                next.normal[i] = coordinate - other[i];
            }
            SearchMessages(pair, kinds, next);
            if (tryHalfSpaces)
            {
                SearchHalfSpaces(pair, next);
            }
            if (next.margin > choice.margin)
            {
                choice = std::move(next);
            }
        }
    }
    NS_ABORT_MSG_IF(choice.normal.empty(), "PrivacyAudit: all inputs are the same");
    return choice;
}

bool
PrivacyAudit::ExceedsClaim(const PrivacyClaim& claim,
                           const std::vector<Input>& inputs,
                           const std::vector<Prepared>& prepared,
                           double& exact) const
{
    exact = UNKNOWN;
    double largestExcess = -INFINITE;
    bool exceeds = false;
    bool allKnown = true;
    for (std::size_t a = 0; a < inputs.size(); ++a)
    {
        for (std::size_t b = a + 1; b < inputs.size(); ++b)
        {
            if (prepared[a].clipped == prepared[b].clipped)
            {
                continue;
            }
            const double claimed =
                GetClaimedEpsilon(claim, prepared[a].clipped, prepared[b].clipped);
            const double allowed = std::isnan(claimed) ? 0 : claimed;
            const double loss = GetExactLoss(inputs[a], inputs[b]);
            allKnown = allKnown && !std::isnan(loss);
            // Claims and losses are computed in doubles: allow for their rounding.
            exceeds = exceeds || loss > allowed * (1 + 1e-9) + 1e-15;
            if (loss - allowed > largestExcess)
            {
                largestExcess = loss - allowed;
                exact = loss;
            }
        }
    }
    if (!allKnown && exact != INFINITE)
    {
        exact = UNKNOWN;
    }
    return exceeds;
}

PrivacyAuditResult
PrivacyAudit::Run(const std::vector<Input>& inputs,
                  std::size_t samples,
                  double alpha,
                  FederatedRandom& random) const
{
    NS_ABORT_MSG_IF(inputs.size() < 2 || inputs[0].empty(),
                    "PrivacyAudit: two inputs with a coordinate are the least to audit");
    NS_ABORT_MSG_IF(samples < 2 || !(alpha > 0 && alpha < 1),
                    "PrivacyAudit: " << samples << " samples and alpha = " << alpha
                                     << " make no audit");
    const std::size_t dimension = inputs[0].size();
    const std::size_t half = samples / 2;
    const PrivacyClaim claim = GetClaim(inputs[0]);
    std::vector<Prepared> prepared;
    std::vector<Samples> seen;
    Numbers numbers;
    for (const Input& input : inputs)
    {
        NS_ABORT_MSG_IF(input.size() != dimension,
                        "PrivacyAudit: inputs have " << dimension << " and " << input.size()
                                                     << " coordinates");
        prepared.push_back(Prepare(input));
        seen.push_back(Draw(prepared.back(), 2 * half, random, numbers));
    }

    PrivacyAuditResult result{};
    const bool exceeds = ExceedsClaim(claim, inputs, prepared, result.exact);
    const Choice choice = Search(claim, prepared, seen, numbers.size(), alpha);
    result.first = choice.first;
    result.second = choice.second;
    result.claimed =
        GetClaimedEpsilon(claim, prepared[choice.first].clipped, prepared[choice.second].clipped);
    result.lower = GetLowerBound(Count(seen[choice.first], choice, half, 2 * half),
                                 Count(seen[choice.second], choice, half, 2 * half),
                                 half,
                                 alpha);
    if (!std::isnan(result.claimed))
    {
        result.verdict = exceeds || result.lower > result.claimed
                             ? PrivacyAuditResult::FALSIFIED
                             : PrivacyAuditResult::NOT_FALSIFIED;
    }
    return result;
}

} // namespace ns3
