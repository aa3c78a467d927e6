// SPDX-License-Identifier: GPL-2.0-only

#include "lbfgs.h"

#include "ns3/dot-product.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ns3::federated
{

namespace
{

constexpr double GRADIENT_TOLERANCE = 1e-7; // of a coordinate of the gradient
constexpr double CHANGE_TOLERANCE = 1e-9;   // of slope, coordinates and objective
constexpr double LEAST_CURVATURE = 1e-10;   // of a pair

/**
 * @param values Values.
 * @return the largest magnitude.
 */
double
GetLargest(const std::vector<double>& values)
{
    double largest = 0;
    for (double value : values)
    {
        largest = std::max(largest, std::abs(value));
    }
    return largest;
}

} // namespace

Lbfgs::Lbfgs(std::size_t dimension, std::size_t history, double step)
    : m_dimension(dimension),
      m_history(history),
      m_step(step),
      m_objective(std::numeric_limits<double>::quiet_NaN()),
      m_finite(m_objective),
      m_gradient(dimension),
      m_previousGradient(dimension),
      m_direction(dimension),
      m_moves(history * dimension),
      m_changes(history * dimension),
      m_inverses(history),
      m_factors(history),
      m_change(dimension),
      m_lastFinite(dimension)
{
}

double
Lbfgs::GetObjective() const
{
    return m_finite;
}

uint32_t
Lbfgs::GetSteps() const
{
    return m_steps;
}

uint64_t
Lbfgs::GetEvaluations() const
{
    return m_evaluations;
}

bool
Lbfgs::Evaluate(const Objective& objective, const std::vector<double>& point)
{
    ++m_evaluations;
    m_objective = objective(point, m_gradient);
    if (!std::isfinite(m_objective) || !std::all_of(m_gradient.begin(),
                                                    m_gradient.end(),
                                                    [](double x) { return std::isfinite(x); }))
    {
        return false;
    }
    m_finite = m_objective;
    m_lastFinite = point;
    return true;
}

void
Lbfgs::Remember()
{
    const std::size_t slot = m_pairs < m_history ? m_pairs : m_oldest;
    for (std::size_t i = 0; i < m_dimension; ++i)
    {
        m_change[i] = m_gradient[i] - m_previousGradient[i];
    }
    const double curvature =
        m_length * DotProduct(m_change.data(), m_direction.data(), m_dimension);
    if (!(curvature > LEAST_CURVATURE))
    {
        return;
    }
    double* move = m_moves.data() + slot * m_dimension;
    for (std::size_t i = 0; i < m_dimension; ++i)
    {
        move[i] = m_length * m_direction[i];
    }
    std::copy(m_change.begin(), m_change.end(), m_changes.begin() + slot * m_dimension);
    m_inverses[slot] = 1 / curvature;
    m_scale = curvature / DotProduct(m_change.data(), m_change.data(), m_dimension);
    if (m_pairs < m_history)
    {
        ++m_pairs;
    }
    else
    {
        m_oldest = (m_oldest + 1) % m_history;
    }
}

void
Lbfgs::ComputeDirection()
{
    double* direction = m_direction.data();
    for (std::size_t i = 0; i < m_dimension; ++i)
    {
        direction[i] = -m_gradient[i];
    }
    for (std::size_t age = 0; age < m_pairs; ++age) // from the newest
    {
        const std::size_t slot = (m_oldest + m_pairs - 1 - age) % m_pairs;
        const double* move = m_moves.data() + slot * m_dimension;
        const double* change = m_changes.data() + slot * m_dimension;
        const double factor = m_inverses[slot] * DotProduct(move, direction, m_dimension);
        for (std::size_t i = 0; i < m_dimension; ++i)
        {
            direction[i] -= factor * change[i];
        }
        m_factors[slot] = factor;
    }
    for (std::size_t i = 0; i < m_dimension; ++i)
    {
        direction[i] *= m_scale;
    }
    for (std::size_t age = m_pairs; age-- > 0;) // from the oldest
    {
        const std::size_t slot = (m_oldest + m_pairs - 1 - age) % m_pairs;
        const double* move = m_moves.data() + slot * m_dimension;
        const double* change = m_changes.data() + slot * m_dimension;
        const double factor =
            m_factors[slot] - m_inverses[slot] * DotProduct(change, direction, m_dimension);
        for (std::size_t i = 0; i < m_dimension; ++i)
        {
            direction[i] += factor * move[i];
        }
    }
}

bool
Lbfgs::Run(const Objective& objective, uint32_t steps, std::vector<double>& point)
{
    if (m_evaluations == 0)
    {
        m_lastFinite = point;
    }
    if (!Evaluate(objective, point))
    {
        point = m_lastFinite;
        return false;
    }
    if (GetLargest(m_gradient) <= GRADIENT_TOLERANCE)
    {
        return true;
    }
    for (uint32_t step = 1; step <= steps; ++step)
    {
        ++m_steps;
        if (m_steps > 1)
        {
            Remember();
        }
        ComputeDirection();
        m_length = m_step;
        if (m_steps == 1)
        {
            double norm = 0;
            for (double value : m_gradient)
            {
                norm += std::abs(value);
            }
            m_length *= std::min(1.0, 1 / norm);
        }
        m_previousGradient = m_gradient;
        const double previous = m_objective;
        if (DotProduct(m_gradient.data(), m_direction.data(), m_dimension) > -CHANGE_TOLERANCE)
        {
            break;
        }
        for (std::size_t i = 0; i < m_dimension; ++i)
        {
            point[i] += m_length * m_direction[i];
        }
        if (step == steps)
        {
            break; // the next run begins with the evaluation
        }
        if (!Evaluate(objective, point))
        {
            point = m_lastFinite;
            return false;
        }
        if (GetLargest(m_gradient) <= GRADIENT_TOLERANCE ||
            m_length * GetLargest(m_direction) <= CHANGE_TOLERANCE ||
            std::abs(m_objective - previous) < CHANGE_TOLERANCE)
        {
            break;
        }
    }
    if (!std::all_of(point.begin(), point.end(), [](double x) { return std::isfinite(x); }))
    {
        point = m_lastFinite;
        return false;
    }
    return true;
}

} // namespace ns3::federated
