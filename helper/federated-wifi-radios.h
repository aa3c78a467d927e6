// SPDX-License-Identifier: GPL-2.0-only

#ifndef FEDERATED_WIFI_RADIOS_H
#define FEDERATED_WIFI_RADIOS_H

#include "ns3/net-device-container.h"
#include "ns3/node-container.h"
#include "ns3/object-factory.h"
#include "ns3/propagation-delay-model.h"
#include "ns3/propagation-loss-model.h"
#include "ns3/yans-wifi-helper.h"

#include <cstdint>
#include <string>

namespace ns3::federated
{

/** Common settings of all radios of a cell. */
struct WifiRadioSettings
{
    uint32_t cell;           //!< Number of the cell.
    bool isAdhoc;            //!< Whether there is no access point.
    uint16_t width;          //!< Of the channel, in MHz.
    double exponent;         //!< Of the path loss.
    ObjectFactory shadowing; //!< Makes the loss model that follows it; without a TypeId: none.
    ObjectFactory fading;    //!< Makes the loss model that follows that; likewise.
    std::string manager;     //!< TypeId name of the rate manager; not used ad hoc.
};

/** The channel of a cell, and a factory of radios on it: 802.11ac, 5 GHz. */
class WifiRadios
{
  public:
    /** @param settings Common settings of all radios. */
    explicit WifiRadios(const WifiRadioSettings& settings);

    /**
     * @param nodes Nodes of the radios.
     * @param mac TypeId name of the MAC; not used ad hoc.
     * @param mcs MCS of group-addressed frames, and ad hoc of all.
     * @param power Transmission power in dBm.
     * @return radios.
     */
    NetDeviceContainer Install(const NodeContainer& nodes,
                               const std::string& mac,
                               uint32_t mcs,
                               double power);

    /** @return a copy of the cell's fading with its own random streams; null if it has none. */
    Ptr<PropagationLossModel> MakeFading() const;

    /** @return the fading of the cell; null if it has none. */
    Ptr<PropagationLossModel> GetFading() const;

    /** @param fading What follows path loss and shadowing, instead of the fading of the cell. */
    void ReplaceFading(const Ptr<PropagationLossModel>& fading);

    /** @return the number of the cell. */
    uint32_t GetCell() const;

    /** @return the channel. */
    Ptr<YansWifiChannel> GetChannel() const;

    /** @return the first model of its loss. */
    Ptr<PropagationLossModel> GetLoss() const;

    /** @return the model of its delay. */
    Ptr<PropagationDelayModel> GetDelay() const;

    /** @return the helper that writes captures. */
    YansWifiPhyHelper& GetPhy();

    /**
     * @param width Width of a channel in MHz.
     * @param cell Number of a cell.
     * @return the number of its channel in the 5 GHz band. There are 25 channels of 20 MHz and two
     * of 160 MHz, which cells have in turn.
     */
    static uint32_t GetChannelNumber(uint16_t width, uint32_t cell);

    /**
     * @param width Width of a channel in MHz.
     * @param mcs An MCS.
     * @return its rate at the physical layer, in bit/s.
     */
    static double GetPhyRate(uint16_t width, uint32_t mcs);

    /**
     * @param width Width of a channel in MHz.
     * @param mcs An MCS.
     * @param bytes Size of a message, without the headers of UDP and below.
     * @return the rate at which a radio sends such messages to a group, in bit/s of the messages.
     */
    static double GetGroupRate(uint16_t width, uint32_t mcs, uint32_t bytes);

  private:
    /** Set the attributes of every PHY. */
    void SetUpPhy();

    WifiRadioSettings m_settings;       //!< Common settings of all radios.
    YansWifiPhyHelper m_phy;            //!< Makes PHYs and writes captures.
    Ptr<YansWifiChannel> m_channel;     //!< The channel.
    Ptr<PropagationLossModel> m_loss;   //!< The first of its loss models.
    Ptr<PropagationLossModel> m_steady; //!< The last of its loss models before the fading.
    Ptr<PropagationLossModel> m_fading; //!< Its fading; may be null.
    Ptr<PropagationDelayModel> m_delay; //!< Its delay.
};

} // namespace ns3::federated

#endif // FEDERATED_WIFI_RADIOS_H
