// SPDX-License-Identifier: GPL-2.0-only

#ifndef LTE_LINK_PROBE_H
#define LTE_LINK_PROBE_H

#include "link-probe.h"

#include "ns3/lte-amc.h"
#include "ns3/lte-common.h"
#include "ns3/net-device.h"
#include "ns3/simple-ref-count.h"

#include <cstdint>
#include <map>

namespace ns3
{

class LteEnbRrc;

/**
 * @ingroup federated
 * @brief Observes the uplink of an LTE cell at its eNB: the SINR of each user equipment, and its
 * transport blocks.
 *
 * The SINR is that of the sounding reference signals, averaged over the resource blocks; it is
 * measured whether or not data is sent. A frame is a transport block; a HARQ retransmission counts
 * again. The rate is that of the last decoded block's modulation and coding scheme over the whole
 * band, which others may have to share. A block carries parts of many packets, so that the SNR of a
 * packet is unknown. Only the primary carrier is observed.
 *
 * Devices are identified by their IMSI, because an RNTI is valid only during one connection.
 */
class LteLinkProbe : public LinkProbe
{
  public:
    /** @return the TypeId. */
    static TypeId GetTypeId();

    LteLinkProbe();

    /**
     * Observe an eNB, which keeps the probe alive.
     * @param enb An LteEnbNetDevice; several may be observed.
     */
    void Attach(const Ptr<NetDevice>& enb);

    /**
     * @param device A device.
     * @param imsi IMSI of its user equipment.
     */
    void AddDevice(uint32_t device, uint64_t imsi);

  private:
    /** State for one eNB. It is owned by the trace sources of the eNB's physical layer. */
    struct Cell : public SimpleRefCount<Cell>
    {
        Ptr<LteLinkProbe> probe;     //!< Observes it.
        Ptr<LteEnbRrc> rrc;          //!< Knows the IMSI of each RNTI.
        uint16_t resourceBlocks = 0; //!< Of the uplink.
    };

    /**
     * The SINR of a user equipment was measured.
     * @param cell Where.
     * @param cellId Not used.
     * @param rnti The user equipment.
     * @param sinr Linear.
     * @param carrier Not used.
     */
    static void HandleSinr(Ptr<Cell> cell,
                           uint16_t cellId,
                           uint16_t rnti,
                           double sinr,
                           uint8_t carrier);

    /**
     * A transport block was decoded, or failed.
     * @param cell Where.
     * @param block The block.
     */
    static void HandleBlock(Ptr<Cell> cell, PhyReceptionStatParameters block);

    /**
     * @param rrc Knows the IMSI of each RNTI.
     * @param rnti A user equipment.
     * @param [out] device Its device.
     * @return whether it belongs to a device.
     */
    bool FindDevice(LteEnbRrc& rrc, uint16_t rnti, uint32_t& device) const;

    // State
    Ptr<LteAmc> m_amc;                      //!< Knows the sizes of transport blocks.
    std::map<uint64_t, uint32_t> m_devices; //!< By IMSI.
};

} // namespace ns3

#endif // LTE_LINK_PROBE_H
