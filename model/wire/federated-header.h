// SPDX-License-Identifier: GPL-2.0-only

#ifndef FEDERATED_HEADER_H
#define FEDERATED_HEADER_H

#include "ns3/coordinate-range.h"
#include "ns3/header.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace ns3
{

/**
 * @ingroup federated
 * @brief The header of every message between a device and its fusion center.
 *
 * Numbers are in network byte order, floats as their IEEE bits:
 *
 * @verbatim
    0                   1                   2                   3
    0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
   +---------------+---------------+---------------+---------------+
   |      'F'      |      'L'      |    version    |     type      |
   +---------------+---------------+---------------+---------------+
   |                           sequence                            |
   |                             round                             |
   |                            device                             |
   |                       fragment (index)                        |
   |                       fragments (count)                       |
   |                   first (first coordinate)                    |
   |                 coordinates (how many follow)                 |
   +---------------+---------------+-------------------------------+
   |R|I|   bits    |   intervals   |        payload length         |
   +---------------+---------------+-------------------------------+
   |    distortion of a coordinate, float (NaN: not reported)      |
   |     CRC-32C of the message, taken with this field at 0        |
   +---------------------------------------------------------------+
   |      end (one past the last coordinate) \                     |
   |      low end of the interval, float      > once an interval   |
   |      high end of the interval, float    /                     |
   +---------------------------------------------------------------+
   |                           payload ...
   @endverbatim
 *
 * The first interval begins at the coordinate `first`, each further one at the end of the previous
 * one, and the last ends at first + coordinates. The payload of a model or update is a part of the
 * output of BitPacker or of a Quantizer's floats, least significant byte first; that of other
 * messages is a body of message-bodies.h. R is set in updates whose coordinates are rotated
 * (PublicRotation), I if they are interleaved (PublicInterleaving).
 *
 * In other messages R and I belong to the bits.
 *
 * An object that is used repeatedly keeps the memory of its intervals, so that reading and writing
 * do not allocate.
 */
class FederatedHeader : public Header
{
  public:
    /** What a message is. */
    enum Type : uint8_t
    {
        JOIN = 1, //!< A device joins (JoinBody).
        LEAVE,    //!< A device leaves.
        GRANT,    //!< The center selects a device for a round (GrantBody).
        ACK,      //!< A control message was received (AckBody).
        MODEL,    //!< A fragment of the model, the same for every device.
        UPDATE,   //!< A fragment of a device's update.
        REPAIR,   //!< A device requests missing fragments of the model (RepairBody).
        DONE,     //!< A device has finished a round (DoneBody).
        REJOIN,   //!< The center does not know the device, or stops: it has to join again.
        PAGE,     //!< The center names the devices that it selected for a round (PageBody).
    };

    /** Result of Read. */
    enum ReadResult
    {
        READ_OK,        //!< A message.
        READ_MALFORMED, //!< Not our protocol, or fields that contradict each other.
        READ_VERSION,   //!< A version that is not supported.
        READ_CHECKSUM,  //!< The checksum is wrong: damaged or tampered with.
    };

    static constexpr uint8_t PROTECTED_UP = 253;       //!< In the place of the type: a protected
                                                       //!< message (MessageProtection) of a device.
    static constexpr uint8_t PROTECTED_DOWN = 254;     //!< Likewise of the center to a device.
    static constexpr uint8_t PROTECTED_GROUP = 255;    //!< Likewise of the center to all devices.
    static constexpr uint8_t VERSION = 2;              //!< Of the protocol.
    static constexpr std::size_t FIXED_SIZE = 44;      //!< Bytes without intervals.
    static constexpr std::size_t INTERVAL_SIZE = 12;   //!< Bytes an interval.
    static constexpr std::size_t MAX_INTERVALS = 255;  //!< In one header.
    static constexpr std::size_t MAX_PAYLOAD = 0xffff; //!< Bytes that may follow a header.
    static constexpr uint32_t ALL_DEVICES = 0xffffffff; //!< The device of messages to all.

    /** @return the TypeId. */
    static TypeId GetTypeId();

    /**
     * @param type Any number.
     * @return the type's name in lower case, "unknown" if there is none.
     */
    static const char* GetTypeName(uint8_t type);

    /**
     * @param message Any bytes.
     * @param size How many.
     * @return its type field, without a check of the rest; 0 if it is too short.
     */
    static uint8_t PeekType(const uint8_t* message, std::size_t size)
    {
        return size < FIXED_SIZE ? 0 : message[3];
    }

    /**
     * @param type A type field.
     * @return whether it marks a protected message, whose header is another one.
     */
    static constexpr bool IsProtectedType(uint8_t type)
    {
        return type >= PROTECTED_UP;
    }

    /**
     * @param message At least FIXED_SIZE bytes.
     * @return its device field, without a check of the rest.
     */
    static uint32_t PeekDevice(const uint8_t* message);

    /**
     * @param message Any bytes.
     * @param size How many.
     * @return whether it is a message of another version of the protocol.
     */
    static bool HasOtherVersion(const uint8_t* message, std::size_t size)
    {
        return size >= 3 && message[0] == 'F' && message[1] == 'L' && message[2] != VERSION;
    }

    /** @return the size of the header in bytes. */
    std::size_t GetSize() const
    {
        return FIXED_SIZE + INTERVAL_SIZE * intervals.size();
    }

    /**
     * Set payloadLength and checksum. All other fields have their values already.
     * @param payload The payload; may be nullptr if the length is 0.
     * @param length Its bytes, at most MAX_PAYLOAD.
     */
    void Seal(const uint8_t* payload, std::size_t length);

    /**
     * Write the header.
     * @param [out] bytes GetSize() bytes.
     */
    void Write(uint8_t* bytes) const;

    /**
     * Read and check a whole message, which may be any bytes. The checksum is checked before the
     * fields that it covers, so that a damaged message is reported as READ_CHECKSUM. The payload of
     * an accepted message begins at GetSize() and ends with the message.
     * @param message Header and payload.
     * @param size Their bytes.
     * @param isAuthentic Whether it was protected: a tag was checked instead of the checksum.
     * @return whether it is a message; if not, the fields must not be used.
     */
    ReadResult Read(const uint8_t* message, std::size_t size, bool isAuthentic = false);

    /**
     * @return whether the fields make sense together: ascending intervals of finite width that
     * cover the coordinates, a payload of the size that a model or update must have. (A header that
     * was just made or could not be read is not valid.) A type that is not known here is valid:
     * a later revision may send it, and its receiver ignores it.
     */
    bool IsValid() const;

    TypeId GetInstanceTypeId() const override;
    uint32_t GetSerializedSize() const override;
    void Serialize(Buffer::Iterator start) const override;

    /**
     * Read the fields only. They may have any values: call IsValid() next. Read() checks the
     * checksum.
     * @param start Where the header starts.
     * @return the bytes read; 0, and a header that is not valid, if they are too few or of another
     * protocol.
     */
    uint32_t Deserialize(Buffer::Iterator start) override;
    void Print(std::ostream& os) const override;

    Type type{};                          //!< What the message is.
    uint32_t sequence = 0;                //!< Counts the sender's messages (a device's fragments
                                          //!< apart from the others); an ACK repeats it.
    uint32_t round = 0;                   //!< Round that the message is about.
    uint32_t device = 0;                  //!< Device that sends or receives.
    uint32_t fragment = 0;                //!< Index of the fragment.
    uint32_t fragments = 0;               //!< Number of fragments of the whole.
    uint32_t first = 0;                   //!< First coordinate.
    uint32_t coordinates = 0;             //!< Number of coordinates.
    uint8_t bits = 0;                     //!< Bits of a coordinate: 1 to 16, or 32 for floats.
    bool rotated = false;                 //!< Whether the coordinates of an update are rotated.
    bool interleaved = false;             //!< Whether they are interleaved.
    std::vector<IntervalRange> intervals; //!< Those that overlap the fragment, clipped to it.
    uint16_t payloadLength = 0;           //!< Bytes of the payload.
    float distortion = std::numeric_limits<float>::quiet_NaN(); //!< Expected squared error of a
                                                                //!< coordinate; NaN: not reported.
    uint32_t checksum = 0;                                      //!< CRC-32C of the whole message.

  private:
    /**
     * Read the fixed part of a header.
     * @param bytes FIXED_SIZE bytes.
     * @return how many intervals follow.
     */
    std::size_t ReadFixed(const uint8_t* bytes);

    /**
     * Read the intervals.
     * @param bytes INTERVAL_SIZE bytes for each.
     * @param count How many.
     */
    void ReadIntervals(const uint8_t* bytes, std::size_t count);
};

} // namespace ns3

#endif // FEDERATED_HEADER_H
