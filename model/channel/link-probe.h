// SPDX-License-Identifier: GPL-2.0-only

#ifndef LINK_PROBE_H
#define LINK_PROBE_H

#include "ns3/nstime.h"
#include "ns3/object.h"
#include "ns3/traced-callback.h"

#include <cstdint>
#include <limits>
#include <map>
#include <unordered_map>

namespace ns3
{

/**
 * @ingroup federated
 * @brief Quality of the uplink of one device; unknown values are NaN.
 *
 * A frame is the transmission unit of the link's technology: an MPDU, a transport block, an IP
 * packet. A retransmitted frame counts again.
 */
struct LinkQuality
{
    double snr = std::numeric_limits<double>::quiet_NaN();      //!< Signal to noise (and
                                                                //!< interference) ratio, linear:
                                                                //!< moving average over frames.
    double roundSnr = std::numeric_limits<double>::quiet_NaN(); //!< Linear mean over the frames of
                                                                //!< this round.
    double rate = std::numeric_limits<double>::quiet_NaN();    //!< Of the physical layer, in bit/s.
    double goodput = std::numeric_limits<double>::quiet_NaN(); //!< Bits of decoded frames per
                                                               //!< second between the first and
                                                               //!< the last of this round.
    double framesOk = std::numeric_limits<double>::quiet_NaN();     //!< Decoded in this round.
    double framesFailed = std::numeric_limits<double>::quiet_NaN(); //!< Failed in this round.
    double lastSeen = std::numeric_limits<double>::quiet_NaN(); //!< Last decoded frame, seconds.
};

/**
 * @ingroup federated
 * @brief One frame of a device at the receiver; unknown values are NaN.
 */
struct LinkSample
{
    uint32_t device = 0;                                    //!< The device.
    bool frame = true;                                      //!< Whether there was a frame, or the
                                                            //!< SNR was measured without one.
    bool ok = true;                                         //!< Whether the frame was decoded.
    double snr = std::numeric_limits<double>::quiet_NaN();  //!< Linear.
    double rate = std::numeric_limits<double>::quiet_NaN(); //!< Of the physical layer, in bit/s.
    uint32_t bytes = 0;                                     //!< Size of the frame.
    uint64_t packet = 0; //!< Packet::GetUid() of what it carried; 0: unknown, or many packets.

    /**
     * TracedCallback signature.
     * @param sample The frame.
     */
    using TracedCallback = void (*)(const LinkSample& sample);
};

/**
 * @ingroup federated
 * @brief Observes the links from the devices to the fusion center.
 *
 * This class keeps the statistics, for one round and as moving averages; its subclasses observe
 * decoded and failed frames. What can be observed depends on the technology of the links; all other
 * values are unknown. Failed frames count in the averages of the SNR: counting only decoded frames
 * would make bad links look good.
 */
class LinkProbe : public Object
{
  public:
    /** @return the TypeId. */
    static TypeId GetTypeId();

    /**
     * Begin a round: reset the statistics of the round.
     * @param round Its number.
     */
    void BeginRound(uint32_t round);

    /**
     * @param device A device.
     * @return the quality of its uplink, as far as it is known.
     */
    LinkQuality GetQuality(uint32_t device) const;

    /**
     * @param packet Packet::GetUid() of a packet that was received in this round.
     * @return the linear SNR of the frame that carried it; NaN if that is unknown.
     */
    double GetPacketSnr(uint64_t packet) const;

  protected:
    /** @param seesFailures Whether failed frames are observed. */
    explicit LinkProbe(bool seesFailures);

    /**
     * Count a frame.
     * @param sample The frame.
     */
    void AddSample(const LinkSample& sample);

  private:
    /** Statistics of one device. */
    struct Books
    {
        double snr = std::numeric_limits<double>::quiet_NaN();  //!< Moving average.
        double rate = std::numeric_limits<double>::quiet_NaN(); //!< Of the last decoded frame.
        Time lastSeen = Time::Min();                            //!< Last decoded frame.
        // Of this round
        double snrSum = 0;       //!< Over frames.
        uint64_t snrCount = 0;   //!< Frames with an SNR.
        uint64_t ok = 0;         //!< Frames decoded.
        uint64_t failed = 0;     //!< Frames failed.
        uint64_t bytes = 0;      //!< Of the frames decoded.
        uint32_t firstBytes = 0; //!< Of these, in the first.
        Time first;              //!< When it was decoded.
    };

    bool m_seesFailures; //!< Whether failed frames are observed.

    // Attributes
    double m_smoothing; //!< Weight of a frame in the moving average.

    // State
    std::map<uint32_t, Books> m_books;              //!< By device.
    std::unordered_map<uint64_t, double> m_packets; //!< SNR of the packets of this round.

    // Trace sources
    TracedCallback<const LinkSample&> m_sampleTrace; //!< Sample.
};

} // namespace ns3

#endif // LINK_PROBE_H
