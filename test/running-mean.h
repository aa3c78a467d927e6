// SPDX-License-Identifier: GPL-2.0-only

#ifndef RUNNING_MEAN_H
#define RUNNING_MEAN_H

#include <cmath>

namespace ns3
{

/** Mean and standard error of numbers that are added one by one. */
class RunningMean
{
  public:
    /** @param value One more number. */
    void Add(double value)
    {
        ++m_count;
        m_sum += value;
        m_squares += value * value;
    }

    /** @return the mean. */
    double Get() const
    {
        return m_sum / m_count;
    }

    /** @return the standard error of the mean. */
    double GetError() const
    {
        return std::sqrt((m_squares / m_count - Get() * Get()) / (m_count - 1));
    }

  private:
    double m_count = 0;   //!< Numbers.
    double m_sum = 0;     //!< Of them.
    double m_squares = 0; //!< Sum of their squares.
};

} // namespace ns3

#endif // RUNNING_MEAN_H
