// SPDX-License-Identifier: GPL-2.0-only

#ifndef FEDERATED_SUMMARY_H
#define FEDERATED_SUMMARY_H

#include "federated-diagnosis.h"
#include "federated-privacy-totals.h"
#include "federated-trace-writer.h"

#include "ns3/federated-device.h"
#include "ns3/fusion-center.h"
#include "ns3/learning-task.h"
#include "ns3/ptr.h"
#include "ns3/simple-ref-count.h"
#include "ns3/socket-address.h"

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

namespace ns3
{

/**
 * @ingroup federated
 * @brief What the end of a script says of an installed federation: what went wrong, and what is
 * private.
 *
 * It holds center, devices and traces. The FederatedHelper of a cell may go out of scope before the
 * federation of the edges asks for this.
 */
class FederatedSummary : public SimpleRefCount<FederatedSummary>
{
  public:
    /** A federation. */
    struct Federation
    {
        Ptr<LearningTask> task;            //!< What it learns.
        Ptr<FusionCenter> center;          //!< Its center.
        federated::SocketAddress address;  //!< Of the center, as devices reach it.
        bool hasGroupAddress = false;      //!< Whether messages are sent to a group.
        std::vector<unsigned> bits;        //!< Of each group.
        Ptr<FederatedDiagnosis> diagnosis; //!< Says what went wrong.
        Ptr<FederatedTraceWriter> traces;  //!< Joins the traces.
    };

    /** @param federation The federation, as yet without devices. */
    explicit FederatedSummary(const Federation& federation);

    ~FederatedSummary();

    /** @param device A device. @param group Its group. */
    void AddDevice(const Ptr<FederatedDevice>& device, uint32_t group);

    /** @param visitor A device that may come, after all others. @param group Its group. */
    void AddVisitor(const Ptr<FederatedDevice>& visitor, uint32_t group);

    /** Say that devices are edges. */
    void SetHasEdges();

    /** @return what the run came to. */
    RunFacts GetFacts() const;

    /**
     * Print the privacy summary of the devices.
     * @param stream Where to.
     */
    void PrintPrivacy(std::ostream& stream);

    /**
     * Count what the devices that this process simulates have spent, and declined.
     * @param [in,out] totals The totals.
     */
    void AddLosses(FederatedPrivacyTotals& totals);

    /**
     * Add what is claimed of the updates, and what is sent without protection.
     * @param [in,out] totals The totals.
     * @param cell Number of this federation among those that are counted.
     */
    void AddClaims(FederatedPrivacyTotals& totals, uint32_t cell) const;

  private:
    /** A device. */
    struct Device
    {
        Ptr<FederatedDevice> application; //!< The application.
        uint32_t group;                   //!< Its group.
        bool isVisitor;                   //!< Whether it may come from another cell.
    };

    /** @return whether this process simulates all devices. */
    bool HasAllDevices() const;

    /** @return why devices and center do not reach each other, without a period; empty: unknown. */
    std::string FindObstacle() const;

    /** @return the interval of the devices in words. */
    std::string DescribeInterval() const;

    /** @return what is claimed of updates, a sentence for each claim. */
    std::vector<std::string> ListClaims() const;

    Federation m_federation;       //!< The federation.
    std::vector<Device> m_devices; //!< Its devices, in the order of their numbers.
    bool m_hasEdges = false;       //!< Whether devices are edges.
};

} // namespace ns3

#endif // FEDERATED_SUMMARY_H
