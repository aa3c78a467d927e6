// SPDX-License-Identifier: GPL-2.0-only

#ifndef REPLAY_WINDOW_H
#define REPLAY_WINDOW_H

#include <bitset>
#include <cstddef>
#include <cstdint>

namespace ns3::federated
{

/**
 * @brief Which of the last counters of a sender were received, as in IPsec and DTLS: a bit map that
 * slides. A counter below the window counts as received.
 */
class ReplayWindow
{
  public:
    static constexpr std::size_t SIZE = 1024; //!< How many counters it covers.

    /**
     * @param counter A counter, from 1 on.
     * @return whether it was not received yet, and is not too old to say.
     */
    bool IsNew(uint64_t counter) const
    {
        return counter > m_highest ||
               (m_highest - counter < SIZE && counter > 0 && !m_received[counter % SIZE]);
    }

    /** @param counter A counter for which IsNew() is true, of a message that is authentic. */
    void Mark(uint64_t counter)
    {
        if (counter > m_highest)
        {
            if (counter - m_highest >= SIZE)
            {
                m_received.reset();
                m_highest = counter;
            }
            while (m_highest < counter)
            {
                m_received.reset(++m_highest % SIZE);
            }
        }
        m_received.set(counter % SIZE);
    }

  private:
    uint64_t m_highest = 0;       //!< The highest counter that was received; 0: none.
    std::bitset<SIZE> m_received; //!< Counter c at c mod SIZE.
};

} // namespace ns3::federated

#endif // REPLAY_WINDOW_H
