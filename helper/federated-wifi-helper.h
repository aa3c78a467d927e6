// SPDX-License-Identifier: GPL-2.0-only

#ifndef FEDERATED_WIFI_HELPER_H
#define FEDERATED_WIFI_HELPER_H

#include "federated-helper.h"
#include "federated-wifi-sleep.h"

#include "ns3/application-container.h"
#include "ns3/data-rate.h"
#include "ns3/eavesdropper.h"
#include "ns3/federated-port.h"
#include "ns3/ipv4-address.h"
#include "ns3/net-device-container.h"
#include "ns3/node-container.h"
#include "ns3/nstime.h"
#include "ns3/object-factory.h"
#include "ns3/vector.h"
#include "ns3/wifi-link-probe.h"

#include <cstdint>
#include <memory>
#include <string>

namespace ns3::federated
{
class WifiListeners;
class WifiRadios;
struct WifiTuning;
} // namespace ns3::federated

namespace ns3
{

/**
 * @ingroup federated
 * @brief A wifi cell (802.11ac, 5 GHz) of IPv4 nodes, set up so that a federation works in it.
 *
 * @verbatim
     ad hoc:             device )))   ((( center       group-addressed frames up and down
     infrastructure:     device )))   ((( access point, with the center in it or on a wire behind
   @endverbatim
 *
 * In ad hoc mode all frames are group-addressed. Radios neither acknowledge nor retransmit them,
 * and MCS are fixed, so that a low SNR causes loss. Devices are enrolled, because far ones could
 * not join. A device that misses parts of a model trains with the previous values of these. The
 * center has a more robust MCS and more power than the devices, as access points have. In
 * infrastructure mode frames are acknowledged and rates adapt, so that a bad link is slow. The
 * model is sent by multicast, and fragments that a device lacks are retransmitted.
 *
 * @code
    FederatedWifiHelper cell;
    cell.SetMode("infrastructure");
    cell.Install(federation, accessPoint); // nodes with positions
   @endcode
 *
 * Several cells in one simulation have a helper each, and different numbers:
 *
 * @code
    FederatedWifiHelper second;
    second.SetCell(1);
    second.Install(another, anotherAccessPoint);
   @endcode
 *
 * Some defaults of ns-3 do not work for a federation. Install() changes them in its cell; Tune()
 * lists them and changes them in a wifi network of a script's own, and Probe() measures its links:
 *
 * @code
    FederatedWifiHelper wifi;
    wifi.Tune(radios); // any standard, any topology; once they have addresses
    FederatedWifiHelper::Probe(federation, receiver, radios);
    federation.Install(center, InetSocketAddress(address, FederatedPort::CENTER));
   @endcode
 */
class FederatedWifiHelper
{
  public:
    static constexpr uint16_t CENTER_PORT = FederatedPort::CENTER; //!< Of the center.
    static constexpr uint16_t DEVICE_PORT = FederatedPort::DEVICE; //!< Of devices, ad hoc.
    static constexpr uint32_t MAX_STATIONS = 2007; //!< Of an access point: association identifiers.

    /** What ReadFading reads. */
    static constexpr const char* FADINGS =
        "none, rayleigh, nakagami:m, block:m,fd or jakes:fd with m from 0.5 to 1000 and a Doppler "
        "frequency fd from 0 to 1e6 Hz";

    FederatedWifiHelper();
    ~FederatedWifiHelper();

    /**
     * Give the cell a number, so that several fit into one simulation. Cell c has the network
     * 10.(c + 1).0.0/16, the wire 172.16.c.0/30 (SetCenterOnWire), the multicast group
     * 239.255.((42 + c) mod 256).42, and its own random streams (FederatedStreams). Cells do not
     * interfere: each has a channel of its own, even where their numbers are equal, as those of
     * cells 0 and 25 are at 20 MHz. Federations have equal random streams in all cells, unless
     * FederatedHelper::AssignStreams gives them different ones.
     * @param number c, below FederatedStreams::WIFI_CELLS; 0 if this is not called.
     */
    void SetCell(uint32_t number);

    /**
     * Use other addresses than those of the number of the cell.
     * @param network The network, of 16 bits: its first address is that of the access point.
     */
    void SetNetwork(Ipv4Address network);

    /** @param mode adhoc or infrastructure. */
    void SetMode(const std::string& mode);

    /** @param isWired Whether the center is wired to the access point, not on the same node. */
    void SetCenterOnWire(bool isWired);

    /** @param width Channel width in MHz: 20, 40, 80 or 160. */
    void SetWidth(uint16_t width);

    /**
     * @param mcs MCS of the frames of devices in ad hoc mode, 0 to 8; 3 if this is not called.
     */
    void SetMcs(uint32_t mcs);

    /**
     * @param mcs MCS of group-addressed frames of the center or access point, 0 to 8; 0 if this is
     * not called.
     */
    void SetDownlinkMcs(uint32_t mcs);

    /** @param exponent Exponent of the log-distance path loss; 46.68 dB at 1 m. */
    void SetExponent(double exponent);

    /**
     * @param m Shape of Nakagami fading of each frame, 1 is Rayleigh; 0: none.
     */
    void SetFading(double m);

    /**
     * @param fading Makes a PropagationLossModel of mean 0 dB, such as FederatedBlockFading;
     * without a TypeId: no fading. Listeners get one with random streams of their own.
     */
    void SetFading(const ObjectFactory& fading);

    /**
     * @param text One of FADINGS: fading of each frame, FederatedBlockFading or
     * FederatedJakesFading.
     * @param [out] fading What SetFading takes.
     * @return whether the text is one of these.
     */
    static bool ReadFading(const std::string& text, ObjectFactory& fading);

    /**
     * Let obstacles add to the path loss (FederatedShadowing).
     * @param sigma Standard deviation in dB; 0: none.
     * @param distance How far an end of a link moves until the correlation is 1/e, in meters.
     */
    void SetShadowing(double sigma, double distance);

    /**
     * @param mode What SetSleep takes.
     * @return how long a round waits until radios have woken. Deadline of the center is longer.
     */
    static Time GetWakeTime(const std::string& mode);

    /**
     * @param text none, or SIGMA,DISTANCE.
     * @param [out] sigma What SetShadowing takes, up to 100.
     * @param [out] distance What SetShadowing takes, 0.001 to 10^6.
     * @return whether the text is one of these.
     */
    static bool ReadShadowing(const std::string& text, double& sigma, double& distance);

    /** @param dbm Transmission power of devices in dBm; 16 if this is not called. */
    void SetTxPower(double dbm);

    /** @param dbm Transmission power of the center or access point in dBm; 26 if not called. */
    void SetCenterTxPower(double dbm);

    /**
     * @param manager TypeId of the rate manager of infrastructure mode; ns3::IdealWifiManager if
     * this is not called.
     */
    void SetRateManager(const std::string& manager);

    /**
     * @param minimumRssi Weakest preamble that is detected, in dBm; -110 if this is not called.
     * @param threshold Its least SNR in dB; -5 if this is not called.
     */
    void SetPreambleDetection(double minimumRssi, double threshold);

    /** Detect all preambles. */
    void DisablePreambleDetection();

    /** @param timeout Of ADDBA requests; 500 ms if this is not called. */
    void SetAddBaTimeout(const Time& timeout);

    /**
     * @param requests Number of unanswered block ack requests in a row after which an agreement
     * ends; 7 if this is not called, 0: never. While a radio repeats requests to a station that
     * left, it sends nothing else.
     */
    void SetBlockAckLimit(uint32_t requests);

    /**
     * @param packets Largest queue of a radio; 5000 if this is not called.
     * @param delay Longest time in it; 10 s if this is not called.
     */
    void SetQueue(uint32_t packets, const Time& delay);

    /**
     * Choose whether the radios of devices sleep that do not take part in a round.
     * @param mode none: all radios are always awake; wake: devices have an ideal wake-up radio;
     * page: all radios wake at a fixed interval to hear who is selected (FederatedWifiSleep). wake
     * if this is not called.
     */
    void SetSleep(const std::string& mode);

    /** @param isStatic Whether ARP caches are filled in advance; true if this is not called. */
    void SetStaticArp(bool isStatic);

    /**
     * Make radios and addresses and, if the center is on a wire, center and wire; adapt a
     * federation to the cell and install it. Once.
     *
     * The federation gets defaults, which its own settings override: rates of the model and of
     * updates, slots by measured rates, times for repairs, the group address of an ad hoc cell or
     * the multicast group of the model, the probe at the receiving radio, and the access point as
     * the reference of distances. The rate of the model follows from FragmentSize.
     *
     * Nodes may have other net devices, such as an access point with a backhaul, which gets its
     * addresses before this or after it. A node that has an internet stack already keeps it, and
     * its default route; others get a stack for IPv4, and devices a default route to the access
     * point.
     * @param federation The federation; its nodes have positions.
     * @param accessPoint The access point, or the center itself in ad hoc mode, likewise.
     * @return the center, then the devices in the order of their numbers.
     */
    ApplicationContainer Install(FederatedHelper& federation, const Ptr<Node>& accessPoint);

    /**
     * Make the cell without a federation, for other traffic. Once.
     * @param devices The devices, nodes with positions.
     * @param accessPoint The access point, or the center in ad hoc mode, likewise.
     */
    void Install(const NodeContainer& devices, const Ptr<Node>& accessPoint);

    /**
     * Add a device that comes from other cells and goes there, after both cell and federation were
     * installed: its radio and address here, and the application that joins the federation over
     * the air (FederatedHelper::AddVisitor). FederatedRoaming starts it. The radio stays awake, and
     * receives what is sent in the cell also while the device is elsewhere.
     * @param federation The federation of the cell.
     * @param node The node of the device, with a position.
     * @param group Its group.
     * @param share Its part of the data, in the split of the task.
     * @return the application, on no node yet.
     */
    Ptr<FederatedDevice> AddVisitor(FederatedHelper& federation,
                                    const Ptr<Node>& node,
                                    uint32_t group,
                                    uint32_t share);

    /**
     * Change defaults of ns-3 that do not work for a federation, in radios of any standard and
     * topology. Call it before the simulation starts, once the radios have IPv4 addresses. What
     * they are changed to can be set before: the setters are named below.
     *
     * Of every radio:
     *   - `WifiMacQueue::MaxSize` of its best-effort queue: 5000 packets instead of 500, because a
     *     model or an update waits there (SetQueue);
     *   - `WifiMacQueue::MaxDelay`: 10 s instead of 0.5 s, because it may wait for its turn longer
     *     than that (SetQueue);
     *   - its queue disc: none instead of FqCoDel, which Ipv4AddressHelper installs and which drops
     *     from bursts; a script that wants one installs it afterwards;
     *   - `QosTxop::AddBaResponseTimeout`: 500 ms instead of 1 ms (5 ms in later releases), with
     *     which contending stations stop sending for ever (SetAddBaTimeout);
     *   - block ack agreements: ended after 7 unanswered block ack requests in a row instead of
     *     never; while a radio repeats requests to a station that left, it sends nothing else
     *     (SetBlockAckLimit);
     *   - `ThresholdPreambleDetectionModel::MinimumRssi`: -110 dBm instead of -82 dBm, and
     *     `Threshold`: -5 dB instead of 4 dB: with the defaults no frame below about 12 dB (20 MHz)
     *     is detected, whatever its MCS could do (SetPreambleDetection);
     *   - up to ns-3.36: a receiver ends its block ack agreement when the sender asks for a new
     *     one, as in later releases, instead of waiting for frames that were dropped.
     *
     * Of access points:
     *   - `QosTxop::UseExplicitBarAfterMissedBlockAck`: false instead of true, and from ns-3.44 on
     *     `WifiRemoteStationManager::IncrementRetryCountUnderBa`: true instead of false, so that
     *     frames to a station that left are dropped after some tries, as without block ack.
     *
     * Of stations:
     *   - `StaWifiMac::WaitBeaconTimeout`: 120 ms, 130 ms, 140 ms, ... instead of 120 ms: stations
     *     associate one after the other. If all do at once, some are associated, but the access
     *     point does not know it (no effect with ActiveProbing);
     *   - `StaWifiMac::MaxMissedBeacons`: 1,000,000 instead of 10: a station stays associated,
     *     because there is no other access point. Not if devices has several access points.
     *
     * ARP caches: permanent entries, because a cache keeps three packets while it waits for an
     * answer and drops all others for 100 s after three failures (SetStaticArp). Access points and
     * stations of one network get each other; ad hoc radios get all others.
     *
     * What Tune() leaves alone: rate managers, transmission power, channels, RTS/CTS, and all but
     * the first link of multi-link radios.
     * @param devices The radios of devices, of access points and of a center, in one container. It
     * aborts with a sentence if one of them is no WifiNetDevice, or has no address.
     */
    void Tune(const NetDeviceContainer& devices) const;

    /**
     * Measure the uplinks of a federation in a wifi network of any kind; before the federation is
     * installed. Distances are measured from the receiver. SetProbe() and SetDistanceReference() of
     * the federation override this.
     * @param federation The federation.
     * @param receiver The radio that receives from devices: access point, or ad hoc the center.
     * @param devices The radios of the devices, in any order; others among them do not matter.
     * @return the probe.
     */
    static Ptr<WifiLinkProbe> Probe(FederatedHelper& federation,
                                    const Ptr<NetDevice>& receiver,
                                    const NetDeviceContainer& devices);

    /**
     * Add a radio that only listens, after Install(). It never sends. Its fading and errors have
     * random streams of their own, so that the federation has the same results without it.
     * @param node A node with a position, without IP.
     * @return the radio.
     */
    Ptr<NetDevice> AddListener(const Ptr<Node>& node);

    /**
     * Add stations that use the channel for something else, after Install(). Each sends packets to
     * the next one, the last one to the first, at equal intervals and without end; frames are
     * acknowledged. They contend with the federation, and are counted nowhere. Several calls add
     * several such groups.
     * @param stations Two nodes or more with positions, without IP.
     * @param rate What all of them together are given to send, in bit/s.
     */
    void AddBackground(const NodeContainer& stations, const DataRate& rate);

    /**
     * Add an eavesdropper to a federation, after cell and federation were installed.
     * @param position Its position; the node of the application can be moved.
     * @param federation The federation, whose dimension and quantizer are public.
     * @return the application, on a node of its own.
     */
    Ptr<Eavesdropper> AddEavesdropper(const Vector& position, const FederatedHelper& federation);

    /** @return the node of the center. */
    Ptr<Node> GetCenter() const;

    /** @return address and port of the center. */
    Address GetCenterAddress() const;

    /** @return the wifi devices of the devices. */
    const NetDeviceContainer& GetDevices() const;

    /** @return the wifi device that receives from devices. */
    Ptr<NetDevice> GetReceiver() const;

    /** @return the probe at the receiving radio, once a federation was installed. */
    Ptr<WifiLinkProbe> GetProbe() const;

    /** @return what lets radios sleep, once the cell is installed; null with SetSleep("none"). */
    Ptr<FederatedWifiSleep> GetSleep() const;

    /**
     * @param mcs An MCS.
     * @return its rate at the physical layer, in bit/s.
     */
    double GetPhyRate(uint32_t mcs) const;

    /**
     * @param mcs An MCS.
     * @param bytes Size of a message, as FragmentSize of the center sets it.
     * @return the rate at which a radio sends such messages to a group, in bit/s.
     */
    double GetGroupRate(uint32_t mcs, uint32_t bytes = 1400) const;

    /**
     * Write captures of the receiving radio and of some devices.
     * @param prefix Start of the paths.
     * @param devices How many devices, the first ones.
     * @return the radios whose captures are written.
     */
    NetDeviceContainer EnablePcap(const std::string& prefix, uint32_t devices = 0);

    /**
     * Write an ASCII trace of the receiving radio.
     * @param prefix Start of the path.
     * @return the path.
     */
    std::string EnableAscii(const std::string& prefix);

    /**
     * Fix the random streams in use; after Install(), which fixes numbers of its own.
     * @param stream First stream number.
     * @return how many streams were used.
     */
    int64_t AssignStreams(int64_t stream);

  private:
    /**
     * Give a radio or wire an address, without queue disc.
     * @param device The device.
     * @param address The address.
     * @param mask The mask.
     */
    static void AddAddress(const Ptr<NetDevice>& device, Ipv4Address address, Ipv4Mask mask);

    /** @return the multicast group of the model in infrastructure mode. */
    Ipv4Address GetMulticastGroup() const;

    /**
     * Install internet stacks on nodes that have none, and addresses and routes on all.
     * @param devices The nodes of the devices.
     */
    void AddAddresses(const NodeContainer& devices);

    /**
     * Give the radio of a device its address and the routes that it needs.
     * @param device The radio.
     * @param index Its number in the cell.
     * @param isNew Whether its node had no internet stack before.
     */
    void AddDeviceAddress(const Ptr<NetDevice>& device, uint32_t index, bool isNew);

    /** Make the center that is wired to the access point. */
    void AddWire();

    /** @return what radios have instead of defaults of ns-3. */
    federated::WifiTuning GetTuning() const;

    /**
     * What Tune() does.
     * @param devices The radios.
     * @param fillsArp Whether their ARP caches are filled.
     */
    void Tune(const NetDeviceContainer& devices, bool fillsArp) const;

    /**
     * @param fragmentSize FragmentSize of the center.
     * @return settings of a federation that suit the cell.
     */
    FederatedHelper::LinkDefaults GetLinkDefaults(uint32_t fragmentSize) const;

    // Attributes
    uint32_t m_cell = 0;            //!< Number of the cell.
    Ipv4Address m_network;          //!< Its network, of 16 bits.
    bool m_adhoc = true;            //!< Whether there is no access point.
    bool m_wired = false;           //!< Whether the center is on a wire.
    uint16_t m_width = 20;          //!< MHz.
    uint32_t m_mcs = 3;             //!< Of devices, ad hoc.
    uint32_t m_downlinkMcs = 0;     //!< Of the center's frames to groups.
    double m_exponent = 3;          //!< Of the path loss.
    ObjectFactory m_shadowing;      //!< Makes the shadowing; without a TypeId: none.
    ObjectFactory m_fading;         //!< Makes the fading; without a TypeId: none.
    double m_txPower = 16;          //!< Of devices, dBm.
    double m_centerTxPower = 26;    //!< Of the center, dBm.
    std::string m_manager;          //!< Rate manager.
    bool m_detection = true;        //!< Whether preambles must be detected.
    double m_minimumRssi = -110;    //!< dBm.
    double m_threshold = -5;        //!< dB.
    Time m_addBaTimeout;            //!< Of ADDBA requests.
    uint32_t m_blockAckLimit;       //!< Requests until an agreement ends.
    uint32_t m_queuePackets = 5000; //!< Of a radio.
    Time m_queueDelay;              //!< Of a radio.
    bool m_staticArp = true;        //!< Whether ARP caches are filled.
    bool m_sleeps = true;           //!< Whether radios sleep that are not needed.
    bool m_pages = false;           //!< Whether devices are paged.

    // State
    int64_t m_backgroundStreams = 0;                 //!< Random streams that AddBackground() used.
    std::unique_ptr<federated::WifiRadios> m_radios; //!< The cell, once it is installed.
    std::unique_ptr<federated::WifiListeners> m_listeners; //!< Radios that only listen.
    Ptr<Node> m_accessPoint;                               //!< At the receiving radio.
    Ptr<Node> m_center;                                    //!< Where the center is.
    Ipv4Address m_centerAddress;                           //!< Its address.
    NetDeviceContainer m_devices;                          //!< Radios of the devices.
    NetDeviceContainer m_receiver;                         //!< Radio of the access point.
    NetDeviceContainer m_visitors;                         //!< Radios of visitors.
    Ptr<WifiLinkProbe> m_probe;                            //!< At the receiving radio.
    Ptr<FederatedWifiSleep> m_sleep;                       //!< Lets radios sleep; may be null.
};

} // namespace ns3

#endif // FEDERATED_WIFI_HELPER_H
