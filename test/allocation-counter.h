// SPDX-License-Identifier: GPL-2.0-only

#ifndef ALLOCATION_COUNTER_H
#define ALLOCATION_COUNTER_H

#include <cstddef>

/** @return how often the test program has called operator new so far. */
std::size_t GetAllocations();

#endif // ALLOCATION_COUNTER_H
