// SPDX-License-Identifier: GPL-2.0-only

#ifndef FEDERATED_WIFI_LISTENERS_H
#define FEDERATED_WIFI_LISTENERS_H

#include "federated-helper.h"
#include "federated-wifi-radios.h"
#include "federated-wifi-tuning.h"

#include "ns3/eavesdropper.h"
#include "ns3/net-device.h"
#include "ns3/node.h"
#include "ns3/vector.h"

#include <cstdint>

namespace ns3::federated
{

/**
 * Radios that only listen. Their fading and errors have random streams of their own, so that the
 * other radios receive the same frames with and without them.
 */
class WifiListeners
{
  public:
    /**
     * @param radios The cell; it must outlive this.
     * @param tuning Of the radios, as in the cell.
     * @param mcs MCS of the radios, which never send.
     * @param power Their transmission power in dBm.
     */
    WifiListeners(WifiRadios& radios, const WifiTuning& tuning, uint32_t mcs, double power);
    ~WifiListeners();

    /**
     * @param node A node with a position, without IP.
     * @return a radio on it.
     */
    Ptr<NetDevice> Add(const Ptr<Node>& node);

    /**
     * @param position Its position.
     * @param federation The federation that it listens to, installed.
     * @return an application on a node of its own.
     */
    Ptr<Eavesdropper> AddEavesdropper(const Vector& position, const FederatedHelper& federation);

  private:
    class Fading;

    WifiRadios& m_radios; //!< The cell.
    WifiTuning m_tuning;  //!< Of radios.
    uint32_t m_mcs;       //!< Of radios.
    double m_power;       //!< Of radios, dBm.
    uint32_t m_count = 0; //!< Number of listeners.
    Ptr<Fading> m_fading; //!< Replaces the fading of the cell; null without listeners.
};

} // namespace ns3::federated

#endif // FEDERATED_WIFI_LISTENERS_H
