// SPDX-License-Identifier: GPL-2.0-only

#ifndef FEDERATED_LTE_HELPER_H
#define FEDERATED_LTE_HELPER_H

#include "federated-helper.h"

#include "ns3/application-container.h"
#include "ns3/data-rate.h"
#include "ns3/ipv4-address.h"
#include "ns3/lte-helper.h"
#include "ns3/lte-link-probe.h"
#include "ns3/net-device-container.h"
#include "ns3/node-container.h"
#include "ns3/nstime.h"
#include "ns3/point-to-point-epc-helper.h"

#include <cstdint>

namespace ns3
{

/**
 * @ingroup federated
 * @brief One LTE cell of IPv4 devices, and a center that is wired to the PGW.
 *
 * @verbatim
    device )))  ((( eNB --- SGW --- PGW --- center
    device )))
   @endverbatim
 *
 * All messages use the default bearer of each device. Positions are those of the nodes' mobility
 * models.
 *
 * @code
    FederatedLteHelper cell;
    cell.SetResourceBlocks(50);
    cell.Install(federation, enb); // nodes with positions
   @endcode
 *
 * ns-3 measures the uplink over the whole band, over which a device spreads its power: the wider
 * the band, the smaller the cell. Its schedulers do not serve a device whose SINR is below about
 * -2 dB, but reserve resource blocks for it as long as it has data to send, which slows down the
 * others.
 *
 * ns-3's defaults suit small flows. Unless a user has changed the same default (Config::SetDefault,
 * or an option such as --ns3::LteEnbPhy::TxPower=46), the constructor sets the following. To use
 * ns-3's own value, set it after the constructor: a default set before to the same value is not
 * recognized as a change.
 *
 * - ns3::LteRlcUm::MaxTxBufferSize to 16 MiB instead of 10 KiB, because a model or an update waits
 *   there for the radio;
 * - ns3::LteRlcUm::EnablePdcpDiscarding, which newer releases have, to false: packets that have
 *   waited for long are not dropped;
 * - ns3::LteEnbPhy::TxPower to 43 dBm, that of a macro cell, instead of 30 dBm;
 * - ns3::LteUePhy::DownlinkCqiPeriodicity to 10 ms instead of 1 ms: the reports take much of the
 *   computing time.
 *
 * Install() chooses ns3::LteEnbRrc::SrsPeriodicity by the number of devices, again unless its
 * default was changed. The path loss is ns3::LogDistancePropagationLossModel with exponent 3 and,
 * at 1 m, the loss of free space at the carrier: 38.97 dB down (2120 MHz), 38.16 dB up (1930 MHz).
 * GetLteHelper() sets another one, fading, or the scheduler.
 */
class FederatedLteHelper
{
  public:
    static constexpr uint32_t MAX_DEVICES = 319; //!< Limit of the sounding reference signals.

    FederatedLteHelper();

    FederatedLteHelper(const FederatedLteHelper&) = delete;
    FederatedLteHelper& operator=(const FederatedLteHelper&) = delete;

    /** @return the helper of the cell, to be configured before Install(). */
    Ptr<LteHelper> GetLteHelper() const;

    /** @param exponent Of the log-distance path loss. */
    void SetPathLossExponent(double exponent);

    /** @param blocks Width of uplink and downlink: 6, 15, 25, 50, 75 or 100, which is 20 MHz. */
    void SetResourceBlocks(uint16_t blocks);

    /**
     * @param rate Rate of the wire between PGW and center, 1 Gb/s if this is not called.
     * @param delay Its delay, 1 ms if this is not called.
     */
    void SetWire(const DataRate& rate, const Time& delay);

    /**
     * Make the cell, the center and the wire, install the internet stack, attach the devices, and
     * install a federation. Once.
     *
     * The federation gets defaults, which its own settings override: rates of the model and of
     * updates (0.4 and 0.5 Mb/s for each resource block), slots by measured rates, the probe of
     * the uplinks, and the eNB as the reference of distances.
     * @param federation The federation; its nodes have positions and no internet stack.
     * @param enb The node of the eNB, with a position.
     * @return the center, then the devices in the order of their numbers.
     */
    ApplicationContainer Install(FederatedHelper& federation, const Ptr<Node>& enb);

    /** @return the probe of the uplinks, once a federation was installed. */
    Ptr<LteLinkProbe> GetProbe() const;

    /** @return the node of the center, once a federation was installed. */
    Ptr<Node> GetCenter() const;

    /** @return address and port of the center. */
    Address GetCenterAddress() const;

    /** @return the net device of the center, at its end of the wire. */
    Ptr<NetDevice> GetCenterPort() const;

    /** @return the net device of the eNB. */
    Ptr<NetDevice> GetEnbDevice() const;

    /** @return the net devices of the devices, in their order. */
    const NetDeviceContainer& GetUeDevices() const;

    /**
     * Fix the random streams in use, after Install(). By default the helper uses fixed numbers.
     * @param stream First stream number.
     * @return how many streams are used.
     */
    int64_t AssignStreams(int64_t stream);

  private:
    /**
     * Make the radios.
     * @param devices Nodes of the devices.
     * @param enb Node of the eNB.
     */
    void MakeRadios(const NodeContainer& devices, const Ptr<Node>& enb);

    /**
     * Make the center, its wire to the PGW, addresses and routes, and attach the devices.
     * @param devices Nodes of the devices.
     */
    void MakeNetwork(const NodeContainer& devices);

    /** Make the probe. */
    void MakeProbe();

    /** @return settings of a federation that suit the cell. */
    FederatedHelper::LinkDefaults GetLinkDefaults() const;

    // Attributes
    uint16_t m_resourceBlocks; //!< Of uplink and downlink.
    DataRate m_wireRate;       //!< Between PGW and center.
    Time m_wireDelay;          //!< Likewise.

    // State
    Ptr<LteHelper> m_lte;             //!< Makes the cell.
    Ptr<PointToPointEpcHelper> m_epc; //!< Makes the core network.
    Ptr<Node> m_center;               //!< The center.
    Ipv4Address m_centerAddress;      //!< Its address.
    Ptr<NetDevice> m_centerPort;      //!< Its end of the wire.
    Ptr<NetDevice> m_enbDevice;       //!< The net device of the eNB.
    Ptr<LteLinkProbe> m_probe;        //!< At the eNB.
    NetDeviceContainer m_ueDevices;   //!< Those of the devices.
};

} // namespace ns3

#endif // FEDERATED_LTE_HELPER_H
