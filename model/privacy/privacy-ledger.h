// SPDX-License-Identifier: GPL-2.0-only

#ifndef PRIVACY_LEDGER_H
#define PRIVACY_LEDGER_H

#include "ns3/privacy-claim.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ns3
{

/**
 * @ingroup federated
 * @brief The epsilons that a ledger keeps. (Not a scoped enumeration: an ns-3 attribute holds it.)
 */
enum PrivacyEpsilon
{
    EPSILON_BASIC,     //!< Differential privacy, epsilons added up.
    EPSILON_ZCDP,      //!< (epsilon, delta)-differential privacy, the least that is known.
    EPSILON_SAME_CELL, //!< For values of one cell only: no differential privacy.
    EPSILON_SAMPLED,   //!< As EPSILON_BASIC, for one sample of those from which batches are drawn.
};

/**
 * @ingroup federated
 * @param epsilon Which epsilon.
 * @return its name, one word in lower case.
 */
const char* GetPrivacyEpsilonName(PrivacyEpsilon epsilon);

/**
 * @ingroup federated
 * @brief What one device has given away so far: the privacy losses of all updates that it sent.
 *
 * Two data sets of a device are adjacent if one sample is replaced. The update may then change
 * arbitrarily, so that a bound covers the whole data of the device too. The observer sees header
 * and payload of the updates, the selected devices, and all models. What a channel does to an
 * update is neither spent nor credited; sending the same bytes again costs nothing.
 *
 * An update of k coordinates with a true epsilon each costs k epsilon (basic composition), and
 * rho = k epsilon tanh(epsilon/2) of zero-concentrated differential privacy (M. Bun and T. Steinke,
 * 2016), or the rho of a whole update that the claim names, if that is less. A claim for a whole
 * update counts as k = 1, with the rho that it names, if it names one.
 * Costs of updates add up. An epsilon is infinite as soon as one update was sent without a claim
 * for it.
 *
 * EPSILON_ZCDP is the least of three valid accounts: the Renyi divergences of all updates, added up
 * and converted by the best order; the pure epsilon of basic composition; and, where all losses are
 * equal, their exact composition (PrivacyConversion). The other epsilons need no delta.
 *
 * If an update is made from a random fraction q of the samples, an epsilon of the update is
 * ln(1 + q(e^epsilon - 1)) for one sample (EPSILON_SAMPLED), as long as no observer sees which
 * samples were drawn.
 */
class PrivacyLedger
{
  public:
    /** @param delta Of EPSILON_ZCDP, above 0 and below 1. */
    explicit PrivacyLedger(double delta = 1e-5);

    /** @param delta Of EPSILON_ZCDP, above 0 and below 1. */
    void SetDelta(double delta);

    /** @return delta of EPSILON_ZCDP. */
    double GetDelta() const;

    /**
     * Enter an update of which something was sent.
     * @param claim What is claimed of it.
     * @param dimension Its coordinates, d.
     * @param samplingRate The fraction q of samples that it was made from; 1 and more: all of them.
     */
    void Enter(const PrivacyClaim& claim, std::size_t dimension, double samplingRate);

    /** @return how many updates were entered. */
    uint32_t GetAnswers() const;

    /**
     * @param which Which epsilon.
     * @return its value after all updates that were entered; infinite where it does not hold.
     */
    double GetEpsilon(PrivacyEpsilon which) const;

    /** @return rho of all updates together; infinite where it does not hold. */
    double GetRho() const;

    /**
     * @param epsilon Privacy loss of what is made from a random part of all samples, at least 0.
     * @param samplingRate The fraction q of all samples, drawn without replacement.
     * @return the privacy loss for one sample.
     */
    static double Amplify(double epsilon, double samplingRate);

  private:
    /** Updates with one cost. */
    struct Cost
    {
        double epsilon; //!< Privacy loss of a step; infinite: it has none.
        double steps;   //!< Steps of an update.
        double rho;     //!< Of an update.
        double updates; //!< How many there were.
    };

    /**
     * Add an update to those of equal cost.
     * @param cost Its cost.
     */
    void AddCost(const Cost& cost);

    /** @return the least known epsilon of (epsilon, delta)-differential privacy. */
    double ComputeApproximate() const;

    double m_delta;            //!< Of EPSILON_ZCDP.
    uint32_t m_answers = 0;    //!< Updates that were entered.
    double m_basic = 0;        //!< Sum of true epsilons.
    double m_rho = 0;          //!< Sum of rhos.
    double m_approximate = 0;  //!< EPSILON_ZCDP.
    double m_sameCell = 0;     //!< Sum of epsilons for values of one cell.
    double m_sampled = 0;      //!< Sum of true epsilons for one sample.
    std::vector<Cost> m_costs; //!< What was entered; no two with equal costs of an update.
    double m_otherRho = 0;     //!< Sum of rhos that are not in m_costs, which has no more room.
};

} // namespace ns3

#endif // PRIVACY_LEDGER_H
