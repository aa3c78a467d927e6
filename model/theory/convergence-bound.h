// SPDX-License-Identifier: GPL-2.0-only

#ifndef CONVERGENCE_BOUND_H
#define CONVERGENCE_BOUND_H

#include <cstdint>
#include <string>
#include <vector>

namespace ns3
{

/**
 * @ingroup federated
 * @brief The paper's bounds on the learning error of Algorithm 1.
 *
 * The learning error of round t is E||w^t - w*||^2, in squared units of the model. Notation:
 * eta_t = 8 / (L mu t) is the learning rate that Theorem 1 supposes. All bounds suppose the paper's
 * Assumptions 1 to 5: gamma-smooth and mu-strongly convex local losses, stochastic gradients that
 * are unbiased for the *global* loss, the given zeta, Lambda and vartheta, and an interval [-C, C].
 *
 * The paper's statements are kept as they are. What one should know when reading the numbers: Delta
 * does not fall with t, so Theorem 1 grows without limit as (t - 4) Delta, while the recursion,
 * from which it follows, grows too but more slowly (as t Delta / 9 for large t); weights enter no
 * bound (each is bounded by 1), so the noise of N devices is counted N times rather than averaged;
 * and K eta_t^2 and 1/K, added to numbers without unit, fix the units of the loss.
 */
class ConvergenceBound
{
  public:
    /** One group of devices. */
    struct Group
    {
        uint32_t devices;  //!< g_m, devices in the group.
        uint32_t selected; //!< c_m, devices that join a round, 1..g_m.
        uint32_t bits;     //!< b_m, resolution of the quantizer.
        double sigma2;     //!< Mean over the group of the link noise variances sigma_{m,u}^2.
    };

    /** What the bounds depend on. */
    struct Parameters
    {
        std::vector<Group> groups; //!< Their devices sum to K, the selected ones to N.
        uint32_t localSteps;       //!< L, SGD steps a round.
        double mu;                 //!< mu > 0, strong convexity of the losses.
        double gamma;              //!< gamma >= mu, smoothness of the losses.
        double zeta;               //!< zeta, variance of a stochastic gradient (squared norm).
        double lambda; //!< Lambda, clipping error over squared norm of the update; 1 always holds.
        double dimension; //!< d, coordinates of the model.
        double clip;      //!< C, l1 norm to which updates are clipped.
        double bias;      //!< vartheta, bound on E<bias, sub-optimality gap>.
    };

    /**
     * Check parameters.
     * @param parameters The parameters.
     * @return what makes them invalid, in a sentence; empty if they are valid.
     */
    static std::string Check(const Parameters& parameters);

    /** @param parameters The parameters, which must be valid. */
    explicit ConvergenceBound(const Parameters& parameters);

    /**
     * @param t Round, at least 1.
     * @return eta_t = 8 / (L mu t).
     */
    double GetLearningRate(double t) const;

    /**
     * The largest learning rate for which Lemmas 5 and 7 hold.
     * @return min{1/mu, 1/(L gamma), mu/gamma^2}.
     */
    double GetLemmaRateLimit() const;

    /**
     * The first round from which on the recursion and Theorem 1 hold.
     * @return t_0: the least t >= 4 with eta_t <= min{1/mu, mu/gamma^2, 1/(L mu), 1/(L gamma),
     *         L mu / (2 (L^2 mu^2 + K + 4 Lambda N L^2 gamma^2))}. The last limit alone makes it
     *         exceed 16 (1 + K/(L mu)^2), so t_0 >= 4 holds by itself.
     */
    uint64_t GetFirstRound() const;

    /**
     * Lemma 5 (ub3): the error that clipping and quantization add in one round, at most.
     * @param eta Learning rate, at most GetLemmaRateLimit().
     * @param error Learning error before the round.
     * @return the bound of E||w_check^{t+1} - w_bar^{t+1}||^2.
     */
    double BoundQuantization(double eta, double error) const;

    /**
     * Lemma 6 (ub4): the error that link noise adds in one round, at most.
     * @return the bound of E||w^{t+1} - w_check^{t+1}||^2 = d E[sum omega^2 sigma^2].
     */
    double BoundNoise() const;

    /**
     * Lemma 7 (ub2): the error after local SGD and exact averaging, at most.
     * @param eta Learning rate, at most GetLemmaRateLimit().
     * @param error Learning error before the round.
     * @return the bound of E||w_bar^{t+1} - w*||^2.
     */
    double BoundDrift(double eta, double error) const;

    /**
     * @param t Round.
     * @return m_{1,t}, the factor of the error in the recursion; at most 1 - 4/t from t_0 on.
     */
    double GetM1(double t) const;

    /**
     * @param t Round.
     * @return m_{2,t} = k_1/t^2 + k_2/t^4.
     */
    double GetM2(double t) const;

    /** @return Delta, the part of every round's error that does not fall with t. */
    double GetDelta() const;

    /** @return k_1. */
    double GetK1() const;

    /** @return k_2. */
    double GetK2() const;

    /**
     * The recursion (ub5): E_{t+1} = m_{1,t} E_t + m_{2,t} + Delta.
     * @param error The learning error at t_0.
     * @param t Round, at least t_0.
     * @return the bound of the learning error at t; takes t - t_0 steps.
     */
    double Recursion(double error, uint64_t t) const;

    /**
     * Theorem 1: t_0/t E_{t_0} + k_1/t + k_2/t^3 + (t - 4) Delta.
     * @param error The learning error at t_0.
     * @param t Round, at least t_0.
     * @return the bound of the learning error at t.
     */
    double Theorem(double error, uint64_t t) const;

  private:
    /**
     * @param eta Learning rate.
     * @return L^3 gamma^2 zeta eta^2 e, the effect of local steps on the gradients' variance.
     */
    double GetSpread(double eta) const;

    Parameters m_parameters; //!< The parameters.
    double m_devices = 0;    //!< K.
    double m_selected = 0;   //!< N.
    double m_distortion = 0; //!< d sum c_m 8 C^2 / (2^b_m - 1)^2.
};

} // namespace ns3

#endif // CONVERGENCE_BOUND_H
