// SPDX-License-Identifier: GPL-2.0-only

#ifndef CPU_TIME_H
#define CPU_TIME_H

#include <atomic>
#include <cstdint>
#include <ctime>

namespace ns3::federated
{

/**
 * @ingroup federated
 * @brief Sums the processor time that threads spend on one kind of work.
 *
 * A measurement for benchmarks: nothing that a simulation computes may depend on it.
 */
class CpuTime
{
  public:
    /** Counts the time that the calling thread spends between construction and destruction. */
    class Span
    {
      public:
        /** @param total Where to add the time. */
        explicit Span(CpuTime& total)
            : m_total(total),
              m_begin(GetThreadTime())
        {
        }

        ~Span()
        {
            m_total.m_nanoseconds += GetThreadTime() - m_begin;
        }

        Span(const Span&) = delete;
        Span& operator=(const Span&) = delete;

      private:
        /** @return the processor time of the calling thread, in nanoseconds. */
        static int64_t GetThreadTime()
        {
            timespec time{};
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
            return int64_t{time.tv_sec} * 1000000000 + time.tv_nsec;
        }

        CpuTime& m_total; //!< Where to add the time.
        int64_t m_begin;  //!< When it began.
    };

    /** @return the sum of all spans that have ended, in seconds. */
    double GetSeconds() const
    {
        return 1e-9 * static_cast<double>(m_nanoseconds);
    }

  private:
    std::atomic<int64_t> m_nanoseconds{0}; //!< The sum.
};

} // namespace ns3::federated

#endif // CPU_TIME_H
