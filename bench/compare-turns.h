// SPDX-License-Identifier: GPL-2.0-only

#ifndef COMPARE_TURNS_H
#define COMPARE_TURNS_H

#include "ns3/simulator.h"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <limits>
#include <vector>

/** CPU seconds of our applications and of ns-3's own ones. */
struct Comparison
{
    double ours = std::numeric_limits<double>::infinity();   //!< Least of the turns.
    double theirs = std::numeric_limits<double>::infinity(); //!< Likewise.
    double medianRatio = 0;                                  //!< Median over the turns.

    /**
     * Print both ratios.
     * @param most What they should not exceed.
     */
    void PrintRatios(double most = 1.15) const
    {
        std::printf("ratio %.3f, median of the turns %.3f (at most %.2f)\n",
                    ours / theirs,
                    medianRatio,
                    most);
    }
};

/** @return the processor time of this process so far. */
inline double
GetCpuSeconds()
{
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/** @return CPU seconds of Simulator::Run(). */
inline double
RunSimulator()
{
    const double start = GetCpuSeconds();
    ns3::Simulator::Run();
    return GetCpuSeconds() - start;
}

/**
 * Measure two runs in turns, so that both see the same machine.
 * @param turns How many.
 * @param runOurs Returns CPU seconds of our applications.
 * @param runTheirs Returns CPU seconds of ns-3's own ones.
 * @return both.
 */
template <typename Ours, typename Theirs>
Comparison
CompareTurns(int turns, Ours runOurs, Theirs runTheirs)
{
    Comparison least;
    std::vector<double> ratios;
    for (int turn = 0; turn < turns; ++turn)
    {
        const double ours = runOurs();
        const double theirs = runTheirs();
        ratios.push_back(ours / theirs);
        least.ours = std::min(least.ours, ours);
        least.theirs = std::min(least.theirs, theirs);
    }
    std::nth_element(ratios.begin(), ratios.begin() + turns / 2, ratios.end());
    least.medianRatio = ratios[turns / 2];
    return least;
}

#endif // COMPARE_TURNS_H
