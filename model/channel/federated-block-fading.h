// SPDX-License-Identifier: GPL-2.0-only

#ifndef FEDERATED_BLOCK_FADING_H
#define FEDERATED_BLOCK_FADING_H

#include "ns3/nstime.h"
#include "ns3/propagation-loss-model.h"
#include "ns3/random-variable-stream.h"

#include <cstdint>

namespace ns3
{

/**
 * @ingroup federated
 * @brief Rayleigh or Nakagami fading that lasts: the gain of a link is constant for a coherence
 * time and then drawn anew, so that a lost frame is followed by lost frames.
 *
 * The gain in power has the gamma distribution of Nakagami-m fading with mean 1; m = 1 is Rayleigh.
 * With the Doppler frequency f the coherence time is T = 0.423/f (T. S. Rappaport, Wireless
 * Communications, 2nd ed., 5.4.3). Each link has blocks that begin at a time of its own, at random:
 * the correlation of the gains at two times is 1 - tau/T for a distance tau below T, else 0.
 *
 * Nothing is stored. A gain is a function of a seed, of the two nodes, whose order does not matter,
 * and of the number of the block; FederatedRandom computes it. It does not depend on other links,
 * on who else receives or sleeps, on the order of calls, or on the channel: any number of channels
 * can share the object. The seed is a draw of one ns-3 stream (AssignStreams).
 *
 * If Doppler is 0, the frequency follows from the relative speed v of the two nodes and the
 * carrier: f = v Frequency/c. A link whose ends do not move then keeps its gain for ever. When a
 * speed changes, the gain is drawn anew; mobility models that change it continuously, as
 * ConstantAccelerationMobilityModel does, need Doppler.
 */
class FederatedBlockFading : public PropagationLossModel
{
  public:
    /** @return the TypeId. */
    static TypeId GetTypeId();

    FederatedBlockFading();

    /**
     * @param a Mobility model of a node.
     * @param b That of another one.
     * @param time A simulated time.
     * @return the gain of their link in power, linear.
     */
    double GetGain(const Ptr<MobilityModel>& a,
                   const Ptr<MobilityModel>& b,
                   const Time& time) const;

    /**
     * @param a Mobility model of a node.
     * @param b That of another one.
     * @return the Doppler frequency of their link now, in Hz.
     */
    double GetDoppler(const Ptr<MobilityModel>& a, const Ptr<MobilityModel>& b) const;

  private:
    double DoCalcRxPower(double power, Ptr<MobilityModel> a, Ptr<MobilityModel> b) const override;
    int64_t DoAssignStreams(int64_t stream) override;

    // Attributes
    double m_shape = 1;     //!< m.
    double m_doppler = 0;   //!< f in Hz; 0: from the speed.
    double m_frequency = 0; //!< Of the carrier, in Hz.

    // State
    Ptr<UniformRandomVariable> m_random; //!< Draws the seed.
    uint64_t m_seed;                     //!< Selects all gains.
};

} // namespace ns3

#endif // FEDERATED_BLOCK_FADING_H
