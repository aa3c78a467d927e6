// SPDX-License-Identifier: GPL-2.0-only

#include "privacy-audit.h"

#include "ns3/abort.h"

#include <boost/math/special_functions/beta.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <utility>

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

// The orders of Renyi divergences that are tried, less 1. Each of them is valid evidence.
constexpr double LEAST_ORDER = 1e-4;
constexpr double LARGEST_ORDER = 1e4;
constexpr double ORDER_FACTOR = 1.2;

/**
 * Clopper and Pearson (1934): quantiles of beta distributions, half of alpha each.
 * @return a lower bound of the probability of an event under one input, and an upper one under the
 * other.
 */
std::pair<double, double>
GetProbabilityBounds(uint64_t hits, uint64_t otherHits, uint64_t trials, double alpha)
{
    const auto n = static_cast<double>(trials);
    const auto x = static_cast<double>(hits);
    const auto y = static_cast<double>(otherHits);
    return {hits == 0 ? 0 : boost::math::ibeta_inv(x, n - x + 1, alpha / 2),
            otherHits == trials ? 1 : boost::math::ibetac_inv(y + 1, n - y, alpha / 2)};
}

/**
 * @return the Renyi divergence of one distribution from another; infinite where the second has no
 * probability for what the first has.
 */
double
GetDivergence(const std::vector<double>& of, const std::vector<double>& against, double alpha)
{
    // ln of the sum of p^alpha q^(1-alpha), from the largest term on.
    std::vector<double> terms;
    for (std::size_t i = 0; i < of.size(); ++i)
    {
        if (of[i] > 0)
        {
            terms.push_back(alpha * std::log(of[i]) + (1 - alpha) * std::log(against[i]));
        }
    }
    const double largest = *std::max_element(terms.begin(), terms.end());
    if (largest == INFINITE)
    {
        return INFINITE;
    }
    double sum = 0;
    for (double term : terms)
    {
        sum += std::exp(term - largest);
    }
    return (largest + std::log(sum)) / (alpha - 1);
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
    const auto [low, high] = GetProbabilityBounds(hits, otherHits, trials, alpha);
    return low > 0 ? std::max(0.0, std::log(low / high)) : 0;
}

double
PrivacyAudit::GetLowerRho(uint64_t hits, uint64_t otherHits, uint64_t trials, double alpha)
{
    const auto [low, high] = GetProbabilityBounds(hits, otherHits, trials, alpha);
    if (!(low > high))
    {
        return 0;
    }
    double rho = 0;
    for (double above = LEAST_ORDER; above < LARGEST_ORDER; above *= ORDER_FACTOR)
    {
        const double divergence = GetDivergence({1 - low, low}, {1 - high, high}, 1 + above);
        rho = std::max(rho, divergence / (1 + above));
    }
    return rho;
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

double
PrivacyAudit::GetExactRho(const Input& input, const Input& other) const
{
    const Prepared a = Prepare(input);
    const Prepared b = Prepare(other);
    if (a.header != b.header)
    {
        return INFINITE;
    }
    std::vector<std::pair<std::vector<double>, std::vector<double>>> coordinates;
    for (const IntervalRange& range : a.update.intervals)
    {
        const LevelGrid grid(range.low, range.high, m_device.bits, a.clipped.size());
        for (std::size_t i = range.begin; i < range.end; ++i)
        {
            if (a.clipped[i] != b.clipped[i])
            {
                coordinates.emplace_back(m_device.quantizer->GetProbabilities(a.clipped[i], grid),
                                         m_device.quantizer->GetProbabilities(b.clipped[i], grid));
            }
        }
    }
    double rho = 0;
    for (double above = LEAST_ORDER; above < LARGEST_ORDER; above *= ORDER_FACTOR)
    {
        double forth = 0;
        double back = 0;
        for (const auto& [of, against] : coordinates)
        {
            if (of.empty() || against.empty())
            {
                return UNKNOWN;
            }
            forth += GetDivergence(of, against, 1 + above);
            back += GetDivergence(against, of, 1 + above);
        }
        rho = std::max(rho, std::max(forth, back) / (1 + above));
    }
    return rho;
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
    if (hits <= otherHits)
    {
        return -claimed;
    }
    return (byRho ? GetLowerRho(hits, otherHits, half, alpha)
                  : GetLowerBound(hits, otherHits, half, alpha)) -
           claimed;
}

uint64_t
PrivacyAudit::Count(const Samples& samples,
                    const Choice& choice,
                    const Prepared& second,
                    std::size_t begin,
                    std::size_t end) const
{
    uint64_t hits = 0;
    for (std::size_t i = begin; i < end; ++i)
    {
        switch (choice.event)
        {
        case Event::MESSAGES:
            hits += choice.messages[samples.messages[i]];
            break;
        case Event::HALF_SPACE:
            hits += samples.GetScore(i, choice.normal) >= choice.threshold;
            break;
        case Event::IMPOSSIBLE:
            hits += !CanSend(samples, i, second);
            break;
        }
    }
    return hits;
}

bool
PrivacyAudit::CanSend(const Samples& samples, std::size_t sample, const Prepared& input) const
{
    const std::size_t dimension = input.clipped.size();
    const float* sent = &samples.decoded[sample * dimension];
    for (const IntervalRange& range : input.update.intervals)
    {
        const LevelGrid grid(range.low, range.high, m_device.bits, dimension);
        for (std::size_t i = range.begin; i < range.end; ++i)
        {
            if (!m_device.quantizer->CanSend(input.clipped[i], grid, sent[i]))
            {
                return false;
            }
        }
    }
    return true;
}

bool
PrivacyAudit::SeesImpossible(const std::vector<Prepared>& prepared,
                             const std::vector<Samples>& seen) const
{
    for (const Samples& samples : seen)
    {
        for (const Prepared& input : prepared)
        {
            for (std::size_t i = 0; i < samples.messages.size(); ++i)
            {
                if (!CanSend(samples, i, input))
                {
                    return true;
                }
            }
        }
    }
    return false;
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
        choice.event = Event::MESSAGES;
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
                choice.event = Event::HALF_SPACE;
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
                     double alpha,
                     bool byRho,
                     bool seesImpossible) const
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
            const double claimed =
                byRho ? GetClaimedRho(claim) : GetClaimedEpsilon(claim, one, other);
            const Pair pair{
                seen[a], seen[b], half, alpha, byRho, std::isnan(claimed) ? 0 : claimed};
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
            if (seesImpossible)
            {
                Choice impossible = next;
                impossible.event = Event::IMPOSSIBLE;
                impossible.margin =
                    pair.GetMargin(Count(seen[a], impossible, prepared[b], 0, half),
                                   Count(seen[b], impossible, prepared[b], 0, half));
                next = impossible.margin > next.margin ? impossible : next;
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

double
PrivacyAudit::GetClaimedRho(const PrivacyClaim& claim)
{
    if (claim.kind == PrivacyClaim::ZCDP && claim.scope == PrivacyClaim::UPDATE)
    {
        return claim.rho;
    }
    const bool hasRho = claim.kind == PrivacyClaim::TRUE_EPSILON && claim.updateRho > 0;
    return hasRho ? claim.updateRho : UNKNOWN;
}

double
PrivacyAudit::GetLargestRho(const std::vector<Input>& inputs,
                            const std::vector<Prepared>& prepared) const
{
    double largest = 0;
    for (std::size_t a = 0; a < inputs.size(); ++a)
    {
        for (std::size_t b = a + 1; b < inputs.size(); ++b)
        {
            if (prepared[a].clipped != prepared[b].clipped)
            {
                largest = Larger(largest, GetExactRho(inputs[a], inputs[b]));
            }
        }
    }
    return largest;
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
    result.claimedRho = GetClaimedRho(claim);
    result.exactRho = UNKNOWN;
    result.lowerRho = UNKNOWN;
    bool exceeds = ExceedsClaim(claim, inputs, prepared, result.exact);
    const bool seesImpossible = SendsFloats() && SeesImpossible(prepared, seen);
    if (seesImpossible)
    {
        exceeds = true;
        result.exact = INFINITE;
        result.exactRho = INFINITE;
    }
    const bool claimsRho = !std::isnan(result.claimedRho);
    const double share = claimsRho ? alpha / 2 : alpha; // of each of the two bounds
    const auto count = [&](const Choice& choice, std::size_t input)
    { return Count(seen[input], choice, prepared[choice.second], half, 2 * half); };
    const Choice choice =
        Search(claim, prepared, seen, numbers.size(), share, false, seesImpossible);
    result.first = choice.first;
    result.second = choice.second;
    result.claimed =
        GetClaimedEpsilon(claim, prepared[choice.first].clipped, prepared[choice.second].clipped);
    result.lower =
        GetLowerBound(count(choice, choice.first), count(choice, choice.second), half, share);
    if (!std::isnan(result.claimed))
    {
        result.verdict = exceeds || result.lower > result.claimed
                             ? PrivacyAuditResult::FALSIFIED
                             : PrivacyAuditResult::NOT_FALSIFIED;
    }
    if (claimsRho)
    {
        result.exactRho =
            Larger(std::isinf(result.exactRho) ? INFINITE : 0, GetLargestRho(inputs, prepared));
        const Choice event =
            Search(claim, prepared, seen, numbers.size(), share, true, seesImpossible);
        result.lowerRho =
            GetLowerRho(count(event, event.first), count(event, event.second), half, share);
        const bool isAbove =
            result.exactRho > result.claimedRho * (1 + 1e-9) || result.lowerRho > result.claimedRho;
        result.verdict = isAbove || result.verdict == PrivacyAuditResult::FALSIFIED
                             ? PrivacyAuditResult::FALSIFIED
                             : PrivacyAuditResult::NOT_FALSIFIED;
    }
    return result;
}

} // namespace ns3
