// SPDX-License-Identifier: GPL-2.0-only

// Ranks on MPI, where ns-3 was built with it.

#include "federated-ranks.h"

#ifdef NS3_MPI

#include "ns3/abort.h"
#include "ns3/channel.h"
#include "ns3/global-value.h"
#include "ns3/mpi-interface.h"
#include "ns3/net-device.h"
#include "ns3/node-list.h"
#include "ns3/node.h"
#include "ns3/nstime.h"
#include "ns3/string.h"

#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

namespace ns3
{

namespace
{

/**
 * @return the shortest delay of a link from this rank to another one, in seconds; infinite: none.
 */
double
FindShortestDelay(uint32_t rank)
{
    double shortest = std::numeric_limits<double>::infinity();
    for (auto node = NodeList::Begin(); node != NodeList::End(); ++node)
    {
        for (uint32_t i = 0; i < (*node)->GetNDevices(); ++i)
        {
            const Ptr<NetDevice> device = (*node)->GetDevice(i);
            const Ptr<Channel> channel = device->GetChannel();
            if (!device->IsPointToPoint() || !channel || channel->GetNDevices() != 2)
            {
                continue;
            }
            const uint32_t first = channel->GetDevice(0)->GetNode()->GetSystemId();
            const uint32_t second = channel->GetDevice(1)->GetNode()->GetSystemId();
            if (first != second && (first == rank || second == rank))
            {
                TimeValue delay;
                channel->GetAttribute("Delay", delay);
                shortest = std::min(shortest, delay.Get().GetSeconds());
            }
        }
    }
    return shortest;
}

/** @brief Ranks by ns-3's MpiInterface. */
class MpiRanks : public FederatedRanks::Engine
{
  public:
    void Begin(int& argc, char**& argv) override
    {
        int hasBegun = 0;
        MPI_Initialized(&hasBegun);
        if (!hasBegun)
        {
            MPI_Init(&argc, &argv);
        }
        MPI_Comm_dup(MPI_COMM_WORLD, &m_world);
        MPI_Comm_rank(m_world, &m_rank);
        MPI_Comm_size(m_world, &m_size);
        if (m_size > 1)
        {
            GlobalValue::Bind("SimulatorImplementationType",
                              StringValue("ns3::DistributedSimulatorImpl"));
            MpiInterface::Enable(MPI_COMM_WORLD);
        }
    }

    uint32_t GetRank() const override
    {
        return static_cast<uint32_t>(m_rank);
    }

    uint32_t GetSize() const override
    {
        return static_cast<uint32_t>(m_size);
    }

    void AlignWindows() override
    {
        const double own = FindShortestDelay(GetRank());
        const double none = -std::numeric_limits<double>::infinity();
        const double longest = GetMax(std::isinf(own) ? none : own);
        const double shortest = -GetMax(-own);
        NS_ABORT_MSG_IF(longest > shortest,
                        "FederatedRanks: the shortest link from one rank to another has a delay of "
                            << shortest << " s, and that of another rank " << longest
                            << " s; give both the same, else ranks have different time windows");
    }

    double GetMax(double value) override
    {
        double most = value;
        MPI_Allreduce(&value, &most, 1, MPI_DOUBLE, MPI_MAX, m_world);
        return most;
    }

    std::vector<std::string> GetAll(const std::string& text) override
    {
        const auto own = static_cast<int>(text.size());
        std::vector<int> sizes(m_size);
        MPI_Allgather(&own, 1, MPI_INT, sizes.data(), 1, MPI_INT, m_world);
        std::vector<int> begins(m_size + 1); // of the texts, one after the other
        std::partial_sum(sizes.begin(), sizes.end(), begins.begin() + 1);
        std::string joined(begins.back(), '\0');
        MPI_Allgatherv(text.data(),
                       own,
                       MPI_CHAR,
                       joined.data(),
                       sizes.data(),
                       begins.data(),
                       MPI_CHAR,
                       m_world);
        std::vector<std::string> all;
        for (int rank = 0; rank < m_size; ++rank)
        {
            all.push_back(joined.substr(begins[rank], sizes[rank]));
        }
        return all;
    }

    void End() override
    {
        if (m_size > 1)
        {
            MpiInterface::Disable();
        }
        MPI_Comm_free(&m_world);
        MPI_Finalize();
        m_rank = 0;
        m_size = 1;
    }

  private:
    MPI_Comm m_world = MPI_COMM_NULL; //!< All ranks, for this class alone.
    int m_rank = 0;                   //!< Number of this one; 0 before Begin().
    int m_size = 1;                   //!< How many; 1 before Begin().
};

const bool g_registered = FederatedRanks::Register(new MpiRanks);

} // namespace

} // namespace ns3

#endif // NS3_MPI
