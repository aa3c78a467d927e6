// SPDX-License-Identifier: GPL-2.0-only

#ifndef CPU_SECONDS_H
#define CPU_SECONDS_H

#include <ctime>

/** @return the processor time of this process so far. */
inline double
GetCpuSeconds()
{
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

#endif // CPU_SECONDS_H
