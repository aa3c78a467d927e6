// SPDX-License-Identifier: GPL-2.0-only

#ifndef FEDERATED_STREAMS_H
#define FEDERATED_STREAMS_H

#include <cstdint>

namespace ns3
{

/**
 * @ingroup federated
 * @brief The ns-3 random streams that the module uses if a script does not call AssignStreams.
 *
 * They are fixed, because ns-3's automatic numbers depend on the order in which objects are
 * created.
 *
 * @verbatim
   stream                 who                                            how many
   0                      tools without a network: attack, audit, ...    1
   1                      error models of examples (ERROR_MODEL)         1 a link
   2000                   first positions of devices (POSITIONS)         10
   2010                   their walks (WALKS)                            2 a device
   100,000 + 3,000,000 c  radios and IP of wifi cell c (WIFI_CELL)       4 or more a node
   1,000,000,000          a federation (FEDERATION): its task            1
      + 1                   its center                                   CENTER, set aside
      + 1 + CENTER          its devices                                  DEVICE each
      + CELL * (1 + n)      the federation of cell n, likewise
   1,500,000,000
          + 1,000,000 c   listeners of wifi cell c (LISTENERS)           LISTENER each
   1,900,000,000
          + 300,000 c     other stations of its channel (BACKGROUND)
   2,000,000,000          an LTE cell (LTE_CELL)
   @endverbatim
 *
 * Wifi cells have the numbers c = 0 to WIFI_CELLS - 1; there is one cell 0 if a script says
 nothing.
 * The end of the range of a cell is for its visitors (VISITORS), and for the places and walks of
 * its devices where there are several cells (PLACES). No two of these ranges overlap.
 * Everything else is drawn from FederatedRandom, whose one seed is the draw of the task.
 */
struct FederatedStreams
{
    static constexpr int64_t TOOL = 0;                   //!< Examples without a network.
    static constexpr int64_t ERROR_MODEL = 1;            //!< Error models of examples.
    static constexpr int64_t POSITIONS = 2000;           //!< First positions of devices.
    static constexpr int64_t WALKS = 2010;               //!< Their walks.
    static constexpr uint32_t WIFI_CELLS = 255;          //!< Wifi cells that there may be.
    static constexpr int64_t WIFI_CELL = 100'000;        //!< Radios and IP of wifi cell 0.
    static constexpr int64_t NEXT_CELL = 3'000'000;      //!< From there to those of the next cell.
    static constexpr int64_t VISITORS = 2'800'000;       //!< From a cell to those of its visitors.
    static constexpr int64_t VISITOR = 100;              //!< Streams of a visitor.
    static constexpr int64_t PLACES = 2'900'000;         //!< From a cell to its places, as from
                                                         //!< POSITIONS on.
    static constexpr int64_t FEDERATION = 1'000'000'000; //!< Task, center and devices.
    static constexpr int64_t CENTER = 8;                 //!< Streams of a center, so that those of
                                                         //!< devices do not depend on its policy.
    static constexpr int64_t DEVICE = 2;                 //!< Streams of a device.
    static constexpr int64_t CELL = 1'000'000;           //!< From a federation to that of cell 0,
                                                         //!< and from one cell to the next.
    static constexpr int64_t CELLS = 498;                //!< Cells of a hierarchy.
    static constexpr int64_t LISTENERS = 1'500'000'000;  //!< Listeners of wifi cell 0.
    static constexpr int64_t NEXT_LISTENERS = 1'000'000; //!< From there to those of the next cell.
    static constexpr int64_t LISTENER = 100;             //!< Streams of a listener.
    static constexpr int64_t BACKGROUND = 1'900'000'000; //!< Other stations of its channel.
    static constexpr int64_t NEXT_BACKGROUND = 300'000;  //!< To those of the next cell's channel.
    static constexpr int64_t LTE_CELL = 2'000'000'000;   //!< An LTE cell.
};

} // namespace ns3

#endif // FEDERATED_STREAMS_H
