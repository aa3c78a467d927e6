// SPDX-License-Identifier: GPL-2.0-only

#ifndef FEDERATED_ROAMING_H
#define FEDERATED_ROAMING_H

#include "ns3/event-id.h"
#include "ns3/federated-device.h"
#include "ns3/node.h"
#include "ns3/nstime.h"
#include "ns3/object.h"
#include "ns3/traced-callback.h"

#include <cstdint>
#include <limits>
#include <vector>

namespace ns3
{

/**
 * @ingroup federated
 * @brief Lets devices walk from cell to cell: a walker leaves the cell that it goes away from, and
 * joins the one that it comes to.
 *
 * A walker has an application for each cell that it may visit, all on its node and with the same
 * Task and Share: it is one device, with one privacy ledger, and no two of its updates have the
 * same coins. At most one of the applications runs. ns-3 does not hand over by itself; a walker
 * has a radio in each of the cells as well (FederatedWifiHelper::AddVisitor makes both).
 *
 * @verbatim
             Interval: another cell is nearer by Hysteresis
      IN A CELL ----------------------------------> LEAVING   the round, if there is one, ends
          ^                                            |
          | joins the nearest cell, until it answers   | acknowledged, or no answer
          +--------------------------------------------+
   @endverbatim
 *
 * A walker is in no cell while it leaves one. If the next one does not answer, because it is full
 * or its center was stopped, the walker asks it again and again until another cell is nearer. A
 * walker that stopped by itself, as with an empty battery, stays where it is.
 *
 * All cells and walkers are simulated by one process. The object looks at positions as long as the
 * simulation runs: something else has to stop it, such as FederatedHelper::StopWhenFinished().
 *
 * @code
    const auto roaming = CreateObject<FederatedRoaming>();
    for (const auto& cell : cells)
    {
        roaming->AddCell(cell.accessPoint);
        applications.push_back(cell.wifi.AddVisitor(cell.federation, node, group, share));
    }
    roaming->AddWalker(node, applications);
   @endcode
 */
class FederatedRoaming : public Object
{
  public:
    static constexpr uint32_t NOWHERE = std::numeric_limits<uint32_t>::max(); //!< In no cell.

    /**
     * TracedCallback signature of Moved.
     * @param walker Number of the walker.
     * @param from The cell that it left.
     * @param to The cell that it joins.
     */
    using MovedTracedCallback = void (*)(uint32_t walker, uint32_t from, uint32_t to);

    /**
     * @brief Get the type ID.
     * @return the object TypeId
     */
    static TypeId GetTypeId();

    /**
     * Add a cell, before the walkers.
     * @param accessPoint Its access point, a node with a position.
     * @return the number of the cell, from 0 on.
     */
    uint32_t AddCell(const Ptr<Node>& accessPoint);

    /**
     * Add a walker, before the simulation starts. It begins in the nearest cell.
     * @param node Its node, with a mobility model.
     * @param applications An application for each cell, in the order of AddCell(), which is on no
     * node yet and not enrolled; null: it does not visit that cell.
     * @return the number of the walker, from 0 on.
     */
    uint32_t AddWalker(const Ptr<Node>& node,
                       const std::vector<Ptr<FederatedDevice>>& applications);

    /**
     * @param walker A walker.
     * @return the cell that it has joined or asks to join; NOWHERE while it leaves one, and before
     * the simulation starts.
     */
    uint32_t GetCell(uint32_t walker) const;

    /** @return how often walkers have moved from one cell to another. */
    uint64_t GetMoves() const;

  protected:
    void DoDispose() override;

  private:
    /** A device that walks. */
    struct Walker
    {
        Ptr<Node> node;                                 //!< Its node.
        std::vector<Ptr<FederatedDevice>> applications; //!< By cell; may be null.
        uint32_t cell = NOWHERE;                        //!< Whose application was started last.
        bool isLeaving = false;                         //!< Whether it leaves that cell.
        EventId event;                                  //!< Lets it enter the next one.
    };

    /**
     * Abort if an application cannot be that of a walker.
     * @param walker The walker.
     * @param cell Number of a cell that it visits.
     */
    void CheckApplication(const Walker& walker, uint32_t cell) const;

    /** Look where the walkers are. */
    void Look();

    /**
     * @param walker A walker.
     * @param cell A cell.
     * @return its distance from the access point, in meters.
     */
    double GetDistance(const Walker& walker, uint32_t cell) const;

    /**
     * @param walker A walker.
     * @return the nearest cell that it visits; of equally near ones the first.
     */
    uint32_t FindNearest(const Walker& walker) const;

    /**
     * Trace sink of LinkNeeded.
     * @param roaming The object.
     * @param index The walker.
     * @param cell The cell of the application.
     * @param device Not used.
     * @param needed Whether the application needs its link.
     */
    static void HandleNeed(FederatedRoaming* roaming,
                           uint32_t index,
                           uint32_t cell,
                           uint32_t device,
                           bool needed);

    /**
     * A walker that leaves a cell may be done with it.
     * @param index The walker.
     */
    void TryEnter(uint32_t index);

    /**
     * Let a walker join the nearest cell.
     * @param index The walker.
     */
    void Enter(uint32_t index);

    // Attributes
    Time m_interval;     //!< From one look to the next.
    double m_hysteresis; //!< By how much another cell must be nearer, in meters.

    // State
    std::vector<Ptr<Node>> m_cells; //!< Access points.
    std::vector<Walker> m_walkers;  //!< The walkers.
    uint64_t m_moves = 0;           //!< Of all walkers.
    EventId m_lookEvent;            //!< Calls Look().

    // Trace sources
    TracedCallback<uint32_t, uint32_t, uint32_t> m_movedTrace; //!< Moved.
};

} // namespace ns3

#endif // FEDERATED_ROAMING_H
