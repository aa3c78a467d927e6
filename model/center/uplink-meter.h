// SPDX-License-Identifier: GPL-2.0-only

#ifndef UPLINK_METER_H
#define UPLINK_METER_H

#include "ns3/nstime.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <vector>

namespace ns3::federated
{

/** Measurements of one device's update in a round. */
struct UplinkObservation
{
    uint32_t device = 0;            //!< The device.
    unsigned wireBits = 0;          //!< Bits of a coordinate as sent.
    std::size_t dimension = 0;      //!< Coordinates of an update as it is encoded.
    Time slotStart;                 //!< When its slot began.
    uint32_t receivedFragments = 0; //!< Received fragments; 0: nothing is measured.
    Time firstReceived;             //!< When the first one was received.
    Time lastReceived;              //!< When the last one was received.
    std::size_t firstEnd = 0;       //!< One past the last coordinate of the first one.
    std::size_t lastEnd = 0;        //!< Likewise of the last one.
    double delivered = 0;           //!< Coordinates that were received.
    uint32_t fragments = 0;         //!< Fragments of the whole update.
    bool sentKnown = false;         //!< Whether the device reported how many it sent.
    uint32_t sentFragments = 0;     //!< How many, if it did.
};

/** What was measured of a device's uplink, over rounds. */
struct UplinkMeasurement
{
    double goodput = 0; //!< Payload received per second of the slot, bit/s; 0: unknown.
    double air = 0;     //!< Payload sent per second of the slot, bit/s; 0: unknown.
    double meanSquare = std::numeric_limits<double>::quiet_NaN(); //!< Of the values of its last
                                                                  //!< update; NaN: unknown.
    double delivered = std::numeric_limits<double>::quiet_NaN();  //!< Received fragments over sent
                                                                  //!< ones; NaN: it never sent.
};

/**
 * @brief Measures how fast devices send and deliver, and how late they are. It uses no clock.
 *
 * Rates are moving averages over the rounds that a device answered, in bits of payload per second
 * of its slot: the *air rate* counts sent payload, the *goodput* received payload.
 */
class UplinkMeter
{
  public:
    /** How to measure, and what to assume before that. */
    struct Rules
    {
        double smoothing = 0.5;     //!< Weight of a round in the moving averages.
        Time guard;                 //!< Time after a slot in which no other device sends.
        double plannedRate = 0;     //!< Rate in bit/s that slots are planned with.
        bool measuredSlots = false; //!< Whether devices send as fast as their radios allow.
        double efficiency = 0.5;    //!< Payload against the rate of the radio, before measurements.
        double leftOut = 0;         //!< Share of the devices, the latest, that lateness leaves out.
    };

    /** @param rules How to measure. */
    void SetRules(const Rules& rules);

    /**
     * A round ends: measure its updates.
     * @param observations Those of all participants.
     * @param end When the round ends.
     */
    void Measure(const std::vector<UplinkObservation>& observations, const Time& end);

    /** @return the measurements, by device. */
    const std::map<uint32_t, UplinkMeasurement>& GetMeasurements() const
    {
        return m_measured;
    }

    /**
     * @param device A device.
     * @return its measurements, nothing of which may be known.
     */
    UplinkMeasurement Find(uint32_t device) const;

    /**
     * @param measured The measurements of a device.
     * @param radioRate Rate of its radio in bit/s; NaN if it is unknown.
     * @return its goodput in bit/s: as measured, else what the rules assume.
     */
    double GetGoodput(const UplinkMeasurement& measured, double radioRate) const;

    /**
     * @param measured The measurements of a device.
     * @param radioRate Rate of its radio in bit/s; NaN if it is unknown.
     * @return its air rate in bit/s: as measured, else its goodput.
     */
    double GetAirRate(const UplinkMeasurement& measured, double radioRate) const;

    /**
     * @param device A device.
     * @param meanSquare Mean square of the values of its last update.
     */
    void SetMeanSquare(uint32_t device, double meanSquare);

    /**
     * @return how much later than planned the last device of the last round began to send, without
     * those that are left out.
     */
    Time GetLateness() const
    {
        return m_lateness;
    }

  private:
    /**
     * Measure the delivered fraction. Where a device did not report how many fragments it sent, all
     * of its update count.
     * @param seen The update of a device, of which fragments may have been sent.
     */
    void MeasureDelivery(const UplinkObservation& seen);

    /**
     * @param seen The update of a device, of which a fragment was received.
     * @param end When the round ends.
     */
    void MeasureRates(const UplinkObservation& seen, const Time& end);

    Rules m_rules;                                    //!< How to measure.
    std::map<uint32_t, UplinkMeasurement> m_measured; //!< By device.
    Time m_lateness;                                  //!< Of the last round.
};

} // namespace ns3::federated

#endif // UPLINK_METER_H
