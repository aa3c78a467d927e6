// SPDX-License-Identifier: GPL-2.0-only

#ifndef FEDERATED_SHADOWING_H
#define FEDERATED_SHADOWING_H

#include "ns3/propagation-loss-model.h"
#include "ns3/random-variable-stream.h"
#include "ns3/vector.h"

#include <array>
#include <cstdint>

namespace ns3
{

/**
 * @ingroup federated
 * @brief Log-normal shadowing that is correlated in space: a Gaussian loss in dB with mean 0 and
 * standard deviation Sigma, which is a function of where the two ends of a link are.
 *
 * With R(p, q) = exp(-(|p - q|/Distance)^2), the losses of links (a, b) and (a', b') have the
 * correlation
 *
 *   (R(a, a') R(b, b') + R(a, b') R(b, a')) / sqrt((1 + R(a, b)^2) (1 + R(a', b')^2))
 *
 * within 0.03. For links that are longer than Distance that is R(a, a') R(b, b'), the model of
 * Z. Wang, E. K. Tameh and A. R. Nix, "Joint shadowing process in urban peer-to-peer radio
 * channels", 2008. The rest is the price of equal losses in both directions: shorter links to one
 * center have more in common, also in opposite directions. Devices next to each other are in the
 * same shadow, and a device that walks leaves it. Heights do not matter.
 *
 * Nothing is stored. Each pair of corners of a square grid has a Gaussian number, computed by
 * FederatedRandom from a seed and the corners. The loss of a link is the weighted mean of the 16
 * pairs of corners around its two ends, bilinear in each, scaled to the variance Sigma^2. So it
 * does not depend on who else receives, on the order of calls or on the channel: any number of
 * channels can share the object. The seed is a draw of one ns-3 stream (AssignStreams).
 */
class FederatedShadowing : public PropagationLossModel
{
  public:
    /** @return the TypeId. */
    static TypeId GetTypeId();

    FederatedShadowing();

    /**
     * @param a Position of one end of a link, in meters.
     * @param b Position of the other one.
     * @return the loss in dB, negative for a gain.
     */
    double GetLoss(const Vector& a, const Vector& b) const;

  private:
    /** A corner of the grid. */
    struct Corner
    {
        uint32_t x;    //!< Number of its column, modulo 2^32.
        uint32_t y;    //!< Number of its row, likewise.
        double weight; //!< In the bilinear interpolation.
    };

    /**
     * @param position A position.
     * @return the corners around it.
     */
    std::array<Corner, 4> GetCorners(const Vector& position) const;

    /** Draw the seed, and from it where the grid begins. */
    void DrawSeed();

    double DoCalcRxPower(double power, Ptr<MobilityModel> a, Ptr<MobilityModel> b) const override;
    int64_t DoAssignStreams(int64_t stream) override;

    // Attributes
    double m_sigma;    //!< Standard deviation in dB.
    double m_distance; //!< Where R is 1/e, in meters.

    // State
    Ptr<UniformRandomVariable> m_random; //!< Draws the seed.
    uint64_t m_seed;                     //!< Selects all losses.
    double m_column;                     //!< Column of the grid at x = 0, a fraction.
    double m_row;                        //!< Row of the grid at y = 0, a fraction.
};

} // namespace ns3

#endif // FEDERATED_SHADOWING_H
