// SPDX-License-Identifier: GPL-2.0-only

#ifndef FEDERATED_RANKS_H
#define FEDERATED_RANKS_H

#include "ns3/nstime.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace ns3
{

/**
 * @ingroup federated
 * @brief The processes (ranks) that simulate one scenario together, on ns-3's MPI engine with
 * granted time windows. Without MPI there is one.
 *
 * All ranks run the same program, and make the same nodes of the backbone and the point-to-point
 * links between them, before internet stacks. `node->GetSystemId()` says which rank simulates a
 * node; FederatedHelper installs applications on nodes of its own rank only.
 *
 * @code
    int main(int argc, char* argv[])
    {
        FederatedRanks::Begin(argc, argv);
        ...
        federation.StopWhenFinished(); // on all ranks at one time
        Simulator::Run();
        return FederatedRanks::End(federation.Finish());
    }
   @endcode
 *
 * Where functions are called by all ranks or by none, the order of the calls is the same on each.
 */
class FederatedRanks
{
  public:
    /** What MPI does for this class. */
    class Engine
    {
      public:
        virtual ~Engine() = default;

        /**
         * Begin with MPI, and choose ns-3's engine if there is more than one rank.
         * @param [in,out] argc Arguments of main.
         * @param [in,out] argv Likewise.
         */
        virtual void Begin(int& argc, char**& argv) = 0;

        /** @return the number of this rank. */
        virtual uint32_t GetRank() const = 0;

        /** @return how many ranks there are. */
        virtual uint32_t GetSize() const = 0;

        /** Give all ranks the same time windows: those of the shortest link between two of them. */
        virtual void AlignWindows() = 0;

        /**
         * @param value A number.
         * @return the largest of those of all ranks.
         */
        virtual double GetMax(double value) = 0;

        /**
         * @param text A text.
         * @return those of all ranks, by the numbers of the ranks.
         */
        virtual std::vector<std::string> GetAll(const std::string& text) = 0;

        /** End with MPI, after Simulator::Destroy(). */
        virtual void End() = 0;
    };

    static constexpr double STOP_PERIOD = 0.1; //!< Seconds, see StopTogether.

    /**
     * Largest FragmentSize of a federation on several ranks: ns-3 has 2,000 bytes for a packet with
     * its headers, metadata and tags.
     */
    static constexpr uint32_t LARGEST_FRAGMENT = 1800;

    /**
     * The part of the module that has MPI calls this before main().
     * @param engine The engine, which is never destroyed.
     * @return true, to initialize a static variable with.
     */
    static bool Register(Engine* engine);

    /**
     * To be called first in main.
     * @param [in,out] argc Arguments of main, from which those of MPI are taken.
     * @param [in,out] argv Likewise.
     */
    static void Begin(int& argc, char**& argv);

    /**
     * To be called last in main, by all ranks.
     * @param status Exit code of this rank.
     * @return the largest exit code of all ranks.
     */
    static int End(int status);

    /** @return the number of this process, from 0 on. */
    static uint32_t GetRank();

    /** @return how many processes there are, at least 1. */
    static uint32_t GetSize();

    /** @return whether the module was built with MPI. */
    static bool HasMpi();

    /**
     * By all ranks or none.
     * @param value A number; NaN: not known.
     * @return the largest that is known to a rank; NaN if there is none.
     */
    static double GetMax(double value);

    /**
     * By all ranks or none.
     * @param text A text.
     * @return those of all ranks, by the numbers of the ranks.
     */
    static std::vector<std::string> GetAll(const std::string& text);

    /**
     * Stop the simulation on all ranks at the same simulated time, a multiple of STOP_PERIOD, once
     * all have finished; before Simulator::Run(). The last call counts.
     * @param hasFinished Whether this rank has. It lives until the simulation is destroyed.
     */
    static void StopTogether(const std::function<bool()>& hasFinished);

    /** @return whether StopTogether() was called in this simulation. */
    static bool IsStoppingTogether();

  private:
    /** Stop if all ranks have finished, else ask again later. */
    static void CheckEnd();
};

} // namespace ns3

#endif // FEDERATED_RANKS_H
