// SPDX-License-Identifier: GPL-2.0-only

#ifndef DROP_REASON_H
#define DROP_REASON_H

#include "federated-header.h"
#include "fragment-assembler.h"

#include "ns3/address.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace ns3
{

/**
 * @ingroup federated
 * @brief Why a received message was not used.
 */
enum DropReason : uint8_t
{
    DROP_MALFORMED,   //!< Not one of our messages, or fields that contradict each other.
    DROP_VERSION,     //!< Another version of the protocol.
    DROP_CHECKSUM,    //!< The checksum is wrong.
    DROP_FOREIGN,     //!< The address is not that of the claimed sender, or not our center's.
    DROP_UNKNOWN,     //!< From or for a device that has not joined, or must not join.
    DROP_UNEXPECTED,  //!< A type of message that this side does not receive, or not now.
    DROP_UNSELECTED,  //!< The device is not selected in the round.
    DROP_OLD,         //!< Of an earlier round, or already outdated.
    DROP_LATE,        //!< Of this round, but after its end.
    DROP_DUPLICATE,   //!< It was received before.
    DROP_INVALID,     //!< Well formed, but it does not fit this task (size, bits, group).
    DROP_NOT_FINITE,  //!< It carries an infinite or NaN coordinate.
    DROP_UNAUTHENTIC, //!< With a key: not protected, with another key, changed, or not of the
                      //!< sender that it names. Without a key: protected.
    DROP_REPLAYED,    //!< Authentic, but received before, or too old to say.
};

/**
 * @ingroup federated
 * How many reasons there are.
 */
constexpr std::size_t DROP_REASONS = DROP_REPLAYED + 1;

/**
 * @ingroup federated
 * @param reason A reason.
 * @return its name, one word in lower case.
 */
const char* GetDropReasonName(DropReason reason);

/**
 * @ingroup federated
 * @param result Result of reading a message.
 * @return why it is dropped, if it is.
 */
std::optional<DropReason> GetDropReason(FederatedHeader::ReadResult result);

/**
 * @ingroup federated
 * @param result Result of adding a fragment.
 * @return why it is dropped, if it is.
 */
std::optional<DropReason> GetDropReason(federated::FragmentAssembler::Result result);

/**
 * @ingroup federated
 * @brief Numbers of dropped messages, by reason.
 */
using DropCounters = std::array<uint64_t, DROP_REASONS>;

/**
 * @ingroup federated
 * TracedCallback signature of the trace source Drop of both applications.
 * @param reason Why the message was dropped.
 * @param from Address of its sender.
 * @param size Its size in bytes.
 */
using DropTracedCallback = void (*)(DropReason reason, const Address& from, uint32_t size);

} // namespace ns3

#endif // DROP_REASON_H
