// SPDX-License-Identifier: GPL-2.0-only

#ifndef LBFGS_H
#define LBFGS_H

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace ns3::federated
{

/**
 * @ingroup federated
 * @brief L-BFGS without line search, by the rules of torch.optim.LBFGS.
 *
 * A step is the quasi-Newton direction times a fixed length (the first: the negative gradient, and
 * shorter than 1 in the l1 norm). A pair (s, y) is remembered if its curvature s.y is above 1e-10.
 * A run of steps ends early where the gradient is at most 1e-7 in every coordinate, the slope along
 * the direction is above -1e-9, or a step changes no coordinate, or the objective, by more than
 * 1e-9. What is remembered goes on from one run to the next.
 */
class Lbfgs
{
  public:
    /** Computes objective (returned) and gradient at a point. */
    using Objective =
        std::function<double(const std::vector<double>& point, std::vector<double>& gradient)>;

    /**
     * @param dimension Number of coordinates.
     * @param history Pairs to remember, at least 1.
     * @param step Length of a step.
     */
    Lbfgs(std::size_t dimension, std::size_t history, double step);

    /**
     * Take steps.
     * @param objective What to minimize.
     * @param steps How many steps at most.
     * @param [in,out] point Where to begin and where it ended; if objective or gradient is infinite
     * or NaN there, the last point where both were finite, or the first.
     * @return whether everything was finite.
     */
    bool Run(const Objective& objective, uint32_t steps, std::vector<double>& point);

    /** @return the objective at its last evaluation that was finite, NaN before that. */
    double GetObjective() const;

    /** @return all steps so far. */
    uint32_t GetSteps() const;

    /** @return all evaluations so far. */
    uint64_t GetEvaluations() const;

  private:
    /**
     * Evaluate the objective.
     * @param objective What to minimize.
     * @param point Where.
     * @return whether value and gradient, now in m_objective and m_gradient, are finite.
     */
    bool Evaluate(const Objective& objective, const std::vector<double>& point);

    /** Remember the last step, if its curvature is positive. */
    void Remember();

    /** Compute the direction of the next step: minus the inverse Hessian times the gradient. */
    void ComputeDirection();

    std::size_t m_dimension; //!< Number of coordinates.
    std::size_t m_history;   //!< Pairs to remember.
    double m_step;           //!< Length of a step.

    // State
    uint32_t m_steps = 0;                   //!< Steps so far.
    uint64_t m_evaluations = 0;             //!< Evaluations so far.
    double m_objective;                     //!< At the last evaluation.
    double m_finite;                        //!< At the last one that was finite.
    std::vector<double> m_gradient;         //!< At the last evaluation.
    std::vector<double> m_previousGradient; //!< Before the last step.
    std::vector<double> m_direction;        //!< Of the last step.
    double m_length = 0;                    //!< Length of the last step.
    std::size_t m_pairs = 0;                //!< Pairs remembered.
    std::size_t m_oldest = 0;               //!< Which is the oldest of them, once all are in use.
    std::vector<double> m_moves;            //!< s, history x dimension.
    std::vector<double> m_changes;          //!< y, history x dimension.
    std::vector<double> m_inverses;         //!< 1 / (s.y).
    std::vector<double> m_factors;          //!< Scratch: one a pair.
    std::vector<double> m_change;           //!< Scratch: y of the last step.
    double m_scale = 1;                     //!< The inverse Hessian before the pairs.
    std::vector<double> m_lastFinite;       //!< The last point whose evaluation was finite.
};

} // namespace ns3::federated

#endif // LBFGS_H
