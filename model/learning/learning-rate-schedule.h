// SPDX-License-Identifier: GPL-2.0-only

#ifndef LEARNING_RATE_SCHEDULE_H
#define LEARNING_RATE_SCHEDULE_H

namespace ns3
{

/**
 * @ingroup federated
 * @brief The learning rate of each round: eta_t = a / (b + c t).
 */
class LearningRateSchedule
{
  public:
    /**
     * @param initial eta_0.
     * @param decay How fast it falls; 0 keeps it constant.
     * @return the schedule eta_t = initial / (1 + decay * t), t = 0, 1, ...
     */
    static LearningRateSchedule Decaying(double initial, double decay = 0)
    {
        return {initial, 1, decay};
    }

    /**
     * @param steps L, local steps per round.
     * @param mu Constant of strong convexity.
     * @return the schedule of Theorem 1, eta_t = 8 / (L mu t), t = 1, 2, ...
     */
    static LearningRateSchedule Theorem(double steps, double mu)
    {
        return {8 / (steps * mu), 0, 1};
    }

    /**
     * @param round t.
     * @return eta_t.
     */
    double At(double round) const
    {
        return m_scale / (m_start + m_decay * round);
    }

  private:
    /**
     * @param scale a.
     * @param start b.
     * @param decay c.
     */
    LearningRateSchedule(double scale, double start, double decay)
        : m_scale(scale),
          m_start(start),
          m_decay(decay)
    {
    }

    double m_scale; //!< a.
    double m_start; //!< b.
    double m_decay; //!< c.
};

} // namespace ns3

#endif // LEARNING_RATE_SCHEDULE_H
