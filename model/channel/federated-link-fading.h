// SPDX-License-Identifier: GPL-2.0-only

#ifndef FEDERATED_LINK_FADING_H
#define FEDERATED_LINK_FADING_H

#include "ns3/nstime.h"
#include "ns3/propagation-loss-model.h"
#include "ns3/random-variable-stream.h"
#include "ns3/vector.h"

#include <cstdint>

namespace ns3
{

/**
 * @ingroup federated
 * @brief Fading that lasts: the gain of a link is a function of time.
 *
 * Nothing is stored. A gain is a function of a seed, of the two nodes, whose order does not matter,
 * and of the time; FederatedRandom draws what it needs. It does not depend on other links, on who
 * else receives or sleeps, on the order of calls, or on the channel: any number of channels can
 * share the object. The seed is a draw of one ns-3 stream (AssignStreams).
 *
 * How fast a gain changes follows from the Doppler frequency f. If Doppler is 0, that is of the
 * relative speed v of the two nodes and the carrier: f = v Frequency/c. A link whose ends do not
 * move then keeps its gain, which is another one in each place: it is a function of where one end
 * is seen from the other one, in steps of half a wavelength. When a speed changes, the gain jumps;
 * mobility models that change it continuously, as ConstantAccelerationMobilityModel does, need
 * Doppler.
 */
class FederatedLinkFading : public PropagationLossModel
{
  public:
    /** @return the TypeId. */
    static TypeId GetTypeId();

    FederatedLinkFading();

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

  protected:
    /** A link at a time. */
    struct Link
    {
        uint64_t seed;  //!< Selects all gains.
        uint32_t low;   //!< The smaller identifier of its nodes.
        uint32_t high;  //!< The larger one.
        double doppler; //!< f in Hz.
        uint64_t
            place; //!< Where one end is seen from the other; 0 where f is not, else 2^63 or more.
        double seconds; //!< The simulated time.
    };

  private:
    double DoCalcRxPower(double power, Ptr<MobilityModel> a, Ptr<MobilityModel> b) const override;
    int64_t DoAssignStreams(int64_t stream) override;

    /**
     * @param from A position.
     * @param to Another one.
     * @return a number of at least 2^63 for the vector between them.
     */
    uint64_t GetPlace(const Vector& from, const Vector& to) const;

    /**
     * @param link A link at a time.
     * @return its gain in power, linear.
     */
    virtual double DoGetGain(const Link& link) const = 0;

    // Attributes
    double m_doppler = 0;   //!< f in Hz; 0: from the speed.
    double m_frequency = 0; //!< Of the carrier, in Hz.

    // State
    Ptr<UniformRandomVariable> m_random; //!< Draws the seed.
    uint64_t m_seed;                     //!< Selects all gains.
};

} // namespace ns3

#endif // FEDERATED_LINK_FADING_H
