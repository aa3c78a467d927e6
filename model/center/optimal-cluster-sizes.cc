// SPDX-License-Identifier: GPL-2.0-only

#include "optimal-cluster-sizes.h"

#include "ns3/double.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(OptimalClusterSizes);

namespace
{

constexpr int64_t UNREACHABLE = std::numeric_limits<int64_t>::max(); //!< No such sum.

/** The least sum over some groups, for each number of devices: linear between few corners. */
class LeastSum
{
  public:
    /**
     * Add the sum of the fewest devices; further ones follow in ascending order of their value.
     * @param devices The fewest devices.
     * @param sum Their sum.
     */
    LeastSum(int64_t devices, int64_t sum)
        : m_corners{{devices, sum, 0}}
    {
    }

    /**
     * Add devices.
     * @param count How many.
     * @param value Value of each.
     */
    void Add(int64_t count, int64_t value)
    {
        Corner& last = m_corners.back();
        last.slope = value;
        const Corner next{last.devices + count, last.sum + count * value, 0};
        m_corners.push_back(next);
    }

    /** @return the most devices. */
    int64_t Most() const
    {
        return m_corners.back().devices;
    }

    /**
     * @param devices How many.
     * @return their least sum; UNREACHABLE if there are too few or too many.
     */
    int64_t At(int64_t devices) const
    {
        if (devices < m_corners.front().devices || devices > Most())
        {
            return UNREACHABLE;
        }
        std::size_t i = m_corners.size() - 1;
        while (m_corners[i].devices > devices)
        {
            --i;
        }
        return m_corners[i].sum + (devices - m_corners[i].devices) * m_corners[i].slope;
    }

  private:
    /** A number of devices. */
    struct Corner
    {
        int64_t devices; //!< How many.
        int64_t sum;     //!< Their least sum.
        int64_t slope;   //!< Value of each further device.
    };

    std::vector<Corner> m_corners; //!< In ascending order of devices.
};

using Tails = std::vector<LeastSum>; //!< Of each tail.

/** One group, in whole units of cost. */
struct Item
{
    std::size_t index; //!< Index in the argument of Choose().
    int64_t limit;     //!< Largest size.
    int64_t bits;      //!< Wire bits of one device.
    int64_t cost;      //!< Cost of one device.
};

/** All groups of the same wire bits. Cheap ones are filled before others get a second device. */
struct Layer
{
    std::vector<Item> items;    //!< The groups, by cost.
    int64_t bits;               //!< Wire bits of one device.
    std::vector<int64_t> costs; //!< Cost of Least() devices, of one more, and so on.

    /** @return the fewest devices. */
    int64_t Least() const
    {
        return static_cast<int64_t>(items.size());
    }

    /**
     * @param devices How many.
     * @return their cost.
     */
    int64_t Cost(int64_t devices) const
    {
        return costs[devices - Least()];
    }

    /** @return the most devices. */
    int64_t Most() const
    {
        return Least() + static_cast<int64_t>(costs.size()) - 1;
    }
};

/**
 * The depth-first search over the layers. A layer and those after it are called a tail.
 */
class Search
{
  public:
    /**
     * @param items The groups, ordered by bits, cost, index.
     * @param participants N.
     * @param budget B.
     */
    Search(const std::vector<Item>& items, int64_t participants, int64_t budget);

    /** @return the best size of each group, in the order in which they were given. */
    std::vector<uint32_t> Run();

    /** @return how many nodes were visited. */
    uint64_t GetNodes() const
    {
        return m_nodes;
    }

  private:
    /** Least sums of cost plus price times bits. */
    struct Priced
    {
        int64_t price; //!< Price of a bit.
        Tails least;   //!< The sums.
    };

    /**
     * @param price Price of a bit.
     * @return the bits of the N devices of least cost plus price times bits (of fewest bits where
     *         these are equal), and the lower bound that follows for the cost of any N devices.
     */
    std::pair<int64_t, int64_t> Cheapest(int64_t price) const;

    /** Find the highest lower bound, and fill the tables for prices near the one that gives it. */
    void Prepare();

    /**
     * @param costWeight Weight of cost.
     * @param bitsWeight Weight of bits.
     * @return the least weighted sums over every tail.
     */
    Tails LeastSums(int64_t costWeight, int64_t bitsWeight) const;

    /**
     * Try all sizes of a layer and of those after it.
     * @param m The layer.
     * @param devices Devices left for the tail.
     * @param bits Bits left for the tail.
     * @param cost Cost so far.
     */
    void Visit(std::size_t m, int64_t devices, int64_t bits, int64_t cost);

    const std::vector<Item>& m_items; //!< The groups.
    const int64_t m_participants;     //!< N.
    const int64_t m_budget;           //!< B.
    std::vector<Layer> m_layers;      //!< The groups by bits.
    std::vector<int64_t> m_divisor;   //!< For each tail, of all differences of bits.
    int64_t m_bound = 0;              //!< No vector costs less.
    Tails m_leastBits;                //!< Least sums of bits.
    std::vector<Priced> m_priced;     //!< For several prices, the best one first.

    int64_t m_room = 0;           //!< Cost that a vector must not exceed.
    uint64_t m_nodes = 0;         //!< Visited nodes.
    std::vector<int64_t> m_sizes; //!< The sizes being tried, of the layers.
    std::vector<int64_t> m_found; //!< The best sizes, of the layers.
    // For each tail, (devices, bits) left in one number -> least cost at which it was tried.
    std::vector<std::unordered_map<uint64_t, int64_t>> m_tried; //!< Tails that were tried.
};

Search::Search(const std::vector<Item>& items, int64_t participants, int64_t budget)
    : m_items(items),
      m_participants(participants),
      m_budget(budget)
{
    for (const auto& item : items)
    {
        if (m_layers.empty() || m_layers.back().bits != item.bits)
        {
            m_layers.push_back({{}, item.bits, {0}});
        }
        m_layers.back().items.push_back(item);
        m_layers.back().costs[0] += item.cost;
    }
    for (auto& layer : m_layers)
    {
        for (const auto& item : layer.items)
        {
            for (int64_t c = 1; c < item.limit && layer.Most() < participants; ++c)
            {
                layer.costs.push_back(layer.costs.back() + item.cost);
            }
        }
    }
    m_divisor.resize(m_layers.size());
    for (std::size_t m = m_layers.size() - 1; m-- > 0;)
    {
        m_divisor[m] = std::gcd(m_divisor[m + 1], m_layers[m + 1].bits - m_layers[m].bits);
    }
    m_sizes.resize(m_layers.size());
    m_tried.resize(m_layers.size());
}

std::pair<int64_t, int64_t>
Search::Cheapest(int64_t price) const
{
    std::vector<const Item*> order;
    for (const auto& item : m_items)
    {
        order.push_back(&item);
    }
    std::sort(order.begin(),
              order.end(),
              [price](const Item* a, const Item* b)
              {
                  return std::make_pair(a->cost + price * a->bits, a->bits) <
                         std::make_pair(b->cost + price * b->bits, b->bits);
              });
    int64_t left = m_participants - static_cast<int64_t>(m_items.size());
    int64_t bits = 0;
    int64_t cost = 0;
    for (const Item* item : order)
    {
        const int64_t extra = std::min(left, item->limit - 1);
        left -= extra;
        bits += (1 + extra) * item->bits;
        cost += (1 + extra) * item->cost;
    }
    return {bits, cost + price * (bits - m_budget)};
}

Tails
Search::LeastSums(int64_t costWeight, int64_t bitsWeight) const
{
    Tails tails(m_layers.size() + 1, LeastSum(0, 0));
    std::vector<std::pair<int64_t, int64_t>> order; // weighted sum of one device, devices
    int64_t sum = 0;
    int64_t least = 0;
    for (std::size_t m = m_layers.size(); m-- > 0;)
    {
        for (const auto& item : m_layers[m].items)
        {
            const int64_t weighted = costWeight * item.cost + bitsWeight * item.bits;
            order.emplace_back(weighted, item.limit - 1);
            sum += weighted;
            ++least;
        }
        // One device of each group, then the others in ascending order of cost.
        std::sort(order.begin(), order.end());
        LeastSum& tail = tails[m];
        tail = LeastSum(least, sum);
        for (const auto& [weighted, count] : order)
        {
            tail.Add(std::min(count, m_participants - tail.Most()), weighted);
        }
    }
    return tails;
}

void
Search::Prepare()
{
    // The bound is concave in the price and rises as long as the cheapest devices exceed the
    // budget. At the price of the largest cost they do not: bits, which differ by at least 1,
    // decide there.
    int64_t low = -1;
    int64_t high = 0;
    for (const auto& item : m_items)
    {
        high = std::max(high, item.cost);
    }
    while (high - low > 1)
    {
        const int64_t middle = low + (high - low) / 2;
        (Cheapest(middle).first <= m_budget ? high : low) = middle;
    }
    int64_t best = high;
    m_bound = Cheapest(high).second;
    if (low >= 0 && Cheapest(low).second > m_bound)
    {
        best = low;
        m_bound = Cheapest(low).second;
    }

    // Other prices give tails better bounds than the best price for all.
    std::vector<int64_t> prices{best};
    for (int64_t step = best; step > 0; step /= 2)
    {
        prices.push_back(best - step);
        prices.push_back(best + step / 2);
    }
    for (int64_t price : prices)
    {
        m_priced.push_back({price, LeastSums(1, price)});
    }
    m_leastBits = LeastSums(0, 1);
}

void
Search::Visit(std::size_t m, int64_t devices, int64_t bits, int64_t cost)
{
    ++m_nodes;
    if (m == m_layers.size())
    {
        // From here on only cheaper vectors: equal ones are later in the order that decides ties.
        m_found = m_sizes;
        m_room = cost - 1;
        return;
    }
    const Layer& layer = m_layers[m];
    if (m_divisor[m] > 0)
    {
        // Bits that no choice of the tail can use.
        const int64_t remainder = devices * layer.bits % m_divisor[m];
        bits -= (bits % m_divisor[m] + m_divisor[m] - remainder) % m_divisor[m];
    }
    const uint64_t key = static_cast<uint64_t>(devices) * (m_budget + 1) + bits;
    const auto [tried, isNew] = m_tried[m].emplace(key, cost);
    if (!isNew)
    {
        if (tried->second <= cost)
        {
            return;
        }
        tried->second = cost;
    }

    bool entered = false;
    for (int64_t c = std::min(layer.Most(), devices); c >= layer.Least(); --c)
    {
        const int64_t tailDevices = devices - c;
        const int64_t tailBits = bits - c * layer.bits;
        const int64_t tailRoom = m_room - cost - layer.Cost(c);
        const auto isTooDear = [m, tailDevices, tailBits, tailRoom](const Priced& priced)
        { return priced.least[m + 1].At(tailDevices) - priced.price * tailBits > tailRoom; };
        if (m_leastBits[m + 1].At(tailDevices) <= tailBits &&
            std::none_of(m_priced.begin(), m_priced.end(), isTooDear))
        {
            entered = true;
            m_sizes[m] = c;
            Visit(m + 1, tailDevices, tailBits, cost + layer.Cost(c));
        }
        else if (entered)
        {
            break; // all limits are convex in c
        }
    }
}

std::vector<uint32_t>
Search::Run()
{
    Prepare();
    // The closer to the bound a vector must be, the fewer nodes: search in growing distances.
    for (int64_t distance = 0; m_found.empty(); distance = 2 * distance + 1)
    {
        m_room = m_bound + distance;
        for (auto& tried : m_tried)
        {
            tried.clear();
        }
        Visit(0, m_participants, m_budget, 0);
    }

    std::vector<uint32_t> sizes(m_items.size());
    for (std::size_t m = 0; m < m_layers.size(); ++m)
    {
        int64_t left = m_found[m] - m_layers[m].Least();
        for (const auto& item : m_layers[m].items)
        {
            const int64_t extra = std::min(left, item.limit - 1);
            left -= extra;
            sizes[item.index] = static_cast<uint32_t>(1 + extra);
        }
    }
    return sizes;
}

} // namespace

TypeId
OptimalClusterSizes::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::OptimalClusterSizes")
            .SetParent<ClusterSizePolicy>()
            .SetGroupName("Federated")
            .AddConstructor<OptimalClusterSizes>()
            .AddAttribute("ClippingConstant",
                          "The constant C in the cost 8 C^2 / (2^b - 1)^2 of a device. The correct "
                          "value for a quantization interval [lo, hi] is (hi - lo) / 2.",
                          DoubleValue(10),
                          MakeDoubleAccessor(&OptimalClusterSizes::m_constant),
                          MakeDoubleChecker<double>(0, 1e100));
    return tid;
}

OptimalClusterSizes::OptimalClusterSizes() = default;

OptimalClusterSizes::~OptimalClusterSizes() = default;

uint64_t
OptimalClusterSizes::GetNodes() const
{
    return m_nodes;
}

std::vector<uint32_t>
OptimalClusterSizes::DoChoose(const std::vector<ClusterGroup>& groups,
                              uint32_t participants,
                              uint64_t budget)
{
    std::vector<double> costs;
    uint32_t mostBits = 0;
    for (const auto& group : groups)
    {
        const double step = 1 / (std::ldexp(1, group.bits) - 1);
        costs.push_back(8 * m_constant * m_constant * step * step + group.sigma2);
        mostBits = std::max(mostBits, group.wireBits);
    }
    const double largest = *std::max_element(costs.begin(), costs.end());
    // Prices are at most 1.5 times the largest cost: no sum exceeds 4 N mostBits times it.
    const int scale = 58 - std::ilogb(participants) - std::ilogb(mostBits);

    std::vector<Item> items;
    for (std::size_t m = 0; m < groups.size(); ++m)
    {
        const double relative = largest > 0 ? costs[m] / largest : 0;
        items.push_back({m,
                         std::min(groups[m].devices, participants),
                         groups[m].wireBits,
                         std::llround(std::ldexp(relative, scale))});
    }
    std::sort(items.begin(),
              items.end(),
              [](const Item& a, const Item& b)
              { return std::tie(a.bits, a.cost, a.index) < std::tie(b.bits, b.cost, b.index); });

    const uint64_t useful = std::min(budget, uint64_t{participants} * mostBits);
    Search search(items, participants, static_cast<int64_t>(useful));
    std::vector<uint32_t> sizes = search.Run();
    m_nodes = search.GetNodes();
    return sizes;
}

} // namespace ns3
