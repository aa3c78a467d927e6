// SPDX-License-Identifier: GPL-2.0-only

#ifndef FEDERATED_WIFI_BACKGROUND_H
#define FEDERATED_WIFI_BACKGROUND_H

#include "federated-wifi-radios.h"
#include "federated-wifi-tuning.h"

#include "ns3/data-rate.h"
#include "ns3/node-container.h"

#include <cstdint>

namespace ns3::federated
{

/**
 * Let stations send packets to each other, in the channel of a cell but not in its network: each to
 * the next one and the last one to the first, at equal intervals that begin at random. Their radios
 * and applications have random streams of their own.
 * @param stations Two nodes or more with positions, without IP, that have no other background.
 * @param rate What all of them together are given to send, in bit/s.
 * @param radios The cell.
 * @param tuning Settings of their radios.
 * @param mcs MCS of the radios, ad hoc.
 * @param power Their transmission power in dBm.
 * @param used How many random streams of the cell's background are used already.
 * @return how many are used then.
 */
[[nodiscard]] int64_t AddBackground(const NodeContainer& stations,
                                    const DataRate& rate,
                                    WifiRadios& radios,
                                    const WifiTuning& tuning,
                                    uint32_t mcs,
                                    double power,
                                    int64_t used);

} // namespace ns3::federated

#endif // FEDERATED_WIFI_BACKGROUND_H
