// SPDX-License-Identifier: GPL-2.0-only

#include "federated-partition.h"

#include "ns3/federated-number.h"
#include "ns3/federated-random.h"

#include <boost/random/gamma_distribution.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace ns3
{

namespace
{

using Indices = std::vector<uint32_t>;

constexpr double MAX_ALPHA = 1e6; // beyond it shares are equal for every practical purpose

/**
 * @param items How many items there are.
 * @param parts Into how many parts they are cut.
 * @return sizes that differ by at most one, the larger ones first.
 */
Indices
EqualSizes(uint32_t items, uint32_t parts)
{
    Indices sizes(parts, items / parts);
    std::fill_n(sizes.begin(), items % parts, items / parts + 1);
    return sizes;
}

/**
 * @param items How many items there are.
 * @param parts Into how many parts they are cut.
 * @param alpha Parameter of the symmetric Dirichlet distribution of the shares.
 * @param random The random stream.
 * @return sizes proportional to the shares, up to rounding.
 */
Indices
DirichletSizes(uint32_t items, uint32_t parts, double alpha, FederatedRandom& random)
{
    boost::random::gamma_distribution<double> gamma(alpha);
    std::vector<double> shares(parts);
    for (double& share : shares)
    {
        share = gamma(random);
    }
    double total = std::accumulate(shares.begin(), shares.end(), 0.0);
    if (total < std::numeric_limits<double>::min())
    {
        // Every share underflowed: the limit for small alpha gives everything to one part.
        shares[random.Below(parts)] = 1;
        total = std::accumulate(shares.begin(), shares.end(), 0.0);
    }
    Indices sizes(parts);
    double sum = 0;
    uint32_t before = 0;
    for (uint32_t i = 0; i < parts; ++i)
    {
        sum += shares[i];
        const uint32_t end =
            i + 1 == parts ? items : static_cast<uint32_t>(std::llround(items * (sum / total)));
        sizes[i] = end - before;
        before = end;
    }
    return sizes;
}

/**
 * Hand out items to devices in order.
 * @param items The items.
 * @param sizes How many of them each device gets; the sum is the number of items.
 * @param [in,out] parts What the devices hold.
 * @param firstDevice The device that the first size is for.
 */
void
HandOut(const Indices& items,
        const Indices& sizes,
        FederatedPartition::Parts& parts,
        uint32_t firstDevice = 0)
{
    auto next = items.begin();
    for (std::size_t i = 0; i < sizes.size(); ++i)
    {
        auto& part = parts[firstDevice + i];
        part.insert(part.end(), next, next + sizes[i]);
        next += sizes[i];
    }
}

/**
 * Give every device that holds nothing one sample of the device that then holds most.
 * @param [in,out] parts What the devices hold.
 */
void
FillEmpty(FederatedPartition::Parts& parts)
{
    for (auto& part : parts)
    {
        if (part.empty())
        {
            auto& largest = *std::max_element(parts.begin(),
                                              parts.end(),
                                              [](const Indices& a, const Indices& b)
                                              { return a.size() < b.size(); });
            part.push_back(largest.back());
            largest.pop_back();
        }
    }
}

/**
 * @param labels The class of every sample.
 * @param order Indices of samples.
 * @return the indices of each class, in the order given.
 */
std::vector<Indices>
ByLabel(const std::vector<uint8_t>& labels, const Indices& order)
{
    std::vector<Indices> byLabel(1 + *std::max_element(labels.begin(), labels.end()));
    for (uint32_t sample : order)
    {
        byLabel[labels[sample]].push_back(sample);
    }
    return byLabel;
}

/**
 * Sort the samples by class, cut them into equal shards and deal these out at random.
 * @param labels The class of every sample.
 * @param order The samples, shuffled.
 * @param shardsPerDevice How many shards each device gets.
 * @param random The random stream.
 * @param [in,out] parts Empty ones, a device each; they get the samples.
 * @param [out] error On failure, what is impossible.
 * @return whether there are enough samples.
 */
bool
DealShards(const std::vector<uint8_t>& labels,
           Indices order,
           uint32_t shardsPerDevice,
           FederatedRandom& random,
           FederatedPartition::Parts& parts,
           std::string& error)
{
    const uint64_t count = uint64_t{parts.size()} * shardsPerDevice;
    if (count == 0 || count > order.size())
    {
        error = std::to_string(order.size()) + " samples cannot be cut into " +
                std::to_string(count) + " shards: " + std::to_string(shardsPerDevice) +
                " for each of " + std::to_string(parts.size()) + " devices.";
        return false;
    }
    std::stable_sort(order.begin(),
                     order.end(),
                     [&labels](uint32_t a, uint32_t b) { return labels[a] < labels[b]; });
    FederatedPartition::Parts shards(count);
    HandOut(order,
            EqualSizes(static_cast<uint32_t>(order.size()), static_cast<uint32_t>(count)),
            shards);
    random.Shuffle(shards);
    for (std::size_t i = 0; i < shards.size(); ++i)
    {
        auto& part = parts[i / shardsPerDevice];
        part.insert(part.end(), shards[i].begin(), shards[i].end());
    }
    return true;
}

/**
 * Give each group of devices a range of the classes, and divide their samples equally in the group.
 * @param labels The class of every sample.
 * @param order The samples, shuffled.
 * @param groups The number of devices in each group.
 * @param random The random stream.
 * @param [in,out] parts Empty ones, a device each; they get the samples.
 * @param [out] error On failure, what is impossible.
 * @return whether each device gets a sample.
 */
bool
HandOutLabels(const std::vector<uint8_t>& labels,
              const Indices& order,
              const std::vector<uint32_t>& groups,
              FederatedRandom& random,
              FederatedPartition::Parts& parts,
              std::string& error)
{
    const auto byLabel = ByLabel(labels, order);
    uint32_t device = 0;
    for (std::size_t group = 0; group < groups.size(); ++group)
    {
        Indices members;
        for (std::size_t label = group * byLabel.size() / groups.size();
             label < (group + 1) * byLabel.size() / groups.size();
             ++label)
        {
            members.insert(members.end(), byLabel[label].begin(), byLabel[label].end());
        }
        const auto size = static_cast<uint32_t>(members.size());
        if (groups[group] == 0 || size < groups[group])
        {
            error = "Group " + std::to_string(group) + " has " + std::to_string(groups[group]) +
                    " devices for the " + std::to_string(size) + " samples of its labels.";
            return false;
        }
        random.Shuffle(members);
        HandOut(members, EqualSizes(size, groups[group]), parts, device);
        device += groups[group];
    }
    return true;
}

} // namespace

FederatedPartition::FederatedPartition(Kind kind, double alpha, uint32_t shards)
    : m_kind(kind),
      m_alpha(alpha),
      m_shards(shards)
{
}

FederatedPartition
FederatedPartition::Iid()
{
    return FederatedPartition(IID);
}

FederatedPartition
FederatedPartition::Dirichlet(double alpha)
{
    return FederatedPartition(DIRICHLET, alpha);
}

FederatedPartition
FederatedPartition::Shards(uint32_t shards)
{
    return FederatedPartition(SHARDS, 1, shards);
}

FederatedPartition
FederatedPartition::LabelByGroup()
{
    return FederatedPartition(LABEL_BY_GROUP);
}

FederatedPartition
FederatedPartition::QuantitySkew(double alpha)
{
    return FederatedPartition(QUANTITY_SKEW, alpha);
}

bool
FederatedPartition::Parse(const std::string& text,
                          FederatedPartition& partition,
                          std::string& error)
{
    const std::size_t colon = text.find(':');
    const std::string name = text.substr(0, colon);
    const bool hasNumber = colon != std::string::npos;
    const std::string number = hasNumber ? text.substr(colon + 1) : "";

    if (!hasNumber && (name == "iid" || name == "label-by-group"))
    {
        partition = name == "iid" ? Iid() : LabelByGroup();
        return true;
    }
    if (hasNumber && (name == "dirichlet" || name == "quantity"))
    {
        double alpha;
        if (!FederatedNumber::ReadReal(number, alpha) || !(alpha > 0) || alpha > MAX_ALPHA)
        {
            error = "The partition '" + text + "' needs a number above 0 and up to 1e6 after '" +
                    name + ":'.";
            return false;
        }
        partition = name == "dirichlet" ? Dirichlet(alpha) : QuantitySkew(alpha);
        return true;
    }
    if (hasNumber && name == "shards")
    {
        uint64_t shards;
        if (!FederatedNumber::ReadCount(number, shards) || shards < 1 || shards > 1000000)
        {
            error = "The partition '" + text +
                    "' needs a whole number from 1 to 1000000 after 'shards:'.";
            return false;
        }
        partition = Shards(static_cast<uint32_t>(shards));
        return true;
    }
    error = "The partition '" + text +
            "' is none of iid, dirichlet:ALPHA, shards:COUNT, label-by-group, quantity:ALPHA.";
    return false;
}

bool
FederatedPartition::Split(const std::vector<uint8_t>& labels,
                          const std::vector<uint32_t>& groups,
                          uint64_t seed,
                          Parts& parts,
                          std::string& error) const
{
    parts.clear();
    const uint64_t total = std::accumulate(groups.begin(), groups.end(), uint64_t{0});
    if (total == 0)
    {
        error = "The samples cannot be split among 0 devices.";
        return false;
    }
    if (total > labels.size())
    {
        error = std::to_string(labels.size()) + " samples cannot be split among " +
                std::to_string(total) + " devices: each needs at least one.";
        return false;
    }
    if ((m_kind == DIRICHLET || m_kind == QUANTITY_SKEW) && !(m_alpha > 0 && m_alpha <= MAX_ALPHA))
    {
        error = "The parameter alpha of a partition is " + std::to_string(m_alpha) +
                ", not above 0 and up to 1e6.";
        return false;
    }
    const auto samples = static_cast<uint32_t>(labels.size());
    const auto devices = static_cast<uint32_t>(total);
    FederatedRandom random(seed, FederatedRandom::PARTITION);
    Indices order(samples);
    std::iota(order.begin(), order.end(), 0);
    random.Shuffle(order);
    Parts result(devices);
    bool possible = true;
    switch (m_kind)
    {
    case IID:
        HandOut(order, EqualSizes(samples, devices), result);
        break;

    case QUANTITY_SKEW:
        HandOut(order, DirichletSizes(samples, devices, m_alpha, random), result);
        FillEmpty(result);
        break;

    case DIRICHLET:
        for (const Indices& members : ByLabel(labels, order))
        {
            const auto size = static_cast<uint32_t>(members.size());
            HandOut(members, DirichletSizes(size, devices, m_alpha, random), result);
        }
        FillEmpty(result);
        break;

    case SHARDS:
        possible = DealShards(labels, std::move(order), m_shards, random, result, error);
        break;

    case LABEL_BY_GROUP:
        possible = HandOutLabels(labels, order, groups, random, result, error);
        break;
    }
    if (possible)
    {
        parts = std::move(result);
    }
    return possible;
}

} // namespace ns3
