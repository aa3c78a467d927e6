// SPDX-License-Identifier: GPL-2.0-only

#ifndef FEDERATED_WIFI_TUNING_H
#define FEDERATED_WIFI_TUNING_H

#include "ns3/net-device-container.h"
#include "ns3/net-device.h"
#include "ns3/nstime.h"

#include <cstdint>

namespace ns3::federated
{

/** Settings of the queues and block acknowledgments of a radio. */
struct WifiTuning
{
    Time addBaTimeout;      //!< Of ADDBA requests.
    uint32_t blockAckLimit; //!< Unanswered requests until an agreement ends; 0: no limit.
    uint32_t queuePackets;  //!< Largest queue.
    Time queueDelay;        //!< Longest time in it.
};

/**
 * Set the queues and block acknowledgments of a radio.
 * @param device The radio.
 * @param tuning What to set.
 */
void TuneRadio(const Ptr<NetDevice>& device, const WifiTuning& tuning);

/**
 * Make stations associate one after the other, and stay associated.
 * @param stations Their radios.
 */
void TuneAssociation(const NetDeviceContainer& stations);

/**
 * Fill the ARP caches of an access point and its stations with each other.
 * @param accessPoint The radio of the access point, with an address.
 * @param stations The radios of the stations, with addresses.
 */
void FillArpCaches(const Ptr<NetDevice>& accessPoint, const NetDeviceContainer& stations);

} // namespace ns3::federated

#endif // FEDERATED_WIFI_TUNING_H
