// SPDX-License-Identifier: GPL-2.0-only

// Counts allocations, so that tests can show that there are none in loops. In a file of its own:
// inlined into their callers, these look like mismatched pairs to the compiler.

#include "allocation-counter.h"

#include <atomic>
#include <cstdlib>
#include <new>

namespace
{

std::atomic<std::size_t> g_allocations{0}; //!< Calls of operator new so far.

} // namespace

std::size_t
GetAllocations()
{
    return g_allocations;
}

void*
operator new(std::size_t size)
{
    ++g_allocations;
    if (void* memory = std::malloc(size > 0 ? size : 1))
    {
        return memory;
    }
    throw std::bad_alloc();
}

void*
operator new(std::size_t size, const std::nothrow_t& /* tag */) noexcept
{
    ++g_allocations;
    return std::malloc(size > 0 ? size : 1);
}

void
operator delete(void* memory) noexcept
{
    std::free(memory);
}

void
operator delete(void* memory, const std::nothrow_t& /* tag */) noexcept
{
    std::free(memory);
}

void
operator delete(void* memory, std::size_t /* size */) noexcept
{
    std::free(memory);
}
