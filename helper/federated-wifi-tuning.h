// SPDX-License-Identifier: GPL-2.0-only

#ifndef FEDERATED_WIFI_TUNING_H
#define FEDERATED_WIFI_TUNING_H

#include "ns3/net-device-container.h"
#include "ns3/net-device.h"
#include "ns3/nstime.h"

#include <cstdint>

namespace ns3::federated
{

/** What radios of a federation have instead of defaults of ns-3. */
struct WifiTuning
{
    Time addBaTimeout;      //!< Of ADDBA requests.
    uint32_t blockAckLimit; //!< Unanswered requests until an agreement ends; 0: no limit.
    uint32_t queuePackets;  //!< Largest queue.
    Time queueDelay;        //!< Longest time in it.
    bool hasDetection;      //!< Whether preambles must be detected.
    double minimumRssi;     //!< Weakest preamble that is detected, in dBm.
    double threshold;       //!< Least SNR of a preamble, in dB.
};

/**
 * Set the queues, block acknowledgments and preamble detection of a radio, and remove its queue
 * disc.
 * @param device The radio.
 * @param tuning What to set.
 */
void TuneRadio(const Ptr<NetDevice>& device, const WifiTuning& tuning);

/**
 * Make stations associate one after the other and, if there is no second access point, stay
 * associated.
 * @param devices Radios; others than stations count only as access points.
 */
void TuneAssociation(const NetDeviceContainer& devices);

/**
 * Fill the ARP caches of radios with each other, within a network. Stations talk to access points:
 * if there are any, they are not introduced to each other.
 * @param devices The radios, with IPv4 addresses.
 */
void FillArpCaches(const NetDeviceContainer& devices);

} // namespace ns3::federated

#endif // FEDERATED_WIFI_TUNING_H
