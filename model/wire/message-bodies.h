// SPDX-License-Identifier: GPL-2.0-only

#ifndef MESSAGE_BODIES_H
#define MESSAGE_BODIES_H

#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

/**
 * @file
 * @ingroup federated
 * The payloads of control messages (those of models and updates are coordinates). Numbers are in
 * network byte order, floats as their IEEE bits, in the order of the members. Read accepts any
 * bytes and returns whether they begin with such a body; if not, its output must not be used. What
 * follows the body is ignored: a later revision may append fields. LEAVE and REJOIN have no body.
 */

namespace ns3
{

/**
 * @ingroup federated
 * @brief What a device reports about itself in a JOIN. The header's bits are its resolution.
 */
struct JoinBody
{
    static constexpr std::size_t SIZE = 24; //!< Bytes.

    uint32_t group = 0;      //!< Group of the device, m.
    uint32_t samples = 0;    //!< Number of its training samples.
    uint64_t trainingNs = 0; //!< How long its training takes, simulated nanoseconds.
    uint32_t life = 0;       //!< Number of this life of the device: another one after each start.
    float battery =
        std::numeric_limits<float>::quiet_NaN(); //!< Level from 0 to 1; NaN: not reported.

    /** @param [out] bytes SIZE bytes. */
    void Write(uint8_t* bytes) const;

    /**
     * @param bytes Any bytes.
     * @param size How many.
     * @param [out] body The body.
     * @return whether they are such a body.
     */
    static bool Read(const uint8_t* bytes, std::size_t size, JoinBody& body);
};

/**
 * @ingroup federated
 * @brief What a selected device needs to know about a round, in a GRANT. Simulated times, in
 * nanoseconds, that an ns-3 Time can hold. The header's bits are the resolution granted, its
 * fragments those of the model, its coordinates the dimension d.
 */
struct GrantBody
{
    static constexpr std::size_t SIZE = 32; //!< Bytes.

    uint64_t modelEndNs = 0;   //!< When the last fragment of the model will have been sent.
    uint64_t slotStartNs = 0;  //!< When the device may begin to send its update.
    uint64_t slotLengthNs = 0; //!< For how long.
    uint64_t deadlineNs = 0;   //!< When the round ends.

    /** @param [out] bytes SIZE bytes. */
    void Write(uint8_t* bytes) const;

    /**
     * @param bytes Any bytes.
     * @param size How many.
     * @param [out] body The body.
     * @return whether they are such a body.
     */
    static bool Read(const uint8_t* bytes, std::size_t size, GrantBody& body);
};

/**
 * @ingroup federated
 * @brief Which devices the center selected for a round, in a PAGE: a bit for each device of a
 * range.
 */
struct PageBody
{
    static constexpr std::size_t FIXED_SIZE = 16; //!< Bytes before the bits.

    uint64_t untilNs = 0;      //!< When the round ends at the latest, simulated nanoseconds.
    uint32_t first = 0;        //!< The first device of the range.
    uint32_t devices = 0;      //!< How many there are in it.
    std::vector<uint8_t> bits; //!< That of device first + i is bit i % 8 of byte i / 8, where bit 0
                               //!< is the least significant one.

    /** @return the bytes of the body. */
    std::size_t GetSize() const
    {
        return FIXED_SIZE + bits.size();
    }

    /**
     * @param size Bytes of a body.
     * @return how many devices its range can have.
     */
    static std::size_t GetRoom(std::size_t size)
    {
        return size < FIXED_SIZE ? 0 : 8 * (size - FIXED_SIZE);
    }

    /**
     * Name a device; the range grows up to it.
     * @param device The device, not below first.
     */
    void Name(uint32_t device);

    /**
     * @param device Any device.
     * @return whether it is named.
     */
    bool Names(uint32_t device) const;

    /** @param [out] bytes GetSize() bytes. */
    void Write(uint8_t* bytes) const;

    /**
     * @param bytes Any bytes.
     * @param size How many.
     * @param [out] body The body.
     * @return whether they are such a body: its range has a device, and ends below 2^32.
     */
    static bool Read(const uint8_t* bytes, std::size_t size, PageBody& body);
};

/**
 * @ingroup federated
 * @brief What an ACK acknowledges; the header's sequence is that of the message.
 */
struct AckBody
{
    static constexpr std::size_t SIZE = 1; //!< Bytes.

    uint8_t type = 0; //!< FederatedHeader::Type of the message.

    /** @param [out] bytes SIZE bytes. */
    void Write(uint8_t* bytes) const;

    /**
     * @param bytes Any bytes.
     * @param size How many.
     * @param [out] body The body.
     * @return whether they are such a body.
     */
    static bool Read(const uint8_t* bytes, std::size_t size, AckBody& body);
};

/**
 * @ingroup federated
 * @brief The fragments of the model that a device lacks, in a REPAIR.
 */
struct RepairBody
{
    static constexpr std::size_t COUNT_SIZE = 4; //!< Bytes of the number of ranges.
    static constexpr std::size_t RANGE_SIZE = 8; //!< Bytes of a range.

    std::vector<std::pair<uint32_t, uint32_t>> ranges; //!< First fragment and how many, at least 1.
                                                       //!< Their number comes first.

    /** @return the bytes of the body. */
    std::size_t GetSize() const
    {
        return COUNT_SIZE + RANGE_SIZE * ranges.size();
    }

    /**
     * @param size Bytes of a body.
     * @return how many ranges it can have.
     */
    static std::size_t GetRoom(std::size_t size)
    {
        return size < COUNT_SIZE ? 0 : (size - COUNT_SIZE) / RANGE_SIZE;
    }

    /** @param [out] bytes GetSize() bytes. */
    void Write(uint8_t* bytes) const;

    /**
     * @param bytes Any bytes.
     * @param size How many.
     * @param [out] body The body.
     * @return whether they are such a body: at least one range, none empty or beyond 2^32 - 1.
     */
    static bool Read(const uint8_t* bytes, std::size_t size, RepairBody& body);
};

/**
 * @ingroup federated
 * @brief Outcome of a round for a device that was granted a slot.
 */
enum RoundOutcome : uint8_t
{
    OUTCOME_SENT,             //!< The update was sent.
    OUTCOME_MODEL_INCOMPLETE, //!< Fragments of the model were missing when training had to start.
    OUTCOME_NOT_FINITE,       //!< Training gave an update that cannot be sent.
    OUTCOME_NO_TIME,          //!< The slot or the deadline was over before all was sent.
    OUTCOME_BUDGET_SPENT,     //!< Its privacy budget does not allow an update.
    OUTCOME_NOTHING_LEARNED,  //!< It had nothing to learn from, as an edge without devices.
};

/**
 * @ingroup federated
 * @brief The end of a device's round, in a DONE; the header's fragments are those sent.
 */
struct DoneBody
{
    static constexpr std::size_t SIZE = 21; //!< Bytes.

    uint8_t outcome = OUTCOME_SENT; //!< A RoundOutcome.
    uint64_t firstSentNs = 0;       //!< When the first fragment was sent, simulated nanoseconds; 0
                                    //!< if none was.
    uint64_t lastSentNs = 0;        //!< Likewise the last one.
    float battery =
        std::numeric_limits<float>::quiet_NaN(); //!< Level from 0 to 1; NaN: not reported.

    /** @param [out] bytes SIZE bytes. */
    void Write(uint8_t* bytes) const;

    /**
     * @param bytes Any bytes.
     * @param size How many.
     * @param [out] body The body.
     * @return whether they are such a body.
     */
    static bool Read(const uint8_t* bytes, std::size_t size, DoneBody& body);
};

} // namespace ns3

#endif // MESSAGE_BODIES_H
