// SPDX-License-Identifier: GPL-2.0-only

#ifndef PRIVACY_CLAIM_H
#define PRIVACY_CLAIM_H

#include "update-clipping.h"

#include <cstddef>
#include <string>

namespace ns3
{

/**
 * @ingroup federated
 * @brief How a device is configured, as far as a privacy claim depends on it.
 *
 * A claim follows from the configuration, never from one update.
 */
struct PrivacyContext
{
    unsigned bits = 2;             //!< Resolution of the device, b.
    bool intervalIsPublic = false; //!< The interval does not depend on the data.
    double low = 0;                //!< Lower end of the interval, if it is public.
    double high = 0;               //!< Upper end of the interval, if it is public.
    ClipNorm clipNorm = CLIP_NONE; //!< The norm that is clipped.
    double clipBound = 0;          //!< C, if a norm is clipped.
    std::size_t dimension = 0;     //!< Coordinates of an update as it is encoded, d; 0: unknown.
};

/**
 * @ingroup federated
 * @brief What a quantizer claims about the privacy of what it sends.
 */
struct PrivacyClaim
{
    /** What the epsilon means. */
    enum Kind
    {
        /** Nothing is claimed. */
        NONE,
        /**
         * The ratio of probabilities is bounded for two values of one cell only: no differential
         * privacy, because values of different cells can be distinguished with certainty.
         */
        SAME_CELL,
        /** Differential privacy for any two values. */
        TRUE_EPSILON,
        /**
         * Zero-concentrated differential privacy (Bun and Steinke, 2016) for any two values, with
         * rho and without an epsilon that needs no delta.
         */
        ZCDP,
    };

    /** What one epsilon or rho covers. */
    enum Scope
    {
        COORDINATE, //!< One coordinate of one update.
        UPDATE,     //!< A whole update.
    };

    /**
     * @param why Why nothing is claimed, in one sentence.
     * @param of What a claim would cover.
     * @return no claim.
     */
    static PrivacyClaim None(const std::string& why, Scope of = COORDINATE)
    {
        PrivacyClaim claim;
        claim.scope = of;
        claim.reason = why;
        return claim;
    }

    /**
     * @param of What the epsilon covers.
     * @param loss The epsilon.
     * @param why Why it holds, in one sentence.
     * @return a claim of differential privacy.
     */
    static PrivacyClaim TrueEpsilon(Scope of, double loss, const std::string& why)
    {
        PrivacyClaim claim = None(why, of);
        claim.kind = TRUE_EPSILON;
        claim.epsilon = loss;
        return claim;
    }

    /**
     * @param other Another claim.
     * @return whether this one holds wherever the other one does.
     */
    bool FollowsFrom(const PrivacyClaim& other) const
    {
        if (kind == NONE)
        {
            return true;
        }
        const bool isWeaker = kind == SAME_CELL && other.kind == TRUE_EPSILON;
        const bool hasUpdateRho =
            updateRho == 0 || (other.updateRho > 0 && other.updateRho <= updateRho);
        return (isWeaker || kind == other.kind) && scope == other.scope &&
               (kind == ZCDP || other.epsilon <= epsilon) &&
               (rho == 0 || (other.rho > 0 && other.rho <= rho)) && hasUpdateRho;
    }

    Kind kind = NONE;         //!< What is claimed.
    Scope scope = COORDINATE; //!< What it covers.
    double epsilon = 0;       //!< The privacy loss; without meaning for NONE and ZCDP.
    double rho = 0;           //!< Of ZCDP; for TRUE_EPSILON a rho below that of any mechanism with
                              //!< this epsilon, if one holds, else 0.
    double updateRho = 0;     //!< For a coordinate's TRUE_EPSILON: rho of a whole update by its
                              //!< clip, if one is proven, else 0. Both claims hold.
    double tightRho = 0;      //!< Not claimed, but shown beside updateRho: a smaller rho of the
                              //!< update that was checked numerically; 0: none.
    std::string reason;       //!< Why, in one sentence.
};

} // namespace ns3

#endif // PRIVACY_CLAIM_H
